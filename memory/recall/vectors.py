"""Search by vectors: rows are embedded in the background and compared by brute force, beside the
search by words.

Used only with an embedder. NumPy is imported where vectors are compared.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol
from weakref import WeakKeyDictionary, WeakSet

import structlog

from memory.recall.index import SpaceIndexKeeper, VectorStore
from memory.recall.vector_matrix import VectorMatrix, pack_vector, packed_width
from memory.recall.vectors_by_words import VectorsByWords
from memory.store.errors import StoreError
from memory.tasks import cancel_and_wait

log = structlog.get_logger(__name__)
# vectors of a space that are compared; of more, those that were embedded first are left out
MAX_MATRIX_ROWS = 1_000_000
MAX_NEAREST = 300  # rows found for a question
MAX_QUESTION = (
    500  # characters of a question that are embedded: what a message is about comes early
)
# Vectors that are loaded in one step, and at most within a search; a start with more finds by words
# until they are loaded.
PAGE_VECTORS = 10_000
# For the question of a search that somebody waits for: the first one loads the model.
ASKED_SECONDS = 5.0
RETRY_SECONDS = 30.0  # pause after a failed request if the provider names none
PROBE = "hello"  # a text that no model refuses


class EmbeddingFailed(Exception):
    """A request for vectors failed.

    Args:
        kind: for the log, without user text.
        retry_after: seconds, None if the provider named none.
        refused: the provider refuses these texts, so retrying is useless.
    """

    def __init__(
        self, why: str, *, kind: str = "", retry_after: float | None = None, refused: bool = False
    ) -> None:
        super().__init__(why)
        self.kind, self.retry_after, self.refused = kind, retry_after, refused


class Embedder(Protocol):
    """Turns texts into vectors."""

    #: Of the model; vectors of two models are never compared.
    name: str
    #: Texts of one request at most.
    batch: int

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        """The vectors of texts that are searched, normalised to length 1, as little-endian 32-bit
        floats.

        Raises:
            EmbeddingFailed: the request failed.
        """
        ...

    async def embed_question(self, question: str) -> bytes:
        """A question's vector, which does not wait for rows.

        Raises:
            EmbeddingFailed: the request failed.
        """
        ...

    async def prepare(self) -> None:
        """Load what the first question would wait for.

        Raises:
            EmbeddingFailed: it failed.
        """
        ...

    async def close(self) -> None:
        """Close its connections, or end its processes."""
        ...


@dataclass(slots=True, kw_only=True)
class _LoadedVectors:
    """The vectors of an index as far as they are loaded."""

    #: See VectorStamp.
    file: int
    #: The last change that was read.
    last: int = 0
    #: None before the first vector.
    matrix: VectorMatrix | None = None


class VectorSearch:
    """Embeds the rows of all spaces, and finds those nearest to a question.

    Args:
        folder: for files without a name, on the disk of the home.
        limit: seconds that embedding the question of an automatic search may take.
        clock: monotonic seconds.
    """

    def __init__(
        self,
        embedder: Embedder,
        folder: Path,
        limit: Callable[[], float],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._embedder, self._folder, self._limit, self._clock = embedder, folder, limit, clock
        self._loaded: WeakKeyDictionary[SpaceIndexKeeper, _LoadedVectors] = WeakKeyDictionary()
        self._wrong_size: WeakSet[SpaceIndexKeeper] = WeakSet()
        self._lock = threading.Lock()  # of the two above: an index is searched by two threads
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._paused_until = float("-inf")
        self._is_prepared = False

    @property
    def model(self) -> str:
        """Whose vectors are used."""
        return self._embedder.name

    async def embed_question(self, question: str, *, automatic: bool = True) -> bytes:
        """The question's vector; b"" if it fails or takes too long, so that only words count."""
        limit = self._limit() if automatic else ASKED_SECONDS
        if not question.strip() or self._clock() < self._paused_until:
            return b""
        try:
            async with asyncio.timeout(limit):
                return await self._embedder.embed_question(question[:MAX_QUESTION])
        except TimeoutError:
            log.warning("recall by words alone", why="late")
        except EmbeddingFailed as err:
            self._pause(err)
        return b""

    def near(
        self, keeper: SpaceIndexKeeper, index: VectorStore, question: bytes
    ) -> dict[int, float]:
        """Find the rows nearest to a question's vector, with their cosines; blocks.

        Args:
            index: a snapshot of the keeper's index.
        """
        if not question:
            return {}
        with self._lock:
            matrix = self._load_vectors(keeper, index).matrix
            if matrix is None:
                return {}
            if matrix.width * 4 != len(question):
                log.warning(
                    "vectors rebuilt", why="the model's are of another size", was=matrix.width
                )
                self._wrong_size.add(keeper)
                return {}
        return _nearest(matrix, question)

    def keep_up(self, keeper: SpaceIndexKeeper) -> None:
        """Embed the new rows of a space in the background, with one task per space."""
        if keeper.space in self._tasks or self._clock() < self._paused_until:
            return
        task = asyncio.create_task(self._embed_rows(keeper))
        self._tasks[keeper.space] = task
        task.add_done_callback(lambda _: self._tasks.pop(keeper.space, None))

    def works_on(self, space: str) -> bool:
        """Whether rows of that space are being embedded."""
        return space in self._tasks

    async def settled(self) -> None:
        """Wait until no rows are being embedded."""
        while self._tasks:
            await asyncio.wait(list(self._tasks.values()))

    async def close(self) -> None:
        """Stop; rows without a vector are embedded after the next start."""
        await cancel_and_wait(self._tasks.values())
        await self._embedder.close()

    async def keep(self, keeper: SpaceIndexKeeper) -> VectorsByWords | None:
        """Put the vectors of an index aside that is about to be made again; None if they are lost,
        which must not keep the index from being made.
        """
        kept = None
        try:
            kept = VectorsByWords(self._folder)
            await self._keep_all(keeper, kept)
        except (StoreError, OSError) as err:
            log.warning("vectors made again", space=keeper.space, why=type(err).__name__)
            if kept is not None:
                kept.close()
            return None
        return kept

    async def _keep_all(self, keeper: SpaceIndexKeeper, kept: VectorsByWords) -> None:
        model, last = self._embedder.name, 0
        while page := await keeper.use(
            lambda index: index.words_and_vectors(model, last, PAGE_VECTORS),  # noqa: B023  awaited at once
            fresh=False,
        ):
            last = page[-1][0]
            await asyncio.to_thread(kept.add, [(words, vector) for _, words, vector in page])

    async def restore(self, keeper: SpaceIndexKeeper, kept: VectorsByWords) -> None:
        """Give the rows of an index that was made again the vectors of the same words.

        Raises:
            StoreError: the index cannot be changed.
        """
        model, others = self._embedder.name, 0
        while len(kept) and (
            page := await keeper.use(
                lambda index: index.unembedded(model, PAGE_VECTORS, others),  # noqa: B023  awaited at once
                fresh=False,
            )
        ):
            found = await asyncio.to_thread(kept.find, page)
            await keeper.change(lambda index: index.store_vectors(model, found))  # noqa: B023  awaited at once
            others += len(page) - len(found)

    def release(self, keeper: SpaceIndexKeeper) -> None:
        """Give the memory of an index back, which is about to be closed or made again."""
        with self._lock:
            loaded = self._loaded.pop(keeper, None)
        if loaded is not None and loaded.matrix is not None:
            loaded.matrix.close()

    async def _embed_rows(self, keeper: SpaceIndexKeeper) -> None:
        try:
            if not self._is_prepared:
                await self._embedder.prepare()
                self._is_prepared = True
            if keeper in self._wrong_size:
                await keeper.change(lambda index: index.store_vectors("", ()))
                self._wrong_size.discard(keeper)
            while await keeper.use(partial(self._load_page, keeper), fresh=False):
                pass
            while await self._embed_batch(keeper):
                pass
        except EmbeddingFailed as err:
            self._pause(err)
        except (StoreError, OSError) as err:
            log.warning("vectors left out", space=keeper.space, why=type(err).__name__)

    async def _embed_batch(self, keeper: SpaceIndexKeeper) -> bool:
        """Embed the next rows; returns whether there were any."""
        model, most = self._embedder.name, self._embedder.batch
        rows = await keeper.use(lambda index: index.unembedded(model, most), fresh=False)
        if not rows:
            return False
        vectors = await self._embed([words for _, words in rows])
        embedded = [
            (row, words, pack_vector(vector))
            for (row, words), vector in zip(rows, vectors, strict=True)
        ]
        await keeper.change(lambda index: index.store_vectors(model, embedded))
        return True

    async def _embed(self, texts: Sequence[str]) -> list[bytes]:
        """The texts' vectors, b"" for a text that alone is refused."""
        try:
            return await self._embedder.embed(texts)
        except EmbeddingFailed as err:
            if not err.refused:
                raise
        if len(texts) > 1:
            half = len(texts) // 2
            return [*await self._embed(texts[:half]), *await self._embed(texts[half:])]
        await self._embedder.embed([PROBE])
        return [b""]

    def _pause(self, failed: EmbeddingFailed) -> None:
        self._paused_until = self._clock() + (
            RETRY_SECONDS if failed.retry_after is None else failed.retry_after
        )
        log.warning("recall by words alone", why=failed.kind or type(failed).__name__)

    def _load_page(self, keeper: SpaceIndexKeeper, index: VectorStore) -> bool:
        """Load the next page of vectors; returns whether there was any."""
        with self._lock:
            before = self._loaded.get(keeper)
            last = before.last if before else 0
            return self._load_vectors(keeper, index).last > last

    def _load_vectors(self, keeper: SpaceIndexKeeper, index: VectorStore) -> _LoadedVectors:
        """The vectors of an index, with a page more of those that were added since the last
        call.
        """
        stamp, loaded = index.vector_stamp(), self._loaded.get(keeper)
        if loaded is None or loaded.file != stamp.file or loaded.last < stamp.pruned:
            if loaded is not None and loaded.matrix is not None:
                loaded.matrix.close()
            # From the start all vectors are read that are left, and no removal is missed.
            loaded = self._loaded[keeper] = _LoadedVectors(file=stamp.file)
        changes = index.vector_changes(self._embedder.name, loaded.last, PAGE_VECTORS)
        if not changes:
            return loaded
        if loaded.matrix is None and (width := packed_width(changes)):
            loaded.matrix = VectorMatrix(self._folder, width, MAX_MATRIX_ROWS)
        if loaded.matrix is not None:
            loaded.matrix.apply(changes)
        loaded.last = changes[-1].number
        return loaded


def _nearest(matrix: VectorMatrix, question: bytes) -> dict[int, float]:
    """The MAX_NEAREST rows with their cosines."""
    import numpy

    rows, cosines = matrix.cosines(numpy.frombuffer(question, dtype="<f4"))
    is_used = rows > 0
    rows, cosines = rows[is_used], cosines[is_used]
    if len(rows) > MAX_NEAREST:
        top = numpy.argpartition(-cosines, MAX_NEAREST)[:MAX_NEAREST]
        rows, cosines = rows[top], cosines[top]
    return dict(zip(rows.tolist(), cosines.tolist(), strict=True))
