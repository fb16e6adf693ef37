"""How much there is in a record, as values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from memory.store.records import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What is under way, and what the open database tells of itself: cheap, for every look.

    schema_at_head: whether the tables are still those of this program, which another process may have brought further.
    inbox_depth: rows new or running; inbox_oldest: when the oldest of those that are due came, unix seconds, 0.0 for
    none. outbox_depth: rows pending, sending or of unknown fate. prefix_breaks: by reason; busy: how often another
    process held the database for too long; both since this opening. db_bytes, wal_bytes: on the disk.
    """

    schema_at_head: bool
    folds_open: int
    inbox_depth: int
    inbox_oldest: float
    outbox_depth: int
    prefix_breaks: Mapping[str, int] = field(default_factory=dict)
    busy: int = 0
    db_bytes: int = 0
    wal_bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """What the record counts in all; reads whole tables. folds: by method and state; turns: ended ones, by state.

    conversations: those that people see. usage: sums per model and purpose.
    """

    turns: Mapping[str, int]
    folds: Mapping[tuple[str, str], int]
    conversations: int
    usage: Sequence[Usage]
