"""`mnema doctor`: what this system lacks of what the program uses."""

import os
import socket
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from bot.cli.doctor.channels import DoctorCheck, failed, passed
from channels.phrases import Phrase

ESSENTIAL = ("fcntl", "resource")  # modules of Python: locks of the home, limits of child processes
NAME = "system"


def find_lacking() -> list[str]:
    """Return what this system lacks; empty on Linux."""
    present = {
        **{name: find_spec(name) is not None for name in ESSENTIAL},
        "fork": hasattr(os, "fork"),
        "Unix sockets": hasattr(socket, "AF_UNIX"),
        "/proc": Path("/proc/self").exists(),
    }
    return [name for name, is_present in present.items() if not is_present]


def check_system(lacking: Sequence[str] | None = None) -> DoctorCheck:
    """Say what cannot work here. lacking: as `find_lacking` returns it; None to look."""
    missing = find_lacking() if lacking is None else lacking
    if not missing:
        return passed(NAME, Phrase("This system has everything that mnema uses."))
    names = ", ".join(missing)
    if any(name in ESSENTIAL for name in missing):
        hint = Phrase("Run mnema on Linux or macOS; on Windows, in WSL.")
        return failed(
            NAME,
            Phrase(
                "This system has no {names}: mnema run and commands that write do not work here.",
                names=names,
            ),
            hint,
        )
    return passed(
        NAME,
        Phrase(
            "This system has no {names}: the model's commands and sandboxed MCP servers do not "
            "work here.",
            names=names,
        ),
    )
