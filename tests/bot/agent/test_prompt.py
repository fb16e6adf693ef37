"""The system parts stay the same bytes until there is a reason to look again, across restarts
too.
"""

import gc
import os
import sqlite3
import tracemalloc
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.agent.prompt.builder import MAX_CUT_SOURCES, PersonaFiles, SystemPromptBuilder
from bot.agent.prompt.files import MAX_KNOWN_LOGS
from bot.agent.prompt.system_rules import system_rules
from bot.config.home import HomeFolder
from bot.gateway.notifications import cut_notice
from memory.context.system_prompt import PromptBudgets
from memory.context.tokens import WEIGHTED
from memory.conversation import SystemPart, ToolSpec
from memory.store.open import open_store
from memory.store.store import Store
from memory.workspace.daily_log import LogSection, append_section
from memory.workspace.files import Workspace
from tests.bot.inside import inside
from tests.contracts.store_context_suite import snip
from tests.contracts.store_words import folded, talk

ROOM = 50_000
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


def spec(name: str) -> ToolSpec:
    return ToolSpec(
        name=name,
        description=f"Does {name}.\nAt length.",
        schema="{}",
        effect="pure",
        action="files.read",
    )


@dataclass
class Desk:
    """A home with a store that is opened as often as wanted; what the bot is asked to look at can
    be changed.
    """

    home: HomeFolder
    store: Store
    prompt: SystemPromptBuilder = field(init=False)
    tools: list[str] = field(default_factory=lambda: ["memory_search", "recall"])
    channels: list[str] = field(default_factory=lambda: ["web"])
    notes_facts: bool = True
    now: datetime = NOON
    cuts: list[tuple[str, SystemPart, PromptBudgets]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.sit()

    def sit(self) -> None:
        """As after a start of the program."""
        workspace = Workspace(self.home.workspace)
        persona = PersonaFiles(
            workspace,
            lambda space: tuple(map(spec, self.tools)),
            lambda: self.channels,
            notes_facts=lambda: self.notes_facts,
        )
        self.prompt = SystemPromptBuilder(persona, self.store, lambda: self.now)
        self.prompt.on_part_cut = lambda *told: self.cuts.append(told)

    async def restart(self) -> None:
        await self.store.close()
        self.store = await open_store(self.home.db)
        self.sit()

    async def parts(self, conversation: str, room: int = ROOM) -> dict[str, str]:
        session = await self.store.sessions.load(conversation)
        shown = {
            part.name: part.text for part in (await self.prompt.load(session, room, WEIGHTED)).parts
        }
        await self.prompt.store_snapshot(session.conversation)
        return shown

    async def generation(self, conversation: str) -> int:
        return (await self.store.sessions.load(conversation)).prefix_generation

    def write(self, path: str, text: str) -> None:
        whole = self.home.workspace / path
        whole.parent.mkdir(parents=True, exist_ok=True)
        whole.write_text(text, "utf-8")

    def log(self, fold: str, line: str, space: str = "") -> None:
        """A section of a fold in whose range nothing was from outside."""
        know_fold(self.home, fold, space)
        files = Workspace(self.home.workspace).space(space)
        append_section(
            files,
            LogSection(
                fold=fold, channel="web", first_turn=1, last_turn=2, at=self.now, body=f"- {line}"
            ),
        )

    def reasons(self) -> list[str]:
        with closing(sqlite3.connect(self.home.db)) as outside:
            return [row[0] for row in outside.execute("SELECT prefix_reason FROM conversation")]


def know_fold(home: HomeFolder, fold: str, space: str = "") -> None:
    """Have the record know a fold of that id, none of whose lines rests on words from outside."""
    with closing(sqlite3.connect(home.db, isolation_level=None)) as held:
        columns = {
            row[1]: "" if row[2] == "TEXT" else 0 for row in held.execute("PRAGMA table_info(fold)")
        }
        row = {**columns, "id": fold, "space": space, "state": "undone"}
        marks = ", ".join("?" for _ in row)
        held.execute(
            f"INSERT OR IGNORE INTO fold ({', '.join(row)}) VALUES ({marks})", [*row.values()]
        )


@pytest.fixture
async def desk(tmp_path: Path):
    home = HomeFolder(root=tmp_path)
    home.ensure()
    held = Desk(home=home, store=await open_store(home.db))
    yield held
    await held.store.close()


async def test_the_parts_come_in_one_order_and_only_where_there_is_something(desk: Desk) -> None:
    home = await talk(desk.store, "1")
    parts = await desk.parts(home)
    assert list(parts) == ["SOUL.md", "rules", "awareness"]
    hint, _, persona = (desk.home.workspace / "SOUL.md").read_text("utf-8").partition("\n")
    assert hint.startswith("<!--")
    assert parts["SOUL.md"] == persona.strip()
    assert parts["rules"] == system_rules(("memory_search", "recall"))
    assert parts["awareness"] == "Your channels: web."
    desk.write("MEMORY.md", "## 偏好\n\n- 爱喝茶\n")
    desk.log("f1", "tea was bought")
    later = await talk(desk.store, "2", chat="later")
    parts = await desk.parts(later)
    assert list(parts) == ["SOUL.md", "rules", "awareness", "MEMORY.md", "log"]
    assert "- 爱喝茶" in parts["MEMORY.md"]
    assert "[Daily log of 2026-11-20" in parts["log"]
    assert "- tea was bought" in parts["log"]


async def test_the_untouched_template_is_no_memory(desk: Desk) -> None:
    home = await talk(desk.store, "1")
    template = (desk.home.workspace / "MEMORY.md").read_text("utf-8")
    desk.write("MEMORY.md", template.replace("\n", "\r\n"))
    assert "MEMORY.md" not in await desk.parts(home)
    desk.write("MEMORY.md", template + "\n- lives in Leeds\n")
    assert "- lives in Leeds" in (await desk.parts(home))["MEMORY.md"]
    (desk.home.workspace / "MEMORY.md").unlink()
    assert "MEMORY.md" not in await desk.parts(home)


async def test_I42_a_restart_shows_the_same_bytes_although_the_log_grew(desk: Desk) -> None:
    desk.write("MEMORY.md", "- likes tea")
    desk.log("f1", "before")
    home = await talk(desk.store, "1")
    before = await desk.parts(home)
    desk.log("f2", "after")
    desk.channels = ["telegram", "web"]
    desk.now = NOON + timedelta(days=1)
    desk.log("f3", "the day after")
    assert await desk.parts(home) == before
    await desk.restart()
    assert await desk.parts(home) == before
    assert await desk.generation(home) == 0


async def test_I42_a_bot_asks_with_the_same_system_parts_after_a_restart(tmp_path: Path) -> None:
    HomeFolder(root=tmp_path).ensure()
    (tmp_path / "workspace" / "MEMORY.md").write_text("- likes tea")
    files = Workspace(tmp_path / "workspace").space("")
    async with inside(tmp_path, lambda asked: "yes") as here:
        section = LogSection(
            fold="f1", channel="web", first_turn=1, last_turn=2, at=here.bot.now(), body="- early"
        )
        know_fold(HomeFolder(root=tmp_path), "f1")
        append_section(files, section)
        await here.text("one")
        [before] = here.model.requests
    append_section(files, replace(section, fold="f2", body="- late"))
    async with inside(tmp_path, lambda asked: "yes") as here:
        await here.text("two")
        [after] = here.model.requests
    assert after.system == before.system
    assert ["- likes tea" in after.system[3], "- early" in after.system[4]] == [True, True]
    assert "- late" not in "".join(after.system)


async def test_a_file_that_was_only_touched_or_changed_back_moves_nothing(desk: Desk) -> None:
    desk.write("MEMORY.md", "- likes tea")
    home = await talk(desk.store, "1")
    before = await desk.parts(home)
    desk.log("f1", "new")
    os.utime(desk.home.workspace / "MEMORY.md", (1, 1))
    os.utime(desk.home.workspace / "SOUL.md", (1, 1))
    assert await desk.parts(home) == before
    await desk.restart()
    desk.write("MEMORY.md", "- likes coffee")
    desk.write("MEMORY.md", "- likes tea")
    assert await desk.parts(home) == before
    assert await desk.generation(home) == 0


@pytest.mark.parametrize("restarted", [False, True])
@pytest.mark.parametrize("edit", ["MEMORY.md", "SOUL.md", "tools", "budget"])
async def test_I38_a_persons_edit_is_a_reason_and_is_recorded(
    desk: Desk, edit: str, restarted: bool
) -> None:
    desk.write("MEMORY.md", "\n\n".join(f"- fact {at} of many" for at in range(400)))
    home = await talk(desk.store, "1")
    before = await desk.parts(home)
    if edit == "tools":
        desk.tools.append("weather")
    elif edit != "budget":
        desk.write(edit, f"- mine is {edit}")
    desk.log("f1", "new")
    if restarted:
        await desk.restart()
    after = await desk.parts(home, 8_000 if edit == "budget" else ROOM)
    assert after != before
    assert "- new" in after["log"]
    assert (await desk.generation(home), desk.reasons()) == (1, ["edit"])
    assert await desk.parts(home, 8_000 if edit == "budget" else ROOM) == after
    assert await desk.generation(home) == 1


@pytest.mark.parametrize("act", ["fold", "clear", "reduction", "fold undone", "clear undone"])
async def test_I38_what_moves_the_prefix_anyway_is_the_time_to_look_again(
    desk: Desk, act: str
) -> None:
    home = await talk(desk.store, "1", "2", "3")
    sessions = desk.store.sessions
    if act == "fold undone":
        await folded(desk.store, home, 1)
    if act == "clear undone":
        await sessions.clear(home)
    assert "log" not in await desk.parts(home)
    desk.log("theirs", "new")
    assert "log" not in await desk.parts(home)
    match act:
        case "fold":
            await folded(desk.store, home, 1)
        case "clear":
            await sessions.clear(home)
        case "reduction":
            [first, *_] = (await sessions.load(home)).turns
            await sessions.reduce(home, [snip(first.messages[0].id)], "size")
        case "fold undone":
            await desk.store.folds.undo(home)
        case "clear undone":
            await sessions.undo_clear(home)
    after = await desk.parts(home)
    assert "- new" in after["log"]
    generation = await desk.generation(home)
    desk.log("later", "newer")
    await desk.restart()
    assert await desk.parts(home) == after
    assert await desk.generation(home) == generation


async def test_a_conversation_is_not_told_what_its_own_summary_holds_or_a_clear_has_hidden(
    desk: Desk,
) -> None:
    home, other = await talk(desk.store, "1", "2", chat="a"), await talk(desk.store, "3", chat="b")
    own = await folded(desk.store, home, 1)
    desk.log(own.id, "a secret of the first conversation")
    assert "log" not in await desk.parts(home)
    assert "- a secret" in (await desk.parts(other))["log"]
    await desk.store.sessions.clear(home)
    assert "log" not in await desk.parts(home)


async def test_I40_each_space_has_files_of_its_own(desk: Desk) -> None:
    desk.write("MEMORY.md", "- the owner's")
    desk.write("spaces/ann/MEMORY.md", "- ann's")
    desk.log("f1", "the owner's day")
    desk.log("f2", "ann's day", "ann")
    spaces = {
        space: await talk(desk.store, space or "o", chat=space or "o", space=space)
        for space in ("", "ann", "bob")
    }
    parts = {space: await desk.parts(home) for space, home in spaces.items()}
    assert "the owner's" in parts[""]["MEMORY.md"] + parts[""]["log"]
    assert "- ann's\n" in parts["ann"]["MEMORY.md"]
    assert "- ann's day" in parts["ann"]["log"]
    assert "the owner's" not in parts["ann"]["MEMORY.md"] + parts["ann"]["log"]
    assert list(parts["bob"]) == ["SOUL.md", "rules", "awareness"]
    assert not (desk.home.workspace / "spaces" / "bob").exists()


async def test_where_nothing_happened_the_record_is_not_asked(desk: Desk) -> None:
    desk.write("MEMORY.md", "- likes tea")
    home = await talk(desk.store, "1")
    session = await desk.store.sessions.load(home)
    before = await desk.prompt.load(session, ROOM, WEIGHTED)
    await desk.store.close()
    assert await desk.prompt.load(session, ROOM, WEIGHTED) is before


async def test_a_log_that_went_on_in_a_second_file_is_one_log(desk: Desk) -> None:
    desk.log("f1", "first")
    desk.write("memory/2026-11-20-2.md", "- second")
    parts = await desk.parts(await talk(desk.store, "1"))
    assert parts["log"].index("- first") < parts["log"].index("- second")


async def test_a_file_that_is_never_touched_is_left_out(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "elsewhere.md").write_text("- not ours")
    (desk.home.workspace / "MEMORY.md").unlink()
    (desk.home.workspace / "MEMORY.md").symlink_to(tmp_path / "elsewhere.md")
    assert "MEMORY.md" not in await desk.parts(await talk(desk.store, "1"))


async def test_a_memory_too_long_is_told_when_it_begins_to_be(desk: Desk) -> None:
    home = await talk(desk.store, "1", "2", "3")
    await desk.parts(home)
    for count in (600, 700):
        desk.write(
            "MEMORY.md", "## 偏好\n\n" + "\n".join(f"- 第 {at} 件事情要记住" for at in range(count))
        )
        await desk.parts(home)
    await desk.restart()
    await folded(desk.store, home, 1)
    await desk.parts(home)
    [(conversation, part, budgets)] = desk.cuts
    assert (conversation, part.name, budgets) == (home, "MEMORY.md", PromptBudgets())
    [left] = part.left_out
    count = left.split(": ")[1].split()[0]
    assert cut_notice(part, budgets).text("en").startswith("MEMORY.md is longer than its 4,000")
    assert f"## 偏好: {count} paragraphs" in cut_notice(part, budgets).text("en")
    assert f"## 偏好：{count} 段" in cut_notice(part, budgets).text("zh")
    assert "paragraph" not in cut_notice(part, budgets).text("zh")
    desk.write("MEMORY.md", "- short")
    await desk.parts(home)
    desk.write("MEMORY.md", "\n".join(f"- fact {at}" for at in range(1_500)))
    await desk.parts(home)
    assert len(desk.cuts) == 2


async def test_the_bot_knows_of_new_tools_at_once_and_of_channels_after_a_while(desk: Desk) -> None:
    persona = PersonaFiles(
        Workspace(desk.home.workspace),
        lambda space: tuple(map(spec, desk.tools)),
        lambda: desk.channels,
    )
    first = persona.awareness()
    desk.channels = ["telegram"]
    assert persona.awareness() == first
    assert "memory_search" in persona.rules("")
    desk.tools = ["recall"]
    assert "memory_search" not in persona.rules("")


async def test_a_conversation_is_told_at_once_that_facts_are_not_noted_any_more(
    desk: Desk,
) -> None:
    desk.tools = ["memory_write"]
    home = await talk(desk.store, "1")
    assert "Facts are noted after the turn anyway" in (await desk.parts(home))["rules"]
    desk.notes_facts = False
    assert "Facts are noted after the turn anyway" not in (await desk.parts(home))["rules"]


async def test_of_a_days_log_that_grows_only_the_newest_text_is_kept(desk: Desk) -> None:
    lines = ["a line about the garden " * 20] * 50  # 24 kB with each fold
    homes = [await talk(desk.store, f"{number}", chat=f"c{number}") for number in range(14)]
    kept = []
    tracemalloc.start()
    try:
        for number in range(7):
            desk.log(f"fold{number}", "\n- ".join(lines))
            for home in homes[2 * number : 2 * number + 2]:
                await desk.parts(home)
            if number >= 5:
                gc.collect()
                kept.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    section = len("".join(lines))
    assert kept[1] - kept[0] < 4 * section, (
        "it grew by one section: its text, and what is known of that part"
    )


async def test_with_more_spaces_than_are_kept_each_shows_its_own_log(desk: Desk) -> None:
    spaces = [f"s{number}" for number in range(MAX_KNOWN_LOGS + 1)]
    for space in spaces:
        desk.log(f"fold-{space}", f"only {space} said this", space)
    for again in range(2):
        for space in spaces:
            home = await talk(desk.store, f"{space}-{again}", chat=f"{space}-{again}", space=space)
            shown = "\n".join((await desk.parts(home)).values())
            assert [other for other in spaces if f"only {other} said" in shown] == [space]
        assert len(desk.prompt._cut) == MAX_KNOWN_LOGS


async def test_with_more_budgets_than_are_kept_for_a_space_the_parts_fit_each(desk: Desk) -> None:
    home = await talk(desk.store, "1")
    desk.log("fold", "- ".join(["a line about the garden\n"] * 800))
    for _ in range(2):
        sizes = []
        for number in range(MAX_CUT_SOURCES + 1):
            shown = await desk.parts(home, ROOM // 4 + number * 400)
            sizes.append(sum(WEIGHTED.text(text) for text in shown.values()))
        assert sizes == sorted(set(sizes)), "each larger than the one before"
        [(_, known)] = desk.prompt._cut.values()
        assert len(known) == MAX_CUT_SOURCES
