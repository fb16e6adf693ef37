"""A turn that fails is told once, and the page's word for a broken connection is kept for broken
connections.
"""

from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from bot.errors import ModelError
from tests.browser.opening import BROWSER, opened, write
from tests.browser.real import real_bot
from tests.channels.web.server import Running

pytestmark = BROWSER
FAILED = "The model could not answer."


async def test_a_turn_that_fails_is_told_once_and_the_head_stays_quiet(
    chromium: Browser, tmp_path: Path
) -> None:
    def tell(asked: object) -> ModelError:
        return ModelError("overloaded", status=529)

    async with real_bot(tmp_path, tell) as real, opened(chromium, real.site) as page:
        await write(page, "hello")
        await expect(page.locator(".line.notice")).to_have_count(1)
        await write(page, "and now?")
        await expect(page.locator(".line.notice")).to_have_count(2)
        await expect(page.locator(".draft")).to_have_count(0)
        await expect(page.locator("#stop")).to_be_hidden()
        await expect(page.locator("#link")).to_have_text("")
        await expect(page.locator(".retry")).to_have_count(1)
        await page.reload()
        await expect(page.locator(".line.notice")).to_have_count(2)
        await expect(page.locator(".line")).to_have_count(4)
        await expect(page.locator("#link")).to_have_text("")
        await page.click(".retry")
        await expect(page.locator(".line.user .plain").last).to_have_text("/retry")
        await expect(page.locator(".line.notice")).to_have_count(3)


@pytest.mark.parametrize("first", ["event", "line"])
async def test_whichever_of_event_and_line_comes_first_the_failure_stands_once(
    chromium: Browser, site: Running, first: str
) -> None:
    bot = site.bot
    asked = bot.add("c1", "user", "hello")
    async with opened(chromium, site, "/#c1") as page:
        bot.show("c1", "started", asked.id)
        await expect(page.locator(".draft")).to_have_count(1)
        if first == "event":
            bot.show("c1", "failed", asked.id, FAILED)
            await expect(page.locator(".line.notice .words")).to_have_text(FAILED)
            await bot.reply("c1", asked.id, FAILED, kind="notice")
            await expect(page.locator(".line.notice time")).to_have_count(1)
        else:
            await bot.reply("c1", asked.id, FAILED, kind="notice")
            await expect(page.locator(".line.notice")).to_have_count(1)
            bot.show("c1", "failed", asked.id, FAILED)
        await bot.reply("c1", bot.add("c1", "user", "again").id, "now it works")
        await expect(page.locator(".line.assistant")).to_contain_text("now it works")
        await expect(page.locator(".line.notice")).to_have_count(1)
        await expect(page.locator(".draft")).to_have_count(0)
        await expect(page.locator("#link")).to_have_text("")


async def test_reconnecting_is_said_while_the_stream_is_broken_and_no_longer(
    chromium: Browser, site: Running
) -> None:
    asked = site.bot.add("c1", "user", "hello")
    async with opened(chromium, site, "/#c1") as page:
        await expect(page.locator(".line")).to_have_count(1)
        await expect(page.locator("#link")).to_have_text("")
        await page.context.set_offline(True)
        site.bot.unreadable = OSError("gone")
        site.web.hub.notify_stored("c1")  # the stream ends here, and the browser cannot come back
        await expect(page.locator("#link")).to_have_text("Reconnecting…")
        site.bot.unreadable = None
        await page.context.set_offline(False)
        await expect(page.locator("#link")).to_have_text("")
        await site.bot.reply("c1", asked.id, "back again")
        await expect(page.locator(".line.assistant .words")).to_have_text("back again")
