"""Builds things and runs them: the whole bot for `run`, one terminal for `chat`; heavy parts are imported late."""

import asyncio
import importlib
import sys
from collections.abc import Awaitable, Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from bot.config.extras import install_command
from bot.config.file import ConfigFile
from bot.config.home import HomeFolder, HomeLock
from bot.config.keys import known_secrets
from bot.config.schema import Config
from bot.errors import ConfigError, HomeLocked, MnemaError
from bot.runtime.http import WebPage, open_with_channels
from bot.runtime.process import supervisor
from bot.runtime.process.descriptors import AcceptErrorLogger, load_codecs, raise_limit
from bot.runtime.process.malloc import use_single_arena
from bot.runtime.process.shutdown_deadline import ShutdownDeadline
from bot.runtime.store_access import open_home_store
from bot.telemetry import log as logs
from bot.telemetry.log import LogRedactor, LogSettings
from memory.failpoints import hit

DAMAGE_POLL_SECONDS = 1.0  # seconds between two looks whether the database has turned out to be damaged
FAILED_EXIT = 1
SHUTDOWN_SECONDS = 28.0  # after which a process is over, once it was told to end: its turns have 20 of them


def run(home: HomeFolder, role: str, metrics: int | None = None, *, end_seconds: float = SHUTDOWN_SECONDS) -> int:
    """`mnema run`: every enabled channel, the page, the scheduler; until SIGTERM or Ctrl-C.

    Args:
        metrics: the port on which a worker, which has no page, tells how it is; 0 for any free one.
        end_seconds: after SIGTERM the process is over in this time, whatever its threads do.

    Raises:
        MnemaError: it cannot start; the text says why.
    """
    deadline = ShutdownDeadline(end_seconds)
    use_single_arena()
    raise_limit()
    load_codecs()
    file = _load_config_file(home)
    if metrics is not None and role != "worker":
        raise ConfigError(f"--metrics is for --role worker; {role} tells its figures on the page's port")
    if file.current.database_url:
        return _run_cluster(home, file, RunOptions(paged=role != "worker", deadline=deadline), role, metrics)
    if role != "all":
        raise ConfigError(f"--role {role} needs a PostgreSQL database_url; with SQLite one process does all of it")
    with home.lock() as lock:
        hit("recover.r1")
        redactor = _start_logging(home, file.current)
        opened = partial(_open_bot, home, file)
        return asyncio.run(_run(home, file, lock, redactor, opened, RunOptions(deadline=deadline)))


def _run_cluster(home: HomeFolder, file: ConfigFile, way: "RunOptions", role: str, metrics: int | None) -> int:
    """Any number of processes on one record: the first of a home tells where its page is."""
    try:
        opening = importlib.import_module("bot.runtime.cluster.open")
    except ImportError as err:
        raise ConfigError(
            f"database_url needs the extra scale, and {err.name} is missing; install it with: "
            f"{install_command('scale')}"
        ) from err
    redactor = _start_logging(home, file.current)
    opened = partial(opening.open_cluster_bot, home, file, role)
    with ExitStack() as held:
        lock = None
        if role != "worker":
            with suppress(HomeLocked):
                lock = held.enter_context(home.lock())
        if metrics is None:
            return asyncio.run(_run(home, file, lock, redactor, opened, way))
        watching = importlib.import_module("bot.runtime.worker_port")
        return int(
            asyncio.run(
                watching.run_with_port(home, metrics, opened, lambda seen: _run(home, file, lock, redactor, seen, way))
            )
        )


def chat(home: HomeFolder, conversation: str, once: str | None) -> int:
    """`mnema chat`: a terminal on this home, or on the `mnema run` that holds it."""
    file = _load_config_file(home)
    desk = importlib.import_module("bot.cli.chat")
    if home.address():
        return int(asyncio.run(desk.run_remote(home, file.current, conversation, once)))
    if file.current.database_url:
        raise MnemaError("With a database_url the terminal talks through a running gateway: start mnema run first.")
    with home.lock():
        _start_logging(home, file.current)
        return int(asyncio.run(desk.run_local(home, file, conversation, once)))


async def probe_models(config: Config) -> list[tuple[bool, str]]:
    """Whether each configured model answers at all, the chosen one first, and what it (or the wire) said."""
    brain = await asyncio.to_thread(importlib.import_module, "bot.models.service")
    found: list[tuple[bool, str]] = await brain.probe_model(config)
    return found


def _load_config_file(home: HomeFolder) -> ConfigFile:
    file = ConfigFile(home.config)
    file.load()
    if file.trouble is not None:
        print(f"mnema: {file.trouble} The last good configuration holds.", file=sys.stderr)
    return file


def _start_logging(home: HomeFolder, config: Config) -> LogRedactor:
    settings = LogSettings(level=config.log.level, max_bytes=config.log.max_mb * 1_000_000, keep=config.log.keep)
    return logs.start_logging(home.log, settings, known_secrets(config))


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """How a process runs."""

    deadline: ShutdownDeadline
    #: It has the page.
    paged: bool = True


OpenBot = Callable[[WebPage | None], Awaitable[Any]]  # opens the house that is run


def _open_page(home: HomeFolder, config: Config) -> WebPage | None:
    """Open the port before anything heavy is imported: who asks is told that we are starting."""
    settings = config.channels.web
    if not settings.on:
        return None
    from channels.web.auth import load_token
    from channels.web.requests import CannotServe
    from channels.web.server import WebServer, bound_port, open_sockets

    token, made = load_token(home.web_token)
    try:
        sockets = open_sockets(settings.host, settings.port)
    except CannotServe as err:
        raise MnemaError(f"{err}.") from err
    port = bound_port(sockets)
    from channels.web.auth import RequestGuard
    from channels.web.channel import Web
    from channels.web.public_url import parse_networks, parse_public_url
    from channels.web.server import WebSite

    web = Web()
    public = parse_public_url(settings.public_url) if settings.public_url else None
    gate = RequestGuard(token=token, port=port, public=public, proxies=parse_networks(settings.trusted_proxies))
    site = WebSite(gate=gate, web=web)
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    url = f"http://{host}:{port}"
    return WebPage(site=site, web=web, server=WebServer(site, sockets), url=url, token=token, made=made)


async def _run(
    home: HomeFolder,
    file: ConfigFile,
    lock: HomeLock | None,
    redactor: LogRedactor,
    opened: OpenBot,
    way: RunOptions,
) -> int:
    ended = way.deadline.received()
    asyncio.get_running_loop().set_exception_handler(AcceptErrorLogger())
    page = _open_page(home, file.current) if way.paged else None
    serving = asyncio.create_task(page.server.run()) if page else None
    house = None
    try:
        house = await opened(page)
        house.reconfigured = lambda config: redactor.learn(known_secrets(config))
        if page:
            if lock is not None:
                lock.tell(page.url)
            if page.made:
                print(f"token {page.token} (kept in {home.web_token})")
        print(f"ready {_page_text(page, file.current)}", flush=True)
        supervisor.notify_supervisor("READY=1")
        damaged = await _wait_until_ended(ended, house)
        supervisor.notify_supervisor("STOPPING=1")
    finally:
        if house is not None:
            await house.close()
        if page and serving:
            page.web.hub.close()
            page.server.stop()
            await serving
    return FAILED_EXIT if damaged else 0


async def _wait_until_ended(ended: asyncio.Event, house: Any) -> bool:
    """Wait for the signal, or until the database proves damaged: then nothing more may be confirmed into it."""
    while not house.store.database.is_damaged:
        with suppress(TimeoutError):
            await asyncio.wait_for(ended.wait(), DAMAGE_POLL_SECONDS)
            return False
    print(
        "mnema: The database is damaged, so mnema ends. Start it again: the file is then put aside, and the newest "
        "snapshot takes its place.",
        file=sys.stderr,
    )
    return True


def _page_text(page: WebPage | None, config: Config) -> str:
    if page is None:
        return "without a page"
    public = config.channels.web.public_url
    return f"{page.url} ({public})" if public else page.url


async def _open_bot(home: HomeFolder, file: ConfigFile, page: WebPage | None) -> Any:
    whole = await asyncio.to_thread(importlib.import_module, "bot.runtime.bot")
    telemetry = importlib.import_module("bot.telemetry.opentelemetry").create_telemetry(file.current)
    store = await open_home_store(home)
    ground = importlib.import_module("bot.runtime.wiring")  # bot.house has brought it
    house = whole.Bot(ground.BotDependencies(home=home, file=file, store=store, telemetry=telemetry))
    await open_with_channels(house, file, page)
    return house
