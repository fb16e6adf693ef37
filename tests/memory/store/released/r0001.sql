BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('r0001');
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
INSERT INTO "audit" VALUES(1,1.79535657342284870143e+09,'','clear','01m81sefjq863ph2hfkcqky6as','','allowed','epoch 2','','143311622f7796ec4027ba34e5a142eebf546e3cfbb192bec3a97d736edb83c8');
INSERT INTO "audit" VALUES(2,1.79535657360793185237e+09,'','clear','01m81sefs8vt6yh58fs1fq1kta','','allowed','epoch 2','143311622f7796ec4027ba34e5a142eebf546e3cfbb192bec3a97d736edb83c8','a46f9756de96d040c4752cd225ceab1bd337c09c0f7271dc46e63c2f807142b2');
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
INSERT INTO "clearing" VALUES('01m81sefjq863ph2hfkcqky6as',2,1,'',0,1.79535657342284870143e+09);
INSERT INTO "clearing" VALUES('01m81sefs8vt6yh58fs1fq1kta',2,1,'',0,1.79535657360793185237e+09);
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
INSERT INTO "conversation" VALUES('01m81se6agc7epdya9tyvr51kh','web','console','garden','','dm','',1,21,10,23,1,'01m81seeacphhafe4hbzss36cj','','',2,'8f77da09368eebdee386140a856420f210ef4dc9eee0f63fdcda8c5353d8d0bb','fold',1,'«g0» the roses want water; I prefer tea. 花园要浇水',1.79535657193437266348e+09,1795356572.13453);
INSERT INTO "conversation" VALUES('01m81seegjjyrshgmw1wfap2zq','web','console','work','','dm','',1,7,4,12,1,'','','',2,'8f77da09368eebdee386140a856420f210ef4dc9eee0f63fdcda8c5353d8d0bb','fold undone',1,'«w0» what do you make of it?',1.79535659269169640536e+09,1.79535659269169640536e+09);
INSERT INTO "conversation" VALUES('01m81sefjq863ph2hfkcqky6as','web','console','old','','dm','',2,7,4,9,5,'','','',1,'8f77da09368eebdee386140a856420f210ef4dc9eee0f63fdcda8c5353d8d0bb','clear',1,'«o0» what do you make of it?',1.79535657344497060774e+09,1.79535657345971655842e+09);
INSERT INTO "conversation" VALUES('01m81sefs8vt6yh58fs1fq1kta','web','console','new','','dm','',2,5,3,7,3,'','','',1,'8f77da09368eebdee386140a856420f210ef4dc9eee0f63fdcda8c5353d8d0bb','clear',1,'«n0» what do you make of it?',1.79535657363475751875e+09,1.79535657368315720557e+09);
INSERT INTO "conversation" VALUES('01m81seg0r9hck3g7bc284s79z','telegram','100','5005','','dm','',1,5,3,5,1,'','','',0,'8f77da09368eebdee386140a856420f210ef4dc9eee0f63fdcda8c5353d8d0bb','system, tools or model',1,'«t0» what do you make of it?',1.79535657427344107631e+09,1795356574.41692);
INSERT INTO "conversation" VALUES('01m81segznzga9psh1sm3025ry','web','console','picture','','dm','',1,3,2,3,1,'','','',0,'8f77da09368eebdee386140a856420f210ef4dc9eee0f63fdcda8c5353d8d0bb','system, tools or model',1,'«p1» what do you make of it? 📎 dot.png',1.79535657470920419695e+09,1.79535657564272451399e+09);
INSERT INTO "conversation" VALUES('01m81set3fah6q6bgg153ygvyq','web','console','late','','dm','',1,7,4,7,1,'','','',0,'8f77da09368eebdee386140a856420f210ef4dc9eee0f63fdcda8c5353d8d0bb','system, tools or model',1,'«l0» what do you make of it?',1.79535659482255816454e+09,1.79535659490254163742e+09);
INSERT INTO "conversation" VALUES('01m81sf3jj3ww1y1efb4nmyhdm','web','console','tool','','dm','',1,3,2,3,1,'','','',0,'8f77da09368eebdee386140a856420f210ef4dc9eee0f63fdcda8c5353d8d0bb','system, tools or model',1,'«x1» use write_file {"path": "notes/x.md", "content": "x"}',1.7953565947807826995e+09,1.7953565947807826995e+09);
CREATE TABLE coverage (
	message_id TEXT NOT NULL, 
	class TEXT NOT NULL, 
	fold_id TEXT NOT NULL, 
	PRIMARY KEY (message_id)
);
INSERT INTO "coverage" VALUES('01m81se6ag889q2rv6ykx8d5jx','folded','01m81secabpxw2xv6197jgspqj');
INSERT INTO "coverage" VALUES('01m81sec13gw1cfrgp1xkhy4hx','folded','01m81secabpxw2xv6197jgspqj');
INSERT INTO "coverage" VALUES('01m81sec1n6vvm0kafcmtvx1ag','folded','01m81secabpxw2xv6197jgspqj');
INSERT INTO "coverage" VALUES('01m81sec2d6172w0nmzf7sqe4x','folded','01m81secabpxw2xv6197jgspqj');
INSERT INTO "coverage" VALUES('01m81sec3e5832r7gw656fdrvz','folded','01m81seeacphhafe4hbzss36cj');
INSERT INTO "coverage" VALUES('01m81sec49b5h9cdy3q6cp8jxq','folded','01m81seeacphhafe4hbzss36cj');
INSERT INTO "coverage" VALUES('01m81sec4m86rmykwpyx9j9ftc','folded','01m81seeacphhafe4hbzss36cj');
INSERT INTO "coverage" VALUES('01m81sec5egp3kesfa15g65pbr','folded','01m81seeacphhafe4hbzss36cj');
INSERT INTO "coverage" VALUES('01m81sec6s9b40dsw7a5pysr3q','folded','01m81seeacphhafe4hbzss36cj');
INSERT INTO "coverage" VALUES('01m81sec7v87mcncm21vkfvz01','folded','01m81seeacphhafe4hbzss36cj');
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
	PRIMARY KEY (id), 
	FOREIGN KEY(conversation) REFERENCES conversation (id)
);
INSERT INTO "fold" VALUES('01m81secabpxw2xv6197jgspqj','01m81se6agc7epdya9tyvr51kh','','web',1,'',1,4,1,2,2,'folded','model','turns','/context fold','- «g0» the roses want water; I prefer tea. 花园要浇水
- «g1» the roses want water; I prefer tea. 花园要浇水','- «g0» the roses want water; I prefer tea. 花园要浇水
- «g1» the roses want water; I prefer tea. 花园要浇水',41,'a54e506c72f3208b2e20d5c017aa61799c6bc6d9a05a5324a6c524c601bd503b','memory/2026-11-22.md',190,155,0,1.79535656993160367008e+09,1);
INSERT INTO "fold" VALUES('01m81seeacphhafe4hbzss36cj','01m81se6agc7epdya9tyvr51kh','','web',1,'01m81secabpxw2xv6197jgspqj',5,10,3,5,5,'folded','model','turns','/context fold','- «g2» the roses want water; I prefer tea. 花园要浇水
- «g3» the roses want water; I prefer tea. 花园要浇水
- «g4» the roses want water; I prefer tea. 花园要浇水','- «g2» the roses want water; I prefer tea. 花园要浇水
- «g3» the roses want water; I prefer tea. 花园要浇水
- «g4» the roses want water; I prefer tea. 花园要浇水',62,'65e745b29bdb572e0b4f104c0f8300fa0398dc65efbdf86422563bd074f5b680','memory/2026-11-22.md',361,268,0,1.79535657198036193845e+09,1);
INSERT INTO "fold" VALUES('01m81sefavsts6cw5kqxqaxc46','01m81seegjjyrshgmw1wfap2zq','','web',1,'',1,2,1,1,1,'undone','model','turns','/context fold','- «w0» what do you make of it?','- «w0» what do you make of it?',12,'4ff955c803c9f1ca9e249862ac37e0834f49ab45fac2e238e25d92f779029887','memory/2026-11-22.md',90,72,0,1.79535657301961541179e+09,1);
INSERT INTO "fold" VALUES('01m81sefx77c4f75nyak9smn1m','01m81sefs8vt6yh58fs1fq1kta','','web',1,'',1,2,1,1,1,'folded','model','turns','/new','- «n0» what do you make of it?','',0,'c1c8a6a91bb57737a34d9922dcc80b0765e8dd672178a9766143063dcd8f1660','memory/2026-11-22.md',30,0,1,1.79535657360793185237e+09,1);
INSERT INTO "fold" VALUES('01m81sf2hs7ma929kn2613zaam','01m81seegjjyrshgmw1wfap2zq','','web',1,'',1,2,1,1,1,'checked','model','turns','/context fold','- «w0» what do you make of it?','- «w0» what do you make of it?',12,'4ff955c803c9f1ca9e249862ac37e0834f49ab45fac2e238e25d92f779029887','',90,0,0,1.79535659269748067851e+09,2);
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
INSERT INTO "inbox" VALUES('01m81se6ag889q2rv6ykx8d5jx','01m81se6agc7epdya9tyvr51kh','web','console','gardenfcdd767f2cf1460bb9185aed2797bb9d','message','owner','{"text": "«g0» the roses want water; I prefer tea. 花园要浇水"}','','done','',0,'01m81se9439n9aks2p2t91m0sc','01m81se6agssey6j4c2kf5jpd9',1,0,0.0,1.79535656379207658774e+09,1);
INSERT INTO "inbox" VALUES('01m81sec1n6vvm0kafcmtvx1ag','01m81se6agc7epdya9tyvr51kh','web','console','garden40939021200c41aebdf50f71bd189b89','message','owner','{"text": "«g1» the roses want water; I prefer tea. 花园要浇水"}','','done','',0,'01m81sec1xts2b9qjw7khq3zjk','01m81sec1n6d2pbs256rxt8108',3,0,0.0,1.79535656965358448025e+09,1);
INSERT INTO "inbox" VALUES('01m81sec3e5832r7gw656fdrvz','01m81se6agc7epdya9tyvr51kh','web','console','garden2257842d5e3e48ca99e23ff61da979ae','message','owner','{"text": "«g2» the roses want water; I prefer tea. 花园要浇水"}','','done','',0,'01m81sec3yn8q76tzsym52z0ep','01m81sec3e7h8jymz4yfnd8cec',5,0,0.0,1.79535656971097445488e+09,1);
INSERT INTO "inbox" VALUES('01m81sec4m86rmykwpyx9j9ftc','01m81se6agc7epdya9tyvr51kh','web','console','garden8c3c39d98e284d73a704a2150958848c','message','owner','{"text": "«g3» the roses want water; I prefer tea. 花园要浇水"}','','done','',0,'01m81sec4rvfkr9svxsapmwjwr','01m81sec4mmyczy6qs28g173t1',7,0,0.0,1.79535656974841499331e+09,1);
INSERT INTO "inbox" VALUES('01m81sec6s9b40dsw7a5pysr3q','01m81se6agc7epdya9tyvr51kh','web','console','garden233246d1c3ee4fce9fc10265ec6409de','message','owner','{"text": "«g4» the roses want water; I prefer tea. 花园要浇水"}','','done','',0,'01m81sec73ss5d69aq2ac7ad2g','01m81sec6sqxg1r9tsc52j076h',9,0,0.0,1.79535656981798315053e+09,1);
INSERT INTO "inbox" VALUES('01m81sec94p4fcy2enhsk0tm56','01m81se6agc7epdya9tyvr51kh','web','console','gardence93c3ed6f004037b9740daf4dfa7a62','command','owner','{"text": "/context fold"}','','done','',1,'','01m81sec942jmagg5w50jhe5rh',11,0,0.0,1795356569.89288,0);
INSERT INTO "inbox" VALUES('01m81secjt6rvqcs9s6v9bx32z','01m81se6agc7epdya9tyvr51kh','web','console','garden79d7f1bbe8bc4cdd96cc9bb88ca5c46d','message','owner','{"text": "«g5» what do you make of it?"}','','done','',0,'01m81secm1sdtj541dhmg5av0n','01m81secjtes7cx4p0f1vpm8z7',13,0,0.0,1795356570.20255,1);
INSERT INTO "inbox" VALUES('01m81secvj53eeq7fbqzrm1gw9','01m81se6agc7epdya9tyvr51kh','web','console','garden377317ba97824f43967f8bfceb25e9f4','message','owner','{"text": "«g6» what do you make of it?"}','','done','',0,'01m81seczw39fvhwzqbj274d40','01m81secvj9e9czxgj5zpwqm20',15,0,0.0,1.79535657048280692096e+09,1);
INSERT INTO "inbox" VALUES('01m81sedc6z0v9pte59th8vfc2','01m81se6agc7epdya9tyvr51kh','web','console','garden21b5ec57345e4267aeb96f70838db5cf','message','owner','{"text": "«g7» what do you make of it?"}','','done','',0,'01m81sedfp96njcem5zc2kjazj','01m81sedc6sa3fw292q9jzeqry',17,0,0.0,1.79535657101467800138e+09,1);
INSERT INTO "inbox" VALUES('01m81sedskrspjqxmsdvh1275w','01m81se6agc7epdya9tyvr51kh','web','console','gardene31d659d0208487ea7945303313fa07a','message','owner','{"text": "«g8» use write_file {\"path\": \"notes/roses.md\", \"content\": \"water on Mondays\"}"}','','done','',0,'01m81sedvaad93j849ryacnb64','01m81sedskvjhz94w4bqw525vp',19,0,0.0,1.79535657144399666781e+09,1);
INSERT INTO "inbox" VALUES('01m81see8y8n7artfeyj8t023j','01m81se6agc7epdya9tyvr51kh','web','console','garden1cde05a4eb894560914a4cf35fa06d1e','command','owner','{"text": "/context fold"}','','done','',1,'','01m81see8y9crfvwerh3rrxj0d',21,0,0.0,1.79535657193437266348e+09,0);
INSERT INTO "inbox" VALUES('01m81seegjg5b795ttd8fxbxqz','01m81seegjjyrshgmw1wfap2zq','web','console','workc8d02948504e48dda126e901cd872234','message','owner','{"text": "«w0» what do you make of it?"}','','done','',0,'01m81seehfqme9dr253apgbe47','01m81seegjvb66bkmr2e1g94s8',1,0,0.0,1795356572.17898,1);
INSERT INTO "inbox" VALUES('01m81seeqmqzjkw4xjxavgm274','01m81seegjjyrshgmw1wfap2zq','web','console','workf2ddbe1f4b4347bca5aff1e5f9314a7d','message','owner','{"text": "«w1» what do you make of it?"}','','done','',0,'01m81seerzjqkjzkt7b6gfm98q','01m81seeqmy1n2p1qyv49ajwqe',3,0,0.0,1.79535657240424323085e+09,1);
INSERT INTO "inbox" VALUES('01m81seeyfc7pp3014v2y0ma6y','01m81seegjjyrshgmw1wfap2zq','web','console','workb505fe3c9d6f41bfb1c09062638de738','message','owner','{"text": "«w2» what do you make of it?"}','','done','',0,'01m81sef0sjj9bjp9f3pn1axkq','01m81seeyfyeek7q5q3h5j5csq',5,0,0.0,1.79535657262392139431e+09,1);
INSERT INTO "inbox" VALUES('01m81sef9tcve7294ffy8ty6my','01m81seegjjyrshgmw1wfap2zq','web','console','work2c81b708989741c28d382dad86df6f0c','command','owner','{"text": "/context fold"}','','done','',1,'','01m81sef9tw4gyyfw00t7hv1md',7,0,0.0,1.79535657298668432238e+09,0);
INSERT INTO "inbox" VALUES('01m81sefexb8fp1y6t5wqd140h','01m81seegjjyrshgmw1wfap2zq','web','console','work4ac596667ffa43f1acbd9bc1dbe688fc','command','owner','{"text": "/context undo"}','','done','',1,'','01m81sefexjje6vev3nt4vs75e',9,0,0.0,1.79535657314948272705e+09,0);
INSERT INTO "inbox" VALUES('01m81sefjq965rytfb7tcdkh10','01m81sefjq863ph2hfkcqky6as','web','console','old513b6c7027b14a2aafbff99c4ab99ace','message','owner','{"text": "«o0» what do you make of it?"}','','done','',0,'01m81sefk33fr0r4v4yz6zbmfr','01m81sefjqt2kd5xdkk09vb9wd',1,0,0.0,1.79535657327112364769e+09,1);
INSERT INTO "inbox" VALUES('01m81sefm2dgqt3djgfr37b08w','01m81sefjq863ph2hfkcqky6as','web','console','old53e9bff0d624487a8aeb6166c185fcd0','message','owner','{"text": "«o1» what do you make of it?"}','','done','',0,'01m81sefmp6dgkyapm18zx5b77','01m81sefm2axctxszx5f8805pt',3,0,0.0,1795356573.31488,1);
INSERT INTO "inbox" VALUES('01m81sefq0xwjwp1mtk47erjp9','01m81sefjq863ph2hfkcqky6as','web','console','old9bb8af46c9544fbe8da76f09f69458e1','command','owner','{"text": "/context clear"}','','done','',1,'','01m81sefq0179jhy0k6vddcdnw',5,0,0.0,1795356573.40841,0);
INSERT INTO "inbox" VALUES('01m81sefr4sfppednz1fj4hxkr','01m81sefjq863ph2hfkcqky6as','web','console','old010b5d35de1c40579d3b191c1b69b5b6','message','owner','{"text": "«o2» what do you make of it?"}','','done','',0,'01m81sefr9e6drg2018wfax93c','01m81sefr4zzp8w0aaf0cp41sa',7,0,0.0,1.79535657344497060774e+09,1);
INSERT INTO "inbox" VALUES('01m81sefs886b68ptgjawdbmpn','01m81sefs8vt6yh58fs1fq1kta','web','console','new16b0cc70cf584d2c895abd8bcb2bc887','message','owner','{"text": "«n0» what do you make of it?"}','','done','',0,'01m81sefsz7nzt77wck58hh7fd','01m81sefs8tfb4zxrwhy8rcj9h',1,0,0.0,1.79535657348012900359e+09,1);
INSERT INTO "inbox" VALUES('01m81sefw4qxkh0qbwgkj6wpjy','01m81sefs8vt6yh58fs1fq1kta','web','console','new7c839652b35049c4a5816accff998140','command','owner','{"text": "/new"}','','done','',1,'','01m81sefw479735jscz4gfemqe',3,0,0.0,1.79535657357216334346e+09,0);
INSERT INTO "inbox" VALUES('01m81sefy2kz67xncyeg113rdc','01m81sefs8vt6yh58fs1fq1kta','web','console','new2e813cbd37b94a38bb412c76389ef47a','message','owner','{"text": "«n1» what do you make of it?"}','','done','',0,'01m81sefysy9b7hn320gww44jz','01m81sefy2ga7wtxbas4aw3xa2',5,0,0.0,1.79535657363475751875e+09,1);
INSERT INTO "inbox" VALUES('01m81seg0rzmxwvyfxan8tfxv1','01m81seg0r9hck3g7bc284s79z','telegram','100','m:5005:1:0','message','5005','{"text": "«t0» what do you make of it?", "name": "Ада"}','00000000000000700100','done','',0,'01m81seg13vgneqzd0xc9z7e3e','01m81seg0r7p3e9shrnykpgyj4',1,0,0.0,1.79535657372060751917e+09,1);
INSERT INTO "inbox" VALUES('01m81segj19kxxa652j017de70','01m81seg0r9hck3g7bc284s79z','telegram','100','m:5005:3:0','message','5005','{"text": "«t1» what do you make of it?", "name": "Ада"}','00000000000000700101','done','',0,'01m81segkpzxs29zjjg677v1j1','01m81segj1d5yj8jysr4eaq608',3,0,0.0,1.79535657427344107631e+09,1);
INSERT INTO "inbox" VALUES('01m81segznysn18srvjs3wdcmb','01m81segznzga9psh1sm3025ry','web','console','picturep1','message','owner','{"text": "«p1» what do you make of it?", "shown": "«p1» what do you make of it?\n📎 dot.png", "files": [["7899d6ced52159786ff083934df42788da01a30b7ed9bb7756d7f3f5a94ef685", "dot.png", "image/png", 68]]}','','done','',0,'01m81sehsrdg4z27bagzsdczh3','01m81segzn05ekxtxxsrpk1vgr',1,0,0.0,1.79535657470920419695e+09,1);
INSERT INTO "inbox" VALUES('01m81set3frwaykzwea574tbx5','01m81set3fah6q6bgg153ygvyq','web','console','late5b67910cee0d4fa0bab01f54779020b4','message','owner','{"text": "«l0» what do you make of it?"}','','done','',0,'01m81sezf2ht994tavdv35hkn4','01m81set3ft6t3wqytawn8z1km',1,0,0.0,1.795356584047041893e+09,2);
INSERT INTO "inbox" VALUES('01m81sf2dfb3mzkacffpn2m6qp','01m81set3fah6q6bgg153ygvyq','web','console','latea5cf8cea458b4b3eae01801ac02ee241','message','owner','{"text": "«l1» what do you make of it?"}','','done','',0,'01m81sf2edrd30a1kwanjbas3n','01m81sf2df7x2ymg97e6yakf8d',3,0,0.0,1.79535659255941057203e+09,2);
INSERT INTO "inbox" VALUES('01m81sf2hk5br0gbvhkc5jzc1s','01m81seegjjyrshgmw1wfap2zq','web','console','work/context fold','command','owner','{"text": "/context fold"}','','new','',1,'','01m81sf2hkk6awed9jjbr8bebd',11,0,0.0,1.79535659269169640536e+09,0);
INSERT INTO "inbox" VALUES('01m81sf3jj11ekkxsxnfgaewkj','01m81sf3jj3ww1y1efb4nmyhdm','web','console','tool«x1» use write_file {"path": "notes/x.md", "content": "x"}','message','owner','{"text": "«x1» use write_file {\"path\": \"notes/x.md\", \"content\": \"x\"}"}','','running','',0,'01m81sf3knc426q59a947t2c3p','01m81sf3jj1fvbaz9j88bx2kaw',1,0,0.0,1.79535659374679303166e+09,2);
INSERT INTO "inbox" VALUES('01m81sf4jwmywgk10tye6k1kvw','01m81sf3jj3ww1y1efb4nmyhdm','web','console','tool«x2» and after that?','message','owner','{"text": "«x2» and after that?"}','','new','',0,'','01m81sf4jwr03nswfga0ekzmcy',2,0,0.0,1.7953565947807826995e+09,0);
INSERT INTO "inbox" VALUES('01m81sf4m6sxzcqje1zc69er48','01m81set3fah6q6bgg153ygvyq','web','console','late«l2» what do you make of it?','message','owner','{"text": "«l2» what do you make of it?"}','','done','',0,'01m81sf4n56943g1w9maa4cqzh','01m81sf4m64n2kychywepq3t4a',5,0,0.0,1.79535659482255816454e+09,2);
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
INSERT INTO "message" VALUES('01m81se6ag889q2rv6ykx8d5jx','01m81se6agc7epdya9tyvr51kh',1,1,1,'01m81se9439n9aks2p2t91m0sc','user','[{"kind":"Text","text":"«g0» the roses want water; I prefer tea. 花园要浇水"}]','person','',1,26,'tiktoken',1.79535656665929079052e+09);
INSERT INTO "message" VALUES('01m81sec13gw1cfrgp1xkhy4hx','01m81se6agc7epdya9tyvr51kh',1,2,1,'01m81se9439n9aks2p2t91m0sc','assistant','[{"kind":"Text","text":"re «g0»"}]','model','',1,12,'tiktoken',1.79535656963590860369e+09);
INSERT INTO "message" VALUES('01m81sec1n6vvm0kafcmtvx1ag','01m81se6agc7epdya9tyvr51kh',1,3,2,'01m81sec1xts2b9qjw7khq3zjk','user','[{"kind":"Text","text":"«g1» the roses want water; I prefer tea. 花园要浇水"}]','person','',1,26,'tiktoken',1.79535656966117930415e+09);
INSERT INTO "message" VALUES('01m81sec2d6172w0nmzf7sqe4x','01m81se6agc7epdya9tyvr51kh',1,4,2,'01m81sec1xts2b9qjw7khq3zjk','assistant','[{"kind":"Text","text":"re «g1»"}]','model','',1,12,'tiktoken',1.79535656967725110056e+09);
INSERT INTO "message" VALUES('01m81sec3e5832r7gw656fdrvz','01m81se6agc7epdya9tyvr51kh',1,5,3,'01m81sec3yn8q76tzsym52z0ep','user','[{"kind":"Text","text":"«g2» the roses want water; I prefer tea. 花园要浇水"}]','person','',1,26,'tiktoken',1.7953565697269384861e+09);
INSERT INTO "message" VALUES('01m81sec49b5h9cdy3q6cp8jxq','01m81se6agc7epdya9tyvr51kh',1,6,3,'01m81sec3yn8q76tzsym52z0ep','assistant','[{"kind":"Text","text":"re «g2»"}]','model','',1,12,'tiktoken',1.79535656973767232891e+09);
INSERT INTO "message" VALUES('01m81sec4m86rmykwpyx9j9ftc','01m81se6agc7epdya9tyvr51kh',1,7,4,'01m81sec4rvfkr9svxsapmwjwr','user','[{"kind":"Text","text":"«g3» the roses want water; I prefer tea. 花园要浇水"}]','person','',1,26,'tiktoken',1.79535656975264954569e+09);
INSERT INTO "message" VALUES('01m81sec5egp3kesfa15g65pbr','01m81se6agc7epdya9tyvr51kh',1,8,4,'01m81sec4rvfkr9svxsapmwjwr','assistant','[{"kind":"Text","text":"re «g3»"}]','model','',1,12,'tiktoken',1.79535656977469968795e+09);
INSERT INTO "message" VALUES('01m81sec6s9b40dsw7a5pysr3q','01m81se6agc7epdya9tyvr51kh',1,9,5,'01m81sec73ss5d69aq2ac7ad2g','user','[{"kind":"Text","text":"«g4» the roses want water; I prefer tea. 花园要浇水"}]','person','',1,26,'tiktoken',1.79535656982739233967e+09);
INSERT INTO "message" VALUES('01m81sec7v87mcncm21vkfvz01','01m81se6agc7epdya9tyvr51kh',1,10,5,'01m81sec73ss5d69aq2ac7ad2g','assistant','[{"kind":"Text","text":"re «g4»"}]','model','',1,12,'tiktoken',1.79535656985135650635e+09);
INSERT INTO "message" VALUES('01m81secjt6rvqcs9s6v9bx32z','01m81se6agc7epdya9tyvr51kh',1,11,6,'01m81secm1sdtj541dhmg5av0n','user','[{"kind":"Text","text":"«g5» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535657024178576472e+09);
INSERT INTO "message" VALUES('01m81secqghnm473cjmcr7qgpe','01m81se6agc7epdya9tyvr51kh',1,12,6,'01m81secm1sdtj541dhmg5av0n','assistant','[{"kind":"Text","text":"re «g5»"}]','model','',1,12,'tiktoken',1.79535657035222864143e+09);
INSERT INTO "message" VALUES('01m81secvj53eeq7fbqzrm1gw9','01m81se6agc7epdya9tyvr51kh',1,13,7,'01m81seczw39fvhwzqbj274d40','user','[{"kind":"Text","text":"«g6» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535657062030887601e+09);
INSERT INTO "message" VALUES('01m81sed6z138pyc94pq7x8cc0','01m81se6agc7epdya9tyvr51kh',1,14,7,'01m81seczw39fvhwzqbj274d40','assistant','[{"kind":"Text","text":"re «g6»"}]','model','',1,12,'tiktoken',1.79535657084771132466e+09);
INSERT INTO "message" VALUES('01m81sedc6z0v9pte59th8vfc2','01m81se6agc7epdya9tyvr51kh',1,15,8,'01m81sedfp96njcem5zc2kjazj','user','[{"kind":"Text","text":"«g7» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535657112665200229e+09);
INSERT INTO "message" VALUES('01m81sedhsa5388mk8m586fz93','01m81se6agc7epdya9tyvr51kh',1,16,8,'01m81sedfp96njcem5zc2kjazj','assistant','[{"kind":"Text","text":"re «g7»"}]','model','',1,12,'tiktoken',1.79535657119368815418e+09);
INSERT INTO "message" VALUES('01m81sedskrspjqxmsdvh1275w','01m81se6agc7epdya9tyvr51kh',1,17,9,'01m81sedvaad93j849ryacnb64','user','[{"kind":"Text","text":"«g8» use write_file {\"path\": \"notes/roses.md\", \"content\": \"water on Mondays\"}"}]','person','',1,32,'tiktoken',1795356571.4985);
INSERT INTO "message" VALUES('01m81sedxkw24x5dywhsra5nky','01m81se6agc7epdya9tyvr51kh',1,18,9,'01m81sedvaad93j849ryacnb64','assistant','[{"kind":"Text","text":"I look."},{"kind":"ToolCall","id":"call_g8","name":"write_file","input":"{\"path\": \"notes/roses.md\", \"content\": \"water on Mondays\"}"}]','model','',1,40,'tiktoken',1.79535657157119631771e+09);
INSERT INTO "message" VALUES('01m81see1z93220axhftk5523z','01m81se6agc7epdya9tyvr51kh',1,19,9,'01m81sedvaad93j849ryacnb64','user','[{"kind":"ToolResult","call_id":"call_g8","text":"notes/roses.md now holds 16 bytes, version 29eb6a143968.","is_error":false}]','tool','',0,32,'tiktoken',1.79535657171168804165e+09);
INSERT INTO "message" VALUES('01m81see6bc9wp9d15dmra6wjx','01m81se6agc7epdya9tyvr51kh',1,20,9,'01m81sedvaad93j849ryacnb64','assistant','[{"kind":"Text","text":"re «g8»"}]','model','',1,12,'tiktoken',1.79535657185135388369e+09);
INSERT INTO "message" VALUES('01m81seegjg5b795ttd8fxbxqz','01m81seegjjyrshgmw1wfap2zq',1,1,1,'01m81seehfqme9dr253apgbe47','user','[{"kind":"Text","text":"«w0» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535657220710372929e+09);
INSERT INTO "message" VALUES('01m81seekqsqn0jzywyah2h1g3','01m81seegjjyrshgmw1wfap2zq',1,2,1,'01m81seehfqme9dr253apgbe47','assistant','[{"kind":"Text","text":"re «w0»"}]','model','',1,12,'tiktoken',1.79535657227962327001e+09);
INSERT INTO "message" VALUES('01m81seeqmqzjkw4xjxavgm274','01m81seegjjyrshgmw1wfap2zq',1,3,2,'01m81seerzjqkjzkt7b6gfm98q','user','[{"kind":"Text","text":"«w1» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535657244707298274e+09);
INSERT INTO "message" VALUES('01m81seevv3nndwbyryb6g0vb6','01m81seegjjyrshgmw1wfap2zq',1,4,2,'01m81seerzjqkjzkt7b6gfm98q','assistant','[{"kind":"Text","text":"re «w1»"}]','model','',1,12,'tiktoken',1.79535657253930377962e+09);
INSERT INTO "message" VALUES('01m81seeyfc7pp3014v2y0ma6y','01m81seegjjyrshgmw1wfap2zq',1,5,3,'01m81sef0sjj9bjp9f3pn1axkq','user','[{"kind":"Text","text":"«w2» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535657269795680046e+09);
INSERT INTO "message" VALUES('01m81sef4a2a4tmq3t7dtvbj9v','01m81seegjjyrshgmw1wfap2zq',1,6,3,'01m81sef0sjj9bjp9f3pn1axkq','assistant','[{"kind":"Text","text":"re «w2»"}]','model','',1,12,'tiktoken',1.7953565728100419045e+09);
INSERT INTO "message" VALUES('01m81sefjq965rytfb7tcdkh10','01m81sefjq863ph2hfkcqky6as',1,1,1,'01m81sefk33fr0r4v4yz6zbmfr','user','[{"kind":"Text","text":"«o0» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535657328304147717e+09);
INSERT INTO "message" VALUES('01m81sefkjrf02ezpgg41wy4v6','01m81sefjq863ph2hfkcqky6as',1,2,1,'01m81sefk33fr0r4v4yz6zbmfr','assistant','[{"kind":"Text","text":"re «o0»"}]','model','',1,12,'tiktoken',1.79535657329807281498e+09);
INSERT INTO "message" VALUES('01m81sefm2dgqt3djgfr37b08w','01m81sefjq863ph2hfkcqky6as',1,3,2,'01m81sefmp6dgkyapm18zx5b77','user','[{"kind":"Text","text":"«o1» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535657333494615551e+09);
INSERT INTO "message" VALUES('01m81sefmzpz8a9sexk8bcjscf','01m81sefjq863ph2hfkcqky6as',1,4,2,'01m81sefmp6dgkyapm18zx5b77','assistant','[{"kind":"Text","text":"re «o1»"}]','model','',1,12,'tiktoken',1.79535657334378600125e+09);
INSERT INTO "message" VALUES('01m81sefr4sfppednz1fj4hxkr','01m81sefjq863ph2hfkcqky6as',2,5,3,'01m81sefr9e6drg2018wfax93c','user','[{"kind":"Text","text":"«o2» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535657344964218141e+09);
INSERT INTO "message" VALUES('01m81sefrktmtfv9dkk71qxbtc','01m81sefjq863ph2hfkcqky6as',2,6,3,'01m81sefr9e6drg2018wfax93c','assistant','[{"kind":"Text","text":"re «o2»"}]','model','',1,12,'tiktoken',1.79535657345971655842e+09);
INSERT INTO "message" VALUES('01m81sefs886b68ptgjawdbmpn','01m81sefs8vt6yh58fs1fq1kta',1,1,1,'01m81sefsz7nzt77wck58hh7fd','user','[{"kind":"Text","text":"«n0» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535657350378036502e+09);
INSERT INTO "message" VALUES('01m81sefv4dm9pc7eykzqbp0fq','01m81sefs8vt6yh58fs1fq1kta',1,2,1,'01m81sefsz7nzt77wck58hh7fd','assistant','[{"kind":"Text","text":"re «n0»"}]','model','',1,12,'tiktoken',1.79535657354039478303e+09);
INSERT INTO "message" VALUES('01m81sefy2kz67xncyeg113rdc','01m81sefs8vt6yh58fs1fq1kta',2,3,2,'01m81sefysy9b7hn320gww44jz','user','[{"kind":"Text","text":"«n1» what do you make of it?"}]','person','',1,18,'tiktoken',1795356573.65766);
INSERT INTO "message" VALUES('01m81sefzk87sfmk4kgp5cq0qp','01m81sefs8vt6yh58fs1fq1kta',2,4,2,'01m81sefysy9b7hn320gww44jz','assistant','[{"kind":"Text","text":"re «n1»"}]','model','',1,12,'tiktoken',1.79535657368315720557e+09);
INSERT INTO "message" VALUES('01m81seg0rzmxwvyfxan8tfxv1','01m81seg0r9hck3g7bc284s79z',1,1,1,'01m81seg13vgneqzd0xc9z7e3e','user','[{"kind":"Text","text":"«t0» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535657373150229457e+09);
INSERT INTO "message" VALUES('01m81segcpxam9mr9tp7rtv9jy','01m81seg0r9hck3g7bc284s79z',1,2,1,'01m81seg13vgneqzd0xc9z7e3e','assistant','[{"kind":"Text","text":"re «t0»"}]','model','',1,12,'tiktoken',1.79535657410269212722e+09);
INSERT INTO "message" VALUES('01m81segj19kxxa652j017de70','01m81seg0r9hck3g7bc284s79z',1,3,2,'01m81segkpzxs29zjjg677v1j1','user','[{"kind":"Text","text":"«t1» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535657432608246808e+09);
INSERT INTO "message" VALUES('01m81segpg4d5jaq4ydpj7rymy','01m81seg0r9hck3g7bc284s79z',1,4,2,'01m81segkpzxs29zjjg677v1j1','assistant','[{"kind":"Text","text":"re «t1»"}]','model','',1,12,'tiktoken',1795356574.41692);
INSERT INTO "message" VALUES('01m81segznysn18srvjs3wdcmb','01m81segznzga9psh1sm3025ry',1,1,1,'01m81sehsrdg4z27bagzsdczh3','user','[{"kind":"Image","sha256":"7899d6ced52159786ff083934df42788da01a30b7ed9bb7756d7f3f5a94ef685","media_type":"image/png","width":2,"height":2},{"kind":"Text","text":"«p1» what do you make of it?"}]','person','',1,19,'tiktoken',1.79535657554401373867e+09);
INSERT INTO "message" VALUES('01m81sehwtxeptakm8ve3nzk98','01m81segznzga9psh1sm3025ry',1,2,1,'01m81sehsrdg4z27bagzsdczh3','assistant','[{"kind":"Text","text":"re «p1»"}]','model','',1,12,'tiktoken',1.79535657564272451399e+09);
INSERT INTO "message" VALUES('01m81set3frwaykzwea574tbx5','01m81set3fah6q6bgg153ygvyq',1,1,1,'01m81sezf2ht994tavdv35hkn4','user','[{"kind":"Text","text":"«l0» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535658953867864606e+09);
INSERT INTO "message" VALUES('01m81sf2a7p074325eg0we041h','01m81set3fah6q6bgg153ygvyq',1,2,1,'01m81sezf2ht994tavdv35hkn4','assistant','[{"kind":"Text","text":"re «l0»"}]','model','',1,12,'tiktoken',1.79535659245523023606e+09);
INSERT INTO "message" VALUES('01m81sf2dfb3mzkacffpn2m6qp','01m81set3fah6q6bgg153ygvyq',1,3,2,'01m81sf2edrd30a1kwanjbas3n','user','[{"kind":"Text","text":"«l1» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535659258945584299e+09);
INSERT INTO "message" VALUES('01m81sf2fdjyxnxyy0ay4rvpww','01m81set3fah6q6bgg153ygvyq',1,4,2,'01m81sf2edrd30a1kwanjbas3n','assistant','[{"kind":"Text","text":"re «l1»"}]','model','',1,12,'tiktoken',1.79535659262121915819e+09);
INSERT INTO "message" VALUES('01m81sf3jj11ekkxsxnfgaewkj','01m81sf3jj3ww1y1efb4nmyhdm',1,1,1,'01m81sf3knc426q59a947t2c3p','user','[{"kind":"Text","text":"«x1» use write_file {\"path\": \"notes/x.md\", \"content\": \"x\"}"}]','person','',1,28,'tiktoken',1.79535659378147387501e+09);
INSERT INTO "message" VALUES('01m81sf3qqem8fy0671a44rcav','01m81sf3jj3ww1y1efb4nmyhdm',1,2,1,'01m81sf3knc426q59a947t2c3p','assistant','[{"kind":"Text","text":"I look."},{"kind":"ToolCall","id":"call_x1","name":"write_file","input":"{\"path\": \"notes/x.md\", \"content\": \"x\"}"}]','model','',1,36,'tiktoken',1.79535659391133332256e+09);
INSERT INTO "message" VALUES('01m81sf4m6sxzcqje1zc69er48','01m81set3fah6q6bgg153ygvyq',1,5,3,'01m81sf4n56943g1w9maa4cqzh','user','[{"kind":"Text","text":"«l2» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535659485344552994e+09);
INSERT INTO "message" VALUES('01m81sf4pphvjjzfwhztznm6h5','01m81set3fah6q6bgg153ygvyq',1,6,3,'01m81sf4n56943g1w9maa4cqzh','assistant','[{"kind":"Text","text":"re «l2»"}]','model','',1,12,'tiktoken',1.79535659490254163742e+09);
CREATE TABLE model_factor (
	model TEXT NOT NULL, 
	factor DOUBLE NOT NULL, 
	samples INTEGER NOT NULL, 
	error_percent DOUBLE NOT NULL, 
	PRIMARY KEY (model)
);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra',1.055,15,1.2);
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
INSERT INTO "outbox" VALUES('01m81sec135vcyfhf0et6qynjm','01m81se6agc7epdya9tyvr51kh','01m81se6ag889q2rv6ykx8d5jx:answer',0,1,1,'final','a03e01999098475f93d275aebd05800f','re «g0»','sent',1,0,0,315360000.0,2.11071656964530825618e+09,0.0,'01m81se6ag889q2rv6ykx8d5jx','01m81sec135vcyfhf0et6qynjm','',2,1.79535656963590860369e+09,1);
INSERT INTO "outbox" VALUES('01m81sec2dy66x6s71xyfpctve','01m81se6agc7epdya9tyvr51kh','01m81sec1n6vvm0kafcmtvx1ag:answer',0,1,1,'final','58e71aef42bba2377edd1b59416db5ea','re «g1»','sent',1,0,0,315360000.0,2.11071656967919397355e+09,0.0,'01m81sec1n6vvm0kafcmtvx1ag','01m81sec2dy66x6s71xyfpctve','',4,1.79535656967725110056e+09,1);
INSERT INTO "outbox" VALUES('01m81sec49ad0pxq0r8t84jxq3','01m81se6agc7epdya9tyvr51kh','01m81sec3e5832r7gw656fdrvz:answer',0,1,1,'final','199d73fe37ab685e7aeb5c25c34f8ea9','re «g2»','sent',1,0,0,315360000.0,2.11071656973980808255e+09,0.0,'01m81sec3e5832r7gw656fdrvz','01m81sec49ad0pxq0r8t84jxq3','',6,1.79535656973767232891e+09,1);
INSERT INTO "outbox" VALUES('01m81sec5et00haqkv1wgmrb66','01m81se6agc7epdya9tyvr51kh','01m81sec4m86rmykwpyx9j9ftc:answer',0,1,1,'final','88645c0c54e9a51f688aaad46c001c85','re «g3»','sent',1,0,0,315360000.0,2.11071656979036021231e+09,0.0,'01m81sec4m86rmykwpyx9j9ftc','01m81sec5et00haqkv1wgmrb66','',8,1.79535656977469968795e+09,1);
INSERT INTO "outbox" VALUES('01m81sec7v481e81015qy8tyaa','01m81se6agc7epdya9tyvr51kh','01m81sec6s9b40dsw7a5pysr3q:answer',0,1,1,'final','3c5f87dc26526541e8acb28662020cd4','re «g4»','sent',1,0,0,315360000.0,2.11071656987362456323e+09,0.0,'01m81sec6s9b40dsw7a5pysr3q','01m81sec7v481e81015qy8tyaa','',10,1.79535656985135650635e+09,1);
INSERT INTO "outbox" VALUES('01m81secg57sbqz1rys1ytx4ke','01m81se6agc7epdya9tyvr51kh','01m81sec94p4fcy2enhsk0tm56:answer',0,1,1,'notice','7aea018618c18bbd39b7a36dda08f218','Folded turns 1–2 into memory/2026-11-22.md: 190 → 155 tokens (82%).','sent',1,0,0,315360000.0,2.11071657018413209915e+09,0.0,'01m81sec94p4fcy2enhsk0tm56','01m81secg57sbqz1rys1ytx4ke','',12,1.79535657011734485627e+09,1);
INSERT INTO "outbox" VALUES('01m81secqge2aekkd3nc3ejaxe','01m81se6agc7epdya9tyvr51kh','01m81secjt6rvqcs9s6v9bx32z:answer',0,1,1,'final','e63dd5a5cce20b7389fef908ca13b3c4','re «g5»','sent',1,0,0,315360000.0,2.11071657040297150603e+09,0.0,'01m81secjt6rvqcs9s6v9bx32z','01m81secqge2aekkd3nc3ejaxe','',14,1.79535657035222864143e+09,1);
INSERT INTO "outbox" VALUES('01m81sed6zd3hb9h49jmyfqgbq','01m81se6agc7epdya9tyvr51kh','01m81secvj53eeq7fbqzrm1gw9:answer',0,1,1,'final','7fd95c6f92099d4c56a417f611c8486e','re «g6»','sent',1,0,0,315360000.0,2.11071657087062168113e+09,0.0,'01m81secvj53eeq7fbqzrm1gw9','01m81sed6zd3hb9h49jmyfqgbq','',16,1.79535657084771132466e+09,1);
INSERT INTO "outbox" VALUES('01m81sedhs67kf3h22g3ndt5ak','01m81se6agc7epdya9tyvr51kh','01m81sedc6z0v9pte59th8vfc2:answer',0,1,1,'final','c30bca94267aab7479e557787d65f713','re «g7»','sent',1,0,0,315360000.0,2.11071657121616148948e+09,0.0,'01m81sedc6z0v9pte59th8vfc2','01m81sedhs67kf3h22g3ndt5ak','',18,1.79535657119368815418e+09,1);
INSERT INTO "outbox" VALUES('01m81see6bbxkpsc38tdwa1t7g','01m81se6agc7epdya9tyvr51kh','01m81sedskrspjqxmsdvh1275w:answer',0,1,1,'final','d7f4500346f9a1dd9310fa291184a3b4','re «g8»','sent',1,0,0,315360000.0,2.11071657188427567477e+09,0.0,'01m81sedskrspjqxmsdvh1275w','01m81see6bbxkpsc38tdwa1t7g','',20,1.79535657185135388369e+09,1);
INSERT INTO "outbox" VALUES('01m81seef64vtpv4rtg1p7q2v5','01m81se6agc7epdya9tyvr51kh','01m81see8y8n7artfeyj8t023j:answer',0,1,1,'notice','a18feb7b1e13261af3d4094e29344494','Folded turns 3–5 into memory/2026-11-22.md: 361 → 268 tokens (74%).','sent',1,0,0,315360000.0,2.11071657218144321447e+09,0.0,'01m81see8y8n7artfeyj8t023j','01m81seef64vtpv4rtg1p7q2v5','',22,1795356572.13453,1);
INSERT INTO "outbox" VALUES('01m81seekqyn957h1n57nkwtjr','01m81seegjjyrshgmw1wfap2zq','01m81seegjg5b795ttd8fxbxqz:answer',0,1,1,'final','ab65783b7f140b2868d6d0aa010e3700','re «w0»','sent',1,0,0,315360000.0,2.11071657231188392631e+09,0.0,'01m81seegjg5b795ttd8fxbxqz','01m81seekqyn957h1n57nkwtjr','',2,1.79535657227962327001e+09,1);
INSERT INTO "outbox" VALUES('01m81seevv8gs8c7qn28f8zx7b','01m81seegjjyrshgmw1wfap2zq','01m81seeqmqzjkw4xjxavgm274:answer',0,1,1,'final','d2f57b566c501660f597a1fc2fb1d22f','re «w1»','sent',1,0,0,315360000.0,2.110716572570299387e+09,0.0,'01m81seeqmqzjkw4xjxavgm274','01m81seevv8gs8c7qn28f8zx7b','',4,1.79535657253930377962e+09,1);
INSERT INTO "outbox" VALUES('01m81sef4a931eqy0twhgtbg6x','01m81seegjjyrshgmw1wfap2zq','01m81seeyfc7pp3014v2y0ma6y:answer',0,1,1,'final','694b3087496fe2e292b7b66d8d366742','re «w2»','sent',1,0,0,315360000.0,2.1107165729256312848e+09,0.0,'01m81seeyfc7pp3014v2y0ma6y','01m81sef4a931eqy0twhgtbg6x','',6,1.7953565728100419045e+09,1);
INSERT INTO "outbox" VALUES('01m81sefedgse9a91542adj5n1','01m81seegjjyrshgmw1wfap2zq','01m81sef9tcve7294ffy8ty6my:answer',0,1,1,'notice','bdc373e30ed6ec575e5b62c1e5fe9b5d','Folded turn 1 into memory/2026-11-22.md: 90 → 72 tokens (80%).','sent',1,0,0,315360000.0,2.1107165731389174461e+09,0.0,'01m81sef9tcve7294ffy8ty6my','01m81sefedgse9a91542adj5n1','',8,1.79535657313392686849e+09,1);
INSERT INTO "outbox" VALUES('01m81sefhfn7yycspfaz7tqvm4','01m81seegjjyrshgmw1wfap2zq','01m81sefexb8fp1y6t5wqd140h:answer',0,1,1,'notice','8b2f080fe5f013c9186e6cd000fca6c4','The fold is undone: turn 1 is back in the context.','sent',1,0,0,315360000.0,2.11071657326657080642e+09,0.0,'01m81sefexb8fp1y6t5wqd140h','01m81sefhfn7yycspfaz7tqvm4','',10,1.79535657323170328141e+09,1);
INSERT INTO "outbox" VALUES('01m81sefkj3m5kdp442ehesxss','01m81sefjq863ph2hfkcqky6as','01m81sefjq965rytfb7tcdkh10:answer',0,1,1,'final','a0c8d658247b26d6c96dc283fcd7e3df','re «o0»','sent',1,0,0,315360000.0,2.11071657330303215989e+09,0.0,'01m81sefjq965rytfb7tcdkh10','01m81sefkj3m5kdp442ehesxss','',2,1.79535657329807281498e+09,1);
INSERT INTO "outbox" VALUES('01m81sefmzh7a4jp4k8a1bb66b','01m81sefjq863ph2hfkcqky6as','01m81sefm2dgqt3djgfr37b08w:answer',0,1,1,'final','12fc544832d8d7c221da9cbf02433e7e','re «o1»','sent',1,0,0,315360000.0,2.11071657337105417261e+09,0.0,'01m81sefm2dgqt3djgfr37b08w','01m81sefmzh7a4jp4k8a1bb66b','',4,1.79535657334378600125e+09,1);
INSERT INTO "outbox" VALUES('01m81sefqmpfb39pbxh9h2zxws','01m81sefjq863ph2hfkcqky6as','01m81sefq0xwjwp1mtk47erjp9:answer',0,1,2,'notice','07d87e500a5aad4ab53a7ac782b869e2','The context is clear: the model sees nothing from before. The record stays; /context undo takes this back.','sent',1,0,0,315360000.0,2.11071657343555521969e+09,0.0,'01m81sefq0xwjwp1mtk47erjp9','01m81sefqmpfb39pbxh9h2zxws','',6,1.79535657342813420294e+09,1);
INSERT INTO "outbox" VALUES('01m81sefrkk2m0fr4g2t4qfyys','01m81sefjq863ph2hfkcqky6as','01m81sefr4sfppednz1fj4hxkr:answer',0,1,2,'final','b28310692d783b8b75849585f2b38903','re «o2»','sent',1,0,0,315360000.0,2.11071657346374702448e+09,0.0,'01m81sefr4sfppednz1fj4hxkr','01m81sefrkk2m0fr4g2t4qfyys','',8,1.79535657345971655842e+09,1);
INSERT INTO "outbox" VALUES('01m81sefv4jaa3f637yg6nv9a6','01m81sefs8vt6yh58fs1fq1kta','01m81sefs886b68ptgjawdbmpn:answer',0,1,1,'final','37c7a6f126c94a243e89f39b6b57fadc','re «n0»','sent',1,0,0,315360000.0,2.11071657355178689957e+09,0.0,'01m81sefs886b68ptgjawdbmpn','01m81sefv4jaa3f637yg6nv9a6','',2,1.79535657354039478303e+09,1);
INSERT INTO "outbox" VALUES('01m81sefxdn5e1vw8rqhzwdwdf','01m81sefs8vt6yh58fs1fq1kta','01m81sefw4qxkh0qbwgkj6wpjy:answer',0,1,2,'notice','ac475340ed7f8c3ecd1cd684a948bea4','A new conversation begins; what came before (1 turn) is being written to today''s log.','sent',1,0,0,315360000.0,2.11071657363102793691e+09,0.0,'01m81sefw4qxkh0qbwgkj6wpjy','01m81sefxdn5e1vw8rqhzwdwdf','',4,1.79535657361335849761e+09,1);
INSERT INTO "outbox" VALUES('01m81sefzk4g28j683tpn9r5s5','01m81sefs8vt6yh58fs1fq1kta','01m81sefy2kz67xncyeg113rdc:answer',0,1,2,'final','4c6943d4aa21bf1ededb66a5ff2149cc','re «n1»','sent',1,0,0,315360000.0,2.11071657369242620468e+09,0.0,'01m81sefy2kz67xncyeg113rdc','01m81sefzk4g28j683tpn9r5s5','',6,1.79535657368315720557e+09,1);
INSERT INTO "outbox" VALUES('01m81segcpwmxgx9eqtxp9whk3','01m81seg0r9hck3g7bc284s79z','01m81seg0rzmxwvyfxan8tfxv1:answer',0,1,1,'final','090c37f996c8991460d5d8534f0eb64b','re «t0»','sent',1,0,0,0.0,0.0,0.0,'01m81seg0rzmxwvyfxan8tfxv1','2','',2,1.79535657410269212722e+09,1);
INSERT INTO "outbox" VALUES('01m81segpgjtdj9n3gy5rceb9x','01m81seg0r9hck3g7bc284s79z','01m81segj19kxxa652j017de70:answer',0,1,1,'final','1766b0a2d37bd17519fec970d70ed8cb','re «t1»','sent',1,0,0,0.0,0.0,0.0,'01m81segj19kxxa652j017de70','4','',4,1795356574.41692,1);
INSERT INTO "outbox" VALUES('01m81sehwtxmw1az5gk0zsgt2b','01m81segznzga9psh1sm3025ry','01m81segznysn18srvjs3wdcmb:answer',0,1,1,'final','0222921485e10fdb577fbc5dc7d34f11','re «p1»','sent',1,0,0,315360000.0,2.11071657564773225781e+09,0.0,'01m81segznysn18srvjs3wdcmb','01m81sehwtxmw1az5gk0zsgt2b','',2,1.79535657564272451399e+09,1);
INSERT INTO "outbox" VALUES('01m81sf2a71v801ydpm3td4j9q','01m81set3fah6q6bgg153ygvyq','01m81set3frwaykzwea574tbx5:answer',0,1,1,'final','32461ad22703675e216627cf46c1de8b','re «l0»','sent',1,0,0,315360000.0,2.11071659248234128948e+09,0.0,'01m81set3frwaykzwea574tbx5','01m81sf2a71v801ydpm3td4j9q','',2,1.79535659245523023606e+09,2);
INSERT INTO "outbox" VALUES('01m81sf2fd574qrqm9mwmd9k01','01m81set3fah6q6bgg153ygvyq','01m81sf2dfb3mzkacffpn2m6qp:answer',0,1,1,'final','33eb44b6e978f1d8b2337850a934276e','re «l1»','sent',1,0,0,315360000.0,2.11071659263860297211e+09,0.0,'01m81sf2dfb3mzkacffpn2m6qp','01m81sf2fd574qrqm9mwmd9k01','',4,1.79535659262121915819e+09,2);
INSERT INTO "outbox" VALUES('01m81sf4pp82j1wtacgzgyzwvv','01m81set3fah6q6bgg153ygvyq','01m81sf4m6sxzcqje1zc69er48:answer',0,1,1,'final','3e7103aee594436a4a38653e3d2e8559','re «l2»','sending',1,0,0,315360000.0,2.11071659492191934575e+09,0.0,'01m81sf4m6sxzcqje1zc69er48','','',6,1.79535659490254163742e+09,2);
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
INSERT INTO "reduction" VALUES('01m81sec13gw1cfrgp1xkhy4hx',0,'snip','01m81se6agc7epdya9tyvr51kh','re … g0',3,'size',1);
CREATE TABLE removal (
	conversation TEXT NOT NULL, 
	PRIMARY KEY (conversation)
);
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
INSERT INTO "tool_call" VALUES('01m81sedxkgk04z7a0j01fycm9','01m81sedvaad93j849ryacnb64',0,'call_g8','write_file','{"path": "notes/roses.md", "content": "water on Mondays"}','idempotent','12d6c13e188c60e05c963d2849ca0b3f','done',1,'01m81see1z93220axhftk5523z');
INSERT INTO "tool_call" VALUES('01m81sf3qq3z9my978zk94nxm0','01m81sf3knc426q59a947t2c3p',0,'call_x1','write_file','{"path": "notes/x.md", "content": "x"}','idempotent','0689d4f072fc87fba950f48f7fb481a6','started',1,'');
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
INSERT INTO "turn" VALUES('01m81se9439n9aks2p2t91m0sc','01m81se6agc7epdya9tyvr51kh',1,1,'01m81se6ag889q2rv6ykx8d5jx','owner','done',0,0,'01m81se6agssey6j4c2kf5jpd9',1,1,1.79535656665929079052e+09,1.79535656963590860369e+09);
INSERT INTO "turn" VALUES('01m81sec1xts2b9qjw7khq3zjk','01m81se6agc7epdya9tyvr51kh',2,1,'01m81sec1n6vvm0kafcmtvx1ag','owner','done',0,0,'01m81sec1n6d2pbs256rxt8108',3,1,1.79535656966117930415e+09,1.79535656967725110056e+09);
INSERT INTO "turn" VALUES('01m81sec3yn8q76tzsym52z0ep','01m81se6agc7epdya9tyvr51kh',3,1,'01m81sec3e5832r7gw656fdrvz','owner','done',0,0,'01m81sec3e7h8jymz4yfnd8cec',5,1,1.7953565697269384861e+09,1.79535656973767232891e+09);
INSERT INTO "turn" VALUES('01m81sec4rvfkr9svxsapmwjwr','01m81se6agc7epdya9tyvr51kh',4,1,'01m81sec4m86rmykwpyx9j9ftc','owner','done',0,0,'01m81sec4mmyczy6qs28g173t1',7,1,1.79535656975264954569e+09,1.79535656977469968795e+09);
INSERT INTO "turn" VALUES('01m81sec73ss5d69aq2ac7ad2g','01m81se6agc7epdya9tyvr51kh',5,1,'01m81sec6s9b40dsw7a5pysr3q','owner','done',0,0,'01m81sec6sqxg1r9tsc52j076h',9,1,1.79535656982739233967e+09,1.79535656985135650635e+09);
INSERT INTO "turn" VALUES('01m81secm1sdtj541dhmg5av0n','01m81se6agc7epdya9tyvr51kh',6,1,'01m81secjt6rvqcs9s6v9bx32z','owner','done',0,0,'01m81secjtes7cx4p0f1vpm8z7',11,1,1.79535657024178576472e+09,1.79535657035222864143e+09);
INSERT INTO "turn" VALUES('01m81seczw39fvhwzqbj274d40','01m81se6agc7epdya9tyvr51kh',7,1,'01m81secvj53eeq7fbqzrm1gw9','owner','done',0,0,'01m81secvj9e9czxgj5zpwqm20',13,1,1.79535657062030887601e+09,1.79535657084771132466e+09);
INSERT INTO "turn" VALUES('01m81sedfp96njcem5zc2kjazj','01m81se6agc7epdya9tyvr51kh',8,1,'01m81sedc6z0v9pte59th8vfc2','owner','done',0,0,'01m81sedc6sa3fw292q9jzeqry',15,1,1.79535657112665200229e+09,1.79535657119368815418e+09);
INSERT INTO "turn" VALUES('01m81sedvaad93j849ryacnb64','01m81se6agc7epdya9tyvr51kh',9,1,'01m81sedskrspjqxmsdvh1275w','owner','done',1,0,'01m81sedskvjhz94w4bqw525vp',17,1,1795356571.4985,1.79535657185135388369e+09);
INSERT INTO "turn" VALUES('01m81seehfqme9dr253apgbe47','01m81seegjjyrshgmw1wfap2zq',1,1,'01m81seegjg5b795ttd8fxbxqz','owner','done',0,0,'01m81seegjvb66bkmr2e1g94s8',1,1,1.79535657220710372929e+09,1.79535657227962327001e+09);
INSERT INTO "turn" VALUES('01m81seerzjqkjzkt7b6gfm98q','01m81seegjjyrshgmw1wfap2zq',2,1,'01m81seeqmqzjkw4xjxavgm274','owner','done',0,0,'01m81seeqmy1n2p1qyv49ajwqe',3,1,1.79535657244707298274e+09,1.79535657253930377962e+09);
INSERT INTO "turn" VALUES('01m81sef0sjj9bjp9f3pn1axkq','01m81seegjjyrshgmw1wfap2zq',3,1,'01m81seeyfc7pp3014v2y0ma6y','owner','done',0,0,'01m81seeyfyeek7q5q3h5j5csq',5,1,1.79535657269795680046e+09,1.7953565728100419045e+09);
INSERT INTO "turn" VALUES('01m81sefk33fr0r4v4yz6zbmfr','01m81sefjq863ph2hfkcqky6as',1,1,'01m81sefjq965rytfb7tcdkh10','owner','done',0,0,'01m81sefjqt2kd5xdkk09vb9wd',1,1,1.79535657328304147717e+09,1.79535657329807281498e+09);
INSERT INTO "turn" VALUES('01m81sefmp6dgkyapm18zx5b77','01m81sefjq863ph2hfkcqky6as',2,1,'01m81sefm2dgqt3djgfr37b08w','owner','done',0,0,'01m81sefm2axctxszx5f8805pt',3,1,1.79535657333494615551e+09,1.79535657334378600125e+09);
INSERT INTO "turn" VALUES('01m81sefr9e6drg2018wfax93c','01m81sefjq863ph2hfkcqky6as',3,2,'01m81sefr4sfppednz1fj4hxkr','owner','done',0,0,'01m81sefr4zzp8w0aaf0cp41sa',5,1,1.79535657344964218141e+09,1.79535657345971655842e+09);
INSERT INTO "turn" VALUES('01m81sefsz7nzt77wck58hh7fd','01m81sefs8vt6yh58fs1fq1kta',1,1,'01m81sefs886b68ptgjawdbmpn','owner','done',0,0,'01m81sefs8tfb4zxrwhy8rcj9h',1,1,1.79535657350378036502e+09,1.79535657354039478303e+09);
INSERT INTO "turn" VALUES('01m81sefysy9b7hn320gww44jz','01m81sefs8vt6yh58fs1fq1kta',2,2,'01m81sefy2kz67xncyeg113rdc','owner','done',0,0,'01m81sefy2ga7wtxbas4aw3xa2',3,1,1795356573.65766,1.79535657368315720557e+09);
INSERT INTO "turn" VALUES('01m81seg13vgneqzd0xc9z7e3e','01m81seg0r9hck3g7bc284s79z',1,1,'01m81seg0rzmxwvyfxan8tfxv1','5005','done',0,0,'01m81seg0r7p3e9shrnykpgyj4',1,1,1.79535657373150229457e+09,1.79535657410269212722e+09);
INSERT INTO "turn" VALUES('01m81segkpzxs29zjjg677v1j1','01m81seg0r9hck3g7bc284s79z',2,1,'01m81segj19kxxa652j017de70','5005','done',0,0,'01m81segj1d5yj8jysr4eaq608',3,1,1.79535657432608246808e+09,1795356574.41692);
INSERT INTO "turn" VALUES('01m81sehsrdg4z27bagzsdczh3','01m81segznzga9psh1sm3025ry',1,1,'01m81segznysn18srvjs3wdcmb','owner','done',0,0,'01m81segzn05ekxtxxsrpk1vgr',1,1,1.79535657554401373867e+09,1.79535657564272451399e+09);
INSERT INTO "turn" VALUES('01m81sezf2ht994tavdv35hkn4','01m81set3fah6q6bgg153ygvyq',1,1,'01m81set3frwaykzwea574tbx5','owner','done',0,0,'01m81set3ft6t3wqytawn8z1km',1,2,1.79535658953867864606e+09,1.79535659245523023606e+09);
INSERT INTO "turn" VALUES('01m81sf2edrd30a1kwanjbas3n','01m81set3fah6q6bgg153ygvyq',2,1,'01m81sf2dfb3mzkacffpn2m6qp','owner','done',0,0,'01m81sf2df7x2ymg97e6yakf8d',3,2,1.79535659258945584299e+09,1.79535659262121915819e+09);
INSERT INTO "turn" VALUES('01m81sf3knc426q59a947t2c3p','01m81sf3jj3ww1y1efb4nmyhdm',1,1,'01m81sf3jj11ekkxsxnfgaewkj','owner','waiting',1,0,'01m81sf3jj1fvbaz9j88bx2kaw',1,2,1.79535659378147387501e+09,0.0);
INSERT INTO "turn" VALUES('01m81sf4n56943g1w9maa4cqzh','01m81set3fah6q6bgg153ygvyq',3,1,'01m81sf4m6sxzcqje1zc69er48','owner','done',0,0,'01m81sf4m64n2kychywepq3t4a',5,2,1.79535659485344552994e+09,1.79535659490254163742e+09);
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
INSERT INTO "usage" VALUES('01m81sec13p254cd2jgs7y4fnm','01m81se6agc7epdya9tyvr51kh','01m81se9439n9aks2p2t91m0sc','gpt-6.1-terra','turn',1343,3,0,0,0,1.79535656963590860369e+09);
INSERT INTO "usage" VALUES('01m81sec2dxxc6pvw0zydnm9fz','01m81se6agc7epdya9tyvr51kh','01m81sec1xts2b9qjw7khq3zjk','gpt-6.1-terra','turn',1378,3,0,0,0,1.79535656967725110056e+09);
INSERT INTO "usage" VALUES('01m81sec49fyq8xtm9pw6x33mx','01m81se6agc7epdya9tyvr51kh','01m81sec3yn8q76tzsym52z0ep','gpt-6.1-terra','turn',1412,3,0,0,0,1.79535656973767232891e+09);
INSERT INTO "usage" VALUES('01m81sec5e5vgvnvx2qjxr8kx4','01m81se6agc7epdya9tyvr51kh','01m81sec4rvfkr9svxsapmwjwr','gpt-6.1-terra','turn',1447,3,0,0,0,1.79535656977469968795e+09);
INSERT INTO "usage" VALUES('01m81sec7vr4tkk5xp73zsw65z','01m81se6agc7epdya9tyvr51kh','01m81sec73ss5d69aq2ac7ad2g','gpt-6.1-terra','turn',1481,3,0,0,0,1.79535656985135650635e+09);
INSERT INTO "usage" VALUES('01m81secbjerk63tem98rser19','01m81se6agc7epdya9tyvr51kh','','gpt-6-luna','fold',398,71,0,0,0,1.79535656997039246561e+09);
INSERT INTO "usage" VALUES('01m81secqg7wfmc83wczyttjqa','01m81se6agc7epdya9tyvr51kh','01m81secm1sdtj541dhmg5av0n','gpt-6.1-terra','turn',1502,3,0,0,0,1.79535657035222864143e+09);
INSERT INTO "usage" VALUES('01m81sed6zrr12cg9ftk3mq6re','01m81se6agc7epdya9tyvr51kh','01m81seczw39fvhwzqbj274d40','gpt-6.1-terra','turn',1530,3,0,0,0,1.79535657084771132466e+09);
INSERT INTO "usage" VALUES('01m81sedhs71dxb6jejrqs4pgn','01m81se6agc7epdya9tyvr51kh','01m81sedfp96njcem5zc2kjazj','gpt-6.1-terra','turn',1557,3,0,0,0,1.79535657119368815418e+09);
INSERT INTO "usage" VALUES('01m81sedxkpamszh6a6xsx3fm2','01m81se6agc7epdya9tyvr51kh','01m81sedvaad93j849ryacnb64','gpt-6.1-terra','turn',1599,19,0,0,0,1.79535657157119631771e+09);
INSERT INTO "usage" VALUES('01m81see6bzwvs3a6s4bz9d7wz','01m81se6agc7epdya9tyvr51kh','01m81sedvaad93j849ryacnb64','gpt-6.1-terra','turn',1682,3,0,0,0,1.79535657185135388369e+09);
INSERT INTO "usage" VALUES('01m81seeb2b02mhm57dwtwnvzx','01m81se6agc7epdya9tyvr51kh','','gpt-6-luna','fold',471,102,0,0,0,1.79535657200258755685e+09);
INSERT INTO "usage" VALUES('01m81seekq990n290k4w5tmj5j','01m81seegjjyrshgmw1wfap2zq','01m81seehfqme9dr253apgbe47','gpt-6.1-terra','turn',1336,3,0,0,0,1.79535657227962327001e+09);
INSERT INTO "usage" VALUES('01m81seevvraskgdv5b4d8a56m','01m81seegjjyrshgmw1wfap2zq','01m81seerzjqkjzkt7b6gfm98q','gpt-6.1-terra','turn',1364,3,0,0,0,1.79535657253930377962e+09);
INSERT INTO "usage" VALUES('01m81sef4ay44gtqefberregh5','01m81seegjjyrshgmw1wfap2zq','01m81sef0sjj9bjp9f3pn1axkq','gpt-6.1-terra','turn',1391,3,0,0,0,1.7953565728100419045e+09);
INSERT INTO "usage" VALUES('01m81sefbav5snyjq9gf4s3awb','01m81seegjjyrshgmw1wfap2zq','','gpt-6-luna','fold',361,25,0,0,0,1.79535657303444457053e+09);
INSERT INTO "usage" VALUES('01m81sefkjrp8awx2492dp3fa5','01m81sefjq863ph2hfkcqky6as','01m81sefk33fr0r4v4yz6zbmfr','gpt-6.1-terra','turn',1336,3,0,0,0,1.79535657329807281498e+09);
INSERT INTO "usage" VALUES('01m81sefmzm7dt5691eqgc8dw1','01m81sefjq863ph2hfkcqky6as','01m81sefmp6dgkyapm18zx5b77','gpt-6.1-terra','turn',1364,3,0,0,0,1.79535657334378600125e+09);
INSERT INTO "usage" VALUES('01m81sefrkrc8qrz1b67cq4etb','01m81sefjq863ph2hfkcqky6as','01m81sefr9e6drg2018wfax93c','gpt-6.1-terra','turn',1336,3,0,0,0,1.79535657345971655842e+09);
INSERT INTO "usage" VALUES('01m81sefv47r30y78bx64qk4h3','01m81sefs8vt6yh58fs1fq1kta','01m81sefsz7nzt77wck58hh7fd','gpt-6.1-terra','turn',1336,3,0,0,0,1.79535657354039478303e+09);
INSERT INTO "usage" VALUES('01m81sefxmqsn9hanzp9h8ja6p','01m81sefs8vt6yh58fs1fq1kta','','gpt-6-luna','fold',361,25,0,0,0,1.7953565736208570003e+09);
INSERT INTO "usage" VALUES('01m81sefzk54p6xewe765q8eky','01m81sefs8vt6yh58fs1fq1kta','01m81sefysy9b7hn320gww44jz','gpt-6.1-terra','turn',1336,3,0,0,0,1.79535657368315720557e+09);
INSERT INTO "usage" VALUES('01m81segcp2gadtsrgdp2a1sdm','01m81seg0r9hck3g7bc284s79z','01m81seg13vgneqzd0xc9z7e3e','gpt-6.1-terra','turn',1336,3,0,0,0,1.79535657410269212722e+09);
INSERT INTO "usage" VALUES('01m81segpgx17jbm9p66ftaf8n','01m81seg0r9hck3g7bc284s79z','01m81segkpzxs29zjjg677v1j1','gpt-6.1-terra','turn',1364,3,0,0,0,1795356574.41692);
INSERT INTO "usage" VALUES('01m81sehwtnxa78wyx3xd2q48n','01m81segznzga9psh1sm3025ry','01m81sehsrdg4z27bagzsdczh3','gpt-6.1-terra','turn',1391,3,0,0,0,1.79535657564272451399e+09);
INSERT INTO "usage" VALUES('01m81sf2a7z559h39hp016qrwr','01m81set3fah6q6bgg153ygvyq','01m81sezf2ht994tavdv35hkn4','gpt-6.1-terra','turn',1336,3,0,0,0,1.79535659245523023606e+09);
INSERT INTO "usage" VALUES('01m81sf2fdwmq22fv1dk00xh16','01m81set3fah6q6bgg153ygvyq','01m81sf2edrd30a1kwanjbas3n','gpt-6.1-terra','turn',1364,3,0,0,0,1.79535659262121915819e+09);
INSERT INTO "usage" VALUES('01m81sf2jenc72nw9g6va1gzw9','01m81seegjjyrshgmw1wfap2zq','','gpt-6-luna','fold',361,25,0,0,0,1.79535659271847248077e+09);
INSERT INTO "usage" VALUES('01m81sf3qq0mq4bg053ceetac3','01m81sf3jj3ww1y1efb4nmyhdm','01m81sf3knc426q59a947t2c3p','gpt-6.1-terra','turn',1346,14,0,0,0,1.79535659391133332256e+09);
INSERT INTO "usage" VALUES('01m81sf4ppzhme3spfw2z9yqxp','01m81set3fah6q6bgg153ygvyq','01m81sf4n56943g1w9maa4cqzh','gpt-6.1-terra','turn',1391,3,0,0,0,1.79535659490254163742e+09);
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
CREATE INDEX turn_first_seq ON turn (conversation, first_seq);
CREATE UNIQUE INDEX turn_open ON turn (conversation) WHERE state = 'running' OR state = 'waiting';
CREATE INDEX usage_at ON usage (at);
CREATE INDEX usage_conversation ON usage (conversation, at);
CREATE INDEX reduction_conversation ON reduction (conversation);
CREATE INDEX tool_call_started ON tool_call (turn_id) WHERE state = 'started';
CREATE TRIGGER message_kept_as_is BEFORE UPDATE ON message BEGIN SELECT RAISE(ABORT, 'messages are never changed'); END;
CREATE TRIGGER message_kept BEFORE DELETE ON message WHEN NOT EXISTS (SELECT 1 FROM removal WHERE conversation = OLD.conversation) BEGIN SELECT RAISE(ABORT, 'messages are never deleted'); END;
COMMIT;
