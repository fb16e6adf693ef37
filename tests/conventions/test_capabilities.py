"""The table of what channels can do is what they say of themselves."""

import pytest

from channels.registry import CLASS_PATHS
from scripts.channel_table import NAMES, table
from tests.conventions.sources import ROOT


@pytest.mark.parametrize(("lang", "page"), [("en", "README.md"), ("zh", "README.zh-CN.md")])
def test_the_page_has_the_table_as_it_is_made_now(lang: str, page: str) -> None:
    assert table(lang) in (ROOT / "docs" / "channels" / page).read_text("utf-8")  # type: ignore[arg-type]


def test_every_channel_has_its_row() -> None:
    assert set(NAMES) == set(CLASS_PATHS)
