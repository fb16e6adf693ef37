"""The daily log: one Markdown file per day and space, a section per fold, and whatever people write between them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from memory.workspace.files import FileConflict, SpaceFiles

LOG_FOLDER = "memory"
MAX_TRIES = 20
MAX_DAYS_AWAY = 2  # days by which two zones may differ on the date of one moment
CHUNK_CHARS = 1 << 16  # characters of a long text whose lines are made at a time
_HEADING = re.compile(
    r"## (?P<time>\d\d:\d\d) · (?P<channel>[^·\n]*) · turns (?P<first>\d+)–(?P<last>\d+) "
    r"<!-- fold (?P<fold>[^\s>]+)(?: (?P<mark>[a-z]+))? -->"
)
_SPEAKER_LINE = re.compile(r"[-*+]\s+(?P<time>\d\d:\d\d) (?P<speaker>[^:：]{1,60})[:：]\s*(?P<text>.*)")
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,3}[.)])\s+(?P<text>.*)")
_FENCE = re.compile(r" {0,3}(?P<fence>`{3,}|~{3,})(?P<info>.*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSection:
    """What one fold writes."""

    fold: str
    channel: str
    first_turn: int
    last_turn: int
    #: In the zone whose day and clock the log goes by.
    at: datetime
    #: Markdown lines.
    body: str

    @property
    def path(self) -> str:
        """The day's file, relative to the space's folder."""
        return f"{LOG_FOLDER}/{self.at:%Y-%m-%d}.md"

    @property
    def heading(self) -> str:
        turns = f"turns {self.first_turn}–{self.last_turn}"
        return f"## {self.at:%H:%M} · {self.channel} · {turns} <!-- fold {self.fold} -->"


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRow:
    """One line of a file that says something."""

    #: From 1.
    number: int
    text: str
    #: "" where the line has none.
    time: str = ""
    #: "" where the line has none.
    speaker: str = ""
    #: Of the section it stands in, "" outside.
    fold: str = ""
    #: "", "stale" or "undone", of that section's heading.
    mark: str = ""
    heading: str = ""
    #: The line as it stands in the file.
    raw: str = ""


def append_section(files: SpaceFiles, section: LogSection) -> str:
    """Put a section at the end of its day's file, on the disk when this returns; a second time changes nothing.

    What else is in the file stays as it is, but for an open fence, which is closed before the section. A file that is
    not UTF-8 is left alone and the section goes into a file beside it.

    Returns:
        The path it is in, relative to the space's folder.

    Raises:
        OSError: it could not be written.
    """
    for path in _following_paths(section.path):
        for _ in range(MAX_TRIES):
            found = _read_log(files, path)
            if found is None:
                break
            text, sha256 = found
            del found  # a long day's text is in memory as seldom as can be
            if has_section(text, section.fold):
                return path
            text = _append_to_text(text, section)
            try:
                files.write(path, text, sha256)
            except FileConflict:
                continue
            return path
    raise OSError(f"{section.path} changes faster than it can be written")


def find_section(files: SpaceFiles, section: LogSection) -> str | None:
    """The path of the file that has the section, also where days went by another zone when it was written."""
    near = sorted(
        (section.at + timedelta(days=n) for n in range(-MAX_DAYS_AWAY, MAX_DAYS_AWAY + 1)),
        key=lambda at: at != section.at,
    )
    for path in (path for at in near for path in _following_paths(replace(section, at=at).path)):
        held = _read_log(files, path)
        if held is not None and has_section(held[0], section.fold):
            return path
    return None


def mark_section(files: SpaceFiles, path: str, fold: str, word: str) -> bool:
    """Say in a section's heading what became of its fold: "stale" or "undone". False when there is no such section."""
    plain = re.compile(rf"<!-- fold {re.escape(fold)}(?: [a-z]+)? -->")
    for _ in range(MAX_TRIES):
        try:
            found = _read_log(files, path)
        except FileNotFoundError:
            return False
        if found is None or not plain.search(found[0]):
            return False
        try:
            files.write(path, plain.sub(f"<!-- fold {fold} {word} -->", found[0]), found[1])
        except FileConflict:
            continue
        return True
    return False


def has_section(text: str, fold: str) -> bool:
    """Whether a file's text has that fold's section."""
    return fold in text and any(row is not None and row["fold"] == fold for row in map(_make_heading, iter_lines(text)))


def section_fold(line: str) -> str | None:
    """The fold whose section begins with this line, "" where a section of a person's own does, else None."""
    if found := _make_heading(line):
        return found["fold"]
    return "" if line.strip().startswith(("# ", "## ")) else None


def list_folds(text: str) -> tuple[str, ...]:
    """The ids of the folds whose sections a file's text has, each once."""
    found = (row["fold"] for row in map(_make_heading, iter_lines(text)) if row is not None)
    return tuple(dict.fromkeys(found))


def iter_lines(text: str) -> Iterator[str]:
    """What `text.splitlines()` gives, made as it is asked for: a day's log may have ten thousand lines."""
    at = 0
    while at < len(text):
        end = text.find("\n", at + CHUNK_CHARS) + 1 or len(text)  # whatever else may end a line, this always does
        yield from text[at:end].splitlines()
        at = end


def iter_rows(text: str) -> Iterator[LogRow]:
    """The lines of any Markdown that say something, fenced ones too; an open fence ends with the file or a section.

    A byte order mark, any line ends and characters that were not UTF-8 are taken as they come.
    """
    fold = word = title = ""
    for number, raw in enumerate(iter_lines(text.removeprefix("\ufeff")), 1):
        if heading := _make_heading(raw):
            fold, word, title = heading["fold"], heading["mark"] or "", ""
            continue
        line = raw.strip()
        if line.startswith("#"):
            title = line.lstrip("#").strip()
            if line.startswith(("# ", "## ")):
                fold = word = ""
            continue
        if any(map(str.isalnum, line)) and not _FENCE.fullmatch(raw):
            yield _make_row(line, LogRow(number=number, text="", fold=fold, mark=word, heading=title, raw=raw))


def _make_row(line: str, where: LogRow) -> LogRow:
    spoken, item = _SPEAKER_LINE.fullmatch(line), _ITEM.fullmatch(line)
    return replace(
        where,
        text=spoken["text"] if spoken else item["text"] if item else line,
        time=spoken["time"] if spoken else "",
        speaker=spoken["speaker"] if spoken else "",
    )


def _make_heading(line: str) -> re.Match[str] | None:
    return _HEADING.fullmatch(line.strip())


def _following_paths(path: str) -> Iterator[str]:
    yield path
    for number in range(2, 10):
        yield path.replace(".md", f"-{number}.md")


def _read_log(files: SpaceFiles, path: str) -> tuple[str, str | None] | None:
    """Text and hash; ("", None) for no file yet; None for one whose bytes would not survive being written as text."""
    try:
        file = files.read(path)
    except FileNotFoundError:
        return "", None
    if "\ufffd" in file.text:
        try:
            files.read_bytes(path).decode()
        except UnicodeDecodeError:
            return None
    return file.text, file.sha256


def _append_to_text(text: str, section: LogSection) -> str:
    new = f"{section.heading}\n\n{section.body.strip()}\n"
    if not text.strip("\ufeff \t\r\n"):
        return f"{text.rstrip()}# {section.at:%Y-%m-%d}\n\n{new}"
    end = "\r\n" if "\r\n" in text else "\n"
    fence = _open_fence(text)
    closed = f"{text.rstrip()}\n{fence}" if fence else text.rstrip()
    before = closed.replace("\r\n", "\n").replace("\n", end) if fence else closed
    return "".join((before, end * 2, new.replace("\n", end)))


def _open_fence(text: str) -> str:
    """The fence that a file leaves open, "" for none."""
    fence = ""
    for line in iter_lines(text):
        found = _FENCE.fullmatch(line)
        if found is None:
            continue
        if not fence:
            fence = found["fence"]
        elif found["fence"].startswith(fence) and not found["info"].strip():
            fence = ""
    return fence
