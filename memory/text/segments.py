"""Splits texts into short pieces: a regular expression on a long one blocks the interpreter for everyone."""

import re
from collections.abc import Iterator
from itertools import zip_longest

MAX_SEGMENT = 1_000  # characters; the slowest pattern takes about 2 ms for them
OVERLAP_CHARS = 40  # characters; a date, a time or an amount with its unit is shorter


def iter_sentences(line: str, sentence: re.Pattern[str]) -> list[str]:
    """Find consecutive matches in a line; matches longer than a segment are cut.

    Args:
        sentence: has no groups and matches at least one character at any position.
    """
    if len(line) <= MAX_SEGMENT:
        return sentence.findall(line)
    found: list[str] = []
    start = 0
    while start < len(line):
        match = sentence.match(line, start, start + MAX_SEGMENT)
        end = match.end() if match else start + 1
        found.append(line[start:end])
        start = end
    return found


def split_segments(text: str, most: int = MAX_SEGMENT) -> Iterator[str]:
    """Split a text into pieces of at most `most` characters: at a line end, else at a space, else anywhere."""
    start = 0
    while len(text) - start > most:
        end = start + most
        cut = text.rfind("\n", start, end) + 1 or text.rfind(" ", start, end) + 1 or end
        yield text[start:cut]
        start = cut
    if start < len(text):
        yield text[start:]


def overlapping_segments(text: str, most: int) -> Iterator[str]:
    """Like `split_segments`, with the beginning of the next piece added to each, so that a cut hides no match."""
    pieces = list(split_segments(text, most))
    for piece, following in zip_longest(pieces, pieces[1:], fillvalue=""):
        yield piece if piece.endswith("\n") else piece + following[:OVERLAP_CHARS]
