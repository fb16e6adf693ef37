"""The audit chain: what it contains, and that every change of it is detected."""

import asyncio
import hashlib
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from bot.access.audit import AuditCheckpoints
from bot.cli.main import main
from bot.models.base import Request
from channels.testing import ScriptedChannel as Channel
from memory.store.audit import AuditHead
from tests.bot.inside import TERMINAL, inside
from tests.bot.talk import call, results


def script(request: Request) -> str:
    return "fine"


async def _acts(folder: Path) -> None:
    """Five acts by the terminal's person, the chain's end noted at the close."""
    async with inside(folder, script) as it:
        await it.say("hello")
        await it.text("/context clear")
        await it.text("/context undo")
        await it.text("/config agent_max_steps 9")
        await it.text("/export")
        await it.text("/new")
        await it.bot.settled()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    asyncio.run(_acts(tmp_path))
    return tmp_path


def verified(home: Path, capsys: pytest.CaptureFixture[str], *more: str) -> tuple[int, str]:
    capsys.readouterr()
    code = main(["--home", str(home), "audit", "verify", *more])
    told = capsys.readouterr()
    return code, told.out + told.err


def changed(home: Path, *statements: str) -> None:
    with closing(sqlite3.connect(home / "data" / "mnema.db")) as held:
        for statement in statements:
            held.execute(statement)
        held.commit()


def test_who_did_what_is_in_the_chain_and_with_what_only_as_a_digest(home: Path) -> None:
    with closing(sqlite3.connect(home / "data" / "mnema.db")) as held:
        rows = held.execute(
            "SELECT action, actor, result, args_digest <> '' FROM audit ORDER BY seq"
        ).fetchall()
    who = "terminal/local/u1"
    assert [row[:2] for row in rows] == [
        ("clear", who),
        ("undo clear", who),
        ("config", who),
        ("export", who),
        ("clear", who),
    ]
    assert [row[3] for row in rows] == [0, 0, 1, 0, 0]


def test_a_sound_chain_is_said_to_be(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, told = verified(home, capsys)
    assert code == 0
    assert told.startswith(
        "5 acts stand as written; heads noted outside the database that agree: 1."
    )
    head = told.split("ends at ")[1].split()[0]
    assert verified(home, capsys, "--head", head)[0] == 0
    code, told = verified(home, capsys, "--head", f"5:{'0' * 64}")
    assert (code, told) == (
        1,
        (
            "mnema: Entry 5 is not as it was written: it differs from the one that was "
            "noted outside the database.\n"
        ),
    )
    assert verified(home, capsys, "--head", "5")[0] == 2


CHANGES = [
    ("edited", 2, ["UPDATE audit SET result = 'epoch 9' WHERE seq = 2"]),
    ("edited in who", 3, ["UPDATE audit SET actor = 'telegram/b/1' WHERE seq = 3"]),
    ("removed", 3, ["DELETE FROM audit WHERE seq = 3"]),
    ("the first one removed", 1, ["DELETE FROM audit WHERE seq = 1"]),
    ("the newest removed", 5, ["DELETE FROM audit WHERE seq = 5"]),
    ("all removed", 1, ["DELETE FROM audit"]),
    (
        "reordered",
        2,
        [
            "UPDATE audit SET seq = 99 WHERE seq = 2",
            "UPDATE audit SET seq = 2 WHERE seq = 3",
            "UPDATE audit SET seq = 3 WHERE seq = 99",
        ],
    ),
    (
        "the newest removed, and the record told so",
        5,
        [
            "DELETE FROM audit WHERE seq = 5",
            "UPDATE audit_head SET seq = 4, hash = (SELECT hash FROM audit WHERE seq = 4)",
        ],
    ),
]


@pytest.mark.parametrize(
    ("what", "seq", "statements"), CHANGES, ids=[change[0] for change in CHANGES]
)
def test_S64_the_act_is_named(
    home: Path, capsys: pytest.CaptureFixture[str], what: str, seq: int, statements: list[str]
) -> None:
    changed(home, *statements)
    code, told = verified(home, capsys)
    assert code == 1
    assert told.startswith(f"mnema: Entry {seq} is not as it was written: ")


def test_S64_the_doctor_names_it_too(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, seq, statements = CHANGES[0]
    changed(home, *statements)
    main(["--home", str(home), "doctor"])
    assert f"FAIL audit: Entry {seq} is not as it was written" in capsys.readouterr().out


COVERED = "seq, at, actor, action, subject, args_digest, decision, result, prev_hash"


def rehashed(home: Path, seq: int) -> str:
    """Give an act the hash that its words call for now, as who can write the record would; returns
    it.
    """
    with closing(sqlite3.connect(home / "data" / "mnema.db")) as held:
        row = held.execute(f"SELECT {COVERED} FROM audit WHERE seq = ?", (seq,)).fetchone()
        text = json.dumps(list(row), ensure_ascii=False, separators=(",", ":"))
        became = hashlib.sha256(text.encode()).hexdigest()
        held.execute("UPDATE audit SET hash = ? WHERE seq = ?", (became, seq))
        held.commit()
    return became


def test_S64_an_act_that_was_edited_and_hashed_anew_is_not_what_the_next_one_follows(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changed(home, "UPDATE audit SET actor = 'telegram/b/1' WHERE seq = 2")
    became = rehashed(home, 2)
    wrong = "mnema: Entry 3 is not as it was written: it does not follow the row before it.\n"
    assert verified(home, capsys) == (1, wrong)
    changed(home, f"UPDATE audit SET prev_hash = '{became}' WHERE seq = 3")
    wrong = "mnema: Entry 3 is not as it was written: its hash does not match its text.\n"
    assert verified(home, capsys) == (1, wrong)


def test_S64_a_chain_that_was_hashed_anew_to_its_end_is_another_one_than_was_noted(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changed(home, "UPDATE audit SET actor = 'telegram/b/1' WHERE seq = 2")
    became = rehashed(home, 2)
    for seq in (3, 4, 5):
        changed(home, f"UPDATE audit SET prev_hash = '{became}' WHERE seq = {seq}")
        became = rehashed(home, seq)
    changed(home, f"UPDATE audit_head SET hash = '{became}'")
    wrong = (
        "mnema: Entry 5 is not as it was written: it differs from the one that was noted "
        "outside the database.\n"
    )
    assert verified(home, capsys) == (1, wrong)


def test_S64_a_tail_that_was_cut_and_written_on_shows_too(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changed(
        home,
        "DELETE FROM audit WHERE seq > 3",
        "UPDATE audit_head SET seq = 3, hash = (SELECT hash FROM audit WHERE seq = 3)",
    )

    async def lived() -> None:
        async with inside(home, script) as it:
            for _ in range(3):
                await it.text("/context clear")

    asyncio.run(lived())
    code, told = verified(home, capsys)
    assert code == 1
    assert told.startswith(
        "mnema: Entry 5 is not as it was written: it differs from the one that was noted"
    )


def test_refused_commands_and_tools_that_change_something_are_acts_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = {"channels": {"telegram": {"enabled": False, "allow": ["7"]}}}
    channel = Channel(name="telegram", account="bot", capabilities=TERMINAL)

    def writing(request: Request) -> object:
        done = results(request)
        return (
            "done"
            if done
            else (call("write_file", path="notes.md", content="x"), call("list_files", id="t2"))
        )

    async def lived() -> None:
        async with inside(tmp_path, writing, settings, channel) as it:  # type: ignore[arg-type]
            await it.text("/model other", sender="7", chat="7")
            await it.text("write it down", sender="7", chat="7")

    asyncio.run(lived())
    capsys.readouterr()
    main(["--home", str(tmp_path), "audit", "list", "--json"])
    rows = [
        (row["action"], row["decision"], row["result"], row["args_digest"])
        for row in json.loads(capsys.readouterr().out)
    ]
    assert rows[0] == ("/model", "refused", "refused", "")
    assert [row[:3] for row in rows[1:]] == [("tool write_file", "allowed", "started")]
    assert len(rows[1][3]) == 64
    assert verified(tmp_path, capsys)[0] == 0


def test_ends_are_noted_once_and_a_record_that_began_anew_has_its_own(tmp_path: Path) -> None:
    from datetime import UTC, datetime

    heads, now = AuditCheckpoints(tmp_path), datetime(2026, 11, 22, tzinfo=UTC)
    one, two = AuditHead(seq=1, hash="a"), AuditHead(seq=2, hash="b")
    heads.invalidate("nothing was noted yet", now)
    assert heads.known() == []
    for head in (AuditHead(seq=0, hash=""), one, one, two):
        heads.add(head, now)
    assert heads.known() == [one, two]
    with (tmp_path / "audit_heads").open("a") as file:
        file.write(
            '{"at": "2026',
        )
        file.write("\n")
    assert heads.known() == [one, two]
    heads.invalidate("restored", now)
    heads.add(one, now)
    assert heads.known() == [one]
    assert (tmp_path / "audit_heads").stat().st_mode & 0o777 == 0o600
