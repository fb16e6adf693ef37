"""S47–S51: what a command can reach and use up, tried by real commands in the real sandbox."""

import asyncio
import os
import signal
import socket
import stat
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from bot.errors import ToolFailed
from bot.tools.exec.binding import sort_folders
from bot.tools.exec.runner import run_in_sandbox
from bot.tools.exec.sandbox import SandboxCommand
from memory.workspace.atomic_write import write_atomic
from tests.bot.tools.exec.sandboxed import FAST, needs_sandbox, python, run

pytestmark = needs_sandbox
HELD_SECONDS = 2.0


@pytest.fixture
def space() -> Iterator[Path]:
    """A space on a disk: what a command writes into memory is not counted."""
    with TemporaryDirectory(dir="/var/tmp") as root:
        folder = Path(root) / "space"
        (folder / "files").mkdir(parents=True)
        yield folder


def living(token: str) -> list[int]:
    """The processes of this machine that have the token in their command line."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            try:
                if token.encode() in Path(f"/proc/{name}/cmdline").read_bytes():
                    found.append(int(name))
            except OSError:
                continue
    return found


async def until(is_so: Callable[[], bool], seconds: float = 30) -> None:
    """Look again and again: a process that is not ours tells nobody when it begins or ends."""
    async with asyncio.timeout(seconds):
        while not is_so():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_a_command_works_on_the_files_of_its_space(space: Path) -> None:
    (space / "files" / "in.txt").write_text("b\na\n")
    result = await run(
        space, "sh", "-c", "sort in.txt > out.txt && cat out.txt && pwd; echo err >&2; exit 3"
    )
    assert (result.code, result.ended) == (3, "")
    assert result.output == "a\nb\n/w/files\nerr\n"
    assert (space / "files" / "out.txt").read_text() == "a\nb\n"


async def test_S51_words_of_argv_are_literal(space: Path) -> None:
    words = ["$HOME/*", "`id`", ";touch x", "a\nb", "$(id)", "|", "*"]
    result = await run(space, "printf", "<%s>", *words)
    assert result.output == "".join(f"<{word}>" for word in words)
    assert list((space / "files").iterdir()) == []


async def test_the_environment_has_five_names_and_no_descriptor_is_inherited(
    space: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_KEY", "very secret")
    held = os.open(space, os.O_RDONLY)
    os.set_inheritable(held, True)
    result = await run(space, "sh", "-c", "env | sort; ls /proc/self/fd; cat")
    os.close(held)
    names = [line.partition("=")[0] for line in result.output.splitlines() if "=" in line]
    assert set(names) - {"PWD", "OLDPWD", "_", "SHLVL"} == {"PATH", "HOME", "LANG", "TZ", "TMPDIR"}
    assert "secret" not in result.output
    direct = await run(space, "env")
    assert len(direct.output.splitlines()) == 5
    assert [line for line in result.output.splitlines() if line.isdigit()] == [
        "0",
        "1",
        "2",
        "3",
    ], "3: of ls itself"


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "/etc/shadow", "/root", "/home", "/proc/1/root/etc/passwd", "/var/run"]
)
async def test_S47_files_of_the_machine_cannot_be_read(space: Path, path: str) -> None:
    result = await run(space, "sh", "-c", f"cat {path} || ls {path}/*")
    assert result.code != 0
    assert "x:0:0" not in result.output
    assert (await run(space, "cat", "/proc/1/environ")).output == ""


async def test_S47_a_file_outside_cannot_be_read_truncated_or_linked(
    space: Path, tmp_path: Path
) -> None:
    secret = tmp_path / "config.json"
    secret.write_text("canary")
    script = (
        f"cat {secret}; : > {secret}; ln {secret} here; ln -s {secret} soft; cat soft; cat "
        "/w/../config.json"
    )
    assert "canary" not in (await run(space, "sh", "-c", script)).output
    assert secret.read_text() == "canary"


async def test_S47_the_bot_is_neither_seen_nor_signalled(space: Path) -> None:
    script = f"""
import os
print(sorted(int(name) for name in os.listdir("/proc") if name.isdigit()))
for pid in ({os.getpid()}, {os.getppid()}):
    try:
        os.kill(pid, 0)
        print("signalled")
    except ProcessLookupError:
        pass
"""
    result = await python(space, script)
    assert "signalled" not in result.output
    assert len(result.output.strip("[]\n").split(",")) <= 3
    assert (
        "denied"
        in (
            await python(space, _try("ctypes.CDLL(None, use_errno=True).ptrace(16, 1, 0, 0)"))
        ).output
    )


async def test_S47_nothing_gets_more_rights(space: Path) -> None:
    result = await run(
        space, "grep", "-E", "NoNewPrivs|CapEff|CapBnd|Seccomp:", "/proc/self/status"
    )
    facts = dict(line.split(":\t") for line in result.output.splitlines())
    assert facts == {"CapEff": "0" * 16, "CapBnd": "0" * 16, "NoNewPrivs": "1", "Seccomp": "2"}
    for attempt in (
        "ctypes.CDLL(None, use_errno=True).unshare(0x10000000)",
        "open('/proc/sys/kernel/core_pattern', 'r+')",
    ):
        assert "denied" in (await python(space, _try(attempt))).output, attempt


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[tuple[int, int, Path, str]]:
    """TCP, UDP, and Unix sockets by path and by name that answer nobody."""
    name = f"mnema-test-{os.getpid()}"
    with (
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp,
        socket.socket(socket.AF_UNIX) as by_path,
        socket.socket(socket.AF_UNIX) as by_name,
    ):
        udp.bind(("127.0.0.1", 0))
        udp.setblocking(False)
        path = tmp_path / "s"
        by_path.bind(str(path))
        by_name.bind(f"\0{name}")
        by_path.listen()
        by_name.listen()
        yield tcp.getsockname()[1], udp.getsockname()[1], path, name
        with pytest.raises(BlockingIOError):
            udp.recv(1)


async def test_S48_there_is_no_network_of_any_kind(
    space: Path, servers: tuple[int, int, Path, str]
) -> None:
    tcp, udp, path, name = servers
    attempts = [
        f"socket.create_connection(('127.0.0.1', {tcp}), 2)",
        "socket.create_connection(('169.254.169.254', 80), 2)",
        "socket.create_connection(('1.1.1.1', 53), 2)",
        "socket.getaddrinfo('example.com', 80)",
        f"socket.socket(socket.AF_UNIX).connect({str(path)!r})",
        f"socket.socket(socket.AF_UNIX).connect('\\0{name}')",
        "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)",
        "socket.socket(socket.AF_VSOCK)",
        "socket.socket(socket.AF_PACKET, socket.SOCK_RAW)",
    ]
    for attempt in attempts:
        assert "denied" in (await python(space, _try(attempt))).output, attempt
    # Sending reaches at most the sandbox's own loopback; the fixture looks whether something came.
    await python(
        space,
        _try(
            f"socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', {udp}))"
        ),
    )


def _try(expression: str) -> str:
    return f"""
import ctypes, socket
try:
    found = {expression}
    print("denied" if isinstance(found, int) and found < 0 else "worked")
except OSError as err:
    print("denied", err)
"""


async def test_S49_a_fork_bomb_is_bounded(space: Path) -> None:
    script = """
import os
made = 0
try:
    for _ in range(500):
        if os.fork() == 0:
            import time
            time.sleep(60)
            os._exit(0)
        made += 1
except OSError:
    pass
print(made)
"""
    result = await python(space, script)
    assert 5 < int(result.output) < FAST.processes


async def test_S49_a_huge_file_and_many_files_are_bounded(space: Path) -> None:
    assert (await run(space, "sh", "-c", "head -c 200000000 /dev/zero > big")).code != 0
    assert (space / "files" / "big").stat().st_size <= FAST.disk_bytes
    script = "i=0; while true; do head -c 10000000 /dev/zero > f$i; i=$((i+1)); done"
    result = await run(space, "sh", "-c", script)
    assert "wrote more than 64 MB" in result.ended


MANY_FILES = """
import os
for folder in range(1000):
    os.mkdir(f"d{folder}")
    for number in range(1000):
        os.close(os.open(f"d{folder}/f{number}", os.O_CREAT | os.O_WRONLY))
"""


@pytest.mark.parametrize("folder", ["files", "/tmp"])
async def test_S49_a_million_empty_files_are_bounded(space: Path, folder: str) -> None:
    script = f"import os\nos.chdir({'/w/files' if folder == 'files' else folder!r})\n{MANY_FILES}"
    result = await python(space, script, replace(FAST, seconds=60))
    assert "made more than 16,384 files" in result.ended
    made = sum(len(names) for _, _, names in os.walk(space))
    assert made < 200_000, "it is looked at several times a second"


async def test_S49_blocks_are_not_allocated_without_being_written_and_counted(space: Path) -> None:
    assert (await run(space, "fallocate", "-l", "10M", "made")).code != 0
    attempts = (
        "ctypes.CDLL(None, use_errno=True).syscall({fallocate}, held, 0, 0, 10_000_000)",
        (
            "fcntl.ioctl(held, 0x4030582A, struct.pack('=hhiqqii4i', 0, 0, 0, 0, 10_000_000, 0, 0, "
            "0, 0, 0, 0))"
        ),
    )
    number = {"x86_64": 285, "aarch64": 47}[os.uname().machine]
    for attempt in attempts:
        script = (
            "import fcntl, os, struct\nheld = os.open('made', os.O_CREAT | os.O_RDWR)\n"
            f"{_try(attempt)}"
        )
        assert "denied" in (await python(space, script.format(fallocate=number))).output, attempt
    assert [path.stat().st_blocks for path in (space / "files").iterdir()] == [0]
    # The C library writes where it cannot allocate.
    script = (
        "import os\nfor n in range(10):\n    os.posix_fallocate(os.open(f'f{n}', os.O_CREAT | "
        "os.O_RDWR), 0, 20 << 20)"
    )
    assert "wrote more than 64 MB" in (await python(space, script)).ended


async def test_no_file_gets_rights_of_its_owner_and_no_device_is_made(space: Path) -> None:
    script = """
import ctypes, os, stat
def attempt(name, make):
    try:
        found = make()
        print(name, "denied" if isinstance(found, int) and found < 0 else "worked")
    except OSError as err:
        print(name, "denied")
libc = ctypes.CDLL(None, use_errno=True)
os.umask(0)
open("plain", "w").close()
os.mkdir("folder")
for bit in (stat.S_ISUID, stat.S_ISGID, stat.S_ISUID | stat.S_ISGID):
    attempt("chmod", lambda: os.chmod("plain", 0o755 | bit))
    attempt("fchmod", lambda: os.fchmod(os.open("plain", os.O_RDONLY), 0o755 | bit))
    attempt("fchmodat", lambda: libc.fchmodat(os.open(".", os.O_RDONLY), b"plain", 0o755 | bit, 0))
    attempt("folder", lambda: os.chmod("folder", 0o755 | bit))
    attempt("open", lambda: os.open(f"opened{bit}", os.O_CREAT | os.O_WRONLY, 0o755 | bit))
    attempt("mknod", lambda: os.mknod(f"node{bit}", stat.S_IFREG | 0o755 | bit))
    attempt("unnamed", lambda: os.open(".", os.O_TMPFILE | os.O_WRONLY, 0o755 | bit))
attempt("openat2", lambda: libc.syscall(437, -100, b"how", (ctypes.c_uint64 * 3)(0o101, 0o4755, \
0), 24))
attempt("device", lambda: os.mknod("null", stat.S_IFCHR | 0o666, os.makedev(0, 0)))
attempt("disk", lambda: os.mknod("disk", stat.S_IFBLK | 0o666, os.makedev(7, 0)))
os.chmod("plain", 0o1755)
os.mkfifo("pipe")
os.open(".", os.O_RDONLY, 0o7777)
print("usual modes work")
"""
    result = await python(space, script)
    assert "usual modes work" in result.output, result.output
    assert [line for line in result.output.splitlines() if line.endswith("worked")] == []
    for path in (space / "files").rglob("*"):
        mode = path.lstat().st_mode
        assert not mode & (stat.S_ISUID | stat.S_ISGID), path
        assert not stat.S_ISCHR(mode), path


@pytest.mark.parametrize("folder", ["/tmp", "/dev/shm"])
async def test_folders_in_memory_are_bounded(space: Path, folder: str) -> None:
    result = await run(space, "sh", "-c", f"df -B1 {folder} | tail -1")
    assert int(result.output.split()[1]) <= 256 * 2**20
    for place in ("/", "/dev", "/run", "/usr", "/proc"):
        assert (await run(space, "sh", "-c", f"echo x > {place}/x")).code != 0, place


async def test_S49_memory_of_one_process_is_bounded(space: Path) -> None:
    result = await python(space, "held = bytearray(2_000_000_000)")
    assert "MemoryError" in result.output


async def test_memory_of_the_whole_tree_is_bounded(space: Path) -> None:
    script = """
import os, time
for _ in range(20):
    if os.fork() == 0:
        held = bytearray(os.urandom(1)) * 50_000_000
        time.sleep(60)
time.sleep(60)
"""
    result = await python(space, script)
    assert "more than 256 MB of memory" in result.ended
    assert result.seconds < FAST.seconds


async def test_memory_counts_after_the_first_thread_of_a_process_has_ended(space: Path) -> None:
    script = """
import ctypes, os, threading, time
def hold():
    held = bytearray(os.urandom(1)) * 50_000_000
    time.sleep(60)
for _ in range(8):
    if os.fork() == 0:
        threading.Thread(target=hold).start()
        ctypes.CDLL(None).syscall({exit}, 0)
time.sleep(60)
"""
    number = {"x86_64": 60, "aarch64": 93}[os.uname().machine]
    result = await python(space, script.format(exit=number))
    # An ordinary user is not told what such a process writes, so that it is not watched any
    # further.
    expected = ("more than 256 MB of memory", "could not be watched")
    assert result.ended.endswith(expected[: 1 if os.geteuid() == 0 else 2])
    assert result.seconds < FAST.seconds


async def test_a_process_that_nobody_waits_for_does_not_end_its_command(space: Path) -> None:
    result = await run(space, "sh", "-c", "true & exec sleep 1")
    assert (result.code, result.ended) == (0, "")


async def test_memory_that_belongs_to_no_process_is_refused(space: Path) -> None:
    for attempt in (
        "os.memfd_create('x')",
        "ctypes.CDLL(None, use_errno=True).shmget(0, 4096, 0o1600)",
    ):
        assert "denied" in (await python(space, f"import os{_try(attempt)}")).output


STUBBORN = """
import os, signal, sys, time
for sign in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(sign, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.setsid()
print("started", flush=True)
while True:
    pass
"""


async def test_S49_the_whole_tree_ends_at_the_time_limit(space: Path) -> None:
    token = f"token-{os.getpid()}-limit"
    began = time.monotonic()
    command = SandboxCommand(argv=("python3", "/run/script", token), space=space, script=STUBBORN)
    result = await run_in_sandbox(command, replace(FAST, seconds=1))
    assert "longer than 1 s" in result.ended
    assert "started" in result.output
    assert time.monotonic() - began < 1 + HELD_SECONDS
    assert living(token) == []


async def test_S49_what_a_command_leaves_behind_ends_with_it(space: Path) -> None:
    token = f"token-{os.getpid()}-left"
    script = STUBBORN.replace(
        "while True:\n    pass", "sys.exit(0) if os.getsid(0) != os.getpid() else time.sleep(600)"
    )
    command = SandboxCommand(argv=("python3", "/run/script", token), space=space, script=script)
    assert (await run_in_sandbox(command, FAST)).ended == ""
    assert living(token) == []


async def test_S49_the_whole_tree_ends_when_it_is_cancelled(space: Path) -> None:
    token = f"token-{os.getpid()}-cancel"
    command = SandboxCommand(argv=("python3", "/run/script", token), space=space, script=STUBBORN)
    task = asyncio.create_task(run_in_sandbox(command, FAST))
    await until(lambda: len(living(token)) >= 3)
    began = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.monotonic() - began < HELD_SECONDS
    assert living(token) == []


HOLDER = """
import asyncio, sys
from pathlib import Path
from bot.tools.exec.runner import run_in_sandbox
from bot.tools.exec.sandbox import SandboxCommand, SandboxLimits
space, token, script = sys.argv[1:]
command = SandboxCommand(argv=("python3", "/run/script", token), space=Path(space), script=script)
asyncio.run(run_in_sandbox(command, SandboxLimits(seconds=60)))
"""


async def test_I47_nothing_lives_on_when_the_bot_is_killed(space: Path) -> None:
    token = f"token-{os.getpid()}-kill"
    holder = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HOLDER, str(space), token, STUBBORN
    )
    # The holder and bubblewrap itself have the token in their arguments, too.
    await until(lambda: len(living(token)) >= 6)
    holder.send_signal(signal.SIGKILL)
    await holder.wait()
    await until(lambda: not living(token), 5)


FILES = ("SOUL.md", "MEMORY.md", "Rules.md", "notes.txt")
GUARDED = ("memory", "Memory", "rules", "skills", "tools", "memory.made-by-exec-1a2b3c4d")
HIDDEN = ("spaces", "SPACES", "spaces.made-by-exec-1a2b3c4d")
FREE = ("files", "outbox", "spaceships", ".git", "memory.d")


def stamps_of(space: Path) -> list[tuple[int, ...]]:
    found = [(space / name).stat() for name in FILES]
    return [(one.st_mode, one.st_size, one.st_mtime_ns, one.st_nlink) for one in found]


async def test_a_command_changes_unguarded_folders_alone_and_sees_no_other_space(
    space: Path,
) -> None:
    for name in FILES:
        (space / name).write_text("mine")
    for name in (*GUARDED, *HIDDEN, *FREE):
        (space / name).mkdir(exist_ok=True)
    for name in HIDDEN:
        (space / name / "other.txt").write_text("canary")
    names = " ".join(
        (*FILES, *(f"{name}/x" for name in (*GUARDED, *HIDDEN, *FREE)), "new.md", "HEARTBEAT.md")
    )
    script = f"""
cd /w
for f in {names}; do echo evil > $f; done
mv SOUL.md a; rm -f SOUL.md; mv skills b; mv spaces c; rmdir rules; mkdir new
ln SOUL.md files/linked; ln -s /w/SOUL.md files/soft; echo evil > files/soft
touch -d 2001-01-01 SOUL.md; chmod 777 SOUL.md
cat SOUL.md; ls spaces; cat spaces*/* SPACES/*
"""
    before = stamps_of(space)
    result = await run(space, "sh", "-c", script)
    assert "mine" in result.output
    assert "canary" not in result.output
    assert stamps_of(space) == before
    assert sorted(path.name for path in space.iterdir()) == sorted(
        (*FILES, *GUARDED, *HIDDEN, *FREE)
    )
    assert [name for name in GUARDED if any((space / name).iterdir())] == []
    assert [[path.name for path in (space / name).iterdir()] for name in HIDDEN] == [
        ["other.txt"]
    ] * len(HIDDEN)
    assert [name for name in FREE if (space / name / "x").read_text() != "evil\n"] == []
    assert not (space / "files" / "linked").exists()


async def test_what_is_replaced_or_made_while_a_command_runs_is_guarded_from_it(
    space: Path,
) -> None:
    (space / "MEMORY.md").write_text("mine")
    script = """
cd /w; echo > files/begun
until [ -e files/go ]; do sleep 0.02; done
for f in MEMORY.md memory/x spaces/a/x skills/tea/x new/x; do echo evil > $f; done; cat MEMORY.md \
spaces/*/*
"""
    task = asyncio.create_task(run(space, "sh", "-c", script))
    await until((space / "files" / "begun").exists)
    write_atomic(space / "MEMORY.md", b"newer")
    for name in ("memory", "spaces/a", "skills/tea", "new"):
        (space / name).mkdir(parents=True)
    (space / "spaces" / "a" / "other.txt").write_text("canary")
    (space / "files" / "go").touch()
    result = await task
    assert "newer" in result.output
    assert "canary" not in result.output
    assert (space / "MEMORY.md").read_text() == "newer"
    assert list(space.rglob("x")) == []


@pytest.mark.parametrize(
    "name", ["files", "spaces", "memory", "Skills", "memory.made-by-exec-1a2b3c4d"]
)
async def test_where_a_link_is_in_the_place_of_a_folder_nothing_runs(
    space: Path, tmp_path: Path, name: str
) -> None:
    (space / "files").rmdir()
    (space / "other").mkdir()
    (space / name).symlink_to("other")
    with pytest.raises(ToolFailed, match="Nothing was run"):
        sort_folders(space)


def test_a_folder_that_no_tool_lists_is_not_written_to(space: Path) -> None:
    names = [b"n\xff", "be\u202eevil".encode(), b"dot.", b"notes"]
    for name in names:
        os.mkdir(os.path.join(os.fsencode(space), name))
    assert sort_folders(space).writable == ("files", "notes")
