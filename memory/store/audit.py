"""The audit chain: acts in append-only rows; each hash covers its row and the hash before it."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import and_, bindparam, func, or_, select, update

from memory.store.engine.database import Repository, Row, Tx, insert_into, read
from memory.store.errors import StoreError
from memory.store.rows import from_unix
from memory.store.schema.tables import audit, audit_head, is_one_of, literal_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """An act before it is stored; fields as in AuditRow."""

    action: str
    subject: str
    result: str
    actor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRow:
    """One stored act."""

    seq: int
    at: datetime
    actor: str
    action: str
    #: A conversation, a space or a party.
    subject: str
    #: SHA-256 of its arguments, "" for none.
    args_digest: str
    #: "allowed" or "refused".
    decision: str
    #: The outcome in a word or two.
    result: str
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditHead:
    """The end of the chain at some time: number and hash of its last row, 0 and "" for an empty
    chain.
    """

    seq: int
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFault:
    """The first row that was altered, and what is wrong with it."""

    seq: int
    what: str


_PAGE_ROWS = 1_000
MAX_LOOKED_AT = 500  # newest acts among which recent deletions are looked for
_TAKE_NUMBER = update(audit_head).values(seq=audit_head.c.seq + 1)
_SELECT_HEAD = select(audit_head.c.seq, audit_head.c.hash)
_MOVE_HEAD = update(audit_head).values(hash=bindparam("new_hash"))
_PAGE = (
    select(audit)
    .where(audit.c.seq > bindparam("after"))
    .order_by(audit.c.seq)
    .limit(bindparam("limit"))
)
_NEWEST = select(audit).order_by(audit.c.seq.desc()).limit(bindparam("limit"))
_DELETIONS = (
    select(audit.c.seq)
    .where(
        # A look back of bounded length by the primary key, for this is asked for every second.
        audit.c.seq > select(audit_head.c.seq).scalar_subquery() - MAX_LOOKED_AT,
        audit.c.at >= bindparam("since"),
        audit.c.action == literal_text("delete"),
        audit.c.result == literal_text("deleted"),
    )
    .order_by(audit.c.seq)
)
# Acts after which nothing older may come back: they took a right or a text away.
_NEWEST_LOSS = select(func.max(audit.c.at).label("at")).where(
    audit.c.seq > select(audit_head.c.seq).scalar_subquery() - MAX_LOOKED_AT,
    or_(
        is_one_of(audit.c.action, "revoke", "unlink", "forget", "person deleted"),
        audit.c.action.like("grant %"),
        and_(audit.c.action == literal_text("delete"), audit.c.result == literal_text("deleted")),
    ),
)
_COVERED = (
    "seq",
    "at",
    "actor",
    "action",
    "subject",
    "args_digest",
    "decision",
    "result",
    "prev_hash",
)


async def append_act(
    tx: Tx,
    action: str,
    subject: str,
    result: str,
    actor: str = "",
    *,
    args: Mapping[str, object] | None = None,
) -> None:
    """Append one act.

    Args:
        subject: a conversation, a space or a party.
        result: the outcome in a word or two; "refused" means that the act was not allowed.
        args: arguments, of which only a digest is stored.
    """
    await tx.execute(_TAKE_NUMBER)
    head = (await tx.execute(_SELECT_HEAD)).first()
    if head is None:
        raise StoreError("the row with the end of the audit chain is missing")
    row = {
        "seq": head["seq"],
        "at": tx.now,
        "actor": actor,
        "action": action,
        "subject": subject,
        "args_digest": digest_arguments(args) if args else "",
        "decision": "refused" if result == "refused" else "allowed",
        "result": result,
        "prev_hash": head["hash"],
    }
    new_hash = _hash_row(row)
    await tx.execute(insert_into(audit), **row, hash=new_hash)
    await tx.execute(_MOVE_HEAD, new_hash=new_hash)


async def note_all(tx: Tx, new: Sequence[Act]) -> None:
    """Append these acts in their order."""
    for act in new:
        await append_act(tx, act.action, act.subject, act.result, act.actor)


def digest_arguments(args: Mapping[str, object]) -> str:
    """Return the SHA-256 of arguments as JSON with sorted keys: it proves known arguments and
    reveals no others.
    """
    text = json.dumps(args, ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


async def load_newest_acts(tx: Tx, limit: int) -> list[AuditRow]:
    """Load the newest acts, the oldest of them first."""
    names = AuditRow.__dataclass_fields__
    rows = reversed((await tx.execute(_NEWEST, limit=limit)).all())
    return [
        AuditRow(**{name: row[name] for name in names} | {"at": from_unix(row["at"])})
        for row in rows
    ]


async def load_head(tx: Tx) -> AuditHead:
    """Load the end of the chain."""
    row = (await tx.execute(_SELECT_HEAD)).first()
    return AuditHead(seq=int(row["seq"]), hash=row["hash"]) if row else AuditHead(seq=0, hash="")


async def load_deletions(tx: Tx, since: float) -> list[int]:
    """Load the numbers of the acts that deleted conversations at or after `since` (unix
    seconds).
    """
    return [row["seq"] for row in (await tx.execute(_DELETIONS, since=since)).all()]


async def load_newest_loss(tx: Tx) -> float:
    """Load when an act last took a right or a text away, in unix seconds; 0 for never, among the
    newest acts.
    """
    row = (await tx.execute(_NEWEST_LOSS)).first()
    return float(row["at"] or 0.0) if row else 0.0


async def find_fault(tx: Tx, known: Sequence[AuditHead] = ()) -> AuditFault | None:
    """Return the first row that was altered, None when the chain is sound.

    Args:
        known: ends of the chain that were stored outside the database at earlier times.
    """
    noted = {one.seq: one.hash for one in known if one.seq}
    end = await load_head(tx)
    seq, before = 0, ""
    while page := (await tx.execute(_PAGE, after=seq, limit=_PAGE_ROWS)).all():
        for row in page:
            seq += 1
            if wrong := _fault_of(row, seq, before, noted.get(seq)):
                return AuditFault(seq=seq, what=wrong)
            before = row["hash"]
    last = max([end.seq, *noted])
    if last > seq:
        return AuditFault(
            seq=seq + 1, what=f"it is missing, and so is all after it; the chain went to {last}"
        )
    if (end.seq, end.hash) != (seq, before):
        return AuditFault(seq=seq, what="it is not the row that the database names as the last")
    return None


async def find_broken_seq(tx: Tx) -> int:
    """Return the seq of the first altered row, 0 when the chain is sound."""
    found = await find_fault(tx)
    return found.seq if found else 0


def _fault_of(row: Row, seq: int, before: str, noted: str | None) -> str:
    """Return what is wrong with the row that should have number `seq`, "" for nothing."""
    if row["seq"] != seq:
        return f"it is missing; after {seq - 1} comes {row['seq']}"
    if row["hash"] != _hash_row(row):
        return "its hash does not match its text"
    if row["prev_hash"] != before:
        return "it does not follow the row before it"
    if noted is not None and noted != row["hash"]:
        return "it differs from the one that was noted outside the database"
    return ""


def _hash_row(row: Row) -> str:
    covered = json.dumps(
        [row[name] for name in _COVERED], ensure_ascii=False, separators=(",", ":")
    )
    return hashlib.sha256(covered.encode("utf-8", "surrogatepass")).hexdigest()


class AuditLog(Repository):
    """The audit chain, to be read and checked; Store.note appends to it."""

    acts = read(load_newest_acts)
    head = read(load_head)
    fault = read(find_fault)
    deletions = read(load_deletions)
    newest_loss = read(load_newest_loss)
