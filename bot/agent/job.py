"""What a turn is given, and what it comes to."""

import time
from dataclasses import dataclass, field

from bot.access import Actor, Where
from bot.agent.events import Watched
from bot.agent.tail import Tail
from memory.conversation import Part
from memory.store.records import ConversationRow, TurnRow, TurnState, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """Seconds of one turn in one process. sum_up: after which the model is asked for its last words; most: in all."""

    sum_up: float = 720.0
    most: float = 900.0


USUAL = Times()


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One turn to be worked on. model: its id; policy: its name; tail: what travels with the running message.

    words: what the person wrote themselves, "" for nothing but files. began: when this process took it up, in monotonic
    seconds.
    """

    conversation: ConversationRow
    turn: TurnRow
    actor: Actor
    where: Where
    lang: str
    tail: Tail
    model: str
    policy: str
    max_steps: int
    watched: Watched
    words: str = ""
    began: float = field(default_factory=time.monotonic)
    times: Times = USUAL


def minutes(seconds: float) -> int:
    """As it is told."""
    return round(seconds / 60)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a turn ended. stored: the last message's parts; said: what the person is told; declined: by the model.

    tainted: what is stored was said while words from outside were in view.
    """

    state: TurnState
    stored: tuple[Part, ...]
    said: str
    usage: tuple[Usage, ...] = ()
    declined: bool = False
    tainted: bool = False
