"""What we write into MEMORY.md moves no prefix and counts at once; what a person writes is shown at
once.
"""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.agent.prompt.builder import (
    FEW_CHANGES,
    SystemPromptBuilder,
    find_file_changes,
    format_file_changes,
)
from bot.agent.prompt.files import MAX_KNOWN_FILES, MAX_KNOWN_LOG_CHARS, MAX_KNOWN_LOGS
from bot.agent.prompt.persona import PersonaFiles
from memory.context.tokens import WEIGHTED
from memory.longterm.memories import MemoryCandidate
from memory.store.longterm.rows import ChangeKind, MemoryChange
from memory.workspace.files import SPACES_FOLDER, SpaceFiles, Workspace
from tests.bot.remembering import NOON, Shelf, shelf
from tests.contracts.store_words import talk

ROOM = 50_000
TODAY = f"memory/{NOON:%Y-%m-%d}"


def change(
    before: str,
    after: str,
    kind: ChangeKind = "extract",
    path: str = "MEMORY.md",
    **lines: tuple[str, ...],
) -> MemoryChange:
    return MemoryChange(
        id=f"{before}{after}",
        space="",
        path=path,
        kind=kind,
        before_sha256=before,
        after_sha256=after,
        added=lines.get("added", ()),
        removed=lines.get("removed", ()),
        before="",
        about="",
        undone=False,
        at=NOON,
    )


def follow(changes: list[MemoryChange], present: str, seen: str) -> list[str] | None:
    found = find_file_changes(changes[::-1], "MEMORY.md", present, lambda sha256: sha256 == seen)
    return None if found is None else [item.id for item in found]


def test_our_writes_lead_from_what_was_seen_to_what_is_there() -> None:
    chain = [
        change("", "a"),
        change("a", "b"),
        change("b", "c", path="memory/x.md"),
        change("b", "d"),
    ]
    assert follow(chain, "d", "") == ["a", "ab", "bd"]
    assert follow(chain, "d", "a") == ["ab", "bd"]
    assert follow(chain, "b", "a") == ["ab"]


def test_a_persons_own_write_breaks_it_off_and_so_does_a_forgetting() -> None:
    assert follow([change("a", "b"), change("by hand", "c")], "c", "a") is None
    assert follow([change("a", "b")], "by hand", "a") is None
    assert (
        follow([change("a", "b"), change("b", "c", "forget"), change("c", "d")], "d", "a") is None
    )
    assert follow([change("a", "b"), change("b", "c", "forget"), change("c", "d")], "d", "c") == [
        "cd"
    ]
    assert follow([], "a", "b") is None


def test_a_file_that_is_as_it_once_was_is_followed_back_all_the_same() -> None:
    chain = [change("a", "b"), change("b", "a", "undo"), change("a", "c")]
    assert follow(chain, "c", "b") == ["ba", "ac"]
    assert follow(chain, "a", "b") == ["ba"]


def test_what_is_new_and_what_is_gone_is_told_and_what_came_and_went_is_not() -> None:
    first = change("a", "b", added=("likes tea", "lives in\nLeeds"))
    second = change("b", "c", added=("likes rum",), removed=("likes tea", "is nine"))
    assert format_file_changes([first, second]).splitlines() == [
        "[Remembered since MEMORY.md was read:]",
        "- lives in Leeds",
        "- likes rum",
        "[No longer true:]",
        "- is nine",
        "[End of remembered]",
    ]
    assert format_file_changes([first, change("b", "a", "undo", removed=first.added)]) == ""
    assert format_file_changes([]) == ""


def test_no_line_ends_what_is_told() -> None:
    assert (
        format_file_changes([change("a", "b", added=("x [End of remembered] y",))]).count(
            "[End of remembered]"
        )
        == 1
    )


@given(st.lists(st.tuples(st.sets(st.sampled_from("abc")), st.sets(st.sampled_from("abc")))))
def test_what_is_told_is_the_difference_of_the_two_files(
    steps: list[tuple[set[str], set[str]]],
) -> None:
    start = now = frozenset("b")
    changes = []
    for add, remove in steps:
        added, removed = add - now, (remove & now) - add
        changes.append(change("x", "y", added=tuple(added), removed=tuple(removed)))
        now = now - removed | added
    new, gone = sorted(now - start), sorted(start - now)
    lines = [
        line[2:] for line in format_file_changes(changes).splitlines() if line.startswith("- ")
    ]
    assert sorted(lines) == sorted([*new, *gone])


@dataclass
class Desk:
    """A prompt over a real memory. now: of the awareness."""

    shelf: Shelf
    home: str
    prompt: SystemPromptBuilder = field(init=False)

    def __post_init__(self) -> None:
        self.sit()

    def sit(self) -> None:
        """As after a start of the program."""
        self.prompt = SystemPromptBuilder(
            PersonaFiles(self.shelf.workspace, lambda space: (), tuple),
            self.shelf.store,
            lambda: NOON,
        )

    async def asked(self) -> tuple[str, str]:
        """(what the prefix shows of MEMORY.md, what was remembered since) at the next request."""
        session = await self.shelf.store.sessions.load(self.home)
        prompt = await self.prompt.load(session, ROOM, WEIGHTED)
        await self.prompt.store_snapshot(self.home)
        return "".join(
            part.text for part in prompt.parts if part.name == "MEMORY.md"
        ), prompt.memory_changes

    async def generation(self) -> int:
        return (await self.shelf.store.sessions.load(self.home)).prefix_generation

    async def extract(self, text: str, *replaces: str) -> None:
        lines = self.shelf.memories()
        await lines.upsert(
            MemoryCandidate(category="fact", text=text, origin="extraction", replaces=replaces)
        )


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with shelf(tmp_path) as held:
        yield Desk(shelf=held, home=await talk(held.store, "1"))


async def test_I38_what_we_note_leaves_the_prefix_alone_and_is_told_behind_it(desk: Desk) -> None:
    before = await desk.asked()
    assert before == ("", "")
    await desk.extract("Lives in Leeds")
    shown, since = await desk.asked()
    assert shown == ""
    assert "- Lives in Leeds" in since
    await desk.extract("Has moved to York", "lives in leeds")
    shown, since = await desk.asked()
    assert (shown, "Leeds" in since, "- Has moved to York" in since) == ("", False, True)
    assert await desk.generation() == 0


@pytest.mark.parametrize("count", [FEW_CHANGES, FEW_CHANGES + 1])
async def test_each_of_many_changes_is_told(desk: Desk, count: int) -> None:
    desk.shelf.write("MEMORY.md", "## Facts\n\n- Lives in Leeds\n")
    await desk.asked()
    facts = [f"Has {number + 2} cats" for number in range(count)]
    for fact in facts:
        await desk.extract(fact)
    _, since = await desk.asked()
    assert [fact for fact in facts if f"- {fact}\n" in since] == facts
    assert await desk.generation() == 0


class CountingWorkspace(Workspace):
    """Notes the spaces whose files are read."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.read: list[str] = []

    def space(self, space: str) -> SpaceFiles:
        self.read.append(space)
        return super().space(space)


class Neighbours:
    """Conversations of several spaces, and what their prompts show."""

    def __init__(self, desk: Desk, now: Callable[[], datetime] = lambda: NOON) -> None:
        self.desk = desk
        self.workspace = CountingWorkspace(desk.shelf.workspace.root)
        self.builder = SystemPromptBuilder(
            PersonaFiles(self.workspace, lambda space: (), tuple), desk.shelf.store, now
        )

    async def shown(self, space: str, conversation: str) -> str:
        session = await self.desk.shelf.store.sessions.load(self.desk.home)
        asked = replace(session, conversation=conversation + space, space=space)
        return "".join(part.text for part in (await self.builder.load(asked, ROOM, WEIGHTED)).parts)

    def write(self, space: str, path: str, text: str) -> None:
        self.desk.shelf.write(f"{SPACES_FOLDER}/{space}/{path}", text)

    async def read_once(self, path: str, spaces: list[str]) -> None:
        """A file is read once for all conversations of a space, and shown of one space more than
        are kept.
        """
        for space in spaces:
            self.write(space, path, f"- Likes {space}.\n")
        for conversation in ("a", "b", "c"):
            for space in spaces[:-1]:
                assert f"Likes {space}." in await self.shown(space, conversation)
        assert all(self.workspace.read.count(space) == 1 for space in spaces[:-1])
        for space in (spaces[-1], *spaces):
            assert f"Likes {space}." in await self.shown(space, "d")
        self.write("s1", path, "- Likes s1.\n- Likes rum.\n")
        assert "Likes rum." in await self.shown("s1", "e")


async def test_the_file_is_read_once_for_all_conversations_of_a_space_also_of_more_spaces_than_are_kept(  # noqa: E501
    desk: Desk,
) -> None:
    await Neighbours(desk).read_once(
        "MEMORY.md", [f"s{number}" for number in range(MAX_KNOWN_FILES + 1)]
    )


async def test_a_days_log_is_read_once_for_all_conversations_of_a_space_until_it_grows(
    desk: Desk,
) -> None:
    neighbours = Neighbours(desk)
    await neighbours.read_once(
        f"{TODAY}.md", [f"s{number}" for number in range(MAX_KNOWN_LOGS + 1)]
    )
    neighbours.write("s1", f"{TODAY}-2.md", "- Likes tea.\n")
    assert "Likes tea." in await neighbours.shown("s1", "f")
    neighbours.write("s1", f"{TODAY}.md", "- Likes gin.\n" + "x" * MAX_KNOWN_LOG_CHARS)
    read = [
        neighbours.workspace.read.count("s1")
        for name in ("g", "h")
        if await neighbours.shown("s1", name)
    ]
    assert read[1] == read[0] + 2  # so long a log is not kept


async def test_what_was_forgotten_while_a_prompt_was_built_from_it_is_not_shown(desk: Desk) -> None:
    looks = 0

    def now() -> datetime:
        nonlocal looks
        looks += 1
        if looks == 2:  # the log has been read, and the prompt is not there yet
            neighbours.write("s1", f"{TODAY}.md", "- Likes rum.\n")
            neighbours.builder.drop_all()
        return NOON

    neighbours = Neighbours(desk, now)
    neighbours.write("s1", f"{TODAY}.md", "- Likes a secret.\n")
    assert "secret" not in await neighbours.shown("s1", "a")
    assert "Likes rum." in await neighbours.shown("s1", "a")
    assert looks > 2


async def test_I42_a_restart_tells_the_same(desk: Desk) -> None:
    desk.shelf.write("MEMORY.md", "## Facts\n\n- Lives in Leeds\n")
    await desk.asked()
    await desk.extract("Has moved to York", "lives in leeds")
    before = await desk.asked()
    assert "[No longer true:]\n- Lives in Leeds" in before[1]
    desk.sit()
    assert await desk.asked() == before
    assert await desk.generation() == 0


async def test_what_a_person_writes_is_shown_at_once_and_takes_what_we_wrote_along(
    desk: Desk,
) -> None:
    path = desk.shelf.write("MEMORY.md", "## Facts\n\n- Lives in Leeds\n")
    await desk.asked()
    await desk.extract("Sails on Sundays")
    path.write_text(path.read_text("utf-8").replace("Leeds", "York"), "utf-8")
    shown, since = await desk.asked()
    assert ("York" in shown, "Sails on Sundays" in shown, since) == (True, True, "")
    assert await desk.generation() == 1
    await desk.extract("Likes rum")
    assert "Likes rum" in (await desk.asked())[1]


async def test_what_is_too_much_to_tell_is_read_anew(desk: Desk) -> None:
    await desk.asked()
    for number in range(12):
        await desk.extract(f"第 {number} 件事：{'很' * 40}{number * 7919}")
    shown, since = await desk.asked()
    assert ("第 11 件事" in shown, since) == (True, "")
    assert await desk.generation() == 1


async def test_what_is_taken_back_is_as_if_it_had_never_been(desk: Desk) -> None:
    await desk.extract("Lives in Leeds")
    before = await desk.asked()
    await desk.extract("Sails on Sundays")
    await desk.shelf.memories().remove(["sails on sundays"], "undo")
    assert await desk.asked() == before


async def test_what_is_forgotten_leaves_the_prefix(desk: Desk) -> None:
    await desk.extract("Lives in Leeds")
    assert "Leeds" in (await desk.asked())[0]
    await desk.shelf.memories().remove(["lives in leeds"], "forget")
    assert "Leeds" not in "".join(await desk.asked())
    assert await desk.generation() == 1
