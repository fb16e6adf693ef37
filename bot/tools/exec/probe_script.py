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


def find_leaks(outside: dict[str, Any]) -> list[tuple[str, ...]]:
    """Return what can be reached that must not be, and what is missing that must be there.

    Each is a clause in English and one in Chinese, and what stands at their `{}`.
    """
    host = ("127.0.0.1", outside["port"])
    attempts: dict[tuple[str, str], Callable[[], object]] = {
        ("a file outside can be read", "能读到外面的文件"): lambda: open(outside["canary"]).close(),
        ("/etc/passwd can be read", "能读到 /etc/passwd"): lambda: open("/etc/passwd").close(),
        ("files of other people can be read", "能读到其他人的文件"): lambda: open(
            outside["others"]
        ).close(),
        ("the loopback network can be reached", "能连上本机网络"): lambda: socket.create_connection(
            host, timeout=2
        ).close(),
        ("a Unix socket can be reached by path", "能按路径连上 Unix 套接字"): lambda: _connect(
            outside["socket"]
        ),
        ("a Unix socket can be reached by name", "能按名称连上 Unix 套接字"): lambda: _connect(
            "\0" + outside["abstract"]
        ),
        ("netlink sockets can be opened", "能打开 netlink 套接字"): lambda: socket.socket(
            socket.AF_NETLINK, socket.SOCK_RAW
        ).close(),
        ("the root folder can be written to", "能写入根目录"): lambda: _write("/probe"),
        ("/dev can be written to", "能写入 /dev"): lambda: _write("/dev/probe"),
        ("/usr can be written to", "能写入 /usr"): lambda: _write("/usr/probe"),
        ("settings of the kernel can be changed", "能改动内核的设置"): lambda: open(
            "/proc/sys/kernel/core_pattern", "r+"
        ).close(),
        ("namespaces can be nested", "能嵌套命名空间"): lambda: _check(
            ctypes.CDLL(None).unshare(_NEW_USER_NAMESPACE)
        ),
    }
    leaks: list[tuple[str, ...]] = [
        clauses for clauses, attempt in attempts.items() if _works(attempt)
    ]
    leaks += [
        ("{} can be written to", "能写入 {}", path)
        for path in outside["guarded"]
        if _works(partial(_write, f"{path}/probe"))
    ]
    visible = [name for name in os.listdir("/proc") if name.isdigit()]
    if (
        len(visible) > _MOST_VISIBLE_PROCESSES
        or os.readlink("/proc/self/ns/pid") == outside["pid_namespace"]
    ):
        leaks.append(("processes outside can be seen", "能看到外面的进程"))
    for folder in ("/tmp", "/dev/shm"):  # noqa: S108
        size = os.statvfs(folder)
        if size.f_blocks * size.f_frsize > _MOST_TEMPORARY_BYTES:
            leaks.append(("{} is not bounded", "{} 没有上限", folder))
    if set(os.environ) - set(outside["allowed"]):
        leaks.append(("the environment is passed on", "环境变量被传了进去"))
    if not _works(lambda: _write("probe")):
        leaks.append(("the space cannot be written to", "不能写入自己的空间"))
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
