"""Simulates a recorded conversation under one policy: the view of each request, and the folds.

Plans and views are those of the running bot, the answers are the recorded ones; no model is called.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from time import perf_counter

from bot.agent.context.fitter import MAX_FIT_ROUNDS
from bot.agent.turn_context import format_clock_note
from bot.cli.replay.recording import Recording, ReplayProbe, model_call_positions, recording_start
from memory.context.message_rules import find_faults
from memory.context.policies.planner import (
    ContextLimits,
    ContextPlan,
    FoldRange,
    plan_ahead,
    plan_context,
)
from memory.context.policies.policies import Policy
from memory.context.summary.validation import FoldSource, SummaryLimit, validate_summary
from memory.context.tokens import MESSAGE_TOKENS, TokenCounter
from memory.context.view import ContextView, ViewTokens, assemble_view, fixed_tokens
from memory.conversation import Message, Part, Reduction, Session, Summary, Text, Turn
from memory.folding.runner import MAX_STEPS_BACK

# A part, and 1 if it is the first of a user message, 2 of a model's message, else 0.
PrefixPiece = tuple[int, Part]


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestPrefix:
    """A request in pieces, to compare its start with the previous one like a provider's prompt
    cache.
    """

    #: Tokens of system and tools, which come first.
    head: int
    pieces: tuple[PrefixPiece, ...]
    #: Number of pieces of the kept turns.
    stable: int


class PrefixComparer:
    """Compares requests; counts the tokens of each part once."""

    def __init__(self, counter: TokenCounter) -> None:
        self._counter = counter
        self._known: dict[Part, int] = {}

    def prefix(self, view: ContextView) -> RequestPrefix:
        """Split a view into pieces."""
        pieces: list[PrefixPiece] = []
        stable = 0
        for position, message in enumerate(view.shown):
            first = 2 if message.role == "assistant" else 1
            pieces += [(0 if number else first, part) for number, part in enumerate(message.parts)]
            stable = len(pieces) if position < view.stable else stable
        return RequestPrefix(
            head=view.tokens.system + view.tokens.tools, pieces=tuple(pieces), stable=stable
        )

    def common(self, before: RequestPrefix | None, now: RequestPrefix) -> int:
        """Return the tokens of the common prefix."""
        if before is None:
            return 0
        return now.head + sum(
            self._tokens(piece) for piece in now.pieces[: _common_length(before, now)]
        )

    def broken(self, before: RequestPrefix, now: RequestPrefix) -> bool:
        """Whether the kept turns of the previous request are not all repeated."""
        return _common_length(before, now) < before.stable

    def _tokens(self, piece: PrefixPiece) -> int:
        first, part = piece
        if part not in self._known:
            self._known[part] = self._counter.parts((part,))
        return self._known[part] + (MESSAGE_TOKENS if first else 0)


def _common_length(before: RequestPrefix, now: RequestPrefix) -> int:
    """Return the number of equal pieces at the start of both."""
    pairs = zip(before.pieces, now.pieces, strict=False)
    different = (number for number, (one, other) in enumerate(pairs) if one != other)
    return next(different, min(len(before.pieces), len(now.pieces)))


# Returns the log and the summary that a model would write; two empty strings select the digest.
Summarise = Callable[[FoldSource, SummaryLimit], tuple[str, str]]


def never_summarise(source: FoldSource, limit: SummaryLimit) -> tuple[str, str]:
    """Use the digest for every fold."""
    return "", ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplaySetting:
    """Settings of a simulation."""

    policy: Policy
    limits: ContextLimits
    counter: TokenCounter
    #: After how many requests a background fold is ready; 0: at the next one.
    late: int = 0
    #: Time zone of requests and logs.
    zone: tzinfo = UTC
    summarise: Summarise = never_summarise
    #: Measures planning, seconds.
    clock: Callable[[], float] = perf_counter


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedFold:
    """A fold that took effect."""

    #: The number of the first request after it.
    request: int
    range: FoldRange
    #: It had to be ready at once, so no model was called.
    at_once: bool
    #: As in the store.
    method: str
    #: Tokens of the folded messages.
    before: int
    #: Tokens of the summary.
    after: int
    log: str
    summary: str
    #: The summary before it.
    replaced: str
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedRequest:
    """One model call."""

    number: int
    turn: int
    tokens: ViewTokens
    #: Tokens of the prefix that the previous request has too.
    common: int
    #: Whether the kept turns of the previous request are not all repeated.
    broke: bool
    #: Tokens of the recorded answer.
    output: int
    #: When it was sent.
    at: datetime
    #: New folds and reductions in it.
    folds: int
    reductions: int
    #: Why a provider would refuse it.
    faults: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeView:
    """A probe with the view in which it was asked, and the folds before it."""

    probe: ReplayProbe
    view: ContextView
    folds: tuple[SimulatedFold, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayOutcome:
    """The results of a simulation."""

    setting: ReplaySetting
    requests: tuple[SimulatedRequest, ...]
    folds: tuple[SimulatedFold, ...]
    #: Duration of each plan, seconds.
    planning: tuple[float, ...]
    #: In the order of the probes.
    asked: tuple[ProbeView, ...]

    @property
    def over(self) -> int:
        """Number of requests over the budget."""
        return sum(request.tokens.total > self.setting.limits.budget for request in self.requests)

    @property
    def invalid(self) -> int:
        """Number of requests that a strict provider would refuse."""
        return sum(bool(request.faults) for request in self.requests)


@dataclass(frozen=True, slots=True, kw_only=True)
class _PendingFold:
    """A fold that is planned."""

    range: FoldRange
    #: Number of the request at which it is ready.
    due: int
    #: See Summary.
    seen: int
    #: Time of the newest message when it was planned.
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class _SimulatedState:
    """State of the conversation between two steps."""

    session: Session
    folds: tuple[SimulatedFold, ...] = ()
    pending: _PendingFold | None = None
    #: Number of reductions so far.
    reduced: int = 0


# Key of a fold's texts: the folds before it, and its plan.
_Task = tuple[tuple[SimulatedFold, ...], _PendingFold]
_Texts = tuple[str, str, str]  # log, summary and method


def simulate_recording(recording: Recording, setting: ReplaySetting) -> ReplayOutcome:
    """Simulate every request in order; deterministic except for the planning times.

    Args:
        recording: counted with the setting's counter.
    """
    return _Simulation(recording, setting).run()


class _Simulation:
    def __init__(self, recording: Recording, setting: ReplaySetting) -> None:
        self._recording, self._setting = recording, setting
        self._system, self._tools = recording.system, recording.tools
        self._fixed = fixed_tokens(self._system, self._tools, "", setting.counter)
        self._comparer = PrefixComparer(setting.counter)
        self._previous: RequestPrefix | None = None
        self._requests: list[SimulatedRequest] = []
        self._planning: list[float] = []
        self._cached_texts: dict[bool, tuple[_Task, _Texts]] = {}

    def run(self) -> ReplayOutcome:
        state = _SimulatedState(session=_empty_session(self._recording, self._setting.zone))
        probes: dict[int, list[ReplayProbe]] = {}
        for probe in self._recording.probes:
            probes.setdefault(probe.after, []).append(probe)
        asked: dict[ReplayProbe, ProbeView] = {}
        for turn in self._recording.turns:
            for position in model_call_positions(turn):
                state = self._request(state, turn, position)
            state = self._end_turn(state, turn)
            asked |= {probe: self._ask(state, probe) for probe in probes.get(turn.number, ())}
        return ReplayOutcome(
            setting=self._setting,
            requests=tuple(self._requests),
            folds=state.folds,
            planning=tuple(self._planning),
            asked=tuple(asked[probe] for probe in self._recording.probes),
        )

    def _request(self, state: _SimulatedState, turn: Turn, position: int) -> _SimulatedState:
        tail = self._tail(turn)
        running = replace(turn, messages=turn.messages[:position])
        fitted = self._fit(
            _with_turn(state, running, running=turn.number), tail, len(self._requests)
        )
        view = assemble_view(fitted.session, self._system, self._tools, self._setting.counter, tail)
        prefix = self._comparer.prefix(view)
        common = min(self._comparer.common(self._previous, prefix), view.tokens.total)
        self._requests.append(
            SimulatedRequest(
                number=len(self._requests),
                turn=turn.number,
                tokens=view.tokens,
                common=common,
                broke=self._previous is not None and self._comparer.broken(self._previous, prefix),
                output=turn.messages[position].tokens,
                at=turn.messages[position - 1].at,
                folds=len(fitted.folds) - len(state.folds),
                reductions=fitted.reduced - state.reduced,
                faults=tuple(find_faults(view.shown)),
            )
        )
        self._previous = prefix
        return fitted

    def _end_turn(self, state: _SimulatedState, turn: Turn) -> _SimulatedState:
        """End the turn and start the fold that the next one will need."""
        ended = _with_turn(state, turn, running=0)
        return self._start_fold(ended, self._plan_ahead(ended.session), len(self._requests))

    def _ask(self, state: _SimulatedState, probe: ReplayProbe) -> ProbeView:
        """Ask a question without changing the conversation."""
        last = state.session.turns[-1].messages[-1] if state.session.turns else None
        at = last.at if last else recording_start(self._recording)
        parts = (Text(text=probe.question),)
        number, seq = state.session.next_turn, state.session.next_seq
        counter = self._setting.counter
        message = Message(
            id="probe",
            seq=seq,
            turn=number,
            role="user",
            parts=parts,
            at=at,
            tokens=counter.message(parts),
            counter=counter.name,
        )
        turn = Turn(number=number, messages=(message,))
        plans = len(self._planning)
        fitted = self._fit(
            _with_turn(state, turn, running=number), self._tail(turn), len(self._requests)
        )
        del self._planning[plans:]
        view = assemble_view(fitted.session, self._system, self._tools, counter)
        return ProbeView(probe=probe, view=view, folds=fitted.folds)

    def _tail(self, turn: Turn) -> str:
        return format_clock_note(turn.messages[0].at.astimezone(self._setting.zone))

    def _fit(self, state: _SimulatedState, tail: str, number: int) -> _SimulatedState:
        """Fit the request like the bot: apply a ready fold, then plan until nothing changes."""
        if state.pending and state.pending.due <= number:
            state = self._fold(state, state.pending, number, at_once=False)
        fixed = self._fixed + self._setting.counter.text(tail)
        for _ in range(MAX_FIT_ROUNDS):
            planned = self._plan(state.session, fixed)
            after = self._apply_plan(state, planned, number)
            if after.session is state.session:
                return after
            state = after
        return state

    def _apply_plan(
        self, state: _SimulatedState, planned: ContextPlan, number: int
    ) -> _SimulatedState:
        """Apply a plan; if the request does not fit, first finish a pending fold, which may be
        enough.
        """
        if not planned.fitted and state.pending:
            return self._fold(state, state.pending, number, at_once=True)
        session = _apply_reductions(state.session, planned.reductions)
        added = len(session.reductions) - len(state.session.reductions)
        state = replace(state, session=session, reduced=state.reduced + added)
        if planned.fold is None:
            return state
        if not planned.must_fold_now:
            return self._start_fold(state, planned.fold, number + 1)
        pending = state.pending or _pending_fold(session, planned.fold, number)
        return self._fold(state, pending, number, at_once=True)

    def _start_fold(
        self, state: _SimulatedState, fold: FoldRange | None, next_request: int
    ) -> _SimulatedState:
        """Start a fold in the background, unless one is pending."""
        if fold is None or state.pending:
            return state
        return replace(
            state, pending=_pending_fold(state.session, fold, next_request + self._setting.late)
        )

    def _fold(
        self, state: _SimulatedState, pending: _PendingFold, number: int, *, at_once: bool
    ) -> _SimulatedState:
        session = state.session
        gone = [turn for turn in session.turns if turn.last_seq <= pending.range.to_seq]
        messages = tuple(message for turn in gone for message in turn.messages)
        log, summary, method = self._cached(state, pending, messages, at_once=at_once)
        counter = self._setting.counter
        done = SimulatedFold(
            request=number,
            range=pending.range,
            at_once=at_once,
            method=method,
            before=sum(message.tokens for message in messages),
            after=counter.text(summary),
            log=log,
            summary=summary,
            replaced=session.summary.text if session.summary else "",
            messages=messages,
        )
        folds = (*state.folds, done)
        covered = (session.summary.turns if session.summary else 0) + len(gone)
        id = f"f{len(folds)}"
        left = {message.id for turn in session.turns[len(gone) :] for message in turn.messages}
        moved = replace(
            session,
            turns=session.turns[len(gone) :],
            fold_head=id,
            summary=Summary(
                fold_id=id,
                turns=covered,
                text=summary,
                tokens=done.after,
                seen=pending.seen,
                last_turn=gone[-1].number,
            ),
            reductions=tuple(item for item in session.reductions if item.message_id in left),
        )
        return replace(state, session=moved, folds=folds, pending=None)

    def _cached(
        self,
        state: _SimulatedState,
        pending: _PendingFold,
        messages: tuple[Message, ...],
        *,
        at_once: bool,
    ) -> _Texts:
        """Return the texts of a fold; the probes after one turn and the next request share the same
        fold.
        """
        task = (state.folds, pending)
        cached = self._cached_texts.get(at_once)
        if cached is None or cached[0] != task:
            cached = self._cached_texts[at_once] = (
                task,
                self._texts(state, pending, messages, at_once=at_once),
            )
        return cached[1]

    def _texts(
        self,
        state: _SimulatedState,
        pending: _PendingFold,
        messages: tuple[Message, ...],
        *,
        at_once: bool,
    ) -> _Texts:
        """Write and check log and summary as the bot does; extracts are redone together with the
        new turns.
        """
        extracts: list[SimulatedFold] = []
        for fold in reversed(state.folds[-MAX_STEPS_BACK:]):
            if fold.method == "model":
                break
            extracts.insert(0, fold)
        setting, rest = self._setting, state.folds[: len(state.folds) - len(extracts)]
        source = FoldSource(
            before=rest[-1].summary if rest else "",
            replaced=0,
            earlier=tuple(message for fold in extracts for message in fold.messages),
            turns=messages,
            at=pending.at,
        )
        limit = SummaryLimit(
            counter=setting.counter,
            summary_tokens=setting.policy.settings.summary_tokens,
            zone=setting.zone,
        )
        log, summary = ("", "") if at_once else setting.summarise(source, limit)
        checked = validate_summary(log, summary, source, limit)
        return checked.log, checked.summary, checked.method

    def _plan(self, session: Session, fixed: int) -> ContextPlan:
        setting = self._setting
        began = setting.clock()
        planned = plan_context(session, setting.policy, setting.limits, fixed, setting.counter)
        self._planning.append(setting.clock() - began)
        return planned

    def _plan_ahead(self, session: Session) -> FoldRange | None:
        setting = self._setting
        began = setting.clock()
        planned = plan_ahead(session, setting.policy, setting.limits, self._fixed, setting.counter)
        self._planning.append(setting.clock() - began)
        return planned.fold


def _empty_session(recording: Recording, zone: tzinfo) -> Session:
    first = recording.turns[0]
    return Session(
        conversation=recording.name,
        space="",
        epoch=1,
        next_seq=first.first_seq,
        next_turn=first.number,
        view_from=first.first_seq,
        fold_head="",
        summary=None,
        turns=(),
        reductions=(),
        zone=zone,
    )


def _pending_fold(session: Session, fold: FoldRange, due: int) -> _PendingFold:
    return _PendingFold(
        range=fold, due=due, seen=session.next_seq, at=session.turns[-1].messages[-1].at
    )


def _with_turn(state: _SimulatedState, turn: Turn, *, running: int) -> _SimulatedState:
    session = state.session
    before = (
        session.turns[:-1]
        if session.turns and session.turns[-1].number == turn.number
        else session.turns
    )
    now = replace(
        session,
        turns=(*before, turn),
        next_seq=turn.last_seq + 1,
        next_turn=turn.number + 1,
        running=running,
    )
    return replace(state, session=now)


def _apply_reductions(session: Session, made: Sequence[Reduction]) -> Session:
    """Add reductions like the store: the first one of the same part and form stays."""
    known = {(item.message_id, item.part, item.form) for item in session.reductions}
    new = [item for item in made if (item.message_id, item.part, item.form) not in known]
    if not new:
        return session
    order = {message.id: message.seq for turn in session.turns for message in turn.messages}
    new.sort(key=lambda item: (order.get(item.message_id, 0), item.part, item.form))
    return replace(session, reductions=(*session.reductions, *new))
