"""Health in the page: how each model fares."""

from playwright.async_api import Browser, expect
from starlette.requests import Request
from starlette.responses import Response

from bot.errors import KeyRefused
from bot.models.health import NEVER, ModelStatus, model_status_to_json
from channels.web.requests import Route, json_response
from tests.browser.opening import BROWSER, opened
from tests.browser.scripted import Page as Said
from tests.channels.web.server import running

pytestmark = BROWSER


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


CALLS = (Route(method="GET", path="/api/status", action="console.read", handler=status),)


async def test_it_is_told_how_models_fare(chromium: Browser) -> None:
    async with running(Said(), CALLS) as site, opened(chromium, site) as page:
        await page.click("#go-health")
        refused = page.locator("section[aria-label='openai a']")
        await expect(refused).to_contain_text("<i>401</i>")
        await expect(refused).to_contain_text("until the settings of llm change")
        await expect(page.locator("section[aria-label='anthropic b']")).to_contain_text("answers")
        await expect(page.locator(".verdict")).to_have_text("Something needs your attention.")
