"""Finds out by trying whether the sandbox of this machine holds."""

import json
import os
import secrets
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from bot.texts import from_system
from bot.tools.exec.cgroup import sweep_process_limits
from bot.tools.exec.runner import SandboxError, SandboxResult, find_bubblewrap, run_in_sandbox
from bot.tools.exec.sandbox import SPACE_PATH, SandboxCommand, SandboxLimits, environment
from channels.phrases import Phrase, join_phrases
from memory.workspace.files import FILES_FOLDER, GUARDED_FOLDERS, SPACES_FOLDER

# Why a bot on PostgreSQL has no commands.
SHARED_REASON = Phrase(
    "on PostgreSQL several processes may serve the bot, and /stop would not reach a command in "
    "another one"
)
_NOTHING_RUN = Phrase("nothing could be run in it: {reason}")
_LIMITS = SandboxLimits(seconds=15, memory_bytes=512 * 2**20)
# What the script found, by its name for it.
_LEAKS = {
    "outside": Phrase("a file outside can be read"),
    "passwd": Phrase("/etc/passwd can be read"),
    "others": Phrase("files of other people can be read"),
    "loopback": Phrase("the loopback network can be reached"),
    "socket_path": Phrase("a Unix socket can be reached by path"),
    "socket_name": Phrase("a Unix socket can be reached by name"),
    "netlink": Phrase("netlink sockets can be opened"),
    "root": Phrase("the root folder can be written to"),
    "dev": Phrase("/dev can be written to"),
    "usr": Phrase("/usr can be written to"),
    "kernel": Phrase("settings of the kernel can be changed"),
    "namespaces": Phrase("namespaces can be nested"),
    "guarded": Phrase("{path} can be written to"),
    "processes": Phrase("processes outside can be seen"),
    "unbounded": Phrase("{path} is not bounded"),
    "environment": Phrase("the environment is passed on"),
    "own_space": Phrase("the space cannot be written to"),
}
_SCRIPT = Path(__file__).with_name("probe_script.py")


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxLevel:
    """Whether commands can run here."""

    #: A: bubblewrap, all probes passed. C: commands are refused.
    level: Literal["A", "C"]
    #: Why not; None for level A.
    reason: Phrase | None = None


async def probe_sandbox(bubblewrap: str = "") -> SandboxLevel:
    """Run something that tries to get out; anything but a complete failure of its attempts means
    level C.
    """
    sweep_process_limits()
    try:
        bubblewrap = bubblewrap or find_bubblewrap()
        with _outside() as (folder, facts):
            result = await run_in_sandbox(_probe_command(folder, facts), _LIMITS, bubblewrap)
            reason = _judge(result)
    except SandboxError as err:
        reason = err.reason
    except OSError as err:
        reason = from_system(err)
    return SandboxLevel(level="C", reason=reason) if reason else SandboxLevel(level="A")


def _probe_command(folder: Path, facts: dict[str, Any]) -> SandboxCommand:
    # The interpreter of the bot: whether there is one in /usr is not certain.
    prefix, python = os.path.realpath(sys.base_prefix), os.path.realpath(sys.executable)
    readable = () if prefix.startswith("/usr/") or prefix == "/usr" else (prefix,)
    script = _SCRIPT.read_text(encoding="utf-8")
    argv = (python, "-I", "-S", "-B", "-c", script, json.dumps(facts))
    return SandboxCommand(
        argv=argv, space=folder / "space", hidden=(SPACES_FOLDER,), readable=readable
    )


def _judge(result: SandboxResult) -> Phrase | None:
    """Return why the sandbox must not be used; None if it holds."""
    if result.ended:
        return _NOTHING_RUN.fill(reason=Phrase("{ended}", context="a limit", ended=result.ended))
    if result.code:
        lines = result.output.strip().splitlines()
        if lines:
            reason = Phrase("{words}", context="of a program", words=lines[-1])
        else:
            reason = Phrase("exit code {code}", code=result.code)
        return _NOTHING_RUN.fill(reason=reason)
    try:
        leaks = [_LEAKS[leak].fill(path=path) for leak, path in json.loads(result.output)]
    except (ValueError, TypeError, KeyError):
        return _NOTHING_RUN.fill(reason=Phrase("the probe printed something unexpected"))
    if not leaks:
        return None
    return Phrase("the sandbox leaks: {leaks}", leaks=join_phrases(leaks, Phrase("; ")))


@contextmanager
def _outside() -> Iterator[tuple[Path, dict[str, Any]]]:
    """Offer what the probe must not reach: a file, and servers by TCP and by Unix sockets."""
    with (
        tempfile.TemporaryDirectory(prefix="mnema-probe-") as name,
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.socket(socket.AF_UNIX) as by_path,
        socket.socket(socket.AF_UNIX) as by_name,
    ):
        folder = Path(name)
        for top in (FILES_FOLDER, *GUARDED_FOLDERS):
            (folder / "space" / top).mkdir(parents=True)
        (folder / "space" / SPACES_FOLDER / "canary").write_text("canary", encoding="ascii")
        (folder / "canary").write_text("canary", encoding="ascii")
        abstract = f"mnema-probe-{secrets.token_hex(8)}"
        by_path.bind(str(folder / "socket"))
        by_name.bind(f"\0{abstract}")
        by_path.listen()
        by_name.listen()
        facts = {
            "canary": str(folder / "canary"),
            "others": f"{SPACE_PATH}/{SPACES_FOLDER}/canary",
            "guarded": [SPACE_PATH, *(f"{SPACE_PATH}/{name}" for name in GUARDED_FOLDERS)],
            "port": tcp.getsockname()[1],
            "socket": str(folder / "socket"),
            "abstract": abstract,
            "pid_namespace": os.readlink("/proc/self/ns/pid"),
            # bubblewrap's own probe of the locale adds nothing; LC_CTYPE comes from the
            # interpreter.
            "allowed": [*environment("UTC"), "LC_CTYPE"],
        }
        yield folder, facts
