"""Runs one MCP server as a child and ends it, with all that it started, once its end of a pipe is
closed.

Stdlib only.

Started as a program of its own: `launcher.py DESCRIPTOR MODE COMMAND...`. MODE is `network`, `none`
for a server that gets none, or `sandbox` where the command is bubblewrap, which takes care of that
itself. The pipe closes when the bot closes it or dies, by SIGKILL too. Descendants that left the
process group come back to this process, their subreaper.
"""

import ctypes
import os
import select
import signal
import sys
import time
from contextlib import suppress

EXIT_NO_NETWORK_NAMESPACE, EXIT_NO_PROGRAM = 125, 127
TERM_SECONDS = 1.0  # between SIGTERM and SIGKILL
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000
_POLL_SECONDS = 0.02


def run(alive: int, mode: str, command: list[str]) -> int:
    """Run the command until it ends or the pipe `alive` is closed; returns its exit code."""
    is_linux = sys.platform == "linux"
    libc = ctypes.CDLL(None, use_errno=True)
    if is_linux:
        libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    parent, child = os.getpid(), os.fork()
    if child == 0:
        _become_server(libc, parent, alive, mode != "none", command, is_linux)
    for descriptor in (0, 1):  # the server's alone, so that each side sees the other one's end
        os.close(descriptor)
    code = _wait(alive, child)
    _end_all(child, is_linux, polite=mode != "sandbox")
    return code


def _become_server(
    libc: ctypes.CDLL, parent: int, alive: int, network: bool, command: list[str], is_linux: bool
) -> None:
    try:
        os.setpgid(0, 0)
        os.close(alive)
        if is_linux:
            libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            if os.getppid() != parent:
                os._exit(1)
        if not network and not _leave_network(libc, is_linux):
            _fail(EXIT_NO_NETWORK_NAMESPACE, "this machine cannot run it without network")
        os.execvp(command[0], command)  # noqa: S606 - the owner's own command, as words
    except OSError as err:
        _fail(EXIT_NO_PROGRAM, f"{command[0]}: {err.strerror}")
    os._exit(EXIT_NO_PROGRAM)


def _leave_network(libc: ctypes.CDLL, is_linux: bool) -> bool:
    """Enter a namespace without network; as an ordinary user that takes a user namespace."""
    if not is_linux:
        return False
    if libc.unshare(_CLONE_NEWNET) == 0:
        return True
    user, group = os.getuid(), os.getgid()
    if libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET) != 0:
        return False
    try:
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/gid_map", f"{group} {group} 1")
        _write("/proc/self/uid_map", f"{user} {user} 1")
    except OSError:
        return False
    return True


def _write(path: str, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)


def _fail(code: int, why: str) -> None:
    os.write(2, f"{why}\n".encode())
    os._exit(code)


def _wait(alive: int, child: int) -> int:
    """Wait for the end of the server or of the pipe; returns the exit code, 0 if the pipe ended
    first.
    """
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # only the pipe ends this process
    while True:
        done, status = os.waitpid(-1, os.WNOHANG)
        if done == child:
            return os.waitstatus_to_exitcode(status)
        if done:
            continue
        ready, _, _ = select.select([alive, woken], [], [])
        if alive in ready:
            return 0
        os.read(woken, 512)


def _end_all(child: int, is_linux: bool, *, polite: bool) -> None:
    """End the server's group, then everything that descends from it by force.

    Args:
        polite: by SIGTERM at first. bubblewrap would not pass it on but kill the server, which has
            seen the end of its input, and has the same time to end by itself.
    """
    if polite:
        _signal_group(child, signal.SIGTERM)
    deadline = time.monotonic() + TERM_SECONDS
    while time.monotonic() < deadline and not _reap():
        time.sleep(_POLL_SECONDS)
    _signal_group(child, signal.SIGKILL)
    while is_linux and not _reap():
        for pid in _children():
            _signal(pid, signal.SIGKILL)
        time.sleep(_POLL_SECONDS)


def _reap() -> bool:
    """Collect ended children; tells whether none is left."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return True
    return False


def _children() -> list[int]:
    """Return the processes whose parent this one is now."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    fields = file.read().rpartition(b")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == os.getpid():
                found.append(int(name))
    return found


def _signal_group(leader: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, number)


def _signal(pid: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)


if __name__ == "__main__":
    sys.exit(run(int(sys.argv[1]), sys.argv[2], sys.argv[3:]) & 0xFF)
