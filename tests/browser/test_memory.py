"""The memory in the page: searched, its files read and edited, and no text of anybody lost."""

import re
from pathlib import Path

from playwright.async_api import Browser, Page, expect

from tests.browser.faults import check
from tests.browser.hands import Finger, Hand, Keyboard
from tests.browser.opening import BROWSER, in_views, opened, show
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


async def test_files_stand_in_groups_and_a_day_opens(
    chromium: Browser, site: Running, tmp_path: Path
) -> None:
    diary = tmp_path / "workspace" / "memory"
    (diary / "2026-11-21.md").write_text("# later\n")
    (diary / "dreams").mkdir()
    (diary / "dreams" / "2026-11-20.md").write_text("# a night\n")
    async with opened(chromium, site, locale="zh-CN") as page:
        await open_files(page)
        await expect(page.locator("main h2")).to_have_text(["笔记", "日记", "夜间整理记录"])
        names = page.locator(".file bdi")
        await expect(names).to_have_text(
            [
                "MEMORY.md",
                "memory/2026-11-21.md",
                "memory/2026-11-20.md",
                "memory/dreams/2026-11-20.md",
            ]
        )
        await page.click("text=memory/2026-11-21.md")
        await expect(page.locator(".editor")).to_have_value("# later\n")


SHARED = "# Memory\n\n- drinks green tea\n- lives in Oslo\n- has a cat\n"
THEIRS = "# Memory\n\n- drinks oolong tea\n- lives in Oslo\n- has two cats\n- written by hand\n"
MINE = "# My memory\n\n- drinks white tea\n- lives in Oslo\n- has a dog\n"
SIDES = [
    ["- drinks green tea", "- drinks oolong tea", "- drinks white tea"],
    ["- has a cat", "- has two cats\n- written by hand", "- has a dog"],
]


async def conflicts(page: Page) -> list[list[str]]:
    """What each place that is left to decide said before, says in the file, and says here."""
    rows = await page.locator(".conflict .sides").all()
    return [
        [text.rstrip("\n") for text in await row.locator("pre").all_text_contents()] for row in rows
    ]


async def edit_both(page: Page, file: Path, way: type[Hand] | None = None) -> None:
    """Open a file, type into it, change it on the disk, and save."""
    text, save = page.locator(".editor"), page.locator("#save")
    await page.click(".file >> text=MEMORY.md")
    await expect(text).to_have_value(SHARED)
    await text.fill(MINE)
    file.write_text(THEIRS)
    await (way(page).press(save) if way else save.click())
    await expect(page.locator(".conflict h2")).to_have_count(len(SIDES))


async def test_what_others_changed_in_a_file_is_merged_and_shown_beside_ones_own_where_both_meet(
    chromium: Browser, site: Running, tmp_path: Path
) -> None:
    file = tmp_path / "workspace" / "MEMORY.md"
    file.write_text(SHARED)
    async with opened(chromium, site) as page:
        text, foot, places = (
            page.locator(".editor"),
            page.locator("#note"),
            page.locator(".conflict h2"),
        )
        await open_files(page)
        await edit_both(page, file)
        await expect(page.locator(".conflict [role=alert]")).to_contain_text(
            "both changed the same lines, you decide"
        )
        await expect(page.locator(".conflict h3")).to_have_text(
            ["Before", "In the file now", "Yours"] * 2
        )
        assert await conflicts(page) == SIDES
        await expect(text).to_have_value(MINE)
        assert file.read_text() == THEIRS
        await places.nth(1).get_by_role("button", name="Line 5").click()
        chosen = await text.evaluate(
            "area => area.value.slice(area.selectionStart, area.selectionEnd)"
        )
        assert chosen == "- has a dog"
        await page.get_by_role("button", name="Take theirs instead: Line 3").click()
        await expect(places).to_have_text(["Line 5"])
        await page.get_by_role("button", name="Keep mine: Line 5").click()
        await expect(page.locator(".conflict [role=alert]")).to_contain_text(
            "contains both changes"
        )
        merged = "# My memory\n\n- drinks oolong tea\n- lives in Oslo\n- has a dog\n"
        await expect(text).to_have_value(merged)
        await page.click("#save")
        await expect(foot).to_have_text("Saved.")
        await expect(page.locator(".conflict")).to_have_count(0)
        assert file.read_text() == merged


async def test_changes_of_a_file_in_different_places_meet_nowhere_and_stay_both(
    chromium: Browser, site: Running, tmp_path: Path
) -> None:
    file = tmp_path / "workspace" / "MEMORY.md"
    file.write_text(SHARED)
    async with opened(chromium, site) as page:
        text = page.locator(".editor")
        await open_files(page)
        await page.click(".file >> text=MEMORY.md")
        await text.fill(SHARED.replace("a cat", "a dog"))
        file.write_text("first\n" + SHARED)
        await page.keyboard.press("Control+s")
        await expect(page.locator(".conflict")).to_contain_text("check it, then save")
        both = "first\n" + SHARED.replace("a cat", "a dog")
        await expect(text).to_have_value(both)
        assert file.read_text() == "first\n" + SHARED
        await page.click("text=Only what I typed")
        await expect(text).to_have_value(SHARED.replace("a cat", "a dog"))
        await text.fill(both)
        await page.keyboard.press("Control+s")
        await expect(page.locator("#note")).to_have_text("Saved.")
        assert file.read_text() == both


async def test_theirs_may_be_taken_and_a_file_that_is_gone_is_made_again(
    chromium: Browser, site: Running, tmp_path: Path
) -> None:
    file = tmp_path / "workspace" / "MEMORY.md"
    async with opened(chromium, site, locale="zh-CN") as page:
        text = page.locator(".editor")
        await open_files(page)
        await page.click(".file >> text=MEMORY.md")
        await text.fill("mine")
        file.write_text("theirs")
        await page.click("#save")
        await page.click("text=只用文件里的")
        await expect(text).to_have_value("theirs")
        await expect(page.locator("#save")).to_be_disabled()
        await text.fill("mine again")
        file.unlink()
        await page.click("#save")
        await expect(page.locator("main [role=alert]")).to_have_text(
            "文件刚在别处被删除。保存会重新创建它。"
        )
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
        chosen = await area.evaluate(
            "area => area.value.slice(area.selectionStart, area.selectionEnd)"
        )
        assert chosen == lines[149]
        share = await area.evaluate(
            "area => area.scrollTop / (area.scrollHeight - area.clientHeight)"
        )
        assert 0.7 < share < 0.8
        await page.click("header [aria-label=Back]")
        await expect(page.locator("main [type=search]")).to_have_value("tea")
        await expect(page.locator(".result")).to_have_count(3)


async def test_a_find_of_what_was_said_opens_its_conversation(
    chromium: Browser, site: Running
) -> None:
    site.bot.add("tea", "user", "我喜欢乌龙茶")
    async with opened(chromium, site) as page:
        await open_search(page)
        await look_for(page, "茶")
        await page.click(".result >> nth=2")
        await expect(page.locator(".line.user")).to_contain_text("我喜欢乌龙茶")
        assert page.url.endswith("/c/tea/m/turn-4")


async def test_nothing_found_and_a_search_that_fails_are_told(
    chromium: Browser, site: Running
) -> None:
    site.bot.found.clear()  # type: ignore[attr-defined]
    async with opened(chromium, site, locale="zh-CN") as page:
        await open_search(page)
        await look_for(page, "没有的东西")
        await expect(page.locator("main")).to_contain_text("没有找到。")
        await look_for(page, "broken")
        await expect(page.locator("main .warn")).to_have_text("the index cannot be read")


@in_views("zh-CN", phone=True)
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
        (tmp_path / "workspace" / "MEMORY.md").write_text(SHARED)
        await open_files(page)
        await edit_both(page, tmp_path / "workspace" / "MEMORY.md", Finger if phone else Keyboard)
        tops = {
            box["y"]
            for box in [
                await side.bounding_box()
                for side in await page.locator(".sides >> nth=0 >> pre").all()
            ]
            if box
        }
        assert len(tops) == (3 if phone else 1)  # below each other, or side by side
        await show(page, f"{kind}-conflict")
        assert await check(page, "conflict") == []
        hand: Hand = Finger(page) if phone else Keyboard(page)
        await hand.press(
            page.locator(".conflict .linklike", has_text=re.compile("theirs|对方")).first
        )
        await expect(page.locator(".conflict h2")).to_have_count(1)
        await hand.press(page.locator(".conflict .linklike", has_text=re.compile("mine|我的")))
        await expect(page.locator(".conflict h2")).to_have_count(0)
        await hand.press(page.locator("#save"))
        await expect(page.locator("#note")).to_have_text(re.compile("Saved|已保存"))
