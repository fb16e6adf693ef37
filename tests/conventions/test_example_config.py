"""config.example.json is what the program would print, and means what the defaults mean."""

import json
from pathlib import Path

from bot.config.file import ConfigFile
from bot.config.keys import KEYS
from bot.config.loader import format_example
from bot.config.schema import Config
from tests.conventions.sources import ROOT


def test_the_example_file_is_current() -> None:
    assert (ROOT / "config.example.json").read_text("utf-8") == format_example(), (
        "run: mnema config example > config.example.json"
    )


def test_the_example_is_taken_and_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(format_example())
    assert ConfigFile(tmp_path / "config.json", {}).load() == Config()


def test_the_example_turns_on_no_channel_that_has_no_credentials() -> None:
    channels = json.loads((ROOT / "config.example.json").read_text("utf-8"))["channels"]
    assert {name: keys["enabled"] for name, keys in channels.items()} == {
        "web": True,
        "telegram": False,
        "feishu": False,
        "wechat": False,
        "wechat_mp": False,
        "wecom": False,
    }


def test_the_example_shows_every_key_and_every_key_is_explained() -> None:
    shown = json.loads(format_example())
    for key in KEYS.values():
        assert all(text.text(lang) for text in (key.title, key.about) for lang in ("en", "zh")), (
            key.name
        )
        if "*" not in key.path and key.path[:2] != ("memory", "embedding"):
            section = shown
            for step in key.path:
                section = section[step]
