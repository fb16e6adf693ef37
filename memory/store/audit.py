"""The chain of acts that people asked for: append-only, each row's hash covers the one before."""

import hashlib
import json

from sqlalchemy import insert, select

from memory.store.engine import Row, Tx
from memory.store.tables import audit

_NEWEST = select(audit.c.seq, audit.c.hash).order_by(audit.c.seq.desc()).limit(1)
_ALL = select(audit).order_by(audit.c.seq)
_ADD = insert(audit)
_COVERED = ("seq", "at", "actor", "action", "subject", "args_digest", "decision", "result", "prev_hash")


async def note(tx: Tx, action: str, subject: str, result: str, actor: str = "") -> None:
    """Add one act. subject: the conversation or the space; result: what came of it, in a word or two."""
    newest = await tx.one(_NEWEST)
    row = {
        "seq": newest["seq"] + 1 if newest else 1,
        "at": tx.now,
        "actor": actor,
        "action": action,
        "subject": subject,
        "args_digest": "",
        "decision": "allowed",
        "result": result,
        "prev_hash": newest["hash"] if newest else "",
    }
    await tx.run(_ADD, **row, hash=_hash(row))


async def broken_at(tx: Tx) -> int:
    """The seq of the first row that does not fit the chain, 0 when all do."""
    before = ""
    for row in await tx.all(_ALL):
        if row["prev_hash"] != before or row["hash"] != _hash(row):
            return int(row["seq"])
        before = row["hash"]
    return 0


def _hash(row: Row) -> str:
    covered = json.dumps([row[name] for name in _COVERED], ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(covered.encode()).hexdigest()
