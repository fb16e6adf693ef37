"""One MCP server: connects at the first call, stops when idle, backs off when it fails."""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import structlog

from bot.config.home import HomeFolder
from bot.config.sections.extensions import McpServerConfig
from bot.tools.exec.runner import SandboxError
from bot.tools.mcp.connection import McpConnection, McpError, McpLost, Work
from bot.tools.mcp.http import open_http
from bot.tools.mcp.results import McpResult
from bot.tools.mcp.stdio import ServerProcess, is_sandboxed, open_stdio, writable_paths
from channels.phrases import NO_PHRASE, Phrase
from memory.failpoints import hit_async
from memory.store.automation.mcp import ListedTool

log = structlog.get_logger(__name__)
IDLE_SECONDS = 600.0
MAX_PAUSE_SECONDS = 60.0
LOGIN_PAUSE_SECONDS = 5.0
# so many failures in so long: no try for as long again
BREAKER_FAILURES, BREAKER_SECONDS = 5, 600.0
LabelPaths = Callable[[Sequence[str]], Awaitable[None]]
ServerState = Literal["idle", "up", "down"]
# Stores a new list: how the connection began, and the tools.
StoreList = Callable[[str, Sequence[ListedTool]], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class McpStatus:
    """The state of a server in this process."""

    state: ServerState = "idle"
    #: Unix seconds; 0 for since the start.
    since: float = 0.0
    #: Why it is down.
    why: str = ""
    #: The same in Chinese, where the bot itself says why; "" for the words of others.
    #: The same for people, if it is a sandbox that refused.
    refused: Phrase = NO_PHRASE


class McpServer:
    """Calls the tools of one server.

    Args:
        home: whose workspace it may be given folders of.
        era: how its connections are known to begin; "" if unknown.
        store_list: stores the tools after each connect, before the first call.
        create_auth: returns what authenticates the requests; it is given what to call when only a
            person can help.
        label: stores, before each start, that what is in these folders of the owner's space comes
            from outside.
    """

    def __init__(
        self,
        name: str,
        settings: McpServerConfig,
        era: str,
        store_list: StoreList,
        clock: Callable[[], float] = time.monotonic,
        create_auth: Callable[[Callable[[], None]], Any] = lambda login_needed: None,
        label: LabelPaths | None = None,
        *,
        home: HomeFolder,
    ) -> None:
        self.name = name
        self.settings = settings
        self._era = era
        self._store_list = store_list
        self._clock = clock
        self._create_auth = create_auth
        self._home = home
        self._label = label
        self._login_needed = False
        self._lock = asyncio.Lock()
        self._connection: McpConnection | None = None
        self._failures: deque[float] = deque(maxlen=BREAKER_FAILURES)
        self._next_try = 0.0
        self._idle: asyncio.TimerHandle | None = None
        self._closing: asyncio.Task[None] | None = None
        self.idle_seconds = IDLE_SECONDS
        self._status = McpStatus()

    @property
    def status(self) -> McpStatus:
        """The current state; a server that ended by itself counts as idle until the next call finds
        out.
        """
        if self._status.state == "up" and (self._connection is None or not self._connection.open):
            return McpStatus(state="idle", since=self._status.since)
        return self._status

    async def connect(self) -> tuple[ListedTool, ...]:
        """Connect, if it is not, and return the tools that it listed.

        Raises:
            McpError: it is down.
        """
        return (await self._connected()).tools

    @property
    def left_out(self) -> tuple[str, ...]:
        """Names of tools of its list that could not be read, while it is connected."""
        return self._connection.left_out if self._connection is not None else ()

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        check: Callable[[], None],
        repeatable: bool,
    ) -> McpResult:
        """Call a tool.

        Args:
            check: called once the server is connected and its list is stored; raises if the call
                may not go on.
            repeatable: try once more when the connection breaks.

        Raises:
            McpLost: with `sent`, what the call did is unknown.
            McpError: the server refused, or is down.
            TimeoutError: it took longer than the configured seconds.
        """
        try:
            return await self._call_once(name, arguments, check)
        except McpLost as err:
            if not repeatable or not err.sent:
                raise
            self._next_try = 0.0
        return await self._call_once(name, arguments, check)

    async def close(self) -> None:
        """End the connection and the server's process."""
        if self._idle is not None:
            self._idle.cancel()
        async with self._lock:
            connection, self._connection = self._connection, None
            if connection is not None:
                await connection.close()
        if self._closing is not None:
            await asyncio.wait({self._closing})

    async def _call_once(
        self, name: str, arguments: Mapping[str, Any], check: Callable[[], None]
    ) -> McpResult:
        connection = await self._connected()
        check()
        await hit_async("mcp.called")
        result: McpResult = await self._use(
            connection, lambda: connection.call(name, arguments, self.settings.seconds)
        )
        await hit_async("mcp.answered")
        return result

    async def read(self, work: Work) -> Any:
        """Do something with the SDK's client that changes nothing, such as reading a resource.

        Raises: as `call`.
        """
        connection = await self._connected()
        return await self._use(connection, lambda: connection.run(work, self.settings.seconds))

    async def _use(self, connection: McpConnection, work: Callable[[], Awaitable[Any]]) -> Any:
        try:
            result = await work()
        except McpLost as err:
            self._failed(str(err))
            await self._drop(connection)
            raise
        finally:
            self._restart_idle_timer()
        self._failures.clear()
        return result

    async def _drop(self, connection: McpConnection) -> None:
        async with self._lock:
            if self._connection is connection:
                self._connection = None
                await connection.close()

    async def _connected(self) -> McpConnection:
        async with self._lock:
            if self._connection is not None and self._connection.open:
                return self._connection
            wait = self._next_try - self._clock()
            if wait > 0:
                raise McpLost(f"{self._status.why}; it is tried again in {wait:.0f} s")
            if self._connection is not None:  # it ended by itself
                await self._connection.close()
                self._connection = None
            process = ServerProcess()
            connection = self._create_connection(process)
            try:
                if self._label is not None and is_sandboxed(self.settings):
                    await self._label(writable_paths(self.settings, self._home))
                await connection.start()
            except SandboxError as err:
                self._failed(str(err), err.reason)
                raise McpLost(str(err)) from err
            except McpError as err:
                await connection.close()
                self._failed(str(err), process.refused)
                raise
            except BaseException:  # the turn was stopped meanwhile
                await connection.close()
                raise
            process.stderr.clear()  # what it said while it started is not why it ends
            self._connection = connection
            self._era = connection.era
            await self._store_list(connection.era, connection.tools)
            self._status = McpStatus(state="up", since=time.time())
            self._restart_idle_timer()
            return connection

    def _create_connection(self, process: ServerProcess) -> McpConnection:
        return McpConnection(
            name=self.name,
            transport=partial(self._open_transport, process),
            era=self._era,
            ended=process.ended,
            relisted=lambda tools: self._store_list(self._era, tools),
            why_ended=process.reason,
        )

    def _open_transport(self, process: ServerProcess) -> AbstractAsyncContextManager[Any]:
        settings = self.settings
        if settings.url:
            return open_http(
                settings.url, settings.headers, settings.local, self._create_auth(self._need_login)
            )
        return open_stdio(settings, self._home, process)

    def _need_login(self) -> None:
        self._login_needed = True

    def _failed(self, why: str, refused: Phrase = NO_PHRASE) -> None:
        """Note a failure: the next try waits longer each time, and long after several in a row.

        Where a login is needed nothing is wrong with the server: it is tried again soon, for the
        person may log in.
        """
        now = self._clock()
        needs_login, self._login_needed = self._login_needed, False
        if not needs_login:
            self._failures.append(now)
        count = len(self._failures)
        pause = LOGIN_PAUSE_SECONDS if needs_login else min(MAX_PAUSE_SECONDS, 2.0 ** (count - 1))
        if (
            not needs_login
            and count == BREAKER_FAILURES
            and now - self._failures[0] <= BREAKER_SECONDS
        ):
            pause = BREAKER_SECONDS
        self._next_try = now + pause
        since = self._status.since if self._status.state == "down" else time.time()
        self._status = McpStatus(state="down", since=since, why=why, refused=refused)
        log.warning("MCP server failed", server=self.name, why=why)

    def _restart_idle_timer(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
        self._idle = asyncio.get_running_loop().call_later(self.idle_seconds, self._stop_idle)

    def _stop_idle(self) -> None:
        connection = self._connection
        if connection is None:
            return
        if connection.busy:
            self._restart_idle_timer()
            return
        self._connection = None
        self._status = McpStatus(state="idle", since=time.time())
        self._closing = asyncio.create_task(connection.close())
