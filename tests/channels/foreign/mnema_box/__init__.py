"""A channel over two folders, in a distribution of its own: a file in `in` is a message, its reply
appears in `out`.
"""

import asyncio
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from pydantic import Field

from channels.base import Deliver
from channels.message import Address, Capabilities, InboundMessage, OutboundMessage, Receipt, Sender
from channels.phrases import Phrase
from channels.toolkit.delivery import store_with_retry
from channels.toolkit.settings import CredentialChannelSettings

POLL_SECONDS = 0.05


class BoxSettings(CredentialChannelSettings):
    """Two folders on this machine."""

    needed = ("path",)
    title = Phrase("Folder")
    path: str = Field(
        "",
        title="Path",
        description="The folder that holds `in` and `out`.",
        examples=["/srv/box"],
    )


class Box:
    """Receive from `in`, send to `out`."""

    name = "box"
    account = "local"
    capabilities = Capabilities(keyed=True, key_valid=1e9)  # a repeated send replaces its file
    settings_type = BoxSettings

    def __init__(self, settings: BoxSettings) -> None:
        self._inbox, self._outbox = Path(settings.path) / "in", Path(settings.path) / "out"
        for folder in (self._inbox, self._outbox):
            folder.mkdir(parents=True, exist_ok=True)

    async def run(self, deliver: Deliver) -> None:
        """Deliver each file, and delete it once it is stored."""
        while True:
            for path in sorted(self._inbox.glob("*.txt")):
                await store_with_retry(partial(deliver, [self._parse(path)]), self.name)
                path.unlink()
            await asyncio.sleep(POLL_SECONDS)

    async def send(self, message: OutboundMessage) -> Receipt:
        """Write a part into a file of its own."""
        (self._outbox / f"{message.client_key}.md").write_text(message.text, "utf-8")
        return Receipt(platform_id=message.client_key)

    async def probe(self) -> str:
        """Tell which folder it is."""
        return str(self._outbox.parent)

    def _parse(self, path: Path) -> InboundMessage:
        written = path.stat().st_mtime_ns
        return InboundMessage(
            address=Address(channel=self.name, account=self.account, chat_id="box"),
            kind="dm",
            key=f"{path.name}:{written}",
            sender=Sender(id="me"),
            text=path.read_text("utf-8"),
            sent_at=datetime.fromtimestamp(written / 1e9, UTC),
        )
