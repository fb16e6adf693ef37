"""A cache is bounded by the size of what it holds."""

import gc
import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from memory.context.evidence import TaintedWords
from memory.text.sized_cache import SizedCache


@given(texts=st.lists(st.text(alphabet="ab", max_size=12)))
def test_it_returns_what_is_computed_and_never_holds_more_than_its_size(texts: list[str]) -> None:
    cache = SizedCache[str, str](20)
    for text in texts:
        assert cache.get(text, len(text), text.upper) == text.upper()
        assert cache.size <= 20
        assert cache.get(text, 0, str) == text.upper(), "the newest is there"


def test_what_was_used_last_is_kept_and_the_newest_in_any_case() -> None:
    computed = []

    def get(text: str) -> None:
        cache.get(text, len(text), lambda: computed.append(text))

    cache = SizedCache[str, None](10)
    for text in ("aa", "bbbb", "cccc", "aa", "d", "aa", "d", "x" * 11, "x" * 11, "aa"):
        get(text)
    assert computed == ["aa", "bbbb", "cccc", "d", "x" * 11, "aa"]
    cache.clear()
    assert cache.size == 0


def test_what_is_kept_of_long_messages_is_bounded_by_their_length() -> None:
    """Forty messages of new words that are compared with a text leave little behind."""
    texts = [
        " ".join(f"lengthy{number}word{word}indeed" for word in range(600)) for number in range(40)
    ]
    tracemalloc.start()
    try:
        for text in texts:
            assert not TaintedWords([], [text]).are_in(text)
        gc.collect()
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 6_000_000
