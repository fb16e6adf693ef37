"""Markdown as a tree of what is drawn, within bounds on the work that a text can make; pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

# Opening brackets, each of which costs some 30 µs to read; a text with more is shown as it is written.
MAX_BRACKETS = 1_000
# Cells of tables, each of which costs some 30 µs; those that rows leave out and that are filled up count too.
MAX_CELLS = 3_000
MAX_NESTING = 60  # levels of nesting that are still read; deeper text is shown as it is written
_OF_RULE = frozenset(" \t|:-")
_LINE_END = re.compile(r"\r\n?|\n")


@dataclass(slots=True, eq=False)
class Node:
    """One token, or all from an opening one to the closing one."""

    #: As the token's, without `_open`.
    type: str
    token: Token
    parent: "Node | None" = None
    children: list["Node"] = field(default_factory=list)

    @property
    def content(self) -> str:
        return self.token.content

    @property
    def markup(self) -> str:
        return self.token.markup

    def attribute(self, name: str) -> str:
        """Its value, "" where it has none."""
        return str(self.token.attrs.get(name, ""))


def blocks_of(markdown: str) -> list[Node] | None:
    """The blocks of a text; None for one that would take too long to read, which is shown as it is written."""
    if markdown.count("[") > MAX_BRACKETS or max_cells(markdown) > MAX_CELLS:
        return None
    tokens = _parser().parse(markdown)
    if any(token.level >= MAX_NESTING for token in tokens):
        return None
    return _tree(tokens, None)


def max_cells(markdown: str) -> int:
    """More cells than the tables of a text can have: each line below the rule of a table may be filled up to it."""
    if "|" not in markdown or "-" not in markdown:
        return 0
    cells = columns = 0
    for line in _LINE_END.split(markdown):
        inside = line.strip(" \t>")
        if not inside:
            columns = 0
        elif inside[0] in "|:-" and "-" in inside and _OF_RULE.issuperset(inside):
            columns = max(columns, inside.strip("| \t").count("|") + 1)
            cells += columns
        else:
            cells += columns
    return cells


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": MAX_NESTING + 2}).enable(["strikethrough", "table"])
    # A definition nobody refers to would vanish from the text: definitions stay visible instead.
    return parser.disable("reference")


def _tree(tokens: Sequence[Token], parent: Node | None) -> list[Node]:
    """The nodes on the first level, each with those below it: one step for each token."""
    first: list[Node] = []
    level, above = first, parent
    levels: list[tuple[list[Node], Node | None]] = []
    for token in tokens:
        if token.nesting < 0:
            level, above = levels.pop()
            continue
        node = Node(token.type.removesuffix("_open") if token.nesting else token.type, token, above)
        level.append(node)
        if token.nesting:
            levels.append((level, above))
            level, above = node.children, node
        elif token.children:
            node.children = _tree(token.children, node)
    return first
