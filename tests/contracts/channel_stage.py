"""A channel with its platform as the contract sees them, and what stands behind the channel meanwhile."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, Literal, Protocol

from channels.base import NO_NOTEBOOK_CHANGES, Channel
from channels.errors import ChannelError
from channels.message import Accepted, Address, InboundMessage, OutboundMessage

Fault = Literal[
    "html_502",  # a gateway's page instead of the answer; nothing is done
    "status_500",  # as the platform says it itself; nothing is done
    "error_in_200",  # a good status with a refusal inside; nothing is done
    "empty_body",  # a good status and nothing else
    "cut_body",  # it is done, half of the answer comes
    "reset",  # the connection is closed before an answer
    "no_answer",  # it stays open, and nothing comes
    "unreachable",  # nobody takes the connection
    "expired_token",  # the token that calls are made with holds no longer; a fresh one would
    "bad_format",  # the markup is refused; plain text would be taken
    "chat_gone",  # the person's chat is closed to us, from now on
]
Cut = Literal["silent", "refused", "errors"]
# Seconds after which a wait is given up; stages are built with times (of polls, of answers) of two or three.
WAIT = 40.0


class Stage(Protocol):
    """A channel with its platform, as a test sees it. All that people do is done at once and returns at once.

    A case that needs what a platform has not is left out where the suite's `not_here` gives the reason; see
    channel_cases. `say`, `seen`, `confirmed` and `until` are for everyone.

    channel: made with short times (a poll of 2 s, answers within 3 s). address: where `say` is heard.
    notebook: what the suite binds to the channel before anything else; given by a stage that has to fill it (with a
    login, say), else the suite makes one and sets it.
    """

    channel: Channel
    address: Address
    notebook: "Pages"

    def say(self, text: str) -> None:
        """A person writes to the bot alone."""

    def say_again(self) -> None:
        """The platform brings the last message once more."""

    def seen(self) -> list[str]:
        """What that person sees in that chat, in order, as plain words."""

    def confirmed(self) -> int:
        """How many events the platform holds for delivered, repeats included."""

    def refuse_next(self, seconds: float) -> None:
        """The next send comes too early by so much."""

    def lose_next(self) -> None:
        """The next send arrives, its answer does not."""

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait for something to be true of the platform."""

    # -- lives and time ---------------------------------------------------------------------------

    async def restart(self) -> None:
        """The program has died and begins anew: its connections end, `channel` is another one, built alike."""

    #: After how many seconds the platform brings an event again that was not confirmed, each from the one before.
    redeliveries: Sequence[float]

    def later(self, seconds: float) -> None:
        """The clock that both sides go by jumps ahead."""

    def say_shuffled(self, texts: Sequence[str]) -> None:
        """They are written in this order, and brought in another, as parallel calls may be."""

    # -- other things people do -------------------------------------------------------------------

    group: Address

    def say_in_group(self, text: str, to_us: bool) -> None:
        """Somebody writes at `group`; to_us: with our name before it, as people on that platform do."""

    def edit(self, text: str) -> None:
        """The last message of `say` is changed to this."""

    def withdraw(self) -> None:
        """The last message of `say` is taken back."""

    def quote(self, text: str, quoted: str) -> None:
        """A person answers a message that says `quoted`, written before by another person or themselves."""

    def press(self, data: str) -> None:
        """The button with these data is pressed, under the last message of ours."""

    def send_album(self, pictures: Sequence[bytes]) -> None:
        """Several pictures sent as one."""

    def send_picture(self, data: bytes) -> None:
        """One picture, without words."""

    def send_file(self, name: str, data: bytes) -> None:
        """One file, without words."""

    def forget_files(self) -> None:
        """The platform does not have the files of former messages any longer."""

    def move(self) -> str:
        """`group` goes by another id from now on; returns it."""

    def take_us_in(self) -> None:
        """We are taken into `group`."""

    def odd(self) -> int:
        """Events of an unknown kind, and malformed ones of known kinds, no person's words; returns how many."""

    def another_says(self, text: str) -> None:
        """A second person writes to the bot alone, in a chat of their own."""

    # -- what people see --------------------------------------------------------------------------

    person: str
    #: Ids of who speaks by `say` and by `another_says`.
    other_person: str

    def another_sees(self) -> list[str]:
        """What the second person sees."""

    def files_seen(self) -> list[tuple[str, bytes]]:
        """Files and pictures that the person sees: name ("" where the platform shows none) and bytes."""

    def live(self) -> str:
        """What the person sees being written right now, "" for nothing; none of it is in `seen`."""

    # -- what goes wrong --------------------------------------------------------------------------

    def spoil(self, fault: Fault) -> None:
        """The next send meets this."""

    def flood(self, seconds: float) -> None:
        """From now on, for so long, the person's chat takes no message of ours; others do."""

    async def cut(self, how: Cut) -> None:
        """From now on nothing of the platform reaches us: it hangs, takes no connection, or answers with errors."""

    async def mend(self) -> None:
        """It does again."""

    def revoke(self) -> None:
        """Our credentials hold no longer."""

    async def rival(self) -> None:
        """Another program begins to receive in our place."""

    # -- the house --------------------------------------------------------------------------------

    def config(self) -> dict[str, Any]:
        """Our part of config.json under `channels`, without owners and allow."""


class Pages:
    """A `Notebook` that is a dict."""

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
    """A `Deliver` that remembers; fails so often first, and holds back while `gate` is not set.

    stored: each message once; heard: with repeats. notebook: gets what is to be kept with them.
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
        """Wait for so many different messages; returns them."""
        async with asyncio.timeout(WAIT):
            while len(self.stored) < count:
                await self._moved.wait()
        return self.stored

    def die(self) -> None:
        """What is held back is never stored, nor is anything after it."""
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
    """The channel hears into the inbox; should it end, the task's error says why."""
    task = asyncio.create_task(channel.run(inbox))
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@asynccontextmanager
async def hearing_on(channel: Channel, inbox: Inbox) -> AsyncIterator[list[ChannelError]]:
    """The same, begun again each time it ends, as the house does; gives the errors with which it ended."""
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
    """Wait for something that no event tells of."""
    async with asyncio.timeout(WAIT):
        while True:
            if holds():
                return
            await asyncio.sleep(0.02)


def bind(stage: Stage) -> None:
    """Give the stage's channel its notebook, if it takes one."""
    take = getattr(stage.channel, "bind", None)
    if take is not None:
        take(stage.notebook)


async def begin_anew(stage: Stage) -> None:
    """The program dies and starts; what it kept is there."""
    await stage.restart()
    bind(stage)


def part(stage: Stage, text: str, number: int = 0, **others: Any) -> OutboundMessage:
    """One part of an answer to the stage's person."""
    made = OutboundMessage(id=f"o{number}", address=stage.address, client_key=f"k{number}", text=text, part_no=number)
    return replace(made, **others)
