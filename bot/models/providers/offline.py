"""Model clients without a network: the offline model that quotes the record, and a scripted one."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Sequence
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
)
from bot.texts import resolve_language
from channels.phrases import Phrase
from memory.context.time_marks import is_time_mark
from memory.conversation import Part, ShownMessage, Text, ToolCall
from memory.text.language import CJK_CHARACTER
from memory.text.quoting import shorten
from memory.text.tokenizer import fold_text, question_terms, text_terms

_QUESTION_ZH = re.compile(
    "什么时候|为什么|什么|怎么样|怎么|怎样|多少|几个|几点|哪里"
    "|哪儿|哪个|哪些|哪|谁|吗|呢|是否|多大|多久|记得"
)
_QUESTIONS_EN = (
    "what who whom whose which where when why how do does did is are am was were can could will "
    "would should"
)
_QUESTION_WORDS_EN = frozenset((*_QUESTIONS_EN.split(), "whats", "wheres", "whos", "hows"))
# What the page suggests to ask in a new conversation, and how people say the same: the whole text,
# with or without a greeting before it.
_ABILITY_QUESTION = re.compile(
    r"(?:(?:hello|hi|hey)\b\W*)?(?:so\W+)?what (?:can|do) you do(?: (?:for me|here))?\W*"
    r"|(?:(?:你好|您好|嗨|请问)\W*)*[你您](?:都|还)?(?:能|会|可以)(?:帮我|为我)?做(?:些|点)?(?:什么|啥|哪些)"
    r"(?:事情?)?[呢呀啊]?\W*",
    re.I,
)
_SELF_QUESTION = re.compile(
    "what do you (?:know|remember) about me|你(?:记得|知道|了解)我的?(?:哪些|什么)", re.I
)
# With a question mark at its end it is a question ("Remember when we met?"), unless only the
# person's consent is asked for ("记住我喝绿茶，好吗？").
_REMEMBER_REQUEST = re.compile(
    r"\s*(?:please\s+remember\b|remember\b|(?:请你?)?记住)"
    r"(?:.*[^?？\s]|.*\W(?:ok|okay|please|will you|好吗|好不好|可以吗|行吗)[?？])\s*",
    re.I | re.DOTALL,
)
DELTA_CHARS = 80
MAX_QUOTES = 3  # per answer
MAX_QUOTE_CHARS = 200  # of one passage
# the summary of earlier turns in a view, which is not text of the person
SUMMARY_PREFIX = "[Summary of "

_TEXTS = {
    "who": Phrase(
        "I am not a language model: no key is set, so all I can do is quote the record. To use a "
        "model, set llm.api_key (or ANTHROPIC_API_KEY in the environment)."
    ),
    "found": Phrase("The record says:"),
    "nothing": Phrase("I found nothing about that in the record."),
    "noted": Phrase("Noted."),
    "abilities": Phrase(
        "There is no language model yet, but this already works:\n- Everything you say is "
        "stored, and I quote it when you ask (“When do I meet Ann?”).\n- `/remember I drink "
        "green tea` puts a fact into long-term memory.\n- `/remind 20m drink tea` reminds you.\n"
        "- `/help` lists all commands."
    ),
    "set_up": Phrase(
        "To set up a language model, open Settings, Model on the page, or run `mnema init` in a "
        "terminal. Both list the models and test one; Ollama on this machine needs no key."
    ),
    "stored": Phrase(
        "Noted: your words are stored, and I quote them when you ask. Without a language model I "
        "do not turn them into memories by myself; `/remember` followed by the sentence does."
    ),
    "you_said": Phrase("You have said:"),
    "unknown": Phrase(
        "You have told me nothing about yourself here yet. Say something, such as “I drink green "
        "tea in the morning”; `/memory` shows what long-term memory holds."
    ),
    "here": Phrase("this conversation"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class OfflinePassage:
    """A passage found by recall, or said in this conversation."""

    text: str
    #: Source as shown to people.
    source: str
    #: Day; "" if unknown.
    date: str = ""


# Finds passages, best first: (question, conversation, space).
RecallPassages = Callable[[str, str, str], Awaitable[Sequence[OfflinePassage]]]


class OfflineModel:
    """A model client for a bot without a key: it quotes what recall finds. Deterministic."""

    name = "offline"

    def __init__(self, *, recall: RecallPassages) -> None:
        self._recall = recall

    async def preload(self) -> None: ...

    async def stream(self, request: Request) -> AsyncIterator[ModelEvent]:
        """Answer a turn; raise a ModelError of kind "offline" for summaries and facts, which it
        cannot write.
        """
        if request.purpose != "turn":
            raise ModelError("there is no language model to write that", kind="offline")
        text = "\n".join(await self._answer_lines(request))
        for start in range(0, len(text), DELTA_CHARS):
            yield TextDelta(text=text[start : start + DELTA_CHARS])
        yield Answer(
            parts=(Text(text=text),),
            stop="end",
            usage=TokensUsed(),
            model=self.name,
            raw_stop="offline",
        )

    async def _answer_lines(self, request: Request) -> list[str]:
        *earlier, text = _user_texts(request.messages) or [""]
        lang = resolve_language(text)
        if _ABILITY_QUESTION.fullmatch(text.strip()):
            return [_TEXTS["abilities"].text(lang), "", _TEXTS["set_up"].text(lang)]
        if _REMEMBER_REQUEST.fullmatch(text):
            return [_TEXTS["stored"].text(lang), "", _TEXTS["set_up"].text(lang)]
        if _SELF_QUESTION.search(text):
            return await self._tell_about_person(request, text, earlier, lang)
        introduction = (
            []
            if any(message.role == "assistant" for message in request.messages)
            else [_TEXTS["who"].text(lang)]
        )
        if not is_question(text):
            return [_TEXTS["noted"].text(lang), *introduction]
        recalled = await self._recall(text, request.conversation, request.space)
        said = [
            OfflinePassage(text=other, source=_TEXTS["here"].text(lang))
            for other in reversed(earlier)
        ]
        found = choose_passages(text, [*recalled, *said])
        if not found:
            return [_TEXTS["nothing"].text(lang), *(introduction or [_TEXTS["who"].text(lang)])]
        return [_TEXTS["found"].text(lang), *map(_format_quote, found), *introduction]

    async def _tell_about_person(
        self, request: Request, question: str, earlier: Sequence[str], lang: str
    ) -> list[str]:
        """Quote the newest things said in this conversation, then what recall finds."""
        recalled = await self._recall(question, request.conversation, request.space)
        said = [
            OfflinePassage(text=text, source=_TEXTS["here"].text(lang))
            for text in reversed(earlier)
        ]
        known = [passage for passage in (*said, *recalled) if not is_question(passage.text)]
        if not known:
            return [_TEXTS["unknown"].text(lang), "", _TEXTS["set_up"].text(lang)]
        quotes = map(_format_quote, known[:MAX_QUOTES])
        return [_TEXTS["you_said"].text(lang), *quotes, "", _TEXTS["set_up"].text(lang)]

    async def close(self) -> None: ...


def is_question(text: str) -> bool:
    """Tell whether a text is a question: by punctuation, a Chinese question word, or its first
    word.
    """
    if re.search(r"[?？]\s*$|[?？]\s", text) or _QUESTION_ZH.search(text):
        return True
    first = re.match(r"\W*(\w+)", text.casefold().replace("'", "").replace("’", ""))
    return bool(first and first[1] in _QUESTION_WORDS_EN)


def overlap_share(terms: Collection[str], text: str) -> float:
    """Return the share of a question's terms that a text contains, from 0 to 1."""
    folded, known = fold_text(text), set(text_terms(text))
    found = sum(term in (folded if CJK_CHARACTER.match(term) else known) for term in terms)
    return found / len(terms) if terms else 0.0


def choose_passages(question: str, passages: Iterable[OfflinePassage]) -> list[OfflinePassage]:
    """Choose the passages to quote, best first: those with at least half the best share of the
    terms.

    Questions are not quoted, and nothing is quoted twice.
    """
    terms = question_terms(question)
    rated: list[tuple[float, OfflinePassage]] = []
    for passage in passages:
        share = overlap_share(terms, passage.text)
        if (
            share
            and not is_question(passage.text)
            and not any(_is_same_passage(passage, other) for _, other in rated)
        ):
            rated.append((share, passage))
    best = max((share for share, _ in rated), default=0.0)
    rated.sort(key=lambda item: -item[0])
    return [passage for share, passage in rated if share * 2 >= best][:MAX_QUOTES]


def _is_same_passage(one: OfflinePassage, other: OfflinePassage) -> bool:
    """Tell whether one text contains the other, as a line of a log does."""
    short, long = sorted((one.text.strip(), other.text.strip()), key=len)
    return short in long


def _format_quote(passage: OfflinePassage) -> str:
    text = shorten(" ".join(passage.text.split()), MAX_QUOTE_CHARS)
    return f"> {text}\n— {', '.join(filter(None, (passage.source, passage.date)))}"


def _user_texts(messages: Sequence[ShownMessage]) -> list[str]:
    """Return the first text of each of the person's messages; the rest, such as the time, is the
    bot's.
    """
    found = []
    for message in messages:
        texts = (
            part.text
            for part in message.parts
            if isinstance(part, Text) and part.text.strip() and not part.aside
        )
        own = (
            text for text in texts if not text.startswith(SUMMARY_PREFIX) and not is_time_mark(text)
        )
        first = next(own, "")
        if message.role == "user" and first:
            found.append(first)
    return found


# The answer to one call: text, a part, an Answer, an error to raise, or a sequence of these to
# stream as it is.
ScriptedAnswer = str | Part | Answer | ModelError | Sequence[ModelEvent | Part | ModelError]
Script = Iterable[ScriptedAnswer] | Callable[[Request], ScriptedAnswer]


class ScriptedModel:
    """A model client for tests, which answers from a list, or by a function of the request."""

    name = "scripted"

    def __init__(self, script: Script) -> None:
        self._next = script if callable(script) else _next_answers(script)
        #: All requests in order.
        self.requests: list[Request] = []

    async def stream(self, request: Request) -> AsyncIterator[ModelEvent]:
        """Stream the next answer, texts in two pieces; without an Answer, one is built from the
        parts.
        """
        self.requests.append(request)
        answer = self._next(request)
        parts: list[Part] = []
        for item in (
            (answer,) if isinstance(answer, str) or not isinstance(answer, Sequence) else answer
        ):
            if isinstance(item, ModelError):
                raise item
            for event in _to_events(item, parts):
                yield event
            if isinstance(item, Answer):
                return
        yield _build_answer(parts, request)

    async def close(self) -> None: ...


def _next_answers(script: Iterable[ScriptedAnswer]) -> Callable[[Request], ScriptedAnswer]:
    answers = iter(script)

    def next_answer(_: Request) -> ScriptedAnswer:
        try:
            return next(answers)
        except StopIteration:
            raise ModelError("the script has no more lines", kind="scripted") from None

    return next_answer


def _to_events(item: ModelEvent | Part | str, parts: list[Part]) -> Iterable[ModelEvent]:
    """Return the events of one item of a script; add it to `parts` if it is one."""
    if isinstance(item, str):
        item = Text(text=item)
    if isinstance(item, Text):
        middle = len(item.text) // 2
        yield from (
            TextDelta(text=piece) for piece in (item.text[:middle], item.text[middle:]) if piece
        )
    if isinstance(item, ToolCall):
        yield ToolStarted(name=item.name)
    if isinstance(item, Part):
        parts.append(item)
    else:
        yield item


def _build_answer(parts: Sequence[Part], request: Request) -> Answer:
    stop: StopReason = "tools" if any(isinstance(part, ToolCall) for part in parts) else "end"
    usage = TokensUsed(
        input=sum(len(message.parts) for message in request.messages), output=len(parts)
    )
    return Answer(parts=tuple(parts), stop=stop, usage=usage, model=request.model)
