"""The built-in tools, and which of them are offered to the model."""

from collections.abc import Callable, Mapping

from bot.jobs.service import JobService
from bot.memory.recall import SearchPassages, UseCounters
from bot.tools.base import Tool, Toolset
from bot.tools.files import EditFileTool, ListFilesTool, ReadFileTool, WriteFileTool
from bot.tools.memory import MemoryGetTool, MemorySearchTool, MemoryWriteTool, NotifyOnce
from bot.tools.recall import RecallTool
from bot.tools.reminders import RemindersTool, RemindTool
from bot.tools.send_file import SendFileTool
from bot.tools.web.fetch import WebFetchTool
from bot.tools.web.service import WebTools
from channels.base import Channel
from memory.conversation import ToolSpec
from memory.longterm.memories import Memories
from memory.store.store import Store
from memory.workspace.blobs import Blobs
from memory.workspace.files import Workspace

MAX_TOOLSETS = 64  # kept at a time: spaces with the same outside tools share one
_MEMORY_TOOLS = (MemorySearchTool, MemoryGetTool, MemoryWriteTool)
_FILE_TOOLS = (ListFilesTool, ReadFileTool, WriteFileTool, EditFileTool)
_LATER_TOOLS = (RemindTool, RemindersTool)
_TOOLS = (RecallTool, *_MEMORY_TOOLS, *_FILE_TOOLS, SendFileTool, *_LATER_TOOLS, WebFetchTool)


def default_tool_specs() -> tuple[ToolSpec, ...]:
    """Return the specs of the tools that the default settings offer, without creating them."""
    return tuple(kind.spec for kind in _TOOLS)


class OfferedTools:
    """The tools that the configuration does not turn off, in the order that models see them.

    Args:
        memories: returns the memories of a space.
        uses: counts the memories shown to the model.
        notify: sends a notice to a conversation.
        outside: returns the tools of servers that a space is offered.
        off: returns the names of the tools that are turned off.
    """

    def __init__(
        self,
        *,
        store: Store,
        workspace: Workspace,
        blobs: Blobs,
        search: SearchPassages,
        memories: Callable[[str], Memories],
        uses: UseCounters,
        notify: NotifyOnce,
        channels: Mapping[str, Channel],
        jobs: JobService,
        web: WebTools,
        outside: Callable[[str], tuple[Tool, ...]],
        off: Callable[[], tuple[str, ...]],
    ) -> None:
        self._own: list[Tool] = [
            RecallTool(store.sessions),
            MemorySearchTool(store, search, uses),
            MemoryGetTool(store, workspace, uses),
            MemoryWriteTool(memories, notify),
            *(kind(workspace) for kind in _FILE_TOOLS),
            SendFileTool(store, workspace, blobs, channels),
            *(kind(jobs) for kind in _LATER_TOOLS),
        ]
        self._web = web
        self._outside = outside
        self._off = off
        #: Toolsets by their outside tools, for one state of the configuration.
        self._offered: tuple[object, dict[tuple[Tool, ...], Toolset]] = ((), {})

    def __call__(self, space: str) -> Toolset:
        """Return the current tools of a space; the same object until the configuration changes."""
        off, web, outside = self._off(), self._web.offered(), self._outside(space)
        if (off, web) != self._offered[0] or len(self._offered[1]) > MAX_TOOLSETS:
            self._offered = ((off, web), {})
        known = self._offered[1]
        if outside not in known:
            known[outside] = Toolset([*self._own, *web, *outside]).without(off)
        return known[outside]

    def specs(self, space: str) -> tuple[ToolSpec, ...]:
        """Return the specs of the current tools of a space."""
        return self(space).specs()
