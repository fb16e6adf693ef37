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
        old='more=int(dead["rows"] == 1)',
        new="more=1",
        tests=(f"{STORE}::TestRecovery::{ALONE}",),
    ),
    Mutant(
        name="a death counts against what waits for its lane",
        guards="I13",
        file="memory/store/conversations/turns.py",
        old='deaths_alone=inbox.c.deaths_alone + bindparam("more"),\n        lease_epoch=NO_LEASE,',
        new='deaths_alone=inbox.c.deaths_alone + bindparam("more"),',
        tests=(f"{STORE}::TestRecovery::test_a_death_says_nothing_of_what_waits_for_its_lane",),
    ),
    Mutant(
        name="a clean end counts as a death",
        guards="I13",
        file="memory/store/store.py",
        old="    await release_work(tx)\n",
        new="",
        tests=(f"{STORE}::TestRecovery::test_a_clean_end_counts_against_nobody",),
    ),
    Mutant(
        name="a message that is opened again is not marked",
        guards="I13",
        file="bot/agent/turn.py",
        old="            await self._store.delivery.mark_opened(row.id)\n",
        new="            pass\n",
        tests=(f"{POISON}::test_a_message_that_kills_while_it_is_opened_is_given_up_too",),
    ),
    Mutant(
        name="suspects run beside each other",
        guards="I13",
        file="bot/dispatch.py",
        old="        if self._suspect:\n            self._parked[conversation] = None\n",
        new="        if False:\n            self._parked[conversation] = None\n",
        tests=(f"{ISOLATION}::{BLAMED}",),
    ),
    Mutant(
        name="the others do not wait for a suspect",
        guards="I13",
        file="bot/dispatch.py",
        old="        self._suspect = conversation\n        self._open.clear()\n",
        new="        self._suspect = conversation\n",
        tests=(f"{ISOLATION}::{BLAMED}", f"{ISOLATION}::test_who_waits_for_a_suspect_gets_in_before_the_next_one"),
    ),
    Mutant(
        name="a suspect does not wait for the others",
        guards="I13",
        file="bot/dispatch.py",
        old="                await self._all_ended.wait()\n",
        new="                pass\n",
        tests=(f"{ISOLATION}::test_who_waits_for_a_suspect_gets_in_before_the_next_one",),
    ),
    Mutant(
        name="a slow suspect keeps everybody waiting for ever",
        guards="I8",
        file="bot/dispatch.py",
        old="        self._over = asyncio.get_running_loop().call_later(seconds, self._release)\n",
        new="",
        tests=(f"{ISOLATION}::test_a_suspect_that_takes_long_keeps_the_others_waiting_only_for_its_time",),
    ),
    Mutant(
        name="what died alone is taken up again in the middle of a storm",
        guards="I13",
        file="bot/dispatch.py",
        old="        return max(0.0, self._calm_seconds * min(alone, 2) - (time.monotonic() - self._born))\n",
        new="        return 0.0\n",
        tests=(f"{ISOLATION}::test_a_suspect_that_died_alone_waits_until_the_process_has_lived_for_a_while",),
    ),
    Mutant(
        name="a part is marked before it leaves",
        guards="I5",
        file="bot/gateway/gateway.py",
        old="        elif not channel.capabilities.reports_leaving:\n",
        new="        else:\n",
        tests=(f"{GATEWAY}::test_what_waits_for_a_connection_is_not_marked_as_being_sent",),
    ),
    Mutant(
        name="what never left is called unknown",
        guards="I5",
        file="bot/gateway/gateway.py",
        old='            stayed = outcome.state == "unknown" and departure.is_pending\n',
        new="            stayed = False\n",
        tests=(f"{GATEWAY}::test_whatever_ends_a_send_before_it_left_makes_no_repeat_of_it",),
    ),
    Mutant(
        name="a part that was dropped while it waited is sent",
        guards="I18",
        file="bot/gateway/gateway.py",
        old='                raise PartWithdrawn("it was dropped before it left")\n',
        new="                return\n",
        tests=(f"{GATEWAY}::test_a_part_that_is_dropped_while_it_waits_is_not_sent",),
    ),
    Mutant(
        name="a request leaves before its connection stands",
        guards="I5",
        file="channels/toolkit/delivery.py",
        old='        if event.endswith("send_request_headers.started") and info["request"].method != b"CONNECT":\n',
        new='        if event.endswith(".started"):\n',
        tests=("tests/channels/telegram/test_contract.py::TestTelegram::test_what_found_no_connection_has_not_left",),
    ),
    Mutant(
        name="a part leaves with the request for a tunnel",
        guards="I5",
        file="channels/toolkit/delivery.py",
        old=' and info["request"].method != b"CONNECT":\n',
        new=":\n",
        tests=(
            "tests/channels/toolkit/test_delivery.py::test_a_part_does_not_leave_before_the_tunnel_through_a_proxy_stands",
        ),
    ),
    Mutant(
        name="a command that acts is marked before it begins",
        guards="I1",
        file="bot/agent/turn.py",
        old=" and not (command and is_mutating(*command))",
        new="",
        tests=(
            "tests/bot/agent/test_opened_marks.py::test_a_command_that_never_began_is_not_taken_for_an_interrupted_one",
        ),
    ),
    Mutant(
        name="a command that has begun is taken for the one that an edit makes of it",
        guards="I12",
        file="memory/store/conversations/inbox.py",
        old=' and meant["reason"] != BEGUN',
        new="",
        tests=(f"{STORE}::TestEdits::test_an_edit_of_a_command_that_has_begun_is_said_aside",),
    ),
    Mutant(
        name="a death of the process counts as a beginning of the command that an edit made",
        guards="I12",
        file="memory/store/conversations/inbox.py",
        old='return bool(row["reason"] != BEGUN)',
        new='return not row["attempts"]',
        tests=(
            f"{STORE}::TestEdits::test_a_message_that_a_process_died_of_begins_as_the_command_that_an_edit_made_of_it",
        ),
    ),
    Mutant(
        name="what a channel holds before it leaves is not released",
        guards="I4",
        file="memory/store/conversations/outbox.py",
        old=", _IS_HELD, _IS_DUE),\n",
        new=", _IS_HELD),\n",
        tests=(f"{STORE}::TestOutbox::test_nor_is_what_the_channel_holds_before_it_leaves_while_the_person_writes",),
    ),
    Mutant(
        name="a connection that ends drops what is on its way",
        guards="availability",
        file="channels/web/connections.py",
        old="self._linger, is_writing)\n",
        new="self._linger, False)\n",
        tests=("tests/channels/web/test_slow_readers.py",),
    ),
    Mutant(
        name="a new answer is measured by what was left of the last",
        guards="availability",
        file="channels/web/connections.py",
        old="        self._stop_stall_timer()  # it compares with the buffer of an earlier response\n",
        new="        if self._stall_timer is not None:\n            return\n",
        tests=("tests/channels/web/test_slow_readers.py",),
    ),
    Mutant(
        name="a suspect keeps sub-agents from whoever waits for them",
        guards="I13",
        file="bot/dispatch.py",
        old="while not (is_awaited or self._open.is_set()):",
        new="while not self._open.is_set():",
        tests=(f"{ISOLATION}::test_what_another_message_waits_for_gets_in_beside_a_suspect_unless_it_is_one",),
    ),
    Mutant(
        name="what a dead process was sending waits for the sweep of all queues",
        guards="I13",
        file="bot/runtime/cluster/bot.py",
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
        old="        self.shown.restarts = bool(self.shown.pieces)\n",
        new="        self.shown.pieces = []\n",
        tests=(f"{UNFINISHED}::test_of_a_repeated_request_the_last_text_that_was_shown_counts",),
    ),
    Mutant(
        name="the words before a tool are stored a second time when the turn is stopped",
        guards="unfinished",
        file="bot/agent/turn_context.py",
        old="        self.shown.earlier.append(self.shown.unstored)\n        self.shown.pieces = []\n",
        new="",
        tests=(f"{UNFINISHED}::test_a_stop_during_a_later_step_stores_the_words_before_the_tool_once",),
    ),
)
