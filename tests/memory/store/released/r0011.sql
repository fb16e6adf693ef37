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
INSERT INTO "access_request" VALUES('01m8bgf69cv4yk4w95b719qmvn','telegram','100','user','999','Ада','01m8bgf698zm6s560rpxdvr8c8','en','0819a49a48e592fb3e9966fc9712ca8f5f9d4c1e1f19bcb2d7f691edb4da607b','pending',1.79568630365987610812e+09,1.79568270366004824637e+09);
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
INSERT INTO "alembic_version" VALUES('r0011');
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
INSERT INTO "approval" VALUES('a1','telegram','100','5005','01m85dfkgc5cz1azac24fastfz','','c1','file.write','write_file','{"path":"n.md"}','0','0','0','used',1795000000.0,1795000000.0);
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
INSERT INTO "audit" VALUES(1,1.79568270280731034273e+09,'owner','tool write_file','01m8bgf4kqandk5zbzwh7cga2e','a65c0cbb3d6f8a3ca8deb88a31296e75bb9021ac7f69eeafed30aead39d1d60d','allowed','started','','fab0ee8b8713d93a839ab927c0b981843138c02b048e12e0f10272e31b583ab3');
INSERT INTO "audit" VALUES(2,1.79568270305646371844e+09,'','memory.remember','','','allowed','+1 -0','fab0ee8b8713d93a839ab927c0b981843138c02b048e12e0f10272e31b583ab3','ffde6e4d4aba7e663e35111fd519188a72e7e65c96c80cacd6abe8614aa306c9');
INSERT INTO "audit" VALUES(3,1.79568270333327412602e+09,'web/console/owner','clear','01m8bgf5x3m6275q4fpmqncnnr','','allowed','epoch 2','ffde6e4d4aba7e663e35111fd519188a72e7e65c96c80cacd6abe8614aa306c9','932ccd3e0c15f43a3b71bc1bb0bbf10024ecc59ea30c42a9a4346abde1a4e9b7');
INSERT INTO "audit" VALUES(4,1.79568270345396780972e+09,'web/console/owner','clear','01m8bgf60yvggq6rakn624m7wr','','allowed','epoch 2','932ccd3e0c15f43a3b71bc1bb0bbf10024ecc59ea30c42a9a4346abde1a4e9b7','15506a1e24b2f8dc8610efd45843767f1192a88d3b41f93c2a8feb80c9757ed6');
INSERT INTO "audit" VALUES(5,1.79568270366004824637e+09,'telegram/100/999','user asks','telegram/100/999','','allowed','pending','15506a1e24b2f8dc8610efd45843767f1192a88d3b41f93c2a8feb80c9757ed6','b8228db7aeed7e853049277b6195247d21c0c66852559d6b30332aaad2e3bfce');
INSERT INTO "audit" VALUES(6,1.79568270519701504708e+09,'owner','tool write_file','01m8bgf7rcsb4a51gr35q27m2t','f5e908acc3cb7f989e16b43cb7a206020827475d8f8b35885e2a6be8b0521a47','allowed','started','b8228db7aeed7e853049277b6195247d21c0c66852559d6b30332aaad2e3bfce','848601e2b951caab359498d7d3912188b7ce6f536c5526982ecbab45a4c4d794');
CREATE TABLE audit_head (
	id INTEGER NOT NULL, 
	seq INTEGER NOT NULL, 
	hash TEXT NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "audit_head" VALUES(1,6,'848601e2b951caab359498d7d3912188b7ce6f536c5526982ecbab45a4c4d794');
CREATE TABLE channel_note (
	channel TEXT NOT NULL, 
	name TEXT NOT NULL, 
	value TEXT NOT NULL, 
	PRIMARY KEY (channel, name)
);
INSERT INTO "channel_note" VALUES('x','odd','引号 
	\ \N 😀');
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
INSERT INTO "clearing" VALUES('01m8bgf5x3m6275q4fpmqncnnr',2,1,'',0,1.79568270333327412602e+09,'clear',0);
INSERT INTO "clearing" VALUES('01m8bgf60yvggq6rakn624m7wr',2,1,'',0,1.79568270345396780972e+09,'new',0);
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
INSERT INTO "conversation" VALUES('01m8bgf4kqandk5zbzwh7cga2e','web','console','garden','','dm','',1,21,10,25,1,'01m8bgf5mcm7d2fvnxsekxntrz','','',2,'9f327dd26db4c3e11549d958ee28803a3ee7fa31aa9742937d42a09e302055fd','fold',1,'«g0» the roses want water; I prefer tea. 花园要浇水',1.79568270303602361675e+09,1.79568270306157398222e+09,0);
INSERT INTO "conversation" VALUES('01m8bgf5q4665tkqs5dynja3xe','web','console','work','','dm','',1,7,4,12,1,'','','',2,'9f327dd26db4c3e11549d958ee28803a3ee7fa31aa9742937d42a09e302055fd','fold undone',1,'«w0» what do you make of it?',1.79568270511528015141e+09,1.79568270511528015141e+09,0);
INSERT INTO "conversation" VALUES('01m8bgf5x3m6275q4fpmqncnnr','web','console','old','','dm','',2,7,4,9,5,'','','',1,'9f327dd26db4c3e11549d958ee28803a3ee7fa31aa9742937d42a09e302055fd','clear',1,'«o0» what do you make of it?',1.79568270335669827458e+09,1.79568270338131403922e+09,5);
INSERT INTO "conversation" VALUES('01m8bgf60yvggq6rakn624m7wr','web','console','new','','dm','',2,5,3,7,3,'','','',2,'9f327dd26db4c3e11549d958ee28803a3ee7fa31aa9742937d42a09e302055fd','clear',1,'«n0» what do you make of it?',1.79568270348481678964e+09,1.7956827035227861404e+09,0);
INSERT INTO "conversation" VALUES('01m8bgf65y2a373m6my1w0wnp8','telegram','100','5005','','dm','',1,5,3,6,1,'','','',0,'9f327dd26db4c3e11549d958ee28803a3ee7fa31aa9742937d42a09e302055fd','SOUL.md, tools, model or time zone',1,'«t0» what do you make of it?',1.79568270360961580278e+09,1.79568270366004824637e+09,0);
INSERT INTO "conversation" VALUES('01m8bgf698zm6s560rpxdvr8c8','telegram','100','999','','dm','telegram-999',1,1,1,3,1,'','','',0,'','',0,'',0.0,1.79568270366004824637e+09,0);
INSERT INTO "conversation" VALUES('01m8bgf6b28er7pckhth8a6f85','web','console','picture','','dm','',1,3,2,3,1,'','','',0,'9f327dd26db4c3e11549d958ee28803a3ee7fa31aa9742937d42a09e302055fd','SOUL.md, tools, model or time zone',1,'«p1» what do you make of it? 📎 dot.png',1.79568270371441316606e+09,1.79568270386741733551e+09,0);
INSERT INTO "conversation" VALUES('01m8bgf7e51cg9tfenfk1h7qaz','web','console','late','','dm','',1,7,4,7,1,'','','',0,'9f327dd26db4c3e11549d958ee28803a3ee7fa31aa9742937d42a09e302055fd','SOUL.md, tools, model or time zone',1,'«l0» what do you make of it?',1.79568270522733092306e+09,1.79568270524949884408e+09,0);
INSERT INTO "conversation" VALUES('01m8bgf7rcsb4a51gr35q27m2t','web','console','tool','','dm','',1,3,2,3,1,'','','',0,'9f327dd26db4c3e11549d958ee28803a3ee7fa31aa9742937d42a09e302055fd','SOUL.md, tools, model or time zone',1,'«x1» use write_file {"path": "notes/x.md", "content": "x"}',1.79568270522269344329e+09,1.79568270522269344329e+09,0);
CREATE TABLE coverage (
	message_id TEXT NOT NULL, 
	class TEXT NOT NULL, 
	fold_id TEXT NOT NULL, 
	PRIMARY KEY (message_id)
);
INSERT INTO "coverage" VALUES('01m8bgf4kqcjb8f29s5f1fzxkk','folded','01m8bgf5c9q32qnyra4x9r0d17');
INSERT INTO "coverage" VALUES('01m8bgf5737490s8h7gt48hwm3','folded','01m8bgf5c9q32qnyra4x9r0d17');
INSERT INTO "coverage" VALUES('01m8bgf580se4hcfbjbspzaj8f','folded','01m8bgf5c9q32qnyra4x9r0d17');
INSERT INTO "coverage" VALUES('01m8bgf58kdvms6scbxzbdkhms','folded','01m8bgf5c9q32qnyra4x9r0d17');
INSERT INTO "coverage" VALUES('01m8bgf5925ksfhs91s05zha1b','folded','01m8bgf5mcm7d2fvnxsekxntrz');
INSERT INTO "coverage" VALUES('01m8bgf59kyccs9kfttbvx6q3a','folded','01m8bgf5mcm7d2fvnxsekxntrz');
INSERT INTO "coverage" VALUES('01m8bgf5a4rt7xe3ramag17pn9','folded','01m8bgf5mcm7d2fvnxsekxntrz');
INSERT INTO "coverage" VALUES('01m8bgf5aqf519y05p0v41ej3b','folded','01m8bgf5mcm7d2fvnxsekxntrz');
INSERT INTO "coverage" VALUES('01m8bgf5b4a297jyrk9rbs5cad','folded','01m8bgf5mcm7d2fvnxsekxntrz');
INSERT INTO "coverage" VALUES('01m8bgf5bhak22md0p9srp3mhk','folded','01m8bgf5mcm7d2fvnxsekxntrz');
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
INSERT INTO "extraction" VALUES('01m8bgf4n4dc7w9b51r4vyzhnx','','01m8bgf4kqandk5zbzwh7cga2e',1,'done',1,'','kept 0',1.7956827025637238026e+09);
INSERT INTO "extraction" VALUES('01m8bgf585tg9s3ddhme1h2sn9','','01m8bgf4kqandk5zbzwh7cga2e',2,'done',1,'','kept 0',1.79568270261138415331e+09);
INSERT INTO "extraction" VALUES('01m8bgf594s190k6n1w29rxm67','','01m8bgf4kqandk5zbzwh7cga2e',3,'done',1,'','kept 0',1.795682702643065691e+09);
INSERT INTO "extraction" VALUES('01m8bgf5a7bamhe954fxqz02eh','','01m8bgf4kqandk5zbzwh7cga2e',4,'done',1,'','kept 0',1.79568270267938971521e+09);
INSERT INTO "extraction" VALUES('01m8bgf5b5adkp122d71k4nj8n','','01m8bgf4kqandk5zbzwh7cga2e',5,'done',1,'','kept 0',1.79568270270584821705e+09);
INSERT INTO "extraction" VALUES('01m8bgf5dwtw9a6hqh1dj1qh56','','01m8bgf4kqandk5zbzwh7cga2e',6,'done',1,'','kept 0',1.79568270283424615864e+09);
INSERT INTO "extraction" VALUES('01m8bgf5gk48sgd2fmg0qsrmpr','','01m8bgf4kqandk5zbzwh7cga2e',7,'done',1,'','kept 0',1.79568270288258910179e+09);
INSERT INTO "extraction" VALUES('01m8bgf5hte8frmgs0rs4skpvr','','01m8bgf4kqandk5zbzwh7cga2e',8,'done',1,'','kept 0',1.79568270291813921932e+09);
INSERT INTO "extraction" VALUES('01m8bgf5k25pjpmfdgv3matjc9','','01m8bgf4kqandk5zbzwh7cga2e',9,'done',1,'','kept 0',1.79568270296348714829e+09);
INSERT INTO "extraction" VALUES('01m8bgf5q68fyan9fptf2mn3a4','','01m8bgf5q4665tkqs5dynja3xe',1,'done',1,'','kept 0',1.79568270310365414622e+09);
INSERT INTO "extraction" VALUES('01m8bgf5rgvvttm7n2xzpsn2sz','','01m8bgf5q4665tkqs5dynja3xe',2,'done',1,'','kept 0',1.79568270313408231736e+09);
INSERT INTO "extraction" VALUES('01m8bgf5sdjesx2v4wka985ta5','','01m8bgf5q4665tkqs5dynja3xe',3,'done',1,'','kept 0',1.79568270316357493404e+09);
INSERT INTO "extraction" VALUES('01m8bgf5x6nbaqyq9vgm8aq5bz','','01m8bgf5x3m6275q4fpmqncnnr',1,'done',1,'','kept 0',1.79568270329109048845e+09);
INSERT INTO "extraction" VALUES('01m8bgf5y46jfw7sttrcckskvs','','01m8bgf5x3m6275q4fpmqncnnr',2,'done',1,'','kept 0',1.79568270331616950037e+09);
INSERT INTO "extraction" VALUES('01m8bgf5zzh2w7ga94xa0r5qse','','01m8bgf5x3m6275q4fpmqncnnr',3,'done',1,'','kept 0',1.79568270338131403922e+09);
INSERT INTO "extraction" VALUES('01m8bgf6122wwqfzbswfb4xms9','','01m8bgf60yvggq6rakn624m7wr',1,'done',1,'','kept 0',1.7956827034210715294e+09);
INSERT INTO "extraction" VALUES('01m8bgf63y0r4c6bbm8dcp3bp2','','01m8bgf60yvggq6rakn624m7wr',2,'done',1,'','kept 0',1.7956827035227861404e+09);
INSERT INTO "extraction" VALUES('01m8bgf66adht8z49nr11z6aqe','','01m8bgf65y2a373m6my1w0wnp8',1,'done',1,'','kept 0',1.7956827035876643658e+09);
INSERT INTO "extraction" VALUES('01m8bgf67x1dz9p4ywaak7zg1k','','01m8bgf65y2a373m6my1w0wnp8',2,'done',1,'','kept 0',1.79568270362763547894e+09);
INSERT INTO "extraction" VALUES('01m8bgf6fdszgdn6a4672zez9j','','01m8bgf6b28er7pckhth8a6f85',1,'done',1,'','kept 0',1.79568270386741733551e+09);
INSERT INTO "extraction" VALUES('01m8bgf7ewrnyrj74n2qh5kchh','','01m8bgf7e51cg9tfenfk1h7qaz',1,'queued',0,'','',1.79568270505455040934e+09);
INSERT INTO "extraction" VALUES('01m8bgf7nqk8jhsqz76bt0wy6w','','01m8bgf7e51cg9tfenfk1h7qaz',2,'queued',0,'','',1.79568270509976720804e+09);
INSERT INTO "extraction" VALUES('01m8bgf7tfvkrp8nn3egn9zy13','','01m8bgf7e51cg9tfenfk1h7qaz',3,'queued',0,'','',1.79568270524949884408e+09);
CREATE TABLE file_label (
	space TEXT NOT NULL, 
	path TEXT NOT NULL, 
	at DOUBLE NOT NULL, 
	PRIMARY KEY (space, path)
);
INSERT INTO "file_label" VALUES('','notes/x.md',1.5);
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
INSERT INTO "file_version" VALUES('v','','notes/x.md','',0,'','c',1.5);
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
INSERT INTO "fold" VALUES('01m8bgf5c9q32qnyra4x9r0d17','01m8bgf4kqandk5zbzwh7cga2e','','web',1,'',1,4,1,2,2,'folded','model','balanced','/context fold','- «g0» the roses want water; I prefer tea. 花园要浇水
- «g1» the roses want water; I prefer tea. 花园要浇水','- «g0» the roses want water; I prefer tea. 花园要浇水
- «g1» the roses want water; I prefer tea. 花园要浇水',43,'c771287cd53c2542710248e26d131d6e05ca20b2a1245cac50c5054833558952','memory/2026-11-26.md',195,160,0,1.7956827027297072411e+09,1,'',11,0,'',0,0,0,'','');
INSERT INTO "fold" VALUES('01m8bgf5mcm7d2fvnxsekxntrz','01m8bgf4kqandk5zbzwh7cga2e','','web',1,'01m8bgf5c9q32qnyra4x9r0d17',5,10,3,5,5,'folded','model','balanced','/context fold','- «g2» the roses want water; I prefer tea. 花园要浇水
- «g3» the roses want water; I prefer tea. 花园要浇水
- «g4» the roses want water; I prefer tea. 花园要浇水','- «g2» the roses want water; I prefer tea. 花园要浇水
- «g3» the roses want water; I prefer tea. 花园要浇水
- «g4» the roses want water; I prefer tea. 花园要浇水',65,'c2c08664391a7c4e0561e5e3c0883b08751bb2c41788cb3adacb8fe2fa81c862','memory/2026-11-26.md',368,273,0,1.79568270298815393449e+09,1,'',21,0,'',0,0,0,'','');
INSERT INTO "fold" VALUES('01m8bgf5tg24yq12heqm2ac9g2','01m8bgf5q4665tkqs5dynja3xe','','web',1,'',1,2,1,1,1,'undone','model','balanced','/context fold','- «w0» what do you make of it?','- «w0» what do you make of it?',12,'e51f351d65909e73c0fd7588aacb974b89775a527cba797f497288c0fbb351be','memory/2026-11-26.md',90,72,0,1.79568270318488788601e+09,1,'',7,0,'',0,0,0,'','');
INSERT INTO "fold" VALUES('01m8bgf62xtp7am4rge4sk4tys','01m8bgf60yvggq6rakn624m7wr','','web',1,'',1,2,1,1,1,'folded','model','balanced','/new','- «n0» what do you make of it?','',0,'d8c448793029eba2851a6471556b3eeb651c101e7c856f9a3a5fda0d909beea0','memory/2026-11-26.md',30,0,1,1.79568270345396780972e+09,1,'',3,0,'',0,0,0,'','');
INSERT INTO "fold" VALUES('01m8bgf7q4y699n15y79pm8h83','01m8bgf5q4665tkqs5dynja3xe','','web',1,'',1,2,1,1,1,'checked','model','balanced','/context fold','- «w0» what do you make of it?','- «w0» what do you make of it?',12,'e51f351d65909e73c0fd7588aacb974b89775a527cba797f497288c0fbb351be','',90,60,0,1.79568270512469029421e+09,2,'',7,0,'',0,0,0,'','');
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
INSERT INTO "forgetting" VALUES('f1','','01m85dfkgc5cz1azac24fastfz','owner','done','','{}','Removed from 2 places.',1795000000.0,1795000000.0);
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
INSERT INTO "inbox" VALUES('01m8bgf4kqcjb8f29s5f1fzxkk','01m8bgf4kqandk5zbzwh7cga2e','web','console','garden8c7c9c43da1049d280ad055754051721','message','owner','{"text": "«g0» the roses want water; I prefer tea. 花园要浇水"}','','done','',0,'01m8bgf4n4dc7w9b51r4vyzhnx','01m8bgf4kq30kd5xarkf62jwk2',1,0,0.0,1.7956827019438445568e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m8bgf580se4hcfbjbspzaj8f','01m8bgf4kqandk5zbzwh7cga2e','web','console','garden5b741e9a6e524592b9082c56d2af70eb','message','owner','{"text": "«g1» the roses want water; I prefer tea. 花园要浇水"}','','done','',0,'01m8bgf585tg9s3ddhme1h2sn9','01m8bgf5807tvb12kah7yr0mdz',3,0,0.0,1.79568270259269189832e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m8bgf5925ksfhs91s05zha1b','01m8bgf4kqandk5zbzwh7cga2e','web','console','garden91b6a17881b7433594eb581a77484db9','message','owner','{"text": "«g2» the roses want water; I prefer tea. 花园要浇水"}','','done','',0,'01m8bgf594s190k6n1w29rxm67','01m8bgf592jnr0vjyrf289ze85',5,0,0.0,1.79568270262635135648e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m8bgf5a4rt7xe3ramag17pn9','01m8bgf4kqandk5zbzwh7cga2e','web','console','gardenf9e660c7ad3743078eb918d4894e4488','message','owner','{"text": "«g3» the roses want water; I prefer tea. 花园要浇水"}','','done','',0,'01m8bgf5a7bamhe954fxqz02eh','01m8bgf5a4a5frqpgw92nzjs2t',7,0,0.0,1.79568270266093564036e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m8bgf5b4a297jyrk9rbs5cad','01m8bgf4kqandk5zbzwh7cga2e','web','console','garden4869d4ad7b964ac1bd4d4c28671b6532','message','owner','{"text": "«g4» the roses want water; I prefer tea. 花园要浇水"}','','done','',0,'01m8bgf5b5adkp122d71k4nj8n','01m8bgf5b48r5mdyr3tef6a2ce',9,0,0.0,1.7956827026922175884e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m8bgf5c2z8yahzpn5x3cw6bc','01m8bgf4kqandk5zbzwh7cga2e','web','console','garden148f02d48e0848fb8babb915c8474297','command','owner','{"text": "/context fold"}','','done','begun',1,'','01m8bgf5c2cf072d2mv2vtyq6s',11,0,0.0,1.79568270272274541857e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m8bgf5dv0qk6bf9gqw0phqp1','01m8bgf4kqandk5zbzwh7cga2e','web','console','garden27f44ed6fffb47559632c921382aba83','message','owner','{"text": "«g5» use write_file {\"path\": \"notes/roses.md\", \"content\": \"water on Mondays\"}"}','','done','',0,'01m8bgf5dwtw9a6hqh1dj1qh56','01m8bgf5dv37hnzzsx0w6vc4hv',13,0,0.0,1.79568270277913284303e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m8bgf5gef4q648g7qyg4rqw5','01m8bgf4kqandk5zbzwh7cga2e','web','console','garden254a97bd129447798ef681039e94a0c8','message','owner','{"text": "«g6» what do you make of it?"}','','done','',0,'01m8bgf5gk48sgd2fmg0qsrmpr','01m8bgf5gepknd67rar3g8wq5k',15,0,0.0,1.79568270286277770998e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m8bgf5hhza4h619v6343v1s7','01m8bgf4kqandk5zbzwh7cga2e','web','console','garden8bff0c4ee8e8444ab20dded422ed7a54','message','owner','{"text": "«g7» what do you make of it?"}','','done','',0,'01m8bgf5hte8frmgs0rs4skpvr','01m8bgf5hhe9904erb1yaahet5',17,0,0.0,1.7956827028977992535e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m8bgf5jva05cetfq7h1kd3ey','01m8bgf4kqandk5zbzwh7cga2e','web','console','gardenea71326ef6bc4dc4814cc5563c925f7c','message','owner','{"text": "«g8» what do you make of it?"}','','done','',0,'01m8bgf5k25pjpmfdgv3matjc9','01m8bgf5jv9adr1sd6k0yqnay8',19,0,0.0,1.79568270293979716299e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m8bgf5m4ns0qxm53q73zt2vk','01m8bgf4kqandk5zbzwh7cga2e','web','console','garden894b3cfc36f44aac845a1abb9e680cbb','command','owner','{"text": "/context fold"}','','done','begun',1,'','01m8bgf5m4e2msg4mm0aawt3sd',21,0,0.0,1.79568270298044443131e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m8bgf5nw47rr0qh34vbc9nwd','01m8bgf4kqandk5zbzwh7cga2e','web','console','garden4907cfa62efb4096bf6a66976f9dfaba','command','owner','{"text": "/remember The gate code is 4711"}','','done','begun',1,'','01m8bgf5nwrfmztaem3hzg4bxv',23,0,0.0,1.79568270303602361675e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m8bgf5q40dw8dq31q7nrbp2s','01m8bgf5q4665tkqs5dynja3xe','web','console','worke8ce984a7347402990bd3ac81f84446a','message','owner','{"text": "«w0» what do you make of it?"}','','done','',0,'01m8bgf5q68fyan9fptf2mn3a4','01m8bgf5q4f22m0fnk5qt7p1mn',1,0,0.0,1.79568270307614326472e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m8bgf5r5q9kj8j4hnpg739wt','01m8bgf5q4665tkqs5dynja3xe','web','console','workfe8b8f9a69d142d4b9a8143b61057df5','message','owner','{"text": "«w1» what do you make of it?"}','','done','',0,'01m8bgf5rgvvttm7n2xzpsn2sz','01m8bgf5r5e0k3qtzejkmd7x1q',3,0,0.0,1.79568270310959291454e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m8bgf5sbdq3b4cf8z39h0s54','01m8bgf5q4665tkqs5dynja3xe','web','console','workd400a09d72d84cdbbd5280439477d615','message','owner','{"text": "«w2» what do you make of it?"}','','done','',0,'01m8bgf5sdjesx2v4wka985ta5','01m8bgf5sbc7g3zpvzd6jsfk2r',5,0,0.0,1.79568270314753341675e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m8bgf5t95yfeb63gtvrj7z00','01m8bgf5q4665tkqs5dynja3xe','web','console','work45524920e1934d8a972d2a98653bb9bd','command','owner','{"text": "/context fold"}','','done','begun',1,'','01m8bgf5t9ztydwy5ssr3fdtfm',7,0,0.0,1.79568270317788314816e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m8bgf5w1s7g5x7qj8yyhkej5','01m8bgf5q4665tkqs5dynja3xe','web','console','work18952b6fd5d84245a0ce61ba6e44cbe2','command','owner','{"text": "/context undo"}','','done','begun',1,'','01m8bgf5w1axrft169reka72v5',9,0,0.0,1.79568270323350381856e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m8bgf5x3z96kf3ryyzc46182','01m8bgf5x3m6275q4fpmqncnnr','web','console','oldd8a48dd8fc2244c19da8c593e657e90f','message','owner','{"text": "«o0» what do you make of it?"}','','done','',0,'01m8bgf5x6nbaqyq9vgm8aq5bz','01m8bgf5x32vnk1tswpcwjvbxm',1,0,0.0,1.79568270326796817779e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m8bgf5y2577n3q98xe6je866','01m8bgf5x3m6275q4fpmqncnnr','web','console','olddbbd32247a2b43678584244e1c1389fb','message','owner','{"text": "«o1» what do you make of it?"}','','done','',0,'01m8bgf5y46jfw7sttrcckskvs','01m8bgf5y2ehz389dftnwa7vfr',3,0,0.0,1.7956827032987904549e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m8bgf5z0qpkh3b8k2fsrd9r8','01m8bgf5x3m6275q4fpmqncnnr','web','console','old91e30e04f4824b5ea745f774665ddb22','command','owner','{"text": "/context clear"}','','done','begun',1,'','01m8bgf5z0g6y4ckqkfvmwx9nq',5,0,0.0,1.79568270332850670814e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m8bgf5zwftrph7e5f98tkeat','01m8bgf5x3m6275q4fpmqncnnr','web','console','old5c37c7c47bec4dc7bd04e396cd2e6ae8','message','owner','{"text": "«o2» what do you make of it?"}','','done','',0,'01m8bgf5zzh2w7ga94xa0r5qse','01m8bgf5zwv0zq9a6trsvn7ary',7,0,0.0,1.79568270335669827458e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m8bgf60ye9s99yfjpnx6wx7v','01m8bgf60yvggq6rakn624m7wr','web','console','newec557269c8054173b1c58c2eb8c2f3a5','message','owner','{"text": "«n0» what do you make of it?"}','','done','',0,'01m8bgf6122wwqfzbswfb4xms9','01m8bgf60yafnctxn7v39n0bsp',1,0,0.0,1.79568270339066243172e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m8bgf62q0cv6nee083vcebt2','01m8bgf60yvggq6rakn624m7wr','web','console','new0d633676b7484e9f824585322c04e97d','command','owner','{"text": "/new"}','','done','begun',1,'','01m8bgf62qxf7as49ze92xb6j5',3,0,0.0,1.7956827034479184151e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m8bgf63wacn6myw0fp4hry84','01m8bgf60yvggq6rakn624m7wr','web','console','newbc04ef3d7eb748c9b19657819bcea688','message','owner','{"text": "«n1» what do you make of it?"}','','done','',0,'01m8bgf63y0r4c6bbm8dcp3bp2','01m8bgf63wqvjdy0mn9tqvztzf',5,0,0.0,1.79568270348481678964e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m8bgf65yw5k1v9mxghg9qfh1','01m8bgf65y2a373m6my1w0wnp8','telegram','100','m:5005:1:0','message','5005','{"text": "«t0» what do you make of it?", "name": "Ада"}','00000000000000700100','done','',0,'01m8bgf66adht8z49nr11z6aqe','01m8bgf65yd4h6texskcx0j202',1,0,0.0,1.79568270355011534687e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m8bgf67s91jqmmmshscc66qb','01m8bgf65y2a373m6my1w0wnp8','telegram','100','m:5005:3:0','message','5005','{"text": "«t1» what do you make of it?", "name": "Ада"}','00000000000000700101','done','',0,'01m8bgf67x1dz9p4ywaak7zg1k','01m8bgf67sr0ed7qtmxz4cb8jp',3,0,0.0,1.79568270360961580278e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m8bgf698z920knksmfp0vczs','01m8bgf698zm6s560rpxdvr8c8','telegram','100','m:999:1:0','message','999','','00000000000000700102','ignored','stranger',0,'','01m8bgf698h45xw0phwmepev26',1,0,0.0,1.79568270365696120265e+09,0,'',0);
INSERT INTO "inbox" VALUES('01m8bgf6b21yk8g4k4k2edt3nv','01m8bgf6b28er7pckhth8a6f85','web','console','picturep1','message','owner','{"text": "«p1» what do you make of it?", "shown": "«p1» what do you make of it?\n📎 dot.png", "files": [["7899d6ced52159786ff083934df42788da01a30b7ed9bb7756d7f3f5a94ef685", "dot.png", "image/png", 68, ""]]}','','done','',0,'01m8bgf6fdszgdn6a4672zez9j','01m8bgf6b2vahtmx4mbm7g200n',1,0,0.0,1.79568270371441316606e+09,1,'',0);
INSERT INTO "inbox" VALUES('01m8bgf7e58sphcztnpyrygcm6','01m8bgf7e51cg9tfenfk1h7qaz','web','console','lateba7cf2e26b344d6aad7df0ca18c3cd67','message','owner','{"text": "«l0» what do you make of it?"}','','done','',0,'01m8bgf7ewrnyrj74n2qh5kchh','01m8bgf7e552a5psvwhe4pngyx',1,0,0.0,1.79568270483783602709e+09,2,'',0);
INSERT INTO "inbox" VALUES('01m8bgf7nn6zav88wk64y8v2nf','01m8bgf7e51cg9tfenfk1h7qaz','web','console','late73a59abfc4fb45c1917b42efb079a8e3','message','owner','{"text": "«l1» what do you make of it?"}','','done','',0,'01m8bgf7nqk8jhsqz76bt0wy6w','01m8bgf7nn4y8vzwdxnew9pce5',3,0,0.0,1.79568270507767748832e+09,2,'',0);
INSERT INTO "inbox" VALUES('01m8bgf7pvb18wzap9nrfjsa4t','01m8bgf5q4665tkqs5dynja3xe','web','console','work30017519a0bb4d128e1c23e7b4312d59','command','owner','{"text": "/context fold"}','','new','begun',1,'','01m8bgf7pv3yzpxg16akc3yen0',11,0,0.0,1.79568270511528015141e+09,2,'',0);
INSERT INTO "inbox" VALUES('01m8bgf7rczewf8fsp3wc82mf4','01m8bgf7rcsb4a51gr35q27m2t','web','console','toola0010398a28245dba8bca47effa9a81a','message','owner','{"text": "«x1» use write_file {\"path\": \"notes/x.md\", \"content\": \"x\"}"}','','running','',0,'01m8bgf7rg3jwvq5tjyaq0kamt','01m8bgf7rc9pya5hvvgyjjfyv1',1,0,0.0,1.79568270516473913194e+09,2,'',0);
INSERT INTO "inbox" VALUES('01m8bgf7t63f1vzjgyj0nsdzp1','01m8bgf7rcsb4a51gr35q27m2t','web','console','toold3ed9cdfca594db6bfec837f66204988','message','owner','{"text": "«x2» and after that?"}','','new','',0,'','01m8bgf7t6b352a564gkjbd7b7',2,0,0.0,1.79568270522269344329e+09,0,'',0);
INSERT INTO "inbox" VALUES('01m8bgf7tbcfb9wwv49kxvn7gq','01m8bgf7e51cg9tfenfk1h7qaz','web','console','late54ffc91b0e774f0f9fd4b69840187b77','message','owner','{"text": "«l2» what do you make of it?"}','','done','',0,'01m8bgf7tfvkrp8nn3egn9zy13','01m8bgf7tbajx9azhgdbvrdws2',5,0,0.0,1.79568270522733092306e+09,2,'',0);
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
	PRIMARY KEY (id), 
	CONSTRAINT job_number UNIQUE (space, number)
);
INSERT INTO "job" VALUES('j','',1,'01m8bgf4kqandk5zbzwh7cga2e','web','local','o','say','water','{}',1000000000.0,0,0,'n','on','',1.5);
CREATE TABLE limit_told (
	who TEXT NOT NULL, 
	conversation TEXT NOT NULL, 
	limit_name TEXT NOT NULL, 
	until DOUBLE NOT NULL, 
	PRIMARY KEY (who, conversation, limit_name), 
	FOREIGN KEY(conversation) REFERENCES conversation (id)
);
INSERT INTO "limit_told" VALUES('web:1','01m8bgf4kqandk5zbzwh7cga2e','messages',1000000000.0);
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
INSERT INTO "link_code" VALUES('l1','0','agreed','telegram','100','5006','','01m85dfkgc5cz1azac24fastfz','telegram','100','5006','Ada','p-joined','01m85dfkgc5cz1azac24fastfz',1795000000.0,1795000000.0);
CREATE TABLE mcp_server (
	id TEXT NOT NULL, 
	source_sha256 TEXT NOT NULL, 
	era TEXT NOT NULL, 
	listed DOUBLE NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "mcp_server" VALUES('files','aa','legacy',1.5);
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
INSERT INTO "mcp_tool" VALUES('files','read','Read.','{}',1,'aa',1,'ask','pure','aa','',0);
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
INSERT INTO "memory" VALUES('01m8bgf5pgah8wfe0y43g45gj1','','the gate code is 4711','fact','The gate code is 4711',8,'live','person','01m8bgf4kqandk5zbzwh7cga2e','01m8bgf5nw47rr0qh34vbc9nwd','web','/remember The gate code is 4711',1.79568270303602409362e+09,1.79568270305646371844e+09,1.79568270305646371844e+09,0.0,0,'',0.0);
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
INSERT INTO "memory_change" VALUES('01m8bgf5pgke5kve9na1j0vgsr','','MEMORY.md','remember','73a75d57d3bce6e6194e9c3ce650a5f836e26e5cb0efe6db3dc5961d8f1a641c','50fe141b69ae6cf495892e22e37f6d13752c8f95d9e2d52a6b2edbf47c7102b3','["The gate code is 4711"]','[]','','01m8bgf5nw47rr0qh34vbc9nwd',0,1.79568270305646371844e+09);
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
INSERT INTO "message" VALUES('01m8bgf4kqcjb8f29s5f1fzxkk','01m8bgf4kqandk5zbzwh7cga2e',1,1,1,'01m8bgf4n4dc7w9b51r4vyzhnx','user','[{"kind":"Text","text":"«g0» the roses want water; I prefer tea. 花园要浇水"}]','person','',1,27,'tiktoken',1.7956827019888761043e+09,0);
INSERT INTO "message" VALUES('01m8bgf5737490s8h7gt48hwm3','01m8bgf4kqandk5zbzwh7cga2e',1,2,1,'01m8bgf4n4dc7w9b51r4vyzhnx','assistant','[{"kind":"Text","text":"re «g0»"}]','model','',1,12,'tiktoken',1.7956827025637238026e+09,0);
INSERT INTO "message" VALUES('01m8bgf580se4hcfbjbspzaj8f','01m8bgf4kqandk5zbzwh7cga2e',1,3,2,'01m8bgf585tg9s3ddhme1h2sn9','user','[{"kind":"Text","text":"«g1» the roses want water; I prefer tea. 花园要浇水"}]','person','',1,27,'tiktoken',1.79568270259750485421e+09,0);
INSERT INTO "message" VALUES('01m8bgf58kdvms6scbxzbdkhms','01m8bgf4kqandk5zbzwh7cga2e',1,4,2,'01m8bgf585tg9s3ddhme1h2sn9','assistant','[{"kind":"Text","text":"re «g1»"}]','model','',1,12,'tiktoken',1.79568270261138415331e+09,0);
INSERT INTO "message" VALUES('01m8bgf5925ksfhs91s05zha1b','01m8bgf4kqandk5zbzwh7cga2e',1,5,3,'01m8bgf594s190k6n1w29rxm67','user','[{"kind":"Text","text":"«g2» the roses want water; I prefer tea. 花园要浇水"}]','person','',1,27,'tiktoken',1.7956827026289618015e+09,0);
INSERT INTO "message" VALUES('01m8bgf59kyccs9kfttbvx6q3a','01m8bgf4kqandk5zbzwh7cga2e',1,6,3,'01m8bgf594s190k6n1w29rxm67','assistant','[{"kind":"Text","text":"re «g2»"}]','model','',1,12,'tiktoken',1.795682702643065691e+09,0);
INSERT INTO "message" VALUES('01m8bgf5a4rt7xe3ramag17pn9','01m8bgf4kqandk5zbzwh7cga2e',1,7,4,'01m8bgf5a7bamhe954fxqz02eh','user','[{"kind":"Text","text":"«g3» the roses want water; I prefer tea. 花园要浇水"}]','person','',1,27,'tiktoken',1.79568270266364502906e+09,0);
INSERT INTO "message" VALUES('01m8bgf5aqf519y05p0v41ej3b','01m8bgf4kqandk5zbzwh7cga2e',1,8,4,'01m8bgf5a7bamhe954fxqz02eh','assistant','[{"kind":"Text","text":"re «g3»"}]','model','',1,12,'tiktoken',1.79568270267938971521e+09,0);
INSERT INTO "message" VALUES('01m8bgf5b4a297jyrk9rbs5cad','01m8bgf4kqandk5zbzwh7cga2e',1,9,5,'01m8bgf5b5adkp122d71k4nj8n','user','[{"kind":"Text","text":"«g4» the roses want water; I prefer tea. 花园要浇水"}]','person','',1,27,'tiktoken',1.79568270269395780566e+09,0);
INSERT INTO "message" VALUES('01m8bgf5bhak22md0p9srp3mhk','01m8bgf4kqandk5zbzwh7cga2e',1,10,5,'01m8bgf5b5adkp122d71k4nj8n','assistant','[{"kind":"Text","text":"re «g4»"}]','model','',1,12,'tiktoken',1.79568270270584821705e+09,0);
INSERT INTO "message" VALUES('01m8bgf5dv0qk6bf9gqw0phqp1','01m8bgf4kqandk5zbzwh7cga2e',1,11,6,'01m8bgf5dwtw9a6hqh1dj1qh56','user','[{"kind":"Text","text":"«g5» use write_file {\"path\": \"notes/roses.md\", \"content\": \"water on Mondays\"}"}]','person','',1,33,'tiktoken',1.7956827027809307575e+09,0);
INSERT INTO "message" VALUES('01m8bgf5ehv0gm3bkja4sjjd9n','01m8bgf4kqandk5zbzwh7cga2e',1,12,6,'01m8bgf5dwtw9a6hqh1dj1qh56','assistant','[{"kind":"Text","text":"I look."},{"kind":"ToolCall","id":"call_g5","name":"write_file","input":"{\"path\": \"notes/roses.md\", \"content\": \"water on Mondays\"}"}]','model','',1,41,'tiktoken',1.79568270280186581609e+09,0);
INSERT INTO "message" VALUES('01m8bgf5faxfzgkrfq1x2pmqzp','01m8bgf4kqandk5zbzwh7cga2e',1,13,6,'01m8bgf5dwtw9a6hqh1dj1qh56','user','[{"kind":"ToolResult","call_id":"call_g5","text":"notes/roses.md now holds 16 bytes, version 29eb6a143968.","is_error":false,"outside":false}]','tool','',0,32,'tiktoken',1.79568270282621312138e+09,0);
INSERT INTO "message" VALUES('01m8bgf5fjqx1jtpqeam505n45','01m8bgf4kqandk5zbzwh7cga2e',1,14,6,'01m8bgf5dwtw9a6hqh1dj1qh56','assistant','[{"kind":"Text","text":"re «g5»"}]','model','',1,12,'tiktoken',1.79568270283424615864e+09,0);
INSERT INTO "message" VALUES('01m8bgf5gef4q648g7qyg4rqw5','01m8bgf4kqandk5zbzwh7cga2e',1,15,7,'01m8bgf5gk48sgd2fmg0qsrmpr','user','[{"kind":"Text","text":"«g6» what do you make of it?"}]','person','',1,18,'tiktoken',1.79568270286710405352e+09,0);
INSERT INTO "message" VALUES('01m8bgf5h2fmvkwgd0wnp1vydg','01m8bgf4kqandk5zbzwh7cga2e',1,16,7,'01m8bgf5gk48sgd2fmg0qsrmpr','assistant','[{"kind":"Text","text":"re «g6»"}]','model','',1,12,'tiktoken',1.79568270288258910179e+09,0);
INSERT INTO "message" VALUES('01m8bgf5hhza4h619v6343v1s7','01m8bgf4kqandk5zbzwh7cga2e',1,17,8,'01m8bgf5hte8frmgs0rs4skpvr','user','[{"kind":"Text","text":"«g7» what do you make of it?"}]','person','',1,18,'tiktoken',1.79568270290677189831e+09,0);
INSERT INTO "message" VALUES('01m8bgf5j6g23ph4arransphaj','01m8bgf4kqandk5zbzwh7cga2e',1,18,8,'01m8bgf5hte8frmgs0rs4skpvr','assistant','[{"kind":"Text","text":"re «g7»"}]','model','',1,12,'tiktoken',1.79568270291813921932e+09,0);
INSERT INTO "message" VALUES('01m8bgf5jva05cetfq7h1kd3ey','01m8bgf4kqandk5zbzwh7cga2e',1,19,9,'01m8bgf5k25pjpmfdgv3matjc9','user','[{"kind":"Text","text":"«g8» what do you make of it?"}]','person','',1,18,'tiktoken',1.79568270294690346712e+09,0);
INSERT INTO "message" VALUES('01m8bgf5kkwgtqvz0bj5rkrng2','01m8bgf4kqandk5zbzwh7cga2e',1,20,9,'01m8bgf5k25pjpmfdgv3matjc9','assistant','[{"kind":"Text","text":"re «g8»"}]','model','',1,12,'tiktoken',1.79568270296348714829e+09,0);
INSERT INTO "message" VALUES('01m8bgf5q40dw8dq31q7nrbp2s','01m8bgf5q4665tkqs5dynja3xe',1,1,1,'01m8bgf5q68fyan9fptf2mn3a4','user','[{"kind":"Text","text":"«w0» what do you make of it?"}]','person','',1,18,'tiktoken',1.79568270307818412786e+09,0);
INSERT INTO "message" VALUES('01m8bgf5qzn5nx44pyjc8kxgxr','01m8bgf5q4665tkqs5dynja3xe',1,2,1,'01m8bgf5q68fyan9fptf2mn3a4','assistant','[{"kind":"Text","text":"re «w0»"}]','model','',1,12,'tiktoken',1.79568270310365414622e+09,0);
INSERT INTO "message" VALUES('01m8bgf5r5q9kj8j4hnpg739wt','01m8bgf5q4665tkqs5dynja3xe',1,3,2,'01m8bgf5rgvvttm7n2xzpsn2sz','user','[{"kind":"Text","text":"«w1» what do you make of it?"}]','person','',1,18,'tiktoken',1.7956827031200258732e+09,0);
INSERT INTO "message" VALUES('01m8bgf5ry7bn98173t1djye88','01m8bgf5q4665tkqs5dynja3xe',1,4,2,'01m8bgf5rgvvttm7n2xzpsn2sz','assistant','[{"kind":"Text","text":"re «w1»"}]','model','',1,12,'tiktoken',1.79568270313408231736e+09,0);
INSERT INTO "message" VALUES('01m8bgf5sbdq3b4cf8z39h0s54','01m8bgf5q4665tkqs5dynja3xe',1,5,3,'01m8bgf5sdjesx2v4wka985ta5','user','[{"kind":"Text","text":"«w2» what do you make of it?"}]','person','',1,18,'tiktoken',1.79568270314979100228e+09,0);
INSERT INTO "message" VALUES('01m8bgf5svwq74vbwkzcgyr48c','01m8bgf5q4665tkqs5dynja3xe',1,6,3,'01m8bgf5sdjesx2v4wka985ta5','assistant','[{"kind":"Text","text":"re «w2»"}]','model','',1,12,'tiktoken',1.79568270316357493404e+09,0);
INSERT INTO "message" VALUES('01m8bgf5x3z96kf3ryyzc46182','01m8bgf5x3m6275q4fpmqncnnr',1,1,1,'01m8bgf5x6nbaqyq9vgm8aq5bz','user','[{"kind":"Text","text":"«o0» what do you make of it?"}]','person','',1,18,'tiktoken',1.79568270327004766463e+09,0);
INSERT INTO "message" VALUES('01m8bgf5xvp063wf128yka8knw','01m8bgf5x3m6275q4fpmqncnnr',1,2,1,'01m8bgf5x6nbaqyq9vgm8aq5bz','assistant','[{"kind":"Text","text":"re «o0»"}]','model','',1,12,'tiktoken',1.79568270329109048845e+09,0);
INSERT INTO "message" VALUES('01m8bgf5y2577n3q98xe6je866','01m8bgf5x3m6275q4fpmqncnnr',1,3,2,'01m8bgf5y46jfw7sttrcckskvs','user','[{"kind":"Text","text":"«o1» what do you make of it?"}]','person','',1,18,'tiktoken',1.79568270330043578148e+09,0);
INSERT INTO "message" VALUES('01m8bgf5ymbqpq3nybtxwb5x1f','01m8bgf5x3m6275q4fpmqncnnr',1,4,2,'01m8bgf5y46jfw7sttrcckskvs','assistant','[{"kind":"Text","text":"re «o1»"}]','model','',1,12,'tiktoken',1.79568270331616950037e+09,0);
INSERT INTO "message" VALUES('01m8bgf5zwftrph7e5f98tkeat','01m8bgf5x3m6275q4fpmqncnnr',2,5,3,'01m8bgf5zzh2w7ga94xa0r5qse','user','[{"kind":"Text","text":"«o2» what do you make of it?"}]','person','',1,18,'tiktoken',1.79568270335905742643e+09,0);
INSERT INTO "message" VALUES('01m8bgf60nesta76hq9arjx82k','01m8bgf5x3m6275q4fpmqncnnr',2,6,3,'01m8bgf5zzh2w7ga94xa0r5qse','assistant','[{"kind":"Text","text":"re «o2»"}]','model','',1,12,'tiktoken',1.79568270338131403922e+09,0);
INSERT INTO "message" VALUES('01m8bgf60ye9s99yfjpnx6wx7v','01m8bgf60yvggq6rakn624m7wr',1,1,1,'01m8bgf6122wwqfzbswfb4xms9','user','[{"kind":"Text","text":"«n0» what do you make of it?"}]','person','',1,18,'tiktoken',1.79568270339428853995e+09,0);
INSERT INTO "message" VALUES('01m8bgf61xx9kqa5wvaqa4b0qg','01m8bgf60yvggq6rakn624m7wr',1,2,1,'01m8bgf6122wwqfzbswfb4xms9','assistant','[{"kind":"Text","text":"re «n0»"}]','model','',1,12,'tiktoken',1.7956827034210715294e+09,0);
INSERT INTO "message" VALUES('01m8bgf63wacn6myw0fp4hry84','01m8bgf60yvggq6rakn624m7wr',2,3,2,'01m8bgf63y0r4c6bbm8dcp3bp2','user','[{"kind":"Text","text":"«n1» what do you make of it?"}]','person','',1,18,'tiktoken',1.79568270348680043219e+09,0);
INSERT INTO "message" VALUES('01m8bgf6528526sspb0p4cpwpx','01m8bgf60yvggq6rakn624m7wr',2,4,2,'01m8bgf63y0r4c6bbm8dcp3bp2','assistant','[{"kind":"Text","text":"re «n1»"}]','model','',1,12,'tiktoken',1.7956827035227861404e+09,0);
INSERT INTO "message" VALUES('01m8bgf65yw5k1v9mxghg9qfh1','01m8bgf65y2a373m6my1w0wnp8',1,1,1,'01m8bgf66adht8z49nr11z6aqe','user','[{"kind":"Text","text":"«t0» what do you make of it?"}]','person','',1,18,'tiktoken',1.79568270356211280819e+09,0);
INSERT INTO "message" VALUES('01m8bgf6730z50em34ctbqaqhn','01m8bgf65y2a373m6my1w0wnp8',1,2,1,'01m8bgf66adht8z49nr11z6aqe','assistant','[{"kind":"Text","text":"re «t0»"}]','model','',1,12,'tiktoken',1.7956827035876643658e+09,0);
INSERT INTO "message" VALUES('01m8bgf67s91jqmmmshscc66qb','01m8bgf65y2a373m6my1w0wnp8',1,3,2,'01m8bgf67x1dz9p4ywaak7zg1k','user','[{"kind":"Text","text":"«t1» what do you make of it?"}]','person','',1,18,'tiktoken',1.795682703613186121e+09,0);
INSERT INTO "message" VALUES('01m8bgf68b8zzz0pqppx1s8bx3','01m8bgf65y2a373m6my1w0wnp8',1,4,2,'01m8bgf67x1dz9p4ywaak7zg1k','assistant','[{"kind":"Text","text":"re «t1»"}]','model','',1,12,'tiktoken',1.79568270362763547894e+09,0);
INSERT INTO "message" VALUES('01m8bgf6b21yk8g4k4k2edt3nv','01m8bgf6b28er7pckhth8a6f85',1,1,1,'01m8bgf6fdszgdn6a4672zez9j','user','[{"kind":"Image","sha256":"7899d6ced52159786ff083934df42788da01a30b7ed9bb7756d7f3f5a94ef685","media_type":"image/png","width":2,"height":2},{"kind":"Text","text":"«p1» what do you make of it?"}]','person','',1,19,'tiktoken',1.79568270385342526433e+09,0);
INSERT INTO "message" VALUES('01m8bgf6fvhc7ppa69qgkvte9j','01m8bgf6b28er7pckhth8a6f85',1,2,1,'01m8bgf6fdszgdn6a4672zez9j','assistant','[{"kind":"Text","text":"re «p1»"}]','model','',1,12,'tiktoken',1.79568270386741733551e+09,1);
INSERT INTO "message" VALUES('01m8bgf7e58sphcztnpyrygcm6','01m8bgf7e51cg9tfenfk1h7qaz',1,1,1,'01m8bgf7ewrnyrj74n2qh5kchh','user','[{"kind":"Text","text":"«l0» what do you make of it?"}]','person','',1,18,'tiktoken',1.79568270486063981056e+09,0);
INSERT INTO "message" VALUES('01m8bgf7myc2tqj2sgtjgq4r59','01m8bgf7e51cg9tfenfk1h7qaz',1,2,1,'01m8bgf7ewrnyrj74n2qh5kchh','assistant','[{"kind":"Text","text":"re «l0»"}]','model','',1,12,'tiktoken',1.79568270505455040934e+09,0);
INSERT INTO "message" VALUES('01m8bgf7nn6zav88wk64y8v2nf','01m8bgf7e51cg9tfenfk1h7qaz',1,3,2,'01m8bgf7nqk8jhsqz76bt0wy6w','user','[{"kind":"Text","text":"«l1» what do you make of it?"}]','person','',1,18,'tiktoken',1.7956827050799875259e+09,0);
INSERT INTO "message" VALUES('01m8bgf7pbnr1gpjzk31pa696e','01m8bgf7e51cg9tfenfk1h7qaz',1,4,2,'01m8bgf7nqk8jhsqz76bt0wy6w','assistant','[{"kind":"Text","text":"re «l1»"}]','model','',1,12,'tiktoken',1.79568270509976720804e+09,0);
INSERT INTO "message" VALUES('01m8bgf7rczewf8fsp3wc82mf4','01m8bgf7rcsb4a51gr35q27m2t',1,1,1,'01m8bgf7rg3jwvq5tjyaq0kamt','user','[{"kind":"Text","text":"«x1» use write_file {\"path\": \"notes/x.md\", \"content\": \"x\"}"}]','person','',1,28,'tiktoken',1.79568270516873931884e+09,0);
INSERT INTO "message" VALUES('01m8bgf7s7xmbcavq1tcfbxgm4','01m8bgf7rcsb4a51gr35q27m2t',1,2,1,'01m8bgf7rg3jwvq5tjyaq0kamt','assistant','[{"kind":"Text","text":"I look."},{"kind":"ToolCall","id":"call_x1","name":"write_file","input":"{\"path\": \"notes/x.md\", \"content\": \"x\"}"}]','model','',1,36,'tiktoken',1.79568270519199228284e+09,0);
INSERT INTO "message" VALUES('01m8bgf7tbcfb9wwv49kxvn7gq','01m8bgf7e51cg9tfenfk1h7qaz',1,5,3,'01m8bgf7tfvkrp8nn3egn9zy13','user','[{"kind":"Text","text":"«l2» what do you make of it?"}]','person','',1,18,'tiktoken',1.79568270523100543024e+09,0);
INSERT INTO "message" VALUES('01m8bgf7v13078xqzm6z4j4ybn','01m8bgf7e51cg9tfenfk1h7qaz',1,6,3,'01m8bgf7tfvkrp8nn3egn9zy13','assistant','[{"kind":"Text","text":"re «l2»"}]','model','',1,12,'tiktoken',1.79568270524949884408e+09,0);
CREATE TABLE model_factor (
	model TEXT NOT NULL, 
	factor DOUBLE NOT NULL, 
	samples INTEGER NOT NULL, 
	error_percent DOUBLE NOT NULL, 
	PRIMARY KEY (model)
);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra',0.9939,13,0.43);
CREATE TABLE occurrence (
	id TEXT NOT NULL, 
	job TEXT NOT NULL, 
	due DOUBLE NOT NULL, 
	state TEXT NOT NULL, 
	reason TEXT NOT NULL, 
	space TEXT NOT NULL, 
	at DOUBLE NOT NULL, 
	PRIMARY KEY (id), 
	CONSTRAINT occurrence_due UNIQUE (job, due)
);
INSERT INTO "occurrence" VALUES('x','j',1.5,'told','','',1.5);
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
INSERT INTO "outbox" VALUES('01m8bgf573qyn4rjjtac3v5123','01m8bgf4kqandk5zbzwh7cga2e','01m8bgf4kqcjb8f29s5f1fzxkk:answer',0,1,1,'final','7f0d6af47da7e655a0ab87ebb5f241ce','re «g0»','sent',1,0,0,315360000.0,2.11104270257090210908e+09,0.0,'01m8bgf4kqcjb8f29s5f1fzxkk','01m8bgf573qyn4rjjtac3v5123','',2,1.7956827025637238026e+09,1,'',1.79568270257907891271e+09);
INSERT INTO "outbox" VALUES('01m8bgf58kb1kgh7rjc0662yrc','01m8bgf4kqandk5zbzwh7cga2e','01m8bgf580se4hcfbjbspzaj8f:answer',0,1,1,'final','70089f914b7f9fafaa7a9493766b6a42','re «g1»','sent',1,0,0,315360000.0,2.11104270261305260658e+09,0.0,'01m8bgf580se4hcfbjbspzaj8f','01m8bgf58kb1kgh7rjc0662yrc','',4,1.79568270261138415331e+09,1,'',1.79568270261694765089e+09);
INSERT INTO "outbox" VALUES('01m8bgf59ktaqsqv0zn071b6n4','01m8bgf4kqandk5zbzwh7cga2e','01m8bgf5925ksfhs91s05zha1b:answer',0,1,1,'final','3f0843ebda1425571f2830f7ce3b06d2','re «g2»','sent',1,0,0,315360000.0,2.11104270264472723001e+09,0.0,'01m8bgf5925ksfhs91s05zha1b','01m8bgf59ktaqsqv0zn071b6n4','',6,1.795682702643065691e+09,1,'',1.79568270264576292042e+09);
INSERT INTO "outbox" VALUES('01m8bgf5aqj5590t8b3ejjtp7x','01m8bgf4kqandk5zbzwh7cga2e','01m8bgf5a4rt7xe3ramag17pn9:answer',0,1,1,'final','6507cbf10144ccc2b10f8e3887e22ac4','re «g3»','sent',1,0,0,315360000.0,2.11104270268235707282e+09,0.0,'01m8bgf5a4rt7xe3ramag17pn9','01m8bgf5aqj5590t8b3ejjtp7x','',8,1.79568270267938971521e+09,1,'',1.79568270268313670157e+09);
INSERT INTO "outbox" VALUES('01m8bgf5bh65239prtt7fh398p','01m8bgf4kqandk5zbzwh7cga2e','01m8bgf5b4a297jyrk9rbs5cad:answer',0,1,1,'final','a47320ab27b03755fa237132ad2d9f37','re «g4»','sent',1,0,0,315360000.0,2.11104270270909571646e+09,0.0,'01m8bgf5b4a297jyrk9rbs5cad','01m8bgf5bh65239prtt7fh398p','',10,1.79568270270584821705e+09,1,'',1.79568270270998883242e+09);
INSERT INTO "outbox" VALUES('01m8bgf5d48wwm5wtvcwmx0168','01m8bgf4kqandk5zbzwh7cga2e','01m8bgf5c2z8yahzpn5x3cw6bc:answer',0,1,1,'notice','97f8f09b3399613eba950912ac32c9bc','Folded turns 1–2 into memory/2026-11-26.md: 195 → 160 tokens (82%).','sent',1,0,0,315360000.0,2.11104270275852155683e+09,0.0,'01m8bgf5c2z8yahzpn5x3cw6bc','01m8bgf5d48wwm5wtvcwmx0168','',12,1.79568270275662040711e+09,1,'',1.79568270275981974604e+09);
INSERT INTO "outbox" VALUES('01m8bgf5fjcdbqc7tzxmwcrz9x','01m8bgf4kqandk5zbzwh7cga2e','01m8bgf5dv0qk6bf9gqw0phqp1:answer',0,1,1,'final','ea8b7e5a77e8f87572d9c8f0e849c315','re «g5»','sent',1,0,0,315360000.0,2.11104270283833980563e+09,0.0,'01m8bgf5dv0qk6bf9gqw0phqp1','01m8bgf5fjcdbqc7tzxmwcrz9x','',14,1.79568270283424615864e+09,1,'',1.79568270284148478509e+09);
INSERT INTO "outbox" VALUES('01m8bgf5h2gz87tbv56p28xc5s','01m8bgf4kqandk5zbzwh7cga2e','01m8bgf5gef4q648g7qyg4rqw5:answer',0,1,1,'final','252bf23868aead0540729e7306794bb1','re «g6»','sent',1,0,0,315360000.0,2.11104270288468766217e+09,0.0,'01m8bgf5gef4q648g7qyg4rqw5','01m8bgf5h2gz87tbv56p28xc5s','',16,1.79568270288258910179e+09,1,'',1.79568270288621163362e+09);
INSERT INTO "outbox" VALUES('01m8bgf5j6ackgzw4w4cg7b46f','01m8bgf4kqandk5zbzwh7cga2e','01m8bgf5hhza4h619v6343v1s7:answer',0,1,1,'final','14037d3dc30847ab5dd4423c4db90580','re «g7»','sent',1,0,0,315360000.0,2.1110427029258866311e+09,0.0,'01m8bgf5hhza4h619v6343v1s7','01m8bgf5j6ackgzw4w4cg7b46f','',18,1.79568270291813921932e+09,1,'',1.79568270292797303204e+09);
INSERT INTO "outbox" VALUES('01m8bgf5kky6kjv6v4e9rbmtn3','01m8bgf4kqandk5zbzwh7cga2e','01m8bgf5jva05cetfq7h1kd3ey:answer',0,1,1,'final','1d697202dcadf2233cf8faba804444a8','re «g8»','sent',1,0,0,315360000.0,2.11104270296631479257e+09,0.0,'01m8bgf5jva05cetfq7h1kd3ey','01m8bgf5kky6kjv6v4e9rbmtn3','',20,1.79568270296348714829e+09,1,'',1.79568270296743679043e+09);
INSERT INTO "outbox" VALUES('01m8bgf5n9672tgz8hm3acdfm3','01m8bgf4kqandk5zbzwh7cga2e','01m8bgf5m4ns0qxm53q73zt2vk:answer',0,1,1,'notice','1c89e309e45d26a4417465b74d37e1c1','Folded turns 3–5 into memory/2026-11-26.md: 368 → 273 tokens (74%).','sent',1,0,0,315360000.0,2.11104270301799702637e+09,0.0,'01m8bgf5m4ns0qxm53q73zt2vk','01m8bgf5n9672tgz8hm3acdfm3','',22,1.79568270301705884932e+09,1,'',1.7956827030216457844e+09);
INSERT INTO "outbox" VALUES('01m8bgf5pna9mk4sh7kap2q0q6','01m8bgf4kqandk5zbzwh7cga2e','01m8bgf5nw47rr0qh34vbc9nwd:answer',0,1,1,'notice','086d015991da6c47cd292b1665fff9ce','Remembered (facts): The gate code is 4711','sent',1,0,0,315360000.0,2.11104270306731986992e+09,0.0,'01m8bgf5nw47rr0qh34vbc9nwd','01m8bgf5pna9mk4sh7kap2q0q6','',24,1.79568270306157398222e+09,1,'',1.79568270307006430629e+09);
INSERT INTO "outbox" VALUES('01m8bgf5qz35301tye0sm4hg60','01m8bgf5q4665tkqs5dynja3xe','01m8bgf5q40dw8dq31q7nrbp2s:answer',0,1,1,'final','646e4af8fc3508e01e15caaed95c312b','re «w0»','sent',1,0,0,315360000.0,2.11104270310578441614e+09,0.0,'01m8bgf5q40dw8dq31q7nrbp2s','01m8bgf5qz35301tye0sm4hg60','',2,1.79568270310365414622e+09,1,'',1.79568270311747670174e+09);
INSERT INTO "outbox" VALUES('01m8bgf5rybe3a3gdyegbk0dde','01m8bgf5q4665tkqs5dynja3xe','01m8bgf5r5q9kj8j4hnpg739wt:answer',0,1,1,'final','3433120e971d35497da6238149a4962f','re «w1»','sent',1,0,0,315360000.0,2.11104270313561201096e+09,0.0,'01m8bgf5r5q9kj8j4hnpg739wt','01m8bgf5rybe3a3gdyegbk0dde','',4,1.79568270313408231736e+09,1,'',1.795682703136731863e+09);
INSERT INTO "outbox" VALUES('01m8bgf5svsq4smanztynk3aab','01m8bgf5q4665tkqs5dynja3xe','01m8bgf5sbdq3b4cf8z39h0s54:answer',0,1,1,'final','df2cf74b2d32f835509bef4e6bee0ad1','re «w2»','sent',1,0,0,315360000.0,2.11104270316496300699e+09,0.0,'01m8bgf5sbdq3b4cf8z39h0s54','01m8bgf5svsq4smanztynk3aab','',6,1.79568270316357493404e+09,1,'',1.79568270316630196575e+09);
INSERT INTO "outbox" VALUES('01m8bgf5v5768462d8hy9c1x8t','01m8bgf5q4665tkqs5dynja3xe','01m8bgf5t95yfeb63gtvrj7z00:answer',0,1,1,'notice','2dc2893f90e0f4bcf718b74d386e4dab','Folded turn 1 into memory/2026-11-26.md: 90 → 72 tokens (80%).','sent',1,0,0,315360000.0,2.11104270320965957635e+09,0.0,'01m8bgf5t95yfeb63gtvrj7z00','01m8bgf5v5768462d8hy9c1x8t','',8,1.79568270320571279526e+09,1,'',1.79568270321156311028e+09);
INSERT INTO "outbox" VALUES('01m8bgf5why72y9d8f4rf1mar3','01m8bgf5q4665tkqs5dynja3xe','01m8bgf5w1s7g5x7qj8yyhkej5:answer',0,1,1,'notice','10e34475b51fcdab5b8fa1268ccb7db2','The fold is undone: turn 1 is back in the context.','sent',1,0,0,315360000.0,2.11104270325065064431e+09,0.0,'01m8bgf5w1s7g5x7qj8yyhkej5','01m8bgf5why72y9d8f4rf1mar3','',10,1.79568270324939131734e+09,1,'',1.79568270325203299523e+09);
INSERT INTO "outbox" VALUES('01m8bgf5xvhet8nrt62dbp0rs2','01m8bgf5x3m6275q4fpmqncnnr','01m8bgf5x3z96kf3ryyzc46182:answer',0,1,1,'final','c3acf33a30a228ea80de963debec4cbb','re «o0»','sent',1,0,0,315360000.0,2.11104270329266166679e+09,0.0,'01m8bgf5x3z96kf3ryyzc46182','01m8bgf5xvhet8nrt62dbp0rs2','',2,1.79568270329109048845e+09,1,'',1.79568270329364132876e+09);
INSERT INTO "outbox" VALUES('01m8bgf5ym8kysar9wp8njve6v','01m8bgf5x3m6275q4fpmqncnnr','01m8bgf5y2577n3q98xe6je866:answer',0,1,1,'final','a8cbdf0dcc7e926f2e00e7475ad17ad6','re «o1»','sent',1,0,0,315360000.0,2.11104270331768369682e+09,0.0,'01m8bgf5y2577n3q98xe6je866','01m8bgf5ym8kysar9wp8njve6v','',4,1.79568270331616950037e+09,1,'',1.79568270331916570664e+09);
INSERT INTO "outbox" VALUES('01m8bgf5zej488be6pg89eej53','01m8bgf5x3m6275q4fpmqncnnr','01m8bgf5z0qpkh3b8k2fsrd9r8:answer',0,1,2,'notice','89d4e207ee06889c053801300bad6995','The context is clear: the model sees nothing from before. The record stays; /context undo takes this back.','sent',1,0,0,315360000.0,2.11104270334483790387e+09,0.0,'01m8bgf5z0qpkh3b8k2fsrd9r8','01m8bgf5zej488be6pg89eej53','',6,1.79568270334246563911e+09,1,'',1.79568270334589409828e+09);
INSERT INTO "outbox" VALUES('01m8bgf60n3nnhrh54w5kyzzxx','01m8bgf5x3m6275q4fpmqncnnr','01m8bgf5zwftrph7e5f98tkeat:answer',0,1,2,'final','3134647d1753cca651583dcfc7f947e6','re «o2»','sent',1,0,0,315360000.0,2.11104270338271594051e+09,0.0,'01m8bgf5zwftrph7e5f98tkeat','01m8bgf60n3nnhrh54w5kyzzxx','',8,1.79568270338131403922e+09,1,'',1.79568270338436341291e+09);
INSERT INTO "outbox" VALUES('01m8bgf61x4322hzp3d8c38g70','01m8bgf60yvggq6rakn624m7wr','01m8bgf60ye9s99yfjpnx6wx7v:answer',0,1,1,'final','c8a369525b8ee144b302fb89f43cb1a4','re «n0»','sent',1,0,0,315360000.0,2.1110427034230988025e+09,0.0,'01m8bgf60ye9s99yfjpnx6wx7v','01m8bgf61x4322hzp3d8c38g70','',2,1.7956827034210715294e+09,1,'',1.79568270342656636237e+09);
INSERT INTO "outbox" VALUES('01m8bgf6315zhawbejefbr12gj','01m8bgf60yvggq6rakn624m7wr','01m8bgf62q0cv6nee083vcebt2:answer',0,1,2,'notice','e40a3122749d93f9b43199000f4821dc','A new conversation begins; what came before (1 turn) is being written to today''s log.','sent',1,0,0,315360000.0,2.11104270346009540554e+09,0.0,'01m8bgf62q0cv6nee083vcebt2','01m8bgf6315zhawbejefbr12gj','',4,1.79568270345727133748e+09,1,'',1.79568270346182608599e+09);
INSERT INTO "outbox" VALUES('01m8bgf652dz5jc56qvt8gt7ry','01m8bgf60yvggq6rakn624m7wr','01m8bgf63wacn6myw0fp4hry84:answer',0,1,2,'final','9b74a394abc9b7aab2d1ca01eb93f8b4','re «n1»','sent',1,0,0,315360000.0,2.11104270352539730073e+09,0.0,'01m8bgf63wacn6myw0fp4hry84','01m8bgf652dz5jc56qvt8gt7ry','',6,1.7956827035227861404e+09,1,'',1.79568270352660608289e+09);
INSERT INTO "outbox" VALUES('01m8bgf673y4azt3ash935nfep','01m8bgf65y2a373m6my1w0wnp8','01m8bgf65yw5k1v9mxghg9qfh1:answer',0,1,1,'final','cfae8495da1a0d3525d6f3efa3faa74d','re «t0»','sent',1,0,0,0.0,0.0,0.0,'01m8bgf65yw5k1v9mxghg9qfh1','2','',2,1.7956827035876643658e+09,1,'',1.79568270360002374646e+09);
INSERT INTO "outbox" VALUES('01m8bgf68bpgjv6xcjzv7twzpv','01m8bgf65y2a373m6my1w0wnp8','01m8bgf67s91jqmmmshscc66qb:answer',0,1,1,'final','905f10deaadd951b3f290600f993bdd5','re «t1»','sent',1,0,0,0.0,0.0,0.0,'01m8bgf67s91jqmmmshscc66qb','4','',4,1.79568270362763547894e+09,1,'',1.79568270363851666452e+09);
INSERT INTO "outbox" VALUES('01m8bgf69c9rff9y9yxbgyvpz4','01m8bgf698zm6s560rpxdvr8c8','pair:01m8bgf698z920knksmfp0vczs',0,1,1,'notice','3e2b9d1c3758b5d1cfa9247c41c0b604','I talk only to people who were let in. Give this code to the person who runs me; it is good for an hour: `TWUD-DMG4`','sent',1,0,0,0.0,0.0,0.0,'','2','',2,1.79568270366004824637e+09,1,'',1.79568270367697501183e+09);
INSERT INTO "outbox" VALUES('01m8bgf69c17qhcq3zk6p5sazy','01m8bgf65y2a373m6my1w0wnp8','pairing:telegram:100:2026-11-26',0,1,1,'notice','9c9e81ba5c12e18290e631abf4226797','telegram `999` “`Ада`” asks to talk to me and was given a code. If you know them, have them tell you the code and enter it with `mnema pair approve CODE` in a terminal, or `/approve CODE` in the page or the terminal chat. I do not tell you of others today; `mnema pair list` shows who waits.','sent',1,0,0,0.0,0.0,0.0,'','5','',5,1.79568270366004824637e+09,1,'',1.79568270370291948323e+09);
INSERT INTO "outbox" VALUES('01m8bgf6fvasbq9qj3j0ncjsn7','01m8bgf6b28er7pckhth8a6f85','01m8bgf6b21yk8g4k4k2edt3nv:answer',0,1,1,'final','c4b8dea49b6603af721744ac84553473','re «p1»','sent',1,0,0,315360000.0,2.1110427038707642556e+09,0.0,'01m8bgf6b21yk8g4k4k2edt3nv','01m8bgf6fvasbq9qj3j0ncjsn7','',2,1.79568270386741733551e+09,1,'',1.7956827038743453026e+09);
INSERT INTO "outbox" VALUES('01m8bgf7my5stxqczrtph1a4k5','01m8bgf7e51cg9tfenfk1h7qaz','01m8bgf7e58sphcztnpyrygcm6:answer',0,1,1,'final','67571578ee4b086926d2015eed8fe0e2','re «l0»','sent',1,0,0,315360000.0,2.11104270506056737903e+09,0.0,'01m8bgf7e58sphcztnpyrygcm6','01m8bgf7my5stxqczrtph1a4k5','',2,1.79568270505455040934e+09,2,'',1.79568270507188582421e+09);
INSERT INTO "outbox" VALUES('01m8bgf7pbsvt3zyhmsgazf7pm','01m8bgf7e51cg9tfenfk1h7qaz','01m8bgf7nn6zav88wk64y8v2nf:answer',0,1,1,'final','57d0e3d173f950a95845b254fedfa663','re «l1»','sent',1,0,0,315360000.0,2.11104270510158538811e+09,0.0,'01m8bgf7nn6zav88wk64y8v2nf','01m8bgf7pbsvt3zyhmsgazf7pm','',4,1.79568270509976720804e+09,2,'',1.79568270510257649418e+09);
INSERT INTO "outbox" VALUES('01m8bgf7v1f11r3kphnychpgsn','01m8bgf7e51cg9tfenfk1h7qaz','01m8bgf7tbcfb9wwv49kxvn7gq:answer',0,1,1,'final','d25ccca4d22998521d6d88fbe6d3a171','re «l2»','sending',1,0,0,315360000.0,2.11104270525196719169e+09,0.0,'01m8bgf7tbcfb9wwv49kxvn7gq','','',6,1.79568270524949884408e+09,2,'',0.0);
CREATE TABLE person_removal (
	id TEXT NOT NULL, 
	spaces TEXT NOT NULL, 
	parties TEXT NOT NULL, 
	blobs TEXT NOT NULL, 
	receipt TEXT NOT NULL, 
	at DOUBLE NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "person_removal" VALUES('p','[]','[]','[]','{}',1.5);
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
INSERT INTO "prefix_text" VALUES('8b8250c4d31b0642e7f051b5c2eda8fa38c3f583ce21eeed8512e7ca332b6047','[Daily log of 2026-11-26, for reference]
## 08:45 · web garden · turns 1–2

- «g0» the roses want water; I prefer tea. 花园要浇水
- «g1» the roses want water; I prefer tea. 花园要浇水

## 08:45 · web garden · turns 3–5

- «g2» the roses want water; I prefer tea. 花园要浇水
- «g3» the roses want water; I prefer tea. 花园要浇水
- «g4» the roses want water; I prefer tea. 花园要浇水
[End of the daily log]');
INSERT INTO "prefix_text" VALUES('4cc460bb060ff749ba803730dfe842655c5cf2d33b9f5698e08f01ac1efa0f42','[Daily log of 2026-11-26, for reference]
## 08:45 · web garden · turns 1–2

- «g0» the roses want water; I prefer tea. 花园要浇水
- «g1» the roses want water; I prefer tea. 花园要浇水

## 08:45 · web garden · turns 3–5

- «g2» the roses want water; I prefer tea. 花园要浇水
- «g3» the roses want water; I prefer tea. 花园要浇水
- «g4» the roses want water; I prefer tea. 花园要浇水

## 08:45 · web new · turns 1–1

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
INSERT INTO "reduction" VALUES('01m8bgf5737490s8h7gt48hwm3',0,'snip','01m8bgf4kqandk5zbzwh7cga2e','re … g0',3,'size',1);
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
INSERT INTO "snapshot" VALUES('01m8bgf4kqandk5zbzwh7cga2e','clean:b3c8c71072d8847a3740ba9e4160446e35296c4fa19e6e75cc344829f1b07e8b',1,'01m8bgf5c9q32qnyra4x9r0d17',0,1.79568270279495739933e+09);
INSERT INTO "snapshot" VALUES('01m8bgf5q4665tkqs5dynja3xe','clean:dcaf1a86cae4324bb5d132801a311064c756ad95be959e6a7f3383f19a047fa0',1,'',0,1.7956827030946846008e+09);
INSERT INTO "snapshot" VALUES('01m8bgf5x3m6275q4fpmqncnnr','clean:dcaf1a86cae4324bb5d132801a311064c756ad95be959e6a7f3383f19a047fa0',2,'',0,1.79568270337585306163e+09);
INSERT INTO "snapshot" VALUES('01m8bgf60yvggq6rakn624m7wr','clean:dcaf1a86cae4324bb5d132801a311064c756ad95be959e6a7f3383f19a047fa0',2,'',0,1.79568270351550245285e+09);
INSERT INTO "snapshot" VALUES('01m8bgf65y2a373m6my1w0wnp8','clean:dcaf1a86cae4324bb5d132801a311064c756ad95be959e6a7f3383f19a047fa0',1,'',0,1.79568270357810091976e+09);
INSERT INTO "snapshot" VALUES('01m8bgf6b28er7pckhth8a6f85','clean:dcaf1a86cae4324bb5d132801a311064c756ad95be959e6a7f3383f19a047fa0',1,'',0,1.79568270386089920993e+09);
INSERT INTO "snapshot" VALUES('01m8bgf7e51cg9tfenfk1h7qaz','clean:dcaf1a86cae4324bb5d132801a311064c756ad95be959e6a7f3383f19a047fa0',1,'',0,1.79568270502592587474e+09);
INSERT INTO "snapshot" VALUES('01m8bgf7rcsb4a51gr35q27m2t','clean:dcaf1a86cae4324bb5d132801a311064c756ad95be959e6a7f3383f19a047fa0',1,'',0,1.79568270518644666671e+09);
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
INSERT INTO "snapshot_part" VALUES('01m8bgf4kqandk5zbzwh7cga2e',0,'awareness','268df8618177fc1555c69329b15ea9966f9ee57d770b4856c5320a9658868b7e','[]');
INSERT INTO "snapshot_part" VALUES('01m8bgf5q4665tkqs5dynja3xe',0,'awareness','268df8618177fc1555c69329b15ea9966f9ee57d770b4856c5320a9658868b7e','[]');
INSERT INTO "snapshot_part" VALUES('01m8bgf5q4665tkqs5dynja3xe',1,'MEMORY.md','0b1dd90b1493efbc386f1c22d331eb01a2ed54218a3a082ffffc6f910131aa63','[]');
INSERT INTO "snapshot_part" VALUES('01m8bgf5q4665tkqs5dynja3xe',2,'log','8b8250c4d31b0642e7f051b5c2eda8fa38c3f583ce21eeed8512e7ca332b6047','[]');
INSERT INTO "snapshot_part" VALUES('01m8bgf5x3m6275q4fpmqncnnr',0,'awareness','268df8618177fc1555c69329b15ea9966f9ee57d770b4856c5320a9658868b7e','[]');
INSERT INTO "snapshot_part" VALUES('01m8bgf5x3m6275q4fpmqncnnr',1,'MEMORY.md','0b1dd90b1493efbc386f1c22d331eb01a2ed54218a3a082ffffc6f910131aa63','[]');
INSERT INTO "snapshot_part" VALUES('01m8bgf5x3m6275q4fpmqncnnr',2,'log','8b8250c4d31b0642e7f051b5c2eda8fa38c3f583ce21eeed8512e7ca332b6047','[]');
INSERT INTO "snapshot_part" VALUES('01m8bgf60yvggq6rakn624m7wr',0,'awareness','268df8618177fc1555c69329b15ea9966f9ee57d770b4856c5320a9658868b7e','[]');
INSERT INTO "snapshot_part" VALUES('01m8bgf60yvggq6rakn624m7wr',1,'MEMORY.md','0b1dd90b1493efbc386f1c22d331eb01a2ed54218a3a082ffffc6f910131aa63','[]');
INSERT INTO "snapshot_part" VALUES('01m8bgf60yvggq6rakn624m7wr',2,'log','4cc460bb060ff749ba803730dfe842655c5cf2d33b9f5698e08f01ac1efa0f42','[]');
INSERT INTO "snapshot_part" VALUES('01m8bgf65y2a373m6my1w0wnp8',0,'awareness','268df8618177fc1555c69329b15ea9966f9ee57d770b4856c5320a9658868b7e','[]');
INSERT INTO "snapshot_part" VALUES('01m8bgf65y2a373m6my1w0wnp8',1,'MEMORY.md','0b1dd90b1493efbc386f1c22d331eb01a2ed54218a3a082ffffc6f910131aa63','[]');
INSERT INTO "snapshot_part" VALUES('01m8bgf65y2a373m6my1w0wnp8',2,'log','4cc460bb060ff749ba803730dfe842655c5cf2d33b9f5698e08f01ac1efa0f42','[]');
INSERT INTO "snapshot_part" VALUES('01m8bgf6b28er7pckhth8a6f85',0,'awareness','268df8618177fc1555c69329b15ea9966f9ee57d770b4856c5320a9658868b7e','[]');
INSERT INTO "snapshot_part" VALUES('01m8bgf6b28er7pckhth8a6f85',1,'MEMORY.md','0b1dd90b1493efbc386f1c22d331eb01a2ed54218a3a082ffffc6f910131aa63','[]');
INSERT INTO "snapshot_part" VALUES('01m8bgf6b28er7pckhth8a6f85',2,'log','4cc460bb060ff749ba803730dfe842655c5cf2d33b9f5698e08f01ac1efa0f42','[]');
INSERT INTO "snapshot_part" VALUES('01m8bgf7e51cg9tfenfk1h7qaz',0,'awareness','268df8618177fc1555c69329b15ea9966f9ee57d770b4856c5320a9658868b7e','[]');
INSERT INTO "snapshot_part" VALUES('01m8bgf7e51cg9tfenfk1h7qaz',1,'MEMORY.md','0b1dd90b1493efbc386f1c22d331eb01a2ed54218a3a082ffffc6f910131aa63','[]');
INSERT INTO "snapshot_part" VALUES('01m8bgf7e51cg9tfenfk1h7qaz',2,'log','4cc460bb060ff749ba803730dfe842655c5cf2d33b9f5698e08f01ac1efa0f42','[]');
INSERT INTO "snapshot_part" VALUES('01m8bgf7rcsb4a51gr35q27m2t',0,'awareness','268df8618177fc1555c69329b15ea9966f9ee57d770b4856c5320a9658868b7e','[]');
INSERT INTO "snapshot_part" VALUES('01m8bgf7rcsb4a51gr35q27m2t',1,'MEMORY.md','0b1dd90b1493efbc386f1c22d331eb01a2ed54218a3a082ffffc6f910131aa63','[]');
INSERT INTO "snapshot_part" VALUES('01m8bgf7rcsb4a51gr35q27m2t',2,'log','4cc460bb060ff749ba803730dfe842655c5cf2d33b9f5698e08f01ac1efa0f42','[]');
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
INSERT INTO "tool_call" VALUES('01m8bgf5ehb7cajezbtw9jrpcc','01m8bgf5dwtw9a6hqh1dj1qh56',0,'call_g5','write_file','{"path": "notes/roses.md", "content": "water on Mondays"}','idempotent','80096f6f654937d760850e4df218f1c9','done',1,'01m8bgf5faxfzgkrfq1x2pmqzp');
INSERT INTO "tool_call" VALUES('01m8bgf7s7rfn931jrpcgv82cc','01m8bgf7rg3jwvq5tjyaq0kamt',0,'call_x1','write_file','{"path": "notes/x.md", "content": "x"}','idempotent','b63412e4931a17e7f42b2bfb633ae004','started',1,'');
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
INSERT INTO "turn" VALUES('01m8bgf4n4dc7w9b51r4vyzhnx','01m8bgf4kqandk5zbzwh7cga2e',1,1,'01m8bgf4kqcjb8f29s5f1fzxkk','owner','done',0,0,'01m8bgf4kq30kd5xarkf62jwk2',1,1,1.7956827019888761043e+09,1.7956827025637238026e+09,'owner',1.7956827019438445568e+09);
INSERT INTO "turn" VALUES('01m8bgf585tg9s3ddhme1h2sn9','01m8bgf4kqandk5zbzwh7cga2e',2,1,'01m8bgf580se4hcfbjbspzaj8f','owner','done',0,0,'01m8bgf5807tvb12kah7yr0mdz',3,1,1.79568270259750485421e+09,1.79568270261138415331e+09,'owner',1.79568270259269189832e+09);
INSERT INTO "turn" VALUES('01m8bgf594s190k6n1w29rxm67','01m8bgf4kqandk5zbzwh7cga2e',3,1,'01m8bgf5925ksfhs91s05zha1b','owner','done',0,0,'01m8bgf592jnr0vjyrf289ze85',5,1,1.7956827026289618015e+09,1.795682702643065691e+09,'owner',1.79568270262635135648e+09);
INSERT INTO "turn" VALUES('01m8bgf5a7bamhe954fxqz02eh','01m8bgf4kqandk5zbzwh7cga2e',4,1,'01m8bgf5a4rt7xe3ramag17pn9','owner','done',0,0,'01m8bgf5a4a5frqpgw92nzjs2t',7,1,1.79568270266364502906e+09,1.79568270267938971521e+09,'owner',1.79568270266093564036e+09);
INSERT INTO "turn" VALUES('01m8bgf5b5adkp122d71k4nj8n','01m8bgf4kqandk5zbzwh7cga2e',5,1,'01m8bgf5b4a297jyrk9rbs5cad','owner','done',0,0,'01m8bgf5b48r5mdyr3tef6a2ce',9,1,1.79568270269395780566e+09,1.79568270270584821705e+09,'owner',1.7956827026922175884e+09);
INSERT INTO "turn" VALUES('01m8bgf5dwtw9a6hqh1dj1qh56','01m8bgf4kqandk5zbzwh7cga2e',6,1,'01m8bgf5dv0qk6bf9gqw0phqp1','owner','done',1,0,'01m8bgf5dv37hnzzsx0w6vc4hv',11,1,1.7956827027809307575e+09,1.79568270283424615864e+09,'owner',1.79568270277913284303e+09);
INSERT INTO "turn" VALUES('01m8bgf5gk48sgd2fmg0qsrmpr','01m8bgf4kqandk5zbzwh7cga2e',7,1,'01m8bgf5gef4q648g7qyg4rqw5','owner','done',0,0,'01m8bgf5gepknd67rar3g8wq5k',15,1,1.79568270286710405352e+09,1.79568270288258910179e+09,'owner',1.79568270286277770998e+09);
INSERT INTO "turn" VALUES('01m8bgf5hte8frmgs0rs4skpvr','01m8bgf4kqandk5zbzwh7cga2e',8,1,'01m8bgf5hhza4h619v6343v1s7','owner','done',0,0,'01m8bgf5hhe9904erb1yaahet5',17,1,1.79568270290677189831e+09,1.79568270291813921932e+09,'owner',1.7956827028977992535e+09);
INSERT INTO "turn" VALUES('01m8bgf5k25pjpmfdgv3matjc9','01m8bgf4kqandk5zbzwh7cga2e',9,1,'01m8bgf5jva05cetfq7h1kd3ey','owner','done',0,0,'01m8bgf5jv9adr1sd6k0yqnay8',19,1,1.79568270294690346712e+09,1.79568270296348714829e+09,'owner',1.79568270293979716299e+09);
INSERT INTO "turn" VALUES('01m8bgf5q68fyan9fptf2mn3a4','01m8bgf5q4665tkqs5dynja3xe',1,1,'01m8bgf5q40dw8dq31q7nrbp2s','owner','done',0,0,'01m8bgf5q4f22m0fnk5qt7p1mn',1,1,1.79568270307818412786e+09,1.79568270310365414622e+09,'owner',1.79568270307614326472e+09);
INSERT INTO "turn" VALUES('01m8bgf5rgvvttm7n2xzpsn2sz','01m8bgf5q4665tkqs5dynja3xe',2,1,'01m8bgf5r5q9kj8j4hnpg739wt','owner','done',0,0,'01m8bgf5r5e0k3qtzejkmd7x1q',3,1,1.7956827031200258732e+09,1.79568270313408231736e+09,'owner',1.79568270310959291454e+09);
INSERT INTO "turn" VALUES('01m8bgf5sdjesx2v4wka985ta5','01m8bgf5q4665tkqs5dynja3xe',3,1,'01m8bgf5sbdq3b4cf8z39h0s54','owner','done',0,0,'01m8bgf5sbc7g3zpvzd6jsfk2r',5,1,1.79568270314979100228e+09,1.79568270316357493404e+09,'owner',1.79568270314753341675e+09);
INSERT INTO "turn" VALUES('01m8bgf5x6nbaqyq9vgm8aq5bz','01m8bgf5x3m6275q4fpmqncnnr',1,1,'01m8bgf5x3z96kf3ryyzc46182','owner','done',0,0,'01m8bgf5x32vnk1tswpcwjvbxm',1,1,1.79568270327004766463e+09,1.79568270329109048845e+09,'owner',1.79568270326796817779e+09);
INSERT INTO "turn" VALUES('01m8bgf5y46jfw7sttrcckskvs','01m8bgf5x3m6275q4fpmqncnnr',2,1,'01m8bgf5y2577n3q98xe6je866','owner','done',0,0,'01m8bgf5y2ehz389dftnwa7vfr',3,1,1.79568270330043578148e+09,1.79568270331616950037e+09,'owner',1.7956827032987904549e+09);
INSERT INTO "turn" VALUES('01m8bgf5zzh2w7ga94xa0r5qse','01m8bgf5x3m6275q4fpmqncnnr',3,2,'01m8bgf5zwftrph7e5f98tkeat','owner','done',0,0,'01m8bgf5zwv0zq9a6trsvn7ary',5,1,1.79568270335905742643e+09,1.79568270338131403922e+09,'owner',1.79568270335669827458e+09);
INSERT INTO "turn" VALUES('01m8bgf6122wwqfzbswfb4xms9','01m8bgf60yvggq6rakn624m7wr',1,1,'01m8bgf60ye9s99yfjpnx6wx7v','owner','done',0,0,'01m8bgf60yafnctxn7v39n0bsp',1,1,1.79568270339428853995e+09,1.7956827034210715294e+09,'owner',1.79568270339066243172e+09);
INSERT INTO "turn" VALUES('01m8bgf63y0r4c6bbm8dcp3bp2','01m8bgf60yvggq6rakn624m7wr',2,2,'01m8bgf63wacn6myw0fp4hry84','owner','done',0,0,'01m8bgf63wqvjdy0mn9tqvztzf',3,1,1.79568270348680043219e+09,1.7956827035227861404e+09,'owner',1.79568270348481678964e+09);
INSERT INTO "turn" VALUES('01m8bgf66adht8z49nr11z6aqe','01m8bgf65y2a373m6my1w0wnp8',1,1,'01m8bgf65yw5k1v9mxghg9qfh1','5005','done',0,0,'01m8bgf65yd4h6texskcx0j202',1,1,1.79568270356211280819e+09,1.7956827035876643658e+09,'owner',1.79568270355011534687e+09);
INSERT INTO "turn" VALUES('01m8bgf67x1dz9p4ywaak7zg1k','01m8bgf65y2a373m6my1w0wnp8',2,1,'01m8bgf67s91jqmmmshscc66qb','5005','done',0,0,'01m8bgf67sr0ed7qtmxz4cb8jp',3,1,1.795682703613186121e+09,1.79568270362763547894e+09,'owner',1.79568270360961580278e+09);
INSERT INTO "turn" VALUES('01m8bgf6fdszgdn6a4672zez9j','01m8bgf6b28er7pckhth8a6f85',1,1,'01m8bgf6b21yk8g4k4k2edt3nv','owner','done',0,0,'01m8bgf6b2vahtmx4mbm7g200n',1,1,1.79568270385342526433e+09,1.79568270386741733551e+09,'owner',1.79568270371441316606e+09);
INSERT INTO "turn" VALUES('01m8bgf7ewrnyrj74n2qh5kchh','01m8bgf7e51cg9tfenfk1h7qaz',1,1,'01m8bgf7e58sphcztnpyrygcm6','owner','done',0,0,'01m8bgf7e552a5psvwhe4pngyx',1,2,1.79568270486063981056e+09,1.79568270505455040934e+09,'owner',1.79568270483783602709e+09);
INSERT INTO "turn" VALUES('01m8bgf7nqk8jhsqz76bt0wy6w','01m8bgf7e51cg9tfenfk1h7qaz',2,1,'01m8bgf7nn6zav88wk64y8v2nf','owner','done',0,0,'01m8bgf7nn4y8vzwdxnew9pce5',3,2,1.7956827050799875259e+09,1.79568270509976720804e+09,'owner',1.79568270507767748832e+09);
INSERT INTO "turn" VALUES('01m8bgf7rg3jwvq5tjyaq0kamt','01m8bgf7rcsb4a51gr35q27m2t',1,1,'01m8bgf7rczewf8fsp3wc82mf4','owner','waiting',1,0,'01m8bgf7rc9pya5hvvgyjjfyv1',1,2,1.79568270516873931884e+09,0.0,'owner',1.79568270516473913194e+09);
INSERT INTO "turn" VALUES('01m8bgf7tfvkrp8nn3egn9zy13','01m8bgf7e51cg9tfenfk1h7qaz',3,1,'01m8bgf7tbcfb9wwv49kxvn7gq','owner','done',0,0,'01m8bgf7tbajx9azhgdbvrdws2',5,2,1.79568270523100543024e+09,1.79568270524949884408e+09,'owner',1.79568270522733092306e+09);
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
INSERT INTO "usage" VALUES('01m8bgf573b333t7at34rzcmwr','01m8bgf4kqandk5zbzwh7cga2e','01m8bgf4n4dc7w9b51r4vyzhnx','gpt-6.1-terra','turn',2281,3,0,0,0,1.7956827025637238026e+09,'owner');
INSERT INTO "usage" VALUES('01m8bgf58k80nr06xz2fhj2q07','01m8bgf4kqandk5zbzwh7cga2e','01m8bgf585tg9s3ddhme1h2sn9','gpt-6.1-terra','turn',2322,3,0,0,0,1.79568270261138415331e+09,'owner');
INSERT INTO "usage" VALUES('01m8bgf59kgt8xv6tvej657n7f','01m8bgf4kqandk5zbzwh7cga2e','01m8bgf594s190k6n1w29rxm67','gpt-6.1-terra','turn',2356,3,0,0,0,1.795682702643065691e+09,'owner');
INSERT INTO "usage" VALUES('01m8bgf5aq1hztv444etwcqgx8','01m8bgf4kqandk5zbzwh7cga2e','01m8bgf5a7bamhe954fxqz02eh','gpt-6.1-terra','turn',2391,3,0,0,0,1.79568270267938971521e+09,'owner');
INSERT INTO "usage" VALUES('01m8bgf5bhd3c98sgtgs2p439v','01m8bgf4kqandk5zbzwh7cga2e','01m8bgf5b5adkp122d71k4nj8n','gpt-6.1-terra','turn',2425,3,0,0,0,1.79568270270584821705e+09,'owner');
INSERT INTO "usage" VALUES('01m8bgf5cmwbcchgf0hedvmyqc','01m8bgf4kqandk5zbzwh7cga2e','','gpt-6-luna','fold',651,72,0,0,0,1.79568270274016761776e+09,'owner');
INSERT INTO "usage" VALUES('01m8bgf5ehammqr152v6gv5xwz','01m8bgf4kqandk5zbzwh7cga2e','01m8bgf5dwtw9a6hqh1dj1qh56','gpt-6.1-terra','turn',2458,19,0,0,0,1.79568270280186581609e+09,'owner');
INSERT INTO "usage" VALUES('01m8bgf5fjr792ym9sy7mrwjy5','01m8bgf4kqandk5zbzwh7cga2e','01m8bgf5dwtw9a6hqh1dj1qh56','gpt-6.1-terra','turn',2542,3,0,0,0,1.79568270283424615864e+09,'owner');
INSERT INTO "usage" VALUES('01m8bgf5h2kkar8emyw4rj73mn','01m8bgf4kqandk5zbzwh7cga2e','01m8bgf5gk48sgd2fmg0qsrmpr','gpt-6.1-terra','turn',2569,3,0,0,0,1.79568270288258910179e+09,'owner');
INSERT INTO "usage" VALUES('01m8bgf5j6k02kq70hr350xqw9','01m8bgf4kqandk5zbzwh7cga2e','01m8bgf5hte8frmgs0rs4skpvr','gpt-6.1-terra','turn',2597,3,0,0,0,1.79568270291813921932e+09,'owner');
INSERT INTO "usage" VALUES('01m8bgf5kk3jegsksygw66kadd','01m8bgf4kqandk5zbzwh7cga2e','01m8bgf5k25pjpmfdgv3matjc9','gpt-6.1-terra','turn',2624,3,0,0,0,1.79568270296348714829e+09,'owner');
INSERT INTO "usage" VALUES('01m8bgf5mkpbs54fvtx8d7zwec','01m8bgf4kqandk5zbzwh7cga2e','','gpt-6-luna','fold',723,103,0,0,0,1.795682702995693922e+09,'owner');
INSERT INTO "usage" VALUES('01m8bgf5qzee069cbyke2zmvrd','01m8bgf5q4665tkqs5dynja3xe','01m8bgf5q68fyan9fptf2mn3a4','gpt-6.1-terra','turn',2617,3,0,0,0,1.79568270310365414622e+09,'owner');
INSERT INTO "usage" VALUES('01m8bgf5ryzexfzngd2r1gdjxj','01m8bgf5q4665tkqs5dynja3xe','01m8bgf5rgvvttm7n2xzpsn2sz','gpt-6.1-terra','turn',2651,3,0,0,0,1.79568270313408231736e+09,'owner');
INSERT INTO "usage" VALUES('01m8bgf5sv4wzjsarejmkpqy34','01m8bgf5q4665tkqs5dynja3xe','01m8bgf5sdjesx2v4wka985ta5','gpt-6.1-terra','turn',2678,3,0,0,0,1.79568270316357493404e+09,'owner');
INSERT INTO "usage" VALUES('01m8bgf5tr5c6twqtmmjz5ct4m','01m8bgf5q4665tkqs5dynja3xe','','gpt-6-luna','fold',613,27,0,0,0,1.79568270319290280339e+09,'owner');
INSERT INTO "usage" VALUES('01m8bgf5xvn9z0f6vtn7hegyx4','01m8bgf5x3m6275q4fpmqncnnr','01m8bgf5x6nbaqyq9vgm8aq5bz','gpt-6.1-terra','turn',2628,3,0,0,0,1.79568270329109048845e+09,'owner');
INSERT INTO "usage" VALUES('01m8bgf5ymn3kvs04mdhv27e2q','01m8bgf5x3m6275q4fpmqncnnr','01m8bgf5y46jfw7sttrcckskvs','gpt-6.1-terra','turn',2662,3,0,0,0,1.79568270331616950037e+09,'owner');
INSERT INTO "usage" VALUES('01m8bgf60nmdd6bnb96tykzqzf','01m8bgf5x3m6275q4fpmqncnnr','01m8bgf5zzh2w7ga94xa0r5qse','gpt-6.1-terra','turn',2628,3,0,0,0,1.79568270338131403922e+09,'owner');
INSERT INTO "usage" VALUES('01m8bgf61x58e38z73th1wecma','01m8bgf60yvggq6rakn624m7wr','01m8bgf6122wwqfzbswfb4xms9','gpt-6.1-terra','turn',2628,3,0,0,0,1.7956827034210715294e+09,'owner');
INSERT INTO "usage" VALUES('01m8bgf6398t1c2jpmnj0sqewb','01m8bgf60yvggq6rakn624m7wr','','gpt-6-luna','fold',335,27,0,0,0,1.79568270346541833878e+09,'owner');
INSERT INTO "usage" VALUES('01m8bgf6526y7snynk5vtcydh0','01m8bgf60yvggq6rakn624m7wr','01m8bgf63y0r4c6bbm8dcp3bp2','gpt-6.1-terra','turn',2646,3,0,0,0,1.7956827035227861404e+09,'owner');
INSERT INTO "usage" VALUES('01m8bgf673gy32640wtqc74z54','01m8bgf65y2a373m6my1w0wnp8','01m8bgf66adht8z49nr11z6aqe','gpt-6.1-terra','turn',2646,3,0,0,0,1.7956827035876643658e+09,'owner');
INSERT INTO "usage" VALUES('01m8bgf68bqyt6x66njgegnhys','01m8bgf65y2a373m6my1w0wnp8','01m8bgf67x1dz9p4ywaak7zg1k','gpt-6.1-terra','turn',2680,3,0,0,0,1.79568270362763547894e+09,'owner');
INSERT INTO "usage" VALUES('01m8bgf6fvn135812w9f0qtbzn','01m8bgf6b28er7pckhth8a6f85','01m8bgf6fdszgdn6a4672zez9j','gpt-6.1-terra','turn',2701,3,0,0,0,1.79568270386741733551e+09,'owner');
INSERT INTO "usage" VALUES('01m8bgf764n4wkpqrt8x4m9tad','01m8bgf4kqandk5zbzwh7cga2e','','gpt-6-luna','extract',662,1,0,0,0,1.79568270458095026022e+09,'owner');
INSERT INTO "usage" VALUES('01m8bgf76jhfhz9wspcjrv10ma','01m8bgf4kqandk5zbzwh7cga2e','','gpt-6-luna','extract',613,1,0,0,0,1.79568270459426331518e+09,'owner');
INSERT INTO "usage" VALUES('01m8bgf76rqjjxeyh39cmq75se','01m8bgf60yvggq6rakn624m7wr','','gpt-6-luna','extract',499,1,0,0,0,1.79568270460095620157e+09,'owner');
INSERT INTO "usage" VALUES('01m8bgf7myparynhhh3ayd91y7','01m8bgf7e51cg9tfenfk1h7qaz','01m8bgf7ewrnyrj74n2qh5kchh','gpt-6.1-terra','turn',2646,3,0,0,0,1.79568270505455040934e+09,'owner');
INSERT INTO "usage" VALUES('01m8bgf7pb1nk4qm22cpapk50n','01m8bgf7e51cg9tfenfk1h7qaz','01m8bgf7nqk8jhsqz76bt0wy6w','gpt-6.1-terra','turn',2680,3,0,0,0,1.79568270509976720804e+09,'owner');
INSERT INTO "usage" VALUES('01m8bgf7qts0wvt557jrmvhpq1','01m8bgf5q4665tkqs5dynja3xe','','gpt-6-luna','fold',613,27,0,0,0,1.79568270514628076546e+09,'owner');
INSERT INTO "usage" VALUES('01m8bgf7s7vwrn8feyc19w7gnb','01m8bgf7rcsb4a51gr35q27m2t','01m8bgf7rg3jwvq5tjyaq0kamt','gpt-6.1-terra','turn',2630,14,0,0,0,1.79568270519199228284e+09,'owner');
INSERT INTO "usage" VALUES('01m8bgf7v1z8hd2gpq8h0kq1ez','01m8bgf7e51cg9tfenfk1h7qaz','01m8bgf7tfvkrp8nn3egn9zy13','gpt-6.1-terra','turn',2708,3,0,0,0,1.79568270524949884408e+09,'owner');
CREATE INDEX access_request_at ON access_request (channel, account, at);
CREATE INDEX access_request_code ON access_request (code_sha256);
CREATE INDEX account_link_space ON account_link (space);
CREATE INDEX approval_person ON approval (channel, subject_id);
CREATE INDEX conversation_space ON conversation (space);
CREATE INDEX conversation_updated ON conversation (updated);
CREATE INDEX coverage_fold ON coverage (fold_id);
CREATE INDEX extraction_open ON extraction (space) WHERE state = 'queued' OR state = 'found';
CREATE INDEX file_version_path ON file_version (space, path, at);
CREATE INDEX file_version_pending ON file_version (at) WHERE pending != '';
CREATE INDEX forgetting_open ON forgetting (space) WHERE state = 'asked' OR state = 'confirmed' OR state = 'removed';
CREATE INDEX job_due ON job (next_at) WHERE state = 'on';
CREATE INDEX job_person ON job (channel, person);
CREATE INDEX link_code_sha256 ON link_code (code_sha256);
CREATE INDEX memory_line ON memory (space, norm, state);
CREATE UNIQUE INDEX memory_norm ON memory (space, norm) WHERE state = 'live';
CREATE INDEX memory_space ON memory (space, state);
CREATE INDEX memory_change_space ON memory_change (space, at);
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
COMMIT;
