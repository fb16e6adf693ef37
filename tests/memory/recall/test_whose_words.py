"""Whose words come first: the person's own, or what the bot said where that is asked for."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory.recall.documents import SearchRequest
from memory.recall.index import RecallDependencies
from memory.recall.keepers.files import FileIndexes
from memory.recall.question import Question
from memory.recall.search import Recall
from memory.store.open import open_store
from memory.store.postgres.index_keeper import PostgresSharedIndexes
from memory.workspace.files import Workspace
from tests.cases import every_case

NOW = datetime(2025, 6, 1, tzinfo=UTC)
STATED = "I moved the launch of the harbour app to 12 May. How do I tell the team?"
ANSWER = (
    "Tell the team that the launch of the harbour app has moved, say why the launch moved, and "
    "write a new plan for the launch of the app."
)
TOGETHER = "blue bike lock hangs inside hall beside green door under seven hooks"
APART = "blue hooks hangs inside hall bike beside green door under seven lock"
LOG = f"""# 2025-03-03

## 08:10 · 1

- 08:10 User: {STATED}
- 08:11 Bot: {ANSWER}
- 08:12 User: Thanks, and what colour suits my boat?
- 08:13 Bot: Deep green would suit it.

## 20:10 · 2

- 20:10 User: {TOGETHER}
"""


@pytest.fixture
async def recall(tmp_path: Path, shared: PostgresSharedIndexes | None) -> AsyncIterator[Recall]:
    store = await open_store(tmp_path / "mnema.db")
    workspace = Workspace(tmp_path / "workspace")
    files = workspace.space("")
    files.write("memory/2025-03-03.md", LOG, None)
    # of rows that match alike the newer one is the first
    files.write("memory/2025-03-04.md", f"# 2025-03-04\n\n- 09:00 User: {APART}\n", None)
    indexes = shared or FileIndexes(tmp_path / "index")
    opened = Recall(RecallDependencies(store=store, workspace=workspace, indexes=indexes, zone=UTC))
    yield opened
    await opened.close()
    await store.close()


async def found(recall: Recall, query: str) -> list[str]:
    return [
        passage.words
        for passage in await recall.search(SearchRequest(space="", query=query, now=NOW))
    ]


async def test_a_persons_statement_that_ends_in_a_question_comes_before_the_bots_long_answer(
    recall: Recall,
) -> None:
    words = await found(recall, "When is the launch of the harbour app?")
    assert words[0] == STATED
    assert ANSWER in words


async def test_an_answer_of_the_bot_without_a_word_of_the_question_is_found_if_it_is_asked_for(
    recall: Recall,
) -> None:
    answer = "Deep green would suit it."
    assert answer in await found(recall, "Which colour did you suggest for my boat?")
    assert answer not in await found(recall, "Which colour has my boat?")


async def test_words_that_stand_together_count_more_than_the_same_words_apart(
    recall: Recall,
) -> None:
    words = await found(recall, "blue bike lock")
    assert words[:2] == [TOGETHER, APART]


@every_case(
    ("query", "asks_bot"),
    [
        ("What did you recommend for the trip?", True),
        ("Which book have you already mentioned to me?", True),
        ("the plan you've suggested", True),
        ("你之前推荐的是哪本书？", True),
        ("你建议我送什么？", True),
        ("What did I tell you about the trip?", False),
        ("Do you know when my launch is?", False),
        ("我和你说过我住在哪里吗？", False),
        ("我的猫叫什么？", False),
    ],
)
def test_a_question_asks_for_what_the_bot_said_or_does_not(query: str, asks_bot: bool) -> None:
    question = Question.of(SearchRequest(space="", query=query, now=NOW), ())
    assert question.asks_bot is asks_bot
