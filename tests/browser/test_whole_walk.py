"""A night's walk: one home, one process, one tab, through past requests, replay, a fact's end and
the settings.
"""

import json
import re
import time
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect

from scripts.page_sums import ROOT, STATIC, SUMS, page_sums
from tests.browser.opening import BROWSER
from tests.browser.test_facts import READ, files_with
from tests.browser.test_page_budgets import GO
from tests.browser.test_whole_console import PATIENCE, Walk, walking
from tests.by_night import by_night
from tests.emulators.model import ModelEmulator
from tests.emulators.model_replies import is_fold
from tests.walk.harness import COUSIN, FRIEND, OWNER, mnema
from tests.walk.record import query
from tests.walk.speech import asked

pytestmark = [*BROWSER, by_night, pytest.mark.kill]
TURNS, LEAST_FILES = 65, 9
MAX_SECONDS = 2.0  # from saving to being in force
NAME, NEW_KEY = "Zephyrine Quill", "sk-typed-in-the-page-and-nowhere-else"
SHOWN = (
    "nodes => nodes.map(node => [node.dataset.segment, [...node.querySelectorAll('pre')].map(one "
    "=> one.textContent)])"
)
Segments = list[tuple[str, list[str]]]


async def test_what_the_console_is_for_in_one_walk(chromium: Browser, tmp_path: Path) -> None:
    asked_for: set[str] = set()
    async with walking(chromium, tmp_path / "home") as walk:
        walk.page.on("request", lambda asked: asked_for.add(asked.url.removeprefix(walk.base)))
        await see_past_requests(walk)
        await replay_and_undo(walk)
        await forget_a_fact(walk)
        await edit_settings(walk)
        await put_settings_in_force(walk)
        served = {
            name: await walk.bot.web.ask("GET", name)
            for name in asked_for
            if name.startswith("/static/")
        }
    assert len(served) > LEAST_FILES
    assert SUMS.read_text("utf-8") == page_sums()
    folder = STATIC.parent.relative_to(ROOT).as_posix()
    sums = dict(reversed(line.split("  ")) for line in SUMS.read_text("utf-8").splitlines())
    built = {name: sums[folder + name] for name in served}
    assert built == {
        name: sha256(answered.content).hexdigest() for name, answered in served.items()
    }


# Past requests.


async def see_past_requests(walk: Walk) -> None:
    """After many turns with folds each request is shown as it was sent, and the first change is
    named.
    """
    for number in range(1, TURNS + 1):
        await walk.talk.say(
            "long", asked(f"t{number}", f"Note: crate {number} weighs {number * 37} kg.")
        )
    bodies, page = bodies_of(walk.talk.model), walk.page
    assert len(bodies) == TURNS

    await page.goto(f"{walk.base}/c/long/context/{TURNS}")
    strip = page.locator(".strip")
    words = str(await strip.get_attribute("aria-label"))
    spans = [
        (int(first), int(last or first))
        for first, last in re.findall(r"turns? (\d+)(?:–(\d+))?:", words)
    ]
    assert [first for first, _ in spans] == [1, *(last + 1 for _, last in spans[:-1])]
    assert spans[-1][1] == TURNS
    assert await strip.locator("i").count() == await strip.locator(".live, .folded").count()

    segments: dict[int, Segments] = {}
    for number, body in enumerate(bodies, 1):
        await page.evaluate(GO, f"/c/long/context/{number}")
        await expect(page.locator(".which")).to_contain_text(f"Request {number} · ")
        await expect(page.locator(".which")).to_contain_text("exactly as sent")
        await page.wait_for_selector("[data-segment] pre", state="attached")
        segments[number] = await segments_of(page)
        assert [text for _, texts in segments[number] for text in texts] == texts_of(body)

    folded = next(
        number for number in range(TURNS, 1, -1) if changed(segments[number - 1], segments[number])
    )
    await page.goto(f"{walk.base}/c/long/context/{folded}/vs/{folded - 1}")
    await expect(page.locator("p.broke")).to_contain_text("Turns were folded")
    [name] = changed(segments[folded - 1], segments[folded])
    await expect(page.locator("p.broke b")).to_contain_text(
        name.partition(" ")[0], ignore_case=True
    )


def bodies_of(model: ModelEmulator) -> list[dict[str, Any]]:
    """What was sent for answers, in order."""
    return [
        seen.body for seen in model.requests if seen.wire == "messages" and not is_fold(seen.body)
    ]


def texts_of(body: dict[str, Any]) -> list[str]:
    """Every text of a request in its order, without those of the tools."""
    blocks = [
        *body["system"],
        *(block for message in body["messages"] for block in message["content"]),
    ]
    return [block["text"] for block in blocks]


async def segments_of(page: Page) -> Segments:
    """Name and texts of each part that the page shows, without the tools."""
    found = await page.locator("[data-segment]").evaluate_all(SHOWN)
    return [(name, texts) for name, texts in found if not name.startswith("tools ")]


def changed(before: Segments, after: Segments) -> list[str]:
    """The first part in which the later request is not what the earlier one began with, if there is
    one.
    """
    for one, other in zip(before, after, strict=False):
        if one != other and not one[0].startswith("running"):
            return [other[0]]
    return []


async def replay_and_undo(walk: Walk) -> None:
    """The page's replay has the figures of the command; an undo on another channel is seen at
    once.
    """
    page, telegram = walk.page, walk.telegram
    await page.get_by_role("checkbox", name="boundary").check()
    await page.get_by_role("button", name="Replay", exact=True).click()
    rows = page.locator("section tbody tr")
    await expect(rows.first).to_be_visible(timeout=120_000)
    names = await rows.locator("th").all_inner_texts()
    code, out, err = await mnema(
        walk.bot.home, "replay", "long", "--json", "--policy", ",".join(names)
    )
    assert code == 0, err
    told = {
        policy["name"]: [one["tokens"] for one in policy["series"]]
        for policy in json.loads(out)["policies"]
    }
    for row in await rows.all():
        tokens = told[await row.locator("th").inner_text()]
        cells = await row.locator("td").all_inner_texts()
        assert cells[:2] == [f"{round(sum(tokens) / len(tokens)):,}", f"{max(tokens):,}"]

    async def tell(text: str) -> None:
        seen = len(telegram.sent(int(OWNER)))
        telegram.inject(text, user=int(OWNER))
        await telegram.until(lambda: len(telegram.sent(int(OWNER))) > seen)

    await tell(asked("o1"))
    await tell("/context clear")
    [(id,)] = query(walk.bot.db, "SELECT id FROM conversation WHERE channel = 'telegram'")
    await page.goto(f"{walk.base}/c/{id}/context/last")
    clear = page.get_by_role("button", name="Clear: hide the turns so far")
    await expect(clear).to_contain_text("from the model (0)")
    await tell("/context undo")
    await expect(clear).to_contain_text("from the model (1)", timeout=1_000)


# A fact.


async def forget_a_fact(walk: Walk) -> None:
    """It says why it is known; forgotten, it is nowhere, what is told is what went, and it cannot
    be put back.
    """
    page, home, talk = walk.page, walk.bot.home, walk.talk
    await talk.say("long", f"/remember My landlord is {NAME}")
    await talk.say("long", asked("t66"))
    last = len(bodies_of(talk.model))
    assert NAME in json.dumps(bodies_of(talk.model)[-1])
    await page.goto(f"{walk.base}/memory")
    await page.locator(".fact", has_text=NAME).click()
    await expect(page.locator("blockquote")).to_contain_text(f"My landlord is {NAME}")
    former = await page.context.new_page()
    former.set_default_timeout(PATIENCE)
    address = page.url
    await page.click("text=Correct")
    await page.fill("textarea", f"Rents from {NAME}")
    await page.click("main [type=submit]")
    await expect(page.locator("section .text")).to_have_text(f"Rents from {NAME}")
    await former.goto(address)
    back = former.get_by_role("button", name="Restore")
    await expect(back).to_be_visible()

    workspace = walk.bot.workspace
    lines = sum(
        NAME in line for path in files_with(workspace, NAME) for line in (workspace / path).open()
    )
    [(messages,)] = query(
        walk.bot.db, "SELECT count(*) FROM message WHERE parts LIKE ?", f"%{NAME}%"
    )
    await page.click("main .button")
    await page.fill(".confirm input", "forget")
    await page.keyboard.press("Enter")
    await expect(page.locator("#receipt dd").first).to_have_text(str(lines))
    await expect(page.locator("#receipt dd").nth(1)).to_have_text(str(messages))
    await expect(page.locator("#receipt dd").last).to_have_text("✓")
    assert files_with(home, NAME) == set()
    await back.click()
    await expect(former.locator("main")).to_contain_text("cannot be restored")
    await expect(back).to_have_count(0)
    await former.close()
    shown = {
        f"/c/long/context/{last}": "forgotten",
        "/memory/facts": "",
        "/memory/files/MEMORY.md": "#",
        "/c/long": "t66",
    }
    for path, words in (shown | {f"/memory/search?q={NAME}": "Nothing found"}).items():
        await page.goto(walk.base + path)
        await page.wait_for_function(f"words => ({READ})().includes(words)", arg=words)
        assert NAME not in await page.evaluate(READ), path


# The settings.


async def edit_settings(walk: Walk) -> None:
    """Each setting can be edited; a wrong value names its key before it is saved; a change on the
    disk is merged.
    """
    page, config = walk.page, walk.bot.config
    await page.goto(f"{walk.base}/settings")
    await page.wait_for_selector(".setting")
    keys = (await walk.bot.web.get("/api/v1/config/keys"))["items"]
    leaves = {key["key"]: key["file_only"] for key in keys if key["form"] != "section"}
    editable: dict[str, bool] = {}
    for group in {key["group"] for key in keys if key["form"] != "section"}:
        await page.evaluate(GO, f"/settings/{group}")
        await expect(page.locator(f".strip [href='/settings/{group}']")).to_have_attribute(
            "aria-current", "page"
        )
        editable |= await page.locator(".setting").evaluate_all(
            "all => Object.fromEntries(all.map(one => [one.id.slice(8), "
            "!!one.querySelector(':enabled:not(button)')]))"
        )
    assert editable == {key: not file_only for key, file_only in leaves.items()}

    await page.fill("main [type=search]", "agent_max_steps")
    steps, save = page.locator("#value-agent_max_steps"), page.locator(".save .primary")
    await steps.fill("100000")
    await expect(page.locator("#setting-agent_max_steps [role=alert]")).to_contain_text(
        "agent_max_steps is 100000"
    )
    await expect(save).to_be_disabled()
    await steps.fill("9")
    config.write_text(json.dumps(json.loads(config.read_text()) | {"agent_max_steps": 8}))
    await expect(page.locator(".conflict h2")).to_have_text(["agent_max_steps"], timeout=PATIENCE)
    await page.click(".conflict >> text=Keep mine")
    await save.click()
    await page.get_by_role("dialog").get_by_role("button", name="Save").click()
    await expect(page.locator(".save")).to_have_count(0)
    assert json.loads(config.read_text())["agent_max_steps"] == 9


async def put_settings_in_force(walk: Walk) -> None:
    """Model, key, and who may write: told by what the model is asked and what a person on Telegram
    reads.
    """
    page, model, config, dialog = (
        walk.page,
        walk.talk.model,
        walk.bot.config,
        walk.page.get_by_role("dialog"),
    )
    told = json.loads(config.read_text())
    told["llm"]["model"] = "named-by-hand"
    config.write_text(json.dumps(told, indent=3).replace(": ", " :  ") + "\n\n")
    await page.goto(f"{walk.base}/settings/llm")
    await expect(page.locator("[id='value-llm.model']")).to_have_value(
        "named-by-hand", timeout=PATIENCE
    )
    before = config.read_bytes()

    async def until_asked(name: str, since: float) -> None:
        """Write until this model is asked: each message that still asked another one came within
        two seconds.
        """
        while True:
            begun = time.monotonic()
            assert "«m»" in await walk.talk.say("c1", asked("m"))
            if model.requests[-1].body["model"] == name:
                return
            assert begun - since <= MAX_SECONDS

    async def friend_is_answered(token: str) -> bool:
        seen = len(walk.telegram.sent(int(FRIEND)))
        walk.telegram.inject(asked(token), user=int(FRIEND))
        await walk.telegram.until(lambda: len(walk.telegram.sent(int(FRIEND))) > seen)
        return f"«{token}»" in walk.telegram.sent(int(FRIEND))[seen].text

    await until_asked("named-by-hand", time.monotonic())
    assert await friend_is_answered("f1")
    await page.fill("[id='value-llm.model']", "named-in-the-page")
    await page.fill("[id='value-llm.api_key']", NEW_KEY)
    await page.fill("main [type=search]", "channels.telegram.allow")
    await page.fill("[id='value-channels.telegram.allow']", COUSIN)
    await page.click(".save .primary")
    assert NEW_KEY not in await dialog.inner_text()
    await dialog.get_by_role("button", name="Save").click()
    await expect(dialog).to_have_count(0)
    await until_asked("named-in-the-page", time.monotonic())
    model.keys = {NEW_KEY}
    assert "«m»" in await walk.talk.say("c1", asked("m"))
    assert not await friend_is_answered("f2")

    saved = json.loads(config.read_text())
    assert (saved["llm"]["api_key"], saved["channels"]["telegram"]["allow"]) == (NEW_KEY, [COUSIN])
    for path in ("llm", "source", "versions"):
        await page.goto(f"{walk.base}/settings/{path}")
        await page.wait_for_selector("[id='value-llm.api_key'], textarea, main ol li")
        assert NEW_KEY not in await page.content()
    assert {
        path for path in files_with(walk.bot.home, NEW_KEY) if not path.startswith("config.json")
    } == set()

    model.keys = None
    assert "named-in-the-page" in await page.locator("main ol li").first.inner_text()
    versions = await page.locator("main ol li").count()
    await page.click("main ol li:nth-child(2) button")
    await expect(page.locator("main ol li")).to_have_count(versions + 1)
    assert config.read_bytes() == before
    await until_asked("named-by-hand", time.monotonic())
    model.keys = {told["llm"]["api_key"]}
    assert "«m»" in await walk.talk.say("c1", asked("m"))
    assert await friend_is_answered("f3")
