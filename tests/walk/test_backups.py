"""Backups of a bot that is being talked to, and restores that are killed: I30."""

import asyncio
import hashlib
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from bot.config.restore_journal import REPLACED_NAMES
from tests.by_night import by_night
from tests.emulators.model import ModelEmulator
from tests.walk.harness import Scene, mnema, scene
from tests.walk.kills import Stage, send_picture
from tests.walk.record import ledger_faults, message_hashes, query
from tests.walk.speech import answer, asked, asked_for

SIGKILLED = -9
# What a restore itself writes to: its own row of the audit, repeats, leases.
NOT_COMPARED = {
    "instance",
    "process",
    "duty",
    "audit",
    "audit_head",
    "channel_note",
    "outbox",
    "probe",
}


def dump(db: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table, whatever its place in the file."""
    with closing(sqlite3.connect(f"{db.as_uri()}?mode=ro", uri=True)) as held:
        tables = [
            row[0] for row in held.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        return {
            name: sorted(held.execute(f"SELECT * FROM {name}"))
            for name in tables
            if name not in NOT_COMPARED
        }


def files(root: Path) -> dict[str, str]:
    """Path -> hash of everything that people or the model wrote."""
    found = [
        path
        for name in ("workspace", "data/blobs")
        for path in (root / name).rglob("*")
        if path.is_file()
    ]
    return {
        str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest() for path in found
    }


async def talked(talk: Scene, *tokens: str) -> None:
    for token in tokens:
        await talk.say(
            "work", asked_for(token, "write_file", path=f"notes/{token}.md", content=token)
        )


@by_night
async def test_I30_a_backup_at_rest_comes_back_row_by_row(tmp_path: Path) -> None:
    async with scene(tmp_path / "old", ModelEmulator(responder=answer)) as talk:
        await talk.bot.start()
        await talked(talk, "one", "two")
        await talk.say("work", "/context fold")
        assert await talk.bot.term() == 0
        assert (await mnema(talk.bot.home, "backup", str(tmp_path / "file")))[0] == 0
        code, out, err = await mnema(tmp_path / "new", "restore", str(tmp_path / "file"))
        assert (code, err) == (0, ""), err
        assert "Not in the backup, set them again: llm.api_key." in out
        assert dump(tmp_path / "new" / "data" / "mnema.db") == dump(talk.bot.db)
        assert files(tmp_path / "new") == files(talk.bot.home)
        assert (tmp_path / "new" / "config.json").exists()
        assert not list((tmp_path / "new").glob("*before-restore*"))
        assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


async def test_I30_a_backup_under_load_has_every_message_that_was_confirmed_before_it_began(
    tmp_path: Path,
) -> None:
    async with scene(tmp_path / "old", ModelEmulator(responder=answer)) as talk:
        await talk.bot.start()
        stopped = asyncio.Event()
        stage = Stage(talk, None)  # type: ignore[arg-type]

        async def chatter(name: str) -> None:
            at = 0
            while not stopped.is_set():
                at += 1
                await talk.say(
                    name,
                    asked_for(f"{name}-{at}", "write_file", path=f"{name}.md", content="x" * at),
                )
                await send_picture(stage, f"{name}-{at}")

        talking = [asyncio.create_task(chatter(f"c{number}")) for number in range(3)]
        for number in range(2):
            await talk.say("main", asked(f"before {number}"))
            confirmed = set(message_hashes(talk.bot.db).items())
            file = tmp_path / f"file{number}"
            code, _, err = await mnema(talk.bot.home, "backup", str(file))
            assert code == 0, err
            new = tmp_path / f"new{number}"
            code, _, err = await mnema(new, "restore", str(file))
            assert code == 0, err
            restored = new / "data" / "mnema.db"
            assert confirmed <= set(message_hashes(restored).items())
            assert await ledger_faults(restored) == []
            blobs = {path.name for path in (new / "data" / "blobs").iterdir()}
            named = query(restored, "SELECT parts FROM message WHERE parts LIKE '%sha256%'")
            assert all(any(blob in parts for blob in blobs) for (parts,) in named)
        stopped.set()
        await asyncio.gather(*talking)
        await stage.confirmed()
        assert talk.bot.alive


@by_night
async def test_I30_what_was_restored_goes_on_and_answers_what_was_not_answered(
    tmp_path: Path,
) -> None:
    async with scene(tmp_path / "old", ModelEmulator(responder=answer)) as talk:
        await talk.bot.start("llm.before@2:hang")
        await talk.say("main", asked("first"))
        id = await talk.web.post("main", asked("second"))
        token = (talk.bot.home / "data" / "web_token").read_text()
        assert (await mnema(talk.bot.home, "backup", str(tmp_path / "file")))[0] == 0
        code, _, err = await mnema(talk.bot.home, "restore", str(tmp_path / "file"))
        assert (code, err) == (
            1,
            (
                f"mnema: Another mnema (process {talk.bot.pid}) is running on {talk.bot.home}; "
                "stop it first.\n"
            ),
        )
        await talk.bot.kill()
        code, out, _ = await mnema(talk.bot.home, "restore", str(tmp_path / "file"))
        assert code == 0
        assert "Not answered yet when it was made: 1." in out
        await talk.bot.start()
        assert (talk.bot.home / "data" / "web_token").read_text() != token
        assert (await talk.web.answer("main", id))["text"] == "re «second»"
        assert await talk.say("main", asked("third")) == "re «third»"


def kept(home: Path) -> dict[str, Any]:
    """What a restore has put aside, each once."""
    [config], [workspace], [data] = (
        list(home.glob(f"{name}.before-restore.*")) for name in REPLACED_NAMES
    )
    notes = sorted(path.name for path in (workspace / "notes").iterdir())
    return {"config": config.read_text(), "notes": notes, "record": dump(data / "mnema.db")}


@pytest.mark.kill
@pytest.mark.parametrize(
    "place",
    [
        pytest.param("restore.extracted@1", marks=by_night),
        pytest.param("restore.verified@1", marks=by_night),
        pytest.param("restore.swapped@1", marks=by_night),
        "restore.swapped@2",
        pytest.param("restore.swapped@3", marks=by_night),
    ],
)
async def test_I30_a_restore_that_is_killed_leaves_the_old_state_or_the_new_one_whole(
    place: str, tmp_path: Path
) -> None:
    home, file = tmp_path / "bot", tmp_path / "file"
    async with scene(home, ModelEmulator(responder=answer)) as talk:
        await talk.bot.start()
        await talked(talk, "one")
        await talk.bot.term()
        new, settings = (dump(talk.bot.db), files(home)), talk.bot.config.read_text()
        assert (await mnema(home, "backup", str(file)))[0] == 0
        changed = settings.replace("{", '{\n  "concurrency": 7,', 1)
        talk.bot.config.write_text(changed)
        await talk.bot.start()
        await talked(talk, "two")
        await talk.bot.term()
        old = (dump(talk.bot.db), files(home))

        code, _, _ = await mnema(home, "restore", str(file), fp=f"{place}:kill9")
        assert code == SIGKILLED
        code, _, err = await mnema(home, "config", "check")  # the next opening, whichever it is
        assert code == 0, err
        assert (dump(talk.bot.db), files(home)) == (new if "swapped" in place else old)
        assert talk.bot.config.read_text() == (settings if "swapped" in place else changed)
        if "swapped" in place:
            assert kept(home) == {
                "config": changed,
                "notes": ["one.md", "two.md"],
                "record": old[0],
            }
        assert (await mnema(home, "restore", str(file)))[0] == 0
        assert (dump(talk.bot.db), files(home)) == new
        assert sorted(path.name for path in home.iterdir() if path.name.startswith(".")) == []


@by_night
@pytest.mark.kill
async def test_a_backup_that_is_killed_leaves_no_file_and_the_next_one_is_whole(
    tmp_path: Path,
) -> None:
    home, file = tmp_path / "bot", tmp_path / "file"
    async with scene(home, ModelEmulator(responder=answer)) as talk:
        await talk.bot.start()
        await talked(talk, "one")
        code, _, _ = await mnema(home, "backup", str(file), fp="backup.snapshot:kill9")
        assert code == SIGKILLED
        assert not file.exists()
        assert (await mnema(home, "backup", str(file)))[0] == 0
        assert (await mnema(home, "restore", str(file), "--verify"))[0] == 0
        assert sorted(path.name for path in tmp_path.iterdir()) == ["bot", "file"]
