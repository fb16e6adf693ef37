"""Markdown as Telegram's HTML.

The result of any Markdown is valid, and none of its letters is lost. Pure.
"""

import re
from html import escape, unescape

from channels.toolkit.markdown import Node, PlainRenderer, parse_markdown

# These read only HTML made here: `<` always begins a tag, links do not nest in links, nor code in
# code.
_TAG = re.compile(r"<[^<>]*+>")
_ANCHOR = re.compile(r'<a href="([^"<]*+)">([^<\n]*+(?:<(?!/?a\b)[^<\n]*+)*+)</a>')
_CODE = re.compile(r"(<pre>[^<]*+(?:<(?!/?pre>)[^<]*+)*+</pre>)")
_LANGUAGE = re.compile(r"[A-Za-z0-9_+#.-]{1,40}")
_INLINE_TAGS = {"strong": "b", "em": "i", "s": "s"}


def to_html(markdown: str) -> str:
    """Render Markdown with the tags of Telegram's HTML mode: headings are bold, tables fixed-width
    text.

    Raw HTML is shown, not interpreted, and only web links become links. "" if nothing visible would
    be left.
    """
    blocks = parse_markdown(markdown)
    if blocks is None:
        return _escape(markdown)
    html = HtmlRenderer().blocks(blocks)
    return html if visible_text(html).strip() else ""


def visible_text(html: str) -> str:
    """Return what a reader sees of HTML that `to_html` made."""
    return unescape(_TAG.sub("", html))


class HtmlRenderer(PlainRenderer):
    """Draws one text with Telegram's tags."""

    def __init__(self) -> None:
        self._in_quote = False

    def inlines(self, node: Node) -> str:
        return "".join(map(self.inline, node.children))

    def text(self, text: str) -> str:
        return _escape(text)

    def code(self, text: str) -> str:
        return f"<code>{_escape(text)}</code>"

    def mark(self, kind: str, drawn: str) -> str:
        tag = _INLINE_TAGS.get(kind)
        return f"<{tag}>{drawn}</{tag}>" if tag else drawn

    def link(self, address: str, drawn: str) -> str:
        """Link web addresses only; another, such as a mention of a user, is written out."""
        if address.startswith(("http://", "https://")):
            return f'<a href="{escape(address)}">{drawn or _escape(address)}</a>'
        return (
            f"{drawn} ({_escape(address)})"
            if address and address not in visible_text(drawn)
            else drawn
        )

    def heading(self, drawn: str) -> str:
        return f"<b>{drawn}</b>"

    def code_block(self, code: str, language: str) -> str:
        if not code.strip():
            return ""
        known = _LANGUAGE.match(language)
        return (
            f'<pre><code class="language-{known[0]}">{_escape(code)}</code></pre>'
            if known
            else _fixed_width(code)
        )

    def list_item(self, mark: str, drawn: str) -> str:
        """Indent the lines below the first one; lines of code stay as they are."""
        pieces = _CODE.split(drawn)
        return mark + "".join(
            one if one.startswith("<pre>") else one.replace("\n", "\n  ") for one in pieces
        )

    def quote(self, node: Node) -> str:
        outer, self._in_quote = self._in_quote, True
        drawn = self.blocks(node.children)
        self._in_quote = outer
        # Telegram does not nest quotes
        return drawn if outer else f"<blockquote>{drawn}</blockquote>"

    def table(self, rows: list[list[str]]) -> str:
        """Align the columns of a table in fixed-width text."""
        texts = [[visible_text(_ANCHOR.sub(r"\2 (\1)", cell)) for cell in row] for row in rows]
        widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
        lines = [
            " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in texts
        ]
        return _fixed_width(
            "\n".join([lines[0], "-+-".join("-" * width for width in widths), *lines[1:]])
        )


def _fixed_width(text: str) -> str:
    return f"<pre>{_escape(text)}</pre>"


def _escape(text: str) -> str:
    return escape(text, quote=False)
