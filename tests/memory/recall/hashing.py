"""An embedder without a model: vectors of words' meanings that a test names, else of pairs of
characters.
"""

import asyncio
import struct
from collections.abc import Mapping, Sequence
from math import hypot
from zlib import crc32

from memory.recall.vectors import EmbeddingFailed

WIDTH = 48


class Hashing:
    """Deterministic. means: words that are embedded as the words they stand for. asked: the texts
    of each request.

    fails: raised by the next requests, in order; refuses: a text that is refused with its request.
    open: cleared, requests wait until it is set.
    """

    def __init__(
        self, name: str = "hashing", width: int = WIDTH, means: Mapping[str, str] | None = None
    ) -> None:
        self.name, self.width, self.means = name, width, dict(means or {})
        self.batch, self.prepared = 64, 0
        self.asked: list[list[str]] = []
        self.fails: list[EmbeddingFailed] = []
        self.refuses = ""
        self.open, self.waiting, self.closed = asyncio.Event(), asyncio.Event(), False
        self.open.set()

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        self.asked.append(list(texts))
        if not self.open.is_set():
            self.waiting.set()
            await self.open.wait()
        if self.fails:
            raise self.fails.pop(0)
        if self.refuses and any(self.refuses in text for text in texts):
            raise EmbeddingFailed("refused", kind="BadRequest 400", refused=True)
        return [self._vector(text) for text in texts]

    async def embed_question(self, question: str) -> bytes:
        return (await self.embed([question]))[0]

    async def prepare(self) -> None:
        self.prepared += 1

    async def close(self) -> None:
        self.closed = True

    def _vector(self, text: str) -> bytes:
        for word, meant in self.means.items():
            text = text.replace(word, meant)
        numbers = [1e-3] * self.width
        for at in range(len(text)):
            numbers[crc32(text[at : at + 2].encode()) % self.width] += 1.0
        return struct.pack(f"<{self.width}f", *(number / hypot(*numbers) for number in numbers))
