"""Quality and speed of recall on labelled questions: real log files, the real index, the real
search.

`python -m benchmarks recall [--data FOLDER | --fetch COPY…] [--now YYYY-MM-DD] [--postgres URL]
[--stored] [--vectors [--cache FILE]]`

FOLDER holds *.json, each a list of people: {"name", "docs": [{"id", "date": "YYYY-MM-DD HH:MM",
"session", "speaker", "text"}], "questions": [{"q", "evidence", "kind"}]}, where evidence lists the
ids of docs and the kind may be missing. A text of two parts around EXCHANGE is a person's message
and the bot's answer: two rows, as the product indexes them. COPY is a copy of a public repository,
see benchmarks.recall_copies. With --stored what is searched are stored conversations instead of
daily logs. With --vectors all rows are embedded by the model on this machine first, which takes 0.1
to 0.4 s of CPU each; FILE holds the vectors for the next run, also of one that was stopped. No set
may fall below plain full-text search, and no kind of question by more than MAX_BELOW questions;
otherwise TargetMissed is raised.
"""

import argparse
import asyncio
import hashlib
import json
import re
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import recall_rows
from benchmarks.embedding_cache import CachingEmbedder
from benchmarks.measurement import Measurement, TargetMissed, table
from benchmarks.recall_copies import convert_copy
from benchmarks.recall_people import (
    Location,
    Person,
    read_people,
    store_conversation,
    write_logs,
)
from bot.models.embedding.local import LocalEmbedder
from memory.recall.documents import Passage, SearchRequest, split_pieces
from memory.recall.index import RecallDependencies, SpaceIndexes
from memory.recall.keepers.files import FileIndexes
from memory.recall.search import Recall
from memory.recall.vectors import Embedder, VectorSearch
from memory.store.open import open_store
from memory.store.store import Store
from memory.text.word_forms import index_terms, search_terms
from memory.workspace.files import Workspace

OWN = Path(__file__).parent / "data" / "recall"
# Messages that ask for nothing that was said: a hundred in English, a hundred in Chinese.
SMALL_TALK = Path(__file__).parent / "data" / "small_talk.json"
DEPTH = 200
QUESTION_SECONDS = 60.0  # that embedding one may take
RANKS = (1, 3, 5, 10, 20)
COLUMNS = (*(f"R@{rank}" for rank in RANKS), "B2000", "MRR")
# Required R@5 of a set; other sets must reach that of plain FTS5.
TARGETS: Mapping[str, float] = {"mb_cn": 0.95, "mb_en": 0.96, "beam_dev": 0.42}
PLAIN = "plain FTS5: the same pieces and terms, bm25 alone"
NOT_BELOW_PLAIN = ("R@1", "R@5", "B2000", "MRR")  # of a whole set
MAX_BELOW = 2.0  # questions of a kind by which its R@5 may be below that of plain FTS5
# Sets of which one half was used to fit the numbers of ranking: every second person, or every
# second question of one person, from the first on. With the hash of their questions, as other files
# of that name are other sets.
FITTED: Mapping[str, str] = {
    "mb_cn": "54da5588396a919d1147a02f32c605264548442ccd30e17676cec61b4fc5b4b8",
    "mb_en": "aca90b5d042b4aeff3dd48f0221a810a155cffa23c7a86899821a34e82d8ce42",
    "friends": "412fc57bb3eef205a2125398353a750a913034cb7e4e45747dc500e97a820908",
    "beam_dev": "27b24a59a671f512730eba3d435716882072abbe3eb9478226163eeee76bb308",
}
_CJK = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Returned:
    """One search result."""

    #: Of the doc, "" for anything else.
    id: str
    #: Of its text.
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """The scores of one question."""

    kind: str
    #: Whether ranking was fitted on it.
    fitted: bool
    #: By COLUMNS.
    ours: Mapping[str, float]
    #: The same for plain FTS5.
    plain: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Results of one set."""

    name: str
    questions: Sequence[Scored]
    #: Number of docs.
    rows: int
    #: Seconds.
    index: float
    #: Milliseconds of a search.
    p50: float
    p95: float
    #: Share of the messages of SMALL_TALK that recall something by themselves.
    noise: float

    @property
    def ours(self) -> Mapping[str, float]:
        """Means over the questions, by COLUMNS."""
        return means([question.ours for question in self.questions])

    @property
    def plain(self) -> Mapping[str, float]:
        """The same for plain FTS5."""
        return means([question.plain for question in self.questions])

    def parts(self) -> Iterable[tuple[str, Sequence[Scored]]]:
        """Yield the halves of a set that was fitted on, then its kinds, with their questions."""
        fitted = [question for question in self.questions if question.fitted]
        if fitted:
            yield "half that was fitted on", fitted
            yield "other half", [question for question in self.questions if not question.fitted]
        yield from self.kinds()

    def kinds(self) -> Iterable[tuple[str, Sequence[Scored]]]:
        """Yield the kinds of questions, if there are several, with their questions."""
        kinds = sorted({question.kind for question in self.questions})
        for kind in kinds if len(kinds) > 1 else ():
            yield kind, [question for question in self.questions if question.kind == kind]

    def below_plain(self) -> list[str]:
        """Say where this set is below plain FTS5 and must not be."""
        ours, plain = self.ours, self.plain
        found = [
            f"{self.name}: {column} {ours[column]:.3f} is below plain {plain[column]:.3f}"
            for column in NOT_BELOW_PLAIN
            if ours[column] < plain[column]
        ]
        for kind, questions in self.kinds():
            less = sum(one.plain["R@5"] - one.ours["R@5"] for one in questions)
            if less > MAX_BELOW:
                found.append(f"{self.name}, {kind}: R@5 is {less:.1f} questions below plain")
        return found


def main(words: Sequence[str]) -> str:
    """Measure with these command-line arguments; returns the report.

    Raises:
        TargetMissed: a set is below plain FTS5.
    """
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
    parser.add_argument(
        "--vectors", action="store_true", help="search by the model of the extra embeddings too"
    )
    parser.add_argument(
        "--cache", type=Path, help="file of the vectors, which the next run need not make again"
    )
    parser.add_argument(
        "--stored", action="store_true", help="search stored conversations instead of daily logs"
    )
    parser.add_argument(
        "--fetch",
        type=Path,
        nargs="+",
        metavar="COPY",
        help="read the sets of these copies of public repositories instead of those of --data",
    )
    given = parser.parse_args(words)
    shared = _postgres(given.postgres) if given.postgres else None
    now = given.now.replace(tzinfo=UTC)
    embedder = partial(_local_embedder, given.cache) if given.vectors else None
    with tempfile.TemporaryDirectory() as converted:
        notes = [note for copy in given.fetch or () for note in convert_copy(copy, Path(converted))]
        data = Path(converted) if given.fetch else given.data
        sets = [
            asyncio.run(measured(path, now, shared, embedder=embedder, stored=given.stored))
            for path in sorted(data.glob("*.json"))
        ]
    measurements = [to_measurement(one) for one in sets]
    timed, more_notes = (
        asyncio.run(recall_rows.figures(given.rows, now, shared)) if given.rows else ([], [])
    )
    if shared:
        shared.close()
    tables = ["\n".join(format_sets(sets)), table([*measurements, *timed])]
    text = "\n\n".join([*tables, *notes, *more_notes])
    if below := [line for one in sets for line in one.below_plain()]:
        raise TargetMissed("\n".join([text, "", *below]))
    return text


def _postgres(url: str) -> Any:
    """Open the indexes in PostgreSQL, whose driver is an extra."""
    from memory.store.postgres.index_keeper import PostgresSharedIndexes

    return PostgresSharedIndexes(url)


def format_sets(sets: Iterable[Measured]) -> list[str]:
    """Format a line for each set and each part of it, and one for plain FTS5 after each."""
    lines = [
        f"{'recall of labelled evidence':<28}{'n':>5}{'rows':>7}"
        + "".join(f"{name:>7}" for name in COLUMNS)
    ]
    lines[0] += f"{'index s':>9}{'p50 ms':>8}{'p95 ms':>8}"
    for one in sets:
        times = f"{one.index:>9.2f}{one.p50:>8.2f}{one.p95:>8.2f}"
        lines.append(f"{one.name:<28}{len(one.questions):>5}{one.rows:>7}{_cells(one.ours)}{times}")
        lines.append(f"{'  plain FTS5':<40}{_cells(one.plain)}")
        lines.append(f"{'  small talk that recalls something':<40}{one.noise:>7.3f}")
        for name, questions in one.parts():
            ours, plain = (
                [getattr(scored, of) for scored in questions] for of in ("ours", "plain")
            )
            lines.append(f"{'  ' + name:<28}{len(questions):>5}{'':>7}{_cells(means(ours))}")
            lines.append(f"{'    plain FTS5':<40}{_cells(means(plain))}")
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


async def measured(
    path: Path,
    now: datetime,
    shared: SpaceIndexes | None = None,
    *,
    embedder: Callable[[], Embedder] | None = None,
    stored: bool = False,
) -> Measured:
    """Measure one set, each person in a home of their own.

    Args:
        shared: the PostgreSQL indexes, None for an index file.
        embedder: makes one; None to search by words alone.
        stored: search stored conversations instead of daily logs.
    """
    scored: list[Scored] = []
    times: list[float] = []
    index = 0.0
    noise: list[float] = []
    people = read_people(path)
    is_fitted = FITTED.get(path.stem) == hash_questions(people)
    for number, person in enumerate(people):
        async with opened(shared, embedder) as (workspace, store, recall):
            if stored:
                locations = await store_conversation(store, person)
            else:
                locations = write_logs(workspace, person)
            began = time.perf_counter()
            await recall.refresh("")
            await recall.embedded()
            index += time.perf_counter() - began
            noise.append(await share_of_noise(recall, now))
            for at, (question, plain) in enumerate(_plainly(person)):
                request = SearchRequest(space="", query=question["q"], now=now, limit=DEPTH)
                began = time.perf_counter()
                passages = await recall.search(request)
                times.append(time.perf_counter() - began)
                evidence = set(question["evidence"])
                in_half = (number if len(people) > 1 else at) % 2 == 0
                scored.append(
                    Scored(
                        kind=question.get("kind") or question.get("cat") or "",
                        fitted=is_fitted and in_half,
                        ours=score(mapped(passages, locations), evidence),
                        plain=score(plain, evidence),
                    )
                )
    return Measured(
        name=path.stem,
        questions=scored,
        rows=sum(len(person.docs) for person in people),
        index=index,
        p50=1_000 * statistics.median(times),
        p95=1_000 * sorted(times)[int(len(times) * 0.95)],
        noise=statistics.fmean(noise),
    )


def hash_questions(people: Iterable[Person]) -> str:
    """Return the SHA-256 of the questions about each person."""
    asked = [(person.name, person.questions) for person in people]
    text = json.dumps(asked, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


async def share_of_noise(recall: Recall, now: datetime) -> float:
    """Return the share of messages of small talk for which anything is recalled unasked."""
    talk = json.loads(SMALL_TALK.read_text(encoding="utf-8"))
    messages = [text for texts in talk.values() for text in texts]
    found = [
        await recall.search(SearchRequest(space="", query=text, now=now, on_behalf_of="small talk"))
        for text in messages
    ]
    return sum(map(bool, found)) / len(messages)


@asynccontextmanager
async def opened(
    shared: SpaceIndexes | None = None, embedder: Callable[[], Embedder] | None = None
) -> AsyncIterator[tuple[Workspace, Store, Recall]]:
    """Open recall over an empty workspace and an empty store."""
    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace(Path(folder) / "workspace")
        store = await open_store(Path(folder) / "mnema.db")
        index = Path(folder) / "index"
        recall = Recall(
            RecallDependencies(
                store=store, workspace=workspace, indexes=shared or FileIndexes(index), zone=UTC
            ),
            VectorSearch(embedder(), index, lambda: QUESTION_SECONDS) if embedder else None,
        )
        await recall.forget("")
        try:
            yield workspace, store, recall
        finally:
            await recall.forget("")
            await recall.close()
            await store.close()


def _local_embedder(cache: Path | None) -> Embedder:
    """The model on this machine, which may use a whole core."""
    embedder = LocalEmbedder(share=1.0)
    return CachingEmbedder(embedder, cache) if cache else embedder


def mapped(passages: Iterable[Passage], locations: Mapping[Location, str]) -> list[Returned]:
    """Map search results to docs."""
    return [
        Returned(id=locations.get(location_of(one), ""), tokens=tokens(one.text))
        for one in passages
    ]


def location_of(passage: Passage) -> Location:
    """Return where a search result stands."""
    return (passage.path, passage.line) if passage.path else (passage.conversation, passage.seq)


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
    """Yield each question with the results of plain FTS5; of a doc in several pieces the best."""
    pieces = [
        (number, words)
        for number, doc in enumerate(person.docs)
        for words in split_pieces(" ".join(doc["text"].split()))
    ]
    speakers = {doc["speaker"] for doc in person.docs}
    with closing(
        recall_rows.plain_index(" ".join(index_terms(words)) for _, words in pieces)
    ) as base:
        for question in person.questions:
            terms = search_terms(question["q"], speakers)
            best: dict[int, Returned] = {}
            for row in recall_rows.plain_search(base, terms, len(pieces)):
                number, words = pieces[row]
                doc = person.docs[number]
                text = f"[{doc['date']}] {doc['speaker']}: {words}"
                best.setdefault(number, Returned(id=doc["id"], tokens=tokens(text)))
            yield question, list(best.values())[:DEPTH]


def _cells(means: Mapping[str, float]) -> str:
    return "".join(f"{means[name]:>7.3f}" for name in COLUMNS)
