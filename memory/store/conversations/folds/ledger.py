"""The check of the coverage ledger: every message is in exactly one class (live, folded,
cleared).
"""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    Select,
    String,
    bindparam,
    exists,
    func,
    literal_column,
    or_,
    select,
    union_all,
)

from memory.store.engine.database import Tx
from memory.store.schema.tables import conversation, coverage, fold, literal_text, message


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerFault:
    """A breach of the coverage ledger."""

    conversation: str
    #: Id of the message, fold or conversation.
    subject: str
    what: str


def _fold_chain() -> Any:
    """Select each conversation's folds from its fold head back to where its view begins."""
    head = (
        select(
            conversation.c.id.label("conversation"),
            fold.c.id.label("fold"),
            fold.c.prev_fold.label("before"),
        )
        .join(fold, fold.c.id == conversation.c.fold_head)
        .cte("chain", recursive=True)
    )
    older = fold.alias("older")
    return head.union(
        select(head.c.conversation, older.c.id, older.c.prev_fold).join_from(
            head, older, older.c.id == head.c.before
        )
    )


_scope = (
    select(
        conversation.c.id,
        conversation.c.view_from,
        conversation.c.next_seq,
        conversation.c.fold_head,
        func.coalesce(
            select(fold.c.to_seq + 1)
            .where(fold.c.id == conversation.c.fold_head)
            .scalar_subquery(),
            conversation.c.view_from,
        ).label("live_from"),
    )
    .where(
        or_(
            bindparam("conversation") == literal_text(""),
            conversation.c.id == bindparam("conversation"),
        )
    )
    .cte("scope")
)
_chained = _fold_chain()
_covers = (coverage.c.message_id == message.c.id) & (coverage.c.kind == literal_text("folded"))


def _fault_columns(subject: Any, what: str) -> Select[Any]:
    text = literal_column(f"'{what}'", String)
    return select(_scope.c.id.label("conversation"), subject.label("subject"), text.label("what"))


def _message_faults(what: str) -> Select[Any]:
    return _fault_columns(message.c.id, what).join_from(
        _scope, message, message.c.conversation == _scope.c.id
    )


def _fold_faults(what: str) -> Select[Any]:
    return _fault_columns(fold.c.id, what).join_from(
        _scope, fold, fold.c.conversation == _scope.c.id
    )


def _chain_faults(what: str) -> Select[Any]:
    return _fold_faults(what).join(
        _chained, (_chained.c.fold == fold.c.id) & (_chained.c.conversation == _scope.c.id)
    )


def _expected_start() -> Any:
    """Return where a fold must begin: behind the fold before it, or where the view begins."""
    before = fold.alias("before")
    end_of_before = (
        select(before.c.to_seq + 1).where(before.c.id == fold.c.prev_fold).scalar_subquery()
    )
    return func.coalesce(end_of_before, _scope.c.view_from)


_dangling = fold.alias("dangling")
_logging = fold.alias("logging")
_is_logged = exists().where(
    _logging.c.conversation == message.c.conversation,
    _logging.c.to_seq >= message.c.seq,
    _logging.c.from_seq <= message.c.seq,
    _logging.c.state == literal_text("folded"),
    _logging.c.summary_only == 0,
)
_CHECK = union_all(
    _message_faults("a live message is covered by a fold")
    .join(coverage, _covers)
    .where(message.c.seq >= _scope.c.live_from),
    _message_faults("a message behind the head is covered by no fold")
    .outerjoin(coverage, coverage.c.message_id == message.c.id)
    .where(
        message.c.seq >= _scope.c.view_from,
        message.c.seq < _scope.c.live_from,
        coverage.c.message_id.is_(None),
    ),
    _message_faults("a message is covered by a fold that is not on the chain")
    .join(coverage, _covers)
    .where(
        message.c.seq >= _scope.c.view_from,
        message.c.seq < _scope.c.live_from,
        ~exists().where(
            _chained.c.fold == coverage.c.fold_id, _chained.c.conversation == _scope.c.id
        ),
    ),
    _message_faults("a message is covered by a fold of another range, or of none")
    .join(coverage, _covers)
    .outerjoin(fold, fold.c.id == coverage.c.fold_id)
    .where(
        or_(
            fold.c.id.is_(None),
            fold.c.state != literal_text("folded"),
            fold.c.conversation != message.c.conversation,
            message.c.seq < fold.c.from_seq,
            message.c.seq > fold.c.to_seq,
        )
    ),
    _message_faults("a message is covered by a fold without a log entry, and no other fold has one")
    .join(coverage, _covers)
    .join(fold, fold.c.id == coverage.c.fold_id)
    .where(fold.c.summary_only == 1, ~_is_logged),
    _chain_faults("a fold of the chain does not begin where the one before it ends").where(
        fold.c.from_seq != _expected_start()
    ),
    _chain_faults("a fold of the chain is not folded").where(
        fold.c.state != literal_text("folded")
    ),
    _chain_faults("a fold of the chain builds on one that is missing").where(
        fold.c.prev_fold != literal_text(""), ~exists().where(_dangling.c.id == fold.c.prev_fold)
    ),
    _fault_columns(_scope.c.fold_head, "the head is no fold of this conversation").where(
        _scope.c.fold_head != literal_text(""),
        ~exists().where(
            _dangling.c.id == _scope.c.fold_head, _dangling.c.conversation == _scope.c.id
        ),
    ),
    _fold_faults("a fold is done but has no log entry").where(
        fold.c.state == literal_text("folded"), fold.c.log_ref == literal_text("")
    ),
    _fault_columns(_scope.c.id, "the view begins behind its end").where(
        _scope.c.view_from > _scope.c.next_seq
    ),
)


async def check_ledger(tx: Tx, conversation: str = "") -> list[LedgerFault]:
    """Check the ledger of a conversation, or of all for "", by one statement; return what is
    wrong.
    """
    return [
        LedgerFault(**row) for row in (await tx.execute(_CHECK, conversation=conversation)).all()
    ]
