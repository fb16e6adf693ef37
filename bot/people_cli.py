"""`mnema people`: who is known here; all that is kept of a person, taken out or removed."""

import asyncio
import json
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from bot.errors import MnemaError
from bot.home import Home
from bot.record import opened
from bot.sessions_cli import with_store

app = typer.Typer(help="See who is known here; take out, or remove, what is kept of a person.", no_args_is_help=True)
BY = "command line"
Which = Annotated[str, typer.Argument(metavar="ID", help="CHANNEL:ID such as telegram:42, a space, or owner.")]


@app.command("list")
def listing(ctx: typer.Context, as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False) -> int:
    """List everybody of whom something is kept: space, accounts, how much, when last."""

    async def rows(store: Any) -> Any:
        return [(row, await store.links.home(row.space)) for row in await store.people.everyone()]

    nothing: list[Any] = []
    found = with_store(ctx.obj.home, rows, none=nothing)
    if as_json:
        told = [
            {
                "space": row.space,
                "memory_of": home,
                "accounts": row.accounts,
                "conversations": row.conversations,
                "messages": row.messages,
                "updated_at": row.updated.isoformat(),
            }
            for row, home in found
        ]
        print(json.dumps(told, ensure_ascii=False, indent=2))
        return 0
    for row, home in found:
        linked = "" if home == row.space else f"  linked with {home or 'owner'}"
        who = ", ".join(_plain(account) for account in row.accounts) or "nobody wrote"
        print(f"{row.space or 'owner'}  {who}  messages {row.messages:,}  {row.updated:%Y-%m-%d %H:%M}{linked}")
    if not found:
        print("Nobody has written yet.")
    return 0


@app.command("export")
def export(
    ctx: typer.Context,
    which: Which,
    out: Annotated[Path | None, typer.Option("--out", help="ZIP file to write [default: one in this folder].")] = None,
) -> int:
    """Write all that is kept of a person into one ZIP file: conversations, files, memories, usage, attachments."""
    from datetime import UTC, datetime

    from bot.exporting import Bundle, Sources
    from bot.reading_audit import note_reading
    from memory.blobs import Blobs
    from memory.forgetting.leaving import NobodySuch, find
    from memory.workspace import Workspace

    home: Home = ctx.obj.home
    target = out or Path(f"mnema-{datetime.now():%Y%m%d-%H%M%S}.zip")

    async def look(store: Any) -> Any:
        person = await find(store, which)
        return person, [await store.sessions.conversation(id) for id in await store.people.conversations(person)]

    async def write(store: Any) -> Any:
        sources = Sources(store=store, workspace=Workspace(home.workspace), blobs=Blobs(home.blobs))
        handle = os.open(target, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            with os.fdopen(handle, "wb") as file:
                return await Bundle(sources, file).fill(person, datetime.now(UTC))
        except BaseException:
            with suppress(OSError):
                target.unlink()
            raise

    try:
        person, rows = with_store(home, look)
    except NobodySuch as err:
        raise MnemaError(str(err)) from err
    note_reading(home, [row for row in rows if row is not None], "exported")
    done = with_store(home, write)
    print(
        f"{target}: conversations {done.conversations:,}, messages {done.messages:,}, files {done.files:,}, "
        f"memories {done.memories:,}, attachments {done.attachments:,}."
    )
    for name in done.left_out:
        print(f"mnema: left out, for it cannot be read: {name}", file=sys.stderr)
    return 0


@app.command("delete")
def delete(
    ctx: typer.Context,
    which: Which,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> int:
    """Remove all that is kept of a person, for ever."""
    from memory.forgetting.leaving import NobodySuch, removable

    home: Home = ctx.obj.home
    try:
        person = with_store(home, lambda store: removable(store, which))
    except NobodySuch as err:
        raise MnemaError(str(err)) from err
    known = ", ".join(_plain(name) for name in (*person.accounts, *person.spaces))
    if not yes and not typer.confirm(f"Remove all that is kept of {known} for ever?", err=True):
        return 1
    with home.lock():
        done = asyncio.run(_removed(home, person))
    _told(done, home, person)
    return 0


async def _removed(home: Home, person: Any) -> Any:
    from datetime import UTC

    from bot.spaces import recall_of, removal_of

    async with opened(home, writable=True, alone=True) as record:
        recall = recall_of(home, record.store, UTC, record.indexes)
        try:
            return await removal_of(home, record.store, home.workspace, recall.forget).remove(person, BY)
        finally:
            await recall.close()


def _told(done: Any, home: Home, person: Any) -> None:
    """The receipt: what went, and what is still there and why."""
    gone = f"conversations {done.conversations:,}, other rows {done.rows:,}, files of their memory {done.files:,}"
    print(f"Removed: {gone}, attachments {done.attachments:,}; their index with it.")
    if done.in_groups:
        print(f"Kept: {done.in_groups:,} messages that they wrote in groups; those are the groups'.")
    if done.acts:
        print(f"Kept: {done.acts:,} acts in the audit's chain that name them; a chain with a row less proves nothing.")
    for path in done.backups:
        print(f"Kept: {path}, a copy from before.")
    for account in person.accounts:
        if named := _named_in(home, account):
            print(f"Kept: {account} in config.json under {named}; take it out there.")
    print("Backups made elsewhere hold what they held.")


def _named_in(home: Home, account: str) -> str:
    """The list of config.json that names that account, "" for none."""
    from bot.config import ConfigFile

    file = ConfigFile(home.config)
    file.load()
    channel, _, id = account.partition(":")
    section = getattr(file.current.channels, channel, None)
    for name in ("owners", "allow"):
        if id in (getattr(section, name, None) or ()):
            return f"channels.{channel}.{name}"
    return ""


def _plain(text: str) -> str:
    return "".join(sign if sign.isprintable() else "?" for sign in text)
