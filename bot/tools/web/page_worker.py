"""Turns HTML into Markdown in a process of its own, under limits; imports no other module of mnema.

Requests come on standard input: one line of JSON with `size`, `way` and `url`, then that many bytes
of UTF-8 HTML. Each is answered on standard output by one line of JSON with `size`, `title`, `date`
and `scripts`, then that many bytes of Markdown. The process ends at the end of its input, and at
its limits.
"""

import json
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from copy import deepcopy
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urljoin

MAX_MEMORY_BYTES = 400 * 2**20
CPU_SECONDS = 3  # of one page
MAX_TEXT_CHARS = 200_000
MAX_URL_CHARS = 2048
# Unseen by people, read by models; the list of memory/text/invisible.py, which this process does
# not import.
INVISIBLE_RANGES = (
    (0x00AD, 0x00AD),
    (0x034F, 0x034F),
    (0x061C, 0x061C),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x200B, 0x200F),
    (0x202A, 0x202E),
    (0x2060, 0x206F),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFF8),
    (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A),
    (0xE0000, 0xE0FFF),
    (0x2800, 0x2800),
    (0x1D159, 0x1D159),
)
_INVISIBLE = re.compile(
    f"[{''.join(f'{chr(first)}-{chr(last)}' for first, last in INVISIBLE_RANGES)}]+"
)
_SKIPPED = frozenset(
    {
        "aside",
        "button",
        "canvas",
        "footer",
        "form",
        "head",
        "iframe",
        "nav",
        "noscript",
        "object",
        "script",
        "select",
        "style",
        "svg",
        "template",
    }
)
_UNSEEN = frozenset({"noscript", "script", "style", "template"})
_VOID = frozenset(
    {
        "area",
        "base",
        "br",
        "col",
        "embed",
        "hr",
        "img",
        "input",
        "link",
        "meta",
        "source",
        "track",
        "wbr",
    }
)
_BLOCKS = frozenset(
    {
        "address",
        "article",
        "blockquote",
        "br",
        "dd",
        "div",
        "dl",
        "dt",
        "figcaption",
        "figure",
        "header",
        "hr",
        "main",
        "ol",
        "p",
        "pre",
        "section",
        "table",
        "tr",
        "ul",
    }
)


def main() -> None:
    """Answer requests until the input ends."""
    import resource  # not on every system

    _limit(resource.RLIMIT_AS, MAX_MEMORY_BYTES)
    _limit(resource.RLIMIT_CORE, 0)
    while line := sys.stdin.buffer.readline():
        request = json.loads(line)
        html = sys.stdin.buffer.read(request["size"]).decode("utf-8", "replace")
        used = resource.getrusage(resource.RUSAGE_SELF)
        _limit(resource.RLIMIT_CPU, int(used.ru_utime + used.ru_stime) + CPU_SECONDS + 1)
        facts, text = (extract if request["way"] == "article" else walk)(html, request["url"])
        payload = text[: MAX_TEXT_CHARS + 1].encode("utf-8", "replace")
        head = json.dumps({"size": len(payload), **facts})
        sys.stdout.buffer.write(head.encode() + b"\n" + payload)
        sys.stdout.buffer.flush()


def _limit(kind: int, most: int) -> None:
    import resource  # not on every system

    with suppress(ValueError, OSError):  # macOS has no limit of address space
        resource.setrlimit(
            kind, (most, resource.getrlimit(kind)[1] if kind == resource.RLIMIT_CPU else most)
        )


def extract(html: str, url: str) -> tuple[dict[str, Any], str]:
    """Return the main text as Markdown by trafilatura; all visible text if it finds none, or is not
    installed.
    """
    facts, visible = walk(html, url)
    try:
        import trafilatura  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        return facts, visible
    tree = trafilatura.load_html(html)
    if tree is None:
        return facts, visible
    # Before that, for the date may stand in a script.
    found = trafilatura.extract_metadata(tree, default_url=url)
    date = _stated_date(tree, url)
    _drop_hidden(tree)
    text = trafilatura.extract(
        tree,
        url=url,
        output_format="markdown",
        include_links=True,
        include_tables=True,
        include_comments=False,
        include_formatting=True,
        with_metadata=False,
        deduplicate=False,
    )
    facts |= (
        {"title": clean(found.title or "") or facts["title"], "date": clean(date)} if found else {}
    )
    return facts, clean(text or "") or visible


def _stated_date(tree: Any, url: str) -> str:
    """Return the date that a page states of itself, "" for none.

    trafilatura is shown nothing else: it takes any number in the text that looks like a date for
    the page's own.
    """
    import trafilatura

    stated = trafilatura.load_html("<html><head></head><body></body></html>")
    assert stated is not None
    for element in list(tree.iter("meta", "script", "time")):
        if _states_date(element):
            stated[0].append(deepcopy(element))
    found = trafilatura.extract_metadata(stated, default_url=url, extensive=False)
    return (found.date or "") if found else ""


def _states_date(element: Any) -> bool:
    """Tell whether an element may state the date: by a name that says so, as data, or as a time
    with its own value.
    """
    if element.tag == "script":
        return str(element.get("type", "")).lower() == "application/ld+json"
    if element.tag == "time":
        return bool(element.get("datetime"))
    name = element.get("property") or element.get("name") or element.get("itemprop") or ""
    return any(word in name.lower() for word in ("date", "time", "publish", "modified"))


def _drop_hidden(tree: Any) -> None:
    """Remove what people do not see; trafilatura keeps some of it. The text after an element
    stays.
    """
    hidden = [
        one
        for one in tree.iter()
        if isinstance(one.tag, str) and (one.tag in _UNSEEN or _is_hidden(one.attrib))
    ]
    for element in hidden:
        if element.getparent() is not None:
            element.drop_tree()


def walk(html: str, url: str) -> tuple[dict[str, Any], str]:
    """Return title and visible text; linear in the size of the page, whatever its nesting."""
    walker = _TextWalker(url)
    with suppress(_Enough):
        walker.feed(html)
        walker.close()
    return {"title": walker.title(), "date": "", "scripts": walker.scripts}, walker.text()


def clean(text: str) -> str:
    """Remove invisible characters and blank lines in a row."""
    lines = [line.rstrip() for line in _INVISIBLE.sub("", text).splitlines()]
    kept = [line for number, line in enumerate(lines) if line or (number and lines[number - 1])]
    return "\n".join(kept).strip()


class _Enough(Exception):
    """The kept length of text is reached."""


class _TextWalker(HTMLParser):
    def __init__(self, url: str) -> None:
        super().__init__(convert_charrefs=True)
        self._url = url
        self.scripts = 0
        self._parts: list[str] = []
        self._chars = 0
        self._title: list[str] = []
        self._in_title = False
        self._skipping = ""  # name of the tag whose content is left out
        self._skip_depth = 0
        self._links: list[str] = []
        self._pre = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.scripts += tag == "script"
        if tag == "title":
            self._in_title = True
        if self._skipping:
            self._skip_depth += tag == self._skipping
            return
        given = dict(attrs)
        if tag not in _VOID and (tag in _SKIPPED or _is_hidden(given)):
            self._skipping, self._skip_depth = tag, 1
            return
        if tag in _BLOCKS:
            self._add("\n")
        elif tag in ("h1", "h2", "h3", "h4", "h5", "h6"):
            self._add(f"\n\n{'#' * int(tag[1])} ")
        elif tag == "li":
            self._add("\n- ")
        elif tag in ("td", "th"):
            self._add(" | ")
        elif tag == "a":
            self._links.append((given.get("href") or "")[:MAX_URL_CHARS])
            self._add("[")
        self._pre += tag == "pre"

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
        if self._skipping:
            self._skip_depth -= tag == self._skipping
            if not self._skip_depth:
                self._skipping = ""
            return
        if tag == "a" and self._links:
            href = ""
            with suppress(ValueError):
                href = urljoin(self._url, self._links.pop())
            self._add(f"]({href})" if href.startswith(("http://", "https://")) else "]")
        elif tag in _BLOCKS or tag in ("h1", "h2", "h3", "h4", "h5", "h6", "li"):
            self._add("\n")
        self._pre -= tag == "pre" and self._pre > 0

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self._title.append(data[:1000])
        elif not self._skipping:
            self._add(data if self._pre else _fold_spaces(data))

    def _add(self, text: str) -> None:
        self._parts.append(text)
        self._chars += len(text.strip())
        if self._chars > MAX_TEXT_CHARS:
            raise _Enough

    def title(self) -> str:
        return clean(" ".join("".join(self._title).split()))[:300]

    def text(self) -> str:
        return clean("".join(self._parts))


def _fold_spaces(data: str) -> str:
    words = " ".join(data.split())
    if not words:
        return " " if data else ""
    return f"{' ' * data[:1].isspace()}{words}{' ' * data[-1:].isspace()}"


def _is_hidden(attrs: Mapping[str, str | None]) -> bool:
    style = "".join((attrs.get("style") or "").lower().split())
    return (
        "hidden" in attrs
        or (attrs.get("aria-hidden") or "").lower() == "true"
        or any(
            rule in style
            for rule in ("display:none", "visibility:hidden", "font-size:0", "opacity:0;")
        )
        or style.endswith("opacity:0")
    )


if __name__ == "__main__":
    main()
