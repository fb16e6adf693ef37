"""Opens a home for one command: its lock, its store in SQLite or PostgreSQL, or the running bot
that holds it.
"""

import asyncio
import importlib
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from bot.config import json_source
from bot.config.extras import install_command
from bot.config.home import (
    ConfigFileTooLarge,
    HomeFolder,
    HomeLock,
    NotRegularFile,
    read_regular_file,
)
from bot.config.restore_journal import finish_restore, is_restore_pending
from bot.errors import ConfigError, MnemaError

ALL_SESSIONS = 1_000_000
REQUEST_SECONDS = 10.0  # that a running bot may take to respond
Answer = TypeVar("Answer")


def postgres_url(home: HomeFolder) -> str:
    """URL of the PostgreSQL store, "" if the store is the home's SQLite file.

    Raises:
        ConfigError: config.json cannot be used.
    """
    from bot.config.file import ConfigFile

    file = ConfigFile(home.config)
    file.load()
    return file.current.database_url


def find_postgres_url(home: HomeFolder) -> str:
    """Like `postgres_url` without a fallback to the last good config, which may name an older
    database.

    Raises:
        ConfigError: config.json is broken and may name a database.
    """
    from bot.config.file import ConfigFile

    try:
        return ConfigFile(home.config).check().database_url
    except ConfigError:
        if _has_database_url(home.config):
            raise
        return ""


def _has_database_url(path: Path) -> bool:
    try:
        text = read_regular_file(path).decode("utf-8", "replace")
    except (NotRegularFile, ConfigFileTooLarge):
        return True  # it may name one
    try:
        entry = json_source.parse_config_json(text).children.get("database_url")
    except json_source.JsonSyntaxError:
        return "database_url" in text
    return entry is not None and entry.value != ""


def import_scale_module(name: str) -> Any:
    """Import one of our modules that needs the extra `scale`.

    Raises:
        ConfigError: the extra is not installed.
    """
    try:
        return importlib.import_module(name)
    except ImportError as err:
        raise ConfigError(
            f"PostgreSQL needs the extra scale, and {err.name} is missing; install it with: "
            f"{install_command('scale')}"
        ) from err


def lock_home(home: HomeFolder) -> HomeLock:
    """Finish an interrupted restore, then lock the home.

    Raises:
        HomeLocked: another instance has it.
        MnemaError, StoreError, OSError: the restore cannot be finished.
    """
    while True:
        resume_restore(home.root)
        lock = home.lock()
        if not is_restore_pending(home.root):
            return lock
        lock.release()  # another restore was interrupted between the two lines above


def resume_restore(root: Path) -> None:
    """Finish or discard an interrupted restore of that home; see `finish_restore`."""
    finish_restore(root, is_restore_committed)


def is_restore_committed(root: Path, mark: str) -> bool:
    """Whether the database has committed the restore with this mark.

    Raises:
        MnemaError: config.json no longer names the database.
        StoreError: the database cannot be reached.
    """
    url = find_postgres_url(HomeFolder(root=root))
    if not url:
        raise MnemaError(
            "A restore was interrupted, and only its database knows whether it was committed: fix "
            "database_url first."
        )
    module = import_scale_module("memory.store.postgres.move")
    return bool(asyncio.run(module.was_replaced(url, mark)))


def store_exists(home: HomeFolder) -> bool:
    """Whether there is a store; one in PostgreSQL is assumed to exist."""
    return bool(postgres_url(home)) or home.db.exists()


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedStore:
    """A store opened for one command."""

    store: Any
    #: Recall indexes, if they are not files of the home.
    indexes: Any = None
    #: Stops a conversation's turn in another process; None if no other can use the store.
    stop: Callable[[str], Awaitable[object]] | None = None


@asynccontextmanager
async def open_store_for_command(
    home: HomeFolder, *, writable: bool = False, alone: bool = False
) -> AsyncIterator[OpenedStore]:
    """Open the store; with PostgreSQL other processes may be using it.

    Args:
        writable: with SQLite the caller holds the home's lock.
        alone: refuse while another process uses it.

    Raises:
        StoreError: it cannot be opened.
    """
    if url := postgres_url(home):
        import_scale_module("bot.runtime.cluster.open")
        from bot.runtime.cluster.open import open_for_command

        async with open_for_command(url, writable=writable, alone=alone) as (store, indexes, stop):
            yield OpenedStore(store=store, indexes=indexes, stop=stop)
        return
    from memory.store.open import open_store

    store = await open_store(home.db, writable=writable)
    try:
        yield OpenedStore(store=store)
    finally:
        await store.close()


async def note_beside(home: HomeFolder, acts: Sequence[Any]) -> None:
    """Append acts to the audit chain without the home's lock: other processes may be writing.

    Raises:
        StoreError, OSError: they could not be stored.
    """
    from memory.store.audit import note_all

    await write_beside(home, lambda tx: note_all(tx, acts))


async def write_beside(
    home: HomeFolder, work: Callable[[Any], Coroutine[Any, Any, Answer]]
) -> Answer:
    """Run one transaction without the home's lock: other processes may be writing.

    Raises:
        StoreError, OSError: nothing was stored.
    """
    if url := postgres_url(home):
        import_scale_module("bot.runtime.cluster.open")
        from bot.runtime.cluster.open import write_beside as write_in_postgres

        return await write_in_postgres(url, work)
    from memory.store.maintenance.concurrent_writes import write_beside as write_in_sqlite

    return await write_in_sqlite(home.db, work)


def lock_home_for_command(home: HomeFolder) -> AbstractContextManager[object]:
    """Lock the home if a command that writes needs it: SQLite has one writer, PostgreSQL any
    number.

    Raises:
        HomeLocked: another instance has it.
    """
    return nullcontext() if postgres_url(home) else lock_home(home)


class UnknownSession(MnemaError):
    """No conversation has that name, or several have."""


def run_with_store(
    home: HomeFolder,
    work: Callable[[Any], Awaitable[Answer]],
    *,
    none: Answer | None = None,
    alone: bool = False,
) -> Answer:
    """Run `work` on the opened store; returns `none` if there is no database yet.

    Args:
        alone: open for writing, while no other process uses the store; with SQLite the caller holds
            the home's lock.

    Raises:
        UnknownSession: there is no database and `none` is not given.
    """
    if not store_exists(home):
        if none is None:
            raise UnknownSession(f"There is no database in {home.data} yet.")
        return none

    async def open_and_run() -> Answer:
        async with open_store_for_command(home, writable=alone, alone=alone) as opened:
            return await work(opened.store)

    return asyncio.run(open_and_run())


async def find_session(store: Any, name: str) -> Any:
    """Find a conversation by id, name, or the start of its id.

    Raises:
        UnknownSession: there is none, or more than one.
    """
    rows = await store.sessions.conversations(limit=ALL_SESSIONS)
    found = [row for row in rows if row.id == name or row.place.chat_id == name]
    found = found or [row for row in rows if name and row.id.startswith(name)]
    if len(found) == 1:
        return found[0]
    what = "No conversation is" if not found else f"{len(found)} conversations are"
    raise UnknownSession(f"{what} called {name}; mnema sessions list shows the ids.")


async def call_running_bot(
    home: HomeFolder,
    method: str,
    path: str,
    body: Mapping[str, Any] | None = None,
    *,
    patience: float = REQUEST_SECONDS,
) -> dict[str, Any]:
    """Send one request to the API of the `mnema run` that holds the home; return the response.

    Raises:
        MnemaError: it refused, did not respond in `patience` seconds, or could not be reached.
    """
    from channels.terminal.client import BotClient

    try:
        token = home.web_token.read_text(encoding="utf-8").strip()
        return (
            await BotClient(home.address(), token).request(method, path, body, timeout=patience)
        )[1]
    except TimeoutError as err:
        raise MnemaError(f"The running bot gave no answer in {patience:g} seconds.") from err
    except (OSError, RuntimeError, ValueError) as err:
        raise MnemaError(f"The running bot could not do it: {str(err).rstrip('.')}.") from err


def call_running_bot_now(
    home: HomeFolder,
    method: str,
    path: str,
    body: Mapping[str, Any] | None = None,
    *,
    patience: float = REQUEST_SECONDS,
) -> dict[str, Any]:
    """Like `call_running_bot`, for a command that waits for nothing else."""
    return asyncio.run(call_running_bot(home, method, path, body, patience=patience))
