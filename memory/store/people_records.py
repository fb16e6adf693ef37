"""People as the record knows them, and their removal, as values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonRow:
    """One space's private talk: a person as far as one account of theirs goes.

    accounts: "channel:sender id" of everybody who wrote there; conversations: ids; messages: stored ones.
    """

    space: str
    accounts: tuple[str, ...]
    conversations: tuple[str, ...]
    messages: int
    updated: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Who is meant: the spaces of all their linked accounts, the home first, and the accounts themselves."""

    spaces: tuple[str, ...]
    accounts: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaving:
    """A person who is being removed. blobs: files that their rows named; counts: what is gone so far, by kind."""

    id: str
    person: Person
    blobs: tuple[str, ...]
    counts: Mapping[str, int] = field(default_factory=dict)
