"""The Dreams door: the nights in which a space's memory is put in order, each at most once."""

from sqlalchemy import bindparam, func, insert, select, update

from memory.ids import new_id
from memory.store.engine.database import Database, Row, Tx
from memory.store.errors import WrongState
from memory.store.longterm.rows import DreamRow, DreamState
from memory.store.rows import HOME, belongs, columns_of, moment
from memory.store.schema.columns import among, word
from memory.store.schema.memory_tables import dream, memory_change
from memory.store.schema.tables import conversation, tool_call, turn

OPEN = ("planned", "written")
DRAWN: dict[str, tuple[str, ...]] = {
    "planned": ("planned", "written", "done", "refused"),
    "written": ("done",),
    "done": ("undone",),
}
_DREAM = select(*columns_of(DreamRow, dream))
_ONE = _DREAM.where(dream.c.id == bindparam("row"))
_OF_NIGHT = _DREAM.where(dream.c.space == bindparam("home"), dream.c.day == bindparam("night"))
_LAST = (
    _DREAM.where(dream.c.space == bindparam("home"), dream.c.state != word("refused"))
    .order_by(dream.c.day.desc(), dream.c.id.desc())
    .limit(1)
)
_OPEN = _DREAM.where(among(dream.c.state, *OPEN)).order_by(dream.c.at, dream.c.id)
_ADD = insert(dream)
_MOVE = (
    update(dream)
    .where(dream.c.id == bindparam("row"), dream.c.state == bindparam("was"))
    .values(state=bindparam("became"), plan=bindparam("wanted"), diary=bindparam("told_in"), reason=bindparam("why"))
)
_TAKEN_BACK = (
    update(memory_change)
    .where(
        memory_change.c.space == bindparam("home"),
        memory_change.c.kind == word("dream"),
        memory_change.c.about == bindparam("row"),
    )
    .values(undone=True)
)
_SPACES = select(HOME.label("space")).distinct()
_GROUP = select(conversation.c.id).where(belongs(conversation.c.space), conversation.c.kind == word("group")).limit(1)
_WRITES = (
    select(tool_call.c.input)
    .join(turn, turn.c.id == tool_call.c.turn_id)
    .join(conversation, conversation.c.id == turn.c.conversation)
    .where(
        belongs(conversation.c.space),
        among(tool_call.c.name, "write_file", "edit_file"),
        func.lower(tool_call.c.input).like("%memory%"),
    )
)


class SqlDreams:
    """See memory.store.longterm.protocols.Dreams."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def begin(self, space: str, day: str) -> DreamRow | None:
        return await self._database.write(_begin, space, day)

    async def move(
        self,
        id: str,
        state: DreamState,
        *,
        plan: str | None = None,
        diary: str | None = None,
        reason: str | None = None,
    ) -> DreamRow:
        return await self._database.write(_move, id, state, {"plan": plan, "diary": diary, "reason": reason})

    async def dream(self, id: str) -> DreamRow | None:
        return await self._database.read(_read, id)

    async def last(self, space: str) -> DreamRow | None:
        return await self._database.read(_last, space)

    async def open_ones(self) -> list[DreamRow]:
        return await self._database.read(_open_ones)

    async def spaces(self) -> list[str]:
        return await self._database.read(_spaces)

    async def is_group(self, space: str) -> bool:
        return await self._database.read(_is_group, space)

    async def tool_writes(self, space: str) -> list[str]:
        return await self._database.read(_tool_writes, space)


async def _begin(tx: Tx, space: str, day: str) -> DreamRow | None:
    held = await tx.one(_OF_NIGHT, home=space, night=day)
    if held is None:
        await tx.run(_ADD, id=new_id(tx.now), space=space, day=day, state="planned", at=tx.now)
        held = await tx.one(_OF_NIGHT, home=space, night=day)
    return _row(held) if held and held["state"] in OPEN else None


async def _move(tx: Tx, id: str, state: DreamState, changes: dict[str, str | None]) -> DreamRow:
    held = await tx.one(_ONE, row=id)
    was = held["state"] if held else "missing"
    if held is None or state not in DRAWN.get(was, ()):
        raise WrongState(f"a dream does not go from {was} to {state}")
    now = {**held, **{name: value for name, value in changes.items() if value is not None}, "state": state}
    words = {"wanted": now["plan"], "told_in": now["diary"], "why": now["reason"]}
    await tx.run(_MOVE, row=id, was=was, became=state, **words)
    if state == "undone":
        await tx.run(_TAKEN_BACK, home=held["space"], row=id)
    return _row(now)


async def _read(tx: Tx, id: str) -> DreamRow | None:
    held = await tx.one(_ONE, row=id)
    return _row(held) if held else None


async def _last(tx: Tx, space: str) -> DreamRow | None:
    held = await tx.one(_LAST, home=space)
    return _row(held) if held else None


async def _open_ones(tx: Tx) -> list[DreamRow]:
    return [_row(held) for held in await tx.all(_OPEN)]


async def _spaces(tx: Tx) -> list[str]:
    return sorted(held["space"] for held in await tx.all(_SPACES))


async def _is_group(tx: Tx, space: str) -> bool:
    return await tx.one(_GROUP, space=space) is not None


async def _tool_writes(tx: Tx, space: str) -> list[str]:
    return [held["input"] for held in await tx.all(_WRITES, space=space)]


def _row(held: Row) -> DreamRow:
    return DreamRow(**{**held, "at": moment(held["at"])})
