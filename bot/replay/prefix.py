"""How much of a request stands word for word at the beginning of the one before it: what a provider's cache repeats."""

from dataclasses import dataclass

from memory.context.counter import PER_MESSAGE, Counter
from memory.context.view import View
from memory.conversation import Part

Piece = tuple[int, Part]
"""A part, and 1 where it begins a message, 2 where that is a model's, else 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prefix:
    """A request as its pieces. head: tokens of system and tools, which stand before them; stable: how many pieces
    belong to the kept turns.
    """

    head: int
    pieces: tuple[Piece, ...]
    stable: int


class Repeats:
    """Compares requests; a part is counted once however often it is shown."""

    def __init__(self, counter: Counter) -> None:
        self._counter = counter
        self._known: dict[Part, int] = {}

    def prefix(self, view: View) -> Prefix:
        """The pieces of a view."""
        pieces: list[Piece] = []
        stable = 0
        for place, message in enumerate(view.shown):
            opening = 2 if message.role == "assistant" else 1
            pieces += [(0 if number else opening, part) for number, part in enumerate(message.parts)]
            stable = len(pieces) if place < view.stable else stable
        return Prefix(head=view.tokens.system + view.tokens.tools, pieces=tuple(pieces), stable=stable)

    def common(self, before: Prefix | None, now: Prefix) -> int:
        """Tokens that both begin with; 0 where there is none before."""
        if before is None:
            return 0
        return now.head + sum(self._tokens(piece) for piece in now.pieces[: _same(before, now)])

    def broken(self, before: Prefix, now: Prefix) -> bool:
        """Whether not all of the kept turns of the one before are repeated."""
        return _same(before, now) < before.stable

    def _tokens(self, piece: Piece) -> int:
        opening, part = piece
        if part not in self._known:
            self._known[part] = self._counter.parts((part,))
        return self._known[part] + (PER_MESSAGE if opening else 0)


def _same(before: Prefix, now: Prefix) -> int:
    """How many pieces both begin with."""
    count = 0
    for one, other in zip(before.pieces, now.pieces, strict=False):
        if one != other:
            break
        count += 1
    return count
