"""`mnema sessions`: list, show, export, import and delete conversations."""

import asyncio
import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any
from unicodedata import normalize

import typer

from bot.agent.token_calibration import load_best_counter as load
from bot.cli.replay.reader import read_recording
from bot.cli.replay.recording import Recording, count_recording
from bot.config.home import HomeFolder
from bot.errors import MnemaError
from bot.gateway.attachments import ingest_attachments
from bot.runtime.store_access import (
    ALL_SESSIONS,
    UnknownSession,
    find_session,
    lock_home_for_command,
    open_store_for_command,
    run_with_store,
)
from channels.message import Attachment
from channels.terminal.channel import Terminal
from memory.context.taint import QUOTED_LABEL, is_tainted
from memory.conversation import Document, Image, Message, Part, Text, Turn
from memory.store.rows import Place
from memory.workspace.blobs import Blobs

app = typer.Typer(help="List, show, export, import and delete conversations.", no_args_is_help=True)
SessionArgument = Annotated[str, typer.Argument(help="Id (its beginning will do) or name of the conversation.")]


@app.command("list")
def listing(
    ctx: typer.Context,
    limit: Annotated[int, typer.Option("--limit", min=1, max=ALL_SESSIONS)] = 50,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> int:
    """List conversations, newest first; those of other people by their ids, without a title."""

    from bot.console.chat_access import conversation_owner
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
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
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
    """Take a conversation from a file into the record, as a new conversation of the terminal."""

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
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> int:
    """Delete a conversation with all its messages; the daily log keeps what was written there."""
    from bot.console.chat_access import conversation_owner

    home: HomeFolder = ctx.obj.home
    row = run_with_store(home, lambda store: find_session(store, session))
    title = "another person's" if conversation_owner(row) == "other" else row.title or "no title"
    if not yes and not typer.confirm(f"Delete {row.id} ({title}) for ever?", err=True):
        return 1

    async def gone(store: Any) -> None:
        await store.sessions.delete(row.id)

    with home.lock():
        run_with_store(home, gone, alone=True)
    print(f"{row.id} is deleted.")
    return 0


def chosen(home: HomeFolder, session: str, result: str) -> Any:
    """The conversation that is to be read; where it is another person's, that is in the audit list first.

    Args:
        result: what is done with it, in a word.

    Raises:
        NoSession: there is none, or more than one.
        NotNoted: the audit list could not be written.
    """
    from bot.console.reading_audit import note_reading

    row = run_with_store(home, lambda store: find_session(store, session))
    note_reading(home, [row], result)
    return row


# Takes a conversation out of a file into this home's record.

NAME_PATTERN = re.compile(r"[\w.:-]{1,128}")


class SessionNameTaken(MnemaError):
    """There is a conversation of that name."""


def session_name_from_file(file: Path) -> str:
    """A conversation's name out of a file's."""
    return re.sub(r"[^\w.:-]+", "-", normalize("NFC", file.stem)).strip("-")[:128] or "imported"


def read_import(file: Path) -> Recording:
    """The conversation in a file; where its messages have no times, the last one is as old as the import.

    Raises:
        Unreadable: it holds none.
        OSError: it cannot be opened.
    """
    recording = read_recording(file)
    if recording.timed:
        return recording
    late = datetime.now(UTC) - recording.messages[-1].at
    turns = (
        replace(turn, messages=tuple(replace(message, at=message.at + late) for message in turn.messages))
        for turn in recording.turns
    )
    return replace(recording, turns=tuple(turns))


def import_losses(home: HomeFolder, recording: Recording) -> list[str]:
    """Sentences, without their full stops, on what an import of this recording does not take along."""
    held = (("system text", recording.system), ("tools", recording.tools), ("probes", recording.probes))
    told = [f"its {name} did not come along: a conversation here has none of its own" for name, had in held if had]
    parts = (part for message in recording.messages for part in message.parts)
    named = {part.sha256 for part in parts if isinstance(part, Image | Document)}
    blobs = Blobs(home.blobs)
    if missing := sum(not _is_stored(blobs, sha256) for sha256 in named - recording.files.keys()):
        told.append(f"attached files whose bytes are not in this home: {missing}; text read out of them is kept")
    return told


async def import_recording(home: HomeFolder, recording: Recording, name: str) -> str:
    """Store a recording as a conversation of the terminal; returns its id. With SQLite the caller holds the home.

    Raises:
        Taken: there is one of that name; nothing is changed.
        StoreError: it could not be stored.
    """
    place = Place(channel=Terminal.name, account=Terminal.account, chat_id=name, thread_id="", kind="dm", space="")
    async with open_store_for_command(home, writable=True) as record:
        store = record.store
        if await store.sessions.find(place.channel, place.account, name) is not None:
            raise SessionNameTaken(
                f"There is a conversation called {name} already; --conversation gives this one another name."
            )
        kept = await _store_files(recording.files, recording, Blobs(home.blobs))
        turns = tuple(_attach_files(turn, kept) for turn in recording.turns)
        counter = await asyncio.to_thread(load)
        id: str = await store.sessions.import_conversation(
            place, count_recording(replace(recording, turns=label_turns(turns)), counter).turns
        )
        return id


def label_turns(turns: Sequence[Turn]) -> tuple[Turn, ...]:
    """The turns with the labels of what rests on words from outside, whether or not the file had them.

    All that the bot says after the first words from outside may rest on them. What others said in a group is quoted
    in a conversation that is one person's.
    """
    found, outside = list[Turn](), False
    own: list[Message] = []
    for turn in turns:
        messages = list[Message]()
        for message in map(_has_quote, turn.messages):
            own.append(message)
            outside = outside or is_tainted(own[-2:])
            messages.append(message if message.origin == "person" else replace(message, tainted=outside))
        found.append(replace(turn, messages=tuple(messages)))
    return tuple(found)


def _has_quote(message: Message) -> Message:
    if message.origin != "person":
        return message
    parts = (
        replace(part, aside=QUOTED_LABEL) if isinstance(part, Text) and part.by and not part.aside else part
        for part in message.parts
    )
    return replace(message, parts=tuple(parts))


def _is_stored(blobs: Blobs, sha256: str) -> bool:
    try:
        blobs.get(sha256)
    except OSError:
        return False
    return True


async def _store_files(files: Mapping[str, bytes], recording: Recording, blobs: Blobs) -> dict[str, Part]:
    """The parts that the bytes which came along become, by the hash they came under: as if a person had sent them."""
    kept: dict[str, Part] = {}
    for message in recording.messages:
        for part in message.parts:
            if not isinstance(part, Image | Document) or part.sha256 in kept or part.sha256 not in files:
                continue
            name = part.name if isinstance(part, Document) else "picture"
            sent = Attachment(name=name, media_type=part.media_type, data=files[part.sha256])
            taken = await ingest_attachments([sent], blobs)
            kept[part.sha256] = taken.parts[0] if taken.parts else Text(text=f"[{taken.refused[0]}]")
    return kept


def _attach_files(turn: Turn, kept: Mapping[str, Part]) -> Turn:
    messages = tuple(
        replace(
            message,
            parts=tuple(
                kept.get(part.sha256, part) if isinstance(part, Image | Document) else part for part in message.parts
            ),
        )
        for message in turn.messages
    )
    return replace(turn, messages=messages)
