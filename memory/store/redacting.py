"""T14's work on columns that repeat what was said: every one that holds a person's words, redacted cell by cell."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import BindParameter, Column, ColumnElement, Select, Table, Update, bindparam, or_, select, update

from memory.forgetting.mentions import Needle
from memory.forgetting.redaction import mark_for, redacted, redacted_json, redacted_list, redacted_memory
from memory.store.access_tables import approval
from memory.store.columns import word
from memory.store.engine import Row, Tx
from memory.store.memory_tables import dream, extraction, forgetting, link_code, memory, memory_change
from memory.store.tables import conversation, inbox, outbox, reduction, tool_call, turn

_SCOPE: BindParameter[str] = bindparam("scope")
_OF_MEMORY = re.compile(r"\s*[/／](?P<name>forget|remember|memory)\b", re.IGNORECASE)
"""Commands whose rows, and whose answers, repeat lines of memory as they stand."""
_NOTED = "memory"
"""How the source of a notice begins that tells what was noted."""
Redact = Callable[[str, Needle], str]


@dataclass(frozen=True, slots=True)
class _Cell:
    """One column of words: how it is read within a scope, redacted, and written."""

    read: Select[tuple[str, ...]]
    write: Update
    how: Redact


def _cell(column: Column[str], scope: ColumnElement[bool], how: Redact, *more: Column[str]) -> _Cell:
    table = column.table
    if not isinstance(table, Table):
        raise TypeError(f"{column} is in no table")
    keys = list(table.primary_key.columns)
    named = [key.label(f"key_{place}") for place, key in enumerate(keys)]
    mine = [key == bindparam(f"key_{place}") for place, key in enumerate(keys)]
    return _Cell(
        read=select(*named, column.label("held"), *more).where(scope, column != word("")),
        write=update(table).where(*mine).values({column.name: bindparam("fresh")}),
        how=how,
    )


_OF_CONVERSATION = (
    _cell(conversation.c.title, conversation.c.id == _SCOPE, redacted),
    _cell(reduction.c.text, reduction.c.conversation == _SCOPE, redacted),
    _cell(outbox.c.error, outbox.c.conversation == _SCOPE, redacted),
    _cell(approval.c.arguments, approval.c.conversation == _SCOPE, redacted_json),
)
_OF_SPACE = (
    _cell(memory_change.c.added, memory_change.c.space == _SCOPE, redacted_list),
    _cell(memory_change.c.removed, memory_change.c.space == _SCOPE, redacted_list),
    _cell(memory_change.c.before, memory_change.c.space == _SCOPE, redacted_memory),
    _cell(dream.c.reason, dream.c.space == _SCOPE, redacted),
    _cell(link_code.c.typed_name, link_code.c.typed_space == _SCOPE, redacted),
)
_HEARD = _cell(
    inbox.c.body, (inbox.c.conversation == _SCOPE) & (inbox.c.state != word("new")), redacted_json, inbox.c.kind
)
_SPOKEN = _cell(outbox.c.text, outbox.c.conversation == _SCOPE, redacted, outbox.c.source)
_CALLED = _cell(
    tool_call.c.input,
    tool_call.c.turn_id.in_(select(turn.c.id).where(turn.c.conversation == _SCOPE)),
    redacted_json,
    tool_call.c.turn_id,
)
_PLANS = select(dream.c.id, dream.c.state, dream.c.plan).where(
    dream.c.space == _SCOPE, or_(dream.c.plan != word(""), dream.c.state == word("planned"))
)
_SET_PLAN = (
    update(dream).where(dream.c.id == bindparam("row")).values(plan=bindparam("fresh"), state=bindparam("became"))
)
_FOUND = select(extraction.c.turn_id, extraction.c.state, extraction.c.found).where(extraction.c.conversation == _SCOPE)
_DROP_FOUND = (
    update(extraction)
    .where(extraction.c.turn_id == bindparam("row"))
    .values(found=word(""), state=bindparam("became"), reason=word("forgotten"))
)
_LINES = select(memory.c.id, memory.c.text, memory.c.quote).where(memory.c.space == _SCOPE)
_FORGET_LINE = (
    update(memory)
    .where(memory.c.id == bindparam("row"))
    .values(state=word("forgotten"), text=bindparam("mark"), norm=bindparam("name"), quote=word(""))
)
_SET_QUOTE = update(memory).where(memory.c.id == bindparam("row")).values(quote=bindparam("fresh"))
_WAITING = select(forgetting.c.id, forgetting.c.targets).where(
    forgetting.c.space == _SCOPE, forgetting.c.state == word("asked")
)
DROP_ASKED = (
    update(forgetting)
    .where(forgetting.c.id == bindparam("row"), forgetting.c.state == word("asked"))
    .values(state=word("dropped"), targets=word(""))
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """Whose rows repeat what was said: turns and inbox rows of redacted messages. asked: the request's own row."""

    turns: frozenset[str]
    inbox: frozenset[str]
    asked: str


async def redact_conversation(tx: Tx, id: str, needle: Needle, told: Told) -> None:
    """Every cell of one conversation but its messages and folds; what nobody has begun to answer yet is left alone."""
    for cell in _OF_CONVERSATION:
        await _redact(tx, cell, id, needle)
    requests, of_memory = await _redact_heard(tx, id, needle, told)
    repeats = told.inbox | of_memory | {_NOTED}
    for row in await tx.all(_SPOKEN.read, scope=id):
        answers = row["source"].partition(":")[0]
        fresh = redacted(row["held"], needle, near=answers in repeats)
        await _write(tx, _SPOKEN, row, mark_for(row["held"]) if answers in requests else fresh)
    for row in await tx.all(_CALLED.read, scope=id):
        await _write(tx, _CALLED, row, redacted_json(row["held"], needle))


async def drop_found(tx: Tx, id: str, needle: Needle, told: Told) -> None:
    """What was or would be extracted from redacted turns of a conversation; nothing of it is noted any more."""
    for row in await tx.all(_FOUND, scope=id):
        gone = row["turn_id"] in told.turns or redacted_json(row["found"], needle) != row["found"]
        waits = row["state"] in ("queued", "found")
        if gone and (waits or row["found"]):
            await tx.run(_DROP_FOUND, row=row["turn_id"], became="skipped" if waits else row["state"])


async def redact_space(tx: Tx, space: str, needle: Needle, lines: Needle) -> int:
    """What is known of a space's memory. lines: for those of its MEMORY.md; returns how many had their row emptied."""
    for cell in _OF_SPACE:
        await _redact(tx, cell, space, needle)
    for row in await tx.all(_PLANS, scope=space):
        fresh = redacted_json(row["plan"], needle)
        planned = row["state"] == "planned"  # it may have read what is forgotten, and be about to write it
        if planned or fresh != row["plan"]:
            became = "refused" if planned else row["state"]
            await tx.run(_SET_PLAN, row=row["id"], fresh=fresh, became=became)
    for row in await tx.all(_WAITING, scope=space):
        if redacted_json(row["targets"], needle) != row["targets"]:
            await tx.run(DROP_ASKED, row=row["id"])
    return sum([await _forget_line(tx, row, lines) for row in await tx.all(_LINES, scope=space)])


async def _redact_heard(tx: Tx, id: str, needle: Needle, told: Told) -> tuple[set[str], set[str]]:
    """What people wrote; the rows that asked to forget it, whose answers showed it, and all commands on memory."""
    requests, of_memory = set(), set()
    for row in await tx.all(_HEARD.read, scope=id):
        found = _OF_MEMORY.match(str(json.loads(row["held"]).get("text", ""))) if row["kind"] == "command" else None
        request = found is not None and found["name"].lower() == "forget"
        of_memory |= {row["key_0"]} if found else set()
        fresh = redacted_json(row["held"], needle, near=found is not None or row["key_0"] in told.inbox)
        if request and (row["key_0"] == told.asked or fresh != row["held"]):
            requests.add(row["key_0"])
        await _write(tx, _HEARD, row, fresh)
    return requests, of_memory


async def _forget_line(tx: Tx, row: Row, needle: Needle) -> bool:
    if needle.within(row["text"]):
        name, mark = f"forgotten {row['id']}", mark_for(row["text"])
        await tx.run(_FORGET_LINE, row=row["id"], mark=mark, name=name)
        return True
    quote = redacted(row["quote"], needle)
    if quote != row["quote"]:
        await tx.run(_SET_QUOTE, row=row["id"], fresh=quote)
    return False


async def _redact(tx: Tx, cell: _Cell, scope: str, needle: Needle) -> None:
    for row in await tx.all(cell.read, scope=scope):
        await _write(tx, cell, row, cell.how(row["held"], needle))


async def _write(tx: Tx, cell: _Cell, row: Row, fresh: str) -> None:
    if fresh != row["held"]:
        keys = {name: value for name, value in {**row}.items() if name.startswith("key_")}
        await tx.run(cell.write, fresh=fresh, **keys)
