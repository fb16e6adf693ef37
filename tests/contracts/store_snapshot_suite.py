"""What every store must do with snapshots of the prefix, and with what a fold says of its cut."""

from dataclasses import replace

import pytest

from memory.conversation import Session, SystemPart
from memory.store.conversations.prompt_state import PrefixMark
from memory.store.rows import PromptSnapshot
from memory.store.store import Store
from tests.contracts.store_words import Record, begin, folded, oldest, talk

PARTS = (
    SystemPart(name="awareness", text="Your tools: none."),
    SystemPart(name="MEMORY.md", text="- 喜欢茶\n- likes tea", left_out=("## 偏好: 2 paragraphs",)),
)


def taken(session: Session, *parts: SystemPart, source: str = "s") -> PromptSnapshot:
    return PromptSnapshot(
        parts=parts,
        source=source,
        epoch=session.epoch,
        fold_head=session.fold_head,
        reductions=len(session.reductions),
    )


async def generation(store: Store, home: str) -> int:
    return (await store.sessions.load(home)).prefix_generation


class SnapshotSuite:
    async def test_I42_a_snapshot_is_read_back_as_it_was_after_a_restart(
        self, record: Record
    ) -> None:
        store = await record.open()
        home = await talk(store, "1")
        assert await store.sessions.snapshot(home) is None
        kept = taken(await store.sessions.load(home), *PARTS)
        assert await store.sessions.set_snapshot(home, kept, "first") == 0
        store = await record.open()
        assert await store.sessions.snapshot(home) == kept

    async def test_I38_only_other_parts_move_the_prefix(self, record: Record) -> None:
        store = await record.open()
        home = await talk(store, "1")
        session = await store.sessions.load(home)
        same = (taken(session, *PARTS), taken(session, *PARTS, source="other"))
        for kept in same:
            assert await store.sessions.set_snapshot(home, kept, "edit") == 0
        for number, parts in enumerate((PARTS[:1], PARTS, PARTS[::-1], ()), 1):
            assert await store.sessions.set_snapshot(home, taken(session, *parts), "edit") == number
            assert await generation(store, home) == number
        assert await store.sessions.snapshot(home) == taken(session)

    async def test_I38_a_snapshot_and_what_else_is_in_the_prefix_are_stored_together(
        self, record: Record
    ) -> None:
        store = await record.open()
        home = await talk(store, "1")
        session = await store.sessions.load(home)
        marks = [PrefixMark(sha256=sha, reason="tools") for sha in ("a", "b", "b")]
        first, other = taken(session, *PARTS), taken(session, *PARTS[:1])
        assert await store.sessions.set_snapshot(home, first, "first", marks[0]) == 0
        assert await store.sessions.set_snapshot(home, other, "edit", marks[1]) == 2
        assert (
            await store.sessions.set_snapshot(home, other, "edit", marks[2])
            == await generation(store, home)
            == 2
        )
        assert await store.sessions.snapshot(home) == other

    async def test_I18_a_snapshot_taken_before_a_clear_or_a_fold_changes_nothing(
        self, record: Record
    ) -> None:
        store = await record.open()
        home = await talk(store, "1", "2", "3")
        early = taken(await store.sessions.load(home), *PARTS)
        await store.sessions.set_snapshot(home, early, "first")
        await folded(store, home, 1)
        late = replace(early, parts=PARTS[:1])
        assert await store.sessions.set_snapshot(home, late, "late") == await generation(
            store, home
        )
        between = taken(await store.sessions.load(home), *PARTS[1:])
        await store.sessions.clear(home)
        await store.sessions.set_snapshot(home, between, "late")
        assert await store.sessions.snapshot(home) == early

    async def test_conversations_share_texts_and_lose_only_their_own(self, record: Record) -> None:
        store = await record.open()
        homes = [await talk(store, chat, chat=chat) for chat in ("a", "b", "c")]
        for home in homes:
            await store.sessions.set_snapshot(
                home, taken(await store.sessions.load(home), *PARTS), "first"
            )
        session = await store.sessions.load(homes[0])
        await store.sessions.set_snapshot(homes[0], taken(session, *PARTS[:1]), "edit")
        await store.sessions.delete(homes[1])
        assert await store.sessions.snapshot(homes[1]) is None
        last = await store.sessions.snapshot(homes[2])
        assert last
        assert last.parts == PARTS

    async def test_an_unknown_conversation_has_no_snapshot(self, record: Record) -> None:
        store = await record.open()
        session = await store.sessions.load(await talk(store, "1"))
        assert await store.sessions.snapshot("nobody") is None
        with pytest.raises(LookupError):
            await store.sessions.set_snapshot("nobody", taken(session), "first")


class CutSuite:
    async def test_a_fold_keeps_why_it_was_cut_there_and_what_had_been_said(
        self, record: Record
    ) -> None:
        store = await record.open()
        home = await talk(store, "1", "2", "3")
        session = await store.sessions.load(home)
        plan = replace(oldest(session, 1), why='{"turns": 1}', seen_seq=session.next_seq)
        await begin(store, "4")
        fold = await store.folds.plan(plan)
        assert fold
        assert (fold.why, fold.seen_seq) == ('{"turns": 1}', 7)
        store = await record.open()
        [held] = (await store.delivery.recover()).folds
        assert held == fold

    async def test_the_summary_says_what_had_been_said_when_its_fold_was_planned(
        self, record: Record
    ) -> None:
        store = await record.open()
        home = await talk(store, "1", "2", "3")
        assert (await folded(store, home, 1)).seen_seq == 7
        await talk(store, "4")
        session = await store.sessions.load(home)
        assert session.summary
        assert (session.summary.seen, session.next_seq) == (7, 9)

    async def test_every_fold_is_known_by_its_id_whatever_became_of_it(
        self, record: Record
    ) -> None:
        store = await record.open()
        home, other = (
            await talk(store, "1", "2", "3", chat="a"),
            await talk(store, "4", "5", chat="b"),
        )
        undone = await folded(store, home, 1)
        await store.folds.undo(home)
        kept = await folded(store, home, 1)
        stale = await store.folds.plan(oldest(await store.sessions.load(home), 1))
        assert stale
        await store.sessions.clear(home)
        theirs = await folded(store, other, 1)
        assert await store.recall.hidden_folds(home, 0, 1) == {undone.id, kept.id, stale.id}
        assert await store.recall.hidden_folds(home, 0, kept.to_seq + 1) == {undone.id, stale.id}
        assert await store.recall.hidden_folds(home, kept.to_seq + 1, 99) == {
            undone.id,
            kept.id,
            stale.id,
        }
        assert await store.recall.hidden_folds(other, 0, 1) == {theirs.id}
        assert await store.recall.hidden_folds("nobody", 0, 1) == frozenset()

    async def test_of_some_folds_those_are_hidden_that_are_hidden_among_all(
        self, record: Record
    ) -> None:
        store = await record.open()
        home, other = (
            await talk(store, "1", "2", "3", chat="a"),
            await talk(store, "4", "5", chat="b"),
        )
        undone = await folded(store, home, 1)
        await store.folds.undo(home)
        kept, theirs = await folded(store, home, 1), await folded(store, other, 1)
        asked = [undone.id, theirs.id, "unknown", kept.id]
        for bounds in ((0, 1), (0, kept.to_seq + 1), (kept.to_seq + 1, 99), (0, 99)):
            for conversation in (home, other):
                found = await store.recall.hidden_among(conversation, asked, *bounds)
                assert found == await store.recall.hidden_folds(conversation, *bounds)
        assert await store.recall.hidden_among(home, [kept.id], 0, 1) == {kept.id}
        assert await store.recall.hidden_among(home, [], 0, 1) == frozenset()
