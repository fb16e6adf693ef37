"""Recall finds what is in the files and what was said, of one space only, as things stand at that
moment.
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest

from memory.context.taint import OUTSIDE_LABEL
from memory.context.tokens import WEIGHTED
from memory.folding.runner import FoldRunner
from memory.recall.documents import Passage, SearchRequest
from memory.recall.index import RecallDependencies
from memory.recall.keepers.files import FileIndexes
from memory.recall.search import Recall
from memory.store.open import open_store
from memory.store.postgres.index_keeper import PostgresSharedIndexes
from memory.store.rows import FoldRow
from memory.store.store import Store
from memory.workspace.files import Workspace
from tests.memory.talking import PLACE, fold_plan, talk

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = await open_store(tmp_path / "m.db")
    yield opened
    await opened.close()


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    made = Workspace(tmp_path / "ws")
    made.space("").write(
        "MEMORY.md", "# Memory\n\n## 偏好\n\n- 用户喜欢喝龙井茶\n- likes hiking\n", None
    )
    return made


@pytest.fixture
async def recall(
    store: Store, workspace: Workspace, tmp_path: Path, shared: PostgresSharedIndexes | None
) -> AsyncIterator[Recall]:
    indexes = shared or FileIndexes(tmp_path / "index")
    opened = Recall(RecallDependencies(store=store, workspace=workspace, indexes=indexes, zone=UTC))
    yield opened
    await opened.close()


async def found(recall: Recall, query: str, space: str = "", **more: object) -> list[Passage]:
    return await recall.search(SearchRequest(space=space, query=query, **{"now": NOW, **more}))


async def fold(
    store: Store, workspace: Workspace, conversation: str, first: int, last: int
) -> FoldRow:
    async def nobody(system: str, prompt: str, most: int, conversation: str) -> str:
        return ""

    folder = FoldRunner(
        folds=store.folds,
        sessions=store.sessions,
        workspace=workspace,
        complete=nobody,
        counter=lambda: WEIGHTED,
        zone=UTC,
    )
    row = await folder.start(await fold_plan(store, conversation, first, last))
    assert row
    done = await folder.run_fold(row, extract=True)
    assert done
    return done


async def test_a_memory_is_found_with_file_and_line(recall: Recall) -> None:
    (best, *_) = await found(recall, "我喜欢喝什么茶？")
    assert (best.path, best.line, best.turn, best.text) == ("MEMORY.md", 5, 0, "用户喜欢喝龙井茶")


async def test_a_memory_over_several_lines_is_one(recall: Recall, workspace: Workspace) -> None:
    workspace.space("").write(
        "memory/plans.md", "- sail to Gotland\n  in the red dinghy\n- read\n", None
    )
    (best, *_) = await found(recall, "dinghy")
    assert (best.path, best.line, best.last) == ("memory/plans.md", 1, 2)
    assert best.text == "sail to Gotland in the red dinghy"


async def test_what_was_said_is_found_with_turn_and_date(recall: Recall, store: Store) -> None:
    conversation = await talk(store, [("我弟弟在柏林读建筑", "真好"), ("天气", "晴")])
    (best, *_) = await found(recall, "弟弟在哪个城市读建筑")
    assert (best.path, best.turn, best.conversation, best.kind) == ("", 1, conversation, "said")
    assert "我弟弟在柏林读建筑" in best.text
    assert best.date == best.text[1:11]


async def test_the_daily_log_is_found_with_its_day(recall: Recall, workspace: Workspace) -> None:
    workspace.space("").write("memory/2025-01-02.md", "## Notes\n- bought a red canoe\n", None)
    (best,) = await found(recall, "what colour is the canoe")
    assert (best.path, best.line, best.date) == ("memory/2025-01-02.md", 2, "2025-01-02")


async def test_a_word_is_found_in_its_other_forms_and_by_its_synonyms(
    recall: Recall, workspace: Workspace
) -> None:
    workspace.space("").write(
        "memory/2025-01-02.md", "- Dad bought a canoe\n- a heron nests here\n", None
    )
    assert [
        passage.words for passage in await found(recall, "What did my father buy?", limit=1)
    ] == ["Dad bought a canoe"]


async def test_a_named_day_comes_first_and_a_named_month_weighs_less(
    recall: Recall, workspace: Workspace
) -> None:
    workspace.space("").write("memory/2025-05-02.md", "- a walk in the rain\n", None)
    others = "- we saw a canoe\n- the canoe regatta was on the red lake\n- I want a canoe\n"
    workspace.space("").write("memory/2025-06-07.md", others, None)
    on_the_day = await found(recall, "Which canoe regatta was on the red lake on 2 May 2025?")
    in_the_month = await found(recall, "Which canoe regatta was on the red lake in May 2025?")
    assert on_the_day[0].date == "2025-05-02"
    assert in_the_month[0].date == "2025-06-07"


async def test_a_dream_s_diary_and_other_files_are_no_memory(
    recall: Recall, workspace: Workspace
) -> None:
    workspace.space("").write("memory/dreams/2025-01-02.md", "- canoe\n", None)
    workspace.space("").write("notes.md", "- canoe\n", None)
    assert await found(recall, "canoe") == []


async def test_I40_another_space_is_never_looked_at(
    recall: Recall, store: Store, workspace: Workspace
) -> None:
    other = replace(PLACE, chat_id="c2", space="p2")
    await talk(store, [("my locker code is zebra", "noted")], other)
    workspace.space("p2").write("MEMORY.md", "- the locker is green\n", None)
    assert await found(recall, "locker") == []
    assert {passage.path for passage in await found(recall, "locker", "p2")} == {
        "spaces/p2/MEMORY.md",
        "",
    }


async def test_I18_what_was_cleared_is_left_out_only_when_nobody_asked(
    recall: Recall, store: Store, workspace: Workspace
) -> None:
    conversation = await talk(store, [("my canoe is red", "nice"), ("and my kayak blue", "ok")])
    await fold(store, workspace, conversation, 1, 1)
    await store.sessions.clear(conversation)
    assert await found(recall, "canoe kayak", on_behalf_of=conversation) == []
    asked = await found(recall, "canoe kayak")
    assert {passage.words for passage in asked} == {"my canoe is red", "and my kayak blue"}


async def test_what_a_conversation_shows_anyway_is_not_recalled_in_it(
    recall: Recall, store: Store
) -> None:
    conversation = await talk(store, [("my canoe is red", "nice")])
    assert await found(recall, "my canoe", on_behalf_of=conversation) == []
    assert await found(recall, "my canoe", hide_live_of=conversation) == []
    assert await found(
        recall,
        "my canoe",
        on_behalf_of=await talk(store, [("hi", "hi")], replace(PLACE, chat_id="c9")),
    )


async def test_a_fold_that_was_taken_back_is_found_only_as_what_was_said(
    recall: Recall, store: Store, workspace: Workspace
) -> None:
    conversation = await talk(store, [("my canoe is red", "nice"), ("bye", "bye")])
    row = await fold(store, workspace, conversation, 1, 1)
    text = workspace.space("").read(row.log_ref).text
    (workspace.root / row.log_ref).write_text(
        text.replace(f"fold {row.id} -->", f"fold {row.id} undone -->")
    )
    assert [passage.path for passage in await found(recall, "canoe")] == [""]


async def test_the_end_of_a_long_text_is_found_too(recall: Recall, store: Store) -> None:
    await talk(store, [("lorem ipsum " * 400 + "the heron nests by the weir", "ok")])
    (best, *_) = await found(recall, "heron weir", limit=3)
    assert "heron nests" in best.text
    assert len(best.text) < 1_100


async def test_what_is_edited_or_deleted_is_so_in_the_very_next_search(
    recall: Recall, workspace: Workspace
) -> None:
    log = workspace.root / "memory" / "2025-03-04.md"
    log.parent.mkdir()
    for word in ("heron", "otter", "eagle"):  # of one length, within one tick of the clock
        log.write_text(f"- saw an {word}\n")
        assert [passage.words for passage in await found(recall, word)] == [f"saw an {word}"]
    assert await found(recall, "heron") == []
    log.unlink()
    assert await found(recall, "eagle") == []


async def test_what_was_just_said_is_in_the_very_next_search(recall: Recall, store: Store) -> None:
    assert await found(recall, "xylophone") == []
    for number in range(3):
        chat = replace(PLACE, chat_id=f"c{number}")
        await talk(store, [(f"xylophone number {number}", "ok")], chat)
        assert len(await found(recall, "xylophone")) == number + 1


async def test_a_deleted_conversation_is_gone_from_the_next_search(
    recall: Recall, store: Store
) -> None:
    conversation = await talk(store, [("my canoe is red", "nice")])
    assert await found(recall, "canoe")
    await store.sessions.delete(conversation)
    assert await found(recall, "canoe") == []


@pytest.mark.parametrize(
    "said", ["好的", "ok", "继续", "嗯嗯，谢谢！", "go on", "OK, thanks", "👍", ""]
)
async def test_what_says_nothing_recalls_nothing(
    recall: Recall, workspace: Workspace, said: str
) -> None:
    workspace.space("").write("memory/2025-01-02.md", f"- {said} 好的 ok 继续 go on thanks\n", None)
    assert await found(recall, said) == []


async def test_little_in_common_is_found_by_whoever_asks_but_not_recalled_unasked(
    recall: Recall, workspace: Workspace
) -> None:
    lines = "".join(f"- note {number} about the garden shed\n" for number in range(40))
    workspace.space("").write("memory/2025-01-02.md", lines, None)
    query = "translate quarterly revenue spreadsheet formulas into the garden language"
    assert await found(recall, query)
    assert await found(recall, query, on_behalf_of="nobody") == []
    assert await found(recall, "what is in the garden shed", on_behalf_of="nobody")


async def test_days_and_speakers_can_be_bounds(recall: Recall, workspace: Workspace) -> None:
    for day in ("2025-01-02", "2025-02-02", "2026-01-02"):
        text = f"- 10:00 Ann: canoe of {day}\n- 10:01 Ben: canoe too\n"
        workspace.space("").write(f"memory/{day}.md", text, None)
    spoken = await found(recall, "canoe", speaker="Ann", since="2025-02-01", until="2025-12-31")
    assert [passage.text for passage in spoken] == ["[2025-02-02 10:00] Ann: canoe of 2025-02-02"]


async def test_the_day_that_is_named_comes_first(recall: Recall, workspace: Workspace) -> None:
    for day, what in (
        ("2025-05-01", "去了海边游泳"),
        ("2025-05-03", "下雨，在家看书"),
        ("2024-05-03", "搬家"),
    ):
        workspace.space("").write(f"memory/{day}.md", f"- 09:00 User: {what}\n", None)
    assert (await found(recall, "2025年5月3日我做了什么？"))[0].date == "2025-05-03"
    assert {passage.date for passage in (await found(recall, "5月3日我做了什么？"))[:2]} == {
        "2025-05-03",
        "2024-05-03",
    }
    assert (await found(recall, "What did I do on May 1st?"))[0].date == "2025-05-01"


async def test_nothing_depends_on_the_day_it_is_looked_for(
    recall: Recall, workspace: Workspace
) -> None:
    for day in ("2023-05-01", "2023-05-02", "2023-05-03"):
        text = (
            f"- 09:00 User: went rowing on {day}\n- 09:01 Bot: well done\n- 10:00 User: read "
            "recently\n"
        )
        workspace.space("").write(f"memory/{day}.md", text, None)
    for query in ("rowing in May", "what have I read recently", "5月2日 rowing", "最近 rowing"):
        then, later = [
            await found(recall, query, now=NOW.replace(year=year), limit=9) for year in (2023, 2029)
        ]
        assert then == later
        assert then


async def test_single_characters_are_found_where_no_pair_is(recall: Recall) -> None:
    assert (await found(recall, "茶"))[0].text == "用户喜欢喝龙井茶"


async def test_a_damaged_index_is_made_anew(
    recall: Recall, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    assert await found(recall, "hiking")
    await recall.close()
    if (file := tmp_path / "index" / "owner.db").exists():
        file.write_bytes(b"not a database" * 1_000)
    else:
        with psycopg.connect(request.getfixturevalue("server"), autocommit=True) as base:
            base.execute("DROP TABLE mnema_index.entry")
    assert await found(recall, "hiking")
    assert await recall.check("") == ""


async def test_a_search_that_is_given_up_leaves_the_next_one_a_ready_index(
    recall: Recall, store: Store
) -> None:
    await talk(store, [(f"canoe {number}", "ok") for number in range(30)])
    task = asyncio.create_task(found(recall, "canoe"))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert sum("canoe" in passage.words for passage in await found(recall, "canoe", limit=50)) == 30


async def test_bad_bytes_and_endless_lines_are_read_as_they_are(
    recall: Recall, workspace: Workspace
) -> None:
    folder = workspace.root / "memory"
    folder.mkdir()
    (folder / "2025-01-02.md").write_bytes(b"\xef\xbb\xbf- 09:00 User: \xff heron\r\n- otter\r\n")
    (folder / "2025-01-03.md").write_bytes(b"- " + b"x " * 5_000_000 + b"\n- eagle\n")
    assert (await found(recall, "heron"))[0].date == "2025-01-02"
    assert (await found(recall, "otter"))[0].line == 2
    assert (await found(recall, "eagle"))[0].line == 2


async def test_a_line_under_the_heading_of_its_day_is_found_by_that_day(
    recall: Recall, workspace: Workspace
) -> None:
    log = (
        "## 08:00 · web · turns 1–9 <!-- fold f1 -->\n\n### 2026-09-14\n- 18:30 User: The boiler "
        "is from 1998.\n"
    )
    log += "### 2026-11-20\n- 07:00 User: The boiler is gone.\n"
    workspace.space("").write("memory/2026-11-20.md", f"# 2026-11-20\n\n{log}", None)
    texts = [
        passage.text
        for passage in await found(recall, "boiler", since="2026-09-01", until="2026-09-30")
    ]
    # of an unknown fold
    assert texts == [f"{OUTSIDE_LABEL} [2026-09-14 18:30] User: The boiler is from 1998."]
    last = f"{OUTSIDE_LABEL} [2026-11-20 07:00] User: The boiler is gone."
    assert last in [passage.text for passage in await found(recall, "boiler gone")]


async def test_words_of_nearly_every_row_do_not_hide_a_rare_one_and_are_found_where_nothing_else_is_asked(  # noqa: E501
    recall: Recall, workspace: Workspace
) -> None:
    lines = [
        f"- 09:{number % 60:02} User: the notes of this morning say {number:04}"
        for number in range(400)
    ]
    lines[123] = "- 09:03 User: the notes of this morning name a kayak at the weir"
    workspace.space("").write(
        "memory/2026-11-18.md", "# 2026-11-18\n\n" + "\n".join(lines) + "\n", None
    )
    asked = await found(recall, "Which of my notes this week named a kayak?")
    assert "kayak" in asked[0].text
    common = await found(recall, "notes", limit=20)
    assert len(common) == 20
    assert {hit.date for hit in common} == {"2026-11-18"}
