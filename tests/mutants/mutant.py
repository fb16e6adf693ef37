"""What a mutant is."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One wrong change. guards: the invariant it breaks, else a word for it; old: text that stands once in `file`.

    tests: node ids, every one of which is run; at least one has to fail.
    """

    name: str
    guards: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
