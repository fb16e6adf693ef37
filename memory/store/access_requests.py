"""Who asks to be let in, and the codes by which they are; the codes that make owners."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import bindparam, delete, insert, or_, select, update

from memory.store.access_grants import called, grant, grants
from memory.store.access_notices import tell
from memory.store.access_records import GrantedRole, GrantRow, Knock, Notice, Party, RequestRow, RequestState, Subject
from memory.store.access_tables import access_request
from memory.store.audit import note
from memory.store.columns import among, word
from memory.store.engine import Row, Tx
from memory.store.ids import new_id
from memory.store.links import MOST_WRONG, lock_end
from memory.store.rows import moment
from memory.store.tables import audit

MOST_PENDING, MOST_A_DAY, AGAIN_AFTER, KEPT = 3, 20, timedelta(hours=1), timedelta(days=30)
"""Per account of ours; source: the security page's rules for pairing. KEPT: how long requests of people stay."""
WRONG, WRONG_OWNER = "pairing code wrong", "owner code wrong"
_DAY = timedelta(days=1)
_PENDING = among(access_request.c.state, "pending")
_OURS = (access_request.c.channel == bindparam("on")) & (access_request.c.account == bindparam("mine"))
_RECENT = select(access_request).where(
    _OURS, access_request.c.subject == bindparam("kind"), access_request.c.at > bindparam("since")
)
_GROUP_KNOWN = select(access_request.c.id).where(
    _OURS, access_request.c.subject == word("group"), access_request.c.subject_id == bindparam("whose")
)
_DROP_OLD = delete(access_request).where(
    access_request.c.subject == word("user"), access_request.c.at < bindparam("before")
)
_OPEN = (
    select(access_request)
    .where(
        _PENDING,
        among(access_request.c.subject, "user", "group"),
        or_(access_request.c.expires > bindparam("now"), access_request.c.subject == word("group")),
    )
    .order_by(access_request.c.at, access_request.c.id)
)
_ADD = insert(access_request)
_BY_CODE = select(access_request).where(
    access_request.c.code_sha256 == bindparam("code"), access_request.c.subject == bindparam("kind")
)
_DECIDE = update(access_request).where(access_request.c.id == bindparam("row")).values(state=bindparam("became"))
_CLEAR = (
    update(access_request).where(_PENDING, access_request.c.subject == bindparam("kind")).values(state=word("cleared"))
)
_OWNER_OPEN = select(access_request).where(
    _PENDING, access_request.c.subject == word("owner"), access_request.c.expires > bindparam("now")
)
_CLAIM = (
    update(access_request)
    .where(access_request.c.id == bindparam("row"))
    .values(
        state=word("approved"),
        channel=bindparam("on"),
        account=bindparam("mine"),
        subject_id=bindparam("whose"),
    )
)
_NEED_NOT_WAIT = (
    update(access_request)
    .where(_PENDING, _OURS, access_request.c.subject == word("user"), access_request.c.subject_id == bindparam("whose"))
    .values(state=word("approved"))
)
_WRONG = select(audit.c.at).order_by(audit.c.seq.desc()).limit(MOST_WRONG)
_WRONG_CODES = _WRONG.where(audit.c.action == word(WRONG))
_WRONG_OF = _WRONG.where(audit.c.action == word(WRONG_OWNER), audit.c.actor == bindparam("who"))


async def meet(tx: Tx, knock: Knock, code_sha256: str, expires: datetime, notices: Sequence[Notice]) -> bool:
    """See Access.meet."""
    if not await _room(tx, knock.party):
        return False
    await tx.run(_DROP_OLD, before=tx.now - KEPT.total_seconds())
    await _add(tx, knock, code_sha256, expires)
    await note(tx, f"{knock.party.subject} asks", called(knock.party), "pending", called(knock.party))
    await tell(tx, notices)
    return True


async def _room(tx: Tx, party: Party) -> bool:
    """Whether one more request is taken."""
    ours = {"on": party.channel, "mine": party.account}
    recent = await tx.all(_RECENT, **ours, kind=party.subject, since=tx.now - _DAY.total_seconds())
    if len(recent) >= MOST_A_DAY:
        return False
    if party.subject != "group" and await locked(tx):
        return False  # a code that nobody can approve is none
    if party.subject == "group":
        return await tx.one(_GROUP_KNOWN, **ours, whose=party.id) is None
    again = tx.now - AGAIN_AFTER.total_seconds()
    if any(row["subject_id"] == party.id and row["at"] > again for row in recent):
        return False
    waiting = [row for row in recent if row["state"] == "pending" and row["expires"] > tx.now]
    known = await grants(tx, party.channel, party.account, party.id, "")
    return len(waiting) < MOST_PENDING and not any(row.role == "blocked" for row in known)


async def requests(tx: Tx) -> list[RequestRow]:
    return [_row(row) for row in await tx.all(_OPEN, now=tx.now)]


async def decide(tx: Tx, code_sha256: str, state: RequestState, by: str, channel: str) -> RequestRow | None:
    """See Access.decide."""
    if await locked(tx):
        return None
    found = next((_row(row) for row in await tx.all(_BY_CODE, code=code_sha256, kind="user")), None)
    good = found and found.state == "pending" and found.expires.timestamp() > tx.now
    if not found or not good or channel not in ("", found.party.channel):
        await _wrong(tx, by)
        return None
    await tx.run(_DECIDE, row=found.id, became=state)
    role: GrantedRole = "user" if state == "approved" else "blocked"
    await grant(tx, GrantRow(party=found.party, role=role, group="", name=found.name, by=by, at=moment(tx.now)))
    return found


async def locked(tx: Tx) -> datetime | None:
    return lock_end([moment(row["at"]) for row in await tx.all(_WRONG_CODES)], moment(tx.now))


async def make_owner_code(tx: Tx, code_sha256: str, expires: datetime, by: str) -> None:
    await tx.run(_CLEAR, kind="owner")
    nobody = Party(channel="", account="", subject="user", id="")
    await _add(tx, Knock(party=nobody, name="", conversation="", lang=""), code_sha256, expires, "owner")
    await note(tx, "owner code made", "", "made", by)


async def claim_owner(tx: Tx, party: Party, name: str, code_sha256: str, notices: Sequence[Notice]) -> bool:
    """See Access.claim_owner."""
    for row in await tx.all(_BY_CODE, code=code_sha256, kind="owner"):
        if row["state"] == "approved" and _row(row).party == party:
            return True  # the platform brings the message once more
    if not (waits := await tx.all(_OWNER_OPEN, now=tx.now)) or await _shut_out(tx, party):
        return False
    row = waits[0]
    if row["code_sha256"] != code_sha256:
        await note(tx, WRONG_OWNER, "", "refused", called(party))
        return False
    await tx.run(_CLAIM, row=row["id"], on=party.channel, mine=party.account, whose=party.id)
    await tx.run(_NEED_NOT_WAIT, on=party.channel, mine=party.account, whose=party.id)
    await grant(tx, GrantRow(party=party, role="owner", group="", name=name, by="owner code", at=moment(tx.now)))
    await tell(tx, notices)
    return True


async def _shut_out(tx: Tx, party: Party) -> bool:
    wrong = await tx.all(_WRONG_OF, who=called(party))
    return lock_end([moment(row["at"]) for row in wrong], moment(tx.now)) is not None


async def _wrong(tx: Tx, by: str) -> None:
    await note(tx, WRONG, "", "refused", by)
    if await locked(tx):
        await tx.run(_CLEAR, kind="user")
        await note(tx, "pairing cleared", "", "too many wrong codes", by)


async def _add(tx: Tx, knock: Knock, code_sha256: str, expires: datetime, subject: str = "") -> None:
    party = knock.party
    await tx.run(
        _ADD,
        id=new_id(tx.now),
        channel=party.channel,
        account=party.account,
        subject=subject or party.subject,
        subject_id=party.id,
        name=knock.name,
        conversation=knock.conversation,
        lang=knock.lang,
        code_sha256=code_sha256,
        state="pending",
        expires=expires.timestamp(),
        at=tx.now,
    )


def _row(row: Row) -> RequestRow:
    subject: Subject = "group" if row["subject"] == "group" else "user"
    party = Party(channel=row["channel"], account=row["account"], subject=subject, id=row["subject_id"])
    return RequestRow(
        id=row["id"],
        party=party,
        name=row["name"],
        conversation=row["conversation"],
        lang=row["lang"],
        state=row["state"],
        expires=moment(row["expires"]),
        at=moment(row["at"]),
    )
