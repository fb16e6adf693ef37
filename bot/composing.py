"""A message as the model will see it: who says it, what it answers, what was said beside it. Pure."""

from collections.abc import Iterable, Sequence

from bot.intake import Said
from memory.context.taint import EDITED, MEANWHILE, OURS, QUOTED
from memory.conversation import Text
from memory.speakers import speaker
from memory.store.records import InboxRow

MOST_BACKGROUND = 4_000
"""Characters of a group's background that one message may bring along; older talk is left out."""
LONGEST_ASIDE = 1_000


def name_of(said: Said, row: InboxRow, kind: str) -> str:
    """What the sender of a row goes by where several people are; "" in private."""
    return speaker(said.name, row.sender_id, row.conversation) if kind == "group" else ""


def quoted(said: Said, row: InboxRow, kind: str) -> list[Text]:
    """What the message of a row answers or passes on."""
    quote = said.quote
    if quote is None or not quote.text.strip():
        return []
    if quote.ours:
        return [Text(text=quote.text, aside=OURS)]
    whose = quote.author_id if kind == "group" else ""
    return [Text(text=quote.text, by=speaker(quote.author, whose, row.conversation), aside=QUOTED)]


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
            kept.append(Text(text=text, by=name_of(said, row, kind), aside=aside))
    return kept[::-1]


def own_words(texts: Iterable[str]) -> str:
    """The words of all parts of an album: its caption, mostly."""
    return "\n".join(filter(None, (text.strip() for text in texts)))
