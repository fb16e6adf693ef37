"""A config.json that is no regular file: refused with one sentence, and never read without an
end.
"""

import asyncio
import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.config.file import ConfigFile
from bot.config.home import HomeFolder
from bot.config.messages import ConfigRejected
from bot.errors import ConfigError
from bot.runtime.store_access import find_postgres_url
from tests.by_night import first_by_day
from tests.walk.harness import ROOT, until

ENOUGH = 600 * 2**20  # bytes of address space: far less than an endless file takes
SENTENCE = (
    "config.json: it cannot be read: it is a device, a pipe or a folder; put a plain file of at "
    "most 1 MB there."
)


def endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


def pipe(path: Path) -> None:
    os.mkfifo(path)


def folder(path: Path) -> None:
    path.mkdir()


def large(path: Path) -> None:
    with path.open("wb") as out:
        out.truncate(2**40)


ODD = pytest.mark.parametrize("odd", [endless, pipe, folder, large])


def mnema(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command with a memory limit."""
    called = [sys.executable, "-m", "bot", "--home", str(home), *words]
    limit = (ENOUGH, ENOUGH)
    return subprocess.run(
        called,
        cwd=ROOT,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, limit),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("odd", first_by_day(1, [endless, pipe]))
def test_the_start_is_refused_with_one_sentence(
    tmp_path: Path, odd: Callable[[Path], None]
) -> None:
    odd(tmp_path / "config.json")
    ran = mnema(tmp_path, "run")
    assert (ran.returncode, ran.stdout, ran.stderr) == (3, "", f"mnema: {SENTENCE}\n")


@ODD
def test_what_is_no_small_plain_file_is_refused_by_all_that_read_it(
    tmp_path: Path, odd: Callable[[Path], None]
) -> None:
    path = tmp_path / "config.json"
    odd(path)
    file = ConfigFile(path, {})
    for act in (file.check, file.load, lambda: file.set("language", "en")):
        with pytest.raises(ConfigRejected) as refused:
            act()
        assert str(refused.value) in (SENTENCE, "config.json: the file is larger than 1 MB.")
    (tmp_path / "data").mkdir()
    with pytest.raises(ConfigError):
        find_postgres_url(HomeFolder(root=tmp_path))


@ODD
async def test_a_reload_that_meets_it_keeps_the_settings_and_says_so(
    tmp_path: Path, odd: Callable[[Path], None]
) -> None:
    path = tmp_path / "config.json"
    path.write_text('{"agent_max_steps": 4}')
    file = ConfigFile(path, {}, poll_seconds=0.01)
    file.load()
    path.unlink()
    odd(path)
    told: list[ConfigRejected] = []

    async def change(config: object) -> None:
        raise AssertionError("nothing changed")

    async def error(trouble: ConfigRejected) -> None:
        told.append(trouble)

    watch = asyncio.create_task(file.watch(change, error))
    await until(lambda: told, "the trouble is told")
    watch.cancel()
    assert file.current.agent_max_steps == 4
    assert str(told[0]) in (SENTENCE, "config.json: the file is larger than 1 MB.")


@ODD
def test_an_odd_last_good_copy_is_neither_read_nor_a_reason_to_fail(
    tmp_path: Path, odd: Callable[[Path], None]
) -> None:
    path = tmp_path / "config.json"
    path.write_text('{"agent_max_steps": 4}')
    odd(path.with_name("config.json.last-good"))
    file = ConfigFile(path, {})
    assert file.load().agent_max_steps == 4
    path.write_text("{")
    if odd is not large:  # which the good text has replaced
        with pytest.raises(ConfigRejected):
            file.load()


def test_a_link_to_a_plain_file_is_read_and_never_written_through(tmp_path: Path) -> None:
    mounted = tmp_path / "mounted.json"
    mounted.write_text(json.dumps({"agent_max_steps": 4}))
    path = tmp_path / "config.json"
    path.symlink_to(mounted)
    file = ConfigFile(path, {})
    assert file.load().agent_max_steps == 4
    with pytest.raises(ConfigRejected, match=r"^config.json: it cannot be written: .*\.$"):
        file.set("agent_max_steps", "5")
    assert json.loads(mounted.read_text()) == {"agent_max_steps": 4}


def test_a_file_of_exactly_one_megabyte_is_read_and_one_byte_more_is_not(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text("{" + " " * 999_998 + "}")
    ConfigFile(path, {}).load()
    path.write_text("{" + " " * 999_999 + "}")
    with pytest.raises(ConfigRejected, match="larger than 1 MB"):
        ConfigFile(path, {}).check()
