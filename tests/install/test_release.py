"""`scripts/release.sh` with emulated tools: a second run goes on where the first one failed; and
what `install.sh` fetches.
"""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conventions.sources import ROOT

# Builds two files; their text counts the builds.
PYTHON = """#!/bin/sh
echo "build" >>"{log}"
mkdir -p dist
grep -c build "{log}" >dist/mnema_bot-9.9.9-py3-none-any.whl
grep -c build "{log}" >dist/mnema_bot-9.9.9.tar.gz
"""
# Notes what is uploaded; fails for a file that {refused} names.
UVX = """#!/bin/sh
case "$*" in
*cyclonedx*) for last; do :; done; echo "{{}}" >"$last" ;;
*upload*)
    for last; do :; done
    if [ -e "{refused}" ] && grep -qF "$(basename "$last")" "{refused}"; then exit 1; fi
    echo "upload $(basename "$last")" >>"{log}"
    ;;
esac
"""
DOCKER = """#!/bin/sh
echo "docker" >>"{log}"
"""
GPG = """#!/bin/sh
cat >/dev/null
printf '\\n[GNUPG:] SIG_CREATED D\\n' >&2
echo "-----BEGIN PGP SIGNATURE-----"
echo "-----END PGP SIGNATURE-----"
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkout:
    """A small project with the script, and tools that write down their calls."""

    root: Path
    log: Path
    refused: Path

    def run(self, *words: str, code: int = 0) -> str:
        path = os.pathsep.join([str(self.root / ".venv" / "bin"), os.environ["PATH"]])
        ended = subprocess.run(
            words,
            cwd=self.root,
            env={"PATH": path, "HOME": str(self.root.parent), "IMAGE": "registry.invalid/mnema"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode == code, ended.stderr
        return ended.stdout + ended.stderr

    def publish(self, code: int = 0) -> str:
        return self.run("scripts/release.sh", "--publish", code=code)

    def calls(self) -> list[str]:
        return self.log.read_text().splitlines()


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    root, tools = tmp_path / "checkout", tmp_path / "checkout" / ".venv" / "bin"
    made = Checkout(root=root, log=tmp_path / "calls", refused=tmp_path / "refused")
    tools.mkdir(parents=True)
    programs = {"python": PYTHON, "uvx": UVX, "docker": DOCKER, "gpg": GPG}
    for name, text in programs.items():
        (tools / name).write_text(text.format(log=made.log, refused=made.refused))
        (tools / name).chmod(0o700)
    (root / "scripts").mkdir()
    shutil.copy(ROOT / "scripts" / "release.sh", root / "scripts")
    (root / "pyproject.toml").write_text('version = "9.9.9"\n')
    (root / "CHANGELOG.md").write_text("## [9.9.9] - 2026-11-20\n")
    (root / ".gitignore").write_text("dist/\n.venv/\n")
    made.run("git", "init", "-q")
    made.run("git", "init", "-q", "--bare", str(tmp_path / "origin"))
    made.run("git", "remote", "add", "origin", str(tmp_path / "origin"))
    for setting in ("user.name=N", "user.email=n@example.invalid", f"gpg.program={tools / 'gpg'}"):
        name, _, value = setting.partition("=")
        made.run("git", "config", name, value)
    made.run("git", "add", ".")
    made.run("git", "commit", "-qm", "Release")
    return made


def test_a_release_goes_on_where_it_failed(checkout: Checkout) -> None:
    checkout.refused.write_text("mnema_bot-9.9.9.tar.gz")
    checkout.publish(code=1)
    assert checkout.calls() == ["build", "upload mnema_bot-9.9.9-py3-none-any.whl"]
    checkout.refused.unlink()
    assert "is out" in checkout.publish()
    assert checkout.calls()[2:] == ["upload mnema_bot-9.9.9.tar.gz", "docker"]
    assert "is out" in checkout.publish()
    assert checkout.calls()[4:] == ["docker"], "an image is pushed again, as it is the same"
    assert checkout.run("git", "ls-remote", "--tags", "origin").count("v9.9.9") == 2


def test_another_commit_is_built_again_and_never_gets_the_same_number(checkout: Checkout) -> None:
    checkout.publish()
    (checkout.root / "README.md").write_text("more\n")
    checkout.run("git", "add", ".")
    checkout.run("git", "commit", "-qm", "More")
    assert "of another commit" in checkout.publish(code=1)
    assert checkout.calls().count("build") == 2
    assert checkout.calls().count("docker") == 1


def test_install_sh_fetches_the_uv_that_the_tests_use() -> None:
    locked = (ROOT / "requirements-dev.lock").read_text("utf-8").partition("\nuv==")[2].split()[0]
    assert f"\nuv=uv=={locked} " in (ROOT / "install.sh").read_text("utf-8")
