"""The doctor's look at the channels: a running bot is asked how they are, without one each of them is tried."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import partial
from typing import Any, cast

from bot.cli.doctor.check import DoctorCheck
from bot.config.file import ConfigFile
from bot.config.home import HomeFolder
from bot.config.keys import known_secrets
from bot.config.schema import Config
from bot.errors import ConfigError, MnemaError
from bot.gateway.channel_manager import build_channel, is_turned_off, missing_credentials, partly_configured_channels
from bot.gateway.channel_status import (
    ChannelStatus,
    channel_status_from_json,
    describe_channel_status,
    trouble_from_error,
)
from bot.runtime.store_access import call_running_bot, open_store_for_command, store_exists
from bot.telemetry.log import LogRedactor
from channels.base import Channel, HasNotebook, HasProbe
from channels.errors import ChannelError
from memory.store.conversations.inbox import ChannelNotes
from memory.store.errors import StoreError

CHANNEL_CHECK_SECONDS = 10.0  # how long a platform may take to say who we are
CreateChannel = Callable[[Config, str], Channel]


async def check_channels(
    home: HomeFolder, file: ConfigFile, *, made: CreateChannel = build_channel, patience: float = CHANNEL_CHECK_SECONDS
) -> list[DoctorCheck]:
    """How every channel is that is on, or that somebody has begun to set up.

    Args:
        made: builds a channel by its name. patience: seconds that its platform may take to say who we are.
    """
    sections, begun = dict(file.current.channels), partly_configured_channels(file)
    lack = [
        _missing_credentials_check(name, empty)
        for name, section in sections.items()
        if name in begun and (empty := missing_credentials(section))
    ]
    on = [name for name, section in sections.items() if section.on]
    lack += [_disabled_check(name) for name, section in sections.items() if is_turned_off(section) and section.complete]
    lack += _unencrypted_check(file.current)
    if home.address():
        return [*await _ask_running_bot(home, on), *lack]
    async with AsyncExitStack() as held:
        notes = await _open_notes(home, held)
        tries = [
            _try_channel(name, partial(made, file.current, name), _ReadOnlyNotebook(notes, name), patience)
            for name in on
        ]
        hide = LogRedactor(known_secrets(file.current))
        tried = [replace(check, message=hide(check.message)) for check in await asyncio.gather(*tries)]
    return [*tried, *lack]


def _missing_credentials_check(name: str, empty: Sequence[str]) -> DoctorCheck:
    """A channel that somebody has begun to set up."""
    message = f"It has settings but does not start: {' and '.join(empty)} is empty."
    hint = f"Set channels.{name}.{empty[0]}, or the environment variable it reads."
    return _build_check(name, message, ok=False, hint=hint)


def _disabled_check(name: str) -> DoctorCheck:
    """A channel with credentials that config.json turns off: meant so, or left so in a copy of the example."""
    hint = f"Set channels.{name}.enabled to true to start it."
    return _build_check(name, "It has credentials, but enabled is false: it does not start.", hint=hint)


def _unencrypted_check(config: Config) -> list[DoctorCheck]:
    """An official account whose calls anybody on their way could write."""
    section = config.channels.wechat_mp
    if not section.on or section.encoding_aes_key:
        return []
    message = "Its calls come unencrypted: whoever is on their way can write them, so nobody is more than a guest."
    hint = "Choose safe mode (安全模式) at the platform, and set channels.wechat_mp.encoding_aes_key to its key."
    return [DoctorCheck(name="channel wechat_mp safe mode", ok=False, message=message, hint=hint)]


async def _ask_running_bot(home: HomeFolder, on: list[str]) -> list[DoctorCheck]:
    """What the running bot says of them."""
    try:
        told = (await call_running_bot(home, "GET", "/api/status"))["channels"]
    except MnemaError as err:
        return [
            DoctorCheck(
                name="channels", ok=False, message=str(err), hint="Look into data/log/mnema.log, or restart it."
            )
        ]
    return [
        _running_channel_check(name, channel_status_from_json(name, told[name]) if name in told else None)
        for name in on
    ]


def _running_channel_check(name: str, state: ChannelStatus | None) -> DoctorCheck:
    if state is None:
        hint = "data/log/mnema.log says why; mnema config check says what of it is in the configuration."
        return _build_check(name, "It is on, but the running bot has not started it.", ok=False, hint=hint)
    said = describe_channel_status(state, time.time(), "en")
    hint = "" if state.ready else _channel_hint(name, state.mood, asks=state.asks)
    return _build_check(name, f"{said[:1].upper()}{said[1:]}.", ok=state.ready, hint=hint)


async def _open_notes(home: HomeFolder, held: AsyncExitStack) -> ChannelNotes | None:
    """What channels have kept; None where there is no record, or one that says elsewhere what is wrong with it."""
    try:
        if not store_exists(home):
            return None
        record = await held.enter_async_context(open_store_for_command(home))
    except (StoreError, ConfigError):
        return None
    notes: ChannelNotes = record.store.notes
    return notes


async def _try_channel(
    name: str, made: Callable[[], Channel], notebook: "_ReadOnlyNotebook", patience: float
) -> DoctorCheck:
    """It is asked who we are; nothing is received or sent, and nothing on disk is changed."""
    if name == "web":
        return _build_check(name, "It is on.")
    try:
        channel = made()
    except ConfigError as err:
        return _build_check(name, str(err), ok=False)
    if not hasattr(channel, "probe"):
        return _build_check(name, "It is on; only mnema run can try it.")
    asks = hasattr(channel, "prompt")
    try:
        async with asyncio.timeout(patience):
            return _build_check(name, f"It is on and answers: {await _identify_channel(channel, notebook)}.")
    except TimeoutError:
        mood, message = "down", f"It gave no answer in {patience:g} seconds."
    except ChannelError as err:
        mood, message = trouble_from_error(err), f"{err}."
    except (OSError, RuntimeError, ValueError, ImportError) as err:
        mood, message = "down", f"Trying it broke: {type(err).__name__}: {err}."
    return _build_check(name, message, ok=False, hint=_channel_hint(name, mood, asks=asks))


async def _identify_channel(channel: Channel, notebook: "_ReadOnlyNotebook") -> str:
    if hasattr(channel, "bind"):
        cast(HasNotebook, channel).bind(notebook)
    try:
        return await cast(HasProbe, channel).probe()
    finally:
        if (closing := getattr(channel, "close", None)) is not None:
            await closing()


def _channel_hint(name: str, mood: str, *, asks: bool) -> str:
    """What to do about it."""
    if mood in ("logged_out", "asking") and asks:
        return f"With mnema run running: mnema channels login {name}, or scan the code under Channels in the page."
    if mood == "logged_out":
        return f"Set the credentials in channels.{name} anew; the platform does not take those that are there."
    if mood == "contended":
        return f"Stop the other program that uses this account, or set channels.{name}.enabled to false here."
    return f"Check the network, and addresses and proxy in channels.{name}; mnema run tries it again by itself."


def _build_check(name: str, message: str, *, ok: bool = True, hint: str = "") -> DoctorCheck:
    return DoctorCheck(name=f"channel {name}", ok=ok, message=message, hint=hint)


class _ReadOnlyNotebook:
    """A channel's notebook while it is tried: what it wrote down before can be read, what it writes now is not kept."""

    def __init__(self, notes: ChannelNotes | None, channel: str) -> None:
        self._notes = notes
        self._channel = channel
        self._new: dict[str, Any] = {}

    async def read(self, start: str = "") -> dict[str, str]:
        old = await self._notes.load(self._channel, start) if self._notes else {}
        new = {name: text for name, text in self._new.items() if name.startswith(start)}
        return {name: text for name, text in {**old, **new}.items() if text}

    async def write(self, values: Mapping[str, str]) -> None:
        self._new.update(values)
