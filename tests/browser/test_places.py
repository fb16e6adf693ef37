"""The places of the page: rail and list hold their words, a panel holds the focus, and Back closes
it.
"""

import pytest
from playwright.async_api import Browser, Page, expect

from tests.browser.opening import BROWSER, opened, show, write
from tests.by_night import by_night
from tests.channels.web.server import Running

pytestmark = BROWSER
OUTSIDE = """box => {
  const outer = document.querySelector(box).getBoundingClientRect();
  const nodes = [...document.querySelectorAll(`${box} :is(button, a)`)];
  return nodes.map((node) => [node.textContent, node.getBoundingClientRect()])
    .filter(([, rect]) => rect.left < outer.left - 1 || rect.right > outer.right + 1)
    .map(([text]) => text);
}"""
FOCUSED = (
    "document.activeElement.closest('#drawer, #side, #main')?.id ?? document.activeElement.tagName"
)


@pytest.mark.parametrize("locale", ["en-GB", pytest.param("zh-CN", marks=by_night)])
@pytest.mark.parametrize("phone", [False, True])
async def test_rail_and_list_hold_their_words(
    chromium: Browser, site: Running, locale: str, phone: bool
) -> None:
    site.bot.add(
        "c1",
        "user",
        "a title that is long enough to be cut off somewhere in the list of conversations",
    )
    async with opened(chromium, site, "/c/c1", locale=locale, phone=phone) as page:
        if phone:
            await page.click("#menu")
        await expect(page.locator("#list .entry")).to_have_count(1)
        await show(page, f"side-{locale}-{'phone' if phone else 'desktop'}")
        assert await page.evaluate(OUTSIDE, "#side") == []
        assert await page.evaluate(OUTSIDE, "#rail") == []


async def tab(page: Page, times: int) -> set[str]:
    """Where the focus was during so many presses of Tab, and backwards."""
    seen = set()
    for number in range(2 * times):
        await page.keyboard.press("Tab" if number < times else "Shift+Tab")
        seen.add(str(await page.evaluate(FOCUSED)))
    return seen


async def test_on_a_phone_the_focus_stays_in_what_is_open(chromium: Browser, site: Running) -> None:
    async with opened(chromium, site, "/c/c1", phone=True) as page:
        await write(page, "hello")
        await expect(page.locator(".line.assistant:not(.draft)")).to_have_count(1)
        await page.click("#context")
        await expect(page.locator("#drawer [aria-label=Close]")).to_be_focused()
        assert await tab(page, 12) <= {"drawer", "BODY", "A"}
        await page.click("#drawer [aria-label=Close]")
        await expect(page.locator("#context")).to_be_focused()
        assert "side" not in await tab(page, 12)


async def test_on_a_phone_back_leads_through_the_screens(chromium: Browser, site: Running) -> None:
    site.bot.add("c1", "user", "first")
    site.bot.add("c2", "user", "second")
    async with opened(chromium, site, "/c/c1", phone=True) as page:
        await expect(page.locator(".line .plain")).to_have_text("first")
        await page.click("#menu")
        await page.click(".entry:has-text('second')")
        await expect(page.locator(".line .plain")).to_have_text("second")
        await page.click("#context")
        await expect(page.locator("#drawer")).to_be_visible()
        await page.go_back()
        await expect(page.locator(".line .plain")).to_have_text("second")
        await page.go_back()
        await expect(page.locator("#list .entry")).to_have_count(2)
        await page.click("#go-memory")
        await page.click("main nav a[href='/memory/files']")
        await expect(page.locator(".file").first).to_be_visible()
        await page.go_back()
        await page.go_back()
        await page.go_back()
        await expect(page.locator(".line .plain")).to_have_text("first")
        assert page.url == f"{site.base}/c/c1"


async def test_a_text_that_was_changed_is_not_lost_by_back(
    chromium: Browser, site: Running
) -> None:
    async with opened(chromium, site, "/c/c1", fresh=True) as page:
        answers = ["no", "yes"]

        async def choose(dialog: object) -> None:
            await (dialog.dismiss() if answers.pop(0) == "no" else dialog.accept())  # type: ignore[attr-defined]

        page.on("dialog", choose)
        await page.click("#go-memory")
        await page.click("main nav a[href='/memory/files']")
        await page.click("text=MEMORY.md")
        await page.fill(".editor", "something else")
        await page.evaluate("history.back()")
        await expect(page.locator(".editor")).to_have_value("something else")
        await page.wait_for_url("**/memory/files/MEMORY.md")
        await page.evaluate("history.back()")
        await expect(page.locator(".editor")).to_have_count(0)
        await expect(page.locator(".file").first).to_be_visible()
    assert answers == []


async def test_enter_sends_the_highlighted_command(chromium: Browser, site: Running) -> None:
    async with opened(chromium, site) as page:
        await page.type("#text", "/pol")
        await expect(page.locator(".completion[aria-selected=true]")).to_contain_text("/policy")
        await page.press("#text", "Enter")
        await expect(page.locator(".line.user .plain").last).to_have_text("/policy")
        await page.type("#text", "/co")
        await page.press("#text", "ArrowDown")
        await page.press("#text", "Enter")
        await expect(page.locator(".line.user .plain").last).to_have_text("/config")
        await page.type("#text", "/co")
        await page.press("#text", "Escape")
        await page.press("#text", "Enter")
        await expect(page.locator(".line.user .plain").last).to_have_text("/co")
        await page.type("#text", "/nothing of ours")
        await page.press("#text", "Enter")
        await expect(page.locator(".line.user .plain").last).to_have_text("/nothing of ours")
        await page.type("#text", "/rem")
        await page.press("#text", "Enter")
        await expect(page.locator("#text")).to_have_value("/remember ")
    sent = [message.text for message in site.bot.taken]
    assert sent == ["/policy", "/config", "/co", "/nothing of ours"]
