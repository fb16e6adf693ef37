"""A summary made of the source's own sentences, for when no model's can be had or believed."""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import tzinfo

from memory.context.counter import Counter
from memory.context.grounding import ground, has_facts, split
from memory.context.render import Utterance, is_tool, line, shorten, utterances
from memory.conversation import Message

MARK = "[+{count} messages, digest]"
MOST_LOGGED = 1_000  # characters of one text in the digest's log; what facts the rest holds is added by `missing`
_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_CONSTRAINT = re.compile(
    r"\b(?:always|never|must(?:n't)?|do not|don't|remember|from now on|make sure|prefer|only ever)\b"
    r"|请记住|记得|记住|必须|务必|一定要|不要|不许|不能|千万别|以后都|永远|总是|只能|请用",
    re.IGNORECASE,
)
_HEADS = {
    "zh": ("更早的摘要", "约定", "最近的用户消息", "事实"),
    "en": ("Earlier summary", "Constraints", "Latest user messages", "Facts"),
}


def digest(messages: Sequence[Message], before: str, counter: Counter, budget: int) -> str:
    """Extract what must not be lost; every sentence occurs in the messages or in the summary `before`.

    As far as `budget` tokens go: the earlier summary (at most two fifths), the constraints the user set, the newest
    user messages word for word, sentences with numbers, paths, addresses, ids and quotations, and the handle to the
    rest. It ends in `[+N messages, digest]`.
    """
    said = list(utterances(messages))
    mark = f"{MARK.format(count=len(messages))} {_where(messages)}"
    space = _Space(counter=counter, left=budget - counter.text(mark) - 4)
    kept = "\n".join(_sections(said, before, space, language(messages)))
    source = "\n".join([before, *(item.text for item in said)])
    return f"{ground(kept, source).text}\n{mark}".strip()


def digest_log(messages: Iterable[Message], zone: tzinfo) -> str:
    """The diary without a model: what was said, line by line, long texts shortened; tools' traffic is left out."""
    return "\n".join(line(shorten(item, MOST_LOGGED), zone) for item in utterances(messages) if not is_tool(item))


def constraints(said: Iterable[Utterance]) -> list[str]:
    """What the user asked to be kept to, in their own sentences, oldest first."""
    return [
        sentence for item in said if _by_user(item) for sentence in _sentences(item) if _CONSTRAINT.search(sentence)
    ]


def language(messages: Iterable[Message]) -> str:
    """ "zh" when a fifth of what the user wrote is CJK, else "en"."""
    text = "".join(item.text for item in utterances(messages) if _by_user(item))
    letters = sum(map(str.isalpha, text))
    return "zh" if letters and len(_CJK.findall(text)) * 5 >= letters else "en"


class _Space:
    """Tokens that are left to fill."""

    def __init__(self, *, counter: Counter, left: int) -> None:
        self.counter = counter
        self.left = left

    def take(self, items: Iterable[str], most: int) -> list[str]:
        """The items that go in, in order, within `most` tokens and what is left; too long ones are passed over."""
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


def _sections(said: Sequence[Utterance], before: str, space: _Space, lang: str) -> Iterator[str]:
    whole = max(0, space.left)
    heads = _HEADS[lang]
    space.left -= sum(space.counter.text(f"## {head}") + 2 for head in heads)
    old = space.take(_carried(before), whole * 2 // 5)
    pinned = space.take((f"- {text}" for text in constraints(said)), whole // 5)
    users = [" ".join(item.text.split()) for item in reversed(said) if _by_user(item)]
    newest = space.take((f"- {text}" for text in users if text), whole * 3 // 10)
    facts = (f"- {text}" for item in reversed(said) for text in _sentences(item) if has_facts(text))
    told = space.take((fact for fact in facts if fact not in pinned), space.left)
    for head, lines in zip(heads, (old, pinned, newest[::-1], told[::-1]), strict=True):
        if lines:
            yield f"## {head}"
            yield from lines


def _carried(before: str) -> list[str]:
    """The lines of the earlier summary but for headings and marks; those with facts first."""
    mark = re.compile(re.escape(MARK).replace(r"\{count\}", r"\d+"))
    lines = [text for text in before.splitlines() if text.strip() and not text.startswith("#") and not mark.match(text)]
    return sorted(lines, key=lambda text: not has_facts(text))


def _sentences(item: Utterance) -> list[str]:
    return [" ".join(part.split()) for row in item.text.splitlines() for part in split(row)[1]]


def _by_user(item: Utterance) -> bool:
    return item.message.role == "user" and not is_tool(item)


def _where(messages: Sequence[Message]) -> str:
    """How the whole of it is read again."""
    turns = sorted({message.turn for message in messages})
    return f"recall(turn={turns[0]})" if len(turns) == 1 else f"recall(turn={turns[0]}) … recall(turn={turns[-1]})"
