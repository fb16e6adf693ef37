"""Spaces are indexed at the same time, in threads: no word of one may become a term of another."""

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from memory.text.tokenizer import text_terms


@pytest.fixture
def restless() -> Iterator[None]:
    """Threads take turns as often as they can."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


@pytest.mark.usefixtures("restless")
def test_texts_that_are_read_at_the_same_time_keep_their_own_words() -> None:
    texts = [" ".join(f"person{number}x{word}" for word in range(500)) for number in range(8)]
    with ThreadPoolExecutor(len(texts)) as threads:
        found = list(threads.map(text_terms, texts))
    for text, held in zip(texts, found, strict=True):
        assert held == text.split()
