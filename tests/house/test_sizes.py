"""How large things may be: files, functions, lists of arguments, nesting."""

import ast

from tests.house.sources import functions, product, sources

FILE, TEST_FILE, FUNCTION, ARGUMENTS, NESTING = 600, 800, 50, 6, 3
STILL_DEEPER = 14  # functions nested a level too deep: this figure only goes down
STILL_MORE = {"advance"}  # a fold's step carries what the step found
BLOCKS = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.Match)


def test_no_file_is_too_long() -> None:
    long = [(s.name, lines) for s in product() if (lines := s.text.count("\n")) > FILE]
    long += [(s.name, lines) for s in sources("tests", "benchmarks") if (lines := s.text.count("\n")) > TEST_FILE]
    assert not long


def test_no_function_is_too_long() -> None:
    long = [
        f"{source.name}:{function.lineno} {function.name}"
        for source in product()
        for function in functions(source.tree)
        if (function.end_lineno or 0) - function.lineno > FUNCTION
    ]
    assert not long


def test_no_function_takes_more_than_six_arguments() -> None:
    many = [
        f"{source.name}:{function.lineno} {function.name} takes {count}"
        for source in product()
        for function in functions(source.tree)
        if not _is_a_command(function) and function.name not in STILL_MORE
        if (count := _arguments(function)) > ARGUMENTS
    ]
    assert not many


def test_no_function_is_nested_too_deeply() -> None:
    deep = [
        f"{source.name}:{function.lineno} {function.name}"
        for source in product()
        for function in functions(source.tree)
        if _depth(function.body) > NESTING
    ]
    assert len(deep) <= STILL_DEEPER, deep


def _arguments(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """A constructor may take any number by keyword: they are what the object works with."""
    args = function.args
    by_keyword = [] if function.name == "__init__" else args.kwonlyargs
    names = [arg.arg for arg in (*args.posonlyargs, *args.args, *by_keyword)]
    return len([name for name in names if name not in ("self", "cls")])


def _is_a_command(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """A command's arguments are its options: the command line's library reads them from the signature."""
    annotations = [arg.annotation for arg in function.args.args if arg.annotation]
    return any(ast.unparse(annotation) == "typer.Context" for annotation in annotations)


def _depth(body: list[ast.stmt]) -> int:
    return max((_depth_of(statement) for statement in body), default=0)


def _depth_of(statement: ast.stmt) -> int:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) or not isinstance(
        statement, BLOCKS
    ):
        return 0
    inner = [_depth(getattr(statement, part, [])) for part in ("body", "finalbody")]
    inner += [_depth(handler.body) for handler in getattr(statement, "handlers", [])]
    inner += [_depth(case.body) for case in getattr(statement, "cases", [])]
    other = getattr(statement, "orelse", [])
    elif_chain = isinstance(statement, ast.If) and len(other) == 1 and isinstance(other[0], ast.If)
    after = _depth(other) - 1 if elif_chain else _depth(other)
    return 1 + max(*inner, after)
