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
INSERT INTO "access_request" VALUES('01m83jc3e759ez8jhqdcrtvc1y','telegram','100','user','999','Ада','01m83jc3e4bj0tdck95s8srnf9','en','997ea5bb6c1b1e7087b9a80905c18f7b79ac4c70a7507e2938a84c02cee89f85','pending',1.79541986413548398018e+09,1.79541626413558721543e+09);
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
INSERT INTO "alembic_version" VALUES('r0009');
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
INSERT INTO "audit" VALUES(1,1.79541626312602782249e+09,'','memory.extract','','','allowed','+1 -0','','d348a2d581aad929a499bf31e4d789d6fb89ace319060e0ac5653a7e269d9212');
INSERT INTO "audit" VALUES(2,1.79541626317773985862e+09,'','memory.extract','','','allowed','+1 -0','d348a2d581aad929a499bf31e4d789d6fb89ace319060e0ac5653a7e269d9212','f04282dfddb61d3437df71b2e62e3ed3cb8242fd7a43e14193abadbcf9d35fea');
INSERT INTO "audit" VALUES(3,1.79541626322240948677e+09,'','memory.extract','','','allowed','+1 -0','f04282dfddb61d3437df71b2e62e3ed3cb8242fd7a43e14193abadbcf9d35fea','52f48f9f98b7d7d37c635d734030c3a05a63f410e8cfeca5ca56f88f8f279043');
INSERT INTO "audit" VALUES(4,1.79541626323783516886e+09,'','memory.extract','','','allowed','+1 -0','52f48f9f98b7d7d37c635d734030c3a05a63f410e8cfeca5ca56f88f8f279043','5aca46e420ab84368803fb5ee43c3dcf2e4189eeffaacd74fc413d5016a7c28b');
INSERT INTO "audit" VALUES(5,1.79541626329591274256e+09,'','memory.extract','','','allowed','+1 -0','5aca46e420ab84368803fb5ee43c3dcf2e4189eeffaacd74fc413d5016a7c28b','754506b787c2a87d619f270bcf8221778da96958645a6fa4148a1ef504309481');
INSERT INTO "audit" VALUES(6,1.79541626337561511994e+09,'owner','tool write_file','01m83jc1m1a8qjg0x3pxy5b9br','a65c0cbb3d6f8a3ca8deb88a31296e75bb9021ac7f69eeafed30aead39d1d60d','allowed','started','754506b787c2a87d619f270bcf8221778da96958645a6fa4148a1ef504309481','0dfdd948fcdfb64a3859329e03d627c1a5a9e95715f2416c92f8793d4d7b1696');
INSERT INTO "audit" VALUES(7,1.79541626355692076678e+09,'','memory.remember','','','allowed','+1 -0','0dfdd948fcdfb64a3859329e03d627c1a5a9e95715f2416c92f8793d4d7b1696','889a213e2f411e44bb0fd01251b402ddb9d32c51984b5645c3d5c72f3483ad63');
INSERT INTO "audit" VALUES(8,1.79541626384255623822e+09,'web/console/owner','clear','01m83jc32n57g2d1hkxmx3wm0z','','allowed','epoch 2','889a213e2f411e44bb0fd01251b402ddb9d32c51984b5645c3d5c72f3483ad63','ac68792bdbdbc42bc3610bb87b0fa5f9f22cd4610e487c902de10b7e33e0800a');
INSERT INTO "audit" VALUES(9,1.79541626396443414689e+09,'web/console/owner','clear','01m83jc3756992m1b5grky8wcm','','allowed','epoch 2','ac68792bdbdbc42bc3610bb87b0fa5f9f22cd4610e487c902de10b7e33e0800a','83099ecf1e969de12158cd27b948cf0f9d1464e23b919162d3f181bddc0410d8');
INSERT INTO "audit" VALUES(10,1.79541626413558721543e+09,'telegram/100/999','user asks','telegram/100/999','','allowed','pending','83099ecf1e969de12158cd27b948cf0f9d1464e23b919162d3f181bddc0410d8','8df91f16f774dbbc7125a96601855e124ae452f4cc1710f7677d924db4ff91cf');
INSERT INTO "audit" VALUES(11,1.79541626499402093885e+09,'owner','tool write_file','01m83jc487ck5asr1j5ewz5pqe','f5e908acc3cb7f989e16b43cb7a206020827475d8f8b35885e2a6be8b0521a47','allowed','started','8df91f16f774dbbc7125a96601855e124ae452f4cc1710f7677d924db4ff91cf','0560872a440bd63bbcd1f31025ea1ae20310cd6a5871d7e222b54f616c30e75c');
CREATE TABLE audit_head (
	id INTEGER NOT NULL, 
	seq INTEGER NOT NULL, 
	hash TEXT NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "audit_head" VALUES(1,11,'0560872a440bd63bbcd1f31025ea1ae20310cd6a5871d7e222b54f616c30e75c');
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
	PRIMARY KEY (conversation, epoch), 
	FOREIGN KEY(conversation) REFERENCES conversation (id)
);
INSERT INTO "clearing" VALUES('01m83jc32n57g2d1hkxmx3wm0z',2,1,'',0,1.79541626384255623822e+09);
INSERT INTO "clearing" VALUES('01m83jc3756992m1b5grky8wcm',2,1,'',0,1.79541626396443414689e+09);
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
INSERT INTO "conversation" VALUES('01m83jc1m1a8qjg0x3pxy5b9br','web','console','garden','','dm','',1,21,10,25,1,'01m83jc2v2vxm5ef1cbb1y0cpr','','',3,'ea20ea239f437c382bf68dc84828721e9c531c5df3a650114017428530741bd1','fold',1,'«g0» the roses want water; I prefer tea. 花园要浇水',1.79541626354777789122e+09,1.79541626355806207661e+09);
INSERT INTO "conversation" VALUES('01m83jc2ww8q7bm3g72naxbp3q','web','console','work','','dm','',1,7,4,12,1,'','','',2,'ea20ea239f437c382bf68dc84828721e9c531c5df3a650114017428530741bd1','fold undone',1,'«w0» what do you make of it?',1.79541626491651773456e+09,1.79541626491651773456e+09);
INSERT INTO "conversation" VALUES('01m83jc32n57g2d1hkxmx3wm0z','web','console','old','','dm','',2,7,4,9,5,'','','',1,'ea20ea239f437c382bf68dc84828721e9c531c5df3a650114017428530741bd1','clear',1,'«o0» what do you make of it?',1.79541626386885690689e+09,1.79541626389963364599e+09);
INSERT INTO "conversation" VALUES('01m83jc3756992m1b5grky8wcm','web','console','new','','dm','',2,5,3,7,3,'','','',1,'ea20ea239f437c382bf68dc84828721e9c531c5df3a650114017428530741bd1','clear',1,'«n0» what do you make of it?',1.7954162639933474064e+09,1.79541626401564741134e+09);
INSERT INTO "conversation" VALUES('01m83jc3avrwa4388cg3mtr4ax','telegram','100','5005','','dm','',1,5,3,6,1,'','','',0,'ea20ea239f437c382bf68dc84828721e9c531c5df3a650114017428530741bd1','SOUL.md, tools or model',1,'«t0» what do you make of it?',1.79541626409203577043e+09,1.79541626413558721543e+09);
INSERT INTO "conversation" VALUES('01m83jc3e4bj0tdck95s8srnf9','telegram','100','999','','dm','telegram-999',1,1,1,3,1,'','','',0,'','',0,'',0.0,1.79541626413558721543e+09);
INSERT INTO "conversation" VALUES('01m83jc3f00bt294x1fv7n2zcb','web','console','picture','','dm','',1,3,2,3,1,'','','',0,'ea20ea239f437c382bf68dc84828721e9c531c5df3a650114017428530741bd1','SOUL.md, tools or model',1,'«p1» what do you make of it? 📎 dot.png',1.79541626416099190711e+09,1.79541626430673503878e+09);
INSERT INTO "conversation" VALUES('01m83jc3wxnrdcdar21r6cyqb7','web','console','late','','dm','',1,7,4,7,1,'','','',0,'ea20ea239f437c382bf68dc84828721e9c531c5df3a650114017428530741bd1','SOUL.md, tools or model',1,'«l0» what do you make of it?',1.79541626510021185871e+09,1.79541626516553521155e+09);
INSERT INTO "conversation" VALUES('01m83jc487ck5asr1j5ewz5pqe','web','console','tool','','dm','',1,3,2,3,1,'','','',0,'ea20ea239f437c382bf68dc84828721e9c531c5df3a650114017428530741bd1','SOUL.md, tools or model',1,'«x1» use write_file {"path": "notes/x.md", "content": "x"}',1.79541626506106042856e+09,1.79541626506106042856e+09);
CREATE TABLE coverage (
	message_id TEXT NOT NULL, 
	class TEXT NOT NULL, 
	fold_id TEXT NOT NULL, 
	PRIMARY KEY (message_id)
);
INSERT INTO "coverage" VALUES('01m83jc1m1p3wgkk614e6fnv15','folded','01m83jc2ksp74b1pbr8z1evbbm');
INSERT INTO "coverage" VALUES('01m83jc2cy29nm19ayx40gabaq','folded','01m83jc2ksp74b1pbr8z1evbbm');
INSERT INTO "coverage" VALUES('01m83jc2dtshc0n2r8mate02m2','folded','01m83jc2ksp74b1pbr8z1evbbm');
INSERT INTO "coverage" VALUES('01m83jc2emy2z0e319y6nwxaf0','folded','01m83jc2ksp74b1pbr8z1evbbm');
INSERT INTO "coverage" VALUES('01m83jc2f1hqr7615w8vze7cn3','folded','01m83jc2v2vxm5ef1cbb1y0cpr');
INSERT INTO "coverage" VALUES('01m83jc2g1npqk8w722y3xh5qk','folded','01m83jc2v2vxm5ef1cbb1y0cpr');
INSERT INTO "coverage" VALUES('01m83jc2gbvy6rkgxx0h7ka2j4','folded','01m83jc2v2vxm5ef1cbb1y0cpr');
INSERT INTO "coverage" VALUES('01m83jc2he253pq8fe153zc1b3','folded','01m83jc2v2vxm5ef1cbb1y0cpr');
INSERT INTO "coverage" VALUES('01m83jc2je3fcmy4fns95rv5we','folded','01m83jc2v2vxm5ef1cbb1y0cpr');
INSERT INTO "coverage" VALUES('01m83jc2k0gpdwknvp53gs0r98','folded','01m83jc2v2vxm5ef1cbb1y0cpr');
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
INSERT INTO "extraction" VALUES('01m83jc1np6dejw1nqnfebjjh1','','01m83jc1m1a8qjg0x3pxy5b9br',1,'done',2,'','kept 1',1.79541626307063245768e+09);
INSERT INTO "extraction" VALUES('01m83jc2e5f19rrtq22zfyt45s','','01m83jc1m1a8qjg0x3pxy5b9br',2,'done',2,'','kept 1',1.79541626312427258496e+09);
INSERT INTO "extraction" VALUES('01m83jc2fccxt0vk6q56pxq8y8','','01m83jc1m1a8qjg0x3pxy5b9br',3,'done',2,'','kept 1',1.79541626316997766496e+09);
INSERT INTO "extraction" VALUES('01m83jc2ggeg2qtn6ypgnaj0he','','01m83jc1m1a8qjg0x3pxy5b9br',4,'done',2,'','kept 1',1.79541626321424484255e+09);
INSERT INTO "extraction" VALUES('01m83jc2jkd33tk8ax071h075t','','01m83jc1m1a8qjg0x3pxy5b9br',5,'done',2,'','kept 1',1.7954162632645277977e+09);
INSERT INTO "extraction" VALUES('01m83jc2nhpdxym0txv5rreb98','','01m83jc1m1a8qjg0x3pxy5b9br',6,'done',2,'','kept 0',1.79541626338989591601e+09);
INSERT INTO "extraction" VALUES('01m83jc2r3zzj1z7n9weqzpd00','','01m83jc1m1a8qjg0x3pxy5b9br',7,'done',2,'','kept 0',1.79541626343850779529e+09);
INSERT INTO "extraction" VALUES('01m83jc2s3b729km2d2c48vwyt','','01m83jc1m1a8qjg0x3pxy5b9br',8,'done',2,'','kept 0',1.79541626346888661389e+09);
INSERT INTO "extraction" VALUES('01m83jc2t15kjjyw16tcbvcrgf','','01m83jc1m1a8qjg0x3pxy5b9br',9,'done',2,'','kept 0',1.79541626349907970433e+09);
INSERT INTO "extraction" VALUES('01m83jc2x0v06d2f56na774p3g','','01m83jc2ww8q7bm3g72naxbp3q',1,'done',2,'','kept 0',1.79541626360066151621e+09);
INSERT INTO "extraction" VALUES('01m83jc2y6rsv8xegee55hpyzy','','01m83jc2ww8q7bm3g72naxbp3q',2,'done',2,'','kept 0',1.79541626363782382013e+09);
INSERT INTO "extraction" VALUES('01m83jc2zwb51jcak812gh2bc2','','01m83jc2ww8q7bm3g72naxbp3q',3,'done',2,'','kept 0',1.79541626368720722201e+09);
INSERT INTO "extraction" VALUES('01m83jc32sf4hfz3h7tytnj7ej','','01m83jc32n57g2d1hkxmx3wm0z',1,'done',2,'','kept 0',1.79541626379004836083e+09);
INSERT INTO "extraction" VALUES('01m83jc343t36wfhqrsyxx1pv0','','01m83jc32n57g2d1hkxmx3wm0z',2,'done',2,'','kept 0',1.7954162638205368519e+09);
INSERT INTO "extraction" VALUES('01m83jc3644nnck6ekqt7m4gq1','','01m83jc32n57g2d1hkxmx3wm0z',3,'done',2,'','kept 0',1.79541626389963364599e+09);
INSERT INTO "extraction" VALUES('01m83jc37h7ejde9vx6eyebdvz','','01m83jc3756992m1b5grky8wcm',1,'done',2,'','kept 0',1.79541626394536733626e+09);
INSERT INTO "extraction" VALUES('01m83jc39xk334t0qh1qpt5kbs','','01m83jc3756992m1b5grky8wcm',2,'done',2,'','kept 0',1.79541626401564741134e+09);
INSERT INTO "extraction" VALUES('01m83jc3b5dsn6dd4y3kg6j2r0','','01m83jc3avrwa4388cg3mtr4ax',1,'done',2,'','kept 0',1.79541626405906200409e+09);
INSERT INTO "extraction" VALUES('01m83jc3d3g0bxec77m62380sd','','01m83jc3avrwa4388cg3mtr4ax',2,'done',2,'','kept 0',1.79541626410913181307e+09);
INSERT INTO "extraction" VALUES('01m83jc3k0pncbd143j6w67f36','','01m83jc3f00bt294x1fv7n2zcb',1,'done',2,'','kept 0',1.79541626430673503878e+09);
INSERT INTO "extraction" VALUES('01m83jc3z3gr7c4j5qx0qvtbp6','','01m83jc3wxnrdcdar21r6cyqb7',1,'done',2,'','kept 0',1.79541626477904510492e+09);
INSERT INTO "extraction" VALUES('01m83jc455581ajg5htpn11hkd','','01m83jc3wxnrdcdar21r6cyqb7',2,'done',2,'','kept 0',1.79541626487962603566e+09);
INSERT INTO "extraction" VALUES('01m83jc4chazgrgd72wxfjqmrn','','01m83jc3wxnrdcdar21r6cyqb7',3,'done',2,'','kept 0',1.79541626516553521155e+09);
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
INSERT INTO "fold" VALUES('01m83jc2ksp74b1pbr8z1evbbm','01m83jc1m1a8qjg0x3pxy5b9br','','web',1,'',1,4,1,2,2,'folded','model','balanced','/context fold','- «g0» the roses want water; I prefer tea. 花园要浇水
- «g1» the roses want water; I prefer tea. 花园要浇水','- «g0» the roses want water; I prefer tea. 花园要浇水
- «g1» the roses want water; I prefer tea. 花园要浇水',41,'30f16f242dd1d721f4447c1a962eb778e49c99e6bb435b49ab65f7f48e6275fd','memory/2026-11-23.md',190,155,0,1795416263.2892,1,'',11,0);
INSERT INTO "fold" VALUES('01m83jc2v2vxm5ef1cbb1y0cpr','01m83jc1m1a8qjg0x3pxy5b9br','','web',1,'01m83jc2ksp74b1pbr8z1evbbm',5,10,3,5,5,'folded','model','balanced','/context fold','- «g2» the roses want water; I prefer tea. 花园要浇水
- «g3» the roses want water; I prefer tea. 花园要浇水
- «g4» the roses want water; I prefer tea. 花园要浇水
- 06:44 Bot: re «g0»
- 06:44 Bot: re «g1»','- «g2» the roses want water; I prefer tea. 花园要浇水
- «g3» the roses want water; I prefer tea. 花园要浇水
- «g4» the roses want water; I prefer tea. 花园要浇水',62,'ea11fb6426630d7d5c67056d2c952472455fd234410ba2a7f599610aa9e24340','memory/2026-11-23.md',361,268,0,1.79541626352239322666e+09,1,'',21,0);
INSERT INTO "fold" VALUES('01m83jc30yfjeed72kjrek1pax','01m83jc2ww8q7bm3g72naxbp3q','','web',1,'',1,2,1,1,1,'undone','model','balanced','/context fold','- «w0» what do you make of it?','- «w0» what do you make of it?',12,'7a15ae447ff12430b97cdc38ef1a85a1ccc35e49bccc8ce927ef75d6f6b1c503','memory/2026-11-23.md',90,72,0,1.79541626371003365516e+09,1,'',7,0);
INSERT INTO "fold" VALUES('01m83jc38w05z2xrefxxryjeh0','01m83jc3756992m1b5grky8wcm','','web',1,'',1,2,1,1,1,'folded','model','balanced','/new','- «n0» what do you make of it?','',0,'e178169f17686e81710cc0e9d6fe0003cdd24d8c97c5f5e0cac6d62b4c178cfd','memory/2026-11-23.md',30,0,1,1.79541626396443414689e+09,1,'',3,0);
INSERT INTO "fold" VALUES('01m83jc474wkqebq2r6dynwgvj','01m83jc2ww8q7bm3g72naxbp3q','','web',1,'',1,2,1,1,1,'checked','model','balanced','/context fold','- «w0» what do you make of it?','- «w0» what do you make of it?',12,'7a15ae447ff12430b97cdc38ef1a85a1ccc35e49bccc8ce927ef75d6f6b1c503','',90,60,0,1.79541626493236351012e+09,2,'',7,0);
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
INSERT INTO "inbox" VALUES('01m83jc1m1p3wgkk614e6fnv15','01m83jc1m1a8qjg0x3pxy5b9br','web','console','gardenf86f68800c824c7098a1eddc744c739f','message','owner','{"text": "«g0» the roses want water; I prefer tea. 花园要浇水"}','','done','',0,'01m83jc1np6dejw1nqnfebjjh1','01m83jc1m1262jqqkzfnc9rnk1',1,0,0.0,1.79541626227348136905e+09,1,'');
INSERT INTO "inbox" VALUES('01m83jc2dtshc0n2r8mate02m2','01m83jc1m1a8qjg0x3pxy5b9br','web','console','garden3c2c3f8b78b849519cc004a2c1e28fa9','message','owner','{"text": "«g1» the roses want water; I prefer tea. 花园要浇水"}','','done','',0,'01m83jc2e5f19rrtq22zfyt45s','01m83jc2dtacgk8esm43p3qsqe',3,0,0.0,1.7954162630989506245e+09,1,'');
INSERT INTO "inbox" VALUES('01m83jc2f1hqr7615w8vze7cn3','01m83jc1m1a8qjg0x3pxy5b9br','web','console','garden5ff2aedc06b545d49e8ae9b39b66bbc8','message','owner','{"text": "«g2» the roses want water; I prefer tea. 花园要浇水"}','','done','',0,'01m83jc2fccxt0vk6q56pxq8y8','01m83jc2f1epjte639b5pxbajv',5,0,0.0,1.79541626313713788979e+09,1,'');
INSERT INTO "inbox" VALUES('01m83jc2gbvy6rkgxx0h7ka2j4','01m83jc1m1a8qjg0x3pxy5b9br','web','console','gardenc12dce6dab584071a7b8a0b9d8503bac','message','owner','{"text": "«g3» the roses want water; I prefer tea. 花园要浇水"}','','done','',0,'01m83jc2ggeg2qtn6ypgnaj0he','01m83jc2gb9ynrshh8redqk909',7,0,0.0,1.79541626317928171155e+09,1,'');
INSERT INTO "inbox" VALUES('01m83jc2je3fcmy4fns95rv5we','01m83jc1m1a8qjg0x3pxy5b9br','web','console','garden07577a729d0a4e00b4479718ea7f0716','message','owner','{"text": "«g4» the roses want water; I prefer tea. 花园要浇水"}','','done','',0,'01m83jc2jkd33tk8ax071h075t','01m83jc2jesq12ks95ecbrvpwd',9,0,0.0,1.79541626324672222133e+09,1,'');
INSERT INTO "inbox" VALUES('01m83jc2kfva7nn4jdsb01hmzc','01m83jc1m1a8qjg0x3pxy5b9br','web','console','garden55869e8fde004b04a15519ffe64ec047','command','owner','{"text": "/context fold"}','','done','',1,'','01m83jc2kf2vyp12yxmypxy3ct',11,0,0.0,1.79541626327960252766e+09,0,'');
INSERT INTO "inbox" VALUES('01m83jc2na9xrfj74re2e0xd1a','01m83jc1m1a8qjg0x3pxy5b9br','web','console','garden088f1119a3be4d1bb43937a7041a9861','message','owner','{"text": "«g5» use write_file {\"path\": \"notes/roses.md\", \"content\": \"water on Mondays\"}"}','','done','',0,'01m83jc2nhpdxym0txv5rreb98','01m83jc2naark773j3n75tce8n',13,0,0.0,1.79541626333829045297e+09,1,'');
INSERT INTO "inbox" VALUES('01m83jc2qy1g954pwmz2nj22bh','01m83jc1m1a8qjg0x3pxy5b9br','web','console','garden8cac9920629b42fca27c6d19d4bf8218','message','owner','{"text": "«g6» what do you make of it?"}','','done','',0,'01m83jc2r3zzj1z7n9weqzpd00','01m83jc2qy9mr2zeb80eeea9cg',15,0,0.0,1.79541626342201042173e+09,1,'');
INSERT INTO "inbox" VALUES('01m83jc2ry1egp67hay2np1m9h','01m83jc1m1a8qjg0x3pxy5b9br','web','console','gardena675118008bd4b7fa14e7fd5fea394b0','message','owner','{"text": "«g7» what do you make of it?"}','','done','',0,'01m83jc2s3b729km2d2c48vwyt','01m83jc2ry17heagwx26a7b3x7',17,0,0.0,1.79541626345440125467e+09,1,'');
INSERT INTO "inbox" VALUES('01m83jc2sxyjd8mxytp91jxfj1','01m83jc1m1a8qjg0x3pxy5b9br','web','console','garden56aa9272d9ab4edba7180b7b45544740','message','owner','{"text": "«g8» what do you make of it?"}','','done','',0,'01m83jc2t15kjjyw16tcbvcrgf','01m83jc2sx8tqdtq08s95jw81h',19,0,0.0,1.7954162634851737022e+09,1,'');
INSERT INTO "inbox" VALUES('01m83jc2tw08wqts5kwyxwbaq2','01m83jc1m1a8qjg0x3pxy5b9br','web','console','garden07942f63896b46e6b8df4ddc7f8b5fcd','command','owner','{"text": "/context fold"}','','done','',1,'','01m83jc2twv25fe6450sjtv2fz',21,0,0.0,1.79541626351605749134e+09,0,'');
INSERT INTO "inbox" VALUES('01m83jc2vvg5df36bcyjbz36rj','01m83jc1m1a8qjg0x3pxy5b9br','web','console','garden37119c315ab74bd28eb9c6b4cee9228e','command','owner','{"text": "/remember The gate code is 4711"}','','done','',1,'','01m83jc2vvq7jft1fmxcfmvne5',23,0,0.0,1.79541626354777789122e+09,0,'');
INSERT INTO "inbox" VALUES('01m83jc2wwnbygzm1d4yymva4p','01m83jc2ww8q7bm3g72naxbp3q','web','console','work1f2b4c8462b049f2b4fd3204afb84df0','message','owner','{"text": "«w0» what do you make of it?"}','','done','',0,'01m83jc2x0v06d2f56na774p3g','01m83jc2ww1rcpvzt04czk1pvk',1,0,0.0,1.79541626358015584947e+09,1,'');
INSERT INTO "inbox" VALUES('01m83jc2xz3fz5h8ndnntmvvzp','01m83jc2ww8q7bm3g72naxbp3q','web','console','workeb9423d27bc34864bff07b4eecd7b8b5','message','owner','{"text": "«w1» what do you make of it?"}','','done','',0,'01m83jc2y6rsv8xegee55hpyzy','01m83jc2xzvn0zy7ry26k0g4fy',3,0,0.0,1.79541626361544275286e+09,1,'');
INSERT INTO "inbox" VALUES('01m83jc2zs7w5d4sv8zpergms4','01m83jc2ww8q7bm3g72naxbp3q','web','console','worka570bb959320458eac866cf37b237d8f','message','owner','{"text": "«w2» what do you make of it?"}','','done','',0,'01m83jc2zwb51jcak812gh2bc2','01m83jc2zskpyv5yyz10gmfzmq',5,0,0.0,1.79541626367300605768e+09,1,'');
INSERT INTO "inbox" VALUES('01m83jc30rhx0f8ja5m685q28v','01m83jc2ww8q7bm3g72naxbp3q','web','console','work0b6ffb9c33f945ad825c93d348c96c89','command','owner','{"text": "/context fold"}','','done','',1,'','01m83jc30rwedgw97gxrcyqk3h',7,0,0.0,1.79541626370452523232e+09,0,'');
INSERT INTO "inbox" VALUES('01m83jc31qte48cbsxmbwynp4m','01m83jc2ww8q7bm3g72naxbp3q','web','console','workf37d6081ce4641a190eb710863ee0b7c','command','owner','{"text": "/context undo"}','','done','',1,'','01m83jc31qftesn7mwzh1j3ej7',9,0,0.0,1.79541626373514318464e+09,0,'');
INSERT INTO "inbox" VALUES('01m83jc32nk2hwmgdjh435axh5','01m83jc32n57g2d1hkxmx3wm0z','web','console','old7392aaba5aaf49568c96fedd785b178e','message','owner','{"text": "«o0» what do you make of it?"}','','done','',0,'01m83jc32sf4hfz3h7tytnj7ej','01m83jc32n8ntsm1kb1bpr7a6j',1,0,0.0,1.79541626376569509503e+09,1,'');
INSERT INTO "inbox" VALUES('01m83jc33y0cz8mrgcmm5sj863','01m83jc32n57g2d1hkxmx3wm0z','web','console','old6d50668373ce43a68f6d3e2920298fb7','message','owner','{"text": "«o1» what do you make of it?"}','','done','',0,'01m83jc343t36wfhqrsyxx1pv0','01m83jc33ytm4vvbeaw0wvm1bm',3,0,0.0,1.79541626380652904505e+09,1,'');
INSERT INTO "inbox" VALUES('01m83jc34xpdq7xwsvp8ax98hn','01m83jc32n57g2d1hkxmx3wm0z','web','console','old35ac74886b0a4629affcd2be914af9b3','command','owner','{"text": "/context clear"}','','done','',1,'','01m83jc34x25aya7yz3a8r5f3s',5,0,0.0,1.79541626383744692798e+09,0,'');
INSERT INTO "inbox" VALUES('01m83jc35w3bbecxzvjqf5vdm9','01m83jc32n57g2d1hkxmx3wm0z','web','console','old36b00891088043058ea001a8b3c36e7a','message','owner','{"text": "«o2» what do you make of it?"}','','done','',0,'01m83jc3644nnck6ekqt7m4gq1','01m83jc35wg4k84syhn87gn7we',7,0,0.0,1.79541626386885690689e+09,1,'');
INSERT INTO "inbox" VALUES('01m83jc3754a9836r7qwfy17x4','01m83jc3756992m1b5grky8wcm','web','console','newf908c724d8a84f3ebbfcb9d8f3f200c5','message','owner','{"text": "«n0» what do you make of it?"}','','done','',0,'01m83jc37h7ejde9vx6eyebdvz','01m83jc375ycm5zz0v34hgp95s',1,0,0.0,1.79541626390967249868e+09,1,'');
INSERT INTO "inbox" VALUES('01m83jc38kfq9yj5ea5g3nd9cj','01m83jc3756992m1b5grky8wcm','web','console','new13674f562b154524b9d9683ad07f6274','command','owner','{"text": "/new"}','','done','',1,'','01m83jc38k3jpdxqwxwtqyrsag',3,0,0.0,1.79541626395520591743e+09,0,'');
INSERT INTO "inbox" VALUES('01m83jc39sjt5kegxm6qs7asza','01m83jc3756992m1b5grky8wcm','web','console','new5fc6d41a16344479979fdb32381a0f02','message','owner','{"text": "«n1» what do you make of it?"}','','done','',0,'01m83jc39xk334t0qh1qpt5kbs','01m83jc39s0vk7s8z8sywdna23',5,0,0.0,1.7954162639933474064e+09,1,'');
INSERT INTO "inbox" VALUES('01m83jc3avyw7m6bg2tw08fs0t','01m83jc3avrwa4388cg3mtr4ax','telegram','100','m:5005:1:0','message','5005','{"text": "«t0» what do you make of it?", "name": "Ада"}','00000000000000700100','done','',0,'01m83jc3b5dsn6dd4y3kg6j2r0','01m83jc3avy6a6k8fz8nqv5pgh',1,0,0.0,1.79541626402791142458e+09,1,'');
INSERT INTO "inbox" VALUES('01m83jc3cw5ea8zene6e4t38kd','01m83jc3avrwa4388cg3mtr4ax','telegram','100','m:5005:3:0','message','5005','{"text": "«t1» what do you make of it?", "name": "Ада"}','00000000000000700101','done','',0,'01m83jc3d3g0bxec77m62380sd','01m83jc3cw83426bcg8bm3810n',3,0,0.0,1.79541626409203577043e+09,1,'');
INSERT INTO "inbox" VALUES('01m83jc3e46de5nss340mjmcnr','01m83jc3e4bj0tdck95s8srnf9','telegram','100','m:999:1:0','message','999','','00000000000000700102','ignored','stranger',0,'','01m83jc3e445mpbtyhe94ggfag',1,0,0.0,1.79541626413281822207e+09,0,'');
INSERT INTO "inbox" VALUES('01m83jc3f09h25d0889g6y5nqt','01m83jc3f00bt294x1fv7n2zcb','web','console','picturep1','message','owner','{"text": "«p1» what do you make of it?", "shown": "«p1» what do you make of it?\n📎 dot.png", "files": [["7899d6ced52159786ff083934df42788da01a30b7ed9bb7756d7f3f5a94ef685", "dot.png", "image/png", 68, ""]]}','','done','',0,'01m83jc3k0pncbd143j6w67f36','01m83jc3f0z22kpa32f3202fg5',1,0,0.0,1.79541626416099190711e+09,1,'');
INSERT INTO "inbox" VALUES('01m83jc3wx5b69ytkagzw52gqv','01m83jc3wxnrdcdar21r6cyqb7','web','console','latea243f1a2fb1049e68b776505d3ce6c3e','message','owner','{"text": "«l0» what do you make of it?"}','','done','',0,'01m83jc3z3gr7c4j5qx0qvtbp6','01m83jc3wxp3gx6ra4bz7vyfqv',1,0,0.0,1.79541626460524868964e+09,2,'');
INSERT INTO "inbox" VALUES('01m83jc44p3h975bhqtbtp05z8','01m83jc3wxnrdcdar21r6cyqb7','web','console','lateac7544fdddd64b74b5e12eada9c497e9','message','owner','{"text": "«l1» what do you make of it?"}','','done','',0,'01m83jc455581ajg5htpn11hkd','01m83jc44p3dt250c1f2jasyrw',3,0,0.0,1.79541626485448861118e+09,2,'');
INSERT INTO "inbox" VALUES('01m83jc46my37qh9fak3xqmrz1','01m83jc2ww8q7bm3g72naxbp3q','web','console','work3bb37485495e44158984853735f7ce9a','command','owner','{"text": "/context fold"}','','new','',1,'','01m83jc46m5774fgy6vqyx2tmd',11,0,0.0,1.79541626491651773456e+09,0,'');
INSERT INTO "inbox" VALUES('01m83jc487h7xqkdhe0xmk6k8s','01m83jc487ck5asr1j5ewz5pqe','web','console','tool50c65a4819d94420b85d19ee305c2106','message','owner','{"text": "«x1» use write_file {\"path\": \"notes/x.md\", \"content\": \"x\"}"}','','running','',0,'01m83jc48fvzrxr3ww1x7mtcxp','01m83jc48706ye2sgmdkzshcfr',1,0,0.0,1.7954162649677286148e+09,2,'');
INSERT INTO "inbox" VALUES('01m83jc4b5hf4s3ggx10c3mkzn','01m83jc487ck5asr1j5ewz5pqe','web','console','tool0ffc2bf3f5c54a66a7a1c831c63c149f','message','owner','{"text": "«x2» and after that?"}','','new','',0,'','01m83jc4b57tjq5qe4gdtca2x6',2,0,0.0,1.79541626506106042856e+09,0,'');
INSERT INTO "inbox" VALUES('01m83jc4cc80rf5y58g09e0axv','01m83jc3wxnrdcdar21r6cyqb7','web','console','latea813d09b6e71473a89d359c079486bd5','message','owner','{"text": "«l2» what do you make of it?"}','','done','',0,'01m83jc4chazgrgd72wxfjqmrn','01m83jc4ccf9ehawmn4d68sk2s',5,0,0.0,1.79541626510021185871e+09,2,'');
CREATE TABLE instance (
	id INTEGER NOT NULL, 
	lease_epoch INTEGER NOT NULL, 
	clean BOOLEAN NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "instance" VALUES(1,2,0);
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
INSERT INTO "memory" VALUES('01m83jc2epweb55vaz4b3y08za','','g0 the roses want water i prefer tea','user_preference','«g0» the roses want water; I prefer tea',6,'live','extraction','01m83jc1m1a8qjg0x3pxy5b9br','01m83jc1m1p3wgkk614e6fnv15','web','«g0» the roses want water; I prefer tea',1.79541626232668399812e+09,1.79541626312602782249e+09,1.79541626312602782249e+09,1.79541626325655937195e+09,3,'',0.0);
INSERT INTO "memory" VALUES('01m83jc2g9jch5gj9d3s45ybm9','','g1 the roses want water i prefer tea','user_preference','«g1» the roses want water; I prefer tea',6,'live','extraction','01m83jc1m1a8qjg0x3pxy5b9br','01m83jc2dtshc0n2r8mate02m2','web','«g1» the roses want water; I prefer tea',1.79541626310910511013e+09,1.79541626317773985862e+09,1.79541626317773985862e+09,1.79541626325655937195e+09,2,'',0.0);
INSERT INTO "memory" VALUES('01m83jc2hpcaprvn3719pwkdd0','','g2 the roses want water i prefer tea','user_preference','«g2» the roses want water; I prefer tea',6,'live','extraction','01m83jc1m1a8qjg0x3pxy5b9br','01m83jc2f1hqr7615w8vze7cn3','web','«g2» the roses want water; I prefer tea',1.79541626314833807943e+09,1.79541626322240948677e+09,1.79541626322240948677e+09,1.79541626325655937195e+09,1,'',0.0);
INSERT INTO "memory" VALUES('01m83jc2j5fnvt287n07qn2sgd','','g3 the roses want water i prefer tea','user_preference','«g3» the roses want water; I prefer tea',6,'live','extraction','01m83jc1m1a8qjg0x3pxy5b9br','01m83jc2gbvy6rkgxx0h7ka2j4','web','«g3» the roses want water; I prefer tea',1.79541626318455409998e+09,1.79541626323783516886e+09,1.79541626323783516886e+09,1.79541626325655937195e+09,1,'',0.0);
INSERT INTO "memory" VALUES('01m83jc2kzcrcjv9kpdrta2hnq','','g4 the roses want water i prefer tea','user_preference','«g4» the roses want water; I prefer tea',6,'live','extraction','01m83jc1m1a8qjg0x3pxy5b9br','01m83jc2je3fcmy4fns95rv5we','web','«g4» the roses want water; I prefer tea',1.7954162632518320084e+09,1.79541626329591274256e+09,1.79541626329591274256e+09,0.0,0,'',0.0);
INSERT INTO "memory" VALUES('01m83jc2w4j0fsy3rge7j5bw3a','','the gate code is 4711','fact','The gate code is 4711',8,'live','person','01m83jc1m1a8qjg0x3pxy5b9br','01m83jc2vvg5df36bcyjbz36rj','web','/remember The gate code is 4711',1.79541626354777789122e+09,1.79541626355692076678e+09,1.79541626355692076678e+09,0.0,0,'',0.0);
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
INSERT INTO "memory_change" VALUES('01m83jc2epst9bb4vr693y7szm','','MEMORY.md','extract','73a75d57d3bce6e6194e9c3ce650a5f836e26e5cb0efe6db3dc5961d8f1a641c','8fa62e7329481e1698ca5d5ead245d8a8150a2481080470e31a5c996bfc39e73','["«g0» the roses want water; I prefer tea"]','[]','','01m83jc1m1p3wgkk614e6fnv15',0,1.79541626312602782249e+09);
INSERT INTO "memory_change" VALUES('01m83jc2g9argcprqdt0jafcxj','','MEMORY.md','extract','8fa62e7329481e1698ca5d5ead245d8a8150a2481080470e31a5c996bfc39e73','b697e1ec796c8b7a56aee1e54abfb63a2ae6902e9d568e8698d692478b01da2a','["«g1» the roses want water; I prefer tea"]','[]','','01m83jc2dtshc0n2r8mate02m2',0,1.79541626317773985862e+09);
INSERT INTO "memory_change" VALUES('01m83jc2hpz805jm8r5rqc32fs','','MEMORY.md','extract','b697e1ec796c8b7a56aee1e54abfb63a2ae6902e9d568e8698d692478b01da2a','d66d54edc1ba1ad747e44ff5f7b746c2de77f6d29b15f843cfeec437cb29488e','["«g2» the roses want water; I prefer tea"]','[]','','01m83jc2f1hqr7615w8vze7cn3',0,1.79541626322240948677e+09);
INSERT INTO "memory_change" VALUES('01m83jc2j58knbye1wwgh1kxqv','','MEMORY.md','extract','d66d54edc1ba1ad747e44ff5f7b746c2de77f6d29b15f843cfeec437cb29488e','05389b6f2523f0ca1bf3b1bcf6669df83790eb0bc8d35b2513af8d13cbe611a6','["«g3» the roses want water; I prefer tea"]','[]','','01m83jc2gbvy6rkgxx0h7ka2j4',0,1.79541626323783516886e+09);
INSERT INTO "memory_change" VALUES('01m83jc2kz0amh9vm2ktdyhthd','','MEMORY.md','extract','05389b6f2523f0ca1bf3b1bcf6669df83790eb0bc8d35b2513af8d13cbe611a6','fca268e68f52be9bc55318d05b4bd3b9775fc3379b421173ea5ad3b153edc64b','["«g4» the roses want water; I prefer tea"]','[]','','01m83jc2je3fcmy4fns95rv5we',0,1.79541626329591274256e+09);
INSERT INTO "memory_change" VALUES('01m83jc2w4zpgk4b62hrw58n8e','','MEMORY.md','remember','fca268e68f52be9bc55318d05b4bd3b9775fc3379b421173ea5ad3b153edc64b','eb8aa8fcc1d7d571749e2b52e51289200c0e8b65ab35fdf6926b994a9f641941','["The gate code is 4711"]','[]','','01m83jc2vvg5df36bcyjbz36rj',0,1.79541626355692076678e+09);
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
INSERT INTO "message" VALUES('01m83jc1m1p3wgkk614e6fnv15','01m83jc1m1a8qjg0x3pxy5b9br',1,1,1,'01m83jc1np6dejw1nqnfebjjh1','user','[{"kind":"Text","text":"«g0» the roses want water; I prefer tea. 花园要浇水"}]','person','',1,26,'tiktoken',1.7954162623266844749e+09);
INSERT INTO "message" VALUES('01m83jc2cy29nm19ayx40gabaq','01m83jc1m1a8qjg0x3pxy5b9br',1,2,1,'01m83jc1np6dejw1nqnfebjjh1','assistant','[{"kind":"Text","text":"re «g0»"}]','model','',1,12,'tiktoken',1.79541626307063245768e+09);
INSERT INTO "message" VALUES('01m83jc2dtshc0n2r8mate02m2','01m83jc1m1a8qjg0x3pxy5b9br',1,3,2,'01m83jc2e5f19rrtq22zfyt45s','user','[{"kind":"Text","text":"«g1» the roses want water; I prefer tea. 花园要浇水"}]','person','',1,26,'tiktoken',1.79541626310910511013e+09);
INSERT INTO "message" VALUES('01m83jc2emy2z0e319y6nwxaf0','01m83jc1m1a8qjg0x3pxy5b9br',1,4,2,'01m83jc2e5f19rrtq22zfyt45s','assistant','[{"kind":"Text","text":"re «g1»"}]','model','',1,12,'tiktoken',1.79541626312427258496e+09);
INSERT INTO "message" VALUES('01m83jc2f1hqr7615w8vze7cn3','01m83jc1m1a8qjg0x3pxy5b9br',1,5,3,'01m83jc2fccxt0vk6q56pxq8y8','user','[{"kind":"Text","text":"«g2» the roses want water; I prefer tea. 花园要浇水"}]','person','',1,26,'tiktoken',1.79541626314833784104e+09);
INSERT INTO "message" VALUES('01m83jc2g1npqk8w722y3xh5qk','01m83jc1m1a8qjg0x3pxy5b9br',1,6,3,'01m83jc2fccxt0vk6q56pxq8y8','assistant','[{"kind":"Text","text":"re «g0»"}]','model','',1,12,'tiktoken',1.79541626316997766496e+09);
INSERT INTO "message" VALUES('01m83jc2gbvy6rkgxx0h7ka2j4','01m83jc1m1a8qjg0x3pxy5b9br',1,7,4,'01m83jc2ggeg2qtn6ypgnaj0he','user','[{"kind":"Text","text":"«g3» the roses want water; I prefer tea. 花园要浇水"}]','person','',1,26,'tiktoken',1.79541626318455433842e+09);
INSERT INTO "message" VALUES('01m83jc2he253pq8fe153zc1b3','01m83jc1m1a8qjg0x3pxy5b9br',1,8,4,'01m83jc2ggeg2qtn6ypgnaj0he','assistant','[{"kind":"Text","text":"re «g1»"}]','model','',1,12,'tiktoken',1.79541626321424484255e+09);
INSERT INTO "message" VALUES('01m83jc2je3fcmy4fns95rv5we','01m83jc1m1a8qjg0x3pxy5b9br',1,9,5,'01m83jc2jkd33tk8ax071h075t','user','[{"kind":"Text","text":"«g4» the roses want water; I prefer tea. 花园要浇水"}]','person','',1,26,'tiktoken',1.79541626325183176996e+09);
INSERT INTO "message" VALUES('01m83jc2k0gpdwknvp53gs0r98','01m83jc1m1a8qjg0x3pxy5b9br',1,10,5,'01m83jc2jkd33tk8ax071h075t','assistant','[{"kind":"Text","text":"re «g3»"}]','model','',1,12,'tiktoken',1.7954162632645277977e+09);
INSERT INTO "message" VALUES('01m83jc2na9xrfj74re2e0xd1a','01m83jc1m1a8qjg0x3pxy5b9br',1,11,6,'01m83jc2nhpdxym0txv5rreb98','user','[{"kind":"Text","text":"«g5» use write_file {\"path\": \"notes/roses.md\", \"content\": \"water on Mondays\"}"}]','person','',1,32,'tiktoken',1.79541626334598731998e+09);
INSERT INTO "message" VALUES('01m83jc2p4awbktxd18sax09ev','01m83jc1m1a8qjg0x3pxy5b9br',1,12,6,'01m83jc2nhpdxym0txv5rreb98','assistant','[{"kind":"Text","text":"I look."},{"kind":"ToolCall","id":"call_g5","name":"write_file","input":"{\"path\": \"notes/roses.md\", \"content\": \"water on Mondays\"}"}]','model','',1,40,'tiktoken',1.79541626336415076252e+09);
INSERT INTO "message" VALUES('01m83jc2pnm33b489n8xkebffh','01m83jc1m1a8qjg0x3pxy5b9br',1,13,6,'01m83jc2nhpdxym0txv5rreb98','user','[{"kind":"ToolResult","call_id":"call_g5","text":"notes/roses.md now holds 16 bytes, version 29eb6a143968.","is_error":false}]','tool','',0,32,'tiktoken',1.79541626338192224503e+09);
INSERT INTO "message" VALUES('01m83jc2pxcj9q29930nsdb64v','01m83jc1m1a8qjg0x3pxy5b9br',1,14,6,'01m83jc2nhpdxym0txv5rreb98','assistant','[{"kind":"Text","text":"re «g5»"}]','model','',1,12,'tiktoken',1.79541626338989591601e+09);
INSERT INTO "message" VALUES('01m83jc2qy1g954pwmz2nj22bh','01m83jc1m1a8qjg0x3pxy5b9br',1,15,7,'01m83jc2r3zzj1z7n9weqzpd00','user','[{"kind":"Text","text":"«g6» what do you make of it?"}]','person','',1,18,'tiktoken',1.79541626342772793773e+09);
INSERT INTO "message" VALUES('01m83jc2redmgx9qd41gkgazp9','01m83jc1m1a8qjg0x3pxy5b9br',1,16,7,'01m83jc2r3zzj1z7n9weqzpd00','assistant','[{"kind":"Text","text":"re «g6»"}]','model','',1,12,'tiktoken',1.79541626343850779529e+09);
INSERT INTO "message" VALUES('01m83jc2ry1egp67hay2np1m9h','01m83jc1m1a8qjg0x3pxy5b9br',1,17,8,'01m83jc2s3b729km2d2c48vwyt','user','[{"kind":"Text","text":"«g7» what do you make of it?"}]','person','',1,18,'tiktoken',1.795416263459489584e+09);
INSERT INTO "message" VALUES('01m83jc2scwhb62w2cfg2cyv04','01m83jc1m1a8qjg0x3pxy5b9br',1,18,8,'01m83jc2s3b729km2d2c48vwyt','assistant','[{"kind":"Text","text":"re «g7»"}]','model','',1,12,'tiktoken',1.79541626346888661389e+09);
INSERT INTO "message" VALUES('01m83jc2sxyjd8mxytp91jxfj1','01m83jc1m1a8qjg0x3pxy5b9br',1,19,9,'01m83jc2t15kjjyw16tcbvcrgf','user','[{"kind":"Text","text":"«g8» what do you make of it?"}]','person','',1,18,'tiktoken',1.79541626348901677129e+09);
INSERT INTO "message" VALUES('01m83jc2tbkwn5ytbse2b3m6t4','01m83jc1m1a8qjg0x3pxy5b9br',1,20,9,'01m83jc2t15kjjyw16tcbvcrgf','assistant','[{"kind":"Text","text":"re «g8»"}]','model','',1,12,'tiktoken',1.79541626349907970433e+09);
INSERT INTO "message" VALUES('01m83jc2wwnbygzm1d4yymva4p','01m83jc2ww8q7bm3g72naxbp3q',1,1,1,'01m83jc2x0v06d2f56na774p3g','user','[{"kind":"Text","text":"«w0» what do you make of it?"}]','person','',1,18,'tiktoken',1.79541626358499693868e+09);
INSERT INTO "message" VALUES('01m83jc2xgmpab7w6qdq6mz3jx','01m83jc2ww8q7bm3g72naxbp3q',1,2,1,'01m83jc2x0v06d2f56na774p3g','assistant','[{"kind":"Text","text":"re «w0»"}]','model','',1,12,'tiktoken',1.79541626360066151621e+09);
INSERT INTO "message" VALUES('01m83jc2xz3fz5h8ndnntmvvzp','01m83jc2ww8q7bm3g72naxbp3q',1,3,2,'01m83jc2y6rsv8xegee55hpyzy','user','[{"kind":"Text","text":"«w1» what do you make of it?"}]','person','',1,18,'tiktoken',1.79541626362210130687e+09);
INSERT INTO "message" VALUES('01m83jc2ynrcfzw80gc6qvmw4j','01m83jc2ww8q7bm3g72naxbp3q',1,4,2,'01m83jc2y6rsv8xegee55hpyzy','assistant','[{"kind":"Text","text":"re «w1»"}]','model','',1,12,'tiktoken',1.79541626363782382013e+09);
INSERT INTO "message" VALUES('01m83jc2zs7w5d4sv8zpergms4','01m83jc2ww8q7bm3g72naxbp3q',1,5,3,'01m83jc2zwb51jcak812gh2bc2','user','[{"kind":"Text","text":"«w2» what do you make of it?"}]','person','',1,18,'tiktoken',1.79541626367694282526e+09);
INSERT INTO "message" VALUES('01m83jc307wejp8edevpjxhesq','01m83jc2ww8q7bm3g72naxbp3q',1,6,3,'01m83jc2zwb51jcak812gh2bc2','assistant','[{"kind":"Text","text":"re «w2»"}]','model','',1,12,'tiktoken',1.79541626368720722201e+09);
INSERT INTO "message" VALUES('01m83jc32nk2hwmgdjh435axh5','01m83jc32n57g2d1hkxmx3wm0z',1,1,1,'01m83jc32sf4hfz3h7tytnj7ej','user','[{"kind":"Text","text":"«o0» what do you make of it?"}]','person','',1,18,'tiktoken',1.79541626376961350446e+09);
INSERT INTO "message" VALUES('01m83jc33esxpn2cxh6w1tsw9v','01m83jc32n57g2d1hkxmx3wm0z',1,2,1,'01m83jc32sf4hfz3h7tytnj7ej','assistant','[{"kind":"Text","text":"re «o0»"}]','model','',1,12,'tiktoken',1.79541626379004836083e+09);
INSERT INTO "message" VALUES('01m83jc33y0cz8mrgcmm5sj863','01m83jc32n57g2d1hkxmx3wm0z',1,3,2,'01m83jc343t36wfhqrsyxx1pv0','user','[{"kind":"Text","text":"«o1» what do you make of it?"}]','person','',1,18,'tiktoken',1.79541626381167650225e+09);
INSERT INTO "message" VALUES('01m83jc34cgvshckwtm8ffkeba','01m83jc32n57g2d1hkxmx3wm0z',1,4,2,'01m83jc343t36wfhqrsyxx1pv0','assistant','[{"kind":"Text","text":"re «o1»"}]','model','',1,12,'tiktoken',1.7954162638205368519e+09);
INSERT INTO "message" VALUES('01m83jc35w3bbecxzvjqf5vdm9','01m83jc32n57g2d1hkxmx3wm0z',2,5,3,'01m83jc3644nnck6ekqt7m4gq1','user','[{"kind":"Text","text":"«o2» what do you make of it?"}]','person','',1,18,'tiktoken',1.79541626387619495395e+09);
INSERT INTO "message" VALUES('01m83jc36v0937y124m462j6wj','01m83jc32n57g2d1hkxmx3wm0z',2,6,3,'01m83jc3644nnck6ekqt7m4gq1','assistant','[{"kind":"Text","text":"re «o2»"}]','model','',1,12,'tiktoken',1.79541626389963364599e+09);
INSERT INTO "message" VALUES('01m83jc3754a9836r7qwfy17x4','01m83jc3756992m1b5grky8wcm',1,1,1,'01m83jc37h7ejde9vx6eyebdvz','user','[{"kind":"Text","text":"«n0» what do you make of it?"}]','person','',1,18,'tiktoken',1.79541626392180585867e+09);
INSERT INTO "message" VALUES('01m83jc389w459p47v3ns1n657','01m83jc3756992m1b5grky8wcm',1,2,1,'01m83jc37h7ejde9vx6eyebdvz','assistant','[{"kind":"Text","text":"re «n0»"}]','model','',1,12,'tiktoken',1.79541626394536733626e+09);
INSERT INTO "message" VALUES('01m83jc39sjt5kegxm6qs7asza','01m83jc3756992m1b5grky8wcm',2,3,2,'01m83jc39xk334t0qh1qpt5kbs','user','[{"kind":"Text","text":"«n1» what do you make of it?"}]','person','',1,18,'tiktoken',1.79541626399725127221e+09);
INSERT INTO "message" VALUES('01m83jc3afhybqxd6x83w6gyhv','01m83jc3756992m1b5grky8wcm',2,4,2,'01m83jc39xk334t0qh1qpt5kbs','assistant','[{"kind":"Text","text":"re «n1»"}]','model','',1,12,'tiktoken',1.79541626401564741134e+09);
INSERT INTO "message" VALUES('01m83jc3avyw7m6bg2tw08fs0t','01m83jc3avrwa4388cg3mtr4ax',1,1,1,'01m83jc3b5dsn6dd4y3kg6j2r0','user','[{"kind":"Text","text":"«t0» what do you make of it?"}]','person','',1,18,'tiktoken',1.79541626403792643545e+09);
INSERT INTO "message" VALUES('01m83jc3bvbjby0ncnjcdvbep6','01m83jc3avrwa4388cg3mtr4ax',1,2,1,'01m83jc3b5dsn6dd4y3kg6j2r0','assistant','[{"kind":"Text","text":"re «t0»"}]','model','',1,12,'tiktoken',1.79541626405906200409e+09);
INSERT INTO "message" VALUES('01m83jc3cw5ea8zene6e4t38kd','01m83jc3avrwa4388cg3mtr4ax',1,3,2,'01m83jc3d3g0bxec77m62380sd','user','[{"kind":"Text","text":"«t1» what do you make of it?"}]','person','',1,18,'tiktoken',1.79541626409939599037e+09);
INSERT INTO "message" VALUES('01m83jc3ddff52ysh885d5z2v0','01m83jc3avrwa4388cg3mtr4ax',1,4,2,'01m83jc3d3g0bxec77m62380sd','assistant','[{"kind":"Text","text":"re «t1»"}]','model','',1,12,'tiktoken',1.79541626410913181307e+09);
INSERT INTO "message" VALUES('01m83jc3f09h25d0889g6y5nqt','01m83jc3f00bt294x1fv7n2zcb',1,1,1,'01m83jc3k0pncbd143j6w67f36','user','[{"kind":"Image","sha256":"7899d6ced52159786ff083934df42788da01a30b7ed9bb7756d7f3f5a94ef685","media_type":"image/png","width":2,"height":2},{"kind":"Text","text":"«p1» what do you make of it?"}]','person','',1,19,'tiktoken',1.79541626428888654708e+09);
INSERT INTO "message" VALUES('01m83jc3kj8gr3e5hf1mtt8hc7','01m83jc3f00bt294x1fv7n2zcb',1,2,1,'01m83jc3k0pncbd143j6w67f36','assistant','[{"kind":"Text","text":"re «p1»"}]','model','',1,12,'tiktoken',1.79541626430673503878e+09);
INSERT INTO "message" VALUES('01m83jc3wx5b69ytkagzw52gqv','01m83jc3wxnrdcdar21r6cyqb7',1,1,1,'01m83jc3z3gr7c4j5qx0qvtbp6','user','[{"kind":"Text","text":"«l0» what do you make of it?"}]','person','',1,18,'tiktoken',1.79541626467534756661e+09);
INSERT INTO "message" VALUES('01m83jc42bemjc6q2kb9p4d8wc','01m83jc3wxnrdcdar21r6cyqb7',1,2,1,'01m83jc3z3gr7c4j5qx0qvtbp6','assistant','[{"kind":"Text","text":"re «l0»"}]','model','',1,12,'tiktoken',1.79541626477904510492e+09);
INSERT INTO "message" VALUES('01m83jc44p3h975bhqtbtp05z8','01m83jc3wxnrdcdar21r6cyqb7',1,3,2,'01m83jc455581ajg5htpn11hkd','user','[{"kind":"Text","text":"«l1» what do you make of it?"}]','person','',1,18,'tiktoken',1795416264.86924);
INSERT INTO "message" VALUES('01m83jc45fmy835g4pqfrd55nd','01m83jc3wxnrdcdar21r6cyqb7',1,4,2,'01m83jc455581ajg5htpn11hkd','assistant','[{"kind":"Text","text":"re «l1»"}]','model','',1,12,'tiktoken',1.79541626487962603566e+09);
INSERT INTO "message" VALUES('01m83jc487h7xqkdhe0xmk6k8s','01m83jc487ck5asr1j5ewz5pqe',1,1,1,'01m83jc48fvzrxr3ww1x7mtcxp','user','[{"kind":"Text","text":"«x1» use write_file {\"path\": \"notes/x.md\", \"content\": \"x\"}"}]','person','',1,28,'tiktoken',1.79541626497585296625e+09);
INSERT INTO "message" VALUES('01m83jc48xqq9z6e0hevaf8x92','01m83jc487ck5asr1j5ewz5pqe',1,2,1,'01m83jc48fvzrxr3ww1x7mtcxp','assistant','[{"kind":"Text","text":"I look."},{"kind":"ToolCall","id":"call_x1","name":"write_file","input":"{\"path\": \"notes/x.md\", \"content\": \"x\"}"}]','model','',1,36,'tiktoken',1.795416264989225626e+09);
INSERT INTO "message" VALUES('01m83jc4cc80rf5y58g09e0axv','01m83jc3wxnrdcdar21r6cyqb7',1,5,3,'01m83jc4chazgrgd72wxfjqmrn','user','[{"kind":"Text","text":"«l2» what do you make of it?"}]','person','',1,18,'tiktoken',1.79541626510543298727e+09);
INSERT INTO "message" VALUES('01m83jc4ed8jbcm27ftfdz9xdt','01m83jc3wxnrdcdar21r6cyqb7',1,6,3,'01m83jc4chazgrgd72wxfjqmrn','assistant','[{"kind":"Text","text":"re «l2»"}]','model','',1,12,'tiktoken',1.79541626516553521155e+09);
CREATE TABLE model_factor (
	model TEXT NOT NULL, 
	factor DOUBLE NOT NULL, 
	samples INTEGER NOT NULL, 
	error_percent DOUBLE NOT NULL, 
	PRIMARY KEY (model)
);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra',0.9864,16,0.53);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra 01m83jc1m1a8qjg0x3pxy5b9br',1.0219,10,0.17);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra 01m83jc2ww8q7bm3g72naxbp3q',0.9832,3,0.5);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra 01m83jc32n57g2d1hkxmx3wm0z',0.9833,3,-0.1);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra 01m83jc3756992m1b5grky8wcm',0.9842,2,0.23);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra 01m83jc3avrwa4388cg3mtr4ax',0.9798,2,0.42);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra 01m83jc3f00bt294x1fv7n2zcb',0.9958,1,-1.39);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra 01m83jc3wxnrdcdar21r6cyqb7',0.9794,3,0.1);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra 01m83jc487ck5asr1j5ewz5pqe',0.9823,1,0.59);
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
INSERT INTO "outbox" VALUES('01m83jc2cy2x63g3enreent0v6','01m83jc1m1a8qjg0x3pxy5b9br','01m83jc1m1p3wgkk614e6fnv15:answer',0,1,1,'final','1da3164a4d81d508c77c2985b1cdabec','re «g0»','sent',1,0,0,315360000.0,2.11077626307922220239e+09,0.0,'01m83jc1m1p3wgkk614e6fnv15','01m83jc2cy2x63g3enreent0v6','',2,1.79541626307063245768e+09,1,'',1.79541626308353352548e+09);
INSERT INTO "outbox" VALUES('01m83jc2emddyne7rkhe8gr0th','01m83jc1m1a8qjg0x3pxy5b9br','01m83jc2dtshc0n2r8mate02m2:answer',0,1,1,'final','67379f64ccd9559d5d0fb30eb55b9d10','re «g1»','sent',1,0,0,315360000.0,2.11077626313463068011e+09,0.0,'01m83jc2dtshc0n2r8mate02m2','01m83jc2emddyne7rkhe8gr0th','',4,1.79541626312427258496e+09,1,'',1.79541626313583540909e+09);
INSERT INTO "outbox" VALUES('01m83jc2g16x6jmfp1j6hdyjv4','01m83jc1m1a8qjg0x3pxy5b9br','01m83jc2f1hqr7615w8vze7cn3:answer',0,1,1,'final','d66dae6478e5b6a7a2664f8e3383ccab','re «g0»','sent',1,0,0,315360000.0,2.11077626317371702191e+09,0.0,'01m83jc2f1hqr7615w8vze7cn3','01m83jc2g16x6jmfp1j6hdyjv4','',6,1.79541626316997766496e+09,1,'',1.7954162631748011112e+09);
INSERT INTO "outbox" VALUES('01m83jc2hestmytkzraxs3x8gh','01m83jc1m1a8qjg0x3pxy5b9br','01m83jc2gbvy6rkgxx0h7ka2j4:answer',0,1,1,'final','b4c756094eecd4540dbe44b47f344d0c','re «g1»','sent',1,0,0,315360000.0,2.11077626321955275534e+09,0.0,'01m83jc2gbvy6rkgxx0h7ka2j4','01m83jc2hestmytkzraxs3x8gh','',8,1.79541626321424484255e+09,1,'',1.7954162632208828926e+09);
INSERT INTO "outbox" VALUES('01m83jc2k01t7yxzhznw6qbjef','01m83jc1m1a8qjg0x3pxy5b9br','01m83jc2je3fcmy4fns95rv5we:answer',0,1,1,'final','da4fd179b2b2225e508648392a175818','re «g3»','sent',1,0,0,315360000.0,2.11077626326677560814e+09,0.0,'01m83jc2je3fcmy4fns95rv5we','01m83jc2k01t7yxzhznw6qbjef','',10,1.7954162632645277977e+09,1,'',1.79541626326844263074e+09);
INSERT INTO "outbox" VALUES('01m83jc2mnszaxw60nrmwwz4ma','01m83jc1m1a8qjg0x3pxy5b9br','01m83jc2kfva7nn4jdsb01hmzc:answer',0,1,1,'notice','bcac5c7604c8ec6aae9b145bcb0d0f19','Folded turns 1–2 into memory/2026-11-23.md: 190 → 155 tokens (82%).','sent',1,0,0,315360000.0,2.11077626331917786602e+09,0.0,'01m83jc2kfva7nn4jdsb01hmzc','01m83jc2mnszaxw60nrmwwz4ma','',12,1.79541626331756830215e+09,1,'',1.79541626331986594201e+09);
INSERT INTO "outbox" VALUES('01m83jc2pxhhsr3ks8zwx9qvrj','01m83jc1m1a8qjg0x3pxy5b9br','01m83jc2na9xrfj74re2e0xd1a:answer',0,1,1,'final','f424843bedf4c679a1ecfcd3c04925b7','re «g5»','sent',1,0,0,315360000.0,2.11077626340007758133e+09,0.0,'01m83jc2na9xrfj74re2e0xd1a','01m83jc2pxhhsr3ks8zwx9qvrj','',14,1.79541626338989591601e+09,1,'',1.79541626340176725391e+09);
INSERT INTO "outbox" VALUES('01m83jc2rewz1kcypeafrj74pj','01m83jc1m1a8qjg0x3pxy5b9br','01m83jc2qy1g954pwmz2nj22bh:answer',0,1,1,'final','923472960b615365bbfd1218eb1c7927','re «g6»','sent',1,0,0,315360000.0,2.11077626344089055066e+09,0.0,'01m83jc2qy1g954pwmz2nj22bh','01m83jc2rewz1kcypeafrj74pj','',16,1.79541626343850779529e+09,1,'',1.79541626344283246994e+09);
INSERT INTO "outbox" VALUES('01m83jc2sc3g1wj9y7esbcx6kc','01m83jc1m1a8qjg0x3pxy5b9br','01m83jc2ry1egp67hay2np1m9h:answer',0,1,1,'final','6aa56fa74320510172ded568c5c4f716','re «g7»','sent',1,0,0,315360000.0,2110776263.47115,0.0,'01m83jc2ry1egp67hay2np1m9h','01m83jc2sc3g1wj9y7esbcx6kc','',18,1.79541626346888661389e+09,1,'',1795416263.47262);
INSERT INTO "outbox" VALUES('01m83jc2tbst3pmy0dgyg0eb9p','01m83jc1m1a8qjg0x3pxy5b9br','01m83jc2sxyjd8mxytp91jxfj1:answer',0,1,1,'final','68bc54e12a72557382b08f094b931514','re «g8»','sent',1,0,0,315360000.0,2.11077626350130939485e+09,0.0,'01m83jc2sxyjd8mxytp91jxfj1','01m83jc2tbst3pmy0dgyg0eb9p','',20,1.79541626349907970433e+09,1,'',1.79541626350274801252e+09);
INSERT INTO "outbox" VALUES('01m83jc2vhe62dfewpk5bw614t','01m83jc1m1a8qjg0x3pxy5b9br','01m83jc2tw08wqts5kwyxwbaq2:answer',0,1,1,'notice','7961a5ca47c8269cdeeb0af2e1708206','Folded turns 3–5 into memory/2026-11-23.md: 361 → 268 tokens (74%).','sent',1,0,0,315360000.0,2.11077626353822755803e+09,0.0,'01m83jc2tw08wqts5kwyxwbaq2','01m83jc2vhe62dfewpk5bw614t','',22,1.79541626353721499439e+09,1,'',1.79541626353897690771e+09);
INSERT INTO "outbox" VALUES('01m83jc2w6k736a39kt1zaax0c','01m83jc1m1a8qjg0x3pxy5b9br','01m83jc2vvg5df36bcyjbz36rj:answer',0,1,1,'notice','933fce0f983428495131d83d7326e58f','Remembered (facts): The gate code is 4711','sent',1,0,0,315360000.0,2.1107762635591561795e+09,0.0,'01m83jc2vvg5df36bcyjbz36rj','01m83jc2w6k736a39kt1zaax0c','',24,1.79541626355806207661e+09,1,'',1.79541626355977725982e+09);
INSERT INTO "outbox" VALUES('01m83jc2xg029m2pfz2ny5h0ze','01m83jc2ww8q7bm3g72naxbp3q','01m83jc2wwnbygzm1d4yymva4p:answer',0,1,1,'final','ae4597bf4132fc551c2a730cc34c9e8a','re «w0»','sent',1,0,0,315360000.0,2.11077626360317730912e+09,0.0,'01m83jc2wwnbygzm1d4yymva4p','01m83jc2xg029m2pfz2ny5h0ze','',2,1.79541626360066151621e+09,1,'',1.79541626360447025296e+09);
INSERT INTO "outbox" VALUES('01m83jc2ynm3wwrcvcmxcr708d','01m83jc2ww8q7bm3g72naxbp3q','01m83jc2xz3fz5h8ndnntmvvzp:answer',0,1,1,'final','b51992b411580d3286e472ac1917b4fd','re «w1»','sent',1,0,0,315360000.0,2.11077626364869666108e+09,0.0,'01m83jc2xz3fz5h8ndnntmvvzp','01m83jc2ynm3wwrcvcmxcr708d','',4,1.79541626363782382013e+09,1,'',1.79541626365034747122e+09);
INSERT INTO "outbox" VALUES('01m83jc307d80gd4jgxvcfk8dc','01m83jc2ww8q7bm3g72naxbp3q','01m83jc2zs7w5d4sv8zpergms4:answer',0,1,1,'final','9bbfb54d9521dd6ea35338a24f4c29f0','re «w2»','sent',1,0,0,315360000.0,2.11077626368959903719e+09,0.0,'01m83jc2zs7w5d4sv8zpergms4','01m83jc307d80gd4jgxvcfk8dc','',6,1.79541626368720722201e+09,1,'',1.79541626369527244563e+09);
INSERT INTO "outbox" VALUES('01m83jc31963zdjtcqtx6snwhs','01m83jc2ww8q7bm3g72naxbp3q','01m83jc30rhx0f8ja5m685q28v:answer',0,1,1,'notice','34df5ae4360cfb66e091b65ef5b7c88f','Folded turn 1 into memory/2026-11-23.md: 90 → 72 tokens (80%).','sent',1,0,0,315360000.0,2.1107762637266552449e+09,0.0,'01m83jc30rhx0f8ja5m685q28v','01m83jc31963zdjtcqtx6snwhs','',8,1.79541626372188401223e+09,1,'',1.79541626372732949254e+09);
INSERT INTO "outbox" VALUES('01m83jc3237vs81chjttm7fxeg','01m83jc2ww8q7bm3g72naxbp3q','01m83jc31qte48cbsxmbwynp4m:answer',0,1,1,'notice','99f03dfecbdc5c72dd3e81a3922f23b7','The fold is undone: turn 1 is back in the context.','sent',1,0,0,315360000.0,2.11077626374801063545e+09,0.0,'01m83jc31qte48cbsxmbwynp4m','01m83jc3237vs81chjttm7fxeg','',10,1.79541626374705648415e+09,1,'',1.79541626374867510792e+09);
INSERT INTO "outbox" VALUES('01m83jc33e5c8qjf5202ybqw4d','01m83jc32n57g2d1hkxmx3wm0z','01m83jc32nk2hwmgdjh435axh5:answer',0,1,1,'final','af6f9a550e6689465e687a800cb141eb','re «o0»','sent',1,0,0,315360000.0,2.11077626379227113718e+09,0.0,'01m83jc32nk2hwmgdjh435axh5','01m83jc33e5c8qjf5202ybqw4d','',2,1.79541626379004836083e+09,1,'',1.79541626379348683356e+09);
INSERT INTO "outbox" VALUES('01m83jc34cxbhmqbsfvm98evce','01m83jc32n57g2d1hkxmx3wm0z','01m83jc33y0cz8mrgcmm5sj863:answer',0,1,1,'final','21eaab94f38ebf9454534a6b0699e899','re «o1»','sent',1,0,0,315360000.0,2.11077626382276916511e+09,0.0,'01m83jc33y0cz8mrgcmm5sj863','01m83jc34cxbhmqbsfvm98evce','',4,1.7954162638205368519e+09,1,'',1.79541626382387447353e+09);
INSERT INTO "outbox" VALUES('01m83jc355j6btjy05s3t9jrb5','01m83jc32n57g2d1hkxmx3wm0z','01m83jc34xpdq7xwsvp8ax98hn:answer',0,1,2,'notice','672519af78626b027f669e5d319aeb06','The context is clear: the model sees nothing from before. The record stays; /context undo takes this back.','sent',1,0,0,315360000.0,2.11077626384600615491e+09,0.0,'01m83jc34xpdq7xwsvp8ax98hn','01m83jc355j6btjy05s3t9jrb5','',6,1.79541626384503531449e+09,1,'',1.795416263846688509e+09);
INSERT INTO "outbox" VALUES('01m83jc36v7khft3hnt91y672f','01m83jc32n57g2d1hkxmx3wm0z','01m83jc35w3bbecxzvjqf5vdm9:answer',0,1,2,'final','b12990727c075c2dc733524f4cab70ff','re «o2»','sent',1,0,0,315360000.0,2.11077626390175056465e+09,0.0,'01m83jc35w3bbecxzvjqf5vdm9','01m83jc36v7khft3hnt91y672f','',8,1.79541626389963364599e+09,1,'',1.79541626390275454519e+09);
INSERT INTO "outbox" VALUES('01m83jc389g2tvzb34pgx1m8kr','01m83jc3756992m1b5grky8wcm','01m83jc3754a9836r7qwfy17x4:answer',0,1,1,'final','340f6c040fa6fb50ba85e1f5861e89f1','re «n0»','sent',1,0,0,315360000.0,2.11077626394896936405e+09,0.0,'01m83jc3754a9836r7qwfy17x4','01m83jc389g2tvzb34pgx1m8kr','',2,1.79541626394536733626e+09,1,'',1795416263.95059);
INSERT INTO "outbox" VALUES('01m83jc38ym9wa63attamehtq4','01m83jc3756992m1b5grky8wcm','01m83jc38kfq9yj5ea5g3nd9cj:answer',0,1,2,'notice','848448034721f2f123785b9daeac1a64','A new conversation begins; what came before (1 turn) is being written to today''s log.','sent',1,0,0,315360000.0,2.11077626396828031533e+09,0.0,'01m83jc38kfq9yj5ea5g3nd9cj','01m83jc38ym9wa63attamehtq4','',4,1.79541626396682929989e+09,1,'',1.79541626397030520435e+09);
INSERT INTO "outbox" VALUES('01m83jc3aff0ktedxh1v7bg1dv','01m83jc3756992m1b5grky8wcm','01m83jc39sjt5kegxm6qs7asza:answer',0,1,2,'final','3509ff05ba229588173ff95f76543eeb','re «n1»','sent',1,0,0,315360000.0,2.1107762640177266597e+09,0.0,'01m83jc39sjt5kegxm6qs7asza','01m83jc3aff0ktedxh1v7bg1dv','',6,1.79541626401564741134e+09,1,'',1.79541626402079176902e+09);
INSERT INTO "outbox" VALUES('01m83jc3bv5nrczh9q89bna4sa','01m83jc3avrwa4388cg3mtr4ax','01m83jc3avyw7m6bg2tw08fs0t:answer',0,1,1,'final','0d492384e027214a95983400afff9a10','re «t0»','sent',1,0,0,0.0,0.0,0.0,'01m83jc3avyw7m6bg2tw08fs0t','2','',2,1.79541626405906200409e+09,1,'',1.79541626406757760044e+09);
INSERT INTO "outbox" VALUES('01m83jc3ddrxma2jqvf18e24np','01m83jc3avrwa4388cg3mtr4ax','01m83jc3cw5ea8zene6e4t38kd:answer',0,1,1,'final','bfbc7ba9c96ccee73c117d4674e5e9f6','re «t1»','sent',1,0,0,0.0,0.0,0.0,'01m83jc3cw5ea8zene6e4t38kd','4','',4,1.79541626410913181307e+09,1,'',1.79541626411636590955e+09);
INSERT INTO "outbox" VALUES('01m83jc3e7226eyhtgm2xq5343','01m83jc3e4bj0tdck95s8srnf9','pair:01m83jc3e46de5nss340mjmcnr',0,1,1,'notice','186dde31c1d94633576a4347c50469b2','I talk only to people who were let in. Give this code to the person who runs me; it is good for an hour: `7M9Q-53UB`','sent',1,0,0,0.0,0.0,0.0,'','2','',2,1.79541626413558721543e+09,1,'',1.79541626414866232865e+09);
INSERT INTO "outbox" VALUES('01m83jc3e7h9v29jwpz6d8yap9','01m83jc3avrwa4388cg3mtr4ax','pairing:telegram:100:2026-11-23',0,1,1,'notice','e9054758154f2ee834976194f271966d','telegram `999` “`Ада`” asks to talk to me and was given a code. If you know them, have them tell you the code and enter it with `mnema pair approve CODE` in a terminal, or `/approve CODE` in the page or the terminal chat. I do not tell you of others today; `mnema pair list` shows who waits.','sent',1,0,0,0.0,0.0,0.0,'','5','',5,1.79541626413558721543e+09,1,'',1.79541626414943599702e+09);
INSERT INTO "outbox" VALUES('01m83jc3kjwa8xk3mtn6nr58ph','01m83jc3f00bt294x1fv7n2zcb','01m83jc3f09h25d0889g6y5nqt:answer',0,1,1,'final','52f944e616209e4178d1ad41925f78c5','re «p1»','sent',1,0,0,315360000.0,2.11077626431190490722e+09,0.0,'01m83jc3f09h25d0889g6y5nqt','01m83jc3kjwa8xk3mtn6nr58ph','',2,1.79541626430673503878e+09,1,'',1.79541626431342792513e+09);
INSERT INTO "outbox" VALUES('01m83jc42bjxg253359k7efenp','01m83jc3wxnrdcdar21r6cyqb7','01m83jc3wx5b69ytkagzw52gqv:answer',0,1,1,'final','019ce94d0058cb04e0e5c5b6bf47ab61','re «l0»','sent',1,0,0,315360000.0,2.11077626478824067124e+09,0.0,'01m83jc3wx5b69ytkagzw52gqv','01m83jc42bjxg253359k7efenp','',2,1.79541626477904510492e+09,2,'',1.7954162648155064583e+09);
INSERT INTO "outbox" VALUES('01m83jc45fqw2ya92ry28rcm6j','01m83jc3wxnrdcdar21r6cyqb7','01m83jc44p3h975bhqtbtp05z8:answer',0,1,1,'final','ee100aef7af702670b938d024717f4b3','re «l1»','sent',1,0,0,315360000.0,2.11077626488485169402e+09,0.0,'01m83jc44p3h975bhqtbtp05z8','01m83jc45fqw2ya92ry28rcm6j','',4,1.79541626487962603566e+09,2,'',1.79541626488583683967e+09);
INSERT INTO "outbox" VALUES('01m83jc4eds01g72a86fm0jj2w','01m83jc3wxnrdcdar21r6cyqb7','01m83jc4cc80rf5y58g09e0axv:answer',0,1,1,'final','78544c347330a10c7eb4ee203e5a91ad','re «l2»','sending',1,0,0,315360000.0,2.11077626516791033738e+09,0.0,'01m83jc4cc80rf5y58g09e0axv','','',6,1.79541626516553521155e+09,2,'',0.0);
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
INSERT INTO "prefix_text" VALUES('60dbbdaf7df4dd6d1e33f8da894f311060f784dc33f36515eb441701e65e02d8','[Daily log of 2026-11-23, for reference]
## 06:44 · web · turns 1–2

- «g0» the roses want water; I prefer tea. 花园要浇水
- «g1» the roses want water; I prefer tea. 花园要浇水

## 06:44 · web · turns 3–5

- «g2» the roses want water; I prefer tea. 花园要浇水
- «g3» the roses want water; I prefer tea. 花园要浇水
- «g4» the roses want water; I prefer tea. 花园要浇水
- 06:44 Bot: re «g0»
- 06:44 Bot: re «g1»
[End of the daily log]');
INSERT INTO "prefix_text" VALUES('c40a79eff0fb15c3e7c5cc968dfcf184f23bda9d4c9dbf22a6570493debc9052','[Daily log of 2026-11-23, for reference]
## 06:44 · web · turns 1–2

- «g0» the roses want water; I prefer tea. 花园要浇水
- «g1» the roses want water; I prefer tea. 花园要浇水

## 06:44 · web · turns 3–5

- «g2» the roses want water; I prefer tea. 花园要浇水
- «g3» the roses want water; I prefer tea. 花园要浇水
- «g4» the roses want water; I prefer tea. 花园要浇水
- 06:44 Bot: re «g0»
- 06:44 Bot: re «g1»

## 06:44 · web · turns 1–1

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
INSERT INTO "snapshot" VALUES('01m83jc1m1a8qjg0x3pxy5b9br','b73b62527681b8f5de1d6f00987f8f8d32f063078e32f3b7323d40d8c9306ea0',1,'01m83jc2ksp74b1pbr8z1evbbm',0,1.79541626335762381557e+09);
INSERT INTO "snapshot" VALUES('01m83jc2ww8q7bm3g72naxbp3q','e2f2e7aaafa10ef2666e310b8e214d99b841f22626add9083cfcbaef1de129a9',1,'',0,1.79541626359480047223e+09);
INSERT INTO "snapshot" VALUES('01m83jc32n57g2d1hkxmx3wm0z','e2f2e7aaafa10ef2666e310b8e214d99b841f22626add9083cfcbaef1de129a9',2,'',0,1.79541626389105248452e+09);
INSERT INTO "snapshot" VALUES('01m83jc3756992m1b5grky8wcm','e2f2e7aaafa10ef2666e310b8e214d99b841f22626add9083cfcbaef1de129a9',2,'',0,1.7954162640088903904e+09);
INSERT INTO "snapshot" VALUES('01m83jc3avrwa4388cg3mtr4ax','e2f2e7aaafa10ef2666e310b8e214d99b841f22626add9083cfcbaef1de129a9',1,'',0,1.79541626404783916473e+09);
INSERT INTO "snapshot" VALUES('01m83jc3f00bt294x1fv7n2zcb','e2f2e7aaafa10ef2666e310b8e214d99b841f22626add9083cfcbaef1de129a9',1,'',0,1.79541626429853820798e+09);
INSERT INTO "snapshot" VALUES('01m83jc3wxnrdcdar21r6cyqb7','e2f2e7aaafa10ef2666e310b8e214d99b841f22626add9083cfcbaef1de129a9',1,'',0,1.7954162647423286438e+09);
INSERT INTO "snapshot" VALUES('01m83jc487ck5asr1j5ewz5pqe','e2f2e7aaafa10ef2666e310b8e214d99b841f22626add9083cfcbaef1de129a9',1,'',0,1.79541626498183512689e+09);
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
INSERT INTO "snapshot_part" VALUES('01m83jc1m1a8qjg0x3pxy5b9br',0,'awareness','9e0b173ed1df3dfd43c2a0985610ed44f4e9ebf9fcb9be0298b11c768a32fb66','[]');
INSERT INTO "snapshot_part" VALUES('01m83jc1m1a8qjg0x3pxy5b9br',1,'MEMORY.md','aa0fea7604628517643648c9af3ee050f3225f43e3c51d88013a8f7caf7f128f','[]');
INSERT INTO "snapshot_part" VALUES('01m83jc2ww8q7bm3g72naxbp3q',0,'awareness','9e0b173ed1df3dfd43c2a0985610ed44f4e9ebf9fcb9be0298b11c768a32fb66','[]');
INSERT INTO "snapshot_part" VALUES('01m83jc2ww8q7bm3g72naxbp3q',1,'MEMORY.md','b02c32b3bb159ffb30bb81250683be789e65af3789048470f6452f24be6ad698','[]');
INSERT INTO "snapshot_part" VALUES('01m83jc2ww8q7bm3g72naxbp3q',2,'log','60dbbdaf7df4dd6d1e33f8da894f311060f784dc33f36515eb441701e65e02d8','[]');
INSERT INTO "snapshot_part" VALUES('01m83jc32n57g2d1hkxmx3wm0z',0,'awareness','9e0b173ed1df3dfd43c2a0985610ed44f4e9ebf9fcb9be0298b11c768a32fb66','[]');
INSERT INTO "snapshot_part" VALUES('01m83jc32n57g2d1hkxmx3wm0z',1,'MEMORY.md','b02c32b3bb159ffb30bb81250683be789e65af3789048470f6452f24be6ad698','[]');
INSERT INTO "snapshot_part" VALUES('01m83jc32n57g2d1hkxmx3wm0z',2,'log','60dbbdaf7df4dd6d1e33f8da894f311060f784dc33f36515eb441701e65e02d8','[]');
INSERT INTO "snapshot_part" VALUES('01m83jc3756992m1b5grky8wcm',0,'awareness','9e0b173ed1df3dfd43c2a0985610ed44f4e9ebf9fcb9be0298b11c768a32fb66','[]');
INSERT INTO "snapshot_part" VALUES('01m83jc3756992m1b5grky8wcm',1,'MEMORY.md','b02c32b3bb159ffb30bb81250683be789e65af3789048470f6452f24be6ad698','[]');
INSERT INTO "snapshot_part" VALUES('01m83jc3756992m1b5grky8wcm',2,'log','60dbbdaf7df4dd6d1e33f8da894f311060f784dc33f36515eb441701e65e02d8','[]');
INSERT INTO "snapshot_part" VALUES('01m83jc3avrwa4388cg3mtr4ax',0,'awareness','9e0b173ed1df3dfd43c2a0985610ed44f4e9ebf9fcb9be0298b11c768a32fb66','[]');
INSERT INTO "snapshot_part" VALUES('01m83jc3avrwa4388cg3mtr4ax',1,'MEMORY.md','b02c32b3bb159ffb30bb81250683be789e65af3789048470f6452f24be6ad698','[]');
INSERT INTO "snapshot_part" VALUES('01m83jc3avrwa4388cg3mtr4ax',2,'log','c40a79eff0fb15c3e7c5cc968dfcf184f23bda9d4c9dbf22a6570493debc9052','[]');
INSERT INTO "snapshot_part" VALUES('01m83jc3f00bt294x1fv7n2zcb',0,'awareness','9e0b173ed1df3dfd43c2a0985610ed44f4e9ebf9fcb9be0298b11c768a32fb66','[]');
INSERT INTO "snapshot_part" VALUES('01m83jc3f00bt294x1fv7n2zcb',1,'MEMORY.md','b02c32b3bb159ffb30bb81250683be789e65af3789048470f6452f24be6ad698','[]');
INSERT INTO "snapshot_part" VALUES('01m83jc3f00bt294x1fv7n2zcb',2,'log','c40a79eff0fb15c3e7c5cc968dfcf184f23bda9d4c9dbf22a6570493debc9052','[]');
INSERT INTO "snapshot_part" VALUES('01m83jc3wxnrdcdar21r6cyqb7',0,'awareness','9e0b173ed1df3dfd43c2a0985610ed44f4e9ebf9fcb9be0298b11c768a32fb66','[]');
INSERT INTO "snapshot_part" VALUES('01m83jc3wxnrdcdar21r6cyqb7',1,'MEMORY.md','b02c32b3bb159ffb30bb81250683be789e65af3789048470f6452f24be6ad698','[]');
INSERT INTO "snapshot_part" VALUES('01m83jc3wxnrdcdar21r6cyqb7',2,'log','c40a79eff0fb15c3e7c5cc968dfcf184f23bda9d4c9dbf22a6570493debc9052','[]');
INSERT INTO "snapshot_part" VALUES('01m83jc487ck5asr1j5ewz5pqe',0,'awareness','9e0b173ed1df3dfd43c2a0985610ed44f4e9ebf9fcb9be0298b11c768a32fb66','[]');
INSERT INTO "snapshot_part" VALUES('01m83jc487ck5asr1j5ewz5pqe',1,'MEMORY.md','b02c32b3bb159ffb30bb81250683be789e65af3789048470f6452f24be6ad698','[]');
INSERT INTO "snapshot_part" VALUES('01m83jc487ck5asr1j5ewz5pqe',2,'log','c40a79eff0fb15c3e7c5cc968dfcf184f23bda9d4c9dbf22a6570493debc9052','[]');
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
INSERT INTO "tool_call" VALUES('01m83jc2p4xmpvg8wz915mcfez','01m83jc2nhpdxym0txv5rreb98',0,'call_g5','write_file','{"path": "notes/roses.md", "content": "water on Mondays"}','idempotent','4352408124cfb6dc5727fa812e5dc76a','done',1,'01m83jc2pnm33b489n8xkebffh');
INSERT INTO "tool_call" VALUES('01m83jc48xc4djep0ac4rscpyz','01m83jc48fvzrxr3ww1x7mtcxp',0,'call_x1','write_file','{"path": "notes/x.md", "content": "x"}','idempotent','cb31e38ec3cb911b52534e9c7fa413a3','started',1,'');
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
INSERT INTO "turn" VALUES('01m83jc1np6dejw1nqnfebjjh1','01m83jc1m1a8qjg0x3pxy5b9br',1,1,'01m83jc1m1p3wgkk614e6fnv15','owner','done',0,0,'01m83jc1m1262jqqkzfnc9rnk1',1,1,1.7954162623266844749e+09,1.79541626307063245768e+09,'owner',1.79541626227348136905e+09);
INSERT INTO "turn" VALUES('01m83jc2e5f19rrtq22zfyt45s','01m83jc1m1a8qjg0x3pxy5b9br',2,1,'01m83jc2dtshc0n2r8mate02m2','owner','done',0,0,'01m83jc2dtacgk8esm43p3qsqe',3,1,1.79541626310910511013e+09,1.79541626312427258496e+09,'owner',1.7954162630989506245e+09);
INSERT INTO "turn" VALUES('01m83jc2fccxt0vk6q56pxq8y8','01m83jc1m1a8qjg0x3pxy5b9br',3,1,'01m83jc2f1hqr7615w8vze7cn3','owner','done',0,0,'01m83jc2f1epjte639b5pxbajv',5,1,1.79541626314833784104e+09,1.79541626316997766496e+09,'owner',1.79541626313713788979e+09);
INSERT INTO "turn" VALUES('01m83jc2ggeg2qtn6ypgnaj0he','01m83jc1m1a8qjg0x3pxy5b9br',4,1,'01m83jc2gbvy6rkgxx0h7ka2j4','owner','done',0,0,'01m83jc2gb9ynrshh8redqk909',7,1,1.79541626318455433842e+09,1.79541626321424484255e+09,'owner',1.79541626317928171155e+09);
INSERT INTO "turn" VALUES('01m83jc2jkd33tk8ax071h075t','01m83jc1m1a8qjg0x3pxy5b9br',5,1,'01m83jc2je3fcmy4fns95rv5we','owner','done',0,0,'01m83jc2jesq12ks95ecbrvpwd',9,1,1.79541626325183176996e+09,1.7954162632645277977e+09,'owner',1.79541626324672222133e+09);
INSERT INTO "turn" VALUES('01m83jc2nhpdxym0txv5rreb98','01m83jc1m1a8qjg0x3pxy5b9br',6,1,'01m83jc2na9xrfj74re2e0xd1a','owner','done',1,0,'01m83jc2naark773j3n75tce8n',11,1,1.79541626334598731998e+09,1.79541626338989591601e+09,'owner',1.79541626333829045297e+09);
INSERT INTO "turn" VALUES('01m83jc2r3zzj1z7n9weqzpd00','01m83jc1m1a8qjg0x3pxy5b9br',7,1,'01m83jc2qy1g954pwmz2nj22bh','owner','done',0,0,'01m83jc2qy9mr2zeb80eeea9cg',15,1,1.79541626342772793773e+09,1.79541626343850779529e+09,'owner',1.79541626342201042173e+09);
INSERT INTO "turn" VALUES('01m83jc2s3b729km2d2c48vwyt','01m83jc1m1a8qjg0x3pxy5b9br',8,1,'01m83jc2ry1egp67hay2np1m9h','owner','done',0,0,'01m83jc2ry17heagwx26a7b3x7',17,1,1.795416263459489584e+09,1.79541626346888661389e+09,'owner',1.79541626345440125467e+09);
INSERT INTO "turn" VALUES('01m83jc2t15kjjyw16tcbvcrgf','01m83jc1m1a8qjg0x3pxy5b9br',9,1,'01m83jc2sxyjd8mxytp91jxfj1','owner','done',0,0,'01m83jc2sx8tqdtq08s95jw81h',19,1,1.79541626348901677129e+09,1.79541626349907970433e+09,'owner',1.7954162634851737022e+09);
INSERT INTO "turn" VALUES('01m83jc2x0v06d2f56na774p3g','01m83jc2ww8q7bm3g72naxbp3q',1,1,'01m83jc2wwnbygzm1d4yymva4p','owner','done',0,0,'01m83jc2ww1rcpvzt04czk1pvk',1,1,1.79541626358499693868e+09,1.79541626360066151621e+09,'owner',1.79541626358015584947e+09);
INSERT INTO "turn" VALUES('01m83jc2y6rsv8xegee55hpyzy','01m83jc2ww8q7bm3g72naxbp3q',2,1,'01m83jc2xz3fz5h8ndnntmvvzp','owner','done',0,0,'01m83jc2xzvn0zy7ry26k0g4fy',3,1,1.79541626362210130687e+09,1.79541626363782382013e+09,'owner',1.79541626361544275286e+09);
INSERT INTO "turn" VALUES('01m83jc2zwb51jcak812gh2bc2','01m83jc2ww8q7bm3g72naxbp3q',3,1,'01m83jc2zs7w5d4sv8zpergms4','owner','done',0,0,'01m83jc2zskpyv5yyz10gmfzmq',5,1,1.79541626367694282526e+09,1.79541626368720722201e+09,'owner',1.79541626367300605768e+09);
INSERT INTO "turn" VALUES('01m83jc32sf4hfz3h7tytnj7ej','01m83jc32n57g2d1hkxmx3wm0z',1,1,'01m83jc32nk2hwmgdjh435axh5','owner','done',0,0,'01m83jc32n8ntsm1kb1bpr7a6j',1,1,1.79541626376961350446e+09,1.79541626379004836083e+09,'owner',1.79541626376569509503e+09);
INSERT INTO "turn" VALUES('01m83jc343t36wfhqrsyxx1pv0','01m83jc32n57g2d1hkxmx3wm0z',2,1,'01m83jc33y0cz8mrgcmm5sj863','owner','done',0,0,'01m83jc33ytm4vvbeaw0wvm1bm',3,1,1.79541626381167650225e+09,1.7954162638205368519e+09,'owner',1.79541626380652904505e+09);
INSERT INTO "turn" VALUES('01m83jc3644nnck6ekqt7m4gq1','01m83jc32n57g2d1hkxmx3wm0z',3,2,'01m83jc35w3bbecxzvjqf5vdm9','owner','done',0,0,'01m83jc35wg4k84syhn87gn7we',5,1,1.79541626387619495395e+09,1.79541626389963364599e+09,'owner',1.79541626386885690689e+09);
INSERT INTO "turn" VALUES('01m83jc37h7ejde9vx6eyebdvz','01m83jc3756992m1b5grky8wcm',1,1,'01m83jc3754a9836r7qwfy17x4','owner','done',0,0,'01m83jc375ycm5zz0v34hgp95s',1,1,1.79541626392180585867e+09,1.79541626394536733626e+09,'owner',1.79541626390967249868e+09);
INSERT INTO "turn" VALUES('01m83jc39xk334t0qh1qpt5kbs','01m83jc3756992m1b5grky8wcm',2,2,'01m83jc39sjt5kegxm6qs7asza','owner','done',0,0,'01m83jc39s0vk7s8z8sywdna23',3,1,1.79541626399725127221e+09,1.79541626401564741134e+09,'owner',1.7954162639933474064e+09);
INSERT INTO "turn" VALUES('01m83jc3b5dsn6dd4y3kg6j2r0','01m83jc3avrwa4388cg3mtr4ax',1,1,'01m83jc3avyw7m6bg2tw08fs0t','5005','done',0,0,'01m83jc3avy6a6k8fz8nqv5pgh',1,1,1.79541626403792643545e+09,1.79541626405906200409e+09,'owner',1.79541626402791142458e+09);
INSERT INTO "turn" VALUES('01m83jc3d3g0bxec77m62380sd','01m83jc3avrwa4388cg3mtr4ax',2,1,'01m83jc3cw5ea8zene6e4t38kd','5005','done',0,0,'01m83jc3cw83426bcg8bm3810n',3,1,1.79541626409939599037e+09,1.79541626410913181307e+09,'owner',1.79541626409203577043e+09);
INSERT INTO "turn" VALUES('01m83jc3k0pncbd143j6w67f36','01m83jc3f00bt294x1fv7n2zcb',1,1,'01m83jc3f09h25d0889g6y5nqt','owner','done',0,0,'01m83jc3f0z22kpa32f3202fg5',1,1,1.79541626428888654708e+09,1.79541626430673503878e+09,'owner',1.79541626416099190711e+09);
INSERT INTO "turn" VALUES('01m83jc3z3gr7c4j5qx0qvtbp6','01m83jc3wxnrdcdar21r6cyqb7',1,1,'01m83jc3wx5b69ytkagzw52gqv','owner','done',0,0,'01m83jc3wxp3gx6ra4bz7vyfqv',1,2,1.79541626467534756661e+09,1.79541626477904510492e+09,'owner',1.79541626460524868964e+09);
INSERT INTO "turn" VALUES('01m83jc455581ajg5htpn11hkd','01m83jc3wxnrdcdar21r6cyqb7',2,1,'01m83jc44p3h975bhqtbtp05z8','owner','done',0,0,'01m83jc44p3dt250c1f2jasyrw',3,2,1795416264.86924,1.79541626487962603566e+09,'owner',1.79541626485448861118e+09);
INSERT INTO "turn" VALUES('01m83jc48fvzrxr3ww1x7mtcxp','01m83jc487ck5asr1j5ewz5pqe',1,1,'01m83jc487h7xqkdhe0xmk6k8s','owner','waiting',1,0,'01m83jc48706ye2sgmdkzshcfr',1,2,1.79541626497585296625e+09,0.0,'owner',1.7954162649677286148e+09);
INSERT INTO "turn" VALUES('01m83jc4chazgrgd72wxfjqmrn','01m83jc3wxnrdcdar21r6cyqb7',3,1,'01m83jc4cc80rf5y58g09e0axv','owner','done',0,0,'01m83jc4ccf9ehawmn4d68sk2s',5,2,1.79541626510543298727e+09,1.79541626516553521155e+09,'owner',1.79541626510021185871e+09);
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
INSERT INTO "usage" VALUES('01m83jc2cyj7hxa3tw1e8k8m25','01m83jc1m1a8qjg0x3pxy5b9br','01m83jc1np6dejw1nqnfebjjh1','gpt-6.1-terra','turn',2282,3,0,0,0,1.79541626307063245768e+09,'owner');
INSERT INTO "usage" VALUES('01m83jc2dw47qbbfe1ewfmvzft','01m83jc1m1a8qjg0x3pxy5b9br','','gpt-6-luna','extract',446,49,0,0,0,1.7954162631004190445e+09,'owner');
INSERT INTO "usage" VALUES('01m83jc2em0ze762w54p0pjbx4','01m83jc1m1a8qjg0x3pxy5b9br','01m83jc2e5f19rrtq22zfyt45s','gpt-6.1-terra','turn',2317,3,0,0,0,1.79541626312427258496e+09,'owner');
INSERT INTO "usage" VALUES('01m83jc2fk83e129046sempdaz','01m83jc1m1a8qjg0x3pxy5b9br','','gpt-6-luna','extract',468,49,0,0,0,1.79541626315533399578e+09,'owner');
INSERT INTO "usage" VALUES('01m83jc2g1v71qb2xc5dbrwhd8','01m83jc1m1a8qjg0x3pxy5b9br','01m83jc2fccxt0vk6q56pxq8y8','gpt-6.1-terra','turn',2378,3,0,0,0,1.79541626316997766496e+09,'owner');
INSERT INTO "usage" VALUES('01m83jc2gxh5dxt2pqr60wrthn','01m83jc1m1a8qjg0x3pxy5b9br','','gpt-6-luna','extract',480,49,0,0,0,1.79541626319788646696e+09,'owner');
INSERT INTO "usage" VALUES('01m83jc2hegye441g2hpk6menk','01m83jc1m1a8qjg0x3pxy5b9br','01m83jc2ggeg2qtn6ypgnaj0he','gpt-6.1-terra','turn',2424,3,0,0,0,1.79541626321424484255e+09,'owner');
INSERT INTO "usage" VALUES('01m83jc2hztgxhdprwazh6z14w','01m83jc1m1a8qjg0x3pxy5b9br','','gpt-6-luna','extract',491,49,0,0,0,1.79541626323170447352e+09,'owner');
INSERT INTO "usage" VALUES('01m83jc2k00qmb52bkw75rf8p4','01m83jc1m1a8qjg0x3pxy5b9br','01m83jc2jkd33tk8ax071h075t','gpt-6.1-terra','turn',2481,3,0,0,0,1.7954162632645277977e+09,'owner');
INSERT INTO "usage" VALUES('01m83jc2ka8pzpec783yte11sm','01m83jc1m1a8qjg0x3pxy5b9br','','gpt-6-luna','extract',503,49,0,0,0,1.79541626327482318871e+09,'owner');
INSERT INTO "usage" VALUES('01m83jc2m756ydrwhdrjwmrrp4','01m83jc1m1a8qjg0x3pxy5b9br','','gpt-6-luna','fold',456,71,0,0,0,1.79541626330358433725e+09,'owner');
INSERT INTO "usage" VALUES('01m83jc2p4rzjrytjb7vsase5p','01m83jc1m1a8qjg0x3pxy5b9br','01m83jc2nhpdxym0txv5rreb98','gpt-6.1-terra','turn',2602,19,0,0,0,1.79541626336415076252e+09,'owner');
INSERT INTO "usage" VALUES('01m83jc2pxmqmf8zstvp3nnrjc','01m83jc1m1a8qjg0x3pxy5b9br','01m83jc2nhpdxym0txv5rreb98','gpt-6.1-terra','turn',2686,3,0,0,0,1.79541626338989591601e+09,'owner');
INSERT INTO "usage" VALUES('01m83jc2qe3awmcy6dkqkggfyp','01m83jc1m1a8qjg0x3pxy5b9br','','gpt-6-luna','extract',521,1,0,0,0,1.79541626340625572197e+09,'owner');
INSERT INTO "usage" VALUES('01m83jc2rezmvc2xty00xxfntd','01m83jc1m1a8qjg0x3pxy5b9br','01m83jc2r3zzj1z7n9weqzpd00','gpt-6.1-terra','turn',2713,3,0,0,0,1.79541626343850779529e+09,'owner');
INSERT INTO "usage" VALUES('01m83jc2rnsjv9xjz5r40dh28c','01m83jc1m1a8qjg0x3pxy5b9br','','gpt-6-luna','extract',507,1,0,0,0,1.79541626344575929643e+09,'owner');
INSERT INTO "usage" VALUES('01m83jc2sc5d0vqepvanzv60vm','01m83jc1m1a8qjg0x3pxy5b9br','01m83jc2s3b729km2d2c48vwyt','gpt-6.1-terra','turn',2741,3,0,0,0,1.79541626346888661389e+09,'owner');
INSERT INTO "usage" VALUES('01m83jc2smkh46d7f4cpd91zjn','01m83jc1m1a8qjg0x3pxy5b9br','','gpt-6-luna','extract',507,1,0,0,0,1.79541626347678089144e+09,'owner');
INSERT INTO "usage" VALUES('01m83jc2tbdstf7ch8qe0pzk3v','01m83jc1m1a8qjg0x3pxy5b9br','01m83jc2t15kjjyw16tcbvcrgf','gpt-6.1-terra','turn',2768,3,0,0,0,1.79541626349907970433e+09,'owner');
INSERT INTO "usage" VALUES('01m83jc2tjjk4gxthj5csm37bs','01m83jc1m1a8qjg0x3pxy5b9br','','gpt-6-luna','extract',507,1,0,0,0,1.79541626350666284556e+09,'owner');
INSERT INTO "usage" VALUES('01m83jc2v8mp8ftd99kh683828','01m83jc1m1a8qjg0x3pxy5b9br','','gpt-6-luna','fold',529,102,0,0,0,1.79541626352872323987e+09,'owner');
INSERT INTO "usage" VALUES('01m83jc2xg01etbeggk81nfamj','01m83jc2ww8q7bm3g72naxbp3q','01m83jc2x0v06d2f56na774p3g','gpt-6.1-terra','turn',2684,3,0,0,0,1.79541626360066151621e+09,'owner');
INSERT INTO "usage" VALUES('01m83jc2xs3s7qvdyhe24mnknc','01m83jc2ww8q7bm3g72naxbp3q','','gpt-6-luna','extract',461,1,0,0,0,1.79541626360964131359e+09,'owner');
INSERT INTO "usage" VALUES('01m83jc2yn7vdwc6z6ne6fhn19','01m83jc2ww8q7bm3g72naxbp3q','01m83jc2y6rsv8xegee55hpyzy','gpt-6.1-terra','turn',2711,3,0,0,0,1.79541626363782382013e+09,'owner');
INSERT INTO "usage" VALUES('01m83jc2z5kd3pyxsr3peanf1a','01m83jc2ww8q7bm3g72naxbp3q','','gpt-6-luna','extract',461,1,0,0,0,1.79541626365330505375e+09,'owner');
INSERT INTO "usage" VALUES('01m83jc3079c7wr4smmyb1jn97','01m83jc2ww8q7bm3g72naxbp3q','01m83jc2zwb51jcak812gh2bc2','gpt-6.1-terra','turn',2739,3,0,0,0,1.79541626368720722201e+09,'owner');
INSERT INTO "usage" VALUES('01m83jc30hc1n5yxn13dxt5yjk','01m83jc2ww8q7bm3g72naxbp3q','','gpt-6-luna','extract',461,1,0,0,0,1.79541626369795823091e+09,'owner');
INSERT INTO "usage" VALUES('01m83jc312e3wy8ke8een56f1x','01m83jc2ww8q7bm3g72naxbp3q','','gpt-6-luna','fold',419,25,0,0,0,1.79541626371481275554e+09,'owner');
INSERT INTO "usage" VALUES('01m83jc33ek764ng6rb2zn4ymj','01m83jc32n57g2d1hkxmx3wm0z','01m83jc32sf4hfz3h7tytnj7ej','gpt-6.1-terra','turn',2695,3,0,0,0,1.79541626379004836083e+09,'owner');
INSERT INTO "usage" VALUES('01m83jc33qh6g39zkfx61jfm6c','01m83jc32n57g2d1hkxmx3wm0z','','gpt-6-luna','extract',461,1,0,0,0,1.79541626379911684985e+09,'owner');
INSERT INTO "usage" VALUES('01m83jc34c7pdxsws4z4mh7bjt','01m83jc32n57g2d1hkxmx3wm0z','01m83jc343t36wfhqrsyxx1pv0','gpt-6.1-terra','turn',2722,3,0,0,0,1.7954162638205368519e+09,'owner');
INSERT INTO "usage" VALUES('01m83jc34krptem3cy3c3hjxem','01m83jc32n57g2d1hkxmx3wm0z','','gpt-6-luna','extract',461,1,0,0,0,1.79541626382729125029e+09,'owner');
INSERT INTO "usage" VALUES('01m83jc36vb6a88ej3zb1ey9sk','01m83jc32n57g2d1hkxmx3wm0z','01m83jc3644nnck6ekqt7m4gq1','gpt-6.1-terra','turn',2695,3,0,0,0,1.79541626389963364599e+09,'owner');
INSERT INTO "usage" VALUES('01m83jc37e1tx7vxej47r2cpd7','01m83jc32n57g2d1hkxmx3wm0z','','gpt-6-luna','extract',461,1,0,0,0,1.79541626391844868658e+09,'owner');
INSERT INTO "usage" VALUES('01m83jc389tqvf1ky50bem9hzq','01m83jc3756992m1b5grky8wcm','01m83jc37h7ejde9vx6eyebdvz','gpt-6.1-terra','turn',2695,3,0,0,0,1.79541626394536733626e+09,'owner');
INSERT INTO "usage" VALUES('01m83jc38pzez7yr6nr99rqbhj','01m83jc3756992m1b5grky8wcm','','gpt-6-luna','extract',461,1,0,0,0,1.79541626395820283889e+09,'owner');
INSERT INTO "usage" VALUES('01m83jc394bxj95j3t3gemb4bc','01m83jc3756992m1b5grky8wcm','','gpt-6-luna','fold',419,25,0,0,0,1.79541626397210335734e+09,'owner');
INSERT INTO "usage" VALUES('01m83jc3afwwv6h92z2fvk0vq4','01m83jc3756992m1b5grky8wcm','01m83jc39xk334t0qh1qpt5kbs','gpt-6.1-terra','turn',2695,3,0,0,0,1.79541626401564741134e+09,'owner');
INSERT INTO "usage" VALUES('01m83jc3ays67qx04xbpq3wz5a','01m83jc3756992m1b5grky8wcm','','gpt-6-luna','extract',461,1,0,0,0,1.79541626403047466275e+09,'owner');
INSERT INTO "usage" VALUES('01m83jc3bvzcf371tj0qg2x6d8','01m83jc3avrwa4388cg3mtr4ax','01m83jc3b5dsn6dd4y3kg6j2r0','gpt-6.1-terra','turn',2712,3,0,0,0,1.79541626405906200409e+09,'owner');
INSERT INTO "usage" VALUES('01m83jc3c7xjxy9455yb27q84c','01m83jc3avrwa4388cg3mtr4ax','','gpt-6-luna','extract',461,1,0,0,0,1.79541626407110905651e+09,'owner');
INSERT INTO "usage" VALUES('01m83jc3dd67yddfwftj5p3dh6','01m83jc3avrwa4388cg3mtr4ax','01m83jc3d3g0bxec77m62380sd','gpt-6.1-terra','turn',2740,3,0,0,0,1.79541626410913181307e+09,'owner');
INSERT INTO "usage" VALUES('01m83jc3dvhg48skta49mcr8ze','01m83jc3avrwa4388cg3mtr4ax','','gpt-6-luna','extract',461,1,0,0,0,1.79541626412320446965e+09,'owner');
INSERT INTO "usage" VALUES('01m83jc3kj32hnb7nhr9ag90c9','01m83jc3f00bt294x1fv7n2zcb','01m83jc3k0pncbd143j6w67f36','gpt-6.1-terra','turn',2767,3,0,0,0,1.79541626430673503878e+09,'owner');
INSERT INTO "usage" VALUES('01m83jc3kwm1p0f87fvb059sfk','01m83jc3f00bt294x1fv7n2zcb','','gpt-6-luna','extract',461,1,0,0,0,1.79541626431666660312e+09,'owner');
INSERT INTO "usage" VALUES('01m83jc42b3dhtchp2v4hhppt4','01m83jc3wxnrdcdar21r6cyqb7','01m83jc3z3gr7c4j5qx0qvtbp6','gpt-6.1-terra','turn',2712,3,0,0,0,1.79541626477904510492e+09,'owner');
INSERT INTO "usage" VALUES('01m83jc44q3r50yr0z4y17e6e0','01m83jc3wxnrdcdar21r6cyqb7','','gpt-6-luna','extract',461,1,0,0,0,1.79541626485540509227e+09,'owner');
INSERT INTO "usage" VALUES('01m83jc45fm323r5sqn1x6axkj','01m83jc3wxnrdcdar21r6cyqb7','01m83jc455581ajg5htpn11hkd','gpt-6.1-terra','turn',2740,3,0,0,0,1.79541626487962603566e+09,'owner');
INSERT INTO "usage" VALUES('01m83jc45w1825f955a737dx7n','01m83jc3wxnrdcdar21r6cyqb7','','gpt-6-luna','extract',461,1,0,0,0,1.79541626489213967327e+09,'owner');
INSERT INTO "usage" VALUES('01m83jc47cn9gc688zq3z42hyt','01m83jc2ww8q7bm3g72naxbp3q','','gpt-6-luna','fold',419,25,0,0,0,1.79541626494058275224e+09,'owner');
INSERT INTO "usage" VALUES('01m83jc48x8kpbqt119zddek17','01m83jc487ck5asr1j5ewz5pqe','01m83jc48fvzrxr3ww1x7mtcxp','gpt-6.1-terra','turn',2726,14,0,0,0,1.795416264989225626e+09,'owner');
INSERT INTO "usage" VALUES('01m83jc4edgwrg82x47w154z3c','01m83jc3wxnrdcdar21r6cyqb7','01m83jc4chazgrgd72wxfjqmrn','gpt-6.1-terra','turn',2767,3,0,0,0,1.79541626516553521155e+09,'owner');
INSERT INTO "usage" VALUES('01m83jc4emts1jqf9rzabga2dh','01m83jc3wxnrdcdar21r6cyqb7','','gpt-6-luna','extract',461,1,0,0,0,1.79541626517298626899e+09,'owner');
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
INSERT INTO "approval" VALUES('a1','telegram','100','5005','01m83jc1m1a8qjg0x3pxy5b9br','','c1','file.write','write_file','{"path":"n.md"}','0','0','0','used',1795000000.0,1795000000.0);
INSERT INTO "channel_note" VALUES('wechat','cursor','eyJhIjoxfQ==');
INSERT INTO "dream" VALUES('d1','','2026-11-20','done','','Merged nothing.','',1795000000.0);
INSERT INTO "forgetting" VALUES('f1','','01m83jc1m1a8qjg0x3pxy5b9br','owner','done','','{}','Removed from 2 places.',1795000000.0,1795000000.0);
INSERT INTO "limit_told" VALUES('telegram:100:5006','01m83jc1m1a8qjg0x3pxy5b9br','messages_per_day',1795000000.0);
INSERT INTO "link_code" VALUES('l1','0','agreed','telegram','100','5006','','01m83jc1m1a8qjg0x3pxy5b9br','telegram','100','5006','Ada','p-joined','01m83jc1m1a8qjg0x3pxy5b9br',1795000000.0,1795000000.0);
INSERT INTO "person_removal" VALUES('l0','["p-gone"]','["telegram:5007"]','[]','{}',1795000000.0);
INSERT INTO "reduction" VALUES('01m83jc1m1p3wgkk614e6fnv15',0,'snip','01m83jc1m1a8qjg0x3pxy5b9br','re … g0',3,'size',1);
COMMIT;
