"""Runs a recorded conversation through one policy: what each request of it would have shown, and what was folded.

Nothing is asked of a model: plans and views are those of the running bot, the answers are the recorded ones.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from time import perf_counter

from bot.agent.context_fitter import MAX_FIT_ROUNDS
from bot.agent.prompt import format_clock_note
from bot.cli.replay.recording import Recording, ReplayProbe, model_call_positions, recording_start
from memory.context.message_rules import find_faults
from memory.context.policies.planner import ContextLimits, ContextPlan, FoldRange, plan_ahead, plan_context
from memory.context.policies.policies import Policy
from memory.context.summary.validation import FoldSource, SummaryLimit, validate_summary
from memory.context.tokens import MESSAGE_TOKENS, TokenCounter
from memory.context.view import ContextView, ViewTokens, assemble_view, fixed_tokens
from memory.conversation import Message, Part, Reduction, Session, Summary, Text, Turn
from memory.folding import MAX_STEPS_BACK

# How much of a request stands word for word at the beginning of the one before it: what a provider's cache repeats.

PrefixPiece = tuple[int, Part]  # a part, and 1 where it begins a message, 2 where that is a model's, else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestPrefix:
    """A request as its pieces."""

    #: Tokens of system and tools, which stand before them.
    head: int
    pieces: tuple[PrefixPiece, ...]
    #: How many pieces belong to the kept turns.
    stable: int


class PrefixComparer:
    """Compares requests; a part is counted once however often it is shown."""

    def __init__(self, counter: TokenCounter) -> None:
        self._counter = counter
        self._known: dict[Part, int] = {}

    def prefix(self, view: ContextView) -> RequestPrefix:
        """The pieces of a view."""
        pieces: list[PrefixPiece] = []
        stable = 0
        for place, message in enumerate(view.shown):
            opening = 2 if message.role == "assistant" else 1
            pieces += [(0 if number else opening, part) for number, part in enumerate(message.parts)]
            stable = len(pieces) if place < view.stable else stable
        return RequestPrefix(head=view.tokens.system + view.tokens.tools, pieces=tuple(pieces), stable=stable)

    def common(self, before: RequestPrefix | None, now: RequestPrefix) -> int:
        """Tokens that both begin with; 0 where there is none before."""
        if before is None:
            return 0
        return now.head + sum(self._tokens(piece) for piece in now.pieces[: _common_length(before, now)])

    def broken(self, before: RequestPrefix, now: RequestPrefix) -> bool:
        """Whether not all of the kept turns of the one before are repeated."""
        return _common_length(before, now) < before.stable

    def _tokens(self, piece: PrefixPiece) -> int:
        opening, part = piece
        if part not in self._known:
            self._known[part] = self._counter.parts((part,))
        return self._known[part] + (MESSAGE_TOKENS if opening else 0)


def _common_length(before: RequestPrefix, now: RequestPrefix) -> int:
    """How many pieces both begin with."""
    count = 0
    for one, other in zip(before.pieces, now.pieces, strict=False):
        if one != other:
            break
        count += 1
    return count


# The log and the summary that a model would write; two empty texts, and the digest stands in.
Summarise = Callable[[FoldSource, SummaryLimit], tuple[str, str]]


def never_summarise(material: FoldSource, limit: SummaryLimit) -> tuple[str, str]:
    """Nobody writes summaries."""
    return "", ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplaySetting:
    """What a conversation is run under."""

    policy: Policy
    limits: ContextLimits
    counter: TokenCounter
    #: How many requests a fold begun in the background is still waited for; 0: it is there at the next one.
    late: int = 0
    #: Of the clock in requests and logs.
    zone: tzinfo = UTC
    summarise: Summarise = never_summarise
    #: Seconds, for how long planning takes.
    clock: Callable[[], float] = perf_counter


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedFold:
    """A fold that took effect."""

    #: The number of the first request after it.
    request: int
    range: FoldRange
    #: No model could be waited for.
    at_once: bool
    method: str
    #: Tokens of what it took and of the summary.
    before: int
    #: Tokens of what it took and of the summary.
    after: int
    #: Its texts; method as in the store.
    log: str
    #: Its texts; method as in the store.
    summary: str
    replaced: str
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedRequest:
    """One model call."""

    number: int
    turn: int
    #: Of its view.
    tokens: ViewTokens
    #: How many of them stand, byte for byte, at its beginning and at that of the request before.
    common: int
    #: Whether the kept turns of that one are not all repeated.
    broke: bool
    #: Tokens of the recorded answer.
    output: int
    #: When it was sent.
    at: datetime
    folds: int
    #: Recorded for it.
    reductions: int
    #: What a provider would refuse.
    faults: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeView:
    """A probe as it was put: the view it met, the folds before it, the turns said by then."""

    probe: ReplayProbe
    view: ContextView
    folds: tuple[SimulatedFold, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayOutcome:
    """All that became of a recording under one setting."""

    setting: ReplaySetting
    requests: tuple[SimulatedRequest, ...]
    folds: tuple[SimulatedFold, ...]
    #: Seconds of each plan.
    planning: tuple[float, ...]
    #: In the probes' order.
    asked: tuple[ProbeView, ...]

    @property
    def over(self) -> int:
        """Requests that do not fit the budget."""
        return sum(request.tokens.total > self.setting.limits.budget for request in self.requests)

    @property
    def invalid(self) -> int:
        """Requests that a strict provider would refuse."""
        return sum(bool(request.faults) for request in self.requests)


@dataclass(frozen=True, slots=True, kw_only=True)
class _PendingFold:
    """A fold that is planned."""

    range: FoldRange
    #: The number of the request from which on it is there.
    due: int
    #: See Summary.
    seen: int
    #: Of the newest message then.
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class _SimulatedState:
    """How a conversation stands between two steps."""

    session: Session
    folds: tuple[SimulatedFold, ...] = ()
    begun: _PendingFold | None = None
    #: Reductions recorded so far.
    reduced: int = 0


# What a fold's texts are made from: the folds before it, and its plan.
_Task = tuple[tuple[SimulatedFold, ...], _PendingFold]
_Texts = tuple[str, str, str]  # log, summary and method


def simulate_recording(recording: Recording, setting: ReplaySetting) -> ReplayOutcome:
    """Every request of the recording, in order; deterministic but for the planning times.

    Args:
        recording: counted with the setting's counter.
    """
    return _Simulation(recording, setting).whole()


class _Simulation:
    def __init__(self, recording: Recording, setting: ReplaySetting) -> None:
        self._recording, self._setting = recording, setting
        self._system, self._tools = recording.system, recording.tools
        self._fixed = fixed_tokens(self._system, self._tools, "", setting.counter)
        self._repeats = PrefixComparer(setting.counter)
        self._before: RequestPrefix | None = None
        self._requests: list[SimulatedRequest] = []
        self._planning: list[float] = []
        self._written: dict[bool, tuple[_Task, _Texts]] = {}

    def whole(self) -> ReplayOutcome:
        """Turn by turn."""
        standing = _SimulatedState(session=_empty_session(self._recording))
        probes: dict[int, list[ReplayProbe]] = {}
        for probe in self._recording.probes:
            probes.setdefault(probe.after, []).append(probe)
        asked: dict[ReplayProbe, ProbeView] = {}
        for turn in self._recording.turns:
            for place in model_call_positions(turn):
                standing = self._request(standing, turn, place)
            standing = self._ended(standing, turn)
            asked |= {probe: self._ask(standing, probe) for probe in probes.get(turn.number, ())}
        return ReplayOutcome(
            setting=self._setting,
            requests=tuple(self._requests),
            folds=standing.folds,
            planning=tuple(self._planning),
            asked=tuple(asked[probe] for probe in self._recording.probes),
        )

    def _request(self, standing: _SimulatedState, turn: Turn, place: int) -> _SimulatedState:
        tail = self._tail(turn)
        fitted = self._fit(_with_running_turn(standing, turn, place), tail, len(self._requests))
        view = assemble_view(fitted.session, self._system, self._tools, self._setting.counter, tail)
        prefix = self._repeats.prefix(view)
        common = min(self._repeats.common(self._before, prefix), view.tokens.total)
        self._requests.append(
            SimulatedRequest(
                number=len(self._requests),
                turn=turn.number,
                tokens=view.tokens,
                common=common,
                broke=self._before is not None and self._repeats.broken(self._before, prefix),
                output=turn.messages[place].tokens,
                at=turn.messages[place - 1].at,
                folds=len(fitted.folds) - len(standing.folds),
                reductions=fitted.reduced - standing.reduced,
                faults=tuple(find_faults(view.shown)),
            )
        )
        self._before = prefix
        return fitted

    def _ended(self, standing: _SimulatedState, turn: Turn) -> _SimulatedState:
        """The turn is over, and the fold that the next one will want is begun."""
        ended = _with_turn(standing, turn, running=0)
        return self._begin(ended, self._ahead(ended.session), len(self._requests))

    def _ask(self, standing: _SimulatedState, probe: ReplayProbe) -> ProbeView:
        """Put a question beside the conversation; nothing of it stays."""
        last = standing.session.turns[-1].messages[-1] if standing.session.turns else None
        at = last.at if last else recording_start(self._recording)
        parts = (Text(text=probe.question),)
        number, seq = standing.session.next_turn, standing.session.next_seq
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
        timed = len(self._planning)
        fitted = self._fit(_with_turn(standing, turn, running=number), self._tail(turn), len(self._requests))
        del self._planning[timed:]
        view = assemble_view(fitted.session, self._system, self._tools, counter)
        return ProbeView(probe=probe, view=view, folds=fitted.folds)

    def _tail(self, turn: Turn) -> str:
        return format_clock_note(turn.messages[0].at.astimezone(self._setting.zone))

    def _fit(self, standing: _SimulatedState, tail: str, number: int) -> _SimulatedState:
        """As the bot does before it asks: what is ready is taken, then planned until nothing changes."""
        if standing.begun and standing.begun.due <= number:
            standing = self._folded(standing, standing.begun, number, at_once=False)
        fixed = self._fixed + self._setting.counter.text(tail)
        for _ in range(MAX_FIT_ROUNDS):
            planned = self._plan(standing.session, fixed)
            after = self._carried_out(standing, planned, number)
            if after.session is standing.session:
                return after
            standing = after
        return standing

    def _carried_out(self, standing: _SimulatedState, planned: ContextPlan, number: int) -> _SimulatedState:
        """What does not fit first gets the fold that is under way; it may be all that is needed."""
        if not planned.fitted and standing.begun:
            return self._folded(standing, standing.begun, number, at_once=True)
        session = _apply_reductions(standing.session, planned.reductions)
        added = len(session.reductions) - len(standing.session.reductions)
        standing = replace(standing, session=session, reduced=standing.reduced + added)
        if planned.fold is None:
            return standing
        if not planned.must_fold_now:
            return self._begin(standing, planned.fold, number + 1)
        begun = standing.begun or _to_fold_row(session, planned.fold, number)
        return self._folded(standing, begun, number, at_once=True)

    def _begin(self, standing: _SimulatedState, fold: FoldRange | None, next_request: int) -> _SimulatedState:
        """In the background, unless one is under way."""
        if fold is None or standing.begun:
            return standing
        return replace(standing, begun=_to_fold_row(standing.session, fold, next_request + self._setting.late))

    def _folded(self, standing: _SimulatedState, begun: _PendingFold, number: int, *, at_once: bool) -> _SimulatedState:
        session = standing.session
        gone = [turn for turn in session.turns if turn.last_seq <= begun.range.to_seq]
        messages = tuple(message for turn in gone for message in turn.messages)
        log, summary, method = self._once(standing, begun, messages, at_once=at_once)
        counter = self._setting.counter
        done = SimulatedFold(
            request=number,
            range=begun.range,
            at_once=at_once,
            method=method,
            before=sum(message.tokens for message in messages),
            after=counter.text(summary),
            log=log,
            summary=summary,
            replaced=session.summary.text if session.summary else "",
            messages=messages,
        )
        folds = (*standing.folds, done)
        covered = (session.summary.turns if session.summary else 0) + len(gone)
        id = f"f{len(folds)}"
        left = {message.id for turn in session.turns[len(gone) :] for message in turn.messages}
        moved = replace(
            session,
            turns=session.turns[len(gone) :],
            fold_head=id,
            summary=Summary(fold_id=id, turns=covered, text=summary, tokens=done.after, seen=begun.seen),
            reductions=tuple(item for item in session.reductions if item.message_id in left),
        )
        return replace(standing, session=moved, folds=folds, begun=None)

    def _once(
        self, standing: _SimulatedState, begun: _PendingFold, messages: tuple[Message, ...], *, at_once: bool
    ) -> _Texts:
        """The texts of a fold; all probes after one turn, and the request after them, meet the same one."""
        task = (standing.folds, begun)
        known = self._written.get(at_once)
        if known is None or known[0] != task:
            known = self._written[at_once] = (task, self._texts(standing, begun, messages, at_once=at_once))
        return known[1]

    def _texts(
        self, standing: _SimulatedState, begun: _PendingFold, messages: tuple[Message, ...], *, at_once: bool
    ) -> _Texts:
        """Log, summary and method, made and checked as a fold of the bot makes them."""
        back: list[SimulatedFold] = []
        for fold in reversed(standing.folds[-MAX_STEPS_BACK:]):
            if fold.method == "model":
                break
            back.insert(0, fold)
        setting, rest = self._setting, standing.folds[: len(standing.folds) - len(back)]
        material = FoldSource(
            before=rest[-1].summary if rest else "",
            replaced=0,
            earlier=tuple(message for fold in back for message in fold.messages),
            turns=messages,
            at=begun.at,
        )
        limit = SummaryLimit(
            counter=setting.counter, summary_tokens=setting.policy.numbers.summary_tokens, zone=setting.zone
        )
        log, summary = ("", "") if at_once else setting.summarise(material, limit)
        checked = validate_summary(log, summary, material, limit)
        return checked.log, checked.summary, checked.method

    def _plan(self, session: Session, fixed: int) -> ContextPlan:
        setting = self._setting
        begun = setting.clock()
        planned = plan_context(session, setting.policy, setting.limits, fixed, setting.counter)
        self._planning.append(setting.clock() - begun)
        return planned

    def _ahead(self, session: Session) -> FoldRange | None:
        """The fold that the next message will want."""
        setting = self._setting
        begun = setting.clock()
        ahead = plan_ahead(session, setting.policy, setting.limits, self._fixed, setting.counter)
        self._planning.append(setting.clock() - begun)
        return ahead.fold


def _empty_session(recording: Recording) -> Session:
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
    )


def _to_fold_row(session: Session, fold: FoldRange, due: int) -> _PendingFold:
    return _PendingFold(range=fold, due=due, seen=session.next_seq, at=session.turns[-1].messages[-1].at)


def _with_running_turn(standing: _SimulatedState, turn: Turn, place: int) -> _SimulatedState:
    """The turn runs, and its first `place` messages are there."""
    return _with_turn(standing, replace(turn, messages=turn.messages[:place]), running=turn.number)


def _with_turn(standing: _SimulatedState, turn: Turn, *, running: int) -> _SimulatedState:
    session = standing.session
    before = session.turns[:-1] if session.turns and session.turns[-1].number == turn.number else session.turns
    now = replace(
        session,
        turns=(*before, turn),
        next_seq=turn.last_seq + 1,
        next_turn=turn.number + 1,
        running=running,
    )
    return replace(standing, session=now)


def _apply_reductions(session: Session, made: Sequence[Reduction]) -> Session:
    """Recorded as the store does: of the same part and form the first one stays."""
    known = {(item.message_id, item.part, item.form) for item in session.reductions}
    new = [item for item in made if (item.message_id, item.part, item.form) not in known]
    if not new:
        return session
    order = {message.id: message.seq for turn in session.turns for message in turn.messages}
    new.sort(key=lambda item: (order.get(item.message_id, 0), item.part, item.form))
    return replace(session, reductions=(*session.reductions, *new))
