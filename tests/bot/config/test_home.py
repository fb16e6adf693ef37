"""The folder of one bot: what is created, what is left alone, and which process holds it."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from bot.config.home import HomeFolder, resolve_home
from bot.errors import HomeLocked
from memory.workspace.templates import SOUL_TEMPLATES, remove_hint

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


def test_what_no_command_may_change_is_there_from_the_start(home: HomeFolder) -> None:
    folders = {path.name for path in home.workspace.iterdir() if path.is_dir()}
    assert folders == {"memory", "rules", "skills", "tools", "spaces", "files"}
    for name in ("spaces", "files"):
        (home.workspace / name).rmdir()
    (home.workspace / "files").write_text("a file of my own")
    (home.workspace / "skills").rmdir()
    (home.workspace / "skills").symlink_to("nowhere")
    home.ensure()
    assert (home.workspace / "spaces").is_dir(), "an older home gets it, too"
    assert (home.workspace / "files").read_text() == "a file of my own"
    assert (home.workspace / "skills").is_symlink()


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


@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_persona_is_in_the_chosen_language_unless_somebody_wrote_it(
    home: HomeFolder, language: str
) -> None:
    soul = home.workspace / "SOUL.md"
    home.set_soul_language(language)
    assert ("我" in soul.read_text("utf-8")) is (language == "zh")
    soul.write_text("mine")
    home.set_soul_language("en")
    assert soul.read_text() == "mine"


def test_a_new_persona_is_in_the_machines_language(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LC_ALL", raising=False)
    monkeypatch.delenv("LC_MESSAGES", raising=False)
    for locale, chinese in (("zh_CN.UTF-8", True), ("fr_FR.UTF-8", False)):
        monkeypatch.setenv("LANG", locale)
        home = HomeFolder(root=tmp_path / locale)
        home.ensure()
        assert ("我" in (home.workspace / "SOUL.md").read_text("utf-8")) is chinese


@pytest.mark.parametrize("template", SOUL_TEMPLATES.values(), ids=SOUL_TEMPLATES)
def test_the_hint_for_people_is_no_part_of_the_persona(template: Path) -> None:
    text = template.read_text("utf-8")
    assert text.startswith("<!--")
    assert remove_hint(text) == text.partition("\n")[2]
    assert remove_hint(remove_hint(text)) == remove_hint(text)


@pytest.mark.parametrize(
    "soul", ["<!-- my own note -->\nI am Bo.", "I am Bo. <!-- still I -->", ""]
)
def test_every_other_comment_is_the_owners_text(soul: str) -> None:
    assert remove_hint(soul) == soul
