"""An answer that was stopped or that broke off stays on the page, which offers to try again and to
go on.
"""

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio
from playwright.async_api import Browser, Locator, Page, expect

from tests.browser.opening import BROWSER, write
from tests.browser.test_whole_console import Walk, walking
from tests.emulators.model_replies import Reply, refuse

pytestmark = BROWSER
STORY = "Once there was a fox in a wide forest that told nobody where it slept at night."
SHOWN = "Once there was"
CALLS = 5  # of one step


@pytest_asyncio.fixture(loop_scope="session")
async def walk(chromium: Browser, tmp_path: Path) -> AsyncIterator[Walk]:
    async with walking(chromium, tmp_path / "home") as one:
        yield one


def button(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=name, exact=True)


async def stop_in_the_middle(walk: Walk) -> None:
    walk.talk.model.script([Reply(text=STORY, then="stall", after=8)])
    await write(walk.page, "tell me a story")
    await expect(walk.page.locator(".draft .words")).to_contain_text(SHOWN, timeout=30_000)
    await walk.page.click("#stop")


async def break_off(walk: Walk) -> None:
    broken = [
        Reply(text=STORY, then="error", after=8),
        *[refuse(529, retry_after="0")] * (CALLS - 1),
    ]
    walk.talk.model.script(broken)
    await write(walk.page, "tell me a story")
    await expect(walk.page.locator(".line.notice")).to_have_count(1, timeout=30_000)


async def test_a_stopped_answer_stays_and_continue_goes_on(walk: Walk) -> None:
    page = walk.page
    await stop_in_the_middle(walk)
    answer = page.locator(".line.assistant")
    await expect(answer.locator(".note")).to_have_text("Stopped")
    await expect(answer.locator(".words")).to_contain_text(SHOWN)
    await expect(button(page, "Retry")).to_have_count(1)
    await page.reload()
    await expect(answer.locator(".words")).to_contain_text(SHOWN)
    walk.talk.model.script(["and it slept in a den."])
    await button(page, "Continue").click()
    await expect(answer).to_have_count(2)
    await expect(answer.last.locator(".words")).to_have_text("and it slept in a den.")
    await expect(answer.first.locator(".words")).to_contain_text(SHOWN)
    await expect(page.locator(".line.user .plain").last).to_have_text("Continue.")
    await expect(button(page, "Continue")).to_have_count(0)


async def test_a_stopped_answer_can_be_tried_again(walk: Walk) -> None:
    page = walk.page
    await stop_in_the_middle(walk)
    await expect(button(page, "Continue")).to_have_count(1)
    walk.talk.model.script(["the whole story"])
    await button(page, "Retry").click()
    await expect(page.locator(".line.assistant .words").last).to_have_text("the whole story")
    await expect(page.locator(".line.assistant .words").first).to_contain_text(SHOWN)


async def test_an_answer_that_broke_off_stays_above_its_notice_and_continue_goes_on(
    walk: Walk,
) -> None:
    page = walk.page
    await break_off(walk)
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
    walk.talk.model.script(["and it slept in a den."])
    await button(page, "Continue").click()
    await expect(answer.last.locator(".words")).to_have_text("and it slept in a den.")


async def test_an_answer_that_broke_off_can_be_tried_again(walk: Walk) -> None:
    page = walk.page
    await break_off(walk)
    walk.talk.model.script(["the whole story"])
    await button(page, "Retry").click()
    await expect(page.locator(".line.assistant .words").last).to_have_text("the whole story")
    await expect(page.locator(".line.assistant .words").first).to_contain_text(SHOWN)
