"""Who is alive: openings of the store, their leases by the database's clock, and duties that one of them has."""

from sqlalchemy import bindparam, delete, insert, or_, select, update

from memory.store.engine.database import InsertIfAbsent, Tx, single_query
from memory.store.engine.repository import Repository, read, write
from memory.store.schema.tables import FOREVER, database_clock, duty, is_lease_void, process

_DELETE_ALL = delete(process)
_INSERT = insert(process)
_INSERT_FOR_SECONDS = insert(process).values(
    lease=bindparam("mine"), name=bindparam("called"), until=database_clock() + bindparam("seconds"), told=""
)
_RENEW = (
    update(process)
    .where(process.c.lease == bindparam("mine"), process.c.until > database_clock())
    .values(until=database_clock() + bindparam("seconds"), told=bindparam("words"))
)
_DELETE_OWN = delete(process).where(process.c.lease == bindparam("mine"))
_DELETE_EXPIRED = delete(process).where(process.c.until < database_clock())
_ANY_EXPIRED = select(process.c.lease).where(process.c.until < database_clock()).limit(1)
_SELECT_ALIVE = select(process.c.lease, process.c.name, process.c.told).where(process.c.until > database_clock())
_INSERT_DUTY = InsertIfAbsent(duty)
_TAKE_DUTY = (
    update(duty)
    .where(duty.c.name == bindparam("called"), or_(duty.c.lease == bindparam("mine"), is_lease_void(duty.c.lease)))
    .values(lease=bindparam("mine"))
)
_RELEASE_DUTY = delete(duty).where(duty.c.name == bindparam("called"), duty.c.lease == bindparam("mine"))
_SELECT_OTHERS = _SELECT_ALIVE.where(process.c.lease != bindparam("mine"))
_DUTIES_OF_OTHERS = select(duty.c.name).where(
    duty.c.name >= bindparam("begin"),
    duty.c.name < bindparam("end"),
    duty.c.lease != bindparam("mine"),
    ~is_lease_void(duty.c.lease),
)
_DELETE_ORPHANED_DUTIES = delete(duty).where(is_lease_void(duty.c.lease))
_RELEASE_ALL_DUTIES = delete(duty).where(duty.c.lease == bindparam("mine"))


async def replace_all_leases(tx: Tx, lease: int) -> None:
    """This opening is the only one there is: every other's lease is void from now on."""
    await tx.run(_DELETE_ALL)
    await tx.run(_INSERT, lease=lease, name="", until=FOREVER)


async def add_lease(tx: Tx, lease: int, name: str, seconds: float) -> None:
    """One more opening, alive for so long. name: of the process, for people."""
    await tx.run(_INSERT_FOR_SECONDS, mine=lease, called=name, seconds=seconds)


async def _renew(tx: Tx, seconds: float, told: str) -> bool:
    """Alive for so many seconds more; False when the lease was over already. told: what others may read of us."""
    return bool(await tx.run(_RENEW, mine=tx.lease, seconds=seconds, words=told))


async def _take(tx: Tx, name: str) -> bool:
    """Have this duty, from now until it is let go or our lease is over; False while somebody else has it."""
    if await tx.run(_TAKE_DUTY, called=name, mine=tx.lease):
        return True
    return bool(await tx.run(_INSERT_DUTY, name=name, lease=tx.lease))


async def _release(tx: Tx, name: str) -> None:
    """Another may have it."""
    await tx.run(_RELEASE_DUTY, called=name, mine=tx.lease)


@single_query
async def _alive(tx: Tx) -> dict[str, str]:
    """What each living process tells of itself, by its name."""
    return {f"{row['name']}#{row['lease']}": row["told"] for row in await tx.all(_SELECT_ALIVE)}


@single_query
async def _has_expired(tx: Tx) -> bool:
    """Whether somebody's lease has run out whose rows nobody has looked after."""
    return await tx.one(_ANY_EXPIRED) is not None


async def _others(tx: Tx) -> list[str]:
    """What each other living process tells of itself."""
    return [row["told"] for row in await tx.all(_SELECT_OTHERS, mine=tx.lease)]


async def _duties_of_others(tx: Tx, begin: str) -> list[str]:
    """Duties that another living process has, whose names begin so."""
    end = begin[:-1] + chr(ord(begin[-1]) + 1)
    return [row["name"] for row in await tx.all(_DUTIES_OF_OTHERS, begin=begin, end=end, mine=tx.lease)]


async def _delete_expired(tx: Tx) -> None:
    """Forget the dead; what they held stays void, and their duties are nobody's."""
    await tx.run(_DELETE_EXPIRED)
    await tx.run(_DELETE_ORPHANED_DUTIES)


async def _leave(tx: Tx) -> None:
    """A clean end: what we held is free at once."""
    await tx.run(_RELEASE_ALL_DUTIES, mine=tx.lease)
    await tx.run(_DELETE_OWN, mine=tx.lease)


class Leases(Repository):
    """What a process does to stay alive beside others, and to be the one that does something."""

    renew = write(_renew)
    take = write(_take)
    release = write(_release)
    alive = read(_alive)
    others = read(_others)
    duties_of_others = read(_duties_of_others)
    dead = read(_has_expired)
    delete_expired = write(_delete_expired)
    leave = write(_leave)
