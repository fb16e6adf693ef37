"""MEMORY.md as a list of bullets, edits that keep every other byte, lines, fences, and headings of
days.

Pure.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date

# Heading of each category, in the template and where a file has none.
HEADINGS = {
    "user_preference": "偏好 · Preferences",
    "instruction": "约定 · Instructions",
    "project_context": "项目 · Projects",
    "skill": "技能 · Skills",
    "fact": "事实 · Facts",
}
CATEGORIES = tuple(HEADINGS)

MAX_BULLET = 10_000  # characters

_BOM = "\ufeff"
_HEADING_NAMES = {
    "user_preference": (
        "偏好 喜好 用户偏好 个人偏好 preference preferences userpreference userpreferences"
    ),
    "instruction": (
        "约定 长期约定 回复约定 instruction instructions standinginstruction standinginstructions"
    ),
    "project_context": "项目 项目背景 工作项目 project projects projectcontext",
    "skill": "技能 能力 skill skills",
    "fact": "事实 事实信息 fact facts",
}
_CATEGORY = {name: category for category, names in _HEADING_NAMES.items() for name in names.split()}
_BLANK_CHARACTERS = " \t\u3000\xa0"
_LIST_MARK = re.compile(
    rf"[ \t]*(?:(?:[-*+•]|\d{{1,9}}[.)])(?:[{_BLANK_CHARACTERS}]+|$)|\d{{1,3}}、"
    rf"[{_BLANK_CHARACTERS}]*)"
)
_HEADING = re.compile(r" {0,3}(?P<level>#{1,6})(?:[ \t]+|$)")
_HASHES = re.compile(r"(?:#{1,6}(?:[ \t]+|$))+")
_FENCE = re.compile(r"[ \t]*(?P<fence>`{3,}|~{3,})(?P<info>.*)", re.DOTALL)
_RULE_CHARACTERS = " \t-*_="
_TAB_WIDTH = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Bullet:
    """One list item of a file: one memory."""

    #: Its text as `tidy_content` returns it, lines separated by "\n".
    text: str
    #: Category of its heading, "" for any other heading.
    category: str
    #: Text of the heading above it, "" for none.
    heading: str
    #: First line, from 1.
    first: int
    #: Last line, from 1.
    last: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BulletSection:
    """A heading with its content up to the next heading."""

    title: str
    category: str
    level: int
    #: Line after which a new bullet is inserted.
    last: int
    #: List mark of its last bullet, "" for none.
    mark: str = ""


def parse_bullets(text: str) -> list[Bullet]:
    """The memories of a file in order: its list items with what is indented under them.

    Fenced blocks and prose between the items are not memories.
    """
    return _read_text(text).bullets


def recordable_bullets(text: str) -> list[Bullet]:
    """The memories that are stored in the database: all of at most MAX_BULLET characters."""
    return [bullet for bullet in parse_bullets(text) if len(bullet.text) <= MAX_BULLET]


def category_of(heading: str) -> str:
    """The category that a Chinese or English heading names, "" for none."""
    names = re.split(
        r"[·/|,，、:：()（）&-]+|(?<=[\u4e00-\u9fff]) ++|(?<! ) ++(?=[\u4e00-\u9fff])",
        heading.casefold(),
    )
    keys = (re.sub(r"[\s*_`#]+", "", name) for name in names)
    return next((_CATEGORY[key] for key in keys if key in _CATEGORY), "")


def tidy_content(content: str) -> str:
    """Clean content for a bullet: no blank lines, headings, rules or open fence; "" if nothing is
    left.
    """
    plain = content.replace("\0", "").replace(_BOM, "").encode("utf-8", "replace").decode()
    stripped = (
        _strip_heading_mark(line.expandtabs(_TAB_WIDTH).rstrip()) for line in plain.splitlines()
    )
    lines = [line for line in stripped if line.strip(_RULE_CHARACTERS)]
    if not any(unicodedata.category(sign)[0] in "LNS" for line in lines for sign in line):
        return ""
    indent = min((_indent_width(line) for line in lines[1:]), default=0)
    lines = [lines[0].strip(), *(line[indent:] for line in lines[1:])]
    fence = open_fence(lines)
    return "\n".join([*lines, fence] if fence else lines)


def add_bullet(text: str, category: str, content: str, heading: str = "") -> str:
    """Add a bullet at the end of its category's section; a missing section is added at the end of
    the file.

    Args:
        heading: a section with exactly this title is preferred to the category's.

    Raises:
        ValueError: the content is empty, or the category does not exist.
    """
    if category not in HEADINGS and not heading:
        raise ValueError(f"no category is called {category!r}")
    read, end = _read_text(text), _line_end(text)
    section = _find_section(read.sections, category, heading)
    item = _format_item(content, section.mark if section and section.mark else "- ", end) + end
    if section is None:
        before = _end_text(text, read.fence, end)
        return (
            f"{before}{end if before.strip(_BOM) else ''}## "
            f"{heading or HEADINGS[category]}{end}{end}{item}"
        )
    lines = text.splitlines(keepends=True)
    open_fence = read.fence if section is read.sections[-1] and not section.mark else ""
    before, after = (
        _end_text("".join(lines[: section.last]), open_fence, end),
        lines[section.last :],
    )
    gap = "" if section.mark else end
    return before + gap + item + _separating_line(after, end) + "".join(after)


def replace_bullet(text: str, bullet: Bullet, content: str) -> str:
    """Replace a bullet's content; its list mark stays.

    Raises:
        ValueError: the content is empty, or the bullet is not in this text.
    """
    lines = text.splitlines(keepends=True)
    bom = _BOM if bullet.first == 1 and text.startswith(_BOM) else ""
    match = _LIST_MARK.match(lines[bullet.first - 1].removeprefix(bom).splitlines()[0])
    if match is None:
        raise ValueError(f"line {bullet.first} is no list item")
    mark = match.group() if match.group()[-1] in _BLANK_CHARACTERS + "、" else match.group() + " "
    last = lines[bullet.last - 1]
    closing = last[len(last.splitlines()[0]) :]
    end, after = _line_end(text), lines[bullet.last :]
    item = _format_item(content, mark, end) + closing + _separating_line(after, end)
    return "".join((*lines[: bullet.first - 1], bom, item, *after))


def remove_bullet(text: str, bullet: Bullet) -> str:
    """Remove a bullet's lines."""
    lines = text.splitlines(keepends=True)
    bom = _BOM if bullet.first == 1 and text.startswith(_BOM) else ""
    return "".join((*lines[: bullet.first - 1], bom, *lines[bullet.last :]))


def _format_item(content: str, mark: str, end: str) -> str:
    words = tidy_content(content)
    if not words:
        raise ValueError("a memory needs words")
    return mark + (end + " " * len(mark.expandtabs(_TAB_WIDTH))).join(words.split("\n"))


def _separating_line(after: Sequence[str], end: str) -> str:
    """A blank line if the following prose would otherwise continue the bullet."""
    return end if after and after[0].strip() and not _interrupts_paragraph(after[0]) else ""


def _similar_mark(mark: str) -> str:
    """The list mark for a bullet next to one with this mark; numbers are not continued."""
    sign = mark.strip(_BLANK_CHARACTERS)
    return mark[: mark.index(sign)] + (sign if sign in "-*+•" else "-") + " "


def _strip_heading_mark(line: str) -> str:
    """Remove the marks that would make a line a heading."""
    bare = line.lstrip()
    return (
        line[: len(line) - len(bare)] + _HASHES.sub("", bare, count=1)
        if bare.startswith("#")
        else line
    )


def _line_end(text: str) -> str:
    """The file's line end; for mixed ends, the longest."""
    if "\r" in text:
        return "\r\n" if "\n" in text else "\r"
    return "\n"


def _end_text(text: str, fence: str, end: str) -> str:
    """End the last line, and close an open fence."""
    body = text if not text.strip(_BOM) or text.endswith(("\n", "\r")) else text + end
    return body + fence + end if fence else body


def _find_section(
    sections: Sequence[BulletSection], category: str, heading: str
) -> BulletSection | None:
    named = [section for section in sections if heading and section.title == heading]
    fitting = [section for section in sections if category and section.category == category]
    return min(named or fitting, key=lambda section: section.level, default=None)


class _BulletReader:
    """Parses lines into bullets and sections."""

    def __init__(self) -> None:
        self.bullets: list[Bullet] = []
        self.sections: list[BulletSection] = []
        self.fence = ""  # open outside of bullets
        self._parents: list[BulletSection] = []
        # The current bullet: its lines, their numbers, widths before its mark and its text, its
        # mark, its open fence.
        self._lines: list[str] = []
        self._first = self._last = 0
        self._indent = self._content = 0
        self._mark = self._inner_fence = ""
        self._after_blank = False

    def read_line(self, number: int, line: str) -> None:
        """Read the next line, without its end."""
        if not line.strip():
            self._after_blank = True
            return
        if self.fence:
            self.fence = fence_after(self.fence, line)
        elif self._lines and self._continues_bullet(line):
            self._add_line(number, line)
        else:
            self.end_bullet()
            self._begin_block(number, line)
        self._after_blank = False
        if self.sections and not self.sections[-1].mark:
            self.sections[-1] = replace(self.sections[-1], last=number)

    def end_bullet(self) -> None:
        """End the current bullet."""
        if not self._lines:
            return
        if self.sections:
            self.sections[-1] = replace(self.sections[-1], last=self._last, mark=self._mark)
        if words := tidy_content("\n".join(self._lines)):
            category, heading = (
                (self.sections[-1].category, self.sections[-1].title) if self.sections else ("", "")
            )
            self.bullets.append(
                Bullet(
                    text=words,
                    category=category,
                    heading=heading,
                    first=self._first,
                    last=self._last,
                )
            )
        self._lines = []

    def _continues_bullet(self, line: str) -> bool:
        """Whether a line is indented under the current bullet or continues its paragraph."""
        if _indent_width(line) >= self._indent + 2:
            return True
        return not (self._inner_fence or self._after_blank or _interrupts_paragraph(line))

    def _add_line(self, number: int, line: str) -> None:
        lead = line[: len(line) - len(line.lstrip(" \t"))].expandtabs(_TAB_WIDTH)
        self._lines.append(lead[self._content :] + line.lstrip(" \t"))
        self._inner_fence = fence_after(self._inner_fence, line)
        self._last = number

    def _begin_block(self, number: int, line: str) -> None:
        if heading := _HEADING.match(line):
            self._begin_section(
                number, line[heading.end() :].strip().rstrip("#").strip(), len(heading["level"])
            )
        elif fence := fence_after("", line):
            self.fence = fence
        elif (mark := _LIST_MARK.match(line)) and not _is_rule(line):
            self._indent, self._content = (
                _indent_width(line),
                len(mark.group().expandtabs(_TAB_WIDTH)),
            )
            self._lines, self._first, self._last = [line[mark.end() :]], number, number
            self._mark = _similar_mark(mark.group())
            self._inner_fence = fence_after("", line[mark.end() :])

    def _begin_section(self, number: int, title: str, level: int) -> None:
        while self._parents and self._parents[-1].level >= level:
            self._parents.pop()
        inherited = self._parents[-1].category if self._parents else ""
        section = BulletSection(
            title=title, category=category_of(title) or inherited, level=level, last=number
        )
        self._parents.append(section)
        self.sections.append(section)


def _read_text(text: str) -> _BulletReader:
    reader = _BulletReader()
    for number, line in enumerate(text.removeprefix(_BOM).splitlines(), 1):
        reader.read_line(number, line)
    reader.end_bullet()
    return reader


def _indent_width(line: str) -> int:
    return len(line[: len(line) - len(line.lstrip(" \t"))].expandtabs(_TAB_WIDTH))


def _interrupts_paragraph(line: str) -> bool:
    """Whether this line ends a paragraph without a blank line."""
    return bool(
        _HEADING.match(line) or fence_after("", line) or _LIST_MARK.match(line) or _is_rule(line)
    )


def _is_rule(line: str) -> bool:
    bare = "".join(line.split())
    return len(bare) >= 3 and bare[0] in "-*_" and not bare.strip(bare[0])


def is_fence(line: str) -> bool:
    """Whether the line looks like the opening or closing line of a fence."""
    return _FENCE.match(line) is not None


def fence_after(fence: str, line: str) -> str:
    """The fence that is open after this line, "" for none.

    Args:
        fence: the fence that is open before it.
    """
    found = _FENCE.match(line)
    if found is None:
        return fence
    if fence:
        return "" if found["fence"].startswith(fence) and not found["info"].strip() else fence
    # ```code``` on one line is a code span, not a fence (CommonMark 4.5)
    return "" if found["fence"][0] == "`" and "`" in found["info"] else found["fence"]


def open_fence(lines: Iterable[str]) -> str:
    """The fence that these lines leave open, "" for none."""
    fence = ""
    for line in lines:
        fence = fence_after(fence, line)
    return fence


_DAY_HEADING = re.compile(r"### (\d{4}-\d\d-\d\d)")


def format_day(day: date) -> str:
    """Format the heading of those lines of a daily log that are about another day than the file."""
    return f"### {day.isoformat()}"


def heading_day(line: str) -> str:
    """The day that such a heading names, "" for any other line."""
    found = _DAY_HEADING.fullmatch(line.strip())
    with suppress(ValueError):
        return date.fromisoformat(found[1]).isoformat() if found else ""
    return ""


def find_lines(text: str, words: str) -> Iterator[slice]:
    """Find the lines, ended by "\n", that have these words; the others are only searched for
    them.
    """
    at = 0
    while (at := text.find(words, at)) >= 0:
        begin, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
        at = end if end >= 0 else len(text)
        yield slice(begin, at)
