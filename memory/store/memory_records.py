"""What is known about memory, as frozen values: lines, changes, the work that waits, links."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

MemoryState = Literal["live", "superseded", "gone", "forgotten"]
Origin = Literal["extraction", "person", "tool", "dream", "file"]
ChangeKind = Literal["remember", "extract", "tool", "dream", "undo", "forget", "api"]
ExtractionState = Literal["queued", "found", "done", "skipped", "failed"]
DreamState = Literal["planned", "written", "done", "refused", "undone"]
ForgettingState = Literal["asked", "confirmed", "removed", "done", "dropped"]
LinkCodeState = Literal["made", "typed", "agreed", "done", "refused"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySource:
    """Where a memory comes from. quote: the person's own words; said: when, UTC; None where nobody said it."""

    conversation: str = ""
    message_id: str = ""
    channel: str = ""
    quote: str = ""
    said: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRow:
    """What is known about one line of a space's MEMORY.md. norm: its key (memory.longterm.similarity.normal).

    text: the line's words; category: see memory.longterm.bullets. importance: 1 to 10. state: "live" while the line
    stands in the file, "superseded" when a newer one took its place (superseded_by, valid_until), "gone" when a person
    took it out by hand. used: last time a search gave it, None for never; uses: how often. Times are UTC.
    """

    id: str
    space: str
    norm: str
    category: str
    text: str
    importance: int
    state: MemoryState
    origin: Origin
    source: MemorySource
    created: datetime
    updated: datetime
    used: datetime | None
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
    """One write of ours to a memory file. path: relative to the space. added, removed: its lines' words.

    before_sha256: of the file as it was read, "" for none; after_sha256: as it was written. before: the former text,
    kept for a dream alone; about: what it belongs to (a dream's id, a message's), "" for nothing. at: UTC.
    """

    id: str
    space: str
    path: str
    kind: ChangeKind
    before_sha256: str
    after_sha256: str
    added: tuple[str, ...]
    removed: tuple[str, ...]
    before: str
    about: str
    undone: bool
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class NewChange:
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
    """A finished turn whose facts are to be noted. found: JSON text of checked candidates, "" until there are."""

    turn_id: str
    space: str
    conversation: str
    turn: int
    state: ExtractionState
    attempts: int
    found: str
    reason: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class DreamRow:
    """One night's work on a space. day: YYYY-MM-DD; plan: JSON text; diary: its file's path in the space."""

    id: str
    space: str
    day: str
    state: DreamState
    plan: str
    diary: str
    reason: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgettingRow:
    """What a person asked to have forgotten. targets, receipt: JSON text; expires: UTC."""

    id: str
    space: str
    conversation: str
    asked_by: str
    state: ForgettingState
    code_sha256: str
    targets: str
    receipt: str
    expires: datetime
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """One account on one platform. space: whose memory it has by itself."""

    channel: str
    account: str
    sender_id: str
    space: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkRow:
    """An account that has joined another's memory. own_space: what it would have by itself; at: UTC.

    chat: the conversation in which it was typed; home_chat: the one that made the code.
    """

    own_space: str
    space: str
    channel: str
    account: str
    sender_id: str
    at: datetime
    chat: str
    home_chat: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkCodeRow:
    """A code for joining two accounts. maker, typist: whose; typist is None until it is typed.

    conversation, typed_conversation: where it was made and where it was typed; typed_name: what the typist is called
    there, never an identity.
    """

    id: str
    code_sha256: str
    state: LinkCodeState
    maker: Identity
    conversation: str
    typist: Identity | None
    typed_name: str
    typed_conversation: str
    expires: datetime
    at: datetime
