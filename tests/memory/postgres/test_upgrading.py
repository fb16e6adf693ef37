"""A PostgreSQL database of an earlier version is upgraded with all rows, in one transaction."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from memory.store.errors import SchemaOlder, SchemaTooOld
from memory.store.maintenance.copy import TABLES
from memory.store.postgres.open import open_postgres
from memory.store.schema.tables import REVISIONS
from tests.emulators.model import ModelEmulator
from tests.emulators.telegram import TelegramEmulator
from tests.memory.store.first_home import FIRST, restore_home_in_postgres
from tests.memory.store.test_upgrading import upgraded
from tests.postgres import database, fresh, made, needs_postgres  # noqa: F401  fixtures
from tests.walk.first_home_work import NEXT_ID, check_work_is_finished
from tests.walk.harness import OWNER, mnema, settings
from tests.walk.processes import several
from tests.walk.record import query
from tests.walk.speech import answer

pytestmark = pytest.mark.postgres
VERSION = "SELECT version_num FROM alembic_version"
Shape = dict[str, list[Any]]
Rows = dict[str, list[tuple[Any, ...]]]
SHAPE = {
    "columns": "SELECT table_name, column_name, data_type, collation_name, is_nullable, "
    "column_default FROM information_schema.columns WHERE table_schema = 'public'",
    "indexes": "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'",
    "constraints": "SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM "
    "pg_constraint WHERE connamespace = 'public'::regnamespace AND contype <> 'n'",
    "triggers": "SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal",
    "version": VERSION,
}


def shape(url: str) -> Shape:
    """Return the structure of a database's tables."""
    return {name: sorted(query(url, sql), key=repr) for name, sql in SHAPE.items()}


def rows(url: str, known: dict[str, list[str]]) -> Rows:
    """Return all rows of these tables with these columns."""
    return {
        name: sorted(query(url, f"SELECT {', '.join(columns)} FROM {name}"), key=repr)
        for name, columns in known.items()
    }


def columns(url: str) -> dict[str, list[str]]:
    """Return the columns of every table that holds data of people."""
    asked = (
        "SELECT column_name FROM information_schema.columns WHERE table_name = ? AND table_schema "
        "= 'public'"
    )
    found = {
        table.name: [f'"{name}"' for (name,) in query(url, asked, table.name)] for table in TABLES
    }
    return {name: held for name, held in found.items() if held}


@pytest.fixture
def older() -> Iterator[str]:
    """Restore the home of the first commit, with rows in every table."""
    needs_postgres()
    with database() as url:
        restore_home_in_postgres(url)
        yield url


def home(path: Path, url: str) -> Path:
    path.mkdir(exist_ok=True)
    config = settings(
        "http://127.0.0.1:1", database_url=url.replace("postgresql", "postgresql+psycopg", 1)
    )
    (path / "config.json").write_text(json.dumps(config))
    (path / "config.json").chmod(0o600)
    return path


@pytest.mark.kill
async def test_I28_a_postgresql_home_is_upgraded_with_all_it_holds_and_survives_kills(
    tmp_path: Path,
    older: str,
    fresh: str,  # noqa: F811
) -> None:
    bot, known, old = home(tmp_path / "bot", older), columns(older), shape(older)
    before = rows(older, known)
    code, _, _ = await mnema(bot, "migrate", fp="mig.step@1:kill9")
    assert code == -signal.SIGKILL
    assert (rows(older, known), shape(older)) == (before, old)
    code, _, _ = await mnema(bot, "migrate", fp="mig.done:kill9")
    assert code == -signal.SIGKILL
    assert (rows(older, known), shape(older)) == (upgraded(before), shape(fresh))
    assert (await mnema(bot, "migrate"))[:2] == (
        0,
        "The database of database_url has this version's schema.\n",
    )
    store = await open_postgres(older)
    assert await store.folds.check_ledger() == []
    assert await store.audit.fault([]) is None
    await store.close()


@pytest.mark.kill
async def test_I28_a_bot_finishes_the_open_work_of_an_upgraded_home(
    tmp_path: Path, older: str
) -> None:
    code, _, err = await mnema(home(tmp_path / "migrated", older), "migrate")
    assert (code, err) == (0, "")
    model = ModelEmulator(responder=answer)
    async with (
        TelegramEmulator() as telegram,
        several(tmp_path / "bot", older, model, telegram.url, provider="openai") as bots,
    ):
        telegram.chat(int(OWNER), next_id=NEXT_ID)
        [bot] = await bots.start("all")
        await check_work_is_finished(bot, telegram)
        assert await bot.term() == 0


async def test_older_tables_are_refused_by_all_but_migrate_and_the_doctor_says_so(
    tmp_path: Path, older: str
) -> None:
    for opening in (open_postgres(older), open_postgres(older, writable=False)):
        with pytest.raises(SchemaOlder, match="mnema migrate"):
            await opening
    bot = home(tmp_path / "bot", older)
    check = await doctor_check(bot)
    assert not check["ok"]
    assert check["hint"].startswith("mnema migrate upgrades the database")
    with psycopg.connect(older, autocommit=True) as held:
        held.execute("INSERT INTO process VALUES (7, 'host:1:worker', 9e9, '')")
    code, _, err = await mnema(bot, "migrate")
    assert (code, err.count("\n")) == (1, 1)
    assert "at work on that database (host:1:worker)" in err
    assert query(older, VERSION) == [(FIRST,)]


async def test_tables_of_an_older_commit_are_refused_by_all(tmp_path: Path, older: str) -> None:
    with psycopg.connect(older, autocommit=True) as held:
        held.execute("UPDATE alembic_version SET version_num = 'r0012'")
    for opening in (open_postgres(older), open_postgres(older, writable=False)):
        with pytest.raises(SchemaTooOld, match="go through commit ed4b8f97 first"):
            await opening
    bot = home(tmp_path / "bot", older)
    code, _, err = await mnema(bot, "migrate")
    assert (code, err.count("\n")) == (1, 1)
    assert "r0012, which this version cannot upgrade; go through commit ed4b8f97 first" in err
    assert query(older, VERSION) == [("r0012",)]
    assert "请先用提交 ed4b8f97 过渡" in (await doctor_check(bot, "zh"))["message"]


async def doctor_check(bot: Path, language: str = "en") -> dict[str, Any]:
    """Return what the doctor says of the database."""
    assert (await mnema(bot, "config", "set", "language", language))[0] == 0
    _, out, _ = await mnema(bot, "doctor", "--json")
    checks: list[dict[str, Any]] = json.loads(out)["checks"]
    return next(check for check in checks if check["name"] == "database")


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
    assert (code, out) == (
        0,
        "The database of database_url has no tables yet; the first mnema run makes them.\n",
    )
