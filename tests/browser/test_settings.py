"""The settings in the page: each explained, changed ones shown before they are saved, nobody's
change lost.
"""

import json
import re
from pathlib import Path

from playwright.async_api import Browser, expect

from tests.browser.opening import BROWSER, opened
from tests.browser.real import real_bot

pytestmark = BROWSER
EVERY_MS = 2_000  # between two looks of the page at its server


async def test_settings_are_checked_saved_merged_and_taken_back(
    chromium: Browser, tmp_path: Path
) -> None:
    config = tmp_path / "config.json"
    async with (
        real_bot(tmp_path, lambda asked: "yes") as real,
        real.site.client() as other,
        opened(chromium, real.site, "/settings", ready=".setting", clocked=True) as page,
    ):
        before = config.read_bytes()
        steps, alert = (
            page.locator("#value-agent_max_steps"),
            page.locator("#setting-agent_max_steps [role=alert]"),
        )
        await expect(page.locator("#setting-agent_max_steps")).to_contain_text(
            "takes effect with the next turn"
        )
        await steps.fill("many")
        await expect(alert).to_have_text("This must be a number.")
        await steps.fill("100000")
        await expect(alert).to_contain_text("agent_max_steps is 100000; it must be a whole number")
        await expect(page.locator(".save .primary")).to_be_disabled()
        await steps.fill("7")
        await page.fill("main [type=search]", "channels.telegram.token")
        await page.fill("[id='value-channels.telegram.token']", "12345:secret-of-mine")
        await expect(page.locator(".save")).to_contain_text("2 changes")
        await page.click(".save .primary")
        dialog = page.locator("dialog")
        await expect(dialog.locator("ins").first).to_have_text("7")
        await expect(dialog).not_to_contain_text("secret-of-mine")
        await dialog.locator(".primary").click()
        await expect(dialog).to_have_count(0)
        await expect(page.locator(".save")).to_have_count(0)
        token = page.locator("[id='value-channels.telegram.token']")
        await expect(token).to_have_value("")
        await expect(token).to_have_attribute("placeholder", "set: 1234…(20)")
        written = json.loads(config.read_text())
        assert (written["agent_max_steps"], written["channels"]["telegram"]["token"]) == (
            7,
            "12345:secret-of-mine",
        )

        await page.fill("main [type=search]", "agent_max_steps")
        await steps.fill("9")
        assert (await other.patch("/api/config", json={"agent_max_steps": 8})).status_code == 200
        await page.clock.run_for(EVERY_MS)
        await expect(page.locator(".conflict h2")).to_have_text(["agent_max_steps"])
        await expect(page.locator(".conflict h3")).to_have_text(
            ["Before", "In the file now", "Yours"]
        )
        await expect(page.locator(".conflict pre")).to_have_text(["7", "8", "9"])
        await page.click(".conflict >> text=Keep mine")
        await page.click(".save .primary")
        await expect(dialog.locator("del")).to_have_text("8")
        await dialog.locator(".primary").click()
        await expect(page.locator(".save")).to_have_count(0)
        assert json.loads(config.read_text())["agent_max_steps"] == 9

        await page.click(".chips >> text=JSON")
        source = page.locator("textarea")
        await expect(source).not_to_have_value("")
        text = await source.input_value()
        assert "secret-of-mine" not in text
        await source.fill(text.replace("9", "9,,", 1))
        await expect(page.locator("main [role=alert]")).to_contain_text(
            re.compile(r"line \d+, column \d+")
        )
        await expect(page.locator("main .primary")).to_be_disabled()
        await source.fill(text.replace('"agent_max_steps": 9', '"agent_max_steps": 11'))
        assert (await other.patch("/api/config", json={"agent_max_steps": 10})).status_code == 200
        await page.click("main .primary")
        await expect(page.locator(".conflict pre")).to_contain_text(
            [f'"agent_max_steps": {n}' for n in (9, 10, 11)]
        )
        await page.click(".conflict >> text=Keep mine")
        await page.click("main .primary")
        await expect(page.locator(".conflict")).to_have_count(0)
        await expect(page.locator("main .acts .quiet")).to_be_disabled()
        assert "secret-of-mine" in config.read_text()

        await page.click(".chips >> text=Versions")
        await expect(page.locator("ol li")).to_have_count(6)
        await expect(page.locator("ol li").first).to_contain_text("10 → 11")
        assert "secret-of-mine" not in await page.locator("ol").inner_text()
        await page.click("ol li:last-child button")
        await expect(page.locator("ol li")).to_have_count(7)
        assert config.read_bytes() == before


async def test_opening_the_settings_asks_for_each_thing_once(
    chromium: Browser, tmp_path: Path
) -> None:
    asked: list[str] = []
    async with (
        real_bot(tmp_path, lambda asked: "yes") as real,
        opened(chromium, real.site, "/usage", ready="[role=tab]", fresh=True) as page,
    ):
        page.on(
            "request",
            lambda one: (
                asked.append(one.url.partition("/config")[2]) if "/config" in one.url else None
            ),
        )
        await page.click("#go-settings")
        await page.wait_for_selector(".setting")
        await page.evaluate(
            "() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))"
        )
        assert asked == ["/keys", "/state", ""]


async def test_language_and_theme_are_chosen_and_stay(chromium: Browser, tmp_path: Path) -> None:
    async with (
        real_bot(tmp_path, lambda asked: "yes") as real,
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
