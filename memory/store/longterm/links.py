"""Linked accounts that share one memory, and the codes by which a person links them."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime, timedelta

from sqlalchemy import Column, ColumnElement, bindparam, delete, func, insert, or_, select, update

from memory.ids import new_id
from memory.store.audit import append_act
from memory.store.engine.database import Repository, Row, Tx, insert_into, read, write
from memory.store.linked_spaces import load_linked_space, load_member_spaces
from memory.store.longterm.rows import AccountIdentity, LinkCodeRow, LinkRow
from memory.store.rows import columns_of, from_row, from_unix
from memory.store.schema.memory_tables import account_link, link_code
from memory.store.schema.tables import audit, is_one_of, literal_text

# Source: the security page's rule for codes that are typed.
MAX_WRONG_CODES, WRONG_WITHIN, LOCKED_FOR = 5, timedelta(hours=1), timedelta(hours=1)
WRONG_CODE_ACTION = "link code wrong"


def _of_last_code(column: Column[str], label: str) -> ColumnElement[str]:
    """A column of the newest code by which an account was linked, "" without one."""
    found = select(column).where(
        link_code.c.typed_space == account_link.c.own_space,
        link_code.c.state == literal_text("done"),
    )
    newest = found.order_by(link_code.c.at.desc()).limit(1).scalar_subquery()
    return func.coalesce(newest, literal_text("")).label(label)


_SELECT = select(
    *columns_of(LinkRow, account_link),
    _of_last_code(link_code.c.typed_conversation, "chat"),
    _of_last_code(link_code.c.conversation, "home_chat"),
)
_IS_ACCOUNT = account_link.c.own_space == bindparam("own_space")
_SELECT_OF_SPACE = _SELECT.where(account_link.c.space == bindparam("space")).order_by(
    account_link.c.at, account_link.c.own_space
)
_SELECT_OF_ACCOUNT = _SELECT.where(_IS_ACCOUNT)
_SELECT_SPACES = select(account_link.c.own_space, account_link.c.space)
_DELETE_LINK = delete(account_link).where(_IS_ACCOUNT)
_IS_CODE = link_code.c.id == bindparam("id")
_SELECT_CODE = select(link_code).where(_IS_CODE)
_INSERT_CODE = insert(link_code)
_IS_IN_PROGRESS = is_one_of(link_code.c.state, "typed", "agreed")
_MADE_BY = (
    (link_code.c.channel == bindparam("channel"))
    & (link_code.c.account == bindparam("account"))
    & (link_code.c.sender_id == bindparam("sender_id"))
)
_TYPED_BY = (
    (link_code.c.typed_channel == bindparam("channel"))
    & (link_code.c.typed_account == bindparam("account"))
    & (link_code.c.typed_sender_id == bindparam("sender_id"))
)
_SELECT_PENDING = (
    select(link_code)
    .where(_IS_IN_PROGRESS, or_(_MADE_BY, _TYPED_BY), link_code.c.expires > bindparam("now"))
    .order_by(link_code.c.at.desc(), link_code.c.id.desc())
    .limit(1)
)
_REFUSE_OLDER = (
    update(link_code)
    .where(_MADE_BY, is_one_of(link_code.c.state, "made", "typed", "agreed"))
    .values(state=literal_text("refused"))
)
_SELECT_VALID_CODE = select(link_code.c.id).where(
    link_code.c.code_sha256 == bindparam("code_sha256"),
    link_code.c.state == literal_text("made"),
    link_code.c.expires > bindparam("now"),
    link_code.c.space != bindparam("space"),
)
_TYPED_COLUMNS = ("channel", "account", "sender_id", "space", "name", "conversation")
_MARK_TYPED = (
    update(link_code)
    .where(_IS_CODE)
    .values(
        {"state": literal_text("typed")}
        | {f"typed_{name}": bindparam(f"new_typed_{name}") for name in _TYPED_COLUMNS}
    )
)
_SET_STATE = (
    update(link_code)
    .where(_IS_CODE, _IS_IN_PROGRESS, link_code.c.state != bindparam("new_state"))
    .values(state=bindparam("new_state"))
)
_SELECT_WRONG_CODES = (
    select(audit.c.at)
    .where(audit.c.action == literal_text(WRONG_CODE_ACTION), audit.c.actor == bindparam("actor"))
    .order_by(audit.c.seq.desc())
    .limit(MAX_WRONG_CODES)
)


def lock_end(wrong: Sequence[datetime], now: datetime) -> datetime | None:
    """Return when a lock after wrong codes ends, None without a lock. wrong: times of wrong codes,
    newest first.
    """
    if len(wrong) < MAX_WRONG_CODES or wrong[0] - wrong[MAX_WRONG_CODES - 1] > WRONG_WITHIN:
        return None
    end = wrong[0] + LOCKED_FOR
    return end if now < end else None


async def _load_linked_spaces(tx: Tx) -> dict[str, str]:
    return {row["own_space"]: row["space"] for row in (await tx.execute(_SELECT_SPACES)).all()}


async def _load_links(tx: Tx, space: str) -> list[LinkRow]:
    return [
        from_row(LinkRow, row) for row in (await tx.execute(_SELECT_OF_SPACE, space=space)).all()
    ]


async def _make_code(
    tx: Tx, code_sha256: str, maker: AccountIdentity, conversation: str, expires: datetime
) -> None:
    """Store a new code; the maker's earlier unfinished codes are refused."""
    await tx.execute(_REFUSE_OLDER, **_account_values(maker))
    await tx.execute(
        _INSERT_CODE,
        **asdict(maker),
        id=new_id(tx.now),
        code_sha256=code_sha256,
        state="made",
        conversation=conversation,
        expires=expires.timestamp(),
        at=tx.now,
    )
    await append_act(tx, "link code made", maker.space, "made", _audit_name(maker))


async def _type_code(
    tx: Tx, code_sha256: str, typist: AccountIdentity, name: str, conversation: str, now: datetime
) -> LinkCodeRow | None:
    """Move a code from "made" to "typed".

    None, counted as a wrong code: it is unknown, used, expired or the maker's own. None, not
    counted: the account is locked.
    """
    if await _load_lock_end(tx, typist, now):
        return None
    valid = (
        await tx.execute(
            _SELECT_VALID_CODE, code_sha256=code_sha256, now=now.timestamp(), space=typist.space
        )
    ).first()
    if valid is None:
        await append_act(tx, WRONG_CODE_ACTION, typist.space, "refused", _audit_name(typist))
        return None
    typed = {**asdict(typist), "name": name, "conversation": conversation}
    await tx.execute(
        _MARK_TYPED, id=valid["id"], **{f"new_typed_{key}": value for key, value in typed.items()}
    )
    await append_act(tx, "link code typed", typist.space, "typed", _audit_name(typist))
    return await _load_code(tx, valid["id"])


async def _load_lock_end(tx: Tx, typist: AccountIdentity, now: datetime) -> datetime | None:
    """Return when this account may type codes again, None for now: 5 wrong codes in an hour lock it
    for an hour.
    """
    wrong = (await tx.execute(_SELECT_WRONG_CODES, actor=_audit_name(typist))).all()
    return lock_end([from_unix(row["at"]) for row in wrong], now)


async def _load_pending(tx: Tx, one: AccountIdentity, now: datetime) -> LinkCodeRow | None:
    """Load the newest code that this account made or typed and that waits for a confirmation of
    either side.
    """
    row = (await tx.execute(_SELECT_PENDING, **_account_values(one), now=now.timestamp())).first()
    return _to_code_row(row) if row else None


async def _agree(tx: Tx, id: str) -> bool:
    """Move a code from "typed" to "agreed": the typist confirmed whose code it is.

    False in any other state.
    """
    code = await _load_code(tx, id)
    if (
        code is None
        or code.typist is None
        or not (await tx.execute(_SET_STATE, id=id, new_state="agreed")).rowcount
    ):
        return False
    await append_act(tx, "link agreed", code.typist.space, "agreed", _audit_name(code.typist))
    return True


async def _settle(tx: Tx, id: str, *, join: bool) -> LinkRow | None:
    """Link the typist's account to the maker's memory ("agreed" to "done"), or refuse the code;
    audited.

    None, and refused: the account is the owner's, is linked already, has accounts linked to it, or
    shares the memory.
    """
    code = await _load_code(tx, id)
    if (
        code is None
        or code.typist is None
        or code.state not in (("agreed",) if join else ("typed", "agreed"))
    ):
        return None
    typist, space = code.typist, await load_linked_space(tx, code.maker.space)
    joins = join and await _may_join(tx, typist.space, space)
    result = f"joined {space or 'the owner'}" if joins else "refused"
    await tx.execute(_SET_STATE, id=id, new_state="done" if joins else "refused")
    await append_act(tx, "link", typist.space, result, _audit_name(code.maker))
    if not joins:
        return None
    await tx.execute(
        insert_into(account_link),
        own_space=typist.space,
        space=space,
        at=tx.now,
        **_account_values(typist),
    )
    row = (await tx.execute(_SELECT_OF_ACCOUNT, own_space=typist.space)).first()
    return from_row(LinkRow, row) if row else None


async def _may_join(tx: Tx, own_space: str, space: str) -> bool:
    """Only a space without links may join another, so that there are neither chains nor cycles."""
    is_alone = await load_linked_space(tx, own_space) == own_space and await load_member_spaces(
        tx, own_space
    ) == (own_space,)
    return bool(own_space) and is_alone and own_space != space


async def _unlink(tx: Tx, own_space: str) -> bool:
    """Give an account its own memory again; False when it was not linked; audited."""
    left = bool((await tx.execute(_DELETE_LINK, own_space=own_space)).rowcount)
    if left:
        await append_act(tx, "unlink", own_space, "left")
    return left


async def _load_code(tx: Tx, id: str) -> LinkCodeRow | None:
    row = (await tx.execute(_SELECT_CODE, id=id)).first()
    return _to_code_row(row) if row else None


def _account_values(one: AccountIdentity) -> dict[str, str]:
    return {"channel": one.channel, "account": one.account, "sender_id": one.sender_id}


def _audit_name(one: AccountIdentity) -> str:
    """An account's name in the audit chain; only the last of the three is free text of a
    platform.
    """
    return f"{one.channel}/{one.account}/{one.sender_id}"


def _to_code_row(row: Row) -> LinkCodeRow:
    return LinkCodeRow(
        id=row["id"],
        code_sha256=row["code_sha256"],
        state=row["state"],
        maker=_to_identity(row, ""),
        conversation=row["conversation"],
        typist=_to_identity(row, "typed_") if row["typed_channel"] else None,
        typed_name=row["typed_name"],
        typed_conversation=row["typed_conversation"],
        expires=from_unix(row["expires"]),
        at=from_unix(row["at"]),
    )


def _to_identity(row: Row, prefix: str) -> AccountIdentity:
    return AccountIdentity(
        **{name: row[f"{prefix}{name}"] for name in AccountIdentity.__dataclass_fields__}
    )


class AccountLinks(Repository):
    """Which accounts share a memory."""

    linked_space = read(load_linked_space)
    #: The space that each linked account uses, by the account's own.
    linked_spaces = read(_load_linked_spaces)
    members = read(load_member_spaces)
    links = read(_load_links)
    make_code = write(_make_code)
    type_code = write(_type_code)
    locked = read(_load_lock_end)
    pending = read(_load_pending)
    agree = write(_agree)
    settle = write(_settle)
    unlink = write(_unlink)
