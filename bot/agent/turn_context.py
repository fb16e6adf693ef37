"""What a turn is given, and what it comes to."""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from bot.access.permissions import AccessScope, Actor
from bot.agent.prompt import TurnSuffix
from channels.message import Address, EventName, LiveEvent
from memory.context.tokens import TokenCounter
from memory.conversation import Part, Role
from memory.store.rows import ConversationRow, NewMessage, TurnRow, TurnState, Usage

# What a turn tells those who watch it, as it happens.

ShowEvent = Callable[[LiveEvent], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class EventSink:
    """Sends events about one inbound message to one place."""

    show: ShowEvent
    address: Address
    message_id: str

    def tell(self, name: EventName, text: str = "", **facts: str | int | float | bool) -> None:
        """Best effort; never raises for a slow or absent watcher."""
        self.show(LiveEvent(address=self.address, name=name, message_id=self.message_id, text=text, facts=facts))


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnTimeouts:
    """Seconds of one turn in one process."""

    #: After which the model is asked for its last words.
    sum_up: float = 720.0
    #: In all.
    most: float = 900.0


DEFAULT_TIMEOUTS = TurnTimeouts()


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnContext:
    """One turn to be worked on."""

    conversation: ConversationRow
    turn: TurnRow
    actor: Actor
    where: AccessScope
    lang: str
    #: What travels with the running message.
    tail: TurnSuffix
    #: Its id.
    model: str
    #: Its name.
    policy: str
    max_steps: int
    event_sink: EventSink
    #: What the person wrote themselves, "" for nothing but files.
    words: str = ""
    #: When this process took it up, in monotonic seconds.
    began: float = field(default_factory=time.monotonic)
    times: TurnTimeouts = DEFAULT_TIMEOUTS


def format_minutes(seconds: float) -> int:
    """As it is told."""
    return round(seconds / 60)


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnResult:
    """How a turn ended."""

    state: TurnState
    #: The last message's parts.
    stored: tuple[Part, ...]
    #: What the person is told.
    said: str
    usage: tuple[Usage, ...] = ()
    #: By the model.
    declined: bool = False
    #: What is stored was said while words from outside were in view.
    tainted: bool = False


# Messages as they are stored: parts, and how many tokens they were counted to, once.


class MessageCounter:
    """Counts with a counter that is loaded, beside the loop, when it is first needed."""

    def __init__(self, load: Callable[[], TokenCounter]) -> None:
        self._load = load
        self._counter: TokenCounter | None = None
        self._loading = asyncio.Lock()

    async def counter(self) -> TokenCounter:
        """The counter; people who write at the same moment wait for one load, which takes 100 MB while it lasts."""
        async with self._loading:
            if self._counter is None:
                self._counter = await asyncio.to_thread(self._load)
        return self._counter

    async def draft(self, role: Role, parts: Sequence[Part], origin: str, *, tainted: bool = False) -> NewMessage:
        """A message ready for the record. origin: person, model, tool or house; tainted: see Message."""
        counter, kept = await self.counter(), tuple(parts)
        tokens = counter.message(role, kept)
        return NewMessage(role=role, parts=kept, tokens=tokens, counter=counter.name, origin=origin, tainted=tainted)
