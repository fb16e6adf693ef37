"""Limits on modules and functions; a module splits for a second reason to read it, never
for a number.
"""

from tests.conventions.sources import functions, product, sources

MAX_LINES, MAX_TEST_LINES, MAX_FUNCTION_LINES = 600, 800, 60


def test_no_module_is_too_long() -> None:
    assert [source.name for source in product() if source.lines > MAX_LINES] == []
    assert [
        source.name for source in sources("tests", "benchmarks") if source.lines > MAX_TEST_LINES
    ] == []


def test_no_function_is_too_long() -> None:
    assert [
        (source.name, function.name)
        for source in product()
        for function in functions(source.tree)
        if (function.end_lineno or 0) - function.lineno > MAX_FUNCTION_LINES
    ] == []
