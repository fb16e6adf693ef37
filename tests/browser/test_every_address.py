"""Every address of the page, over a whole bot: it opens, keeps to its policy, can be used by
everyone, and nothing of it is cut off, squeezed or wider than the window.
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, Request

from tests.browser.faults import FAULTS, check
from tests.browser.opening import BROWSER, follow_link, opened, show
from tests.browser.real import QUIET, Real, real_bot
from tests.by_night import IS_NIGHT, first_by_day

pytestmark = BROWSER
# So that a chat of these turns has several folds.
SETTINGS = {**QUIET, "agent_max_context_turns": 6, "agent_max_context_tokens": 20_000}
TURNS = 40 if IS_NIGHT else 12
PHONE = 720  # px: what is less wide is a phone
# What shows that each of them is there.
ADDRESSES = {
    "/c/c1": ".line.assistant",
    "/c/c1/context": ".event.now",
    "/c/c1/context/last": "section .table",
    "/c/c1/context/newest/vs/before": "section[aria-label] .state",
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
    "/tools/mcp": "[data-kind=github]",
    "/tools/search": "[data-kind=searxng]",
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


@dataclass
class World:
    """A bot of which every address shows something.

    addresses: with what shows that each is there.
    """

    real: Real
    addresses: dict[str, str]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    home = tmp_path_factory.mktemp("home")
    answer = "I **like** green tea.\n\n```python\nprint(1)\n```"
    async with real_bot(home, lambda asked: answer, settings=SETTINGS) as real:
        await talk(real)
        log = home / "workspace/memory/2026-11-20.md"
        log.parent.mkdir(exist_ok=True)
        log.write_text(
            "## 09:12 · web c1 · turns 1–3 <!-- fold f1 -->\n\n- 09:01 User: likes tea\n"
        )
        await real.bot.memories("").add("fact", "Rides a red bicycle daily")
        with (home / "workspace/MEMORY.md").open("a") as file:
            file.write("\n## Facts\n\n- rides a red bicycle, daily\n")
        await real.bot.memory_service.dreamer.dream("", real.bot.now().date())
        fact = await real.bot.memories("").add("fact", "Drinks green tea in the morning")
        row = await real.bot.store.sessions.find("web", "console", "c1")
        assert row is not None
        [newest, *_] = await real.bot.store.views.page(row.id)
        named = {
            "newest-fact": fact.id,
            "newest/vs/before": f"{newest.number}/vs/{newest.number - 1}",
        }
        addresses = {}
        for path, sign in ADDRESSES.items():
            for name, value in named.items():
                path = path.replace(name, value)
            addresses[path] = sign
        yield World(real, addresses)


async def talk(real: Real) -> None:
    """A chat of many turns with some folds, a reminder, and a replay of the chat that has ended."""
    async with real.site.client() as client:
        texts = [
            *(f"question {number} about tea" for number in range(TURNS)),
            "/remind 20m drink tea",
        ]
        for number, text in enumerate(texts):
            body = {"conversation": "c1", "text": text, "key": str(number)}
            assert (await client.post("/api/messages", json=body)).status_code == 202
            await real.bot.settled()
        chosen = {"policies": ["balanced", "turns", "rolling"], "budget": 0}
        job = (await client.post("/api/v1/conversations/c1/replays", json=chosen)).json()
        async with asyncio.timeout(60):
            while job["state"] == "running":
                await asyncio.sleep(0.05)
                job = (await client.get(f"/api/v1/jobs/{job['id']}")).json()
        assert job["state"] == "done", job


class Fetches:
    """What a page has asked for and not got yet, but for its stream of events."""

    def __init__(self, page: Page) -> None:
        self._pending: set[Request] = set()
        self._none = asyncio.Event()
        self._none.set()
        page.on("request", self._begin)
        page.on("requestfinished", self._end)
        page.on("requestfailed", self._end)

    def _begin(self, request: Request) -> None:
        if request.resource_type != "eventsource":
            self._pending.add(request)
            self._none.clear()

    def _end(self, request: Request) -> None:
        self._pending.discard(request)
        if not self._pending:
            self._none.set()

    async def end(self) -> None:
        """Wait until everything is there."""
        async with asyncio.timeout(30):
            await self._none.wait()


async def look(page: Page, path: str, width: int) -> list[str]:
    """What is wrong with the page that is shown, with all of it unfolded."""
    wrong = await check(page, path)
    await page.evaluate(
        "document.querySelectorAll('#main details').forEach((one) => one.open = true)"
    )
    await show(page, f"layout-{width}-{path.strip('/').replace('/', '-').split('?')[0]}")
    return [*wrong, *(f"{path}: {one}" for one in await page.evaluate(FAULTS, width < PHONE))]


@pytest.mark.parametrize(
    ("width", "dark", "locale", "linked"),
    first_by_day(
        1,
        [
            (390, True, "zh-CN", True),
            (390, False, "en-GB", True),
            (320, False, "zh-CN", False),
            (320, True, "en-GB", True),
            (768, False, "zh-CN", True),
            (768, True, "en-GB", True),
            (1280, True, "zh-CN", True),
            (1280, False, "en-GB", False),
        ],
    ),
)
async def test_every_address_opens_fits_and_can_be_used_by_everyone(
    chromium: Browser, world: World, width: int, dark: bool, locale: str, linked: bool
) -> None:
    """linked: a link leads to each address; otherwise it is opened from nothing."""
    phone = width < PHONE
    wrong: list[str] = []
    async with opened(
        chromium, world.real.site, "/c/c1", locale=locale, dark=dark, phone=phone, fresh=True
    ) as page:
        fetches = Fetches(page)
        await page.set_viewport_size({"width": width, "height": 844})
        await page.emulate_media(reduced_motion="reduce")
        for path, sign in world.addresses.items():
            if linked:
                await follow_link(page, path)
            else:
                await page.goto(world.real.site.base + path)
            await page.wait_for_selector(sign)
            if path.endswith("/context"):
                await page.click(".show-view")
                turn = page.locator("[data-segment^='history ']").first
                await turn.locator("summary").click()
                await turn.locator("pre", has_text="about tea").first.wait_for()
            await fetches.end()
            wrong += await look(page, path, width)
    assert "\n".join(wrong) == ""
