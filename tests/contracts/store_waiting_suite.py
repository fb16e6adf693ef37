"""What every store must do with work on memory that waits: turns to be read, nights, what is to be
forgotten, links.
"""

from datetime import UTC, datetime, timedelta

import pytest

from memory.conversation import Text
from memory.store.errors import WrongState
from memory.store.longterm.extractions import ExtractionMove
from memory.store.longterm.rows import (
    AccountIdentity,
    EraseReport,
    ForgetTargets,
    ForgettingRow,
    NewMemoryChange,
    dump_targets,
)
from memory.store.store import Store
from tests.contracts.store_words import Record, begin, parts, reply, talk


def moment(record: Record) -> datetime:
    return datetime.fromtimestamp(record.now, UTC)


async def remembered(store: Store, key: str, chat: str = "c1", space: str = "") -> str:
    """A turn that ended and is to be read; its id."""
    turn = await begin(store, key, chat, f"question {key}", space)
    assert await store.delivery.finish(turn, "done", reply(), parts("yes"), remember=True)
    return turn.id


class ExtractionSuite:
    async def test_turns_wait_in_their_order_each_in_its_space_over_a_restart(
        self, record: Record
    ) -> None:
        store = await record.open()
        first, second = await remembered(store, "1"), await remembered(store, "2")
        other = await remembered(store, "3", "c2", "bob")
        await talk(store, "not to be read")
        store = await record.open()
        assert await store.extractions.spaces() == ["", "bob"]
        [row] = await store.extractions.next("")
        assert (row.turn_id, row.state, row.attempts, row.found) == (first, "queued", 1, "")
        [again] = await store.extractions.next("", 8)
        assert (again.turn_id, again.attempts) == (first, 2)
        texts = [
            part for message in await store.extractions.messages(row) for part in message.parts
        ]
        assert texts == [Text(text="question 1"), Text(text="yes")]
        await store.extractions.move(first, "skipped", reason="too short")
        assert [
            row.turn_id for space in ("", "bob") for row in await store.extractions.next(space)
        ] == [second, other]
        assert await store.extractions.next("nobody") == []
        assert await store.extractions.counts() == {"queued": 2, "skipped": 1}

    async def test_fresh_rows_come_together_up_to_the_limit_and_tried_ones_alone(
        self, record: Record
    ) -> None:
        store = await record.open()
        turns = [await remembered(store, str(number)) for number in range(9)]
        assert [row.turn_id for row in await store.extractions.next("", 8)] == turns[:8]
        assert [row.turn_id for row in await store.extractions.next("", 8)] == turns[:1]
        moves = [ExtractionMove(turn_id=turn, state="done", reason="kept 0") for turn in turns[:8]]
        await store.extractions.move_queued(moves)
        assert [row.turn_id for row in await store.extractions.next("", 8)] == turns[8:]
        await store.extractions.move(turns[8], "found", found="[1]")
        await store.extractions.move_queued([ExtractionMove(turn_id=turns[8], state="skipped")])
        assert await store.extractions.counts() == {"done": 8, "found": 1}

    async def test_what_was_found_is_kept_until_it_is_stored(self, record: Record) -> None:
        store = await record.open()
        done, failed = await remembered(store, "1"), await remembered(store, "2")
        for turn, end in ((done, "done"), (failed, "failed")):
            await store.extractions.move(turn, "found", found="[1]")
            [row] = await store.extractions.next("", 8)
            assert (row.turn_id, row.state, row.found) == (turn, "found", "[1]")
            await store.extractions.move(turn, end)  # type: ignore[arg-type]
            for state in ("queued", "found", "done", "failed", "skipped"):
                with pytest.raises(WrongState):
                    await store.extractions.move(turn, state)
        with pytest.raises(WrongState):
            await store.extractions.move("unknown", "found")
        assert await store.extractions.spaces() == []


class DreamSuite:
    async def test_a_night_is_one_row_that_goes_on_after_a_restart_until_it_is_done(
        self, record: Record
    ) -> None:
        store = await record.open()
        row = await store.dreams.begin("", "2026-11-20")
        assert row
        assert (row.state, row.plan, row.diary) == ("planned", "", "")
        planned = await store.dreams.move(row.id, "planned", plan="{}")
        store = await record.open()
        assert await store.dreams.begin("", "2026-11-20") == planned
        assert await store.dreams.load_open() == [planned]
        written = await store.dreams.move(row.id, "written", reason="why")
        assert (written.plan, written.reason) == ("{}", "why")
        done = await store.dreams.move(row.id, "done", plan="", diary="d.md")
        assert (done.plan, done.reason, done.diary) == ("", "why", "d.md")
        assert await store.dreams.dream(row.id) == await store.dreams.last("") == done
        assert await store.dreams.begin("", "2026-11-20") is None
        assert await store.dreams.load_open() == []

    async def test_nights_of_spaces_and_days_are_apart_and_refused_ones_are_not_the_last(
        self, record: Record
    ) -> None:
        store = await record.open()
        rows = [
            await store.dreams.begin(*of)
            for of in (("", "2026-11-20"), ("bob", "2026-11-20"), ("", "2026-11-21"))
        ]
        first, bobs, refused = (row.id if row else "" for row in rows)
        assert len({first, bobs, refused}) == 3
        await store.dreams.move(refused, "refused", reason="shrinks")
        for space, id in (("", first), ("bob", bobs)):
            last = await store.dreams.last(space)
            assert last
            assert last.id == id
        assert await store.dreams.last("nobody") is None
        assert await store.dreams.dream("unknown") is None

    async def test_what_is_taken_back_takes_back_its_change_of_the_file(
        self, record: Record
    ) -> None:
        store = await record.open()
        row = await store.dreams.begin("", "2026-11-20")
        assert row
        for about, after in ((row.id, "1"), ("another", "2")):
            change = NewMemoryChange(
                path="MEMORY.md", kind="dream", before_sha256="0", after_sha256=after, about=about
            )
            await store.memories.put("", change)
        with pytest.raises(WrongState):
            await store.dreams.move(row.id, "undone")
        for state in ("written", "done", "undone"):
            await store.dreams.move(row.id, state)
        undone = {change.about: change.undone for change in await store.memories.changes("")}
        assert undone == {row.id: True, "another": False}
        with pytest.raises(WrongState):
            await store.dreams.move(row.id, "done")


class ForgettingSuite:
    async def test_a_newer_request_drops_the_older_one_and_its_words(self, record: Record) -> None:
        store = await record.open()
        for id in ("f1", "f2"):
            await store.forgettings.add(_request(record, id, "c"))
        await store.forgettings.add(_request(record, "f3", "elsewhere"))
        store = await record.open()
        rows = [await store.forgettings.row(id) for id in ("f1", "f2", "f3")]
        assert [(row.state, bool(row.targets)) for row in rows] == [
            ("dropped", False),
            ("asked", True),
            ("asked", True),
        ]
        assert await store.forgettings.find_unconfirmed("c", moment(record)) == rows[1]
        await store.forgettings.move("f3", "dropped")
        later = moment(record) + timedelta(minutes=10)
        assert await store.forgettings.find_unconfirmed("c", later) is None
        await store.forgettings.expire(later)
        rows = [await store.forgettings.row(id) for id in ("f2", "f3")]
        assert [(row.state, row.targets) for row in rows] == [("dropped", "")] * 2

    async def test_what_is_confirmed_is_redacted_at_once_in_its_space_and_goes_on_to_its_end(
        self, record: Record
    ) -> None:
        store = await record.open()
        mine, other = (
            await talk(store, "zanzibar"),
            await talk(store, "zanzibar 2", chat="c2", space="bob"),
        )
        request = _request(record, "f1", mine)
        await store.forgettings.add(request)
        targets = ForgetTargets(query="zanzibar", row="", items=())

        def written(erased: EraseReport) -> tuple[str, str]:
            return "still to do", f"{len(erased.said)} said"

        erased = await store.forgettings.confirm(request, targets, written)
        assert (len(erased.said), erased.conversations) == (2, (mine,))
        with pytest.raises(WrongState):
            await store.forgettings.confirm(request, targets, written)
        store = await record.open()
        assert "zanzibar" not in str(await store.sessions.messages(mine))
        assert "zanzibar" in str(await store.sessions.messages(other))
        [row] = await store.forgettings.load_open()
        assert (row.state, row.targets, row.receipt) == ("confirmed", "still to do", "2 said")
        assert (await store.forgettings.erase("", targets)).said == (), (
            "a second time finds nothing"
        )
        await store.forgettings.move(row.id, "removed", receipt="more")
        await store.forgettings.clear_targets(row.id, "all of it")
        assert (await store.forgettings.row(row.id)).targets == ""
        await store.forgettings.move(row.id, "done")
        last = await store.forgettings.last("")
        assert last
        assert (last.state, last.receipt) == ("done", "all of it")
        assert await store.forgettings.load_open() == []

    async def test_what_was_said_is_read_by_pages_in_its_space_alone(self, record: Record) -> None:
        store = await record.open()
        await talk(store, "1", "2", chat="c1")
        await talk(store, "3", chat="c2", space="bob")
        seen, after = [], ""
        while page := await store.forgettings.messages("", after, 3):
            assert len(page) <= 3
            seen += page
            after = page[-1].message.id
        assert len({row.message.id for row in seen}) == len(seen) == 4
        assert {(row.space, row.channel) for row in seen} == {("", "web")}


class LinkSuite:
    async def test_an_account_joins_with_both_words_leaves_again_and_a_restart_changes_neither(
        self, record: Record
    ) -> None:
        store = await record.open()
        maker, typist = (
            AccountIdentity(channel="web", account="a", sender_id=name, space=name)
            for name in ("ann", "bob")
        )
        await store.links.make_code("code", maker, "c1", moment(record) + timedelta(minutes=10))
        assert await store.links.type_code("wrong", typist, "Bob", "c2", moment(record)) is None
        held = await store.links.type_code("code", typist, "Bob", "c2", moment(record))
        assert held
        assert await store.links.settle(held.id, join=True) is None, "the typist has not agreed"
        assert await store.links.agree(held.id)
        store = await record.open()
        link = await store.links.settle(held.id, join=True)
        assert link
        store = await record.open()
        assert await store.links.links("ann") == [link]
        assert (await store.links.linked_space("bob"), await store.links.members("ann")) == (
            "ann",
            ("ann", "bob"),
        )
        assert await store.links.linked_spaces() == {"bob": "ann"}
        assert await store.links.unlink("bob")
        store = await record.open()
        assert (await store.links.linked_space("bob"), await store.links.members("ann")) == (
            "bob",
            ("ann",),
        )
        assert await store.links.linked_spaces() == {}
        assert not await store.links.unlink("bob")


def _request(record: Record, id: str, conversation: str) -> ForgettingRow:
    now = moment(record)
    return ForgettingRow(
        id=id,
        space="",
        conversation=conversation,
        asked_by="web:u1",
        state="asked",
        code_sha256="c",
        targets=dump_targets(ForgetTargets(query="zanzibar", row="", items=())),
        receipt="",
        expires=now + timedelta(minutes=10),
        at=now,
    )
