"""Words that are forgotten while facts are extracted from a turn are not stored as facts."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest

from memory.forgetting.forget import ForgetService
from memory.longterm.extraction import ExtractionRules
from memory.longterm.extraction_worker import ExtractionSettings, ExtractionWorker
from memory.longterm.memories import Memories, MemoryCandidate, UpsertResult
from memory.workspace.files import Workspace
from tests.memory.forgetting.conftest import NOW, SeededHome

CASES = [
    (
        "My secret garden is in Xanadu, at number 17 of the old road",
        "The user's garden is in Xanadu",
        "Xanadu",
    ),
    ("我的秘密花园在桃花源，老路十七号，门口有一棵柳树", "用户的秘密花园在桃花源", "桃花源"),
]


class Meddled(Memories):
    """A memory whose write waits for the test."""

    def __init__(self, home: SeededHome) -> None:
        workspace = Workspace(home.workspace)
        super().__init__(
            "", records=home.store.memories, workspace=workspace, similarity=lambda: 0.85
        )
        self.coming, self.go = asyncio.Event(), asyncio.Event()

    async def upsert(self, candidate: MemoryCandidate) -> UpsertResult:
        self.coming.set()
        await self.go.wait()
        return await super().upsert(candidate)


def extracting(
    home: SeededHome, memories: Memories, facts: Sequence[tuple[str, str]], storing: asyncio.Lock
) -> ExtractionWorker:
    async def complete(*_: object) -> str:
        made = [
            {
                "category": "fact",
                "content": content,
                "importance": 8,
                "source": source,
                "replaces": [],
            }
            for source, content in facts
        ]
        return json.dumps(made, ensure_ascii=False)

    return ExtractionWorker(
        extractions=home.store.extractions,
        sessions=home.store.sessions,
        memories=lambda space: memories,
        complete=complete,
        settings=lambda: ExtractionSettings(extract=True, rules=ExtractionRules()),
        storing=storing,
    )


async def forget(home: SeededHome, query: str, forgetter: ForgetService) -> None:
    asker, code = await home.ask(query)
    row = await forgetter.find_request(asker, code)
    assert row is not None
    await forgetter.confirm(row)


@pytest.mark.parametrize(("said", "noted", "query"), CASES)
async def test_a_confirmation_waits_for_the_line_under_way_and_takes_it_too(
    home: SeededHome, said: str, noted: str, query: str
) -> None:
    await home.talk((said, "A fine place."))
    memories, lock = Meddled(home), asyncio.Lock()
    work = extracting(home, memories, [(said, noted)], lock)
    assert await work.step("")
    storing = asyncio.create_task(work.step(""))
    await memories.coming.wait()

    @asynccontextmanager
    async def quiet(space: str) -> AsyncIterator[None]:
        memories.go.set()
        yield

    forgetter = ForgetService(
        store=home.store,
        workspace=Workspace(home.workspace),
        recall=home.recall,
        blobs=home.blobs,
        data=home.root / "data",
        now=lambda: NOW,
        detach=lambda conversation: asyncio.sleep(0),
        quiet=quiet,
        storing=lock,
    )
    await forget(home, query, forgetter)
    assert await storing
    assert await home.store.extractions.counts() == {"done": 1}, "it came before"
    assert home.holds(query) == []


@pytest.mark.parametrize(("said", "noted", "query"), CASES)
async def test_a_line_that_comes_after_another_process_forgot_is_taken_out(
    home: SeededHome, said: str, noted: str, query: str
) -> None:
    await home.talk((said, "A fine place."))
    memories = Meddled(home)
    work = extracting(home, memories, [(said, noted)], asyncio.Lock())
    assert await work.step("")
    storing = asyncio.create_task(work.step(""))
    await memories.coming.wait()
    await forget(home, query, home.forgetter)
    memories.go.set()
    assert await storing, "the next row is not kept waiting"
    assert query not in (home.workspace / "MEMORY.md").read_text()
    assert await memories.list() == []
    assert await home.store.extractions.counts() == {"skipped": 1}


async def test_of_two_facts_none_is_noted_once_the_turn_is_forgotten(home: SeededHome) -> None:
    said = "My secret garden is in Xanadu by the lake. I have a dog called Rex and two old cats."
    await home.talk((said, "A fine place."))
    memories = Meddled(home)
    facts = [
        ("I have a dog called Rex", "The user has a dog called Rex"),
        (said[:41], "The user's garden is in Xanadu"),
    ]
    work = extracting(home, memories, facts, asyncio.Lock())
    assert await work.step("")
    await memories.add("fact", "The user plays chess on Mondays")
    storing = asyncio.create_task(work.step(""))
    await memories.coming.wait()
    await forget(home, "Xanadu", home.forgetter)
    memories.go.set()
    assert await storing
    assert [row.text for row in await memories.list()] == ["The user plays chess on Mondays"]
    assert home.holds("Xanadu") == []
