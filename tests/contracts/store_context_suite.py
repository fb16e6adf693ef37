"""What every store must do with views: sessions, reductions, clears, folds and the ledger over
them.
"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from memory.conversation import Reduction
from memory.store.conversations.folds.steps import FoldChanges
from memory.store.conversations.prompt_state import PrefixMark
from memory.store.errors import WrongState
from tests.contracts.store_words import (
    Record,
    begin,
    digested,
    folded,
    logged,
    numbers,
    oldest,
    parts,
    reply,
    talk,
)

LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)


def snip(message: str, part: int = 0, form: str = "snip") -> Reduction:
    return Reduction(message_id=message, part=part, form=form, text="…", tokens=1)


class SessionSuite:
    async def test_I42_what_is_loaded_after_a_restart_is_what_was_there(
        self, record: Record
    ) -> None:
        store = await record.open()
        home = await talk(store, "1", "2", "3", "4")
        await folded(store, home, 2)
        session = await store.sessions.load(home)
        await store.sessions.reduce(home, [snip(session.turns[0].messages[0].id)], "size")
        before = await store.sessions.load(home)
        store = await record.open()
        assert await store.sessions.load(home) == before
        assert (before.summary and before.summary.turns) == 2

    @pytest.mark.parametrize(
        ("tainted", "seen_only"), [(False, False), (True, False), (True, True)]
    )
    async def test_S53_the_labels_of_messages_and_of_a_summarys_lines_are_stored(
        self, record: Record, tainted: bool, seen_only: bool
    ) -> None:
        store = await record.open()
        await talk(store, "1")
        turn = await begin(store, "2")
        final = replace(reply(), tainted=tainted, seen_only=seen_only)
        assert await store.delivery.finish(turn, "done", final, parts("yes"))
        planned = await store.folds.plan(oldest(await store.sessions.load(turn.conversation), 1))
        assert planned
        summarised = await store.folds.advance(planned, "summarised", log_text="log", summary="sum")
        assert summarised
        labels = {"tainted": True, "clean_lines": '["k"]', "summary_tainted": tainted}
        checked = await store.folds.advance(summarised, "checked", method="extract", **labels)
        assert checked
        written = await store.folds.advance(checked, "logged", log_ref="memory/2026-11-20.md")
        assert written
        assert await store.folds.commit(written, 10)
        store = await record.open()
        session = await store.sessions.load(turn.conversation)
        told = session.turns[-1].messages[-1]
        assert (told.tainted, told.seen_only) == (tainted, seen_only)
        assert session.summary
        assert (session.summary.tainted, session.summary.clean_lines) == (tainted, '["k"]')

    async def test_the_newest_turns_alone_can_be_loaded(self, record: Record) -> None:
        store = await record.open()
        home = await talk(store, "1", "2", "3", "4")
        assert numbers(await store.sessions.load(home, turns=2)) == [3, 4]
        assert numbers(await store.sessions.load(home)) == [1, 2, 3, 4]

    async def test_an_unknown_conversation_is_no_session(self, record: Record) -> None:
        store = await record.open()
        with pytest.raises(LookupError):
            await store.sessions.load("nobody")
        assert await store.sessions.conversation("nobody") is None

    async def test_lines_are_paged_both_ways(self, record: Record) -> None:
        store = await record.open()
        home = await talk(store, "1", "2", "3")
        newest = await store.sessions.lines(home, limit=2)
        assert [line.number for line in newest] == [5, 6]
        assert [line.number for line in await store.sessions.lines(home, before=5, limit=3)] == [
            2,
            3,
            4,
        ]
        assert [line.number for line in await store.sessions.lines(home, after=2, limit=2)] == [
            3,
            4,
        ]

    async def test_originals_are_read_by_range(self, record: Record) -> None:
        store = await record.open()
        home = await talk(store, "1", "2", "3")
        await store.sessions.clear(home)
        assert [one.seq for one in await store.sessions.messages(home)] == [1, 2, 3, 4, 5, 6]
        assert [one.seq for one in await store.sessions.messages(home, 2, 4)] == [2, 3, 4]
        assert [one.seq for one in await store.sessions.messages(home, 3, limit=1)] == [3]

    async def test_I38_a_reduction_is_recorded_once_and_moves_the_prefix(
        self, record: Record
    ) -> None:
        store = await record.open()
        home = await talk(store, "1")
        [asked, _] = (await store.sessions.load(home)).turns[0].messages
        await store.sessions.reduce(home, [snip(asked.id)], "size")
        await store.sessions.reduce(home, [snip(asked.id)], "size")
        await store.sessions.reduce(home, [snip(asked.id, form="one_line")], "age")
        session = await store.sessions.load(home)
        assert [one.form for one in session.reductions] == ["snip", "one_line"]
        assert session.prefix_generation == 2

    async def test_I38_a_changed_prefix_is_a_new_generation(self, record: Record) -> None:
        store = await record.open()
        home = await talk(store, "1")
        marks = [PrefixMark(sha256=sha, reason="tools") for sha in ("a", "a", "b", "b", "a")]
        assert [await store.sessions.mark_prefix(home, mark) for mark in marks] == [0, 0, 1, 1, 2]

    async def test_choices_are_kept_apart(self, record: Record) -> None:
        store = await record.open()
        home = await talk(store, "1")
        await store.sessions.choose(home, policy="turns")
        await store.sessions.choose(home, model="big")
        session = await store.sessions.load(home)
        assert (session.policy, session.model) == ("turns", "big")
        await store.sessions.choose(home, policy="")
        assert (await store.sessions.load(home)).policy == ""

    async def test_I40_what_was_said_is_told_of_one_space_alone(self, record: Record) -> None:
        store = await record.open()
        mine = await talk(store, "1", "2", chat="mine")
        theirs = await talk(store, "3", chat="theirs", space="them")
        assert await store.sessions.next_seqs("") == {mine: 5}
        assert await store.sessions.next_seqs("them") == {theirs: 3}

    async def test_a_counters_factor_is_remembered(self, record: Record) -> None:
        store = await record.open()
        assert await store.sessions.factor("m") == (1.0, 0, 0.0)
        await store.sessions.set_factors({"m": (1.1, 3, 2.5)})
        await store.sessions.set_factors({"m": (1.2, 4, 1.5), "m c": (1.3, 1, 0.5)})
        assert await store.sessions.factor("m") == (1.2, 4, 1.5)
        assert await store.sessions.factor("m c") == (1.3, 1, 0.5)

    async def test_usage_is_summed_by_model_and_conversation(self, record: Record) -> None:
        store = await record.open()
        home = await talk(store, "1", "2", chat="a")
        await talk(store, "3", chat="b")
        [all_of_it] = await store.sessions.usage(LONG_AGO)
        [of_one] = await store.sessions.usage(LONG_AGO, home)
        assert (all_of_it.input, of_one.input) == (300, 200)

    async def test_idle_conversations_are_those_with_a_view_and_no_word_since(
        self, record: Record
    ) -> None:
        store = await record.open()
        home = await talk(store, "1")
        later = datetime.fromtimestamp(record.now, UTC) + timedelta(days=1)
        assert await store.sessions.idle(later) == [home]
        assert await store.sessions.idle(LONG_AGO) == []
        await store.sessions.clear(home)
        assert await store.sessions.idle(later) == []

    async def test_a_deleted_conversation_is_gone_and_the_others_stay(self, record: Record) -> None:
        store = await record.open()
        gone, kept = await talk(store, "1", "2", chat="gone"), await talk(store, "3", chat="kept")
        await folded(store, gone, 1)
        await store.sessions.delete(gone)
        assert await store.sessions.conversation(gone) is None
        assert await store.sessions.messages(gone) == []
        assert len(await store.sessions.messages(kept)) == 2
        assert await store.folds.check_ledger() == []

    async def test_each_conversation_counts_the_turns_of_its_own_view(self, record: Record) -> None:
        store = await record.open()
        one, two = (
            await talk(store, "1", "2", "3", chat="one"),
            await talk(store, "4", "5", "6", "7", chat="two"),
        )
        plain = await talk(store, "8", chat="plain")
        await folded(store, one, 1)
        await folded(store, two, 3)
        later = datetime.fromtimestamp(record.now, UTC) + timedelta(days=1)
        assert {row.id: row.turns for row in await store.sessions.conversations()} == {
            one: 2,
            two: 1,
            plain: 1,
        }
        assert set(await store.sessions.idle(later)) == {one, two, plain}


class ClearSuite:
    async def test_a_clear_hides_and_its_undo_brings_back_later_turns_too(
        self, record: Record
    ) -> None:
        store = await record.open()
        home = await talk(store, "1", "2")
        assert await store.sessions.clear(home) == 2
        assert (await store.sessions.load(home)).turns == ()
        await talk(store, "3")
        assert numbers(await store.sessions.load(home)) == [3]
        assert await store.sessions.undo_clear(home)
        session = await store.sessions.load(home)
        assert (numbers(session), session.epoch, session.prefix_generation) == ([1, 2, 3], 3, 2)
        assert await store.folds.check_ledger() == []

    async def test_a_clear_is_undone_only_as_the_newest_act(self, record: Record) -> None:
        store = await record.open()
        home = await talk(store, "1", "2")
        assert await store.sessions.undo_clear(home) is False
        await folded(store, home, 1)
        await store.sessions.clear(home)
        await talk(store, "3", "4")
        newer = await folded(store, home, 1)
        assert await store.sessions.undo_clear(home) is False
        undone = await store.folds.undo(home)
        assert undone
        assert (undone.id, undone.state) == (newer.id, "undone")
        assert (await store.sessions.load(home)).held == (await store.sessions.load(home)).next_seq
        assert await store.folds.undo(home) is None
        assert await store.sessions.undo_clear(home)
        session = await store.sessions.load(home)
        assert (numbers(session), session.summary and session.summary.turns) == ([2, 3, 4], 1)
        assert await store.sessions.undo_clear(home) is False
        assert await store.folds.check_ledger() == []

    async def test_an_answer_on_its_way_stays_wanted_when_a_clear_is_undone(
        self, record: Record
    ) -> None:
        store = await record.open()
        home = await talk(store, "1")
        await store.sessions.clear(home)
        turn = await begin(store, "2")
        await store.delivery.finish(turn, "done", reply(), parts("one"))
        await store.sessions.undo_clear(home)
        await store.sessions.clear(home)
        assert await store.delivery.unsent() == []
        await store.sessions.undo_clear(home)
        assert numbers(await store.sessions.load(home)) == [1, 2]

    async def test_new_folds_the_whole_view_into_the_log_alone(self, record: Record) -> None:
        store = await record.open()
        home = await talk(store, "1", "2")
        plan = oldest(await store.sessions.load(home), 2)
        running = await begin(store, "3")
        await store.sessions.clear(home, plan)
        [fold] = await store.folds.open_folds()
        assert (fold.log_only, fold.epoch, fold.from_turn, fold.to_turn) == (
            True,
            1,
            1,
            running.number,
        )
        await talk(store, "4", "5")
        assert await folded(store, home, 1)
        done = await store.folds.commit(await logged(store, fold), 0)
        assert done
        assert (done.state, numbers(await store.sessions.load(home))) == ("folded", [5])
        assert [row.log_only for row in await store.folds.folds(home)] == [True, False]
        assert await store.folds.folds(home, 1) == [done]
        assert done.log_text
        assert await store.folds.folds(home, 1, with_texts=False) == [
            replace(done, log_text="", summary="")
        ]
        assert await store.folds.check_ledger() == []

    async def test_an_empty_view_needs_no_log(self, record: Record) -> None:
        store = await record.open()
        home = await talk(store, "1")
        plan = oldest(await store.sessions.load(home), 1)
        await store.sessions.clear(home)
        await store.sessions.clear(home, plan)
        assert await store.folds.open_folds() == []


class FoldSuite:
    async def test_I36_folds_follow_each_other_without_a_gap(self, record: Record) -> None:
        store = await record.open()
        home = await talk(store, "1", "2", "3", "4", "5")
        first = await folded(store, home, 2)
        second = await folded(store, home, 1)
        assert (second.prev_fold, second.from_seq, second.turns_covered) == (
            first.id,
            first.to_seq + 1,
            3,
        )
        session = await store.sessions.load(home)
        assert (session.fold_head, numbers(session), session.prefix_generation) == (
            second.id,
            [4, 5],
            2,
        )
        assert session.summary
        assert (session.summary.turns, session.summary.text) == (3, f"sum {second.id}")
        assert len(await store.sessions.messages(home)) == 10
        assert await store.folds.check_ledger(home) == []
        row = await store.sessions.conversation(home)
        assert row
        assert row.turns == 2

    async def test_I36_a_plan_that_is_not_the_oldest_whole_turns_is_refused(
        self, record: Record
    ) -> None:
        store = await record.open()
        home = await talk(store, "1", "2", "3")
        good = oldest(await store.sessions.load(home), 2)
        for bad in (
            replace(good, from_seq=good.from_seq + 2, from_turn=2),
            replace(good, to_seq=good.to_seq - 1),
            replace(good, to_seq=good.to_seq + 1),
            replace(good, epoch=9),
            replace(good, prev_fold="other"),
        ):
            assert await store.folds.plan(bad) is None
        assert await store.folds.plan(good)

    async def test_I41_the_running_turn_is_never_folded(self, record: Record) -> None:
        store = await record.open()
        await talk(store, "1")
        turn = await begin(store, "2")
        session = await store.sessions.load(turn.conversation)
        assert await store.folds.plan(oldest(session, 2)) is None
        assert await store.folds.plan(oldest(session, 1))

    async def test_one_fold_at_a_time(self, record: Record) -> None:
        store = await record.open()
        home = await talk(store, "1", "2", "3")
        session = await store.sessions.load(home)
        assert await store.folds.plan(oldest(session, 1))
        assert await store.folds.plan(oldest(session, 2)) is None

    async def test_I18_a_fold_begun_before_a_clear_changes_nothing(self, record: Record) -> None:
        store = await record.open()
        home = await talk(store, "1", "2", "3")
        plan = oldest(await store.sessions.load(home), 1)
        early = await store.folds.plan(plan)
        assert early
        ready = await logged(store, early)
        await store.sessions.clear(home)
        assert await store.folds.commit(ready, 1) is None
        assert await store.folds.advance(early, "summarised") is None
        stale = await store.folds.fold(early.id)
        assert stale
        assert stale.state == "stale"
        assert (await store.sessions.load(home)).fold_head == ""
        assert await store.folds.plan(plan) is None

    async def test_steps_that_are_not_drawn_are_refused(self, record: Record) -> None:
        store = await record.open()
        home = await talk(store, "1", "2")
        fold = await store.folds.plan(oldest(await store.sessions.load(home), 1))
        assert fold
        with pytest.raises(WrongState):
            await store.folds.advance(fold, "logged", log_ref="x")
        with pytest.raises(WrongState):
            await store.folds.commit(fold, 1)
        extracted = await store.folds.advance(
            fold, "checked", method="extract", log_text="l", summary="s"
        )
        assert extracted
        with pytest.raises(WrongState):
            await store.folds.advance(fold, "summarised")

    async def test_I17_an_open_fold_goes_on_after_a_restart_from_where_it_was(
        self, record: Record
    ) -> None:
        store = await record.open()
        home = await talk(store, "1", "2")
        fold = await store.folds.plan(oldest(await store.sessions.load(home), 1))
        assert fold
        ready = await logged(store, fold)
        store = await record.open()
        [held] = (await store.delivery.recover()).folds
        assert held == ready
        assert (await store.delivery.recover()).folds == (held,)
        assert await store.folds.commit(held, 5)
        assert await store.folds.check_ledger() == []

    async def test_undo_takes_back_the_newest_fold_only(self, record: Record) -> None:
        store = await record.open()
        home = await talk(store, "1", "2", "3")
        first, second = await folded(store, home, 1), await folded(store, home, 1)
        undone = await store.folds.undo(home)
        assert undone
        assert undone.id == second.id
        session = await store.sessions.load(home)
        assert (session.fold_head, numbers(session)) == (first.id, [2, 3])
        again = await folded(store, home, 2)
        assert again.turns_covered == 3
        assert await store.folds.check_ledger() == []
        assert [row.id for row in await store.folds.folds(home)] == [first.id, again.id]


TEXTS: FoldChanges = {
    "method": "model",
    "summary": "by the model",
    "summary_tokens": 10,
    "log_text": "- by the model",
    "tainted": True,
    "summary_tainted": True,
    "awaiting": "log",
    "body_sha256": "abc",
}


class LateTextsSuite:
    """The texts of a model that come after their fold was finished with the digest."""

    async def test_they_replace_the_digest_once_in_a_recorded_change_of_the_prefix(
        self, record: Record
    ) -> None:
        store = await record.open()
        home = await talk(store, "1", "2", "3")
        row = await digested(store, home, 2)
        before = await store.sessions.load(home)
        done = await store.folds.replace_texts(row, **TEXTS)
        after = await store.sessions.load(home)
        assert done
        assert before.summary
        assert after.summary
        assert (before.summary.text, after.summary.text) == ("digest", "by the model")
        assert (after.summary.tokens, after.summary.turns, after.summary.tainted) == (10, 2, True)
        assert after.prefix_generation == before.prefix_generation + 1
        assert (done.method, done.log_text, done.awaiting, done.tokens_after) == (
            "model",
            "- by the model",
            "log",
            80,
        )
        assert await store.folds.replace_texts(row, **TEXTS) is None
        assert (await store.sessions.load(home)).prefix_generation == after.prefix_generation
        assert await store.folds.check_ledger() == []

    async def test_without_a_better_text_the_waiting_ends_and_the_prefix_stays(
        self, record: Record
    ) -> None:
        store = await record.open()
        home = await talk(store, "1", "2", "3")
        row = await digested(store, home, 2)
        before = await store.sessions.load(home)
        done = await store.folds.replace_texts(row, rejected=1, sent_from=1)
        assert done
        assert (done.awaiting, done.rejected, done.sent_from, done.summary) == ("", 1, 1, "digest")
        assert await store.sessions.load(home) == before

    async def test_I18_they_change_nothing_once_the_view_has_moved_on(self, record: Record) -> None:
        store = await record.open()
        cleared = await talk(store, "1", "2", "3")
        rows = [await digested(store, cleared, 2)]
        await store.sessions.clear(cleared)
        moved = await talk(store, "4", "5", "6", "7", chat="c2")
        rows.append(await digested(store, moved, 1))
        await folded(store, moved, 1)
        undone = await talk(store, "8", "9", "10", chat="c3")
        rows.append(await digested(store, undone, 1))
        assert await store.folds.undo(undone)
        begun = await talk(store, "11", "12", "13", chat="c4")
        rows.append(await digested(store, begun, 1))
        assert await store.folds.plan(oldest(await store.sessions.load(begun), 1))
        before = [await store.sessions.load(row.conversation) for row in rows]
        assert [await store.folds.replace_texts(row, **TEXTS) for row in rows] == [None] * 4
        assert [await store.sessions.load(row.conversation) for row in rows] == before
        assert [(await store.folds.fold(row.id)).summary for row in rows] == ["digest"] * 4  # type: ignore[union-attr]
        assert await store.folds.check_ledger() == []

    async def test_I17_they_are_awaited_again_after_a_restart_and_by_nobody_else(
        self, record: Record
    ) -> None:
        store = await record.open()
        home = await talk(store, "1", "2", "3")
        old = await digested(store, home, 2)
        store = await record.open()
        assert await store.folds.replace_texts(old, **TEXTS) is None, (
            "whose row it is has not been settled yet"
        )
        [row] = (await store.delivery.recover()).folds
        assert (row.id, row.state, row.awaiting) == (old.id, "folded", "texts")
        assert await store.folds.replace_texts(row, **TEXTS)
        store = await record.open()
        [row] = (await store.delivery.recover()).folds
        assert row.awaiting == "log"
        assert await store.folds.end_log(row)
        store = await record.open()
        assert (await store.delivery.recover()).folds == ()

    async def test_a_log_that_was_changed_since_it_was_read_is_not_settled(
        self, record: Record
    ) -> None:
        store = await record.open()
        home = await talk(store, "1", "2", "3")
        row = await store.folds.replace_texts(await digested(store, home, 2), **TEXTS)
        assert row
        assert not await store.folds.end_log(replace(row, log_text="- what was read before"))
        assert await store.folds.end_log(row)
        assert await store.folds.end_log(row), "once it is settled it stays so"
