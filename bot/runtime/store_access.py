"""Where a home's record is, for commands that look into it by themselves."""

import asyncio
import importlib
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar

from bot.config.extras import install_command
from bot.config.home import HomeFolder
from bot.errors import ConfigError, MnemaError
from memory.store.audit import Act


def postgres_url(home: HomeFolder) -> str:
    """Of the PostgreSQL that has the record, "" where it is SQLite's file.

    Raises:
        ConfigError: config.json cannot be used.
    """
    from bot.config.file import ConfigFile

    file = ConfigFile(home.config)
    file.load()
    return file.current.database_url


def import_scale_module(name: str) -> Any:
    """A module of ours that needs the extra `scale`.

    Raises:
        ConfigError: that is not installed.
    """
    try:
        return importlib.import_module(name)
    except ImportError as err:
        raise ConfigError(
            f"PostgreSQL needs the extra scale, and {err.name} is missing; install it with: {install_command('scale')}"
        ) from err


def store_exists(home: HomeFolder) -> bool:
    """Whether there is a record; one in PostgreSQL is taken to be there."""
    return bool(postgres_url(home)) or home.db.exists()


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedStore:
    """A home's record, opened for a command."""

    store: Any
    #: Of recall, where they are not files of the home.
    indexes: Any = None
    #: Ends the turn of a conversation that another process runs; None where there is no other.
    stop: Callable[[str], Awaitable[object]] | None = None


@asynccontextmanager
async def open_store_for_command(
    home: HomeFolder, *, writable: bool = False, alone: bool = False
) -> AsyncIterator[OpenedStore]:
    """The record, wherever it is; in PostgreSQL other processes may be at work on it.

    Args:
        writable: with SQLite the caller holds the home.
        alone: refused while another process is at work.

    Raises:
        StoreError: it cannot be opened.
    """
    if url := postgres_url(home):
        async with import_scale_module("bot.runtime.cluster.open").open_for_command(
            url, writable=writable, alone=alone
        ) as held:
            yield held
        return
    from memory.store.open import open_store

    store = await open_store(home.db, writable=writable)
    try:
        yield OpenedStore(store=store)
    finally:
        await store.close()


async def note_beside(home: HomeFolder, acts: Sequence[Act]) -> None:
    """Add acts to the audit's chain, beside whoever is at work on the record; no lock of the home is needed.

    Raises:
        StoreError: they could not be stored.
        OSError: the same.
    """
    if url := postgres_url(home):
        await import_scale_module("bot.runtime.cluster.open").note_beside(url, acts)
        return
    from memory.store.maintenance.concurrent_audit import note_beside as note

    await note(home.db, acts)


def lock_home_for_command(home: HomeFolder) -> AbstractContextManager[object]:
    """The home's lock, where a command that writes needs it: SQLite has one writer, PostgreSQL any number.

    Raises:
        Busy: somebody else has it.
    """
    return nullcontext() if postgres_url(home) else home.lock()


async def open_home_store(home: HomeFolder) -> Any:
    """The store, opened for writing; what had to be healed is told."""
    module = await asyncio.to_thread(importlib.import_module, "memory.store.open")
    store = await module.open_store(home.db)
    if store.healed:
        print(f"mnema: {store.healed}", file=sys.stderr)
        heads = importlib.import_module("bot.access.audit").AuditCheckpoints(home.data)
        heads.anew(store.healed, datetime.now(UTC))
        await store.note("restore", "", "a snapshot after damage", "house", args={"what": store.healed})
    return store


ALL_SESSIONS = 1_000_000


Answer = TypeVar("Answer")


class UnknownSession(MnemaError):
    """No conversation, or more than one, goes by that name."""


def run_with_store(
    home: HomeFolder,
    work: Callable[[Any], Awaitable[Answer]],
    *,
    none: Answer | None = None,
    alone: bool = False,
) -> Answer:
    """What `work` makes of the open store; `none` where there is no database yet.

    Args:
        alone: it changes something, and nobody else may be at work; with SQLite the caller holds the home.

    Raises:
        NoSession: there is no database and `none` is not given.
    """
    if not store_exists(home):
        if none is None:
            raise UnknownSession(f"There is no database in {home.data} yet.")
        return none

    async def worked() -> Answer:
        async with open_store_for_command(home, writable=alone, alone=alone) as record:
            return await work(record.store)

    return asyncio.run(worked())


async def find_session(store: Any, name: str) -> Any:
    """The conversation of that id, name, or beginning of an id.

    Raises:
        NoSession: there is none, or more than one.
    """
    rows = await store.sessions.conversations(limit=ALL_SESSIONS)
    found = [row for row in rows if row.id == name or row.place.chat_id == name]
    found = found or [row for row in rows if name and row.id.startswith(name)]
    if len(found) == 1:
        return found[0]
    what = "No conversation is" if not found else f"{len(found)} conversations are"
    raise UnknownSession(f"{what} called {name}; mnema sessions list shows the ids.")
