"""The terminal as a channel: one conversation, each line answered before the next is taken."""

import asyncio
import signal
import sys
import uuid
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from channels.base import Deliver
from channels.message import (
    Address,
    Attachment,
    Capabilities,
    InboundMessage,
    LiveEvent,
    OutboundMessage,
    Receipt,
    Sender,
)
from channels.terminal.prompt import LinePrompt, PromptOptions, attached_files, read_piped_lines
from channels.terminal.view import TEXTS, PlainView, RichView, TerminalView, localized, shorten_line

KEY_VALID_SECONDS = 10 * 365 * 86_400.0
MAX_REMEMBERED = 1000
FINAL_KINDS = frozenset({"final", "notice"})


async def _stop_nothing() -> None:
    """Stops nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminalOptions:
    """What a terminal is to do."""

    #: Its name.
    conversation: str = "terminal"
    #: One message to send, then leave.
    once: str | None = None
    desk: PromptOptions = field(default_factory=PromptOptions)
    #: Ends the running turn, for Ctrl-C.
    stop: Callable[[], Awaitable[None]] = _stop_nothing
    #: Prompt and Markdown; None: if a person is at both ends.
    interactive: bool | None = None


class Terminal:
    """Standard input and output. `failed` says that a message could not be stored.

    Repeats are dropped by the row's id, so a send may be repeated as long as this process lives.
    """

    name = "terminal"
    account = "local"
    capabilities = Capabilities(keyed=True, key_valid=KEY_VALID_SECONDS, live=True, live_display="stream")

    def __init__(
        self, setup: TerminalOptions, view: TerminalView | None = None, lines: AsyncIterator[str] | None = None
    ) -> None:
        """view, lines: where to show and what is typed, None for this process's own terminal."""
        people = sys.stdin.isatty() and sys.stdout.isatty() and setup.once is None
        self.interactive = people if setup.interactive is None else setup.interactive
        self.failed = False
        self._setup = setup
        self._view = view or (RichView() if self.interactive else PlainView())
        self._lines = lines
        self._session = uuid.uuid4().hex
        self._count = 0
        self._seen: deque[str] = deque(maxlen=MAX_REMEMBERED)
        self._ended: deque[str] = deque(maxlen=MAX_REMEMBERED)
        self._waits: dict[str, asyncio.Event] = {}
        self._busy = False
        self._gone = False

    async def run(self, deliver: Deliver) -> None:
        """Take lines until the input ends, the person leaves, or nobody reads the answers any more."""
        try:
            async for line in self._input():
                if line.strip():
                    await self._ask(deliver, line)
                if self._gone:
                    return
        finally:
            self._view.rest()

    async def send(self, message: OutboundMessage) -> Receipt:
        """Print one part; the last one of an answer lets the next line be taken."""
        if message.id not in self._seen:
            self._seen.append(message.id)
            self._print(message)
        if message.kind in FINAL_KINDS and message.part_no == message.parts - 1:
            self._ended.append(message.reply_to)
            waiting = self._waits.get(message.reply_to)
            if waiting is not None:
                waiting.set()
        return Receipt(platform_id=message.id)

    def show(self, event: LiveEvent) -> None:
        """Show that something goes on, while an answer is waited for."""
        if not self._busy:
            return
        if event.name == "delta":
            self._view.delta(event.text, whole=bool(event.facts.get("whole")))
        elif event.name == "tool_started":
            step = int(event.facts.get("step", 0)) + 1
            tool = shorten_line(str(event.facts.get("tool", "")))
            self._view.working(tool if event.facts.get("planned") else self._say("step", step=step, tool=tool))
        elif event.name == "fold":
            self._view.working(self._folding(event))
        elif event.name in ("started", "tool_ended"):
            self._view.working(self._say("thinking"))

    def _folding(self, event: LiveEvent) -> str:
        """How far a fold has come; once it has ended, the answer is what is waited for."""
        key, first, last = f"fold_{event.facts.get('state')}", event.facts.get("from_turn"), event.facts.get("to_turn")
        if key not in TEXTS:
            return self._say("thinking")
        if first == last:
            return self._say(key, turns=self._say("turn_one", turn=first))
        return self._say(key, turns=self._say("turn_many", first=first, last=last))

    def hint(self, key: str, **fields: object) -> None:
        """Say a sentence of the terminal's own."""
        self._view.hint(self._say(key, **fields))

    def _say(self, key: str, **fields: object) -> str:
        return localized(self._setup.desk.language, key, **fields)

    def _input(self) -> AsyncIterator[str]:
        setup = self._setup
        if setup.once is not None:
            return _only_attachment(setup.once)
        if self._lines is not None:
            return self._lines
        if self.interactive:
            return LinePrompt(setup.desk).lines()
        return read_piped_lines(sys.stdin.fileno(), setup.desk.language)

    async def _ask(self, deliver: Deliver, text: str) -> None:
        try:
            accepted = (await deliver([await self._message(text)]))[0]
        except (OSError, RuntimeError) as err:
            self.failed = True
            self.hint("lost", why=shorten_line(str(err), 200))
            return
        await self._answered(accepted.id)

    async def _message(self, text: str) -> InboundMessage:
        self._count += 1
        files = await self._files(text) if self.interactive else ()
        return InboundMessage(
            address=Address(channel=self.name, account=self.account, chat_id=self._setup.conversation),
            kind="dm",
            key=f"{self._session}:{self._count}",
            sender=Sender(id="owner"),
            text=text,
            sent_at=datetime.now(UTC),
            attachments=files,
            order_key=f"{self._count:012}",
        )

    async def _files(self, text: str) -> tuple[Attachment, ...]:
        found = await asyncio.to_thread(lambda: list(attached_files(text, self._setup.desk.folder)))
        for path, err in [item for item in found if isinstance(item, tuple)]:
            self.hint("unread", path=path, why=err)
        return tuple(item for item in found if isinstance(item, Attachment))

    async def _answered(self, id: str) -> None:
        """Wait until the answer to that message is here, or the person will not wait for it."""
        if id in self._ended or self._gone:
            return
        self._waits[id] = asyncio.Event()
        self._busy = True
        self._view.working(self._say("thinking"))
        try:
            with self._interrupts(self._waits[id]):
                await self._waits[id].wait()
        finally:
            del self._waits[id]
            self._busy = False
            self._view.rest()

    @contextmanager
    def _interrupts(self, answered: asyncio.Event) -> Iterator[None]:
        """Ctrl-C stops the turn while this holds; once more, it ends the waiting."""
        if not self.interactive:
            yield
            return
        stopping: list[asyncio.Task[Any]] = []

        def interrupted() -> None:
            if stopping:
                self.hint("left")
                answered.set()
            else:
                self.hint("stopping")
                stopping.append(asyncio.create_task(self._stop()))

        before = signal.getsignal(signal.SIGINT)
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, interrupted)
        try:
            yield
        finally:
            loop.remove_signal_handler(signal.SIGINT)
            signal.signal(signal.SIGINT, before)

    async def _stop(self) -> None:
        try:
            await self._setup.stop()
        except (LookupError, OSError, RuntimeError) as err:
            self._view.hint(shorten_line(str(err), 200))

    def _print(self, message: OutboundMessage) -> None:
        if message.reply_to in self._waits:
            self._view.rest()
        try:
            self._view.answer(message.text)
        except BrokenPipeError:
            self._gone = True
            for waiting in self._waits.values():
                waiting.set()


async def _only_attachment(text: str) -> AsyncIterator[str]:
    yield text
