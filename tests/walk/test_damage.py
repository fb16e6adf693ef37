"""A real bot on a database that was really damaged: the owner is told, and nothing is answered
twice.
"""

import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.by_night import first_by_day
from tests.emulators.model import ModelEmulator
from tests.walk.channel_worlds import TelegramWorld, configured
from tests.walk.harness import OWNER, Bot, mnema, scene, until
from tests.walk.record import ledger_faults, query, unended
from tests.walk.speech import answer, asked, tokens_in

pytestmark = pytest.mark.kill
FRIEND = "5006"
RECORD = ("message", "turn")  # without them no conversation is whole
TOLD = "The database was damaged and was restored to"


def garble(path: Path, table: str) -> None:
    """Overwrite the root page of a table in the file itself, whoever has it open."""
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as opened:
        [(size,)] = opened.execute("PRAGMA page_size")
        [(root,)] = opened.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,))
    with path.open("r+b") as file:
        file.seek((root - 1) * size)
        file.write(b"\x5a" * size)


def checkpoint(path: Path) -> None:
    """Move the log into the file."""
    with closing(sqlite3.connect(path)) as opened:
        opened.execute("PRAGMA wal_checkpoint(TRUNCATE)")


async def troubles(bot: Bot) -> dict[str, Any]:
    found: dict[str, Any] = (await bot.web.ask("GET", "/readyz")).json()["reasons"]["troubles"]
    return found


async def said(world: TelegramWorld, person: str, token: str) -> None:
    world.say(person, asked(token))
    await until(lambda: token in answers(world, person), f"{token} is answered")


def answers(world: TelegramWorld, person: str) -> list[str]:
    return [token for text in world.seen(person) for token in tokens_in(text)]


def notices(world: TelegramWorld) -> list[str]:
    return [text for text in world.seen(OWNER) if TOLD in text]


@pytest.mark.parametrize(
    "table", first_by_day(1, ["inbox", "message", "usage", "outbox", "audit", "turn"])
)
async def test_I27_the_owner_is_told_of_a_repair_and_a_repeated_update_is_not_answered_again(
    tmp_path: Path, table: str
) -> None:
    world, model = TelegramWorld(), ModelEmulator(responder=answer)
    async with world, model:
        bot = Bot(tmp_path, configured(world, model))
        try:
            await bot.start()
            await said(world, OWNER, "hello")
            assert await bot.term() == 0  # takes a snapshot
            await bot.start()
            await said(world, FRIEND, "newer")
            newest = max(world._texts)
            # else it is sent once more, marked
            await until(lambda: not unended(bot.db), "its answer counts as sent")
            await bot.kill()
            checkpoint(bot.db)
            garble(bot.db, table)
            code, out, _ = await mnema(tmp_path, "doctor")
            assert (code, len(re.findall("SQLite reports damage: [^\n]+", out))) == (1, 1)
            await bot.start()
            await until(lambda: notices(world), "the owner is told")
            assert f"{2 if table in RECORD else 1} conversation" in notices(world)[0]
            world.emulator.world.repeat(newest, fresh=True)
            world.emulator.world.repeat(newest, fresh=False)
            await said(world, FRIEND, "after")
            await until(lambda: not unended(bot.db), "all is at rest")
            assert answers(world, FRIEND) == ["newer", "after"]
            assert TOLD in (await troubles(bot))["database"]
            assert TOLD in (await bot.web.get("/api/status"))["troubles"]["database"]
            assert TOLD in bot.complaints()
            code, out, _ = await mnema(tmp_path, "doctor")
            assert (code, out.count(TOLD)) == (1, 1)
            await bot.restart()
            assert TOLD in (await troubles(bot))["database"]
            await said(world, OWNER, "again")
            for aside in bot.db.parent.glob("mnema.db.corrupt.*"):
                aside.unlink()
            assert await troubles(bot) == {}
            assert len(notices(world)) == 1
            assert await ledger_faults(bot.db) == []
        finally:
            if bot.alive:
                await bot.kill()


async def test_I27_doctor_finds_damage_beside_a_running_bot_that_has_not_noticed(
    tmp_path: Path,
) -> None:
    async with scene(tmp_path, ModelEmulator(responder=answer), provider="openai") as talk:
        await talk.bot.start()
        await talk.say("talk", asked("before"))
        checkpoint(talk.bot.db)
        garble(talk.bot.db, "approval_rule")
        code, out, _ = await mnema(tmp_path, "doctor")
        assert (code, "SQLite reports damage" in out) == (1, True)
        assert await talk.say("talk", asked("after")) == "re «after»"


async def test_I27_a_log_that_sqlite_cut_short_is_told_and_nothing_behind_it_is_lost(
    tmp_path: Path,
) -> None:
    async with scene(tmp_path, ModelEmulator(responder=answer), provider="openai") as talk:
        await talk.bot.start()
        for number in range(4):
            await talk.say("talk", asked(f"q{number}"))
        await talk.bot.kill()
        log_file = talk.bot.db.with_name("mnema.db-wal")
        log = bytearray(log_file.read_bytes())
        log[len(log) // 2] ^= 0xFF
        log_file.write_bytes(log)
        await talk.bot.start()
        assert "The log of the database was damaged" in (await troubles(talk.bot))["database"]
        lines = [line["text"] for line in await talk.web.lines("talk") if line["role"] != "notice"]
        assert lines == [
            text for number in range(4) for text in (asked(f"q{number}"), f"re «q{number}»")
        ]
        again = [line for line in await talk.web.lines("talk") if line["role"] == "notice"]
        assert len(await until(lambda: again or None, "told")) == 1
        assert query(talk.bot.db, "PRAGMA integrity_check") == [("ok",)]


async def test_a_log_that_was_taken_away_is_noticed_by_the_acts_that_it_held(
    tmp_path: Path,
) -> None:
    async with scene(tmp_path, ModelEmulator(responder=answer), provider="openai") as talk:
        await talk.bot.start()
        assert await talk.bot.term() == 0
        await talk.bot.start()
        await talk.say("talk", asked("before"))
        await talk.say("talk", "/context clear")  # an act
        await talk.bot.restart()  # which the start's checkpoint knows
        await talk.bot.kill()
        talk.bot.db.with_name("mnema.db-wal").unlink()
        await talk.bot.start()
        assert "The database lacks its newest records" in (await troubles(talk.bot))["database"]
