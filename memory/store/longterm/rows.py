"""Rows of long-term memory: lines, changes, extractions, dreams, links, and requests to forget.

Pure.
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Literal

from memory.conversation import Message
from memory.text.mentions import MentionMatcher, find_spans, fold_spelling

MemoryState = Literal["live", "superseded", "gone", "forgotten", "reworded"]
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
    #: When the person said it, UTC; None when unknown.
    said: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMemory:
    """A line to store."""

    #: The line's key: memory.longterm.similarity.normalize_key.
    norm: str
    #: See memory.text.bullets.
    category: str
    text: str
    #: 1 to 10.
    importance: int
    origin: Origin
    source: MemorySource = MemorySource()


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRow(NewMemory):
    """A line of a space's MEMORY.md, or one that was there once."""

    id: str
    space: str
    #: "live": in the file; "superseded": replaced by `superseded_by` at `valid_until`; "gone":
    #: removed by a person; "forgotten": emptied by /forget; "reworded": the former wording of a
    #: line, or a time at which it was there before, which ended at `valid_until`.
    state: MemoryState
    created: datetime
    updated: datetime
    #: When a search last returned it, UTC; None for never.
    used: datetime | None
    #: How many searches returned it.
    uses: int
    superseded_by: str = ""
    valid_until: datetime | None = None
    #: When it got its wording; None for `created`.
    since: datetime | None = None

    @property
    def began(self) -> datetime:
        """When it began to hold in this wording."""
        return self.since or self.created


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryPage:
    """Which rows of a space a page of them shows."""

    #: Rows that are no longer in the file, instead of those that are.
    former: bool = False
    #: "" for all.
    category: str = ""
    #: Least importance.
    importance: int = 0
    #: Words that the text contains, "" for all; and as a key.
    words: str = ""
    norm: str = ""
    #: Only rows with a smaller id, "" for the first page.
    before: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMemoryChange:
    """A change of a memory file to store."""

    #: Relative to the space.
    path: str
    kind: ChangeKind
    #: "" when there was no file.
    before_sha256: str
    after_sha256: str
    #: Texts of the added lines.
    added: tuple[str, ...] = ()
    #: Texts of the removed lines.
    removed: tuple[str, ...] = ()
    #: The file's former text; "" unless a dream made the change.
    before: str = ""
    #: Id of the message or dream that caused it, "" for none.
    about: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryChange(NewMemoryChange):
    """A change that the bot made to a memory file."""

    id: str
    space: str
    undone: bool
    #: UTC.
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionRow:
    """A finished turn in the queue of fact extraction."""

    turn_id: str
    space: str
    conversation: str
    turn: int
    state: ExtractionState
    attempts: int
    #: JSON of an ExtractionResult, "" before the model answered.
    found: str
    reason: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class DreamRow:
    """One night's revision of a space's memory."""

    id: str
    space: str
    #: YYYY-MM-DD.
    day: str
    state: DreamState
    #: JSON of a SavedPlan.
    plan: str
    #: Path of the dream log in the space.
    diary: str
    reason: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgettingRow:
    """A person's request to forget something."""

    id: str
    space: str
    conversation: str
    asked_by: str
    state: ForgettingState
    code_sha256: str
    #: JSON of ForgetTargets; "" once done or dropped.
    targets: str
    #: JSON of a ForgetReceipt; "" before it is confirmed.
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
    #: The space that it uses without a link.
    space: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkRow:
    """An account that is linked to another account's memory."""

    #: The space that it used before.
    own_space: str
    space: str
    channel: str
    account: str
    sender_id: str
    #: UTC.
    at: datetime
    #: The conversation in which the code was typed.
    chat: str
    #: The conversation in which the code was made.
    home_chat: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkCodeRow:
    """A code that links two accounts."""

    id: str
    code_sha256: str
    state: LinkCodeState
    maker: AccountIdentity
    #: Where the code was made.
    conversation: str
    #: None until the code is typed.
    typist: AccountIdentity | None
    #: The typist's display name on the platform, never an identity.
    typed_name: str
    #: Where the code was typed.
    typed_conversation: str
    expires: datetime
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class LocatedMessage:
    """A stored message with its channel and space."""

    message: Message
    channel: str
    #: Of the conversation, before any link.
    space: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageMention:
    """A message that /forget changed."""

    channel: str
    #: UTC.
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class EraseReport:
    """What was erased from the store."""

    said: tuple[MessageMention, ...]
    #: Conversations whose view or folds changed.
    conversations: tuple[str, ...]
    #: Blobs that no message refers to any more.
    blobs: tuple[str, ...]
    #: Number of folds whose texts changed.
    summaries: int
    #: Number of memory rows that were emptied.
    records: int
    #: Number of past requests that showed it.
    views: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedFile:
    """A file that was changed."""

    #: Relative to the workspace; of the terminal history, relative to the home.
    path: str
    #: Line numbers before the change.
    lines: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageCount:
    """Number of changed messages of one day and channel."""

    #: YYYY-MM-DD in the person's zone.
    date: str
    channel: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetReceipt:
    """Where the forgotten words were, how often, and where they may remain; without the words
    themselves.
    """

    files: tuple[ChangedFile, ...] = ()
    said: tuple[MessageCount, ...] = ()
    summaries: int = 0
    #: Number of memory rows.
    records: int = 0
    #: Number of stored views of past requests that showed it.
    views: int = 0
    #: Number of former versions of files that were dropped.
    versions: int = 0
    #: Number of deleted files.
    attachments: int = 0
    #: The search index was cleared.
    index: bool = False
    #: Copies of the database that may still have it, as paths below the home.
    backups: tuple[str, ...] = ()
    #: Files of the workspace that still mention it.
    kept: tuple[str, ...] = ()


def count_messages(found: Iterable[tuple[str, str]]) -> tuple[MessageCount, ...]:
    """Count messages, given as (date, channel)."""
    counted = sorted(Counter(found).items())
    return tuple(
        MessageCount(date=date, channel=channel, count=count) for (date, channel), count in counted
    )


def add_files(receipt: ForgetReceipt, files: Iterable[ChangedFile]) -> ForgetReceipt:
    """Add changed lines to a receipt, each named once."""
    lines: dict[str, set[int]] = {}
    for file in (*receipt.files, *files):
        lines.setdefault(file.path, set()).update(file.lines)
    merged = (
        ChangedFile(path=path, lines=tuple(sorted(numbers))) for path, numbers in lines.items()
    )
    return replace(receipt, files=tuple(merged))


def dump_receipt(receipt: ForgetReceipt) -> str:
    """Serialise a receipt as JSON."""
    return json.dumps(asdict(receipt), ensure_ascii=False)


def load_receipt(text: str) -> ForgetReceipt:
    """The inverse of `dump_receipt`."""
    values = json.loads(text)
    values |= {name: tuple(values[name]) for name in ("backups", "kept")}
    values["files"] = tuple(
        ChangedFile(path=file["path"], lines=tuple(file["lines"])) for file in values["files"]
    )
    values["said"] = tuple(MessageCount(**count) for count in values["said"])
    return ForgetReceipt(**values)


Kind = Literal["memory", "log", "version", "said"]
MAX_SNIPPET = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """One place that mentions what is to be forgotten."""

    kind: Kind
    #: Of the file or conversation.
    space: str
    #: The sentences that mention it.
    words: tuple[str, ...]
    #: Path of the file, relative to the workspace; "" for a message.
    path: str = ""
    line: int = 0
    #: YYYY-MM-DD in the person's zone, "" for MEMORY.md.
    date: str = ""
    #: Of the message, "" for a file.
    channel: str = ""
    #: "" for a file.
    message_id: str = ""
    #: The person wrote the message.
    mine: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetTargets:
    """What a request is to forget, as stored."""

    query: str
    #: The inbox row of the request.
    row: str
    items: tuple[Mention, ...]
    #: Indexes of the chosen items; None for every mention, also those found later.
    chosen: tuple[int, ...] | None = None
    #: Attachments to delete; known after the store was redacted.
    blobs: tuple[str, ...] = ()

    @property
    def chosen_items(self) -> tuple[Mention, ...]:
        """The items to forget."""
        return (
            self.items
            if self.chosen is None
            else tuple(self.items[number] for number in self.chosen)
        )

    @property
    def other_items(self) -> tuple[Mention, ...]:
        """The items that the person did not choose."""
        chosen = range(len(self.items)) if self.chosen is None else self.chosen
        return tuple(item for number, item in enumerate(self.items) if number not in chosen)

    def matcher(self, path: str = "") -> MentionMatcher:
        """Build the matcher for derived texts, or for the file at a path (where items that were not
        chosen stay).
        """
        said = tuple(dict.fromkeys(words for item in self.chosen_items for words in item.words))
        others = {
            words for item in self.other_items if path and item.path == path for words in item.words
        }
        kept = frozenset(map(fold_spelling, others)) - set(map(fold_spelling, said))
        return MentionMatcher(query=self.query, said=said, only=self.chosen is not None, kept=kept)


def dump_targets(targets: ForgetTargets) -> str:
    """Serialise targets as JSON."""
    return json.dumps(asdict(targets), ensure_ascii=False)


def load_targets(text: str) -> ForgetTargets:
    """The inverse of `dump_targets`."""
    values = json.loads(text)
    items = tuple(Mention(**{**item, "words": tuple(item["words"])}) for item in values["items"])
    chosen = None if values["chosen"] is None else tuple(values["chosen"])
    blobs = tuple(values["blobs"])
    return ForgetTargets(
        query=values["query"], row=values["row"], items=items, chosen=chosen, blobs=blobs
    )


def snippet(words: Sequence[str], query: str, most: int = MAX_SNIPPET) -> str:
    """Shorten sentences to one line of at most `most` characters around the query."""
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
