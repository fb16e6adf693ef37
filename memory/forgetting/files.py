"""Finds and removes mentions in the memory files of a space and in the terminal history. Blocks."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from memory.redaction import mentioning_sentences, redact_memory, redact_text
from memory.store.longterm.rows import ChangedFile, ForgetTargets, Mention
from memory.text.bullets import parse_bullets
from memory.text.mentions import MentionMatcher, find_spans, is_mentioned
from memory.workspace import daily_log
from memory.workspace.atomic_write import FileConflict, write_atomic
from memory.workspace.files import MEMORY_FILE, SPACES_FOLDER, SpaceFiles, TextFile
from memory.workspace.safe_path import FileTooBig, PathRefused

MAX_TRIES = 20
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_MISSING_FILE_ERRORS = (FileNotFoundError, NotADirectoryError, PathRefused, FileTooBig)


@dataclass(frozen=True, slots=True)
class SpaceMemoryFiles:
    """The memory files of one space."""

    space: str
    files: SpaceFiles

    @property
    def prefix(self) -> str:
        """The folder of the space, relative to the workspace."""
        return f"{SPACES_FOLDER}/{self.space}/" if self.space else ""

    def find(self, query: str) -> Iterator[Mention]:
        """Find the bullets of MEMORY.md and lines of daily logs that mention the query."""
        for bullet in parse_bullets(self._text(MEMORY_FILE)):
            if is_mentioned(bullet.text, query):
                path = self.prefix + MEMORY_FILE
                yield Mention(
                    kind="memory",
                    space=self.space,
                    words=(bullet.text,),
                    path=path,
                    line=bullet.first,
                )
        for path in self._list_paths():
            day = _DAY.search(path)
            if day is None or path.count("/") > 1:
                continue  # dream logs only repeat MEMORY.md
            for row in daily_log.iter_rows(self._text(path)):
                if words := mentioning_sentences(row.text, query):
                    yield Mention(
                        kind="log",
                        space=self.space,
                        words=words,
                        path=self.prefix + path,
                        line=row.number,
                        date=day.group(),
                    )

    def find_changes(self, targets: ForgetTargets) -> list[ChangedFile]:
        """Find the lines that `forget` would change."""
        texts = (
            (path, self._text(path), targets.matcher(self.prefix + path))
            for path in self._list_paths()
        )
        return [
            self._changed_file(path, text, matcher)
            for path, text, matcher in texts
            if _remove_mentions(path, text, matcher) != text
        ]

    def forget(self, targets: ForgetTargets) -> list[ChangedFile]:
        """Remove the mentions from every memory file as it is now.

        Raises:
            OSError: a file could not be written, or kept changing.
        """
        done = [self._forget(path, targets) for path in self._list_paths()]
        return [file for file in done if file is not None]

    def find_left(self, targets: ForgetTargets) -> list[str]:
        """Find the files that still mention it literally: the person's own, and memory files that
        are not writable.

        If the person chose only some items, memory files are excluded: they still have the others.
        """
        excluded = set(self._list_paths()) if targets.chosen is not None else set()
        paths = [
            entry.path
            for entry in self.files.list()
            if not entry.is_dir and entry.path not in excluded
        ]
        return [
            self.prefix + path for path in paths if find_spans(self._readable(path), targets.query)
        ]

    def _forget(self, path: str, targets: ForgetTargets) -> ChangedFile | None:
        matcher = targets.matcher(self.prefix + path)
        for _ in range(MAX_TRIES):
            file = self._read_writable(path)
            text = _remove_mentions(path, file.text, matcher) if file else ""
            if file is None or text == file.text:
                return None
            try:
                self.files.write(path, text, file.sha256)
            except FileConflict:
                continue
            except (PathRefused, FileTooBig):
                return None
            return self._changed_file(path, file.text, matcher)
        raise OSError(f"{path} changes faster than it can be written")

    def _changed_file(self, path: str, text: str, matcher: MentionMatcher) -> ChangedFile:
        return ChangedFile(
            path=self.prefix + path, lines=tuple(_changed_lines(path, text, matcher))
        )

    def _list_paths(self) -> list[str]:
        """Paths of MEMORY.md, the daily logs and the dream logs."""
        try:
            logs = self.files.list(daily_log.LOG_FOLDER)
        except (FileNotFoundError, NotADirectoryError, PathRefused):
            logs = []
        return [MEMORY_FILE, *(entry.path for entry in logs if entry.path.endswith(".md"))]

    def _read_writable(self, path: str) -> TextFile | None:
        """Read a file that can be rewritten as text; None when it is missing or not UTF-8.

        Raises:
            OSError: it could not be read, which must not count as nothing to forget.
        """
        try:
            return self.files.read(path, exact=True)
        except (*_MISSING_FILE_ERRORS, UnicodeDecodeError):
            return None

    def _text(self, path: str) -> str:
        try:
            return self.files.read(path).text
        except _MISSING_FILE_ERRORS:
            return ""

    def _readable(self, path: str) -> str:
        """Read a person's own file, which is never changed; "" when it is unreadable."""
        try:
            return self.files.read(path, hard_links=True).text
        except (OSError, PathRefused, FileTooBig):
            return ""


def mentions_target(path: str, text: str, matcher: MentionMatcher) -> bool:
    """Whether a file at this path of a space, with this text, mentions it."""
    return _remove_mentions(path, text, matcher) != text


def _remove_mentions(path: str, text: str, matcher: MentionMatcher) -> str:
    return redact_memory(text, matcher) if path == MEMORY_FILE else redact_text(text, matcher)


def _changed_lines(path: str, text: str, matcher: MentionMatcher) -> list[int]:
    """Numbers of the lines that change; a bullet of MEMORY.md counts as its first line."""
    gone = (
        [bullet for bullet in parse_bullets(text) if matcher.within(bullet.text)]
        if path == MEMORY_FILE
        else []
    )
    inside = {line for bullet in gone for line in range(bullet.first, bullet.last + 1)}
    pairs = zip(text.splitlines(), redact_text(text, matcher).splitlines(), strict=True)
    changed = {number for number, (before, after) in enumerate(pairs, 1) if before != after}
    return sorted((changed - inside) | {bullet.first for bullet in gone})


HISTORY_FILE = "terminal_history"
_HISTORY_PREFIX = "+"  # prefix of a typed line; each entry starts with its time as a comment


@dataclass(frozen=True, slots=True)
class TerminalHistory:
    """The input history of `mnema chat` in the folder `data`; most homes have none."""

    data: Path

    @property
    def name(self) -> str:
        """Path relative to the home."""
        return f"{self.data.name}/{HISTORY_FILE}"

    def find(self, _: str) -> Iterator[Mention]:
        """Find nothing: typed lines are also messages, and found there."""
        return iter(())

    def find_changes(self, targets: ForgetTargets) -> list[ChangedFile]:
        """Find the lines that `forget` would remove."""
        lines = _lines_to_remove(self._text(), targets)
        return (
            [ChangedFile(path=self.name, lines=tuple(number + 1 for number in lines))]
            if lines
            else []
        )

    def forget(self, targets: ForgetTargets) -> list[ChangedFile]:
        """Remove them; every other byte stays, and so does a file that is not writable.

        Raises:
            OSError: it could not be written.
        """
        text, done = self._text(), self.find_changes(targets)
        gone = {number - 1 for file in done for number in file.lines}
        if not gone:
            return []
        left = "\n".join(line for number, line in enumerate(text.split("\n")) if number not in gone)
        try:
            write_atomic(self.data / HISTORY_FILE, left.encode("utf-8", "surrogateescape"))
        except PathRefused:
            return []
        return done

    def find_left(self, targets: ForgetTargets) -> list[str]:
        """Return the file's name if it still mentions it literally and the person did not choose
        what stays.
        """
        return (
            [self.name]
            if targets.chosen is None and find_spans(self._text(), targets.query)
            else []
        )

    def _text(self) -> str:
        try:
            return (self.data / HISTORY_FILE).read_bytes().decode("utf-8", "surrogateescape")
        except FileNotFoundError:
            return ""


def _lines_to_remove(text: str, targets: ForgetTargets) -> list[int]:
    """Indexes of the typed lines that mention it; whole entries are searched, as a sentence may
    span lines.
    """
    matcher = targets.matcher()
    numbers: list[int] = []
    for entry in _history_entries(text):
        before = [line for _, line in entry]
        after = redact_text("\n".join(before), matcher).split("\n")
        if len(after) != len(before):  # a mark replaced a line break
            numbers += [number for number, _ in entry]
        else:
            numbers += [
                number for (number, old), new in zip(entry, after, strict=True) if old != new
            ]
    return numbers


def _history_entries(text: str) -> Iterator[list[tuple[int, str]]]:
    """The entries of the history: their lines without prefix, each with its index in the file."""
    entry: list[tuple[int, str]] = []
    for number, line in enumerate(text.split("\n")):
        if line.startswith(_HISTORY_PREFIX):
            entry.append((number, line.removeprefix(_HISTORY_PREFIX)))
        elif entry:
            yield entry
            entry = []
    if entry:
        yield entry
