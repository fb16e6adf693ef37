"""A channel is set up in the page from nothing: what is needed, fields, a live test, saving, and
its state.
"""

import json
from pathlib import Path

from playwright.async_api import Browser, expect

from tests.browser.opening import BROWSER, opened
from tests.browser.real import real_bot
from tests.emulators.telegram import TOKEN, TelegramEmulator

pytestmark = BROWSER


async def test_telegram_is_set_up_from_nothing(chromium: Browser, tmp_path: Path) -> None:
    async with (
        TelegramEmulator() as telegram,
        real_bot(tmp_path, lambda asked: "yes", settings={"memory": {"extract": False}}) as real,
        opened(
            chromium, real.site, "/channels", ready=".rows a[href='/channels/feishu/setup']"
        ) as page,
    ):
        telegram.chat(5005)
        await page.goto(real.site.base + "/channels/telegram/setup")
        token, run = (
            page.locator("[id='value-channels.telegram.token']"),
            page.get_by_role("button", name="Test"),
        )
        await expect(page.locator(".need li").first).to_contain_text("@BotFather")
        await page.click("summary")
        await page.fill("[id='value-channels.telegram.base_url']", telegram.url)
        await page.fill("[id='value-channels.telegram.owners']", "5005")
        await token.fill("100:wrong-secret-of-the-lab")
        await run.click()
        credentials = page.locator("[data-step=credentials]")
        await expect(credentials).to_contain_text("The token is refused", timeout=20_000)
        await expect(credentials).to_contain_text("Open @BotFather")
        assert "wrong-secret" not in await page.locator(".findings").inner_text()
        await token.fill(TOKEN)
        await run.click()
        await expect(page.locator(".findings li")).to_have_count(7, timeout=20_000)
        await expect(page.locator(".findings .failed")).to_have_count(0)
        assert [message.chat for message in telegram.sent()] == [5005]
        assert "telegram" not in json.loads((tmp_path / "config.json").read_text()).get(
            "channels", {}
        )
        await page.get_by_role("button", name="Save and start").click()
        await expect(page.get_by_role("button", name="Switch off")).to_be_visible()
        written = json.loads((tmp_path / "config.json").read_text())["channels"]["telegram"]
        assert written == {
            "token": TOKEN,
            "base_url": telegram.url,
            "owners": ["5005"],
            "enabled": True,
        }
