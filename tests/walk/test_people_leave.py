"""A person who is removed while they write: what was said before is gone, what comes after it is
new.
"""

import asyncio
from pathlib import Path

import pytest

from tests.by_night import by_night
from tests.emulators.model import ModelEmulator
from tests.walk.channel_worlds import TelegramWorld, World, configured
from tests.walk.harness import Bot, mnema, until
from tests.walk.record import ledger_faults, query, unended
from tests.walk.speech import answer, asked, tokens_in

pytestmark = pytest.mark.kill
PERSON = "5006"
DELETE = ("people", "delete", f"telegram:{PERSON}", "--yes")
_CONVERSATIONS = "SELECT id FROM conversation WHERE chat_id = ?"
_ORPHANS = """
    SELECT id FROM message WHERE conversation NOT IN (SELECT id FROM conversation)
    UNION ALL SELECT id FROM turn WHERE conversation NOT IN (SELECT id FROM conversation)
    UNION ALL SELECT id FROM inbox WHERE conversation NOT IN (SELECT id FROM conversation)
    UNION ALL SELECT id FROM outbox WHERE conversation NOT IN (SELECT id FROM conversation)
"""


@by_night
@pytest.mark.parametrize(
    "point", ["", "forget.committed", "forget.in_txn", "forget.files_done", "forget.done"]
)
async def test_who_writes_while_they_are_removed_begins_anew(tmp_path: Path, point: str) -> None:
    world: World = TelegramWorld()
    model = ModelEmulator(responder=answer)
    async with world, model:
        bot = Bot(tmp_path, configured(world, model))
        await bot.start()
        await _told(world, "before", 3)
        code, _, complaint = await mnema(tmp_path, *DELETE)
        assert (code, "stop it first" in complaint) == (1, True)
        await _told(world, "beside", 2)
        await (bot.kill() if point else bot.term())
        former = _talks(bot)
        leaving = asyncio.create_task(
            mnema(tmp_path, *DELETE, fp=f"{point}:kill9" if point else "")
        )
        world.say(PERSON, asked("meanwhile"))
        code, _, complaint = await leaving
        assert code == (-9 if point else 0), complaint
        await bot.start()
        await _told(world, "after", 3)
        await until(lambda: "meanwhile" in _seen(world), "what was said meanwhile is answered")
        await until(lambda: not unended(bot.db), "all is at rest")
        assert not former & _talks(bot)
        assert query(bot.db, "SELECT count(*) FROM person_removal") == [(0,)]
        assert query(
            bot.db,
            "SELECT count(*) FROM message WHERE parts LIKE '%before%' OR parts LIKE '%beside%'",
        ) == [(0,)]
        assert query(bot.db, _ORPHANS) == []
        assert await ledger_faults(bot.db) == []
        assert len(_seen(world)) == len(set(_seen(world))) == 9
        assert await bot.term() == 0


async def _told(world: World, word: str, count: int) -> None:
    """They say that many things, and each is answered."""
    tokens = {f"{word}{number}" for number in range(count)}
    for token in sorted(tokens):
        world.say(PERSON, asked(token))
    await until(lambda: tokens <= {*_seen(world)}, f"{word} is answered")


def _seen(world: World) -> list[str]:
    return [token for text in world.seen(PERSON) for token in tokens_in(text)]


def _talks(bot: Bot) -> set[str]:
    return {str(row[0]) for row in query(bot.db, _CONVERSATIONS, PERSON)}
