BEGIN TRANSACTION;
CREATE TABLE access_grant (
	channel TEXT NOT NULL, 
	account TEXT NOT NULL, 
	subject TEXT NOT NULL, 
	subject_id TEXT NOT NULL, 
	group_id TEXT NOT NULL, 
	role TEXT NOT NULL, 
	name TEXT NOT NULL, 
	granted_by TEXT NOT NULL, 
	at DOUBLE NOT NULL, 
	PRIMARY KEY (channel, subject, subject_id, account, group_id)
);
CREATE TABLE access_request (
	id TEXT NOT NULL, 
	channel TEXT NOT NULL, 
	account TEXT NOT NULL, 
	subject TEXT NOT NULL, 
	subject_id TEXT NOT NULL, 
	name TEXT NOT NULL, 
	conversation TEXT NOT NULL, 
	lang TEXT NOT NULL, 
	code_sha256 TEXT NOT NULL, 
	state TEXT NOT NULL, 
	expires DOUBLE NOT NULL, 
	at DOUBLE NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "access_request" VALUES('01m8cadyvqx27t3e4tjhkgr0za','telegram','100','user','999','Ада','01m8cadyvktsa4pnbdk7c9m7h0','en','d6eb918a4b1aeb24f10106a8de898b2a9b7bce2daf043951340b0ec84f43bf55','pending',1.7957135262631320953e+09,1.79570992626336407666e+09);
CREATE TABLE account_link (
	own_space TEXT NOT NULL, 
	space TEXT NOT NULL, 
	channel TEXT NOT NULL, 
	account TEXT NOT NULL, 
	sender_id TEXT NOT NULL, 
	at DOUBLE NOT NULL, 
	PRIMARY KEY (own_space)
);
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('r0012');
CREATE TABLE approval (
	id TEXT NOT NULL, 
	channel TEXT NOT NULL, 
	account TEXT NOT NULL, 
	subject_id TEXT NOT NULL, 
	conversation TEXT NOT NULL, 
	space TEXT NOT NULL, 
	call TEXT NOT NULL, 
	action TEXT NOT NULL, 
	tool TEXT NOT NULL, 
	arguments TEXT NOT NULL, 
	digest TEXT NOT NULL, 
	code_sha256 TEXT NOT NULL, 
	press_sha256 TEXT NOT NULL, 
	state TEXT NOT NULL, 
	expires DOUBLE NOT NULL, 
	at DOUBLE NOT NULL, 
	PRIMARY KEY (id), 
	CONSTRAINT approval_call UNIQUE (call)
);
CREATE TABLE approval_rule (
	id TEXT NOT NULL, 
	space TEXT NOT NULL, 
	number INTEGER NOT NULL, 
	channel TEXT NOT NULL, 
	account TEXT NOT NULL, 
	person TEXT NOT NULL, 
	tool TEXT NOT NULL, 
	command TEXT NOT NULL, 
	cwd TEXT NOT NULL, 
	level TEXT NOT NULL, 
	expires DOUBLE NOT NULL, 
	at DOUBLE NOT NULL, 
	PRIMARY KEY (id), 
	CONSTRAINT approval_rule_number UNIQUE (space, number)
);
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
INSERT INTO "audit" VALUES(1,1.79570992533476209637e+09,'owner','tool write_file','01m8cadwjp3yxgwc1kgy330cds','a65c0cbb3d6f8a3ca8deb88a31296e75bb9021ac7f69eeafed30aead39d1d60d','allowed','started','','28d0992074620fa735706045493921261eb1f2255e0503cf0b21e4b58bc0574c');
INSERT INTO "audit" VALUES(2,1.79570992555612540244e+09,'','memory.remember','','','allowed','+1 -0','28d0992074620fa735706045493921261eb1f2255e0503cf0b21e4b58bc0574c','6ecc8c3853cc8e962c1fd14917ade294385945bf45ef411a2e7d7d37f502a7cb');
INSERT INTO "audit" VALUES(3,1.79570992590556883809e+09,'web/console/owner','clear','01m8cadydazkgnfvgwjpeb0j05','','allowed','epoch 2','6ecc8c3853cc8e962c1fd14917ade294385945bf45ef411a2e7d7d37f502a7cb','129556af8b0dba8ccd21254edc873ccb3a773c14ec795f5fa2726498d8fcff03');
INSERT INTO "audit" VALUES(4,1.79570992606223392481e+09,'web/console/owner','clear','01m8cadykaw4z6m0dhk711q4bw','','allowed','epoch 2','129556af8b0dba8ccd21254edc873ccb3a773c14ec795f5fa2726498d8fcff03','0a507c7f86feaf03ee3fdaae3c27803ed84d20f8809deaf7e60727137a61bf3b');
INSERT INTO "audit" VALUES(5,1.79570992626336407666e+09,'telegram/100/999','user asks','telegram/100/999','','allowed','pending','0a507c7f86feaf03ee3fdaae3c27803ed84d20f8809deaf7e60727137a61bf3b','0fbf2d18f04c2451a1ca993d2fce6b869379e26469423da97aa8698aaf379066');
INSERT INTO "audit" VALUES(6,1.79570992775121617314e+09,'owner','tool write_file','01m8cae0936p7wrs6b1xjs7cpa','f5e908acc3cb7f989e16b43cb7a206020827475d8f8b35885e2a6be8b0521a47','allowed','started','0fbf2d18f04c2451a1ca993d2fce6b869379e26469423da97aa8698aaf379066','a13ce5b7ec620ad3f0028d2803eaebea31aef598800e0f53b6106de56b3d0072');
CREATE TABLE audit_head (
	id INTEGER NOT NULL, 
	seq INTEGER NOT NULL, 
	hash TEXT NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "audit_head" VALUES(1,6,'a13ce5b7ec620ad3f0028d2803eaebea31aef598800e0f53b6106de56b3d0072');
CREATE TABLE background_task (
	id TEXT NOT NULL, 
	space TEXT NOT NULL, 
	number INTEGER NOT NULL, 
	kind TEXT NOT NULL, 
	conversation TEXT NOT NULL, 
	call TEXT NOT NULL, 
	position INTEGER NOT NULL, 
	child TEXT NOT NULL, 
	channel TEXT NOT NULL, 
	account TEXT NOT NULL, 
	person TEXT NOT NULL, 
	goal TEXT NOT NULL, 
	request TEXT NOT NULL, 
	state TEXT NOT NULL, 
	detached BOOLEAN NOT NULL, 
	outcome TEXT NOT NULL, 
	tainted BOOLEAN NOT NULL, 
	epoch INTEGER NOT NULL, 
	at DOUBLE NOT NULL, 
	ended DOUBLE NOT NULL, 
	PRIMARY KEY (id), 
	CONSTRAINT background_task_number UNIQUE (space, number), 
	CONSTRAINT background_task_call UNIQUE (call, position)
);
CREATE TABLE channel_note (
	channel TEXT NOT NULL, 
	name TEXT NOT NULL, 
	value TEXT NOT NULL, 
	PRIMARY KEY (channel, name)
);
CREATE TABLE clearing (
	conversation TEXT NOT NULL, 
	epoch INTEGER NOT NULL, 
	view_from INTEGER NOT NULL, 
	fold_head TEXT NOT NULL, 
	undone BOOLEAN NOT NULL, 
	at DOUBLE NOT NULL, 
	begun_by TEXT DEFAULT '' NOT NULL, 
	cleared_before INTEGER DEFAULT '0' NOT NULL, 
	PRIMARY KEY (conversation, epoch), 
	FOREIGN KEY(conversation) REFERENCES conversation (id)
);
INSERT INTO "clearing" VALUES('01m8cadydazkgnfvgwjpeb0j05',2,1,'',0,1.79570992590556883809e+09,'clear',0);
INSERT INTO "clearing" VALUES('01m8cadykaw4z6m0dhk711q4bw',2,1,'',0,1.79570992606223392481e+09,'new',0);
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
	cleared_before INTEGER DEFAULT '0' NOT NULL, 
	PRIMARY KEY (id), 
	CONSTRAINT conversation_place UNIQUE (channel, account, chat_id, thread_id)
);
INSERT INTO "conversation" VALUES('01m8cadwjp3yxgwc1kgy330cds','web','console','garden','','dm','',1,21,10,25,1,'01m8cady3g55w6dfrpgqk09nar','','',2,'c10ebc9e1a149ba66760594548e2dc1e1adc0954f0d48d8a46a8bb159f4e016d','fold',1,'«g0» the roses want water; I prefer tea. 花园要浇水',1.79570992554240202896e+09,1795709925.56305,0);
INSERT INTO "conversation" VALUES('01m8cady6b47z6zm3wsy2akjk4','web','console','work','','dm','',1,7,4,12,1,'','','',2,'c10ebc9e1a149ba66760594548e2dc1e1adc0954f0d48d8a46a8bb159f4e016d','fold undone',1,'«w0» what do you make of it?',1.79570992766126561164e+09,1.79570992766126561164e+09,0);
INSERT INTO "conversation" VALUES('01m8cadydazkgnfvgwjpeb0j05','web','console','old','','dm','',2,7,4,9,5,'','','',1,'c10ebc9e1a149ba66760594548e2dc1e1adc0954f0d48d8a46a8bb159f4e016d','clear',1,'«o0» what do you make of it?',1.79570992593383336067e+09,1.7957099259664008618e+09,5);
INSERT INTO "conversation" VALUES('01m8cadykaw4z6m0dhk711q4bw','web','console','new','','dm','',2,5,3,7,3,'','','',2,'c10ebc9e1a149ba66760594548e2dc1e1adc0954f0d48d8a46a8bb159f4e016d','clear',1,'«n0» what do you make of it?',1.79570992609071707728e+09,1.79570992612948417662e+09,0);
INSERT INTO "conversation" VALUES('01m8cadyrc7b703ndg5qzf19sy','telegram','100','5005','','dm','',1,5,3,6,1,'','','',0,'c10ebc9e1a149ba66760594548e2dc1e1adc0954f0d48d8a46a8bb159f4e016d','SOUL.md, tools, model or time zone',1,'«t0» what do you make of it?',1.79570992621735239032e+09,1.79570992626336407666e+09,0);
INSERT INTO "conversation" VALUES('01m8cadyvktsa4pnbdk7c9m7h0','telegram','100','999','','dm','telegram-999',1,1,1,3,1,'','','',0,'','',0,'',0.0,1.79570992626336407666e+09,0);
INSERT INTO "conversation" VALUES('01m8cadywrtskrsc16fckbchee','web','console','picture','','dm','',1,3,2,3,1,'','','',0,'c10ebc9e1a149ba66760594548e2dc1e1adc0954f0d48d8a46a8bb159f4e016d','SOUL.md, tools, model or time zone',1,'«p1» what do you make of it? 📎 dot.png',1.79570992629606556887e+09,1.79570992644653654093e+09,0);
INSERT INTO "conversation" VALUES('01m8cadzwjraxerrqz7kvyt78s','web','console','late','','dm','',1,7,4,7,1,'','','',0,'c10ebc9e1a149ba66760594548e2dc1e1adc0954f0d48d8a46a8bb159f4e016d','SOUL.md, tools, model or time zone',1,'«l0» what do you make of it?',1.79570992777596235277e+09,1.79570992780742955206e+09,0);
INSERT INTO "conversation" VALUES('01m8cae0936p7wrs6b1xjs7cpa','web','console','tool','','dm','',1,3,2,3,1,'','','',0,'c10ebc9e1a149ba66760594548e2dc1e1adc0954f0d48d8a46a8bb159f4e016d','SOUL.md, tools, model or time zone',1,'«x1» use write_file {"path": "notes/x.md", "content": "x"}',1.79570992776931309697e+09,1.79570992776931309697e+09,0);
CREATE TABLE coverage (
	message_id TEXT NOT NULL, 
	class TEXT NOT NULL, 
	fold_id TEXT NOT NULL, 
	PRIMARY KEY (message_id)
);
INSERT INTO "coverage" VALUES('01m8cadwjpbvc0n2dc99qzfptr','folded','01m8cadxtch0hhqg8msx3e9fg3');
INSERT INTO "coverage" VALUES('01m8cadxms1h05bprx9jd6x0mq','folded','01m8cadxtch0hhqg8msx3e9fg3');
INSERT INTO "coverage" VALUES('01m8cadxnqkest613p5j8nvzgz','folded','01m8cadxtch0hhqg8msx3e9fg3');
INSERT INTO "coverage" VALUES('01m8cadxpbxwaxavjarpmjpdk7','folded','01m8cadxtch0hhqg8msx3e9fg3');
INSERT INTO "coverage" VALUES('01m8cadxptf6y7tjgmd066d2wx','folded','01m8cady3g55w6dfrpgqk09nar');
INSERT INTO "coverage" VALUES('01m8cadxqdd1hm13egwtr2n7cj','folded','01m8cady3g55w6dfrpgqk09nar');
INSERT INTO "coverage" VALUES('01m8cadxqxd276qa0r0pt5n3pa','folded','01m8cady3g55w6dfrpgqk09nar');
INSERT INTO "coverage" VALUES('01m8cadxrg8yyngk5g2mgzea8t','folded','01m8cady3g55w6dfrpgqk09nar');
INSERT INTO "coverage" VALUES('01m8cadxrz6dt9vj1em1brgm6w','folded','01m8cady3g55w6dfrpgqk09nar');
INSERT INTO "coverage" VALUES('01m8cadxskhfty4whfkwvh3f04','folded','01m8cady3g55w6dfrpgqk09nar');
CREATE TABLE dream (
	id TEXT NOT NULL, 
	space TEXT NOT NULL, 
	day TEXT NOT NULL, 
	state TEXT NOT NULL, 
	"plan" TEXT NOT NULL, 
	diary TEXT NOT NULL, 
	reason TEXT NOT NULL, 
	at DOUBLE NOT NULL, 
	PRIMARY KEY (id), 
	CONSTRAINT dream_day UNIQUE (space, day)
);
CREATE TABLE duty (
	name TEXT NOT NULL, 
	lease INTEGER NOT NULL, 
	PRIMARY KEY (name)
);
CREATE TABLE extraction (
	turn_id TEXT NOT NULL, 
	space TEXT NOT NULL, 
	conversation TEXT NOT NULL, 
	turn INTEGER NOT NULL, 
	state TEXT NOT NULL, 
	attempts INTEGER NOT NULL, 
	found TEXT NOT NULL, 
	reason TEXT NOT NULL, 
	at DOUBLE NOT NULL, 
	PRIMARY KEY (turn_id)
);
INSERT INTO "extraction" VALUES('01m8cadwkw9qtxsv8k5anvs420','','01m8cadwjp3yxgwc1kgy330cds',1,'done',1,'','kept 0',1.79570992501737952229e+09);
INSERT INTO "extraction" VALUES('01m8cadxnvahe2wt9rcr385t1x','','01m8cadwjp3yxgwc1kgy330cds',2,'done',1,'','kept 0',1.79570992506790542606e+09);
INSERT INTO "extraction" VALUES('01m8cadxpxw3hx101xrgz197cz','','01m8cadwjp3yxgwc1kgy330cds',3,'done',1,'','kept 0',1.79570992510172128676e+09);
INSERT INTO "extraction" VALUES('01m8cadxr13z9fgsgs7mxvv761','','01m8cadwjp3yxgwc1kgy330cds',4,'done',1,'','kept 0',1.79570992513689827916e+09);
INSERT INTO "extraction" VALUES('01m8cadxs28b1xkpkzyv9mn0xf','','01m8cadwjp3yxgwc1kgy330cds',5,'done',1,'','kept 0',1.79570992517155146594e+09);
INSERT INTO "extraction" VALUES('01m8cadxx1nqth9fesenkmt6hv','','01m8cadwjp3yxgwc1kgy330cds',6,'done',1,'','kept 0',1.79570992535706019403e+09);
INSERT INTO "extraction" VALUES('01m8cadxzvbta9dsfaybvgfbyh','','01m8cadwjp3yxgwc1kgy330cds',7,'done',1,'','kept 0',1.79570992538950705529e+09);
INSERT INTO "extraction" VALUES('01m8cady0z3an0ae0052bs0zqb','','01m8cadwjp3yxgwc1kgy330cds',8,'done',1,'','kept 0',1.7957099254263067245e+09);
INSERT INTO "extraction" VALUES('01m8cady24mn4pft3yjbzbmk25','','01m8cadwjp3yxgwc1kgy330cds',9,'done',1,'','kept 0',1.79570992546203088762e+09);
INSERT INTO "extraction" VALUES('01m8cady6f28ej7h2byeamnztg','','01m8cady6b47z6zm3wsy2akjk4',1,'done',1,'','kept 0',1.79570992561598038669e+09);
INSERT INTO "extraction" VALUES('01m8cady8cbfhqkj50jxyb63zf','','01m8cady6b47z6zm3wsy2akjk4',2,'done',1,'','kept 0',1.79570992566344714161e+09);
INSERT INTO "extraction" VALUES('01m8cady9dpd0qnmsrft6tg7gx','','01m8cady6b47z6zm3wsy2akjk4',3,'done',1,'','kept 0',1.795709925697978735e+09);
INSERT INTO "extraction" VALUES('01m8cadyddk9vxfsend8g03s2h','','01m8cadydazkgnfvgwjpeb0j05',1,'done',1,'','kept 0',1.79570992583567857741e+09);
INSERT INTO "extraction" VALUES('01m8cadyfbtqa4x79yet7q1pvm','','01m8cadydazkgnfvgwjpeb0j05',2,'done',1,'','kept 0',1.79570992588932347292e+09);
INSERT INTO "extraction" VALUES('01m8cadyhhb52v7nq4c4dk6kap','','01m8cadydazkgnfvgwjpeb0j05',3,'done',1,'','kept 0',1.7957099259664008618e+09);
INSERT INTO "extraction" VALUES('01m8cadykdfjrsjddgc4xhv5qe','','01m8cadykaw4z6m0dhk711q4bw',1,'done',1,'','kept 0',1.79570992603006291386e+09);
INSERT INTO "extraction" VALUES('01m8cadypdjhj25xbx8c04xnwt','','01m8cadykaw4z6m0dhk711q4bw',2,'done',1,'','kept 0',1.79570992612948417662e+09);
INSERT INTO "extraction" VALUES('01m8cadyrjvz6xzvheqa5bm13n','','01m8cadyrc7b703ndg5qzf19sy',1,'done',1,'','kept 0',1.79570992619745659828e+09);
INSERT INTO "extraction" VALUES('01m8cadyte2jefcj269v3x399y','','01m8cadyrc7b703ndg5qzf19sy',2,'done',1,'','kept 0',1.79570992624875855445e+09);
INSERT INTO "extraction" VALUES('01m8cadz0rzd1yjwk1ak00a07j','','01m8cadywrtskrsc16fckbchee',1,'done',1,'','kept 0',1.79570992644653654093e+09);
INSERT INTO "extraction" VALUES('01m8cadzxf5wm3cg798edvv05g','','01m8cadzwjraxerrqz7kvyt78s',1,'queued',0,'','',1.79570992757233667373e+09);
INSERT INTO "extraction" VALUES('01m8cae05mhrgxgvq8fr59nwf8','','01m8cadzwjraxerrqz7kvyt78s',2,'queued',0,'','',1.79570992763554596895e+09);
INSERT INTO "extraction" VALUES('01m8cae0b21bqktkbbhjq7s6ha','','01m8cadzwjraxerrqz7kvyt78s',3,'queued',0,'','',1.79570992780742955206e+09);
CREATE TABLE file_label (
	space TEXT NOT NULL, 
	path TEXT NOT NULL, 
	at DOUBLE NOT NULL, 
	PRIMARY KEY (space, path)
);
CREATE TABLE file_version (
	id TEXT NOT NULL, 
	space TEXT NOT NULL, 
	path TEXT NOT NULL, 
	sha256 TEXT NOT NULL, 
	size INTEGER NOT NULL, 
	pending TEXT NOT NULL, 
	call TEXT NOT NULL, 
	at DOUBLE NOT NULL, 
	PRIMARY KEY (id)
);
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
	tainted INTEGER DEFAULT '0' NOT NULL, 
	clean_lines TEXT DEFAULT '' NOT NULL, 
	summary_tainted INTEGER DEFAULT '0' NOT NULL, 
	rejected INTEGER DEFAULT '0' NOT NULL, 
	sent_from INTEGER DEFAULT '0' NOT NULL, 
	awaiting TEXT DEFAULT '' NOT NULL, 
	body_sha256 TEXT DEFAULT '' NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(conversation) REFERENCES conversation (id)
);
INSERT INTO "fold" VALUES('01m8cadxtch0hhqg8msx3e9fg3','01m8cadwjp3yxgwc1kgy330cds','','web',1,'',1,4,1,2,2,'folded','model','balanced','/context fold','- «g0» the roses want water; I prefer tea. 花园要浇水
- «g1» the roses want water; I prefer tea. 花园要浇水','- «g0» the roses want water; I prefer tea. 花园要浇水
- «g1» the roses want water; I prefer tea. 花园要浇水',43,'00a078262ccc5df532249d3f8fae0c49c4e0aa6019d7d0941c103db2b99af53e','memory/2026-11-26.md',195,160,0,1.79570992519670081131e+09,1,'',11,0,'',0,0,0,'','');
INSERT INTO "fold" VALUES('01m8cady3g55w6dfrpgqk09nar','01m8cadwjp3yxgwc1kgy330cds','','web',1,'01m8cadxtch0hhqg8msx3e9fg3',5,10,3,5,5,'folded','model','balanced','/context fold','- «g2» the roses want water; I prefer tea. 花园要浇水
- «g3» the roses want water; I prefer tea. 花园要浇水
- «g4» the roses want water; I prefer tea. 花园要浇水','- «g2» the roses want water; I prefer tea. 花园要浇水
- «g3» the roses want water; I prefer tea. 花园要浇水
- «g4» the roses want water; I prefer tea. 花园要浇水',65,'a2b265de7f415ef92ec8879720ef70082ff91acbc41aaee820177143641a8a9b','memory/2026-11-26.md',368,273,0,1.7957099254887337685e+09,1,'',21,0,'',0,0,0,'','');
INSERT INTO "fold" VALUES('01m8cadyammj0vf3wat98wcd47','01m8cady6b47z6zm3wsy2akjk4','','web',1,'',1,2,1,1,1,'undone','model','balanced','/context fold','- «w0» what do you make of it?','- «w0» what do you make of it?',12,'f25da6f0d6859d7f8253d21474af9944a04daf17e66f0c88deb8f34944f2a678','memory/2026-11-26.md',90,72,0,1.79570992571642398839e+09,1,'',7,0,'',0,0,0,'','');
INSERT INTO "fold" VALUES('01m8cadyner1z7aepn7azebf71','01m8cadykaw4z6m0dhk711q4bw','','web',1,'',1,2,1,1,1,'folded','model','balanced','/new','- «n0» what do you make of it?','',0,'0d6e34c0cc682a69dcf26a100cc5283c66f6df13d1153daf1e42567585c60e54','memory/2026-11-26.md',30,0,1,1.79570992606223392481e+09,1,'',3,0,'',0,0,0,'','');
INSERT INTO "fold" VALUES('01m8cae07sm8b20jwdcz8bmfbv','01m8cady6b47z6zm3wsy2akjk4','','web',1,'',1,2,1,1,1,'checked','model','balanced','/context fold','- «w0» what do you make of it?','- «w0» what do you make of it?',12,'f25da6f0d6859d7f8253d21474af9944a04daf17e66f0c88deb8f34944f2a678','',90,60,0,1.79570992767305898669e+09,2,'',7,0,'',0,0,0,'','');
CREATE TABLE forgetting (
	id TEXT NOT NULL, 
	space TEXT NOT NULL, 
	conversation TEXT NOT NULL, 
	asked_by TEXT NOT NULL, 
	state TEXT NOT NULL, 
	code_sha256 TEXT NOT NULL, 
	targets TEXT NOT NULL, 
	receipt TEXT NOT NULL, 
	expires DOUBLE NOT NULL, 
	at DOUBLE NOT NULL, 
	PRIMARY KEY (id)
);
CREATE TABLE heartbeat (
	id TEXT NOT NULL, 
	space TEXT NOT NULL, 
	decision TEXT NOT NULL, 
	sha256 TEXT NOT NULL, 
	norm TEXT NOT NULL, 
	reason TEXT NOT NULL, 
	tokens INTEGER NOT NULL, 
	at DOUBLE NOT NULL, 
	PRIMARY KEY (id)
);
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
	album TEXT DEFAULT '' NOT NULL, 
	deaths_alone INTEGER DEFAULT '0' NOT NULL, 
	PRIMARY KEY (id), 
	CONSTRAINT inbox_key UNIQUE (channel, account, "key"), 
	FOREIGN KEY(conversation) REFERENCES conversation (id)
);
INSERT INTO "inbox" VALUES('01m8cadwjpbvc0n2dc99qzfptr','01m8cadwjp3yxgwc1kgy330cds','web','console','garden1c3a9bc652a448e094b55dc7056f671e','message','owner','{"text": "«g0» the roses want water; I prefer tea. 花园要浇水"}','','done','',0,'01m8cadwkw9qtxsv8k5anvs420','01m8cadwjprfb3te6ezk7gsdjk',1,0,0.0,1.79570992392610287663e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m8cadxnqkest613p5j8nvzgz','01m8cadwjp3yxgwc1kgy330cds','web','console','garden182f634227f8432e916501d6473c5546','message','owner','{"text": "«g1» the roses want water; I prefer tea. 花园要浇水"}','','done','',0,'01m8cadxnvahe2wt9rcr385t1x','01m8cadxnqfkf817vgt8pjr0sb',3,0,0.0,1.79570992504790306098e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m8cadxptf6y7tjgmd066d2wx','01m8cadwjp3yxgwc1kgy330cds','web','console','garden0a25b56bf6c24b1b94b832a8877f3eb5','message','owner','{"text": "«g2» the roses want water; I prefer tea. 花园要浇水"}','','done','',0,'01m8cadxpxw3hx101xrgz197cz','01m8cadxpt37qwdd84y4107wm6',5,0,0.0,1.795709925082474947e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m8cadxqxd276qa0r0pt5n3pa','01m8cadwjp3yxgwc1kgy330cds','web','console','garden6463e450f84b4c5b8caa00d6de9f4846','message','owner','{"text": "«g3» the roses want water; I prefer tea. 花园要浇水"}','','done','',0,'01m8cadxr13z9fgsgs7mxvv761','01m8cadxqxtg4ggehmvmw7ppw1',7,0,0.0,1.79570992511791348452e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m8cadxrz6dt9vj1em1brgm6w','01m8cadwjp3yxgwc1kgy330cds','web','console','garden23edbd7920364d8abbf0c5902faa5af3','message','owner','{"text": "«g4» the roses want water; I prefer tea. 花园要浇水"}','','done','',0,'01m8cadxs28b1xkpkzyv9mn0xf','01m8cadxrzk2pwvdxey7z7875q',9,0,0.0,1.79570992515165472032e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m8cadxt3x3rs95nsffty1h2f','01m8cadwjp3yxgwc1kgy330cds','web','console','gardenb46fb811d2b1491daf02b3657790c905','command','owner','{"text": "/context fold"}','','done','begun',1,'','01m8cadxt3mdmjwyg069a5n966',11,0,0.0,1.795709925187564373e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m8cadxwxd232f4dnf0tbnzw6','01m8cadwjp3yxgwc1kgy330cds','web','console','garden0d5d862637d94dc7ae2345eb72dfae65','message','owner','{"text": "«g5» use write_file {\"path\": \"notes/roses.md\", \"content\": \"water on Mondays\"}"}','','done','',0,'01m8cadxx1nqth9fesenkmt6hv','01m8cadxwxs96d6rt14hh1b0fh',13,0,0.0,1.79570992527773594859e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m8cadxzr405ncadzeqx50jrr','01m8cadwjp3yxgwc1kgy330cds','web','console','garden6a34441add0c47fa81a738cc00fd8904','message','owner','{"text": "«g6» what do you make of it?"}','','done','',0,'01m8cadxzvbta9dsfaybvgfbyh','01m8cadxzrtzk6x2nazn23mkvv',15,0,0.0,1.79570992536812901498e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m8cady0wv97rr4k3tjqe6ve8','01m8cadwjp3yxgwc1kgy330cds','web','console','garden19aa0108b5d341b68b825d478117520a','message','owner','{"text": "«g7» what do you make of it?"}','','done','',0,'01m8cady0z3an0ae0052bs0zqb','01m8cady0wq6r44512mpcx8x51',17,0,0.0,1.79570992540434122087e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m8cady20ebatxd6makkkgrem','01m8cadwjp3yxgwc1kgy330cds','web','console','garden22ac20ce07db488e9dd7742cefbd6271','message','owner','{"text": "«g8» what do you make of it?"}','','done','',0,'01m8cady24mn4pft3yjbzbmk25','01m8cady20zvrjz5dzjxa2e8pt',19,0,0.0,1.79570992544074368481e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m8cady34vsgsfsn5504t4hgk','01m8cadwjp3yxgwc1kgy330cds','web','console','garden3576cd45252848ddbef9d133ed3e5f60','command','owner','{"text": "/context fold"}','','done','begun',1,'','01m8cady348ws4bp2gxq40dd29',21,0,0.0,1.79570992547662305828e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m8cady56teeznzfw5xys2g91','01m8cadwjp3yxgwc1kgy330cds','web','console','garden071e20cd7f864a49ac42b1e7e76f0b1e','command','owner','{"text": "/remember The gate code is 4711"}','','done','begun',1,'','01m8cady561mmvcw6cfv9chbkp',23,0,0.0,1.79570992554240202896e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m8cady6bhjktb9w8hs2w5r2y','01m8cady6b47z6zm3wsy2akjk4','web','console','work94331fcef57d423aaa097e9076c790b1','message','owner','{"text": "«w0» what do you make of it?"}','','done','',0,'01m8cady6f28ej7h2byeamnztg','01m8cady6bs7dj4bpt6a31p4xq',1,0,0.0,1.79570992557973456386e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m8cady8897mnjv4y5cd6qb0t','01m8cady6b47z6zm3wsy2akjk4','web','console','work4196b12834414cbb96fd4e1b8dba3464','message','owner','{"text": "«w1» what do you make of it?"}','','done','',0,'01m8cady8cbfhqkj50jxyb63zf','01m8cady88wjxxkax0hc2khmrs',3,0,0.0,1.79570992564085888864e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m8cady9a3gwx5tf5pr0zz1d9','01m8cady6b47z6zm3wsy2akjk4','web','console','work7c6d983dee794f7b8207254978ec82b9','message','owner','{"text": "«w2» what do you make of it?"}','','done','',0,'01m8cady9dpd0qnmsrft6tg7gx','01m8cady9a9zeeebe0jqz0eza7',5,0,0.0,1.79570992567426586158e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m8cadyad0mva310yk4376jtb','01m8cady6b47z6zm3wsy2akjk4','web','console','work9e6dc40b81514b4383aa9c63ee732c72','command','owner','{"text": "/context fold"}','','done','begun',1,'','01m8cadyadcd0ybqpk8hxfm3h7',7,0,0.0,1.79570992570950913429e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m8cadyc8wmke5ashp3ka8br3','01m8cady6b47z6zm3wsy2akjk4','web','console','work22147da9385d49529ab347af8bd6dd81','command','owner','{"text": "/context undo"}','','done','begun',1,'','01m8cadyc83gnz6amvmr8445ms',9,0,0.0,1.79570992576848196976e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m8cadyda90yzpm8d4wmnc9yf','01m8cadydazkgnfvgwjpeb0j05','web','console','old2d98c7f4f1e0456a9ad2c6fd056c82ac','message','owner','{"text": "«o0» what do you make of it?"}','','done','',0,'01m8cadyddk9vxfsend8g03s2h','01m8cadydafx1f33j3dtjydyax',1,0,0.0,1.7957099258020472526e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m8cadyf7ecsmg5a1m550kfvp','01m8cadydazkgnfvgwjpeb0j05','web','console','oldc3e19e750960472e8b2d164c9aada4bf','message','owner','{"text": "«o1» what do you make of it?"}','','done','',0,'01m8cadyfbtqa4x79yet7q1pvm','01m8cadyf7e7awd791j94wft8q',3,0,0.0,1.79570992586394715308e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m8cadyga5jmc9xxprfkcpkst','01m8cadydazkgnfvgwjpeb0j05','web','console','old561c7ccbe018414a9f6d365ef9efa927','command','owner','{"text": "/context clear"}','','done','begun',1,'','01m8cadygae6j2k2g7jnb8qq4x',5,0,0.0,1.79570992589836430546e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m8cadyhddkg30nkjt9rwky01','01m8cadydazkgnfvgwjpeb0j05','web','console','old85fcfe36847b43329656d738790bc39a','message','owner','{"text": "«o2» what do you make of it?"}','','done','',0,'01m8cadyhhb52v7nq4c4dk6kap','01m8cadyhdwbkd6zbscm3dcyab',7,0,0.0,1.79570992593383336067e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m8cadyka33n0r4zrgb4f1743','01m8cadykaw4z6m0dhk711q4bw','web','console','new817576f055844f64aa83efc2a0b4f5e3','message','owner','{"text": "«n0» what do you make of it?"}','','done','',0,'01m8cadykdfjrsjddgc4xhv5qe','01m8cadyka8m0d0z950ykrb5v3',1,0,0.0,1.79570992599446272851e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m8cadyn75f1w5rtq3tp1dx8t','01m8cadykaw4z6m0dhk711q4bw','web','console','new81e8d93a0f834f708411e281c47215c8','command','owner','{"text": "/new"}','','done','begun',1,'','01m8cadyn7gcgrb6h72hm01pp8',3,0,0.0,1.79570992605500459669e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m8cadypaxsskmtsmkehvr570','01m8cadykaw4z6m0dhk711q4bw','web','console','newed2d182437394b39b9147b3a88830668','message','owner','{"text": "«n1» what do you make of it?"}','','done','',0,'01m8cadypdjhj25xbx8c04xnwt','01m8cadyparfbqzktn1jm6pep6',5,0,0.0,1.79570992609071707728e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m8cadyrc8ddzm5956yzc40bz','01m8cadyrc7b703ndg5qzf19sy','telegram','100','m:5005:1:0','message','5005','{"text": "«t0» what do you make of it?", "name": "Ада"}','00000000000000700100','done','',0,'01m8cadyrjvz6xzvheqa5bm13n','01m8cadyrcmfax55eng5262wva',1,0,0.0,1.79570992615625238419e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m8cadyt9stpd51n9tmv187t0','01m8cadyrc7b703ndg5qzf19sy','telegram','100','m:5005:3:0','message','5005','{"text": "«t1» what do you make of it?", "name": "Ада"}','00000000000000700101','done','',0,'01m8cadyte2jefcj269v3x399y','01m8cadyt9g6nm1139c8etpryn',3,0,0.0,1.79570992621735239032e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m8cadyvkrnkfr8gmn2r9tvy9','01m8cadyvktsa4pnbdk7c9m7h0','telegram','100','m:999:1:0','message','999','','00000000000000700102','ignored','stranger',0,'','01m8cadyvkax2atmsjphjany2y',1,0,0.0,1.79570992625961232186e+09,0,'',0);
INSERT INTO "inbox" VALUES('01m8cadywrpav319bm4crrngq8','01m8cadywrtskrsc16fckbchee','web','console','picturep1','message','owner','{"text": "«p1» what do you make of it?", "shown": "«p1» what do you make of it?\n📎 dot.png", "files": [["7899d6ced52159786ff083934df42788da01a30b7ed9bb7756d7f3f5a94ef685", "dot.png", "image/png", 68, ""]]}','','done','',0,'01m8cadz0rzd1yjwk1ak00a07j','01m8cadywrn5pvf21086qysgkf',1,0,0.0,1.79570992629606556887e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m8cadzwj4hg1xnfatbk8pr5d','01m8cadzwjraxerrqz7kvyt78s','web','console','latef10d3515a02249b49a9554507b821c7e','message','owner','{"text": "«l0» what do you make of it?"}','','done','',0,'01m8cadzxf5wm3cg798edvv05g','01m8cadzwjnvxywwyqdjc3s0r2',1,0,0.0,1.79570992731441402435e+09,2,'',0);
INSERT INTO "inbox" VALUES('01m8cae05hk4qq9kzzy3srvd26','01m8cadzwjraxerrqz7kvyt78s','web','console','late922f38e2729e4841815b8d63963a927e','message','owner','{"text": "«l1» what do you make of it?"}','','done','',0,'01m8cae05mhrgxgvq8fr59nwf8','01m8cae05h6p73dm6b5ryrn8p2',3,0,0.0,1.79570992760147786137e+09,2,'',0);
INSERT INTO "inbox" VALUES('01m8cae07d7sykz4bcpvhabqb6','01m8cady6b47z6zm3wsy2akjk4','web','console','workcbdf1c9f210245239a1128815dc06bc7','command','owner','{"text": "/context fold"}','','new','begun',1,'','01m8cae07dwma0w41er7m63g0j',11,0,0.0,1.79570992766126561164e+09,2,'',0);
INSERT INTO "inbox" VALUES('01m8cae0939vawm4zw41k2p7r4','01m8cae0936p7wrs6b1xjs7cpa','web','console','tool86b80ad773584e9384940b56a2b97650','message','owner','{"text": "«x1» use write_file {\"path\": \"notes/x.md\", \"content\": \"x\"}"}','','running','',0,'01m8cae096w2fnery3dq4m9jd3','01m8cae093g3qagjzscywdtcfr',1,0,0.0,1.7957099277152886391e+09,2,'',0);
INSERT INTO "inbox" VALUES('01m8cae0ash9bj8p8xak5ax416','01m8cae0936p7wrs6b1xjs7cpa','web','console','tool5a0bb80c2c77479a8670904c801e6220','message','owner','{"text": "«x2» and after that?"}','','new','',0,'','01m8cae0asdg1fhka24zrrvhz7',2,0,0.0,1.79570992776931309697e+09,0,'',0);
INSERT INTO "inbox" VALUES('01m8cae0az8mr7gr5qas8gnva8','01m8cadzwjraxerrqz7kvyt78s','web','console','latec542c86cbac441ecac0655f8e77fedc3','message','owner','{"text": "«l2» what do you make of it?"}','','done','',0,'01m8cae0b21bqktkbbhjq7s6ha','01m8cae0azgqtmm7vfrxscptd1',5,0,0.0,1.79570992777596235277e+09,2,'',0);
CREATE TABLE instance (
	id INTEGER NOT NULL, 
	lease_epoch INTEGER NOT NULL, 
	clean BOOLEAN NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "instance" VALUES(1,2,0);
CREATE TABLE job (
	id TEXT NOT NULL, 
	space TEXT NOT NULL, 
	number INTEGER NOT NULL, 
	conversation TEXT NOT NULL, 
	channel TEXT NOT NULL, 
	account TEXT NOT NULL, 
	person TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	body TEXT NOT NULL, 
	schedule TEXT NOT NULL, 
	next_at DOUBLE NOT NULL, 
	runs_left INTEGER NOT NULL, 
	tainted BOOLEAN NOT NULL, 
	norm TEXT NOT NULL, 
	state TEXT NOT NULL, 
	reason TEXT NOT NULL, 
	at DOUBLE NOT NULL, 
	fails INTEGER DEFAULT '0' NOT NULL, 
	retries INTEGER DEFAULT '0' NOT NULL, 
	extra TEXT DEFAULT '' NOT NULL, 
	resumes_at DOUBLE DEFAULT '0' NOT NULL, 
	PRIMARY KEY (id), 
	CONSTRAINT job_number UNIQUE (space, number)
);
CREATE TABLE job_setting (
	channel TEXT NOT NULL, 
	account TEXT NOT NULL, 
	person TEXT NOT NULL, 
	space TEXT NOT NULL, 
	zone TEXT NOT NULL, 
	quiet TEXT NOT NULL, 
	PRIMARY KEY (channel, account, person)
);
CREATE TABLE limit_told (
	who TEXT NOT NULL, 
	conversation TEXT NOT NULL, 
	limit_name TEXT NOT NULL, 
	until DOUBLE NOT NULL, 
	PRIMARY KEY (who, conversation, limit_name), 
	FOREIGN KEY(conversation) REFERENCES conversation (id)
);
CREATE TABLE link_code (
	id TEXT NOT NULL, 
	code_sha256 TEXT NOT NULL, 
	state TEXT NOT NULL, 
	channel TEXT NOT NULL, 
	account TEXT NOT NULL, 
	sender_id TEXT NOT NULL, 
	space TEXT NOT NULL, 
	conversation TEXT NOT NULL, 
	typed_channel TEXT NOT NULL, 
	typed_account TEXT NOT NULL, 
	typed_sender_id TEXT NOT NULL, 
	typed_name TEXT NOT NULL, 
	typed_space TEXT NOT NULL, 
	typed_conversation TEXT NOT NULL, 
	expires DOUBLE NOT NULL, 
	at DOUBLE NOT NULL, 
	PRIMARY KEY (id)
);
CREATE TABLE mcp_server (
	id TEXT NOT NULL, 
	source_sha256 TEXT NOT NULL, 
	era TEXT NOT NULL, 
	listed DOUBLE NOT NULL, 
	PRIMARY KEY (id)
);
CREATE TABLE mcp_tool (
	server TEXT NOT NULL, 
	name TEXT NOT NULL, 
	description TEXT NOT NULL, 
	schema TEXT NOT NULL, 
	read_only BOOLEAN NOT NULL, 
	sha256 TEXT NOT NULL, 
	listed BOOLEAN NOT NULL, 
	mode TEXT NOT NULL, 
	effect TEXT NOT NULL, 
	reviewed_sha256 TEXT NOT NULL, 
	told_sha256 TEXT NOT NULL, 
	position INTEGER NOT NULL, 
	PRIMARY KEY (server, name)
);
CREATE TABLE memory (
	id TEXT NOT NULL, 
	space TEXT NOT NULL, 
	norm TEXT NOT NULL, 
	category TEXT NOT NULL, 
	text TEXT NOT NULL, 
	importance INTEGER NOT NULL, 
	state TEXT NOT NULL, 
	origin TEXT NOT NULL, 
	conversation TEXT NOT NULL, 
	message_id TEXT NOT NULL, 
	channel TEXT NOT NULL, 
	quote TEXT NOT NULL, 
	said DOUBLE NOT NULL, 
	created DOUBLE NOT NULL, 
	updated DOUBLE NOT NULL, 
	used DOUBLE NOT NULL, 
	uses INTEGER NOT NULL, 
	superseded_by TEXT NOT NULL, 
	valid_until DOUBLE NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "memory" VALUES('01m8cady5mf6n0cakxj4cctcpe','','the gate code is 4711','fact','The gate code is 4711',8,'live','person','01m8cadwjp3yxgwc1kgy330cds','01m8cady56teeznzfw5xys2g91','web','/remember The gate code is 4711',1.79570992554240202896e+09,1.79570992555612540244e+09,1.79570992555612540244e+09,0.0,0,'',0.0);
CREATE TABLE memory_change (
	id TEXT NOT NULL, 
	space TEXT NOT NULL, 
	path TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	before_sha256 TEXT NOT NULL, 
	after_sha256 TEXT NOT NULL, 
	added TEXT NOT NULL, 
	removed TEXT NOT NULL, 
	"before" TEXT NOT NULL, 
	about TEXT NOT NULL, 
	undone BOOLEAN NOT NULL, 
	at DOUBLE NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "memory_change" VALUES('01m8cady5mp7x4f31tvc4szz02','','MEMORY.md','remember','73a75d57d3bce6e6194e9c3ce650a5f836e26e5cb0efe6db3dc5961d8f1a641c','50fe141b69ae6cf495892e22e37f6d13752c8f95d9e2d52a6b2edbf47c7102b3','["The gate code is 4711"]','[]','','01m8cady56teeznzfw5xys2g91',0,1.79570992555612540244e+09);
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
	tainted INTEGER DEFAULT '0' NOT NULL, 
	PRIMARY KEY (id), 
	CONSTRAINT message_seq UNIQUE (conversation, seq), 
	FOREIGN KEY(conversation) REFERENCES conversation (id)
);
INSERT INTO "message" VALUES('01m8cadwjpbvc0n2dc99qzfptr','01m8cadwjp3yxgwc1kgy330cds',1,1,1,'01m8cadwkw9qtxsv8k5anvs420','user','[{"kind":"Text","text":"«g0» the roses want water; I prefer tea. 花园要浇水"}]','person','',1,27,'tiktoken',1.79570992396481060983e+09,0);
INSERT INTO "message" VALUES('01m8cadxms1h05bprx9jd6x0mq','01m8cadwjp3yxgwc1kgy330cds',1,2,1,'01m8cadwkw9qtxsv8k5anvs420','assistant','[{"kind":"Text","text":"re «g0»"}]','model','',1,12,'tiktoken',1.79570992501737952229e+09,0);
INSERT INTO "message" VALUES('01m8cadxnqkest613p5j8nvzgz','01m8cadwjp3yxgwc1kgy330cds',1,3,2,'01m8cadxnvahe2wt9rcr385t1x','user','[{"kind":"Text","text":"«g1» the roses want water; I prefer tea. 花园要浇水"}]','person','',1,27,'tiktoken',1.7957099250514695644e+09,0);
INSERT INTO "message" VALUES('01m8cadxpbxwaxavjarpmjpdk7','01m8cadwjp3yxgwc1kgy330cds',1,4,2,'01m8cadxnvahe2wt9rcr385t1x','assistant','[{"kind":"Text","text":"re «g1»"}]','model','',1,12,'tiktoken',1.79570992506790542606e+09,0);
INSERT INTO "message" VALUES('01m8cadxptf6y7tjgmd066d2wx','01m8cadwjp3yxgwc1kgy330cds',1,5,3,'01m8cadxpxw3hx101xrgz197cz','user','[{"kind":"Text","text":"«g2» the roses want water; I prefer tea. 花园要浇水"}]','person','',1,27,'tiktoken',1.79570992508594298362e+09,0);
INSERT INTO "message" VALUES('01m8cadxqdd1hm13egwtr2n7cj','01m8cadwjp3yxgwc1kgy330cds',1,6,3,'01m8cadxpxw3hx101xrgz197cz','assistant','[{"kind":"Text","text":"re «g2»"}]','model','',1,12,'tiktoken',1.79570992510172128676e+09,0);
INSERT INTO "message" VALUES('01m8cadxqxd276qa0r0pt5n3pa','01m8cadwjp3yxgwc1kgy330cds',1,7,4,'01m8cadxr13z9fgsgs7mxvv761','user','[{"kind":"Text","text":"«g3» the roses want water; I prefer tea. 花园要浇水"}]','person','',1,27,'tiktoken',1.79570992512128162384e+09,0);
INSERT INTO "message" VALUES('01m8cadxrg8yyngk5g2mgzea8t','01m8cadwjp3yxgwc1kgy330cds',1,8,4,'01m8cadxr13z9fgsgs7mxvv761','assistant','[{"kind":"Text","text":"re «g3»"}]','model','',1,12,'tiktoken',1.79570992513689827916e+09,0);
INSERT INTO "message" VALUES('01m8cadxrz6dt9vj1em1brgm6w','01m8cadwjp3yxgwc1kgy330cds',1,9,5,'01m8cadxs28b1xkpkzyv9mn0xf','user','[{"kind":"Text","text":"«g4» the roses want water; I prefer tea. 花园要浇水"}]','person','',1,27,'tiktoken',1.79570992515478730202e+09,0);
INSERT INTO "message" VALUES('01m8cadxskhfty4whfkwvh3f04','01m8cadwjp3yxgwc1kgy330cds',1,10,5,'01m8cadxs28b1xkpkzyv9mn0xf','assistant','[{"kind":"Text","text":"re «g4»"}]','model','',1,12,'tiktoken',1.79570992517155146594e+09,0);
INSERT INTO "message" VALUES('01m8cadxwxd232f4dnf0tbnzw6','01m8cadwjp3yxgwc1kgy330cds',1,11,6,'01m8cadxx1nqth9fesenkmt6hv','user','[{"kind":"Text","text":"«g5» use write_file {\"path\": \"notes/roses.md\", \"content\": \"water on Mondays\"}"}]','person','',1,33,'tiktoken',1.7957099252813944817e+09,0);
INSERT INTO "message" VALUES('01m8cadxygcmk527jdrh7e23cs','01m8cadwjp3yxgwc1kgy330cds',1,12,6,'01m8cadxx1nqth9fesenkmt6hv','assistant','[{"kind":"Text","text":"I look."},{"kind":"ToolCall","id":"call_g5","name":"write_file","input":"{\"path\": \"notes/roses.md\", \"content\": \"water on Mondays\"}"}]','model','',1,41,'tiktoken',1.79570992532831931118e+09,0);
INSERT INTO "message" VALUES('01m8cadxz16c7qbfhwm1897jxc','01m8cadwjp3yxgwc1kgy330cds',1,13,6,'01m8cadxx1nqth9fesenkmt6hv','user','[{"kind":"ToolResult","call_id":"call_g5","text":"notes/roses.md now holds 16 bytes, version 29eb6a143968.","is_error":false,"outside":false}]','tool','',0,32,'tiktoken',1.7957099253453137874e+09,0);
INSERT INTO "message" VALUES('01m8cadxzdpdhegz3fxt451zpv','01m8cadwjp3yxgwc1kgy330cds',1,14,6,'01m8cadxx1nqth9fesenkmt6hv','assistant','[{"kind":"Text","text":"re «g5»"}]','model','',1,12,'tiktoken',1.79570992535706019403e+09,0);
INSERT INTO "message" VALUES('01m8cadxzr405ncadzeqx50jrr','01m8cadwjp3yxgwc1kgy330cds',1,15,7,'01m8cadxzvbta9dsfaybvgfbyh','user','[{"kind":"Text","text":"«g6» what do you make of it?"}]','person','',1,18,'tiktoken',1.79570992537171196935e+09,0);
INSERT INTO "message" VALUES('01m8cady0dp8ehhm2dfh2a6chd','01m8cadwjp3yxgwc1kgy330cds',1,16,7,'01m8cadxzvbta9dsfaybvgfbyh','assistant','[{"kind":"Text","text":"re «g6»"}]','model','',1,12,'tiktoken',1.79570992538950705529e+09,0);
INSERT INTO "message" VALUES('01m8cady0wv97rr4k3tjqe6ve8','01m8cadwjp3yxgwc1kgy330cds',1,17,8,'01m8cady0z3an0ae0052bs0zqb','user','[{"kind":"Text","text":"«g7» what do you make of it?"}]','person','',1,18,'tiktoken',1.79570992540778207775e+09,0);
INSERT INTO "message" VALUES('01m8cady1jk88j27dva1pj9amy','01m8cadwjp3yxgwc1kgy330cds',1,18,8,'01m8cady0z3an0ae0052bs0zqb','assistant','[{"kind":"Text","text":"re «g7»"}]','model','',1,12,'tiktoken',1.7957099254263067245e+09,0);
INSERT INTO "message" VALUES('01m8cady20ebatxd6makkkgrem','01m8cadwjp3yxgwc1kgy330cds',1,19,9,'01m8cady24mn4pft3yjbzbmk25','user','[{"kind":"Text","text":"«g8» what do you make of it?"}]','person','',1,18,'tiktoken',1.79570992544408941267e+09,0);
INSERT INTO "message" VALUES('01m8cady2paa8mcfvhzd940nw3','01m8cadwjp3yxgwc1kgy330cds',1,20,9,'01m8cady24mn4pft3yjbzbmk25','assistant','[{"kind":"Text","text":"re «g8»"}]','model','',1,12,'tiktoken',1.79570992546203088762e+09,0);
INSERT INTO "message" VALUES('01m8cady6bhjktb9w8hs2w5r2y','01m8cady6b47z6zm3wsy2akjk4',1,1,1,'01m8cady6f28ej7h2byeamnztg','user','[{"kind":"Text","text":"«w0» what do you make of it?"}]','person','',1,18,'tiktoken',1.79570992558311247821e+09,0);
INSERT INTO "message" VALUES('01m8cady7ff2x9ccara30rdavk','01m8cady6b47z6zm3wsy2akjk4',1,2,1,'01m8cady6f28ej7h2byeamnztg','assistant','[{"kind":"Text","text":"re «w0»"}]','model','',1,12,'tiktoken',1.79570992561598038669e+09,0);
INSERT INTO "message" VALUES('01m8cady8897mnjv4y5cd6qb0t','01m8cady6b47z6zm3wsy2akjk4',1,3,2,'01m8cady8cbfhqkj50jxyb63zf','user','[{"kind":"Text","text":"«w1» what do you make of it?"}]','person','',1,18,'tiktoken',1.79570992564422607417e+09,0);
INSERT INTO "message" VALUES('01m8cady8zf3frj8vjrj84a3pj','01m8cady6b47z6zm3wsy2akjk4',1,4,2,'01m8cady8cbfhqkj50jxyb63zf','assistant','[{"kind":"Text","text":"re «w1»"}]','model','',1,12,'tiktoken',1.79570992566344714161e+09,0);
INSERT INTO "message" VALUES('01m8cady9a3gwx5tf5pr0zz1d9','01m8cady6b47z6zm3wsy2akjk4',1,5,3,'01m8cady9dpd0qnmsrft6tg7gx','user','[{"kind":"Text","text":"«w2» what do you make of it?"}]','person','',1,18,'tiktoken',1.79570992567734932896e+09,0);
INSERT INTO "message" VALUES('01m8cadya1w5y8x650vmybv7pd','01m8cady6b47z6zm3wsy2akjk4',1,6,3,'01m8cady9dpd0qnmsrft6tg7gx','assistant','[{"kind":"Text","text":"re «w2»"}]','model','',1,12,'tiktoken',1.795709925697978735e+09,0);
INSERT INTO "message" VALUES('01m8cadyda90yzpm8d4wmnc9yf','01m8cadydazkgnfvgwjpeb0j05',1,1,1,'01m8cadyddk9vxfsend8g03s2h','user','[{"kind":"Text","text":"«o0» what do you make of it?"}]','person','',1,18,'tiktoken',1.79570992580522465703e+09,0);
INSERT INTO "message" VALUES('01m8cadyebdw358789dfpm20bz','01m8cadydazkgnfvgwjpeb0j05',1,2,1,'01m8cadyddk9vxfsend8g03s2h','assistant','[{"kind":"Text","text":"re «o0»"}]','model','',1,12,'tiktoken',1.79570992583567857741e+09,0);
INSERT INTO "message" VALUES('01m8cadyf7ecsmg5a1m550kfvp','01m8cadydazkgnfvgwjpeb0j05',1,3,2,'01m8cadyfbtqa4x79yet7q1pvm','user','[{"kind":"Text","text":"«o1» what do you make of it?"}]','person','',1,18,'tiktoken',1.79570992586709308625e+09,0);
INSERT INTO "message" VALUES('01m8cadyg190mkcq0x1rzhp034','01m8cadydazkgnfvgwjpeb0j05',1,4,2,'01m8cadyfbtqa4x79yet7q1pvm','assistant','[{"kind":"Text","text":"re «o1»"}]','model','',1,12,'tiktoken',1.79570992588932347292e+09,0);
INSERT INTO "message" VALUES('01m8cadyhddkg30nkjt9rwky01','01m8cadydazkgnfvgwjpeb0j05',2,5,3,'01m8cadyhhb52v7nq4c4dk6kap','user','[{"kind":"Text","text":"«o2» what do you make of it?"}]','person','',1,18,'tiktoken',1.79570992593702340126e+09,0);
INSERT INTO "message" VALUES('01m8cadyjervkggsrxv7cxe4aa','01m8cadydazkgnfvgwjpeb0j05',2,6,3,'01m8cadyhhb52v7nq4c4dk6kap','assistant','[{"kind":"Text","text":"re «o2»"}]','model','',1,12,'tiktoken',1.7957099259664008618e+09,0);
INSERT INTO "message" VALUES('01m8cadyka33n0r4zrgb4f1743','01m8cadykaw4z6m0dhk711q4bw',1,1,1,'01m8cadykdfjrsjddgc4xhv5qe','user','[{"kind":"Text","text":"«n0» what do you make of it?"}]','person','',1,18,'tiktoken',1.79570992599743652342e+09,0);
INSERT INTO "message" VALUES('01m8cadymebswt9894tx097zn6','01m8cadykaw4z6m0dhk711q4bw',1,2,1,'01m8cadykdfjrsjddgc4xhv5qe','assistant','[{"kind":"Text","text":"re «n0»"}]','model','',1,12,'tiktoken',1.79570992603006291386e+09,0);
INSERT INTO "message" VALUES('01m8cadypaxsskmtsmkehvr570','01m8cadykaw4z6m0dhk711q4bw',2,3,2,'01m8cadypdjhj25xbx8c04xnwt','user','[{"kind":"Text","text":"«n1» what do you make of it?"}]','person','',1,18,'tiktoken',1.79570992609322714799e+09,0);
INSERT INTO "message" VALUES('01m8cadyqh9aa0jg9e8kw2f0yk','01m8cadykaw4z6m0dhk711q4bw',2,4,2,'01m8cadypdjhj25xbx8c04xnwt','assistant','[{"kind":"Text","text":"re «n1»"}]','model','',1,12,'tiktoken',1.79570992612948417662e+09,0);
INSERT INTO "message" VALUES('01m8cadyrc8ddzm5956yzc40bz','01m8cadyrc7b703ndg5qzf19sy',1,1,1,'01m8cadyrjvz6xzvheqa5bm13n','user','[{"kind":"Text","text":"«t0» what do you make of it?"}]','person','',1,18,'tiktoken',1.79570992616278910644e+09,0);
INSERT INTO "message" VALUES('01m8cadysn1gjmrrt356s218xy','01m8cadyrc7b703ndg5qzf19sy',1,2,1,'01m8cadyrjvz6xzvheqa5bm13n','assistant','[{"kind":"Text","text":"re «t0»"}]','model','',1,12,'tiktoken',1.79570992619745659828e+09,0);
INSERT INTO "message" VALUES('01m8cadyt9stpd51n9tmv187t0','01m8cadyrc7b703ndg5qzf19sy',1,3,2,'01m8cadyte2jefcj269v3x399y','user','[{"kind":"Text","text":"«t1» what do you make of it?"}]','person','',1,18,'tiktoken',1.79570992622261810297e+09,0);
INSERT INTO "message" VALUES('01m8cadyv8h8qygxpbpkkrn7my','01m8cadyrc7b703ndg5qzf19sy',1,4,2,'01m8cadyte2jefcj269v3x399y','assistant','[{"kind":"Text","text":"re «t1»"}]','model','',1,12,'tiktoken',1.79570992624875855445e+09,0);
INSERT INTO "message" VALUES('01m8cadywrpav319bm4crrngq8','01m8cadywrtskrsc16fckbchee',1,1,1,'01m8cadz0rzd1yjwk1ak00a07j','user','[{"kind":"Image","sha256":"7899d6ced52159786ff083934df42788da01a30b7ed9bb7756d7f3f5a94ef685","media_type":"image/png","width":2,"height":2},{"kind":"Text","text":"«p1» what do you make of it?"}]','person','',1,19,'tiktoken',1.79570992642495155331e+09,0);
INSERT INTO "message" VALUES('01m8cadz1ee6regz9d6wpt4jc1','01m8cadywrtskrsc16fckbchee',1,2,1,'01m8cadz0rzd1yjwk1ak00a07j','assistant','[{"kind":"Text","text":"re «p1»"}]','model','',1,12,'tiktoken',1.79570992644653654093e+09,1);
INSERT INTO "message" VALUES('01m8cadzwj4hg1xnfatbk8pr5d','01m8cadzwjraxerrqz7kvyt78s',1,1,1,'01m8cadzxf5wm3cg798edvv05g','user','[{"kind":"Text","text":"«l0» what do you make of it?"}]','person','',1,18,'tiktoken',1.79570992734310650828e+09,0);
INSERT INTO "message" VALUES('01m8cae04mwx9b7wg8rpbqc1qw','01m8cadzwjraxerrqz7kvyt78s',1,2,1,'01m8cadzxf5wm3cg798edvv05g','assistant','[{"kind":"Text","text":"re «l0»"}]','model','',1,12,'tiktoken',1.79570992757233667373e+09,0);
INSERT INTO "message" VALUES('01m8cae05hk4qq9kzzy3srvd26','01m8cadzwjraxerrqz7kvyt78s',1,3,2,'01m8cae05mhrgxgvq8fr59nwf8','user','[{"kind":"Text","text":"«l1» what do you make of it?"}]','person','',1,18,'tiktoken',1.79570992760478377343e+09,0);
INSERT INTO "message" VALUES('01m8cae06khtartkrzw6jm0amf','01m8cadzwjraxerrqz7kvyt78s',1,4,2,'01m8cae05mhrgxgvq8fr59nwf8','assistant','[{"kind":"Text","text":"re «l1»"}]','model','',1,12,'tiktoken',1.79570992763554596895e+09,0);
INSERT INTO "message" VALUES('01m8cae0939vawm4zw41k2p7r4','01m8cae0936p7wrs6b1xjs7cpa',1,1,1,'01m8cae096w2fnery3dq4m9jd3','user','[{"kind":"Text","text":"«x1» use write_file {\"path\": \"notes/x.md\", \"content\": \"x\"}"}]','person','',1,28,'tiktoken',1.79570992771861982348e+09,0);
INSERT INTO "message" VALUES('01m8cae0a174g4p2jkk9yhw4nj','01m8cae0936p7wrs6b1xjs7cpa',1,2,1,'01m8cae096w2fnery3dq4m9jd3','assistant','[{"kind":"Text","text":"I look."},{"kind":"ToolCall","id":"call_x1","name":"write_file","input":"{\"path\": \"notes/x.md\", \"content\": \"x\"}"}]','model','',1,36,'tiktoken',1.79570992774560666085e+09,0);
INSERT INTO "message" VALUES('01m8cae0az8mr7gr5qas8gnva8','01m8cadzwjraxerrqz7kvyt78s',1,5,3,'01m8cae0b21bqktkbbhjq7s6ha','user','[{"kind":"Text","text":"«l2» what do you make of it?"}]','person','',1,18,'tiktoken',1.79570992777882957455e+09,0);
INSERT INTO "message" VALUES('01m8cae0bzb92nphjne1qpdax1','01m8cadzwjraxerrqz7kvyt78s',1,6,3,'01m8cae0b21bqktkbbhjq7s6ha','assistant','[{"kind":"Text","text":"re «l2»"}]','model','',1,12,'tiktoken',1.79570992780742955206e+09,0);
CREATE TABLE model_factor (
	model TEXT NOT NULL, 
	factor DOUBLE NOT NULL, 
	samples INTEGER NOT NULL, 
	error_percent DOUBLE NOT NULL, 
	PRIMARY KEY (model)
);
CREATE TABLE occurrence (
	id TEXT NOT NULL, 
	job TEXT NOT NULL, 
	due DOUBLE NOT NULL, 
	state TEXT NOT NULL, 
	reason TEXT NOT NULL, 
	space TEXT NOT NULL, 
	at DOUBLE NOT NULL, 
	inbox_row TEXT DEFAULT '' NOT NULL, 
	PRIMARY KEY (id), 
	CONSTRAINT occurrence_due UNIQUE (job, due)
);
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
	payload TEXT DEFAULT '' NOT NULL, 
	settled DOUBLE DEFAULT '0' NOT NULL, 
	PRIMARY KEY (id), 
	CONSTRAINT outbox_part UNIQUE (source, part_no), 
	CONSTRAINT outbox_client_key UNIQUE (client_key), 
	FOREIGN KEY(conversation) REFERENCES conversation (id)
);
INSERT INTO "outbox" VALUES('01m8cadxms4bbvvhgn4pqts8hy','01m8cadwjp3yxgwc1kgy330cds','01m8cadwjpbvc0n2dc99qzfptr:answer',0,1,1,'final','5d15033d6471987d18fe45f62b8730e0','re «g0»','sent',1,0,0,315360000.0,2.1110699250277955533e+09,0.0,'01m8cadwjpbvc0n2dc99qzfptr','01m8cadxms4bbvvhgn4pqts8hy','',2,1.79570992501737952229e+09,1,'',1.79570992504317712788e+09);
INSERT INTO "outbox" VALUES('01m8cadxpbcmmz5czgpqr7z6wb','01m8cadwjp3yxgwc1kgy330cds','01m8cadxnqkest613p5j8nvzgz:answer',0,1,1,'final','ae3026afb5447a8eb03128bc57acd197','re «g1»','sent',1,0,0,315360000.0,2.11106992507076597219e+09,0.0,'01m8cadxnqkest613p5j8nvzgz','01m8cadxpbcmmz5czgpqr7z6wb','',4,1.79570992506790542606e+09,1,'',1.79570992507232904435e+09);
INSERT INTO "outbox" VALUES('01m8cadxqddtq887r79pjqy556','01m8cadwjp3yxgwc1kgy330cds','01m8cadxptf6y7tjgmd066d2wx:answer',0,1,1,'final','6d1abb72339080dce57b6d755aa96475','re «g2»','sent',1,0,0,315360000.0,2.1110699251046319007e+09,0.0,'01m8cadxptf6y7tjgmd066d2wx','01m8cadxqddtq887r79pjqy556','',6,1.79570992510172128676e+09,1,'',1.79570992510606312758e+09);
INSERT INTO "outbox" VALUES('01m8cadxrg03wj1frt9znm47dd','01m8cadwjp3yxgwc1kgy330cds','01m8cadxqxd276qa0r0pt5n3pa:answer',0,1,1,'final','16bb5effde53ca191bbbcb8806f5517d','re «g3»','sent',1,0,0,315360000.0,2.11106992513992834095e+09,0.0,'01m8cadxqxd276qa0r0pt5n3pa','01m8cadxrg03wj1frt9znm47dd','',8,1.79570992513689827916e+09,1,'',1.79570992514151644712e+09);
INSERT INTO "outbox" VALUES('01m8cadxsk3bgxy6jpv6bcnb5h','01m8cadwjp3yxgwc1kgy330cds','01m8cadxrz6dt9vj1em1brgm6w:answer',0,1,1,'final','63441197890bc3e6a431ea99fd2fbedf','re «g4»','sent',1,0,0,315360000.0,2.11106992517432045944e+09,0.0,'01m8cadxrz6dt9vj1em1brgm6w','01m8cadxsk3bgxy6jpv6bcnb5h','',10,1.79570992517155146594e+09,1,'',1.79570992517595362666e+09);
INSERT INTO "outbox" VALUES('01m8cadxvxt079ed9n5px55rd5','01m8cadwjp3yxgwc1kgy330cds','01m8cadxt3x3rs95nsffty1h2f:answer',0,1,1,'notice','9207fbb2390e58ffe9be647fde9ceedd','Folded turns 1–2 into memory/2026-11-26.md: 195 → 160 tokens (82%).','sent',1,0,0,315360000.0,2.11106992524991703033e+09,0.0,'01m8cadxt3x3rs95nsffty1h2f','01m8cadxvxt079ed9n5px55rd5','',12,1.79570992524542188649e+09,1,'',1.79570992525157070154e+09);
INSERT INTO "outbox" VALUES('01m8cadxzdagwq0r9w3h1vpa66','01m8cadwjp3yxgwc1kgy330cds','01m8cadxwxd232f4dnf0tbnzw6:answer',0,1,1,'final','702b591fa398f035d2a8065f7bd93fc5','re «g5»','sent',1,0,0,315360000.0,2.11106992536007809636e+09,0.0,'01m8cadxwxd232f4dnf0tbnzw6','01m8cadxzdagwq0r9w3h1vpa66','',14,1.79570992535706019403e+09,1,'',1.7957099253617625237e+09);
INSERT INTO "outbox" VALUES('01m8cady0datwr5jpja2vzmg54','01m8cadwjp3yxgwc1kgy330cds','01m8cadxzr405ncadzeqx50jrr:answer',0,1,1,'final','66d9cc66c91480da112c2b05bb20d2e0','re «g6»','sent',1,0,0,315360000.0,2.11106992539262318603e+09,0.0,'01m8cadxzr405ncadzeqx50jrr','01m8cady0datwr5jpja2vzmg54','',16,1.79570992538950705529e+09,1,'',1.7957099253942863941e+09);
INSERT INTO "outbox" VALUES('01m8cady1jbhbb5sfh63dbe7v9','01m8cadwjp3yxgwc1kgy330cds','01m8cady0wv97rr4k3tjqe6ve8:answer',0,1,1,'final','4c0b298e4f50c4331dd06284524796f8','re «g7»','sent',1,0,0,315360000.0,2.11106992542943024625e+09,0.0,'01m8cady0wv97rr4k3tjqe6ve8','01m8cady1jbhbb5sfh63dbe7v9','',18,1.7957099254263067245e+09,1,'',1.79570992543095517158e+09);
INSERT INTO "outbox" VALUES('01m8cady2prmxxtr46dezbrgwm','01m8cadwjp3yxgwc1kgy330cds','01m8cady20ebatxd6makkkgrem:answer',0,1,1,'final','8b5870d6a351b79078977bb632b59ec7','re «g8»','sent',1,0,0,315360000.0,2.11106992546496677397e+09,0.0,'01m8cady20ebatxd6makkkgrem','01m8cady2prmxxtr46dezbrgwm','',20,1.79570992546203088762e+09,1,'',1.79570992546673583985e+09);
INSERT INTO "outbox" VALUES('01m8cady4mby54d5dkn7cx9tne','01m8cadwjp3yxgwc1kgy330cds','01m8cady34vsgsfsn5504t4hgk:answer',0,1,1,'notice','33063c5a812eebd3899f5eb43d5335c7','Folded turns 3–5 into memory/2026-11-26.md: 368 → 273 tokens (74%).','sent',1,0,0,315360000.0,2.11106992553236484525e+09,0.0,'01m8cady34vsgsfsn5504t4hgk','01m8cady4mby54d5dkn7cx9tne','',22,1.79570992552446794506e+09,1,'',1.79570992553542256361e+09);
INSERT INTO "outbox" VALUES('01m8cady5v88w3wevejv786hzp','01m8cadwjp3yxgwc1kgy330cds','01m8cady56teeznzfw5xys2g91:answer',0,1,1,'notice','d9448cecfbc12ff1d2a7434eea333090','Remembered (facts): The gate code is 4711','sent',1,0,0,315360000.0,2.11106992556486225127e+09,0.0,'01m8cady56teeznzfw5xys2g91','01m8cady5v88w3wevejv786hzp','',24,1795709925.56305,1,'',1.79570992556614112854e+09);
INSERT INTO "outbox" VALUES('01m8cady7fw98dkesm7ykf90fb','01m8cady6b47z6zm3wsy2akjk4','01m8cady6bhjktb9w8hs2w5r2y:answer',0,1,1,'final','0c2e803a7cd842fe418af9842e15ce30','re «w0»','sent',1,0,0,315360000.0,2.11106992561886668197e+09,0.0,'01m8cady6bhjktb9w8hs2w5r2y','01m8cady7fw98dkesm7ykf90fb','',2,1.79570992561598038669e+09,1,'',1.79570992562029027941e+09);
INSERT INTO "outbox" VALUES('01m8cady8zzhbtvswkrvfwff4x','01m8cady6b47z6zm3wsy2akjk4','01m8cady8897mnjv4y5cd6qb0t:answer',0,1,1,'final','9f452433929727ad20380af9689c2faa','re «w1»','sent',1,0,0,315360000.0,2.11106992566682696334e+09,0.0,'01m8cady8897mnjv4y5cd6qb0t','01m8cady8zzhbtvswkrvfwff4x','',4,1.79570992566344714161e+09,1,'',1.7957099256684122086e+09);
INSERT INTO "outbox" VALUES('01m8cadya1mx8b630enznsvz56','01m8cady6b47z6zm3wsy2akjk4','01m8cady9a3gwx5tf5pr0zz1d9:answer',0,1,1,'final','9b4d6a4b8e051bd6abf9792ceb66d250','re «w2»','sent',1,0,0,315360000.0,2.11106992570132613183e+09,0.0,'01m8cady9a3gwx5tf5pr0zz1d9','01m8cadya1mx8b630enznsvz56','',6,1.795709925697978735e+09,1,'',1.79570992570289278029e+09);
INSERT INTO "outbox" VALUES('01m8cadybbms73rjby6t1pg6g9','01m8cady6b47z6zm3wsy2akjk4','01m8cadyad0mva310yk4376jtb:answer',0,1,1,'notice','7c7a243341c8e59dcdc65774ed6a27f8','Folded turn 1 into memory/2026-11-26.md: 90 → 72 tokens (80%).','sent',1,0,0,315360000.0,2.11106992574277043338e+09,0.0,'01m8cadyad0mva310yk4376jtb','01m8cadybbms73rjby6t1pg6g9','',8,1.79570992573992323877e+09,1,'',1.79570992574404358866e+09);
INSERT INTO "outbox" VALUES('01m8cadycqxbwztsn4pgph5911','01m8cady6b47z6zm3wsy2akjk4','01m8cadyc8wmke5ashp3ka8br3:answer',0,1,1,'notice','d3c159ae601e22309e7182b247568939','The fold is undone: turn 1 is back in the context.','sent',1,0,0,315360000.0,2.11106992578498196605e+09,0.0,'01m8cadyc8wmke5ashp3ka8br3','01m8cadycqxbwztsn4pgph5911','',10,1.79570992578337025645e+09,1,'',1.79570992578620314598e+09);
INSERT INTO "outbox" VALUES('01m8cadyebb5852j27yqdm05ew','01m8cadydazkgnfvgwjpeb0j05','01m8cadyda90yzpm8d4wmnc9yf:answer',0,1,1,'final','1d8db3e24dc60fdfc2b3decd26a58e5b','re «o0»','sent',1,0,0,315360000.0,2.11106992583948135369e+09,0.0,'01m8cadyda90yzpm8d4wmnc9yf','01m8cadyebb5852j27yqdm05ew','',2,1.79570992583567857741e+09,1,'',1.79570992584105825428e+09);
INSERT INTO "outbox" VALUES('01m8cadyg1frjdqzj42jbmhp4v','01m8cadydazkgnfvgwjpeb0j05','01m8cadyf7ecsmg5a1m550kfvp:answer',0,1,1,'final','cd0d9fafbc0ca864894d2b0efe0a8474','re «o1»','sent',1,0,0,315360000.0,2.11106992589233207705e+09,0.0,'01m8cadyf7ecsmg5a1m550kfvp','01m8cadyg1frjdqzj42jbmhp4v','',4,1.79570992588932347292e+09,1,'',1.79570992589586663247e+09);
INSERT INTO "outbox" VALUES('01m8cadygpv5dej7gxggwhykea','01m8cadydazkgnfvgwjpeb0j05','01m8cadyga5jmc9xxprfkcpkst:answer',0,1,2,'notice','505bc83b4c086e97046e2415dbd6afb9','The context is clear: the model sees nothing from before. The record stays; /context undo takes this back.','sent',1,0,0,315360000.0,2.11106992591203427309e+09,0.0,'01m8cadyga5jmc9xxprfkcpkst','01m8cadygpv5dej7gxggwhykea','',6,1.7957099259105296135e+09,1,'',1.79570992591326308255e+09);
INSERT INTO "outbox" VALUES('01m8cadyje4ee5qgrj2ky9y650','01m8cadydazkgnfvgwjpeb0j05','01m8cadyhddkg30nkjt9rwky01:answer',0,1,2,'final','41b03f1fe077e04e748b3d859f80c97d','re «o2»','sent',1,0,0,315360000.0,2.11106992596996450423e+09,0.0,'01m8cadyhddkg30nkjt9rwky01','01m8cadyje4ee5qgrj2ky9y650','',8,1.7957099259664008618e+09,1,'',1.79570992597131729121e+09);
INSERT INTO "outbox" VALUES('01m8cadyme05rr0e6zjyr231pk','01m8cadykaw4z6m0dhk711q4bw','01m8cadyka33n0r4zrgb4f1743:answer',0,1,1,'final','938b9998d4994acfd0220109a638dd91','re «n0»','sent',1,0,0,315360000.0,2.11106992603265619288e+09,0.0,'01m8cadyka33n0r4zrgb4f1743','01m8cadyme05rr0e6zjyr231pk','',2,1.79570992603006291386e+09,1,'',1.79570992603386664389e+09);
INSERT INTO "outbox" VALUES('01m8cadynhx035a90fb7h5ac1m','01m8cadykaw4z6m0dhk711q4bw','01m8cadyn75f1w5rtq3tp1dx8t:answer',0,1,2,'notice','08e94e43b7154e4a1924907c3d5fcc6d','A new conversation begins; what came before (1 turn) is being written to today''s log.','sent',1,0,0,315360000.0,2.11106992606749463078e+09,0.0,'01m8cadyn75f1w5rtq3tp1dx8t','01m8cadynhx035a90fb7h5ac1m','',4,1.7957099260657715797e+09,1,'',1.79570992606947898865e+09);
INSERT INTO "outbox" VALUES('01m8cadyqh8gxn5vctrcbxn84x','01m8cadykaw4z6m0dhk711q4bw','01m8cadypaxsskmtsmkehvr570:answer',0,1,2,'final','fab1e2a2e3d60f098f62b275ea69e8b5','re «n1»','sent',1,0,0,315360000.0,2.11106992613188886639e+09,0.0,'01m8cadypaxsskmtsmkehvr570','01m8cadyqh8gxn5vctrcbxn84x','',6,1.79570992612948417662e+09,1,'',1.79570992613299226757e+09);
INSERT INTO "outbox" VALUES('01m8cadysn797t3r2yb0h35d90','01m8cadyrc7b703ndg5qzf19sy','01m8cadyrc8ddzm5956yzc40bz:answer',0,1,1,'final','1bbe6d1b538dacbfd7f9837872b62b6a','re «t0»','sent',1,0,0,0.0,0.0,0.0,'01m8cadyrc8ddzm5956yzc40bz','2','',2,1.79570992619745659828e+09,1,'',1.79570992621159100533e+09);
INSERT INTO "outbox" VALUES('01m8cadyv8ng2tpajp9ka47rea','01m8cadyrc7b703ndg5qzf19sy','01m8cadyt9stpd51n9tmv187t0:answer',0,1,1,'final','6d89e171cb80a694ae5d2fe7f34f320f','re «t1»','sent',1,0,0,0.0,0.0,0.0,'01m8cadyt9stpd51n9tmv187t0','4','',4,1.79570992624875855445e+09,1,'',1.79570992625723361972e+09);
INSERT INTO "outbox" VALUES('01m8cadyvqv8gqkzpfz9j05xp4','01m8cadyvktsa4pnbdk7c9m7h0','pair:01m8cadyvkrnkfr8gmn2r9tvy9',0,1,1,'notice','272107921ca2d2034a1a08aae69918ee','I talk only to people who were let in. Give this code to the person who runs me; it is good for an hour: `GXLT-PPHC`','sent',1,0,0,0.0,0.0,0.0,'','2','',2,1.79570992626336407666e+09,1,'',1.7957099262791721821e+09);
INSERT INTO "outbox" VALUES('01m8cadyvq5h3tpbg5vexe80nx','01m8cadyrc7b703ndg5qzf19sy','pairing:telegram:100:2026-11-26',0,1,1,'notice','9c9e81ba5c12e18290e631abf4226797','telegram `999` “`Ада`” asks to talk to me and was given a code. If you know them, have them tell you the code and enter it with `mnema pair approve CODE` in a terminal, or `/approve CODE` in the page or the terminal chat. I do not tell you of others today; `mnema pair list` shows who waits.','sent',1,0,0,0.0,0.0,0.0,'','5','',5,1.79570992626336407666e+09,1,'',1.7957099262948341369e+09);
INSERT INTO "outbox" VALUES('01m8cadz1e0re1qv0f4by7ay07','01m8cadywrtskrsc16fckbchee','01m8cadywrpav319bm4crrngq8:answer',0,1,1,'final','1c1422630b547715b105f6ffbbcb57bf','re «p1»','sent',1,0,0,315360000.0,2.11106992644907283775e+09,0.0,'01m8cadywrpav319bm4crrngq8','01m8cadz1e0re1qv0f4by7ay07','',2,1.79570992644653654093e+09,1,'',1.79570992645024800305e+09);
INSERT INTO "outbox" VALUES('01m8cae04mdwnggdnjpvxtanrt','01m8cadzwjraxerrqz7kvyt78s','01m8cadzwj4hg1xnfatbk8pr5d:answer',0,1,1,'final','a34a28159c9fa1ef5739f04b669183f5','re «l0»','sent',1,0,0,315360000.0,2.11106992758285403255e+09,0.0,'01m8cadzwj4hg1xnfatbk8pr5d','01m8cae04mdwnggdnjpvxtanrt','',2,1.79570992757233667373e+09,2,'',1.79570992759448623652e+09);
INSERT INTO "outbox" VALUES('01m8cae06k0xp2pdy6c9h6jf2j','01m8cadzwjraxerrqz7kvyt78s','01m8cae05hk4qq9kzzy3srvd26:answer',0,1,1,'final','2b28666899d524b47048960cfc63d5e7','re «l1»','sent',1,0,0,315360000.0,2.11106992763802957528e+09,0.0,'01m8cae05hk4qq9kzzy3srvd26','01m8cae06k0xp2pdy6c9h6jf2j','',4,1.79570992763554596895e+09,2,'',1.79570992763958430286e+09);
INSERT INTO "outbox" VALUES('01m8cae0bzm10n6j0hsm36cdw8','01m8cadzwjraxerrqz7kvyt78s','01m8cae0az8mr7gr5qas8gnva8:answer',0,1,1,'final','cd980745c692859b67705e1f771d0db3','re «l2»','sending',1,0,0,315360000.0,2.1110699278106336593e+09,0.0,'01m8cae0az8mr7gr5qas8gnva8','','',6,1.79570992780742955206e+09,2,'',0.0);
CREATE TABLE person_removal (
	id TEXT NOT NULL, 
	spaces TEXT NOT NULL, 
	parties TEXT NOT NULL, 
	blobs TEXT NOT NULL, 
	receipt TEXT NOT NULL, 
	at DOUBLE NOT NULL, 
	PRIMARY KEY (id)
);
CREATE TABLE prefix_text (
	sha256 TEXT NOT NULL, 
	text TEXT NOT NULL, 
	PRIMARY KEY (sha256)
);
INSERT INTO "prefix_text" VALUES('268df8618177fc1555c69329b15ea9966f9ee57d770b4856c5320a9658868b7e','Your channels: telegram, terminal, web.');
INSERT INTO "prefix_text" VALUES('0b1dd90b1493efbc386f1c22d331eb01a2ed54218a3a082ffffc6f910131aa63','[MEMORY.md: long-term memory, for reference; the newest message wins]
# 长期记忆 · Long-term memory

每个标题下一条一行，可以用任何编辑器修改。
One memory per bullet under each heading; edit it in any editor.

## 偏好 · Preferences

## 项目 · Projects

## 技能 · Skills

## 事实 · Facts

- The gate code is 4711
[End of MEMORY.md]');
INSERT INTO "prefix_text" VALUES('7230f1e394751e6e01e5e9216950561add468334382484dfa39b048e09560dab','[Daily log of 2026-11-26, for reference]
## 16:18 · web garden · turns 1–2

- «g0» the roses want water; I prefer tea. 花园要浇水
- «g1» the roses want water; I prefer tea. 花园要浇水

## 16:18 · web garden · turns 3–5

- «g2» the roses want water; I prefer tea. 花园要浇水
- «g3» the roses want water; I prefer tea. 花园要浇水
- «g4» the roses want water; I prefer tea. 花园要浇水
[End of the daily log]');
INSERT INTO "prefix_text" VALUES('4046c054a1f8f810a2a13e72f4745b1684747a0be25d6ad333b36d2a17f95426','[Daily log of 2026-11-26, for reference]
## 16:18 · web garden · turns 1–2

- «g0» the roses want water; I prefer tea. 花园要浇水
- «g1» the roses want water; I prefer tea. 花园要浇水

## 16:18 · web garden · turns 3–5

- «g2» the roses want water; I prefer tea. 花园要浇水
- «g3» the roses want water; I prefer tea. 花园要浇水
- «g4» the roses want water; I prefer tea. 花园要浇水

## 16:18 · web new · turns 1–1

- «n0» what do you make of it?
[End of the daily log]');
CREATE TABLE probe (
	id TEXT NOT NULL, 
	padding TEXT NOT NULL, 
	PRIMARY KEY (id)
);
CREATE TABLE process (
	lease INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	until DOUBLE NOT NULL, 
	told TEXT NOT NULL, 
	PRIMARY KEY (lease)
);
INSERT INTO "process" VALUES(2,'',1.0e+18,'');
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
INSERT INTO "snapshot" VALUES('01m8cadwjp3yxgwc1kgy330cds','clean:b3c8c71072d8847a3740ba9e4160446e35296c4fa19e6e75cc344829f1b07e8b',1,'01m8cadxtch0hhqg8msx3e9fg3',0,1.79570992531703114512e+09);
INSERT INTO "snapshot" VALUES('01m8cady6b47z6zm3wsy2akjk4','clean:dcaf1a86cae4324bb5d132801a311064c756ad95be959e6a7f3383f19a047fa0',1,'',0,1.79570992560731172564e+09);
INSERT INTO "snapshot" VALUES('01m8cadydazkgnfvgwjpeb0j05','clean:dcaf1a86cae4324bb5d132801a311064c756ad95be959e6a7f3383f19a047fa0',2,'',0,1.79570992595719623567e+09);
INSERT INTO "snapshot" VALUES('01m8cadykaw4z6m0dhk711q4bw','clean:dcaf1a86cae4324bb5d132801a311064c756ad95be959e6a7f3383f19a047fa0',2,'',0,1.79570992611884617802e+09);
INSERT INTO "snapshot" VALUES('01m8cadyrc7b703ndg5qzf19sy','clean:dcaf1a86cae4324bb5d132801a311064c756ad95be959e6a7f3383f19a047fa0',1,'',0,1.79570992618666529653e+09);
INSERT INTO "snapshot" VALUES('01m8cadywrtskrsc16fckbchee','clean:dcaf1a86cae4324bb5d132801a311064c756ad95be959e6a7f3383f19a047fa0',1,'',0,1.79570992643785762787e+09);
INSERT INTO "snapshot" VALUES('01m8cadzwjraxerrqz7kvyt78s','clean:dcaf1a86cae4324bb5d132801a311064c756ad95be959e6a7f3383f19a047fa0',1,'',0,1.79570992755425214767e+09);
INSERT INTO "snapshot" VALUES('01m8cae0936p7wrs6b1xjs7cpa','clean:dcaf1a86cae4324bb5d132801a311064c756ad95be959e6a7f3383f19a047fa0',1,'',0,1.79570992773700761793e+09);
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
INSERT INTO "snapshot_part" VALUES('01m8cadwjp3yxgwc1kgy330cds',0,'awareness','268df8618177fc1555c69329b15ea9966f9ee57d770b4856c5320a9658868b7e','[]');
INSERT INTO "snapshot_part" VALUES('01m8cady6b47z6zm3wsy2akjk4',0,'awareness','268df8618177fc1555c69329b15ea9966f9ee57d770b4856c5320a9658868b7e','[]');
INSERT INTO "snapshot_part" VALUES('01m8cady6b47z6zm3wsy2akjk4',1,'MEMORY.md','0b1dd90b1493efbc386f1c22d331eb01a2ed54218a3a082ffffc6f910131aa63','[]');
INSERT INTO "snapshot_part" VALUES('01m8cady6b47z6zm3wsy2akjk4',2,'log','7230f1e394751e6e01e5e9216950561add468334382484dfa39b048e09560dab','[]');
INSERT INTO "snapshot_part" VALUES('01m8cadydazkgnfvgwjpeb0j05',0,'awareness','268df8618177fc1555c69329b15ea9966f9ee57d770b4856c5320a9658868b7e','[]');
INSERT INTO "snapshot_part" VALUES('01m8cadydazkgnfvgwjpeb0j05',1,'MEMORY.md','0b1dd90b1493efbc386f1c22d331eb01a2ed54218a3a082ffffc6f910131aa63','[]');
INSERT INTO "snapshot_part" VALUES('01m8cadydazkgnfvgwjpeb0j05',2,'log','7230f1e394751e6e01e5e9216950561add468334382484dfa39b048e09560dab','[]');
INSERT INTO "snapshot_part" VALUES('01m8cadykaw4z6m0dhk711q4bw',0,'awareness','268df8618177fc1555c69329b15ea9966f9ee57d770b4856c5320a9658868b7e','[]');
INSERT INTO "snapshot_part" VALUES('01m8cadykaw4z6m0dhk711q4bw',1,'MEMORY.md','0b1dd90b1493efbc386f1c22d331eb01a2ed54218a3a082ffffc6f910131aa63','[]');
INSERT INTO "snapshot_part" VALUES('01m8cadykaw4z6m0dhk711q4bw',2,'log','4046c054a1f8f810a2a13e72f4745b1684747a0be25d6ad333b36d2a17f95426','[]');
INSERT INTO "snapshot_part" VALUES('01m8cadyrc7b703ndg5qzf19sy',0,'awareness','268df8618177fc1555c69329b15ea9966f9ee57d770b4856c5320a9658868b7e','[]');
INSERT INTO "snapshot_part" VALUES('01m8cadyrc7b703ndg5qzf19sy',1,'MEMORY.md','0b1dd90b1493efbc386f1c22d331eb01a2ed54218a3a082ffffc6f910131aa63','[]');
INSERT INTO "snapshot_part" VALUES('01m8cadyrc7b703ndg5qzf19sy',2,'log','4046c054a1f8f810a2a13e72f4745b1684747a0be25d6ad333b36d2a17f95426','[]');
INSERT INTO "snapshot_part" VALUES('01m8cadywrtskrsc16fckbchee',0,'awareness','268df8618177fc1555c69329b15ea9966f9ee57d770b4856c5320a9658868b7e','[]');
INSERT INTO "snapshot_part" VALUES('01m8cadywrtskrsc16fckbchee',1,'MEMORY.md','0b1dd90b1493efbc386f1c22d331eb01a2ed54218a3a082ffffc6f910131aa63','[]');
INSERT INTO "snapshot_part" VALUES('01m8cadywrtskrsc16fckbchee',2,'log','4046c054a1f8f810a2a13e72f4745b1684747a0be25d6ad333b36d2a17f95426','[]');
INSERT INTO "snapshot_part" VALUES('01m8cadzwjraxerrqz7kvyt78s',0,'awareness','268df8618177fc1555c69329b15ea9966f9ee57d770b4856c5320a9658868b7e','[]');
INSERT INTO "snapshot_part" VALUES('01m8cadzwjraxerrqz7kvyt78s',1,'MEMORY.md','0b1dd90b1493efbc386f1c22d331eb01a2ed54218a3a082ffffc6f910131aa63','[]');
INSERT INTO "snapshot_part" VALUES('01m8cadzwjraxerrqz7kvyt78s',2,'log','4046c054a1f8f810a2a13e72f4745b1684747a0be25d6ad333b36d2a17f95426','[]');
INSERT INTO "snapshot_part" VALUES('01m8cae0936p7wrs6b1xjs7cpa',0,'awareness','268df8618177fc1555c69329b15ea9966f9ee57d770b4856c5320a9658868b7e','[]');
INSERT INTO "snapshot_part" VALUES('01m8cae0936p7wrs6b1xjs7cpa',1,'MEMORY.md','0b1dd90b1493efbc386f1c22d331eb01a2ed54218a3a082ffffc6f910131aa63','[]');
INSERT INTO "snapshot_part" VALUES('01m8cae0936p7wrs6b1xjs7cpa',2,'log','4046c054a1f8f810a2a13e72f4745b1684747a0be25d6ad333b36d2a17f95426','[]');
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
INSERT INTO "tool_call" VALUES('01m8cadxyg79ntgx0twe1gchfy','01m8cadxx1nqth9fesenkmt6hv',0,'call_g5','write_file','{"path": "notes/roses.md", "content": "water on Mondays"}','idempotent','3d274548a1dac9ae962e0384b49d64c6','done',1,'01m8cadxz16c7qbfhwm1897jxc');
INSERT INTO "tool_call" VALUES('01m8cae0a1dqp6segx3hpmkp8f','01m8cae096w2fnery3dq4m9jd3',0,'call_x1','write_file','{"path": "notes/x.md", "content": "x"}','idempotent','2102c07bb2a707a7e5c2d50341bdbfba','started',1,'');
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
	who TEXT DEFAULT '' NOT NULL, 
	asked DOUBLE DEFAULT '0' NOT NULL, 
	PRIMARY KEY (id), 
	CONSTRAINT turn_number UNIQUE (conversation, number), 
	FOREIGN KEY(conversation) REFERENCES conversation (id)
);
INSERT INTO "turn" VALUES('01m8cadwkw9qtxsv8k5anvs420','01m8cadwjp3yxgwc1kgy330cds',1,1,'01m8cadwjpbvc0n2dc99qzfptr','owner','done',0,0,'01m8cadwjprfb3te6ezk7gsdjk',1,1,1.79570992396481060983e+09,1.79570992501737952229e+09,'owner',1.79570992392610287663e+09);
INSERT INTO "turn" VALUES('01m8cadxnvahe2wt9rcr385t1x','01m8cadwjp3yxgwc1kgy330cds',2,1,'01m8cadxnqkest613p5j8nvzgz','owner','done',0,0,'01m8cadxnqfkf817vgt8pjr0sb',3,1,1.7957099250514695644e+09,1.79570992506790542606e+09,'owner',1.79570992504790306098e+09);
INSERT INTO "turn" VALUES('01m8cadxpxw3hx101xrgz197cz','01m8cadwjp3yxgwc1kgy330cds',3,1,'01m8cadxptf6y7tjgmd066d2wx','owner','done',0,0,'01m8cadxpt37qwdd84y4107wm6',5,1,1.79570992508594298362e+09,1.79570992510172128676e+09,'owner',1.795709925082474947e+09);
INSERT INTO "turn" VALUES('01m8cadxr13z9fgsgs7mxvv761','01m8cadwjp3yxgwc1kgy330cds',4,1,'01m8cadxqxd276qa0r0pt5n3pa','owner','done',0,0,'01m8cadxqxtg4ggehmvmw7ppw1',7,1,1.79570992512128162384e+09,1.79570992513689827916e+09,'owner',1.79570992511791348452e+09);
INSERT INTO "turn" VALUES('01m8cadxs28b1xkpkzyv9mn0xf','01m8cadwjp3yxgwc1kgy330cds',5,1,'01m8cadxrz6dt9vj1em1brgm6w','owner','done',0,0,'01m8cadxrzk2pwvdxey7z7875q',9,1,1.79570992515478730202e+09,1.79570992517155146594e+09,'owner',1.79570992515165472032e+09);
INSERT INTO "turn" VALUES('01m8cadxx1nqth9fesenkmt6hv','01m8cadwjp3yxgwc1kgy330cds',6,1,'01m8cadxwxd232f4dnf0tbnzw6','owner','done',1,0,'01m8cadxwxs96d6rt14hh1b0fh',11,1,1.7957099252813944817e+09,1.79570992535706019403e+09,'owner',1.79570992527773594859e+09);
INSERT INTO "turn" VALUES('01m8cadxzvbta9dsfaybvgfbyh','01m8cadwjp3yxgwc1kgy330cds',7,1,'01m8cadxzr405ncadzeqx50jrr','owner','done',0,0,'01m8cadxzrtzk6x2nazn23mkvv',15,1,1.79570992537171196935e+09,1.79570992538950705529e+09,'owner',1.79570992536812901498e+09);
INSERT INTO "turn" VALUES('01m8cady0z3an0ae0052bs0zqb','01m8cadwjp3yxgwc1kgy330cds',8,1,'01m8cady0wv97rr4k3tjqe6ve8','owner','done',0,0,'01m8cady0wq6r44512mpcx8x51',17,1,1.79570992540778207775e+09,1.7957099254263067245e+09,'owner',1.79570992540434122087e+09);
INSERT INTO "turn" VALUES('01m8cady24mn4pft3yjbzbmk25','01m8cadwjp3yxgwc1kgy330cds',9,1,'01m8cady20ebatxd6makkkgrem','owner','done',0,0,'01m8cady20zvrjz5dzjxa2e8pt',19,1,1.79570992544408941267e+09,1.79570992546203088762e+09,'owner',1.79570992544074368481e+09);
INSERT INTO "turn" VALUES('01m8cady6f28ej7h2byeamnztg','01m8cady6b47z6zm3wsy2akjk4',1,1,'01m8cady6bhjktb9w8hs2w5r2y','owner','done',0,0,'01m8cady6bs7dj4bpt6a31p4xq',1,1,1.79570992558311247821e+09,1.79570992561598038669e+09,'owner',1.79570992557973456386e+09);
INSERT INTO "turn" VALUES('01m8cady8cbfhqkj50jxyb63zf','01m8cady6b47z6zm3wsy2akjk4',2,1,'01m8cady8897mnjv4y5cd6qb0t','owner','done',0,0,'01m8cady88wjxxkax0hc2khmrs',3,1,1.79570992564422607417e+09,1.79570992566344714161e+09,'owner',1.79570992564085888864e+09);
INSERT INTO "turn" VALUES('01m8cady9dpd0qnmsrft6tg7gx','01m8cady6b47z6zm3wsy2akjk4',3,1,'01m8cady9a3gwx5tf5pr0zz1d9','owner','done',0,0,'01m8cady9a9zeeebe0jqz0eza7',5,1,1.79570992567734932896e+09,1.795709925697978735e+09,'owner',1.79570992567426586158e+09);
INSERT INTO "turn" VALUES('01m8cadyddk9vxfsend8g03s2h','01m8cadydazkgnfvgwjpeb0j05',1,1,'01m8cadyda90yzpm8d4wmnc9yf','owner','done',0,0,'01m8cadydafx1f33j3dtjydyax',1,1,1.79570992580522465703e+09,1.79570992583567857741e+09,'owner',1.7957099258020472526e+09);
INSERT INTO "turn" VALUES('01m8cadyfbtqa4x79yet7q1pvm','01m8cadydazkgnfvgwjpeb0j05',2,1,'01m8cadyf7ecsmg5a1m550kfvp','owner','done',0,0,'01m8cadyf7e7awd791j94wft8q',3,1,1.79570992586709308625e+09,1.79570992588932347292e+09,'owner',1.79570992586394715308e+09);
INSERT INTO "turn" VALUES('01m8cadyhhb52v7nq4c4dk6kap','01m8cadydazkgnfvgwjpeb0j05',3,2,'01m8cadyhddkg30nkjt9rwky01','owner','done',0,0,'01m8cadyhdwbkd6zbscm3dcyab',5,1,1.79570992593702340126e+09,1.7957099259664008618e+09,'owner',1.79570992593383336067e+09);
INSERT INTO "turn" VALUES('01m8cadykdfjrsjddgc4xhv5qe','01m8cadykaw4z6m0dhk711q4bw',1,1,'01m8cadyka33n0r4zrgb4f1743','owner','done',0,0,'01m8cadyka8m0d0z950ykrb5v3',1,1,1.79570992599743652342e+09,1.79570992603006291386e+09,'owner',1.79570992599446272851e+09);
INSERT INTO "turn" VALUES('01m8cadypdjhj25xbx8c04xnwt','01m8cadykaw4z6m0dhk711q4bw',2,2,'01m8cadypaxsskmtsmkehvr570','owner','done',0,0,'01m8cadyparfbqzktn1jm6pep6',3,1,1.79570992609322714799e+09,1.79570992612948417662e+09,'owner',1.79570992609071707728e+09);
INSERT INTO "turn" VALUES('01m8cadyrjvz6xzvheqa5bm13n','01m8cadyrc7b703ndg5qzf19sy',1,1,'01m8cadyrc8ddzm5956yzc40bz','5005','done',0,0,'01m8cadyrcmfax55eng5262wva',1,1,1.79570992616278910644e+09,1.79570992619745659828e+09,'owner',1.79570992615625238419e+09);
INSERT INTO "turn" VALUES('01m8cadyte2jefcj269v3x399y','01m8cadyrc7b703ndg5qzf19sy',2,1,'01m8cadyt9stpd51n9tmv187t0','5005','done',0,0,'01m8cadyt9g6nm1139c8etpryn',3,1,1.79570992622261810297e+09,1.79570992624875855445e+09,'owner',1.79570992621735239032e+09);
INSERT INTO "turn" VALUES('01m8cadz0rzd1yjwk1ak00a07j','01m8cadywrtskrsc16fckbchee',1,1,'01m8cadywrpav319bm4crrngq8','owner','done',0,0,'01m8cadywrn5pvf21086qysgkf',1,1,1.79570992642495155331e+09,1.79570992644653654093e+09,'owner',1.79570992629606556887e+09);
INSERT INTO "turn" VALUES('01m8cadzxf5wm3cg798edvv05g','01m8cadzwjraxerrqz7kvyt78s',1,1,'01m8cadzwj4hg1xnfatbk8pr5d','owner','done',0,0,'01m8cadzwjnvxywwyqdjc3s0r2',1,2,1.79570992734310650828e+09,1.79570992757233667373e+09,'owner',1.79570992731441402435e+09);
INSERT INTO "turn" VALUES('01m8cae05mhrgxgvq8fr59nwf8','01m8cadzwjraxerrqz7kvyt78s',2,1,'01m8cae05hk4qq9kzzy3srvd26','owner','done',0,0,'01m8cae05h6p73dm6b5ryrn8p2',3,2,1.79570992760478377343e+09,1.79570992763554596895e+09,'owner',1.79570992760147786137e+09);
INSERT INTO "turn" VALUES('01m8cae096w2fnery3dq4m9jd3','01m8cae0936p7wrs6b1xjs7cpa',1,1,'01m8cae0939vawm4zw41k2p7r4','owner','waiting',1,0,'01m8cae093g3qagjzscywdtcfr',1,2,1.79570992771861982348e+09,0.0,'owner',1.7957099277152886391e+09);
INSERT INTO "turn" VALUES('01m8cae0b21bqktkbbhjq7s6ha','01m8cadzwjraxerrqz7kvyt78s',3,1,'01m8cae0az8mr7gr5qas8gnva8','owner','done',0,0,'01m8cae0azgqtmm7vfrxscptd1',5,2,1.79570992777882957455e+09,1.79570992780742955206e+09,'owner',1.79570992777596235277e+09);
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
	who TEXT DEFAULT '' NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(conversation) REFERENCES conversation (id)
);
INSERT INTO "usage" VALUES('01m8cadxmsrvqmam3qsazad9mx','01m8cadwjp3yxgwc1kgy330cds','01m8cadwkw9qtxsv8k5anvs420','gpt-6.1-terra','turn',2281,3,0,0,0,1.79570992501737952229e+09,'owner');
INSERT INTO "usage" VALUES('01m8cadxpb5pc1fj2whd5jhj2z','01m8cadwjp3yxgwc1kgy330cds','01m8cadxnvahe2wt9rcr385t1x','gpt-6.1-terra','turn',2322,3,0,0,0,1.79570992506790542606e+09,'owner');
INSERT INTO "usage" VALUES('01m8cadxqdbh22dvmqd1psjwm6','01m8cadwjp3yxgwc1kgy330cds','01m8cadxpxw3hx101xrgz197cz','gpt-6.1-terra','turn',2356,3,0,0,0,1.79570992510172128676e+09,'owner');
INSERT INTO "usage" VALUES('01m8cadxrgbrxexwk2js49erdw','01m8cadwjp3yxgwc1kgy330cds','01m8cadxr13z9fgsgs7mxvv761','gpt-6.1-terra','turn',2391,3,0,0,0,1.79570992513689827916e+09,'owner');
INSERT INTO "usage" VALUES('01m8cadxskncsq8tbgrbbms9xq','01m8cadwjp3yxgwc1kgy330cds','01m8cadxs28b1xkpkzyv9mn0xf','gpt-6.1-terra','turn',2425,3,0,0,0,1.79570992517155146594e+09,'owner');
INSERT INTO "usage" VALUES('01m8cadxv01hsenh9450p68hjj','01m8cadwjp3yxgwc1kgy330cds','','gpt-6-luna','fold',651,72,0,0,0,1.7957099252168521881e+09,'owner');
INSERT INTO "usage" VALUES('01m8cadxygsg3nr8m00ryq2zpp','01m8cadwjp3yxgwc1kgy330cds','01m8cadxx1nqth9fesenkmt6hv','gpt-6.1-terra','turn',2458,19,0,0,0,1.79570992532831931118e+09,'owner');
INSERT INTO "usage" VALUES('01m8cadxzddwg02dh669x931z2','01m8cadwjp3yxgwc1kgy330cds','01m8cadxx1nqth9fesenkmt6hv','gpt-6.1-terra','turn',2542,3,0,0,0,1.79570992535706019403e+09,'owner');
INSERT INTO "usage" VALUES('01m8cady0d7rpa2yv2db6genm5','01m8cadwjp3yxgwc1kgy330cds','01m8cadxzvbta9dsfaybvgfbyh','gpt-6.1-terra','turn',2569,3,0,0,0,1.79570992538950705529e+09,'owner');
INSERT INTO "usage" VALUES('01m8cady1j6a0y8ppcjgwhysj6','01m8cadwjp3yxgwc1kgy330cds','01m8cady0z3an0ae0052bs0zqb','gpt-6.1-terra','turn',2597,3,0,0,0,1.7957099254263067245e+09,'owner');
INSERT INTO "usage" VALUES('01m8cady2pthqqxx3ygw1cwcgw','01m8cadwjp3yxgwc1kgy330cds','01m8cady24mn4pft3yjbzbmk25','gpt-6.1-terra','turn',2624,3,0,0,0,1.79570992546203088762e+09,'owner');
INSERT INTO "usage" VALUES('01m8cady3x95r2df0kw7tasjm6','01m8cadwjp3yxgwc1kgy330cds','','gpt-6-luna','fold',723,103,0,0,0,1.79570992550122213366e+09,'owner');
INSERT INTO "usage" VALUES('01m8cady7f6w7rmpf97vc1p7dx','01m8cady6b47z6zm3wsy2akjk4','01m8cady6f28ej7h2byeamnztg','gpt-6.1-terra','turn',2617,3,0,0,0,1.79570992561598038669e+09,'owner');
INSERT INTO "usage" VALUES('01m8cady8z9n0nentmn10r8cb4','01m8cady6b47z6zm3wsy2akjk4','01m8cady8cbfhqkj50jxyb63zf','gpt-6.1-terra','turn',2651,3,0,0,0,1.79570992566344714161e+09,'owner');
INSERT INTO "usage" VALUES('01m8cadya1ttspnjawyw6we8c5','01m8cady6b47z6zm3wsy2akjk4','01m8cady9dpd0qnmsrft6tg7gx','gpt-6.1-terra','turn',2678,3,0,0,0,1.795709925697978735e+09,'owner');
INSERT INTO "usage" VALUES('01m8cadyaw7m6fe8xtgcfjewjt','01m8cady6b47z6zm3wsy2akjk4','','gpt-6-luna','fold',613,27,0,0,0,1.79570992572469186783e+09,'owner');
INSERT INTO "usage" VALUES('01m8cadyebj8kv3rcfvc8zt4hr','01m8cadydazkgnfvgwjpeb0j05','01m8cadyddk9vxfsend8g03s2h','gpt-6.1-terra','turn',2628,3,0,0,0,1.79570992583567857741e+09,'owner');
INSERT INTO "usage" VALUES('01m8cadyg1ppzcfen22nkaanar','01m8cadydazkgnfvgwjpeb0j05','01m8cadyfbtqa4x79yet7q1pvm','gpt-6.1-terra','turn',2662,3,0,0,0,1.79570992588932347292e+09,'owner');
INSERT INTO "usage" VALUES('01m8cadyjehbgkb9w7wxvjw399','01m8cadydazkgnfvgwjpeb0j05','01m8cadyhhb52v7nq4c4dk6kap','gpt-6.1-terra','turn',2628,3,0,0,0,1.7957099259664008618e+09,'owner');
INSERT INTO "usage" VALUES('01m8cadymex2xazh4q7jtf37q1','01m8cadykaw4z6m0dhk711q4bw','01m8cadykdfjrsjddgc4xhv5qe','gpt-6.1-terra','turn',2628,3,0,0,0,1.79570992603006291386e+09,'owner');
INSERT INTO "usage" VALUES('01m8cadyntmces98r9eg4ehn1b','01m8cadykaw4z6m0dhk711q4bw','','gpt-6-luna','fold',335,27,0,0,0,1.7957099260743248463e+09,'owner');
INSERT INTO "usage" VALUES('01m8cadyqhsvgw1dets65s0a91','01m8cadykaw4z6m0dhk711q4bw','01m8cadypdjhj25xbx8c04xnwt','gpt-6.1-terra','turn',2646,3,0,0,0,1.79570992612948417662e+09,'owner');
INSERT INTO "usage" VALUES('01m8cadysnpctvwrh807rd9mpe','01m8cadyrc7b703ndg5qzf19sy','01m8cadyrjvz6xzvheqa5bm13n','gpt-6.1-terra','turn',2646,3,0,0,0,1.79570992619745659828e+09,'owner');
INSERT INTO "usage" VALUES('01m8cadyv8fd9ds95pvs2nrxgt','01m8cadyrc7b703ndg5qzf19sy','01m8cadyte2jefcj269v3x399y','gpt-6.1-terra','turn',2680,3,0,0,0,1.79570992624875855445e+09,'owner');
INSERT INTO "usage" VALUES('01m8cadz1e4mbgzrmp72qx8zfc','01m8cadywrtskrsc16fckbchee','01m8cadz0rzd1yjwk1ak00a07j','gpt-6.1-terra','turn',2701,3,0,0,0,1.79570992644653654093e+09,'owner');
INSERT INTO "usage" VALUES('01m8cadzkzjsaxm2v3669way51','01m8cadwjp3yxgwc1kgy330cds','','gpt-6-luna','extract',662,1,0,0,0,1.79570992703961825366e+09,'owner');
INSERT INTO "usage" VALUES('01m8cadzm9y53z8v640mvcghj6','01m8cadwjp3yxgwc1kgy330cds','','gpt-6-luna','extract',613,1,0,0,0,1.79570992704954862598e+09,'owner');
INSERT INTO "usage" VALUES('01m8cadzmj6p5bxj6c1xg9ft4g','01m8cadykaw4z6m0dhk711q4bw','','gpt-6-luna','extract',499,1,0,0,0,1.79570992705869317057e+09,'owner');
INSERT INTO "usage" VALUES('01m8cae04m0dnrh2a0d4cf8nn2','01m8cadzwjraxerrqz7kvyt78s','01m8cadzxf5wm3cg798edvv05g','gpt-6.1-terra','turn',2646,3,0,0,0,1.79570992757233667373e+09,'owner');
INSERT INTO "usage" VALUES('01m8cae06k1cvkqrk8jzsmb22k','01m8cadzwjraxerrqz7kvyt78s','01m8cae05mhrgxgvq8fr59nwf8','gpt-6.1-terra','turn',2680,3,0,0,0,1.79570992763554596895e+09,'owner');
INSERT INTO "usage" VALUES('01m8cae08cahf6hhhtxh51hp57','01m8cady6b47z6zm3wsy2akjk4','','gpt-6-luna','fold',613,27,0,0,0,1.79570992769293475148e+09,'owner');
INSERT INTO "usage" VALUES('01m8cae0a1qnrw367ee3epk9vv','01m8cae0936p7wrs6b1xjs7cpa','01m8cae096w2fnery3dq4m9jd3','gpt-6.1-terra','turn',2630,14,0,0,0,1.79570992774560666085e+09,'owner');
INSERT INTO "usage" VALUES('01m8cae0bz41z448gv74qvd4fm','01m8cadzwjraxerrqz7kvyt78s','01m8cae0b21bqktkbbhjq7s6ha','gpt-6.1-terra','turn',2708,3,0,0,0,1.79570992780742955206e+09,'owner');
CREATE INDEX access_request_at ON access_request (channel, account, at);
CREATE INDEX access_request_code ON access_request (code_sha256);
CREATE INDEX account_link_space ON account_link (space);
CREATE INDEX approval_person ON approval (channel, subject_id);
CREATE INDEX background_task_child ON background_task (child);
CREATE INDEX background_task_open ON background_task (conversation) WHERE state = 'running';
CREATE INDEX conversation_space ON conversation (space);
CREATE INDEX conversation_updated ON conversation (updated);
CREATE INDEX coverage_fold ON coverage (fold_id);
CREATE INDEX extraction_open ON extraction (space) WHERE state = 'queued' OR state = 'found';
CREATE INDEX file_version_path ON file_version (space, path, at);
CREATE INDEX file_version_pending ON file_version (at) WHERE pending != '';
CREATE INDEX forgetting_open ON forgetting (space) WHERE state = 'asked' OR state = 'confirmed' OR state = 'removed';
CREATE INDEX heartbeat_space ON heartbeat (space, at);
CREATE INDEX job_due ON job (next_at) WHERE state = 'on';
CREATE INDEX job_person ON job (channel, person);
CREATE INDEX job_setting_space ON job_setting (space);
CREATE INDEX link_code_sha256 ON link_code (code_sha256);
CREATE INDEX memory_line ON memory (space, norm, state);
CREATE UNIQUE INDEX memory_norm ON memory (space, norm) WHERE state = 'live';
CREATE INDEX memory_space ON memory (space, state);
CREATE INDEX memory_change_space ON memory_change (space, at);
CREATE INDEX occurrence_running ON occurrence (job) WHERE state = 'run';
CREATE INDEX occurrence_space ON occurrence (space);
CREATE INDEX fold_conversation ON fold (conversation, at);
CREATE UNIQUE INDEX fold_open ON fold (conversation) WHERE (state = 'planned' OR state = 'summarised' OR state = 'checked' OR state = 'logged') AND log_only IS 0;
CREATE UNIQUE INDEX fold_range ON fold (conversation, from_seq) WHERE state = 'folded' AND log_only IS 0;
CREATE INDEX inbox_aside ON inbox (conversation, state, line) WHERE state = 'aside';
CREATE INDEX inbox_line ON inbox (conversation, line);
CREATE INDEX inbox_open ON inbox (conversation) WHERE state = 'new' OR state = 'running';
CREATE INDEX message_space ON message (space, at);
CREATE INDEX outbox_line ON outbox (conversation, line);
CREATE INDEX outbox_open ON outbox (conversation, line, part_no) WHERE state = 'pending' OR state = 'sending' OR state = 'unknown';
CREATE UNIQUE INDEX outbox_sending ON outbox (conversation) WHERE state = 'sending';
CREATE INDEX snapshot_part_text ON snapshot_part (sha256);
CREATE INDEX turn_first_seq ON turn (conversation, first_seq);
CREATE UNIQUE INDEX turn_open ON turn (conversation) WHERE state = 'running' OR state = 'waiting';
CREATE INDEX turn_started ON turn (started, who);
CREATE INDEX turn_who ON turn (who, asked);
CREATE INDEX usage_at ON usage (at);
CREATE INDEX usage_conversation ON usage (conversation, at);
CREATE INDEX usage_who ON usage (who, at);
CREATE INDEX reduction_conversation ON reduction (conversation);
CREATE INDEX tool_call_started ON tool_call (turn_id) WHERE state = 'started';
CREATE TRIGGER message_kept_as_is BEFORE UPDATE ON message WHEN NOT EXISTS (SELECT 1 FROM removal WHERE conversation = OLD.conversation) BEGIN SELECT RAISE(ABORT, 'messages are never changed'); END;
CREATE TRIGGER message_kept BEFORE DELETE ON message WHEN NOT EXISTS (SELECT 1 FROM removal WHERE conversation = OLD.conversation) BEGIN SELECT RAISE(ABORT, 'messages are never deleted'); END;
INSERT INTO "access_grant" VALUES('telegram','100','person','5006','','user','Bo','owner',1795000000.0);
INSERT INTO "account_link" VALUES('p-joined','','telegram','100','5006',1795000000.0);
INSERT INTO "approval" VALUES('a1','telegram','100','5005','01m8cadwjp3yxgwc1kgy330cds','','c1','file.write','write_file','{"path":"n.md"}','0','0','0','used',1795000000.0,1795000000.0);
INSERT INTO "approval_rule" VALUES('x1','',1,'telegram','100','5006','exec','git status','','A',1795000000.0,1795000000.0);
INSERT INTO "background_task" VALUES('x1','',1,'agent','01m8cadwjp3yxgwc1kgy330cds','',1,'','telegram','100','5006','look','','done',1,'Found 2 places.',1,1,1795000000.0,1795000000.0);
INSERT INTO "channel_note" VALUES('x','odd','引号 
	\ \N 😀');
INSERT INTO "dream" VALUES('d1','','2026-11-20','done','','Merged nothing.','',1795000000.0);
INSERT INTO "file_label" VALUES('','notes/x.md',1.5);
INSERT INTO "file_version" VALUES('v','','notes/x.md','',0,'','c',1.5);
INSERT INTO "forgetting" VALUES('f1','','01m8cadwjp3yxgwc1kgy330cds','owner','done','','{}','Removed from 2 places.',1795000000.0,1795000000.0);
INSERT INTO "heartbeat" VALUES('x1','','silent','','','same inputs',5,1795000000.0);
INSERT INTO "job" VALUES('j','',1,'01m8cadwjp3yxgwc1kgy330cds','web','local','o','say','water','{}',1000000000.0,0,0,'n','on','',1.5,'0','0','','0');
INSERT INTO "job_setting" VALUES('telegram','100','5006','','Asia/Shanghai','22:30-07:30');
INSERT INTO "limit_told" VALUES('web:1','01m8cadwjp3yxgwc1kgy330cds','messages',1000000000.0);
INSERT INTO "link_code" VALUES('l1','0','agreed','telegram','100','5006','','01m8cadwjp3yxgwc1kgy330cds','telegram','100','5006','Ada','p-joined','01m85dfkgc5cz1azac24fastfz',1795000000.0,1795000000.0);
INSERT INTO "mcp_server" VALUES('files','aa','legacy',1.5);
INSERT INTO "mcp_tool" VALUES('files','read','Read.','{}',1,'aa',1,'ask','pure','aa','',0);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra',0.9939,13,0.43);
INSERT INTO "occurrence" VALUES('x','j',1.5,'told','','',1.5,'');
INSERT INTO "person_removal" VALUES('p','[]','[]','[]','{}',1.5);
INSERT INTO "reduction" VALUES('01m8cadwjpbvc0n2dc99qzfptr',0,'snip','01m8cadwjp3yxgwc1kgy330cds','re … g0',3,'size',1);
COMMIT;
