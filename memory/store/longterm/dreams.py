"""The Dreams door: the nights in which a space's memory is put in order, each at most once."""

from sqlalchemy import bindparam, func, insert, select, update

from memory.ids import new_id
from memory.store.engine.database import Database, Row, Tx
from memory.store.errors import WrongState
from memory.store.longterm.rows import DreamRow, DreamState
from memory.store.rows import LINKED_SPACE, belongs_to_space, columns_of, from_unix
from memory.store.schema.columns import is_one_of, literal_text
from memory.store.schema.memory_tables import dream, memory_change
from memory.store.schema.tables import conversation, tool_call, turn

OPEN = ("planned", "written")
TRANSITIONS: dict[str, tuple[str, ...]] = {
    "planned": ("planned", "written", "done", "refused"),
    "written": ("done",),
    "done": ("undone",),
}
_SELECT = select(*columns_of(DreamRow, dream))
_SELECT_ONE = _SELECT.where(dream.c.id == bindparam("row"))
_SELECT_OF_NIGHT = _SELECT.where(dream.c.space == bindparam("home"), dream.c.day == bindparam("night"))
_SELECT_LAST = (
    _SELECT.where(dream.c.space == bindparam("home"), dream.c.state != literal_text("refused"))
    .order_by(dream.c.day.desc(), dream.c.id.desc())
    .limit(1)
)
_SELECT_OPEN = _SELECT.where(is_one_of(dream.c.state, *OPEN)).order_by(dream.c.at, dream.c.id)
_INSERT = insert(dream)
_MOVE = (
    update(dream)
    .where(dream.c.id == bindparam("row"), dream.c.state == bindparam("was"))
    .values(state=bindparam("became"), plan=bindparam("wanted"), diary=bindparam("told_in"), reason=bindparam("why"))
)
_SELECT_UNDONE_CHANGE = (
    update(memory_change)
    .where(
        memory_change.c.space == bindparam("home"),
        memory_change.c.kind == literal_text("dream"),
        memory_change.c.about == bindparam("row"),
    )
    .values(undone=True)
)
_SPACES = select(LINKED_SPACE.label("space")).distinct()
_GROUP = (
    select(conversation.c.id)
    .where(belongs_to_space(conversation.c.space), conversation.c.kind == literal_text("group"))
    .limit(1)
)
_SELECT_TOOL_WRITES = (
    select(tool_call.c.input)
    .join(turn, turn.c.id == tool_call.c.turn_id)
    .join(conversation, conversation.c.id == turn.c.conversation)
    .where(
        belongs_to_space(conversation.c.space),
        is_one_of(tool_call.c.name, "write_file", "edit_file"),
        func.lower(tool_call.c.input).like("%memory%"),
    )
)


class SqlDreamRecords:
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
        return await self._database.read(_load, id)

    async def last(self, space: str) -> DreamRow | None:
        return await self._database.read(_load_last, space)

    async def load_open(self) -> list[DreamRow]:
        return await self._database.read(_load_open)

    async def spaces(self) -> list[str]:
        return await self._database.read(_load_spaces)

    async def is_group(self, space: str) -> bool:
        return await self._database.read(_is_group, space)

    async def tool_writes(self, space: str) -> list[str]:
        return await self._database.read(_tool_writes, space)


async def _begin(tx: Tx, space: str, day: str) -> DreamRow | None:
    held = await tx.one(_SELECT_OF_NIGHT, home=space, night=day)
    if held is None:
        await tx.run(_INSERT, id=new_id(tx.now), space=space, day=day, state="planned", at=tx.now)
        held = await tx.one(_SELECT_OF_NIGHT, home=space, night=day)
    return _to_row(held) if held and held["state"] in OPEN else None


async def _move(tx: Tx, id: str, state: DreamState, changes: dict[str, str | None]) -> DreamRow:
    held = await tx.one(_SELECT_ONE, row=id)
    was = held["state"] if held else "missing"
    if held is None or state not in TRANSITIONS.get(was, ()):
        raise WrongState(f"a dream does not go from {was} to {state}")
    now = {**held, **{name: value for name, value in changes.items() if value is not None}, "state": state}
    words = {"wanted": now["plan"], "told_in": now["diary"], "why": now["reason"]}
    await tx.run(_MOVE, row=id, was=was, became=state, **words)
    if state == "undone":
        await tx.run(_SELECT_UNDONE_CHANGE, home=held["space"], row=id)
    return _to_row(now)


async def _load(tx: Tx, id: str) -> DreamRow | None:
    held = await tx.one(_SELECT_ONE, row=id)
    return _to_row(held) if held else None


async def _load_last(tx: Tx, space: str) -> DreamRow | None:
    held = await tx.one(_SELECT_LAST, home=space)
    return _to_row(held) if held else None


async def _load_open(tx: Tx) -> list[DreamRow]:
    return [_to_row(held) for held in await tx.all(_SELECT_OPEN)]


async def _load_spaces(tx: Tx) -> list[str]:
    return sorted(held["space"] for held in await tx.all(_SPACES))


async def _is_group(tx: Tx, space: str) -> bool:
    return await tx.one(_GROUP, space=space) is not None


async def _tool_writes(tx: Tx, space: str) -> list[str]:
    return [held["input"] for held in await tx.all(_SELECT_TOOL_WRITES, space=space)]


def _to_row(held: Row) -> DreamRow:
    return DreamRow(**{**held, "at": from_unix(held["at"])})
