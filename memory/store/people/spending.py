"""What each person has used and how often they have asked, read from turns, usage and calls by person and time."""

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
    insert,
    literal_column,
    select,
    union_all,
    update,
)

from memory.store.conversations.turns import settle_inbox_row
from memory.store.engine.database import Row, Statement, Tx, single_query
from memory.store.engine.repository import Repository, read, write
from memory.store.errors import WrongState
from memory.store.people.people import BLOB_NAME
from memory.store.rows import NewOutboxRow
from memory.store.schema.columns import is_one_of, literal_text
from memory.store.schema.tables import conversation, inbox, limit_told, message, tool_call, turn, usage

# The Spending door: what people have used since when, and who was told that it is enough.

OWNER = "owner"  # whose budget the owner's turns count to, on whatever channel; every other name has a colon in it


SpendingPart = Literal["messages", "everybody", "tokens", "whole"]
ALL_PARTS: frozenset[SpendingPart] = frozenset({"messages", "everybody", "tokens", "whole"})


@dataclass(frozen=True, slots=True, kw_only=True)
class SpendingQuery:
    """Whose spending is asked for, and since when. Times are unix seconds."""

    who: str
    #: Turns after that, up to and with `asked`, are those of the minute.
    minute: float
    asked: float
    #: Since when the day is.
    day: float
    #: Turns of the minute and of the day beyond so many are not counted.
    most: tuple[int, int]
    #: One that is left out of those that run.
    turn: str = ""
    #: Since when the person's tokens, and everybody's tokens and turns, are added up.
    mine: float = 0.0
    #: Since when the person's tokens, and everybody's tokens and turns, are added up.
    whole: float = 0.0
    #: What is looked up; the rest stays empty. "messages": of the person's minute and day; "everybody": turns of all;
    #: "tokens": the person's, with the turns that run; "whole": everybody's tokens.
    wants: frozenset[SpendingPart] = ALL_PARTS


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelUsage:
    """Tokens of calls to one model."""

    model: str
    calls: int
    #: All of it, cached parts included.
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
    """What a person, and everybody but the owner, has used."""

    #: When the turns of the minute were asked for, the newest first.
    minute: tuple[float, ...] = ()
    #: Turns of the day.
    today: int = 0
    #: Turns of all people.
    everybody: int = 0
    #: Other turns of that person that run.
    running: int = 0
    #: Tokens by model.
    used: tuple[ModelUsage, ...] = ()
    #: Tokens by model.
    whole: tuple[ModelUsage, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitNotice:
    """What a person is told of a limit."""

    who: str
    limit: str
    #: When the message came in that is refused.
    asked: float
    #: When it is over.
    until: float


OVER = "over budget"
_LITERAL_ONE: ColumnElement[int] = literal_column("1")
_IS_OF_PERSON = turn.c.who == bindparam("who")
_IS_TODAY = turn.c.asked >= bindparam("since")
_IS_OF_OTHERS = (turn.c.who != literal_text("")) & (turn.c.who != literal_text(OWNER))
_SELECT_MINUTE = (
    select(turn.c.asked)
    .where(_IS_OF_PERSON, turn.c.asked > bindparam("minute"), turn.c.asked <= bindparam("asked"))
    .order_by(turn.c.asked.desc())
    .limit(bindparam("most_a_minute"))
    .subquery()
)
_SELECT_DAY = (
    select(_LITERAL_ONE.label("one"))
    .where(_IS_OF_PERSON, turn.c.asked >= bindparam("day"))
    .limit(bindparam("most_a_day"))
    .subquery()
)
# What each part of the question is asked with.
_PARAMETERS: Mapping[SpendingPart, Sequence[str]] = {
    "messages": ("who", "minute", "asked", "most_a_minute", "day", "most_a_day"),
    "everybody": ("whole",),
    "tokens": ("who", "but", "mine"),
    "whole": ("whole",),
}
_COUNT_EVERYBODY = (
    select(func.count().label("held"))
    .select_from(turn)
    .where(turn.c.started >= bindparam("since"), turn.c.started < bindparam("until"), _IS_OF_OTHERS)
)
_IS_RUNNING = (
    is_one_of(turn.c.state, "running", "waiting"),
    turn.c.conversation > literal_text(""),  # so that the index of open turns is used: they are few
    func.coalesce(turn.c.who, literal_text("")) == bindparam("who"),
    turn.c.id != bindparam("but"),
)
_TOKENS = ("input", "output", "cache_read", "cache_write")
_SUMS = [func.count().label("calls"), *(func.sum(usage.c[name]).label(name) for name in _TOKENS)]
_SELECT_USED = (
    select(usage.c.model, *_SUMS)
    .where(usage.c.who == bindparam("who"), usage.c.at >= bindparam("since"), usage.c.at < bindparam("until"))
    .group_by(usage.c.model)
)
_SELECT_USED_BY_ALL = (
    select(usage.c.model, *_SUMS)
    .where(usage.c.at >= bindparam("since"), usage.c.at < bindparam("until"), usage.c.who != literal_text(OWNER))
    .group_by(usage.c.model)
)
_SELECT_BY_PERSON = (
    select(usage.c.who, usage.c.model, usage.c.purpose, *_SUMS)
    .where(usage.c.at >= bindparam("since"))
    .group_by(usage.c.who, usage.c.model, usage.c.purpose)
    .order_by(usage.c.who, usage.c.model, usage.c.purpose)
)
_SELECT_BY_ONE = _SELECT_BY_PERSON.where(usage.c.who == bindparam("who"))
_COUNT_CALLS = (
    select(func.count().label("held"))
    .select_from(turn.join(tool_call, tool_call.c.turn_id == turn.c.id))
    .where(_IS_OF_PERSON, _IS_TODAY, tool_call.c.state != literal_text("denied"))
)
_COUNT_CALLS_OF_TOOL = _COUNT_CALLS.where(tool_call.c.name == bindparam("named"))
_SELECT_NOTICE = select(limit_told.c.until).where(
    limit_told.c.who == bindparam("of"),
    limit_told.c.conversation == bindparam("there"),
    limit_told.c.limit_name == bindparam("named"),
)
_INSERT_NOTICE = insert(limit_told)
_UPDATE_NOTICE = (
    update(limit_told)
    .where(
        limit_told.c.who == bindparam("of"),
        limit_told.c.conversation == bindparam("there"),
        limit_told.c.limit_name == bindparam("named"),
    )
    .values(until=bindparam("to"))
)
_SELECT_CONVERSATION = select(inbox.c.conversation).where(inbox.c.id == bindparam("row"))
_IGNORE_INBOX_ROW = (
    update(inbox)
    .where(inbox.c.id == bindparam("row"), inbox.c.state == literal_text("new"))
    .values(state=literal_text("ignored"), reason=literal_text(OVER))
)
NEVER = 1e18
_SELECT_CONVERSATIONS = select(conversation.c.id).where(conversation.c.space == bindparam("mine"))
_SELECT_PARTS = select(message.c.parts.label("held")).where(
    message.c.conversation == bindparam("there"), message.c.parts.like('%"sha256"%')
)
_SELECT_BODIES = select(inbox.c.body.label("held")).where(
    inbox.c.conversation == bindparam("there"), inbox.c.body.like('%"files"%')
)


@single_query
async def _load_totals(tx: Tx, asking: SpendingQuery) -> SpendingTotals:
    """All that the limits of one person are held against, in one read."""
    known = {
        "who": asking.who,
        "minute": asking.minute,
        "asked": asking.asked,
        "most_a_minute": asking.most[0],
        "day": asking.day,
        "most_a_day": asking.most[1],
        "but": asking.turn,
        "mine": asking.mine,
        "whole": asking.whole,
    }
    rows = await tx.all(
        _spending_statement(asking.wants), **{name: known[name] for want in asking.wants for name in _PARAMETERS[want]}
    )
    of = {kind: [row for row in rows if row["kind"] == kind] for kind in {row["kind"] for row in rows}}
    return SpendingTotals(
        minute=tuple(sorted((row["at"] for row in of.get("minute", ())), reverse=True)),
        today=_sum_calls(of.get("today", ())),
        everybody=_sum_calls(of.get("everybody", ())),
        running=_sum_calls(of.get("running", ())),
        used=tuple(_to_model_usage(row) for row in of.get("used", ())),
        whole=tuple(_to_model_usage(row) for row in of.get("whole", ())),
    )


@cache
def _spending_statement(wants: frozenset[SpendingPart]) -> CompoundSelect[Any]:
    """All that is wanted in one statement: rows of a kind, with a moment, or a model and what it has used."""
    parts: dict[SpendingPart, list[Select[Any]]] = {
        "messages": [
            _select_kind("minute", at=_SELECT_MINUTE.c.asked),
            _select_kind("today", calls=func.count()).select_from(_SELECT_DAY),
        ],
        "everybody": [_select_turns("everybody").where(turn.c.started >= bindparam("whole"), _IS_OF_OTHERS)],
        "tokens": [
            _select_turns("running").where(*_IS_RUNNING),
            _select_tokens("used").where(usage.c.who == bindparam("who"), usage.c.at >= bindparam("mine")),
        ],
        "whole": [_select_tokens("whole").where(usage.c.at >= bindparam("whole"), usage.c.who != literal_text(OWNER))],
    }
    return union_all(*(one for want, several in parts.items() if want in wants for one in several))


def _select_kind(kind: str, **given: ColumnElement[Any]) -> Select[Any]:
    empty = {
        "model": literal_text(""),
        "at": literal_column("0.0"),
        **dict.fromkeys(("calls", *_TOKENS), literal_column("0")),
    }
    return select(
        literal_text(kind).label("kind"), *(column.label(name) for name, column in {**empty, **given}.items())
    )


def _select_turns(kind: str) -> Select[Any]:
    return _select_kind(kind, calls=func.count()).select_from(turn)


def _select_tokens(kind: str) -> Select[Any]:
    sums = {name: func.sum(usage.c[name]) for name in _TOKENS}
    return _select_kind(kind, model=usage.c.model, calls=func.count(), **sums).group_by(usage.c.model)


def _sum_calls(rows: Sequence[Row]) -> int:
    return sum(int(row["calls"]) for row in rows)


def _to_model_usage(row: Row) -> ModelUsage:
    return ModelUsage(**{name: row[name] for name in ("model", "calls", *_TOKENS)})


@single_query
async def _load_own_usage(tx: Tx, who: str, since: float, until: float) -> list[ModelUsage]:
    """Tokens that a person has used between two times, by model."""
    return [_to_row(row) for row in await tx.all(_SELECT_USED, who=who, since=since, until=until)]


async def _load_usage_of_all(tx: Tx, since: float, until: float) -> tuple[int, list[ModelUsage]]:
    """Turns, and tokens by model, of everybody but the owner between two times."""
    used = [_to_row(row) for row in await tx.all(_SELECT_USED_BY_ALL, since=since, until=until)]
    return await _load_held(tx, _COUNT_EVERYBODY, since=since, until=until), used


@single_query
async def _load_sums(tx: Tx, since: datetime, who: str = "") -> list[ModelUsage]:
    """Tokens by person, model and purpose; of that person, or "" for all of them."""
    first = since.timestamp()
    rows = await tx.all(_SELECT_BY_ONE, since=first, who=who) if who else await tx.all(_SELECT_BY_PERSON, since=first)
    return [_to_row(row) for row in rows]


async def _count_calls(tx: Tx, who: str, since: float, named: Sequence[str] = ()) -> int:
    """Tool calls of a person's turns since then that were not refused; named: of those tools alone, () for any."""
    if not named:
        return await _load_held(tx, _COUNT_CALLS, who=who, since=since)
    return sum([await _load_held(tx, _COUNT_CALLS_OF_TOOL, who=who, since=since, named=name) for name in named])


async def _load_conversations(tx: Tx, space: str) -> list[str]:
    return [row["id"] for row in await tx.all(_SELECT_CONVERSATIONS, mine=space)]


async def _load_files(tx: Tx, conversation: str) -> set[str]:
    rows = [row for query in (_SELECT_PARTS, _SELECT_BODIES) for row in await tx.all(query, there=conversation)]
    return {name for row in rows for name in BLOB_NAME.findall(row["held"])}


async def _refuse_message(tx: Tx, inbox_id: str, told: LimitNotice, out: Sequence[NewOutboxRow]) -> bool:
    """End a row that is over a limit: with its sentence, or as ignored where it has been said and still holds.

    Returns whether it was said.
    """
    row = await tx.one(_SELECT_CONVERSATION, row=inbox_id)
    if row is None:
        raise WrongState(f"inbox row {inbox_id} is missing, not new")
    place = {"of": told.who, "there": row["conversation"], "named": told.limit}
    known = await tx.one(_SELECT_NOTICE, **place)
    if known is not None and known["until"] > told.asked:
        if not await tx.run(_IGNORE_INBOX_ROW, row=inbox_id):
            raise WrongState(f"inbox row {inbox_id} is not new")
        return False
    if not await tx.run(_UPDATE_NOTICE, to=told.until, **place):
        named = {"conversation": row["conversation"], "limit_name": told.limit}
        await tx.run(_INSERT_NOTICE, who=told.who, until=told.until, **named)
    await settle_inbox_row(tx, inbox_id, out)
    return True


async def _load_held(tx: Tx, statement: Statement, **values: object) -> int:
    row = await tx.one(statement, **values)
    return int(row["held"]) if row else 0


def _to_row(row: Row) -> ModelUsage:
    return ModelUsage(**row)


class Spending(Repository):
    """What was used, by person, from the store: the same for every process."""

    spent = read(_load_totals)
    mine = read(_load_own_usage)
    whole = read(_load_usage_of_all)
    sums = read(_load_sums)
    calls = read(_count_calls)
    refuse = write(_refuse_message)

    async def files(self, space: str) -> set[str]:
        """Names of all attachments in the conversations of this very space."""
        found = set[str]()
        for row in await self._database.read(_load_conversations, space):
            found |= await self._database.read(_load_files, row)
        return found
