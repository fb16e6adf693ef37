"""The door of folds: every state that one goes through is a transaction of its own."""

from collections.abc import Sequence
from typing import Protocol

from memory.context.taint import FoldLabel
from memory.store.records import FoldMethod, FoldPlan, FoldRow, LedgerFault


class Folds(Protocol):
    """The fold's states: planned -> summarised -> checked -> logged -> folded, or stale; undone."""

    async def plan(self, plan: FoldPlan) -> FoldRow | None:
        """None when a fold of this conversation is open, or the epoch or the head has moved."""
        ...

    async def advance(
        self,
        fold: FoldRow,
        state: str,
        *,
        method: FoldMethod | None = None,
        log_text: str | None = None,
        summary: str | None = None,
        summary_tokens: int | None = None,
        source_sha256: str | None = None,
        log_ref: str | None = None,
        tainted: bool | None = None,
        clean_lines: str | None = None,
        summary_tainted: bool | None = None,
    ) -> FoldRow | None:
        """One step on; None (and stale) when the epoch or the head has moved. A log-only fold is never fenced."""
        ...

    async def commit(self, fold: FoldRow, tokens_after: int) -> FoldRow | None:
        """T9, fenced by epoch and head; None when it is stale. A log-only fold moves no head."""
        ...

    async def undo(self, conversation: str) -> FoldRow | None:
        """folded -> undone for the newest one; None when there is none, or a clear is the newer act."""
        ...

    async def folds(self, conversation: str, epoch: int | None = None, *, bare: bool = False) -> list[FoldRow]:
        """Folded ones, oldest first.

        Args:
            bare: with "" for their log texts and summaries, of which a conversation of years has megabytes.
        """
        ...

    async def open_folds(self) -> list[FoldRow]: ...

    async def take(self, id: str, *, at_once: bool) -> FoldRow | None:
        """Carry out an open fold from now on; None while a living process does. at_once: take it from that one."""
        ...

    async def fold_ids(self, conversation: str) -> frozenset[str]:
        """The ids of all its folds, in whatever state and epoch."""
        ...

    async def fold(self, id: str) -> FoldRow | None: ...

    async def labels(self, ids: Sequence[str]) -> dict[str, FoldLabel]:
        """Which lines of these folds rest on words from outside; those that are not in the record are left out."""
        ...

    async def check_ledger(self, conversation: str = "") -> list[LedgerFault]:
        """I36, one SQL statement."""
        ...
