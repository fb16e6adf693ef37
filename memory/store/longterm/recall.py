"""What recall reads of the store: messages that an index lacks, and what a search for a
conversation leaves out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import bindparam, func, or_, select

from memory.conversation import Message
from memory.store.conversations.sessions import load_messages
from memory.store.engine.database import Repository, Tx, light, read
from memory.store.linked_spaces import load_member_spaces
from memory.store.rows import HIDDEN_THREAD
from memory.store.schema.tables import conversation, fold, is_one_of, literal_text

_SELECT_NEXT_SEQ = select(conversation.c.next_seq).where(
    conversation.c.id == bindparam("id"),
    conversation.c.space == bindparam("space"),
    ~conversation.c.thread_id.like(literal_text(f"{HIDDEN_THREAD}%")),
)
_SELECT_VIEW = (
    select(
        conversation.c.view_from,
        conversation.c.cleared_before,
        func.coalesce(fold.c.to_seq + 1, conversation.c.view_from).label("live_from"),
    )
    .select_from(conversation.outerjoin(fold, fold.c.id == conversation.c.fold_head))
    .where(conversation.c.id == bindparam("id"))
)
_IS_HIDDEN = or_(
    fold.c.to_seq < bindparam("cleared_before"),
    fold.c.to_seq >= bindparam("shown_from"),
    is_one_of(fold.c.state, "stale", "undone"),
)
_SELECT_HIDDEN_FOLDS = select(fold.c.id).where(
    fold.c.conversation == bindparam("conversation"), _IS_HIDDEN
)
MAX_FOLDS_ASKED = 64  # of one query
_ID_NAMES = tuple(f"id{number}" for number in range(MAX_FOLDS_ASKED))
# The coalesce keeps the planner from reading all folds of the conversation instead of looking these
# up.
_SELECT_HIDDEN_AMONG = select(fold.c.id).where(
    fold.c.id.in_([bindparam(name) for name in _ID_NAMES]),
    func.coalesce(fold.c.conversation, "") == bindparam("conversation"),
    _IS_HIDDEN,
)
_SELECT_OTHER = (
    select(conversation.c.id)
    .where(
        conversation.c.space == bindparam("space"),
        conversation.c.next_seq > 1,
        conversation.c.id != bindparam("id"),
    )
    .limit(1)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMessages:
    """Messages that an index lacks."""

    #: By conversation, in order; the first may be the one before those that are new.
    messages: Mapping[str, list[Message]]
    #: Next seq of each conversation that was read.
    ends: Mapping[str, int]
    #: Conversations that the space does not have.
    gone: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallScope:
    """Where a search looks, and what it leaves out."""

    #: The space and those linked to it.
    spaces: tuple[str, ...]
    #: See ConversationRow.
    cleared_before: int = 0
    #: First seq that is in the conversation's view as itself, 0 for a search for no conversation.
    live_from: int = 0
    #: Whether another conversation of these spaces has messages.
    has_others: bool = True


async def load_new_messages(
    tx: Tx, space: str, known: Mapping[str, int], limit: int
) -> NewMessages:
    """Load messages of conversations, each from the one before a seq on, which may hold the calls
    of its results.

    Args:
        known: the first seq that is new, by conversation.
        limit: messages in all, at least 1; conversations without a place in the result were not
            read.
    """
    messages: dict[str, list[Message]] = {}
    ends: dict[str, int] = {}
    gone = set()
    left = limit
    for id, seq in known.items():
        row = (await tx.execute(_SELECT_NEXT_SEQ, id=id, space=space)).first()
        if row is None:
            gone.add(id)
            continue
        if left <= 0:
            break
        ends[id], messages[id] = row["next_seq"], []
        if row["next_seq"] > seq:
            messages[id] = await load_messages(tx, id, max(1, seq - 1), limit=left + 1)
            left -= len(messages[id])
    return NewMessages(messages=messages, ends=ends, gone=frozenset(gone))


@light
async def load_recall_scope(
    tx: Tx, space: str, conversation: str, *, automatic: bool
) -> RecallScope:
    """Load the scope of a search, in one snapshot.

    Args:
        conversation: whose live turns are left out, "" for none.
        automatic: leave out what was cleared there, too.
    """
    spaces = await load_member_spaces(tx, space)
    row = (await tx.execute(_SELECT_VIEW, id=conversation)).first()
    if row is None:
        return RecallScope(spaces=spaces)
    cleared_before, live_from = row["cleared_before"], row["live_from"]
    if not automatic:
        return RecallScope(spaces=spaces, live_from=live_from)
    others = (
        [(await tx.execute(_SELECT_OTHER, space=one, id=conversation)).first() for one in spaces]
        if live_from <= 1
        else [row]
    )
    return RecallScope(
        spaces=spaces,
        cleared_before=cleared_before,
        live_from=live_from,
        has_others=any(others),
    )


async def load_hidden_folds(
    tx: Tx, conversation: str, cleared_before: int, shown_from: int
) -> frozenset[str]:
    """Load the ids of the folds whose turns were cleared or are shown by the view, and of those
    without effect.

    Args:
        cleared_before: see ConversationRow.
        shown_from: first seq that the view shows, as itself or in its summary.
    """
    values = {
        "conversation": conversation,
        "cleared_before": cleared_before,
        "shown_from": shown_from,
    }
    return frozenset(row["id"] for row in (await tx.execute(_SELECT_HIDDEN_FOLDS, **values)).all())


@light
async def load_hidden_among(
    tx: Tx, conversation: str, folds: Sequence[str], cleared_before: int, shown_from: int
) -> frozenset[str]:
    """Of at most MAX_FOLDS_ASKED folds, those that `load_hidden_folds` would return."""
    ids = dict.fromkeys(_ID_NAMES, "") | dict(zip(_ID_NAMES, folds, strict=False))
    values = {
        "conversation": conversation,
        "cleared_before": cleared_before,
        "shown_from": shown_from,
    }
    return frozenset(
        row["id"] for row in (await tx.execute(_SELECT_HIDDEN_AMONG, **values, **ids)).all()
    )


class RecallReads(Repository):
    """Reads for recall."""

    hidden_folds = read(load_hidden_folds)
    hidden_among = read(load_hidden_among)
    new_messages = read(load_new_messages)
    scope = read(load_recall_scope)
