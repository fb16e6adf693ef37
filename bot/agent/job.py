"""What a turn is given, and what it comes to."""

from dataclasses import dataclass

from bot.access import Actor, Where
from bot.agent.events import Watched
from bot.agent.tail import Tail
from memory.conversation import Part
from memory.store.records import ConversationRow, TurnRow, TurnState, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One turn to be worked on. model: its id; policy: its name; tail: what travels with the running message.

    words: what the person wrote themselves, "" for nothing but files.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a turn ended. stored: the last message's parts; said: what the person is told; declined: by the model."""

    state: TurnState
    stored: tuple[Part, ...]
    said: str
    usage: tuple[Usage, ...] = ()
    declined: bool = False
