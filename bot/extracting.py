"""Keeps the noting of facts going in the background: one turn at a time per space, a few spaces beside each other."""

from bot.access import authorize
from bot.agent.job import Ended, Job
from bot.brain import Brain
from bot.config import Config
from bot.dispatch.lanes import LanesOf
from bot.dispatch.local import local
from bot.errors import ModelError
from bot.models.base import Purpose
from memory.longterm.extracting import Extracting, NoModel, Settings
from memory.longterm.extraction import Exchange, Rules, worth_reading
from memory.store.doors import Sessions
from memory.store.memory_doors import Extractions
from memory.summaries import Complete

AT_ONCE = 4
"""Spaces whose turns are read beside each other."""


class Extractor:
    """Works off the queues. No reply waits for it; what is open at the end of the process goes on at the next start."""

    def __init__(self, extracting: Extracting, extractions: Extractions, lanes_of: LanesOf = local) -> None:
        self._extractions = extractions
        self.lanes = lanes_of("facts", extracting.step, AT_ONCE)

    def wake(self, space: str) -> None:
        """Something was put into this space's queue."""
        self.lanes.wake(space)

    async def resume(self) -> None:
        """Go on with what an earlier process left open."""
        for space in await self._extractions.spaces():
            self.wake(space)

    async def settled(self) -> None:
        """Wait until nothing is under way; rows that have to wait stay open."""
        await self.lanes.settled()

    async def close(self) -> None:
        """Stop at once."""
        await self.lanes.close(0)


def settings_of(config: Config) -> Settings:
    """What of the configuration says which facts are noted."""
    memory = config.memory
    return Settings(
        extract=memory.extract,
        rules=Rules(categories=tuple(memory.categories), min_importance=memory.min_importance),
    )


def asking(brain: Brain, sessions: Sessions, purpose: Purpose = "extract") -> Complete:
    """The fast model, its use noted under that purpose; NoModel where there is none."""

    async def complete(system: str, prompt: str, max_tokens: int, conversation: str) -> str:
        try:
            text, used = await brain.complete(system, prompt, max_tokens, purpose)
        except ModelError as err:
            if err.kind == "offline":
                raise NoModel from err
            raise
        await sessions.spend(conversation, [used])
        return text

    return complete


def to_remember(job: Job, ended: Ended, config: Config) -> bool:
    """Whether a turn that ends so is to be read for facts: answered, in private, and by a person who may write memory.

    A tainted turn is no exception: whatever the view holds, only the person's own words count (see Exchange).
    """
    if ended.state != "done" or ended.declined or not config.memory.extract:
        return False
    if job.conversation.place.kind != "dm":
        return False
    if not authorize(job.actor, "memory.write", job.where.space, job.where).allowed:
        return False
    return worth_reading(Exchange(user=job.words, bot=ended.said))
