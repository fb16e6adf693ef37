"""A space's memories over a real store and real files."""

from dataclasses import dataclass
from pathlib import Path

from memory.longterm.memories import Memories, MemoryCandidate
from memory.longterm.memory_file import MEMORY_PATH
from memory.store.longterm.rows import MemoryRow, MemorySource, Origin
from memory.store.open import open_store
from memory.store.store import Store
from memory.workspace.files import Workspace

TEMPLATE = Path("memory/templates/MEMORY.md").read_text("utf-8")


@dataclass
class Place:
    """A home: its store and workspace. Each call of `memories` acts like a restart."""

    store: Store
    workspace: Workspace

    def memories(self, space: str = "") -> Memories:
        return Memories(
            space, records=self.store.memories, workspace=self.workspace, similarity=lambda: 0.85
        )

    def path(self, space: str = "") -> Path:
        return self.workspace.space(space).root / MEMORY_PATH

    def text(self, space: str = "") -> str:
        return self.path(space).read_bytes().decode()

    def write(self, text: str | bytes, space: str = "") -> None:
        """Write a file as a person's editor does."""
        self.path(space).write_bytes(text if isinstance(text, bytes) else text.encode())

    async def known(self, state: str = "live", space: str = "") -> list[str]:
        return sorted(row.text for row in await self.store.memories.rows(space, state=state))


async def settled(folder: Path) -> Place:
    """Create a home with the template's MEMORY.md."""
    place = Place(
        store=await open_store(folder / "data" / "mnema.db"),
        workspace=Workspace(folder / "workspace"),
    )
    place.write(TEMPLATE)
    return place


def wanted(
    text: str,
    *,
    category: str = "fact",
    origin: Origin = "extraction",
    message: str = "m1",
    importance: int = 5,
) -> MemoryCandidate:
    source = MemorySource(message_id=message, quote=text)
    return MemoryCandidate(
        category=category, text=text, origin=origin, source=source, importance=importance
    )


def facts(rows: list[MemoryRow]) -> list[str]:
    return [row.text for row in rows]
