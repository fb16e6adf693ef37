"""What every store and the folds over it must do with the talk of a day: it stands in that day's
log, once, and the view does not change for it.
"""

import re
from dataclasses import replace
from datetime import datetime, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from memory import failpoints
from memory.context.tokens import WEIGHTED
from memory.conversation import Text
from memory.failpoints import FailpointError
from memory.folding.runner import FoldRunner
from memory.store.conversations.folds.day_logs import SEQS_AT_ONCE, UnloggedConversation
from memory.store.engine.database import Tx
from memory.store.errors import WrongState
from memory.store.rows import HIDDEN_THREAD, FoldRow, NewInboxRow, Place
from memory.store.store import Store
from memory.workspace.files import Workspace
from tests.contracts.store_words import Record, parts, place
from tests.memory.talking import draft, fold_plan

BERLIN = ZoneInfo("Europe/Berlin")
TUESDAY, WEDNESDAY, THURSDAY = "2026-05-05", "2026-05-06", "2026-05-07"
_SECTION = re.compile(r"^## (\S+) · .* · turns (\d+)–(\d+) <!-- fold (\S+) -->$", re.MULTILINE)
LONG = "We spoke at length about the ferry to Naxos and who is to feed the cat. " * 10


class Diary:
    """A conversation whose clock a test sets, and the logs that are written about it."""

    def __init__(self, record: Record, folder: Path, zone: tzinfo = BERLIN) -> None:
        self.record, self.zone = record, zone
        self.workspace = Workspace(folder / "ws")
        self.prompts: list[str] = []
        self.answer = "<log>\n- They talked.\n</log>\n<summary>\n- They talked.\n</summary>"
        self.conversation = ""
        self.store: Store

    async def open(self) -> "Diary":
        self.store = await self.record.open()
        return self

    def at(self, when: str) -> float:
        self.record.now = datetime.fromisoformat(when).replace(tzinfo=self.zone).timestamp()
        return self.record.now

    async def begin(self, when: str, text: str, where: Place | None = None):
        self.at(when)
        arrival = NewInboxRow(
            place=where or place(), key=f"{when} {text}", kind="message", sender_id="u1", body="{}"
        )
        (stored,) = await self.store.delivery.accept([arrival])
        self.conversation = stored.conversation
        return await self.store.delivery.claim(stored.id, draft("user", Text(text=text)), "owner")

    async def end(self, turn, when: str, text: str) -> None:
        self.at(when)
        final = draft("assistant", Text(text=text), origin="model")
        assert await self.store.delivery.finish(turn, "done", final, parts(text))

    async def talk(self, when: str, text: str, where: Place | None = None) -> None:
        await self.end(await self.begin(when, text, where), when, f"re: {text}")

    def runner(self) -> FoldRunner:
        async def complete(system: str, prompt: str, most: int, conversation: str) -> str:
            self.prompts.append(prompt)
            return self.answer

        return FoldRunner(
            folds=self.store.folds,
            sessions=self.store.sessions,
            workspace=self.workspace,
            complete=complete,
            counter=lambda: WEIGHTED,
            zone=self.zone,
        )

    async def end_days(self, when: str) -> list[FoldRow]:
        """Plan and write what is due at this moment; the planned rows."""
        self.at(when)
        before = self.at(f"{when[:10]} 00:00")
        self.at(when)
        planned: list[FoldRow] = []
        for one in await self.store.folds.unlogged(before, None, 100):
            planned += await self.store.folds.plan_ended_days(one.id, before, self.zone, "balanced")
        for row in planned:
            done = await self.runner().run_fold(row)
            assert done is not None
            assert done.state == "folded"
        return planned

    async def fold(self, first: int, last: int, **how) -> FoldRow:
        row = await self.plan(first, last)
        done = await self.runner().run_fold(row, **how)
        assert done is not None
        assert done.state == "folded"
        return done

    async def plan(self, first: int, last: int) -> FoldRow:
        row = await self.runner().start(await fold_plan(self.store, self.conversation, first, last))
        assert row is not None
        return row

    def log(self, day: str) -> str:
        path = self.workspace.root / "memory" / f"{day}.md"
        return path.read_text() if path.exists() else ""

    def sections(self, day: str) -> list[tuple[str, int, int]]:
        """Times and turns of the sections of a day."""
        return [
            (times, int(first), int(last))
            for times, first, last, _ in _SECTION.findall(self.log(day))
        ]

    async def view(self):
        session = await self.store.sessions.load(self.conversation)
        return session.turns, session.summary, session.prefix_generation

    async def check(self) -> None:
        assert await self.store.folds.check_ledger() == []
        written = [
            (turn, fold)
            for path in (self.workspace.root / "memory").glob("*.md")
            for _, first, last, fold in _SECTION.findall(path.read_text())
            for turn in range(int(first), int(last) + 1)
        ]
        assert len({turn for turn, _ in written}) == len(written), "no turn is told twice"


@pytest.fixture(autouse=True)
def no_failpoints():
    yield
    failpoints.arm({})


class DayLogSuite:
    async def test_the_talk_of_a_day_is_in_its_log_at_its_end_and_the_view_is_as_it_was(
        self, record: Record, tmp_path: Path
    ) -> None:
        diary = await Diary(record, tmp_path).open()
        await diary.talk(f"{TUESDAY} 09:12", "The dentist is on 12 May.")
        await diary.talk(f"{TUESDAY} 21:40", "My locker opens with 4711.")
        assert await diary.end_days(f"{TUESDAY} 23:59") == []
        before = await diary.view()
        (row,) = await diary.end_days(f"{WEDNESDAY} 00:01")
        assert (row.day, row.log_only, row.reason) == (TUESDAY, True, "day")
        assert await diary.view() == before
        assert diary.sections(TUESDAY) == [("09:12–21:40", 1, 2)]
        assert "12 May" in diary.log(TUESDAY)
        assert "4711" in diary.log(TUESDAY)
        assert await diary.end_days(f"{WEDNESDAY} 00:16") == [], "once"
        await diary.check()

    async def test_a_later_fold_writes_the_summary_only_and_names_the_file(
        self, record: Record, tmp_path: Path
    ) -> None:
        diary = await Diary(record, tmp_path).open()
        await diary.talk(f"{TUESDAY} 09:12", "The dentist is on 12 May.")
        await diary.end_days(f"{WEDNESDAY} 00:01")
        log = diary.log(TUESDAY)
        await diary.talk(f"{WEDNESDAY} 08:00", "The ferry leaves at 7.")
        done = await diary.fold(1, 1)
        assert done.summary_only
        assert not done.log_text
        assert done.summary
        assert done.log_ref == f"memory/{TUESDAY}.md"
        assert (diary.log(TUESDAY), diary.log(WEDNESDAY)) == (log, "")
        turns, summary, _ = await diary.view()
        assert [turn.number for turn in turns] == [2]
        assert summary.text == "- They talked."
        await diary.check()

    async def test_a_fold_across_midnight_writes_a_section_for_each_day(
        self, record: Record, tmp_path: Path
    ) -> None:
        diary = await Diary(record, tmp_path).open()
        await diary.talk(f"{TUESDAY} 23:58", "The dentist is on 12 May.")
        await diary.talk(f"{WEDNESDAY} 00:03", "My locker opens with 4711.")
        await diary.talk(f"{WEDNESDAY} 00:09", "Thanks.")
        done = await diary.fold(1, 3)
        assert done.summary_only
        assert diary.sections(TUESDAY) == [("23:58", 1, 1)]
        assert diary.sections(WEDNESDAY) == [("00:03–00:09", 2, 3)]
        assert done.log_ref == f"memory/{WEDNESDAY}.md", "where its newest turn is"
        assert await diary.end_days(f"{THURSDAY} 00:01") == []
        await diary.check()

    async def test_a_fold_within_a_day_writes_both_texts_as_before(
        self, record: Record, tmp_path: Path
    ) -> None:
        diary = await Diary(record, tmp_path).open()
        await diary.talk(f"{TUESDAY} 09:12", "The dentist is on 12 May.")
        await diary.talk(f"{TUESDAY} 10:00", "Thanks.")
        done = await diary.fold(1, 1)
        assert not done.summary_only
        assert done.day == TUESDAY
        assert len(diary.prompts) == 1, "one call for both texts"
        (row,) = await diary.end_days(f"{WEDNESDAY} 00:01")
        assert (row.from_turn, row.to_turn) == (2, 2), "what the fold has told is told"
        assert diary.sections(TUESDAY) == [("09:12", 1, 1), ("10:00", 2, 2)]
        await diary.check()

    async def test_a_turn_belongs_to_the_day_on_which_it_began(
        self, record: Record, tmp_path: Path
    ) -> None:
        diary = await Diary(record, tmp_path).open()
        turn = await diary.begin(f"{TUESDAY} 23:59", "The dentist is on 12 May.")
        assert await diary.end_days(f"{WEDNESDAY} 00:01") == [], "it still runs"
        await diary.end(turn, f"{WEDNESDAY} 00:05", "Noted: 12 May at 9:40.")
        (row,) = await diary.end_days(f"{WEDNESDAY} 00:16")
        assert row.day == TUESDAY
        assert diary.sections(TUESDAY) == [("23:59–00:05", 1, 1)]
        assert f"### {WEDNESDAY}\n- 00:05 Bot: Noted: 12 May at 9:40." in diary.log(TUESDAY)
        await diary.check()

    async def test_days_without_the_machine_are_made_up_for_each_in_its_file(
        self, record: Record, tmp_path: Path
    ) -> None:
        diary = await Diary(record, tmp_path).open()
        await diary.talk(f"{TUESDAY} 09:00", "The dentist is on 12 May.")
        await diary.talk(f"{WEDNESDAY} 09:00", "My locker opens with 4711.")
        await diary.talk(f"{THURSDAY} 09:00", "Thanks.")
        rows = await diary.end_days(f"{THURSDAY} 09:30")
        assert [row.day for row in rows] == [TUESDAY, WEDNESDAY]
        assert diary.log(THURSDAY) == ""
        await diary.check()

    async def test_an_undone_fold_leaves_no_hole_in_the_log(
        self, record: Record, tmp_path: Path
    ) -> None:
        diary = await Diary(record, tmp_path).open()
        for hour in (9, 10, 11):
            await diary.talk(f"{TUESDAY} {hour:02}:00", f"Number {hour}00 is mine.")
        await diary.fold(1, 1)
        (row,) = await diary.end_days(f"{WEDNESDAY} 00:01")
        assert (row.from_turn, row.to_turn) == (2, 3)
        undone = await diary.store.folds.undo(diary.conversation)
        assert undone is not None
        (row,) = await diary.end_days(f"{WEDNESDAY} 00:16")
        assert (row.from_turn, row.to_turn) == (1, 1)

    async def test_a_new_start_writes_only_what_is_not_in_the_log(
        self, record: Record, tmp_path: Path
    ) -> None:
        diary = await Diary(record, tmp_path).open()
        await diary.talk(f"{TUESDAY} 09:00", "The dentist is on 12 May.")
        await diary.end_days(f"{WEDNESDAY} 00:01")
        await diary.talk(f"{WEDNESDAY} 09:00", "My locker opens with 4711.")
        plan = replace(await fold_plan(diary.store, diary.conversation, 1, 2), reason="/new")
        await diary.store.sessions.clear(diary.conversation, plan, reason="new", zone=diary.zone)
        (row,) = await diary.store.folds.open_logs(diary.conversation)
        assert (row.from_turn, row.to_turn, row.day, row.reason) == (2, 2, WEDNESDAY, "/new")
        assert await diary.runner().run_fold(row)
        assert await diary.end_days(f"{THURSDAY} 00:01") == []
        assert diary.sections(WEDNESDAY) == [("09:00", 2, 2)]
        await diary.check()

    async def test_what_was_cleared_is_not_written_until_that_is_undone(
        self, record: Record, tmp_path: Path
    ) -> None:
        diary = await Diary(record, tmp_path).open()
        await diary.talk(f"{TUESDAY} 09:00", "The dentist is on 12 May.")
        await diary.store.sessions.clear(diary.conversation)
        assert await diary.end_days(f"{WEDNESDAY} 00:01") == []
        assert await diary.store.sessions.undo_clear(diary.conversation)
        (row,) = await diary.end_days(f"{WEDNESDAY} 00:16")
        assert row.day == TUESDAY

    async def test_I36_the_ledger_tells_of_a_folded_message_that_no_log_has(
        self, record: Record, tmp_path: Path
    ) -> None:
        diary = await Diary(record, tmp_path).open()
        await diary.talk(f"{TUESDAY} 23:58", "The dentist is on 12 May.")
        await diary.talk(f"{WEDNESDAY} 00:03", "Thanks.")
        await diary.fold(1, 2)
        await diary.check()

        async def lose_a_log(tx: Tx) -> None:
            await tx.driver.run("UPDATE fold SET state = 'stale' WHERE to_turn = 1", ())

        await diary.store.database.write(lose_a_log)
        faults = await diary.store.folds.check_ledger(diary.conversation)
        assert {fault.what for fault in faults} == {
            "a message is covered by a fold without a log entry, and no other fold has one"
        }
        assert len(faults) == 2, "both messages of the turn"

    async def test_a_view_of_many_messages_is_searched_for_its_first_turn_without_a_log(
        self, record: Record, tmp_path: Path
    ) -> None:
        diary = await Diary(record, tmp_path).open()
        for minute in range(SEQS_AT_ONCE // 2 + 1):  # each turn has two messages
            await diary.talk(f"{TUESDAY} {8 + minute // 60:02}:{minute % 60:02}", "Hello.")
        (row,) = await diary.end_days(f"{WEDNESDAY} 00:01")
        assert row.to_turn == SEQS_AT_ONCE // 2 + 1
        before = diary.at(f"{THURSDAY} 00:00")
        assert await diary.store.folds.unlogged(before, None, 9) == []
        await diary.talk(f"{WEDNESDAY} 08:00", "Hello again.")
        (found,) = await diary.store.folds.unlogged(before, None, 9)
        undone = await diary.store.folds.undo(diary.conversation)
        assert undone is None
        assert found.since == diary.at(f"{WEDNESDAY} 08:00")

    async def test_an_import_at_rest_is_not_written_about_when_it_is_folded(
        self, record: Record, tmp_path: Path
    ) -> None:
        diary = await Diary(record, tmp_path).open()
        for day in (TUESDAY, WEDNESDAY, THURSDAY):
            await diary.talk(f"{day} 09:00", "Hello.", place("c1"))
        turns = (await diary.store.sessions.load(diary.conversation)).turns
        diary.at("2026-06-01 09:00")
        diary.conversation = await diary.store.sessions.import_conversation(place("c9"), turns)
        await diary.fold(1, 1)
        assert diary.sections(TUESDAY) == [("09:00", 1, 1)]
        before = diary.at("2026-06-02 00:00")
        listed = await diary.store.folds.unlogged(before, None, 9)
        assert diary.conversation not in [one.id for one in listed]

    async def test_turns_of_a_fold_in_progress_are_left_to_it(
        self, record: Record, tmp_path: Path
    ) -> None:
        diary = await Diary(record, tmp_path).open()
        await diary.talk(f"{TUESDAY} 09:00", "The dentist is on 12 May.")
        await diary.talk(f"{TUESDAY} 09:30", "Thanks.")
        fold = await diary.plan(1, 1)
        (row,) = await diary.end_days(f"{WEDNESDAY} 00:01")
        assert (row.from_turn, row.to_turn) == (2, 2)
        assert await diary.store.folds.advance(fold, "stale")
        (row,) = await diary.end_days(f"{WEDNESDAY} 00:16")
        assert (row.from_turn, row.to_turn) == (1, 1), "it ended without a section"
        await diary.check()

    async def test_turns_leave_the_view_only_when_their_sections_are_written(
        self, record: Record, tmp_path: Path
    ) -> None:
        diary = await Diary(record, tmp_path).open()
        await diary.talk(f"{TUESDAY} 23:58", "The dentist is on 12 May.")
        await diary.talk(f"{WEDNESDAY} 00:03", "Thanks.")
        fold = await diary.plan(1, 2)
        for state in ("summarised", "checked"):
            fold = await diary.store.folds.advance(fold, state)
        fold = await diary.store.folds.advance(fold, "logged", log_ref="memory/x.md")
        with pytest.raises(WrongState, match="not in the daily log"):
            await diary.store.folds.commit(fold, 1)
        for row in await diary.store.folds.open_logs(diary.conversation):
            await diary.runner().run_fold(row)
        assert await diary.store.folds.commit(fold, 1)
        await diary.check()

    async def test_a_sub_agents_talk_and_a_plan_beside_another_process_are_not_written(
        self, record: Record, tmp_path: Path
    ) -> None:
        diary = await Diary(record, tmp_path).open()
        hidden = replace(place("c2"), thread_id=f"{HIDDEN_THREAD}1")
        await diary.talk(f"{TUESDAY} 09:00", "Look it up.", hidden)
        await diary.talk(f"{TUESDAY} 09:30", "The dentist is on 12 May.")
        before = diary.at(f"{WEDNESDAY} 00:00")
        found = await diary.store.folds.unlogged(before, None, 100)
        assert [one.id for one in found] == [diary.conversation]
        plans = [
            await diary.store.folds.plan_ended_days(diary.conversation, before, BERLIN, "turns")
            for _ in range(2)
        ]
        assert [len(rows) for rows in plans] == [1, 0]

    async def test_only_conversations_with_such_talk_are_listed_in_pages(
        self, record: Record, tmp_path: Path
    ) -> None:
        diary = await Diary(record, tmp_path).open()
        for chat in range(5):
            await diary.talk(f"{TUESDAY} 09:0{chat}", "Hello.", place(f"c{chat}"))
        await diary.end_days(f"{WEDNESDAY} 00:01")
        for chat in (1, 3, 4):
            await diary.talk(f"{WEDNESDAY} 09:0{chat}", "Hello again.", place(f"c{chat}"))
        before = diary.at(f"{THURSDAY} 00:00")
        last: UnloggedConversation | None = None
        pages = []
        while page := await diary.store.folds.unlogged(before, last, 2):
            pages.append(len(page))
            last = page[-1]
        assert pages == [2, 1]

    async def test_a_short_day_asks_no_model_and_a_long_one_whose_model_fails_is_listed(
        self, record: Record, tmp_path: Path
    ) -> None:
        diary = await Diary(record, tmp_path).open()
        await diary.talk(f"{TUESDAY} 09:00", "The dentist is on 12 May.")
        await diary.talk(f"{WEDNESDAY} 09:00", LONG)
        await diary.end_days(f"{WEDNESDAY} 09:01")
        assert diary.prompts == []
        await diary.end_days(f"{THURSDAY} 00:01")
        assert len(diary.prompts) == 1
        assert "- They talked." in diary.log(WEDNESDAY)
        diary.answer = "nothing of use"
        await diary.talk(f"{THURSDAY} 09:00", f"{LONG} The code is 4711.")
        await diary.end_days("2026-05-08 00:01")
        assert "4711" in diary.log(THURSDAY)
        await diary.check()

    @pytest.mark.parametrize(
        "point",
        [
            *("day.planned", "fold.planned", "fold.summarised", "fold.checked"),
            *("fold.log_written", "fold.log_synced", "fold.in_txn", "fold.folded"),
        ],
    )
    @pytest.mark.parametrize("nth", [1, 2])
    async def test_broken_off_anywhere_each_section_is_written_once(
        self, record: Record, tmp_path: Path, point: str, nth: int
    ) -> None:
        diary = await Diary(record, tmp_path).open()
        await diary.talk(f"{TUESDAY} 09:00", "The dentist is on 12 May.")
        await diary.talk(f"{WEDNESDAY} 23:50", "My locker opens with 4711.")
        await diary.talk(f"{THURSDAY} 00:10", "Thanks.")
        failpoints.arm({"MNEMA_TEST": "1", "MNEMA_FP": f"{point}@{nth}:raise"})
        broke = False
        for _ in range(3):
            try:
                await diary.end_days(f"{WEDNESDAY} 00:01")
                await diary.fold(1, 3)
            except FailpointError:
                broke = True
                await diary.open()
                for row in (await diary.store.delivery.recover()).folds:
                    current = await diary.store.folds.fold(row.id)
                    if current is not None and current.state != "folded":
                        await diary.runner().run_fold(current)
            if (await diary.view())[1] is not None:
                break
        assert broke or nth == 2
        assert diary.sections(TUESDAY) == [("09:00", 1, 1)]
        assert diary.sections(WEDNESDAY) == [("23:50", 2, 2)]
        assert diary.sections(THURSDAY) == [("00:10", 3, 3)]
        assert [turn.number for turn in (await diary.view())[0]] == []
        await diary.check()
