"""The memory in the page: searched, its files read and edited, and no text of anybody lost."""

from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect

from tests.browser.opening import BROWSER, opened, show
from tests.by_night import by_night
from tests.channels.web.server import Running

pytestmark = BROWSER


async def open_files(page: Page) -> None:
    await page.click("#go-memory")
    await page.click("main nav >> nth=0 >> a[href='/memory/files']")


async def open_search(page: Page) -> None:
    await page.click("#go-memory")
    await page.click("main nav >> nth=0 >> a[href='/memory/search']")


async def look_for(page: Page, words: str) -> None:
    await page.fill("main [type=search]", words)
    await page.press("main [type=search]", "Enter")


async def test_files_stand_in_groups_and_a_day_opens(chromium: Browser, site: Running, tmp_path: Path) -> None:
    diary = tmp_path / "workspace" / "memory"
    (diary / "2026-11-21.md").write_text("# later\n")
    (diary / "dreams").mkdir()
    (diary / "dreams" / "2026-11-20.md").write_text("# a night\n")
    async with opened(chromium, site, locale="zh-CN") as page:
        await open_files(page)
        await expect(page.locator("main h2")).to_have_text(["笔记", "日记", "夜间整理记录"])
        names = page.locator(".file bdi")
        await expect(names).to_have_text(
            ["MEMORY.md", "memory/2026-11-21.md", "memory/2026-11-20.md", "memory/dreams/2026-11-20.md"]
        )
        await page.click("text=memory/2026-11-21.md")
        await expect(page.locator(".editor")).to_have_value("# later\n")


async def test_a_file_is_saved_and_a_change_by_others_is_shown_beside_ones_own(
    chromium: Browser, site: Running, tmp_path: Path
) -> None:
    file = tmp_path / "workspace" / "MEMORY.md"
    async with opened(chromium, site) as page:
        mine, foot = page.locator(".editor:not([readonly])"), page.locator("#note")
        await open_files(page)
        await page.click(".file >> text=MEMORY.md")
        await mine.fill("# Memory\n\n- likes 乌龙茶\n")
        await page.click("#save")
        await expect(foot).to_contain_text("Saved.")
        assert file.read_text() == "# Memory\n\n- likes 乌龙茶\n"
        file.write_text("changed by hand")
        await mine.fill("mine")
        await page.click("#save")
        await expect(foot).to_contain_text("Somebody changed this file")
        await expect(mine).to_have_value("mine")
        await expect(page.locator(".theirs .editor")).to_have_value("changed by hand")
        assert file.read_text() == "changed by hand"
        await mine.fill("changed by hand\nand mine")
        await page.click("#save")
        await expect(foot).to_contain_text("Saved.")
        await expect(page.locator(".theirs")).to_be_hidden()
    assert file.read_text() == "changed by hand\nand mine"


async def test_theirs_may_be_taken_and_a_file_that_is_gone_is_made_again(
    chromium: Browser, site: Running, tmp_path: Path
) -> None:
    file = tmp_path / "workspace" / "MEMORY.md"
    async with opened(chromium, site, locale="zh-CN") as page:
        mine = page.locator(".editor:not([readonly])")
        await open_files(page)
        await page.click(".file >> text=MEMORY.md")
        await mine.fill("mine")
        file.write_text("theirs")
        await page.click("#save")
        await page.click("text=改用对方的版本")
        await expect(mine).to_have_value("theirs")
        await expect(page.locator("#save")).to_be_disabled()
        await mine.fill("mine again")
        file.unlink()
        await page.click("#save")
        await expect(page.locator(".theirs")).to_be_visible()
        await page.click("#save")
        await expect(page.locator("#note")).to_contain_text("已保存。")
    assert file.read_text() == "mine again"


async def test_a_find_opens_its_file_at_its_line_and_the_way_back_keeps_the_finds(
    chromium: Browser, site: Running, tmp_path: Path
) -> None:
    lines = [f"- line {number} {'with many words ' * 9}" for number in range(1, 200)]
    (tmp_path / "workspace" / "MEMORY.md").write_text("\n".join(lines))
    site.bot.found[0] |= {"line": 150, "source": "MEMORY.md:150"}  # type: ignore[attr-defined]
    async with opened(chromium, site) as page:
        await open_search(page)
        await look_for(page, "tea")
        await expect(page.locator(".result")).to_have_count(3)
        await expect(page.locator(".result small bdi")).to_have_text(
            ["MEMORY.md:150", "memory/2026-11-20.md:2", "said in turn 4"]
        )
        await page.click(".result >> nth=0")
        area = page.locator(".editor")
        chosen = await area.evaluate("area => area.value.slice(area.selectionStart, area.selectionEnd)")
        assert chosen == lines[149]
        share = await area.evaluate("area => area.scrollTop / (area.scrollHeight - area.clientHeight)")
        assert 0.7 < share < 0.8
        await page.click("header [aria-label=Back]")
        await expect(page.locator("main [type=search]")).to_have_value("tea")
        await expect(page.locator(".result")).to_have_count(3)


async def test_a_find_of_what_was_said_opens_its_conversation(chromium: Browser, site: Running) -> None:
    site.bot.add("tea", "user", "我喜欢乌龙茶")
    async with opened(chromium, site) as page:
        await open_search(page)
        await look_for(page, "茶")
        await page.click(".result >> nth=2")
        await expect(page.locator(".line.user")).to_contain_text("我喜欢乌龙茶")
        assert page.url.endswith("/c/tea/m/turn-4")


async def test_nothing_found_and_a_search_that_fails_are_told(chromium: Browser, site: Running) -> None:
    site.bot.found.clear()  # type: ignore[attr-defined]
    async with opened(chromium, site, locale="zh-CN") as page:
        await open_search(page)
        await look_for(page, "没有的东西")
        await expect(page.locator("main")).to_contain_text("没有找到。")
        await look_for(page, "broken")
        await expect(page.locator("main .warn")).to_have_text("the index cannot be read")


@pytest.mark.parametrize(
    ("locale", "phone"),
    [
        ("en-GB", False),
        ("zh-CN", True),
        *(pytest.param(*one, marks=by_night) for one in (("en-GB", True), ("zh-CN", False))),
    ],
)
async def test_search_files_and_a_conflict_fit_phone_and_desktop(
    chromium: Browser, site: Running, tmp_path: Path, phone: bool, locale: str
) -> None:
    kind = f"memory-{'phone' if phone else 'desktop'}-{locale[:2]}"
    overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    async with opened(chromium, site, locale=locale, phone=phone, dark=locale == "zh-CN") as page:
        if phone:
            await page.click("#menu")
        await open_search(page)
        await look_for(page, "tea")
        await expect(page.locator(".result")).to_have_count(3)
        await show(page, f"{kind}-search")
        assert await page.evaluate(overflow) == 0
        await page.click(".result >> nth=0")
        await page.fill(".editor", "# Memory\n\n- likes green tea\n- my own new line\n")
        (tmp_path / "workspace" / "MEMORY.md").write_text("# Memory\n\n- likes green tea\n- somebody else's line\n")
        await page.click("#save")
        await expect(page.locator(".theirs")).to_be_visible()
        await show(page, f"{kind}-conflict")
        assert await page.evaluate(overflow) == 0
