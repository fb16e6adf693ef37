"""Builds things and runs them: the whole bot for `run`, one terminal for `chat`; heavy parts are imported late."""

import asyncio
import importlib
import signal
import sys
from dataclasses import dataclass
from typing import Any

from bot import log as logs
from bot.config import Config, ConfigFile, known_secrets
from bot.connecting import begun_in, channels_of
from bot.errors import ConfigError, MnemaError
from bot.home import Home, Lock
from bot.log import LogSettings, Redactor


def run(home: Home, role: str) -> int:
    """`mnema run`: every enabled channel, the page, the scheduler; until SIGTERM or Ctrl-C.

    Raises:
        MnemaError: it cannot start; the text says why.
    """
    if role != "all":
        raise ConfigError(f"--role {role} needs a PostgreSQL database; with SQLite one process does all of it")
    file = _settings(home)
    with home.lock() as lock:
        redactor = _logging(home, file.current)
        return asyncio.run(_run(home, file, lock, redactor))


def chat(home: Home, conversation: str, once: str | None) -> int:
    """`mnema chat`: a terminal on this home, or on the `mnema run` that holds it."""
    file = _settings(home)
    desk = importlib.import_module("bot.chat")
    if home.address():
        return int(asyncio.run(desk.beside(home, file.current, conversation, once)))
    with home.lock():
        _logging(home, file.current)
        return int(asyncio.run(desk.alone(home, file, conversation, once)))


async def probe_model(config: Config) -> tuple[bool, str]:
    """Whether the configured model answers at all, and what it (or the wire) said."""
    brain = await asyncio.to_thread(importlib.import_module, "bot.brain")
    found: tuple[bool, str] = await brain.probe(config)
    return found


def _settings(home: Home) -> ConfigFile:
    file = ConfigFile(home.config)
    file.load()
    if file.trouble is not None:
        print(f"mnema: {file.trouble} The last good configuration holds.", file=sys.stderr)
    if file.current.database_url:
        raise ConfigError('database_url is set, but this version keeps its record in SQLite only; set it to ""')
    return file


def _logging(home: Home, config: Config) -> Redactor:
    settings = LogSettings(level=config.log.level, max_bytes=config.log.max_mb * 1_000_000, keep=config.log.keep)
    return logs.start(home.log, settings, known_secrets(config))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Page:
    """The opened port and what answers on it. made: the token was made just now."""

    site: Any
    web: Any
    server: Any
    url: str
    token: str
    made: bool


def _open_page(home: Home, config: Config) -> _Page | None:
    """Open the port before anything heavy is imported: who asks is told that we are starting."""
    settings = config.channels.web
    if not settings.on:
        return None
    from channels.web.errors import CannotServe
    from channels.web.serve import Server, listen, port_of
    from channels.web.token import load_token

    token, made = load_token(home.web_token)
    try:
        sockets = listen(settings.host, settings.port)
    except CannotServe as err:
        raise MnemaError(f"{err}.") from err
    port = port_of(sockets)
    from channels.web.app import Site
    from channels.web.channel import Web
    from channels.web.gate import Gate

    web = Web()
    site = Site(gate=Gate(token=token, port=port), web=web)
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    url = f"http://{host}:{port}"
    return _Page(site=site, web=web, server=Server(site, sockets), url=url, token=token, made=made)


async def _run(home: Home, file: ConfigFile, lock: Lock, redactor: Redactor) -> int:
    ended = _ended_by_signal()
    page = _open_page(home, file.current)
    serving = asyncio.create_task(page.server.run()) if page else None
    house = None
    try:
        house = await _open_house(home, file, page)
        house.reconfigured = lambda config: redactor.learn(known_secrets(config))
        if page:
            lock.tell(page.url)
            if page.made:
                print(f"token {page.token} (kept in {home.web_token})")
        print(f"ready {page.url if page else 'without a page'}", flush=True)
        await ended.wait()
    finally:
        if house is not None:
            await house.close()
        if page and serving:
            page.web.hub.close()
            page.server.stop()
            await serving
    return 0


async def _open_house(home: Home, file: ConfigFile, page: _Page | None) -> Any:
    whole = await asyncio.to_thread(importlib.import_module, "bot.house")
    store = await open_record(home)
    parts = importlib.import_module("bot.parts")  # bot.house has brought it
    house = whole.House(parts.Ground(home=home, file=file, store=store))
    opened = channels_of(file.current, begun_in(file))
    channels = list(opened.channels)
    for why in opened.troubles.values():
        print(f"mnema: {why}.", file=sys.stderr)
    if page is None:
        await house.open(channels)
        return house
    console = await asyncio.to_thread(importlib.import_module, "bot.console.wiring")
    await house.open([page.web, console.TerminalAway(page.web), *channels])
    console.open_console(page.site, house)
    return house


async def open_record(home: Home) -> Any:
    """The store, opened for writing; what had to be healed is told."""
    module = await asyncio.to_thread(importlib.import_module, "memory.store.open")
    store = await module.open_store(home.db)
    if store.healed:
        print(f"mnema: {store.healed}", file=sys.stderr)
    return store


def _ended_by_signal() -> asyncio.Event:
    """Set by the first SIGTERM or SIGINT; a second one ends the process as usual."""
    ended, loop = asyncio.Event(), asyncio.get_running_loop()

    def end() -> None:
        ended.set()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, end)
    return ended
