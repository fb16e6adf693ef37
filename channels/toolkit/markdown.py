"""Draws Markdown as plain text, and is the base of other renderers; bounds the work a text can
cause.

Pure.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

# Opening brackets, each of which costs some 30 µs to parse; a text with more is shown as written.
MAX_BRACKETS = 1_000
# Cells of tables, each of which costs some 30 µs; cells that rows leave out are filled up and count
# too.
MAX_CELLS = 3_000
MAX_NESTING = 60  # levels; deeper text is shown as written
MAX_MARKDOWN = (
    # characters; nothing else bounds the cost of emphasis marks, so a longer text is shown as
    # written
    20_000
)
_TABLE_RULE = frozenset(" \t|:-")
_LINE_END = re.compile(r"\r\n?|\n")
_RULE = "———"
_BULLET = "• "
_BOXES = {"[ ] ": "☐ ", "[x] ": "☑ ", "[X] ": "☑ "}


@dataclass(slots=True, eq=False)
class Node:
    """A token, or an opening token with everything up to its closing one."""

    #: The token's, without `_open`.
    type: str
    token: Token
    children: list["Node"] = field(default_factory=list)

    def attribute(self, name: str) -> str:
        """Return an attribute's value, "" if it is missing."""
        return str(self.token.attrs.get(name, ""))


def parse_markdown(markdown: str) -> list[Node] | None:
    """Parse a text to its blocks; None if that would take too long, and the text should be shown as
    written.
    """
    if markdown.count("[") > MAX_BRACKETS or _max_cells(markdown) > MAX_CELLS:
        return None
    tokens = _parser().parse(markdown)
    return None if any(token.level >= MAX_NESTING for token in tokens) else _tree(tokens)


def to_plain(markdown: str) -> str:
    """Remove the marks; addresses of links follow their text, and tables become a line for each
    row.
    """
    blocks = parse_markdown(markdown) if len(markdown) <= MAX_MARKDOWN else None
    return markdown if blocks is None else PlainRenderer().blocks(blocks)


class PlainRenderer:
    """Draws blocks as plain text. A subclass overrides the methods for what its platform can
    show.
    """

    def blocks(self, nodes: Sequence[Node], separator: str = "\n\n") -> str:
        """Draw blocks below each other."""
        return separator.join(filter(None, map(self._block, nodes)))

    def inlines(self, node: Node) -> str:
        """Draw the content of a block or a mark."""
        drawn = [self.inline(child) for child in node.children]
        for index, child in enumerate(node.children):
            around = drawn[index - 1 : index] + drawn[index + 1 : index + 2]
            if (
                child.type == "em"
                and index
                and len(around) == 2
                and around[0][-1:].isalnum()
                and around[1][:1].isalnum()
            ):
                # 2*3*4 is not 234
                drawn[index] = f"{child.token.markup}{drawn[index]}{child.token.markup}"
        return "".join(drawn)

    def inline(self, node: Node) -> str:
        """Draw one inline node."""
        match node.type:
            case "text":
                return self.text(node.token.content)
            case "softbreak" | "hardbreak":
                return "\n"
            case "code_inline":
                return self.code(node.token.content)
            case "link":
                return self.link(node.attribute("href"), self.inlines(node))
            case "image":
                return self.link(node.attribute("src"), self.text(node.token.content))
            case _:
                return self.mark(node.type, self.inlines(node))

    def _block(self, node: Node) -> str:
        match node.type:
            case "heading":
                return self.heading(self.inlines(node))
            case "fence" | "code_block":
                return self.code_block(
                    node.token.content.removesuffix("\n"), node.token.info.strip()
                )
            case "bullet_list" | "ordered_list":
                return self._list(node)
            case "blockquote":
                return self.quote(node)
            case "table":
                rows = [row for part in node.children for row in part.children]
                return self.table(
                    [
                        [self.inlines(cell).replace("\n", " ") for cell in row.children]
                        for row in rows
                    ]
                )
            case "hr":
                return _RULE
            case _:
                return self.inlines(node)

    def _list(self, node: Node) -> str:
        first = int(node.attribute("start") or 1)
        return "\n".join(
            self.list_item(
                f"{number}. " if node.type == "ordered_list" else _BULLET,
                self.blocks(item.children, "\n"),
            )
            for number, item in enumerate(node.children, first)
        )

    def text(self, text: str) -> str:
        return text

    def code(self, text: str) -> str:
        return text

    def mark(self, kind: str, drawn: str) -> str:
        """kind: "strong", "em" or "s"; other nodes without a method of their own come here too."""
        return f"~~{drawn}~~" if kind == "s" else drawn

    def link(self, address: str, drawn: str) -> str:
        if not address or address in drawn or address == f"mailto:{drawn}":
            return drawn
        return f"{drawn} ({address})" if drawn else address

    def heading(self, drawn: str) -> str:
        return f"【{drawn}】"

    def code_block(self, code: str, language: str) -> str:
        return code

    def list_item(self, mark: str, drawn: str) -> str:
        drawn = drawn.replace("\n", "\n  ")
        box = _BOXES.get(drawn[:4]) if mark == _BULLET else None
        return box + drawn[4:] if box else mark + drawn

    def quote(self, node: Node) -> str:
        return "\n".join(f"> {line}".rstrip() for line in self.blocks(node.children).split("\n"))

    def table(self, rows: list[list[str]]) -> str:
        """Draw each row as a line: in a chat's proportional font, columns cannot be aligned."""
        return "\n".join([" | ".join(rows[0]), *("• " + " | ".join(row) for row in rows[1:])])


def _max_cells(markdown: str) -> int:
    """Return an upper bound of table cells: each line below a table's rule may be filled up to its
    width.
    """
    if "|" not in markdown or "-" not in markdown:
        return 0
    cells = columns = 0
    for line in _LINE_END.split(markdown):
        content = line.strip(" \t>")
        if not content:
            columns = 0
        elif content[0] in "|:-" and "-" in content and _TABLE_RULE.issuperset(content):
            columns = max(columns, content.strip("| \t").count("|") + 1)
            cells += columns
        else:
            cells += columns
    return cells


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": MAX_NESTING + 2}).enable(
        ["strikethrough", "table"]
    )
    # An unused link definition would vanish from the text: definitions stay visible instead.
    return parser.disable("reference")


def _tree(tokens: Sequence[Token]) -> list[Node]:
    """Nest a flat list of tokens in one pass."""
    level: list[Node] = []
    levels: list[list[Node]] = []
    for token in tokens:
        if token.nesting < 0:
            level = levels.pop()
            continue
        node = Node(token.type.removesuffix("_open") if token.nesting else token.type, token)
        level.append(node)
        if token.nesting:
            levels.append(level)
            level = node.children
        elif token.children:
            node.children = _tree(token.children)
    return level
