"""The tools that list the former contents of a file, and bring one back."""

from datetime import datetime

from bot.errors import ToolFailed
from bot.tools.base import ToolArguments, ToolContext
from bot.tools.workspace.changes import FileChange, FileChanges, run_in_tool_thread
from bot.tools.workspace.files import (
    VERSION_CHARS,
    check_writable,
    file_tool_spec,
    format_written,
    label_written,
)
from memory.store.automation.file_versions import FileVersionRow
from memory.workspace.files import SpaceFiles, Workspace


class FileHistoryArguments(ToolArguments):
    """Arguments of `file_history`."""

    path: str


class RestoreFileArguments(ToolArguments):
    """Arguments of `restore_file`."""

    path: str
    version: str

    def written_paths(self) -> tuple[str, ...]:
        return (self.path,)


class FileHistoryTool:
    """Lists the versions that were kept of a file."""

    arguments = FileHistoryArguments
    spec = file_tool_spec(arguments, "file_history", "List the former versions of a file.", "pure")

    def __init__(self, workspace: Workspace, changes: FileChanges) -> None:
        self._workspace = workspace
        self._changes = changes

    async def run(self, arguments: FileHistoryArguments, context: ToolContext) -> str:
        files = self._workspace.space(context.space)
        # refuses what is no path of the space
        await run_in_tool_thread(lambda: _current(files, arguments.path))
        rows = await self._changes.history(context.space, arguments.path)
        zone = context.now().tzinfo
        shown = [
            f"{_version(row)}  {row.size} bytes  until "
            f"{datetime.fromtimestamp(row.at, zone):%Y-%m-%d %H:%M}"
            for row in rows
        ]
        return "\n".join(shown) or "[no versions kept]"


class RestoreFileTool:
    """Brings a version back. Idempotent: a second run finds its content and leaves it."""

    arguments = RestoreFileArguments
    spec = file_tool_spec(
        arguments, "restore_file", "Bring back a version from file_history.", "idempotent"
    )

    def __init__(self, workspace: Workspace, changes: FileChanges) -> None:
        self._workspace = workspace
        self._changes = changes

    async def run(self, arguments: RestoreFileArguments, context: ToolContext) -> str:
        files = self._workspace.space(context.space)
        path = arguments.path
        await check_writable(path, context)
        former = await run_in_tool_thread(lambda: _current(files, path))
        rows = await self._changes.history(context.space, path)
        row = next(
            (row for row in rows if _version(row) == arguments.version[:VERSION_CHARS]), None
        )
        if row is None:
            raise ToolFailed(f"{path} has no such version. file_history lists them.")
        data = await self._changes.content(row)
        if data == former:
            return f"{path} has the content of this version already."
        await context.reserve_storage(len(data) - len(former or b""))
        await label_written(files, [path], context)
        [file] = await self._changes.write(
            context, [FileChange(path=path, data=data, former=former)]
        )
        return format_written(file)


def _current(files: SpaceFiles, path: str) -> bytes | None:
    """The content of a file, None if there is none."""
    try:
        return files.read_bytes(path)
    except FileNotFoundError:
        return None


def _version(row: FileVersionRow) -> str:
    return row.sha256[:VERSION_CHARS]
