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
INSERT INTO "access_request" VALUES('01m81spy8mps615scsg97r32nd','telegram','100','user','999','Ада','01m81spy7fe9a1xdrzht6eked5','en','3010b5b5cd0b60156d99175a8027979b0150801381f098fef70f3bd4f48221f2','pending',1.79536045045198607442e+09,1.79535685045264029502e+09);
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
INSERT INTO "alembic_version" VALUES('r0005');
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
INSERT INTO "approval" VALUES('a1','telegram','100','5005','01m81spmn4wb9ew2gnbxx77mwg','','c1','file.write','write_file','{"path":"n.md"}','0','0','0','used',1795000000.0,1795000000.0);
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
INSERT INTO "audit" VALUES(1,1.7953568456031138897e+09,'','memory.extract','','','allowed','+1 -0','','e6758d068a84084a50e37bfec0f1756244f4d0ec683009c23db46b1d3b534537');
INSERT INTO "audit" VALUES(2,1.79535684571988844865e+09,'','memory.extract','','','allowed','+1 -0','e6758d068a84084a50e37bfec0f1756244f4d0ec683009c23db46b1d3b534537','bad339312e02941cec513a3c01e363be083532606470e010906d2be604fc30bd');
INSERT INTO "audit" VALUES(3,1.79535684590133047099e+09,'','memory.extract','','','allowed','+1 -0','bad339312e02941cec513a3c01e363be083532606470e010906d2be604fc30bd','19e138db87dd24ceaf3a889ebff06c3663666934ed7362f169c8949f9a8202ea');
INSERT INTO "audit" VALUES(4,1.79535684615926146505e+09,'','memory.extract','','','allowed','+1 -0','19e138db87dd24ceaf3a889ebff06c3663666934ed7362f169c8949f9a8202ea','a569da6a7445a049ae5e133d5bb8e526f3d16668f2c66878de83217f1b2f89be');
INSERT INTO "audit" VALUES(5,1.79535684631802558899e+09,'','memory.extract','','','allowed','+1 -0','a569da6a7445a049ae5e133d5bb8e526f3d16668f2c66878de83217f1b2f89be','2c84a19f68d37b39f2244232177291c2e0f173b5741d3fc5ef2ace337518e0c6');
INSERT INTO "audit" VALUES(6,1.79535684850345349317e+09,'','clear','01m81spvp0f9hd5ykr5w3pya1c','','allowed','epoch 2','2c84a19f68d37b39f2244232177291c2e0f173b5741d3fc5ef2ace337518e0c6','c654d208b6bc5668162759c62785e53551edb9caf16a22d12bbe88785757ee8c');
INSERT INTO "audit" VALUES(7,1.79535684888044095035e+09,'','clear','01m81spwkef33aayy0vj49p8wy','','allowed','epoch 2','c654d208b6bc5668162759c62785e53551edb9caf16a22d12bbe88785757ee8c','d6d8778b6366d01ed56b2671b031800035045ba9f8da749dc3d9a9861e796eb7');
INSERT INTO "audit" VALUES(8,1.795356849175921917e+09,'','memory.remember','','','allowed','+1 -0','d6d8778b6366d01ed56b2671b031800035045ba9f8da749dc3d9a9861e796eb7','835ec28042c70d3ef30c2dd72acc1f92e46b1668a5308fd2e27f69a59aa951da');
INSERT INTO "audit" VALUES(9,1.79535684974461030955e+09,'','memory.extract','','','allowed','+1 -0','835ec28042c70d3ef30c2dd72acc1f92e46b1668a5308fd2e27f69a59aa951da','26b4db573da223791c5b0b13585db9ec34f73f7d17d889a33015260a9a7c8922');
INSERT INTO "audit" VALUES(10,1.79535685045264029502e+09,'telegram/100/999','user asks','telegram/100/999','','allowed','pending','26b4db573da223791c5b0b13585db9ec34f73f7d17d889a33015260a9a7c8922','92863a479490b350884f337c971f46ad744595b53f7c8075c003d3d0b77529e3');
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
INSERT INTO "clearing" VALUES('01m81spvp0f9hd5ykr5w3pya1c',2,1,'',0,1.79535684850345349317e+09);
INSERT INTO "clearing" VALUES('01m81spwkef33aayy0vj49p8wy',2,1,'',0,1.79535684888044095035e+09);
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
INSERT INTO "conversation" VALUES('01m81spmn4wb9ew2gnbxx77mwg','web','console','garden','','dm','',1,23,11,27,1,'01m81spttzpry3g2jv8fhq1a5z','','',5,'ea20ea239f437c382bf68dc84828721e9c531c5df3a650114017428530741bd1','fold',1,'«g0» the roses want water; I prefer tea. 花园要浇水',1.79535684922286081308e+09,1.7953568494633865356e+09);
INSERT INTO "conversation" VALUES('01m81sptypx0ev8g2a6s0hsp3t','web','console','work','','dm','',1,7,4,12,1,'','','',2,'ea20ea239f437c382bf68dc84828721e9c531c5df3a650114017428530741bd1','fold undone',1,'«w0» what do you make of it?',1.79535685780426025387e+09,1.79535685780426025387e+09);
INSERT INTO "conversation" VALUES('01m81spvp0f9hd5ykr5w3pya1c','web','console','old','','dm','',2,7,4,9,5,'','','',1,'ea20ea239f437c382bf68dc84828721e9c531c5df3a650114017428530741bd1','clear',1,'«o0» what do you make of it?',1.79535684857868194585e+09,1.79535684872299408912e+09);
INSERT INTO "conversation" VALUES('01m81spwkef33aayy0vj49p8wy','web','console','new','','dm','',2,5,3,7,3,'','','',1,'ea20ea239f437c382bf68dc84828721e9c531c5df3a650114017428530741bd1','clear',1,'«n0» what do you make of it?',1.79535684890640759468e+09,1.79535684892830944055e+09);
INSERT INTO "conversation" VALUES('01m81spxdqz7b7gyd9vsyh2d18','telegram','100','5005','','dm','',1,5,3,6,1,'','','',0,'ea20ea239f437c382bf68dc84828721e9c531c5df3a650114017428530741bd1','SOUL.md, tools or model',1,'«t0» what do you make of it?',1.79535685008219361301e+09,1.79535685045264029502e+09);
INSERT INTO "conversation" VALUES('01m81spy7fe9a1xdrzht6eked5','telegram','100','999','','dm','telegram-999',1,1,1,3,1,'','','',0,'','',0,'',0.0,1.79535685045264029502e+09);
INSERT INTO "conversation" VALUES('01m81spzqtwkrsrpfz79md9gqp','web','console','picture','','dm','',1,3,2,3,1,'','','',0,'ea20ea239f437c382bf68dc84828721e9c531c5df3a650114017428530741bd1','SOUL.md, tools or model',1,'«p1» what do you make of it? 📎 dot.png',1.79535685196261215208e+09,1.79535685309028244021e+09);
INSERT INTO "conversation" VALUES('01m81sq464zx54snds13831hm0','web','console','late','','dm','',1,7,4,7,1,'','','',0,'ea20ea239f437c382bf68dc84828721e9c531c5df3a650114017428530741bd1','SOUL.md, tools or model',1,'«l0» what do you make of it?',1.79535685993684434886e+09,1.79535685999867439264e+09);
INSERT INTO "conversation" VALUES('01m81sq6f7fz0an541w7xrb28p','web','console','tool','','dm','',1,3,2,3,1,'','','',0,'ea20ea239f437c382bf68dc84828721e9c531c5df3a650114017428530741bd1','SOUL.md, tools or model',1,'«x1» use write_file {"path": "notes/x.md", "content": "x"}',1795356859.87748,1795356859.87748);
CREATE TABLE coverage (
	message_id TEXT NOT NULL, 
	class TEXT NOT NULL, 
	fold_id TEXT NOT NULL, 
	PRIMARY KEY (message_id)
);
INSERT INTO "coverage" VALUES('01m81spmn4f08ckr9h63bqnmhp','folded','01m81spt5zx6teghpw4w2ehsqq');
INSERT INTO "coverage" VALUES('01m81spsekjbfk8re6e4fvzeq8','folded','01m81spt5zx6teghpw4w2ehsqq');
INSERT INTO "coverage" VALUES('01m81spshwbkn7v5qdndb8njtk','folded','01m81spt5zx6teghpw4w2ehsqq');
INSERT INTO "coverage" VALUES('01m81spsk8k37m8gcpjp15wwzz','folded','01m81spt5zx6teghpw4w2ehsqq');
INSERT INTO "coverage" VALUES('01m81spsm8769rqc6ca9n9zgek','folded','01m81spttzpry3g2jv8fhq1a5z');
INSERT INTO "coverage" VALUES('01m81spsnhs3df9pkmkrv0mtaw','folded','01m81spttzpry3g2jv8fhq1a5z');
INSERT INTO "coverage" VALUES('01m81spsqyjj9fn3r56h7t1v3d','folded','01m81spttzpry3g2jv8fhq1a5z');
INSERT INTO "coverage" VALUES('01m81spsvywh4b9h5jqe7sp19z','folded','01m81spttzpry3g2jv8fhq1a5z');
INSERT INTO "coverage" VALUES('01m81spsxxpdh27fkdpwy15z2b','folded','01m81spttzpry3g2jv8fhq1a5z');
INSERT INTO "coverage" VALUES('01m81spt0a4btrk35pdn0d4cfw','folded','01m81spttzpry3g2jv8fhq1a5z');
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
INSERT INTO "extraction" VALUES('01m81spmx9s1p973xb4pp5bgtm','','01m81spmn4wb9ew2gnbxx77mwg',1,'done',2,'','kept 1',1.79535684552373909954e+09);
INSERT INTO "extraction" VALUES('01m81spshzjacje3vfbe75d82f','','01m81spmn4wb9ew2gnbxx77mwg',2,'done',2,'','kept 1',1.79535684567211627962e+09);
INSERT INTO "extraction" VALUES('01m81spsmg7r4mdhf2ej17ayvs','','01m81spmn4wb9ew2gnbxx77mwg',3,'done',2,'','kept 1',1.79535684574596858019e+09);
INSERT INTO "extraction" VALUES('01m81spss591n4mrkf1r75dar8','','01m81spmn4wb9ew2gnbxx77mwg',4,'done',2,'','kept 1',1.79535684595043826096e+09);
INSERT INTO "extraction" VALUES('01m81spsyrjdda4jg116rn21jk','','01m81spmn4wb9ew2gnbxx77mwg',5,'done',2,'','kept 1',1.79535684609015059468e+09);
INSERT INTO "extraction" VALUES('01m81sptat1asn7qqg9xd00wzs','','01m81spmn4wb9ew2gnbxx77mwg',6,'done',2,'','kept 0',1.79535684646825122829e+09);
INSERT INTO "extraction" VALUES('01m81spteer9qjr9k66z45kp20','','01m81spmn4wb9ew2gnbxx77mwg',7,'done',2,'','kept 0',1.7953568465681056976e+09);
INSERT INTO "extraction" VALUES('01m81sptjgep7me803asgaqfdj','','01m81spmn4wb9ew2gnbxx77mwg',8,'done',2,'','kept 0',1.79535684669282841682e+09);
INSERT INTO "extraction" VALUES('01m81sptnwdv5hdj3ach5wnqea','','01m81spmn4wb9ew2gnbxx77mwg',9,'done',2,'','kept 0',1.79535684684673023216e+09);
INSERT INTO "extraction" VALUES('01m81sptyw5qqyph31dxr5kz9a','','01m81sptypx0ev8g2a6s0hsp3t',1,'done',2,'','kept 0',1.79535684712134647371e+09);
INSERT INTO "extraction" VALUES('01m81spv47j0q6wkk87adqzxzv','','01m81sptypx0ev8g2a6s0hsp3t',2,'done',2,'','kept 0',1.7953568472706961631e+09);
INSERT INTO "extraction" VALUES('01m81spv8dz44vhvyarmd9nbt8','','01m81sptypx0ev8g2a6s0hsp3t',3,'done',2,'','kept 0',1.79535684744750308984e+09);
INSERT INTO "extraction" VALUES('01m81spvqvafppjfkc24c0w979','','01m81spvp0f9hd5ykr5w3pya1c',1,'done',2,'','kept 0',1.79535684798968672749e+09);
INSERT INTO "extraction" VALUES('01m81spw1a1hjxcxvqg14gvj4c','','01m81spvp0f9hd5ykr5w3pya1c',2,'done',2,'','kept 0',1.79535684835620808598e+09);
INSERT INTO "extraction" VALUES('01m81spwf58hkwpad7tb1bz2n6','','01m81spvp0f9hd5ykr5w3pya1c',3,'done',2,'','kept 0',1.79535684872299408912e+09);
INSERT INTO "extraction" VALUES('01m81spwn1pfcsgjvqsdepv298','','01m81spwkef33aayy0vj49p8wy',1,'done',2,'','kept 0',1.79535684885658383368e+09);
INSERT INTO "extraction" VALUES('01m81spwrm17dyg0xhwzvm54am','','01m81spwkef33aayy0vj49p8wy',2,'done',2,'','kept 0',1.79535684892830944055e+09);
INSERT INTO "extraction" VALUES('01m81spx2ga5v78ktvhaphmf6r','','01m81spmn4wb9ew2gnbxx77mwg',10,'done',2,'','kept 1',1.7953568494633865356e+09);
INSERT INTO "extraction" VALUES('01m81spxfhbejapn5k46kvvqhn','','01m81spxdqz7b7gyd9vsyh2d18',1,'done',2,'','kept 0',1.79535684990929937359e+09);
INSERT INTO "extraction" VALUES('01m81spy1245bdtrd8g5re9jmq','','01m81spxdqz7b7gyd9vsyh2d18',2,'done',2,'','kept 0',1.79535685027333497994e+09);
INSERT INTO "extraction" VALUES('01m81sq0raz5sdy5tk9cn059hc','','01m81spzqtwkrsrpfz79md9gqp',1,'done',2,'','kept 0',1.79535685309028244021e+09);
INSERT INTO "extraction" VALUES('01m81sq4k2deszpdwvf2g6eejw','','01m81sq464zx54snds13831hm0',1,'done',2,'','kept 0',1.79535685741845464713e+09);
INSERT INTO "extraction" VALUES('01m81sq55p13f3vz4mqbgbyvv6','','01m81sq464zx54snds13831hm0',2,'done',2,'','kept 0',1.79535685759487581257e+09);
INSERT INTO "extraction" VALUES('01m81sq7hxqtcc6bmdpxyptqv8','','01m81sq464zx54snds13831hm0',3,'done',2,'','kept 0',1.79535685999867439264e+09);
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
INSERT INTO "fold" VALUES('01m81spt5zx6teghpw4w2ehsqq','01m81spmn4wb9ew2gnbxx77mwg','','web',1,'',1,4,1,2,2,'folded','model','balanced','/context fold','- «g0» the roses want water; I prefer tea. 花园要浇水
- «g1» the roses want water; I prefer tea. 花园要浇水','- «g0» the roses want water; I prefer tea. 花园要浇水
- «g1» the roses want water; I prefer tea. 花园要浇水',41,'d34b7a7e4df0ebec542d3d789435256039660d8865ee50363d1a63272158a9ff','memory/2026-11-22.md',190,155,0,1.79535684627146530155e+09,1,'',11,0);
INSERT INTO "fold" VALUES('01m81spttzpry3g2jv8fhq1a5z','01m81spmn4wb9ew2gnbxx77mwg','','web',1,'01m81spt5zx6teghpw4w2ehsqq',5,10,3,5,5,'folded','model','balanced','/context fold','- «g2» the roses want water; I prefer tea. 花园要浇水
- «g3» the roses want water; I prefer tea. 花园要浇水
- «g4» the roses want water; I prefer tea. 花园要浇水','- «g2» the roses want water; I prefer tea. 花园要浇水
- «g3» the roses want water; I prefer tea. 花园要浇水
- «g4» the roses want water; I prefer tea. 花园要浇水',62,'d44cd2775dc2764f9ca0cd84139d93b92fba53baf23ff61455a18d0d74fc788b','memory/2026-11-22.md',361,268,0,1.79535684694345188143e+09,1,'',21,0);
INSERT INTO "fold" VALUES('01m81spvdr8fk6j4xdsxxw11et','01m81sptypx0ev8g2a6s0hsp3t','','web',1,'',1,2,1,1,1,'undone','model','balanced','/context fold','- «w0» what do you make of it?','- «w0» what do you make of it?',12,'c63ea9d3e95f0af2cd02481b6dae445b03c4ee29d6b174a390f57f6763a698f7','memory/2026-11-22.md',90,72,0,1.79535684754409646983e+09,1,'',7,0);
INSERT INTO "fold" VALUES('01m81spwqgf5z89s2kvzy053kk','01m81spwkef33aayy0vj49p8wy','','web',1,'',1,2,1,1,1,'folded','model','balanced','/new','- «n0» what do you make of it?','',0,'bbeec136b14a1f0c034660a8a3964ddb0ae6e673df334dc89caa90cfc563577b','memory/2026-11-22.md',30,0,1,1.79535684888044095035e+09,1,'',3,0);
INSERT INTO "fold" VALUES('01m81sq5hpdzvkx241h5vvgh4f','01m81sptypx0ev8g2a6s0hsp3t','','web',1,'',1,2,1,1,1,'checked','model','balanced','/context fold','- «w0» what do you make of it?','- «w0» what do you make of it?',12,'c63ea9d3e95f0af2cd02481b6dae445b03c4ee29d6b174a390f57f6763a698f7','',90,60,0,1.79535685791086840629e+09,2,'',7,0);
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
INSERT INTO "forgetting" VALUES('f1','','01m81spmn4wb9ew2gnbxx77mwg','owner','done','','{}','Removed from 2 places.',1795000000.0,1795000000.0);
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
INSERT INTO "inbox" VALUES('01m81spmn4f08ckr9h63bqnmhp','01m81spmn4wb9ew2gnbxx77mwg','web','console','gardene9559840729a4a3bb6321b63af2300bf','message','owner','{"text": "«g0» the roses want water; I prefer tea. 花园要浇水"}','','done','',0,'01m81spmx9s1p973xb4pp5bgtm','01m81spmn4qaxykrv004s2kz2b',1,0,0.0,1.79535684061254453662e+09,1,'');
INSERT INTO "inbox" VALUES('01m81spshwbkn7v5qdndb8njtk','01m81spmn4wb9ew2gnbxx77mwg','web','console','garden8f1aea0de5a149779a73e597a557a499','message','owner','{"text": "«g1» the roses want water; I prefer tea. 花园要浇水"}','','done','',0,'01m81spshzjacje3vfbe75d82f','01m81spshwz0n96bp91z2x1hcq',3,0,0.0,1.79535684562863326069e+09,1,'');
INSERT INTO "inbox" VALUES('01m81spsm8769rqc6ca9n9zgek','01m81spmn4wb9ew2gnbxx77mwg','web','console','garden96a9675c2f604b35b0a1c979f427586a','message','owner','{"text": "«g2» the roses want water; I prefer tea. 花园要浇水"}','','done','',0,'01m81spsmg7r4mdhf2ej17ayvs','01m81spsm8s297azbze6ngrsny',5,0,0.0,1.79535684570460820196e+09,1,'');
INSERT INTO "inbox" VALUES('01m81spsqyjj9fn3r56h7t1v3d','01m81spmn4wb9ew2gnbxx77mwg','web','console','garden37d610ac45674b01803f4fda7198c1e8','message','owner','{"text": "«g3» the roses want water; I prefer tea. 花园要浇水"}','','done','',0,'01m81spss591n4mrkf1r75dar8','01m81spsqy2bnxxdkpwyxp9pby',7,0,0.0,1.79535684582220363613e+09,1,'');
INSERT INTO "inbox" VALUES('01m81spsxxpdh27fkdpwy15z2b','01m81spmn4wb9ew2gnbxx77mwg','web','console','gardenfd78243f035d42819990b09426d762f6','message','owner','{"text": "«g4» the roses want water; I prefer tea. 花园要浇水"}','','done','',0,'01m81spsyrjdda4jg116rn21jk','01m81spsxx2twsv4zd6f8gvakh',9,0,0.0,1.79535684601367211341e+09,1,'');
INSERT INTO "inbox" VALUES('01m81spt4j2ntjyhd4028w99mk','01m81spmn4wb9ew2gnbxx77mwg','web','console','garden4feba05473374fd6aa7ed3b30209c5da','command','owner','{"text": "/context fold"}','','done','',1,'','01m81spt4jmzcjbchyc15h0seb',11,0,0.0,1.79535684622668433195e+09,0,'');
INSERT INTO "inbox" VALUES('01m81sptahqk25k1zjr1f3p07t','01m81spmn4wb9ew2gnbxx77mwg','web','console','gardend3397fb00c984557a993d2554d1e0053','message','owner','{"text": "«g5» what do you make of it?"}','','done','',0,'01m81sptat1asn7qqg9xd00wzs','01m81sptahzymhmy273y0cgay7',13,0,0.0,1.79535684641745424275e+09,1,'');
INSERT INTO "inbox" VALUES('01m81spte8f7j50wer58tcteqt','01m81spmn4wb9ew2gnbxx77mwg','web','console','garden58867b6b79d147629ef6965ec20b52a1','message','owner','{"text": "«g6» what do you make of it?"}','','done','',0,'01m81spteer9qjr9k66z45kp20','01m81spte8fd8zs8ktz5d5wpw4',15,0,0.0,1.79535684653620600703e+09,1,'');
INSERT INTO "inbox" VALUES('01m81spthv64x323t2j20g5167','01m81spmn4wb9ew2gnbxx77mwg','web','console','gardenc99ba2ecd44b4eb79f4a8bc9ced5abfc','message','owner','{"text": "«g7» what do you make of it?"}','','done','',0,'01m81sptjgep7me803asgaqfdj','01m81spthvpkt8632qr32p43cz',17,0,0.0,1.79535684665138983726e+09,1,'');
INSERT INTO "inbox" VALUES('01m81sptnn75r03r4wkjhz9atx','01m81spmn4wb9ew2gnbxx77mwg','web','console','garden2f69b70b2e7b49d483d33fcf9c64df94','message','owner','{"text": "«g8» use write_file {\"path\": \"notes/roses.md\", \"content\": \"water on Mondays\"}"}','','done','',0,'01m81sptnwdv5hdj3ach5wnqea','01m81sptnn30a406emwjhfw4wd',19,0,0.0,1.79535684677368378636e+09,1,'');
INSERT INTO "inbox" VALUES('01m81sptt5y04aw4p0wk0xrrgq','01m81spmn4wb9ew2gnbxx77mwg','web','console','garden68a0ba60fd3c4a688ab517e1e163d533','command','owner','{"text": "/context fold"}','','done','',1,'','01m81sptt5mbsjfez3d4sz80sw',21,0,0.0,1.7953568469177446365e+09,0,'');
INSERT INTO "inbox" VALUES('01m81sptyp5pv3jjaeh5f0zxg1','01m81sptypx0ev8g2a6s0hsp3t','web','console','work30483a2356b54bae955d05e9713e024e','message','owner','{"text": "«w0» what do you make of it?"}','','done','',0,'01m81sptyw5qqyph31dxr5kz9a','01m81sptypkw2g4qp77g3n39f2',1,0,0.0,1.79535684706281757358e+09,1,'');
INSERT INTO "inbox" VALUES('01m81spv3tqzvj4e3v45rgf1kw','01m81sptypx0ev8g2a6s0hsp3t','web','console','workf0dd77cdc7b64bb5af8b2255334ab8e4','message','owner','{"text": "«w1» what do you make of it?"}','','done','',0,'01m81spv47j0q6wkk87adqzxzv','01m81spv3tpk2k0e573g7yxeqv',3,0,0.0,1.79535684722685408591e+09,1,'');
INSERT INTO "inbox" VALUES('01m81spv81y02rhrh8te5jtpj5','01m81sptypx0ev8g2a6s0hsp3t','web','console','workfc7d16f7bc8249e8b3d6866c0f9ee036','message','owner','{"text": "«w2» what do you make of it?"}','','done','',0,'01m81spv8dz44vhvyarmd9nbt8','01m81spv81g5zqm92ew8w2h6p8',5,0,0.0,1.79535684736156201366e+09,1,'');
INSERT INTO "inbox" VALUES('01m81spvd8wy9qscw6r4kr5rg3','01m81sptypx0ev8g2a6s0hsp3t','web','console','workccd744d344784c7e835715fe29028c34','command','owner','{"text": "/context fold"}','','done','',1,'','01m81spvd8b4tnaww64ge8ka6j',7,0,0.0,1.79535684752852869039e+09,0,'');
INSERT INTO "inbox" VALUES('01m81spvg2rsd41x9hmga685xy','01m81sptypx0ev8g2a6s0hsp3t','web','console','work0f19666ee01942b397480bd5651a42f9','command','owner','{"text": "/context undo"}','','done','',1,'','01m81spvg22qg6g2cz9883svnn',9,0,0.0,1.79535684761842703814e+09,0,'');
INSERT INTO "inbox" VALUES('01m81spvp0d1j86jqddzz8jh48','01m81spvp0f9hd5ykr5w3pya1c','web','console','old6715f9604a8d45a38fd944a63b0e075a','message','owner','{"text": "«o0» what do you make of it?"}','','done','',0,'01m81spvqvafppjfkc24c0w979','01m81spvp09fm7kjzxd7rnbw4y',1,0,0.0,1.79535684780880379677e+09,1,'');
INSERT INTO "inbox" VALUES('01m81spvz1g675krkqwzfk9r92','01m81spvp0f9hd5ykr5w3pya1c','web','console','old9f1a8007d7a34e99b68816cf286f1e0f','message','owner','{"text": "«o1» what do you make of it?"}','','done','',0,'01m81spw1a1hjxcxvqg14gvj4c','01m81spvz1d7mgjadk9675wayq',3,0,0.0,1.79535684809746742245e+09,1,'');
INSERT INTO "inbox" VALUES('01m81spw9tbravwbtevzgmy6mv','01m81spvp0f9hd5ykr5w3pya1c','web','console','old386e5a04008c466ea98a06fb90238732','command','owner','{"text": "/context clear"}','','done','',1,'','01m81spw9tz5ny267vbht0kz3a',5,0,0.0,1.79535684844277620315e+09,0,'');
INSERT INTO "inbox" VALUES('01m81spwe2ga5e1m41xtgympgh','01m81spvp0f9hd5ykr5w3pya1c','web','console','old9f3c38631ac4452ab682064f6fcbd061','message','owner','{"text": "«o2» what do you make of it?"}','','done','',0,'01m81spwf58hkwpad7tb1bz2n6','01m81spwe25gj1yt80rzy8xgy5',7,0,0.0,1.79535684857868194585e+09,1,'');
INSERT INTO "inbox" VALUES('01m81spwke8ag5xffwkkhdt6k2','01m81spwkef33aayy0vj49p8wy','web','console','new7dd13c47fb3149d0861b6eb72f7a49a2','message','owner','{"text": "«n0» what do you make of it?"}','','done','',0,'01m81spwn1pfcsgjvqsdepv298','01m81spwke1hdc8nt5cdp7f8km',1,0,0.0,1.79535684875091457362e+09,1,'');
INSERT INTO "inbox" VALUES('01m81spwq91kkrptj0avsg8zmg','01m81spwkef33aayy0vj49p8wy','web','console','new176c80374c1c443ca87b9d722b2792dc','command','owner','{"text": "/new"}','','done','',1,'','01m81spwq99vmhdccvzqq2x6qj',3,0,0.0,1.79535684887398290631e+09,0,'');
INSERT INTO "inbox" VALUES('01m81spwra5qt1edf4zv098n4h','01m81spwkef33aayy0vj49p8wy','web','console','new73c7ca194a5243b8a43f8728c991504c','message','owner','{"text": "«n1» what do you make of it?"}','','done','',0,'01m81spwrm17dyg0xhwzvm54am','01m81spwrahw8stea3k44t2wep',5,0,0.0,1.79535684890640759468e+09,1,'');
INSERT INTO "inbox" VALUES('01m81spwvt76rnjv87cs5ntjk8','01m81spmn4wb9ew2gnbxx77mwg','web','console','garden9015577cbf414f07ba680f18e24e5168','command','owner','{"text": "/remember The gate code is 4711"}','','done','',1,'','01m81spwvt193r8mcjh6knc8qc',23,0,0.0,1.79535684901864647866e+09,0,'');
INSERT INTO "inbox" VALUES('01m81spx26ngcrrng0nd759mre','01m81spmn4wb9ew2gnbxx77mwg','web','console','gardend2ff3e401f684b0485b725d5e2ee9f3a','message','owner','{"text": "«m1» a thing to know. I prefer green tea."}','','done','',0,'01m81spx2ga5v78ktvhaphmf6r','01m81spx261khr452dy4w6nasj',25,0,0.0,1.79535684922286081308e+09,1,'');
INSERT INTO "inbox" VALUES('01m81spxdqhbheashyan4t63x5','01m81spxdqz7b7gyd9vsyh2d18','telegram','100','m:5005:1:0','message','5005','{"text": "«t0» what do you make of it?", "name": "Ада"}','00000000000000700100','done','',0,'01m81spxfhbejapn5k46kvvqhn','01m81spxdqq4jce5ecxj4wk3kx',1,0,0.0,1.79535684959132981301e+09,1,'g77');
INSERT INTO "inbox" VALUES('01m81spxx2w0zds6bz6wtnf2k8','01m81spxdqz7b7gyd9vsyh2d18','telegram','100','m:5005:3:0','message','5005','{"text": "«t1» what do you make of it?", "name": "Ада"}','00000000000000700101','done','',0,'01m81spy1245bdtrd8g5re9jmq','01m81spxx20bbr0328dpzbp811',3,0,0.0,1.79535685008219361301e+09,1,'g77');
INSERT INTO "inbox" VALUES('01m81spy7fey7bqgzmwmg43zb9','01m81spy7fe9a1xdrzht6eked5','telegram','100','m:999:1:0','message','999','','00000000000000700102','ignored','stranger',0,'','01m81spy7f7ee6g6x0jdek5jwq',1,0,0.0,1.79535685041570138931e+09,0,'g77');
INSERT INTO "inbox" VALUES('01m81spzqtvp9kjyppt85w2n50','01m81spzqtwkrsrpfz79md9gqp','web','console','picturep1','message','owner','{"text": "«p1» what do you make of it?", "shown": "«p1» what do you make of it?\n📎 dot.png", "files": [["7899d6ced52159786ff083934df42788da01a30b7ed9bb7756d7f3f5a94ef685", "dot.png", "image/png", 68, ""]]}','','done','',0,'01m81sq0raz5sdy5tk9cn059hc','01m81spzqt8p2eerf295jeztv4',1,0,0.0,1.79535685196261215208e+09,1,'');
INSERT INTO "inbox" VALUES('01m81sq464f8kncgtx49wchyem','01m81sq464zx54snds13831hm0','web','console','lateee2ade9c3eae4ddfb2fd333cf573f92a','message','owner','{"text": "«l0» what do you make of it?"}','','done','',0,'01m81sq4k2deszpdwvf2g6eejw','01m81sq464djb110h5yed20kgp',1,0,0.0,1.79535685651647281642e+09,2,'');
INSERT INTO "inbox" VALUES('01m81sq5531yjtyzmy5ezqmfay','01m81sq464zx54snds13831hm0','web','console','late9d24f951a00a4766adb26b897524f77d','message','owner','{"text": "«l1» what do you make of it?"}','','done','',0,'01m81sq55p13f3vz4mqbgbyvv6','01m81sq553h994jmeth5chrx4r',3,0,0.0,1.79535685750783061977e+09,2,'');
INSERT INTO "inbox" VALUES('01m81sq5eca1ntd863xykh9ey3','01m81sptypx0ev8g2a6s0hsp3t','web','console','work/context fold','command','owner','{"text": "/context fold"}','','new','',1,'','01m81sq5ecaabmd3saqz7tgsft',11,0,0.0,1.79535685780426025387e+09,0,'');
INSERT INTO "inbox" VALUES('01m81sq6f7h41sgq0966eh98cg','01m81sq6f7fz0an541w7xrb28p','web','console','tool«x1» use write_file {"path": "notes/x.md", "content": "x"}','message','owner','{"text": "«x1» use write_file {\"path\": \"notes/x.md\", \"content\": \"x\"}"}','','running','',0,'01m81sq6frbgqsgqndt7qcj372','01m81sq6f79cazmmpmtaqrdpdt',1,0,0.0,1.79535685885543608666e+09,2,'');
INSERT INTO "inbox" VALUES('01m81sq7f5wn66efn4w2egjnpw','01m81sq6f7fz0an541w7xrb28p','web','console','tool«x2» and after that?','message','owner','{"text": "«x2» and after that?"}','','new','',0,'','01m81sq7f53c91qacnjkyk5aqs',2,0,0.0,1795356859.87748,0,'');
INSERT INTO "inbox" VALUES('01m81sq7h08xr5b2wqm9034fwq','01m81sq464zx54snds13831hm0','web','console','late«l2» what do you make of it?','message','owner','{"text": "«l2» what do you make of it?"}','','done','',0,'01m81sq7hxqtcc6bmdpxyptqv8','01m81sq7h0q4qt5wvfh6j56rbj',5,0,0.0,1.79535685993684434886e+09,2,'');
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
INSERT INTO "link_code" VALUES('l1','0','agreed','telegram','100','5006','','01m81spmn4wb9ew2gnbxx77mwg','telegram','100','5006','Ada','p-joined','01m81spmn4wb9ew2gnbxx77mwg',1795000000.0,1795000000.0);
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
INSERT INTO "memory" VALUES('01m81spsh32kdrcc18jqgszyz5','','g0 the roses want water i prefer tea','user_preference','«g0» the roses want water; I prefer tea',6,'live','extraction','01m81spmn4wb9ew2gnbxx77mwg','01m81spmn4f08ckr9h63bqnmhp','web','«g0» the roses want water; I prefer tea',1.79535684087369394297e+09,1.7953568456031138897e+09,1.7953568456031138897e+09,1.79535684608094525333e+09,4,'',0.0);
INSERT INTO "memory" VALUES('01m81spsmq4nq59pqhqrkhzcjc','','g1 the roses want water i prefer tea','user_preference','«g1» the roses want water; I prefer tea',6,'live','extraction','01m81spmn4wb9ew2gnbxx77mwg','01m81spshwbkn7v5qdndb8njtk','web','«g1» the roses want water; I prefer tea',1.79535684563132405281e+09,1.79535684571988844865e+09,1.79535684571988844865e+09,1.79535684608094525333e+09,3,'',0.0);
INSERT INTO "memory" VALUES('01m81spstdx9a28119tw53z4bg','','g2 the roses want water i prefer tea','user_preference','«g2» the roses want water; I prefer tea',6,'live','extraction','01m81spmn4wb9ew2gnbxx77mwg','01m81spsm8769rqc6ca9n9zgek','web','«g2» the roses want water; I prefer tea',1.79535684571204209327e+09,1.79535684590133047099e+09,1.79535684590133047099e+09,1.79535684608094525333e+09,1,'',0.0);
INSERT INTO "memory" VALUES('01m81spt2fs97k46hk25sjy5vw','','g3 the roses want water i prefer tea','user_preference','«g3» the roses want water; I prefer tea',6,'live','extraction','01m81spmn4wb9ew2gnbxx77mwg','01m81spsqyjj9fn3r56h7t1v3d','web','«g3» the roses want water; I prefer tea',1.79535684586144208912e+09,1.79535684615926146505e+09,1.79535684615926146505e+09,0.0,0,'',0.0);
INSERT INTO "memory" VALUES('01m81spt7ehj3pj69g7xndvzwb','','g4 the roses want water i prefer tea','user_preference','«g4» the roses want water; I prefer tea',6,'live','extraction','01m81spmn4wb9ew2gnbxx77mwg','01m81spsxxpdh27fkdpwy15z2b','web','«g4» the roses want water; I prefer tea',1795356846.04078,1.79535684631802558899e+09,1.79535684631802558899e+09,0.0,0,'',0.0);
INSERT INTO "memory" VALUES('01m81spx0q3900g3r2aw8s7qz9','','the gate code is 4711','fact','The gate code is 4711',8,'live','person','01m81spmn4wb9ew2gnbxx77mwg','01m81spwvt76rnjv87cs5ntjk8','web','/remember The gate code is 4711',1.79535684901864600179e+09,1.795356849175921917e+09,1.795356849175921917e+09,0.0,0,'',0.0);
INSERT INTO "memory" VALUES('01m81spxjgvrskfvsgtqgq6z5c','','i prefer green tea','user_preference','I prefer green tea',6,'live','extraction','01m81spmn4wb9ew2gnbxx77mwg','01m81spx26ngcrrng0nd759mre','web','I prefer green tea',1795356849.23247,1.79535684974461030955e+09,1.79535684974461030955e+09,0.0,0,'',0.0);
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
INSERT INTO "memory_change" VALUES('01m81spsh3jd3mvpt5zv5wnsnf','','MEMORY.md','extract','73a75d57d3bce6e6194e9c3ce650a5f836e26e5cb0efe6db3dc5961d8f1a641c','8fa62e7329481e1698ca5d5ead245d8a8150a2481080470e31a5c996bfc39e73','["«g0» the roses want water; I prefer tea"]','[]','','01m81spmn4f08ckr9h63bqnmhp',0,1.7953568456031138897e+09);
INSERT INTO "memory_change" VALUES('01m81spsmqc74w1h1kkpdw3tcn','','MEMORY.md','extract','8fa62e7329481e1698ca5d5ead245d8a8150a2481080470e31a5c996bfc39e73','b697e1ec796c8b7a56aee1e54abfb63a2ae6902e9d568e8698d692478b01da2a','["«g1» the roses want water; I prefer tea"]','[]','','01m81spshwbkn7v5qdndb8njtk',0,1.79535684571988844865e+09);
INSERT INTO "memory_change" VALUES('01m81spstd3zhbcmnk4bcgc9xh','','MEMORY.md','extract','b697e1ec796c8b7a56aee1e54abfb63a2ae6902e9d568e8698d692478b01da2a','d66d54edc1ba1ad747e44ff5f7b746c2de77f6d29b15f843cfeec437cb29488e','["«g2» the roses want water; I prefer tea"]','[]','','01m81spsm8769rqc6ca9n9zgek',0,1.79535684590133047099e+09);
INSERT INTO "memory_change" VALUES('01m81spt2f1c31zatpwf0p2bd2','','MEMORY.md','extract','d66d54edc1ba1ad747e44ff5f7b746c2de77f6d29b15f843cfeec437cb29488e','05389b6f2523f0ca1bf3b1bcf6669df83790eb0bc8d35b2513af8d13cbe611a6','["«g3» the roses want water; I prefer tea"]','[]','','01m81spsqyjj9fn3r56h7t1v3d',0,1.79535684615926146505e+09);
INSERT INTO "memory_change" VALUES('01m81spt7em0ng6nhamcxcpm2v','','MEMORY.md','extract','05389b6f2523f0ca1bf3b1bcf6669df83790eb0bc8d35b2513af8d13cbe611a6','fca268e68f52be9bc55318d05b4bd3b9775fc3379b421173ea5ad3b153edc64b','["«g4» the roses want water; I prefer tea"]','[]','','01m81spsxxpdh27fkdpwy15z2b',0,1.79535684631802558899e+09);
INSERT INTO "memory_change" VALUES('01m81spx0q7gmg0y5t57evtdsj','','MEMORY.md','remember','fca268e68f52be9bc55318d05b4bd3b9775fc3379b421173ea5ad3b153edc64b','eb8aa8fcc1d7d571749e2b52e51289200c0e8b65ab35fdf6926b994a9f641941','["The gate code is 4711"]','[]','','01m81spwvt76rnjv87cs5ntjk8',0,1.795356849175921917e+09);
INSERT INTO "memory_change" VALUES('01m81spxjg9thvr21z86mj8e8b','','MEMORY.md','extract','eb8aa8fcc1d7d571749e2b52e51289200c0e8b65ab35fdf6926b994a9f641941','a816e417f55f0b5a9dad0b389b30545e71456968212982e2bf633e37a3fec3b5','["I prefer green tea"]','[]','','01m81spx26ngcrrng0nd759mre',0,1.79535684974461030955e+09);
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
INSERT INTO "message" VALUES('01m81spmn4f08ckr9h63bqnmhp','01m81spmn4wb9ew2gnbxx77mwg',1,1,1,'01m81spmx9s1p973xb4pp5bgtm','user','[{"kind":"Text","text":"«g0» the roses want water; I prefer tea. 花园要浇水"}]','person','',1,26,'tiktoken',1.79535684087369394297e+09);
INSERT INTO "message" VALUES('01m81spsekjbfk8re6e4fvzeq8','01m81spmn4wb9ew2gnbxx77mwg',1,2,1,'01m81spmx9s1p973xb4pp5bgtm','assistant','[{"kind":"Text","text":"re «g0»"}]','model','',1,12,'tiktoken',1.79535684552373909954e+09);
INSERT INTO "message" VALUES('01m81spshwbkn7v5qdndb8njtk','01m81spmn4wb9ew2gnbxx77mwg',1,3,2,'01m81spshzjacje3vfbe75d82f','user','[{"kind":"Text","text":"«g1» the roses want water; I prefer tea. 花园要浇水"}]','person','',1,26,'tiktoken',1.79535684563132357603e+09);
INSERT INTO "message" VALUES('01m81spsk8k37m8gcpjp15wwzz','01m81spmn4wb9ew2gnbxx77mwg',1,4,2,'01m81spshzjacje3vfbe75d82f','assistant','[{"kind":"Text","text":"re «g0»"}]','model','',1,12,'tiktoken',1.79535684567211627962e+09);
INSERT INTO "message" VALUES('01m81spsm8769rqc6ca9n9zgek','01m81spmn4wb9ew2gnbxx77mwg',1,5,3,'01m81spsmg7r4mdhf2ej17ayvs','user','[{"kind":"Text","text":"«g2» the roses want water; I prefer tea. 花园要浇水"}]','person','',1,26,'tiktoken',1.79535684571204209327e+09);
INSERT INTO "message" VALUES('01m81spsnhs3df9pkmkrv0mtaw','01m81spmn4wb9ew2gnbxx77mwg',1,6,3,'01m81spsmg7r4mdhf2ej17ayvs','assistant','[{"kind":"Text","text":"re «g2»"}]','model','',1,12,'tiktoken',1.79535684574596858019e+09);
INSERT INTO "message" VALUES('01m81spsqyjj9fn3r56h7t1v3d','01m81spmn4wb9ew2gnbxx77mwg',1,7,4,'01m81spss591n4mrkf1r75dar8','user','[{"kind":"Text","text":"«g3» the roses want water; I prefer tea. 花园要浇水"}]','person','',1,26,'tiktoken',1.79535684586144208912e+09);
INSERT INTO "message" VALUES('01m81spsvywh4b9h5jqe7sp19z','01m81spmn4wb9ew2gnbxx77mwg',1,8,4,'01m81spss591n4mrkf1r75dar8','assistant','[{"kind":"Text","text":"re «g2»"}]','model','',1,12,'tiktoken',1.79535684595043826096e+09);
INSERT INTO "message" VALUES('01m81spsxxpdh27fkdpwy15z2b','01m81spmn4wb9ew2gnbxx77mwg',1,9,5,'01m81spsyrjdda4jg116rn21jk','user','[{"kind":"Text","text":"«g4» the roses want water; I prefer tea. 花园要浇水"}]','person','',1,26,'tiktoken',1795356846.04078);
INSERT INTO "message" VALUES('01m81spt0a4btrk35pdn0d4cfw','01m81spmn4wb9ew2gnbxx77mwg',1,10,5,'01m81spsyrjdda4jg116rn21jk','assistant','[{"kind":"Text","text":"re «g2»"}]','model','',1,12,'tiktoken',1.79535684609015059468e+09);
INSERT INTO "message" VALUES('01m81sptahqk25k1zjr1f3p07t','01m81spmn4wb9ew2gnbxx77mwg',1,11,6,'01m81sptat1asn7qqg9xd00wzs','user','[{"kind":"Text","text":"«g5» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535684642661547659e+09);
INSERT INTO "message" VALUES('01m81sptc4nbyv0fcwzqwgx9qe','01m81spmn4wb9ew2gnbxx77mwg',1,12,6,'01m81sptat1asn7qqg9xd00wzs','assistant','[{"kind":"Text","text":"re «g5»"}]','model','',1,12,'tiktoken',1.79535684646825122829e+09);
INSERT INTO "message" VALUES('01m81spte8f7j50wer58tcteqt','01m81spmn4wb9ew2gnbxx77mwg',1,13,7,'01m81spteer9qjr9k66z45kp20','user','[{"kind":"Text","text":"«g6» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535684654292702674e+09);
INSERT INTO "message" VALUES('01m81sptf8xhr0bmax0jyfcg1m','01m81spmn4wb9ew2gnbxx77mwg',1,14,7,'01m81spteer9qjr9k66z45kp20','assistant','[{"kind":"Text","text":"re «g6»"}]','model','',1,12,'tiktoken',1.7953568465681056976e+09);
INSERT INTO "message" VALUES('01m81spthv64x323t2j20g5167','01m81spmn4wb9ew2gnbxx77mwg',1,15,8,'01m81sptjgep7me803asgaqfdj','user','[{"kind":"Text","text":"«g7» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535684667217564579e+09);
INSERT INTO "message" VALUES('01m81sptk4h8br416tdx58fjn5','01m81spmn4wb9ew2gnbxx77mwg',1,16,8,'01m81sptjgep7me803asgaqfdj','assistant','[{"kind":"Text","text":"re «g7»"}]','model','',1,12,'tiktoken',1.79535684669282841682e+09);
INSERT INTO "message" VALUES('01m81sptnn75r03r4wkjhz9atx','01m81spmn4wb9ew2gnbxx77mwg',1,17,9,'01m81sptnwdv5hdj3ach5wnqea','user','[{"kind":"Text","text":"«g8» use write_file {\"path\": \"notes/roses.md\", \"content\": \"water on Mondays\"}"}]','person','',1,32,'tiktoken',1.79535684678063082696e+09);
INSERT INTO "message" VALUES('01m81sptpjvk27xhvw60q38h1j','01m81spmn4wb9ew2gnbxx77mwg',1,18,9,'01m81sptnwdv5hdj3ach5wnqea','assistant','[{"kind":"Text","text":"I look."},{"kind":"ToolCall","id":"call_g8","name":"write_file","input":"{\"path\": \"notes/roses.md\", \"content\": \"water on Mondays\"}"}]','model','',1,40,'tiktoken',1.79535684680267930033e+09);
INSERT INTO "message" VALUES('01m81sptpyzhs8jjybt9ry5zvz','01m81spmn4wb9ew2gnbxx77mwg',1,19,9,'01m81sptnwdv5hdj3ach5wnqea','user','[{"kind":"ToolResult","call_id":"call_g8","text":"notes/roses.md now holds 16 bytes, version 29eb6a143968.","is_error":false}]','tool','',0,32,'tiktoken',1.79535684681490087513e+09);
INSERT INTO "message" VALUES('01m81sptqy7d1fr03t7xgq8dep','01m81spmn4wb9ew2gnbxx77mwg',1,20,9,'01m81sptnwdv5hdj3ach5wnqea','assistant','[{"kind":"Text","text":"re «g8»"}]','model','',1,12,'tiktoken',1.79535684684673023216e+09);
INSERT INTO "message" VALUES('01m81sptyp5pv3jjaeh5f0zxg1','01m81sptypx0ev8g2a6s0hsp3t',1,1,1,'01m81sptyw5qqyph31dxr5kz9a','user','[{"kind":"Text","text":"«w0» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535684706847023959e+09);
INSERT INTO "message" VALUES('01m81spv0hgbh3z2kmransed24','01m81sptypx0ev8g2a6s0hsp3t',1,2,1,'01m81sptyw5qqyph31dxr5kz9a','assistant','[{"kind":"Text","text":"re «w0»"}]','model','',1,12,'tiktoken',1.79535684712134647371e+09);
INSERT INTO "message" VALUES('01m81spv3tqzvj4e3v45rgf1kw','01m81sptypx0ev8g2a6s0hsp3t',1,3,2,'01m81spv47j0q6wkk87adqzxzv','user','[{"kind":"Text","text":"«w1» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535684723954629899e+09);
INSERT INTO "message" VALUES('01m81spv56tpdq8yfa7xtnbaz2','01m81sptypx0ev8g2a6s0hsp3t',1,4,2,'01m81spv47j0q6wkk87adqzxzv','assistant','[{"kind":"Text","text":"re «w1»"}]','model','',1,12,'tiktoken',1.7953568472706961631e+09);
INSERT INTO "message" VALUES('01m81spv81y02rhrh8te5jtpj5','01m81sptypx0ev8g2a6s0hsp3t',1,5,3,'01m81spv8dz44vhvyarmd9nbt8','user','[{"kind":"Text","text":"«w2» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535684737353634838e+09);
INSERT INTO "message" VALUES('01m81spvaqyrk1hayn8661bgy3','01m81sptypx0ev8g2a6s0hsp3t',1,6,3,'01m81spv8dz44vhvyarmd9nbt8','assistant','[{"kind":"Text","text":"re «w2»"}]','model','',1,12,'tiktoken',1.79535684744750308984e+09);
INSERT INTO "message" VALUES('01m81spvp0d1j86jqddzz8jh48','01m81spvp0f9hd5ykr5w3pya1c',1,1,1,'01m81spvqvafppjfkc24c0w979','user','[{"kind":"Text","text":"«o0» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535684786705493926e+09);
INSERT INTO "message" VALUES('01m81spvvn4zbdjf5f0zbykj47','01m81spvp0f9hd5ykr5w3pya1c',1,2,1,'01m81spvqvafppjfkc24c0w979','assistant','[{"kind":"Text","text":"re «o0»"}]','model','',1,12,'tiktoken',1.79535684798968672749e+09);
INSERT INTO "message" VALUES('01m81spvz1g675krkqwzfk9r92','01m81spvp0f9hd5ykr5w3pya1c',1,3,2,'01m81spw1a1hjxcxvqg14gvj4c','user','[{"kind":"Text","text":"«o1» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535684817050743104e+09);
INSERT INTO "message" VALUES('01m81spw745fwyhr1p76zhn97y','01m81spvp0f9hd5ykr5w3pya1c',1,4,2,'01m81spw1a1hjxcxvqg14gvj4c','assistant','[{"kind":"Text","text":"re «o1»"}]','model','',1,12,'tiktoken',1.79535684835620808598e+09);
INSERT INTO "message" VALUES('01m81spwe2ga5e1m41xtgympgh','01m81spvp0f9hd5ykr5w3pya1c',2,5,3,'01m81spwf58hkwpad7tb1bz2n6','user','[{"kind":"Text","text":"«o2» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535684861310148238e+09);
INSERT INTO "message" VALUES('01m81spwjjc8pwx7yqttakzm31','01m81spvp0f9hd5ykr5w3pya1c',2,6,3,'01m81spwf58hkwpad7tb1bz2n6','assistant','[{"kind":"Text","text":"re «o2»"}]','model','',1,12,'tiktoken',1.79535684872299408912e+09);
INSERT INTO "message" VALUES('01m81spwke8ag5xffwkkhdt6k2','01m81spwkef33aayy0vj49p8wy',1,1,1,'01m81spwn1pfcsgjvqsdepv298','user','[{"kind":"Text","text":"«n0» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535684880140495298e+09);
INSERT INTO "message" VALUES('01m81spwprdrk51watzp235g3n','01m81spwkef33aayy0vj49p8wy',1,2,1,'01m81spwn1pfcsgjvqsdepv298','assistant','[{"kind":"Text","text":"re «n0»"}]','model','',1,12,'tiktoken',1.79535684885658383368e+09);
INSERT INTO "message" VALUES('01m81spwra5qt1edf4zv098n4h','01m81spwkef33aayy0vj49p8wy',2,3,2,'01m81spwrm17dyg0xhwzvm54am','user','[{"kind":"Text","text":"«n1» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535684891690468789e+09);
INSERT INTO "message" VALUES('01m81spws01s97fzedn6h2prxc','01m81spwkef33aayy0vj49p8wy',2,4,2,'01m81spwrm17dyg0xhwzvm54am','assistant','[{"kind":"Text","text":"re «n1»"}]','model','',1,12,'tiktoken',1.79535684892830944055e+09);
INSERT INTO "message" VALUES('01m81spx26ngcrrng0nd759mre','01m81spmn4wb9ew2gnbxx77mwg',1,21,10,'01m81spx2ga5v78ktvhaphmf6r','user','[{"kind":"Text","text":"«m1» a thing to know. I prefer green tea."}]','person','',1,21,'tiktoken',1.79535684923247027401e+09);
INSERT INTO "message" VALUES('01m81spx9q78vrtt75baaa4jk2','01m81spmn4wb9ew2gnbxx77mwg',1,22,10,'01m81spx2ga5v78ktvhaphmf6r','assistant','[{"kind":"Text","text":"re «m1»"}]','model','',1,12,'tiktoken',1.7953568494633865356e+09);
INSERT INTO "message" VALUES('01m81spxdqhbheashyan4t63x5','01m81spxdqz7b7gyd9vsyh2d18',1,1,1,'01m81spxfhbejapn5k46kvvqhn','user','[{"kind":"Text","text":"«t0» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535684964920330044e+09);
INSERT INTO "message" VALUES('01m81spxqnsw3h3bby55fa7vdb','01m81spxdqz7b7gyd9vsyh2d18',1,2,1,'01m81spxfhbejapn5k46kvvqhn','assistant','[{"kind":"Text","text":"re «t0»"}]','model','',1,12,'tiktoken',1.79535684990929937359e+09);
INSERT INTO "message" VALUES('01m81spxx2w0zds6bz6wtnf2k8','01m81spxdqz7b7gyd9vsyh2d18',1,3,2,'01m81spy1245bdtrd8g5re9jmq','user','[{"kind":"Text","text":"«t1» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535685021047878261e+09);
INSERT INTO "message" VALUES('01m81spy31f1vwtmfhrxzxgmn1','01m81spxdqz7b7gyd9vsyh2d18',1,4,2,'01m81spy1245bdtrd8g5re9jmq','assistant','[{"kind":"Text","text":"re «t1»"}]','model','',1,12,'tiktoken',1.79535685027333497994e+09);
INSERT INTO "message" VALUES('01m81spzqtvp9kjyppt85w2n50','01m81spzqtwkrsrpfz79md9gqp',1,1,1,'01m81sq0raz5sdy5tk9cn059hc','user','[{"kind":"Image","sha256":"7899d6ced52159786ff083934df42788da01a30b7ed9bb7756d7f3f5a94ef685","media_type":"image/png","width":2,"height":2},{"kind":"Text","text":"«p1» what do you make of it?"}]','person','',1,19,'tiktoken',1.79535685300277066231e+09);
INSERT INTO "message" VALUES('01m81sq0v2d6ew53nnt38055kd','01m81spzqtwkrsrpfz79md9gqp',1,2,1,'01m81sq0raz5sdy5tk9cn059hc','assistant','[{"kind":"Text","text":"re «p1»"}]','model','',1,12,'tiktoken',1.79535685309028244021e+09);
INSERT INTO "message" VALUES('01m81sq464f8kncgtx49wchyem','01m81sq464zx54snds13831hm0',1,1,1,'01m81sq4k2deszpdwvf2g6eejw','user','[{"kind":"Text","text":"«l0» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535685693084406857e+09);
INSERT INTO "message" VALUES('01m81sq52a37cyc7mh94srg87b','01m81sq464zx54snds13831hm0',1,2,1,'01m81sq4k2deszpdwvf2g6eejw','assistant','[{"kind":"Text","text":"re «l0»"}]','model','',1,12,'tiktoken',1.79535685741845464713e+09);
INSERT INTO "message" VALUES('01m81sq5531yjtyzmy5ezqmfay','01m81sq464zx54snds13831hm0',1,3,2,'01m81sq55p13f3vz4mqbgbyvv6','user','[{"kind":"Text","text":"«l1» what do you make of it?"}]','person','',1,18,'tiktoken',1.7953568575261819362e+09);
INSERT INTO "message" VALUES('01m81sq57t0m7kxear78k820xc','01m81sq464zx54snds13831hm0',1,4,2,'01m81sq55p13f3vz4mqbgbyvv6','assistant','[{"kind":"Text","text":"re «l1»"}]','model','',1,12,'tiktoken',1.79535685759487581257e+09);
INSERT INTO "message" VALUES('01m81sq6f7h41sgq0966eh98cg','01m81sq6f7fz0an541w7xrb28p',1,1,1,'01m81sq6frbgqsgqndt7qcj372','user','[{"kind":"Text","text":"«x1» use write_file {\"path\": \"notes/x.md\", \"content\": \"x\"}"}]','person','',1,28,'tiktoken',1.79535685887270402907e+09);
INSERT INTO "message" VALUES('01m81sq6jzq1hk81nceqn9xe4s','01m81sq6f7fz0an541w7xrb28p',1,2,1,'01m81sq6frbgqsgqndt7qcj372','assistant','[{"kind":"Text","text":"I look."},{"kind":"ToolCall","id":"call_x1","name":"write_file","input":"{\"path\": \"notes/x.md\", \"content\": \"x\"}"}]','model','',1,36,'tiktoken',1.79535685897597241398e+09);
INSERT INTO "message" VALUES('01m81sq7h08xr5b2wqm9034fwq','01m81sq464zx54snds13831hm0',1,5,3,'01m81sq7hxqtcc6bmdpxyptqv8','user','[{"kind":"Text","text":"«l2» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535685996573090555e+09);
INSERT INTO "message" VALUES('01m81sq7jyj9ytas43x165vjb7','01m81sq464zx54snds13831hm0',1,6,3,'01m81sq7hxqtcc6bmdpxyptqv8','assistant','[{"kind":"Text","text":"re «l2»"}]','model','',1,12,'tiktoken',1.79535685999867439264e+09);
CREATE TABLE model_factor (
	model TEXT NOT NULL, 
	factor DOUBLE NOT NULL, 
	samples INTEGER NOT NULL, 
	error_percent DOUBLE NOT NULL, 
	PRIMARY KEY (model)
);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra',0.9916,15,0.63);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra 01m81spmn4wb9ew2gnbxx77mwg',1.0205,10,-0.3);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra 01m81sptypx0ev8g2a6s0hsp3t',0.9878,3,0.18);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra 01m81spvp0f9hd5ykr5w3pya1c',0.9892,3,-0.03);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra 01m81spwkef33aayy0vj49p8wy',0.988,2,0.29);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra 01m81spxdqz7b7gyd9vsyh2d18',0.9857,2,0.63);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra 01m81spzqtwkrsrpfz79md9gqp',0.9998,1,-1.16);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra 01m81sq464zx54snds13831hm0',0.9838,3,0.18);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra 01m81sq6f7fz0an541w7xrb28p',0.9871,1,0.66);
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
INSERT INTO "outbox" VALUES('01m81spsek4c7fk3ves5z7ksfw','01m81spmn4wb9ew2gnbxx77mwg','01m81spmn4f08ckr9h63bqnmhp:answer',0,1,1,'final','da100d183dbf49c1eca90e99cfb43152','re «g0»','sent',1,0,0,315360000.0,2.11071684553944015501e+09,0.0,'01m81spmn4f08ckr9h63bqnmhp','01m81spsek4c7fk3ves5z7ksfw','',2,1.79535684552373909954e+09,1,'');
INSERT INTO "outbox" VALUES('01m81spsk8ca3j5gk68rktwyr3','01m81spmn4wb9ew2gnbxx77mwg','01m81spshwbkn7v5qdndb8njtk:answer',0,1,1,'final','322f44f21efb7c1d6881f9d92a93e68b','re «g0»','sent',1,0,0,315360000.0,2.11071684567992234231e+09,0.0,'01m81spshwbkn7v5qdndb8njtk','01m81spsk8ca3j5gk68rktwyr3','',4,1.79535684567211627962e+09,1,'');
INSERT INTO "outbox" VALUES('01m81spsnhzck8jy99q1f36h4h','01m81spmn4wb9ew2gnbxx77mwg','01m81spsm8769rqc6ca9n9zgek:answer',0,1,1,'final','0827af2c26f80ff7e1c1f19cc9eef4c4','re «g2»','sent',1,0,0,315360000.0,2.11071684575269317616e+09,0.0,'01m81spsm8769rqc6ca9n9zgek','01m81spsnhzck8jy99q1f36h4h','',6,1.79535684574596858019e+09,1,'');
INSERT INTO "outbox" VALUES('01m81spsvy0c0td877sdv6r6j2','01m81spmn4wb9ew2gnbxx77mwg','01m81spsqyjj9fn3r56h7t1v3d:answer',0,1,1,'final','a325c3064a6d2264ac89fb87d03fb6e2','re «g2»','sent',1,0,0,315360000.0,2.11071684597953391072e+09,0.0,'01m81spsqyjj9fn3r56h7t1v3d','01m81spsvy0c0td877sdv6r6j2','',8,1.79535684595043826096e+09,1,'');
INSERT INTO "outbox" VALUES('01m81spt0avqhxa24g4153xpt5','01m81spmn4wb9ew2gnbxx77mwg','01m81spsxxpdh27fkdpwy15z2b:answer',0,1,1,'final','b0187d9e40d25d546efa6227e12915bb','re «g2»','sent',1,0,0,315360000.0,2.11071684615060496323e+09,0.0,'01m81spsxxpdh27fkdpwy15z2b','01m81spt0avqhxa24g4153xpt5','',10,1.79535684609015059468e+09,1,'');
INSERT INTO "outbox" VALUES('01m81spt95td36kk5ry5kazr4g','01m81spmn4wb9ew2gnbxx77mwg','01m81spt4j2ntjyhd4028w99mk:answer',0,1,1,'notice','44a09cbc5b850d4e1e491bb682e14676','Folded turns 1–2 into memory/2026-11-22.md: 190 → 155 tokens (82%).','sent',1,0,0,315360000.0,2.11071684637533807751e+09,0.0,'01m81spt4j2ntjyhd4028w99mk','01m81spt95td36kk5ry5kazr4g','',12,1.79535684637308669093e+09,1,'');
INSERT INTO "outbox" VALUES('01m81sptc4bebbm988tzrnpday','01m81spmn4wb9ew2gnbxx77mwg','01m81sptahqk25k1zjr1f3p07t:answer',0,1,1,'final','fef4e1d3f90023efa6a6de65ebcd32f9','re «g5»','sent',1,0,0,315360000.0,2.11071684647915911673e+09,0.0,'01m81sptahqk25k1zjr1f3p07t','01m81sptc4bebbm988tzrnpday','',14,1.79535684646825122829e+09,1,'');
INSERT INTO "outbox" VALUES('01m81sptf8qy058tatgdtvcyhf','01m81spmn4wb9ew2gnbxx77mwg','01m81spte8f7j50wer58tcteqt:answer',0,1,1,'final','12a3844036b6a82c54d4afc2da8c6834','re «g6»','sent',1,0,0,315360000.0,2.1107168466513898373e+09,0.0,'01m81spte8f7j50wer58tcteqt','01m81sptf8qy058tatgdtvcyhf','',16,1.7953568465681056976e+09,1,'');
INSERT INTO "outbox" VALUES('01m81sptk4pqh5xn6qkmrb2c5h','01m81spmn4wb9ew2gnbxx77mwg','01m81spthv64x323t2j20g5167:answer',0,1,1,'final','b7f20a9181d781a95f9a20be5040b696','re «g7»','sent',1,0,0,315360000.0,2.11071684670036482803e+09,0.0,'01m81spthv64x323t2j20g5167','01m81sptk4pqh5xn6qkmrb2c5h','',18,1.79535684669282841682e+09,1,'');
INSERT INTO "outbox" VALUES('01m81sptqy5x894tzt8tvvpse3','01m81spmn4wb9ew2gnbxx77mwg','01m81sptnn75r03r4wkjhz9atx:answer',0,1,1,'final','ead77af08c6d5d25964c7046b119048a','re «g8»','sent',1,0,0,315360000.0,2.1107168468519244193e+09,0.0,'01m81sptnn75r03r4wkjhz9atx','01m81sptqy5x894tzt8tvvpse3','',20,1.79535684684673023216e+09,1,'');
INSERT INTO "outbox" VALUES('01m81sptwp3c3dnb4gk2q2gwj8','01m81spmn4wb9ew2gnbxx77mwg','01m81sptt5y04aw4p0wk0xrrgq:answer',0,1,1,'notice','95062383017bc4e954c39f1bff6e61ea','Folded turns 3–5 into memory/2026-11-22.md: 361 → 268 tokens (74%).','sent',1,0,0,315360000.0,2110716847.00658,0.0,'01m81sptt5y04aw4p0wk0xrrgq','01m81sptwp3c3dnb4gk2q2gwj8','',22,1.79535684699806761741e+09,1,'');
INSERT INTO "outbox" VALUES('01m81spv0hfgke64cdv11nea2z','01m81sptypx0ev8g2a6s0hsp3t','01m81sptyp5pv3jjaeh5f0zxg1:answer',0,1,1,'final','0519e3d74b56c238fc96be987d9fcccd','re «w0»','sent',1,0,0,315360000.0,2.11071684717348432539e+09,0.0,'01m81sptyp5pv3jjaeh5f0zxg1','01m81spv0hfgke64cdv11nea2z','',2,1.79535684712134647371e+09,1,'');
INSERT INTO "outbox" VALUES('01m81spv56r6wdqz3096bwspk6','01m81sptypx0ev8g2a6s0hsp3t','01m81spv3tqzvj4e3v45rgf1kw:answer',0,1,1,'final','ad397f8ff6f155dc2520ff7cb77a2193','re «w1»','sent',1,0,0,315360000.0,2.11071684728345537176e+09,0.0,'01m81spv3tqzvj4e3v45rgf1kw','01m81spv56r6wdqz3096bwspk6','',4,1.7953568472706961631e+09,1,'');
INSERT INTO "outbox" VALUES('01m81spvaq7n63kba1caksvrpk','01m81sptypx0ev8g2a6s0hsp3t','01m81spv81y02rhrh8te5jtpj5:answer',0,1,1,'final','ddf87918c25c10a50985853ed64ccb2d','re «w2»','sent',1,0,0,315360000.0,2.11071684745721149453e+09,0.0,'01m81spv81y02rhrh8te5jtpj5','01m81spvaq7n63kba1caksvrpk','',6,1.79535684744750308984e+09,1,'');
INSERT INTO "outbox" VALUES('01m81spvfdev0jcm845n92sfrz','01m81sptypx0ev8g2a6s0hsp3t','01m81spvd8wy9qscw6r4kr5rg3:answer',0,1,1,'notice','55bf6d142be12d2f03913e98deb69cd8','Folded turn 1 into memory/2026-11-22.md: 90 → 72 tokens (80%).','sent',1,0,0,315360000.0,2.11071684760003685957e+09,0.0,'01m81spvd8wy9qscw6r4kr5rg3','01m81spvfdev0jcm845n92sfrz','',8,1.79535684759787440302e+09,1,'');
INSERT INTO "outbox" VALUES('01m81spvj2vzrh1w06s1x4cetv','01m81sptypx0ev8g2a6s0hsp3t','01m81spvg2rsd41x9hmga685xy:answer',0,1,1,'notice','a131ee6557e1cb11f55a9e6f8eebf60b','The fold is undone: turn 1 is back in the context.','sent',1,0,0,315360000.0,2.11071684770563530926e+09,0.0,'01m81spvg2rsd41x9hmga685xy','01m81spvj2vzrh1w06s1x4cetv','',10,1.79535684768277764315e+09,1,'');
INSERT INTO "outbox" VALUES('01m81spvvnqp5jegvwym3e6n32','01m81spvp0f9hd5ykr5w3pya1c','01m81spvp0d1j86jqddzz8jh48:answer',0,1,1,'final','18337a393696479cded082a82c21c345','re «o0»','sent',1,0,0,315360000.0,2.11071684803809666631e+09,0.0,'01m81spvp0d1j86jqddzz8jh48','01m81spvvnqp5jegvwym3e6n32','',2,1.79535684798968672749e+09,1,'');
INSERT INTO "outbox" VALUES('01m81spw74b1p7aekeb9byvpk3','01m81spvp0f9hd5ykr5w3pya1c','01m81spvz1g675krkqwzfk9r92:answer',0,1,1,'final','0f2dbec058eae0d1b9a0ade1750be0d5','re «o1»','sent',1,0,0,315360000.0,2.11071684840777897842e+09,0.0,'01m81spvz1g675krkqwzfk9r92','01m81spw74b1p7aekeb9byvpk3','',4,1.79535684835620808598e+09,1,'');
INSERT INTO "outbox" VALUES('01m81spwd3tqfvmbwzsntea568','01m81spvp0f9hd5ykr5w3pya1c','01m81spw9tbravwbtevzgmy6mv:answer',0,1,2,'notice','f3442f210cf62fcb7cd7779f5f0017d4','The context is clear: the model sees nothing from before. The record stays; /context undo takes this back.','sent',1,0,0,315360000.0,2.11071684856101846701e+09,0.0,'01m81spw9tbravwbtevzgmy6mv','01m81spwd3tqfvmbwzsntea568','',6,1.79535684854740095134e+09,1,'');
INSERT INTO "outbox" VALUES('01m81spwjj6aqrx7ejn3nx5d9d','01m81spvp0f9hd5ykr5w3pya1c','01m81spwe2ga5e1m41xtgympgh:answer',0,1,2,'final','d1d70b48917031c64ca7fcc606f9d1f8','re «o2»','sent',1,0,0,315360000.0,2.11071684873968839655e+09,0.0,'01m81spwe2ga5e1m41xtgympgh','01m81spwjj6aqrx7ejn3nx5d9d','',8,1.79535684872299408912e+09,1,'');
INSERT INTO "outbox" VALUES('01m81spwpr06bgr42wg0mhrp5b','01m81spwkef33aayy0vj49p8wy','01m81spwke8ag5xffwkkhdt6k2:answer',0,1,1,'final','aefd920f90743a0f827b7875fd6a94a7','re «n0»','sent',1,0,0,315360000.0,2.11071684885934662823e+09,0.0,'01m81spwke8ag5xffwkkhdt6k2','01m81spwpr06bgr42wg0mhrp5b','',2,1.79535684885658383368e+09,1,'');
INSERT INTO "outbox" VALUES('01m81spwqhwkq0nj4zascynyk9','01m81spwkef33aayy0vj49p8wy','01m81spwq91kkrptj0avsg8zmg:answer',0,1,2,'notice','0b74edc58df58a1867f19ce2711a09ce','A new conversation begins; what came before (1 turn) is being written to today''s log.','sent',1,0,0,315360000.0,2.11071684888806939133e+09,0.0,'01m81spwq91kkrptj0avsg8zmg','01m81spwqhwkq0nj4zascynyk9','',4,1.79535684888171577456e+09,1,'');
INSERT INTO "outbox" VALUES('01m81spws0py4cbdxywz61g18n','01m81spwkef33aayy0vj49p8wy','01m81spwra5qt1edf4zv098n4h:answer',0,1,2,'final','d6f63e4b3af35249124e83f08f23f825','re «n1»','sent',1,0,0,315360000.0,2.11071684894161844259e+09,0.0,'01m81spwra5qt1edf4zv098n4h','01m81spws0py4cbdxywz61g18n','',6,1.79535684892830944055e+09,1,'');
INSERT INTO "outbox" VALUES('01m81spx0r5ejfx2h2xn68nkqv','01m81spmn4wb9ew2gnbxx77mwg','01m81spwvt76rnjv87cs5ntjk8:answer',0,1,1,'notice','3336660d07c283797fc2a30231f47a17','Remembered (facts): The gate code is 4711','sent',1,0,0,315360000.0,2.11071684922286081313e+09,0.0,'01m81spwvt76rnjv87cs5ntjk8','01m81spx0r5ejfx2h2xn68nkqv','',24,1.79535684917689538006e+09,1,'');
INSERT INTO "outbox" VALUES('01m81spx9qxgs145j5378nne9t','01m81spmn4wb9ew2gnbxx77mwg','01m81spx26ngcrrng0nd759mre:answer',0,1,1,'final','9ee9694da6f03aca95ccae07986116cb','re «m1»','sent',1,0,0,315360000.0,2.1107168495386323928e+09,0.0,'01m81spx26ngcrrng0nd759mre','01m81spx9qxgs145j5378nne9t','',26,1.7953568494633865356e+09,1,'');
INSERT INTO "outbox" VALUES('01m81spxqnz0v9w9tcfgwtzymg','01m81spxdqz7b7gyd9vsyh2d18','01m81spxdqhbheashyan4t63x5:answer',0,1,1,'final','96eaba9af4335741ab7c0c01d3ad591a','re «t0»','sent',1,0,0,0.0,0.0,0.0,'01m81spxdqhbheashyan4t63x5','2','',2,1.79535684990929937359e+09,1,'');
INSERT INTO "outbox" VALUES('01m81spy31j59bfjep38vpzv3x','01m81spxdqz7b7gyd9vsyh2d18','01m81spxx2w0zds6bz6wtnf2k8:answer',0,1,1,'final','e2692a84b74903759c8cf341f18ddd4a','re «t1»','sent',1,0,0,0.0,0.0,0.0,'01m81spxx2w0zds6bz6wtnf2k8','4','',4,1.79535685027333497994e+09,1,'');
INSERT INTO "outbox" VALUES('01m81spy8mk8ybtzpj6rqa7wwj','01m81spy7fe9a1xdrzht6eked5','pair:01m81spy7fey7bqgzmwmg43zb9',0,1,1,'notice','f84087a1156c29d13cdb60c8291a8cdd','I talk only to people who were let in. Give this code to the person who runs me; it is good for an hour: `6VTP-W3PL`','sent',1,0,0,0.0,0.0,0.0,'','2','',2,1.79535685045264029502e+09,1,'');
INSERT INTO "outbox" VALUES('01m81spy8myrtnkqk869w60wce','01m81spxdqz7b7gyd9vsyh2d18','pairing:telegram:100:2026-11-22',0,1,1,'notice','43d6a5e62757d93cba9645b8c8f362fb','telegram `999` “`Ада`” asks to talk to me and was given a code. If you know them, have them tell you the code and enter it with `mnema pair approve CODE` in a terminal, or `/approve CODE` in the page or the terminal chat. I do not tell you of others today; `mnema pair list` shows who waits.','sent',1,0,0,0.0,0.0,0.0,'','5','',5,1.79535685045264029502e+09,1,'');
INSERT INTO "outbox" VALUES('01m81sq0v27tztbk5phk4kr7xk','01m81spzqtwkrsrpfz79md9gqp','01m81spzqtvp9kjyppt85w2n50:answer',0,1,1,'final','3284f48f4e19e836697f0e58f6803512','re «p1»','sent',1,0,0,315360000.0,2.11071685309964227669e+09,0.0,'01m81spzqtvp9kjyppt85w2n50','01m81sq0v27tztbk5phk4kr7xk','',2,1.79535685309028244021e+09,1,'');
INSERT INTO "outbox" VALUES('01m81sq52a4rvzgbxzs9rfv5tv','01m81sq464zx54snds13831hm0','01m81sq464f8kncgtx49wchyem:answer',0,1,1,'final','600b09c2383df9ade3f280f137cf2b63','re «l0»','sent',1,0,0,315360000.0,2.11071685749187588692e+09,0.0,'01m81sq464f8kncgtx49wchyem','01m81sq52a4rvzgbxzs9rfv5tv','',2,1.79535685741845464713e+09,2,'');
INSERT INTO "outbox" VALUES('01m81sq57tfxz3ddx22m5kt3d1','01m81sq464zx54snds13831hm0','01m81sq5531yjtyzmy5ezqmfay:answer',0,1,1,'final','98ffa510a962940e981069183890a9b6','re «l1»','sent',1,0,0,315360000.0,2.11071685776487660401e+09,0.0,'01m81sq5531yjtyzmy5ezqmfay','01m81sq57tfxz3ddx22m5kt3d1','',4,1.79535685759487581257e+09,2,'');
INSERT INTO "outbox" VALUES('01m81sq7jy52eyb8j5d5k8tyy7','01m81sq464zx54snds13831hm0','01m81sq7h08xr5b2wqm9034fwq:answer',0,1,1,'final','a95e3c8732170a1d2502de4794c357c7','re «l2»','sending',1,0,0,315360000.0,2.11071686001860523221e+09,0.0,'01m81sq7h08xr5b2wqm9034fwq','','',6,1.79535685999867439264e+09,2,'');
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
INSERT INTO "prefix_text" VALUES('d9cb697b1c821f0f7cc39f080d09d31eb2a0c36f876beb563a296ada097353f9','[Daily log of 2026-11-22, for reference]
## 14:14 · web · turns 1–2

- «g0» the roses want water; I prefer tea. 花园要浇水
- «g1» the roses want water; I prefer tea. 花园要浇水

## 14:14 · web · turns 3–5

- «g2» the roses want water; I prefer tea. 花园要浇水
- «g3» the roses want water; I prefer tea. 花园要浇水
- «g4» the roses want water; I prefer tea. 花园要浇水
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
INSERT INTO "prefix_text" VALUES('bb056f0745852cf961e6c365758f9edf703379f8982c9cc83cf08b5324fddf57','[Daily log of 2026-11-22, for reference]
## 14:14 · web · turns 1–1

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
INSERT INTO "prefix_text" VALUES('b58b8d62d8430ccd4d8921307527f6f3034df1413962284713dce3ea1cd0221e','[Daily log of 2026-11-22, for reference]
## 14:14 · web · turns 1–2

- «g0» the roses want water; I prefer tea. 花园要浇水
- «g1» the roses want water; I prefer tea. 花园要浇水

## 14:14 · web · turns 3–5

- «g2» the roses want water; I prefer tea. 花园要浇水
- «g3» the roses want water; I prefer tea. 花园要浇水
- «g4» the roses want water; I prefer tea. 花园要浇水

## 14:14 · web · turns 1–1

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
INSERT INTO "reduction" VALUES('01m81spsekjbfk8re6e4fvzeq8',0,'snip','01m81spmn4wb9ew2gnbxx77mwg','re … g0',3,'size',1);
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
INSERT INTO "snapshot" VALUES('01m81sptypx0ev8g2a6s0hsp3t','b73b62527681b8f5de1d6f00987f8f8d32f063078e32f3b7323d40d8c9306ea0',1,'',0,1.79535684707819437984e+09);
INSERT INTO "snapshot" VALUES('01m81spvp0f9hd5ykr5w3pya1c','b73b62527681b8f5de1d6f00987f8f8d32f063078e32f3b7323d40d8c9306ea0',2,'',0,1.79535684866932392124e+09);
INSERT INTO "snapshot" VALUES('01m81spwkef33aayy0vj49p8wy','b73b62527681b8f5de1d6f00987f8f8d32f063078e32f3b7323d40d8c9306ea0',2,'',0,1.7953568489225573539e+09);
INSERT INTO "snapshot" VALUES('01m81spmn4wb9ew2gnbxx77mwg','e2f2e7aaafa10ef2666e310b8e214d99b841f22626add9083cfcbaef1de129a9',1,'01m81spttzpry3g2jv8fhq1a5z',0,1.79535684932640886299e+09);
INSERT INTO "snapshot" VALUES('01m81spxdqz7b7gyd9vsyh2d18','4ab51150ab2d48175a50a66a0e044ca1083caf1969f9fcaec26d2d75d4cf490a',1,'',0,1.79535684980253577229e+09);
INSERT INTO "snapshot" VALUES('01m81spzqtwkrsrpfz79md9gqp','4ab51150ab2d48175a50a66a0e044ca1083caf1969f9fcaec26d2d75d4cf490a',1,'',0,1.79535685303450465201e+09);
INSERT INTO "snapshot" VALUES('01m81sq464zx54snds13831hm0','4ab51150ab2d48175a50a66a0e044ca1083caf1969f9fcaec26d2d75d4cf490a',1,'',0,1.79535685703838896755e+09);
INSERT INTO "snapshot" VALUES('01m81sq6f7fz0an541w7xrb28p','4ab51150ab2d48175a50a66a0e044ca1083caf1969f9fcaec26d2d75d4cf490a',1,'',0,1.795356858906579256e+09);
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
INSERT INTO "snapshot_part" VALUES('01m81sptypx0ev8g2a6s0hsp3t',0,'awareness','9e0b173ed1df3dfd43c2a0985610ed44f4e9ebf9fcb9be0298b11c768a32fb66','[]');
INSERT INTO "snapshot_part" VALUES('01m81sptypx0ev8g2a6s0hsp3t',1,'MEMORY.md','aa0fea7604628517643648c9af3ee050f3225f43e3c51d88013a8f7caf7f128f','[]');
INSERT INTO "snapshot_part" VALUES('01m81sptypx0ev8g2a6s0hsp3t',2,'log','d9cb697b1c821f0f7cc39f080d09d31eb2a0c36f876beb563a296ada097353f9','[]');
INSERT INTO "snapshot_part" VALUES('01m81spvp0f9hd5ykr5w3pya1c',0,'awareness','9e0b173ed1df3dfd43c2a0985610ed44f4e9ebf9fcb9be0298b11c768a32fb66','[]');
INSERT INTO "snapshot_part" VALUES('01m81spvp0f9hd5ykr5w3pya1c',1,'MEMORY.md','aa0fea7604628517643648c9af3ee050f3225f43e3c51d88013a8f7caf7f128f','[]');
INSERT INTO "snapshot_part" VALUES('01m81spvp0f9hd5ykr5w3pya1c',2,'log','d9cb697b1c821f0f7cc39f080d09d31eb2a0c36f876beb563a296ada097353f9','[]');
INSERT INTO "snapshot_part" VALUES('01m81spwkef33aayy0vj49p8wy',0,'awareness','9e0b173ed1df3dfd43c2a0985610ed44f4e9ebf9fcb9be0298b11c768a32fb66','[]');
INSERT INTO "snapshot_part" VALUES('01m81spwkef33aayy0vj49p8wy',1,'MEMORY.md','aa0fea7604628517643648c9af3ee050f3225f43e3c51d88013a8f7caf7f128f','[]');
INSERT INTO "snapshot_part" VALUES('01m81spwkef33aayy0vj49p8wy',2,'log','d9cb697b1c821f0f7cc39f080d09d31eb2a0c36f876beb563a296ada097353f9','[]');
INSERT INTO "snapshot_part" VALUES('01m81spmn4wb9ew2gnbxx77mwg',0,'awareness','9e0b173ed1df3dfd43c2a0985610ed44f4e9ebf9fcb9be0298b11c768a32fb66','[]');
INSERT INTO "snapshot_part" VALUES('01m81spmn4wb9ew2gnbxx77mwg',1,'MEMORY.md','b02c32b3bb159ffb30bb81250683be789e65af3789048470f6452f24be6ad698','[]');
INSERT INTO "snapshot_part" VALUES('01m81spmn4wb9ew2gnbxx77mwg',2,'log','bb056f0745852cf961e6c365758f9edf703379f8982c9cc83cf08b5324fddf57','[]');
INSERT INTO "snapshot_part" VALUES('01m81spxdqz7b7gyd9vsyh2d18',0,'awareness','9e0b173ed1df3dfd43c2a0985610ed44f4e9ebf9fcb9be0298b11c768a32fb66','[]');
INSERT INTO "snapshot_part" VALUES('01m81spxdqz7b7gyd9vsyh2d18',1,'MEMORY.md','c7c9862cc5b55523127c3df6f2e26ac8eb7bf51ac799700818bd94a644eff1a8','[]');
INSERT INTO "snapshot_part" VALUES('01m81spxdqz7b7gyd9vsyh2d18',2,'log','b58b8d62d8430ccd4d8921307527f6f3034df1413962284713dce3ea1cd0221e','[]');
INSERT INTO "snapshot_part" VALUES('01m81spzqtwkrsrpfz79md9gqp',0,'awareness','9e0b173ed1df3dfd43c2a0985610ed44f4e9ebf9fcb9be0298b11c768a32fb66','[]');
INSERT INTO "snapshot_part" VALUES('01m81spzqtwkrsrpfz79md9gqp',1,'MEMORY.md','c7c9862cc5b55523127c3df6f2e26ac8eb7bf51ac799700818bd94a644eff1a8','[]');
INSERT INTO "snapshot_part" VALUES('01m81spzqtwkrsrpfz79md9gqp',2,'log','b58b8d62d8430ccd4d8921307527f6f3034df1413962284713dce3ea1cd0221e','[]');
INSERT INTO "snapshot_part" VALUES('01m81sq464zx54snds13831hm0',0,'awareness','9e0b173ed1df3dfd43c2a0985610ed44f4e9ebf9fcb9be0298b11c768a32fb66','[]');
INSERT INTO "snapshot_part" VALUES('01m81sq464zx54snds13831hm0',1,'MEMORY.md','c7c9862cc5b55523127c3df6f2e26ac8eb7bf51ac799700818bd94a644eff1a8','[]');
INSERT INTO "snapshot_part" VALUES('01m81sq464zx54snds13831hm0',2,'log','b58b8d62d8430ccd4d8921307527f6f3034df1413962284713dce3ea1cd0221e','[]');
INSERT INTO "snapshot_part" VALUES('01m81sq6f7fz0an541w7xrb28p',0,'awareness','9e0b173ed1df3dfd43c2a0985610ed44f4e9ebf9fcb9be0298b11c768a32fb66','[]');
INSERT INTO "snapshot_part" VALUES('01m81sq6f7fz0an541w7xrb28p',1,'MEMORY.md','c7c9862cc5b55523127c3df6f2e26ac8eb7bf51ac799700818bd94a644eff1a8','[]');
INSERT INTO "snapshot_part" VALUES('01m81sq6f7fz0an541w7xrb28p',2,'log','b58b8d62d8430ccd4d8921307527f6f3034df1413962284713dce3ea1cd0221e','[]');
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
INSERT INTO "tool_call" VALUES('01m81sptpj2akm74x8ns4yrbjx','01m81sptnwdv5hdj3ach5wnqea',0,'call_g8','write_file','{"path": "notes/roses.md", "content": "water on Mondays"}','idempotent','58608a6cff6c30c720f9e8a54ca1edf1','done',1,'01m81sptpyzhs8jjybt9ry5zvz');
INSERT INTO "tool_call" VALUES('01m81sq6jz89tx584vnqb290hy','01m81sq6frbgqsgqndt7qcj372',0,'call_x1','write_file','{"path": "notes/x.md", "content": "x"}','idempotent','9389f948cf725faa45a9c619c38fa0b6','started',1,'');
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
INSERT INTO "turn" VALUES('01m81spmx9s1p973xb4pp5bgtm','01m81spmn4wb9ew2gnbxx77mwg',1,1,'01m81spmn4f08ckr9h63bqnmhp','owner','done',0,0,'01m81spmn4qaxykrv004s2kz2b',1,1,1.79535684087369394297e+09,1.79535684552373909954e+09);
INSERT INTO "turn" VALUES('01m81spshzjacje3vfbe75d82f','01m81spmn4wb9ew2gnbxx77mwg',2,1,'01m81spshwbkn7v5qdndb8njtk','owner','done',0,0,'01m81spshwz0n96bp91z2x1hcq',3,1,1.79535684563132357603e+09,1.79535684567211627962e+09);
INSERT INTO "turn" VALUES('01m81spsmg7r4mdhf2ej17ayvs','01m81spmn4wb9ew2gnbxx77mwg',3,1,'01m81spsm8769rqc6ca9n9zgek','owner','done',0,0,'01m81spsm8s297azbze6ngrsny',5,1,1.79535684571204209327e+09,1.79535684574596858019e+09);
INSERT INTO "turn" VALUES('01m81spss591n4mrkf1r75dar8','01m81spmn4wb9ew2gnbxx77mwg',4,1,'01m81spsqyjj9fn3r56h7t1v3d','owner','done',0,0,'01m81spsqy2bnxxdkpwyxp9pby',7,1,1.79535684586144208912e+09,1.79535684595043826096e+09);
INSERT INTO "turn" VALUES('01m81spsyrjdda4jg116rn21jk','01m81spmn4wb9ew2gnbxx77mwg',5,1,'01m81spsxxpdh27fkdpwy15z2b','owner','done',0,0,'01m81spsxx2twsv4zd6f8gvakh',9,1,1795356846.04078,1.79535684609015059468e+09);
INSERT INTO "turn" VALUES('01m81sptat1asn7qqg9xd00wzs','01m81spmn4wb9ew2gnbxx77mwg',6,1,'01m81sptahqk25k1zjr1f3p07t','owner','done',0,0,'01m81sptahzymhmy273y0cgay7',11,1,1.79535684642661547659e+09,1.79535684646825122829e+09);
INSERT INTO "turn" VALUES('01m81spteer9qjr9k66z45kp20','01m81spmn4wb9ew2gnbxx77mwg',7,1,'01m81spte8f7j50wer58tcteqt','owner','done',0,0,'01m81spte8fd8zs8ktz5d5wpw4',13,1,1.79535684654292702674e+09,1.7953568465681056976e+09);
INSERT INTO "turn" VALUES('01m81sptjgep7me803asgaqfdj','01m81spmn4wb9ew2gnbxx77mwg',8,1,'01m81spthv64x323t2j20g5167','owner','done',0,0,'01m81spthvpkt8632qr32p43cz',15,1,1.79535684667217564579e+09,1.79535684669282841682e+09);
INSERT INTO "turn" VALUES('01m81sptnwdv5hdj3ach5wnqea','01m81spmn4wb9ew2gnbxx77mwg',9,1,'01m81sptnn75r03r4wkjhz9atx','owner','done',1,0,'01m81sptnn30a406emwjhfw4wd',17,1,1.79535684678063082696e+09,1.79535684684673023216e+09);
INSERT INTO "turn" VALUES('01m81sptyw5qqyph31dxr5kz9a','01m81sptypx0ev8g2a6s0hsp3t',1,1,'01m81sptyp5pv3jjaeh5f0zxg1','owner','done',0,0,'01m81sptypkw2g4qp77g3n39f2',1,1,1.79535684706847023959e+09,1.79535684712134647371e+09);
INSERT INTO "turn" VALUES('01m81spv47j0q6wkk87adqzxzv','01m81sptypx0ev8g2a6s0hsp3t',2,1,'01m81spv3tqzvj4e3v45rgf1kw','owner','done',0,0,'01m81spv3tpk2k0e573g7yxeqv',3,1,1.79535684723954629899e+09,1.7953568472706961631e+09);
INSERT INTO "turn" VALUES('01m81spv8dz44vhvyarmd9nbt8','01m81sptypx0ev8g2a6s0hsp3t',3,1,'01m81spv81y02rhrh8te5jtpj5','owner','done',0,0,'01m81spv81g5zqm92ew8w2h6p8',5,1,1.79535684737353634838e+09,1.79535684744750308984e+09);
INSERT INTO "turn" VALUES('01m81spvqvafppjfkc24c0w979','01m81spvp0f9hd5ykr5w3pya1c',1,1,'01m81spvp0d1j86jqddzz8jh48','owner','done',0,0,'01m81spvp09fm7kjzxd7rnbw4y',1,1,1.79535684786705493926e+09,1.79535684798968672749e+09);
INSERT INTO "turn" VALUES('01m81spw1a1hjxcxvqg14gvj4c','01m81spvp0f9hd5ykr5w3pya1c',2,1,'01m81spvz1g675krkqwzfk9r92','owner','done',0,0,'01m81spvz1d7mgjadk9675wayq',3,1,1.79535684817050743104e+09,1.79535684835620808598e+09);
INSERT INTO "turn" VALUES('01m81spwf58hkwpad7tb1bz2n6','01m81spvp0f9hd5ykr5w3pya1c',3,2,'01m81spwe2ga5e1m41xtgympgh','owner','done',0,0,'01m81spwe25gj1yt80rzy8xgy5',5,1,1.79535684861310148238e+09,1.79535684872299408912e+09);
INSERT INTO "turn" VALUES('01m81spwn1pfcsgjvqsdepv298','01m81spwkef33aayy0vj49p8wy',1,1,'01m81spwke8ag5xffwkkhdt6k2','owner','done',0,0,'01m81spwke1hdc8nt5cdp7f8km',1,1,1.79535684880140495298e+09,1.79535684885658383368e+09);
INSERT INTO "turn" VALUES('01m81spwrm17dyg0xhwzvm54am','01m81spwkef33aayy0vj49p8wy',2,2,'01m81spwra5qt1edf4zv098n4h','owner','done',0,0,'01m81spwrahw8stea3k44t2wep',3,1,1.79535684891690468789e+09,1.79535684892830944055e+09);
INSERT INTO "turn" VALUES('01m81spx2ga5v78ktvhaphmf6r','01m81spmn4wb9ew2gnbxx77mwg',10,1,'01m81spx26ngcrrng0nd759mre','owner','done',0,0,'01m81spx261khr452dy4w6nasj',21,1,1.79535684923247027401e+09,1.7953568494633865356e+09);
INSERT INTO "turn" VALUES('01m81spxfhbejapn5k46kvvqhn','01m81spxdqz7b7gyd9vsyh2d18',1,1,'01m81spxdqhbheashyan4t63x5','5005','done',0,0,'01m81spxdqq4jce5ecxj4wk3kx',1,1,1.79535684964920330044e+09,1.79535684990929937359e+09);
INSERT INTO "turn" VALUES('01m81spy1245bdtrd8g5re9jmq','01m81spxdqz7b7gyd9vsyh2d18',2,1,'01m81spxx2w0zds6bz6wtnf2k8','5005','done',0,0,'01m81spxx20bbr0328dpzbp811',3,1,1.79535685021047878261e+09,1.79535685027333497994e+09);
INSERT INTO "turn" VALUES('01m81sq0raz5sdy5tk9cn059hc','01m81spzqtwkrsrpfz79md9gqp',1,1,'01m81spzqtvp9kjyppt85w2n50','owner','done',0,0,'01m81spzqt8p2eerf295jeztv4',1,1,1.79535685300277066231e+09,1.79535685309028244021e+09);
INSERT INTO "turn" VALUES('01m81sq4k2deszpdwvf2g6eejw','01m81sq464zx54snds13831hm0',1,1,'01m81sq464f8kncgtx49wchyem','owner','done',0,0,'01m81sq464djb110h5yed20kgp',1,2,1.79535685693084406857e+09,1.79535685741845464713e+09);
INSERT INTO "turn" VALUES('01m81sq55p13f3vz4mqbgbyvv6','01m81sq464zx54snds13831hm0',2,1,'01m81sq5531yjtyzmy5ezqmfay','owner','done',0,0,'01m81sq553h994jmeth5chrx4r',3,2,1.7953568575261819362e+09,1.79535685759487581257e+09);
INSERT INTO "turn" VALUES('01m81sq6frbgqsgqndt7qcj372','01m81sq6f7fz0an541w7xrb28p',1,1,'01m81sq6f7h41sgq0966eh98cg','owner','waiting',1,0,'01m81sq6f79cazmmpmtaqrdpdt',1,2,1.79535685887270402907e+09,0.0);
INSERT INTO "turn" VALUES('01m81sq7hxqtcc6bmdpxyptqv8','01m81sq464zx54snds13831hm0',3,1,'01m81sq7h08xr5b2wqm9034fwq','owner','done',0,0,'01m81sq7h0q4qt5wvfh6j56rbj',5,2,1.79535685996573090555e+09,1.79535685999867439264e+09);
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
INSERT INTO "usage" VALUES('01m81spsekfwd460tsp51b4gxy','01m81spmn4wb9ew2gnbxx77mwg','01m81spmx9s1p973xb4pp5bgtm','gpt-6.1-terra','turn',2282,3,0,0,0,1.79535684552373909954e+09);
INSERT INTO "usage" VALUES('01m81spsg31c36dr7scp85a7wc','01m81spmn4wb9ew2gnbxx77mwg','','gpt-6-luna','extract',446,49,0,0,0,1.79535684557165789608e+09);
INSERT INTO "usage" VALUES('01m81spsk8cwndh0z2shwdzmp8','01m81spmn4wb9ew2gnbxx77mwg','01m81spshzjacje3vfbe75d82f','gpt-6.1-terra','turn',2343,3,0,0,0,1.79535684567211627962e+09);
INSERT INTO "usage" VALUES('01m81spskvrpvwfjwxsm0fgbsb','01m81spmn4wb9ew2gnbxx77mwg','','gpt-6-luna','extract',468,49,0,0,0,1.79535684569137072566e+09);
INSERT INTO "usage" VALUES('01m81spsnhbdgekgbscbebdjt3','01m81spmn4wb9ew2gnbxx77mwg','01m81spsmg7r4mdhf2ej17ayvs','gpt-6.1-terra','turn',2464,3,0,0,0,1.79535684574596858019e+09);
INSERT INTO "usage" VALUES('01m81spspnb4veg005zef7whn4','01m81spmn4wb9ew2gnbxx77mwg','','gpt-6-luna','extract',480,49,0,0,0,1.79535684578176689147e+09);
INSERT INTO "usage" VALUES('01m81spsvyefsdpnn9974a4vs9','01m81spmn4wb9ew2gnbxx77mwg','01m81spss591n4mrkf1r75dar8','gpt-6.1-terra','turn',2525,3,0,0,0,1.79535684595043826096e+09);
INSERT INTO "usage" VALUES('01m81spsxtxj0hpz3eycea2jb8','01m81spmn4wb9ew2gnbxx77mwg','','gpt-6-luna','extract',491,49,0,0,0,1.79535684601004195213e+09);
INSERT INTO "usage" VALUES('01m81spt0a1tqc9vkd30hm3bk7','01m81spmn4wb9ew2gnbxx77mwg','01m81spsyrjdda4jg116rn21jk','gpt-6.1-terra','turn',2560,3,0,0,0,1.79535684609015059468e+09);
INSERT INTO "usage" VALUES('01m81spt676y3nwa8j6kg6xy0e','01m81spmn4wb9ew2gnbxx77mwg','','gpt-6-luna','extract',503,49,0,0,0,1.79535684627941751478e+09);
INSERT INTO "usage" VALUES('01m81spt86q0g8f9bcvg2azjzz','01m81spmn4wb9ew2gnbxx77mwg','','gpt-6-luna','fold',456,71,0,0,0,1.79535684634288644789e+09);
INSERT INTO "usage" VALUES('01m81sptc40m8rhe3akzfq87we','01m81spmn4wb9ew2gnbxx77mwg','01m81sptat1asn7qqg9xd00wzs','gpt-6.1-terra','turn',2588,3,0,0,0,1.79535684646825122829e+09);
INSERT INTO "usage" VALUES('01m81sptcrjqzrwkq088s10kmx','01m81spmn4wb9ew2gnbxx77mwg','','gpt-6-luna','extract',507,1,0,0,0,1.79535684648811888694e+09);
INSERT INTO "usage" VALUES('01m81sptf8dbgfz4ad8cmc9as3','01m81spmn4wb9ew2gnbxx77mwg','01m81spteer9qjr9k66z45kp20','gpt-6.1-terra','turn',2615,3,0,0,0,1.7953568465681056976e+09);
INSERT INTO "usage" VALUES('01m81sptjgnxa5d8nnj56p950s','01m81spmn4wb9ew2gnbxx77mwg','','gpt-6-luna','extract',507,1,0,0,0,1.79535684667217564579e+09);
INSERT INTO "usage" VALUES('01m81sptk4fm0nae761ec6gtfp','01m81spmn4wb9ew2gnbxx77mwg','01m81sptjgep7me803asgaqfdj','gpt-6.1-terra','turn',2643,3,0,0,0,1.79535684669282841682e+09);
INSERT INTO "usage" VALUES('01m81sptmaj83pazy70a9zk5cx','01m81spmn4wb9ew2gnbxx77mwg','','gpt-6-luna','extract',507,1,0,0,0,1.79535684673045063015e+09);
INSERT INTO "usage" VALUES('01m81sptpj3n6t4sc4gaqz4az9','01m81spmn4wb9ew2gnbxx77mwg','01m81sptnwdv5hdj3ach5wnqea','gpt-6.1-terra','turn',2685,19,0,0,0,1.79535684680267930033e+09);
INSERT INTO "usage" VALUES('01m81sptqyzdyac6acp9fekkjf','01m81spmn4wb9ew2gnbxx77mwg','01m81sptnwdv5hdj3ach5wnqea','gpt-6.1-terra','turn',2768,3,0,0,0,1.79535684684673023216e+09);
INSERT INTO "usage" VALUES('01m81sptrgvtymc1ssfn5gqr1f','01m81spmn4wb9ew2gnbxx77mwg','','gpt-6-luna','extract',521,1,0,0,0,1.79535684686491560932e+09);
INSERT INTO "usage" VALUES('01m81sptv9ntf9tsw0k3dh3k6j','01m81spmn4wb9ew2gnbxx77mwg','','gpt-6-luna','fold',529,102,0,0,0,1.79535684695363020901e+09);
INSERT INTO "usage" VALUES('01m81spv0hgx860zy7rtq09mw5','01m81sptypx0ev8g2a6s0hsp3t','01m81sptyw5qqyph31dxr5kz9a','gpt-6.1-terra','turn',2665,3,0,0,0,1.79535684712134647371e+09);
INSERT INTO "usage" VALUES('01m81spv2dhgsfram2p2nz5zsj','01m81sptypx0ev8g2a6s0hsp3t','','gpt-6-luna','extract',461,1,0,0,0,1.79535684718143224722e+09);
INSERT INTO "usage" VALUES('01m81spv56q47gh4xap79yk2eq','01m81sptypx0ev8g2a6s0hsp3t','01m81spv47j0q6wkk87adqzxzv','gpt-6.1-terra','turn',2693,3,0,0,0,1.7953568472706961631e+09);
INSERT INTO "usage" VALUES('01m81spv6qzj1sbdqf7e6pey4t','01m81sptypx0ev8g2a6s0hsp3t','','gpt-6-luna','extract',461,1,0,0,0,1.79535684731995058061e+09);
INSERT INTO "usage" VALUES('01m81spvaqpf96dr5s9c20m8ns','01m81sptypx0ev8g2a6s0hsp3t','01m81spv8dz44vhvyarmd9nbt8','gpt-6.1-terra','turn',2720,3,0,0,0,1.79535684744750308984e+09);
INSERT INTO "usage" VALUES('01m81spvc9hxgze4eawz21pb9z','01m81sptypx0ev8g2a6s0hsp3t','','gpt-6-luna','extract',461,1,0,0,0,1.79535684749746441844e+09);
INSERT INTO "usage" VALUES('01m81spvehwsh3qthywkvgng55','01m81sptypx0ev8g2a6s0hsp3t','','gpt-6-luna','fold',419,25,0,0,0,1.79535684756962561603e+09);
INSERT INTO "usage" VALUES('01m81spvvn84ycmj4xc1gv5gmy','01m81spvp0f9hd5ykr5w3pya1c','01m81spvqvafppjfkc24c0w979','gpt-6.1-terra','turn',2676,3,0,0,0,1.79535684798968672749e+09);
INSERT INTO "usage" VALUES('01m81spw1ac3g13jnmfx00hh1k','01m81spvp0f9hd5ykr5w3pya1c','','gpt-6-luna','extract',461,1,0,0,0,1.79535684817050743104e+09);
INSERT INTO "usage" VALUES('01m81spw74ca2a867n2mh5qmjn','01m81spvp0f9hd5ykr5w3pya1c','01m81spw1a1hjxcxvqg14gvj4c','gpt-6.1-terra','turn',2704,3,0,0,0,1.79535684835620808598e+09);
INSERT INTO "usage" VALUES('01m81spwbdbe4544dd0sve9y4z','01m81spvp0f9hd5ykr5w3pya1c','','gpt-6-luna','extract',461,1,0,0,0,1.79535684849393272401e+09);
INSERT INTO "usage" VALUES('01m81spwjj682kxdxbm86b4tqy','01m81spvp0f9hd5ykr5w3pya1c','01m81spwf58hkwpad7tb1bz2n6','gpt-6.1-terra','turn',2676,3,0,0,0,1.79535684872299408912e+09);
INSERT INTO "usage" VALUES('01m81spwmrvk7azbc2vnbjw5vp','01m81spvp0f9hd5ykr5w3pya1c','','gpt-6-luna','extract',461,1,0,0,0,1.79535684879265451437e+09);
INSERT INTO "usage" VALUES('01m81spwprfgp17wt7kf12dkg8','01m81spwkef33aayy0vj49p8wy','01m81spwn1pfcsgjvqsdepv298','gpt-6.1-terra','turn',2676,3,0,0,0,1.79535684885658383368e+09);
INSERT INTO "usage" VALUES('01m81spwq0maqk5t59gq0gcqf5','01m81spwkef33aayy0vj49p8wy','','gpt-6-luna','extract',461,1,0,0,0,1.7953568488641107082e+09);
INSERT INTO "usage" VALUES('01m81spwqp6bdsfmqasbc1b1t6','01m81spwkef33aayy0vj49p8wy','','gpt-6-luna','fold',419,25,0,0,0,1.79535684888677740094e+09);
INSERT INTO "usage" VALUES('01m81spws0yrf73drfa10np5nb','01m81spwkef33aayy0vj49p8wy','01m81spwrm17dyg0xhwzvm54am','gpt-6.1-terra','turn',2676,3,0,0,0,1.79535684892830944055e+09);
INSERT INTO "usage" VALUES('01m81spwykp429cf587vdf77rw','01m81spwkef33aayy0vj49p8wy','','gpt-6-luna','extract',461,1,0,0,0,1.79535684910788750651e+09);
INSERT INTO "usage" VALUES('01m81spx9qv058t4gsh5f6ewey','01m81spmn4wb9ew2gnbxx77mwg','01m81spx2ga5v78ktvhaphmf6r','gpt-6.1-terra','turn',2752,3,0,0,0,1.7953568494633865356e+09);
INSERT INTO "usage" VALUES('01m81spxdx4h6gry7v0zr7jcqn','01m81spmn4wb9ew2gnbxx77mwg','','gpt-6-luna','extract',510,38,0,0,0,1.79535684959796833998e+09);
INSERT INTO "usage" VALUES('01m81spxqn5gxv61mj285cxmpq','01m81spxdqz7b7gyd9vsyh2d18','01m81spxfhbejapn5k46kvvqhn','gpt-6.1-terra','turn',2706,3,0,0,0,1.79535684990929937359e+09);
INSERT INTO "usage" VALUES('01m81spxwjeyqpdhf6we9115y0','01m81spxdqz7b7gyd9vsyh2d18','','gpt-6-luna','extract',461,1,0,0,0,1.79535685006605267525e+09);
INSERT INTO "usage" VALUES('01m81spy31e1qw9ytv7cmrrcme','01m81spxdqz7b7gyd9vsyh2d18','01m81spy1245bdtrd8g5re9jmq','gpt-6.1-terra','turn',2733,3,0,0,0,1.79535685027333497994e+09);
INSERT INTO "usage" VALUES('01m81spy7mha3r4pgyya759398','01m81spxdqz7b7gyd9vsyh2d18','','gpt-6-luna','extract',461,1,0,0,0,1.79535685042065429684e+09);
INSERT INTO "usage" VALUES('01m81sq0v25we2hzv13wbq3myj','01m81spzqtwkrsrpfz79md9gqp','01m81sq0raz5sdy5tk9cn059hc','gpt-6.1-terra','turn',2760,3,0,0,0,1.79535685309028244021e+09);
INSERT INTO "usage" VALUES('01m81sq0vjt39vzd4ymq9ns95w','01m81spzqtwkrsrpfz79md9gqp','','gpt-6-luna','extract',461,1,0,0,0,1.79535685310661506652e+09);
INSERT INTO "usage" VALUES('01m81sq52a7d49akvet0kqb769','01m81sq464zx54snds13831hm0','01m81sq4k2deszpdwvf2g6eejw','gpt-6.1-terra','turn',2706,3,0,0,0,1.79535685741845464713e+09);
INSERT INTO "usage" VALUES('01m81sq55pkfhy2hcwxeheq981','01m81sq464zx54snds13831hm0','','gpt-6-luna','extract',461,1,0,0,0,1.7953568575261819362e+09);
INSERT INTO "usage" VALUES('01m81sq57t7e8bg4rvdj5pyzt7','01m81sq464zx54snds13831hm0','01m81sq55p13f3vz4mqbgbyvv6','gpt-6.1-terra','turn',2733,3,0,0,0,1.79535685759487581257e+09);
INSERT INTO "usage" VALUES('01m81sq5fyzj2bmvccpaxgh0y9','01m81sq464zx54snds13831hm0','','gpt-6-luna','extract',461,1,0,0,0,1.79535685785447072983e+09);
INSERT INTO "usage" VALUES('01m81sq5n4n875fb12n8jn6nj0','01m81sptypx0ev8g2a6s0hsp3t','','gpt-6-luna','fold',419,25,0,0,0,1.79535685802021646503e+09);
INSERT INTO "usage" VALUES('01m81sq6jzrh3gr2szdw0ynfyb','01m81sq6f7fz0an541w7xrb28p','01m81sq6frbgqsgqndt7qcj372','gpt-6.1-terra','turn',2713,14,0,0,0,1.79535685897597241398e+09);
INSERT INTO "usage" VALUES('01m81sq7jyad5r396zzw6d84m8','01m81sq464zx54snds13831hm0','01m81sq7hxqtcc6bmdpxyptqv8','gpt-6.1-terra','turn',2761,3,0,0,0,1.79535685999867439264e+09);
INSERT INTO "usage" VALUES('01m81sq7ktchep2ksshtpzmryb','01m81sq464zx54snds13831hm0','','gpt-6-luna','extract',461,1,0,0,0,1.79535686002696323396e+09);
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
