"""The memories that stay loaded per space are bounded, and those in use are not dropped."""

import asyncio
from pathlib import Path
from weakref import ref

from bot.memory.service import MAX_SPACES
from memory.longterm.memories import MemoryCandidate
from tests.bot.inside import inside


def candidate(text: str) -> MemoryCandidate:
    return MemoryCandidate(category="fact", text=text, importance=7, origin="person")


async def test_lines_of_so_many_spaces_are_kept_and_those_in_use_beside_them(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path, lambda request: "yes") as it:
        memories = it.bot.memory_service.memories
        used = memories("telegram-used")
        kept = [ref(memories(f"telegram-{number}")) for number in range(MAX_SPACES + 50)]
        assert [one() is not None for one in kept] == [False] * 50 + [True] * MAX_SPACES
        assert memories("telegram-used") is used, (
            "two objects would write one file beside each other"
        )
        assert memories(f"telegram-{MAX_SPACES}") is kept[MAX_SPACES]()
        gone = ref(used)
        del used
        for number in range(MAX_SPACES):
            memories(f"telegram-{number}")
        assert gone() is None


async def test_what_is_written_meanwhile_waits_for_the_edit_that_goes_on_and_a_space_let_go_is_read_again(  # noqa: E501
    tmp_path: Path,
) -> None:
    async with inside(tmp_path, lambda request: "yes") as it:
        memories = it.bot.memory_service.memories

        def others() -> None:
            for number in range(MAX_SPACES + 1):
                memories(f"telegram-{number}")

        facts = ["Likes green tea", "Was born in Lyon", "Has a black cat", "Works at night"]
        writing = []
        for fact in facts:
            writing.append(asyncio.create_task(memories("telegram-7").upsert(candidate(fact))))
            await asyncio.sleep(0)
            others()
        await asyncio.gather(*writing)
        file = it.bot.home.workspace / "spaces" / "telegram-7" / "MEMORY.md"
        file.write_text(file.read_text("utf-8") + "- Plays the oboe\n", "utf-8")
        others()
        assert {row.text for row in await memories("telegram-7").list()} == {
            *facts,
            "Plays the oboe",
        }
