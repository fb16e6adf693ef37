"""Stores what is known about memory files: a row per line of MEMORY.md, and our changes."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any, TypeVar

from sqlalchemy import bindparam, case, or_, select, update

from memory.conversation import Message
from memory.failpoints import hit_async
from memory.ids import AFTER_ALL, new_id
from memory.store import audit
from memory.store.engine.database import Repository, Row, Tx, insert_into, light, read, write
from memory.store.linked_spaces import belongs_to_space
from memory.store.longterm.fact_history import load_fact_histories
from memory.store.longterm.rows import (
    MemoryChange,
    MemoryPage,
    MemoryRow,
    MemorySource,
    NewMemory,
    NewMemoryChange,
)
from memory.store.rows import columns_of, from_row, to_message
from memory.store.schema.memory_tables import memory, memory_change
from memory.store.schema.tables import MAX_INTEGER, escape_like, is_one_of, literal_text, message

Item = TypeVar("Item")
BATCH_SIZE = 100  # lines per transaction, so that other writers wait for milliseconds
_MIN_TIME_STEP = 0.001  # seconds; rows of one transaction are ordered by their times
_SOURCE_COLUMNS = tuple(MemorySource.__dataclass_fields__)
_UPDATABLE = ("norm", "category", "text", "importance", "origin", *_SOURCE_COLUMNS)
_IS_ROW = memory.c.id == bindparam("id")
_IS_LIVE = is_one_of(memory.c.state, "live")
_IS_LINE = memory.c.state != literal_text("reworded")
_SELECT_OF_LINE = select(memory).where(
    memory.c.space == bindparam("space"), memory.c.norm == bindparam("norm"), _IS_LINE
)
_SELECT_LIVE = _SELECT_OF_LINE.where(_IS_LIVE)
_NEWEST_FIRST = (memory.c.updated.desc(), memory.c.id.desc())
_SELECT_BEST = _SELECT_OF_LINE.order_by(
    case((memory.c.state == literal_text("live"), 0), else_=1), *_NEWEST_FIRST
).limit(1)
_SELECT_GONE = (
    _SELECT_OF_LINE.where(is_one_of(memory.c.state, "gone")).order_by(*_NEWEST_FIRST).limit(1)
)
_SELECT_FORMER = (
    _SELECT_OF_LINE.where(is_one_of(memory.c.state, "gone", "superseded"))
    .order_by(*_NEWEST_FIRST)
    .limit(1)
)
_SELECT_LISTED = (
    select(memory)
    .where(
        memory.c.space == bindparam("space"),
        _IS_LINE,
        or_(bindparam("state") == literal_text(""), memory.c.state == bindparam("state")),
        or_(bindparam("category") == literal_text(""), memory.c.category == bindparam("category")),
    )
    .order_by(memory.c.created.desc(), memory.c.id.desc())
    .limit(bindparam("limit"))
)
_IS_FORMER = is_one_of(memory.c.state, "gone", "superseded", "forgotten")
_SELECT_PAGES = {
    former: select(memory)
    .where(
        memory.c.space == bindparam("space"),
        _IS_FORMER if former else _IS_LIVE,
        memory.c.id < bindparam("before"),
        or_(bindparam("category") == literal_text(""), memory.c.category == bindparam("category")),
        memory.c.importance >= bindparam("importance"),
        or_(
            bindparam("words") == literal_text(""),
            memory.c.norm.contains(bindparam("norm"), escape="/"),
            memory.c.text.icontains(bindparam("words"), escape="/"),
        ),
    )
    .order_by(memory.c.id.desc())
    .limit(bindparam("limit"))
    for former in (False, True)
}
_BEGAN = case((memory.c.since > 0, memory.c.since), else_=memory.c.created)
_SELECT_AS_OF = (
    select(memory)
    .where(
        memory.c.space == bindparam("space"),
        memory.c.state != literal_text("forgotten"),
        bindparam("before") > _BEGAN,
        or_(memory.c.valid_until == 0, memory.c.valid_until >= bindparam("before")),
    )
    .order_by(_BEGAN.desc(), memory.c.id.desc())
    .limit(bindparam("limit"))
)
_SELECT_ONE = select(memory).where(
    memory.c.id == bindparam("id"), memory.c.space == bindparam("space")
)
_SELECT_SUPERSEDED = (
    select(memory)
    .where(
        memory.c.space == bindparam("space"), memory.c.superseded_by == bindparam("superseded_by")
    )
    .order_by(*_NEWEST_FIRST)
)
_UPDATE = (
    update(memory)
    .where(_IS_ROW)
    .values({name: bindparam(f"new_{name}") for name in (*_UPDATABLE, "updated", "since")})
)
_SET_STATE = (
    update(memory)
    .where(_IS_ROW)
    .values(
        {
            name: bindparam(f"new_{name}")
            for name in ("state", "superseded_by", "valid_until", "updated", "since")
        }
    )
)
_SET_USES = (
    update(memory)
    .where(_IS_ROW)
    .values({name: bindparam(f"new_{name}") for name in ("uses", "used", "importance")})
)
_SET_IMPORTANCE = (
    update(memory)
    .where(_IS_ROW)
    .values(importance=bindparam("new_importance"), updated=bindparam("new_updated"))
)
_COUNT_USE = (
    update(memory)
    .where(memory.c.space == bindparam("space"), memory.c.norm == bindparam("norm"), _IS_LIVE)
    .values(uses=memory.c.uses + 1, used=bindparam("now"))
)
_SELECT_CHANGES = (
    select(memory_change)
    .where(memory_change.c.space == bindparam("space"))
    .order_by(memory_change.c.at.desc(), memory_change.c.id.desc())
    .limit(bindparam("limit"))
)
_MARK_CHANGE_UNDONE = (
    update(memory_change)
    .where(memory_change.c.id == bindparam("id"), memory_change.c.space == bindparam("space"))
    .values(undone=True)
)
_SELECT_SOURCE_MESSAGE = select(*columns_of(Message, message)).where(
    message.c.id == bindparam("id"), belongs_to_space(message.c.space)
)


async def _put(
    tx: Tx,
    space: str,
    change: NewMemoryChange | None,
    live: Sequence[NewMemory],
    superseded: Sequence[tuple[str, str]],
    gone: Sequence[str],
) -> list[MemoryRow]:
    for place, line in enumerate(live):
        await _insert_or_revive(tx, space, line, place)
    for former, successor in superseded:
        await _supersede(tx, space, former, successor)
    for norm in gone:
        await _mark_gone(tx, space, norm)
    if change is not None:
        await _insert_change(tx, space, change)
    await hit_async("upsert.in_txn")
    rows = [await _load_row(tx, space, line.norm) for line in live]
    return [row for row in rows if row is not None]


async def _insert_or_revive(tx: Tx, space: str, line: NewMemory, place: int) -> None:
    """Update the line's live row, or revive its former one, or insert a new one.

    A line with a source of its own never revives a former row.
    """
    new = asdict(line)
    new |= new.pop("source") | {"said": line.source.said.timestamp() if line.source.said else 0.0}
    row = (await tx.execute(_SELECT_LIVE, space=space, norm=line.norm)).first()
    if row is None and not _has_source(new):
        row = (await tx.execute(_SELECT_FORMER, space=space, norm=line.norm)).first()
    if row is None:
        id = new_id(tx.now + place * _MIN_TIME_STEP)
        await tx.execute(
            insert_into(memory),
            id=id,
            space=space,
            state="live",
            created=tx.now,
            updated=tx.now,
            **new,
        )
        return
    if row["state"] != "live":
        await _keep_former(tx, row, row["valid_until"])
        await _set_state(tx, row, "live", until=0.0, since=tx.now)
        row = {**row, "since": tx.now}
    unchanged = () if _has_source(new) and not _has_source(row) else ("origin", *_SOURCE_COLUMNS)
    new["importance"] = max(row["importance"], line.importance)
    await _update(tx, row, {name: value for name, value in new.items() if name not in unchanged})


async def _supersede(tx: Tx, space: str, former: str, successor: str) -> None:
    """Mark a line as superseded, also when a reconcile found it missing before its successor was
    stored.
    """
    row = (await tx.execute(_SELECT_LIVE, space=space, norm=former)).first() or (
        await tx.execute(_SELECT_GONE, space=space, norm=former)
    ).first()
    heir = (await tx.execute(_SELECT_LIVE, space=space, norm=successor)).first()
    if row is None or heir is None or former == successor:
        return
    await _set_state(tx, row, "superseded", until=tx.now, superseded_by=heir["id"])
    used, importance = (max(row[name], heir[name]) for name in ("used", "importance"))
    uses = row["uses"] + heir["uses"]
    await tx.execute(
        _SET_USES, id=heir["id"], new_uses=uses, new_used=used, new_importance=importance
    )


async def _mark_gone(tx: Tx, space: str, norm: str) -> None:
    row = (await tx.execute(_SELECT_LIVE, space=space, norm=norm)).first()
    if row is not None:
        await _set_state(tx, row, "gone", until=tx.now)


async def _keep_former(tx: Tx, row: Row, until: float) -> None:
    """Keep what a line was until a moment, as a row of its own."""
    if (row["since"] or row["created"]) < until:
        former = {"state": "reworded", "superseded_by": "", "valid_until": until}
        await tx.execute(insert_into(memory), **{**row, **former, "id": new_id(tx.now)})


async def _set_state(
    tx: Tx, row: Row, state: str, *, until: float, superseded_by: str = "", since: float = 0.0
) -> None:
    await tx.execute(
        _SET_STATE,
        id=row["id"],
        new_state=state,
        new_superseded_by=superseded_by,
        new_valid_until=until,
        new_updated=tx.now,
        new_since=since or row["since"],
    )


async def _rename(tx: Tx, space: str, lines: Sequence[tuple[str, NewMemory]]) -> None:
    for former, line in lines:
        row = (await tx.execute(_SELECT_LIVE, space=space, norm=former)).first()
        if row is None:
            continue
        if (
            former != line.norm
            and (await tx.execute(_SELECT_LIVE, space=space, norm=line.norm)).first()
        ):
            await _mark_gone(tx, space, former)
        else:
            await _update(
                tx, row, {"norm": line.norm, "category": line.category, "text": line.text}
            )


async def _update(tx: Tx, row: Row, changes: Mapping[str, Any]) -> None:
    """Write the changes; nothing when the row has these values already."""
    if all(row[name] == value for name, value in changes.items()):
        return
    since = row["since"]
    if changes.get("text", row["text"]) != row["text"]:
        await _keep_former(tx, row, tx.now)
        since = tx.now
    new = {f"new_{name}": changes.get(name, row[name]) for name in _UPDATABLE}
    await tx.execute(_UPDATE, id=row["id"], new_updated=tx.now, new_since=since, **new)


async def _insert_change(tx: Tx, space: str, change: NewMemoryChange) -> None:
    newest = (await tx.execute(_SELECT_CHANGES, space=space, limit=1)).first()
    compared = ("path", "before_sha256", "after_sha256", "about")
    if newest is not None and all(newest[name] == getattr(change, name) for name in compared):
        return
    # changes are read in the order of `at`
    at = max(tx.now, newest["at"] + _MIN_TIME_STEP) if newest else tx.now
    lines = {
        name: json.dumps(getattr(change, name), ensure_ascii=False) for name in ("added", "removed")
    }
    await tx.execute(
        insert_into(memory_change), id=new_id(at), space=space, at=at, **asdict(change) | lines
    )
    await audit.append_act(
        tx, f"memory.{change.kind}", space, f"+{len(change.added)} -{len(change.removed)}"
    )


async def _load_rows(
    tx: Tx, space: str, *, state: str = "live", category: str = "", limit: int = 0
) -> list[MemoryRow]:
    """Load rows, newest first; "" or 0 stands for all."""
    limit = limit if limit > 0 else MAX_INTEGER
    found = (
        await tx.execute(_SELECT_LISTED, space=space, state=state, category=category, limit=limit)
    ).all()
    return [_to_memory_row(row) for row in found]


async def _load_as_of(tx: Tx, space: str, before: datetime, limit: int) -> list[MemoryRow]:
    """Load the lines that held just before a moment, newest first."""
    found = await tx.execute(_SELECT_AS_OF, space=space, before=before.timestamp(), limit=limit)
    return [_to_memory_row(row) for row in found.all()]


async def _load_page(tx: Tx, space: str, page: MemoryPage, limit: int) -> list[MemoryRow]:
    """Load a page of rows, newest first; at most the rows of one space are looked at."""
    found = (
        await tx.execute(
            _SELECT_PAGES[page.former],
            space=space,
            before=page.before or AFTER_ALL,
            category=page.category,
            importance=page.importance,
            words=escape_like(page.words),
            norm=escape_like(page.norm or page.words),
            limit=limit,
        )
    ).all()
    return [_to_memory_row(row) for row in found]


async def _load_by_id(tx: Tx, space: str, id: str) -> MemoryRow | None:
    """Load one row of a space by its id."""
    row = (await tx.execute(_SELECT_ONE, space=space, id=id)).first()
    return _to_memory_row(row) if row else None


async def _set_importance(tx: Tx, space: str, norm: str, importance: int) -> None:
    """Set the importance of a live line."""
    row = (await tx.execute(_SELECT_LIVE, space=space, norm=norm)).first()
    if row is not None and row["importance"] != importance:
        await tx.execute(
            _SET_IMPORTANCE, id=row["id"], new_importance=importance, new_updated=tx.now
        )


async def _load_row(tx: Tx, space: str, norm: str) -> MemoryRow | None:
    """Load the live row of a line, else the newest row that is not live."""
    row = (await tx.execute(_SELECT_BEST, space=space, norm=norm)).first()
    return _to_memory_row(row) if row else None


async def _load_chain(tx: Tx, space: str, id: str) -> list[MemoryRow]:
    """Load all rows that a row superseded, directly or not, newest first."""
    found: dict[str, MemoryRow] = {}
    pending = [id]
    while pending:
        for row in (
            await tx.execute(_SELECT_SUPERSEDED, space=space, superseded_by=pending.pop())
        ).all():
            if row["id"] not in found and row["id"] != id:
                found[row["id"]] = _to_memory_row(row)
                pending.append(row["id"])
    return sorted(
        found.values(), key=lambda row: (row.valid_until or row.updated, row.id), reverse=True
    )


async def _count_uses(tx: Tx, space: str, norms: Sequence[str]) -> None:
    for norm in norms:
        await tx.execute(_COUNT_USE, space=space, norm=norm, now=tx.now)


@light
async def _load_changes(tx: Tx, space: str, limit: int = 50) -> list[MemoryChange]:
    """Load our changes of a space's memory files, newest first."""
    return [
        _to_change(row)
        for row in (await tx.execute(_SELECT_CHANGES, space=space, limit=limit)).all()
    ]


async def _undo_change(tx: Tx, space: str, id: str) -> None:
    """Mark a change as undone."""
    await tx.execute(_MARK_CHANGE_UNDONE, space=space, id=id)


async def _load_source(tx: Tx, space: str, message_id: str) -> Message | None:
    """Load the message that a memory comes from, if it is of this space or of an account linked to
    it.
    """
    row = (await tx.execute(_SELECT_SOURCE_MESSAGE, space=space, id=message_id)).first()
    return to_message(row) if row else None


def _batch_from(items: Sequence[Item], start: int) -> Sequence[Item]:
    return items[max(0, start) : max(0, start + BATCH_SIZE)]


def _has_source(columns: Mapping[str, Any]) -> bool:
    return bool(columns["message_id"] or columns["quote"])


def _to_memory_row(row: Row) -> MemoryRow:
    columns = {**row}
    source = from_row(MemorySource, {name: columns.pop(name) for name in _SOURCE_COLUMNS})
    return from_row(MemoryRow, columns, source=source)


def _to_change(row: Row) -> MemoryChange:
    lines = {name: tuple(json.loads(row[name])) for name in ("added", "removed")}
    return from_row(MemoryChange, row, **lines)


class MemoryRecords(Repository):
    """T12: rows of memory lines, and our changes of memory files."""

    rows = read(_load_rows)
    row = read(_load_row)
    by_id = read(_load_by_id)
    page = read(_load_page)
    as_of = read(_load_as_of)
    histories = read(load_fact_histories)
    set_importance = write(_set_importance)
    chain = read(_load_chain)
    changes = read(_load_changes)
    undo_change = write(_undo_change)
    source = read(_load_source)

    async def put(
        self,
        space: str,
        change: NewMemoryChange | None,
        live: Sequence[NewMemory] = (),
        superseded: Sequence[tuple[str, str]] = (),
        gone: Sequence[str] = (),
    ) -> list[MemoryRow]:
        """Update the rows after the file was written, in batches; returns the rows of `live`, in
        order.

        Idempotent.

        All lines are live before the first is superseded, as its successor needs a row. The change
        is stored last: if it is missing after a crash, everything is put again.

        Args:
            change: stored unless it equals the space's newest one, and added to the audit chain.
            live: lines to insert; a live row of the same norm gets the greater importance and keeps
                its source.
            superseded: (norm of the former line, norm of its successor).
            gone: norms of lines that a person removed.
        """
        rows: list[MemoryRow] = []
        before_gone = len(live) + len(superseded)
        total = before_gone + len(gone)
        for start in range(0, max(total, 1), BATCH_SIZE):
            rows += await self._database.write(
                _put,
                space,
                change if start + BATCH_SIZE >= total else None,
                _batch_from(live, start),
                _batch_from(superseded, start - len(live)),
                _batch_from(gone, start - before_gone),
            )
        return rows

    async def rename(self, space: str, lines: Sequence[tuple[str, NewMemory]]) -> None:
        """Update the rows of lines that a person edited, in batches. lines: (former norm, the line
        as it is now).
        """
        for start in range(0, len(lines), BATCH_SIZE):
            await self._database.write(_rename, space, _batch_from(lines, start))

    async def count_uses(self, space: str, norms: Sequence[str]) -> None:
        """Count a use of these lines: a search returned them."""
        if norms:
            await self._database.write(_count_uses, space, norms)
