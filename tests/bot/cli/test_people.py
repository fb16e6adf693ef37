"""A person's data: listed, exported completely, and removed without a trace and without touching
anyone else's.
"""

import asyncio
import json
import signal
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from bot.cli.main import main
from bot.models.base import Request
from channels.message import Attachment
from channels.testing import ScriptedChannel as Channel
from tests.bot.inside import TERMINAL, Inside, inside
from tests.bot.talk import call, results
from tests.by_night import first_by_day
from tests.walk import harness

ANNA, BERT = "CANARY-anna-4711", "CANARY-bert-0815"
SETTINGS = {"channels": {"telegram": {"enabled": False, "allow": ["7", "8", "g"]}}}
SHARED, OWN = b"a file that both have sent", b"a file of anna alone"


def script(request: Request) -> object:
    said = str(request.messages[-1].parts)
    for canary in (ANNA, BERT):
        if f"note {canary}" in said and not results(request):
            return (call("write_file", path="notes.md", content=canary),)
    return "noted"


def sent(data: bytes) -> tuple[Attachment, ...]:
    return (Attachment(name="file.txt", media_type="text/plain", data=data),)


async def _talked(it: Inside) -> None:
    for who, canary in (("7", ANNA), ("8", BERT)):
        await it.say(f"note {canary}", chat=who, sender=who)
        await it.say(f"/remember I like {canary} very much", chat=who, sender=who)
        await it.say("look", chat=who, sender=who, attachments=sent(SHARED))
        await it.say(f"in the group {canary}", chat="g", sender=who, kind="group")
        await it.say(f"/remind 30d {canary} once more", chat=who, sender=who)
    await it.say("mine", chat="7", sender="7", attachments=sent(OWN))
    store = it.bot.store
    row = await store.sessions.find("telegram", "bot", "7")
    assert row is not None
    await store.notes.put("telegram", {"chat:7": "dm", "chat:8": "dm", "hook": "kept"})
    for space in ("telegram-7", "telegram-8"):
        await it.bot.recall.refresh(space)
    await it.bot.settled()


@pytest.fixture
def home(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    async def lived() -> None:
        channel = Channel(name="telegram", account="bot", capabilities=TERMINAL)
        async with inside(tmp_path, script, SETTINGS, channel) as it:  # type: ignore[arg-type]
            await _talked(it)

    asyncio.run(lived())
    capsys.readouterr()
    return tmp_path


def mnema(home: Path, *args: str) -> int:
    return main(["--home", str(home), *args])


def bytes_with(home: Path, canary: str) -> list[str]:
    """List the files that contain it, without copies of the database."""
    held = [path for path in home.rglob("*") if path.is_file() and "snapshots" not in path.parts]
    return sorted(
        path.relative_to(home).as_posix() for path in held if canary.encode() in path.read_bytes()
    )


def dump(home: Path) -> dict[str, list[tuple[object, ...]]]:
    with closing(sqlite3.connect(home / "data" / "mnema.db")) as held:
        names = [
            row[0] for row in held.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        return {name: sorted(held.execute(f"SELECT * FROM {name}"), key=repr) for name in names}


def test_everybody_is_listed_with_what_there_is_of_them(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert mnema(home, "people", "list", "--json") == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(row["space"], row["accounts"], len(row["conversations"])) for row in rows] == [
        ("telegram-7", ["telegram:7"], 1),
        ("telegram-8", ["telegram:8"], 1),
    ]
    assert mnema(home, "people", "list") == 0
    assert "telegram-7  telegram:7  messages " in capsys.readouterr().out


def test_one_file_has_all_that_is_kept_of_a_person_and_nothing_of_another(
    home: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    target = tmp_path / "anna.zip"
    assert mnema(home, "people", "export", "telegram:7", "--out", str(target)) == 0
    assert target.stat().st_mode & 0o777 == 0o600
    with zipfile.ZipFile(target) as bundle:
        held = {name: bundle.read(name) for name in bundle.namelist()}
    whole = b"".join(held.values())
    assert ANNA.encode() in whole
    assert BERT.encode() not in whole
    manifest = json.loads(held["manifest.json"])
    assert (manifest["conversations"], manifest["attachments"], manifest["left_out"]) == (1, 2, [])
    assert held["files/telegram-7/notes.md"] == ANNA.encode()
    assert ANNA.encode() in held["files/telegram-7/MEMORY.md"]
    assert SHARED in held.values()
    [job] = json.loads(held["jobs.json"])
    assert (job["body"], job["state"], job["occurrences"]) == (f"{ANNA} once more", "on", [])
    former = [one for one in json.loads(held["versions.json"]) if one["sha256"]]
    assert manifest["versions"] >= len(former)
    assert all(f"versions/{one['sha256']}" in held for one in former)
    [talk] = [name for name in held if name.startswith("conversations/")]
    assert json.loads(held[talk].splitlines()[0])["session"]["chat_id"] == "7"
    assert mnema(home, "people", "export", "telegram:7", "--out", str(target)) == 1
    assert "File exists" in capsys.readouterr().err
    assert mnema(home, "people", "export", "telegram:9", "--out", str(tmp_path / "none.zip")) == 1
    assert "There is no person telegram:9" in capsys.readouterr().err
    assert not (tmp_path / "none.zip").exists()


HER_BUDGET = "telegram:bot:7"  # whose budget her turns in groups count to until she is gone


def _rows_without_group(home: Path) -> dict[str, list[tuple[object, ...]]]:
    """Read everything in the store except the audit, the lease and anna's own data; her usage has
    no owner.
    """
    held = dump(home)
    with closing(sqlite3.connect(home / "data" / "mnema.db")) as base:
        talks = {row[0] for row in base.execute("SELECT id FROM conversation WHERE chat_id = '7'")}
        hers = (
            "SELECT id FROM turn WHERE conversation IN (SELECT id FROM conversation WHERE chat_id "
            "= '7')"
        )
        turns = {row[0] for row in base.execute(hers)}
    own = talks | turns | {"telegram-7"}
    return {
        name: [
            tuple("" if value == HER_BUDGET else value for value in row)
            for row in rows
            if not own & {str(value) for value in row} and row != ("telegram", "chat:7", "dm")
        ]
        for name, rows in held.items()
        if name not in ("audit", "audit_head", "instance", "process", "prefix_text", "coverage")
    }


def test_I44_a_person_is_removed_whole_and_nobody_else_is_touched(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before, files = _rows_without_group(home), set((home / "data" / "blobs").iterdir())
    assert len(files) == 2
    bert = bytes_with(home, BERT)
    assert mnema(home, "people", "delete", "telegram:7", "--yes") == 0
    told = capsys.readouterr().out
    assert "Removed: conversations 1, other rows 3, files of their memory 2, attachments 1" in told
    assert "Kept: 1 messages that they wrote in groups" in told
    assert "Kept: telegram:7 in config.json under channels.telegram.allow" in told
    assert _rows_without_group(home) == before
    assert not (home / "workspace" / "spaces" / "telegram-7").exists()
    assert not [row for rows in dump(home).values() for row in rows if HER_BUDGET in row]
    assert [path.read_bytes() for path in (home / "data" / "blobs").iterdir()] == [SHARED]
    left = bytes_with(home, ANNA)
    # what was said in the group is there
    assert [path for path in left if "group" not in path] == ["data/mnema.db"]
    assert bytes_with(home, BERT) == bert
    with closing(sqlite3.connect(home / "data" / "mnema.db")) as held:
        said = held.execute(
            "SELECT count(*) FROM message WHERE parts LIKE ?", (f"%{ANNA}%",)
        ).fetchone()
    assert said == (1,)
    assert mnema(home, "audit", "verify") == 0
    assert mnema(home, "people", "delete", "telegram:7", "--yes") == 1
    assert "There is no person telegram:7" in capsys.readouterr().err
    assert _rows_without_group(home) == before


@pytest.mark.parametrize(
    "point",
    first_by_day(2, ["forget.in_txn", "forget.files_done", "forget.committed", "forget.done"]),
)
def test_I44_a_removal_that_was_killed_goes_on(
    home: Path, capsys: pytest.CaptureFixture[str], point: str
) -> None:
    before = _rows_without_group(home)
    words = ("people", "delete", "telegram-7", "--yes")
    code, _, _ = asyncio.run(harness.mnema(home, *words, fp=f"{point}:kill9"))
    assert code == -signal.SIGKILL
    if point in ("forget.in_txn", "forget.files_done"):  # by hand, or at the next start

        async def started() -> None:
            channel = Channel(name="telegram", account="bot", capabilities=TERMINAL)
            async with inside(home, script, channel=channel):  # type: ignore[arg-type]
                pass

        asyncio.run(started())
    else:
        assert mnema(home, "people", "delete", "telegram-7", "--yes") == (
            1 if point == "forget.done" else 0
        )
    capsys.readouterr()
    assert {**_rows_without_group(home), "person_removal": []} == before
    assert dump(home)["person_removal"] == []
    assert [path.read_bytes() for path in (home / "data" / "blobs").iterdir()] == [SHARED]
    assert not (home / "workspace" / "spaces" / "telegram-7").exists()


def test_the_owner_and_who_is_linked_to_the_owner_are_not_removed_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async def lived() -> None:
        async with inside(tmp_path, script) as it:  # type: ignore[arg-type]
            await it.say("hello")

    asyncio.run(lived())
    capsys.readouterr()
    before = dump(tmp_path)["message"]
    for name in ("owner", "terminal:u1"):
        assert mnema(tmp_path, "people", "delete", name, "--yes") == 1
        assert f"{name} is the owner, or an account linked to the owner" in capsys.readouterr().err
    assert dump(tmp_path)["message"] == before
    assert mnema(tmp_path, "people", "export", "owner", "--out", str(tmp_path / "o.zip")) == 0


def test_in_a_chat_a_person_takes_out_all_of_their_own(home: Path) -> None:
    async def lived() -> str:
        channel = Channel(name="telegram", account="bot", capabilities=TERMINAL)
        async with inside(home, script, channel=channel) as it:  # type: ignore[arg-type]
            return await it.text("/export all", chat="7", sender="7")

    told = asyncio.run(lived())
    assert told.startswith("Everything the bot stores about you is in exports/")
    [path] = (home / "workspace" / "spaces" / "telegram-7" / "exports").iterdir()
    with zipfile.ZipFile(path) as bundle:
        whole = b"".join(bundle.read(name) for name in bundle.namelist())
    assert ANNA.encode() in whole
    assert BERT.encode() not in whole


def test_a_link_in_a_folder_goes_and_what_it_points_to_stays(home: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("x")
    space = home / "workspace" / "spaces" / "telegram-7"
    (space / "deep" / "er").mkdir(parents=True)
    (space / "deep" / "er" / "file").write_text("x")
    (space / "away").symlink_to(outside)
    (space / "deep" / "one").symlink_to(outside / "precious")
    assert mnema(home, "people", "delete", "telegram:7", "--yes") == 0
    assert not space.exists()
    assert (outside / "precious").read_text() == "x"
