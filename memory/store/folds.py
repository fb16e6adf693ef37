"""The Folds door: each method is one unit of work."""

from collections.abc import Sequence
from typing import Unpack

from memory.context.taint import FoldLabel
from memory.failpoint import afp
from memory.store import folding, ledger
from memory.store.database import Database
from memory.store.folding import FoldChanges
from memory.store.records import FoldPlan, FoldRow, LedgerFault


class SqlFolds:
    """See memory.store.doors.Folds."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def plan(self, plan: FoldPlan) -> FoldRow | None:
        return await self._database.write(folding.plan, plan)

    async def advance(self, fold: FoldRow, state: str, **changes: Unpack[FoldChanges]) -> FoldRow | None:
        return await self._database.write(folding.advance, fold, state, changes)

    async def commit(self, fold: FoldRow, tokens_after: int) -> FoldRow | None:
        done = await self._database.write(folding.commit, fold, tokens_after)
        await afp("fold.folded")
        return done

    async def undo(self, conversation: str) -> FoldRow | None:
        undone = await self._database.write(folding.undo, conversation)
        await afp("fold.undone")
        return undone

    async def folds(self, conversation: str, epoch: int | None = None, *, bare: bool = False) -> list[FoldRow]:
        return await self._database.read(folding.folded, conversation, epoch, bare)

    async def open_folds(self) -> list[FoldRow]:
        return await self._database.read(folding.open_folds)

    async def fold_ids(self, conversation: str) -> frozenset[str]:
        return await self._database.read(folding.fold_ids, conversation)

    async def take(self, id: str, *, at_once: bool) -> FoldRow | None:
        return await self._database.write(folding.take_one, id, at_once)

    async def fold(self, id: str) -> FoldRow | None:
        return await self._database.read(folding.read_fold, id)

    async def labels(self, ids: Sequence[str]) -> dict[str, FoldLabel]:
        return await self._database.read(folding.labels, ids)

    async def check_ledger(self, conversation: str = "") -> list[LedgerFault]:
        return await self._database.read(ledger.check, conversation)
