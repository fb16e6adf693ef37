"""The built-in tools, and which of them are offered to the model."""

from collections.abc import Callable, Collection, Mapping, Sequence

from bot.jobs.service import JobService
from bot.memory.recall import SearchPassages, UseCounters
from bot.tools.base import Tool, Toolset
from bot.tools.deferred import (
    SMALL_WINDOW,
    Findable,
    FindToolsTool,
    PromptNeeds,
    ToolUses,
    UseToolTool,
    are_too_many,
    to_findable,
)
from bot.tools.exec.service import ExecTools
from bot.tools.memory import MemoryGetTool, MemorySearchTool, MemoryWriteTool, NotifyOnce
from bot.tools.recall import RecallTool
from bot.tools.reminders import RemindersTool, RemindTool
from bot.tools.skills.library import Skill
from bot.tools.skills.service import SkillTools
from bot.tools.web.fetch import WebFetchTool
from bot.tools.web.service import WebTools
from bot.tools.workspace.changes import FileChanges
from bot.tools.workspace.files import EditFileTool, ListFilesTool, ReadFileTool, WriteFileTool
from bot.tools.workspace.history import FileHistoryTool, RestoreFileTool
from bot.tools.workspace.patch import PatchFilesTool
from bot.tools.workspace.search import FindFilesTool, SearchFilesTool
from bot.tools.workspace.send_file import SendFileTool
from channels.base import Channel
from memory.conversation import USE_TOOL, ToolSpec
from memory.longterm.memories import Memories
from memory.store.store import Store
from memory.workspace.blobs import Blobs
from memory.workspace.files import Workspace

MAX_CACHED_TOOLSETS = 1_000
# Of tools of ours that are not always offered: no plug-in stands in for one that is off.
RESERVED_NAMES = frozenset({"exec", "find_tools", "skill", USE_TOOL, "web_fetch", "web_search"})
_MEMORY_TOOLS = (MemorySearchTool, MemoryGetTool, MemoryWriteTool)
_READING_TOOLS = (ListFilesTool, ReadFileTool)
_WRITING_TOOLS = (WriteFileTool, EditFileTool)
_SEARCHING_TOOLS = (FindFilesTool, SearchFilesTool)
_VERSION_TOOLS = (PatchFilesTool, FileHistoryTool, RestoreFileTool)
_FILE_TOOLS = (*_READING_TOOLS, *_WRITING_TOOLS, *_SEARCHING_TOOLS, *_VERSION_TOOLS)
_LATER_TOOLS = (RemindTool, RemindersTool)
_TOOLS = (RecallTool, *_MEMORY_TOOLS, *_FILE_TOOLS, SendFileTool, *_LATER_TOOLS, WebFetchTool)


def default_tool_specs() -> tuple[ToolSpec, ...]:
    """Return the specs of the tools that the default settings offer, without creating them."""
    return tuple(kind.spec for kind in _TOOLS)


class OfferedTools:
    """The tools that the configuration does not turn off, in the order that models see them.

    Args:
        changes: writes files, and keeps their versions.
        memories: returns the memories of a space.
        uses: counts the memories shown to the model.
        notify: sends a notice to a conversation.
        delegate: returns the tool for sub-agents, if it is on.
        outside: returns the tools of plug-ins and servers that a space is offered.
        off: returns the names of the tools that are turned off.
        in_use: tells whether a turn of a space runs: its tools stay as they are until `adopt`.
        window: returns the tokens of the model's window.
        tool_uses: knows what each space has used.
    """

    def __init__(
        self,
        *,
        store: Store,
        workspace: Workspace,
        blobs: Blobs,
        changes: FileChanges,
        search: SearchPassages,
        memories: Callable[[str], Memories],
        uses: UseCounters,
        notify: NotifyOnce,
        channels: Mapping[str, Channel],
        jobs: JobService,
        web: WebTools,
        exec_tools: ExecTools,
        skills: SkillTools,
        delegate: Callable[[], tuple[Tool, ...]],
        outside: Callable[[str], tuple[Tool, ...]],
        off: Callable[[], tuple[str, ...]],
        in_use: Callable[[str], bool],
        window: Callable[[], int],
        tool_uses: ToolUses,
    ) -> None:
        self._own: list[Tool] = [
            RecallTool(store.sessions, store.tasks),
            MemorySearchTool(search, uses),
            MemoryGetTool(store, workspace, uses),
            MemoryWriteTool(memories, notify),
            *(kind(workspace) for kind in _READING_TOOLS),
            *(kind(workspace, changes) for kind in _WRITING_TOOLS),
            *(kind(workspace) for kind in _SEARCHING_TOOLS),
            *(kind(workspace, changes) for kind in _VERSION_TOOLS),
            SendFileTool(store, workspace, blobs, channels),
            *(kind(jobs) for kind in _LATER_TOOLS),
        ]
        self._web = web
        self._skills = skills
        self._exec = exec_tools
        self._delegate = delegate
        self._outside = outside
        self._off = off
        self._in_use = in_use
        self._workspace = workspace
        self._window = window
        self._tool_uses = tool_uses
        #: By space and whether the window is small, with what each was built of.
        self._offered: dict[tuple[str, bool], tuple[object, Toolset]] = {}
        #: Of the spaces in which a turn runs.
        self._held: dict[str, Toolset] = {}

    def __call__(self, space: str) -> Toolset:
        """Return the tools of a space; the same object until something changes, and while a turn of
        it runs.
        """
        if (held := self._held.get(space)) is not None:
            return held
        found = self._current(space, self._window())
        if self._in_use(space):
            self._held[space] = found
        return found

    def adopt(self, space: str) -> None:
        """Take up changes, for no turn of the space runs now."""
        self._held.pop(space, None)

    async def load(self, space: str, window: int) -> None:
        """Load what decides which tools are in the prompt, unless they stay as they are.

        Args:
            window: tokens of a window that `specs` is called with; it may be another one than that
                of the model.
        """
        is_small = min(window, self._window()) < SMALL_WINDOW
        if is_small and space not in self._held:
            await self._tool_uses.load(space)

    def _current(self, space: str, window: int) -> Toolset:
        is_small = window < SMALL_WINDOW
        needs = PromptNeeds(
            has_files=not is_small and self._workspace.has_files(space),
            is_small=is_small,
            used=self._tool_uses.find(space) if is_small else (),
        )
        skills = self._skills.offered(space)
        added = (*self._web.offered(), *skills, *self._exec.offered(space), *self._delegate())
        current = self._off(), added, self._outside(space), needs
        known = self._offered.get((space, is_small))
        if known is None or known[0] != current:
            if len(self._offered) >= MAX_CACHED_TOOLSETS:
                self._offered.clear()
            unlisted = [skill for tool in skills for skill in tool.unlisted]
            known = self._offered[space, is_small] = (
                current,
                self._build(*current, list(map(_to_findable, unlisted))),
            )
        return known[1]

    def _build(
        self,
        off: Collection[str],
        added: Sequence[Tool],
        outside: Sequence[Tool],
        needs: PromptNeeds,
        skills: Sequence[Findable],
    ) -> Toolset:
        """Return the tools of a space; what its prompt does not need, or what does not fit it,
        is deferred.
        """
        taken = {tool.spec.name for tool in (*self._own, *added)} | RESERVED_NAMES
        own = _without([*self._own, *added], off)
        outside = _without(outside, {*off, *taken})
        names = needs.find_deferred([*own, *outside], off)
        if are_too_many(outside):
            names |= {tool.spec.name for tool in outside}
        deferred = [tool for tool in (*own, *outside) if tool.spec.name in names]
        found = [*map(to_findable, deferred), *skills]
        finders: list[Tool] = [FindToolsTool(found)] if found else []
        if deferred:
            finders.append(UseToolTool())
        finders = _without(finders, off)
        return Toolset([*_without(own, names), *finders, *_without(outside, names)], deferred)

    def specs(self, space: str, window: int) -> tuple[ToolSpec, ...]:
        """Return the specs of the tools in the prompt of a space, in a window of so many tokens."""
        return self._current(space, window).specs()

    def deferred_names(self, space: str) -> tuple[str, ...]:
        """Return the names of the bot's own tools that are not in the prompt of a space."""
        toolset = self(space)
        shown = frozenset(toolset.names())
        return tuple(
            spec.name
            for tool in toolset.all()
            if not (spec := tool.spec).origin and spec.name not in shown
        )


def _without(tools: Sequence[Tool], names: Collection[str]) -> list[Tool]:
    return [tool for tool in tools if tool.spec.name not in names]


def _to_findable(skill: Skill) -> Findable:
    about = f"A skill: read it with the tool skill. {skill.description}"
    return Findable(name=skill.name, origin="skills", description=about)
