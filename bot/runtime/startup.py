"""`mnema run`: opens the port first, then loads and runs the bot until it is told to stop."""

import asyncio
import importlib
import sys
from collections.abc import Awaitable, Callable
from contextlib import ExitStack, suppress
from functools import partial
from typing import Any

from bot.config.file import ConfigFile
from bot.config.home import HomeFolder, HomeLock
from bot.config.keys import known_secrets
from bot.config.schema import Config
from bot.errors import ConfigError, HomeLocked
from bot.runtime.http import AttachConsole, WebPage, open_page, open_with_channels
from bot.runtime.process import supervisor
from bot.runtime.process.descriptors import AcceptErrorLogger, load_codecs, raise_limit
from bot.runtime.process.malloc import use_single_arena
from bot.runtime.process.shutdown_deadline import ShutdownDeadline
from bot.runtime.store_access import import_scale_module, lock_home, open_home_store
from bot.runtime.worker_port import AttachMetrics, run_with_port
from bot.telemetry.log import LogRedactor, LogSettings, start_logging
from memory.failpoints import hit

DAMAGE_POLL_SECONDS = 1.0  # between two checks whether the database has proved damaged
FAILED_EXIT = 1
SHUTDOWN_SECONDS = 28.0  # from SIGTERM to the end of the process; running turns have 20 of them

OpenBot = Callable[[WebPage | None], Awaitable[Any]]  # builds and opens the bot; in `Any`, for it is loaded late


def run(
    home: HomeFolder,
    role: str,
    attach_console: AttachConsole,
    attach_metrics: AttachMetrics,
    *,
    metrics: int | None = None,
    end_seconds: float = SHUTDOWN_SECONDS,
) -> int:
    """Run every enabled channel, the page and the scheduler until SIGTERM or Ctrl-C; returns the exit code.

    Args:
        attach_console: called with the page's site and the opened bot.
        attach_metrics: the same for the site of a worker, which has no page.
        metrics: port of that site; 0 for any free one.
        end_seconds: after SIGTERM the process ends within this time, whatever its threads do.

    Raises:
        MnemaError: it cannot start.
    """
    deadline = ShutdownDeadline(end_seconds)
    use_single_arena()
    raise_limit()
    load_codecs()
    file = load_config_file(home)
    if metrics is not None and role != "worker":
        raise ConfigError(f"--metrics is for --role worker; {role} tells its figures on the page's port")
    process = _BotProcess(home, file, deadline)
    if file.current.database_url:
        import_scale_module("bot.runtime.cluster.open")
        open_bot = partial(_open_cluster_bot, home, file, role, attach_console)
        return process.run_shared(open_bot, role, metrics, attach_metrics)
    if role != "all":
        raise ConfigError(f"--role {role} needs a PostgreSQL database_url; with SQLite one process does all of it")
    with lock_home(home) as lock:
        hit("recover.r1")
        return process.run(partial(_open_bot, home, file, attach_console), lock)


async def probe_models(config: Config) -> list[tuple[bool, str]]:
    """Whether each configured model answers at all, the chosen one first, and what it (or the wire) said."""
    await asyncio.to_thread(importlib.import_module, "bot.models.service")
    from bot.models.service import probe_model

    return await probe_model(config)


def load_config_file(home: HomeFolder) -> ConfigFile:
    """Load config.json; if it is broken, say so on stderr and use the last good one."""
    file = ConfigFile(home.config)
    file.load()
    if file.trouble is not None:
        print(f"mnema: {file.trouble} The last good configuration holds.", file=sys.stderr)
    return file


def start_home_logging(home: HomeFolder, config: Config) -> LogRedactor:
    """Write the home's log file from now on, without the configured secrets."""
    settings = LogSettings(level=config.log.level, max_bytes=config.log.max_mb * 1_000_000, keep=config.log.keep)
    return start_logging(home.log, settings, known_secrets(config))


class _BotProcess:
    """One process that runs a bot, from its log to its exit code."""

    def __init__(self, home: HomeFolder, file: ConfigFile, deadline: ShutdownDeadline) -> None:
        self._home, self._file, self._deadline = home, file, deadline

    def run(self, open_bot: OpenBot, lock: HomeLock) -> int:
        """Run the only process of a home."""
        redactor = start_home_logging(self._home, self._file.current)
        return asyncio.run(self._run(open_bot, redactor.learn, lock))

    def run_shared(self, open_bot: OpenBot, role: str, metrics: int | None, attach_metrics: AttachMetrics) -> int:
        """Run one of several processes on a shared store; the first one of a home publishes the page's URL."""
        learn = start_home_logging(self._home, self._file.current).learn
        with ExitStack() as stack:
            lock = None
            if role != "worker":
                with suppress(HomeLocked):
                    lock = stack.enter_context(lock_home(self._home))
            if metrics is None:
                return asyncio.run(self._run(open_bot, learn, lock, has_page=role != "worker"))

            async def run_on_site(site: Any) -> int:
                async def open_with_metrics(page: WebPage | None) -> Any:
                    bot = await open_bot(page)
                    attach_metrics(site, bot)
                    return bot

                return await self._run(open_with_metrics, learn, lock, has_page=False)

            return asyncio.run(run_with_port(self._home, metrics, run_on_site))

    async def _run(
        self, open_bot: OpenBot, learn: Callable[[Any], object], lock: HomeLock | None, *, has_page: bool = True
    ) -> int:
        ended = self._deadline.received()
        asyncio.get_running_loop().set_exception_handler(AcceptErrorLogger())
        page = open_page(self._home, self._file.current) if has_page else None
        serving = asyncio.create_task(page.server.run()) if page else None
        bot = None
        try:
            bot = await open_bot(page)
            bot.reconfigured = lambda config: learn(known_secrets(config))
            if page:
                if lock is not None:
                    lock.tell(page.url)
                if page.is_new_token:
                    print(f"token {page.token} (kept in {self._home.web_token})")
            print(f"ready {_page_text(page, self._file.current)}", flush=True)
            supervisor.notify_supervisor("READY=1")
            damaged = await _wait_until_ended(ended, bot)
            supervisor.notify_supervisor("STOPPING=1")
        finally:
            if bot is not None:
                await bot.close()
            if page and serving:
                page.web.hub.close()
                page.server.stop()
                await serving
        return FAILED_EXIT if damaged else 0


async def _wait_until_ended(ended: asyncio.Event, bot: Any) -> bool:
    """Wait for the signal, or until the database proves damaged: then nothing more may be stored in it."""
    while not bot.store.database.is_damaged:
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


async def _open_bot(home: HomeFolder, file: ConfigFile, attach_console: AttachConsole, page: WebPage | None) -> Any:
    await asyncio.to_thread(importlib.import_module, "bot.runtime.bot")  # slow; the port answers "starting" meanwhile
    from bot.runtime.bot import Bot
    from bot.runtime.wiring import BotDependencies
    from bot.telemetry.opentelemetry import create_telemetry

    telemetry = create_telemetry(file.current)
    bot = Bot(BotDependencies(home=home, file=file, store=await open_home_store(home), telemetry=telemetry))
    await open_with_channels(bot, file, page, attach_console)
    return bot


async def _open_cluster_bot(
    home: HomeFolder, file: ConfigFile, role: str, attach_console: AttachConsole, page: WebPage | None
) -> Any:
    from bot.runtime.cluster.open import build_cluster_bot

    bot = await build_cluster_bot(home, file, role)
    await open_with_channels(bot, file, page, attach_console)
    return bot
