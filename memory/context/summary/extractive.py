"""Summary extracted from the messages themselves, for when there is no valid answer of a model."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Literal

from memory.context.summary.excerpts import without_data
from memory.context.summary.grounding import ground_text, has_facts, split_sentences
from memory.context.summary.transcript import Utterance, is_tool_utterance, list_utterances
from memory.context.taint import is_own_words
from memory.context.tokens import TokenCounter
from memory.conversation import Message, Text, ToolCall
from memory.text.language import HEADINGS, is_mostly_cjk

DIGEST_MARK = "[+{count} messages, digest]"
_MARK = re.compile(r"\[\+\d+ messages, digest\]")
_CONSTRAINT = re.compile(
    r"\b(?:always|never|must(?:n't)?|do not|don't|remember|from now on|make sure|prefer|only "
    r"ever)\b|请记住|记得|记住|必须|务必|一定要|不要|不许|不能|千万别|以后都|永远|总是|只能|请用",
    re.IGNORECASE,
)
EXTRACT_HEADINGS = {
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
    messages: Sequence[Message],
    before: str,
    counter: TokenCounter,
    budget: int,
    emphasis: Emphasis = NO_EMPHASIS,
) -> str:
    """Extract the most important sentences of the messages and of the earlier summary `before`.

    In this order, within `budget` tokens: lines about tools, the earlier summary (at most 2/5), the
    user's constraints, the user's own words (questions last), sentences with facts (of people and
    the model before those of tools), and the handle to the rest. Of each kind the most important go
    in first, then the newest; they are shown in order of time. Lines of an earlier extract stay in
    their sections. The text ends in `[+N messages, digest]`.
    """
    said = list(list_utterances(messages))
    tools = (
        [f"## {HEADINGS[detect_language(messages)]['tools']}", *emphasis.tools]
        if emphasis.tools
        else []
    )
    end = "\n".join(
        (*tools, f"{DIGEST_MARK.format(count=len(messages))} {_turn_handles(messages)}")
    )
    tokens = _TokenBudget(counter=counter, left=budget - counter.text(end) - 4)
    extract = "\n".join(_sections(said, before, tokens, emphasis.weights))
    source = "\n".join([before, *(f"{item.speaker}: {item.text}" for item in said)])
    return f"{ground_text(extract, source).text}\n{end}".strip()


def part_summary(said: Sequence[Utterance], counter: TokenCounter, budget: int) -> str:
    """An extract of some messages without the end mark, to be merged with others."""
    tokens = _TokenBudget(counter=counter, left=budget)
    return ground_text(
        "\n".join(_sections(said, "", tokens, {})), "\n".join(item.text for item in said)
    ).text


def find_constraints(said: Iterable[Utterance]) -> list[str]:
    """The user's standing instructions in their own sentences, oldest first; in a group with the
    speaker.
    """
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
    """Like `detect_language`, for utterances.

    Pasted code, tables and output count only where nothing else is said.
    """
    texts = [item.text for item in said if _is_by_user(item)]
    return (
        "zh" if is_mostly_cjk("".join(map(without_data, texts)).strip() or "".join(texts)) else "en"
    )


class _TokenBudget:
    """A token budget to fill."""

    def __init__(self, *, counter: TokenCounter, left: int) -> None:
        self.counter = counter
        self.left = left

    def take(self, items: Iterable[str], most: int) -> list[str]:
        """Take items in order within `most` tokens and what is left; items that are too long are
        skipped.
        """
        available = min(most, self.left)
        taken: list[str] = []
        for item in items:
            if available < 4:
                break
            cost = self.counter.text(item) + 2
            if cost <= available and item not in taken:
                taken.append(item)
                available -= cost
                self.left -= cost
        return taken


def _sections(
    said: Sequence[Utterance], before: str, tokens: _TokenBudget, weights: Mapping[str, int]
) -> Iterator[str]:
    total = max(0, tokens.left)
    headings = EXTRACT_HEADINGS[utterances_language(said)]
    tokens.left -= sum(tokens.counter.text(f"## {heading}") + 2 for heading in headings)
    best = sorted(range(len(said)), key=lambda at: (-weights.get(said[at].message.id, 0), -at))
    old = _parse_earlier(before)
    earlier = tokens.take(old["other"], total * 2 // 5)
    constraints = tokens.take(
        (*old["constraints"], *(f"- {text}" for text in find_constraints(said))), total // 5
    )
    by_user = _list_words_of_people(said, best)
    statements = [
        text
        for text in (*old["words"], *by_user)
        if text not in constraints and not _is_question(text)
    ]
    words = tokens.take(sorted(statements, key=lambda text: not has_facts(text)), total * 2 // 5)
    stated = _list_facts(said, best)
    new = [text for text in stated if text not in (*constraints, *words)]
    facts = tokens.take(_alternate(old["facts"], new), tokens.left)
    words += tokens.take(
        (text for text in by_user if text not in words and text not in constraints), tokens.left
    )
    in_order = (earlier, constraints, _order_as_said(words, by_user), _order_as_said(facts, stated))
    for heading, lines in zip(headings, in_order, strict=True):
        if lines:
            yield f"## {heading}"
            yield from lines


def _list_words_of_people(said: Sequence[Utterance], best: Sequence[int]) -> dict[str, int]:
    """What people said as list items, the most important first."""
    return _list_items(
        (at, _with_speaker(said[at], " ".join(said[at].text.split())))
        for at in best
        if _is_by_user(said[at])
    )


def _list_facts(said: Sequence[Utterance], best: Sequence[int]) -> dict[str, int]:
    """The sentences with facts as list items; those of tools come after all others."""
    # calls have lines of their own
    sources = [at for at in best if not isinstance(said[at].message.parts[said[at].part], ToolCall)]
    sources.sort(key=lambda at: is_tool_utterance(said[at]))
    return _list_items(
        (at, _with_speaker(said[at], text))
        for at in sources
        for text in split_sentences(said[at])
        if has_facts(text)
    )


def _alternate(earlier: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    """Yield the facts in turn, so that neither the earlier nor the new ones take all tokens."""
    for pair in zip_longest(earlier, new):
        yield from filter(None, pair)


def _parse_earlier(before: str) -> Mapping[str, Sequence[str]]:
    """The lines of an earlier extract by section, those with facts first; lines of a model's
    summary are "other".
    """
    found: dict[str, list[str]] = {"other": [], "constraints": [], "words": [], "facts": []}
    names = {
        title: name
        for titles in EXTRACT_HEADINGS.values()
        for title, name in zip(titles, found, strict=True)
    }
    name = "other"
    for line in before.splitlines():
        if line.startswith("#"):
            name = names.get(line.lstrip("# ").strip(), "other")
        elif line.strip() and not _MARK.match(line):
            found[name].append(line)
    return {
        name: sorted(lines, key=lambda text: not has_facts(text)) for name, lines in found.items()
    }


def _order_as_said(texts: Sequence[str], said_at: Mapping[str, int]) -> list[str]:
    """Lines of the earlier summary first, then the others in the order in which they were said."""
    return sorted(texts, key=lambda text: said_at.get(text, -1))


def _list_items(found: Iterable[tuple[int, str]]) -> dict[str, int]:
    """Texts as list items, each with the index where it was said first."""
    items: dict[str, int] = {}
    for at, text in found:
        if text:
            items.setdefault(f"- {text}", at)
    return items


def _with_speaker(item: Utterance, text: str) -> str:
    """Prefix a text with its speaker in a group, and where it is neither the person's own nor the
    bot's.
    """
    part = item.message.parts[item.part]
    is_plain = isinstance(part, Text) and is_own_words(part) and not part.by
    return text if is_plain or not text else f"{item.speaker}: {text}"


def _is_question(text: str) -> bool:
    """Whether a text is a mere question, without facts: it says little once it has been
    answered.
    """
    return text.rstrip().endswith(("?", "？")) and not has_facts(text)


def _is_by_user(item: Utterance) -> bool:
    return item.message.role == "user" and is_own_words(item.message.parts[item.part])


def _turn_handles(messages: Sequence[Message]) -> str:
    """The tool calls that show the original turns."""
    turns = sorted({message.turn for message in messages})
    return (
        f"recall(turn={turns[0]})"
        if len(turns) == 1
        else f"recall(turn={turns[0]}) … recall(turn={turns[-1]})"
    )
