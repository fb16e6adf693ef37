"""The tools that find files of a space by name, and lines in them by a pattern."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from bot.errors import ToolFailed
from bot.tools.base import ToolArguments, ToolContext, ToolOutput
from bot.tools.workspace.changes import run_in_tool_thread
from bot.tools.workspace.files import (
    MAX_LISTED,
    MAX_READ_BYTES,
    file_tool_spec,
    has_outside_content,
    label_outside_names,
)
from memory.workspace.files import FileEntry, SpaceFiles, Workspace
from memory.workspace.safe_path import FileTooBig, PathRefused

# Of the whole search. `regex` counts the process's CPU time, so a hostile pattern on a busy machine
# takes longer.
SEARCH_SECONDS = 2.0
MAX_LINES = 200
LINE_CHARS = 400
BEFORE_MATCH_CHARS = 100  # of a longer line
MAX_PATTERN_CHARS = 500
MAX_GLOB_PARTS = 20
MAX_GLOB_CHARS = 300
MAX_AROUND = 10  # lines on each side of a match
_UNREADABLE = (OSError, PathRefused, FileTooBig)  # gone or changed since it was listed


class FindFilesArguments(ToolArguments):
    """Arguments of `find_files`."""

    glob: str


class SearchFilesArguments(ToolArguments):
    """Arguments of `search_files`."""

    pattern: str
    glob: str = ""
    context: int = 0


class FindFilesTool:
    """Finds files by their path."""

    arguments = FindFilesArguments
    spec = file_tool_spec(
        arguments,
        "find_files",
        "Find files by path, such as notes/**/*.md; a glob without / matches names in any folder.",
        "pure",
    )

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    async def run(self, arguments: FindFilesArguments, context: ToolContext) -> str:
        files = self._workspace.space(context.space)
        entries = await run_in_tool_thread(files.list)
        found = [entry.path for entry in _matching_files(entries, arguments.glob)]
        shown = found[:MAX_LISTED]
        label = await label_outside_names(shown, context)
        more = [f"[{len(found) - MAX_LISTED} more]"] if len(found) > MAX_LISTED else []
        return "\n".join((*shown, *more, *label)) or "[no such file]"


class SearchFilesTool:
    """Searches the lines of text files."""

    arguments = SearchFilesArguments
    spec = file_tool_spec(
        arguments,
        "search_files",
        "Search lines of text files by a regular expression. `context`: lines around each match.",
        "pure",
    )

    def __init__(self, workspace: Workspace, clock: Callable[[], float] = time.monotonic) -> None:
        self._workspace = workspace
        self._clock = clock

    async def run(self, arguments: SearchFilesArguments, context: ToolContext) -> ToolOutput:
        files = self._workspace.space(context.space)
        until = self._clock() + SEARCH_SECONDS
        if not arguments.pattern or len(arguments.pattern) > MAX_PATTERN_CHARS:
            raise ToolFailed(f"`pattern` has 1 to {MAX_PATTERN_CHARS} characters.")
        search = await run_in_tool_thread(lambda: self._search(files, arguments, until))
        text = "\n".join((*search.lines[:MAX_LINES], *search.notes())) or "[nothing found]"
        labels = await context.load_labels(search.paths)
        outside = any(has_outside_content(path, labels) for path in search.paths)
        return ToolOutput(text=text, outside=outside)

    def _search(
        self, files: SpaceFiles, arguments: SearchFilesArguments, until: float
    ) -> "_Search":
        search = _Search(
            pattern=_compile(arguments.pattern),
            around=min(max(arguments.context, 0), MAX_AROUND),
            until=until,
            clock=self._clock,
        )
        for entry in _matching_files(files.list(), arguments.glob):
            if search.is_over():
                break
            text = _searched_text(files, entry)
            if text is None:
                search.skipped += 1
            elif arguments.pattern in text or not _is_plain(arguments.pattern):
                search.add(entry.path, text)
        return search


@dataclass(slots=True, kw_only=True)
class _Search:
    """A running search over several files."""

    pattern: Any
    #: Lines shown before and after each match.
    around: int
    until: float
    clock: Callable[[], float]
    lines: list[str] = field(default_factory=list)
    #: Files with a match.
    paths: list[str] = field(default_factory=list)
    skipped: int = 0
    is_late: bool = False

    def is_over(self) -> bool:
        self.is_late = self.is_late or self.clock() >= self.until
        return self.is_late or len(self.lines) > MAX_LINES

    def add(self, path: str, text: str) -> None:
        """Add the matches of a file."""
        lines = text.removeprefix("\ufeff").splitlines()
        shown = -1
        for number, start in self._matches(lines):
            first = max(number - self.around, shown + 1)
            if shown < 0:
                self.paths.append(path)
            if self.around and self.lines and first > shown + 1:
                self.lines.append("--")
            self.lines += [_format_line(path, at, lines[at], "-", 0) for at in range(first, number)]
            if number <= shown:  # it stands there as a line around the match before it
                self.lines[number - shown - 1] = _format_line(
                    path, number, lines[number], ":", start
                )
            else:
                self.lines.append(_format_line(path, number, lines[number], ":", start))
            last = min(number + self.around, len(lines) - 1)
            self.lines += [
                _format_line(path, at, lines[at], "-", 0)
                for at in range(max(number, shown) + 1, last + 1)
            ]
            shown = max(last, shown)
            if self.is_over():
                return

    def notes(self) -> Iterator[str]:
        """What the model has to know about what it does not see."""
        if len(self.lines) > MAX_LINES:
            yield f"[only the first {MAX_LINES} lines; narrow the pattern or the glob]"
        if self.is_late:
            yield (
                f"[stopped after {SEARCH_SECONDS:.0f} s, not all was searched; narrow the pattern "
                "or the glob]"
            )
        if self.skipped:
            yield f"[{self.skipped} files not searched: no text, or over {MAX_READ_BYTES} bytes]"

    def _matches(self, lines: Sequence[str]) -> Iterator[tuple[int, int]]:
        """Indexes of the lines that match, each with the place of its first match."""
        for number, line in enumerate(lines):
            left = self.until - self.clock()
            try:
                found = self.pattern.search(line, timeout=left) if left > 0 else None
            except TimeoutError:
                left = 0
            if left <= 0:
                self.is_late = True
                return
            if found:
                yield number, found.start()


def matches_glob(path: str, glob: str) -> bool:
    """Whether a path matches: `*`, `?` and `[…]` within a name, `**` for any folders.

    Pure, in polynomial time.
    """
    parts = [part for part in glob.strip("/").split("/") if part]
    if len(parts) == 1:
        parts = ["**", *parts]
    reached = {0}  # numbers of parts that the names so far may have used up
    for name in path.split("/"):
        reached = _skip_any(reached, parts)
        reached = {
            at if parts[at] == "**" else at + 1
            for at in reached
            if at < len(parts) and (parts[at] == "**" or fnmatchcase(name, parts[at]))
        }
    return len(parts) in _skip_any(reached, parts)


def _skip_any(reached: set[int], parts: Sequence[str]) -> set[int]:
    """Add that `**` may stand for no folder."""
    found = set(reached)
    for at in range(len(parts)):
        if at in found and parts[at] == "**":
            found.add(at + 1)
    return found


def _matching_files(entries: Sequence[FileEntry], glob: str) -> Iterator[FileEntry]:
    if glob.count("/") >= MAX_GLOB_PARTS or len(glob) > MAX_GLOB_CHARS:
        raise ToolFailed(
            f"The glob has more than {MAX_GLOB_PARTS} names or {MAX_GLOB_CHARS} characters."
        )
    return (
        entry
        for entry in entries
        if not entry.is_dir and (not glob or matches_glob(entry.path, glob))
    )


def _compile(pattern: str) -> Any:
    import regex  # type: ignore[import-untyped]  # 1.5 MB, and only a search needs it

    try:
        return regex.compile(pattern)
    except (regex.error, OverflowError, RecursionError) as err:
        raise ToolFailed(f"`pattern` is no regular expression: {err}.") from err


def _is_plain(pattern: str) -> bool:
    """Whether a pattern stands for itself, so that a text without it needs no search."""
    return all(sign.isalnum() or sign in " _" for sign in pattern)


def _searched_text(files: SpaceFiles, entry: FileEntry) -> str | None:
    """The text of a file; None if it is too long, no text, or not to be read."""
    if entry.size > MAX_READ_BYTES:
        return None
    try:
        file = files.read(entry.path)
    except _UNREADABLE:
        return None
    is_text = "\0" not in file.text and file.text.count("\ufffd") <= len(file.text) // 20
    return file.text if is_text and file.size <= MAX_READ_BYTES else None


def _format_line(path: str, index: int, line: str, mark: str, start: int) -> str:
    """Format a line as grep does; of a long one the part around the match."""
    begin = max(0, start - BEFORE_MATCH_CHARS) if len(line) > LINE_CHARS else 0
    part = line[begin : begin + LINE_CHARS]
    before, after = "…" if begin else "", "…" if begin + LINE_CHARS < len(line) else ""
    return f"{path}{mark}{index + 1}{mark} {before}{part}{after}"
