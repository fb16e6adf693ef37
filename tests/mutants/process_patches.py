"""The mutants of several processes on one record: what one that dies, sleeps or is cut off may not keep."""

from tests.mutants.mutant import Mutant

HURT = "tests/walk/test_hurt.py"
CLOCKS = "tests/walk/test_moved_clocks.py::test_albums_and_repeats_come_in_their_time_whatever_the_clocks_say"
LOST = "tests/memory/postgres/test_lost.py"
OUTLIVED = "tests/walk/test_machine_postgres.py::test_I11_a_turn_and_a_part_of_an_outlived_process_are_fenced"
ALONE = "tests/bot/cli/test_shared_commands.py"

FIRING = "tests/bot/jobs/test_firing.py"
HEARTBEAT = "tests/bot/jobs/test_heartbeat.py"

PROCESSES = (
    Mutant(
        name="a due job is moved by whoever read it",
        guards="I45",
        file="memory/store/people/jobs.py",
        old='job.c.id == bindparam("id"), job.c.next_at == bindparam("seen"),',
        new='job.c.id == bindparam("id"), job.c.next_at <= bindparam("seen") + 1e9,',
        tests=(f"{FIRING}::test_a_clock_that_jumps_fires_each_moment_once",),
    ),
    Mutant(
        name="a heartbeat asks the model though nothing has changed",
        guards="I52",
        file="bot/jobs/heartbeat.py",
        old='beats[0].decision in ("silent", "dropped")',
        new='beats[0].decision in ("dropped",)',
        tests=(f"{HEARTBEAT}::test_a_day_without_a_change_costs_one_call_and_then_none",),
    ),
    Mutant(
        name="a turn is finished by whoever had it",
        guards="I11",
        file="memory/store/conversations/turns.py",
        old=(
            "        _IS_OPEN_TURN,\n"
            '        turn.c.lease_epoch == bindparam("lease_epoch"),\n'
            '    )\n    .values(state=bindparam("new_state"), ended=bindparam("now"))'
        ),
        new=(
            '        _IS_OPEN_TURN,\n        turn.c.lease_epoch != bindparam("lease_epoch") + 1_000_000,\n'
            '    )\n    .values(state=bindparam("new_state"), ended=bindparam("now"))'
        ),
        tests=(OUTLIVED,),
    ),
    Mutant(
        name="a renewal waits for ever for its answer",
        guards="I11",
        file="bot/runtime/cluster/membership.py",
        old="asyncio.timeout(max(0.0, self._until - began))",
        new="asyncio.timeout(None)",
        tests=(f"{HURT}::test_whatever_is_hurt_under_load_the_oracle_finds_no_fault[cut worker 9]",),
    ),
    Mutant(
        name="a stopped process keeps its row locks",
        guards="I11",
        file="memory/store/postgres/connection.py",
        old="int(IDLE_TRANSACTION_SECONDS * 1000)",
        new="0",
        tests=(f"{HURT}::test_I11_what_a_stopped_worker_has_locked_is_free_for_the_next_one",),
    ),
    Mutant(
        name="a connection lost in a transaction is a fault of ours",
        guards="I1",
        file="memory/store/postgres/database.py",
        old="not await self._was_committed(attempt.xid):\n                    raise to_store_error(err) from err",
        new="not await self._was_committed(attempt.xid):\n                    raise",
        tests=(f"{HURT}::test_a_message_whose_transaction_is_lost_is_refused_and_taken_when_it_is_sent_again",),
    ),
    Mutant(
        name="a message is claimed as it was before its edit",
        guards="I11",
        file="memory/store/postgres/connection.py",
        old="IsolationLevel.REPEATABLE_READ",
        new="IsolationLevel.READ_COMMITTED",
        tests=("tests/memory/store/test_at_once.py::test_a_claim_waits_for_an_edit_that_is_not_committed_yet",),
    ),
    Mutant(
        name="a job that never came is done for ever",
        guards="I1",
        file="bot/runtime/cluster/jobs.py",
        old="for job in found & suspects:",
        new="for job in set[int]():",
        tests=(f"{HURT}::test_a_job_that_was_handed_over_in_an_answer_which_never_came_is_put_back",),
    ),
    Mutant(
        name="a dead connection of the pool costs a message",
        guards="I1",
        file="memory/store/postgres/database.py",
        old="not attempt.xid and is_connection_lost(err) and tries < MAX_LOST_CONNECTIONS",
        new="False",
        tests=(f"{LOST}::test_after_a_restart_of_the_server_the_next_question_is_answered[writes]",),
    ),
    Mutant(
        name="each process goes by its own clock",
        guards="I1",
        file="memory/store/engine/database.py",
        old="time.time() if self._ahead is None else",
        new="time.time() if self._ahead != 0.0 else",
        tests=("tests/memory/store/test_clock.py", f"{CLOCKS}[10800--10800]"),
    ),
    Mutant(
        name="a command is alone for as long as it believes so",
        guards="I11",
        file="memory/store/postgres/locks.py",
        old='    if row is None or row["lease_epoch"] != newest:\n',
        new='    if row is None or row["lease_epoch"] < newest:\n',
        tests=(f"{ALONE}::test_a_command_that_is_not_alone_any_more_writes_nothing_beside_who_came",),
    ),
    Mutant(
        name="a command looks whether it is alone, and somebody comes before it has written",
        guards="I11",
        file="memory/store/postgres/locks.py",
        old="_NEWEST_LOCKED = _NEWEST.with_for_update(read=True)",
        new="_NEWEST_LOCKED = _NEWEST",
        tests=(f"{ALONE}::test_who_comes_when_the_lock_broke_waits_for_the_deletion_that_goes_on",),
    ),
    Mutant(
        name="a person's files go although somebody has come",
        guards="I11",
        file="memory/forgetting/person_removal.py",
        old="await self._people.set_counts(removal)  # files have no fence",
        new="pass  # files have no fence",
        tests=(f"{ALONE}::test_a_removal_that_is_not_alone_any_more_leaves_the_files_to_who_came",),
    ),
    Mutant(
        name="a night waits for a timer that slept with the machine",
        guards="availability",
        file="bot/runtime/scheduler.py",
        old="        self._scheduler.wakeup()\n",
        new="",
        tests=(
            "tests/bot/runtime/test_clock_changes.py::test_nights_come_after_a_jump_of_the_clock_as_after_any_other_hour",
        ),
    ),
    Mutant(
        name="the HTTP clients of a rush of calls are never closed",
        guards="bounds",
        file="bot/models/providers/transport.py",
        old="if not each.calls and now - each.idle_since >= self._idle_seconds]\n",
        new="if False]\n",
        tests=(
            "tests/bot/models/providers/test_transport.py"
            "::test_clients_of_a_rush_are_closed_after_it_and_those_at_work_are_not",
        ),
    ),
    Mutant(
        name="a model that rests is asked by nobody",
        guards="I21",
        file="bot/models/fallback.py",
        old="        if not usable:\n            return resting\n",
        new="        resting = []\n        if not usable:\n            return resting\n",
        tests=("tests/bot/models/test_fallback_machine.py", "tests/walk/test_refused_models.py"),
    ),
    Mutant(
        name="a model is tried again by everybody at once",
        guards="availability",
        file="bot/models/fallback.py",
        old="            until = self._clock() + PROBE_SECONDS\n",
        new="            until = self._clock()\n",
        tests=("tests/bot/models/test_fallback.py::test_one_at_a_time_tries_a_model_out",),
    ),
    Mutant(
        name="one damaged conversation lowers the model for all",
        guards="availability",
        file="bot/models/fallback.py",
        old="health.damaged_in in (None, conversation)",
        new="health.damaged_in == ()",
        tests=("tests/bot/models/test_fallback.py::test_a_damaged_answer_counts_once_a_second_conversation_has_one",),
    ),
)
