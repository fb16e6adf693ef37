"""A sent message is edited in a branch: a conversation of its own, with a line to its origin."""

from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from tests.bot.console.test_conversations import say
from tests.browser.opening import BROWSER, opened, show
from tests.browser.real import ANN, real_bot
from tests.by_night import first_by_day

pytestmark = BROWSER


@pytest.mark.parametrize("phone", first_by_day(1, [True, False]))
async def test_other_words_go_into_a_branch_and_the_first_talk_stays(
    chromium: Browser, tmp_path: Path, phone: bool
) -> None:
    async with real_bot(tmp_path, lambda asked: "Noted.") as real:
        async with real.site.client() as client:
            await say(real, client, "c1", "I like tea")
            await say(real, client, "c1", "green or black?")
        async with opened(chromium, real.site, "/c/c1", phone=phone) as page:
            asked = page.locator(".line.user", has_text="green or black?")
            if phone:
                await asked.locator(".acts-of").tap()
            else:
                await asked.hover()
            await asked.get_by_role("button", name="Edit").click()
            await expect(page.locator("#text")).to_have_value("green or black?")
            await expect(page.locator(".editing")).to_contain_text("starts a branch")
            await show(page, f"branch-editing-{'phone' if phone else 'desktop'}")
            await page.fill("#text", "white or yellow?")
            await page.click("#send")
            await page.wait_for_url("**/c/chat-*")
            await expect(page.locator(".line.user .plain").last).to_have_text("white or yellow?")
            await expect(page.locator(".line.assistant")).to_have_count(2)
            await expect(page.locator(".line.user", has_text="green or black?")).to_have_count(0)
            await real.bot.settled()
            await show(page, f"branch-{'phone' if phone else 'desktop'}")
            assert real.model is not None
            seen = str(real.model.requests[-1].messages)
            assert "I like tea" in seen
            assert "green or black?" not in seen
            await page.get_by_role("link", name="I like tea").last.click()
            await page.wait_for_url("**/c/c1/m/turn-2")
            await expect(page.locator(".line.sought")).to_contain_text("green or black?")


async def test_another_persons_chat_is_not_branched(tmp_path: Path) -> None:
    async with real_bot(tmp_path, lambda asked: "Noted.") as real, real.site.client() as client:
        message = real.telegram.hear("hello", chat=ANN, sender=ANN, key="k")
        await real.telegram.until(lambda: bool(real.telegram.sent))
        await real.bot.settled()
        row = await real.bot.store.sessions.find("telegram", "1", ANN)
        assert row is not None
        body = {"message": message.key, "name": "mine"}
        answer = await client.post(f"/api/v1/conversations/{row.id}/branches", json=body)
        assert answer.status_code == 403
        unknown = {"message": "nothing", "name": "mine"}
        await say(real, client, "c1", "hello")
        answer = await client.post("/api/v1/conversations/c1/branches", json=unknown)
        assert answer.status_code == 404
