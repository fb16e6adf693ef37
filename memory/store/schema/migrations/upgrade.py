"""Runs alembic's revisions; imported only when the tables are older, because alembic is slow to
load.
"""

import sqlite3
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, create_engine, event
from sqlalchemy.pool import NullPool


def run_revisions(connection: Connection, to: str = "head") -> None:
    """Run the revisions that the tables lack, up to this one."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    config.attributes["connection"] = connection
    command.upgrade(config, to)


def upgrade(path: Path, to: str = "head") -> None:
    """Upgrade an SQLite file, each revision in its own transaction: a kill leaves the tables of one
    version.
    """
    engine = create_engine("sqlite://", creator=lambda: _connect(path), poolclass=NullPool)
    event.listen(engine, "begin", _begin)
    with engine.connect() as connection:
        run_revisions(connection, to)
    engine.dispose()


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("PRAGMA foreign_keys=OFF")
    return connection


def _begin(connection: Any) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE")
