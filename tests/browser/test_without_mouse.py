"""The keyboard alone and a finger alone on a telephone do what a mouse does: facts, settings, and
past requests.
"""

import json
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from memory.conversation import Text
from tests.browser.hands import Finger, Hand, Keyboard
from tests.browser.opening import BROWSER, opened, write
from tests.browser.real import real_bot
from tests.browser.test_facts import FACT, QUOTE, teach
from tests.browser.test_inspector import TIGHT, answering, say
from tests.by_night import by_night

pytestmark = BROWSER
EVERY_MS = 2_000  # between two looks of the page at its server


@pytest.mark.parametrize("way", [Keyboard, pytest.param(Finger, marks=by_night)])
async def test_a_fact_is_explained_and_forgotten(
    chromium: Browser, tmp_path: Path, way: type[Hand]
) -> None:
    async with (
        real_bot(tmp_path, lambda asked: "noted") as real,
        opened(chromium, real.site, "/c/c1", phone=way.phone) as page,
    ):
        await teach(real, page)
        hand = way(page)
        await hand.visit("memory")
        await hand.press(page.locator(".fact"))
        await expect(page.locator("blockquote")).to_have_text(QUOTE)
        await hand.press(page.locator("figcaption a"))
        await expect(page.locator(".line.user.sought")).to_contain_text("Zephyrine")
        await hand.visit("memory")
        await hand.press(page.locator(".fact"))
        await hand.press(page.locator("main a.button", has_text="Forget"))
        box = page.locator("fieldset [type=checkbox]").first
        await hand.press(box)
        await expect(box).not_to_be_checked()
        await hand.press(box)
        await hand.write(page.locator(".confirm input"), "forget")
        await hand.press(page.locator("button.danger"))
        await expect(page.locator("#receipt")).to_be_visible()
        assert FACT not in (tmp_path / "workspace/MEMORY.md").read_text()
        await hand.press(page.locator("main p a[href='/memory/facts']"))
        await hand.press(page.locator("main .spans button").nth(1))
        await hand.press(page.locator(".fact"))
        await expect(page.locator("main")).to_contain_text("cannot be restored")


@pytest.mark.parametrize("way", [pytest.param(Keyboard, marks=by_night), Finger])
async def test_settings_are_saved_merged_and_put_back(
    chromium: Browser, tmp_path: Path, way: type[Hand]
) -> None:
    config = tmp_path / "config.json"
    async with (
        real_bot(tmp_path, lambda asked: "yes") as real,
        real.site.client() as other,
        opened(chromium, real.site, "/c/c1", phone=way.phone, clocked=True) as page,
    ):
        before = config.read_bytes()
        hand = way(page)
        steps, dialog = page.locator("#value-agent_max_steps"), page.get_by_role("dialog")
        await hand.visit("settings")
        await hand.write(page.locator("main [type=search]"), "agent_max_steps")
        await hand.write(steps, "100000")
        await expect(page.locator("#setting-agent_max_steps [role=alert]")).to_contain_text(
            "agent_max_steps is 100000"
        )
        await hand.write(steps, "7")
        await hand.press(page.locator(".save .primary"))
        await hand.press(dialog.get_by_role("button", name="Save"))
        await expect(dialog).to_have_count(0)
        assert json.loads(config.read_text())["agent_max_steps"] == 7
        await hand.write(steps, "9")
        assert (await other.patch("/api/config", json={"agent_max_steps": 8})).status_code == 200
        await page.clock.run_for(EVERY_MS)
        await hand.press(page.get_by_role("button", name="Keep mine"))
        await hand.press(page.locator(".save .primary"))
        await expect(dialog.locator("del")).to_have_text("8")
        await hand.press(dialog.get_by_role("button", name="Save"))
        await expect(dialog).to_have_count(0)
        assert json.loads(config.read_text())["agent_max_steps"] == 9
        await hand.press(page.locator(".chips >> text=Versions"))
        await expect(page.locator("ol li")).to_have_count(4)
        await hand.press(page.locator("ol li:last-child button"))
        await expect(page.locator("ol li")).to_have_count(5)
        assert config.read_bytes() == before


@by_night
@pytest.mark.parametrize("way", [Keyboard, Finger])
async def test_past_requests_are_read_and_compared(
    chromium: Browser, tmp_path: Path, way: type[Hand]
) -> None:
    (tmp_path / "workspace/notes").mkdir(parents=True)
    (tmp_path / "workspace/notes/n.md").write_text("The tide table. " * 60)
    async with (
        real_bot(tmp_path, answering, settings=TIGHT) as real,  # type: ignore[arg-type]
        opened(chromium, real.site, "/c/c1", phone=way.phone) as page,
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
        sent = [request for request in real.model.requests if request.purpose == "turn"]
        hand = way(page)
        await hand.press(page.locator("#context"))
        await expect(
            page.locator("#drawer .strip .cleared, #drawer .strip .forgotten")
        ).to_have_count(0)
        await hand.press(page.locator("#drawer .look-back"))
        await expect(page.locator(".which")).to_contain_text("Request 8 · turn 7")
        await hand.slide(page.locator("input[type=range]"), "Home")
        await expect(page.locator(".which")).to_contain_text("Request 1 · turn 1")
        turn = page.locator('[data-segment="running 1"]')
        await hand.press(turn.locator("summary"))
        shown = await turn.locator("pre").all_text_contents()
        assert shown == [
            part.text
            for message in sent[0].messages
            for part in message.parts
            if isinstance(part, Text)
        ]
        await hand.slide(page.locator("input[type=range]"), "End")
        await hand.press(page.locator("button.chip", has_text="Compare with the previous one"))
        await expect(page.get_by_role("region", name="Difference")).to_be_visible()
        await hand.press(page.get_by_role("button", name="Undo the fold of"))
        await expect(page.locator(".toast")).to_be_visible()


@by_night
async def test_what_a_finger_does_with_a_message_opens_below_it(
    chromium: Browser, tmp_path: Path
) -> None:
    async with (
        real_bot(tmp_path, lambda asked: "noted") as real,
        opened(chromium, real.site, "/c/c1", phone=True) as page,
    ):
        await write(page, "hello")
        line = page.locator(".line.assistant:not(.draft)")
        quote = line.get_by_role("button", name="Quote")
        await expect(quote).to_be_hidden()
        await Finger(page).press(line.get_by_role("button", name="More"))
        await Finger(page).press(quote)
        await expect(page.locator("#text")).to_have_value("> noted\n\n")
