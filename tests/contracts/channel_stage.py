"""A channel with its platform as the contract sees them, and test doubles of what a bot passes to a
channel.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, Literal, Protocol

from channels.base import NO_NOTEBOOK_CHANGES, Channel
from channels.errors import ChannelError
from channels.message import Accepted, Address, InboundMessage, OutboundMessage

Fault = Literal[
    "html_502",  # a gateway's page instead of a response; not delivered
    "status_500",  # an error of the platform itself; not delivered
    "error_in_200",  # a good status with a refusal inside; not delivered
    "empty_body",  # a good status without a body
    "cut_body",  # delivered, but the response is cut
    "reset",  # the connection is closed before a response
    "no_answer",  # the connection stays open without a response
    "unreachable",  # the connection is refused
    "expired_token",  # the access token has expired; a new one works
    "bad_format",  # the markup is refused; plain text would be accepted
    "chat_gone",  # the person's chat accepts no more messages
]
Cut = Literal["silent", "refused", "errors"]
# Timeout of a wait in seconds; stages use polls and answer timeouts of two or three.
WAIT = 40.0


class Stage(Protocol):
    """A channel with its platform, as a test sees it.

    Acts of people take effect and return at once.

    A test case that needs what a platform lacks is left out if the suite's `not_here` gives the
    reason; see channel_cases. Every stage has `say`, `seen`, `confirmed` and `until`.

    channel: made with short times (a poll of 2 s, answers within 3 s). address: the chat of `say`.
    notebook: bound to the channel first; a stage that has to fill it (with a login, say) sets it,
    otherwise the suite does.
    """

    channel: Channel
    address: Address
    notebook: "Pages"

    def say(self, text: str) -> None:
        """A person writes to the bot in private."""

    def say_again(self) -> None:
        """The platform delivers the last message again."""

    def seen(self) -> list[str]:
        """Return what that person sees in that chat, in order, as plain text."""

    def confirmed(self) -> int:
        """Return how many events were acknowledged to the platform, including repeats."""

    def refuse_next(self, seconds: float) -> None:
        """The next send is rate-limited for so long."""

    def lose_next(self) -> None:
        """The next send is delivered, but its response is lost."""

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait for a condition on the platform."""

    # -- restarts and time ------------------------------------------------------------------------

    async def restart(self) -> None:
        """The program dies and starts again: its connections end, `channel` is a new one with the
        same settings.
        """

    #: Pauses in seconds after which the platform repeats an unacknowledged event.
    redeliveries: Sequence[float]

    def later(self, seconds: float) -> None:
        """The clock of both sides jumps ahead."""

    def say_shuffled(self, texts: Sequence[str]) -> None:
        """A person writes these texts in order; the platform delivers them in another, as parallel
        calls may.
        """

    # -- other things people do -------------------------------------------------------------------

    group: Address

    def say_in_group(self, text: str, to_us: bool) -> None:
        """A person writes in `group`; to_us: with a mention of the bot."""

    def edit(self, text: str) -> None:
        """The person edits the last message of `say`."""

    def withdraw(self) -> None:
        """The person deletes the last message of `say`."""

    def quote(self, text: str, quoted: str) -> None:
        """A person replies to a message with the text `quoted`, written by themselves or another
        person.
        """

    def press(self, data: str) -> None:
        """The person presses the button with these data under the bot's last message."""

    def send_album(self, pictures: Sequence[bytes]) -> None:
        """The person sends several pictures as one album."""

    def send_picture(self, data: bytes) -> None:
        """The person sends a picture without text."""

    def send_file(self, name: str, data: bytes) -> None:
        """The person sends a file without text."""

    def forget_files(self) -> None:
        """The platform deletes the files of earlier messages."""

    def move(self) -> str:
        """`group` gets a new id; returns it."""

    def take_us_in(self) -> None:
        """The bot is added to `group`."""

    def odd(self) -> int:
        """The platform delivers unknown and malformed events; returns how many."""

    def another_says(self, text: str) -> None:
        """A second person writes to the bot in private."""

    # -- what people see --------------------------------------------------------------------------

    person: str
    #: Ids of the senders of `say` and of `another_says`.
    other_person: str

    def another_sees(self) -> list[str]:
        """Return what the second person sees."""

    def files_seen(self) -> list[tuple[str, bytes]]:
        """Return files and pictures that the person sees: name ("" if the platform shows none) and
        bytes.
        """

    def live(self) -> str:
        """Return the unfinished reply that the person sees, "" for none; it is not part of
        `seen`.
        """

    # -- what goes wrong --------------------------------------------------------------------------

    def spoil(self, fault: Fault) -> None:
        """The next send fails in this way."""

    def flood(self, seconds: float) -> None:
        """The person's chat accepts no message for so long; other chats do."""

    async def cut(self, how: Cut) -> None:
        """The platform fails: it hangs, refuses connections, or answers with errors."""

    async def mend(self) -> None:
        """The platform works again."""

    def revoke(self) -> None:
        """The credentials become invalid."""

    async def rival(self) -> None:
        """Another program starts to receive with the same credentials."""

    # -- configuration ----------------------------------------------------------------------------

    def config(self) -> dict[str, Any]:
        """Return the channel's section of config.json, without owners and allow."""


class Pages:
    """A `Notebook` in memory."""

    def __init__(self, **values: str) -> None:
        self.values = dict(values)

    async def read(self, start: str = "") -> dict[str, str]:
        return {name: value for name, value in self.values.items() if name.startswith(start)}

    async def write(self, values: Mapping[str, str]) -> None:
        self.keep(values)

    def keep(self, values: Mapping[str, str]) -> None:
        self.values.update(values)
        for name in [name for name, value in values.items() if not value]:
            del self.values[name]


class Inbox:
    """A `Deliver` that records; it first raises `failures`, and waits while `gate` is not set.

    stored: each message once; heard: with repeats. notebook: gets the changes that come with them.
    """

    def __init__(self, failures: Sequence[Exception] = (), notebook: Pages | None = None) -> None:
        self.stored: list[InboundMessage] = []
        self.heard: list[InboundMessage] = []
        self.tried = 0
        self.notebook = notebook or Pages()
        self.came = asyncio.Event()
        self.gate = asyncio.Event()
        self.gate.set()
        self.dead = False
        self._failures = list(failures)
        self._moved = asyncio.Event()

    @property
    def pages(self) -> dict[str, str]:
        return self.notebook.values

    @property
    def texts(self) -> list[str]:
        return [message.text for message in self.stored]

    async def __call__(
        self, messages: Sequence[InboundMessage], keep: Mapping[str, str] = NO_NOTEBOOK_CHANGES
    ) -> list[Accepted]:
        self.tried += 1
        if self._failures:
            raise self._failures.pop(0)
        self.came.set()
        await self.gate.wait()
        if self.dead:
            raise RuntimeError("the program is dead")
        accepted = [self._take(message) for message in messages]
        self.notebook.keep(keep)
        self._moved.set()
        self._moved = asyncio.Event()
        return accepted

    async def until(self, count: int) -> list[InboundMessage]:
        """Wait for so many different messages; return them."""
        async with asyncio.timeout(WAIT):
            while len(self.stored) < count:
                await self._moved.wait()
        return self.stored

    def die(self) -> None:
        """Let the program die: waiting messages are never stored, nor later ones."""
        self.dead = True
        self.gate.set()

    def _take(self, message: InboundMessage) -> Accepted:
        new = message.key not in {known.key for known in self.stored}
        self.heard.append(message)
        if new:
            self.stored.append(message)
        return Accepted(id=message.key, new=new)


@asynccontextmanager
async def listening(channel: Channel, inbox: Inbox) -> AsyncIterator[asyncio.Task[None]]:
    """Let the channel receive; if it ends, the task's error says why."""
    task = asyncio.create_task(channel.run(inbox))
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@asynccontextmanager
async def receive_with_restarts(
    channel: Channel, inbox: Inbox
) -> AsyncIterator[list[ChannelError]]:
    """Let the channel receive and restart it after each end, as the bot does; yields its errors."""
    errors: list[ChannelError] = []

    async def again() -> None:
        while True:
            try:
                await channel.run(inbox)
            except ChannelError as err:
                errors.append(err)
            await asyncio.sleep(0.05)

    task = asyncio.create_task(again())
    try:
        yield errors
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def eventually(holds: Callable[[], Any]) -> None:
    """Wait for a condition without an event."""
    async with asyncio.timeout(WAIT):
        while True:
            if holds():
                return
            await asyncio.sleep(0.02)


def bind(stage: Stage) -> None:
    """Set the notebook of the stage's channel, if it takes one."""
    take = getattr(stage.channel, "bind", None)
    if take is not None:
        take(stage.notebook)


async def restart_program(stage: Stage) -> None:
    """Kill and restart the program; the notebook survives."""
    await stage.restart()
    bind(stage)


def part(stage: Stage, text: str, number: int = 0, **others: Any) -> OutboundMessage:
    """Make one part of a reply to the stage's person."""
    made = OutboundMessage(
        id=f"o{number}", address=stage.address, client_key=f"k{number}", text=text, part_no=number
    )
    return replace(made, **others)
