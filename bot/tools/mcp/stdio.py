"""A connection to an MCP server over its standard streams, with limits on what it may send and
which files it sees.
"""

import asyncio
import os
import platform
import re
import shutil
import sys
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bot.config.home import HomeFolder
from bot.config.sections.extensions import ALL_FILES, WRITABLE_SUFFIX, McpServerConfig
from bot.tools.exec.runner import SandboxError, find_bubblewrap, memory_file
from bot.tools.exec.sandbox import TMP_PATH, closing_arguments, hide_arguments, isolation_arguments
from bot.tools.exec.seccomp import build_filter
from bot.tools.mcp import launcher
from channels.phrases import NO_PHRASE, Phrase
from memory.store.longterm.file_labels import WHOLE_SPACE
from memory.workspace.files import SPACES_FOLDER

MAX_LINE_BYTES = 4 * 2**20  # the SDK's own reader joins lines quadratically: 32 MB took 16 s
MAX_JUNK_LINES = 1_000  # lines that are no message: some servers print greetings
MAX_STDERR_BYTES = 64 * 2**10
# from a closed pipe to the end of the launcher, which itself waits for one second
CLOSE_SECONDS = 3.0
STDERR_SECONDS = 0.5  # after the end of the messages, for the last words on the other stream
# What a program with network needs of /etc to find names and to check certificates.
_NETWORK_FILES = (
    "/etc/resolv.conf",
    "/etc/hosts",
    "/etc/nsswitch.conf",
    "/etc/ssl",
    "/etc/pki",
    "/etc/ca-certificates",
)
_VISIBLE_FOLDERS = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")
WITHOUT_SANDBOX = Phrase(
    '"files": ["*"] runs it without a sandbox, and it can then read whatever the bot can'
)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")


@dataclass(slots=True, kw_only=True)
class ServerProcess:
    """One run of a server: why its connection ended, and the end of what it wrote to stderr."""

    #: Why the connection ended; "" while it is open and for a plain end.
    why: str = ""
    #: Why it could not be run here, in Chinese; "" if it was started.
    refused: Phrase = NO_PHRASE
    stderr: bytearray = field(default_factory=bytearray)
    #: Set once nothing more is read from it.
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    def reason(self) -> str:
        """Return why the connection ended, else what the server said last; "" while it is open."""
        if not self.ended.is_set():
            return ""
        return self.why or self.last_words() or "it ended by itself"

    def last_words(self) -> str:
        """Return the last line of stderr, shortened and printable."""
        lines = self.stderr.decode("utf-8", "replace").strip().splitlines()
        return _CONTROL.sub(" ", lines[-1]).strip()[:200] if lines else ""


@asynccontextmanager
async def open_stdio(
    settings: McpServerConfig, home: HomeFolder, process: ServerProcess
) -> AsyncIterator[Any]:
    """Start a server and yield its streams as the SDK wants them.

    Args:
        process: receives what becomes of it.

    Raises:
        SandboxError: it cannot be run as its settings say.
    """
    import anyio
    from mcp.shared.message import SessionMessage

    alive, ours = os.pipe()
    passed = [alive]
    env, command = server_environment(settings.env), list(settings.command)
    mode = "network" if settings.network else "none"
    try:
        if is_sandboxed(settings):
            env, mode = sandboxed_environment(env), "sandbox"
            command, seccomp = build_command(settings, home)
            passed.append(seccomp)
        child = await asyncio.create_subprocess_exec(
            sys.executable,
            "-I",
            "-S",
            launcher.__file__,
            str(alive),
            mode,
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            pass_fds=passed,
            env=env,
            cwd=os.sep,
            limit=MAX_LINE_BYTES,
            start_new_session=True,
        )
    except BaseException as err:
        os.close(ours)
        process.refused = err.reason if isinstance(err, SandboxError) else NO_PHRASE
        raise
    finally:
        for descriptor in passed:
            os.close(descriptor)
    incoming, read_stream = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write_stream, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
    stderr = asyncio.Event()
    tasks = [
        asyncio.create_task(_read(child, incoming, process, stderr)),
        asyncio.create_task(_write(child, outgoing, incoming)),
        asyncio.create_task(_read_stderr(child, process, stderr)),
    ]
    try:
        yield read_stream, write_stream
    finally:
        await _close(child, ours, tasks)
        for stream in (incoming, read_stream, write_stream, outgoing):
            stream.close()


def server_environment(env: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a server: what is configured, a search path and a language; nothing
    else of ours.
    """
    return {"PATH": os.environ.get("PATH", os.defpath), "LANG": "C.UTF-8", **env}


async def _read(
    child: asyncio.subprocess.Process, incoming: Any, process: ServerProcess, stderr: asyncio.Event
) -> None:
    """Pass on every message, until the stream ends or breaks a limit."""
    import anyio
    from mcp.shared.message import SessionMessage
    from mcp_types import jsonrpc_message_adapter

    assert child.stdout is not None
    junk = 0
    try:
        while line := await child.stdout.readline():
            try:
                message = jsonrpc_message_adapter.validate_json(line, by_name=False)
            except ValueError:
                junk += 1
                if junk > MAX_JUNK_LINES:
                    process.why = f"it wrote over {MAX_JUNK_LINES:,} lines that are no messages"
                    break
                continue
            await incoming.send(SessionMessage(message))
    except ValueError:
        process.why = f"it sent a line over {MAX_LINE_BYTES // 2**20} MiB"
    except (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        pass  # the session closed its end, or the pipe broke: either way this connection is over
    finally:
        with suppress(TimeoutError):
            async with asyncio.timeout(STDERR_SECONDS):
                await stderr.wait()
        process.ended.set()
        incoming.close()


async def _write(child: asyncio.subprocess.Process, outgoing: Any, incoming: Any) -> None:
    assert child.stdin is not None
    try:
        async for message in outgoing:
            child.stdin.write(
                message.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
            )
            await child.stdin.drain()
    except OSError:
        incoming.close()  # so that no request waits for an answer


async def _read_stderr(
    child: asyncio.subprocess.Process, process: ServerProcess, done: asyncio.Event
) -> None:
    assert child.stderr is not None
    while data := await child.stderr.read(2**14):
        process.stderr += data
        del process.stderr[:-MAX_STDERR_BYTES]
    done.set()


async def _close(
    child: asyncio.subprocess.Process, ours: int, tasks: Sequence[asyncio.Task[None]]
) -> None:
    """End the server: the launcher ends it, with all that it started, when its pipe is closed."""
    assert child.stdin is not None
    child.stdin.close()
    os.close(ours)
    waiting = asyncio.ensure_future(child.wait())
    await asyncio.wait({waiting}, timeout=CLOSE_SECONDS)
    if not waiting.done():
        with suppress(ProcessLookupError):
            child.kill()
    for task in (waiting, *tasks):
        task.cancel()
    await asyncio.wait({waiting, *tasks})
    child_transport: Any = getattr(child, "_transport", None)
    # a survivor that holds a pipe would keep it open; nothing public closes it
    if child_transport is not None:
        child_transport.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class VisiblePath:
    """A file or folder that a server sees at its own path."""

    path: Path
    writable: bool


def is_sandboxed(settings: McpServerConfig) -> bool:
    """Tell whether a server runs in the sandbox: each one on this machine, unless all files are
    opened to it.
    """
    return not settings.url and ALL_FILES not in settings.files


def visible_paths(settings: McpServerConfig, home: HomeFolder) -> list[VisiblePath]:
    """Return what a server is given to see.

    Raises:
        SandboxError: it is missing, or it is or holds what the bot alone may see.
    """
    found = []
    for entry in settings.files:
        name = entry.removesuffix(WRITABLE_SUFFIX)
        path = Path(os.path.normpath(home.workspace.absolute() / Path(name).expanduser()))
        if not path.exists():
            raise SandboxError(Phrase("there is no {path}, which `files` names", path=str(path)))
        _check_private(path, home)
        found.append(VisiblePath(path=path, writable=name != entry))
    return found


def _check_private(path: Path, home: HomeFolder) -> None:
    """Refuse what is or holds the bot's keys, and the files of other people."""
    real, root, workspace = path.resolve(), home.root.resolve(), home.workspace.resolve()
    is_above = root == real or real in root.parents
    is_own = root in real.parents and workspace not in (real, *real.parents)
    if is_above or is_own:
        raise SandboxError(
            Phrase("`files` names {path}, which holds the bot's own keys and data", path=path)
        )
    if workspace / SPACES_FOLDER in (real, *real.parents):
        raise SandboxError(
            Phrase("`files` names {path}, which holds other people's files", path=path)
        )


def find_problem(settings: McpServerConfig, home: HomeFolder) -> Phrase | None:
    """Return why a server cannot be run in the sandbox; None if nothing is known against it."""
    try:
        find_bubblewrap()
        visible = visible_paths(settings, home)
    except SandboxError as err:
        return err.reason
    program = shutil.which(settings.command[0], path=settings.env.get("PATH"))
    folders = (*map(Path, _VISIBLE_FOLDERS), *(one.path for one in visible))
    if program and not any(folder in (Path(program), *Path(program).parents) for folder in folders):
        return Phrase(
            "its program {program} is in none of the folders that `files` lists",
            program=program,
        )
    return None


def writable_paths(settings: McpServerConfig, home: HomeFolder) -> list[str]:
    """Return what a server may write to in the owner's space, in the form of labels: folders end in
    "/".

    A server without a sandbox is not asked about: it has all the bot's rights, and no label would
    hold against it.
    """
    workspace = home.workspace.resolve()
    paths = []
    for visible in visible_paths(settings, home):
        path = visible.path.resolve()
        if not visible.writable or workspace not in (path, *path.parents):
            continue
        if path == workspace:
            paths.append(WHOLE_SPACE)
        elif path.is_dir():
            paths.append(f"{path.relative_to(workspace).as_posix()}/")
        else:
            paths.append(path.relative_to(workspace).as_posix())
    return paths


def build_command(settings: McpServerConfig, home: HomeFolder) -> tuple[list[str], int]:
    """Return the words that run a server in bubblewrap, and the descriptor that it has to inherit.

    Raises:
        SandboxError: there is no sandbox, or it cannot be shown what it should see.
    """
    try:
        bubblewrap = find_bubblewrap()
    except SandboxError as err:
        reason = Phrase(
            "there is no sandbox: {reason}; {way_out}", reason=err.reason, way_out=WITHOUT_SANDBOX
        )
        raise SandboxError(reason) from err
    mounts = [*_mounts(visible_paths(settings, home), home), *closing_arguments()]
    seccomp_fd = memory_file(build_filter(platform.machine(), netlink=True))
    arguments = isolation_arguments(seccomp_fd, network=settings.network)
    for path in _NETWORK_FILES if settings.network else ():
        arguments += ["--ro-bind-try", path, path]
    return [
        bubblewrap,
        *arguments,
        *mounts,
        "--chdir",
        TMP_PATH,
        "--",
        *settings.command,
    ], seccomp_fd


def _mounts(visible: Sequence[VisiblePath], home: HomeFolder) -> Iterator[str]:
    for one in visible:
        yield from ("--bind" if one.writable else "--ro-bind", str(one.path), str(one.path))
    spaces = home.workspace.absolute() / SPACES_FOLDER
    if spaces.exists() and any(one.path in spaces.parents for one in visible):
        yield from hide_arguments(str(spaces))  # other people's files


def sandboxed_environment(env: Mapping[str, str]) -> dict[str, str]:
    """Return what a server in the sandbox has in its environment besides what every one has."""
    return {"HOME": TMP_PATH, "TMPDIR": TMP_PATH, **env}
