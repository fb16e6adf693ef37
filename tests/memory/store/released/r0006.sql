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
INSERT INTO "access_grant" VALUES('telegram','100','person','5006','','user','Bo','owner',1795000000.0);
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
INSERT INTO "access_request" VALUES('01m81srtz5kv7c972z71wjs56f','telegram','100','user','999','Ада','01m81srtz0r96qp49hb53kbz8z','en','cfa5ae8eea96db546badc832205f0555483290599beeea11f9aeff70e50ad506','pending',1.79536051261341595645e+09,1.79535691261365723614e+09);
CREATE TABLE account_link (
	own_space TEXT NOT NULL, 
	space TEXT NOT NULL, 
	channel TEXT NOT NULL, 
	account TEXT NOT NULL, 
	sender_id TEXT NOT NULL, 
	at DOUBLE NOT NULL, 
	PRIMARY KEY (own_space)
);
INSERT INTO "account_link" VALUES('p-joined','','telegram','100','5006',1795000000.0);
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('r0006');
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
INSERT INTO "approval" VALUES('a1','telegram','100','5005','01m81srmnzkwkhta8gkxb6p0k7','','c1','file.write','write_file','{"path":"n.md"}','0','0','0','used',1795000000.0,1795000000.0);
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
INSERT INTO "audit" VALUES(1,1.79535690913348913192e+09,'','memory.extract','','','allowed','+1 -0','','6a7989c652dc7b708fad513db555fd2258fb43079a9ec6a6207d43af2f9520e1');
INSERT INTO "audit" VALUES(2,1.79535690950978493686e+09,'','memory.extract','','','allowed','+1 -0','6a7989c652dc7b708fad513db555fd2258fb43079a9ec6a6207d43af2f9520e1','28393b4480db5f1516f05c4aae64ac136f7a73a1b211403a62415c12391870ed');
INSERT INTO "audit" VALUES(3,1.79535690959224915504e+09,'','memory.extract','','','allowed','+1 -0','28393b4480db5f1516f05c4aae64ac136f7a73a1b211403a62415c12391870ed','4aec27e08b800d1f3b02b665b8e3ca6d8560c64c5da4ddeb049fa8950eb55e71');
INSERT INTO "audit" VALUES(4,1.79535690984486699106e+09,'','memory.extract','','','allowed','+1 -0','4aec27e08b800d1f3b02b665b8e3ca6d8560c64c5da4ddeb049fa8950eb55e71','88427b23392fd7659d9efbbebbdef583d679a009367edca9ff2f869b21e86bce');
INSERT INTO "audit" VALUES(5,1.79535691007883810993e+09,'','memory.extract','','','allowed','+1 -0','88427b23392fd7659d9efbbebbdef583d679a009367edca9ff2f869b21e86bce','31a1e74e4bb09e0c4f007829b0654095325348129576cf82703859bb2330beb8');
INSERT INTO "audit" VALUES(6,1.79535691146702361103e+09,'','clear','01m81srsqz0hk766vcv32v03fn','','allowed','epoch 2','31a1e74e4bb09e0c4f007829b0654095325348129576cf82703859bb2330beb8','7b4fa9b3519b3fcb6df6cfa59f4fc0f943ff4f765eed0ac7ef5b5800c315bb10');
INSERT INTO "audit" VALUES(7,1.79535691178509235381e+09,'','clear','01m81srszg344etyekmwhm0acx','','allowed','epoch 2','7b4fa9b3519b3fcb6df6cfa59f4fc0f943ff4f765eed0ac7ef5b5800c315bb10','9eb8f59e9688f4414e5c13c1fdeeba91ee3b5ec0194a040d05ce9e354c2e0cb4');
INSERT INTO "audit" VALUES(8,1795356912.21959,'','memory.remember','','','allowed','+1 -0','9eb8f59e9688f4414e5c13c1fdeeba91ee3b5ec0194a040d05ce9e354c2e0cb4','a3182be81ce2ca0d550f69a2542558a1dffd0c5f82fe57bb8dd4e5fcc109fc7c');
INSERT INTO "audit" VALUES(9,1.79535691243980741497e+09,'','memory.extract','','','allowed','+1 -0','a3182be81ce2ca0d550f69a2542558a1dffd0c5f82fe57bb8dd4e5fcc109fc7c','5bdc689e939feb47a9e81a0f51f2d9859cb3679327aabce6a531dc94ef6402ae');
INSERT INTO "audit" VALUES(10,1.79535691261365723614e+09,'telegram/100/999','user asks','telegram/100/999','','allowed','pending','5bdc689e939feb47a9e81a0f51f2d9859cb3679327aabce6a531dc94ef6402ae','81f1f5ae481f28613b43d4cfa099992405cfab9f73c15629f641529dee816d5e');
CREATE TABLE channel_note (
	channel TEXT NOT NULL, 
	name TEXT NOT NULL, 
	value TEXT NOT NULL, 
	PRIMARY KEY (channel, name)
);
INSERT INTO "channel_note" VALUES('wechat','cursor','eyJhIjoxfQ==');
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
INSERT INTO "clearing" VALUES('01m81srsqz0hk766vcv32v03fn',2,1,'',0,1.79535691146702361103e+09);
INSERT INTO "clearing" VALUES('01m81srszg344etyekmwhm0acx',2,1,'',0,1.79535691178509235381e+09);
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
INSERT INTO "conversation" VALUES('01m81srmnzkwkhta8gkxb6p0k7','web','console','garden','','dm','',1,23,11,27,1,'01m81srs27bwganvvzapnwskr8','','',5,'ea20ea239f437c382bf68dc84828721e9c531c5df3a650114017428530741bd1','fold',1,'«g0» the roses want water; I prefer tea. 花园要浇水',1.79535691226828432085e+09,1795356912.3707);
INSERT INTO "conversation" VALUES('01m81srs7x5rr8swz4ee33hreh','web','console','work','','dm','',1,7,4,12,1,'','','',2,'ea20ea239f437c382bf68dc84828721e9c531c5df3a650114017428530741bd1','fold undone',1,'«w0» what do you make of it?',1.79535691973558092114e+09,1.79535691973558092114e+09);
INSERT INTO "conversation" VALUES('01m81srsqz0hk766vcv32v03fn','web','console','old','','dm','',2,7,4,9,5,'','','',1,'ea20ea239f437c382bf68dc84828721e9c531c5df3a650114017428530741bd1','clear',1,'«o0» what do you make of it?',1.79535691149570274358e+09,1.79535691153351068495e+09);
INSERT INTO "conversation" VALUES('01m81srszg344etyekmwhm0acx','web','console','new','','dm','',2,5,3,7,3,'','','',1,'ea20ea239f437c382bf68dc84828721e9c531c5df3a650114017428530741bd1','clear',1,'«n0» what do you make of it?',1.79535691186050534251e+09,1.79535691195514345171e+09);
INSERT INTO "conversation" VALUES('01m81srtrdgt7rztmsmrheed9v','telegram','100','5005','','dm','',1,5,3,6,1,'','','',0,'ea20ea239f437c382bf68dc84828721e9c531c5df3a650114017428530741bd1','SOUL.md, tools or model',1,'«t0» what do you make of it?',1.79535691250198388099e+09,1.79535691261365723614e+09);
INSERT INTO "conversation" VALUES('01m81srtz0r96qp49hb53kbz8z','telegram','100','999','','dm','telegram-999',1,1,1,3,1,'','','',0,'','',0,'',0.0,1.79535691261365723614e+09);
INSERT INTO "conversation" VALUES('01m81srwj8cc5sv4zfp7xrbq33','web','console','picture','','dm','',1,3,2,3,1,'','','',0,'ea20ea239f437c382bf68dc84828721e9c531c5df3a650114017428530741bd1','SOUL.md, tools or model',1,'«p1» what do you make of it? 📎 dot.png',1.79535691424866509441e+09,1.7953569151426954269e+09);
INSERT INTO "conversation" VALUES('01m81ss0jrx6phdkn7pw31c5vf','web','console','late','','dm','',1,7,4,7,1,'','','',0,'ea20ea239f437c382bf68dc84828721e9c531c5df3a650114017428530741bd1','SOUL.md, tools or model',1,'«l0» what do you make of it?',1.79535692179680180556e+09,1.79535692182936191555e+09);
INSERT INTO "conversation" VALUES('01m81ss2x9dgq4qphpdzn86vbb','web','console','tool','','dm','',1,3,2,3,1,'','','',0,'ea20ea239f437c382bf68dc84828721e9c531c5df3a650114017428530741bd1','SOUL.md, tools or model',1,'«x1» use write_file {"path": "notes/x.md", "content": "x"}',1.79535692178369069103e+09,1.79535692178369069103e+09);
CREATE TABLE coverage (
	message_id TEXT NOT NULL, 
	class TEXT NOT NULL, 
	fold_id TEXT NOT NULL, 
	PRIMARY KEY (message_id)
);
INSERT INTO "coverage" VALUES('01m81srmnzt2s3mam18rrs4ss2','folded','01m81srrb0y09ters1em86v3ty');
INSERT INTO "coverage" VALUES('01m81srqd5h0f4yb26ev3pdneh','folded','01m81srrb0y09ters1em86v3ty');
INSERT INTO "coverage" VALUES('01m81srqea6fkfh70mnesnqsc9','folded','01m81srrb0y09ters1em86v3ty');
INSERT INTO "coverage" VALUES('01m81srqq8cq325c158hg30qcw','folded','01m81srrb0y09ters1em86v3ty');
INSERT INTO "coverage" VALUES('01m81srqs44atpaybwxg6zhqva','folded','01m81srs27bwganvvzapnwskr8');
INSERT INTO "coverage" VALUES('01m81srqxbd6naqn4fwvqcm40q','folded','01m81srs27bwganvvzapnwskr8');
INSERT INTO "coverage" VALUES('01m81srqyp7t1a98zr68z9by54','folded','01m81srs27bwganvvzapnwskr8');
INSERT INTO "coverage" VALUES('01m81srr1spgw8q64rv97rs88q','folded','01m81srs27bwganvvzapnwskr8');
INSERT INTO "coverage" VALUES('01m81srr3kbeh3gf31v4k3a954','folded','01m81srs27bwganvvzapnwskr8');
INSERT INTO "coverage" VALUES('01m81srr7t9x41r7f46ybnr97h','folded','01m81srs27bwganvvzapnwskr8');
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
INSERT INTO "dream" VALUES('d1','','2026-11-20','done','','Merged nothing.','',1795000000.0);
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
INSERT INTO "extraction" VALUES('01m81srms8hsajnaedd00tz4ys','','01m81srmnzkwkhta8gkxb6p0k7',1,'done',2,'','kept 1',1.7953569089651703834e+09);
INSERT INTO "extraction" VALUES('01m81srqfx5cvfdmq2hcbzrqwd','','01m81srmnzkwkhta8gkxb6p0k7',2,'done',2,'','kept 1',1795356909.28841);
INSERT INTO "extraction" VALUES('01m81srqv4nx0kg9fqk6p1ghr1','','01m81srmnzkwkhta8gkxb6p0k7',3,'done',2,'','kept 1',1.79535690948391366003e+09);
INSERT INTO "extraction" VALUES('01m81srqz4zcqfn7d7r8tb1tem','','01m81srmnzkwkhta8gkxb6p0k7',4,'done',2,'','kept 1',1.79535690962537860873e+09);
INSERT INTO "extraction" VALUES('01m81srr5et0bvc8jhbd3mtg8p','','01m81srmnzkwkhta8gkxb6p0k7',5,'done',2,'','kept 1',1.79535690981872272488e+09);
INSERT INTO "extraction" VALUES('01m81srrkjxv4tvybjanxm8fgv','','01m81srmnzkwkhta8gkxb6p0k7',6,'done',2,'','kept 0',1.79535691033513474467e+09);
INSERT INTO "extraction" VALUES('01m81srrs6dzb6ew2st1qs7jd6','','01m81srmnzkwkhta8gkxb6p0k7',7,'done',2,'','kept 0',1.79535691045875191685e+09);
INSERT INTO "extraction" VALUES('01m81srrwxrq70yyacd3xg8tgh','','01m81srmnzkwkhta8gkxb6p0k7',8,'done',2,'','kept 0',1.79535691050166273117e+09);
INSERT INTO "extraction" VALUES('01m81srryccabzvk6xxhvt4g5d','','01m81srmnzkwkhta8gkxb6p0k7',9,'done',2,'','kept 0',1.79535691058243489269e+09);
INSERT INTO "extraction" VALUES('01m81srs93mr90sfd2t893p81b','','01m81srs7x5rr8swz4ee33hreh',1,'done',2,'','kept 0',1.79535691091559839252e+09);
INSERT INTO "extraction" VALUES('01m81srsdysqt3n6f8kgfbfcq8','','01m81srs7x5rr8swz4ee33hreh',2,'done',2,'','kept 0',1.79535691106349825857e+09);
INSERT INTO "extraction" VALUES('01m81srsgc3y939ehekems5hgp','','01m81srs7x5rr8swz4ee33hreh',3,'done',2,'','kept 0',1.79535691115994668013e+09);
INSERT INTO "extraction" VALUES('01m81srsr3nkt3rw3rvc7yk778','','01m81srsqz0hk766vcv32v03fn',1,'done',2,'','kept 0',1.79535691138768982886e+09);
INSERT INTO "extraction" VALUES('01m81srst00qwj5q59t86rmv7e','','01m81srsqz0hk766vcv32v03fn',2,'done',2,'','kept 0',1.79535691143417644498e+09);
INSERT INTO "extraction" VALUES('01m81srswcqbv2e7ykc2epfw0v','','01m81srsqz0hk766vcv32v03fn',3,'done',2,'','kept 0',1.79535691153351068495e+09);
INSERT INTO "extraction" VALUES('01m81srt0a5vz0wtv41zq4ehkr','','01m81srszg344etyekmwhm0acx',1,'done',2,'','kept 0',1.79535691172639846804e+09);
INSERT INTO "extraction" VALUES('01m81srt8b0vqcbmzys30mnr1r','','01m81srszg344etyekmwhm0acx',2,'done',2,'','kept 0',1.79535691195514345171e+09);
INSERT INTO "extraction" VALUES('01m81srtncnmz0jx88bg59cza6','','01m81srmnzkwkhta8gkxb6p0k7',10,'done',2,'','kept 1',1795356912.3707);
INSERT INTO "extraction" VALUES('01m81srts3x8t84qjcm14d8da9','','01m81srtrdgt7rztmsmrheed9v',1,'done',2,'','kept 0',1795356912.47037);
INSERT INTO "extraction" VALUES('01m81srtwg87jj4bxfpn77js3m','','01m81srtrdgt7rztmsmrheed9v',2,'done',2,'','kept 0',1.79535691255369353296e+09);
INSERT INTO "extraction" VALUES('01m81srxa3hjvjrrncnme63h87','','01m81srwj8cc5sv4zfp7xrbq33',1,'done',2,'','kept 0',1.7953569151426954269e+09);
INSERT INTO "extraction" VALUES('01m81ss0ty0ze775ynytex08mx','','01m81ss0jrx6phdkn7pw31c5vf',1,'done',2,'','kept 0',1.79535691933571147924e+09);
INSERT INTO "extraction" VALUES('01m81ss1sfdqnrdsr1tvgpfkmp','','01m81ss0jrx6phdkn7pw31c5vf',2,'done',2,'','kept 0',1.79535691969591736788e+09);
INSERT INTO "extraction" VALUES('01m81ss3yd56e957fbf3s06nfh','','01m81ss0jrx6phdkn7pw31c5vf',3,'done',2,'','kept 0',1.79535692182936191555e+09);
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
	PRIMARY KEY (id), 
	FOREIGN KEY(conversation) REFERENCES conversation (id)
);
INSERT INTO "fold" VALUES('01m81srrb0y09ters1em86v3ty','01m81srmnzkwkhta8gkxb6p0k7','','web',1,'',1,4,1,2,2,'folded','model','balanced','/context fold','- «g0» the roses want water; I prefer tea. 花园要浇水
- «g1» the roses want water; I prefer tea. 花园要浇水','- «g0» the roses want water; I prefer tea. 花园要浇水
- «g1» the roses want water; I prefer tea. 花园要浇水',41,'7f0c16c765ee44928fdfc2fdb17822e1c2f8266c0416f10027967c34ef4772be','memory/2026-11-22.md',190,155,0,1.79535690992050099372e+09,1,'',11,0);
INSERT INTO "fold" VALUES('01m81srs27bwganvvzapnwskr8','01m81srmnzkwkhta8gkxb6p0k7','','web',1,'01m81srrb0y09ters1em86v3ty',5,10,3,5,5,'folded','model','balanced','/context fold','- «g2» the roses want water; I prefer tea. 花园要浇水
- «g3» the roses want water; I prefer tea. 花园要浇水
- «g4» the roses want water; I prefer tea. 花园要浇水
- 14:15 Bot: re «g1»','- «g2» the roses want water; I prefer tea. 花园要浇水
- «g3» the roses want water; I prefer tea. 花园要浇水
- «g4» the roses want water; I prefer tea. 花园要浇水',62,'812f9a5e4f5e0802f1e8c1f414a967e3af37a1ba356fca07e86e5012c19b4631','memory/2026-11-22.md',361,268,0,1.79535691066311526298e+09,1,'',21,0);
INSERT INTO "fold" VALUES('01m81srsmpp01v3h9zfgx11cne','01m81srs7x5rr8swz4ee33hreh','','web',1,'',1,2,1,1,1,'undone','model','balanced','/context fold','- «w0» what do you make of it?','- «w0» what do you make of it?',12,'2c7ecab0a272b14a16eb7d434964b7cf211bd1a5b1a706b2cff7ab586ab70a2b','memory/2026-11-22.md',90,72,0,1.79535691125453138348e+09,1,'',7,0);
INSERT INTO "fold" VALUES('01m81srt59ckwde3xvrhtmwqfd','01m81srszg344etyekmwhm0acx','','web',1,'',1,2,1,1,1,'folded','model','balanced','/new','- «n0» what do you make of it?','',0,'d0739c77465a70ffce6e7957ab7b5b0bb52a1b7f5bf47ca2b0627407601e7946','memory/2026-11-22.md',30,0,1,1.79535691178509235381e+09,1,'',3,0);
INSERT INTO "fold" VALUES('01m81ss1ydfnccm7f8v7r8p4z7','01m81srs7x5rr8swz4ee33hreh','','web',1,'',1,2,1,1,1,'checked','model','balanced','/context fold','- «w0» what do you make of it?','- «w0» what do you make of it?',12,'2c7ecab0a272b14a16eb7d434964b7cf211bd1a5b1a706b2cff7ab586ab70a2b','',90,60,0,1.7953569197574892044e+09,2,'',7,0);
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
INSERT INTO "forgetting" VALUES('f1','','01m81srmnzkwkhta8gkxb6p0k7','owner','done','','{}','Removed from 2 places.',1795000000.0,1795000000.0);
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
	PRIMARY KEY (id), 
	CONSTRAINT inbox_key UNIQUE (channel, account, "key"), 
	FOREIGN KEY(conversation) REFERENCES conversation (id)
);
INSERT INTO "inbox" VALUES('01m81srmnzt2s3mam18rrs4ss2','01m81srmnzkwkhta8gkxb6p0k7','web','console','garden5271f2fb7a7d489f8eb1ed67018710ea','message','owner','{"text": "«g0» the roses want water; I prefer tea. 花园要浇水"}','','done','',0,'01m81srms8hsajnaedd00tz4ys','01m81srmnz3bsryj6qg27xg216',1,0,0.0,1.79535690617576766019e+09,1,'');
INSERT INTO "inbox" VALUES('01m81srqea6fkfh70mnesnqsc9','01m81srmnzkwkhta8gkxb6p0k7','web','console','garden90270cc4595b49698128c4c6806f6679','message','owner','{"text": "«g1» the roses want water; I prefer tea. 花园要浇水"}','','done','',0,'01m81srqfx5cvfdmq2hcbzrqwd','01m81srqeav77939b9eskjwezk',3,0,0.0,1.79535690900279331205e+09,1,'');
INSERT INTO "inbox" VALUES('01m81srqs44atpaybwxg6zhqva','01m81srmnzkwkhta8gkxb6p0k7','web','console','gardencae3c26fde7d46139c2e13c108f1cb70','message','owner','{"text": "«g2» the roses want water; I prefer tea. 花园要浇水"}','','done','',0,'01m81srqv4nx0kg9fqk6p1ghr1','01m81srqs4k8643e0h7nj0nchs',5,0,0.0,1.79535690934881949428e+09,1,'');
INSERT INTO "inbox" VALUES('01m81srqyp7t1a98zr68z9by54','01m81srmnzkwkhta8gkxb6p0k7','web','console','gardenc3d7b18dc02e48a68603d85ceaa66633','message','owner','{"text": "«g3» the roses want water; I prefer tea. 花园要浇水"}','','done','',0,'01m81srqz4zcqfn7d7r8tb1tem','01m81srqypf43n66b6wbpa5kb6',7,0,0.0,1.79535690952643299097e+09,1,'');
INSERT INTO "inbox" VALUES('01m81srr3kbeh3gf31v4k3a954','01m81srmnzkwkhta8gkxb6p0k7','web','console','gardena0ff8fc7c11a46adad5ac77866649157','message','owner','{"text": "«g4» the roses want water; I prefer tea. 花园要浇水"}','','done','',0,'01m81srr5et0bvc8jhbd3mtg8p','01m81srr3k8ta1gbnbrnmnfhnr',9,0,0.0,1.79535690968369221684e+09,1,'');
INSERT INTO "inbox" VALUES('01m81srr9vstmzme2ctvvd0hs1','01m81srmnzkwkhta8gkxb6p0k7','web','console','gardend54babbcfaab4e8690e425bd4e645008','command','owner','{"text": "/context fold"}','','done','',1,'','01m81srr9vqseqg1n00ywdt18b',11,0,0.0,1.7953569098837044239e+09,0,'');
INSERT INTO "inbox" VALUES('01m81srrk53z8gtey8vgfawxfs','01m81srmnzkwkhta8gkxb6p0k7','web','console','garden22345daa8a7643188b49232e874dfe33','message','owner','{"text": "«g5» what do you make of it?"}','','done','',0,'01m81srrkjxv4tvybjanxm8fgv','01m81srrk5z8k3xtr267ftsxmt',13,0,0.0,1.7953569101819040775e+09,1,'');
INSERT INTO "inbox" VALUES('01m81srrrx8hdmz4byxdww14cm','01m81srmnzkwkhta8gkxb6p0k7','web','console','garden7372c6cb0f3d424482eee28f06ba4b01','message','owner','{"text": "«g6» what do you make of it?"}','','done','',0,'01m81srrs6dzb6ew2st1qs7jd6','01m81srrrxwf2jbd6bet31vyb9',15,0,0.0,1.79535691036563086506e+09,1,'');
INSERT INTO "inbox" VALUES('01m81srrwmepjhhx82v2qsyexx','01m81srmnzkwkhta8gkxb6p0k7','web','console','gardenddf3d9ac0f30466588cd40afb4edf814','message','owner','{"text": "«g7» what do you make of it?"}','','done','',0,'01m81srrwxrq70yyacd3xg8tgh','01m81srrwmm1yg93ydgxr4x192',17,0,0.0,1.7953569104842429161e+09,1,'');
INSERT INTO "inbox" VALUES('01m81srry0cp72yqwz6j843m3r','01m81srmnzkwkhta8gkxb6p0k7','web','console','gardenc7de6ba7187b40b3a9817f8b6174006f','message','owner','{"text": "«g8» use write_file {\"path\": \"notes/roses.md\", \"content\": \"water on Mondays\"}"}','','done','',0,'01m81srryccabzvk6xxhvt4g5d','01m81srry0kqm13da0dxh2j676',19,0,0.0,1.79535691052882933615e+09,1,'');
INSERT INTO "inbox" VALUES('01m81srs0j9s1e5f6t5wvmrf1b','01m81srmnzkwkhta8gkxb6p0k7','web','console','gardencd5bbe105e1d4227aaa0872154ba2480','command','owner','{"text": "/context fold"}','','done','',1,'','01m81srs0jvqy0cxsfbw4x43vv',21,0,0.0,1.7953569106106491089e+09,0,'');
INSERT INTO "inbox" VALUES('01m81srs7x0x16r4ke5n64zw3y','01m81srs7x5rr8swz4ee33hreh','web','console','worka07eb066b6c24342aafbea5c02e74ee7','message','owner','{"text": "«w0» what do you make of it?"}','','done','',0,'01m81srs93mr90sfd2t893p81b','01m81srs7x6wq3gcs4bt7wp8j2',1,0,0.0,1.79535691084511971472e+09,1,'');
INSERT INTO "inbox" VALUES('01m81srsdbybkg4n83x6edpa3t','01m81srs7x5rr8swz4ee33hreh','web','console','work7424076e8fd04a548ffa99f749368207','message','owner','{"text": "«w1» what do you make of it?"}','','done','',0,'01m81srsdysqt3n6f8kgfbfcq8','01m81srsdbc6v6fd43kk7c9jd3',3,0,0.0,1.79535691101991724968e+09,1,'');
INSERT INTO "inbox" VALUES('01m81srsfv41z6vp9yywfyshmq','01m81srs7x5rr8swz4ee33hreh','web','console','work679478bd9c62495c85a63d8592ac0d11','message','owner','{"text": "«w2» what do you make of it?"}','','done','',0,'01m81srsgc3y939ehekems5hgp','01m81srsfv5234jnp2xh9d6yje',5,0,0.0,1.79535691109901690476e+09,1,'');
INSERT INTO "inbox" VALUES('01m81srsk4ptm1a9t04qma9aw6','01m81srs7x5rr8swz4ee33hreh','web','console','workf45b69b858314794af5ff6b8e9663335','command','owner','{"text": "/context fold"}','','done','',1,'','01m81srsk47a9qykrps7qbxx0v',7,0,0.0,1.79535691120428514476e+09,0,'');
INSERT INTO "inbox" VALUES('01m81srspxw9sdsd35yneqefts','01m81srs7x5rr8swz4ee33hreh','web','console','work3fd9905683174dd3abfbf68c974e2766','command','owner','{"text": "/context undo"}','','done','',1,'','01m81srspxv218kd46rcdpc1za',9,0,0.0,1.79535691132568621638e+09,0,'');
INSERT INTO "inbox" VALUES('01m81srsqz1qky79kxf2gv881a','01m81srsqz0hk766vcv32v03fn','web','console','old832500bc8fea4f88bff02488b9f8c7db','message','owner','{"text": "«o0» what do you make of it?"}','','done','',0,'01m81srsr3nkt3rw3rvc7yk778','01m81srsqzkwvfp3nw0rbx40r9',1,0,0.0,1.79535691135935401917e+09,1,'');
INSERT INTO "inbox" VALUES('01m81srsstj696jenj2nqrw9fs','01m81srsqz0hk766vcv32v03fn','web','console','old2e920ffffdfd4d2a943ad17cd0b3ebf7','message','owner','{"text": "«o1» what do you make of it?"}','','done','',0,'01m81srst00qwj5q59t86rmv7e','01m81srsstj4yt7sqbsjdb7f9b',3,0,0.0,1.79535691141871714586e+09,1,'');
INSERT INTO "inbox" VALUES('01m81srstz8y1hsp79awbffayx','01m81srsqz0hk766vcv32v03fn','web','console','old578d7c867007442aa546d2aba08b257c','command','owner','{"text": "/context clear"}','','done','',1,'','01m81srstzdfs7dmqksg5wegg8',5,0,0.0,1.79535691145512866975e+09,0,'');
INSERT INTO "inbox" VALUES('01m81srsw7ctfp580ggw9x61cw','01m81srsqz0hk766vcv32v03fn','web','console','oldbd47f7f51cb44e1783e28cb8d6032ff6','message','owner','{"text": "«o2» what do you make of it?"}','','done','',0,'01m81srswcqbv2e7ykc2epfw0v','01m81srsw7jvyap9phnkbtftsg',7,0,0.0,1.79535691149570274358e+09,1,'');
INSERT INTO "inbox" VALUES('01m81srszg5xzgw0y1zreh2skg','01m81srszg344etyekmwhm0acx','web','console','new054c44a41b014719979606abf49f6d9c','message','owner','{"text": "«n0» what do you make of it?"}','','done','',0,'01m81srt0a5vz0wtv41zq4ehkr','01m81srszgv8r65ytg3srk0hkf',1,0,0.0,1.79535691160061860083e+09,1,'');
INSERT INTO "inbox" VALUES('01m81srt4k7x7ycsa3dwva2hx6','01m81srszg344etyekmwhm0acx','web','console','new1426741e91a74cf49d3fc809db75c365','command','owner','{"text": "/new"}','','done','',1,'','01m81srt4kf0zsn5998wrr8n6q',3,0,0.0,1.79535691176326107974e+09,0,'');
INSERT INTO "inbox" VALUES('01m81srt7mqkt2fpvb54vtkzwf','01m81srszg344etyekmwhm0acx','web','console','new22f0042b29b04f09aa1eb923156bb792','message','owner','{"text": "«n1» what do you make of it?"}','','done','',0,'01m81srt8b0vqcbmzys30mnr1r','01m81srt7mbg9d4y2wpb9ps0tv',5,0,0.0,1.79535691186050534251e+09,1,'');
INSERT INTO "inbox" VALUES('01m81srtdwbncv97bv8ttft50h','01m81srmnzkwkhta8gkxb6p0k7','web','console','garden0bcf6d81ecdb4e1e9e4a9892b28523a6','command','owner','{"text": "/remember The gate code is 4711"}','','done','',1,'','01m81srtdwe39bkesy1ga45k2m',23,0,0.0,1.79535691206075644489e+09,0,'');
INSERT INTO "inbox" VALUES('01m81srtmc7w196j0vps9a1ggt','01m81srmnzkwkhta8gkxb6p0k7','web','console','gardenef4ab7387d3049b79de81689cc03dc20','message','owner','{"text": "«m1» a thing to know. I prefer green tea."}','','done','',0,'01m81srtncnmz0jx88bg59cza6','01m81srtmccerrj1d8tx5p5q55',25,0,0.0,1.79535691226828432085e+09,1,'');
INSERT INTO "inbox" VALUES('01m81srtrdsfccghp7z3y8ya5d','01m81srtrdgt7rztmsmrheed9v','telegram','100','m:5005:1:0','message','5005','{"text": "«t0» what do you make of it?", "name": "Ада"}','00000000000000700100','done','',0,'01m81srts3x8t84qjcm14d8da9','01m81srtrdd70ja2nxt37gbpy2',1,0,0.0,1.79535691239774203298e+09,1,'g77');
INSERT INTO "inbox" VALUES('01m81srtvndyzt9gn7k1w69tqz','01m81srtrdgt7rztmsmrheed9v','telegram','100','m:5005:3:0','message','5005','{"text": "«t1» what do you make of it?", "name": "Ада"}','00000000000000700101','done','',0,'01m81srtwg87jj4bxfpn77js3m','01m81srtvn7fg0ffv6svkjnssw',3,0,0.0,1.79535691250198388099e+09,1,'g77');
INSERT INTO "inbox" VALUES('01m81srtz0vxtw20cj3zf9r1dh','01m81srtz0r96qp49hb53kbz8z','telegram','100','m:999:1:0','message','999','','00000000000000700102','ignored','stranger',0,'','01m81srtz0fsanhpw2z8n4j0ak',1,0,0.0,1.79535691260841655733e+09,0,'g77');
INSERT INTO "inbox" VALUES('01m81srwj8qrzcrr5xz24ekjy9','01m81srwj8cc5sv4zfp7xrbq33','web','console','picturep1','message','owner','{"text": "«p1» what do you make of it?", "shown": "«p1» what do you make of it?\n📎 dot.png", "files": [["7899d6ced52159786ff083934df42788da01a30b7ed9bb7756d7f3f5a94ef685", "dot.png", "image/png", 68, ""]]}','','done','',0,'01m81srxa3hjvjrrncnme63h87','01m81srwj8j1ppe30r729r0r8y',1,0,0.0,1.79535691424866509441e+09,1,'');
INSERT INTO "inbox" VALUES('01m81ss0jrkz52b1vy73f4h4mf','01m81ss0jrx6phdkn7pw31c5vf','web','console','late31dd262064b0464ebd7678f5a7227837','message','owner','{"text": "«l0» what do you make of it?"}','','done','',0,'01m81ss0ty0ze775ynytex08mx','01m81ss0jr052wczevzsj9bc2r',1,0,0.0,1.79535691836050677293e+09,2,'');
INSERT INTO "inbox" VALUES('01m81ss1rtbc1q5jrtrnh6ax91','01m81ss0jrx6phdkn7pw31c5vf','web','console','late289e3e48984840e98d2b55cce1918f6e','message','owner','{"text": "«l1» what do you make of it?"}','','done','',0,'01m81ss1sfdqnrdsr1tvgpfkmp','01m81ss1rt3ygf8jsm4x3pvm1b',3,0,0.0,1.79535691957844972615e+09,2,'');
INSERT INTO "inbox" VALUES('01m81ss1xqv0y9swxjz3xtvjk4','01m81srs7x5rr8swz4ee33hreh','web','console','work/context fold','command','owner','{"text": "/context fold"}','','new','',1,'','01m81ss1xqcemrsb2m9apjrzmz',11,0,0.0,1.79535691973558092114e+09,0,'');
INSERT INTO "inbox" VALUES('01m81ss2x9vx2nn5q37wvnw7c6','01m81ss2x9dgq4qphpdzn86vbb','web','console','tool«x1» use write_file {"path": "notes/x.md", "content": "x"}','message','owner','{"text": "«x1» use write_file {\"path\": \"notes/x.md\", \"content\": \"x\"}"}','','running','',0,'01m81ss2xs1mjkvpyedgwdaz2k','01m81ss2x9mncb3s9sgzhed2fj',1,0,0.0,1.79535692074500942234e+09,2,'');
INSERT INTO "inbox" VALUES('01m81ss3xqhbjcvesvygc1csgv','01m81ss2x9dgq4qphpdzn86vbb','web','console','tool«x2» and after that?','message','owner','{"text": "«x2» and after that?"}','','new','',0,'','01m81ss3xq8614x09qc826anf5',2,0,0.0,1.79535692178369069103e+09,0,'');
INSERT INTO "inbox" VALUES('01m81ss3y4g1n36v29mqhxdewx','01m81ss0jrx6phdkn7pw31c5vf','web','console','late«l2» what do you make of it?','message','owner','{"text": "«l2» what do you make of it?"}','','done','',0,'01m81ss3yd56e957fbf3s06nfh','01m81ss3y4jmx9a94e9sqwdske',5,0,0.0,1.79535692179680180556e+09,2,'');
CREATE TABLE instance (
	id INTEGER NOT NULL, 
	lease_epoch INTEGER NOT NULL, 
	clean BOOLEAN NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "instance" VALUES(1,2,0);
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
INSERT INTO "link_code" VALUES('l1','0','agreed','telegram','100','5006','','01m81srmnzkwkhta8gkxb6p0k7','telegram','100','5006','Ada','p-joined','01m81srmnzkwkhta8gkxb6p0k7',1795000000.0,1795000000.0);
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
INSERT INTO "memory" VALUES('01m81srqjdb6r18sh8dws5xbtv','','g0 the roses want water i prefer tea','user_preference','«g0» the roses want water; I prefer tea',6,'live','extraction','01m81srmnzkwkhta8gkxb6p0k7','01m81srmnzt2s3mam18rrs4ss2','web','«g0» the roses want water; I prefer tea',1.79535690628074789043e+09,1.79535690913348913192e+09,1.79535690913348913192e+09,1.79535690976264047623e+09,3,'',0.0);
INSERT INTO "memory" VALUES('01m81srqy583xska2n37escqfk','','g1 the roses want water i prefer tea','user_preference','«g1» the roses want water; I prefer tea',6,'live','extraction','01m81srmnzkwkhta8gkxb6p0k7','01m81srqea6fkfh70mnesnqsc9','web','«g1» the roses want water; I prefer tea',1.79535690905343198772e+09,1.79535690950978493686e+09,1.79535690950978493686e+09,1.79535690976264047623e+09,2,'',0.0);
INSERT INTO "memory" VALUES('01m81srr0r3y6znfzcc0r9v6dw','','g2 the roses want water i prefer tea','user_preference','«g2» the roses want water; I prefer tea',6,'live','extraction','01m81srmnzkwkhta8gkxb6p0k7','01m81srqs44atpaybwxg6zhqva','web','«g2» the roses want water; I prefer tea',1.79535690941258907317e+09,1.79535690959224915504e+09,1.79535690959224915504e+09,1.79535690976264047623e+09,1,'',0.0);
INSERT INTO "memory" VALUES('01m81srr8mspfgb0yzy4c6bf3w','','g3 the roses want water i prefer tea','user_preference','«g3» the roses want water; I prefer tea',6,'live','extraction','01m81srmnzkwkhta8gkxb6p0k7','01m81srqyp7t1a98zr68z9by54','web','«g3» the roses want water; I prefer tea',1.79535690954031896594e+09,1.79535690984486699106e+09,1.79535690984486699106e+09,0.0,0,'',0.0);
INSERT INTO "memory" VALUES('01m81srrfy23p3tmp6ggmr5egx','','g4 the roses want water i prefer tea','user_preference','«g4» the roses want water; I prefer tea',6,'live','extraction','01m81srmnzkwkhta8gkxb6p0k7','01m81srr3kbeh3gf31v4k3a954','web','«g4» the roses want water; I prefer tea',1.7953569097425589561e+09,1.79535691007883810993e+09,1.79535691007883810993e+09,0.0,0,'',0.0);
INSERT INTO "memory" VALUES('01m81srtjvj7n3dbw4s4avmp4r','','the gate code is 4711','fact','The gate code is 4711',8,'live','person','01m81srmnzkwkhta8gkxb6p0k7','01m81srtdwbncv97bv8ttft50h','web','/remember The gate code is 4711',1.79535691206075596806e+09,1795356912.21959,1795356912.21959,0.0,0,'',0.0);
INSERT INTO "memory" VALUES('01m81srtsqab1teyzm1b1wk7t3','','i prefer green tea','user_preference','I prefer green tea',6,'live','extraction','01m81srmnzkwkhta8gkxb6p0k7','01m81srtmc7w196j0vps9a1ggt','web','I prefer green tea',1.79535691230042195325e+09,1.79535691243980741497e+09,1.79535691243980741497e+09,0.0,0,'',0.0);
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
INSERT INTO "memory_change" VALUES('01m81srqjd8frxj4nmk2cn3s5y','','MEMORY.md','extract','73a75d57d3bce6e6194e9c3ce650a5f836e26e5cb0efe6db3dc5961d8f1a641c','8fa62e7329481e1698ca5d5ead245d8a8150a2481080470e31a5c996bfc39e73','["«g0» the roses want water; I prefer tea"]','[]','','01m81srmnzt2s3mam18rrs4ss2',0,1.79535690913348913192e+09);
INSERT INTO "memory_change" VALUES('01m81srqy5657qjxn4hx4fq1td','','MEMORY.md','extract','8fa62e7329481e1698ca5d5ead245d8a8150a2481080470e31a5c996bfc39e73','b697e1ec796c8b7a56aee1e54abfb63a2ae6902e9d568e8698d692478b01da2a','["«g1» the roses want water; I prefer tea"]','[]','','01m81srqea6fkfh70mnesnqsc9',0,1.79535690950978493686e+09);
INSERT INTO "memory_change" VALUES('01m81srr0rrtfqzejw57zw42c5','','MEMORY.md','extract','b697e1ec796c8b7a56aee1e54abfb63a2ae6902e9d568e8698d692478b01da2a','d66d54edc1ba1ad747e44ff5f7b746c2de77f6d29b15f843cfeec437cb29488e','["«g2» the roses want water; I prefer tea"]','[]','','01m81srqs44atpaybwxg6zhqva',0,1.79535690959224915504e+09);
INSERT INTO "memory_change" VALUES('01m81srr8m65yw8vjvh1fnhfac','','MEMORY.md','extract','d66d54edc1ba1ad747e44ff5f7b746c2de77f6d29b15f843cfeec437cb29488e','05389b6f2523f0ca1bf3b1bcf6669df83790eb0bc8d35b2513af8d13cbe611a6','["«g3» the roses want water; I prefer tea"]','[]','','01m81srqyp7t1a98zr68z9by54',0,1.79535690984486699106e+09);
INSERT INTO "memory_change" VALUES('01m81srrfypate3r63gjc0tvpc','','MEMORY.md','extract','05389b6f2523f0ca1bf3b1bcf6669df83790eb0bc8d35b2513af8d13cbe611a6','fca268e68f52be9bc55318d05b4bd3b9775fc3379b421173ea5ad3b153edc64b','["«g4» the roses want water; I prefer tea"]','[]','','01m81srr3kbeh3gf31v4k3a954',0,1.79535691007883810993e+09);
INSERT INTO "memory_change" VALUES('01m81srtjv9cp5606v9gadgj4e','','MEMORY.md','remember','fca268e68f52be9bc55318d05b4bd3b9775fc3379b421173ea5ad3b153edc64b','eb8aa8fcc1d7d571749e2b52e51289200c0e8b65ab35fdf6926b994a9f641941','["The gate code is 4711"]','[]','','01m81srtdwbncv97bv8ttft50h',0,1795356912.21959);
INSERT INTO "memory_change" VALUES('01m81srtsq9s4fmycst0wtx0zn','','MEMORY.md','extract','eb8aa8fcc1d7d571749e2b52e51289200c0e8b65ab35fdf6926b994a9f641941','a816e417f55f0b5a9dad0b389b30545e71456968212982e2bf633e37a3fec3b5','["I prefer green tea"]','[]','','01m81srtmc7w196j0vps9a1ggt',0,1.79535691243980741497e+09);
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
INSERT INTO "message" VALUES('01m81srmnzt2s3mam18rrs4ss2','01m81srmnzkwkhta8gkxb6p0k7',1,1,1,'01m81srms8hsajnaedd00tz4ys','user','[{"kind":"Text","text":"«g0» the roses want water; I prefer tea. 花园要浇水"}]','person','',1,26,'tiktoken',1.79535690628074789043e+09);
INSERT INTO "message" VALUES('01m81srqd5h0f4yb26ev3pdneh','01m81srmnzkwkhta8gkxb6p0k7',1,2,1,'01m81srms8hsajnaedd00tz4ys','assistant','[{"kind":"Text","text":"re «g0»"}]','model','',1,12,'tiktoken',1.7953569089651703834e+09);
INSERT INTO "message" VALUES('01m81srqea6fkfh70mnesnqsc9','01m81srmnzkwkhta8gkxb6p0k7',1,3,2,'01m81srqfx5cvfdmq2hcbzrqwd','user','[{"kind":"Text","text":"«g1» the roses want water; I prefer tea. 花园要浇水"}]','person','',1,26,'tiktoken',1.79535690905343151089e+09);
INSERT INTO "message" VALUES('01m81srqq8cq325c158hg30qcw','01m81srmnzkwkhta8gkxb6p0k7',1,4,2,'01m81srqfx5cvfdmq2hcbzrqwd','assistant','[{"kind":"Text","text":"re «g1»"}]','model','',1,12,'tiktoken',1795356909.28841);
INSERT INTO "message" VALUES('01m81srqs44atpaybwxg6zhqva','01m81srmnzkwkhta8gkxb6p0k7',1,5,3,'01m81srqv4nx0kg9fqk6p1ghr1','user','[{"kind":"Text","text":"«g2» the roses want water; I prefer tea. 花园要浇水"}]','person','',1,26,'tiktoken',1.79535690941258883478e+09);
INSERT INTO "message" VALUES('01m81srqxbd6naqn4fwvqcm40q','01m81srmnzkwkhta8gkxb6p0k7',1,6,3,'01m81srqv4nx0kg9fqk6p1ghr1','assistant','[{"kind":"Text","text":"re «g2»"}]','model','',1,12,'tiktoken',1.79535690948391366003e+09);
INSERT INTO "message" VALUES('01m81srqyp7t1a98zr68z9by54','01m81srmnzkwkhta8gkxb6p0k7',1,7,4,'01m81srqz4zcqfn7d7r8tb1tem','user','[{"kind":"Text","text":"«g3» the roses want water; I prefer tea. 花园要浇水"}]','person','',1,26,'tiktoken',1.79535690954031872754e+09);
INSERT INTO "message" VALUES('01m81srr1spgw8q64rv97rs88q','01m81srmnzkwkhta8gkxb6p0k7',1,8,4,'01m81srqz4zcqfn7d7r8tb1tem','assistant','[{"kind":"Text","text":"re «g1»"}]','model','',1,12,'tiktoken',1.79535690962537860873e+09);
INSERT INTO "message" VALUES('01m81srr3kbeh3gf31v4k3a954','01m81srmnzkwkhta8gkxb6p0k7',1,9,5,'01m81srr5et0bvc8jhbd3mtg8p','user','[{"kind":"Text","text":"«g4» the roses want water; I prefer tea. 花园要浇水"}]','person','',1,26,'tiktoken',1.79535690974255871766e+09);
INSERT INTO "message" VALUES('01m81srr7t9x41r7f46ybnr97h','01m81srmnzkwkhta8gkxb6p0k7',1,10,5,'01m81srr5et0bvc8jhbd3mtg8p','assistant','[{"kind":"Text","text":"re «g2»"}]','model','',1,12,'tiktoken',1.79535690981872272488e+09);
INSERT INTO "message" VALUES('01m81srrk53z8gtey8vgfawxfs','01m81srmnzkwkhta8gkxb6p0k7',1,11,6,'01m81srrkjxv4tvybjanxm8fgv','user','[{"kind":"Text","text":"«g5» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535691019485783579e+09);
INSERT INTO "message" VALUES('01m81srrqzthvb7b9xmvmmbtqt','01m81srmnzkwkhta8gkxb6p0k7',1,12,6,'01m81srrkjxv4tvybjanxm8fgv','assistant','[{"kind":"Text","text":"re «g5»"}]','model','',1,12,'tiktoken',1.79535691033513474467e+09);
INSERT INTO "message" VALUES('01m81srrrx8hdmz4byxdww14cm','01m81srmnzkwkhta8gkxb6p0k7',1,13,7,'01m81srrs6dzb6ew2st1qs7jd6','user','[{"kind":"Text","text":"«g6» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535691037408137327e+09);
INSERT INTO "message" VALUES('01m81srrvtkr2081e6taa6mhjc','01m81srmnzkwkhta8gkxb6p0k7',1,14,7,'01m81srrs6dzb6ew2st1qs7jd6','assistant','[{"kind":"Text","text":"re «g6»"}]','model','',1,12,'tiktoken',1.79535691045875191685e+09);
INSERT INTO "message" VALUES('01m81srrwmepjhhx82v2qsyexx','01m81srmnzkwkhta8gkxb6p0k7',1,15,8,'01m81srrwxrq70yyacd3xg8tgh','user','[{"kind":"Text","text":"«g7» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535691049376344686e+09);
INSERT INTO "message" VALUES('01m81srrx5f0ae2ehdx3j7k87d','01m81srmnzkwkhta8gkxb6p0k7',1,16,8,'01m81srrwxrq70yyacd3xg8tgh','assistant','[{"kind":"Text","text":"re «g7»"}]','model','',1,12,'tiktoken',1.79535691050166273117e+09);
INSERT INTO "message" VALUES('01m81srry0cp72yqwz6j843m3r','01m81srmnzkwkhta8gkxb6p0k7',1,17,9,'01m81srryccabzvk6xxhvt4g5d','user','[{"kind":"Text","text":"«g8» use write_file {\"path\": \"notes/roses.md\", \"content\": \"water on Mondays\"}"}]','person','',1,32,'tiktoken',1.79535691054038405419e+09);
INSERT INTO "message" VALUES('01m81srrytn0yzbqnzgnab0ha1','01m81srmnzkwkhta8gkxb6p0k7',1,18,9,'01m81srryccabzvk6xxhvt4g5d','assistant','[{"kind":"Text","text":"I look."},{"kind":"ToolCall","id":"call_g8","name":"write_file","input":"{\"path\": \"notes/roses.md\", \"content\": \"water on Mondays\"}"}]','model','',1,40,'tiktoken',1.79535691055472469332e+09);
INSERT INTO "message" VALUES('01m81srrzdnckvr9dkdybkznr2','01m81srmnzkwkhta8gkxb6p0k7',1,19,9,'01m81srryccabzvk6xxhvt4g5d','user','[{"kind":"ToolResult","call_id":"call_g8","text":"notes/roses.md now holds 16 bytes, version 29eb6a143968.","is_error":false}]','tool','',0,32,'tiktoken',1.7953569105734622478e+09);
INSERT INTO "message" VALUES('01m81srrzpg5pqkjgzwdc9ktfv','01m81srmnzkwkhta8gkxb6p0k7',1,20,9,'01m81srryccabzvk6xxhvt4g5d','assistant','[{"kind":"Text","text":"re «g8»"}]','model','',1,12,'tiktoken',1.79535691058243489269e+09);
INSERT INTO "message" VALUES('01m81srs7x0x16r4ke5n64zw3y','01m81srs7x5rr8swz4ee33hreh',1,1,1,'01m81srs93mr90sfd2t893p81b','user','[{"kind":"Text","text":"«w0» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535691088317155839e+09);
INSERT INTO "message" VALUES('01m81srsa35ep4ehpknq4we57k','01m81srs7x5rr8swz4ee33hreh',1,2,1,'01m81srs93mr90sfd2t893p81b','assistant','[{"kind":"Text","text":"re «w0»"}]','model','',1,12,'tiktoken',1.79535691091559839252e+09);
INSERT INTO "message" VALUES('01m81srsdbybkg4n83x6edpa3t','01m81srs7x5rr8swz4ee33hreh',1,3,2,'01m81srsdysqt3n6f8kgfbfcq8','user','[{"kind":"Text","text":"«w1» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535691103887486454e+09);
INSERT INTO "message" VALUES('01m81srseqnvq6cc701e3h7rj9','01m81srs7x5rr8swz4ee33hreh',1,4,2,'01m81srsdysqt3n6f8kgfbfcq8','assistant','[{"kind":"Text","text":"re «w1»"}]','model','',1,12,'tiktoken',1.79535691106349825857e+09);
INSERT INTO "message" VALUES('01m81srsfv41z6vp9yywfyshmq','01m81srs7x5rr8swz4ee33hreh',1,5,3,'01m81srsgc3y939ehekems5hgp','user','[{"kind":"Text","text":"«w2» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535691111669969558e+09);
INSERT INTO "message" VALUES('01m81srshqse824398qvm5prpz','01m81srs7x5rr8swz4ee33hreh',1,6,3,'01m81srsgc3y939ehekems5hgp','assistant','[{"kind":"Text","text":"re «w2»"}]','model','',1,12,'tiktoken',1.79535691115994668013e+09);
INSERT INTO "message" VALUES('01m81srsqz1qky79kxf2gv881a','01m81srsqz0hk766vcv32v03fn',1,1,1,'01m81srsr3nkt3rw3rvc7yk778','user','[{"kind":"Text","text":"«o0» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535691136335110668e+09);
INSERT INTO "message" VALUES('01m81srsrv6a7f8fq6j0tarcw9','01m81srsqz0hk766vcv32v03fn',1,2,1,'01m81srsr3nkt3rw3rvc7yk778','assistant','[{"kind":"Text","text":"re «o0»"}]','model','',1,12,'tiktoken',1.79535691138768982886e+09);
INSERT INTO "message" VALUES('01m81srsstj696jenj2nqrw9fs','01m81srsqz0hk766vcv32v03fn',1,3,2,'01m81srst00qwj5q59t86rmv7e','user','[{"kind":"Text","text":"«o1» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535691142453479769e+09);
INSERT INTO "message" VALUES('01m81srstazq6dzgkk4kww86fj','01m81srsqz0hk766vcv32v03fn',1,4,2,'01m81srst00qwj5q59t86rmv7e','assistant','[{"kind":"Text","text":"re «o1»"}]','model','',1,12,'tiktoken',1.79535691143417644498e+09);
INSERT INTO "message" VALUES('01m81srsw7ctfp580ggw9x61cw','01m81srsqz0hk766vcv32v03fn',2,5,3,'01m81srswcqbv2e7ykc2epfw0v','user','[{"kind":"Text","text":"«o2» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535691150030779841e+09);
INSERT INTO "message" VALUES('01m81srsxd7173b5m581kca2j6','01m81srsqz0hk766vcv32v03fn',2,6,3,'01m81srswcqbv2e7ykc2epfw0v','assistant','[{"kind":"Text","text":"re «o2»"}]','model','',1,12,'tiktoken',1.79535691153351068495e+09);
INSERT INTO "message" VALUES('01m81srszg5xzgw0y1zreh2skg','01m81srszg344etyekmwhm0acx',1,1,1,'01m81srt0a5vz0wtv41zq4ehkr','user','[{"kind":"Text","text":"«n0» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535691162642264363e+09);
INSERT INTO "message" VALUES('01m81srt3e5jxef3fsbhqd14b1','01m81srszg344etyekmwhm0acx',1,2,1,'01m81srt0a5vz0wtv41zq4ehkr','assistant','[{"kind":"Text","text":"re «n0»"}]','model','',1,12,'tiktoken',1.79535691172639846804e+09);
INSERT INTO "message" VALUES('01m81srt7mqkt2fpvb54vtkzwf','01m81srszg344etyekmwhm0acx',2,3,2,'01m81srt8b0vqcbmzys30mnr1r','user','[{"kind":"Text","text":"«n1» what do you make of it?"}]','person','',1,18,'tiktoken',1.7953569118836271763e+09);
INSERT INTO "message" VALUES('01m81srtak916yj26k8trwv6jc','01m81srszg344etyekmwhm0acx',2,4,2,'01m81srt8b0vqcbmzys30mnr1r','assistant','[{"kind":"Text","text":"re «n1»"}]','model','',1,12,'tiktoken',1.79535691195514345171e+09);
INSERT INTO "message" VALUES('01m81srtmc7w196j0vps9a1ggt','01m81srmnzkwkhta8gkxb6p0k7',1,21,10,'01m81srtncnmz0jx88bg59cza6','user','[{"kind":"Text","text":"«m1» a thing to know. I prefer green tea."}]','person','',1,21,'tiktoken',1.79535691230042171472e+09);
INSERT INTO "message" VALUES('01m81srtqjeysete1a2kc989fh','01m81srmnzkwkhta8gkxb6p0k7',1,22,10,'01m81srtncnmz0jx88bg59cza6','assistant','[{"kind":"Text","text":"re «m1»"}]','model','',1,12,'tiktoken',1795356912.3707);
INSERT INTO "message" VALUES('01m81srtrdsfccghp7z3y8ya5d','01m81srtrdgt7rztmsmrheed9v',1,1,1,'01m81srts3x8t84qjcm14d8da9','user','[{"kind":"Text","text":"«t0» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535691241992807383e+09);
INSERT INTO "message" VALUES('01m81srttpmnr3dn598qw080w1','01m81srtrdgt7rztmsmrheed9v',1,2,1,'01m81srts3x8t84qjcm14d8da9','assistant','[{"kind":"Text","text":"re «t0»"}]','model','',1,12,'tiktoken',1795356912.47037);
INSERT INTO "message" VALUES('01m81srtvndyzt9gn7k1w69tqz','01m81srtrdgt7rztmsmrheed9v',1,3,2,'01m81srtwg87jj4bxfpn77js3m','user','[{"kind":"Text","text":"«t1» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535691252891540527e+09);
INSERT INTO "message" VALUES('01m81srtx9qjgy5mztpzmpafx5','01m81srtrdgt7rztmsmrheed9v',1,4,2,'01m81srtwg87jj4bxfpn77js3m','assistant','[{"kind":"Text","text":"re «t1»"}]','model','',1,12,'tiktoken',1.79535691255369353296e+09);
INSERT INTO "message" VALUES('01m81srwj8qrzcrr5xz24ekjy9','01m81srwj8cc5sv4zfp7xrbq33',1,1,1,'01m81srxa3hjvjrrncnme63h87','user','[{"kind":"Image","sha256":"7899d6ced52159786ff083934df42788da01a30b7ed9bb7756d7f3f5a94ef685","media_type":"image/png","width":2,"height":2},{"kind":"Text","text":"«p1» what do you make of it?"}]','person','',1,19,'tiktoken',1.79535691501151657102e+09);
INSERT INTO "message" VALUES('01m81srxe6x59a3k0hx97c8rj6','01m81srwj8cc5sv4zfp7xrbq33',1,2,1,'01m81srxa3hjvjrrncnme63h87','assistant','[{"kind":"Text","text":"re «p1»"}]','model','',1,12,'tiktoken',1.7953569151426954269e+09);
INSERT INTO "message" VALUES('01m81ss0jrkz52b1vy73f4h4mf','01m81ss0jrx6phdkn7pw31c5vf',1,1,1,'01m81ss0ty0ze775ynytex08mx','user','[{"kind":"Text","text":"«l0» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535691862256193158e+09);
INSERT INTO "message" VALUES('01m81ss1h7ykh5m4pdshajesyt','01m81ss0jrx6phdkn7pw31c5vf',1,2,1,'01m81ss0ty0ze775ynytex08mx','assistant','[{"kind":"Text","text":"re «l0»"}]','model','',1,12,'tiktoken',1.79535691933571147924e+09);
INSERT INTO "message" VALUES('01m81ss1rtbc1q5jrtrnh6ax91','01m81ss0jrx6phdkn7pw31c5vf',1,3,2,'01m81ss1sfdqnrdsr1tvgpfkmp','user','[{"kind":"Text","text":"«l1» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535691959955239294e+09);
INSERT INTO "message" VALUES('01m81ss1wfcw1yvgx651skn3dz','01m81ss0jrx6phdkn7pw31c5vf',1,4,2,'01m81ss1sfdqnrdsr1tvgpfkmp','assistant','[{"kind":"Text","text":"re «l1»"}]','model','',1,12,'tiktoken',1.79535691969591736788e+09);
INSERT INTO "message" VALUES('01m81ss2x9vx2nn5q37wvnw7c6','01m81ss2x9dgq4qphpdzn86vbb',1,1,1,'01m81ss2xs1mjkvpyedgwdaz2k','user','[{"kind":"Text","text":"«x1» use write_file {\"path\": \"notes/x.md\", \"content\": \"x\"}"}]','person','',1,28,'tiktoken',1.79535692076117634778e+09);
INSERT INTO "message" VALUES('01m81ss2z44sk5ckr4p2m0pnbs','01m81ss2x9dgq4qphpdzn86vbb',1,2,1,'01m81ss2xs1mjkvpyedgwdaz2k','assistant','[{"kind":"Text","text":"I look."},{"kind":"ToolCall","id":"call_x1","name":"write_file","input":"{\"path\": \"notes/x.md\", \"content\": \"x\"}"}]','model','',1,36,'tiktoken',1.79535692080411601063e+09);
INSERT INTO "message" VALUES('01m81ss3y4g1n36v29mqhxdewx','01m81ss0jrx6phdkn7pw31c5vf',1,5,3,'01m81ss3yd56e957fbf3s06nfh','user','[{"kind":"Text","text":"«l2» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535692180564832682e+09);
INSERT INTO "message" VALUES('01m81ss3z5n3rgm51m6wt0jqmp','01m81ss0jrx6phdkn7pw31c5vf',1,6,3,'01m81ss3yd56e957fbf3s06nfh','assistant','[{"kind":"Text","text":"re «l2»"}]','model','',1,12,'tiktoken',1.79535692182936191555e+09);
CREATE TABLE model_factor (
	model TEXT NOT NULL, 
	factor DOUBLE NOT NULL, 
	samples INTEGER NOT NULL, 
	error_percent DOUBLE NOT NULL, 
	PRIMARY KEY (model)
);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra',0.9896,16,0.74);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra 01m81srmnzkwkhta8gkxb6p0k7',1.0205,10,-0.3);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra 01m81srs7x5rr8swz4ee33hreh',0.9859,3,0.49);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra 01m81srsqz0hk766vcv32v03fn',0.9859,3,0.09);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra 01m81srszg344etyekmwhm0acx',0.9848,2,0.44);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra 01m81srtrdgt7rztmsmrheed9v',0.9839,2,0.74);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra 01m81srwj8cc5sv4zfp7xrbq33',0.9976,1,-1.15);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra 01m81ss0jrx6phdkn7pw31c5vf',0.982,3,0.04);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra 01m81ss2x9dgq4qphpdzn86vbb',0.985,1,0.67);
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
	PRIMARY KEY (id), 
	CONSTRAINT outbox_part UNIQUE (source, part_no), 
	CONSTRAINT outbox_client_key UNIQUE (client_key), 
	FOREIGN KEY(conversation) REFERENCES conversation (id)
);
INSERT INTO "outbox" VALUES('01m81srqd5h3tmkae8d378d2ez','01m81srmnzkwkhta8gkxb6p0k7','01m81srmnzt2s3mam18rrs4ss2:answer',0,1,1,'final','8466e1fe590a4dd94cfae00f00cfa75d','re «g0»','sent',1,0,0,315360000.0,2110716908.98072,0.0,'01m81srmnzt2s3mam18rrs4ss2','01m81srqd5h3tmkae8d378d2ez','',2,1.7953569089651703834e+09,1,'');
INSERT INTO "outbox" VALUES('01m81srqq8acf6w9kz9npn326m','01m81srmnzkwkhta8gkxb6p0k7','01m81srqea6fkfh70mnesnqsc9:answer',0,1,1,'final','5bdacbe9113a0b1208970be5c9c95756','re «g1»','sent',1,0,0,315360000.0,2.11071690932018303878e+09,0.0,'01m81srqea6fkfh70mnesnqsc9','01m81srqq8acf6w9kz9npn326m','',4,1795356909.28841,1,'');
INSERT INTO "outbox" VALUES('01m81srqxbbehp8za84j6e5hw7','01m81srmnzkwkhta8gkxb6p0k7','01m81srqs44atpaybwxg6zhqva:answer',0,1,1,'final','8daeaa07c3e9bdc2dd858ec148944165','re «g2»','sent',1,0,0,315360000.0,2.11071690950071215626e+09,0.0,'01m81srqs44atpaybwxg6zhqva','01m81srqxbbehp8za84j6e5hw7','',6,1.79535690948391366003e+09,1,'');
INSERT INTO "outbox" VALUES('01m81srr1s4p1q52bcgr8v3z98','01m81srmnzkwkhta8gkxb6p0k7','01m81srqyp7t1a98zr68z9by54:answer',0,1,1,'final','d3782a17a6b12686d4a4468e76635756','re «g1»','sent',1,0,0,315360000.0,2.11071690966514396666e+09,0.0,'01m81srqyp7t1a98zr68z9by54','01m81srr1s4p1q52bcgr8v3z98','',8,1.79535690962537860873e+09,1,'');
INSERT INTO "outbox" VALUES('01m81srr7txp8qrhh2ttyja01j','01m81srmnzkwkhta8gkxb6p0k7','01m81srr3kbeh3gf31v4k3a954:answer',0,1,1,'final','39c7c5731ef5c5a7669420900a2ce8d2','re «g2»','sent',1,0,0,315360000.0,2.11071690983492374414e+09,0.0,'01m81srr3kbeh3gf31v4k3a954','01m81srr7txp8qrhh2ttyja01j','',10,1.79535690981872272488e+09,1,'');
INSERT INTO "outbox" VALUES('01m81srrh844sf2e53sx0n0nge','01m81srmnzkwkhta8gkxb6p0k7','01m81srr9vstmzme2ctvvd0hs1:answer',0,1,1,'notice','205700a5891de44c70a03d71a4f38823','Folded turns 1–2 into memory/2026-11-22.md: 190 → 155 tokens (82%).','sent',1,0,0,315360000.0,2.11071691013125920292e+09,0.0,'01m81srr9vstmzme2ctvvd0hs1','01m81srrh844sf2e53sx0n0nge','',12,1.79535691012046217914e+09,1,'');
INSERT INTO "outbox" VALUES('01m81srrqz469qp6982aaahedx','01m81srmnzkwkhta8gkxb6p0k7','01m81srrk53z8gtey8vgfawxfs:answer',0,1,1,'final','2cafdd5c7fa49d8ed4bf6086112651b3','re «g5»','sent',1,0,0,315360000.0,2.11071691034544801717e+09,0.0,'01m81srrk53z8gtey8vgfawxfs','01m81srrqz469qp6982aaahedx','',14,1.79535691033513474467e+09,1,'');
INSERT INTO "outbox" VALUES('01m81srrvtj3mx6phjseymj7hv','01m81srmnzkwkhta8gkxb6p0k7','01m81srrrx8hdmz4byxdww14cm:answer',0,1,1,'final','d6cb875e2fdcec3a0ba74939cc6d2b3e','re «g6»','sent',1,0,0,315360000.0,2.110716910462061882e+09,0.0,'01m81srrrx8hdmz4byxdww14cm','01m81srrvtj3mx6phjseymj7hv','',16,1.79535691045875191685e+09,1,'');
INSERT INTO "outbox" VALUES('01m81srrx5a0g9hf055kjq9ywh','01m81srmnzkwkhta8gkxb6p0k7','01m81srrwmepjhhx82v2qsyexx:answer',0,1,1,'final','6a6b9f387b6e0c730869e76b3fe5547f','re «g7»','sent',1,0,0,315360000.0,2.11071691050745606412e+09,0.0,'01m81srrwmepjhhx82v2qsyexx','01m81srrx5a0g9hf055kjq9ywh','',18,1.79535691050166273117e+09,1,'');
INSERT INTO "outbox" VALUES('01m81srrzp5ty4ewa11ncrq5n5','01m81srmnzkwkhta8gkxb6p0k7','01m81srry0cp72yqwz6j843m3r:answer',0,1,1,'final','78e0e1d8a60f476da6cc66196ec16eed','re «g8»','sent',1,0,0,315360000.0,2.1107169106001133919e+09,0.0,'01m81srry0cp72yqwz6j843m3r','01m81srrzp5ty4ewa11ncrq5n5','',20,1.79535691058243489269e+09,1,'');
INSERT INTO "outbox" VALUES('01m81srs6hjkp2wx3wpam3xgnb','01m81srmnzkwkhta8gkxb6p0k7','01m81srs0j9s1e5f6t5wvmrf1b:answer',0,1,1,'notice','7d528e4c65dd39cb3429b61761e754c0','Folded turns 3–5 into memory/2026-11-22.md: 361 → 268 tokens (74%).','sent',1,0,0,315360000.0,2.11071691080532145489e+09,0.0,'01m81srs0j9s1e5f6t5wvmrf1b','01m81srs6hjkp2wx3wpam3xgnb','',22,1.79535691080160117148e+09,1,'');
INSERT INTO "outbox" VALUES('01m81srsa3ydhrffh2vc07zy15','01m81srs7x5rr8swz4ee33hreh','01m81srs7x0x16r4ke5n64zw3y:answer',0,1,1,'final','9a4afe5c47af4942f10ec5aa43bfe26d','re «w0»','sent',1,0,0,315360000.0,2.11071691100181078903e+09,0.0,'01m81srs7x0x16r4ke5n64zw3y','01m81srsa3ydhrffh2vc07zy15','',2,1.79535691091559839252e+09,1,'');
INSERT INTO "outbox" VALUES('01m81srseqac94nhj298ad4160','01m81srs7x5rr8swz4ee33hreh','01m81srsdbybkg4n83x6edpa3t:answer',0,1,1,'final','59d4b62eb369c06eeb509774f3ccc78c','re «w1»','sent',1,0,0,315360000.0,2.1107169110886826516e+09,0.0,'01m81srsdbybkg4n83x6edpa3t','01m81srseqac94nhj298ad4160','',4,1.79535691106349825857e+09,1,'');
INSERT INTO "outbox" VALUES('01m81srshqs85jgq823g4jtwkk','01m81srs7x5rr8swz4ee33hreh','01m81srsfv41z6vp9yywfyshmq:answer',0,1,1,'final','af3b7c78cf1930b66fdfdfc767f4542e','re «w2»','sent',1,0,0,315360000.0,2.11071691120324611665e+09,0.0,'01m81srsfv41z6vp9yywfyshmq','01m81srshqs85jgq823g4jtwkk','',6,1.79535691115994668013e+09,1,'');
INSERT INTO "outbox" VALUES('01m81srspew7pgmzj3wc43pata','01m81srs7x5rr8swz4ee33hreh','01m81srsk4ptm1a9t04qma9aw6:answer',0,1,1,'notice','ac0af6a2949cd3c8f5a08d40bbdf2995','Folded turn 1 into memory/2026-11-22.md: 90 → 72 tokens (80%).','sent',1,0,0,315360000.0,2.11071691131572079661e+09,0.0,'01m81srsk4ptm1a9t04qma9aw6','01m81srspew7pgmzj3wc43pata','',8,1.79535691131012725826e+09,1,'');
INSERT INTO "outbox" VALUES('01m81srsqhm50mk4bg7b0ras41','01m81srs7x5rr8swz4ee33hreh','01m81srspxw9sdsd35yneqefts:answer',0,1,1,'notice','17cc9c99b9e7895fe878254094d0b9bf','The fold is undone: turn 1 is back in the context.','sent',1,0,0,315360000.0,2.1107169113466217518e+09,0.0,'01m81srspxw9sdsd35yneqefts','01m81srsqhm50mk4bg7b0ras41','',10,1.79535691134533810617e+09,1,'');
INSERT INTO "outbox" VALUES('01m81srsrv86k12e82y7mev3jh','01m81srsqz0hk766vcv32v03fn','01m81srsqz1qky79kxf2gv881a:answer',0,1,1,'final','dce908badbe9e666b6cba8df1c8e61fe','re «o0»','sent',1,0,0,315360000.0,2.11071691139813613895e+09,0.0,'01m81srsqz1qky79kxf2gv881a','01m81srsrv86k12e82y7mev3jh','',2,1.79535691138768982886e+09,1,'');
INSERT INTO "outbox" VALUES('01m81srstanxpmy5b9cvstpqy6','01m81srsqz0hk766vcv32v03fn','01m81srsstj696jenj2nqrw9fs:answer',0,1,1,'final','e69c23e984fc1df9f830f222d18bbf64','re «o1»','sent',1,0,0,315360000.0,2.11071691143662214283e+09,0.0,'01m81srsstj696jenj2nqrw9fs','01m81srstanxpmy5b9cvstpqy6','',4,1.79535691143417644498e+09,1,'');
INSERT INTO "outbox" VALUES('01m81srsvkq50mr1764v7nk57k','01m81srsqz0hk766vcv32v03fn','01m81srstz8y1hsp79awbffayx:answer',0,1,2,'notice','545da6193d84e94e55d614bc06f8219a','The context is clear: the model sees nothing from before. The record stays; /context undo takes this back.','sent',1,0,0,315360000.0,2.11071691147632431993e+09,0.0,'01m81srstz8y1hsp79awbffayx','01m81srsvkq50mr1764v7nk57k','',6,1.79535691147512555115e+09,1,'');
INSERT INTO "outbox" VALUES('01m81srsxd9cjcksb6zdsmwaqp','01m81srsqz0hk766vcv32v03fn','01m81srsw7ctfp580ggw9x61cw:answer',0,1,2,'final','24e5aada899a36089eca11238c0fb1c2','re «o2»','sent',1,0,0,315360000.0,2.1107169115454530717e+09,0.0,'01m81srsw7ctfp580ggw9x61cw','01m81srsxd9cjcksb6zdsmwaqp','',8,1.79535691153351068495e+09,1,'');
INSERT INTO "outbox" VALUES('01m81srt3erkn21kagq7fh13ev','01m81srszg344etyekmwhm0acx','01m81srszg5xzgw0y1zreh2skg:answer',0,1,1,'final','7ebcfc2432f394b57cabc21ca867ba21','re «n0»','sent',1,0,0,315360000.0,2.11071691174325847635e+09,0.0,'01m81srszg5xzgw0y1zreh2skg','01m81srt3erkn21kagq7fh13ev','',2,1.79535691172639846804e+09,1,'');
INSERT INTO "outbox" VALUES('01m81srt5npw6jqxady7ewvg4f','01m81srszg344etyekmwhm0acx','01m81srt4k7x7ycsa3dwva2hx6:answer',0,1,2,'notice','2b28aca9d2739668defa673ca0b78af0','A new conversation begins; what came before (1 turn) is being written to today''s log.','sent',1,0,0,315360000.0,2.11071691184955453879e+09,0.0,'01m81srt4k7x7ycsa3dwva2hx6','01m81srt5npw6jqxady7ewvg4f','',4,1.7953569117978713512e+09,1,'');
INSERT INTO "outbox" VALUES('01m81srtakkz74dps2trv1bja7','01m81srszg344etyekmwhm0acx','01m81srt7mqkt2fpvb54vtkzwf:answer',0,1,2,'final','ee44058875a8de927b50b89e423ee5b3','re «n1»','sent',1,0,0,315360000.0,2.11071691197264838229e+09,0.0,'01m81srt7mqkt2fpvb54vtkzwf','01m81srtakkz74dps2trv1bja7','',6,1.79535691195514345171e+09,1,'');
INSERT INTO "outbox" VALUES('01m81srtkb7d7ethdgx06r3hkm','01m81srmnzkwkhta8gkxb6p0k7','01m81srtdwbncv97bv8ttft50h:answer',0,1,1,'notice','6ba8de86a5e30375d5ef197d8f648449','Remembered (facts): The gate code is 4711','sent',1,0,0,315360000.0,2.11071691224456810948e+09,0.0,'01m81srtdwbncv97bv8ttft50h','01m81srtkb7d7ethdgx06r3hkm','',24,1795356912.23585,1,'');
INSERT INTO "outbox" VALUES('01m81srtqjb2ecn9fpc6feesxk','01m81srmnzkwkhta8gkxb6p0k7','01m81srtmc7w196j0vps9a1ggt:answer',0,1,1,'final','9406b8e9200e4f63f5f614228387695f','re «m1»','sent',1,0,0,315360000.0,2.11071691239545321467e+09,0.0,'01m81srtmc7w196j0vps9a1ggt','01m81srtqjb2ecn9fpc6feesxk','',26,1795356912.3707,1,'');
INSERT INTO "outbox" VALUES('01m81srttphjwcepc5h2f51tjc','01m81srtrdgt7rztmsmrheed9v','01m81srtrdsfccghp7z3y8ya5d:answer',0,1,1,'final','08ea32e785c4462d5d021739ce26f3ce','re «t0»','sent',1,0,0,0.0,0.0,0.0,'01m81srtrdsfccghp7z3y8ya5d','2','',2,1795356912.47037,1,'');
INSERT INTO "outbox" VALUES('01m81srtx9h9v7bj6eh167mq7r','01m81srtrdgt7rztmsmrheed9v','01m81srtvndyzt9gn7k1w69tqz:answer',0,1,1,'final','f6ea70be412adfbe5870fac752a8e5e0','re «t1»','sent',1,0,0,0.0,0.0,0.0,'01m81srtvndyzt9gn7k1w69tqz','4','',4,1.79535691255369353296e+09,1,'');
INSERT INTO "outbox" VALUES('01m81srtz5gr6344n3wwj3fxg8','01m81srtz0r96qp49hb53kbz8z','pair:01m81srtz0vxtw20cj3zf9r1dh',0,1,1,'notice','075cb397268f275d4799561fdbf55f20','I talk only to people who were let in. Give this code to the person who runs me; it is good for an hour: `WHXX-HGBY`','sent',1,0,0,0.0,0.0,0.0,'','2','',2,1.79535691261365723614e+09,1,'');
INSERT INTO "outbox" VALUES('01m81srtz5e35kd36vn2hpfshb','01m81srtrdgt7rztmsmrheed9v','pairing:telegram:100:2026-11-22',0,1,1,'notice','43d6a5e62757d93cba9645b8c8f362fb','telegram `999` “`Ада`” asks to talk to me and was given a code. If you know them, have them tell you the code and enter it with `mnema pair approve CODE` in a terminal, or `/approve CODE` in the page or the terminal chat. I do not tell you of others today; `mnema pair list` shows who waits.','sent',1,0,0,0.0,0.0,0.0,'','5','',5,1.79535691261365723614e+09,1,'');
INSERT INTO "outbox" VALUES('01m81srxe6kv4ycg1fketwfm6t','01m81srwj8cc5sv4zfp7xrbq33','01m81srwj8qrzcrr5xz24ekjy9:answer',0,1,1,'final','7f576b2e0e81ce8047ba3f6b44190965','re «p1»','sent',1,0,0,315360000.0,2.11071691521443128582e+09,0.0,'01m81srwj8qrzcrr5xz24ekjy9','01m81srxe6kv4ycg1fketwfm6t','',2,1.7953569151426954269e+09,1,'');
INSERT INTO "outbox" VALUES('01m81ss1h7dm8a9zmxtxpdgrqs','01m81ss0jrx6phdkn7pw31c5vf','01m81ss0jrkz52b1vy73f4h4mf:answer',0,1,1,'final','54023f83a9a74c7cf8547439b55548d4','re «l0»','sent',1,0,0,315360000.0,2.11071691947920250884e+09,0.0,'01m81ss0jrkz52b1vy73f4h4mf','01m81ss1h7dm8a9zmxtxpdgrqs','',2,1.79535691933571147924e+09,2,'');
INSERT INTO "outbox" VALUES('01m81ss1wfdv1rdam5pnw9myyj','01m81ss0jrx6phdkn7pw31c5vf','01m81ss1rtbc1q5jrtrnh6ax91:answer',0,1,1,'final','aacdd0f255c0390fcb9bd8f4a06cb410','re «l1»','sent',1,0,0,315360000.0,2.11071691972797346125e+09,0.0,'01m81ss1rtbc1q5jrtrnh6ax91','01m81ss1wfdv1rdam5pnw9myyj','',4,1.79535691969591736788e+09,2,'');
INSERT INTO "outbox" VALUES('01m81ss3z52kpr6bec3dgjnke9','01m81ss0jrx6phdkn7pw31c5vf','01m81ss3y4g1n36v29mqhxdewx:answer',0,1,1,'final','530fea90031e53c04d38aa57274350e9','re «l2»','sending',1,0,0,315360000.0,2.11071692183595156669e+09,0.0,'01m81ss3y4g1n36v29mqhxdewx','','',6,1.79535692182936191555e+09,2,'');
CREATE TABLE prefix_text (
	sha256 TEXT NOT NULL, 
	text TEXT NOT NULL, 
	PRIMARY KEY (sha256)
);
INSERT INTO "prefix_text" VALUES('9e0b173ed1df3dfd43c2a0985610ed44f4e9ebf9fcb9be0298b11c768a32fb66','Your channels: telegram, terminal, web.
Your tools:
- now: The current date, weekday, time and time zone of the person.
- recall: Show the stored original of something earlier in this conversation that is shortened or folded now: by the handle given there, or a whole turn by its number. Pages of about 8000 characters.
- memory_search: Search all that this person has told you or that was noted: long-term memory, daily logs and every conversation, however old. Give the content words, in the language it was said in.
- memory_get: Read lines of a memory file, around one that memory_search named, at most 200: MEMORY.md or a daily log.
- memory_write: Note one lasting fact in long-term memory; it is merged with what is noted of the same already, and the person is shown it.
- list_files: List the files in the workspace, or in one of its folders, with size and time of change.
- read_file: Read a text file of the workspace, 400 lines at a time. The first line of the result tells the file''s version, which write_file asks for.
- write_file: Write a whole text file in the workspace. To replace one that exists, read it first and pass its version.
- edit_file: Replace one passage of a text file. `old` must occur exactly once, as it stands in the file.
- send_file: Send a file into this chat: one that stands under outbox/ in the workspace, by `path`, or one that came with an earlier message, by `handle`. It is delivered by itself.');
INSERT INTO "prefix_text" VALUES('aa0fea7604628517643648c9af3ee050f3225f43e3c51d88013a8f7caf7f128f','[MEMORY.md: long-term memory, for reference; the newest message wins]
# 长期记忆 · Long-term memory

每个标题下一条一行，可以用任何编辑器修改。
One memory per bullet under each heading; edit it in any editor.

## 偏好 · Preferences

- «g0» the roses want water; I prefer tea
- «g1» the roses want water; I prefer tea
- «g2» the roses want water; I prefer tea
- «g3» the roses want water; I prefer tea
- «g4» the roses want water; I prefer tea

## 项目 · Projects

## 技能 · Skills

## 事实 · Facts
[End of MEMORY.md]');
INSERT INTO "prefix_text" VALUES('30de041a92fb5bce28e9de003157f4cdd012e2652d4f90768f782607bf7af94f','[Daily log of 2026-11-22, for reference]
## 14:15 · web · turns 1–2

- «g0» the roses want water; I prefer tea. 花园要浇水
- «g1» the roses want water; I prefer tea. 花园要浇水

## 14:15 · web · turns 3–5

- «g2» the roses want water; I prefer tea. 花园要浇水
- «g3» the roses want water; I prefer tea. 花园要浇水
- «g4» the roses want water; I prefer tea. 花园要浇水
- 14:15 Bot: re «g1»
[End of the daily log]');
INSERT INTO "prefix_text" VALUES('b02c32b3bb159ffb30bb81250683be789e65af3789048470f6452f24be6ad698','[MEMORY.md: long-term memory, for reference; the newest message wins]
# 长期记忆 · Long-term memory

每个标题下一条一行，可以用任何编辑器修改。
One memory per bullet under each heading; edit it in any editor.

## 偏好 · Preferences

- «g0» the roses want water; I prefer tea
- «g1» the roses want water; I prefer tea
- «g2» the roses want water; I prefer tea
- «g3» the roses want water; I prefer tea
- «g4» the roses want water; I prefer tea

## 项目 · Projects

## 技能 · Skills

## 事实 · Facts

- The gate code is 4711
[End of MEMORY.md]');
INSERT INTO "prefix_text" VALUES('3372e4fa09881814365acee6eef7bf4608c8edd1165f23e5a167855b876951ee','[Daily log of 2026-11-22, for reference]
## 14:15 · web · turns 1–1

- «n0» what do you make of it?
[End of the daily log]');
INSERT INTO "prefix_text" VALUES('c7c9862cc5b55523127c3df6f2e26ac8eb7bf51ac799700818bd94a644eff1a8','[MEMORY.md: long-term memory, for reference; the newest message wins]
# 长期记忆 · Long-term memory

每个标题下一条一行，可以用任何编辑器修改。
One memory per bullet under each heading; edit it in any editor.

## 偏好 · Preferences

- «g0» the roses want water; I prefer tea
- «g1» the roses want water; I prefer tea
- «g2» the roses want water; I prefer tea
- «g3» the roses want water; I prefer tea
- «g4» the roses want water; I prefer tea
- I prefer green tea

## 项目 · Projects

## 技能 · Skills

## 事实 · Facts

- The gate code is 4711
[End of MEMORY.md]');
INSERT INTO "prefix_text" VALUES('ded8108213570f4b40636a231d73174136f2b70e42d0135e17aec21625d07da6','[Daily log of 2026-11-22, for reference]
## 14:15 · web · turns 1–2

- «g0» the roses want water; I prefer tea. 花园要浇水
- «g1» the roses want water; I prefer tea. 花园要浇水

## 14:15 · web · turns 3–5

- «g2» the roses want water; I prefer tea. 花园要浇水
- «g3» the roses want water; I prefer tea. 花园要浇水
- «g4» the roses want water; I prefer tea. 花园要浇水
- 14:15 Bot: re «g1»

## 14:15 · web · turns 1–1

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
INSERT INTO "reduction" VALUES('01m81srqd5h0f4yb26ev3pdneh',0,'snip','01m81srmnzkwkhta8gkxb6p0k7','re … g0',3,'size',1);
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
INSERT INTO "snapshot" VALUES('01m81srs7x5rr8swz4ee33hreh','b73b62527681b8f5de1d6f00987f8f8d32f063078e32f3b7323d40d8c9306ea0',1,'',0,1.7953569109058680535e+09);
INSERT INTO "snapshot" VALUES('01m81srsqz0hk766vcv32v03fn','b73b62527681b8f5de1d6f00987f8f8d32f063078e32f3b7323d40d8c9306ea0',2,'',0,1.79535691151933526994e+09);
INSERT INTO "snapshot" VALUES('01m81srszg344etyekmwhm0acx','b73b62527681b8f5de1d6f00987f8f8d32f063078e32f3b7323d40d8c9306ea0',2,'',0,1.79535691190348529813e+09);
INSERT INTO "snapshot" VALUES('01m81srmnzkwkhta8gkxb6p0k7','e2f2e7aaafa10ef2666e310b8e214d99b841f22626add9083cfcbaef1de129a9',1,'01m81srs27bwganvvzapnwskr8',0,1.79535691234925723078e+09);
INSERT INTO "snapshot" VALUES('01m81srtrdgt7rztmsmrheed9v','4ab51150ab2d48175a50a66a0e044ca1083caf1969f9fcaec26d2d75d4cf490a',1,'',0,1.79535691245036840434e+09);
INSERT INTO "snapshot" VALUES('01m81srwj8cc5sv4zfp7xrbq33','4ab51150ab2d48175a50a66a0e044ca1083caf1969f9fcaec26d2d75d4cf490a',1,'',0,1.79535691505210161212e+09);
INSERT INTO "snapshot" VALUES('01m81ss0jrx6phdkn7pw31c5vf','4ab51150ab2d48175a50a66a0e044ca1083caf1969f9fcaec26d2d75d4cf490a',1,'',0,1.79535691912934112545e+09);
INSERT INTO "snapshot" VALUES('01m81ss2x9dgq4qphpdzn86vbb','4ab51150ab2d48175a50a66a0e044ca1083caf1969f9fcaec26d2d75d4cf490a',1,'',0,1.79535692077053141589e+09);
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
INSERT INTO "snapshot_part" VALUES('01m81srs7x5rr8swz4ee33hreh',0,'awareness','9e0b173ed1df3dfd43c2a0985610ed44f4e9ebf9fcb9be0298b11c768a32fb66','[]');
INSERT INTO "snapshot_part" VALUES('01m81srs7x5rr8swz4ee33hreh',1,'MEMORY.md','aa0fea7604628517643648c9af3ee050f3225f43e3c51d88013a8f7caf7f128f','[]');
INSERT INTO "snapshot_part" VALUES('01m81srs7x5rr8swz4ee33hreh',2,'log','30de041a92fb5bce28e9de003157f4cdd012e2652d4f90768f782607bf7af94f','[]');
INSERT INTO "snapshot_part" VALUES('01m81srsqz0hk766vcv32v03fn',0,'awareness','9e0b173ed1df3dfd43c2a0985610ed44f4e9ebf9fcb9be0298b11c768a32fb66','[]');
INSERT INTO "snapshot_part" VALUES('01m81srsqz0hk766vcv32v03fn',1,'MEMORY.md','aa0fea7604628517643648c9af3ee050f3225f43e3c51d88013a8f7caf7f128f','[]');
INSERT INTO "snapshot_part" VALUES('01m81srsqz0hk766vcv32v03fn',2,'log','30de041a92fb5bce28e9de003157f4cdd012e2652d4f90768f782607bf7af94f','[]');
INSERT INTO "snapshot_part" VALUES('01m81srszg344etyekmwhm0acx',0,'awareness','9e0b173ed1df3dfd43c2a0985610ed44f4e9ebf9fcb9be0298b11c768a32fb66','[]');
INSERT INTO "snapshot_part" VALUES('01m81srszg344etyekmwhm0acx',1,'MEMORY.md','aa0fea7604628517643648c9af3ee050f3225f43e3c51d88013a8f7caf7f128f','[]');
INSERT INTO "snapshot_part" VALUES('01m81srszg344etyekmwhm0acx',2,'log','30de041a92fb5bce28e9de003157f4cdd012e2652d4f90768f782607bf7af94f','[]');
INSERT INTO "snapshot_part" VALUES('01m81srmnzkwkhta8gkxb6p0k7',0,'awareness','9e0b173ed1df3dfd43c2a0985610ed44f4e9ebf9fcb9be0298b11c768a32fb66','[]');
INSERT INTO "snapshot_part" VALUES('01m81srmnzkwkhta8gkxb6p0k7',1,'MEMORY.md','b02c32b3bb159ffb30bb81250683be789e65af3789048470f6452f24be6ad698','[]');
INSERT INTO "snapshot_part" VALUES('01m81srmnzkwkhta8gkxb6p0k7',2,'log','3372e4fa09881814365acee6eef7bf4608c8edd1165f23e5a167855b876951ee','[]');
INSERT INTO "snapshot_part" VALUES('01m81srtrdgt7rztmsmrheed9v',0,'awareness','9e0b173ed1df3dfd43c2a0985610ed44f4e9ebf9fcb9be0298b11c768a32fb66','[]');
INSERT INTO "snapshot_part" VALUES('01m81srtrdgt7rztmsmrheed9v',1,'MEMORY.md','c7c9862cc5b55523127c3df6f2e26ac8eb7bf51ac799700818bd94a644eff1a8','[]');
INSERT INTO "snapshot_part" VALUES('01m81srtrdgt7rztmsmrheed9v',2,'log','ded8108213570f4b40636a231d73174136f2b70e42d0135e17aec21625d07da6','[]');
INSERT INTO "snapshot_part" VALUES('01m81srwj8cc5sv4zfp7xrbq33',0,'awareness','9e0b173ed1df3dfd43c2a0985610ed44f4e9ebf9fcb9be0298b11c768a32fb66','[]');
INSERT INTO "snapshot_part" VALUES('01m81srwj8cc5sv4zfp7xrbq33',1,'MEMORY.md','c7c9862cc5b55523127c3df6f2e26ac8eb7bf51ac799700818bd94a644eff1a8','[]');
INSERT INTO "snapshot_part" VALUES('01m81srwj8cc5sv4zfp7xrbq33',2,'log','ded8108213570f4b40636a231d73174136f2b70e42d0135e17aec21625d07da6','[]');
INSERT INTO "snapshot_part" VALUES('01m81ss0jrx6phdkn7pw31c5vf',0,'awareness','9e0b173ed1df3dfd43c2a0985610ed44f4e9ebf9fcb9be0298b11c768a32fb66','[]');
INSERT INTO "snapshot_part" VALUES('01m81ss0jrx6phdkn7pw31c5vf',1,'MEMORY.md','c7c9862cc5b55523127c3df6f2e26ac8eb7bf51ac799700818bd94a644eff1a8','[]');
INSERT INTO "snapshot_part" VALUES('01m81ss0jrx6phdkn7pw31c5vf',2,'log','ded8108213570f4b40636a231d73174136f2b70e42d0135e17aec21625d07da6','[]');
INSERT INTO "snapshot_part" VALUES('01m81ss2x9dgq4qphpdzn86vbb',0,'awareness','9e0b173ed1df3dfd43c2a0985610ed44f4e9ebf9fcb9be0298b11c768a32fb66','[]');
INSERT INTO "snapshot_part" VALUES('01m81ss2x9dgq4qphpdzn86vbb',1,'MEMORY.md','c7c9862cc5b55523127c3df6f2e26ac8eb7bf51ac799700818bd94a644eff1a8','[]');
INSERT INTO "snapshot_part" VALUES('01m81ss2x9dgq4qphpdzn86vbb',2,'log','ded8108213570f4b40636a231d73174136f2b70e42d0135e17aec21625d07da6','[]');
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
INSERT INTO "tool_call" VALUES('01m81srrytmq2gjtytq3eas8sp','01m81srryccabzvk6xxhvt4g5d',0,'call_g8','write_file','{"path": "notes/roses.md", "content": "water on Mondays"}','idempotent','8a9e32a47db17fb8c783826a6774e038','done',1,'01m81srrzdnckvr9dkdybkznr2');
INSERT INTO "tool_call" VALUES('01m81ss2z4d9wnd5m71zz71qwg','01m81ss2xs1mjkvpyedgwdaz2k',0,'call_x1','write_file','{"path": "notes/x.md", "content": "x"}','idempotent','1b1ffc4ea1b919e0848a92ee56c269a2','started',1,'');
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
INSERT INTO "turn" VALUES('01m81srms8hsajnaedd00tz4ys','01m81srmnzkwkhta8gkxb6p0k7',1,1,'01m81srmnzt2s3mam18rrs4ss2','owner','done',0,0,'01m81srmnz3bsryj6qg27xg216',1,1,1.79535690628074789043e+09,1.7953569089651703834e+09);
INSERT INTO "turn" VALUES('01m81srqfx5cvfdmq2hcbzrqwd','01m81srmnzkwkhta8gkxb6p0k7',2,1,'01m81srqea6fkfh70mnesnqsc9','owner','done',0,0,'01m81srqeav77939b9eskjwezk',3,1,1.79535690905343151089e+09,1795356909.28841);
INSERT INTO "turn" VALUES('01m81srqv4nx0kg9fqk6p1ghr1','01m81srmnzkwkhta8gkxb6p0k7',3,1,'01m81srqs44atpaybwxg6zhqva','owner','done',0,0,'01m81srqs4k8643e0h7nj0nchs',5,1,1.79535690941258883478e+09,1.79535690948391366003e+09);
INSERT INTO "turn" VALUES('01m81srqz4zcqfn7d7r8tb1tem','01m81srmnzkwkhta8gkxb6p0k7',4,1,'01m81srqyp7t1a98zr68z9by54','owner','done',0,0,'01m81srqypf43n66b6wbpa5kb6',7,1,1.79535690954031872754e+09,1.79535690962537860873e+09);
INSERT INTO "turn" VALUES('01m81srr5et0bvc8jhbd3mtg8p','01m81srmnzkwkhta8gkxb6p0k7',5,1,'01m81srr3kbeh3gf31v4k3a954','owner','done',0,0,'01m81srr3k8ta1gbnbrnmnfhnr',9,1,1.79535690974255871766e+09,1.79535690981872272488e+09);
INSERT INTO "turn" VALUES('01m81srrkjxv4tvybjanxm8fgv','01m81srmnzkwkhta8gkxb6p0k7',6,1,'01m81srrk53z8gtey8vgfawxfs','owner','done',0,0,'01m81srrk5z8k3xtr267ftsxmt',11,1,1.79535691019485783579e+09,1.79535691033513474467e+09);
INSERT INTO "turn" VALUES('01m81srrs6dzb6ew2st1qs7jd6','01m81srmnzkwkhta8gkxb6p0k7',7,1,'01m81srrrx8hdmz4byxdww14cm','owner','done',0,0,'01m81srrrxwf2jbd6bet31vyb9',13,1,1.79535691037408137327e+09,1.79535691045875191685e+09);
INSERT INTO "turn" VALUES('01m81srrwxrq70yyacd3xg8tgh','01m81srmnzkwkhta8gkxb6p0k7',8,1,'01m81srrwmepjhhx82v2qsyexx','owner','done',0,0,'01m81srrwmm1yg93ydgxr4x192',15,1,1.79535691049376344686e+09,1.79535691050166273117e+09);
INSERT INTO "turn" VALUES('01m81srryccabzvk6xxhvt4g5d','01m81srmnzkwkhta8gkxb6p0k7',9,1,'01m81srry0cp72yqwz6j843m3r','owner','done',1,0,'01m81srry0kqm13da0dxh2j676',17,1,1.79535691054038405419e+09,1.79535691058243489269e+09);
INSERT INTO "turn" VALUES('01m81srs93mr90sfd2t893p81b','01m81srs7x5rr8swz4ee33hreh',1,1,'01m81srs7x0x16r4ke5n64zw3y','owner','done',0,0,'01m81srs7x6wq3gcs4bt7wp8j2',1,1,1.79535691088317155839e+09,1.79535691091559839252e+09);
INSERT INTO "turn" VALUES('01m81srsdysqt3n6f8kgfbfcq8','01m81srs7x5rr8swz4ee33hreh',2,1,'01m81srsdbybkg4n83x6edpa3t','owner','done',0,0,'01m81srsdbc6v6fd43kk7c9jd3',3,1,1.79535691103887486454e+09,1.79535691106349825857e+09);
INSERT INTO "turn" VALUES('01m81srsgc3y939ehekems5hgp','01m81srs7x5rr8swz4ee33hreh',3,1,'01m81srsfv41z6vp9yywfyshmq','owner','done',0,0,'01m81srsfv5234jnp2xh9d6yje',5,1,1.79535691111669969558e+09,1.79535691115994668013e+09);
INSERT INTO "turn" VALUES('01m81srsr3nkt3rw3rvc7yk778','01m81srsqz0hk766vcv32v03fn',1,1,'01m81srsqz1qky79kxf2gv881a','owner','done',0,0,'01m81srsqzkwvfp3nw0rbx40r9',1,1,1.79535691136335110668e+09,1.79535691138768982886e+09);
INSERT INTO "turn" VALUES('01m81srst00qwj5q59t86rmv7e','01m81srsqz0hk766vcv32v03fn',2,1,'01m81srsstj696jenj2nqrw9fs','owner','done',0,0,'01m81srsstj4yt7sqbsjdb7f9b',3,1,1.79535691142453479769e+09,1.79535691143417644498e+09);
INSERT INTO "turn" VALUES('01m81srswcqbv2e7ykc2epfw0v','01m81srsqz0hk766vcv32v03fn',3,2,'01m81srsw7ctfp580ggw9x61cw','owner','done',0,0,'01m81srsw7jvyap9phnkbtftsg',5,1,1.79535691150030779841e+09,1.79535691153351068495e+09);
INSERT INTO "turn" VALUES('01m81srt0a5vz0wtv41zq4ehkr','01m81srszg344etyekmwhm0acx',1,1,'01m81srszg5xzgw0y1zreh2skg','owner','done',0,0,'01m81srszgv8r65ytg3srk0hkf',1,1,1.79535691162642264363e+09,1.79535691172639846804e+09);
INSERT INTO "turn" VALUES('01m81srt8b0vqcbmzys30mnr1r','01m81srszg344etyekmwhm0acx',2,2,'01m81srt7mqkt2fpvb54vtkzwf','owner','done',0,0,'01m81srt7mbg9d4y2wpb9ps0tv',3,1,1.7953569118836271763e+09,1.79535691195514345171e+09);
INSERT INTO "turn" VALUES('01m81srtncnmz0jx88bg59cza6','01m81srmnzkwkhta8gkxb6p0k7',10,1,'01m81srtmc7w196j0vps9a1ggt','owner','done',0,0,'01m81srtmccerrj1d8tx5p5q55',21,1,1.79535691230042171472e+09,1795356912.3707);
INSERT INTO "turn" VALUES('01m81srts3x8t84qjcm14d8da9','01m81srtrdgt7rztmsmrheed9v',1,1,'01m81srtrdsfccghp7z3y8ya5d','5005','done',0,0,'01m81srtrdd70ja2nxt37gbpy2',1,1,1.79535691241992807383e+09,1795356912.47037);
INSERT INTO "turn" VALUES('01m81srtwg87jj4bxfpn77js3m','01m81srtrdgt7rztmsmrheed9v',2,1,'01m81srtvndyzt9gn7k1w69tqz','5005','done',0,0,'01m81srtvn7fg0ffv6svkjnssw',3,1,1.79535691252891540527e+09,1.79535691255369353296e+09);
INSERT INTO "turn" VALUES('01m81srxa3hjvjrrncnme63h87','01m81srwj8cc5sv4zfp7xrbq33',1,1,'01m81srwj8qrzcrr5xz24ekjy9','owner','done',0,0,'01m81srwj8j1ppe30r729r0r8y',1,1,1.79535691501151657102e+09,1.7953569151426954269e+09);
INSERT INTO "turn" VALUES('01m81ss0ty0ze775ynytex08mx','01m81ss0jrx6phdkn7pw31c5vf',1,1,'01m81ss0jrkz52b1vy73f4h4mf','owner','done',0,0,'01m81ss0jr052wczevzsj9bc2r',1,2,1.79535691862256193158e+09,1.79535691933571147924e+09);
INSERT INTO "turn" VALUES('01m81ss1sfdqnrdsr1tvgpfkmp','01m81ss0jrx6phdkn7pw31c5vf',2,1,'01m81ss1rtbc1q5jrtrnh6ax91','owner','done',0,0,'01m81ss1rt3ygf8jsm4x3pvm1b',3,2,1.79535691959955239294e+09,1.79535691969591736788e+09);
INSERT INTO "turn" VALUES('01m81ss2xs1mjkvpyedgwdaz2k','01m81ss2x9dgq4qphpdzn86vbb',1,1,'01m81ss2x9vx2nn5q37wvnw7c6','owner','waiting',1,0,'01m81ss2x9mncb3s9sgzhed2fj',1,2,1.79535692076117634778e+09,0.0);
INSERT INTO "turn" VALUES('01m81ss3yd56e957fbf3s06nfh','01m81ss0jrx6phdkn7pw31c5vf',3,1,'01m81ss3y4g1n36v29mqhxdewx','owner','done',0,0,'01m81ss3y4jmx9a94e9sqwdske',5,2,1.79535692180564832682e+09,1.79535692182936191555e+09);
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
INSERT INTO "usage" VALUES('01m81srqd5yb0zq7xc848gm0f7','01m81srmnzkwkhta8gkxb6p0k7','01m81srms8hsajnaedd00tz4ys','gpt-6.1-terra','turn',2282,3,0,0,0,1.7953569089651703834e+09);
INSERT INTO "usage" VALUES('01m81srqeah04bq4ynwx1ch7yd','01m81srmnzkwkhta8gkxb6p0k7','','gpt-6-luna','extract',446,49,0,0,0,1.7953569090026512146e+09);
INSERT INTO "usage" VALUES('01m81srqq88kzp2reebc7c3pq9','01m81srmnzkwkhta8gkxb6p0k7','01m81srqfx5cvfdmq2hcbzrqwd','gpt-6.1-terra','turn',2419,3,0,0,0,1795356909.28841);
INSERT INTO "usage" VALUES('01m81srqs43wcktzqg2k37vs76','01m81srmnzkwkhta8gkxb6p0k7','','gpt-6-luna','extract',468,49,0,0,0,1.79535690934861660002e+09);
INSERT INTO "usage" VALUES('01m81srqxbd1z0g4gkw5mtg9bk','01m81srmnzkwkhta8gkxb6p0k7','01m81srqv4nx0kg9fqk6p1ghr1','gpt-6.1-terra','turn',2453,3,0,0,0,1.79535690948391366003e+09);
INSERT INTO "usage" VALUES('01m81srqzpr27r4gn79vp2ps6b','01m81srmnzkwkhta8gkxb6p0k7','','gpt-6-luna','extract',480,49,0,0,0,1.79535690955813193319e+09);
INSERT INTO "usage" VALUES('01m81srr1sfdd205ejrv72z8xp','01m81srmnzkwkhta8gkxb6p0k7','01m81srqz4zcqfn7d7r8tb1tem','gpt-6.1-terra','turn',2514,3,0,0,0,1.79535690962537860873e+09);
INSERT INTO "usage" VALUES('01m81srr56zmqavaakzf19feb2','01m81srmnzkwkhta8gkxb6p0k7','','gpt-6-luna','extract',491,49,0,0,0,1.79535690973439216616e+09);
INSERT INTO "usage" VALUES('01m81srr7tte53fjw5waezy3ke','01m81srmnzkwkhta8gkxb6p0k7','01m81srr5et0bvc8jhbd3mtg8p','gpt-6.1-terra','turn',2560,3,0,0,0,1.79535690981872272488e+09);
INSERT INTO "usage" VALUES('01m81srrc0psc5e5yvjj4z7czh','01m81srmnzkwkhta8gkxb6p0k7','','gpt-6-luna','extract',503,49,0,0,0,1.79535690995293259614e+09);
INSERT INTO "usage" VALUES('01m81srrdkkmxtvb6zhpq0nz9w','01m81srmnzkwkhta8gkxb6p0k7','','gpt-6-luna','fold',456,71,0,0,0,1.79535691000367522238e+09);
INSERT INTO "usage" VALUES('01m81srrqzb0q5zgcbbxb1xrma','01m81srmnzkwkhta8gkxb6p0k7','01m81srrkjxv4tvybjanxm8fgv','gpt-6.1-terra','turn',2588,3,0,0,0,1.79535691033513474467e+09);
INSERT INTO "usage" VALUES('01m81srrvkzxrvq9tyz1202nhd','01m81srmnzkwkhta8gkxb6p0k7','','gpt-6-luna','extract',507,1,0,0,0,1.79535691045103955269e+09);
INSERT INTO "usage" VALUES('01m81srrvtta2pm90bq93z82v1','01m81srmnzkwkhta8gkxb6p0k7','01m81srrs6dzb6ew2st1qs7jd6','gpt-6.1-terra','turn',2615,3,0,0,0,1.79535691045875191685e+09);
INSERT INTO "usage" VALUES('01m81srrw89w5cxdkrh6ksv32q','01m81srmnzkwkhta8gkxb6p0k7','','gpt-6-luna','extract',507,1,0,0,0,1.79535691047299361235e+09);
INSERT INTO "usage" VALUES('01m81srrx5td7v8qybpdpradbz','01m81srmnzkwkhta8gkxb6p0k7','01m81srrwxrq70yyacd3xg8tgh','gpt-6.1-terra','turn',2643,3,0,0,0,1.79535691050166273117e+09);
INSERT INTO "usage" VALUES('01m81srrxp2m1nffz78fq2a88h','01m81srmnzkwkhta8gkxb6p0k7','','gpt-6-luna','extract',507,1,0,0,0,1.79535691051840591431e+09);
INSERT INTO "usage" VALUES('01m81srrytta8hrjf2qxb2zytm','01m81srmnzkwkhta8gkxb6p0k7','01m81srryccabzvk6xxhvt4g5d','gpt-6.1-terra','turn',2685,19,0,0,0,1.79535691055472469332e+09);
INSERT INTO "usage" VALUES('01m81srrzpdpfwr4wdhw8q1sgt','01m81srmnzkwkhta8gkxb6p0k7','01m81srryccabzvk6xxhvt4g5d','gpt-6.1-terra','turn',2768,3,0,0,0,1.79535691058243489269e+09);
INSERT INTO "usage" VALUES('01m81srs2287jenbm26kt9zehz','01m81srmnzkwkhta8gkxb6p0k7','','gpt-6-luna','extract',521,1,0,0,0,1.79535691065888762477e+09);
INSERT INTO "usage" VALUES('01m81srs44nps4j8an8qcxdt38','01m81srmnzkwkhta8gkxb6p0k7','','gpt-6-luna','fold',529,102,0,0,0,1.79535691072483515736e+09);
INSERT INTO "usage" VALUES('01m81srsa3133n9161yfxtd819','01m81srs7x5rr8swz4ee33hreh','01m81srs93mr90sfd2t893p81b','gpt-6.1-terra','turn',2671,3,0,0,0,1.79535691091559839252e+09);
INSERT INTO "usage" VALUES('01m81srsdqm0wtgrr94n8xr7kw','01m81srs7x5rr8swz4ee33hreh','','gpt-6-luna','extract',461,1,0,0,0,1.79535691103155684465e+09);
INSERT INTO "usage" VALUES('01m81srseqfp4dqfq6smta1cqx','01m81srs7x5rr8swz4ee33hreh','01m81srsdysqt3n6f8kgfbfcq8','gpt-6.1-terra','turn',2699,3,0,0,0,1.79535691106349825857e+09);
INSERT INTO "usage" VALUES('01m81srshq2v9qawp8czbqe6vv','01m81srs7x5rr8swz4ee33hreh','01m81srsgc3y939ehekems5hgp','gpt-6.1-terra','turn',2726,3,0,0,0,1.79535691115994668013e+09);
INSERT INTO "usage" VALUES('01m81srsjhmtp4kc8dcqdc7ykg','01m81srs7x5rr8swz4ee33hreh','','gpt-6-luna','extract',461,1,0,0,0,1.79535691118571591375e+09);
INSERT INTO "usage" VALUES('01m81srsnqpfp09vr063myq2jc','01m81srs7x5rr8swz4ee33hreh','','gpt-6-luna','fold',419,25,0,0,0,1.79535691128792643548e+09);
INSERT INTO "usage" VALUES('01m81srsnrs2wd96tzv3wky1tp','01m81srs7x5rr8swz4ee33hreh','','gpt-6-luna','extract',461,1,0,0,0,1.79535691128803730014e+09);
INSERT INTO "usage" VALUES('01m81srsrvw6ga6res3228k4p1','01m81srsqz0hk766vcv32v03fn','01m81srsr3nkt3rw3rvc7yk778','gpt-6.1-terra','turn',2682,3,0,0,0,1.79535691138768982886e+09);
INSERT INTO "usage" VALUES('01m81srssdvngewk9tq8dvwnqr','01m81srsqz0hk766vcv32v03fn','','gpt-6-luna','extract',461,1,0,0,0,1.79535691140528559685e+09);
INSERT INTO "usage" VALUES('01m81srstarvnpcq2hxkzcmya4','01m81srsqz0hk766vcv32v03fn','01m81srst00qwj5q59t86rmv7e','gpt-6.1-terra','turn',2710,3,0,0,0,1.79535691143417644498e+09);
INSERT INTO "usage" VALUES('01m81srsthx4hv1q6w35ccak8y','01m81srsqz0hk766vcv32v03fn','','gpt-6-luna','extract',461,1,0,0,0,1.79535691144165611269e+09);
INSERT INTO "usage" VALUES('01m81srsxdag0ywn6y48wxxe9m','01m81srsqz0hk766vcv32v03fn','01m81srswcqbv2e7ykc2epfw0v','gpt-6.1-terra','turn',2682,3,0,0,0,1.79535691153351068495e+09);
INSERT INTO "usage" VALUES('01m81srsyj9ge4kg29mh3ty2hr','01m81srsqz0hk766vcv32v03fn','','gpt-6-luna','extract',461,1,0,0,0,1.79535691157047700879e+09);
INSERT INTO "usage" VALUES('01m81srt3em4m5qayb1kj14fmr','01m81srszg344etyekmwhm0acx','01m81srt0a5vz0wtv41zq4ehkr','gpt-6.1-terra','turn',2682,3,0,0,0,1.79535691172639846804e+09);
INSERT INTO "usage" VALUES('01m81srt63kjytstvse0x91wmr','01m81srszg344etyekmwhm0acx','','gpt-6-luna','extract',461,1,0,0,0,1.79535691181149697302e+09);
INSERT INTO "usage" VALUES('01m81srt73t8wpy3sy17pvw2eh','01m81srszg344etyekmwhm0acx','','gpt-6-luna','fold',419,25,0,0,0,1.79535691184316778187e+09);
INSERT INTO "usage" VALUES('01m81srtak4fkc9ekjvzm5c1kk','01m81srszg344etyekmwhm0acx','01m81srt8b0vqcbmzys30mnr1r','gpt-6.1-terra','turn',2682,3,0,0,0,1.79535691195514345171e+09);
INSERT INTO "usage" VALUES('01m81srtc1ntgsna5jqby8wdhr','01m81srszg344etyekmwhm0acx','','gpt-6-luna','extract',461,1,0,0,0,1.79535691200198221201e+09);
INSERT INTO "usage" VALUES('01m81srtqj32vhmyz32gprmbtp','01m81srmnzkwkhta8gkxb6p0k7','01m81srtncnmz0jx88bg59cza6','gpt-6.1-terra','turn',2752,3,0,0,0,1795356912.3707);
INSERT INTO "usage" VALUES('01m81srtrrr0t63xwj5yh5thtr','01m81srmnzkwkhta8gkxb6p0k7','','gpt-6-luna','extract',510,38,0,0,0,1.79535691240874218941e+09);
INSERT INTO "usage" VALUES('01m81srttpjn0hnq277et0c1jq','01m81srtrdgt7rztmsmrheed9v','01m81srts3x8t84qjcm14d8da9','gpt-6.1-terra','turn',2712,3,0,0,0,1795356912.47037);
INSERT INTO "usage" VALUES('01m81srtvbgnmmcw478dy48xsv','01m81srtrdgt7rztmsmrheed9v','','gpt-6-luna','extract',461,1,0,0,0,1.79535691249170851709e+09);
INSERT INTO "usage" VALUES('01m81srtx9g6watd9mj3xhrxeq','01m81srtrdgt7rztmsmrheed9v','01m81srtwg87jj4bxfpn77js3m','gpt-6.1-terra','turn',2739,3,0,0,0,1.79535691255369353296e+09);
INSERT INTO "usage" VALUES('01m81srtyv0hhwj18vq9b5tm28','01m81srtrdgt7rztmsmrheed9v','','gpt-6-luna','extract',461,1,0,0,0,1.79535691260378146164e+09);
INSERT INTO "usage" VALUES('01m81srxe67ff9zmcpmzr036kn','01m81srwj8cc5sv4zfp7xrbq33','01m81srxa3hjvjrrncnme63h87','gpt-6.1-terra','turn',2766,3,0,0,0,1.7953569151426954269e+09);
INSERT INTO "usage" VALUES('01m81srxj37mky9fehe33g3att','01m81srwj8cc5sv4zfp7xrbq33','','gpt-6-luna','extract',461,1,0,0,0,1.79535691526724410058e+09);
INSERT INTO "usage" VALUES('01m81ss1h7ssg3tek7hnrhhvcc','01m81ss0jrx6phdkn7pw31c5vf','01m81ss0ty0ze775ynytex08mx','gpt-6.1-terra','turn',2712,3,0,0,0,1.79535691933571147924e+09);
INSERT INTO "usage" VALUES('01m81ss1s2e8ngrwgydqm0waya','01m81ss0jrx6phdkn7pw31c5vf','','gpt-6-luna','extract',461,1,0,0,0,1.79535691958692336083e+09);
INSERT INTO "usage" VALUES('01m81ss1wffvtvwz92banzpz7g','01m81ss0jrx6phdkn7pw31c5vf','01m81ss1sfdqnrdsr1tvgpfkmp','gpt-6.1-terra','turn',2739,3,0,0,0,1.79535691969591736788e+09);
INSERT INTO "usage" VALUES('01m81ss1y3sre3774fg807c89f','01m81ss0jrx6phdkn7pw31c5vf','','gpt-6-luna','extract',461,1,0,0,0,1.79535691974711060525e+09);
INSERT INTO "usage" VALUES('01m81ss20r1zm876f0ygygnmgy','01m81srs7x5rr8swz4ee33hreh','','gpt-6-luna','fold',419,25,0,0,0,1.79535691983295392988e+09);
INSERT INTO "usage" VALUES('01m81ss2z453e145pzzsp7g9bp','01m81ss2x9dgq4qphpdzn86vbb','01m81ss2xs1mjkvpyedgwdaz2k','gpt-6.1-terra','turn',2719,14,0,0,0,1.79535692080411601063e+09);
INSERT INTO "usage" VALUES('01m81ss3z5526cmw8ce53gvg7t','01m81ss0jrx6phdkn7pw31c5vf','01m81ss3yd56e957fbf3s06nfh','gpt-6.1-terra','turn',2767,3,0,0,0,1.79535692182936191555e+09);
INSERT INTO "usage" VALUES('01m81ss3zh4w16y6tvm165jdxm','01m81ss0jrx6phdkn7pw31c5vf','','gpt-6-luna','extract',461,1,0,0,0,1.79535692184187436106e+09);
CREATE INDEX access_request_at ON access_request (channel, account, at);
CREATE INDEX access_request_code ON access_request (code_sha256);
CREATE INDEX account_link_space ON account_link (space);
CREATE INDEX approval_person ON approval (channel, subject_id);
CREATE INDEX conversation_space ON conversation (space);
CREATE INDEX conversation_updated ON conversation (updated);
CREATE INDEX coverage_fold ON coverage (fold_id);
CREATE INDEX extraction_open ON extraction (space) WHERE state = 'queued' OR state = 'found';
CREATE INDEX forgetting_open ON forgetting (space) WHERE state = 'asked' OR state = 'confirmed' OR state = 'removed';
CREATE INDEX link_code_sha256 ON link_code (code_sha256);
CREATE UNIQUE INDEX memory_norm ON memory (space, norm) WHERE state = 'live';
CREATE INDEX memory_space ON memory (space, state);
CREATE INDEX memory_change_space ON memory_change (space, at);
CREATE INDEX fold_conversation ON fold (conversation, at);
CREATE UNIQUE INDEX fold_open ON fold (conversation) WHERE (state = 'planned' OR state = 'summarised' OR state = 'checked' OR state = 'logged') AND log_only IS 0;
CREATE UNIQUE INDEX fold_range ON fold (conversation, from_seq) WHERE state = 'folded' AND log_only IS 0;
CREATE INDEX inbox_line ON inbox (conversation, line);
CREATE INDEX inbox_open ON inbox (conversation) WHERE state = 'new' OR state = 'running';
CREATE INDEX message_space ON message (space, at);
CREATE INDEX outbox_line ON outbox (conversation, line);
CREATE INDEX outbox_open ON outbox (conversation, line, part_no) WHERE state = 'pending' OR state = 'sending' OR state = 'unknown';
CREATE UNIQUE INDEX outbox_sending ON outbox (conversation) WHERE state = 'sending';
CREATE INDEX snapshot_part_text ON snapshot_part (sha256);
CREATE INDEX turn_first_seq ON turn (conversation, first_seq);
CREATE UNIQUE INDEX turn_open ON turn (conversation) WHERE state = 'running' OR state = 'waiting';
CREATE INDEX usage_at ON usage (at);
CREATE INDEX usage_conversation ON usage (conversation, at);
CREATE INDEX reduction_conversation ON reduction (conversation);
CREATE INDEX tool_call_started ON tool_call (turn_id) WHERE state = 'started';
CREATE TRIGGER message_kept_as_is BEFORE UPDATE ON message WHEN NOT EXISTS (SELECT 1 FROM removal WHERE conversation = OLD.conversation) BEGIN SELECT RAISE(ABORT, 'messages are never changed'); END;
CREATE TRIGGER message_kept BEFORE DELETE ON message WHEN NOT EXISTS (SELECT 1 FROM removal WHERE conversation = OLD.conversation) BEGIN SELECT RAISE(ABORT, 'messages are never deleted'); END;
COMMIT;
