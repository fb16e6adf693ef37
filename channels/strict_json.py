"""JSON as strangers may send it: no key twice, no NaN, no number without end, not deep. Pure."""

import json
from typing import Any

DEEPEST = 32
LONGEST_NUMBER = 4_300
"""Digits; Python itself refuses to read more, but only since 3.11."""


def strict_json(raw: bytes | bytearray) -> Any:
    """The value.

    Raises:
        ValueError: it is not JSON of that kind; says why.
    """
    try:
        value = json.loads(
            raw.decode("utf-8"), object_pairs_hook=_object, parse_constant=_no_constant, parse_int=_integer
        )
    except RecursionError as err:
        raise ValueError("it is nested too deep") from err
    if _depth(value) > DEEPEST:
        raise ValueError(f"it is nested more than {DEEPEST} levels deep")
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError("a key stands there twice")
    return fields


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number")


def _integer(digits: str) -> int:
    if len(digits) > LONGEST_NUMBER:
        raise ValueError("a number without end")
    return int(digits)


def _depth(value: Any) -> int:
    level, depth = [value], 0
    while level := [item for item in level if isinstance(item, dict | list)]:
        depth += 1
        level = [inner for item in level for inner in (item.values() if isinstance(item, dict) else item)]
    return depth
