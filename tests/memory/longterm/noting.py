"""A store, files and a scripted model for the tests of extraction, in one object that can be
restarted.
"""

import inspect
import json
from collections.abc import Awaitable, Callable
from pathlib import Path

from memory.conversation import Part, Text
from memory.longterm.extraction import ExtractionRules
from memory.longterm.extraction_worker import ExtractionSettings, ExtractionWorker
from memory.longterm.memories import Memories
from memory.store.open import open_store
from memory.store.rows import NewInboxRow, NewOutboxRow, Place, TurnRow
from memory.store.store import Store
from memory.workspace.files import Workspace
from tests.memory.talking import PLACE, draft

TEA = "I prefer tea over coffee, always have."
COFFEE = "Actually I prefer coffee over tea these days."


def fact(
    content: str, source: str, *, importance: int = 6, replaces: tuple[int, ...] = ()
) -> dict[str, object]:
    return {
        "category": "user_preference",
        "content": content,
        "importance": importance,
        "source": source,
        "replaces": list(replaces),
    }


PREFERS_TEA = fact("The user prefers tea over coffee", "I prefer tea over coffee")


def place(chat: str = "c1", space: str = "") -> Place:
    return Place(
        channel="terminal", account="local", chat_id=chat, thread_id="", kind="dm", space=space
    )


class Desk:
    """A store, a workspace, and a model that answers with `tell`. asked: its prompts, (system,
    prompt).
    """

    def __init__(self, root: Path, store: Store) -> None:
        self.root = root
        self.tell: Callable[[str], str | Awaitable[str]] = lambda prompt: "[]"
        self.rules = ExtractionRules()
        self.extract = True
        self.asked: list[tuple[str, str]] = []
        self._said = 0
        self.open(store)

    def open(self, store: Store) -> None:
        """Open everything that a process has; called again for a restart."""
        self.store = store
        self._memories: dict[str, Memories] = {}
        self.work = ExtractionWorker(
            extractions=store.extractions,
            sessions=store.sessions,
            memories=self.memories,
            complete=self._complete,
            settings=lambda: ExtractionSettings(extract=self.extract, rules=self.rules),
        )

    def memories(self, space: str) -> Memories:
        memories = Memories(
            space,
            records=self.store.memories,
            workspace=Workspace(self.root / "ws"),
            similarity=lambda: 0.85,
        )
        return self._memories.setdefault(space, memories)

    async def restart(self) -> None:
        await self.store.close()
        self.open(await open_store(self.root / "mnema.db"))

    async def turn(
        self, *parts: Part, answer: str = "Noted.", at: Place = PLACE, tainted: bool = False
    ) -> TurnRow:
        self._said += 1
        key = f"k{self._said}"
        [stored] = await self.store.delivery.accept(
            [NewInboxRow(place=at, key=key, kind="message", sender_id="u1", body='{"text": ""}')]
        )
        turn = await self.store.delivery.claim(stored.id, draft("user", *parts), "u1")
        final = draft("assistant", Text(text=answer), origin="model", tainted=tainted)
        out = [NewOutboxRow(kind="final", text=answer, part_no=0, parts=1)]
        assert await self.store.delivery.finish(turn, "done", final, out, remember=True)
        return turn

    async def say(self, text: str, *, at: Place = PLACE) -> TurnRow:
        return await self.turn(Text(text=text), at=at)

    async def run(self, space: str = "") -> None:
        while await self.work.step(space):
            pass

    async def lines(self, space: str = "") -> list[str]:
        return [row.text for row in await self.memories(space).list(limit=0)]

    async def _complete(self, system: str, prompt: str, max_tokens: int, conversation: str) -> str:
        self.asked.append((system, prompt))
        told = self.tell(prompt)
        return await told if inspect.isawaitable(told) else told


def noted(*facts: dict[str, object]) -> Callable[[str], str]:
    return lambda prompt: json.dumps(facts, ensure_ascii=False)
