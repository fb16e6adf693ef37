"""Usage and health in the page: what was used, what it cost, and how each model fares."""

from typing import Any

from playwright.async_api import Browser, expect
from starlette.requests import Request
from starlette.responses import Response

from bot.access.budgets import people_usage_to_json
from bot.access.budgets import usage_to_json as used_as_json
from bot.errors import KeyRefused
from bot.models.health import NEVER, ModelStatus, model_status_to_json
from channels.web.requests import Route, json_response
from memory.store.people.spending import OWNER, ModelUsage
from tests.browser.opening import BROWSER, opened
from tests.browser.scripted import Page as Said
from tests.channels.web.server import running

pytestmark = BROWSER


def used(who: str, model: str, purpose: str, calls: int, tokens: int) -> ModelUsage:
    counted = {"input": tokens, "output": 0, "cache_read": 0, "cache_write": 0}
    return ModelUsage(model=model, purpose=purpose, who=who, calls=calls, **counted)


USED = [used("telegram:1:2", "claude-sonnet-5-5", "turn", 2, 1_000_000), used(OWNER, "<b>mine</b>", "fold", 1, 7)]
STATES = (
    ModelStatus(
        name="openai a", use="chosen", phase="refused", retry_in=NEVER, why="<i>401</i>", error=KeyRefused("no")
    ),
    ModelStatus(name="anthropic b", use="spare", phase="up", seconds=5),
)


async def status(_: Request) -> Response:
    told = {"started": "2026-11-20T12:00:00+00:00", "provider": "openai", "trouble": "<i>no key</i>", "database": "ok"}
    counted = {"waiting": 0, "unsent": 0, "channels": {}, "troubles": {}}
    return json_response({**told, **counted, "models": [model_status_to_json(state) for state in STATES]})


async def usage(_: Request) -> Response:
    told: dict[str, Any] = {"unit": "USD"}
    for name in ("today", "month", "30_days"):
        told |= {name: used_as_json(USED), f"{name}_people": people_usage_to_json(USED)}
    return json_response(told)


CALLS = (
    Route(method="GET", path="/api/status", action="console.read", handler=status),
    Route(method="GET", path="/api/usage", action="console.read", handler=usage),
)


async def test_it_is_told_what_was_used_and_what_it_cost(chromium: Browser) -> None:
    async with running(Said(), CALLS) as site, opened(chromium, site) as page:
        await page.click("#go-usage")
        rows = page.locator("tbody tr")
        await expect(rows).to_have_count(4)
        assert await rows.filter(has_text="claude-sonnet-5-5").locator("td").all_inner_texts() == [
            "claude-sonnet-5-5", "answers", "2", "1,000,000 → 0", "US$ 2.00",
        ]  # fmt: skip
        await expect(rows.first).to_contain_text("<b>mine</b>")
        await expect(rows.first).to_contain_text("price not known")
        await expect(page.locator("tbody").nth(1)).to_contain_text("telegram:1:2")
        await expect(page.locator(".totals")).to_contain_text("US$ 2.00 +")


async def test_it_is_told_how_models_fare(chromium: Browser) -> None:
    async with running(Said(), CALLS) as site, opened(chromium, site) as page:
        await page.click("#go-health")
        refused = page.locator("section[aria-label='openai a']")
        await expect(refused).to_contain_text("<i>401</i>")
        await expect(refused).to_contain_text("until the settings of llm change")
        await expect(page.locator("section[aria-label='anthropic b']")).to_contain_text("answers")
        await expect(page.locator(".verdict")).to_have_text("Something needs your attention.")
