"""A conversation that lives by a policy, in memory: what the record would hold after each plan, and
what was asked.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

from memory.context.policies.planner import (
    ContextLimits,
    ContextPlan,
    FoldRange,
    plan_ahead,
    plan_context,
)
from memory.context.policies.policies import Policy
from memory.context.tokens import WEIGHTED, TokenCounter
from memory.context.view import ContextView, assemble_view, fixed_tokens
from memory.conversation import Message, Part, Role, Session, Summary, Turn
from tests.memory.context.making import START

SOUL = "You are mnema. " * 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request: its view, and what was recorded between it and the one before."""

    view: ContextView
    planned: ContextPlan
    events: tuple[str, ...]


@dataclass(slots=True, kw_only=True)
class Life:
    """One conversation. summarise: the text of a fold's summary; its length in tokens is what a
    policy counts with.
    """

    policy: Policy
    limits: ContextLimits
    counter: TokenCounter = WEIGHTED
    system: tuple[str, ...] = (SOUL,)
    summarise: Callable[[FoldRange], str] = lambda fold: f"turns to {fold.to_turn}. " + "s" * 1_500
    session: Session = field(default_factory=lambda: _empty())
    requests: list[Request] = field(default_factory=list)
    folds: list[FoldRange] = field(default_factory=list)
    everything: list[Message] = field(default_factory=list)
    pending: tuple[FoldRange, int] | None = None
    events: list[str] = field(default_factory=list)

    @property
    def fixed(self) -> int:
        return fixed_tokens(self.system, (), "", self.counter)

    def ask(self, parts: Sequence[Part], minutes: float = 1) -> None:
        """A person says something: a turn begins."""
        number = self.session.next_turn
        self.session = replace(self.session, next_turn=number + 1, running=number)
        self._add("user", parts, minutes)

    def call(self) -> ContextView:
        """The next model call: what the policy wants is carried out, then the view is sent."""
        for _ in range(8):
            planned = plan_context(self.session, self.policy, self.limits, self.fixed, self.counter)
            if not planned.fitted and self.pending is not None:
                self.arrive(digest=True)
                continue
            if planned.reductions:
                self.session = replace(
                    self.session, reductions=(*self.session.reductions, *planned.reductions)
                )
                self.events.append("reduction")
            if planned.fold is not None and planned.must_fold_now:
                self._commit(planned.fold, self.session.next_seq)
            elif planned.fold is not None and self.pending is None:
                self.pending = (planned.fold, self.session.next_seq)
            if not planned.reductions and not (planned.fold and planned.must_fold_now):
                break
        view = assemble_view(self.session, self.system, (), self.counter)
        self.requests.append(Request(view=view, planned=planned, events=tuple(self.events)))
        self.events.clear()
        return view

    def say(self, role: Role, parts: Sequence[Part]) -> None:
        """The model's words or calls, or what tools answered."""
        self._add(role, parts, 0.05)

    def end(self) -> None:
        """The turn has ended: what the next one will want is begun."""
        self.session = replace(self.session, running=0)
        ahead = plan_ahead(self.session, self.policy, self.limits, self.fixed, self.counter)
        if ahead.fold is not None and self.pending is None:
            self.pending = (ahead.fold, self.session.next_seq)

    def arrive(self, digest: bool = False) -> None:
        """The summary of the fold that is under way is there."""
        if self.pending is not None:
            fold, seen = self.pending
            self.pending = None
            self._commit(fold, seen, digest)

    def _commit(self, fold: FoldRange, seen: int, digest: bool = False) -> None:
        assert fold.from_turn == self.session.turns[0].number
        kept = tuple(turn for turn in self.session.turns if turn.number > fold.to_turn)
        text = "digest" if digest else self.summarise(fold)
        before = self.session.summary.turns if self.session.summary else 0
        gone = len(self.session.turns) - len(kept)
        summary = Summary(
            fold_id=f"f{len(self.folds)}",
            turns=before + gone,
            text=text,
            tokens=self.counter.text(text),
            seen=seen,
        )
        self.session = replace(self.session, turns=kept, summary=summary, fold_head=summary.fold_id)
        self.folds.append(fold)
        self.events.append("fold")

    def _add(self, role: Role, parts: Sequence[Part], minutes: float) -> None:
        session, seq = self.session, self.session.next_seq
        last = self.everything[-1].at if self.everything else START
        message = Message(
            id=f"m{seq}",
            seq=seq,
            turn=session.running,
            role=role,
            parts=tuple(parts),
            at=last + timedelta(minutes=minutes),
            tokens=self.counter.message(parts),
            counter=self.counter.name,
        )
        self.everything.append(message)
        turns = session.turns
        if turns and turns[-1].number == session.running:
            grown = replace(turns[-1], messages=(*turns[-1].messages, message))
            turns = (*turns[:-1], grown)
        else:
            turns = (*turns, Turn(number=session.running, messages=(message,)))
        self.session = replace(session, turns=turns, next_seq=seq + 1)


def _empty() -> Session:
    return Session(
        conversation="c",
        space="",
        epoch=1,
        next_seq=1,
        next_turn=1,
        view_from=1,
        fold_head="",
        summary=None,
        turns=(),
        reductions=(),
    )
