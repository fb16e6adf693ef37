"""The tool that changes several files by a unified diff: all of them or none."""

from bot.errors import ToolFailed
from bot.tools.base import ToolArguments, ToolContext
from bot.tools.workspace.changes import FileChange, FileChanges, former_content, run_in_tool_thread
from bot.tools.workspace.files import (
    MAX_READ_BYTES,
    check_writable,
    file_tool_spec,
    format_written,
    label_written,
)
from bot.tools.workspace.unified_diff import FilePatch, PatchError, apply_patch, parse_patch
from memory.workspace.files import SpaceFiles, TextFile, Workspace


class PatchFilesArguments(ToolArguments):
    """Arguments of `patch_files`."""

    patch: str

    def written_paths(self) -> tuple[str, ...]:
        try:
            return tuple(patch.path for patch in parse_patch(self.patch))
        except PatchError:
            return ()  # `run` writes nothing then


class PatchFilesTool:
    """Applies a patch. Unsafe: a second run finds other lines, or adds its own again."""

    arguments = PatchFilesArguments
    spec = file_tool_spec(
        arguments,
        "patch_files",
        "Apply a unified diff over text files, all or nothing; --- /dev/null makes a file.",
        "unsafe",
    )

    def __init__(self, workspace: Workspace, changes: FileChanges) -> None:
        self._workspace = workspace
        self._changes = changes

    async def run(self, arguments: PatchFilesArguments, context: ToolContext) -> str:
        files = self._workspace.space(context.space)
        try:
            patches = parse_patch(arguments.patch)
        except PatchError as err:
            raise ToolFailed(f"Nothing was written: {err}.") from err
        for patch in patches:
            await check_writable(patch.path, context)
        changes = await run_in_tool_thread(lambda: _plan(files, patches))
        if not changes:
            return "The files have these contents already; nothing was changed."
        await context.reserve_storage(
            sum(len(one.data) - len(one.former or b"") for one in changes)
        )
        await label_written(files, [one.path for one in changes], context)
        written = await self._changes.write(context, changes)
        return "\n".join(format_written(file) for file in written)


def _plan(files: SpaceFiles, patches: tuple[FilePatch, ...]) -> list[FileChange]:
    """Return the changes of all files, without those that change nothing.

    Raises:
        ToolFailed: some patch does not fit; names every such file and hunk.
    """
    changes, conflicts = [], []
    for patch in patches:
        try:
            changes.append(_plan_file(files, patch))
        except PatchError as err:
            conflicts.append(str(err))
    if conflicts:
        raise ToolFailed(
            "\n".join(("Nothing was written:", *(f"- {conflict}." for conflict in conflicts)))
        )
    return [change for change in changes if change.data != change.former]


def _plan_file(files: SpaceFiles, patch: FilePatch) -> FileChange:
    file = _read(files, patch.path)
    if patch.is_new:
        if file is not None:
            raise PatchError(f"{patch.path} exists; give its lines instead of /dev/null")
        return FileChange(
            path=patch.path, data=apply_patch("", patch).encode("utf-8", "replace"), former=None
        )
    if file is None:
        raise PatchError(
            f"{patch.path}: there is no such file; /dev/null as its former name makes it"
        )
    data = apply_patch(file.text, patch).encode("utf-8", "replace")
    return FileChange(path=patch.path, data=data, former=former_content(files, file))


def _read(files: SpaceFiles, path: str) -> TextFile | None:
    try:
        file = files.read(path, exact=True)
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as err:
        raise PatchError(f"{path} is not UTF-8 text") from err
    if "\0" in file.text or file.size > MAX_READ_BYTES:
        raise PatchError(f"{path} is no text file of at most {MAX_READ_BYTES} bytes")
    return file
