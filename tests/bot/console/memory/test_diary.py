"""Days and nights over HTTP: what was folded into a day and where it was said, and one night taken
back.
"""

from collections.abc import AsyncIterator
from datetime import date
from pathlib import Path

import httpx
import pytest
import pytest_asyncio

from bot.console.memory.diary import MAX_LINES
from tests.browser.real import ANN, Real, real_bot

DAYS, NIGHTS = "/api/v1/memory/days", "/api/v1/memory/nights"


@pytest_asyncio.fixture
async def real(tmp_path: Path) -> AsyncIterator[Real]:
    async with real_bot(
        tmp_path, lambda asked: "that is noted, and here are a few words more"
    ) as up:
        yield up


@pytest_asyncio.fixture
async def client(real: Real) -> AsyncIterator[httpx.AsyncClient]:
    async with real.site.client() as made:
        yield made


def error(reply: httpx.Response) -> tuple[int, str]:
    return reply.status_code, reply.json()["error"]["code"]


async def test_a_day_counts_the_turns_folded_into_it_and_leads_to_them(
    real: Real, client: httpx.AsyncClient, tmp_path: Path
) -> None:
    for number in range(8):
        text = f"Number {number}: the ferry to island {number} leaves at {number + 7}:30."
        await client.post("/api/v1/messages", json={"conversation": "c1", "text": text})
        await real.bot.settled()
    folded = (await client.post("/api/v1/conversations/c1/folds", json={"act": "fold"})).json()
    await real.bot.settled()
    today = f"{real.bot.now():%Y-%m-%d}"
    notes = tmp_path / "workspace/memory/2025-02-28.md"
    notes.write_text("# 2025-02-28\n\n- 10:15 Nora: the kitten must not eat cheese\n")
    month = (await client.get(DAYS)).json()
    turns = folded["to_turn"] - folded["from_turn"] + 1
    assert month["items"] == [{"day": today, "turns": turns, "entries": 1}]
    assert (month["first"], month["last"]) == ("2025-02-28", today)
    [entry] = (await client.get(f"{DAYS}/{today}")).json()["items"]
    assert (entry["conversation"], entry["from_turn"], entry["to_turn"]) == (
        "c1",
        1,
        folded["to_turn"],
    )
    assert "ferry" in str(entry["lines"])
    around = await client.get(f"/api/v1/conversations/c1/messages?around=turn-{entry['from_turn']}")
    assert around.status_code == 200
    old = (await client.get(DAYS, params={"month": "2025-02"})).json()
    assert old["items"] == [{"day": "2025-02-28", "turns": 0, "entries": 1}]
    [noted] = (await client.get(f"{DAYS}/2025-02-28")).json()["items"]
    assert noted["lines"] == [
        {"time": "10:15", "speaker": "Nora", "text": "the kitten must not eat cheese"}
    ]
    await client.post("/api/v1/conversations/c1/folds", json={"act": "undo"})
    assert (await client.get(DAYS)).json()["items"] == [{"day": today, "turns": 0, "entries": 1}]
    assert (await client.get(f"{DAYS}/{today}")).json()["items"][0]["state"] == "undone"


@pytest.mark.parametrize("month", ["2026-13", "2026", "..", "2026-1"])
async def test_a_month_that_is_none_is_refused(client: httpx.AsyncClient, month: str) -> None:
    assert error(await client.get(DAYS, params={"month": month})) == (400, "month")
    assert error(await client.get(f"{DAYS}/{month}")) == (404, "not_found")
    assert (await client.get(f"{DAYS}/2026-11-31")).status_code == 404


async def night(real: Real, tmp_path: Path, day: date, *lines: str) -> None:
    """Write lines into MEMORY.md and put it in order in the night to this day."""
    path = tmp_path / "workspace/MEMORY.md"
    before = path.read_text() if path.exists() else "## Facts\n\n"
    path.write_text(before + "".join(f"- {line}\n" for line in lines))
    assert await real.bot.memory_service.dreamer.dream("", day)


async def test_an_older_night_is_taken_back_and_the_newer_one_stays(
    real: Real, client: httpx.AsyncClient, tmp_path: Path
) -> None:
    others = [
        f"Fact of its own number {number}, about {word}" for number, word in enumerate("abcdefgh")
    ]
    await night(
        real,
        tmp_path,
        date(2026, 11, 20),
        *others,
        "Drinks green tea at home",
        "drinks green tea at home.",
    )
    await night(
        real,
        tmp_path,
        date(2026, 11, 21),
        "Rides a red bicycle daily",
        "rides a red bicycle, daily",
    )
    newer, older = (await client.get(NIGHTS)).json()["items"]
    assert (newer["day"], newer["state"]) == ("2026-11-21", "done")
    assert older["merged"] == [
        {
            "parts": ["Drinks green tea at home", "drinks green tea at home."],
            "text": older["merged"][0]["text"],
        }
    ]
    first = (await client.get(NIGHTS, params={"limit": 1})).json()
    rest = (await client.get(NIGHTS, params={"limit": 1, "cursor": first["next"]})).json()
    assert ([first["items"][0]["id"], rest["items"][0]["id"]], rest["next"]) == (
        [newer["id"], older["id"]],
        None,
    )
    undone = await client.post(f"{NIGHTS}/{older['id']}/undo")
    assert undone.status_code == 200, undone.text
    assert undone.json()["whole"] is False
    states = {item["day"]: item["state"] for item in (await client.get(NIGHTS)).json()["items"]}
    assert states == {"2026-11-21": "done", "2026-11-20": "undone"}
    assert error(await client.post(f"{NIGHTS}/{older['id']}/undo")) == (409, "state")
    assert (await client.post(f"{NIGHTS}/{newer['id']}/undo")).status_code == 200
    assert error(await client.post(f"{NIGHTS}/{'0' * 26}/undo")) == (404, "not_found")


async def test_days_and_nights_of_others_are_read_only_and_audited(
    real: Real, client: httpx.AsyncClient
) -> None:
    message = real.telegram.hear("hello", chat=ANN, sender=ANN)
    await real.telegram.until(
        lambda: any(one.reply_to_key == message.key for one in real.telegram.sent)
    )
    space = next(name for name in await real.bot.spaces() if name)
    real.bot.workspace.space(space).write(
        "memory/2026-11-20.md", "- 10:00 Ann: the bees swarm\n", None
    )
    found = (await client.get(f"{DAYS}/2026-11-20", params={"space": space})).json()
    assert (found["path"], found["items"][0]["lines"][0]["text"]) == ("", "the bees swarm")
    assert (await client.get(f"{DAYS}/2026-11-20")).json()["items"] == []
    await client.get(NIGHTS, params={"space": space})
    assert await real.audited("memory.read.other") == [("console", space)]
    assert (
        await client.post(f"{NIGHTS}/{'0' * 26}/undo", params={"space": space})
    ).status_code == 403


async def test_a_long_entry_is_shown_in_part_and_a_log_with_two_names_hides_no_other_day(
    client: httpx.AsyncClient, tmp_path: Path
) -> None:
    logs = tmp_path / "workspace/memory"
    lines = "".join(f"- 10:15 Nora: line {number}\n" for number in range(MAX_LINES + 1))
    (logs / "2025-02-27.md").write_text(f"# 2025-02-27\n\n{lines}")
    (logs / "2025-02-28.md").write_text("- 10:15 Nora: elsewhere\n")
    (logs / "second-name.md").hardlink_to(logs / "2025-02-28.md")
    [entry] = (await client.get(f"{DAYS}/2025-02-27")).json()["items"]
    assert (len(entry["lines"]), entry["more"]) == (MAX_LINES, 1)
    month = await client.get(DAYS, params={"month": "2025-02"})
    assert month.json()["items"] == [
        {"day": "2025-02-27", "turns": 0, "entries": 1},
        {"day": "2025-02-28", "turns": 0, "entries": 0},
    ]
    assert error(await client.get(f"{DAYS}/2025-02-28")) == (409, "refused")
