"""The dream log: one Markdown file per day and space, with an entry for every dream, refusal and
undo.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from memory.longterm.dream_plan import DreamPlan
from memory.text.bullets import HEADINGS
from memory.text.language import is_mostly_cjk
from memory.text.quoting import shorten
from memory.workspace.daily_log import append_once
from memory.workspace.files import SpaceFiles

FOLDER = "memory/dreams"
MAX_SHOWN = 300  # characters of a memory line shown in an entry
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
    """One entry of a dream log."""

    #: Id of the dream's row.
    dream: str
    #: YYYY-MM-DD of the file.
    day: str
    #: In the person's zone.
    at: datetime
    lang: Lang
    lines: tuple[str, ...]
    #: The entry reports an undo.
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
    """Detect the language of the memory's lines, or of the lines to be added if it has none."""
    words = memory or [note.text for note in plan.noted]
    return "zh" if is_mostly_cjk(" ".join(words)) else "en"


def plan_items(plan: DreamPlan, lang: Lang) -> tuple[str, ...]:
    """Describe each change of a plan, with its sources."""
    words, items = _TEXTS[lang], list[str]()
    for merge in plan.merges:
        parts = words["join"].join(
            words["quote"].format(text=_shorten(part.text)) for part in merge.parts
        )
        items.append(words["merged"].format(parts=parts, text=_shorten(merge.text)))
    for drop in plan.dropped:
        by = _shorten(drop.by)
        items.append(
            words["dropped"].format(text=_shorten(drop.line.text), by=by, since=drop.since)
        )
    for note in plan.noted:
        sources = words["and"].join(f"{line.path}:{line.number}" for line in note.sources)
        heading, text = HEADINGS[note.category], _shorten(note.text)
        items.append(words["noted"].format(heading=heading, text=text, sources=sources))
    return tuple(items)


def refusal_items(reason: str, lang: Lang) -> tuple[str, ...]:
    """Describe why nothing was changed. reason: as in the dream's row."""
    return (_TEXTS[lang]["refused"].format(why=refusal_text(reason, lang)),)


def refusal_text(reason: str, lang: Lang) -> str:
    """Put a refusal's reason into words: "loses N of M", "ungrounded", "unreadable" or
    "shrinks".
    """
    lost, count = [*re.findall(r"\d+", reason), "", ""][:2]
    return _TEXTS[lang][reason.split(" ")[0]].format(lost=lost, count=count)


def undo_items(
    back: Sequence[str], gone: Sequence[str], lang: Lang, *, whole: bool
) -> tuple[str, ...]:
    """Describe an undo. whole: the file is byte for byte as it was."""
    words = _TEXTS[lang]
    lines = [words["back"].format(text=_shorten(text)) for text in back]
    lines += [words["gone"].format(text=_shorten(text)) for text in gone]
    return (*lines, words["whole" if whole else "stays"])


def append_entry(files: SpaceFiles, entry: DreamLogEntry) -> str:
    """Append an entry to its day's file unless it is there; see `append_once`."""
    return append_once(
        files,
        entry.path,
        has_entry=lambda text: has_entry(text, entry),
        append=lambda text: _append_to_text(text, entry),
    )


def has_entry(text: str, entry: DreamLogEntry) -> bool:
    """Whether a file contains the entry."""
    return any(
        line.startswith("## ") and line.rstrip().endswith(entry.mark) for line in text.splitlines()
    )


def _append_to_text(text: str, entry: DreamLogEntry) -> str:
    end = "\r\n" if "\r\n" in text else "\n"
    before = (
        f"{text.rstrip()}{end * 2}"
        if text.strip("\ufeff \t\r\n")
        else f"{text.rstrip()}# {entry.day}{end * 2}"
    )
    items = "".join(f"- {line}{end}" for line in entry.lines)
    return f"{before}{entry.heading}{end * 2}{items}"


def _shorten(text: str) -> str:
    """Put a memory on one line, without anything that could be read as one of our HTML comments."""
    return shorten(
        " / ".join(" ".join(line.split()) for line in text.splitlines()).replace("<!--", "‹!--"),
        MAX_SHOWN,
    )
