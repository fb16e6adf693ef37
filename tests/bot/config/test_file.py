"""config.json on disk: broken edits, other writers, modes, kills, and changes while the bot
runs.
"""

import asyncio
import json
import os
import signal
import stat
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from multiprocessing import get_context
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.config.file import ConfigFile
from bot.config.loader import parse_nodes
from bot.config.messages import ConfigRejected
from bot.config.schema import Config
from memory.failpoints import arm
from tests.by_night import examples

# Literals, so that the product is not compared with itself.
LOOK_EVERY = 0.5


@pytest.fixture
def file(tmp_path: Path) -> ConfigFile:
    file = ConfigFile(tmp_path / "config.json", {}, poll_seconds=0.05)
    file.create()
    file.load()
    return file


def test_a_first_file_is_made_once_and_for_its_owner_only(tmp_path: Path) -> None:
    file = ConfigFile(tmp_path / "config.json", {})
    assert file.create()
    assert not file.create()
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600


def test_a_broken_file_at_start_leaves_the_last_good_settings(file: ConfigFile) -> None:
    file.set("agent_max_steps", "9")
    broken = file.path.read_text().replace('"language": "auto",', '"language": ,')
    file.path.write_text(broken)
    again = ConfigFile(file.path, {})
    assert again.load().agent_max_steps == 9
    assert str(again.trouble) == "config.json, line 5, column 15: a value is missing here."
    assert again.trouble is not None
    assert again.trouble.say("zh") == "config.json 第 5 行第 15 列：这里缺少一个值。"
    assert file.path.read_text() == broken


def test_an_edit_is_looked_for_often_enough() -> None:
    assert 2 * LOOK_EVERY <= 2


def test_a_broken_first_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"agent_max_steps": 0}')
    with pytest.raises(
        ConfigRejected, match=r"config\.json, line 1, column 21: agent_max_steps is 0"
    ):
        ConfigFile(tmp_path / "config.json", {}).load()


def test_a_broken_file_is_not_changed_by_a_command(file: ConfigFile) -> None:
    file.path.write_text("{")
    with pytest.raises(ConfigRejected, match="closing bracket is missing"):
        file.set("agent_max_steps", "9")
    assert file.path.read_text() == "{"


@settings(max_examples=examples(150), deadline=None)
@given(st.integers(0, 400), st.integers(0, 255))
def test_a_flipped_byte_neither_stops_the_start_nor_touches_the_file(place: int, byte: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = ConfigFile(Path(folder) / "config.json", {})
        file.create()
        file.load()
        data = bytearray(file.path.read_bytes())
        data[place % len(data)] = byte
        file.path.write_bytes(data)
        again = ConfigFile(file.path, {})
        assert isinstance(again.load(), Config)
        assert file.path.read_bytes() == bytes(data)


@pytest.mark.parametrize("data", [b"\xff\xfe", b'{"a": "\xe4"}', b"", b"\x00", b" " * 1_000_001])
def test_bytes_that_are_no_text_are_refused_with_a_sentence(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "config.json").write_bytes(data)
    with pytest.raises(ConfigRejected, match=r"^config\.json.*\.$"):
        ConfigFile(tmp_path / "config.json", {}).load()


@pytest.mark.parametrize("mode", ["0644", "0640", "0620", "0604", "0660"])
def test_a_secret_that_others_may_read_or_write_is_refused_with_the_remedy(
    file: ConfigFile, mode: str
) -> None:
    file.set("channels.telegram.token", "123456:abcdefghijklmnop")
    file.path.chmod(int(mode, 8))
    with pytest.raises(ConfigRejected, match=rf"mode {mode}\); run: chmod 600 {file.path}"):
        ConfigFile(file.path, {}).load()


def test_a_reference_is_no_secret_and_may_be_read(file: ConfigFile) -> None:
    file.set("channels.telegram.token", "${TELEGRAM_TOKEN}")
    file.path.chmod(0o644)
    assert ConfigFile(file.path, {}).load() == Config()


def test_a_secret_written_by_a_command_closes_the_file(file: ConfigFile) -> None:
    file.path.chmod(0o644)
    file.set("channels.telegram.token", "123456:abcdefghijklmnop")
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600


@pytest.mark.parametrize("key", [{}, {"api_key": ""}])
def test_an_empty_key_beside_another_provider_is_written(
    tmp_path: Path, key: dict[str, str]
) -> None:
    file = ConfigFile(tmp_path / "config.json", {"OPENAI_API_KEY": "sk-env-0123456789"})
    file.path.write_text(json.dumps({"llm": {"provider": "offline", **key}}))
    file.load()
    part = {"llm": {"provider": "openai", "api_key": "", "base_url": "http://127.0.0.1:9/v1"}}
    assert file.preview(part).llm.api_key == ""
    assert file.check_part(part) == {}
    assert file.patch(part).llm.api_key == ""
    assert json.loads(file.path.read_text())["llm"]["api_key"] == ""


def test_all_settings_as_they_are_shown_change_nothing(tmp_path: Path) -> None:
    file = ConfigFile(tmp_path / "config.json", {"OPENAI_API_KEY": "sk-env-0123456789"})
    for provider in ("offline", "openai"):
        file.path.write_text(json.dumps({"llm": {"provider": provider}}))
        before, key = file.path.read_bytes(), file.load().llm.api_key
        assert file.patch(file.masked()).llm.api_key == key
        assert file.path.read_bytes() == before


def test_a_hand_edit_made_meanwhile_is_kept(file: ConfigFile) -> None:
    hand = json.dumps({"agent_max_steps": 3}, indent=4)
    file.path.write_text(hand)
    file.set("language", "zh")
    assert file.current.agent_max_steps == 3
    assert file.path.read_text() == '{\n    "agent_max_steps": 3,\n    "language": "zh"\n}'


def test_a_folder_that_takes_no_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "config.json").mkdir()
    with pytest.raises(ConfigRejected, match="cannot be read"):
        ConfigFile(tmp_path / "config.json", {}).load()


@pytest.mark.kill
@pytest.mark.parametrize(
    "place",
    ["file.tmp_written", "file.replaced", "file.synced", "file.dir_synced"],
)
def test_a_kill_leaves_the_old_file_or_the_new_one(file: ConfigFile, place: str) -> None:
    old = file.path.read_bytes()

    def change() -> None:
        arm({"MNEMA_TEST": "1", "MNEMA_FP": f"{place}:kill9"})
        ConfigFile(file.path, {}).set("language", "zh")

    process = get_context("fork").Process(target=change)
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    found = file.path.read_bytes()
    assert found in (old, old.replace(b'"auto"', b'"zh"'))
    assert parse_nodes(found.decode(), "config.json")
    assert ConfigFile(file.path, {}).set("language", "en").language == "en"


class Told:
    """Collects the reports of a watcher, in order; `next` waits for one."""

    def __init__(self) -> None:
        self.news: asyncio.Queue[Config | ConfigRejected] = asyncio.Queue()

    async def next(self) -> Config | ConfigRejected:
        return await asyncio.wait_for(self.news.get(), 2)


@asynccontextmanager
async def watched(file: ConfigFile) -> AsyncIterator[Told]:
    told = Told()
    task = asyncio.create_task(file.watch(told.news.put, told.news.put))
    yield told
    task.cancel()


async def test_an_edit_is_told_within_two_seconds(file: ConfigFile) -> None:
    async with watched(file) as told:
        file.path.write_text('{"agent_max_steps": 3}')
        assert (await told.next()).agent_max_steps == 3
        assert file.current.agent_max_steps == 3


async def test_a_change_by_command_is_told_too(file: ConfigFile) -> None:
    async with watched(file) as told:
        file.set("agent_max_steps", "4")
        assert (await told.next()).agent_max_steps == 4


async def test_a_broken_edit_is_told_once_and_the_last_good_one_holds(file: ConfigFile) -> None:
    async with watched(file) as told:
        file.path.write_text('{"agent_max_steps": 3')
        trouble = await told.next()
        assert isinstance(trouble, ConfigRejected)
        assert "line 1, column 22" in str(trouble)
        assert file.current.agent_max_steps == 15
        os.utime(file.path)
        file.path.write_text('{"agent_max_steps": 5}')
        assert (await told.next()).agent_max_steps == 5
        assert told.news.empty()
        assert file.trouble is None


async def test_a_vanished_file_is_told_and_the_settings_hold(file: ConfigFile) -> None:
    file.set("agent_max_steps", "4")
    async with watched(file) as told:
        assert (await told.next() if not told.news.empty() else file.current) == file.current
        file.path.unlink()
        assert "it is missing" in str(await told.next())
        assert file.current.agent_max_steps == 4
