"""Whose memory an account's space is: its own, or the one it has joined. The one place that says so in SQL."""

from sqlalchemy import ColumnElement, Text, bindparam, func, or_, select

from memory.store.engine import Tx, glance
from memory.store.memory_tables import account_link
from memory.store.records import Place
from memory.store.tables import conversation


def home(own: ColumnElement[str]) -> ColumnElement[str]:
    """The space whose memory goes with this one: what it has joined, else itself. A group's never joins another."""
    joined = select(account_link.c.space).where(account_link.c.own_space == own).scalar_subquery()
    return func.coalesce(joined, own)


def belongs(own: ColumnElement[str]) -> ColumnElement[bool]:
    """Whether what stands under this space is the memory of `:space`: its own, or that of an account that joined it."""
    joined = select(account_link.c.own_space).where(account_link.c.space == bindparam("space"))
    return or_(own == bindparam("space"), own.in_(joined))


HOME = home(conversation.c.space)
"""The home of a conversation's space, within a query of conversations."""
PLACE = tuple(
    (HOME if name == "space" else conversation.c[name]).label(f"place_{name}") for name in Place.__dataclass_fields__
)
"""A conversation's place as `place_…` columns, with the home of its space."""
_HOME_OF = select(home(bindparam("own", type_=Text())).label("space"))
_MEMBERS = select(account_link.c.own_space).where(account_link.c.space == bindparam("space"))
_JOINED = _MEMBERS.order_by(account_link.c.at, account_link.c.own_space)


@glance
async def home_of(tx: Tx, own: str) -> str:
    """The space whose memory goes with `own`."""
    row = await tx.one(_HOME_OF, own=own)
    return str(row["space"]) if row else own


@glance
async def members_of(tx: Tx, space: str) -> tuple[str, ...]:
    """All spaces whose texts belong to this one: itself first, then those that joined it, oldest first."""
    return (space, *(row["own_space"] for row in await tx.all(_JOINED, space=space)))
