"""The tools for files over one workspace and one store, for tests."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bot.tools.base import MessageContext, Tool, ToolContext, ToolOutput
from bot.tools.workspace.changes import FileChanges
from bot.tools.workspace.files import EditFileTool, ListFilesTool, ReadFileTool, WriteFileTool
from bot.tools.workspace.history import FileHistoryTool, RestoreFileTool
from bot.tools.workspace.patch import PatchFilesTool
from bot.tools.workspace.search import FindFilesTool, SearchFilesTool
from memory.store.longterm.file_labels import PathLabels
from memory.store.open import open_store
from memory.store.store import Store
from memory.workspace.blobs import Blobs
from memory.workspace.files import Workspace

NOW = datetime(2026, 11, 20, 19, 0, tzinfo=UTC)
AT = NOW.timestamp()


class FileHands:
    """What a model can do with files, in a clean turn unless `tainted`."""

    def __init__(self, root: Path, store: Store) -> None:
        self.root = root
        self.store = store
        self.workspace = Workspace(root)
        self.blobs = Blobs(root.parent / "blobs")
        self.changes = FileChanges(self.workspace, store.file_versions, self.blobs)
        reading = (ListFilesTool, ReadFileTool, FindFilesTool, SearchFilesTool)
        writing = (WriteFileTool, EditFileTool, PatchFilesTool, FileHistoryTool, RestoreFileTool)
        tools: list[Tool] = [kind(self.workspace) for kind in reading]
        tools += [kind(self.workspace, self.changes) for kind in writing]
        self.tools = {tool.spec.name: tool for tool in tools}
        self.reserved: list[int] = []
        #: Labelled in tainted turns, or by the test.
        self.names: list[str] = []
        self.contents: list[str] = []
        #: Whether the newest result holds words from outside.
        self.outside: bool | None = None
        self.tainted = False
        self.calls = 0

    async def use(self, name: str, space: str = "", **arguments: Any) -> str:
        self.calls += 1
        context = ToolContext(
            conversation="c",
            space=space,
            now=lambda: NOW,
            idem_key=f"call{self.calls}",
            load_message=self._load_message,
            reserve_storage=self._reserve_storage,
            load_labels=self._load_labels,
            label_names=self._label_names,
            label_contents=self._label_contents,
        )
        tool = self.tools[name]
        output = await tool.run(tool.arguments.parse(arguments), context)
        self.outside = output.outside if isinstance(output, ToolOutput) else tool.spec.outside
        return output.text if isinstance(output, ToolOutput) else output

    def text(self, path: str, space: str = "") -> str:
        return self.workspace.space(space).read(path).text

    async def _load_message(self) -> MessageContext:
        return MessageContext(tainted=self.tainted)

    async def _reserve_storage(self, size: int) -> None:
        self.reserved.append(size)

    async def _load_labels(self, _: Any) -> PathLabels:
        return PathLabels(names=frozenset(self.names), contents=frozenset(self.contents))

    async def _label_names(self, paths: Any) -> None:
        self.names += paths

    async def _label_contents(self, paths: Any) -> None:
        self.contents += paths


@asynccontextmanager
async def file_hands(folder: Path, at: float = AT) -> AsyncIterator[FileHands]:
    """Open a workspace and a store in a folder; the clock of the store counts seconds from `at`."""
    ticks = iter(range(10**9))
    store = await open_store(folder / "mnema.db", clock=lambda: at + next(ticks))
    try:
        yield FileHands(folder / "workspace", store)
    finally:
        await store.close()
