"""What the page shows of a chat after a reload, and what its owner does with it in the list."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from tests.bot.console.crowds import add_long_conversation
from tests.bot.console.test_conversations import notes, png, say, script
from tests.browser.opening import BROWSER, opened
from tests.browser.real import Real, real_bot
from tests.by_night import by_night

pytestmark = BROWSER


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def real(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Real]:
    async with real_bot(tmp_path_factory.mktemp("home"), script) as up, up.site.client() as client:
        await notes(up)
        for number in range(3):
            await say(up, client, f"t{number}", f"talk number {number}")
        await say(
            up, client, "c1", "which green tea does Ann like in the morning, say my notes?", png()
        )
        yield up


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def window(chromium: Browser, real: Real) -> AsyncIterator[Page]:
    async with opened(chromium, real.site, "/c/c1") as shown:
        yield shown


@pytest_asyncio.fixture(loop_scope="session")
async def page(window: Page, real: Real) -> Page:
    """The one window on the first chat, wherever the test before left it, or whichever that was."""
    if window.url != f"{real.site.base}/c/c1":
        await window.goto(f"{real.site.base}/c/c1")
    await expect(window.locator(".line.assistant")).to_be_visible()
    return window


async def test_pictures_steps_and_what_was_recalled_are_shown_again(page: Page) -> None:
    await page.reload()
    picture = page.locator(".line.user img")
    await expect(picture).to_be_visible()
    assert await picture.evaluate("image => image.decode().then(() => image.naturalWidth)") == 480
    answer = page.locator(".line.assistant")
    await expect(answer.locator(".usage")).to_contain_text("scripted")
    await answer.locator("details.steps > summary").click()
    step = answer.locator("details.steps li")
    await expect(step).to_contain_text("memory_search")
    await step.locator("summary").click()
    await expect(step).to_contain_text('"query": "tea"')
    await expect(step).to_contain_text("green tea in the morning")
    await expect(answer.locator(".recalled")).to_have_count(0)
    await answer.locator(".recall summary").click()
    await expect(answer.locator(".recalled blockquote")).to_have_count(1)
    await answer.locator(".recalled a").click()
    await page.wait_for_url("**/memory/files/memory/2026-01-05.md?line=2")
    await page.go_back()


async def test_an_answer_leads_to_what_the_model_saw(page: Page) -> None:
    line = page.locator(".line.assistant")
    await line.hover()
    await line.get_by_role("link", name="Context").click()
    await page.wait_for_url("**/c/c1/context/turn-1")
    await expect(page.locator("body")).to_contain_text("which green tea does Ann like")
    await page.go_back()
    await expect(line).to_be_visible()


async def test_words_are_found_and_lead_to_their_line(page: Page) -> None:
    await page.click("#find-here")
    await page.fill("#find-words", "notes")
    found = page.locator("#found a")
    await expect(found.locator("mark")).to_have_text(["notes", "notes"])
    await found.last.click()
    await expect(page.locator(".line.sought")).to_contain_text("which green tea")
    await page.press("#find-words", "Escape")
    await expect(page.locator("#find-words")).to_be_hidden()


async def test_a_message_is_quoted_or_forgotten_by_words_in_the_box(page: Page) -> None:
    line = page.locator(".line.assistant")
    await line.hover()
    await line.get_by_role("button", name="Quote").click()
    assert await page.input_value("#text") == "> It is in your notes.\n\n"
    await page.fill("#text", "")
    await line.get_by_role("button", name="Forget").click()
    assert await page.input_value("#text") == "/forget It is in your notes."
    await page.fill("#text", "")


async def test_a_chat_is_renamed_pinned_and_deleted_with_time_to_take_it_back(page: Page) -> None:
    def row(text: str) -> str:
        return f"#list .place:has-text('{text}')"

    await page.hover(row("talk number 0"))
    await page.click(f"{row('talk number 0')} .acts")
    await page.fill("#new-title", "Tea time")
    await page.press("#new-title", "Enter")
    await expect(page.locator(row("Tea time"))).to_be_visible()
    await page.hover(row("Tea time"))
    await page.click(f"{row('Tea time')} .acts")
    await page.click("dialog button:has-text('Pin')")
    await expect(page.locator("#list .entry").first).to_contain_text("Tea time")
    await expect(page.locator("#list h3").first).to_have_text("Pinned")

    await page.hover(row("talk number 1"))
    await page.click(f"{row('talk number 1')} .acts")
    await page.click("dialog button:has-text('Delete')")
    await expect(page.locator(row("talk number 1"))).to_have_count(0)
    await page.click(".toast button:has-text('Undo')")
    await expect(page.locator(row("talk number 1"))).to_be_visible()

    await page.hover(row("talk number 2"))
    await page.click(f"{row('talk number 2')} .acts")
    await page.click("dialog button:has-text('Archive')")
    await expect(page.locator(row("talk number 2"))).to_have_count(0)
    await page.select_option(".filters select", "archived")
    await expect(page.locator("#list .entry")).to_have_count(1)
    await page.select_option(".filters select", "")


async def test_what_is_open_is_read_and_what_is_not_is_marked(page: Page, real: Real) -> None:
    await expect(page.locator("#list .here .unread")).to_have_count(0)
    async with real.site.client() as client:
        await say(real, client, "t1", "something new")
        await expect(page.locator("#list .place:has-text('talk number 1') .unread")).to_be_visible()
        await page.click("#list .entry:has-text('talk number 1')")
        await expect(page.locator("#list .place:has-text('talk number 1') .unread")).to_have_count(
            0
        )

        async def unread() -> int:
            return int((await client.get("/api/v1/conversations/t1")).json()["unread"])

        for _ in range(50):
            if not await unread():
                break
            await page.wait_for_timeout(50)
        assert await unread() == 0


async def test_the_palette_leads_to_chats_files_settings_and_commands(
    page: Page, real: Real
) -> None:
    async with real.site.client() as client:
        path = "/api/v1/conversations/t0"
        tag = {"if-match": (await client.get(path)).headers["etag"]}
        assert (
            await client.patch(path, json={"title": "Tea time"}, headers=tag)
        ).status_code == 200
    choices = page.locator("#palette .choice")
    for words, first, path in (
        ("talk number 1", "talk number 1", "**/c/t1"),
        ("2026-01", "memory/2026-01-05.md", "**/memory/files/memory/2026-01-05.md"),
        ("timezone", "timezone", "**/settings/timezone"),
        ("usage", "Usage", "**/usage"),
    ):
        await page.keyboard.press("Control+k")
        await page.locator("#palette input").fill(words)
        await expect(choices.first).to_contain_text(first)
        await page.keyboard.press("Enter")
        await page.wait_for_url(path)
        await expect(page.locator("#palette")).to_have_count(0)
    await page.keyboard.press("Control+k")
    await page.locator("#palette input").fill("some words")
    await page.keyboard.press("Escape")
    await expect(page.locator("#palette")).to_have_count(0)
    await page.keyboard.press("Control+k")
    await page.locator("#palette input").fill("/remember")
    await expect(choices.first).to_contain_text("/remember")
    await page.keyboard.press("Enter")
    await expect(page.locator("#text")).to_have_value("/remember ")
    await page.fill("#text", "")


async def test_a_question_mark_shows_the_keys_unless_one_writes(page: Page) -> None:
    await page.locator("#text").focus()
    await page.keyboard.press("?")
    assert await page.input_value("#text") == "?"
    await page.fill("#text", "")
    await page.locator("#log").focus()
    await page.keyboard.press("?")
    await expect(page.locator("#keys")).to_contain_text("Go to anything")
    await page.keyboard.press("Escape")
    await expect(page.locator("#keys")).to_have_count(0)


async def test_a_badge_counts_who_asks_to_be_let_in(page: Page, real: Real) -> None:
    await expect(page.locator("#go-people .badge")).to_have_count(0)
    real.telegram.hear("let me in", chat="9009", sender="9009")
    await expect(page.locator("#go-people .badge")).to_contain_text("1")


@by_night
async def test_a_chat_of_thousands_of_messages_keeps_a_small_document_and_is_entered_anywhere(
    page: Page, real: Real
) -> None:
    await add_long_conversation(real.bot.store, "long", 1_000)
    await page.goto(f"{real.site.base}/c/long")
    await expect(page.locator(".line").last).to_contain_text("answer 1000")
    for _ in range(5):
        await page.click(".earlier")
    lines = page.locator(".line")
    await expect(lines.first).to_contain_text("question 881")
    assert await lines.count() <= 80
    assert await page.evaluate("document.querySelectorAll('*').length") <= 1_500
    await page.goto(f"{real.site.base}/c/long/m/turn-500")
    await expect(page.locator(".line.sought .plain")).to_have_text("question 500")
    await expect(page.locator(".line.sought")).to_be_in_viewport()
    await page.click("#down")
    await expect(page.locator(".line").last).to_be_in_viewport()
    await expect(page.locator(".line").last).to_contain_text("answer 1000")
