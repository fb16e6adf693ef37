"""Parses unified diffs as models write them, and applies them to texts. Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

MAX_FILES = 50
MAX_PATCH_CHARS = 400_000
_HUNK = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_NO_FILE = "/dev/null"
_BYTE_ORDER_MARK = "\ufeff"


class PatchError(ValueError):
    """The text is no patch that can be applied; says which file and hunk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hunk:
    """One changed passage."""

    #: From 1, within its file.
    number: int
    #: Line at which it begins in the former text, from 1; 0 in an empty one.
    first: int
    #: Pairs of sign (" ", "-", "+") and line with its line end.
    lines: tuple[tuple[str, str], ...]

    @property
    def old(self) -> tuple[str, ...]:
        """The lines that the former text has here."""
        return tuple(line for sign, line in self.lines if sign != "+")


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePatch:
    """The changes of one file."""

    path: str
    #: Whether the file is to be made.
    is_new: bool
    hunks: tuple[Hunk, ...]


@dataclass(slots=True)
class _Lines:
    """The lines of a patch, and how far they are read."""

    lines: Sequence[str]
    at: int = 0
    path: str = ""
    hunks: list[Hunk] = field(default_factory=list)

    def peek(self, ahead: int = 0) -> str:
        return self.lines[self.at + ahead] if self.at + ahead < len(self.lines) else ""

    @property
    def is_done(self) -> bool:
        return self.at >= len(self.lines)


def parse_patch(text: str) -> tuple[FilePatch, ...]:
    """Parse a unified diff over one or several files.

    The counts of a hunk's heading decide where it ends. Models often miscount: if they do not fit,
    it ends at the next heading.

    Raises:
        PatchError: it is none, names a file twice, or deletes or renames one.
    """
    if len(text) > MAX_PATCH_CHARS:
        raise PatchError(f"the patch has {len(text)} characters; the limit is {MAX_PATCH_CHARS}")
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    patches = tuple(_iter_files(_Lines(lines)))
    if not patches:
        raise PatchError("there is no `--- a/PATH` with `+++ b/PATH` below it")
    if len(patches) > MAX_FILES:
        raise PatchError(f"the patch names {len(patches)} files; the limit is {MAX_FILES}")
    paths = [patch.path for patch in patches]
    if twice := next((path for path in paths if paths.count(path) > 1), ""):
        raise PatchError(f"{twice} is named twice; put its hunks together")
    return patches


def apply_patch(text: str, patch: FilePatch) -> str:
    """Apply a file's hunks, in order, to its text.

    Line ends, and a missing one at the end, stay as they are.

    A hunk is applied where its heading says, or else at the only place behind the hunk before it
    that has its lines.

    Raises:
        PatchError: a hunk's lines are not there, or at several places.
    """
    mark = _BYTE_ORDER_MARK if text.startswith(_BYTE_ORDER_MARK) else ""
    end = "\r\n" if "\r\n" in text else "\n"
    before = split_lines(text.removeprefix(mark))
    after: list[str] = []
    done = shift = 0
    for hunk in patch.hunks:
        lines = tuple((sign, _with_end(line, end)) for sign, line in hunk.lines)
        old = [line for sign, line in lines if sign != "+"]
        place = _find(before, old, hunk, done, shift, patch.path)
        shift = place - _stated_place(hunk)
        after += before[done:place]
        done = place
        for sign, line in lines:
            if sign == "+":
                _append(after, line, end)
            else:
                after += before[done : done + 1] if sign == " " else []
                done += 1
    after += before[done:]
    return mark + "".join(after)


def split_lines(text: str) -> list[str]:
    """Split after each line feed and nowhere else; the lines keep it."""
    lines = [f"{line}\n" for line in text.split("\n")]
    last = lines.pop().removesuffix("\n")
    return [*lines, last] if last else lines


def _iter_files(read: _Lines) -> Iterator[FilePatch]:
    while not read.is_done:
        if not _is_file_heading(read):
            if _HUNK.match(read.peek()):
                raise PatchError("a hunk stands before any `--- a/PATH` and `+++ b/PATH`")
            read.at += 1
            continue
        old, new = _name(read.peek()), _name(read.peek(1))
        read.at += 2
        path = _target(old, new)
        hunks: list[Hunk] = []
        while heading := _HUNK.match(read.peek()):
            hunks.append(_read_hunk(read, heading, path, len(hunks) + 1))
        if not hunks:
            raise PatchError(f"{path} has no hunk that begins with `@@ -line,count +line,count @@`")
        is_new = old == _NO_FILE
        if is_new and (len(hunks) > 1 or hunks[0].old):
            raise PatchError(f"{path} is to be made, but its patch has lines of a former text")
        yield FilePatch(path=path, is_new=is_new, hunks=tuple(hunks))


def _is_file_heading(read: _Lines) -> bool:
    return read.peek().startswith("--- ") and read.peek(1).startswith("+++ ")


def _name(line: str) -> str:
    return line[4:].split("\t", 1)[0].strip()


def _target(old: str, new: str) -> str:
    """The path that a file's heading names."""
    if new == _NO_FILE:
        raise PatchError(f"{old.removeprefix('a/')} would be deleted; no tool deletes files")
    if new.startswith("b/") and (old == _NO_FILE or old.startswith("a/")):
        old, new = old.removeprefix("a/"), new.removeprefix("b/")
    if old not in (new, _NO_FILE):
        raise PatchError(f"{old} would become {new}; a patch renames no file")
    if not new:
        raise PatchError("a file's heading has no path")
    return new


def _read_hunk(read: _Lines, heading: re.Match[str], path: str, number: int) -> Hunk:
    read.at += 1
    old, new = (int(count) if count is not None else 1 for count in (heading[2], heading[4]))
    begin = read.at
    lines = _read_counted(read, old, new)
    if lines is None:
        read.at = begin
        lines = _read_to_heading(read, path, number)
    if not lines:
        raise PatchError(f"{path}, hunk {number}: it has no lines")
    return Hunk(number=number, first=int(heading[1]), lines=tuple(lines))


def _read_counted(read: _Lines, old: int, new: int) -> list[tuple[str, str]] | None:
    """The lines of a hunk by its counts; None if these do not fit."""
    lines: list[tuple[str, str]] = []
    while (old > 0 or new > 0) and not read.is_done:
        sign, line = _split_line(read.peek())
        if sign == "\\":
            _drop_line_end(lines)
        elif sign in " +-":
            lines.append((sign, f"{line}\n"))
            old -= sign != "+"
            new -= sign != "-"
        else:
            return None
        read.at += 1
    if read.peek().startswith("\\"):
        _drop_line_end(lines)
        read.at += 1
    follows = (
        read.is_done
        or _HUNK.match(read.peek())
        or _is_file_heading(read)
        or read.peek()[:1] not in ("+", "-", " ")
    )
    return lines if old == new == 0 and follows else None


def _read_to_heading(read: _Lines, path: str, number: int) -> list[tuple[str, str]]:
    """The lines of a hunk whose counts are wrong."""
    lines: list[tuple[str, str]] = []
    while not read.is_done and not _HUNK.match(read.peek()) and not _is_file_heading(read):
        sign, line = _split_line(read.peek())
        if read.peek().startswith(("diff --git ", "index ")):
            break
        if sign == "\\":
            _drop_line_end(lines)
        elif sign in " +-":
            lines.append((sign, f"{line}\n"))
        else:
            raise PatchError(
                f"{path}, hunk {number}: a line begins with none of ` `, `+`, `-`: "
                f"{read.peek()[:60]!r}"
            )
        read.at += 1
    while lines and lines[-1] == (" ", "\n"):  # blank lines between two files
        lines.pop()
    return lines


def _split_line(line: str) -> tuple[str, str]:
    """Sign and rest; an empty line is an empty line of the text whose blank was lost."""
    return (line[0], line[1:]) if line else (" ", "")


def _drop_line_end(lines: list[tuple[str, str]]) -> None:
    if lines:
        sign, line = lines[-1]
        lines[-1] = sign, line.removesuffix("\n")


def _with_end(line: str, end: str) -> str:
    if end == "\n" or not line.endswith("\n") or line.endswith("\r\n"):
        return line
    return f"{line[:-1]}{end}"


def _append(after: list[str], line: str, end: str) -> None:
    """Add a line; the one before it gets a line end if it was the text's last one."""
    if after and not after[-1].endswith("\n"):
        after[-1] += end
    after.append(line)


def _stated_place(hunk: Hunk) -> int:
    """Index of the line at which a hunk's heading puts it; one without former lines stands behind
    the line it names.
    """
    return max(hunk.first - 1, 0) if hunk.old else hunk.first


def _find(
    before: Sequence[str], old: Sequence[str], hunk: Hunk, done: int, shift: int, path: str
) -> int:
    where = f"{path}, hunk {hunk.number}"
    stated = _stated_place(hunk)
    if not old:
        if done <= stated + shift <= len(before):
            return stated + shift
        raise PatchError(
            f"{where}: there is no line {hunk.first}, and it has no lines around it to find its "
            "place by"
        )
    for place in (stated + shift, stated):
        if place >= done and _is_at(before, old, place):
            return place
    found = [
        place for place in range(done, len(before) - len(old) + 1) if _is_at(before, old, place)
    ]
    if len(found) == 1:
        return found[0]
    if not found:
        raise PatchError(
            f"{where}: the file does not have its lines; read it again and copy them exactly"
        )
    raise PatchError(
        f"{where}: its lines occur {len(found)} times; give more lines around the change"
    )


def _is_at(before: Sequence[str], old: Sequence[str], place: int) -> bool:
    if place + len(old) > len(before) or before[place] not in (old[0], old[0].rstrip("\r\n")):
        return False
    *most, last = before[place : place + len(old)]
    if most != list(old[:-1]):
        return False
    # the last line of a text often has no line end, which models do not write down
    return last == old[-1] or (
        place + len(old) == len(before) and last.rstrip("\r\n") == old[-1].rstrip("\r\n")
    )
