"""Titles of conversations: which one is shown, and those that a model makes of the first words."""

from collections.abc import Set as AbstractSet

from sqlalchemy import bindparam, literal_column, select, update

from memory.store.conversations.inbox import make_title
from memory.store.conversations.transcript import shown_text
from memory.store.engine.database import Repository, Tx, light, read, write
from memory.store.rows import ConversationRow
from memory.store.schema.tables import conversation, inbox, turn

_FIRST = (
    select(inbox.c.id, inbox.c.body)
    .join(turn, turn.c.inbox_id == inbox.c.id)
    .where(
        turn.c.conversation == bindparam("conversation"),
        turn.c.number == literal_column("1"),
    )
)
_SET = (
    update(conversation)
    .where(conversation.c.id == bindparam("conversation"))
    .values(title=bindparam("new_title"), touched=bindparam("now"))
)


def shown_title(row: ConversationRow) -> str:
    """Return the title given in the console, else a group's name, else the first words."""
    chat_name = row.chat_name if row.place.kind == "group" else ""
    return row.own_title or chat_name or row.title


@light
async def load_first_body(tx: Tx, conversation: str) -> str:
    """Load the body of the message that the first turn answers, "" where there is none."""
    row = (await tx.execute(_FIRST, conversation=conversation)).first()
    return str(row["body"]) if row else ""


@light
async def set_title(tx: Tx, conversation: str, title: str, body: str) -> bool:
    """Store a title that was made of this body; False where the message has changed since, as by
    forgetting.
    """
    row = (await tx.execute(_FIRST, conversation=conversation)).first()
    if row is None or row["body"] != body:
        return False
    await tx.execute(_SET, conversation=conversation, new_title=title, now=tx.now)
    return True


async def forget_title(tx: Tx, conversation: str, redacted: AbstractSet[str]) -> None:
    """Replace a title by what is left of the first message, where that was redacted: a model may
    have said it in other words.

    Args:
        redacted: ids of the redacted messages' inbox rows.
    """
    row = (await tx.execute(_FIRST, conversation=conversation)).first()
    if row is None or row["id"] not in redacted:
        return
    title = make_title(shown_text(row["body"])) if row["body"] else ""
    await tx.execute(_SET, conversation=conversation, new_title=title, now=tx.now)


class Titles(Repository):
    """Titles that a model makes."""

    first_body = read(load_first_body)
    set = write(set_title)
