"""Context windows of models: learnt from servers, their refusals and their counts; stored with
their source.
"""

import asyncio
import hashlib
import json
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import structlog

from bot.errors import Overflow
from bot.models.catalog import UNKNOWN_WINDOW, model_facts
from bot.models.providers.server_window import MIN_WINDOW, ServerFacts, WindowQuestion, ask_facts
from bot.models.providers.transport import is_at_home
from channels.phrases import Phrase
from memory.context.tokens import is_believable
from memory.store.conversations.inbox import ChannelNotes
from memory.store.errors import StoreError

log = structlog.get_logger(__name__)
# tokens, of an unknown model on a private or loopback address that does not say more
HOME_WINDOW = 8_192
MIN_RESERVE = 512  # tokens for an answer, in a small window too
RESERVE_SHARE = 4  # the answer gets at most a fourth of the window
GROWTH = 1.1  # by which our count of a request has grown while the server's has not: it was cut
# A server that cuts whole messages reads now a little less, now a little more.
STOOD_STILL = 1.02
MAX_ASKED = 2  # times in a row without an error; Ollama knows the window once the model is loaded
MAX_COUNTS = 10_000  # conversations whose newest counts are compared
NOTES = "model windows"  # under which the notes are stored

# config: llm.context_window; server: its own word; refusal: the numbers of one; cut: prompts were
# cut silently; table: bot.models.catalog; default: nothing is known.
WindowSource = Literal["config", "server", "refusal", "cut", "table", "default"]
WINDOW_SOURCE_TEXTS: Mapping[WindowSource, Phrase] = {
    "config": Phrase("from llm.context_window"),
    "server": Phrase("as the server says"),
    "refusal": Phrase("as a refusal said"),
    "cut": Phrase("the server silently cut anything longer"),
    "table": Phrase("from the table of models"),
    "default": Phrase("assumed, since nothing is known"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelWindow:
    """The context window of a model, and where the number comes from."""

    tokens: int
    source: WindowSource


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedModel:
    """A model at an endpoint, as it is configured."""

    provider: str
    model: str
    #: "": the provider's own.
    base_url: str = ""
    api_key: str = field(default="", repr=False)
    proxy: str = ""
    #: `llm.context_window` where it holds for this model, else 0.
    configured: int = 0

    @property
    def key(self) -> str:
        return f"{self.base_url or self.provider} {self.model}"

    @property
    def fingerprint(self) -> str:
        """What was learnt is forgotten when this changes."""
        settings = json.dumps([self.provider, self.proxy, self.configured])
        return hashlib.sha256(settings.encode()).hexdigest()[:16]

    @property
    def can_be_asked(self) -> bool:
        return self.provider == "openai" and bool(self.base_url)


@dataclass(frozen=True, slots=True, kw_only=True)
class _LearntWindow:
    """What was learnt of one model."""

    #: See ServedModel.
    fingerprint: str
    tokens: int
    source: WindowSource
    #: What the server said last, 0 for nothing.
    server: int = 0
    #: Requests that it answers at once, 0 if it does not say.
    slots: int = 0


class ModelWindows:
    """The windows of all models.

    The order: `llm.context_window`, the server's own word, the table, a default. A refusal with
    numbers and a request that was cut show that less can be read than was believed: they lower what
    came before, whatever its source.

    Args:
        notes: None to store nothing.
        on_cut: called when a server was found to cut requests silently, with what it reads.
    """

    def __init__(
        self,
        notes: ChannelNotes | None = None,
        on_cut: Callable[[ServedModel, int], None] = lambda served, tokens: None,
    ) -> None:
        self._notes, self.on_cut = notes, on_cut
        self._learnt: dict[str, _LearntWindow] = {}
        #: How often a server was asked about a model since the last error.
        self._asked: dict[str, int] = {}
        #: Request of a conversation at which the server's count was last higher: our count and the
        #: server's.
        self._counts: dict[tuple[str, str], tuple[int, int]] = {}
        self._tasks: set[asyncio.Task[Any]] = set()

    async def load(self, notes: ChannelNotes | None = None) -> None:
        """Load what was stored, here or in other notes."""
        notes = notes or self._notes
        for key, text in (await notes.load(NOTES)).items() if notes is not None else ():
            try:
                self._learnt.setdefault(key, _LearntWindow(**json.loads(text)))
            except (TypeError, ValueError):
                log.warning("a stored window cannot be read", model=key)

    def find(self, served: ServedModel) -> ModelWindow:
        """Return the window of a model."""
        learnt, facts = self._find_learnt(served), model_facts(served.model)
        if served.configured:
            window = ModelWindow(tokens=served.configured, source="config")
        elif learnt is not None:
            return ModelWindow(tokens=learnt.tokens, source=learnt.source)
        elif facts is not None:
            return ModelWindow(tokens=facts.window, source="table")
        else:
            tokens = HOME_WINDOW if is_at_home(served.base_url) else UNKNOWN_WINDOW
            return ModelWindow(tokens=tokens, source="default")
        is_lower = (
            learnt is not None and learnt.source != "server" and learnt.tokens < window.tokens
        )
        return (
            ModelWindow(tokens=learnt.tokens, source=learnt.source)
            if learnt and is_lower
            else window
        )

    def slots(self, served: ServedModel) -> int:
        """Return how many requests a model's server answers at once, by its own word; 0 if it does
        not say.
        """
        learnt = self._find_learnt(served)
        return learnt.slots if learnt is not None else 0

    def ask_soon(self, served: ServedModel, *, has_answered: bool = False) -> None:
        """Ask the server in the background, unless it was asked before.

        Args:
            has_answered: the model has just answered, so that a server which loads it on demand
                knows more now.
        """
        asked = self._asked.get(served.key, 0)
        learnt = self._find_learnt(served)
        is_known = asked > 0 and learnt is not None and learnt.server > 0
        if not served.can_be_asked or asked >= (MAX_ASKED if has_answered else 1) or is_known:
            return
        self._asked[served.key] = asked + 1
        self._start(self.ask(served))

    async def ask(self, served: ServedModel) -> None:
        """Ask the server for its window and learn it; nothing is learnt where it does not
        answer.
        """
        if not served.can_be_asked:
            return
        question = WindowQuestion(
            base_url=served.base_url, model=served.model, api_key=served.api_key, proxy=served.proxy
        )
        word = await ask_facts(question)
        if word.window:
            await self._store(
                served, _after_server_word(self._find_learnt(served), served.fingerprint, word)
            )

    def note_failure(self, served: ServedModel) -> None:
        """Let the server be asked again: it may be another one now, or have another window."""
        self._asked.pop(served.key, None)

    def note_refusal(self, served: ServedModel, counted: int, refusal: Overflow) -> None:
        """Learn the window that a refusal names, if it is lower than what is known.

        Args:
            counted: our count of the request, 0 if it was not counted.
        """
        is_plausible = refusal.limit >= MIN_WINDOW and (
            not counted or is_believable(counted, refusal.actual or refusal.limit)
        )
        if is_plausible and refusal.limit < self.find(served).tokens:
            self._lower(served, refusal.limit, "refusal")

    def note_usage(self, served: ServedModel, conversation: str, counted: int, actual: int) -> bool:
        """Compare the counts of a request with those of earlier ones; return whether the server cut
        it.

        It did where its count has stood still (grown by STOOD_STILL at most), or fallen, while ours
        has grown by more than GROWTH.

        Args:
            counted: our count of the request.
            actual: the server's; 0 if it gave none.
        """
        if not (served.can_be_asked and actual):
            return False
        key = served.key, conversation
        counted_before, actual_before = self._counts.get(key, (0, 0))
        if actual > actual_before * STOOD_STILL or counted < counted_before:
            self._counts.pop(key, None)
            if len(self._counts) >= MAX_COUNTS:
                del self._counts[next(iter(self._counts))]
            self._counts[key] = counted, actual
            return False
        if counted <= counted_before * GROWTH:
            return False
        del self._counts[key]
        read = max(actual_before, actual)
        if read < self.find(served).tokens:
            log.warning(
                "a server cuts requests silently",
                model=served.model,
                counted=counted,
                actual=actual,
            )
            self._lower(served, max(read, MIN_WINDOW), "cut")
            self.on_cut(served, read)
        return True

    def forget_others(self, models: Mapping[str, ServedModel]) -> None:
        """Forget what was learnt of these models under another configuration. models: by their
        keys.
        """
        for key, served in models.items():
            if key in self._learnt and self._find_learnt(served) is None:
                del self._learnt[key]
                self._asked.pop(key, None)
                self._start(self._put(key, ""))

    async def settled(self) -> None:
        """Wait until what is learnt is stored, and no server is being asked."""
        while self._tasks:
            await asyncio.wait(list(self._tasks))

    def _find_learnt(self, served: ServedModel) -> _LearntWindow | None:
        learnt = self._learnt.get(served.key)
        return learnt if learnt is not None and learnt.fingerprint == served.fingerprint else None

    def _lower(self, served: ServedModel, tokens: int, source: WindowSource) -> None:
        """Learn a lower window at once, and store it in the background."""
        before = self._find_learnt(served) or _LearntWindow(
            fingerprint=served.fingerprint, tokens=0, source=source
        )
        learnt = self._learnt[served.key] = replace(before, tokens=tokens, source=source)
        self._start(self._put(served.key, _dump(learnt)))

    async def _store(self, served: ServedModel, learnt: _LearntWindow) -> None:
        if self._learnt.get(served.key) != learnt:
            self._learnt[served.key] = learnt
            await self._put(served.key, _dump(learnt))

    async def _put(self, key: str, text: str) -> None:
        if self._notes is None:
            return
        try:
            await self._notes.put(NOTES, {key: text})
        except StoreError as err:
            log.warning("a window was not stored", model=key, error=type(err).__name__)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._on_done)

    def _on_done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (err := task.exception()) is not None:
            log.error("a window was not learnt", error=type(err).__name__, exc_info=err)


def _after_server_word(
    before: _LearntWindow | None, fingerprint: str, word: ServerFacts
) -> _LearntWindow:
    """Return what is known after the server named its window.

    What it refused or cut stays below its word, until that word changes: then the server was
    started in another way.
    """
    tokens = word.window
    said = _LearntWindow(
        fingerprint=fingerprint, tokens=tokens, source="server", server=tokens, slots=word.slots
    )
    if before is None or before.source == "server" or before.server not in (0, tokens):
        return said
    return replace(before, server=tokens, slots=word.slots) if before.tokens < tokens else said


def _dump(learnt: _LearntWindow) -> str:
    values = {
        name: getattr(learnt, name)
        for name in ("fingerprint", "tokens", "source", "server", "slots")
    }
    return json.dumps(values)


def answer_reserve(window: int, max_output_tokens: int) -> int:
    """Return the tokens of a window to leave for the answer. Pure."""
    return min(max_output_tokens, max(window // RESERVE_SHARE, MIN_RESERVE), window // 2)


def format_window(window: ModelWindow) -> Phrase:
    """Format a window with its source, as "8,192 tokens, from llm.context_window"."""
    source = WINDOW_SOURCE_TEXTS[window.source]
    return Phrase("{tokens:,} tokens, {source}", tokens=window.tokens, source=source)


def format_cut(served: ServedModel, tokens: int) -> Phrase:
    """Format the notice of a server that cuts requests."""
    return Phrase(
        "The server reads only {tokens:,} tokens of a request to {model}, and silently drops "
        "what comes before. From now on requests are no longer than that, and older turns are "
        "folded. If the server can read more, raise the limit there and in llm.context_window.",
        tokens=tokens,
        model=served.model,
    )
