"""A call that waits for consent stands in the chat that asked, and is decided there."""

from pathlib import Path
from typing import Any

from playwright.async_api import Browser, Locator, Page, expect

from tests.bot.talk import call
from tests.bot.tools.exec.sandboxed import needs_sandbox
from tests.browser.opening import BROWSER, in_views, opened, show, write
from tests.browser.real import QUIET, Real, real_bot

pytestmark = [*BROWSER, needs_sandbox]
SETTINGS: dict[str, Any] = {**QUIET, "tools": {"exec": {"enabled": True, "seconds": 20}}}
LIST = call("exec", argv=["ls", "-la", "two words"])


def card(page: Page) -> Locator:
    return page.locator("#lines .approval")


async def ask(real: Real, page: Page) -> None:
    await write(page, "please list them")
    await expect(card(page)).to_be_visible()
    await real.bot.settled()


@in_views("zh-CN", phone=True)
async def test_it_is_decided_where_it_was_asked(
    chromium: Browser, tmp_path: Path, locale: str, phone: bool
) -> None:
    script = [LIST, "It waits for you.", "Two files."]
    async with (
        real_bot(tmp_path, script, settings=SETTINGS) as real,
        opened(chromium, real.site, "/c/files", locale=locale, phone=phone) as page,
    ):
        await ask(real, page)
        await expect(card(page).locator(".runs")).to_have_text("$ ls -la 'two words'")
        facts = card(page).locator("dl")
        await expect(facts).not_to_be_visible()
        await show(page, f"approval-asked-{locale}")
        await card(page).locator("summary").press("Enter")
        await expect(facts).to_contain_text("sandbox")
        await show(page, f"approval-facts-{locale}")
        await card(page).locator(".primary").press("Enter")
        await expect(page.locator("#lines .ended.done")).to_contain_text("exec")
        await expect(card(page)).to_have_count(0)
        await expect(page.locator(".line.assistant").last).to_contain_text("Two files.")
        await expect(page.locator(".asked summary")).to_contain_text("$ ls -la 'two words'")
        await show(page, f"approval-done-{locale}")
        await page.reload()
        state = "approved, failed" if locale == "en-GB" else "已批准"
        await expect(page.locator(".asked summary")).to_contain_text(state.split(",")[0])


async def test_the_same_card_stands_under_tools_and_a_refusal_is_answered_once(
    chromium: Browser, tmp_path: Path
) -> None:
    script = [LIST, "It waits for you.", "Then not."]
    async with (
        real_bot(tmp_path, script, settings=SETTINGS) as real,
        opened(chromium, real.site, "/c/files", dark=True) as page,
    ):
        await ask(real, page)
        in_chat = await card(page).inner_text()
        await page.click("#go-tools")
        await expect(page.locator("main .approval")).to_have_count(1)
        assert await page.locator("main .approval").inner_text() == in_chat
        await show(page, "approval-tools")
        await page.go_back()
        await card(page).get_by_role("button", name="Deny").click()
        await expect(page.locator("#lines .ended.denied")).to_contain_text("nothing was run")
        await expect(page.locator(".line.assistant").last).to_contain_text("Then not.")
        await show(page, "approval-denied")
        assert real.model is not None
        assert len(real.model.requests) == 3
