"""`mnema pair` and `mnema owner`: who may talk to the bot, decided on this machine."""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any, TypeVar

import typer

from bot.errors import MnemaError
from bot.home import Home
from bot.record import exists, held, opened
from bot.running import of_running

app = typer.Typer(help="See who asks to talk to the bot; let them in, refuse them, take it back.", no_args_is_help=True)
owner = typer.Typer(help="Make somebody an owner, and see who is one.", no_args_is_help=True)
PATIENCE = 30.0
BY = "command line"
Answer = TypeVar("Answer")
Code = Annotated[str, typer.Argument(help="The code that they were given, such as ABCD-EFGH.")]
Channel = Annotated[str, typer.Option("--channel", help="Only a code of that channel.")]
Which = Annotated[str, typer.Argument(metavar="CHANNEL:ID", help="Such as telegram:42.")]
AsJson = Annotated[bool, typer.Option("--json", help="As JSON.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask whether it is meant.")]


@app.command("list")
def listing(ctx: typer.Context, as_json: AsJson = False) -> int:
    """Show who may talk, and who waits to be let in."""
    facts = _facts(ctx.obj.home)
    if as_json:
        print(json.dumps(facts, ensure_ascii=False, indent=2))
        return 0
    for row in facts["people"]:
        within = f" in {row['group']}" if row["group"] else ""
        print(f"{row['role']:8} {_named(row)}{within}  by {row['by']}")
    for row in facts["waiting"]:
        print(
            f"{'waits':8} {_named(row)}  {'until ' + row['expires'][:16] if row['expires'] else 'group, not allowed'}"
        )
    if facts["locked_until"]:
        print(f"Codes are locked until {facts['locked_until'][:16]} UTC: too many wrong ones.")
    if not facts["people"] and not facts["waiting"]:
        print("Nobody may talk to the bot but this machine, and nobody waits. mnema owner add makes you an owner.")
    return 0


@app.command("approve")
def approve(ctx: typer.Context, code: Code, channel: Channel = "") -> int:
    """Let in the person who was given this code."""
    body = {"code": code, "channel": channel}
    return _done(ctx.obj.home, "approve", body, lambda pairing: pairing.approve(code, BY, channel))


@app.command("deny")
def deny(ctx: typer.Context, code: Code, channel: Channel = "") -> int:
    """Refuse the person who was given this code; they get no answer from now on."""
    body = {"code": code, "channel": channel}
    return _done(ctx.obj.home, "deny", body, lambda pairing: pairing.deny(code, BY, channel))


@app.command("revoke", context_settings={"ignore_unknown_options": True})
def revoke(ctx: typer.Context, which: Which) -> int:
    """Take back what a person or a group was given, a refusal too; what they have at work ends."""
    channel, id = _party(which)
    return _done(ctx.obj.home, "revoke", {"channel": channel, "id": id}, lambda one: one.revoke(channel, id, BY))


@app.command("group")
def group(ctx: typer.Context, which: Which) -> int:
    """Let the bot speak in a group."""
    channel, id = _party(which)
    return _done(ctx.obj.home, "group", {"channel": channel, "id": id}, lambda one: one.allow_group(channel, id, BY))


@app.command("role")
def role(
    ctx: typer.Context,
    which: Which,
    role: Annotated[str, typer.Argument(help="user or admin.")],
    within: Annotated[str, typer.Option("--group", help="An admin of that group alone, by its id.")] = "",
    yes: Yes = False,
) -> int:
    """Make somebody who was let in an admin, or an admin a user again."""
    channel, id = _party(which)
    _meant(f"Make {which} {role}?", yes=yes)
    body = {"channel": channel, "id": id, "role": role, "group": within}
    return _done(ctx.obj.home, "role", body, lambda one: one.set_role(channel, id, role, BY, within))


@owner.command("add")
def add(ctx: typer.Context) -> int:
    """Print a code that makes whoever types it first, in a private chat with the bot, an owner."""
    home: Home = ctx.obj.home
    if home.address():
        code = of_running(home, "POST", "/api/access/owner", {}, patience=PATIENCE)["code"]
    else:
        code = _alone(home, lambda pairing: pairing.owner_code(BY), alter=True)
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
    rows = [row for row in _facts(ctx.obj.home)["people"] if row["role"] == "owner"]
    for row in rows:
        print(f"{_named(row)}  by {row['by']}")
    if not rows:
        print("There is no owner but this machine; mnema owner add makes one.")
    return 0


def _named(row: Mapping[str, Any]) -> str:
    """Channel and immutable id, then the name they claim, quoted."""
    id = "".join(sign if sign.isprintable() else "?" for sign in row["id"])
    return f"{row['channel']}:{id}" + (f' "{row["name"]}"' if row["name"] else "")


def _party(which: str) -> tuple[str, str]:
    channel, _, id = which.partition(":")
    if not channel or not id:
        raise typer.BadParameter(f"{which!r} names nobody; it must be CHANNEL:ID, such as telegram:42.")
    return channel, id


def _meant(question: str, *, yes: bool) -> None:
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


def _facts(home: Home) -> Mapping[str, Any]:
    if home.address():
        return of_running(home, "GET", "/api/access", patience=PATIENCE)
    return _alone(home, lambda pairing: pairing.facts(), alter=False)


def _done(home: Home, name: str, body: Mapping[str, str], alone: Callable[[Any], Awaitable[tuple[str, str]]]) -> int:
    """Do it by the bot that holds this home, or on its record where none does, and say what was done."""
    if home.address():
        print(of_running(home, "POST", f"/api/access/{name}", body, patience=PATIENCE)["en"])
    else:
        print((_alone(home, alone, alter=True))[1])
    return 0


def _alone(home: Home, work: Callable[[Any], Awaitable[Answer]], *, alter: bool) -> Answer:
    """What `work` makes of the Pairing of a home that no bot answers for. alter: the record; nobody may hold it then.

    Raises:
        Busy: somebody does.
    """
    from contextlib import nullcontext
    from datetime import UTC, datetime

    from bot.config import ConfigFile
    from bot.pairing import Pairing
    from bot.roles import Roles

    file = ConfigFile(home.config)
    file.load()
    new = not exists(home)
    if new:
        home.ensure()

    async def worked() -> Answer:
        async with opened(home, writable=new or alter) as record:
            access = record.store.access
            roles = Roles(lambda: file.current, access)
            return await work(
                Pairing(
                    access=access,
                    roles=roles,
                    config=lambda: file.current,
                    now=lambda: datetime.fromtimestamp(record.store.now(), UTC),
                    ended=record.stop,
                )
            )

    with held(home) if new or alter else nullcontext():
        return asyncio.run(worked())
