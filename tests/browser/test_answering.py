"""A chat of one's own on Telegram is answered from the page; what cannot be answered says so in
place of the box.
"""

from pathlib import Path

from playwright.async_api import Browser, Page, expect

from tests.browser.faults import FAULTS
from tests.browser.opening import BROWSER, in_views, opened, show, write
from tests.browser.real import ANN, GROUP, OWNER, Real, real_bot

pytestmark = BROWSER
WORDS = {
    "en-GB": ("from the page", "Message, also answered on telegram", "the group itself"),
    "zh-CN": ("在网页上写的", "写点什么，telegram 上也会收到", "群里发言"),
}


async def hear(real: Real, text: str, **fields: object) -> None:
    asked = real.telegram.hear(text, **fields)  # type: ignore[arg-type]
    await real.telegram.until(
        lambda: any(one.reply_to_key == asked.key for one in real.telegram.sent)
    )


async def is_whole(page: Page, phone: bool) -> None:
    assert await page.evaluate(FAULTS, phone) == []


@in_views("zh-CN", phone=True)
async def test_the_owners_chat_on_telegram_goes_on_here(
    chromium: Browser, tmp_path: Path, locale: str, phone: bool
) -> None:
    mark, placeholder, refusal = WORDS[locale]
    name = f"answering-{locale}-{'phone' if phone else 'desktop'}"
    async with real_bot(tmp_path, lambda asked: "The train leaves at nine.") as real:
        await hear(real, "When does the train leave?", chat=OWNER, sender=OWNER)
        group = {"kind": "group", "addressed": True, "chat_title": "Tea friends"}
        await hear(real, "hello all", chat=GROUP, sender=ANN, **group)
        async with opened(
            chromium, real.site, "/c", locale=locale, phone=phone, ready="#list .entry"
        ) as page:
            entry = page.locator("#list .entry", has_text="Tea friends")
            await expect(entry.locator("small")).to_contain_text(GROUP)
            await show(page, f"{name}-list")
            await entry.click()
            await expect(page.locator("#refusal")).to_contain_text(refusal)
            await expect(page.locator("#title")).to_have_text("Tea friends")
            await expect(page.locator("#text")).to_have_count(0)
            await is_whole(page, phone)
            await show(page, f"{name}-group")
            if phone:
                await page.click("#menu")
            await page.locator("#list .entry", has_text="When does the train").click()
            await expect(page.locator("#text")).to_have_attribute("placeholder", placeholder)
            await expect(page.locator("#text")).to_be_enabled()
            await write(page, "And the one after it?")
            await expect(page.locator(".line.user")).to_have_count(2)
            await expect(page.locator(".line.assistant")).to_have_count(2)
            asked = page.locator(".line.user", has_text="And the one after it?")
            await expect(asked).to_have_count(1)
            await expect(asked.locator(".note")).to_have_text(mark)
            await expect(
                page.locator(".line.user", has_text="When").locator(".note")
            ).to_have_count(0)
            await is_whole(page, phone)
            await show(page, f"{name}-chat")
            sent = real.telegram.sent
            await real.telegram.until(lambda: "And the one after it?" in sent[-1].text)
            quoted = sent[-1].text
            assert quoted.startswith("> ")
            assert quoted.endswith("The train leaves at nine.")


async def test_a_channel_that_is_switched_off_meanwhile_refuses_what_was_written(
    chromium: Browser, tmp_path: Path
) -> None:
    async with real_bot(tmp_path, lambda asked: "Noted.") as real:
        await hear(real, "Hello", chat=OWNER, sender=OWNER)
        row = await real.bot.store.sessions.find("telegram", "1", OWNER)
        assert row is not None
        async with opened(chromium, real.site, f"/c/{row.id}") as page:
            await real.bot.gateway.remove("telegram")
            await write(page, "Still there?")
            await expect(page.locator(".line.user.failed")).to_contain_text("telegram is off")
            await page.reload()
            await expect(page.locator("#refusal")).to_contain_text("telegram is off")
