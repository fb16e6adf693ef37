"""A night's walk over a process: 65 turns with folds, each past request as the model got it, replayed and compared."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect

from tests.browser.opening import BROWSER
from tests.browser.test_whole_console import walking
from tests.by_night import by_night
from tests.emulators.model import ModelEmulator
from tests.emulators.model_replies import is_fold
from tests.walk.harness import mnema
from tests.walk.speech import asked

pytestmark = [*BROWSER, by_night, pytest.mark.kill]
TURNS = 65
SHOWN = (
    "nodes => nodes.map(node => [node.dataset.segment, [...node.querySelectorAll('pre')].map(one => one.textContent)])"
)


def bodies_of(model: ModelEmulator) -> list[dict[str, Any]]:
    """What was sent for answers, in order."""
    return [seen.body for seen in model.requests if seen.wire == "messages" and not is_fold(seen.body)]


def texts_of(body: dict[str, Any]) -> list[str]:
    """Every text of a request in its order, without those of the tools."""
    blocks = [*body["system"], *(block for message in body["messages"] for block in message["content"])]
    return [block["text"] for block in blocks]


async def segments_of(page: Page) -> list[tuple[str, list[str]]]:
    """Name and texts of each part that the page shows, without the tools."""
    found = await page.locator("[data-segment]").evaluate_all(SHOWN)
    return [(name, texts) for name, texts in found if not name.startswith("tools ")]


async def test_sixty_five_turns_stay_as_they_were_sent_and_are_compared_and_replayed(
    chromium: Browser, tmp_path: Path
) -> None:
    async with walking(chromium, tmp_path / "home") as walk:
        for number in range(1, TURNS + 1):
            await walk.talk.say("long", asked(f"t{number}", f"Note: crate {number} weighs {number * 37} kg."))
        bodies, page = bodies_of(walk.talk.model), walk.page
        assert len(bodies) == TURNS

        await page.goto(f"{walk.base}/c/long/context/{TURNS}")
        strip = page.locator(".strip")
        words = str(await strip.get_attribute("aria-label"))
        spans = [(int(first), int(last or first)) for first, last in re.findall(r"turns? (\d+)(?:–(\d+))?:", words)]
        assert [first for first, _ in spans] == [1, *(last + 1 for _, last in spans[:-1])]
        assert spans[-1][1] == TURNS
        assert await strip.locator("i").count() == await strip.locator(".live, .folded").count()

        segments: dict[int, list[tuple[str, list[str]]]] = {}
        for number, body in enumerate(bodies, 1):
            await page.goto(f"{walk.base}/c/long/context/{number}")
            await expect(page.locator(".which")).to_contain_text(f"Request {number} · ")
            await expect(page.locator(".which")).to_contain_text("exactly as sent")
            segments[number] = await segments_of(page)
            assert [text for _, texts in segments[number] for text in texts] == texts_of(body)

        folded = next(number for number in range(TURNS, 1, -1) if changed(segments[number - 1], segments[number]))
        await page.goto(f"{walk.base}/c/long/context/{folded}/vs/{folded - 1}")
        await expect(page.locator("p.broke")).to_contain_text("Turns were folded")
        [name] = changed(segments[folded - 1], segments[folded])
        await expect(page.locator("p.broke b")).to_contain_text(name.partition(" ")[0], ignore_case=True)

        await page.get_by_role("checkbox", name="boundary").check()
        await page.get_by_role("button", name="Replay", exact=True).click()
        rows = page.locator("section tbody tr")
        await expect(rows.first).to_be_visible(timeout=120_000)
        code, out, err = await mnema(walk.bot.home, "replay", "long", "--json")
        assert code == 0, err
        told = {policy["name"]: [one["tokens"] for one in policy["series"]] for policy in json.loads(out)["policies"]}
        for row in await rows.all():
            tokens = told[await row.locator("th").inner_text()]
            cells = await row.locator("td").all_inner_texts()
            assert cells[:2] == [f"{round(sum(tokens) / len(tokens)):,}", f"{max(tokens):,}"]


def changed(before: list[tuple[str, list[str]]], after: list[tuple[str, list[str]]]) -> list[str]:
    """The first part in which the later request is not what the earlier one began with, if there is one."""
    for one, other in zip(before, after, strict=False):
        if one != other and not one[0].startswith("running"):
            return [other[0]]
    return []
