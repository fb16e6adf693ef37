"""An answer that was stopped or that broke off stays on the page, which offers to try again and to
go on.
"""

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest_asyncio
from playwright.async_api import Browser, Locator, Page, expect

from tests.browser.opening import BROWSER, opened, write
from tests.browser.real import QUIET, real_bot
from tests.emulators.model import ModelEmulator
from tests.emulators.model_replies import Reply, refuse

pytestmark = BROWSER
STORY = "Once there was a fox in a wide forest that told nobody where it slept at night."
SHOWN = "Once there was"
CALLS = 5  # of one step


@dataclass
class Talk:
    """A chat on the page with a bot whose model is an emulator."""

    page: Page
    model: ModelEmulator


@pytest_asyncio.fixture(loop_scope="session")
async def talk(chromium: Browser, tmp_path: Path) -> AsyncIterator[Talk]:
    async with ModelEmulator() as model:
        wire = {"provider": "anthropic", "api_key": "a key", "base_url": model.url}
        async with (
            real_bot(tmp_path, None, settings={**QUIET, "llm": wire}) as real,
            opened(chromium, real.site, "/c/c1") as page,
        ):
            yield Talk(page, model)


def button(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=name, exact=True)


async def stop_in_the_middle(talk: Talk) -> None:
    talk.model.script([Reply(text=STORY, then="stall", after=8)])
    await write(talk.page, "tell me a story")
    await expect(talk.page.locator(".draft .words")).to_contain_text(SHOWN, timeout=30_000)
    await talk.page.click("#stop")


async def break_off(talk: Talk) -> None:
    broken = [
        Reply(text=STORY, then="error", after=8),
        *[refuse(529, retry_after="0")] * (CALLS - 1),
    ]
    talk.model.script(broken)
    await write(talk.page, "tell me a story")
    await expect(talk.page.locator(".line.notice")).to_have_count(1, timeout=30_000)


async def test_a_stopped_answer_stays_and_continue_goes_on(talk: Talk) -> None:
    page = talk.page
    await stop_in_the_middle(talk)
    answer = page.locator(".line.assistant")
    await expect(answer.locator(".note")).to_have_text("Stopped")
    await expect(answer.locator(".words")).to_contain_text(SHOWN)
    await expect(button(page, "Retry")).to_have_count(1)
    await page.reload()
    await expect(answer.locator(".words")).to_contain_text(SHOWN)
    talk.model.script(["and it slept in a den."])
    await button(page, "Continue").click()
    await expect(answer).to_have_count(2)
    await expect(answer.last.locator(".words")).to_have_text("and it slept in a den.")
    await expect(answer.first.locator(".words")).to_contain_text(SHOWN)
    await expect(page.locator(".line.user .plain").last).to_have_text("Continue.")
    await expect(button(page, "Continue")).to_have_count(0)
    await stop_in_the_middle(talk)
    await expect(button(page, "Continue")).to_have_count(1)
    talk.model.script(["the whole story"])
    await button(page, "Retry").click()
    await expect(answer.last.locator(".words")).to_have_text("the whole story")
    await expect(answer.nth(2).locator(".words")).to_contain_text(SHOWN)


async def test_an_answer_that_broke_off_stays_above_its_notice_and_continue_goes_on(
    talk: Talk,
) -> None:
    page = talk.page
    await break_off(talk)
    answer = page.locator(".line.assistant")
    await expect(answer.locator(".note")).to_have_text("(cut off)")
    await expect(answer.locator(".words")).to_contain_text(SHOWN)
    for _ in ("as it came", "as it is read again"):
        await expect(page.locator(".line.notice")).to_have_count(1)
        await expect(page.locator(".line").last).to_have_class(re.compile("notice error"))
        await expect(button(page, "Retry")).to_have_count(1)
        await expect(button(page, "Continue")).to_have_count(1)
        await expect(page.locator(".draft")).to_have_count(0)
        await page.reload()
    talk.model.script(["and it slept in a den."])
    await button(page, "Continue").click()
    await expect(answer.last.locator(".words")).to_have_text("and it slept in a den.")


async def test_an_answer_that_broke_off_can_be_tried_again(talk: Talk) -> None:
    page = talk.page
    await break_off(talk)
    talk.model.script(["the whole story"])
    await button(page, "Retry").click()
    await expect(page.locator(".line.assistant .words").last).to_have_text("the whole story")
    await expect(page.locator(".line.assistant .words").first).to_contain_text(SHOWN)
