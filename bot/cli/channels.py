"""`mnema channels`: how each channel is, and the login of those that a person logs in."""

import json
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Annotated, Any
from urllib.parse import quote

import typer

from bot.config.home import Home
from bot.errors import MnemaError

app = typer.Typer(help="How each channel is, and the login of those that a person logs in.")
LOOK_EVERY = 1.0
LOGIN_SECONDS = 600.0
"""How long a login is waited for."""
AsJson = Annotated[bool, typer.Option("--json", help="As JSON.")]


class NotRunning(MnemaError):
    """There is nobody to ask."""


class NotLoggedIn(MnemaError):
    """It did not come to a login."""


@app.callback(invoke_without_command=True)
def channels(ctx: typer.Context, as_json: AsJson = False) -> int:
    """How each channel is: beside a running bot as it says, else whether it is on."""
    if ctx.invoked_subcommand is not None:
        return 0
    home: Home = ctx.obj.home
    told = _running(home) if home.address() else _alone(home)
    if as_json:
        print(json.dumps({"channels": told}, ensure_ascii=False, indent=2))
        return 0
    for name, one in told.items():
        print(_line(name, one))
    return 0


@app.command("login")
def login(ctx: typer.Context, name: Annotated[str, typer.Argument(help="The channel: wechat.")]) -> int:
    """Show the QR code of a channel here, and ask for digits where it wants some, until it is logged in."""
    home: Home = ctx.obj.home
    if not home.address():
        raise NotRunning(_nobody(home, name))
    shown: dict[str, Any] | None = None
    for asked in _prompts(home, name):
        if asked is not None and asked["kind"] == "wait" and shown is None:
            with suppress(MnemaError):  # somebody is here: it need not wait longer with a new code
                _answer(home, name, "")
        if asked is None:
            print(f"{name} is logged in.")
            return 0
        if asked != shown:
            _show(home, name, asked)
            shown = asked if asked["kind"] != "digits" else {}  # asked for again they are to be typed again
    raise NotLoggedIn(f"{name} was not logged in within {LOGIN_SECONDS / 60:g} minutes; try it again.")


def _nobody(home: Home, name: str) -> str:
    if home.running():
        return "The mnema that runs here has no page to ask: set channels.web.enabled to true, and start mnema run."
    return f"mnema run must be running for a login: start it, then mnema channels login {name} again."


def _prompts(home: Home, name: str) -> Iterator[dict[str, Any] | None]:
    """What the channel asks for, again and again; None once it asks for nothing and works."""
    from bot.cli.client import of_running

    until = time.monotonic() + LOGIN_SECONDS
    while time.monotonic() < until:
        asked = of_running(home, "GET", f"/api/channels/{quote(name, safe='')}/prompt")["prompt"]
        if asked is not None:
            yield asked
        elif (state := _running(home).get(name)) and state["state"] == "up":
            yield None
        time.sleep(LOOK_EVERY)


def _show(home: Home, name: str, asked: dict[str, Any]) -> None:
    """Put one prompt before the person."""
    from bot.console.channels import blocks
    from bot.texts import machine_language

    if asked["kind"] == "qr":
        print(blocks(asked["text"], coloured=sys.stdout.isatty()))
    print(asked[machine_language()])
    if asked["kind"] == "digits":
        try:
            _answer(home, name, typer.prompt("", prompt_suffix="> "))
        except MnemaError as err:
            print(err, file=sys.stderr)


def _answer(home: Home, name: str, text: str) -> None:
    from bot.cli.client import of_running

    of_running(home, "POST", f"/api/channels/{quote(name, safe='')}/answer", {"text": text})


def _running(home: Home) -> dict[str, Any]:
    from bot.cli.client import of_running

    told: dict[str, Any] = of_running(home, "GET", "/api/status")["channels"]
    return told


def _alone(home: Home) -> dict[str, Any]:
    """Which channels `mnema run` would start."""
    from bot.config.file import ConfigFile

    file = ConfigFile(home.config)
    file.load()
    return {name: {"up": False, "state": "on" if section.on else "off"} for name, section in file.current.channels}


def _line(name: str, one: dict[str, Any]) -> str:
    if one["state"] == "off":
        return f"○ {name} — off"
    if one["state"] == "on":
        return f"○ {name} — on, but mnema run does not run"
    from bot.gateway.channel_status import in_words, of_json
    from bot.texts import machine_language

    return in_words(of_json(name, one), time.time(), machine_language())
