"""The coverage ledger: every message is live, folded or cleared, exactly one of them, and one statement proves it."""

from typing import Any

from sqlalchemy import Select, String, bindparam, exists, func, literal_column, or_, select, union_all

from memory.store.engine.database import Tx
from memory.store.rows import LedgerFault
from memory.store.schema.columns import word
from memory.store.schema.tables import conversation, coverage, fold, message


def _chain() -> Any:
    """Each conversation's folds from its head back to where its view begins."""
    head = (
        select(conversation.c.id.label("conversation"), fold.c.id.label("fold"), fold.c.prev_fold.label("before"))
        .join(fold, fold.c.id == conversation.c.fold_head)
        .cte("chain", recursive=True)
    )
    older = fold.alias("older")
    return head.union(
        select(head.c.conversation, older.c.id, older.c.prev_fold).join_from(head, older, older.c.id == head.c.before)
    )


_scope = (
    select(
        conversation.c.id,
        conversation.c.view_from,
        conversation.c.next_seq,
        conversation.c.fold_head,
        func.coalesce(
            select(fold.c.to_seq + 1).where(fold.c.id == conversation.c.fold_head).scalar_subquery(),
            conversation.c.view_from,
        ).label("live_from"),
    )
    .where(or_(bindparam("only") == word(""), conversation.c.id == bindparam("only")))
    .cte("scope")
)
_chained = _chain()
_covers = (coverage.c.message_id == message.c.id) & (coverage.c.kind == word("folded"))


def _fault(subject: Any, what: Any) -> Select[Any]:
    told = literal_column(f"'{what}'", String) if isinstance(what, str) else what
    return select(_scope.c.id.label("conversation"), subject.label("subject"), told.label("what"))


def _messages(what: Any) -> Select[Any]:
    return _fault(message.c.id, what).join_from(_scope, message, message.c.conversation == _scope.c.id)


def _folds(what: Any) -> Select[Any]:
    return _fault(fold.c.id, what).join_from(_scope, fold, fold.c.conversation == _scope.c.id)


def _of_chain(what: str) -> Select[Any]:
    return _folds(what).join(_chained, (_chained.c.fold == fold.c.id) & (_chained.c.conversation == _scope.c.id))


def _starts() -> Any:
    """Where the fold must begin: behind the one before it, or where the view begins."""
    before = fold.alias("before")
    behind = select(before.c.to_seq + 1).where(before.c.id == fold.c.prev_fold).scalar_subquery()
    return func.coalesce(behind, _scope.c.view_from)


_dangling = fold.alias("dangling")
_CHECK = union_all(
    _messages("a live message is covered by a fold").join(coverage, _covers).where(message.c.seq >= _scope.c.live_from),
    _messages("a message behind the head is covered by no fold")
    .outerjoin(coverage, coverage.c.message_id == message.c.id)
    .where(
        message.c.seq >= _scope.c.view_from,
        message.c.seq < _scope.c.live_from,
        coverage.c.message_id.is_(None),
    ),
    _messages("a message is covered by a fold that is not on the chain")
    .join(coverage, _covers)
    .where(
        message.c.seq >= _scope.c.view_from,
        message.c.seq < _scope.c.live_from,
        ~exists().where(_chained.c.fold == coverage.c.fold_id, _chained.c.conversation == _scope.c.id),
    ),
    _messages("a message is covered by a fold of another range, or of none")
    .join(coverage, _covers)
    .outerjoin(fold, fold.c.id == coverage.c.fold_id)
    .where(
        or_(
            fold.c.id.is_(None),
            fold.c.state != word("folded"),
            fold.c.conversation != message.c.conversation,
            message.c.seq < fold.c.from_seq,
            message.c.seq > fold.c.to_seq,
        )
    ),
    _of_chain("a fold of the chain does not begin where the one before it ends").where(fold.c.from_seq != _starts()),
    _of_chain("a fold of the chain is not folded").where(fold.c.state != word("folded")),
    _of_chain("a fold of the chain builds on one that is missing").where(
        fold.c.prev_fold != word(""), ~exists().where(_dangling.c.id == fold.c.prev_fold)
    ),
    _fault(_scope.c.fold_head, "the head is no fold of this conversation").where(
        _scope.c.fold_head != word(""),
        ~exists().where(_dangling.c.id == _scope.c.fold_head, _dangling.c.conversation == _scope.c.id),
    ),
    _folds("a fold is done but has no log entry").where(fold.c.state == word("folded"), fold.c.log_ref == word("")),
    _fault(_scope.c.id, "the view begins behind its end").where(_scope.c.view_from > _scope.c.next_seq),
)


async def check(tx: Tx, id: str = "") -> list[LedgerFault]:
    """All breaches of one conversation, or of all for ""; a sound record has none."""
    return [LedgerFault(**row) for row in await tx.all(_CHECK, only=id)]
