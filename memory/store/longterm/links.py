"""The Links door: which accounts share a memory, and the codes by which they came to."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import Column, bindparam, delete, insert, or_, select, update

from memory.ids import new_id
from memory.store.audit import note
from memory.store.engine.database import Database, Row, Tx
from memory.store.longterm.rows import Identity, LinkCodeRow, LinkRow
from memory.store.rows import columns_of, home_of, members_of, moment
from memory.store.schema.columns import among, word
from memory.store.schema.memory_tables import account_link, link_code
from memory.store.schema.tables import audit

MOST_WRONG, WRONG_WITHIN, LOCKED_FOR = 5, timedelta(hours=1), timedelta(hours=1)
"""Source: the security page's rule for codes that are typed."""
WRONG = "link code wrong"


def _chat(column: Column[str]) -> Column[str]:
    """That conversation of the newest code by which an account joined."""
    found = select(column).where(link_code.c.typed_space == account_link.c.own_space, link_code.c.state == word("done"))
    return found.order_by(link_code.c.at.desc()).limit(1).scalar_subquery()  # type: ignore[return-value]


_LINK = select(
    *columns_of(LinkRow, account_link),
    _chat(link_code.c.typed_conversation).label("chat"),
    _chat(link_code.c.conversation).label("home_chat"),
)
_LINKS = _LINK.where(account_link.c.space == bindparam("space")).order_by(account_link.c.at, account_link.c.own_space)
_ITS_LINK = _LINK.where(account_link.c.own_space == bindparam("own"))
_JOIN = insert(account_link)
_LEAVE = delete(account_link).where(account_link.c.own_space == bindparam("own"))
_CODE = select(link_code).where(link_code.c.id == bindparam("row"))
_ADD = insert(link_code)
_AT_WORK = among(link_code.c.state, "typed", "agreed")
_MADE_BY = (
    (link_code.c.channel == bindparam("by_channel"))
    & (link_code.c.account == bindparam("by_account"))
    & (link_code.c.sender_id == bindparam("by_sender"))
)
_TYPED_BY = (
    (link_code.c.typed_channel == bindparam("by_channel"))
    & (link_code.c.typed_account == bindparam("by_account"))
    & (link_code.c.typed_sender_id == bindparam("by_sender"))
)
_PENDING = (
    select(link_code)
    .where(_AT_WORK, or_(_MADE_BY, _TYPED_BY), link_code.c.expires > bindparam("now"))
    .order_by(link_code.c.at.desc(), link_code.c.id.desc())
    .limit(1)
)
_DROP_OLDER = (
    update(link_code).where(_MADE_BY, among(link_code.c.state, "made", "typed", "agreed")).values(state=word("refused"))
)
_GOOD = select(link_code.c.id).where(
    link_code.c.code_sha256 == bindparam("code"),
    link_code.c.state == word("made"),
    link_code.c.expires > bindparam("now"),
    link_code.c.space != bindparam("mine"),
)
_TYPE = (
    update(link_code)
    .where(link_code.c.id == bindparam("row"))
    .values(
        state=word("typed"),
        typed_channel=bindparam("by_channel"),
        typed_account=bindparam("by_account"),
        typed_sender_id=bindparam("by_sender"),
        typed_space=bindparam("mine"),
        typed_name=bindparam("called"),
        typed_conversation=bindparam("here"),
    )
)
_MOVE = (
    update(link_code)
    .where(link_code.c.id == bindparam("row"), _AT_WORK, link_code.c.state != bindparam("became"))
    .values(state=bindparam("became"))
)
_WRONG = (
    select(audit.c.at)
    .where(audit.c.action == word(WRONG), audit.c.actor == bindparam("who"))
    .order_by(audit.c.seq.desc())
    .limit(MOST_WRONG)
)


class SqlLinks:
    """See memory.store.longterm.protocols.Links."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def home(self, own_space: str) -> str:
        return await self._database.read(home_of, own_space)

    async def members(self, space: str) -> tuple[str, ...]:
        return await self._database.read(members_of, space)

    async def links(self, space: str) -> list[LinkRow]:
        return await self._database.read(_links, space)

    async def make_code(self, code_sha256: str, maker: Identity, conversation: str, expires: datetime) -> None:
        await self._database.write(_make, code_sha256, maker, conversation, expires)

    async def type_code(
        self, code_sha256: str, typist: Identity, name: str, conversation: str, now: datetime
    ) -> LinkCodeRow | None:
        return await self._database.write(_type, code_sha256, typist, (name, conversation), now)

    async def locked(self, typist: Identity, now: datetime) -> datetime | None:
        return await self._database.read(_locked, typist, now)

    async def pending(self, one: Identity, now: datetime) -> LinkCodeRow | None:
        return await self._database.read(_pending, one, now)

    async def agree(self, id: str) -> bool:
        return await self._database.write(_agree, id)

    async def settle(self, id: str, *, join: bool) -> LinkRow | None:
        return await self._database.write(_settle, id, join)

    async def unlink(self, own_space: str) -> bool:
        return await self._database.write(_unlink, own_space)


def lock_end(wrong: Sequence[datetime], now: datetime) -> datetime | None:
    """Until when an account is locked, None when it is not. wrong: its wrong entries, newest first."""
    if len(wrong) < MOST_WRONG or wrong[0] - wrong[MOST_WRONG - 1] > WRONG_WITHIN:
        return None
    end = wrong[0] + LOCKED_FOR
    return end if now < end else None


async def _links(tx: Tx, space: str) -> list[LinkRow]:
    return [_link(row) for row in await tx.all(_LINKS, space=space)]


async def _make(tx: Tx, code_sha256: str, maker: Identity, conversation: str, expires: datetime) -> None:
    await tx.run(_DROP_OLDER, **_by(maker))
    await tx.run(
        _ADD,
        id=new_id(tx.now),
        code_sha256=code_sha256,
        state="made",
        channel=maker.channel,
        account=maker.account,
        sender_id=maker.sender_id,
        space=maker.space,
        conversation=conversation,
        expires=expires.timestamp(),
        at=tx.now,
    )
    await note(tx, "link code made", maker.space, "made", _name(maker))


async def _type(
    tx: Tx, code_sha256: str, typist: Identity, called_here: tuple[str, str], now: datetime
) -> LinkCodeRow | None:
    if await _locked(tx, typist, now):
        return None
    good = await tx.one(_GOOD, code=code_sha256, now=now.timestamp(), mine=typist.space)
    if good is None:
        await note(tx, WRONG, typist.space, "refused", _name(typist))
        return None
    called, here = called_here
    await tx.run(_TYPE, row=good["id"], **_by(typist), mine=typist.space, called=called, here=here)
    await note(tx, "link code typed", typist.space, "typed", _name(typist))
    return await _code(tx, good["id"])


async def _locked(tx: Tx, typist: Identity, now: datetime) -> datetime | None:
    wrong = await tx.all(_WRONG, who=_name(typist))
    return lock_end([moment(row["at"]) for row in wrong], now)


async def _pending(tx: Tx, one: Identity, now: datetime) -> LinkCodeRow | None:
    row = await tx.one(_PENDING, **_by(one), now=now.timestamp())
    return _code_row(row) if row else None


async def _agree(tx: Tx, id: str) -> bool:
    held = await _code(tx, id)
    if held is None or held.typist is None or not await tx.run(_MOVE, row=id, became="agreed"):
        return False
    await note(tx, "link agreed", held.typist.space, "agreed", _name(held.typist))
    return True


async def _settle(tx: Tx, id: str, join: bool) -> LinkRow | None:
    held = await _code(tx, id)
    if held is None or held.typist is None or held.state not in (("agreed",) if join else ("typed", "agreed")):
        return None
    typist, space = held.typist, await home_of(tx, held.maker.space)
    joins = join and await _may_join(tx, typist.space, space)
    await tx.run(_MOVE, row=id, became="done" if joins else "refused")
    await note(tx, "link", typist.space, f"joined {space or 'the owner'}" if joins else "refused", _name(held.maker))
    if not joins:
        return None
    who = {"channel": typist.channel, "account": typist.account, "sender_id": typist.sender_id}
    await tx.run(_JOIN, own_space=typist.space, space=space, at=tx.now, **who)
    row = await tx.one(_ITS_LINK, own=typist.space)
    return _link(row) if row else None


async def _may_join(tx: Tx, own: str, space: str) -> bool:
    """Only a space that stands alone joins another, so that there are neither chains nor circles."""
    alone = await home_of(tx, own) == own and await members_of(tx, own) == (own,)
    return bool(own) and alone and own != space


async def _unlink(tx: Tx, own_space: str) -> bool:
    left = bool(await tx.run(_LEAVE, own=own_space))
    if left:
        await note(tx, "unlink", own_space, "left")
    return left


async def _code(tx: Tx, id: str) -> LinkCodeRow | None:
    row = await tx.one(_CODE, row=id)
    return _code_row(row) if row else None


def _by(one: Identity) -> dict[str, str]:
    return {"by_channel": one.channel, "by_account": one.account, "by_sender": one.sender_id}


def _name(one: Identity) -> str:
    """An account as the audit's chain names it; only the last of the three is a platform's free text."""
    return f"{one.channel}/{one.account}/{one.sender_id}"


def _link(row: Row) -> LinkRow:
    return LinkRow(**{**row, "at": moment(row["at"]), "chat": row["chat"] or "", "home_chat": row["home_chat"] or ""})


def _code_row(row: Row) -> LinkCodeRow:
    typed = bool(row["typed_channel"])
    return LinkCodeRow(
        id=row["id"],
        code_sha256=row["code_sha256"],
        state=row["state"],
        maker=_identity(row, ""),
        conversation=row["conversation"],
        typist=_identity(row, "typed_") if typed else None,
        typed_name=row["typed_name"],
        typed_conversation=row["typed_conversation"],
        expires=moment(row["expires"]),
        at=moment(row["at"]),
    )


def _identity(row: Row, side: str) -> Identity:
    return Identity(**{name: row[f"{side}{name}"] for name in Identity.__dataclass_fields__})
