"""The folder of one bot: what is created, what is left alone, and which process holds it."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from bot.config.home import HomeFolder, resolve_home
from bot.errors import HomeLocked

HOLD = (
    "import sys; from pathlib import Path; from bot.config.home import HomeFolder; "
    "lock = HomeFolder(root=Path(sys.argv[1])).lock()"
)


@pytest.fixture
def home(tmp_path: Path) -> HomeFolder:
    home = HomeFolder(root=tmp_path / "bot")
    home.ensure()
    return home


def test_a_new_home_has_its_folders_and_live_files(home: HomeFolder) -> None:
    assert stat.S_IMODE(home.data.stat().st_mode) == 0o700
    assert home.blobs.is_dir()
    assert home.log.parent.is_dir()
    assert (home.workspace / "SOUL.md").read_text("utf-8").strip()
    assert (home.workspace / "MEMORY.md").exists()
    assert {path.parent for path in (home.db, home.web_token, home.lock_file)} == {home.data}


def test_what_people_wrote_stays(home: HomeFolder) -> None:
    (home.workspace / "SOUL.md").write_text("mine")
    (home.workspace / "MEMORY.md").unlink()
    home.ensure()
    assert (home.workspace / "SOUL.md").read_text() == "mine"
    assert (home.workspace / "MEMORY.md").exists()


def test_a_second_instance_is_told_who_holds_the_home(home: HomeFolder) -> None:
    assert home.running() == 0
    with home.lock():
        assert home.running() == os.getpid()
        with pytest.raises(HomeLocked, match=f"process {os.getpid()}.*{home.root}"):
            home.lock()
    assert home.running() == 0
    home.lock().release()


def test_looking_who_runs_keeps_nobody_out(home: HomeFolder) -> None:
    home.lock().release()
    looked = os.open(home.lock_file, os.O_RDONLY)
    os.close(looked)
    for _ in range(20):
        assert home.running() == 0
        home.lock().release()


@pytest.mark.kill
def test_a_killed_instance_leaves_the_home_free(home: HomeFolder) -> None:
    code = f"{HOLD}; print('held', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", code, str(home.root)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        assert home.running() == other.pid
        other.kill()
    assert home.running() == 0
    home.lock().release()


def test_the_home_is_the_one_asked_for_else_here_else_the_users(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    assert resolve_home(None).root == tmp_path / "me" / ".mnema"
    (tmp_path / "config.json").write_text("{}")
    assert resolve_home(None).root == tmp_path
    assert resolve_home(Path("elsewhere")).root == tmp_path / "elsewhere"
