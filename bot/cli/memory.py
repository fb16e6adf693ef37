"""`mnema memory`: search what is remembered, list its files, make the index again."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Annotated, Any, TypeVar
from urllib.parse import urlencode

import typer

from bot.cli.options import JsonOption
from bot.config.home import HomeFolder
from bot.errors import MnemaError
from bot.runtime.store_access import (
    OpenedStore,
    call_running_bot_now,
    lock_home_for_command,
    open_store_for_command,
    store_exists,
)

app = typer.Typer(help="Search what is remembered, list its files, make the index anew.", no_args_is_help=True)
SEARCH_SECONDS = 30.0
INDEX_SECONDS = 3_600.0  # seconds that a running bot may take to search, and to index everything
Answer = TypeVar("Answer")


class UnknownSpace(MnemaError):
    """Nobody's memory goes by that name."""


@app.command("search")
def search(
    ctx: typer.Context,
    query: Annotated[str, typer.Argument(help="Words or a question, in any language.")],
    space: Annotated[str, typer.Option("--space", help="Whose memory [default: the owner's].")] = "",
    limit: Annotated[int, typer.Option("--limit", min=1, max=200, help="Most results.")] = 10,
    as_json: JsonOption = False,
) -> int:
    """Search memory files, daily logs and what was said, best first."""
    if not query.strip():
        raise typer.BadParameter("the query is empty; give words to search for.")
    asked = {"q": query, "space": space, "limit": limit}
    path = f"/api/memory/search?{urlencode(asked)}"
    home: HomeFolder = ctx.obj.home
    if home.address():
        results = call_running_bot_now(home, "GET", path, patience=SEARCH_SECONDS)["results"]
    else:
        results = _with_offline_memory(home, lambda held: held.search(query, space, limit), alter=False)
    if as_json:
        print(json.dumps({"results": results}, ensure_ascii=False, indent=2))
        return 0
    from bot.memory.recall import format_result

    for number, result in enumerate(results, 1):
        print(format_result(number, result))
    if not results:
        print("Nothing found.")
    return 0


@app.command("index")
def index(
    ctx: typer.Context,
    space: Annotated[str | None, typer.Option("--space", help="Only that one [default: all; '' the owner's].")] = None,
) -> int:
    """Make the index again from the files and the store."""
    home: HomeFolder = ctx.obj.home
    if home.address():
        asked = {} if space is None else {"space": space}
        told_rows = call_running_bot_now(home, "POST", "/api/memory/index", asked, patience=INDEX_SECONDS)["spaces"]
        rows: Mapping[str, int] = {row["space"]: row["rows"] for row in told_rows}
    else:
        rows = _with_offline_memory(home, lambda held: held.index(space), alter=True)
    if not rows:
        raise UnknownSpace(f"There is no space called {space}; mnema memory files names them.")
    for name, count in rows.items():
        print(f"{name or 'the owner'}: {count:,} {'row' if count == 1 else 'rows'}")
    return 0


@app.command("files")
def files(ctx: typer.Context, as_json: JsonOption = False) -> int:
    """List the memory files of everybody, with sizes and times."""
    from datetime import datetime

    from bot.memory.files import list_workspace

    found = list_workspace(ctx.obj.home.workspace)
    if as_json:
        print(json.dumps({"files": found}, ensure_ascii=False, indent=2))
        return 0
    for file in found:
        written = datetime.fromisoformat(file["updated_at"]).astimezone()
        print(f"{file['size']:>9,}  {written:%Y-%m-%d %H:%M}  {file['path']}")
    if not found:
        print("There are no memory files yet.")
    return 0


class _OfflineMemory:
    """Memory over a home that no bot holds: its record, opened, and recall over it."""

    def __init__(self, home: HomeFolder, record: OpenedStore) -> None:
        from bot.config.file import ConfigFile
        from bot.config.schema import time_zone
        from bot.memory.files import open_recall
        from memory.workspace.files import Workspace

        file = ConfigFile(home.config)
        file.load()
        self._zone = time_zone(file.current)
        self._store, self._workspace = record.store, Workspace(home.workspace)
        self.recall = open_recall(home, record.store, self._zone, record.indexes)

    async def search(self, query: str, space: str, limit: int) -> Sequence[Mapping[str, Any]]:
        from datetime import datetime

        from bot.memory.recall import passage_to_json
        from memory.recall.documents import SearchRequest

        if space not in await self._spaces():
            return []
        wanted = SearchRequest(space=space, query=query, now=datetime.now(self._zone), limit=limit)
        return [passage_to_json(passage) for passage in await self.recall.search(wanted)]

    async def index(self, space: str | None) -> Mapping[str, int]:
        chosen = [name for name in await self._spaces() if space is None or name == space]
        return {name: await self.recall.rebuild(name) for name in chosen}

    async def _spaces(self) -> list[str]:
        from bot.memory.files import list_spaces

        return await list_spaces(self._store, self._workspace)


def _with_offline_memory(
    home: HomeFolder, work: Callable[[_OfflineMemory], Awaitable[Answer]], *, alter: bool
) -> Answer:
    """What `work` makes of a home that has no page to ask. alter: nobody else may hold it meanwhile.

    Raises:
        HomeLocked: somebody does.
    """
    new = not store_exists(home)
    if new:
        home.ensure()

    async def worked() -> Answer:
        async with open_store_for_command(home, writable=new) as record:
            memory = _OfflineMemory(home, record)
            try:
                return await work(memory)
            finally:
                await memory.recall.close()

    with lock_home_for_command(home) if new or alter else nullcontext():
        return asyncio.run(worked())
