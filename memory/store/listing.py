"""The list of conversations, newest first: read page by page, and what has changed in it lately."""

import re

from sqlalchemy import and_, bindparam, or_

from memory.store.columns import word
from memory.store.engine import Tx, glance
from memory.store.records import ConversationRow
from memory.store.rows import conversation_row
from memory.store.tables import conversation
from memory.store.views import CONVERSATION

_END_OF_TIME = 1e15
_CURSOR = re.compile(r"([0-9]{1,15}\.[0-9]{1,10})_([A-Za-z0-9-]{1,64})", re.ASCII)
_NEWEST_FIRST = CONVERSATION.where(conversation.c.listed.is_(True)).order_by(
    conversation.c.updated.desc(), conversation.c.id.desc()
)
_PAGE = _NEWEST_FIRST.where(
    conversation.c.updated <= bindparam("newest"),
    or_(
        conversation.c.updated < bindparam("newest"),
        and_(conversation.c.updated == bindparam("newest"), conversation.c.id < bindparam("last")),
    ),
).limit(bindparam("most"))
_OWN = _PAGE.where(conversation.c.space == word(""), conversation.c.kind != word("group"))
_CHANGED = _NEWEST_FIRST.where(conversation.c.updated >= bindparam("since")).limit(bindparam("most"))


@glance
async def page(tx: Tx, cursor: str, limit: int, own: bool) -> tuple[list[ConversationRow], str]:
    """See Sessions.page. The cursor names the last row of a page, so rows that do not move are seen exactly once."""
    found = _CURSOR.fullmatch(cursor)
    if cursor and found is None:
        raise ValueError("the cursor is not one of this list")
    newest, last = (float(found[1]), found[2]) if found else (_END_OF_TIME, "")
    rows = await tx.all(_OWN if own else _PAGE, newest=newest, last=last, most=limit + 1)
    more = len(rows) > limit
    following = f"{rows[limit - 1]['updated']!r}_{rows[limit - 1]['id']}" if more else ""
    return [conversation_row(row) for row in rows[:limit]], following


@glance
async def changed(tx: Tx, since: float, limit: int) -> list[ConversationRow]:
    """See Sessions.changed."""
    return [conversation_row(row) for row in await tx.all(_CHANGED, since=since, most=limit)]
