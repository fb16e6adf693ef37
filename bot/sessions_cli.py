"""`mnema sessions`: list, show, export, import and delete conversations."""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from bot.errors import MnemaError
from bot.home import Home
from bot.record import exists, held, opened

app = typer.Typer(help="List, show, export, import and delete conversations.", no_args_is_help=True)
EVERY = 1_000_000
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
    """List conversations, newest first; those of other people by their ids, without a title."""

    from bot.console.reading import whose
    from bot.exporting import described

    async def rows(store: Any) -> Any:
        return await store.sessions.conversations(limit=limit)

    nothing: list[Any] = []
    # a title is a person's first words, and another person's words are read only where that is audited
    found = [
        replace(row, title="") if whose(row) == "other" else row for row in with_store(ctx.obj.home, rows, none=nothing)
    ]
    if as_json:
        print(json.dumps([described(row) for row in found], ensure_ascii=False, indent=2))
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

    row = chosen(ctx.obj.home, session, "shown")

    async def lines(store: Any) -> None:
        for line in await store.sessions.lines(row.id, limit=limit):
            print(f"[{line.at:%Y-%m-%d %H:%M}] {line.role}: {line.text}")

    with_store(ctx.obj.home, lines)
    return 0


@app.command("trace")
def trace(
    ctx: typer.Context,
    session: Which,
    message: Annotated[str, typer.Argument(help="A trace id or a message's id [default: the newest].")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> int:
    """Show what became of a message, step by step."""
    from bot.trace_words import facts, lines

    row = chosen(ctx.obj.home, session, "traced")

    async def read(store: Any) -> Any:
        return await store.sessions.trace(row.id, of=message)

    found = with_store(ctx.obj.home, read)
    if found is None:
        raise NoSession("There is no such message in that conversation.")
    text = (
        json.dumps(facts(found, None), ensure_ascii=False, indent=2) if as_json else "\n".join(lines(found, "en", None))
    )
    print(text)
    return 0


@app.command("export")
def export(
    ctx: typer.Context,
    session: Which,
    out: Annotated[Path | None, typer.Option("--out", help="File to write [default: stdout].")] = None,
) -> int:
    """Write a conversation as JSON Lines: first what it is, then every message with its parts."""

    from bot.exporting import described, messages_of, recorded

    row = chosen(ctx.obj.home, session, "exported")

    async def write(store: Any) -> None:
        target = out.open("x", encoding="utf-8") if out else sys.stdout
        try:
            print(json.dumps({"session": described(row)}, ensure_ascii=False), file=target)
            async for message in messages_of(store, row.id):
                print(json.dumps(recorded(message), ensure_ascii=False), file=target)
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
    with held(home):
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
    from bot.console.reading import whose

    home: Home = ctx.obj.home
    row = with_store(home, lambda store: find(store, session))
    title = "another person's" if whose(row) == "other" else row.title or "no title"
    if not yes and not typer.confirm(f"Delete {row.id} ({title}) for ever?", err=True):
        return 1

    async def gone(store: Any) -> None:
        await store.sessions.delete(row.id)

    with home.lock():
        with_store(home, gone, alone=True)
    print(f"{row.id} is deleted.")
    return 0


def with_store(
    home: Home,
    work: Callable[[Any], Awaitable[Answer]],
    *,
    none: Answer | None = None,
    alone: bool = False,
) -> Answer:
    """What `work` makes of the open store; `none` where there is no database yet.

    Args:
        alone: it changes something, and nobody else may be at work; with SQLite the caller holds the home.

    Raises:
        NoSession: there is no database and `none` is not given.
    """
    if not exists(home):
        if none is None:
            raise NoSession(f"There is no database in {home.data} yet.")
        return none

    async def worked() -> Answer:
        async with opened(home, writable=alone, alone=alone) as record:
            return await work(record.store)

    return asyncio.run(worked())


def chosen(home: Home, session: str, result: str) -> Any:
    """The conversation that is to be read; where it is another person's, that is in the audit list first.

    Args:
        result: what is done with it, in a word.

    Raises:
        NoSession: there is none, or more than one.
        NotNoted: the audit list could not be written.
    """
    from bot.reading_audit import note_reading

    row = with_store(home, lambda store: find(store, session))
    note_reading(home, [row], result)
    return row


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
