"""Speed of recall over many rows, half of them Chinese; floors are plain FTS5 and comparing
vectors.
"""

import importlib
import importlib.util
import random
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.cpu_time import cpu_of_this
from benchmarks.measurement import Measurement, median_ratio
from memory.recall.documents import SearchRequest
from memory.recall.index import RecallDependencies, SpaceIndexes
from memory.recall.keepers.files import FileIndexes
from memory.recall.search import Recall
from memory.store.open import open_store
from memory.text.word_forms import index_terms, search_terms
from memory.workspace.daily_log import LOG_FOLDER
from memory.workspace.files import Workspace

A_DAY = 100
QUESTIONS = 100
DEPTH = 20
GROWN = 11_000  # rows of a space that is years old
# Words of a question, and how many of the most frequent words are excluded, like stop words.
ASKED, FREQUENT = 4, 100
CHINESE = 0x4E00
PLAIN = "FTS5 alone, same terms"  # the floor
WIDTH = 384  # numbers of a small model's vector
FIRST = date(2020, 1, 1)
# Milliseconds of a query at the median: what must be reached and what is aimed for.
TARGETS: dict[int, tuple[float, float]] = {1_000: (5, 3), 10_000: (10, 5), 100_000: (100, 50)}
# milliseconds to index a row: what must be reached and what is aimed for
INDEX = 1_000 / 6_000, 300 / 6_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Synthetic:
    """Random log lines, and questions made of their words."""

    lines: Sequence[str]
    questions: Sequence[str]


async def figures(
    sizes: Iterable[int], now: datetime, shared: SpaceIndexes | None = None
) -> tuple[list[Measurement], list[str]]:
    """Measure indexing and searching for each number of rows; returns notes on what could not be
    measured too.

    Args:
        shared: the PostgreSQL indexes, None for an index file.
    """
    found: list[Measurement] = []
    for rows in sizes:
        timed = await _time_rows(rows, now, shared)
        target, goal = TARGETS.get(rows, (float("inf"), float("inf")))
        found += [
            _index_measurement(timed),
            *_query_measurements(timed, must=(target, 3 * target), aim=(goal, 3 * goal)),
            *_vectors(rows, median(ours for ours, _ in timed.questions)),
        ]
    missing = importlib.util.find_spec("numpy") is None
    notes = [
        "NumPy is not installed, so there is no floor of vectors; the extra `vectors` installs it."
    ] * missing
    return found, notes


async def recall_speed() -> list[Measurement]:
    """Measure searches in a grown space, each beside the same search of plain FTS5."""
    timed = await _time_rows(GROWN, datetime.now(UTC))
    return _query_measurements(timed, must=(5, 9), aim=(3, 6))


@dataclass(frozen=True, slots=True, kw_only=True)
class _TimedRows:
    """What indexing and searching took; of two values ours comes first, then that of plain FTS5."""

    rows: int
    #: Seconds to index all rows.
    indexing: tuple[float, float]
    #: Seconds of each question.
    questions: Sequence[tuple[float, float]]
    #: Mean CPU milliseconds of a question.
    cpu: tuple[float, float]


async def _time_rows(rows: int, now: datetime, shared: SpaceIndexes | None = None) -> _TimedRows:
    """Index so many rows and search them, in recall and in plain FTS5."""
    made = synthetic(rows)
    began = time.perf_counter()
    base = plain_index(" ".join(index_terms(line)) for line in made.lines)
    plain_indexed = time.perf_counter() - began
    async with indexed_recall(made.lines, now, shared) as (recall, indexed):
        with closing(base):
            questions, cpu = await _time_questions(recall, base, made.questions, now)
    return _TimedRows(rows=rows, indexing=(indexed, plain_indexed), questions=questions, cpu=cpu)


def _index_measurement(timed: _TimedRows) -> Measurement:
    ours, plain = timed.indexing
    return Measurement(
        name=f"index {timed.rows:,} rows",
        ours=1_000 * ours,
        floor=1_000 * plain,
        unit="ms",
        must=timed.rows * INDEX[0],
        aim=timed.rows * INDEX[1],
        floor_is=PLAIN,
    )


def _query_measurements(
    timed: _TimedRows, must: tuple[float, float], aim: tuple[float, float]
) -> list[Measurement]:
    """Return the median and the 95th percentile of a query. must, aim: of both, in ms."""
    ours, plain = zip(*timed.questions, strict=True)
    return [
        Measurement(
            name=f"query over {timed.rows:,} rows, p50",
            ours=1_000 * median(ours),
            floor=1_000 * median(plain),
            unit="ms",
            must=must[0],
            aim=aim[0],
            floor_is=PLAIN,
            pair_ratio=median_ratio(timed.questions),
            cpu=timed.cpu[0],
            floor_cpu=timed.cpu[1],
        ),
        Measurement(
            name=f"query over {timed.rows:,} rows, p95",
            ours=1_000 * percentile_95(ours),
            floor=1_000 * percentile_95(plain),
            unit="ms",
            must=must[1],
            aim=aim[1],
            floor_is=PLAIN,
        ),
    ]


async def _time_questions(
    recall: Recall, base: sqlite3.Connection, questions: Iterable[str], now: datetime
) -> tuple[list[tuple[float, float]], tuple[float, float]]:
    """Return the seconds of each question beside those of plain FTS5, and the mean CPU milliseconds
    of both.
    """
    pairs, spent = [], (0.0, 0.0)
    for question in questions:
        before, began = cpu_of_this(), time.perf_counter()
        await recall.search(SearchRequest(space="", query=question, now=now, limit=DEPTH))
        between, ended = cpu_of_this(), time.perf_counter()
        plain_search(base, search_terms(question), DEPTH)
        pairs.append((ended - began, time.perf_counter() - ended))
        spent = (spent[0] + (between - before).own, spent[1] + (cpu_of_this() - between).own)
    return pairs, (1_000 * spent[0] / len(pairs), 1_000 * spent[1] / len(pairs))


@asynccontextmanager
async def indexed_recall(
    lines: Sequence[str], now: datetime, shared: SpaceIndexes | None = None
) -> AsyncIterator[tuple[Recall, float]]:
    """Index lines as daily logs of a workspace; yields the recall, and the seconds that indexing
    took.
    """
    with TemporaryDirectory() as folder:
        workspace = Workspace(Path(folder) / "workspace")
        write(workspace, lines)
        store = await open_store(Path(folder) / "mnema.db")
        indexes = shared or FileIndexes(Path(folder) / "index")
        recall = Recall(
            RecallDependencies(
                store=store, workspace=workspace, indexes=indexes, zone=now.tzinfo or UTC
            )
        )
        await recall.forget("")
        began = time.perf_counter()
        await recall.refresh("")
        yield recall, time.perf_counter() - began
        await recall.forget("")
        await recall.close()
        await store.close()


def synthetic(rows: int) -> Synthetic:
    """Make the same lines each time, with natural word frequencies, every second line Chinese."""
    chance = random.Random(rows)
    letters = [chr(CHINESE + at) for at in range(0, 6_000, 2)]
    english = [
        "".join(chance.choices("bcdfglmnprst", k=1) + chance.choices("aeiou", k=1))
        for _ in range(60)
    ]
    words = sorted(
        {"".join(chance.choices(english, k=chance.randint(1, 4))) for _ in range(12_000)}
    )
    chinese = ["".join(chance.choices(letters, k=2)) for _ in range(8_000)]
    chance.shuffle(words)
    lines = [_line(chance, chinese if at % 2 else words) for at in range(rows)]
    frequent = {*words[:FREQUENT], *chinese[:FREQUENT]}
    told = [[word for word in line if word not in frequent] for line in lines]
    asked = chance.choices([line for line in told if len(line) >= ASKED], k=QUESTIONS)
    return Synthetic(
        lines=[_joined(line) for line in lines],
        questions=[_joined(chance.sample(line, ASKED)) for line in asked],
    )


def write(workspace: Workspace, lines: Sequence[str]) -> None:
    """Write daily logs of A_DAY lines each, a section for every tenth line."""
    files = workspace.space("")
    for number in range(0, len(lines), A_DAY):
        day = FIRST + timedelta(days=number // A_DAY)
        text = [f"# {day}"]
        for at, line in enumerate(lines[number : number + A_DAY]):
            if at % 10 == 0:
                text += ["", f"## {8 + at // 10:02}:00", ""]
            text.append(f"- {8 + at // 10:02}:{at % 10:02} {'Bot' if at % 2 else 'User'}: {line}")
        files.write(f"{LOG_FOLDER}/{day}.md", "\n".join([*text, ""]), None)


def plain_index(texts: Iterable[str]) -> sqlite3.Connection:
    """Create a plain FTS5 index in memory; row n is the nth text, from 0."""
    base = sqlite3.connect(":memory:", isolation_level=None)
    base.execute(
        'CREATE VIRTUAL TABLE plain USING fts5(terms, tokenize="unicode61 remove_diacritics 0")'
    )
    base.execute("BEGIN")
    base.executemany("INSERT INTO plain(rowid, terms) VALUES (?, ?)", enumerate(texts))
    base.execute("COMMIT")
    return base


def plain_search(base: sqlite3.Connection, terms: Sequence[str], limit: int) -> list[int]:
    """Return rows with any of the terms, best first by bm25."""
    match = " OR ".join(f'"{term}"' for term in terms)
    if not match:
        return []
    statement = "SELECT rowid FROM plain WHERE plain MATCH ? ORDER BY bm25(plain) LIMIT ?"
    return [row for (row,) in base.execute(statement, (match, limit))]


def percentile_95(times: Sequence[float]) -> float:
    """Return the 95th percentile."""
    return sorted(times)[int(len(times) * 0.95)]


def _line(chance: random.Random, words: Sequence[str]) -> list[str]:
    """Choose ten to twenty words, the nth about n times rarer than the first."""
    return [words[int(len(words) ** chance.random()) - 1] for _ in range(chance.randint(10, 20))]


def _joined(words: Sequence[str]) -> str:
    return ("" if ord(words[0][0]) >= CHINESE else " ").join(words)


def _vectors(rows: int, ours: float) -> list[Measurement]:
    """Compare a query with one product of a matrix and a vector, and the selection of its best
    rows.
    """
    if importlib.util.find_spec("numpy") is None:
        return []
    numpy: Any = importlib.import_module("numpy")
    source = numpy.random.default_rng(1)
    matrix = source.standard_normal((rows, WIDTH), dtype=numpy.float32)
    wanted = source.standard_normal(WIDTH, dtype=numpy.float32)
    times = [
        _timed(lambda: numpy.argpartition(matrix @ wanted, -DEPTH)[-DEPTH:]) for _ in range(20)
    ]
    target, goal = TARGETS.get(rows, (float("inf"), float("inf")))
    return [
        Measurement(
            name=f"query over {rows:,} rows, p50",
            ours=1_000 * ours,
            floor=1_000 * median(times),
            unit="ms",
            must=target,
            aim=goal,
            floor_is=f"NumPy alone, {WIDTH} numbers a row, with the question's vector given",
        )
    ]


def _timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
