"""What a page of the web channel does: posts with a key, reads the transcript, follows the
events.
"""

import asyncio
import json
import uuid
from collections.abc import AsyncIterator
from typing import Any

import httpx

ANSWERS = ("assistant", "notice")
PAGE = 200


class Web:
    """A client of one bot, whatever port its present life has."""

    def __init__(self) -> None:
        self._client: httpx.AsyncClient | None = None
        self.url = ""
        self.up = asyncio.Event()

    async def open(self, url: str, token: str) -> None:
        """Point at a life that is ready."""
        await self.close()
        self.url = url
        headers = {"authorization": f"Bearer {token}"}
        self._client = httpx.AsyncClient(
            base_url=url, headers=headers, timeout=20, trust_env=False, verify=False
        )
        self.up.set()

    async def close(self) -> None:
        """The life is over."""
        self.up.clear()
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def ask(self, method: str, path: str, **options: Any) -> httpx.Response:
        """One call; ConnectError when nobody is there."""
        if self._client is None:
            raise httpx.ConnectError("the bot is not running")
        try:
            return await self._client.request(method, path, **options)
        except RuntimeError as err:  # the client was closed under us
            raise httpx.ConnectError(str(err)) from err

    async def send(self, conversation: str, text: str, key: str) -> httpx.Response:
        """POST one message and return whatever comes."""
        body = {"conversation": conversation, "text": text, "key": key}
        return await self.ask("POST", "/api/messages", json=body)

    async def post(self, conversation: str, text: str, key: str = "") -> str:
        """POST one message; returns its id."""
        answer = await self.send(conversation, text, key or uuid.uuid4().hex)
        answer.raise_for_status()
        id: str = answer.json()["id"]
        return id

    async def stop(self, conversation: str) -> None:
        """End the running turn."""
        (await self.ask("POST", f"/api/conversations/{conversation}/stop")).raise_for_status()

    async def get(self, path: str, **options: Any) -> Any:
        """The JSON of one GET."""
        answer = await self.ask("GET", path, **options)
        answer.raise_for_status()
        return answer.json()

    async def context(self, conversation: str) -> dict[str, Any]:
        """The numbers of `/context`."""
        found: dict[str, Any] = await self.get(f"/api/conversations/{conversation}/context")
        return found

    async def lines(self, conversation: str) -> list[dict[str, Any]]:
        """The whole transcript, oldest first."""
        whole: list[dict[str, Any]] = []
        while True:
            asked = {"limit": PAGE, **({"before": whole[0]["id"]} if whole else {})}
            page = (await self.get(f"/api/conversations/{conversation}/messages", params=asked))[
                "messages"
            ]
            whole = [*page, *whole]
            if len(page) < PAGE:
                return whole

    async def answers(self, conversation: str, id: str) -> list[dict[str, Any]]:
        """Every line that answers one message."""
        return [line for line in await self.lines(conversation) if line.get("reply_to") == id]

    async def answer(self, conversation: str, id: str, seconds: float = 90.0) -> dict[str, Any]:
        """Wait for the first line that answers one message."""
        async with asyncio.timeout(seconds):
            while True:
                if found := await self.answers(conversation, id):
                    return found[0]
                await asyncio.sleep(0.02)

    async def events(
        self, conversation: str, after: str = ""
    ) -> AsyncIterator[tuple[str, str, dict[str, Any]]]:
        """(id, name, data) of each event until the connection ends."""
        if self._client is None:
            return
        headers = {"last-event-id": after} if after else {}
        path = f"/api/conversations/{conversation}/events"
        async with self._client.stream("GET", path, headers=headers, timeout=None) as answer:
            answer.raise_for_status()
            fields: dict[str, str] = {}
            async for line in answer.aiter_lines():
                name, _, value = line.partition(": ")
                if line:
                    fields[name] = value
                elif "data" in fields:
                    yield fields.get("id", ""), fields.get("event", ""), json.loads(fields["data"])
                if not line:
                    fields = {}


class Page:
    """A page that stays open over every restart: it comes back with the last id it saw and drops
    what it knows.

    shown: (line, role, text) by event id, in the order in which a person saw them.
    """

    def __init__(self, web: Web, conversation: str) -> None:
        self.shown: dict[str, dict[str, Any]] = {}
        self._web = web
        self._conversation = conversation
        self._last = ""
        self._task = asyncio.create_task(self._follow())

    @property
    def replies(self) -> list[str]:
        """Ids of the messages that were visibly answered, in order."""
        shown = [line for line in self.shown.values() if line["name"] in ("reply", "notice")]
        # not of what was long away
        return [line["message_id"] for line in shown if line.get("message_id")]

    async def close(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _follow(self) -> None:
        while True:
            await self._web.up.wait()
            try:
                async for id, name, told in self._web.events(self._conversation, self._last):
                    self._last = id
                    if "." not in id:
                        self.shown.setdefault(id, {"name": name, **told})
            except (httpx.HTTPError, RuntimeError):
                pass
            await asyncio.sleep(0.02)
