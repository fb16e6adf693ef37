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
INSERT INTO "access_request" VALUES('01m85dfn08gzq61g46b2ej74rf','telegram','100','user','999','Ада','01m85dfn05tpw82z749792n28v','en','ade8b5bd8de6486d01a700d92e5a1d24a86184b83f37d1e214e0ac9c38cb92bd','pending',1.79548184640782499312e+09,1.79547824640800309176e+09);
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
INSERT INTO "alembic_version" VALUES('r0010');
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
INSERT INTO "audit" VALUES(1,1.79547824540015769001e+09,'','memory.extract','','','allowed','+1 -0','','e06f45a15d545a7ba93ef3766268e9f18842e09e7f86abd9acb00ca2dae70b30');
INSERT INTO "audit" VALUES(2,1.79547824544924068453e+09,'','memory.extract','','','allowed','+1 -0','e06f45a15d545a7ba93ef3766268e9f18842e09e7f86abd9acb00ca2dae70b30','9aef49f0d670995263ff65632c37cc218304303f11431059c6a0cdd20aecb8fd');
INSERT INTO "audit" VALUES(3,1.79547824548200082774e+09,'','memory.extract','','','allowed','+1 -0','9aef49f0d670995263ff65632c37cc218304303f11431059c6a0cdd20aecb8fd','f48317f318cbb46c9679b9c87bb4a6b01018cea04641e7c7eefc858bc6c72b32');
INSERT INTO "audit" VALUES(4,1.79547824555068612096e+09,'','memory.extract','','','allowed','+1 -0','f48317f318cbb46c9679b9c87bb4a6b01018cea04641e7c7eefc858bc6c72b32','4a04b55284bdd7b98ede287ef8085a38c72b0a25468324ed9cc33bee9ba74ae0');
INSERT INTO "audit" VALUES(5,1.79547824561888742442e+09,'','memory.extract','','','allowed','+1 -0','4a04b55284bdd7b98ede287ef8085a38c72b0a25468324ed9cc33bee9ba74ae0','515a0bbd5e66e2e882d97b08b5f993b5e83787997a3ccfd89c320fa323fadceb');
INSERT INTO "audit" VALUES(6,1.79547824566896438601e+09,'owner','tool write_file','01m85dfkgc5cz1azac24fastfz','a65c0cbb3d6f8a3ca8deb88a31296e75bb9021ac7f69eeafed30aead39d1d60d','allowed','started','515a0bbd5e66e2e882d97b08b5f993b5e83787997a3ccfd89c320fa323fadceb','66fa50eb317a44c13d0573698975c253ee8f37cc985f621714edc3a71c0f3097');
INSERT INTO "audit" VALUES(7,1.79547824584551739693e+09,'','memory.remember','','','allowed','+1 -0','66fa50eb317a44c13d0573698975c253ee8f37cc985f621714edc3a71c0f3097','183ddc69a5825009eed6b9116c8fff06e91ee00b787b74b84c7526decebd7860');
INSERT INTO "audit" VALUES(8,1.79547824613047337532e+09,'web/console/owner','clear','01m85dfmmwxrm57wrt95vekgyb','','allowed','epoch 2','183ddc69a5825009eed6b9116c8fff06e91ee00b787b74b84c7526decebd7860','fbae4a45fa1a7eb16a72dc10bbe1868e0f14b125889fed8490b1fc8276dbf000');
INSERT INTO "audit" VALUES(9,1.79547824623690366742e+09,'web/console/owner','clear','01m85dfmsh09y8ewete9jwjj9e','','allowed','epoch 2','fbae4a45fa1a7eb16a72dc10bbe1868e0f14b125889fed8490b1fc8276dbf000','e0378c6ffc75ff2663c598f93d670adfd078fa23519d0065678c696895908007');
INSERT INTO "audit" VALUES(10,1.79547824640800309176e+09,'telegram/100/999','user asks','telegram/100/999','','allowed','pending','e0378c6ffc75ff2663c598f93d670adfd078fa23519d0065678c696895908007','2185fc6d639db470d02eab55fd327743a5289bb4d001b71ef312421600754441');
INSERT INTO "audit" VALUES(11,1.79547824701838850975e+09,'owner','tool write_file','01m85dfnjjqzq1bcq76dndsma9','f5e908acc3cb7f989e16b43cb7a206020827475d8f8b35885e2a6be8b0521a47','allowed','started','2185fc6d639db470d02eab55fd327743a5289bb4d001b71ef312421600754441','f02778ab7953d7784b35f8202e55d74b1d87b3a384842e0b187fba9128cc0f9f');
CREATE TABLE audit_head (
	id INTEGER NOT NULL, 
	seq INTEGER NOT NULL, 
	hash TEXT NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "audit_head" VALUES(1,11,'f02778ab7953d7784b35f8202e55d74b1d87b3a384842e0b187fba9128cc0f9f');
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
INSERT INTO "clearing" VALUES('01m85dfmmwxrm57wrt95vekgyb',2,1,'',0,1.79547824613047337532e+09);
INSERT INTO "clearing" VALUES('01m85dfmsh09y8ewete9jwjj9e',2,1,'',0,1.79547824623690366742e+09);
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
INSERT INTO "conversation" VALUES('01m85dfkgc5cz1azac24fastfz','web','console','garden','','dm','',1,21,10,25,1,'01m85dfmdk6xkzdsz3aj55h1yq','','',4,'2c67539d4f41efb592ebc932bbeeab38c411ab9d599bbcd52c8ce07ea9dea208','fold',1,'«g0» the roses want water; I prefer tea. 花园要浇水',1.79547824583639121058e+09,1.79547824584712791438e+09);
INSERT INTO "conversation" VALUES('01m85dfmfav2ks36e09bexr3t7','web','console','work','','dm','',1,7,4,12,1,'','','',2,'2c67539d4f41efb592ebc932bbeeab38c411ab9d599bbcd52c8ce07ea9dea208','fold undone',1,'«w0» what do you make of it?',1.79547824696724033356e+09,1.79547824696724033356e+09);
INSERT INTO "conversation" VALUES('01m85dfmmwxrm57wrt95vekgyb','web','console','old','','dm','',2,7,4,9,5,'','','',1,'2c67539d4f41efb592ebc932bbeeab38c411ab9d599bbcd52c8ce07ea9dea208','clear',1,'«o0» what do you make of it?',1.79547824615443515775e+09,1.79547824617864847183e+09);
INSERT INTO "conversation" VALUES('01m85dfmsh09y8ewete9jwjj9e','web','console','new','','dm','',2,5,3,7,3,'','','',1,'2c67539d4f41efb592ebc932bbeeab38c411ab9d599bbcd52c8ce07ea9dea208','clear',1,'«n0» what do you make of it?',1.79547824626335024832e+09,1.79547824628447818757e+09);
INSERT INTO "conversation" VALUES('01m85dfmwxeyjqd3z9ntxxssrb','telegram','100','5005','','dm','',1,5,3,6,1,'','','',0,'2c67539d4f41efb592ebc932bbeeab38c411ab9d599bbcd52c8ce07ea9dea208','SOUL.md, tools or model',1,'«t0» what do you make of it?',1.7954782463638715744e+09,1.79547824640800309176e+09);
INSERT INTO "conversation" VALUES('01m85dfn05tpw82z749792n28v','telegram','100','999','','dm','telegram-999',1,1,1,3,1,'','','',0,'','',0,'',0.0,1.79547824640800309176e+09);
INSERT INTO "conversation" VALUES('01m85dfn15apn7ef2cwtd8tqw1','web','console','picture','','dm','',1,3,2,3,1,'','','',0,'2c67539d4f41efb592ebc932bbeeab38c411ab9d599bbcd52c8ce07ea9dea208','SOUL.md, tools or model',1,'«p1» what do you make of it? 📎 dot.png',1.79547824643723678587e+09,1.79547824657840275758e+09);
INSERT INTO "conversation" VALUES('01m85dfnb1sps826pc8z2350xf','web','console','late','','dm','',1,7,4,7,1,'','','',0,'2c67539d4f41efb592ebc932bbeeab38c411ab9d599bbcd52c8ce07ea9dea208','SOUL.md, tools or model',1,'«l0» what do you make of it?',1.79547824704724216455e+09,1.79547824706260895728e+09);
INSERT INTO "conversation" VALUES('01m85dfnjjqzq1bcq76dndsma9','web','console','tool','','dm','',1,3,2,3,1,'','','',0,'2c67539d4f41efb592ebc932bbeeab38c411ab9d599bbcd52c8ce07ea9dea208','SOUL.md, tools or model',1,'«x1» use write_file {"path": "notes/x.md", "content": "x"}',1.79547824704245686535e+09,1.79547824704245686535e+09);
CREATE TABLE coverage (
	message_id TEXT NOT NULL, 
	class TEXT NOT NULL, 
	fold_id TEXT NOT NULL, 
	PRIMARY KEY (message_id)
);
INSERT INTO "coverage" VALUES('01m85dfkgcjd2j1yk6t496gzh5','folded','01m85dfm6jv4wd15vj25pjf5jw');
INSERT INTO "coverage" VALUES('01m85dfkzeggz76cmdtwe6knqc','folded','01m85dfm6jv4wd15vj25pjf5jw');
INSERT INTO "coverage" VALUES('01m85dfm0b6bm2es0g6nkfpt1m','folded','01m85dfm6jv4wd15vj25pjf5jw');
INSERT INTO "coverage" VALUES('01m85dfm14ccw0bmh48wh9crx8','folded','01m85dfm6jv4wd15vj25pjf5jw');
INSERT INTO "coverage" VALUES('01m85dfm1kkrakms9gfmqmeg7j','folded','01m85dfmdk6xkzdsz3aj55h1yq');
INSERT INTO "coverage" VALUES('01m85dfm2pxz5cxhndw8j9h0vv','folded','01m85dfmdk6xkzdsz3aj55h1yq');
INSERT INTO "coverage" VALUES('01m85dfm3knp77n9r9yy2h8m69','folded','01m85dfmdk6xkzdsz3aj55h1yq');
INSERT INTO "coverage" VALUES('01m85dfm49kf8mk3j43nghmnwz','folded','01m85dfmdk6xkzdsz3aj55h1yq');
INSERT INTO "coverage" VALUES('01m85dfm4w6c7zrbrkjgyp9zn1','folded','01m85dfmdk6xkzdsz3aj55h1yq');
INSERT INTO "coverage" VALUES('01m85dfm5sbwqrvb7vr07h4af5','folded','01m85dfmdk6xkzdsz3aj55h1yq');
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
INSERT INTO "extraction" VALUES('01m85dfkhpqwa22qbaqtrx0jpg','','01m85dfkgc5cz1azac24fastfz',1,'done',2,'','kept 1',1.79547824535827684399e+09);
INSERT INTO "extraction" VALUES('01m85dfm0g3bmtkjaedsp9ap66','','01m85dfkgc5cz1azac24fastfz',2,'done',2,'','kept 1',1.79547824541257476814e+09);
INSERT INTO "extraction" VALUES('01m85dfm1trce0xd35jrk2ktb4','','01m85dfkgc5cz1azac24fastfz',3,'done',2,'','kept 1',1.79547824546260452265e+09);
INSERT INTO "extraction" VALUES('01m85dfm3qnjvsf6cb902tcw69','','01m85dfkgc5cz1azac24fastfz',4,'done',2,'','kept 1',1.79547824551313424108e+09);
INSERT INTO "extraction" VALUES('01m85dfm52k1n5aq64wn5a2q1p','','01m85dfkgc5cz1azac24fastfz',5,'done',2,'','kept 1',1.79547824556163239479e+09);
INSERT INTO "extraction" VALUES('01m85dfm8c0qq82vy2d30dmfzh','','01m85dfkgc5cz1azac24fastfz',6,'done',2,'','kept 0',1.79547824568536877631e+09);
INSERT INTO "extraction" VALUES('01m85dfmaajrq19rb0rfwg2ywp','','01m85dfkgc5cz1azac24fastfz',7,'done',2,'','kept 0',1.79547824571793150898e+09);
INSERT INTO "extraction" VALUES('01m85dfmbcjnwvzz2nc7rf28yv','','01m85dfkgc5cz1azac24fastfz',8,'done',2,'','kept 0',1.7954782457521772385e+09);
INSERT INTO "extraction" VALUES('01m85dfmchcpfch1mbkzs1042v','','01m85dfkgc5cz1azac24fastfz',9,'done',2,'','kept 0',1.79547824578887557983e+09);
INSERT INTO "extraction" VALUES('01m85dfmffxxw6q0ag62sbnfha','','01m85dfmfav2ks36e09bexr3t7',1,'done',2,'','kept 0',1.79547824589091157914e+09);
INSERT INTO "extraction" VALUES('01m85dfmgpyapy3w03p8rv4y3n','','01m85dfmfav2ks36e09bexr3t7',2,'done',2,'','kept 0',1.79547824592538928989e+09);
INSERT INTO "extraction" VALUES('01m85dfmhy6fppxqk32hsw502n','','01m85dfmfav2ks36e09bexr3t7',3,'done',2,'','kept 0',1.79547824596393442156e+09);
INSERT INTO "extraction" VALUES('01m85dfmn16e0gdrjzkwq2gcgb','','01m85dfmmwxrm57wrt95vekgyb',1,'done',2,'','kept 0',1.79547824606876039498e+09);
INSERT INTO "extraction" VALUES('01m85dfmp9aq1twe6nmzvy0n94','','01m85dfmmwxrm57wrt95vekgyb',2,'done',2,'','kept 0',1.79547824610707211492e+09);
INSERT INTO "extraction" VALUES('01m85dfmrehgw28fffyqgd360w','','01m85dfmmwxrm57wrt95vekgyb',3,'done',2,'','kept 0',1.79547824617864847183e+09);
INSERT INTO "extraction" VALUES('01m85dfmsq2tb7r14eydk37jb5','','01m85dfmsh09y8ewete9jwjj9e',1,'done',2,'','kept 0',1.79547824621747922901e+09);
INSERT INTO "extraction" VALUES('01m85dfmvtqxn3v3826hg0kfnb','','01m85dfmsh09y8ewete9jwjj9e',2,'done',2,'','kept 0',1.79547824628447818757e+09);
INSERT INTO "extraction" VALUES('01m85dfmx5rg0j0tzcrqejqmr4','','01m85dfmwxeyjqd3z9ntxxssrb',1,'done',2,'','kept 0',1.79547824633329105377e+09);
INSERT INTO "extraction" VALUES('01m85dfmz209n0fk5eb7ynnxh5','','01m85dfmwxeyjqd3z9ntxxssrb',2,'done',2,'','kept 0',1.79547824638391470908e+09);
INSERT INTO "extraction" VALUES('01m85dfn51bvb1y5v841w4krfr','','01m85dfn15apn7ef2cwtd8tqw1',1,'done',2,'','kept 0',1.79547824657840275758e+09);
INSERT INTO "extraction" VALUES('01m85dfnctc78btn9daqz3rmv3','','01m85dfnb1sps826pc8z2350xf',1,'done',2,'','kept 0',1.79547824689945936206e+09);
INSERT INTO "extraction" VALUES('01m85dfngvp2ahqvcew9m8kjqx','','01m85dfnb1sps826pc8z2350xf',2,'done',2,'','kept 0',1.79547824695257902147e+09);
INSERT INTO "extraction" VALUES('01m85dfnmbjehtyqnzrf5akgqd','','01m85dfnb1sps826pc8z2350xf',3,'found',2,'{"facts": [], "dropped": {}}','',1.79547824706260895728e+09);
CREATE TABLE file_label (
	space TEXT NOT NULL, 
	path TEXT NOT NULL, 
	at DOUBLE NOT NULL, 
	PRIMARY KEY (space, path)
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
	PRIMARY KEY (id), 
	FOREIGN KEY(conversation) REFERENCES conversation (id)
);
INSERT INTO "fold" VALUES('01m85dfm6jv4wd15vj25pjf5jw','01m85dfkgc5cz1azac24fastfz','','web',1,'',1,4,1,2,2,'folded','model','balanced','/context fold','- «g0» the roses want water; I prefer tea. 花园要浇水
- «g1» the roses want water; I prefer tea. 花园要浇水','- «g0» the roses want water; I prefer tea. 花园要浇水
- «g1» the roses want water; I prefer tea. 花园要浇水',41,'daab4ebfed69eb6b8fab12a484418a3edc84fb39455842b008d917d82bf5de99','memory/2026-11-23.md',190,155,0,1.79547824558649659156e+09,1,'',11,0,'',0);
INSERT INTO "fold" VALUES('01m85dfmdk6xkzdsz3aj55h1yq','01m85dfkgc5cz1azac24fastfz','','web',1,'01m85dfm6jv4wd15vj25pjf5jw',5,10,3,5,5,'folded','model','balanced','/context fold','- «g2» the roses want water; I prefer tea. 花园要浇水
- «g3» the roses want water; I prefer tea. 花园要浇水
- «g4» the roses want water; I prefer tea. 花园要浇水','- «g2» the roses want water; I prefer tea. 花园要浇水
- «g3» the roses want water; I prefer tea. 花园要浇水
- «g4» the roses want water; I prefer tea. 花园要浇水',62,'2fdde924099a98327939f8258278da349a0d5fe0823020aa6ff950b62b33e4a1','memory/2026-11-23.md',361,268,0,1.79547824581118202211e+09,1,'',21,0,'',0);
INSERT INTO "fold" VALUES('01m85dfmk352zdnm8hn1tx6h3s','01m85dfmfav2ks36e09bexr3t7','','web',1,'',1,2,1,1,1,'undone','model','balanced','/context fold','- «w0» what do you make of it?','- «w0» what do you make of it?',12,'bf86567cae3b16570561cf29bc93f7b8a2b3d170a0cfde23f1f2c58b3897d6cd','memory/2026-11-23.md',90,72,0,1.79547824598745703696e+09,1,'',7,0,'',0);
INSERT INTO "fold" VALUES('01m85dfmtwwd56jznb2sb6c02b','01m85dfmsh09y8ewete9jwjj9e','','web',1,'',1,2,1,1,1,'folded','model','balanced','/new','- «n0» what do you make of it?','',0,'17f03bdd82307f162ee612e92825a54ec6bf4642b4f7a9ea563efd195e15dd6d','memory/2026-11-23.md',30,0,1,1.79547824623690366742e+09,1,'',3,0,'',0);
INSERT INTO "fold" VALUES('01m85dfnj05ax8cgbqgdn0n52b','01m85dfmfav2ks36e09bexr3t7','','web',1,'',1,2,1,1,1,'checked','model','balanced','/context fold','- «w0» what do you make of it?','- «w0» what do you make of it?',12,'bf86567cae3b16570561cf29bc93f7b8a2b3d170a0cfde23f1f2c58b3897d6cd','',90,60,0,1.79547824697602796551e+09,2,'',7,0,'',0);
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
	deaths_alone INTEGER DEFAULT '0' NOT NULL, 
	PRIMARY KEY (id), 
	CONSTRAINT inbox_key UNIQUE (channel, account, "key"), 
	FOREIGN KEY(conversation) REFERENCES conversation (id)
);
INSERT INTO "inbox" VALUES('01m85dfkgcjd2j1yk6t496gzh5','01m85dfkgc5cz1azac24fastfz','web','console','garden1b8704d851ff41aea25e670d6e437596','message','owner','{"text": "«g0» the roses want water; I prefer tea. 花园要浇水"}','','done','',0,'01m85dfkhpqwa22qbaqtrx0jpg','01m85dfkgcjzfdt2z6zypm72rb',1,0,0.0,1.7954782448762733936e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m85dfm0b6bm2es0g6nkfpt1m','01m85dfkgc5cz1azac24fastfz','web','console','garden102adebeca5844d5903150886cab11f8','message','owner','{"text": "«g1» the roses want water; I prefer tea. 花园要浇水"}','','done','',0,'01m85dfm0g3bmtkjaedsp9ap66','01m85dfm0b8tet76de2smbbyp7',3,0,0.0,1795478245.38705,1,'',0);
INSERT INTO "inbox" VALUES('01m85dfm1kkrakms9gfmqmeg7j','01m85dfkgc5cz1azac24fastfz','web','console','garden38ceb36c0f924d74ac88ac1492fc1605','message','owner','{"text": "«g2» the roses want water; I prefer tea. 花园要浇水"}','','done','',0,'01m85dfm1trce0xd35jrk2ktb4','01m85dfm1k4jyfwr3haw55fnth',5,0,0.0,1.79547824542758321757e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m85dfm3knp77n9r9yy2h8m69','01m85dfkgc5cz1azac24fastfz','web','console','garden4a1fbb517de743e2bcf0aa5d95d80fa9','message','owner','{"text": "«g3» the roses want water; I prefer tea. 花园要浇水"}','','done','',0,'01m85dfm3qnjvsf6cb902tcw69','01m85dfm3kempfma7t31yz79zj',7,0,0.0,1.79547824549173760414e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m85dfm4w6c7zrbrkjgyp9zn1','01m85dfkgc5cz1azac24fastfz','web','console','gardend677894dd1f84327b1146194d4b41d0c','message','owner','{"text": "«g4» the roses want water; I prefer tea. 花园要浇水"}','','done','',0,'01m85dfm52k1n5aq64wn5a2q1p','01m85dfm4wb7t914b3dvc6v3w6',9,0,0.0,1.7954782455328595638e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m85dfm64q04hapz33ex4xj5y','01m85dfkgc5cz1azac24fastfz','web','console','garden3d746a41b2b44987beee67c2d7de7f70','command','owner','{"text": "/context fold"}','','done','begun',1,'','01m85dfm6497h228s1x66yvbnp',11,0,0.0,1.79547824557235550886e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m85dfm884q16ehh8aafbymjy','01m85dfkgc5cz1azac24fastfz','web','console','garden7b042e0288ab43f6b2232f645ecdb25a','message','owner','{"text": "«g5» use write_file {\"path\": \"notes/roses.md\", \"content\": \"water on Mondays\"}"}','','done','',0,'01m85dfm8c0qq82vy2d30dmfzh','01m85dfm88a75e5dvpzav2dfgq',13,0,0.0,1.79547824564069604877e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m85dfma6rpgxsrftmhs1d6z9','01m85dfkgc5cz1azac24fastfz','web','console','gardenefb4d8e141a64f16983d345b7385a5e3','message','owner','{"text": "«g6» what do you make of it?"}','','done','',0,'01m85dfmaajrq19rb0rfwg2ywp','01m85dfma63mezkyfrphxrg9hd',15,0,0.0,1.79547824570247912404e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m85dfmb72eaxpfpxp2m8nq66','01m85dfkgc5cz1azac24fastfz','web','console','gardencd521dca1d14417fb6c05a0d23f0116d','message','owner','{"text": "«g7» what do you make of it?"}','','done','',0,'01m85dfmbcjnwvzz2nc7rf28yv','01m85dfmb7a3pck50n6c0516q9',17,0,0.0,1.79547824573590064046e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m85dfmc9ajneaky4ychnhmky','01m85dfkgc5cz1azac24fastfz','web','console','gardenaa6f040c1e9244b5ab3d927b8b806a61','message','owner','{"text": "«g8» what do you make of it?"}','','done','',0,'01m85dfmchcpfch1mbkzs1042v','01m85dfmc971q6ett0cwnzkc22',19,0,0.0,1.79547824576960182189e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m85dfmddbb148xnpdn2g6zr6','01m85dfkgc5cz1azac24fastfz','web','console','garden2803cc5669a848ceab1c57008c711bef','command','owner','{"text": "/context fold"}','','done','begun',1,'','01m85dfmddkes6549j79w3hmz7',21,0,0.0,1.79547824580581188201e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m85dfmec21x69ftjq4vzgyfh','01m85dfkgc5cz1azac24fastfz','web','console','gardenc9a0ec6f00fd43589072b19ea0eeef53','command','owner','{"text": "/remember The gate code is 4711"}','','done','begun',1,'','01m85dfmec02nqqqk9k29bc1dk',23,0,0.0,1.79547824583639121058e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m85dfmfap997511v5kq8v5a6','01m85dfmfav2ks36e09bexr3t7','web','console','work3e22c8ff37544cef85f5efb77e1f9bcd','message','owner','{"text": "«w0» what do you make of it?"}','','done','',0,'01m85dfmffxxw6q0ag62sbnfha','01m85dfmfarnde7ytjqxnq5ezh',1,0,0.0,1.7954782458669743538e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m85dfmgj98etb73jynh4ry15','01m85dfmfav2ks36e09bexr3t7','web','console','work79cfe8ead3f84d7a981388fc1dc5a055','message','owner','{"text": "«w1» what do you make of it?"}','','done','',0,'01m85dfmgpyapy3w03p8rv4y3n','01m85dfmgjtpst2ghqfqtsqhbw',3,0,0.0,1.79547824590672469137e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m85dfmhsqjkhdyng986zbdd8','01m85dfmfav2ks36e09bexr3t7','web','console','worka816bf275f2249f3bb893a7dbf5875bb','message','owner','{"text": "«w2» what do you make of it?"}','','done','',0,'01m85dfmhy6fppxqk32hsw502n','01m85dfmhsjga7k4wnvtjk3ba0',5,0,0.0,1.79547824594510412217e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m85dfmjvaenvdw7ewqrdfghs','01m85dfmfav2ks36e09bexr3t7','web','console','work39746f4feca14cdbaa29b6cfad0fe61f','command','owner','{"text": "/context fold"}','','done','begun',1,'','01m85dfmjvcqkz8kt154wy7tbv',7,0,0.0,1.79547824597922062875e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m85dfmkv5v9ea8crvd2anwwz','01m85dfmfav2ks36e09bexr3t7','web','console','work5447fcf088fc415ab13e4fd3f1451307','command','owner','{"text": "/context undo"}','','done','begun',1,'','01m85dfmkv47q2fxkytfgsh6t7',9,0,0.0,1.7954782460116946697e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m85dfmmw129pyjhkc16tp8vk','01m85dfmmwxrm57wrt95vekgyb','web','console','old4cb9c3d819e94dbabd56170d550ac6cd','message','owner','{"text": "«o0» what do you make of it?"}','','done','',0,'01m85dfmn16e0gdrjzkwq2gcgb','01m85dfmmw3196yjgw33hccmtw',1,0,0.0,1.79547824604443573954e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m85dfmp35kt9xyqxmd3xysx9','01m85dfmmwxrm57wrt95vekgyb','web','console','old4b7c5be1574145bfa65ef48f2ed41ed7','message','owner','{"text": "«o1» what do you make of it?"}','','done','',0,'01m85dfmp9aq1twe6nmzvy0n94','01m85dfmp3x6qcype81hvh1w5m',3,0,0.0,1.79547824608380818364e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m85dfmq9pbe3hq4rgv2jaqtg','01m85dfmmwxrm57wrt95vekgyb','web','console','oldafad3845c4ac408a9df8f49bd88c554c','command','owner','{"text": "/context clear"}','','done','begun',1,'','01m85dfmq95zbgy304k22wvkjs',5,0,0.0,1.79547824612198448183e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m85dfmra25s7cn41hc5ygna4','01m85dfmmwxrm57wrt95vekgyb','web','console','old6cfed7d9fa304412bd00e820c3f9ceb2','message','owner','{"text": "«o2» what do you make of it?"}','','done','',0,'01m85dfmrehgw28fffyqgd360w','01m85dfmrap97ahy3q46p6w5kh',7,0,0.0,1.79547824615443515775e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m85dfmsh6xp3t0y9rw8dx8wf','01m85dfmsh09y8ewete9jwjj9e','web','console','new7846b35a9b5746ac818f998b4e669cfd','message','owner','{"text": "«n0» what do you make of it?"}','','done','',0,'01m85dfmsq2tb7r14eydk37jb5','01m85dfmshdgn8crs6na3b6r7d',1,0,0.0,1.79547824619371342654e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m85dfmtqq4ky3rjg0zj5p7cj','01m85dfmsh09y8ewete9jwjj9e','web','console','new8a4d8b3239df401599169cce7117a4a0','command','owner','{"text": "/new"}','','done','begun',1,'','01m85dfmtqn7z223w8dghbjq7g',3,0,0.0,1.79547824623150777817e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m85dfmvqj4s3ppnzj9qw2psd','01m85dfmsh09y8ewete9jwjj9e','web','console','new377243b52b3d4b55b43390009ffe59e6','message','owner','{"text": "«n1» what do you make of it?"}','','done','',0,'01m85dfmvtqxn3v3826hg0kfnb','01m85dfmvqn5m4zzv7whq88j4e',5,0,0.0,1.79547824626335024832e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m85dfmwxaf65s68nf7kf94q1','01m85dfmwxeyjqd3z9ntxxssrb','telegram','100','m:5005:1:0','message','5005','{"text": "«t0» what do you make of it?", "name": "Ада"}','00000000000000700100','done','',0,'01m85dfmx5rg0j0tzcrqejqmr4','01m85dfmwxen9jf9nqxbg6sfcp',1,0,0.0,1.79547824630102062222e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m85dfmyv0kdhzsfw1wvg0zyq','01m85dfmwxeyjqd3z9ntxxssrb','telegram','100','m:5005:3:0','message','5005','{"text": "«t1» what do you make of it?", "name": "Ада"}','00000000000000700101','done','',0,'01m85dfmz209n0fk5eb7ynnxh5','01m85dfmyv9c8cmg57yn7xdk0n',3,0,0.0,1.7954782463638715744e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m85dfn05p2hzw4m11vnns89q','01m85dfn05tpw82z749792n28v','telegram','100','m:999:1:0','message','999','','00000000000000700102','ignored','stranger',0,'','01m85dfn057m4r1w5s38wwmmda',1,0,0.0,1.79547824640564727786e+09,0,'',0);
INSERT INTO "inbox" VALUES('01m85dfn15dh86tbffmvf4msc2','01m85dfn15apn7ef2cwtd8tqw1','web','console','picturep1','message','owner','{"text": "«p1» what do you make of it?", "shown": "«p1» what do you make of it?\n📎 dot.png", "files": [["7899d6ced52159786ff083934df42788da01a30b7ed9bb7756d7f3f5a94ef685", "dot.png", "image/png", 68, ""]]}','','done','',0,'01m85dfn51bvb1y5v841w4krfr','01m85dfn15havc895m2yn958dt',1,0,0.0,1.79547824643723678587e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m85dfnb1q2kmhjaycjv4e9b0','01m85dfnb1sps826pc8z2350xf','web','console','late4d5d9e5a4e8842439acdc3f4119d1cdb','message','owner','{"text": "«l0» what do you make of it?"}','','done','',0,'01m85dfnctc78btn9daqz3rmv3','01m85dfnb14v703rgv8c1k6s05',1,0,0.0,1.79547824675335192679e+09,2,'',0);
INSERT INTO "inbox" VALUES('01m85dfngme73er3293hch49gb','01m85dfnb1sps826pc8z2350xf','web','console','late797bf0c2a7c54e488117b4fa1322388e','message','owner','{"text": "«l1» what do you make of it?"}','','done','',0,'01m85dfngvp2ahqvcew9m8kjqx','01m85dfngm594y23aq9ht0kgmm',3,0,0.0,1.79547824693257832527e+09,2,'',0);
INSERT INTO "inbox" VALUES('01m85dfnhqrw71s8xej7w630kx','01m85dfmfav2ks36e09bexr3t7','web','console','work1b6b1e2b2672452ca80c7e7bc6062976','command','owner','{"text": "/context fold"}','','new','begun',1,'','01m85dfnhqdc6jsfmepweq0bhf',11,0,0.0,1.79547824696724033356e+09,2,'',0);
INSERT INTO "inbox" VALUES('01m85dfnjj2jyywabst8vghr1e','01m85dfnjjqzq1bcq76dndsma9','web','console','tool5c85ef19660349ef86c7cc2e7e458b56','message','owner','{"text": "«x1» use write_file {\"path\": \"notes/x.md\", \"content\": \"x\"}"}','','running','',0,'01m85dfnjnnd0h8qmb794dh1hk','01m85dfnjjdkxasq43agag1r3p',1,0,0.0,1.79547824699437880515e+09,2,'',0);
INSERT INTO "inbox" VALUES('01m85dfnm2thtn682seftq270n','01m85dfnjjqzq1bcq76dndsma9','web','console','tool270691895c464db4abbc1a787b0f9504','message','owner','{"text": "«x2» and after that?"}','','new','',0,'','01m85dfnm2v4amabv6xqn8v187',2,0,0.0,1.79547824704245686535e+09,0,'',0);
INSERT INTO "inbox" VALUES('01m85dfnm7sty1ttxh3age6yd8','01m85dfnb1sps826pc8z2350xf','web','console','latec604fe2de0b548119817d76a5bc2dde5','message','owner','{"text": "«l2» what do you make of it?"}','','done','',0,'01m85dfnmbjehtyqnzrf5akgqd','01m85dfnm7vyeedps8bcjrqg54',5,0,0.0,1.79547824704724216455e+09,2,'',0);
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
INSERT INTO "memory" VALUES('01m85dfm0rvt2mzvcrk15whgem','','g0 the roses want water i prefer tea','user_preference','«g0» the roses want water; I prefer tea',6,'live','extraction','01m85dfkgc5cz1azac24fastfz','01m85dfkgcjd2j1yk6t496gzh5','web','«g0» the roses want water; I prefer tea',1.79547824491815304756e+09,1.79547824540015769001e+09,1.79547824540015769001e+09,1.79547824555348896975e+09,3,'',0.0);
INSERT INTO "memory" VALUES('01m85dfm294wr574fmr6mkpycf','','g1 the roses want water i prefer tea','user_preference','«g1» the roses want water; I prefer tea',6,'live','extraction','01m85dfkgc5cz1azac24fastfz','01m85dfm0b6bm2es0g6nkfpt1m','web','«g1» the roses want water; I prefer tea',1.7954782453923659324e+09,1.79547824544924068453e+09,1.79547824544924068453e+09,1.79547824555348896975e+09,2,'',0.0);
INSERT INTO "memory" VALUES('01m85dfm3ay7ynt6tbeqp6ah5c','','g2 the roses want water i prefer tea','user_preference','«g2» the roses want water; I prefer tea',6,'live','extraction','01m85dfkgc5cz1azac24fastfz','01m85dfm1kkrakms9gfmqmeg7j','web','«g2» the roses want water; I prefer tea',1.79547824543492889406e+09,1.79547824548200082774e+09,1.79547824548200082774e+09,1.79547824555348896975e+09,2,'',0.0);
INSERT INTO "memory" VALUES('01m85dfm5e3nyhnpcse2e573y8','','g3 the roses want water i prefer tea','user_preference','«g3» the roses want water; I prefer tea',6,'live','extraction','01m85dfkgc5cz1azac24fastfz','01m85dfm3knp77n9r9yy2h8m69','web','«g3» the roses want water; I prefer tea',1795478245.49573,1.79547824555068612096e+09,1.79547824555068612096e+09,0.0,0,'',0.0);
INSERT INTO "memory" VALUES('01m85dfm7jt46pxcxjr8y3r3tv','','g4 the roses want water i prefer tea','user_preference','«g4» the roses want water; I prefer tea',6,'live','extraction','01m85dfkgc5cz1azac24fastfz','01m85dfm4w6c7zrbrkjgyp9zn1','web','«g4» the roses want water; I prefer tea',1.7954782455386459828e+09,1.79547824561888742442e+09,1.79547824561888742442e+09,0.0,0,'',0.0);
INSERT INTO "memory" VALUES('01m85dfmenac70e9avr2ph0ja9','','the gate code is 4711','fact','The gate code is 4711',8,'live','person','01m85dfkgc5cz1azac24fastfz','01m85dfmec21x69ftjq4vzgyfh','web','/remember The gate code is 4711',1.79547824583639097214e+09,1.79547824584551739693e+09,1.79547824584551739693e+09,0.0,0,'',0.0);
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
INSERT INTO "memory_change" VALUES('01m85dfm0rac27qryp6ewyefj1','','MEMORY.md','extract','73a75d57d3bce6e6194e9c3ce650a5f836e26e5cb0efe6db3dc5961d8f1a641c','8fa62e7329481e1698ca5d5ead245d8a8150a2481080470e31a5c996bfc39e73','["«g0» the roses want water; I prefer tea"]','[]','','01m85dfkgcjd2j1yk6t496gzh5',0,1.79547824540015769001e+09);
INSERT INTO "memory_change" VALUES('01m85dfm293kjfyy3cah68jaq8','','MEMORY.md','extract','8fa62e7329481e1698ca5d5ead245d8a8150a2481080470e31a5c996bfc39e73','b697e1ec796c8b7a56aee1e54abfb63a2ae6902e9d568e8698d692478b01da2a','["«g1» the roses want water; I prefer tea"]','[]','','01m85dfm0b6bm2es0g6nkfpt1m',0,1.79547824544924068453e+09);
INSERT INTO "memory_change" VALUES('01m85dfm3abddpxy2jpgbbwd67','','MEMORY.md','extract','b697e1ec796c8b7a56aee1e54abfb63a2ae6902e9d568e8698d692478b01da2a','d66d54edc1ba1ad747e44ff5f7b746c2de77f6d29b15f843cfeec437cb29488e','["«g2» the roses want water; I prefer tea"]','[]','','01m85dfm1kkrakms9gfmqmeg7j',0,1.79547824548200082774e+09);
INSERT INTO "memory_change" VALUES('01m85dfm5e0x19tzpg2ybxmv7f','','MEMORY.md','extract','d66d54edc1ba1ad747e44ff5f7b746c2de77f6d29b15f843cfeec437cb29488e','05389b6f2523f0ca1bf3b1bcf6669df83790eb0bc8d35b2513af8d13cbe611a6','["«g3» the roses want water; I prefer tea"]','[]','','01m85dfm3knp77n9r9yy2h8m69',0,1.79547824555068612096e+09);
INSERT INTO "memory_change" VALUES('01m85dfm7jyx3gebfyw0b4yxv5','','MEMORY.md','extract','05389b6f2523f0ca1bf3b1bcf6669df83790eb0bc8d35b2513af8d13cbe611a6','fca268e68f52be9bc55318d05b4bd3b9775fc3379b421173ea5ad3b153edc64b','["«g4» the roses want water; I prefer tea"]','[]','','01m85dfm4w6c7zrbrkjgyp9zn1',0,1.79547824561888742442e+09);
INSERT INTO "memory_change" VALUES('01m85dfmen6w2szezcx41p80wt','','MEMORY.md','remember','fca268e68f52be9bc55318d05b4bd3b9775fc3379b421173ea5ad3b153edc64b','eb8aa8fcc1d7d571749e2b52e51289200c0e8b65ab35fdf6926b994a9f641941','["The gate code is 4711"]','[]','','01m85dfmec21x69ftjq4vzgyfh',0,1.79547824584551739693e+09);
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
INSERT INTO "message" VALUES('01m85dfkgcjd2j1yk6t496gzh5','01m85dfkgc5cz1azac24fastfz',1,1,1,'01m85dfkhpqwa22qbaqtrx0jpg','user','[{"kind":"Text","text":"«g0» the roses want water; I prefer tea. 花园要浇水"}]','person','',1,26,'tiktoken',1.79547824491815328595e+09,0);
INSERT INTO "message" VALUES('01m85dfkzeggz76cmdtwe6knqc','01m85dfkgc5cz1azac24fastfz',1,2,1,'01m85dfkhpqwa22qbaqtrx0jpg','assistant','[{"kind":"Text","text":"re «g0»"}]','model','',1,12,'tiktoken',1.79547824535827684399e+09,0);
INSERT INTO "message" VALUES('01m85dfm0b6bm2es0g6nkfpt1m','01m85dfkgc5cz1azac24fastfz',1,3,2,'01m85dfm0g3bmtkjaedsp9ap66','user','[{"kind":"Text","text":"«g1» the roses want water; I prefer tea. 花园要浇水"}]','person','',1,26,'tiktoken',1.79547824539236617084e+09,0);
INSERT INTO "message" VALUES('01m85dfm14ccw0bmh48wh9crx8','01m85dfkgc5cz1azac24fastfz',1,4,2,'01m85dfm0g3bmtkjaedsp9ap66','assistant','[{"kind":"Text","text":"re «g0»"}]','model','',1,12,'tiktoken',1.79547824541257476814e+09,0);
INSERT INTO "message" VALUES('01m85dfm1kkrakms9gfmqmeg7j','01m85dfkgc5cz1azac24fastfz',1,5,3,'01m85dfm1trce0xd35jrk2ktb4','user','[{"kind":"Text","text":"«g2» the roses want water; I prefer tea. 花园要浇水"}]','person','',1,26,'tiktoken',1.79547824543492913246e+09,0);
INSERT INTO "message" VALUES('01m85dfm2pxz5cxhndw8j9h0vv','01m85dfkgc5cz1azac24fastfz',1,6,3,'01m85dfm1trce0xd35jrk2ktb4','assistant','[{"kind":"Text","text":"re «g2»"}]','model','',1,12,'tiktoken',1.79547824546260452265e+09,0);
INSERT INTO "message" VALUES('01m85dfm3knp77n9r9yy2h8m69','01m85dfkgc5cz1azac24fastfz',1,7,4,'01m85dfm3qnjvsf6cb902tcw69','user','[{"kind":"Text","text":"«g3» the roses want water; I prefer tea. 花园要浇水"}]','person','',1,26,'tiktoken',1.79547824549572968486e+09,0);
INSERT INTO "message" VALUES('01m85dfm49kf8mk3j43nghmnwz','01m85dfkgc5cz1azac24fastfz',1,8,4,'01m85dfm3qnjvsf6cb902tcw69','assistant','[{"kind":"Text","text":"re «g2»"}]','model','',1,12,'tiktoken',1.79547824551313424108e+09,0);
INSERT INTO "message" VALUES('01m85dfm4w6c7zrbrkjgyp9zn1','01m85dfkgc5cz1azac24fastfz',1,9,5,'01m85dfm52k1n5aq64wn5a2q1p','user','[{"kind":"Text","text":"«g4» the roses want water; I prefer tea. 花园要浇水"}]','person','',1,26,'tiktoken',1.79547824553864574436e+09,0);
INSERT INTO "message" VALUES('01m85dfm5sbwqrvb7vr07h4af5','01m85dfkgc5cz1azac24fastfz',1,10,5,'01m85dfm52k1n5aq64wn5a2q1p','assistant','[{"kind":"Text","text":"re «g3»"}]','model','',1,12,'tiktoken',1.79547824556163239479e+09,0);
INSERT INTO "message" VALUES('01m85dfm884q16ehh8aafbymjy','01m85dfkgc5cz1azac24fastfz',1,11,6,'01m85dfm8c0qq82vy2d30dmfzh','user','[{"kind":"Text","text":"«g5» use write_file {\"path\": \"notes/roses.md\", \"content\": \"water on Mondays\"}"}]','person','',1,32,'tiktoken',1.79547824564453125002e+09,0);
INSERT INTO "message" VALUES('01m85dfm9067972zf2yh0y1ss4','01m85dfkgc5cz1azac24fastfz',1,12,6,'01m85dfm8c0qq82vy2d30dmfzh','assistant','[{"kind":"Text","text":"I look."},{"kind":"ToolCall","id":"call_g5","name":"write_file","input":"{\"path\": \"notes/roses.md\", \"content\": \"water on Mondays\"}"}]','model','',1,40,'tiktoken',1.79547824566472721103e+09,0);
INSERT INTO "message" VALUES('01m85dfm9cmfye4gm7nnf5ybgh','01m85dfkgc5cz1azac24fastfz',1,13,6,'01m85dfm8c0qq82vy2d30dmfzh','user','[{"kind":"ToolResult","call_id":"call_g5","text":"notes/roses.md now holds 16 bytes, version 29eb6a143968.","is_error":false}]','tool','',0,32,'tiktoken',1.79547824567616415023e+09,0);
INSERT INTO "message" VALUES('01m85dfm9nz10e2pyectkvnbft','01m85dfkgc5cz1azac24fastfz',1,14,6,'01m85dfm8c0qq82vy2d30dmfzh','assistant','[{"kind":"Text","text":"re «g5»"}]','model','',1,12,'tiktoken',1.79547824568536877631e+09,0);
INSERT INTO "message" VALUES('01m85dfma6rpgxsrftmhs1d6z9','01m85dfkgc5cz1azac24fastfz',1,15,7,'01m85dfmaajrq19rb0rfwg2ywp','user','[{"kind":"Text","text":"«g6» what do you make of it?"}]','person','',1,18,'tiktoken',1.79547824570632529256e+09,0);
INSERT INTO "message" VALUES('01m85dfman4cvtttpkyrv9f359','01m85dfkgc5cz1azac24fastfz',1,16,7,'01m85dfmaajrq19rb0rfwg2ywp','assistant','[{"kind":"Text","text":"re «g6»"}]','model','',1,12,'tiktoken',1.79547824571793150898e+09,0);
INSERT INTO "message" VALUES('01m85dfmb72eaxpfpxp2m8nq66','01m85dfkgc5cz1azac24fastfz',1,17,8,'01m85dfmbcjnwvzz2nc7rf28yv','user','[{"kind":"Text","text":"«g7» what do you make of it?"}]','person','',1,18,'tiktoken',1.79547824574069929122e+09,0);
INSERT INTO "message" VALUES('01m85dfmbrb9net0q7heccxr4t','01m85dfkgc5cz1azac24fastfz',1,18,8,'01m85dfmbcjnwvzz2nc7rf28yv','assistant','[{"kind":"Text","text":"re «g7»"}]','model','',1,12,'tiktoken',1.7954782457521772385e+09,0);
INSERT INTO "message" VALUES('01m85dfmc9ajneaky4ychnhmky','01m85dfkgc5cz1azac24fastfz',1,19,9,'01m85dfmchcpfch1mbkzs1042v','user','[{"kind":"Text","text":"«g8» what do you make of it?"}]','person','',1,18,'tiktoken',1.79547824577733325952e+09,0);
INSERT INTO "message" VALUES('01m85dfmcwbs0xcgnnyhtgmxc0','01m85dfkgc5cz1azac24fastfz',1,20,9,'01m85dfmchcpfch1mbkzs1042v','assistant','[{"kind":"Text","text":"re «g8»"}]','model','',1,12,'tiktoken',1.79547824578887557983e+09,0);
INSERT INTO "message" VALUES('01m85dfmfap997511v5kq8v5a6','01m85dfmfav2ks36e09bexr3t7',1,1,1,'01m85dfmffxxw6q0ag62sbnfha','user','[{"kind":"Text","text":"«w0» what do you make of it?"}]','person','',1,18,'tiktoken',1.79547824587189102174e+09,0);
INSERT INTO "message" VALUES('01m85dfmg2kr5v33mnnd769s09','01m85dfmfav2ks36e09bexr3t7',1,2,1,'01m85dfmffxxw6q0ag62sbnfha','assistant','[{"kind":"Text","text":"re «w0»"}]','model','',1,12,'tiktoken',1.79547824589091157914e+09,0);
INSERT INTO "message" VALUES('01m85dfmgj98etb73jynh4ry15','01m85dfmfav2ks36e09bexr3t7',1,3,2,'01m85dfmgpyapy3w03p8rv4y3n','user','[{"kind":"Text","text":"«w1» what do you make of it?"}]','person','',1,18,'tiktoken',1.79547824591049504277e+09,0);
INSERT INTO "message" VALUES('01m85dfmh5w9qwt4556sw83jcg','01m85dfmfav2ks36e09bexr3t7',1,4,2,'01m85dfmgpyapy3w03p8rv4y3n','assistant','[{"kind":"Text","text":"re «w1»"}]','model','',1,12,'tiktoken',1.79547824592538928989e+09,0);
INSERT INTO "message" VALUES('01m85dfmhsqjkhdyng986zbdd8','01m85dfmfav2ks36e09bexr3t7',1,5,3,'01m85dfmhy6fppxqk32hsw502n','user','[{"kind":"Text","text":"«w2» what do you make of it?"}]','person','',1,18,'tiktoken',1.79547824595049786569e+09,0);
INSERT INTO "message" VALUES('01m85dfmjbm78a2ck6fnm1mqr8','01m85dfmfav2ks36e09bexr3t7',1,6,3,'01m85dfmhy6fppxqk32hsw502n','assistant','[{"kind":"Text","text":"re «w2»"}]','model','',1,12,'tiktoken',1.79547824596393442156e+09,0);
INSERT INTO "message" VALUES('01m85dfmmw129pyjhkc16tp8vk','01m85dfmmwxrm57wrt95vekgyb',1,1,1,'01m85dfmn16e0gdrjzkwq2gcgb','user','[{"kind":"Text","text":"«o0» what do you make of it?"}]','person','',1,18,'tiktoken',1.79547824604913520809e+09,0);
INSERT INTO "message" VALUES('01m85dfmnm1b187mxnfzpnexk5','01m85dfmmwxrm57wrt95vekgyb',1,2,1,'01m85dfmn16e0gdrjzkwq2gcgb','assistant','[{"kind":"Text","text":"re «o0»"}]','model','',1,12,'tiktoken',1.79547824606876039498e+09,0);
INSERT INTO "message" VALUES('01m85dfmp35kt9xyqxmd3xysx9','01m85dfmmwxrm57wrt95vekgyb',1,3,2,'01m85dfmp9aq1twe6nmzvy0n94','user','[{"kind":"Text","text":"«o1» what do you make of it?"}]','person','',1,18,'tiktoken',1795478246.08917,0);
INSERT INTO "message" VALUES('01m85dfmpv2371n3hp1fk61hz4','01m85dfmmwxrm57wrt95vekgyb',1,4,2,'01m85dfmp9aq1twe6nmzvy0n94','assistant','[{"kind":"Text","text":"re «o1»"}]','model','',1,12,'tiktoken',1.79547824610707211492e+09,0);
INSERT INTO "message" VALUES('01m85dfmra25s7cn41hc5ygna4','01m85dfmmwxrm57wrt95vekgyb',2,5,3,'01m85dfmrehgw28fffyqgd360w','user','[{"kind":"Text","text":"«o2» what do you make of it?"}]','person','',1,18,'tiktoken',1.79547824615836167333e+09,0);
INSERT INTO "message" VALUES('01m85dfms2p4dv92xqbpq068tx','01m85dfmmwxrm57wrt95vekgyb',2,6,3,'01m85dfmrehgw28fffyqgd360w','assistant','[{"kind":"Text","text":"re «o2»"}]','model','',1,12,'tiktoken',1.79547824617864847183e+09,0);
INSERT INTO "message" VALUES('01m85dfmsh6xp3t0y9rw8dx8wf','01m85dfmsh09y8ewete9jwjj9e',1,1,1,'01m85dfmsq2tb7r14eydk37jb5','user','[{"kind":"Text","text":"«n0» what do you make of it?"}]','person','',1,18,'tiktoken',1.79547824619991111755e+09,0);
INSERT INTO "message" VALUES('01m85dfmt9m8yvaypeg8v1wkwd','01m85dfmsh09y8ewete9jwjj9e',1,2,1,'01m85dfmsq2tb7r14eydk37jb5','assistant','[{"kind":"Text","text":"re «n0»"}]','model','',1,12,'tiktoken',1.79547824621747922901e+09,0);
INSERT INTO "message" VALUES('01m85dfmvqj4s3ppnzj9qw2psd','01m85dfmsh09y8ewete9jwjj9e',2,3,2,'01m85dfmvtqxn3v3826hg0kfnb','user','[{"kind":"Text","text":"«n1» what do you make of it?"}]','person','',1,18,'tiktoken',1.79547824626689791682e+09,0);
INSERT INTO "message" VALUES('01m85dfmwcdptnrmc0s0yxhk7m','01m85dfmsh09y8ewete9jwjj9e',2,4,2,'01m85dfmvtqxn3v3826hg0kfnb','assistant','[{"kind":"Text","text":"re «n1»"}]','model','',1,12,'tiktoken',1.79547824628447818757e+09,0);
INSERT INTO "message" VALUES('01m85dfmwxaf65s68nf7kf94q1','01m85dfmwxeyjqd3z9ntxxssrb',1,1,1,'01m85dfmx5rg0j0tzcrqejqmr4','user','[{"kind":"Text","text":"«t0» what do you make of it?"}]','person','',1,18,'tiktoken',1.79547824630960512165e+09,0);
INSERT INTO "message" VALUES('01m85dfmxx48ph21nfw2qpvh39','01m85dfmwxeyjqd3z9ntxxssrb',1,2,1,'01m85dfmx5rg0j0tzcrqejqmr4','assistant','[{"kind":"Text","text":"re «t0»"}]','model','',1,12,'tiktoken',1.79547824633329105377e+09,0);
INSERT INTO "message" VALUES('01m85dfmyv0kdhzsfw1wvg0zyq','01m85dfmwxeyjqd3z9ntxxssrb',1,3,2,'01m85dfmz209n0fk5eb7ynnxh5','user','[{"kind":"Text","text":"«t1» what do you make of it?"}]','person','',1,18,'tiktoken',1.79547824637081336975e+09,0);
INSERT INTO "message" VALUES('01m85dfmzf0k6fz4st0f7xtth2','01m85dfmwxeyjqd3z9ntxxssrb',1,4,2,'01m85dfmz209n0fk5eb7ynnxh5','assistant','[{"kind":"Text","text":"re «t1»"}]','model','',1,12,'tiktoken',1.79547824638391470908e+09,0);
INSERT INTO "message" VALUES('01m85dfn15dh86tbffmvf4msc2','01m85dfn15apn7ef2cwtd8tqw1',1,1,1,'01m85dfn51bvb1y5v841w4krfr','user','[{"kind":"Image","sha256":"7899d6ced52159786ff083934df42788da01a30b7ed9bb7756d7f3f5a94ef685","media_type":"image/png","width":2,"height":2},{"kind":"Text","text":"«p1» what do you make of it?"}]','person','',1,19,'tiktoken',1.79547824656144976618e+09,0);
INSERT INTO "message" VALUES('01m85dfn5jz6620xtmgsz8f7sb','01m85dfn15apn7ef2cwtd8tqw1',1,2,1,'01m85dfn51bvb1y5v841w4krfr','assistant','[{"kind":"Text","text":"re «p1»"}]','model','',1,12,'tiktoken',1.79547824657840275758e+09,1);
INSERT INTO "message" VALUES('01m85dfnb1q2kmhjaycjv4e9b0','01m85dfnb1sps826pc8z2350xf',1,1,1,'01m85dfnctc78btn9daqz3rmv3','user','[{"kind":"Text","text":"«l0» what do you make of it?"}]','person','',1,18,'tiktoken',1.79547824681079196931e+09,0);
INSERT INTO "message" VALUES('01m85dfnfkmqvq1k099fhs3bev','01m85dfnb1sps826pc8z2350xf',1,2,1,'01m85dfnctc78btn9daqz3rmv3','assistant','[{"kind":"Text","text":"re «l0»"}]','model','',1,12,'tiktoken',1.79547824689945936206e+09,0);
INSERT INTO "message" VALUES('01m85dfngme73er3293hch49gb','01m85dfnb1sps826pc8z2350xf',1,3,2,'01m85dfngvp2ahqvcew9m8kjqx','user','[{"kind":"Text","text":"«l1» what do you make of it?"}]','person','',1,18,'tiktoken',1.79547824693968462944e+09,0);
INSERT INTO "message" VALUES('01m85dfnh8yd1bbcfaw12v18sy','01m85dfnb1sps826pc8z2350xf',1,4,2,'01m85dfngvp2ahqvcew9m8kjqx','assistant','[{"kind":"Text","text":"re «l1»"}]','model','',1,12,'tiktoken',1.79547824695257902147e+09,0);
INSERT INTO "message" VALUES('01m85dfnjj2jyywabst8vghr1e','01m85dfnjjqzq1bcq76dndsma9',1,1,1,'01m85dfnjnnd0h8qmb794dh1hk','user','[{"kind":"Text","text":"«x1» use write_file {\"path\": \"notes/x.md\", \"content\": \"x\"}"}]','person','',1,28,'tiktoken',1.79547824699778151512e+09,0);
INSERT INTO "message" VALUES('01m85dfnk5wy5jfcf3hxs10j4z','01m85dfnjjqzq1bcq76dndsma9',1,2,1,'01m85dfnjnnd0h8qmb794dh1hk','assistant','[{"kind":"Text","text":"I look."},{"kind":"ToolCall","id":"call_x1","name":"write_file","input":"{\"path\": \"notes/x.md\", \"content\": \"x\"}"}]','model','',1,36,'tiktoken',1.79547824701372408864e+09,0);
INSERT INTO "message" VALUES('01m85dfnm7sty1ttxh3age6yd8','01m85dfnb1sps826pc8z2350xf',1,5,3,'01m85dfnmbjehtyqnzrf5akgqd','user','[{"kind":"Text","text":"«l2» what do you make of it?"}]','person','',1,18,'tiktoken',1.79547824705108523364e+09,0);
INSERT INTO "message" VALUES('01m85dfnmp0883xbesw7b4awpt','01m85dfnb1sps826pc8z2350xf',1,6,3,'01m85dfnmbjehtyqnzrf5akgqd','assistant','[{"kind":"Text","text":"re «l2»"}]','model','',1,12,'tiktoken',1.79547824706260895728e+09,0);
CREATE TABLE model_factor (
	model TEXT NOT NULL, 
	factor DOUBLE NOT NULL, 
	samples INTEGER NOT NULL, 
	error_percent DOUBLE NOT NULL, 
	PRIMARY KEY (model)
);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra',0.9939,13,0.43);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra 01m85dfkgc5cz1azac24fastfz',1.0211,10,0.14);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra 01m85dfmfav2ks36e09bexr3t7',0.9867,3,0.43);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra 01m85dfmmwxrm57wrt95vekgyb',0.9869,3,0.11);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra 01m85dfmsh09y8ewete9jwjj9e',0.9879,2,0.2);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra 01m85dfmwxeyjqd3z9ntxxssrb',0.9848,2,0.38);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra 01m85dfn15apn7ef2cwtd8tqw1',1.0007,1,-0.97);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra 01m85dfnb1sps826pc8z2350xf',0.9829,3,0.17);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra 01m85dfnjjqzq1bcq76dndsma9',0.9864,1,1.08);
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
INSERT INTO "outbox" VALUES('01m85dfkzefmwwd2p332kc62y4','01m85dfkgc5cz1azac24fastfz','01m85dfkgcjd2j1yk6t496gzh5:answer',0,1,1,'final','706c838adb821491ef021bd4ee081011','re «g0»','sent',1,0,0,315360000.0,2.11083824536679792401e+09,0.0,'01m85dfkgcjd2j1yk6t496gzh5','01m85dfkzefmwwd2p332kc62y4','',2,1.79547824535827684399e+09,1,'',1.79547824537066602708e+09);
INSERT INTO "outbox" VALUES('01m85dfm14rmqvn801y0hgm48a','01m85dfkgc5cz1azac24fastfz','01m85dfm0b6bm2es0g6nkfpt1m:answer',0,1,1,'final','ab96ba4d887af06e44173c8970ea22bc','re «g0»','sent',1,0,0,315360000.0,2.11083824541596508025e+09,0.0,'01m85dfm0b6bm2es0g6nkfpt1m','01m85dfm14rmqvn801y0hgm48a','',4,1.79547824541257476814e+09,1,'',1.79547824542046308518e+09);
INSERT INTO "outbox" VALUES('01m85dfm2p14h31c5van1vxm2v','01m85dfkgc5cz1azac24fastfz','01m85dfm1kkrakms9gfmqmeg7j:answer',0,1,1,'final','18efad99ae2030192225465ed4b73942','re «g2»','sent',1,0,0,315360000.0,2.11083824546735239024e+09,0.0,'01m85dfm1kkrakms9gfmqmeg7j','01m85dfm2p14h31c5van1vxm2v','',6,1.79547824546260452265e+09,1,'',1.79547824547080874446e+09);
INSERT INTO "outbox" VALUES('01m85dfm49c6dwjpycaf0wcp8q','01m85dfkgc5cz1azac24fastfz','01m85dfm3knp77n9r9yy2h8m69:answer',0,1,1,'final','02932c05658bfe1e6fd4504bfac22020','re «g2»','sent',1,0,0,315360000.0,2.11083824551726102823e+09,0.0,'01m85dfm3knp77n9r9yy2h8m69','01m85dfm49c6dwjpycaf0wcp8q','',8,1.79547824551313424108e+09,1,'',1.79547824551869702339e+09);
INSERT INTO "outbox" VALUES('01m85dfm5snvrjs4k7e6qb0yqr','01m85dfkgc5cz1azac24fastfz','01m85dfm4w6c7zrbrkjgyp9zn1:answer',0,1,1,'final','c05e7c14b503531599d3fb0330a60b10','re «g3»','sent',1,0,0,315360000.0,2.11083824556943082818e+09,0.0,'01m85dfm4w6c7zrbrkjgyp9zn1','01m85dfm5snvrjs4k7e6qb0yqr','',10,1.79547824556163239479e+09,1,'',1.79547824557860922819e+09);
INSERT INTO "outbox" VALUES('01m85dfm7s3b4p4ra3b2gcsjpw','01m85dfkgc5cz1azac24fastfz','01m85dfm64q04hapz33ex4xj5y:answer',0,1,1,'notice','819d1037eb5da6741df80e9c0ddde411','Folded turns 1–2 into memory/2026-11-23.md: 190 → 155 tokens (82%).','sent',1,0,0,315360000.0,2.11083824562779283524e+09,0.0,'01m85dfm64q04hapz33ex4xj5y','01m85dfm7s3b4p4ra3b2gcsjpw','',12,1.79547824562548685072e+09,1,'',1.79547824562860775e+09);
INSERT INTO "outbox" VALUES('01m85dfm9n0z1hy5mc7s6r7rm2','01m85dfkgc5cz1azac24fastfz','01m85dfm884q16ehh8aafbymjy:answer',0,1,1,'final','022065551d29ee713d4cbd25ccee564e','re «g5»','sent',1,0,0,315360000.0,2.11083824568818974494e+09,0.0,'01m85dfm884q16ehh8aafbymjy','01m85dfm9n0z1hy5mc7s6r7rm2','',14,1.79547824568536877631e+09,1,'',1.79547824568981289868e+09);
INSERT INTO "outbox" VALUES('01m85dfman4xwf924qcmfyz9s2','01m85dfkgc5cz1azac24fastfz','01m85dfma6rpgxsrftmhs1d6z9:answer',0,1,1,'final','c7f0fe34e6c3d43b39b5ebcb93bc9422','re «g6»','sent',1,0,0,315360000.0,2.11083824572095036511e+09,0.0,'01m85dfma6rpgxsrftmhs1d6z9','01m85dfman4xwf924qcmfyz9s2','',16,1.79547824571793150898e+09,1,'',1795478245.72234);
INSERT INTO "outbox" VALUES('01m85dfmbrmwh3aajdr39cawxy','01m85dfkgc5cz1azac24fastfz','01m85dfmb72eaxpfpxp2m8nq66:answer',0,1,1,'final','c8e7dc0edb902b81fbb7ff392054a1cb','re «g7»','sent',1,0,0,315360000.0,2.11083824575557446471e+09,0.0,'01m85dfmb72eaxpfpxp2m8nq66','01m85dfmbrmwh3aajdr39cawxy','',18,1.7954782457521772385e+09,1,'',1.79547824575723552701e+09);
INSERT INTO "outbox" VALUES('01m85dfmcw83dpwmm9v6bvz5y9','01m85dfkgc5cz1azac24fastfz','01m85dfmc9ajneaky4ychnhmky:answer',0,1,1,'final','1432c4c6a4f11689eed00df656ae09c1','re «g8»','sent',1,0,0,315360000.0,2110838245.79199,0.0,'01m85dfmc9ajneaky4ychnhmky','01m85dfmcw83dpwmm9v6bvz5y9','',20,1.79547824578887557983e+09,1,'',1.79547824579447627075e+09);
INSERT INTO "outbox" VALUES('01m85dfme45x3bm5pytd0v1rqm','01m85dfkgc5cz1azac24fastfz','01m85dfmddbb148xnpdn2g6zr6:answer',0,1,1,'notice','3377a148d17fcbfdede2373e4743108d','Folded turns 3–5 into memory/2026-11-23.md: 361 → 268 tokens (74%).','sent',1,0,0,315360000.0,2.11083824583036947257e+09,0.0,'01m85dfmddbb148xnpdn2g6zr6','01m85dfme45x3bm5pytd0v1rqm','',22,1.79547824582898712161e+09,1,'',1.79547824583125758169e+09);
INSERT INTO "outbox" VALUES('01m85dfmeq4yfg8n9w86r3v7nj','01m85dfkgc5cz1azac24fastfz','01m85dfmec21x69ftjq4vzgyfh:answer',0,1,1,'notice','9c9fec0683c1eb2bd02c45e9b59ba6ba','Remembered (facts): The gate code is 4711','sent',1,0,0,315360000.0,2.11083824584835195547e+09,0.0,'01m85dfmec21x69ftjq4vzgyfh','01m85dfmeq4yfg8n9w86r3v7nj','',24,1.79547824584712791438e+09,1,'',1.79547824584903645511e+09);
INSERT INTO "outbox" VALUES('01m85dfmg28vfxam6hzx5j76h9','01m85dfmfav2ks36e09bexr3t7','01m85dfmfap997511v5kq8v5a6:answer',0,1,1,'final','33d1cb3678cdf92c997f6e1a057da5fb','re «w0»','sent',1,0,0,315360000.0,2.11083824589500021928e+09,0.0,'01m85dfmfap997511v5kq8v5a6','01m85dfmg28vfxam6hzx5j76h9','',2,1.79547824589091157914e+09,1,'',1.79547824589668869967e+09);
INSERT INTO "outbox" VALUES('01m85dfmh5sbynpvnw7gecsea9','01m85dfmfav2ks36e09bexr3t7','01m85dfmgj98etb73jynh4ry15:answer',0,1,1,'final','b37fefca4b5b358cbb29fcd81d2ed7cb','re «w1»','sent',1,0,0,315360000.0,2.11083824592878484716e+09,0.0,'01m85dfmgj98etb73jynh4ry15','01m85dfmh5sbynpvnw7gecsea9','',4,1.79547824592538928989e+09,1,'',1.79547824593241786951e+09);
INSERT INTO "outbox" VALUES('01m85dfmjb4k0gyz6j5pae4a6h','01m85dfmfav2ks36e09bexr3t7','01m85dfmhsqjkhdyng986zbdd8:answer',0,1,1,'final','b771dca9834525c75f3c6ab6b068f5f2','re «w2»','sent',1,0,0,315360000.0,2.11083824596702480306e+09,0.0,'01m85dfmhsqjkhdyng986zbdd8','01m85dfmjb4k0gyz6j5pae4a6h','',6,1.79547824596393442156e+09,1,'',1.79547824596983695028e+09);
INSERT INTO "outbox" VALUES('01m85dfmkhmjce1npmzx2ra798','01m85dfmfav2ks36e09bexr3t7','01m85dfmjvaenvdw7ewqrdfghs:answer',0,1,1,'notice','0baf9685caa6aa5b83c12568ea74ec85','Folded turn 1 into memory/2026-11-23.md: 90 → 72 tokens (80%).','sent',1,0,0,315360000.0,2.11083824600283074374e+09,0.0,'01m85dfmjvaenvdw7ewqrdfghs','01m85dfmkhmjce1npmzx2ra798','',8,1.795478246001658678e+09,1,'',1.79547824600349187852e+09);
INSERT INTO "outbox" VALUES('01m85dfmm7w35jvtpavsm1ha5d','01m85dfmfav2ks36e09bexr3t7','01m85dfmkv5v9ea8crvd2anwwz:answer',0,1,1,'notice','47eec6a14cbf8608e983ddea061fa1fb','The fold is undone: turn 1 is back in the context.','sent',1,0,0,315360000.0,2.11083824602575922013e+09,0.0,'01m85dfmkv5v9ea8crvd2anwwz','01m85dfmm7w35jvtpavsm1ha5d','',10,1.79547824602383351323e+09,1,'',1.79547824602681374553e+09);
INSERT INTO "outbox" VALUES('01m85dfmnmazex5ewvdg7an5tg','01m85dfmmwxrm57wrt95vekgyb','01m85dfmmw129pyjhkc16tp8vk:answer',0,1,1,'final','762a88c70b731901e04595aea3329e30','re «o0»','sent',1,0,0,315360000.0,2.11083824607184505472e+09,0.0,'01m85dfmmw129pyjhkc16tp8vk','01m85dfmnmazex5ewvdg7an5tg','',2,1.79547824606876039498e+09,1,'',1.79547824607370853423e+09);
INSERT INTO "outbox" VALUES('01m85dfmpvq6gb4ebx2pn03qnw','01m85dfmmwxrm57wrt95vekgyb','01m85dfmp35kt9xyqxmd3xysx9:answer',0,1,1,'final','1cb298cf720e875b9c67ca037da6b7e1','re «o1»','sent',1,0,0,315360000.0,2.11083824611052870757e+09,0.0,'01m85dfmp35kt9xyqxmd3xysx9','01m85dfmpvq6gb4ebx2pn03qnw','',4,1.79547824610707211492e+09,1,'',1.79547824611772251128e+09);
INSERT INTO "outbox" VALUES('01m85dfmqn7yft61hnwsj6t55y','01m85dfmmwxrm57wrt95vekgyb','01m85dfmq9pbe3hq4rgv2jaqtg:answer',0,1,2,'notice','ae0fa251558c451b5a28ad29bf7f3673','The context is clear: the model sees nothing from before. The record stays; /context undo takes this back.','sent',1,0,0,315360000.0,2.11083824613445663448e+09,0.0,'01m85dfmq9pbe3hq4rgv2jaqtg','01m85dfmqn7yft61hnwsj6t55y','',6,1.79547824613317012786e+09,1,'',1.79547824613519573216e+09);
INSERT INTO "outbox" VALUES('01m85dfms2mm2me66t9x9wfjnp','01m85dfmmwxrm57wrt95vekgyb','01m85dfmra25s7cn41hc5ygna4:answer',0,1,2,'final','0582b66559c1822a98c6fce3a2c6c0f2','re «o2»','sent',1,0,0,315360000.0,2.11083824618192791942e+09,0.0,'01m85dfmra25s7cn41hc5ygna4','01m85dfms2mm2me66t9x9wfjnp','',8,1.79547824617864847183e+09,1,'',1.79547824618493032456e+09);
INSERT INTO "outbox" VALUES('01m85dfmt98xb5xy3wx3rax3c8','01m85dfmsh09y8ewete9jwjj9e','01m85dfmsh6xp3t0y9rw8dx8wf:answer',0,1,1,'final','12d3f212a671352b2333f7becb8cdbba','re «n0»','sent',1,0,0,315360000.0,2.11083824622015714649e+09,0.0,'01m85dfmsh6xp3t0y9rw8dx8wf','01m85dfmt98xb5xy3wx3rax3c8','',2,1.79547824621747922901e+09,1,'',1.79547824622243380548e+09);
INSERT INTO "outbox" VALUES('01m85dfmtztn2ekexn87h3v50a','01m85dfmsh09y8ewete9jwjj9e','01m85dfmtqq4ky3rjg0zj5p7cj:answer',0,1,2,'notice','83ff422c21d336fc4e81162332b7846e','A new conversation begins; what came before (1 turn) is being written to today''s log.','sent',1,0,0,315360000.0,2.11083824624283409123e+09,0.0,'01m85dfmtqq4ky3rjg0zj5p7cj','01m85dfmtztn2ekexn87h3v50a','',4,1.7954782462394509316e+09,1,'',1.79547824624594235419e+09);
INSERT INTO "outbox" VALUES('01m85dfmwcj2d1gxaf7ma4ph5v','01m85dfmsh09y8ewete9jwjj9e','01m85dfmvqj4s3ppnzj9qw2psd:answer',0,1,2,'final','4208c5a2590b2ccd776e5571f63b732a','re «n1»','sent',1,0,0,315360000.0,2.1108382462872886658e+09,0.0,'01m85dfmvqj4s3ppnzj9qw2psd','01m85dfmwcj2d1gxaf7ma4ph5v','',6,1.79547824628447818757e+09,1,'',1.79547824628900051118e+09);
INSERT INTO "outbox" VALUES('01m85dfmxxpcccmwp2g2fy9hpk','01m85dfmwxeyjqd3z9ntxxssrb','01m85dfmwxaf65s68nf7kf94q1:answer',0,1,1,'final','eb40fff9caa553431c6e369d87fff102','re «t0»','sent',1,0,0,0.0,0.0,0.0,'01m85dfmwxaf65s68nf7kf94q1','2','',2,1.79547824633329105377e+09,1,'',1.79547824634273052221e+09);
INSERT INTO "outbox" VALUES('01m85dfmzfe0acwpm1mgjctgbn','01m85dfmwxeyjqd3z9ntxxssrb','01m85dfmyv0kdhzsfw1wvg0zyq:answer',0,1,1,'final','c52863da673389e98c04d5327ae5ba99','re «t1»','sent',1,0,0,0.0,0.0,0.0,'01m85dfmyv0kdhzsfw1wvg0zyq','4','',4,1.79547824638391470908e+09,1,'',1.7954782463919615746e+09);
INSERT INTO "outbox" VALUES('01m85dfn08pd5xj6te2aqk714b','01m85dfn05tpw82z749792n28v','pair:01m85dfn05p2hzw4m11vnns89q',0,1,1,'notice','ca43c955b523e1a49ab31c7bdd77ea21','I talk only to people who were let in. Give this code to the person who runs me; it is good for an hour: `GS92-H5JZ`','sent',1,0,0,0.0,0.0,0.0,'','2','',2,1.79547824640800309176e+09,1,'',1.79547824642071366307e+09);
INSERT INTO "outbox" VALUES('01m85dfn08teakhajssmqmwwh1','01m85dfmwxeyjqd3z9ntxxssrb','pairing:telegram:100:2026-11-23',0,1,1,'notice','e9054758154f2ee834976194f271966d','telegram `999` “`Ада`” asks to talk to me and was given a code. If you know them, have them tell you the code and enter it with `mnema pair approve CODE` in a terminal, or `/approve CODE` in the page or the terminal chat. I do not tell you of others today; `mnema pair list` shows who waits.','sent',1,0,0,0.0,0.0,0.0,'','5','',5,1.79547824640800309176e+09,1,'',1.79547824642177057262e+09);
INSERT INTO "outbox" VALUES('01m85dfn5j3tg0x0gp8s5mjdb7','01m85dfn15apn7ef2cwtd8tqw1','01m85dfn15dh86tbffmvf4msc2:answer',0,1,1,'final','b9e49e08e031f5c8880c23b0389b02f4','re «p1»','sent',1,0,0,315360000.0,2.11083824658288264283e+09,0.0,'01m85dfn15dh86tbffmvf4msc2','01m85dfn5j3tg0x0gp8s5mjdb7','',2,1.79547824657840275758e+09,1,'',1.79547824658368802069e+09);
INSERT INTO "outbox" VALUES('01m85dfnfkg37yrc3pzj4jjber','01m85dfnb1sps826pc8z2350xf','01m85dfnb1q2kmhjaycjv4e9b0:answer',0,1,1,'final','abf777f2367b1b342af00cf141f82a57','re «l0»','sent',1,0,0,315360000.0,2.11083824691267848017e+09,0.0,'01m85dfnb1q2kmhjaycjv4e9b0','01m85dfnfkg37yrc3pzj4jjber','',2,1.79547824689945936206e+09,2,'',1.79547824692197775841e+09);
INSERT INTO "outbox" VALUES('01m85dfnh8tvm3abx7f5shahee','01m85dfnb1sps826pc8z2350xf','01m85dfngme73er3293hch49gb:answer',0,1,1,'final','6e033791ad4432cefca85dd372edc3b7','re «l1»','sent',1,0,0,315360000.0,2.11083824695544624325e+09,0.0,'01m85dfngme73er3293hch49gb','01m85dfnh8tvm3abx7f5shahee','',4,1.79547824695257902147e+09,2,'',1.79547824695674371718e+09);
INSERT INTO "outbox" VALUES('01m85dfnmp21r2rbr7dqanwzpp','01m85dfnb1sps826pc8z2350xf','01m85dfnm7sty1ttxh3age6yd8:answer',0,1,1,'final','86b9878c947e1b951b459db9cc3f6d86','re «l2»','sending',1,0,0,315360000.0,2.11083824706531095498e+09,0.0,'01m85dfnm7sty1ttxh3age6yd8','','',6,1.79547824706260895728e+09,2,'',0.0);
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
INSERT INTO "prefix_text" VALUES('01542f8f60feecdff0ba69d34f388af6a6f4b144c1d959849b21dd826f5a0350','[Daily log of 2026-11-23, for reference]
## 23:57 · web · turns 1–2

- «g0» the roses want water; I prefer tea. 花园要浇水
- «g1» the roses want water; I prefer tea. 花园要浇水

## 23:57 · web · turns 3–5

- «g2» the roses want water; I prefer tea. 花园要浇水
- «g3» the roses want water; I prefer tea. 花园要浇水
- «g4» the roses want water; I prefer tea. 花园要浇水
[End of the daily log]');
INSERT INTO "prefix_text" VALUES('186b84cb2cc34e18963a10940620da786c97da8dbb98b7cb17f7dd623c84adf8','[Daily log of 2026-11-23, for reference]
## 23:57 · web · turns 1–2

- «g0» the roses want water; I prefer tea. 花园要浇水
- «g1» the roses want water; I prefer tea. 花园要浇水

## 23:57 · web · turns 3–5

- «g2» the roses want water; I prefer tea. 花园要浇水
- «g3» the roses want water; I prefer tea. 花园要浇水
- «g4» the roses want water; I prefer tea. 花园要浇水

## 23:57 · web · turns 1–1

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
INSERT INTO "snapshot" VALUES('01m85dfkgc5cz1azac24fastfz','clean:a2663ab0db54d2bd8047d9f138748a5f1b3db9ef17887bd8c44b56df687c9fcc',1,'01m85dfm6jv4wd15vj25pjf5jw',0,1795478245.65846);
INSERT INTO "snapshot" VALUES('01m85dfmfav2ks36e09bexr3t7','clean:0f48f43aa75c34b2f6e144d3a9c6069bb878abd62d8e25aa52eb07fe3f884021',1,'',0,1.79547824588497614861e+09);
INSERT INTO "snapshot" VALUES('01m85dfmmwxrm57wrt95vekgyb','clean:0f48f43aa75c34b2f6e144d3a9c6069bb878abd62d8e25aa52eb07fe3f884021',2,'',0,1.79547824617264032364e+09);
INSERT INTO "snapshot" VALUES('01m85dfmsh09y8ewete9jwjj9e','clean:0f48f43aa75c34b2f6e144d3a9c6069bb878abd62d8e25aa52eb07fe3f884021',2,'',0,1.79547824627846312525e+09);
INSERT INTO "snapshot" VALUES('01m85dfmwxeyjqd3z9ntxxssrb','clean:0f48f43aa75c34b2f6e144d3a9c6069bb878abd62d8e25aa52eb07fe3f884021',1,'',0,1.79547824632360529897e+09);
INSERT INTO "snapshot" VALUES('01m85dfn15apn7ef2cwtd8tqw1','clean:0f48f43aa75c34b2f6e144d3a9c6069bb878abd62d8e25aa52eb07fe3f884021',1,'',0,1.79547824657071232795e+09);
INSERT INTO "snapshot" VALUES('01m85dfnb1sps826pc8z2350xf','clean:0f48f43aa75c34b2f6e144d3a9c6069bb878abd62d8e25aa52eb07fe3f884021',1,'',0,1.79547824688795638076e+09);
INSERT INTO "snapshot" VALUES('01m85dfnjjqzq1bcq76dndsma9','clean:0f48f43aa75c34b2f6e144d3a9c6069bb878abd62d8e25aa52eb07fe3f884021',1,'',0,1.79547824700754976275e+09);
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
INSERT INTO "snapshot_part" VALUES('01m85dfkgc5cz1azac24fastfz',0,'awareness','9e0b173ed1df3dfd43c2a0985610ed44f4e9ebf9fcb9be0298b11c768a32fb66','[]');
INSERT INTO "snapshot_part" VALUES('01m85dfkgc5cz1azac24fastfz',1,'MEMORY.md','aa0fea7604628517643648c9af3ee050f3225f43e3c51d88013a8f7caf7f128f','[]');
INSERT INTO "snapshot_part" VALUES('01m85dfmfav2ks36e09bexr3t7',0,'awareness','9e0b173ed1df3dfd43c2a0985610ed44f4e9ebf9fcb9be0298b11c768a32fb66','[]');
INSERT INTO "snapshot_part" VALUES('01m85dfmfav2ks36e09bexr3t7',1,'MEMORY.md','b02c32b3bb159ffb30bb81250683be789e65af3789048470f6452f24be6ad698','[]');
INSERT INTO "snapshot_part" VALUES('01m85dfmfav2ks36e09bexr3t7',2,'log','01542f8f60feecdff0ba69d34f388af6a6f4b144c1d959849b21dd826f5a0350','[]');
INSERT INTO "snapshot_part" VALUES('01m85dfmmwxrm57wrt95vekgyb',0,'awareness','9e0b173ed1df3dfd43c2a0985610ed44f4e9ebf9fcb9be0298b11c768a32fb66','[]');
INSERT INTO "snapshot_part" VALUES('01m85dfmmwxrm57wrt95vekgyb',1,'MEMORY.md','b02c32b3bb159ffb30bb81250683be789e65af3789048470f6452f24be6ad698','[]');
INSERT INTO "snapshot_part" VALUES('01m85dfmmwxrm57wrt95vekgyb',2,'log','01542f8f60feecdff0ba69d34f388af6a6f4b144c1d959849b21dd826f5a0350','[]');
INSERT INTO "snapshot_part" VALUES('01m85dfmsh09y8ewete9jwjj9e',0,'awareness','9e0b173ed1df3dfd43c2a0985610ed44f4e9ebf9fcb9be0298b11c768a32fb66','[]');
INSERT INTO "snapshot_part" VALUES('01m85dfmsh09y8ewete9jwjj9e',1,'MEMORY.md','b02c32b3bb159ffb30bb81250683be789e65af3789048470f6452f24be6ad698','[]');
INSERT INTO "snapshot_part" VALUES('01m85dfmsh09y8ewete9jwjj9e',2,'log','01542f8f60feecdff0ba69d34f388af6a6f4b144c1d959849b21dd826f5a0350','[]');
INSERT INTO "snapshot_part" VALUES('01m85dfmwxeyjqd3z9ntxxssrb',0,'awareness','9e0b173ed1df3dfd43c2a0985610ed44f4e9ebf9fcb9be0298b11c768a32fb66','[]');
INSERT INTO "snapshot_part" VALUES('01m85dfmwxeyjqd3z9ntxxssrb',1,'MEMORY.md','b02c32b3bb159ffb30bb81250683be789e65af3789048470f6452f24be6ad698','[]');
INSERT INTO "snapshot_part" VALUES('01m85dfmwxeyjqd3z9ntxxssrb',2,'log','186b84cb2cc34e18963a10940620da786c97da8dbb98b7cb17f7dd623c84adf8','[]');
INSERT INTO "snapshot_part" VALUES('01m85dfn15apn7ef2cwtd8tqw1',0,'awareness','9e0b173ed1df3dfd43c2a0985610ed44f4e9ebf9fcb9be0298b11c768a32fb66','[]');
INSERT INTO "snapshot_part" VALUES('01m85dfn15apn7ef2cwtd8tqw1',1,'MEMORY.md','b02c32b3bb159ffb30bb81250683be789e65af3789048470f6452f24be6ad698','[]');
INSERT INTO "snapshot_part" VALUES('01m85dfn15apn7ef2cwtd8tqw1',2,'log','186b84cb2cc34e18963a10940620da786c97da8dbb98b7cb17f7dd623c84adf8','[]');
INSERT INTO "snapshot_part" VALUES('01m85dfnb1sps826pc8z2350xf',0,'awareness','9e0b173ed1df3dfd43c2a0985610ed44f4e9ebf9fcb9be0298b11c768a32fb66','[]');
INSERT INTO "snapshot_part" VALUES('01m85dfnb1sps826pc8z2350xf',1,'MEMORY.md','b02c32b3bb159ffb30bb81250683be789e65af3789048470f6452f24be6ad698','[]');
INSERT INTO "snapshot_part" VALUES('01m85dfnb1sps826pc8z2350xf',2,'log','186b84cb2cc34e18963a10940620da786c97da8dbb98b7cb17f7dd623c84adf8','[]');
INSERT INTO "snapshot_part" VALUES('01m85dfnjjqzq1bcq76dndsma9',0,'awareness','9e0b173ed1df3dfd43c2a0985610ed44f4e9ebf9fcb9be0298b11c768a32fb66','[]');
INSERT INTO "snapshot_part" VALUES('01m85dfnjjqzq1bcq76dndsma9',1,'MEMORY.md','b02c32b3bb159ffb30bb81250683be789e65af3789048470f6452f24be6ad698','[]');
INSERT INTO "snapshot_part" VALUES('01m85dfnjjqzq1bcq76dndsma9',2,'log','186b84cb2cc34e18963a10940620da786c97da8dbb98b7cb17f7dd623c84adf8','[]');
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
INSERT INTO "tool_call" VALUES('01m85dfm900x161826qbpxe4sx','01m85dfm8c0qq82vy2d30dmfzh',0,'call_g5','write_file','{"path": "notes/roses.md", "content": "water on Mondays"}','idempotent','61662eb5a285a48a7be7f7d20e8368ff','done',1,'01m85dfm9cmfye4gm7nnf5ybgh');
INSERT INTO "tool_call" VALUES('01m85dfnk5rkz57fxhenj6pcgf','01m85dfnjnnd0h8qmb794dh1hk',0,'call_x1','write_file','{"path": "notes/x.md", "content": "x"}','idempotent','bb1427edfe2a63525f651a7ac66e030e','started',1,'');
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
INSERT INTO "turn" VALUES('01m85dfkhpqwa22qbaqtrx0jpg','01m85dfkgc5cz1azac24fastfz',1,1,'01m85dfkgcjd2j1yk6t496gzh5','owner','done',0,0,'01m85dfkgcjzfdt2z6zypm72rb',1,1,1.79547824491815328595e+09,1.79547824535827684399e+09,'owner',1.7954782448762733936e+09);
INSERT INTO "turn" VALUES('01m85dfm0g3bmtkjaedsp9ap66','01m85dfkgc5cz1azac24fastfz',2,1,'01m85dfm0b6bm2es0g6nkfpt1m','owner','done',0,0,'01m85dfm0b8tet76de2smbbyp7',3,1,1.79547824539236617084e+09,1.79547824541257476814e+09,'owner',1795478245.38705);
INSERT INTO "turn" VALUES('01m85dfm1trce0xd35jrk2ktb4','01m85dfkgc5cz1azac24fastfz',3,1,'01m85dfm1kkrakms9gfmqmeg7j','owner','done',0,0,'01m85dfm1k4jyfwr3haw55fnth',5,1,1.79547824543492913246e+09,1.79547824546260452265e+09,'owner',1.79547824542758321757e+09);
INSERT INTO "turn" VALUES('01m85dfm3qnjvsf6cb902tcw69','01m85dfkgc5cz1azac24fastfz',4,1,'01m85dfm3knp77n9r9yy2h8m69','owner','done',0,0,'01m85dfm3kempfma7t31yz79zj',7,1,1.79547824549572968486e+09,1.79547824551313424108e+09,'owner',1.79547824549173760414e+09);
INSERT INTO "turn" VALUES('01m85dfm52k1n5aq64wn5a2q1p','01m85dfkgc5cz1azac24fastfz',5,1,'01m85dfm4w6c7zrbrkjgyp9zn1','owner','done',0,0,'01m85dfm4wb7t914b3dvc6v3w6',9,1,1.79547824553864574436e+09,1.79547824556163239479e+09,'owner',1.7954782455328595638e+09);
INSERT INTO "turn" VALUES('01m85dfm8c0qq82vy2d30dmfzh','01m85dfkgc5cz1azac24fastfz',6,1,'01m85dfm884q16ehh8aafbymjy','owner','done',1,0,'01m85dfm88a75e5dvpzav2dfgq',11,1,1.79547824564453125002e+09,1.79547824568536877631e+09,'owner',1.79547824564069604877e+09);
INSERT INTO "turn" VALUES('01m85dfmaajrq19rb0rfwg2ywp','01m85dfkgc5cz1azac24fastfz',7,1,'01m85dfma6rpgxsrftmhs1d6z9','owner','done',0,0,'01m85dfma63mezkyfrphxrg9hd',15,1,1.79547824570632529256e+09,1.79547824571793150898e+09,'owner',1.79547824570247912404e+09);
INSERT INTO "turn" VALUES('01m85dfmbcjnwvzz2nc7rf28yv','01m85dfkgc5cz1azac24fastfz',8,1,'01m85dfmb72eaxpfpxp2m8nq66','owner','done',0,0,'01m85dfmb7a3pck50n6c0516q9',17,1,1.79547824574069929122e+09,1.7954782457521772385e+09,'owner',1.79547824573590064046e+09);
INSERT INTO "turn" VALUES('01m85dfmchcpfch1mbkzs1042v','01m85dfkgc5cz1azac24fastfz',9,1,'01m85dfmc9ajneaky4ychnhmky','owner','done',0,0,'01m85dfmc971q6ett0cwnzkc22',19,1,1.79547824577733325952e+09,1.79547824578887557983e+09,'owner',1.79547824576960182189e+09);
INSERT INTO "turn" VALUES('01m85dfmffxxw6q0ag62sbnfha','01m85dfmfav2ks36e09bexr3t7',1,1,'01m85dfmfap997511v5kq8v5a6','owner','done',0,0,'01m85dfmfarnde7ytjqxnq5ezh',1,1,1.79547824587189102174e+09,1.79547824589091157914e+09,'owner',1.7954782458669743538e+09);
INSERT INTO "turn" VALUES('01m85dfmgpyapy3w03p8rv4y3n','01m85dfmfav2ks36e09bexr3t7',2,1,'01m85dfmgj98etb73jynh4ry15','owner','done',0,0,'01m85dfmgjtpst2ghqfqtsqhbw',3,1,1.79547824591049504277e+09,1.79547824592538928989e+09,'owner',1.79547824590672469137e+09);
INSERT INTO "turn" VALUES('01m85dfmhy6fppxqk32hsw502n','01m85dfmfav2ks36e09bexr3t7',3,1,'01m85dfmhsqjkhdyng986zbdd8','owner','done',0,0,'01m85dfmhsjga7k4wnvtjk3ba0',5,1,1.79547824595049786569e+09,1.79547824596393442156e+09,'owner',1.79547824594510412217e+09);
INSERT INTO "turn" VALUES('01m85dfmn16e0gdrjzkwq2gcgb','01m85dfmmwxrm57wrt95vekgyb',1,1,'01m85dfmmw129pyjhkc16tp8vk','owner','done',0,0,'01m85dfmmw3196yjgw33hccmtw',1,1,1.79547824604913520809e+09,1.79547824606876039498e+09,'owner',1.79547824604443573954e+09);
INSERT INTO "turn" VALUES('01m85dfmp9aq1twe6nmzvy0n94','01m85dfmmwxrm57wrt95vekgyb',2,1,'01m85dfmp35kt9xyqxmd3xysx9','owner','done',0,0,'01m85dfmp3x6qcype81hvh1w5m',3,1,1795478246.08917,1.79547824610707211492e+09,'owner',1.79547824608380818364e+09);
INSERT INTO "turn" VALUES('01m85dfmrehgw28fffyqgd360w','01m85dfmmwxrm57wrt95vekgyb',3,2,'01m85dfmra25s7cn41hc5ygna4','owner','done',0,0,'01m85dfmrap97ahy3q46p6w5kh',5,1,1.79547824615836167333e+09,1.79547824617864847183e+09,'owner',1.79547824615443515775e+09);
INSERT INTO "turn" VALUES('01m85dfmsq2tb7r14eydk37jb5','01m85dfmsh09y8ewete9jwjj9e',1,1,'01m85dfmsh6xp3t0y9rw8dx8wf','owner','done',0,0,'01m85dfmshdgn8crs6na3b6r7d',1,1,1.79547824619991111755e+09,1.79547824621747922901e+09,'owner',1.79547824619371342654e+09);
INSERT INTO "turn" VALUES('01m85dfmvtqxn3v3826hg0kfnb','01m85dfmsh09y8ewete9jwjj9e',2,2,'01m85dfmvqj4s3ppnzj9qw2psd','owner','done',0,0,'01m85dfmvqn5m4zzv7whq88j4e',3,1,1.79547824626689791682e+09,1.79547824628447818757e+09,'owner',1.79547824626335024832e+09);
INSERT INTO "turn" VALUES('01m85dfmx5rg0j0tzcrqejqmr4','01m85dfmwxeyjqd3z9ntxxssrb',1,1,'01m85dfmwxaf65s68nf7kf94q1','5005','done',0,0,'01m85dfmwxen9jf9nqxbg6sfcp',1,1,1.79547824630960512165e+09,1.79547824633329105377e+09,'owner',1.79547824630102062222e+09);
INSERT INTO "turn" VALUES('01m85dfmz209n0fk5eb7ynnxh5','01m85dfmwxeyjqd3z9ntxxssrb',2,1,'01m85dfmyv0kdhzsfw1wvg0zyq','5005','done',0,0,'01m85dfmyv9c8cmg57yn7xdk0n',3,1,1.79547824637081336975e+09,1.79547824638391470908e+09,'owner',1.7954782463638715744e+09);
INSERT INTO "turn" VALUES('01m85dfn51bvb1y5v841w4krfr','01m85dfn15apn7ef2cwtd8tqw1',1,1,'01m85dfn15dh86tbffmvf4msc2','owner','done',0,0,'01m85dfn15havc895m2yn958dt',1,1,1.79547824656144976618e+09,1.79547824657840275758e+09,'owner',1.79547824643723678587e+09);
INSERT INTO "turn" VALUES('01m85dfnctc78btn9daqz3rmv3','01m85dfnb1sps826pc8z2350xf',1,1,'01m85dfnb1q2kmhjaycjv4e9b0','owner','done',0,0,'01m85dfnb14v703rgv8c1k6s05',1,2,1.79547824681079196931e+09,1.79547824689945936206e+09,'owner',1.79547824675335192679e+09);
INSERT INTO "turn" VALUES('01m85dfngvp2ahqvcew9m8kjqx','01m85dfnb1sps826pc8z2350xf',2,1,'01m85dfngme73er3293hch49gb','owner','done',0,0,'01m85dfngm594y23aq9ht0kgmm',3,2,1.79547824693968462944e+09,1.79547824695257902147e+09,'owner',1.79547824693257832527e+09);
INSERT INTO "turn" VALUES('01m85dfnjnnd0h8qmb794dh1hk','01m85dfnjjqzq1bcq76dndsma9',1,1,'01m85dfnjj2jyywabst8vghr1e','owner','waiting',1,0,'01m85dfnjjdkxasq43agag1r3p',1,2,1.79547824699778151512e+09,0.0,'owner',1.79547824699437880515e+09);
INSERT INTO "turn" VALUES('01m85dfnmbjehtyqnzrf5akgqd','01m85dfnb1sps826pc8z2350xf',3,1,'01m85dfnm7sty1ttxh3age6yd8','owner','done',0,0,'01m85dfnm7vyeedps8bcjrqg54',5,2,1.79547824705108523364e+09,1.79547824706260895728e+09,'owner',1.79547824704724216455e+09);
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
INSERT INTO "usage" VALUES('01m85dfkze5wfamerky0t5w6y2','01m85dfkgc5cz1azac24fastfz','01m85dfkhpqwa22qbaqtrx0jpg','gpt-6.1-terra','turn',2325,3,0,0,0,1.79547824535827684399e+09,'owner');
INSERT INTO "usage" VALUES('01m85dfm03fztmzr6qt441c347','01m85dfkgc5cz1azac24fastfz','','gpt-6-luna','extract',446,49,0,0,0,1.79547824537953805922e+09,'owner');
INSERT INTO "usage" VALUES('01m85dfm14kjmybyq51k8752sr','01m85dfkgc5cz1azac24fastfz','01m85dfm0g3bmtkjaedsp9ap66','gpt-6.1-terra','turn',2386,3,0,0,0,1.79547824541257476814e+09,'owner');
INSERT INTO "usage" VALUES('01m85dfm1h4q1z2296gqerr4z5','01m85dfkgc5cz1azac24fastfz','','gpt-6-luna','extract',468,49,0,0,0,1.7954782454259231091e+09,'owner');
INSERT INTO "usage" VALUES('01m85dfm2pmvxkfe7tyt1t0ckt','01m85dfkgc5cz1azac24fastfz','01m85dfm1trce0xd35jrk2ktb4','gpt-6.1-terra','turn',2507,3,0,0,0,1.79547824546260452265e+09,'owner');
INSERT INTO "usage" VALUES('01m85dfm32mzkh2mxrknfjnz12','01m85dfkgc5cz1azac24fastfz','','gpt-6-luna','extract',480,49,0,0,0,1.79547824547423887251e+09,'owner');
INSERT INTO "usage" VALUES('01m85dfm49depapwm1p36740bp','01m85dfkgc5cz1azac24fastfz','01m85dfm3qnjvsf6cb902tcw69','gpt-6.1-terra','turn',2568,3,0,0,0,1.79547824551313424108e+09,'owner');
INSERT INTO "usage" VALUES('01m85dfm4qtterr9x2r7h8px9q','01m85dfkgc5cz1azac24fastfz','','gpt-6-luna','extract',491,49,0,0,0,1.79547824552712416649e+09,'owner');
INSERT INTO "usage" VALUES('01m85dfm5s5e0qqjsm9dc7cjgp','01m85dfkgc5cz1azac24fastfz','01m85dfm52k1n5aq64wn5a2q1p','gpt-6.1-terra','turn',2614,3,0,0,0,1.79547824556163239479e+09,'owner');
INSERT INTO "usage" VALUES('01m85dfm6bxj7fndw3bvgt5pk2','01m85dfkgc5cz1azac24fastfz','','gpt-6-luna','extract',503,49,0,0,0,1.79547824557945084576e+09,'owner');
INSERT INTO "usage" VALUES('01m85dfm6ydvm9tavbft5cdz53','01m85dfkgc5cz1azac24fastfz','','gpt-6-luna','fold',456,71,0,0,0,1.7954782455984947681e+09,'owner');
INSERT INTO "usage" VALUES('01m85dfm90sf21qwd66dbbdgw5','01m85dfkgc5cz1azac24fastfz','01m85dfm8c0qq82vy2d30dmfzh','gpt-6.1-terra','turn',2645,19,0,0,0,1.79547824566472721103e+09,'owner');
INSERT INTO "usage" VALUES('01m85dfm9nkvv3svcw66k3j9nk','01m85dfkgc5cz1azac24fastfz','01m85dfm8c0qq82vy2d30dmfzh','gpt-6.1-terra','turn',2728,3,0,0,0,1.79547824568536877631e+09,'owner');
INSERT INTO "usage" VALUES('01m85dfm9ygcv5agb1tps8r0ys','01m85dfkgc5cz1azac24fastfz','','gpt-6-luna','extract',521,1,0,0,0,1.79547824569415807719e+09,'owner');
INSERT INTO "usage" VALUES('01m85dfmankbecakjfmq3fr3jp','01m85dfkgc5cz1azac24fastfz','01m85dfmaajrq19rb0rfwg2ywp','gpt-6.1-terra','turn',2756,3,0,0,0,1.79547824571793150898e+09,'owner');
INSERT INTO "usage" VALUES('01m85dfmazzw009cs01qf6vjs4','01m85dfkgc5cz1azac24fastfz','','gpt-6-luna','extract',507,1,0,0,0,1.795478245727216959e+09,'owner');
INSERT INTO "usage" VALUES('01m85dfmbrdegmrzf1n0pja9ky','01m85dfkgc5cz1azac24fastfz','01m85dfmbcjnwvzz2nc7rf28yv','gpt-6.1-terra','turn',2783,3,0,0,0,1.7954782457521772385e+09,'owner');
INSERT INTO "usage" VALUES('01m85dfmc0hb4zyac6ze017taa','01m85dfkgc5cz1azac24fastfz','','gpt-6-luna','extract',507,1,0,0,0,1.79547824576096081731e+09,'owner');
INSERT INTO "usage" VALUES('01m85dfmcwygh767vmwzr1dxnc','01m85dfkgc5cz1azac24fastfz','01m85dfmchcpfch1mbkzs1042v','gpt-6.1-terra','turn',2811,3,0,0,0,1.79547824578887557983e+09,'owner');
INSERT INTO "usage" VALUES('01m85dfmd58yeft04k0r1xw0cz','01m85dfkgc5cz1azac24fastfz','','gpt-6-luna','extract',507,1,0,0,0,1.79547824579748654364e+09,'owner');
INSERT INTO "usage" VALUES('01m85dfmdt0110g2gehdgeq7vw','01m85dfkgc5cz1azac24fastfz','','gpt-6-luna','fold',529,102,0,0,0,1795478245.81844,'owner');
INSERT INTO "usage" VALUES('01m85dfmg2t482fh1q89xx602q','01m85dfmfav2ks36e09bexr3t7','01m85dfmffxxw6q0ag62sbnfha','gpt-6.1-terra','turn',2714,3,0,0,0,1.79547824589091157914e+09,'owner');
INSERT INTO "usage" VALUES('01m85dfmgerb379t76htmpp953','01m85dfmfav2ks36e09bexr3t7','','gpt-6-luna','extract',461,1,0,0,0,1.79547824590249347691e+09,'owner');
INSERT INTO "usage" VALUES('01m85dfmh51m3337hzr3hrvwwk','01m85dfmfav2ks36e09bexr3t7','01m85dfmgpyapy3w03p8rv4y3n','gpt-6.1-terra','turn',2742,3,0,0,0,1.79547824592538928989e+09,'owner');
INSERT INTO "usage" VALUES('01m85dfmhjzcarw2xrpqr8w62a','01m85dfmfav2ks36e09bexr3t7','','gpt-6-luna','extract',461,1,0,0,0,1.79547824593826842306e+09,'owner');
INSERT INTO "usage" VALUES('01m85dfmjbm4k8t5yhb9cvkgxg','01m85dfmfav2ks36e09bexr3t7','01m85dfmhy6fppxqk32hsw502n','gpt-6.1-terra','turn',2769,3,0,0,0,1.79547824596393442156e+09,'owner');
INSERT INTO "usage" VALUES('01m85dfmjn5ea9k02em75d9hcs','01m85dfmfav2ks36e09bexr3t7','','gpt-6-luna','extract',461,1,0,0,0,1.79547824597342157364e+09,'owner');
INSERT INTO "usage" VALUES('01m85dfmk9y003xq4e39dgqhx7','01m85dfmfav2ks36e09bexr3t7','','gpt-6-luna','fold',419,25,0,0,0,1.79547824599347972864e+09,'owner');
INSERT INTO "usage" VALUES('01m85dfmnmq838rr55gm5xgx27','01m85dfmmwxrm57wrt95vekgyb','01m85dfmn16e0gdrjzkwq2gcgb','gpt-6.1-terra','turn',2725,3,0,0,0,1.79547824606876039498e+09,'owner');
INSERT INTO "usage" VALUES('01m85dfmp0rfwr3wvm1j5vvg82','01m85dfmmwxrm57wrt95vekgyb','','gpt-6-luna','extract',461,1,0,0,0,1.79547824608032894136e+09,'owner');
INSERT INTO "usage" VALUES('01m85dfmpveqaccyydcdya2nc4','01m85dfmmwxrm57wrt95vekgyb','01m85dfmp9aq1twe6nmzvy0n94','gpt-6.1-terra','turn',2753,3,0,0,0,1.79547824610707211492e+09,'owner');
INSERT INTO "usage" VALUES('01m85dfmq9h340yghtp3jv65q4','01m85dfmmwxrm57wrt95vekgyb','','gpt-6-luna','extract',461,1,0,0,0,1.79547824612182092664e+09,'owner');
INSERT INTO "usage" VALUES('01m85dfms2vp7cmkax1q5x7vwg','01m85dfmmwxrm57wrt95vekgyb','01m85dfmrehgw28fffyqgd360w','gpt-6.1-terra','turn',2725,3,0,0,0,1.79547824617864847183e+09,'owner');
INSERT INTO "usage" VALUES('01m85dfmse6ep0w75qv38t5vn3','01m85dfmmwxrm57wrt95vekgyb','','gpt-6-luna','extract',461,1,0,0,0,1.79547824619007802011e+09,'owner');
INSERT INTO "usage" VALUES('01m85dfmt97r9synh3q7fbq9af','01m85dfmsh09y8ewete9jwjj9e','01m85dfmsq2tb7r14eydk37jb5','gpt-6.1-terra','turn',2725,3,0,0,0,1.79547824621747922901e+09,'owner');
INSERT INTO "usage" VALUES('01m85dfmtjeygpc00c1mmr1tn0','01m85dfmsh09y8ewete9jwjj9e','','gpt-6-luna','extract',461,1,0,0,0,1.79547824622634053228e+09,'owner');
INSERT INTO "usage" VALUES('01m85dfmv5qqaw258dq1w4tmqt','01m85dfmsh09y8ewete9jwjj9e','','gpt-6-luna','fold',419,25,0,0,0,1.79547824624520874019e+09,'owner');
INSERT INTO "usage" VALUES('01m85dfmwc18vd808n08q3dzxx','01m85dfmsh09y8ewete9jwjj9e','01m85dfmvtqxn3v3826hg0kfnb','gpt-6.1-terra','turn',2725,3,0,0,0,1.79547824628447818757e+09,'owner');
INSERT INTO "usage" VALUES('01m85dfmwnk983kay03y0z5h2j','01m85dfmsh09y8ewete9jwjj9e','','gpt-6-luna','extract',461,1,0,0,0,1.79547824629377889634e+09,'owner');
INSERT INTO "usage" VALUES('01m85dfmxxdh2fmzr8jv1gpmzk','01m85dfmwxeyjqd3z9ntxxssrb','01m85dfmx5rg0j0tzcrqejqmr4','gpt-6.1-terra','turn',2743,3,0,0,0,1.79547824633329105377e+09,'owner');
INSERT INTO "usage" VALUES('01m85dfmy9bet66jcb361k5svr','01m85dfmwxeyjqd3z9ntxxssrb','','gpt-6-luna','extract',461,1,0,0,0,1.79547824634597682951e+09,'owner');
INSERT INTO "usage" VALUES('01m85dfmzfm17ja4c0x002rqvj','01m85dfmwxeyjqd3z9ntxxssrb','01m85dfmz209n0fk5eb7ynnxh5','gpt-6.1-terra','turn',2770,3,0,0,0,1.79547824638391470908e+09,'owner');
INSERT INTO "usage" VALUES('01m85dfmzz45h0jxf8tz7z546t','01m85dfmwxeyjqd3z9ntxxssrb','','gpt-6-luna','extract',461,1,0,0,0,1.79547824639985752108e+09,'owner');
INSERT INTO "usage" VALUES('01m85dfn5j9xkm3wb7p5xxv0mt','01m85dfn15apn7ef2cwtd8tqw1','01m85dfn51bvb1y5v841w4krfr','gpt-6.1-terra','turn',2797,3,0,0,0,1.79547824657840275758e+09,'owner');
INSERT INTO "usage" VALUES('01m85dfn5why5qh73zmhx89zms','01m85dfn15apn7ef2cwtd8tqw1','','gpt-6-luna','extract',461,1,0,0,0,1.79547824658809590343e+09,'owner');
INSERT INTO "usage" VALUES('01m85dfnfkctnqbx161n5e6j4m','01m85dfnb1sps826pc8z2350xf','01m85dfnctc78btn9daqz3rmv3','gpt-6.1-terra','turn',2743,3,0,0,0,1.79547824689945936206e+09,'owner');
INSERT INTO "usage" VALUES('01m85dfnghr4av876v7zzt9xyb','01m85dfnb1sps826pc8z2350xf','','gpt-6-luna','extract',461,1,0,0,0,1.79547824692922163014e+09,'owner');
INSERT INTO "usage" VALUES('01m85dfnh88zv6jm4d9zb6s0ze','01m85dfnb1sps826pc8z2350xf','01m85dfngvp2ahqvcew9m8kjqx','gpt-6.1-terra','turn',2770,3,0,0,0,1.79547824695257902147e+09,'owner');
INSERT INTO "usage" VALUES('01m85dfnhkcdz7y0n9yz1c0nrx','01m85dfnb1sps826pc8z2350xf','','gpt-6-luna','extract',461,1,0,0,0,1.79547824696353936196e+09,'owner');
INSERT INTO "usage" VALUES('01m85dfnj96c4kpddwf2g2pkns','01m85dfmfav2ks36e09bexr3t7','','gpt-6-luna','fold',419,25,0,0,0,1.79547824698504567149e+09,'owner');
INSERT INTO "usage" VALUES('01m85dfnk587vvsx28dersncd9','01m85dfnjjqzq1bcq76dndsma9','01m85dfnjnnd0h8qmb794dh1hk','gpt-6.1-terra','turn',2757,14,0,0,0,1.79547824701372408864e+09,'owner');
INSERT INTO "usage" VALUES('01m85dfnmpqagns8sfwq7ne1ra','01m85dfnb1sps826pc8z2350xf','01m85dfnmbjehtyqnzrf5akgqd','gpt-6.1-terra','turn',2798,3,0,0,0,1.79547824706260895728e+09,'owner');
INSERT INTO "usage" VALUES('01m85dfnmxjr52qgr2556s06pw','01m85dfnb1sps826pc8z2350xf','','gpt-6-luna','extract',461,1,0,0,0,1.79547824706953358655e+09,'owner');
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
CREATE INDEX memory_line ON memory (space, norm, state);
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
INSERT INTO "approval" VALUES('a1','telegram','100','5005','01m85dfkgc5cz1azac24fastfz','','c1','file.write','write_file','{"path":"n.md"}','0','0','0','used',1795000000.0,1795000000.0);
INSERT INTO "channel_note" VALUES('wechat','cursor','eyJhIjoxfQ==');
INSERT INTO "dream" VALUES('d1','','2026-11-20','done','','Merged nothing.','',1795000000.0);
INSERT INTO "forgetting" VALUES('f1','','01m85dfkgc5cz1azac24fastfz','owner','done','','{}','Removed from 2 places.',1795000000.0,1795000000.0);
INSERT INTO "limit_told" VALUES('telegram:100:5006','01m85dfkgc5cz1azac24fastfz','messages_per_day',1795000000.0);
INSERT INTO "link_code" VALUES('l1','0','agreed','telegram','100','5006','','01m85dfkgc5cz1azac24fastfz','telegram','100','5006','Ada','p-joined','01m85dfkgc5cz1azac24fastfz',1795000000.0,1795000000.0);
INSERT INTO "person_removal" VALUES('l0','["p-gone"]','["telegram:5007"]','[]','{}',1795000000.0);
INSERT INTO "reduction" VALUES('01m85dfkgcjd2j1yk6t496gzh5',0,'snip','01m85dfkgc5cz1azac24fastfz','re … g0',3,'size',1);
INSERT INTO "file_label" VALUES('','notes/x.md',1795000000.0);
COMMIT;
