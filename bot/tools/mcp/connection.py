"""One connection to an MCP server, owned by one task.

Callers use queues and futures, never an object of the SDK.

When an HTTP server dies, the SDK cancels the task that entered its client; a caller would take that
for /stop.
"""

import asyncio
import hashlib
import importlib
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self

import structlog

from bot.config.extras import install_command
from bot.tools.mcp.results import McpResult, to_result
from bot.tools.mcp.schema import clean_tools
from memory.store.automation.mcp import ListedTool

log = structlog.get_logger(__name__)
CONNECT_SECONDS, LIST_SECONDS = 15.0, 15.0
_SESSION_LOST = "Session terminated"  # the SDK's words for a 404
MAX_PAGES, MAX_TOOLS = 100, 500
MAX_DESCRIPTION_CHARS, MAX_SCHEMA_CHARS = 20_000, 200_000
# from a notice that the list changed to the new list; further notices are covered by it
RELIST_SECONDS = 2.0
OpenTransport = Callable[[], AbstractAsyncContextManager[Any]]
Work = Callable[[Any], Awaitable[Any]]


class McpError(Exception):
    """The server could not do it; the text says why."""


class McpLost(McpError):
    """The connection ended. sent: the call had been sent, so what it did is unknown."""

    def __init__(self, why: str, *, sent: bool = False) -> None:
        super().__init__(why)
        self.sent = sent


@dataclass(slots=True, kw_only=True, eq=False)
class _Call:
    #: Uses the SDK's client; returns a value without its types.
    work: Work
    seconds: float
    answer: asyncio.Future[Any]
    sent: bool = False


class CleanedStream:
    """The messages of a server, with its lists of tools cleaned; a stream as the SDK's transports
    have them.
    """

    def __init__(self, server: str, messages: Any) -> None:
        self._server = server
        self._messages = messages
        #: Names of the tools that were left out of the lists so far, each once, in the server's
        #: order.
        self.left_out: dict[str, None] = {}

    @property
    def last_context(self) -> Any:
        """The context of the newest message's sender, where the transport has one."""
        return getattr(self._messages, "last_context", None)

    async def receive(self) -> Any:
        return self._clean(await self._messages.receive())

    async def aclose(self) -> None:
        await self._messages.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        return self._clean(await self._messages.__anext__())

    async def __aenter__(self) -> Self:
        await self._messages.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> bool | None:
        left: bool | None = await self._messages.__aexit__(*error)
        return left

    def _clean(self, received: Any) -> Any:
        """Clean a list of tools; no other answer of a server has `tools`."""
        result = getattr(getattr(received, "message", None), "result", None)
        if not isinstance(result, dict) or not isinstance(result.get("tools"), list):
            return received
        result["tools"], left_out = clean_tools(result["tools"])
        for name in left_out:
            if name not in self.left_out:
                log.warning(
                    "a tool of an MCP server cannot be read and is left out",
                    server=self._server,
                    tool=name,
                )
            self.left_out[name] = None
        return received


@dataclass(slots=True, kw_only=True)
class McpConnection:
    """A connection that `start` opens; it ends by itself when the server does."""

    name: str
    transport: OpenTransport
    #: How the connection begins: "legacy", "modern", or "" to find out.
    era: str
    #: Set when the server's end of the connection is gone.
    ended: asyncio.Event
    #: What the transport says about the end.
    why_ended: Callable[[], str]
    #: Called with each list that differs from the one before, except the first.
    relisted: Callable[[tuple[ListedTool, ...]], Awaitable[None]]
    tools: tuple[ListedTool, ...] = ()
    _list_changed: asyncio.Event = field(default_factory=asyncio.Event)
    _calls: asyncio.Queue[_Call | None] = field(default_factory=asyncio.Queue)
    _pending: set[_Call] = field(default_factory=set)
    _ready: asyncio.Future[None] | None = None
    _task: asyncio.Task[None] | None = None
    _why: str = ""
    _messages: CleanedStream | None = None

    async def start(self) -> None:
        """Connect and load the tools.

        Raises:
            McpLost: it did not work.
        """
        self._ready = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._own(), name=f"mcp {self.name}")
        self._task.add_done_callback(self._ended)
        await asyncio.shield(self._ready)

    @property
    def open(self) -> bool:
        """Whether calls can be made."""
        is_ready = self._ready is not None and self._ready.done()
        return (
            is_ready
            and self._task is not None
            and not self._task.done()
            and not self.ended.is_set()
        )

    @property
    def left_out(self) -> tuple[str, ...]:
        """Names of tools that could not be read and are not among `tools`."""
        return tuple(self._messages.left_out) if self._messages is not None else ()

    @property
    def busy(self) -> bool:
        """Whether a call runs."""
        return bool(self._pending)

    async def call(self, name: str, arguments: Mapping[str, Any], seconds: float) -> McpResult:
        """Call a tool.

        Raises: see `run`.
        """

        async def work(client: Any) -> McpResult:
            return to_result(await client.call_tool(name, dict(arguments)))

        result: McpResult = await self.run(work, seconds)
        return result

    async def run(self, work: Work, seconds: float) -> Any:
        """Run something with the SDK's client, in the task that owns it or one of its children.

        Raises:
            McpError: the server refused or broke.
            TimeoutError: it took longer.
        """
        if not self.open:
            raise McpLost(self._why or "the connection is closed")
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        call = _Call(work=work, seconds=seconds, answer=future)
        self._pending.add(call)
        self._calls.put_nowait(call)
        try:
            return await future
        finally:
            self._pending.discard(call)

    async def close(self) -> None:
        """End the connection and the server's process."""
        if self._task is not None:
            self._calls.put_nowait(None)
            await asyncio.wait({self._task}, timeout=CONNECT_SECONDS)
            self._task.cancel()
            await asyncio.wait({self._task})

    def _ended(self, task: asyncio.Task[None]) -> None:
        """Fail everything that waits; nothing of the SDK's cancellations reaches a caller."""
        error = None if task.cancelled() else task.exception()
        if not self._why and error is not None and not _is_end(error):
            self._why = _describe(error)
        self._why = self._why or self.why_ended() or "the server ended the connection"
        for call in tuple(self._pending):
            if not call.answer.done():
                call.answer.set_exception(McpLost(self._why, sent=call.sent))
        if self._ready is not None and not self._ready.done():
            self._ready.set_exception(McpLost(self._why))
            self._ready.exception()  # nobody may wait for it any more

    async def _own(self) -> None:
        """Enter the client, run calls until told to stop, and leave it, all in this task."""
        try:
            client_type = await asyncio.to_thread(_import_client)
        except ImportError:
            self._why = f"the extra mcp is not installed; install it with: {install_command('mcp')}"
            return
        client = client_type(
            self._open_cleaned(),
            mode="legacy" if self.era == "legacy" else "auto",
            read_timeout_seconds=None,
            cache=None,
            message_handler=self._note_message,
        )
        # The time limit is not around the whole `async with`: leaving must happen here, too.
        connecting = asyncio.timeout(CONNECT_SECONDS)
        running: set[asyncio.Task[None]] = set()
        try:
            async with connecting:
                await client.__aenter__()
        except TimeoutError:
            self._why = f"it did not answer within {CONNECT_SECONDS:.0f} s"
            return
        try:
            self.era = "legacy" if client.session.initialize_result is not None else "modern"
            try:
                async with asyncio.timeout(LIST_SECONDS):
                    self.tools = await _list_tools(client)
            except TimeoutError:
                self._why = f"it did not list its tools within {LIST_SECONDS:.0f} s"
                return
            assert self._ready is not None
            self._ready.set_result(None)
            running.add(asyncio.create_task(self._relist(client)))
            while (call := await self._next_call()) is not None:
                task = asyncio.create_task(self._run(client, call))
                running.add(task)
                task.add_done_callback(running.discard)
                call.answer.add_done_callback(partial(_cancel, task))
        finally:
            for task in tuple(running):
                task.cancel()
            await client.__aexit__(None, None, None)

    @asynccontextmanager
    async def _open_cleaned(self) -> AsyncIterator[Any]:
        """Open the transport; one tool that the SDK cannot read must not cost the server's
        others.
        """
        async with self.transport() as (messages, outgoing, *others):
            self._messages = CleanedStream(self.name, messages)
            yield self._messages, outgoing, *others

    async def _note_message(self, message: Any) -> None:
        """Note that the list changed; the server's other notices are not for us."""
        if getattr(message, "method", "") == "notifications/tools/list_changed":
            self._list_changed.set()

    async def _relist(self, client: Any) -> None:
        """Load the list again each time the server says that it changed, until cancelled."""
        listening = asyncio.create_task(self._listen(client)) if self.era == "modern" else None
        try:
            while True:
                await self._list_changed.wait()
                await asyncio.sleep(RELIST_SECONDS)
                self._list_changed.clear()
                try:
                    async with asyncio.timeout(LIST_SECONDS):
                        tools = await _list_tools(client)
                    if tools != self.tools:
                        self.tools = tools
                        await self.relisted(tools)
                except Exception as err:
                    log.info(
                        "MCP tools not listed again", server=self.name, error=type(err).__name__
                    )
        finally:
            if listening is not None:
                listening.cancel()

    async def _listen(self, client: Any) -> None:
        """Receive changes of the list from a server that notifies only its subscribers."""
        try:
            async with client.listen(tools_list_changed=True) as events:
                async for _ in events:
                    self._list_changed.set()
        except Exception as err:
            log.info("MCP server sends no notices", server=self.name, error=type(err).__name__)

    async def _next_call(self) -> _Call | None:
        """Wait for a call; None when the connection is to end, or has ended."""
        calls, ended = (
            asyncio.ensure_future(self._calls.get()),
            asyncio.ensure_future(self.ended.wait()),
        )
        try:
            await asyncio.wait({calls, ended}, return_when=asyncio.FIRST_COMPLETED)
            return calls.result() if calls.done() and not self.ended.is_set() else None
        finally:
            calls.cancel()
            ended.cancel()

    async def _run(self, client: Any, call: _Call) -> None:
        """Run one call in a task of its own, and give its end to the caller as a value or one of
        our errors.
        """
        error: Exception
        try:
            call.sent = True
            async with asyncio.timeout(call.seconds):
                result = await call.work(client)
        except TimeoutError as err:
            error = err
        except asyncio.CancelledError:
            # By the caller, who waits no more, or by the SDK: then the end of the connection tells
            # the caller.
            return
        except Exception as err:
            error = (
                McpError(_describe(err))
                if _is_refusal(err)
                else McpLost(self._explain(err), sent=True)
            )
        else:
            if not call.answer.done():
                call.answer.set_result(result)
            return
        if not call.answer.done():
            call.answer.set_exception(error)

    def _explain(self, error: Exception) -> str:
        """Return why a connection broke: the error itself, unless it says no more than that."""
        if not _is_end(error):
            return _describe(error)
        return self.why_ended() or _describe(error)


def _cancel(task: asyncio.Task[None], answer: asyncio.Future[McpResult]) -> None:
    """Cancel a call whose caller waits no more; the SDK then tells the server."""
    if answer.cancelled():
        task.cancel()


def _import_client() -> Any:
    """Import the SDK, which takes a second, in a thread."""
    # it logs what servers send, and so people's texts
    logging.getLogger("mcp").setLevel(logging.CRITICAL + 1)
    importlib.import_module("mcp.shared.message")
    return importlib.import_module("mcp.client.client").Client


async def _list_tools(client: Any) -> tuple[ListedTool, ...]:
    """Load all pages up to the limits; of two tools with one name the first one counts."""
    tools: dict[str, ListedTool] = {}
    cursor: str | None = None
    for _ in range(MAX_PAGES):
        page = await client.list_tools(cursor=cursor)
        for tool in page.tools[:MAX_TOOLS]:
            listed = to_listed_tool(tool)
            tools.setdefault(listed.name, listed)
        cursor = page.next_cursor
        if not cursor or len(tools) >= MAX_TOOLS:
            break
    return tuple(tools.values())[:MAX_TOOLS]


def to_listed_tool(tool: Any) -> ListedTool:
    """Convert a tool of the SDK.

    What is too long to be reviewed is cut, and a schema too long for it taken away.
    """
    schema = json.dumps(tool.input_schema, ensure_ascii=False, sort_keys=True)
    if len(schema) > MAX_SCHEMA_CHARS:
        schema = '{"type": "object"}'
    description = (tool.description or "")[:MAX_DESCRIPTION_CHARS]
    return ListedTool(
        name=tool.name,
        description=description,
        schema=schema,
        read_only=bool(tool.annotations and tool.annotations.read_only_hint),
        sha256=tool_sha256(tool.name, description, schema),
    )


def tool_sha256(name: str, description: str, schema: str) -> str:
    """Return the hash by which a tool is known as the one that was reviewed."""
    return hashlib.sha256(json.dumps([name, description, schema]).encode()).hexdigest()


def _is_refusal(err: Exception) -> bool:
    """Tell whether the server itself answered with an error; after anything else, what the call did
    is unknown.
    """
    from mcp.shared.exceptions import MCPError
    from mcp_types import CONNECTION_CLOSED, PARSE_ERROR

    # The SDK writes such errors itself for answers that did not come, cannot be read, or name no
    # session any more.
    is_synthetic = isinstance(err, MCPError) and err.error.code in (CONNECTION_CLOSED, PARSE_ERROR)
    return isinstance(err, MCPError) and not is_synthetic and err.error.message != _SESSION_LOST


def _is_end(error: BaseException) -> bool:
    """Tell whether an error says only that the connection is closed; why is then the transport's to
    say.
    """
    import anyio
    from mcp.shared.exceptions import MCPError
    from mcp_types import CONNECTION_CLOSED

    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, MCPError):
        return error.error.code == CONNECTION_CLOSED
    return isinstance(
        error, anyio.ClosedResourceError | anyio.BrokenResourceError | anyio.EndOfStream
    )


def _describe(error: BaseException) -> str:
    """Describe an error of the SDK in one line; of a group its first one."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    text = " ".join(str(error).split())[:300]
    return text or type(error).__name__
