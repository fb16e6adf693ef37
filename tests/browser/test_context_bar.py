"""The context in the page: the bar, all its numbers, the folds on a time line, and a fold as it
goes on.
"""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Locator, expect
from playwright.async_api import Page as Tab

from tests.browser.opening import BROWSER, opened, write
from tests.browser.scripted import CONTEXT, FOLDS, page_bot
from tests.by_night import first_by_day
from tests.channels.web.server import Running

pytestmark = BROWSER
NEXT = {
    **FOLDS[0],
    "id": "f3",
    "from_turn": 12,
    "to_turn": 15,
    "tokens_before": 9_000,
    "tokens_after": 700,
}
STEPS = ("planned", "summarised", "logged", "folded")
FOLD_SEEN_MS = 4_000  # for which a fold that is done is shown


def facts(site: Running, **changed: Any) -> None:
    """What the context is said to be from now on."""
    site.bot.facts.update(changed)  # type: ignore[attr-defined]


def fold(site: Running, state: str, chat: str = "c1") -> None:
    told = {
        name: NEXT[name] for name in ("id", "from_turn", "to_turn", "tokens_before", "tokens_after")
    }
    site.bot.show(chat, "fold", "", state=state, **told)


async def width(part: Locator) -> float:
    box = await part.bounding_box()
    assert box is not None
    return box["width"]


async def begun(page: Tab) -> None:
    """The conversation c1 with its first answer, and its numbers."""
    await write(page, "hi")
    await expect(page.locator(".line.assistant:not(.draft)")).to_have_count(1)
    await expect(page.locator("#context")).to_be_visible()


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def window(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Tab]:
    async with (
        page_bot(tmp_path_factory.mktemp("files")) as site,
        opened(chromium, site, "/#c1") as shown,
    ):
        await begun(shown)
        yield shown


@pytest_asyncio.fixture(loop_scope="session")
async def page(window: Tab) -> Tab:
    """The one window on a chat, for tests that only look, with its drawer closed."""
    if await window.locator("#drawer").is_visible():
        await window.click("#drawer [aria-label=Close]")
    await expect(window.locator("#drawer")).to_be_hidden()
    return window


async def test_the_bar_shows_the_parts_to_scale_and_says_the_numbers(page: Tab) -> None:
    await expect(page.locator("#context-text")).to_have_text("18,432 / 50,000 · 37% · 7/20 turns")
    await expect(page.locator("#context-text .narrow")).to_be_hidden()
    await expect(page.locator("#context")).to_have_accessible_name(
        "Context: 18,432 / 50,000 · 7/20 turns"
    )
    await page.click("#context")
    bar = page.locator("#drawer .bar.tall")
    await expect(bar.locator(".part")).to_have_count(5)
    whole = await width(bar)
    for name, tokens in CONTEXT["parts"].items():
        assert await width(bar.locator(f".{name}")) == pytest.approx(
            whole * tokens / 50_000, abs=2.5
        )
    tick = await page.locator("#drawer .tick").bounding_box()
    start = await bar.bounding_box()
    assert tick is not None
    assert start is not None
    assert tick["x"] - start["x"] == pytest.approx(whole * 0.75, abs=3)


async def test_the_bar_of_turns_can_be_seen_and_is_filled_to_scale(page: Tab) -> None:
    await page.click("#context")
    bar = page.locator("#drawer .bar.thin")
    for part in (bar, bar.locator("i")):
        box = await part.bounding_box()
        assert box is not None
        assert box["height"] > 0
    assert await width(bar.locator("i")) == pytest.approx(await width(bar) * 7 / 20, abs=2.5)


async def test_the_drawer_has_every_number(page: Tab) -> None:
    await page.click("#context")
    drawer = page.locator("#drawer")
    await expect(drawer.locator(".legend > li")).to_have_count(6)
    assert await drawer.locator(".legend > li > span").all_text_contents() == [
        "System", "Tools", "Summary", "History", "Running turn", "Free",
    ]  # fmt: skip
    assert await drawer.locator(".legend ul b").all_text_contents() == [
        "410",
        "260",
        "630",
        "1,400",
        "400",
    ]
    await expect(drawer.locator(".cut")).to_have_text(
        "MEMORY.md · Left out to save space: ## Preferences: 3 paragraphs"
    )
    told = await drawer.locator(".facts dd").all_text_contents()
    assert told == [
        "at 37,500 tokens or after 20 turns", "balanced", "31 (you 8, bot 23)", "51,200",
        "o200k × 1.02, 1.4 % off", "83%",
    ]  # fmt: skip


async def test_less_room_than_is_configured_is_told(chromium: Browser, site: Running) -> None:
    facts(site, budget=43_000)
    async with opened(chromium, site, "/#c1") as page:
        await begun(page)
        await expect(page.locator("#context-text")).to_contain_text("18,432 / 43,000 · 43%")
        await page.click("#context")
        await expect(page.locator("#drawer .sum").first).to_contain_text("18,432 / 43,000 tokens")
        room = page.locator(".facts dt", has_text="Room in the model's window")
        await expect(room.locator("+ dd")).to_have_text("43,000")


async def test_the_folds_stand_on_a_line_of_time_with_why_they_were_cut_there(page: Tab) -> None:
    await page.click("#context")
    events = page.locator(".timeline .event")
    await expect(events).to_have_count(3)
    assert await events.locator(".what").all_text_contents() == [
        "In view now: turns 12–18",
        "turn 11",
        "turns 1–10",
    ]
    assert await events.locator(".change").all_text_contents() == [
        "12,400 → 6,100",
        "21,800 → 900",
    ]
    assert await events.locator("b").all_text_contents() == ["−51 %", "−96 %"]
    points = "155 points: base +100, after an answer +30, change of topic +25"
    why = f"Cut before turn 11, the best of 5 possible places ({points})."
    oldest = page.locator("details[data-id=f1]")
    assert why in (await oldest.locator("summary").get_attribute("title") or "")
    await expect(oldest.locator(".fold-more")).to_be_hidden()
    await oldest.locator("summary").click()
    await expect(oldest.locator(".fold-more")).to_contain_text(
        f"The limit on tokens was reached. {why}"
    )
    await expect(oldest.locator(".fold-more")).to_contain_text("summary by the model")
    other = page.locator("details[data-id=f2]")
    await other.locator("summary").click()
    await expect(other.locator(".fold-more")).to_contain_text("Requested with /context fold.")
    await expect(other.locator("a")).to_have_count(0)


async def test_a_folds_file_is_opened_and_leads_back_to_the_context(
    chromium: Browser, site: Running
) -> None:
    async with opened(chromium, site, "/#c1") as page:
        await begun(page)
        await page.click("#context")
        await page.click("details[data-id=f1] summary")
        await page.click("details[data-id=f1] a")
        await expect(page.locator(".editor")).to_have_value(
            "## 09:12 · web · turns 1–10\n- 09:01 Ann: hello\n"
        )
        await page.go_back()
        await expect(page.locator(".timeline .event")).to_have_count(3)


async def test_all_of_it_is_reached_by_the_keyboard(page: Tab) -> None:
    await page.focus("#context")
    await page.keyboard.press("Enter")
    await expect(page.locator("#drawer [aria-label=Close]")).to_be_focused()
    for _ in range(12):  # the acts, all of it, the texts of the request, the folds
        await page.keyboard.press("Tab")
        if await page.evaluate("document.activeElement.closest('details')?.dataset.id") == "f2":
            break
    await expect(page.locator("details[data-id=f2] summary")).to_be_focused()
    await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    await expect(page.locator("details[data-id=f1] .fold-more")).to_be_visible()
    await page.keyboard.press("Tab")
    await expect(page.locator("details[data-id=f1] a")).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(page.locator("#drawer")).to_be_hidden()
    await expect(page.locator("#context")).to_be_focused()


async def test_bar_and_drawer_follow_each_answer_and_each_fold(
    chromium: Browser, site: Running
) -> None:
    async with opened(chromium, site, "/#c1") as page:
        await begun(page)
        await page.click("#context")
        await page.click("details[data-id=f1] summary")
        parts = {**CONTEXT["parts"], "history": 13_468}
        facts(site, tokens=20_000, turns=8, parts=parts)
        await write(page, "and now")
        await expect(page.locator("#context-text")).to_contain_text("20,000 / 50,000")
        await expect(page.locator("#drawer .sum").first).to_contain_text("20,000 / 50,000 tokens")
        await expect(page.locator("details[data-id=f1] .fold-more")).to_be_visible()
        facts(site, folds=[*FOLDS, NEXT], live_turns=[16, 19], turns=4)
        fold(site, "folded")
        await expect(page.locator(".timeline .event")).to_have_count(4)
        await expect(page.locator(".timeline .what").nth(1)).to_have_text("turns 12–15")
        await expect(page.locator("details[data-id=f1] .fold-more")).to_be_visible()


async def test_a_fold_is_seen_as_it_goes_on_and_then_no_more(
    chromium: Browser, site: Running
) -> None:
    async with opened(chromium, site, "/#c1", clocked=True) as page:
        await begun(page)
        line, steps = page.locator("#folding .fold-said"), page.locator("#folding .done")
        said = {
            "planned": "Folding turns 12–15: summarising…",
            "summarised": "Folding turns 12–15: checking the summary…",
            "logged": "Folding turns 12–15: written to the diary…",
            "folded": "Folded turns 12–15: 9,000 → 700 tokens (−92 %)",
        }
        for number, state in enumerate(STEPS, 1):
            fold(site, state)
            await expect(line).to_have_text(said[state])
            await expect(steps).to_have_count(number)
        await page.clock.run_for(FOLD_SEEN_MS)
        await expect(page.locator("#folding")).to_be_hidden()
        fold(site, "planned")
        fold(site, "stale")
        await expect(line).to_have_text("Not folded: the context changed in the meantime.")


async def test_a_fold_under_way_is_shown_after_a_reload_and_not_in_another_conversation(
    chromium: Browser, site: Running
) -> None:
    async with opened(chromium, site, "/#c1", locale="zh-CN") as page:
        await begun(page)
        facts(site, folding={**NEXT, "state": "checked"})
        await page.reload()
        await expect(page.locator("#folding .fold-said")).to_have_text(
            "正在整理第 12–15 轮：核对摘要…"
        )
        await page.click("#new")
        await expect(page.locator("#folding")).to_be_hidden()
        await expect(page.locator("#context")).to_be_hidden()


async def test_nothing_folded_yet_is_said_and_more_than_the_limit_still_fits_the_bar(
    chromium: Browser, site: Running
) -> None:
    facts(
        site, folds=[], live_turns=[], tokens=60_000, parts={**CONTEXT["parts"], "history": 53_468}
    )
    async with opened(chromium, site, "/#c1") as page:
        await begun(page)
        await page.click("#context")
        await expect(page.locator("#drawer")).to_contain_text("Nothing is folded yet.")
        await expect(page.locator(".timeline .what")).to_have_text("In view now: no turns")
        bar = page.locator("#drawer .bar.tall")
        parts = [await width(bar.locator(f".{name}")) for name in CONTEXT["parts"]]
        assert sum(parts) == pytest.approx(await width(bar), abs=6)


@pytest.mark.parametrize(
    ("locale", "phone", "turns"),
    first_by_day(
        1,
        [
            ("zh-CN", True, "7/20 轮"),
            ("en-GB", False, "7/20 turns"),
            ("en-GB", True, "7/20 turns"),
            ("zh-CN", False, "7/20 轮"),
        ],
    ),
)
async def test_bar_and_drawer_fit_phone_and_desktop_in_both_languages(
    chromium: Browser, site: Running, locale: str, phone: bool, turns: str
) -> None:
    overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    async with opened(chromium, site, "/#c1", phone=phone, dark=phone, locale=locale) as page:
        await write(page, "hi")
        text = page.locator("#context-text")
        await expect(text).to_be_visible()
        await expect(text).to_contain_text(turns)
        await expect(text.locator(".narrow")).to_be_visible(visible=phone)
        fold(site, "summarised")
        await expect(page.locator("#folding")).to_be_visible()
        assert await page.evaluate(overflow) == 0
        await page.click("#context")
        await page.click("details[data-id=f1] summary")
        inside = (
            "(body => body.scrollWidth - body.clientWidth)(document.querySelector('#drawer .body'))"
        )
        assert await page.evaluate(inside) == 0
        assert await page.evaluate(overflow) == 0
