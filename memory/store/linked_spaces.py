"""Which space an account uses: its own, or the one that it is linked to."""

from sqlalchemy import ColumnElement, Text, bindparam, func, or_, select

from memory.store.engine.database import Tx, light
from memory.store.rows import Place
from memory.store.schema.memory_tables import account_link
from memory.store.schema.tables import conversation


def linked_space(own_space: ColumnElement[str]) -> ColumnElement[str]:
    """Return the space that an account with this space of its own uses: the one it is linked to,
    else its own.
    """
    linked = (
        select(account_link.c.space).where(account_link.c.own_space == own_space).scalar_subquery()
    )
    return func.coalesce(linked, own_space)


def belongs_to_space(own_space: ColumnElement[str]) -> ColumnElement[bool]:
    """Return whether rows of this space belong to `:space`: it is that space, or is linked to
    it.
    """
    linked = select(account_link.c.own_space).where(account_link.c.space == bindparam("space"))
    return or_(own_space == bindparam("space"), own_space.in_(linked))


LINKED_SPACE = linked_space(conversation.c.space)
# A conversation's place as `place_…` columns; its space is the linked one.
PLACE_COLUMNS = tuple(
    (LINKED_SPACE if name == "space" else conversation.c[name]).label(f"place_{name}")
    for name in Place.__dataclass_fields__
)
# The conversation of a chat of one of our accounts.
IS_AT_PLACE = tuple(
    conversation.c[name] == bindparam(name)
    for name in ("channel", "account", "chat_id", "thread_id")
)
_SELECT_LINKED_SPACE = select(linked_space(bindparam("own_space", type_=Text())).label("space"))
_SELECT_MEMBERS = (
    select(account_link.c.own_space)
    .where(account_link.c.space == bindparam("space"))
    .order_by(account_link.c.at, account_link.c.own_space)
)


async def load_linked_space(tx: Tx, own_space: str) -> str:
    """Return the space that an account uses: the one it is linked to, else its own."""
    row = (await tx.execute(_SELECT_LINKED_SPACE, own_space=own_space)).first()
    return str(row["space"]) if row else own_space


@light
async def load_member_spaces(tx: Tx, space: str) -> tuple[str, ...]:
    """Return all spaces whose rows belong to this one: itself first, then those linked to it."""
    return (
        space,
        *(row["own_space"] for row in (await tx.execute(_SELECT_MEMBERS, space=space)).all()),
    )
