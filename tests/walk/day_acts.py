"""What leads a bot to the end of a day, and what must be true of its logs afterwards."""

import re
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg

from tests.walk.harness import until
from tests.walk.record import Db, query
from tests.walk.speech import asked

if TYPE_CHECKING:
    from tests.walk.kills import Stage

DAY = 86_400
CHAT = "days"
_OF_CHAT = "conversation IN (SELECT id FROM conversation WHERE chat_id = 'days')"
# As if so many days had passed since all that was said there; messages refuse it else.
_AGE = (
    "INSERT INTO removal (conversation) SELECT id FROM conversation WHERE chat_id = 'days'",
    f"UPDATE message SET at = at - {DAY} WHERE {_OF_CHAT}",
    f"UPDATE conversation SET unlogged_since = unlogged_since - {DAY}"
    " WHERE chat_id = 'days' AND unlogged_since > 0",
    f"DELETE FROM removal WHERE {_OF_CHAT}",
)
_SECTION = re.compile(r"^## .* · turns (\d+)–(\d+) <!-- fold (\S+) -->$", re.MULTILINE)


async def pass_midnight(stage: "Stage", token: str) -> None:
    """A life with two turns, after which a day passes."""
    await stage.talk.bot.start()
    for at in range(2):
        stage.say(CHAT, asked(f"{token}/{at}"))
        await stage.confirmed()
    await stage.rest()
    await stage.talk.bot.kill()
    _age(stage.talk.bot.db)


async def ended_days(stage: "Stage") -> list[str]:
    """Every turn of a day that has ended is in the log once, in the file of its day."""

    async def written() -> bool:
        return not query(
            stage.talk.bot.db,
            f"SELECT id FROM fold WHERE {_OF_CHAT} AND state NOT IN ('folded', 'stale')",
        )

    await until(written, "no fold of an ended day is open")
    last = query(stage.talk.bot.db, f"SELECT max(number) FROM turn WHERE {_OF_CHAT}")[0][0]
    sections = [
        (fold, turn)
        for path in (stage.talk.bot.home / "workspace" / "memory").glob("*.md")
        for first, end, fold in _SECTION.findall(path.read_text("utf-8"))
        if query(stage.talk.bot.db, f"SELECT id FROM fold WHERE id = ? AND {_OF_CHAT}", fold)
        for turn in range(int(first), int(end) + 1)
    ]
    counts = Counter(turn for _, turn in sections)
    return [
        f"turn {turn} of an ended day is in the log {counts[turn]} times"
        for turn in range(1, int(last) + 1)
        if counts[turn] != 1
    ]


def _age(db: Db) -> None:
    if isinstance(db, Path):
        with closing(sqlite3.connect(db, isolation_level=None)) as connection:
            for statement in ("BEGIN IMMEDIATE", *_AGE, "COMMIT"):
                connection.execute(statement)
        return
    with psycopg.connect(db) as held:
        for statement in _AGE:
            held.execute(statement)
