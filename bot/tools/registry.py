"""The built-in tools."""

from collections.abc import Callable

from bot.tools.base import Toolset
from bot.tools.clock import ClockTool
from bot.tools.files import EditFileTool, ListFilesTool, ReadFileTool, WriteFileTool
from bot.tools.memory import MemoryGetTool, MemorySearchTool, MemoryToolServices, MemoryWriteTool
from bot.tools.recall import RecallTool
from bot.tools.send_file import SendFileServices, SendFileTool
from memory.conversation import ToolSpec

_MEMORY_TOOLS = (MemorySearchTool, MemoryGetTool, MemoryWriteTool)
_FILE_TOOLS = (ListFilesTool, ReadFileTool, WriteFileTool, EditFileTool)


def create_default_tools(ground: MemoryToolServices, outwards: SendFileServices) -> Toolset:
    """Create the built-in tools in the order that models see them."""
    return Toolset(
        [
            ClockTool(),
            RecallTool(ground.store.sessions),
            *(kind(ground) for kind in _MEMORY_TOOLS),
            *(kind(ground.workspace) for kind in _FILE_TOOLS),
            SendFileTool(outwards),
        ]
    )


class OfferedTools:
    """The built-in tools without those that the configuration turns off."""

    def __init__(
        self, ground: MemoryToolServices, outwards: SendFileServices, off: Callable[[], tuple[str, ...]]
    ) -> None:
        self._all = create_default_tools(ground, outwards)
        self._off = off
        self._known: tuple[tuple[str, ...], Toolset] = ((), self._all)

    def __call__(self) -> Toolset:
        """Return the current tools; the same object until the configuration changes."""
        off = self._off()
        if off != self._known[0]:
            self._known = (off, self._all.without(off))
        return self._known[1]

    def specs(self) -> tuple[ToolSpec, ...]:
        """Return the specs of the current tools."""
        return self().specs()


def default_tool_specs() -> tuple[ToolSpec, ...]:
    """Return the specs of the built-in tools without creating them."""
    return tuple(kind.spec for kind in (ClockTool, RecallTool, *_MEMORY_TOOLS, *_FILE_TOOLS, SendFileTool))
