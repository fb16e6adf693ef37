"""What a tool may have to know of the message that its turn answers: who said what, and what else the model sees."""

from bot.agent.job import Job
from bot.outside import from_outside
from bot.tools.base import Occasion
from memory.context.taint import tainted_view
from memory.conversation import Text
from memory.store.doors import Store


async def occasion(store: Store, job: Job) -> Occasion:
    """Of the turn that runs, as the record stands."""
    session = await store.sessions.load(job.conversation.id)
    message = session.turns[-1].messages[0]
    texts = [part.text for part in message.parts if isinstance(part, Text)]
    return Occasion(
        message_id=message.id,
        channel=job.conversation.place.channel,
        words=texts[-1] if texts else "",
        said=message.at,
        tainted=tainted_view(session) or any(await from_outside(store, job.tail.recalled.passages)),
    )
