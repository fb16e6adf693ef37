"""The daily log: one Markdown file per day and space, with a section per fold and people's own
notes.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from itertools import chain, dropwhile, groupby

from memory.text.bullets import find_lines, heading_day, is_fence, open_fence
from memory.workspace.append import FilePosition, KnownEnd
from memory.workspace.atomic_write import FileConflict
from memory.workspace.files import SpaceFiles, TextFile
from memory.workspace.safe_path import PathRefused

LOG_FOLDER = "memory"
MAX_TRIES = 20
MAX_DAYS_AWAY = 2  # two time zones may date the same moment this many days apart
CHUNK_CHARS = 1 << 16  # characters that are split into lines at a time
MAX_KNOWN_BYTES = 32_768  # of a day's file that a fold's added lines are compared with
MAX_NAME = 40  # characters of a conversation's name in a heading
_HEADING_MARKS = frozenset("·<>")
_FENCES = ("```", "~~~")
_DASHES = re.compile(r"-{2,}")
_FOLD_COMMENT = "<!-- fold "
_HEADING = re.compile(
    r"## (?P<time>\d\d:\d\d(?:–\d\d:\d\d)?) · (?P<channel>[^·\n]*) · "
    r"turns (?P<first>\d+)–(?P<last>\d+) <!-- fold (?P<fold>[^\s>]+)(?: (?P<mark>[a-z]+))? -->"
)
_FOLD_ID = re.compile(r"<!-- fold ([^\s>]+)")
_SPEAKER_LINE = re.compile(
    r"[-*+]\s+(?P<time>\d\d:\d\d) (?P<speaker>[^:：]{1,60})[:：]\s*(?P<text>.*)"
)
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,3}[.)])\s+(?P<text>.*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSection:
    """The section of one fold."""

    fold: str
    #: See `format_channel`.
    channel: str
    first_turn: int
    last_turn: int
    #: When the turns are folded, in the time zone of the log.
    at: datetime
    #: Markdown lines.
    body: str
    #: Day of the file; None for that of `at`, as in logs that version 0.1 wrote.
    day: date | None = None
    #: Times of the first and the last message of the turns, in the time zone of the log; None for
    #: `at`, as in logs that version 0.1 wrote.
    began: datetime | None = None
    ended: datetime | None = None

    @property
    def path(self) -> str:
        """The day's file, relative to the space's folder."""
        return f"{LOG_FOLDER}/{self.day or self.at.date():%Y-%m-%d}.md"

    @property
    def heading(self) -> str:
        began, ended = f"{self.began or self.at:%H:%M}", f"{self.ended or self.at:%H:%M}"
        times = began if began == ended else f"{began}–{ended}"
        turns = f"turns {self.first_turn}–{self.last_turn}"
        return f"## {times} · {self.channel} · {turns} <!-- fold {self.fold} -->"


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRow:
    """One line of a file that has content."""

    #: From 1.
    number: int
    text: str
    #: HH:MM, "" where the line has none.
    time: str = ""
    #: "" where the line has none.
    speaker: str = ""
    #: Id of the fold whose section it is in, "" outside.
    fold: str = ""
    #: The section's mark: "", "stale" or "undone".
    mark: str = ""
    heading: str = ""
    #: YYYY-MM-DD if a heading in the section of a fold names it, "" for the day of the file.
    day: str = ""
    #: The unchanged line.
    raw: str = ""


def format_channel(channel: str, name: str, tag: str, *, is_unique: bool = True) -> str:
    """Format the channel of a heading with the conversation's name, such as `web c1` or
    `telegram Li Wei`.

    The name becomes one line of at most MAX_NAME characters without those that a heading is parsed
    by.

    Args:
        tag: of the conversation; it is added if the name is not unique, or not shown as it is.
    """
    folded = unicodedata.normalize("NFKC", name)
    plain = "".join(
        " " if sign in _HEADING_MARKS or not sign.isprintable() else sign for sign in folded
    )
    plain = _DASHES.sub("-", " ".join(plain.split()))
    if plain == name and len(plain) <= MAX_NAME and is_unique:
        return f"{channel} {plain}".strip()
    ending = f"~{tag}" if tag else ""
    return f"{channel} {plain[: MAX_NAME - len(ending) - 1].strip()} {ending}".strip()


def append_section(files: SpaceFiles, section: LogSection) -> str:
    """Append a section to its day's file unless it is there; an open fence is closed first.

    See `append_once`.

    This costs the same however long the file is, if this process was the last to write it.
    """
    with files.growing(section.path):
        if _append_to_known_end(files, section):
            return section.path
        return append_once(
            files,
            section.path,
            has_entry=lambda text: has_section(text, section.fold),
            append=lambda text: _append_to_text(text, section),
            written=lambda before, after, kept: _note_end(files, section, before, after, kept),
        )


def append_once(
    files: SpaceFiles,
    path: str,
    *,
    has_entry: Callable[[str], bool],
    append: Callable[[str], str],
    written: Callable[[TextFile, TextFile, int], None] = lambda before, after, kept: None,
) -> str:
    """Append an entry to a day's file unless it has that entry; fsynced when this returns. Blocks.

    A file that is not UTF-8 stays as it is, and the entry goes into the next one beside it.

    Args:
        append: from the file's text, "" for a new file, to its text with the entry.
        written: called with the file as it was, but without its text, with the file as it was
            written, and with the characters at its beginning that are those of the former file, 0
            if it differs.

    Returns:
        The path that has the entry, relative to the space's folder.

    Raises:
        OSError: the entry could not be written.
    """
    with suppress(FileNotFoundError):
        files.finish_append(path)  # half of the entry may be there
    for candidate in _following_paths(path):
        for _ in range(MAX_TRIES):
            before = _read_log(files, candidate)
            if before is None:
                break
            if has_entry(before.text):
                return candidate
            text = append(before.text)
            kept = (
                len(before.text)
                if before.text.endswith("\n") and text.startswith(before.text)
                else 0
            )
            # a day's text may be long: not more copies of it than needed
            before = replace(before, text="")
            try:
                after = files.write(candidate, text, before.sha256 or None)
            except FileConflict:
                continue
            written(before, after, kept)
            return candidate
    raise OSError(f"{path} changes faster than it can be written")


def find_section(files: SpaceFiles, section: LogSection) -> str | None:
    """Find the file that has the section, also if it was written under another time zone."""
    own = section.day or section.at.date()
    near = sorted(
        (own + timedelta(days=n) for n in range(-MAX_DAYS_AWAY, MAX_DAYS_AWAY + 1)),
        key=lambda day: day != own,
    )
    with suppress(FileNotFoundError):
        files.finish_append(section.path)
    for path in (path for day in near for path in _following_paths(replace(section, day=day).path)):
        found = _read_log(files, path)
        if found is not None and has_section(found.text, section.fold):
            return path
    return None


def read_known_lines(files: SpaceFiles, section: LogSection) -> str:
    """Read what the last MAX_KNOWN_BYTES of a section's file say: without the section itself, those
    that are stale or were undone, and the rest of one that is cut. Blocks.
    """
    try:
        data = files.read_range(section.path, -MAX_KNOWN_BYTES, MAX_KNOWN_BYTES)
    except (OSError, PathRefused):
        return ""
    lines = list(iter_lines(data.decode("utf-8", "replace")))
    if len(data) == MAX_KNOWN_BYTES:
        lines = list(dropwhile(lambda line: section_fold(line) is None, lines))
    rows = iter_rows("\n".join(lines))
    return "\n".join(
        row.raw for row in rows if not row.mark and (not row.fold or row.fold != section.fold)
    )


def mark_section(files: SpaceFiles, path: str, fold: str, word: str) -> bool:
    """Mark a section's heading as "stale" or "undone"; False when there is no such section."""
    plain = re.compile(rf"<!-- fold {re.escape(fold)}(?: [a-z]+)? -->")
    for _ in range(MAX_TRIES):
        try:
            found = _read_log(files, path)
        except FileNotFoundError:
            return False
        if found is None or not plain.search(found.text):
            return False
        try:
            files.write(path, plain.sub(f"<!-- fold {fold} {word} -->", found.text), found.sha256)
        except FileConflict:
            continue
        return True
    return False


def has_section(text: str, fold: str) -> bool:
    """Whether a text has the fold's section."""
    return fold in text and any(
        row is not None and row["fold"] == fold
        for row in map(_make_heading, _lines_with(text, fold))
    )


def section_fold(line: str) -> str | None:
    """The fold whose section begins at this line, "" for a person's own section, else None."""
    if found := _make_heading(line):
        return found["fold"]
    return "" if line.strip().startswith(("# ", "## ")) else None


def list_folds(text: str) -> tuple[str, ...]:
    """The ids of the folds with a section in the text, each once."""
    found = (
        row["fold"]
        for row in map(_make_heading, _lines_with(text, _FOLD_COMMENT))
        if row is not None
    )
    return tuple(dict.fromkeys(found))


def _lines_with(text: str, words: str) -> Iterator[str]:
    """The lines of the text that may have the words, with any kind of line ends."""
    return chain.from_iterable(text[line].splitlines() for line in find_lines(text, words))


def iter_lines(text: str) -> Iterator[str]:
    """Like `text.splitlines()`, but lazy: a day's log may have ten thousand lines."""
    at = 0
    while at < len(text):
        # every line separator set includes it
        end = text.find("\n", at + CHUNK_CHARS) + 1 or len(text)
        yield from text[at:end].splitlines()
        at = end


def iter_rows(text: str, first: int = 1) -> Iterator[LogRow]:
    """The lines of a Markdown text that have content, including fenced ones.

    Accepts a byte order mark, any line ends and replacement characters.

    Args:
        first: number of its first line.
    """
    fold = word = title = day = ""
    for number, raw in enumerate(iter_lines(text.removeprefix("\ufeff")), first):
        if heading := _make_heading(raw):
            fold, word, title = heading["fold"], heading["mark"] or "", ""
            day = ""
            continue
        line = raw.strip()
        if line.startswith("#"):
            title = line.lstrip("#").strip()
            if line.startswith(("# ", "## ")):
                fold = word = day = ""
            elif fold:
                day = heading_day(line) or day
            continue
        if any(map(str.isalnum, line)) and not is_fence(raw):
            yield _make_row(
                line,
                LogRow(
                    number=number, text="", fold=fold, mark=word, heading=title, day=day, raw=raw
                ),
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntry:
    """What stands together in a log: the section of a fold, or lines outside of such."""

    #: Its first line that says something, from 1.
    line: int
    rows: tuple[LogRow, ...]
    #: The rest is of a fold's heading: "" and 0 outside.
    fold: str = ""
    mark: str = ""
    #: HH:MM or HH:MM–HH:MM.
    time: str = ""
    channel: str = ""
    first_turn: int = 0
    last_turn: int = 0


def read_entries(text: str) -> list[LogEntry]:
    """The entries of a log, in order; sections without a line that says something are left out."""
    headings = {
        found["fold"]: found for found in map(_make_heading, iter_lines(text)) if found is not None
    }
    made: list[LogEntry] = []
    for fold, grouped in groupby(iter_rows(text), key=lambda row: row.fold):
        rows = tuple(grouped)
        entry = LogEntry(line=rows[0].number, rows=rows)
        if heading := headings.get(fold):
            entry = replace(
                entry,
                fold=fold,
                mark=rows[0].mark,
                time=heading["time"],
                channel=heading["channel"],
                first_turn=int(heading["first"]),
                last_turn=int(heading["last"]),
            )
        made.append(entry)
    return made


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


def _read_log(files: SpaceFiles, path: str) -> TextFile | None:
    """The file, without text and hash if there is none; None if it is not UTF-8."""
    try:
        return files.read(path, exact=True)
    except FileNotFoundError:
        return TextFile(path=path, text="", sha256="", size=0, mtime=0.0, stamp="")
    except UnicodeDecodeError:
        return None


def _append_to_known_end(files: SpaceFiles, section: LogSection) -> bool:
    """Append a section without reading the file; False if that is not possible, or the file may
    have it.
    """
    end = files.known_end(section.path)
    if end is None or section.fold in end.ids or not _ends_plainly(section):
        return False
    text = f"\n{_format_section(section)}".replace("\n", end.newline)
    data = text.encode("utf-8", "replace")
    stamp = files.append(section.path, data, end.stamp)
    if stamp is None:
        return False
    position = FilePosition(
        size=end.position.size + len(data),
        lines=end.position.lines + sum(1 for _ in iter_lines(text)),
    )
    end.former[end.stamp] = end.position
    end.ids.update(_FOLD_ID.findall(text))
    files.set_known_end(
        section.path, replace(end, stamp=stamp, position=position) if stamp else None
    )
    return True


def _note_end(
    files: SpaceFiles, section: LogSection, before: TextFile, after: TextFile, kept: int
) -> None:
    """Note the end of a file that was written with a section at its end; the arguments are those of
    `append_once`.
    """
    if not _ends_plainly(section):
        files.set_known_end(after.path, None)
        return
    end = KnownEnd(
        stamp=after.stamp,
        position=FilePosition(size=after.size, lines=sum(1 for _ in iter_lines(after.text))),
        newline="\r\n" if "\r\n" in after.text else "\n",
        ids=set(_FOLD_ID.findall(after.text)),
    )
    if kept and before.stamp:
        appended = sum(1 for _ in iter_lines(after.text[kept:]))
        end.former[before.stamp] = FilePosition(
            size=before.size, lines=end.position.lines - appended
        )
    files.set_known_end(after.path, end)


def _ends_plainly(section: LogSection) -> bool:
    """Whether a file with the section at its end ends in it, with one line end and outside of any
    fence.
    """
    body = section.body.strip()
    if (
        not body
        or "\r" in body
        or (any(mark in body for mark in _FENCES) and open_fence(iter_lines(body)))
    ):
        return False
    return all(section_fold(line) is None for line in iter_lines(body))


def _format_section(section: LogSection) -> str:
    return f"{section.heading}\n\n{section.body.strip()}\n"


def _append_to_text(text: str, section: LogSection) -> str:
    new = _format_section(section)
    if not text.strip("\ufeff \t\r\n"):
        return f"{text.rstrip()}# {section.day or section.at.date():%Y-%m-%d}\n\n{new}"
    end = "\r\n" if "\r\n" in text else "\n"
    fence = open_fence(iter_lines(text))
    closed = f"{text.rstrip()}\n{fence}" if fence else text.rstrip()
    before = closed.replace("\r\n", "\n").replace("\n", end) if fence else closed
    return "".join((before, end * 2, new.replace("\n", end)))
