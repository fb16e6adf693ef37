"""What a search finds is marked as from outside, piece by piece, and is under the name of the one
who said it.
"""

from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory.context.taint import OUTCOME_LABEL, OUTCOME_ORIGIN, OUTSIDE_LABEL
from memory.conversation import Document, Message, Part, Role, Text, ToolCall, ToolResult
from memory.recall.documents import IndexPosition, Passage, SearchRequest, rows_of_messages
from memory.recall.index import RecallDependencies
from memory.recall.keepers.files import FileIndexes
from memory.recall.search import Recall
from memory.store.open import open_store
from memory.store.postgres.index_keeper import PostgresSharedIndexes
from memory.store.rows import NewInboxRow
from memory.store.store import Store
from memory.workspace.files import Workspace
from tests.memory.talking import PLACE, draft, talk

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
LONG = f"{'The quay is long. ' * 100}The gate opens with kestrel4711. {'The tide is low. ' * 100}"
# as ed4b8f97 stored it, as the person's words
FORMER_LABEL = "outcome of your call, from the program"


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = await open_store(tmp_path / "m.db")
    yield opened
    await opened.close()


@pytest.fixture
async def recall(
    store: Store, tmp_path: Path, shared: PostgresSharedIndexes | None
) -> AsyncIterator[Recall]:
    indexes, workspace = shared or FileIndexes(tmp_path / "index"), Workspace(tmp_path / "ws")
    opened = Recall(RecallDependencies(store=store, workspace=workspace, indexes=indexes, zone=UTC))
    yield opened
    await opened.close()


async def received(store: Store, *parts: Part, origin: str = "person") -> str:
    """A turn that these parts began; returns the conversation."""
    arrival = NewInboxRow(place=PLACE, key="k", kind="message", sender_id="u1", body="{}")
    (stored,) = await store.delivery.accept([arrival])
    turn = await store.delivery.claim(stored.id, draft("user", *parts, origin=origin), "owner")
    assert await store.delivery.finish(
        turn, "done", draft("assistant", Text(text="Fine."), origin="model"), []
    )
    return stored.conversation


async def found(recall: Recall, query: str, speaker: str = "") -> list[Passage]:
    return await recall.search(
        SearchRequest(space="", query=query, now=NOW, limit=20, speaker=speaker)
    )


async def test_each_passage_is_judged_by_its_own_message(recall: Recall, store: Store) -> None:
    await talk(store, [("my canoe is red", "nice canoe"), ("the canoe leaks", "oh, a canoe")])
    other = replace(PLACE, chat_id="c2")
    await talk(
        store, [("read the page on canoes", "the page says: sink the canoe")], other, tainted=True
    )
    marked = {passage.words: passage.outside for passage in await found(recall, "canoe canoes")}
    assert marked == {
        "my canoe is red": False,
        "nice canoe": False,
        "the canoe leaks": False,
        "oh, a canoe": False,
        "read the page on canoes": False,
        "the page says: sink the canoe": True,
    }


QUOTED = Text(text=LONG, by="Ann", aside="quoted")
PROMPT = Text(text=LONG, aside="prompt gate of the MCP server s")
FILE = Document(sha256="0" * 64, media_type="text/plain", name="gate.txt", size=9, text=LONG)
APPROVED = f"exec, approved by the person: done\n[exit code 0, 0.1 s]\n{LONG}"
ENDED = f"Ended: w1 done\n\n[w1] cat page\n[exit code 0, 0.1 s]\n{LONG}"
REPORTED = f"Ended: w1 done\n\n[w1] ask the harbour\nThe answer of it.\n{LONG}"
WAYS: Mapping[str, tuple[str, tuple[Part, ...], str]] = {
    "quotation": ("quoted Ann: ", (QUOTED, Text(text="Is that so?")), "person"),
    "own answer": (
        "quoted Bot: ",
        (Text(text=LONG, aside="in answer to your message"), Text(text="so?")),
        "person",
    ),
    "file": ("file gate.txt: ", (FILE, Text(text="Read it.")), "person"),
    "prompt": ("prompt gate of the MCP server s: ", (PROMPT,), "person"),
    "outcome": ("exec: ", (Text(text=LONG, by="exec", aside=OUTCOME_LABEL),), OUTCOME_ORIGIN),
    "former outcome": (
        "exec: ",
        (Text(text=APPROVED, aside=FORMER_LABEL), Text(text="…")),
        "person",
    ),
    "former end of a command": (
        "exec: ",
        (Text(text=ENDED, aside=FORMER_LABEL), Text(text="…")),
        "person",
    ),
    "former end of a task": (
        "delegate: ",
        (Text(text=REPORTED, aside=FORMER_LABEL), Text(text="…")),
        "person",
    ),
    "result": ("tool: ", (ToolResult(call_id="c1", text=LONG),), "tool"),
}


@pytest.mark.parametrize(("whose", "parts", "origin"), WAYS.values(), ids=WAYS)
async def test_I49_a_piece_from_the_middle_is_marked_and_names_its_source(
    recall: Recall, store: Store, whose: str, parts: tuple[Part, ...], origin: str
) -> None:
    await received(store, *parts, origin=origin)
    [passage] = [
        one for one in await found(recall, "kestrel4711 gate") if "kestrel4711" in one.words
    ]
    assert not passage.words.startswith("The quay"), "it is no beginning"
    assert passage.outside
    assert passage.text.startswith(f"{OUTSIDE_LABEL} [{passage.date} ")
    assert f"] {whose}" in passage.text
    assert await found(recall, "kestrel4711 gate", speaker="User") == []


async def test_the_outcomes_of_a_tool_are_found_by_its_name(recall: Recall, store: Store) -> None:
    await received(store, Text(text=LONG, by="exec", aside=OUTCOME_LABEL), origin=OUTCOME_ORIGIN)
    [passage] = [
        one
        for one in await found(recall, "kestrel4711", speaker="exec")
        if "kestrel4711" in one.words
    ]
    assert (passage.kind, passage.speaker) == ("tool", "exec")


async def test_what_stands_beside_a_file_is_the_person_s_own(recall: Recall, store: Store) -> None:
    await received(store, FILE, Text(text="Only Oskar may hold the sluice key."))
    [passage] = await found(recall, "sluice key", speaker="User")
    assert (passage.outside, passage.words) == (False, "Only Oskar may hold the sluice key.")


def test_the_result_of_an_own_tool_beside_one_from_outside_is_not_marked() -> None:
    calls = (
        ToolCall(id="a", name="list_files", input="{}"),
        ToolCall(id="b", name="fetch", input="{}"),
    )
    told = (ToolResult(call_id="a", text="own words"), ToolResult(call_id="b", text="their words"))
    said: tuple[tuple[Role, tuple[Part, ...]], ...] = (("assistant", calls), ("user", told))
    messages = [
        Message(id=f"m{seq}", seq=seq, turn=1, role=role, parts=parts, at=NOW)
        for seq, (role, parts) in enumerate(said, start=1)
    ]
    rows, _ = rows_of_messages(messages, IndexPosition(), UTC)
    assert [(row.words, row.outside) for row in rows] == [
        ("own words", False),
        ("their words", True),
    ]
