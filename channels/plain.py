"""Markdown as text that reads well where nothing is drawn: marks go, words, lists, tables and code stay. Pure."""

from channels.markdown_tree import Node, blocks_of

LONGEST = 20_000
"""Characters; a longer text is shown as it is written, for nothing bounds what its marks would cost to read."""
_RULE = "———"
_BOXES = {"[ ] ": "☐ ", "[x] ": "☑ ", "[X] ": "☑ "}


def to_plain(markdown: str) -> str:
    """The Markdown without its marks; links are followed by their address, tables become a line for each row."""
    if len(markdown) > LONGEST:
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
