"""`mnema run`, in the order of a start: configuration, lock, log, port; then the bot, until a
signal stops it.
"""

import asyncio
import gc
import importlib
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext, suppress
from functools import partial
from pathlib import Path

from bot.cli.common import format_error, report_error
from bot.cli.program.login import link_note, login_links, open_browser
from bot.config.file import ConfigFile
from bot.config.home import HomeFolder, HomeLock
from bot.config.keys import known_secrets
from bot.config.schema import Config
from bot.errors import ConfigError, HomeLocked
from bot.runtime.http import RemoteTerminal, WebPage, open_page, serve_worker_metrics
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
from bot.runtime.process_role import ProcessRole
from bot.runtime.store_access import import_scale_module, lock_home
from bot.telemetry.log import LogRedactor, LogSettings, start_logging
from bot.texts import show_before_messages
from channels.base import Channel
from channels.phrases import Phrase
from channels.web.server import MonitorSite
from memory.failpoints import hit

DAMAGE_POLL_SECONDS = 1.0  # between two checks whether the database has proved damaged
FAILED_EXIT = 1
SHUTDOWN_SECONDS = 28.0  # from SIGTERM to the end of the process; running turns have 20 of them


def run(
    home: HomeFolder,
    role: ProcessRole,
    metrics: int | None = None,
    *,
    opens_browser: bool = False,
    end_seconds: float = SHUTDOWN_SECONDS,
) -> int:
    """Run every enabled channel, the page and the scheduler until SIGTERM or Ctrl-C; return the
    exit code.

    Args:
        metrics: port of a worker's site of health and metrics; 0 for any free one.
        opens_browser: open the page in a browser that is signed in, once it is ready.
        end_seconds: after SIGTERM the process ends within this time, whatever its threads do.

    Raises:
        MnemaError: it cannot start.
    """
    gc.disable()  # until the bot is ready: what is imported and built now stays
    deadline = ShutdownDeadline(end_seconds)
    use_single_arena()
    raise_descriptor_limit()
    load_codecs()
    file = load_config_file(home)
    if metrics is not None and role != "worker":
        raise ConfigError(
            f"--metrics is for --role worker; {role} serves its metrics on the page's port"
        )
    if opens_browser and not (role != "worker" and file.current.channels.web.on):
        raise ConfigError(
            "--open needs a page, and this process has none: see channels.web.enabled and --role"
        )
    with ExitStack() as stack:
        lock = stack.enter_context(_lock_for_run(home, file.current, role))
        process = _BotProcess(home, file, deadline, role, lock, opens_browser=opens_browser)
        code = asyncio.run(process.run() if metrics is None else process.run_with_metrics(metrics))
    if process.to_restore is not None:
        _restore(home, *process.to_restore)
        restart_program()
    return code


def _lock_for_run(
    home: HomeFolder, config: Config, role: ProcessRole
) -> AbstractContextManager[HomeLock | None]:
    """Return the home's lock; of no lock where other processes run on the home too, and one of them
    has it.

    Raises:
        ConfigError: that role needs a database that processes share. HomeLocked: another instance
            has the home.
    """
    if config.database_url:
        import_scale_module("bot.runtime.cluster.open")
        with suppress(HomeLocked):  # the first gateway of a home publishes the page's URL
            return lock_home(home) if role != "worker" else nullcontext()
        return nullcontext()
    if role != "all":
        raise ConfigError(
            f"--role {role} needs a PostgreSQL database_url; with SQLite one process does all of it"
        )
    lock = lock_home(home)
    hit("recover.r1")
    return lock


def load_config_file(home: HomeFolder) -> ConfigFile:
    """Load config.json; if it is broken, report it on stderr and use the last good one."""
    file = ConfigFile(home.config)
    file.load()
    if file.trouble is not None:
        print(f"mnema: {file.trouble} The last good configuration stays in use.", file=sys.stderr)
    return file


def start_home_logging(home: HomeFolder, config: Config) -> LogRedactor:
    """Start writing the home's log file; the configured secrets are redacted."""
    settings = LogSettings(
        level=config.log.level, max_bytes=config.log.max_mb * 1_000_000, keep=config.log.keep
    )
    return start_logging(home.log, settings, known_secrets(config))


class _BotProcess:
    """One process that runs a bot, from its log to its exit code."""

    def __init__(
        self,
        home: HomeFolder,
        file: ConfigFile,
        deadline: ShutdownDeadline,
        role: ProcessRole,
        lock: HomeLock | None,
        *,
        opens_browser: bool = False,
    ) -> None:
        """lock: the home's, if this process holds it."""
        self._home, self._file, self._deadline, self._role, self._lock = (
            home,
            file,
            deadline,
            role,
            lock,
        )
        self._opens_browser = opens_browser
        #: Backup to restore once the bot is closed, and its passphrase.
        self.to_restore: tuple[Path, str] | None = None
        self._redactor = start_home_logging(home, file.current)

    async def run_with_metrics(self, port: int) -> int:
        """Run a worker that serves its health and metrics on `port`."""
        async with serve_worker_metrics(self._home, port) as site:
            return await self.run(site)

    async def run(self, monitor: MonitorSite | None = None) -> int:
        """Run the bot until a signal stops it; return the exit code. monitor: serves its health and
        metrics.
        """
        ended = self._deadline.received()
        asyncio.get_running_loop().set_exception_handler(AcceptErrorLogger())
        page = open_page(self._home, self._file.current) if self._role != "worker" else None
        serving = asyncio.create_task(page.server.run()) if page else None
        try:
            damaged = await self._run_bot(page, monitor, ended)
        finally:
            if page and serving:
                page.web.hub.close()
                page.server.stop()
                await serving
                self._remove_login_page()
        return FAILED_EXIT if damaged else 0

    async def _run_bot(
        self, page: WebPage | None, monitor: MonitorSite | None, ended: asyncio.Event
    ) -> bool:
        """Build, open and close the bot; return whether it ended because its database is
        damaged.
        """
        # slow; the port answers "starting"
        await asyncio.to_thread(importlib.import_module, "bot.console.site")
        from bot.console.site import attach_console, attach_metrics
        from bot.gateway.channel_manager import build_channels
        from bot.runtime.bot import Bot, build_bot
        from channels.registry import find_installed_channels

        built = build_channels(self._file)
        for why in (*find_installed_channels().troubles.values(), *built.troubles.values()):
            print(f"mnema: {why}.", file=sys.stderr)
        bot: Bot
        if self._file.current.database_url:
            from bot.runtime.cluster.open import build_cluster_bot

            bot = await build_cluster_bot(self._home, self._file, self._role)
        else:
            bot = await build_bot(self._home, self._file)
        of_page: list[Channel] = [page.web, RemoteTerminal(page.web)] if page is not None else []
        await bot.open([*of_page, *built.channels])
        if page is not None:
            attach_console(page.site, bot)
        try:
            if monitor is not None:
                attach_metrics(monitor, bot)
            bot.reconfigured = lambda config: self._redactor.learn(known_secrets(config))
            bot.restore = partial(self._restore_after, ended)
            self._report_ready(page)
            start_collecting()
            damaged = await _wait_until_ended(ended, lambda: bot.store.database.is_damaged)
            notify_supervisor("STOPPING=1")
        finally:
            await bot.close()
        return damaged

    def _report_ready(self, page: WebPage | None) -> None:
        if page is not None:
            if self._lock is not None:
                self._lock.tell(page.url)
            if page.is_new_token:
                where = show_before_messages(Phrase("kept in"), self._file.current.language)
                print(f"token {page.token} ({where} {self._home.web_token})")
            if page.is_new_token or self._opens_browser:
                self._show_login(page)
        print(f"ready {_page_text(page, self._file.current)}", flush=True)
        notify_supervisor("READY=1")

    def _show_login(self, page: WebPage) -> None:
        """Print a link that signs a browser in; open it where that is asked for."""
        config = self._file.current
        code = page.site.gate.create_login_code(on_use=self._remove_login_page)
        links = login_links(page.url, config.channels.web.public_url, code)
        for link in links:
            print(f"login {link} ({link_note(config.language)})")
        if self._opens_browser:
            open_browser(links[0], self._home.login_page)

    def _remove_login_page(self) -> None:
        with suppress(OSError):
            self._home.login_page.unlink()

    def _restore_after(self, ended: asyncio.Event, file: Path, passphrase: str) -> None:
        """End the run as a signal does, and restore then."""
        self.to_restore = (file, passphrase)
        ended.set()


async def _wait_until_ended(ended: asyncio.Event, is_damaged: Callable[[], bool]) -> bool:
    """Wait for the signal (False), or until the database proves damaged (True): nothing more may be
    stored in it.
    """
    while not is_damaged():
        with suppress(TimeoutError):
            await asyncio.wait_for(ended.wait(), DAMAGE_POLL_SECONDS)
            return False
    print(
        "mnema: The database is damaged, so mnema ends. Start it again: the file is then put "
        "aside, and the newest snapshot takes its place.",
        file=sys.stderr,
    )
    return True


def _page_text(page: WebPage | None, config: Config) -> str:
    if page is None:
        return "without a page"
    public = config.channels.web.public_url
    return f"{page.url} ({public})" if public else page.url


def _restore(home: HomeFolder, file: Path, passphrase: str) -> None:
    # only when somebody restores in the page
    from bot.cli.database import record_restore, restore_for_page

    try:
        restore_for_page(home, file, passphrase)
    except Exception as err:
        report_error(err, debug=True)
        record_restore(home, file, {"ok": False, "error": format_error(err)})
