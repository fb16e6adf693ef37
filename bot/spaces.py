"""Which spaces a home has, and recall over them for whoever looks in without a running bot."""

import asyncio
from datetime import tzinfo

from bot.home import Home
from bot.listing import space_folders
from memory.recall.keeping import Ground
from memory.recall.recall import Recall
from memory.store.doors import Store
from memory.workspace import Workspace


async def spaces_of(store: Store, workspace: Workspace) -> list[str]:
    """Every space that a conversation or a folder has, sorted; the owner's, "", is first and always there."""
    talked = await store.dreams.spaces()
    return sorted({"", *talked, *await asyncio.to_thread(space_folders, workspace)})


def recall_of(home: Home, store: Store, zone: tzinfo) -> Recall:
    """Recall over a home's files, record and indexes."""
    return Recall(Ground(store=store, workspace=Workspace(home.workspace), folder=home.index, zone=zone))
