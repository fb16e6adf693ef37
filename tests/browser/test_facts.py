"""Facts in the page: found, explained, corrected and put back, forgotten with a receipt; another's only once opened."""

from pathlib import Path

from playwright.async_api import Browser, Page, expect

from memory.longterm.memories import MemoryCandidate
from memory.store.longterm.rows import MemorySource
from tests.browser.opening import BROWSER, opened, write
from tests.browser.real import ANN, Real, real_bot

pytestmark = BROWSER
QUOTE = "Since last week my landlord is Zephyrine Quill."
FACT = "Has the landlord Zephyrine Quill"
PAYLOAD = '<img src=x onerror="document.title=1"> **b** \u202egnp'


async def teach(real: Real, page: Page) -> None:
    """Say something in the chat, and note a fact that rests on it."""
    await write(page, QUOTE)
    await page.wait_for_selector(".line.assistant footer")
    row = await real.bot.store.sessions.find("web", "console", "c1")
    assert row is not None
    [message] = await real.bot.store.sessions.messages(row.id, 1, 1)
    source = MemorySource(conversation=row.id, message_id=message.id, channel="web", quote=QUOTE)
    await real.bot.memories("").upsert(
        MemoryCandidate(category="fact", text=FACT, importance=7, origin="extraction", source=source)
    )


async def test_a_fact_is_found_and_leads_to_the_turn_that_it_rests_on(chromium: Browser, tmp_path: Path) -> None:
    async with real_bot(tmp_path, lambda asked: "noted") as real, opened(chromium, real.site, "/c/c1") as page:
        await teach(real, page)
        await real.bot.memories("").add("skill", "Speaks Finnish")
        await page.click("#go-memory")
        await expect(page.locator(".fact .text")).to_have_text(["Speaks Finnish", FACT])
        await page.fill("main [type=search]", "landlord")
        await expect(page.locator(".fact .text")).to_have_text([FACT])
        await expect(page.locator(".fact mark")).to_have_text(["landlord"])
        await page.select_option("main form select >> nth=0", "skill")
        await expect(page.locator("main [role=status]")).to_have_text("Nothing found.")
        await page.select_option("main form select >> nth=0", "")
        await page.focus(".fact")
        await page.keyboard.press("Enter")
        await expect(page.locator("blockquote")).to_have_text(QUOTE)
        await page.click("figcaption a")
        await expect(page.locator(".line.user.sought")).to_contain_text("Zephyrine")
        assert page.url.endswith("/c/c1/m/turn-1")


async def test_a_correction_is_taken_back_and_a_stale_one_is_told(chromium: Browser, tmp_path: Path) -> None:
    async with real_bot(tmp_path, lambda asked: "noted") as real:
        memories = real.bot.memories("")
        row = await memories.add("fact", "Lives in Oslo", 5)
        async with opened(chromium, real.site, f"/memory/facts/{row.id}", ready=".facts") as page:
            await page.click("text=Correct")
            await page.fill("textarea", "Lives in Bergen")
            await page.fill("[type=number]", "9")
            await page.click("text=Save")
            await expect(page.locator("section .text")).to_have_text("Lives in Bergen")
            await expect(page.locator(".rows .former")).to_have_text("Lives in Oslo")
            assert "Lives in Bergen" in (tmp_path / "workspace/MEMORY.md").read_text()
            await page.click(".toast .undo")
            await expect(page.locator("section .text")).to_have_text("Lives in Oslo")
            await expect(page.locator("section .facts")).to_contain_text("5 / 10")
            await page.click("text=Correct")
            await page.fill("textarea", "Lives in Trondheim")
            await real.bot.store.memories.set_importance("", row.norm, 2)
            await page.click("text=Save")
            await expect(page.locator("main [role=alert]")).to_contain_text("changed meanwhile")
            await expect(page.locator("textarea")).to_have_value("Lives in Trondheim")
            await page.click("text=Save")
            await expect(page.locator("section .text")).to_have_text("Lives in Trondheim")


async def test_what_is_forgotten_is_previewed_typed_and_gone_with_a_receipt(chromium: Browser, tmp_path: Path) -> None:
    async with (
        real_bot(tmp_path, lambda asked: "noted") as real,
        opened(chromium, real.site, "/c/c1", locale="zh-CN") as page,
    ):
        await teach(real, page)
        await page.click("#go-memory")
        await page.click(".fact")
        await page.click("main .button")
        await expect(page.locator("fieldset [type=checkbox]")).to_have_count(2)
        forget = page.locator("button.danger")
        await expect(forget).to_be_disabled()
        await page.fill(".confirm input", "忘掉")
        await page.keyboard.press("Enter")
        values = page.locator("#receipt dd")
        await expect(values).to_have_text(["1", "1", "0", "1", "1", "0", "✓"])
        assert "Zephyrine" not in (tmp_path / "workspace/MEMORY.md").read_text()
        await page.click("main p a[href='/memory/facts']")
        await expect(page.locator("main [role=status]")).to_be_visible()
        await page.click("main .spans button >> nth=1")
        await page.click(".fact")
        await expect(page.locator("main")).to_contain_text("无法放回")
        await page.goto(f"{real.site.base}/c/c1/context/last")
        await page.wait_for_selector(".which")
        assert "Zephyrine" not in await page.inner_text("main")


async def test_another_persons_facts_are_shown_once_opened_and_cannot_be_changed(
    chromium: Browser, tmp_path: Path
) -> None:
    async with real_bot(tmp_path, lambda asked: "noted") as real:
        message = real.telegram.hear("hello", chat=ANN, sender=ANN)
        await real.telegram.until(lambda: any(one.reply_to_key == message.key for one in real.telegram.sent))
        space = next(name for name in await real.bot.spaces() if name)
        row = await real.bot.memories(space).add("fact", PAYLOAD)
        async with opened(chromium, real.site, "/memory", ready=".whose") as page:
            await page.select_option(".whose select", space)
            await expect(page.locator(".closed")).to_be_visible()
            assert await real.audited("memory.read.other") == []
            await page.click(".closed button")
            await expect(page.locator(".fact .text")).to_contain_text("<img src=x onerror=")
            await expect(page.locator(".fact .text")).to_contain_text("⟨U+202E⟩")
            await page.click(".fact")
            await expect(page.locator(".banner")).to_be_visible()
            await expect(page.locator("section .facts")).to_be_visible()
            await expect(page.locator("text=Correct")).to_have_count(0)
            assert page.url.endswith(f"/memory/facts/{row.id}?space={space}")
            assert len(await real.audited("memory.read.other")) == 1
