"""Keeps the vectors that an embedder makes in a file, so that a measurement can be resumed."""

import hashlib
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from memory.recall.vectors import Embedder


class CachingEmbedder:
    """An embedder that takes each vector from a file if it is there, and adds those it makes.

    Args:
        path: the SQLite file; made if it is missing.
    """

    def __init__(self, embedder: Embedder, path: Path) -> None:
        self._embedder = embedder
        self.name, self.batch = embedder.name, embedder.batch
        path.parent.mkdir(parents=True, exist_ok=True)
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute(
            "CREATE TABLE IF NOT EXISTS vector (key BLOB PRIMARY KEY, data BLOB) WITHOUT ROWID"
        )

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        return await self._with_cache("row", texts, self._embedder.embed)

    async def embed_question(self, question: str) -> bytes:
        async def embed(texts: Sequence[str]) -> list[bytes]:
            return [await self._embedder.embed_question(text) for text in texts]

        return (await self._with_cache("question", [question], embed))[0]

    async def prepare(self) -> None:
        """Load nothing: what the file holds needs no model."""

    async def close(self) -> None:
        await self._embedder.close()
        self._db.close()

    async def _with_cache(
        self,
        role: str,
        texts: Sequence[str],
        embed: Callable[[Sequence[str]], Awaitable[list[bytes]]],
    ) -> list[bytes]:
        keys = [self._key(role, text) for text in texts]
        known = {key: vector for key in keys if (vector := self._read(key)) is not None}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if missing:
            made = await embed(list(missing.values()))
            known |= zip(missing, made, strict=True)
            rows = [(key, known[key]) for key in missing]
            self._db.executemany("INSERT OR REPLACE INTO vector VALUES (?, ?)", rows)
        return [known[key] for key in keys]

    def _read(self, key: bytes) -> bytes | None:
        row = self._db.execute("SELECT data FROM vector WHERE key = ?", (key,)).fetchone()
        return row[0] if row else None

    def _key(self, role: str, text: str) -> bytes:
        return hashlib.sha256("\0".join((self.name, role, text)).encode()).digest()
