"""Builds the wheel, makes environments, and runs an installed `mnema` as somebody who has only
that.
"""

import os
import re
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.conventions.sources import ROOT

SECONDS = 300.0  # of one command, on a busy machine
LINK = re.compile(r"login (http://[^/\s]+)/login#code=(\S+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """What a release uploads."""

    wheel: Path
    sdist: Path


def build(folder: Path) -> Built:
    """Build a source archive of the tree and the wheel from it, with the locked builder and no
    network.
    """
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT))
    [wheel], [sdist] = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return Built(wheel=wheel, sdist=sdist)


def build_wheel_of_tree(folder: Path) -> Path:
    """Build the wheel from the tree itself, without a source archive."""
    words = ("--no-isolation", "--wheel", "--outdir", str(folder), str(ROOT))
    run(sys.executable, "-m", "build", *words)
    [wheel] = folder.glob("*.whl")
    return wheel


def run(
    *words: str, environ: Mapping[str, str] | None = None, cwd: Path | None = None, code: int = 0
) -> str:
    """Run a command to its end; returns what it printed on both streams."""
    ended = subprocess.run(
        words,
        env=environ,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert ended.returncode == code, (
        f"{words} ended with {ended.returncode}: {ended.stdout[-3000:]}"
    )
    return ended.stdout


def empty_environ(home: Path, *folders: Path, **others: str) -> dict[str, str]:
    """An environment of somebody new: a folder of their own, and on the path these folders and the
    system's.
    """
    home.mkdir(exist_ok=True)
    path = os.pathsep.join([*map(str, folders), "/usr/bin", "/bin"])
    return {"HOME": str(home), "PATH": path, "LANG": "C.UTF-8", "PYTHONUNBUFFERED": "1", **others}


def install_beside_locked(wheel: Path, folder: Path) -> None:
    """Install the wheel alone into a new environment that finds the locked packages of ours.

    The path of our packages is added after its own. The checkout is not on it: a folder that a .pth
    names has no .pth of its own read.
    """
    run(sys.executable, "-m", "venv", "--without-pip", str(folder))
    python = str(folder / "bin" / "python")
    pip = (sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check")
    run(*pip, "install", "-q", "--no-index", "--no-deps", str(wheel))
    [packages] = (folder / "lib").glob("python*/site-packages")
    (packages / "locked.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")


def use(command: Path, environ: Mapping[str, str], folder: Path) -> None:
    """Do what somebody new does: ask for the version, say hello, open the page by its link, ask the
    doctor.
    """
    folder.mkdir(exist_ok=True)
    assert run(str(command), "--version", environ=environ, cwd=folder).startswith("mnema 0.2.")
    answer = run(str(command), "chat", "--once", "hello", environ=environ, cwd=folder)
    assert "not a language model" in answer
    assert run(str(command), "config", "set", "channels.web.port", "0", environ=environ, cwd=folder)
    with opened_page(command, environ, folder) as client:
        assert client.get("/api/conversations").status_code == 200
    assert "FAIL" not in run(str(command), "doctor", environ=environ, cwd=folder)


@contextmanager
def opened_page(command: Path, environ: Mapping[str, str], folder: Path) -> Iterator[httpx.Client]:
    """Run the bot, and yield a browser of it that signed in by the link of the first start."""
    words = [str(command), "run", "--open"]
    bot = subprocess.Popen(
        words, env=environ, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert bot.stdout is not None
    said = ""
    try:
        for line in bot.stdout:
            said += line
            if line.startswith("ready"):
                break
        found = LINK.search(said)
        assert found, said
        with httpx.Client(base_url=found[1], trust_env=False, timeout=60) as client:
            page = client.get("/login", headers={"accept": "text/html"})
            assert page.status_code == 200
            [script] = re.findall(r'src="(/static/assets/index-[^"]+)"', page.text)
            assert client.get(script).status_code == 200
            assert client.post("/login", json={"code": found[2]}).status_code == 200
            yield client
    finally:
        bot.terminate()
        bot.communicate(timeout=SECONDS)
    assert bot.returncode == 0
