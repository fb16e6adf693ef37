"""Nothing of the page is cut off, squeezed or wider than the window: at four widths, in both
languages, over chats with many folds and a replay that has ended.
"""

import asyncio
from pathlib import Path

import httpx
import pytest
from playwright.async_api import Browser, Page

from tests.browser.opening import BROWSER, opened, show
from tests.browser.real import QUIET, Real, real_bot
from tests.browser.test_every_address import ADDRESSES
from tests.by_night import by_night
from tests.channels.web.server import TOKEN

pytestmark = BROWSER
SETTINGS = {**QUIET, "agent_max_context_turns": 6, "agent_max_context_tokens": 20_000}
TURNS = 40
WIDTHS = (320, 390, 768, 1280)
LONGER = {
    "/c/c1": ".line.assistant",
    "/c/c1/context": ".event.now",
    "/c/c1/context/last": "section .table",
    "/c/c1/context/last-but-one": "section[aria-label] .state",
}
# What is too wide, which cells have more than three lines, and which controls are cut off sideways.
# What a strip of choices or a table on a phone holds can be scrolled to.
FAULTS = """phone => {
  const found = [];
  const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  if (wide) found.push(`the page is ${wide} px too wide`);
  const named = (node) => `${node.tagName.toLowerCase()}.${node.className} \
${(node.textContent || node.value || "").trim().replace(/\\s+/g, " ").slice(0, 40)}`;
  const shown = (node) => node.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  const lines = (node) => {
    const texts = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
    const range = document.createRange();
    const tops = [];
    while (texts.nextNode()) {
      if (texts.currentNode.parentElement.closest(".unseen")) continue;
      range.selectNode(texts.currentNode);
      const boxes = [...range.getClientRects()].filter((one) => one.width > 1);
      tops.push(...boxes.map((one) => one.bottom));
    }
    return tops.sort((a, b) => a - b).filter((one, at) => !at || one - tops[at - 1] > 5).length;
  };
  for (const node of document.querySelectorAll("td, th, dt, dd, .cell")) {
    if (!shown(node)) continue;
    const count = lines(node);
    if (count > 3) found.push(`${count} lines, ${Math.round(node.clientWidth)} px: ${named(node)}`);
  }
  for (const node of document.querySelectorAll("button, a, input, select, textarea, summary")) {
    if (!shown(node) || node.closest(".unseen, .skip")) continue;
    const box = node.getBoundingClientRect();
    if (box.width < 2 || box.height < 2) continue;
    for (let outer = node.parentElement; outer; outer = outer.parentElement) {
      const style = getComputedStyle(outer);
      if (style.overflowX === "visible") continue;
      const edge = outer.getBoundingClientRect();
      if (box.left < edge.left - 1 || box.right > edge.right + 1) {
        const scrolls = phone && outer.matches(".strip, .table, .scrolling");
        if (!scrolls) found.push(`cut off: ${named(node)}`);
      }
      break;
    }
  }
  return [...new Set(found)];
}"""


async def fill(real: Real) -> None:
    """Have a chat of many turns and folds, and a replay of it that has ended."""
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with httpx.AsyncClient(base_url=real.site.base, headers=headers, timeout=60) as client:
        for number in range(TURNS):
            body = {
                "conversation": "c1",
                "text": f"question {number} about tea",
                "key": str(number),
            }
            assert (await client.post("/api/messages", json=body)).status_code == 202
            await real.bot.settled()
        chosen = {"policies": ["balanced", "turns", "rolling"], "budget": 0}
        job = (await client.post("/api/v1/conversations/c1/replays", json=chosen)).json()
        async with asyncio.timeout(60):
            while job["state"] == "running":
                await asyncio.sleep(0.05)
                job = (await client.get(f"/api/v1/jobs/{job['id']}")).json()
        assert job["state"] == "done", job


async def faults(page: Page, real: Real, addresses: dict[str, str], width: int) -> list[str]:
    found = []
    for path, sign in addresses.items():
        await page.goto(real.site.base + path)
        await page.wait_for_selector(sign)
        await page.wait_for_load_state("networkidle")
        await page.evaluate(
            "document.querySelectorAll('#main details').forEach((one) => one.open = true)"
        )
        await show(page, f"layout-{width}-{path.strip('/').replace('/', '-').split('?')[0]}")
        found += [f"{path}: {one}" for one in await page.evaluate(FAULTS, width < 720)]
    return found


@pytest.mark.parametrize("locale", ["en-GB", pytest.param("zh-CN", marks=by_night)])
@pytest.mark.parametrize(
    "width", [390, *(pytest.param(one, marks=by_night) for one in (320, 768, 1280))]
)
async def test_nothing_is_cut_off_or_squeezed(
    chromium: Browser, tmp_path: Path, width: int, locale: str
) -> None:
    async with (
        real_bot(tmp_path, lambda asked: "Green **tea**, as ever.", settings=SETTINGS) as real,
        opened(chromium, real.site, "/memory", locale=locale, ready="#main", fresh=True) as page,
    ):
        await fill(real)
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
        [newest, *_] = await real.bot.store.views.page(await conversation(real))
        views = newest.number
        await page.set_viewport_size({"width": width, "height": 860})
        named = {"newest-fact": fact.id, "context/last-but-one": f"context/{views}/vs/{views - 1}"}
        addresses = {}
        for path, sign in ({**ADDRESSES, **LONGER}).items():
            for name, value in named.items():
                path = path.replace(name, value)
            addresses[path] = sign
        addresses.pop("/tasks")
        assert "\n".join(await faults(page, real, addresses, width)) == ""


async def conversation(real: Real) -> str:
    row = await real.bot.store.sessions.find("web", "console", "c1")
    assert row is not None
    return row.id
