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


def find_leaks(outside: dict[str, Any]) -> list[str]:
    """Return what can be reached that must not be, and what is missing that must be there."""
    host = ("127.0.0.1", outside["port"])
    attempts: dict[str, Callable[[], object]] = {
        "a file outside can be read": lambda: open(outside["canary"]).close(),
        "/etc/passwd can be read": lambda: open("/etc/passwd").close(),
        "files of other people can be read": lambda: open(outside["others"]).close(),
        "the loopback network can be reached": lambda: socket.create_connection(
            host, timeout=2
        ).close(),
        "a Unix socket can be reached by path": lambda: _connect(outside["socket"]),
        "a Unix socket can be reached by name": lambda: _connect("\0" + outside["abstract"]),
        "netlink sockets can be opened": lambda: socket.socket(
            socket.AF_NETLINK, socket.SOCK_RAW
        ).close(),
        "the root folder can be written to": lambda: _write("/probe"),
        "/dev can be written to": lambda: _write("/dev/probe"),
        "/usr can be written to": lambda: _write("/usr/probe"),
        "settings of the kernel can be changed": lambda: open(
            "/proc/sys/kernel/core_pattern", "r+"
        ).close(),
        "namespaces can be nested": lambda: _check(ctypes.CDLL(None).unshare(_NEW_USER_NAMESPACE)),
    }
    leaks = [name for name, attempt in attempts.items() if _works(attempt)]
    leaks += [
        f"{path} can be written to"
        for path in outside["guarded"]
        if _works(partial(_write, f"{path}/probe"))
    ]
    visible = [name for name in os.listdir("/proc") if name.isdigit()]
    if (
        len(visible) > _MOST_VISIBLE_PROCESSES
        or os.readlink("/proc/self/ns/pid") == outside["pid_namespace"]
    ):
        leaks.append("processes outside can be seen")
    for folder in ("/tmp", "/dev/shm"):  # noqa: S108
        size = os.statvfs(folder)
        if size.f_blocks * size.f_frsize > _MOST_TEMPORARY_BYTES:
            leaks.append(f"{folder} is not bounded")
    if set(os.environ) - set(outside["allowed"]):
        leaks.append("the environment is passed on")
    if not _works(lambda: _write("probe")):
        leaks.append("the space cannot be written to")
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
