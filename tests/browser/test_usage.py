"""Usage in the page: what was used each day, by whom and where, drawn and as a table."""

import time
from pathlib import Path

from playwright.async_api import Browser, expect

from memory.store.engine.database import Tx, insert_into
from memory.store.people.spending import OWNER
from memory.store.schema.tables import usage
from tests.browser.opening import BROWSER, opened, write
from tests.browser.real import ANN, real_bot

pytestmark = BROWSER


async def add_usage(
    tx: Tx, conversation: str, who: str, model: str, days: int, tokens: int
) -> None:
    """Add one call so many days ago."""
    at, id = time.time() - days * 86_400, f"{model}-{who}-{days}"
    given = {"turn_id": "t", "purpose": "turn", "output": 0, "cache_write": 0, "estimated": 0}
    values = {
        "conversation": conversation,
        "who": who,
        "model": model,
        "input": tokens,
        "cache_read": tokens // 4,
    }
    await tx.execute(insert_into(usage), id=id, at=at, **given, **values)


async def test_it_is_told_what_was_used_and_what_it_cost(chromium: Browser, tmp_path: Path) -> None:
    async with (
        real_bot(tmp_path, lambda asked: "yes") as real,
        opened(chromium, real.site, "/c/c1") as page,
    ):
        await write(page, "/help")
        await page.wait_for_selector(".line.notice")
        row = await real.bot.store.sessions.find("web", "console", "c1")
        assert row is not None
        await page.click("#go-usage")
        await expect(page.locator("[role=tabpanel]")).to_contain_text("No usage.")
        database = real.bot.store.database
        for days, tokens in ((0, 1_000_000), (2, 400_000)):
            await database.write(add_usage, row.id, OWNER, "claude-sonnet-5-5", days, tokens)
        await database.write(add_usage, row.id, f"telegram:1:{ANN}", "<b>mine</b>", 1, 7)
        await page.click("#tab-7")
        rows = page.locator(".by-model tbody tr")
        await expect(rows).to_have_count(2)
        assert await rows.filter(has_text="claude-sonnet-5-5").locator("td").all_inner_texts() == [
            "claude-sonnet-5-5", "answers", "2", "1,400,000 → 0", "25%", "US$ 2.13",
        ]  # fmt: skip
        await expect(rows.filter(has_text="<b>mine</b>")).to_contain_text("price unknown")
        await expect(page.locator(".unpriced")).to_contain_text("<b>mine</b>")
        await expect(page.locator(".totals")).to_contain_text("US$ 2.13 +")
        await expect(page.locator(".by-person")).to_contain_text(f"telegram:1:{ANN}")
        await page.wait_for_selector(".chart canvas")

        await page.get_by_role("button", name="tokens").click()
        await page.get_by_role("button", name="person", exact=True).click()
        await expect(page.locator(".legend")).to_contain_text("all other people")
        await page.get_by_role("button", name="Show as a table").focus()
        await page.keyboard.press("Enter")
        table = page.locator(".by-day tbody tr")
        await expect(table).to_have_count(7)
        assert (await table.last.locator("td").all_inner_texts())[1:] == [
            "1,000,000",
            "0",
            "1,000,000",
        ]
        async with page.expect_download() as started:
            await page.get_by_role("link", name="Download as CSV").click()
        assert (await started.value).suggested_filename.startswith("mnema-usage-")
