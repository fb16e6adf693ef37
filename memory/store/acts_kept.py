"""The Audit door: the chain of acts, read and checked."""

from collections.abc import Sequence

from memory.store import audit
from memory.store.audit_records import AuditFault, AuditHead, AuditRow
from memory.store.database import Database


class SqlAudit:
    """See memory.store.kept_doors.Audit."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def acts(self, limit: int) -> list[AuditRow]:
        return await self._database.read(audit.acts, limit)

    async def head(self) -> AuditHead:
        return await self._database.read(audit.head)

    async def fault(self, known: Sequence[AuditHead] = ()) -> AuditFault | None:
        return await self._database.read(audit.fault, known)
