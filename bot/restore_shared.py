"""A restore where the record is in PostgreSQL: what stands there is kept as a file, and replaced by one transaction."""

import asyncio
from pathlib import Path
from typing import Any

from bot import restore_swap as swap
from bot.backup_record import address_of, copy_shared
from bot.errors import MnemaError
from bot.home import Home
from bot.record import scaled
from memory.failpoint import fp


def keep(home: Home, url: str) -> Path | None:
    """A copy of what the database holds now, as a SQLite file in `data`; None where it has no tables.

    Raises:
        MnemaError, StoreError: there is no copy, and so nothing may be replaced.
    """
    path = home.data / swap.KEPT_RECORD
    swap.drop_copy(home.root)  # of a restore that was cut
    if not asyncio.run(_moving().has_tables(url)):
        return None
    copy_shared(url, path)
    return path


def refuse_at_work(url: str) -> None:
    """Go on only while nobody is at work on the record.

    Raises:
        StoreBusy: somebody is.
    """
    asyncio.run(_moving().refuse_at_work(url))


def load(root: Path, url: str, stamp: str) -> None:
    """Replace the record with the one that was made ready, and let the files follow; a kill leaves the old or the new.

    Raises:
        StoreError, MnemaError, OSError: the old state holds, or, where the database could not tell, the next command
        asks it again.
    """
    try:
        with swap.deciding(root, stamp) as mark:
            asyncio.run(_moving().replace(swap.staged(root, stamp) / swap.RECORD, url, mark))
            fp("restore.recorded")
    finally:
        swap.finish(root)


def decided(root: Path, mark: str) -> bool:
    """Whether the database has taken the record of the restore that had this mark.

    Raises:
        MnemaError: nobody knows which database it is; config.json is to be mended.
        StoreError: it cannot be asked.
    """
    url = address_of(Home(root=root))
    if not url:
        raise MnemaError("A restore was cut, and its database must be asked how far it came: mend database_url first.")
    return bool(asyncio.run(_moving().replaced(url, mark)))


def _moving() -> Any:
    return scaled("memory.store.postgres_moving")
