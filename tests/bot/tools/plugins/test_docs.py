"""The examples of docs/tools/plugins.md run as a reader runs them: a file with its test, a package
with its guard.
"""

import re
from pathlib import Path
from runpy import run_path
from typing import Any

import pytest

from bot.plugins import PluginError, ScriptedContext, call, define
from bot.tools.base import GuardedCall
from bot.tools.plugins.library import check_definitions
from bot.tools.plugins.runner import PluginSource, describe_plugin
from tests.bot.tools.exec.sandboxed import needs_sandbox
from tests.conventions.sources import ROOT

PAGES = ["docs/tools/plugins.md", "docs/tools/plugins.zh-CN.md"]
BLOCK = re.compile(r"^```python\n# (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def examples(page: str = PAGES[0]) -> dict[str, str]:
    return dict(BLOCK.findall((ROOT / page).read_text("utf-8")))


def write(folder: Path) -> Path:
    for name, text in examples().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def test_both_languages_show_the_same_examples() -> None:
    assert examples(PAGES[0]) == examples(PAGES[1])
    assert len(examples()) == 3


@needs_sandbox
async def test_the_file_is_enabled_as_it_stands_there() -> None:
    source = PluginSource(name="weather", text=examples()["workspace/tools/weather.py"])
    (found,) = check_definitions(await describe_plugin(source), [])
    assert (found.name, found.needs, found.description) == (
        "weather",
        ("WEATHER_KEY",),
        "Forecast for a city.",
    )


def test_the_test_of_the_file_passes(tmp_path: Path) -> None:
    run_path(str(write(tmp_path) / "workspace/tools/test_weather.py"))[
        "test_a_forecast_is_one_line_a_day"
    ]()


async def test_the_package_converts_and_its_guard_refuses(tmp_path: Path) -> None:
    module = run_path(str(write(tmp_path) / "mnema_units/__init__.py"))
    convert = module["convert_length"]
    assert define(convert).effect == "pure"
    assert await call(convert, ScriptedContext(), value=2, source="mi", target="km") == "3.21869 km"
    with pytest.raises(PluginError, match="source"):
        await call(convert, ScriptedContext(), value=2, source="yd", target="km")

    def guarded(**arguments: Any) -> GuardedCall:
        fields = dict.fromkeys(
            ("tool", "effect", "origin", "space", "conversation", "channel", "person"), ""
        )
        return GuardedCall(arguments=arguments, **fields)

    assert module["check"](guarded(value=2e9))
    assert not module["check"](guarded(value=2))
    assert not module["check"](guarded())
