"""Texts in short pieces: what a pattern reads in one go holds the interpreter, and every other conversation with it."""

import re
from collections.abc import Iterator
from itertools import zip_longest

MAX_SEGMENT = 1_000  # characters; the slowest pattern takes about 2 ms for them
OVERLAP_CHARS = 40  # characters; a date, a time or an amount with its unit is shorter


def iter_sentences(line: str, sentence: re.Pattern[str]) -> list[str]:
    """What the pattern finds in a line from its beginning on; what is longer than a segment is cut.

    The pattern has no groups, and takes at least one character wherever it is tried.
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
    """The text in pieces of at most so many characters, which joined are the text.

    They are cut behind a line where one ends, else behind a space, else anywhere.
    """
    start = 0
    while len(text) - start > most:
        end = start + most
        cut = text.rfind("\n", start, end) + 1 or text.rfind(" ", start, end) + 1 or end
        yield text[start:cut]
        start = cut
    if start < len(text):
        yield text[start:]


def overlapping_segments(text: str, most: int) -> Iterator[str]:
    """The same pieces, each with the beginning of the next one, so that what a cut would part is found once whole."""
    pieces = list(split_segments(text, most))
    for piece, following in zip_longest(pieces, pieces[1:], fillvalue=""):
        yield piece if piece.endswith("\n") else piece + following[:OVERLAP_CHARS]
