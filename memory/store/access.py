"""The Access door: who was given what, who asks for it, and which acts wait for a person's yes."""

from collections.abc import Sequence
from datetime import datetime

from memory.store import access_approvals as approvals
from memory.store import access_grants as grants
from memory.store import access_requests as requests
from memory.store.access_notices import tell
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
from memory.store.database import Database


class SqlAccess:
    """See memory.store.access_doors.Access."""

    def __init__(self, database: Database) -> None:
        self._read, self._write = database.read, database.write

    async def grants(self, channel: str, account: str, person: str, group: str = "") -> list[GrantRow]:
        return await self._read(grants.grants, channel, account, person, group)

    async def all_grants(self) -> list[GrantRow]:
        return await self._read(grants.all_grants)

    async def grant(self, row: GrantRow) -> None:
        await self._write(grants.grant, row)

    async def revoke(self, channel: str, id: str, by: str) -> Revoked:
        return await self._write(grants.revoke, channel, id, by)

    async def owner_home(self) -> tuple[str, str]:
        return await self._read(grants.owner_home)

    async def tell(self, notices: Sequence[Notice]) -> None:
        await self._write(tell, notices)

    async def meet(self, knock: Knock, code_sha256: str, expires: datetime, notices: Sequence[Notice]) -> bool:
        return await self._write(requests.meet, knock, code_sha256, expires, notices)

    async def requests(self) -> list[RequestRow]:
        return await self._read(requests.requests)

    async def decide(self, code_sha256: str, state: RequestState, by: str, channel: str = "") -> RequestRow | None:
        return await self._write(requests.decide, code_sha256, state, by, channel)

    async def locked(self) -> datetime | None:
        return await self._read(requests.locked)

    async def make_owner_code(self, code_sha256: str, expires: datetime, by: str) -> None:
        await self._write(requests.make_owner_code, code_sha256, expires, by)

    async def claim_owner(self, party: Party, name: str, code_sha256: str, notices: Sequence[Notice]) -> bool:
        return await self._write(requests.claim_owner, party, name, code_sha256, notices)

    async def ask(self, asking: Asking, notices: Sequence[Notice]) -> ApprovalRow:
        return await self._write(approvals.ask, asking, notices)

    async def approval(self, sha256: str, person: Party) -> ApprovalRow | None:
        return await self._read(approvals.approval, sha256, person)

    async def move(self, id: str, was: ApprovalState, state: ApprovalState) -> bool:
        return await self._write(approvals.move, id, was, state)
