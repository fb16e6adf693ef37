"""The store's way into a backup and out of it: there it is a SQLite database, wherever the home keeps its own."""

import asyncio
import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import Any

from bot.config import restore_journal as swap
from bot.config.file import ConfigFile
from bot.config.home import HomeFolder
from bot.config.keys import known_secrets
from bot.config.schema import Config
from bot.errors import ConfigError, MnemaError
from bot.runtime.store_access import find_postgres_url, import_scale_module, resume_restore
from bot.telemetry.log import MIN_SECRET_CHARS
from memory.failpoints import hit
from memory.store.engine.sqlite import copy_database
from memory.store.maintenance.snapshots import redact_secrets


def copy_store_to_file(home: HomeFolder, target: Path) -> str:
    """Everything that was stored by now as one SQLite file, without typed secrets and without what channels keep.

    Returns:
        The revision of its tables.

    Raises:
        MnemaError: there is no record, or it cannot be copied; the text says why.
        StoreError: the same of a record in PostgreSQL.
        ConfigError: nobody knows where it is.
    """
    config, url = load_effective_config(home), find_postgres_url(home)
    if not url and not home.db.exists():
        raise MnemaError(f"There is no database in {home.data} yet; there is nothing to back up.")
    try:
        if url:
            copy_postgres(url, target)
        else:
            copy_database(home.db, target)
        long_enough = {secret for secret in known_secrets(config) if len(secret) >= MIN_SECRET_CHARS}
        return redact_secrets(target, long_enough)
    except sqlite3.Error as err:
        raise MnemaError(f"No backup was made: {home.db} cannot be copied to {target.parent.parent}: {err}.") from err


def copy_postgres(url: str, target: Path) -> None:
    """One moment of a record in PostgreSQL as a SQLite file, each row of which was read back and compared.

    Raises:
        MnemaError, StoreError: there is no copy, and why.
    """
    moved = asyncio.run(import_scale_module("memory.store.maintenance.postgres_move").copy_out(url, target))
    if not moved.equal:
        target.unlink(missing_ok=True)
        wrong = ", ".join(table.source.table for table in moved.tables if not table.equal)
        raise MnemaError(f"The copy is not what the database holds (in {wrong}); nothing was done.")


def load_effective_config(home: HomeFolder) -> Config:
    """The settings that hold, else the last good ones, else the defaults: broken ones are no reason to have no backup.

    Nothing on disk is touched.
    """
    file = ConfigFile(home.config)
    try:
        return file.check()
    except ConfigError:
        with suppress(ConfigError):
            file.load()
        return file.current


# A restore where the store is in PostgreSQL: what stands there is kept as a file, and replaced by one transaction.


def save_current_database(home: HomeFolder, url: str) -> Path | None:
    """A copy of what the database holds now, as a SQLite file in `data`; None where it has no tables.

    Raises:
        MnemaError, StoreError: there is no copy, and so nothing may be replaced.
    """
    path = home.data / swap.KEPT_DATABASE
    swap.remove_kept_copy(home.root)  # of a restore that was cut
    if not asyncio.run(_database_move_module().has_tables(url)):
        return None
    copy_postgres(url, path)
    return path


def check_nobody_connected(url: str) -> None:
    """Go on only while nobody is at work on the store.

    Raises:
        StoreBusy: somebody is.
    """
    asyncio.run(_database_move_module().refuse_if_in_use(url))


def replace_database(root: Path, url: str, stamp: str) -> None:
    """Replace the store with the one that was made ready, and let the files follow; a kill leaves the old or the new.

    Raises:
        StoreError, MnemaError, OSError: the old state holds, or, where the database could not tell, the next command
        asks it again.
    """
    try:
        with swap.await_database_commit(root, stamp) as mark:
            asyncio.run(
                _database_move_module().replace_store(swap.staging_folder(root, stamp) / swap.DATABASE_NAME, url, mark)
            )
            hit("restore.recorded")
    finally:
        resume_restore(root)


def _database_move_module() -> Any:
    return import_scale_module("memory.store.maintenance.postgres_move")
