"""While an answer is awaited the page says what it waits for, and how long already; the pill counts
what arrived meanwhile.
"""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from playwright.async_api import Browser, expect

from channels.message import InboundMessage
from tests.browser.opening import BROWSER, opened, show, write
from tests.browser.scripted import Page as ScriptedPage
from tests.browser.scripted import page_bot
from tests.channels.web.server import Running

pytestmark = BROWSER


async def test_seconds_are_shown_after_five_and_an_overload_with_its_tries(
    chromium: Browser, site: Running
) -> None:
    asked = site.bot.add("c1", "user", "hello")
    async with opened(chromium, site, "/c/c1", clocked=True) as page:
        site.bot.show("c1", "started", asked.id)
        working = page.locator(".draft .working")
        await expect(working).to_have_text("Thinking…")
        await page.clock.run_for(4_000)
        await expect(working).to_have_text("Thinking…")
        await page.clock.run_for(4_000)
        await expect(working).to_contain_text("Thinking… 8 s")
        site.bot.show("c1", "waiting", asked.id, why="busy", call=2, calls=5)
        await expect(working).to_contain_text(
            "overloaded or cannot be reached; attempt 2 of 5… 8 s"
        )
        await show(page, "waiting-overloaded")
        site.bot.show("c1", "delta", asked.id, "Here it is. ")
        await expect(working).to_have_count(0)


async def test_a_reader_who_comes_meanwhile_learns_that_the_model_is_called_again(
    chromium: Browser, site: Running
) -> None:
    asked = site.bot.add("c1", "user", "hello")
    site.bot.show("c1", "started", asked.id)
    site.bot.show("c1", "waiting", asked.id, why="rate", call=3, calls=5)
    async with opened(chromium, site, "/c/c1", locale="zh-CN") as page:
        await expect(page.locator(".draft .working")).to_contain_text("第 3 / 5 次尝试")


class Busy(ScriptedPage):
    """Answers nothing by itself."""

    async def work(self, message: InboundMessage, id: str) -> None: ...


async def test_a_second_message_says_that_it_waits(chromium: Browser, tmp_path: Path) -> None:
    bot = Busy()
    async with page_bot(tmp_path, bot=bot) as site, opened(chromium, site, "/c/c1") as page:
        await write(page, "one thing")
        await expect(page.locator(".line.user")).to_have_count(1)
        bot.show("c1", "started", bot.said["c1"][0].id)
        await expect(page.locator(".draft")).to_have_count(1)
        await write(page, "and then?")
        second = page.locator(".line.user").last
        await expect(second.locator(".note")).to_have_text("Waiting in the queue.")
        await bot.reply("c1", bot.said["c1"][0].id, "the one")
        bot.show("c1", "started", bot.said["c1"][1].id)
        await expect(second.locator(".note")).to_have_count(0)


async def test_the_pill_counts_only_what_arrived(chromium: Browser, site: Running) -> None:
    for number in range(150):
        site.bot.add("c1", "assistant", f"line {number}")
    async with opened(chromium, site, "/c/c1/m/20") as page:
        await expect(page.locator(".line.sought")).to_have_count(1)
        pill = page.locator("#down")
        await expect(pill).to_be_visible()
        await expect(pill).to_have_text("")
        later = replace(
            site.bot.add("c1", "assistant", "one more"), at=datetime(2100, 1, 1, tzinfo=UTC)
        )
        site.bot.said["c1"][-1] = later
        site.web.hub.notify_stored("c1")
        await expect(pill).to_have_text("1 new")
        await pill.click()
        await expect(page.locator(".line.assistant").last).to_contain_text("one more")
        await expect(pill).to_have_count(0)


async def test_older_lines_come_as_the_reader_goes_up(chromium: Browser, site: Running) -> None:
    for number in range(120):
        site.bot.add("c1", "assistant", f"line {number}")
    async with opened(chromium, site, "/c/c1") as page:
        await expect(page.locator(".line").last).to_contain_text("line 119")
        assert await page.locator(".line").count() == 40
        await page.locator("#log").hover()
        await page.mouse.wheel(0, -20_000)
        await expect(page.locator(".line", has_text="line 50")).to_have_count(1)


async def test_an_old_failure_offers_no_retry(chromium: Browser, tmp_path: Path) -> None:
    bot = Busy()
    async with page_bot(tmp_path, bot=bot) as site, opened(chromium, site, "/c/c1") as page:
        await write(page, "one thing")
        await expect(page.locator(".line.user")).to_have_count(1)
        bot.show("c1", "started", bot.said["c1"][0].id)
        bot.show("c1", "failed", bot.said["c1"][0].id, "The model could not answer.")
        await expect(page.locator(".retry")).to_have_count(1)
        await write(page, "another thing")
        await expect(page.locator(".line.user")).to_have_count(2)
        await expect(page.locator(".retry")).to_have_count(0)
