"""Messages as they are stored: parts, and how many tokens they were counted to, once."""

import asyncio
from collections.abc import Callable, Sequence

from memory.context.counter import Counter
from memory.conversation import Part, Role
from memory.store.records import Draft


class Drafting:
    """Counts with a counter that is loaded, beside the loop, when it is first needed."""

    def __init__(self, load: Callable[[], Counter]) -> None:
        self._load = load
        self._counter: Counter | None = None
        self._loading = asyncio.Lock()

    async def counter(self) -> Counter:
        """The counter; people who write at the same moment wait for one load, which takes 100 MB while it lasts."""
        async with self._loading:
            if self._counter is None:
                self._counter = await asyncio.to_thread(self._load)
        return self._counter

    async def draft(self, role: Role, parts: Sequence[Part], origin: str, *, tainted: bool = False) -> Draft:
        """A message ready for the record. origin: person, model, tool or house; tainted: see Message."""
        counter, kept = await self.counter(), tuple(parts)
        tokens = counter.message(role, kept)
        return Draft(role=role, parts=kept, tokens=tokens, counter=counter.name, origin=origin, tainted=tainted)
