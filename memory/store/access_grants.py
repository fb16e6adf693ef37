"""Roles of people and groups that are allowed: read, given, taken away."""

from sqlalchemy import bindparam, case, delete, insert, or_, select, update

from memory.store.access_approvals import end_all
from memory.store.access_records import GrantRow, OpenTurn, Party, Revoked
from memory.store.access_tables import access_grant, access_request
from memory.store.audit import note
from memory.store.columns import among, word
from memory.store.engine import Row, Tx, glance
from memory.store.rows import moment
from memory.store.tables import conversation, turn

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
    return [_row(row) for row in await tx.all(_GRANTS, on=channel, mine=account, person=person, group=group)]


@glance
async def all_grants(tx: Tx) -> list[GrantRow]:
    return [_row(row) for row in await tx.all(_ALL)]


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
    held = [_row(row) for row in await tx.all(_GIVEN, on=channel, whose=id)]
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


def _row(row: Row) -> GrantRow:
    party = Party(channel=row["channel"], account=row["account"], subject=row["subject"], id=row["subject_id"])
    return GrantRow(
        party=party,
        role=row["role"],
        group=row["group_id"],
        name=row["name"],
        by=row["granted_by"],
        at=moment(row["at"]),
    )
