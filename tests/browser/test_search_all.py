"""What was said in any conversation is found beside the list and by Ctrl K, marked, and opens at
its message.
"""

from pathlib import Path

from playwright.async_api import Browser, expect

from tests.browser.opening import BROWSER, opened, write
from tests.browser.real import real_bot

pytestmark = BROWSER


async def test_messages_of_all_conversations_are_found_and_open_there(
    chromium: Browser, tmp_path: Path
) -> None:
    async with (
        real_bot(tmp_path, lambda asked: "fine") as real,
        opened(chromium, real.site, "/c/ferries") as page,
    ):
        await write(page, "The <b>ferry</b> to the island leaves at noon")
        await page.wait_for_selector(".line.assistant footer")
        await page.goto(f"{real.site.base}/c/other")
        await page.wait_for_selector("#text:not([disabled])")
        await write(page, "Something else altogether")
        await page.wait_for_selector(".line.assistant footer")
        await real.bot.settled()
        await page.fill("#side [type=search]", "island ferries")
        hit = page.locator("#list a.said").first
        await expect(hit).to_contain_text("<b>ferry</b>")
        await expect(hit.locator("mark")).to_have_text(["ferry", "island"])
        await hit.click()
        await expect(page.locator(".line.user.sought")).to_contain_text("leaves at noon")
        assert page.url.endswith("/c/ferries/m/turn-1")
        await page.keyboard.press("Control+k")
        await page.fill("#palette input", "altogether")
        choice = page.locator(".choice", has_text="Something else altogether").last
        await expect(choice.locator("mark")).to_have_text("altogether")
        await choice.click()
        await expect(page.locator(".line.user.sought")).to_contain_text("Something else")
        await page.fill("#side [type=search]", "noon")
        await expect(page.locator("#list a.said mark")).to_have_text(["noon"])
        await page.click("text=Search all messages")
        await expect(page.locator(".result mark").first).to_have_text("noon")
        await expect(page.locator(".score").first).to_contain_text("words")
        await page.click("text=As the model sees it")
        await expect(page.locator("main pre")).to_contain_text("1. ")
