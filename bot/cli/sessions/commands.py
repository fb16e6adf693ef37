"""`mnema sessions`: list, show, export, import and delete conversations."""

import asyncio
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from bot.cli.options import JsonOption, YesOption
from bot.config.home import HomeFolder
from bot.runtime.store_access import (
    ALL_SESSIONS,
    UnknownSession,
    find_session,
    lock_home,
    lock_home_for_command,
    run_with_store,
)

app = typer.Typer(help="List, show, export, import and delete conversations.", no_args_is_help=True)
SessionArgument = Annotated[str, typer.Argument(help="Id (its beginning will do) or name of the conversation.")]


@app.command("list")
def listing(
    ctx: typer.Context,
    limit: Annotated[int, typer.Option("--limit", min=1, max=ALL_SESSIONS)] = 50,
    as_json: JsonOption = False,
) -> int:
    """List conversations, newest first; those of other people by their ids, without a title."""

    from bot.console.transcripts import conversation_owner
    from bot.memory.export import conversation_to_json

    async def rows(store: Any) -> Any:
        return await store.sessions.conversations(limit=limit)

    nothing: list[Any] = []
    # a title is a person's first words, and another person's words are read only where that is audited
    found = [
        replace(row, title="") if conversation_owner(row) == "other" else row
        for row in run_with_store(ctx.obj.home, rows, none=nothing)
    ]
    if as_json:
        print(json.dumps([conversation_to_json(row) for row in found], ensure_ascii=False, indent=2))
        return 0
    for row in found:
        print(f"{row.id}  {row.updated:%Y-%m-%d %H:%M}  {row.place.channel}:{row.place.chat_id}  {row.title}")
    if not found:
        print("There are no conversations yet.")
    return 0


@app.command("show")
def show(
    ctx: typer.Context,
    session: SessionArgument,
    limit: Annotated[int, typer.Option("--limit", min=1, max=ALL_SESSIONS, help="The newest this many lines.")] = 50,
) -> int:
    """Print a conversation as people saw it."""

    row = chosen(ctx.obj.home, session, "shown")

    async def lines(store: Any) -> None:
        for line in await store.sessions.lines(row.id, limit=limit):
            print(f"[{line.at:%Y-%m-%d %H:%M}] {line.role}: {line.text}")

    run_with_store(ctx.obj.home, lines)
    return 0


@app.command("trace")
def trace(
    ctx: typer.Context,
    session: SessionArgument,
    message: Annotated[str, typer.Argument(help="A trace id or a message's id [default: the newest].")] = "",
    as_json: JsonOption = False,
) -> int:
    """Show what became of a message, step by step."""
    from bot.commands.trace import format_trace, trace_to_json

    row = chosen(ctx.obj.home, session, "traced")

    async def read(store: Any) -> Any:
        return await store.sessions.trace(row.id, of=message)

    found = run_with_store(ctx.obj.home, read)
    if found is None:
        raise UnknownSession("There is no such message in that conversation.")
    text = (
        json.dumps(trace_to_json(found, None), ensure_ascii=False, indent=2)
        if as_json
        else "\n".join(format_trace(found, "en", None))
    )
    print(text)
    return 0


@app.command("export")
def export(
    ctx: typer.Context,
    session: SessionArgument,
    out: Annotated[Path | None, typer.Option("--out", help="File to write [default: stdout].")] = None,
) -> int:
    """Write a conversation as JSON Lines: first what it is, then every message with its parts."""

    from bot.memory.export import conversation_to_json, load_messages, message_to_json

    row = chosen(ctx.obj.home, session, "exported")

    async def write(store: Any) -> None:
        target = out.open("x", encoding="utf-8") if out else sys.stdout
        try:
            print(json.dumps({"session": conversation_to_json(row)}, ensure_ascii=False), file=target)
            async for message in load_messages(store, row.id):
                print(json.dumps(message_to_json(message), ensure_ascii=False), file=target)
        finally:
            if out:
                target.close()

    run_with_store(ctx.obj.home, write)
    return 0


@app.command("import")
def import_session(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(help="An export, or a message list in Anthropic's or OpenAI's form.")],
    conversation: Annotated[str, typer.Option("--conversation", help="Its name here [default: the file's].")] = "",
) -> int:
    """Import a conversation from a file as a new conversation of the terminal."""
    from bot.cli.sessions.importing import (
        NAME_PATTERN,
        import_losses,
        import_recording,
        read_import,
        session_name_from_file,
    )

    name = conversation or session_name_from_file(file)
    if not NAME_PATTERN.fullmatch(name):
        raise typer.BadParameter(f"--conversation is {name!r}; it takes up to 128 letters, digits and . _ : -")
    home: HomeFolder = ctx.obj.home
    recording = read_import(file)
    home.ensure()
    with lock_home_for_command(home):
        asyncio.run(import_recording(home, recording, name))
    for note in (*recording.notes, *import_losses(home, recording)):
        print(f"mnema: {note}.", file=sys.stderr)
    count = len(recording.messages)
    print(
        f"Imported {len(recording.turns)} turns ({count} messages); mnema chat --conversation {name} goes on with it."
    )
    return 0


@app.command("delete")
def delete(
    ctx: typer.Context,
    session: SessionArgument,
    yes: YesOption = False,
) -> int:
    """Delete a conversation with all its messages; the daily log keeps what was written there."""
    from bot.console.transcripts import conversation_owner

    home: HomeFolder = ctx.obj.home
    row = run_with_store(home, lambda store: find_session(store, session))
    title = "another person's" if conversation_owner(row) == "other" else row.title or "no title"
    if not yes and not typer.confirm(f"Delete {row.id} ({title}) for ever?", err=True):
        return 1

    async def gone(store: Any) -> None:
        await store.sessions.delete(row.id)

    with lock_home(home):
        run_with_store(home, gone, alone=True)
    print(f"{row.id} is deleted.")
    return 0


def chosen(home: HomeFolder, session: str, result: str) -> Any:
    """The conversation that is to be read; where it is another person's, that is in the audit list first.

    Args:
        result: what is done with it, in a word.

    Raises:
        UnknownSession: there is none, or more than one.
        NotNoted: the audit list could not be written.
    """
    from bot.cli.sessions.reading_audit import note_reading

    row = run_with_store(home, lambda store: find_session(store, session))
    note_reading(home, [row], result)
    return row
