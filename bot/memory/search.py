"""Opens the search of a home's memory, and the removal of people from it."""

from collections.abc import Awaitable, Callable
from datetime import tzinfo
from pathlib import Path

import structlog

from bot.config.home import HomeFolder
from bot.config.schema import Config
from bot.models.embedding.embedders import chosen_embedding, missing_extra, open_embedder
from memory.forgetting.person_removal import PersonRemoval
from memory.recall.index import RecallDependencies, SpaceIndexes
from memory.recall.keepers.files import FileIndexes
from memory.recall.search import Recall
from memory.recall.vectors import VectorSearch
from memory.store.store import Store
from memory.workspace.blobs import Blobs
from memory.workspace.files import Workspace

log = structlog.get_logger(__name__)
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


def open_vectors(home: HomeFolder, config: Callable[[], Config]) -> VectorSearch | None:
    """Open the vector search of the configuration; None for words alone.

    Raises:
        ConfigError: a package that the configured endpoint needs is not installed.
    """
    embedding = chosen_embedding(config().memory.embedding)
    if embedding is None:
        return None
    if embedding.provider == "local" and (missing := missing_extra("local")):
        # An upgrade may bring another local model than the one that was installed.
        log.warning("recall by words alone", why=missing)
        return None
    return VectorSearch(
        open_embedder(embedding),
        home.index,
        lambda: VECTOR_TIME_SHARE * config().memory.recall_timeout_ms / 1_000,
    )
