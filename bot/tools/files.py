"""The tools for the files of a space: list, read, write, edit."""

import asyncio
import os
from collections.abc import Callable
from datetime import datetime
from typing import Annotated, TypeVar

from pydantic import Field

from bot.errors import ToolFailed
from bot.tools.base import LazyToolSpec, ToolArguments, ToolContext
from memory.context.taint import OUTSIDE_LABEL
from memory.conversation import Effect
from memory.workspace.files import FileConflict, FileEntry, FileTooBig, SpaceFiles, TextFile, Workspace
from memory.workspace.safe_path import PathRefused, split_path

MAX_READ_BYTES = 2 * 2**20  # larger files are not read as text
PAGE_LINES = 400
PAGE_CHARS = 40_000
MAX_LISTED = 500
VERSION_CHARS = 12  # hex digits of the SHA-256 that name a file's version
_MEMORY_NAMES = frozenset(("memory.md", "memory", "soul.md"))  # later prompts trust the text of these
T = TypeVar("T")
FilePath = Annotated[str, Field(description="Relative to the workspace")]


class ListFilesArguments(ToolArguments):
    """Arguments of `list_files`."""

    path: str = ""


class ReadFileArguments(ToolArguments):
    """Arguments of `read_file`."""

    path: FilePath
    offset: int = Field(1, ge=1, description="First line")
    limit: int = Field(PAGE_LINES, ge=1, le=2000)


class WriteFileArguments(ToolArguments):
    """Arguments of `write_file`."""

    path: FilePath
    content: str
    version: str = Field("", description="Of the file to replace; none for a new file")

    def written_paths(self) -> tuple[str, ...]:
        return (self.path,)


class EditFileArguments(ToolArguments):
    """Arguments of `edit_file`."""

    path: FilePath
    old: str
    new: str

    def written_paths(self) -> tuple[str, ...]:
        return (self.path,)


def _file_tool_spec(arguments: type[ToolArguments], name: str, description: str, effect: Effect) -> LazyToolSpec:
    action = "files.read" if effect == "pure" else "files.write"
    reads = name == "read_file"
    return LazyToolSpec(arguments, name=name, description=description, effect=effect, action=action, outside=reads)


class ListFilesTool:
    """Lists names, sizes and modification times."""

    arguments = ListFilesArguments
    spec = _file_tool_spec(
        arguments,
        "list_files",
        "List a folder of the workspace with sizes and times; everything without a path.",
        "pure",
    )

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    async def run(self, arguments: ListFilesArguments, context: ToolContext) -> str:
        files = self._workspace.space(context.space)
        path = arguments.path.strip("/")
        entries = await run_in_tool_thread(lambda: files.list(path))
        shown = [_format_entry(entry, context.now()) for entry in entries[:MAX_LISTED]]
        if len(entries) > MAX_LISTED:
            shown.append(f"[{len(entries) - MAX_LISTED} more; list one folder to see them]")
        tainted = await context.tainted_paths()
        if any(not tainted.isdisjoint(_parent_folders(entry.path)) for entry in entries[:MAX_LISTED]):
            shown.append(OUTSIDE_LABEL)
        return "\n".join(shown) or "[no files]"


class ReadFileTool:
    """Reads text by pages of lines, with the version that a later write must pass."""

    arguments = ReadFileArguments
    spec = _file_tool_spec(
        arguments,
        "read_file",
        f"Read a text file of the workspace, {PAGE_LINES} lines by default. The result begins with its version, which "
        "write_file needs.",
        "pure",
    )

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    async def run(self, arguments: ReadFileArguments, context: ToolContext) -> str:
        files = self._workspace.space(context.space)
        file = await run_in_tool_thread(lambda: _text_file(files, arguments.path))
        return format_page(file, arguments.offset, arguments.limit)


class WriteFileTool:
    """Writes a whole file. Idempotent: a second run finds its own content and leaves it."""

    arguments = WriteFileArguments
    spec = _file_tool_spec(
        arguments,
        "write_file",
        "Write a whole text file. To replace a file, read it first and pass its version.",
        "idempotent",
    )

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    async def run(self, arguments: WriteFileArguments, context: ToolContext) -> str:
        files = self._workspace.space(context.space)
        path, content = arguments.path, arguments.content
        await _check_writable(path, context)
        await context.reserve_storage(_byte_count(content))
        new_paths = await run_in_tool_thread(lambda: _missing_paths(files, path))
        if new_paths and (await context.load_message()).tainted:
            await context.mark_tainted(new_paths)
        file = await run_in_tool_thread(lambda: _write_file(files, path, content, arguments.version))
        return f"{path} now holds {file.size} bytes, version {file_version(file)}."


class EditFileTool:
    """Replaces one exact passage. Unsafe: a second run applies again if the new text contains the old."""

    arguments = EditFileArguments
    spec = _file_tool_spec(
        arguments,
        "edit_file",
        "Replace one passage of a text file. `old` is copied from the file and occurs there exactly once.",
        "unsafe",
    )

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    async def run(self, arguments: EditFileArguments, context: ToolContext) -> str:
        files = self._workspace.space(context.space)
        await _check_writable(arguments.path, context)
        await context.reserve_storage(_byte_count(arguments.new) - _byte_count(arguments.old))
        return await run_in_tool_thread(lambda: _edit_file(files, arguments.path, arguments.old, arguments.new))


def _byte_count(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def file_version(file: TextFile) -> str:
    """Return the short version id of the content."""
    return file.sha256[:VERSION_CHARS]


def format_page(file: TextFile, offset: int, limit: int) -> str:
    """Format lines of a file below a header with version and position.

    Ends early at PAGE_CHARS characters; a single longer line is cut.
    """
    lines = file.text.removeprefix("\ufeff").splitlines(keepends=True)
    if not lines:
        return f"[{file.path} is empty, version {file_version(file)}]"
    if offset > len(lines):
        raise ToolFailed(f"{file.path} has {len(lines)} lines; there is no line {offset}.")
    shown: list[str] = []
    remaining = PAGE_CHARS
    for line in lines[offset - 1 : offset - 1 + limit]:
        if shown and len(line) > remaining:
            break
        shown.append(line if len(line) <= PAGE_CHARS else f"{line[:PAGE_CHARS]} [line cut: {len(line)} characters]\n")
        remaining -= len(line)
    last = offset + len(shown) - 1
    more = f"; more: offset={last + 1}" if last < len(lines) else ""
    head = f"[{file.path}, version {file_version(file)}, lines {offset}-{last} of {len(lines)}{more}]"
    return f"{head}\n{''.join(shown)}"


def _parent_folders(path: str) -> list[str]:
    """Return the folders that contain a path, then the path itself."""
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]


def _missing_paths(files: SpaceFiles, path: str) -> list[str]:
    """Return the folders and the file of a path that do not exist yet.

    Raises:
        PathRefused: the path is never written.
    """
    split_path(path)
    return [prefix for prefix in _parent_folders(path) if not os.path.lexists(files.root / prefix)]


def _format_entry(entry: FileEntry, now: datetime) -> str:
    if entry.is_dir:
        return f"{entry.path}/"
    changed = datetime.fromtimestamp(entry.mtime, now.tzinfo)
    return f"{entry.path}  {entry.size} bytes  {changed:%Y-%m-%d %H:%M}"


def _text_file(files: SpaceFiles, path: str) -> TextFile:
    file = files.read(path)
    if file.size > MAX_READ_BYTES:
        raise ToolFailed(f"{path} has {file.size} bytes; {MAX_READ_BYTES} is the most that is read as text.")
    if "\0" in file.text or file.text.count("\ufffd") > len(file.text) // 20:
        raise ToolFailed(f"{path} is not a text file ({file.size} bytes).")
    return file


def _write_file(files: SpaceFiles, path: str, content: str, known: str) -> TextFile:
    try:
        existing = files.read(path)
    except FileNotFoundError:
        if known:
            raise ToolFailed(f"{path} does not exist (any more). To make it, leave the version out.") from None
        return files.write(path, content, None)
    if existing.text == content:
        return existing
    if known != file_version(existing):
        why = f"{path} has changed since" if known else f"{path} exists"
        raise ToolFailed(f"{why}. Read it, then pass the version that you read.")
    return files.write(path, content, existing.sha256)


def _edit_file(files: SpaceFiles, path: str, old: str, new: str) -> str:
    if not old:
        raise ToolFailed("`old` is empty; give the exact passage that is to be replaced.")
    file = _text_file(files, path)
    if "\r\n" in file.text and "\r" not in old:
        old, new = old.replace("\n", "\r\n"), new.replace("\n", "\r\n")
    count = file.text.count(old)
    if count == 0 and new and new in file.text:
        return f"{path} already holds the new text; nothing was changed."
    if count != 1:
        hint = "Make it longer, so that it is the only one." if count else "Read the file and copy the passage exactly."
        raise ToolFailed(f"`old` occurs {count} times in {path}, not once. {hint}")
    written = files.write(path, file.text.replace(old, new), file.sha256)
    return f"{path} now holds {written.size} bytes, version {file_version(written)}."


async def _check_writable(path: str, context: ToolContext) -> None:
    """Refuse memory files while outside content is in view: later prompts trust them."""
    top = path.strip().split("/", 1)[0].casefold()
    if top in _MEMORY_NAMES and (await context.load_message()).tainted:
        raise ToolFailed(
            f"{path} is memory, and words from outside are in view (a file, a tool's result): it is not written now. "
            "memory_write notes what this person has just written."
        )


async def run_in_tool_thread(act: Callable[[], T]) -> T:
    """Run `act` in a thread; file errors become ToolFailed."""
    try:
        return await asyncio.to_thread(act)
    except FileConflict as err:
        raise ToolFailed(f"{err}; nothing was written. Read it again.") from err
    except (PathRefused, FileTooBig) as err:
        raise ToolFailed(f"{err}.") from err
    except FileNotFoundError as err:
        raise ToolFailed("There is no such file. list_files shows what there is.") from err
    except (IsADirectoryError, NotADirectoryError) as err:
        raise ToolFailed("The path takes a folder for a file, or a file for a folder.") from err
    except OSError as err:
        raise ToolFailed(f"It could not be done: {err.strerror or type(err).__name__}.") from err
