"""Nearness in meaning: vectors of rows, made in the background and compared by brute force beside the search by words.

NumPy is imported where vectors are compared; without an embedder nothing here is used.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol
from weakref import WeakKeyDictionary, WeakSet

import structlog

from memory.recall.index import SpaceIndexKeeper, VectorStore
from memory.store.errors import StoreError
from memory.tasks import cancel_and_wait

log = structlog.get_logger(__name__)
MAX_MATRIX_ROWS = 100_000  # vectors of one space that are compared, the newest; older rows are found by their words
MAX_NEAREST = 300  # rows that a question is given
BATCH_ROWS = 64  # texts in one request
RETRY_SECONDS = 30.0  # seconds without requests after one has failed, where the wire does not say how many
_PROBE = "hello"


class EmbeddingFailed(Exception):
    """No vectors were had.

    kind: for the log, without anybody's words. retry_after: seconds, None where nobody said. refused: the texts
    themselves were refused, and will be again.
    """

    def __init__(self, why: str, *, kind: str = "", retry_after: float | None = None, refused: bool = False) -> None:
        super().__init__(why)
        self.kind, self.retry_after, self.refused = kind, retry_after, refused


class Embedder(Protocol):
    """Turns texts into vectors."""

    #: The model's; vectors of two models are never compared.
    name: str

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Each text's vector, of length 1, as little-endian 32-bit floats; all of the same size.

        Raises:
            EmbeddingFailed: there are none this time.
        """
        ...

    async def close(self) -> None:
        """Let go of what it holds open."""
        ...


class VectorSearch:
    """The vectors of all spaces' rows. limit: seconds that a question's own vector may take.

    clock: seconds that only go forward.
    """

    def __init__(
        self, embedder: Embedder, limit: Callable[[], float], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._embedder, self._limit, self._clock = embedder, limit, clock
        self._held: WeakKeyDictionary[VectorStore, _Matrix] = WeakKeyDictionary()
        self._of_another_size: WeakSet[VectorStore] = WeakSet()
        self._work: dict[str, asyncio.Task[None]] = {}
        self._paused_until = float("-inf")

    async def embed_question(self, question: str) -> bytes:
        """Its vector, b"" where it cannot be had in time: then words alone must do."""
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

    def near(self, index: VectorStore, question: bytes) -> dict[int, float]:
        """How near in meaning the nearest rows are, by row: 1 for the nearest, towards 0 for the farthest of them.

        Blocks. question: of of_question.
        """
        matrix = self._matrix(index) if question else None
        if matrix is None:
            return {}
        if matrix.width * 4 != len(question):
            log.warning("vectors made anew", why="the model's are of another size", was=matrix.width)
            self._of_another_size.add(index)
            return {}
        return matrix.nearest(question)

    def keep_up(self, kept: SpaceIndexKeeper) -> None:
        """See that the rows of a space get their vectors, in the background; one work per space at a time."""
        if kept.space in self._work or self._clock() < self._paused_until:
            return
        task = asyncio.create_task(self._keep_up(kept))
        self._work[kept.space] = task
        task.add_done_callback(lambda _: self._work.pop(kept.space, None))

    def works_on(self, space: str) -> bool:
        """Whether vectors of that space's rows are being made."""
        return space in self._work

    async def settled(self) -> None:
        """Wait until no vectors are being made."""
        while self._work:
            await asyncio.wait(list(self._work.values()))

    async def close(self) -> None:
        """Stop; what has no vector yet gets it at the next start."""
        await cancel_and_wait(self._work.values())
        await self._embedder.close()

    async def _keep_up(self, kept: SpaceIndexKeeper) -> None:
        model = self._embedder.name
        try:
            if await kept.use(self._is_of_another_size):
                await kept.change(self._empty)
            while rows := await kept.use(lambda index: index.unembedded(model, BATCH_ROWS)):
                vectors = await self._embed([words for _, words in rows])
                made = [(*row, vector) for row, vector in zip(rows, vectors, strict=True)]
                await kept.change(lambda index: index.store_vectors(model, made))  # noqa: B023  awaited in its round
            await kept.use(self._matrix)  # so that no search waits for it
        except EmbeddingFailed as err:
            self._pause(err)
        except StoreError as err:
            log.warning("vectors left out", space=kept.space, why=type(err).__name__)

    def _is_of_another_size(self, index: VectorStore) -> bool:
        return index in self._of_another_size

    def _empty(self, index: VectorStore) -> None:
        index.store_vectors("", ())
        self._of_another_size.discard(index)

    async def _embed(self, texts: Sequence[str]) -> list[bytes]:
        """Each text's vector, b"" for a text that is refused while others are taken."""
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
        self._paused_until = self._clock() + (RETRY_SECONDS if failed.retry_after is None else failed.retry_after)
        log.warning("recall by words alone", why=failed.kind or type(failed).__name__)

    def _matrix(self, index: VectorStore) -> "_Matrix | None":
        """All vectors of an index; those that were read before are kept, and only new ones are read."""
        stamp, held = index.vectors_stamp(), self._held.get(index)
        if held is not None and held.stamp != stamp:
            held = None
        found = index.vectors(self._embedder.name, held.last if held else 0)
        size = next((len(vector) for _, vector in reversed(found) if vector), 0)
        if size and (held is None or held.width * 4 != size):
            found = index.vectors(self._embedder.name) if held else found
            held = _Matrix(stamp, size // 4)
        if held is not None and found:
            held.add(found)
            self._held[index] = held
        return held


class _Matrix:
    """Vectors in memory. last: the highest row that was looked at; width: numbers of a vector.

    There is room behind the newest vector, so that one more costs no copy of all.
    """

    def __init__(self, stamp: tuple[int, int], width: int) -> None:
        import numpy

        self.stamp, self.width, self.last = stamp, width, 0
        self._count = 0
        self._rows: Any = numpy.empty(0, dtype=numpy.int64)
        self._data: Any = numpy.empty((0, width), dtype=numpy.float32)

    def add(self, found: Sequence[tuple[int, bytes]]) -> None:
        """Put vectors behind those that are there; of those of another width, nothing."""
        import numpy

        fit = [(row, vector) for row, vector in found if len(vector) == self.width * 4][-MAX_MATRIX_ROWS:]
        self._make_room(len(fit))
        until = self._count + len(fit)
        self._rows[self._count : until] = [row for row, _ in fit]
        joined = b"".join(vector for _, vector in fit)
        self._data[self._count : until] = numpy.frombuffer(joined, dtype="<f4").reshape(-1, self.width)
        self._count, self.last = until, found[-1][0]

    def nearest(self, question: bytes) -> dict[int, float]:
        """The MAX_NEAREST rows by cosine, from the last of them (0, and left out) to the first (1)."""
        import numpy

        rows, cosines = self._rows[: self._count], self._data[: self._count] @ numpy.frombuffer(question, dtype="<f4")
        if self._count > MAX_NEAREST:
            top = numpy.argpartition(-cosines, MAX_NEAREST)[:MAX_NEAREST]
            rows, cosines = rows[top], cosines[top]
        best, least = float(cosines.max()), max(float(cosines.min()), 0.0) if len(cosines) > 1 else 0.0
        if best <= least:
            return {}
        shares = (cosines - least) / (best - least)
        return {row: share for row, share in zip(rows.tolist(), shares.tolist(), strict=True) if share > 0}

    def _make_room(self, more: int) -> None:
        """Room for so many more; beyond MOST the oldest make it."""
        import numpy

        if self._count + more <= len(self._rows):
            return
        kept = min(self._count, MAX_MATRIX_ROWS - more)
        size = kept + more + kept // 4 + BATCH_ROWS
        rows, data = numpy.empty(size, dtype=numpy.int64), numpy.empty((size, self.width), dtype=numpy.float32)
        rows[:kept] = self._rows[self._count - kept : self._count]
        data[:kept] = self._data[self._count - kept : self._count]
        self._rows, self._data, self._count = rows, data, kept
