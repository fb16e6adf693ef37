"""The settings in the page: each explained, changed ones shown before they are saved, nobody's change lost."""

import json
from pathlib import Path

from playwright.async_api import Browser, expect

from tests.browser.opening import BROWSER, opened
from tests.browser.real import real_house

pytestmark = BROWSER


async def test_a_change_is_shown_then_saved_and_a_wrong_value_is_named_at_once(
    chromium: Browser, tmp_path: Path
) -> None:
    async with (
        real_house(tmp_path, lambda asked: "yes") as real,
        opened(chromium, real.site, "/settings", ready=".setting") as page,
    ):
        steps = page.locator("#value-agent_max_steps")
        await steps.fill("many")
        await expect(page.locator("#setting-agent_max_steps [role=alert]")).to_have_text("This must be a number.")
        await expect(page.locator(".save .primary")).to_be_disabled()
        await steps.fill("7")
        await page.fill("main [type=search]", "telegram token")
        await page.fill("main [type=search]", "channels.telegram.token")
        await page.fill("[id='value-channels.telegram.token']", "12345:secret-of-mine")
        await expect(page.locator(".save")).to_contain_text("2 changes")
        await page.click(".save .primary")
        dialog = page.locator("dialog")
        await expect(dialog).to_contain_text("agent_max_steps")
        await expect(dialog.locator("ins").first).to_have_text("7")
        await expect(dialog).not_to_contain_text("secret-of-mine")
        await dialog.locator(".primary").click()
        await expect(dialog).to_have_count(0)
        await expect(page.locator(".save")).to_have_count(0)
        assert "secret-of-mine" not in await page.locator("[id='value-channels.telegram.token']").input_value()
    written = json.loads((tmp_path / "config.json").read_text())
    assert written["agent_max_steps"] == 7
    assert written["channels"]["telegram"]["token"] == "12345:secret-of-mine"


async def test_what_the_server_refuses_is_said_and_what_changed_elsewhere_is_shown(
    chromium: Browser, tmp_path: Path
) -> None:
    async with (
        real_house(tmp_path, lambda asked: "yes") as real,
        real.site.client() as other,
        opened(chromium, real.site, "/settings", ready=".setting") as page,
    ):
        await page.fill("#value-agent_max_steps", "100000")
        await page.click(".save .primary")
        await page.click("dialog .primary")
        await expect(page.locator("dialog .warn")).to_contain_text("agent_max_steps")
        await page.keyboard.press("Escape")
        await expect(page.locator("dialog")).to_have_count(0)
        await page.fill("#value-agent_max_steps", "9")
        assert (await other.patch("/api/config", json={"agent_max_steps": 8})).status_code == 200
        await page.click(".save .primary")
        await page.click("dialog .primary")
        await expect(page.locator("dialog .warn")).to_contain_text("Changed elsewhere meanwhile: agent_max_steps")
        await expect(page.locator("dialog del")).to_have_text("8")
        await page.click("dialog .primary")
        await expect(page.locator("dialog")).to_have_count(0)
    assert json.loads((tmp_path / "config.json").read_text())["agent_max_steps"] == 9


async def test_language_and_theme_are_chosen_and_stay(chromium: Browser, tmp_path: Path) -> None:
    async with (
        real_house(tmp_path, lambda asked: "yes") as real,
        opened(chromium, real.site, "/usage", ready="[role=tab]") as page,
    ):
        await page.click("#rail [lang=zh]")
        await expect(page.locator("h1")).to_have_text("用量")
        await page.click("#rail [title^=外观]")
        await page.click("#rail [title^=外观]")
        await page.reload()
        await expect(page.locator("h1")).to_have_text("用量")
        await expect(page.locator("html")).to_have_attribute("data-theme", "dark")
        await expect(page.locator("html")).to_have_attribute("lang", "zh")
