"""A search on the page names the fact that replaced what a result says."""

from datetime import UTC, datetime
from pathlib import Path

from playwright.async_api import Browser, expect

from memory.longterm.memories import MemoryCandidate
from memory.longterm.similarity import normalize_key
from memory.store.longterm.rows import MemorySource
from tests.browser.opening import BROWSER, opened
from tests.browser.real import QUIET, real_bot
from tests.contracts.store_words import begin, parts, reply

pytestmark = BROWSER
SAID = "My latency budget is 200 ms"
BEFORE, AFTER = "The user's latency budget is 200 ms", "The user's latency budget is 250 ms"
MARCH, APRIL = (datetime(2026, month, 5, 9, tzinfo=UTC) for month in (3, 4))


async def test_a_result_names_the_later_fact_and_the_later_fact_names_none(
    chromium: Browser, tmp_path: Path
) -> None:
    settings = QUIET | {"timezone": "UTC"}
    async with (
        real_bot(tmp_path, lambda asked: "noted", settings=settings) as real,
        opened(chromium, real.site, "/memory/search", ready="form[role]") as page,
    ):
        turn = await begin(real.bot.store, "said", "c1", SAID)
        assert await real.bot.store.delivery.finish(turn, "done", reply("I see."), parts("I see."))
        [message, *_] = await real.bot.store.sessions.messages(turn.conversation)
        source = MemorySource(message_id=message.id, quote=SAID, said=MARCH)
        memories = real.bot.memories("")
        await memories.upsert(
            MemoryCandidate(category="fact", text=BEFORE, origin="extraction", source=source)
        )
        newer = MemorySource(message_id="", quote="", said=APRIL)
        former = (normalize_key(BEFORE),)
        await memories.upsert(
            MemoryCandidate(
                category="fact", text=AFTER, origin="extraction", source=newer, replaces=former
            )
        )
        await page.goto(f"{real.site.base}/memory/search?q=latency budget")
        told = page.locator(".result", has_text=SAID)
        await expect(told).to_contain_text(f"→ {AFTER} (since 2026-04-05)")
        fact = page.locator(".result", has_text="MEMORY.md")
        await expect(fact).to_contain_text(AFTER)
        await expect(fact).not_to_contain_text("→")
