"""What a house does once after a restart: tells people what waited, and makes views lean where that is wanted."""

from datetime import UTC, datetime, timedelta

from bot.agent.drafting import Drafting
from bot.agent.fit import fold_plan, limits_of
from bot.commands.info import span
from bot.config import Config
from bot.folding import Folding
from bot.gateway import Gateway
from bot.reply import outgoing
from bot.texts import language, say
from memory.context.plan import plan
from memory.context.policy import LEAN
from memory.store.doors import Store

LATE = timedelta(minutes=10)
MOST_LINES = 200
MOST_CONVERSATIONS = 10_000


async def tell_away(store: Store, gateway: Gateway, setting: str) -> None:
    """One notice per conversation whose messages have waited for over ten minutes; the answers follow it."""
    now = datetime.fromtimestamp(store.now(), UTC)
    for conversation in await store.delivery.waiting():
        lines = await store.sessions.lines(conversation, limit=MOST_LINES)
        late = [line for line in lines if line.role == "user" and line.state == "new" and now - line.at > LATE]
        row = await store.sessions.conversation(conversation)
        channel = gateway.channels.get(row.place.channel) if row else None
        if not late or channel is None:
            continue
        lang = language(late[-1].text, setting)
        text = say(lang, "away", span=span(now - late[0].at, lang), count=len(late))
        await store.delivery.notify(conversation, f"away:{late[-1].id}", outgoing(text, "notice", channel.capabilities))


async def make_lean(store: Store, folding: Folding, drafting: Drafting, config: Config, model: str) -> None:
    """`session_restore` "lean": the newest turns stay, as question and answer; what is left out is folded first."""
    counter = await drafting.counter()
    limits = limits_of(config, model, 1.0)
    for row in await store.sessions.conversations(limit=MOST_CONVERSATIONS):
        session = await store.sessions.load(row.id)
        planned = plan(session, LEAN, limits, 0, counter)
        if planned.reductions:
            await store.sessions.reduce(row.id, planned.reductions, "lean restart")
        if planned.fold is not None:
            await folding.begin(fold_plan(session, planned.fold, LEAN.name, counter))
