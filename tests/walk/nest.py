"""Where bots and commands are hatched: a process that has imported the program, and forks itself
for each start.

What is started is a process of its own, to be signalled and killed like any other; it is only
spared the second in which every start imports the same. `tests/bot/cli/test_main.py` starts the
program cold. `python -m tests.walk.nest FD` is the nest; FD: a socket whose other end its owners
hold, and let go of to end it.
"""

import array
import asyncio
import contextlib
import gc
import importlib
import json
import logging
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import BinaryIO

import structlog

ROOT = Path(__file__).resolve().parents[2]
LARGEST = 65_536
MOST_FILES = 1024
LONGEST_END = 5.0  # seconds for a thread that has nothing to do to end
PROGRAM = "bot.cli.main"
# What is imported before the fork; a name too few costs time, one too many nothing.
PREPARED = (
    "Stemmer",
    "apscheduler.schedulers.asyncio",
    "apscheduler.triggers.date",
    "bot.cli.run",
    "bot.cli.backup.create",
    "bot.models.service",
    "bot.cli.chat",
    "bot.cli.database",
    "bot.cli.doctor.report",
    "bot.cli.main",
    "bot.cli.settings.config",
    "bot.console.routes",
    "bot.console.services",
    "bot.console.site",
    "bot.runtime.bot",
    "bot.models.providers.anthropic",
    "bot.models.providers.openai",
    "bot.cli.backup.restore",
    "bot.runtime.cluster.open",
    "channels.feishu.channel",
    "channels.telegram.channel",
    "channels.web.channel",
    "channels.web.connections",
    "channels.web.server",
    "channels.wechat.channel",
    "channels.wechat_mp.channel",
    "channels.wecom.channel",
    "cryptography.hazmat.primitives.ciphers",
    "httpx2",
    "markdown_it",
    "mcp",
    "memory.store.open",
    "memory.store.postgres.move",
    "procrastinate.builtin_tasks",
    "procrastinate.worker",
    "telegram.ext",
    "tiktoken",
    "uvicorn",
    "uvicorn.lifespan.off",
    "websockets.asyncio.client",
)


class Hatched:
    """A running process. pid: its own; returncode: None while it runs, negative for a signal's
    number.
    """

    def __init__(self, pid: int, line: socket.socket) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._line = line
        self._over = asyncio.create_task(self._end())

    def send_signal(self, number: int) -> None:
        """A signal to a process that may have ended."""
        if self.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    async def wait(self) -> int:
        """Its exit code, once it has ended."""
        return await asyncio.shield(self._over)

    async def _end(self) -> int:
        with self._line:
            said = await asyncio.get_running_loop().sock_recv(self._line, LARGEST)
        self.returncode = int(said)
        return self.returncode


async def hatch(
    words: Sequence[str],
    environment: Mapping[str, str],
    out: BinaryIO,
    errors: BinaryIO,
    program: str = PROGRAM,
) -> Hatched:
    """Start a program with this command line; nothing else of this process reaches it.

    program: the module whose `main` takes the command line.
    """
    line = _order(words, environment, out, errors, program)
    line.setblocking(False)
    pid = int(await asyncio.get_running_loop().sock_recv(line, LARGEST))
    return Hatched(pid, line)


@contextlib.contextmanager
def running(home: Path) -> Iterator[None]:
    """A bot on this home, for tests without an event loop: it is ready in the block, and ended by
    SIGTERM after it.
    """
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as said:
        with os.fdopen(writing, "wb") as out, Path(os.devnull).open("wb") as errors:
            line = _order(["--home", str(home), "run"], os.environ, out, errors)
        with line:
            pid = int(line.recv(LARGEST))
            try:
                assert any(text.startswith(b"ready") for text in said)
                yield
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGTERM)
                line.recv(LARGEST)


def _order(
    words: Sequence[str],
    environment: Mapping[str, str],
    out: BinaryIO,
    errors: BinaryIO,
    program: str = PROGRAM,
) -> socket.socket:
    """Have a child forked; it is told of on the socket that is returned: first its pid, at its end
    its exit code.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        known = {"program": program, "words": list(words), "environment": dict(environment)}
        order = json.dumps(known).encode()
        handed = array.array("i", [theirs.fileno(), out.fileno(), errors.fileno()])
        open_nest().sendmsg([order], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, handed)])
    return ours


@cache
def open_nest() -> socket.socket:
    """The nest of this process and of those that are forked from it later; it ends when all of them
    have.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        command = [sys.executable, "-m", "tests.walk.nest", str(theirs.fileno())]
        # at night MNEMA_STORE=postgres is about bots inside a test's process
        known = {name: value for name, value in os.environ.items() if name != "MNEMA_STORE"}
        subprocess.Popen(
            command,
            cwd=ROOT,
            env=known,
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
        )
    return ours


def serve(door: socket.socket) -> None:
    """Fork for each order until nobody holds the other end."""
    alive: dict[int, socket.socket] = {}
    signal.signal(signal.SIGCHLD, lambda *_: _bury(alive))
    while True:
        order, handed, _, _ = socket.recv_fds(door, LARGEST, 3)
        if not order:
            return
        line, out, errors = socket.socket(fileno=handed[0]), *handed[1:]
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
        if not (pid := os.fork()):
            _live(json.loads(order), door, line, out, errors)
        alive[pid] = line
        line.send(str(pid).encode())
        os.close(out)
        os.close(errors)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])


def _bury(alive: dict[int, socket.socket]) -> None:
    """Tell of each child that has ended. The signal of another may interrupt this, and each is
    waited for once.
    """
    while alive:
        try:
            ended, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:  # all were told of in between
            return
        if not ended:
            return
        with alive.pop(ended) as line, contextlib.suppress(OSError):  # nobody may wait any more
            line.send(str(os.waitstatus_to_exitcode(status)).encode())


def _live(order: dict, door: socket.socket, line: socket.socket, out: int, errors: int) -> None:
    """The child: what a started program has, then the program, then nothing."""
    for inherited in (signal.SIGCHLD, signal.SIGTERM):
        signal.signal(inherited, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
    door.close()
    line.close()
    os.dup2(out, 1)
    os.dup2(errors, 2)
    os.closerange(3, MOST_FILES)
    os.environ.clear()
    os.environ.update(order["environment"])
    code = 1
    try:
        code = importlib.import_module(order["program"]).main(order["words"])
    finally:
        sys.stdout.flush()
        os._exit(code)


def _prepare() -> None:
    """Import and read what a bot does when it starts and when somebody writes, so that no child has
    to.
    """
    for name in PREPARED:
        importlib.import_module(name)
    importlib.import_module("channels.phrases").find_chinese("")
    importlib.import_module("channels.toolkit.http").create_tls_context()
    importlib.import_module("bot.tools.registry").default_tool_specs()
    importlib.import_module("bot.agent.context.calibration").load_best_counter()
    importlib.import_module("bot.models.providers.anthropic_sdk").load_sdk()
    _answer()
    gc.collect()  # with it the bot's idle threads end
    for thread in threading.enumerate():
        if thread is not threading.main_thread():
            thread.join(LONGEST_END)  # what it holds at a fork would never be released there
    gc.freeze()


def _answer() -> None:
    """Have a whole bot answer in this process: what it compiles and reads for that stays, and is
    more than half of the work of a short life.
    """
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_talk(Path(folder)))
    structlog.reset_defaults()


async def _talk(home: Path) -> None:
    from tests.bot.inside import inside  # a process that only has a nest needs none of it

    async with inside(home, lambda request: "hello") as bot:
        for text in ("hello", "hello again", "/context fold", "/context clear"):
            await bot.say(text)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _prepare()
    serve(socket.socket(fileno=int(sys.argv[1])))
