"""The doctor's look at the channels: a running bot is asked how they are, without one each of them is tried."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import partial
from typing import Any, cast

from bot.cli.client import ask_running
from bot.cli.doctor.check import Check
from bot.config.file import ConfigFile
from bot.config.home import Home
from bot.config.keys import known_secrets
from bot.config.schema import Config
from bot.errors import ConfigError, MnemaError
from bot.gateway.channel_manager import begun_in, channel_of, lacking, turned_off
from bot.gateway.channel_status import State, how, of_json, trouble_of
from bot.runtime.store_access import exists, opened
from bot.telemetry.log import Redactor
from channels.base import Channel, Keeping, Probing
from channels.errors import ChannelError
from memory.store.errors import StoreError
from memory.store.store import Notes

ANSWER_SECONDS = 10.0
"""How long a platform may take to say who we are."""
Made = Callable[[Config, str], Channel]


async def check_channels(
    home: Home, file: ConfigFile, *, made: Made = channel_of, patience: float = ANSWER_SECONDS
) -> list[Check]:
    """How every channel is that is on, or that somebody has begun to set up.

    Args:
        made: builds a channel by its name. patience: seconds that its platform may take to say who we are.
    """
    sections, begun = dict(file.current.channels), begun_in(file)
    lack = [
        _lacking(name, empty) for name, section in sections.items() if name in begun and (empty := lacking(section))
    ]
    on = [name for name, section in sections.items() if section.on]
    lack += [_off(name) for name, section in sections.items() if turned_off(section) and section.complete]
    lack += _unsealed(file.current)
    if home.address():
        return [*await _asked(home, on), *lack]
    async with AsyncExitStack() as held:
        notes = await _notes(home, held)
        tries = [_tried(name, partial(made, file.current, name), _Borrowed(notes, name), patience) for name in on]
        hide = Redactor(known_secrets(file.current))
        tried = [replace(check, message=hide(check.message)) for check in await asyncio.gather(*tries)]
    return [*tried, *lack]


def _lacking(name: str, empty: Sequence[str]) -> Check:
    """A channel that somebody has begun to set up."""
    message = f"It has settings but does not start: {' and '.join(empty)} is empty."
    hint = f"Set channels.{name}.{empty[0]}, or the environment variable it reads."
    return _check(name, message, ok=False, hint=hint)


def _off(name: str) -> Check:
    """A channel with credentials that config.json turns off: meant so, or left so in a copy of the example."""
    hint = f"Set channels.{name}.enabled to true to start it."
    return _check(name, "It has credentials, but enabled is false: it does not start.", hint=hint)


def _unsealed(config: Config) -> list[Check]:
    """An official account whose calls anybody on their way could write."""
    section = config.channels.wechat_mp
    if not section.on or section.encoding_aes_key:
        return []
    message = "Its calls come unencrypted: whoever is on their way can write them, so nobody is more than a guest."
    hint = "Choose safe mode (安全模式) at the platform, and set channels.wechat_mp.encoding_aes_key to its key."
    return [Check(name="channel wechat_mp safe mode", ok=False, message=message, hint=hint)]


async def _asked(home: Home, on: list[str]) -> list[Check]:
    """What the running bot says of them."""
    try:
        told = (await ask_running(home, "GET", "/api/status"))["channels"]
    except MnemaError as err:
        return [Check(name="channels", ok=False, message=str(err), hint="Look into data/log/mnema.log, or restart it.")]
    return [_running(name, of_json(name, told[name]) if name in told else None) for name in on]


def _running(name: str, state: State | None) -> Check:
    if state is None:
        hint = "data/log/mnema.log says why; mnema config check says what of it is in the configuration."
        return _check(name, "It is on, but the running bot has not started it.", ok=False, hint=hint)
    said = how(state, time.time(), "en")
    hint = "" if state.ready else _hint(name, state.mood, asks=state.asks)
    return _check(name, f"{said[:1].upper()}{said[1:]}.", ok=state.ready, hint=hint)


async def _notes(home: Home, held: AsyncExitStack) -> Notes | None:
    """What channels have kept; None where there is no record, or one that says elsewhere what is wrong with it."""
    try:
        if not exists(home):
            return None
        record = await held.enter_async_context(opened(home))
    except (StoreError, ConfigError):
        return None
    notes: Notes = record.store.notes
    return notes


async def _tried(name: str, made: Callable[[], Channel], notebook: "_Borrowed", patience: float) -> Check:
    """It is asked who we are; nothing is received or sent, and nothing on disk is changed."""
    if name == "web":
        return _check(name, "It is on.")
    try:
        channel = made()
    except ConfigError as err:
        return _check(name, str(err), ok=False)
    if not hasattr(channel, "probe"):
        return _check(name, "It is on; only mnema run can try it.")
    asks = hasattr(channel, "prompt")
    try:
        async with asyncio.timeout(patience):
            return _check(name, f"It is on and answers: {await _who(channel, notebook)}.")
    except TimeoutError:
        mood, message = "down", f"It gave no answer in {patience:g} seconds."
    except ChannelError as err:
        mood, message = trouble_of(err), f"{err}."
    except (OSError, RuntimeError, ValueError, ImportError) as err:
        mood, message = "down", f"Trying it broke: {type(err).__name__}: {err}."
    return _check(name, message, ok=False, hint=_hint(name, mood, asks=asks))


async def _who(channel: Channel, notebook: "_Borrowed") -> str:
    if hasattr(channel, "bind"):
        cast(Keeping, channel).bind(notebook)
    try:
        return await cast(Probing, channel).probe()
    finally:
        if (closing := getattr(channel, "close", None)) is not None:
            await closing()


def _hint(name: str, mood: str, *, asks: bool) -> str:
    """What to do about it."""
    if mood in ("logged_out", "asking") and asks:
        return f"With mnema run running: mnema channels login {name}, or scan the code under Channels in the page."
    if mood == "logged_out":
        return f"Set the credentials in channels.{name} anew; the platform does not take those that are there."
    if mood == "contended":
        return f"Stop the other program that uses this account, or set channels.{name}.enabled to false here."
    return f"Check the network, and addresses and proxy in channels.{name}; mnema run tries it again by itself."


def _check(name: str, message: str, *, ok: bool = True, hint: str = "") -> Check:
    return Check(name=f"channel {name}", ok=ok, message=message, hint=hint)


class _Borrowed:
    """A channel's notebook while it is tried: what it wrote down before can be read, what it writes now is not kept."""

    def __init__(self, notes: Notes | None, channel: str) -> None:
        self._notes = notes
        self._channel = channel
        self._new: dict[str, Any] = {}

    async def read(self, start: str = "") -> dict[str, str]:
        old = await self._notes.read(self._channel, start) if self._notes else {}
        new = {name: text for name, text in self._new.items() if name.startswith(start)}
        return {name: text for name, text in {**old, **new}.items() if text}

    async def write(self, values: Mapping[str, str]) -> None:
        self._new.update(values)
