"""Turns as text for the one who summarises: whole where they fit one prompt, else in chunks of whole turns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo
from itertools import groupby

from memory.context.counter import Counter
from memory.context.reduction import handle, snip
from memory.context.render import Utterance, is_tool, line, utterances
from memory.conversation import Message

MOST_CHUNKS = 24
"""More than these are not asked for: the least important messages are shortened instead."""
LEVELS = ((600, 3_000), (200, 1_000), (40, 160))  # characters that tool traffic and other texts may keep, tried in turn


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """How a range is written. most: tokens of one prompt by this counter; weights: what messages matter, by id."""

    counter: Counter
    most: int
    zone: tzinfo
    weights: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A piece of a range. said: what is in it, whole; text: as it is written for a prompt; first, last: its turns."""

    said: tuple[Utterance, ...]
    text: str

    @property
    def first(self) -> int:
        return self.said[0].message.turn

    @property
    def last(self) -> int:
        return self.said[-1].message.turn


@dataclass(frozen=True, slots=True, kw_only=True)
class _Piece:
    """One utterance, as it was said and as it is shown, with the tokens of that."""

    said: Utterance
    shown: str
    tokens: int


def chunks(messages: Sequence[Message], room: Room) -> tuple[Chunk, ...]:
    """The messages in order as chunks that keep to the room; a turn is parted only where it alone is too large.

    A single part larger than half of the room keeps head and tail with its handle. Where even MOST_CHUNKS would not do,
    the least important messages are shortened first, the most important last.
    """
    pieces = [_piece(said, room) for said in utterances(messages)]
    most = room.most * MOST_CHUNKS
    made = _packed(pieces, room)
    while len(made) > MOST_CHUNKS and most > room.most:
        most = most * 3 // 4
        pieces = _within(pieces, room, most)
        made = _packed(pieces, room)
    return tuple(_chunk(group, room) for group in made)


def _packed(pieces: Sequence[_Piece], room: Room) -> list[list[_Piece]]:
    """As many turns in each chunk as go in, in order."""
    made: list[list[_Piece]] = []
    used = room.most
    for _, turn in groupby(pieces, key=lambda piece: piece.said.message.turn):
        for group in _parted(list(turn), room):
            cost = _cost(group, room)
            if used + cost > room.most or not made:
                made.append([])
                used = 0
            made[-1] += group
            used += cost
    return made


def _piece(said: Utterance, room: Room) -> _Piece:
    """The utterance as a line, with half of the room at most."""
    shown = line(said, room.zone)
    tokens, most = room.counter.text(shown), max(1, room.most // 2)
    while tokens > most and len(shown) > 80:
        shown = _shown(said, len(shown) * most // (tokens + 1) * 9 // 10, room)
        before, tokens = tokens, room.counter.text(shown)
        if tokens >= before:
            break
    return _Piece(said=said, shown=shown, tokens=tokens)


def _shown(said: Utterance, most: int, room: Room) -> str:
    """Head and tail of at most so many characters, on one line."""
    if len(said.text) <= most:
        return line(said, room.zone)
    text = snip(said.text, most * 2 // 3, most // 3, handle(said.message, said.part))
    return line(replace(said, text=text), room.zone)


def _within(pieces: Sequence[_Piece], room: Room, most: int) -> list[_Piece]:
    """The pieces, shortened from the least important on, until they have so many tokens together."""
    kept, total = list(pieces), sum(piece.tokens for piece in pieces)
    order = sorted(range(len(kept)), key=lambda at: (room.weights.get(kept[at].said.message.id, 0), at))
    for most_tool, most_text in LEVELS:
        for at in order:
            if total <= most:
                return kept
            shown = _shown(kept[at].said, most_tool if is_tool(kept[at].said) else most_text, room)
            tokens = room.counter.text(shown)
            if tokens < kept[at].tokens:
                total -= kept[at].tokens - tokens
                kept[at] = replace(kept[at], shown=shown, tokens=tokens)
    return kept


def _parted(turn: list[_Piece], room: Room) -> list[list[_Piece]]:
    """A turn in one piece, or, where it is too large for a chunk, in several."""
    parts: list[list[_Piece]] = [[]]
    for piece in turn:
        if parts[-1] and _cost([*parts[-1], piece], room) > room.most:
            parts.append([])
        parts[-1].append(piece)
    return parts


_HEAD_TOKENS = 16
"""What a turn's heading may cost, with the line's end."""


def _cost(group: Sequence[_Piece], room: Room) -> int:
    return _HEAD_TOKENS + sum(piece.tokens + 1 for piece in group)


def _chunk(group: Sequence[_Piece], room: Room) -> Chunk:
    written: list[str] = []
    for number, turn in groupby(group, key=lambda piece: piece.said.message.turn):
        pieces = list(turn)
        day = pieces[0].said.message.at.astimezone(room.zone)
        written += [f"## turn {number} · {day:%Y-%m-%d}", *(piece.shown for piece in pieces)]
    return Chunk(said=tuple(piece.said for piece in group), text="\n".join(written))
