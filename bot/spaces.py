"""Which spaces a home has, and recall over them for whoever looks in without a running bot."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import tzinfo
from pathlib import Path

from bot.home import Home
from bot.listing import space_folders
from memory.blobs import Blobs
from memory.forgetting.leaving import Ground as LeavingGround
from memory.forgetting.leaving import Removal
from memory.recall.keeping import Ground, Shared
from memory.recall.recall import Recall
from memory.store.doors import Store
from memory.workspace import Workspace


async def spaces_of(store: Store, workspace: Workspace) -> list[str]:
    """Every space that a conversation or a folder has, sorted; the owner's, "", is first and always there."""
    talked = await store.dreams.spaces()
    return sorted({"", *talked, *await asyncio.to_thread(space_folders, workspace)})


def recall_of(home: Home, store: Store, zone: tzinfo, indexes: Shared | None = None) -> Recall:
    """Recall over a home's files and record. indexes: where they are kept, None for files of the home."""
    workspace = Workspace(home.workspace)
    return Recall(Ground(store=store, workspace=workspace, folder=home.index, zone=zone, shared=indexes))


def removal_of(home: Home, store: Store, root: Path, forget_index: Callable[[str], Awaitable[None]]) -> Removal:
    """The removal of people from a home. root: of its workspace."""
    ground = LeavingGround(store=store, root=root, blobs=Blobs(home.blobs), data=home.data, forget_index=forget_index)
    return Removal(ground)
