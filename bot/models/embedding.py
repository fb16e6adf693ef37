"""Turns texts into vectors: by any OpenAI-compatible endpoint, or by a sentence-transformers model on this machine."""

import asyncio
import json
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from math import hypot, isfinite
from typing import Any

from bot.config.extras import install_command
from bot.config.schema import Embedding
from bot.errors import BadRequest, ConfigError, ModelError, Overflow, TooLarge
from bot.models.providers.failures import read_failure, to_error
from bot.models.providers.transport import open_http
from memory.recall.vectors import Embedder, EmbeddingFailed

OWN_URL = "https://api.openai.com/v1"
REMOTE, LOCAL = "text-embedding-3-small", "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2"
"""The models where none is named; the local one knows Chinese and English and has 384 numbers."""
LONGEST = 4_000
"""Characters of a text that are embedded. What an index holds is shorter; a server may refuse what is much longer."""
PATIENCE = 60.0
"""Seconds for one request."""


def open_embedder(embedding: Embedding) -> Embedder:
    """The embedder that is configured; it imports and connects when it is first used.

    Raises:
        ConfigError: what it needs is not installed.
    """
    if wants := missing(embedding.provider):
        raise ConfigError(wants)
    if embedding.provider == "local":
        return Local(embedding.model or LOCAL)
    return Remote(base_url=embedding.base_url or OWN_URL, model=embedding.model or REMOTE, api_key=embedding.api_key)


def missing(provider: str, there: Callable[[str], object] = find_spec) -> str:
    """One sentence that names the extra to install for memory.embedding, "" where nothing is missing."""
    needed = ("numpy", "sentence_transformers") if provider == "local" else ("numpy",)
    absent = [module for module in needed if there(module) is None]
    extra = "embeddings" if provider == "local" else "vectors"
    if not absent:
        return ""
    return f"memory.embedding needs {' and '.join(absent)}, which is not installed: {install_command(extra)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """Whether vectors can be had. message: one sentence, with what the wire said."""

    ok: bool
    message: str


async def check_embedding(embedding: Embedding) -> Checked:
    """Embed one word, and say how it went."""
    try:
        embedder = open_embedder(embedding)
        try:
            (vector,) = await embedder.embed(["hello"])
        finally:
            await embedder.close()
    except (ConfigError, EmbeddingFailed) as err:
        return Checked(ok=False, message=f"{str(err).rstrip('.')}.")
    return Checked(ok=True, message=f"{embedder.name} answers with vectors of {len(vector) // 4} numbers.")


class Remote:
    """An endpoint that speaks OpenAI's embeddings. base_url: up to but without "/embeddings"; api_key: "" for none."""

    def __init__(self, *, base_url: str, model: str, api_key: str = "", patience: float = PATIENCE) -> None:
        self.name = model
        self._url = base_url.rstrip("/") + "/embeddings"
        self._key, self._patience = api_key, patience
        self._client: Any = None
        self._opening = asyncio.Lock()

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        """See Embedder.embed."""
        if not (self._key.isascii() and self._key.isprintable()):
            raise EmbeddingFailed("the API key has characters no key has", kind="invalid_api_key")
        try:
            async with asyncio.timeout(self._patience):
                answer = await self._post({"model": self.name, "input": [_cut(text) for text in texts]})
        except TimeoutError as err:
            raise EmbeddingFailed(f"no answer in {self._patience:g} seconds", kind="late") from err
        except ModelError as err:
            raise _failed(err) from err
        try:
            return _read(answer, len(texts))
        except (ValueError, TypeError, KeyError, struct.error) as err:
            raise EmbeddingFailed("the answer is not the vectors that were asked for", kind="damaged") from err

    async def close(self) -> None:
        """Close the connections; the next call opens new ones."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def _post(self, body: dict[str, Any]) -> bytes:
        """The answer's body. Raises ModelError, EmbeddingFailed."""
        import httpx2

        async with self._opening:
            if self._client is None:
                self._client = await asyncio.to_thread(open_http, "")
        headers = {"content-type": "application/json"}
        if self._key:
            headers["authorization"] = f"Bearer {self._key}"
        content = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
        try:
            response = await self._client.post(self._url, content=content, headers=headers)
        except (httpx2.HTTPError, httpx2.StreamError, httpx2.InvalidURL) as err:
            raise EmbeddingFailed(f"the connection failed: {type(err).__name__}", kind="connection") from err
        if response.status_code >= 300:
            raise to_error(read_failure(response.status_code, response.content, response.headers))
        body_read: bytes = response.content
        return body_read


class Local:
    """A sentence-transformers model in this process, loaded at its first use. load: makes it from its name."""

    def __init__(self, model: str, load: Callable[[str], Any] | None = None) -> None:
        self.name = model
        self._load = load or _load
        self._model: Any = None
        self._turn = asyncio.Lock()

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        """See Embedder.embed."""
        async with self._turn:
            try:
                return await asyncio.to_thread(self._embed, [_cut(text) for text in texts])
            except ImportError as err:
                raise EmbeddingFailed(missing("local") or str(err), kind="not_installed") from err
            except (OSError, ValueError, RuntimeError) as err:
                raise EmbeddingFailed(f"{self.name} cannot be used: {err}", kind=type(err).__name__) from err

    async def close(self) -> None:
        """Let the model go; the next call loads it again."""
        self._model = None

    def _embed(self, texts: list[str]) -> list[bytes]:
        if self._model is None:
            self._model = self._load(self.name)
        rows = self._model.encode(texts, show_progress_bar=False)
        return [_packed([float(number) for number in row]) for row in rows]


def _load(name: str) -> Any:
    return import_module("sentence_transformers").SentenceTransformer(name)


def _cut(text: str) -> str:
    """What is embedded of a text; an empty one is refused by some servers."""
    return text[:LONGEST] if text.strip() else "-"


def _read(answer: bytes, count: int) -> list[bytes]:
    """The vectors of an answer in the order of the texts. Raises ValueError and its like for any other answer."""
    items = sorted(json.loads(answer)["data"], key=lambda item: int(item["index"]))
    if [item["index"] for item in items] != list(range(count)):
        raise ValueError("not one vector for each text")
    if len({len(item["embedding"]) for item in items}) != 1:
        raise ValueError("vectors of several sizes")
    return [_packed(item["embedding"]) for item in items]


def _packed(numbers: Sequence[float]) -> bytes:
    """A vector made one long, as bytes. Raises ValueError for one that has no direction."""
    length = hypot(*numbers)
    if not (isfinite(length) and length > 0):
        raise ValueError("a vector without a direction")
    return struct.pack(f"<{len(numbers)}f", *(number / length for number in numbers))


def _failed(err: ModelError) -> EmbeddingFailed:
    """The same, as recall is told: never in the log with what the server said, which may quote the text."""
    return EmbeddingFailed(
        str(err),
        kind=f"{type(err).__name__} {err.status}".strip(),
        retry_after=getattr(err, "retry_after", None),
        refused=isinstance(err, (BadRequest, Overflow, TooLarge)),
    )
