"""The mutants of what is not as it should be: open modes, failed reads, endless files, calls that
nobody proves.
"""

from tests.mutants.mutant import Mutant

PRIVATE = "tests/bot/config/test_private_files.py"
TROUBLES = "tests/bot/telemetry/test_faults.py"
UNREAD = "tests/bot/memory/test_unread_files.py"
PLAIN = "tests/channels/wechat_mp/test_plain.py"

APPEND = "tests/memory/workspace/test_append.py"
PATCH = "tests/bot/tools/workspace/test_patch.py"
APPENDED = "tests/memory/recall/test_appended.py"

FILES = (
    Mutant(
        name="what a killed process has half appended stays",
        guards="I22",
        file="memory/workspace/append.py",
        target="_complete",
        old="os.pwrite(fd, data, size)",
        new="",
        tests=(f"{APPEND}::test_after_a_kill_no_half_section_stays_and_none_is_there_twice",),
    ),
    Mutant(
        name="an append that failed stays",
        guards="I22",
        file="memory/workspace/append.py",
        target="_take_back",
        old="os.ftruncate(fd, size)",
        new="pass",
        tests=(f"{APPEND}::test_an_append_that_fails_leaves_the_log_as_it_was",),
    ),
    Mutant(
        name="what is appended is not synced",
        guards="I22",
        file="memory/workspace/append.py",
        target="append_noted",
        old="os.fsync(fd)",
        new="",
        tests=(f"{APPEND}::test_I22_what_is_appended_is_on_the_disk_before_anybody_is_told",),
    ),
    Mutant(
        name="a person's edit between two folds is not noticed",
        guards="I22",
        file="memory/workspace/files.py",
        target="_append",
        old=(
            "if file_stamp(before) != stamp or not is_private or before.st_size + len(data) > "
            "MAX_BYTES:"
        ),
        new="if not is_private or before.st_size + len(data) > MAX_BYTES:",
        tests=(f"{APPEND}::test_what_a_person_edits_in_between_is_noticed_and_stays",),
    ),
    Mutant(
        name="who can lose the write lock unnoticed appends in place",
        guards="I11",
        file="memory/workspace/files.py",
        target="SpaceFiles.append",
        old="return None if writer.mark else _append(folder, name, data, stamp)",
        new="return _append(folder, name, data, stamp)",
        tests=(f"{APPEND}::test_who_may_lose_the_lock_unnoticed_appends_to_no_file_in_place",),
    ),
    Mutant(
        name="a search shows cleared folds that it met",
        guards="I18",
        file="memory/recall/search.py",
        target="Recall._search_index",
        old="if not more:",
        new="if True:",
        tests=("tests/memory/recall/test_epochs.py",),
    ),
    Mutant(
        name="the index compares the whole log after each fold",
        guards="recall",
        file="memory/recall/keepers/keeper.py",
        target="_index_appended",
        old="if appended is None:",
        new="if True or appended is None:",
        tests=(
            f"{APPENDED}::test_a_fold_costs_the_index_the_same_in_a_log_that_is_a_hundred_times_as_long",
        ),
    ),
    Mutant(
        name="the umask is the caller's",
        guards="S62",
        file="bot/cli/main.py",
        target="main",
        old="os.umask(OTHERS_MODE)",
        new="",
        tests=(f"{PRIVATE}::test_S62_everything_that_the_program_makes_is_for_its_account_alone",),
    ),
    Mutant(
        name="a second name of a file is closed with it",
        guards="S62",
        file="bot/config/home.py",
        target="_is_closable",
        old=(
            "return stat.S_ISDIR(status.st_mode) or (stat.S_ISREG(status.st_mode) and "
            "status.st_nlink == 1)"
        ),
        new="return stat.S_ISDIR(status.st_mode) or stat.S_ISREG(status.st_mode)",
        tests=(f"{PRIVATE}::test_only_what_is_ours_is_closed",),
    ),
    Mutant(
        name="a running bot leaves open what was open",
        guards="S62",
        file="bot/runtime/bot.py",
        target="Bot._watch_process",
        old="self.spawn(self._close_files())",
        new="",
        tests=(f"{PRIVATE}::test_a_running_bot_closes_what_was_open",),
    ),
    Mutant(
        name="a file that cannot be read counts as none",
        guards="reading",
        file="bot/agent/prompt/files.py",
        target="PromptFiles.read",
        old="raise UnreadableFile from err",
        new="file = None",
        tests=(UNREAD,),
    ),
    Mutant(
        name="a prompt that lacks an unread file is recorded",
        guards="reading",
        file="bot/agent/prompt/builder.py",
        target="SystemPromptBuilder._build",
        old="if complete:",
        new="if True:",
        tests=(f"{UNREAD}::test_a_restart_in_between_does_not_record_that_there_was_none",),
    ),
    Mutant(
        name="the last good persona is not stored",
        guards="reading",
        file="bot/agent/prompt/persona.py",
        target="PersonaFiles.store",
        old="write_atomic(self._last_good, text.encode('utf-8', 'replace'))",
        new="pass",
        tests=(
            f"{TROUBLES}::test_a_persona_that_cannot_be_read_stays_as_it_was_and_the_owner_is_told_once",
        ),
    ),
    Mutant(
        name="a message that meets only faults of the machine is tried without an end",
        guards="silence",
        file="bot/agent/turn.py",
        target="TurnRunner._process_or_give_up",
        old="if len(faults) < MAX_FAULTS:",
        new="if True:",
        tests=(f"{TROUBLES}::test_a_message_that_cannot_even_be_opened_is_told_too",),
    ),
    Mutant(
        name="an error of the system in a turn is not counted",
        guards="silence",
        file="bot/agent/turn.py",
        target="TurnRunner._process_or_give_up",
        old="except StoreError:",
        new="except (OSError, StoreError):",
        tests=(f"{TROUBLES}::test_a_message_that_cannot_even_be_opened_is_told_too",),
    ),
    Mutant(
        name="config.json may be a device",
        guards="S62",
        file="bot/config/home.py",
        target="read_regular_file",
        old="if not stat.S_ISREG(os.fstat(handle).st_mode):",
        new="if False:",
        tests=(
            (
                "tests/bot/config/test_odd_files.py"
                "::test_what_is_no_small_plain_file_is_refused_by_all_that_read_it"
            ),
        ),
    ),
    Mutant(
        name="a hard link is read",
        guards="S33",
        file="memory/workspace/files.py",
        target="SpaceFiles._read",
        old="status = check_regular_file(fd, allowed_owners(root), single=not hard_links)",
        new="status = check_regular_file(fd, allowed_owners(root), single=False)",
        tests=(
            (
                "tests/memory/workspace/test_files.py"
                "::test_s33_links_and_pipes_are_refused_and_nothing_hangs"
            ),
        ),
    ),
    Mutant(
        name="a body's length may be given twice",
        guards="S21",
        file="channels/web/server.py",
        target="_run_handler",
        old="if is_framed_twice(scope['headers'], scope['http_version']):",
        new="if False:",
        tests=("tests/channels/web/test_framing.py",),
    ),
    Mutant(
        name="two attachments are opened at once",
        guards="S37",
        file="bot/gateway/attachments.py",
        target="MAX_WORKERS",
        old="MAX_WORKERS = 1",
        new="MAX_WORKERS = 2",
        tests=(
            (
                "tests/bot/gateway/test_attachments.py"
                "::test_s37_two_very_large_pictures_are_opened_in_turn_in_less_than_300_mb"
            ),
        ),
    ),
    Mutant(
        name="plain mode has owners",
        guards="unproven",
        file="channels/wechat_mp/channel.py",
        target="WechatMp.hook",
        old=(
            "return await self._answer_message(call, replace(message, proven=self._encrypted), "
            "deliver)"
        ),
        new="return await self._answer_message(call, message, deliver)",
        tests=(f"{PLAIN}::test_the_owner_is_the_owner_in_safe_mode_and_a_guest_in_plain_mode",),
    ),
    Mutant(
        name="what a message's platform does not prove is forgotten in the record",
        guards="unproven",
        file="bot/messages.py",
        target="dump_body",
        old="record['unproven'] = True",
        new="pass",
        tests=(f"{PLAIN}::test_the_owner_is_the_owner_in_safe_mode_and_a_guest_in_plain_mode",),
    ),
    Mutant(
        name="a restart forgets nonces",
        guards="S17",
        file="channels/wechat_mp/channel.py",
        target="WechatMp.run",
        old="self._verifier.nonces.load(values, self._clock())",
        new="",
        tests=(f"{PLAIN}::test_S17_a_nonce_with_another_body_is_refused_after_a_restart_too",),
    ),
    Mutant(
        name="what a failed patch wrote stays",
        guards="T4",
        file="bot/tools/workspace/changes.py",
        target="write_together",
        old="for change in changes[:len(written) + 1]:",
        new="for change in changes[:len(written)]:",
        tests=(f"{PATCH}::test_a_patch_that_fails_half_way_leaves_all_old",),
    ),
    Mutant(
        name="what a killed patch wrote stays",
        guards="T4",
        file="bot/tools/workspace/changes.py",
        target="FileChanges.resume",
        old="await self._take_back(space, [row for row in group if await self._is_newest(row)])",
        new="",
        tests=(f"{PATCH}::test_after_a_kill_a_start_finds_all_old_or_all_new",),
    ),
    Mutant(
        name="the paths of a patch are not looked at",
        guards="I35",
        file="bot/tools/workspace/patch.py",
        target="PatchFilesArguments.written_paths",
        old="return tuple((patch.path for patch in parse_patch(self.patch)))",
        new="return tuple((patch.path for patch in parse_patch(self.patch)))[:1]",
        tests=("tests/bot/agent/test_approvals.py::test_no_model_writes_what_is_run_or_followed",),
    ),
    Mutant(
        name="versions stay when what they mention is forgotten",
        guards="I25",
        file="memory/forgetting/forget.py",
        target="ForgetService._forget_files",
        old="await forget_versions(self._store, self._blobs, member, targets)",
        new="pass",
        tests=("tests/memory/forgetting/test_versions.py",),
    ),
)
