"""Every address of the page, over a whole bot: it opens, keeps to its policy, fits, and can be used
by everyone.
"""

from pathlib import Path

import pytest
from playwright.async_api import Browser, Page

from tests.browser.opening import BROWSER, opened, write
from tests.browser.real import real_bot
from tests.by_night import by_night

pytestmark = BROWSER
AXE = Path(__file__).with_name("axe") / "axe.min.js"
RUN_AXE = """async () => {
  const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
  const found = await axe.run(document, { runOnly: { type: "tag", values: tags } });
  return found.violations.flatMap((rule) => rule.nodes.map((node) => `${rule.id}: \
${node.html.slice(0, 200)}`));
}"""
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
# What shows that each of them is there.
ADDRESSES = {
    "/c/c1": ".line.assistant",
    "/c/c1/context": "#drawer .facts",
    "/c/c1/context/last": ".which",
    "/memory": ".fact",
    "/memory/facts/newest-fact": ".card .facts",
    "/memory/facts/newest-fact/forget": "fieldset",
    "/memory/files": ".file",
    "/memory/days?month=2026-11": ".calendar a",
    "/memory/days/2026-11-20": ".entry",
    "/memory/nights": ".night",
    "/memory/search?q=tea": ".result",
    "/memory/files/MEMORY.md": ".editor",
    "/people": ".person",
    "/people/telegram:5006": ".limits",
    "/channels": ".channel",
    "/channels/telegram/setup": ".findings",
    "/tasks": "li .acts",
    "/tasks/reminder": "[name=sentence]",
    "/tools/skill": "[name=file]",
    "/tools/mcp": ".kinds",
    "/tools/search": ".kinds",
    "/tools": ".tools summary",
    "/skills": ".rows",
    "/mcp": ".chips",
    "/usage": "[role=tabpanel]",
    "/health": ".verdict",
    "/health/logs": ".filters",
    "/health/traces": ".traces a",
    "/c/c1/trace/newest": ".step.model",
    "/backup": "form.card",
    "/settings": ".setting",
    "/settings/channels.telegram": "#setting-channels\\.telegram\\.token",
    "/settings/model": "#in-use",
    "/settings/logins": "#logins li",
    "/settings/app": "#app-worker",
    "/settings/source": "textarea",
    "/settings/versions": "ol li",
    "/settings/passkeys": "main .chips ~ p.dim",
    "/more": "main nav a",
    "/welcome": ".kinds",
}


async def check(page: Page, path: str) -> list[str]:
    """What is wrong with the page that is shown."""
    wrong: list[str] = await page.evaluate(RUN_AXE)
    wide = await page.evaluate(OVERFLOW)
    return [f"{path}: {one}" for one in [*wrong, *([f"{wide} px too wide"] if wide else [])]]


@pytest.mark.parametrize("half", [0, 1])
@pytest.mark.parametrize(
    ("width", "dark", "locale"),
    [
        (390, True, "zh-CN"),
        pytest.param(1280, False, "en-GB", marks=by_night),
        pytest.param(1280, True, "zh-CN", marks=by_night),
        pytest.param(390, False, "en-GB", marks=by_night),
        pytest.param(320, False, "zh-CN", marks=by_night),
        pytest.param(320, True, "en-GB", marks=by_night),
    ],
)
async def test_every_address_opens_and_can_be_used_by_everyone(
    chromium: Browser, tmp_path: Path, width: int, dark: bool, locale: str, half: int
) -> None:
    wrong: list[str] = []
    async with (
        real_bot(
            tmp_path, lambda asked: "I **like** green tea.\n\n```python\nprint(1)\n```"
        ) as real,
        opened(chromium, real.site, "/c/c1", locale=locale, dark=dark, phone=width < 720) as page,
    ):
        await page.set_viewport_size({"width": width, "height": 844})
        await page.emulate_media(reduced_motion="reduce")
        await write(page, "/remind 20m drink tea")
        await page.wait_for_selector(".line.notice")
        await write(page, "do you like tea?")
        await page.wait_for_selector(".line.assistant footer")
        log = tmp_path / "workspace/memory/2026-11-20.md"
        log.parent.mkdir(exist_ok=True)
        log.write_text(
            "## 09:12 · web c1 · turns 1–3 <!-- fold f1 -->\n\n- 09:01 User: likes tea\n"
        )
        await real.bot.memories("").add("fact", "Rides a red bicycle daily")
        with (tmp_path / "workspace/MEMORY.md").open("a") as file:
            file.write("\n## Facts\n\n- rides a red bicycle, daily\n")
        await real.bot.memory_service.dreamer.dream("", real.bot.now().date())
        fact = await real.bot.memories("").add("fact", "Drinks green tea in the morning")
        for path, sign in list(ADDRESSES.items())[half::2]:
            await page.goto(real.site.base + path.replace("newest-fact", fact.id))
            await page.wait_for_selector(sign)
            if path.endswith("/context"):
                await page.click(".show-view")
                await page.click("[data-segment='history 1'] summary")
                await page.wait_for_selector(
                    "[data-segment='history 1'] pre:has-text('do you like tea?')"
                )
            await page.evaluate(AXE.read_text("utf-8"))
            wrong += await check(page, path)
    assert wrong == []
