"""A PostgreSQL database of an earlier version is upgraded with all rows, in one transaction."""

import asyncio
import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from memory.store.errors import SchemaOlder
from memory.store.maintenance.copy import TABLES
from memory.store.postgres.move import move_in
from memory.store.postgres.open import open_postgres
from memory.store.schema.tables import REVISIONS
from tests.memory.store.older import BACK
from tests.memory.store.whole import whole
from tests.postgres import database, fresh, made, needs_postgres  # noqa: F401  fixtures
from tests.walk.harness import settings
from tests.walk.record import query
from tests.walk.test_backups import mnema

pytestmark = pytest.mark.postgres
FIRST = "r0006"  # the first revision that PostgreSQL ever had
Shape = dict[str, list[Any]]
Rows = dict[str, list[tuple[Any, ...]]]
SHAPE = {
    "columns": "SELECT table_name, column_name, data_type, collation_name, is_nullable, column_default "
    "FROM information_schema.columns WHERE table_schema = 'public'",
    "indexes": "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'",
    "constraints": "SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint "
    "WHERE connamespace = 'public'::regnamespace AND contype <> 'n'",
    "triggers": "SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal",
    "version": "SELECT version_num FROM alembic_version",
}


def shape(url: str) -> Shape:
    """Return the structure of a database's tables."""
    return {name: sorted(query(url, sql), key=repr) for name, sql in SHAPE.items()}


def go_back(url: str, to: str) -> None:
    """Downgrade the tables to an earlier version; columns that it lacks are lost."""
    with psycopg.connect(url, autocommit=True) as held:
        for revision in sorted(BACK, reverse=True):
            for statement in BACK[revision] if revision >= to else ():
                held.execute(statement)
        held.execute("UPDATE alembic_version SET version_num = %s", [to])


def rows(url: str, known: dict[str, list[str]]) -> Rows:
    """Return all rows of these tables with these columns."""
    return {
        name: sorted(query(url, f"SELECT {', '.join(columns)} FROM {name}"), key=repr)
        for name, columns in known.items()
    }


def columns(url: str) -> dict[str, list[str]]:
    """Return the columns of every table that holds data of people."""
    asked = "SELECT column_name FROM information_schema.columns WHERE table_name = ? AND table_schema = 'public'"
    found = {table.name: [f'"{name}"' for (name,) in query(url, asked, table.name)] for table in TABLES}
    return {name: held for name, held in found.items() if held}


@pytest.fixture
def older(tmp_path: Path) -> Iterator[tuple[str, Shape]]:
    """Make a database of the first version in PostgreSQL with rows in every table; return the new tables' structure."""
    needs_postgres()
    with database() as url:
        asyncio.run(move_in(whole(tmp_path / "whole.db"), url))
        head = shape(url)
        go_back(url, FIRST)
        yield url, head


def home(path: Path, url: str) -> Path:
    path.mkdir(exist_ok=True)
    config = settings("http://127.0.0.1:1", database_url=url.replace("postgresql", "postgresql+psycopg", 1))
    (path / "config.json").write_text(json.dumps(config))
    (path / "config.json").chmod(0o600)
    return path


@pytest.mark.kill
async def test_I28_a_postgresql_record_is_brought_up_with_all_it_holds_and_survives_kills(
    tmp_path: Path, older: tuple[str, Shape]
) -> None:
    url, head = older
    bot, known, old = home(tmp_path / "bot", url), columns(url), shape(url)
    before = rows(url, known)
    for point in ("mig.step@1", "mig.step@3"):
        code, _, _ = await mnema(bot, "migrate", fp=f"{point}:kill9")
        assert code == -signal.SIGKILL
        assert (rows(url, known), shape(url)) == (before, old)
    code, _, _ = await mnema(bot, "migrate", fp="mig.done:kill9")
    assert code == -signal.SIGKILL
    assert (rows(url, known), shape(url)) == (before, head)
    assert (await mnema(bot, "migrate"))[:2] == (0, "The database of database_url has this version's schema.\n")
    store = await open_postgres(url)
    assert await store.folds.check_ledger() == []
    assert await store.audit.fault([]) is None
    await store.close()


async def test_an_older_record_is_refused_by_all_but_migrate_and_the_doctor_tells(
    tmp_path: Path, older: tuple[str, Shape]
) -> None:
    url, _ = older
    for opening in (open_postgres(url), open_postgres(url, writable=False)):
        with pytest.raises(SchemaOlder, match="mnema migrate"):
            await opening
    bot = home(tmp_path / "bot", url)
    _, out, _ = await mnema(bot, "doctor", "--json")
    [check] = [one for one in json.loads(out)["checks"] if one["name"] == "database"]
    assert not check["ok"]
    assert check["hint"].startswith("mnema migrate upgrades it")
    with psycopg.connect(url, autocommit=True) as held:
        held.execute("INSERT INTO process VALUES (7, 'host:1:worker', 9e9, '')")
    code, _, err = await mnema(bot, "migrate")
    assert (code, err.count("\n")) == (1, 1)
    assert "at work on that database (host:1:worker)" in err
    assert query(url, "SELECT version_num FROM alembic_version") == [(FIRST,)]


async def test_a_newer_record_and_no_tables_at_all_are_told(tmp_path: Path, fresh: str) -> None:  # noqa: F811
    with psycopg.connect(fresh, autocommit=True) as held:
        held.execute("UPDATE alembic_version SET version_num = 'r9999'")
        try:
            code, _, err = await mnema(home(tmp_path / "newer", fresh), "migrate")
        finally:
            held.execute("UPDATE alembic_version SET version_num = %s", [REVISIONS[-1]])
    assert code == 1
    assert "newer than this program" in err
    needs_postgres()
    with database() as url:
        code, out, _ = await mnema(home(tmp_path / "none", url), "migrate")
    assert (code, out) == (0, "The database of database_url has no tables yet; the first mnema run makes them.\n")
