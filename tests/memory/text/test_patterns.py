"""A lazy pattern is compiled at its first use, and then does what a pattern does."""

import re

import pytest

from memory.text.patterns import lazy_pattern


def test_a_lazy_pattern_does_what_the_pattern_does() -> None:
    plain = re.compile(r"(?P<word>[a-z]+) (\d+)", re.IGNORECASE)
    lazy = lazy_pattern(r"(?P<word>[a-z]+) (\d+)", re.IGNORECASE)
    text = "Room 12, floor 3"
    assert lazy.findall(text) == plain.findall(text)
    assert [found.span() for found in lazy.finditer(text)] == [
        found.span() for found in plain.finditer(text)
    ]
    assert lazy.sub("x", text) == plain.sub("x", text)
    assert lazy.split(text) == plain.split(text)
    assert (lazy.pattern, lazy.flags, dict(lazy.groupindex)) == (
        plain.pattern,
        plain.flags,
        dict(plain.groupindex),
    )


def test_a_lazy_pattern_is_compiled_at_its_first_use() -> None:
    broken = lazy_pattern("(")
    with pytest.raises(re.error):
        broken.search("text")
