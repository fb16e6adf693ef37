"""Stores dreams: the nightly revisions of a space's memory, at most one per space and day."""

from sqlalchemy import bindparam, func, select, update

from memory.ids import AFTER_ALL, new_id
from memory.store.engine.database import Repository, Tx, insert_into, read, write
from memory.store.errors import WrongState
from memory.store.linked_spaces import LINKED_SPACE, belongs_to_space
from memory.store.longterm.rows import DreamRow, DreamState
from memory.store.rows import columns_of, from_row
from memory.store.schema.memory_tables import dream, memory_change
from memory.store.schema.tables import conversation, is_one_of, literal_text, tool_call, turn

OPEN = ("planned", "written")
TRANSITIONS: dict[str, tuple[str, ...]] = {
    "planned": ("planned", "written", "done", "refused"),
    "written": ("done",),
    "done": ("undone",),
}
_SELECT = select(*columns_of(DreamRow, dream))
_SELECT_ONE = _SELECT.where(dream.c.id == bindparam("id"))
_SELECT_OF_DAY = _SELECT.where(dream.c.space == bindparam("space"), dream.c.day == bindparam("day"))
_SELECT_LAST = (
    _SELECT.where(dream.c.space == bindparam("space"), dream.c.state != literal_text("refused"))
    .order_by(dream.c.day.desc(), dream.c.id.desc())
    .limit(1)
)
_SELECT_PAGE = (
    _SELECT.where(dream.c.space == bindparam("space"), dream.c.id < bindparam("before"))
    .order_by(dream.c.id.desc())
    .limit(bindparam("limit"))
)
_SELECT_OPEN = _SELECT.where(is_one_of(dream.c.state, *OPEN)).order_by(dream.c.at, dream.c.id)
_UPDATE = (
    update(dream)
    .where(dream.c.id == bindparam("id"), dream.c.state == bindparam("state"))
    .values({name: bindparam(f"new_{name}") for name in ("state", "plan", "diary", "reason")})
)
_MARK_CHANGE_UNDONE = (
    update(memory_change)
    .where(
        memory_change.c.space == bindparam("space"),
        memory_change.c.kind == literal_text("dream"),
        memory_change.c.about == bindparam("dream"),
    )
    .values(undone=True)
)
_SELECT_SPACES = select(LINKED_SPACE.label("space")).distinct()
_SELECT_GROUP = (
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
    """Return the dream of that day, new or still open; None when it has ended."""
    row = (await tx.execute(_SELECT_OF_DAY, space=space, day=day)).first()
    if row is None:
        await tx.execute(
            insert_into(dream), id=new_id(tx.now), space=space, day=day, state="planned", at=tx.now
        )
        row = (await tx.execute(_SELECT_OF_DAY, space=space, day=day)).first()
    return from_row(DreamRow, row) if row and row["state"] in OPEN else None


async def _move(
    tx: Tx,
    id: str,
    state: DreamState,
    *,
    plan: str | None = None,
    diary: str | None = None,
    reason: str | None = None,
) -> DreamRow:
    """Change a dream's state as TRANSITIONS allow, else raise WrongState.

    "undone" also marks the dream's change of the file as undone.
    """
    row = (await tx.execute(_SELECT_ONE, id=id)).first()
    former = row["state"] if row else "missing"
    if row is None or state not in TRANSITIONS.get(former, ()):
        raise WrongState(f"a dream does not go from {former} to {state}")
    given = {"state": state, "plan": plan, "diary": diary, "reason": reason}
    new = {name: row[name] if value is None else value for name, value in given.items()}
    await tx.execute(
        _UPDATE, id=id, state=former, **{f"new_{name}": value for name, value in new.items()}
    )
    if state == "undone":
        await tx.execute(_MARK_CHANGE_UNDONE, space=row["space"], dream=id)
    return from_row(DreamRow, {**row, **new})


async def _load(tx: Tx, id: str) -> DreamRow | None:
    """Load one dream, None for an unknown id."""
    row = (await tx.execute(_SELECT_ONE, id=id)).first()
    return from_row(DreamRow, row) if row else None


async def _load_page(tx: Tx, space: str, before: str, limit: int) -> list[DreamRow]:
    """Load a space's dreams, newest first. before: only those with a smaller id, "" for all."""
    return [
        from_row(DreamRow, row)
        for row in (
            await tx.execute(_SELECT_PAGE, space=space, before=before or AFTER_ALL, limit=limit)
        ).all()
    ]


async def _load_last(tx: Tx, space: str) -> DreamRow | None:
    """Load the newest dream that was not refused."""
    row = (await tx.execute(_SELECT_LAST, space=space)).first()
    return from_row(DreamRow, row) if row else None


async def _load_open(tx: Tx) -> list[DreamRow]:
    """Load the dreams that an earlier process left unfinished."""
    return [from_row(DreamRow, row) for row in (await tx.execute(_SELECT_OPEN)).all()]


async def _load_spaces(tx: Tx) -> list[str]:
    """List the memory spaces of all conversations, "" for the owner's."""
    return sorted(row["space"] for row in (await tx.execute(_SELECT_SPACES)).all())


async def _is_group(tx: Tx, space: str) -> bool:
    """Whether a group uses the space."""
    return (await tx.execute(_SELECT_GROUP, space=space)).first() is not None


async def _load_tool_writes(tx: Tx, space: str) -> list[str]:
    """Load the arguments (JSON text) of a space's file tool calls that mention memory."""
    return [row["input"] for row in (await tx.execute(_SELECT_TOOL_WRITES, space=space)).all()]


class DreamRecords(Repository):
    """Dreams by space and day."""

    begin = write(_begin)
    move = write(_move)
    dream = read(_load)
    last = read(_load_last)
    page = read(_load_page)
    load_open = read(_load_open)
    spaces = read(_load_spaces)
    is_group = read(_is_group)
    tool_writes = read(_load_tool_writes)
