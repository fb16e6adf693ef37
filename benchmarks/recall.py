"""Quality and speed of recall on labelled questions: real log files, the real index, the real
search.

`python -m benchmarks recall [--data FOLDER] [--now YYYY-MM-DD] [--postgres URL]`. FOLDER holds
*.json, each a list of people: {"name", "docs": [{"id", "date": "YYYY-MM-DD HH:MM", "session",
"speaker", "text"}], "questions": [{"q", "evidence"}]}, where evidence lists the ids of docs.
"""

import argparse
import asyncio
import json
import re
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks import recall_rows
from benchmarks.measurement import Measurement, table
from memory.recall.documents import Passage, SearchRequest
from memory.recall.index import RecallDependencies, SpaceIndexes
from memory.recall.keepers.files import FileIndexes
from memory.recall.search import Recall
from memory.store.open import open_store
from memory.text.word_forms import index_terms, search_terms
from memory.workspace.daily_log import LOG_FOLDER
from memory.workspace.files import Workspace

OWN = Path(__file__).parent / "data" / "recall"
DEPTH = 200
RANKS = (1, 3, 5, 10, 20)
COLUMNS = (*(f"R@{rank}" for rank in RANKS), "B2000", "MRR")
# Required R@5 of a set; other sets must reach that of plain FTS5.
TARGETS: Mapping[str, float] = {"mb_cn": 0.92, "mb_en": 0.90}
PLAIN = "plain FTS5: the same terms, bm25 alone"
_CJK = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """A person's conversations, in order, and questions about them."""

    name: str
    docs: Sequence[Mapping[str, str]]
    questions: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Returned:
    """One search result."""

    #: Of the doc, "" for anything else.
    id: str
    #: Of its text.
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Results of one set."""

    name: str
    questions: int
    #: Number of docs.
    rows: int
    #: Means over its questions, by COLUMNS.
    ours: Mapping[str, float]
    #: The same for plain FTS5.
    plain: Mapping[str, float]
    #: Seconds.
    index: float
    #: Milliseconds of a search.
    p50: float
    p95: float


def main(words: Sequence[str]) -> str:
    """Measure with these command-line arguments; returns the report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks recall")
    parser.add_argument("--data", type=Path, default=OWN, help="folder of question sets")
    parser.add_argument(
        "--now",
        type=datetime.fromisoformat,
        default=datetime.now(),
        help="the day of the questions",
    )
    parser.add_argument(
        "--rows", type=int, nargs="*", default=[1_000, 10_000, 100_000], help="sizes to time at"
    )
    parser.add_argument(
        "--postgres", metavar="URL", default="", help="measure the index in this PostgreSQL instead"
    )
    given = parser.parse_args(words)
    shared = _postgres(given.postgres) if given.postgres else None
    now = given.now.replace(tzinfo=UTC)
    sets = [asyncio.run(measured(path, now, shared)) for path in sorted(given.data.glob("*.json"))]
    measurements = [to_measurement(one) for one in sets]
    timed, notes = (
        asyncio.run(recall_rows.figures(given.rows, now, shared)) if given.rows else ([], [])
    )
    if shared:
        shared.close()
    return "\n\n".join(["\n".join(format_sets(sets)), table([*measurements, *timed]), *notes])


def _postgres(url: str) -> Any:
    """Open the indexes in PostgreSQL, whose driver is an extra."""
    from memory.store.postgres.index_keeper import PostgresSharedIndexes

    return PostgresSharedIndexes(url)


def format_sets(sets: Iterable[Measured]) -> list[str]:
    """Format a line for each set, and one for plain FTS5."""
    lines = [
        f"{'recall of labelled evidence':<28}{'n':>5}{'rows':>7}"
        + "".join(f"{name:>7}" for name in COLUMNS)
    ]
    lines[0] += f"{'index s':>9}{'p50 ms':>8}{'p95 ms':>8}"
    for one in sets:
        times = f"{one.index:>9.2f}{one.p50:>8.2f}{one.p95:>8.2f}"
        lines.append(f"{one.name:<28}{one.questions:>5}{one.rows:>7}{_cells(one.ours)}{times}")
        lines.append(f"{'  plain FTS5':<40}{_cells(one.plain)}")
    return lines


def to_measurement(one: Measured) -> Measurement:
    """Compare the R@5 of a set with its target."""
    floor = one.plain["R@5"]
    target = TARGETS.get(one.name, floor)
    return Measurement(
        name=f"{one.name}, R@5",
        ours=one.ours["R@5"],
        floor=floor,
        unit="share",
        must=target,
        aim=target,
        floor_is=PLAIN,
        more=True,
    )


async def measured(path: Path, now: datetime, shared: SpaceIndexes | None = None) -> Measured:
    """Measure one set, each person in a workspace of their own.

    Args:
        shared: the PostgreSQL indexes, None for an index file.
    """
    ours: list[Mapping[str, float]] = []
    plain: list[Mapping[str, float]] = []
    times: list[float] = []
    index = 0.0
    people = read(path)
    for person in people:
        async with opened(shared) as (workspace, recall):
            places = write(workspace, person)
            began = time.perf_counter()
            await recall.refresh("")
            index += time.perf_counter() - began
            for question in person.questions:
                request = SearchRequest(space="", query=question["q"], now=now, limit=DEPTH)
                began = time.perf_counter()
                passages = await recall.search(request)
                times.append(time.perf_counter() - began)
                ours.append(score(mapped(passages, places), set(question["evidence"])))
        plain += [score(found, set(asked["evidence"])) for asked, found in _plainly(person)]
    return Measured(
        name=path.stem,
        questions=len(ours),
        rows=sum(len(person.docs) for person in people),
        ours=means(ours),
        plain=means(plain),
        index=index,
        p50=1_000 * statistics.median(times),
        p95=1_000 * sorted(times)[int(len(times) * 0.95)],
    )


def read(path: Path) -> list[Person]:
    """Read the people of a set."""
    people = json.loads(path.read_text(encoding="utf-8"))
    return [
        Person(name=one["name"], docs=one["docs"], questions=one["questions"]) for one in people
    ]


@asynccontextmanager
async def opened(shared: SpaceIndexes | None = None) -> AsyncIterator[tuple[Workspace, Recall]]:
    """Open recall over an empty workspace and an empty store."""
    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace(Path(folder) / "workspace")
        store = await open_store(Path(folder) / "mnema.db")
        index = Path(folder) / "index"
        recall = Recall(
            RecallDependencies(
                store=store, workspace=workspace, indexes=shared or FileIndexes(index), zone=UTC
            )
        )
        await recall.forget("")
        try:
            yield workspace, recall
        finally:
            await recall.forget("")
            await recall.close()
            await store.close()


def write(workspace: Workspace, person: Person) -> dict[tuple[str, int], str]:
    """Write a person's docs as daily logs, a section per session; returns the doc at each path and
    line.
    """
    logs: dict[str, list[str]] = {}
    places: dict[tuple[str, int], str] = {}
    section = ("", "")
    for doc in person.docs:
        day, clock = doc["date"].split()
        path = f"{LOG_FOLDER}/{day}.md"
        lines = logs.setdefault(path, [f"# {day}"])
        if (path, doc["session"]) != section:
            section = (path, doc["session"])
            lines += ["", f"## {clock} · {doc['session']}", ""]
        lines.append(f"- {clock} {doc['speaker']}: {' '.join(doc['text'].split())}")
        places[path, len(lines)] = doc["id"]
    files = workspace.space("")
    for path, lines in logs.items():
        files.write(path, "\n".join([*lines, ""]), None)
    return places


def mapped(passages: Iterable[Passage], places: Mapping[tuple[str, int], str]) -> list[Returned]:
    """Map search results to docs."""
    return [
        Returned(id=places.get((one.path, one.line), ""), tokens=tokens(one.text))
        for one in passages
    ]


def score(found: Sequence[Returned], evidence: set[str]) -> dict[str, float]:
    """Score one question.

    R@k: the share of the evidence among the first k results. B2000: its share within the first
    2,000 tokens of the results. MRR: 1 / rank of the first evidence, 0 if there is none. Every
    result takes a rank, repeats too, and counts as evidence once.
    """
    firsts: dict[str, int] = {}
    for rank, one in enumerate(found, 1):
        firsts.setdefault(one.id, rank)
    ranks = sorted(firsts[id] for id in evidence if id in firsts)
    spent, within = 0, 0
    for rank, one in enumerate(found, 1):
        spent += one.tokens
        if spent > 2_000:
            break
        within = rank
    shares = {f"R@{k}": sum(rank <= k for rank in ranks) / len(evidence) for k in RANKS}
    return {
        **shares,
        "B2000": sum(rank <= within for rank in ranks) / len(evidence),
        "MRR": 1 / ranks[0] if ranks else 0.0,
    }


def means(scores: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the mean of each column over all questions."""
    return {name: statistics.fmean(one[name] for one in scores) for name in COLUMNS}


def tokens(text: str) -> int:
    """Estimate tokens: one for each Chinese, Japanese or Korean character, one for four others."""
    wide = len(_CJK.findall(text))
    return wide + -(-(len(text) - wide) // 4)


def _plainly(person: Person) -> Iterable[tuple[Mapping[str, Any], list[Returned]]]:
    """Yield each question with the results of plain FTS5."""
    texts = [f"[{doc['date']}] {doc['speaker']}: {doc['text']}" for doc in person.docs]
    speakers = {doc["speaker"] for doc in person.docs}
    with closing(
        recall_rows.plain_index(" ".join(index_terms(doc["text"])) for doc in person.docs)
    ) as base:
        for question in person.questions:
            rows = recall_rows.plain_search(base, search_terms(question["q"], speakers), DEPTH)
            yield (
                question,
                [Returned(id=person.docs[row]["id"], tokens=tokens(texts[row])) for row in rows],
            )


def _cells(means: Mapping[str, float]) -> str:
    return "".join(f"{means[name]:>7.3f}" for name in COLUMNS)
