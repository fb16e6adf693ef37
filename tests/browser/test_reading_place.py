"""The view follows an answer until the reader scrolls, and keeps its place when the panel opens."""

from playwright.async_api import Browser, Page, expect

from tests.browser.opening import BROWSER, opened
from tests.channels.web.server import Running

pytestmark = BROWSER
PARAGRAPH = (
    "Some words of a long answer that fill a line or two of the page and are followed by more of "
    "them. " * 3
)
END = """() => {
  const log = document.querySelector('#log');
  return log.scrollHeight - log.scrollTop - log.clientHeight <= 4;
}"""
FIRST = """() => {
  const edge = document.querySelector('#log').getBoundingClientRect().top;
  return [...document.querySelectorAll('.line')].findIndex((line) => \
line.getBoundingClientRect().bottom > edge);
}"""
TOP = """number => {
  const line = document.querySelectorAll('.line')[number];
  return line.getBoundingClientRect().top - \
document.querySelector('#log').getBoundingClientRect().top;
}"""


async def at_end(page: Page) -> None:
    await page.wait_for_function(END)


async def grow(site: Running, page: Page, id: str, times: int, start: int = 0) -> None:
    for number in range(start, start + times):
        site.bot.show("c1", "delta", id, f"Part {number}: {PARAGRAPH}\n\n" * 3)
        await expect(page.locator(".draft .words")).to_contain_text(f"Part {number}: Some words")


async def test_the_end_of_a_long_answer_is_in_view_without_a_press(
    chromium: Browser, site: Running
) -> None:
    for number in range(20):
        site.bot.add("c1", "user", f"line {number}")
    async with opened(chromium, site, "/#c1") as page:
        asked = site.bot.add("c1", "user", "tell me all")
        site.bot.show("c1", "started", asked.id)
        await grow(site, page, asked.id, 6)
        await at_end(page)
        await expect(page.locator("#down")).to_be_hidden()
        await page.locator("#context").evaluate("button => button.click()")
        await expect(page.locator("#drawer")).to_be_visible()
        await at_end(page)
        await grow(site, page, asked.id, 2, 6)
        await at_end(page)
        await site.bot.reply("c1", asked.id, f"{PARAGRAPH}\n\n" * 40)
        await expect(page.locator(".line.assistant:not(.draft)")).to_have_count(1)
        await at_end(page)


async def test_a_reader_who_scrolls_up_stays_there_until_the_end_is_asked_for(
    chromium: Browser, site: Running
) -> None:
    for number in range(40):
        site.bot.add("c1", "assistant", f"{number}: {PARAGRAPH}")
    async with opened(chromium, site, "/#c1") as page:
        await at_end(page)
        asked = site.bot.add("c1", "user", "tell me all")
        site.bot.show("c1", "started", asked.id)
        await grow(site, page, asked.id, 2)
        await page.locator("#log").hover()
        await page.mouse.wheel(0, -1500)
        await expect(page.locator("#down")).to_be_visible()
        place = await page.evaluate(TOP, 30)
        await grow(site, page, asked.id, 3, 2)
        assert await page.evaluate(TOP, 30) == place

        first = await page.evaluate(FIRST)
        before = await page.evaluate(TOP, first)
        await page.locator("#context").evaluate("button => button.click()")
        await expect(page.locator("#drawer")).to_be_visible()
        await page.wait_for_function(f"() => Math.abs(({TOP})({first}) - {before}) < 3")
        await page.click("#drawer [aria-label=Close]")
        await page.wait_for_function(f"() => Math.abs(({TOP})({first}) - {before}) < 3")

        await page.click("#down")
        await at_end(page)
        await grow(site, page, asked.id, 2, 5)
        await at_end(page)
