"""What every store must say of what people have used, and how it ends a message that is over a
limit.
"""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from memory.store.errors import WrongState
from memory.store.people.spending import OWNER, LimitNotice, SpendingQuery
from memory.store.rows import TurnRow, Usage
from memory.store.store import Store
from tests.contracts.store_words import Record, arrival, call, parts, place, reply, results, words

ADA, BOB = "telegram:bot:2", "telegram:bot:3"


def used(tokens: int, model: str = "m", purpose: str = "turn") -> Usage:
    return Usage(model=model, input=tokens, output=1, cache_read=2, purpose=purpose)


async def begun(store: Store, key: str, who: str, chat: str = "") -> TurnRow:
    [stored] = await store.delivery.accept([arrival(key, at=place(chat or who))])
    return await store.delivery.claim(stored.id, words(), "u1", who=who)


async def done(store: Store, key: str, who: str, *spent: Usage, chat: str = "") -> TurnRow:
    turn = await begun(store, key, who, chat)
    assert await store.delivery.finish(turn, "done", reply(), parts("yes"), spent)
    return turn


def asking(record: Record, who: str, **fields: Any) -> SpendingQuery:
    usual = {
        "minute": record.now - 60,
        "asked": record.now,
        "day": record.now - 3_600,
        "most": (10, 10),
    }
    return SpendingQuery(**{"who": who, **usual, **fields})


class SpendingSuite:
    async def test_the_files_of_a_space_are_those_its_conversations_name(
        self, record: Record
    ) -> None:
        store = await record.open()
        for key, space, name in (("1", "u7", "ab" * 32), ("2", "u8", "cd" * 32)):
            body = f'{{"text": "see", "files": [["{name}", "f", "text/plain", 5, ""]]}}'
            at = place(space, "telegram", space)
            await store.delivery.accept([replace(arrival(key, at=at), body=body)])
        assert await store.spending.files("u7") == {"ab" * 32}
        assert await store.spending.files("u9") == set()

    async def test_turns_and_tokens_are_counted_by_person_and_time(self, record: Record) -> None:
        store, start = await record.open(), record.now
        await done(store, "old", ADA, used(1))
        record.now = start + 10_000
        await done(store, "1", ADA, used(10), used(5, "n"))
        record.now += 100
        await done(store, "2", ADA, used(100), chat="another")
        await done(store, "3", BOB, used(1_000))
        await done(store, "4", OWNER, used(10_000))
        since = start + 10_000
        spent = await store.spending.load_totals(asking(record, ADA, mine=since, whole=since))
        assert spent.minute == (record.now,)
        assert (spent.today, spent.everybody, spent.running) == (2, 3, 0)
        assert {
            (one.model, one.calls, one.input, one.output, one.cache_read) for one in spent.used
        } == {
            ("m", 2, 110, 2, 4),
            ("n", 1, 5, 1, 2),
        }
        turns, whole = await store.spending.sum_of_all(record.now - 200, record.now)
        assert (turns, sorted((one.model, one.input) for one in whole)) == (
            1,
            [("m", 10), ("n", 5)],
        )
        turns, whole = await store.spending.sum_of_all(record.now - 200, record.now + 1)
        assert (turns, sorted((one.model, one.input) for one in whole)) == (
            3,
            [("m", 1_110), ("n", 5)],
        )
        assert [one.input for one in await store.spending.sum_of_person(ADA, start, start + 1)] == [
            1
        ]

    async def test_turns_beyond_the_most_are_not_looked_at(self, record: Record) -> None:
        store = await record.open()
        for number in range(6):
            await done(store, f"{number}", ADA)
        spent = await store.spending.load_totals(asking(record, ADA, most=(3, 4)))
        assert (len(spent.minute), spent.today) == (3, 4)

    async def test_the_minute_ends_with_the_message_that_is_asked_for(self, record: Record) -> None:
        store, start = await record.open(), record.now
        for number, at in enumerate((0, 1, 30, 61, 90)):
            record.now = start + at
            await done(store, f"{number}", ADA)
        spent = await store.spending.load_totals(
            asking(record, ADA, minute=start + 1, asked=start + 61)
        )
        assert spent.minute == (start + 61, start + 30)

    async def test_other_turns_that_run_are_told_after_a_restart_too(self, record: Record) -> None:
        store = await record.open()
        mine = await begun(store, "1", ADA)
        await begun(store, "2", ADA, "another")
        await begun(store, "3", BOB)
        store = await record.open()
        assert (await store.spending.load_totals(asking(record, ADA))).running == 2
        assert (await store.spending.load_totals(asking(record, ADA, turn=mine.id))).running == 1

    async def test_what_memory_takes_is_put_down_to_the_person_of_a_private_chat(
        self, record: Record
    ) -> None:
        store = await record.open()
        turn = await done(store, "1", ADA, used(1))
        await store.sessions.spend(turn.conversation, [used(7, purpose="fold")])
        [stored] = await store.delivery.accept([arrival("g", at=replace(place("g"), kind="group"))])
        group = await store.delivery.claim(stored.id, words(), "u1", who=BOB)
        await store.sessions.spend(group.conversation, [used(9, purpose="fold")])
        sums = await store.spending.sum_by_person(datetime.fromtimestamp(record.now - 1, UTC))
        assert {(one.who, one.purpose, one.input) for one in sums} == {
            (ADA, "turn", 1),
            (ADA, "fold", 7),
            ("", "fold", 9),
        }
        assert {
            one.who
            for one in await store.spending.sum_by_person(datetime.fromtimestamp(0, UTC), ADA)
        } == {ADA}

    async def test_tool_calls_count_unless_they_were_refused(self, record: Record) -> None:
        store = await record.open()
        turn = await begun(store, "1", ADA)
        rows = await store.sessions.add_step(
            turn, reply(), [call("a"), call("b"), call("c")], used(1)
        )
        assert await store.spending.count_calls(ADA, record.now) == 3
        await store.sessions.start_calls(rows[:2])
        ends = [(rows[0], "done"), (rows[1], "failed"), (rows[2], "denied")]
        await store.sessions.end_calls(turn, ends, results(*rows))
        assert await store.spending.count_calls(ADA, record.now) == 2
        assert await store.spending.count_calls(ADA, record.now, ("look", "other")) == 2
        assert await store.spending.count_calls(ADA, record.now, ("other",)) == 0
        assert await store.spending.count_calls(BOB, record.now) == 0
        assert await store.spending.count_calls(ADA, record.now + 1) == 0

    async def test_a_refusal_is_said_once_for_each_limit_and_place_until_it_is_over(
        self, record: Record
    ) -> None:
        store = await record.open()

        async def refused(
            key: str, limit: str, asked: float, chat: str = "c"
        ) -> tuple[bool, str, str]:
            [stored] = await store.delivery.accept([arrival(key, at=place(chat))])
            told = LimitNotice(who=ADA, limit=limit, asked=asked, until=asked + 60)
            said = await store.spending.refuse(stored.id, told, parts("enough", kind="notice"))
            row = await store.delivery.inbox(stored.id)
            assert row is not None
            return said, row.state, row.reason

        told, silent = (True, "done", ""), (False, "ignored", "over budget")
        assert await refused("1", "messages_per_minute", 1_000) == told
        assert await refused("2", "messages_per_minute", 1_059) == silent
        store = await record.open()
        assert await refused("3", "messages_per_minute", 1_059) == silent
        assert await refused("4", "messages_per_minute", 1_060) == told
        assert await refused("5", "messages_per_minute", 1_061) == silent
        assert await refused("6", "tokens_per_day", 1_061) == told
        assert await refused("7", "messages_per_minute", 1_061, chat="d") == told
        assert await store.delivery.waiting() == []

    async def test_a_row_that_has_ended_is_not_refused(self, record: Record) -> None:
        store = await record.open()
        turn = await done(store, "1", ADA)
        for asked in (1_000.0, 1_001.0):
            with pytest.raises(WrongState):
                await store.spending.refuse(
                    turn.inbox_id, LimitNotice(who=ADA, limit="x", asked=asked, until=2_000), []
                )

    async def test_a_conversation_leaves_with_what_was_told_there(self, record: Record) -> None:
        store = await record.open()
        [stored] = await store.delivery.accept([arrival("1")])
        await store.spending.refuse(
            stored.id, LimitNotice(who=ADA, limit="x", asked=1, until=2), []
        )
        await store.sessions.delete(stored.conversation)
        assert await store.sessions.conversation(stored.conversation) is None
