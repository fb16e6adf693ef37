"""What is known about memory, as frozen values: lines, changes, the work that waits, links."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Literal

from memory.conversation import Message
from memory.text.mentions import MentionMatcher, find_spans, fold_spelling

MemoryState = Literal["live", "superseded", "gone", "forgotten"]
Origin = Literal["extraction", "person", "tool", "dream", "file"]
ChangeKind = Literal["remember", "extract", "tool", "dream", "undo", "forget", "api"]
ExtractionState = Literal["queued", "found", "done", "skipped", "failed"]
DreamState = Literal["planned", "written", "done", "refused", "undone"]
ForgettingState = Literal["asked", "confirmed", "removed", "done", "dropped"]
LinkCodeState = Literal["made", "typed", "agreed", "done", "refused"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySource:
    """Where a memory comes from."""

    conversation: str = ""
    message_id: str = ""
    channel: str = ""
    #: The person's own words.
    quote: str = ""
    #: When, UTC; None where nobody said it.
    said: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRow:
    """What is known about one line of a space's MEMORY.md."""

    id: str
    space: str
    #: Its key (memory.longterm.similarity.normal).
    norm: str
    #: See memory.text.bullets.
    category: str
    #: The line's words.
    text: str
    #: 1 to 10.
    importance: int
    #: "live" while the line stands in the file, "superseded" when a newer one took its place (superseded_by,
    #: valid_until), "gone" when a person took it out by hand.
    state: MemoryState
    origin: Origin
    source: MemorySource
    created: datetime
    updated: datetime
    #: Last time a search gave it, None for never.
    used: datetime | None
    #: How often. Times are UTC.
    uses: int
    superseded_by: str = ""
    valid_until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMemory:
    """A line as `MemoryRecords.put` takes it."""

    norm: str
    category: str
    text: str
    importance: int
    origin: Origin
    source: MemorySource = MemorySource()


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryChange:
    """One write of ours to a memory file."""

    id: str
    space: str
    #: Relative to the space.
    path: str
    kind: ChangeKind
    #: Of the file as it was read, "" for none.
    before_sha256: str
    #: As it was written.
    after_sha256: str
    #: Its lines' words.
    added: tuple[str, ...]
    #: Its lines' words.
    removed: tuple[str, ...]
    #: The former text, kept for a dream alone.
    before: str
    #: What it belongs to (a dream's id, a message's), "" for nothing.
    about: str
    undone: bool
    #: UTC.
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMemoryChange:
    """A write of ours as `MemoryRecords.put` takes it; fields as in MemoryChange."""

    path: str
    kind: ChangeKind
    before_sha256: str
    after_sha256: str
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    before: str = ""
    about: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionRow:
    """A finished turn whose facts are to be noted."""

    turn_id: str
    space: str
    conversation: str
    turn: int
    state: ExtractionState
    attempts: int
    #: JSON text of checked candidates, "" until there are.
    found: str
    reason: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class DreamRow:
    """One night's work on a space."""

    id: str
    space: str
    #: YYYY-MM-DD.
    day: str
    state: DreamState
    #: JSON text.
    plan: str
    #: Its file's path in the space.
    diary: str
    reason: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgettingRow:
    """What a person asked to have forgotten."""

    id: str
    space: str
    conversation: str
    asked_by: str
    state: ForgettingState
    code_sha256: str
    #: JSON text.
    targets: str
    #: JSON text.
    receipt: str
    #: UTC.
    expires: datetime
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountIdentity:
    """One account on one platform."""

    channel: str
    account: str
    sender_id: str
    #: Whose memory it has by itself.
    space: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkRow:
    """An account that has joined another's memory."""

    #: What it would have by itself.
    own_space: str
    space: str
    channel: str
    account: str
    sender_id: str
    #: UTC.
    at: datetime
    #: The conversation in which it was typed.
    chat: str
    #: The one that made the code.
    home_chat: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkCodeRow:
    """A code for joining two accounts."""

    id: str
    code_sha256: str
    state: LinkCodeState
    #: Whose; typist is None until it is typed.
    maker: AccountIdentity
    #: Where it was made and where it was typed.
    conversation: str
    #: Whose; typist is None until it is typed.
    typist: AccountIdentity | None
    #: What the typist is called there, never an identity.
    typed_name: str
    #: Where it was made and where it was typed.
    typed_conversation: str
    expires: datetime
    at: datetime


# What the store is asked for, and what it says of a redaction.


@dataclass(frozen=True, slots=True, kw_only=True)
class LocatedMessage:
    """A stored message with where it was said."""

    message: Message
    channel: str
    #: The conversation's own.
    space: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageMention:
    """A message that mentioned it."""

    channel: str
    #: UTC.
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class EraseReport:
    """What T14 took out."""

    said: tuple[MessageMention, ...]
    #: Whose view or folds it changed.
    conversations: tuple[str, ...]
    #: Files that no message shows any more.
    blobs: tuple[str, ...]
    #: Folds whose texts were changed.
    summaries: int
    #: Rows of memory that were emptied.
    records: int


# The receipt of a forgetting: where it was and how often, and what still holds it; never a word of it. Pure.


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedFile:
    """A file that was changed."""

    #: Relative to the workspace's root; that of the terminal's history, to the home.
    path: str
    #: As they were numbered before.
    lines: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageCount:
    """Messages of one day and channel."""

    #: YYYY-MM-DD in the person's zone.
    date: str
    channel: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetReceipt:
    """What was done."""

    files: tuple[ChangedFile, ...] = ()
    said: tuple[MessageCount, ...] = ()
    summaries: int = 0
    #: Rows of what was known of lines of memory.
    records: int = 0
    #: Files that were deleted.
    attachments: int = 0
    index: bool = False
    #: Copies of the database that may still hold it, as paths below the home.
    backups: tuple[str, ...] = ()
    #: Files of the workspace that are not memory and still mention it.
    kept: tuple[str, ...] = ()


def count_messages(found: Iterable[tuple[str, str]]) -> tuple[MessageCount, ...]:
    """(date, channel) of each message, counted."""
    counted = sorted(Counter(found).items())
    return tuple(MessageCount(date=date, channel=channel, count=count) for (date, channel), count in counted)


def add_files(receipt: ForgetReceipt, files: Iterable[ChangedFile]) -> ForgetReceipt:
    """The receipt with more lines of files; those it names already are named once."""
    lines: dict[str, set[int]] = {place.path: set(place.lines) for place in receipt.files}
    for place in files:
        lines.setdefault(place.path, set()).update(place.lines)
    named = tuple(ChangedFile(path=path, lines=tuple(sorted(held))) for path, held in lines.items())
    return replace(receipt, files=named)


def dump_receipt(receipt: ForgetReceipt) -> str:
    """A receipt as JSON text."""
    return json.dumps(asdict(receipt), ensure_ascii=False)


def load_receipt(text: str) -> ForgetReceipt:
    """The inverse of `dump_receipt`."""
    held = json.loads(text)
    files = tuple(ChangedFile(path=place["path"], lines=tuple(place["lines"])) for place in held.pop("files"))
    said = tuple(MessageCount(**place) for place in held.pop("said"))
    backups, kept = tuple(held.pop("backups")), tuple(held.pop("kept"))
    return ForgetReceipt(**held, files=files, said=said, backups=backups, kept=kept)


# What is to be forgotten: the places that mention it, which of them a person chose, and where it was. Pure.

Kind = Literal["memory", "log", "said"]
MAX_SNIPPET = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """One place that mentions it."""

    kind: Kind
    #: Whose file or conversation.
    space: str
    #: Its sentences that do.
    words: tuple[str, ...]
    #: Of a file, relative to the workspace's root, with its line.
    path: str = ""
    line: int = 0
    #: YYYY-MM-DD in the person's zone, "" for MEMORY.md.
    date: str = ""
    #: Of something said.
    channel: str = ""
    #: Of something said.
    message_id: str = ""
    #: By the person.
    mine: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetTargets:
    """A request as it is kept."""

    query: str
    #: The inbox row it was made by.
    row: str
    items: tuple[Mention, ...]
    #: Places in `items`, None for all of it.
    chosen: tuple[int, ...] | None = None
    #: Attachments that go with their messages, known once the store has been redacted.
    blobs: tuple[str, ...] = ()

    @property
    def taken(self) -> tuple[Mention, ...]:
        """The items that are to be forgotten."""
        return self.items if self.chosen is None else tuple(self.items[number] for number in self.chosen)

    @property
    def left(self) -> tuple[Mention, ...]:
        """The items that a person wants to stay."""
        chosen = range(len(self.items)) if self.chosen is None else self.chosen
        return tuple(item for number, item in enumerate(self.items) if number not in chosen)

    def needle(self, path: str = "") -> MentionMatcher:
        """What to look for in derived texts, or in the file of that path."""
        said = tuple(dict.fromkeys(words for item in self.taken for words in item.words))
        stays = {fold_spelling(words) for item in self.left if path and item.path == path for words in item.words}
        kept = frozenset(stays - set(map(fold_spelling, said)))
        return MentionMatcher(query=self.query, said=said, only=self.chosen is not None, kept=kept)


def dump_targets(targets: ForgetTargets) -> str:
    """Targets as JSON text."""
    return json.dumps(asdict(targets), ensure_ascii=False)


def load_targets(text: str) -> ForgetTargets:
    """The inverse of `dump_targets`."""
    held = json.loads(text)
    items = tuple(Mention(**{**item, "words": tuple(item["words"])}) for item in held["items"])
    chosen = None if held["chosen"] is None else tuple(held["chosen"])
    return ForgetTargets(query=held["query"], row=held["row"], items=items, chosen=chosen, blobs=tuple(held["blobs"]))


def snippet(words: Sequence[str], query: str, most: int = MAX_SNIPPET) -> str:
    """One line of at most `most` characters around where the query stands."""
    text = " ".join(" … ".join(words).split())
    if len(text) <= most:
        return text
    found = find_spans(text, query)
    begin = max(0, min(found[0][0] - most // 3 if found else 0, len(text) - most + 1))
    head, tail = "…" if begin else "", "…"
    piece = text[begin : begin + most - len(head) - len(tail)]
    if begin + len(piece) >= len(text):
        piece, tail = text[begin:], ""
    return f"{head}{piece}{tail}"
