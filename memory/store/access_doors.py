"""The store's door to who may talk, as a Protocol that any backend passes the suite of.

All methods may raise StoreFull, StoreBusy or StoreCorrupt. Each that changes something adds to the audit's chain.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from memory.store.access_records import (
    ApprovalRow,
    ApprovalState,
    Asking,
    GrantRow,
    Knock,
    Notice,
    Party,
    RequestRow,
    RequestState,
    Revoked,
)


class Access(Protocol):
    """Who was given what, who asks for it, and which acts wait for a person."""

    async def grants(self, channel: str, account: str, person: str, group: str = "") -> list[GrantRow]:
        """What that person has with one account of ours, and that group; grants for any account among them."""
        ...

    async def all_grants(self) -> list[GrantRow]:
        """Oldest first."""
        ...

    async def grant(self, row: GrantRow) -> None:
        """In place of what the party had for the same group; `at` is now, whatever the row says."""
        ...

    async def revoke(self, channel: str, id: str, by: str) -> Revoked:
        """Takes every grant of a person or group away, a block too; open approvals of that person end."""
        ...

    async def owner_home(self) -> tuple[str, str]:
        """(conversation, its channel) in which an owner wrote last in private, on this machine only for want of
        another; ("", "") for none.
        """
        ...

    async def tell(self, notices: Sequence[Notice]) -> None:
        """See Delivery.notify."""
        ...

    async def meet(self, knock: Knock, code_sha256: str, expires: datetime, notices: Sequence[Notice]) -> bool:
        """One transaction: a request is stored and `notices` are told; False, and nothing, where there is no room.

        A person: not blocked, codes not `locked`, one request an hour, 3 waiting and 20 a day per account of ours.
        A group: one for ever, 20 a day per account; code_sha256 is "" then and nothing expires.
        """
        ...

    async def requests(self) -> list[RequestRow]:
        """Pending and not expired, oldest first."""
        ...

    async def decide(self, code_sha256: str, state: RequestState, by: str, channel: str = "") -> RequestRow | None:
        """pending -> approved (the person is a user now) or denied (blocked).

        None for an unknown, used or expired code, one of another channel where `channel` is given, or while `locked`.
        The fifth wrong code within an hour clears all that is pending.
        """
        ...

    async def locked(self) -> datetime | None:
        """Until when no code is looked at, None when codes are."""
        ...

    async def make_owner_code(self, code_sha256: str, expires: datetime, by: str) -> None:
        """In place of any that was not used."""
        ...

    async def claim_owner(self, party: Party, name: str, code_sha256: str, notices: Sequence[Notice]) -> bool:
        """Whether this is the code that makes that person an owner: now, and `notices` are told, or before.

        After 5 wrong ones within an hour nothing that the person types is looked at for an hour.
        """
        ...

    async def ask(self, asking: Asking, notices: Sequence[Notice]) -> ApprovalRow:
        """Store it and tell its person, one transaction; the same call a second time gives the first one's row."""
        ...

    async def approval(self, sha256: str, person: Party) -> ApprovalRow | None:
        """That person's, in whatever state, by the hash of its code or of what its button brings."""
        ...

    async def move(self, id: str, was: ApprovalState, state: ApprovalState) -> bool:
        """False where it is not in that state (any more), or is to leave "asked" for "running" after its time."""
        ...
