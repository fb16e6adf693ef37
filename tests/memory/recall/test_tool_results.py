"""What only a tool said is found with its handle, after what people said, and unasked only if
nobody said it.
"""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory.context.taint import OUTSIDE_LABEL
from memory.conversation import UNFINISHED_MARKS, Message, Text, ToolCall, ToolResult
from memory.recall.documents import (
    TOOL_HEAD_CHARACTERS,
    TOOL_PIECE_CHARACTERS,
    TOOL_TAIL_CHARACTERS,
    IndexPosition,
    Passage,
    SearchRequest,
    rows_of_messages,
    split_result,
)
from memory.recall.index import RecallDependencies
from memory.recall.keepers.files import FileIndexes
from memory.recall.search import Recall
from memory.store.open import open_store
from memory.store.postgres.index_keeper import PostgresSharedIndexes
from memory.store.rows import NewInboxRow, PlannedCall, Usage
from memory.store.store import Store
from memory.workspace.files import Workspace
from tests.cases import every_case
from tests.memory.talking import PLACE, draft, talk

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
INVOICE = "customer: Petrel Boats\ninvoice total: 48,213.50 EUR\nshipping code: KX-7731"


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = await open_store(tmp_path / "m.db")
    yield opened
    await opened.close()


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path / "ws")


@pytest.fixture
async def recall(
    store: Store, workspace: Workspace, tmp_path: Path, shared: PostgresSharedIndexes | None
) -> AsyncIterator[Recall]:
    indexes = shared or FileIndexes(tmp_path / "index")
    opened = Recall(RecallDependencies(store=store, workspace=workspace, indexes=indexes, zone=UTC))
    yield opened
    await opened.close()


async def use(
    store: Store,
    text: str,
    *,
    asked: str = "please look",
    answered: str = "Done.",
    chat: str = "c1",
    tool: str = "read_file",
    **arguments: str,
) -> str:
    """A turn in which a tool gives something back; returns the conversation."""
    given = json.dumps(arguments)
    arrival = NewInboxRow(
        place=replace(PLACE, chat_id=chat),
        key=f"{asked} {text[:9]} {given}",
        kind="message",
        sender_id="u1",
        body="{}",
    )
    (stored,) = await store.delivery.accept([arrival])
    turn = await store.delivery.claim(stored.id, draft("user", Text(text=asked)), "owner")
    step = draft("assistant", ToolCall(id="c1", name=tool, input=given), origin="model")
    planned = PlannedCall(call_id="c1", name=tool, input=given, effect="pure")
    (call,) = await store.sessions.add_step(
        turn, step, [planned], Usage(model="m", input=1, output=1)
    )
    await store.sessions.start_calls([call])
    told = draft("user", ToolResult(call_id="c1", text=text), origin="tool")
    await store.sessions.end_calls(turn, [(call, "done")], told)
    assert await store.delivery.finish(
        turn, "done", draft("assistant", Text(text=answered), origin="model"), []
    )
    return stored.conversation


async def found(recall: Recall, query: str, **more: object) -> list[Passage]:
    return await recall.search(SearchRequest(**{"space": "", "query": query, "now": NOW, **more}))


async def unasked(recall: Recall, query: str) -> list[Passage]:
    """What a conversation that has not begun recalls by itself."""
    return await found(recall, query, on_behalf_of="other", hide_live_of="other", limit=10)


@pytest.mark.parametrize(
    "query",
    [
        "48213.50",
        "what was the invoice total?",
        "KX-7731",
        "total in invoice.txt",
        "Petrel Boats customer",
    ],
)
async def test_what_only_a_tool_said_is_found_by_words_numbers_and_the_file_s_name(
    recall: Recall, store: Store, query: str
) -> None:
    conversation = await use(store, INVOICE, path="work/invoice.txt")
    query = query.replace("48213.50", "48,213.50")
    for passages in (await found(recall, query), await unasked(recall, query)):
        [tool] = [passage for passage in passages if passage.kind == "tool"]
        assert "48,213.50" in tool.words
        assert "read_file work/invoice.txt: customer" in tool.text
        assert (tool.conversation, tool.turn, tool.seq, tool.part) == (conversation, 1, 3, 0)
        assert tool.text.startswith(f"{OUTSIDE_LABEL} [{tool.date} ")


async def test_chinese_results_are_found(recall: Recall, store: Store) -> None:
    await use(
        store,
        "合同编号：HT-2093\n租金：每月 7350 元",
        tool="web_fetch",
        url="https://example.org/合同",
        chat="c2",
    )
    [tool] = [
        passage
        for passage in await unasked(recall, "合同里的租金每月多少？")
        if passage.kind == "tool"
    ]
    assert "7350" in tool.words


async def test_people_s_words_come_before_a_tool_s(recall: Recall, store: Store) -> None:
    await use(
        store,
        "the canoe club opens at nine, its canoe is blue",
        url="https://a.example",
        tool="web_fetch",
    )
    await talk(store, [("my canoe is red", "nice")], replace(PLACE, chat_id="c2"))
    kinds = [passage.kind for passage in await found(recall, "canoe")]
    assert (kinds[0], "tool" in kinds) == ("said", True)


@pytest.mark.parametrize(
    ("said", "query"),
    [
        ("the invoice total is 48,213.50 EUR", "what was the invoice total?"),
        ("发票总额是 48,213.50 欧元", "发票总额是多少？"),
    ],
)
async def test_a_tool_s_result_is_not_recalled_where_somebody_s_words_answer(
    recall: Recall, store: Store, workspace: Workspace, said: str, query: str
) -> None:
    result = f"{INVOICE}\n发票总额：48,213.50"
    await use(store, result, path="invoice.txt")
    assert "tool" in {passage.kind for passage in await unasked(recall, query)}
    for turn in ((said, "noted"), ("please look", said)):
        await talk(store, [turn], replace(PLACE, chat_id=f"c{len(turn[0])}"))
        assert {passage.kind for passage in await unasked(recall, query)} == {"said"}
    workspace.space("").write("MEMORY.md", f"- {said}\n", None)
    assert "tool" not in {passage.kind for passage in await unasked(recall, query)}


async def test_the_request_that_a_tool_was_called_for_is_no_answer(
    recall: Recall, store: Store
) -> None:
    await use(store, INVOICE, asked="look up the invoice total in invoice.txt", path="invoice.txt")
    passages = await unasked(recall, "look up the invoice total in invoice.txt")
    assert "48,213.50" in "".join(passage.words for passage in passages)


async def test_an_answer_that_repeats_the_figure_is_enough(recall: Recall, store: Store) -> None:
    await use(
        store,
        INVOICE,
        asked="what is the invoice total?",
        answered="It is 48,213.50 EUR in total.",
        path="i.txt",
    )
    assert {passage.kind for passage in await unasked(recall, "what was the invoice total?")} == {
        "said"
    }


@pytest.mark.parametrize("tool", ["memory_search", "memory_get", "recall"])
async def test_what_memory_s_own_tools_repeat_is_no_row_of_its_own(
    recall: Recall, store: Store, tool: str
) -> None:
    await use(store, INVOICE, tool=tool, query="invoice")
    assert [
        passage for passage in await found(recall, "invoice total") if passage.kind == "tool"
    ] == []


async def test_a_long_result_is_found_at_both_its_ends_and_has_few_rows(
    recall: Recall, store: Store
) -> None:
    filler = "".join(f"line {number} of the report\n" for number in range(40_000))
    await use(
        store, f"the heron nests\n{filler}the otter swims\n{filler}the eagle flies", path="log.txt"
    )
    assert (
        await recall.refresh("")
        < 2 + 1.5 * (TOOL_HEAD_CHARACTERS + TOOL_TAIL_CHARACTERS) / TOOL_PIECE_CHARACTERS
    )
    for bird, is_found in (("heron", True), ("otter", False), ("eagle", True)):
        assert any(bird in passage.words for passage in await found(recall, bird)) is is_found


async def test_tools_do_not_change_how_people_s_words_rank(recall: Recall, store: Store) -> None:
    chats = [
        ("the red canoe leaks", "a pity"),
        ("a blue canoe is for sale", "nice"),
        ("the weir is closed", "ok"),
    ] * 3
    await talk(store, chats, replace(PLACE, chat_id="c2"))
    queries = ("the red canoe", "is a canoe for sale at the weir", "weir closed")

    async def ranked() -> list[list[str]]:
        found_now = [await found(recall, query, limit=60) for query in queries]
        return [[one.words for one in passages if one.kind == "said"] for passages in found_now]

    before = await ranked()
    for number in range(5):
        await use(
            store,
            "\n".join(f"{number} canoe weir river bank {line} red" for line in range(300)),
            path="x",
        )
    assert await ranked() == before


async def test_a_deleted_conversation_takes_its_tools_results_along(
    recall: Recall, store: Store
) -> None:
    conversation = await use(store, INVOICE, path="invoice.txt")
    assert await found(recall, "KX-7731")
    await store.sessions.delete(conversation)
    assert (await found(recall, "KX-7731"), await recall.refresh("")) == ([], 0)
    assert await recall.check("") == ""


def test_a_result_knows_its_call_also_where_a_page_begins_between_them() -> None:
    at = datetime(2026, 11, 20, tzinfo=UTC)
    call = Message(
        id="m1",
        seq=1,
        turn=1,
        role="assistant",
        at=at,
        parts=(ToolCall(id="c1", name="exec", input='{"command": "df -h"}'),),
    )
    result = Message(id="m2", seq=2, turn=1, role="user", at=at, origin="tool",
                     parts=(ToolResult(call_id="c1", text="/dev/sda1 83%"),))  # fmt: skip
    whole, end = rows_of_messages([call, result], IndexPosition(), UTC)
    first, between = rows_of_messages([call], IndexPosition(), UTC)
    rest, until = rows_of_messages([call, result], between, UTC)
    assert (first + rest, until) == (whole, end)
    assert [row.subject for row in whole] == ["exec df -h"]


def test_each_piece_of_an_unfinished_answer_has_its_mark_once() -> None:
    mark = UNFINISHED_MARKS["stopped"]
    said = Message(
        id="m1",
        seq=1,
        turn=1,
        role="assistant",
        at=datetime(2026, 11, 20, tzinfo=UTC),
        origin="stopped",
        parts=(Text(text="a fox slept here. " * 120), Text(text=mark)),
    )
    rows, _ = rows_of_messages([said], IndexPosition(), UTC)
    assert len(rows) > 2
    assert [row.words.count(mark) for row in rows] == [1] * len(rows)


@every_case(
    "text", ["", "\n\n", "—\n", "one line", "a" * 5_000, "row 1,2,3\n" * 9_000, "句子。" * 3_000]
)
def test_pieces_are_short_and_lose_nothing_up_to_the_cap(text: str) -> None:
    pieces = list(split_result(text))
    assert all(0 < len(piece) <= TOOL_PIECE_CHARACTERS for piece in pieces)
    joined = "".join("".join(pieces).split())
    wanted = "".join(text.split())
    if any(map(str.isalnum, text)) and len(text) <= TOOL_HEAD_CHARACTERS + TOOL_TAIL_CHARACTERS:
        assert joined == wanted
    assert len(joined) <= TOOL_HEAD_CHARACTERS + TOOL_TAIL_CHARACTERS
