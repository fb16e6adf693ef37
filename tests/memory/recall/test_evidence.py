"""What a message recalls by itself: a number alone is no reason, and what is said twice is recalled
once.
"""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.recall.documents import Passage, SearchRequest
from memory.recall.index import RecallDependencies
from memory.recall.keepers.files import FileIndexes
from memory.recall.ranking import is_calculation, is_evidence, says_same, specific_numbers
from memory.recall.search import Recall
from memory.store.open import open_store
from memory.store.store import Store
from memory.text.tokenizer import text_terms
from memory.workspace.files import Workspace
from tests.cases import every_case
from tests.memory.talking import PLACE, talk

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
DIARY = """\
- 09:00 User: order 48213 was two brass lamps
- 09:01 User: my sister's phone is 138-1234-5678
- 09:02 User: the ISBN of the bird book is 978-7-111-40701-0
- 09:03 User: the server runs version 3.11.7 now
- 09:04 User: paid $19 for the cap
- 09:05 User: I ran 17 km with 23 people on Sunday
- 09:06 User: there were 3 times as many herons
- 09:07 User: 我的订单号是 60397，买了一双鞋
- 09:08 User: 房租每月 4200 元
- 09:09 User: 我今年 23 岁，住在 17 楼
- 09:10 User: 图书馆的电话是 021-6253-8847
- 09:11 User: 把模型升级到了 2.4.1 版
- 09:12 User: 午饭花了 25 元
- 09:13 User: flat 12 has the blue door
- 11, 23, 17, 42, 128, 64, 12, 9, 144, 3, 7, 15, 19, 25, 80, 300, 2, 256, 99, 50, 4, 5, 6, 8, 10
- id,qty,price,total,17,23,391,4,25,100,12,12,144,80,15,3600,2,10,1024,7
"""
RECALLS = {
    "what was order 48213?": "lamps",
    "48213?": "lamps",
    "whose phone is 138-1234-5678": "sister",
    "138-1234-5678": "sister",
    "which book has ISBN 978-7-111-40701-0?": "bird book",
    "what runs version 3.11.7?": "server",
    "3.11.7": "server",
    "what cost $19?": "cap",
    "What did I buy for $19": "cap",
    "how many people ran 17 km with me on Sunday?": "23 people",
    "how often were there herons": "herons",
    "who lives in flat 12": "blue door",
    "which door has flat 12?": "blue door",
    "how much was the cap": "cap",
    "订单60397买了什么？": "一双鞋",
    "60397是什么？": "一双鞋",
    "房租多少钱？": "4200",
    "哪个是4200元？": "4200",
    "我住几楼？": "17 楼",
    "021-6253-8847是谁的电话？": "图书馆",
    "模型是哪个版本？": "2.4.1",
    "2.4.1是什么？": "模型",
    "午饭花了多少？": "25 元",
    "什么花了25元？": "午饭",
}
RECALLS_NOTHING = [
    "What is 17 times 23?",
    "what's 17 * 23",
    "17 x 23 = ?",
    "calculate 12 plus 25",
    "How much is 15% of 80?",
    "What is the square root of 144?",
    "divide 300 by 25",
    "what is 2 to the power of 10",
    "1024 / 256 = ?",
    "compute the sum of 4, 25 and 100",
    "42?",
    "23",
    "and 17 and 23?",
    "17乘以23等于多少？",
    "17*23=？",
    "25加12是多少",
    "把300除以25",
    "144的平方根是多少？",
    "2的10次方等于几？",
    "帮我算一下128减64",
    "80的百分之15是多少",
    "17呢？",
    "42",
    "12和144",
]


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = await open_store(tmp_path / "m.db")
    yield opened
    await opened.close()


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "ws")


@pytest.fixture
async def recall(store: Store, workspace: Workspace, tmp_path: Path) -> AsyncIterator[Recall]:
    indexes = FileIndexes(tmp_path / "index")
    opened = Recall(RecallDependencies(store=store, workspace=workspace, indexes=indexes, zone=UTC))
    yield opened
    await opened.close()


async def unasked(recall: Recall, query: str) -> list[Passage]:
    """What a conversation that has not begun recalls by itself."""
    request = SearchRequest(
        space="", query=query, now=NOW, limit=5, on_behalf_of="other", hide_live_of="other"
    )
    return await recall.search(request)


@pytest.mark.parametrize(
    ("talk_only", "question", "line"),
    [
        ("That is a good joke, thank you!", "which joke did my uncle tell?", "joke of the parrot"),
        ("太好了，有意思", "我说过什么有意思的展览？", "陶瓷展很有意思"),
    ],
)
async def test_small_talk_recalls_nothing_by_itself_and_its_words_count_in_a_question(
    recall: Recall, workspace: Workspace, talk_only: str, question: str, line: str
) -> None:
    diary = "- 09:00 User: my uncle's joke of the parrot\n- 09:01 User: 上海的陶瓷展很有意思\n"
    workspace.space("").write("memory/2026-11-02.md", diary, None)
    assert await unasked(recall, talk_only) == []
    assert line in (await unasked(recall, question))[0].text
    asked = await recall.search(SearchRequest(space="", query=talk_only, now=NOW))
    assert line in asked[0].text, "a search that is asked for looks for these words"


@pytest.mark.parametrize("query", RECALLS)
async def test_an_identifier_or_a_word_is_a_reason_to_recall(
    recall: Recall, workspace: Workspace, query: str
) -> None:
    workspace.space("").write("memory/2025-01-02.md", DIARY, None)
    assert any(RECALLS[query] in passage.words for passage in await unasked(recall, query))


@pytest.mark.parametrize("query", RECALLS_NOTHING)
async def test_a_bare_number_or_a_calculation_is_none(
    recall: Recall, workspace: Workspace, query: str
) -> None:
    workspace.space("").write("memory/2025-01-02.md", DIARY, None)
    assert [passage.words for passage in await unasked(recall, query)] == []


@pytest.mark.parametrize(
    "query",
    ["how many people ran 17 km with me", "谁住在17楼？", "what was order 48213 of 12 lamps?"],
)
async def test_a_table_is_not_recalled_for_its_numbers(
    recall: Recall, workspace: Workspace, query: str
) -> None:
    table = "".join(
        f"- {','.join(str(17 + 6 * cell) for cell in range(row, row + 40))}\n" for row in range(5)
    )
    workspace.space("").write("memory/2025-01-03.md", table, None)
    workspace.space("").write("memory/2025-01-02.md", DIARY, None)
    words = [passage.words for passage in await unasked(recall, query)]
    assert words
    assert not [line for line in words if line.replace(",", "").replace(" ", "").isdigit()]


async def test_who_asks_still_finds_a_bare_number(recall: Recall, workspace: Workspace) -> None:
    workspace.space("").write("memory/2025-01-02.md", DIARY, None)
    assert await recall.search(SearchRequest(space="", query="17 times 23", now=NOW))


@pytest.mark.parametrize(
    ("memory", "log", "said", "query"),
    [
        (
            "Loves hiking in the Alps",
            "User loves hiking in the Alps",
            "I love hiking in the Alps!",
            "hiking in the Alps",
        ),
        ("用户喜欢喝龙井茶", "我喜欢喝龙井茶", "我喜欢喝龙井茶。", "喜欢喝龙井茶"),
    ],
)
async def test_what_is_in_memory_log_and_turn_is_recalled_once_and_others_get_the_room(
    recall: Recall, store: Store, workspace: Workspace, memory: str, log: str, said: str, query: str
) -> None:
    workspace.space("").write("memory/2025-01-02.md", f"- 09:00 User: {log}\n", None)
    await talk(store, [(said, "好")], replace(PLACE, chat_id="c2"))
    for number in range(6):
        await talk(
            store,
            [(f"trip {number} 第{number}次 {query}", "好")],
            replace(PLACE, chat_id=f"d{number}"),
        )
    without = await unasked(recall, query)
    assert len(without) == 5
    assert len([one for one in without if "trip" not in one.words]) == 1
    workspace.space("").write("MEMORY.md", f"- {memory}\n", None)
    found = await unasked(recall, query)
    assert [one.kind for one in found if "trip" not in one.words] == ["memory"]
    assert len(found) == 5


async def test_of_a_log_line_and_a_turn_the_fuller_one_is_recalled(
    recall: Recall, store: Store, workspace: Workspace
) -> None:
    workspace.space("").write(
        "memory/2025-01-02.md", "- 09:00 User: my sister Ada lives in Leeds with her cat Mo\n", None
    )
    await talk(
        store,
        [("my sister Ada lives in Leeds with her old cat Mo", "I see")],
        replace(PLACE, chat_id="c2"),
    )
    assert [
        one.kind
        for one in await unasked(recall, "where does my sister Ada live?")
        if "Leeds" in one.words
    ] == ["said"]


@every_case(
    ("one", "other", "same"),
    [
        ("I live in Leeds", "User lives in Leeds", True),
        ("我住在上海", "用户居住在上海", True),
        ("I live in Leeds", "I do not live in Leeds", False),
        ("The code is 4711", "The code is 4712", False),
        ("a\nb c d e f", "a", False),
        ("x " * 400, "x " * 400 + "y", False),
    ],
)
def test_rows_say_the_same_in_other_words_but_not_with_other_facts(
    one: str, other: str, same: bool
) -> None:
    left, right = frozenset(text_terms(one)), frozenset(text_terms(other))
    assert says_same(one, left, other, right) is says_same(other, right, one, left) is same


@given(
    st.lists(st.integers(0, 999), min_size=1, max_size=30),
    st.sampled_from(["", "what is ", "and ", "那"]),
)
def test_rows_of_small_numbers_are_never_evidence(numbers: list[int], before: str) -> None:
    row = ",".join(map(str, numbers))
    question = f"{before}{numbers[0]}?"
    assert not is_evidence(set(text_terms(row)), row, specific_numbers(question))


@given(st.integers(1_000, 10**12))
def test_a_long_number_is_evidence_where_it_stands_alone(number: int) -> None:
    wanted = specific_numbers(f"what about {number}")
    assert is_evidence({str(number)}, f"1, {number}, 3", wanted)
    assert not is_evidence({str(number)}, f"1, {number}9, 3", wanted)


@given(st.text(max_size=40))
def test_any_text_can_be_judged(text: str) -> None:
    assert not (is_calculation(text) and not any(map(str.isdigit, text)))
    specific_numbers(text)
