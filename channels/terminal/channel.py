"""The terminal as a channel: one conversation, in which each line is answered before the next is
read.
"""

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
LEAVE_WORDS = frozenset({"exit", "quit", "退出"})  # a line of one of these ends an interactive chat


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminalOptions:
    """Options of a terminal."""

    #: Name of the conversation.
    conversation: str = "terminal"
    #: Send only this message, wait for the reply, and end.
    once: str | None = None
    prompt: PromptOptions = field(default_factory=PromptOptions)
    #: First line that a person sees; "" for none.
    greeting: str = ""
    #: Stops the running turn; called at Ctrl-C.
    stop: Callable[[], Awaitable[None]] | None = None
    #: Show a prompt and Markdown; None: if input and output are terminals.
    interactive: bool | None = None


class Terminal:
    """Chats on standard input and output; drops repeated sends by the row's id."""

    name = "terminal"
    account = "local"
    capabilities = Capabilities(
        keyed=True, key_valid=KEY_VALID_SECONDS, live=True, live_display="stream"
    )

    def __init__(
        self,
        options: TerminalOptions,
        view: TerminalView | None = None,
        lines: AsyncIterator[str] | None = None,
    ) -> None:
        """Args: view: output. lines: input. None for those of this process."""
        is_tty = sys.stdin.isatty() and sys.stdout.isatty() and options.once is None
        self.interactive = is_tty if options.interactive is None else options.interactive
        self.language = options.prompt.language
        #: A message could not be stored, or the only one got no answer.
        self.failed = False
        self._options = options
        self._view = view or (RichView() if self.interactive else PlainView())
        self._lines = lines
        self._session = uuid.uuid4().hex
        self._count = 0
        #: Ids of shown parts.
        self._shown: deque[str] = deque(maxlen=MAX_REMEMBERED)
        #: Inbox ids with a complete reply.
        self._answered: deque[str] = deque(maxlen=MAX_REMEMBERED)
        #: Set when the message with this inbox id is answered.
        self._waiting: dict[str, asyncio.Event] = {}
        self._output_closed = False
        #: Inbox id of the message whose answer the person stopped waiting for; "" for none.
        self._left = ""

    async def run(self, deliver: Deliver) -> None:
        """Read and deliver lines until the input ends, the user quits, or the output is closed."""
        if self.interactive and self._options.greeting:
            self._view.hint(self._options.greeting)
        try:
            async for line in self._input():
                if self.interactive and line.strip().lower() in LEAVE_WORDS:
                    if self._may_leave():
                        return
                elif line.strip():
                    await self._send_line(deliver, line)
                if self._output_closed:
                    return
        finally:
            self._view.clear_status()

    def _may_leave(self) -> bool:
        """Tell whether to leave at once; while a turn still runs the person is asked to confirm,
        one time.
        """
        if not self._left or self._left in self._answered:
            return True
        self._left = ""
        self.hint("still_running")
        return False

    async def send(self, message: OutboundMessage) -> Receipt:
        """Print one part; after the last part of a reply the next line is read."""
        if message.id not in self._shown:
            self._shown.append(message.id)
            self._print(message)
        if message.kind in FINAL_KINDS and message.part_no == message.parts - 1:
            self._answered.append(message.reply_to)
            if (answered := self._waiting.get(message.reply_to)) is not None:
                answered.set()
        return Receipt(platform_id=message.id)

    def show(self, event: LiveEvent) -> None:
        """Show the progress of a turn, while a reply is awaited."""
        if event.name == "failed" and self._options.once is not None:
            self.failed = True
        if not self._waiting:
            return
        if event.name == "delta":
            self._view.delta(event.text, whole=bool(event.facts.get("whole")))
        elif event.name == "tool_started":
            step = int(event.facts.get("step", 0)) + 1
            tool = shorten_line(str(event.facts.get("tool", "")))
            self._view.show_status(
                tool if event.facts.get("planned") else self._text("step", step=step, tool=tool)
            )
        elif event.name == "fold":
            self._view.show_status(self._fold_status(event))
        elif event.name in ("started", "tool_ended"):
            self._view.show_status(self._text("thinking"))

    def _fold_status(self, event: LiveEvent) -> str:
        """Return the text for a fold's state; after its end the turn goes on."""
        key, first, last = (
            f"fold_{event.facts.get('state')}",
            event.facts.get("from_turn"),
            event.facts.get("to_turn"),
        )
        if key not in TEXTS:
            return self._text("thinking")
        if first == last:
            return self._text(key, turns=self._text("turn_one", turn=first))
        return self._text(key, turns=self._text("turn_many", first=first, last=last))

    def hint(self, key: str, **fields: object) -> None:
        """Show one of TEXTS."""
        self._view.hint(self._text(key, **fields))

    def _text(self, key: str, **fields: object) -> str:
        return localized(self.language, key, **fields)

    def _input(self) -> AsyncIterator[str]:
        options = self._options
        if options.once is not None:
            return _single_line(options.once)
        if self._lines is not None:
            return self._lines
        if self.interactive:
            return LinePrompt(options.prompt).lines()
        return read_piped_lines(sys.stdin.fileno(), options.prompt.language)

    async def _send_line(self, deliver: Deliver, text: str) -> None:
        try:
            accepted = (await deliver([await self._message(text)]))[0]
        except (OSError, RuntimeError) as err:
            self.failed = True
            self.hint("lost", why=shorten_line(str(err), 200))
            return
        await self._wait_for_reply(accepted.id)

    async def _message(self, text: str) -> InboundMessage:
        self._count += 1
        files = await self._files(text) if self.interactive else ()
        return InboundMessage(
            address=Address(
                channel=self.name, account=self.account, chat_id=self._options.conversation
            ),
            kind="dm",
            key=f"{self._session}:{self._count}",
            sender=Sender(id="owner"),
            text=text,
            sent_at=datetime.now(UTC),
            attachments=files,
            order_key=f"{self._count:012}",
        )

    async def _files(self, text: str) -> tuple[Attachment, ...]:
        found = await asyncio.to_thread(
            lambda: list(attached_files(text, self._options.prompt.folder))
        )
        for path, err in [item for item in found if isinstance(item, tuple)]:
            self.hint("unread", path=path, why=err)
        return tuple(item for item in found if isinstance(item, Attachment))

    async def _wait_for_reply(self, id: str) -> None:
        """Wait until this message is answered, or the user no longer waits for it."""
        if id in self._answered or self._output_closed:
            return
        self._waiting[id] = asyncio.Event()
        self._view.show_status(self._text("thinking"))
        try:
            with self._handle_interrupts(self._waiting[id]):
                await self._waiting[id].wait()
            if id not in self._answered:
                self._left = id
        finally:
            del self._waiting[id]
            self._view.clear_status()

    @contextmanager
    def _handle_interrupts(self, answered: asyncio.Event) -> Iterator[None]:
        """Let the first Ctrl-C stop the turn, and the second one end the wait."""
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
            if self._options.stop is not None:
                await self._options.stop()
        except (LookupError, OSError, RuntimeError) as err:
            self._view.hint(shorten_line(str(err), 200))

    def _print(self, message: OutboundMessage) -> None:
        if message.reply_to in self._waiting:
            self._view.clear_status()
        try:
            self._view.answer(message.text)
        except BrokenPipeError:
            self._output_closed = True
            for answered in self._waiting.values():
                answered.set()


async def _single_line(text: str) -> AsyncIterator[str]:
    yield text
