"""Rows are found by what they mean too; without vectors, or while they are not to be had, by words
alone.
"""

import asyncio
import os
import struct
import tempfile
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter

import numpy
import pytest

from memory.recall.documents import IndexRow, SearchRequest
from memory.recall.hits import scale_cosines
from memory.recall.index import RecallDependencies, SpaceIndexKeeper, VectorChange
from memory.recall.keepers.files import FileIndexes
from memory.recall.search import Recall
from memory.recall.sqlite_index import SqliteIndex
from memory.recall.vector_matrix import VectorMatrix, pack_vector
from memory.recall.vectors import (
    MAX_NEAREST,
    RETRY_SECONDS,
    EmbeddingFailed,
    VectorSearch,
)
from memory.store.open import open_store
from memory.store.postgres.index_keeper import PostgresSharedIndexes
from memory.workspace.files import Workspace
from tests.memory.recall.hashing import WIDTH, Hashing

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
BATCH = Hashing().batch
MEANS = {"automobile": "car", "汽车": "car", "轿车": "car"}


class Clock:
    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
async def ground(
    tmp_path: Path, shared: PostgresSharedIndexes | None
) -> AsyncIterator[RecallDependencies]:
    store = await open_store(tmp_path / "m.db")
    yield RecallDependencies(
        store=store,
        workspace=Workspace(tmp_path / "ws"),
        indexes=shared or FileIndexes(tmp_path / "index"),
        zone=UTC,
    )
    await store.close()


def write(ground: RecallDependencies, *lines: str) -> None:
    files = ground.workspace.space("")
    try:
        held = files.read("MEMORY.md").sha256
    except FileNotFoundError:
        held = None
    files.write(
        "MEMORY.md", "# Memory\n\n## fact\n\n" + "".join(f"- {line}\n" for line in lines), held
    )


def vectors_of(embedder: Hashing, clock: Clock | None = None, limit: float = 5.0) -> VectorSearch:
    return VectorSearch(embedder, Path(tempfile.gettempdir()), lambda: limit, clock or Clock())


async def kept_up(vectors: VectorSearch, kept: SpaceIndexKeeper) -> None:
    vectors.keep_up(kept)
    await vectors.settled()


async def held(kept: SpaceIndexKeeper, model: str = "hashing") -> dict[str, bytes]:
    """Each row's words and its vector."""

    found = await kept.use(lambda index: index.words_and_vectors(model, 0, 1_000))
    return {words: vector for _, words, vector in found}


async def test_what_shares_no_word_with_the_question_is_found_by_its_meaning(
    ground: RecallDependencies,
) -> None:
    write(
        ground,
        "she drives an automobile",
        "likes hiking",
        "plays chess on Mondays",
        "他喜欢喝龙井茶",
    )
    vectors = vectors_of(Hashing(means=MEANS))
    recall = Recall(ground, vectors)
    wanted = SearchRequest(space="", query="汽车", now=NOW)
    assert await recall.search(wanted) == []
    await vectors.settled()
    assert (await recall.search(wanted))[0].words == "she drives an automobile"
    await recall.close()


async def test_words_and_meaning_count_together(ground: RecallDependencies) -> None:
    write(ground, "the car was washed", "she drives an automobile", "一起去爬山")
    vectors = vectors_of(Hashing(means=MEANS))
    recall = Recall(ground, vectors)
    await recall.refresh("")
    await vectors.settled()
    found = [
        passage.words
        for passage in await recall.search(SearchRequest(space="", query="car washed", now=NOW))
    ]
    assert found[0] == "the car was washed"
    assert "she drives an automobile" in found
    await recall.close()


async def test_a_search_with_a_broken_embedder_finds_by_words(ground: RecallDependencies) -> None:
    write(ground, "likes hiking", "plays chess")
    embedder, clock = Hashing(), Clock()
    recall = Recall(ground, vectors_of(embedder, clock))
    wanted = SearchRequest(space="", query="hiking", now=NOW)
    embedder.fails = [EmbeddingFailed("down", kind="connection")]
    assert [passage.words for passage in await recall.search(wanted)] == ["likes hiking"]
    assert len(embedder.asked) == 1
    await recall.search(wanted)
    assert len(embedder.asked) == 1, "it is left in peace for a while"
    clock.seconds = RETRY_SECONDS + 1
    await recall.search(wanted)
    assert len(embedder.asked) > 1
    await recall.close()


async def test_a_question_waits_no_longer_than_its_limit(ground: RecallDependencies) -> None:
    embedder = Hashing()
    embedder.open.clear()
    vectors = vectors_of(embedder, limit=0.05)
    assert await vectors.embed_question("slow") == b""
    assert await vectors.embed_question("  ") == b""
    assert embedder.asked == [["slow"]]
    embedder.open.set()
    assert len(await vectors.embed_question("fast")) == WIDTH * 4


async def test_a_wait_that_the_wire_asked_for_is_kept(ground: RecallDependencies) -> None:
    write(ground, "one")
    embedder, clock, kept = Hashing(), Clock(), ground.indexes.keeper("", ground)
    embedder.fails = [EmbeddingFailed("slow down", kind="RateLimited 429", retry_after=100.0)]
    vectors = vectors_of(embedder, clock)
    await kept_up(vectors, kept)
    clock.seconds = 99.0
    await kept_up(vectors, kept)
    assert (len(embedder.asked), await held(kept)) == (1, {})
    clock.seconds = 101.0
    await kept_up(vectors, kept)
    assert list(await held(kept)) == ["one"]
    await kept.close()


async def test_rows_are_embedded_in_batches_and_once_only(ground: RecallDependencies) -> None:
    lines = [f"line number {number}" for number in range(BATCH * 2 + 5)]
    write(ground, *lines)
    embedder, kept = Hashing(), ground.indexes.keeper("", ground)
    vectors = vectors_of(embedder)
    vectors.keep_up(kept)
    vectors.keep_up(kept)
    await vectors.settled()
    assert [len(texts) for texts in embedder.asked] == [BATCH, BATCH, 5]
    write(ground, "a new one", *lines[1:])
    await kept_up(vectors, kept)
    assert embedder.asked[3:] == [["a new one"]], "a line that stands there still keeps its vector"
    assert set(await held(kept)) == {"a new one", *lines[1:]}
    await kept.close()


async def test_what_was_not_finished_goes_on_with_the_next_process(
    ground: RecallDependencies,
) -> None:
    write(ground, *(f"line {number}" for number in range(BATCH + 1)))
    embedder, kept = Hashing(), ground.indexes.keeper("", ground)
    killed = vectors_of(embedder)
    embedder.open.clear()
    killed.keep_up(kept)
    await embedder.waiting.wait()
    await killed.close()
    await kept.close()
    assert embedder.closed
    embedder.open.set()
    again = ground.indexes.keeper("", ground)
    await kept_up(vectors_of(embedder), again)
    assert len(await held(again)) == BATCH + 1
    await again.close()


async def test_another_model_embeds_everything_anew(ground: RecallDependencies) -> None:
    write(ground, "likes hiking", "plays chess")
    kept, other = ground.indexes.keeper("", ground), Hashing("other", WIDTH * 2)
    await kept_up(vectors_of(Hashing()), kept)
    await kept_up(vectors_of(other), kept)
    assert set(await held(kept, "other")) == {"likes hiking", "plays chess"}
    assert await held(kept) == {}
    await kept.close()


async def test_a_model_whose_vectors_changed_their_size_embeds_everything_anew(
    ground: RecallDependencies,
) -> None:
    write(ground, "likes hiking", "plays chess")
    embedder, kept = Hashing(), ground.indexes.keeper("", ground)
    await kept_up(vectors_of(embedder), kept)
    embedder.width = WIDTH * 2
    vectors = vectors_of(embedder)
    asked = await vectors.embed_question("hiking")
    assert await kept.use(lambda index: vectors.near(kept, index, asked)) == {}
    await kept_up(vectors, kept)
    assert {len(vector) for vector in (await held(kept)).values()} == {4 + WIDTH * 2}
    assert await kept.use(lambda index: vectors.near(kept, index, asked))
    await kept.close()


async def test_a_text_that_is_refused_does_not_keep_the_others_from_theirs(
    ground: RecallDependencies,
) -> None:
    write(ground, *(f"line {number}" for number in range(6)), "poison", "last")
    embedder, kept = Hashing(), ground.indexes.keeper("", ground)
    embedder.refuses = "poison"
    vectors = vectors_of(embedder)
    await kept_up(vectors, kept)
    made = await held(kept)
    assert [words for words, vector in made.items() if not vector] == ["poison"]
    asked = len(embedder.asked)
    await kept_up(vectors, kept)
    assert len(embedder.asked) == asked, "it is not asked again and again"
    question = await vectors.embed_question("line 3")
    assert len(await kept.use(lambda index: vectors.near(kept, index, question))) > 0
    await kept.close()


async def test_where_every_text_is_refused_none_is_given_up(ground: RecallDependencies) -> None:
    write(ground, "one", "two")
    embedder, kept, clock = Hashing(), ground.indexes.keeper("", ground), Clock()
    embedder.fails = [
        EmbeddingFailed("bad request", kind="BadRequest 400", refused=True) for _ in range(3)
    ]
    vectors = vectors_of(embedder, clock)
    await kept_up(vectors, kept)
    assert await held(kept) == {}
    clock.seconds = RETRY_SECONDS + 1
    await kept_up(vectors, kept)
    assert set(await held(kept)) == {"one", "two"}
    await kept.close()


async def test_a_line_that_changed_while_it_was_embedded_does_not_get_the_old_ones_vector(
    ground: RecallDependencies,
) -> None:
    write(ground, "old words")
    embedder, kept = Hashing(), ground.indexes.keeper("", ground)
    vectors = vectors_of(embedder)
    embedder.open.clear()
    vectors.keep_up(kept)
    await embedder.waiting.wait()
    write(ground, "new words")
    await kept.use(lambda index: index.count())
    embedder.open.set()
    await vectors.settled()
    assert await held(kept) == dict(
        zip(["new words"], map(pack_vector, await embedder.embed(["new words"])), strict=True)
    )
    await kept.close()


def filled(path: Path, rows: int, width: int) -> tuple[SqliteIndex, numpy.ndarray]:
    index, made = (
        SqliteIndex(path),
        numpy.random.default_rng(7).normal(size=(rows, width)).astype("<f4"),
    )
    made /= numpy.linalg.norm(made, axis=1, keepdims=True)
    index.put(
        "file:a",
        "1",
        [IndexRow(kind="log", words=f"w{at}", session=0, place=at) for at in range(rows)],
    )
    found = index.unembedded("m", rows)
    index.store_vectors(
        "m",
        [(row, words, pack_vector(made[row - 1].tobytes())) for row, words in found],
    )
    return index, made


def test_the_nearest_rows_are_those_of_the_highest_cosine(tmp_path: Path) -> None:
    index, made = filled(tmp_path / "i.db", 1_000, 16)
    near = vectors_of(Hashing("m", 16)).near(index, index, made[41].tobytes())
    cosines = made @ made[41]
    wanted = [int(at) + 1 for at in numpy.argsort(-cosines)[: len(near)]]
    assert sorted(near, key=lambda row: -near[row])[:10] == wanted[:10]
    assert len(set(near) & set(wanted)) > 0.95 * len(near), "bytes are nearly as exact as floats"
    assert len(near) == MAX_NEAREST
    assert near[42] == pytest.approx(1.0, abs=0.01)
    scaled = scale_cosines(near)
    assert len(scaled) == MAX_NEAREST - 1
    assert scaled[42] == 1.0
    assert all(0 < share <= 1 for share in scaled.values())
    index.close()


def test_what_was_added_or_taken_out_is_seen_by_the_next_question(tmp_path: Path) -> None:
    index, made = filled(tmp_path / "i.db", 50, 16)
    vectors, asked = vectors_of(Hashing("m", 16)), -made[0]
    before = vectors.near(index, index, asked.tobytes())
    index.put("file:b", "1", [IndexRow(kind="log", words="opposite", session=0, place=0)])
    index.store_vectors("m", [(51, "opposite", pack_vector(asked.tobytes()))])
    assert (
        max((near := vectors.near(index, index, asked.tobytes())), key=lambda row: near[row]) == 51
    )
    index.drop(["file:b"])
    assert vectors.near(index, index, asked.tobytes()) == before
    index.drop(["file:a"])
    assert vectors.near(index, index, asked.tobytes()) == {}
    index.close()


def test_a_single_row_and_an_opposite_one_are_no_trouble(tmp_path: Path) -> None:
    index, made = filled(tmp_path / "i.db", 1, 4)
    vectors = vectors_of(Hashing("m", 4))

    def scaled(question: bytes) -> dict[int, float]:
        return scale_cosines(vectors.near(index, index, question))

    assert scaled(made[0].tobytes()) == {1: pytest.approx(1.0)}
    assert scaled((-made[0]).tobytes()) == {}
    assert scaled(struct.pack("<4f", 0, 0, 0, 0)) == {}
    assert scale_cosines({}) == {}
    index.close()


async def test_small_talk_recalls_nothing_by_meaning_alone_and_a_question_more_with_it(
    ground: RecallDependencies,
) -> None:
    write(ground, "she drives an automobile", "likes hiking in May", "他喜欢喝龙井茶")
    vectors = vectors_of(Hashing(means=MEANS))
    recall = Recall(ground, vectors)
    await recall.refresh("")
    await vectors.settled()

    async def recalled(query: str) -> set[str]:
        request = SearchRequest(space="", query=query, now=NOW, on_behalf_of="c1")
        return {passage.words for passage in await recall.search(request)}

    assert await recalled("汽车") == set()
    assert await recalled("hiking by car") == {"likes hiking in May", "she drives an automobile"}
    await recall.close()


def test_twenty_thousand_rows_are_compared_in_a_few_milliseconds(tmp_path: Path) -> None:
    index, made = filled(tmp_path / "i.db", 20_000, 384)
    vectors = vectors_of(Hashing("m", 384))

    def milliseconds(work: Callable[[], object]) -> float:
        begun = perf_counter()
        work()
        return (perf_counter() - begun) * 1_000

    first = milliseconds(lambda: vectors.near(index, index, made[0].tobytes()))
    again = min(
        milliseconds(lambda: vectors.near(index, index, made[7].tobytes())) for _ in range(20)
    )
    print(f"first {first:.0f} ms, again {again:.1f} ms")
    assert again < 50
    assert first < 5_000
    index.close()


async def test_closing_waits_for_nothing(ground: RecallDependencies) -> None:
    write(ground, "one")
    embedder, kept = Hashing(), ground.indexes.keeper("", ground)
    embedder.open.clear()
    vectors = vectors_of(embedder)
    vectors.keep_up(kept)
    await embedder.waiting.wait()
    async with asyncio.timeout(1):
        await vectors.close()
    await kept.close()


async def test_a_rebuilt_index_has_the_vectors_of_the_words_that_are_still_there(
    ground: RecallDependencies,
) -> None:
    write(ground, "the code of the safe is 4711", "likes hiking", "plays chess")
    embedder = Hashing()
    vectors = vectors_of(embedder)
    recall = Recall(ground, vectors)
    await recall.refresh("")
    await vectors.settled()
    asked = len(embedder.asked)
    write(ground, "likes hiking", "plays chess", "a new line")
    await recall.forget_words("")
    await vectors.settled()
    assert embedder.asked[asked:] == [["a new line"]]
    kept = ground.indexes.keeper("", ground)
    assert set(await held(kept)) == {"likes hiking", "plays chess", "a new line"}
    assert not await kept.use(
        lambda index: [
            change for change in index.vector_changes("hashing", 0, 99) if change.vector is None
        ]
    ), "the new index does not know what the old one had"
    [forgotten] = await embedder.embed(["the code of the safe is 4711"])
    near = await kept.use(lambda index: vectors.near(kept, index, forgotten))
    assert max(near.values()) < 0.9
    await kept.close()
    await recall.close()


async def test_I44_no_byte_of_a_forgotten_vector_is_left_in_the_files_or_the_matrix(
    tmp_path: Path,
) -> None:
    index = SqliteIndex(tmp_path / "i.db")
    index.put(
        "file:a",
        "1",
        [
            IndexRow(kind="log", words=one, session=0, place=at)
            for at, one in enumerate(("secret", "left"))
        ],
    )
    secret = bytes(range(1, 125))
    vector = pack_vector(struct.pack("<124f", *(number / 900 for number in secret)))
    index.store_vectors(
        "m", [(1, "secret", vector), (2, "left", pack_vector(struct.pack("<124f", *[0.1] * 124)))]
    )
    matrix = VectorMatrix(tmp_path, 124, 10)
    matrix.apply(index.vector_changes("m", 0, 9))
    file = next(
        Path("/proc/self/fd") / name
        for name in os.listdir("/proc/self/fd")
        if os.path.realpath(f"/proc/self/fd/{name}").startswith(f"{tmp_path}/#")
    )
    assert vector in file.read_bytes()
    last = index.vector_changes("m", 0, 9)[-1].number
    index.drop(["file:a"])
    matrix.apply(index.vector_changes("m", last, 9))
    index.close()
    assert vector[4:] not in file.read_bytes()
    held_bytes = b"".join(path.read_bytes() for path in tmp_path.glob("i.db*"))
    assert vector[4:] not in held_bytes
    rows, _ = matrix.cosines(numpy.ones(124, dtype="<f4"))
    assert rows.tolist() == [0, 0]
    matrix.close()


def test_a_full_matrix_replaces_what_was_added_first(tmp_path: Path) -> None:
    matrix = VectorMatrix(tmp_path, 4, 3)
    one = pack_vector(struct.pack("<4f", 1, 0, 0, 0))
    matrix.apply([VectorChange(number, number, one) for number in range(1, 5)])
    rows, cosines = matrix.cosines(numpy.array([1, 0, 0, 0], dtype="<f4"))
    assert sorted(rows.tolist()) == [2, 3, 4]
    assert cosines.tolist() == pytest.approx([1, 1, 1])
    matrix.apply([VectorChange(5, 3, None)])
    assert sorted(matrix.cosines(numpy.zeros(4, dtype="<f4"))[0].tolist()) == [0, 2, 4]
    matrix.close()
