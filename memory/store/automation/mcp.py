"""Stores the tools that MCP servers list, and what the owner has allowed of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import bindparam, delete, false, select, update

from memory.store.audit import append_act
from memory.store.engine.database import Repository, Tx, insert_into, light, read, write
from memory.store.rows import columns_of, from_row
from memory.store.schema.memory_tables import mcp_server, mcp_tool

McpMode = Literal["off", "run", "ask"]
McpEffect = Literal["pure", "unsafe"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedTool:
    """A tool as its server lists it."""

    name: str
    description: str
    #: JSON Schema as JSON text with sorted keys.
    schema: str
    #: The server says that it changes nothing.
    read_only: bool
    #: Of name, description and schema.
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class McpToolRow(ListedTool):
    """A stored tool."""

    server: str
    #: Whether the server's newest list has it.
    listed: bool
    #: What the owner chose when it had `reviewed_sha256`.
    mode: McpMode
    effect: McpEffect
    #: "" for a tool that was never reviewed.
    reviewed_sha256: str
    #: The change that the owner was told of; "" for none.
    told_sha256: str
    #: Its place in the server's list.
    position: int

    @property
    def allowed(self) -> bool:
        """Whether it is still what the owner turned on."""
        return self.listed and self.mode != "off" and self.sha256 == self.reviewed_sha256

    @property
    def changed(self) -> bool:
        """Whether the owner turned it on, and it is another one now."""
        return self.listed and self.mode != "off" and self.sha256 != self.reviewed_sha256


@dataclass(frozen=True, slots=True, kw_only=True)
class McpServerRow:
    """What is known of a server."""

    #: Its name in config.json.
    id: str
    #: Of the command or address whose tools were reviewed; "" before a review.
    source_sha256: str
    #: How its connections begin: "legacy", "modern", or "" before the first one.
    era: str
    #: Unix seconds of its newest list.
    listed: float


@dataclass(frozen=True, slots=True, kw_only=True)
class McpChoice:
    """What the owner chose for one tool as it was shown."""

    name: str
    mode: McpMode
    effect: McpEffect
    #: Of the tool that was shown.
    sha256: str


_SELECT_SERVERS = select(*columns_of(McpServerRow, mcp_server)).order_by(mcp_server.c.id)
_SELECT_TOOLS = select(*columns_of(McpToolRow, mcp_tool)).order_by(
    mcp_tool.c.server, mcp_tool.c.position
)
_IS_TOOL = (mcp_tool.c.server == bindparam("of_server")) & (mcp_tool.c.name == bindparam("of_name"))
_SELECT_NAMES = select(mcp_tool.c.name).where(mcp_tool.c.server == bindparam("of_server"))
_UNLIST = update(mcp_tool).where(mcp_tool.c.server == bindparam("of_server")).values(listed=false())
_RELIST = (
    update(mcp_tool)
    .where(_IS_TOOL)
    .values(
        description=bindparam("new_description"),
        schema=bindparam("new_schema"),
        read_only=bindparam("new_read_only"),
        sha256=bindparam("new_sha256"),
        listed=bindparam("new_listed"),
        position=bindparam("new_position"),
    )
)
_DELETE_UNUSED = delete(mcp_tool).where(
    mcp_tool.c.server == bindparam("of_server"),
    mcp_tool.c.listed == false(),
    mcp_tool.c.reviewed_sha256 == "",
)
_CHOOSE = (
    update(mcp_tool)
    .where(_IS_TOOL, mcp_tool.c.sha256 == bindparam("shown_sha256"))
    .values(
        mode=bindparam("new_mode"),
        effect=bindparam("new_effect"),
        reviewed_sha256=bindparam("shown_sha256"),
    )
)
_SET_TOLD = update(mcp_tool).where(_IS_TOOL).values(told_sha256=mcp_tool.c.sha256)
_SET_LISTED = (
    update(mcp_server)
    .where(mcp_server.c.id == bindparam("server"))
    .values(era=bindparam("new_era"), listed=bindparam("new_listed"))
)
_SET_SOURCE = (
    update(mcp_server)
    .where(mcp_server.c.id == bindparam("server"))
    .values(source_sha256=bindparam("new_source"))
)


@light
async def load_servers(tx: Tx) -> list[McpServerRow]:
    """Load all servers, by name."""
    return [McpServerRow(**row) for row in (await tx.execute(_SELECT_SERVERS)).all()]


@light
async def load_tools(tx: Tx) -> list[McpToolRow]:
    """Load all tools, by server and place."""
    return [from_row(McpToolRow, row) for row in (await tx.execute(_SELECT_TOOLS)).all()]


async def store_list(tx: Tx, server: str, era: str, tools: Sequence[ListedTool]) -> None:
    """Replace the list of a server.

    What the owner chose stays with each name, for as long as it has the same hash.
    """
    if not (await tx.execute(_SET_LISTED, server=server, new_era=era, new_listed=tx.now)).rowcount:
        await tx.execute(insert_into(mcp_server), id=server, era=era, listed=tx.now)
    known = {row["name"] for row in (await tx.execute(_SELECT_NAMES, of_server=server)).all()}
    await tx.execute(_UNLIST, of_server=server)
    for position, tool in enumerate(tools):
        if tool.name in known:
            await tx.execute(
                _RELIST,
                of_server=server,
                of_name=tool.name,
                new_description=tool.description,
                new_schema=tool.schema,
                new_read_only=tool.read_only,
                new_sha256=tool.sha256,
                new_listed=True,
                new_position=position,
            )
        else:
            columns = {name: getattr(tool, name) for name in ListedTool.__dataclass_fields__}
            await tx.execute(
                insert_into(mcp_tool),
                **columns,
                server=server,
                listed=True,
                mode="off",
                effect="unsafe",
                position=position,
            )
    await tx.execute(_DELETE_UNUSED, of_server=server)


async def store_review(
    tx: Tx, server: str, source_sha256: str, choices: Sequence[McpChoice], by: str
) -> list[str]:
    """Store what the owner chose, and note it in the audit chain.

    Returns:
        The tools that are another one by now, or gone: nothing is stored of them.
    """
    await tx.execute(_SET_SOURCE, server=server, new_source=source_sha256)
    missed = []
    for choice in choices:
        stored = (
            await tx.execute(
                _CHOOSE,
                of_server=server,
                of_name=choice.name,
                shown_sha256=choice.sha256,
                new_mode=choice.mode,
                new_effect=choice.effect,
            )
        ).rowcount
        if not stored:
            missed.append(choice.name)
    result: Mapping[str, object] = {
        choice.name: f"{choice.mode} {choice.effect} {choice.sha256[:12]}"
        for choice in choices
        if choice.mode != "off" and choice.name not in missed
    }
    await append_act(tx, "mcp review", server, "stored", by, args=result)
    return missed


async def mark_notified(tx: Tx, server: str, name: str) -> None:
    """Store that the owner was told of a tool's newest change."""
    await tx.execute(_SET_TOLD, of_server=server, of_name=name)


class McpRecords(Repository):
    """Servers of tools and their tools; a review is added to the audit chain."""

    servers = read(load_servers)
    tools = read(load_tools)
    store_list = write(store_list)
    store_review = write(store_review)
    mark_notified = write(mark_notified)
