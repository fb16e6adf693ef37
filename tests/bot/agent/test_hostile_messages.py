"""No text that is accepted holds the event loop: it is stored, answered, shown to a model, folded,
and found again.
"""

import asyncio
import gc
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time, thread_time

import pytest

from bot.models.base import Request
from channels.feishu.cards import markdown_card
from channels.telegram.html import to_html
from channels.toolkit.markdown import to_plain
from channels.wecom.messages import render as wecom
from tests.bot.inside import inside
from tests.bot.talk import folded
from tests.by_night import IS_NIGHT, by_night
from tests.cases import every_case

TOO_LATE = 0.1  # seconds
PLAIN_SIZE = 20_000 if IS_NIGHT else 10_000  # characters; it takes the longest
TEXTS = {
    "x": "x" * 40_000,
    "book": "《" * 10_000,
    "mixed": "a1 《b》 http://x.y/z `q` 3点 " * 1_000,
}
BY_NIGHT = {
    "long word": "x" * 100_000,
    "long book": "《" * 20_000,
    "long mixed": "a1 《b》 http://x.y/z `q` 3点 " * 2_000,
    "lines": "\n" * 20_000 + "x",
    "dashes": "-" * 6_000,
    "quotes": "> " * 100_000,
    "stars": "*" * 200_000,
    "brackets": "[" * 200_000,
    "sentences": "a. " * 66_000,
    "han": "中" * 200_000,
    "digits": "1-" * 100_000,
    "spaces": " " * 199_999 + "x",
    "items": "- a 1\n" * 30_000,
}
MARKS = (
    "[",
    "![",
    "![[]",
    "**a",
    "*a ",
    "> ",
    "- ",
    "`",
    "```\n",
    "|a|b\n|-|-\n",
    "1. a\n",
    "<",
    "](",
    "~~~\n",
    "_a_ ",
    "\n",
    "](\n",
    "<at ",
    "<@",
    "|a|b\n|-|-\n\n",
)


@dataclass
class Beats:
    """How late a task was that wants to run all the time.

    late: seconds, the lesser of what passed and what this process worked meanwhile: other processes
    of a busy machine do not count.
    """

    late: float = 0.0

    async def watch(self) -> None:
        last = (perf_counter(), process_time())
        while True:
            await asyncio.sleep(0.002)
            now = (perf_counter(), process_time())
            self.late = max(self.late, min(now[0] - last[0], now[1] - last[1]))
            last = now


@asynccontextmanager
async def watched() -> AsyncIterator[Beats]:
    beats = Beats()
    task = asyncio.create_task(beats.watch())
    try:
        yield beats
    finally:
        task.cancel()


@pytest.mark.parametrize(
    "name", [*TEXTS, *(pytest.param(name, marks=by_night) for name in BY_NIGHT)]
)
async def test_no_text_holds_the_loop(tmp_path: Path, name: str) -> None:
    text = {**TEXTS, **BY_NIGHT}[name]
    tries = [await lateness(tmp_path / "1", text)]
    while tries[-1] >= TOO_LATE and len(tries) < 3:
        tries.append(await lateness(tmp_path / f"{len(tries) + 1}", text))
    assert min(tries) < TOO_LATE, tries


async def lateness(folder: Path, text: str) -> float:
    """The worst beat while a text is said and answered with itself, folded, and asked for."""

    def script(request: Request) -> str:
        if request.purpose == "fold":
            return folded("- The user said one.", "## Facts and preferences\n- The user said one.")
        return text[:60_000].strip() or "x"

    folder.mkdir()
    async with inside(folder, script) as it:
        await it.text("one")
        async with watched() as beats:
            await it.text(text)
            await it.text("two")
            await it.text("/context fold")
            await it.bot.settled()
            await it.text("what did I say first?")
            await it.bot.settled()
        assert await it.bot.store.folds.folds(await it.conversation())
        return beats.late


@every_case(
    ("render", "size"),
    [(to_html, 4_096), (markdown_card, 16_000), (wecom, 24_000), (to_plain, PLAIN_SIZE)],
)
def test_marks_are_drawn_in_proportion_to_their_number_or_not_at_all(
    render: Callable[[str], object], size: int
) -> None:
    slow = [
        mark
        for mark in MARKS
        if all(took(render, mark, size) > 12 * took(render, mark, size // 4) for _ in range(4))
    ]
    assert not slow


def took(render: Callable[[str], object], mark: str, size: int) -> float:
    """Seconds of this thread without garbage collection, and at least 2 ms: what takes less is no
    matter.
    """
    text = mark * (size // len(mark))
    gc.disable()  # one look at the heap of a whole suite takes longer than the rendering
    try:
        begun = thread_time()
        render(text)
        return max(0.002, thread_time() - begun)
    finally:
        gc.enable()


@every_case(
    ("written", "shown"),
    [
        ("![a](u)", "[a](u)"),
        ("wow!![a](u)!", "wow[a](u)!"),
        ("![a] (u)", "![a] (u)"),
        ("![a\nb](u)", "![a\nb](u)"),
        ("![x ![a](u)](v)", "[x [a](u)](v)"),
        ("![a](u) and ![b](v)", "[a](u) and [b](v)"),
        ("no picture! [a](u)", "no picture! [a](u)"),
    ],
)
def test_a_picture_becomes_a_link(written: str, shown: str) -> None:
    card = markdown_card(written)
    assert card["body"]["elements"][0]["content"] == shown


def test_more_brackets_than_anybody_writes_are_shown_as_they_are() -> None:
    assert to_html("**a** " + "[" * 1_001) == "**a** " + "[" * 1_001
    assert to_html("**a** " + "[" * 1_000) == "<b>a</b> " + "[" * 1_000
    assert to_plain("**a** " + "[" * 1_001) == "**a** " + "[" * 1_001
    assert to_plain("**a** " + "[" * 1_000) == "a " + "[" * 1_000
