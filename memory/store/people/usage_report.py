"""Sums of tokens for the report of usage: by day, and by conversation.

Reads only the days that are asked for.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from sqlalchemy import bindparam, case, func, select

from memory.store.engine.database import Repository, Tx, read
from memory.store.people.spending import OWNER, ModelUsage
from memory.store.schema.tables import literal_text, usage

_TOKENS = ("input", "output", "cache_read", "cache_write")
_SUMS = [func.count().label("calls"), *(func.sum(usage.c[name]).label(name) for name in _TOKENS)]
_WITHIN = (usage.c.at >= bindparam("since"), usage.c.at < bindparam("until"))
_WHO = case(
    (usage.c.who == literal_text(OWNER), literal_text(OWNER)), else_=literal_text("")
).label("who")
_SUM_OF_DAY = (
    select(usage.c.model, usage.c.purpose, _WHO, *_SUMS)
    .where(*_WITHIN)
    .group_by(usage.c.model, usage.c.purpose, _WHO)
    .order_by(usage.c.model, usage.c.purpose, _WHO)
)
_SUM_BY_CONVERSATION = (
    select(usage.c.conversation, usage.c.model, *_SUMS)
    .where(*_WITHIN, usage.c.conversation != literal_text(""))
    .group_by(usage.c.conversation, usage.c.model)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationUsage:
    """Use of models in one conversation."""

    #: Id of its row.
    conversation: str
    used: tuple[ModelUsage, ...]


async def _load_days(tx: Tx, bounds: Sequence[float]) -> list[list[ModelUsage]]:
    """Sum each day by model, purpose and whether the owner used it. bounds: each day's start, and
    the last one's end.

    `who` is the owner's account, or "" for all other people.
    """
    return [
        [
            ModelUsage(**row)
            for row in (await tx.execute(_SUM_OF_DAY, since=since, until=until)).all()
        ]
        for since, until in pairwise(bounds)
    ]


async def _load_conversations(tx: Tx, since: float, until: float) -> list[ConversationUsage]:
    """Sum what each conversation used between two times."""
    found: dict[str, list[ModelUsage]] = {}
    for row in (await tx.execute(_SUM_BY_CONVERSATION, since=since, until=until)).all():
        values = dict(row)
        found.setdefault(values.pop("conversation"), []).append(ModelUsage(**values))
    return [ConversationUsage(conversation=id, used=tuple(used)) for id, used in found.items()]


class UsageReport(Repository):
    """Sums for the report of usage."""

    days = read(_load_days)
    conversations = read(_load_conversations)
