"""`mnema pair` and `mnema owner`: who may talk to the bot, decided on this machine."""

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from bot.cli.options import JsonOption, YesOption
from bot.config.home import HomeFolder
from bot.errors import MnemaError
from bot.runtime.store_access import (
    call_running_bot_now,
    lock_home,
    lock_home_for_command,
    open_store_for_command,
    run_with_store,
    store_exists,
)

pair_app = typer.Typer(
    help="See who asks to talk to the bot; let them in, refuse them, take it back.", no_args_is_help=True
)
owner = typer.Typer(help="Make somebody an owner, and see who is one.", no_args_is_help=True)
REQUEST_SECONDS = 30.0
COMMAND_LINE_ACTOR = "command line"
Answer = TypeVar("Answer")
CodeArgument = Annotated[str, typer.Argument(help="The code that they were given, such as ABCD-EFGH.")]
ChannelOption = Annotated[str, typer.Option("--channel", help="Only a code of that channel.")]
AccountArgument = Annotated[str, typer.Argument(metavar="CHANNEL:ID", help="Such as telegram:42.")]


@pair_app.command("list")
def list_requests(ctx: typer.Context, as_json: JsonOption = False) -> int:
    """Show who may talk, and who waits to be let in."""
    facts = _load_access(ctx.obj.home)
    if as_json:
        print(json.dumps(facts, ensure_ascii=False, indent=2))
        return 0
    for row in facts["people"]:
        within = f" in {row['group']}" if row["group"] else ""
        print(f"{row['role']:8} {_format_party(row)}{within}  by {row['by']}")
    for row in facts["waiting"]:
        print(
            f"{'waits':8} {_format_party(row)}  "
            f"{'until ' + row['expires'][:16] if row['expires'] else 'group, not allowed'}"
        )
    if facts["locked_until"]:
        print(f"Codes are locked until {facts['locked_until'][:16]} UTC: too many wrong ones.")
    if not facts["people"] and not facts["waiting"]:
        print("Nobody may talk to the bot but this machine, and nobody waits. mnema owner add makes you an owner.")
    return 0


@pair_app.command("approve")
def approve(ctx: typer.Context, code: CodeArgument, channel: ChannelOption = "") -> int:
    """Let in the person who was given this code."""
    body = {"code": code, "channel": channel}
    return _change_access(
        ctx.obj.home, "approve", body, lambda pairing: pairing.approve(code, COMMAND_LINE_ACTOR, channel)
    )


@pair_app.command("deny")
def deny(ctx: typer.Context, code: CodeArgument, channel: ChannelOption = "") -> int:
    """Refuse the person who was given this code; they get no answer from now on."""
    body = {"code": code, "channel": channel}
    return _change_access(ctx.obj.home, "deny", body, lambda pairing: pairing.deny(code, COMMAND_LINE_ACTOR, channel))


@pair_app.command("revoke", context_settings={"ignore_unknown_options": True})
def revoke(ctx: typer.Context, which: AccountArgument) -> int:
    """Take back what a person or a group was given, a refusal too; what they have at work ends."""
    channel, id = _parse_party(which)
    return _change_access(
        ctx.obj.home, "revoke", {"channel": channel, "id": id}, lambda one: one.revoke(channel, id, COMMAND_LINE_ACTOR)
    )


@pair_app.command("group")
def group(ctx: typer.Context, which: AccountArgument) -> int:
    """Let the bot speak in a group."""
    channel, id = _parse_party(which)
    return _change_access(
        ctx.obj.home,
        "group",
        {"channel": channel, "id": id},
        lambda one: one.allow_group(channel, id, COMMAND_LINE_ACTOR),
    )


@pair_app.command("role")
def role(
    ctx: typer.Context,
    which: AccountArgument,
    role: Annotated[str, typer.Argument(help="user or admin.")],
    within: Annotated[str, typer.Option("--group", help="An admin of that group alone, by its id.")] = "",
    yes: YesOption = False,
) -> int:
    """Make somebody who was let in an admin, or an admin a user again."""
    channel, id = _parse_party(which)
    _confirm(f"Make {which} {role}?", yes=yes)
    body = {"channel": channel, "id": id, "role": role, "group": within}
    return _change_access(
        ctx.obj.home, "role", body, lambda one: one.set_role(channel, id, role, COMMAND_LINE_ACTOR, within)
    )


@owner.command("add")
def add(ctx: typer.Context) -> int:
    """Print a code that makes whoever types it first, in a private chat with the bot, an owner."""
    home: HomeFolder = ctx.obj.home
    if home.address():
        code = call_running_bot_now(home, "POST", "/api/access/owner", {}, patience=REQUEST_SECONDS)["code"]
    else:
        code = _with_offline_pairing(home, lambda pairing: pairing.owner_code(COMMAND_LINE_ACTOR), alter=True)
    print(code)
    print(
        "Send it to the bot in a private chat within 10 minutes; whoever does becomes an owner. It works once, and an "
        "earlier code that nobody has typed does not work any more.",
        file=sys.stderr,
    )
    return 0


@owner.command("list")
def owners(ctx: typer.Context) -> int:
    """Show who is an owner."""
    rows = [row for row in _load_access(ctx.obj.home)["people"] if row["role"] == "owner"]
    for row in rows:
        print(f"{_format_party(row)}  by {row['by']}")
    if not rows:
        print("There is no owner but this machine; mnema owner add makes one.")
    return 0


def _format_party(row: Mapping[str, Any]) -> str:
    """Channel and immutable id, then the name they claim, quoted."""
    id = "".join(sign if sign.isprintable() else "?" for sign in row["id"])
    return f"{row['channel']}:{id}" + (f' "{row["name"]}"' if row["name"] else "")


def _parse_party(which: str) -> tuple[str, str]:
    channel, _, id = which.partition(":")
    if not channel or not id:
        raise typer.BadParameter(f"{which!r} names nobody; it must be CHANNEL:ID, such as telegram:42.")
    return channel, id


def _confirm(question: str, *, yes: bool) -> None:
    """Go on only where the person at the terminal says so.

    Raises:
        MnemaError: nobody can be asked.
        typer.Abort: they said no.
    """
    if yes:
        return
    if not sys.stdin.isatty():
        raise MnemaError(f"{question} There is nobody to ask; --yes says that it is meant.")
    typer.confirm(question, abort=True, err=True)


def _load_access(home: HomeFolder) -> Mapping[str, Any]:
    if home.address():
        return call_running_bot_now(home, "GET", "/api/access", patience=REQUEST_SECONDS)
    return _with_offline_pairing(home, lambda pairing: pairing.facts(), alter=False)


def _change_access(
    home: HomeFolder, name: str, body: Mapping[str, str], alone: Callable[[Any], Awaitable[tuple[str, str]]]
) -> int:
    """Do it by the bot that holds this home, or on its record where none does, and say what was done."""
    if home.address():
        print(call_running_bot_now(home, "POST", f"/api/access/{name}", body, patience=REQUEST_SECONDS)["en"])
    else:
        print((_with_offline_pairing(home, alone, alter=True))[1])
    return 0


def _with_offline_pairing(home: HomeFolder, work: Callable[[Any], Awaitable[Answer]], *, alter: bool) -> Answer:
    """What `work` makes of the Pairing of a home that no bot answers for. alter: the store; nobody may hold it then.

    Raises:
        HomeLocked: somebody does.
    """
    from contextlib import nullcontext
    from datetime import UTC, datetime

    from bot.access.pairing import PairingService
    from bot.access.roles import RoleResolver
    from bot.config.file import ConfigFile

    file = ConfigFile(home.config)
    file.load()
    new = not store_exists(home)
    if new:
        home.ensure()

    async def worked() -> Answer:
        async with open_store_for_command(home, writable=new or alter) as record:
            access = record.store.access
            roles = RoleResolver(lambda: file.current, access)
            return await work(
                PairingService(
                    access=access,
                    roles=roles,
                    config=lambda: file.current,
                    now=lambda: datetime.fromtimestamp(record.store.now(), UTC),
                    stop_turn=record.stop,
                )
            )

    with lock_home_for_command(home) if new or alter else nullcontext():
        return asyncio.run(worked())


# `mnema people`: who is known here; all that is kept of a person, taken out or removed.

people_app = typer.Typer(
    help="See who is known here; take out, or remove, what is kept of a person.", no_args_is_help=True
)
PersonArgument = Annotated[str, typer.Argument(metavar="ID", help="CHANNEL:ID such as telegram:42, a space, or owner.")]


@people_app.command("list")
def list_people(ctx: typer.Context, as_json: JsonOption = False) -> int:
    """List everybody of whom something is kept: space, accounts, how much, when last."""

    async def rows(store: Any) -> Any:
        return [(row, await store.links.home(row.space)) for row in await store.people.everyone()]

    nothing: list[Any] = []
    found = run_with_store(ctx.obj.home, rows, none=nothing)
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
        who = ", ".join(_printable(account) for account in row.accounts) or "nobody wrote"
        print(f"{row.space or 'owner'}  {who}  messages {row.messages:,}  {row.updated:%Y-%m-%d %H:%M}{linked}")
    if not found:
        print("Nobody has written yet.")
    return 0


@people_app.command("export")
def export(
    ctx: typer.Context,
    which: PersonArgument,
    out: Annotated[Path | None, typer.Option("--out", help="ZIP file to write [default: one in this folder].")] = None,
) -> int:
    """Write all that is kept of a person into one ZIP file: conversations, files, memories, usage, attachments."""
    from datetime import UTC, datetime

    from bot.cli.sessions.reading_audit import note_reading
    from bot.memory.export import ExportSources, PersonBundle
    from memory.forgetting.person_removal import PersonNotFound, find_person
    from memory.workspace.blobs import Blobs
    from memory.workspace.files import Workspace

    home: HomeFolder = ctx.obj.home
    target = out or Path(f"mnema-{datetime.now():%Y%m%d-%H%M%S}.zip")

    async def look(store: Any) -> Any:
        person = await find_person(store, which)
        return person, [await store.sessions.conversation(id) for id in await store.people.conversations(person)]

    async def write(store: Any) -> Any:
        sources = ExportSources(store=store, workspace=Workspace(home.workspace), blobs=Blobs(home.blobs))
        handle = os.open(target, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            with os.fdopen(handle, "wb") as file:
                return await PersonBundle(sources, file).fill(person, datetime.now(UTC))
        except BaseException:
            with suppress(OSError):
                target.unlink()
            raise

    try:
        person, rows = run_with_store(home, look)
    except PersonNotFound as err:
        raise MnemaError(str(err)) from err
    note_reading(home, [row for row in rows if row is not None], "exported")
    done = run_with_store(home, write)
    print(
        f"{target}: conversations {done.conversations:,}, messages {done.messages:,}, files {done.files:,}, "
        f"memories {done.memories:,}, attachments {done.attachments:,}."
    )
    for name in done.left_out:
        print(f"mnema: left out, for it cannot be read: {name}", file=sys.stderr)
    return 0


@people_app.command("delete")
def delete(
    ctx: typer.Context,
    which: PersonArgument,
    yes: YesOption = False,
) -> int:
    """Remove all that is kept of a person, forever."""
    from memory.forgetting.person_removal import PersonNotFound, find_removable_person

    home: HomeFolder = ctx.obj.home
    try:
        person = run_with_store(home, lambda store: find_removable_person(store, which))
    except PersonNotFound as err:
        raise MnemaError(str(err)) from err
    known = ", ".join(_printable(name) for name in (*person.accounts, *person.spaces))
    if not yes and not typer.confirm(f"Remove all that is kept of {known} for ever?", err=True):
        return 1
    with lock_home(home):
        done = asyncio.run(_remove_person(home, person))
    _print_removal(done, home, person)
    return 0


async def _remove_person(home: HomeFolder, person: Any) -> Any:
    from datetime import UTC

    from bot.memory.files import open_recall, open_removal

    async with open_store_for_command(home, writable=True, alone=True) as record:
        recall = open_recall(home, record.store, UTC, record.indexes)
        try:
            return await open_removal(home, record.store, home.workspace, recall.forget).remove(
                person, COMMAND_LINE_ACTOR
            )
        finally:
            await recall.close()


def _print_removal(done: Any, home: HomeFolder, person: Any) -> None:
    """The receipt: what went, and what is still there and why."""
    gone = f"conversations {done.conversations:,}, other rows {done.rows:,}, files of their memory {done.files:,}"
    print(f"Removed: {gone}, attachments {done.attachments:,}; their index with it.")
    if done.group_messages:
        print(f"Kept: {done.group_messages:,} messages that they wrote in groups; those are the groups'.")
    if done.acts:
        print(f"Kept: {done.acts:,} acts in the audit's chain that name them; a chain with a row less proves nothing.")
    for path in done.backups:
        print(f"Kept: {path}, a copy from before.")
    for account in person.accounts:
        if named := _find_person(home, account):
            print(f"Kept: {account} in config.json under {named}; take it out there.")
    print("Backups made elsewhere hold what they held.")


def _find_person(home: HomeFolder, account: str) -> str:
    """The list of config.json that names that account, "" for none."""
    from bot.config.file import ConfigFile

    file = ConfigFile(home.config)
    file.load()
    channel, _, id = account.partition(":")
    section = getattr(file.current.channels, channel, None)
    for name in ("owners", "allow"):
        if id in (getattr(section, name, None) or ()):
            return f"channels.{channel}.{name}"
    return ""


def _printable(text: str) -> str:
    return "".join(sign if sign.isprintable() else "?" for sign in text)
