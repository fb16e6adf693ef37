"""A table of cases as one test: with an id for each, thousands of them would be collected."""

import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest


def every_case(
    names: str | tuple[str, ...], cases: Iterable[Any]
) -> Callable[[Callable[..., Any]], Callable[[], Any]]:
    """Run a test that has no fixtures with each case, then fail with all cases that failed.

    Args:
        names: of the test's arguments, as for `pytest.mark.parametrize`.
        cases: a tuple of values each; for one argument, the value.
    """
    arguments = (
        [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    )
    table = [
        dict(zip(arguments, case if len(arguments) > 1 else (case,), strict=True)) for case in cases
    ]

    def as_one_test(test: Callable[..., Any]) -> Callable[[], Any]:
        def run() -> None:
            faults: list[BaseException] = []
            for case in table:
                with _collected(faults, case):
                    test(**case)
            _raise_all(faults, len(table))

        async def run_async() -> None:
            faults: list[BaseException] = []
            for case in table:
                with _collected(faults, case):
                    await test(**case)
            _raise_all(faults, len(table))

        one_test = run_async if inspect.iscoroutinefunction(test) else run
        one_test.__name__, one_test.__qualname__ = test.__name__, test.__qualname__
        one_test.__module__, one_test.__doc__ = test.__module__, test.__doc__
        return one_test

    return as_one_test


@contextmanager
def _collected(faults: list[BaseException], case: dict[str, Any]) -> Iterator[None]:
    try:
        yield
    except (Exception, pytest.fail.Exception) as err:
        values = ", ".join(f"{name}={repr(value)[:200]}" for name, value in case.items())
        err.add_note(f"in the case {values}")
        faults.append(err)


def _raise_all(faults: list[BaseException], count: int) -> None:
    if faults:
        raise BaseExceptionGroup(f"{len(faults)} of {count} cases failed", faults)
