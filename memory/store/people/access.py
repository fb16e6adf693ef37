"""The Access door: who was given what, who asks for it, and which acts wait for a person's yes."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Protocol

from sqlalchemy import bindparam, case, delete, insert, or_, select, update

from memory.ids import new_id
from memory.store.audit import note
from memory.store.engine.database import Database, Row, Tx, glance
from memory.store.longterm.links import MOST_WRONG, lock_end
from memory.store.people import approvals
from memory.store.people.approvals import end_all, tell
from memory.store.people.rows import (
    ApprovalRow,
    ApprovalState,
    Asking,
    GrantedRole,
    GrantRow,
    Knock,
    Notice,
    OpenTurn,
    Party,
    RequestRow,
    RequestState,
    Revoked,
    Subject,
)
from memory.store.rows import moment
from memory.store.schema.columns import among, word
from memory.store.schema.memory_tables import access_grant, access_request
from memory.store.schema.tables import audit, conversation, turn

# Roles of people and groups that are allowed: read, given, taken away.

_SAME_PERSON = (access_grant.c.subject == word("user")) & (access_grant.c.subject_id == bindparam("person"))
_SAME_GROUP = (access_grant.c.subject == word("group")) & (access_grant.c.subject_id == bindparam("group"))
_GRANTS = select(access_grant).where(
    access_grant.c.channel == bindparam("on"),
    or_(access_grant.c.account == bindparam("mine"), access_grant.c.account == word("")),
    or_(_SAME_PERSON, _SAME_GROUP),
)
_ALL = select(access_grant).order_by(access_grant.c.at, access_grant.c.subject_id)
_OF = (access_grant.c.channel == bindparam("on")) & (access_grant.c.subject_id == bindparam("whose"))
_GIVEN = select(access_grant).where(_OF)
_TAKE = delete(access_grant).where(_OF)
_REPLACE = delete(access_grant).where(
    _OF,
    access_grant.c.subject == bindparam("kind"),
    access_grant.c.account == bindparam("mine"),
    access_grant.c.group_id == bindparam("within"),
)
_GIVE = insert(access_grant)
_TURNS = (
    select(turn.c.conversation, turn.c.actor, conversation.c.chat_id.label("chat"))
    .join(conversation, conversation.c.id == turn.c.conversation)
    .where(among(turn.c.state, "running", "waiting"), conversation.c.channel == bindparam("on"))
)
_SETTLE_GROUP = (
    update(access_request)
    .where(
        access_request.c.state == word("pending"),
        access_request.c.subject == word("group"),
        access_request.c.channel == bindparam("on"),
        access_request.c.subject_id == bindparam("whose"),
    )
    .values(state=word("approved"))
)
_OWNER_HOME = (
    select(conversation.c.id, conversation.c.channel)
    .where(
        conversation.c.space == word(""),
        conversation.c.kind == word("dm"),
        conversation.c.listed.is_(True),
    )
    .order_by(case((among(conversation.c.channel, "terminal", "web"), 1), else_=0), conversation.c.heard.desc())
    .limit(1)
)


@glance
async def grants(tx: Tx, channel: str, account: str, person: str, group: str) -> list[GrantRow]:
    return [_grant_row(row) for row in await tx.all(_GRANTS, on=channel, mine=account, person=person, group=group)]


@glance
async def all_grants(tx: Tx) -> list[GrantRow]:
    return [_grant_row(row) for row in await tx.all(_ALL)]


async def grant(tx: Tx, row: GrantRow) -> None:
    """See Access.grant."""
    party = row.party
    key = {"on": party.channel, "whose": party.id, "kind": party.subject, "mine": party.account, "within": row.group}
    await tx.run(_REPLACE, **key)
    await tx.run(
        _GIVE,
        channel=party.channel,
        account=party.account,
        subject=party.subject,
        subject_id=party.id,
        group_id=row.group,
        role=row.role,
        name=row.name,
        granted_by=row.by,
        at=tx.now,
    )
    if party.subject == "group":
        await tx.run(_SETTLE_GROUP, on=party.channel, whose=party.id)  # it does not ask any more
    await note(tx, f"grant {row.role}", called(party), row.group or "everywhere", row.by)


async def revoke(tx: Tx, channel: str, id: str, by: str) -> Revoked:
    """See Access.revoke."""
    held = [_grant_row(row) for row in await tx.all(_GIVEN, on=channel, whose=id)]
    await tx.run(_TAKE, on=channel, whose=id)
    ended = await end_all(tx, channel, id)
    turns = tuple(OpenTurn(**row) for row in await tx.all(_TURNS, on=channel))
    result = " ".join(row.role for row in held) or "nothing"
    await note(tx, "revoke", f"{channel}//{id}", result, by)
    return Revoked(grants=tuple(held), turns=turns, approvals=ended)


async def owner_home(tx: Tx) -> tuple[str, str]:
    row = await tx.one(_OWNER_HOME)
    return (row["id"], row["channel"]) if row else ("", "")


def called(party: Party) -> str:
    """A party as the audit's chain names it; only the last of the three is a platform's free text."""
    return f"{party.channel}/{party.account}/{party.id}"


def _grant_row(row: Row) -> GrantRow:
    party = Party(channel=row["channel"], account=row["account"], subject=row["subject"], id=row["subject_id"])
    return GrantRow(
        party=party,
        role=row["role"],
        group=row["group_id"],
        name=row["name"],
        by=row["granted_by"],
        at=moment(row["at"]),
    )


# Who asks to be let in, and the codes by which they are; the codes that make owners.

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
    return [_request_row(row) for row in await tx.all(_OPEN, now=tx.now)]


async def decide(tx: Tx, code_sha256: str, state: RequestState, by: str, channel: str) -> RequestRow | None:
    """See Access.decide."""
    if await locked(tx):
        return None
    found = next((_request_row(row) for row in await tx.all(_BY_CODE, code=code_sha256, kind="user")), None)
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
        if row["state"] == "approved" and _request_row(row).party == party:
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


def _request_row(row: Row) -> RequestRow:
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


class SqlAccess:
    """See memory.store.people.access.Access."""

    def __init__(self, database: Database) -> None:
        self._read, self._write = database.read, database.write

    async def grants(self, channel: str, account: str, person: str, group: str = "") -> list[GrantRow]:
        return await self._read(grants, channel, account, person, group)

    async def all_grants(self) -> list[GrantRow]:
        return await self._read(all_grants)

    async def grant(self, row: GrantRow) -> None:
        await self._write(grant, row)

    async def revoke(self, channel: str, id: str, by: str) -> Revoked:
        return await self._write(revoke, channel, id, by)

    async def owner_home(self) -> tuple[str, str]:
        return await self._read(owner_home)

    async def tell(self, notices: Sequence[Notice]) -> None:
        await self._write(tell, notices)

    async def meet(self, knock: Knock, code_sha256: str, expires: datetime, notices: Sequence[Notice]) -> bool:
        return await self._write(meet, knock, code_sha256, expires, notices)

    async def requests(self) -> list[RequestRow]:
        return await self._read(requests)

    async def decide(self, code_sha256: str, state: RequestState, by: str, channel: str = "") -> RequestRow | None:
        return await self._write(decide, code_sha256, state, by, channel)

    async def locked(self) -> datetime | None:
        return await self._read(locked)

    async def make_owner_code(self, code_sha256: str, expires: datetime, by: str) -> None:
        await self._write(make_owner_code, code_sha256, expires, by)

    async def claim_owner(self, party: Party, name: str, code_sha256: str, notices: Sequence[Notice]) -> bool:
        return await self._write(claim_owner, party, name, code_sha256, notices)

    async def ask(self, asking: Asking, notices: Sequence[Notice]) -> ApprovalRow:
        return await self._write(approvals.ask, asking, notices)

    async def approval(self, sha256: str, person: Party) -> ApprovalRow | None:
        return await self._read(approvals.approval, sha256, person)

    async def move(self, id: str, was: ApprovalState, state: ApprovalState) -> bool:
        return await self._write(approvals.move, id, was, state)


# The store's door to who may talk, as a Protocol that any backend passes the suite of.
#
# All methods may raise StoreFull, StoreBusy or StoreCorrupt. Each that changes something adds to the audit's chain.


class Access(Protocol):
    """Who was given what, who asks for it, and which acts wait for a person."""

    async def grants(self, channel: str, account: str, person: str, group: str = "") -> list[GrantRow]:
        """What that person has with one account of ours, and that group; grants for any account among them."""
        ...

    async def all_grants(self) -> list[GrantRow]:
        """Oldest first."""
        ...

    async def grant(self, row: GrantRow) -> None:
        """In place of what the party had for the same group; `at` is now, whatever the row says."""
        ...

    async def revoke(self, channel: str, id: str, by: str) -> Revoked:
        """Takes every grant of a person or group away, a block too; open approvals of that person end."""
        ...

    async def owner_home(self) -> tuple[str, str]:
        """(conversation, its channel) in which an owner wrote last in private, on this machine only for want of
        another; ("", "") for none.
        """
        ...

    async def tell(self, notices: Sequence[Notice]) -> None:
        """See Delivery.notify."""
        ...

    async def meet(self, knock: Knock, code_sha256: str, expires: datetime, notices: Sequence[Notice]) -> bool:
        """One transaction: a request is stored and `notices` are told; False, and nothing, where there is no room.

        A person: not blocked, codes not `locked`, one request an hour, 3 waiting and 20 a day per account of ours.
        A group: one for ever, 20 a day per account; code_sha256 is "" then and nothing expires.
        """
        ...

    async def requests(self) -> list[RequestRow]:
        """Pending and not expired, oldest first."""
        ...

    async def decide(self, code_sha256: str, state: RequestState, by: str, channel: str = "") -> RequestRow | None:
        """pending -> approved (the person is a user now) or denied (blocked).

        None for an unknown, used or expired code, one of another channel where `channel` is given, or while `locked`.
        The fifth wrong code within an hour clears all that is pending.
        """
        ...

    async def locked(self) -> datetime | None:
        """Until when no code is looked at, None when codes are."""
        ...

    async def make_owner_code(self, code_sha256: str, expires: datetime, by: str) -> None:
        """In place of any that was not used."""
        ...

    async def claim_owner(self, party: Party, name: str, code_sha256: str, notices: Sequence[Notice]) -> bool:
        """Whether this is the code that makes that person an owner: now, and `notices` are told, or before.

        After 5 wrong ones within an hour nothing that the person types is looked at for an hour.
        """
        ...

    async def ask(self, asking: Asking, notices: Sequence[Notice]) -> ApprovalRow:
        """Store it and tell its person, one transaction; the same call a second time gives the first one's row."""
        ...

    async def approval(self, sha256: str, person: Party) -> ApprovalRow | None:
        """That person's, in whatever state, by the hash of its code or of what its button brings."""
        ...

    async def move(self, id: str, was: ApprovalState, state: ApprovalState) -> bool:
        """False where it is not in that state (any more), or is to leave "asked" for "running" after its time."""
        ...
