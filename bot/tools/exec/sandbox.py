"""What a sandboxed process sees and may use: the command line of bubblewrap.

Pure, but for looking at links.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from memory.workspace.files import FILES_FOLDER

SPACE_PATH = "/w"  # of the space's files in the sandbox
START_PATH = f"{SPACE_PATH}/{FILES_FOLDER}"  # where a command begins unless it names another folder
SCRIPT_PATH = "/run/script"
TMP_PATH, SHM_PATH = "/tmp", "/dev/shm"  # noqa: S108  both in memory, of the sandbox alone
PATH = "/usr/local/bin:/usr/bin:/bin"
_SYSTEM_FOLDERS = ("/bin", "/sbin", "/lib", "/lib32", "/lib64")
# Files outside /usr that programs need to start, and nothing that says who lives on this machine.
_SYSTEM_FILES = ("/etc/ld.so.cache", "/etc/alternatives")
TMP_BYTES, SHM_BYTES = 256 * 2**20, 64 * 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxLimits:
    """What one run may use."""

    seconds: float = 60.0
    #: Of the whole tree of processes, and of each one.
    memory_bytes: int = 1024 * 2**20
    #: Processes and threads.
    processes: int = 64
    #: Written to the disk in all, and size of each file.
    disk_bytes: int = 512 * 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxCommand:
    """A command, and what it sees of a space."""

    argv: tuple[str, ...]
    #: Folder of the space; at /w it can be read.
    space: Path
    #: Names of the folders in it that can be changed.
    writable: tuple[str, ...] = (FILES_FOLDER,)
    #: Names of the folders in it that are empty in the sandbox.
    hidden: tuple[str, ...] = ()
    #: Working folder below the space; "" for the space itself.
    cwd: str = FILES_FOLDER
    #: Text of a script, readable at SCRIPT_PATH; "" for none.
    script: str = ""
    #: IANA name.
    zone: str = "UTC"
    #: Further folders that can be read, at their own paths.
    readable: tuple[str, ...] = ()


def environment(zone: str) -> Mapping[str, str]:
    """Return the whole environment of a command."""
    return {"PATH": PATH, "HOME": TMP_PATH, "LANG": "C.UTF-8", "TZ": zone, "TMPDIR": TMP_PATH}


def isolation_arguments(seccomp_fd: int, *, network: bool = False) -> list[str]:
    """Return the arguments that every sandbox begins with: its namespaces, the system's programs,
    memory of its own.

    Args:
        network: it shares the network of this machine.
    """
    arguments = [
        "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
        "--disable-userns", "--die-with-parent", "--new-session", "--cap-drop", "ALL",
        "--hostname", "sandbox", "--seccomp", str(seccomp_fd),
        "--ro-bind", "/usr", "/usr",
    ]  # fmt: skip
    if not network:
        arguments.append("--unshare-net")
    for folder in _SYSTEM_FOLDERS:
        if os.path.islink(folder):
            arguments += ["--symlink", os.readlink(folder), folder]
        elif os.path.isdir(folder):
            arguments += ["--ro-bind", folder, folder]
    for path in _SYSTEM_FILES:
        arguments += ["--ro-bind-try", path, path]
    return [
        *arguments, "--proc", "/proc", "--dev", "/dev",
        "--size", str(SHM_BYTES), "--tmpfs", SHM_PATH,
        "--size", str(TMP_BYTES), "--tmpfs", TMP_PATH,
    ]  # fmt: skip


def hide_arguments(path: str) -> list[str]:
    """Return the arguments that put an empty folder in the place of one."""
    return ["--size", "4096", "--tmpfs", path, "--remount-ro", path]


def closing_arguments() -> list[str]:
    """Return the arguments after all mounts: what is no mount of its own cannot be written to.

    The file systems of / and /dev are memory of no certain size. Below /proc/sys root may write
    without any capability (seen with 0.8: its own cover left core_pattern open).
    """
    return ["--remount-ro", "/proc", "--remount-ro", "/dev", "--remount-ro", "/"]


def build_arguments(
    command: SandboxCommand, info_fd: int, block_fd: int, seccomp_fd: int, script_fd: int
) -> list[str]:
    """Return bubblewrap's arguments. script_fd: -1 without a script."""
    arguments = isolation_arguments(seccomp_fd)
    arguments += ["--clearenv", "--info-fd", str(info_fd), "--block-fd", str(block_fd)]
    for path in command.readable:  # after /tmp, where a program may be, too
        arguments += ["--ro-bind-try", path, path]
    # The space is no writable mount: what is created or replaced in it meanwhile cannot be changed
    # either. A mount of a file would end with the rename that replaces the file.
    arguments += ["--dir", "/run", "--ro-bind", str(command.space), SPACE_PATH]
    for name in command.writable:
        arguments += ["--bind", str(command.space / name), f"{SPACE_PATH}/{name}"]
    for name in command.hidden:
        arguments += hide_arguments(f"{SPACE_PATH}/{name}")
    if script_fd >= 0:
        arguments += ["--ro-bind-data", str(script_fd), SCRIPT_PATH]
    arguments += closing_arguments()
    arguments += ["--chdir", os.path.join(SPACE_PATH, command.cwd)]
    for name, value in environment(command.zone).items():
        arguments += ["--setenv", name, value]
    # bubblewrap sets PWD by itself.
    return [*arguments, "--", "/usr/bin/env", "-u", "PWD", "--", *command.argv]
