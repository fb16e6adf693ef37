"""`mnema channels`: how each channel is, and the login of those that a person logs in."""

import json
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Annotated, Any
from urllib.parse import quote

import typer

from bot.cli.options import JsonOption
from bot.config.home import HomeFolder
from bot.errors import MnemaError

app = typer.Typer(help="How each channel is, and the login of those that a person logs in.")
POLL_SECONDS = 1.0
LOGIN_SECONDS = 600.0  # how long a login is waited for


class BotNotRunning(MnemaError):
    """There is nobody to ask."""


class LoginFailed(MnemaError):
    """It did not come to a login."""


@app.callback(invoke_without_command=True)
def channels(ctx: typer.Context, as_json: JsonOption = False) -> int:
    """How each channel is: beside a running bot as it says, else whether it is on."""
    if ctx.invoked_subcommand is not None:
        return 0
    home: HomeFolder = ctx.obj.home
    told = _running_channels(home) if home.address() else _configured_channels(home)
    if as_json:
        print(json.dumps({"channels": told}, ensure_ascii=False, indent=2))
        return 0
    for name, one in told.items():
        print(_format_channel(name, one))
    return 0


@app.command("login")
def login(ctx: typer.Context, name: Annotated[str, typer.Argument(help="The channel: wechat.")]) -> int:
    """Show the QR code of a channel here, and ask for digits where it wants some, until it is logged in."""
    home: HomeFolder = ctx.obj.home
    if not home.address():
        raise BotNotRunning(_not_running(home, name))
    shown: dict[str, Any] | None = None
    for asked in _iterate_prompts(home, name):
        if asked is not None and asked["kind"] == "wait" and shown is None:
            with suppress(MnemaError):  # somebody is here: it need not wait longer with a new code
                _send_answer(home, name, "")
        if asked is None:
            print(f"{name} is logged in.")
            return 0
        if asked != shown:
            _show_prompt(home, name, asked)
            shown = asked if asked["kind"] != "digits" else {}  # asked for again they are to be typed again
    raise LoginFailed(f"{name} was not logged in within {LOGIN_SECONDS / 60:g} minutes; try it again.")


def _not_running(home: HomeFolder, name: str) -> str:
    if home.running():
        return "The mnema that runs here has no page to ask: set channels.web.enabled to true, and start mnema run."
    return f"mnema run must be running for a login: start it, then mnema channels login {name} again."


def _iterate_prompts(home: HomeFolder, name: str) -> Iterator[dict[str, Any] | None]:
    """What the channel asks for, again and again; None once it asks for nothing and works."""
    from bot.runtime.store_access import call_running_bot_now

    until = time.monotonic() + LOGIN_SECONDS
    while time.monotonic() < until:
        asked = call_running_bot_now(home, "GET", f"/api/channels/{quote(name, safe='')}/prompt")["prompt"]
        if asked is not None:
            yield asked
        elif (state := _running_channels(home).get(name)) and state["state"] == "up":
            yield None
        time.sleep(POLL_SECONDS)


def _show_prompt(home: HomeFolder, name: str, asked: dict[str, Any]) -> None:
    """Put one prompt before the person."""
    from bot.console.channels import draw_qr_text
    from bot.texts import detect_machine_language

    if asked["kind"] == "qr":
        print(draw_qr_text(asked["text"], coloured=sys.stdout.isatty()))
    print(asked[detect_machine_language()])
    if asked["kind"] == "digits":
        try:
            _send_answer(home, name, typer.prompt("", prompt_suffix="> "))
        except MnemaError as err:
            print(err, file=sys.stderr)


def _send_answer(home: HomeFolder, name: str, text: str) -> None:
    from bot.runtime.store_access import call_running_bot_now

    call_running_bot_now(home, "POST", f"/api/channels/{quote(name, safe='')}/answer", {"text": text})


def _running_channels(home: HomeFolder) -> dict[str, Any]:
    from bot.runtime.store_access import call_running_bot_now

    told: dict[str, Any] = call_running_bot_now(home, "GET", "/api/status")["channels"]
    return told


def _configured_channels(home: HomeFolder) -> dict[str, Any]:
    """Which channels `mnema run` would start."""
    from bot.config.file import ConfigFile

    file = ConfigFile(home.config)
    file.load()
    return {name: {"up": False, "state": "on" if section.on else "off"} for name, section in file.current.channels}


def _format_channel(name: str, one: dict[str, Any]) -> str:
    if one["state"] == "off":
        return f"○ {name} — off"
    if one["state"] == "on":
        return f"○ {name} — on, but mnema run does not run"
    from bot.gateway.channel_status import channel_status_from_json, format_channel_status
    from bot.texts import detect_machine_language

    return format_channel_status(channel_status_from_json(name, one), time.time(), detect_machine_language())
