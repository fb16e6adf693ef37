"""Who is alive: openings of the record, their leases by the database's clock, and duties that one of them has."""

from sqlalchemy import bindparam, delete, insert, or_, select, update

from memory.store.engine.database import Database, InsertNew, Tx, glance
from memory.store.schema.tables import FOREVER, database_clock, duty, process, void

_ALL_OUT = delete(process)
_IN = insert(process)
_IN_FOR = insert(process).values(
    lease=bindparam("mine"), name=bindparam("called"), until=database_clock() + bindparam("seconds"), told=""
)
_RENEW = (
    update(process)
    .where(process.c.lease == bindparam("mine"), process.c.until > database_clock())
    .values(until=database_clock() + bindparam("seconds"), told=bindparam("words"))
)
_OUT = delete(process).where(process.c.lease == bindparam("mine"))
_DEAD = delete(process).where(process.c.until < database_clock())
_ANY_DEAD = select(process.c.lease).where(process.c.until < database_clock()).limit(1)
_ALIVE = select(process.c.lease, process.c.name, process.c.told).where(process.c.until > database_clock())
_NEW_DUTY = InsertNew(duty)
_TAKE = (
    update(duty)
    .where(duty.c.name == bindparam("called"), or_(duty.c.lease == bindparam("mine"), void(duty.c.lease)))
    .values(lease=bindparam("mine"))
)
_LET_GO = delete(duty).where(duty.c.name == bindparam("called"), duty.c.lease == bindparam("mine"))
_OTHERS = _ALIVE.where(process.c.lease != bindparam("mine"))
_THEIR_DUTIES = select(duty.c.name).where(
    duty.c.name >= bindparam("begin"),
    duty.c.name < bindparam("end"),
    duty.c.lease != bindparam("mine"),
    ~void(duty.c.lease),
)
_FREE = delete(duty).where(void(duty.c.lease))
_LET_ALL_GO = delete(duty).where(duty.c.lease == bindparam("mine"))


async def only(tx: Tx, lease: int) -> None:
    """This opening is the only one there is: every other's lease is void from now on."""
    await tx.run(_ALL_OUT)
    await tx.run(_IN, lease=lease, name="", until=FOREVER)


async def join(tx: Tx, lease: int, name: str, seconds: float) -> None:
    """One more opening, alive for so long. name: of the process, for people."""
    await tx.run(_IN_FOR, mine=lease, called=name, seconds=seconds)


class Leases:
    """What a process does to stay alive beside others, and to be the one that does something."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def renew(self, seconds: float, told: str) -> bool:
        """Alive for so many seconds more; False when the lease was over already. told: what others may read of us."""
        return await self._database.write(_renew, seconds, told)

    async def take(self, name: str) -> bool:
        """Have this duty, from now until it is let go or our lease is over; False while somebody else has it."""
        return await self._database.write(_take, name)

    async def let_go(self, name: str) -> None:
        """Another may have it."""
        await self._database.write(_let_go, name)

    async def alive(self) -> dict[str, str]:
        """What each living process tells of itself, by its name."""
        return await self._database.read(_alive)

    async def others(self) -> list[str]:
        """What each other living process tells of itself."""
        return await self._database.read(_others)

    async def others_duties(self, begin: str) -> list[str]:
        """Duties that another living process has, whose names begin so."""
        return await self._database.read(_theirs, begin)

    async def dead(self) -> bool:
        """Whether somebody's lease has run out whose rows nobody has looked after."""
        return await self._database.read(_any_dead)

    async def bury(self) -> None:
        """Forget the dead; what they held stays void, and their duties are nobody's."""
        await self._database.write(_bury)

    async def leave(self) -> None:
        """A clean end: what we held is free at once."""
        await self._database.write(_leave)


async def _renew(tx: Tx, seconds: float, told: str) -> bool:
    return bool(await tx.run(_RENEW, mine=tx.lease, seconds=seconds, words=told))


async def _take(tx: Tx, name: str) -> bool:
    if await tx.run(_TAKE, called=name, mine=tx.lease):
        return True
    return bool(await tx.run(_NEW_DUTY, name=name, lease=tx.lease))


async def _let_go(tx: Tx, name: str) -> None:
    await tx.run(_LET_GO, called=name, mine=tx.lease)


@glance
async def _alive(tx: Tx) -> dict[str, str]:
    return {f"{row['name']}#{row['lease']}": row["told"] for row in await tx.all(_ALIVE)}


@glance
async def _any_dead(tx: Tx) -> bool:
    return await tx.one(_ANY_DEAD) is not None


async def _others(tx: Tx) -> list[str]:
    return [row["told"] for row in await tx.all(_OTHERS, mine=tx.lease)]


async def _theirs(tx: Tx, begin: str) -> list[str]:
    end = begin[:-1] + chr(ord(begin[-1]) + 1)
    return [row["name"] for row in await tx.all(_THEIR_DUTIES, begin=begin, end=end, mine=tx.lease)]


async def _bury(tx: Tx) -> None:
    await tx.run(_DEAD)
    await tx.run(_FREE)


async def _leave(tx: Tx) -> None:
    await tx.run(_LET_ALL_GO, mine=tx.lease)
    await tx.run(_OUT, mine=tx.lease)
