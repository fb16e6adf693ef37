"""The model without a key: no language model, it quotes what was said and what is remembered, and says so."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass

from bot.errors import ModelError
from bot.models.base import (
    Answer,
    ModelEvent,
    Request,
    StopReason,
    TextDelta,
    TokensUsed,
    ToolStarted,
    WireMessage,
)
from memory.conversation import Part, Text, ToolCall
from memory.text.tokenizer import lexical_question_terms

# How near a text is to a question by their words alone, and whether words are a question. Pure.

_CJK = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af"
_HAS_CJK = re.compile(f"[{_CJK}]")
_WORD_RUNS = re.compile(f"[{_CJK}]+|[^\\W{_CJK}]+")
_QUESTION_WORDS_ZH = (
    "什么时候|为什么|什么|怎么样|怎么|怎样|多少|几个|几点|哪里|哪儿|哪个|哪些|哪|谁|吗|呢|是否|多大|多久|记得"
)
_QUESTION_ZH = re.compile(_QUESTION_WORDS_ZH)
_STOP_WORDS_ZH = re.compile(f"{_QUESTION_WORDS_ZH}|请问|知道|告诉我|[的了是在有和与把被你您]")
_WORD = re.compile(r"\w+")
_QUESTION_WORDS_EN = frozenset(
    _WORD.findall(
        "what who whom whose which where when why how do does did is are am was were can could will would should"
        " whats wheres whos hows"
    )
)
_STOP_WORDS_EN = _QUESTION_WORDS_EN | frozenset(
    _WORD.findall(
        "i me my mine we our you your it its a an the of to in on at for from with about and or not no that this"
        " there have has had been be so please tell remember know say said"
    )
)


def has_cjk(text: str) -> bool:
    """Whether any of it is written in Chinese, Japanese or Korean letters."""
    return bool(_HAS_CJK.search(text))


def is_question(text: str) -> bool:
    """Whether it asks: a question mark at an end of a sentence, a word that asks, or a first word that does."""
    if re.search(r"[?？]\s*$|[?？]\s", text) or _QUESTION_ZH.search(text):
        return True
    first = re.match(r"\W*(\w+)", text.casefold().replace("'", "").replace("’", ""))
    return bool(first and first[1] in _QUESTION_WORDS_EN)


def content_tokens(text: str) -> frozenset[str]:
    """What a question is about: pairs of CJK letters and stems of other words, without those that only ask.

    A CJK run of one letter counts as itself.
    """
    found: set[str] = set()
    for run in _WORD_RUNS.findall(_STOP_WORDS_ZH.sub(" ", text.casefold().replace("’", "'").replace("'s", ""))):
        if has_cjk(run):
            found.update(run[at : at + 2] for at in range(max(len(run) - 1, 1)))
        elif run not in _STOP_WORDS_EN:
            found.add(_stem(run))
    return frozenset(found)


def overlap_share(wanted: frozenset[str], text: str) -> float:
    """How much of `wanted` stands in the text, from 0 to 1."""
    if not wanted:
        return 0.0
    plain = text.casefold()
    words = {_stem(run) for run in _WORD_RUNS.findall(plain) if not has_cjk(run)}
    return sum(token in (plain if has_cjk(token) else words) for token in wanted) / len(wanted)


def _stem(word: str) -> str:
    for ending in ("ing", "ies", "ed", "es", "s", "e", "y"):
        if len(word) - len(ending) >= 3 and word.endswith(ending):
            return word.removesuffix(ending)
    return word


MAX_QUOTES = 3  # most passages quoted in one answer
MAX_QUOTE_CHARS = 200  # most characters quoted of one passage
SUMMARY_PREFIX = "[Summary of "  # how the summary of earlier turns begins in a view; it is not what the person says

_TEXTS = {
    "who": (
        "我不是语言模型：没有设置密钥，只能引用记录。要用模型，请设置 llm.api_key（或环境变量 ANTHROPIC_API_KEY）。",
        "I am no language model: there is no key, so all I can do is quote the record. "
        "To use one, set llm.api_key (or ANTHROPIC_API_KEY in the environment).",
    ),
    "found": ("记录里有：", "The record says:"),
    "nothing": ("记录里没有找到相关内容。", "I found nothing about that in the record."),
    "noted": ("记下了。", "Noted."),
    "here": ("本次对话", "this conversation"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class OfflinePassage:
    """Something remembered."""

    text: str
    #: Where it stands, as people read it.
    source: str
    #: Its day, "" where unknown.
    date: str = ""


# Finds passages for a question: (question, conversation, space), best first.
RecallPassages = Callable[[str, str, str], Awaitable[Sequence[OfflinePassage]]]


class OfflineModel:
    """A Model that answers from memory alone: the same request and record, the same answer."""

    name = "offline"

    def __init__(self, *, recall: RecallPassages) -> None:
        self._recall = recall

    async def preload(self) -> None:
        """There is nothing to load."""

    async def stream(self, request: Request) -> AsyncIterator[ModelEvent]:
        """See Model.stream. Summaries and facts it cannot write: that raises a ModelError of kind "offline"."""
        if request.purpose != "turn":
            raise ModelError("there is no language model to write that", kind="offline")
        *before, said = _user_texts(request.messages) or [""]
        lang = 0 if has_cjk(said) else 1
        lines = await self._lines(request, before, said, lang)
        text = "\n".join(lines)
        for piece in _split_text(text):
            yield TextDelta(text=piece)
        usage = TokensUsed()
        yield Answer(parts=(Text(text=text),), stop="end", usage=usage, model=self.name, raw_stop="offline")

    async def _lines(self, request: Request, before: Sequence[str], said: str, lang: int) -> list[str]:
        introduction = [] if any(message.role == "assistant" for message in request.messages) else [_TEXTS["who"][lang]]
        if not is_question(said):
            return [_TEXTS["noted"][lang], *introduction]
        remembered = await self._recall(said, request.conversation, request.space)
        here = [OfflinePassage(text=text, source=_TEXTS["here"][lang]) for text in reversed(before)]
        found = choose_passages(said, [*remembered, *here])
        if not found:
            return [_TEXTS["nothing"][lang], *(introduction or [_TEXTS["who"][lang]])]
        return [_TEXTS["found"][lang], *map(_format_quote, found), *introduction]

    async def close(self) -> None:
        """Nothing is open."""


def choose_passages(question: str, passages: Iterable[OfflinePassage]) -> list[OfflinePassage]:
    """The passages worth quoting, best first: at least half as near to the question as the best one.

    What was itself a question tells nothing, and nothing is quoted twice.
    """
    wanted = content_tokens(question) | frozenset(lexical_question_terms(question))
    rated: list[tuple[float, OfflinePassage]] = []
    for passage in passages:
        near = overlap_share(wanted, passage.text)
        if near and not is_question(passage.text) and not any(_is_same_passage(passage, known) for _, known in rated):
            rated.append((near, passage))
    best = max((near for near, _ in rated), default=0.0)
    rated.sort(key=lambda item: -item[0])
    return [passage for near, passage in rated if near * 2 >= best][:MAX_QUOTES]


def _is_same_passage(one: OfflinePassage, other: OfflinePassage) -> bool:
    """The same words, be it inside a longer line such as a log's."""
    short, long = sorted((one.text.strip(), other.text.strip()), key=len)
    return short in long


def _format_quote(passage: OfflinePassage) -> str:
    text = " ".join(passage.text.split())
    shown = text if len(text) <= MAX_QUOTE_CHARS else text[: MAX_QUOTE_CHARS - 1] + "…"
    return f"> {shown}\n— {', '.join(filter(None, (passage.source, passage.date)))}"


def _user_texts(messages: Sequence[WireMessage]) -> list[str]:
    """What the person said in each message: its first words; what follows them, such as the hour, is ours."""
    said = []
    for message in messages:
        words = (part.text for part in message.parts if isinstance(part, Text) and part.text.strip() and not part.aside)
        first = next((text for text in words if not text.startswith(SUMMARY_PREFIX)), "")
        if message.role == "user" and first:
            said.append(first)
    return said


def _split_text(text: str, size: int = 80) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


# One call's answer: words, one part, an Answer, an error to raise, or a sequence of such, streamed as it stands.
ScriptedAnswer = str | Part | Answer | ModelError | Sequence[ModelEvent | Part | ModelError]
Script = Iterable[ScriptedAnswer] | Callable[[Request], ScriptedAnswer]


class ScriptedModel:
    """A Model made of a list, used up line by line, or of a function of the request.

    requests: all that was asked, in order.
    """

    name = "scripted"

    def __init__(self, script: Script) -> None:
        self._tell = script if callable(script) else _next_answers(script)
        self.requests: list[Request] = []

    async def stream(self, request: Request) -> AsyncIterator[ModelEvent]:
        """See Model.stream. Text is streamed in two pieces; an Answer that is left out is made from the parts."""
        self.requests.append(request)
        line = self._tell(request)
        said: list[Part] = []
        for step in (line,) if isinstance(line, str) or not isinstance(line, Sequence) else line:
            if isinstance(step, ModelError):
                raise step
            for event in _to_event(step, said):
                yield event
            if isinstance(step, Answer):
                return
        yield _build_answer(said, request)

    async def close(self) -> None:
        """Nothing is open."""


def _next_answers(script: Iterable[ScriptedAnswer]) -> Callable[[Request], ScriptedAnswer]:
    lines = iter(script)

    def tell(_: Request) -> ScriptedAnswer:
        try:
            return next(lines)
        except StopIteration:
            raise ModelError("the script has no more lines", kind="scripted") from None

    return tell


def _to_event(step: ModelEvent | Part | str, said: list[Part]) -> Iterable[ModelEvent]:
    if isinstance(step, str):
        step = Text(text=step)
    if isinstance(step, Text):
        middle = len(step.text) // 2
        yield from (TextDelta(text=piece) for piece in (step.text[:middle], step.text[middle:]) if piece)
    if isinstance(step, ToolCall):
        yield ToolStarted(name=step.name)
    if isinstance(step, Part):
        said.append(step)
    else:
        yield step


def _build_answer(said: Sequence[Part], request: Request) -> Answer:
    stop: StopReason = "tools" if any(isinstance(part, ToolCall) for part in said) else "end"
    usage = TokensUsed(input=sum(len(message.parts) for message in request.messages), output=len(said))
    return Answer(parts=tuple(said), stop=stop, usage=usage, model=request.model)
