"""The test of a model before it is used: address, key, answer, streaming, tools, sight, thinking,
window.
"""

import asyncio
import hashlib
import re
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from bot.errors import (
    Damaged,
    KeyRefused,
    ModelError,
    NoSuchModel,
    QuotaSpent,
    RateLimited,
    Stalled,
)
from bot.models.base import CLOCK_TOOL, Answer, Request, ThinkingDelta
from bot.models.providers.accounts import (
    ProviderAccount,
    ProviderModel,
    effective_provider,
    open_provider,
)
from bot.models.providers.failures import server_words
from bot.models.providers.offline import OfflinePassage
from bot.models.providers.openai import OpenAIModel
from bot.models.providers.server_window import ServerFacts, WindowQuestion, ask_facts
from bot.models.providers.transport import TimedStream, Timeouts, is_at_home
from bot.models.setup.listing import (
    LIST_SECONDS,
    UNTYPABLE_KEY,
    ModelListing,
    effective_base_url,
    key_text,
    list_models,
    read_connection_fault,
)
from bot.models.setup.presets import find_preset
from bot.models.windows import ModelWindow, ModelWindows, ServedModel, format_window
from bot.telemetry.log import LogRedactor
from bot.texts import failure_reason
from channels.phrases import (
    NO_PHRASE,
    AnyPhrase,
    Phrase,
    PhraseList,
    ShownPhrase,
    join_phrases,
    join_sentences,
)
from memory.conversation import Image, ShownMessage, Text, ToolCall

CheckId = Literal["address", "key", "answer", "streaming", "tools", "sight", "thinking", "window"]
CheckState = Literal["ok", "failed", "unknown", "no"]
# without one of them a model is of no use
NEEDED: tuple[CheckId, ...] = ("address", "key", "answer")
# How a state is shown in a line of text.
STATE_MARKS: Mapping[CheckState, str] = {"ok": "✓", "failed": "✗", "no": "–", "unknown": "?"}
# A server at home may load the model first.
LIMITS = Timeouts(first=60.0, gap=30.0)
HOME_LIMITS = Timeouts(first=300.0, gap=60.0)
TEST_SECONDS, HOME_TEST_SECONDS = 90.0, 300.0  # of the whole test
MAX_TOKENS = 512  # of an answer: models that think need some before it
MAX_NAMED_MODELS = 5
SMALL_WINDOW = 8_192  # tokens, below which a conversation is folded all the time
PICTURE_PIXELS = 64  # wide and high; some models refuse pictures below 28
_RED = re.compile(r"\bred\b|红", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCheck:
    """The result of one check."""

    id: CheckId
    #: no: the model cannot do it, and works without; unknown: the test did not show it.
    state: CheckState
    #: One sentence.
    text: AnyPhrase


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReport:
    """The results of a test, up to the first failure."""

    checks: tuple[ModelCheck, ...]
    #: None if the test failed before.
    window: ModelWindow | None = None
    #: What the server said of a refusal, without secrets; only its owner reads it.
    server_words: str = ""
    #: The model's thinking comes as text, between tags.
    thinks_in_tags: bool = False

    def state(self, id: CheckId) -> CheckState:
        """Return the state of a check; "unknown" for one that was not made."""
        return next((check.state for check in self.checks if check.id == id), "unknown")

    @property
    def is_usable(self) -> bool:
        return all(self.state(id) == "ok" for id in NEEDED)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Trial:
    """The result of the request with a tool."""

    answer: Answer
    has_thought: bool
    #: The server's words when it refused tools; "" if it takes them.
    tools_refused: str = ""
    is_streamed: bool = True
    thinks_in_tags: bool = False


async def check_model(
    account: ProviderAccount, model: str, seconds: float | None = None
) -> ModelReport:
    """Send a model one request with a tool and, if it may see, one with a picture; a failure ends
    the test.

    Args:
        account: its key is sent to its address only.
        seconds: limit of the whole test; None for the usual one.
    """
    hide = LogRedactor([account.api_key])
    if effective_provider(account) == "offline":
        text = Phrase("There is no key yet.")
        return ModelReport(checks=(ModelCheck(id="key", state="failed", text=text),))
    if seconds is None:
        at_home = is_at_home(effective_base_url(account))
        seconds = HOME_TEST_SECONDS if at_home else TEST_SECONDS
    client = open_provider(account, blobs=lambda sha256: RED_PICTURE, recall=_find_nothing)
    try:
        report = await _ModelTest(client, account, model, seconds).run()
    finally:
        await client.close()
    checks = tuple(
        replace(check, text=ShownPhrase(*(hide(check.text.text(lang)) for lang in ("en", "zh"))))
        for check in report.checks
    )
    return replace(report, checks=checks, server_words=hide(report.server_words))


class _ModelTest:
    """One test of a model.

    Args:
        client: of the account.
        seconds: after which the test ends with what it has found.
    """

    def __init__(
        self, client: ProviderModel, account: ProviderAccount, model: str, seconds: float
    ) -> None:
        self._client = client
        self._account = account
        self._model = model
        self._base_url = effective_base_url(account)
        self._clock = asyncio.get_running_loop().time
        self._deadline = self._clock() + seconds

    async def run(self) -> ModelReport:
        facts_task = asyncio.create_task(self._ask_facts())
        try:
            trial = await self._try_tool()
            facts = await facts_task
        except ModelError as err:
            return await self._explain_failure(err)
        finally:
            facts_task.cancel()
            await asyncio.wait([facts_task])
        window = _find_window(self._account, self._model, facts)
        sight, words = await self._check_sight(facts)
        checks = (
            ADDRESS_OK,
            KEY_OK,
            _check_answer(trial),
            _check_streaming(trial),
            _check_tools(trial),
            sight,
            _check_thinking(trial),
            _check_window(window, self._account),
        )
        return ModelReport(
            checks=checks,
            window=window,
            server_words=trial.tools_refused or words,
            thinks_in_tags=trial.thinks_in_tags,
        )

    async def _ask_facts(self) -> ServerFacts:
        """Return what the server says of the model; of Anthropic's, what its list says."""
        account, seconds = self._account, min(LIST_SECONDS, self._seconds_left())
        if account.provider == "anthropic":
            listed = (await list_models(account, seconds)).find(self._model)
            return ServerFacts(sees=listed.sees, window=listed.window) if listed else ServerFacts()
        question = WindowQuestion(
            base_url=self._base_url,
            model=self._model,
            api_key=account.api_key,
            proxy=account.proxy,
        )
        return await ask_facts(question, seconds)

    async def _try_tool(self) -> _Trial:
        request = Request(
            model=self._model,
            system=("Call the tool `now` once to learn the time.",),
            messages=(ShownMessage(role="user", parts=(Text(text="What time is it?"),)),),
            tools=(CLOCK_TOOL,),
            max_tokens=MAX_TOKENS,
        )
        answer, has_thought = await self._ask(request)
        if not isinstance(self._client, OpenAIModel):
            return _Trial(answer=answer, has_thought=has_thought)
        quirks = self._client.quirks(self._model)
        return _Trial(
            answer=answer,
            has_thought=has_thought or bool(quirks.thinking),
            tools_refused=quirks.tools_refused,
            is_streamed=quirks.streams is not False,
            thinks_in_tags=quirks.thinking == "tags",
        )

    async def _ask(self, request: Request) -> tuple[Answer, bool]:
        """Return an answer, and whether the model thought first."""
        limits = HOME_LIMITS if is_at_home(self._base_url) else LIMITS
        limits, has_thought = replace(limits, step=self._seconds_left()), False
        async with TimedStream(self._client.stream(request), limits) as events:
            async for event in events:
                has_thought = has_thought or isinstance(event, ThinkingDelta)
                if isinstance(event, Answer):
                    return event, has_thought or event.only_thought
        raise RuntimeError(f"{self._client.name} ended its stream without an answer")

    def _seconds_left(self) -> float:
        return max(0.0, self._deadline - self._clock())

    async def _check_sight(self, facts: ServerFacts) -> tuple[ModelCheck, str]:
        """Show a picture to a model that may see; return the check, and the server's words if it
        refuses.
        """
        if facts.sees is False:
            return BLIND, ""
        picture = Image(
            sha256=hashlib.sha256(RED_PICTURE).hexdigest(),
            media_type="image/png",
            width=PICTURE_PIXELS,
            height=PICTURE_PIXELS,
        )
        question = Text(text="Which colour fills this picture? Answer with one word.")
        message = ShownMessage(role="user", parts=(picture, question))
        request = Request(
            model=self._model,
            system=("Answer with one word.",),
            messages=(message,),
            max_tokens=MAX_TOKENS,
        )
        try:
            answer, _ = await self._ask(request)
        except (Stalled, RateLimited) as err:
            text = Phrase("The request with a picture was not answered.")
            return ModelCheck(id="sight", state="unknown", text=text), server_words(err)
        except ModelError as err:
            return BLIND, server_words(err)
        if any(_RED.search(part.text) for part in answer.parts if isinstance(part, Text)):
            text = Phrase("It can see pictures.")
            return ModelCheck(id="sight", state="ok", text=text), ""
        text = Phrase(
            "The server accepted a picture, but the model did not name its colour: most likely "
            "it cannot see pictures."
        )
        return ModelCheck(id="sight", state="unknown", text=text), ""

    async def _explain_failure(self, err: ModelError) -> ModelReport:
        """Say which check failed, and why; of those before it, say what the failure shows."""
        words = server_words(err)
        if err.kind == "connection":
            fault = read_connection_fault(err, self._base_url)
            return ModelReport(checks=(ModelCheck(id="address", state="failed", text=fault.text),))
        if isinstance(err, KeyRefused):
            text: AnyPhrase = UNTYPABLE_KEY
            if err.status:
                has_key = bool(self._account.api_key)
                text = key_text(err.status, self._base_url, has_key=has_key)
            address = ADDRESS_OK if words else ADDRESS_UNKNOWN
            key = ModelCheck(id="key", state="failed", text=text)
            return ModelReport(checks=(address, key), server_words=words)
        if _may_be_wrong_path(err):
            return await self._explain_path(err)
        answer = ModelCheck(id="answer", state="failed", text=_failure_text(err))
        return ModelReport(checks=(*_checks_shown(err), answer), server_words=words)

    async def _explain_path(self, err: ModelError) -> ModelReport:
        """Tell a wrong model from a wrong path: where there is a list of models, the path is
        right.
        """
        words = server_words(err)
        listing = await list_models(self._account, min(LIST_SECONDS, self._seconds_left()))
        fault = listing.fault
        if fault is not None and fault.code == "path":
            check = ModelCheck(id="address", state="failed", text=fault.text)
            return ModelReport(checks=(check,), server_words=words)
        is_missing = isinstance(err, NoSuchModel) and listing.find(self._model) is None
        text = _missing_text(listing, self._model) if is_missing else _failure_text(err)
        # a server that names the model has read the request
        knows_model = isinstance(err, NoSuchModel) and (bool(err.kind) or self._model in words)
        checks = (
            ADDRESS_OK if fault is None or knows_model else ADDRESS_UNKNOWN,
            KEY_OK if knows_model else KEY_UNKNOWN,
            ModelCheck(id="answer", state="failed", text=text),
        )
        return ModelReport(checks=checks, server_words=words)


ADDRESS_OK = ModelCheck(id="address", state="ok", text=Phrase("The address is correct."))
ADDRESS_UNKNOWN = ModelCheck(
    id="address",
    state="unknown",
    text=Phrase("It is not known whether the address is correct."),
)
KEY_OK = ModelCheck(id="key", state="ok", text=Phrase("The server accepts the requests."))
KEY_UNKNOWN = ModelCheck(
    id="key", state="unknown", text=Phrase("It is not known whether the key is correct.")
)
BLIND = ModelCheck(id="sight", state="no", text=Phrase("It cannot see pictures."))


def _may_be_wrong_path(err: ModelError) -> bool:
    """Tell whether another program, or another path of the server, may have answered."""
    is_redirect = 300 <= err.status < 400
    return isinstance(err, NoSuchModel | Damaged) or err.status == 405 or is_redirect


def _checks_shown(err: ModelError) -> tuple[ModelCheck, ModelCheck]:
    """Return what a failed answer shows of address and key.

    Only an error inside a stream, silence after its first event, and a limit of the account come
    after the key was accepted. A refusal in words of the API shows its address. What a proxy may
    say as well, such as HTTP 502, shows neither.
    """
    has_begun = err.status == 200 or (isinstance(err, Stalled) and err.kind == "gap")
    if has_begun or isinstance(err, QuotaSpent):
        return ADDRESS_OK, KEY_OK
    if 400 <= err.status < 500 and server_words(err):
        return ADDRESS_OK, KEY_UNKNOWN
    return ADDRESS_UNKNOWN, KEY_UNKNOWN


def _failure_text(err: ModelError) -> AnyPhrase:
    if isinstance(err, Stalled):
        return Phrase("The model did not answer in time.")
    return Phrase("The model did not answer: {why}", why=failure_reason(err))


def _check_answer(trial: _Trial) -> ModelCheck:
    if trial.answer.only_thought:
        text = Phrase("The model answers, but it used up the length of this test on thinking.")
        return ModelCheck(id="answer", state="ok", text=text)
    if not trial.answer.parts:
        text = Phrase("The model's answer is empty.")
        return ModelCheck(id="answer", state="failed", text=text)
    return ModelCheck(id="answer", state="ok", text=Phrase("The model answers."))


def _check_streaming(trial: _Trial) -> ModelCheck:
    if not trial.is_streamed:
        text = Phrase("Answers come all at once, not word by word.")
        return ModelCheck(id="streaming", state="no", text=text)
    return ModelCheck(id="streaming", state="ok", text=Phrase("Answers come word by word."))


def _check_tools(trial: _Trial) -> ModelCheck:
    if trial.tools_refused:
        text = Phrase(
            "It supports no tools: it can chat, but cannot set reminders, search memory or write "
            "files. Choose a model that supports tools, or enable them on the server."
        )
        return ModelCheck(id="tools", state="no", text=text)
    if any(isinstance(part, ToolCall) for part in trial.answer.parts):
        return ModelCheck(id="tools", state="ok", text=Phrase("It uses tools."))
    text = Phrase("It supports tools but did not use one this time, as small models sometimes do.")
    return ModelCheck(id="tools", state="unknown", text=text)


def _check_thinking(trial: _Trial) -> ModelCheck:
    if trial.has_thought:
        text = Phrase("It thinks first; its thinking is shown to nobody and not stored.")
        return ModelCheck(id="thinking", state="ok", text=text)
    return ModelCheck(id="thinking", state="no", text=Phrase("It did not think first."))


def _find_window(account: ProviderAccount, model: str, facts: ServerFacts) -> ModelWindow:
    if facts.window:
        return ModelWindow(tokens=facts.window, source="server")
    served = ServedModel(provider=account.provider, model=model, base_url=account.base_url)
    return ModelWindows().find(served)


def _check_window(window: ModelWindow, account: ProviderAccount) -> ModelCheck:
    sentences = [Phrase("Window: {window}.", window=format_window(window))]
    preset = find_preset(account.provider, account.base_url)
    if window.source == "default" and is_at_home(effective_base_url(account)):
        sentences.append(Phrase("Set the same number on the server and in llm.context_window."))
        return ModelCheck(id="window", state="unknown", text=join_sentences(sentences))
    if window.tokens < SMALL_WINDOW:
        sentences.append(Phrase("That is small: conversations are folded often."))
        if preset is not None and preset.set_window:
            sentences.append(Phrase("Raise it with: {command}", command=preset.set_window))
    return ModelCheck(id="window", state="ok", text=join_sentences(sentences))


def _missing_text(listing: ModelListing, model: str) -> PhraseList:
    names = [listed.id for listed in listing.models[:MAX_NAMED_MODELS]]
    sentences = [Phrase("The server has no model {model}.", model=model)]
    if names:
        more = Phrase(" and others") if len(listing.models) > len(names) else NO_PHRASE
        sentences.append(
            Phrase("It has {names}{more}.", names=join_phrases(names, Phrase(", ")), more=more)
        )
    return join_sentences(sentences)


async def _find_nothing(question: str, conversation: str, space: str) -> list[OfflinePassage]:
    return []


def _red_picture() -> bytes:
    """Return a PNG filled with red."""
    row = b"\0" + b"\xff\0\0" * PICTURE_PIXELS
    header = struct.pack(">IIBBBBB", PICTURE_PIXELS, PICTURE_PIXELS, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(row * PICTURE_PIXELS)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks
    )


RED_PICTURE = _red_picture()
