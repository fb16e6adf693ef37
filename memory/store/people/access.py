"""Stores access rights: grants of roles, requests for access, pairing codes and owner codes."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Select,
    Text,
    bindparam,
    case,
    delete,
    or_,
    select,
    union_all,
    update,
)

from memory.ids import new_id
from memory.store.audit import append_act
from memory.store.automation import approval_rules, approvals
from memory.store.automation.approvals import end_approvals_of
from memory.store.conversations.inbox import NEWEST_SENDER, NEXT_SENDER
from memory.store.conversations.outbox import add_all_notices
from memory.store.engine.database import Repository, Row, Tx, insert_into, read, write
from memory.store.longterm.links import MAX_WRONG_CODES, lock_end
from memory.store.people.rows import (
    AccessRequest,
    AccessRequestRow,
    GrantedRole,
    GrantRow,
    GrantsKey,
    OpenTurn,
    OwnerChat,
    RequestState,
    RevokeResult,
)
from memory.store.rows import Notice, Party, Subject, from_unix
from memory.store.schema.memory_tables import access_grant, access_request
from memory.store.schema.tables import audit, conversation, is_one_of, literal_text, turn


def _grants_of(
    subject: Subject,
    id: ColumnElement[str],
    channel: ColumnElement[str],
    account: ColumnElement[str],
) -> Select[Any]:
    return select(access_grant).where(
        access_grant.c.channel == channel,
        access_grant.c.subject == literal_text(subject),
        access_grant.c.subject_id == id,
        or_(access_grant.c.account == account, access_grant.c.account == literal_text("")),
    )


def _of_conversation(
    column: ColumnElement[str], *conditions: ColumnElement[bool]
) -> ColumnElement[str]:
    return (
        select(column)
        .where(conversation.c.id == bindparam("conversation"), *conditions)
        .scalar_subquery()
    )


# Both by equalities alone, for the index: with an OR or a join the database reads all grants of the
# channel.
_ASKED_PLACE = bindparam("channel", type_=Text()), bindparam("account", type_=Text())
_SELECT_GRANTS = union_all(
    _grants_of("user", bindparam("person", type_=Text()), *_ASKED_PLACE),
    _grants_of("group", bindparam("group", type_=Text()), *_ASKED_PLACE),
)
_PLACE_OF_NEXT = _of_conversation(conversation.c.channel), _of_conversation(conversation.c.account)
_GROUP_OF_NEXT = _of_conversation(
    conversation.c.chat_id, conversation.c.kind == literal_text("group")
)
# The same for whoever wrote the next row of a conversation's queue.
_SELECT_GRANTS_OF_NEXT = union_all(
    _grants_of("user", NEXT_SENDER, *_PLACE_OF_NEXT),
    _grants_of("group", _GROUP_OF_NEXT, *_PLACE_OF_NEXT),
)
_SELECT_ALL = select(access_grant).order_by(access_grant.c.at, access_grant.c.subject_id)
_IS_OF_PARTY = (access_grant.c.channel == bindparam("channel")) & (
    access_grant.c.subject_id == bindparam("subject_id")
)
_SELECT_OF_PARTY = select(access_grant).where(_IS_OF_PARTY)
_DELETE_GRANTS = delete(access_grant).where(_IS_OF_PARTY)
_DELETE_REPLACED = delete(access_grant).where(
    *(
        access_grant.c[name] == bindparam(name)
        for name in ("channel", "account", "subject", "subject_id", "group_id")
    )
)
_SELECT_OPEN_TURNS = (
    select(turn.c.conversation, turn.c.actor, conversation.c.chat_id.label("chat"))
    .join(conversation, conversation.c.id == turn.c.conversation)
    .where(is_one_of(turn.c.state, "running", "waiting"))
)
_SELECT_OPEN_TURNS_OF_CHANNEL = _SELECT_OPEN_TURNS.where(
    conversation.c.channel == bindparam("channel")
)
_IS_OWNERS_CHAT = (
    conversation.c.space == literal_text(""),
    is_one_of(conversation.c.kind, "dm"),
    conversation.c.channel.not_in([literal_text(name) for name in ("terminal", "web")]),
)
_SELECT_OWNER_CHATS = select(conversation.c.id, NEWEST_SENDER.label("person")).where(
    *_IS_OWNERS_CHAT
)
_MOVE_TO_SPACE = (
    update(conversation)
    .where(conversation.c.id == bindparam("id"), *_IS_OWNERS_CHAT)
    .values(space=bindparam("new_space"))
)
_APPROVE_GROUP = (
    update(access_request)
    .where(
        access_request.c.state == literal_text("pending"),
        access_request.c.subject == literal_text("group"),
        access_request.c.channel == bindparam("channel"),
        access_request.c.subject_id == bindparam("subject_id"),
    )
    .values(state=literal_text("approved"))
)
_SELECT_OWNER_CONVERSATION = (
    select(conversation.c.id, conversation.c.channel)
    .where(
        conversation.c.space == literal_text(""),
        conversation.c.kind == literal_text("dm"),
        conversation.c.listed.is_(True),
    )
    .order_by(
        case((is_one_of(conversation.c.channel, "terminal", "web"), 1), else_=0),
        conversation.c.heard.desc(),
    )
    .limit(1)
)


async def load_grants(tx: Tx, key: GrantsKey) -> list[GrantRow]:
    """Load the grants of a person and of a group."""
    values = {
        "channel": key.channel,
        "account": key.account,
        "person": key.person,
        "group": key.group,
    }
    return [_to_grant_row(row) for row in (await tx.execute(_SELECT_GRANTS, **values)).all()]


async def load_grants_of_next(tx: Tx, conversation: str, now: float) -> list[GrantRow]:
    """Load the grants of the person who wrote the next row of a conversation's queue, and of its
    group.

    The person is the row's sender id as it was stored; see `inbox.next_row`.
    """
    return [
        _to_grant_row(row)
        for row in (
            await tx.execute(_SELECT_GRANTS_OF_NEXT, conversation=conversation, now=now)
        ).all()
    ]


async def load_all_grants(tx: Tx) -> list[GrantRow]:
    """Load all grants, oldest first."""
    return [_to_grant_row(row) for row in (await tx.execute(_SELECT_ALL)).all()]


async def add_grant(tx: Tx, row: GrantRow) -> None:
    """Store a grant, in place of the party's earlier one for the same group; `at` becomes the
    current time.
    """
    party, key = row.party, {**_party_columns(row.party), "group_id": row.group}
    await tx.execute(_DELETE_REPLACED, **key)
    await tx.execute(
        insert_into(access_grant), **key, role=row.role, name=row.name, granted_by=row.by, at=tx.now
    )
    if party.subject == "group":
        await tx.execute(_APPROVE_GROUP, channel=party.channel, subject_id=party.id)
    await append_act(tx, f"grant {row.role}", audit_name(party), row.group or "everywhere", row.by)


async def revoke_grants(tx: Tx, channel: str, id: str, by: str) -> RevokeResult:
    """Delete every grant of a person or group, including a block, end the person's open approvals
    and rules.
    """
    grants = [
        _to_grant_row(row)
        for row in (await tx.execute(_SELECT_OF_PARTY, channel=channel, subject_id=id)).all()
    ]
    await tx.execute(_DELETE_GRANTS, channel=channel, subject_id=id)
    ended = await end_approvals_of(tx, channel, id)
    await approval_rules.delete_rules_of(tx, channel, id)
    turns = tuple(
        OpenTurn(**row)
        for row in (await tx.execute(_SELECT_OPEN_TURNS_OF_CHANNEL, channel=channel)).all()
    )
    result = " ".join(row.role for row in grants) or "nothing"
    await append_act(tx, "revoke", f"{channel}//{id}", result, by)
    return RevokeResult(grants=tuple(grants), turns=turns, approvals=ended)


async def load_open_turns(tx: Tx) -> list[OpenTurn]:
    """Load all running and waiting turns."""
    return [OpenTurn(**row) for row in (await tx.execute(_SELECT_OPEN_TURNS)).all()]


async def load_owner_chats(tx: Tx) -> list[OwnerChat]:
    """Load the private chats on platforms that use the owner's space by themselves, not by a
    link.
    """
    chats = (await tx.execute(_SELECT_OWNER_CHATS)).all()
    return [OwnerChat(conversation=row["id"], person=row["person"] or "") for row in chats]


async def move_to_space(tx: Tx, conversation: str, space: str) -> bool:
    """Give a chat of the owner's space the one that is its person's by now; False if it was moved
    already.
    """
    moved = (await tx.execute(_MOVE_TO_SPACE, id=conversation, new_space=space)).rowcount
    if moved:
        tx.changed.update({("", conversation), (space, conversation)})
    return bool(moved)


async def find_owner_conversation(tx: Tx) -> tuple[str, str]:
    """Find the private conversation in which an owner wrote last, on a platform before terminal and
    web.

    Returns:
        (conversation id, channel), ("", "") for none.
    """
    row = (await tx.execute(_SELECT_OWNER_CONVERSATION)).first()
    return (row["id"], row["channel"]) if row else ("", "")


def audit_name(party: Party) -> str:
    """A party's name in the audit chain; only the last of the three is free text of a platform."""
    return f"{party.channel}/{party.account}/{party.id}"


def _party_columns(party: Party) -> dict[str, str]:
    return {
        "channel": party.channel,
        "account": party.account,
        "subject": party.subject,
        "subject_id": party.id,
    }


def _to_grant_row(row: Row) -> GrantRow:
    party = Party(
        channel=row["channel"], account=row["account"], subject=row["subject"], id=row["subject_id"]
    )
    return GrantRow(
        party=party,
        role=row["role"],
        group=row["group_id"],
        name=row["name"],
        by=row["granted_by"],
        at=from_unix(row["at"]),
    )


# Requests for access, and owner codes.

# Limits per account of the bot. Source: the security page's rules for pairing.
MAX_PENDING, MAX_A_DAY, REPEAT_AFTER = 3, 20, timedelta(hours=1)
KEEP_DECIDED = timedelta(days=30)  # how long requests of people are stored
WRONG_CODE_ACTION, WRONG_OWNER_CODE_ACTION = "pairing code wrong", "owner code wrong"
_DAY = timedelta(days=1)
_IS_PENDING = is_one_of(access_request.c.state, "pending")
_IS_OF_ACCOUNT = (access_request.c.channel == bindparam("channel")) & (
    access_request.c.account == bindparam("account")
)
_IS_SUBJECT = access_request.c.subject == bindparam("subject")
_IS_SUBJECT_ID = access_request.c.subject_id == bindparam("subject_id")
_SELECT_RECENT = select(access_request).where(
    _IS_OF_ACCOUNT, _IS_SUBJECT, access_request.c.at > bindparam("since")
)
_SELECT_KNOWN_GROUP = select(access_request.c.id).where(
    _IS_OF_ACCOUNT, access_request.c.subject == literal_text("group"), _IS_SUBJECT_ID
)
_DELETE_OLD = delete(access_request).where(
    access_request.c.subject == literal_text("user"), access_request.c.at < bindparam("before")
)
_SELECT_OPEN = (
    select(access_request)
    .where(
        _IS_PENDING,
        is_one_of(access_request.c.subject, "user", "group"),
        or_(
            access_request.c.expires > bindparam("now"),
            access_request.c.subject == literal_text("group"),
        ),
    )
    .order_by(access_request.c.at, access_request.c.id)
)
_SELECT_BY_CODE = select(access_request).where(
    access_request.c.code_sha256 == bindparam("code_sha256"), _IS_SUBJECT
)
_SET_STATE = (
    update(access_request)
    .where(access_request.c.id == bindparam("id"))
    .values(state=bindparam("new_state"))
)
_CLEAR_PENDING = (
    update(access_request).where(_IS_PENDING, _IS_SUBJECT).values(state=literal_text("cleared"))
)
_SELECT_OWNER_CODE = select(access_request).where(
    _IS_PENDING,
    access_request.c.subject == literal_text("owner"),
    access_request.c.expires > bindparam("now"),
)
_REDEEM_OWNER_CODE = (
    update(access_request)
    .where(access_request.c.id == bindparam("id"))
    .values(
        state=literal_text("approved"),
        channel=bindparam("new_channel"),
        account=bindparam("new_account"),
        subject_id=bindparam("new_subject_id"),
    )
)
_APPROVE_PENDING = (
    update(access_request)
    .where(
        _IS_PENDING,
        _IS_OF_ACCOUNT,
        access_request.c.subject == literal_text("user"),
        _IS_SUBJECT_ID,
    )
    .values(state=literal_text("approved"))
)
_SELECT_WRONG = select(audit.c.at).order_by(audit.c.seq.desc()).limit(MAX_WRONG_CODES)
_SELECT_WRONG_CODES = _SELECT_WRONG.where(audit.c.action == literal_text(WRONG_CODE_ACTION))
_SELECT_WRONG_OWNER_CODES = _SELECT_WRONG.where(
    audit.c.action == literal_text(WRONG_OWNER_CODE_ACTION), audit.c.actor == bindparam("actor")
)


async def add_request(
    tx: Tx, new: AccessRequest, code_sha256: str, expires: datetime, notices: Sequence[Notice]
) -> bool:
    """Store a request for access and queue its notices; False, and nothing stored, beyond the
    limits.

    A person must not be blocked, codes must not be locked, and there may be one request an hour, 3
    pending and 20 a day per account of the bot. A group asks once ever, 20 groups a day per
    account; it has no code and never expires.
    """
    if not await _is_within_limits(tx, new.party):
        return False
    await tx.execute(_DELETE_OLD, before=tx.now - KEEP_DECIDED.total_seconds())
    columns = {"name": new.name, "conversation": new.conversation, "lang": new.lang}
    await _insert_request(tx, _party_columns(new.party) | columns, code_sha256, expires)
    await append_act(
        tx, f"{new.party.subject} asks", audit_name(new.party), "pending", audit_name(new.party)
    )
    await add_all_notices(tx, notices)
    return True


async def _is_within_limits(tx: Tx, party: Party) -> bool:
    account = {"channel": party.channel, "account": party.account}
    recent = (
        await tx.execute(
            _SELECT_RECENT, **account, subject=party.subject, since=tx.now - _DAY.total_seconds()
        )
    ).all()
    if len(recent) >= MAX_A_DAY:
        return False
    if party.subject == "group":
        return (
            await tx.execute(_SELECT_KNOWN_GROUP, **account, subject_id=party.id)
        ).first() is None
    if await locked_until(tx):
        return False  # no code could be approved
    since = tx.now - REPEAT_AFTER.total_seconds()
    if any(row["subject_id"] == party.id and row["at"] > since for row in recent):
        return False
    pending = [row for row in recent if row["state"] == "pending" and row["expires"] > tx.now]
    grants = await load_grants(
        tx, GrantsKey(channel=party.channel, account=party.account, person=party.id)
    )
    return len(pending) < MAX_PENDING and not any(row.role == "blocked" for row in grants)


async def load_requests(tx: Tx) -> list[AccessRequestRow]:
    """Load the pending requests that have not expired, oldest first."""
    return [_to_request_row(row) for row in (await tx.execute(_SELECT_OPEN, now=tx.now)).all()]


async def decide_request(
    tx: Tx, code_sha256: str, state: RequestState, by: str, channel: str = ""
) -> AccessRequestRow | None:
    """Approve a pending request (the person becomes a user) or deny it (blocked).

    Returns:
        None while codes are locked, and for a wrong code: unknown, used, expired, or not of
            `channel` if that is
        given. The fifth wrong code within an hour clears all pending requests.
    """
    if await locked_until(tx):
        return None
    rows = (await tx.execute(_SELECT_BY_CODE, code_sha256=code_sha256, subject="user")).all()
    found = _to_request_row(rows[0]) if rows else None
    is_valid = found and found.state == "pending" and found.expires.timestamp() > tx.now
    if not found or not is_valid or channel not in ("", found.party.channel):
        await _count_wrong_code(tx, by)
        return None
    await tx.execute(_SET_STATE, id=found.id, new_state=state)
    role: GrantedRole = "user" if state == "approved" else "blocked"
    await add_grant(
        tx,
        GrantRow(
            party=found.party, role=role, group="", name=found.name, by=by, at=from_unix(tx.now)
        ),
    )
    return found


async def locked_until(tx: Tx) -> datetime | None:
    """Return when codes are accepted again, None for now."""
    return lock_end(
        [from_unix(row["at"]) for row in (await tx.execute(_SELECT_WRONG_CODES)).all()],
        from_unix(tx.now),
    )


async def make_owner_code(tx: Tx, code_sha256: str, expires: datetime, by: str) -> None:
    """Store an owner code, in place of an unused one."""
    await tx.execute(_CLEAR_PENDING, subject="owner")
    await _insert_request(tx, {"subject": "owner"}, code_sha256, expires)
    await append_act(tx, "owner code made", "", "made", by)


async def redeem_owner_code(
    tx: Tx, party: Party, name: str, code_sha256: str, notices: Sequence[Notice]
) -> bool:
    """Make a person an owner and queue the notices if this is the owner code; True again when it is
    repeated.

    Five wrong codes of one person within an hour lock that person out for an hour.
    """
    for used in (await tx.execute(_SELECT_BY_CODE, code_sha256=code_sha256, subject="owner")).all():
        if used["state"] == "approved" and _to_request_row(used).party == party:
            return True  # the platform delivered the message again
    row = (await tx.execute(_SELECT_OWNER_CODE, now=tx.now)).first()
    if row is None or await _is_locked_out(tx, party):
        return False
    if row["code_sha256"] != code_sha256:
        await append_act(tx, WRONG_OWNER_CODE_ACTION, "", "refused", audit_name(party))
        return False
    columns = {"channel": party.channel, "account": party.account, "subject_id": party.id}
    await tx.execute(
        _REDEEM_OWNER_CODE, id=row["id"], **{f"new_{key}": value for key, value in columns.items()}
    )
    await tx.execute(_APPROVE_PENDING, **columns)
    await add_grant(
        tx,
        GrantRow(
            party=party, role="owner", group="", name=name, by="owner code", at=from_unix(tx.now)
        ),
    )
    await add_all_notices(tx, notices)
    return True


async def _is_locked_out(tx: Tx, party: Party) -> bool:
    wrong = (await tx.execute(_SELECT_WRONG_OWNER_CODES, actor=audit_name(party))).all()
    return lock_end([from_unix(row["at"]) for row in wrong], from_unix(tx.now)) is not None


async def _count_wrong_code(tx: Tx, by: str) -> None:
    await append_act(tx, WRONG_CODE_ACTION, "", "refused", by)
    if await locked_until(tx):
        await tx.execute(_CLEAR_PENDING, subject="user")
        await append_act(tx, "pairing cleared", "", "too many wrong codes", by)


async def _insert_request(
    tx: Tx, columns: Mapping[str, str], code_sha256: str, expires: datetime
) -> None:
    times = {"expires": expires.timestamp(), "at": tx.now}
    await tx.execute(
        insert_into(access_request),
        id=new_id(tx.now),
        code_sha256=code_sha256,
        state="pending",
        **times,
        **columns,
    )


def _to_request_row(row: Row) -> AccessRequestRow:
    subject: Subject = "group" if row["subject"] == "group" else "user"
    party = Party(
        channel=row["channel"], account=row["account"], subject=subject, id=row["subject_id"]
    )
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


class AccessRecords(Repository):
    """Grants, requests for access, owner codes, approvals and their rules; every change is added to
    the audit chain.
    """

    grants = read(load_grants)
    load_all_grants = read(load_all_grants)
    grant = write(add_grant)
    revoke = write(revoke_grants)
    open_turns = read(load_open_turns)
    owner_chats = read(load_owner_chats)
    move_to_space = write(move_to_space)
    find_owner_conversation = read(find_owner_conversation)
    tell = write(add_all_notices)
    add_request = write(add_request)
    requests = read(load_requests)
    decide = write(decide_request)
    locked_until = read(locked_until)
    make_owner_code = write(make_owner_code)
    redeem_owner_code = write(redeem_owner_code)
    ask = write(approvals.add_approval)
    approval = read(approvals.find_approval)
    approval_of_space = read(approvals.find_of_space)
    running_approvals = read(approvals.find_running)
    move = write(approvals.set_state)
    open_approvals = read(approvals.find_asked)
    codes = read(approvals.load_codes)
    undecided_approvals = read(approvals.find_undecided)
    add_rule = write(approval_rules.add_rule)
    rules = read(approval_rules.load_rules)
    revoke_rule = write(approval_rules.revoke_rule)
