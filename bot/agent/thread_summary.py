"""A conversation's summary for programs that embed the bot: updated by folds, read as a short text."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from bot.agent.context_fitter import fold_range_of_first
from bot.agent.folding import FoldManager
from bot.config.schema import Config
from memory.context.summary import sections
from memory.context.tokens import TokenCounter
from memory.conversation import Session, Turn
from memory.store.conversations.sessions import Sessions
from memory.store.errors import StoreError
from memory.text.language import is_mostly_cjk

SUMMARY_REASON = "summary"
UNREAD_MARK = "[+{count} messages]"
_CHARACTER_COUNTER = TokenCounter(name="characters", text=len)


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryThresholds:
    """When a summary is due, and how long its text may be.

    Source: seed 004, ThreadSummary.
    """

    #: New ones since the last summary, at least.
    messages: int = 10
    #: Of the new ones, more than; 0 to count messages alone.
    tokens: int = 3_000
    #: Of the text that is given. The fold behind it has its own limit, `summary_tokens` of the policy, 1,000 unless
    #: configured.
    characters: int = 500

    def due(self, session: Session) -> bool:
        """Whether so much is new."""
        turns = _finished_turns(session)
        tokens = sum(turn.tokens for turn in turns)
        return _messages_of_turns(turns) >= self.messages or 0 < self.tokens < tokens


class ThreadSummaries:
    """Summaries of conversations, by the folds that the bot makes of them anyway: the fast model's words, checked.

    What is summarised leaves the view as after /context fold, and /context undo brings it back; the newest turn stays.
    No temperature is sent, as with every request of this house. All methods take a conversation's id.
    """

    def __init__(
        self,
        sessions: Sessions,
        folding: FoldManager,
        config: Callable[[], Config],
        counter: Callable[[], Awaitable[TokenCounter]],
        when: SummaryThresholds | None = None,
    ) -> None:
        self._sessions = sessions
        self._folding = folding
        self._config = config
        self._counter = counter
        self._when = when or SummaryThresholds()

    async def get(self, conversation: str) -> str:
        """The summary as it stands, "" while there is none."""
        return self._text(await self._sessions.load(conversation))

    async def is_tainted(self, conversation: str) -> bool:
        """Whether a line of the summary as it stands rests on words from outside, so that it is not to be trusted."""
        summary = (await self._sessions.load(conversation)).summary
        return summary is not None and summary.tainted

    async def update_if_needed(self, conversation: str) -> str:
        """The summary, first brought up to date where enough is new since the last one."""
        session = await self._sessions.load(conversation)
        return await self._updated(session) if self._when.due(session) else self._text(session)

    async def force_update(self, conversation: str) -> str:
        """The summary of all finished turns but the newest; as it stands while there are fewer than two.

        Where it cannot be had (the daily log cannot be written, the view has moved meanwhile), the former text with
        "[+N messages]" for those it does not cover; the fold is taken up again by the next one.
        """
        return await self._updated(await self._sessions.load(conversation))

    async def _updated(self, session: Session) -> str:
        taken = _finished_turns(session)[:-1]
        if not taken:
            return self._text(session)
        policy = session.policy or self._config().context_policy
        plan = fold_range_of_first(session, SUMMARY_REASON, policy, len(taken), await self._counter())
        try:
            row = await self._folding.run(plan)
        except (OSError, StoreError):
            row = None
        if row is not None and row.state == "folded":
            return self._text(await self._sessions.load(session.conversation))
        return "\n".join(filter(None, (self._text(session), UNREAD_MARK.format(count=_messages_of_turns(taken)))))

    def _text(self, session: Session) -> str:
        """The summary in at most so many characters: without its least worth lines, a single long one cut."""
        text, most = session.summary.text if session.summary else "", self._when.characters
        if len(text) <= most:
            return text
        lang = "zh" if is_mostly_cjk(text) else "en"
        kept = sections.render_sections(
            sections.trim_sections(sections.parse_sections(text), lang, _CHARACTER_COUNTER, most), lang
        )
        return kept or f"{text[: most - 1]}…"


def _finished_turns(session: Session) -> list[Turn]:
    return [turn for turn in session.turns if turn.number != session.running]


def _messages_of_turns(turns: list[Turn]) -> int:
    return sum(len(turn.messages) for turn in turns)
