"""The mutants of who is blamed when the process dies, and of when a part counts as being sent."""

from tests.mutants.mutant import Mutant

STORE = "tests/memory/store/test_contract.py"
ISOLATION = "tests/bot/test_isolation.py"
POISON = "tests/walk/test_poison.py"
UNFINISHED = "tests/bot/agent/test_unfinished_answers.py"
GATEWAY = "tests/bot/gateway/test_gateway.py"
ALONE = "test_a_death_counts_alone_only_where_one_message_was_at_work"
BLAMED = "test_only_what_the_process_dies_of_is_given_up_and_everybody_else_is_answered"

DELIVERY = (
    Mutant(
        name="every death counts as one alone",
        guards="I13",
        file="memory/store/conversations/turns.py",
        target="count_deaths",
        old=(
            "await tx.execute(_COUNT_INBOX_DEATH, of_lease_epoch=dead['lease_epoch'], "
            "more=int(dead['rows'] == 1))"
        ),
        new="await tx.execute(_COUNT_INBOX_DEATH, of_lease_epoch=dead['lease_epoch'], more=1)",
        tests=(f"{STORE}::TestRecovery::{ALONE}",),
    ),
    Mutant(
        name="a death counts against what waits for its lane",
        guards="I13",
        file="memory/store/conversations/turns.py",
        target="_COUNT_INBOX_DEATH",
        old=", lease_epoch=NO_LEASE",
        new="",
        tests=(f"{STORE}::TestRecovery::test_a_death_says_nothing_of_what_waits_for_its_lane",),
    ),
    Mutant(
        name="a clean end counts as a death",
        guards="I13",
        file="memory/store/store.py",
        target="_mark_clean",
        old="await release_work(tx)",
        new="",
        tests=(f"{STORE}::TestRecovery::test_a_clean_end_counts_against_nobody",),
    ),
    Mutant(
        name="a message that is opened again is not marked",
        guards="I13",
        file="bot/agent/turn.py",
        target="TurnRunner._process",
        old="await self._store.delivery.mark_opened(row.id)",
        new="pass",
        tests=(f"{POISON}::test_a_message_that_kills_while_it_is_opened_is_given_up_too",),
    ),
    Mutant(
        name="suspects run beside each other",
        guards="I13",
        file="bot/dispatch.py",
        target="CrashIsolation.enter",
        old="if self._suspect:",
        new="if False:",
        tests=(f"{ISOLATION}::{BLAMED}",),
    ),
    Mutant(
        name="the others do not wait for a suspect",
        guards="I13",
        file="bot/dispatch.py",
        target="CrashIsolation._isolate",
        old="self._open.clear()",
        new="",
        tests=(
            f"{ISOLATION}::{BLAMED}",
            f"{ISOLATION}::test_who_waits_for_a_suspect_gets_in_before_the_next_one",
        ),
    ),
    Mutant(
        name="a suspect does not wait for the others",
        guards="I13",
        file="bot/dispatch.py",
        target="CrashIsolation._isolate",
        old="await self._all_ended.wait()",
        new="pass",
        tests=(f"{ISOLATION}::test_who_waits_for_a_suspect_gets_in_before_the_next_one",),
    ),
    Mutant(
        name="a slow suspect keeps everybody waiting for ever",
        guards="I8",
        file="bot/dispatch.py",
        target="CrashIsolation._isolate",
        old="self._over = asyncio.get_running_loop().call_later(seconds, self._release)",
        new="",
        tests=(
            f"{ISOLATION}::test_a_suspect_that_takes_long_keeps_the_others_waiting_only_for_its_time",
        ),
    ),
    Mutant(
        name="what died alone is taken up again in the middle of a storm",
        guards="I13",
        file="bot/dispatch.py",
        target="CrashIsolation.seconds_until_allowed",
        old="return max(0.0, self._calm_seconds * min(alone, 2) - (time.monotonic() - self._born))",
        new="return 0.0",
        tests=(
            f"{ISOLATION}::test_a_suspect_that_died_alone_waits_until_the_process_has_lived_for_a_while",
        ),
    ),
    Mutant(
        name="a channel that is not ready is not waited for",
        guards="I5",
        file="bot/gateway/gateway.py",
        target="Gateway._send_when_ready",
        old="await _wait_until_ready(channel, row)",
        new="pass",
        tests=(f"{GATEWAY}::test_what_waits_for_a_connection_is_not_marked_as_being_sent",),
    ),
    Mutant(
        name="what was never given to its channel is called unknown",
        guards="I5",
        file="bot/gateway/gateway.py",
        target="Gateway._send_when_ready",
        old="outcome = replace(outcome, state='pending')",
        new="pass",
        tests=(
            f"{GATEWAY}::test_whatever_ends_the_wait_for_a_channel_makes_no_repeat_of_the_part",
        ),
    ),
    Mutant(
        name="a part that was dropped while it waited is sent",
        guards="I18",
        file="bot/gateway/gateway.py",
        target="Gateway._send_when_ready",
        old="if await self._delivery.mark_sending(row.id) is None:\n    return None",
        new="await self._delivery.mark_sending(row.id)",
        tests=(f"{GATEWAY}::test_a_part_that_is_dropped_while_it_waits_is_not_sent",),
    ),
    Mutant(
        name="a part is marked before it has a place among the sends",
        guards="I5",
        file="bot/gateway/gateway.py",
        target="Gateway._send_when_ready",
        old="async with self._slots[channel.name]:",
        new="if True:",
        tests=(
            f"{GATEWAY}::test_a_part_that_waits_for_a_place_among_the_sends_is_not_marked_as_being_sent",
        ),
    ),
    Mutant(
        name="a command that acts is marked before it begins",
        guards="I1",
        file="bot/agent/turn.py",
        target="TurnRunner._may_be_opened_again",
        old="if command and is_mutating(*command):",
        new="if False:",
        tests=(
            (
                "tests/bot/agent/test_opened_marks.py"
                "::test_a_command_that_never_began_is_not_taken_for_an_interrupted_one"
            ),
        ),
    ),
    Mutant(
        name="a command that has begun is taken for the one that an edit makes of it",
        guards="I12",
        file="memory/store/conversations/inbox.py",
        target="_edit",
        old="if meant['state'] in ('new', 'aside') and meant['reason'] != BEGUN:",
        new="if meant['state'] in ('new', 'aside'):",
        tests=(f"{STORE}::TestEdits::test_an_edit_of_a_command_that_has_begun_is_said_aside",),
    ),
    Mutant(
        name="a death of the process counts as a beginning of the command that an edit made",
        guards="I12",
        file="memory/store/conversations/inbox.py",
        target="mark_begun",
        old="return bool(row['reason'] != BEGUN)",
        new="return not row['attempts']",
        tests=(
            f"{STORE}::TestEdits::test_a_message_that_a_process_died_of_begins_as_the_command_that_an_edit_made_of_it",
        ),
    ),
    Mutant(
        name="what a channel holds before it leaves is not released",
        guards="I4",
        file="memory/store/conversations/outbox.py",
        target="_RELEASE",
        old="_IS_HELD, _IS_DUE",
        new="_IS_HELD",
        tests=(
            f"{STORE}::TestOutbox::test_nor_is_what_the_channel_holds_before_it_leaves_while_the_person_writes",
        ),
    ),
    Mutant(
        name="a connection that ends drops what is on its way",
        guards="availability",
        file="channels/web/connections.py",
        target="BoundedProtocol._linger",
        old=(
            "self._linger_timer = self.loop.call_later(self._group.linger_seconds, self._linger, "
            "is_writing)"
        ),
        new=(
            "self._linger_timer = self.loop.call_later(self._group.linger_seconds, self._linger, "
            "False)"
        ),
        tests=("tests/channels/web/test_slow_readers.py",),
    ),
    Mutant(
        name="a new answer is measured by what was left of the last",
        guards="availability",
        file="channels/web/connections.py",
        target="BoundedProtocol._watch_writing",
        old="self._stop_stall_timer()",
        new=("if self._stall_timer is not None:\n    return"),
        tests=("tests/channels/web/test_slow_readers.py",),
    ),
    Mutant(
        name="a suspect keeps sub-agents from whoever waits for them",
        guards="I13",
        file="bot/dispatch.py",
        target="CrashIsolation.enter",
        old="while not (is_awaited or self._open.is_set()):",
        new="while not self._open.is_set():",
        tests=(
            f"{ISOLATION}::test_what_another_message_waits_for_gets_in_beside_a_suspect_unless_it_is_one",
        ),
    ),
    Mutant(
        name="what a dead process was sending waits for the sweep of all queues",
        guards="I13",
        file="bot/runtime/cluster/bot.py",
        target="ClusterBot._run_maintenance",
        old="if has_expired or rounds % SWEEP_INTERVAL == 0:",
        new="if rounds % SWEEP_INTERVAL == 0:",
        tests=(
            "tests/bot/runtime/cluster/test_dead_processes.py"
            "::test_a_part_that_a_dead_process_was_sending_is_sent_at_once",
        ),
    ),
    Mutant(
        name="a repeated request takes what was shown from the screen before there is more",
        guards="unfinished",
        file="bot/agent/turn_context.py",
        target="EventSink.restart",
        old="self.shown.restarts = bool(self.shown.pieces)",
        new="self.shown.pieces = []",
        tests=(f"{UNFINISHED}::test_of_a_repeated_request_the_last_text_that_was_shown_counts",),
    ),
    Mutant(
        name="the words before a tool are stored a second time when the turn is stopped",
        guards="unfinished",
        file="bot/agent/turn_context.py",
        target="EventSink.end_step",
        old=("self.shown.earlier.append(self.shown.unstored)\nself.shown.pieces = []"),
        new="",
        tests=(
            f"{UNFINISHED}::test_a_stop_during_a_later_step_stores_the_words_before_the_tool_once",
        ),
    ),
)
