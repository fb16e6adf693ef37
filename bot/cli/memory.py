"""`mnema memory`: search memory, list its files, say which are yours, rebuild the index."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated, Any, TypeVar
from urllib.parse import urlencode

import typer

from bot.cli.common import COMMAND_LINE_ACTOR, JsonOption, print_json, run_offline
from bot.config.home import HomeFolder
from bot.errors import MnemaError
from bot.runtime.store_access import OpenedStore, call_running_bot_now
from bot.texts import show_before_messages

app = typer.Typer(
    help="Search memory, list its files, mark files as yours, rebuild the index.",
    no_args_is_help=True,
)
SEARCH_SECONDS = 30.0  # timeouts of requests to a running bot
INDEX_SECONDS = 3_600.0
Answer = TypeVar("Answer")


class UnknownSpace(MnemaError):
    """There is no space with this name."""


@app.command("search")
def search(
    ctx: typer.Context,
    query: Annotated[str, typer.Argument(help="Words or a question, in any language.")],
    space: Annotated[
        str, typer.Option("--space", help="Whose memory [default: the owner's].")
    ] = "",
    limit: Annotated[
        int, typer.Option("--limit", min=1, max=200, help="Maximum number of results.")
    ] = 10,
    as_json: JsonOption = False,
) -> int:
    """Search memory files, daily logs and conversations, best first."""
    if not query.strip():
        raise typer.BadParameter("the query is empty; give words to search for.")
    path = f"/api/memory/search?{urlencode({'q': query, 'space': space, 'limit': limit})}"
    home: HomeFolder = ctx.obj
    if home.address():
        results = call_running_bot_now(home, "GET", path, patience=SEARCH_SECONDS)["results"]
    else:
        results = _run_offline(home, lambda memory: memory.search(query, space, limit), lock=False)
    if as_json:
        print_json({"results": results})
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
    space: Annotated[
        str | None,
        typer.Option("--space", help="Only this space [default: all; '' for the owner's]."),
    ] = None,
) -> int:
    """Rebuild the index from the files and the database."""
    home: HomeFolder = ctx.obj
    if home.address():
        body = {} if space is None else {"space": space}
        answer = call_running_bot_now(
            home, "POST", "/api/v1/memory/index", body, patience=INDEX_SECONDS
        )
        rows: Mapping[str, int] = {row["space"]: row["rows"] for row in answer["spaces"]}
    else:
        rows = _run_offline(home, lambda memory: memory.index(space), lock=True)
    if not rows:
        raise UnknownSpace(f"There is no space called {space}; mnema memory files lists them.")
    for name, count in rows.items():
        print(f"{name or 'the owner'}: {count:,} {'row' if count == 1 else 'rows'}")
    return 0


@app.command("files")
def files(ctx: typer.Context, as_json: JsonOption = False) -> int:
    """List the memory files of all spaces, with sizes and times."""
    from datetime import datetime

    from bot.memory.files import list_workspace

    found = list_workspace(ctx.obj.workspace)
    if as_json:
        print_json({"files": found})
        return 0
    for file in found:
        written = datetime.fromisoformat(file["updated_at"]).astimezone()
        print(f"{file['size']:>9,}  {written:%Y-%m-%d %H:%M}  {file['path']}")
    if not found:
        print("There are no memory files yet.")
    return 0


@app.command("mine")
def mine(
    ctx: typer.Context,
    path: Annotated[
        str,
        typer.Argument(help="A file or folder of the owner's workspace, such as files/notes.txt."),
    ],
) -> int:
    """Mark a file or folder as yours, so that it no longer counts as text from outside."""
    from bot.tools.workspace.files import NotTakenOver, parse_own_path, take_over

    home: HomeFolder = ctx.obj
    try:
        path = parse_own_path(path)
    except NotTakenOver as err:
        raise MnemaError(show_before_messages(err.phrase)) from err
    if home.address():
        answer = call_running_bot_now(home, "POST", "/api/v1/memory/mine", {"path": path})
    else:

        async def work(opened: OpenedStore) -> dict[str, Any]:
            labels = opened.store.file_labels
            return {"removed": await take_over(labels, home.workspace, path, COMMAND_LINE_ACTOR)}

        answer = run_offline(home, work, lock=True, writable=True)
    removed = answer["removed"]
    print(
        f"{path} is yours ({removed} marks removed)."
        if removed
        else f"{path} had no mark: it counts as yours."
    )
    return 0


class _OfflineMemory:
    """Recall on the store of a home without a running bot."""

    def __init__(self, home: HomeFolder, opened: OpenedStore) -> None:
        from bot.config.file import ConfigFile
        from bot.config.schema import time_zone
        from bot.memory.search import open_recall, open_vectors
        from memory.workspace.files import Workspace

        file = ConfigFile(home.config)
        file.load()
        self._zone = time_zone(file.current)
        self._store, self._workspace = opened.store, Workspace(home.workspace)
        vectors = open_vectors(home, lambda: file.current)
        self.recall = open_recall(home, opened.store, self._zone, opened.indexes, vectors=vectors)

    async def search(self, query: str, space: str, limit: int) -> Sequence[Mapping[str, Any]]:
        from datetime import datetime

        from bot.memory.recall import passage_to_json
        from memory.recall.documents import SearchRequest

        if space not in await self._spaces():
            return []
        request = SearchRequest(space=space, query=query, now=datetime.now(self._zone), limit=limit)
        return [passage_to_json(passage) for passage in await self.recall.search(request)]

    async def index(self, space: str | None) -> Mapping[str, int]:
        chosen = [name for name in await self._spaces() if space is None or name == space]
        return {name: await self.recall.rebuild(name) for name in chosen}

    async def _spaces(self) -> list[str]:
        from bot.memory.files import list_spaces

        return await list_spaces(self._store, self._workspace)


def _run_offline(
    home: HomeFolder, work: Callable[[_OfflineMemory], Awaitable[Answer]], *, lock: bool
) -> Answer:
    async def open_and_run(opened: OpenedStore) -> Answer:
        memory = _OfflineMemory(home, opened)
        try:
            return await work(memory)
        finally:
            await memory.recall.close()

    return run_offline(home, open_and_run, lock=lock)
