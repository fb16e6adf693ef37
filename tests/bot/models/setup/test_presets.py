"""Presets are whole, and a configured endpoint is found again."""

import re

import pytest

from bot.config.sections.llm import LlmConfig
from bot.models.setup.presets import LOCAL_PRESETS, PRESETS, find_preset
from tests.cases import every_case
from tests.conventions.sources import ROOT


def test_every_preset_makes_a_valid_configuration() -> None:
    for preset in PRESETS.values():
        LlmConfig(provider=preset.provider, base_url=preset.base_url, background=preset.background)
        assert preset.title
        assert preset.key_page.startswith("https://") or not preset.needs_key


def test_local_servers_are_asked_at_this_machine_only() -> None:
    assert {preset.port for preset in LOCAL_PRESETS} == {11434, 1234, 8080, 8000}
    assert all(preset.base_url == f"http://127.0.0.1:{preset.port}/v1" for preset in LOCAL_PRESETS)


@every_case(
    "provider, base_url, id",
    [
        ("anthropic", "", "anthropic"),
        ("openai", "", "openai"),
        ("openai", "https://api.deepseek.com/v1/", "deepseek"),
        ("openai", "https://api.moonshot.ai/v1", "kimi"),
        ("openai", "http://10.0.0.7:11434/v1", "own"),
    ],
)
def test_the_preset_of_a_configured_endpoint_is_found(
    provider: str, base_url: str, id: str
) -> None:
    preset = find_preset(provider, base_url)
    assert preset is not None
    assert preset.id == id


def test_offline_has_no_preset() -> None:
    assert find_preset("offline", "") is None


@pytest.mark.parametrize(
    ("page", "either"), [("docs/models.md", " or "), ("docs/models.zh-CN.md", " 或 ")]
)
def test_the_table_of_the_docs_is_that_of_the_presets(page: str, either: str) -> None:
    rows = re.findall(
        r"^\| `(\w+)` \| (.+) \| (.+) \| `(\w+)` \|$",
        (ROOT / page).read_text("utf-8"),
        re.MULTILINE,
    )
    assert [row[0] for row in rows] == list(PRESETS)
    for (_, address, key, background), preset in zip(rows, PRESETS.values(), strict=True):
        urls = [f"`{url}`" for url in (preset.base_url, preset.other_base_url) if url]
        assert address == either.join(urls) or not urls
        assert key == f"`{preset.key_variable}`" or not preset.needs_key
        assert background == preset.background


@pytest.mark.parametrize("page", ["docs/models.md", "docs/models.zh-CN.md"])
def test_the_docs_have_the_lines_that_set_each_local_window(page: str) -> None:
    text = (ROOT / page).read_text("utf-8")
    assert [preset.id for preset in LOCAL_PRESETS if preset.set_window not in text] == []
