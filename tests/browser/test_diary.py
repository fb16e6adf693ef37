"""Days and nights in the page: a calendar whose days open, entries that lead to their turns, one
night undone.
"""

from datetime import date
from pathlib import Path

from playwright.async_api import Browser, expect

from tests.browser.opening import BROWSER, opened, write
from tests.browser.real import real_bot

pytestmark = BROWSER


async def test_a_day_of_the_calendar_leads_to_the_turns_that_were_folded(
    chromium: Browser, tmp_path: Path
) -> None:
    async with (
        real_bot(tmp_path, lambda asked: "noted, with a few words more") as real,
        opened(chromium, real.site, "/c/c1") as page,
    ):
        for number in range(6):
            await write(page, f"The ferry to island {number} leaves at {number + 7}:30.")
            await expect(page.locator(".line.assistant footer")).to_have_count(number + 1)
        await page.goto(f"{real.site.base}/memory/days")
        await expect(page.locator("main")).to_contain_text("The first page will appear here")
        async with real.site.client() as client:
            await client.post("/api/v1/conversations/c1/folds", json={"act": "fold"})
        await real.bot.settled()
        await page.reload()
        cell = page.locator(".calendar a")
        await expect(cell).to_have_count(1)
        await cell.focus()
        await page.keyboard.press("Enter")
        await expect(page.locator(".entry")).to_contain_text("ferry to island 0")
        await page.click(".entry h3 a")
        await expect(page.locator(".line.user.sought")).to_contain_text("island 0")
        await page.go_back()
        await page.go_back()
        await page.click("text=Earlier")
        await expect(page.locator("main")).to_contain_text("There is no diary in this month.")


async def test_one_night_is_undone_and_what_that_did_is_told(
    chromium: Browser, tmp_path: Path
) -> None:
    async with real_bot(tmp_path, lambda asked: "noted") as real:
        path = tmp_path / "workspace/MEMORY.md"
        path.write_text(
            "## Facts\n\n- Rides a <b>red</b> bicycle daily\n- rides a <b>red</b> bicycle, daily\n"
        )
        before = path.read_text()
        await real.bot.memory_service.dreamer.dream("", date(2026, 11, 20))
        assert path.read_text() != before
        async with opened(chromium, real.site, "/memory/nights", ready=".night") as page:
            await expect(page.locator(".night del")).to_have_count(2)
            await expect(page.locator(".night ins")).to_contain_text("<b>red</b>")
            await page.click("text=Undo this night")
            await expect(page.locator(".night [role=status]")).to_contain_text("byte for byte")
            await expect(page.locator(".night small").first).to_have_text("undone")
        assert path.read_text() == before
