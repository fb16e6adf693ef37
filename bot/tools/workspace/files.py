"""The tools for the files of a space: list, read, write, edit."""

import os
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated

from pydantic import Field

from bot.errors import MnemaError, ToolFailed
from bot.memory.export import EXPORTS_FOLDER
from bot.tools.base import LazyToolSpec, ToolArguments, ToolContext, ToolOutput
from bot.tools.workspace.changes import FileChange, FileChanges, former_content, run_in_tool_thread
from channels.phrases import Phrase
from memory.context.taint import OUTSIDE_LABEL
from memory.conversation import Effect
from memory.store.longterm.file_labels import FileLabels, PathLabels
from memory.workspace.files import (
    SET_ASIDE,
    SPACES_FOLDER,
    FileEntry,
    SpaceFiles,
    TextFile,
    Workspace,
    original_name,
)
from memory.workspace.safe_path import PathRefused, split_path

MAX_READ_BYTES = 2 * 2**20  # larger files are not read as text
PAGE_LINES = 400
PAGE_CHARS = 40_000
MAX_LISTED = 500
VERSION_CHARS = 12  # hex digits of the SHA-256 that name a file's version
# later prompts trust the text of these
_MEMORY_NAMES = frozenset(("memory.md", "memory", "soul.md"))
# Folders with words of others: logs (of which memory_get knows the lines), what was installed, and
# exported talk.
_OUTSIDE_FOLDERS = frozenset(("memory", "skills", "tools", EXPORTS_FOLDER.rstrip("/")))
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


def file_tool_spec(
    arguments: type[ToolArguments], name: str, description: str, effect: Effect
) -> LazyToolSpec:
    """Make the spec of a tool for files.

    What reads contents says itself whether they came from outside.
    """
    action = "files.read" if effect == "pure" else "files.write"
    return LazyToolSpec(
        arguments, name=name, description=description, effect=effect, action=action, outside=False
    )


class ListFilesTool:
    """Lists names, sizes and modification times."""

    arguments = ListFilesArguments
    spec = file_tool_spec(
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
        shown += await label_outside_names([entry.path for entry in entries[:MAX_LISTED]], context)
        return "\n".join(shown) or "[no files]"


class ReadFileTool:
    """Reads text by pages of lines, with the version that a later write must pass."""

    arguments = ReadFileArguments
    spec = file_tool_spec(
        arguments,
        "read_file",
        f"Read a text file of the workspace, {PAGE_LINES} lines by default. The result begins with "
        "its version, which write_file needs.",
        "pure",
    )

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    async def run(self, arguments: ReadFileArguments, context: ToolContext) -> ToolOutput:
        files = self._workspace.space(context.space)
        file = await run_in_tool_thread(lambda: read_text_file(files, arguments.path))
        # Loaded after the file: it is labelled before it is written.
        outside = has_outside_content(file.path, await context.load_labels([file.path]))
        return ToolOutput(
            text=format_page(file, arguments.offset, arguments.limit), outside=outside
        )


class WriteFileTool:
    """Writes a whole file. Idempotent: a second run finds its own content and leaves it."""

    arguments = WriteFileArguments
    spec = file_tool_spec(
        arguments,
        "write_file",
        "Write a whole text file. To replace a file, read it first and pass its version.",
        "idempotent",
    )

    def __init__(self, workspace: Workspace, changes: FileChanges) -> None:
        self._workspace = workspace
        self._changes = changes

    async def run(self, arguments: WriteFileArguments, context: ToolContext) -> str:
        files = self._workspace.space(context.space)
        path, content = arguments.path, arguments.content
        await check_writable(path, context)
        await context.reserve_storage(byte_count(content))
        change = await run_in_tool_thread(
            lambda: _plan_write(files, path, content, arguments.version)
        )
        if isinstance(change, TextFile):
            return format_written(change)
        await label_written(files, [path], context)
        return format_written((await self._changes.write(context, [change]))[0])


class EditFileTool:
    """Replaces one exact passage.

    Unsafe: a second run applies again if the new text contains the old.
    """

    arguments = EditFileArguments
    spec = file_tool_spec(
        arguments,
        "edit_file",
        (
            "Replace one passage of a text file. `old` is copied from the file and occurs there "
            "exactly once."
        ),
        "unsafe",
    )

    def __init__(self, workspace: Workspace, changes: FileChanges) -> None:
        self._workspace = workspace
        self._changes = changes

    async def run(self, arguments: EditFileArguments, context: ToolContext) -> str:
        files = self._workspace.space(context.space)
        path = arguments.path
        await check_writable(path, context)
        await context.reserve_storage(byte_count(arguments.new) - byte_count(arguments.old))
        change = await run_in_tool_thread(
            lambda: _plan_edit(files, path, arguments.old, arguments.new)
        )
        if change is None:
            return f"{path} already holds the new text; nothing was changed."
        await label_written(files, [path], context)
        return format_written((await self._changes.write(context, [change]))[0])


def byte_count(text: str) -> int:
    """Return the bytes of a text as a file has them."""
    return len(text.encode("utf-8", "replace"))


def file_version(file: TextFile) -> str:
    """Return the short version id of the content."""
    return file.sha256[:VERSION_CHARS]


def format_written(file: TextFile) -> str:
    """Format what the model reads about a file that was written."""
    return f"{file.path} now holds {file.size} bytes, version {file_version(file)}."


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
        shown.append(
            line
            if len(line) <= PAGE_CHARS
            else f"{line[:PAGE_CHARS]} [line cut: {len(line)} characters]\n"
        )
        remaining -= len(line)
    last = offset + len(shown) - 1
    more = f"; more: offset={last + 1}" if last < len(lines) else ""
    head = (
        f"[{file.path}, version {file_version(file)}, lines {offset}-{last} of {len(lines)}{more}]"
    )
    return f"{head}\n{''.join(shown)}"


async def label_outside_names(paths: Sequence[str], context: ToolContext) -> list[str]:
    """Return the label of outside words if one of these paths, or a folder above it, was named by
    such.
    """
    labels = await context.load_labels(paths)
    return [OUTSIDE_LABEL] if any(map(labels.has_outside_name, paths)) else []


def has_outside_content(path: str, labels: PathLabels) -> bool:
    """Tell whether what a file holds came from outside. Pure."""
    top = original_name(path.split("/", 1)[0])
    return top in _OUTSIDE_FOLDERS or SET_ASIDE in path or labels.has_outside_content(path)


class NotTakenOver(MnemaError):
    """A file cannot be called the person's own; the phrase says why."""

    def __init__(self, phrase: Phrase) -> None:
        super().__init__(str(phrase))
        self.phrase = phrase


def parse_own_path(path: str) -> str:
    """Return a path in the owner's space that a person typed, as its label is stored.

    Raises:
        NotTakenOver: it leads out of the space, or into that of another person or a group.
    """
    try:
        parts = split_path(path.removeprefix("./").strip("/"))
    except PathRefused as err:
        raise NotTakenOver(
            Phrase(
                "{path} is not a path inside the workspace; write it like files/notes.txt.",
                path=path,
            )
        ) from err
    if parts and original_name(parts[0]) == SPACES_FOLDER:
        raise NotTakenOver(
            Phrase(
                "{path} belongs to another person or a group; only files in your own workspace "
                "can be yours.",
                path=path,
            )
        )
    return "/".join(parts)


async def take_over(labels: FileLabels, folder: Path, path: str, actor: str) -> int:
    """Let a file of the owner's space, or all in a folder, count as theirs; return how many labels
    there were.

    Args:
        folder: of the space.
        actor: who says so, for the audit list.

    Raises:
        NotTakenOver: there is no such file, or it counts as from outside for another reason than
            its own label.
    """
    path = parse_own_path(path)
    if not path or not os.path.lexists(folder / path):
        if not path:
            raise NotTakenOver(Phrase("There is no such file in the workspace."))
        raise NotTakenOver(Phrase("There is no {path} in the workspace.", path=path))
    if original_name(path.split("/", 1)[0]) in _OUTSIDE_FOLDERS or SET_ASIDE in path:
        raise NotTakenOver(
            Phrase("Files in the folder of {path} always count as text from outside.", path=path)
        )
    found = await labels.load("", [path])
    if above := sorted((found.names | found.contents) - {path}):
        raise NotTakenOver(
            Phrase(
                "{path} is in {folder}, which counts as from outside as a whole. Mark that "
                "folder as yours instead.",
                path=path,
                folder=above[0],
            )
        )
    return await labels.take_over("", path, actor)


async def label_written(files: SpaceFiles, paths: Sequence[str], context: ToolContext) -> None:
    """Before files are written in a tainted turn: store that their contents, and the names of new
    ones, come from it.

    Raises:
        ToolFailed: a path is never written.
    """
    new_paths = await run_in_tool_thread(
        lambda: [one for path in paths for one in _missing_paths(files, path)]
    )
    if (await context.load_message()).tainted:
        await context.label_names(new_paths)
        await context.label_contents(paths)


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


def read_text_file(files: SpaceFiles, path: str) -> TextFile:
    """Read a file that is text and not too long for it.

    Raises:
        ToolFailed: it is neither.
    """
    file = files.read(path)
    if file.size > MAX_READ_BYTES:
        raise ToolFailed(
            f"{path} has {file.size} bytes; {MAX_READ_BYTES} is the most that is read as text."
        )
    if "\0" in file.text or file.text.count("\ufffd") > len(file.text) // 20:
        raise ToolFailed(f"{path} is not a text file ({file.size} bytes).")
    return file


def _plan_write(files: SpaceFiles, path: str, content: str, known: str) -> FileChange | TextFile:
    """Return the change, or the file if it holds the content already."""
    data = content.encode("utf-8", "replace")
    try:
        existing = files.read(path)
    except FileNotFoundError:
        if known:
            raise ToolFailed(
                f"{path} does not exist (any more). To make it, leave the version out."
            ) from None
        return FileChange(path=path, data=data, former=None)
    if existing.text == content:
        return existing
    if known != file_version(existing):
        why = f"{path} has changed since" if known else f"{path} exists"
        raise ToolFailed(f"{why}. Read it, then pass the version that you read.")
    return FileChange(path=path, data=data, former=former_content(files, existing))


def _plan_edit(files: SpaceFiles, path: str, old: str, new: str) -> FileChange | None:
    """Return the change; None if the file holds the new text already."""
    if not old:
        raise ToolFailed("`old` is empty; give the exact passage that is to be replaced.")
    file = read_text_file(files, path)
    if "\r\n" in file.text and "\r" not in old:
        old, new = old.replace("\n", "\r\n"), new.replace("\n", "\r\n")
    count = file.text.count(old)
    if count == 0 and new and new in file.text:
        return None
    if count != 1:
        hint = (
            "Make it longer, so that it is the only one."
            if count
            else "Read the file and copy the passage exactly."
        )
        raise ToolFailed(f"`old` occurs {count} times in {path}, not once. {hint}")
    data = file.text.replace(old, new).encode("utf-8", "replace")
    return FileChange(path=path, data=data, former=former_content(files, file))


async def check_writable(path: str, context: ToolContext) -> None:
    """Refuse memory files while outside content is in view: later prompts trust them."""
    top = original_name(path.strip().split("/", 1)[0])
    if top in _MEMORY_NAMES and (await context.load_message()).tainted:
        raise ToolFailed(
            f"{path} is memory, and words from outside are in view (a file, a tool's result): it "
            "is not written now. memory_write notes what this person has just written."
        )
