"""A conversation in memory that compacts itself by a policy, for programs that do not use the
bot.
"""

from collections import Counter as Tally
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo
from types import MappingProxyType

from memory.context.message_rules import NO_RESULT
from memory.context.policies.planner import (
    ContextLimits,
    FoldRange,
    min_budget,
    plan_ahead,
    plan_context,
)
from memory.context.policies.policies import DEFAULT, POLICIES, build_policy
from memory.context.summary.prompt import FoldTexts
from memory.context.summary.validation import (
    FoldSource,
    SummaryLimit,
    ValidatedSummary,
    validate_summary,
)
from memory.context.tokens import MESSAGE_TOKENS, TokenCounter, load_o200k_counter
from memory.context.view import ContextView, ViewTokens, assemble_view, fixed_tokens
from memory.conversation import (
    Message,
    Part,
    Reduction,
    Role,
    Session,
    ShownMessage,
    Summary,
    Text,
    ToolCall,
    ToolResult,
    ToolSpec,
    Turn,
)

# Returns the log and the summary of a fold, None for the digest; `SummaryWriter.write` of
# memory.folding is one.
Summarise = Callable[[FoldSource], Awaitable[FoldTexts | None]]

START = datetime(1970, 1, 1, tzinfo=UTC)  # of messages without a time
INTERVAL = timedelta(seconds=1)  # between messages without a time
MAX_ROUNDS = 6  # per request; each reduction or fold is planned again
MAX_STEPS_BACK = 4  # digests before a fold that are written again from their messages


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextUsage:
    """The size of the next request."""

    tokens: int
    max_tokens: int
    #: By part.
    parts: ViewTokens
    #: Turns in the view; those that are folded do not count.
    turns: int
    #: Messages in the view, by role.
    roles: Mapping[Role, int]
    #: Characters of the texts in the view.
    characters: int

    @property
    def share(self) -> float:
        """Tokens as a share of the maximum, 0 to 1."""
        return self.tokens / self.max_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldedTurns:
    """Turns that the summary has replaced."""

    first_turn: int
    last_turn: int
    reason: str
    #: Who wrote the texts: "model" or "extract".
    method: str
    #: What was said, for a diary.
    log: str
    #: The messages as they were added. The manager soon forgets them.
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction:
    """What one call of `compact` changed."""

    tokens_before: int
    tokens_after: int
    folds: tuple[FoldedTurns, ...]
    #: Message parts that are shown shorter from now on.
    reductions: tuple[Reduction, ...]

    @property
    def ratio(self) -> float:
        """Tokens after as a share of the tokens before."""
        return self.tokens_after / self.tokens_before if self.tokens_before else 1.0


class ContextManager:
    """Collects messages and shows a model as many of them as its budget allows.

    `messages` is never larger than the budget and always valid for the strictest provider; the
    system parts and the running turn's question are never folded. Nothing is stored: keep
    `Compaction.folds` if the originals matter.

    Args:
        policy: a name of memory.context.policies.policies.POLICIES.
        max_tokens: of a request: system parts, tools and messages.
        settings: numbers of the policy that differ from its defaults, see PolicySettings.
        counter: o200k by default; loading it takes 0.3 s once.
        summarise: writes summaries; without it they are digests, which quote the messages.
        zone: of the times in logs.

    Raises:
        ValueError: there is no such policy, or the budget is too small for system parts and tools.
    """

    def __init__(
        self,
        *,
        policy: str = DEFAULT,
        max_tokens: int = 50_000,
        max_turns: int = 20,
        settings: Mapping[str, float] = MappingProxyType({}),
        system: Sequence[str] = (),
        tools: Sequence[ToolSpec] = (),
        counter: TokenCounter | None = None,
        summarise: Summarise | None = None,
        zone: tzinfo = UTC,
    ) -> None:
        if policy not in POLICIES:
            raise ValueError(f"there is no policy {policy!r}; there are {', '.join(POLICIES)}")
        self._policy = build_policy(policy, {policy: settings})
        self._system, self._tools = tuple(system), tuple(tools)
        self._counter = counter or load_o200k_counter()
        self._summarise = summarise
        self._zone = zone
        self._limits = ContextLimits(
            max_tokens=max_tokens, max_turns=max_turns, window=max_tokens, reserve=0
        )
        least = min_budget(fixed_tokens(self._system, self._tools, "", self._counter))
        if max_tokens < least:
            raise ValueError(
                f"max_tokens is {max_tokens}; with this system prompt and tools at least {least} "
                "are needed"
            )
        self._session = Session(
            conversation="",
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
        self._folds: list[tuple[FoldedTurns, Summary]] = []
        self._compacting = False
        self._last_at = START - INTERVAL

    @property
    def summary(self) -> str:
        """The text that stands for all folded turns, "" before the first fold."""
        return self._session.summary.text if self._session.summary else ""

    def add(self, role: Role, *content: str | Part, at: datetime | None = None) -> Message:
        """Append a message. A user message without tool results begins a turn.

        Args:
            content: texts and other parts.
            at: when it was written; without it, a second after the message before.

        Raises:
            ValueError: it has no content, answers a call that is not open, or the model speaks
                first.
        """
        parts = tuple(Text(text=item) if isinstance(item, str) else item for item in content)
        results = [part.call_id for part in parts if isinstance(part, ToolResult)]
        if not parts:
            raise ValueError("a message needs content")
        if unknown := [id for id in results if id not in self._open_calls()]:
            raise ValueError(f"there are no open calls {unknown}")
        begins = role == "user" and not results
        if not begins and not self._session.turns:
            raise ValueError("a turn begins with a message of the user")
        if not results:
            self._end_open_calls(at)
        return self._append(role, parts, at, begins=begins)

    def _end_open_calls(self, at: datetime | None) -> None:
        """Give the calls that are never answered a result that says so."""
        if open_calls := self._open_calls():
            lost = tuple(ToolResult(call_id=id, text=NO_RESULT, is_error=True) for id in open_calls)
            self._append("user", lost, at, begins=False)

    def messages(self) -> tuple[ShownMessage, ...]:
        """Return the messages of the next request.

        What does not fit and was not compacted in time is folded with the digest now; no model is
        waited for.
        """
        return self.view().shown

    def view(self) -> ContextView:
        """Return the next request with its system parts, tools and token counts; see `messages`."""
        self._fit()
        return assemble_view(self._session, self._system, self._tools, self._counter)

    def usage(self) -> ContextUsage:
        """Return the size of what would be shown now, which may be over the budget until it is
        asked for.
        """
        view = assemble_view(self._session, self._system, self._tools, self._counter)
        texts = (
            part.text for shown in view.shown for part in shown.parts if isinstance(part, Text)
        )
        return ContextUsage(
            tokens=view.tokens.total,
            max_tokens=self._limits.max_tokens,
            parts=view.tokens,
            turns=len(self._session.turns),
            roles=Tally(shown.role for shown in view.shown),
            characters=sum(map(len, texts)),
        )

    async def compact(self) -> Compaction:
        """Do what the policy wants before the next request, with summaries by `summarise`.

        Messages may be added meanwhile. While another call runs, only what is over the budget is
        compacted.
        """
        before, known, done = (
            self.usage().tokens,
            set(self._session.reductions),
            list[FoldedTurns](),
        )
        if not self._compacting:
            self._compacting = True
            try:
                done += await self._compact_by_policy()
            finally:
                self._compacting = False
        done += self._fit()
        return Compaction(
            tokens_before=before,
            tokens_after=self.usage().tokens,
            folds=tuple(done),
            reductions=tuple(item for item in self._session.reductions if item not in known),
        )

    async def _compact_by_policy(self) -> list[FoldedTurns]:
        done: list[FoldedTurns] = []
        for _ in range(MAX_ROUNDS):
            session = self._session
            planned = plan_context(
                session, self._policy, self._limits, self._fixed(), self._counter
            )
            self._apply_reductions(planned.reductions)
            fold = planned.fold or self._fold_after_turn()
            if fold:
                source = self._source(fold)
                texts = await self._summarise(source) if self._summarise else None
                done += self._commit(fold, source, texts)
            if self._session is session:
                break
        return done

    def _fold_after_turn(self) -> FoldRange | None:
        """Return what the policy folds once a turn has ended."""
        if self._session.running:
            return None
        return plan_ahead(
            self._session, self._policy, self._limits, self._fixed(), self._counter
        ).fold

    def _fit(self) -> list[FoldedTurns]:
        """Make the view fit without a model."""
        done: list[FoldedTurns] = []
        for _ in range(MAX_ROUNDS):
            session = self._session
            planned = plan_context(
                session, self._policy, self._limits, self._fixed(), self._counter
            )
            self._apply_reductions(planned.reductions)
            if planned.fold and planned.must_fold_now:
                done += self._commit(planned.fold, self._source(planned.fold), None)
            if self._session is session:
                break
        return done

    def _source(self, fold: FoldRange) -> FoldSource:
        """Collect the fold's messages, and those of the digests before it, which are written
        again.
        """
        turns = tuple(
            message
            for turn in self._session.turns
            if turn.number <= fold.to_turn
            for message in turn.messages
        )
        digests: list[FoldedTurns] = []
        for folded, _ in reversed(self._folds[-MAX_STEPS_BACK:]):
            if folded.method == "model":
                break
            digests.insert(0, folded)
        rest = self._folds[: len(self._folds) - len(digests)]
        return FoldSource(
            before=rest[-1][1].text if rest else "",
            replaced=self._session.summary.tokens if self._session.summary else 0,
            earlier=tuple(message for folded in digests for message in folded.messages),
            turns=turns,
            at=self._session.turns[-1].messages[-1].at,
        )

    def _commit(
        self, fold: FoldRange, source: FoldSource, texts: FoldTexts | None
    ) -> list[FoldedTurns]:
        """Replace the turns by their summary; nothing if they have left the view meanwhile."""
        session = self._session
        if not session.turns or session.turns[0].first_seq != fold.from_seq:
            return []
        checked = self._validate(source, texts)
        gone = [turn for turn in session.turns if turn.number <= fold.to_turn]
        left = session.turns[len(gone) :]
        ids = {message.id for turn in left for message in turn.messages}
        summary = Summary(
            fold_id=f"f{fold.to_seq}",
            turns=(session.summary.turns if session.summary else 0) + len(gone),
            text=checked.summary,
            tokens=self._counter.text(checked.summary),
            seen=session.next_seq,
        )
        folded = FoldedTurns(
            first_turn=fold.from_turn,
            last_turn=fold.to_turn,
            reason=fold.reason,
            method=checked.method,
            log=checked.log,
            messages=source.turns,
        )
        self._folds = [*self._folds[-MAX_STEPS_BACK:], (folded, summary)]
        self._session = replace(
            session,
            turns=left,
            summary=summary,
            fold_head=summary.fold_id,
            reductions=tuple(item for item in session.reductions if item.message_id in ids),
        )
        return [folded]

    def _validate(self, source: FoldSource, texts: FoldTexts | None) -> ValidatedSummary:
        limit = SummaryLimit(
            counter=self._counter,
            summary_tokens=self._policy.settings.summary_tokens,
            zone=self._zone,
        )
        log, summary = (texts.log, texts.summary) if texts else ("", "")
        return validate_summary(log, summary, source, limit)

    def _apply_reductions(self, made: Sequence[Reduction]) -> None:
        known = {(item.message_id, item.part, item.form) for item in self._session.reductions}
        new = tuple(item for item in made if (item.message_id, item.part, item.form) not in known)
        if new:
            self._session = replace(self._session, reductions=(*self._session.reductions, *new))

    def _fixed(self) -> int:
        """Return the tokens beside the turns; an open call is shown with a result that says it has
        none.
        """
        lost = tuple(
            ToolResult(call_id=id, text=NO_RESULT, is_error=True) for id in self._open_calls()
        )
        return fixed_tokens(self._system, self._tools, "", self._counter) + (
            MESSAGE_TOKENS + self._counter.parts(lost) if lost else 0
        )

    def _open_calls(self) -> list[str]:
        """Return the ids of the newest calls that have no result yet."""
        messages = self._session.turns[-1].messages if self._session.turns else ()
        answered: set[str] = set()
        for message in reversed(messages):
            if message.role == "assistant":
                calls = [part.id for part in message.parts if isinstance(part, ToolCall)]
                return [id for id in calls if id not in answered]
            answered |= {part.call_id for part in message.parts if isinstance(part, ToolResult)}
        return []

    def _append(
        self, role: Role, parts: tuple[Part, ...], at: datetime | None, *, begins: bool
    ) -> Message:
        session = self._session
        number = session.next_turn if begins else session.turns[-1].number
        message = Message(
            id=f"m{session.next_seq}",
            seq=session.next_seq,
            turn=number,
            role=role,
            parts=parts,
            at=at or self._last_at + INTERVAL,
            tokens=self._counter.message(parts),
            counter=self._counter.name,
        )
        self._last_at = message.at
        before = session.turns if begins else session.turns[:-1]
        earlier = () if begins else session.turns[-1].messages
        answered = role == "assistant" and not any(isinstance(part, ToolCall) for part in parts)
        self._session = replace(
            session,
            turns=(*before, Turn(number=number, messages=(*earlier, message))),
            next_seq=message.seq + 1,
            next_turn=number + 1,
            running=0 if answered else number,
        )
        return message
