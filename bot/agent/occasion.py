"""What a tool may have to know of the message that its turn answers: who said what, and what else the model sees."""

from bot.agent.job import Job
from bot.tools.base import Occasion
from memory.context.taint import tainted_view
from memory.conversation import Session
from memory.store.doors import Store


def is_tainted(job: Job, session: Session) -> bool:
    """Whether words from outside, or what rests on them, are in the conversation that the model sees. Pure.

    What a request recalls is not looked at: the answer to that request bears its label.
    """
    return job.where.kind == "group" or tainted_view(session)


async def occasion(store: Store, job: Job) -> Occasion:
    """Of the turn that runs, as the record stands."""
    session = await store.sessions.load(job.conversation.id)
    message = session.turns[-1].messages[0]
    return Occasion(
        message_id=message.id,
        channel=job.conversation.place.channel,
        words=job.words,
        said=message.at,
        tainted=is_tainted(job, session),
    )
