"""What is to be forgotten: the places that mention it, which of them a person chose, and where it was. Pure."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal

from memory.forgetting.mentions import Needle, plain, spans

Kind = Literal["memory", "log", "said"]
SNIPPET = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One place that mentions it. words: its sentences that do.

    path: of a file, relative to the workspace's root, with its line; date: YYYY-MM-DD in the person's zone, "" for
    MEMORY.md. message_id, channel, mine: of something said; mine: by the person. space: whose file or conversation.
    """

    kind: Kind
    space: str
    words: tuple[str, ...]
    path: str = ""
    line: int = 0
    date: str = ""
    channel: str = ""
    message_id: str = ""
    mine: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Targets:
    """A request as it is kept. row: the inbox row it was made by. chosen: places in `items`, None for all of it.

    blobs: attachments that go with their messages, known once the record has been redacted.
    """

    query: str
    row: str
    items: tuple[Item, ...]
    chosen: tuple[int, ...] | None = None
    blobs: tuple[str, ...] = ()

    @property
    def taken(self) -> tuple[Item, ...]:
        """The items that are to be forgotten."""
        return self.items if self.chosen is None else tuple(self.items[number] for number in self.chosen)

    @property
    def left(self) -> tuple[Item, ...]:
        """The items that a person wants to stay."""
        chosen = range(len(self.items)) if self.chosen is None else self.chosen
        return tuple(item for number, item in enumerate(self.items) if number not in chosen)

    def needle(self, path: str = "") -> Needle:
        """What to look for in derived texts, or in the file of that path."""
        said = tuple(dict.fromkeys(words for item in self.taken for words in item.words))
        stays = {plain(words) for item in self.left if path and item.path == path for words in item.words}
        kept = frozenset(stays - set(map(plain, said)))
        return Needle(query=self.query, said=said, only=self.chosen is not None, kept=kept)


def dump_targets(targets: Targets) -> str:
    """Targets as JSON text."""
    return json.dumps(asdict(targets), ensure_ascii=False)


def load_targets(text: str) -> Targets:
    """The inverse of `dump_targets`."""
    held = json.loads(text)
    items = tuple(Item(**{**item, "words": tuple(item["words"])}) for item in held["items"])
    chosen = None if held["chosen"] is None else tuple(held["chosen"])
    return Targets(query=held["query"], row=held["row"], items=items, chosen=chosen, blobs=tuple(held["blobs"]))


def snippet(words: Sequence[str], query: str, most: int = SNIPPET) -> str:
    """One line of at most `most` characters around where the query stands."""
    text = " ".join(" … ".join(words).split())
    if len(text) <= most:
        return text
    found = spans(text, query)
    begin = max(0, min(found[0][0] - most // 3 if found else 0, len(text) - most + 1))
    head, tail = "…" if begin else "", "…"
    piece = text[begin : begin + most - len(head) - len(tail)]
    if begin + len(piece) >= len(text):
        piece, tail = text[begin:], ""
    return f"{head}{piece}{tail}"
