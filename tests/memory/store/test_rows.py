"""A dataclass is made from a row by the names of its fields, and what a column stores differently
is converted.
"""

from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from memory.store.rows import from_row


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    id: str
    count: int
    flag: bool
    at: datetime
    ended: datetime | None
    words: tuple[str, ...] = ()


ROW = {"id": "a", "count": 1, "flag": 1, "at": 60.0, "ended": 0.0}


def test_flags_and_times_are_converted_and_the_rest_stays() -> None:
    found = from_row(Example, ROW, words=("x",))
    assert found == Example(
        id="a",
        count=1,
        flag=True,
        at=datetime(1970, 1, 1, 0, 1, tzinfo=UTC),
        ended=None,
        words=("x",),
    )
    assert found.flag is True
    assert from_row(Example, {**ROW, "flag": False, "ended": 120.0}).ended == datetime(
        1970, 1, 1, 0, 2, tzinfo=UTC
    )


def test_a_column_without_a_field_is_an_error() -> None:
    with pytest.raises(TypeError, match="unknown"):
        from_row(Example, {**ROW, "unknown": 1})
