"""Why a search found something, with vectors: the shares of a score, told by the API and shown by
the page.
"""

import asyncio
import re
from math import sqrt
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from tests.browser.opening import BROWSER, opened
from tests.browser.real import QUIET, real_bot
from tests.emulators.embedding import EmbeddingEmulator, vector

pytestmark = BROWSER
PATIENCE = 20.0  # seconds for vectors that are made in the background
QUESTION = "shipwright's timetable"
LINES = (
    "The shipwrights' timetables hang there",
    "Shipping a timetabled shipyard?",
    "Likes oolong tea",
)


def similarity(one: str, other: str) -> float:
    """The cosine of two texts' vectors."""
    left, right = vector(one), vector(other)
    product = sum(a * b for a, b in zip(left, right, strict=True))
    return product / sqrt(sum(a * a for a in left) * sum(b * b for b in right))


async def test_the_share_of_the_vector_is_told_and_all_shares_are_the_score(
    chromium: Browser, tmp_path: Path
) -> None:
    memory = tmp_path / "workspace" / "MEMORY.md"
    memory.parent.mkdir()
    memory.write_text(
        "# Memory\n\n" + "".join(f"## Part {at}\n\n- {line}\n\n" for at, line in enumerate(LINES))
    )
    async with EmbeddingEmulator() as emulator:
        own = {
            "extract": False,
            "recall_timeout_ms": 60_000,
            "embedding": {"base_url": emulator.url, "model": "pairs"},
        }
        async with (
            real_bot(tmp_path, lambda asked: "fine", settings={**QUIET, "memory": own}) as real,
            real.site.client() as client,
            opened(chromium, real.site, "/usage", ready="[role=tab]") as page,
        ):
            hits, ask = [], {"q": QUESTION}
            async with asyncio.timeout(PATIENCE):
                while not any(hit["split"]["vector"] for hit in hits):
                    hits = (await client.get("/api/v1/memory/search", params=ask)).json()["items"]
            for hit in hits:
                assert sum(hit["split"].values()) == pytest.approx(hit["score"], abs=0.0002)
            rows = {text for asked in emulator.asked for text in asked if text != QUESTION}
            near = {row: similarity(row, QUESTION) for row in rows}
            least, most = min(near.values()), max(near.values())
            first, asks = (next(hit for hit in hits if line in hit["text"]) for line in LINES[:2])
            expected = []
            for line in LINES[:2]:
                [row] = [row for row in rows if line in row]
                expected.append((near[row] - least) / (most - least))
            assert asks["split"]["vector"] / first["split"]["vector"] == pytest.approx(
                expected[1] / expected[0],
                rel=0.03,  # a vector is stored in whole numbers up to 127
            )

            await page.goto(f"{real.site.base}/memory/search?q={QUESTION}")
            lines = page.locator(".result + .score")
            await expect(lines).to_have_count(len(hits))
            for told, hit in zip(await lines.all_inner_texts(), hits, strict=True):
                percents = {
                    name: int(share) for name, share in re.findall(r"(\w[\w ]*) (\d+) %", told)
                }
                assert f"Score {hit['score']:.2f}" in told
                assert sum(percents.values()) == 100
                share = 100 * hit["split"]["vector"] / hit["score"]
                assert percents.get("vector", 0) == pytest.approx(share, abs=1)
