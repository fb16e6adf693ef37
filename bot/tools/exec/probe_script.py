"""Tries to get out of the sandbox it runs in, and prints what worked; imports no other module of
mnema.

Its only argument is a JSON object with what there is outside: `canary` (a file), `others` (a file
of other people), `guarded` (folders that must not be changed), `port` (TCP, loopback), `socket` (a
Unix socket by path), `abstract` (another by name), `pid_namespace`, and `allowed`: the names of the
environment.
"""

import ctypes
import json
import os
import socket
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

_NEW_USER_NAMESPACE = 0x10000000  # CLONE_NEWUSER
_MOST_TEMPORARY_BYTES = 2**30
_MOST_VISIBLE_PROCESSES = 5  # bubblewrap, this one, and room for a shim


def main() -> None:
    """Print a JSON list of what the sandbox lets through; an empty one is good."""
    outside = json.loads(sys.argv[1])
    print(json.dumps(find_leaks(outside)))


def find_leaks(outside: dict[str, Any]) -> list[tuple[str, str]]:
    """Return what can be reached that must not be, and what is missing that must be there.

    Each has the name by which `probe.py` knows it, and a path or "".
    """
    host = ("127.0.0.1", outside["port"])
    attempts: dict[str, Callable[[], object]] = {
        "outside": lambda: open(outside["canary"]).close(),
        "passwd": lambda: open("/etc/passwd").close(),
        "others": lambda: open(outside["others"]).close(),
        "loopback": lambda: socket.create_connection(host, timeout=2).close(),
        "socket_path": lambda: _connect(outside["socket"]),
        "socket_name": lambda: _connect("\0" + outside["abstract"]),
        "netlink": lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW).close(),
        "root": lambda: _write("/probe"),
        "dev": lambda: _write("/dev/probe"),
        "usr": lambda: _write("/usr/probe"),
        "kernel": lambda: open("/proc/sys/kernel/core_pattern", "r+").close(),
        "namespaces": lambda: _check(ctypes.CDLL(None).unshare(_NEW_USER_NAMESPACE)),
    }
    leaks = [(name, "") for name, attempt in attempts.items() if _works(attempt)]
    leaks += [
        ("guarded", path) for path in outside["guarded"] if _works(partial(_write, f"{path}/probe"))
    ]
    visible = [name for name in os.listdir("/proc") if name.isdigit()]
    if (
        len(visible) > _MOST_VISIBLE_PROCESSES
        or os.readlink("/proc/self/ns/pid") == outside["pid_namespace"]
    ):
        leaks.append(("processes", ""))
    for folder in ("/tmp", "/dev/shm"):  # noqa: S108
        size = os.statvfs(folder)
        if size.f_blocks * size.f_frsize > _MOST_TEMPORARY_BYTES:
            leaks.append(("unbounded", folder))
    if set(os.environ) - set(outside["allowed"]):
        leaks.append(("environment", ""))
    if not _works(lambda: _write("probe")):
        leaks.append(("own_space", ""))
    return leaks


def _works(attempt: Callable[[], object]) -> bool:
    try:
        attempt()
    except OSError:
        return False
    return True


def _connect(address: str) -> None:
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(2)
        client.connect(address)


def _write(path: str) -> None:
    with open(path, "w") as file:
        file.write("x")


def _check(code: int) -> None:
    if code:
        raise OSError(code)


if __name__ == "__main__":
    main()
