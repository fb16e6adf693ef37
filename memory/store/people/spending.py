"""What each person has used and how often they have asked, read from turns, usage and calls by person and time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, Literal, Protocol

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

from memory.store.conversations.turns import settle
from memory.store.engine.database import Database, Row, Statement, Tx, glance
from memory.store.errors import WrongState
from memory.store.people.people import BLOB
from memory.store.rows import Outgoing
from memory.store.schema.columns import among, word
from memory.store.schema.tables import conversation, inbox, limit_told, message, tool_call, turn, usage

# The Spending door: what people have used since when, and who was told that it is enough.

OWNER = "owner"
"""Whose budget the owner's turns count to, on whatever channel; every other name has a colon in it."""


Want = Literal["messages", "everybody", "tokens", "whole"]
ALL: frozenset[Want] = frozenset({"messages", "everybody", "tokens", "whole"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """Whose spending is asked for, and since when. Times are unix seconds.

    wants: what is looked up; the rest stays empty. "messages": of the person's minute and day; "everybody": turns of
    all; "tokens": the person's, with the turns that run; "whole": everybody's tokens.

    minute: turns after that, up to and with `asked`, are those of the minute; day: since when the day is. most: turns
    of the minute and of the day beyond so many are not counted. turn: one that is left out of those that run. mine,
    whole: since when the person's tokens, and everybody's tokens and turns, are added up.
    """

    who: str
    minute: float
    asked: float
    day: float
    most: tuple[int, int]
    turn: str = ""
    mine: float = 0.0
    whole: float = 0.0
    wants: frozenset[Want] = ALL


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """Tokens of calls to one model. input: all of it, cached parts included. who, purpose: "" for any."""

    model: str
    calls: int
    input: int
    output: int
    cache_read: int
    cache_write: int
    who: str = ""
    purpose: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What a person, and everybody but the owner, has used.

    minute: when the turns of the minute were asked for, the newest first; today: turns of the day; everybody: turns of
    all people. running: other turns of that person that run. used, whole: tokens by model.
    """

    minute: tuple[float, ...] = ()
    today: int = 0
    everybody: int = 0
    running: int = 0
    used: tuple[Used, ...] = ()
    whole: tuple[Used, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a person is told of a limit. asked: when the message came in that is refused; until: when it is over."""

    who: str
    limit: str
    asked: float
    until: float


class Spending(Protocol):
    """What was used, by person, from the record: the same for every process."""

    async def spent(self, asking: Asking) -> Spent:
        """All that the limits of one person are held against, in one read."""
        ...

    async def mine(self, who: str, since: float, until: float) -> list[Used]:
        """Tokens that a person has used between two times, by model."""
        ...

    async def whole(self, since: float, until: float) -> tuple[int, list[Used]]:
        """Turns, and tokens by model, of everybody but the owner between two times."""
        ...

    async def sums(self, since: datetime, who: str = "") -> list[Used]:
        """Tokens by person, model and purpose; of that person, or "" for all of them."""
        ...

    async def calls(self, who: str, since: float, named: Sequence[str] = ()) -> int:
        """Tool calls of a person's turns since then that were not refused; named: of those tools alone, () for any."""
        ...

    async def files(self, space: str) -> set[str]:
        """Names of all attachments in the conversations of this very space."""
        ...

    async def refuse(self, inbox_id: str, told: Told, out: Sequence[Outgoing]) -> bool:
        """End a row that is over a limit: with its sentence, or as ignored where it has been said and still holds.

        Returns whether it was said.
        """
        ...


OVER = "over budget"
_ONE: ColumnElement[int] = literal_column("1")
_MINE = turn.c.who == bindparam("who")
_TODAY = turn.c.asked >= bindparam("since")
_OTHERS = (turn.c.who != word("")) & (turn.c.who != word(OWNER))
_MINUTE = (
    select(turn.c.asked)
    .where(_MINE, turn.c.asked > bindparam("minute"), turn.c.asked <= bindparam("asked"))
    .order_by(turn.c.asked.desc())
    .limit(bindparam("most_a_minute"))
    .subquery()
)
_DAY = (
    select(_ONE.label("one")).where(_MINE, turn.c.asked >= bindparam("day")).limit(bindparam("most_a_day")).subquery()
)
_NAMES: Mapping[Want, Sequence[str]] = {
    "messages": ("who", "minute", "asked", "most_a_minute", "day", "most_a_day"),
    "everybody": ("whole",),
    "tokens": ("who", "but", "mine"),
    "whole": ("whole",),
}
"""What each part of the question is asked with."""
_EVERYBODY = (
    select(func.count().label("held"))
    .select_from(turn)
    .where(turn.c.started >= bindparam("since"), turn.c.started < bindparam("until"), _OTHERS)
)
_NOW_RUNNING = (
    among(turn.c.state, "running", "waiting"),
    turn.c.conversation > word(""),  # so that the index of open turns is used: they are few
    func.coalesce(turn.c.who, word("")) == bindparam("who"),
    turn.c.id != bindparam("but"),
)
_TOKENS = ("input", "output", "cache_read", "cache_write")
_SUMS = [func.count().label("calls"), *(func.sum(usage.c[name]).label(name) for name in _TOKENS)]
_USED = (
    select(usage.c.model, *_SUMS)
    .where(usage.c.who == bindparam("who"), usage.c.at >= bindparam("since"), usage.c.at < bindparam("until"))
    .group_by(usage.c.model)
)
_WHOLE = (
    select(usage.c.model, *_SUMS)
    .where(usage.c.at >= bindparam("since"), usage.c.at < bindparam("until"), usage.c.who != word(OWNER))
    .group_by(usage.c.model)
)
_BY_PERSON = (
    select(usage.c.who, usage.c.model, usage.c.purpose, *_SUMS)
    .where(usage.c.at >= bindparam("since"))
    .group_by(usage.c.who, usage.c.model, usage.c.purpose)
    .order_by(usage.c.who, usage.c.model, usage.c.purpose)
)
_BY_ONE = _BY_PERSON.where(usage.c.who == bindparam("who"))
_CALLS = (
    select(func.count().label("held"))
    .select_from(turn.join(tool_call, tool_call.c.turn_id == turn.c.id))
    .where(_MINE, _TODAY, tool_call.c.state != word("denied"))
)
_CALLS_OF = _CALLS.where(tool_call.c.name == bindparam("named"))
_KNOWN = select(limit_told.c.until).where(
    limit_told.c.who == bindparam("of"),
    limit_told.c.conversation == bindparam("there"),
    limit_told.c.limit_name == bindparam("named"),
)
_SAY = insert(limit_told)
_SAY_AGAIN = (
    update(limit_told)
    .where(
        limit_told.c.who == bindparam("of"),
        limit_told.c.conversation == bindparam("there"),
        limit_told.c.limit_name == bindparam("named"),
    )
    .values(until=bindparam("to"))
)
_ROW = select(inbox.c.conversation).where(inbox.c.id == bindparam("row"))
_IGNORE = (
    update(inbox)
    .where(inbox.c.id == bindparam("row"), inbox.c.state == word("new"))
    .values(state=word("ignored"), reason=word(OVER))
)
NEVER = 1e18
_CONVERSATIONS = select(conversation.c.id).where(conversation.c.space == bindparam("mine"))
_PARTS = select(message.c.parts.label("held")).where(
    message.c.conversation == bindparam("there"), message.c.parts.like('%"sha256"%')
)
_BODIES = select(inbox.c.body.label("held")).where(
    inbox.c.conversation == bindparam("there"), inbox.c.body.like('%"files"%')
)


class SqlSpending:
    """See memory.store.people.spending.Spending."""

    def __init__(self, database: Database) -> None:
        self._read, self._write = database.read, database.write

    async def spent(self, asking: Asking) -> Spent:
        return await self._read(_spent, asking)

    async def mine(self, who: str, since: float, until: float) -> list[Used]:
        return await self._read(_mine, who, since, until)

    async def whole(self, since: float, until: float) -> tuple[int, list[Used]]:
        return await self._read(_whole, since, until)

    async def sums(self, since: datetime, who: str = "") -> list[Used]:
        return await self._read(_sums, since.timestamp(), who)

    async def calls(self, who: str, since: float, named: Sequence[str] = ()) -> int:
        return await self._read(_calls, who, since, named)

    async def files(self, space: str) -> set[str]:
        found = set[str]()
        for row in await self._read(_conversations, space):
            found |= await self._read(_files, row)
        return found

    async def refuse(self, inbox_id: str, told: Told, out: Sequence[Outgoing]) -> bool:
        return await self._write(_refuse, inbox_id, told, out)


@glance
async def _spent(tx: Tx, asking: Asking) -> Spent:
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
        _question(asking.wants), **{name: known[name] for want in asking.wants for name in _NAMES[want]}
    )
    of = {kind: [row for row in rows if row["kind"] == kind] for kind in {row["kind"] for row in rows}}
    return Spent(
        minute=tuple(sorted((row["at"] for row in of.get("minute", ())), reverse=True)),
        today=_calls_in(of.get("today", ())),
        everybody=_calls_in(of.get("everybody", ())),
        running=_calls_in(of.get("running", ())),
        used=tuple(_used(row) for row in of.get("used", ())),
        whole=tuple(_used(row) for row in of.get("whole", ())),
    )


@cache
def _question(wants: frozenset[Want]) -> CompoundSelect[Any]:
    """All that is wanted in one statement: rows of a kind, with a moment, or a model and what it has used."""
    parts: dict[Want, list[Select[Any]]] = {
        "messages": [_line("minute", at=_MINUTE.c.asked), _line("today", calls=func.count()).select_from(_DAY)],
        "everybody": [_turns("everybody").where(turn.c.started >= bindparam("whole"), _OTHERS)],
        "tokens": [
            _turns("running").where(*_NOW_RUNNING),
            _tokens("used").where(usage.c.who == bindparam("who"), usage.c.at >= bindparam("mine")),
        ],
        "whole": [_tokens("whole").where(usage.c.at >= bindparam("whole"), usage.c.who != word(OWNER))],
    }
    return union_all(*(one for want, several in parts.items() if want in wants for one in several))


def _line(kind: str, **given: ColumnElement[Any]) -> Select[Any]:
    empty = {"model": word(""), "at": literal_column("0.0"), **dict.fromkeys(("calls", *_TOKENS), literal_column("0"))}
    return select(word(kind).label("kind"), *(column.label(name) for name, column in {**empty, **given}.items()))


def _turns(kind: str) -> Select[Any]:
    return _line(kind, calls=func.count()).select_from(turn)


def _tokens(kind: str) -> Select[Any]:
    sums = {name: func.sum(usage.c[name]) for name in _TOKENS}
    return _line(kind, model=usage.c.model, calls=func.count(), **sums).group_by(usage.c.model)


def _calls_in(rows: Sequence[Row]) -> int:
    return sum(int(row["calls"]) for row in rows)


def _used(row: Row) -> Used:
    return Used(**{name: row[name] for name in ("model", "calls", *_TOKENS)})


@glance
async def _mine(tx: Tx, who: str, since: float, until: float) -> list[Used]:
    return [_row(row) for row in await tx.all(_USED, who=who, since=since, until=until)]


async def _whole(tx: Tx, since: float, until: float) -> tuple[int, list[Used]]:
    used = [_row(row) for row in await tx.all(_WHOLE, since=since, until=until)]
    return await _held(tx, _EVERYBODY, since=since, until=until), used


@glance
async def _sums(tx: Tx, since: float, who: str) -> list[Used]:
    rows = await tx.all(_BY_ONE, since=since, who=who) if who else await tx.all(_BY_PERSON, since=since)
    return [_row(row) for row in rows]


async def _calls(tx: Tx, who: str, since: float, named: Sequence[str]) -> int:
    if not named:
        return await _held(tx, _CALLS, who=who, since=since)
    return sum([await _held(tx, _CALLS_OF, who=who, since=since, named=name) for name in named])


async def _conversations(tx: Tx, space: str) -> list[str]:
    return [row["id"] for row in await tx.all(_CONVERSATIONS, mine=space)]


async def _files(tx: Tx, conversation: str) -> set[str]:
    rows = [row for query in (_PARTS, _BODIES) for row in await tx.all(query, there=conversation)]
    return {name for row in rows for name in BLOB.findall(row["held"])}


async def _refuse(tx: Tx, inbox_id: str, told: Told, out: Sequence[Outgoing]) -> bool:
    row = await tx.one(_ROW, row=inbox_id)
    if row is None:
        raise WrongState(f"inbox row {inbox_id} is missing, not new")
    place = {"of": told.who, "there": row["conversation"], "named": told.limit}
    known = await tx.one(_KNOWN, **place)
    if known is not None and known["until"] > told.asked:
        if not await tx.run(_IGNORE, row=inbox_id):
            raise WrongState(f"inbox row {inbox_id} is not new")
        return False
    if not await tx.run(_SAY_AGAIN, to=told.until, **place):
        named = {"conversation": row["conversation"], "limit_name": told.limit}
        await tx.run(_SAY, who=told.who, until=told.until, **named)
    await settle(tx, inbox_id, out)
    return True


async def _held(tx: Tx, statement: Statement, **values: object) -> int:
    row = await tx.one(statement, **values)
    return int(row["held"]) if row else 0


def _row(row: Row) -> Used:
    return Used(**row)
