BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('r0002');
CREATE TABLE audit (
	seq INTEGER NOT NULL, 
	at DOUBLE NOT NULL, 
	actor TEXT NOT NULL, 
	action TEXT NOT NULL, 
	subject TEXT NOT NULL, 
	args_digest TEXT NOT NULL, 
	decision TEXT NOT NULL, 
	result TEXT NOT NULL, 
	prev_hash TEXT NOT NULL, 
	hash TEXT NOT NULL, 
	PRIMARY KEY (seq)
);
INSERT INTO "audit" VALUES(1,1.79535667479659748072e+09,'','clear','01m81shjatjz9pxeecyz4w492d','','allowed','epoch 2','','d3caa44ab40fe95a048c86ddbe444aa1b63fed3d0c16033a249c7a71a14b9510');
INSERT INTO "audit" VALUES(2,1.79535667554038810725e+09,'','clear','01m81shjxwm1tq8q2reympsc0j','','allowed','epoch 2','d3caa44ab40fe95a048c86ddbe444aa1b63fed3d0c16033a249c7a71a14b9510','7329814782dde0bf903725fa80ec006da8d6c2585aed49ff52bfeea6734d3757');
CREATE TABLE clearing (
	conversation TEXT NOT NULL, 
	epoch INTEGER NOT NULL, 
	view_from INTEGER NOT NULL, 
	fold_head TEXT NOT NULL, 
	undone BOOLEAN NOT NULL, 
	at DOUBLE NOT NULL, 
	PRIMARY KEY (conversation, epoch), 
	FOREIGN KEY(conversation) REFERENCES conversation (id)
);
INSERT INTO "clearing" VALUES('01m81shjatjz9pxeecyz4w492d',2,1,'',0,1.79535667479659748072e+09);
INSERT INTO "clearing" VALUES('01m81shjxwm1tq8q2reympsc0j',2,1,'',0,1.79535667554038810725e+09);
CREATE TABLE conversation (
	id TEXT NOT NULL, 
	channel TEXT NOT NULL, 
	account TEXT NOT NULL, 
	chat_id TEXT NOT NULL, 
	thread_id TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	space TEXT NOT NULL, 
	epoch INTEGER NOT NULL, 
	next_seq INTEGER NOT NULL, 
	next_turn INTEGER NOT NULL, 
	next_line INTEGER NOT NULL, 
	view_from INTEGER NOT NULL, 
	fold_head TEXT NOT NULL, 
	policy TEXT NOT NULL, 
	model TEXT NOT NULL, 
	prefix_generation INTEGER NOT NULL, 
	prefix_sha256 TEXT NOT NULL, 
	prefix_reason TEXT NOT NULL, 
	listed BOOLEAN NOT NULL, 
	title TEXT NOT NULL, 
	heard DOUBLE NOT NULL, 
	updated DOUBLE NOT NULL, 
	PRIMARY KEY (id), 
	CONSTRAINT conversation_place UNIQUE (channel, account, chat_id, thread_id)
);
INSERT INTO "conversation" VALUES('01m81sgzk0r7m037dm46fmezxb','web','console','garden','','dm','',1,21,10,23,1,'01m81shgh55sfdt8pyxswgsmvc','','',2,'87c14a22eb4f653292ea0e6941c147e58efd3283e0b62ab556e219bac21f8ff2','fold',1,'«g0» the roses want water; I prefer tea. 花园要浇水',1.795356672528339386e+09,1.79535667285763216017e+09);
INSERT INTO "conversation" VALUES('01m81shgvq3r7276x0x7dw6sq8','web','console','work','','dm','',1,7,4,12,1,'','','',2,'87c14a22eb4f653292ea0e6941c147e58efd3283e0b62ab556e219bac21f8ff2','fold undone',1,'«w0» what do you make of it?',1.79535669789190363877e+09,1.79535669789190363877e+09);
INSERT INTO "conversation" VALUES('01m81shjatjz9pxeecyz4w492d','web','console','old','','dm','',2,7,4,9,5,'','','',1,'87c14a22eb4f653292ea0e6941c147e58efd3283e0b62ab556e219bac21f8ff2','clear',1,'«o0» what do you make of it?',1.7953566748354575634e+09,1.79535667490995597844e+09);
INSERT INTO "conversation" VALUES('01m81shjxwm1tq8q2reympsc0j','web','console','new','','dm','',2,5,3,7,3,'','','',1,'87c14a22eb4f653292ea0e6941c147e58efd3283e0b62ab556e219bac21f8ff2','clear',1,'«n0» what do you make of it?',1.7953566756069190502e+09,1.7953566757252190113e+09);
INSERT INTO "conversation" VALUES('01m81shkt1m8rh41ezh34h0fe5','telegram','100','5005','','dm','',1,5,3,5,1,'','','',0,'87c14a22eb4f653292ea0e6941c147e58efd3283e0b62ab556e219bac21f8ff2','SOUL.md, tools or model',1,'«t0» what do you make of it?',1.79535667665116357798e+09,1.79535667676710486407e+09);
INSERT INTO "conversation" VALUES('01m81shmy8pctr01kfg5g82dyw','web','console','picture','','dm','',1,3,2,3,1,'','','',0,'87c14a22eb4f653292ea0e6941c147e58efd3283e0b62ab556e219bac21f8ff2','SOUL.md, tools or model',1,'«p1» what do you make of it? 📎 dot.png',1.79535667706421351438e+09,1.79535667835862565045e+09);
INSERT INTO "conversation" VALUES('01m81sj0wrgczb7zaam2q7dpb8','web','console','late','','dm','',1,7,4,7,1,'','','',0,'87c14a22eb4f653292ea0e6941c147e58efd3283e0b62ab556e219bac21f8ff2','SOUL.md, tools or model',1,'«l0» what do you make of it?',1.7953566999532423019e+09,1.79535670001609683034e+09);
INSERT INTO "conversation" VALUES('01m81sja94s92x38x74bhq7ckf','web','console','tool','','dm','',1,3,2,3,1,'','','',0,'87c14a22eb4f653292ea0e6941c147e58efd3283e0b62ab556e219bac21f8ff2','SOUL.md, tools or model',1,'«x1» use write_file {"path": "notes/x.md", "content": "x"}',1.79535669994721794121e+09,1.79535669994721794121e+09);
CREATE TABLE coverage (
	message_id TEXT NOT NULL, 
	class TEXT NOT NULL, 
	fold_id TEXT NOT NULL, 
	PRIMARY KEY (message_id)
);
INSERT INTO "coverage" VALUES('01m81sgzk07m8b1e484br2aze8','folded','01m81sheq18d4wbcbeczcybckz');
INSERT INTO "coverage" VALUES('01m81shdbew90mkvm1v3e8fm91','folded','01m81sheq18d4wbcbeczcybckz');
INSERT INTO "coverage" VALUES('01m81shdhj1s8rt5hy7k8fwcyc','folded','01m81sheq18d4wbcbeczcybckz');
INSERT INTO "coverage" VALUES('01m81shdw6vqjj118zxcrp9km6','folded','01m81sheq18d4wbcbeczcybckz');
INSERT INTO "coverage" VALUES('01m81shdzv7pnad4gezashehrx','folded','01m81shgh55sfdt8pyxswgsmvc');
INSERT INTO "coverage" VALUES('01m81she25cmasxdwwgvxj22pz','folded','01m81shgh55sfdt8pyxswgsmvc');
INSERT INTO "coverage" VALUES('01m81she3h60d4w05k354vy6sv','folded','01m81shgh55sfdt8pyxswgsmvc');
INSERT INTO "coverage" VALUES('01m81she5ky2bzn6x39kjk3xyz','folded','01m81shgh55sfdt8pyxswgsmvc');
INSERT INTO "coverage" VALUES('01m81she9va2aj1qnvm0ckxg8n','folded','01m81shgh55sfdt8pyxswgsmvc');
INSERT INTO "coverage" VALUES('01m81sheeszv2t9e0fe53n6fbv','folded','01m81shgh55sfdt8pyxswgsmvc');
CREATE TABLE fold (
	id TEXT NOT NULL, 
	conversation TEXT NOT NULL, 
	space TEXT NOT NULL, 
	channel TEXT NOT NULL, 
	epoch INTEGER NOT NULL, 
	prev_fold TEXT NOT NULL, 
	from_seq INTEGER NOT NULL, 
	to_seq INTEGER NOT NULL, 
	from_turn INTEGER NOT NULL, 
	to_turn INTEGER NOT NULL, 
	turns_covered INTEGER NOT NULL, 
	state TEXT NOT NULL, 
	method TEXT NOT NULL, 
	policy TEXT NOT NULL, 
	reason TEXT NOT NULL, 
	log_text TEXT NOT NULL, 
	summary TEXT NOT NULL, 
	summary_tokens INTEGER NOT NULL, 
	source_sha256 TEXT NOT NULL, 
	log_ref TEXT NOT NULL, 
	tokens_before INTEGER NOT NULL, 
	tokens_after INTEGER NOT NULL, 
	log_only BOOLEAN NOT NULL, 
	at DOUBLE NOT NULL, 
	lease_epoch INTEGER NOT NULL, 
	why TEXT DEFAULT '' NOT NULL, 
	seen_seq INTEGER DEFAULT '0' NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(conversation) REFERENCES conversation (id)
);
INSERT INTO "fold" VALUES('01m81sheq18d4wbcbeczcybckz','01m81sgzk0r7m037dm46fmezxb','','web',1,'',1,4,1,2,2,'folded','model','balanced','/context fold','- «g0» the roses want water; I prefer tea. 花园要浇水
- «g1» the roses want water; I prefer tea. 花园要浇水','- «g0» the roses want water; I prefer tea. 花园要浇水
- «g1» the roses want water; I prefer tea. 花园要浇水',41,'531a11c30dc726f2df0f74c45cadfc2352fe1bd93a171b76131056dc39c67c72','memory/2026-11-22.md',190,155,0,1.79535667068999958036e+09,1,'',11);
INSERT INTO "fold" VALUES('01m81shgh55sfdt8pyxswgsmvc','01m81sgzk0r7m037dm46fmezxb','','web',1,'01m81sheq18d4wbcbeczcybckz',5,10,3,5,5,'folded','model','balanced','/context fold','- «g2» the roses want water; I prefer tea. 花园要浇水
- «g3» the roses want water; I prefer tea. 花园要浇水
- «g4» the roses want water; I prefer tea. 花园要浇水','- «g2» the roses want water; I prefer tea. 花园要浇水
- «g3» the roses want water; I prefer tea. 花园要浇水
- «g4» the roses want water; I prefer tea. 花园要浇水',62,'0478c536633fd95f2ebb66c01b413caf8eb454b3b1c3b3309dbd40718d7ae3be','memory/2026-11-22.md',361,268,0,1.79535667254911661143e+09,1,'',21);
INSERT INTO "fold" VALUES('01m81shhmq2gx4mgpfqqdc366r','01m81shgvq3r7276x0x7dw6sq8','','web',1,'',1,2,1,1,1,'undone','model','balanced','/context fold','- «w0» what do you make of it?','- «w0» what do you make of it?',12,'fb26ab9c4b3931f4f2c07a35dcbaf2e2b795aa91e4dc173f17a26cf349c0d17f','memory/2026-11-22.md',90,72,0,1.79535667368716859819e+09,1,'',7);
INSERT INTO "fold" VALUES('01m81shkemv49mh2fy9sva22fq','01m81shjxwm1tq8q2reympsc0j','','web',1,'',1,2,1,1,1,'folded','model','balanced','/new','- «n0» what do you make of it?','',0,'32ce90ace75de925319a249cbcece554345e00fa098263e345d22debbcb5b12a','memory/2026-11-22.md',30,0,1,1.79535667554038810725e+09,1,'',3);
INSERT INTO "fold" VALUES('01m81sj9abbna317ks2pa2tkrc','01m81shgvq3r7276x0x7dw6sq8','','web',1,'',1,2,1,1,1,'checked','model','balanced','/context fold','- «w0» what do you make of it?','- «w0» what do you make of it?',12,'fb26ab9c4b3931f4f2c07a35dcbaf2e2b795aa91e4dc173f17a26cf349c0d17f','',90,60,0,1.79535669793161344531e+09,2,'',7);
CREATE TABLE inbox (
	id TEXT NOT NULL, 
	conversation TEXT NOT NULL, 
	channel TEXT NOT NULL, 
	account TEXT NOT NULL, 
	"key" TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	sender_id TEXT NOT NULL, 
	body TEXT NOT NULL, 
	order_key TEXT NOT NULL, 
	state TEXT NOT NULL, 
	reason TEXT NOT NULL, 
	attempts INTEGER NOT NULL, 
	turn_id TEXT NOT NULL, 
	trace_id TEXT NOT NULL, 
	line INTEGER NOT NULL, 
	urgent BOOLEAN NOT NULL, 
	not_before DOUBLE NOT NULL, 
	received DOUBLE NOT NULL, 
	lease_epoch INTEGER NOT NULL, 
	PRIMARY KEY (id), 
	CONSTRAINT inbox_key UNIQUE (channel, account, "key"), 
	FOREIGN KEY(conversation) REFERENCES conversation (id)
);
INSERT INTO "inbox" VALUES('01m81sgzk07m8b1e484br2aze8','01m81sgzk0r7m037dm46fmezxb','web','console','gardenc8d9748d6f5d42cea39790c14b5f1eb8','message','owner','{"text": "«g0» the roses want water; I prefer tea. 花园要浇水"}','','done','',0,'01m81sh7c7nz1x6gmw2r5ne6mb','01m81sgzk0v88e91d916b90akz',1,0,0.0,1.7953566552005996704e+09,1);
INSERT INTO "inbox" VALUES('01m81shdhj1s8rt5hy7k8fwcyc','01m81sgzk0r7m037dm46fmezxb','web','console','garden892473df78cd497ab39ee1ed215786ce','message','owner','{"text": "«g1» the roses want water; I prefer tea. 花园要浇水"}','','done','',0,'01m81shdm5h43g7h3y4784st47','01m81shdhjw62hxnq6hyyn7s97',3,0,0.0,1.79535666949082255367e+09,1);
INSERT INTO "inbox" VALUES('01m81shdzv7pnad4gezashehrx','01m81sgzk0r7m037dm46fmezxb','web','console','garden72922b6d8c6e450ca4f64c37cb9b2e86','message','owner','{"text": "«g2» the roses want water; I prefer tea. 花园要浇水"}','','done','',0,'01m81she151erjs37r1ab522tw','01m81shdzv3vwkh9grzvdce7v4',5,0,0.0,1.79535666994759464266e+09,1);
INSERT INTO "inbox" VALUES('01m81she3h60d4w05k354vy6sv','01m81sgzk0r7m037dm46fmezxb','web','console','gardenbfb0071de7af4385a64520a4f2e1a54c','message','owner','{"text": "«g3» the roses want water; I prefer tea. 花园要浇水"}','','done','',0,'01m81she3qte8gy8ph6cjjay9q','01m81she3h6ytw23s7ym43dbxh',7,0,0.0,1.7953566700658118725e+09,1);
INSERT INTO "inbox" VALUES('01m81she9va2aj1qnvm0ckxg8n','01m81sgzk0r7m037dm46fmezxb','web','console','garden09e4af0c44e74b0b9e24a58c15a7b5ae','message','owner','{"text": "«g4» the roses want water; I prefer tea. 花园要浇水"}','','done','',0,'01m81shec37q49jrsgxrr5ch3v','01m81she9vnnse78zwc0w0dmh5',9,0,0.0,1.79535667026765727999e+09,1);
INSERT INTO "inbox" VALUES('01m81shek2149daprbnrbqskva','01m81sgzk0r7m037dm46fmezxb','web','console','garden859c5e67160e463d8433981033e9fb17','command','owner','{"text": "/context fold"}','','done','',1,'','01m81shek2m04axqn4vvqznfwa',11,0,0.0,1.79535667056241250031e+09,0);
INSERT INTO "inbox" VALUES('01m81shf8rp6v3f5w6yk363jst','01m81sgzk0r7m037dm46fmezxb','web','console','gardencac98d8f80204c1992013de0b4badb8f','message','owner','{"text": "«g5» what do you make of it?"}','','done','',0,'01m81shfasatfxj1yz8y4re862','01m81shf8rc4xw8vfdmwc8rapk',13,0,0.0,1.79535667125604891771e+09,1);
INSERT INTO "inbox" VALUES('01m81shfdg452001kqvdcjnm0p','01m81sgzk0r7m037dm46fmezxb','web','console','garden8a5a10cd52f04f2790664070eb58ff5e','message','owner','{"text": "«g6» what do you make of it?"}','','done','',0,'01m81shfg01a8w0r67dg98d0xr','01m81shfdgbzsscyc4e3y1z6by',15,0,0.0,1.7953566714083144664e+09,1);
INSERT INTO "inbox" VALUES('01m81shfqjv5c9hn99j2bvfvy4','01m81sgzk0r7m037dm46fmezxb','web','console','gardendef5e9f3f4d6479c88581c95b8e0d649','message','owner','{"text": "«g7» what do you make of it?"}','','done','',0,'01m81shftawc16zp7jpejske3t','01m81shfqj1e36z522tyd6ysz8',17,0,0.0,1.79535667173022580149e+09,1);
INSERT INTO "inbox" VALUES('01m81shg2zqan0e7ep71v93nnb','01m81sgzk0r7m037dm46fmezxb','web','console','garden2059d9293ff24158993c8534e2295a83','message','owner','{"text": "«g8» use write_file {\"path\": \"notes/roses.md\", \"content\": \"water on Mondays\"}"}','','done','',0,'01m81shg4egk4jkqafzfbsqk4g','01m81shg2zazyvqzmnfpz0ydgf',19,0,0.0,1.79535667209561872487e+09,1);
INSERT INTO "inbox" VALUES('01m81shgggr9xcxrxjkwss1b8n','01m81sgzk0r7m037dm46fmezxb','web','console','garden00465eff90a24c13b9c1df51b5dcc729','command','owner','{"text": "/context fold"}','','done','',1,'','01m81shggg71797cyvj3m0tf01',21,0,0.0,1.795356672528339386e+09,0);
INSERT INTO "inbox" VALUES('01m81shgvqtwzne50fzrbtnrvv','01m81shgvq3r7276x0x7dw6sq8','web','console','work4c6d1050cd4d41b7b34a1384943830e5','message','owner','{"text": "«w0» what do you make of it?"}','','done','',0,'01m81shgvwr2n0r0r5c5jj53s5','01m81shgvqp79zd96b8kpqr6hv',1,0,0.0,1.79535667288760590557e+09,1);
INSERT INTO "inbox" VALUES('01m81shgyq7srwpp74xg210cfg','01m81shgvq3r7276x0x7dw6sq8','web','console','work7f85d9fe29014800b12b2a0214ec2f35','message','owner','{"text": "«w1» what do you make of it?"}','','done','',0,'01m81shgzgs1mbj933jvqq72hc','01m81shgyqe2k5c4bak3qcp26d',3,0,0.0,1795356672.98368,1);
INSERT INTO "inbox" VALUES('01m81shh74ha0qcxzsfqx7nmwk','01m81shgvq3r7276x0x7dw6sq8','web','console','workeb3ff9a3334b4853a82439da11b1e482','message','owner','{"text": "«w2» what do you make of it?"}','','done','',0,'01m81shh8nabdpnhn1vy4a2ef6','01m81shh74ncw7sk3a9exnhnhx',5,0,0.0,1.79535667325259399411e+09,1);
INSERT INTO "inbox" VALUES('01m81shhgvkfghem53a6e0d73r','01m81shgvq3r7276x0x7dw6sq8','web','console','work921911bd2c204b628a1c858942f5afa0','command','owner','{"text": "/context fold"}','','done','',1,'','01m81shhgv94kc9phvw7gnaen0',7,0,0.0,1.7953566735634088516e+09,0);
INSERT INTO "inbox" VALUES('01m81shj35vqcbv16c0kcewjq3','01m81shgvq3r7276x0x7dw6sq8','web','console','work9976eca8bd0743baa43903c8ee7a510c','command','owner','{"text": "/context undo"}','','done','',1,'','01m81shj35yn0gfrgkgkdcw8hk',9,0,0.0,1.79535667414971303939e+09,0);
INSERT INTO "inbox" VALUES('01m81shjaty0jq8eyfqmneber5','01m81shjatjz9pxeecyz4w492d','web','console','olda4105443aeb449c0895f47f5ab9db766','message','owner','{"text": "«o0» what do you make of it?"}','','done','',0,'01m81shjb8636j1854cdv2c8re','01m81shjatvm9s134jct9rnxnv',1,0,0.0,1.79535667439485907559e+09,1);
INSERT INTO "inbox" VALUES('01m81shjkqrnshgxrw9229mfrr','01m81shjatjz9pxeecyz4w492d','web','console','oldb7aad9cb872149c8a1fba8bd8c6ec49c','message','owner','{"text": "«o1» what do you make of it?"}','','done','',0,'01m81shjkt3rgg5gprz493srx0','01m81shjkqwgn2s6v5mda3k24q',3,0,0.0,1.79535667467963218693e+09,1);
INSERT INTO "inbox" VALUES('01m81shjq9q67vdvwy3dcb5yd9','01m81shjatjz9pxeecyz4w492d','web','console','oldc1c45614456b4c198f5c4fbd5573e7ee','command','owner','{"text": "/context clear"}','','done','',1,'','01m81shjq9zx1ygetv4nztf83p',5,0,0.0,1.79535667479319596294e+09,0);
INSERT INTO "inbox" VALUES('01m81shjrkyvc8cz5yamvy4evy','01m81shjatjz9pxeecyz4w492d','web','console','oldd0c9e26cce444f6c9fa6a883e37c7d92','message','owner','{"text": "«o2» what do you make of it?"}','','done','',0,'01m81shjs3abcpbnjamrv80xhn','01m81shjrk61r5v3x9gpdehrt8',7,0,0.0,1.7953566748354575634e+09,1);
INSERT INTO "inbox" VALUES('01m81shjxw1et380bat92w6dps','01m81shjxwm1tq8q2reympsc0j','web','console','new8c53633b634442fe8318d5715ee37d74','message','owner','{"text": "«n0» what do you make of it?"}','','done','',0,'01m81shjzg2cnet5sc4ck7ny4a','01m81shjxwdf5t4vz8jggdb69j',1,0,0.0,1.79535667500492548943e+09,1);
INSERT INTO "inbox" VALUES('01m81shkb3d2w6hf876aaeqrh2','01m81shjxwm1tq8q2reympsc0j','web','console','new09fb0b15ca5d4b4f9fca1155f4047723','command','owner','{"text": "/new"}','','done','',1,'','01m81shkb31wtmnv1eqg4dxb6w',3,0,0.0,1.79535667542770576475e+09,0);
INSERT INTO "inbox" VALUES('01m81shkgp5rw2fz57rram2x1h','01m81shjxwm1tq8q2reympsc0j','web','console','newfd68e23a1e5a4f6e81e8f715a5645fdd','message','owner','{"text": "«n1» what do you make of it?"}','','done','',0,'01m81shkhf4zpcyze4vd70aj6a','01m81shkgpyfv1an0c2pkr8jh4',5,0,0.0,1.7953566756069190502e+09,1);
INSERT INTO "inbox" VALUES('01m81shkt121zfjfjs1c66222e','01m81shkt1m8rh41ezh34h0fe5','telegram','100','m:5005:1:0','message','5005','{"text": "«t0» what do you make of it?", "name": "Ада"}','00000000000000700100','done','',0,'01m81shkx7fchyeszgb70j9mdz','01m81shkt1tjeqdyv2t50p2vrr',1,0,0.0,1.79535667590555644032e+09,1);
INSERT INTO "inbox" VALUES('01m81shmhbnrqhmb5wqhxb6xyr','01m81shkt1m8rh41ezh34h0fe5','telegram','100','m:5005:3:0','message','5005','{"text": "«t1» what do you make of it?", "name": "Ада"}','00000000000000700101','done','',0,'01m81shmj26ws3rhysdkf9ey85','01m81shmhbhxpzqnb08z57y9vg',3,0,0.0,1.79535667665116357798e+09,1);
INSERT INTO "inbox" VALUES('01m81shmy80nkcrbs44pqgkwac','01m81shmy8pctr01kfg5g82dyw','web','console','picturep1','message','owner','{"text": "«p1» what do you make of it?", "shown": "«p1» what do you make of it?\n📎 dot.png", "files": [["7899d6ced52159786ff083934df42788da01a30b7ed9bb7756d7f3f5a94ef685", "dot.png", "image/png", 68]]}','','done','',0,'01m81shp1yc3kx923k6fpzszff','01m81shmy85cnnkbbcsfxf9rqw',1,0,0.0,1.79535667706421351438e+09,1);
INSERT INTO "inbox" VALUES('01m81sj0wr558cedq6ctv7w45s','01m81sj0wrgczb7zaam2q7dpb8','web','console','latee70f88bdb4fd4bcbaf7d0cd848dd0972','message','owner','{"text": "«l0» what do you make of it?"}','','done','',0,'01m81sj8rmcz334akkh5g38g4w','01m81sj0wr2ekhhp6hcbjv391n',1,0,0.0,1.79535668930438280102e+09,2);
INSERT INTO "inbox" VALUES('01m81sj95zfrwqy0260rnnvtwr','01m81sj0wrgczb7zaam2q7dpb8','web','console','latec16b595458c04649badd8d6bdc0383db','message','owner','{"text": "«l1» what do you make of it?"}','','done','',0,'01m81sj967sdxjxgn3hkazqtzr','01m81sj95zqekqkf3k2g774wq0',3,0,0.0,1.79535669779171895977e+09,2);
INSERT INTO "inbox" VALUES('01m81sj993ygqgpqxj7fj6dwkg','01m81shgvq3r7276x0x7dw6sq8','web','console','work/context fold','command','owner','{"text": "/context fold"}','','new','',1,'','01m81sj993wp7ytw17cvvrhnsw',11,0,0.0,1.79535669789190363877e+09,0);
INSERT INTO "inbox" VALUES('01m81sja946tn3qewxqaqd1pba','01m81sja94s92x38x74bhq7ckf','web','console','tool«x1» use write_file {"path": "notes/x.md", "content": "x"}','message','owner','{"text": "«x1» use write_file {\"path\": \"notes/x.md\", \"content\": \"x\"}"}','','running','',0,'01m81sja9ws858ysdhd9pfg8c3','01m81sja94ft3r475ed6e2pgzk',1,0,0.0,1.79535669891636776918e+09,2);
INSERT INTO "inbox" VALUES('01m81sjb9bke42mtacekz24jvt','01m81sja94s92x38x74bhq7ckf','web','console','tool«x2» and after that?','message','owner','{"text": "«x2» and after that?"}','','new','',0,'','01m81sjb9bskf2xeywwyamn2ey',2,0,0.0,1.79535669994721794121e+09,0);
INSERT INTO "inbox" VALUES('01m81sjb9hjhsgfrp2sqakkqj0','01m81sj0wrgczb7zaam2q7dpb8','web','console','late«l2» what do you make of it?','message','owner','{"text": "«l2» what do you make of it?"}','','done','',0,'01m81sjbasx8hvqzt49p9z9t1q','01m81sjb9hkqge6c56e6g2j55r',5,0,0.0,1.7953566999532423019e+09,2);
CREATE TABLE instance (
	id INTEGER NOT NULL, 
	lease_epoch INTEGER NOT NULL, 
	clean BOOLEAN NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "instance" VALUES(1,2,0);
CREATE TABLE message (
	id TEXT NOT NULL, 
	conversation TEXT NOT NULL, 
	epoch INTEGER NOT NULL, 
	seq INTEGER NOT NULL, 
	turn INTEGER NOT NULL, 
	turn_id TEXT NOT NULL, 
	role TEXT NOT NULL, 
	parts TEXT NOT NULL, 
	origin TEXT NOT NULL, 
	space TEXT NOT NULL, 
	has_text BOOLEAN NOT NULL, 
	tokens INTEGER NOT NULL, 
	counter TEXT NOT NULL, 
	at DOUBLE NOT NULL, 
	PRIMARY KEY (id), 
	CONSTRAINT message_seq UNIQUE (conversation, seq), 
	FOREIGN KEY(conversation) REFERENCES conversation (id)
);
INSERT INTO "message" VALUES('01m81sgzk07m8b1e484br2aze8','01m81sgzk0r7m037dm46fmezxb',1,1,1,'01m81sh7c7nz1x6gmw2r5ne6mb','user','[{"kind":"Text","text":"«g0» the roses want water; I prefer tea. 花园要浇水"}]','person','',1,26,'tiktoken',1.79535666317537903786e+09);
INSERT INTO "message" VALUES('01m81shdbew90mkvm1v3e8fm91','01m81sgzk0r7m037dm46fmezxb',1,2,1,'01m81sh7c7nz1x6gmw2r5ne6mb','assistant','[{"kind":"Text","text":"re «g0»"}]','model','',1,12,'tiktoken',1.7953566692949693203e+09);
INSERT INTO "message" VALUES('01m81shdhj1s8rt5hy7k8fwcyc','01m81sgzk0r7m037dm46fmezxb',1,3,2,'01m81shdm5h43g7h3y4784st47','user','[{"kind":"Text","text":"«g1» the roses want water; I prefer tea. 花园要浇水"}]','person','',1,26,'tiktoken',1.79535666957342028614e+09);
INSERT INTO "message" VALUES('01m81shdw6vqjj118zxcrp9km6','01m81sgzk0r7m037dm46fmezxb',1,4,2,'01m81shdm5h43g7h3y4784st47','assistant','[{"kind":"Text","text":"re «g1»"}]','model','',1,12,'tiktoken',1.79535666983060312271e+09);
INSERT INTO "message" VALUES('01m81shdzv7pnad4gezashehrx','01m81sgzk0r7m037dm46fmezxb',1,5,3,'01m81she151erjs37r1ab522tw','user','[{"kind":"Text","text":"«g2» the roses want water; I prefer tea. 花园要浇水"}]','person','',1,26,'tiktoken',1.79535666998909187314e+09);
INSERT INTO "message" VALUES('01m81she25cmasxdwwgvxj22pz','01m81sgzk0r7m037dm46fmezxb',1,6,3,'01m81she151erjs37r1ab522tw','assistant','[{"kind":"Text","text":"re «g2»"}]','model','',1,12,'tiktoken',1.79535667002176833155e+09);
INSERT INTO "message" VALUES('01m81she3h60d4w05k354vy6sv','01m81sgzk0r7m037dm46fmezxb',1,7,4,'01m81she3qte8gy8ph6cjjay9q','user','[{"kind":"Text","text":"«g3» the roses want water; I prefer tea. 花园要浇水"}]','person','',1,26,'tiktoken',1.79535667007177972796e+09);
INSERT INTO "message" VALUES('01m81she5ky2bzn6x39kjk3xyz','01m81sgzk0r7m037dm46fmezxb',1,8,4,'01m81she3qte8gy8ph6cjjay9q','assistant','[{"kind":"Text","text":"re «g3»"}]','model','',1,12,'tiktoken',1.79535667013194465634e+09);
INSERT INTO "message" VALUES('01m81she9va2aj1qnvm0ckxg8n','01m81sgzk0r7m037dm46fmezxb',1,9,5,'01m81shec37q49jrsgxrr5ch3v','user','[{"kind":"Text","text":"«g4» the roses want water; I prefer tea. 花园要浇水"}]','person','',1,26,'tiktoken',1.79535667033955287936e+09);
INSERT INTO "message" VALUES('01m81sheeszv2t9e0fe53n6fbv','01m81sgzk0r7m037dm46fmezxb',1,10,5,'01m81shec37q49jrsgxrr5ch3v','assistant','[{"kind":"Text","text":"re «g4»"}]','model','',1,12,'tiktoken',1.79535667042569661139e+09);
INSERT INTO "message" VALUES('01m81shf8rp6v3f5w6yk363jst','01m81sgzk0r7m037dm46fmezxb',1,11,6,'01m81shfasatfxj1yz8y4re862','user','[{"kind":"Text","text":"«g5» what do you make of it?"}]','person','',1,18,'tiktoken',1795356671.3214);
INSERT INTO "message" VALUES('01m81shfctn2t1jmtrdrr5y8fv','01m81sgzk0r7m037dm46fmezxb',1,12,6,'01m81shfasatfxj1yz8y4re862','assistant','[{"kind":"Text","text":"re «g5»"}]','model','',1,12,'tiktoken',1.79535667138674902916e+09);
INSERT INTO "message" VALUES('01m81shfdg452001kqvdcjnm0p','01m81sgzk0r7m037dm46fmezxb',1,13,7,'01m81shfg01a8w0r67dg98d0xr','user','[{"kind":"Text","text":"«g6» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535667148819684979e+09);
INSERT INTO "message" VALUES('01m81shfj2r1gden6qkmf0aws3','01m81sgzk0r7m037dm46fmezxb',1,14,7,'01m81shfg01a8w0r67dg98d0xr','assistant','[{"kind":"Text","text":"re «g6»"}]','model','',1,12,'tiktoken',1.79535667155458950995e+09);
INSERT INTO "message" VALUES('01m81shfqjv5c9hn99j2bvfvy4','01m81sgzk0r7m037dm46fmezxb',1,15,8,'01m81shftawc16zp7jpejske3t','user','[{"kind":"Text","text":"«g7» what do you make of it?"}]','person','',1,18,'tiktoken',1.7953566718185667992e+09);
INSERT INTO "message" VALUES('01m81shfyeprfx3b1rzndq3nce','01m81sgzk0r7m037dm46fmezxb',1,16,8,'01m81shftawc16zp7jpejske3t','assistant','[{"kind":"Text","text":"re «g7»"}]','model','',1,12,'tiktoken',1.79535667195061564445e+09);
INSERT INTO "message" VALUES('01m81shg2zqan0e7ep71v93nnb','01m81sgzk0r7m037dm46fmezxb',1,17,9,'01m81shg4egk4jkqafzfbsqk4g','user','[{"kind":"Text","text":"«g8» use write_file {\"path\": \"notes/roses.md\", \"content\": \"water on Mondays\"}"}]','person','',1,32,'tiktoken',1.7953566721421182155e+09);
INSERT INTO "message" VALUES('01m81shg7j6qwjsjvcdzykzbcb','01m81sgzk0r7m037dm46fmezxb',1,18,9,'01m81shg4egk4jkqafzfbsqk4g','assistant','[{"kind":"Text","text":"I look."},{"kind":"ToolCall","id":"call_g8","name":"write_file","input":"{\"path\": \"notes/roses.md\", \"content\": \"water on Mondays\"}"}]','model','',1,40,'tiktoken',1.79535667224232959749e+09);
INSERT INTO "message" VALUES('01m81shgb6rmkwy807q5qnqsf2','01m81sgzk0r7m037dm46fmezxb',1,19,9,'01m81shg4egk4jkqafzfbsqk4g','user','[{"kind":"ToolResult","call_id":"call_g8","text":"notes/roses.md now holds 16 bytes, version 29eb6a143968.","is_error":false}]','tool','',0,32,'tiktoken',1.79535667235888218885e+09);
INSERT INTO "message" VALUES('01m81shgdemy225cd6t9t99hd8','01m81sgzk0r7m037dm46fmezxb',1,20,9,'01m81shg4egk4jkqafzfbsqk4g','assistant','[{"kind":"Text","text":"re «g8»"}]','model','',1,12,'tiktoken',1.79535667243061566357e+09);
INSERT INTO "message" VALUES('01m81shgvqtwzne50fzrbtnrvv','01m81shgvq3r7276x0x7dw6sq8',1,1,1,'01m81shgvwr2n0r0r5c5jj53s5','user','[{"kind":"Text","text":"«w0» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535667289292740823e+09);
INSERT INTO "message" VALUES('01m81shgx435789vdb01w3vg5j','01m81shgvq3r7276x0x7dw6sq8',1,2,1,'01m81shgvwr2n0r0r5c5jj53s5','assistant','[{"kind":"Text","text":"re «w0»"}]','model','',1,12,'tiktoken',1.79535667293259119988e+09);
INSERT INTO "message" VALUES('01m81shgyq7srwpp74xg210cfg','01m81shgvq3r7276x0x7dw6sq8',1,3,2,'01m81shgzgs1mbj933jvqq72hc','user','[{"kind":"Text","text":"«w1» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535667300873398783e+09);
INSERT INTO "message" VALUES('01m81shh2s38xf2sr0tvg01gvp','01m81shgvq3r7276x0x7dw6sq8',1,4,2,'01m81shgzgs1mbj933jvqq72hc','assistant','[{"kind":"Text","text":"re «w1»"}]','model','',1,12,'tiktoken',1.79535667311353540421e+09);
INSERT INTO "message" VALUES('01m81shh74ha0qcxzsfqx7nmwk','01m81shgvq3r7276x0x7dw6sq8',1,5,3,'01m81shh8nabdpnhn1vy4a2ef6','user','[{"kind":"Text","text":"«w2» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535667330129837995e+09);
INSERT INTO "message" VALUES('01m81shhbjm4bjp38cn2hd8e8b','01m81shgvq3r7276x0x7dw6sq8',1,6,3,'01m81shh8nabdpnhn1vy4a2ef6','assistant','[{"kind":"Text","text":"re «w2»"}]','model','',1,12,'tiktoken',1.79535667339485168455e+09);
INSERT INTO "message" VALUES('01m81shjaty0jq8eyfqmneber5','01m81shjatjz9pxeecyz4w492d',1,1,1,'01m81shjb8636j1854cdv2c8re','user','[{"kind":"Text","text":"«o0» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535667440838742252e+09);
INSERT INTO "message" VALUES('01m81shjgpcsegytk72f0k9908','01m81shjatjz9pxeecyz4w492d',1,2,1,'01m81shjb8636j1854cdv2c8re','assistant','[{"kind":"Text","text":"re «o0»"}]','model','',1,12,'tiktoken',1.79535667458273410796e+09);
INSERT INTO "message" VALUES('01m81shjkqrnshgxrw9229mfrr','01m81shjatjz9pxeecyz4w492d',1,3,2,'01m81shjkt3rgg5gprz493srx0','user','[{"kind":"Text","text":"«o1» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535667468234395979e+09);
INSERT INTO "message" VALUES('01m81shjmak66bbp4w2rh0haz0','01m81shjatjz9pxeecyz4w492d',1,4,2,'01m81shjkt3rgg5gprz493srx0','assistant','[{"kind":"Text","text":"re «o1»"}]','model','',1,12,'tiktoken',1.79535667469816827778e+09);
INSERT INTO "message" VALUES('01m81shjrkyvc8cz5yamvy4evy','01m81shjatjz9pxeecyz4w492d',2,5,3,'01m81shjs3abcpbnjamrv80xhn','user','[{"kind":"Text","text":"«o2» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535667485199260714e+09);
INSERT INTO "message" VALUES('01m81shjtx4hye98c40grbqd4f','01m81shjatjz9pxeecyz4w492d',2,6,3,'01m81shjs3abcpbnjamrv80xhn','assistant','[{"kind":"Text","text":"re «o2»"}]','model','',1,12,'tiktoken',1.79535667490995597844e+09);
INSERT INTO "message" VALUES('01m81shjxw1et380bat92w6dps','01m81shjxwm1tq8q2reympsc0j',1,1,1,'01m81shjzg2cnet5sc4ck7ny4a','user','[{"kind":"Text","text":"«n0» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535667505643248558e+09);
INSERT INTO "message" VALUES('01m81shk5q9gtw9zv2k6rr8cgj','01m81shjxwm1tq8q2reympsc0j',1,2,1,'01m81shjzg2cnet5sc4ck7ny4a','assistant','[{"kind":"Text","text":"re «n0»"}]','model','',1,12,'tiktoken',1.79535667525577235224e+09);
INSERT INTO "message" VALUES('01m81shkgp5rw2fz57rram2x1h','01m81shjxwm1tq8q2reympsc0j',2,3,2,'01m81shkhf4zpcyze4vd70aj6a','user','[{"kind":"Text","text":"«n1» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535667563157939905e+09);
INSERT INTO "message" VALUES('01m81shkmd30rzf6k1gqhnk671','01m81shjxwm1tq8q2reympsc0j',2,4,2,'01m81shkhf4zpcyze4vd70aj6a','assistant','[{"kind":"Text","text":"re «n1»"}]','model','',1,12,'tiktoken',1.7953566757252190113e+09);
INSERT INTO "message" VALUES('01m81shkt121zfjfjs1c66222e','01m81shkt1m8rh41ezh34h0fe5',1,1,1,'01m81shkx7fchyeszgb70j9mdz','user','[{"kind":"Text","text":"«t0» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535667600701975823e+09);
INSERT INTO "message" VALUES('01m81shmcganfdd0tvyz7cdn5r','01m81shkt1m8rh41ezh34h0fe5',1,2,1,'01m81shkx7fchyeszgb70j9mdz','assistant','[{"kind":"Text","text":"re «t0»"}]','model','',1,12,'tiktoken',1.79535667649689054496e+09);
INSERT INTO "message" VALUES('01m81shmhbnrqhmb5wqhxb6xyr','01m81shkt1m8rh41ezh34h0fe5',1,3,2,'01m81shmj26ws3rhysdkf9ey85','user','[{"kind":"Text","text":"«t1» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535667667409300804e+09);
INSERT INTO "message" VALUES('01m81shmmzwe23g8d779q9zq5n','01m81shkt1m8rh41ezh34h0fe5',1,4,2,'01m81shmj26ws3rhysdkf9ey85','assistant','[{"kind":"Text","text":"re «t1»"}]','model','',1,12,'tiktoken',1.79535667676710486407e+09);
INSERT INTO "message" VALUES('01m81shmy80nkcrbs44pqgkwac','01m81shmy8pctr01kfg5g82dyw',1,1,1,'01m81shp1yc3kx923k6fpzszff','user','[{"kind":"Image","sha256":"7899d6ced52159786ff083934df42788da01a30b7ed9bb7756d7f3f5a94ef685","media_type":"image/png","width":2,"height":2},{"kind":"Text","text":"«p1» what do you make of it?"}]','person','',1,19,'tiktoken',1.79535667820661139484e+09);
INSERT INTO "message" VALUES('01m81shp6phw8ys70jm01m251q','01m81shmy8pctr01kfg5g82dyw',1,2,1,'01m81shp1yc3kx923k6fpzszff','assistant','[{"kind":"Text","text":"re «p1»"}]','model','',1,12,'tiktoken',1.79535667835862565045e+09);
INSERT INTO "message" VALUES('01m81sj0wr558cedq6ctv7w45s','01m81sj0wrgczb7zaam2q7dpb8',1,1,1,'01m81sj8rmcz334akkh5g38g4w','user','[{"kind":"Text","text":"«l0» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535669736467480657e+09);
INSERT INTO "message" VALUES('01m81sj900g2bgbcwc2c9btmjr','01m81sj0wrgczb7zaam2q7dpb8',1,2,1,'01m81sj8rmcz334akkh5g38g4w','assistant','[{"kind":"Text","text":"re «l0»"}]','model','',1,12,'tiktoken',1.79535669760019302373e+09);
INSERT INTO "message" VALUES('01m81sj95zfrwqy0260rnnvtwr','01m81sj0wrgczb7zaam2q7dpb8',1,3,2,'01m81sj967sdxjxgn3hkazqtzr','user','[{"kind":"Text","text":"«l1» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535669779900312423e+09);
INSERT INTO "message" VALUES('01m81sj97w5ccyrax1qyt3fnv3','01m81sj0wrgczb7zaam2q7dpb8',1,4,2,'01m81sj967sdxjxgn3hkazqtzr','assistant','[{"kind":"Text","text":"re «l1»"}]','model','',1,12,'tiktoken',1.79535669785208582883e+09);
INSERT INTO "message" VALUES('01m81sja946tn3qewxqaqd1pba','01m81sja94s92x38x74bhq7ckf',1,1,1,'01m81sja9ws858ysdhd9pfg8c3','user','[{"kind":"Text","text":"«x1» use write_file {\"path\": \"notes/x.md\", \"content\": \"x\"}"}]','person','',1,28,'tiktoken',1.79535669894012117381e+09);
INSERT INTO "message" VALUES('01m81sjae7gpfrber6614wrz5w','01m81sja94s92x38x74bhq7ckf',1,2,1,'01m81sja9ws858ysdhd9pfg8c3','assistant','[{"kind":"Text","text":"I look."},{"kind":"ToolCall","id":"call_x1","name":"write_file","input":"{\"path\": \"notes/x.md\", \"content\": \"x\"}"}]','model','',1,36,'tiktoken',1.79535669907993745801e+09);
INSERT INTO "message" VALUES('01m81sjb9hjhsgfrp2sqakkqj0','01m81sj0wrgczb7zaam2q7dpb8',1,5,3,'01m81sjbasx8hvqzt49p9z9t1q','user','[{"kind":"Text","text":"«l2» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535669999324703216e+09);
INSERT INTO "message" VALUES('01m81sjbbg7hcy56f239zssp51','01m81sj0wrgczb7zaam2q7dpb8',1,6,3,'01m81sjbasx8hvqzt49p9z9t1q','assistant','[{"kind":"Text","text":"re «l2»"}]','model','',1,12,'tiktoken',1.79535670001609683034e+09);
CREATE TABLE model_factor (
	model TEXT NOT NULL, 
	factor DOUBLE NOT NULL, 
	samples INTEGER NOT NULL, 
	error_percent DOUBLE NOT NULL, 
	PRIMARY KEY (model)
);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra',1.0122,15,0.75);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra 01m81sgzk0r7m037dm46fmezxb',1.0268,10,-0.53);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra 01m81shgvq3r7276x0x7dw6sq8',1.009,3,0.35);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra 01m81shjatjz9pxeecyz4w492d',1.0114,3,-0.12);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra 01m81shjxwm1tq8q2reympsc0j',1.0121,2,0.12);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra 01m81shkt1m8rh41ezh34h0fe5',1.0053,2,0.44);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra 01m81shmy8pctr01kfg5g82dyw',1.0336,1,-2.48);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra 01m81sj0wrgczb7zaam2q7dpb8',1.0032,3,0.42);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra 01m81sja94s92x38x74bhq7ckf',1.0074,1,0.68);
CREATE TABLE outbox (
	id TEXT NOT NULL, 
	conversation TEXT NOT NULL, 
	source TEXT NOT NULL, 
	part_no INTEGER NOT NULL, 
	parts INTEGER NOT NULL, 
	epoch INTEGER NOT NULL, 
	kind TEXT NOT NULL, 
	client_key TEXT NOT NULL, 
	text TEXT NOT NULL, 
	state TEXT NOT NULL, 
	attempts INTEGER NOT NULL, 
	repeats INTEGER NOT NULL, 
	plain BOOLEAN NOT NULL, 
	key_valid DOUBLE NOT NULL, 
	key_expires DOUBLE NOT NULL, 
	not_before DOUBLE NOT NULL, 
	reply_to TEXT NOT NULL, 
	platform_id TEXT NOT NULL, 
	error TEXT NOT NULL, 
	line INTEGER NOT NULL, 
	created DOUBLE NOT NULL, 
	lease_epoch INTEGER NOT NULL, 
	PRIMARY KEY (id), 
	CONSTRAINT outbox_part UNIQUE (source, part_no), 
	CONSTRAINT outbox_client_key UNIQUE (client_key), 
	FOREIGN KEY(conversation) REFERENCES conversation (id)
);
INSERT INTO "outbox" VALUES('01m81shdbetbxatebrk0kf8wqz','01m81sgzk0r7m037dm46fmezxb','01m81sgzk07m8b1e484br2aze8:answer',0,1,1,'final','88b2a3e70de760489406b0d2e571c097','re «g0»','sent',1,0,0,315360000.0,2.11071666940132808684e+09,0.0,'01m81sgzk07m8b1e484br2aze8','01m81shdbetbxatebrk0kf8wqz','',2,1.7953566692949693203e+09,1);
INSERT INTO "outbox" VALUES('01m81shdw65857j0y3swyynnkf','01m81sgzk0r7m037dm46fmezxb','01m81shdhj1s8rt5hy7k8fwcyc:answer',0,1,1,'final','b3e6fa663743ab2d4cb18503eca938c0','re «g1»','sent',1,0,0,315360000.0,2.1107166699373457431e+09,0.0,'01m81shdhj1s8rt5hy7k8fwcyc','01m81shdw65857j0y3swyynnkf','',4,1.79535666983060312271e+09,1);
INSERT INTO "outbox" VALUES('01m81she25gr8mgf01w0qz5grs','01m81sgzk0r7m037dm46fmezxb','01m81shdzv7pnad4gezashehrx:answer',0,1,1,'final','fb104d3f6bb2da657beb6e530f22ecb4','re «g2»','sent',1,0,0,315360000.0,2.11071667003112316122e+09,0.0,'01m81shdzv7pnad4gezashehrx','01m81she25gr8mgf01w0qz5grs','',6,1.79535667002176833155e+09,1);
INSERT INTO "outbox" VALUES('01m81she5kx4bpj4n1aanc56ej','01m81sgzk0r7m037dm46fmezxb','01m81she3h60d4w05k354vy6sv:answer',0,1,1,'final','dbd244adf63ff5a222ce503f15939567','re «g3»','sent',1,0,0,315360000.0,2.11071667018042945858e+09,0.0,'01m81she3h60d4w05k354vy6sv','01m81she5kx4bpj4n1aanc56ej','',8,1.79535667013194465634e+09,1);
INSERT INTO "outbox" VALUES('01m81shees5hrm30sjtasz72fj','01m81sgzk0r7m037dm46fmezxb','01m81she9va2aj1qnvm0ckxg8n:answer',0,1,1,'final','359eafa0051bde89c7d88fee819a4bda','re «g4»','sent',1,0,0,315360000.0,2.11071667048662161831e+09,0.0,'01m81she9va2aj1qnvm0ckxg8n','01m81shees5hrm30sjtasz72fj','',10,1.79535667042569661139e+09,1);
INSERT INTO "outbox" VALUES('01m81shf3mfa6d8g3dv1ezz8q5','01m81sgzk0r7m037dm46fmezxb','01m81shek2149daprbnrbqskva:answer',0,1,1,'notice','7856e8473935e0f9f51258079939a1ba','Folded turns 1–2 into memory/2026-11-22.md: 190 → 155 tokens (82%).','sent',1,0,0,315360000.0,2.11071667115385818488e+09,0.0,'01m81shek2149daprbnrbqskva','01m81shf3mfa6d8g3dv1ezz8q5','',12,1.79535667109279608731e+09,1);
INSERT INTO "outbox" VALUES('01m81shfct382gjjy865txg1yw','01m81sgzk0r7m037dm46fmezxb','01m81shf8rp6v3f5w6yk363jst:answer',0,1,1,'final','1e8e7bcd89a3fbe76cad6103928b7648','re «g5»','sent',1,0,0,315360000.0,2.11071667139418411244e+09,0.0,'01m81shf8rp6v3f5w6yk363jst','01m81shfct382gjjy865txg1yw','',14,1.79535667138674902916e+09,1);
INSERT INTO "outbox" VALUES('01m81shfj2w40je1t80a17hmp2','01m81sgzk0r7m037dm46fmezxb','01m81shfdg452001kqvdcjnm0p:answer',0,1,1,'final','764ebed41769f53de47eedb2eda6ec81','re «g6»','sent',1,0,0,315360000.0,2.11071667162987160692e+09,0.0,'01m81shfdg452001kqvdcjnm0p','01m81shfj2w40je1t80a17hmp2','',16,1.79535667155458950995e+09,1);
INSERT INTO "outbox" VALUES('01m81shfyedy1qyj7qzmt304ms','01m81sgzk0r7m037dm46fmezxb','01m81shfqjv5c9hn99j2bvfvy4:answer',0,1,1,'final','c61de5987b9ad1ffb0e9b1d7b91059d6','re «g7»','sent',1,0,0,315360000.0,2.11071667197593784335e+09,0.0,'01m81shfqjv5c9hn99j2bvfvy4','01m81shfyedy1qyj7qzmt304ms','',18,1.79535667195061564445e+09,1);
INSERT INTO "outbox" VALUES('01m81shgdennkr1h3pkrf9qhef','01m81sgzk0r7m037dm46fmezxb','01m81shg2zqan0e7ep71v93nnb:answer',0,1,1,'final','7e68d92b8d2913f77c35baf73dd3da8a','re «g8»','sent',1,0,0,315360000.0,2.11071667245222306251e+09,0.0,'01m81shg2zqan0e7ep71v93nnb','01m81shgdennkr1h3pkrf9qhef','',20,1.79535667243061566357e+09,1);
INSERT INTO "outbox" VALUES('01m81shgts11s2gcf5nkh9zg4b','01m81sgzk0r7m037dm46fmezxb','01m81shgggr9xcxrxjkwss1b8n:answer',0,1,1,'notice','42346c333a03f8eb6f2b5674b4f49b2b','Folded turns 3–5 into memory/2026-11-22.md: 361 → 268 tokens (74%).','sent',1,0,0,315360000.0,2.11071667286329555518e+09,0.0,'01m81shgggr9xcxrxjkwss1b8n','01m81shgts11s2gcf5nkh9zg4b','',22,1.79535667285763216017e+09,1);
INSERT INTO "outbox" VALUES('01m81shgx4rqks4585hn7aqx2n','01m81shgvq3r7276x0x7dw6sq8','01m81shgvqtwzne50fzrbtnrvv:answer',0,1,1,'final','67ceb9512a23ae61738ae7f23ddeea0d','re «w0»','sent',1,0,0,315360000.0,2.1107166729384672641e+09,0.0,'01m81shgvqtwzne50fzrbtnrvv','01m81shgx4rqks4585hn7aqx2n','',2,1.79535667293259119988e+09,1);
INSERT INTO "outbox" VALUES('01m81shh2sgny51xgbzjk4xmf9','01m81shgvq3r7276x0x7dw6sq8','01m81shgyq7srwpp74xg210cfg:answer',0,1,1,'final','6648076fa43b8d897ac6b028e8afce3a','re «w1»','sent',1,0,0,315360000.0,2.11071667318092226982e+09,0.0,'01m81shgyq7srwpp74xg210cfg','01m81shh2sgny51xgbzjk4xmf9','',4,1.79535667311353540421e+09,1);
INSERT INTO "outbox" VALUES('01m81shhbj4v95y5vsn1jc5thj','01m81shgvq3r7276x0x7dw6sq8','01m81shh74ha0qcxzsfqx7nmwk:answer',0,1,1,'final','7de7b89f6a2d9eae30890e9ad4497b31','re «w2»','sent',1,0,0,315360000.0,2.11071667345155620566e+09,0.0,'01m81shh74ha0qcxzsfqx7nmwk','01m81shhbj4v95y5vsn1jc5thj','',6,1.79535667339485168455e+09,1);
INSERT INTO "outbox" VALUES('01m81shhz1n4fs3yvce6gv3e7f','01m81shgvq3r7276x0x7dw6sq8','01m81shhgvkfghem53a6e0d73r:answer',0,1,1,'notice','63085af181a50845bc2e299d52dcad5e','Folded turn 1 into memory/2026-11-22.md: 90 → 72 tokens (80%).','sent',1,0,0,315360000.0,2.11071667404671406745e+09,0.0,'01m81shhgvkfghem53a6e0d73r','01m81shhz1n4fs3yvce6gv3e7f','',8,1.79535667401759171492e+09,1);
INSERT INTO "outbox" VALUES('01m81shj9ppj5ba3c451yxk92t','01m81shgvq3r7276x0x7dw6sq8','01m81shj35vqcbv16c0kcewjq3:answer',0,1,1,'notice','02e1e589f7b587f310903d2a069c37b7','The fold is undone: turn 1 is back in the context.','sent',1,0,0,315360000.0,2.11071667438119244582e+09,0.0,'01m81shj35vqcbv16c0kcewjq3','01m81shj9ppj5ba3c451yxk92t','',10,1.79535667435898613924e+09,1);
INSERT INTO "outbox" VALUES('01m81shjgpxaj0c580escb0se4','01m81shjatjz9pxeecyz4w492d','01m81shjaty0jq8eyfqmneber5:answer',0,1,1,'final','d07307d23a8688356af72849b533a551','re «o0»','sent',1,0,0,315360000.0,2.1107166745972225667e+09,0.0,'01m81shjaty0jq8eyfqmneber5','01m81shjgpxaj0c580escb0se4','',2,1.79535667458273410796e+09,1);
INSERT INTO "outbox" VALUES('01m81shjmame8y5g52vqr1ncc9','01m81shjatjz9pxeecyz4w492d','01m81shjkqrnshgxrw9229mfrr:answer',0,1,1,'final','2eaec3502e259df461e93d9e50763969','re «o1»','sent',1,0,0,315360000.0,2.11071667470300483701e+09,0.0,'01m81shjkqrnshgxrw9229mfrr','01m81shjmame8y5g52vqr1ncc9','',4,1.79535667469816827778e+09,1);
INSERT INTO "outbox" VALUES('01m81shjqh33rq4baapvwmynx9','01m81shjatjz9pxeecyz4w492d','01m81shjq9q67vdvwy3dcb5yd9:answer',0,1,2,'notice','7c72d73d47fb8d9841078f9851c3f9a3','The context is clear: the model sees nothing from before. The record stays; /context undo takes this back.','sent',1,0,0,315360000.0,2.11071667480634593962e+09,0.0,'01m81shjq9q67vdvwy3dcb5yd9','01m81shjqh33rq4baapvwmynx9','',6,1.79535667480176138873e+09,1);
INSERT INTO "outbox" VALUES('01m81shjtxmr5qp1rmp321dnj4','01m81shjatjz9pxeecyz4w492d','01m81shjrkyvc8cz5yamvy4evy:answer',0,1,2,'final','b91240145e46def343ea722fefaff304','re «o2»','sent',1,0,0,315360000.0,2.1107166749144468307e+09,0.0,'01m81shjrkyvc8cz5yamvy4evy','01m81shjtxmr5qp1rmp321dnj4','',8,1.79535667490995597844e+09,1);
INSERT INTO "outbox" VALUES('01m81shk5qy56e2c8cv4np3s7w','01m81shjxwm1tq8q2reympsc0j','01m81shjxw1et380bat92w6dps:answer',0,1,1,'final','a0b24c9bb4b26896ca7d5602ec811521','re «n0»','sent',1,0,0,315360000.0,2.11071667533995032317e+09,0.0,'01m81shjxw1et380bat92w6dps','01m81shk5qy56e2c8cv4np3s7w','',2,1.79535667525577235224e+09,1);
INSERT INTO "outbox" VALUES('01m81shkf5sexh9dfsp9ydrqnr','01m81shjxwm1tq8q2reympsc0j','01m81shkb3d2w6hf876aaeqrh2:answer',0,1,2,'notice','b0383dd8d49d1d25c92f4756444d47ba','A new conversation begins; what came before (1 turn) is being written to today''s log.','sent',1,0,0,315360000.0,2.11071667559834671014e+09,0.0,'01m81shkb3d2w6hf876aaeqrh2','01m81shkf5sexh9dfsp9ydrqnr','',4,1.79535667555700182915e+09,1);
INSERT INTO "outbox" VALUES('01m81shkmd26myp20fdsgs6a7p','01m81shjxwm1tq8q2reympsc0j','01m81shkgp5rw2fz57rram2x1h:answer',0,1,2,'final','a44665ee27ce7c57a60cb4c4331cecba','re «n1»','sent',1,0,0,315360000.0,2.11071667577296805378e+09,0.0,'01m81shkgp5rw2fz57rram2x1h','01m81shkmd26myp20fdsgs6a7p','',6,1.7953566757252190113e+09,1);
INSERT INTO "outbox" VALUES('01m81shmcgs3st7t7dv82xvjzw','01m81shkt1m8rh41ezh34h0fe5','01m81shkt121zfjfjs1c66222e:answer',0,1,1,'final','d7524046b220b656c8e29aa39657fcb9','re «t0»','sent',1,0,0,0.0,0.0,0.0,'01m81shkt121zfjfjs1c66222e','2','',2,1.79535667649689054496e+09,1);
INSERT INTO "outbox" VALUES('01m81shmmzsqh9fg30gnw654mg','01m81shkt1m8rh41ezh34h0fe5','01m81shmhbnrqhmb5wqhxb6xyr:answer',0,1,1,'final','30b2ffb5e24fca3e9c6b0b1756bdcff0','re «t1»','sent',1,0,0,0.0,0.0,0.0,'01m81shmhbnrqhmb5wqhxb6xyr','4','',4,1.79535667676710486407e+09,1);
INSERT INTO "outbox" VALUES('01m81shp6p22bd9neabwy275pb','01m81shmy8pctr01kfg5g82dyw','01m81shmy80nkcrbs44pqgkwac:answer',0,1,1,'final','d8cfb11f03f0430bab7c7dacc138ac97','re «p1»','sent',1,0,0,315360000.0,2.11071667840255212792e+09,0.0,'01m81shmy80nkcrbs44pqgkwac','01m81shp6p22bd9neabwy275pb','',2,1.79535667835862565045e+09,1);
INSERT INTO "outbox" VALUES('01m81sj9002mcp99bytk77b96e','01m81sj0wrgczb7zaam2q7dpb8','01m81sj0wr558cedq6ctv7w45s:answer',0,1,1,'final','1531a3cea129c3b8f0d7d7a769d5b781','re «l0»','sent',1,0,0,315360000.0,2.11071669774488568306e+09,0.0,'01m81sj0wr558cedq6ctv7w45s','01m81sj9002mcp99bytk77b96e','',2,1.79535669760019302373e+09,2);
INSERT INTO "outbox" VALUES('01m81sj97w1w74gynjsr9qja6v','01m81sj0wrgczb7zaam2q7dpb8','01m81sj95zfrwqy0260rnnvtwr:answer',0,1,1,'final','18eb792162af26734fb2201fc8278865','re «l1»','sent',1,0,0,315360000.0,2.11071669786325764655e+09,0.0,'01m81sj95zfrwqy0260rnnvtwr','01m81sj97w1w74gynjsr9qja6v','',4,1.79535669785208582883e+09,2);
INSERT INTO "outbox" VALUES('01m81sjbbgpsr9sky5c1etmecq','01m81sj0wrgczb7zaam2q7dpb8','01m81sjb9hjhsgfrp2sqakkqj0:answer',0,1,1,'final','cc0afeb4c1cd8cdedcba0a754f7f3abd','re «l2»','sending',1,0,0,315360000.0,2.11071670002483534811e+09,0.0,'01m81sjb9hjhsgfrp2sqakkqj0','','',6,1.79535670001609683034e+09,2);
CREATE TABLE prefix_text (
	sha256 TEXT NOT NULL, 
	text TEXT NOT NULL, 
	PRIMARY KEY (sha256)
);
INSERT INTO "prefix_text" VALUES('1d9982f17ee6ec75b421c5540dc24a46ab5a41b8f38a416d9100475d9294b7ec','Your channels: telegram, terminal, web.
Your tools:
- now: The current date, weekday, time and time zone of the person.
- recall: Show the stored original of something earlier in this conversation that is shortened or folded now: by the handle given there, or a whole turn by its number. Pages of about 8000 characters.
- list_files: List the files in the workspace, or in one of its folders, with size and time of change.
- read_file: Read a text file of the workspace, 400 lines at a time. The first line of the result tells the file''s version, which write_file asks for.
- write_file: Write a whole text file in the workspace. To replace one that exists, read it first and pass its version.
- edit_file: Replace one passage of a text file. `old` must occur exactly once, as it stands in the file.');
INSERT INTO "prefix_text" VALUES('4badedc7bc82b45c9f75c7addc99c07b878001ee857a33c73f28980db637297f','[Daily log of 2026-11-22, for reference]
## 14:11 · web · turns 1–2

- «g0» the roses want water; I prefer tea. 花园要浇水
- «g1» the roses want water; I prefer tea. 花园要浇水

## 14:11 · web · turns 3–5

- «g2» the roses want water; I prefer tea. 花园要浇水
- «g3» the roses want water; I prefer tea. 花园要浇水
- «g4» the roses want water; I prefer tea. 花园要浇水
[End of the daily log]');
INSERT INTO "prefix_text" VALUES('e26638b3927907a2e014c4f8a34efb73bcf5d862f692b10ae6ab7a20b998fdb7','[Daily log of 2026-11-22, for reference]
## 14:11 · web · turns 1–2

- «g0» the roses want water; I prefer tea. 花园要浇水
- «g1» the roses want water; I prefer tea. 花园要浇水

## 14:11 · web · turns 3–5

- «g2» the roses want water; I prefer tea. 花园要浇水
- «g3» the roses want water; I prefer tea. 花园要浇水
- «g4» the roses want water; I prefer tea. 花园要浇水

## 14:11 · web · turns 1–1

- «n0» what do you make of it?
[End of the daily log]');
CREATE TABLE probe (
	id TEXT NOT NULL, 
	padding TEXT NOT NULL, 
	PRIMARY KEY (id)
);
CREATE TABLE reduction (
	message_id TEXT NOT NULL, 
	part INTEGER NOT NULL, 
	form TEXT NOT NULL, 
	conversation TEXT NOT NULL, 
	text TEXT NOT NULL, 
	tokens INTEGER NOT NULL, 
	reason TEXT NOT NULL, 
	prefix_generation INTEGER NOT NULL, 
	PRIMARY KEY (message_id, part, form), 
	FOREIGN KEY(message_id) REFERENCES message (id), 
	FOREIGN KEY(conversation) REFERENCES conversation (id)
);
INSERT INTO "reduction" VALUES('01m81shdbew90mkvm1v3e8fm91',0,'snip','01m81sgzk0r7m037dm46fmezxb','re … g0',3,'size',1);
CREATE TABLE removal (
	conversation TEXT NOT NULL, 
	PRIMARY KEY (conversation)
);
CREATE TABLE snapshot (
	conversation TEXT NOT NULL, 
	source TEXT NOT NULL, 
	epoch INTEGER NOT NULL, 
	fold_head TEXT NOT NULL, 
	reductions INTEGER NOT NULL, 
	at DOUBLE NOT NULL, 
	PRIMARY KEY (conversation), 
	FOREIGN KEY(conversation) REFERENCES conversation (id)
);
INSERT INTO "snapshot" VALUES('01m81sgzk0r7m037dm46fmezxb','c9e4b95a8f3762d9ef3191b36ae9f61277ca87813e8e0788a7bb71222d8e21de',1,'01m81sheq18d4wbcbeczcybckz',0,1.79535667138016915319e+09);
INSERT INTO "snapshot" VALUES('01m81shgvq3r7276x0x7dw6sq8','c9e4b95a8f3762d9ef3191b36ae9f61277ca87813e8e0788a7bb71222d8e21de',1,'',0,1.79535667292481732363e+09);
INSERT INTO "snapshot" VALUES('01m81shjatjz9pxeecyz4w492d','c9e4b95a8f3762d9ef3191b36ae9f61277ca87813e8e0788a7bb71222d8e21de',2,'',0,1.79535667490369915959e+09);
INSERT INTO "snapshot" VALUES('01m81shjxwm1tq8q2reympsc0j','c9e4b95a8f3762d9ef3191b36ae9f61277ca87813e8e0788a7bb71222d8e21de',2,'',0,1.79535667570099735255e+09);
INSERT INTO "snapshot" VALUES('01m81shkt1m8rh41ezh34h0fe5','c9e4b95a8f3762d9ef3191b36ae9f61277ca87813e8e0788a7bb71222d8e21de',1,'',0,1.79535667643285536763e+09);
INSERT INTO "snapshot" VALUES('01m81shmy8pctr01kfg5g82dyw','c9e4b95a8f3762d9ef3191b36ae9f61277ca87813e8e0788a7bb71222d8e21de',1,'',0,1.79535667826506185528e+09);
INSERT INTO "snapshot" VALUES('01m81sj0wrgczb7zaam2q7dpb8','c9e4b95a8f3762d9ef3191b36ae9f61277ca87813e8e0788a7bb71222d8e21de',1,'',0,1.79535669750303173057e+09);
INSERT INTO "snapshot" VALUES('01m81sja94s92x38x74bhq7ckf','c9e4b95a8f3762d9ef3191b36ae9f61277ca87813e8e0788a7bb71222d8e21de',1,'',0,1.79535669900423836701e+09);
CREATE TABLE snapshot_part (
	conversation TEXT NOT NULL, 
	place INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	sha256 TEXT NOT NULL, 
	left_out TEXT NOT NULL, 
	PRIMARY KEY (conversation, place), 
	FOREIGN KEY(conversation) REFERENCES conversation (id), 
	FOREIGN KEY(sha256) REFERENCES prefix_text (sha256)
);
INSERT INTO "snapshot_part" VALUES('01m81sgzk0r7m037dm46fmezxb',0,'awareness','1d9982f17ee6ec75b421c5540dc24a46ab5a41b8f38a416d9100475d9294b7ec','[]');
INSERT INTO "snapshot_part" VALUES('01m81shgvq3r7276x0x7dw6sq8',0,'awareness','1d9982f17ee6ec75b421c5540dc24a46ab5a41b8f38a416d9100475d9294b7ec','[]');
INSERT INTO "snapshot_part" VALUES('01m81shgvq3r7276x0x7dw6sq8',1,'log','4badedc7bc82b45c9f75c7addc99c07b878001ee857a33c73f28980db637297f','[]');
INSERT INTO "snapshot_part" VALUES('01m81shjatjz9pxeecyz4w492d',0,'awareness','1d9982f17ee6ec75b421c5540dc24a46ab5a41b8f38a416d9100475d9294b7ec','[]');
INSERT INTO "snapshot_part" VALUES('01m81shjatjz9pxeecyz4w492d',1,'log','4badedc7bc82b45c9f75c7addc99c07b878001ee857a33c73f28980db637297f','[]');
INSERT INTO "snapshot_part" VALUES('01m81shjxwm1tq8q2reympsc0j',0,'awareness','1d9982f17ee6ec75b421c5540dc24a46ab5a41b8f38a416d9100475d9294b7ec','[]');
INSERT INTO "snapshot_part" VALUES('01m81shjxwm1tq8q2reympsc0j',1,'log','4badedc7bc82b45c9f75c7addc99c07b878001ee857a33c73f28980db637297f','[]');
INSERT INTO "snapshot_part" VALUES('01m81shkt1m8rh41ezh34h0fe5',0,'awareness','1d9982f17ee6ec75b421c5540dc24a46ab5a41b8f38a416d9100475d9294b7ec','[]');
INSERT INTO "snapshot_part" VALUES('01m81shkt1m8rh41ezh34h0fe5',1,'log','e26638b3927907a2e014c4f8a34efb73bcf5d862f692b10ae6ab7a20b998fdb7','[]');
INSERT INTO "snapshot_part" VALUES('01m81shmy8pctr01kfg5g82dyw',0,'awareness','1d9982f17ee6ec75b421c5540dc24a46ab5a41b8f38a416d9100475d9294b7ec','[]');
INSERT INTO "snapshot_part" VALUES('01m81shmy8pctr01kfg5g82dyw',1,'log','e26638b3927907a2e014c4f8a34efb73bcf5d862f692b10ae6ab7a20b998fdb7','[]');
INSERT INTO "snapshot_part" VALUES('01m81sj0wrgczb7zaam2q7dpb8',0,'awareness','1d9982f17ee6ec75b421c5540dc24a46ab5a41b8f38a416d9100475d9294b7ec','[]');
INSERT INTO "snapshot_part" VALUES('01m81sj0wrgczb7zaam2q7dpb8',1,'log','e26638b3927907a2e014c4f8a34efb73bcf5d862f692b10ae6ab7a20b998fdb7','[]');
INSERT INTO "snapshot_part" VALUES('01m81sja94s92x38x74bhq7ckf',0,'awareness','1d9982f17ee6ec75b421c5540dc24a46ab5a41b8f38a416d9100475d9294b7ec','[]');
INSERT INTO "snapshot_part" VALUES('01m81sja94s92x38x74bhq7ckf',1,'log','e26638b3927907a2e014c4f8a34efb73bcf5d862f692b10ae6ab7a20b998fdb7','[]');
CREATE TABLE tool_call (
	id TEXT NOT NULL, 
	turn_id TEXT NOT NULL, 
	place INTEGER NOT NULL, 
	call_id TEXT NOT NULL, 
	name TEXT NOT NULL, 
	input TEXT NOT NULL, 
	effect TEXT NOT NULL, 
	idem_key TEXT NOT NULL, 
	state TEXT NOT NULL, 
	attempts INTEGER NOT NULL, 
	result_id TEXT NOT NULL, 
	PRIMARY KEY (id), 
	CONSTRAINT tool_call_id UNIQUE (turn_id, call_id), 
	FOREIGN KEY(turn_id) REFERENCES turn (id)
);
INSERT INTO "tool_call" VALUES('01m81shg7jhb7hjy152hqyx5nk','01m81shg4egk4jkqafzfbsqk4g',0,'call_g8','write_file','{"path": "notes/roses.md", "content": "water on Mondays"}','idempotent','813871a1b5dd8848e875ae75a2a07259','done',1,'01m81shgb6rmkwy807q5qnqsf2');
INSERT INTO "tool_call" VALUES('01m81sjae7axkbpsgmee1mwww2','01m81sja9ws858ysdhd9pfg8c3',0,'call_x1','write_file','{"path": "notes/x.md", "content": "x"}','idempotent','ffa09e983c90bbdc470cd857757fcbf4','started',1,'');
CREATE TABLE turn (
	id TEXT NOT NULL, 
	conversation TEXT NOT NULL, 
	number INTEGER NOT NULL, 
	epoch INTEGER NOT NULL, 
	inbox_id TEXT NOT NULL, 
	actor TEXT NOT NULL, 
	state TEXT NOT NULL, 
	step INTEGER NOT NULL, 
	attempts INTEGER NOT NULL, 
	trace_id TEXT NOT NULL, 
	first_seq INTEGER NOT NULL, 
	lease_epoch INTEGER NOT NULL, 
	started DOUBLE NOT NULL, 
	ended DOUBLE NOT NULL, 
	PRIMARY KEY (id), 
	CONSTRAINT turn_number UNIQUE (conversation, number), 
	FOREIGN KEY(conversation) REFERENCES conversation (id)
);
INSERT INTO "turn" VALUES('01m81sh7c7nz1x6gmw2r5ne6mb','01m81sgzk0r7m037dm46fmezxb',1,1,'01m81sgzk07m8b1e484br2aze8','owner','done',0,0,'01m81sgzk0v88e91d916b90akz',1,1,1.79535666317537903786e+09,1.7953566692949693203e+09);
INSERT INTO "turn" VALUES('01m81shdm5h43g7h3y4784st47','01m81sgzk0r7m037dm46fmezxb',2,1,'01m81shdhj1s8rt5hy7k8fwcyc','owner','done',0,0,'01m81shdhjw62hxnq6hyyn7s97',3,1,1.79535666957342028614e+09,1.79535666983060312271e+09);
INSERT INTO "turn" VALUES('01m81she151erjs37r1ab522tw','01m81sgzk0r7m037dm46fmezxb',3,1,'01m81shdzv7pnad4gezashehrx','owner','done',0,0,'01m81shdzv3vwkh9grzvdce7v4',5,1,1.79535666998909187314e+09,1.79535667002176833155e+09);
INSERT INTO "turn" VALUES('01m81she3qte8gy8ph6cjjay9q','01m81sgzk0r7m037dm46fmezxb',4,1,'01m81she3h60d4w05k354vy6sv','owner','done',0,0,'01m81she3h6ytw23s7ym43dbxh',7,1,1.79535667007177972796e+09,1.79535667013194465634e+09);
INSERT INTO "turn" VALUES('01m81shec37q49jrsgxrr5ch3v','01m81sgzk0r7m037dm46fmezxb',5,1,'01m81she9va2aj1qnvm0ckxg8n','owner','done',0,0,'01m81she9vnnse78zwc0w0dmh5',9,1,1.79535667033955287936e+09,1.79535667042569661139e+09);
INSERT INTO "turn" VALUES('01m81shfasatfxj1yz8y4re862','01m81sgzk0r7m037dm46fmezxb',6,1,'01m81shf8rp6v3f5w6yk363jst','owner','done',0,0,'01m81shf8rc4xw8vfdmwc8rapk',11,1,1795356671.3214,1.79535667138674902916e+09);
INSERT INTO "turn" VALUES('01m81shfg01a8w0r67dg98d0xr','01m81sgzk0r7m037dm46fmezxb',7,1,'01m81shfdg452001kqvdcjnm0p','owner','done',0,0,'01m81shfdgbzsscyc4e3y1z6by',13,1,1.79535667148819684979e+09,1.79535667155458950995e+09);
INSERT INTO "turn" VALUES('01m81shftawc16zp7jpejske3t','01m81sgzk0r7m037dm46fmezxb',8,1,'01m81shfqjv5c9hn99j2bvfvy4','owner','done',0,0,'01m81shfqj1e36z522tyd6ysz8',15,1,1.7953566718185667992e+09,1.79535667195061564445e+09);
INSERT INTO "turn" VALUES('01m81shg4egk4jkqafzfbsqk4g','01m81sgzk0r7m037dm46fmezxb',9,1,'01m81shg2zqan0e7ep71v93nnb','owner','done',1,0,'01m81shg2zazyvqzmnfpz0ydgf',17,1,1.7953566721421182155e+09,1.79535667243061566357e+09);
INSERT INTO "turn" VALUES('01m81shgvwr2n0r0r5c5jj53s5','01m81shgvq3r7276x0x7dw6sq8',1,1,'01m81shgvqtwzne50fzrbtnrvv','owner','done',0,0,'01m81shgvqp79zd96b8kpqr6hv',1,1,1.79535667289292740823e+09,1.79535667293259119988e+09);
INSERT INTO "turn" VALUES('01m81shgzgs1mbj933jvqq72hc','01m81shgvq3r7276x0x7dw6sq8',2,1,'01m81shgyq7srwpp74xg210cfg','owner','done',0,0,'01m81shgyqe2k5c4bak3qcp26d',3,1,1.79535667300873398783e+09,1.79535667311353540421e+09);
INSERT INTO "turn" VALUES('01m81shh8nabdpnhn1vy4a2ef6','01m81shgvq3r7276x0x7dw6sq8',3,1,'01m81shh74ha0qcxzsfqx7nmwk','owner','done',0,0,'01m81shh74ncw7sk3a9exnhnhx',5,1,1.79535667330129837995e+09,1.79535667339485168455e+09);
INSERT INTO "turn" VALUES('01m81shjb8636j1854cdv2c8re','01m81shjatjz9pxeecyz4w492d',1,1,'01m81shjaty0jq8eyfqmneber5','owner','done',0,0,'01m81shjatvm9s134jct9rnxnv',1,1,1.79535667440838742252e+09,1.79535667458273410796e+09);
INSERT INTO "turn" VALUES('01m81shjkt3rgg5gprz493srx0','01m81shjatjz9pxeecyz4w492d',2,1,'01m81shjkqrnshgxrw9229mfrr','owner','done',0,0,'01m81shjkqwgn2s6v5mda3k24q',3,1,1.79535667468234395979e+09,1.79535667469816827778e+09);
INSERT INTO "turn" VALUES('01m81shjs3abcpbnjamrv80xhn','01m81shjatjz9pxeecyz4w492d',3,2,'01m81shjrkyvc8cz5yamvy4evy','owner','done',0,0,'01m81shjrk61r5v3x9gpdehrt8',5,1,1.79535667485199260714e+09,1.79535667490995597844e+09);
INSERT INTO "turn" VALUES('01m81shjzg2cnet5sc4ck7ny4a','01m81shjxwm1tq8q2reympsc0j',1,1,'01m81shjxw1et380bat92w6dps','owner','done',0,0,'01m81shjxwdf5t4vz8jggdb69j',1,1,1.79535667505643248558e+09,1.79535667525577235224e+09);
INSERT INTO "turn" VALUES('01m81shkhf4zpcyze4vd70aj6a','01m81shjxwm1tq8q2reympsc0j',2,2,'01m81shkgp5rw2fz57rram2x1h','owner','done',0,0,'01m81shkgpyfv1an0c2pkr8jh4',3,1,1.79535667563157939905e+09,1.7953566757252190113e+09);
INSERT INTO "turn" VALUES('01m81shkx7fchyeszgb70j9mdz','01m81shkt1m8rh41ezh34h0fe5',1,1,'01m81shkt121zfjfjs1c66222e','5005','done',0,0,'01m81shkt1tjeqdyv2t50p2vrr',1,1,1.79535667600701975823e+09,1.79535667649689054496e+09);
INSERT INTO "turn" VALUES('01m81shmj26ws3rhysdkf9ey85','01m81shkt1m8rh41ezh34h0fe5',2,1,'01m81shmhbnrqhmb5wqhxb6xyr','5005','done',0,0,'01m81shmhbhxpzqnb08z57y9vg',3,1,1.79535667667409300804e+09,1.79535667676710486407e+09);
INSERT INTO "turn" VALUES('01m81shp1yc3kx923k6fpzszff','01m81shmy8pctr01kfg5g82dyw',1,1,'01m81shmy80nkcrbs44pqgkwac','owner','done',0,0,'01m81shmy85cnnkbbcsfxf9rqw',1,1,1.79535667820661139484e+09,1.79535667835862565045e+09);
INSERT INTO "turn" VALUES('01m81sj8rmcz334akkh5g38g4w','01m81sj0wrgczb7zaam2q7dpb8',1,1,'01m81sj0wr558cedq6ctv7w45s','owner','done',0,0,'01m81sj0wr2ekhhp6hcbjv391n',1,2,1.79535669736467480657e+09,1.79535669760019302373e+09);
INSERT INTO "turn" VALUES('01m81sj967sdxjxgn3hkazqtzr','01m81sj0wrgczb7zaam2q7dpb8',2,1,'01m81sj95zfrwqy0260rnnvtwr','owner','done',0,0,'01m81sj95zqekqkf3k2g774wq0',3,2,1.79535669779900312423e+09,1.79535669785208582883e+09);
INSERT INTO "turn" VALUES('01m81sja9ws858ysdhd9pfg8c3','01m81sja94s92x38x74bhq7ckf',1,1,'01m81sja946tn3qewxqaqd1pba','owner','waiting',1,0,'01m81sja94ft3r475ed6e2pgzk',1,2,1.79535669894012117381e+09,0.0);
INSERT INTO "turn" VALUES('01m81sjbasx8hvqzt49p9z9t1q','01m81sj0wrgczb7zaam2q7dpb8',3,1,'01m81sjb9hjhsgfrp2sqakkqj0','owner','done',0,0,'01m81sjb9hkqge6c56e6g2j55r',5,2,1.79535669999324703216e+09,1.79535670001609683034e+09);
CREATE TABLE usage (
	id TEXT NOT NULL, 
	conversation TEXT NOT NULL, 
	turn_id TEXT NOT NULL, 
	model TEXT NOT NULL, 
	purpose TEXT NOT NULL, 
	input INTEGER NOT NULL, 
	output INTEGER NOT NULL, 
	cache_read INTEGER NOT NULL, 
	cache_write INTEGER NOT NULL, 
	estimated INTEGER NOT NULL, 
	at DOUBLE NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(conversation) REFERENCES conversation (id)
);
INSERT INTO "usage" VALUES('01m81shdbe3t71t1jspvm5pzyb','01m81sgzk0r7m037dm46fmezxb','01m81sh7c7nz1x6gmw2r5ne6mb','gpt-6.1-terra','turn',1361,3,0,0,0,1.7953566692949693203e+09);
INSERT INTO "usage" VALUES('01m81shdw6hzr7crf08c22bra6','01m81sgzk0r7m037dm46fmezxb','01m81shdm5h43g7h3y4784st47','gpt-6.1-terra','turn',1395,3,0,0,0,1.79535666983060312271e+09);
INSERT INTO "usage" VALUES('01m81she25j413tg9dcrjwf6xy','01m81sgzk0r7m037dm46fmezxb','01m81she151erjs37r1ab522tw','gpt-6.1-terra','turn',1430,3,0,0,0,1.79535667002176833155e+09);
INSERT INTO "usage" VALUES('01m81she5kbqqgj9k0kp4zhew6','01m81sgzk0r7m037dm46fmezxb','01m81she3qte8gy8ph6cjjay9q','gpt-6.1-terra','turn',1464,3,0,0,0,1.79535667013194465634e+09);
INSERT INTO "usage" VALUES('01m81sheesdcakg753k2r5y46g','01m81sgzk0r7m037dm46fmezxb','01m81shec37q49jrsgxrr5ch3v','gpt-6.1-terra','turn',1499,3,0,0,0,1.79535667042569661139e+09);
INSERT INTO "usage" VALUES('01m81shew205gdx0xy33thpjb2','01m81sgzk0r7m037dm46fmezxb','','gpt-6-luna','fold',456,71,0,0,0,1.79535667085068774222e+09);
INSERT INTO "usage" VALUES('01m81shfctt0pbqzs7ga8an4g3','01m81sgzk0r7m037dm46fmezxb','01m81shfasatfxj1yz8y4re862','gpt-6.1-terra','turn',1519,3,0,0,0,1.79535667138674902916e+09);
INSERT INTO "usage" VALUES('01m81shfj2mxxkhx9pzwr1kfjx','01m81sgzk0r7m037dm46fmezxb','01m81shfg01a8w0r67dg98d0xr','gpt-6.1-terra','turn',1547,3,0,0,0,1.79535667155458950995e+09);
INSERT INTO "usage" VALUES('01m81shfyekcejf3k3vrextv4a','01m81sgzk0r7m037dm46fmezxb','01m81shftawc16zp7jpejske3t','gpt-6.1-terra','turn',1574,3,0,0,0,1.79535667195061564445e+09);
INSERT INTO "usage" VALUES('01m81shg7jw0hm5zqrgcvzkbme','01m81sgzk0r7m037dm46fmezxb','01m81shg4egk4jkqafzfbsqk4g','gpt-6.1-terra','turn',1616,19,0,0,0,1.79535667224232959749e+09);
INSERT INTO "usage" VALUES('01m81shgde4xd3m622rmca5h27','01m81sgzk0r7m037dm46fmezxb','01m81shg4egk4jkqafzfbsqk4g','gpt-6.1-terra','turn',1700,3,0,0,0,1.79535667243061566357e+09);
INSERT INTO "usage" VALUES('01m81shgn78pc0dedyvtx395jn','01m81sgzk0r7m037dm46fmezxb','','gpt-6-luna','fold',529,102,0,0,0,1.79535667267997789387e+09);
INSERT INTO "usage" VALUES('01m81shgx4kmyy9ndv9ymv8xz0','01m81shgvq3r7276x0x7dw6sq8','01m81shgvwr2n0r0r5c5jj53s5','gpt-6.1-terra','turn',1466,3,0,0,0,1.79535667293259119988e+09);
INSERT INTO "usage" VALUES('01m81shh2s6esgrmv4v1sb2h3m','01m81shgvq3r7276x0x7dw6sq8','01m81shgzgs1mbj933jvqq72hc','gpt-6.1-terra','turn',1493,3,0,0,0,1.79535667311353540421e+09);
INSERT INTO "usage" VALUES('01m81shhbjkewzpyqav9pwgj7j','01m81shgvq3r7276x0x7dw6sq8','01m81shh8nabdpnhn1vy4a2ef6','gpt-6.1-terra','turn',1521,3,0,0,0,1.79535667339485168455e+09);
INSERT INTO "usage" VALUES('01m81shhpssde32vtyt5zst6hh','01m81shgvq3r7276x0x7dw6sq8','','gpt-6-luna','fold',419,25,0,0,0,1.79535667375375843045e+09);
INSERT INTO "usage" VALUES('01m81shjgppazq0mfb16cr3db0','01m81shjatjz9pxeecyz4w492d','01m81shjb8636j1854cdv2c8re','gpt-6.1-terra','turn',1466,3,0,0,0,1.79535667458273410796e+09);
INSERT INTO "usage" VALUES('01m81shjmaje0qw2c5vqw44s07','01m81shjatjz9pxeecyz4w492d','01m81shjkt3rgg5gprz493srx0','gpt-6.1-terra','turn',1493,3,0,0,0,1.79535667469816827778e+09);
INSERT INTO "usage" VALUES('01m81shjtx2h11hb4jemeq7cvt','01m81shjatjz9pxeecyz4w492d','01m81shjs3abcpbnjamrv80xhn','gpt-6.1-terra','turn',1466,3,0,0,0,1.79535667490995597844e+09);
INSERT INTO "usage" VALUES('01m81shk5qnj529hkk7ftd74nb','01m81shjxwm1tq8q2reympsc0j','01m81shjzg2cnet5sc4ck7ny4a','gpt-6.1-terra','turn',1466,3,0,0,0,1.79535667525577235224e+09);
INSERT INTO "usage" VALUES('01m81shkgdjvppt2p4d2xvakpc','01m81shjxwm1tq8q2reympsc0j','','gpt-6-luna','fold',419,25,0,0,0,1.79535667559725952151e+09);
INSERT INTO "usage" VALUES('01m81shkmd25qfygg46dez133q','01m81shjxwm1tq8q2reympsc0j','01m81shkhf4zpcyze4vd70aj6a','gpt-6.1-terra','turn',1466,3,0,0,0,1.7953566757252190113e+09);
INSERT INTO "usage" VALUES('01m81shmcgkzrbstgvwwan4qsv','01m81shkt1m8rh41ezh34h0fe5','01m81shkx7fchyeszgb70j9mdz','gpt-6.1-terra','turn',1483,3,0,0,0,1.79535667649689054496e+09);
INSERT INTO "usage" VALUES('01m81shmmzzcy7x67yd2hf5ahq','01m81shkt1m8rh41ezh34h0fe5','01m81shmj26ws3rhysdkf9ey85','gpt-6.1-terra','turn',1511,3,0,0,0,1.79535667676710486407e+09);
INSERT INTO "usage" VALUES('01m81shp6pma8yn2kj455vfctf','01m81shmy8pctr01kfg5g82dyw','01m81shp1yc3kx923k6fpzszff','gpt-6.1-terra','turn',1537,3,0,0,0,1.79535667835862565045e+09);
INSERT INTO "usage" VALUES('01m81sj900kevsecsyzra60vr5','01m81sj0wrgczb7zaam2q7dpb8','01m81sj8rmcz334akkh5g38g4w','gpt-6.1-terra','turn',1483,3,0,0,0,1.79535669760019302373e+09);
INSERT INTO "usage" VALUES('01m81sj97w4eqbnz5yyrw4n9yy','01m81sj0wrgczb7zaam2q7dpb8','01m81sj967sdxjxgn3hkazqtzr','gpt-6.1-terra','turn',1511,3,0,0,0,1.79535669785208582883e+09);
INSERT INTO "usage" VALUES('01m81sj9ee4satxw7p839f2nfe','01m81shgvq3r7276x0x7dw6sq8','','gpt-6-luna','fold',419,25,0,0,0,1.79535669806267905238e+09);
INSERT INTO "usage" VALUES('01m81sjae7fzjzmz90dz3k3xc4','01m81sja94s92x38x74bhq7ckf','01m81sja9ws858ysdhd9pfg8c3','gpt-6.1-terra','turn',1493,14,0,0,0,1.79535669907993745801e+09);
INSERT INTO "usage" VALUES('01m81sjbbgzf1yaj7nawtjny95','01m81sj0wrgczb7zaam2q7dpb8','01m81sjbasx8hvqzt49p9z9t1q','gpt-6.1-terra','turn',1538,3,0,0,0,1.79535670001609683034e+09);
CREATE INDEX conversation_updated ON conversation (updated);
CREATE INDEX coverage_fold ON coverage (fold_id);
CREATE INDEX fold_conversation ON fold (conversation, at);
CREATE UNIQUE INDEX fold_open ON fold (conversation) WHERE (state = 'planned' OR state = 'summarised' OR state = 'checked' OR state = 'logged') AND log_only IS 0;
CREATE UNIQUE INDEX fold_range ON fold (conversation, from_seq) WHERE state = 'folded' AND log_only IS 0;
CREATE INDEX inbox_line ON inbox (conversation, line);
CREATE INDEX inbox_open ON inbox (conversation) WHERE state = 'new' OR state = 'running';
CREATE INDEX message_space ON message (space, at);
CREATE INDEX outbox_line ON outbox (conversation, line);
CREATE INDEX outbox_open ON outbox (conversation, line, part_no) WHERE state = 'pending' OR state = 'sending' OR state = 'unknown';
CREATE INDEX snapshot_part_text ON snapshot_part (sha256);
CREATE INDEX turn_first_seq ON turn (conversation, first_seq);
CREATE UNIQUE INDEX turn_open ON turn (conversation) WHERE state = 'running' OR state = 'waiting';
CREATE INDEX usage_at ON usage (at);
CREATE INDEX usage_conversation ON usage (conversation, at);
CREATE INDEX reduction_conversation ON reduction (conversation);
CREATE INDEX tool_call_started ON tool_call (turn_id) WHERE state = 'started';
CREATE TRIGGER message_kept_as_is BEFORE UPDATE ON message BEGIN SELECT RAISE(ABORT, 'messages are never changed'); END;
CREATE TRIGGER message_kept BEFORE DELETE ON message WHEN NOT EXISTS (SELECT 1 FROM removal WHERE conversation = OLD.conversation) BEGIN SELECT RAISE(ABORT, 'messages are never deleted'); END;
COMMIT;
