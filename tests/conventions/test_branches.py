"""A function has twelve branches at most, counted honestly: a branch that moved into an expression
is still one.
"""

import ast

from tests.conventions.sources import functions, product

MAX_BRANCHES = 12


def test_no_function_has_too_many_branches() -> None:
    branched = [
        (source.name, function.name, count)
        for source in product()
        for function in functions(source.tree)
        if (count := count_branches(function)) > MAX_BRANCHES
    ]
    assert branched == []


def count_branches(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Count the branches of a function; those of functions and classes in it are their own."""
    count = 0
    nodes: list[ast.AST] = [*function.body]
    while nodes:
        node = nodes.pop()
        count += _branches_of(node)
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            nodes.extend(ast.iter_child_nodes(node))
    return count


def _branches_of(node: ast.AST) -> int:
    match node:
        case ast.If() | ast.IfExp() | ast.For() | ast.AsyncFor() | ast.While():
            return 1
        case ast.ExceptHandler():
            return 1
        case ast.match_case(guard=guard):
            return 1 if guard is None else 2
        case ast.BoolOp(values=values):
            return len(values) - 1
        case ast.comprehension(ifs=conditions):
            return 1 + len(conditions)
    return 0


def test_each_kind_of_branch_counts() -> None:
    code = """
def counted(rows):
    for row in rows:                      # 1
        if row and row.a or row.b:        # 2: if; 3, 4: and, or
            pass
        elif row.c:                       # 5
            break
    while rows:                           # 6
        try:
            pass
        except ValueError:                # 7
            pass
    match rows:
        case []:                          # 8
            pass
        case [row] if row:                # 9, 10: case and its guard
            pass
    def own(row):
        if row:
            pass
    return [a if b else c for a in rows if b]  # 11: conditional expression; 12, 13: for, if
"""
    function = next(functions(ast.parse(code)))
    assert count_branches(function) == 13
