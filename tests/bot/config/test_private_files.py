"""S62: no other account of the machine can read the files of the program."""

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path

import pytest

from bot.cli.doctor.report import check_private
from bot.cli.doctor.texts import ShownCheck, show_checks
from bot.cli.main import main
from bot.config.home import HomeFolder, close_entries
from tests.bot.inside import inside
from tests.walk.harness import until

NOBODY = 65534
MODES = {stat.S_IFDIR: 0o700, stat.S_IFREG: 0o600}


def mnema(home: Path, *commands: str) -> None:
    """Run commands in a fork of this process, with the usual umask."""

    def run() -> None:
        os.umask(0o022)
        sys.exit(any(main(["--home", str(home), *command.split(" ")]) for command in commands))

    process = get_context("fork").Process(target=run)
    process.start()
    process.join()
    assert process.exitcode == 0


def open_to_others(*roots: Path) -> dict[str, str]:
    """List what is not 0700 or 0600 at these paths and below."""
    modes = {}
    for path in [path for root in roots for path in (root, *root.rglob("*"))]:
        with suppress(FileNotFoundError):  # a temporary file that a running bot has renamed since
            if not path.is_symlink():
                modes[str(path)] = path.lstat().st_mode
    return {
        path: oct(mode & 0o777)
        for path, mode in modes.items()
        if mode & 0o777 != MODES.get(stat.S_IFMT(mode), mode & 0o777)
    }


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder that every account may enter, like /srv."""
    folder = Path(tempfile.mkdtemp(prefix="mnema-test-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def loose(root: Path) -> None:
    """A home of an older version."""
    for path in (root, *root.rglob("*")):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() else 0o644)


@pytest.mark.kill
def test_S62_everything_that_the_program_makes_is_for_its_account_alone(shared: Path) -> None:
    home, out = shared / "bot", shared / "out"
    out.mkdir(mode=0o700)
    export = f"sessions export main --out {out}/talk.jsonl"
    mnema(home, "init --yes", "chat --once hello", "memory index", f"backup {out}/b.tar.gz", export)
    assert sorted(path.name for path in out.iterdir()) == ["b.tar.gz", "talk.jsonl"]
    assert {"mnema.db", "log", "blobs", "index", "lock"} <= {
        path.name for path in (home / "data").iterdir()
    }
    assert open_to_others(home, out) == {}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another account")
def test_S62_another_account_reads_nothing_of_a_home_made_by_an_older_version(shared: Path) -> None:
    home = shared / "bot"
    mnema(home, "init --yes")
    loose(home)

    def read() -> int:
        asked = ["cat", str(home / "workspace" / "MEMORY.md")]
        return subprocess.run(
            asked, user=NOBODY, group=NOBODY, extra_groups=[], capture_output=True
        ).returncode

    assert read() == 0
    mnema(home, "init --yes")
    assert read() != 0
    assert open_to_others(home) == {}


def shown_private(home: HomeFolder) -> ShownCheck:
    [check] = show_checks([check_private(home)], "en")
    return check


def test_only_what_is_ours_is_closed(tmp_path: Path) -> None:
    home = HomeFolder(root=tmp_path / "bot")
    home.ensure()
    outside = tmp_path / "outside"
    outside.mkdir()
    outside.chmod(0o755)  # whatever the umask is
    for name in ("linked", "hard"):
        (outside / name).write_text("theirs")
        (outside / name).chmod(0o644)
    (home.workspace / "folder").symlink_to(outside)
    (home.workspace / "file").symlink_to(outside / "linked")
    os.link(outside / "hard", home.workspace / "hard")
    os.mkfifo(home.workspace / "pipe", 0o644)
    (home.workspace / "spaces" / "web-1").mkdir(parents=True)
    (home.workspace / "spaces" / "web-1" / "notes.md").write_text("x")
    (home.workspace / "tool.sh").write_text("x")
    (home.workspace / "tool.sh").chmod(0o755)
    assert main(["--home", str(home.root), "init", "--yes"]) == 0
    left = open_to_others(tmp_path)
    assert left.pop(str(home.workspace / "tool.sh")) == "0o700"
    assert left == {
        str(outside): "0o755",
        str(outside / "linked"): "0o644",
        str(outside / "hard"): "0o644",
        str(home.workspace / "hard"): "0o644",
    }
    assert tmp_path.stat().st_mode & 0o777 == 0o700  # as pytest made it


def test_a_checkout_keeps_its_own_files_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "bot" / "cli").mkdir(parents=True)
    (tmp_path / "workspace").mkdir()
    shipped = [
        tmp_path / name for name in ("bot/cli/main.py", "pyproject.toml", "workspace/README.md")
    ]
    for path in shipped:
        path.write_text("x")
    (tmp_path / "config.json").write_text("{}")
    loose(tmp_path)
    assert main(["--home", str(tmp_path), "init", "--yes"]) == 0
    assert open_to_others(tmp_path) == {
        str(tmp_path): "0o755",
        str(tmp_path / "bot"): "0o755",
        str(tmp_path / "bot" / "cli"): "0o755",
        **{str(path): "0o644" for path in shipped},
    }
    assert (tmp_path / "workspace").stat().st_mode & 0o777 == 0o700
    assert check_private(HomeFolder(root=tmp_path)).ok


def test_files_and_folders_that_only_begin_with_our_names_are_left_as_they_are(
    tmp_path: Path,
) -> None:
    kept = "before-restore.20261123T080000Z"
    ours = (
        "config.json",
        "config.json.last-good",
        f"config.json.{kept}",
        f"data.{kept}/m.db",
        ".restore.json",
    )
    theirs = (
        "data.csv",
        "data.tar.gz",
        "workspace.code-workspace",
        "workspace.old/notes.md",
        ".restored.txt",
    )
    for name in (
        *ours,
        *theirs,
        ".restore-20261123T080000Z/config.json",
        "workspace/notes.md",
        "data/m.db",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")
    loose(tmp_path)
    close_entries(HomeFolder(root=tmp_path))
    left = {str(tmp_path / name): "0o644" for name in theirs}
    assert open_to_others(tmp_path) == {
        str(tmp_path): "0o755",
        str(tmp_path / "workspace.old"): "0o755",
        **left,
    }


async def test_a_running_bot_closes_what_was_open(tmp_path: Path) -> None:
    HomeFolder(root=tmp_path).ensure()
    (tmp_path / "workspace" / "MEMORY.md").chmod(0o644)
    (tmp_path / "config.json.last-good").write_text("{}")
    (tmp_path / "config.json.last-good").chmod(0o644)
    async with inside(tmp_path, lambda asked: "yes"):
        await until(lambda: not open_to_others(tmp_path), "everything is closed")


def test_doctor_names_what_is_open_and_the_command_that_closes_it(tmp_path: Path) -> None:
    home = HomeFolder(root=tmp_path / "my bot")
    home.ensure()
    assert shown_private(home).ok
    (home.workspace / "MEMORY.md").chmod(0o644)
    found = shown_private(home)
    assert not found.ok
    assert found.message == f"Other accounts can open {home.workspace}/MEMORY.md (mode 0644)."
    assert found.hint == f"Run: chmod 600 '{home.workspace}/MEMORY.md'"
    home.data.chmod(0o750)
    found = shown_private(home)
    assert found.message == f"Other accounts can open {home.data} (mode 0750), and 1 more."
    assert (
        found.hint == f"Run: chmod 700 '{home.data}'; the next start of mnema restricts the rest."
    )
    subprocess.run(["sh", "-c", found.hint.removeprefix("Run: ").partition(";")[0]], check=True)
    assert shown_private(home).message.startswith(
        f"Other accounts can open {home.workspace}/MEMORY.md"
    )


def test_doctor_names_a_workspace_that_was_put_elsewhere_by_a_link(tmp_path: Path) -> None:
    home = HomeFolder(root=tmp_path / "bot")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes").chmod(0o755)
    home.root.mkdir()
    home.workspace.symlink_to(tmp_path / "notes")
    home.ensure()
    assert main(["--home", str(home.root), "init", "--yes"]) == 0
    assert shown_private(home).hint == f"Run: chmod 700 {tmp_path}/notes"
    assert (tmp_path / "notes").stat().st_mode & 0o777 == 0o755
