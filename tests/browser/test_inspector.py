"""The context inspector over a whole bot: what each request showed, what differs, and what changes
the context.
"""

from pathlib import Path

from playwright.async_api import Browser, Page, expect

from bot.models.base import Request
from memory.conversation import Text
from memory.store.rows import FoldRow
from tests.bot.talk import call, folded
from tests.browser.faults import check
from tests.browser.opening import BROWSER, opened, write
from tests.browser.real import OWNER, QUIET, Real, real_bot
from tests.by_night import by_night

pytestmark = BROWSER
TIGHT = {**QUIET, "agent_max_context_turns": 4, "agent_max_context_tokens": 9_000}
SUMMARY = folded(
    "- They tell codes of lockers.", "## Goal and state\n- They tell codes of lockers."
)


def answering(request: Request) -> object:
    if request.purpose != "turn":
        return SUMMARY
    last = request.messages[-1].parts
    texts = [part.text for part in last if isinstance(part, Text)]
    if any(text.startswith("read ") for text in texts):
        return call("read_file", id=f"r{request.size}", path="notes/n.md")
    return "Noted."


async def say(page: Page, text: str, answers: int) -> None:
    await write(page, text)
    await expect(page.locator(".line.assistant:not(.draft)")).to_have_count(answers)


@by_night
async def test_past_requests_are_looked_at_compared_and_the_context_is_changed(
    chromium: Browser, tmp_path: Path
) -> None:
    (tmp_path / "workspace" / "notes").mkdir(parents=True)
    (tmp_path / "workspace" / "notes" / "n.md").write_text("The tide table. " * 60)
    async with (
        real_bot(tmp_path, answering, settings=TIGHT) as real,  # type: ignore[arg-type]
        opened(chromium, real.site, "/c/c1") as page,
    ):
        for number in range(7):
            text = (
                "read notes/n.md"
                if number == 2
                else f"Locker {number} opens with {40_000 + number}."
            )
            await say(page, text, number + 1)
            await real.bot.turns.settled()
            await real.bot.folding.settled()
        row = await real.bot.store.sessions.find("web", "console", "c1")
        assert row is not None
        views = await real.bot.store.views.page(row.id, limit=100)
        sent = [request for request in real.model.requests if request.purpose == "turn"]
        assert len(views) == len(sent) == 8

        await page.click("#context")
        await page.click("#drawer .look-back")
        await page.wait_for_url("**/c/c1/context/8")
        await expect(page.locator(".which")).to_contain_text("Request 8 · turn 7")
        await expect(page.locator(".which")).to_contain_text("exactly as sent")
        await expect(page.locator("svg .bracket")).not_to_have_count(0)

        slider = page.locator("input[type=range]")
        await slider.focus()
        await slider.press("ArrowLeft")
        await page.wait_for_url("**/c/c1/context/7")
        await slider.press("Home")
        await expect(page.locator(".which")).to_contain_text("Request 1 · turn 1")
        turn = page.locator('[data-segment="running 1"]')
        await turn.locator("summary").click()
        shown = await turn.locator("pre").all_text_contents()
        assert shown == [
            part.text
            for message in sent[0].messages
            for part in message.parts
            if isinstance(part, Text)
        ]

        broken = next(view.number for view in reversed(views) if view.fold_head)
        await page.goto(f"{real.site.base}/c/c1/context/{broken}/vs/{broken - 1}")
        await expect(page.locator("p.broke")).to_contain_text("Turns were folded")
        await expect(page.locator("li.left_out").first).to_be_visible()
        assert await check(page, page.url) == []

        undo = page.get_by_role("button", name="Undo the fold of")
        await undo.click()
        await expect(page.locator("svg .bracket")).to_have_count(len(await folds_of(real, row.id)))
        await page.get_by_role("checkbox", name="boundary").check()
        await page.get_by_role("button", name="Replay", exact=True).click()
        figures = page.locator("section tbody tr")
        await expect(figures).to_have_count(4, timeout=60_000)
        await page.reload()
        await expect(figures).to_have_count(4)
        assert await check(page, page.url) == []
        await page.get_by_role("button", name="Use turns in this conversation").click()
        await expect(page.get_by_role("combobox", name="Policy")).to_have_value("turns")

        await page.get_by_role("button", name="Clear: hide the turns so far").click()
        await expect(page.get_by_role("button", name="Undo the last clear")).to_be_visible()


async def folds_of(real: Real, conversation: str) -> list[FoldRow]:
    store = real.bot.store
    session = await store.sessions.load(conversation)
    return list(await store.folds.folds(conversation, session.epoch, with_texts=False))


async def tell(real: Real, text: str) -> None:
    """Say something on Telegram and wait for the answer."""
    known = len(real.telegram.sent)
    real.telegram.hear(text, chat=OWNER, sender=OWNER, key=text)
    await real.telegram.until(lambda: len(real.telegram.sent) > known)


async def test_an_undo_on_another_channel_changes_the_open_inspector_within_a_second(
    chromium: Browser, tmp_path: Path
) -> None:
    async with (
        real_bot(tmp_path, answering, settings=TIGHT) as real,  # type: ignore[arg-type]
        opened(chromium, real.site, "/c/c1") as page,
    ):
        for number in range(3):
            await tell(real, f"Locker {number} opens with {40_000 + number}.")
        await tell(real, "/context clear")
        row = await real.bot.store.sessions.find("telegram", "1", OWNER)
        assert row is not None
        await page.goto(f"{real.site.base}/c/{row.id}/context/last")
        clear = page.get_by_role("button", name="Clear: hide the turns so far")
        await expect(clear).to_contain_text("from the model (0)")
        await tell(real, "/context undo")
        await expect(clear).to_contain_text("from the model (3)", timeout=1_000)
