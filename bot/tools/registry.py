"""Which tools a house has from the start."""

from collections.abc import Callable

from bot.tools.base import Toolset
from bot.tools.clock import Now
from bot.tools.files import EditFile, ListFiles, ReadFile, WriteFile
from bot.tools.memory import LongTerm, MemoryGet, MemorySearch, MemoryWrite
from bot.tools.recall import Recall
from bot.tools.send_file import Outwards, SendFile
from memory.conversation import ToolSpec

_OF_MEMORY = (MemorySearch, MemoryGet, MemoryWrite)
_OF_FILES = (ListFiles, ReadFile, WriteFile, EditFile)


def default_tools(ground: LongTerm, outwards: Outwards) -> Toolset:
    """The built-in ones, in the order models are told of them."""
    return Toolset(
        [
            Now(),
            Recall(ground.store.sessions),
            *(kind(ground) for kind in _OF_MEMORY),
            *(kind(ground.workspace) for kind in _OF_FILES),
            SendFile(outwards),
        ]
    )


class Offered:
    """The tools of a house that are not switched off. off: their names, as configured now."""

    def __init__(self, ground: LongTerm, outwards: Outwards, off: Callable[[], tuple[str, ...]]) -> None:
        self._all = default_tools(ground, outwards)
        self._off = off
        self._known: tuple[tuple[str, ...], Toolset] = ((), self._all)

    def __call__(self) -> Toolset:
        """As things stand; the same object while nothing changes."""
        off = self._off()
        if off != self._known[0]:
            self._known = (off, self._all.without(off))
        return self._known[1]


def default_specs() -> tuple[ToolSpec, ...]:
    """What models are told of them, without a house."""
    return tuple(kind.spec for kind in (Now, Recall, *_OF_MEMORY, *_OF_FILES, SendFile))
