"""What a mutant is, and how it changes a file."""

import ast
import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One wrong change inside one function, class or constant; it stays right when that is moved or
    formatted anew.
    """

    name: str
    #: The invariant that it breaks, else a word for it.
    guards: str
    file: str
    #: Qualified name of what is changed, e.g. `Gateway.send_next`; the name of a constant for its
    #: assignment.
    target: str
    #: Code that stands once in the target, as `ast.unparse` writes it: one statement a line,
    #: 'quotes', no comments. Blanks and indentation are ignored.
    old: str
    #: What stands there instead, indented like the beginning of `old`.
    new: str
    #: Node ids, every one of which is run; at least one has to fail.
    tests: tuple[str, ...]


def mutated(text: str, mutant: Mutant) -> str:
    """Return a file's text with the mutant applied, without its comments.

    Raises:
        ValueError: the target does not exist once, or does not contain the code to replace exactly
            once.
        SyntaxError: what results is no Python.
    """
    tree = ast.parse(text)
    statements, position = find_target(tree, mutant)
    statements[position : position + 1] = changed(statements[position], mutant)
    return ast.unparse(tree)


def changed(target: ast.stmt, mutant: Mutant) -> list[ast.stmt]:
    """Return what replaces the target; raises what `mutated` does."""
    code = ast.unparse(target)
    matches = list(re.finditer(r"\s+".join(map(re.escape, mutant.old.split())), code))
    if len(matches) != 1:
        raise ValueError(
            f"its code occurs {len(matches)} times in {mutant.target} of {mutant.file}"
        )
    start, end = matches[0].span()
    line = code[code.rfind("\n", 0, start) + 1 : start]
    indent = line[: len(line) - len(line.lstrip())]
    return ast.parse(code[:start] + mutant.new.replace("\n", f"\n{indent}") + code[end:]).body


def find_target(tree: ast.Module, mutant: Mutant) -> tuple[list[ast.stmt], int]:
    """Return the statements among which the target is, and its position; raises ValueError as
    `mutated` does.
    """
    *classes, name = mutant.target.split(".")
    statements = tree.body
    for owner in classes:
        statements = next(
            (
                node.body
                for node in statements
                if isinstance(node, ast.ClassDef) and node.name == owner
            ),
            [],
        )
    positions = [
        position for position, node in enumerate(statements) if _defined_name(node) == name
    ]
    if len(positions) != 1:
        raise ValueError(f"{mutant.target} occurs {len(positions)} times in {mutant.file}")
    return statements, positions[0]


def _defined_name(node: ast.stmt) -> str:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return name
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return name
    return ""
