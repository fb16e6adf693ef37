"""The store's doors to long-term memory, as Protocols that any backend passes the suite of.

Every method that reads or writes memory takes the space it is about; there is no way to leave it out.
All methods may raise StoreFull, StoreBusy or StoreCorrupt.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Protocol

from memory.conversation import Message
from memory.store.longterm.rows import (
    AccountIdentity,
    DreamRow,
    DreamState,
    EraseReport,
    ExtractionRow,
    ExtractionState,
    ForgetTargets,
    ForgettingRow,
    ForgettingState,
    LinkCodeRow,
    LinkRow,
    LocatedMessage,
    MemoryChange,
    MemoryRow,
    NewMemory,
    NewMemoryChange,
)


class MemoryRecords(Protocol):
    """T12: what is known about the lines of memory, and every write of ours to a memory file."""

    async def put(
        self,
        space: str,
        change: NewMemoryChange | None,
        live: Sequence[NewMemory] = (),
        superseded: Sequence[tuple[str, str]] = (),
        gone: Sequence[str] = (),
    ) -> list[MemoryRow]:
        """One transaction after the file was written; returns the rows of `live`, in order.

        live: made, or brought up to date where the space has a live row of that norm (importance the greater, source
        kept where it has one). superseded: (norm of the old line, norm of the new one). gone: norms that a person took
        out. A second time changes nothing. A change like the space's newest one, of the same hashes and about the same,
        is not added again. Adds a row to the audit's chain where `change` is given.
        """
        ...

    async def rename(self, space: str, norms: Sequence[tuple[str, NewMemory]]) -> None:
        """Lines that a person changed by hand keep their rows: (former norm, the line as it is now)."""
        ...

    async def rows(self, space: str, *, state: str = "live", category: str = "", limit: int = 0) -> list[MemoryRow]:
        """Newest first. state "": all; limit 0: all."""
        ...

    async def row(self, space: str, norm: str) -> MemoryRow | None:
        """The live row of that line, else the newest that is not."""
        ...

    async def chain(self, space: str, id: str) -> list[MemoryRow]:
        """The lines that this one took the place of, newest first, itself left out."""
        ...

    async def used(self, space: str, norms: Sequence[str]) -> None:
        """A search gave these lines: uses + 1, used now."""
        ...

    async def changes(self, space: str, limit: int = 50) -> list[MemoryChange]:
        """Newest first."""
        ...

    async def undo_change(self, space: str, id: str) -> None:
        """Mark a change as taken back."""
        ...

    async def source(self, space: str, message_id: str) -> Message | None:
        """The stored message that a memory rests on, of this space or an account linked to it."""
        ...


class ExtractionQueue(Protocol):
    """The queue of turns whose facts are to be noted; a turn is put in it by Delivery.finish(remember=True)."""

    async def spaces(self) -> list[str]:
        """Spaces with open rows (queued or found); of an account that has joined another, the one it joined."""
        ...

    async def next(self, space: str) -> ExtractionRow | None:
        """The oldest open row of a space, or of an account that has joined it; attempts + 1."""
        ...

    async def row(self, turn_id: str) -> ExtractionRow | None:
        """As it is now, None where it has been removed."""
        ...

    async def messages(self, row: ExtractionRow) -> list[Message]:
        """What was said in its turn, in order; none where it has been removed."""
        ...

    async def move(self, turn_id: str, state: ExtractionState, *, found: str = "", reason: str = "") -> None:
        """queued -> found | skipped | failed; found -> done | failed; anything else raises WrongState.

        What was found stays with a row that failed, and leaves one that is done.
        """
        ...

    async def counts(self) -> dict[str, int]:
        """Rows by state."""
        ...


class DreamRecords(Protocol):
    """Nights in which a space's memory was put in order."""

    async def begin(self, space: str, day: str) -> DreamRow | None:
        """planned, or what there is of that day where it is not at its end; None where it is."""
        ...

    async def move(
        self,
        id: str,
        state: DreamState,
        *,
        plan: str | None = None,
        diary: str | None = None,
        reason: str | None = None,
    ) -> DreamRow:
        """planned -> planned | written | done | refused; written -> done; done -> undone; else raises WrongState.

        To "undone" marks its change of the file as undone in the same transaction.
        """
        ...

    async def dream(self, id: str) -> DreamRow | None:
        """One night's row, None for an unknown id."""
        ...

    async def last(self, space: str) -> DreamRow | None:
        """The newest one that is not refused."""
        ...

    async def load_open(self) -> list[DreamRow]:
        """planned or written: an earlier process left them."""
        ...

    async def spaces(self) -> list[str]:
        """The home of every space that a conversation has, "" for the owner's."""
        ...

    async def is_group(self, space: str) -> bool:
        """Whether a group talks there."""
        ...

    async def tool_writes(self, space: str) -> list[str]:
        """What a model's file tools were given to write into memory there: each call's arguments, JSON text."""
        ...


class ForgetRequests(Protocol):
    """What people asked to have forgotten, and T14."""

    async def ask(self, row: ForgettingRow) -> None:
        """A new one in state asked; an older asked one of the same conversation is dropped."""
        ...

    async def asked(self, conversation: str, now: datetime) -> ForgettingRow | None:
        """The one that waits for its confirmation and has not expired."""
        ...

    async def move(
        self, id: str, state: ForgettingState, *, targets: str | None = None, receipt: str | None = None
    ) -> None:
        """asked -> confirmed | dropped; confirmed -> removed; removed -> done; anything else raises WrongState."""
        ...

    async def row(self, id: str) -> ForgettingRow:
        """Raises WrongState where there is none."""
        ...

    async def load_open(self) -> list[ForgettingRow]:
        """confirmed or removed: they go on at start."""
        ...

    async def expire(self, now: datetime) -> None:
        """asked -> dropped for those that nobody confirmed in time; what they were to forget is not kept."""
        ...

    async def said(self, space: str, after: str, limit: int) -> list[LocatedMessage]:
        """Messages of a space and those linked to it in order of their ids, from behind the id `after`."""
        ...

    async def confirm(
        self, row: ForgettingRow, targets: ForgetTargets, written: Callable[[EraseReport], tuple[str, str]]
    ) -> EraseReport:
        """T14: asked -> confirmed, the record redacted, and what `written` makes of it kept as targets and receipt."""
        ...

    async def erase(self, space: str, targets: ForgetTargets) -> EraseReport:
        """The same redaction once more, for what was written meanwhile."""
        ...

    async def empty(self, id: str, receipt: str) -> None:
        """What was to be forgotten is not kept any more, in its place the receipt; the state stays."""
        ...

    async def compact(self) -> bool:
        """No byte of what was deleted is left in the database's files; False when a reader was in the way."""
        ...

    async def last(self, space: str) -> ForgettingRow | None:
        """The newest one that is done."""
        ...


class AccountLinks(Protocol):
    """Whose memory an account has: its own, or one that it has joined."""

    async def home(self, own_space: str) -> str:
        """The space that an account's memory is: its own, or the one it joined."""
        ...

    async def members(self, space: str) -> tuple[str, ...]:
        """All spaces whose texts belong to this one: itself first, then those that joined it."""
        ...

    async def links(self, space: str) -> list[LinkRow]: ...

    async def make_code(self, code_sha256: str, maker: AccountIdentity, conversation: str, expires: datetime) -> None:
        """A new code; an older one of the same maker that is not done is refused."""
        ...

    async def type_code(
        self, code_sha256: str, typist: AccountIdentity, name: str, conversation: str, now: datetime
    ) -> LinkCodeRow | None:
        """made -> typed; None for an unknown, used, expired one, the maker's own, or while `locked`. None counts."""
        ...

    async def locked(self, typist: AccountIdentity, now: datetime) -> datetime | None:
        """Until when nothing that this account types is looked at: for an hour after 5 wrong codes in an hour."""
        ...

    async def pending(self, one: AccountIdentity, now: datetime) -> LinkCodeRow | None:
        """The newest code that this account has made or typed and that waits for a word of one of both."""
        ...

    async def agree(self, id: str) -> bool:
        """typed -> agreed: the typist has seen whose code it is; False where it is not typed (any more)."""
        ...

    async def settle(self, id: str, *, join: bool) -> LinkRow | None:
        """agreed -> done: the typist's account joins the maker's memory; or typed, agreed -> refused; audited.

        None, and refused, where it may not join: the owner's own space, one that has joined another or that others
        have joined, the same memory.
        """
        ...

    async def unlink(self, own_space: str) -> bool:
        """The account has its own memory again; False where it had joined none; audited."""
        ...
