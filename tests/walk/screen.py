"""What a page has on its screen while an answer grows."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import httpx

from tests.walk.harness import Scene


class Screen:
    """What a page has on the screen of one conversation: its stored lines, and the text of an
    answer that grows.
    """

    def __init__(self, talk: Scene, conversation: str) -> None:
        self.lines: list[tuple[str, dict[str, Any]]] = []
        self.growing = ""
        self._task = asyncio.create_task(self._follow(talk, conversation))

    async def _follow(self, talk: Scene, conversation: str) -> None:
        with suppress(httpx.HTTPError):  # the bot may be killed
            async for id, name, told in talk.web.events(conversation):
                if name == "delta":
                    self.growing = (
                        told["text"] if told.get("whole") else self.growing + told["text"]
                    )
                elif "." not in id:
                    self.lines.append((name, told))

    async def close(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)


@asynccontextmanager
async def watching(talk: Scene, conversation: str = "talk") -> AsyncIterator[Screen]:
    """The screen of one conversation, as long as the block lasts."""
    screen = Screen(talk, conversation)
    yield screen
    await screen.close()
