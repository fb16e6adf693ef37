"""Search by vectors: rows are embedded in the background and compared by brute force, beside the
search by words.

Used only with an embedder. NumPy is imported where vectors are compared.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol
from weakref import WeakKeyDictionary, WeakSet

import structlog

from memory.recall.index import SpaceIndexKeeper, VectorStore
from memory.store.errors import StoreError
from memory.tasks import cancel_and_wait

log = structlog.get_logger(__name__)
# newest vectors of a space that are compared; older rows are found only by their words
MAX_MATRIX_ROWS = 100_000
MAX_NEAREST = 300  # rows found for a question
BATCH_ROWS = 64  # texts in one request
RETRY_SECONDS = 30.0  # pause after a failed request if the provider names none
_PROBE = "hello"


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

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        """The texts' vectors, normalised to length 1, as little-endian 32-bit floats.

        Raises:
            EmbeddingFailed: the request failed.
        """
        ...

    async def close(self) -> None:
        """Close its connections."""
        ...


class VectorSearch:
    """Embeds the rows of all spaces, and finds those nearest to a question.

    Args:
        limit: seconds that embedding a question may take.
        clock: monotonic seconds.
    """

    def __init__(
        self,
        embedder: Embedder,
        limit: Callable[[], float],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._embedder, self._limit, self._clock = embedder, limit, clock
        self._matrices: WeakKeyDictionary[SpaceIndexKeeper, _Matrix] = WeakKeyDictionary()
        self._wrong_size: WeakSet[SpaceIndexKeeper] = WeakSet()
        self._lock = threading.Lock()  # of the two above: an index is searched by two threads
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._paused_until = float("-inf")

    async def embed_question(self, question: str) -> bytes:
        """The question's vector; b"" if it fails or takes too long, so that only words count."""
        if not question.strip() or self._clock() < self._paused_until:
            return b""
        try:
            async with asyncio.timeout(self._limit()):
                return (await self._embedder.embed([question]))[0]
        except TimeoutError:
            log.warning("recall by words alone", why="late")
        except EmbeddingFailed as err:
            self._pause(err)
        return b""

    def near(
        self, keeper: SpaceIndexKeeper, index: VectorStore, question: bytes
    ) -> dict[int, float]:
        """Find the rows nearest to a question's vector: their similarity, scaled from 1 to 0.

        Blocks.

        Args:
            index: a snapshot of the keeper's index.
        """
        if not question:
            return {}
        with self._lock:
            matrix = self._load_matrix(keeper, index)
            if matrix is None:
                return {}
            if matrix.width * 4 != len(question):
                log.warning(
                    "vectors rebuilt", why="the model's are of another size", was=matrix.width
                )
                self._wrong_size.add(keeper)
                return {}
            rows, vectors = matrix.rows_and_vectors()
        return _nearest(rows, vectors, question)

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

    async def _embed_rows(self, keeper: SpaceIndexKeeper) -> None:
        model = self._embedder.name
        try:
            if keeper in self._wrong_size:
                await keeper.change(lambda index: index.store_vectors("", ()))
                self._wrong_size.discard(keeper)
            while rows := await keeper.use(
                lambda index: index.unembedded(model, BATCH_ROWS), fresh=False
            ):
                vectors = await self._embed([words for _, words in rows])
                embedded = [(*row, vector) for row, vector in zip(rows, vectors, strict=True)]
                await keeper.change(lambda index: index.store_vectors(model, embedded))  # noqa: B023  awaited at once
            await keeper.use(partial(self._load_matrix_early, keeper), fresh=False)
        except EmbeddingFailed as err:
            self._pause(err)
        except StoreError as err:
            log.warning("vectors left out", space=keeper.space, why=type(err).__name__)

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
        await self._embedder.embed([_PROBE])
        return [b""]

    def _pause(self, failed: EmbeddingFailed) -> None:
        self._paused_until = self._clock() + (
            RETRY_SECONDS if failed.retry_after is None else failed.retry_after
        )
        log.warning("recall by words alone", why=failed.kind or type(failed).__name__)

    def _load_matrix_early(self, keeper: SpaceIndexKeeper, index: VectorStore) -> None:
        """Load the matrix before a search waits for it."""
        with self._lock:
            self._load_matrix(keeper, index)

    def _load_matrix(self, keeper: SpaceIndexKeeper, index: VectorStore) -> "_Matrix | None":
        """All vectors of an index; only those added since the last call are read."""
        stamp, matrix = index.vectors_stamp(), self._matrices.get(keeper)
        if matrix is not None and matrix.stamp != stamp:
            matrix = None
        found = index.vectors(self._embedder.name, matrix.last if matrix else 0)
        size = next((len(vector) for _, vector in reversed(found) if vector), 0)
        if size and (matrix is None or matrix.width * 4 != size):
            found = index.vectors(self._embedder.name) if matrix else found
            matrix = _Matrix(stamp, size // 4)
        if matrix is not None and found:
            matrix.add(found)
            self._matrices[keeper] = matrix
        return matrix


class _Matrix:
    """Vectors in memory, with spare capacity, so that adding one does not copy all."""

    def __init__(self, stamp: tuple[int, int], width: int) -> None:
        import numpy

        self.stamp, self.width = stamp, width  # width: numbers of a vector
        self.last = 0  # highest row number that was added
        self._count = 0
        self._rows: Any = numpy.empty(0, dtype=numpy.int64)
        self._data: Any = numpy.empty((0, width), dtype=numpy.float32)

    def add(self, found: Sequence[tuple[int, bytes]]) -> None:
        """Append vectors, except those of another width."""
        import numpy

        fitting = [(row, vector) for row, vector in found if len(vector) == self.width * 4][
            -MAX_MATRIX_ROWS:
        ]
        self._reserve(len(fitting))
        end = self._count + len(fitting)
        self._rows[self._count : end] = [row for row, _ in fitting]
        joined = b"".join(vector for _, vector in fitting)
        self._data[self._count : end] = numpy.frombuffer(joined, dtype="<f4").reshape(
            -1, self.width
        )
        self._count, self.last = end, found[-1][0]

    def rows_and_vectors(self) -> tuple[Any, Any]:
        """Row numbers and their vectors, as arrays that stay as they are while others are added."""
        return self._rows[: self._count], self._data[: self._count]

    def _reserve(self, more: int) -> None:
        """Make capacity for `more` vectors; beyond MAX_MATRIX_ROWS the oldest are removed."""
        import numpy

        if self._count + more <= len(self._rows):
            return
        left = min(self._count, MAX_MATRIX_ROWS - more)
        size = left + more + left // 4 + BATCH_ROWS
        rows, data = (
            numpy.empty(size, dtype=numpy.int64),
            numpy.empty((size, self.width), dtype=numpy.float32),
        )
        rows[:left] = self._rows[self._count - left : self._count]
        data[:left] = self._data[self._count - left : self._count]
        self._rows, self._data, self._count = rows, data, left


def _nearest(rows: Any, vectors: Any, question: bytes) -> dict[int, float]:
    """The MAX_NEAREST rows by cosine, scaled from 0 for the last of them (left out) to 1 for the
    first.
    """
    import numpy

    cosines = vectors @ numpy.frombuffer(question, dtype="<f4")
    if len(rows) > MAX_NEAREST:
        top = numpy.argpartition(-cosines, MAX_NEAREST)[:MAX_NEAREST]
        rows, cosines = rows[top], cosines[top]
    best, least = float(cosines.max()), max(float(cosines.min()), 0.0) if len(cosines) > 1 else 0.0
    if best <= least:
        return {}
    shares = (cosines - least) / (best - least)
    return {
        row: share for row, share in zip(rows.tolist(), shares.tolist(), strict=True) if share > 0
    }
