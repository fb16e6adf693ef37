"""`mnema run`: opens the port first, then loads and runs the bot until a signal stops it."""

import asyncio
import importlib
import sys
from collections.abc import Awaitable, Callable
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import Any

from bot.config.file import ConfigFile
from bot.config.home import HomeFolder, HomeLock
from bot.config.keys import known_secrets
from bot.config.schema import Config
from bot.errors import ConfigError, HomeLocked
from bot.runtime.http import (
    AttachConsole,
    AttachMetrics,
    WebPage,
    open_page,
    open_with_channels,
    serve_worker_metrics,
)
from bot.runtime.process import (
    AcceptErrorLogger,
    ShutdownDeadline,
    load_codecs,
    notify_supervisor,
    raise_descriptor_limit,
    restart_program,
    start_collecting,
    use_single_arena,
)
from bot.runtime.store_access import import_scale_module, lock_home, open_home_store
from bot.telemetry.log import LogRedactor, LogSettings, start_logging
from memory.failpoints import hit

DAMAGE_POLL_SECONDS = 1.0  # between two checks whether the database has proved damaged
FAILED_EXIT = 1
SHUTDOWN_SECONDS = 28.0  # from SIGTERM to the end of the process; running turns have 20 of them

Restore = Callable[[HomeFolder, Path, str], None]  # restores a backup with its passphrase; never raises
OpenBot = Callable[[WebPage | None], Awaitable[Any]]  # builds and opens the bot: Any, because it is imported late


def run(
    home: HomeFolder,
    role: str,
    attach_console: AttachConsole,
    attach_metrics: AttachMetrics,
    restore: Restore,
    *,
    metrics: int | None = None,
    end_seconds: float = SHUTDOWN_SECONDS,
) -> int:
    """Run every enabled channel, the page and the scheduler until SIGTERM or Ctrl-C; return the exit code.

    Args:
        attach_console: called with the page's site and the opened bot.
        attach_metrics: the same for the site of a worker, which has no page.
        restore: called after the bot was closed, if the page asked for it; this program is then started again.
        metrics: port of that site; 0 for any free one.
        end_seconds: after SIGTERM the process ends within this time, whatever its threads do.

    Raises:
        MnemaError: it cannot start.
    """
    deadline = ShutdownDeadline(end_seconds)
    use_single_arena()
    raise_descriptor_limit()
    load_codecs()
    file = load_config_file(home)
    if metrics is not None and role != "worker":
        raise ConfigError(f"--metrics is for --role worker; {role} serves its metrics on the page's port")
    with ExitStack() as stack:
        lock: HomeLock | None = None
        if file.current.database_url:
            import_scale_module("bot.runtime.cluster.open")
            if role != "worker":
                with suppress(HomeLocked):  # the first gateway of a home publishes the page's URL
                    lock = stack.enter_context(lock_home(home))
            open_bot = partial(_open_cluster_bot, home, file, role, attach_console)
        elif role == "all":
            lock = stack.enter_context(lock_home(home))
            hit("recover.r1")
            open_bot = partial(_open_bot, home, file, attach_console)
        else:
            raise ConfigError(f"--role {role} needs a PostgreSQL database_url; with SQLite one process does all of it")
        process = _BotProcess(home, file, deadline, open_bot, lock)
        if metrics is not None:
            return asyncio.run(process.run_with_metrics(metrics, attach_metrics))
        code = asyncio.run(process.run(has_page=role != "worker"))
    if process.to_restore is not None:
        restore(home, *process.to_restore)
        restart_program()
    return code


def load_config_file(home: HomeFolder) -> ConfigFile:
    """Load config.json; if it is broken, report it on stderr and use the last good one."""
    file = ConfigFile(home.config)
    file.load()
    if file.trouble is not None:
        print(f"mnema: {file.trouble} The last good configuration holds.", file=sys.stderr)
    return file


def start_home_logging(home: HomeFolder, config: Config) -> LogRedactor:
    """Start writing the home's log file; the configured secrets are redacted."""
    settings = LogSettings(level=config.log.level, max_bytes=config.log.max_mb * 1_000_000, keep=config.log.keep)
    return start_logging(home.log, settings, known_secrets(config))


class _BotProcess:
    """One process that runs a bot, from its log to its exit code."""

    def __init__(
        self, home: HomeFolder, file: ConfigFile, deadline: ShutdownDeadline, open_bot: OpenBot, lock: HomeLock | None
    ) -> None:
        """lock: the home's, if this process holds it."""
        self._home, self._file, self._deadline, self._lock = home, file, deadline, lock
        self._open_bot = open_bot
        #: Backup to restore once the bot is closed, and its passphrase.
        self.to_restore: tuple[Path, str] | None = None
        self._redactor = start_home_logging(home, file.current)

    async def run_with_metrics(self, port: int, attach_metrics: AttachMetrics) -> int:
        """Run a worker that serves its health and metrics on `port`."""
        async with serve_worker_metrics(self._home, port) as site:
            return await self.run(has_page=False, on_open=partial(attach_metrics, site))

    async def run(self, *, has_page: bool, on_open: Callable[[Any], None] | None = None) -> int:
        """Run the bot until a signal stops it; return the exit code. on_open: called with the opened bot."""
        ended = self._deadline.received()
        asyncio.get_running_loop().set_exception_handler(AcceptErrorLogger())
        page = open_page(self._home, self._file.current) if has_page else None
        serving = asyncio.create_task(page.server.run()) if page else None
        bot = None
        try:
            bot = await self._open_bot(page)
            if on_open is not None:
                on_open(bot)
            bot.reconfigured = lambda config: self._redactor.learn(known_secrets(config))
            bot.restore = partial(self._restore_after, ended)
            if page:
                if self._lock is not None:
                    self._lock.tell(page.url)
                if page.is_new_token:
                    print(f"token {page.token} (kept in {self._home.web_token})")
            print(f"ready {_page_text(page, self._file.current)}", flush=True)
            notify_supervisor("READY=1")
            start_collecting()
            damaged = await _wait_until_ended(ended, bot)
            notify_supervisor("STOPPING=1")
        finally:
            if bot is not None:
                await bot.close()
            if page and serving:
                page.web.hub.close()
                page.server.stop()
                await serving
        return FAILED_EXIT if damaged else 0

    def _restore_after(self, ended: asyncio.Event, file: Path, passphrase: str) -> None:
        """End the run as a signal does, and restore then."""
        self.to_restore = (file, passphrase)
        ended.set()


async def _wait_until_ended(ended: asyncio.Event, bot: Any) -> bool:
    """Wait for the signal (False), or until the database proves damaged (True): nothing more may be stored in it."""
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
    from bot.runtime.base_wiring import BotDependencies
    from bot.runtime.bot import Bot
    from bot.telemetry.recorder import create_telemetry

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
