"""One answer while it is written: what is shown of it, and what is noted so that a restart can go on with it."""

import asyncio
import json
import time
from dataclasses import dataclass, field

from channels.feishu.cards import LIMIT
from channels.message import Address, LiveEvent

PAGE = "live:"
"""What a draft's name in the notebook begins with."""
NOTED = ("source", "card", "message", "most", "typing", "closed", "done", "at")


@dataclass(slots=True, kw_only=True)
class Draft:
    """id: of the row that is answered. source: the platform's id of that message, "" unknown.

    card, message, typing: the platform's ids of what is shown, "" while there is none. next, most: the number of the
    next operation on the card, and up to which they are noted. closed: streaming has ended. done: key of the part
    that it became. at: unix seconds of its beginning. seen: what the card holds. over: nothing more is to be shown.
    """

    id: str
    address: Address
    source: str = ""
    card: str = ""
    message: str = ""
    next: int = 1
    most: int = 1
    typing: str = ""
    closed: bool = False
    done: str = ""
    at: float = field(default_factory=time.time)
    text: str = ""
    tool: str = ""
    seen: str = ""
    task: asyncio.Task[None] | None = None
    news: asyncio.Event = field(default_factory=asyncio.Event)
    over: asyncio.Event = field(default_factory=asyncio.Event)

    def take(self, event: LiveEvent) -> None:
        """Know what an event tells; words after a tool are another step's, and begin anew."""
        if event.name == "delta":
            anew = self.tool or event.facts.get("whole")
            self.text = event.text if anew else self.text + event.text
            self.tool = ""
        elif event.name == "tool_started":
            self.tool = str(event.facts.get("tool", "")) or "…"
        self.news.set()

    def visible(self) -> str:
        """What is to be seen now, within the limit of a message."""
        text = self.text
        if len(text) * 4 > LIMIT and len(text.encode()) > LIMIT:
            text = text.encode()[:LIMIT].decode("utf-8", "ignore") + "…"
        working = f"⏳ `{self.tool.replace('`', '')}`" if self.tool else ""
        return "\n\n".join(filter(None, (text.strip(), working)))

    def end(self) -> None:
        """Show nothing more."""
        self.over.set()
        self.news.set()

    async def rest(self, seconds: float) -> None:
        """So long, or until it is over."""
        try:
            async with asyncio.timeout(seconds):
                await self.over.wait()
        except TimeoutError:
            return

    def page(self) -> dict[str, str]:
        """What is to be noted."""
        return {PAGE + self.id: json.dumps({name: getattr(self, name) for name in NOTED})}

    def recall(self, page: str) -> None:
        """Go on from what was noted; a page that cannot be read is none."""
        try:
            noted = json.loads(page)
            for name in NOTED:
                kind = type(getattr(self, name))
                setattr(self, name, kind(noted[name]))
        except (ValueError, KeyError, TypeError):
            return
        self.next = self.most
