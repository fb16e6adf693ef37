"""Whether this machine has a sandbox, and short ways to run something in it."""

import asyncio
from functools import cache
from pathlib import Path

import pytest

from bot.tools.exec.binding import sort_folders
from bot.tools.exec.probe import SandboxLevel, probe_sandbox
from bot.tools.exec.runner import SandboxResult, run_in_sandbox
from bot.tools.exec.sandbox import SandboxCommand, SandboxLimits

FAST = SandboxLimits(seconds=10, memory_bytes=256 * 2**20, processes=32, disk_bytes=64 * 2**20)


@cache
def level() -> SandboxLevel:
    """What the probe finds here."""
    return asyncio.run(probe_sandbox())


needs_sandbox = pytest.mark.skipif(
    level().level != "A", reason=f"NOT TESTED, this machine has no sandbox: {level().reason}"
)


async def run(
    space: Path, *argv: str, script: str = "", limits: SandboxLimits = FAST
) -> SandboxResult:
    """Run a program on an owner's space."""
    folders = sort_folders(space)
    command = SandboxCommand(
        argv=argv, space=space, writable=folders.writable, hidden=folders.hidden, script=script
    )
    return await run_in_sandbox(command, limits)


async def python(space: Path, script: str, limits: SandboxLimits = FAST) -> SandboxResult:
    """Run a script of Python."""
    return await run(space, "python3", "/run/script", script=script, limits=limits)
