"""A channel of another distribution, installed from a folder: found, set up in the page, chatted
through.
"""

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.conventions.sources import ROOT
from tests.emulators.model import ModelEmulator
from tests.walk.harness import ColdBot, command, environment, settings, until
from tests.walk.speech import answer, asked

SOURCE = ROOT / "tests/channels/foreign"
BROKEN = "[mnema.channels]\nbroken = missing_module:Channel\n"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of installed packages, with the channel in it."""
    target = tmp_path_factory.mktemp("site")
    options = (
        "--no-index",
        "--no-deps",
        "--no-build-isolation",
        "--disable-pip-version-check",
        "-q",
        "--target",
    )
    install = [sys.executable, "-m", "pip", "install", *options, str(target), str(SOURCE)]
    subprocess.run(install, check=True, capture_output=True, text=True, timeout=120)
    return target


def mnema(site: Path, home: Path, *words: str) -> str:
    """What a command says, with the packages of that folder installed."""
    known = {**environment(home), "PYTHONPATH": os.pathsep.join((str(site), str(ROOT)))}
    line = command("--home", str(home), *words)
    done = subprocess.run(line, cwd=home, env=known, capture_output=True, text=True, timeout=60)
    return done.stdout + done.stderr


@pytest.fixture
async def bot(site: Path, tmp_path: Path) -> AsyncIterator[ColdBot]:
    async with ModelEmulator() as model:
        model.responder = answer
        config = settings(model.url)
        config["channels"]["box"] = {"path": str(tmp_path / "box"), "owners": ["me"]}
        bot = ColdBot(tmp_path / "home", config)
        bot.extra["PYTHONPATH"] = str(site)
        await bot.start()
        yield bot
        await bot.term()


async def test_a_foreign_channel_is_chatted_through_and_set_up_in_the_page(
    bot: ColdBot, tmp_path: Path
) -> None:
    (tmp_path / "box/in/1.txt").write_text(asked("token-1"), "utf-8")
    [reply] = await until(lambda: list((tmp_path / "box/out").glob("*.md")), "a reply")
    assert "token-1" in reply.read_text("utf-8")
    assert "box" in (await bot.web.get("/api/status"))["channels"]
    known = await bot.web.get("/api/v1/config/keys")
    keys = {key["key"]: key for key in known["items"]}
    assert (keys["channels.box"]["title_zh"], keys["channels.box"]["title_en"]) == (
        "文件夹",
        "Folder",
    )
    path = keys["channels.box.path"]
    assert (path["title_zh"], path["example"]) == ("路径", "/srv/box")
    part = {"channels": {"box": {"enabled": True, "path": str(tmp_path / "other")}}}
    response = await bot.web.ask("POST", "/api/v1/channels/box/test", json={"part": part})
    findings = [json.loads(line) for line in response.text.splitlines()]
    assert [(found["step"], found["state"]) for found in findings] == [
        ("settings", "ok"),
        ("credentials", "ok"),
    ]


def test_a_channel_that_cannot_be_imported_is_named_and_hurts_no_other(
    site: Path, tmp_path: Path
) -> None:
    broken = tmp_path / "site"
    info = broken / "mnema_broken-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mnema-broken\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(BROKEN)
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.json").write_text(
        json.dumps({"channels": {"box": {"path": str(tmp_path / "box")}}})
    )
    both = Path(os.pathsep.join((str(broken), str(site))))
    said = mnema(both, home, "doctor")
    assert "mnema-broken" in said
    assert "missing_module" in said
    assert str(tmp_path / "box") in said
    schema = json.loads(mnema(both, home, "config", "schema"))
    assert "Folder" in json.dumps(schema["properties"]["channels"])
