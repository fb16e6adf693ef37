"""`mnema migrate --from … --to …`: a store moves to PostgreSQL and back, and every row is
compared.
"""

import asyncio
import hashlib
import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from bot.cli.main import main
from bot.config import restore_journal as journal
from memory.store.maintenance.copy import TABLES
from memory.store.postgres.move import replace_store, was_replaced
from memory.store.postgres.open import open_postgres
from tests.memory.store.first_home import go_back
from tests.memory.store.whole import whole
from tests.postgres import database, fresh, made, needs_postgres  # noqa: F401  fixtures
from tests.walk.record import query

pytestmark = pytest.mark.postgres
Rows = dict[str, list[tuple[Any, ...]]]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    whole(tmp_path / "bot" / "data" / "mnema.db")
    return tmp_path / "bot"


def mnema(home: Path, *words: str) -> int:
    return main(["--home", str(home), *words])


def rows(db: Path | str) -> Rows:
    """Read every row that is copied."""
    found = {}
    for table in TABLES:
        names = ", ".join(f'"{column.name}"' for column in table.columns)
        found[table.name] = sorted(query(db, f"SELECT {names} FROM {table.name}"))
    return found


def told(
    home: Path, capsys: pytest.CaptureFixture[str], *words: str
) -> tuple[int, dict[str, Any], str]:
    """Return exit code, JSON output, and stderr."""
    capsys.readouterr()
    code = mnema(home, "migrate", *words, "--json")
    said = capsys.readouterr()
    return code, json.loads(said.out or "{}"), said.err


def test_a_record_with_rows_in_every_table_moves_and_the_file_stays(
    home: Path,
    fresh: str,  # noqa: F811
    capsys: pytest.CaptureFixture[str],
) -> None:
    db = home / "data" / "mnema.db"
    before, file = rows(db), hashlib.sha256(db.read_bytes()).hexdigest()
    code, facts, _ = told(home, capsys, "--from", "sqlite", "--to", fresh)
    assert (code, facts["equal"], len(facts["tables"])) == (0, True, len(TABLES))
    assert all(one["from"] == one["to"] and one["from"]["rows"] for one in facts["tables"])
    after = rows(fresh)
    after["inbox"], before["inbox"] = _calm(after["inbox"]), _calm(before["inbox"])
    assert _unmoved(after) == _unmoved(before)
    assert len(after["audit"]) == len(before["audit"]) + 1
    assert hashlib.sha256(db.read_bytes()).hexdigest() == file
    [(lease,)] = query(db, "SELECT lease_epoch FROM instance")
    assert query(fresh, "SELECT lease_epoch FROM instance") == [(lease,)]
    assert query(fresh, "SELECT lease, until FROM process") == [(lease, 0.0)]
    assert not (home / "config.json").exists()


def _unmoved(held: Rows) -> Rows:
    """Remove the audit row of the move, and the end of the chain."""
    acts = [row for row in held["audit"] if "move" not in row]
    return {name: rows for name, rows in held.items() if name != "audit_head"} | {"audit": acts}


def _calm(inbox: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Return the rows as they are when their queue handles them."""
    at = [
        column.name for column in TABLES[[table.name for table in TABLES].index("inbox")].columns
    ].index("urgent")
    return [(*row[:at], False, *row[at + 1 :]) for row in inbox]


def test_it_moves_into_a_database_without_tables_and_messages_stay_as_they_are(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    needs_postgres()
    with database() as url:
        monkeypatch.setenv("RECORD", url.replace("postgresql", "postgresql+psycopg", 1))
        assert mnema(home, "migrate", "--from", "sqlite", "--to", "${RECORD}", "--set") == 0
        out = capsys.readouterr().out
        assert "DIFFERS" not in out
        assert f"{home}/data/mnema.db is kept unchanged" in out
        assert json.loads((home / "config.json").read_text())["database_url"] == "${RECORD}"
        assert mnema(home, "sessions", "show", "garden") == 0
        with pytest.raises(psycopg.errors.RaiseException, match="never changed"):
            query(url, "UPDATE message SET parts = ''")


def test_a_second_run_says_that_it_was_done_and_refuses_once_the_record_is_lived_in(
    home: Path,
    fresh: str,  # noqa: F811
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert mnema(home, "migrate", "--from", "sqlite", "--to", fresh) == 0
    code, facts, _ = told(home, capsys, "--from", "sqlite", "--to", fresh)
    assert (code, facts["moved_before"], facts["equal"]) == (0, True, True)

    async def live() -> None:
        store = await open_postgres(fresh)
        await store.leases.delete_expired()
        await store.close()

    asyncio.run(live())
    code, _, err = told(home, capsys, "--from", "sqlite", "--to", fresh)
    assert code == 1
    assert "the database holds rows already" in err


def test_it_comes_back_row_by_row(
    home: Path,
    tmp_path: Path,
    fresh: str,  # noqa: F811
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert mnema(home, "migrate", "--from", "sqlite", "--to", fresh) == 0
    code, _, err = told(home, capsys, "--from", fresh, "--to", "sqlite")
    assert code == 1
    assert "mnema.db exists already" in err
    new = tmp_path / "new"
    code, facts, _ = told(new, capsys, "--from", fresh, "--to", "sqlite", "--set")
    assert (code, facts["equal"]) == (0, True)
    assert _unmoved(rows(new / "data" / "mnema.db")) == _unmoved(rows_as_numbers(rows(fresh)))
    assert mnema(new, "migrate") == 0
    assert mnema(new, "doctor", "--json") in (0, 1)
    checks = {
        one["name"]: one["ok"]
        for one in json.loads(capsys.readouterr().out.partition("schema.\n")[2])["checks"]
    }
    assert checks["database"]
    assert checks["ledger"]
    assert checks["audit"]


def test_a_minus_zero_whose_sign_sqlite_does_not_store_arrives_as_zero(
    tmp_path: Path,
    fresh: str,  # noqa: F811
    capsys: pytest.CaptureFixture[str],
) -> None:
    query_none(fresh, "INSERT INTO model_factor VALUES ('m', 1.5, 2, -0.0::double precision)")
    code, facts, err = told(tmp_path, capsys, "--from", fresh, "--to", "sqlite")
    assert (code, err, facts["equal"]) == (0, "", True)
    assert query(tmp_path / "data" / "mnema.db", "SELECT error_percent FROM model_factor") == [
        (0.0,)
    ]


def test_each_move_is_an_act_of_the_chain_and_the_chain_stands(
    home: Path,
    tmp_path: Path,
    fresh: str,  # noqa: F811
    capsys: pytest.CaptureFixture[str],
) -> None:
    """There and back are two audit rows with the result of the comparison; a run that finds it done
    adds none.
    """
    before = len(query(home / "data" / "mnema.db", "SELECT 1 FROM audit"))
    new, moves = tmp_path / "new", []
    for place, words in (
        (home, ("--from", "sqlite", "--to", fresh, "--set")),
        (home, ("--from", "sqlite", "--to", fresh)),
        (new, ("--from", fresh, "--to", "sqlite")),
    ):
        code, facts, err = told(place, capsys, *words)
        assert (code, facts["equal"]) == (0, True), err
        lines = "".join(
            f"{one['table']} {one['to']['rows']} {one['to']['sha256']}\n" for one in facts["tables"]
        )
        assert facts["whole"]["sha256"] == hashlib.sha256(lines.encode()).hexdigest()
        assert facts["whole"]["rows"] == sum(one["to"]["rows"] for one in facts["tables"])
        if not facts["moved_before"]:
            moves.append(f"{facts['whole']['rows']:,} rows, sha256 {facts['whole']['sha256']}")
        assert mnema(place, "audit", "verify") == 0
    capsys.readouterr()
    assert mnema(new, "audit", "list", "--json") == 0
    acts = json.loads(capsys.readouterr().out)[before:]
    assert [(act["action"], act["subject"], act["actor"], act["result"]) for act in acts] == [
        ("move", "sqlite to postgresql", "command line", moves[0]),
        ("move", "postgresql to sqlite", "command line", moves[1]),
    ]
    assert len(query(fresh, "SELECT 1 FROM audit")) == before + 1


def rows_as_numbers(held: Rows) -> Rows:
    """SQLite returns booleans as numbers."""
    return {
        name: [
            tuple(int(value) if isinstance(value, bool) else value for value in row)
            for row in found
        ]
        for name, found in held.items()
    }


def test_a_row_that_does_not_arrive_as_it_was_is_named_and_nothing_stands(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    needs_postgres()
    with database() as url:
        asyncio.run(_made_tables(url))
        query_none(
            url,
            "CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.text := "
            "'other'; RETURN NEW; END $$; CREATE TRIGGER spoiled BEFORE INSERT ON memory FOR EACH "
            "ROW EXECUTE FUNCTION spoil()",
        )
        code, facts, err = told(home, capsys, "--from", "sqlite", "--to", url)
        assert code == 1
        assert "differ" in err
        assert [one["table"] for one in facts["tables"] if not one["equal"]] == ["memory"]
        assert query(url, "SELECT 1 FROM message") == []


async def _made_tables(url: str) -> None:
    await (await open_postgres(url)).close()


def query_none(url: str, statements: str) -> None:
    with psycopg.connect(url, autocommit=True) as held:
        held.execute(statements)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        ("UPDATE memory SET text = 'a' || char(0)", "memory.text holds a NUL character"),
        ("UPDATE usage SET input = 3000000000", "usage.input holds 3000000000"),
        ("UPDATE usage SET input = 'many'", "usage.input holds a str where int belongs"),
    ],
)
def test_what_postgresql_cannot_keep_is_named_and_nothing_is_moved(
    home: Path,
    fresh: str,  # noqa: F811
    spoil: str,
    words: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with closing(sqlite3.connect(home / "data" / "mnema.db")) as held:
        held.execute(spoil)
        held.commit()
    code, _, err = told(home, capsys, "--from", "sqlite", "--to", fresh)
    assert code == 1
    assert words in err
    assert query(fresh, "SELECT 1 FROM conversation") == []


def test_sources_and_targets_that_are_not_right_are_refused_in_one_sentence(
    home: Path,
    fresh: str,  # noqa: F811
    capsys: pytest.CaptureFixture[str],
) -> None:
    def refused(*words: str) -> str:
        code, _, err = told(home, capsys, *words)
        assert code in (1, 2)
        assert err.count("\n") == 1
        return err

    db = home / "data" / "mnema.db"
    there = ("--from", "sqlite", "--to", fresh)
    assert "go together" in refused("--to", fresh)
    assert "must begin with" in refused("--from", "sqlite", "--to", "mysql://x")
    assert "cannot be used" in refused("--from", "sqlite", "--to", "postgresql://u@127.0.0.1:1/x")
    query_none(fresh, "INSERT INTO process VALUES (7, 'host:1:worker', 9e9, '')")
    assert "at work on that database (host:1:worker)" in refused(*there)
    query_none(fresh, "DELETE FROM process")
    go_back(db)
    assert "another version's tables; run mnema migrate first" in refused(*there)
    db.write_bytes(b"x" * 9000)
    assert "damaged" in refused(*there)
    shutil.rmtree(home / "data")
    assert "nothing to move" in refused(*there)
    query_none(fresh, "INSERT INTO process VALUES (7, 'host:1:worker', 9e9, '')")
    assert "at work on that database" in refused("--from", fresh, "--to", "sqlite")
    assert not db.exists()
    query_none(fresh, "DELETE FROM process")


def test_a_home_that_somebody_holds_is_not_moved(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from bot.config.home import HomeFolder

    with HomeFolder(root=home).lock():
        code, _, err = told(
            home, capsys, "--from", "sqlite", "--to", "postgresql://u@127.0.0.1:1/x"
        )
    assert code == 1
    assert "Another mnema" in err


def test_two_restores_of_one_second_are_not_taken_for_each_other(
    tmp_path: Path,
    fresh: str,  # noqa: F811
) -> None:
    """The database identifies its restore by a mark, not by the time in the names of folders."""
    stamp, marks = "20260101T000000Z", []
    for _ in range(2):
        with journal.await_database_commit(tmp_path, stamp) as mark:
            marks.append(mark)
    asyncio.run(replace_store(whole(tmp_path / "m.db"), fresh, marks[0]))
    assert [asyncio.run(was_replaced(fresh, mark)) for mark in marks] == [True, False]
