"""Weighs messages by importance, and compares a folded range with its summary."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Literal

from memory.context.reductions import part_handle
from memory.context.summary.critical_calls import (
    CallOutcome,
    call_outcomes,
    is_critical,
    outcome_subject,
)
from memory.context.summary.grounding import (
    GroundingSource,
    find_literals,
    has_facts,
    is_mentioned,
    split_sentences,
)
from memory.context.summary.transcript import Utterance, list_utterances
from memory.context.taint import OUTCOME_ORIGIN, is_own_words
from memory.conversation import Document, Message, Text, Thinking, ToolCall, ToolResult
from memory.text.language import split_line
from memory.text.normalize import normalize_text
from memory.text.quoting import shorten

# Points, from the boundary seed; RECENT_WEIGHT decreases by one per minute.
USER_WEIGHT, ERROR_WEIGHT, CODE_WEIGHT, RECENT_WEIGHT, REFERRED_WEIGHT = 30, 50, 20, 30, 40
MAX_READ = 8_000  # characters of one part that are searched
MAX_SHOWN = 120  # characters of an item's text
SEQ_DIGITS = 19  # from which on a number may be none of the 64 bits of the store
_ERROR = re.compile(
    r"(?<![a-z])(?:errors?|exception|traceback|failed|failure)(?![a-z])|错误|失败|报错|异常|崩溃",
    re.IGNORECASE,
)
_ERROR_LINE = re.compile(r"^Traceback |^\w*(?:Error|Exception): |^(?:error|fatal): ", re.MULTILINE)
_CODE = re.compile(
    r"^[^\S\n]*+(?:def |class |import |from \S+ import |function\b|const |let |var "
    r"|return\b|#include|public |private |select .+ from )",
    re.MULTILINE | re.IGNORECASE,
)
_CAPITAL = re.compile(r"(?<![A-Za-z0-9_])[A-Z][A-Za-z]{2,}(?![A-Za-z0-9_])")
_NAME = re.compile(rf"(?:(?<=[a-z0-9,;] )|(?<=[\u4e00-\u9fff、，])){_CAPITAL.pattern}")
_NUMBER = re.compile(r"\d+(?:[.:/-]\d+)*")
_HANDLE = re.compile(r'handle\\?"?\s*[=:]\s*\\?"(\d+)\.\d+')
_DECIDED = re.compile(
    r"\b(?:decided?|decision|agreed|let's (?:go|use)|we(?:'ll| will) (?:use|go)|go "
    r"with|chose|choose|instead of)\b|决定|定下|选定|选择了?|改用|改为|改成|采用|就用|就这么",
    re.IGNORECASE,
)
Kind = Literal["user", "fact", "tool", "error", "decision"]
_KIND_WEIGHT: Mapping[Kind, int] = {"decision": 30, "error": 25, "fact": 20, "tool": 10, "user": 0}


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldItem:
    """One statement or call of a folded range."""

    turn: int
    #: HH:MM in the log's time zone.
    time: str
    kind: Kind
    #: At most MAX_SHOWN characters.
    text: str
    #: The summary contains it.
    kept: bool
    #: Handle of the original.
    handle: str
    #: Importance; higher is more important.
    weight: int


def message_weights(messages: Sequence[Message], now: datetime) -> dict[str, int]:
    """Points of each message by its id: from a person 30, error 50, code 20, recent up to 30,
    referred to later 40.
    """
    referred = _referred_messages(messages)
    return {
        message.id: USER_WEIGHT * _from_person(message)
        + ERROR_WEIGHT * _has_error(message)
        + CODE_WEIGHT * _has_code(message)
        + max(0, RECENT_WEIGHT - max(0, int((now - message.at).total_seconds() // 60)))
        + REFERRED_WEIGHT * (message.id in referred)
        for message in messages
    }


def compare_with_summary(
    messages: Sequence[Message], summary: str, zone: tzinfo
) -> tuple[FoldItem, ...]:
    """List in order what a summary of these messages kept and what it left out.

    Items are the person's words, decisions, sentences with facts, critical calls, and findings of
    other tools; other text of the bot is omitted.
    """
    weights = message_weights(messages, messages[-1].at) if messages else {}
    known, plain = GroundingSource(summary), normalize_text(summary)
    calls = {(outcome.at.id, outcome.part): outcome for outcome in call_outcomes(messages)}
    items: list[FoldItem] = []
    for said in list_utterances(messages):
        call = calls.get((said.message.id, said.part))
        found = (
            _call_item(call, known, summary, plain) if call else _text_items(said, known, summary)
        )
        items += [
            FoldItem(
                turn=said.message.turn,
                time=f"{said.message.at.astimezone(zone):%H:%M}",
                kind=kind,
                text=shorten(" ".join(text.split()), MAX_SHOWN),
                kept=kept,
                handle=call.handle if call else part_handle(said.message, said.part),
                weight=weights[said.message.id] + _KIND_WEIGHT[kind],
            )
            for kind, text, kept in found
        ]
    return tuple(items)


def most_important(items: Sequence[FoldItem], most: int) -> tuple[FoldItem, ...]:
    """The `most` most important items in their order; of equal ones the newest."""
    best = sorted(range(len(items)), key=lambda at: (-items[at].weight, -at))[:most]
    return tuple(items[at] for at in sorted(best))


def _call_item(
    call: CallOutcome, known: GroundingSource, summary: str, plain: str
) -> Iterator[tuple[Kind, str, bool]]:
    """A call that changed something or failed; for any other, the first fact of its result that the
    summary lacks.
    """
    about = outcome_subject(call.call)
    if is_critical(call):
        kept = call.handle in summary or bool(about and normalize_text(about) in plain)
        yield "error" if call.failed else "tool", f"{call.call.name} {about}", kept
    elif call.result is not None:
        lines = call.result.text[:MAX_READ].splitlines()
        facts = [part for line in lines for part in split_line(line)[1] if has_facts(part)]
        lost = next((fact for fact in facts if not known.holds(fact, names=False)), "")
        if facts:
            yield (
                "tool",
                f"{call.call.name} {about}: {' '.join((lost or facts[0]).split())}",
                not lost,
            )


def _text_items(
    said: Utterance, known: GroundingSource, summary: str
) -> Iterator[tuple[Kind, str, bool]]:
    """Each sentence with a decision or facts; the other sentences of a person as one item.

    Words of others that a message brings decide nothing, and are shown with who says them.
    """
    part = said.message.parts[said.part]
    if not isinstance(part, Text):
        return
    is_own = is_own_words(part)
    others: list[str] = []
    for sentence in split_sentences(said):
        decided, fact = _DECIDED.search(sentence), has_facts(sentence)
        if decided or fact:
            kept = known.holds(sentence, names=False) if fact else is_mentioned(summary, sentence)
            shown = sentence if is_own else f"{said.speaker}: {sentence}"
            yield "decision" if decided and is_own else "fact", shown, kept
        else:
            others.append(sentence)
    if others and is_own and said.message.role == "user":
        yield "user", " ".join(others), is_mentioned(summary, " ".join(others))


def _from_person(message: Message) -> bool:
    is_told_by_tool = message.origin == OUTCOME_ORIGIN or all(
        isinstance(part, ToolResult) for part in message.parts
    )
    return message.role == "user" and not is_told_by_tool


def _has_error(message: Message) -> bool:
    for part in message.parts:
        if isinstance(part, ToolResult) and (
            part.is_error or _ERROR_LINE.search(part.text[:MAX_READ])
        ):
            return True
        if isinstance(part, Text) and _ERROR.search(part.text[:MAX_READ]):
            return True
    return False


def _has_code(message: Message) -> bool:
    return any("```" in text or len(_CODE.findall(text)) > 1 for text in _texts(message))


def _handled_seqs(texts: Iterable[str]) -> Iterator[int]:
    """Numbers of messages in the handles of texts; those too long for the store are none."""
    for text in texts:
        for digits in _HANDLE.findall(text):
            if len(digits) < SEQ_DIGITS:
                yield int(digits)


def _referred_messages(messages: Sequence[Message]) -> set[str]:
    """Ids of messages that later ones refer to.

    A reference is the handle of a message, or a path, number, id, name or quotation that it said
    first. Tool results refer to nothing.
    """
    first: dict[str, str] = {}
    by_seq = {message.seq: message.id for message in messages}
    referred: set[str] = set()
    for message in messages:
        texts = list(_texts(message))
        said = [_reference_pieces(text) for text in texts]
        if not any(isinstance(part, ToolResult) for part in message.parts):
            named = (word.casefold() for text in texts for word in _CAPITAL.findall(text))
            referred.update(first[piece] for piece in set(named).union(*said) if piece in first)
            referred.update(by_seq[seq] for seq in _handled_seqs(texts) if seq in by_seq)
        for piece in set[str]().union(*said):
            first.setdefault(piece, message.id)
    return referred


def _reference_pieces(text: str) -> set[str]:
    """What a later message may refer to: numbers of three digits or more, paths, addresses, ids,
    quotations, names.
    """
    plain = normalize_text(text)
    numbers = {number for number in _NUMBER.findall(plain) if sum(map(str.isdigit, number)) > 2}
    return numbers | set(find_literals(plain)) | {name.casefold() for name in _NAME.findall(text)}


def _texts(message: Message) -> Iterator[str]:
    for part in message.parts:
        match part:
            case (
                Text(text=text) | ToolResult(text=text) | Document(text=text) | ToolCall(input=text)
            ):
                yield text[:MAX_READ]
            case Thinking():
                continue
