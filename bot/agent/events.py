"""What a turn tells those who watch it, as it happens."""

from collections.abc import Callable
from dataclasses import dataclass

from channels.message import Address, EventName, LiveEvent

Show = Callable[[LiveEvent], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """Sends events about one inbound message to one place."""

    show: Show
    address: Address
    message_id: str

    def tell(self, name: EventName, text: str = "", **facts: str | int | float | bool) -> None:
        """Best effort; never raises for a slow or absent watcher."""
        self.show(LiveEvent(address=self.address, name=name, message_id=self.message_id, text=text, facts=facts))
