"""The mutants of what a power cut, a clear, another process and a long turn must not get past: each
fence by itself.
"""

from tests.mutants.mutant import Mutant

DURABLE = "tests/memory/workspace/test_durability.py"
POWER = "tests/memory/store/test_power_cut.py"
WORKSPACE = "tests/memory/workspace/test_files.py"
WRITERS = "tests/memory/postgres/test_writers.py"
SLEPT = "test_I11_a_process_that_slept_when_it_was_to_write_writes_nothing_when_it_wakes"
BACKUPS = (
    "tests/walk/test_backups.py"
    "::test_I30_a_restore_that_is_killed_leaves_the_old_state_or_the_new_one_whole"
)
STORE = "tests/memory/store/test_contract.py"
SQLITE = "tests/memory/store/test_sqlite.py"
REPAIR = "tests/memory/store/test_repair.py"
MOVING = "tests/bot/cli/test_migrate.py"
UPGRADING = "tests/memory/store/test_upgrading.py"
FENCES = "tests/memory/store/test_fences.py"
MACHINE = "tests/walk/test_machine.py"
LOOP = "tests/bot/access/test_budget_in_loop.py"
NO_ANSWER = "test_no_answer_in_time_is_called_unknown"
OVERLOAD = (
    "tests/walk/test_failure_walks.py"
    "::test_overload_without_end_is_told_after_five_calls_and_the_message_is_kept"
)
ATOMIC = "test_I22_a_file_is_on_the_disk_before_it_has_its_name_and_the_name_before_anybody_is_told"

DAMAGE = (
    Mutant(
        name="keys of messages whose rows are lost are not taken over from the indexes",
        guards="I2",
        file="memory/store/maintenance/salvage.py",
        target="Salvage._known_keys",
        old="for known in self._damaged.load_known_keys():",
        new="for known in ():",
        tests=(
            f"{REPAIR}::test_I27_a_garbled_table_costs_no_more_than_it_held_and_no_message_is_answered_twice",
        ),
    ),
    Mutant(
        name="a snapshot brings back what was forgotten since",
        guards="I44",
        file="memory/store/maintenance/salvage.py",
        target="Salvage._keep_former",
        old="if former and values['space'] in self._forgotten:",
        new="if False:",
        tests=(f"{REPAIR}::test_I44_what_was_forgotten_since_the_snapshot_does_not_come_back",),
    ),
    Mutant(
        name="a log that SQLite cut short is no damage",
        guards="I27",
        file="memory/store/maintenance/write_ahead_log.py",
        target="is_log_cut",
        old=(
            "return any((frame.is_commit and frame.salts == log.salts for frame in "
            "log.frames[valid:]))"
        ),
        new="return False",
        tests=(
            f"{REPAIR}::test_I27_a_log_that_sqlite_cuts_short_is_noticed_and_what_is_behind_is_taken_over",
        ),
    ),
    Mutant(
        name="a repair leaves a right that was revoked since where it cannot read the rights",
        guards="S38",
        file="memory/store/maintenance/salvage.py",
        target="Salvage.run",
        old="self._withhold_rights()",
        new="",
        tests=(f"{REPAIR}::test_S38_a_right_that_was_revoked_since_the_snapshot_stays_revoked",),
    ),
)
ON_DISK = (
    Mutant(
        name="a file's bytes are not synced before its name",
        guards="I22",
        file="memory/workspace/atomic_write.py",
        target="AtomicWrite._fill",
        old="os.fsync(fd)",
        new="",
        tests=(f"{DURABLE}::{ATOMIC}",),
    ),
    Mutant(
        name="a file's new name is not synced",
        guards="I22",
        file="memory/workspace/atomic_write.py",
        target="AtomicWrite.put",
        old="os.fsync(self.folder)",
        new="",
        tests=(f"{DURABLE}::{ATOMIC}",),
    ),
    Mutant(
        name="a file is written in its place",
        guards="I22",
        file="memory/workspace/atomic_write.py",
        target="AtomicWrite.put",
        old="temporary = f'.{self.name}{self.writer.mark}{TEMPORARY}'",
        new="temporary = self.name",
        tests=(WORKSPACE,),
    ),
    Mutant(
        name="a process that slept finds its unfinished file where it was",
        guards="I11",
        file="memory/workspace/atomic_write.py",
        target="AtomicWrite._sweep",
        old="if _TEMPORARY_NAME.fullmatch(name):",
        new="if False:",
        tests=(f"{WRITERS}::{SLEPT}",),
    ),
    Mutant(
        name="a file gets its name though nobody is sure",
        guards="I11",
        file="memory/workspace/atomic_write.py",
        target="AtomicWrite.put",
        old="self.writer.check_still_held()",
        new="",
        tests=(f"{WRITERS}::{SLEPT}",),
    ),
    Mutant(
        name="a file is written under a lease that is over",
        guards="I11",
        file="memory/store/postgres/locks.py",
        target="_LEASE_IS_VALID",
        old=(
            "'SELECT 1 FROM process WHERE lease = %s AND until > extract(epoch from "
            "clock_timestamp())'"
        ),
        new="'SELECT 1 FROM process WHERE lease = %s'",
        tests=(
            f"{WRITERS}::test_I11_a_lease_that_is_over_writes_nothing_though_nobody_else_has_come",
        ),
    ),
    Mutant(
        name="what forgets waits for the turns of its own process only",
        guards="I16",
        file="bot/runtime/cluster/quiesce.py",
        target="SpaceQuiescer._wait_for_others",
        old="if all((_is_acknowledged(status, marker) for status in await self._leases.others())):",
        new="if True:",
        tests=(
            (
                "tests/bot/runtime/cluster/test_quiesce.py"
                "::test_it_begins_once_the_turns_of_all_others_have_ended"
            ),
        ),
    ),
    Mutant(
        name="a mark stands though whoever left it is dead",
        guards="I16",
        file="memory/store/engine/leases.py",
        target="_SELECT_ALL_DUTIES_OF_OTHERS",
        old=", ~is_lease_void(duty.c.lease)",
        new="",
        tests=(
            (
                "tests/bot/runtime/cluster/test_quiesce.py"
                "::test_a_process_whose_lease_is_over_is_not_waited_for_and_its_mark_is_none"
            ),
        ),
    ),
    Mutant(
        name="a restore keeps nothing of the settings that it replaces",
        guards="I30",
        file="bot/config/restore_journal.py",
        target="_swap_in",
        old="if os.path.lexists(target):",
        new="if os.path.isdir(target):",
        tests=(f"{BACKUPS}[restore.swapped@1]",),
    ),
    Mutant(
        name="a restore keeps nothing of the workspace that it replaces",
        guards="I30",
        file="bot/config/restore_journal.py",
        target="_swap_in",
        old=("if not os.path.lexists(new):\n    continue"),
        new=(
            "if not os.path.lexists(new):\n"
            "    continue\n"
            "if name == 'workspace' and target.exists():\n"
            "    __import__('shutil').rmtree(target)"
        ),
        tests=(f"{BACKUPS}[restore.swapped@1]",),
    ),
    Mutant(
        name="a new folder is not synced",
        guards="I22",
        file="memory/workspace/safe_path.py",
        target="make_folders",
        old="os.fsync(current)",
        new="",
        tests=(f"{DURABLE}::test_I22_a_note_and_its_new_folders_are_on_the_disk",),
    ),
    Mutant(
        name="a blob that is there is believed to be on the disk",
        guards="I1",
        file="memory/workspace/blobs.py",
        target="Blobs._holds",
        old="fsync_path(self._root)",
        new="",
        tests=(DURABLE,),
    ),
    Mutant(
        name="a snapshot has its name before its bytes are synced",
        guards="I1",
        file="memory/store/engine/sqlite_connection.py",
        target="copy_database",
        old="fsync_path(half)",
        new="",
        tests=(f"{DURABLE}::test_I01_a_snapshot_is_on_the_disk_before_it_has_its_name",),
    ),
    Mutant(
        name="a snapshot's name is not synced",
        guards="I1",
        file="memory/store/engine/sqlite_connection.py",
        target="copy_database",
        old="fsync_path(target.parent)",
        new="",
        tests=(f"{DURABLE}::test_I01_a_snapshot_is_on_the_disk_before_it_has_its_name",),
    ),
)
SOFT_COMMITS = (
    Mutant(
        name="a soft commit is never put on the disk",
        guards="I1",
        file="memory/store/engine/sqlite.py",
        target="LogKeeper._sync",
        old="await asyncio.to_thread(self._file.sync_log)",
        new="await asyncio.sleep(0)",
        tests=(f"{POWER}::test_I01_a_soft_commit_is_on_the_disk_soon_by_itself",),
    ),
    Mutant(
        name="one soft unit makes a shared commit soft",
        guards="I1",
        file="memory/store/engine/sqlite.py",
        target="SqliteDatabase._commit_batch",
        old=(
            "is_soft = keeper is not None and (not keeper.must_sync) and all((unit.is_soft for "
            "unit in batch))"
        ),
        new=(
            "is_soft = keeper is not None and (not keeper.must_sync) and any((unit.is_soft for "
            "unit in batch))"
        ),
        tests=(f"{POWER}::test_I01_units_that_share_a_commit_are_as_durable_as_the_most_durable",),
    ),
    Mutant(
        name="an end of a turn is soft",
        guards="I1",
        file="memory/store/conversations/turns.py",
        target="finish_turn_and_look",
        old="@light",
        new="@light\n@soft",
        tests=(f"{POWER}::test_I01_what_a_power_cut_leaves_of_a_turn",),
    ),
)
EPOCHS = (
    Mutant(
        name="a step of an older epoch is stored",
        guards="I18",
        file="memory/store/conversations/turns.py",
        target="_STEP",
        old="turn.c.epoch",
        new="bindparam('epoch')",
        tests=(FENCES,),
    ),
    Mutant(
        name="a clear leaves the running turn alone",
        guards="I18",
        file="memory/store/conversations/clears.py",
        target="clear_conversation",
        old="await cancel_open_turns(tx, conversation)",
        new="",
        tests=(f"{STORE}::TestRecovery", MACHINE),
    ),
    Mutant(
        name="a clear leaves unsent answers alone",
        guards="I18",
        file="memory/store/conversations/clears.py",
        target="clear_conversation",
        old="await drop_unsent(tx, conversation)",
        new="",
        tests=(f"{STORE}::TestRecovery", MACHINE),
    ),
    Mutant(
        name="the head moves for a fold of an older epoch",
        guards="I18",
        file="memory/store/conversations/folds/steps.py",
        target="_MOVE_HEAD",
        old="conversation.c.epoch",
        new="bindparam('epoch')",
        tests=(FENCES,),
    ),
    Mutant(
        name="a snapshot of an older epoch is kept",
        guards="I18",
        file="memory/store/conversations/prompt_state.py",
        target="_replace_snapshot",
        old=(
            "(conversation_row['epoch'], conversation_row['fold_head']) != (snapshot.epoch, "
            "snapshot.fold_head)"
        ),
        new="conversation_row['fold_head'] != snapshot.fold_head",
        tests=(FENCES,),
    ),
    Mutant(
        name="the undoing of a clear revives answers of every older epoch",
        guards="I18",
        file="memory/store/conversations/outbox.py",
        target="_MOVE_TO_EPOCH",
        old="outbox.c.epoch",
        new="bindparam('epoch')",
        tests=(FENCES, MACHINE),
    ),
    Mutant(
        name="what a person took back before a clear still holds folds back",
        guards="I18",
        file="memory/store/conversations/sessions.py",
        target="_LAST_UNDONE_SEQ",
        old=", _undone_fold.c.epoch == conversation.c.epoch",
        new="",
        tests=(FENCES,),
    ),
)
LEASES = (
    Mutant(
        name="a step is stored whoever holds the turn",
        guards="I11",
        file="memory/store/conversations/turns.py",
        target="_STEP",
        old="turn.c.lease_epoch",
        new="bindparam('lease_epoch')",
        tests=(f"{SQLITE}::test_I11_the_row_itself_knows_whose_it_is",),
    ),
    Mutant(
        name="a turn is finished whoever holds it",
        guards="I11",
        file="memory/store/conversations/turns.py",
        target="_END",
        old="turn.c.lease_epoch",
        new="bindparam('lease_epoch')",
        tests=(f"{SQLITE}::test_I11_the_row_itself_knows_whose_it_is",),
    ),
    Mutant(
        name="a fold goes on whoever holds it",
        guards="I11",
        file="memory/store/conversations/folds/steps.py",
        target="_STEP",
        old="fold.c.lease_epoch",
        new="bindparam('lease_epoch')",
        tests=(FENCES,),
    ),
    Mutant(
        name="a send ends whoever began it",
        guards="I11",
        file="memory/store/conversations/outbox.py",
        target="_settle",
        old="if row.state != 'sending' or holder != lease:",
        new="if row.state != 'sending':",
        tests=(FENCES,),
    ),
    Mutant(
        name="a living process's rows are taken over",
        guards="I11",
        file="memory/store/schema/tables.py",
        target="is_lease_void",
        old="return ~exists().where(process.c.lease == lease, process.c.until > database_clock())",
        new="return ~exists().where(process.c.lease == lease, process.c.until > FOREVER)",
        tests=(FENCES,),
    ),
    Mutant(
        name="a record moves with its leases beginning anew",
        guards="I11",
        file="memory/store/postgres/move.py",
        target="_copy_into",
        old="await connection.execute(_SET_LEASE, [lease])",
        new="await connection.execute(_SET_LEASE, [0])",
        tests=(f"{MOVING}::test_a_record_with_rows_in_every_table_moves_and_the_file_stays",),
    ),
    Mutant(
        name="a record is moved while a process is at work there",
        guards="I11",
        file="memory/store/postgres/connection.py",
        target="refuse_alive",
        old="if names:",
        new="if not names and names:",
        tests=(
            f"{MOVING}::test_sources_and_targets_that_are_not_right_are_refused_in_one_sentence",
        ),
    ),
    Mutant(
        name="what differs on the two sides of a move stands all the same",
        guards="I28",
        file="memory/store/postgres/move.py",
        target="move_in",
        old="raise psycopg.Rollback",
        new="pass",
        tests=(f"{MOVING}::test_a_row_that_does_not_arrive_as_it_was_is_named_and_nothing_stands",),
    ),
    Mutant(
        name="a record moves, and its chain has no act of it",
        guards="I28",
        file="memory/store/postgres/move.py",
        target="_append_move_act",
        old="if not moved.equal:",
        new="if moved.tables:",
        tests=(f"{MOVING}::test_each_move_is_an_act_of_the_chain_and_the_chain_stands",),
    ),
    Mutant(
        name="tables of a removed revision are taken for a newer version's",
        guards="I28",
        file="memory/store/schema/create.py",
        target="check_revision_is_known",
        old="if found in REMOVED_REVISIONS:",
        new="if not found:",
        tests=(f"{UPGRADING}::test_I28_tables_of_an_older_commit_are_refused_and_left_alone",),
    ),
    Mutant(
        name="a snapshot with tables of a removed revision is taken for a damaged database",
        guards="I28",
        file="memory/store/maintenance/repair.py",
        target="_copy_base",
        old="if found:",
        new="if not found:",
        tests=(
            f"{UPGRADING}::test_a_damaged_database_is_not_replaced_by_a_snapshot_with_tables_of_an_older_commit",
        ),
    ),
)
REQUESTS = (
    Mutant(
        name="tools stand in the order of a set",
        guards="I38",
        file="bot/tools/base.py",
        target="Toolset.specs",
        old="return tuple((tool.spec for tool in self._shown.values()))",
        new="return tuple((self._shown[name].spec for name in {*self._shown}))",
        tests=("tests/bot/tools/test_base.py",),
    ),
    Mutant(
        name="the budget is looked at once a turn, outside of the tool loop",
        guards="I39",
        file="bot/agent/context/fitter.py",
        target="ContextFitter.fit",
        old="planned = await run_beside_loop(plan, len(session.turns))",
        new=(
            "planned = await run_beside_loop(plan, len(session.turns))\n"
            "if len(session.turns[-1].messages) > 1:\n"
            "    planned = replace(planned, fits=True)\n"
            "    break"
        ),
        tests=(LOOP,),
    ),
    Mutant(
        name="tools cost nothing",
        guards="I39",
        file="memory/context/view.py",
        target="fixed_tokens",
        old="+ _count_tools_cached(counter, tools) + count_text",
        new="+ count_text",
        tests=("tests/memory/context/test_view.py",),
    ),
    Mutant(
        name="the SDK tries again by itself",
        guards="I21",
        file="bot/models/providers/anthropic.py",
        target="AnthropicModel._create_client",
        old="max_retries=0,",
        new="max_retries=2,",
        tests=(OVERLOAD,),
    ),
)
SILENCE = (
    Mutant(
        name="feishu's silence counts as sent",
        guards="I6",
        file="channels/feishu/client.py",
        target="FeishuClient._request",
        old="raise _error_without_response(err) from err",
        new=(
            "if isinstance((found := _error_without_response(err)), Ambiguous):\n"
            "    return {'code': 0, 'data': {'message_id': 'om_1'}, '_status': 200, '_reset': ''}\n"
            "raise found from err"
        ),
        tests=(f"tests/channels/feishu/test_contract.py::TestBySocket::{NO_ANSWER}",),
    ),
    Mutant(
        name="wechat's silence counts as sent",
        guards="I6",
        file="channels/wechat/client.py",
        target="ILinkClient._call",
        old="raise _error_for_exception(err) from err",
        new=(
            "if isinstance((found := _error_for_exception(err)), Ambiguous):\n    return {}\nraise "
            "found from err"
        ),
        tests=(f"tests/channels/wechat/test_contract.py::TestWechat::{NO_ANSWER}",),
    ),
    Mutant(
        name="the official account's silence counts as sent",
        guards="I6",
        file="channels/wechat_mp/client.py",
        target="OfficialAccountClient._post",
        old=(
            "async with self._failing():\n    response = await client.post(self.root + path, "
            "**request)"
        ),
        new=(
            "try:\n"
            "    async with self._failing():\n"
            "        response = await client.post(self.root + path, **request)\n"
            "except Ambiguous:\n"
            "    return {'errcode': 0}"
        ),
        tests=(f"tests/channels/wechat_mp/test_contract.py::TestWechatMp::{NO_ANSWER}",),
    ),
)

FENCES_AND_LIMITS = (*DAMAGE, *ON_DISK, *SOFT_COMMITS, *EPOCHS, *LEASES, *REQUESTS, *SILENCE)
