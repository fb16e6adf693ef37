"""Markdown as Telegram's HTML: whatever the Markdown holds, the result parses, and no letter of it is lost. Pure."""

import re
from html import escape, unescape

from channels.toolkit.markdown import Node, blocks_of

# Only of HTML that is made here: in it `<` begins a tag and nothing else, no link stands in a link, no code in code.
_TAG = re.compile(r"<[^<>]*+>")
_ANCHOR = re.compile(r'<a href="([^"<]*+)">([^<\n]*+(?:<(?!/?a\b)[^<\n]*+)*+)</a>')
_CODE = re.compile(r"(<pre>[^<]*+(?:<(?!/?pre>)[^<]*+)*+</pre>)")
_LANGUAGE = re.compile(r"[A-Za-z0-9_+#.-]{1,40}")
_INLINE_TAGS = {"strong": "b", "em": "i", "s": "s"}
_RULE = "———"


def to_html(markdown: str) -> str:
    """The Markdown in the tags that Telegram's HTML mode knows; headings become bold, tables fixed-width text.

    Raw HTML is shown, not interpreted, and only web links become links. "" when nothing visible would be left.
    """
    blocks = blocks_of(markdown)
    if blocks is None:
        return escape(markdown, quote=False)
    html = _blocks(blocks, "\n\n")
    return html if visible_text(html).strip() else ""


def visible_text(html: str) -> str:
    """What a reader sees of HTML that `to_html` made."""
    return unescape(_TAG.sub("", html))


def _blocks(nodes: list[Node], between: str) -> str:
    return between.join(filter(None, map(_block, nodes)))


def _block(node: Node) -> str:
    match node.type:
        case "heading":
            return f"<b>{_inlines(node)}</b>"
        case "fence" | "code_block":
            return _code(node)
        case "bullet_list" | "ordered_list":
            return _list(node)
        case "blockquote":
            return _quote(node)
        case "table":
            return f"<pre>{escape(_table(node), quote=False)}</pre>"
        case "hr":
            return _RULE
        case _:
            return _inlines(node)


def _code(node: Node) -> str:
    code = escape(node.content.removesuffix("\n"), quote=False)
    language = _LANGUAGE.match(node.token.info.strip())
    if not code.strip():
        return ""
    return f'<pre><code class="language-{language[0]}">{code}</code></pre>' if language else f"<pre>{code}</pre>"


def _list(node: Node) -> str:
    first = int(node.attribute("start") or 1)
    items = []
    for number, item in enumerate(node.children, first):
        mark = "• " if node.type == "bullet_list" else f"{number}. "
        items.append(mark + _indent_lines(_blocks(item.children, "\n")))
    return "\n".join(items)


def _indent_lines(html: str) -> str:
    """Further lines under their item's first; lines of code stay as they are."""
    pieces = _CODE.split(html)
    return "".join(piece if piece.startswith("<pre>") else piece.replace("\n", "\n  ") for piece in pieces)


def _quote(node: Node) -> str:
    inside = _blocks(node.children, "\n\n")
    parent = node.parent
    while parent is not None:
        if parent.type == "blockquote":  # Telegram does not nest quotes
            return inside
        parent = parent.parent
    return f"<blockquote>{inside}</blockquote>"


def _table(node: Node) -> str:
    """Rows as text with columns under each other."""
    rows = [
        [visible_text(_ANCHOR.sub(r"\2 (\1)", _inlines(cell))).replace("\n", " ") for cell in row.children]
        for part in node.children
        for row in part.children
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [" | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([lines[0], "-+-".join("-" * width for width in widths), *lines[1:]])


def _inlines(node: Node) -> str:
    return "".join(map(_inline, node.children))


def _inline(node: Node) -> str:
    match node.type:
        case "softbreak" | "hardbreak":
            return "\n"
        case "code_inline":
            return f"<code>{escape(node.content, quote=False)}</code>"
        case "strong" | "em" | "s":
            tag = _INLINE_TAGS[node.type]
            return f"<{tag}>{_inlines(node)}</{tag}>"
        case "link":
            return _link(node.attribute("href"), _inlines(node))
        case "image":
            return _link(node.attribute("src"), escape(node.content, quote=False))
        case "text":
            return escape(node.content, quote=False)
        case _:
            return _inlines(node)


def _link(address: str, shown: str) -> str:
    """A web link; any other address (a mention of a person, say) is written out and links nowhere."""
    if address.startswith(("http://", "https://")):
        return f'<a href="{escape(address)}">{shown or escape(address, quote=False)}</a>'
    return f"{shown} ({escape(address, quote=False)})" if address and address not in visible_text(shown) else shown
