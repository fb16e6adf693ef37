"""The Dreams door: the nights in which a space's memory is put in order, each at most once."""

from sqlalchemy import bindparam, func, insert, select, update

from memory.ids import new_id
from memory.store.engine.database import Row, Tx
from memory.store.engine.repository import Repository, read, write
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


async def _begin(tx: Tx, space: str, day: str) -> DreamRow | None:
    """planned, or what there is of that day where it is not at its end; None where it is."""
    held = await tx.one(_SELECT_OF_NIGHT, home=space, night=day)
    if held is None:
        await tx.run(_INSERT, id=new_id(tx.now), space=space, day=day, state="planned", at=tx.now)
        held = await tx.one(_SELECT_OF_NIGHT, home=space, night=day)
    return _to_row(held) if held and held["state"] in OPEN else None


async def _move(
    tx: Tx, id: str, state: DreamState, *, plan: str | None = None, diary: str | None = None, reason: str | None = None
) -> DreamRow:
    """planned -> planned | written | done | refused; written -> done; done -> undone; else raises WrongState.

    To "undone" marks its change of the file as undone in the same transaction.
    """
    changes = {"plan": plan, "diary": diary, "reason": reason}
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
    """One night's row, None for an unknown id."""
    held = await tx.one(_SELECT_ONE, row=id)
    return _to_row(held) if held else None


async def _load_last(tx: Tx, space: str) -> DreamRow | None:
    """The newest one that is not refused."""
    held = await tx.one(_SELECT_LAST, home=space)
    return _to_row(held) if held else None


async def _load_open(tx: Tx) -> list[DreamRow]:
    """planned or written: an earlier process left them."""
    return [_to_row(held) for held in await tx.all(_SELECT_OPEN)]


async def _load_spaces(tx: Tx) -> list[str]:
    """The home of every space that a conversation has, "" for the owner's."""
    return sorted(held["space"] for held in await tx.all(_SPACES))


async def _is_group(tx: Tx, space: str) -> bool:
    """Whether a group talks there."""
    return await tx.one(_GROUP, space=space) is not None


async def _tool_writes(tx: Tx, space: str) -> list[str]:
    """What a model's file tools were given to write into memory there: each call's arguments, JSON text."""
    return [held["input"] for held in await tx.all(_SELECT_TOOL_WRITES, space=space)]


def _to_row(held: Row) -> DreamRow:
    return DreamRow(**{**held, "at": from_unix(held["at"])})


class DreamRecords(Repository):
    """Nights in which a space's memory was put in order."""

    begin = write(_begin)
    move = write(_move)
    dream = read(_load)
    last = read(_load_last)
    load_open = read(_load_open)
    spaces = read(_load_spaces)
    is_group = read(_is_group)
    tool_writes = read(_tool_writes)
