"""The MemoryRecords door: what is known of the lines of memory, and every write of ours to a memory file."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, case, insert, or_, select, update

from memory.conversation import Message
from memory.failpoints import afp
from memory.ids import new_id
from memory.store import audit
from memory.store.engine.database import Database, Row, Tx, glance
from memory.store.longterm.rows import MemoryChange, MemoryRow, MemorySource, NewChange, NewMemory
from memory.store.rows import belongs, columns_of, message_of, moment
from memory.store.schema.columns import among, word
from memory.store.schema.memory_tables import memory, memory_change
from memory.store.schema.tables import message

_EVERYTHING = (1 << 31) - 1
_KNOWN = ("id", "space", "norm", "category", "text", "importance", "state", "origin", "uses", "superseded_by")
_A_MOMENT = 0.001
_OF_LINE = select(memory).where(memory.c.space == bindparam("home"), memory.c.norm == bindparam("key"))
_LIVE = _OF_LINE.where(among(memory.c.state, "live"))
_NEWEST_FIRST = (memory.c.updated.desc(), memory.c.id.desc())
_BEST = _OF_LINE.order_by(case((memory.c.state == word("live"), 0), else_=1), *_NEWEST_FIRST).limit(1)
_LOST = _OF_LINE.where(among(memory.c.state, "gone")).order_by(*_NEWEST_FIRST).limit(1)
_FORMER = _OF_LINE.where(among(memory.c.state, "gone", "superseded")).order_by(*_NEWEST_FIRST).limit(1)
_LISTED = (
    select(memory)
    .where(
        memory.c.space == bindparam("home"),
        or_(bindparam("in_state") == word(""), memory.c.state == bindparam("in_state")),
        or_(bindparam("of_kind") == word(""), memory.c.category == bindparam("of_kind")),
    )
    .order_by(memory.c.created.desc(), memory.c.id.desc())
    .limit(bindparam("most"))
)
_TOOK_THE_PLACE = (
    select(memory)
    .where(memory.c.space == bindparam("home"), memory.c.superseded_by == bindparam("row"))
    .order_by(*_NEWEST_FIRST)
)
_ADD = insert(memory)
_SET = (
    update(memory)
    .where(memory.c.id == bindparam("row"))
    .values(
        norm=bindparam("key"),
        category=bindparam("of_kind"),
        text=bindparam("line"),
        importance=bindparam("weight"),
        origin=bindparam("by"),
        conversation=bindparam("heard_in"),
        message_id=bindparam("heard_as"),
        channel=bindparam("heard_on"),
        quote=bindparam("heard"),
        said=bindparam("heard_at"),
        updated=bindparam("at"),
    )
)
_LEAVE = (
    update(memory)
    .where(memory.c.id == bindparam("row"))
    .values(
        state=bindparam("became"),
        superseded_by=bindparam("heir"),
        valid_until=bindparam("end"),
        updated=bindparam("at"),
    )
)
_INHERIT = (
    update(memory)
    .where(memory.c.id == bindparam("row"))
    .values(uses=bindparam("so_often"), used=bindparam("last"), importance=bindparam("weight"))
)
_USE = (
    update(memory)
    .where(memory.c.space == bindparam("home"), memory.c.norm == bindparam("key"), among(memory.c.state, "live"))
    .values(uses=memory.c.uses + 1, used=bindparam("at"))
)
_CHANGES = (
    select(memory_change)
    .where(memory_change.c.space == bindparam("home"))
    .order_by(memory_change.c.at.desc(), memory_change.c.id.desc())
    .limit(bindparam("most"))
)
_ADD_CHANGE = insert(memory_change)
_TAKE_BACK = (
    update(memory_change)
    .where(memory_change.c.id == bindparam("row"), memory_change.c.space == bindparam("home"))
    .values(undone=True)
)
_SAID = select(*columns_of(Message, message)).where(message.c.id == bindparam("row"), belongs(message.c.space))


class SqlMemoryRecords:
    """See memory.store.longterm.protocols.MemoryRecords."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(
        self,
        space: str,
        change: NewChange | None,
        live: Sequence[NewMemory] = (),
        superseded: Sequence[tuple[str, str]] = (),
        gone: Sequence[str] = (),
    ) -> list[MemoryRow]:
        return await self._database.write(_put, space, change, live, superseded, gone)

    async def rename(self, space: str, norms: Sequence[tuple[str, NewMemory]]) -> None:
        await self._database.write(_rename, space, norms)

    async def rows(self, space: str, *, state: str = "live", category: str = "", limit: int = 0) -> list[MemoryRow]:
        return await self._database.read(_rows, space, state, category, limit)

    async def row(self, space: str, norm: str) -> MemoryRow | None:
        return await self._database.read(_row, space, norm)

    async def chain(self, space: str, id: str) -> list[MemoryRow]:
        return await self._database.read(_chain, space, id)

    async def used(self, space: str, norms: Sequence[str]) -> None:
        if norms:
            await self._database.write(_used, space, norms)

    async def changes(self, space: str, limit: int = 50) -> list[MemoryChange]:
        return await self._database.read(_changes, space, limit)

    async def undo_change(self, space: str, id: str) -> None:
        await self._database.write(_undo_change, space, id)

    async def source(self, space: str, message_id: str) -> Message | None:
        return await self._database.read(_source, space, message_id)


async def _put(
    tx: Tx,
    space: str,
    change: NewChange | None,
    live: Sequence[NewMemory],
    superseded: Sequence[tuple[str, str]],
    gone: Sequence[str],
) -> list[MemoryRow]:
    for place, line in enumerate(live):
        await _keep(tx, space, line, place)
    for old, new in superseded:
        await _supersede(tx, space, old, new)
    for norm in gone:
        await _lose(tx, space, norm)
    if change is not None:
        await _note(tx, space, change)
    await afp("upsert.in_txn")
    kept = [await _row(tx, space, line.norm) for line in live]
    return [row for row in kept if row is not None]


async def _keep(tx: Tx, space: str, line: NewMemory, place: int) -> None:
    """The line has a live row: the one there is, the one it had before, or a new one."""
    held = await tx.one(_LIVE, home=space, key=line.norm)
    if held is None and not _rests(line.source):
        held = await tx.one(_FORMER, home=space, key=line.norm)
    if held is None:
        values = {"state": "live", "created": tx.now, "updated": tx.now, **_said(line.source)}
        known = {"category": line.category, "text": line.text, "importance": line.importance, "origin": line.origin}
        await tx.run(_ADD, id=new_id(tx.now + place * _A_MOMENT), space=space, norm=line.norm, **known, **values)
        return
    if held["state"] != "live":
        await tx.run(_LEAVE, row=held["id"], became="live", heir="", end=0.0, at=tx.now)
    heard = held["message_id"] or held["quote"] or not _rests(line.source)
    taken = {} if heard else {"origin": line.origin, **_said(line.source)}
    grown = {"importance": max(held["importance"], line.importance), "category": line.category, "text": line.text}
    await _set(tx, held, {**grown, **taken})


async def _supersede(tx: Tx, space: str, old: str, new: str) -> None:
    """The old line's row, also where it was found missing before its heir was noted."""
    held = await tx.one(_LIVE, home=space, key=old) or await tx.one(_LOST, home=space, key=old)
    heir = await tx.one(_LIVE, home=space, key=new)
    if held is None or heir is None or old == new:
        return
    await tx.run(_LEAVE, row=held["id"], became="superseded", heir=heir["id"], end=tx.now, at=tx.now)
    greater = {name: max(held[name], heir[name]) for name in ("used", "importance")}
    uses = held["uses"] + heir["uses"]
    await tx.run(_INHERIT, row=heir["id"], so_often=uses, last=greater["used"], weight=greater["importance"])


async def _lose(tx: Tx, space: str, norm: str) -> None:
    held = await tx.one(_LIVE, home=space, key=norm)
    if held is not None:
        await tx.run(_LEAVE, row=held["id"], became="gone", heir="", end=tx.now, at=tx.now)


async def _rename(tx: Tx, space: str, norms: Sequence[tuple[str, NewMemory]]) -> None:
    for former, line in norms:
        held = await tx.one(_LIVE, home=space, key=former)
        if held is None:
            continue
        if former != line.norm and await tx.one(_LIVE, home=space, key=line.norm):
            await _lose(tx, space, former)
        else:
            await _set(tx, held, {"norm": line.norm, "category": line.category, "text": line.text})


async def _set(tx: Tx, held: Row, changes: dict[str, Any]) -> None:
    """Write what is different; nothing where nothing is."""
    now = {**held, **changes}
    if all(held[name] == value for name, value in changes.items()):
        return
    await tx.run(
        _SET,
        row=held["id"],
        key=now["norm"],
        of_kind=now["category"],
        line=now["text"],
        weight=now["importance"],
        by=now["origin"],
        heard_in=now["conversation"],
        heard_as=now["message_id"],
        heard_on=now["channel"],
        heard=now["quote"],
        heard_at=now["said"],
        at=tx.now,
    )


async def _note(tx: Tx, space: str, change: NewChange) -> None:
    newest = await tx.one(_CHANGES, home=space, most=1)
    same = ("path", "before_sha256", "after_sha256", "about")
    if newest is not None and all(newest[name] == getattr(change, name) for name in same):
        return
    at = max(tx.now, newest["at"] + _A_MOMENT) if newest else tx.now  # their order is what a later reader goes by
    await tx.run(
        _ADD_CHANGE,
        id=new_id(at),
        space=space,
        path=change.path,
        kind=change.kind,
        before_sha256=change.before_sha256,
        after_sha256=change.after_sha256,
        added=json.dumps(change.added, ensure_ascii=False),
        removed=json.dumps(change.removed, ensure_ascii=False),
        before=change.before,
        about=change.about,
        at=at,
    )
    await audit.note(tx, f"memory.{change.kind}", space, f"+{len(change.added)} -{len(change.removed)}")


async def _rows(tx: Tx, space: str, state: str, category: str, limit: int) -> list[MemoryRow]:
    most = limit if limit > 0 else _EVERYTHING
    return [_memory(row) for row in await tx.all(_LISTED, home=space, in_state=state, of_kind=category, most=most)]


async def _row(tx: Tx, space: str, norm: str) -> MemoryRow | None:
    row = await tx.one(_BEST, home=space, key=norm)
    return _memory(row) if row else None


async def _chain(tx: Tx, space: str, id: str) -> list[MemoryRow]:
    found: dict[str, MemoryRow] = {}
    waiting = [id]
    while waiting:
        for row in await tx.all(_TOOK_THE_PLACE, home=space, row=waiting.pop()):
            if row["id"] not in found and row["id"] != id:
                found[row["id"]] = _memory(row)
                waiting.append(row["id"])
    return sorted(found.values(), key=lambda row: (row.valid_until or row.updated, row.id), reverse=True)


async def _used(tx: Tx, space: str, norms: Sequence[str]) -> None:
    for norm in norms:
        await tx.run(_USE, home=space, key=norm, at=tx.now)


@glance
async def _changes(tx: Tx, space: str, limit: int) -> list[MemoryChange]:
    return [_change(row) for row in await tx.all(_CHANGES, home=space, most=limit)]


async def _undo_change(tx: Tx, space: str, id: str) -> None:
    await tx.run(_TAKE_BACK, home=space, row=id)


async def _source(tx: Tx, space: str, message_id: str) -> Message | None:
    row = await tx.one(_SAID, space=space, row=message_id)
    return message_of(row) if row else None


def _rests(source: MemorySource) -> bool:
    return bool(source.message_id or source.quote)


def _said(source: MemorySource) -> dict[str, Any]:
    return {
        "conversation": source.conversation,
        "message_id": source.message_id,
        "channel": source.channel,
        "quote": source.quote,
        "said": source.said.timestamp() if source.said else 0.0,
    }


def _memory(row: Row) -> MemoryRow:
    times = {name: moment(row[name]) for name in ("created", "updated")}
    perhaps = {name: _when(row[name]) for name in ("used", "valid_until")}
    source = {name: row[name] for name in ("conversation", "message_id", "channel", "quote")}
    known = {name: row[name] for name in _KNOWN}
    return MemoryRow(**known | times | perhaps, source=MemorySource(**source, said=_when(row["said"])))


def _when(seconds: float) -> datetime | None:
    return moment(seconds) if seconds else None


def _change(row: Row) -> MemoryChange:
    lines = {name: tuple(json.loads(row[name])) for name in ("added", "removed")}
    return MemoryChange(**{**row, **lines, "undone": bool(row["undone"]), "at": moment(row["at"])})
