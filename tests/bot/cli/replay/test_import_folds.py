"""What `mnema sessions import` folds of a long conversation, so that its first turn does not fold
all of it.
"""

import asyncio
import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.cli.main import main
from bot.cli.replay.import_folds import FOLD_TURNS, MAX_LIVE_TURNS
from tests.bot.cli.replay.making import bot, file_of, user
from tests.bot.inside import inside

START = datetime(2025, 3, 1, 12, tzinfo=UTC)
TURNS_A_DAY = 40
TURNS = MAX_LIVE_TURNS + 3 * FOLD_TURNS + 7


def import_conversation(home: Path, folder: Path, turns: int) -> None:
    """Import a conversation of so many turns that took several days."""
    messages = []
    for number in range(turns):
        at = START + timedelta(days=number // TURNS_A_DAY, minutes=number % TURNS_A_DAY)
        text = f"plan {number} of the garden takes {number % 31} days"
        messages += [
            user(f"I think that {text}.", at.isoformat()),
            bot(f"Noted: {text}.", at.isoformat()),
        ]
    file = file_of(folder, messages)
    assert (
        main(["--home", str(home), "sessions", "import", str(file), "--conversation", "long"]) == 0
    )


def query(home: Path, sql: str) -> list[tuple[Any, ...]]:
    with sqlite3.connect(home / "data" / "mnema.db") as connection:
        return connection.execute(sql).fetchall()


def test_the_older_part_of_a_long_conversation_is_in_the_logs_of_its_days(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path / "home"
    import_conversation(home, tmp_path, TURNS)
    folds = query(
        home,
        "SELECT from_turn, to_turn, reason, state, method, awaiting FROM fold WHERE NOT log_only "
        "ORDER BY at",
    )
    done = ("import", "folded", "extract", "")
    assert folds == [(1, 100, *done), (101, 200, *done), (201, 300, *done)]
    logs = {path.name: path.read_text() for path in (home / "workspace" / "memory").glob("*.md")}
    assert sorted(logs) == [f"2025-03-{day:02}.md" for day in range(1, 9)]
    assert "plan 0 of the garden" in logs["2025-03-01.md"]
    assert "plan 299 of the garden" in logs["2025-03-08.md"]
    everything = "\n".join(logs.values())
    assert all(f"plan {number} of the garden" in everything for number in range(300))
    main(["--home", str(home), "doctor"])
    assert "in view, folded or cleared" in capsys.readouterr().out


async def test_the_first_turn_after_an_import_folds_no_more_than_a_few_hundred_turns(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    await asyncio.to_thread(import_conversation, home, tmp_path, TURNS)
    async with inside(home, ["Plan 706 takes 24 days."]) as it:
        assert "24 days" in await it.text("How long does plan 706 take?", chat="long")
        await it.bot.settled()
        [(first, last)] = query(
            home, "SELECT from_turn, to_turn FROM fold WHERE reason != 'import' AND NOT log_only"
        )
        assert first == 301
        assert last < TURNS


@pytest.mark.parametrize("turns", [1, FOLD_TURNS, MAX_LIVE_TURNS + FOLD_TURNS - 1])
def test_what_its_view_may_show_is_left_to_its_policy(tmp_path: Path, turns: int) -> None:
    home = tmp_path / "home"
    import_conversation(home, tmp_path, turns)
    assert query(home, "SELECT count(*) FROM fold") == [(0,)]
