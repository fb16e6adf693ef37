"""The diary of dreams: one Markdown file per day and space, an entry for whatever a night did or left undone."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from memory.longterm.dream_plan import DreamPlan, DroppedLine, LineMerge
from memory.longterm.extraction import is_mostly_cjk
from memory.longterm.recurring import RecurringFact
from memory.text.bullets import HEADINGS
from memory.workspace.files import FileConflict, SpaceFiles

FOLDER = "memory/dreams"
MAX_TRIES = 20
MAX_SHOWN = 300  # characters of one line in the diary; the whole of it stands in memory or in the record
Lang = Literal["zh", "en"]
_TEXTS: dict[Lang, dict[str, str]] = {
    "zh": {
        "title": "整理记忆",
        "undone": "撤销整理",
        "merged": "合并：{parts} → 「{text}」",
        "dropped": "去掉：「{text}」；自 {since} 起已由「{by}」取代",
        "noted": "记入「{heading}」：「{text}」；出自 {sources}",
        "refused": "什么也没有改：{why}。",
        "loses": "那样会去掉 {lost} 条，而全部只有 {count} 条，超过四分之一",
        "ungrounded": "有的话不是本人说过的",
        "unreadable": "MEMORY.md 无法作为文本读取",
        "shrinks": "那样 MEMORY.md 会剩下不到一半",
        "whole": "MEMORY.md 和整理之前一字不差。",
        "back": "放回：「{text}」",
        "gone": "取出：「{text}」",
        "stays": "其余不变，包括之后的修改。",
        "quote": "「{text}」",
        "join": " ＋ ",
        "and": "、",
    },
    "en": {
        "title": "memory put in order",
        "undone": "taken back",
        "merged": "Merged: {parts} → “{text}”",
        "dropped": "Dropped: “{text}”; since {since} “{by}” stands for it",
        "noted": "Moved into {heading}: “{text}”; from {sources}",
        "refused": "Nothing was changed: {why}.",
        "loses": "it would take out {lost} of {count} lines, more than a quarter",
        "ungrounded": "something in it is not in the person's own words",
        "unreadable": "MEMORY.md cannot be read as text",
        "shrinks": "less than half of MEMORY.md would be left",
        "whole": "MEMORY.md is as it was before, byte for byte.",
        "back": "Put back: “{text}”",
        "gone": "Taken out: “{text}”",
        "stays": "All else stays, what was changed since then too.",
        "quote": "“{text}”",
        "join": " + ",
        "and": ", ",
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class DreamLogEntry:
    """One entry."""

    #: Its row's id.
    dream: str
    #: YYYY-MM-DD, of the file it goes into.
    day: str
    #: In the person's zone.
    at: datetime
    lang: Lang
    lines: tuple[str, ...]
    #: It tells of the taking back.
    undone: bool = False

    @property
    def path(self) -> str:
        """The day's file, relative to the space's folder."""
        return f"{FOLDER}/{self.day}.md"

    @property
    def heading(self) -> str:
        title = _TEXTS[self.lang]["undone" if self.undone else "title"]
        return f"## {self.at:%H:%M} · {title} {self.mark}"

    @property
    def mark(self) -> str:
        return f"<!-- dream {self.dream}{' undone' if self.undone else ''} -->"


def detect_language(memory: Sequence[str], plan: DreamPlan) -> Lang:
    """The language that a memory's lines, or where it has none what is to go into it, are mostly written in."""
    words = memory or [note.text for note in plan.noted]
    return "zh" if is_mostly_cjk(" ".join(words)) else "en"


def plan_items(plan: DreamPlan, lang: Lang) -> tuple[str, ...]:
    """What a plan did, an item each, with its sources."""
    merges = (_merge_item(merge, lang) for merge in plan.merges)
    dropped = (_drop_item(drop, lang) for drop in plan.dropped)
    noted = (_note_item(note, lang) for note in plan.noted)
    return (*merges, *dropped, *noted)


def refusal_items(reason: str, lang: Lang) -> tuple[str, ...]:
    """That nothing was done, and why. reason: as the dream's row has it."""
    return (_TEXTS[lang]["refused"].format(why=refusal_text(reason, lang)),)


def refusal_text(reason: str, lang: Lang) -> str:
    """The reason of a refusal in words. reason: "loses N of M", "ungrounded", "unreadable" or "shrinks"."""
    lost, count = [*re.findall(r"\d+", reason), "", ""][:2]
    return _TEXTS[lang][reason.split(" ")[0]].format(lost=lost, count=count)


def undo_items(back: Sequence[str], gone: Sequence[str], lang: Lang, *, whole: bool) -> tuple[str, ...]:
    """What taking a dream back did. whole: the file is as it was, byte for byte."""
    words = _TEXTS[lang]
    lines = [words["back"].format(text=_shorten(text)) for text in back]
    lines += [words["gone"].format(text=_shorten(text)) for text in gone]
    return (*lines, words["whole" if whole else "stays"])


def append_entry(files: SpaceFiles, entry: DreamLogEntry) -> str:
    """Put an entry at the end of its day's file, on the disk when this returns; a second time changes nothing. Blocks.

    A file that is not UTF-8 is left alone and the entry goes into a file beside it.

    Returns:
        The path it is in, relative to the space's folder.

    Raises:
        OSError: it could not be written.
    """
    for path in _following_paths(entry.path):
        for _ in range(MAX_TRIES):
            try:
                data = files.read_bytes(path)
                text, sha256 = data.decode(), files.read(path).sha256
            except FileNotFoundError:
                text, sha256 = "", None
            except UnicodeDecodeError:
                break
            if has_entry(text, entry):
                return path
            try:
                files.write(path, _append_to_text(text, entry), sha256)
            except FileConflict:
                continue
            return path
    raise OSError(f"{entry.path} changes faster than it can be written")


def has_entry(text: str, entry: DreamLogEntry) -> bool:
    """Whether a file's text has that entry."""
    return any(line.startswith("## ") and line.rstrip().endswith(entry.mark) for line in text.splitlines())


def _append_to_text(text: str, entry: DreamLogEntry) -> str:
    end = "\r\n" if "\r\n" in text else "\n"
    before = f"{text.rstrip()}{end * 2}" if text.strip("\ufeff \t\r\n") else f"{text.rstrip()}# {entry.day}{end * 2}"
    items = "".join(f"- {line}{end}" for line in entry.lines)
    return f"{before}{entry.heading}{end * 2}{items}"


def _following_paths(path: str) -> Iterator[str]:
    yield path
    for number in range(2, 10):
        yield path.replace(".md", f"-{number}.md")


def _merge_item(merge: LineMerge, lang: Lang) -> str:
    words = _TEXTS[lang]
    parts = words["join"].join(words["quote"].format(text=_shorten(part.text)) for part in merge.parts)
    return words["merged"].format(parts=parts, text=_shorten(merge.text))


def _drop_item(drop: DroppedLine, lang: Lang) -> str:
    return _TEXTS[lang]["dropped"].format(text=_shorten(drop.line.text), by=_shorten(drop.by), since=drop.since)


def _note_item(note: RecurringFact, lang: Lang) -> str:
    sources = _TEXTS[lang]["and"].join(f"{line.path}:{line.number}" for line in note.sources)
    return _TEXTS[lang]["noted"].format(heading=HEADINGS[note.category], text=_shorten(note.text), sources=sources)


def _shorten(text: str) -> str:
    """A line's words on one line, with nothing in them that could pass for a mark of ours."""
    words = " / ".join(" ".join(line.split()) for line in text.splitlines()).replace("<!--", "‹!--")
    return words if len(words) <= MAX_SHOWN else f"{words[: MAX_SHOWN - 1]}…"
