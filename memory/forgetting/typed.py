"""What was typed at a terminal, kept for the arrow keys: its lines that mention it leave the file. Blocks."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from memory.forgetting.mentions import spans
from memory.forgetting.receipt import FilePlace
from memory.forgetting.redaction import redacted
from memory.forgetting.targets import Item, Targets
from memory.workspace import PathRefused, write_atomic

HISTORY = "terminal_history"
_TYPED = "+"
"""What a typed line begins with; before an entry's lines stands its time, as a comment."""


@dataclass(frozen=True, slots=True)
class TypedLines:
    """The history file in the folder `data`; most homes have none."""

    data: Path

    @property
    def name(self) -> str:
        """Its path below the home."""
        return f"{self.data.name}/{HISTORY}"

    def found(self, _: str) -> Iterator[Item]:
        """Nothing to choose from: what was typed is shown where it was said."""
        return iter(())

    def places(self, targets: Targets) -> list[FilePlace]:
        """The lines that `forget` would take out."""
        lines = _going(self._text(), targets)
        return [FilePlace(path=self.name, lines=tuple(number + 1 for number in lines))] if lines else []

    def forget(self, targets: Targets) -> list[FilePlace]:
        """Take them out; every other byte stays, and so does a file that may not be written.

        Raises:
            OSError: it could not be written.
        """
        text, done = self._text(), self.places(targets)
        gone = {number - 1 for place in done for number in place.lines}
        if not gone:
            return []
        left = "\n".join(line for number, line in enumerate(text.split("\n")) if number not in gone)
        try:
            write_atomic(self.data / HISTORY, left.encode("utf-8", "surrogateescape"))
        except PathRefused:
            return []
        return done

    def mentioned(self, targets: Targets) -> list[str]:
        """The file's name where it still has it to the letter, and nobody chose what stays."""
        return [self.name] if targets.chosen is None and spans(self._text(), targets.query) else []

    def _text(self) -> str:
        try:
            return (self.data / HISTORY).read_bytes().decode("utf-8", "surrogateescape")
        except FileNotFoundError:
            return ""


def _going(text: str, targets: Targets) -> list[int]:
    """Places of the typed lines that mention it, looked for in whole entries: words may go on in the next line."""
    needle = targets.needle()
    going: list[int] = []
    for entry in _entries(text):
        before = [line for _, line in entry]
        after = redacted("\n".join(before), needle).split("\n")
        if len(after) != len(before):  # a mark took a line's end with it
            going += [number for number, _ in entry]
        else:
            going += [number for (number, line), fresh in zip(entry, after, strict=True) if line != fresh]
    return going


def _entries(text: str) -> Iterator[list[tuple[int, str]]]:
    """What was typed at once: its lines without their sign, each with its place in the file."""
    entry: list[tuple[int, str]] = []
    for number, line in enumerate(text.split("\n")):
        if line.startswith(_TYPED):
            entry.append((number, line.removeprefix(_TYPED)))
        elif entry:
            yield entry
            entry = []
    if entry:
        yield entry
