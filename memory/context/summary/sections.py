"""The fixed sections of a summary: parsed from a model's headings, ordered, and trimmed line by line."""

import re
from collections.abc import Iterable

from memory.context.summary.grounding import has_facts
from memory.context.tokens import TokenCounter
from memory.text.language import HEADINGS

LEAD_SECTION = ""  # the section before any heading

_HEADING_PATTERNS = (
    ("errors", re.compile(r"\berrors?\b|\bproblems?\b|错误|报错|故障", re.IGNORECASE)),
    ("tools", re.compile(r"\btools?\b|工具", re.IGNORECASE)),
    (
        "open",
        re.compile(r"\bopen\b|\bto[- ]?dos?\b|\bnext steps?\b|\bpending\b|未完成|待办|后续|下一步", re.IGNORECASE),
    ),
    ("decisions", re.compile(r"\bdecisions?\b|决定|决策", re.IGNORECASE)),
    ("facts", re.compile(r"\bfacts?\b|\bpreferences?\b|\bconstraints?\b|事实|偏好|约定", re.IGNORECASE)),
    ("state", re.compile(r"\bgoals?\b|\bstate\b|\bstatus\b|目标|现状|状态", re.IGNORECASE)),
)
_HASHES = re.compile(r"#{1,6}")
_BOLD = re.compile(r"\*\*([^*]{1,40})\*\*[:：]?")
_SECTION_WORTH = {"facts": 3, "decisions": 3, "open": 2, "state": 2, "errors": 1, "tools": 1, LEAD_SECTION: 1}
MAX_HEADING = 40  # characters; a longer heading is never one of the fixed ones

Sections = dict[str, list[str]]  # lines by section, LEAD_SECTION first


def parse_sections(text: str) -> Sections:
    """Parse a summary into sections; an unknown heading becomes an item of the section it is in."""
    found: Sections = {name: [] for name in (LEAD_SECTION, *HEADINGS["en"])}
    current = LEAD_SECTION
    for line in text.splitlines():
        title = _heading_title(line)
        if title is None:
            add_line(found, current, line)
            continue
        meant = section_of(title)
        if meant is not None:
            current = meant
        elif title:
            add_line(found, current, f"- {title}")
    return found


def _heading_title(line: str) -> str | None:
    """The words of a heading, with hashes or all in bold; None for any other line."""
    plain = line.strip()
    if hashes := _HASHES.match(plain):
        return plain[hashes.end() :].rstrip("#").strip().strip(" *:：")
    bold = _BOLD.fullmatch(plain)
    return bold[1].strip(" *:：") if bold else None


def section_of(title: str) -> str | None:
    """The section that a heading in either language names, or None."""
    if len(title) > MAX_HEADING:
        return None
    exact = [name for heads in HEADINGS.values() for name, head in heads.items() if head.casefold() == title.casefold()]
    return exact[0] if exact else next((name for name, words in _HEADING_PATTERNS if words.search(title)), None)


def add_line(sections: Sections, name: str, line: str) -> None:
    """Add a line to a section, unless it is blank or a duplicate."""
    if line.strip() and line.rstrip() not in sections[name]:
        sections[name].append(line.rstrip())


def render_sections(sections: Sections, lang: str) -> str:
    """The summary in its fixed order, under headings of the language; empty sections are left out."""
    lines: list[str] = []
    for name, held in sections.items():
        if held and name != LEAD_SECTION:
            lines.append(f"## {HEADINGS[lang][name]}")
        lines += held
    return "\n".join(lines)


def trim_sections(sections: Sections, lang: str, counter: TokenCounter, most: int) -> Sections:
    """Remove whole lines until the summary fits `most` tokens, always from the largest section.

    Lines without facts go first, older before newer; a section keeps one line while another has more.
    """
    kept: Sections = {name: list(lines) for name, lines in sections.items()}
    over = counter.text(render_sections(kept, lang)) - most
    while over > 0 and any(kept.values()):
        name = max(
            kept, key=lambda name: (len(kept[name]) > 1, _section_tokens(kept[name], counter) / _SECTION_WORTH[name])
        )
        at = min(range(len(kept[name])), key=lambda at: (has_facts(kept[name][at]), at))
        del kept[name][at]
        over = counter.text(render_sections(kept, lang)) - most
    return kept


def _section_tokens(lines: Iterable[str], counter: TokenCounter) -> int:
    return sum(map(counter.text, lines))
