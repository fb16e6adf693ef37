"""The mutants of several processes on one record: what one that dies, sleeps or is cut off may not
keep.
"""

from tests.mutants.mutant import Mutant

HURT = "tests/walk/test_hurt.py"
CLOCKS = (
    "tests/walk/test_moved_clocks.py"
    "::test_albums_and_repeats_come_in_their_time_whatever_the_clocks_say"
)
LOST = "tests/memory/postgres/test_lost.py"
OUTLIVED = (
    "tests/walk/test_machine_postgres.py"
    "::test_I11_a_turn_and_a_part_of_an_outlived_process_are_fenced"
)
ALONE = "tests/bot/cli/test_shared_commands.py"

FIRING = "tests/bot/jobs/test_firing.py"
HEARTBEAT = "tests/bot/jobs/test_heartbeat.py"

PROCESSES = (
    Mutant(
        name="a due job is moved by whoever read it",
        guards="I45",
        file="memory/store/automation/jobs.py",
        target="_MOVE",
        old="== bindparam('seen')",
        new="<= bindparam('seen') + 1000000000.0",
        tests=(f"{FIRING}::test_a_clock_that_jumps_fires_each_moment_once",),
    ),
    Mutant(
        name="a heartbeat asks the model though nothing has changed",
        guards="I52",
        file="bot/jobs/heartbeat.py",
        target="Heartbeat._beat",
        old="'silent', 'dropped'",
        new="'dropped',",
        tests=(f"{HEARTBEAT}::test_a_day_without_a_change_costs_one_call_and_then_none",),
    ),
    Mutant(
        name="a turn is finished by whoever had it",
        guards="I11",
        file="memory/store/conversations/turns.py",
        target="_END",
        old="== bindparam('lease_epoch')",
        new="!= bindparam('lease_epoch') + 1000000",
        tests=(OUTLIVED,),
    ),
    Mutant(
        name="a renewal waits for ever for its answer",
        guards="I11",
        file="bot/runtime/cluster/membership.py",
        target="Membership._renew",
        old="async with asyncio.timeout(max(0.0, self._until - began)):",
        new="async with asyncio.timeout(None):",
        tests=(
            f"{HURT}::test_whatever_is_hurt_under_load_the_oracle_finds_no_fault[cut worker 9]",
        ),
    ),
    Mutant(
        name="a stopped process keeps its row locks",
        guards="I11",
        file="memory/store/postgres/connection.py",
        target="set_idle_timeout",
        old="int(IDLE_TRANSACTION_SECONDS * 1000)",
        new="0",
        tests=(f"{HURT}::test_I11_what_a_stopped_worker_has_locked_is_free_for_the_next_one",),
    ),
    Mutant(
        name="a connection lost in a transaction is a fault of ours",
        guards="I1",
        file="memory/store/postgres/database.py",
        target="PostgresDatabase._run_unit",
        old=(
            "if attempt.tx is None or not await self._was_committed(attempt):\n"
            "    raise to_store_error(err) from err"
        ),
        new="if attempt.tx is None or not await self._was_committed(attempt):\n    raise",
        tests=(
            f"{HURT}::test_a_message_whose_transaction_is_lost_is_refused_and_taken_when_it_is_sent_again",
        ),
    ),
    Mutant(
        name="a message is claimed as it was before its edit",
        guards="I11",
        file="memory/store/postgres/connection.py",
        target="_configure",
        old="await connection.set_isolation_level(IsolationLevel.REPEATABLE_READ)",
        new="await connection.set_isolation_level(IsolationLevel.READ_COMMITTED)",
        tests=(
            (
                "tests/memory/store/test_at_once.py"
                "::test_a_claim_waits_for_an_edit_that_is_not_committed_yet"
            ),
        ),
    ),
    Mutant(
        name="a job that never came is done for ever",
        guards="I1",
        file="bot/runtime/cluster/jobs.py",
        target="JobQueue._put_back_lost_jobs",
        old="for job in found & suspects:",
        new="for job in set[int]():",
        tests=(
            f"{HURT}::test_a_job_that_was_handed_over_in_an_answer_which_never_came_is_put_back",
        ),
    ),
    Mutant(
        name="a dead connection of the pool costs a message",
        guards="I1",
        file="memory/store/postgres/database.py",
        target="PostgresDatabase._run_unit",
        old="if not attempt.xid and is_connection_lost(err) and (tries < MAX_LOST_CONNECTIONS):",
        new="if False:",
        tests=(
            f"{LOST}::test_after_a_restart_of_the_server_the_next_question_is_answered[writes]",
        ),
    ),
    Mutant(
        name="each process goes by its own clock",
        guards="I1",
        file="memory/store/engine/database.py",
        target="DatabaseClock.__call__",
        old="return time.time() if self._ahead is None else self._ticks() + self._ahead",
        new="return time.time() if self._ahead != 0.0 else self._ticks() + self._ahead",
        tests=("tests/memory/store/test_clock.py", f"{CLOCKS}[10800--10800]"),
    ),
    Mutant(
        name="a command is alone for as long as it believes so",
        guards="I11",
        file="memory/store/postgres/locks.py",
        target="_check_still_newest",
        old="if row is None or row['lease_epoch'] != newest:",
        new="if row is None or row['lease_epoch'] < newest:",
        tests=(
            f"{ALONE}::test_a_command_that_is_not_alone_any_more_writes_nothing_beside_who_came",
        ),
    ),
    Mutant(
        name="a command looks whether it is alone, and somebody comes before it has written",
        guards="I11",
        file="memory/store/postgres/locks.py",
        target="_NEWEST_LOCKED",
        old="_NEWEST_LOCKED = _NEWEST.with_for_update(read=True)",
        new="_NEWEST_LOCKED = _NEWEST",
        tests=(f"{ALONE}::test_who_comes_when_the_lock_broke_waits_for_the_deletion_that_goes_on",),
    ),
    Mutant(
        name="a person's files go although somebody has come",
        guards="I11",
        file="memory/forgetting/person_removal.py",
        target="PersonRemoval._run_steps",
        old=("for space in person.spaces:\n    await self._people.set_counts(removal)"),
        new=("for space in person.spaces:\n    pass"),
        tests=(f"{ALONE}::test_a_removal_that_is_not_alone_any_more_leaves_the_files_to_who_came",),
    ),
    Mutant(
        name="a night waits for a timer that slept with the machine",
        guards="availability",
        file="bot/runtime/scheduler.py",
        target="Scheduler._check_clock",
        old="self._scheduler.wakeup()",
        new="",
        tests=(
            (
                "tests/bot/runtime/test_clock_changes.py"
                "::test_nights_come_after_a_jump_of_the_clock_as_after_any_other_hour"
            ),
        ),
    ),
    Mutant(
        name="the HTTP clients of a rush of calls are never closed",
        guards="bounds",
        file="bot/models/providers/transport.py",
        target="ClientPool._close_idle",
        old="not each.calls and now - each.idle_since >= self._idle_seconds",
        new="False",
        tests=(
            "tests/bot/models/providers/test_transport.py"
            "::test_clients_of_a_rush_are_closed_after_it_and_those_at_work_are_not",
        ),
    ),
    Mutant(
        name="a model that rests is asked by nobody",
        guards="I21",
        file="bot/models/fallback.py",
        target="FallbackModel._plan",
        old="resting.sort(key=lambda step: self.health(*step.key).until)",
        new=("resting.sort(key=lambda step: self.health(*step.key).until)\nresting = []"),
        tests=("tests/bot/models/test_fallback_machine.py", "tests/walk/test_refused_models.py"),
    ),
    Mutant(
        name="a model is tried again by everybody at once",
        guards="availability",
        file="bot/models/fallback.py",
        target="FallbackModel._call",
        old="until = self._clock() + PROBE_SECONDS",
        new="until = self._clock()",
        tests=("tests/bot/models/test_fallback.py::test_one_at_a_time_tries_a_model_out",),
    ),
    Mutant(
        name="one damaged conversation lowers the model for all",
        guards="availability",
        file="bot/models/fallback.py",
        target="FallbackModel._record_failure",
        old="if isinstance(error, Damaged) and health.damaged_in in (None, conversation):",
        new="if isinstance(error, Damaged) and health.damaged_in == ():",
        tests=(
            (
                "tests/bot/models/test_fallback.py"
                "::test_a_damaged_answer_counts_once_a_second_conversation_has_one"
            ),
        ),
    ),
)
