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

from bot.texts import Reason, from_system, join_reasons
from bot.tools.exec.cgroup import sweep_process_limits
from bot.tools.exec.runner import SandboxError, SandboxResult, find_bubblewrap, run_in_sandbox
from bot.tools.exec.sandbox import SPACE_PATH, SandboxCommand, SandboxLimits, environment
from memory.workspace.files import FILES_FOLDER, GUARDED_FOLDERS, SPACES_FOLDER

# Why a bot on PostgreSQL has no commands.
SHARED_REASON = Reason(
    (
        "on PostgreSQL several processes may serve the bot, and /stop would not reach a command in "
        "another one"
    ),
    "使用 PostgreSQL 时可能有几个进程在运行，/stop 管不到另一个进程里的命令",
)
_NOTHING_RUN = ("nothing could be run in it: {}", "沙箱里什么都运行不了：{}")
_LIMITS = SandboxLimits(seconds=15, memory_bytes=512 * 2**20)
_SCRIPT = Path(__file__).with_name("probe_script.py")


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxLevel:
    """Whether commands can run here."""

    #: A: bubblewrap, all probes passed. C: commands are refused.
    level: Literal["A", "C"]
    #: Why not; None for level A.
    reason: Reason | None = None


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


def _judge(result: SandboxResult) -> Reason | None:
    """Return why the sandbox must not be used; None if it holds."""
    if result.ended:
        over_limit = Reason("{}", "试探超出了限额", (result.ended,))
        return over_limit.within(*_NOTHING_RUN)
    if result.code:
        lines = result.output.strip().splitlines()
        said = Reason("{}", "程序报错：{}", (lines[-1],)) if lines else None
        return (said or Reason("exit code {}", "退出码 {}", (str(result.code),))).within(
            *_NOTHING_RUN
        )
    try:
        leaks = [Reason(en, zh, tuple(fields)) for en, zh, *fields in json.loads(result.output)]
    except (ValueError, TypeError):
        unknown = Reason("the probe's output is not what it prints", "试探的输出不是它该打印的")
        return unknown.within(*_NOTHING_RUN)
    return join_reasons(leaks).within("it does not hold: {}", "隔离不住：{}") if leaks else None


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
