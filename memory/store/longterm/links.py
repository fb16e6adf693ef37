"""The Links door: which accounts share a memory, and the codes by which they came to."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import Column, bindparam, delete, insert, or_, select, update

from memory.ids import new_id
from memory.store.audit import append_act
from memory.store.engine.database import Row, Tx
from memory.store.engine.repository import Repository, read, write
from memory.store.longterm.rows import AccountIdentity, LinkCodeRow, LinkRow
from memory.store.rows import columns_of, from_unix, load_linked_space, load_member_spaces
from memory.store.schema.columns import is_one_of, literal_text
from memory.store.schema.memory_tables import account_link, link_code
from memory.store.schema.tables import audit

# Source: the security page's rule for codes that are typed.
MAX_WRONG_CODES, WRONG_WITHIN, LOCKED_FOR = 5, timedelta(hours=1), timedelta(hours=1)
WRONG_CODE_ACTION = "link code wrong"


def _typed_conversation(column: Column[str]) -> Column[str]:
    """That conversation of the newest code by which an account joined."""
    found = select(column).where(
        link_code.c.typed_space == account_link.c.own_space, link_code.c.state == literal_text("done")
    )
    return found.order_by(link_code.c.at.desc()).limit(1).scalar_subquery()  # type: ignore[return-value]


_SELECT = select(
    *columns_of(LinkRow, account_link),
    _typed_conversation(link_code.c.typed_conversation).label("chat"),
    _typed_conversation(link_code.c.conversation).label("home_chat"),
)
_SELECT_OF_SPACE = _SELECT.where(account_link.c.space == bindparam("space")).order_by(
    account_link.c.at, account_link.c.own_space
)
_SELECT_OF_ACCOUNT = _SELECT.where(account_link.c.own_space == bindparam("own"))
_INSERT_LINK = insert(account_link)
_DELETE_LINK = delete(account_link).where(account_link.c.own_space == bindparam("own"))
_SELECT_CODE = select(link_code).where(link_code.c.id == bindparam("row"))
_INSERT_CODE = insert(link_code)
_IS_IN_PROGRESS = is_one_of(link_code.c.state, "typed", "agreed")
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
_SELECT_PENDING = (
    select(link_code)
    .where(_IS_IN_PROGRESS, or_(_MADE_BY, _TYPED_BY), link_code.c.expires > bindparam("now"))
    .order_by(link_code.c.at.desc(), link_code.c.id.desc())
    .limit(1)
)
_DROP_OLDER = (
    update(link_code)
    .where(_MADE_BY, is_one_of(link_code.c.state, "made", "typed", "agreed"))
    .values(state=literal_text("refused"))
)
_SELECT_VALID_CODE = select(link_code.c.id).where(
    link_code.c.code_sha256 == bindparam("code"),
    link_code.c.state == literal_text("made"),
    link_code.c.expires > bindparam("now"),
    link_code.c.space != bindparam("mine"),
)
_MARK_TYPED = (
    update(link_code)
    .where(link_code.c.id == bindparam("row"))
    .values(
        state=literal_text("typed"),
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
    .where(link_code.c.id == bindparam("row"), _IS_IN_PROGRESS, link_code.c.state != bindparam("became"))
    .values(state=bindparam("became"))
)
_SELECT_WRONG_CODES = (
    select(audit.c.at)
    .where(audit.c.action == literal_text(WRONG_CODE_ACTION), audit.c.actor == bindparam("who"))
    .order_by(audit.c.seq.desc())
    .limit(MAX_WRONG_CODES)
)


def lock_end(wrong: Sequence[datetime], now: datetime) -> datetime | None:
    """Until when an account is locked, None when it is not. wrong: its wrong entries, newest first."""
    if len(wrong) < MAX_WRONG_CODES or wrong[0] - wrong[MAX_WRONG_CODES - 1] > WRONG_WITHIN:
        return None
    end = wrong[0] + LOCKED_FOR
    return end if now < end else None


async def _load_links(tx: Tx, space: str) -> list[LinkRow]:
    return [_to_link_row(row) for row in await tx.all(_SELECT_OF_SPACE, space=space)]


async def _make_code(tx: Tx, code_sha256: str, maker: AccountIdentity, conversation: str, expires: datetime) -> None:
    """A new code; an older one of the same maker that is not done is refused."""
    await tx.run(_DROP_OLDER, **_account_parameters(maker))
    await tx.run(
        _INSERT_CODE,
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
    await append_act(tx, "link code made", maker.space, "made", _audit_name(maker))


async def _type_code(
    tx: Tx, code_sha256: str, typist: AccountIdentity, name: str, conversation: str, now: datetime
) -> LinkCodeRow | None:
    """made -> typed; None for an unknown, used, expired one, the maker's own, or while `locked`. None counts."""
    if await _load_lock_end(tx, typist, now):
        return None
    good = await tx.one(_SELECT_VALID_CODE, code=code_sha256, now=now.timestamp(), mine=typist.space)
    if good is None:
        await append_act(tx, WRONG_CODE_ACTION, typist.space, "refused", _audit_name(typist))
        return None
    await tx.run(
        _MARK_TYPED, row=good["id"], **_account_parameters(typist), mine=typist.space, called=name, here=conversation
    )
    await append_act(tx, "link code typed", typist.space, "typed", _audit_name(typist))
    return await _load_code(tx, good["id"])


async def _load_lock_end(tx: Tx, typist: AccountIdentity, now: datetime) -> datetime | None:
    """Until when nothing that this account types is looked at: for an hour after 5 wrong codes in an hour."""
    wrong = await tx.all(_SELECT_WRONG_CODES, who=_audit_name(typist))
    return lock_end([from_unix(row["at"]) for row in wrong], now)


async def _load_pending(tx: Tx, one: AccountIdentity, now: datetime) -> LinkCodeRow | None:
    """The newest code that this account has made or typed and that waits for a word of one of both."""
    row = await tx.one(_SELECT_PENDING, **_account_parameters(one), now=now.timestamp())
    return _to_code_row(row) if row else None


async def _agree(tx: Tx, id: str) -> bool:
    """typed -> agreed: the typist has seen whose code it is; False where it is not typed (any more)."""
    held = await _load_code(tx, id)
    if held is None or held.typist is None or not await tx.run(_MOVE, row=id, became="agreed"):
        return False
    await append_act(tx, "link agreed", held.typist.space, "agreed", _audit_name(held.typist))
    return True


async def _settle(tx: Tx, id: str, *, join: bool) -> LinkRow | None:
    """agreed -> done: the typist's account joins the maker's memory; or typed, agreed -> refused; audited.

    None, and refused, where it may not join: the owner's own space, one that has joined another or that others
    have joined, the same memory.
    """
    held = await _load_code(tx, id)
    if held is None or held.typist is None or held.state not in (("agreed",) if join else ("typed", "agreed")):
        return None
    typist, space = held.typist, await load_linked_space(tx, held.maker.space)
    joins = join and await _may_join(tx, typist.space, space)
    await tx.run(_MOVE, row=id, became="done" if joins else "refused")
    await append_act(
        tx, "link", typist.space, f"joined {space or 'the owner'}" if joins else "refused", _audit_name(held.maker)
    )
    if not joins:
        return None
    who = {"channel": typist.channel, "account": typist.account, "sender_id": typist.sender_id}
    await tx.run(_INSERT_LINK, own_space=typist.space, space=space, at=tx.now, **who)
    row = await tx.one(_SELECT_OF_ACCOUNT, own=typist.space)
    return _to_link_row(row) if row else None


async def _may_join(tx: Tx, own: str, space: str) -> bool:
    """Only a space that stands alone joins another, so that there are neither chains nor circles."""
    alone = await load_linked_space(tx, own) == own and await load_member_spaces(tx, own) == (own,)
    return bool(own) and alone and own != space


async def _unlink(tx: Tx, own_space: str) -> bool:
    """The account has its own memory again; False where it had joined none; audited."""
    left = bool(await tx.run(_DELETE_LINK, own=own_space))
    if left:
        await append_act(tx, "unlink", own_space, "left")
    return left


async def _load_code(tx: Tx, id: str) -> LinkCodeRow | None:
    row = await tx.one(_SELECT_CODE, row=id)
    return _to_code_row(row) if row else None


def _account_parameters(one: AccountIdentity) -> dict[str, str]:
    return {"by_channel": one.channel, "by_account": one.account, "by_sender": one.sender_id}


def _audit_name(one: AccountIdentity) -> str:
    """An account as the audit's chain names it; only the last of the three is a platform's free text."""
    return f"{one.channel}/{one.account}/{one.sender_id}"


def _to_link_row(row: Row) -> LinkRow:
    return LinkRow(
        **{**row, "at": from_unix(row["at"]), "chat": row["chat"] or "", "home_chat": row["home_chat"] or ""}
    )


def _to_code_row(row: Row) -> LinkCodeRow:
    typed = bool(row["typed_channel"])
    return LinkCodeRow(
        id=row["id"],
        code_sha256=row["code_sha256"],
        state=row["state"],
        maker=_to_identity(row, ""),
        conversation=row["conversation"],
        typist=_to_identity(row, "typed_") if typed else None,
        typed_name=row["typed_name"],
        typed_conversation=row["typed_conversation"],
        expires=from_unix(row["expires"]),
        at=from_unix(row["at"]),
    )


def _to_identity(row: Row, side: str) -> AccountIdentity:
    return AccountIdentity(**{name: row[f"{side}{name}"] for name in AccountIdentity.__dataclass_fields__})


class AccountLinks(Repository):
    """Whose memory an account has: its own, or one that it has joined."""

    home = read(load_linked_space)
    members = read(load_member_spaces)
    links = read(_load_links)
    make_code = write(_make_code)
    type_code = write(_type_code)
    locked = read(_load_lock_end)
    pending = read(_load_pending)
    agree = write(_agree)
    settle = write(_settle)
    unlink = write(_unlink)
