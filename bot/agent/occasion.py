"""What a tool may have to know of the message that its turn answers: who said what, and what else the model sees."""

from bot.agent.job import Job
from bot.outside import from_outside
from bot.tools.base import Occasion
from memory.context.taint import tainted_view
from memory.store.doors import Store


async def occasion(store: Store, job: Job) -> Occasion:
    """Of the turn that runs, as the record stands."""
    session = await store.sessions.load(job.conversation.id)
    message = session.turns[-1].messages[0]
    return Occasion(
        message_id=message.id,
        channel=job.conversation.place.channel,
        words=job.words,
        said=message.at,
        tainted=job.where.kind == "group"
        or tainted_view(session)
        or any(await from_outside(store, job.tail.recalled.passages)),
    )
