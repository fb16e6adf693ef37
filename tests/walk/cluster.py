"""A PostgreSQL server of a test's own, to be restarted, killed and stopped as nobody may do to one
that is shared.
"""

import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

UNPRIVILEGED = ("postgres", "nobody")
SECONDS = 60
PLACES = "/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql*/bin"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """A running server. url: of a new database in it; data: its folder; user: whose process it is,
    "" for ours.
    """

    url: str
    data: Path
    user: str

    def restart(self, mode: str) -> None:
        """mode: "fast" ends every session; "immediate" is a crash, after which it recovers from its
        log.
        """
        self.end(mode)
        self.begin()

    def end(self, mode: str) -> None:
        self._control("stop", "-m", mode)

    def begin(self) -> None:
        self._control("start", "-l", str(self.data / "server.log"))

    def freeze(self) -> None:
        """Every process of the server stops where it is; connections stay open and nothing is
        answered.
        """
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal(signal.SIGCONT)

    def _signal(self, number: int) -> None:
        postmaster = (self.data / "postmaster.pid").read_text().split()[0]
        children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
        for pid in [postmaster, *children]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), number)

    def _control(self, *words: str) -> None:
        _run(self.user, "pg_ctl", "-D", str(self.data), "-w", "-t", str(SECONDS), *words)


@cache
def binaries() -> Path | None:
    """The folder with the server's programs, None where there is none."""
    found = shutil.which("pg_ctl")
    if found:
        return Path(found).parent
    places = sorted(
        path for place in PLACES for path in Path("/").glob(place[1:]) if (path / "pg_ctl").exists()
    )
    return places[-1] if places else None


@cache
def unprivileged() -> str | None:
    """Who a server may run as: "" for ourselves, None when we are root and there is nobody else."""
    if os.geteuid():
        return ""
    known = {entry.pw_name for entry in pwd.getpwall()}
    return next((name for name in UNPRIVILEGED if name in known), None)


def why_not() -> str:
    """Why no server can be started here, "" where one can."""
    if binaries() is None:
        return "the programs of a PostgreSQL server (initdb, pg_ctl) are not on this machine"
    if unprivileged() is None:
        return "a PostgreSQL server does not run as root, and there is no user postgres or nobody"
    return ""


@contextmanager
def cluster(*, durable: bool = False) -> Iterator[Cluster]:
    """A new server with one empty database; its folder is removed at the end. durable: it waits for
    the disk.
    """
    if why := why_not():
        pytest.skip(why)
    user = unprivileged() or ""
    folder = Path(tempfile.mkdtemp(prefix="mnema-pg"))
    try:
        if user:
            os.chown(folder, pwd.getpwnam(user).pw_uid, pwd.getpwnam(user).pw_gid)
        data, port = folder / "data", _free_port()
        _run(
            user,
            "initdb",
            "-D",
            str(data),
            "-U",
            "postgres",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--locale=C",
            "--no-sync",
        )
        with (data / "postgresql.conf").open("a") as file:
            file.write(
                f"port = {port}\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = ''\n"
            )
            file.write(
                f"max_connections = 300\nfsync = {'on' if durable else 'off'}\nshared_buffers = "
                "32MB\n"
            )
        held = Cluster(url=f"postgresql://postgres@127.0.0.1:{port}/postgres", data=data, user=user)
        held.begin()
        try:
            yield held
        finally:
            held.end("immediate")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run(user: str, program: str, *words: str) -> None:
    folder = binaries()
    assert folder is not None
    as_whom = {"user": user, "group": pwd.getpwnam(user).pw_gid, "extra_groups": []} if user else {}
    done = subprocess.run(
        [str(folder / program), *words],
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        timeout=SECONDS,
        check=False,
        **as_whom,  # type: ignore[arg-type]
    )
    if done.returncode:
        raise AssertionError(f"{program} {' '.join(words)}: {done.stderr}")


def _free_port() -> int:
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        return int(asked.getsockname()[1])
