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
INSERT INTO "access_request" VALUES('01m82db79a8veswvgj02r2cbs6','telegram','100','user','999','Ада','01m82db796vr6tw92xskgwvc0x','en','abd29997f770f82a4546e68ac36657d578d1c4dff9f1887873b8c9be83eb09de','pending',1.79538103799407696729e+09,1.79537743799433803558e+09);
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
INSERT INTO "alembic_version" VALUES('r0008');
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
INSERT INTO "approval" VALUES('a1','telegram','100','5005','01m82db46er4rk3q81e5cjhsv3','','c1','file.write','write_file','{"path":"n.md"}','0','0','0','used',1795000000.0,1795000000.0);
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
INSERT INTO "audit" VALUES(1,1.79537743621373486512e+09,'','memory.extract','','','allowed','+1 -0','','d8a16f8d0df79a14fefb4c37425fdda6fbbc3c326ad6ef4818ec3618df19012e');
INSERT INTO "audit" VALUES(2,1.79537743631705236434e+09,'','memory.extract','','','allowed','+1 -0','d8a16f8d0df79a14fefb4c37425fdda6fbbc3c326ad6ef4818ec3618df19012e','7184f6e9ec5c2b2c327eb2e54c2612e19eb36761e1dd916cd60fd04090f470aa');
INSERT INTO "audit" VALUES(3,1.79537743634812188152e+09,'','memory.extract','','','allowed','+1 -0','7184f6e9ec5c2b2c327eb2e54c2612e19eb36761e1dd916cd60fd04090f470aa','da3b1018adb9c5a42898a2cfcd5a81ef12ddfc6c12ad2897c07a464ce9935ca2');
INSERT INTO "audit" VALUES(4,1.79537743649465751649e+09,'','memory.extract','','','allowed','+1 -0','da3b1018adb9c5a42898a2cfcd5a81ef12ddfc6c12ad2897c07a464ce9935ca2','b1f2e0843e2884a304adb4cbde07d8380b80d9b00d2219171460c3dd169808bf');
INSERT INTO "audit" VALUES(5,1.79537743656861782074e+09,'','memory.extract','','','allowed','+1 -0','b1f2e0843e2884a304adb4cbde07d8380b80d9b00d2219171460c3dd169808bf','8d2e60d0ece47ba99df34fad1cc2e6abeb409522f0f2db99b9086732a20877ba');
INSERT INTO "audit" VALUES(6,1.79537743671326017382e+09,'owner','tool write_file','01m82db46er4rk3q81e5cjhsv3','a65c0cbb3d6f8a3ca8deb88a31296e75bb9021ac7f69eeafed30aead39d1d60d','allowed','started','8d2e60d0ece47ba99df34fad1cc2e6abeb409522f0f2db99b9086732a20877ba','469fdaeb840b70fd0720db261e32b2a6788dede95b02311f50bdd9b85a8754e8');
INSERT INTO "audit" VALUES(7,1.79537743707569360735e+09,'','memory.remember','','','allowed','+1 -0','469fdaeb840b70fd0720db261e32b2a6788dede95b02311f50bdd9b85a8754e8','801d4735d17b0f577dd04c9770e11278f3cf2b84183d1b99c77d215720c4ae32');
INSERT INTO "audit" VALUES(8,1.7953774375637352467e+09,'web/console/owner','clear','01m82db6qh69t7d7vak4xsrs15','','allowed','epoch 2','801d4735d17b0f577dd04c9770e11278f3cf2b84183d1b99c77d215720c4ae32','1c7deacae78a069c42c3f1c3209aae7e2fad6da49225ca6a9c73fa563ef368f6');
INSERT INTO "audit" VALUES(9,1.79537743772191166874e+09,'web/console/owner','clear','01m82db6y9dzkvsrdp2bn1tyjn','','allowed','epoch 2','1c7deacae78a069c42c3f1c3209aae7e2fad6da49225ca6a9c73fa563ef368f6','ac33ff40c6cc4ae98be53978af4d8862328b4e086d86a07018cf0793a78cd96b');
INSERT INTO "audit" VALUES(10,1.79537743799433803558e+09,'telegram/100/999','user asks','telegram/100/999','','allowed','pending','ac33ff40c6cc4ae98be53978af4d8862328b4e086d86a07018cf0793a78cd96b','45cfd3d6446e746a01a62858ab358e094b64941619a991d1918c7930b451d345');
INSERT INTO "audit" VALUES(11,1.79537743910082173343e+09,'owner','tool write_file','01m82db8abg9s9z6s9j9aq1byj','f5e908acc3cb7f989e16b43cb7a206020827475d8f8b35885e2a6be8b0521a47','allowed','started','45cfd3d6446e746a01a62858ab358e094b64941619a991d1918c7930b451d345','733b5dd4a46a274fae1a529319a5854882d1c474cb519d8d299ac0fb2ffe0fd5');
CREATE TABLE audit_head (
	id INTEGER NOT NULL, 
	seq INTEGER NOT NULL, 
	hash TEXT NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "audit_head" VALUES(1,11,'733b5dd4a46a274fae1a529319a5854882d1c474cb519d8d299ac0fb2ffe0fd5');
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
INSERT INTO "clearing" VALUES('01m82db6qh69t7d7vak4xsrs15',2,1,'',0,1.7953774375637352467e+09);
INSERT INTO "clearing" VALUES('01m82db6y9dzkvsrdp2bn1tyjn',2,1,'',0,1.79537743772191166874e+09);
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
INSERT INTO "conversation" VALUES('01m82db46er4rk3q81e5cjhsv3','web','console','garden','','dm','',1,21,10,25,1,'01m82db69tmbn45qv94r1bh5es','','',3,'ea20ea239f437c382bf68dc84828721e9c531c5df3a650114017428530741bd1','fold',1,'«g0» the roses want water; I prefer tea. 花园要浇水',1.79537743705169677735e+09,1.79537743707805943485e+09);
INSERT INTO "conversation" VALUES('01m82db6dca8b049540e3vhvkr','web','console','work','','dm','',1,7,4,12,1,'','','',2,'ea20ea239f437c382bf68dc84828721e9c531c5df3a650114017428530741bd1','fold undone',1,'«w0» what do you make of it?',1.79537743897607660298e+09,1.79537743897607660298e+09);
INSERT INTO "conversation" VALUES('01m82db6qh69t7d7vak4xsrs15','web','console','old','','dm','',2,7,4,9,5,'','','',1,'ea20ea239f437c382bf68dc84828721e9c531c5df3a650114017428530741bd1','clear',1,'«o0» what do you make of it?',1.79537743759110379219e+09,1.79537743762147307393e+09);
INSERT INTO "conversation" VALUES('01m82db6y9dzkvsrdp2bn1tyjn','web','console','new','','dm','',2,5,3,7,3,'','','',1,'ea20ea239f437c382bf68dc84828721e9c531c5df3a650114017428530741bd1','clear',1,'«n0» what do you make of it?',1.79537743776134824753e+09,1.79537743781420111653e+09);
INSERT INTO "conversation" VALUES('01m82db74qd16tnct9pk44tbas','telegram','100','5005','','dm','',1,5,3,6,1,'','','',0,'ea20ea239f437c382bf68dc84828721e9c531c5df3a650114017428530741bd1','SOUL.md, tools or model',1,'«t0» what do you make of it?',1.79537743793322443963e+09,1.79537743799433803558e+09);
INSERT INTO "conversation" VALUES('01m82db796vr6tw92xskgwvc0x','telegram','100','999','','dm','telegram-999',1,1,1,3,1,'','','',0,'','',0,'',0.0,1.79537743799433803558e+09);
INSERT INTO "conversation" VALUES('01m82db7b4dbfqfqdp88sbg8dd','web','console','picture','','dm','',1,3,2,3,1,'','','',0,'ea20ea239f437c382bf68dc84828721e9c531c5df3a650114017428530741bd1','SOUL.md, tools or model',1,'«p1» what do you make of it? 📎 dot.png',1.79537743805289435388e+09,1.79537743820424747472e+09);
INSERT INTO "conversation" VALUES('01m82db7sgb277armq2ezdmm03','web','console','late','','dm','',1,7,4,7,1,'','','',0,'ea20ea239f437c382bf68dc84828721e9c531c5df3a650114017428530741bd1','SOUL.md, tools or model',1,'«l0» what do you make of it?',1.79537743913963508601e+09,1.79537743916967296601e+09);
INSERT INTO "conversation" VALUES('01m82db8abg9s9z6s9j9aq1byj','web','console','tool','','dm','',1,3,2,3,1,'','','',0,'ea20ea239f437c382bf68dc84828721e9c531c5df3a650114017428530741bd1','SOUL.md, tools or model',1,'«x1» use write_file {"path": "notes/x.md", "content": "x"}',1.795377439128305912e+09,1.795377439128305912e+09);
CREATE TABLE coverage (
	message_id TEXT NOT NULL, 
	class TEXT NOT NULL, 
	fold_id TEXT NOT NULL, 
	PRIMARY KEY (message_id)
);
INSERT INTO "coverage" VALUES('01m82db46ee0ty39zsrg3gznvy','folded','01m82db5vzygdgfwf5gntfyb41');
INSERT INTO "coverage" VALUES('01m82db5e00fap41narth7f886','folded','01m82db5vzygdgfwf5gntfyb41');
INSERT INTO "coverage" VALUES('01m82db5f8zjy3gdf5sw3byyha','folded','01m82db5vzygdgfwf5gntfyb41');
INSERT INTO "coverage" VALUES('01m82db5hanedn1fsy07tvxjfc','folded','01m82db5vzygdgfwf5gntfyb41');
INSERT INTO "coverage" VALUES('01m82db5j2bb0fa6he099pqegp','folded','01m82db69tmbn45qv94r1bh5es');
INSERT INTO "coverage" VALUES('01m82db5kzqady2ev1tptpm85s','folded','01m82db69tmbn45qv94r1bh5es');
INSERT INTO "coverage" VALUES('01m82db5nzjhghwzetzk1801y8','folded','01m82db69tmbn45qv94r1bh5es');
INSERT INTO "coverage" VALUES('01m82db5qmpydyp7k04fdescy0','folded','01m82db69tmbn45qv94r1bh5es');
INSERT INTO "coverage" VALUES('01m82db5rwjp3wqtbdte91jkza','folded','01m82db69tmbn45qv94r1bh5es');
INSERT INTO "coverage" VALUES('01m82db5szr8dwnsjhegzp6h18','folded','01m82db69tmbn45qv94r1bh5es');
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
INSERT INTO "extraction" VALUES('01m82db49qsqt0sd396hshwhfe','','01m82db46er4rk3q81e5cjhsv3',1,'done',2,'','kept 1',1.79537743609615254398e+09);
INSERT INTO "extraction" VALUES('01m82db5fykmtt0sg98xbqqvg6','','01m82db46er4rk3q81e5cjhsv3',2,'done',2,'','kept 1',1.79537743620219898219e+09);
INSERT INTO "extraction" VALUES('01m82db5jmm940a0m9h45rq5rt','','01m82db46er4rk3q81e5cjhsv3',3,'done',2,'','kept 1',1.79537743628714323044e+09);
INSERT INTO "extraction" VALUES('01m82db5pg273rf5nbw26fes3k','','01m82db46er4rk3q81e5cjhsv3',4,'done',2,'','kept 1',1.795377436404790163e+09);
INSERT INTO "extraction" VALUES('01m82db5s534pzwtdcx76rfypa','','01m82db46er4rk3q81e5cjhsv3',5,'done',2,'','kept 1',1.79537743647947502139e+09);
INSERT INTO "extraction" VALUES('01m82db5zk40v8rnyp1n2xrqpf','','01m82db46er4rk3q81e5cjhsv3',6,'done',2,'','kept 0',1.79537743674238395689e+09);
INSERT INTO "extraction" VALUES('01m82db63h9p53wwj1hx4r2brx','','01m82db46er4rk3q81e5cjhsv3',7,'done',2,'','kept 0',1.79537743681084895129e+09);
INSERT INTO "extraction" VALUES('01m82db6630nn5j1kdgeg6523c','','01m82db46er4rk3q81e5cjhsv3',8,'done',2,'','kept 0',1.79537743688335108753e+09);
INSERT INTO "extraction" VALUES('01m82db67k0esa0vk6gbnm9r9x','','01m82db46er4rk3q81e5cjhsv3',9,'done',2,'','kept 0',1.79537743694302821158e+09);
INSERT INTO "extraction" VALUES('01m82db6dsv43r61aaxqqhgv07','','01m82db6dca8b049540e3vhvkr',1,'done',2,'','kept 0',1.79537743715321636197e+09);
INSERT INTO "extraction" VALUES('01m82db6ghk0t2zfr3pmn67ctf','','01m82db6dca8b049540e3vhvkr',2,'done',2,'','kept 0',1.79537743723704719539e+09);
INSERT INTO "extraction" VALUES('01m82db6jrcs47mqfkkz422xm7','','01m82db6dca8b049540e3vhvkr',3,'done',2,'','kept 0',1.79537743729295086857e+09);
INSERT INTO "extraction" VALUES('01m82db6qpdrk76m1q80rws38a','','01m82db6qh69t7d7vak4xsrs15',1,'done',2,'','kept 0',1.79537743746612381929e+09);
INSERT INTO "extraction" VALUES('01m82db6sysnwpfgw7bh1xrm8f','','01m82db6qh69t7d7vak4xsrs15',2,'done',2,'','kept 0',1.79537743753116583829e+09);
INSERT INTO "extraction" VALUES('01m82db6ww4nty8hrn7zkq7hsd','','01m82db6qh69t7d7vak4xsrs15',3,'done',2,'','kept 0',1.79537743762147307393e+09);
INSERT INTO "extraction" VALUES('01m82db6yksp6anqz654wbbpwe','','01m82db6y9dzkvsrdp2bn1tyjn',1,'done',2,'','kept 0',1.79537743769094753267e+09);
INSERT INTO "extraction" VALUES('01m82db72f2620fnz6meemvc2e','','01m82db6y9dzkvsrdp2bn1tyjn',2,'done',2,'','kept 0',1.79537743781420111653e+09);
INSERT INTO "extraction" VALUES('01m82db754gt2d6sqhzmby3g0w','','01m82db74qd16tnct9pk44tbas',1,'done',2,'','kept 0',1.79537743790300083164e+09);
INSERT INTO "extraction" VALUES('01m82db77q939pfhqm7zbkakf2','','01m82db74qd16tnct9pk44tbas',2,'done',2,'','kept 0',1.79537743796228384967e+09);
INSERT INTO "extraction" VALUES('01m82db7f7y1n3q2ved5aqj7q9','','01m82db7b4dbfqfqdp88sbg8dd',1,'done',2,'','kept 0',1.79537743820424747472e+09);
INSERT INTO "extraction" VALUES('01m82db7wzym3ya66n6cqwawt7','','01m82db7sgb277armq2ezdmm03',1,'done',2,'','kept 0',1.79537743881367158884e+09);
INSERT INTO "extraction" VALUES('01m82db862rhxqt4vjwe6n2aqb','','01m82db7sgb277armq2ezdmm03',2,'done',2,'','kept 0',1.79537743894440746314e+09);
INSERT INTO "extraction" VALUES('01m82db8dbdrvkpxjaavecw2yp','','01m82db7sgb277armq2ezdmm03',3,'done',2,'','kept 0',1.79537743916967296601e+09);
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
INSERT INTO "fold" VALUES('01m82db5vzygdgfwf5gntfyb41','01m82db46er4rk3q81e5cjhsv3','','web',1,'',1,4,1,2,2,'folded','model','balanced','/context fold','- «g0» the roses want water; I prefer tea. 花园要浇水
- «g1» the roses want water; I prefer tea. 花园要浇水','- «g0» the roses want water; I prefer tea. 花园要浇水
- «g1» the roses want water; I prefer tea. 花园要浇水',41,'d0c8a828ca94382e5caaf706a84eefaf76a2093eca39d258b8c3fbf59d91d360','memory/2026-11-22.md',190,155,0,1.79537743654367303852e+09,1,'',11,0);
INSERT INTO "fold" VALUES('01m82db69tmbn45qv94r1bh5es','01m82db46er4rk3q81e5cjhsv3','','web',1,'01m82db5vzygdgfwf5gntfyb41',5,10,3,5,5,'folded','model','balanced','/context fold','- «g2» the roses want water; I prefer tea. 花园要浇水
- «g3» the roses want water; I prefer tea. 花园要浇水
- «g4» the roses want water; I prefer tea. 花园要浇水
- 19:57 Bot: re «g0»','- «g2» the roses want water; I prefer tea. 花园要浇水
- «g3» the roses want water; I prefer tea. 花园要浇水
- «g4» the roses want water; I prefer tea. 花园要浇水',62,'429e4b9e72418a9d97b3813e7abdf7dc6ba217a058963bec1cfcfcea15eddf0f','memory/2026-11-22.md',361,268,0,1.79537743698646736142e+09,1,'',21,0);
INSERT INTO "fold" VALUES('01m82db6mq8dbeemwmr31vfw09','01m82db6dca8b049540e3vhvkr','','web',1,'',1,2,1,1,1,'undone','model','balanced','/context fold','- «w0» what do you make of it?','- «w0» what do you make of it?',12,'c6fc079eb4d6eb23eab2a7bd176110b6e29177c708680774eb9e51d34901a639','memory/2026-11-22.md',90,72,0,1.79537743733575105671e+09,1,'',7,0);
INSERT INTO "fold" VALUES('01m82db70s8j57vb5y8cfghcaz','01m82db6y9dzkvsrdp2bn1tyjn','','web',1,'',1,2,1,1,1,'folded','model','balanced','/new','- «n0» what do you make of it?','',0,'38383ba998c690c28dea35496dfe2b42eca69ee9cf8f4b103b4a4fd30eb76c28','memory/2026-11-22.md',30,0,1,1.79537743772191166874e+09,1,'',3,0);
INSERT INTO "fold" VALUES('01m82db885kwzq0202jdsfgsmx','01m82db6dca8b049540e3vhvkr','','web',1,'',1,2,1,1,1,'checked','model','balanced','/context fold','- «w0» what do you make of it?','- «w0» what do you make of it?',12,'c6fc079eb4d6eb23eab2a7bd176110b6e29177c708680774eb9e51d34901a639','',90,60,0,1.79537743898175024986e+09,2,'',7,0);
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
INSERT INTO "forgetting" VALUES('f1','','01m82db46er4rk3q81e5cjhsv3','owner','done','','{}','Removed from 2 places.',1795000000.0,1795000000.0);
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
INSERT INTO "inbox" VALUES('01m82db46ee0ty39zsrg3gznvy','01m82db46er4rk3q81e5cjhsv3','web','console','garden9d1cf5fce5d047dc9f48c77ab30f3ae1','message','owner','{"text": "«g0» the roses want water; I prefer tea. 花园要浇水"}','','done','',0,'01m82db49qsqt0sd396hshwhfe','01m82db46edt4yw8pdmzb3y44w',1,0,0.0,1.79537743483007121089e+09,1,'');
INSERT INTO "inbox" VALUES('01m82db5f8zjy3gdf5sw3byyha','01m82db46er4rk3q81e5cjhsv3','web','console','garden1e97b17ae523433eb7799cc4dade8313','message','owner','{"text": "«g1» the roses want water; I prefer tea. 花园要浇水"}','','done','',0,'01m82db5fykmtt0sg98xbqqvg6','01m82db5f87sxb343t33x0h0gj',3,0,0.0,1.79537743613623833652e+09,1,'');
INSERT INTO "inbox" VALUES('01m82db5j2bb0fa6he099pqegp','01m82db46er4rk3q81e5cjhsv3','web','console','gardenca3e67773ca34980aa203a418055467b','message','owner','{"text": "«g2» the roses want water; I prefer tea. 花园要浇水"}','','done','',0,'01m82db5jmm940a0m9h45rq5rt','01m82db5j2b1cz5a16vz5fc7nd',5,0,0.0,1.79537743622659063335e+09,1,'');
INSERT INTO "inbox" VALUES('01m82db5nzjhghwzetzk1801y8','01m82db46er4rk3q81e5cjhsv3','web','console','garden3c36cc42d749450e8b9b60e0527dd9a5','message','owner','{"text": "«g3» the roses want water; I prefer tea. 花园要浇水"}','','done','',0,'01m82db5pg273rf5nbw26fes3k','01m82db5nzqh3bw5zhhhjyjrff',7,0,0.0,1.79537743635143661499e+09,1,'');
INSERT INTO "inbox" VALUES('01m82db5rwjp3wqtbdte91jkza','01m82db46er4rk3q81e5cjhsv3','web','console','garden0a35ac560a42491dbe002f61e42655b8','message','owner','{"text": "«g4» the roses want water; I prefer tea. 花园要浇水"}','','done','',0,'01m82db5s534pzwtdcx76rfypa','01m82db5rw5hczbf3k09v9c8wk',9,0,0.0,1.79537743644425392148e+09,1,'');
INSERT INTO "inbox" VALUES('01m82db5v8t7y4btvwm0dxdj7d','01m82db46er4rk3q81e5cjhsv3','web','console','gardened8678130bcf4354b69dd3525b39fdc6','command','owner','{"text": "/context fold"}','','done','',1,'','01m82db5v89twzk8dxqdbbx4wp',11,0,0.0,1.79537743652029085157e+09,0,'');
INSERT INTO "inbox" VALUES('01m82db5zdbsz8gsw2yc2gcfkg','01m82db46er4rk3q81e5cjhsv3','web','console','garden5f8929a27fda4abfb387369c436255bb','message','owner','{"text": "«g5» use write_file {\"path\": \"notes/roses.md\", \"content\": \"water on Mondays\"}"}','','done','',0,'01m82db5zk40v8rnyp1n2xrqpf','01m82db5zd8cgm7t1sntp542fp',13,0,0.0,1.79537743665372490878e+09,1,'');
INSERT INTO "inbox" VALUES('01m82db633qtyqrb3417spt45d','01m82db46er4rk3q81e5cjhsv3','web','console','gardena79f296aeda446b6991b4afd1751ecfc','message','owner','{"text": "«g6» what do you make of it?"}','','done','',0,'01m82db63h9p53wwj1hx4r2brx','01m82db633pakrm31h6rmbn5pk',15,0,0.0,1.7953774367714903354e+09,1,'');
INSERT INTO "inbox" VALUES('01m82db65p6hqgq74s0ft9995y','01m82db46er4rk3q81e5cjhsv3','web','console','garden4737b56fe4f643509c6dda76d609e682','message','owner','{"text": "«g7» what do you make of it?"}','','done','',0,'01m82db6630nn5j1kdgeg6523c','01m82db65ppjvbaejy9m8ctk99',17,0,0.0,1.79537743685451221462e+09,1,'');
INSERT INTO "inbox" VALUES('01m82db67e93bm3dkz5zxyeaz1','01m82db46er4rk3q81e5cjhsv3','web','console','gardena9d04282ee6c455fafc2ed7aae8b8fd1','message','owner','{"text": "«g8» what do you make of it?"}','','done','',0,'01m82db67k0esa0vk6gbnm9r9x','01m82db67e75gjexknj3xckqme',19,0,0.0,1.79537743691009473801e+09,1,'');
INSERT INTO "inbox" VALUES('01m82db69fgm10yw0afn03rdt9','01m82db46er4rk3q81e5cjhsv3','web','console','gardeneea78cfb37914cdd9daf2cfc0f6db4d9','command','owner','{"text": "/context fold"}','','done','',1,'','01m82db69fj6hg3bcheeeytgqr',21,0,0.0,1.79537743697519493104e+09,0,'');
INSERT INTO "inbox" VALUES('01m82db6bvwpmatm0fe5vmn0fd','01m82db46er4rk3q81e5cjhsv3','web','console','gardend1c1facc8a72467596a245d12b787944','command','owner','{"text": "/remember The gate code is 4711"}','','done','',1,'','01m82db6bv7jxfmy37cgccq9ay',23,0,0.0,1.79537743705169677735e+09,0,'');
INSERT INTO "inbox" VALUES('01m82db6dcd11g48qkrcnvh6dt','01m82db6dca8b049540e3vhvkr','web','console','workb3ad4faf68e149d2b69dd960ab3c23aa','message','owner','{"text": "«w0» what do you make of it?"}','','done','',0,'01m82db6dsv43r61aaxqqhgv07','01m82db6dc7vep9rv59tvntmew',1,0,0.0,1.79537743710013675694e+09,1,'');
INSERT INTO "inbox" VALUES('01m82db6g7fb8gq1wy0smq93cb','01m82db6dca8b049540e3vhvkr','web','console','work0d5a8cccbf6a4d948bd02240e05b1683','message','owner','{"text": "«w1» what do you make of it?"}','','done','',0,'01m82db6ghk0t2zfr3pmn67ctf','01m82db6g7e2jrfbe03aytvqfp',3,0,0.0,1.79537743719132518761e+09,1,'');
INSERT INTO "inbox" VALUES('01m82db6jbhq3wdhz8avmwfakp','01m82db6dca8b049540e3vhvkr','web','console','work932faf0ad2104d8e98e06bdb46d8758f','message','owner','{"text": "«w2» what do you make of it?"}','','done','',0,'01m82db6jrcs47mqfkkz422xm7','01m82db6jb477pfzq3y1k8p9m0',5,0,0.0,1.79537743725914192196e+09,1,'');
INSERT INTO "inbox" VALUES('01m82db6m8hkn35q1zsf55nw73','01m82db6dca8b049540e3vhvkr','web','console','workdbd41197622e4671960ca9a607eeafe2','command','owner','{"text": "/context fold"}','','done','',1,'','01m82db6m88sk6x2bjfk5prf3p',7,0,0.0,1.79537743732073450087e+09,0,'');
INSERT INTO "inbox" VALUES('01m82db6pbh1w2dmhf5a39e8mt','01m82db6dca8b049540e3vhvkr','web','console','work16ebbd26e3f5427eae448ac92d3bcecc','command','owner','{"text": "/context undo"}','','done','',1,'','01m82db6pbksq6wb8zspef140m',9,0,0.0,1.79537743738770627982e+09,0,'');
INSERT INTO "inbox" VALUES('01m82db6qh5xpv664ggpppbrsy','01m82db6qh69t7d7vak4xsrs15','web','console','old3d8c1c6c93724b459ebef67c83847bf4','message','owner','{"text": "«o0» what do you make of it?"}','','done','',0,'01m82db6qpdrk76m1q80rws38a','01m82db6qh1366v680qa5kytrs',1,0,0.0,1795377437.42592,1,'');
INSERT INTO "inbox" VALUES('01m82db6sg4m754s9a8rzz1v5k','01m82db6qh69t7d7vak4xsrs15','web','console','old0dd9012e75444c328bf406ab880120c6','message','owner','{"text": "«o1» what do you make of it?"}','','done','',0,'01m82db6sysnwpfgw7bh1xrm8f','01m82db6sgwg49hdz1hwa7chc5',3,0,0.0,1.79537743748832130438e+09,1,'');
INSERT INTO "inbox" VALUES('01m82db6v7rjhzqqkxtdk4h3fn','01m82db6qh69t7d7vak4xsrs15','web','console','old56d98a5d4a264b47a08e7e932f7048f3','command','owner','{"text": "/context clear"}','','done','',1,'','01m82db6v7prk4fqv5wv9v2j90',5,0,0.0,1.79537743754393124581e+09,0,'');
INSERT INTO "inbox" VALUES('01m82db6wq25qdzavqn15bsmvv','01m82db6qh69t7d7vak4xsrs15','web','console','olda5c802b1948f4f0eb68c3d67938d38d8','message','owner','{"text": "«o2» what do you make of it?"}','','done','',0,'01m82db6ww4nty8hrn7zkq7hsd','01m82db6wqmngvyd88hp4gphw9',7,0,0.0,1.79537743759110379219e+09,1,'');
INSERT INTO "inbox" VALUES('01m82db6y9t6pbzmhz8k3ry4mt','01m82db6y9dzkvsrdp2bn1tyjn','web','console','new308132ea8e7f419aa8205e97366a2755','message','owner','{"text": "«n0» what do you make of it?"}','','done','',0,'01m82db6yksp6anqz654wbbpwe','01m82db6y9pd36zs4m7vj02vrx',1,0,0.0,1.79537743764136385922e+09,1,'');
INSERT INTO "inbox" VALUES('01m82db70ma670caqd6ahy80mm','01m82db6y9dzkvsrdp2bn1tyjn','web','console','newe65f8f8bebc149b2a895851354b8bc34','command','owner','{"text": "/new"}','','done','',1,'','01m82db70m254ywrmpte15289p',3,0,0.0,1.79537743771669745448e+09,0,'');
INSERT INTO "inbox" VALUES('01m82db721s7wx3kzcs41bq0jw','01m82db6y9dzkvsrdp2bn1tyjn','web','console','new9dbe495fbe7545f1926d77a522e4a003','message','owner','{"text": "«n1» what do you make of it?"}','','done','',0,'01m82db72f2620fnz6meemvc2e','01m82db7218vkd4vq7jv2bh5f5',5,0,0.0,1.79537743776134824753e+09,1,'');
INSERT INTO "inbox" VALUES('01m82db74qbnwtysydn7qa7748','01m82db74qd16tnct9pk44tbas','telegram','100','m:5005:1:0','message','5005','{"text": "«t0» what do you make of it?", "name": "Ада"}','00000000000000700100','done','',0,'01m82db754gt2d6sqhzmby3g0w','01m82db74qrbj4t78gky5h3nq4',1,0,0.0,1.79537743784739947314e+09,1,'');
INSERT INTO "inbox" VALUES('01m82db77dprh876acwhxzhmvx','01m82db74qd16tnct9pk44tbas','telegram','100','m:5005:3:0','message','5005','{"text": "«t1» what do you make of it?", "name": "Ада"}','00000000000000700101','done','',0,'01m82db77q939pfhqm7zbkakf2','01m82db77dsyfcf13zqscahqjy',3,0,0.0,1.79537743793322443963e+09,1,'');
INSERT INTO "inbox" VALUES('01m82db79678ryz122enwbg3x7','01m82db796vr6tw92xskgwvc0x','telegram','100','m:999:1:0','message','999','','00000000000000700102','ignored','stranger',0,'','01m82db7965a0e475cd1cssqs0',1,0,0.0,1.79537743799071240419e+09,0,'');
INSERT INTO "inbox" VALUES('01m82db7b4kntga2qbpf02m355','01m82db7b4dbfqfqdp88sbg8dd','web','console','picturep1','message','owner','{"text": "«p1» what do you make of it?", "shown": "«p1» what do you make of it?\n📎 dot.png", "files": [["7899d6ced52159786ff083934df42788da01a30b7ed9bb7756d7f3f5a94ef685", "dot.png", "image/png", 68, ""]]}','','done','',0,'01m82db7f7y1n3q2ved5aqj7q9','01m82db7b45145jbywtknxjm49',1,0,0.0,1.79537743805289435388e+09,1,'');
INSERT INTO "inbox" VALUES('01m82db7sg6zatyxdhr8xqapeg','01m82db7sgb277armq2ezdmm03','web','console','late63426d1622cd43ef95629d09c58e02bc','message','owner','{"text": "«l0» what do you make of it?"}','','done','',0,'01m82db7wzym3ya66n6cqwawt7','01m82db7sg6xmh2z6njscnk3jj',1,0,0.0,1.79537743851238107677e+09,2,'');
INSERT INTO "inbox" VALUES('01m82db8504qgmqwm3dhcy01w2','01m82db7sgb277armq2ezdmm03','web','console','late0dd4a3eb538d46519056d35888549e7f','message','owner','{"text": "«l1» what do you make of it?"}','','done','',0,'01m82db862rhxqt4vjwe6n2aqb','01m82db850h9avx0prr7hyfaa0',3,0,0.0,1.79537743888053846364e+09,2,'');
INSERT INTO "inbox" VALUES('01m82db880jddj40t73cb59scd','01m82db6dca8b049540e3vhvkr','web','console','work53234e9ea2834bfdb93519b295c1bcb3','command','owner','{"text": "/context fold"}','','new','',1,'','01m82db8805c63ra6tzrr847xm',11,0,0.0,1.79537743897607660298e+09,0,'');
INSERT INTO "inbox" VALUES('01m82db8abp9fd390h4h6xvpay','01m82db8abg9s9z6s9j9aq1byj','web','console','tool1cf227c11f264db9bde9c39178694edf','message','owner','{"text": "«x1» use write_file {\"path\": \"notes/x.md\", \"content\": \"x\"}"}','','running','',0,'01m82db8ak3wgtdr6t7dna06ba','01m82db8abwch84e3250ag9rvk',1,0,0.0,1.79537743905137491223e+09,2,'');
INSERT INTO "inbox" VALUES('01m82db8cr7g40pmftzdp0281f','01m82db8abg9s9z6s9j9aq1byj','web','console','toole77a047ec5cb487b86e285cc4e3264d9','message','owner','{"text": "«x2» and after that?"}','','new','',0,'','01m82db8cr43ka0ezk933h6m9w',2,0,0.0,1.795377439128305912e+09,0,'');
INSERT INTO "inbox" VALUES('01m82db8d31x562g3bk10wnz7h','01m82db7sgb277armq2ezdmm03','web','console','lated4e7631244ee4d5b90736edc72ed3c3d','message','owner','{"text": "«l2» what do you make of it?"}','','done','',0,'01m82db8dbdrvkpxjaavecw2yp','01m82db8d3fk5c3v84r9s185j2',5,0,0.0,1.79537743913963508601e+09,2,'');
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
INSERT INTO "limit_told" VALUES('telegram:100:5006','01m82db46er4rk3q81e5cjhsv3','messages_per_day',1795000000.0);
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
INSERT INTO "link_code" VALUES('l1','0','agreed','telegram','100','5006','','01m82db46er4rk3q81e5cjhsv3','telegram','100','5006','Ada','p-joined','01m82db46er4rk3q81e5cjhsv3',1795000000.0,1795000000.0);
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
INSERT INTO "memory" VALUES('01m82db5hnqb5jhcm2xzejq6m7','','g0 the roses want water i prefer tea','user_preference','«g0» the roses want water; I prefer tea',6,'live','extraction','01m82db46er4rk3q81e5cjhsv3','01m82db46ee0ty39zsrg3gznvy','web','«g0» the roses want water; I prefer tea',1795377434.93511,1.79537743621373486512e+09,1.79537743621373486512e+09,1.79537743646336531641e+09,3,'',0.0);
INSERT INTO "memory" VALUES('01m82db5mx2g309ahe773nqdq4','','g1 the roses want water i prefer tea','user_preference','«g1» the roses want water; I prefer tea',6,'live','extraction','01m82db46er4rk3q81e5cjhsv3','01m82db5f8zjy3gdf5sw3byyha','web','«g1» the roses want water; I prefer tea',1.79537743615801405902e+09,1.79537743631705236434e+09,1.79537743631705236434e+09,1.79537743646336531641e+09,2,'',0.0);
INSERT INTO "memory" VALUES('01m82db5nw49x6edaxzc5qske6','','g2 the roses want water i prefer tea','user_preference','«g2» the roses want water; I prefer tea',6,'live','extraction','01m82db46er4rk3q81e5cjhsv3','01m82db5j2bb0fa6he099pqegp','web','«g2» the roses want water; I prefer tea',1.79537743624492192266e+09,1.79537743634812188152e+09,1.79537743634812188152e+09,1.79537743646336531641e+09,2,'',0.0);
INSERT INTO "memory" VALUES('01m82db5tesadv8nctbby7cj94','','g3 the roses want water i prefer tea','user_preference','«g3» the roses want water; I prefer tea',6,'live','extraction','01m82db46er4rk3q81e5cjhsv3','01m82db5nzjhghwzetzk1801y8','web','«g3» the roses want water; I prefer tea',1795377436.36882,1.79537743649465751649e+09,1.79537743649465751649e+09,0.0,0,'',0.0);
INSERT INTO "memory" VALUES('01m82db5wr8gknx3q4wzbhf7mp','','g4 the roses want water i prefer tea','user_preference','«g4» the roses want water; I prefer tea',6,'live','extraction','01m82db46er4rk3q81e5cjhsv3','01m82db5rwjp3wqtbdte91jkza','web','«g4» the roses want water; I prefer tea',1.7953774364531009197e+09,1.79537743656861782074e+09,1.79537743656861782074e+09,0.0,0,'',0.0);
INSERT INTO "memory" VALUES('01m82db6cktxc5gm4x19t5xsgq','','the gate code is 4711','fact','The gate code is 4711',8,'live','person','01m82db46er4rk3q81e5cjhsv3','01m82db6bvwpmatm0fe5vmn0fd','web','/remember The gate code is 4711',1.79537743705169701574e+09,1.79537743707569360735e+09,1.79537743707569360735e+09,0.0,0,'',0.0);
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
INSERT INTO "memory_change" VALUES('01m82db5hn4ns0eqv2gmwzsy9w','','MEMORY.md','extract','73a75d57d3bce6e6194e9c3ce650a5f836e26e5cb0efe6db3dc5961d8f1a641c','8fa62e7329481e1698ca5d5ead245d8a8150a2481080470e31a5c996bfc39e73','["«g0» the roses want water; I prefer tea"]','[]','','01m82db46ee0ty39zsrg3gznvy',0,1.79537743621373486512e+09);
INSERT INTO "memory_change" VALUES('01m82db5mx8zq5s8e7c3qgtcqx','','MEMORY.md','extract','8fa62e7329481e1698ca5d5ead245d8a8150a2481080470e31a5c996bfc39e73','b697e1ec796c8b7a56aee1e54abfb63a2ae6902e9d568e8698d692478b01da2a','["«g1» the roses want water; I prefer tea"]','[]','','01m82db5f8zjy3gdf5sw3byyha',0,1.79537743631705236434e+09);
INSERT INTO "memory_change" VALUES('01m82db5nwec1ebdzh0zv7msss','','MEMORY.md','extract','b697e1ec796c8b7a56aee1e54abfb63a2ae6902e9d568e8698d692478b01da2a','d66d54edc1ba1ad747e44ff5f7b746c2de77f6d29b15f843cfeec437cb29488e','["«g2» the roses want water; I prefer tea"]','[]','','01m82db5j2bb0fa6he099pqegp',0,1.79537743634812188152e+09);
INSERT INTO "memory_change" VALUES('01m82db5te59dyp76rxz3wxgy2','','MEMORY.md','extract','d66d54edc1ba1ad747e44ff5f7b746c2de77f6d29b15f843cfeec437cb29488e','05389b6f2523f0ca1bf3b1bcf6669df83790eb0bc8d35b2513af8d13cbe611a6','["«g3» the roses want water; I prefer tea"]','[]','','01m82db5nzjhghwzetzk1801y8',0,1.79537743649465751649e+09);
INSERT INTO "memory_change" VALUES('01m82db5wr92vx7gp8w06fzhtm','','MEMORY.md','extract','05389b6f2523f0ca1bf3b1bcf6669df83790eb0bc8d35b2513af8d13cbe611a6','fca268e68f52be9bc55318d05b4bd3b9775fc3379b421173ea5ad3b153edc64b','["«g4» the roses want water; I prefer tea"]','[]','','01m82db5rwjp3wqtbdte91jkza',0,1.79537743656861782074e+09);
INSERT INTO "memory_change" VALUES('01m82db6ck224s0by4t4ma0rm3','','MEMORY.md','remember','fca268e68f52be9bc55318d05b4bd3b9775fc3379b421173ea5ad3b153edc64b','eb8aa8fcc1d7d571749e2b52e51289200c0e8b65ab35fdf6926b994a9f641941','["The gate code is 4711"]','[]','','01m82db6bvwpmatm0fe5vmn0fd',0,1.79537743707569360735e+09);
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
INSERT INTO "message" VALUES('01m82db46ee0ty39zsrg3gznvy','01m82db46er4rk3q81e5cjhsv3',1,1,1,'01m82db49qsqt0sd396hshwhfe','user','[{"kind":"Text","text":"«g0» the roses want water; I prefer tea. 花园要浇水"}]','person','',1,26,'tiktoken',1795377434.93511);
INSERT INTO "message" VALUES('01m82db5e00fap41narth7f886','01m82db46er4rk3q81e5cjhsv3',1,2,1,'01m82db49qsqt0sd396hshwhfe','assistant','[{"kind":"Text","text":"re «g0»"}]','model','',1,12,'tiktoken',1.79537743609615254398e+09);
INSERT INTO "message" VALUES('01m82db5f8zjy3gdf5sw3byyha','01m82db46er4rk3q81e5cjhsv3',1,3,2,'01m82db5fykmtt0sg98xbqqvg6','user','[{"kind":"Text","text":"«g1» the roses want water; I prefer tea. 花园要浇水"}]','person','',1,26,'tiktoken',1.79537743615801429746e+09);
INSERT INTO "message" VALUES('01m82db5hanedn1fsy07tvxjfc','01m82db46er4rk3q81e5cjhsv3',1,4,2,'01m82db5fykmtt0sg98xbqqvg6','assistant','[{"kind":"Text","text":"re «g1»"}]','model','',1,12,'tiktoken',1.79537743620219898219e+09);
INSERT INTO "message" VALUES('01m82db5j2bb0fa6he099pqegp','01m82db46er4rk3q81e5cjhsv3',1,5,3,'01m82db5jmm940a0m9h45rq5rt','user','[{"kind":"Text","text":"«g2» the roses want water; I prefer tea. 花园要浇水"}]','person','',1,26,'tiktoken',1.79537743624492216105e+09);
INSERT INTO "message" VALUES('01m82db5kzqady2ev1tptpm85s','01m82db46er4rk3q81e5cjhsv3',1,6,3,'01m82db5jmm940a0m9h45rq5rt','assistant','[{"kind":"Text","text":"re «g0»"}]','model','',1,12,'tiktoken',1.79537743628714323044e+09);
INSERT INTO "message" VALUES('01m82db5nzjhghwzetzk1801y8','01m82db46er4rk3q81e5cjhsv3',1,7,4,'01m82db5pg273rf5nbw26fes3k','user','[{"kind":"Text","text":"«g3» the roses want water; I prefer tea. 花园要浇水"}]','person','',1,26,'tiktoken',1795377436.36882);
INSERT INTO "message" VALUES('01m82db5qmpydyp7k04fdescy0','01m82db46er4rk3q81e5cjhsv3',1,8,4,'01m82db5pg273rf5nbw26fes3k','assistant','[{"kind":"Text","text":"re «g2»"}]','model','',1,12,'tiktoken',1.795377436404790163e+09);
INSERT INTO "message" VALUES('01m82db5rwjp3wqtbdte91jkza','01m82db46er4rk3q81e5cjhsv3',1,9,5,'01m82db5s534pzwtdcx76rfypa','user','[{"kind":"Text","text":"«g4» the roses want water; I prefer tea. 花园要浇水"}]','person','',1,26,'tiktoken',1.79537743645310115809e+09);
INSERT INTO "message" VALUES('01m82db5szr8dwnsjhegzp6h18','01m82db46er4rk3q81e5cjhsv3',1,10,5,'01m82db5s534pzwtdcx76rfypa','assistant','[{"kind":"Text","text":"re «g2»"}]','model','',1,12,'tiktoken',1.79537743647947502139e+09);
INSERT INTO "message" VALUES('01m82db5zdbsz8gsw2yc2gcfkg','01m82db46er4rk3q81e5cjhsv3',1,11,6,'01m82db5zk40v8rnyp1n2xrqpf','user','[{"kind":"Text","text":"«g5» use write_file {\"path\": \"notes/roses.md\", \"content\": \"water on Mondays\"}"}]','person','',1,32,'tiktoken',1.79537743665964698788e+09);
INSERT INTO "message" VALUES('01m82db60vq6g4c3r9bdpycgrj','01m82db46er4rk3q81e5cjhsv3',1,12,6,'01m82db5zk40v8rnyp1n2xrqpf','assistant','[{"kind":"Text","text":"I look."},{"kind":"ToolCall","id":"call_g5","name":"write_file","input":"{\"path\": \"notes/roses.md\", \"content\": \"water on Mondays\"}"}]','model','',1,40,'tiktoken',1.79537743669912672043e+09);
INSERT INTO "message" VALUES('01m82db61sbb6wkjztgj40mbcx','01m82db46er4rk3q81e5cjhsv3',1,13,6,'01m82db5zk40v8rnyp1n2xrqpf','user','[{"kind":"ToolResult","call_id":"call_g5","text":"notes/roses.md now holds 16 bytes, version 29eb6a143968.","is_error":false}]','tool','',0,32,'tiktoken',1795377436.72927);
INSERT INTO "message" VALUES('01m82db626g2patnd7fgjv3zsh','01m82db46er4rk3q81e5cjhsv3',1,14,6,'01m82db5zk40v8rnyp1n2xrqpf','assistant','[{"kind":"Text","text":"re «g5»"}]','model','',1,12,'tiktoken',1.79537743674238395689e+09);
INSERT INTO "message" VALUES('01m82db633qtyqrb3417spt45d','01m82db46er4rk3q81e5cjhsv3',1,15,7,'01m82db63h9p53wwj1hx4r2brx','user','[{"kind":"Text","text":"«g6» what do you make of it?"}]','person','',1,18,'tiktoken',1.79537743678583979608e+09);
INSERT INTO "message" VALUES('01m82db64aas4hspvp03et4599','01m82db46er4rk3q81e5cjhsv3',1,16,7,'01m82db63h9p53wwj1hx4r2brx','assistant','[{"kind":"Text","text":"re «g6»"}]','model','',1,12,'tiktoken',1.79537743681084895129e+09);
INSERT INTO "message" VALUES('01m82db65p6hqgq74s0ft9995y','01m82db46er4rk3q81e5cjhsv3',1,17,8,'01m82db6630nn5j1kdgeg6523c','user','[{"kind":"Text","text":"«g7» what do you make of it?"}]','person','',1,18,'tiktoken',1.79537743686719775204e+09);
INSERT INTO "message" VALUES('01m82db66kszge3nr0718zgr05','01m82db46er4rk3q81e5cjhsv3',1,18,8,'01m82db6630nn5j1kdgeg6523c','assistant','[{"kind":"Text","text":"re «g7»"}]','model','',1,12,'tiktoken',1.79537743688335108753e+09);
INSERT INTO "message" VALUES('01m82db67e93bm3dkz5zxyeaz1','01m82db46er4rk3q81e5cjhsv3',1,19,9,'01m82db67k0esa0vk6gbnm9r9x','user','[{"kind":"Text","text":"«g8» what do you make of it?"}]','person','',1,18,'tiktoken',1.79537743691584920878e+09);
INSERT INTO "message" VALUES('01m82db68fpmhfj9x7pzzzq5yj','01m82db46er4rk3q81e5cjhsv3',1,20,9,'01m82db67k0esa0vk6gbnm9r9x','assistant','[{"kind":"Text","text":"re «g8»"}]','model','',1,12,'tiktoken',1.79537743694302821158e+09);
INSERT INTO "message" VALUES('01m82db6dcd11g48qkrcnvh6dt','01m82db6dca8b049540e3vhvkr',1,1,1,'01m82db6dsv43r61aaxqqhgv07','user','[{"kind":"Text","text":"«w0» what do you make of it?"}]','person','',1,18,'tiktoken',1.79537743711374878888e+09);
INSERT INTO "message" VALUES('01m82db6f18hrj0kzjg5854n83','01m82db6dca8b049540e3vhvkr',1,2,1,'01m82db6dsv43r61aaxqqhgv07','assistant','[{"kind":"Text","text":"re «w0»"}]','model','',1,12,'tiktoken',1.79537743715321636197e+09);
INSERT INTO "message" VALUES('01m82db6g7fb8gq1wy0smq93cb','01m82db6dca8b049540e3vhvkr',1,3,2,'01m82db6ghk0t2zfr3pmn67ctf','user','[{"kind":"Text","text":"«w1» what do you make of it?"}]','person','',1,18,'tiktoken',1.79537743720144581799e+09);
INSERT INTO "message" VALUES('01m82db6hngedfpktakt8e0842','01m82db6dca8b049540e3vhvkr',1,4,2,'01m82db6ghk0t2zfr3pmn67ctf','assistant','[{"kind":"Text","text":"re «w1»"}]','model','',1,12,'tiktoken',1.79537743723704719539e+09);
INSERT INTO "message" VALUES('01m82db6jbhq3wdhz8avmwfakp','01m82db6dca8b049540e3vhvkr',1,5,3,'01m82db6jrcs47mqfkkz422xm7','user','[{"kind":"Text","text":"«w2» what do you make of it?"}]','person','',1,18,'tiktoken',1.79537743727248501777e+09);
INSERT INTO "message" VALUES('01m82db6kcaf0ek0wh0gwg4gj4','01m82db6dca8b049540e3vhvkr',1,6,3,'01m82db6jrcs47mqfkkz422xm7','assistant','[{"kind":"Text","text":"re «w2»"}]','model','',1,12,'tiktoken',1.79537743729295086857e+09);
INSERT INTO "message" VALUES('01m82db6qh5xpv664ggpppbrsy','01m82db6qh69t7d7vak4xsrs15',1,1,1,'01m82db6qpdrk76m1q80rws38a','user','[{"kind":"Text","text":"«o0» what do you make of it?"}]','person','',1,18,'tiktoken',1.79537743743023276332e+09);
INSERT INTO "message" VALUES('01m82db6rtf5kykgk6wpypd287','01m82db6qh69t7d7vak4xsrs15',1,2,1,'01m82db6qpdrk76m1q80rws38a','assistant','[{"kind":"Text","text":"re «o0»"}]','model','',1,12,'tiktoken',1.79537743746612381929e+09);
INSERT INTO "message" VALUES('01m82db6sg4m754s9a8rzz1v5k','01m82db6qh69t7d7vak4xsrs15',1,3,2,'01m82db6sysnwpfgw7bh1xrm8f','user','[{"kind":"Text","text":"«o1» what do you make of it?"}]','person','',1,18,'tiktoken',1.79537743750286531447e+09);
INSERT INTO "message" VALUES('01m82db6tvxvr42dk1cj06cca6','01m82db6qh69t7d7vak4xsrs15',1,4,2,'01m82db6sysnwpfgw7bh1xrm8f','assistant','[{"kind":"Text","text":"re «o1»"}]','model','',1,12,'tiktoken',1.79537743753116583829e+09);
INSERT INTO "message" VALUES('01m82db6wq25qdzavqn15bsmvv','01m82db6qh69t7d7vak4xsrs15',2,5,3,'01m82db6ww4nty8hrn7zkq7hsd','user','[{"kind":"Text","text":"«o2» what do you make of it?"}]','person','',1,18,'tiktoken',1.79537743759612393379e+09);
INSERT INTO "message" VALUES('01m82db6xnz6y3vpscmrvchnfj','01m82db6qh69t7d7vak4xsrs15',2,6,3,'01m82db6ww4nty8hrn7zkq7hsd','assistant','[{"kind":"Text","text":"re «o2»"}]','model','',1,12,'tiktoken',1.79537743762147307393e+09);
INSERT INTO "message" VALUES('01m82db6y9t6pbzmhz8k3ry4mt','01m82db6y9dzkvsrdp2bn1tyjn',1,1,1,'01m82db6yksp6anqz654wbbpwe','user','[{"kind":"Text","text":"«n0» what do you make of it?"}]','person','',1,18,'tiktoken',1.79537743765175414082e+09);
INSERT INTO "message" VALUES('01m82db6ztezcv8t3ek6jmw93z','01m82db6y9dzkvsrdp2bn1tyjn',1,2,1,'01m82db6yksp6anqz654wbbpwe','assistant','[{"kind":"Text","text":"re «n0»"}]','model','',1,12,'tiktoken',1.79537743769094753267e+09);
INSERT INTO "message" VALUES('01m82db721s7wx3kzcs41bq0jw','01m82db6y9dzkvsrdp2bn1tyjn',2,3,2,'01m82db72f2620fnz6meemvc2e','user','[{"kind":"Text","text":"«n1» what do you make of it?"}]','person','',1,18,'tiktoken',1.79537743777510333063e+09);
INSERT INTO "message" VALUES('01m82db73pqrm0k5xska64hdyk','01m82db6y9dzkvsrdp2bn1tyjn',2,4,2,'01m82db72f2620fnz6meemvc2e','assistant','[{"kind":"Text","text":"re «n1»"}]','model','',1,12,'tiktoken',1.79537743781420111653e+09);
INSERT INTO "message" VALUES('01m82db74qbnwtysydn7qa7748','01m82db74qd16tnct9pk44tbas',1,1,1,'01m82db754gt2d6sqhzmby3g0w','user','[{"kind":"Text","text":"«t0» what do you make of it?"}]','person','',1,18,'tiktoken',1.7953774378607590199e+09);
INSERT INTO "message" VALUES('01m82db76frh6rmn336y95024e','01m82db74qd16tnct9pk44tbas',1,2,1,'01m82db754gt2d6sqhzmby3g0w','assistant','[{"kind":"Text","text":"re «t0»"}]','model','',1,12,'tiktoken',1.79537743790300083164e+09);
INSERT INTO "message" VALUES('01m82db77dprh876acwhxzhmvx','01m82db74qd16tnct9pk44tbas',1,3,2,'01m82db77q939pfhqm7zbkakf2','user','[{"kind":"Text","text":"«t1» what do you make of it?"}]','person','',1,18,'tiktoken',1.79537743794356703759e+09);
INSERT INTO "message" VALUES('01m82db78avhp5wqe1ag2q039d','01m82db74qd16tnct9pk44tbas',1,4,2,'01m82db77q939pfhqm7zbkakf2','assistant','[{"kind":"Text","text":"re «t1»"}]','model','',1,12,'tiktoken',1.79537743796228384967e+09);
INSERT INTO "message" VALUES('01m82db7b4kntga2qbpf02m355','01m82db7b4dbfqfqdp88sbg8dd',1,1,1,'01m82db7f7y1n3q2ved5aqj7q9','user','[{"kind":"Image","sha256":"7899d6ced52159786ff083934df42788da01a30b7ed9bb7756d7f3f5a94ef685","media_type":"image/png","width":2,"height":2},{"kind":"Text","text":"«p1» what do you make of it?"}]','person','',1,19,'tiktoken',1.79537743818392920495e+09);
INSERT INTO "message" VALUES('01m82db7fwenwkf43nxgejy8qr','01m82db7b4dbfqfqdp88sbg8dd',1,2,1,'01m82db7f7y1n3q2ved5aqj7q9','assistant','[{"kind":"Text","text":"re «p1»"}]','model','',1,12,'tiktoken',1.79537743820424747472e+09);
INSERT INTO "message" VALUES('01m82db7sg6zatyxdhr8xqapeg','01m82db7sgb277armq2ezdmm03',1,1,1,'01m82db7wzym3ya66n6cqwawt7','user','[{"kind":"Text","text":"«l0» what do you make of it?"}]','person','',1,18,'tiktoken',1.79537743862330198291e+09);
INSERT INTO "message" VALUES('01m82db82xqkgdyvtrar7e8tzx','01m82db7sgb277armq2ezdmm03',1,2,1,'01m82db7wzym3ya66n6cqwawt7','assistant','[{"kind":"Text","text":"re «l0»"}]','model','',1,12,'tiktoken',1.79537743881367158884e+09);
INSERT INTO "message" VALUES('01m82db8504qgmqwm3dhcy01w2','01m82db7sgb277armq2ezdmm03',1,3,2,'01m82db862rhxqt4vjwe6n2aqb','user','[{"kind":"Text","text":"«l1» what do you make of it?"}]','person','',1,18,'tiktoken',1.79537743891412305838e+09);
INSERT INTO "message" VALUES('01m82db870b3p0g8jrgbmg4807','01m82db7sgb277armq2ezdmm03',1,4,2,'01m82db862rhxqt4vjwe6n2aqb','assistant','[{"kind":"Text","text":"re «l1»"}]','model','',1,12,'tiktoken',1.79537743894440746314e+09);
INSERT INTO "message" VALUES('01m82db8abp9fd390h4h6xvpay','01m82db8abg9s9z6s9j9aq1byj',1,1,1,'01m82db8ak3wgtdr6t7dna06ba','user','[{"kind":"Text","text":"«x1» use write_file {\"path\": \"notes/x.md\", \"content\": \"x\"}"}]','person','',1,28,'tiktoken',1795377439.05992);
INSERT INTO "message" VALUES('01m82db8bh07ptfv4erc5f7q9k','01m82db8abg9s9z6s9j9aq1byj',1,2,1,'01m82db8ak3wgtdr6t7dna06ba','assistant','[{"kind":"Text","text":"I look."},{"kind":"ToolCall","id":"call_x1","name":"write_file","input":"{\"path\": \"notes/x.md\", \"content\": \"x\"}"}]','model','',1,36,'tiktoken',1.79537743908960270881e+09);
INSERT INTO "message" VALUES('01m82db8d31x562g3bk10wnz7h','01m82db7sgb277armq2ezdmm03',1,5,3,'01m82db8dbdrvkpxjaavecw2yp','user','[{"kind":"Text","text":"«l2» what do you make of it?"}]','person','',1,18,'tiktoken',1.79537743914712905881e+09);
INSERT INTO "message" VALUES('01m82db8e18acv5twxcsn5pvbe','01m82db7sgb277armq2ezdmm03',1,6,3,'01m82db8dbdrvkpxjaavecw2yp','assistant','[{"kind":"Text","text":"re «l2»"}]','model','',1,12,'tiktoken',1.79537743916967296601e+09);
CREATE TABLE model_factor (
	model TEXT NOT NULL, 
	factor DOUBLE NOT NULL, 
	samples INTEGER NOT NULL, 
	error_percent DOUBLE NOT NULL, 
	PRIMARY KEY (model)
);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra',0.9873,14,0.36);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra 01m82db46er4rk3q81e5cjhsv3',1.0219,10,0.17);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra 01m82db6dca8b049540e3vhvkr',0.985,3,0.41);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra 01m82db6qh69t7d7vak4xsrs15',0.9849,3,-0.03);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra 01m82db6y9dzkvsrdp2bn1tyjn',0.9855,2,0.17);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra 01m82db74qd16tnct9pk44tbas',0.9827,2,0.48);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra 01m82db7b4dbfqfqdp88sbg8dd',0.9987,1,-0.9);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra 01m82db7sgb277armq2ezdmm03',0.9808,3,0.36);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra 01m82db8abg9s9z6s9j9aq1byj',0.9851,1,1.06);
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
INSERT INTO "outbox" VALUES('01m82db5e0a3k80zxgwxabvhmk','01m82db46er4rk3q81e5cjhsv3','01m82db46ee0ty39zsrg3gznvy:answer',0,1,1,'final','1111dd2bf04dba5b6481f02a3d002eb6','re «g0»','sent',1,0,0,315360000.0,2.11073743612168550484e+09,0.0,'01m82db46ee0ty39zsrg3gznvy','01m82db5e0a3k80zxgwxabvhmk','',2,1.79537743609615254398e+09,1,'',1.79537743614200735091e+09);
INSERT INTO "outbox" VALUES('01m82db5hayr52dpfjcpc9jx6z','01m82db46er4rk3q81e5cjhsv3','01m82db5f8zjy3gdf5sw3byyha:answer',0,1,1,'final','9bc8b04ed2cb40a306d34cd006112d03','re «g1»','sent',1,0,0,315360000.0,2.11073743620945692063e+09,0.0,'01m82db5f8zjy3gdf5sw3byyha','01m82db5hayr52dpfjcpc9jx6z','',4,1.79537743620219898219e+09,1,'',1.79537743621108126642e+09);
INSERT INTO "outbox" VALUES('01m82db5kz0apadfd5gwhvb29z','01m82db46er4rk3q81e5cjhsv3','01m82db5j2bb0fa6he099pqegp:answer',0,1,1,'final','67bc137ccc79e0582eefc6b0172b8c35','re «g0»','sent',1,0,0,315360000.0,2.11073743630859684953e+09,0.0,'01m82db5j2bb0fa6he099pqegp','01m82db5kz0apadfd5gwhvb29z','',6,1.79537743628714323044e+09,1,'',1.7953774363111846447e+09);
INSERT INTO "outbox" VALUES('01m82db5qmdb36rtbbk3nn8r6k','01m82db46er4rk3q81e5cjhsv3','01m82db5nzjhghwzetzk1801y8:answer',0,1,1,'final','2f2af66e8cb74b5f0077711ae941abf7','re «g2»','sent',1,0,0,315360000.0,2.11073743641708850855e+09,0.0,'01m82db5nzjhghwzetzk1801y8','01m82db5qmdb36rtbbk3nn8r6k','',8,1.795377436404790163e+09,1,'',1.7953774364195919037e+09);
INSERT INTO "outbox" VALUES('01m82db5szjxmjz7cdj7pkrc67','01m82db46er4rk3q81e5cjhsv3','01m82db5rwjp3wqtbdte91jkza:answer',0,1,1,'final','0f84be3a027df579594693e773c79fc2','re «g2»','sent',1,0,0,315360000.0,2.11073743648734641069e+09,0.0,'01m82db5rwjp3wqtbdte91jkza','01m82db5szjxmjz7cdj7pkrc67','',10,1.79537743647947502139e+09,1,'',1.79537743649794173236e+09);
INSERT INTO "outbox" VALUES('01m82db5ys49jsd2433cz9wmf1','01m82db46er4rk3q81e5cjhsv3','01m82db5v8t7y4btvwm0dxdj7d:answer',0,1,1,'notice','0c05a900b2ddd90c5833a44a840e71b3','Folded turns 1–2 into memory/2026-11-22.md: 190 → 155 tokens (82%).','sent',1,0,0,315360000.0,2.11073743663888788234e+09,0.0,'01m82db5v8t7y4btvwm0dxdj7d','01m82db5ys49jsd2433cz9wmf1','',12,1.79537743663369226453e+09,1,'',1.79537743664289188389e+09);
INSERT INTO "outbox" VALUES('01m82db626qky2kkq35ef5fgns','01m82db46er4rk3q81e5cjhsv3','01m82db5zdbsz8gsw2yc2gcfkg:answer',0,1,1,'final','c37e17cc13b5049e8b7b005ab691e397','re «g5»','sent',1,0,0,315360000.0,2.11073743674676871291e+09,0.0,'01m82db5zdbsz8gsw2yc2gcfkg','01m82db626qky2kkq35ef5fgns','',14,1.79537743674238395689e+09,1,'',1.79537743675215673453e+09);
INSERT INTO "outbox" VALUES('01m82db64awaz07jg0426gkc2n','01m82db46er4rk3q81e5cjhsv3','01m82db633qtyqrb3417spt45d:answer',0,1,1,'final','0a2b35bd6bc8e2e5000b032ec74b93fb','re «g6»','sent',1,0,0,315360000.0,2.11073743682754302029e+09,0.0,'01m82db633qtyqrb3417spt45d','01m82db64awaz07jg0426gkc2n','',16,1.79537743681084895129e+09,1,'',1.79537743683172273632e+09);
INSERT INTO "outbox" VALUES('01m82db66kd907fx6kp3w8yd1n','01m82db46er4rk3q81e5cjhsv3','01m82db65p6hqgq74s0ft9995y:answer',0,1,1,'final','bec64d7d1e0581c757b2cb34b7cf6be9','re «g7»','sent',1,0,0,315360000.0,2.11073743688706874838e+09,0.0,'01m82db65p6hqgq74s0ft9995y','01m82db66kd907fx6kp3w8yd1n','',18,1.79537743688335108753e+09,1,'',1.79537743688845276832e+09);
INSERT INTO "outbox" VALUES('01m82db68f73sc91tztrk8v5gv','01m82db46er4rk3q81e5cjhsv3','01m82db67e93bm3dkz5zxyeaz1:answer',0,1,1,'final','fd353185e5a2858c4d64c5153c5cf320','re «g8»','sent',1,0,0,315360000.0,2.1107374369513471127e+09,0.0,'01m82db67e93bm3dkz5zxyeaz1','01m82db68f73sc91tztrk8v5gv','',20,1.79537743694302821158e+09,1,'',1.79537743695824170107e+09);
INSERT INTO "outbox" VALUES('01m82db6b9089gnd0azwtacnzx','01m82db46er4rk3q81e5cjhsv3','01m82db69fgm10yw0afn03rdt9:answer',0,1,1,'notice','9a85d368640e4f90c8df24888133dcb3','Folded turns 3–5 into memory/2026-11-22.md: 361 → 268 tokens (74%).','sent',1,0,0,315360000.0,2.11073743703509378441e+09,0.0,'01m82db69fgm10yw0afn03rdt9','01m82db6b9089gnd0azwtacnzx','',22,1.79537743703320217133e+09,1,'',1.79537743703690171243e+09);
INSERT INTO "outbox" VALUES('01m82db6cp4hzgg1e5kq1qffgy','01m82db46er4rk3q81e5cjhsv3','01m82db6bvwpmatm0fe5vmn0fd:answer',0,1,1,'notice','4a1999db70b8a167f2ab3254b978b450','Remembered (facts): The gate code is 4711','sent',1,0,0,315360000.0,2.11073743708097386366e+09,0.0,'01m82db6bvwpmatm0fe5vmn0fd','01m82db6cp4hzgg1e5kq1qffgy','',24,1.79537743707805943485e+09,1,'',1.79537743708231806757e+09);
INSERT INTO "outbox" VALUES('01m82db6f1b0kb1npyg6z2ceve','01m82db6dca8b049540e3vhvkr','01m82db6dcd11g48qkrcnvh6dt:answer',0,1,1,'final','732cb6f6c895ca42024dd1471166cb1f','re «w0»','sent',1,0,0,315360000.0,2.11073743716011595736e+09,0.0,'01m82db6dcd11g48qkrcnvh6dt','01m82db6f1b0kb1npyg6z2ceve','',2,1.79537743715321636197e+09,1,'',1.79537743716466474536e+09);
INSERT INTO "outbox" VALUES('01m82db6hn41btr3jhfb9y6ayr','01m82db6dca8b049540e3vhvkr','01m82db6g7fb8gq1wy0smq93cb:answer',0,1,1,'final','9e3fc683be223b14bd125b58d4fe0737','re «w1»','sent',1,0,0,315360000.0,2.1107374372531645299e+09,0.0,'01m82db6g7fb8gq1wy0smq93cb','01m82db6hn41btr3jhfb9y6ayr','',4,1.79537743723704719539e+09,1,'',1.79537743726453471182e+09);
INSERT INTO "outbox" VALUES('01m82db6kck0bt6a5gvrhzhqze','01m82db6dca8b049540e3vhvkr','01m82db6jbhq3wdhz8avmwfakp:answer',0,1,1,'final','33e4d1fc9b4752c0809ebd519ab84e8f','re «w2»','sent',1,0,0,315360000.0,2.11073743729854774466e+09,0.0,'01m82db6jbhq3wdhz8avmwfakp','01m82db6kck0bt6a5gvrhzhqze','',6,1.79537743729295086857e+09,1,'',1.79537743730808448789e+09);
INSERT INTO "outbox" VALUES('01m82db6nn9vqtz72nmf8atpdv','01m82db6dca8b049540e3vhvkr','01m82db6m8hkn35q1zsf55nw73:answer',0,1,1,'notice','2f40e3098ec79ec67cf31049e29cefa2','Folded turn 1 into memory/2026-11-22.md: 90 → 72 tokens (80%).','sent',1,0,0,315360000.0,2.11073743737136554723e+09,0.0,'01m82db6m8hkn35q1zsf55nw73','01m82db6nn9vqtz72nmf8atpdv','',8,1.79537743736578702929e+09,1,'',1.79537743737316417692e+09);
INSERT INTO "outbox" VALUES('01m82db6q1e7perevxxtk367t8','01m82db6dca8b049540e3vhvkr','01m82db6pbh1w2dmhf5a39e8mt:answer',0,1,1,'notice','ff8d2afb6f4a3da3d48c6006a476502c','The fold is undone: turn 1 is back in the context.','sent',1,0,0,315360000.0,2110737437.41298,0.0,'01m82db6pbh1w2dmhf5a39e8mt','01m82db6q1e7perevxxtk367t8','',10,1.79537743740901160243e+09,1,'',1.79537743741464161876e+09);
INSERT INTO "outbox" VALUES('01m82db6rtxbcrqwwvs2g2v48p','01m82db6qh69t7d7vak4xsrs15','01m82db6qh5xpv664ggpppbrsy:answer',0,1,1,'final','fafa0c10ebcbd462518770a4653f098c','re «o0»','sent',1,0,0,315360000.0,2.11073743747264838221e+09,0.0,'01m82db6qh5xpv664ggpppbrsy','01m82db6rtxbcrqwwvs2g2v48p','',2,1.79537743746612381929e+09,1,'',1.79537743747627615929e+09);
INSERT INTO "outbox" VALUES('01m82db6tv93tacrmd7m140ah2','01m82db6qh69t7d7vak4xsrs15','01m82db6sg4m754s9a8rzz1v5k:answer',0,1,1,'final','a60253c37b48fdeeb7d345281474ecf1','re «o1»','sent',1,0,0,315360000.0,2.11073743753815197933e+09,0.0,'01m82db6sg4m754s9a8rzz1v5k','01m82db6tv93tacrmd7m140ah2','',4,1.79537743753116583829e+09,1,'',1.79537743754006600379e+09);
INSERT INTO "outbox" VALUES('01m82db6w0rprk0n8psh528jx2','01m82db6qh69t7d7vak4xsrs15','01m82db6v7rjhzqqkxtdk4h3fn:answer',0,1,2,'notice','3423f87631abafd995dbcbc3b8f54a78','The context is clear: the model sees nothing from before. The record stays; /context undo takes this back.','sent',1,0,0,315360000.0,2.11073743757355976108e+09,0.0,'01m82db6v7rjhzqqkxtdk4h3fn','01m82db6w0rprk0n8psh528jx2','',6,1.79537743756876945499e+09,1,'',1.79537743757603549953e+09);
INSERT INTO "outbox" VALUES('01m82db6xng630e20mmrrwhhm5','01m82db6qh69t7d7vak4xsrs15','01m82db6wq25qdzavqn15bsmvv:answer',0,1,2,'final','ebca39e843ed5297c687bff3aae827da','re «o2»','sent',1,0,0,315360000.0,2.11073743762738943096e+09,0.0,'01m82db6wq25qdzavqn15bsmvv','01m82db6xng630e20mmrrwhhm5','',8,1.79537743762147307393e+09,1,'',1.79537743763006091115e+09);
INSERT INTO "outbox" VALUES('01m82db6ztm769s4qe5r3hmrqh','01m82db6y9dzkvsrdp2bn1tyjn','01m82db6y9t6pbzmhz8k3ry4mt:answer',0,1,1,'final','b5b11255f583cc3ad40e3b59c00ccdd9','re «n0»','sent',1,0,0,315360000.0,2.11073743769732522965e+09,0.0,'01m82db6y9t6pbzmhz8k3ry4mt','01m82db6ztm769s4qe5r3hmrqh','',2,1.79537743769094753267e+09,1,'',1.79537743769957685475e+09);
INSERT INTO "outbox" VALUES('01m82db70y33wahqxj8zv9ybap','01m82db6y9dzkvsrdp2bn1tyjn','01m82db70ma670caqd6ahy80mm:answer',0,1,2,'notice','f6a01da0bbfa082b50dd8e345b8a935e','A new conversation begins; what came before (1 turn) is being written to today''s log.','sent',1,0,0,315360000.0,2.11073743773521757126e+09,0.0,'01m82db70ma670caqd6ahy80mm','01m82db70y33wahqxj8zv9ybap','',4,1.79537743772655820841e+09,1,'',1.7953774377386007309e+09);
INSERT INTO "outbox" VALUES('01m82db73ptjjxg5mstw27wm2a','01m82db6y9dzkvsrdp2bn1tyjn','01m82db721s7wx3kzcs41bq0jw:answer',0,1,2,'final','0c5fe68fe694d0d9c5f17962b796c356','re «n1»','sent',1,0,0,315360000.0,2.11073743781887292864e+09,0.0,'01m82db721s7wx3kzcs41bq0jw','01m82db73ptjjxg5mstw27wm2a','',6,1.79537743781420111653e+09,1,'',1.79537743782053470613e+09);
INSERT INTO "outbox" VALUES('01m82db76fjyn2ybmk2kmbrv30','01m82db74qd16tnct9pk44tbas','01m82db74qbnwtysydn7qa7748:answer',0,1,1,'final','86f51e0c1604bc923d108f2a4ddfddc6','re «t0»','sent',1,0,0,0.0,0.0,0.0,'01m82db74qbnwtysydn7qa7748','2','',2,1.79537743790300083164e+09,1,'',1.79537743792688322063e+09);
INSERT INTO "outbox" VALUES('01m82db78a1vkp8a2tv8ymbfr4','01m82db74qd16tnct9pk44tbas','01m82db77dprh876acwhxzhmvx:answer',0,1,1,'final','b56a1492be8822acfcbc89190afc6117','re «t1»','sent',1,0,0,0.0,0.0,0.0,'01m82db77dprh876acwhxzhmvx','4','',4,1.79537743796228384967e+09,1,'',1.79537743797339296343e+09);
INSERT INTO "outbox" VALUES('01m82db79am78zwpp3m4x4eenq','01m82db796vr6tw92xskgwvc0x','pair:01m82db79678ryz122enwbg3x7',0,1,1,'notice','9659561ea7a4097109d58afddf0f3745','I talk only to people who were let in. Give this code to the person who runs me; it is good for an hour: `MRNT-NMPM`','sent',1,0,0,0.0,0.0,0.0,'','2','',2,1.79537743799433803558e+09,1,'',1.795377438014270544e+09);
INSERT INTO "outbox" VALUES('01m82db79agzb40qhtpsbybwc0','01m82db74qd16tnct9pk44tbas','pairing:telegram:100:2026-11-22',0,1,1,'notice','43d6a5e62757d93cba9645b8c8f362fb','telegram `999` “`Ада`” asks to talk to me and was given a code. If you know them, have them tell you the code and enter it with `mnema pair approve CODE` in a terminal, or `/approve CODE` in the page or the terminal chat. I do not tell you of others today; `mnema pair list` shows who waits.','sent',1,0,0,0.0,0.0,0.0,'','5','',5,1.79537743799433803558e+09,1,'',1.79537743801579785345e+09);
INSERT INTO "outbox" VALUES('01m82db7fwa657rqncfe451qdw','01m82db7b4dbfqfqdp88sbg8dd','01m82db7b4kntga2qbpf02m355:answer',0,1,1,'final','2392e2a77318c992f62cdfd393b13018','re «p1»','sent',1,0,0,315360000.0,2.11073743820933651914e+09,0.0,'01m82db7b4kntga2qbpf02m355','01m82db7fwa657rqncfe451qdw','',2,1.79537743820424747472e+09,1,'',1.79537743821914315229e+09);
INSERT INTO "outbox" VALUES('01m82db82xdzc1bn2p2k1qy001','01m82db7sgb277armq2ezdmm03','01m82db7sg6zatyxdhr8xqapeg:answer',0,1,1,'final','3c19ddf2f589b1a78e84c200bde8d14d','re «l0»','sent',1,0,0,315360000.0,2.1107374388629207612e+09,0.0,'01m82db7sg6zatyxdhr8xqapeg','01m82db82xdzc1bn2p2k1qy001','',2,1.79537743881367158884e+09,2,'',1.7953774388729765415e+09);
INSERT INTO "outbox" VALUES('01m82db8706vxh3nwmwfj4w88t','01m82db7sgb277armq2ezdmm03','01m82db8504qgmqwm3dhcy01w2:answer',0,1,1,'final','ad9b1aca6f7ac7564c05eba459347ce0','re «l1»','sent',1,0,0,315360000.0,2.11073743895392322545e+09,0.0,'01m82db8504qgmqwm3dhcy01w2','01m82db8706vxh3nwmwfj4w88t','',4,1.79537743894440746314e+09,2,'',1.79537743895912289618e+09);
INSERT INTO "outbox" VALUES('01m82db8e1ak5yr021j30pa01t','01m82db7sgb277armq2ezdmm03','01m82db8d31x562g3bk10wnz7h:answer',0,1,1,'final','54e57efc65e8126734488484f2dd85c3','re «l2»','sending',1,0,0,315360000.0,2.11073743917449283599e+09,0.0,'01m82db8d31x562g3bk10wnz7h','','',6,1.79537743916967296601e+09,2,'',0.0);
CREATE TABLE person_removal (
	id TEXT NOT NULL, 
	spaces TEXT NOT NULL, 
	parties TEXT NOT NULL, 
	blobs TEXT NOT NULL, 
	receipt TEXT NOT NULL, 
	at DOUBLE NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "person_removal" VALUES('l0','["p-gone"]','["telegram:5007"]','[]','{}',1795000000.0);
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
INSERT INTO "prefix_text" VALUES('b6b8c12c30216ce4550efd4eee0cb373d12602aa7c9e09a0c7341d015fd46f18','[Daily log of 2026-11-22, for reference]
## 19:57 · web · turns 1–2

- «g0» the roses want water; I prefer tea. 花园要浇水
- «g1» the roses want water; I prefer tea. 花园要浇水

## 19:57 · web · turns 3–5

- «g2» the roses want water; I prefer tea. 花园要浇水
- «g3» the roses want water; I prefer tea. 花园要浇水
- «g4» the roses want water; I prefer tea. 花园要浇水
- 19:57 Bot: re «g0»
[End of the daily log]');
INSERT INTO "prefix_text" VALUES('c8501101b13878b31903cfd381d4feaf6ac54696150ef0429ba4d64b50548e89','[Daily log of 2026-11-22, for reference]
## 19:57 · web · turns 1–2

- «g0» the roses want water; I prefer tea. 花园要浇水
- «g1» the roses want water; I prefer tea. 花园要浇水

## 19:57 · web · turns 3–5

- «g2» the roses want water; I prefer tea. 花园要浇水
- «g3» the roses want water; I prefer tea. 花园要浇水
- «g4» the roses want water; I prefer tea. 花园要浇水
- 19:57 Bot: re «g0»

## 19:57 · web · turns 1–1

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
INSERT INTO "reduction" VALUES('01m82db5e00fap41narth7f886',0,'snip','01m82db46er4rk3q81e5cjhsv3','re … g0',3,'size',1);
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
INSERT INTO "snapshot" VALUES('01m82db46er4rk3q81e5cjhsv3','b73b62527681b8f5de1d6f00987f8f8d32f063078e32f3b7323d40d8c9306ea0',1,'01m82db5vzygdgfwf5gntfyb41',0,1.79537743668309140209e+09);
INSERT INTO "snapshot" VALUES('01m82db6dca8b049540e3vhvkr','e2f2e7aaafa10ef2666e310b8e214d99b841f22626add9083cfcbaef1de129a9',1,'',0,1.7953774371377058029e+09);
INSERT INTO "snapshot" VALUES('01m82db6qh69t7d7vak4xsrs15','e2f2e7aaafa10ef2666e310b8e214d99b841f22626add9083cfcbaef1de129a9',2,'',0,1.79537743761505174636e+09);
INSERT INTO "snapshot" VALUES('01m82db6y9dzkvsrdp2bn1tyjn','e2f2e7aaafa10ef2666e310b8e214d99b841f22626add9083cfcbaef1de129a9',2,'',0,1.79537743780130457874e+09);
INSERT INTO "snapshot" VALUES('01m82db74qd16tnct9pk44tbas','e2f2e7aaafa10ef2666e310b8e214d99b841f22626add9083cfcbaef1de129a9',1,'',0,1.79537743788646984095e+09);
INSERT INTO "snapshot" VALUES('01m82db7b4dbfqfqdp88sbg8dd','e2f2e7aaafa10ef2666e310b8e214d99b841f22626add9083cfcbaef1de129a9',1,'',0,1.79537743819247555725e+09);
INSERT INTO "snapshot" VALUES('01m82db7sgb277armq2ezdmm03','e2f2e7aaafa10ef2666e310b8e214d99b841f22626add9083cfcbaef1de129a9',1,'',0,1.79537743876356792448e+09);
INSERT INTO "snapshot" VALUES('01m82db8abg9s9z6s9j9aq1byj','e2f2e7aaafa10ef2666e310b8e214d99b841f22626add9083cfcbaef1de129a9',1,'',0,1.79537743908040928839e+09);
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
INSERT INTO "snapshot_part" VALUES('01m82db46er4rk3q81e5cjhsv3',0,'awareness','9e0b173ed1df3dfd43c2a0985610ed44f4e9ebf9fcb9be0298b11c768a32fb66','[]');
INSERT INTO "snapshot_part" VALUES('01m82db46er4rk3q81e5cjhsv3',1,'MEMORY.md','aa0fea7604628517643648c9af3ee050f3225f43e3c51d88013a8f7caf7f128f','[]');
INSERT INTO "snapshot_part" VALUES('01m82db6dca8b049540e3vhvkr',0,'awareness','9e0b173ed1df3dfd43c2a0985610ed44f4e9ebf9fcb9be0298b11c768a32fb66','[]');
INSERT INTO "snapshot_part" VALUES('01m82db6dca8b049540e3vhvkr',1,'MEMORY.md','b02c32b3bb159ffb30bb81250683be789e65af3789048470f6452f24be6ad698','[]');
INSERT INTO "snapshot_part" VALUES('01m82db6dca8b049540e3vhvkr',2,'log','b6b8c12c30216ce4550efd4eee0cb373d12602aa7c9e09a0c7341d015fd46f18','[]');
INSERT INTO "snapshot_part" VALUES('01m82db6qh69t7d7vak4xsrs15',0,'awareness','9e0b173ed1df3dfd43c2a0985610ed44f4e9ebf9fcb9be0298b11c768a32fb66','[]');
INSERT INTO "snapshot_part" VALUES('01m82db6qh69t7d7vak4xsrs15',1,'MEMORY.md','b02c32b3bb159ffb30bb81250683be789e65af3789048470f6452f24be6ad698','[]');
INSERT INTO "snapshot_part" VALUES('01m82db6qh69t7d7vak4xsrs15',2,'log','b6b8c12c30216ce4550efd4eee0cb373d12602aa7c9e09a0c7341d015fd46f18','[]');
INSERT INTO "snapshot_part" VALUES('01m82db6y9dzkvsrdp2bn1tyjn',0,'awareness','9e0b173ed1df3dfd43c2a0985610ed44f4e9ebf9fcb9be0298b11c768a32fb66','[]');
INSERT INTO "snapshot_part" VALUES('01m82db6y9dzkvsrdp2bn1tyjn',1,'MEMORY.md','b02c32b3bb159ffb30bb81250683be789e65af3789048470f6452f24be6ad698','[]');
INSERT INTO "snapshot_part" VALUES('01m82db6y9dzkvsrdp2bn1tyjn',2,'log','b6b8c12c30216ce4550efd4eee0cb373d12602aa7c9e09a0c7341d015fd46f18','[]');
INSERT INTO "snapshot_part" VALUES('01m82db74qd16tnct9pk44tbas',0,'awareness','9e0b173ed1df3dfd43c2a0985610ed44f4e9ebf9fcb9be0298b11c768a32fb66','[]');
INSERT INTO "snapshot_part" VALUES('01m82db74qd16tnct9pk44tbas',1,'MEMORY.md','b02c32b3bb159ffb30bb81250683be789e65af3789048470f6452f24be6ad698','[]');
INSERT INTO "snapshot_part" VALUES('01m82db74qd16tnct9pk44tbas',2,'log','c8501101b13878b31903cfd381d4feaf6ac54696150ef0429ba4d64b50548e89','[]');
INSERT INTO "snapshot_part" VALUES('01m82db7b4dbfqfqdp88sbg8dd',0,'awareness','9e0b173ed1df3dfd43c2a0985610ed44f4e9ebf9fcb9be0298b11c768a32fb66','[]');
INSERT INTO "snapshot_part" VALUES('01m82db7b4dbfqfqdp88sbg8dd',1,'MEMORY.md','b02c32b3bb159ffb30bb81250683be789e65af3789048470f6452f24be6ad698','[]');
INSERT INTO "snapshot_part" VALUES('01m82db7b4dbfqfqdp88sbg8dd',2,'log','c8501101b13878b31903cfd381d4feaf6ac54696150ef0429ba4d64b50548e89','[]');
INSERT INTO "snapshot_part" VALUES('01m82db7sgb277armq2ezdmm03',0,'awareness','9e0b173ed1df3dfd43c2a0985610ed44f4e9ebf9fcb9be0298b11c768a32fb66','[]');
INSERT INTO "snapshot_part" VALUES('01m82db7sgb277armq2ezdmm03',1,'MEMORY.md','b02c32b3bb159ffb30bb81250683be789e65af3789048470f6452f24be6ad698','[]');
INSERT INTO "snapshot_part" VALUES('01m82db7sgb277armq2ezdmm03',2,'log','c8501101b13878b31903cfd381d4feaf6ac54696150ef0429ba4d64b50548e89','[]');
INSERT INTO "snapshot_part" VALUES('01m82db8abg9s9z6s9j9aq1byj',0,'awareness','9e0b173ed1df3dfd43c2a0985610ed44f4e9ebf9fcb9be0298b11c768a32fb66','[]');
INSERT INTO "snapshot_part" VALUES('01m82db8abg9s9z6s9j9aq1byj',1,'MEMORY.md','b02c32b3bb159ffb30bb81250683be789e65af3789048470f6452f24be6ad698','[]');
INSERT INTO "snapshot_part" VALUES('01m82db8abg9s9z6s9j9aq1byj',2,'log','c8501101b13878b31903cfd381d4feaf6ac54696150ef0429ba4d64b50548e89','[]');
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
INSERT INTO "tool_call" VALUES('01m82db60vd450rb3a0ax5mdbv','01m82db5zk40v8rnyp1n2xrqpf',0,'call_g5','write_file','{"path": "notes/roses.md", "content": "water on Mondays"}','idempotent','9bf3d3daa5c3c50ead2f135635549d6c','done',1,'01m82db61sbb6wkjztgj40mbcx');
INSERT INTO "tool_call" VALUES('01m82db8bhma3nx9yn8pj3yx51','01m82db8ak3wgtdr6t7dna06ba',0,'call_x1','write_file','{"path": "notes/x.md", "content": "x"}','idempotent','e6f7dbcf6f1284c4b5c5720859e365f9','started',1,'');
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
INSERT INTO "turn" VALUES('01m82db49qsqt0sd396hshwhfe','01m82db46er4rk3q81e5cjhsv3',1,1,'01m82db46ee0ty39zsrg3gznvy','owner','done',0,0,'01m82db46edt4yw8pdmzb3y44w',1,1,1795377434.93511,1.79537743609615254398e+09,'owner',1.79537743483007121089e+09);
INSERT INTO "turn" VALUES('01m82db5fykmtt0sg98xbqqvg6','01m82db46er4rk3q81e5cjhsv3',2,1,'01m82db5f8zjy3gdf5sw3byyha','owner','done',0,0,'01m82db5f87sxb343t33x0h0gj',3,1,1.79537743615801429746e+09,1.79537743620219898219e+09,'owner',1.79537743613623833652e+09);
INSERT INTO "turn" VALUES('01m82db5jmm940a0m9h45rq5rt','01m82db46er4rk3q81e5cjhsv3',3,1,'01m82db5j2bb0fa6he099pqegp','owner','done',0,0,'01m82db5j2b1cz5a16vz5fc7nd',5,1,1.79537743624492216105e+09,1.79537743628714323044e+09,'owner',1.79537743622659063335e+09);
INSERT INTO "turn" VALUES('01m82db5pg273rf5nbw26fes3k','01m82db46er4rk3q81e5cjhsv3',4,1,'01m82db5nzjhghwzetzk1801y8','owner','done',0,0,'01m82db5nzqh3bw5zhhhjyjrff',7,1,1795377436.36882,1.795377436404790163e+09,'owner',1.79537743635143661499e+09);
INSERT INTO "turn" VALUES('01m82db5s534pzwtdcx76rfypa','01m82db46er4rk3q81e5cjhsv3',5,1,'01m82db5rwjp3wqtbdte91jkza','owner','done',0,0,'01m82db5rw5hczbf3k09v9c8wk',9,1,1.79537743645310115809e+09,1.79537743647947502139e+09,'owner',1.79537743644425392148e+09);
INSERT INTO "turn" VALUES('01m82db5zk40v8rnyp1n2xrqpf','01m82db46er4rk3q81e5cjhsv3',6,1,'01m82db5zdbsz8gsw2yc2gcfkg','owner','done',1,0,'01m82db5zd8cgm7t1sntp542fp',11,1,1.79537743665964698788e+09,1.79537743674238395689e+09,'owner',1.79537743665372490878e+09);
INSERT INTO "turn" VALUES('01m82db63h9p53wwj1hx4r2brx','01m82db46er4rk3q81e5cjhsv3',7,1,'01m82db633qtyqrb3417spt45d','owner','done',0,0,'01m82db633pakrm31h6rmbn5pk',15,1,1.79537743678583979608e+09,1.79537743681084895129e+09,'owner',1.7953774367714903354e+09);
INSERT INTO "turn" VALUES('01m82db6630nn5j1kdgeg6523c','01m82db46er4rk3q81e5cjhsv3',8,1,'01m82db65p6hqgq74s0ft9995y','owner','done',0,0,'01m82db65ppjvbaejy9m8ctk99',17,1,1.79537743686719775204e+09,1.79537743688335108753e+09,'owner',1.79537743685451221462e+09);
INSERT INTO "turn" VALUES('01m82db67k0esa0vk6gbnm9r9x','01m82db46er4rk3q81e5cjhsv3',9,1,'01m82db67e93bm3dkz5zxyeaz1','owner','done',0,0,'01m82db67e75gjexknj3xckqme',19,1,1.79537743691584920878e+09,1.79537743694302821158e+09,'owner',1.79537743691009473801e+09);
INSERT INTO "turn" VALUES('01m82db6dsv43r61aaxqqhgv07','01m82db6dca8b049540e3vhvkr',1,1,'01m82db6dcd11g48qkrcnvh6dt','owner','done',0,0,'01m82db6dc7vep9rv59tvntmew',1,1,1.79537743711374878888e+09,1.79537743715321636197e+09,'owner',1.79537743710013675694e+09);
INSERT INTO "turn" VALUES('01m82db6ghk0t2zfr3pmn67ctf','01m82db6dca8b049540e3vhvkr',2,1,'01m82db6g7fb8gq1wy0smq93cb','owner','done',0,0,'01m82db6g7e2jrfbe03aytvqfp',3,1,1.79537743720144581799e+09,1.79537743723704719539e+09,'owner',1.79537743719132518761e+09);
INSERT INTO "turn" VALUES('01m82db6jrcs47mqfkkz422xm7','01m82db6dca8b049540e3vhvkr',3,1,'01m82db6jbhq3wdhz8avmwfakp','owner','done',0,0,'01m82db6jb477pfzq3y1k8p9m0',5,1,1.79537743727248501777e+09,1.79537743729295086857e+09,'owner',1.79537743725914192196e+09);
INSERT INTO "turn" VALUES('01m82db6qpdrk76m1q80rws38a','01m82db6qh69t7d7vak4xsrs15',1,1,'01m82db6qh5xpv664ggpppbrsy','owner','done',0,0,'01m82db6qh1366v680qa5kytrs',1,1,1.79537743743023276332e+09,1.79537743746612381929e+09,'owner',1795377437.42592);
INSERT INTO "turn" VALUES('01m82db6sysnwpfgw7bh1xrm8f','01m82db6qh69t7d7vak4xsrs15',2,1,'01m82db6sg4m754s9a8rzz1v5k','owner','done',0,0,'01m82db6sgwg49hdz1hwa7chc5',3,1,1.79537743750286531447e+09,1.79537743753116583829e+09,'owner',1.79537743748832130438e+09);
INSERT INTO "turn" VALUES('01m82db6ww4nty8hrn7zkq7hsd','01m82db6qh69t7d7vak4xsrs15',3,2,'01m82db6wq25qdzavqn15bsmvv','owner','done',0,0,'01m82db6wqmngvyd88hp4gphw9',5,1,1.79537743759612393379e+09,1.79537743762147307393e+09,'owner',1.79537743759110379219e+09);
INSERT INTO "turn" VALUES('01m82db6yksp6anqz654wbbpwe','01m82db6y9dzkvsrdp2bn1tyjn',1,1,'01m82db6y9t6pbzmhz8k3ry4mt','owner','done',0,0,'01m82db6y9pd36zs4m7vj02vrx',1,1,1.79537743765175414082e+09,1.79537743769094753267e+09,'owner',1.79537743764136385922e+09);
INSERT INTO "turn" VALUES('01m82db72f2620fnz6meemvc2e','01m82db6y9dzkvsrdp2bn1tyjn',2,2,'01m82db721s7wx3kzcs41bq0jw','owner','done',0,0,'01m82db7218vkd4vq7jv2bh5f5',3,1,1.79537743777510333063e+09,1.79537743781420111653e+09,'owner',1.79537743776134824753e+09);
INSERT INTO "turn" VALUES('01m82db754gt2d6sqhzmby3g0w','01m82db74qd16tnct9pk44tbas',1,1,'01m82db74qbnwtysydn7qa7748','5005','done',0,0,'01m82db74qrbj4t78gky5h3nq4',1,1,1.7953774378607590199e+09,1.79537743790300083164e+09,'owner',1.79537743784739947314e+09);
INSERT INTO "turn" VALUES('01m82db77q939pfhqm7zbkakf2','01m82db74qd16tnct9pk44tbas',2,1,'01m82db77dprh876acwhxzhmvx','5005','done',0,0,'01m82db77dsyfcf13zqscahqjy',3,1,1.79537743794356703759e+09,1.79537743796228384967e+09,'owner',1.79537743793322443963e+09);
INSERT INTO "turn" VALUES('01m82db7f7y1n3q2ved5aqj7q9','01m82db7b4dbfqfqdp88sbg8dd',1,1,'01m82db7b4kntga2qbpf02m355','owner','done',0,0,'01m82db7b45145jbywtknxjm49',1,1,1.79537743818392920495e+09,1.79537743820424747472e+09,'owner',1.79537743805289435388e+09);
INSERT INTO "turn" VALUES('01m82db7wzym3ya66n6cqwawt7','01m82db7sgb277armq2ezdmm03',1,1,'01m82db7sg6zatyxdhr8xqapeg','owner','done',0,0,'01m82db7sg6xmh2z6njscnk3jj',1,2,1.79537743862330198291e+09,1.79537743881367158884e+09,'owner',1.79537743851238107677e+09);
INSERT INTO "turn" VALUES('01m82db862rhxqt4vjwe6n2aqb','01m82db7sgb277armq2ezdmm03',2,1,'01m82db8504qgmqwm3dhcy01w2','owner','done',0,0,'01m82db850h9avx0prr7hyfaa0',3,2,1.79537743891412305838e+09,1.79537743894440746314e+09,'owner',1.79537743888053846364e+09);
INSERT INTO "turn" VALUES('01m82db8ak3wgtdr6t7dna06ba','01m82db8abg9s9z6s9j9aq1byj',1,1,'01m82db8abp9fd390h4h6xvpay','owner','waiting',1,0,'01m82db8abwch84e3250ag9rvk',1,2,1795377439.05992,0.0,'owner',1.79537743905137491223e+09);
INSERT INTO "turn" VALUES('01m82db8dbdrvkpxjaavecw2yp','01m82db7sgb277armq2ezdmm03',3,1,'01m82db8d31x562g3bk10wnz7h','owner','done',0,0,'01m82db8d3fk5c3v84r9s185j2',5,2,1.79537743914712905881e+09,1.79537743916967296601e+09,'owner',1.79537743913963508601e+09);
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
INSERT INTO "usage" VALUES('01m82db5e0rhtye8wczt6qmh87','01m82db46er4rk3q81e5cjhsv3','01m82db49qsqt0sd396hshwhfe','gpt-6.1-terra','turn',2282,3,0,0,0,1.79537743609615254398e+09,'owner');
INSERT INTO "usage" VALUES('01m82db5gfnyvx5wafdnf6jw77','01m82db46er4rk3q81e5cjhsv3','','gpt-6-luna','extract',446,49,0,0,0,1.7953774361750721931e+09,'owner');
INSERT INTO "usage" VALUES('01m82db5haadc63mb4y1mdefg9','01m82db46er4rk3q81e5cjhsv3','01m82db5fykmtt0sg98xbqqvg6','gpt-6.1-terra','turn',2317,3,0,0,0,1.79537743620219898219e+09,'owner');
INSERT INTO "usage" VALUES('01m82db5jn47tvh96wr0310jf1','01m82db46er4rk3q81e5cjhsv3','','gpt-6-luna','extract',468,49,0,0,0,1.79537743624564790721e+09,'owner');
INSERT INTO "usage" VALUES('01m82db5kz7wdkpr978qgwtwq9','01m82db46er4rk3q81e5cjhsv3','01m82db5jmm940a0m9h45rq5rt','gpt-6.1-terra','turn',2378,3,0,0,0,1.79537743628714323044e+09,'owner');
INSERT INTO "usage" VALUES('01m82db5nc09aq53s29cww510j','01m82db46er4rk3q81e5cjhsv3','','gpt-6-luna','extract',480,49,0,0,0,1.79537743633275151248e+09,'owner');
INSERT INTO "usage" VALUES('01m82db5qmqeptwvq8dqa60q6n','01m82db46er4rk3q81e5cjhsv3','01m82db5pg273rf5nbw26fes3k','gpt-6.1-terra','turn',2435,3,0,0,0,1.795377436404790163e+09,'owner');
INSERT INTO "usage" VALUES('01m82db5s1exq31mc8hdyy5eqf','01m82db46er4rk3q81e5cjhsv3','','gpt-6-luna','extract',491,49,0,0,0,1.79537743644972515102e+09,'owner');
INSERT INTO "usage" VALUES('01m82db5szaat4c1p825wswce8','01m82db46er4rk3q81e5cjhsv3','01m82db5s534pzwtdcx76rfypa','gpt-6.1-terra','turn',2469,3,0,0,0,1.79537743647947502139e+09,'owner');
INSERT INTO "usage" VALUES('01m82db5v80083p5tf3pzm8ymy','01m82db46er4rk3q81e5cjhsv3','','gpt-6-luna','extract',503,49,0,0,0,1.79537743652088356018e+09,'owner');
INSERT INTO "usage" VALUES('01m82db5xepmpwxnas3mp6mxb2','01m82db46er4rk3q81e5cjhsv3','','gpt-6-luna','fold',456,71,0,0,0,1.79537743659008836743e+09,'owner');
INSERT INTO "usage" VALUES('01m82db60vkn6hdk15zeq45ypp','01m82db46er4rk3q81e5cjhsv3','01m82db5zk40v8rnyp1n2xrqpf','gpt-6.1-terra','turn',2602,19,0,0,0,1.79537743669912672043e+09,'owner');
INSERT INTO "usage" VALUES('01m82db626ccsjg835g1pw9gps','01m82db46er4rk3q81e5cjhsv3','01m82db5zk40v8rnyp1n2xrqpf','gpt-6.1-terra','turn',2686,3,0,0,0,1.79537743674238395689e+09,'owner');
INSERT INTO "usage" VALUES('01m82db634ea6386xw2rv3y8ck','01m82db46er4rk3q81e5cjhsv3','','gpt-6-luna','extract',521,1,0,0,0,1.79537743677214384077e+09,'owner');
INSERT INTO "usage" VALUES('01m82db64aj1ardphp31ahd9e3','01m82db46er4rk3q81e5cjhsv3','01m82db63h9p53wwj1hx4r2brx','gpt-6.1-terra','turn',2713,3,0,0,0,1.79537743681084895129e+09,'owner');
INSERT INTO "usage" VALUES('01m82db65mk5vd0p5attrp0c51','01m82db46er4rk3q81e5cjhsv3','','gpt-6-luna','extract',507,1,0,0,0,1.79537743685240268713e+09,'owner');
INSERT INTO "usage" VALUES('01m82db66kk0ztrm9cpq5vbz6a','01m82db46er4rk3q81e5cjhsv3','01m82db6630nn5j1kdgeg6523c','gpt-6.1-terra','turn',2741,3,0,0,0,1.79537743688335108753e+09,'owner');
INSERT INTO "usage" VALUES('01m82db673frbh4g225atm2tny','01m82db46er4rk3q81e5cjhsv3','','gpt-6-luna','extract',507,1,0,0,0,1795377436.89935,'owner');
INSERT INTO "usage" VALUES('01m82db68fnqv68qnww9bxdjm8','01m82db46er4rk3q81e5cjhsv3','01m82db67k0esa0vk6gbnm9r9x','gpt-6.1-terra','turn',2768,3,0,0,0,1.79537743694302821158e+09,'owner');
INSERT INTO "usage" VALUES('01m82db69db34ygd2gyjw5204m','01m82db46er4rk3q81e5cjhsv3','','gpt-6-luna','extract',507,1,0,0,0,1.79537743697376513474e+09,'owner');
INSERT INTO "usage" VALUES('01m82db6adbye1fksa2rc65qfv','01m82db46er4rk3q81e5cjhsv3','','gpt-6-luna','fold',529,102,0,0,0,1.79537743700594878198e+09,'owner');
INSERT INTO "usage" VALUES('01m82db6f1m6c22k7c3sr98tz8','01m82db6dca8b049540e3vhvkr','01m82db6dsv43r61aaxqqhgv07','gpt-6.1-terra','turn',2678,3,0,0,0,1.79537743715321636197e+09,'owner');
INSERT INTO "usage" VALUES('01m82db6fvceehev1xyhkgrjnn','01m82db6dca8b049540e3vhvkr','','gpt-6-luna','extract',461,1,0,0,0,1.79537743717904520039e+09,'owner');
INSERT INTO "usage" VALUES('01m82db6hnnh4rr4xa38kegw7y','01m82db6dca8b049540e3vhvkr','01m82db6ghk0t2zfr3pmn67ctf','gpt-6.1-terra','turn',2705,3,0,0,0,1.79537743723704719539e+09,'owner');
INSERT INTO "usage" VALUES('01m82db6jmsgv7e0pmjzgs6mq2','01m82db6dca8b049540e3vhvkr','','gpt-6-luna','extract',461,1,0,0,0,1.7953774372682528496e+09,'owner');
INSERT INTO "usage" VALUES('01m82db6kcdegk0rxheb4983c0','01m82db6dca8b049540e3vhvkr','01m82db6jrcs47mqfkkz422xm7','gpt-6.1-terra','turn',2733,3,0,0,0,1.79537743729295086857e+09,'owner');
INSERT INTO "usage" VALUES('01m82db6m5wmaeszyyf7258p7c','01m82db6dca8b049540e3vhvkr','','gpt-6-luna','extract',461,1,0,0,0,1.79537743731742334366e+09,'owner');
INSERT INTO "usage" VALUES('01m82db6n51ghppqvp8yk2pms0','01m82db6dca8b049540e3vhvkr','','gpt-6-luna','fold',419,25,0,0,0,1.79537743734966421128e+09,'owner');
INSERT INTO "usage" VALUES('01m82db6rtzw7x5va9e0fcsmpq','01m82db6qh69t7d7vak4xsrs15','01m82db6qpdrk76m1q80rws38a','gpt-6.1-terra','turn',2689,3,0,0,0,1.79537743746612381929e+09,'owner');
INSERT INTO "usage" VALUES('01m82db6sdxvavb93tmr5wx7d6','01m82db6qh69t7d7vak4xsrs15','','gpt-6-luna','extract',461,1,0,0,0,1.79537743748592209819e+09,'owner');
INSERT INTO "usage" VALUES('01m82db6tvzgadv3r0hvcjyh08','01m82db6qh69t7d7vak4xsrs15','01m82db6sysnwpfgw7bh1xrm8f','gpt-6.1-terra','turn',2716,3,0,0,0,1.79537743753116583829e+09,'owner');
INSERT INTO "usage" VALUES('01m82db6vg9jeqveecb3ck9zcs','01m82db6qh69t7d7vak4xsrs15','','gpt-6-luna','extract',461,1,0,0,0,1.79537743755282235141e+09,'owner');
INSERT INTO "usage" VALUES('01m82db6xnp4davce1c2qkn6cj','01m82db6qh69t7d7vak4xsrs15','01m82db6ww4nty8hrn7zkq7hsd','gpt-6.1-terra','turn',2689,3,0,0,0,1.79537743762147307393e+09,'owner');
INSERT INTO "usage" VALUES('01m82db6yfsxwqya328r1q98v5','01m82db6qh69t7d7vak4xsrs15','','gpt-6-luna','extract',461,1,0,0,0,1.7953774376479091644e+09,'owner');
INSERT INTO "usage" VALUES('01m82db6ztz28nxv11pvamympx','01m82db6y9dzkvsrdp2bn1tyjn','01m82db6yksp6anqz654wbbpwe','gpt-6.1-terra','turn',2689,3,0,0,0,1.79537743769094753267e+09,'owner');
INSERT INTO "usage" VALUES('01m82db70a7vfcng3z7dwec90g','01m82db6y9dzkvsrdp2bn1tyjn','','gpt-6-luna','extract',461,1,0,0,0,1.79537743770699620244e+09,'owner');
INSERT INTO "usage" VALUES('01m82db71em8smt875jjy220zk','01m82db6y9dzkvsrdp2bn1tyjn','','gpt-6-luna','fold',419,25,0,0,0,1.79537743774235439295e+09,'owner');
INSERT INTO "usage" VALUES('01m82db73p15n9zan404dbpyxa','01m82db6y9dzkvsrdp2bn1tyjn','01m82db72f2620fnz6meemvc2e','gpt-6.1-terra','turn',2689,3,0,0,0,1.79537743781420111653e+09,'owner');
INSERT INTO "usage" VALUES('01m82db744qvrnj9m72pe9yed9','01m82db6y9dzkvsrdp2bn1tyjn','','gpt-6-luna','extract',461,1,0,0,0,1.79537743782812142371e+09,'owner');
INSERT INTO "usage" VALUES('01m82db76fpf3hdajkagvpcm1n','01m82db74qd16tnct9pk44tbas','01m82db754gt2d6sqhzmby3g0w','gpt-6.1-terra','turn',2706,3,0,0,0,1.79537743790300083164e+09,'owner');
INSERT INTO "usage" VALUES('01m82db77b7qpxtctast18pgs3','01m82db74qd16tnct9pk44tbas','','gpt-6-luna','extract',461,1,0,0,0,1.79537743793140578264e+09,'owner');
INSERT INTO "usage" VALUES('01m82db78at7kadfdhq4rtvd6q','01m82db74qd16tnct9pk44tbas','01m82db77q939pfhqm7zbkakf2','gpt-6.1-terra','turn',2734,3,0,0,0,1.79537743796228384967e+09,'owner');
INSERT INTO "usage" VALUES('01m82db78y82w014wem9ktscf5','01m82db74qd16tnct9pk44tbas','','gpt-6-luna','extract',461,1,0,0,0,1795377437.98286,'owner');
INSERT INTO "usage" VALUES('01m82db7fwzpn8jxbwbsczjmzm','01m82db7b4dbfqfqdp88sbg8dd','01m82db7f7y1n3q2ved5aqj7q9','gpt-6.1-terra','turn',2761,3,0,0,0,1.79537743820424747472e+09,'owner');
INSERT INTO "usage" VALUES('01m82db7h64d8r2h4z8tpw4cxm','01m82db7b4dbfqfqdp88sbg8dd','','gpt-6-luna','extract',461,1,0,0,0,1.79537743824612283701e+09,'owner');
INSERT INTO "usage" VALUES('01m82db82x01y2js5m4k8kpd0n','01m82db7sgb277armq2ezdmm03','01m82db7wzym3ya66n6cqwawt7','gpt-6.1-terra','turn',2706,3,0,0,0,1.79537743881367158884e+09,'owner');
INSERT INTO "usage" VALUES('01m82db860nyk6p2k7zvdnxzvb','01m82db7sgb277armq2ezdmm03','','gpt-6-luna','extract',461,1,0,0,0,1.79537743891244959827e+09,'owner');
INSERT INTO "usage" VALUES('01m82db870jdrks57vy40mr168','01m82db7sgb277armq2ezdmm03','01m82db862rhxqt4vjwe6n2aqb','gpt-6.1-terra','turn',2734,3,0,0,0,1.79537743894440746314e+09,'owner');
INSERT INTO "usage" VALUES('01m82db87ra98wk0wbyfxnacq5','01m82db7sgb277armq2ezdmm03','','gpt-6-luna','extract',461,1,0,0,0,1.79537743896839284895e+09,'owner');
INSERT INTO "usage" VALUES('01m82db897zqm2j2y1wsnk6382','01m82db6dca8b049540e3vhvkr','','gpt-6-luna','fold',419,25,0,0,0,1.79537743901547765731e+09,'owner');
INSERT INTO "usage" VALUES('01m82db8bhbsfy69rmf3rwrx3y','01m82db8abg9s9z6s9j9aq1byj','01m82db8ak3wgtdr6t7dna06ba','gpt-6.1-terra','turn',2720,14,0,0,0,1.79537743908960270881e+09,'owner');
INSERT INTO "usage" VALUES('01m82db8e1qcbq47z7ytwbvndn','01m82db7sgb277armq2ezdmm03','01m82db8dbdrvkpxjaavecw2yp','gpt-6.1-terra','turn',2761,3,0,0,0,1.79537743916967296601e+09,'owner');
INSERT INTO "usage" VALUES('01m82db8efcnnzqmcm7r4afxgd','01m82db7sgb277armq2ezdmm03','','gpt-6-luna','extract',461,1,0,0,0,1.79537743918369269375e+09,'owner');
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
CREATE INDEX turn_started ON turn (started, who);
CREATE INDEX turn_who ON turn (who, asked);
CREATE INDEX usage_at ON usage (at);
CREATE INDEX usage_conversation ON usage (conversation, at);
CREATE INDEX usage_who ON usage (who, at);
CREATE INDEX reduction_conversation ON reduction (conversation);
CREATE INDEX tool_call_started ON tool_call (turn_id) WHERE state = 'started';
CREATE TRIGGER message_kept_as_is BEFORE UPDATE ON message WHEN NOT EXISTS (SELECT 1 FROM removal WHERE conversation = OLD.conversation) BEGIN SELECT RAISE(ABORT, 'messages are never changed'); END;
CREATE TRIGGER message_kept BEFORE DELETE ON message WHEN NOT EXISTS (SELECT 1 FROM removal WHERE conversation = OLD.conversation) BEGIN SELECT RAISE(ABORT, 'messages are never deleted'); END;
COMMIT;
