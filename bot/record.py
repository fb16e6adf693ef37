"""Where a home's record is, for commands that look into it by themselves."""

import importlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

from bot.errors import ConfigError
from bot.extras import install_command
from bot.home import Home
from memory.store.audit_records import Act


def address(home: Home) -> str:
    """Of the PostgreSQL that has the record, "" where it is SQLite's file.

    Raises:
        ConfigError: config.json cannot be used.
    """
    from bot.config import ConfigFile

    file = ConfigFile(home.config)
    file.load()
    return file.current.database_url


def scaled(name: str) -> Any:
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


def exists(home: Home) -> bool:
    """Whether there is a record; one in PostgreSQL is taken to be there."""
    return bool(address(home)) or home.db.exists()


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A home's record, opened for a command.

    indexes: of recall, where they are not files of the home. stop: ends the turn of a conversation that another process
    runs; None where there is no other.
    """

    store: Any
    indexes: Any = None
    stop: Callable[[str], Awaitable[object]] | None = None


@asynccontextmanager
async def opened(home: Home, *, writable: bool = False, alone: bool = False) -> AsyncIterator[Opened]:
    """The record, wherever it is; in PostgreSQL other processes may be at work on it.

    Args:
        writable: with SQLite the caller holds the home.
        alone: refused while another process is at work.

    Raises:
        StoreError: it cannot be opened.
    """
    if url := address(home):
        async with scaled("bot.scale.command").open_beside(url, writable=writable, alone=alone) as held:
            yield held
        return
    from memory.store.open import open_store

    store = await open_store(home.db, writable=writable)
    try:
        yield Opened(store=store)
    finally:
        await store.close()


async def note_beside(home: Home, acts: Sequence[Act]) -> None:
    """Add acts to the audit's chain, beside whoever is at work on the record; no lock of the home is needed.

    Raises:
        StoreError: they could not be stored.
        OSError: the same.
    """
    if url := address(home):
        await scaled("bot.scale.command").note_beside(url, acts)
        return
    from memory.store.beside import note_beside as note

    await note(home.db, acts)


def held(home: Home) -> AbstractContextManager[object]:
    """The home's lock, where a command that writes needs it: SQLite has one writer, PostgreSQL any number.

    Raises:
        Busy: somebody else has it.
    """
    return nullcontext() if address(home) else home.lock()
