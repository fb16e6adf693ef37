"""The store's doors to what is kept about people and acts, as Protocols that any backend passes the suite of.

All methods may raise StoreFull, StoreBusy or StoreCorrupt.
"""

from collections.abc import Sequence
from typing import Protocol

from memory.store.audit_records import AuditFault, AuditHead, AuditRow
from memory.store.people_records import Leaving, Person, PersonRow


class Audit(Protocol):
    """The chain of acts, read; see Store.note for what adds to it."""

    async def acts(self, limit: int) -> list[AuditRow]:
        """The newest, oldest of them first."""
        ...

    async def head(self) -> AuditHead:
        """Where the chain ends now."""
        ...

    async def fault(self, known: Sequence[AuditHead] = ()) -> AuditFault | None:
        """The first row that is not as it was written, None when all are. known: ends noted outside the record."""
        ...


class People(Protocol):
    """Who talks here, and the removal of all that is kept of a person."""

    async def everyone(self) -> list[PersonRow]:
        """One for each space of private talk, the owner's too, in order of the spaces."""
        ...

    async def in_groups(self, account: str) -> int:
        """How many messages of that account stand in groups; they are the groups'."""
        ...

    async def acts_naming(self, person: Person) -> int:
        """How many rows of the chain of acts name them; those stay."""
        ...

    async def begin(self, person: Person) -> Leaving:
        """From here on they are to be removed, whatever dies; gives what is known of one who is leaving already."""
        ...

    async def leaving(self) -> list[Leaving]:
        """Those whose removal was begun and is not at its end."""
        ...

    async def conversations(self, person: Person) -> list[str]:
        """Ids of their private conversations."""
        ...

    async def drop(self, leaving: Leaving) -> int:
        """Every row of theirs beside their conversations; returns how many."""
        ...

    async def counted(self, leaving: Leaving) -> None:
        """Keep the counts, for the receipt of whoever goes on."""
        ...

    async def gone(self, leaving: Leaving, by: str) -> None:
        """All is removed: the work's own row goes, and the act is noted."""
        ...

    async def blobs_named(self, source: str, after: str, limit: int) -> tuple[set[str], str]:
        """Names of files that so many rows name, and where to go on, "" at the end.

        source: message, inbox or outbox.
        """
        ...

    async def compact(self) -> bool:
        """No byte of what was deleted is left in the database's files; False while somebody reads it."""
        ...


class Retention(Protocol):
    """What is old, taken away in transactions so small that nobody waits for one. Times are unix seconds."""

    async def old(self, before: float, limit: int) -> list[str]:
        """Conversations in which nothing was said or sent since and nothing waits, longest ago first."""
        ...

    async def thin(self, conversation: str, before: float, limit: int) -> str:
        """Take away its oldest turns, so many: "left" where there is more, "gone" with the conversation itself.

        "awake", and nothing, where somebody has written in it meanwhile.
        """
        ...

    async def ended(self, before: float, limit: int) -> int:
        """Rows of work that came to its end before then, so many of each kind; returns how many went."""
        ...

    async def spent(self, before: float, limit: int) -> int:
        """Counts of tokens; returns how many rows went."""
        ...


class FileLabels(Protocol):
    """Names of files and folders that were given in a tainted turn: what lists them shows words from outside.

    A label belongs to a path and stays with it, whoever writes there later; a file under a new name is another one.
    """

    async def mark(self, space: str, paths: Sequence[str]) -> None:
        """Label these paths of a space; those that are labelled stay so."""
        ...

    async def marked(self, space: str) -> frozenset[str]:
        """All labelled paths of a space, whether there is a file now or not."""
        ...
