"""The record's way into a backup and out of it: there it is a SQLite database, wherever the home keeps its own."""

import asyncio
import sqlite3
from contextlib import suppress
from pathlib import Path

from bot.config import Config, ConfigFile, json_text, known_secrets
from bot.config.plain_file import NotPlain, TooLarge, read_plain
from bot.errors import ConfigError, MnemaError
from bot.home import Home
from bot.log import LEAST_SECRET
from bot.record import scaled
from memory.store.snapshots import copy_database, strip


def copy_record(home: Home, target: Path) -> str:
    """Everything that was stored by now as one SQLite file, without typed secrets and without what channels keep.

    Returns:
        The revision of its tables.

    Raises:
        MnemaError: there is no record, or it cannot be copied; the text says why.
        StoreError: the same of a record in PostgreSQL.
        ConfigError: nobody knows where it is.
    """
    config, url = settings_of(home), address_of(home)
    if not url and not home.db.exists():
        raise MnemaError(f"There is no database in {home.data} yet; there is nothing to back up.")
    try:
        if url:
            copy_shared(url, target)
        else:
            copy_database(home.db, target)
        long_enough = {secret for secret in known_secrets(config) if len(secret) >= LEAST_SECRET}
        return strip(target, long_enough)
    except sqlite3.Error as err:
        raise MnemaError(f"No backup was made: {home.db} cannot be copied to {target.parent.parent}: {err}.") from err


def copy_shared(url: str, target: Path) -> None:
    """One moment of a record in PostgreSQL as a SQLite file, each row of which was read back and compared.

    Raises:
        MnemaError, StoreError: there is no copy, and why.
    """
    moved = asyncio.run(scaled("memory.store.postgres_moving").copy_out(url, target))
    if not moved.equal:
        target.unlink(missing_ok=True)
        wrong = ", ".join(table.source.table for table in moved.tables if not table.equal)
        raise MnemaError(f"The copy is not what the database holds (in {wrong}); nothing was done.")


def address_of(home: Home) -> str:
    """Of the PostgreSQL that has the record, "" for SQLite's file. Never guessed: a kept file may be an old record.

    Raises:
        ConfigError: config.json is broken and may name a database.
    """
    try:
        return ConfigFile(home.config).check().database_url
    except ConfigError:
        if _names_a_database(home.config):
            raise
        return ""


def _names_a_database(path: Path) -> bool:
    try:
        text = read_plain(path).decode("utf-8", "replace")
    except (NotPlain, TooLarge):
        return True  # nobody knows what it names
    try:
        held = json_text.parse(text).children.get("database_url")
    except json_text.Misread:
        return "database_url" in text
    return held is not None and held.value != ""


def settings_of(home: Home) -> Config:
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
