"""The chain of acts that people asked for: append-only, each row's hash covers the one before."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import bindparam, insert, select, update

from memory.store.engine.database import Row, Tx
from memory.store.engine.repository import Repository, read
from memory.store.errors import StoreError
from memory.store.rows import from_unix
from memory.store.schema.tables import audit, audit_head

# The chain of acts as values.


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """An act to be added."""

    action: str
    #: The conversation or the space.
    subject: str
    #: What came of it, in a word or two.
    result: str
    actor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRow:
    """One act."""

    seq: int
    at: datetime
    actor: str
    action: str
    #: A conversation, a space or a party.
    subject: str
    #: SHA-256 of what it was asked with, or "".
    args_digest: str
    decision: str
    result: str
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditHead:
    """Where the chain ended at some time: its newest row's number and hash; 0 and "" for an empty one."""

    seq: int
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFault:
    """The first row that is not as it was written, and what is wrong with it."""

    seq: int
    what: str


PAGE = 1_000
REFUSED = "refused"
_TAKE_NUMBER = update(audit_head).values(seq=audit_head.c.seq + 1)
_SELECT_HEAD = select(audit_head.c.seq, audit_head.c.hash)
_MOVE_HEAD = update(audit_head).values(hash=bindparam("became"))
_PAGE = select(audit).where(audit.c.seq > bindparam("after")).order_by(audit.c.seq).limit(bindparam("most"))
_NEWEST = select(audit).order_by(audit.c.seq.desc()).limit(bindparam("most"))
_INSERT = insert(audit)
_COVERED = ("seq", "at", "actor", "action", "subject", "args_digest", "decision", "result", "prev_hash")


async def append_act(
    tx: Tx,
    action: str,
    subject: str,
    result: str,
    actor: str = "",
    *,
    args: Mapping[str, object] | None = None,
) -> None:
    """Add one act. subject: the conversation or the space; result: what came of it, in a word or two.

    args: what it was asked with, of which only a digest is kept. A result that is REFUSED is a decision against it.
    """
    await tx.run(_TAKE_NUMBER)
    head = await tx.one(_SELECT_HEAD)
    if head is None:
        raise StoreError("the row that says where the chain of acts ends is missing")
    row = {
        "seq": head["seq"],
        "at": tx.now,
        "actor": actor,
        "action": action,
        "subject": subject,
        "args_digest": digest_arguments(args) if args else "",
        "decision": "refused" if result == REFUSED else "allowed",
        "result": result,
        "prev_hash": head["hash"],
    }
    became = _hash_row(row)
    await tx.run(_INSERT, **row, hash=became)
    await tx.run(_MOVE_HEAD, became=became)


async def note_all(tx: Tx, new: Sequence[Act]) -> None:
    """Add these acts, in their order."""
    for act in new:
        await append_act(tx, act.action, act.subject, act.result, act.actor)


def digest_arguments(args: Mapping[str, object]) -> str:
    """SHA-256 of arguments as JSON with sorted keys: what was asked can be shown to be this, and not be read out."""
    text = json.dumps(args, ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


async def load_newest_acts(tx: Tx, limit: int) -> list[AuditRow]:
    """The newest, oldest of them first."""
    return [_row(row) for row in reversed(await tx.all(_NEWEST, most=limit))]


async def load_head(tx: Tx) -> AuditHead:
    """Where the chain ends now."""
    row = await tx.one(_SELECT_HEAD)
    return AuditHead(seq=int(row["seq"]), hash=row["hash"]) if row else AuditHead(seq=0, hash="")


async def find_fault(tx: Tx, known: Sequence[AuditHead] = ()) -> AuditFault | None:
    """The first row that is not as it was written, None when all are. known: ends noted outside the store."""
    noted = {one.seq: one.hash for one in known if one.seq}
    end = await load_head(tx)
    seq, before = 0, ""
    while page := await tx.all(_PAGE, after=seq, most=PAGE):
        for row in page:
            seq += 1
            if wrong := _fault_of(row, seq, before, noted.get(seq)):
                return AuditFault(seq=seq, what=wrong)
            before = row["hash"]
    last = max([end.seq, *noted])
    if last > seq:
        return AuditFault(seq=seq + 1, what=f"it is missing, and so is all after it; the chain went to {last}")
    if (end.seq, end.hash) != (seq, before):
        return AuditFault(seq=seq, what="it is not the one that the record says was added last")
    return None


async def find_broken_seq(tx: Tx) -> int:
    """The seq of the first row that does not fit the chain, 0 when all do."""
    found = await find_fault(tx)
    return found.seq if found else 0


def _fault_of(row: Row, seq: int, before: str, noted: str | None) -> str:
    """What is wrong with the row that should be number `seq`, "" for nothing."""
    if row["seq"] != seq:
        return f"it is missing; after {seq - 1} comes {row['seq']}"
    if row["hash"] != _hash_row(row):
        return "its words are not those that its hash was made of"
    if row["prev_hash"] != before:
        return "it does not follow the row before it"
    if noted is not None and noted != row["hash"]:
        return "it is another one than was noted outside the record"
    return ""


def _row(row: Row) -> AuditRow:
    return AuditRow(**{**{name: row[name] for name in AuditRow.__dataclass_fields__}, "at": from_unix(row["at"])})


def _hash_row(row: Row) -> str:
    covered = json.dumps([row[name] for name in _COVERED], ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(covered.encode("utf-8", "surrogatepass")).hexdigest()


# The Audit door: the chain of acts, read and checked.


class AuditLog(Repository):
    """The chain of acts, read; see Store.note for what adds to it."""

    acts = read(load_newest_acts)
    head = read(load_head)
    fault = read(find_fault)
