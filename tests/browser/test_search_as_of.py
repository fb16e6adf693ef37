"""A search on the page as of a day in the past: the fact that held then, and nothing later."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from memory.longterm.memories import MemoryCandidate
from memory.longterm.similarity import normalize_key
from tests.browser.opening import BROWSER, opened
from tests.browser.real import QUIET, real_bot
from tests.by_night import first_by_day

pytestmark = BROWSER
BEFORE, AFTER = "The code of the garage is 1001", "The code of the garage is 5001"


@pytest.mark.parametrize(
    ("phone", "locale", "label", "noted"),
    first_by_day(
        1,
        [
            (True, "zh-CN", "截至", "截至 2026-05-03 所知"),
            (False, "en-GB", "As of", "What was known at the end of 2026-05-03"),
        ],
    ),
)
async def test_the_date_field_answers_from_what_was_known_then(
    chromium: Browser, tmp_path: Path, phone: bool, locale: str, label: str, noted: str
) -> None:
    now = datetime(2026, 5, 1, 12, tzinfo=UTC).timestamp()
    async with (
        real_bot(
            tmp_path, lambda asked: "noted", clock=lambda: now, settings=QUIET | {"timezone": "UTC"}
        ) as real,
        opened(
            chromium, real.site, "/memory/search", locale=locale, phone=phone, ready="form[role]"
        ) as page,
    ):
        memories = real.bot.memories("")
        await memories.upsert(MemoryCandidate(category="fact", text=BEFORE, origin="person"))
        now = datetime(2026, 6, 1, 12, tzinfo=UTC).timestamp()
        former = (normalize_key(BEFORE),)
        await memories.upsert(
            MemoryCandidate(category="fact", text=AFTER, origin="person", replaces=former)
        )
        await page.fill("main [type=search]", "garage code")
        await page.press("main [type=search]", "Enter")
        await expect(page.locator(".result .text")).to_have_text([AFTER])
        await page.get_by_label(label, exact=True).fill("2026-05-03")
        await expect(page.locator(".result .text")).to_have_text(
            [f"[2026-05-01 – 2026-06-01] {BEFORE}"]
        )
        await expect(page.locator("main .card.dim")).to_contain_text(noted)
        assert "as_of=2026-05-03" in page.url
