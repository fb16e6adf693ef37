"""`mnema pair`, `mnema owner` and `mnema people`: access to the bot, and the data of people."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from bot.cli.common import (
    COMMAND_LINE_ACTOR,
    JsonOption,
    YesOption,
    confirm,
    note_reading,
    print_json,
    printable,
    run_offline,
)
from bot.config.home import HomeFolder
from bot.errors import MnemaError
from bot.runtime.store_access import (
    OpenedStore,
    call_running_bot_now,
    lock_home,
    open_store_for_command,
    run_with_store,
)
from bot.texts import detect_machine_language, show_before_messages
from channels.phrases import AnyPhrase, Phrase

pair_app = typer.Typer(
    help="List who may talk to the bot and who asks to; approve, deny, revoke.",
    no_args_is_help=True,
)
owner_app = typer.Typer(help="Make a person an owner, and list the owners.", no_args_is_help=True)
REQUEST_SECONDS = 30.0  # timeout of requests to a running bot
Answer = TypeVar("Answer")
CodeArgument = Annotated[
    str, typer.Argument(help="The code that the person received, such as ABCD-EFGH.")
]
ChannelOption = Annotated[str, typer.Option("--channel", help="Only a code of this channel.")]
AccountArgument = Annotated[
    str, typer.Argument(metavar="CHANNEL:ID", help="A person or group, such as telegram:42.")
]


@pair_app.command("list")
def list_requests(ctx: typer.Context, as_json: JsonOption = False) -> int:
    """List who may talk to the bot, and open requests."""
    facts = _load_access(ctx.obj)
    if as_json:
        print_json(facts)
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
        until = facts["locked_until"][:16]
        locked = Phrase("Too many wrong codes: pairing is locked until {until} UTC.", until=until)
        print(show_before_messages(locked))
    if not facts["people"] and not facts["waiting"]:
        print(
            show_before_messages(
                Phrase(
                    "Only this machine has access, and no requests are pending. mnema owner add "
                    "makes you an owner."
                )
            )
        )
    return 0


@pair_app.command("approve")
def approve(ctx: typer.Context, code: CodeArgument, channel: ChannelOption = "") -> int:
    """Give access to the person who received this code."""
    body = {"code": code, "channel": channel}
    return _change_access(
        ctx.obj, "approve", body, lambda it: it.approve(code, COMMAND_LINE_ACTOR, channel)
    )


@pair_app.command("deny")
def deny(ctx: typer.Context, code: CodeArgument, channel: ChannelOption = "") -> int:
    """Deny the person who received this code; they get no answer from now on."""
    body = {"code": code, "channel": channel}
    return _change_access(
        ctx.obj, "deny", body, lambda it: it.deny(code, COMMAND_LINE_ACTOR, channel)
    )


@pair_app.command("revoke", context_settings={"ignore_unknown_options": True})
def revoke(ctx: typer.Context, which: AccountArgument) -> int:
    """Revoke the access, or the denial, of a person or a group; their running turns stop."""
    channel, id = _parse_party(which)
    body = {"channel": channel, "id": id}
    return _change_access(
        ctx.obj, "revoke", body, lambda it: it.revoke(channel, id, COMMAND_LINE_ACTOR)
    )


@pair_app.command("group")
def group(ctx: typer.Context, which: AccountArgument) -> int:
    """Allow the bot in a group."""
    channel, id = _parse_party(which)
    body = {"channel": channel, "id": id}
    return _change_access(
        ctx.obj, "group", body, lambda it: it.allow_group(channel, id, COMMAND_LINE_ACTOR)
    )


@pair_app.command("role")
def role(
    ctx: typer.Context,
    which: AccountArgument,
    role: Annotated[str, typer.Argument(help="user or admin.")],
    within: Annotated[
        str, typer.Option("--group", help="Id of a group, to give the role only there.")
    ] = "",
    yes: YesOption = False,
) -> int:
    """Make a person with access an admin, or an admin a user again."""
    channel, id = _parse_party(which)
    confirm(f"Make {which} {role}?", yes=yes)
    body = {"channel": channel, "id": id, "role": role, "group": within}
    return _change_access(
        ctx.obj, "role", body, lambda it: it.set_role(channel, id, role, COMMAND_LINE_ACTOR, within)
    )


@owner_app.command("add")
def add(ctx: typer.Context) -> int:
    """Print a code; the first person who sends it to the bot in a private chat becomes an owner."""
    home: HomeFolder = ctx.obj
    if home.address():
        code = call_running_bot_now(
            home, "POST", "/api/v1/access/owner", {}, patience=REQUEST_SECONDS
        )["code"]
    else:
        code = _run_offline(home, lambda it: it.owner_code(COMMAND_LINE_ACTOR), write=True)
    print(code)
    hint = Phrase(
        "Send this code to the bot in a private chat within 10 minutes to become an owner. It "
        "works once; any earlier unused code no longer works."
    )
    print(show_before_messages(hint), file=sys.stderr)
    return 0


@owner_app.command("list")
def owners(ctx: typer.Context) -> int:
    """List the owners."""
    rows = [row for row in _load_access(ctx.obj)["people"] if row["role"] == "owner"]
    for row in rows:
        print(f"{_format_party(row)}  by {row['by']}")
    if not rows:
        print(
            show_before_messages(
                Phrase("Only this machine is an owner so far; mnema owner add adds a person.")
            )
        )
    return 0


def _format_party(row: Mapping[str, Any]) -> str:
    """Format channel and immutable id, then the name that the person claims, quoted."""
    return f"{row['channel']}:{printable(row['id'])}" + (f' "{row["name"]}"' if row["name"] else "")


def _parse_party(which: str) -> tuple[str, str]:
    channel, _, id = which.partition(":")
    if not channel or not id:
        raise typer.BadParameter(
            f"{which!r} is no account; it must be CHANNEL:ID, such as telegram:42."
        )
    return channel, id


def _load_access(home: HomeFolder) -> Mapping[str, Any]:
    if home.address():
        return call_running_bot_now(home, "GET", "/api/v1/access", patience=REQUEST_SECONDS)
    return _run_offline(home, lambda it: it.facts(), write=False)


def _change_access(
    home: HomeFolder,
    name: str,
    body: Mapping[str, str],
    offline: Callable[[Any], Awaitable[AnyPhrase]],
) -> int:
    """Change access through the running bot, or in the store if none runs; print the result."""
    if home.address():
        texts = call_running_bot_now(
            home, "POST", f"/api/v1/access/{name}", body, patience=REQUEST_SECONDS
        )
        text = str(texts[detect_machine_language()])
    else:
        from bot.access.pairing import PairingRefused

        try:
            text = show_before_messages(_run_offline(home, offline, write=True))
        except PairingRefused as err:
            raise MnemaError(show_before_messages(err.phrase)) from err
    print(text.replace("`", ""))  # a mark of code in a chat
    return 0


def _run_offline(
    home: HomeFolder, work: Callable[[Any], Awaitable[Answer]], *, write: bool
) -> Answer:
    """Run `work` with the PairingService of a home without a running bot."""
    from datetime import UTC, datetime

    from bot.access.pairing import PairingService
    from bot.access.roles import RoleResolver
    from bot.config.file import ConfigFile

    file = ConfigFile(home.config)
    file.load()

    async def open_and_run(opened: OpenedStore) -> Answer:
        access = opened.store.access
        return await work(
            PairingService(
                access=access,
                roles=RoleResolver(lambda: file.current, access),
                config=lambda: file.current,
                now=lambda: datetime.fromtimestamp(opened.store.now(), UTC),
                stop_turn=opened.stop,
            )
        )

    return run_offline(home, open_and_run, lock=write, writable=write)


people_app = typer.Typer(
    help="List people; export or delete the data of a person.", no_args_is_help=True
)
PersonArgument = Annotated[
    str, typer.Argument(metavar="ID", help="CHANNEL:ID such as telegram:42, a space, or owner.")
]


@people_app.command("list")
def list_people(ctx: typer.Context, as_json: JsonOption = False) -> int:
    """List everyone with stored data: space, accounts, number of messages, newest activity."""

    async def load(store: Any) -> Any:
        return [
            (row, await store.links.linked_space(row.space))
            for row in await store.people.load_people()
        ]

    rows: list[Any] = run_with_store(ctx.obj, load, none=[])
    if as_json:
        print_json(
            [
                {
                    "space": row.space,
                    "memory_of": memory_space,
                    "accounts": row.accounts,
                    "conversations": row.conversations,
                    "messages": row.messages,
                    "updated_at": row.updated.isoformat(),
                }
                for row, memory_space in rows
            ]
        )
        return 0
    for row, memory_space in rows:
        linked = "" if memory_space == row.space else f"  linked with {memory_space or 'owner'}"
        accounts = ", ".join(map(printable, row.accounts)) or "no account"
        print(
            f"{row.space or 'owner'}  {accounts}  messages {row.messages:,}  "
            f"{row.updated:%Y-%m-%d %H:%M}{linked}"
        )
    if not rows:
        print("No one has written yet.")
    return 0


@people_app.command("export")
def export(
    ctx: typer.Context,
    which: PersonArgument,
    out: Annotated[
        Path | None, typer.Option("--out", help="ZIP file to write [default: one in this folder].")
    ] = None,
) -> int:
    """Write all data of a person into a ZIP file: conversations, files, memories, usage,
    attachments.
    """
    from datetime import UTC, datetime

    from bot.access.person_deletion import describe_not_found
    from bot.memory.export import PersonBundle
    from memory.forgetting.person_removal import PersonNotFound, find_person
    from memory.workspace.blobs import Blobs
    from memory.workspace.files import Workspace

    home: HomeFolder = ctx.obj
    target = out or Path(f"mnema-{datetime.now():%Y%m%d-%H%M%S}.zip")

    async def find(store: Any) -> Any:
        person = await find_person(store, which)
        return person, [
            await store.sessions.conversation(id) for id in await store.people.conversations(person)
        ]

    async def write(store: Any) -> Any:
        handle = os.open(target, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            with os.fdopen(handle, "wb") as file:
                bundle = PersonBundle(store, Workspace(home.workspace), Blobs(home.blobs), file)
                return await bundle.fill(person, datetime.now(UTC))
        except BaseException:
            with suppress(OSError):
                target.unlink()
            raise

    try:
        person, rows = run_with_store(home, find)
    except PersonNotFound as err:
        raise MnemaError(str(describe_not_found(err))) from err
    note_reading(home, [row for row in rows if row is not None], "exported")
    done = run_with_store(home, write)
    print(
        f"{target}: conversations {done.conversations:,}, messages {done.messages:,}, files "
        f"{done.files:,}, memories {done.memories:,}, jobs {done.jobs:,}, versions of files "
        f"{done.versions:,}, attachments {done.attachments:,}."
    )
    for name in done.left_out:
        print(f"mnema: left out, because it cannot be read: {name}", file=sys.stderr)
    return 0


@people_app.command("delete")
def delete(
    ctx: typer.Context,
    which: PersonArgument,
    yes: YesOption = False,
) -> int:
    """Delete all data of a person permanently."""
    from bot.access.person_deletion import describe_not_found
    from memory.forgetting.person_removal import PersonNotFound, find_removable_person

    home: HomeFolder = ctx.obj
    try:
        person = run_with_store(home, lambda store: find_removable_person(store, which))
    except PersonNotFound as err:
        raise MnemaError(str(describe_not_found(err))) from err
    names = ", ".join(map(printable, (*person.accounts, *person.spaces)))
    if not yes and not typer.confirm(f"Delete all data of {names} permanently?", err=True):
        return 1
    with lock_home(home):
        done = asyncio.run(_remove_person(home, person))
    _print_removal(done, home, person)
    return 0


async def _remove_person(home: HomeFolder, person: Any) -> Any:
    from datetime import UTC

    from bot.memory.search import open_recall, open_removal

    async with open_store_for_command(home, writable=True, alone=True) as opened:
        recall = open_recall(home, opened.store, UTC, opened.indexes)
        try:
            removal = open_removal(home, opened.store, home.workspace, recall.forget)
            return await removal.remove(person, COMMAND_LINE_ACTOR)
        finally:
            await recall.close()


def _print_removal(done: Any, home: HomeFolder, person: Any) -> None:
    """Print what was deleted, and what remains and why."""
    gone = (
        f"conversations {done.conversations:,}, other rows {done.rows:,}, files of their memory "
        f"{done.files:,}"
    )
    print(f"Removed: {gone}, attachments {done.attachments:,}; their index with it.")
    if done.group_messages:
        print(
            f"Kept: {done.group_messages:,} messages that they wrote in groups; those are the "
            "groups'."
        )
    if done.acts:
        print(
            f"Kept: {done.acts:,} audit rows that name them; without them the chain would prove "
            "nothing."
        )
    if not done.is_compacted:
        print("Kept: deleted bytes in the database's log, because another program is reading it.")
    for path in done.backups:
        print(f"Kept: {path}, an older copy.")
    for account in person.accounts:
        for key in _find_in_config(home, account):
            print(f"Kept: {account} in config.json under {key}; remove it there.")
    print("Backups elsewhere still hold their copies.")


def _find_in_config(home: HomeFolder, account: str) -> tuple[str, ...]:
    """Return the keys of config.json that name this account."""
    from bot.access.person_deletion import find_in_config
    from bot.config.file import ConfigFile

    file = ConfigFile(home.config)
    file.load()
    return find_in_config(file.current.channels, [account])
