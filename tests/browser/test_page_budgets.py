"""What the page may take of a browser: memory after many page changes, and moves of what is
read.
"""

from typing import Any

from playwright.async_api import Browser, Page, expect

from tests.browser.opening import BROWSER, opened, write
from tests.browser.scripted import Page as Said
from tests.by_night import by_night
from tests.channels.web.server import Running

pytestmark = BROWSER
MAX_HEAP, MAX_GROWTH = 25_000_000, 2_000_000  # bytes after a collection
CHANGES = 100
MAX_SHIFT = 0.02
ROUND = ("people", "usage", "settings", "more")
MAX_LONGEST_SHARE = 0.25  # of what drawing the whole answer at once takes
LONG_TEXT = "\n\n".join(
    f"## Part {n}\n\nSome **words** and `code`.\n\n| a | b |\n| --- | --- |\n| {n} | x |"
    for n in range(800)
)
PIECES = 400
LONGEST = """() => {
    window.longest = 0;
    new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) window.longest = Math.max(window.longest, \
entry.duration);
    }).observe({ type: "longtask", buffered: false });
}"""
GO = "path => { history.pushState({}, '', path); dispatchEvent(new PopStateEvent('popstate')); }"
SHIFTS = """() => {
    window.shifts = 0;
    new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifts += \
entry.value;
    }).observe({ type: "layout-shift", buffered: true });
}"""

# one for each way to write a date or a number; each takes milliseconds on a phone
MAX_FORMATTERS = 12
COUNT_FORMATTERS = """
    window.made = 0;
    const construct = (...given) => (window.made++, Reflect.construct(...given));
    const counted = (kind) => new Proxy(kind, { construct });
    for (const name of ["DateTimeFormat", "NumberFormat", "RelativeTimeFormat"]) Intl[name] = \
counted(Intl[name]);
"""


async def heap(session: Any) -> float:
    """Bytes that are in use once everything that can be collected is."""
    await session.send("HeapProfiler.collectGarbage")
    usage = await session.send("Runtime.getHeapUsage")
    return float(usage["usedSize"])


async def walk(page: Page, changes: int) -> None:
    for number in range(changes):
        await page.evaluate(GO, f"/{ROUND[number % len(ROUND)]}")
        await page.wait_for_selector("main h1")


@by_night
async def test_a_hundred_page_changes_leave_the_heap_as_it_was(
    chromium: Browser, site: Running
) -> None:
    async with opened(chromium, site, fresh=True) as page:
        session = await page.context.new_cdp_session(page)
        await walk(page, 2 * len(ROUND))  # each page is loaded once
        before = await heap(session)
        assert before <= MAX_HEAP
        await walk(page, CHANGES)
        assert await heap(session) - before <= MAX_GROWTH


async def test_what_is_read_does_not_move_while_an_answer_begins_grows_and_ends(
    chromium: Browser, site: Running
) -> None:
    async with opened(chromium, site, fresh=True) as page:
        await page.evaluate(SHIFTS)
        await write(page, "wait")
        await expect(page.locator(".draft .words")).to_contain_text("Half of an ans")
        assert isinstance(site.bot, Said)
        site.bot.release.set()
        await expect(page.locator(".line.assistant:not(.draft) .words")).to_have_text(
            "You said: wait"
        )
        assert (
            await page.evaluate(
                "() => new Promise((done) => requestAnimationFrame(() => done(window.shifts)))"
            )
            <= MAX_SHIFT
        )


async def test_a_chat_of_many_lines_makes_each_formatter_once(
    chromium: Browser, site: Running
) -> None:
    for number in range(40):
        site.bot.add("c1", "user" if number % 2 else "assistant", f"line {number}")
    async with opened(chromium, site, "/usage", ready="main h1", fresh=True) as page:
        await page.context.add_init_script(COUNT_FORMATTERS)
        await page.goto(f"{site.base}/c/c1")
        await expect(page.locator(".line time[title]")).to_have_count(40)
        assert 0 < await page.evaluate("window.made") <= MAX_FORMATTERS


@by_night
async def test_no_piece_of_a_long_answer_holds_the_page_as_long_as_the_whole_of_it(
    chromium: Browser, site: Running
) -> None:
    text = LONG_TEXT[:48_000]
    site.bot.add("whole", "user", "tell me")
    site.bot.add("whole", "assistant", text, "whole-1")
    async with opened(chromium, site, "/c/c1", fresh=True) as page:
        await page.evaluate(LONGEST)
        await page.evaluate(GO, "/c/whole")
        await expect(page.locator(".line.assistant h2").last).to_be_visible()
        whole = await page.evaluate("window.longest")
        await page.evaluate(GO, "/c/c1")
        asked = site.bot.add("c1", "user", "tell me")
        site.web.hub.notify_stored("c1")
        site.bot.show("c1", "started", asked.id)
        await expect(page.locator("#said")).to_have_text("Answering…")
        await page.evaluate("window.longest = 0")
        size = len(text) // PIECES
        for start in range(0, len(text), size):
            site.bot.show("c1", "delta", asked.id, text[start : start + size])
            await page.evaluate("() => new Promise(requestAnimationFrame)")
        await expect(page.locator(".draft h2").last).to_have_text(
            text.rpartition("## ")[2].partition("\n")[0]
        )
        assert await page.evaluate("window.longest") <= MAX_LONGEST_SHARE * whole
