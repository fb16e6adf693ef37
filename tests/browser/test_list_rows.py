"""Rows of the list of conversations: their two lines, their width, and the list on a phone."""

import pytest
from playwright.async_api import Browser, expect

from tests.browser.faults import check
from tests.browser.opening import BROWSER, opened, show
from tests.by_night import first_by_day
from tests.channels.web.server import Running

pytestmark = BROWSER
WIDTH = "document.querySelector('.side').getBoundingClientRect().width"


def fill(site: Running) -> None:
    site.bot.add("tg-1", "user", "hello from a telephone")
    site.bot.channels["tg-1"] = "telegram"
    site.bot.add("tg-2", "user", "hello from a group")
    site.bot.channels["tg-2"] = "telegram"
    site.bot.whose["tg-2"] = "group"
    site.bot.add("c1", "user", "a question about a journey to the sea in April")


@pytest.mark.parametrize(
    ("locale", "dark", "phone"),
    first_by_day(2, [("zh-CN", True, False), ("en-GB", False, True), ("zh-CN", False, True)]),
)
async def test_a_row_has_its_title_and_below_channel_and_time(
    chromium: Browser, site: Running, locale: str, dark: bool, phone: bool
) -> None:
    fill(site)
    async with opened(
        chromium, site, "/c", locale=locale, dark=dark, phone=phone, ready="#list .entry"
    ) as page:
        entries = page.locator("#list .entry")
        await expect(entries).to_have_count(3)
        await expect(entries.nth(1).locator("small")).to_contain_text("telegram · ")
        await expect(entries.nth(1).locator("small svg.phone")).to_be_visible()
        await expect(entries.nth(0).locator("small svg.chat")).to_be_visible()
        boxes = [
            await entries.nth(0).locator(part).bounding_box() for part in (".entry-title", "small")
        ]
        assert boxes[0]
        assert boxes[1]
        assert boxes[0]["y"] + boxes[0]["height"] <= boxes[1]["y"] + 1
        assert await check(page, "list") == []
        await show(page, f"rows-{locale}-{phone}")


async def test_the_list_is_as_wide_as_it_was_dragged_or_set_by_keys(
    chromium: Browser, site: Running
) -> None:
    fill(site)
    async with opened(chromium, site, "/c/c1") as page:
        divider = page.get_by_role("separator", name="Width of the list")
        assert await page.evaluate(WIDTH) == pytest.approx(271, abs=2)
        box = await divider.bounding_box()
        assert box
        await page.mouse.move(box["x"] + 4, 300)
        await page.mouse.down()
        await page.mouse.move(box["x"] + 104, 320, steps=4)
        await page.mouse.up()
        await expect(divider).to_have_attribute("aria-valuenow", "372")
        assert await page.evaluate(WIDTH) == pytest.approx(371, abs=2)
        await page.reload()
        await expect(divider).to_have_attribute("aria-valuenow", "372")
        assert await page.evaluate(WIDTH) == pytest.approx(371, abs=2)
        await divider.focus()
        await page.keyboard.press("ArrowLeft")
        await expect(divider).to_have_attribute("aria-valuenow", "356")
        await page.keyboard.press("End")
        await page.keyboard.press("ArrowRight")
        await expect(divider).to_have_attribute("aria-valuenow", "480")  # no wider
        await page.keyboard.press("Home")
        await page.keyboard.press("ArrowLeft")
        await expect(divider).to_have_attribute("aria-valuenow", "200")
        await show(page, "narrow-list")
        await divider.dblclick()
        await expect(divider).to_have_attribute("aria-valuenow", "272")
        assert await page.evaluate("localStorage.getItem('mnema.list-width')") is None


async def test_on_a_phone_the_list_fills_the_screen_and_its_menu_is_a_button(
    chromium: Browser, site: Running
) -> None:
    fill(site)
    async with opened(chromium, site, "/c", phone=True, ready="#list .entry") as page:
        await expect(page.get_by_role("separator")).to_have_count(0)
        await page.evaluate("localStorage.setItem('mnema.list-width', '480')")
        await page.reload()
        await page.wait_for_selector("#list .entry")
        assert await page.evaluate(WIDTH) == 390
        await page.evaluate("localStorage.clear()")
