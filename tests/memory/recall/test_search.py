"""Search finds what is in the files and what was said, of one space only, and not what was cleared."""

from dataclasses import replace
from datetime import UTC

import pytest

from memory.context.counter import WEIGHTED
from memory.fold import Folder
from memory.recall.search import search
from memory.store.open import open_store
from memory.workspace import Workspace
from tests.memory.talking import PLACE, fold_plan, talk


@pytest.fixture
async def store(tmp_path):
    opened = await open_store(tmp_path / "m.db")
    yield opened
    await opened.close()


@pytest.fixture
def workspace(tmp_path):
    made = Workspace(tmp_path / "ws")
    made.space("").write("MEMORY.md", "# Memory\n\n## 偏好\n\n- 用户喜欢喝龙井茶\n- likes hiking\n", None)
    return made


async def fold(store, workspace, conversation, first, last):
    async def nobody(system, prompt, most):
        return ""

    folder = Folder(
        folds=store.folds,
        sessions=store.sessions,
        workspace=workspace,
        complete=nobody,
        counter=lambda: WEIGHTED,
        zone=UTC,
    )
    return await folder.carry(await folder.start(await fold_plan(store, conversation, first, last)), extract=True)


async def test_a_memory_is_found_with_file_and_line(store, workspace):
    (found, *_) = await search(store, workspace, "", "我喜欢喝什么茶？", 5)
    assert (found.path, found.line, found.turn, found.text) == ("MEMORY.md", 5, 0, "用户喜欢喝龙井茶")


async def test_what_was_said_is_found_with_turn_and_date(store, workspace):
    conversation = await talk(store, [("我弟弟在柏林读建筑", "真好"), ("天气", "晴")])
    (found, *_) = await search(store, workspace, "", "弟弟在哪个城市读建筑", 5)
    assert (found.path, found.turn, found.conversation) == ("", 1, conversation)
    assert "我弟弟在柏林读建筑" in found.text
    assert found.date == found.text[1:11]


async def test_the_daily_log_is_found_with_its_day(store, workspace):
    workspace.space("").write("memory/2025-01-02.md", "## Notes\n- bought a red canoe\n", None)
    (found,) = await search(store, workspace, "", "what colour is the canoe", 5)
    assert (found.path, found.line, found.date) == ("memory/2025-01-02.md", 2, "2025-01-02")


async def test_another_space_is_never_looked_at(store, workspace):
    other = replace(PLACE, chat_id="c2", space="p2")
    await talk(store, [("my locker code is zebra", "noted")], other)
    workspace.space("p2").write("MEMORY.md", "- the locker is green\n", None)
    assert await search(store, workspace, "", "locker", 5) == []
    assert len(await search(store, workspace, "p2", "locker", 5)) == 2


async def test_what_was_cleared_is_left_out_only_when_nobody_asked(store, workspace):
    conversation = await talk(store, [("my canoe is red", "nice"), ("and my kayak blue", "ok")])
    await fold(store, workspace, conversation, 1, 1)
    await store.sessions.clear(conversation)
    assert await search(store, workspace, "", "canoe kayak", 5, conversation) == []
    asked = await search(store, workspace, "", "canoe kayak", 5)
    assert {bool(passage.path) for passage in asked} == {True, False}


async def test_a_fold_that_was_taken_back_is_found_only_as_what_was_said(store, workspace):
    conversation = await talk(store, [("my canoe is red", "nice"), ("bye", "bye")])
    row = await fold(store, workspace, conversation, 1, 1)
    (workspace.root / row.log_ref).write_text(
        workspace.space("").read(row.log_ref).text.replace(f"fold {row.id} -->", f"fold {row.id} undone -->")
    )
    assert [passage.path for passage in await search(store, workspace, "", "canoe", 5)] == [""]


async def test_the_end_of_a_long_text_is_found_too(store, workspace):
    await talk(store, [("lorem ipsum " * 400 + "the heron nests by the weir", "ok")])
    (found, *_) = await search(store, workspace, "", "heron weir", 3)
    assert "heron nests" in found.text
    assert len(found.text) < 700
