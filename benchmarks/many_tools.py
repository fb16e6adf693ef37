"""Finding one of a thousand tools that are too many for the prompt."""

import json
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing

from benchmarks.measurement import Measurement, median
from bot.tools.deferred import Findable, FoundByWords, format_found

TOOLS, ROUNDS = 1_000, 30
QUERY = "close a milestone of a project"
_AREAS = [
    "issue",
    "branch",
    "commit",
    "page",
    "release",
    "label",
    "milestone",
    "pipeline",
    "runner",
    "board",
]
_ACTS = [
    "create",
    "delete",
    "list",
    "update",
    "search",
    "close",
    "reopen",
    "assign",
    "rename",
    "export",
]


async def find_tools() -> list[Measurement]:
    """Measure a search, and the first one, which builds the index."""
    items = _items()
    index = FoundByWords(items)
    index.search(QUERY)
    with closing(sqlite3.connect(":memory:")) as database:
        first_floor = _seconds(lambda: _fill(database, items))
        floor = median(_seconds(lambda: _search(database)) for _ in range(ROUNDS))
    return [
        Measurement(
            name=f"find_tools among {TOOLS:,}",
            ours=1000
            * median(
                _seconds(lambda: format_found(index.search(QUERY), TOOLS)) for _ in range(ROUNDS)
            ),
            floor=1000 * floor,
            unit="ms",
            must=5,
            aim=2,
            floor_is="the same words in SQLite's FTS5",
        ),
        Measurement(
            name=f"first find_tools among {TOOLS:,}",
            ours=1000
            * median(_seconds(lambda: FoundByWords(items).search(QUERY)) for _ in range(3)),
            floor=1000 * first_floor,
            unit="ms",
            floor_is="filling a table of SQLite's FTS5",
        ),
    ]


def _items() -> list[Findable]:
    text = {
        "type": "string",
        "description": "Its value as the project has it, or none to leave it as it is.",
    }
    schema = json.dumps(
        {"type": "object", "properties": {f"field{place}": text for place in range(6)}}
    )
    return [
        Findable(
            name=f"hub__{_ACTS[number % 10]}_{_AREAS[number // 10 % 10]}_{number}",
            origin="hub",
            description=f"{_ACTS[number % 10]} a {_AREAS[number // 10 % 10]} of a project by its number {number}. "  # noqa: E501
            * 3,
            schema=schema,
        )
        for number in range(TOOLS)
    ]


def _fill(database: sqlite3.Connection, items: list[Findable]) -> None:
    database.execute("CREATE VIRTUAL TABLE tool USING fts5(name, description, schema)")
    rows = [(item.name.replace("_", " "), item.description, item.schema) for item in items]
    database.executemany("INSERT INTO tool VALUES (?, ?, ?)", rows)


def _search(database: sqlite3.Connection) -> None:
    words = " OR ".join(QUERY.split())
    database.execute(
        "SELECT * FROM tool WHERE tool MATCH ? ORDER BY bm25(tool, 4) LIMIT 8", (words,)
    ).fetchall()


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
