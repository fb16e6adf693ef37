"""The MemoryRecords door: what is known of the lines of memory, and every write of ours to a memory file."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, case, insert, or_, select, update

from memory.conversation import Message
from memory.failpoints import hit_async
from memory.ids import new_id
from memory.store import audit
from memory.store.engine.database import Row, Tx, single_query
from memory.store.engine.repository import Repository, read, write
from memory.store.longterm.rows import MemoryChange, MemoryRow, MemorySource, NewMemory, NewMemoryChange
from memory.store.rows import belongs_to_space, columns_of, from_unix, to_message
from memory.store.schema.columns import is_one_of, literal_text
from memory.store.schema.memory_tables import memory, memory_change
from memory.store.schema.tables import message

_NO_LIMIT = (1 << 31) - 1
_SETTABLE_COLUMNS = (
    "id",
    "space",
    "norm",
    "category",
    "text",
    "importance",
    "state",
    "origin",
    "uses",
    "superseded_by",
)
_MIN_TIME_STEP = 0.001
_SELECT_OF_LINE = select(memory).where(memory.c.space == bindparam("home"), memory.c.norm == bindparam("key"))
_SELECT_LIVE = _SELECT_OF_LINE.where(is_one_of(memory.c.state, "live"))
_NEWEST_FIRST = (memory.c.updated.desc(), memory.c.id.desc())
_SELECT_BEST = _SELECT_OF_LINE.order_by(
    case((memory.c.state == literal_text("live"), 0), else_=1), *_NEWEST_FIRST
).limit(1)
_SELECT_GONE = _SELECT_OF_LINE.where(is_one_of(memory.c.state, "gone")).order_by(*_NEWEST_FIRST).limit(1)
_SELECT_FORMER = (
    _SELECT_OF_LINE.where(is_one_of(memory.c.state, "gone", "superseded")).order_by(*_NEWEST_FIRST).limit(1)
)
_SELECT_LISTED = (
    select(memory)
    .where(
        memory.c.space == bindparam("home"),
        or_(bindparam("in_state") == literal_text(""), memory.c.state == bindparam("in_state")),
        or_(bindparam("of_kind") == literal_text(""), memory.c.category == bindparam("of_kind")),
    )
    .order_by(memory.c.created.desc(), memory.c.id.desc())
    .limit(bindparam("most"))
)
_SELECT_SUPERSEDED = (
    select(memory)
    .where(memory.c.space == bindparam("home"), memory.c.superseded_by == bindparam("row"))
    .order_by(*_NEWEST_FIRST)
)
_INSERT = insert(memory)
_UPDATE = (
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
_RETIRE = (
    update(memory)
    .where(memory.c.id == bindparam("row"))
    .values(
        state=bindparam("became"),
        superseded_by=bindparam("heir"),
        valid_until=bindparam("end"),
        updated=bindparam("at"),
    )
)
_SET_USES = (
    update(memory)
    .where(memory.c.id == bindparam("row"))
    .values(uses=bindparam("so_often"), used=bindparam("last"), importance=bindparam("weight"))
)
_COUNT_USE = (
    update(memory)
    .where(memory.c.space == bindparam("home"), memory.c.norm == bindparam("key"), is_one_of(memory.c.state, "live"))
    .values(uses=memory.c.uses + 1, used=bindparam("at"))
)
_SELECT_CHANGES = (
    select(memory_change)
    .where(memory_change.c.space == bindparam("home"))
    .order_by(memory_change.c.at.desc(), memory_change.c.id.desc())
    .limit(bindparam("most"))
)
_INSERT_CHANGE = insert(memory_change)
_MARK_CHANGE_UNDONE = (
    update(memory_change)
    .where(memory_change.c.id == bindparam("row"), memory_change.c.space == bindparam("home"))
    .values(undone=True)
)
_SELECT_SOURCE_MESSAGE = select(*columns_of(Message, message)).where(
    message.c.id == bindparam("row"), belongs_to_space(message.c.space)
)


async def _put(
    tx: Tx,
    space: str,
    change: NewMemoryChange | None,
    live: Sequence[NewMemory] = (),
    superseded: Sequence[tuple[str, str]] = (),
    gone: Sequence[str] = (),
) -> list[MemoryRow]:
    """One transaction after the file was written; returns the rows of `live`, in order.

    live: made, or brought up to date where the space has a live row of that norm (importance the greater, source
    kept where it has one). superseded: (norm of the old line, norm of the new one). gone: norms that a person took
    out. A second time changes nothing. A change like the space's newest one, of the same hashes and about the same,
    is not added again. Adds a row to the audit's chain where `change` is given.
    """
    for place, line in enumerate(live):
        await _insert_or_revive(tx, space, line, place)
    for old, new in superseded:
        await _supersede(tx, space, old, new)
    for norm in gone:
        await _mark_gone(tx, space, norm)
    if change is not None:
        await _insert_change(tx, space, change)
    await hit_async("upsert.in_txn")
    kept = [await _load_row(tx, space, line.norm) for line in live]
    return [row for row in kept if row is not None]


async def _insert_or_revive(tx: Tx, space: str, line: NewMemory, place: int) -> None:
    """The line has a live row: the one there is, the one it had before, or a new one."""
    held = await tx.one(_SELECT_LIVE, home=space, key=line.norm)
    if held is None and not _source_columns(line.source):
        held = await tx.one(_SELECT_FORMER, home=space, key=line.norm)
    if held is None:
        values = {"state": "live", "created": tx.now, "updated": tx.now, **_said(line.source)}
        known = {"category": line.category, "text": line.text, "importance": line.importance, "origin": line.origin}
        await tx.run(
            _INSERT, id=new_id(tx.now + place * _MIN_TIME_STEP), space=space, norm=line.norm, **known, **values
        )
        return
    if held["state"] != "live":
        await tx.run(_RETIRE, row=held["id"], became="live", heir="", end=0.0, at=tx.now)
    heard = held["message_id"] or held["quote"] or not _source_columns(line.source)
    taken = {} if heard else {"origin": line.origin, **_said(line.source)}
    grown = {"importance": max(held["importance"], line.importance), "category": line.category, "text": line.text}
    await _update(tx, held, {**grown, **taken})


async def _supersede(tx: Tx, space: str, old: str, new: str) -> None:
    """The old line's row, also where it was found missing before its heir was noted."""
    held = await tx.one(_SELECT_LIVE, home=space, key=old) or await tx.one(_SELECT_GONE, home=space, key=old)
    heir = await tx.one(_SELECT_LIVE, home=space, key=new)
    if held is None or heir is None or old == new:
        return
    await tx.run(_RETIRE, row=held["id"], became="superseded", heir=heir["id"], end=tx.now, at=tx.now)
    greater = {name: max(held[name], heir[name]) for name in ("used", "importance")}
    uses = held["uses"] + heir["uses"]
    await tx.run(_SET_USES, row=heir["id"], so_often=uses, last=greater["used"], weight=greater["importance"])


async def _mark_gone(tx: Tx, space: str, norm: str) -> None:
    held = await tx.one(_SELECT_LIVE, home=space, key=norm)
    if held is not None:
        await tx.run(_RETIRE, row=held["id"], became="gone", heir="", end=tx.now, at=tx.now)


async def _rename(tx: Tx, space: str, norms: Sequence[tuple[str, NewMemory]]) -> None:
    """Lines that a person changed by hand keep their rows: (former norm, the line as it is now)."""
    for former, line in norms:
        held = await tx.one(_SELECT_LIVE, home=space, key=former)
        if held is None:
            continue
        if former != line.norm and await tx.one(_SELECT_LIVE, home=space, key=line.norm):
            await _mark_gone(tx, space, former)
        else:
            await _update(tx, held, {"norm": line.norm, "category": line.category, "text": line.text})


async def _update(tx: Tx, held: Row, changes: dict[str, Any]) -> None:
    """Write what is different; nothing where nothing is."""
    now = {**held, **changes}
    if all(held[name] == value for name, value in changes.items()):
        return
    await tx.run(
        _UPDATE,
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


async def _insert_change(tx: Tx, space: str, change: NewMemoryChange) -> None:
    newest = await tx.one(_SELECT_CHANGES, home=space, most=1)
    same = ("path", "before_sha256", "after_sha256", "about")
    if newest is not None and all(newest[name] == getattr(change, name) for name in same):
        return
    at = max(tx.now, newest["at"] + _MIN_TIME_STEP) if newest else tx.now  # their order is what a later reader goes by
    await tx.run(
        _INSERT_CHANGE,
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
    await audit.append_act(tx, f"memory.{change.kind}", space, f"+{len(change.added)} -{len(change.removed)}")


async def _load_rows(tx: Tx, space: str, *, state: str = "live", category: str = "", limit: int = 0) -> list[MemoryRow]:
    """Newest first. state "": all; limit 0: all."""
    most = limit if limit > 0 else _NO_LIMIT
    return [
        _to_memory_row(row)
        for row in await tx.all(_SELECT_LISTED, home=space, in_state=state, of_kind=category, most=most)
    ]


async def _load_row(tx: Tx, space: str, norm: str) -> MemoryRow | None:
    """The live row of that line, else the newest that is not."""
    row = await tx.one(_SELECT_BEST, home=space, key=norm)
    return _to_memory_row(row) if row else None


async def _load_chain(tx: Tx, space: str, id: str) -> list[MemoryRow]:
    """The lines that this one took the place of, newest first, itself left out."""
    found: dict[str, MemoryRow] = {}
    waiting = [id]
    while waiting:
        for row in await tx.all(_SELECT_SUPERSEDED, home=space, row=waiting.pop()):
            if row["id"] not in found and row["id"] != id:
                found[row["id"]] = _to_memory_row(row)
                waiting.append(row["id"])
    return sorted(found.values(), key=lambda row: (row.valid_until or row.updated, row.id), reverse=True)


async def _count_uses(tx: Tx, space: str, norms: Sequence[str]) -> None:
    for norm in norms:
        await tx.run(_COUNT_USE, home=space, key=norm, at=tx.now)


@single_query
async def _load_changes(tx: Tx, space: str, limit: int = 50) -> list[MemoryChange]:
    """Newest first."""
    return [_to_change(row) for row in await tx.all(_SELECT_CHANGES, home=space, most=limit)]


async def _undo_change(tx: Tx, space: str, id: str) -> None:
    """Mark a change as taken back."""
    await tx.run(_MARK_CHANGE_UNDONE, home=space, row=id)


async def _load_source(tx: Tx, space: str, message_id: str) -> Message | None:
    """The stored message that a memory rests on, of this space or an account linked to it."""
    row = await tx.one(_SELECT_SOURCE_MESSAGE, space=space, row=message_id)
    return to_message(row) if row else None


def _source_columns(source: MemorySource) -> bool:
    return bool(source.message_id or source.quote)


def _said(source: MemorySource) -> dict[str, Any]:
    return {
        "conversation": source.conversation,
        "message_id": source.message_id,
        "channel": source.channel,
        "quote": source.quote,
        "said": source.said.timestamp() if source.said else 0.0,
    }


def _to_memory_row(row: Row) -> MemoryRow:
    times = {name: from_unix(row[name]) for name in ("created", "updated")}
    perhaps = {name: _to_datetime(row[name]) for name in ("used", "valid_until")}
    source = {name: row[name] for name in ("conversation", "message_id", "channel", "quote")}
    known = {name: row[name] for name in _SETTABLE_COLUMNS}
    return MemoryRow(**known | times | perhaps, source=MemorySource(**source, said=_to_datetime(row["said"])))


def _to_datetime(seconds: float) -> datetime | None:
    return from_unix(seconds) if seconds else None


def _to_change(row: Row) -> MemoryChange:
    lines = {name: tuple(json.loads(row[name])) for name in ("added", "removed")}
    return MemoryChange(**{**row, **lines, "undone": bool(row["undone"]), "at": from_unix(row["at"])})


class MemoryRecords(Repository):
    """T12: what is known about the lines of memory, and every write of ours to a memory file."""

    put = write(_put)
    rename = write(_rename)
    rows = read(_load_rows)
    row = read(_load_row)
    chain = read(_load_chain)
    changes = read(_load_changes)
    undo_change = write(_undo_change)
    source = read(_load_source)

    async def used(self, space: str, norms: Sequence[str]) -> None:
        """A search gave these lines: uses + 1, used now."""
        if norms:
            await self._database.write(_count_uses, space, norms)
