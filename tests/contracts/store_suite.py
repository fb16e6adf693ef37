"""What every store must do with what comes in and what goes out; a backend is what passes."""

import asyncio
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory.store.engine.database import QueueKey
from memory.store.errors import StaleEpoch, WrongState
from memory.store.rows import HELD_UNTIL_REPLY, OutboxRow, SendOutcome
from memory.store.store import Store
from tests.contracts.store_words import (
    SPENT,
    Record,
    arrival,
    begin,
    call,
    deaths,
    parts,
    place,
    reply,
    results,
    talk,
    words,
)

# One suite, several backends, each with a record of its own.
BESIDE = (HealthCheck.function_scoped_fixture, HealthCheck.differing_executors)


class DeliverySuite:
    async def test_I02_a_repeated_message_is_kept_once(self, record: Record) -> None:
        store = await record.open()
        [first] = await store.delivery.accept([arrival("k")])
        [again, other] = await store.delivery.accept([arrival("k", "edited"), arrival("k2")])
        assert (first.new, again.new, other.new) == (True, False, True)
        assert (again.id, again.conversation, again.line) == (
            first.id,
            first.conversation,
            first.line,
        )
        assert [line.text for line in await store.sessions.lines(first.conversation)] == [
            "hello",
            "hello",
        ]

    @settings(max_examples=15, deadline=None, suppress_health_check=BESIDE)
    @given(keys=st.lists(st.integers(0, 6), max_size=20), cut=st.integers(0, 20))
    async def test_I02_duplicates_in_any_order_make_one_row_each(
        self, record: Record, keys: list[int], cut: int
    ) -> None:
        record.now += 1
        run = record.now
        store = await record.open()
        batches = [keys[:cut], keys[cut:]]
        told = await asyncio.gather(
            *(
                store.delivery.accept([arrival(f"{run}-{key}") for key in batch])
                for batch in batches
            )
        )
        stored = [one for batch in told for one in batch]
        assert len({one.id for one in stored}) == len(set(keys))
        assert sum(one.new for one in stored) == len(set(keys))
        await store.close()

    async def test_a_lanes_bell_rings_once_its_row_is_committed(self, record: Record) -> None:
        store = await record.open()
        rung: list[QueueKey] = []
        store.database.on_commit = rung.extend
        late, urgent = arrival("2", not_before=9e9), arrival("3", "/stop", urgent=True)
        stored = await store.delivery.accept(
            [arrival("1"), late, urgent, arrival("4", ignored="not allowed")]
        )
        home = stored[0].conversation
        assert [(lane.kind, lane.id, lane.due) for lane in rung] == [
            ("turn", home, 0.0),
            ("turn", home, 9e9),
            ("urgent", stored[2].id, 0.0),
        ]
        rung.clear()
        await store.delivery.accept([arrival("1")])
        assert [lane.kind for lane in rung] == ["turn"]
        rung.clear()
        turn = await store.delivery.claim(stored[0].id, words(), "u1")
        await store.delivery.finish(turn, "done", reply(), parts("a", "b"), remember=True)
        assert [(lane.kind, lane.id, lane.channel) for lane in rung] == [
            ("out", home, "web"),
            ("facts", "", ""),
        ]
        rung.clear()
        with pytest.raises(ValueError, match="empty key"):
            await store.delivery.accept([arrival("5"), arrival("")])
        assert rung == []

    async def test_I03_the_same_words_twice_are_two_messages(self, record: Record) -> None:
        store = await record.open()
        first, second = await store.delivery.accept([arrival("1", "hi"), arrival("2", "hi")])
        assert first.id != second.id
        assert second.line == first.line + 1

    async def test_an_empty_key_is_refused_and_nothing_of_its_batch_is_kept(
        self, record: Record
    ) -> None:
        store = await record.open()
        with pytest.raises(ValueError, match="empty key"):
            await store.delivery.accept([arrival("fine"), arrival("")])
        assert await store.delivery.waiting() == []

    async def test_a_stranger_leaves_no_words_and_no_listed_conversation(
        self, record: Record
    ) -> None:
        store = await record.open()
        [stored] = await store.delivery.accept([arrival("k", "secret", ignored="not allowed")])
        row = await store.delivery.inbox(stored.id)
        assert row
        assert (row.state, row.reason, row.body) == ("ignored", "not allowed", "")
        assert await store.sessions.conversations() == []
        assert await store.sessions.lines(stored.conversation) == []
        assert await store.delivery.waiting() == []

    async def test_a_lane_takes_the_running_row_then_the_oldest_due_one(
        self, record: Record
    ) -> None:
        store = await record.open()
        late, urgent, first, _ = await store.delivery.accept(
            [
                arrival("late", not_before=100.0, order_key="0"),
                arrival("stop", urgent=True, order_key="0"),
                arrival("b", order_key="1"),
                arrival("c", order_key="2"),
            ]
        )
        home = late.conversation
        head = await store.delivery.next_inbox_row(home, 50.0)
        assert head
        assert head.id == first.id
        await store.delivery.claim(first.id, words(), "u1")
        running = await store.delivery.next_inbox_row(home, 200.0)
        assert running
        assert (running.id, running.state) == (first.id, "running")
        assert await store.delivery.waiting() == [home]
        assert urgent.id not in {head.id, running.id}

    async def test_a_lane_tells_what_is_due_first_where_nothing_is_due(
        self, record: Record
    ) -> None:
        store = await record.open()
        later, sooner, _ = await store.delivery.accept(
            [
                arrival("later", not_before=200.0, order_key="0"),
                arrival("sooner", not_before=100.0, order_key="1"),
                arrival("stop", urgent=True, not_before=50.0),
            ]
        )
        given = [
            await store.delivery.next_inbox_row(later.conversation, now)
            for now in (60.0, 150.0, 250.0)
        ]
        assert [(row.id, row.not_before) for row in given if row] == [
            (sooner.id, 100.0),
            (sooner.id, 100.0),
            (later.id, 200.0),
        ]

    async def test_a_claimed_message_has_the_id_of_its_inbox_row(self, record: Record) -> None:
        store = await record.open()
        turn = await begin(store, text="what?")
        session = await store.sessions.load(turn.conversation)
        assert session.running == turn.number == 1
        assert session.turns[0].messages[0].id == turn.inbox_id
        assert session.turns[0].messages[0].seq == 1

    async def test_I11_a_conversation_has_one_open_turn(self, record: Record) -> None:
        store = await record.open()
        await begin(store, "1")
        [second] = await store.delivery.accept([arrival("2")])
        with pytest.raises(WrongState):
            await store.delivery.claim(second.id, words(), "u1")
        row = await store.delivery.inbox(second.id)
        assert row
        assert row.state == "new"

    async def test_a_row_is_claimed_once(self, record: Record) -> None:
        store = await record.open()
        turn = await begin(store)
        with pytest.raises(WrongState, match="running, not new"):
            await store.delivery.claim(turn.inbox_id, words(), "u1")

    async def test_finish_stores_all_of_it_at_once(self, record: Record) -> None:
        store = await record.open()
        turn = await begin(store)
        assert await store.delivery.finish(
            turn, "done", reply("a"), parts("a", "b"), [SPENT, SPENT]
        )
        session = await store.sessions.load(turn.conversation)
        assert (session.running, len(session.turns[0].messages)) == (0, 2)
        assert await store.delivery.waiting() == []
        assert await store.delivery.unsent() == [turn.conversation]
        [spent] = await store.sessions.usage(session.turns[0].messages[0].at)
        assert (spent.input, spent.output) == (200, 20)
        lines = await store.sessions.lines(turn.conversation)
        assert [(line.role, line.text, line.number) for line in lines] == [
            ("user", "hello", 1),
            ("assistant", "a", 2),
            ("assistant", "b", 3),
        ]
        assert {line.reply_to for line in lines[1:]} == {turn.inbox_id}

    async def test_an_unfinished_answer_says_how_it_was_left_also_where_it_is_searched_for(
        self, record: Record
    ) -> None:
        store = await record.open()
        turn = await begin(store)
        first, last = parts("a", "the end")
        left = replace(last, payload='{"sha256": "", "unfinished": "cut"}')
        await store.delivery.finish(turn, "failed", words("a", "assistant", "cut"), [first, left])
        lines = (await store.sessions.lines(turn.conversation))[1:]
        assert [(line.role, line.state, line.text) for line in lines] == [
            ("assistant", "pending", "a"),
            ("assistant", "cut", "the end"),
        ]
        [found] = await store.line_details.search(turn.conversation, "the end", 1_000, 5)
        assert found == lines[1]

    async def test_a_turn_is_finished_once(self, record: Record) -> None:
        store = await record.open()
        turn = await begin(store)
        await store.delivery.finish(turn, "done", reply(), parts("a"))
        with pytest.raises(WrongState):
            await store.delivery.finish(turn, "done", reply(), parts("a"))
        assert len((await store.sessions.load(turn.conversation)).turns[0].messages) == 2

    async def test_an_interrupted_turn_ends_its_row_as_dead(self, record: Record) -> None:
        store = await record.open()
        turn = await begin(store)
        await store.delivery.finish(turn, "interrupted", None, parts("interrupted", kind="notice"))
        row = await store.delivery.inbox(turn.inbox_id)
        assert row
        assert row.state == "dead"

    async def test_finish_closes_open_calls_before_its_last_word(self, record: Record) -> None:
        store = await record.open()
        turn = await begin(store)
        calls = await store.sessions.add_step(
            turn, reply("use"), [call("p"), call("s"), call("x", "unsafe")], SPENT
        )
        await store.sessions.start_calls(calls[1:])
        await store.delivery.finish(turn, "cancelled", words("[stopped]", "assistant", "house"), [])
        states = [row.state for row in await store.sessions.calls(turn.id)]
        assert states == ["cancelled", "cancelled", "unknown"]
        told = (await store.sessions.load(turn.conversation)).turns[0].messages
        assert [message.role for message in told] == ["user", "assistant", "user", "assistant"]
        assert [part.call_id for part in told[2].parts] == ["p", "s", "x"]  # type: ignore[union-attr]

    async def test_settle_ends_a_row_without_a_turn(self, record: Record) -> None:
        store = await record.open()
        [stored] = await store.delivery.accept([arrival("k", "/help")])
        await store.delivery.settle(stored.id, parts("help", kind="notice"))
        lines = await store.sessions.lines(stored.conversation)
        assert [(line.role, line.reply_to) for line in lines] == [
            ("user", ""),
            ("notice", stored.id),
        ]
        with pytest.raises(WrongState):
            await store.delivery.settle(stored.id, parts("help", kind="notice"))

    async def test_the_same_notice_is_told_once(self, record: Record) -> None:
        store = await record.open()
        home = await talk(store, "1")
        await store.delivery.notify(home, "away:1", parts("back", kind="notice"))
        await store.delivery.notify(home, "away:1", parts("back", kind="notice"))
        assert [line.text for line in await store.sessions.lines(home)].count("back") == 1


class ToolSuite:
    async def test_a_step_goes_from_planned_to_its_results(self, record: Record) -> None:
        store = await record.open()
        turn = await begin(store)
        calls = await store.sessions.add_step(turn, reply("use"), [call("a"), call("b")], SPENT)
        waiting = await store.sessions.turn(turn.id)
        assert waiting
        assert (waiting.state, waiting.step) == ("waiting", 1)
        await store.sessions.start_calls(calls)
        told = await store.sessions.end_calls(
            turn, [(row, "done") for row in calls], results(*calls)
        )
        assert (told.seq, told.role) == (3, "user")
        after = await store.sessions.turn(turn.id)
        assert after
        assert after.state == "running"
        assert [row.state for row in await store.sessions.calls(turn.id)] == ["done", "done"]

    async def test_a_call_starts_once_and_ends_once(self, record: Record) -> None:
        store = await record.open()
        turn = await begin(store)
        [row] = await store.sessions.add_step(turn, reply(), [call("a")], SPENT)
        with pytest.raises(WrongState):
            await store.sessions.end_calls(turn, [(row, "done")], results(row))
        await store.sessions.start_calls([row])
        with pytest.raises(WrongState):
            await store.sessions.start_calls([row])
        await store.sessions.end_calls(turn, [(row, "done")], results(row))
        with pytest.raises(WrongState):
            await store.sessions.end_calls(turn, [(row, "done")], results(row))

    async def test_results_answer_all_calls_that_wait(self, record: Record) -> None:
        store = await record.open()
        turn = await begin(store)
        calls = await store.sessions.add_step(turn, reply(), [call("a"), call("b")], SPENT)
        await store.sessions.start_calls(calls)
        with pytest.raises(WrongState, match="not those"):
            await store.sessions.end_calls(turn, [(calls[0], "done")], results(calls[0]))

    async def test_I14_what_was_started_is_run_again_only_when_that_is_safe(
        self, record: Record
    ) -> None:
        store = await record.open()
        turn = await begin(store)
        planned = [call("a"), call("b", "idempotent"), call("c", "unsafe"), call("d", "unsafe")]
        calls = await store.sessions.add_step(turn, reply(), planned, SPENT)
        await store.sessions.start_calls(calls[:3])
        store = await record.open()
        found = await store.delivery.recover()
        again = await store.sessions.calls(turn.id)
        assert [row.state for row in again] == ["planned", "planned", "unknown", "planned"]
        assert [row.idem_key for row in again] == [row.idem_key for row in calls]
        assert found.calls_unknown == 1
        held = await store.delivery.take_over(turn.id)
        await store.sessions.start_calls([again[0], again[1]])
        ends = list(zip(again, ("done", "done", "unknown", "denied"), strict=True))
        await store.sessions.end_calls(held, ends, results(*again))


class OutboxSuite:
    async def _first(
        self, record: Record, key_valid: float = 0.0, kind: str = "final"
    ) -> tuple[Store, OutboxRow]:
        store = await record.open()
        turn = await begin(store)
        await store.delivery.finish(
            turn, "done", reply(), parts("one", "two", key_valid=key_valid, kind=kind)
        )
        row = await store.delivery.next_outbox_row(turn.conversation)
        assert row
        return store, row

    async def test_I04_a_part_waits_until_the_one_before_it_is_settled(
        self, record: Record
    ) -> None:
        store, first = await self._first(record)
        delivery = store.delivery
        assert await delivery.mark_sending(first.id)
        assert await delivery.next_outbox_row(first.conversation) is None
        assert await delivery.mark_sending(first.id) is None
        await delivery.settle_sent(first.id, SendOutcome(state="pending", retry_at=record.now + 60))
        head = await delivery.next_outbox_row(first.conversation)
        assert (head.id, head.not_before, head.attempts) == (first.id, record.now + 60, 1)
        await delivery.mark_sending(first.id)
        await delivery.settle_sent(first.id, SendOutcome(state="sent", platform_id="9"))
        second = await delivery.next_outbox_row(first.conversation)
        assert (second.text, second.part_no, second.reply_to_key) == ("two", 1, "k1")
        assert second.line == first.line + 1

    async def test_I05_every_try_has_the_same_key(self, record: Record) -> None:
        store, row = await self._first(record, key_valid=3600)
        delivery = store.delivery
        tried = await delivery.mark_sending(row.id)
        assert tried.key_expires == record.now + 3600
        again = await delivery.settle_sent(row.id, SendOutcome(state="unknown"))
        assert (again.state, again.client_key, again.repeats) == ("pending", row.client_key, 0)
        record.now += 3601
        assert (await delivery.mark_sending(row.id)).key_expires == tried.key_expires
        marked = await delivery.settle_sent(row.id, SendOutcome(state="unknown"))
        assert (marked.state, marked.repeats) == ("pending", 1)
        await delivery.mark_sending(row.id)
        assert (await delivery.settle_sent(row.id, SendOutcome(state="unknown"))).state == "dropped"
        assert (await delivery.next_outbox_row(row.conversation)).text == "two"
        assert "one" not in [line.text for line in await store.sessions.lines(row.conversation)]

    async def test_I05_a_notice_of_unknown_fate_is_repeated_once_and_marked(
        self, record: Record
    ) -> None:
        store, row = await self._first(record, kind="notice")
        await store.delivery.mark_sending(row.id)
        again = await store.delivery.settle_sent(row.id, SendOutcome(state="unknown"))
        assert (again.state, again.repeats) == ("pending", 1)
        await store.delivery.mark_sending(row.id)
        assert (
            await store.delivery.settle_sent(row.id, SendOutcome(state="unknown"))
        ).state == "dropped"

    async def test_what_is_held_goes_once_the_person_has_written(self, record: Record) -> None:
        store, row = await self._first(record)
        await store.delivery.mark_sending(row.id)
        held = await store.delivery.settle_sent(
            row.id, SendOutcome(state="pending", retry_at=HELD_UNTIL_REPLY)
        )
        assert held.not_before == HELD_UNTIL_REPLY
        await store.delivery.accept([arrival("another")])
        waiting = await store.delivery.next_outbox_row(row.conversation)
        assert waiting is not None
        assert waiting.not_before == 0.0

    async def test_what_is_held_while_the_person_writes_is_not_held(self, record: Record) -> None:
        store, row = await self._first(record)
        await store.delivery.mark_sending(row.id)
        await store.delivery.accept([arrival("another")])
        after = await store.delivery.settle_sent(
            row.id, SendOutcome(state="pending", retry_at=HELD_UNTIL_REPLY)
        )
        assert after.not_before == 0.0

    async def test_nor_is_what_the_channel_holds_before_it_leaves_while_the_person_writes(
        self, record: Record
    ) -> None:
        store, row = await self._first(record)
        await store.delivery.accept([arrival("another")])
        after = await store.delivery.settle_not_sent(
            row.id, SendOutcome(state="pending", retry_at=HELD_UNTIL_REPLY)
        )
        assert after is not None
        assert after.not_before == 0.0
        held = await store.delivery.settle_not_sent(
            row.id, SendOutcome(state="pending", retry_at=HELD_UNTIL_REPLY)
        )
        assert held is not None
        assert held.not_before == HELD_UNTIL_REPLY

    async def test_what_the_person_writes_does_not_hurry_a_part_that_waits_for_its_next_try(
        self, record: Record
    ) -> None:
        store, row = await self._first(record)
        await store.delivery.settle_not_sent(
            row.id, SendOutcome(state="pending", retry_at=record.now + 60)
        )
        await store.delivery.accept([arrival("another")])
        waiting = await store.delivery.next_outbox_row(row.conversation)
        assert waiting is not None
        assert waiting.not_before == record.now + 60

    async def test_a_failed_part_takes_the_later_ones_with_it(self, record: Record) -> None:
        store, row = await self._first(record)
        await store.delivery.mark_sending(row.id)
        failed = await store.delivery.settle_sent(row.id, SendOutcome(state="failed", error="gone"))
        assert (failed.state, failed.error) == ("failed", "gone")
        assert await store.delivery.unsent() == []

    async def test_a_refused_form_goes_again_as_plain_text(self, record: Record) -> None:
        store, row = await self._first(record)
        await store.delivery.mark_sending(row.id)
        again = await store.delivery.settle_sent(row.id, SendOutcome(state="pending", plain=True))
        assert (again.id, again.plain, again.state) == (row.id, True, "pending")

    async def test_only_what_is_being_sent_has_a_fate(self, record: Record) -> None:
        store, row = await self._first(record)
        with pytest.raises(WrongState):
            await store.delivery.settle_sent(row.id, SendOutcome(state="sent"))
        await store.delivery.mark_sending(row.id)
        with pytest.raises(WrongState):
            await store.delivery.settle_sent(row.id, SendOutcome(state="dropped"))

    async def test_I06_a_part_cut_off_by_a_crash_is_repeated_once_and_marked(
        self, record: Record
    ) -> None:
        store, row = await self._first(record)
        await store.delivery.mark_sending(row.id)
        store = await record.open()
        assert (await store.delivery.recover()).sends_unknown == 1
        head = await store.delivery.next_outbox_row(row.conversation)
        assert head
        assert (head.id, head.repeats) == (row.id, 1)


class RecoverySuite:
    async def test_I13_an_open_turn_is_found_again_and_twice_is_as_once(
        self, record: Record
    ) -> None:
        store = await record.open()
        turn = await begin(store)
        store = await record.open()
        first = await store.delivery.recover()
        again = await store.delivery.recover()
        assert first == again
        [held] = first.turns
        assert (held.id, held.attempts) == (turn.id, 1)
        row = await store.delivery.inbox(turn.inbox_id)
        assert row
        assert (row.attempts, row.deaths_alone, row.state) == (1, 1, "running")
        with pytest.raises(WrongState):
            await store.delivery.finish(held, "done", reply(), parts("a"))
        held = await store.delivery.take_over(turn.id)
        assert await store.delivery.finish(held, "done", reply(), parts("a"))

    async def test_I11_what_was_left_behind_changes_nothing_any_more(self, record: Record) -> None:
        former = await record.open()
        turn = await begin(former)
        store = await record.open()
        await store.delivery.recover()
        with pytest.raises(Exception, match=r"taken this database over|not ours"):
            await former.delivery.finish(turn, "done", reply("old"), parts("old"))
        held = await store.delivery.take_over(turn.id)
        assert await store.delivery.finish(held, "done", reply("new"), parts("new"))
        assert [line.text for line in await store.sessions.lines(turn.conversation)] == [
            "hello",
            "new",
        ]

    async def test_a_third_crash_is_counted_for_the_caller(self, record: Record) -> None:
        turn = await begin(await record.open())
        for attempt in (1, 2, 3):
            store = await record.open()
            [held] = (await store.delivery.recover()).turns
            row = await store.delivery.inbox(turn.inbox_id)
            assert (held.attempts, row.attempts, row.deaths_alone) == (attempt, attempt, attempt)
            await store.delivery.take_over(turn.id)

    async def test_a_death_counts_alone_only_where_one_message_was_at_work(
        self, record: Record
    ) -> None:
        store = await record.open()
        turns = [await begin(store, key, key) for key in ("one", "two")]
        store = await record.open()
        await store.delivery.recover()
        assert await deaths(store, turns) == [(1, 0), (1, 0)]
        await store.delivery.take_over(turns[1].id)
        store = await record.open()
        await store.delivery.recover()
        assert await deaths(store, turns) == [(1, 0), (2, 1)]

    async def test_a_death_says_nothing_of_what_waits_for_its_lane(self, record: Record) -> None:
        turn = await begin(await record.open())
        for _ in range(3):
            store = await record.open()
            await store.delivery.recover()
            assert await deaths(store, [turn]) == [(1, 1)]

    async def test_a_clean_end_counts_against_nobody(self, record: Record) -> None:
        store = await record.open()
        turn = await begin(store)
        calls = await store.sessions.add_step(
            turn, reply(), [call("a"), call("b", effect="unsafe")], SPENT
        )
        await store.sessions.start_calls(calls)
        await store.close()
        store = await record.open()
        await store.delivery.recover()
        assert await deaths(store, [turn]) == [(0, 0)]
        assert await store.delivery.take_over(turn.id)
        assert [row.state for row in await store.sessions.calls(turn.id)] == ["planned", "unknown"]

    async def test_a_message_that_kills_while_it_is_opened_is_counted_too(
        self, record: Record
    ) -> None:
        store = await record.open()
        [opened] = await store.delivery.accept([arrival("opened", at=place("opened"))])
        [waits] = await store.delivery.accept([arrival("waits", at=place("waits"))])
        await store.delivery.mark_opened(opened.id)
        store = await record.open()
        await store.delivery.recover()
        rows = [await store.delivery.inbox(row.id) for row in (opened, waits)]
        assert [(row.state, row.attempts, row.deaths_alone) for row in rows] == [
            ("new", 1, 1),
            ("new", 0, 0),
        ]
        await store.delivery.settle(opened.id, parts("given up", kind="notice"), dead=True)
        assert (await store.delivery.inbox(opened.id)).state == "dead"

    async def test_deaths_with_other_messages_are_counted_but_for_those_given_up_and_those_of_before(  # noqa: E501
        self, record: Record
    ) -> None:
        began, ids = record.now, []
        for name in ("old", "given up", "other", "itself"):
            record.now += 100.0
            store = await record.open()
            [row] = await store.delivery.accept([arrival(name, at=place(name))])
            await store.delivery.mark_opened(row.id)
            ids.append(row.id)
        store = await record.open()
        await store.delivery.recover()
        await store.delivery.settle(ids[1], parts("given up", kind="notice"), dead=True)
        assert await store.delivery.deaths_of_others(ids[3], began) == 2
        assert await store.delivery.deaths_of_others(ids[3], began + 150.0) == 1
        assert await store.delivery.deaths_of_others(ids[2], began + 350.0) == 1
        assert await store.delivery.deaths_of_others(ids[2], began + 450.0) == 0

    async def test_a_row_that_ended_meanwhile_is_not_opened_again(self, record: Record) -> None:
        store = await record.open()
        turn = await begin(store)
        await store.delivery.finish(turn, "done", reply(), parts("a"))
        await store.delivery.mark_opened(turn.inbox_id)
        store = await record.open()
        await store.delivery.recover()
        row = await store.delivery.inbox(turn.inbox_id)
        assert (row.state, row.attempts) == ("done", 0)

    async def test_an_urgent_row_that_nobody_handled_goes_to_its_lane(self, record: Record) -> None:
        store = await record.open()
        [stored] = await store.delivery.accept([arrival("k", "/stop", urgent=True)])
        assert await store.delivery.next_inbox_row(stored.conversation, record.now) is None
        store = await record.open()
        found = await store.delivery.recover()
        assert found.inbox_waiting == 1
        row = await store.delivery.next_inbox_row(stored.conversation, record.now)
        assert row
        assert row.id == stored.id

    async def test_I18_work_of_an_older_epoch_changes_nothing(self, record: Record) -> None:
        store = await record.open()
        turn = await begin(store)
        calls = await store.sessions.add_step(turn, reply(), [call("a")], SPENT)
        assert await store.sessions.clear(turn.conversation) == 2
        with pytest.raises(StaleEpoch):
            await store.sessions.start_calls(calls)
        with pytest.raises(StaleEpoch):
            await store.sessions.end_calls(turn, [(calls[0], "done")], results(*calls))
        with pytest.raises(StaleEpoch):
            await store.sessions.add_step(turn, reply(), [], SPENT)
        assert await store.delivery.finish(turn, "done", reply("late"), parts("late")) is False
        assert (await store.sessions.load(turn.conversation)).turns == ()
        assert [line.text for line in await store.sessions.lines(turn.conversation)] == ["hello"]
        row = await store.delivery.inbox(turn.inbox_id)
        assert row
        assert row.state == "done"

    async def test_I18_a_clear_drops_what_was_not_sent_yet_but_no_notice(
        self, record: Record
    ) -> None:
        store = await record.open()
        turn = await begin(store, "1")
        await store.delivery.finish(turn, "done", reply(), parts("one", "two"))
        first = await store.delivery.next_outbox_row(turn.conversation)
        assert first
        await store.delivery.mark_sending(first.id)
        await store.delivery.settle_sent(first.id, SendOutcome(state="sent"))
        other = await begin(store, "2")
        await store.delivery.finish(other, "done", reply(), parts("three"))
        await store.delivery.notify(turn.conversation, "n", parts("note", kind="notice"))
        await store.sessions.clear(turn.conversation)
        shown = [
            line.text
            for line in await store.sessions.lines(turn.conversation)
            if line.role != "user"
        ]
        assert shown == ["one", "two", "note"]

    async def test_I18_a_part_on_its_way_at_the_clear_is_not_tried_again(
        self, record: Record
    ) -> None:
        store = await record.open()
        turn = await begin(store)
        await store.delivery.finish(turn, "done", reply(), parts("one"))
        row = await store.delivery.next_outbox_row(turn.conversation)
        assert row
        await store.delivery.mark_sending(row.id)
        await store.sessions.clear(turn.conversation)
        assert (
            await store.delivery.settle_sent(row.id, SendOutcome(state="pending"))
        ).state == "dropped"

    async def test_conversations_go_on_beside_each_other(self, record: Record) -> None:
        store = await record.open()
        homes = await asyncio.gather(
            *(talk(store, f"{n}a", f"{n}b", chat=f"chat {n}") for n in range(20))
        )
        assert len(set(homes)) == 20
        for home in homes:
            assert [line.number for line in await store.sessions.lines(home)] == [1, 2, 3, 4]
        assert {row.turns for row in await store.sessions.conversations("web")} == {2}
        assert await store.sessions.conversations("telegram") == []

    async def test_a_place_is_found_again(self, record: Record) -> None:
        store = await record.open()
        home = await talk(store, "1", chat="there")
        row = await store.sessions.find("web", "a", "there")
        assert row
        assert (row.id, row.title, row.place) == (home, "question 1", place("there"))
        assert await store.sessions.find("web", "a", "nowhere") is None
