"""Names of conversations, which tell one from the others of its space.

They stand in the headings of the daily log and in the handles of files.
"""

from dataclasses import dataclass

from sqlalchemy import bindparam, select

from memory.store.conversations.messages import sender_name
from memory.store.engine.database import Row, Tx
from memory.store.linked_spaces import belongs_to_space, load_linked_space
from memory.store.schema.tables import conversation, inbox, literal_text

_SELECT_TAGGED = select(conversation.c.id).where(
    conversation.c.id.like(bindparam("pattern")), belongs_to_space(conversation.c.space)
)
_SELECT_PLACE = select(
    *(conversation.c[name] for name in ("channel", "chat_id", "thread_id", "kind", "space"))
).where(conversation.c.id == bindparam("id"))
_SELECT_NEWEST_BODY = (
    select(inbox.c.body)
    .where(
        inbox.c.conversation == bindparam("conversation"),
        inbox.c.kind == literal_text("message"),
        inbox.c.body != literal_text(""),
    )
    .order_by(inbox.c.line.desc())
    .limit(1)
)
_SELECT_OTHERS = select(conversation.c.chat_id, conversation.c.thread_id).where(
    conversation.c.channel == bindparam("channel"),
    conversation.c.id != bindparam("id"),
    belongs_to_space(conversation.c.space),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationName:
    """The names of one conversation."""

    channel: str
    #: Id of the chat, with the thread's if it has one.
    chat: str
    #: Display name of the person it is with; "" for a group, or while no message has given one.
    person: str
    #: No other conversation of its space and channel can have the same name: there is none, or
    #: chats have the names.
    is_unique: bool


async def list_tagged(tx: Tx, space: str, tag: str) -> list[str]:
    """Load the ids that end in this tag, of the conversations of a space and of those linked to it.

    Args:
        tag: letters and digits.
    """
    return [
        row["id"]
        for row in (await tx.execute(_SELECT_TAGGED, space=space, pattern=f"%{tag}")).all()
    ]


async def load_name(tx: Tx, id: str) -> ConversationName | None:
    """Load the names of a conversation, None for an unknown id."""
    row = (await tx.execute(_SELECT_PLACE, id=id)).first()
    if row is None:
        return None
    newest = (
        (await tx.execute(_SELECT_NEWEST_BODY, conversation=id)).first()
        if row["kind"] == "dm"
        else None
    )
    person, chat = sender_name(newest["body"]) if newest else "", _chat_name(row)
    space = await load_linked_space(tx, row["space"])
    others = [
        _chat_name(other)
        for other in (
            await tx.execute(_SELECT_OTHERS, id=id, channel=row["channel"], space=space)
        ).all()
    ]
    is_unique = not others if person else chat not in others
    return ConversationName(channel=row["channel"], chat=chat, person=person, is_unique=is_unique)


def _chat_name(row: Row) -> str:
    return "/".join(filter(None, (row["chat_id"], row["thread_id"])))
