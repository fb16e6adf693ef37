"""/memory and /remember: what a person sees of the memory, where it comes from, and what they add
to it.
"""

import re
from pathlib import Path

import pytest

from bot.models.base import Request
from channels.testing import ScriptedChannel as Channel
from memory.longterm.line_kinds import guess_wished_category
from memory.longterm.memories import MemoryCandidate
from memory.workspace.daily_log import LogSection, append_section
from tests.bot.inside import Inside, inside
from tests.cases import every_case

QUIET = {"memory": {"extract": False}}


def yes(_: Request) -> str:
    return "yes"


def memory_of(here: Inside) -> str:
    return (here.bot.workspace.root / "MEMORY.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("text", "told", "heading"),
    [
        ("我喜欢喝龙井茶", "记住了（偏好）：我喜欢喝龙井茶", "偏好 · Preferences"),
        (
            "I never eat peanuts",
            "Remembered (preferences): I never eat peanuts",
            "偏好 · Preferences",
        ),
        ("柜子的密码是 40137", "记住了（事实）：柜子的密码是 40137", "事实 · Facts"),
        (
            "My sister is called Ines",
            "Remembered (facts): My sister is called Ines",
            "事实 · Facts",
        ),
    ],
)
async def test_what_a_person_asks_to_remember_stands_in_the_file_under_its_heading(
    tmp_path: Path, text: str, told: str, heading: str
) -> None:
    async with inside(tmp_path, yes, QUIET) as here:
        assert await here.text(f"/remember {text}") == told
        assert re.search(rf"## {re.escape(heading)}\n+- {re.escape(text)}\n", memory_of(here))
        [row] = await here.bot.store.memories.rows("")
        assert (row.importance, row.origin, row.source.quote) == (8, "person", f"/remember {text}")


async def test_the_same_again_and_a_fuller_one_are_told_apart(tmp_path: Path) -> None:
    async with inside(tmp_path, yes, QUIET | {"language": "en"}) as here:
        await here.text("/remember My sister Ines lives in Porto")
        assert await here.text("/remember my sister ines lives in Porto!") == (
            "I knew that already (facts): My sister Ines lives in Porto"
        )
        assert memory_of(here).count("Porto") == 1
        assert (await here.text("/remember")).startswith("Add what to remember")
        memory = here.bot.workspace.root / "MEMORY.md"
        memory.write_bytes(b"- caf\xe9\n")
        assert "not UTF-8" in await here.text("/remember likes tea")
        assert memory.read_bytes() == b"- caf\xe9\n"


@every_case(
    "text",
    ["我更爱红茶", "以后都早点睡", "对花生过敏", "please answer in French", "prefers tea"],
)
def test_words_of_liking_and_of_wishes_are_preferences(text: str) -> None:
    assert guess_wished_category(text) == "user_preference"


async def test_a_standing_instruction_has_a_section_of_its_own_in_every_prompt(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path, yes, QUIET | {"language": "zh"}) as here:
        told = await here.text("/remember 以后都用中文回答")
        assert "约定" in told
        file = tmp_path / "workspace" / "MEMORY.md"
        assert "## 约定 · Instructions\n\n- 以后都用中文回答" in file.read_text()
        await here.text("Good morning, how are you?")
        (request,) = here.model.requests[-1:]
        assert "以后都用中文回答" in str(request)


@every_case(
    "text", ["妹妹住在上海", "the flight leaves at nine", "爱丁堡的办公室在三楼", "alike in all"]
)
def test_other_words_are_facts(text: str) -> None:
    assert guess_wished_category(text) == "fact"


async def test_memory_tells_what_there_is(tmp_path: Path) -> None:
    async with inside(tmp_path, yes, QUIET | {"language": "en"}) as here:
        await here.text("/remember My sister is called Ines")
        await here.text("/remember likes tea")
        for day in range(1, 9):
            (here.bot.workspace.root / "memory").mkdir(exist_ok=True)
            (here.bot.workspace.root / "memory" / f"2026-01-0{day}.md").write_text(
                "- a\n- b\n", "utf-8"
            )
        told = await here.text("/memory")
        assert re.search(r"^MEMORY\.md · \d+ B · \d+ lines$", told, re.MULTILINE)
        assert "memory/2026-01-08.md · 8 B · 2 lines" in told
        assert "… and 3 more · 24 B" in told
        assert "preferences 1 · facts 1" in told
        assert "not tidied yet" in told
        assert re.search(r"^index \d+ rows · up to date$", told, re.MULTILINE)
        assert "/memory takes search, as of, show, why or undo" in await here.text("/memory dance")


async def test_memory_of_a_fresh_bot_says_so_in_chinese(tmp_path: Path) -> None:
    async with inside(tmp_path, yes, QUIET | {"language": "zh"}) as here:
        told = await here.text("/memory")
        assert "**长期记忆**" in told
        assert "还没有记住什么" in told
        assert "还没有整理过" in told
        assert "没有找到与“猫”有关的记忆。" in await here.text("/memory search 猫")
        assert "没有可以撤销的整理。" in await here.text("/memory undo")
        assert "用法" in await here.text("/memory search")
        assert "用法" in await here.text("/memory why")
        assert "没有与“3”对应的记忆。" in await here.text("/memory why 3")


async def test_a_file_is_shown_by_pages_with_its_lines_numbered(tmp_path: Path) -> None:
    async with inside(tmp_path, yes, QUIET | {"language": "en"}) as here:
        log = here.bot.workspace.root / "memory" / "2026-01-05.md"
        log.parent.mkdir(exist_ok=True)
        log.write_text(
            "".join(f"- line {n} ``` {'x' * 400 if n == 2 else ''}\n" for n in range(1, 101)),
            "utf-8",
        )
        first = await here.text("/memory show memory/2026-01-05.md")
        assert first.startswith("**memory/2026-01-05.md**\n````\n  1  - line 1")
        assert " 2  - line 2" in first
        assert len(max(first.splitlines(), key=len)) < 320
        assert first.endswith("page 1 of 2; next: /memory show memory/2026-01-05.md 2")
        second = await here.text("/memory show 2026-01-05 2")
        assert "100  - line 100" in second
        assert "- line 1 " not in second
        assert "has no page 3" in await here.text("/memory show memory/2026-01-05.md 3")
        assert "- 爱喝茶" not in await here.text("/memory show")
        for path in ("SOUL.md", "../config.json", "memory/../SOUL.md"):
            assert "no memory file" in await here.text(f"/memory show {path}")


async def test_a_search_shows_sources_and_why_tells_where_a_number_of_it_comes_from(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path, yes, QUIET | {"language": "en"}) as here:
        await here.text("my boat, she is called Petrel", chat="c2")
        await here.text("/remember My boat is called Petrel")
        listed = (await here.text("/memory search what is my boat called")).splitlines()
        assert re.match(
            r"\d\. .*\(MEMORY\.md:\d+\)$", next(line for line in listed if "MEMORY.md" in line)
        )
        said = next(line for line in listed if "another conversation" in line)
        why = await here.text(f"/memory why {said.split('.')[0]}")
        assert "> my boat, she is called Petrel" in why
        assert re.search(
            r"\d{4}-\d\d-\d\d \d\d:\d\d · terminal · turn 1 of another conversation", why
        )
        noted = next(line for line in listed if "MEMORY.md" in line)
        why = await here.text(f"/memory why {noted.split('.')[0]}")
        assert "> /remember My boat is called Petrel" in why
        assert "facts · importance 8 · noted " in why
        assert "used 1 time" in why
        assert "There is no memory matching “99”" in await here.text("/memory why 99")


async def test_why_takes_a_line_as_it_was_shown_or_words_and_shows_what_it_took_the_place_of(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path, yes, QUIET | {"language": "en"}) as here:
        lines = here.bot.memories("")
        await lines.upsert(
            MemoryCandidate(category="fact", text="Lives in Leeds", origin="extraction")
        )
        await lines.upsert(
            MemoryCandidate(
                category="fact",
                text="Has moved to York",
                origin="extraction",
                replaces=("lives in leeds",),
            )
        )
        number = 1 + memory_of(here).splitlines().index("- Has moved to York")
        assert f"{number}  - Has moved to York" in await here.text("/memory show")
        for meant in (str(number), "moved to york"):
            why = await here.text(f"/memory why {meant}")
            assert why.startswith(f"**Has moved to York**\nMEMORY.md:{number}\n")
            assert re.search(
                r"It replaced:\n- Lives in Leeds \(until \d{4}-\d\d-\d\d \d\d:\d\d\)", why
            )


async def test_why_tells_of_a_line_written_by_hand_that_nobody_said_it(tmp_path: Path) -> None:
    async with inside(tmp_path, yes, QUIET | {"language": "zh"}) as here:
        (here.bot.workspace.root / "MEMORY.md").write_text("## 偏好\n\n- 爱喝茶\n", "utf-8")
        why = await here.text("/memory why 3")
        assert "写在文件里的，没有来源消息" in why
        assert "偏好 · 重要性" in why


async def test_why_of_a_line_in_the_log_names_the_fold_and_quotes_what_was_said(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path, lambda _: "yes", QUIET | {"language": "en"}) as here:
        for text in ("my boat is called Petrel", "and hers is Gull", "so there", "and so on"):
            await here.text(text)
        await here.text("/context fold")
        await here.bot.settled()
        [log] = (here.bot.workspace.root / "memory").glob("*.md")
        day = log.stem
        at = 1 + next(
            n for n, line in enumerate(log.read_text("utf-8").splitlines()) if "Petrel" in line
        )
        append_section(here.bot.workspace.space(""), _noted(here, "x1"))
        await here.text(f"/memory show {day}")
        why = await here.text(f"/memory why {at}")
        assert "from turns 1–2 on terminal, folded " in why
        assert "> my boat is called Petrel" in why


def _noted(here: Inside, fold: str) -> LogSection:
    return LogSection(
        fold=fold, channel="web", first_turn=8, last_turn=9, at=here.bot.now(), body="- later"
    )


async def test_a_guest_of_a_group_and_another_person_see_nothing_of_it(tmp_path: Path) -> None:
    channels = {"telegram": {"enabled": False, "token": "x", "owners": ["1"], "allow": ["2", "g"]}}
    async with inside(
        tmp_path, yes, QUIET | {"channels": channels}, channel=Channel(name="telegram")
    ) as here:
        await here.text("/remember the safe opens with 40137", chat="1", sender="1")
        for text in (
            "/memory search safe",
            "/memory show",
            "/memory why safe",
            "what does the safe open with",
        ):
            assert "40137" not in await here.text(text, chat="2", sender="2")
        assert "not available to you here" in await here.text(
            "/remember x", chat="g", sender="3", kind="group", addressed=True
        )
        assert "40137" not in str(here.model.requests)
        assert "40137" in await here.text("/memory search safe", chat="1", sender="1")


async def test_a_memory_that_is_too_large_is_told(tmp_path: Path) -> None:
    async with inside(tmp_path, yes, QUIET) as here:
        (here.bot.workspace.root / "MEMORY.md").write_text("x " * 500_000 + "\n")
        assert (
            "MEMORY.md is larger than 1,000,000 bytes, so nothing more is written to it"
            in await here.text("/memory")
        )
        said = await here.text("/remember I like tea")
        assert said.endswith(
            "MEMORY.md is too large, not UTF-8 text or not a plain file, so it was left as it is."
        )


async def test_a_line_that_took_the_place_of_another_says_so_in_a_search(tmp_path: Path) -> None:
    async with inside(tmp_path, yes, QUIET | {"language": "en"}) as here:
        memories = here.bot.memories("")
        old, new = ("My locker opens with 4711", "My locker opens with 5822")
        await memories.upsert(MemoryCandidate(category="fact", text=old, origin="person"))
        await memories.upsert(
            MemoryCandidate(category="fact", text=new, origin="person", replaces=(old.casefold(),))
        )
        assert f"until then: {old}]" in await here.text("/memory search locker")
