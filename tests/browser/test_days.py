"""A long conversation is read by its days, and two requests are compared word by word."""

import time
from pathlib import Path

from playwright.async_api import Browser, expect

from tests.bot.console.test_conversations import say
from tests.browser.opening import BROWSER, opened, show
from tests.browser.real import real_bot

pytestmark = BROWSER
DAY = 86_400.0
TURNS = 24


async def test_a_rail_of_dates_jumps_and_a_phone_has_a_list_of_them(
    chromium: Browser, tmp_path: Path
) -> None:
    now = [time.time() // DAY * DAY - (TURNS + 7.5) * DAY]  # noon
    async with real_bot(tmp_path, lambda asked: "Noted.", clock=lambda: now[0]) as real:
        async with real.site.client() as client:
            for number in range(TURNS):
                await say(real, client, "c1", f"entry {number}")
                now[0] += DAY
        async with opened(chromium, real.site, "/c/c1") as page:
            await expect(page.locator(".line").last).to_contain_text("Noted.")
            days = page.get_by_role("navigation", name="Jump to a day").get_by_role("link")
            await expect(days).to_have_count(TURNS)
            await show(page, "days-rail")
            await days.first.press("Enter")
            await expect(page.locator(".line.sought")).to_contain_text("entry 0")
            await expect(page.locator(".line.sought")).to_be_in_viewport()
        async with opened(chromium, real.site, "/c/c1", phone=True, locale="zh-CN") as page:
            chosen = page.get_by_role("combobox", name="跳到某一天")
            await chosen.scroll_into_view_if_needed()
            await show(page, "days-phone")
            await chosen.select_option(index=1)
            await expect(page.locator(".line.sought")).to_contain_text("entry 0")


async def test_a_comparison_shows_first_lines_and_changed_words(
    chromium: Browser, tmp_path: Path
) -> None:
    async with real_bot(tmp_path, lambda asked: "Noted.") as real:
        async with real.site.client() as client:
            await say(real, client, "c1", "I like green tea")
            soul = tmp_path / "workspace/SOUL.md"
            soul.write_text(soul.read_text().replace("you", "you, dear bot,", 1))
            await say(real, client, "c1", "and black coffee")
        async with opened(chromium, real.site, "/c/c1/context/2/vs/1", ready=".state") as page:
            section = page.get_by_role("region", name="Difference")
            await expect(section).to_be_in_viewport()
            await expect(section.locator("li.added .text").last).to_contain_text("and black coffee")
            await expect(section.locator("li.changed ins").first).to_contain_text("dear bot")
            await show(page, "difference")
