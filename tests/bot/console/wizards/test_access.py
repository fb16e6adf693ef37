"""What a wizard does needs the sign-in, the CSRF token and the action of its neighbours."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from bot.access.permissions import CONSOLE_SCOPE, Actor, authorize
from channels.web.requests import Route
from tests.bot.console.wizards.walking import browser
from tests.browser.real import Real, real_bot

#: The route beside each wizard that changes the same.
NEIGHBOURS = {
    "reminder": ("POST", "/api/v1/tasks/{id}"),
    "task": ("POST", "/api/v1/tasks/{id}"),
    "skill": ("POST", "/api/v1/skills/{name}"),
    "mcp": ("PATCH", "/api/v1/config"),
    "search": ("PATCH", "/api/v1/config"),
    "model": ("POST", "/api/v1/models/use"),
    "fallback-model": ("POST", "/api/v1/models/use"),
}


@pytest.fixture
async def real(tmp_path: Path) -> AsyncIterator[Real]:
    async with real_bot(tmp_path, lambda asked: "yes") as up:
        yield up


async def wizard_calls(real: Real) -> dict[str, list[Route]]:
    await real.site.site.load_calls()
    found: dict[str, list[Route]] = {}
    for route in real.site.site.calls:
        if route.path.startswith("/api/v1/wizards/"):
            found.setdefault(route.path.split("/")[4], []).append(route)
    return found


async def test_each_needs_what_its_neighbour_needs(real: Real) -> None:
    by_wizard = await wizard_calls(real)
    actions = {(route.method, route.path): route.action for route in real.site.site.calls}
    assert set(by_wizard) == set(NEIGHBOURS)
    for name, routes in by_wizard.items():
        assert {route.action for route in routes} == {actions[NEIGHBOURS[name]]}
        admin = Actor(channel="web", id="a", role="admin")
        assert not authorize(admin, routes[0].action, "", CONSOLE_SCOPE).allowed


async def test_nobody_and_no_other_site_goes_through_one(real: Real) -> None:
    by_wizard = await wizard_calls(real)
    body = {"kind": "words", "values": {}}
    async with real.site.nobody() as nobody, browser(real.site) as client:
        for route in [route for routes in by_wizard.values() for route in routes]:
            assert (await nobody.request(route.method, route.path)).status_code == 401
            if route.method == "POST":
                refused = await client.post(route.path, json=body, headers={"x-csrf-token": "no"})
                assert code(refused) == (403, "csrf")
                foreign = {"origin": "https://evil.example"}
                refused = await client.post(route.path, json=body, headers=foreign)
                assert code(refused) == (403, "origin")


def code(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]
