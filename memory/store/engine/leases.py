"""Leases: which openings of the store are alive by the database's clock, and duties that one of
them holds.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import bindparam, delete, insert, or_, select, update

from memory.store.engine.database import InsertIfAbsent, Repository, Tx, insert_into, read, write
from memory.store.schema.tables import FOREVER, database_clock, duty, is_lease_void, process

_DELETE_ALL = delete(process)
_INSERT_FOR_SECONDS = insert(process).values(
    lease=bindparam("lease"),
    name=bindparam("name"),
    until=database_clock() + bindparam("seconds"),
    told="",
)
_RENEW = (
    update(process)
    .where(process.c.lease == bindparam("lease"), process.c.until > database_clock())
    .values(until=database_clock() + bindparam("seconds"), told=bindparam("new_told"))
)
_DELETE_OWN = delete(process).where(process.c.lease == bindparam("lease"))
_DELETE_EXPIRED = delete(process).where(process.c.until < database_clock())
_SELECT_EXPIRED = select(process.c.lease).where(process.c.until < database_clock()).limit(1)
_SELECT_ALIVE = select(process.c.lease, process.c.name, process.c.told).where(
    process.c.until > database_clock()
)
_SELECT_OTHERS = _SELECT_ALIVE.where(process.c.lease != bindparam("lease"))
_INSERT_DUTY = InsertIfAbsent(duty)
_TAKE_DUTY = (
    update(duty)
    .where(
        duty.c.name == bindparam("name"),
        or_(duty.c.lease == bindparam("lease"), is_lease_void(duty.c.lease)),
    )
    .values(lease=bindparam("lease"))
)
_RELEASE_DUTY = delete(duty).where(
    duty.c.name == bindparam("name"), duty.c.lease == bindparam("lease")
)
_RELEASE_ALL_DUTIES = delete(duty).where(duty.c.lease == bindparam("lease"))
_DELETE_ORPHANED_DUTIES = delete(duty).where(is_lease_void(duty.c.lease))
_SELECT_ALL_DUTIES_OF_OTHERS = select(duty.c.name).where(
    duty.c.lease != bindparam("lease"), ~is_lease_void(duty.c.lease)
)
_SELECT_DUTIES = select(duty.c.name).where(
    ~is_lease_void(duty.c.lease),
    duty.c.name >= bindparam("from_name"),
    duty.c.name < bindparam("to_name"),
)
_SELECT_DUTIES_OF_OTHERS = _SELECT_ALL_DUTIES_OF_OTHERS.where(
    duty.c.name >= bindparam("from_name"), duty.c.name < bindparam("to_name")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Beat:
    """What a process learns when it renews its lease."""

    #: The lease is renewed; False when it had expired.
    held: bool
    #: Status of each other living process, as JSON.
    others: Sequence[str] = ()
    #: Duties that other living processes hold.
    duties_of_others: frozenset[str] = frozenset()
    #: A lease has expired whose rows were not taken over yet.
    has_expired: bool = False


async def replace_all_leases(tx: Tx, lease: int) -> None:
    """Make this lease the only valid one: SQLite has one writer."""
    await tx.execute(_DELETE_ALL)
    await tx.execute(insert_into(process), lease=lease, name="", until=FOREVER)


async def add_lease(tx: Tx, lease: int, name: str, seconds: float) -> None:
    """Add a lease.

    Args:
        name: of the process, for people.
        seconds: for which it is valid without a renewal.
    """
    await tx.execute(_INSERT_FOR_SECONDS, lease=lease, name=name, seconds=seconds)


async def _renew(tx: Tx, seconds: float, status: str) -> bool:
    """Extend the own lease; False when it has expired.

    Args:
        status: of this process as JSON, for the others.
    """
    return bool(
        (await tx.execute(_RENEW, lease=tx.lease, seconds=seconds, new_told=status)).rowcount
    )


async def _beat(tx: Tx, seconds: float, status: str) -> Beat:
    """Extend the own lease, and look at the other processes.

    Args:
        status: of this process as JSON, for the others.
    """
    if not await _renew(tx, seconds, status):
        return Beat(held=False)
    duties = (await tx.execute(_SELECT_ALL_DUTIES_OF_OTHERS, lease=tx.lease)).all()
    return Beat(
        held=True,
        others=await _others(tx),
        duties_of_others=frozenset(row["name"] for row in duties),
        has_expired=await _has_expired(tx),
    )


async def _take(tx: Tx, name: str) -> bool:
    """Take a duty until it is released or the own lease expires; False while another process has
    it.
    """
    if (await tx.execute(_TAKE_DUTY, name=name, lease=tx.lease)).rowcount:
        return True
    return bool((await tx.execute(_INSERT_DUTY, name=name, lease=tx.lease)).rowcount)


async def _release(tx: Tx, name: str) -> None:
    """Release a duty of this process."""
    await tx.execute(_RELEASE_DUTY, name=name, lease=tx.lease)


async def _alive(tx: Tx) -> dict[str, str]:
    """Return the status of each living process as `name#lease` → JSON."""
    return {
        f"{row['name']}#{row['lease']}": row["told"]
        for row in (await tx.execute(_SELECT_ALIVE)).all()
    }


async def _has_expired(tx: Tx) -> bool:
    """Return whether a lease has expired whose rows were not taken over yet."""
    return (await tx.execute(_SELECT_EXPIRED)).first() is not None


async def _others(tx: Tx) -> list[str]:
    """Return the status of each other living process, as JSON."""
    return [row["told"] for row in (await tx.execute(_SELECT_OTHERS, lease=tx.lease)).all()]


async def _held_duties(tx: Tx, prefix: str) -> list[str]:
    """Return the duties of living processes, this one included, whose names start with the
    prefix.
    """
    rows = (
        await tx.execute(_SELECT_DUTIES, from_name=prefix, to_name=_end_of_prefix(prefix))
    ).all()
    return [row["name"] for row in rows]


def _end_of_prefix(prefix: str) -> str:
    """Return the first name after all that start with the prefix."""
    return prefix[:-1] + chr(ord(prefix[-1]) + 1)


async def _duties_of_others(tx: Tx, prefix: str) -> list[str]:
    """Return the duties of other living processes whose names start with the prefix."""
    rows = (
        await tx.execute(
            _SELECT_DUTIES_OF_OTHERS,
            from_name=prefix,
            to_name=_end_of_prefix(prefix),
            lease=tx.lease,
        )
    ).all()
    return [row["name"] for row in rows]


async def _delete_expired(tx: Tx) -> None:
    """Delete expired leases and their duties; rows that carry such a lease stay free to be taken
    over.
    """
    await tx.execute(_DELETE_EXPIRED)
    await tx.execute(_DELETE_ORPHANED_DUTIES)


async def _leave(tx: Tx) -> None:
    """End the own lease and release its duties at once."""
    await tx.execute(_RELEASE_ALL_DUTIES, lease=tx.lease)
    await tx.execute(_DELETE_OWN, lease=tx.lease)


class Leases(Repository):
    """The leases of all processes that have the store open."""

    renew = write(_renew)
    beat = write(_beat)
    take = write(_take)
    release = write(_release)
    alive = read(_alive)
    others = read(_others)
    held = read(_held_duties)
    duties_of_others = read(_duties_of_others)
    has_expired = read(_has_expired)
    delete_expired = write(_delete_expired)
    leave = write(_leave)
