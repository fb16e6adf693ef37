"""`mnema sessions`: list, show, export, import and delete conversations."""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from bot.errors import MnemaError
from bot.home import Home
from memory.conversation import Message, dump_parts

app = typer.Typer(help="List, show, export, import and delete conversations.", no_args_is_help=True)
EVERY = 1_000_000
PAGE = 200
Answer = TypeVar("Answer")
Which = Annotated[str, typer.Argument(help="Id (its beginning will do) or name of the conversation.")]


class NoSession(MnemaError):
    """No conversation, or more than one, goes by that name."""


@app.command("list")
def listing(
    ctx: typer.Context,
    limit: Annotated[int, typer.Option("--limit", min=1, max=EVERY)] = 50,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> int:
    """List conversations, newest first."""

    async def rows(store: Any) -> Any:
        return await store.sessions.conversations(limit=limit)

    nothing: list[Any] = []
    found = with_store(ctx.obj.home, rows, none=nothing)
    if as_json:
        print(json.dumps([_described(row) for row in found], ensure_ascii=False, indent=2))
        return 0
    for row in found:
        print(f"{row.id}  {row.updated:%Y-%m-%d %H:%M}  {row.place.channel}:{row.place.chat_id}  {row.title}")
    if not found:
        print("There are no conversations yet.")
    return 0


@app.command("show")
def show(
    ctx: typer.Context,
    session: Which,
    limit: Annotated[int, typer.Option("--limit", min=1, max=EVERY, help="The newest this many lines.")] = 50,
) -> int:
    """Print a conversation as people saw it."""

    async def lines(store: Any) -> None:
        row = await find(store, session)
        for line in await store.sessions.lines(row.id, limit=limit):
            print(f"[{line.at:%Y-%m-%d %H:%M}] {line.role}: {line.text}")

    with_store(ctx.obj.home, lines)
    return 0


@app.command("export")
def export(
    ctx: typer.Context,
    session: Which,
    out: Annotated[Path | None, typer.Option("--out", help="File to write [default: stdout].")] = None,
) -> int:
    """Write a conversation as JSON Lines: first what it is, then every message with its parts."""

    async def write(store: Any) -> None:
        row = await find(store, session)
        target = out.open("x", encoding="utf-8") if out else sys.stdout
        try:
            print(json.dumps({"session": _described(row)}, ensure_ascii=False), file=target)
            seq = 1
            while page := await store.sessions.messages(row.id, from_seq=seq, limit=PAGE):
                for message in page:
                    print(json.dumps(_message(message), ensure_ascii=False), file=target)
                seq = page[-1].seq + 1
        finally:
            if out:
                target.close()

    with_store(ctx.obj.home, write)
    return 0


@app.command("import")
def bring_in(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(help="An export, or a message list in Anthropic's or OpenAI's form.")],
    conversation: Annotated[str, typer.Option("--conversation", help="Its name here [default: the file's].")] = "",
) -> int:
    """Take a conversation from a file into the record, as a new conversation of the terminal."""
    from bot import importing

    name = conversation or importing.name_of(file)
    if not importing.NAME.fullmatch(name):
        raise typer.BadParameter(f"--conversation is {name!r}; it takes up to 128 letters, digits and . _ : -")
    home: Home = ctx.obj.home
    recording = importing.read(file)
    home.ensure()
    with home.lock():
        asyncio.run(importing.bring_in(home, recording, name))
    for note in (*recording.notes, *importing.left_behind(home, recording)):
        print(f"mnema: {note}.", file=sys.stderr)
    count = len(recording.messages)
    print(
        f"Imported {len(recording.turns)} turns ({count} messages); mnema chat --conversation {name} goes on with it."
    )
    return 0


@app.command("delete")
def delete(
    ctx: typer.Context,
    session: Which,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> int:
    """Delete a conversation with all its messages; the daily log keeps what was written there."""
    home: Home = ctx.obj.home
    row = with_store(home, lambda store: find(store, session))
    if not yes and not typer.confirm(f"Delete {row.id} ({row.title or 'no title'}) for ever?", err=True):
        return 1

    async def gone(store: Any) -> None:
        await store.sessions.delete(row.id)

    with home.lock():
        with_store(home, gone, writable=True)
    print(f"{row.id} is deleted.")
    return 0


def with_store(
    home: Home,
    work: Callable[[Any], Awaitable[Answer]],
    *,
    none: Answer | None = None,
    writable: bool = False,
) -> Answer:
    """What `work` makes of the open store; `none` where there is no database yet.

    Raises:
        NoSession: there is no database and `none` is not given.
    """
    from memory.store.open import open_store

    if not home.db.exists():
        if none is None:
            raise NoSession(f"There is no database in {home.data} yet.")
        return none

    async def opened() -> Answer:
        store = await open_store(home.db, writable=writable)
        try:
            return await work(store)
        finally:
            await store.close()

    return asyncio.run(opened())


async def find(store: Any, name: str) -> Any:
    """The conversation of that id, name, or beginning of an id.

    Raises:
        NoSession: there is none, or more than one.
    """
    rows = await store.sessions.conversations(limit=EVERY)
    found = [row for row in rows if row.id == name or row.place.chat_id == name]
    found = found or [row for row in rows if name and row.id.startswith(name)]
    if len(found) == 1:
        return found[0]
    what = "No conversation is" if not found else f"{len(found)} conversations are"
    raise NoSession(f"{what} called {name}; mnema sessions list shows the ids.")


def _described(row: Any) -> dict[str, Any]:
    place = row.place
    return {
        "id": row.id,
        "title": row.title,
        "channel": place.channel,
        "account": place.account,
        "chat_id": place.chat_id,
        "thread_id": place.thread_id,
        "kind": place.kind,
        "space": place.space,
        "turns": row.turns,
        "updated_at": row.updated.isoformat(),
    }


def _message(message: Message) -> dict[str, Any]:
    return {
        "id": message.id,
        "seq": message.seq,
        "turn": message.turn,
        "role": message.role,
        "at": message.at.isoformat(),
        "origin": message.origin,
        "parts": json.loads(dump_parts(message.parts)),
    }
