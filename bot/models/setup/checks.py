"""The test of a model before it is used: address, key, answer, streaming, tools, sight, thinking,
window.
"""

import asyncio
import hashlib
import re
import struct
import zlib
from dataclasses import dataclass, replace
from typing import Literal

from bot.errors import KeyRefused, ModelError, NoSuchModel, Stalled
from bot.models.base import Answer, Request, ThinkingDelta
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
    ModelListing,
    effective_base_url,
    key_text,
    list_models,
    read_connection_fault,
)
from bot.models.setup.presets import Pair, find_preset
from bot.models.windows import ModelWindow, ModelWindows, ServedModel, format_window
from bot.telemetry.log import LogRedactor
from bot.texts import failure_reason
from memory.conversation import Image, ShownMessage, Text, ToolCall, ToolSpec

CheckId = Literal["address", "key", "answer", "streaming", "tools", "sight", "thinking", "window"]
CheckState = Literal["ok", "failed", "unknown", "no"]
# without one of them a model is of no use
NEEDED: tuple[CheckId, ...] = ("address", "key", "answer")
# A server at home may load the model first.
LIMITS = Timeouts(first=60.0, gap=30.0, step=120.0)
HOME_LIMITS = Timeouts(first=300.0, gap=60.0, step=420.0)
MAX_TOKENS = 512  # of an answer: models that think need some before it
MAX_NAMED_MODELS = 5
SMALL_WINDOW = 8_192  # tokens, below which a conversation is folded all the time
PICTURE_PIXELS = 64  # wide and high; some models refuse pictures below 28
_RED = re.compile(r"\bred\b|红", re.IGNORECASE)
CLOCK_TOOL = ToolSpec(
    name="now",
    description="Returns the time.",
    schema='{"properties":{},"type":"object"}',
    effect="pure",
    action="now",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCheck:
    """What was found of one thing."""

    id: CheckId
    #: no: the model cannot do it, and works without; unknown: it did not show.
    state: CheckState
    #: One sentence.
    text: Pair


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReport:
    """What the test of a model found, as far as it came."""

    checks: tuple[ModelCheck, ...]
    #: None if it did not come so far.
    window: ModelWindow | None = None
    #: What the server said of a refusal, without secrets; only its owner reads it.
    server_words: str = ""
    #: Its thinking comes as text, between tags.
    thinks_in_tags: bool = False

    def state(self, id: CheckId) -> CheckState:
        """Return the state of a check; "unknown" for one that was not made."""
        return next((check.state for check in self.checks if check.id == id), "unknown")

    @property
    def is_usable(self) -> bool:
        return all(self.state(id) == "ok" for id in NEEDED)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Trial:
    """What the first request showed."""

    answer: Answer
    has_thought: bool
    #: The server's words when it refused tools; "" if it takes them.
    tools_refused: str = ""
    is_streamed: bool = True
    thinks_in_tags: bool = False


async def check_model(account: ProviderAccount, model: str) -> ModelReport:
    """Send a model one request with a tool and, if it may see, one with a picture; a failure ends
    the test.

    Args:
        account: its key is sent to its address only.
    """
    hide = LogRedactor([account.api_key])
    if effective_provider(account) == "offline":
        text = ("还没有密钥。", "There is no key yet.")
        return ModelReport(checks=(ModelCheck(id="key", state="failed", text=text),))
    client = open_provider(account, blobs=lambda sha256: RED_PICTURE, recall=_find_nothing)
    try:
        report = await _check(client, account, model)
    finally:
        await client.close()
    checks = tuple(
        replace(check, text=(hide(check.text[0]), hide(check.text[1]))) for check in report.checks
    )
    return replace(report, checks=checks, server_words=hide(report.server_words))


async def _check(client: ProviderModel, account: ProviderAccount, model: str) -> ModelReport:
    facts = asyncio.create_task(_ask_facts(account, model))
    try:
        trial = await _try_tool(client, account, model)
    except ModelError as err:
        facts.cancel()
        return await _explain_failure(account, model, err)
    said = await facts
    window = _find_window(account, model, said)
    sight, words = await _check_sight(client, account, model, said)
    checks = (
        ADDRESS_OK,
        KEY_OK,
        _check_answer(trial),
        _check_streaming(trial),
        _check_tools(trial),
        sight,
    )
    return ModelReport(
        checks=(*checks, _check_thinking(trial), _check_window(window, account)),
        window=window,
        server_words=trial.tools_refused or words,
        thinks_in_tags=trial.thinks_in_tags,
    )


async def _ask_facts(account: ProviderAccount, model: str) -> ServerFacts:
    """Return what the server says of the model; of Anthropic's, what its list says."""
    if account.provider == "anthropic":
        listed = (await list_models(account)).find(model)
        return ServerFacts(sees=listed.sees, window=listed.window) if listed else ServerFacts()
    question = WindowQuestion(
        base_url=effective_base_url(account),
        model=model,
        api_key=account.api_key,
        proxy=account.proxy,
    )
    return await ask_facts(question)


async def _try_tool(client: ProviderModel, account: ProviderAccount, model: str) -> _Trial:
    request = Request(
        model=model,
        system=("Call the tool `now` once to learn the time.",),
        messages=(ShownMessage(role="user", parts=(Text(text="What time is it?"),)),),
        tools=(CLOCK_TOOL,),
        max_tokens=MAX_TOKENS,
    )
    answer, has_thought = await _ask(client, account, request)
    if not isinstance(client, OpenAIModel):
        return _Trial(answer=answer, has_thought=has_thought)
    quirks = client.quirks(model)
    return _Trial(
        answer=answer,
        has_thought=has_thought or bool(quirks.thinking),
        tools_refused=quirks.tools_refused,
        is_streamed=quirks.streams is not False,
        thinks_in_tags=quirks.thinking == "tags",
    )


async def _ask(
    client: ProviderModel, account: ProviderAccount, request: Request
) -> tuple[Answer, bool]:
    """Return an answer, and whether the model thought first."""
    limits, has_thought = HOME_LIMITS if is_at_home(effective_base_url(account)) else LIMITS, False
    async with TimedStream(client.stream(request), limits) as events:
        async for event in events:
            has_thought = has_thought or isinstance(event, ThinkingDelta)
            if isinstance(event, Answer):
                return event, has_thought or event.only_thought
    raise RuntimeError(f"{client.name} ended its stream without an answer")


ADDRESS_OK = ModelCheck(id="address", state="ok", text=("地址正确。", "The address is right."))
KEY_OK = ModelCheck(
    id="key", state="ok", text=("服务器接受了请求。", "The server accepts the requests.")
)


def _check_answer(trial: _Trial) -> ModelCheck:
    if trial.answer.only_thought:
        text = (
            "模型会回答，但测试的篇幅都用在思考上了。",
            "The model answers; it used all of the test's length for thinking.",
        )
        return ModelCheck(id="answer", state="ok", text=text)
    if not trial.answer.parts:
        text = ("模型的回答是空的。", "The model's answer is empty.")
        return ModelCheck(id="answer", state="failed", text=text)
    return ModelCheck(id="answer", state="ok", text=("模型会回答。", "The model answers."))


def _check_streaming(trial: _Trial) -> ModelCheck:
    if not trial.is_streamed:
        text = ("回答不是逐字出现，而是一次给出。", "Answers come at once, not word by word.")
        return ModelCheck(id="streaming", state="no", text=text)
    return ModelCheck(
        id="streaming", state="ok", text=("回答逐字出现。", "Answers come word by word.")
    )


def _check_tools(trial: _Trial) -> ModelCheck:
    if trial.tools_refused:
        text = (
            (
                "它不接受工具：可以聊天，但不能设提醒、查记忆、写文件。请换一个支持工具的模型，"
                "或在服务器上打开工具支持。"
            ),
            "It takes no tools: it can chat, but set no reminders, search no memory and write no "
            "files. Choose a model that supports tools, or enable them on the server.",
        )
        return ModelCheck(id="tools", state="no", text=text)
    if any(isinstance(part, ToolCall) for part in trial.answer.parts):
        return ModelCheck(id="tools", state="ok", text=("它会用工具。", "It uses tools."))
    text = (
        "它接受工具，但这次没有用；小模型有时会这样。",
        "It takes tools but did not use one this time, as small models sometimes do.",
    )
    return ModelCheck(id="tools", state="unknown", text=text)


def _check_thinking(trial: _Trial) -> ModelCheck:
    if trial.has_thought:
        text = (
            "它会先思考；思考的内容不会给任何人看，也不会保存。",
            "It thinks first; its thinking is shown to nobody and not stored.",
        )
        return ModelCheck(id="thinking", state="ok", text=text)
    return ModelCheck(id="thinking", state="no", text=("它没有先思考。", "It did not think first."))


async def _check_sight(
    client: ProviderModel, account: ProviderAccount, model: str, said: ServerFacts
) -> tuple[ModelCheck, str]:
    """Show a picture to a model that may see; return the check, and the server's words if it
    refuses.
    """
    blind = ("它看不了图片。", "It cannot see pictures.")
    if said.sees is False:
        return ModelCheck(id="sight", state="no", text=blind), ""
    picture = Image(
        sha256=hashlib.sha256(RED_PICTURE).hexdigest(),
        media_type="image/png",
        width=PICTURE_PIXELS,
        height=PICTURE_PIXELS,
    )
    question = Text(text="Which colour fills this picture? Answer with one word.")
    message = ShownMessage(role="user", parts=(picture, question))
    request = Request(
        model=model, system=("Answer with one word.",), messages=(message,), max_tokens=MAX_TOKENS
    )
    try:
        answer, _ = await _ask(client, account, request)
    except ModelError as err:
        return ModelCheck(id="sight", state="no", text=blind), server_words(err)
    if any(_RED.search(part.text) for part in answer.parts if isinstance(part, Text)):
        return ModelCheck(id="sight", state="ok", text=("它看得见图片。", "It sees pictures.")), ""
    text = (
        "服务器收下了图片，但模型没有认出里面的颜色：它多半看不见。",
        (
            "The server took a picture, but the model did not name its colour: most likely it "
            "cannot see."
        ),
    )
    return ModelCheck(id="sight", state="unknown", text=text), ""


def _find_window(account: ProviderAccount, model: str, said: ServerFacts) -> ModelWindow:
    if said.window:
        return ModelWindow(tokens=said.window, source="server")
    served = ServedModel(provider=account.provider, model=model, base_url=account.base_url)
    return ModelWindows().find(served)


def _check_window(window: ModelWindow, account: ProviderAccount) -> ModelCheck:
    zh, en = (f"窗口：{format_window(window, 'zh')}。", f"Window: {format_window(window, 'en')}.")
    preset = find_preset(account.provider, account.base_url)
    if window.source == "default" and is_at_home(effective_base_url(account)):
        zh += "请在服务器和 llm.context_window 里设成一样的数。"
        en += " Set the same number on the server and in llm.context_window."
        return ModelCheck(id="window", state="unknown", text=(zh, en))
    if window.tokens < SMALL_WINDOW:
        zh, en = (
            f"{zh}这很小，对话会经常整理成摘要。",
            f"{en} That is small: conversations are folded often.",
        )
        if preset is not None and preset.set_window:
            zh += f"可以调大：{preset.set_window}"
            en += f" Raise it with: {preset.set_window}"
    return ModelCheck(id="window", state="ok", text=(zh, en))


async def _explain_failure(account: ProviderAccount, model: str, err: ModelError) -> ModelReport:
    """Say which check failed, and why; those before it have passed."""
    base_url, words = effective_base_url(account), server_words(err)
    if err.kind == "connection":
        fault = read_connection_fault(err, base_url)
        return ModelReport(checks=(ModelCheck(id="address", state="failed", text=fault.text),))
    if isinstance(err, KeyRefused):
        text = key_text(err.status, base_url, has_key=bool(account.api_key))
        return ModelReport(
            checks=(ADDRESS_OK, ModelCheck(id="key", state="failed", text=text)), server_words=words
        )
    if isinstance(err, NoSuchModel):
        return await _explain_missing(account, model, words)
    if isinstance(err, Stalled):
        text = ("模型没有及时回答。", "The model did not answer in time.")
    else:
        text = (
            f"模型没有回答：{failure_reason(err, 'zh')}",
            f"The model did not answer: {failure_reason(err, 'en')}",
        )
    check = ModelCheck(id="answer", state="failed", text=text)
    return ModelReport(checks=(ADDRESS_OK, KEY_OK, check), server_words=words)


async def _explain_missing(account: ProviderAccount, model: str, words: str) -> ModelReport:
    """Tell a wrong model from a wrong path: where there is a list of models, the path is right."""
    listing = await list_models(account)
    fault = listing.fault
    if fault is not None and fault.code == "path":
        return ModelReport(
            checks=(ModelCheck(id="address", state="failed", text=fault.text),), server_words=words
        )
    check = ModelCheck(id="answer", state="failed", text=_missing_text(listing, model))
    return ModelReport(checks=(ADDRESS_OK, KEY_OK, check), server_words=words)


def _missing_text(listing: ModelListing, model: str) -> Pair:
    names = [listed.id for listed in listing.models[:MAX_NAMED_MODELS]]
    more = len(listing.models) > len(names)
    zh, en = f"服务器没有 {model} 这个模型。", f"The server has no model {model}."
    if names:
        zh += f"它有 {'、'.join(names)}{' 等' if more else ''}。"
        en += f" It has {', '.join(names)}{' and others' if more else ''}."
    return zh, en


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
