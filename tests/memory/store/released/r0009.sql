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
INSERT INTO "access_request" VALUES('01m83jakbfe5xgr7ecvejn5yb4','telegram','100','user','999','Ада','01m83jakbb7nfhq5wed3x1pz7v','en','6ead7a9f52dd5d8dad38b1a1b67b463d872314680ec1cf3f3c5c73680d0fe151','pending',1.7954198148957479e+09,1.79541621489584898949e+09);
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
INSERT INTO "audit" VALUES(1,1.79541621402362656595e+09,'','memory.extract','','','allowed','+1 -0','','9b715c222810a53f8a62e37492f892ac05b3320da7ea54aae74b577fd199f9a8');
INSERT INTO "audit" VALUES(2,1.79541621405573606495e+09,'','memory.extract','','','allowed','+1 -0','9b715c222810a53f8a62e37492f892ac05b3320da7ea54aae74b577fd199f9a8','3ab4ef549977d7bac67209fbe787d1e69ae3c90e5e1191140931cbcc0d5050c2');
INSERT INTO "audit" VALUES(3,1.79541621410685300831e+09,'','memory.extract','','','allowed','+1 -0','3ab4ef549977d7bac67209fbe787d1e69ae3c90e5e1191140931cbcc0d5050c2','1b7ed7dcd7c12dfc7871993e0b79ee7239cfa13ac898a6e07dd36f441fab250e');
INSERT INTO "audit" VALUES(4,1.79541621415905094149e+09,'','memory.extract','','','allowed','+1 -0','1b7ed7dcd7c12dfc7871993e0b79ee7239cfa13ac898a6e07dd36f441fab250e','2917ca6a180830c2f48bda87bbfbea2865c858ec761d09b7b6abf2bd645f7906');
INSERT INTO "audit" VALUES(5,1.79541621419600725176e+09,'','memory.extract','','','allowed','+1 -0','2917ca6a180830c2f48bda87bbfbea2865c858ec761d09b7b6abf2bd645f7906','aabbaf3f819c07a50083f1a2e802a7ad4b04b286420a6d88c738fd6d09d14e15');
INSERT INTO "audit" VALUES(6,1.79541621425566625593e+09,'owner','tool write_file','01m83jahvtzbzxzskv4n8k5z15','a65c0cbb3d6f8a3ca8deb88a31296e75bb9021ac7f69eeafed30aead39d1d60d','allowed','started','aabbaf3f819c07a50083f1a2e802a7ad4b04b286420a6d88c738fd6d09d14e15','85f3a8ad593010bf600a32c1beb54c222175a420f008df4f4029e43725087919');
INSERT INTO "audit" VALUES(7,1795416214.42268,'','memory.remember','','','allowed','+1 -0','85f3a8ad593010bf600a32c1beb54c222175a420f008df4f4029e43725087919','d6070de1196aa182ef942827d6a16f7e2904b9bbbfd0d5804c41b366da97cdb6');
INSERT INTO "audit" VALUES(8,1.79541621467745471005e+09,'web/console/owner','clear','01m83jak29k1st1phx3nczpmg7','','allowed','epoch 2','d6070de1196aa182ef942827d6a16f7e2904b9bbbfd0d5804c41b366da97cdb6','a6de4acc13d0f9711cd8f7b5eb750ce19475b178cc639ba751b172ac68263878');
INSERT INTO "audit" VALUES(9,1.79541621477068519588e+09,'web/console/owner','clear','01m83jak6ggrd1jawjqk6daeyj','','allowed','epoch 2','a6de4acc13d0f9711cd8f7b5eb750ce19475b178cc639ba751b172ac68263878','c795b01278fce531541193647172464436ec8704f4a30250e22e2600029acf41');
INSERT INTO "audit" VALUES(10,1.79541621489584898949e+09,'telegram/100/999','user asks','telegram/100/999','','allowed','pending','c795b01278fce531541193647172464436ec8704f4a30250e22e2600029acf41','b0bf6379e67247430ddffa6fbe68cb7cbad71b9e170026df20e8ab75448b63c4');
INSERT INTO "audit" VALUES(11,1.79541621544444680216e+09,'owner','tool write_file','01m83jakvxnjdyv3mvgjm7tshw','f5e908acc3cb7f989e16b43cb7a206020827475d8f8b35885e2a6be8b0521a47','allowed','started','b0bf6379e67247430ddffa6fbe68cb7cbad71b9e170026df20e8ab75448b63c4','a6b8448ddcceae7cb1e343d3a0424d22b79bd98ef44021b8345dc27f67c4916c');
CREATE TABLE audit_head (
	id INTEGER NOT NULL, 
	seq INTEGER NOT NULL, 
	hash TEXT NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "audit_head" VALUES(1,11,'a6b8448ddcceae7cb1e343d3a0424d22b79bd98ef44021b8345dc27f67c4916c');
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
INSERT INTO "clearing" VALUES('01m83jak29k1st1phx3nczpmg7',2,1,'',0,1.79541621467745471005e+09);
INSERT INTO "clearing" VALUES('01m83jak6ggrd1jawjqk6daeyj',2,1,'',0,1.79541621477068519588e+09);
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
INSERT INTO "conversation" VALUES('01m83jahvtzbzxzskv4n8k5z15','web','console','garden','','dm','',1,21,10,25,1,'01m83jajvm9g3v8htnjw6rc5nf','','',4,'ea20ea239f437c382bf68dc84828721e9c531c5df3a650114017428530741bd1','fold',1,'«g0» the roses want water; I prefer tea. 花园要浇水',1.79541621441387796399e+09,1.7954162144236540795e+09);
INSERT INTO "conversation" VALUES('01m83jajxcbes5z71yg2f970h0','web','console','work','','dm','',1,7,4,12,1,'','','',2,'ea20ea239f437c382bf68dc84828721e9c531c5df3a650114017428530741bd1','fold undone',1,'«w0» what do you make of it?',1.79541621539532279968e+09,1.79541621539532279968e+09);
INSERT INTO "conversation" VALUES('01m83jak29k1st1phx3nczpmg7','web','console','old','','dm','',2,7,4,9,5,'','','',1,'ea20ea239f437c382bf68dc84828721e9c531c5df3a650114017428530741bd1','clear',1,'«o0» what do you make of it?',1.79541621470477104184e+09,1.79541621472349739079e+09);
INSERT INTO "conversation" VALUES('01m83jak6ggrd1jawjqk6daeyj','web','console','new','','dm','',2,5,3,7,3,'','','',1,'ea20ea239f437c382bf68dc84828721e9c531c5df3a650114017428530741bd1','clear',1,'«n0» what do you make of it?',1.79541621479729342466e+09,1.7954162148138477802e+09);
INSERT INTO "conversation" VALUES('01m83jak9cdces4mkkch577epj','telegram','100','5005','','dm','',1,5,3,6,1,'','','',0,'ea20ea239f437c382bf68dc84828721e9c531c5df3a650114017428530741bd1','SOUL.md, tools or model',1,'«t0» what do you make of it?',1.79541621486879205706e+09,1.79541621489584898949e+09);
INSERT INTO "conversation" VALUES('01m83jakbb7nfhq5wed3x1pz7v','telegram','100','999','','dm','telegram-999',1,1,1,3,1,'','','',0,'','',0,'',0.0,1.79541621489584898949e+09);
INSERT INTO "conversation" VALUES('01m83jakc9m8ectmq56cqztvq0','web','console','picture','','dm','',1,3,2,3,1,'','','',0,'ea20ea239f437c382bf68dc84828721e9c531c5df3a650114017428530741bd1','SOUL.md, tools or model',1,'«p1» what do you make of it? 📎 dot.png',1.79541621492120218278e+09,1.79541621502046847341e+09);
INSERT INTO "conversation" VALUES('01m83jakmay8bycbawc35ttmcw','web','console','late','','dm','',1,7,4,7,1,'','','',0,'ea20ea239f437c382bf68dc84828721e9c531c5df3a650114017428530741bd1','SOUL.md, tools or model',1,'«l0» what do you make of it?',1.79541621547544932371e+09,1.79541621548968601223e+09);
INSERT INTO "conversation" VALUES('01m83jakvxnjdyv3mvgjm7tshw','web','console','tool','','dm','',1,3,2,3,1,'','','',0,'ea20ea239f437c382bf68dc84828721e9c531c5df3a650114017428530741bd1','SOUL.md, tools or model',1,'«x1» use write_file {"path": "notes/x.md", "content": "x"}',1.79541621547074770927e+09,1.79541621547074770927e+09);
CREATE TABLE coverage (
	message_id TEXT NOT NULL, 
	class TEXT NOT NULL, 
	fold_id TEXT NOT NULL, 
	PRIMARY KEY (message_id)
);
INSERT INTO "coverage" VALUES('01m83jahvtwq0wk8n8233h0x46','folded','01m83jajn6spy7qpt1ctr7zvjs');
INSERT INTO "coverage" VALUES('01m83jajf0zgxc13qek7xfwbt8','folded','01m83jajn6spy7qpt1ctr7zvjs');
INSERT INTO "coverage" VALUES('01m83jajg1868vdt0rkh4q4xpb','folded','01m83jajn6spy7qpt1ctr7zvjs');
INSERT INTO "coverage" VALUES('01m83jajgsb8g2heh2aej1mv9a','folded','01m83jajn6spy7qpt1ctr7zvjs');
INSERT INTO "coverage" VALUES('01m83jajhe4ez7g4mn1475r5wp','folded','01m83jajvm9g3v8htnjw6rc5nf');
INSERT INTO "coverage" VALUES('01m83jajhwrbf5jjc1r844vh8k','folded','01m83jajvm9g3v8htnjw6rc5nf');
INSERT INTO "coverage" VALUES('01m83jajje673rbsp69z6jpqda','folded','01m83jajvm9g3v8htnjw6rc5nf');
INSERT INTO "coverage" VALUES('01m83jajk77rjz4rbe0295c9d2','folded','01m83jajvm9g3v8htnjw6rc5nf');
INSERT INTO "coverage" VALUES('01m83jajkkz0nrx2ccstenrmzw','folded','01m83jajvm9g3v8htnjw6rc5nf');
INSERT INTO "coverage" VALUES('01m83jajmdnmwn2dtgc72d4yh9','folded','01m83jajvm9g3v8htnjw6rc5nf');
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
INSERT INTO "extraction" VALUES('01m83jahwv4p2jnp2f69s8yfkh','','01m83jahvtzbzxzskv4n8k5z15',1,'done',2,'','kept 1',1.79541621398488616947e+09);
INSERT INTO "extraction" VALUES('01m83jajg5vqx4wvbnvz2p125h','','01m83jahvtzbzxzskv4n8k5z15',2,'done',2,'','kept 1',1.79541621404110693935e+09);
INSERT INTO "extraction" VALUES('01m83jajhhdzaewaybd1bw4frf','','01m83jahvtzbzxzskv4n8k5z15',3,'done',2,'','kept 1',1.79541621407694530483e+09);
INSERT INTO "extraction" VALUES('01m83jajjk3hz8agmkqs177x1p','','01m83jahvtzbzxzskv4n8k5z15',4,'done',2,'','kept 1',1.79541621411903715133e+09);
INSERT INTO "extraction" VALUES('01m83jajkz1yg33n1ktp93mk75','','01m83jahvtzbzxzskv4n8k5z15',5,'done',2,'','kept 1',1.79541621415735840796e+09);
INSERT INTO "extraction" VALUES('01m83jajpvrjcedsfggx25vswm','','01m83jahvtzbzxzskv4n8k5z15',6,'done',2,'','kept 0',1.79541621427188873285e+09);
INSERT INTO "extraction" VALUES('01m83jajrnvw8f192yd2a18krf','','01m83jahvtzbzxzskv4n8k5z15',7,'done',2,'','kept 0',1.79541621430406212801e+09);
INSERT INTO "extraction" VALUES('01m83jajsmyccvqyypkm2znmn6','','01m83jahvtzbzxzskv4n8k5z15',8,'done',2,'','kept 0',1.79541621433555364604e+09);
INSERT INTO "extraction" VALUES('01m83jajtmb9rffcpt4j0x28s0','','01m83jahvtzbzxzskv4n8k5z15',9,'done',2,'','kept 0',1.79541621436515021325e+09);
INSERT INTO "extraction" VALUES('01m83jajxg8p9d92hmjwjyf0x7','','01m83jajxcbes5z71yg2f970h0',1,'done',2,'','kept 0',1.79541621446281933786e+09);
INSERT INTO "extraction" VALUES('01m83jajygvkpj0e6ackb6d7e7','','01m83jajxcbes5z71yg2f970h0',2,'done',2,'','kept 0',1.79541621449021315576e+09);
INSERT INTO "extraction" VALUES('01m83jajzembgtrxz08pbzv2g5','','01m83jajxcbes5z71yg2f970h0',3,'done',2,'','kept 0',1.79541621452435207371e+09);
INSERT INTO "extraction" VALUES('01m83jak2en3ygmwt6kde95676','','01m83jak29k1st1phx3nczpmg7',1,'done',2,'','kept 0',1.79541621462150239943e+09);
INSERT INTO "extraction" VALUES('01m83jak3p8saez5wrgtg6actw','','01m83jak29k1st1phx3nczpmg7',2,'done',2,'','kept 0',1.79541621465667343145e+09);
INSERT INTO "extraction" VALUES('01m83jak5qk3d0mycb405tfdqn','','01m83jak29k1st1phx3nczpmg7',3,'done',2,'','kept 0',1.79541621472349739079e+09);
INSERT INTO "extraction" VALUES('01m83jak6mh3q7fa1xve9nxpjd','','01m83jak6ggrd1jawjqk6daeyj',1,'done',2,'','kept 0',1.79541621475391554836e+09);
INSERT INTO "extraction" VALUES('01m83jak8h9mkzxby4jk6v63qa','','01m83jak6ggrd1jawjqk6daeyj',2,'done',2,'','kept 0',1.7954162148138477802e+09);
INSERT INTO "extraction" VALUES('01m83jak9hapaxcemdf3z4nxz5','','01m83jak9cdces4mkkch577epj',1,'done',2,'','kept 0',1.79541621485100364686e+09);
INSERT INTO "extraction" VALUES('01m83jakasagg6fzhvm9w74ehs','','01m83jak9cdces4mkkch577epj',2,'done',2,'','kept 0',1.79541621488244271275e+09);
INSERT INTO "extraction" VALUES('01m83jakf1sdqn0egxvj7jsg8s','','01m83jakc9m8ectmq56cqztvq0',1,'done',2,'','kept 0',1.79541621502046847341e+09);
INSERT INTO "extraction" VALUES('01m83jakp7ezyfj0fhk2306e6z','','01m83jakmay8bycbawc35ttmcw',1,'done',2,'','kept 0',1.79541621532894039156e+09);
INSERT INTO "extraction" VALUES('01m83jakt5by0b4e4qz854gx2y','','01m83jakmay8bycbawc35ttmcw',2,'done',2,'','kept 0',1.79541621537964439393e+09);
INSERT INTO "extraction" VALUES('01m83jakxq658freydehvxj11y','','01m83jakmay8bycbawc35ttmcw',3,'done',2,'','kept 0',1.79541621548968601223e+09);
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
INSERT INTO "fold" VALUES('01m83jajn6spy7qpt1ctr7zvjs','01m83jahvtzbzxzskv4n8k5z15','','web',1,'',1,4,1,2,2,'folded','model','balanced','/context fold','- «g0» the roses want water; I prefer tea. 花园要浇水
- «g1» the roses want water; I prefer tea. 花园要浇水','- «g0» the roses want water; I prefer tea. 花园要浇水
- «g1» the roses want water; I prefer tea. 花园要浇水',41,'b053e564aebfed31e4ec69fa283d6e018959370e7ed3cb053723f865306b14df','memory/2026-11-23.md',190,155,0,1.79541621418292522433e+09,1,'',11,0);
INSERT INTO "fold" VALUES('01m83jajvm9g3v8htnjw6rc5nf','01m83jahvtzbzxzskv4n8k5z15','','web',1,'01m83jajn6spy7qpt1ctr7zvjs',5,10,3,5,5,'folded','model','balanced','/context fold','- «g2» the roses want water; I prefer tea. 花园要浇水
- «g3» the roses want water; I prefer tea. 花园要浇水
- «g4» the roses want water; I prefer tea. 花园要浇水
- 06:43 Bot: re «g1»','- «g2» the roses want water; I prefer tea. 花园要浇水
- «g3» the roses want water; I prefer tea. 花园要浇水
- «g4» the roses want water; I prefer tea. 花园要浇水',62,'f44608fca12a16f02b5e5810ba4953504ec556b1883f88659064842cd210856d','memory/2026-11-23.md',361,268,0,1.79541621438823509218e+09,1,'',21,0);
INSERT INTO "fold" VALUES('01m83jak0gv5x71xwcr80hpqwp','01m83jajxcbes5z71yg2f970h0','','web',1,'',1,2,1,1,1,'undone','model','balanced','/context fold','- «w0» what do you make of it?','- «w0» what do you make of it?',12,'35b624d63cbdc569ddbd24b4b1a88ce7be00a1be37c78e95f10709f0297157e8','memory/2026-11-23.md',90,72,0,1.7954162145448884964e+09,1,'',7,0);
INSERT INTO "fold" VALUES('01m83jak7jwj67c226jfjwbtc5','01m83jak6ggrd1jawjqk6daeyj','','web',1,'',1,2,1,1,1,'folded','model','balanced','/new','- «n0» what do you make of it?','',0,'55d165a47780a38925ffd088a51169772a550701d8f84702f34a65240c7dd0f2','memory/2026-11-23.md',30,0,1,1.79541621477068519588e+09,1,'',3,0);
INSERT INTO "fold" VALUES('01m83jakv9jacpefbbztfy76zy','01m83jajxcbes5z71yg2f970h0','','web',1,'',1,2,1,1,1,'checked','model','balanced','/context fold','- «w0» what do you make of it?','- «w0» what do you make of it?',12,'35b624d63cbdc569ddbd24b4b1a88ce7be00a1be37c78e95f10709f0297157e8','',90,60,0,1.79541621540121102331e+09,2,'',7,0);
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
INSERT INTO "inbox" VALUES('01m83jahvtwq0wk8n8233h0x46','01m83jahvtzbzxzskv4n8k5z15','web','console','gardenfa709efbfbd1457f9555c7bf5439cb38','message','owner','{"text": "«g0» the roses want water; I prefer tea. 花园要浇水"}','','done','',0,'01m83jahwv4p2jnp2f69s8yfkh','01m83jahvt0xr0vrh1k7h3p6xd',1,0,0.0,1.79541621337045216554e+09,1,'');
INSERT INTO "inbox" VALUES('01m83jajg1868vdt0rkh4q4xpb','01m83jahvtzbzxzskv4n8k5z15','web','console','garden7f0ac9bdf97d417a819869c467513268','message','owner','{"text": "«g1» the roses want water; I prefer tea. 花园要浇水"}','','done','',0,'01m83jajg5vqx4wvbnvz2p125h','01m83jajg1epwnm2j7zq528rmm',3,0,0.0,1.79541621401718139647e+09,1,'');
INSERT INTO "inbox" VALUES('01m83jajhe4ez7g4mn1475r5wp','01m83jahvtzbzxzskv4n8k5z15','web','console','garden905433c4e7224ecbb2632d2689a6a44e','message','owner','{"text": "«g2» the roses want water; I prefer tea. 花园要浇水"}','','done','',0,'01m83jajhhdzaewaybd1bw4frf','01m83jajhe8mgx7pgm2ynq2s3v',5,0,0.0,1.79541621406281518935e+09,1,'');
INSERT INTO "inbox" VALUES('01m83jajje673rbsp69z6jpqda','01m83jahvtzbzxzskv4n8k5z15','web','console','gardenfb9499fdb0f14c88aff49775b73ab379','message','owner','{"text": "«g3» the roses want water; I prefer tea. 花园要浇水"}','','done','',0,'01m83jajjk3hz8agmkqs177x1p','01m83jajjed9cyxv4vq7x7q2zj',7,0,0.0,1.79541621409447336196e+09,1,'');
INSERT INTO "inbox" VALUES('01m83jajkkz0nrx2ccstenrmzw','01m83jahvtzbzxzskv4n8k5z15','web','console','garden4d12b28ed0194b3780c8ad4919bea931','message','owner','{"text": "«g4» the roses want water; I prefer tea. 花园要浇水"}','','done','',0,'01m83jajkz1yg33n1ktp93mk75','01m83jajkk7yhrwh5f63j9n1zz',9,0,0.0,1.79541621413149976734e+09,1,'');
INSERT INTO "inbox" VALUES('01m83jajmxn618rc39wp72zaw5','01m83jahvtzbzxzskv4n8k5z15','web','console','garden26ea7879e6df4228991ced14ab5bbc17','command','owner','{"text": "/context fold"}','','done','',1,'','01m83jajmxy1p5dpnnda0a9qje',11,0,0.0,1.79541621417306137089e+09,0,'');
INSERT INTO "inbox" VALUES('01m83jajpq4a7yyfra3t8fp7ke','01m83jahvtzbzxzskv4n8k5z15','web','console','garden519c25a8ae784133b1cdaa5a920038ce','message','owner','{"text": "«g5» use write_file {\"path\": \"notes/roses.md\", \"content\": \"water on Mondays\"}"}','','done','',0,'01m83jajpvrjcedsfggx25vswm','01m83jajpqvmwwvdf9d9k35tc4',13,0,0.0,1.79541621423148941997e+09,1,'');
INSERT INTO "inbox" VALUES('01m83jajrhgwk1fqxhht7408p4','01m83jahvtzbzxzskv4n8k5z15','web','console','gardenfcf77ed7d9da4fa1a2e1f1e9cabd1707','message','owner','{"text": "«g6» what do you make of it?"}','','done','',0,'01m83jajrnvw8f192yd2a18krf','01m83jajrhjga9enxpwpdr4gde',15,0,0.0,1.79541621428984570505e+09,1,'');
INSERT INTO "inbox" VALUES('01m83jajshn5c60k3q5a9agvvr','01m83jahvtzbzxzskv4n8k5z15','web','console','garden0c145947a1e245e6930270e31980a260','message','owner','{"text": "«g7» what do you make of it?"}','','done','',0,'01m83jajsmyccvqyypkm2znmn6','01m83jajshwdmsh6pfamjmy6vx',17,0,0.0,1.79541621432114720342e+09,1,'');
INSERT INTO "inbox" VALUES('01m83jajtgkzp5bts1wazda004','01m83jahvtzbzxzskv4n8k5z15','web','console','gardenc10ee37ff2a94807b62abd610f700c04','message','owner','{"text": "«g8» what do you make of it?"}','','done','',0,'01m83jajtmb9rffcpt4j0x28s0','01m83jajtg5swkgpg6a2swdcd9',19,0,0.0,1.79541621435216879843e+09,1,'');
INSERT INTO "inbox" VALUES('01m83jajveth4abf9tgg8tcamg','01m83jahvtzbzxzskv4n8k5z15','web','console','garden5db11f189763464f967486bc66b98997','command','owner','{"text": "/context fold"}','','done','',1,'','01m83jajve65vzqcta3nqjkvzt',21,0,0.0,1.79541621438274693481e+09,0,'');
INSERT INTO "inbox" VALUES('01m83jajwd3cjyzmmgyhcemh49','01m83jahvtzbzxzskv4n8k5z15','web','console','gardend55dea8b1add4fd7b7b65f765e7123a6','command','owner','{"text": "/remember The gate code is 4711"}','','done','',1,'','01m83jajwd1z040j6v759axc01',23,0,0.0,1.79541621441387796399e+09,0,'');
INSERT INTO "inbox" VALUES('01m83jajxc6s6zdkt53qfjc6ka','01m83jajxcbes5z71yg2f970h0','web','console','work76cd4adf86d947f7a689bb655e9eade0','message','owner','{"text": "«w0» what do you make of it?"}','','done','',0,'01m83jajxg8p9d92hmjwjyf0x7','01m83jajxcx3mzmzydvb9qgqbj',1,0,0.0,1.7954162144447319508e+09,1,'');
INSERT INTO "inbox" VALUES('01m83jajyck0tygcqqjkdywmht','01m83jajxcbes5z71yg2f970h0','web','console','work400b570d002d46ac9c782c3aaad427d9','message','owner','{"text": "«w1» what do you make of it?"}','','done','',0,'01m83jajygvkpj0e6ackb6d7e7','01m83jajycxcm10w5wh8q1p6pz',3,0,0.0,1.79541621447603917116e+09,1,'');
INSERT INTO "inbox" VALUES('01m83jajzac010ke1f302bwt9y','01m83jajxcbes5z71yg2f970h0','web','console','work624fca58af3b4d268d92048cdd474920','message','owner','{"text": "«w2» what do you make of it?"}','','done','',0,'01m83jajzembgtrxz08pbzv2g5','01m83jajzang55zx04shnf3car',5,0,0.0,1.79541621450653290752e+09,1,'');
INSERT INTO "inbox" VALUES('01m83jak0bfvpq4bjw64bshm6r','01m83jajxcbes5z71yg2f970h0','web','console','workdcdb37622dba453fbade8ffb1e7b25c2','command','owner','{"text": "/context fold"}','','done','',1,'','01m83jak0bq3zpnmgqh2zjdccx',7,0,0.0,1.79541621453976297378e+09,0,'');
INSERT INTO "inbox" VALUES('01m83jak19wv8f7p4ebt0qfqr9','01m83jajxcbes5z71yg2f970h0','web','console','work667df9b225c343319fd9d9cda021cd2d','command','owner','{"text": "/context undo"}','','done','',1,'','01m83jak192s01bnwawt1ne4z7',9,0,0.0,1.79541621456939125061e+09,0,'');
INSERT INTO "inbox" VALUES('01m83jak291fh78kpy0aw08fd9','01m83jak29k1st1phx3nczpmg7','web','console','old1ac4ebdfe1cb44f993d8da13f5f93104','message','owner','{"text": "«o0» what do you make of it?"}','','done','',0,'01m83jak2en3ygmwt6kde95676','01m83jak292bc8d0x5qsnexvqa',1,0,0.0,1.79541621460161709782e+09,1,'');
INSERT INTO "inbox" VALUES('01m83jak3g0jgxx58wt6eg7x49','01m83jak29k1st1phx3nczpmg7','web','console','old7265832f57ce404c9c72b94bc41dad1a','message','owner','{"text": "«o1» what do you make of it?"}','','done','',0,'01m83jak3p8saez5wrgtg6actw','01m83jak3g7aszagjqcr9mydxw',3,0,0.0,1.7954162146402089596e+09,1,'');
INSERT INTO "inbox" VALUES('01m83jak4hwcb75q8ry248sgks','01m83jak29k1st1phx3nczpmg7','web','console','old837700db97914a5a8ad07239a02a6704','command','owner','{"text": "/context clear"}','','done','',1,'','01m83jak4hd74byv85a1ycx2t9',5,0,0.0,1.79541621467353725428e+09,0,'');
INSERT INTO "inbox" VALUES('01m83jak5gdntr61e50k82h2c0','01m83jak29k1st1phx3nczpmg7','web','console','oldfb0e19f23574441c974accee55f78256','message','owner','{"text": "«o2» what do you make of it?"}','','done','',0,'01m83jak5qk3d0mycb405tfdqn','01m83jak5gccjapvqmhhkfw5wz',7,0,0.0,1.79541621470477104184e+09,1,'');
INSERT INTO "inbox" VALUES('01m83jak6gf75bh84e9tt4836e','01m83jak6ggrd1jawjqk6daeyj','web','console','new23351e8a92bd42dc91d430d3638f3f7a','message','owner','{"text": "«n0» what do you make of it?"}','','done','',0,'01m83jak6mh3q7fa1xve9nxpjd','01m83jak6gn7ehegp1nagvcg0c',1,0,0.0,1.79541621473688530917e+09,1,'');
INSERT INTO "inbox" VALUES('01m83jak7emrb7zbqjrwsxpxj6','01m83jak6ggrd1jawjqk6daeyj','web','console','new78b6f0a9bb9c447eaae1f9455ff93f34','command','owner','{"text": "/new"}','','done','',1,'','01m83jak7et66gf6tft07yh4wb',3,0,0.0,1.79541621476669716831e+09,0,'');
INSERT INTO "inbox" VALUES('01m83jak8ddmyt32k09mz6vxrm','01m83jak6ggrd1jawjqk6daeyj','web','console','new9bea8741bd8f45bbaf80dfb37c1ac31e','message','owner','{"text": "«n1» what do you make of it?"}','','done','',0,'01m83jak8h9mkzxby4jk6v63qa','01m83jak8dj2yvgrs9wvjdw46k',5,0,0.0,1.79541621479729342466e+09,1,'');
INSERT INTO "inbox" VALUES('01m83jak9c8kp8yskg0ezjdd3e','01m83jak9cdces4mkkch577epj','telegram','100','m:5005:1:0','message','5005','{"text": "«t0» what do you make of it?", "name": "Ада"}','00000000000000700100','done','',0,'01m83jak9hapaxcemdf3z4nxz5','01m83jak9c62hjj3jez5nc46qy',1,0,0.0,1.79541621482805895809e+09,1,'');
INSERT INTO "inbox" VALUES('01m83jakamz3mnwwwy4yhx7nn2','01m83jak9cdces4mkkch577epj','telegram','100','m:5005:3:0','message','5005','{"text": "«t1» what do you make of it?", "name": "Ада"}','00000000000000700101','done','',0,'01m83jakasagg6fzhvm9w74ehs','01m83jakamt3hv4w49pkbfv3qp',3,0,0.0,1.79541621486879205706e+09,1,'');
INSERT INTO "inbox" VALUES('01m83jakbbegdkjtca4j4nnsrw','01m83jakbb7nfhq5wed3x1pz7v','telegram','100','m:999:1:0','message','999','','00000000000000700102','ignored','stranger',0,'','01m83jakbb87k5pq9p2ds955kq',1,0,0.0,1.79541621489149689668e+09,0,'');
INSERT INTO "inbox" VALUES('01m83jakc943n7ytgwzz3psjt8','01m83jakc9m8ectmq56cqztvq0','web','console','picturep1','message','owner','{"text": "«p1» what do you make of it?", "shown": "«p1» what do you make of it?\n📎 dot.png", "files": [["7899d6ced52159786ff083934df42788da01a30b7ed9bb7756d7f3f5a94ef685", "dot.png", "image/png", 68, ""]]}','','done','',0,'01m83jakf1sdqn0egxvj7jsg8s','01m83jakc934na87qc6gqxnc4d',1,0,0.0,1.79541621492120218278e+09,1,'');
INSERT INTO "inbox" VALUES('01m83jakmaht66z8ytdmx0rrj4','01m83jakmay8bycbawc35ttmcw','web','console','late32fb0fc6ef364ca4b35f3ed0fe5187b5','message','owner','{"text": "«l0» what do you make of it?"}','','done','',0,'01m83jakp7ezyfj0fhk2306e6z','01m83jakmapk9b9bf21za4pwys',1,0,0.0,1.79541621517884898186e+09,2,'');
INSERT INTO "inbox" VALUES('01m83jakt0xqnsg0dxs1cf1qy0','01m83jakmay8bycbawc35ttmcw','web','console','late8f64764d7ad94f13b0d5e58033c3c15a','message','owner','{"text": "«l1» what do you make of it?"}','','done','',0,'01m83jakt5by0b4e4qz854gx2y','01m83jakt0en1hh6fk0zxkcm0j',3,0,0.0,1.79541621536077713964e+09,2,'');
INSERT INTO "inbox" VALUES('01m83jakv3seszvg8x04c9et9a','01m83jajxcbes5z71yg2f970h0','web','console','work973b53b520a540498947e64530bf8b6e','command','owner','{"text": "/context fold"}','','new','',1,'','01m83jakv3nbgca18c0nr0ea1x',11,0,0.0,1.79541621539532279968e+09,0,'');
INSERT INTO "inbox" VALUES('01m83jakvxfx2ezmxqydr5jz0p','01m83jakvxnjdyv3mvgjm7tshw','web','console','toolea4972a8e2f6404280c6c07033ce327d','message','owner','{"text": "«x1» use write_file {\"path\": \"notes/x.md\", \"content\": \"x\"}"}','','running','',0,'01m83jakw19z8hbhspw5k4vr86','01m83jakvxs7nyzxdct9rs1a9q',1,0,0.0,1.79541621542129039767e+09,2,'');
INSERT INTO "inbox" VALUES('01m83jakxee5zn3pqxze76yeh3','01m83jakvxnjdyv3mvgjm7tshw','web','console','tool30b658653ecd4863bc82115baecf0e84','message','owner','{"text": "«x2» and after that?"}','','new','',0,'','01m83jakxeh29j64ezsf7nd803',2,0,0.0,1.79541621547074770927e+09,0,'');
INSERT INTO "inbox" VALUES('01m83jakxkvc1wx0vvj4w9m0gb','01m83jakmay8bycbawc35ttmcw','web','console','late45fceb3ec2b04f4ead669f1b77cff20d','message','owner','{"text": "«l2» what do you make of it?"}','','done','',0,'01m83jakxq658freydehvxj11y','01m83jakxk8cdv915g1zkd08jr',5,0,0.0,1.79541621547544932371e+09,2,'');
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
INSERT INTO "memory" VALUES('01m83jajg7mvxpebmh2hwfshf7','','g0 the roses want water i prefer tea','user_preference','«g0» the roses want water; I prefer tea',6,'live','extraction','01m83jahvtzbzxzskv4n8k5z15','01m83jahvtwq0wk8n8233h0x46','web','«g0» the roses want water; I prefer tea',1.79541621340339398391e+09,1.79541621402362656595e+09,1.79541621402362656595e+09,1.79541621414975857739e+09,4,'',0.0);
INSERT INTO "memory" VALUES('01m83jajh700xcc02t4mgg5v8r','','g1 the roses want water i prefer tea','user_preference','«g1» the roses want water; I prefer tea',6,'live','extraction','01m83jahvtzbzxzskv4n8k5z15','01m83jajg1868vdt0rkh4q4xpb','web','«g1» the roses want water; I prefer tea',1.79541621402197289466e+09,1.79541621405573606495e+09,1.79541621405573606495e+09,1.79541621414975857739e+09,3,'',0.0);
INSERT INTO "memory" VALUES('01m83jajjtpsxkztvshcwf3a77','','g2 the roses want water i prefer tea','user_preference','«g2» the roses want water; I prefer tea',6,'live','extraction','01m83jahvtzbzxzskv4n8k5z15','01m83jajhe4ez7g4mn1475r5wp','web','«g2» the roses want water; I prefer tea',1.79541621406508898738e+09,1.79541621410685300831e+09,1.79541621410685300831e+09,1.79541621414975857739e+09,2,'',0.0);
INSERT INTO "memory" VALUES('01m83jajmfy1rd7hch0w42tka7','','g3 the roses want water i prefer tea','user_preference','«g3» the roses want water; I prefer tea',6,'live','extraction','01m83jahvtzbzxzskv4n8k5z15','01m83jajje673rbsp69z6jpqda','web','«g3» the roses want water; I prefer tea',1795416214.09943,1.79541621415905094149e+09,1.79541621415905094149e+09,0.0,0,'',0.0);
INSERT INTO "memory" VALUES('01m83jajnmqs33j6qtqqh5td6f','','g4 the roses want water i prefer tea','user_preference','«g4» the roses want water; I prefer tea',6,'live','extraction','01m83jahvtzbzxzskv4n8k5z15','01m83jajkkz0nrx2ccstenrmzw','web','«g4» the roses want water; I prefer tea',1.79541621414303207392e+09,1.79541621419600725176e+09,1.79541621419600725176e+09,0.0,0,'',0.0);
INSERT INTO "memory" VALUES('01m83jajwptxy1qkz2pj6henve','','the gate code is 4711','fact','The gate code is 4711',8,'live','person','01m83jahvtzbzxzskv4n8k5z15','01m83jajwd3cjyzmmgyhcemh49','web','/remember The gate code is 4711',1.79541621441387796399e+09,1795416214.42268,1795416214.42268,0.0,0,'',0.0);
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
INSERT INTO "memory_change" VALUES('01m83jajg7rsbg5v9z41sct9kt','','MEMORY.md','extract','73a75d57d3bce6e6194e9c3ce650a5f836e26e5cb0efe6db3dc5961d8f1a641c','8fa62e7329481e1698ca5d5ead245d8a8150a2481080470e31a5c996bfc39e73','["«g0» the roses want water; I prefer tea"]','[]','','01m83jahvtwq0wk8n8233h0x46',0,1.79541621402362656595e+09);
INSERT INTO "memory_change" VALUES('01m83jajh7b63gdxrh5nyb6fx2','','MEMORY.md','extract','8fa62e7329481e1698ca5d5ead245d8a8150a2481080470e31a5c996bfc39e73','b697e1ec796c8b7a56aee1e54abfb63a2ae6902e9d568e8698d692478b01da2a','["«g1» the roses want water; I prefer tea"]','[]','','01m83jajg1868vdt0rkh4q4xpb',0,1.79541621405573606495e+09);
INSERT INTO "memory_change" VALUES('01m83jajjtcfkkf39gzyfrdygg','','MEMORY.md','extract','b697e1ec796c8b7a56aee1e54abfb63a2ae6902e9d568e8698d692478b01da2a','d66d54edc1ba1ad747e44ff5f7b746c2de77f6d29b15f843cfeec437cb29488e','["«g2» the roses want water; I prefer tea"]','[]','','01m83jajhe4ez7g4mn1475r5wp',0,1.79541621410685300831e+09);
INSERT INTO "memory_change" VALUES('01m83jajmf4pqv4e0vtnfrma6f','','MEMORY.md','extract','d66d54edc1ba1ad747e44ff5f7b746c2de77f6d29b15f843cfeec437cb29488e','05389b6f2523f0ca1bf3b1bcf6669df83790eb0bc8d35b2513af8d13cbe611a6','["«g3» the roses want water; I prefer tea"]','[]','','01m83jajje673rbsp69z6jpqda',0,1.79541621415905094149e+09);
INSERT INTO "memory_change" VALUES('01m83jajnmx5p52345kap6kekq','','MEMORY.md','extract','05389b6f2523f0ca1bf3b1bcf6669df83790eb0bc8d35b2513af8d13cbe611a6','fca268e68f52be9bc55318d05b4bd3b9775fc3379b421173ea5ad3b153edc64b','["«g4» the roses want water; I prefer tea"]','[]','','01m83jajkkz0nrx2ccstenrmzw',0,1.79541621419600725176e+09);
INSERT INTO "memory_change" VALUES('01m83jajwps2hk2nsbnt04j4n9','','MEMORY.md','remember','fca268e68f52be9bc55318d05b4bd3b9775fc3379b421173ea5ad3b153edc64b','eb8aa8fcc1d7d571749e2b52e51289200c0e8b65ab35fdf6926b994a9f641941','["The gate code is 4711"]','[]','','01m83jajwd3cjyzmmgyhcemh49',0,1795416214.42268);
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
INSERT INTO "message" VALUES('01m83jahvtwq0wk8n8233h0x46','01m83jahvtzbzxzskv4n8k5z15',1,1,1,'01m83jahwv4p2jnp2f69s8yfkh','user','[{"kind":"Text","text":"«g0» the roses want water; I prefer tea. 花园要浇水"}]','person','',1,26,'tiktoken',1.79541621340339374547e+09);
INSERT INTO "message" VALUES('01m83jajf0zgxc13qek7xfwbt8','01m83jahvtzbzxzskv4n8k5z15',1,2,1,'01m83jahwv4p2jnp2f69s8yfkh','assistant','[{"kind":"Text","text":"re «g0»"}]','model','',1,12,'tiktoken',1.79541621398488616947e+09);
INSERT INTO "message" VALUES('01m83jajg1868vdt0rkh4q4xpb','01m83jahvtzbzxzskv4n8k5z15',1,3,2,'01m83jajg5vqx4wvbnvz2p125h','user','[{"kind":"Text","text":"«g1» the roses want water; I prefer tea. 花园要浇水"}]','person','',1,26,'tiktoken',1.79541621402197313305e+09);
INSERT INTO "message" VALUES('01m83jajgsb8g2heh2aej1mv9a','01m83jahvtzbzxzskv4n8k5z15',1,4,2,'01m83jajg5vqx4wvbnvz2p125h','assistant','[{"kind":"Text","text":"re «g1»"}]','model','',1,12,'tiktoken',1.79541621404110693935e+09);
INSERT INTO "message" VALUES('01m83jajhe4ez7g4mn1475r5wp','01m83jahvtzbzxzskv4n8k5z15',1,5,3,'01m83jajhhdzaewaybd1bw4frf','user','[{"kind":"Text","text":"«g2» the roses want water; I prefer tea. 花园要浇水"}]','person','',1,26,'tiktoken',1.79541621406508946417e+09);
INSERT INTO "message" VALUES('01m83jajhwrbf5jjc1r844vh8k','01m83jahvtzbzxzskv4n8k5z15',1,6,3,'01m83jajhhdzaewaybd1bw4frf','assistant','[{"kind":"Text","text":"re «g1»"}]','model','',1,12,'tiktoken',1.79541621407694530483e+09);
INSERT INTO "message" VALUES('01m83jajje673rbsp69z6jpqda','01m83jahvtzbzxzskv4n8k5z15',1,7,4,'01m83jajjk3hz8agmkqs177x1p','user','[{"kind":"Text","text":"«g3» the roses want water; I prefer tea. 花园要浇水"}]','person','',1,26,'tiktoken',1.79541621409942984575e+09);
INSERT INTO "message" VALUES('01m83jajk77rjz4rbe0295c9d2','01m83jahvtzbzxzskv4n8k5z15',1,8,4,'01m83jajjk3hz8agmkqs177x1p','assistant','[{"kind":"Text","text":"re «g2»"}]','model','',1,12,'tiktoken',1.79541621411903715133e+09);
INSERT INTO "message" VALUES('01m83jajkkz0nrx2ccstenrmzw','01m83jahvtzbzxzskv4n8k5z15',1,9,5,'01m83jajkz1yg33n1ktp93mk75','user','[{"kind":"Text","text":"«g4» the roses want water; I prefer tea. 花园要浇水"}]','person','',1,26,'tiktoken',1.79541621414303231244e+09);
INSERT INTO "message" VALUES('01m83jajmdnmwn2dtgc72d4yh9','01m83jahvtzbzxzskv4n8k5z15',1,10,5,'01m83jajkz1yg33n1ktp93mk75','assistant','[{"kind":"Text","text":"re «g2»"}]','model','',1,12,'tiktoken',1.79541621415735840796e+09);
INSERT INTO "message" VALUES('01m83jajpq4a7yyfra3t8fp7ke','01m83jahvtzbzxzskv4n8k5z15',1,11,6,'01m83jajpvrjcedsfggx25vswm','user','[{"kind":"Text","text":"«g5» use write_file {\"path\": \"notes/roses.md\", \"content\": \"water on Mondays\"}"}]','person','',1,32,'tiktoken',1.79541621423510599133e+09);
INSERT INTO "message" VALUES('01m83jajqcxat2j8m22mkc1mt1','01m83jahvtzbzxzskv4n8k5z15',1,12,6,'01m83jajpvrjcedsfggx25vswm','assistant','[{"kind":"Text","text":"I look."},{"kind":"ToolCall","id":"call_g5","name":"write_file","input":"{\"path\": \"notes/roses.md\", \"content\": \"water on Mondays\"}"}]','model','',1,40,'tiktoken',1.79541621425220227241e+09);
INSERT INTO "message" VALUES('01m83jajqpjeeqkctjsy7ds4rp','01m83jahvtzbzxzskv4n8k5z15',1,13,6,'01m83jajpvrjcedsfggx25vswm','user','[{"kind":"ToolResult","call_id":"call_g5","text":"notes/roses.md now holds 16 bytes, version 29eb6a143968.","is_error":false}]','tool','',0,32,'tiktoken',1.79541621426255488397e+09);
INSERT INTO "message" VALUES('01m83jajqzcbrzdrtac7w0d60h','01m83jahvtzbzxzskv4n8k5z15',1,14,6,'01m83jajpvrjcedsfggx25vswm','assistant','[{"kind":"Text","text":"re «g5»"}]','model','',1,12,'tiktoken',1.79541621427188873285e+09);
INSERT INTO "message" VALUES('01m83jajrhgwk1fqxhht7408p4','01m83jahvtzbzxzskv4n8k5z15',1,15,7,'01m83jajrnvw8f192yd2a18krf','user','[{"kind":"Text","text":"«g6» what do you make of it?"}]','person','',1,18,'tiktoken',1.79541621429387307168e+09);
INSERT INTO "message" VALUES('01m83jajs0m6te4nsv6h4qqrzc','01m83jahvtzbzxzskv4n8k5z15',1,16,7,'01m83jajrnvw8f192yd2a18krf','assistant','[{"kind":"Text","text":"re «g6»"}]','model','',1,12,'tiktoken',1.79541621430406212801e+09);
INSERT INTO "message" VALUES('01m83jajshn5c60k3q5a9agvvr','01m83jahvtzbzxzskv4n8k5z15',1,17,8,'01m83jajsmyccvqyypkm2znmn6','user','[{"kind":"Text","text":"«g7» what do you make of it?"}]','person','',1,18,'tiktoken',1.79541621432478356364e+09);
INSERT INTO "message" VALUES('01m83jajszs3qqfkqy74afe8pw','01m83jahvtzbzxzskv4n8k5z15',1,18,8,'01m83jajsmyccvqyypkm2znmn6','assistant','[{"kind":"Text","text":"re «g7»"}]','model','',1,12,'tiktoken',1.79541621433555364604e+09);
INSERT INTO "message" VALUES('01m83jajtgkzp5bts1wazda004','01m83jahvtzbzxzskv4n8k5z15',1,19,9,'01m83jajtmb9rffcpt4j0x28s0','user','[{"kind":"Text","text":"«g8» what do you make of it?"}]','person','',1,18,'tiktoken',1.79541621435626411436e+09);
INSERT INTO "message" VALUES('01m83jajtxm93k5y1myrd8wzjb','01m83jahvtzbzxzskv4n8k5z15',1,20,9,'01m83jajtmb9rffcpt4j0x28s0','assistant','[{"kind":"Text","text":"re «g8»"}]','model','',1,12,'tiktoken',1.79541621436515021325e+09);
INSERT INTO "message" VALUES('01m83jajxc6s6zdkt53qfjc6ka','01m83jajxcbes5z71yg2f970h0',1,1,1,'01m83jajxg8p9d92hmjwjyf0x7','user','[{"kind":"Text","text":"«w0» what do you make of it?"}]','person','',1,18,'tiktoken',1.79541621444834804529e+09);
INSERT INTO "message" VALUES('01m83jajxypky1g1fsfgzd8g1h','01m83jajxcbes5z71yg2f970h0',1,2,1,'01m83jajxg8p9d92hmjwjyf0x7','assistant','[{"kind":"Text","text":"re «w0»"}]','model','',1,12,'tiktoken',1.79541621446281933786e+09);
INSERT INTO "message" VALUES('01m83jajyck0tygcqqjkdywmht','01m83jajxcbes5z71yg2f970h0',1,3,2,'01m83jajygvkpj0e6ackb6d7e7','user','[{"kind":"Text","text":"«w1» what do you make of it?"}]','person','',1,18,'tiktoken',1.79541621448080682748e+09);
INSERT INTO "message" VALUES('01m83jajyt7hhqdps58cf4b07n','01m83jajxcbes5z71yg2f970h0',1,4,2,'01m83jajygvkpj0e6ackb6d7e7','assistant','[{"kind":"Text","text":"re «w1»"}]','model','',1,12,'tiktoken',1.79541621449021315576e+09);
INSERT INTO "message" VALUES('01m83jajzac010ke1f302bwt9y','01m83jajxcbes5z71yg2f970h0',1,5,3,'01m83jajzembgtrxz08pbzv2g5','user','[{"kind":"Text","text":"«w2» what do you make of it?"}]','person','',1,18,'tiktoken',1.79541621451004099847e+09);
INSERT INTO "message" VALUES('01m83jajzw01jaawta6t58r78w','01m83jajxcbes5z71yg2f970h0',1,6,3,'01m83jajzembgtrxz08pbzv2g5','assistant','[{"kind":"Text","text":"re «w2»"}]','model','',1,12,'tiktoken',1.79541621452435207371e+09);
INSERT INTO "message" VALUES('01m83jak291fh78kpy0aw08fd9','01m83jak29k1st1phx3nczpmg7',1,1,1,'01m83jak2en3ygmwt6kde95676','user','[{"kind":"Text","text":"«o0» what do you make of it?"}]','person','',1,18,'tiktoken',1.79541621460628628734e+09);
INSERT INTO "message" VALUES('01m83jak2xx1zckma4fpr0r1sb','01m83jak29k1st1phx3nczpmg7',1,2,1,'01m83jak2en3ygmwt6kde95676','assistant','[{"kind":"Text","text":"re «o0»"}]','model','',1,12,'tiktoken',1.79541621462150239943e+09);
INSERT INTO "message" VALUES('01m83jak3g0jgxx58wt6eg7x49','01m83jak29k1st1phx3nczpmg7',1,3,2,'01m83jak3p8saez5wrgtg6actw','user','[{"kind":"Text","text":"«o1» what do you make of it?"}]','person','',1,18,'tiktoken',1.79541621464611196512e+09);
INSERT INTO "message" VALUES('01m83jak406pntcq6176z653x4','01m83jak29k1st1phx3nczpmg7',1,4,2,'01m83jak3p8saez5wrgtg6actw','assistant','[{"kind":"Text","text":"re «o1»"}]','model','',1,12,'tiktoken',1.79541621465667343145e+09);
INSERT INTO "message" VALUES('01m83jak5gdntr61e50k82h2c0','01m83jak29k1st1phx3nczpmg7',2,5,3,'01m83jak5qk3d0mycb405tfdqn','user','[{"kind":"Text","text":"«o2» what do you make of it?"}]','person','',1,18,'tiktoken',1.79541621471102023129e+09);
INSERT INTO "message" VALUES('01m83jak63825w1xrpftzq3fyt','01m83jak29k1st1phx3nczpmg7',2,6,3,'01m83jak5qk3d0mycb405tfdqn','assistant','[{"kind":"Text","text":"re «o2»"}]','model','',1,12,'tiktoken',1.79541621472349739079e+09);
INSERT INTO "message" VALUES('01m83jak6gf75bh84e9tt4836e','01m83jak6ggrd1jawjqk6daeyj',1,1,1,'01m83jak6mh3q7fa1xve9nxpjd','user','[{"kind":"Text","text":"«n0» what do you make of it?"}]','person','',1,18,'tiktoken',1.79541621474070477483e+09);
INSERT INTO "message" VALUES('01m83jak71wp5kc1g4xsam810j','01m83jak6ggrd1jawjqk6daeyj',1,2,1,'01m83jak6mh3q7fa1xve9nxpjd','assistant','[{"kind":"Text","text":"re «n0»"}]','model','',1,12,'tiktoken',1.79541621475391554836e+09);
INSERT INTO "message" VALUES('01m83jak8ddmyt32k09mz6vxrm','01m83jak6ggrd1jawjqk6daeyj',2,3,2,'01m83jak8h9mkzxby4jk6v63qa','user','[{"kind":"Text","text":"«n1» what do you make of it?"}]','person','',1,18,'tiktoken',1.79541621480132293706e+09);
INSERT INTO "message" VALUES('01m83jak8xgcaehgej7e57q3sb','01m83jak6ggrd1jawjqk6daeyj',2,4,2,'01m83jak8h9mkzxby4jk6v63qa','assistant','[{"kind":"Text","text":"re «n1»"}]','model','',1,12,'tiktoken',1.7954162148138477802e+09);
INSERT INTO "message" VALUES('01m83jak9c8kp8yskg0ezjdd3e','01m83jak9cdces4mkkch577epj',1,1,1,'01m83jak9hapaxcemdf3z4nxz5','user','[{"kind":"Text","text":"«t0» what do you make of it?"}]','person','',1,18,'tiktoken',1.79541621483363914493e+09);
INSERT INTO "message" VALUES('01m83jaka38fgmatzfv08af06z','01m83jak9cdces4mkkch577epj',1,2,1,'01m83jak9hapaxcemdf3z4nxz5','assistant','[{"kind":"Text","text":"re «t0»"}]','model','',1,12,'tiktoken',1.79541621485100364686e+09);
INSERT INTO "message" VALUES('01m83jakamz3mnwwwy4yhx7nn2','01m83jak9cdces4mkkch577epj',1,3,2,'01m83jakasagg6fzhvm9w74ehs','user','[{"kind":"Text","text":"«t1» what do you make of it?"}]','person','',1,18,'tiktoken',1.79541621487378597263e+09);
INSERT INTO "message" VALUES('01m83jakb26g9p18z2b0dbts9k','01m83jak9cdces4mkkch577epj',1,4,2,'01m83jakasagg6fzhvm9w74ehs','assistant','[{"kind":"Text","text":"re «t1»"}]','model','',1,12,'tiktoken',1.79541621488244271275e+09);
INSERT INTO "message" VALUES('01m83jakc943n7ytgwzz3psjt8','01m83jakc9m8ectmq56cqztvq0',1,1,1,'01m83jakf1sdqn0egxvj7jsg8s','user','[{"kind":"Image","sha256":"7899d6ced52159786ff083934df42788da01a30b7ed9bb7756d7f3f5a94ef685","media_type":"image/png","width":2,"height":2},{"kind":"Text","text":"«p1» what do you make of it?"}]','person','',1,19,'tiktoken',1.79541621500909185414e+09);
INSERT INTO "message" VALUES('01m83jakfcy9yegv8j6wc5ywwa','01m83jakc9m8ectmq56cqztvq0',1,2,1,'01m83jakf1sdqn0egxvj7jsg8s','assistant','[{"kind":"Text","text":"re «p1»"}]','model','',1,12,'tiktoken',1.79541621502046847341e+09);
INSERT INTO "message" VALUES('01m83jakmaht66z8ytdmx0rrj4','01m83jakmay8bycbawc35ttmcw',1,1,1,'01m83jakp7ezyfj0fhk2306e6z','user','[{"kind":"Text","text":"«l0» what do you make of it?"}]','person','',1,18,'tiktoken',1.79541621523968124391e+09);
INSERT INTO "message" VALUES('01m83jaks0jwzan6p3k2wm19ef','01m83jakmay8bycbawc35ttmcw',1,2,1,'01m83jakp7ezyfj0fhk2306e6z','assistant','[{"kind":"Text","text":"re «l0»"}]','model','',1,12,'tiktoken',1.79541621532894039156e+09);
INSERT INTO "message" VALUES('01m83jakt0xqnsg0dxs1cf1qy0','01m83jakmay8bycbawc35ttmcw',1,3,2,'01m83jakt5by0b4e4qz854gx2y','user','[{"kind":"Text","text":"«l1» what do you make of it?"}]','person','',1,18,'tiktoken',1.79541621536591362948e+09);
INSERT INTO "message" VALUES('01m83jaktkwwet5q3fv94ctee4','01m83jakmay8bycbawc35ttmcw',1,4,2,'01m83jakt5by0b4e4qz854gx2y','assistant','[{"kind":"Text","text":"re «l1»"}]','model','',1,12,'tiktoken',1.79541621537964439393e+09);
INSERT INTO "message" VALUES('01m83jakvxfx2ezmxqydr5jz0p','01m83jakvxnjdyv3mvgjm7tshw',1,1,1,'01m83jakw19z8hbhspw5k4vr86','user','[{"kind":"Text","text":"«x1» use write_file {\"path\": \"notes/x.md\", \"content\": \"x\"}"}]','person','',1,28,'tiktoken',1.79541621542596673962e+09);
INSERT INTO "message" VALUES('01m83jakwg4nfqv45g9qgksyps','01m83jakvxnjdyv3mvgjm7tshw',1,2,1,'01m83jakw19z8hbhspw5k4vr86','assistant','[{"kind":"Text","text":"I look."},{"kind":"ToolCall","id":"call_x1","name":"write_file","input":"{\"path\": \"notes/x.md\", \"content\": \"x\"}"}]','model','',1,36,'tiktoken',1.79541621544068503383e+09);
INSERT INTO "message" VALUES('01m83jakxkvc1wx0vvj4w9m0gb','01m83jakmay8bycbawc35ttmcw',1,5,3,'01m83jakxq658freydehvxj11y','user','[{"kind":"Text","text":"«l2» what do you make of it?"}]','person','',1,18,'tiktoken',1.79541621547959351539e+09);
INSERT INTO "message" VALUES('01m83jaky18ewsd1p1qcj226kh','01m83jakmay8bycbawc35ttmcw',1,6,3,'01m83jakxq658freydehvxj11y','assistant','[{"kind":"Text","text":"re «l2»"}]','model','',1,12,'tiktoken',1.79541621548968601223e+09);
CREATE TABLE model_factor (
	model TEXT NOT NULL, 
	factor DOUBLE NOT NULL, 
	samples INTEGER NOT NULL, 
	error_percent DOUBLE NOT NULL, 
	PRIMARY KEY (model)
);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra',0.9875,14,0.38);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra 01m83jahvtzbzxzskv4n8k5z15',1.0219,10,0.17);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra 01m83jajxcbes5z71yg2f970h0',0.9852,3,0.46);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra 01m83jak29k1st1phx3nczpmg7',0.9857,3,0.0);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra 01m83jak6ggrd1jawjqk6daeyj',0.9853,2,0.36);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra 01m83jak9cdces4mkkch577epj',0.9826,2,0.43);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra 01m83jakc9m8ectmq56cqztvq0',0.9993,1,-0.96);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra 01m83jakmay8bycbawc35ttmcw',0.9809,3,0.38);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra 01m83jakvxnjdyv3mvgjm7tshw',0.9856,1,1.01);
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
INSERT INTO "outbox" VALUES('01m83jajf048ka48p79w5et9fv','01m83jahvtzbzxzskv4n8k5z15','01m83jahvtwq0wk8n8233h0x46:answer',0,1,1,'final','c23b6564b6c8869f2ecbf144905b5513','re «g0»','sent',1,0,0,315360000.0,2.11077621399434137345e+09,0.0,'01m83jahvtwq0wk8n8233h0x46','01m83jajf048ka48p79w5et9fv','',2,1.79541621398488616947e+09,1,'',1.7954162140037157535e+09);
INSERT INTO "outbox" VALUES('01m83jajgsmkcq6p36a0fgybge','01m83jahvtzbzxzskv4n8k5z15','01m83jajg1868vdt0rkh4q4xpb:answer',0,1,1,'final','765c2a534d21dcc375e0d5bb79de44d6','re «g1»','sent',1,0,0,315360000.0,2.11077621404328823087e+09,0.0,'01m83jajg1868vdt0rkh4q4xpb','01m83jajgsmkcq6p36a0fgybge','',4,1.79541621404110693935e+09,1,'',1.79541621404502987858e+09);
INSERT INTO "outbox" VALUES('01m83jajhwj87h94x8vy84f8gp','01m83jahvtzbzxzskv4n8k5z15','01m83jajhe4ez7g4mn1475r5wp:answer',0,1,1,'final','9b2fe8a392403e5e339c5dfca1aaf01e','re «g1»','sent',1,0,0,315360000.0,2.11077621407957339281e+09,0.0,'01m83jajhe4ez7g4mn1475r5wp','01m83jajhwj87h94x8vy84f8gp','',6,1.79541621407694530483e+09,1,'',1.79541621408118820188e+09);
INSERT INTO "outbox" VALUES('01m83jajk7d4j2d69sk0p2yxex','01m83jahvtzbzxzskv4n8k5z15','01m83jajje673rbsp69z6jpqda:answer',0,1,1,'final','e6b5b3fcf9085949211ffac96bcac1c2','re «g2»','sent',1,0,0,315360000.0,2.11077621412467074401e+09,0.0,'01m83jajje673rbsp69z6jpqda','01m83jajk7d4j2d69sk0p2yxex','',8,1.79541621411903715133e+09,1,'',1.79541621412698459625e+09);
INSERT INTO "outbox" VALUES('01m83jajmdcctm22eade88r0j4','01m83jahvtzbzxzskv4n8k5z15','01m83jajkkz0nrx2ccstenrmzw:answer',0,1,1,'final','c69293eda1982ffc52f32610a504306a','re «g2»','sent',1,0,0,315360000.0,2.110776214160525322e+09,0.0,'01m83jajkkz0nrx2ccstenrmzw','01m83jajmdcctm22eade88r0j4','',10,1.79541621415735840796e+09,1,'',1.79541621416159462927e+09);
INSERT INTO "outbox" VALUES('01m83jajp2z93k1a2w10d11n31','01m83jahvtzbzxzskv4n8k5z15','01m83jajmxn618rc39wp72zaw5:answer',0,1,1,'notice','0b14979f7d952882980315d467d815b3','Folded turns 1–2 into memory/2026-11-23.md: 190 → 155 tokens (82%).','sent',1,0,0,315360000.0,2.11077621421157693871e+09,0.0,'01m83jajmxn618rc39wp72zaw5','01m83jajp2z93k1a2w10d11n31','',12,1.79541621421006226543e+09,1,'',1.79541621421222853663e+09);
INSERT INTO "outbox" VALUES('01m83jajqzt3wbkc41ptjcwyjt','01m83jahvtzbzxzskv4n8k5z15','01m83jajpq4a7yyfra3t8fp7ke:answer',0,1,1,'final','24b0a4e8a06a9c4377000c65d8c1a4b6','re «g5»','sent',1,0,0,315360000.0,2.11077621427438902844e+09,0.0,'01m83jajpq4a7yyfra3t8fp7ke','01m83jajqzt3wbkc41ptjcwyjt','',14,1.79541621427188873285e+09,1,'',1.79541621427532362932e+09);
INSERT INTO "outbox" VALUES('01m83jajs05b0nbg3p6b5xphee','01m83jahvtzbzxzskv4n8k5z15','01m83jajrhgwk1fqxhht7408p4:answer',0,1,1,'final','7a9ebaba0dfde115a6d431b399c37e3e','re «g6»','sent',1,0,0,315360000.0,2.11077621430603146559e+09,0.0,'01m83jajrhgwk1fqxhht7408p4','01m83jajs05b0nbg3p6b5xphee','',16,1.79541621430406212801e+09,1,'',1.79541621430751490587e+09);
INSERT INTO "outbox" VALUES('01m83jajszvr8trmg4kh4e2rmh','01m83jahvtzbzxzskv4n8k5z15','01m83jajshn5c60k3q5a9agvvr:answer',0,1,1,'final','02b04e2de71e36c65b86ce2c797c9e2c','re «g7»','sent',1,0,0,315360000.0,2.11077621433763694771e+09,0.0,'01m83jajshn5c60k3q5a9agvvr','01m83jajszvr8trmg4kh4e2rmh','',18,1.79541621433555364604e+09,1,'',1.7954162143388719559e+09);
INSERT INTO "outbox" VALUES('01m83jajtxp5ng77mqz8a2y95r','01m83jahvtzbzxzskv4n8k5z15','01m83jajtgkzp5bts1wazda004:answer',0,1,1,'final','afdff4ecf0422af1987a32eee4f5a13f','re «g8»','sent',1,0,0,315360000.0,2.11077621436821818361e+09,0.0,'01m83jajtgkzp5bts1wazda004','01m83jajtxp5ng77mqz8a2y95r','',20,1.79541621436515021325e+09,1,'',1.79541621436990761753e+09);
INSERT INTO "outbox" VALUES('01m83jajw2qbxb0vvh3cag1c6n','01m83jahvtzbzxzskv4n8k5z15','01m83jajveth4abf9tgg8tcamg:answer',0,1,1,'notice','7f28dc41f4f6a57702a1878826306abc','Folded turns 3–5 into memory/2026-11-23.md: 361 → 268 tokens (74%).','sent',1,0,0,315360000.0,2.11077621440311694153e+09,0.0,'01m83jajveth4abf9tgg8tcamg','01m83jajw2qbxb0vvh3cag1c6n','',22,1.7954162144020636082e+09,1,'',1.79541621440370917318e+09);
INSERT INTO "outbox" VALUES('01m83jajwq0esxgejzayn737tf','01m83jahvtzbzxzskv4n8k5z15','01m83jajwd3cjyzmmgyhcemh49:answer',0,1,1,'notice','f7c8bf6ff03edb13e3dc2a53b2829352','Remembered (facts): The gate code is 4711','sent',1,0,0,315360000.0,2.1107762144246575832e+09,0.0,'01m83jajwd3cjyzmmgyhcemh49','01m83jajwq0esxgejzayn737tf','',24,1.7954162144236540795e+09,1,'',1.79541621442533302303e+09);
INSERT INTO "outbox" VALUES('01m83jajxynqrqww88pv1t7vhs','01m83jajxcbes5z71yg2f970h0','01m83jajxc6s6zdkt53qfjc6ka:answer',0,1,1,'final','021504f620cf7d2b0e57cbd5ba39fa4e','re «w0»','sent',1,0,0,315360000.0,2.11077621446476507193e+09,0.0,'01m83jajxc6s6zdkt53qfjc6ka','01m83jajxynqrqww88pv1t7vhs','',2,1.79541621446281933786e+09,1,'',1.79541621446562886239e+09);
INSERT INTO "outbox" VALUES('01m83jajyt3vktcxgmjchbcvva','01m83jajxcbes5z71yg2f970h0','01m83jajyck0tygcqqjkdywmht:answer',0,1,1,'final','5d8b154ac31c9fcacb3c6a1d3295b682','re «w1»','sent',1,0,0,315360000.0,2.11077621449226784716e+09,0.0,'01m83jajyck0tygcqqjkdywmht','01m83jajyt3vktcxgmjchbcvva','',4,1.79541621449021315576e+09,1,'',1.79541621449313688278e+09);
INSERT INTO "outbox" VALUES('01m83jajzwmvgqb4552bq8q94z','01m83jajxcbes5z71yg2f970h0','01m83jajzac010ke1f302bwt9y:answer',0,1,1,'final','6badcd4082263ab04c393062a98433fc','re «w2»','sent',1,0,0,315360000.0,2.11077621452713704106e+09,0.0,'01m83jajzac010ke1f302bwt9y','01m83jajzwmvgqb4552bq8q94z','',6,1.79541621452435207371e+09,1,'',1.79541621452825117108e+09);
INSERT INTO "outbox" VALUES('01m83jak0x2q72p6df1sswxq1a','01m83jajxcbes5z71yg2f970h0','01m83jak0bfvpq4bjw64bshm6r:answer',0,1,1,'notice','6f14ed425e12645b0e60abf35870f249','Folded turn 1 into memory/2026-11-23.md: 90 → 72 tokens (80%).','sent',1,0,0,315360000.0,2.11077621455845308305e+09,0.0,'01m83jak0bfvpq4bjw64bshm6r','01m83jak0x2q72p6df1sswxq1a','',8,1.79541621455713558191e+09,1,'',1.79541621455904865265e+09);
INSERT INTO "outbox" VALUES('01m83jak1mf8tbgt6j85b72t31','01m83jajxcbes5z71yg2f970h0','01m83jak19wv8f7p4ebt0qfqr9:answer',0,1,1,'notice','9f2f91a5bd2a18464cae84e6dbbafb21','The fold is undone: turn 1 is back in the context.','sent',1,0,0,315360000.0,2.1107762145814661979e+09,0.0,'01m83jak19wv8f7p4ebt0qfqr9','01m83jak1mf8tbgt6j85b72t31','',10,1.7954162145800921917e+09,1,'',1.79541621458211755751e+09);
INSERT INTO "outbox" VALUES('01m83jak2xjy05es3gw2nhapkg','01m83jak29k1st1phx3nczpmg7','01m83jak291fh78kpy0aw08fd9:answer',0,1,1,'final','e34378b5ba3b0d24f30324eb4ec0700d','re «o0»','sent',1,0,0,315360000.0,2.1107762146238043309e+09,0.0,'01m83jak291fh78kpy0aw08fd9','01m83jak2xjy05es3gw2nhapkg','',2,1.79541621462150239943e+09,1,'',1.79541621462511134148e+09);
INSERT INTO "outbox" VALUES('01m83jak40nm3c82m74yv9tdsk','01m83jak29k1st1phx3nczpmg7','01m83jak3g0jgxx58wt6eg7x49:answer',0,1,1,'final','6c508f7596f363b825775738c95c3bf0','re «o1»','sent',1,0,0,315360000.0,2.11077621465864944468e+09,0.0,'01m83jak3g0jgxx58wt6eg7x49','01m83jak40nm3c82m74yv9tdsk','',4,1.79541621465667343145e+09,1,'',1.79541621465980148321e+09);
INSERT INTO "outbox" VALUES('01m83jak4rb8j45cwm3q0sa7sd','01m83jak29k1st1phx3nczpmg7','01m83jak4hwcb75q8ry248sgks:answer',0,1,2,'notice','cd77d2b238208a57eb88057fcdf5a7f4','The context is clear: the model sees nothing from before. The record stays; /context undo takes this back.','sent',1,0,0,315360000.0,2.1107762146811664104e+09,0.0,'01m83jak4hwcb75q8ry248sgks','01m83jak4rb8j45cwm3q0sa7sd','',6,1.7954162146802971363e+09,1,'',1.79541621468171167376e+09);
INSERT INTO "outbox" VALUES('01m83jak6390a0ctb3dt7cb1aj','01m83jak29k1st1phx3nczpmg7','01m83jak5gdntr61e50k82h2c0:answer',0,1,2,'final','3b43a182158cddffae82ac8d03e0889b','re «o2»','sent',1,0,0,315360000.0,2.1107762147259645463e+09,0.0,'01m83jak5gdntr61e50k82h2c0','01m83jak6390a0ctb3dt7cb1aj','',8,1.79541621472349739079e+09,1,'',1.79541621472704672817e+09);
INSERT INTO "outbox" VALUES('01m83jak71q2hd5akhsxtn90zc','01m83jak6ggrd1jawjqk6daeyj','01m83jak6gf75bh84e9tt4836e:answer',0,1,1,'final','099f1133992df1faf179e294c9b5e1b1','re «n0»','sent',1,0,0,315360000.0,2.11077621475596094121e+09,0.0,'01m83jak6gf75bh84e9tt4836e','01m83jak71q2hd5akhsxtn90zc','',2,1.79541621475391554836e+09,1,'',1.79541621475674343104e+09);
INSERT INTO "outbox" VALUES('01m83jak7ngw3drpava9y9w6d1','01m83jak6ggrd1jawjqk6daeyj','01m83jak7emrb7zbqjrwsxpxj6:answer',0,1,2,'notice','68824ebc5d62ba22581ec55c70d95d2a','A new conversation begins; what came before (1 turn) is being written to today''s log.','sent',1,0,0,315360000.0,2.11077621477609634389e+09,0.0,'01m83jak7emrb7zbqjrwsxpxj6','01m83jak7ngw3drpava9y9w6d1','',4,1.79541621477349710471e+09,1,'',1.79541621477871274946e+09);
INSERT INTO "outbox" VALUES('01m83jak8xt5t1c0e5qmzzmmy7','01m83jak6ggrd1jawjqk6daeyj','01m83jak8ddmyt32k09mz6vxrm:answer',0,1,2,'final','f239fa0f45565e464576ce4ea6bd23b0','re «n1»','sent',1,0,0,315360000.0,2.11077621481595826147e+09,0.0,'01m83jak8ddmyt32k09mz6vxrm','01m83jak8xt5t1c0e5qmzzmmy7','',6,1.7954162148138477802e+09,1,'',1.79541621481694197654e+09);
INSERT INTO "outbox" VALUES('01m83jaka3qw4zd4925frynahy','01m83jak9cdces4mkkch577epj','01m83jak9c8kp8yskg0ezjdd3e:answer',0,1,1,'final','c2ee0c5dea778ff5cc542f37f92597a2','re «t0»','sent',1,0,0,0.0,0.0,0.0,'01m83jak9c8kp8yskg0ezjdd3e','2','',2,1.79541621485100364686e+09,1,'',1.79541621486024022104e+09);
INSERT INTO "outbox" VALUES('01m83jakb2g86f0mzvh2senm4a','01m83jak9cdces4mkkch577epj','01m83jakamz3mnwwwy4yhx7nn2:answer',0,1,1,'final','19d515fc6cc868c293ddc3f86f8d0ed8','re «t1»','sent',1,0,0,0.0,0.0,0.0,'01m83jakamz3mnwwwy4yhx7nn2','4','',4,1.79541621488244271275e+09,1,'',1.79541621488841199871e+09);
INSERT INTO "outbox" VALUES('01m83jakbffpjyf0pw647bbvhc','01m83jakbb7nfhq5wed3x1pz7v','pair:01m83jakbbegdkjtca4j4nnsrw',0,1,1,'notice','5d859122922b8554ae7f48bffc63d23d','I talk only to people who were let in. Give this code to the person who runs me; it is good for an hour: `AYDN-NUCT`','sent',1,0,0,0.0,0.0,0.0,'','2','',2,1.79541621489584898949e+09,1,'',1.79541621490637254713e+09);
INSERT INTO "outbox" VALUES('01m83jakbfw41g053cxs47w7yv','01m83jak9cdces4mkkch577epj','pairing:telegram:100:2026-11-23',0,1,1,'notice','e9054758154f2ee834976194f271966d','telegram `999` “`Ада`” asks to talk to me and was given a code. If you know them, have them tell you the code and enter it with `mnema pair approve CODE` in a terminal, or `/approve CODE` in the page or the terminal chat. I do not tell you of others today; `mnema pair list` shows who waits.','sent',1,0,0,0.0,0.0,0.0,'','5','',5,1.79541621489584898949e+09,1,'',1.79541621490829277039e+09);
INSERT INTO "outbox" VALUES('01m83jakfc0echr98984m3ae8w','01m83jakc9m8ectmq56cqztvq0','01m83jakc943n7ytgwzz3psjt8:answer',0,1,1,'final','2389c78c1803bc559b19e8822e8e8a8b','re «p1»','sent',1,0,0,315360000.0,2.11077621502254486086e+09,0.0,'01m83jakc943n7ytgwzz3psjt8','01m83jakfc0echr98984m3ae8w','',2,1.79541621502046847341e+09,1,'',1.79541621502367711063e+09);
INSERT INTO "outbox" VALUES('01m83jaks091kwvkp3bm43q4wq','01m83jakmay8bycbawc35ttmcw','01m83jakmaht66z8ytdmx0rrj4:answer',0,1,1,'final','9edff0aefd9e9d4aba5b701218611270','re «l0»','sent',1,0,0,315360000.0,2.11077621533953261375e+09,0.0,'01m83jakmaht66z8ytdmx0rrj4','01m83jaks091kwvkp3bm43q4wq','',2,1.79541621532894039156e+09,2,'',1.79541621534659862511e+09);
INSERT INTO "outbox" VALUES('01m83jaktkjf9ns9mxb60gfbt8','01m83jakmay8bycbawc35ttmcw','01m83jakt0xqnsg0dxs1cf1qy0:answer',0,1,1,'final','54feb91e08c34a2114ddf6a8341fb211','re «l1»','sent',1,0,0,315360000.0,2.11077621538324403755e+09,0.0,'01m83jakt0xqnsg0dxs1cf1qy0','01m83jaktkjf9ns9mxb60gfbt8','',4,1.79541621537964439393e+09,2,'',1.79541621538467097282e+09);
INSERT INTO "outbox" VALUES('01m83jaky1d0fv5cfej0g4q3d4','01m83jakmay8bycbawc35ttmcw','01m83jakxkvc1wx0vvj4w9m0gb:answer',0,1,1,'final','7aeed89e2c3f789cbd352927ae52b23f','re «l2»','sending',1,0,0,315360000.0,2.11077621549153852465e+09,0.0,'01m83jakxkvc1wx0vvj4w9m0gb','','',6,1.79541621548968601223e+09,2,'',0.0);
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
INSERT INTO "prefix_text" VALUES('70f741728a4ba0227bb357f709fabecae8d982de19ec8ba05e17795a2abe5d18','[Daily log of 2026-11-23, for reference]
## 06:43 · web · turns 1–2

- «g0» the roses want water; I prefer tea. 花园要浇水
- «g1» the roses want water; I prefer tea. 花园要浇水

## 06:43 · web · turns 3–5

- «g2» the roses want water; I prefer tea. 花园要浇水
- «g3» the roses want water; I prefer tea. 花园要浇水
- «g4» the roses want water; I prefer tea. 花园要浇水
- 06:43 Bot: re «g1»
[End of the daily log]');
INSERT INTO "prefix_text" VALUES('3892b9f4c8b9c1886ffab40f55ba466c6d9ef890928d8652ea0c9a16e38fa711','[Daily log of 2026-11-23, for reference]
## 06:43 · web · turns 1–2

- «g0» the roses want water; I prefer tea. 花园要浇水
- «g1» the roses want water; I prefer tea. 花园要浇水

## 06:43 · web · turns 3–5

- «g2» the roses want water; I prefer tea. 花园要浇水
- «g3» the roses want water; I prefer tea. 花园要浇水
- «g4» the roses want water; I prefer tea. 花园要浇水
- 06:43 Bot: re «g1»

## 06:43 · web · turns 1–1

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
INSERT INTO "snapshot" VALUES('01m83jahvtzbzxzskv4n8k5z15','b73b62527681b8f5de1d6f00987f8f8d32f063078e32f3b7323d40d8c9306ea0',1,'01m83jajn6spy7qpt1ctr7zvjs',0,1.79541621424577021604e+09);
INSERT INTO "snapshot" VALUES('01m83jajxcbes5z71yg2f970h0','e2f2e7aaafa10ef2666e310b8e214d99b841f22626add9083cfcbaef1de129a9',1,'',0,1.79541621445723247529e+09);
INSERT INTO "snapshot" VALUES('01m83jak29k1st1phx3nczpmg7','e2f2e7aaafa10ef2666e310b8e214d99b841f22626add9083cfcbaef1de129a9',2,'',0,1.79541621471826314928e+09);
INSERT INTO "snapshot" VALUES('01m83jak6ggrd1jawjqk6daeyj','e2f2e7aaafa10ef2666e310b8e214d99b841f22626add9083cfcbaef1de129a9',2,'',0,1.79541621480856609339e+09);
INSERT INTO "snapshot" VALUES('01m83jak9cdces4mkkch577epj','e2f2e7aaafa10ef2666e310b8e214d99b841f22626add9083cfcbaef1de129a9',1,'',0,1.79541621484272360801e+09);
INSERT INTO "snapshot" VALUES('01m83jakc9m8ectmq56cqztvq0','e2f2e7aaafa10ef2666e310b8e214d99b841f22626add9083cfcbaef1de129a9',1,'',0,1.79541621501479601859e+09);
INSERT INTO "snapshot" VALUES('01m83jakmay8bycbawc35ttmcw','e2f2e7aaafa10ef2666e310b8e214d99b841f22626add9083cfcbaef1de129a9',1,'',0,1.79541621530449414245e+09);
INSERT INTO "snapshot" VALUES('01m83jakvxnjdyv3mvgjm7tshw','e2f2e7aaafa10ef2666e310b8e214d99b841f22626add9083cfcbaef1de129a9',1,'',0,1795416215.43447);
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
INSERT INTO "snapshot_part" VALUES('01m83jahvtzbzxzskv4n8k5z15',0,'awareness','9e0b173ed1df3dfd43c2a0985610ed44f4e9ebf9fcb9be0298b11c768a32fb66','[]');
INSERT INTO "snapshot_part" VALUES('01m83jahvtzbzxzskv4n8k5z15',1,'MEMORY.md','aa0fea7604628517643648c9af3ee050f3225f43e3c51d88013a8f7caf7f128f','[]');
INSERT INTO "snapshot_part" VALUES('01m83jajxcbes5z71yg2f970h0',0,'awareness','9e0b173ed1df3dfd43c2a0985610ed44f4e9ebf9fcb9be0298b11c768a32fb66','[]');
INSERT INTO "snapshot_part" VALUES('01m83jajxcbes5z71yg2f970h0',1,'MEMORY.md','b02c32b3bb159ffb30bb81250683be789e65af3789048470f6452f24be6ad698','[]');
INSERT INTO "snapshot_part" VALUES('01m83jajxcbes5z71yg2f970h0',2,'log','70f741728a4ba0227bb357f709fabecae8d982de19ec8ba05e17795a2abe5d18','[]');
INSERT INTO "snapshot_part" VALUES('01m83jak29k1st1phx3nczpmg7',0,'awareness','9e0b173ed1df3dfd43c2a0985610ed44f4e9ebf9fcb9be0298b11c768a32fb66','[]');
INSERT INTO "snapshot_part" VALUES('01m83jak29k1st1phx3nczpmg7',1,'MEMORY.md','b02c32b3bb159ffb30bb81250683be789e65af3789048470f6452f24be6ad698','[]');
INSERT INTO "snapshot_part" VALUES('01m83jak29k1st1phx3nczpmg7',2,'log','70f741728a4ba0227bb357f709fabecae8d982de19ec8ba05e17795a2abe5d18','[]');
INSERT INTO "snapshot_part" VALUES('01m83jak6ggrd1jawjqk6daeyj',0,'awareness','9e0b173ed1df3dfd43c2a0985610ed44f4e9ebf9fcb9be0298b11c768a32fb66','[]');
INSERT INTO "snapshot_part" VALUES('01m83jak6ggrd1jawjqk6daeyj',1,'MEMORY.md','b02c32b3bb159ffb30bb81250683be789e65af3789048470f6452f24be6ad698','[]');
INSERT INTO "snapshot_part" VALUES('01m83jak6ggrd1jawjqk6daeyj',2,'log','70f741728a4ba0227bb357f709fabecae8d982de19ec8ba05e17795a2abe5d18','[]');
INSERT INTO "snapshot_part" VALUES('01m83jak9cdces4mkkch577epj',0,'awareness','9e0b173ed1df3dfd43c2a0985610ed44f4e9ebf9fcb9be0298b11c768a32fb66','[]');
INSERT INTO "snapshot_part" VALUES('01m83jak9cdces4mkkch577epj',1,'MEMORY.md','b02c32b3bb159ffb30bb81250683be789e65af3789048470f6452f24be6ad698','[]');
INSERT INTO "snapshot_part" VALUES('01m83jak9cdces4mkkch577epj',2,'log','3892b9f4c8b9c1886ffab40f55ba466c6d9ef890928d8652ea0c9a16e38fa711','[]');
INSERT INTO "snapshot_part" VALUES('01m83jakc9m8ectmq56cqztvq0',0,'awareness','9e0b173ed1df3dfd43c2a0985610ed44f4e9ebf9fcb9be0298b11c768a32fb66','[]');
INSERT INTO "snapshot_part" VALUES('01m83jakc9m8ectmq56cqztvq0',1,'MEMORY.md','b02c32b3bb159ffb30bb81250683be789e65af3789048470f6452f24be6ad698','[]');
INSERT INTO "snapshot_part" VALUES('01m83jakc9m8ectmq56cqztvq0',2,'log','3892b9f4c8b9c1886ffab40f55ba466c6d9ef890928d8652ea0c9a16e38fa711','[]');
INSERT INTO "snapshot_part" VALUES('01m83jakmay8bycbawc35ttmcw',0,'awareness','9e0b173ed1df3dfd43c2a0985610ed44f4e9ebf9fcb9be0298b11c768a32fb66','[]');
INSERT INTO "snapshot_part" VALUES('01m83jakmay8bycbawc35ttmcw',1,'MEMORY.md','b02c32b3bb159ffb30bb81250683be789e65af3789048470f6452f24be6ad698','[]');
INSERT INTO "snapshot_part" VALUES('01m83jakmay8bycbawc35ttmcw',2,'log','3892b9f4c8b9c1886ffab40f55ba466c6d9ef890928d8652ea0c9a16e38fa711','[]');
INSERT INTO "snapshot_part" VALUES('01m83jakvxnjdyv3mvgjm7tshw',0,'awareness','9e0b173ed1df3dfd43c2a0985610ed44f4e9ebf9fcb9be0298b11c768a32fb66','[]');
INSERT INTO "snapshot_part" VALUES('01m83jakvxnjdyv3mvgjm7tshw',1,'MEMORY.md','b02c32b3bb159ffb30bb81250683be789e65af3789048470f6452f24be6ad698','[]');
INSERT INTO "snapshot_part" VALUES('01m83jakvxnjdyv3mvgjm7tshw',2,'log','3892b9f4c8b9c1886ffab40f55ba466c6d9ef890928d8652ea0c9a16e38fa711','[]');
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
INSERT INTO "tool_call" VALUES('01m83jajqcmvm62gphnvhcftmk','01m83jajpvrjcedsfggx25vswm',0,'call_g5','write_file','{"path": "notes/roses.md", "content": "water on Mondays"}','idempotent','5b374d927ccd606e5ecb979471c0ec76','done',1,'01m83jajqpjeeqkctjsy7ds4rp');
INSERT INTO "tool_call" VALUES('01m83jakwg6272ec1d2wnvtf0n','01m83jakw19z8hbhspw5k4vr86',0,'call_x1','write_file','{"path": "notes/x.md", "content": "x"}','idempotent','05f75135e4056447f37e996d25094217','started',1,'');
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
INSERT INTO "turn" VALUES('01m83jahwv4p2jnp2f69s8yfkh','01m83jahvtzbzxzskv4n8k5z15',1,1,'01m83jahvtwq0wk8n8233h0x46','owner','done',0,0,'01m83jahvt0xr0vrh1k7h3p6xd',1,1,1.79541621340339374547e+09,1.79541621398488616947e+09,'owner',1.79541621337045216554e+09);
INSERT INTO "turn" VALUES('01m83jajg5vqx4wvbnvz2p125h','01m83jahvtzbzxzskv4n8k5z15',2,1,'01m83jajg1868vdt0rkh4q4xpb','owner','done',0,0,'01m83jajg1epwnm2j7zq528rmm',3,1,1.79541621402197313305e+09,1.79541621404110693935e+09,'owner',1.79541621401718139647e+09);
INSERT INTO "turn" VALUES('01m83jajhhdzaewaybd1bw4frf','01m83jahvtzbzxzskv4n8k5z15',3,1,'01m83jajhe4ez7g4mn1475r5wp','owner','done',0,0,'01m83jajhe8mgx7pgm2ynq2s3v',5,1,1.79541621406508946417e+09,1.79541621407694530483e+09,'owner',1.79541621406281518935e+09);
INSERT INTO "turn" VALUES('01m83jajjk3hz8agmkqs177x1p','01m83jahvtzbzxzskv4n8k5z15',4,1,'01m83jajje673rbsp69z6jpqda','owner','done',0,0,'01m83jajjed9cyxv4vq7x7q2zj',7,1,1.79541621409942984575e+09,1.79541621411903715133e+09,'owner',1.79541621409447336196e+09);
INSERT INTO "turn" VALUES('01m83jajkz1yg33n1ktp93mk75','01m83jahvtzbzxzskv4n8k5z15',5,1,'01m83jajkkz0nrx2ccstenrmzw','owner','done',0,0,'01m83jajkk7yhrwh5f63j9n1zz',9,1,1.79541621414303231244e+09,1.79541621415735840796e+09,'owner',1.79541621413149976734e+09);
INSERT INTO "turn" VALUES('01m83jajpvrjcedsfggx25vswm','01m83jahvtzbzxzskv4n8k5z15',6,1,'01m83jajpq4a7yyfra3t8fp7ke','owner','done',1,0,'01m83jajpqvmwwvdf9d9k35tc4',11,1,1.79541621423510599133e+09,1.79541621427188873285e+09,'owner',1.79541621423148941997e+09);
INSERT INTO "turn" VALUES('01m83jajrnvw8f192yd2a18krf','01m83jahvtzbzxzskv4n8k5z15',7,1,'01m83jajrhgwk1fqxhht7408p4','owner','done',0,0,'01m83jajrhjga9enxpwpdr4gde',15,1,1.79541621429387307168e+09,1.79541621430406212801e+09,'owner',1.79541621428984570505e+09);
INSERT INTO "turn" VALUES('01m83jajsmyccvqyypkm2znmn6','01m83jahvtzbzxzskv4n8k5z15',8,1,'01m83jajshn5c60k3q5a9agvvr','owner','done',0,0,'01m83jajshwdmsh6pfamjmy6vx',17,1,1.79541621432478356364e+09,1.79541621433555364604e+09,'owner',1.79541621432114720342e+09);
INSERT INTO "turn" VALUES('01m83jajtmb9rffcpt4j0x28s0','01m83jahvtzbzxzskv4n8k5z15',9,1,'01m83jajtgkzp5bts1wazda004','owner','done',0,0,'01m83jajtg5swkgpg6a2swdcd9',19,1,1.79541621435626411436e+09,1.79541621436515021325e+09,'owner',1.79541621435216879843e+09);
INSERT INTO "turn" VALUES('01m83jajxg8p9d92hmjwjyf0x7','01m83jajxcbes5z71yg2f970h0',1,1,'01m83jajxc6s6zdkt53qfjc6ka','owner','done',0,0,'01m83jajxcx3mzmzydvb9qgqbj',1,1,1.79541621444834804529e+09,1.79541621446281933786e+09,'owner',1.7954162144447319508e+09);
INSERT INTO "turn" VALUES('01m83jajygvkpj0e6ackb6d7e7','01m83jajxcbes5z71yg2f970h0',2,1,'01m83jajyck0tygcqqjkdywmht','owner','done',0,0,'01m83jajycxcm10w5wh8q1p6pz',3,1,1.79541621448080682748e+09,1.79541621449021315576e+09,'owner',1.79541621447603917116e+09);
INSERT INTO "turn" VALUES('01m83jajzembgtrxz08pbzv2g5','01m83jajxcbes5z71yg2f970h0',3,1,'01m83jajzac010ke1f302bwt9y','owner','done',0,0,'01m83jajzang55zx04shnf3car',5,1,1.79541621451004099847e+09,1.79541621452435207371e+09,'owner',1.79541621450653290752e+09);
INSERT INTO "turn" VALUES('01m83jak2en3ygmwt6kde95676','01m83jak29k1st1phx3nczpmg7',1,1,'01m83jak291fh78kpy0aw08fd9','owner','done',0,0,'01m83jak292bc8d0x5qsnexvqa',1,1,1.79541621460628628734e+09,1.79541621462150239943e+09,'owner',1.79541621460161709782e+09);
INSERT INTO "turn" VALUES('01m83jak3p8saez5wrgtg6actw','01m83jak29k1st1phx3nczpmg7',2,1,'01m83jak3g0jgxx58wt6eg7x49','owner','done',0,0,'01m83jak3g7aszagjqcr9mydxw',3,1,1.79541621464611196512e+09,1.79541621465667343145e+09,'owner',1.7954162146402089596e+09);
INSERT INTO "turn" VALUES('01m83jak5qk3d0mycb405tfdqn','01m83jak29k1st1phx3nczpmg7',3,2,'01m83jak5gdntr61e50k82h2c0','owner','done',0,0,'01m83jak5gccjapvqmhhkfw5wz',5,1,1.79541621471102023129e+09,1.79541621472349739079e+09,'owner',1.79541621470477104184e+09);
INSERT INTO "turn" VALUES('01m83jak6mh3q7fa1xve9nxpjd','01m83jak6ggrd1jawjqk6daeyj',1,1,'01m83jak6gf75bh84e9tt4836e','owner','done',0,0,'01m83jak6gn7ehegp1nagvcg0c',1,1,1.79541621474070477483e+09,1.79541621475391554836e+09,'owner',1.79541621473688530917e+09);
INSERT INTO "turn" VALUES('01m83jak8h9mkzxby4jk6v63qa','01m83jak6ggrd1jawjqk6daeyj',2,2,'01m83jak8ddmyt32k09mz6vxrm','owner','done',0,0,'01m83jak8dj2yvgrs9wvjdw46k',3,1,1.79541621480132293706e+09,1.7954162148138477802e+09,'owner',1.79541621479729342466e+09);
INSERT INTO "turn" VALUES('01m83jak9hapaxcemdf3z4nxz5','01m83jak9cdces4mkkch577epj',1,1,'01m83jak9c8kp8yskg0ezjdd3e','5005','done',0,0,'01m83jak9c62hjj3jez5nc46qy',1,1,1.79541621483363914493e+09,1.79541621485100364686e+09,'owner',1.79541621482805895809e+09);
INSERT INTO "turn" VALUES('01m83jakasagg6fzhvm9w74ehs','01m83jak9cdces4mkkch577epj',2,1,'01m83jakamz3mnwwwy4yhx7nn2','5005','done',0,0,'01m83jakamt3hv4w49pkbfv3qp',3,1,1.79541621487378597263e+09,1.79541621488244271275e+09,'owner',1.79541621486879205706e+09);
INSERT INTO "turn" VALUES('01m83jakf1sdqn0egxvj7jsg8s','01m83jakc9m8ectmq56cqztvq0',1,1,'01m83jakc943n7ytgwzz3psjt8','owner','done',0,0,'01m83jakc934na87qc6gqxnc4d',1,1,1.79541621500909185414e+09,1.79541621502046847341e+09,'owner',1.79541621492120218278e+09);
INSERT INTO "turn" VALUES('01m83jakp7ezyfj0fhk2306e6z','01m83jakmay8bycbawc35ttmcw',1,1,'01m83jakmaht66z8ytdmx0rrj4','owner','done',0,0,'01m83jakmapk9b9bf21za4pwys',1,2,1.79541621523968124391e+09,1.79541621532894039156e+09,'owner',1.79541621517884898186e+09);
INSERT INTO "turn" VALUES('01m83jakt5by0b4e4qz854gx2y','01m83jakmay8bycbawc35ttmcw',2,1,'01m83jakt0xqnsg0dxs1cf1qy0','owner','done',0,0,'01m83jakt0en1hh6fk0zxkcm0j',3,2,1.79541621536591362948e+09,1.79541621537964439393e+09,'owner',1.79541621536077713964e+09);
INSERT INTO "turn" VALUES('01m83jakw19z8hbhspw5k4vr86','01m83jakvxnjdyv3mvgjm7tshw',1,1,'01m83jakvxfx2ezmxqydr5jz0p','owner','waiting',1,0,'01m83jakvxs7nyzxdct9rs1a9q',1,2,1.79541621542596673962e+09,0.0,'owner',1.79541621542129039767e+09);
INSERT INTO "turn" VALUES('01m83jakxq658freydehvxj11y','01m83jakmay8bycbawc35ttmcw',3,1,'01m83jakxkvc1wx0vvj4w9m0gb','owner','done',0,0,'01m83jakxk8cdv915g1zkd08jr',5,2,1.79541621547959351539e+09,1.79541621548968601223e+09,'owner',1.79541621547544932371e+09);
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
INSERT INTO "usage" VALUES('01m83jajf0b83zyey3jsed4gv0','01m83jahvtzbzxzskv4n8k5z15','01m83jahwv4p2jnp2f69s8yfkh','gpt-6.1-terra','turn',2282,3,0,0,0,1.79541621398488616947e+09,'owner');
INSERT INTO "usage" VALUES('01m83jajfqx203xzdf3116dqjg','01m83jahvtzbzxzskv4n8k5z15','','gpt-6-luna','extract',446,49,0,0,0,1.79541621400741314889e+09,'owner');
INSERT INTO "usage" VALUES('01m83jajgsrcktfbpyd4any539','01m83jahvtzbzxzskv4n8k5z15','01m83jajg5vqx4wvbnvz2p125h','gpt-6.1-terra','turn',2419,3,0,0,0,1.79541621404110693935e+09,'owner');
INSERT INTO "usage" VALUES('01m83jajh146109129csj56axh','01m83jahvtzbzxzskv4n8k5z15','','gpt-6-luna','extract',468,49,0,0,0,1.79541621404974055292e+09,'owner');
INSERT INTO "usage" VALUES('01m83jajhwzf03edrek5er5q9h','01m83jahvtzbzxzskv4n8k5z15','01m83jajhhdzaewaybd1bw4frf','gpt-6.1-terra','turn',2480,3,0,0,0,1.79541621407694530483e+09,'owner');
INSERT INTO "usage" VALUES('01m83jajj90z73t5rapnrqb97y','01m83jahvtzbzxzskv4n8k5z15','','gpt-6-luna','extract',480,49,0,0,0,1.79541621408992600437e+09,'owner');
INSERT INTO "usage" VALUES('01m83jajk7f4a05p6pcvs1yvtr','01m83jahvtzbzxzskv4n8k5z15','01m83jajjk3hz8agmkqs177x1p','gpt-6.1-terra','turn',2525,3,0,0,0,1.79541621411903715133e+09,'owner');
INSERT INTO "usage" VALUES('01m83jajkvn8nznj8b5g8vmfnj','01m83jahvtzbzxzskv4n8k5z15','','gpt-6-luna','extract',491,49,0,0,0,1.79541621413962650295e+09,'owner');
INSERT INTO "usage" VALUES('01m83jajmd790dxs40j0b4pv2z','01m83jahvtzbzxzskv4n8k5z15','01m83jajkz1yg33n1ktp93mk75','gpt-6.1-terra','turn',2560,3,0,0,0,1.79541621415735840796e+09,'owner');
INSERT INTO "usage" VALUES('01m83jajmwprjwh2v783ccdv3q','01m83jahvtzbzxzskv4n8k5z15','','gpt-6-luna','extract',503,49,0,0,0,1.79541621417294883734e+09,'owner');
INSERT INTO "usage" VALUES('01m83jajnkb1384wp0xnng6em2','01m83jahvtzbzxzskv4n8k5z15','','gpt-6-luna','fold',456,71,0,0,0,1.79541621419585657121e+09,'owner');
INSERT INTO "usage" VALUES('01m83jajqc03encq8b2x1sx6x6','01m83jahvtzbzxzskv4n8k5z15','01m83jajpvrjcedsfggx25vswm','gpt-6.1-terra','turn',2602,19,0,0,0,1.79541621425220227241e+09,'owner');
INSERT INTO "usage" VALUES('01m83jajqz55a0d88jfcv0tqgz','01m83jahvtzbzxzskv4n8k5z15','01m83jajpvrjcedsfggx25vswm','gpt-6.1-terra','turn',2686,3,0,0,0,1.79541621427188873285e+09,'owner');
INSERT INTO "usage" VALUES('01m83jajr7ze9rmje3pacv253c','01m83jahvtzbzxzskv4n8k5z15','','gpt-6-luna','extract',521,1,0,0,0,1.79541621427908635135e+09,'owner');
INSERT INTO "usage" VALUES('01m83jajs0hcbamtjemxx1k5y2','01m83jahvtzbzxzskv4n8k5z15','01m83jajrnvw8f192yd2a18krf','gpt-6.1-terra','turn',2713,3,0,0,0,1.79541621430406212801e+09,'owner');
INSERT INTO "usage" VALUES('01m83jajs7v9dzrfyszm90m8d6','01m83jahvtzbzxzskv4n8k5z15','','gpt-6-luna','extract',507,1,0,0,0,1.79541621431130599974e+09,'owner');
INSERT INTO "usage" VALUES('01m83jajsz1j1r6e5yxp798adm','01m83jahvtzbzxzskv4n8k5z15','01m83jajsmyccvqyypkm2znmn6','gpt-6.1-terra','turn',2741,3,0,0,0,1.79541621433555364604e+09,'owner');
INSERT INTO "usage" VALUES('01m83jajt6ym90v122ekat6e33','01m83jahvtzbzxzskv4n8k5z15','','gpt-6-luna','extract',507,1,0,0,0,1.79541621434261584279e+09,'owner');
INSERT INTO "usage" VALUES('01m83jajtxqq6qtz43xntdxsyj','01m83jahvtzbzxzskv4n8k5z15','01m83jajtmb9rffcpt4j0x28s0','gpt-6.1-terra','turn',2768,3,0,0,0,1.79541621436515021325e+09,'owner');
INSERT INTO "usage" VALUES('01m83jajv5528bda6geh64zyc6','01m83jahvtzbzxzskv4n8k5z15','','gpt-6-luna','extract',507,1,0,0,0,1.7954162143737676144e+09,'owner');
INSERT INTO "usage" VALUES('01m83jajvt6zdac97q7ajafqym','01m83jahvtzbzxzskv4n8k5z15','','gpt-6-luna','fold',529,102,0,0,0,1.79541621439474201197e+09,'owner');
INSERT INTO "usage" VALUES('01m83jajxydsd2xns7xmqm4bvc','01m83jajxcbes5z71yg2f970h0','01m83jajxg8p9d92hmjwjyf0x7','gpt-6.1-terra','turn',2678,3,0,0,0,1.79541621446281933786e+09,'owner');
INSERT INTO "usage" VALUES('01m83jajy57vme0cwkmvfvbf37','01m83jajxcbes5z71yg2f970h0','','gpt-6-luna','extract',461,1,0,0,0,1.79541621446951603887e+09,'owner');
INSERT INTO "usage" VALUES('01m83jajytykd7t2q6wkpwbcc7','01m83jajxcbes5z71yg2f970h0','01m83jajygvkpj0e6ackb6d7e7','gpt-6.1-terra','turn',2705,3,0,0,0,1.79541621449021315576e+09,'owner');
INSERT INTO "usage" VALUES('01m83jajz1shvc017nwfss7nsz','01m83jajxcbes5z71yg2f970h0','','gpt-6-luna','extract',461,1,0,0,0,1.79541621449706697462e+09,'owner');
INSERT INTO "usage" VALUES('01m83jajzwwfbjdnpydzz8kdww','01m83jajxcbes5z71yg2f970h0','01m83jajzembgtrxz08pbzv2g5','gpt-6.1-terra','turn',2733,3,0,0,0,1.79541621452435207371e+09,'owner');
INSERT INTO "usage" VALUES('01m83jak04p5cvn4fxq4w135xj','01m83jajxcbes5z71yg2f970h0','','gpt-6-luna','extract',461,1,0,0,0,1.79541621453286099436e+09,'owner');
INSERT INTO "usage" VALUES('01m83jak0n3nrtgvsdz4gqk7wg','01m83jajxcbes5z71yg2f970h0','','gpt-6-luna','fold',419,25,0,0,0,1.79541621454973793032e+09,'owner');
INSERT INTO "usage" VALUES('01m83jak2xrppbkp10jfzxnt1d','01m83jak29k1st1phx3nczpmg7','01m83jak2en3ygmwt6kde95676','gpt-6.1-terra','turn',2689,3,0,0,0,1.79541621462150239943e+09,'owner');
INSERT INTO "usage" VALUES('01m83jak3ehqrzd769fbvyhmgy','01m83jak29k1st1phx3nczpmg7','','gpt-6-luna','extract',461,1,0,0,0,1.79541621463841056822e+09,'owner');
INSERT INTO "usage" VALUES('01m83jak40mq9kdfdvvfgzjwye','01m83jak29k1st1phx3nczpmg7','01m83jak3p8saez5wrgtg6actw','gpt-6.1-terra','turn',2716,3,0,0,0,1.79541621465667343145e+09,'owner');
INSERT INTO "usage" VALUES('01m83jak471xezqwn38qksgzqr','01m83jak29k1st1phx3nczpmg7','','gpt-6-luna','extract',461,1,0,0,0,1.79541621466303205493e+09,'owner');
INSERT INTO "usage" VALUES('01m83jak63pn9qcevgcv3rdw6w','01m83jak29k1st1phx3nczpmg7','01m83jak5qk3d0mycb405tfdqn','gpt-6.1-terra','turn',2689,3,0,0,0,1.79541621472349739079e+09,'owner');
INSERT INTO "usage" VALUES('01m83jak6afyevn7nt5mcz6ryn','01m83jak29k1st1phx3nczpmg7','','gpt-6-luna','extract',461,1,0,0,0,1.79541621473000574107e+09,'owner');
INSERT INTO "usage" VALUES('01m83jak717xtjab3hywxkh1sz','01m83jak6ggrd1jawjqk6daeyj','01m83jak6mh3q7fa1xve9nxpjd','gpt-6.1-terra','turn',2689,3,0,0,0,1.79541621475391554836e+09,'owner');
INSERT INTO "usage" VALUES('01m83jak78qbm0pn3m9g8n4c19','01m83jak6ggrd1jawjqk6daeyj','','gpt-6-luna','extract',461,1,0,0,0,1.7954162147602398395e+09,'owner');
INSERT INTO "usage" VALUES('01m83jak7tx8f9bjk71b3dd73x','01m83jak6ggrd1jawjqk6daeyj','','gpt-6-luna','fold',419,25,0,0,0,1.79541621477821397787e+09,'owner');
INSERT INTO "usage" VALUES('01m83jak8xxvmtjq94yx4fn2r4','01m83jak6ggrd1jawjqk6daeyj','01m83jak8h9mkzxby4jk6v63qa','gpt-6.1-terra','turn',2689,3,0,0,0,1.7954162148138477802e+09,'owner');
INSERT INTO "usage" VALUES('01m83jak944kvg7js7skpkdhjk','01m83jak6ggrd1jawjqk6daeyj','','gpt-6-luna','extract',461,1,0,0,0,1.79541621482017326348e+09,'owner');
INSERT INTO "usage" VALUES('01m83jaka3cafg0bjc34mcr24f','01m83jak9cdces4mkkch577epj','01m83jak9hapaxcemdf3z4nxz5','gpt-6.1-terra','turn',2706,3,0,0,0,1.79541621485100364686e+09,'owner');
INSERT INTO "usage" VALUES('01m83jakafre0swjea2kkdj044','01m83jak9cdces4mkkch577epj','','gpt-6-luna','extract',461,1,0,0,0,1.79541621486362838744e+09,'owner');
INSERT INTO "usage" VALUES('01m83jakb2d24d6wtb3vawtz5a','01m83jak9cdces4mkkch577epj','01m83jakasagg6fzhvm9w74ehs','gpt-6.1-terra','turn',2734,3,0,0,0,1.79541621488244271275e+09,'owner');
INSERT INTO "usage" VALUES('01m83jakbff6q2ks71yr08zh31','01m83jak9cdces4mkkch577epj','','gpt-6-luna','extract',461,1,0,0,0,1.79541621489516925814e+09,'owner');
INSERT INTO "usage" VALUES('01m83jakfchc7k4hc8evxc8brs','01m83jakc9m8ectmq56cqztvq0','01m83jakf1sdqn0egxvj7jsg8s','gpt-6.1-terra','turn',2761,3,0,0,0,1.79541621502046847341e+09,'owner');
INSERT INTO "usage" VALUES('01m83jakfkmq81dsp4f0fx0h7q','01m83jakc9m8ectmq56cqztvq0','','gpt-6-luna','extract',461,1,0,0,0,1795416215.02748,'owner');
INSERT INTO "usage" VALUES('01m83jaks09zpkm703ws067gmm','01m83jakmay8bycbawc35ttmcw','01m83jakp7ezyfj0fhk2306e6z','gpt-6.1-terra','turn',2706,3,0,0,0,1.79541621532894039156e+09,'owner');
INSERT INTO "usage" VALUES('01m83jakst77yxz5gbkzhz9wh0','01m83jakmay8bycbawc35ttmcw','','gpt-6-luna','extract',461,1,0,0,0,1.79541621535473823545e+09,'owner');
INSERT INTO "usage" VALUES('01m83jaktkkw9d9v60x9rj0vgd','01m83jakmay8bycbawc35ttmcw','01m83jakt5by0b4e4qz854gx2y','gpt-6.1-terra','turn',2734,3,0,0,0,1.79541621537964439393e+09,'owner');
INSERT INTO "usage" VALUES('01m83jaktyqfpk4f0vw55gq5fd','01m83jakmay8bycbawc35ttmcw','','gpt-6-luna','extract',461,1,0,0,0,1.79541621539085221289e+09,'owner');
INSERT INTO "usage" VALUES('01m83jakvhb0t0bmr966memz5h','01m83jajxcbes5z71yg2f970h0','','gpt-6-luna','fold',419,25,0,0,0,1.79541621540927600862e+09,'owner');
INSERT INTO "usage" VALUES('01m83jakwg9tk1yzndbfymqwty','01m83jakvxnjdyv3mvgjm7tshw','01m83jakw19z8hbhspw5k4vr86','gpt-6.1-terra','turn',2720,14,0,0,0,1.79541621544068503383e+09,'owner');
INSERT INTO "usage" VALUES('01m83jaky1h1hezcf7dknt73pt','01m83jakmay8bycbawc35ttmcw','01m83jakxq658freydehvxj11y','gpt-6.1-terra','turn',2761,3,0,0,0,1.79541621548968601223e+09,'owner');
INSERT INTO "usage" VALUES('01m83jaky77c2atn6aen0gengh','01m83jakmay8bycbawc35ttmcw','','gpt-6-luna','extract',461,1,0,0,0,1.79541621549564433093e+09,'owner');
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
COMMIT;
