"""A table of cases fails with every case that failed, and says which."""

import asyncio

import pytest

from tests.cases import every_case


def _is_even(number: int) -> None:
    assert number % 2 == 0


async def _sums(first: int, second: int) -> None:
    assert first + second == 3


def test_all_cases_are_run_and_each_that_fails_is_named() -> None:
    with pytest.raises(BaseExceptionGroup, match="2 of 4 cases failed") as failed:
        every_case("number", [1, 2, 3, 4])(_is_even)()
    assert [err.__notes__ for err in failed.value.exceptions] == [
        ["in the case number=1"],
        ["in the case number=3"],
    ]
    every_case(("number",), [2, 4])(_is_even)()


def test_of_a_test_that_is_awaited_too() -> None:
    asyncio.run(every_case("first, second", [(1, 2), (3, 0)])(_sums)())
    with pytest.raises(BaseExceptionGroup, match="1 of 2"):
        asyncio.run(every_case("first, second", [(1, 2), (1, 1)])(_sums)())


def test_a_case_with_too_few_values_is_refused() -> None:
    with pytest.raises(ValueError, match="zip"):
        every_case("first, second", [(1,)])
