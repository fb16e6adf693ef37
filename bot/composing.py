"""A message as the model will see it: who says it, what it answers, what was said beside it. Pure."""

from collections.abc import Iterable, Sequence

from bot.intake import Said
from memory.context.taint import EDITED, MEANWHILE, OURS, QUOTED
from memory.conversation import Text
from memory.store.records import InboxRow

MOST_BACKGROUND = 4_000
"""Characters of a group's background that one message may bring along; older talk is left out."""
LONGEST_ASIDE = 1_000
LONGEST_NAME = 40


def name_of(said: Said, sender: str, kind: str) -> str:
    """What a speaker goes by where several people are; "" in private."""
    if kind != "group":
        return ""
    plain = " ".join("".join(sign if sign.isprintable() else " " for sign in said.name).replace(":", " ").split())
    return plain.replace("：", " ")[:LONGEST_NAME] or sender[:LONGEST_NAME]


def quoted(said: Said) -> list[Text]:
    """What the message answers or passes on."""
    quote = said.quote
    if quote is None or not quote.text.strip():
        return []
    if quote.ours:
        return [Text(text=quote.text, aside=OURS)]
    author = " ".join(quote.author.replace(":", " ").split())[:LONGEST_NAME]
    return [Text(text=quote.text, by=author, aside=QUOTED)]


def background(rows: Sequence[tuple[InboxRow, Said]], kind: str) -> list[Text]:
    """What was said aside since the last turn, the newest that has room, oldest first."""
    kept: list[Text] = []
    room = MOST_BACKGROUND
    for row, said in reversed(rows):
        text = said.text.strip()[:LONGEST_ASIDE]
        room -= len(text)
        if room < 0:
            break
        if text:
            aside = EDITED if row.kind == "edit" else MEANWHILE
            kept.append(Text(text=text, by=name_of(said, row.sender_id, kind), aside=aside))
    return kept[::-1]


def own_words(texts: Iterable[str]) -> str:
    """The words of all parts of an album: its caption, mostly."""
    return "\n".join(filter(None, (text.strip() for text in texts)))
