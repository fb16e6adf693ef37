"""Clean, measure and split text for platforms; pure."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from channels.phrases import Phrase

Unit = Literal["code_points", "utf16", "utf8"]

MIN_LIMIT = 4  # UTF-8 bytes of the longest code point; a smaller limit could not hold every text

UNFINISHED_TEXTS = {
    "stopped": Phrase("⏹ Stopped. /retry answers again."),
    "cut": Phrase("(cut off)"),
}

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_FENCE = re.compile(r"^(?P<open>[ ]*(?P<mark>`{3,}|~{3,})(?P<info>[^\n]*))(?:\n|\Z)", re.MULTILINE)
_SPAN = re.compile(r"`[^`\n]{1,200}`|\*\*[^*\n]{1,200}\*\*|\[[^\[\]\n]{1,200}\]\([^()\s]{1,300}\)")
_MAX_SPAN = 510
# Where to cut, best first: after a paragraph, a line, a sentence, a word or clause.
_BREAKS = (
    re.compile(r"\n[ \t]*\n\s*"),
    re.compile(r"\n"),
    re.compile(r"(?<![.!?…])[.!?…]++[\"'”’)\]]*+[ \t]++|[。！？；…]++[”’」』）]*+"),
    re.compile(r"[ \t\u3000]+|[，、：]"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fence:
    """A code block in a text."""

    #: Offsets of its first line, its code, its last line, and the text after it.
    start: int
    code: int
    last: int
    after: int
    opening: str
    closing: str


def replace_unstorable(text: str) -> str:
    """Replace NUL and lone surrogates, which databases and platforms refuse, by U+FFFD."""
    return _UNSTORABLE.sub("\ufffd", text)


def text_length(text: str, unit: Unit) -> int:
    """Return the length of a text in a platform's unit."""
    if unit == "code_points" or (unit == "utf16" and text.isascii()):
        return len(text)
    if unit == "utf16":
        return len(text.encode("utf-16-le", "surrogatepass")) // 2
    return len(text.encode("utf-8", "surrogatepass"))


def split_text(text: str, limit: int, unit: Unit) -> list[str]:
    """Split a text into non-empty parts of at most `limit` units, in time linear in its length.

    A part ends after a paragraph, line, sentence or word if one ends in its second half, and never
    inside a grapheme cluster unless that alone exceeds the limit. A code block that has to be cut
    is closed in one part and opened again in the next; apart from that the parts joined are the
    text.

    Raises:
        ValueError: limit < 4.
    """
    if limit < MIN_LIMIT:
        raise ValueError(f"limit {limit} is below {MIN_LIMIT}")
    if text_length(text, unit) <= limit:
        return [text] if text else []
    return list(_parts(text, limit, unit))


def mark_unfinished(text: str, state: str, language: str) -> str:
    """Mark what was shown of an answer that is "stopped" or "cut"; in any other state the text
    stays as it is.
    """
    if state not in UNFINISHED_TEXTS:
        return text
    unclosed = next((fence for fence in _find_fences(text) if fence.last == fence.after), None)
    closing = unclosed.closing if unclosed else ""
    return f"{text}{closing}\n\n{UNFINISHED_TEXTS[state].text(language)}"


def _parts(text: str, limit: int, unit: Unit) -> Iterator[str]:
    fences = [
        fence for fence in _find_fences(text) if _should_repeat_fence(fence, text, limit, unit)
    ]
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
        yield (
            body + fence.closing.removeprefix("\n" if body.endswith("\n") else "")
            if fence
            else body
        )
        head = fence.opening if fence else ""
        position = cut


def _fits(text: str, position: int, limit: int, unit: Unit) -> bool:
    return len(text) - position <= limit and text_length(text[position:], unit) <= limit


def _avoid_fence_lines(
    fences: list[_Fence], starts: list[int], position: int, cut: int
) -> tuple[int, _Fence | None]:
    """Move a cut off the lines of a fence; also return the fence whose code it cuts."""
    index = bisect_right(starts, cut - 1) - 1
    fence = fences[index] if index >= 0 else None
    if fence is None or cut >= fence.after:
        return cut, None
    if cut <= fence.code and fence.start > position:
        return fence.start, None
    if cut >= fence.last:
        return fence.after, None
    return cut, fence


def _find_cut(text: str, position: int, most: int, unit: Unit) -> int:
    """Return the best end of a part of at most `most` units from `position`, in its second half if
    possible.
    """
    end = position + _fitting_length(text[position : position + most], most, unit)
    if end == len(text):
        return end
    ends = _cluster_ends(text, position, end)
    if not ends:
        return end
    spans = [
        match.span() for match in _SPAN.finditer(text, position, min(len(text), end + _MAX_SPAN))
    ]
    ends_outside_spans = ends - {index for start, stop in spans for index in range(start + 1, stop)}
    half = position + (end - position) // 2
    for pattern in _BREAKS:
        found = [half + match.end() for match in pattern.finditer(text[half:end])]
        best = next(
            (index for index in reversed(found) if index > half and index in ends_outside_spans), 0
        )
        if best:
            return best
    last = max(ends_outside_spans, default=0)
    return last if last >= half else max(ends)


def _fitting_length(piece: str, most: int, unit: Unit) -> int:
    """Return how many code points of `piece` fit into `most` units; at least one."""
    low, high = 1, len(piece)
    while low < high:
        middle = (low + high + 1) // 2
        if text_length(piece[:middle], unit) <= most:
            low = middle
        else:
            high = middle - 1
    return low


def _cluster_ends(text: str, start: int, end: int) -> set[int]:
    """Return the ends of the clusters in text[start:end]; one that continues beyond `end` is left
    out.
    """
    return {
        match.end()
        for match in _cluster_pattern().finditer(text, start, end + 1)
        if match.end() <= end
    }


@cache
def _cluster_pattern() -> Any:
    import regex  # type: ignore[import-untyped]  # 1.5 MB, and only a text that is too long for one part needs it

    return regex.compile(r"\X")


def _find_fences(text: str) -> Iterator[_Fence]:
    """Yield the code blocks in order; one that is never closed ends with the text."""
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
    """A block whose fence lines would fill much of a part is cut like any text."""
    return max(text_length(fence.opening, unit), _fence_tail(fence, text, unit)) <= limit // 8
