"""What every store must tell of itself to the metrics."""

import asyncio
from datetime import UTC, datetime

from memory.store.rows import SendOutcome
from tests.contracts.store_words import (
    SPENT,
    Record,
    arrival,
    begin,
    call,
    digested,
    folded,
    parts,
    place,
    reply,
    results,
    talk,
)

SENT = SendOutcome(state="sent", platform_id="1")
DAY = 86_400.0  # seconds
EVER = datetime.fromtimestamp(0, UTC)


class FiguresSuite:
    async def test_what_is_under_way_is_counted_and_the_oldest_told(self, record: Record) -> None:
        store = await record.open()
        empty = await store.figures()
        assert (empty.inbox_depth, empty.inbox_oldest, empty.outbox_depth, empty.folds_open) == (
            0,
            0.0,
            0,
            0,
        )
        assert empty.schema_at_head
        assert empty.db_bytes > 0
        turn = await begin(store, "1", chat="a")
        await store.delivery.finish(turn, "done", reply(), parts("one", "two"))
        came = record.now
        await begin(store, "2", chat="a")
        record.now += 60
        await store.delivery.accept([arrival("3"), arrival("4", not_before=record.now + 9)])
        told = await store.figures()
        assert (told.inbox_depth, told.inbox_oldest, told.outbox_depth) == (3, came, 2)

    async def test_an_album_that_is_not_due_is_not_late(self, record: Record) -> None:
        store = await record.open()
        await store.delivery.accept([arrival("1", not_before=record.now + 2)])
        assert (await store.figures()).inbox_oldest == 0.0

    async def test_totals_are_those_of_the_record_whichever_life_asks(self, record: Record) -> None:
        store = await record.open()
        home = await talk(store, "1", "2", "3")
        await folded(store, home, 1)
        await folded(store, home, 1)
        await store.folds.undo(home)
        turn = await begin(store, "4", chat="b")
        await store.delivery.finish(turn, "failed", reply(), parts("no"))
        again = await record.open()
        told = await again.totals()
        assert told.turns == {"done": 3, "failed": 1}
        assert told.folds == {("extract", "folded"): 1, ("extract", "undone"): 1}
        assert told.conversations == 2
        assert told.usage == await again.sessions.usage(since=EVER)

    async def test_I38_changes_of_prefixes_are_counted_by_reason_once_they_are_committed(
        self, record: Record
    ) -> None:
        store = await record.open()
        home, other = await talk(store, "1", "2"), await talk(store, "3", chat="b")
        row = await folded(store, home, 1)
        ended = await asyncio.gather(  # beside each other: one is taken back, the other is not
            store.folds.commit(row, 10), store.sessions.clear(other), return_exceptions=True
        )
        assert isinstance(ended[0], Exception)
        assert ended[1] == 2, ended
        assert (await store.figures()).prefix_breaks == {"fold": 1, "clear": 1}

    async def test_a_message_and_its_answer_have_one_trace_id(self, record: Record) -> None:
        store = await record.open()
        [first, other] = await store.delivery.accept([arrival("1"), arrival("2", at=place("b"))])
        [again] = await store.delivery.accept([arrival("1")])
        row = await store.delivery.inbox(first.id)
        assert row
        assert first.trace_id == again.trace_id == row.trace_id != other.trace_id
        await store.delivery.settle(first.id, parts("yes", kind="notice"))
        await store.delivery.notify(first.conversation, "news", parts("news", kind="notice"))
        out = await store.delivery.next_outbox_row(first.conversation)
        assert out
        assert out.trace_id == first.trace_id
        assert await store.delivery.mark_sending(out.id)
        await store.delivery.settle_sent(out.id, SENT)
        news = await store.delivery.next_outbox_row(first.conversation)
        assert news
        assert news.trace_id == ""

    async def test_outcomes_are_those_of_the_newest_work_of_thirty_days(
        self, record: Record
    ) -> None:
        store = await record.open()
        home = await talk(store, "1", "2", "3", "4")
        await folded(store, home, 1)
        record.now += 29 * DAY
        await digested(store, home, 1)
        newest = await store.outcomes.newest()
        assert (newest.folds, dict(newest.digests)) == (2, {"unanswered": 1, "waited": 1})
        record.now += 2 * DAY
        newest = await store.outcomes.newest()
        assert (newest.folds, dict(newest.digests)) == (1, {"waited": 1})

    async def test_uses_of_tools_are_those_of_a_space_since_a_time(self, record: Record) -> None:
        store = await record.open()
        began = record.now
        for key, space in (("1", ""), ("2", "s"), ("3", "s")):
            turn = await begin(store, key, chat=f"c{key}", space=space)
            calls = await store.sessions.add_step(turn, reply("use"), [call("a"), call("b")], SPENT)
            await store.sessions.start_calls(calls)
            await store.sessions.end_calls(turn, [(row, "done") for row in calls], results(*calls))
            await store.delivery.finish(turn, "done", reply(), parts("ok"))
            record.now += DAY
        assert await store.outcomes.used_tools("", began) == {"look": 2}
        assert await store.outcomes.used_tools("s", began) == {"look": 4}
        assert await store.outcomes.used_tools("s", began + 2 * DAY) == {"look": 2}

    async def test_old_labels_are_those_below_a_folder(self, record: Record) -> None:
        store = await record.open()
        paths = ["files", "files/", "files/a.txt", "files/sub/b", "files0", "files-2/c", "work/d"]
        await store.file_labels.label_names("", paths)
        await store.file_labels.label_names("s", ["files/other"])
        assert await store.file_labels.load_old("", ["files", "work"]) == []
        record.now += 2 * DAY
        old = await store.file_labels.load_old("", ["files", "work"])
        assert sorted(old) == ["files/", "files/a.txt", "files/sub/b", "work/d"]
