"""Every step the store knows, in any order, with crashes between: a hypothesis state machine over
its doors.
"""

import asyncio
import hashlib
import json
import shutil
import tempfile
from collections.abc import Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from memory.context.message_rules import find_faults
from memory.context.tokens import WEIGHTED
from memory.context.view import assemble_view
from memory.conversation import Session, Text, ToolCall, ToolResult
from memory.store.errors import StaleEpoch, StoreBusy, WrongState
from memory.store.open import open_store
from memory.store.rows import (
    CallRow,
    FoldPlan,
    NewInboxRow,
    NewMessage,
    NewOutboxRow,
    Place,
    PlannedCall,
    SendOutcome,
    TurnRow,
    Usage,
)
from memory.store.store import Store
from tests.walk.model import KEYED, UNKEYED, Talk

NAMES = ("a", "b")
T = TypeVar("T")
talks = st.sampled_from(NAMES)
effects = st.lists(st.sampled_from(("pure", "idempotent", "unsafe")), min_size=1, max_size=3)


class Record(RuleBasedStateMachine):
    """The store under test, its model, and what an outside observer saw."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="machine"))
        self.runner = asyncio.Runner()
        self.now = 1_000_000.0
        self.talks = {name: Talk(name) for name in NAMES}
        self.keys: dict[str, tuple[str, str]] = {}
        self.rows: dict[str, list[str]] = {name: [] for name in NAMES}
        self.late_turns: list[tuple[Talk, TurnRow]] = []
        self.late_folds: list[tuple[Talk, Any]] = []
        self.store = self.do(self.opened())

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        # Runner.run would also set and reset the handler of SIGINT: a quarter of the time
        return self.runner.get_loop().run_until_complete(work)

    async def opened(self) -> Store:
        return await open_store(self.folder / "mnema.db", busy_timeout=0.2, clock=lambda: self.now)

    def teardown(self) -> None:
        self.do(self.store.close())
        self.runner.close()
        shutil.rmtree(self.folder)

    # --- in
    # ----------------------------------------------------------------------------------------------

    @initialize()
    def first_words(self) -> None:
        for name in NAMES:
            self.deliver(name, 1)

    @rule(name=talks, count=st.integers(1, 3))
    def deliver(self, name: str, count: int) -> None:
        """Messages with new keys and the same words: never merged (I3)."""
        talk = self.talks[name]
        fresh = [f"{name}{len(self.keys) + at}" for at in range(count)]
        stored = self.do(self.store.delivery.accept([arrival(name, key) for key in fresh]))
        for key, row in zip(fresh, stored, strict=True):
            assert row.new
            talk.id = row.conversation
            talk.inbox[row.id] = "new"
            self.keys[key] = (name, row.id)

    @rule(draw=st.data())
    def duplicate(self, draw: st.DataObject) -> None:
        """A repeat among new ones changes nothing (I2)."""
        key = draw.draw(st.sampled_from(sorted(self.keys)))
        name, id = self.keys[key]
        repeats = self.do(self.store.delivery.accept([arrival(name, key), arrival(name, key)]))
        assert [(row.id, row.new) for row in repeats] == [(id, False)] * 2

    # --- turns
    # ----------------------------------------------------------------------------------------------

    @rule(name=talks)
    def claim(self, name: str) -> None:
        talk = self.talks[name]
        row = self.do(self.store.delivery.next_inbox_row(talk.id, self.now))
        assert (row.id if row else "") == talk.next_inbox_row
        if row is None:
            return
        if talk.running:
            assert row.state == "running"
            return
        turn = self.do(self.store.delivery.claim(row.id, said(f"word {row.id}"), "owner"))
        assert turn.epoch == talk.epoch
        assert turn.number == max(talk.turns, default=0) + 1
        talk.begin(row.id, turn)

    @rule(name=talks, effects=effects)
    def step(self, name: str, effects: list[Any]) -> None:
        talk = self.talks[name]
        if not talk.running or talk.calls:
            return
        asked = [f"call-{talk.seq}-{at}" for at in range(len(effects))]
        calls = [
            PlannedCall(call_id=id, name="tool", input="{}", effect=effect)
            for id, effect in zip(asked, effects, strict=True)
        ]
        parts = tuple(ToolCall(id=id, name="tool", input="{}") for id in asked)
        draft = NewMessage(role="assistant", parts=parts, tokens=3, counter="t", origin="model")
        self.do(
            self.store.sessions.add_step(
                talk.running, draft, calls, Usage(model="m", input=1, output=1)
            )
        )
        talk.add(talk.running.number)
        talk.calls = {id: [effect, "planned", 0] for id, effect in zip(asked, effects, strict=True)}

    @rule(name=talks)
    def start_calls(self, name: str) -> None:
        """T4 for whatever is planned; an unsafe one is started once in its life (I14)."""
        talk = self.talks[name]
        rows = [row for row in self.calls_of(talk) if row.state == "planned"]
        if not rows:
            return
        self.do(self.store.sessions.start_calls(rows))
        for row in rows:
            talk.calls[row.call_id][1:] = ["started", talk.calls[row.call_id][2] + 1]
            assert row.effect != "unsafe" or talk.calls[row.call_id][2] == 1

    @rule(name=talks, ok=st.booleans())
    def end_calls(self, name: str, ok: bool) -> None:
        talk = self.talks[name]
        if not talk.calls:
            return
        drawn = {"planned": "denied", "started": "done" if ok else "failed", "unknown": "unknown"}
        ended = [(row, drawn[row.state]) for row in self.calls_of(talk)]
        self.do(
            self.store.sessions.end_calls(talk.running, ended, results(row for row, _ in ended))
        )
        talk.add(talk.running.number)
        talk.calls = {}

    @rule(
        name=talks,
        state=st.sampled_from(("done", "done", "failed", "cancelled", "interrupted")),
        parts=st.integers(1, 3),
        keyed=st.booleans(),
    )
    def finish(self, name: str, state: Any, parts: int, keyed: bool) -> None:
        talk = self.talks[name]
        if not talk.running:
            return
        kind: Any = "final" if state == "done" else "notice"
        out = outgoing(kind, parts, keyed)
        turn, final = talk.running, replace(said(f"answer {talk.seq}"), role="assistant")
        assert self.do(self.store.delivery.finish(turn, state, final, out))
        talk.end(state, final=True)
        self.late_turns.append((talk, turn))
        self.note_parts(talk, turn.inbox_id, kind, keyed)

    @rule(draw=st.data())
    @precondition(lambda self: self.late_turns)
    def a_late_result(self, draw: st.DataObject) -> None:
        """What was begun under an older epoch, or is over, changes nothing (I18)."""
        talk, turn = draw.draw(st.sampled_from(self.late_turns))
        with_state = replace(said("late"), role="assistant")
        try:
            self.do(
                self.store.sessions.add_step(
                    turn, with_state, [], Usage(model="m", input=1, output=1)
                )
            )
            raise AssertionError("a late step was stored")
        except (StaleEpoch, WrongState):
            pass
        try:
            assert not self.do(
                self.store.delivery.finish(turn, "done", with_state, outgoing("final", 1, True))
            )
            assert turn.epoch != talk.epoch
        except WrongState:
            assert turn.epoch == talk.epoch

    # --- out
    # ----------------------------------------------------------------------------------------------

    @rule(name=talks)
    def begin_send(self, name: str) -> None:
        talk = self.talks[name]
        row = self.do(self.store.delivery.next_outbox_row(talk.id))
        assert (row.id if row else "") == talk.next_outbox_row
        if row is None:
            return
        taken = self.do(self.store.delivery.mark_sending(row.id))
        assert taken
        assert (
            taken.client_key == row.client_key == talk.out[row.id].setdefault("key", row.client_key)
        )
        assert bool(taken.repeats) == bool(talk.out[row.id]["repeats"])
        talk.out[row.id]["state"] = "sending"

    @rule(
        name=talks,
        fate=st.sampled_from(("sent", "sent", "failed", "pending", "unknown")),
        arrived=st.booleans(),
    )
    def end_send(self, name: str, fate: Any, arrived: bool) -> None:
        """The platform's answer, or none; in the latter case it may have been shown all the
        same.
        """
        talk = self.talks[name]
        id = next((id for id, row in talk.out.items() if row["state"] == "sending"), "")
        if not id:
            return
        if fate == "sent" or (fate == "unknown" and arrived):
            talk.seen.append((id, bool(talk.out[id]["repeats"])))
        self.do(self.store.delivery.settle_sent(id, SendOutcome(state=fate)))
        talk.settle(id, fate)

    # --- the view
    # ----------------------------------------------------------------------------------------------

    @rule(name=talks, log=st.booleans())
    def clear(self, name: str, log: bool) -> None:
        """T10, by /context clear or by /new."""
        talk = self.talks[name]
        self.remember_late(talk)
        session = self.do(self.store.sessions.load(talk.id))
        plan = (
            fold_plan(session, len(session.turns), log_only=True) if log and session.turns else None
        )
        assert self.do(self.store.sessions.clear(talk.id, plan)) == talk.epoch + 1
        talk.clear()

    @rule(name=talks)
    def undo_clear(self, name: str) -> None:
        talk = self.talks[name]
        if talk.clears and not talk.folds:
            self.remember_late(talk)
        assert self.do(self.store.sessions.undo_clear(talk.id)) == talk.undo_clear()

    @rule(name=talks, count=st.integers(1, 3))
    def fold_start(self, name: str, count: int) -> None:
        talk = self.talks[name]
        ready = [
            number
            for number in talk.live_turns
            if not talk.running or number != talk.running.number
        ]
        if not ready:
            return
        session = self.do(self.store.sessions.load(talk.id))
        planned = self.do(self.store.folds.plan(fold_plan(session, min(count, len(ready)))))
        assert (planned is None) == (talk.fold is not None)
        talk.fold = planned or talk.fold

    @rule(name=talks)
    def fold_on(self, name: str) -> None:
        """One step of the open fold: summarised, checked, logged, folded (T9)."""
        talk = self.talks[name]
        if talk.fold is None:
            return
        row = self.forward(talk.fold)
        assert row is not None
        if row.state == "folded":
            talk.folds.append((row.from_seq, row.to_seq))
            row = None
        talk.fold = row

    @rule(draw=st.data())
    @precondition(lambda self: self.late_folds)
    def a_late_fold(self, draw: st.DataObject) -> None:
        """A summary that comes after a clear is not wanted (I18)."""
        _, row = draw.draw(st.sampled_from(self.late_folds))
        assert self.forward(row) is None

    @rule(name=talks)
    def fold_undo(self, name: str) -> None:
        talk = self.talks[name]
        if talk.fold is not None:
            self.late_folds.append((talk, talk.fold))
        undone = self.do(self.store.folds.undo(talk.id))
        assert ((undone.from_seq, undone.to_seq) if undone else None) == (
            talk.folds[-1] if talk.folds else None
        )
        if undone:
            talk.folds.pop()
            talk.fold = None
        elif talk.fold is not None:
            self.late_folds.pop()

    # --- lives
    # ----------------------------------------------------------------------------------------------

    @rule()
    def crash(self) -> None:
        """The process freezes; another opens the record; the first one's writes count for nothing
        (I11, I25).
        """
        old, self.store = self.store, self.do(self.opened())
        self.outlived(old)

    def outlived(self, old: Store) -> None:
        """Here the later opening fences every earlier one, whatever it writes."""
        try:
            self.do(old.delivery.accept([arrival("a", "from the grave")]))
            raise AssertionError("a process without the lease wrote")
        except StoreBusy:
            pass
        self.do(old.close())
        self.recovered(died=True)

    @rule()
    def restart(self) -> None:
        self.do(self.store.close())
        self.store = self.do(self.opened())
        self.recovered(died=False)

    def recovered(self, *, died: bool) -> None:
        """died: the life before did not end by itself, so its death counts against what it had at
        work.
        """
        running = [talk for talk in self.talks.values() if talk.running]
        alone = died and len(running) == 1
        found = self.do(self.store.delivery.recover())
        again = self.do(self.store.delivery.recover())
        assert (again.turns, again.folds, again.sends_unknown) == (found.turns, found.folds, 0)
        for talk in self.talks.values():
            talk.crash(died=died, alone=alone)
            turn = next((turn for turn in found.turns if turn.conversation == talk.id), None)
            assert (turn is None) == (talk.running is None)
            if turn:
                assert turn.attempts == talk.attempts
                row = self.do(self.store.delivery.inbox(turn.inbox_id))
                assert (row.attempts, row.deaths_alone) == (talk.attempts, talk.deaths_alone)
                talk.running = self.do(self.store.delivery.take_over(turn.id))
            fold = [row for row in found.folds if row.conversation == talk.id and not row.log_only]
            assert [row.id for row in fold] == ([talk.fold.id] if talk.fold else [])

    # --- what always holds
    # ------------------------------------------------------------------------------------------

    @invariant()
    def the_ledger_has_no_fault(self) -> None:
        assert self.do(self.store.folds.check_ledger()) == []

    @invariant()
    def the_view_is_what_it_ought_to_be(self) -> None:
        for talk in self.talks.values():
            if not talk.id:
                continue
            session = self.do(self.store.sessions.load(talk.id))
            found = [[turn.number, turn.first_seq, turn.last_seq] for turn in session.turns]
            assert found == [[number, *talk.turns[number]] for number in talk.live_turns]
            assert (session.epoch, session.view_from, session.next_seq) == (
                talk.epoch,
                talk.view_from,
                talk.seq + 1,
            )
            assert session.running == (talk.running.number if talk.running else 0)
            assert (session.summary is None) == (not talk.folds)
            if not talk.calls:
                check_valid(session)

    @invariant()
    def every_message_is_where_it_ought_to_be(self) -> None:
        waiting, unsent = (
            set(self.do(self.store.delivery.waiting())),
            set(self.do(self.store.delivery.unsent())),
        )
        for talk in filter(lambda talk: talk.id, self.talks.values()):
            lines = self.do(self.store.sessions.lines(talk.id, limit=1000))
            assert {line.id: line.state for line in lines if line.role == "user"} == talk.inbox
            shown = {id: row["state"] for id, row in talk.out.items() if row["state"] != "dropped"}
            assert {line.id: line.state for line in lines if line.role != "user"} == shown
            assert (talk.id in waiting) == any(
                state in ("new", "running") for state in talk.inbox.values()
            )
            assert (talk.id in unsent) == ("pending" in shown.values())
            self.nobody_sees_too_much(talk)

    @invariant()
    def stored_messages_never_change(self) -> None:
        for name, talk in self.talks.items():
            if talk.id:
                stored = self.do(self.store.sessions.messages(talk.id))
                now = [hashlib.sha256(repr(message).encode()).hexdigest() for message in stored]
                assert now[: len(self.rows[name])] == self.rows[name]
                self.rows[name] = now

    def nobody_sees_too_much(self, talk: Talk) -> None:
        """I4 and I5: parts in order, each once with a key, without one at most twice and then
        marked.
        """
        first: list[str] = []
        for id, marked in talk.seen:
            if id not in first:
                first.append(id)
            else:
                assert talk.out[id]["keyed"] or marked
        assert first == [id for id in talk.out if id in first]
        for id in first:
            assert talk.out[id]["keyed"] or [seen for seen, _ in talk.seen].count(id) <= 2

    # --- hands
    # ----------------------------------------------------------------------------------------------

    def calls_of(self, talk: Talk) -> list[CallRow]:
        """The open calls of the running turn, as the record and the model both have them."""
        if not talk.calls:
            return []
        rows = [
            row
            for row in self.do(self.store.sessions.calls(talk.running.id))
            if row.call_id in talk.calls
        ]
        assert {row.call_id: row.state for row in rows} == {
            id: call[1] for id, call in talk.calls.items()
        }
        return rows

    def forward(self, row: Any) -> Any:
        """One step of a fold."""
        follow = {"planned": "summarised", "summarised": "checked", "checked": "logged"}
        if row.state == "logged":
            return self.do(self.store.folds.commit(row, 5))
        changes: Any = (
            {"log_ref": "memory/day.md"} if row.state == "checked" else {"summary": "gist"}
        )
        return self.do(self.store.folds.advance(row, follow[row.state], **changes))

    def remember_late(self, talk: Talk) -> None:
        if talk.running:
            self.late_turns.append((talk, talk.running))
        if talk.fold is not None:
            self.late_folds.append((talk, talk.fold))

    def note_parts(self, talk: Talk, source: str, kind: str, keyed: bool) -> None:
        for line in self.do(self.store.sessions.lines(talk.id, limit=1000)):
            if line.role != "user" and line.id not in talk.out:
                part = sum(row["source"] == source for row in talk.out.values())
                what = {
                    "source": source,
                    "part": part,
                    "state": "pending",
                    "kind": kind,
                    "epoch": talk.epoch,
                }
                talk.out[line.id] = {**what, "keyed": keyed, "repeats": 0}


def arrival(name: str, key: str) -> NewInboxRow:
    """Always the same words."""
    place = Place(channel="web", account="me", chat_id=name, thread_id="", kind="dm", space="")
    return NewInboxRow(
        place=place, key=key, kind="message", sender_id="owner", body=json.dumps({"text": "hello"})
    )


def said(text: str) -> NewMessage:
    """A user message."""
    return NewMessage(role="user", parts=(Text(text=text),), tokens=2, counter="t", origin="person")


def results(rows: Any) -> NewMessage:
    """One result for each call."""
    parts = tuple(ToolResult(call_id=row.call_id, text="result") for row in rows)
    return NewMessage(role="user", parts=parts, tokens=2, counter="t", origin="tool")


def outgoing(kind: Any, parts: int, keyed: bool) -> list[NewOutboxRow]:
    """An answer in parts."""
    valid_for = KEYED if keyed else UNKEYED
    return [
        NewOutboxRow(kind=kind, text=f"part {at}", part_no=at, parts=parts, key_valid=valid_for)
        for at in range(parts)
    ]


def fold_plan(session: Session, count: int, *, log_only: bool = False) -> FoldPlan:
    """The oldest `count` live turns."""
    taken = session.turns[:count]
    return FoldPlan(
        conversation=session.conversation,
        epoch=session.epoch,
        prev_fold=session.fold_head,
        from_seq=taken[0].first_seq,
        to_seq=taken[-1].last_seq,
        from_turn=taken[0].number,
        to_turn=taken[-1].number,
        policy="turns",
        reason="test",
        tokens_before=10,
        log_only=log_only,
    )


def check_valid(session: Session) -> None:
    """I15: the view is one that the strictest provider takes, and holds every word a person
    said.
    """
    view = assemble_view(session, (), (), WEIGHTED)
    assert find_faults(view.shown) == []
    texts = [
        part.text for message in view.shown for part in message.parts if isinstance(part, Text)
    ]
    said = [
        message for turn in session.turns for message in turn.messages if message.origin == "person"
    ]
    for message in said:
        assert all(part.text in texts for part in message.parts if isinstance(part, Text))
