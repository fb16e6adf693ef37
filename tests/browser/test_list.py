"""The list of conversations in the page, and whose chats it opens."""

import asyncio
from pathlib import Path

import pytest
from playwright.async_api import Browser, Request, Route, expect

from tests.browser.opening import BROWSER, opened
from tests.browser.real import ANN, GROUP, OWNER, real_bot
from tests.by_night import by_night
from tests.channels.web.server import Running

pytestmark = BROWSER
MOST_ROWS = 60


async def test_every_conversation_is_reached_and_a_message_moves_its_own_to_the_top(
    chromium: Browser, site: Running
) -> None:
    bot = site.bot
    for name in ("tg-1", "tg-2"):
        bot.add(name, "user", f"hello from {name}")
        bot.channels[name] = "telegram"
    for number in range(219):
        bot.add(f"c{number:03d}", "user", f"talk {number}")
    async with opened(chromium, site) as page:
        entries = page.locator("#list .entry")
        await expect(page.locator(".line .plain")).to_have_text("talk 218")
        await expect(entries.first).to_contain_text("talk 218")
        await expect(entries.last).to_be_attached()
        for _ in range(3):  # pages of the list
            assert await entries.count() <= MOST_ROWS
            await page.locator("#list").evaluate("list => list.scrollTo(0, list.scrollHeight)")
            await page.wait_for_timeout(150)
        await expect(entries.last).to_contain_text("hello from tg-1")
        await expect(entries.last).to_contain_text("telegram")
        assert await entries.count() <= MOST_ROWS
        await page.locator("#list").evaluate("list => list.scrollTo(0, 0)")

        bot.add("tg-1", "user", "from a telephone")
        bot.add("fresh", "user", "a new one")
        await expect(entries.nth(0)).to_contain_text("a new one")
        await expect(entries.nth(1)).to_contain_text("hello from tg-1")
        await expect(page.locator("#list .here")).to_contain_text("talk 218")


@by_night
async def test_of_ten_thousand_conversations_one_page_is_asked_for_and_few_rows_are_drawn(
    chromium: Browser, site: Running
) -> None:
    for number in range(10_000):
        site.bot.add(f"c{number:05d}", "user", f"talk {number}")
    asked: list[str] = []
    async with opened(chromium, site, "/c/c09999", fresh=True) as page:
        page.on(
            "request", lambda one: asked.append(one.url) if "/conversations?" in one.url else None
        )
        await page.reload()
        entries = page.locator("#list .entry")
        await expect(entries.first).to_contain_text("talk 9999")
        assert len(asked) == 1
        assert await entries.count() <= MOST_ROWS
        await page.locator("#list").evaluate("list => list.scrollTo(0, list.scrollHeight)")
        await expect(page.locator("#list .entry", has_text="talk 9900")).to_be_visible()
        assert len(asked) == 2
        assert await entries.count() <= MOST_ROWS


@pytest.mark.parametrize("path", ["/", "/c/c1", "/c/nobody-wrote-here", "/people"])
async def test_the_first_load_opens_one_stream_and_it_brings_what_happens(
    chromium: Browser, site: Running, path: str
) -> None:
    site.bot.add("c1", "user", "the only talk")
    streams: list[str] = []
    listed = asyncio.Event()

    async def answer_late(route: Route) -> None:
        await listed.wait()
        await route.continue_()

    def note_stream(request: Request) -> None:
        if request.is_navigation_request():
            streams.clear()  # the page before may have opened its own just now
        if "/events?" in request.url:
            streams.append(request.url)

    async with opened(chromium, site, "/usage", ready="main h1", fresh=True) as page:
        page.on("request", note_stream)
        page.on(
            "requestfinished",
            lambda one: listed.set() if "/conversations?limit=" in one.url else None,
        )
        await page.route("**/messages?*", answer_late)  # the list is there first
        await page.goto(site.base + path)
        await page.wait_for_selector("#text:not([disabled]), .asking")
        if path == "/c/nobody-wrote-here":
            site.bot.add("c2", "user", "another talk")
            await expect(page.locator("#list .entry", has_text="another talk")).to_be_visible()
            assert len(streams) == 1
            return
        if path == "/people":
            await page.evaluate(
                "history.pushState({}, '', '/c/c1'); dispatchEvent(new PopStateEvent('popstate'))"
            )
        await expect(page.locator(".line .plain")).to_have_text("the only talk")
        site.bot.add("c1", "user", "and more of it")
        site.web.hub.notify_stored("c1")
        await expect(page.locator(".line .plain").last).to_have_text("and more of it")
        # From another page there is that of the list, and with the conversation once it is open.
        assert len(streams) == (2 if path == "/people" else 1)


async def test_a_conversation_is_found_by_its_title(chromium: Browser, site: Running) -> None:
    for number in range(150):
        site.bot.add(f"c{number:03d}", "user", f"talk {number}")
    async with opened(chromium, site, "/c/c149") as page:
        entries = page.locator("#list .entry")
        await page.fill("#side [type=search]", "talk 3")
        await expect(entries).to_have_count(11)
        await expect(entries.last).to_contain_text("talk 3")
        await page.fill("#side [type=search]", "no such talk")
        await expect(page.locator("#list")).to_contain_text("Nothing found.")
        await page.fill("#side [type=search]", "")
        await expect(entries.first).to_contain_text("talk 149")


async def test_what_arrives_late_for_another_conversation_is_not_shown_in_this_one(
    chromium: Browser, site: Running
) -> None:
    site.bot.add("c1", "user", "in the first")
    site.bot.add("c2", "user", "in the second")
    held, go_on = asyncio.Event(), asyncio.Event()

    async def hold(route: Route) -> None:
        held.set()
        await go_on.wait()
        await route.continue_()

    async with opened(chromium, site, "/#c1") as page:
        await expect(page.locator(".line .plain")).to_have_text("in the first")
        await page.route("**/c2/messages*", hold)
        await page.click("#list .entry:has-text('in the second')")
        await held.wait()
        await page.click("#list .entry:has-text('in the first')")
        await expect(page.locator(".line .plain")).to_have_text("in the first")
        async with page.expect_event("requestfinished", lambda asked: "/c2/messages" in asked.url):
            go_on.set()
        await site.bot.reply("c1", "c1-1", "an answer")
        await expect(page.locator(".line.assistant")).to_have_count(1)
        await expect(page.locator(".line")).to_have_count(2)


async def test_what_moved_while_the_stream_was_broken_is_read_when_it_is_back(
    chromium: Browser, site: Running
) -> None:
    site.bot.add("c1", "user", "hello")
    site.bot.add("c2", "user", "good day")
    async with opened(chromium, site, "/#c1") as page:
        await expect(page.locator("#list .entry").first).to_contain_text("good day")
        await page.context.set_offline(True)
        site.bot.unreadable = OSError("gone")
        site.web.hub.notify_stored("c1")
        await expect(page.locator("#link")).to_have_text("Reconnecting…")
        site.bot.add("c1", "user", "again")
        site.bot.frozen = 4e9  # so late that no look at what has changed finds it
        site.bot.unreadable = None
        await page.context.set_offline(False)
        await expect(page.locator("#list .entry").first).to_contain_text("hello")


async def test_sign_in_opens_ones_own_chat_and_anothers_only_by_a_press_that_is_audited(
    chromium: Browser, tmp_path: Path
) -> None:
    async with real_bot(tmp_path, lambda asked: "yes") as real:
        real.telegram.hear("mine", chat=OWNER, sender=OWNER)
        await real.telegram.until(lambda: len(real.telegram.sent) == 1)
        real.telegram.hear("my secret", chat=ANN, sender=ANN)
        await real.telegram.until(lambda: len(real.telegram.sent) == 2)
        real.telegram.hear("hello all", chat=GROUP, sender=ANN, kind="group", addressed=True)
        await real.telegram.until(lambda: len(real.telegram.sent) == 3)
        async with opened(chromium, real.site, ready="#list .entry") as page:
            await expect(page.locator(".line.user .plain")).to_have_text("mine")
            await expect(page.locator("#list")).not_to_contain_text("my secret")
            assert await real.audited("chat.read.other") == []

            await page.click("#list .entry:has-text('hello all')")
            await expect(page.locator(".line.user .plain")).to_contain_text("hello all")
            assert await real.audited("chat.read.other") == []

            await page.click(f"#list .entry:has-text('Chat of {ANN}')")
            await expect(page.locator(".hello")).to_contain_text(
                "Opening it is recorded in the audit log."
            )
            await page.reload()
            await expect(page.locator(".hello")).to_contain_text("another person's private chat")
            await expect(page.locator(".line")).to_have_count(0)
            assert await real.audited("chat.read.other") == []

            await page.click(".hello .primary")
            await expect(page.locator(".line.user .plain")).to_have_text("my secret")
            await expect(page.locator("#context")).to_be_visible()
            assert len(await real.audited("chat.read.other")) == 1
            real.telegram.hear("and more", chat=ANN, sender=ANN)
            await expect(page.locator(".line.user .plain").last).to_have_text("and more")
            assert len(await real.audited("chat.read.other")) == 1


async def test_without_a_chat_of_ones_own_a_new_one_is_open(
    chromium: Browser, tmp_path: Path
) -> None:
    async with real_bot(tmp_path, lambda asked: "yes") as real:
        real.telegram.hear("my secret", chat=ANN, sender=ANN)
        await real.telegram.until(lambda: len(real.telegram.sent) == 1)
        async with opened(chromium, real.site, locale="zh-CN") as page:
            await expect(page.locator("#list .entry")).to_have_count(2)
            await expect(page.locator(".hello")).to_contain_text("今天想记住些什么？")
            await page.click(f"#list .entry:has-text('{ANN}')")
            await expect(page.locator(".hello")).to_contain_text("打开会记入审计日志。")
        assert await real.audited("chat.read.other") == []
