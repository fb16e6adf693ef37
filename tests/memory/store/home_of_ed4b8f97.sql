-- The rows of a home of commit ed4b8f97, whose bot was killed while it worked: one message queued, one turn in a tool
-- call, one part being sent, one fold checked, a reminder due. The revision r0013 creates their tables.
DELETE FROM instance;
DELETE FROM audit_head;
INSERT INTO access_request (id, channel, account, subject, subject_id, name, conversation, lang, code_sha256, state, expires, at) VALUES
 ('01m8j99dgh5gh5tnbpgny3xvv4', 'telegram', '100', 'user', '999', 'Ада', '01m8j99dfcqg5xwfzjypzab66w', 'en', '6a84aaa3b1a1d26d2fcfcbbc7fc1c69fe454696722b07bf774a81ae85187a6ac', 'pending', 1795913655.439793, 1795910055.441186);
INSERT INTO audit (seq, at, actor, action, subject, args_digest, decision, result, prev_hash, hash) VALUES
 (1, 1795910054.1598532, 'owner', 'tool write_file', '01m8j99a4retckfktnvkf46kyh', 'a65c0cbb3d6f8a3ca8deb88a31296e75bb9021ac7f69eeafed30aead39d1d60d', 'allowed', 'started', '', 'b9240064e91ae330c2d8049181969c718886bee0fa7144f3cde9bf256ed51e37'),
 (2, 1795910054.2291284, '', 'memory.remember', '', '', 'allowed', '+1 -0', 'b9240064e91ae330c2d8049181969c718886bee0fa7144f3cde9bf256ed51e37', '85a2226d222046f57c3ea4b66dfc5fa1c8a8fccb444610697b6b2512088247e1'),
 (3, 1795910054.3963022, 'web/console/owner', 'clear', '01m8j99cb7d78vf6gtnbj382fz', '', 'allowed', 'epoch 2', '85a2226d222046f57c3ea4b66dfc5fa1c8a8fccb444610697b6b2512088247e1', '701a6f4a45db41ad14c67b960c3da6508faf06b6b2fa14bc837183d5001491f1'),
 (4, 1795910054.5968757, 'web/console/owner', 'clear', '01m8j99cmh2a4pgqqnerw8j2d6', '', 'allowed', 'epoch 2', '701a6f4a45db41ad14c67b960c3da6508faf06b6b2fa14bc837183d5001491f1', '3bd7b7a4a8f3650b3cdbac13dd408910de8a6cc5f6aa9e1537571ed627c1b0c5'),
 (5, 1795910055.1403031, 'owner', 'tool write_file', '01m8j99cxk0jhjzkcwyn9sf4qf', 'cd569f888919a46052444b2c26bc76163b20705550058bd6ab8fd517be836171', 'allowed', 'started', '3bd7b7a4a8f3650b3cdbac13dd408910de8a6cc5f6aa9e1537571ed627c1b0c5', 'c30d28fba21c9edcc8ac92acfc83ecca8081c49a8ea7487479b1ccdf7cfecc06'),
 (6, 1795910055.240577, 'owner', 'tool edit_file', '01m8j99cxk0jhjzkcwyn9sf4qf', 'c2f808005646717a1e82854a52f077f806ebf3bbef48872e2ff5018f9e9662d2', 'allowed', 'started', 'c30d28fba21c9edcc8ac92acfc83ecca8081c49a8ea7487479b1ccdf7cfecc06', 'a3ba6895344e8a827ad910a86f53f22e788f961db18438b2a175a7c6ee4ad0f1'),
 (7, 1795910055.441186, 'telegram/100/999', 'user asks', 'telegram/100/999', '', 'allowed', 'pending', 'a3ba6895344e8a827ad910a86f53f22e788f961db18438b2a175a7c6ee4ad0f1', '5c2091b2170f7e58c70d15d80631c3f850bfdbc6e5e9df0eb2471b811ce8cea8'),
 (8, 1795910055.5212843, 'owner', 'job say', 'owner r1', '', 'allowed', 'made', '5c2091b2170f7e58c70d15d80631c3f850bfdbc6e5e9df0eb2471b811ce8cea8', 'd9abfb61caa9ac1131cc29f217576e9694fc40e47da2cee4413fc293ad7bf224'),
 (9, 1795910056.4850893, 'owner', 'tool write_file', '01m8j99eerj5zm4f2hs3ae95y9', 'f5e908acc3cb7f989e16b43cb7a206020827475d8f8b35885e2a6be8b0521a47', 'allowed', 'started', 'd9abfb61caa9ac1131cc29f217576e9694fc40e47da2cee4413fc293ad7bf224', 'b7881a417bf64bc27ecce17ca704c50d37bc7d115213cb14641fa5b6d2a21698');
INSERT INTO audit_head (id, seq, hash) VALUES
 (1, 9, 'b7881a417bf64bc27ecce17ca704c50d37bc7d115213cb14641fa5b6d2a21698');
INSERT INTO conversation (id, channel, account, chat_id, thread_id, kind, space, epoch, next_seq, next_turn, next_line, view_from, fold_head, policy, model, prefix_generation, prefix_sha256, prefix_reason, listed, title, heard, updated, cleared_before, own_title, pinned, archived, seen_line, deleting, touched) VALUES
 ('01m8j99a4retckfktnvkf46kyh', 'web', 'console', 'garden', '', 'dm', '', 1, 11, 5, 16, 1, '01m8j99bw5jytw163dkwkqxcen', '', '', 1, '37741f117d70ea388fbdb0dcfdb355212f061ae71d5954cc228c4fe588914d54', 'fold', true, '«g0» the roses want water; I prefer tea. 花园要浇水', 1795910055.498621, 1795910055.5272853, 0, '', 0, 0, 0, 0.0, 0.0),
 ('01m8j99cb7d78vf6gtnbj382fz', 'web', 'console', 'work', '', 'dm', '', 2, 9, 5, 12, 5, '', '', '', 2, '37741f117d70ea388fbdb0dcfdb355212f061ae71d5954cc228c4fe588914d54', 'clear', true, '«w0» what do you make of it?', 1795910056.297666, 1795910056.297666, 0, '', 0, 0, 0, 0.0, 0.0),
 ('01m8j99cmh2a4pgqqnerw8j2d6', 'web', 'console', 'old', '', 'dm', '', 2, 5, 3, 7, 3, '', '', '', 1, '37741f117d70ea388fbdb0dcfdb355212f061ae71d5954cc228c4fe588914d54', 'clear', true, '«o0» what do you make of it?', 1795910054.619029, 1795910054.6403487, 3, '', 0, 0, 0, 0.0, 0.0),
 ('01m8j99cxk0jhjzkcwyn9sf4qf', 'web', 'console', 'picture', '', 'dm', '', 1, 11, 4, 7, 1, '', '', '', 0, '37741f117d70ea388fbdb0dcfdb355212f061ae71d5954cc228c4fe588914d54', 'SOUL.md, tools, model or time zone', true, '«p0» what do you make of it? 📎 dot.png', 1795910055.178953, 1795910055.2649643, 0, '', 0, 0, 0, 0.0, 0.0),
 ('01m8j99dbdnapg9ht2tka9vw1q', 'telegram', '100', '5005', '', 'dm', '', 1, 3, 2, 4, 1, '', '', '', 0, '37741f117d70ea388fbdb0dcfdb355212f061ae71d5954cc228c4fe588914d54', 'SOUL.md, tools, model or time zone', true, '«t0» what do you make of it?', 1795910055.277843, 1795910055.441186, 0, '', 0, 0, 0, 0.0, 0.0),
 ('01m8j99dfcqg5xwfzjypzab66w', 'telegram', '100', '999', '', 'dm', 'telegram-999', 1, 1, 1, 3, 1, '', '', '', 0, '', '', false, '', 0.0, 1795910055.441186, 0, '', 0, 0, 0, 0.0, 0.0),
 ('01m8j99dv1p3pd3nd785q84jhs', 'web', 'console', 'late', '', 'dm', '', 1, 5, 3, 5, 1, '', '', '', 0, '37741f117d70ea388fbdb0dcfdb355212f061ae71d5954cc228c4fe588914d54', 'SOUL.md, tools, model or time zone', true, '«l0» what do you make of it?', 1795910056.5550795, 1795910056.6018434, 0, '', 0, 0, 0, 0.0, 0.0),
 ('01m8j99eerj5zm4f2hs3ae95y9', 'web', 'console', 'tool', '', 'dm', '', 1, 3, 2, 3, 1, '', '', '', 0, '37741f117d70ea388fbdb0dcfdb355212f061ae71d5954cc228c4fe588914d54', 'SOUL.md, tools, model or time zone', true, '«x1» use write_file {"path": "notes/x.md", "content": "x"}', 1795910056.5097525, 1795910056.5097525, 0, '', 0, 0, 0, 0.0, 0.0);
INSERT INTO coverage (message_id, class, fold_id) VALUES
 ('01m8j99a4r904jkb7c2cj32kbb', 'folded', '01m8j99bw5jytw163dkwkqxcen'),
 ('01m8j99bn1k8gkpq5fzr3j2fwv', 'folded', '01m8j99bw5jytw163dkwkqxcen');
INSERT INTO file_label (space, path, at) VALUES
 ('', 'notes/dot.md', 1795910055.1455894);
INSERT INTO file_version (id, space, path, sha256, size, pending, call, at) VALUES
 ('01m8j99daj0n9kv2vgvjqgc87t', '', 'notes/roses.md', '29eb6a143968ce17f61dacefbac1fc56c6990ce4a447676d3e223237d806c422', 16, '', '4c057a48e8774304a27ad54591ce448e', 1795910055.2500045);
INSERT INTO instance (id, lease_epoch, clean) VALUES
 (1, 2, false);
INSERT INTO job (id, space, number, conversation, channel, account, person, kind, body, schedule, next_at, runs_left, tainted, norm, state, reason, at, fails, retries, extra, resumes_at) VALUES
 ('01m8j99dk1yprtv22az7ag89e6', '', 1, '01m8j99a4retckfktnvkf46kyh', 'web', 'console', 'owner', 'say', 'water the roses', '{"zone": "UTC", "at": "2025-06-15T15:06:40"}', 1750000000.0, 0, false, '365a919786e2c2203b1632b0c575fb01ebd3f6763cb736a28cb165a07120e9e9', 'on', '', 1795910055.5212843, 0, 0, '', 0.0);
INSERT INTO memory (id, space, norm, category, text, importance, state, origin, conversation, message_id, channel, quote, said, created, updated, used, uses, superseded_by, valid_until) VALUES
 ('01m8j99canz19vfx5qbcs1x918', '', 'the gate code is 4711', 'fact', 'The gate code is 4711', 8, 'live', 'person', '01m8j99a4retckfktnvkf46kyh', '01m8j99ca7ae7eq080byrzpdj4', 'web', '/remember The gate code is 4711', 1795910054.215484, 1795910054.2291284, 1795910054.2291284, 0.0, 0, '', 0.0);
INSERT INTO memory_change (id, space, path, kind, before_sha256, after_sha256, added, removed, before, about, undone, at) VALUES
 ('01m8j99cancbj11pzkven2d99j', '', 'MEMORY.md', 'remember', '73a75d57d3bce6e6194e9c3ce650a5f836e26e5cb0efe6db3dc5961d8f1a641c', '50fe141b69ae6cf495892e22e37f6d13752c8f95d9e2d52a6b2edbf47c7102b3', '["The gate code is 4711"]', '[]', '', '01m8j99ca7ae7eq080byrzpdj4', false, 1795910054.2291284);
INSERT INTO prefix_text (sha256, text) VALUES
 ('0b1dd90b1493efbc386f1c22d331eb01a2ed54218a3a082ffffc6f910131aa63', '[MEMORY.md: long-term memory, for reference; the newest message wins]
# 长期记忆 · Long-term memory

每个标题下一条一行，可以用任何编辑器修改。
One memory per bullet under each heading; edit it in any editor.

## 偏好 · Preferences

## 项目 · Projects

## 技能 · Skills

## 事实 · Facts

- The gate code is 4711
[End of MEMORY.md]'),
 ('268df8618177fc1555c69329b15ea9966f9ee57d770b4856c5320a9658868b7e', 'Your channels: telegram, terminal, web.'),
 ('96f8cfbaafaaae9285a8a826f8fe6a01fc5e4c86bcf9f9cf124f499f6b83aa6b', '[Daily log of 2026-11-28, for reference]
## 23:54 · web garden · turns 1–1

- «g0» the roses want water; I prefer tea. 花园要浇水

## 23:54 · web work · turns 1–2

- «w0» what do you make of it?
- «w1» what do you make of it?
[End of the daily log]');
INSERT INTO process (lease, name, until, told) VALUES
 (2, '', 0.0, '');
INSERT INTO clearing (conversation, epoch, view_from, fold_head, undone, at, begun_by, cleared_before) VALUES
 ('01m8j99cb7d78vf6gtnbj382fz', 2, 1, '', false, 1795910054.3963022, 'new', 0),
 ('01m8j99cmh2a4pgqqnerw8j2d6', 2, 1, '', false, 1795910054.5968757, 'clear', 0);
INSERT INTO fold (id, conversation, space, channel, epoch, prev_fold, from_seq, to_seq, from_turn, to_turn, turns_covered, state, method, policy, reason, log_text, summary, summary_tokens, source_sha256, log_ref, tokens_before, tokens_after, log_only, at, lease_epoch, why, seen_seq, tainted, clean_lines, summary_tainted, rejected, sent_from, awaiting, body_sha256) VALUES
 ('01m8j99bw5jytw163dkwkqxcen', '01m8j99a4retckfktnvkf46kyh', '', 'web', 1, '', 1, 2, 1, 1, 1, 'folded', 'model', 'balanced', '/context fold', '- «g0» the roses want water; I prefer tea. 花园要浇水', '- «g0» the roses want water; I prefer tea. 花园要浇水', 21, '7796c6f2ac74cbbcc86043ed8e65cdec97c8222ed32d0105f3b6fb7c678661f1', 'memory/2026-11-28.md', 117, 99, false, 1795910053.7650537, 1, '', 7, 0, '', 0, 0, 0, '', ''),
 ('01m8j99cfwjcyzke28m5xw7b0r', '01m8j99cb7d78vf6gtnbj382fz', '', 'web', 1, '', 1, 4, 1, 2, 2, 'folded', 'model', 'balanced', '/new', '- «w0» what do you make of it?
- «w1» what do you make of it?', '', 0, '87d6607200f800fbe3532909630749b4aef97be49a10ad01f23bf9be0d709b91', 'memory/2026-11-28.md', 60, 0, true, 1795910054.3963022, 1, '', 5, 0, '', 0, 0, 0, '', ''),
 ('01m8j99ebfte91v4mjv049z3ma', '01m8j99cb7d78vf6gtnbj382fz', '', 'web', 2, '', 5, 6, 3, 3, 1, 'checked', 'model', 'balanced', '/context fold', '- «w2» what do you make of it?', '- «w2» what do you make of it?', 12, 'ec3d5b923620173ef61427787e3a368aae22d3a1c906e879167c2a72ca1ef054', '', 60, 30, false, 1795910056.3037846, 2, '', 9, 0, '', 0, 0, 0, '', '');
INSERT INTO inbox (id, conversation, channel, account, "key", kind, sender_id, body, order_key, state, reason, attempts, turn_id, trace_id, line, urgent, not_before, received, lease_epoch, album, deaths_alone) VALUES
 ('01m8j99a4r904jkb7c2cj32kbb', '01m8j99a4retckfktnvkf46kyh', 'web', 'console', 'gardenb3fb0cbed4c44eb0a8d8f6e3520f4fe4', 'message', 'owner', '{"text": "«g0» the roses want water; I prefer tea. 花园要浇水"}', '', 'done', '', 0, '01m8j99acce64340aasgdhsv8j', '01m8j99a4rak3cv6q977cxdx94', 1, false, 0.0, 1795910051.9928336, 1, '', 0),
 ('01m8j99bq284q10bf80kqw7yg2', '01m8j99a4retckfktnvkf46kyh', 'web', 'console', 'garden50865612bb4b41b9be9277dcb6ac6896', 'message', 'owner', '{"text": "«g1» the roses want water; I prefer tea. 花园要浇水"}', '', 'done', '', 0, '01m8j99bq6ygyq8f815540hw8v', '01m8j99bq2h99gc7q2tzdcdmz8', 3, false, 0.0, 1795910053.6023753, 1, '', 0),
 ('01m8j99brd85sdsf3f3rt1fmtp', '01m8j99a4retckfktnvkf46kyh', 'web', 'console', 'garden14b12ea7e88241aaa42058b8c59e2a24', 'message', 'owner', '{"text": "«g2» the roses want water; I prefer tea. 花园要浇水"}', '', 'done', '', 0, '01m8j99brsrtssy5zdy4r734cc', '01m8j99brdymcsx3vdh2wnevec', 5, false, 0.0, 1795910053.6450307, 1, '', 0),
 ('01m8j99bts7aknx9fjbnex5h3x', '01m8j99a4retckfktnvkf46kyh', 'web', 'console', 'gardencc467609db9c4d69a460ceceecd5193f', 'command', 'owner', '{"text": "/context fold"}', '', 'done', 'begun', 1, '', '01m8j99btsf7zdswb2gykm2n2y', 7, false, 0.0, 1795910053.7213233, 1, '', 0),
 ('01m8j99c5kww9ny465kfrk5mqh', '01m8j99a4retckfktnvkf46kyh', 'web', 'console', 'garden44f129cf896a42efa3da74090c783e55', 'message', 'owner', '{"text": "«g3» use write_file {\"path\": \"notes/roses.md\", \"content\": \"water on Mondays\"}"}', '', 'done', '', 0, '01m8j99c5y397hkxrqete3a568', '01m8j99c5kx14t99feyfby9dde', 9, false, 0.0, 1795910054.0671227, 1, '', 0),
 ('01m8j99ca7ae7eq080byrzpdj4', '01m8j99a4retckfktnvkf46kyh', 'web', 'console', 'gardenb5c00e80596e40549e481bb04182aaa1', 'command', 'owner', '{"text": "/remember The gate code is 4711"}', '', 'done', 'begun', 1, '', '01m8j99ca7kegndh0nqvjt3rmz', 11, false, 0.0, 1795910054.215484, 1, '', 0),
 ('01m8j99cb78jcn28y4awjmjv03', '01m8j99cb7d78vf6gtnbj382fz', 'web', 'console', 'worka88a45092a3e4d2f80eb90787a28bb7f', 'message', 'owner', '{"text": "«w0» what do you make of it?"}', '', 'done', '', 0, '01m8j99cbeqak3d4bdxsywp85y', '01m8j99cb7834nx63sdb4tbh47', 1, false, 0.0, 1795910054.2474787, 1, '', 0),
 ('01m8j99ce4sz31btvyf6t2sk44', '01m8j99cb7d78vf6gtnbj382fz', 'web', 'console', 'worka8c8edb11f8a4626af93ccc4ee3c7df5', 'message', 'owner', '{"text": "«w1» what do you make of it?"}', '', 'done', '', 0, '01m8j99ce7h9r6y5xn65f0qjmc', '01m8j99ce4rp48rr5fvc8nk400', 3, false, 0.0, 1795910054.3406906, 1, '', 0),
 ('01m8j99cfmgng6g8st18zw7m14', '01m8j99cb7d78vf6gtnbj382fz', 'web', 'console', 'work46105bc9d72f49479663ab5274d9901b', 'command', 'owner', '{"text": "/new"}', '', 'done', 'begun', 1, '', '01m8j99cfmptkev6dx696kenpp', 5, false, 0.0, 1795910054.3881013, 1, '', 0),
 ('01m8j99cgnrhf5txdr7a9ebsbq', '01m8j99cb7d78vf6gtnbj382fz', 'web', 'console', 'workf757cb40d07346ddb5de62f9912f918f', 'message', 'owner', '{"text": "«w2» what do you make of it?"}', '', 'done', '', 0, '01m8j99cgs4kns6krabpgvjrn7', '01m8j99cgnrqnz6fhg60ba6j8w', 7, false, 0.0, 1795910054.4219184, 1, '', 0),
 ('01m8j99ckj4jhz2h36ndfmdszw', '01m8j99cb7d78vf6gtnbj382fz', 'web', 'console', 'work2b36343fbf53490b930955bc46e2bafe', 'message', 'owner', '{"text": "«w3» what do you make of it?"}', '', 'done', '', 0, '01m8j99ckn3dexny8zsk4cs18m', '01m8j99ckj2j88zzdjb0tyn6xe', 9, false, 0.0, 1795910054.5145016, 1, '', 0),
 ('01m8j99cmh4nev3h5yeav18e7x', '01m8j99cmh2a4pgqqnerw8j2d6', 'web', 'console', 'old47a57b64fcfe497e938276179e0e6654', 'message', 'owner', '{"text": "«o0» what do you make of it?"}', '', 'done', '', 0, '01m8j99cmnbmz5zc0tg25qyxge', '01m8j99cmhggg3r89zmfe6yjxb', 1, false, 0.0, 1795910054.5458689, 1, '', 0),
 ('01m8j99cnvrff7fzkvdwrzrs7h', '01m8j99cmh2a4pgqqnerw8j2d6', 'web', 'console', 'oldb0a6b1ba61104d30aae909cad9cb731a', 'command', 'owner', '{"text": "/context clear"}', '', 'done', 'begun', 1, '', '01m8j99cnvd7278bcxkfa8hq1y', 3, false, 0.0, 1795910054.5875332, 1, '', 0),
 ('01m8j99cpvzr1a8x080jr1ys14', '01m8j99cmh2a4pgqqnerw8j2d6', 'web', 'console', 'old15e3289c23774a29a8075d6be4b43470', 'message', 'owner', '{"text": "«o1» what do you make of it?"}', '', 'done', '', 0, '01m8j99cpx29mm1rwqb9vrkj5j', '01m8j99cpvsdw89eq2c7s8h7r3', 5, false, 0.0, 1795910054.619029, 1, '', 0),
 ('01m8j99cxk4gr4n987snz8psmv', '01m8j99cxk0jhjzkcwyn9sf4qf', 'web', 'console', 'picturep0', 'message', 'owner', '{"text": "«p0» what do you make of it?", "shown": "«p0» what do you make of it?\n📎 dot.png", "files": [["7899d6ced52159786ff083934df42788da01a30b7ed9bb7756d7f3f5a94ef685", "dot.png", "image/png", 68, ""]]}', '', 'done', '', 0, '01m8j99d30kj992k4vd5cv1z7s', '01m8j99cxk3shn1w4rjpdbeqs9', 1, false, 0.0, 1795910054.8356538, 1, '', 0),
 ('01m8j99d6979tgh70aj6kmnth4', '01m8j99cxk0jhjzkcwyn9sf4qf', 'web', 'console', 'picture5c3599bd77d448949dee2348964eb31a', 'message', 'owner', '{"text": "«p1» use write_file {\"path\": \"notes/dot.md\", \"content\": \"a dot\"}"}', '', 'done', '', 0, '01m8j99d6esfkn7z3h6cvteew0', '01m8j99d69e9ez4a40btejftvy', 3, false, 0.0, 1795910055.1139915, 1, '', 0),
 ('01m8j99d8as5nqm989p5870d00', '01m8j99cxk0jhjzkcwyn9sf4qf', 'web', 'console', 'picturea710b845d88a483582d8a66d5d402693', 'message', 'owner', '{"text": "«p2» use edit_file {\"path\": \"notes/roses.md\", \"old\": \"Mondays\", \"new\": \"Sundays\"}"}', '', 'done', '', 0, '01m8j99d8jrf8be84afpsyq676', '01m8j99d8aead6ktv9ekctvs8t', 5, false, 0.0, 1795910055.178953, 1, '', 0),
 ('01m8j99dbd60kjhzfkhk9b1fbm', '01m8j99dbdnapg9ht2tka9vw1q', 'telegram', '100', 'm:5005:1:0', 'message', '5005', '{"text": "«t0» what do you make of it?", "name": "Ада"}', '00000000000000700100', 'done', '', 0, '01m8j99dc6f12vck3sd273yftv', '01m8j99dbdtg0d0v1cdnfr5r0p', 1, false, 0.0, 1795910055.277843, 1, '', 0),
 ('01m8j99dfc87emyxw66qbsxsvm', '01m8j99dfcqg5xwfzjypzab66w', 'telegram', '100', 'm:999:1:0', 'message', '999', '', '00000000000000700101', 'ignored', 'stranger', 0, '', '01m8j99dfcbnpnd8zthvqshge0', 1, false, 0.0, 1795910055.404516, 0, '', 0),
 ('01m8j99djaf99fjqk2xje0pnpr', '01m8j99a4retckfktnvkf46kyh', 'web', 'console', 'gardenc589c54370464bbdb3780c3f83b2b6a7', 'command', 'owner', '{"text": "/remind 1m water the roses"}', '', 'done', 'begun', 1, '', '01m8j99djawyhmz8jgkghd02fa', 13, false, 0.0, 1795910055.498621, 1, '', 0),
 ('01m8j99dv1tr5mvrcd8f7tbnfr', '01m8j99dv1p3pd3nd785q84jhs', 'web', 'console', 'lated672c027b7fe4f2d82b96ae4ef1fd132', 'message', 'owner', '{"text": "«l0» what do you make of it?"}', '', 'done', '', 0, '01m8j99e3v0xv7frhwhp050v5d', '01m8j99dv1rrffbcx7a7sj46fx', 1, false, 0.0, 1795910055.7771971, 2, '', 0),
 ('01m8j99eb9sbep65zwzenhetww', '01m8j99cb7d78vf6gtnbj382fz', 'web', 'console', 'work077c226df595446f9e866a588bb9a7ba', 'command', 'owner', '{"text": "/context fold"}', '', 'new', 'begun', 1, '', '01m8j99eb9stevgdrpghgr8tb4', 11, false, 0.0, 1795910056.297666, 2, '', 0),
 ('01m8j99eerj6a25wjjrdam6zy0', '01m8j99eerj5zm4f2hs3ae95y9', 'web', 'console', 'tool3a6f9341a340474eadea25ce11cc3834', 'message', 'owner', '{"text": "«x1» use write_file {\"path\": \"notes/x.md\", \"content\": \"x\"}"}', '', 'running', '', 0, '01m8j99eeyagxy9zfy71r1q664', '01m8j99eerk6zcw4bm40zr3z0r', 1, false, 0.0, 1795910056.4087222, 2, '', 0),
 ('01m8j99ehxgppj2m2hacsnrz15', '01m8j99eerj5zm4f2hs3ae95y9', 'web', 'console', 'tool9d300951bb2c42b4b3d9ad97ac21fcf0', 'message', 'owner', '{"text": "«x2» and after that?"}', '', 'new', '', 0, '', '01m8j99ehx149rwjghcnac327v', 2, false, 0.0, 1795910056.5097525, 0, '', 0),
 ('01m8j99ekbshpf8emnj66hr8dm', '01m8j99dv1p3pd3nd785q84jhs', 'web', 'console', 'late88d8bfa7302a494cb22184cb9d190b26', 'message', 'owner', '{"text": "«l1» what do you make of it?"}', '', 'done', '', 0, '01m8j99ekmj2s9j125b3kry0xg', '01m8j99ekbd11ankm5azm7hp42', 3, false, 0.0, 1795910056.5550795, 2, '', 0);
INSERT INTO message (id, conversation, epoch, seq, turn, turn_id, role, parts, origin, space, has_text, tokens, counter, at, tainted) VALUES
 ('01m8j99a4r904jkb7c2cj32kbb', '01m8j99a4retckfktnvkf46kyh', 1, 1, 1, '01m8j99acce64340aasgdhsv8j', 'user', '[{"kind":"Text","text":"«g0» the roses want water; I prefer tea. 花园要浇水"}]', 'person', '', true, 27, 'tiktoken', 1795910052.236703, 0),
 ('01m8j99bn1k8gkpq5fzr3j2fwv', '01m8j99a4retckfktnvkf46kyh', 1, 2, 1, '01m8j99acce64340aasgdhsv8j', 'assistant', '[{"kind":"Text","text":"re «g0»"}]', 'model', '', true, 12, 'tiktoken', 1795910053.5379543, 0),
 ('01m8j99bq284q10bf80kqw7yg2', '01m8j99a4retckfktnvkf46kyh', 1, 3, 2, '01m8j99bq6ygyq8f815540hw8v', 'user', '[{"kind":"Text","text":"«g1» the roses want water; I prefer tea. 花园要浇水"}]', 'person', '', true, 27, 'tiktoken', 1795910053.6064796, 0),
 ('01m8j99bqh5t8bq6hm48ygesr6', '01m8j99a4retckfktnvkf46kyh', 1, 4, 2, '01m8j99bq6ygyq8f815540hw8v', 'assistant', '[{"kind":"Text","text":"re «g1»"}]', 'model', '', true, 12, 'tiktoken', 1795910053.6176262, 0),
 ('01m8j99brd85sdsf3f3rt1fmtp', '01m8j99a4retckfktnvkf46kyh', 1, 5, 3, '01m8j99brsrtssy5zdy4r734cc', 'user', '[{"kind":"Text","text":"«g2» the roses want water; I prefer tea. 花园要浇水"}]', 'person', '', true, 27, 'tiktoken', 1795910053.657401, 0),
 ('01m8j99bs3xkprbe73ecjjmaaq', '01m8j99a4retckfktnvkf46kyh', 1, 6, 3, '01m8j99brsrtssy5zdy4r734cc', 'assistant', '[{"kind":"Text","text":"re «g2»"}]', 'model', '', true, 12, 'tiktoken', 1795910053.6674542, 0),
 ('01m8j99c5kww9ny465kfrk5mqh', '01m8j99a4retckfktnvkf46kyh', 1, 7, 4, '01m8j99c5y397hkxrqete3a568', 'user', '[{"kind":"Text","text":"«g3» use write_file {\"path\": \"notes/roses.md\", \"content\": \"water on Mondays\"}"}]', 'person', '', true, 33, 'tiktoken', 1795910054.0781379, 0),
 ('01m8j99c886wjfnz2020b2m2bh', '01m8j99a4retckfktnvkf46kyh', 1, 8, 4, '01m8j99c5y397hkxrqete3a568', 'assistant', '[{"kind":"Text","text":"I look."},{"kind":"ToolCall","id":"call_g3","name":"write_file","input":"{\"path\": \"notes/roses.md\", \"content\": \"water on Mondays\"}"}]', 'model', '', true, 41, 'tiktoken', 1795910054.1526992, 0),
 ('01m8j99c8x134v0pg21xjrg71g', '01m8j99a4retckfktnvkf46kyh', 1, 9, 4, '01m8j99c5y397hkxrqete3a568', 'user', '[{"kind":"ToolResult","call_id":"call_g3","text":"notes/roses.md now holds 16 bytes, version 29eb6a143968.","is_error":false,"outside":false}]', 'tool', '', false, 32, 'tiktoken', 1795910054.1739907, 0),
 ('01m8j99c9cmjhedfq7mxyqfygc', '01m8j99a4retckfktnvkf46kyh', 1, 10, 4, '01m8j99c5y397hkxrqete3a568', 'assistant', '[{"kind":"Text","text":"re «g3»"}]', 'model', '', true, 12, 'tiktoken', 1795910054.1884952, 0),
 ('01m8j99cb78jcn28y4awjmjv03', '01m8j99cb7d78vf6gtnbj382fz', 1, 1, 1, '01m8j99cbeqak3d4bdxsywp85y', 'user', '[{"kind":"Text","text":"«w0» what do you make of it?"}]', 'person', '', true, 18, 'tiktoken', 1795910054.254063, 0),
 ('01m8j99cdhfthhtdxjb5xmbm2n', '01m8j99cb7d78vf6gtnbj382fz', 1, 2, 1, '01m8j99cbeqak3d4bdxsywp85y', 'assistant', '[{"kind":"Text","text":"re «w0»"}]', 'model', '', true, 12, 'tiktoken', 1795910054.3214655, 0),
 ('01m8j99ce4sz31btvyf6t2sk44', '01m8j99cb7d78vf6gtnbj382fz', 1, 3, 2, '01m8j99ce7h9r6y5xn65f0qjmc', 'user', '[{"kind":"Text","text":"«w1» what do you make of it?"}]', 'person', '', true, 18, 'tiktoken', 1795910054.3432434, 0),
 ('01m8j99cf36ckm0pkakhagje1t', '01m8j99cb7d78vf6gtnbj382fz', 1, 4, 2, '01m8j99ce7h9r6y5xn65f0qjmc', 'assistant', '[{"kind":"Text","text":"re «w1»"}]', 'model', '', true, 12, 'tiktoken', 1795910054.3710005, 0),
 ('01m8j99cgnrhf5txdr7a9ebsbq', '01m8j99cb7d78vf6gtnbj382fz', 2, 5, 3, '01m8j99cgs4kns6krabpgvjrn7', 'user', '[{"kind":"Text","text":"«w2» what do you make of it?"}]', 'person', '', true, 18, 'tiktoken', 1795910054.4257402, 0),
 ('01m8j99cjdykdbdqpezdenth7w', '01m8j99cb7d78vf6gtnbj382fz', 2, 6, 3, '01m8j99cgs4kns6krabpgvjrn7', 'assistant', '[{"kind":"Text","text":"re «w2»"}]', 'model', '', true, 12, 'tiktoken', 1795910054.4773152, 0),
 ('01m8j99ckj4jhz2h36ndfmdszw', '01m8j99cb7d78vf6gtnbj382fz', 2, 7, 4, '01m8j99ckn3dexny8zsk4cs18m', 'user', '[{"kind":"Text","text":"«w3» what do you make of it?"}]', 'person', '', true, 18, 'tiktoken', 1795910054.517813, 0),
 ('01m8j99cm1m4qqgnd07z4ymfsc', '01m8j99cb7d78vf6gtnbj382fz', 2, 8, 4, '01m8j99ckn3dexny8zsk4cs18m', 'assistant', '[{"kind":"Text","text":"re «w3»"}]', 'model', '', true, 12, 'tiktoken', 1795910054.529056, 0),
 ('01m8j99cmh4nev3h5yeav18e7x', '01m8j99cmh2a4pgqqnerw8j2d6', 1, 1, 1, '01m8j99cmnbmz5zc0tg25qyxge', 'user', '[{"kind":"Text","text":"«o0» what do you make of it?"}]', 'person', '', true, 18, 'tiktoken', 1795910054.5498214, 0),
 ('01m8j99cn8anq5y0e8tp4mkx4h', '01m8j99cmh2a4pgqqnerw8j2d6', 1, 2, 1, '01m8j99cmnbmz5zc0tg25qyxge', 'assistant', '[{"kind":"Text","text":"re «o0»"}]', 'model', '', true, 12, 'tiktoken', 1795910054.5686512, 0),
 ('01m8j99cpvzr1a8x080jr1ys14', '01m8j99cmh2a4pgqqnerw8j2d6', 2, 3, 2, '01m8j99cpx29mm1rwqb9vrkj5j', 'user', '[{"kind":"Text","text":"«o1» what do you make of it?"}]', 'person', '', true, 18, 'tiktoken', 1795910054.6219668, 0),
 ('01m8j99cqgyqz162hbgh1akaxf', '01m8j99cmh2a4pgqqnerw8j2d6', 2, 4, 2, '01m8j99cpx29mm1rwqb9vrkj5j', 'assistant', '[{"kind":"Text","text":"re «o1»"}]', 'model', '', true, 12, 'tiktoken', 1795910054.6403487, 0),
 ('01m8j99cxk4gr4n987snz8psmv', '01m8j99cxk0jhjzkcwyn9sf4qf', 1, 1, 1, '01m8j99d30kj992k4vd5cv1z7s', 'user', '[{"kind":"Image","sha256":"7899d6ced52159786ff083934df42788da01a30b7ed9bb7756d7f3f5a94ef685","media_type":"image/png","width":2,"height":2},{"kind":"Text","text":"«p0» what do you make of it?"}]', 'person', '', true, 19, 'tiktoken', 1795910055.0086672, 0),
 ('01m8j99d5xx4mgehttwx030v8t', '01m8j99cxk0jhjzkcwyn9sf4qf', 1, 2, 1, '01m8j99d30kj992k4vd5cv1z7s', 'assistant', '[{"kind":"Text","text":"re «p0»"}]', 'model', '', true, 12, 'tiktoken', 1795910055.1013691, 1),
 ('01m8j99d6979tgh70aj6kmnth4', '01m8j99cxk0jhjzkcwyn9sf4qf', 1, 3, 2, '01m8j99d6esfkn7z3h6cvteew0', 'user', '[{"kind":"Text","text":"«p1» use write_file {\"path\": \"notes/dot.md\", \"content\": \"a dot\"}"}]', 'person', '', true, 30, 'tiktoken', 1795910055.1180155, 0),
 ('01m8j99d71m83thkrgvd9ng52j', '01m8j99cxk0jhjzkcwyn9sf4qf', 1, 4, 2, '01m8j99d6esfkn7z3h6cvteew0', 'assistant', '[{"kind":"Text","text":"I look."},{"kind":"ToolCall","id":"call_p1","name":"write_file","input":"{\"path\": \"notes/dot.md\", \"content\": \"a dot\"}"}]', 'model', '', true, 38, 'tiktoken', 1795910055.1374743, 1),
 ('01m8j99d7g799x3trefmsxmwx7', '01m8j99cxk0jhjzkcwyn9sf4qf', 1, 5, 2, '01m8j99d6esfkn7z3h6cvteew0', 'user', '[{"kind":"ToolResult","call_id":"call_p1","text":"notes/dot.md now holds 5 bytes, version 8ac7e3ea320f.","is_error":false,"outside":false}]', 'tool', '', false, 33, 'tiktoken', 1795910055.1521144, 1),
 ('01m8j99d7sy7fhrqw9cthbxx0s', '01m8j99cxk0jhjzkcwyn9sf4qf', 1, 6, 2, '01m8j99d6esfkn7z3h6cvteew0', 'assistant', '[{"kind":"Text","text":"re «p1»"}]', 'model', '', true, 12, 'tiktoken', 1795910055.161431, 1),
 ('01m8j99d8as5nqm989p5870d00', '01m8j99cxk0jhjzkcwyn9sf4qf', 1, 7, 3, '01m8j99d8jrf8be84afpsyq676', 'user', '[{"kind":"Text","text":"«p2» use edit_file {\"path\": \"notes/roses.md\", \"old\": \"Mondays\", \"new\": \"Sundays\"}"}]', 'person', '', true, 40, 'tiktoken', 1795910055.1864595, 0),
 ('01m8j99da1nnb6raq6am26x04f', '01m8j99cxk0jhjzkcwyn9sf4qf', 1, 8, 3, '01m8j99d8jrf8be84afpsyq676', 'assistant', '[{"kind":"Text","text":"I look."},{"kind":"ToolCall","id":"call_p2","name":"edit_file","input":"{\"path\": \"notes/roses.md\", \"old\": \"Mondays\", \"new\": \"Sundays\"}"}]', 'model', '', true, 48, 'tiktoken', 1795910055.233272, 1),
 ('01m8j99dapeh8k7yfg7fbrecpk', '01m8j99cxk0jhjzkcwyn9sf4qf', 1, 9, 3, '01m8j99d8jrf8be84afpsyq676', 'user', '[{"kind":"ToolResult","call_id":"call_p2","text":"notes/roses.md now holds 16 bytes, version dd1fcd45eb6b.","is_error":false,"outside":false}]', 'tool', '', false, 33, 'tiktoken', 1795910055.2542582, 1),
 ('01m8j99db06e5g41e5pbh77x6j', '01m8j99cxk0jhjzkcwyn9sf4qf', 1, 10, 3, '01m8j99d8jrf8be84afpsyq676', 'assistant', '[{"kind":"Text","text":"re «p2»"}]', 'model', '', true, 12, 'tiktoken', 1795910055.2649643, 1),
 ('01m8j99dbd60kjhzfkhk9b1fbm', '01m8j99dbdnapg9ht2tka9vw1q', 1, 1, 1, '01m8j99dc6f12vck3sd273yftv', 'user', '[{"kind":"Text","text":"«t0» what do you make of it?"}]', 'person', '', true, 18, 'tiktoken', 1795910055.302605, 0),
 ('01m8j99ddenj9fdpg06mjbe5ek', '01m8j99dbdnapg9ht2tka9vw1q', 1, 2, 1, '01m8j99dc6f12vck3sd273yftv', 'assistant', '[{"kind":"Text","text":"re «t0»"}]', 'model', '', true, 12, 'tiktoken', 1795910055.3424437, 0),
 ('01m8j99dv1tr5mvrcd8f7tbnfr', '01m8j99dv1p3pd3nd785q84jhs', 1, 1, 1, '01m8j99e3v0xv7frhwhp050v5d', 'user', '[{"kind":"Text","text":"«l0» what do you make of it?"}]', 'person', '', true, 18, 'tiktoken', 1795910056.059203, 0),
 ('01m8j99e9vf1jqepqg7mmhte5s', '01m8j99dv1p3pd3nd785q84jhs', 1, 2, 1, '01m8j99e3v0xv7frhwhp050v5d', 'assistant', '[{"kind":"Text","text":"re «l0»"}]', 'model', '', true, 12, 'tiktoken', 1795910056.251862, 0),
 ('01m8j99eerj6a25wjjrdam6zy0', '01m8j99eerj5zm4f2hs3ae95y9', 1, 1, 1, '01m8j99eeyagxy9zfy71r1q664', 'user', '[{"kind":"Text","text":"«x1» use write_file {\"path\": \"notes/x.md\", \"content\": \"x\"}"}]', 'person', '', true, 28, 'tiktoken', 1795910056.4149039, 0),
 ('01m8j99eh0byrnadwgrd3czchh', '01m8j99eerj5zm4f2hs3ae95y9', 1, 2, 1, '01m8j99eeyagxy9zfy71r1q664', 'assistant', '[{"kind":"Text","text":"I look."},{"kind":"ToolCall","id":"call_x1","name":"write_file","input":"{\"path\": \"notes/x.md\", \"content\": \"x\"}"}]', 'model', '', true, 36, 'tiktoken', 1795910056.4807959, 1),
 ('01m8j99ekbshpf8emnj66hr8dm', '01m8j99dv1p3pd3nd785q84jhs', 1, 3, 2, '01m8j99ekmj2s9j125b3kry0xg', 'user', '[{"kind":"Text","text":"«l1» what do you make of it?"}]', 'person', '', true, 18, 'tiktoken', 1795910056.5644026, 0),
 ('01m8j99ems5wsx0b9tnfqv91mp', '01m8j99dv1p3pd3nd785q84jhs', 1, 4, 2, '01m8j99ekmj2s9j125b3kry0xg', 'assistant', '[{"kind":"Text","text":"re «l1»"}]', 'model', '', true, 12, 'tiktoken', 1795910056.6018434, 0);
INSERT INTO outbox (id, conversation, source, part_no, parts, epoch, kind, client_key, text, state, attempts, repeats, plain, key_valid, key_expires, not_before, reply_to, platform_id, error, line, created, lease_epoch, payload, settled) VALUES
 ('01m8j99bn1ctq2vt4be9wk8ta1', '01m8j99a4retckfktnvkf46kyh', '01m8j99a4r904jkb7c2cj32kbb:answer', 0, 1, 1, 'final', 'df5ec20ac8cc68776bdc975ffed76970', 're «g0»', 'sent', 1, 0, false, 315360000.0, 2111270053.5747054, 0.0, '01m8j99a4r904jkb7c2cj32kbb', '01m8j99bn1ctq2vt4be9wk8ta1', '', 2, 1795910053.5379543, 1, '', 1795910053.5836906),
 ('01m8j99bqh9n85w4wck0m2ge0q', '01m8j99a4retckfktnvkf46kyh', '01m8j99bq284q10bf80kqw7yg2:answer', 0, 1, 1, 'final', 'b92d9fbcef73c27c1968d4f22479a33d', 're «g1»', 'sent', 1, 0, false, 315360000.0, 2111270053.6207051, 0.0, '01m8j99bq284q10bf80kqw7yg2', '01m8j99bqh9n85w4wck0m2ge0q', '', 4, 1795910053.6176262, 1, '', 1795910053.6238449),
 ('01m8j99bs303zngxfa49jfv0tf', '01m8j99a4retckfktnvkf46kyh', '01m8j99brd85sdsf3f3rt1fmtp:answer', 0, 1, 1, 'final', '8cc823c1edb2fae0478f6450cdb38022', 're «g2»', 'sent', 1, 0, false, 315360000.0, 2111270053.6707766, 0.0, '01m8j99brd85sdsf3f3rt1fmtp', '01m8j99bs303zngxfa49jfv0tf', '', 6, 1795910053.6674542, 1, '', 1795910053.6808023),
 ('01m8j99c4ss4zf8bv6403chv5a', '01m8j99a4retckfktnvkf46kyh', '01m8j99bts7aknx9fjbnex5h3x:answer', 0, 1, 1, 'notice', '1aaae99e92572566ef6e445713d2cb6c', 'Folded turn 1 into memory/2026-11-28.md: 117 → 99 tokens (85%).', 'sent', 1, 0, false, 315360000.0, 2111270054.0520353, 0.0, '01m8j99bts7aknx9fjbnex5h3x', '01m8j99c4ss4zf8bv6403chv5a', '', 8, 1795910054.0413465, 1, '', 1795910054.0614836),
 ('01m8j99c9czqycys0tkhm7t0a2', '01m8j99a4retckfktnvkf46kyh', '01m8j99c5kww9ny465kfrk5mqh:answer', 0, 1, 1, 'final', '3812917fa628454697944f974e30a97d', 're «g3»', 'sent', 1, 0, false, 315360000.0, 2111270054.1902487, 0.0, '01m8j99c5kww9ny465kfrk5mqh', '01m8j99c9czqycys0tkhm7t0a2', '', 10, 1795910054.1884952, 1, '', 1795910054.1912405),
 ('01m8j99carxg93mm8h28nxtv3b', '01m8j99a4retckfktnvkf46kyh', '01m8j99ca7ae7eq080byrzpdj4:answer', 0, 1, 1, 'notice', '8b1189724ef1dd3de51c669068b1b1af', 'Remembered (facts): The gate code is 4711', 'sent', 1, 0, false, 315360000.0, 2111270054.2340055, 0.0, '01m8j99ca7ae7eq080byrzpdj4', '01m8j99carxg93mm8h28nxtv3b', '', 12, 1795910054.2325785, 1, '', 1795910054.2357934),
 ('01m8j99cdheempe0z3wf5tagvb', '01m8j99cb7d78vf6gtnbj382fz', '01m8j99cb78jcn28y4awjmjv03:answer', 0, 1, 1, 'final', '80fa07d1bcba23d4e6d68d66e6ef922f', 're «w0»', 'sent', 1, 0, false, 315360000.0, 2111270054.334887, 0.0, '01m8j99cb78jcn28y4awjmjv03', '01m8j99cdheempe0z3wf5tagvb', '', 2, 1795910054.3214655, 1, '', 1795910054.3383787),
 ('01m8j99cf3cey5q0bbx8hvsvnx', '01m8j99cb7d78vf6gtnbj382fz', '01m8j99ce4sz31btvyf6t2sk44:answer', 0, 1, 1, 'final', '300cc0b1f9669388a909d8d1bd93e635', 're «w1»', 'sent', 1, 0, false, 315360000.0, 2111270054.3772037, 0.0, '01m8j99ce4sz31btvyf6t2sk44', '01m8j99cf3cey5q0bbx8hvsvnx', '', 4, 1795910054.3710005, 1, '', 1795910054.3780193),
 ('01m8j99cg2tv7eg3d799dhep6s', '01m8j99cb7d78vf6gtnbj382fz', '01m8j99cfmgng6g8st18zw7m14:answer', 0, 1, 2, 'notice', 'ec5de66a8197fd97f8742143294b6285', 'A new conversation begins; what came before (2 turns) is being written to today''s log.', 'sent', 1, 0, false, 315360000.0, 2111270054.4046173, 0.0, '01m8j99cfmgng6g8st18zw7m14', '01m8j99cg2tv7eg3d799dhep6s', '', 6, 1795910054.4023032, 1, '', 1795910054.4094555),
 ('01m8j99cjds8ztfr1z1bp2x1n0', '01m8j99cb7d78vf6gtnbj382fz', '01m8j99cgnrhf5txdr7a9ebsbq:answer', 0, 1, 2, 'final', '801347c0649ad05467a512514166c5ea', 're «w2»', 'sent', 1, 0, false, 315360000.0, 2111270054.480998, 0.0, '01m8j99cgnrhf5txdr7a9ebsbq', '01m8j99cjds8ztfr1z1bp2x1n0', '', 8, 1795910054.4773152, 1, '', 1795910054.4818394),
 ('01m8j99cm1er3e8xgk6h4bawmz', '01m8j99cb7d78vf6gtnbj382fz', '01m8j99ckj4jhz2h36ndfmdszw:answer', 0, 1, 2, 'final', '8f3724a724591fb3e9ef942853ffad8e', 're «w3»', 'sent', 1, 0, false, 315360000.0, 2111270054.5314233, 0.0, '01m8j99ckj4jhz2h36ndfmdszw', '01m8j99cm1er3e8xgk6h4bawmz', '', 10, 1795910054.529056, 1, '', 1795910054.5323074),
 ('01m8j99cn8rkbe5jdh97pzjfgr', '01m8j99cmh2a4pgqqnerw8j2d6', '01m8j99cmh4nev3h5yeav18e7x:answer', 0, 1, 1, 'final', '33e168c96f90a14b991297c1b99c0de4', 're «o0»', 'sent', 1, 0, false, 315360000.0, 2111270054.5702758, 0.0, '01m8j99cmh4nev3h5yeav18e7x', '01m8j99cn8rkbe5jdh97pzjfgr', '', 2, 1795910054.5686512, 1, '', 1795910054.572614),
 ('01m8j99cp8x1n0azx1rfd36k80', '01m8j99cmh2a4pgqqnerw8j2d6', '01m8j99cnvrff7fzkvdwrzrs7h:answer', 0, 1, 2, 'notice', '568f9b737c18bf478f20ac0c23ef2de5', 'The context is clear: the model sees nothing from before. The record stays; /context undo takes this back.', 'sent', 1, 0, false, 315360000.0, 2111270054.6049755, 0.0, '01m8j99cnvrff7fzkvdwrzrs7h', '01m8j99cp8x1n0azx1rfd36k80', '', 4, 1795910054.600672, 1, '', 1795910054.6058211),
 ('01m8j99cqgydnyg8zz8hxha93m', '01m8j99cmh2a4pgqqnerw8j2d6', '01m8j99cpvzr1a8x080jr1ys14:answer', 0, 1, 2, 'final', '71694f1bcc5ac7e8e1a65ef22100d9e2', 're «o1»', 'sent', 1, 0, false, 315360000.0, 2111270054.647878, 0.0, '01m8j99cpvzr1a8x080jr1ys14', '01m8j99cqgydnyg8zz8hxha93m', '', 6, 1795910054.6403487, 1, '', 1795910054.6519413),
 ('01m8j99d5xsf45vpcx7ehtwqxa', '01m8j99cxk0jhjzkcwyn9sf4qf', '01m8j99cxk4gr4n987snz8psmv:answer', 0, 1, 1, 'final', '2336c0de4293c8fdf1e4168c0a372e5f', 're «p0»', 'sent', 1, 0, false, 315360000.0, 2111270055.105698, 0.0, '01m8j99cxk4gr4n987snz8psmv', '01m8j99d5xsf45vpcx7ehtwqxa', '', 2, 1795910055.1013691, 1, '', 1795910055.1150787),
 ('01m8j99d7s946wyg1n6tev7n74', '01m8j99cxk0jhjzkcwyn9sf4qf', '01m8j99d6979tgh70aj6kmnth4:answer', 0, 1, 1, 'final', 'd24e4c5d115b19825b2a68d3bc7cdb57', 're «p1»', 'sent', 1, 0, false, 315360000.0, 2111270055.1632326, 0.0, '01m8j99d6979tgh70aj6kmnth4', '01m8j99d7s946wyg1n6tev7n74', '', 4, 1795910055.161431, 1, '', 1795910055.1641123),
 ('01m8j99db036yxes2p6kjmgagb', '01m8j99cxk0jhjzkcwyn9sf4qf', '01m8j99d8as5nqm989p5870d00:answer', 0, 1, 1, 'final', 'c1d2ea6c17ec285012f0713340ac16bf', 're «p2»', 'sent', 1, 0, false, 315360000.0, 2111270055.2668557, 0.0, '01m8j99d8as5nqm989p5870d00', '01m8j99db036yxes2p6kjmgagb', '', 6, 1795910055.2649643, 1, '', 1795910055.2687309),
 ('01m8j99dde0rbc0dxc63cam825', '01m8j99dbdnapg9ht2tka9vw1q', '01m8j99dbd60kjhzfkhk9b1fbm:answer', 0, 1, 1, 'final', '0160a350f9e24f65982f3af5d1e360f8', 're «t0»', 'sent', 1, 0, false, 0.0, 0.0, 0.0, '01m8j99dbd60kjhzfkhk9b1fbm', '2', '', 2, 1795910055.3424437, 1, '', 1795910055.369352),
 ('01m8j99dghdwrb1vztee32x3fm', '01m8j99dfcqg5xwfzjypzab66w', 'pair:01m8j99dfc87emyxw66qbsxsvm', 0, 1, 1, 'notice', 'f830958c5fb85c450e010797823c6a3e', 'I talk only to people who were let in. Give this code to the person who runs me; it is good for an hour: `4GZX-EKQQ`', 'sent', 1, 0, false, 0.0, 0.0, 0.0, '', '2', '', 2, 1795910055.441186, 1, '', 1795910055.499494),
 ('01m8j99dghwsgepxhzjxc0pgen', '01m8j99dbdnapg9ht2tka9vw1q', 'pairing:telegram:100:2026-11-28', 0, 1, 1, 'notice', 'db8d02a57840a5f9239d25ec5138dccf', 'telegram `999` “`Ада`” asks to talk to me and was given a code. If you know them, have them tell you the code and enter it with `mnema pair approve CODE` in a terminal, or `/approve CODE` in the page or the terminal chat. I do not tell you of others today; `mnema pair list` shows who waits.', 'sent', 1, 0, false, 0.0, 0.0, 0.0, '', '3', '', 3, 1795910055.441186, 1, '', 1795910055.50837),
 ('01m8j99dk6p2be7128gntnzqsy', '01m8j99a4retckfktnvkf46kyh', 'job:01m8j99dk1yprtv22az7ag89e6:made', 0, 1, 1, 'notice', '387ac436669d5cde33caf836082161e7', '⏰ 2026-11-28 Sat 23:55 UTC (in 1 min) · r1
water the roses', 'sent', 1, 0, false, 315360000.0, 2111270055.5274904, 0.0, '', '01m8j99dk6p2be7128gntnzqsy', '', 14, 1795910055.5262835, 1, '', 1795910055.529709),
 ('01m8j99dk77bq48sbq6d9y6dds', '01m8j99a4retckfktnvkf46kyh', '01m8j99djaf99fjqk2xje0pnpr:answer', 0, 1, 1, 'notice', 'aa5a1d1fb55aa8c128b4e0168e7ba730', 'Noted (r1).', 'sent', 1, 0, false, 315360000.0, 2111270055.5299861, 0.0, '01m8j99djaf99fjqk2xje0pnpr', '01m8j99dk77bq48sbq6d9y6dds', '', 15, 1795910055.5272853, 1, '', 1795910055.53429),
 ('01m8j99e9vy56x7c10djqkwj6g', '01m8j99dv1p3pd3nd785q84jhs', '01m8j99dv1tr5mvrcd8f7tbnfr:answer', 0, 1, 1, 'final', '84395af095ae805f87e844918cfbf57b', 're «l0»', 'sent', 1, 0, false, 315360000.0, 2111270056.2739112, 0.0, '01m8j99dv1tr5mvrcd8f7tbnfr', '01m8j99e9vy56x7c10djqkwj6g', '', 2, 1795910056.251862, 2, '', 1795910056.2806933),
 ('01m8j99ems8bj5sf4mbn6k27s0', '01m8j99dv1p3pd3nd785q84jhs', '01m8j99ekbshpf8emnj66hr8dm:answer', 0, 1, 1, 'final', '20f6d45daf3fb9190598a2d2fac2a591', 're «l1»', 'sending', 1, 0, false, 315360000.0, 2111270056.6164854, 0.0, '01m8j99ekbshpf8emnj66hr8dm', '', '', 4, 1795910056.6018434, 2, '', 0.0);
INSERT INTO snapshot (conversation, source, epoch, fold_head, reductions, at) VALUES
 ('01m8j99a4retckfktnvkf46kyh', 'clean:b3c8c71072d8847a3740ba9e4160446e35296c4fa19e6e75cc344829f1b07e8b', 1, '01m8j99bw5jytw163dkwkqxcen', 0, 1795910054.1419663),
 ('01m8j99cb7d78vf6gtnbj382fz', 'clean:dcaf1a86cae4324bb5d132801a311064c756ad95be959e6a7f3383f19a047fa0', 2, '', 0, 1795910054.4696112),
 ('01m8j99cmh2a4pgqqnerw8j2d6', 'clean:dcaf1a86cae4324bb5d132801a311064c756ad95be959e6a7f3383f19a047fa0', 2, '', 0, 1795910054.634921),
 ('01m8j99cxk0jhjzkcwyn9sf4qf', 'clean:dcaf1a86cae4324bb5d132801a311064c756ad95be959e6a7f3383f19a047fa0', 1, '', 0, 1795910055.0913448),
 ('01m8j99dbdnapg9ht2tka9vw1q', 'clean:dcaf1a86cae4324bb5d132801a311064c756ad95be959e6a7f3383f19a047fa0', 1, '', 0, 1795910055.3358464),
 ('01m8j99dv1p3pd3nd785q84jhs', 'clean:dcaf1a86cae4324bb5d132801a311064c756ad95be959e6a7f3383f19a047fa0', 1, '', 0, 1795910056.2210999),
 ('01m8j99eerj5zm4f2hs3ae95y9', 'clean:dcaf1a86cae4324bb5d132801a311064c756ad95be959e6a7f3383f19a047fa0', 1, '', 0, 1795910056.4710214);
INSERT INTO snapshot_part (conversation, place, name, sha256, left_out) VALUES
 ('01m8j99a4retckfktnvkf46kyh', 0, 'awareness', '268df8618177fc1555c69329b15ea9966f9ee57d770b4856c5320a9658868b7e', '[]'),
 ('01m8j99cb7d78vf6gtnbj382fz', 0, 'awareness', '268df8618177fc1555c69329b15ea9966f9ee57d770b4856c5320a9658868b7e', '[]'),
 ('01m8j99cb7d78vf6gtnbj382fz', 1, 'MEMORY.md', '0b1dd90b1493efbc386f1c22d331eb01a2ed54218a3a082ffffc6f910131aa63', '[]'),
 ('01m8j99cb7d78vf6gtnbj382fz', 2, 'log', '96f8cfbaafaaae9285a8a826f8fe6a01fc5e4c86bcf9f9cf124f499f6b83aa6b', '[]'),
 ('01m8j99cmh2a4pgqqnerw8j2d6', 0, 'awareness', '268df8618177fc1555c69329b15ea9966f9ee57d770b4856c5320a9658868b7e', '[]'),
 ('01m8j99cmh2a4pgqqnerw8j2d6', 1, 'MEMORY.md', '0b1dd90b1493efbc386f1c22d331eb01a2ed54218a3a082ffffc6f910131aa63', '[]'),
 ('01m8j99cmh2a4pgqqnerw8j2d6', 2, 'log', '96f8cfbaafaaae9285a8a826f8fe6a01fc5e4c86bcf9f9cf124f499f6b83aa6b', '[]'),
 ('01m8j99cxk0jhjzkcwyn9sf4qf', 0, 'awareness', '268df8618177fc1555c69329b15ea9966f9ee57d770b4856c5320a9658868b7e', '[]'),
 ('01m8j99cxk0jhjzkcwyn9sf4qf', 1, 'MEMORY.md', '0b1dd90b1493efbc386f1c22d331eb01a2ed54218a3a082ffffc6f910131aa63', '[]'),
 ('01m8j99cxk0jhjzkcwyn9sf4qf', 2, 'log', '96f8cfbaafaaae9285a8a826f8fe6a01fc5e4c86bcf9f9cf124f499f6b83aa6b', '[]'),
 ('01m8j99dbdnapg9ht2tka9vw1q', 0, 'awareness', '268df8618177fc1555c69329b15ea9966f9ee57d770b4856c5320a9658868b7e', '[]'),
 ('01m8j99dbdnapg9ht2tka9vw1q', 1, 'MEMORY.md', '0b1dd90b1493efbc386f1c22d331eb01a2ed54218a3a082ffffc6f910131aa63', '[]'),
 ('01m8j99dbdnapg9ht2tka9vw1q', 2, 'log', '96f8cfbaafaaae9285a8a826f8fe6a01fc5e4c86bcf9f9cf124f499f6b83aa6b', '[]'),
 ('01m8j99dv1p3pd3nd785q84jhs', 0, 'awareness', '268df8618177fc1555c69329b15ea9966f9ee57d770b4856c5320a9658868b7e', '[]'),
 ('01m8j99dv1p3pd3nd785q84jhs', 1, 'MEMORY.md', '0b1dd90b1493efbc386f1c22d331eb01a2ed54218a3a082ffffc6f910131aa63', '[]'),
 ('01m8j99dv1p3pd3nd785q84jhs', 2, 'log', '96f8cfbaafaaae9285a8a826f8fe6a01fc5e4c86bcf9f9cf124f499f6b83aa6b', '[]'),
 ('01m8j99eerj5zm4f2hs3ae95y9', 0, 'awareness', '268df8618177fc1555c69329b15ea9966f9ee57d770b4856c5320a9658868b7e', '[]'),
 ('01m8j99eerj5zm4f2hs3ae95y9', 1, 'MEMORY.md', '0b1dd90b1493efbc386f1c22d331eb01a2ed54218a3a082ffffc6f910131aa63', '[]'),
 ('01m8j99eerj5zm4f2hs3ae95y9', 2, 'log', '96f8cfbaafaaae9285a8a826f8fe6a01fc5e4c86bcf9f9cf124f499f6b83aa6b', '[]');
INSERT INTO turn (id, conversation, number, epoch, inbox_id, actor, state, step, attempts, trace_id, first_seq, lease_epoch, started, ended, who, asked, recalled) VALUES
 ('01m8j99acce64340aasgdhsv8j', '01m8j99a4retckfktnvkf46kyh', 1, 1, '01m8j99a4r904jkb7c2cj32kbb', 'owner', 'done', 0, 0, '01m8j99a4rak3cv6q977cxdx94', 1, 1, 1795910052.236703, 1795910053.5379543, 'owner', 1795910051.9928336, ''),
 ('01m8j99bq6ygyq8f815540hw8v', '01m8j99a4retckfktnvkf46kyh', 2, 1, '01m8j99bq284q10bf80kqw7yg2', 'owner', 'done', 0, 0, '01m8j99bq2h99gc7q2tzdcdmz8', 3, 1, 1795910053.6064796, 1795910053.6176262, 'owner', 1795910053.6023753, ''),
 ('01m8j99brsrtssy5zdy4r734cc', '01m8j99a4retckfktnvkf46kyh', 3, 1, '01m8j99brd85sdsf3f3rt1fmtp', 'owner', 'done', 0, 0, '01m8j99brdymcsx3vdh2wnevec', 5, 1, 1795910053.657401, 1795910053.6674542, 'owner', 1795910053.6450307, ''),
 ('01m8j99c5y397hkxrqete3a568', '01m8j99a4retckfktnvkf46kyh', 4, 1, '01m8j99c5kww9ny465kfrk5mqh', 'owner', 'done', 1, 0, '01m8j99c5kx14t99feyfby9dde', 7, 1, 1795910054.0781379, 1795910054.1884952, 'owner', 1795910054.0671227, ''),
 ('01m8j99cbeqak3d4bdxsywp85y', '01m8j99cb7d78vf6gtnbj382fz', 1, 1, '01m8j99cb78jcn28y4awjmjv03', 'owner', 'done', 0, 0, '01m8j99cb7834nx63sdb4tbh47', 1, 1, 1795910054.254063, 1795910054.3214655, 'owner', 1795910054.2474787, ''),
 ('01m8j99ce7h9r6y5xn65f0qjmc', '01m8j99cb7d78vf6gtnbj382fz', 2, 1, '01m8j99ce4sz31btvyf6t2sk44', 'owner', 'done', 0, 0, '01m8j99ce4rp48rr5fvc8nk400', 3, 1, 1795910054.3432434, 1795910054.3710005, 'owner', 1795910054.3406906, ''),
 ('01m8j99cgs4kns6krabpgvjrn7', '01m8j99cb7d78vf6gtnbj382fz', 3, 2, '01m8j99cgnrhf5txdr7a9ebsbq', 'owner', 'done', 0, 0, '01m8j99cgnrqnz6fhg60ba6j8w', 5, 1, 1795910054.4257402, 1795910054.4773152, 'owner', 1795910054.4219184, '[["", 0, 0, "01m8j99cb7d78vf6gtnbj382fz", 1], ["", 0, 0, "01m8j99cb7d78vf6gtnbj382fz", 2]]'),
 ('01m8j99ckn3dexny8zsk4cs18m', '01m8j99cb7d78vf6gtnbj382fz', 4, 2, '01m8j99ckj4jhz2h36ndfmdszw', 'owner', 'done', 0, 0, '01m8j99ckj2j88zzdjb0tyn6xe', 7, 1, 1795910054.517813, 1795910054.529056, 'owner', 1795910054.5145016, '[["", 0, 0, "01m8j99cb7d78vf6gtnbj382fz", 1], ["", 0, 0, "01m8j99cb7d78vf6gtnbj382fz", 2]]'),
 ('01m8j99cmnbmz5zc0tg25qyxge', '01m8j99cmh2a4pgqqnerw8j2d6', 1, 1, '01m8j99cmh4nev3h5yeav18e7x', 'owner', 'done', 0, 0, '01m8j99cmhggg3r89zmfe6yjxb', 1, 1, 1795910054.5498214, 1795910054.5686512, 'owner', 1795910054.5458689, '[["", 0, 0, "01m8j99cb7d78vf6gtnbj382fz", 3], ["", 0, 0, "01m8j99cb7d78vf6gtnbj382fz", 4], ["", 0, 0, "01m8j99cb7d78vf6gtnbj382fz", 1], ["", 0, 0, "01m8j99cb7d78vf6gtnbj382fz", 2]]'),
 ('01m8j99cpx29mm1rwqb9vrkj5j', '01m8j99cmh2a4pgqqnerw8j2d6', 2, 2, '01m8j99cpvzr1a8x080jr1ys14', 'owner', 'done', 0, 0, '01m8j99cpvsdw89eq2c7s8h7r3', 3, 1, 1795910054.6219668, 1795910054.6403487, 'owner', 1795910054.619029, '[["", 0, 0, "01m8j99cb7d78vf6gtnbj382fz", 3], ["", 0, 0, "01m8j99cb7d78vf6gtnbj382fz", 4], ["", 0, 0, "01m8j99cb7d78vf6gtnbj382fz", 1], ["", 0, 0, "01m8j99cb7d78vf6gtnbj382fz", 2]]'),
 ('01m8j99d30kj992k4vd5cv1z7s', '01m8j99cxk0jhjzkcwyn9sf4qf', 1, 1, '01m8j99cxk4gr4n987snz8psmv', 'owner', 'done', 0, 0, '01m8j99cxk3shn1w4rjpdbeqs9', 1, 1, 1795910055.0086672, 1795910055.1013691, 'owner', 1795910054.8356538, '[["", 0, 0, "01m8j99cmh2a4pgqqnerw8j2d6", 1], ["", 0, 0, "01m8j99cmh2a4pgqqnerw8j2d6", 2], ["", 0, 0, "01m8j99cb7d78vf6gtnbj382fz", 3], ["", 0, 0, "01m8j99cb7d78vf6gtnbj382fz", 4], ["", 0, 0, "01m8j99cb7d78vf6gtnbj382fz", 1]]'),
 ('01m8j99d6esfkn7z3h6cvteew0', '01m8j99cxk0jhjzkcwyn9sf4qf', 2, 1, '01m8j99d6979tgh70aj6kmnth4', 'owner', 'done', 1, 0, '01m8j99d69e9ez4a40btejftvy', 3, 1, 1795910055.1180155, 1795910055.161431, 'owner', 1795910055.1139915, '[["", 0, 0, "01m8j99a4retckfktnvkf46kyh", 4], ["", 0, 0, "01m8j99a4retckfktnvkf46kyh", 3]]'),
 ('01m8j99d8jrf8be84afpsyq676', '01m8j99cxk0jhjzkcwyn9sf4qf', 3, 1, '01m8j99d8as5nqm989p5870d00', 'owner', 'done', 1, 0, '01m8j99d8aead6ktv9ekctvs8t', 7, 1, 1795910055.1864595, 1795910055.2649643, 'owner', 1795910055.178953, '[["", 0, 0, "01m8j99a4retckfktnvkf46kyh", 4], ["", 0, 0, "01m8j99a4retckfktnvkf46kyh", 3]]'),
 ('01m8j99dc6f12vck3sd273yftv', '01m8j99dbdnapg9ht2tka9vw1q', 1, 1, '01m8j99dbd60kjhzfkhk9b1fbm', '5005', 'done', 0, 0, '01m8j99dbdtg0d0v1cdnfr5r0p', 1, 1, 1795910055.302605, 1795910055.3424437, 'owner', 1795910055.277843, '[["", 0, 0, "01m8j99cmh2a4pgqqnerw8j2d6", 1], ["", 0, 0, "01m8j99cmh2a4pgqqnerw8j2d6", 2], ["", 0, 0, "01m8j99cb7d78vf6gtnbj382fz", 3], ["", 0, 0, "01m8j99cb7d78vf6gtnbj382fz", 4], ["", 0, 0, "01m8j99cb7d78vf6gtnbj382fz", 1]]'),
 ('01m8j99e3v0xv7frhwhp050v5d', '01m8j99dv1p3pd3nd785q84jhs', 1, 1, '01m8j99dv1tr5mvrcd8f7tbnfr', 'owner', 'done', 0, 0, '01m8j99dv1rrffbcx7a7sj46fx', 1, 2, 1795910056.059203, 1795910056.251862, 'owner', 1795910055.7771971, '[["", 0, 0, "01m8j99cmh2a4pgqqnerw8j2d6", 1], ["", 0, 0, "01m8j99cmh2a4pgqqnerw8j2d6", 2], ["", 0, 0, "01m8j99cb7d78vf6gtnbj382fz", 3], ["", 0, 0, "01m8j99cb7d78vf6gtnbj382fz", 4], ["", 0, 0, "01m8j99cb7d78vf6gtnbj382fz", 1]]'),
 ('01m8j99eeyagxy9zfy71r1q664', '01m8j99eerj5zm4f2hs3ae95y9', 1, 1, '01m8j99eerj6a25wjjrdam6zy0', 'owner', 'waiting', 1, 0, '01m8j99eerk6zcw4bm40zr3z0r', 1, 2, 1795910056.4149039, 0.0, 'owner', 1795910056.4087222, '[["", 0, 0, "01m8j99cxk0jhjzkcwyn9sf4qf", 2], ["", 0, 0, "01m8j99a4retckfktnvkf46kyh", 4], ["", 0, 0, "01m8j99cxk0jhjzkcwyn9sf4qf", 3], ["", 0, 0, "01m8j99cxk0jhjzkcwyn9sf4qf", 1]]'),
 ('01m8j99ekmj2s9j125b3kry0xg', '01m8j99dv1p3pd3nd785q84jhs', 2, 1, '01m8j99ekbshpf8emnj66hr8dm', 'owner', 'done', 0, 0, '01m8j99ekbd11ankm5azm7hp42', 3, 2, 1795910056.5644026, 1795910056.6018434, 'owner', 1795910056.5550795, '[["", 0, 0, "01m8j99cmh2a4pgqqnerw8j2d6", 1], ["", 0, 0, "01m8j99cmh2a4pgqqnerw8j2d6", 2], ["", 0, 0, "01m8j99cb7d78vf6gtnbj382fz", 3], ["", 0, 0, "01m8j99cb7d78vf6gtnbj382fz", 4], ["", 0, 0, "01m8j99cb7d78vf6gtnbj382fz", 1]]');
INSERT INTO usage (id, conversation, turn_id, model, purpose, input, output, cache_read, cache_write, estimated, at, who) VALUES
 ('01m8j99bn1522dr15fj05hn3kg', '01m8j99a4retckfktnvkf46kyh', '01m8j99acce64340aasgdhsv8j', 'gpt-6.1-terra', 'turn', 2311, 3, 0, 0, 0, 1795910053.5379543, 'owner'),
 ('01m8j99bqh2js9px2z6jjabc03', '01m8j99a4retckfktnvkf46kyh', '01m8j99bq6ygyq8f815540hw8v', 'gpt-6.1-terra', 'turn', 2352, 3, 0, 0, 0, 1795910053.6176262, 'owner'),
 ('01m8j99bs3t3hwnye1npq8ctvn', '01m8j99a4retckfktnvkf46kyh', '01m8j99brsrtssy5zdy4r734cc', 'gpt-6.1-terra', 'turn', 2387, 3, 0, 0, 0, 1795910053.6674542, 'owner'),
 ('01m8j99c2q0jxb48jsz9ma2q6x', '01m8j99a4retckfktnvkf46kyh', '', 'gpt-6-luna', 'fold', 620, 41, 0, 0, 0, 1795910053.9750407, 'owner'),
 ('01m8j99c88t5xj4hvzahjn9q3e', '01m8j99a4retckfktnvkf46kyh', '01m8j99c5y397hkxrqete3a568', 'gpt-6.1-terra', 'turn', 2438, 19, 0, 0, 0, 1795910054.1526992, 'owner'),
 ('01m8j99c9c7gzt7vfbnj1ybymk', '01m8j99a4retckfktnvkf46kyh', '01m8j99c5y397hkxrqete3a568', 'gpt-6.1-terra', 'turn', 2521, 3, 0, 0, 0, 1795910054.1884952, 'owner'),
 ('01m8j99cdhyra4sxdy9v3kqn6w', '01m8j99cb7d78vf6gtnbj382fz', '01m8j99cbeqak3d4bdxsywp85y', 'gpt-6.1-terra', 'turn', 2444, 3, 0, 0, 0, 1795910054.3214655, 'owner'),
 ('01m8j99cf3k223jcg4ggnagq3e', '01m8j99cb7d78vf6gtnbj382fz', '01m8j99ce7h9r6y5xn65f0qjmc', 'gpt-6.1-terra', 'turn', 2478, 3, 0, 0, 0, 1795910054.3710005, 'owner'),
 ('01m8j99cgag2mmy16fa11j1bvp', '01m8j99cb7d78vf6gtnbj382fz', '', 'gpt-6-luna', 'fold', 359, 44, 0, 0, 0, 1795910054.410193, 'owner'),
 ('01m8j99cjdf55fx3r5q5r6qy0e', '01m8j99cb7d78vf6gtnbj382fz', '01m8j99cgs4kns6krabpgvjrn7', 'gpt-6.1-terra', 'turn', 2521, 3, 0, 0, 0, 1795910054.4773152, 'owner'),
 ('01m8j99cm1rktct6w149nk7v7r', '01m8j99cb7d78vf6gtnbj382fz', '01m8j99ckn3dexny8zsk4cs18m', 'gpt-6.1-terra', 'turn', 2555, 3, 0, 0, 0, 1795910054.529056, 'owner'),
 ('01m8j99cn80cmp1rzhawqcvjf1', '01m8j99cmh2a4pgqqnerw8j2d6', '01m8j99cmnbmz5zc0tg25qyxge', 'gpt-6.1-terra', 'turn', 2597, 3, 0, 0, 0, 1795910054.5686512, 'owner'),
 ('01m8j99cqgys0prp56fht8ft7n', '01m8j99cmh2a4pgqqnerw8j2d6', '01m8j99cpx29mm1rwqb9vrkj5j', 'gpt-6.1-terra', 'turn', 2597, 3, 0, 0, 0, 1795910054.6403487, 'owner'),
 ('01m8j99d5xwcayxqsm64tmypnx', '01m8j99cxk0jhjzkcwyn9sf4qf', '01m8j99d30kj992k4vd5cv1z7s', 'gpt-6.1-terra', 'turn', 2662, 3, 0, 0, 0, 1795910055.1013691, 'owner'),
 ('01m8j99d71m73qnr80wm1yy1sx', '01m8j99cxk0jhjzkcwyn9sf4qf', '01m8j99d6esfkn7z3h6cvteew0', 'gpt-6.1-terra', 'turn', 2717, 16, 0, 0, 0, 1795910055.1374743, 'owner'),
 ('01m8j99d7sztkx9p24tytp39cj', '01m8j99cxk0jhjzkcwyn9sf4qf', '01m8j99d6esfkn7z3h6cvteew0', 'gpt-6.1-terra', 'turn', 2796, 3, 0, 0, 0, 1795910055.161431, 'owner'),
 ('01m8j99da1kwtqq3cewxem48pr', '01m8j99cxk0jhjzkcwyn9sf4qf', '01m8j99d8jrf8be84afpsyq676', 'gpt-6.1-terra', 'turn', 2840, 21, 0, 0, 0, 1795910055.233272, 'owner'),
 ('01m8j99db0kq9de2dvxpfaw2pn', '01m8j99cxk0jhjzkcwyn9sf4qf', '01m8j99d8jrf8be84afpsyq676', 'gpt-6.1-terra', 'turn', 2925, 3, 0, 0, 0, 1795910055.2649643, 'owner'),
 ('01m8j99dde956w4e0e59dkezna', '01m8j99dbdnapg9ht2tka9vw1q', '01m8j99dc6f12vck3sd273yftv', 'gpt-6.1-terra', 'turn', 2608, 3, 0, 0, 0, 1795910055.3424437, 'owner'),
 ('01m8j99e9vth95ptkr5jc9h46g', '01m8j99dv1p3pd3nd785q84jhs', '01m8j99e3v0xv7frhwhp050v5d', 'gpt-6.1-terra', 'turn', 2608, 3, 0, 0, 0, 1795910056.251862, 'owner'),
 ('01m8j99ecskrkpwrpskks48r2e', '01m8j99cb7d78vf6gtnbj382fz', '', 'gpt-6-luna', 'fold', 613, 27, 0, 0, 0, 1795910056.3456717, 'owner'),
 ('01m8j99eh028wj6b0x9098cvmh', '01m8j99eerj5zm4f2hs3ae95y9', '01m8j99eeyagxy9zfy71r1q664', 'gpt-6.1-terra', 'turn', 2653, 14, 0, 0, 0, 1795910056.4807959, 'owner'),
 ('01m8j99emsg0fya18dh6980fhf', '01m8j99dv1p3pd3nd785q84jhs', '01m8j99ekmj2s9j125b3kry0xg', 'gpt-6.1-terra', 'turn', 2642, 3, 0, 0, 0, 1795910056.6018434, 'owner');
INSERT INTO tool_call (id, turn_id, place, call_id, name, input, effect, idem_key, state, attempts, result_id) VALUES
 ('01m8j99c88sm5s4wen3mwp7gwc', '01m8j99c5y397hkxrqete3a568', 0, 'call_g3', 'write_file', '{"path": "notes/roses.md", "content": "water on Mondays"}', 'idempotent', '722247a6e405790f8c72951104da6524', 'done', 1, '01m8j99c8x134v0pg21xjrg71g'),
 ('01m8j99d711vh35v35t7f0cpwz', '01m8j99d6esfkn7z3h6cvteew0', 0, 'call_p1', 'write_file', '{"path": "notes/dot.md", "content": "a dot"}', 'idempotent', 'e12fc1bcbdfa1569c6af8a43d5acd107', 'done', 1, '01m8j99d7g799x3trefmsxmwx7'),
 ('01m8j99da1b34epdwxp1bt57b4', '01m8j99d8jrf8be84afpsyq676', 0, 'call_p2', 'edit_file', '{"path": "notes/roses.md", "old": "Mondays", "new": "Sundays"}', 'unsafe', '4c057a48e8774304a27ad54591ce448e', 'done', 1, '01m8j99dapeh8k7yfg7fbrecpk'),
 ('01m8j99eh0r1frm0fc3w9srbnp', '01m8j99eeyagxy9zfy71r1q664', 0, 'call_x1', 'write_file', '{"path": "notes/x.md", "content": "x"}', 'idempotent', 'd535ec145307f7cef3c51aa429a2db87', 'started', 1, '');

-- Tables that this life left empty have one row each, written by hand.
INSERT INTO access_grant (channel, account, subject, subject_id, group_id, role, name, granted_by, at) VALUES
 ('telegram', '100', 'person', '5006', '', 'user', 'Bo', 'owner', 1795000000.0);
INSERT INTO account_link (own_space, space, channel, account, sender_id, at) VALUES
 ('p-joined', '', 'telegram', '100', '5006', 1795000000.0);
INSERT INTO approval (id, channel, account, subject_id, conversation, space, call, action, tool, arguments, digest, code_sha256, press_sha256, state, expires, at) VALUES
 ('a1', 'telegram', '100', '5005', '01m8j99dv1p3pd3nd785q84jhs', '', 'c1', 'file.write', 'write_file', '{"path":"n.md"}', '0', '0', '0', 'used', 1795000000.0, 1795000000.0);
INSERT INTO approval_rule (id, space, number, channel, account, person, tool, command, cwd, level, expires, at) VALUES
 ('x1', '', 1, 'telegram', '100', '5006', 'exec', 'git status', '', 'A', 1795000000.0, 1795000000.0);
INSERT INTO background_task (id, space, number, kind, conversation, call, position, child, channel, account, person, goal, request, state, detached, outcome, tainted, epoch, at, ended) VALUES
 ('x1', '', 1, 'agent', '01m8j99dv1p3pd3nd785q84jhs', '', 1, '', 'telegram', '100', '5006', 'look', '', 'done', true, 'Found 2 places.', true, 1, 1795000000.0, 1795000000.0);
INSERT INTO channel_note (channel, name, value) VALUES
 ('web', 'cursor', '7');
INSERT INTO dream (id, space, day, state, plan, diary, reason, at) VALUES
 ('d1', '', '2026-11-20', 'done', '', 'Merged nothing.', '', 1795000000.0);
INSERT INTO duty (name, lease) VALUES
 ('ticker', 0);
INSERT INTO extraction (turn_id, space, conversation, turn, state, attempts, found, reason, at) VALUES
 ('e1', '', '01m8j99dv1p3pd3nd785q84jhs', 1, 'done', 2, '', 'kept 1', 1795000000.0);
INSERT INTO forgetting (id, space, conversation, asked_by, state, code_sha256, targets, receipt, expires, at) VALUES
 ('f1', '', '01m8j99dv1p3pd3nd785q84jhs', 'owner', 'done', '', '{}', 'Removed from 2 places.', 1795000000.0, 1795000000.0);
INSERT INTO heartbeat (id, space, decision, sha256, norm, reason, tokens, at) VALUES
 ('x1', '', 'silent', '', '', 'same inputs', 5, 1795000000.0);
INSERT INTO job_setting (channel, account, person, space, zone, quiet) VALUES
 ('telegram', '100', '5006', '', 'Asia/Shanghai', '22:30-07:30');
INSERT INTO link_code (id, code_sha256, state, channel, account, sender_id, space, conversation, typed_channel, typed_account, typed_sender_id, typed_name, typed_space, typed_conversation, expires, at) VALUES
 ('l1', '0', 'agreed', 'telegram', '100', '5006', '', '01m8j99dv1p3pd3nd785q84jhs', 'telegram', '100', '5006', 'Ada', 'p-joined', 'm1', 1795000000.0, 1795000000.0);
INSERT INTO mcp_server (id, source_sha256, era, listed) VALUES
 ('files', 'aa', 'legacy', 1795000000.0);
INSERT INTO mcp_tool (server, name, description, schema, read_only, sha256, listed, mode, effect, reviewed_sha256, told_sha256, position) VALUES
 ('files', 'read', 'Read.', '{}', true, 'aa', true, 'ask', 'pure', 'aa', '', 0);
INSERT INTO model_factor (model, factor, samples, error_percent) VALUES
 ('a-model', 0.9838, 14, -1.27);
INSERT INTO occurrence (id, job, due, state, reason, space, at, inbox_row) VALUES
 ('x', 'j', 1795000000.0, 'told', '', '', 1795000000.0, '');
INSERT INTO person_removal (id, spaces, parties, blobs, receipt, at) VALUES
 ('p', '[]', '[]', '[]', '{}', 1795000000.0);
INSERT INTO view_text (conversation, space, sha256, form, text, day) VALUES
 ('', '', 'aa', 'plain', 'Be brief.', 20000);
INSERT INTO limit_told (who, conversation, limit_name, until) VALUES
 ('web:1', '01m8j99dv1p3pd3nd785q84jhs', 'messages', 1000000000.0);
INSERT INTO view_manifest (conversation, number, turn_id, turn, epoch, space, fold_head, from_seq, to_seq, generation, zone, model, answered, policy, budget, max_tokens, same, closed, entries, tokens, checksum, input, output, cache_read, cache_write, ms, forgotten, at) VALUES
 ('01m8j99dv1p3pd3nd785q84jhs', 1, 't', 1, 1, '', '', 1, 2, 0, '', 'm', 'm', 'balanced', 9000, 500, -1, false, '[]', 100, 'aa', 100, 5, 0, 0, 40, false, 1795000000.0);
INSERT INTO reduction (message_id, part, form, conversation, text, tokens, reason, prefix_generation) VALUES
 ('01m8j99e9vf1jqepqg7mmhte5s', 0, 'snip', '01m8j99dv1p3pd3nd785q84jhs', 're … l0', 3, 'size', 1);
