"""Opens the search of a home's memory, and the removal of people from it."""

from collections.abc import Awaitable, Callable
from datetime import tzinfo
from pathlib import Path

from bot.config.home import HomeFolder
from bot.config.schema import Config
from bot.config.sections.memory import EmbeddingConfig
from bot.models.embedding import open_embedder
from memory.forgetting.person_removal import PersonRemoval
from memory.recall.index import RecallDependencies, SpaceIndexes
from memory.recall.keepers.files import FileIndexes
from memory.recall.search import Recall
from memory.recall.vectors import VectorSearch
from memory.store.store import Store
from memory.workspace.blobs import Blobs
from memory.workspace.files import Workspace

# Share of recall's timeout for the embedding of the query; the rest is for the search.
VECTOR_TIME_SHARE = 0.7


def open_recall(
    home: HomeFolder,
    store: Store,
    zone: tzinfo,
    indexes: SpaceIndexes | None = None,
    *,
    workspace: Workspace | None = None,
    vectors: VectorSearch | None = None,
) -> Recall:
    """Open recall over a home's files and database. indexes: shared indexes; None for files of the
    home.
    """
    workspace = workspace or Workspace(home.workspace)
    indexes = indexes or FileIndexes(home.index)
    return Recall(
        RecallDependencies(store=store, workspace=workspace, indexes=indexes, zone=zone), vectors
    )


def open_removal(
    home: HomeFolder, store: Store, root: Path, forget_index: Callable[[str], Awaitable[None]]
) -> PersonRemoval:
    """Open the removal of people from a home. root: of its workspace."""
    blobs = Blobs(home.blobs)
    return PersonRemoval(
        store=store, root=root, blobs=blobs, data=home.data, forget_index=forget_index
    )


def open_vectors(
    embedding: EmbeddingConfig | None, config: Callable[[], Config]
) -> VectorSearch | None:
    """Open the configured vector search; None for keyword search only.

    Raises:
        ConfigError: a package it needs is not installed.
    """
    if embedding is None:
        return None
    return VectorSearch(
        open_embedder(embedding),
        lambda: VECTOR_TIME_SHARE * config().memory.recall_timeout_ms / 1_000,
    )
