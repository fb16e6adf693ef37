"""A client that goes through a wizard, and one that a browser's login has."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx

from tests.channels.web.server import TOKEN, Running


class Walk:
    """The calls of one wizard."""

    def __init__(self, client: httpx.AsyncClient, name: str, lang: str = "en") -> None:
        self.client = client
        self.path = f"/api/v1/wizards/{name}"
        self.headers = {"accept-language": lang}

    async def form(self) -> dict[str, Any]:
        found: dict[str, Any] = (await self.client.get(self.path, headers=self.headers)).json()
        return found

    async def send(self, step: str, kind: str, **values: str) -> httpx.Response:
        body = {"kind": kind, "values": values}
        return await self.client.post(f"{self.path}/{step}", json=body, headers=self.headers)

    async def done(self, step: str, kind: str, **values: str) -> dict[str, Any]:
        answer = await self.send(step, kind, **values)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    async def refused(self, step: str, kind: str, **values: str) -> dict[str, Any]:
        answer = await self.send(step, kind, **values)
        assert answer.status_code == 400, answer.text
        error: dict[str, Any] = answer.json()["error"]
        return error


@asynccontextmanager
async def browser(site: Running) -> AsyncIterator[httpx.AsyncClient]:
    """A browser that is signed in, as the page's calls come."""
    async with site.nobody() as client:
        client.headers["origin"] = site.base
        entered = await client.post("/login", json={"token": TOKEN})
        client.headers["x-csrf-token"] = entered.json()["csrf"]
        yield client


def texts(report: dict[str, Any]) -> dict[str, str]:
    return {item["step"]: item["text"] for item in report["items"]}
