"""`mnema extras add` and `mnema upgrade` where a package manager owns the environment.

The managers here write down what they are asked; by night the ways in are tried with real ones.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.install.environments import empty_environ, run

# Writes its words down, one call a line, with what is in the folder of backups by then.
MANAGER = """#!/bin/sh
echo "$(basename "$0") $* [$(ls "$HOME/.mnema/backups" 2>/dev/null | wc -l)]" >>"{log}"
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """An installed program and the calls of package managers so far."""

    command: Path
    environ: Mapping[str, str]
    log: Path

    def mnema(self, *words: str, code: int = 0) -> str:
        return run(str(self.command), *words, environ=self.environ, cwd=self.log.parent, code=code)

    def calls(self) -> list[str]:
        prefix = str(self.command.parent.parent)
        return (
            self.log.read_text().replace(prefix, "PREFIX").splitlines() if self.log.exists() else []
        )


@pytest.fixture
def install(environment: Path, tmp_path: Path) -> Iterator[Callable[[str], Installed]]:
    """Marks the environment as the one of a manager, by the file that the manager leaves there."""
    marks = []

    def mark_as(mark: str) -> Installed:
        marks.append(environment / mark)
        marks[-1].touch()
        for name in ("uv", "pipx"):
            manager = tmp_path / "bin" / name
            manager.parent.mkdir(exist_ok=True)
            manager.write_text(MANAGER.format(log=tmp_path / "calls"))
            manager.chmod(0o700)
        environ = empty_environ(tmp_path / "home", tmp_path / "bin")
        command = environment / "bin" / "mnema"
        return Installed(command=command, environ=environ, log=tmp_path / "calls")

    yield mark_as
    for mark in marks:
        mark.unlink()


LOCK = "PREFIX/lib/python3.11/site-packages/bot/locks/requirements-embeddings.lock"
WORDS = f"--require-hashes --no-deps -r {LOCK} [0]"


def test_uv_installs_extras_from_the_lock_with_hashes_into_the_tools_environment(
    install: Callable[[str], Installed],
) -> None:
    here = install("uv-receipt.toml")
    assert "restart mnema" in here.mnema("extras", "add", "embeddings", "--yes")
    assert here.calls() == [
        f"uv pip install --python PREFIX/bin/python {WORDS}",
        "uv pip check --python PREFIX/bin/python [0]",
    ]


def test_pipx_installs_extras_by_its_own_pip(install: Callable[[str], Installed]) -> None:
    here = install("pipx_metadata.json")
    here.mnema("extras", "add", "embeddings", "--yes")
    assert here.calls() == [
        f"pipx runpip mnema-bot install {WORDS}",
        "pipx runpip mnema-bot check [0]",
    ]
    assert "pipx upgrade mnema-bot" in here.mnema("upgrade")
    assert len(here.calls()) == 2, "an upgrade by pipx is said and not done"


def test_uv_tool_upgrades_after_a_backup_and_the_extras_come_back(
    install: Callable[[str], Installed],
) -> None:
    here = install("uv-receipt.toml")
    here.mnema("chat", "--once", "hello")
    assert "no terminal to ask for confirmation; pass --yes" in here.mnema("upgrade", code=1)
    assert here.calls() == []
    said = here.mnema("upgrade", "--yes")
    assert here.calls()[0] == "uv tool upgrade mnema-bot [1]", "the backup was there before"
    assert "extras add --yes vectors" in said
    [backup] = (here.log.parent / "home" / ".mnema" / "backups").iterdir()
    assert "is intact" in here.mnema("restore", "--verify", str(backup)) or backup.stat().st_size


def test_an_image_is_not_changed_from_inside(install: Callable[[str], Installed]) -> None:
    here = install("no-mark")
    inside = Installed(
        command=here.command, environ={**here.environ, "MNEMA_CONTAINER": "1"}, log=here.log
    )
    assert 'EXTRAS="embeddings"' in inside.mnema("extras", "add", "embeddings", "--yes", code=1)
    assert "new image" in inside.mnema("upgrade")
    assert here.calls() == []
