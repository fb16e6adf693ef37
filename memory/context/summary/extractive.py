"""Extractive summary and log: made of the source's own sentences when no valid model answer is available."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import tzinfo
from itertools import zip_longest
from typing import Literal

from memory.context.summary.grounding import ground_text, has_facts, split_sentences
from memory.context.summary.transcript import (
    Utterance,
    is_tool_utterance,
    list_utterances,
    shorten_utterance,
    utterance_line,
)
from memory.context.tokens import TokenCounter
from memory.conversation import Message, Text, ToolCall
from memory.text.language import HEADINGS as HEADS
from memory.text.language import is_mostly_cjk

DIGEST_MARK = "[+{count} messages, digest]"
_MARK = re.compile(r"\[\+\d+ messages, digest\]")
MAX_LOGGED = 1_000  # characters of one text in the log; validation adds missing facts of the rest
_CONSTRAINT = re.compile(
    r"\b(?:always|never|must(?:n't)?|do not|don't|remember|from now on|make sure|prefer|only ever)\b"
    r"|请记住|记得|记住|必须|务必|一定要|不要|不许|不能|千万别|以后都|永远|总是|只能|请用",
    re.IGNORECASE,
)
HEADINGS = {
    "zh": ("更早的摘要", "约定", "用户说的", "事实"),
    "en": ("Earlier summary", "Constraints", "What the user said", "Facts"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Emphasis:
    """What an extractive summary puts first."""

    #: Importance of messages by id.
    weights: Mapping[str, int] = field(default_factory=dict)
    #: Validated list items about critical calls.
    tools: Sequence[str] = ()


NO_EMPHASIS = Emphasis()


def extractive_summary(
    messages: Sequence[Message], before: str, counter: TokenCounter, budget: int, emphasis: Emphasis = NO_EMPHASIS
) -> str:
    """Extract the most important sentences of the messages and of the earlier summary `before`.

    In this order, within `budget` tokens: lines about tools, the earlier summary (at most 2/5), the user's constraints,
    the user's own words (questions last), sentences with facts (of people and the model before those of tools), and
    the handle to the rest. Of each kind the most important go in first, then the newest; they are shown in order of
    time. Lines of an earlier extract stay in their sections. The text ends in `[+N messages, digest]`.
    """
    said = list(list_utterances(messages))
    tools = [f"## {HEADS[detect_language(messages)]['tools']}", *emphasis.tools] if emphasis.tools else []
    end = "\n".join((*tools, f"{DIGEST_MARK.format(count=len(messages))} {_transcript_handles(messages)}"))
    space = _TokenSpace(counter=counter, left=budget - counter.text(end) - 4)
    kept = "\n".join(_sections(said, before, space, emphasis.weights))
    source = "\n".join([before, *(f"{item.speaker}: {item.text}" for item in said)])
    return f"{ground_text(kept, source).text}\n{end}".strip()


def part_summary(said: Sequence[Utterance], counter: TokenCounter, budget: int) -> str:
    """An extract of some messages without the end mark, to be merged with others."""
    space = _TokenSpace(counter=counter, left=budget)
    return ground_text("\n".join(_sections(said, "", space, {})), "\n".join(item.text for item in said)).text


def extractive_log(messages: Iterable[Message], zone: tzinfo) -> str:
    """The log without a model: one line per utterance, long texts shortened, without tool traffic."""
    return log_utterances(list_utterances(messages), zone)


def log_utterances(said: Iterable[Utterance], zone: tzinfo) -> str:
    """Like `extractive_log`, for utterances."""
    return "\n".join(
        utterance_line(shorten_utterance(item, MAX_LOGGED), zone) for item in said if not is_tool_utterance(item)
    )


def find_constraints(said: Iterable[Utterance]) -> list[str]:
    """The user's standing instructions in their own sentences, oldest first; in a group with the speaker."""
    return [
        _with_speaker(item, sentence)
        for item in said
        if _is_by_user(item)
        for sentence in split_sentences(item)
        if _CONSTRAINT.search(sentence)
    ]


def detect_language(messages: Iterable[Message]) -> Literal["zh", "en"]:
    """ "zh" when a fifth of what the user wrote is CJK, else "en"."""
    return utterances_language(list_utterances(messages))


def utterances_language(said: Iterable[Utterance]) -> Literal["zh", "en"]:
    """Like `detect_language`, for utterances."""
    return "zh" if is_mostly_cjk("".join(item.text for item in said if _is_by_user(item))) else "en"


class _TokenSpace:
    """A budget of tokens to fill."""

    def __init__(self, *, counter: TokenCounter, left: int) -> None:
        self.counter = counter
        self.left = left

    def take(self, items: Iterable[str], most: int) -> list[str]:
        """Take items in order within `most` tokens and what is left; items that are too long are skipped."""
        room = min(most, self.left)
        taken: list[str] = []
        for item in items:
            if room < 4:
                break
            cost = self.counter.text(item) + 2
            if cost <= room and item not in taken:
                taken.append(item)
                room -= cost
                self.left -= cost
        return taken


def _sections(said: Sequence[Utterance], before: str, space: _TokenSpace, weights: Mapping[str, int]) -> Iterator[str]:
    whole = max(0, space.left)
    heads = HEADINGS[utterances_language(said)]
    space.left -= sum(space.counter.text(f"## {head}") + 2 for head in heads)
    best = sorted(range(len(said)), key=lambda at: (-weights.get(said[at].message.id, 0), -at))
    old = _parse_carried(before)
    earlier = space.take(old.other, whole * 2 // 5)
    pinned = space.take((*old.pinned, *(f"- {text}" for text in find_constraints(said))), whole // 5)
    told = _list_items(
        (at, _with_speaker(said[at], " ".join(said[at].text.split()))) for at in best if _is_by_user(said[at])
    )
    words = space.take(_order_by_worth(old.words, told, pinned), whole * 2 // 5)
    sources = sorted((at for at in best if not _is_call_item(said[at])), key=lambda at: is_tool_utterance(said[at]))
    stated = _list_items(
        (at, _with_speaker(said[at], text)) for at in sources for text in split_sentences(said[at]) if has_facts(text)
    )
    facts = space.take(_interleave(old.facts, [text for text in stated if text not in (*pinned, *words)]), space.left)
    words += space.take((text for text in told if text not in words and text not in pinned), space.left)
    in_order = (earlier, pinned, _order_as_said(words, told), _order_as_said(facts, stated))
    for head, lines in zip(heads, in_order, strict=True):
        if lines:
            yield f"## {head}"
            yield from lines


@dataclass(frozen=True, slots=True, kw_only=True)
class _CarriedLines:
    """The lines of an earlier summary by what they are, those with facts first."""

    pinned: Sequence[str]
    words: Sequence[str]
    facts: Sequence[str]
    #: Of a summary by a model.
    other: Sequence[str]


def _parse_carried(before: str) -> _CarriedLines:
    found: dict[str, list[str]] = {"other": [], "pinned": [], "words": [], "facts": []}
    kinds = {head: kind for heads in HEADINGS.values() for head, kind in zip(heads, found, strict=True)}
    kind = "other"
    for row in before.splitlines():
        if row.startswith("#"):
            kind = kinds.get(row.lstrip("# ").strip(), "other")
        elif row.strip() and not _MARK.match(row):
            found[kind].append(row)
    return _CarriedLines(**{kind: sorted(lines, key=lambda text: not has_facts(text)) for kind, lines in found.items()})


def _order_by_worth(old: Sequence[str], new: Iterable[str], but: Sequence[str]) -> list[str]:
    """What the user said, in the order in which it is kept: statements with facts, then others; questions last."""
    told = [text for text in (*old, *new) if text not in but]
    return sorted((text for text in told if not _is_question(text)), key=lambda text: not has_facts(text))


def _interleave(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    """One of these, one of those: neither the earlier facts nor the newer take all the space."""
    for pair in zip_longest(old, new):
        yield from (text for text in pair if text)


def _order_as_said(kept: Sequence[str], places: Mapping[str, int]) -> list[str]:
    """Earlier ones first, the others in the order in which they were said."""
    return sorted(kept, key=lambda text: places.get(text, -1))


def _list_items(found: Iterable[tuple[int, str]]) -> dict[str, int]:
    """Texts as list items, each with the place where it was found first."""
    items: dict[str, int] = {}
    for at, text in found:
        if text:
            items.setdefault(f"- {text}", at)
    return items


def _with_speaker(item: Utterance, text: str) -> str:
    """A text of somebody in a group with who that is: of several people's words nobody else can tell whose they are."""
    part = item.message.parts[item.part]
    return f"{item.speaker}: {text}" if isinstance(part, Text) and part.by and text else text


def _is_question(text: str) -> bool:
    """A question says little once it has been answered; one with facts in it is a statement too."""
    return text.rstrip().endswith(("?", "？")) and not has_facts(text)


def _is_call_item(item: Utterance) -> bool:
    """What a tool was asked; the calls that matter have lines of their own."""
    return isinstance(item.message.parts[item.part], ToolCall)


def _is_by_user(item: Utterance) -> bool:
    return item.message.role == "user" and not is_tool_utterance(item)


def _transcript_handles(messages: Sequence[Message]) -> str:
    """How the whole of it is read again."""
    turns = sorted({message.turn for message in messages})
    return f"recall(turn={turns[0]})" if len(turns) == 1 else f"recall(turn={turns[0]}) … recall(turn={turns[-1]})"
