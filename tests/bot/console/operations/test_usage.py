"""The report of usage: each day by the owner's clock, unknown prices apart, and only the days that
are asked for.
"""

import csv
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import httpx
import pytest
import pytest_asyncio

from bot.console.operations.models import MAX_USAGE_DAYS
from bot.console.operations.usage import day_bounds, format_csv
from memory.store.engine.database import Tx, insert_into
from memory.store.people.spending import OWNER, ModelUsage
from memory.store.schema.tables import usage
from tests.browser.real import ANN, QUIET, Real, real_bot

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC).timestamp()
DAY = 86_400.0
PRICED, UNPRICED = "claude-sonnet-5-5", "=a-model-of-ours"
ANNS = f"telegram:1:{ANN}"


async def add(tx: Tx, rows: list[dict[str, Any]]) -> None:
    for number, row in enumerate(rows):
        given = {
            "turn_id": "t",
            "purpose": "turn",
            "output": 0,
            "cache_read": 0,
            "cache_write": 0,
            "estimated": 0,
        }
        await tx.execute(insert_into(usage), id=f"u{number}", **{**given, **row})


@pytest_asyncio.fixture
async def real(tmp_path: Path) -> AsyncIterator[Real]:
    settings = {**QUIET, "timezone": "Asia/Shanghai"}
    async with real_bot(tmp_path, lambda asked: "yes", clock=lambda: NOW, settings=settings) as up:
        yield up


async def test_each_day_has_its_sums_and_other_days_none(real: Real) -> None:
    async with real.site.client() as client:
        await client.post("/api/v1/messages", json={"conversation": "c1", "text": "/help"})
        row = await real.bot.store.sessions.find("web", "console", "c1")
        assert row is not None
        of = {"conversation": row.id}
        await real.bot.store.database.write(
            add,
            [
                # 20:30 UTC of the 19th is the 20th in Shanghai
                {
                    **of,
                    "model": PRICED,
                    "who": OWNER,
                    "input": 1_000_000,
                    "cache_read": 0,
                    "at": NOW - 15.5 * 3_600,
                },
                {
                    **of,
                    "model": PRICED,
                    "who": ANNS,
                    "input": 2_000_000,
                    "cache_read": 1_000_000,
                    "at": NOW,
                },
                {**of, "model": UNPRICED, "who": ANNS, "input": 7, "at": NOW - DAY},
                {**of, "model": PRICED, "who": OWNER, "input": 9, "at": NOW - 3 * DAY},
            ],
        )
        answer = (await client.get("/api/v1/usage/days", params={"days": 3})).json()
        days = {day["day"]: day["items"] for day in answer["days"]}
        assert list(days) == ["2026-11-18", "2026-11-19", "2026-11-20"]
        assert days["2026-11-18"] == []
        assert [(item["model"], item["own"], item["cost"]) for item in days["2026-11-19"]] == [
            (UNPRICED, False, None)
        ]
        assert [
            (item["own"], item["input"], item["cache_read"]) for item in days["2026-11-20"]
        ] == [
            (False, 2_000_000, 1_000_000),
            (True, 1_000_000, 0),
        ]
        assert [person["who"] for person in answer["people"]] == [ANNS, OWNER]
        [conversation] = answer["conversations"]
        assert (conversation["id"], conversation["calls"], conversation["unpriced"]) == (
            "c1",
            3,
            [UNPRICED],
        )
        assert answer["limits"]["all_money_warning"] == pytest.approx(
            0.8 * answer["limits"]["all_money"]
        )

        table = list(
            csv.DictReader(
                (await client.get("/api/v1/usage/days.csv", params={"days": 2})).text.splitlines()
            )
        )
        assert [
            (line["day"], line["model"], line["who"], line["cost_usd"] == "") for line in table
        ] == [
            ("2026-11-19", f"'{UNPRICED}", "others", True),
            ("2026-11-20", PRICED, "others", False),
            ("2026-11-20", PRICED, "owner", False),
        ]


async def test_more_days_than_there_may_be_are_as_many_as_there_may_be(real: Real) -> None:
    async with real.site.client() as client:
        answer = await client.get("/api/v1/usage/days", params={"days": MAX_USAGE_DAYS + 1})
        assert len(answer.json()["days"]) == MAX_USAGE_DAYS
        assert (await client.get("/api/v1/usage/days", params={"days": "-1"})).status_code == 400
        assert httpx.codes(answer.status_code) is httpx.codes.OK


def test_days_on_which_clocks_change_are_whole_days() -> None:
    now = datetime(2026, 10, 26, 9, tzinfo=ZoneInfo("Europe/Berlin"))
    bounds = day_bounds(now, 3)
    assert [f"{bound:%d %H:%M}" for bound in bounds] == [
        "24 00:00",
        "25 00:00",
        "26 00:00",
        "27 00:00",
    ]
    lengths = [until.timestamp() - since.timestamp() for since, until in pairwise(bounds)]
    assert lengths == [24 * 3_600, 25 * 3_600, 24 * 3_600]
    assert bounds[-1] - timedelta(0) > now


def test_the_table_tells_tokens_of_each_kind_apart() -> None:
    used = ModelUsage(
        model="m", purpose="turn", calls=2, input=10, output=3, cache_read=4, cache_write=1
    )
    [line] = csv.DictReader(format_csv([("2026-11-20", [used])]).splitlines())
    assert [
        line[name]
        for name in ("input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens")
    ] == [
        "5",
        "4",
        "1",
        "3",
    ]
