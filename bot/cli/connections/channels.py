"""`mnema channels`: the state of each channel, and the login of channels that a person logs in
to.
"""

import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Annotated, Any
from urllib.parse import quote

import typer

from bot.cli.common import JsonOption, print_json
from bot.config.home import HomeFolder
from bot.errors import MnemaError
from bot.runtime.store_access import call_running_bot_now

app = typer.Typer(help="Show the state of each channel; log in to channels that need it.")
POLL_SECONDS = 1.0
LOGIN_SECONDS = 600.0  # timeout of a login


class BotNotRunning(MnemaError):
    """No bot with a page is running on this home."""


class LoginFailed(MnemaError):
    """The login did not finish in time."""


@app.callback(invoke_without_command=True)
def channels(ctx: typer.Context, as_json: JsonOption = False) -> int:
    """Show the state of each channel: from the running bot, else from the configuration."""
    if ctx.invoked_subcommand is not None:
        return 0
    home: HomeFolder = ctx.obj
    states = _running_channels(home) if home.address() else _configured_channels(home)
    if as_json:
        print_json({"channels": states})
        return 0
    for name, state in states.items():
        print(_format_channel(name, state))
    return 0


@app.command("login")
def login(
    ctx: typer.Context, name: Annotated[str, typer.Argument(help="The channel: wechat.")]
) -> int:
    """Show the QR code of a channel, and ask for digits if it wants some, until it is logged in."""
    home: HomeFolder = ctx.obj
    if not home.address():
        raise BotNotRunning(_not_running(home, name))
    shown: dict[str, Any] | None = None
    for prompt in _iterate_prompts(home, name):
        if prompt is None:
            print(f"{name} is logged in.")
            return 0
        if prompt["kind"] == "wait" and shown is None:
            # a person is here now: the channel need not wait longer with a new code
            with suppress(MnemaError):
                _send_answer(home, name, "")
        if prompt != shown:
            _show_prompt(home, name, prompt)
            # the same prompt again asks for new digits
            shown = prompt if prompt["kind"] != "digits" else {}
    raise LoginFailed(f"{name} was not logged in within {LOGIN_SECONDS / 60:g} minutes; try again.")


def _not_running(home: HomeFolder, name: str) -> str:
    if home.running():
        return (
            "The running mnema has no page: set channels.web.enabled to true, and start mnema run "
            "again."
        )
    return (
        f"mnema run must be running for a login: start it, then mnema channels login {name} again."
    )


def _iterate_prompts(home: HomeFolder, name: str) -> Iterator[dict[str, Any] | None]:
    """Poll the channel's prompt; yields None once it has none and works."""
    deadline = time.monotonic() + LOGIN_SECONDS
    while time.monotonic() < deadline:
        prompt = call_running_bot_now(
            home, "GET", f"/api/v1/channels/{quote(name, safe='')}/prompt"
        )["prompt"]
        if prompt is not None:
            yield prompt
        elif (state := _running_channels(home).get(name)) and state["state"] == "up":
            yield None
        time.sleep(POLL_SECONDS)


def _show_prompt(home: HomeFolder, name: str, prompt: dict[str, Any]) -> None:
    from bot.console.channels import draw_qr_text
    from bot.texts import detect_machine_language

    if prompt["kind"] == "qr":
        print(draw_qr_text(prompt["text"], coloured=sys.stdout.isatty()))
    print(prompt[detect_machine_language()])
    if prompt["kind"] == "digits":
        try:
            _send_answer(home, name, typer.prompt("", prompt_suffix="> "))
        except MnemaError as err:
            print(err, file=sys.stderr)


def _send_answer(home: HomeFolder, name: str, text: str) -> None:
    call_running_bot_now(
        home, "POST", f"/api/v1/channels/{quote(name, safe='')}/answer", {"text": text}
    )


def _running_channels(home: HomeFolder) -> dict[str, Any]:
    states: dict[str, Any] = call_running_bot_now(home, "GET", "/api/status")["channels"]
    return states


def _configured_channels(home: HomeFolder) -> dict[str, Any]:
    """Return which channels `mnema run` would start."""
    from bot.config.file import ConfigFile

    file = ConfigFile(home.config)
    file.load()
    return {
        name: {"up": False, "state": "on" if section.on else "off"}
        for name, section in file.current.channels
    }


def _format_channel(name: str, state: dict[str, Any]) -> str:
    if state["state"] == "off":
        return f"○ {name} — off"
    if state["state"] == "on":
        return f"○ {name} — on, but mnema run does not run"
    from bot.gateway.channel_status import channel_status_from_json, format_channel_status
    from bot.texts import detect_machine_language

    return format_channel_status(
        channel_status_from_json(name, state), time.time(), detect_machine_language()
    )
