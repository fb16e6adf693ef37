"""Sums what each person used: turns, tokens and tool calls by time.

Also refuses messages over a limit.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, Literal

from sqlalchemy import (
    ColumnElement,
    CompoundSelect,
    Select,
    bindparam,
    func,
    literal_column,
    select,
    union_all,
    update,
)

from memory.store.conversations.turns import settle_inbox_row
from memory.store.engine.database import (
    Repository,
    Row,
    Statement,
    Tx,
    insert_into,
    light,
    read,
    write,
)
from memory.store.errors import WrongState
from memory.store.people.people import BLOB_NAME
from memory.store.rows import NewOutboxRow
from memory.store.schema.tables import (
    conversation,
    inbox,
    is_one_of,
    limit_told,
    literal_text,
    message,
    tool_call,
    turn,
    usage,
)

OWNER = "owner"  # account of the owner's turns on all channels; every other account has a colon
SpendingPart = Literal["messages", "everybody", "tokens", "whole"]
ALL_PARTS: frozenset[SpendingPart] = frozenset({"messages", "everybody", "tokens", "whole"})


@dataclass(frozen=True, slots=True, kw_only=True)
class SpendingQuery:
    """What to sum, for which person and since when. Times are unix seconds."""

    #: The person's account.
    who: str
    #: Start of the minute, exclusive; its end is `asked`.
    minute: float
    asked: float
    #: Start of the day.
    day: float
    #: Limits of the counts of turns in the minute and in the day; the rest is not counted.
    most: tuple[int, int]
    #: Id of a turn that is not counted as running.
    turn: str = ""
    #: Start of the person's tokens.
    mine: float = 0.0
    #: Start of everyone's tokens and turns.
    whole: float = 0.0
    #: What to load; the rest stays empty. "messages": the person's turns of the minute and the day;
    #: "everybody": turns of all people; "tokens": the person's tokens and running turns; "whole":
    #: tokens of all people.
    wants: frozenset[SpendingPart] = ALL_PARTS


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelUsage:
    """Tokens of calls to one model."""

    model: str
    calls: int
    #: Including cached tokens.
    input: int
    output: int
    cache_read: int
    cache_write: int
    #: "" for any.
    who: str = ""
    #: "" for any.
    purpose: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpendingTotals:
    """What a person used, and what all people but the owner used."""

    #: Times of the person's messages in the minute, newest first.
    minute: tuple[float, ...] = ()
    #: Number of the person's turns of the day.
    today: int = 0
    #: Number of turns of all people.
    everybody: int = 0
    #: Number of the person's other open turns.
    running: int = 0
    #: The person's tokens by model.
    used: tuple[ModelUsage, ...] = ()
    #: Tokens of all people by model.
    whole: tuple[ModelUsage, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitNotice:
    """A message to a person that a limit was reached."""

    who: str
    limit: str
    #: When the refused message was received, unix seconds.
    asked: float
    #: When the limit ends, unix seconds.
    until: float


OVER = "over budget"
_LITERAL_ONE: ColumnElement[int] = literal_column("1")
_IS_OF_PERSON = turn.c.who == bindparam("who")
_IS_OF_OTHERS = (turn.c.who != literal_text("")) & (turn.c.who != literal_text(OWNER))
_SELECT_MINUTE = (
    select(turn.c.asked)
    .where(_IS_OF_PERSON, turn.c.asked > bindparam("minute"), turn.c.asked <= bindparam("asked"))
    .order_by(turn.c.asked.desc())
    .limit(bindparam("minute_limit"))
    .subquery()
)
_SELECT_DAY = (
    select(_LITERAL_ONE.label("one"))
    .where(_IS_OF_PERSON, turn.c.asked >= bindparam("day"))
    .limit(bindparam("day_limit"))
    .subquery()
)
# Parameters of each part's query.
_PARAMETERS: Mapping[SpendingPart, Sequence[str]] = {
    "messages": ("who", "minute", "asked", "minute_limit", "day", "day_limit"),
    "everybody": ("whole",),
    "tokens": ("who", "turn", "mine"),
    "whole": ("whole",),
}
_COUNT_TURNS = (
    select(func.count().label("count"))
    .select_from(turn)
    .where(turn.c.started >= bindparam("since"), turn.c.started < bindparam("until"), _IS_OF_OTHERS)
)
_IS_RUNNING = (
    is_one_of(turn.c.state, "running", "waiting"),
    # makes the planner use the index of open turns, which are few
    turn.c.conversation > literal_text(""),
    func.coalesce(turn.c.who, literal_text("")) == bindparam("who"),
    turn.c.id != bindparam("turn"),
)
_TOKENS = ("input", "output", "cache_read", "cache_write")
_SUMS = [func.count().label("calls"), *(func.sum(usage.c[name]).label(name) for name in _TOKENS)]
_SUM_OF_PERSON = (
    select(usage.c.model, *_SUMS)
    .where(
        usage.c.who == bindparam("who"),
        usage.c.at >= bindparam("since"),
        usage.c.at < bindparam("until"),
    )
    .group_by(usage.c.model)
)
_SUM_OF_ALL = (
    select(usage.c.model, *_SUMS)
    .where(
        usage.c.at >= bindparam("since"),
        usage.c.at < bindparam("until"),
        usage.c.who != literal_text(OWNER),
    )
    .group_by(usage.c.model)
)
_SUM_BY_PERSON = (
    select(usage.c.who, usage.c.model, usage.c.purpose, *_SUMS)
    .where(usage.c.at >= bindparam("since"))
    .group_by(usage.c.who, usage.c.model, usage.c.purpose)
    .order_by(usage.c.who, usage.c.model, usage.c.purpose)
)
_SUM_BY_PURPOSE = _SUM_BY_PERSON.where(usage.c.who == bindparam("who"))
_COUNT_CALLS = (
    select(func.count().label("count"))
    .select_from(turn.join(tool_call, tool_call.c.turn_id == turn.c.id))
    .where(
        _IS_OF_PERSON,
        turn.c.asked >= bindparam("since"),
        tool_call.c.state != literal_text("denied"),
    )
)
_COUNT_CALLS_OF_TOOL = _COUNT_CALLS.where(tool_call.c.name == bindparam("name"))
_IS_NOTICE = [
    limit_told.c[name] == bindparam(name) for name in ("who", "conversation", "limit_name")
]
_SELECT_NOTICE = select(limit_told.c.until).where(*_IS_NOTICE)
_UPDATE_NOTICE = update(limit_told).where(*_IS_NOTICE).values(until=bindparam("new_until"))
_SELECT_CONVERSATION = select(inbox.c.conversation).where(inbox.c.id == bindparam("id"))
_IGNORE_INBOX_ROW = (
    update(inbox)
    .where(inbox.c.id == bindparam("id"), inbox.c.state == literal_text("new"))
    .values(state=literal_text("ignored"), reason=literal_text(OVER))
)
_SELECT_CONVERSATIONS = select(conversation.c.id).where(conversation.c.space == bindparam("space"))
_SELECT_PARTS = select(message.c.parts.label("text")).where(
    message.c.conversation == bindparam("conversation"), message.c.parts.like('%"sha256"%')
)
_SELECT_BODIES = select(inbox.c.body.label("text")).where(
    inbox.c.conversation == bindparam("conversation"), inbox.c.body.like('%"files"%')
)


async def _load_totals(tx: Tx, query: SpendingQuery) -> SpendingTotals:
    """Load everything that one person's limits are compared with, in one query."""
    limits = dict(zip(("minute_limit", "day_limit"), query.most, strict=True))
    names = {name for part in query.wants for name in _PARAMETERS[part]}
    values = {name: limits[name] if name in limits else getattr(query, name) for name in names}
    rows = (await tx.execute(_union(query.wants), **values)).all()
    by_kind: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_kind[row["kind"]].append(row)
    return SpendingTotals(
        minute=tuple(sorted((row["at"] for row in by_kind["minute"]), reverse=True)),
        today=_sum_calls(by_kind["today"]),
        everybody=_sum_calls(by_kind["everybody"]),
        running=_sum_calls(by_kind["running"]),
        used=tuple(map(_to_model_usage, by_kind["used"])),
        whole=tuple(map(_to_model_usage, by_kind["whole"])),
    )


@light
async def load_newest_usage(tx: Tx, query: SpendingQuery) -> SpendingTotals:
    """Load the totals of a query that wants tokens alone: few rows, as only the last minutes are in
    no cached sum.
    """
    return await _load_totals(tx, query)


@cache
def _union(wants: frozenset[SpendingPart]) -> CompoundSelect[Any]:
    """One statement for all wanted parts, whose rows have a kind and either a time, a count, or a
    model's tokens.
    """
    parts: dict[SpendingPart, list[Select[Any]]] = {
        "messages": [
            _select_kind("minute", at=_SELECT_MINUTE.c.asked),
            _select_kind("today", calls=func.count()).select_from(_SELECT_DAY),
        ],
        "everybody": [
            _select_turns("everybody").where(turn.c.started >= bindparam("whole"), _IS_OF_OTHERS)
        ],
        "tokens": [
            _select_turns("running").where(*_IS_RUNNING),
            _select_tokens("used").where(
                usage.c.who == bindparam("who"), usage.c.at >= bindparam("mine")
            ),
        ],
        "whole": [
            _select_tokens("whole").where(
                usage.c.at >= bindparam("whole"), usage.c.who != literal_text(OWNER)
            )
        ],
    }
    return union_all(*(one for part, queries in parts.items() if part in wants for one in queries))


def _select_kind(kind: str, **given: ColumnElement[Any]) -> Select[Any]:
    columns: dict[str, ColumnElement[Any]] = {
        "model": literal_text(""),
        "at": literal_column("0.0"),
        **dict.fromkeys(("calls", *_TOKENS), literal_column("0")),
        **given,
    }
    return select(
        literal_text(kind).label("kind"), *(column.label(name) for name, column in columns.items())
    )


def _select_turns(kind: str) -> Select[Any]:
    return _select_kind(kind, calls=func.count()).select_from(turn)


def _select_tokens(kind: str) -> Select[Any]:
    sums = {name: func.sum(usage.c[name]) for name in _TOKENS}
    return _select_kind(kind, model=usage.c.model, calls=func.count(), **sums).group_by(
        usage.c.model
    )


def _sum_calls(rows: Sequence[Row]) -> int:
    return sum(int(row["calls"]) for row in rows)


def _to_model_usage(row: Row) -> ModelUsage:
    return ModelUsage(**{name: row[name] for name in ("model", "calls", *_TOKENS)})


async def _load_own_usage(tx: Tx, who: str, since: float, until: float) -> list[ModelUsage]:
    """Sum a person's tokens between two times, by model."""
    return [
        ModelUsage(**row)
        for row in (await tx.execute(_SUM_OF_PERSON, who=who, since=since, until=until)).all()
    ]


async def _load_usage_of_all(tx: Tx, since: float, until: float) -> tuple[int, list[ModelUsage]]:
    """Count turns and sum tokens by model between two times, of all people but the owner."""
    used = [
        ModelUsage(**row) for row in (await tx.execute(_SUM_OF_ALL, since=since, until=until)).all()
    ]
    return await _count(tx, _COUNT_TURNS, since=since, until=until), used


async def _load_sums(tx: Tx, since: datetime, who: str = "") -> list[ModelUsage]:
    """Sum tokens by person, model and purpose. who: "" for all people."""
    statement, person = (_SUM_BY_PURPOSE, {"who": who}) if who else (_SUM_BY_PERSON, {})
    return [
        ModelUsage(**row)
        for row in (await tx.execute(statement, since=since.timestamp(), **person)).all()
    ]


async def _count_calls(tx: Tx, who: str, since: float, tools: Sequence[str] = ()) -> int:
    """Count the tool calls of a person's turns that were not denied. tools: () for all tools."""
    if not tools:
        return await _count(tx, _COUNT_CALLS, who=who, since=since)
    return sum(
        [await _count(tx, _COUNT_CALLS_OF_TOOL, who=who, since=since, name=tool) for tool in tools]
    )


async def _load_conversations(tx: Tx, space: str) -> list[str]:
    return [row["id"] for row in (await tx.execute(_SELECT_CONVERSATIONS, space=space)).all()]


async def _load_blobs(tx: Tx, conversation: str) -> set[str]:
    queries = (_SELECT_PARTS, _SELECT_BODIES)
    rows = [
        row
        for query in queries
        for row in (await tx.execute(query, conversation=conversation)).all()
    ]
    return {name for row in rows for name in BLOB_NAME.findall(row["text"])}


async def _refuse_message(
    tx: Tx, inbox_id: str, notice: LimitNotice, out: Sequence[NewOutboxRow]
) -> bool:
    """End an inbox row that is over a limit, with a reply unless one about this limit was already
    sent.

    Returns:
        Whether the reply is sent.
    """
    row = (await tx.execute(_SELECT_CONVERSATION, id=inbox_id)).first()
    if row is None:
        raise WrongState(f"inbox row {inbox_id} is missing, not new")
    key = {"who": notice.who, "conversation": row["conversation"], "limit_name": notice.limit}
    known = (await tx.execute(_SELECT_NOTICE, **key)).first()
    if known is not None and known["until"] > notice.asked:
        if not (await tx.execute(_IGNORE_INBOX_ROW, id=inbox_id)).rowcount:
            raise WrongState(f"inbox row {inbox_id} is not new")
        return False
    if not (await tx.execute(_UPDATE_NOTICE, new_until=notice.until, **key)).rowcount:
        await tx.execute(insert_into(limit_told), until=notice.until, **key)
    await settle_inbox_row(tx, inbox_id, out)
    return True


async def _count(tx: Tx, statement: Statement, **values: object) -> int:
    row = (await tx.execute(statement, **values)).first()
    return int(row["count"]) if row else 0


class Spending(Repository):
    """What people used. Read from the store, so the same for every process."""

    sum_of_person = read(_load_own_usage)
    sum_of_all = read(_load_usage_of_all)
    sum_by_person = read(_load_sums)
    count_calls = read(_count_calls)
    refuse = write(_refuse_message)

    async def load_totals(self, query: SpendingQuery) -> SpendingTotals:
        """Load everything that one person's limits are compared with."""
        is_light = query.wants <= {"tokens", "whole"}
        return await self._database.read(load_newest_usage if is_light else _load_totals, query)

    async def files(self, space: str) -> set[str]:
        """List the blobs that conversations of this space refer to, linked spaces excluded."""
        found = set[str]()
        for id in await self._database.read(_load_conversations, space):
            found |= await self._database.read(_load_blobs, id)
        return found
