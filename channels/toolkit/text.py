"""Text as platforms carry it: cleaned at the edge, counted in their unit, cut where a reader would. Pure."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import regex  # type: ignore[import-untyped]

from channels.toolkit.markdown import Node, blocks_of

Unit = Literal["code_points", "utf16", "utf8"]

MIN_LIMIT = 4  # the longest code point in the longest unit (UTF-8 bytes); less could not carry every text

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_CLUSTER = regex.compile(r"\X")
_FENCE = re.compile(r"^(?P<open>[ ]*(?P<mark>`{3,}|~{3,})(?P<info>[^\n]*))(?:\n|\Z)", re.MULTILINE)
_SPAN = re.compile(r"`[^`\n]{1,200}`|\*\*[^*\n]{1,200}\*\*|\[[^\[\]\n]{1,200}\]\([^()\s]{1,300}\)")
_MAX_SPAN = 510
# Where to cut, the best first: after a paragraph, a line, a sentence, a word or clause.
_BREAKS = (
    re.compile(r"\n[ \t]*\n\s*"),
    re.compile(r"\n"),
    re.compile(r"(?<![.!?…])[.!?…]++[\"'”’)\]]*+[ \t]++|[。！？；…]++[”’」』）]*+"),
    re.compile(r"[ \t\u3000]+|[，、：]"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fence:
    """A code block. Offsets in the text: its first line, its code, its last line, and what follows it."""

    start: int
    code: int
    last: int
    after: int
    opening: str
    closing: str


def replace_unstorable(text: str) -> str:
    """The text with NUL and lone surrogates, which stores and wires refuse, replaced by U+FFFD."""
    return _UNSTORABLE.sub("\ufffd", text)


def text_length(text: str, unit: Unit) -> int:
    """How long a text is in the unit a platform counts in."""
    if unit == "code_points" or (unit == "utf16" and text.isascii()):
        return len(text)
    if unit == "utf16":
        return len(text.encode("utf-16-le", "surrogatepass")) // 2
    return len(text.encode("utf-8", "surrogatepass"))


def split_text(text: str, limit: int, unit: Unit) -> list[str]:
    """Cut a text into parts of at most `limit` units; in time linear in its length.

    The cut is made after a paragraph, line, sentence or word if one ends in the second half of the part, never inside
    a grapheme cluster (unless that alone is longer than the limit). A code block that has to be cut is closed in one
    part and opened again in the next; apart from that the parts joined are the text.

    Returns:
        The parts in order, none of them empty; [] for "".

    Raises:
        ValueError: limit < 4.
    """
    if limit < MIN_LIMIT:
        raise ValueError(f"limit {limit} is below {MIN_LIMIT}")
    if text_length(text, unit) <= limit:
        return [text] if text else []
    return list(_parts(text, limit, unit))


def _parts(text: str, limit: int, unit: Unit) -> Iterator[str]:
    fences = [fence for fence in _find_fences(text) if _should_repeat_fence(fence, text, limit, unit)]
    starts = [fence.start for fence in fences]
    reserve = max((_fence_tail(fence, text, unit) for fence in fences), default=0)
    position, head = 0, ""
    while position < len(text):
        if not head and _fits(text, position, limit, unit):
            yield text[position:]
            return
        cut = _find_cut(text, position, limit - reserve - text_length(head, unit), unit)
        cut, fence = _avoid_fence_lines(fences, starts, position, cut)
        body = head + text[position:cut]
        yield body + fence.closing.removeprefix("\n" if body.endswith("\n") else "") if fence else body
        head = fence.opening if fence else ""
        position = cut


def _fits(text: str, position: int, limit: int, unit: Unit) -> bool:
    return len(text) - position <= limit and text_length(text[position:], unit) <= limit


def _avoid_fence_lines(fences: list[_Fence], starts: list[int], position: int, cut: int) -> tuple[int, _Fence | None]:
    """The cut moved off a fence's own lines, and the fence that it still falls into."""
    index = bisect_right(starts, cut - 1) - 1
    fence = fences[index] if index >= 0 else None
    if fence is None or cut >= fence.after:
        return cut, None
    if cut <= fence.code and fence.start > position:
        return fence.start, None
    if cut >= fence.last:
        return fence.after, None
    return cut, fence


def _find_cut(text: str, position: int, room: int, unit: Unit) -> int:
    """Where the part that begins at `position` should end: at most `room` units on, in its second half if possible."""
    end = position + _fitting_length(text[position : position + room], room, unit)
    if end == len(text):
        return end
    ends = _cluster_ends(text, position, end)
    if not ends:
        return end
    spans = [match.span() for match in _SPAN.finditer(text, position, min(len(text), end + _MAX_SPAN))]
    whole = _ends_outside_spans(ends, spans)
    half = position + (end - position) // 2
    for pattern in _BREAKS:
        found = [half + match.end() for match in pattern.finditer(text[half:end])]
        best = next((place for place in reversed(found) if place > half and place in whole), 0)
        if best:
            return best
    last = max(whole, default=0)
    return last if last >= half else max(ends)


def _ends_outside_spans(ends: set[int], spans: list[tuple[int, int]]) -> set[int]:
    inside = {place for start, stop in spans for place in range(start + 1, stop)}
    return ends - inside


def _fitting_length(piece: str, room: int, unit: Unit) -> int:
    """How many code points of `piece` fit into `room` units; at least one."""
    low, high = 1, len(piece)
    while low < high:
        middle = (low + high + 1) // 2
        if text_length(piece[:middle], unit) <= room:
            low = middle
        else:
            high = middle - 1
    return low


def _cluster_ends(text: str, start: int, end: int) -> set[int]:
    """Ends of whole clusters in text[start:end]; the cluster that goes on beyond `end` is left out."""
    seen = min(len(text), end + 1)
    return {match.end() for match in _CLUSTER.finditer(text, start, seen) if match.end() <= end}


def _find_fences(text: str) -> Iterator[_Fence]:
    """Code blocks in order; one that is never closed ends with the text."""
    opened: re.Match[str] | None = None
    for line in _FENCE.finditer(text):
        if opened is None:
            if line["mark"][0] == "~" or "`" not in line["info"]:
                opened = line
        elif line["mark"].startswith(opened["mark"]) and not line["info"].strip():
            yield _make_fence(opened, line.start(), line.end())
            opened = None
    if opened is not None:
        yield _make_fence(opened, len(text), len(text))


def _make_fence(opened: re.Match[str], last: int, after: int) -> _Fence:
    indent = opened["open"][: -len(opened["mark"] + opened["info"])]
    return _Fence(
        start=opened.start(),
        code=opened.end(),
        last=last,
        after=after,
        opening=opened["open"] + "\n",
        closing="\n" + indent + opened["mark"],
    )


def _fence_tail(fence: _Fence, text: str, unit: Unit) -> int:
    return max(text_length(fence.closing, unit), text_length(text[fence.last : fence.after], unit))


def _should_repeat_fence(fence: _Fence, text: str, limit: int, unit: Unit) -> bool:
    """Fence lines that fill much of a part are not worth repeating: such a block is cut like any text."""
    return max(text_length(fence.opening, unit), _fence_tail(fence, text, unit)) <= limit // 8


# Markdown as text that reads well where nothing is drawn: marks go, words, lists, tables and code stay. Pure.

# Characters; a longer text is shown as it is written, for nothing bounds what its marks would cost to read.
MAX_MARKDOWN = 20_000
_RULE = "———"
_BOXES = {"[ ] ": "☐ ", "[x] ": "☑ ", "[X] ": "☑ "}


def to_plain(markdown: str) -> str:
    """The Markdown without its marks; links are followed by their address, tables become a line for each row."""
    if len(markdown) > MAX_MARKDOWN:
        return markdown
    blocks = blocks_of(markdown)
    return markdown if blocks is None else _blocks(blocks, "\n\n")


def _blocks(nodes: list[Node], between: str) -> str:
    return between.join(filter(None, map(_block, nodes)))


def _block(node: Node) -> str:
    match node.type:
        case "heading":
            return f"【{_inlines(node)}】" if node.children else ""
        case "fence" | "code_block":
            return node.content.removesuffix("\n")
        case "bullet_list" | "ordered_list":
            return _list(node)
        case "blockquote":
            return "\n".join(f"> {line}".rstrip() for line in _blocks(node.children, "\n\n").split("\n"))
        case "table":
            return _table(node)
        case "hr":
            return _RULE
        case _:
            return _inlines(node)


def _list(node: Node) -> str:
    first = int(node.attribute("start") or 1)
    items = []
    for number, item in enumerate(node.children, first):
        words = _blocks(item.children, "\n").replace("\n", "\n  ")
        if node.type == "ordered_list":
            items.append(f"{number}. {words}")
        else:
            items.append(_BOXES[words[:4]] + words[4:] if words[:4] in _BOXES else f"• {words}")
    return "\n".join(items)


def _table(node: Node) -> str:
    """A line for each row: in the font of a chat, columns cannot stand under each other."""
    rows = [
        [_inlines(cell).replace("\n", " ") for cell in row.children] for part in node.children for row in part.children
    ]
    return "\n".join([" | ".join(rows[0]), *("• " + " | ".join(row) for row in rows[1:])])


def _inlines(node: Node) -> str:
    shown = [_inline(child) for child in node.children]
    for at, child in enumerate(node.children):
        within = shown[at - 1 : at] + shown[at + 1 : at + 2]
        if child.type == "em" and at and len(within) == 2 and within[0][-1:].isalnum() and within[1][:1].isalnum():
            shown[at] = f"{child.markup}{shown[at]}{child.markup}"  # 2*3*4 is no 234
    return "".join(shown)


def _inline(node: Node) -> str:
    match node.type:
        case "softbreak" | "hardbreak":
            return "\n"
        case "s":
            return f"~~{_inlines(node)}~~"
        case "link":
            return _link(node.attribute("href"), _inlines(node))
        case "image":
            return _link(node.attribute("src"), node.content)
        case "code_inline" | "text":
            return node.content
        case _:
            return _inlines(node)


def _link(address: str, shown: str) -> str:
    if not address or address in shown or address == f"mailto:{shown}":
        return shown
    return f"{shown} ({address})" if shown else address
