BEGIN TRANSACTION;
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
INSERT INTO "alembic_version" VALUES('r0004');
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
INSERT INTO "audit" VALUES(1,1.79535676821193933491e+09,'','memory.extract','','','allowed','+1 -0','','40e6acabfe8ccb10b9970ac91cf63b1014aa1b4963d69134902a36b72559b9a3');
INSERT INTO "audit" VALUES(2,1.79535676851345038411e+09,'','memory.extract','','','allowed','+1 -0','40e6acabfe8ccb10b9970ac91cf63b1014aa1b4963d69134902a36b72559b9a3','187bdeb1479deceee165f78243410290cf8852d591c07652ad12bcfbaec6caef');
INSERT INTO "audit" VALUES(3,1.79535676860499954221e+09,'','memory.extract','','','allowed','+1 -0','187bdeb1479deceee165f78243410290cf8852d591c07652ad12bcfbaec6caef','063a064343aa0fbe905a11b61093b3e9c16c0bcdd3d1b28b3700bc9449ef69d3');
INSERT INTO "audit" VALUES(4,1.79535676877820491795e+09,'','memory.extract','','','allowed','+1 -0','063a064343aa0fbe905a11b61093b3e9c16c0bcdd3d1b28b3700bc9449ef69d3','17f61f5b07f94844b0fd0dc251dd5d7f2306d07805efeb2a12b870fda023568b');
INSERT INTO "audit" VALUES(5,1.79535676911866450312e+09,'','memory.extract','','','allowed','+1 -0','17f61f5b07f94844b0fd0dc251dd5d7f2306d07805efeb2a12b870fda023568b','ea40b6635a10062e37d0003e070f4968e4a8e0e8bfe9401eebd4b9dce26065c8');
INSERT INTO "audit" VALUES(6,1.79535677186978340148e+09,'','clear','01m81smh28zeagnk68d7bc9qqt','','allowed','epoch 2','ea40b6635a10062e37d0003e070f4968e4a8e0e8bfe9401eebd4b9dce26065c8','ec473d1623d2350b17ca1e7ed1500a4cf7ed77d3013f8d73c5e824d4122e3837');
INSERT INTO "audit" VALUES(7,1.79535677240595769885e+09,'','clear','01m81smhzwbt1x4yj65fxbmwe0','','allowed','epoch 2','ec473d1623d2350b17ca1e7ed1500a4cf7ed77d3013f8d73c5e824d4122e3837','f6df09126e590640bb465b06cc61ea16b81db5cd57c405d04cfbded9db28c4d9');
INSERT INTO "audit" VALUES(8,1.79535677266176724436e+09,'','memory.remember','','','allowed','+1 -0','f6df09126e590640bb465b06cc61ea16b81db5cd57c405d04cfbded9db28c4d9','3ccb31d896605b849c6e22065bdbb9127461c78170279e7d3008ba17bc6024b6');
INSERT INTO "audit" VALUES(9,1.79535677276502251623e+09,'','memory.extract','','','allowed','+1 -0','3ccb31d896605b849c6e22065bdbb9127461c78170279e7d3008ba17bc6024b6','fe9fc0ae0f27dd8c7541529a490b7d1bcd9f19b10c00b49f099754593ec18d70');
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
INSERT INTO "clearing" VALUES('01m81smh28zeagnk68d7bc9qqt',2,1,'',0,1.79535677186978340148e+09);
INSERT INTO "clearing" VALUES('01m81smhzwbt1x4yj65fxbmwe0',2,1,'',0,1.79535677240595769885e+09);
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
INSERT INTO "conversation" VALUES('01m81sm3m4ae5vw12x43dzqmbg','web','console','garden','','dm','',1,23,11,27,1,'01m81smfxj33brxaq9xqqy6p6n','','',4,'86cde41b5312f8d703b93e59ce753e29d44084b3b2d9928bef3c46bc809e2dd7','fold',1,'«g0» the roses want water; I prefer tea. 花园要浇水',1.79535677268672060969e+09,1.79535677272310042378e+09);
INSERT INTO "conversation" VALUES('01m81smg2na400nw6c6znz0eee','web','console','work','','dm','',1,7,4,12,1,'','','',2,'86cde41b5312f8d703b93e59ce753e29d44084b3b2d9928bef3c46bc809e2dd7','fold undone',1,'«w0» what do you make of it?',1.7953567879318640232e+09,1.7953567879318640232e+09);
INSERT INTO "conversation" VALUES('01m81smh28zeagnk68d7bc9qqt','web','console','old','','dm','',2,7,4,9,5,'','','',1,'86cde41b5312f8d703b93e59ce753e29d44084b3b2d9928bef3c46bc809e2dd7','clear',1,'«o0» what do you make of it?',1.79535677213020062443e+09,1.79535677230937576291e+09);
INSERT INTO "conversation" VALUES('01m81smhzwbt1x4yj65fxbmwe0','web','console','new','','dm','',2,5,3,7,3,'','','',1,'86cde41b5312f8d703b93e59ce753e29d44084b3b2d9928bef3c46bc809e2dd7','clear',1,'«n0» what do you make of it?',1.79535677243325185771e+09,1.79535677258246397967e+09);
INSERT INTO "conversation" VALUES('01m81smjcr4zethte943crznm6','telegram','100','5005','','dm','',1,5,3,5,1,'','','',0,'86cde41b5312f8d703b93e59ce753e29d44084b3b2d9928bef3c46bc809e2dd7','SOUL.md, tools or model',1,'«t0» what do you make of it?',1.79535677288876104355e+09,1.79535677291455125813e+09);
INSERT INTO "conversation" VALUES('01m81smjjv93m7askpzr12r7g3','web','console','picture','','dm','',1,3,2,3,1,'','','',0,'86cde41b5312f8d703b93e59ce753e29d44084b3b2d9928bef3c46bc809e2dd7','SOUL.md, tools or model',1,'«p1» what do you make of it? 📎 dot.png',1795356772.95528,1.79535677395639705657e+09);
INSERT INTO "conversation" VALUES('01m81smvz1m6hqvqgrtyd3e74v','web','console','late','','dm','',1,7,4,7,1,'','','',0,'86cde41b5312f8d703b93e59ce753e29d44084b3b2d9928bef3c46bc809e2dd7','SOUL.md, tools or model',1,'«l0» what do you make of it?',1.79535678996364521983e+09,1.79535678998488569266e+09);
INSERT INTO "conversation" VALUES('01m81sn26jthvxcegsmfssmq4g','web','console','tool','','dm','',1,3,2,3,1,'','','',0,'86cde41b5312f8d703b93e59ce753e29d44084b3b2d9928bef3c46bc809e2dd7','SOUL.md, tools or model',1,'«x1» use write_file {"path": "notes/x.md", "content": "x"}',1795356789.95655,1795356789.95655);
CREATE TABLE coverage (
	message_id TEXT NOT NULL, 
	class TEXT NOT NULL, 
	fold_id TEXT NOT NULL, 
	PRIMARY KEY (message_id)
);
INSERT INTO "coverage" VALUES('01m81sm3m46dgbdwzgn3dypc05','folded','01m81smeg0wmke5zkm1a36mjyw');
INSERT INTO "coverage" VALUES('01m81smdpbyedc0y1wp3m6574c','folded','01m81smeg0wmke5zkm1a36mjyw');
INSERT INTO "coverage" VALUES('01m81smdx90m04d2fjwrsqyrrz','folded','01m81smeg0wmke5zkm1a36mjyw');
INSERT INTO "coverage" VALUES('01m81smdy41w4jd0s48bfatd4k','folded','01m81smeg0wmke5zkm1a36mjyw');
INSERT INTO "coverage" VALUES('01m81smdykqpgr2fpw4zqahya1','folded','01m81smfxj33brxaq9xqqy6p6n');
INSERT INTO "coverage" VALUES('01m81sme6whg5776rbmk9w5s4a','folded','01m81smfxj33brxaq9xqqy6p6n');
INSERT INTO "coverage" VALUES('01m81sme7e95d1qr1zyxr3nn3j','folded','01m81smfxj33brxaq9xqqy6p6n');
INSERT INTO "coverage" VALUES('01m81sme8x7x8sd8k5j6adt5ep','folded','01m81smfxj33brxaq9xqqy6p6n');
INSERT INTO "coverage" VALUES('01m81smea6aecqrp8jrg807v93','folded','01m81smfxj33brxaq9xqqy6p6n');
INSERT INTO "coverage" VALUES('01m81smed7tpzj5kv9w6en7rbk','folded','01m81smfxj33brxaq9xqqy6p6n');
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
INSERT INTO "extraction" VALUES('01m81sm9hesx2ykryg900yk3sc','','01m81sm3m4ae5vw12x43dzqmbg',1,'done',2,'','kept 1',1795356767.94732);
INSERT INTO "extraction" VALUES('01m81smdxr0zqeb5hj9rthfs6t','','01m81sm3m4ae5vw12x43dzqmbg',2,'done',2,'','kept 1',1.79535676819633221619e+09);
INSERT INTO "extraction" VALUES('01m81sme0e2r4evwympgq43dsn','','01m81sm3m4ae5vw12x43dzqmbg',3,'done',2,'','kept 1',1.79535676847682356838e+09);
INSERT INTO "extraction" VALUES('01m81sme7kd5hfvszdh5hetqtn','','01m81sm3m4ae5vw12x43dzqmbg',4,'done',2,'','kept 1',1.79535676854145312313e+09);
INSERT INTO "extraction" VALUES('01m81smeaq6atfzsf6nv8jx7dt','','01m81sm3m4ae5vw12x43dzqmbg',5,'done',2,'','kept 1',1.79535676867933654786e+09);
INSERT INTO "extraction" VALUES('01m81smf36a5fpz4fdvmfkm5rs','','01m81sm3m4ae5vw12x43dzqmbg',6,'done',2,'','kept 0',1.79535676944002270697e+09);
INSERT INTO "extraction" VALUES('01m81smf7vty2ww67vbcxm8y31','','01m81sm3m4ae5vw12x43dzqmbg',7,'done',2,'','kept 0',1.79535676966596937178e+09);
INSERT INTO "extraction" VALUES('01m81smfgdav4kb9m9rvfwfe0n','','01m81sm3m4ae5vw12x43dzqmbg',8,'done',2,'','kept 0',1.79535676988910841938e+09);
INSERT INTO "extraction" VALUES('01m81smfsextjyjznxrv22shsz','','01m81sm3m4ae5vw12x43dzqmbg',9,'done',2,'','kept 0',1.79535677016785669328e+09);
INSERT INTO "extraction" VALUES('01m81smg2r28e0p70t1hyp8sya','','01m81smg2na400nw6c6znz0eee',1,'done',2,'','kept 0',1.79535677043269681924e+09);
INSERT INTO "extraction" VALUES('01m81smg6cazpawxeyffmd4gvx','','01m81smg2na400nw6c6znz0eee',2,'done',2,'','kept 0',1.79535677055476093296e+09);
INSERT INTO "extraction" VALUES('01m81smgcgcrzpkavc5k19nbn7','','01m81smg2na400nw6c6znz0eee',3,'done',2,'','kept 0',1.79535677089848232264e+09);
INSERT INTO "extraction" VALUES('01m81smh2xrsagx5q7cpcraxj5','','01m81smh28zeagnk68d7bc9qqt',1,'done',2,'','kept 0',1.79535677151751399036e+09);
INSERT INTO "extraction" VALUES('01m81smh8z2wcjmy0rn8dcjmnb','','01m81smh28zeagnk68d7bc9qqt',2,'done',2,'','kept 0',1.79535677170128488543e+09);
INSERT INTO "extraction" VALUES('01m81smhtqvdca847gcdxs5dp6','','01m81smh28zeagnk68d7bc9qqt',3,'done',2,'','kept 0',1.79535677230937576291e+09);
INSERT INTO "extraction" VALUES('01m81smj0asgabhh47b61nzaww','','01m81smhzwbt1x4yj65fxbmwe0',1,'done',2,'','kept 0',1.79535677237847709651e+09);
INSERT INTO "extraction" VALUES('01m81smj2qkh7h8xx7wx5fn3t4','','01m81smhzwbt1x4yj65fxbmwe0',2,'done',2,'','kept 0',1.79535677258246397967e+09);
INSERT INTO "extraction" VALUES('01m81smjakp5zjway4nha22ga6','','01m81sm3m4ae5vw12x43dzqmbg',10,'done',2,'','kept 1',1.79535677272310042378e+09);
INSERT INTO "extraction" VALUES('01m81smjd9anb3r291s3fxg35t','','01m81smjcr4zethte943crznm6',1,'done',2,'','kept 0',1.79535677286151313779e+09);
INSERT INTO "extraction" VALUES('01m81smjgx25a1kcvszreexfjr','','01m81smjcr4zethte943crznm6',2,'done',2,'','kept 0',1.79535677291455125813e+09);
INSERT INTO "extraction" VALUES('01m81smkajefxj93qbr4g15npt','','01m81smjjv93m7askpzr12r7g3',1,'done',2,'','kept 0',1.79535677395639705657e+09);
INSERT INTO "extraction" VALUES('01m81sn0qvdqxp554ve6qy6zx5','','01m81smvz1m6hqvqgrtyd3e74v',1,'done',2,'','kept 0',1.79535678761531281464e+09);
INSERT INTO "extraction" VALUES('01m81sn122fwrw7s8y3dd93h1q','','01m81smvz1m6hqvqgrtyd3e74v',2,'done',2,'','kept 0',1.79535678790231204037e+09);
INSERT INTO "extraction" VALUES('01m81sn36f6d5f5h27r7at41n1','','01m81smvz1m6hqvqgrtyd3e74v',3,'done',2,'','kept 0',1.79535678998488569266e+09);
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
INSERT INTO "fold" VALUES('01m81smeg0wmke5zkm1a36mjyw','01m81sm3m4ae5vw12x43dzqmbg','','web',1,'',1,4,1,2,2,'folded','model','balanced','/context fold','- «g0» the roses want water; I prefer tea. 花园要浇水
- «g1» the roses want water; I prefer tea. 花园要浇水','- «g0» the roses want water; I prefer tea. 花园要浇水
- «g1» the roses want water; I prefer tea. 花园要浇水',41,'8a28f43a6829d01883ea08fba2dc094fd2a1aae18eca8e4c46604228076c0ee1','memory/2026-11-22.md',190,155,0,1.79535676876813387863e+09,1,'',11,0);
INSERT INTO "fold" VALUES('01m81smfxj33brxaq9xqqy6p6n','01m81sm3m4ae5vw12x43dzqmbg','','web',1,'01m81smeg0wmke5zkm1a36mjyw',5,10,3,5,5,'folded','model','balanced','/context fold','- «g2» the roses want water; I prefer tea. 花园要浇水
- «g3» the roses want water; I prefer tea. 花园要浇水
- «g4» the roses want water; I prefer tea. 花园要浇水
- 14:12 Bot: re «g0»
- 14:12 Bot: re «g1»','- «g2» the roses want water; I prefer tea. 花园要浇水
- «g3» the roses want water; I prefer tea. 花园要浇水
- «g4» the roses want water; I prefer tea. 花园要浇水',62,'472ac34b728d439e28e6c6b37bfec3ffaabc3a37c7babf92a28f7937860393b4','memory/2026-11-22.md',361,268,0,1.79535677022610425947e+09,1,'',21,0);
INSERT INTO "fold" VALUES('01m81smgqv38q1dg8whgkn3cav','01m81smg2na400nw6c6znz0eee','','web',1,'',1,2,1,1,1,'undone','model','balanced','/context fold','- «w0» what do you make of it?','- «w0» what do you make of it?',12,'f41b29f0ad31107fee7a4d7a8dc9d04ba0a8ae4b1de9e447ae4c72ed39ae763c','memory/2026-11-22.md',90,72,0,1.79535677106789112091e+09,1,'',7,0);
INSERT INTO "fold" VALUES('01m81smj1n4vbb9dky3fxr53sz','01m81smhzwbt1x4yj65fxbmwe0','','web',1,'',1,2,1,1,1,'folded','model','balanced','/new','- «n0» what do you make of it?','',0,'d830ac11b618545e266ef738d58102cdf465091e5b4102805199bad6bebb92bd','memory/2026-11-22.md',30,0,1,1.79535677240595769885e+09,1,'',3,0);
INSERT INTO "fold" VALUES('01m81sn17k90d9cdy0ptfjf5wg','01m81smg2na400nw6c6znz0eee','','web',1,'',1,2,1,1,1,'checked','model','balanced','/context fold','- «w0» what do you make of it?','- «w0» what do you make of it?',12,'f41b29f0ad31107fee7a4d7a8dc9d04ba0a8ae4b1de9e447ae4c72ed39ae763c','',90,60,0,1.79535678795573759082e+09,2,'',7,0);
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
INSERT INTO "forgetting" VALUES('f1','','01m81sm3m4ae5vw12x43dzqmbg','owner','done','','{}','Removed from 2 places.',1795000000.0,1795000000.0);
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
	lease_epoch INTEGER NOT NULL, album TEXT DEFAULT '' NOT NULL, 
	PRIMARY KEY (id), 
	CONSTRAINT inbox_key UNIQUE (channel, account, "key"), 
	FOREIGN KEY(conversation) REFERENCES conversation (id)
);
INSERT INTO "inbox" VALUES('01m81sm3m46dgbdwzgn3dypc05','01m81sm3m4ae5vw12x43dzqmbg','web','console','garden680bf9dd6b4b42aea2a394c7be86c477','message','owner','{"text": "«g0» the roses want water; I prefer tea. 花园要浇水"}','','done','',0,'01m81sm9hesx2ykryg900yk3sc','01m81sm3m4t3s7tkac4jqk2ygr',1,0,0.0,1.79535675763680768008e+09,1,'');
INSERT INTO "inbox" VALUES('01m81smdx90m04d2fjwrsqyrrz','01m81sm3m4ae5vw12x43dzqmbg','web','console','garden82f01078c38749c9b2358935b13c1f37','message','owner','{"text": "«g1» the roses want water; I prefer tea. 花园要浇水"}','','done','',0,'01m81smdxr0zqeb5hj9rthfs6t','01m81smdx9rmpjw3an8whh8cp6',3,0,0.0,1.79535676816905903812e+09,1,'');
INSERT INTO "inbox" VALUES('01m81smdykqpgr2fpw4zqahya1','01m81sm3m4ae5vw12x43dzqmbg','web','console','garden3d3af5507d014be28610b959b9bd55ca','message','owner','{"text": "«g2» the roses want water; I prefer tea. 花园要浇水"}','','done','',0,'01m81sme0e2r4evwympgq43dsn','01m81smdykq9d3scrxfhqc55ca',5,0,0.0,1.79535676821193933491e+09,1,'');
INSERT INTO "inbox" VALUES('01m81sme7e95d1qr1zyxr3nn3j','01m81sm3m4ae5vw12x43dzqmbg','web','console','garden03c883b4458a42b3aa1840c5d8841d24','message','owner','{"text": "«g3» the roses want water; I prefer tea. 花园要浇水"}','','done','',0,'01m81sme7kd5hfvszdh5hetqtn','01m81sme7e8zjd2cw9g8ehgxh6',7,0,0.0,1.79535676849488925934e+09,1,'');
INSERT INTO "inbox" VALUES('01m81smea6aecqrp8jrg807v93','01m81sm3m4ae5vw12x43dzqmbg','web','console','gardena9ddceed65fb4538b8e30370ae94d716','message','owner','{"text": "«g4» the roses want water; I prefer tea. 花园要浇水"}','','done','',0,'01m81smeaq6atfzsf6nv8jx7dt','01m81smea6n9b8qgebj5tbm3j6',9,0,0.0,1.79535676858240318297e+09,1,'');
INSERT INTO "inbox" VALUES('01m81smeff194rdyqyx7fccr4r','01m81sm3m4ae5vw12x43dzqmbg','web','console','garden11702666462b46bd9de574b357582a0f','command','owner','{"text": "/context fold"}','','done','',1,'','01m81smeffktsph6paht5m1dnb',11,0,0.0,1.79535676875182867049e+09,0,'');
INSERT INTO "inbox" VALUES('01m81smf21v5f2rc3jtx5vnhm4','01m81sm3m4ae5vw12x43dzqmbg','web','console','garden05d57a77e0d84207b311adfbce14dd61','message','owner','{"text": "«g5» what do you make of it?"}','','done','',0,'01m81smf36a5fpz4fdvmfkm5rs','01m81smf211qhm69p0nkm8sw7d',13,0,0.0,1.79535676934582161907e+09,1,'');
INSERT INTO "inbox" VALUES('01m81smf74rv3b4dwdd5k2cdyj','01m81sm3m4ae5vw12x43dzqmbg','web','console','garden48d6813778034d9bbd94a5f438b3a336','message','owner','{"text": "«g6» what do you make of it?"}','','done','',0,'01m81smf7vty2ww67vbcxm8y31','01m81smf74cstjvskq6zqnc8sa',15,0,0.0,1.79535676950818467141e+09,1,'');
INSERT INTO "inbox" VALUES('01m81smfd41bcsb7e9r8f8s71y','01m81sm3m4ae5vw12x43dzqmbg','web','console','garden1461d3a22c154823a671ccc706655f11','message','owner','{"text": "«g7» what do you make of it?"}','','done','',0,'01m81smfgdav4kb9m9rvfwfe0n','01m81smfd4sdb318fyywdvyny5',17,0,0.0,1.79535676970081639288e+09,1,'');
INSERT INTO "inbox" VALUES('01m81smfqd0td406v6f29jcxms','01m81sm3m4ae5vw12x43dzqmbg','web','console','garden15f116cbb6684ad2ba1a8e8fd4bcecba','message','owner','{"text": "«g8» use write_file {\"path\": \"notes/roses.md\", \"content\": \"water on Mondays\"}"}','','done','',0,'01m81smfsextjyjznxrv22shsz','01m81smfqdrm1fdr7bayy4hftj',19,0,0.0,1.79535677002920222283e+09,1,'');
INSERT INTO "inbox" VALUES('01m81smfwhecqs8bkj851npe63','01m81sm3m4ae5vw12x43dzqmbg','web','console','gardenfd458dc145244481af5403aa06f860a2','command','owner','{"text": "/context fold"}','','done','',1,'','01m81smfwhkpxzb4d66zx2a3x0',21,0,0.0,1.79535677019359540939e+09,0,'');
INSERT INTO "inbox" VALUES('01m81smg2nxqrb3fat1j8kw287','01m81smg2na400nw6c6znz0eee','web','console','workd7f4d4a3a6fa4dee9a58936ac72b8cce','message','owner','{"text": "«w0» what do you make of it?"}','','done','',0,'01m81smg2r28e0p70t1hyp8sya','01m81smg2nyvs6x62a093z165k',1,0,0.0,1.79535677038941764833e+09,1,'');
INSERT INTO "inbox" VALUES('01m81smg5ynsksk1kfwjvnwjnt','01m81smg2na400nw6c6znz0eee','web','console','workced4b808faf646f5a43986762b71e850','message','owner','{"text": "«w1» what do you make of it?"}','','done','',0,'01m81smg6cazpawxeyffmd4gvx','01m81smg5ycs1r3h0epfcae96y',3,0,0.0,1.79535677049463915822e+09,1,'');
INSERT INTO "inbox" VALUES('01m81smga6qh393xtn564t0kax','01m81smg2na400nw6c6znz0eee','web','console','work9d4958c047eb44019f64fdbff2cb3c6e','message','owner','{"text": "«w2» what do you make of it?"}','','done','',0,'01m81smgcgcrzpkavc5k19nbn7','01m81smga6wsxd6zw7xtntycw3',5,0,0.0,1.79535677063092350964e+09,1,'');
INSERT INTO "inbox" VALUES('01m81smgkn5n800qjdkvbts9zv','01m81smg2na400nw6c6znz0eee','web','console','work3e2be2c748cd4773aabdbcd5d50bcc12','command','owner','{"text": "/context fold"}','','done','',1,'','01m81smgkn7r878hz7enhk83j8',7,0,0.0,1.79535677093318462365e+09,0,'');
INSERT INTO "inbox" VALUES('01m81smgydma9c09c66ere7sqq','01m81smg2na400nw6c6znz0eee','web','console','worke42277ea3e804d3d8963ea2c74e28f7d','command','owner','{"text": "/context undo"}','','done','',1,'','01m81smgyd9dr6hgn47pcx3nrp',9,0,0.0,1.79535677127796959879e+09,0,'');
INSERT INTO "inbox" VALUES('01m81smh28ewjcpjrgsbbzmv7p','01m81smh28zeagnk68d7bc9qqt','web','console','old79580dd0a7bc4d32ba491ac0bd4dcd97','message','owner','{"text": "«o0» what do you make of it?"}','','done','',0,'01m81smh2xrsagx5q7cpcraxj5','01m81smh281swa5kmkjm17fpdy',1,0,0.0,1.79535677140080928804e+09,1,'');
INSERT INTO "inbox" VALUES('01m81smh8da8e0w3eeeafa674w','01m81smh28zeagnk68d7bc9qqt','web','console','oldf7aa99a630444f2db5aff45b4bfab2fb','message','owner','{"text": "«o1» what do you make of it?"}','','done','',0,'01m81smh8z2wcjmy0rn8dcjmnb','01m81smh8dh17ysjwr5vartxc0',3,0,0.0,1.79535677159702539446e+09,1,'');
INSERT INTO "inbox" VALUES('01m81smhfbapvczy7hpwsb9pgv','01m81smh28zeagnk68d7bc9qqt','web','console','old355a863554a546b8a45edb6c4322c39c','command','owner','{"text": "/context clear"}','','done','',1,'','01m81smhfbknjmexyfnhzny758',5,0,0.0,1.79535677181992173187e+09,0,'');
INSERT INTO "inbox" VALUES('01m81smhs27q6d5zm60j6zhgq5','01m81smh28zeagnk68d7bc9qqt','web','console','old42e541b110c0458bb6658b1aabd2c95f','message','owner','{"text": "«o2» what do you make of it?"}','','done','',0,'01m81smhtqvdca847gcdxs5dp6','01m81smhs2xq4xjdpcxvk5vsp0',7,0,0.0,1.79535677213020062443e+09,1,'');
INSERT INTO "inbox" VALUES('01m81smhzwcmbw40t7q1gqnhjn','01m81smhzwbt1x4yj65fxbmwe0','web','console','new89252a6ee9f6453eb183a85936da2581','message','owner','{"text": "«n0» what do you make of it?"}','','done','',0,'01m81smj0asgabhh47b61nzaww','01m81smhzwvz6dshpg2q9vmftt',1,0,0.0,1.79535677234848713872e+09,1,'');
INSERT INTO "inbox" VALUES('01m81smj1c0an4qscmvkv3h6fd','01m81smhzwbt1x4yj65fxbmwe0','web','console','new3cec433bf94f4356b909d77185472562','command','owner','{"text": "/new"}','','done','',1,'','01m81smj1cfz4me30mmzvxxq03',3,0,0.0,1.79535677239641427993e+09,0,'');
INSERT INTO "inbox" VALUES('01m81smj2h5qf31e9fysh0wgg6','01m81smhzwbt1x4yj65fxbmwe0','web','console','new364ff4f25d4e4d85a0d4299b8e18c5dc','message','owner','{"text": "«n1» what do you make of it?"}','','done','',0,'01m81smj2qkh7h8xx7wx5fn3t4','01m81smj2h2epm4jf61bnf5df7',5,0,0.0,1.79535677243325185771e+09,1,'');
INSERT INTO "inbox" VALUES('01m81smj83c6hps3xh4cxcgm9e','01m81sm3m4ae5vw12x43dzqmbg','web','console','gardenb01eeb3da26e459aa9191ef933e0fafc','command','owner','{"text": "/remember The gate code is 4711"}','','done','',1,'','01m81smj83j1mjvwvrmg2xejw0',23,0,0.0,1.79535677261185216903e+09,0,'');
INSERT INTO "inbox" VALUES('01m81smjaeems9zt4ancwrmkv0','01m81sm3m4ae5vw12x43dzqmbg','web','console','gardenc0d8503902c9496488d4d646cc5815cb','message','owner','{"text": "«m1» a thing to know. I prefer green tea."}','','done','',0,'01m81smjakp5zjway4nha22ga6','01m81smjaebnasga58c8bmmdsa',25,0,0.0,1.79535677268672060969e+09,1,'');
INSERT INTO "inbox" VALUES('01m81smjcr6zc5b975ewdsww6j','01m81smjcr4zethte943crznm6','telegram','100','m:5005:1:0','message','5005','{"text": "«t0» what do you make of it?", "name": "Ада"}','00000000000000700100','done','',0,'01m81smjd9anb3r291s3fxg35t','01m81smjcrm347rqe67esmmq53',1,0,0.0,1.79535677276012206075e+09,1,'g77');
INSERT INTO "inbox" VALUES('01m81smjgrm9rb58e7619y8sfw','01m81smjcr4zethte943crznm6','telegram','100','m:5005:3:0','message','5005','{"text": "«t1» what do you make of it?", "name": "Ада"}','00000000000000700101','done','',0,'01m81smjgx25a1kcvszreexfjr','01m81smjgr06fx8e4wygrzy4ej',3,0,0.0,1.79535677288876104355e+09,1,'g77');
INSERT INTO "inbox" VALUES('01m81smjjv9dd6cg0cdxjw18et','01m81smjjv93m7askpzr12r7g3','web','console','picturep1','message','owner','{"text": "«p1» what do you make of it?", "shown": "«p1» what do you make of it?\n📎 dot.png", "files": [["7899d6ced52159786ff083934df42788da01a30b7ed9bb7756d7f3f5a94ef685", "dot.png", "image/png", 68]]}','','done','',0,'01m81smkajefxj93qbr4g15npt','01m81smjjvkv2h76exeq2eaza0',1,0,0.0,1795356772.95528,1,'');
INSERT INTO "inbox" VALUES('01m81smvz1q0g9bp8mbzyhxyft','01m81smvz1m6hqvqgrtyd3e74v','web','console','late773d45337eba4b8c82280bc24d709d00','message','owner','{"text": "«l0» what do you make of it?"}','','done','',0,'01m81sn0qvdqxp554ve6qy6zx5','01m81smvz1z56pvvx8ry5ww5eh',1,0,0.0,1.79535678256104826925e+09,2,'');
INSERT INTO "inbox" VALUES('01m81sn10bkh62c26bwnc4vd4a','01m81smvz1m6hqvqgrtyd3e74v','web','console','late0d7a0f90d2f84f26936ae9f347d41ffd','message','owner','{"text": "«l1» what do you make of it?"}','','done','',0,'01m81sn122fwrw7s8y3dd93h1q','01m81sn10bh2yxqkhhsk57feyt',3,0,0.0,1.79535678772371339799e+09,2,'');
INSERT INTO "inbox" VALUES('01m81sn16vd09k3je5db3sb4at','01m81smg2na400nw6c6znz0eee','web','console','work/context fold','command','owner','{"text": "/context fold"}','','new','',1,'','01m81sn16vt5vnccmrkjh4bq4f',11,0,0.0,1.7953567879318640232e+09,0,'');
INSERT INTO "inbox" VALUES('01m81sn26jc931p8b0153pe11n','01m81sn26jthvxcegsmfssmq4g','web','console','tool«x1» use write_file {"path": "notes/x.md", "content": "x"}','message','owner','{"text": "«x1» use write_file {\"path\": \"notes/x.md\", \"content\": \"x\"}"}','','running','',0,'01m81sn26xfy1rpksan8ftta4t','01m81sn26jxk4gm870w361r9hf',1,0,0.0,1.79535678894637250897e+09,2,'');
INSERT INTO "inbox" VALUES('01m81sn364td5bz8ybja9j0h9x','01m81sn26jthvxcegsmfssmq4g','web','console','tool«x2» and after that?','message','owner','{"text": "«x2» and after that?"}','','new','',0,'','01m81sn364ntzzfwsk9gt68vv8',2,0,0.0,1795356789.95655,0,'');
INSERT INTO "inbox" VALUES('01m81sn36b8ff4qj2ny4gdtjps','01m81smvz1m6hqvqgrtyd3e74v','web','console','late«l2» what do you make of it?','message','owner','{"text": "«l2» what do you make of it?"}','','done','',0,'01m81sn36f6d5f5h27r7at41n1','01m81sn36b0676whrzaj8mzxr8',5,0,0.0,1.79535678996364521983e+09,2,'');
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
INSERT INTO "link_code" VALUES('l1','0','agreed','telegram','100','5006','','01m81sm3m4ae5vw12x43dzqmbg','telegram','100','5006','Ada','p-joined','01m81sm3m4ae5vw12x43dzqmbg',1795000000.0,1795000000.0);
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
INSERT INTO "memory" VALUES('01m81smdyktj9bqmdrb92zrvvk','','g0 the roses want water i prefer tea','user_preference','«g0» the roses want water; I prefer tea',6,'live','extraction','01m81sm3m4ae5vw12x43dzqmbg','01m81sm3m46dgbdwzgn3dypc05','web','«g0» the roses want water; I prefer tea',1.79535676369450211522e+09,1.79535676821193933491e+09,1.79535676821193933491e+09,1.79535676861167836195e+09,3,'',0.0);
INSERT INTO "memory" VALUES('01m81sme81m5xfts5xzp8fs3db','','g1 the roses want water i prefer tea','user_preference','«g1» the roses want water; I prefer tea',6,'live','extraction','01m81sm3m4ae5vw12x43dzqmbg','01m81smdx90m04d2fjwrsqyrrz','web','«g1» the roses want water; I prefer tea',1.79535676818492698669e+09,1.79535676851345038411e+09,1.79535676851345038411e+09,1.79535676861167836195e+09,2,'',0.0);
INSERT INTO "memory" VALUES('01m81smeawwg84p7gmppc4zjke','','g2 the roses want water i prefer tea','user_preference','«g2» the roses want water; I prefer tea',6,'live','extraction','01m81sm3m4ae5vw12x43dzqmbg','01m81smdykqpgr2fpw4zqahya1','web','«g2» the roses want water; I prefer tea',1795356768.27086,1.79535676860499954221e+09,1.79535676860499954221e+09,1.79535676861167836195e+09,1,'',0.0);
INSERT INTO "memory" VALUES('01m81smegapsq83fsrczhzd96x','','g3 the roses want water i prefer tea','user_preference','«g3» the roses want water; I prefer tea',6,'live','extraction','01m81sm3m4ae5vw12x43dzqmbg','01m81sme7e95d1qr1zyxr3nn3j','web','«g3» the roses want water; I prefer tea',1.79535676849939799309e+09,1.79535676877820491795e+09,1.79535676877820491795e+09,0.0,0,'',0.0);
INSERT INTO "memory" VALUES('01m81smety5b8p33k4k7hf1eps','','g4 the roses want water i prefer tea','user_preference','«g4» the roses want water; I prefer tea',6,'live','extraction','01m81sm3m4ae5vw12x43dzqmbg','01m81smea6aecqrp8jrg807v93','web','«g4» the roses want water; I prefer tea',1.79535676859982609755e+09,1.79535676911866450312e+09,1.79535676911866450312e+09,0.0,0,'',0.0);
INSERT INTO "memory" VALUES('01m81smj9n22mnzv67mkkmtcg0','','the gate code is 4711','fact','The gate code is 4711',8,'live','person','01m81sm3m4ae5vw12x43dzqmbg','01m81smj83c6hps3xh4cxcgm9e','web','/remember The gate code is 4711',1.79535677261185193064e+09,1.79535677266176724436e+09,1.79535677266176724436e+09,0.0,0,'',0.0);
INSERT INTO "memory" VALUES('01m81smjcxwm4k2b2txge04rpk','','i prefer green tea','user_preference','I prefer green tea',6,'live','extraction','01m81sm3m4ae5vw12x43dzqmbg','01m81smjaeems9zt4ancwrmkv0','web','I prefer green tea',1.79535677269110202788e+09,1.79535677276502251623e+09,1.79535677276502251623e+09,0.0,0,'',0.0);
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
INSERT INTO "memory_change" VALUES('01m81smdyk6316ppnx2tz2as75','','MEMORY.md','extract','73a75d57d3bce6e6194e9c3ce650a5f836e26e5cb0efe6db3dc5961d8f1a641c','8fa62e7329481e1698ca5d5ead245d8a8150a2481080470e31a5c996bfc39e73','["«g0» the roses want water; I prefer tea"]','[]','','01m81sm3m46dgbdwzgn3dypc05',0,1.79535676821193933491e+09);
INSERT INTO "memory_change" VALUES('01m81sme81yc83vca52v06ckr9','','MEMORY.md','extract','8fa62e7329481e1698ca5d5ead245d8a8150a2481080470e31a5c996bfc39e73','b697e1ec796c8b7a56aee1e54abfb63a2ae6902e9d568e8698d692478b01da2a','["«g1» the roses want water; I prefer tea"]','[]','','01m81smdx90m04d2fjwrsqyrrz',0,1.79535676851345038411e+09);
INSERT INTO "memory_change" VALUES('01m81smeawt6h3xqsjgeecnase','','MEMORY.md','extract','b697e1ec796c8b7a56aee1e54abfb63a2ae6902e9d568e8698d692478b01da2a','d66d54edc1ba1ad747e44ff5f7b746c2de77f6d29b15f843cfeec437cb29488e','["«g2» the roses want water; I prefer tea"]','[]','','01m81smdykqpgr2fpw4zqahya1',0,1.79535676860499954221e+09);
INSERT INTO "memory_change" VALUES('01m81smegak2mpb1jy0j12y01q','','MEMORY.md','extract','d66d54edc1ba1ad747e44ff5f7b746c2de77f6d29b15f843cfeec437cb29488e','05389b6f2523f0ca1bf3b1bcf6669df83790eb0bc8d35b2513af8d13cbe611a6','["«g3» the roses want water; I prefer tea"]','[]','','01m81sme7e95d1qr1zyxr3nn3j',0,1.79535676877820491795e+09);
INSERT INTO "memory_change" VALUES('01m81smetynmqtgpy6nx8bw7x5','','MEMORY.md','extract','05389b6f2523f0ca1bf3b1bcf6669df83790eb0bc8d35b2513af8d13cbe611a6','fca268e68f52be9bc55318d05b4bd3b9775fc3379b421173ea5ad3b153edc64b','["«g4» the roses want water; I prefer tea"]','[]','','01m81smea6aecqrp8jrg807v93',0,1.79535676911866450312e+09);
INSERT INTO "memory_change" VALUES('01m81smj9nmrp4mz9symmgn38f','','MEMORY.md','remember','fca268e68f52be9bc55318d05b4bd3b9775fc3379b421173ea5ad3b153edc64b','eb8aa8fcc1d7d571749e2b52e51289200c0e8b65ab35fdf6926b994a9f641941','["The gate code is 4711"]','[]','','01m81smj83c6hps3xh4cxcgm9e',0,1.79535677266176724436e+09);
INSERT INTO "memory_change" VALUES('01m81smjcxt7293q4ezt2mng2h','','MEMORY.md','extract','eb8aa8fcc1d7d571749e2b52e51289200c0e8b65ab35fdf6926b994a9f641941','a816e417f55f0b5a9dad0b389b30545e71456968212982e2bf633e37a3fec3b5','["I prefer green tea"]','[]','','01m81smjaeems9zt4ancwrmkv0',0,1.79535677276502251623e+09);
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
INSERT INTO "message" VALUES('01m81sm3m46dgbdwzgn3dypc05','01m81sm3m4ae5vw12x43dzqmbg',1,1,1,'01m81sm9hesx2ykryg900yk3sc','user','[{"kind":"Text","text":"«g0» the roses want water; I prefer tea. 花园要浇水"}]','person','',1,26,'tiktoken',1.79535676369450187682e+09);
INSERT INTO "message" VALUES('01m81smdpbyedc0y1wp3m6574c','01m81sm3m4ae5vw12x43dzqmbg',1,2,1,'01m81sm9hesx2ykryg900yk3sc','assistant','[{"kind":"Text","text":"re «g0»"}]','model','',1,12,'tiktoken',1795356767.94732);
INSERT INTO "message" VALUES('01m81smdx90m04d2fjwrsqyrrz','01m81sm3m4ae5vw12x43dzqmbg',1,3,2,'01m81smdxr0zqeb5hj9rthfs6t','user','[{"kind":"Text","text":"«g1» the roses want water; I prefer tea. 花园要浇水"}]','person','',1,26,'tiktoken',1.79535676818492698669e+09);
INSERT INTO "message" VALUES('01m81smdy41w4jd0s48bfatd4k','01m81sm3m4ae5vw12x43dzqmbg',1,4,2,'01m81smdxr0zqeb5hj9rthfs6t','assistant','[{"kind":"Text","text":"re «g1»"}]','model','',1,12,'tiktoken',1.79535676819633221619e+09);
INSERT INTO "message" VALUES('01m81smdykqpgr2fpw4zqahya1','01m81sm3m4ae5vw12x43dzqmbg',1,5,3,'01m81sme0e2r4evwympgq43dsn','user','[{"kind":"Text","text":"«g2» the roses want water; I prefer tea. 花园要浇水"}]','person','',1,26,'tiktoken',1.79535676827086019516e+09);
INSERT INTO "message" VALUES('01m81sme6whg5776rbmk9w5s4a','01m81sm3m4ae5vw12x43dzqmbg',1,6,3,'01m81sme0e2r4evwympgq43dsn','assistant','[{"kind":"Text","text":"re «g0»"}]','model','',1,12,'tiktoken',1.79535676847682356838e+09);
INSERT INTO "message" VALUES('01m81sme7e95d1qr1zyxr3nn3j','01m81sm3m4ae5vw12x43dzqmbg',1,7,4,'01m81sme7kd5hfvszdh5hetqtn','user','[{"kind":"Text","text":"«g3» the roses want water; I prefer tea. 花园要浇水"}]','person','',1,26,'tiktoken',1.79535676849939846997e+09);
INSERT INTO "message" VALUES('01m81sme8x7x8sd8k5j6adt5ep','01m81sm3m4ae5vw12x43dzqmbg',1,8,4,'01m81sme7kd5hfvszdh5hetqtn','assistant','[{"kind":"Text","text":"re «g1»"}]','model','',1,12,'tiktoken',1.79535676854145312313e+09);
INSERT INTO "message" VALUES('01m81smea6aecqrp8jrg807v93','01m81sm3m4ae5vw12x43dzqmbg',1,9,5,'01m81smeaq6atfzsf6nv8jx7dt','user','[{"kind":"Text","text":"«g4» the roses want water; I prefer tea. 花园要浇水"}]','person','',1,26,'tiktoken',1.79535676859982633595e+09);
INSERT INTO "message" VALUES('01m81smed7tpzj5kv9w6en7rbk','01m81sm3m4ae5vw12x43dzqmbg',1,10,5,'01m81smeaq6atfzsf6nv8jx7dt','assistant','[{"kind":"Text","text":"re «g2»"}]','model','',1,12,'tiktoken',1.79535676867933654786e+09);
INSERT INTO "message" VALUES('01m81smf21v5f2rc3jtx5vnhm4','01m81sm3m4ae5vw12x43dzqmbg',1,11,6,'01m81smf36a5fpz4fdvmfkm5rs','user','[{"kind":"Text","text":"«g5» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535676938280344011e+09);
INSERT INTO "message" VALUES('01m81smf50d49c86y8ptcwnkqr','01m81sm3m4ae5vw12x43dzqmbg',1,12,6,'01m81smf36a5fpz4fdvmfkm5rs','assistant','[{"kind":"Text","text":"re «g5»"}]','model','',1,12,'tiktoken',1.79535676944002270697e+09);
INSERT INTO "message" VALUES('01m81smf74rv3b4dwdd5k2cdyj','01m81sm3m4ae5vw12x43dzqmbg',1,13,7,'01m81smf7vty2ww67vbcxm8y31','user','[{"kind":"Text","text":"«g6» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535676953132438665e+09);
INSERT INTO "message" VALUES('01m81smfc1pmc725bepesa326d','01m81sm3m4ae5vw12x43dzqmbg',1,14,7,'01m81smf7vty2ww67vbcxm8y31','assistant','[{"kind":"Text","text":"re «g6»"}]','model','',1,12,'tiktoken',1.79535676966596937178e+09);
INSERT INTO "message" VALUES('01m81smfd41bcsb7e9r8f8s71y','01m81sm3m4ae5vw12x43dzqmbg',1,15,8,'01m81smfgdav4kb9m9rvfwfe0n','user','[{"kind":"Text","text":"«g7» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535676980504560473e+09);
INSERT INTO "message" VALUES('01m81smfk1kasqvtbwxpb6c9ns','01m81sm3m4ae5vw12x43dzqmbg',1,16,8,'01m81smfgdav4kb9m9rvfwfe0n','assistant','[{"kind":"Text","text":"re «g7»"}]','model','',1,12,'tiktoken',1.79535676988910841938e+09);
INSERT INTO "message" VALUES('01m81smfqd0td406v6f29jcxms','01m81sm3m4ae5vw12x43dzqmbg',1,17,9,'01m81smfsextjyjznxrv22shsz','user','[{"kind":"Text","text":"«g8» use write_file {\"path\": \"notes/roses.md\", \"content\": \"water on Mondays\"}"}]','person','',1,32,'tiktoken',1.79535677009471893311e+09);
INSERT INTO "message" VALUES('01m81smftczejke38yjsjvwd1w','01m81sm3m4ae5vw12x43dzqmbg',1,18,9,'01m81smfsextjyjznxrv22shsz','assistant','[{"kind":"Text","text":"I look."},{"kind":"ToolCall","id":"call_g8","name":"write_file","input":"{\"path\": \"notes/roses.md\", \"content\": \"water on Mondays\"}"}]','model','',1,40,'tiktoken',1.79535677012418961521e+09);
INSERT INTO "message" VALUES('01m81smfv9p69zb2wt7pxfn4zg','01m81sm3m4ae5vw12x43dzqmbg',1,19,9,'01m81smfsextjyjznxrv22shsz','user','[{"kind":"ToolResult","call_id":"call_g8","text":"notes/roses.md now holds 16 bytes, version 29eb6a143968.","is_error":false}]','tool','',0,32,'tiktoken',1.79535677015344738959e+09);
INSERT INTO "message" VALUES('01m81smfvq2khryzhbetppy8j5','01m81sm3m4ae5vw12x43dzqmbg',1,20,9,'01m81smfsextjyjznxrv22shsz','assistant','[{"kind":"Text","text":"re «g8»"}]','model','',1,12,'tiktoken',1.79535677016785669328e+09);
INSERT INTO "message" VALUES('01m81smg2nxqrb3fat1j8kw287','01m81smg2na400nw6c6znz0eee',1,1,1,'01m81smg2r28e0p70t1hyp8sya','user','[{"kind":"Text","text":"«w0» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535677039237427706e+09);
INSERT INTO "message" VALUES('01m81smg40p96fsvcmzk1151zq','01m81smg2na400nw6c6znz0eee',1,2,1,'01m81smg2r28e0p70t1hyp8sya','assistant','[{"kind":"Text","text":"re «w0»"}]','model','',1,12,'tiktoken',1.79535677043269681924e+09);
INSERT INTO "message" VALUES('01m81smg5ynsksk1kfwjvnwjnt','01m81smg2na400nw6c6znz0eee',1,3,2,'01m81smg6cazpawxeyffmd4gvx','user','[{"kind":"Text","text":"«w1» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535677050872540471e+09);
INSERT INTO "message" VALUES('01m81smg7t7ajqsjys7y2wjeq8','01m81smg2na400nw6c6znz0eee',1,4,2,'01m81smg6cazpawxeyffmd4gvx','assistant','[{"kind":"Text","text":"re «w1»"}]','model','',1,12,'tiktoken',1.79535677055476093296e+09);
INSERT INTO "message" VALUES('01m81smga6qh393xtn564t0kax','01m81smg2na400nw6c6znz0eee',1,5,3,'01m81smgcgcrzpkavc5k19nbn7','user','[{"kind":"Text","text":"«w2» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535677070487165456e+09);
INSERT INTO "message" VALUES('01m81smgjj5m3b3dggy1g5c4kr','01m81smg2na400nw6c6znz0eee',1,6,3,'01m81smgcgcrzpkavc5k19nbn7','assistant','[{"kind":"Text","text":"re «w2»"}]','model','',1,12,'tiktoken',1.79535677089848232264e+09);
INSERT INTO "message" VALUES('01m81smh28ewjcpjrgsbbzmv7p','01m81smh28zeagnk68d7bc9qqt',1,1,1,'01m81smh2xrsagx5q7cpcraxj5','user','[{"kind":"Text","text":"«o0» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535677142157340047e+09);
INSERT INTO "message" VALUES('01m81smh5x434jac2hsm6d6qkz','01m81smh28zeagnk68d7bc9qqt',1,2,1,'01m81smh2xrsagx5q7cpcraxj5','assistant','[{"kind":"Text","text":"re «o0»"}]','model','',1,12,'tiktoken',1.79535677151751399036e+09);
INSERT INTO "message" VALUES('01m81smh8da8e0w3eeeafa674w','01m81smh28zeagnk68d7bc9qqt',1,3,2,'01m81smh8z2wcjmy0rn8dcjmnb','user','[{"kind":"Text","text":"«o1» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535677161558175087e+09);
INSERT INTO "message" VALUES('01m81smhbn9es1mhx5cn90zpbg','01m81smh28zeagnk68d7bc9qqt',1,4,2,'01m81smh8z2wcjmy0rn8dcjmnb','assistant','[{"kind":"Text","text":"re «o1»"}]','model','',1,12,'tiktoken',1.79535677170128488543e+09);
INSERT INTO "message" VALUES('01m81smhs27q6d5zm60j6zhgq5','01m81smh28zeagnk68d7bc9qqt',2,5,3,'01m81smhtqvdca847gcdxs5dp6','user','[{"kind":"Text","text":"«o2» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535677218334507941e+09);
INSERT INTO "message" VALUES('01m81smhyng2pqnx9hp4k9p7zr','01m81smh28zeagnk68d7bc9qqt',2,6,3,'01m81smhtqvdca847gcdxs5dp6','assistant','[{"kind":"Text","text":"re «o2»"}]','model','',1,12,'tiktoken',1.79535677230937576291e+09);
INSERT INTO "message" VALUES('01m81smhzwcmbw40t7q1gqnhjn','01m81smhzwbt1x4yj65fxbmwe0',1,1,1,'01m81smj0asgabhh47b61nzaww','user','[{"kind":"Text","text":"«n0» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535677236213541026e+09);
INSERT INTO "message" VALUES('01m81smj0tzf3s9n8zwqr1c0tz','01m81smhzwbt1x4yj65fxbmwe0',1,2,1,'01m81smj0asgabhh47b61nzaww','assistant','[{"kind":"Text","text":"re «n0»"}]','model','',1,12,'tiktoken',1.79535677237847709651e+09);
INSERT INTO "message" VALUES('01m81smj2h5qf31e9fysh0wgg6','01m81smhzwbt1x4yj65fxbmwe0',2,3,2,'01m81smj2qkh7h8xx7wx5fn3t4','user','[{"kind":"Text","text":"«n1» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535677243922019001e+09);
INSERT INTO "message" VALUES('01m81smj76s63h88h4rqh2xvp3','01m81smhzwbt1x4yj65fxbmwe0',2,4,2,'01m81smj2qkh7h8xx7wx5fn3t4','assistant','[{"kind":"Text","text":"re «n1»"}]','model','',1,12,'tiktoken',1.79535677258246397967e+09);
INSERT INTO "message" VALUES('01m81smjaeems9zt4ancwrmkv0','01m81sm3m4ae5vw12x43dzqmbg',1,21,10,'01m81smjakp5zjway4nha22ga6','user','[{"kind":"Text","text":"«m1» a thing to know. I prefer green tea."}]','person','',1,21,'tiktoken',1.79535677269110178948e+09);
INSERT INTO "message" VALUES('01m81smjbkfax5p5qxd7g03btw','01m81sm3m4ae5vw12x43dzqmbg',1,22,10,'01m81smjakp5zjway4nha22ga6','assistant','[{"kind":"Text","text":"re «m1»"}]','model','',1,12,'tiktoken',1.79535677272310042378e+09);
INSERT INTO "message" VALUES('01m81smjcr6zc5b975ewdsww6j','01m81smjcr4zethte943crznm6',1,1,1,'01m81smjd9anb3r291s3fxg35t','user','[{"kind":"Text","text":"«t0» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535677277720236771e+09);
INSERT INTO "message" VALUES('01m81smjfx0ac7y9v5kxjhz0kn','01m81smjcr4zethte943crznm6',1,2,1,'01m81smjd9anb3r291s3fxg35t','assistant','[{"kind":"Text","text":"re «t0»"}]','model','',1,12,'tiktoken',1.79535677286151313779e+09);
INSERT INTO "message" VALUES('01m81smjgrm9rb58e7619y8sfw','01m81smjcr4zethte943crznm6',1,3,2,'01m81smjgx25a1kcvszreexfjr','user','[{"kind":"Text","text":"«t1» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535677289376044279e+09);
INSERT INTO "message" VALUES('01m81smjhjmspdrwtvhs5fbafr','01m81smjcr4zethte943crznm6',1,4,2,'01m81smjgx25a1kcvszreexfjr','assistant','[{"kind":"Text","text":"re «t1»"}]','model','',1,12,'tiktoken',1.79535677291455125813e+09);
INSERT INTO "message" VALUES('01m81smjjv9dd6cg0cdxjw18et','01m81smjjv93m7askpzr12r7g3',1,1,1,'01m81smkajefxj93qbr4g15npt','user','[{"kind":"Image","sha256":"7899d6ced52159786ff083934df42788da01a30b7ed9bb7756d7f3f5a94ef685","media_type":"image/png","width":2,"height":2},{"kind":"Text","text":"«p1» what do you make of it?"}]','person','',1,19,'tiktoken',1.79535677371403884884e+09);
INSERT INTO "message" VALUES('01m81smkj4nhbq713c7wwbwwdb','01m81smjjv93m7askpzr12r7g3',1,2,1,'01m81smkajefxj93qbr4g15npt','assistant','[{"kind":"Text","text":"re «p1»"}]','model','',1,12,'tiktoken',1.79535677395639705657e+09);
INSERT INTO "message" VALUES('01m81smvz1q0g9bp8mbzyhxyft','01m81smvz1m6hqvqgrtyd3e74v',1,1,1,'01m81sn0qvdqxp554ve6qy6zx5','user','[{"kind":"Text","text":"«l0» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535678745145273202e+09);
INSERT INTO "message" VALUES('01m81sn0wz1geek13gek2zdepz','01m81smvz1m6hqvqgrtyd3e74v',1,2,1,'01m81sn0qvdqxp554ve6qy6zx5','assistant','[{"kind":"Text","text":"re «l0»"}]','model','',1,12,'tiktoken',1.79535678761531281464e+09);
INSERT INTO "message" VALUES('01m81sn10bkh62c26bwnc4vd4a','01m81smvz1m6hqvqgrtyd3e74v',1,3,2,'01m81sn122fwrw7s8y3dd93h1q','user','[{"kind":"Text","text":"«l1» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535678777860641477e+09);
INSERT INTO "message" VALUES('01m81sn15y2tb2r93t4wsbtrnk','01m81smvz1m6hqvqgrtyd3e74v',1,4,2,'01m81sn122fwrw7s8y3dd93h1q','assistant','[{"kind":"Text","text":"re «l1»"}]','model','',1,12,'tiktoken',1.79535678790231204037e+09);
INSERT INTO "message" VALUES('01m81sn26jc931p8b0153pe11n','01m81sn26jthvxcegsmfssmq4g',1,1,1,'01m81sn26xfy1rpksan8ftta4t','user','[{"kind":"Text","text":"«x1» use write_file {\"path\": \"notes/x.md\", \"content\": \"x\"}"}]','person','',1,28,'tiktoken',1.79535678895724272723e+09);
INSERT INTO "message" VALUES('01m81sn28c7zh6y52vnk7a38s4','01m81sn26jthvxcegsmfssmq4g',1,2,1,'01m81sn26xfy1rpksan8ftta4t','assistant','[{"kind":"Text","text":"I look."},{"kind":"ToolCall","id":"call_x1","name":"write_file","input":"{\"path\": \"notes/x.md\", \"content\": \"x\"}"}]','model','',1,36,'tiktoken',1.7953567890044357777e+09);
INSERT INTO "message" VALUES('01m81sn36b8ff4qj2ny4gdtjps','01m81smvz1m6hqvqgrtyd3e74v',1,5,3,'01m81sn36f6d5f5h27r7at41n1','user','[{"kind":"Text","text":"«l2» what do you make of it?"}]','person','',1,18,'tiktoken',1.79535678996756696695e+09);
INSERT INTO "message" VALUES('01m81sn3708bt2vwbfdzsx45s4','01m81smvz1m6hqvqgrtyd3e74v',1,6,3,'01m81sn36f6d5f5h27r7at41n1','assistant','[{"kind":"Text","text":"re «l2»"}]','model','',1,12,'tiktoken',1.79535678998488569266e+09);
CREATE TABLE model_factor (
	model TEXT NOT NULL, 
	factor DOUBLE NOT NULL, 
	samples INTEGER NOT NULL, 
	error_percent DOUBLE NOT NULL, 
	PRIMARY KEY (model)
);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra',0.9841,16,0.67);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra 01m81sm3m4ae5vw12x43dzqmbg',1.0196,10,-0.33);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra 01m81smg2na400nw6c6znz0eee',0.9806,3,0.38);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra 01m81smh28zeagnk68d7bc9qqt',0.9812,3,-0.09);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra 01m81smhzwbt1x4yj65fxbmwe0',0.9801,2,0.33);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra 01m81smjcr4zethte943crznm6',0.9778,2,0.67);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra 01m81smjjv93m7askpzr12r7g3',0.9928,1,-1.25);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra 01m81smvz1m6hqvqgrtyd3e74v',0.9738,3,0.48);
INSERT INTO "model_factor" VALUES('gpt-6.1-terra 01m81sn26jthvxcegsmfssmq4g',0.9798,1,0.63);
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
	lease_epoch INTEGER NOT NULL, payload TEXT DEFAULT '' NOT NULL, 
	PRIMARY KEY (id), 
	CONSTRAINT outbox_part UNIQUE (source, part_no), 
	CONSTRAINT outbox_client_key UNIQUE (client_key), 
	FOREIGN KEY(conversation) REFERENCES conversation (id)
);
INSERT INTO "outbox" VALUES('01m81smdpb51chx70h1xnjjp9t','01m81sm3m4ae5vw12x43dzqmbg','01m81sm3m46dgbdwzgn3dypc05:answer',0,1,1,'final','5317a83238d47cb22f3b285cf7e43123','re «g0»','sent',1,0,0,315360000.0,2.11071676812735700614e+09,0.0,'01m81sm3m46dgbdwzgn3dypc05','01m81smdpb51chx70h1xnjjp9t','',2,1795356767.94732,1,'');
INSERT INTO "outbox" VALUES('01m81smdy4g1zx6jznvntqgh41','01m81sm3m4ae5vw12x43dzqmbg','01m81smdx90m04d2fjwrsqyrrz:answer',0,1,1,'final','f8e3012c1b5f66256453e2ebf92d193c','re «g1»','sent',1,0,0,315360000.0,2.11071676820182418813e+09,0.0,'01m81smdx90m04d2fjwrsqyrrz','01m81smdy4g1zx6jznvntqgh41','',4,1.79535676819633221619e+09,1,'');
INSERT INTO "outbox" VALUES('01m81sme6wbt66zq09f11pabwy','01m81sm3m4ae5vw12x43dzqmbg','01m81smdykqpgr2fpw4zqahya1:answer',0,1,1,'final','9fc77994a84408ca08467b5311c4d9bb','re «g0»','sent',1,0,0,315360000.0,2.11071676848464131353e+09,0.0,'01m81smdykqpgr2fpw4zqahya1','01m81sme6wbt66zq09f11pabwy','',6,1.79535676847682356838e+09,1,'');
INSERT INTO "outbox" VALUES('01m81sme8xh8znx5w3jq6ac3rz','01m81sm3m4ae5vw12x43dzqmbg','01m81sme7e95d1qr1zyxr3nn3j:answer',0,1,1,'final','3855e637c2103b300e2e7eaede1d482e','re «g1»','sent',1,0,0,315360000.0,2.11071676854769539827e+09,0.0,'01m81sme7e95d1qr1zyxr3nn3j','01m81sme8xh8znx5w3jq6ac3rz','',8,1.79535676854145312313e+09,1,'');
INSERT INTO "outbox" VALUES('01m81smed7xdrqaff0270mmc5p','01m81sm3m4ae5vw12x43dzqmbg','01m81smea6aecqrp8jrg807v93:answer',0,1,1,'final','edb24674d36b80c1e9cfb8d13674dc31','re «g2»','sent',1,0,0,315360000.0,2.11071676869130325326e+09,0.0,'01m81smea6aecqrp8jrg807v93','01m81smed7xdrqaff0270mmc5p','',10,1.79535676867933654786e+09,1,'');
INSERT INTO "outbox" VALUES('01m81smexk3mzg0qj3vjebmdnn','01m81sm3m4ae5vw12x43dzqmbg','01m81smeff194rdyqyx7fccr4r:answer',0,1,1,'notice','2224da554f86e1f4910f5640a17731cf','Folded turns 1–2 into memory/2026-11-22.md: 190 → 155 tokens (82%).','sent',1,0,0,315360000.0,2.11071676929949569694e+09,0.0,'01m81smeff194rdyqyx7fccr4r','01m81smexk3mzg0qj3vjebmdnn','',12,1.79535676920382475853e+09,1,'');
INSERT INTO "outbox" VALUES('01m81smf5047yav5gk84wwm430','01m81sm3m4ae5vw12x43dzqmbg','01m81smf21v5f2rc3jtx5vnhm4:answer',0,1,1,'final','5dbd5e08e9a9ee71f4d15950d68de542','re «g5»','sent',1,0,0,315360000.0,2.11071676947168946269e+09,0.0,'01m81smf21v5f2rc3jtx5vnhm4','01m81smf5047yav5gk84wwm430','',14,1.79535676944002270697e+09,1,'');
INSERT INTO "outbox" VALUES('01m81smfc1dxftrtsdjk8mdfsn','01m81sm3m4ae5vw12x43dzqmbg','01m81smf74rv3b4dwdd5k2cdyj:answer',0,1,1,'final','f6e431091287cd4f09f46b99a0a60ce4','re «g6»','sent',1,0,0,315360000.0,2.11071676970081639279e+09,0.0,'01m81smf74rv3b4dwdd5k2cdyj','01m81smfc1dxftrtsdjk8mdfsn','',16,1.79535676966596937178e+09,1,'');
INSERT INTO "outbox" VALUES('01m81smfk1f392kn4stthkpx8q','01m81sm3m4ae5vw12x43dzqmbg','01m81smfd41bcsb7e9r8f8s71y:answer',0,1,1,'final','47d0bc35281f87c33a2d730ac3ee6dea','re «g7»','sent',1,0,0,315360000.0,2.1107167700150039197e+09,0.0,'01m81smfd41bcsb7e9r8f8s71y','01m81smfk1f392kn4stthkpx8q','',18,1.79535676988910841938e+09,1,'');
INSERT INTO "outbox" VALUES('01m81smfvq17hmkxk5ap25tdaz','01m81sm3m4ae5vw12x43dzqmbg','01m81smfqd0td406v6f29jcxms:answer',0,1,1,'final','38fe002f258386357cca9ce14c6e4c57','re «g8»','sent',1,0,0,315360000.0,2.11071677017640376089e+09,0.0,'01m81smfqd0td406v6f29jcxms','01m81smfvq17hmkxk5ap25tdaz','',20,1.79535677016785669328e+09,1,'');
INSERT INTO "outbox" VALUES('01m81smg17xjp94vywvgvc2dsw','01m81sm3m4ae5vw12x43dzqmbg','01m81smfwhecqs8bkj851npe63:answer',0,1,1,'notice','9828dcea1782ed94ede182bbcac56ff4','Folded turns 3–5 into memory/2026-11-22.md: 361 → 268 tokens (74%).','sent',1,0,0,315360000.0,2110716770.34791,0.0,'01m81smfwhecqs8bkj851npe63','01m81smg17xjp94vywvgvc2dsw','',22,1.79535677034328436853e+09,1,'');
INSERT INTO "outbox" VALUES('01m81smg40jzht07tygwx7fgsp','01m81smg2na400nw6c6znz0eee','01m81smg2nxqrb3fat1j8kw287:answer',0,1,1,'final','4e3b26ee798272da8df4eec718d4affa','re «w0»','sent',1,0,0,315360000.0,2.11071677046458172806e+09,0.0,'01m81smg2nxqrb3fat1j8kw287','01m81smg40jzht07tygwx7fgsp','',2,1.79535677043269681924e+09,1,'');
INSERT INTO "outbox" VALUES('01m81smg7t9avn2bdbkq7t8akf','01m81smg2na400nw6c6znz0eee','01m81smg5ynsksk1kfwjvnwjnt:answer',0,1,1,'final','9a58f494603061dfdce1c68061f9e6e2','re «w1»','sent',1,0,0,315360000.0,2.11071677057899355898e+09,0.0,'01m81smg5ynsksk1kfwjvnwjnt','01m81smg7t9avn2bdbkq7t8akf','',4,1.79535677055476093296e+09,1,'');
INSERT INTO "outbox" VALUES('01m81smgjjtybx6hykf0v2y7f1','01m81smg2na400nw6c6znz0eee','01m81smga6qh393xtn564t0kax:answer',0,1,1,'final','a2da0b6660e3efd6df2f90928b308ff7','re «w2»','sent',1,0,0,315360000.0,2.1107167709105215073e+09,0.0,'01m81smga6qh393xtn564t0kax','01m81smgjjtybx6hykf0v2y7f1','',6,1.79535677089848232264e+09,1,'');
INSERT INTO "outbox" VALUES('01m81smgw43sx4p3nddcxr480m','01m81smg2na400nw6c6znz0eee','01m81smgkn5n800qjdkvbts9zv:answer',0,1,1,'notice','c0080e19e708fb8479c056c01385547b','Folded turn 1 into memory/2026-11-22.md: 90 → 72 tokens (80%).','sent',1,0,0,315360000.0,2.11071677120597410198e+09,0.0,'01m81smgkn5n800qjdkvbts9zv','01m81smgw43sx4p3nddcxr480m','',8,1.79535677120462679864e+09,1,'');
INSERT INTO "outbox" VALUES('01m81smh04g61d35ybkb1xgpj8','01m81smg2na400nw6c6znz0eee','01m81smgydma9c09c66ere7sqq:answer',0,1,1,'notice','77a69d070c9a3530b01575928c547a86','The fold is undone: turn 1 is back in the context.','sent',1,0,0,315360000.0,2.11071677133481574051e+09,0.0,'01m81smgydma9c09c66ere7sqq','01m81smh04g61d35ybkb1xgpj8','',10,1.79535677133276772498e+09,1,'');
INSERT INTO "outbox" VALUES('01m81smh5xnpcqwe8cba1yf4x7','01m81smh28zeagnk68d7bc9qqt','01m81smh28ewjcpjrgsbbzmv7p:answer',0,1,1,'final','fb096caed9f2231feaca85be76d6374c','re «o0»','sent',1,0,0,315360000.0,2.11071677153118276602e+09,0.0,'01m81smh28ewjcpjrgsbbzmv7p','01m81smh5xnpcqwe8cba1yf4x7','',2,1.79535677151751399036e+09,1,'');
INSERT INTO "outbox" VALUES('01m81smhbngxahrta2p4g7zn4g','01m81smh28zeagnk68d7bc9qqt','01m81smh8da8e0w3eeeafa674w:answer',0,1,1,'final','848d65643f8e314a9c00452936da081f','re «o1»','sent',1,0,0,315360000.0,2.11071677170650029192e+09,0.0,'01m81smh8da8e0w3eeeafa674w','01m81smhbngxahrta2p4g7zn4g','',4,1.79535677170128488543e+09,1,'');
INSERT INTO "outbox" VALUES('01m81smhjrrj9xwmd1m5kvej80','01m81smh28zeagnk68d7bc9qqt','01m81smhfbapvczy7hpwsb9pgv:answer',0,1,2,'notice','934bd50a4917863ed994b3c198bb90ee','The context is clear: the model sees nothing from before. The record stays; /context undo takes this back.','sent',1,0,0,315360000.0,2.11071677197140574453e+09,0.0,'01m81smhfbapvczy7hpwsb9pgv','01m81smhjrrj9xwmd1m5kvej80','',6,1.79535677192877101901e+09,1,'');
INSERT INTO "outbox" VALUES('01m81smhynkmsq2h5rv60a1ndj','01m81smh28zeagnk68d7bc9qqt','01m81smhs27q6d5zm60j6zhgq5:answer',0,1,2,'final','d9413bc7a3ff43ccdd9b1dcb737cbff0','re «o2»','sent',1,0,0,315360000.0,2.11071677232497429852e+09,0.0,'01m81smhs27q6d5zm60j6zhgq5','01m81smhynkmsq2h5rv60a1ndj','',8,1.79535677230937576291e+09,1,'');
INSERT INTO "outbox" VALUES('01m81smj0t93cefjewme65d48k','01m81smhzwbt1x4yj65fxbmwe0','01m81smhzwcmbw40t7q1gqnhjn:answer',0,1,1,'final','568642b05f846a3d2000625b3ff92183','re «n0»','sent',1,0,0,315360000.0,2.11071677239111137394e+09,0.0,'01m81smhzwcmbw40t7q1gqnhjn','01m81smj0t93cefjewme65d48k','',2,1.79535677237847709651e+09,1,'');
INSERT INTO "outbox" VALUES('01m81smj1r2n82rdh3stzx51n9','01m81smhzwbt1x4yj65fxbmwe0','01m81smj1c0an4qscmvkv3h6fd:answer',0,1,2,'notice','1398978bb8c470715103fe8b6c91ced9','A new conversation begins; what came before (1 turn) is being written to today''s log.','sent',1,0,0,315360000.0,2.11071677240990257257e+09,0.0,'01m81smj1c0an4qscmvkv3h6fd','01m81smj1r2n82rdh3stzx51n9','',4,1.795356772408065319e+09,1,'');
INSERT INTO "outbox" VALUES('01m81smj76k3sqs0ef51jnag7j','01m81smhzwbt1x4yj65fxbmwe0','01m81smj2h5qf31e9fysh0wgg6:answer',0,1,2,'final','ed0ca79aba534acff6aba588367fce77','re «n1»','sent',1,0,0,315360000.0,2.11071677259165930745e+09,0.0,'01m81smj2h5qf31e9fysh0wgg6','01m81smj76k3sqs0ef51jnag7j','',6,1.79535677258246397967e+09,1,'');
INSERT INTO "outbox" VALUES('01m81smj9qvyhpvsr20f8f24hj','01m81sm3m4ae5vw12x43dzqmbg','01m81smj83c6hps3xh4cxcgm9e:answer',0,1,1,'notice','fab9874b8280ea70ec3f73ba0a9ca2a5','Remembered (facts): The gate code is 4711','sent',1,0,0,315360000.0,2.11071677266484808931e+09,0.0,'01m81smj83c6hps3xh4cxcgm9e','01m81smj9qvyhpvsr20f8f24hj','',24,1.79535677266343212128e+09,1,'');
INSERT INTO "outbox" VALUES('01m81smjbk44r60zt8g9fqdr50','01m81sm3m4ae5vw12x43dzqmbg','01m81smjaeems9zt4ancwrmkv0:answer',0,1,1,'final','a23ad58db46ff0640a527cdcfc361ef3','re «m1»','sent',1,0,0,315360000.0,2.1107167727296264172e+09,0.0,'01m81smjaeems9zt4ancwrmkv0','01m81smjbk44r60zt8g9fqdr50','',26,1.79535677272310042378e+09,1,'');
INSERT INTO "outbox" VALUES('01m81smjfxfnd67bxth61npcjj','01m81smjcr4zethte943crznm6','01m81smjcr6zc5b975ewdsww6j:answer',0,1,1,'final','0cf78127a0af409b8446e172fdb0e476','re «t0»','sent',1,0,0,0.0,0.0,0.0,'01m81smjcr6zc5b975ewdsww6j','2','',2,1.79535677286151313779e+09,1,'');
INSERT INTO "outbox" VALUES('01m81smjhj3h9jkgyakj1e36ta','01m81smjcr4zethte943crznm6','01m81smjgrm9rb58e7619y8sfw:answer',0,1,1,'final','2a56b45366900661f8809309217680de','re «t1»','sent',1,0,0,0.0,0.0,0.0,'01m81smjgrm9rb58e7619y8sfw','4','',4,1.79535677291455125813e+09,1,'');
INSERT INTO "outbox" VALUES('01m81smkj4dfgff76typ0wnbj1','01m81smjjv93m7askpzr12r7g3','01m81smjjv9dd6cg0cdxjw18et:answer',0,1,1,'final','dc9f0addf0834a0c7d668577d406de08','re «p1»','sent',1,0,0,315360000.0,2.11071677406322479237e+09,0.0,'01m81smjjv9dd6cg0cdxjw18et','01m81smkj4dfgff76typ0wnbj1','',2,1.79535677395639705657e+09,1,'');
INSERT INTO "outbox" VALUES('01m81sn0wzrf4n4s8crkywtrgs','01m81smvz1m6hqvqgrtyd3e74v','01m81smvz1q0g9bp8mbzyhxyft:answer',0,1,1,'final','bc7c7ef13c891a1069cbd91b1a23d271','re «l0»','sent',1,0,0,315360000.0,2.11071678769420766823e+09,0.0,'01m81smvz1q0g9bp8mbzyhxyft','01m81sn0wzrf4n4s8crkywtrgs','',2,1.79535678761531281464e+09,2,'');
INSERT INTO "outbox" VALUES('01m81sn15y0rnyc0vktvpg5zct','01m81smvz1m6hqvqgrtyd3e74v','01m81sn10bkh62c26bwnc4vd4a:answer',0,1,1,'final','f5a4de3f514de99a328cbf6b4b88575f','re «l1»','sent',1,0,0,315360000.0,2.11071678792662143701e+09,0.0,'01m81sn10bkh62c26bwnc4vd4a','01m81sn15y0rnyc0vktvpg5zct','',4,1.79535678790231204037e+09,2,'');
INSERT INTO "outbox" VALUES('01m81sn370z55yh7antk0gh3e4','01m81smvz1m6hqvqgrtyd3e74v','01m81sn36b8ff4qj2ny4gdtjps:answer',0,1,1,'final','1173e080b6631987d23e247beb7cccd0','re «l2»','sending',1,0,0,315360000.0,2.11071678999135279664e+09,0.0,'01m81sn36b8ff4qj2ny4gdtjps','','',6,1.79535678998488569266e+09,2,'');
CREATE TABLE prefix_text (
	sha256 TEXT NOT NULL, 
	text TEXT NOT NULL, 
	PRIMARY KEY (sha256)
);
INSERT INTO "prefix_text" VALUES('f0599f6c72446b3a43fc8a7fc5795f0fdf5324dd34ee30267af6e9d77ce82d1d','Your channels: telegram, terminal, web.
Your tools:
- now: The current date, weekday, time and time zone of the person.
- recall: Show the stored original of something earlier in this conversation that is shortened or folded now: by the handle given there, or a whole turn by its number. Pages of about 8000 characters.
- memory_search: Search all that this person has told you or that was noted: long-term memory, daily logs and every conversation, however old. Give the content words, in the language it was said in.
- memory_get: Read lines of a memory file, around one that memory_search named, at most 200: MEMORY.md or a daily log.
- memory_write: Note one lasting fact in long-term memory; it is merged with what is noted of the same already, and the person is shown it.
- list_files: List the files in the workspace, or in one of its folders, with size and time of change.
- read_file: Read a text file of the workspace, 400 lines at a time. The first line of the result tells the file''s version, which write_file asks for.
- write_file: Write a whole text file in the workspace. To replace one that exists, read it first and pass its version.
- edit_file: Replace one passage of a text file. `old` must occur exactly once, as it stands in the file.');
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
INSERT INTO "prefix_text" VALUES('4a6513d6a478abec31403bb45787030f5c6718f5902536298d079f7f3f19a894','[Daily log of 2026-11-22, for reference]
## 14:12 · web · turns 1–2

- «g0» the roses want water; I prefer tea. 花园要浇水
- «g1» the roses want water; I prefer tea. 花园要浇水

## 14:12 · web · turns 3–5

- «g2» the roses want water; I prefer tea. 花园要浇水
- «g3» the roses want water; I prefer tea. 花园要浇水
- «g4» the roses want water; I prefer tea. 花园要浇水
- 14:12 Bot: re «g0»
- 14:12 Bot: re «g1»
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
INSERT INTO "prefix_text" VALUES('c462eb1e72b4d5a70ded4fc246cee2dc20972130bada414d225e8827499d6dc0','[Daily log of 2026-11-22, for reference]
## 14:12 · web · turns 1–1

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
INSERT INTO "prefix_text" VALUES('ed46960971249c4cc9452fc323d789b9c72f4fafdb5d98200b9b9105237c5734','[Daily log of 2026-11-22, for reference]
## 14:12 · web · turns 1–2

- «g0» the roses want water; I prefer tea. 花园要浇水
- «g1» the roses want water; I prefer tea. 花园要浇水

## 14:12 · web · turns 3–5

- «g2» the roses want water; I prefer tea. 花园要浇水
- «g3» the roses want water; I prefer tea. 花园要浇水
- «g4» the roses want water; I prefer tea. 花园要浇水
- 14:12 Bot: re «g0»
- 14:12 Bot: re «g1»

## 14:12 · web · turns 1–1

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
INSERT INTO "reduction" VALUES('01m81smdpbyedc0y1wp3m6574c',0,'snip','01m81sm3m4ae5vw12x43dzqmbg','re … g0',3,'size',1);
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
INSERT INTO "snapshot" VALUES('01m81smg2na400nw6c6znz0eee','890f969b4e2993246ab5c299287e071eab3d7d13b3163d54d689004c97a3a511',1,'',0,1.79535677040123081205e+09);
INSERT INTO "snapshot" VALUES('01m81smh28zeagnk68d7bc9qqt','890f969b4e2993246ab5c299287e071eab3d7d13b3163d54d689004c97a3a511',2,'',0,1.79535677226533031463e+09);
INSERT INTO "snapshot" VALUES('01m81smhzwbt1x4yj65fxbmwe0','890f969b4e2993246ab5c299287e071eab3d7d13b3163d54d689004c97a3a511',2,'',0,1.79535677257280540464e+09);
INSERT INTO "snapshot" VALUES('01m81sm3m4ae5vw12x43dzqmbg','9b8231646d56d410c26538fd10a299a8badd0cafb934d3c6fec79ed09756d56d',1,'01m81smfxj33brxaq9xqqy6p6n',0,1.79535677271126174929e+09);
INSERT INTO "snapshot" VALUES('01m81smjcr4zethte943crznm6','8b8ea13d0650caebc232caf06ad501b0dfe7a01accb4709757f9a1008502c14a',1,'',0,1.79535677285329914095e+09);
INSERT INTO "snapshot" VALUES('01m81smjjv93m7askpzr12r7g3','8b8ea13d0650caebc232caf06ad501b0dfe7a01accb4709757f9a1008502c14a',1,'',0,1.79535677385331726078e+09);
INSERT INTO "snapshot" VALUES('01m81smvz1m6hqvqgrtyd3e74v','8b8ea13d0650caebc232caf06ad501b0dfe7a01accb4709757f9a1008502c14a',1,'',0,1.79535678752590513226e+09);
INSERT INTO "snapshot" VALUES('01m81sn26jthvxcegsmfssmq4g','8b8ea13d0650caebc232caf06ad501b0dfe7a01accb4709757f9a1008502c14a',1,'',0,1.79535678897456073763e+09);
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
INSERT INTO "snapshot_part" VALUES('01m81smg2na400nw6c6znz0eee',0,'awareness','f0599f6c72446b3a43fc8a7fc5795f0fdf5324dd34ee30267af6e9d77ce82d1d','[]');
INSERT INTO "snapshot_part" VALUES('01m81smg2na400nw6c6znz0eee',1,'MEMORY.md','aa0fea7604628517643648c9af3ee050f3225f43e3c51d88013a8f7caf7f128f','[]');
INSERT INTO "snapshot_part" VALUES('01m81smg2na400nw6c6znz0eee',2,'log','4a6513d6a478abec31403bb45787030f5c6718f5902536298d079f7f3f19a894','[]');
INSERT INTO "snapshot_part" VALUES('01m81smh28zeagnk68d7bc9qqt',0,'awareness','f0599f6c72446b3a43fc8a7fc5795f0fdf5324dd34ee30267af6e9d77ce82d1d','[]');
INSERT INTO "snapshot_part" VALUES('01m81smh28zeagnk68d7bc9qqt',1,'MEMORY.md','aa0fea7604628517643648c9af3ee050f3225f43e3c51d88013a8f7caf7f128f','[]');
INSERT INTO "snapshot_part" VALUES('01m81smh28zeagnk68d7bc9qqt',2,'log','4a6513d6a478abec31403bb45787030f5c6718f5902536298d079f7f3f19a894','[]');
INSERT INTO "snapshot_part" VALUES('01m81smhzwbt1x4yj65fxbmwe0',0,'awareness','f0599f6c72446b3a43fc8a7fc5795f0fdf5324dd34ee30267af6e9d77ce82d1d','[]');
INSERT INTO "snapshot_part" VALUES('01m81smhzwbt1x4yj65fxbmwe0',1,'MEMORY.md','aa0fea7604628517643648c9af3ee050f3225f43e3c51d88013a8f7caf7f128f','[]');
INSERT INTO "snapshot_part" VALUES('01m81smhzwbt1x4yj65fxbmwe0',2,'log','4a6513d6a478abec31403bb45787030f5c6718f5902536298d079f7f3f19a894','[]');
INSERT INTO "snapshot_part" VALUES('01m81sm3m4ae5vw12x43dzqmbg',0,'awareness','f0599f6c72446b3a43fc8a7fc5795f0fdf5324dd34ee30267af6e9d77ce82d1d','[]');
INSERT INTO "snapshot_part" VALUES('01m81sm3m4ae5vw12x43dzqmbg',1,'MEMORY.md','b02c32b3bb159ffb30bb81250683be789e65af3789048470f6452f24be6ad698','[]');
INSERT INTO "snapshot_part" VALUES('01m81sm3m4ae5vw12x43dzqmbg',2,'log','c462eb1e72b4d5a70ded4fc246cee2dc20972130bada414d225e8827499d6dc0','[]');
INSERT INTO "snapshot_part" VALUES('01m81smjcr4zethte943crznm6',0,'awareness','f0599f6c72446b3a43fc8a7fc5795f0fdf5324dd34ee30267af6e9d77ce82d1d','[]');
INSERT INTO "snapshot_part" VALUES('01m81smjcr4zethte943crznm6',1,'MEMORY.md','c7c9862cc5b55523127c3df6f2e26ac8eb7bf51ac799700818bd94a644eff1a8','[]');
INSERT INTO "snapshot_part" VALUES('01m81smjcr4zethte943crznm6',2,'log','ed46960971249c4cc9452fc323d789b9c72f4fafdb5d98200b9b9105237c5734','[]');
INSERT INTO "snapshot_part" VALUES('01m81smjjv93m7askpzr12r7g3',0,'awareness','f0599f6c72446b3a43fc8a7fc5795f0fdf5324dd34ee30267af6e9d77ce82d1d','[]');
INSERT INTO "snapshot_part" VALUES('01m81smjjv93m7askpzr12r7g3',1,'MEMORY.md','c7c9862cc5b55523127c3df6f2e26ac8eb7bf51ac799700818bd94a644eff1a8','[]');
INSERT INTO "snapshot_part" VALUES('01m81smjjv93m7askpzr12r7g3',2,'log','ed46960971249c4cc9452fc323d789b9c72f4fafdb5d98200b9b9105237c5734','[]');
INSERT INTO "snapshot_part" VALUES('01m81smvz1m6hqvqgrtyd3e74v',0,'awareness','f0599f6c72446b3a43fc8a7fc5795f0fdf5324dd34ee30267af6e9d77ce82d1d','[]');
INSERT INTO "snapshot_part" VALUES('01m81smvz1m6hqvqgrtyd3e74v',1,'MEMORY.md','c7c9862cc5b55523127c3df6f2e26ac8eb7bf51ac799700818bd94a644eff1a8','[]');
INSERT INTO "snapshot_part" VALUES('01m81smvz1m6hqvqgrtyd3e74v',2,'log','ed46960971249c4cc9452fc323d789b9c72f4fafdb5d98200b9b9105237c5734','[]');
INSERT INTO "snapshot_part" VALUES('01m81sn26jthvxcegsmfssmq4g',0,'awareness','f0599f6c72446b3a43fc8a7fc5795f0fdf5324dd34ee30267af6e9d77ce82d1d','[]');
INSERT INTO "snapshot_part" VALUES('01m81sn26jthvxcegsmfssmq4g',1,'MEMORY.md','c7c9862cc5b55523127c3df6f2e26ac8eb7bf51ac799700818bd94a644eff1a8','[]');
INSERT INTO "snapshot_part" VALUES('01m81sn26jthvxcegsmfssmq4g',2,'log','ed46960971249c4cc9452fc323d789b9c72f4fafdb5d98200b9b9105237c5734','[]');
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
INSERT INTO "tool_call" VALUES('01m81smftcke1ek4pwmkwtsgh1','01m81smfsextjyjznxrv22shsz',0,'call_g8','write_file','{"path": "notes/roses.md", "content": "water on Mondays"}','idempotent','5b70f75f04aa0180a0418674925c1ae4','done',1,'01m81smfv9p69zb2wt7pxfn4zg');
INSERT INTO "tool_call" VALUES('01m81sn28cx3dke16z2chvea4z','01m81sn26xfy1rpksan8ftta4t',0,'call_x1','write_file','{"path": "notes/x.md", "content": "x"}','idempotent','1f89606fe65dcf09ea6488908847dd18','started',1,'');
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
INSERT INTO "turn" VALUES('01m81sm9hesx2ykryg900yk3sc','01m81sm3m4ae5vw12x43dzqmbg',1,1,'01m81sm3m46dgbdwzgn3dypc05','owner','done',0,0,'01m81sm3m4t3s7tkac4jqk2ygr',1,1,1.79535676369450187682e+09,1795356767.94732);
INSERT INTO "turn" VALUES('01m81smdxr0zqeb5hj9rthfs6t','01m81sm3m4ae5vw12x43dzqmbg',2,1,'01m81smdx90m04d2fjwrsqyrrz','owner','done',0,0,'01m81smdx9rmpjw3an8whh8cp6',3,1,1.79535676818492698669e+09,1.79535676819633221619e+09);
INSERT INTO "turn" VALUES('01m81sme0e2r4evwympgq43dsn','01m81sm3m4ae5vw12x43dzqmbg',3,1,'01m81smdykqpgr2fpw4zqahya1','owner','done',0,0,'01m81smdykq9d3scrxfhqc55ca',5,1,1.79535676827086019516e+09,1.79535676847682356838e+09);
INSERT INTO "turn" VALUES('01m81sme7kd5hfvszdh5hetqtn','01m81sm3m4ae5vw12x43dzqmbg',4,1,'01m81sme7e95d1qr1zyxr3nn3j','owner','done',0,0,'01m81sme7e8zjd2cw9g8ehgxh6',7,1,1.79535676849939846997e+09,1.79535676854145312313e+09);
INSERT INTO "turn" VALUES('01m81smeaq6atfzsf6nv8jx7dt','01m81sm3m4ae5vw12x43dzqmbg',5,1,'01m81smea6aecqrp8jrg807v93','owner','done',0,0,'01m81smea6n9b8qgebj5tbm3j6',9,1,1.79535676859982633595e+09,1.79535676867933654786e+09);
INSERT INTO "turn" VALUES('01m81smf36a5fpz4fdvmfkm5rs','01m81sm3m4ae5vw12x43dzqmbg',6,1,'01m81smf21v5f2rc3jtx5vnhm4','owner','done',0,0,'01m81smf211qhm69p0nkm8sw7d',11,1,1.79535676938280344011e+09,1.79535676944002270697e+09);
INSERT INTO "turn" VALUES('01m81smf7vty2ww67vbcxm8y31','01m81sm3m4ae5vw12x43dzqmbg',7,1,'01m81smf74rv3b4dwdd5k2cdyj','owner','done',0,0,'01m81smf74cstjvskq6zqnc8sa',13,1,1.79535676953132438665e+09,1.79535676966596937178e+09);
INSERT INTO "turn" VALUES('01m81smfgdav4kb9m9rvfwfe0n','01m81sm3m4ae5vw12x43dzqmbg',8,1,'01m81smfd41bcsb7e9r8f8s71y','owner','done',0,0,'01m81smfd4sdb318fyywdvyny5',15,1,1.79535676980504560473e+09,1.79535676988910841938e+09);
INSERT INTO "turn" VALUES('01m81smfsextjyjznxrv22shsz','01m81sm3m4ae5vw12x43dzqmbg',9,1,'01m81smfqd0td406v6f29jcxms','owner','done',1,0,'01m81smfqdrm1fdr7bayy4hftj',17,1,1.79535677009471893311e+09,1.79535677016785669328e+09);
INSERT INTO "turn" VALUES('01m81smg2r28e0p70t1hyp8sya','01m81smg2na400nw6c6znz0eee',1,1,'01m81smg2nxqrb3fat1j8kw287','owner','done',0,0,'01m81smg2nyvs6x62a093z165k',1,1,1.79535677039237427706e+09,1.79535677043269681924e+09);
INSERT INTO "turn" VALUES('01m81smg6cazpawxeyffmd4gvx','01m81smg2na400nw6c6znz0eee',2,1,'01m81smg5ynsksk1kfwjvnwjnt','owner','done',0,0,'01m81smg5ycs1r3h0epfcae96y',3,1,1.79535677050872540471e+09,1.79535677055476093296e+09);
INSERT INTO "turn" VALUES('01m81smgcgcrzpkavc5k19nbn7','01m81smg2na400nw6c6znz0eee',3,1,'01m81smga6qh393xtn564t0kax','owner','done',0,0,'01m81smga6wsxd6zw7xtntycw3',5,1,1.79535677070487165456e+09,1.79535677089848232264e+09);
INSERT INTO "turn" VALUES('01m81smh2xrsagx5q7cpcraxj5','01m81smh28zeagnk68d7bc9qqt',1,1,'01m81smh28ewjcpjrgsbbzmv7p','owner','done',0,0,'01m81smh281swa5kmkjm17fpdy',1,1,1.79535677142157340047e+09,1.79535677151751399036e+09);
INSERT INTO "turn" VALUES('01m81smh8z2wcjmy0rn8dcjmnb','01m81smh28zeagnk68d7bc9qqt',2,1,'01m81smh8da8e0w3eeeafa674w','owner','done',0,0,'01m81smh8dh17ysjwr5vartxc0',3,1,1.79535677161558175087e+09,1.79535677170128488543e+09);
INSERT INTO "turn" VALUES('01m81smhtqvdca847gcdxs5dp6','01m81smh28zeagnk68d7bc9qqt',3,2,'01m81smhs27q6d5zm60j6zhgq5','owner','done',0,0,'01m81smhs2xq4xjdpcxvk5vsp0',5,1,1.79535677218334507941e+09,1.79535677230937576291e+09);
INSERT INTO "turn" VALUES('01m81smj0asgabhh47b61nzaww','01m81smhzwbt1x4yj65fxbmwe0',1,1,'01m81smhzwcmbw40t7q1gqnhjn','owner','done',0,0,'01m81smhzwvz6dshpg2q9vmftt',1,1,1.79535677236213541026e+09,1.79535677237847709651e+09);
INSERT INTO "turn" VALUES('01m81smj2qkh7h8xx7wx5fn3t4','01m81smhzwbt1x4yj65fxbmwe0',2,2,'01m81smj2h5qf31e9fysh0wgg6','owner','done',0,0,'01m81smj2h2epm4jf61bnf5df7',3,1,1.79535677243922019001e+09,1.79535677258246397967e+09);
INSERT INTO "turn" VALUES('01m81smjakp5zjway4nha22ga6','01m81sm3m4ae5vw12x43dzqmbg',10,1,'01m81smjaeems9zt4ancwrmkv0','owner','done',0,0,'01m81smjaebnasga58c8bmmdsa',21,1,1.79535677269110178948e+09,1.79535677272310042378e+09);
INSERT INTO "turn" VALUES('01m81smjd9anb3r291s3fxg35t','01m81smjcr4zethte943crznm6',1,1,'01m81smjcr6zc5b975ewdsww6j','5005','done',0,0,'01m81smjcrm347rqe67esmmq53',1,1,1.79535677277720236771e+09,1.79535677286151313779e+09);
INSERT INTO "turn" VALUES('01m81smjgx25a1kcvszreexfjr','01m81smjcr4zethte943crznm6',2,1,'01m81smjgrm9rb58e7619y8sfw','5005','done',0,0,'01m81smjgr06fx8e4wygrzy4ej',3,1,1.79535677289376044279e+09,1.79535677291455125813e+09);
INSERT INTO "turn" VALUES('01m81smkajefxj93qbr4g15npt','01m81smjjv93m7askpzr12r7g3',1,1,'01m81smjjv9dd6cg0cdxjw18et','owner','done',0,0,'01m81smjjvkv2h76exeq2eaza0',1,1,1.79535677371403884884e+09,1.79535677395639705657e+09);
INSERT INTO "turn" VALUES('01m81sn0qvdqxp554ve6qy6zx5','01m81smvz1m6hqvqgrtyd3e74v',1,1,'01m81smvz1q0g9bp8mbzyhxyft','owner','done',0,0,'01m81smvz1z56pvvx8ry5ww5eh',1,2,1.79535678745145273202e+09,1.79535678761531281464e+09);
INSERT INTO "turn" VALUES('01m81sn122fwrw7s8y3dd93h1q','01m81smvz1m6hqvqgrtyd3e74v',2,1,'01m81sn10bkh62c26bwnc4vd4a','owner','done',0,0,'01m81sn10bh2yxqkhhsk57feyt',3,2,1.79535678777860641477e+09,1.79535678790231204037e+09);
INSERT INTO "turn" VALUES('01m81sn26xfy1rpksan8ftta4t','01m81sn26jthvxcegsmfssmq4g',1,1,'01m81sn26jc931p8b0153pe11n','owner','waiting',1,0,'01m81sn26jxk4gm870w361r9hf',1,2,1.79535678895724272723e+09,0.0);
INSERT INTO "turn" VALUES('01m81sn36f6d5f5h27r7at41n1','01m81smvz1m6hqvqgrtyd3e74v',3,1,'01m81sn36b8ff4qj2ny4gdtjps','owner','done',0,0,'01m81sn36b0676whrzaj8mzxr8',5,2,1.79535678996756696695e+09,1.79535678998488569266e+09);
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
INSERT INTO "usage" VALUES('01m81smdpbbexz7pkmwkw6xcwq','01m81sm3m4ae5vw12x43dzqmbg','01m81sm9hesx2ykryg900yk3sc','gpt-6.1-terra','turn',2084,3,0,0,0,1795356767.94732);
INSERT INTO "usage" VALUES('01m81smdx9s7jx89p9akwp88tz','01m81sm3m4ae5vw12x43dzqmbg','','gpt-6-luna','extract',446,49,0,0,0,1.79535676816905903812e+09);
INSERT INTO "usage" VALUES('01m81smdy4cahd8efbzqffh079','01m81sm3m4ae5vw12x43dzqmbg','01m81smdxr0zqeb5hj9rthfs6t','gpt-6.1-terra','turn',2119,3,0,0,0,1.79535676819633221619e+09);
INSERT INTO "usage" VALUES('01m81sme6m6w7gbgqgcxcntrw4','01m81sm3m4ae5vw12x43dzqmbg','','gpt-6-luna','extract',468,49,0,0,0,1.79535676846800827978e+09);
INSERT INTO "usage" VALUES('01m81sme6w4ddfexxt985a091p','01m81sm3m4ae5vw12x43dzqmbg','01m81sme0e2r4evwympgq43dsn','gpt-6.1-terra','turn',2180,3,0,0,0,1.79535676847682356838e+09);
INSERT INTO "usage" VALUES('01m81sme8xaqesx2whwe93fztp','01m81sm3m4ae5vw12x43dzqmbg','01m81sme7kd5hfvszdh5hetqtn','gpt-6.1-terra','turn',2226,3,0,0,0,1.79535676854145312313e+09);
INSERT INTO "usage" VALUES('01m81sme951waffqeyt4jmn0dw','01m81sm3m4ae5vw12x43dzqmbg','','gpt-6-luna','extract',480,49,0,0,0,1.79535676854967832564e+09);
INSERT INTO "usage" VALUES('01m81smed7w00qafx2erpeey26','01m81sm3m4ae5vw12x43dzqmbg','01m81smeaq6atfzsf6nv8jx7dt','gpt-6.1-terra','turn',2271,3,0,0,0,1.79535676867933654786e+09);
INSERT INTO "usage" VALUES('01m81smef972fpjhqvg6a4v107','01m81sm3m4ae5vw12x43dzqmbg','','gpt-6-luna','extract',491,49,0,0,0,1.7953567687452762127e+09);
INSERT INTO "usage" VALUES('01m81smepqy5vxs2700fwc2bx0','01m81sm3m4ae5vw12x43dzqmbg','','gpt-6-luna','fold',456,71,0,0,0,1.79535676898379874233e+09);
INSERT INTO "usage" VALUES('01m81smeqa3yv06rjradf6yk93','01m81sm3m4ae5vw12x43dzqmbg','','gpt-6-luna','extract',503,49,0,0,0,1.79535676900238490099e+09);
INSERT INTO "usage" VALUES('01m81smf50nmpgck5vp5b3nq4a','01m81sm3m4ae5vw12x43dzqmbg','01m81smf36a5fpz4fdvmfkm5rs','gpt-6.1-terra','turn',2390,3,0,0,0,1.79535676944002270697e+09);
INSERT INTO "usage" VALUES('01m81smf7kfa9vaj8rta9v0tm4','01m81sm3m4ae5vw12x43dzqmbg','','gpt-6-luna','extract',507,1,0,0,0,1.79535676952326154706e+09);
INSERT INTO "usage" VALUES('01m81smfc1c5vzha8z9ddacapq','01m81sm3m4ae5vw12x43dzqmbg','01m81smf7vty2ww67vbcxm8y31','gpt-6.1-terra','turn',2417,3,0,0,0,1.79535676966596937178e+09);
INSERT INTO "usage" VALUES('01m81smfgvtrc56102s6jx01x2','01m81sm3m4ae5vw12x43dzqmbg','','gpt-6-luna','extract',507,1,0,0,0,1.7953567698193368912e+09);
INSERT INTO "usage" VALUES('01m81smfk1gn5nbdhbvkkqev6e','01m81sm3m4ae5vw12x43dzqmbg','01m81smfgdav4kb9m9rvfwfe0n','gpt-6.1-terra','turn',2445,3,0,0,0,1.79535676988910841938e+09);
INSERT INTO "usage" VALUES('01m81smfrrmjhd5a5zgrckff7y','01m81sm3m4ae5vw12x43dzqmbg','','gpt-6-luna','extract',507,1,0,0,0,1.79535677007297968859e+09);
INSERT INTO "usage" VALUES('01m81smftcn4x633zjftcp6932','01m81sm3m4ae5vw12x43dzqmbg','01m81smfsextjyjznxrv22shsz','gpt-6.1-terra','turn',2487,19,0,0,0,1.79535677012418961521e+09);
INSERT INTO "usage" VALUES('01m81smfvqkg2eq9cwzmrbst0w','01m81sm3m4ae5vw12x43dzqmbg','01m81smfsextjyjznxrv22shsz','gpt-6.1-terra','turn',2570,3,0,0,0,1.79535677016785669328e+09);
INSERT INTO "usage" VALUES('01m81smfwb7pamvcx314w60t2w','01m81sm3m4ae5vw12x43dzqmbg','','gpt-6-luna','extract',521,1,0,0,0,1.79535677018753409388e+09);
INSERT INTO "usage" VALUES('01m81smfzhrarjgwarpjdcn9qs','01m81sm3m4ae5vw12x43dzqmbg','','gpt-6-luna','fold',529,102,0,0,0,1.79535677028916049007e+09);
INSERT INTO "usage" VALUES('01m81smg40s65d0js2zbsb4j7c','01m81smg2na400nw6c6znz0eee','01m81smg2r28e0p70t1hyp8sya','gpt-6.1-terra','turn',2479,3,0,0,0,1.79535677043269681924e+09);
INSERT INTO "usage" VALUES('01m81smg5xyg83j3tcw78r91ad','01m81smg2na400nw6c6znz0eee','','gpt-6-luna','extract',461,1,0,0,0,1795356770.49362);
INSERT INTO "usage" VALUES('01m81smg7tw8wb77t6fq3x06he','01m81smg2na400nw6c6znz0eee','01m81smg6cazpawxeyffmd4gvx','gpt-6.1-terra','turn',2507,3,0,0,0,1.79535677055476093296e+09);
INSERT INTO "usage" VALUES('01m81smga6fmyv3dq963n7cp9b','01m81smg2na400nw6c6znz0eee','','gpt-6-luna','extract',461,1,0,0,0,1.79535677063092350964e+09);
INSERT INTO "usage" VALUES('01m81smgjjfkfss17f9xd60myh','01m81smg2na400nw6c6znz0eee','01m81smgcgcrzpkavc5k19nbn7','gpt-6.1-terra','turn',2534,3,0,0,0,1.79535677089848232264e+09);
INSERT INTO "usage" VALUES('01m81smgknhy9fytjknmpvhn0v','01m81smg2na400nw6c6znz0eee','','gpt-6-luna','extract',461,1,0,0,0,1.79535677093318462365e+09);
INSERT INTO "usage" VALUES('01m81smgswyxq54tazszvbwphy','01m81smg2na400nw6c6znz0eee','','gpt-6-luna','fold',419,25,0,0,0,1.79535677113297700881e+09);
INSERT INTO "usage" VALUES('01m81smh5xjmykysx89nvxmjaf','01m81smh28zeagnk68d7bc9qqt','01m81smh2xrsagx5q7cpcraxj5','gpt-6.1-terra','turn',2490,3,0,0,0,1.79535677151751399036e+09);
INSERT INTO "usage" VALUES('01m81smh8216wxwkf6pzavgtya','01m81smh28zeagnk68d7bc9qqt','','gpt-6-luna','extract',461,1,0,0,0,1.79535677158610105508e+09);
INSERT INTO "usage" VALUES('01m81smhbn0zkm6ymg19j4kfqa','01m81smh28zeagnk68d7bc9qqt','01m81smh8z2wcjmy0rn8dcjmnb','gpt-6.1-terra','turn',2518,3,0,0,0,1.79535677170128488543e+09);
INSERT INTO "usage" VALUES('01m81smhc6j2x0ed84xnnd41hw','01m81smh28zeagnk68d7bc9qqt','','gpt-6-luna','extract',461,1,0,0,0,1.79535677171875405304e+09);
INSERT INTO "usage" VALUES('01m81smhynby2b7pf5pm70zje1','01m81smh28zeagnk68d7bc9qqt','01m81smhtqvdca847gcdxs5dp6','gpt-6.1-terra','turn',2490,3,0,0,0,1.79535677230937576291e+09);
INSERT INTO "usage" VALUES('01m81smhzem4a0r56f3aereyvv','01m81smh28zeagnk68d7bc9qqt','','gpt-6-luna','extract',461,1,0,0,0,1.79535677233487915996e+09);
INSERT INTO "usage" VALUES('01m81smj0t0vxkwbaqhcxdj7nj','01m81smhzwbt1x4yj65fxbmwe0','01m81smj0asgabhh47b61nzaww','gpt-6.1-terra','turn',2490,3,0,0,0,1.79535677237847709651e+09);
INSERT INTO "usage" VALUES('01m81smj47n0wvyvqkbspqdzfb','01m81smhzwbt1x4yj65fxbmwe0','','gpt-6-luna','extract',461,1,0,0,0,1.79535677248711299895e+09);
INSERT INTO "usage" VALUES('01m81smj4pbgrahphkce103a2e','01m81smhzwbt1x4yj65fxbmwe0','','gpt-6-luna','fold',419,25,0,0,0,1.7953567725025155544e+09);
INSERT INTO "usage" VALUES('01m81smj7692aj3a3rrrygvn3n','01m81smhzwbt1x4yj65fxbmwe0','01m81smj2qkh7h8xx7wx5fn3t4','gpt-6.1-terra','turn',2490,3,0,0,0,1.79535677258246397967e+09);
INSERT INTO "usage" VALUES('01m81smj831gxqtt8913mgpnt5','01m81smhzwbt1x4yj65fxbmwe0','','gpt-6-luna','extract',461,1,0,0,0,1.79535677261185216903e+09);
INSERT INTO "usage" VALUES('01m81smjbkwjdcakpxrwcj2cc4','01m81sm3m4ae5vw12x43dzqmbg','01m81smjakp5zjway4nha22ga6','gpt-6.1-terra','turn',2554,3,0,0,0,1.79535677272310042378e+09);
INSERT INTO "usage" VALUES('01m81smjc47t0m38cvy885247g','01m81sm3m4ae5vw12x43dzqmbg','','gpt-6-luna','extract',510,38,0,0,0,1.79535677274009704586e+09);
INSERT INTO "usage" VALUES('01m81smjfx0dgereajx2028xgc','01m81smjcr4zethte943crznm6','01m81smjd9anb3r291s3fxg35t','gpt-6.1-terra','turn',2520,3,0,0,0,1.79535677286151313779e+09);
INSERT INTO "usage" VALUES('01m81smjg96y8qk5q95wktbk06','01m81smjcr4zethte943crznm6','','gpt-6-luna','extract',461,1,0,0,0,1.79535677287313914299e+09);
INSERT INTO "usage" VALUES('01m81smjhjfce0f2g36veyv0t0','01m81smjcr4zethte943crznm6','01m81smjgx25a1kcvszreexfjr','gpt-6.1-terra','turn',2547,3,0,0,0,1.79535677291455125813e+09);
INSERT INTO "usage" VALUES('01m81smjj79xdvh98gqc88esty','01m81smjcr4zethte943crznm6','','gpt-6-luna','extract',461,1,0,0,0,1.79535677293554139137e+09);
INSERT INTO "usage" VALUES('01m81smkj4vcr05rw7657brt11','01m81smjjv93m7askpzr12r7g3','01m81smkajefxj93qbr4g15npt','gpt-6.1-terra','turn',2574,3,0,0,0,1.79535677395639705657e+09);
INSERT INTO "usage" VALUES('01m81smksnp7k8tjhk4zahpg93','01m81smjjv93m7askpzr12r7g3','','gpt-6-luna','extract',461,1,0,0,0,1.79535677419792771337e+09);
INSERT INTO "usage" VALUES('01m81sn0wz0hqqw0053pg84rnp','01m81smvz1m6hqvqgrtyd3e74v','01m81sn0qvdqxp554ve6qy6zx5','gpt-6.1-terra','turn',2520,3,0,0,0,1.79535678761531281464e+09);
INSERT INTO "usage" VALUES('01m81sn12cyqm7tf6nx585szx7','01m81smvz1m6hqvqgrtyd3e74v','','gpt-6-luna','extract',461,1,0,0,0,1.79535678778842425346e+09);
INSERT INTO "usage" VALUES('01m81sn15yexa2s6v2ysaag40j','01m81smvz1m6hqvqgrtyd3e74v','01m81sn122fwrw7s8y3dd93h1q','gpt-6.1-terra','turn',2547,3,0,0,0,1.79535678790231204037e+09);
INSERT INTO "usage" VALUES('01m81sn17bttafrzer3ktzr45x','01m81smvz1m6hqvqgrtyd3e74v','','gpt-6-luna','extract',461,1,0,0,0,1.79535678794706749913e+09);
INSERT INTO "usage" VALUES('01m81sn187btxzcm4g6tj7dpnj','01m81smg2na400nw6c6znz0eee','','gpt-6-luna','fold',419,25,0,0,0,1.79535678797596979141e+09);
INSERT INTO "usage" VALUES('01m81sn28cdp0md4r7cy2x9fza','01m81sn26jthvxcegsmfssmq4g','01m81sn26xfy1rpksan8ftta4t','gpt-6.1-terra','turn',2527,14,0,0,0,1.7953567890044357777e+09);
INSERT INTO "usage" VALUES('01m81sn370pz9gsmjbcvbf09f6','01m81smvz1m6hqvqgrtyd3e74v','01m81sn36f6d5f5h27r7at41n1','gpt-6.1-terra','turn',2575,3,0,0,0,1.79535678998488569266e+09);
INSERT INTO "usage" VALUES('01m81sn37e6fe3w7xdn1dmk91h','01m81smvz1m6hqvqgrtyd3e74v','','gpt-6-luna','extract',461,1,0,0,0,1.7953567899986503124e+09);
CREATE INDEX account_link_space ON account_link (space);
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
