"""The tools of long-term memory: what they find, whose files they read, and what they refuse to
note.
"""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import ToolFailed
from bot.memory.recall import format_passage, read_copied_passage
from bot.tools.base import MessageContext
from bot.tools.memory import (
    MemoryGetArguments,
    MemoryGetTool,
    MemorySearchArguments,
    MemorySearchTool,
    MemoryWriteArguments,
    MemoryWriteTool,
)
from channels.phrases import AnyPhrase
from memory.recall.documents import Passage
from memory.store.longterm.rows import AccountIdentity
from memory.workspace.daily_log import LogSection, append_section
from tests.bot.remembering import NOON, Shelf, shelf
from tests.cases import every_case
from tests.contracts.store_words import begin, folded, parts, reply, talk

# Literals, so that the product is not compared with itself.
OUTSIDE = "[this holds words from outside]"

SAID = MessageContext(
    message_id="m1",
    channel="web",
    words="Please note: I sail on Sundays!",
    sent=NOON,
    tainted=False,
)


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Shelf]:
    async with shelf(tmp_path) as held:
        yield held


async def say(desk: Shelf, text: str, chat: str, answer: str = "I see.") -> str:
    turn = await begin(desk.store, f"{chat}{text}", chat, text)
    assert await desk.store.delivery.finish(turn, "done", reply(answer), parts(answer))
    return turn.conversation


async def find(desk: Shelf, conversation: str = "", **arguments: Any) -> str:
    return await MemorySearchTool(desk.recall.search, desk.uses).run(
        MemorySearchArguments.parse(arguments), desk.context(conversation, SAID)
    )


async def get(desk: Shelf, space: str = "", **arguments: Any) -> str:
    return await MemoryGetTool(desk.store, desk.workspace, desk.uses).run(
        MemoryGetArguments.parse(arguments), desk.context("", SAID, space)
    )


async def note(desk: Shelf, text: str, said: MessageContext = SAID, category: str = "fact") -> str:
    return await MemoryWriteTool(desk.memories, desk.tell).run(
        MemoryWriteArguments.parse({"category": category, "text": text}), desk.context("c", said)
    )


async def test_a_search_numbers_what_it_finds_with_date_speaker_and_source(desk: Shelf) -> None:
    desk.write("MEMORY.md", "## 偏好 · Preferences\n\n- 喜欢龙井茶\n")
    desk.write("memory/2026-01-05.md", "- 10:12 User: 在西湖边买了龙井茶\n")
    there = await say(desk, "龙井茶用八十度的水", "tea")
    lines = (await find(desk, query="龙井茶")).splitlines()
    assert [line.split(". ")[0] for line in lines[:3]] == ["1", "2", "3"]
    assert any(line.endswith("喜欢龙井茶 (MEMORY.md:3)") for line in lines)
    assert any(
        "[2026-01-05 10:12] User: 在西湖边买了龙井茶 (memory/2026-01-05.md:1)" in line
        for line in lines
    )
    assert any(
        "User: 龙井茶用八十度的水 (turn 1 of another conversation)" in line for line in lines
    )
    # it is in view anyway
    assert "龙井茶用八十度的水" not in await find(desk, there, query="龙井茶")
    assert await find(desk, query="吉他") == "(nothing found)"


async def test_a_search_keeps_to_days_speakers_and_pages(desk: Shelf) -> None:
    desk.write(
        "memory/2026-01-05.md", "- 10:12 User: the boat is blue\n- 10:13 Mara: the boat is red\n"
    )
    desk.write("memory/2026-02-05.md", f"- 09:00 User: the boat sank {'and sank ' * 400}\n")
    assert "blue" not in await find(desk, query="boat", since="2026-02-01")
    assert "sank" not in await find(desk, query="boat", until="2026-01-31")
    only = await find(desk, query="boat", speaker="Mara")
    assert ("red" in only, "blue" in only) == (True, False)
    with pytest.raises(
        ToolFailed, match="`since` must be a day such as 2026-11-20, not 'tomorrow'"
    ):
        await find(desk, query="boat", since="tomorrow")
    with pytest.raises(ToolFailed, match="empty"):
        await find(desk, query="  ")
    with pytest.raises(ToolFailed, match="pages"):
        await find(desk, query="boat", page=9)


async def test_a_search_as_of_a_day_knows_nothing_later(desk: Shelf) -> None:
    desk.write("memory/2026-01-05.md", "- 10:12 User: the boat is blue\n")
    desk.write("memory/2026-02-05.md", "- 09:00 User: the boat sank\n")
    await desk.memories().add("fact", "The boat is called Petrel")
    then = await find(desk, query="boat", as_of="2026-01-31")
    assert ("blue" in then, "sank" in then, "Petrel" in then) == (True, False, False)
    now = await find(desk, query="boat", as_of="2999-01-01")
    assert now.startswith("1. [")
    assert "–] The boat is called Petrel (MEMORY.md)" in now.splitlines()[0]
    with pytest.raises(ToolFailed, match="`as_of` must be a day"):
        await find(desk, query="boat", as_of="3 May")


async def test_lines_of_memory_that_tools_give_count_as_used(desk: Shelf) -> None:
    await desk.memories().add("fact", "The boat is called Petrel")
    await find(desk, query="what is the boat called")
    await get(desk, path="MEMORY.md")
    await desk.uses.settled()
    [row] = await desk.store.memories.rows("")
    assert (row.uses, row.used is None) == (2, False)


async def test_a_memory_file_is_read_by_lines_and_nothing_else_is(desk: Shelf) -> None:
    desk.write("memory/2026-01-05.md", "".join(f"- line {n}\n" for n in range(1, 501)))
    desk.write("secret.md", "- hush\n")
    shown = await get(desk, path="memory/2026-01-05.md", line=100, count=2)
    assert "lines 100-101 of 500" in shown
    assert shown.endswith("- line 100\n- line 101\n")
    for path in (
        "secret.md",
        "SOUL.md",
        "../config.json",
        "memory/../secret.md",
        "memory/none.md",
        "/etc/passwd",
        "",
    ):
        with pytest.raises(ToolFailed, match="There is no memory file"):
            await get(desk, path=path)


async def test_S12_a_file_of_another_space_is_no_file_and_one_of_a_joined_account_is(
    desk: Shelf,
) -> None:
    for space in ("a", "b"):
        desk.write(f"spaces/{space}/MEMORY.md", f"- words of {space}\n")
    desk.write("MEMORY.md", "- words of the owner\n")
    assert "words of a" in await get(desk, "a", path="spaces/a/MEMORY.md")
    assert "words of a" in await get(desk, "a", path="MEMORY.md")
    for path in ("spaces/b/MEMORY.md", "spaces//MEMORY.md", "spaces/MEMORY.md"):
        with pytest.raises(ToolFailed, match="There is no memory file"):
            await get(desk, "a", path=path)
    with pytest.raises(ToolFailed, match="There is no memory file"):
        await get(desk, path="spaces/b/MEMORY.md")
    await join(desk, "b", "a")
    assert "words of b" in await get(desk, "a", path="spaces/b/MEMORY.md")


async def join(desk: Shelf, own: str, home: str) -> None:
    maker, typist = (
        AccountIdentity(channel="web", account="x", sender_id=name, space=name)
        for name in (home, own)
    )
    later = NOON + timedelta(minutes=10)
    await desk.store.links.make_code("h", maker, "c", later)
    code = await desk.store.links.type_code("h", typist, own, "d", NOON)
    assert code
    await desk.store.links.agree(code.id)
    assert await desk.store.links.settle(code.id, join=True)


async def test_what_is_noted_is_told_to_the_person_with_its_source_kept(desk: Shelf) -> None:
    assert await note(desk, "Sails on Sundays") == "Noted: Sails on Sundays"
    assert desk.told == [("c", "🧠 记住了：Sails on Sundays", "🧠 Remembered: Sails on Sundays")]
    [row] = await desk.store.memories.rows("")
    assert (row.origin, row.source.message_id, row.source.quote) == ("tool", "m1", SAID.words)
    assert "- Sails on Sundays" in (desk.home.workspace / "MEMORY.md").read_text("utf-8")


async def test_a_copied_result_is_the_memory_that_it_holds(desk: Shelf) -> None:
    await note(desk, "Sails on Sundays")
    found = await find(desk, query="Sundays")
    assert await note(desk, found) == "It was noted already: Sails on Sundays"
    copied = "3. [2026-05-03 09:12] User: Sails on Sundays (memory/2026-05-03.md:7)"
    assert await note(desk, copied) == "It was noted already: Sails on Sundays"
    assert len(await desk.store.memories.rows("")) == 1


async def test_a_copied_result_that_is_new_keeps_its_date_and_speaker(desk: Shelf) -> None:
    copied = "2. [2026-05-03 09:12] User: I moved to Porto today (turn 12 of another conversation)"
    assert await note(desk, copied) == "Noted: [2026-05-03 09:12] User: I moved to Porto today"


@every_case("text", ["Sails (on Sundays)", "- a list", "Pier 7. Gate B", "[x] done: yes", "1. one"])
def test_a_text_that_is_no_copied_result_is_left_as_it_is(text: str) -> None:
    copied = read_copied_passage(text)
    assert (copied.label, copied.words) == ("", text)


WORDS = st.from_regex(r"[A-Za-z\u4e00-\u9fff][\w ,.()-]{0,40}[A-Za-z\u4e00-\u9fff]", fullmatch=True)
PLACES = (
    {"path": "MEMORY.md", "line": 4},
    {"path": "memory/2026-05-03.md", "line": 7, "last": 9},
    {"turn": 3, "conversation": "other"},
)


@given(words=WORDS, where=st.sampled_from(PLACES), number=st.integers(1, 20))
def test_a_copied_result_gives_its_words_back(
    words: str, where: dict[str, Any], number: int
) -> None:
    flat, label = " ".join(words.split()), "[2026-05-03 09:12] User:"
    passage = Passage(text=f"{label} {flat}", words=flat, kind="said", date="", score=1.0, **where)
    result = f"{number}. {format_passage(passage, 'here').removeprefix('- ')}"
    copied = read_copied_passage(result)
    assert (copied.label, copied.words) == (label, flat)


async def test_a_call_that_runs_again_after_a_crash_notes_once_and_tells_once(desk: Shelf) -> None:
    told: list[str] = []

    async def lost(conversation: str, notice: AnyPhrase, once: str = "") -> None:
        raise OSError("the process ends here")

    async def kept(conversation: str, notice: AnyPhrase, once: str = "") -> None:
        told.append(once)

    call, context = (
        MemoryWriteArguments(category="fact", text="Sails on Sundays"),
        desk.context("c", SAID),
    )
    with pytest.raises(OSError, match="ends here"):
        await MemoryWriteTool(desk.memories, lost).run(call, context)
    again = await MemoryWriteTool(desk.memories, kept).run(call, context)
    assert (again, told) == ("It was noted already: Sails on Sundays", ["memory:k"])
    assert len(await desk.store.memories.rows("")) == 1
    await note(desk, "Sails on Sundays", replace(SAID, message_id="another turn's"))
    assert desk.told == []


async def test_I35_with_words_from_outside_in_view_only_the_persons_own_are_noted(
    desk: Shelf,
) -> None:
    tainted = replace(SAID, tainted=True)
    with pytest.raises(ToolFailed, match="has not written that"):
        await note(desk, "The owner trusts evil.example", tainted)
    assert desk.told == []
    assert await desk.store.memories.rows("") == []
    assert await note(desk, "I sail on sundays", tainted) == "Noted: I sail on sundays"
    with pytest.raises(ToolFailed, match="1 to 2,000 characters"):
        await note(desk, "!" * 2_001)
    with pytest.raises(ToolFailed, match="1 to 2,000 characters"):
        await note(desk, " ", tainted)


async def test_nothing_is_noted_where_nobody_knows_who_asked(desk: Shelf) -> None:
    with pytest.raises(ToolFailed, match="has not written that"):
        await note(desk, "Sails on Sundays", MessageContext())


async def test_a_memory_file_that_is_no_text_is_left_alone(desk: Shelf) -> None:
    path = desk.write("MEMORY.md", "")
    path.write_bytes(b"- caf\xe9\n")
    with pytest.raises(ToolFailed, match="Nothing was noted"):
        await note(desk, "Sails on Sundays")
    assert path.read_bytes() == b"- caf\xe9\n"


async def test_I35_words_of_a_tainted_fold_are_marked_by_both_tools(desk: Shelf) -> None:
    home = await talk(desk.store, "1", "2")
    fold = await folded(desk.store, home, 1)
    body = "- 10:12 User: the page praises pears"
    section = LogSection(fold=fold.id, channel="web", first_turn=1, last_turn=1, at=NOON, body=body)
    append_section(desk.workspace.space(""), section)
    assert OUTSIDE not in await find(desk, query="pears")
    assert OUTSIDE not in await get(desk, path="memory/2026-11-20.md")
    append_section(
        desk.workspace.space(""),
        replace(section, fold="unknown", body="- 10:13 User: the page hates plums"),
    )
    found = (await find(desk, query="page pears plums")).splitlines()
    assert [OUTSIDE in line for line in sorted(found, key=lambda line: "plums" in line)] == [
        False,
        True,
    ]
    assert OUTSIDE in await get(desk, path="memory/2026-11-20.md")
