"""The Access door: who was given what, who asks for it, and which acts wait for a person's yes."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import bindparam, case, delete, insert, or_, select, update

from memory.ids import new_id
from memory.store.audit import append_act
from memory.store.engine.database import Row, Tx, single_query
from memory.store.engine.repository import Repository, read, write
from memory.store.longterm.links import MAX_WRONG_CODES, lock_end
from memory.store.people import approvals
from memory.store.people.approvals import add_all_notices, end_approvals_of
from memory.store.people.rows import (
    AccessRequest,
    AccessRequestRow,
    GrantedRole,
    GrantRow,
    Notice,
    OpenTurn,
    Party,
    RequestState,
    RevokeResult,
    Subject,
)
from memory.store.rows import from_unix
from memory.store.schema.columns import is_one_of, literal_text
from memory.store.schema.memory_tables import access_grant, access_request
from memory.store.schema.tables import audit, conversation, turn

# Roles of people and groups that are allowed: read, given, taken away.

_SAME_PERSON = (access_grant.c.subject == literal_text("user")) & (access_grant.c.subject_id == bindparam("person"))
_SAME_GROUP = (access_grant.c.subject == literal_text("group")) & (access_grant.c.subject_id == bindparam("group"))
_SELECT_GRANTS = select(access_grant).where(
    access_grant.c.channel == bindparam("on"),
    or_(access_grant.c.account == bindparam("mine"), access_grant.c.account == literal_text("")),
    or_(_SAME_PERSON, _SAME_GROUP),
)
_SELECT_ALL = select(access_grant).order_by(access_grant.c.at, access_grant.c.subject_id)
_IS_OF_PARTY = (access_grant.c.channel == bindparam("on")) & (access_grant.c.subject_id == bindparam("whose"))
_SELECT_OF_PARTY = select(access_grant).where(_IS_OF_PARTY)
_DELETE_GRANTS = delete(access_grant).where(_IS_OF_PARTY)
_DELETE_REPLACED = delete(access_grant).where(
    _IS_OF_PARTY,
    access_grant.c.subject == bindparam("kind"),
    access_grant.c.account == bindparam("mine"),
    access_grant.c.group_id == bindparam("within"),
)
_INSERT_GRANT = insert(access_grant)
_SELECT_OPEN_TURNS = (
    select(turn.c.conversation, turn.c.actor, conversation.c.chat_id.label("chat"))
    .join(conversation, conversation.c.id == turn.c.conversation)
    .where(is_one_of(turn.c.state, "running", "waiting"), conversation.c.channel == bindparam("on"))
)
_SETTLE_GROUP = (
    update(access_request)
    .where(
        access_request.c.state == literal_text("pending"),
        access_request.c.subject == literal_text("group"),
        access_request.c.channel == bindparam("on"),
        access_request.c.subject_id == bindparam("whose"),
    )
    .values(state=literal_text("approved"))
)
_OWNER_HOME = (
    select(conversation.c.id, conversation.c.channel)
    .where(
        conversation.c.space == literal_text(""),
        conversation.c.kind == literal_text("dm"),
        conversation.c.listed.is_(True),
    )
    .order_by(case((is_one_of(conversation.c.channel, "terminal", "web"), 1), else_=0), conversation.c.heard.desc())
    .limit(1)
)


@single_query
async def load_grants(tx: Tx, channel: str, account: str, person: str, group: str = "") -> list[GrantRow]:
    """What that person has with one account of ours, and that group; grants for any account among them."""
    return [
        _to_grant_row(row) for row in await tx.all(_SELECT_GRANTS, on=channel, mine=account, person=person, group=group)
    ]


@single_query
async def load_all_grants(tx: Tx) -> list[GrantRow]:
    """Oldest first."""
    return [_to_grant_row(row) for row in await tx.all(_SELECT_ALL)]


async def add_grant(tx: Tx, row: GrantRow) -> None:
    """In place of what the party had for the same group; `at` is now, whatever the row says."""
    party = row.party
    key = {"on": party.channel, "whose": party.id, "kind": party.subject, "mine": party.account, "within": row.group}
    await tx.run(_DELETE_REPLACED, **key)
    await tx.run(
        _INSERT_GRANT,
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
    await append_act(tx, f"grant {row.role}", audit_name(party), row.group or "everywhere", row.by)


async def revoke_grants(tx: Tx, channel: str, id: str, by: str) -> RevokeResult:
    """Takes every grant of a person or group away, a block too; open approvals of that person end."""
    held = [_to_grant_row(row) for row in await tx.all(_SELECT_OF_PARTY, on=channel, whose=id)]
    await tx.run(_DELETE_GRANTS, on=channel, whose=id)
    ended = await end_approvals_of(tx, channel, id)
    turns = tuple(OpenTurn(**row) for row in await tx.all(_SELECT_OPEN_TURNS, on=channel))
    result = " ".join(row.role for row in held) or "nothing"
    await append_act(tx, "revoke", f"{channel}//{id}", result, by)
    return RevokeResult(grants=tuple(held), turns=turns, approvals=ended)


async def find_owner_conversation(tx: Tx) -> tuple[str, str]:
    """(conversation, its channel) in which an owner wrote last in private, on this machine only for want of
    another; ("", "") for none.
    """
    row = await tx.one(_OWNER_HOME)
    return (row["id"], row["channel"]) if row else ("", "")


def audit_name(party: Party) -> str:
    """A party as the audit's chain names it; only the last of the three is a platform's free text."""
    return f"{party.channel}/{party.account}/{party.id}"


def _to_grant_row(row: Row) -> GrantRow:
    party = Party(channel=row["channel"], account=row["account"], subject=row["subject"], id=row["subject_id"])
    return GrantRow(
        party=party,
        role=row["role"],
        group=row["group_id"],
        name=row["name"],
        by=row["granted_by"],
        at=from_unix(row["at"]),
    )


# Who asks to be let in, and the codes by which they are; the codes that make owners.

# Per account of ours; source: the security page's rules for pairing. KEPT: how long requests of people stay.
MAX_PENDING, MAX_A_DAY, REPEAT_AFTER, KEEP_DECIDED = 3, 20, timedelta(hours=1), timedelta(days=30)
WRONG_CODE_ACTION, WRONG_OWNER_CODE_ACTION = "pairing code wrong", "owner code wrong"
_DAY = timedelta(days=1)
_IS_PENDING = is_one_of(access_request.c.state, "pending")
_IS_OF_ACCOUNT = (access_request.c.channel == bindparam("on")) & (access_request.c.account == bindparam("mine"))
_SELECT_RECENT = select(access_request).where(
    _IS_OF_ACCOUNT, access_request.c.subject == bindparam("kind"), access_request.c.at > bindparam("since")
)
_SELECT_KNOWN_GROUP = select(access_request.c.id).where(
    _IS_OF_ACCOUNT, access_request.c.subject == literal_text("group"), access_request.c.subject_id == bindparam("whose")
)
_DELETE_OLD = delete(access_request).where(
    access_request.c.subject == literal_text("user"), access_request.c.at < bindparam("before")
)
_SELECT_OPEN = (
    select(access_request)
    .where(
        _IS_PENDING,
        is_one_of(access_request.c.subject, "user", "group"),
        or_(access_request.c.expires > bindparam("now"), access_request.c.subject == literal_text("group")),
    )
    .order_by(access_request.c.at, access_request.c.id)
)
_INSERT_REQUEST = insert(access_request)
_SELECT_BY_CODE = select(access_request).where(
    access_request.c.code_sha256 == bindparam("code"), access_request.c.subject == bindparam("kind")
)
_DECIDE = update(access_request).where(access_request.c.id == bindparam("row")).values(state=bindparam("became"))
_CLEAR_PENDING = (
    update(access_request)
    .where(_IS_PENDING, access_request.c.subject == bindparam("kind"))
    .values(state=literal_text("cleared"))
)
_SELECT_OWNER_CODE = select(access_request).where(
    _IS_PENDING, access_request.c.subject == literal_text("owner"), access_request.c.expires > bindparam("now")
)
_REDEEM_OWNER_CODE = (
    update(access_request)
    .where(access_request.c.id == bindparam("row"))
    .values(
        state=literal_text("approved"),
        channel=bindparam("on"),
        account=bindparam("mine"),
        subject_id=bindparam("whose"),
    )
)
_APPROVE_PENDING = (
    update(access_request)
    .where(
        _IS_PENDING,
        _IS_OF_ACCOUNT,
        access_request.c.subject == literal_text("user"),
        access_request.c.subject_id == bindparam("whose"),
    )
    .values(state=literal_text("approved"))
)
_SELECT_WRONG = select(audit.c.at).order_by(audit.c.seq.desc()).limit(MAX_WRONG_CODES)
_SELECT_WRONG_CODES = _SELECT_WRONG.where(audit.c.action == literal_text(WRONG_CODE_ACTION))
_SELECT_WRONG_OWNER_CODES = _SELECT_WRONG.where(
    audit.c.action == literal_text(WRONG_OWNER_CODE_ACTION), audit.c.actor == bindparam("who")
)


async def add_request(
    tx: Tx, knock: AccessRequest, code_sha256: str, expires: datetime, notices: Sequence[Notice]
) -> bool:
    """One transaction: a request is stored and `notices` are told; False, and nothing, where there is no room.

    A person: not blocked, codes not `locked`, one request an hour, 3 waiting and 20 a day per account of ours.
    A group: one forever, 20 a day per account; code_sha256 is "" then and nothing expires.
    """
    if not await _has_room(tx, knock.party):
        return False
    await tx.run(_DELETE_OLD, before=tx.now - KEEP_DECIDED.total_seconds())
    await _insert_request(tx, knock, code_sha256, expires)
    await append_act(tx, f"{knock.party.subject} asks", audit_name(knock.party), "pending", audit_name(knock.party))
    await add_all_notices(tx, notices)
    return True


async def _has_room(tx: Tx, party: Party) -> bool:
    """Whether one more request is taken."""
    ours = {"on": party.channel, "mine": party.account}
    recent = await tx.all(_SELECT_RECENT, **ours, kind=party.subject, since=tx.now - _DAY.total_seconds())
    if len(recent) >= MAX_A_DAY:
        return False
    if party.subject != "group" and await is_locked(tx):
        return False  # a code that nobody can approve is none
    if party.subject == "group":
        return await tx.one(_SELECT_KNOWN_GROUP, **ours, whose=party.id) is None
    again = tx.now - REPEAT_AFTER.total_seconds()
    if any(row["subject_id"] == party.id and row["at"] > again for row in recent):
        return False
    waiting = [row for row in recent if row["state"] == "pending" and row["expires"] > tx.now]
    known = await load_grants(tx, party.channel, party.account, party.id, "")
    return len(waiting) < MAX_PENDING and not any(row.role == "blocked" for row in known)


async def load_requests(tx: Tx) -> list[AccessRequestRow]:
    """Pending and not expired, oldest first."""
    return [_to_request_row(row) for row in await tx.all(_SELECT_OPEN, now=tx.now)]


async def decide_request(
    tx: Tx, code_sha256: str, state: RequestState, by: str, channel: str = ""
) -> AccessRequestRow | None:
    """pending -> approved (the person is a user now) or denied (blocked).

    None for an unknown, used or expired code, one of another channel where `channel` is given, or while `locked`.
    The fifth wrong code within an hour clears all that is pending.
    """
    if await is_locked(tx):
        return None
    found = next((_to_request_row(row) for row in await tx.all(_SELECT_BY_CODE, code=code_sha256, kind="user")), None)
    good = found and found.state == "pending" and found.expires.timestamp() > tx.now
    if not found or not good or channel not in ("", found.party.channel):
        await _count_wrong_code(tx, by)
        return None
    await tx.run(_DECIDE, row=found.id, became=state)
    role: GrantedRole = "user" if state == "approved" else "blocked"
    await add_grant(tx, GrantRow(party=found.party, role=role, group="", name=found.name, by=by, at=from_unix(tx.now)))
    return found


async def is_locked(tx: Tx) -> datetime | None:
    """Until when no code is looked at, None when codes are."""
    return lock_end([from_unix(row["at"]) for row in await tx.all(_SELECT_WRONG_CODES)], from_unix(tx.now))


async def make_owner_code(tx: Tx, code_sha256: str, expires: datetime, by: str) -> None:
    """In place of any that was not used."""
    await tx.run(_CLEAR_PENDING, kind="owner")
    nobody = Party(channel="", account="", subject="user", id="")
    await _insert_request(
        tx, AccessRequest(party=nobody, name="", conversation="", lang=""), code_sha256, expires, "owner"
    )
    await append_act(tx, "owner code made", "", "made", by)


async def redeem_owner_code(tx: Tx, party: Party, name: str, code_sha256: str, notices: Sequence[Notice]) -> bool:
    """Whether this is the code that makes that person an owner: now, and `notices` are told, or before.

    After 5 wrong ones within an hour nothing that the person types is looked at for an hour.
    """
    for row in await tx.all(_SELECT_BY_CODE, code=code_sha256, kind="owner"):
        if row["state"] == "approved" and _to_request_row(row).party == party:
            return True  # the platform brings the message once more
    if not (waits := await tx.all(_SELECT_OWNER_CODE, now=tx.now)) or await _is_locked_out(tx, party):
        return False
    row = waits[0]
    if row["code_sha256"] != code_sha256:
        await append_act(tx, WRONG_OWNER_CODE_ACTION, "", "refused", audit_name(party))
        return False
    await tx.run(_REDEEM_OWNER_CODE, row=row["id"], on=party.channel, mine=party.account, whose=party.id)
    await tx.run(_APPROVE_PENDING, on=party.channel, mine=party.account, whose=party.id)
    await add_grant(tx, GrantRow(party=party, role="owner", group="", name=name, by="owner code", at=from_unix(tx.now)))
    await add_all_notices(tx, notices)
    return True


async def _is_locked_out(tx: Tx, party: Party) -> bool:
    wrong = await tx.all(_SELECT_WRONG_OWNER_CODES, who=audit_name(party))
    return lock_end([from_unix(row["at"]) for row in wrong], from_unix(tx.now)) is not None


async def _count_wrong_code(tx: Tx, by: str) -> None:
    await append_act(tx, WRONG_CODE_ACTION, "", "refused", by)
    if await is_locked(tx):
        await tx.run(_CLEAR_PENDING, kind="user")
        await append_act(tx, "pairing cleared", "", "too many wrong codes", by)


async def _insert_request(tx: Tx, knock: AccessRequest, code_sha256: str, expires: datetime, subject: str = "") -> None:
    party = knock.party
    await tx.run(
        _INSERT_REQUEST,
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


def _to_request_row(row: Row) -> AccessRequestRow:
    subject: Subject = "group" if row["subject"] == "group" else "user"
    party = Party(channel=row["channel"], account=row["account"], subject=subject, id=row["subject_id"])
    return AccessRequestRow(
        id=row["id"],
        party=party,
        name=row["name"],
        conversation=row["conversation"],
        lang=row["lang"],
        state=row["state"],
        expires=from_unix(row["expires"]),
        at=from_unix(row["at"]),
    )


# The store's door to who may talk, as a Protocol that any backend passes the suite of.
#
# All methods may raise StoreFull, StoreBusy or StoreCorrupt. Each that changes something adds to the audit's chain.


class AccessRecords(Repository):
    """Who was given what, who asks for it, and which acts wait for a person."""

    grants = read(load_grants)
    load_all_grants = read(load_all_grants)
    grant = write(add_grant)
    revoke = write(revoke_grants)
    find_owner_conversation = read(find_owner_conversation)
    tell = write(add_all_notices)
    add_request = write(add_request)
    requests = read(load_requests)
    decide = write(decide_request)
    locked = read(is_locked)
    make_owner_code = write(make_owner_code)
    redeem_owner_code = write(redeem_owner_code)
    ask = write(approvals.add_approval)
    approval = read(approvals.find_approval)
    move = write(approvals.set_state)
