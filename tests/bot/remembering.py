"""A space's long-term memory on real files and a real store, without a bot around it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from bot.config.home import HomeFolder
from bot.memory.recall import UseCounters
from bot.tools.base import MessageContext, ToolContext
from channels.phrases import AnyPhrase
from memory.longterm.memories import Memories
from memory.recall.index import RecallDependencies
from memory.recall.keepers.files import FileIndexes
from memory.recall.search import Recall
from memory.store.open import open_store
from memory.store.store import Store
from memory.workspace.files import Workspace

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


@dataclass
class Shelf:
    """What a test holds. told: what conversations were told: (id, Chinese, English)."""

    home: HomeFolder
    store: Store
    workspace: Workspace
    recall: Recall
    uses: UseCounters
    told: list[tuple[str, str, str]] = field(default_factory=list)
    _once: set[str] = field(default_factory=set)
    _kept: dict[str, Memories] = field(default_factory=dict)

    def memories(self, space: str = "") -> Memories:
        if space not in self._kept:
            self._kept[space] = Memories(
                space,
                records=self.store.memories,
                workspace=self.workspace,
                similarity=lambda: 0.85,
            )
        return self._kept[space]

    def write(self, path: str, text: str) -> Path:
        whole = self.home.workspace / path
        whole.parent.mkdir(parents=True, exist_ok=True)
        whole.write_text(text, "utf-8")
        return whole

    def context(self, conversation: str, occasion: MessageContext, space: str = "") -> ToolContext:
        async def known() -> MessageContext:
            return occasion

        return ToolContext(
            conversation=conversation,
            space=space,
            now=lambda: NOON,
            idem_key="k",
            load_message=known,
        )

    async def tell(self, conversation: str, notice: AnyPhrase, once: str = "") -> None:
        if once not in self._once:
            self._once.add(once)
            self.told.append((conversation, notice.text("zh"), notice.text("en")))


@asynccontextmanager
async def shelf(folder: Path) -> AsyncIterator[Shelf]:
    """Memory on `folder`."""
    home = HomeFolder(root=folder)
    home.ensure()
    store = await open_store(home.db)
    workspace = Workspace(home.workspace)
    indexes = FileIndexes(home.index)
    recall = Recall(RecallDependencies(store=store, workspace=workspace, indexes=indexes, zone=UTC))
    held = Shelf(
        home=home, store=store, workspace=workspace, recall=recall, uses=UseCounters(store.memories)
    )
    try:
        yield held
    finally:
        await held.uses.settled()
        await recall.close()
        await store.close()
