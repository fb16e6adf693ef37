"""The kinds of columns that the durable record's tables are made of."""

from sqlalchemy import (
    Boolean,
    Column,
    ColumnElement,
    Double,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Text,
    literal_column,
    or_,
)

metadata = MetaData()  # all tables of the durable record


def literal_text(text: str) -> ColumnElement[str]:
    """A word of ours as a literal in the SQL itself, so that partial indexes can be used."""
    return literal_column(f"'{text}'", Text())


def is_one_of(column: Column[str], *words: str) -> ColumnElement[bool]:
    """Whether the column holds one of our words, written so that a partial index over the same words is seen."""
    return or_(*(column == literal_text(one) for one in words))


def text(name: str) -> Column[str]:
    """A text that is never NULL."""
    return Column(name, Text, nullable=False, default="")


def integer(name: str, default: int = 0) -> Column[int]:
    """A whole number."""
    return Column(name, Integer, nullable=False, default=default)


def added_text(name: str) -> Column[str]:
    """A text that rows older than the column have too: empty."""
    return Column(name, Text, nullable=False, default="", server_default="")


def added_integer(name: str) -> Column[int]:
    """A number that rows older than the column have too: 0, until the revision says better."""
    return Column(name, Integer, nullable=False, default=0, server_default="0")


def added_moment(name: str) -> Column[float]:
    """A time that rows older than the column do not have: 0."""
    return Column(name, Double, nullable=False, default=0.0, server_default="0")


def flag(name: str) -> Column[bool]:
    """Yes or no; no until told."""
    return Column(name, Boolean, nullable=False, default=False)


def moment(name: str) -> Column[float]:
    """Unix seconds, UTC."""
    return Column(name, Double, nullable=False, default=0.0)


def id_column() -> Column[str]:
    """The row's own name."""
    return Column("id", Text, primary_key=True, nullable=False)


def conversation_column() -> Column[str]:
    """The conversation that the row belongs to."""
    return Column("conversation", Text, ForeignKey("conversation.id"), nullable=False)


def partial_index(name: str, *columns: Column[str], where: ColumnElement[bool], unique: bool = False) -> Index:
    """An index over the rows that `where` picks."""
    return Index(name, *columns, unique=unique, sqlite_where=where, postgresql_where=where)
