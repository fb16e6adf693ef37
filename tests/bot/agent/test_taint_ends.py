"""S53 from the other side: a page that has left the view, with every line that rests on it, taints
no longer.
"""

from pathlib import Path

import pytest

from bot.errors import ModelError
from bot.models.base import Request
from bot.models.providers.offline import ScriptedAnswer
from memory.context.taint import is_view_tainted
from tests.bot.agent.test_attacks_taint import ORDER, OUTSIDE, Steered, memory, page, words_of
from tests.bot.inside import Inside, inside
from tests.bot.talk import call, folded
from tests.by_night import first_by_day

TEA = {"category": "fact", "text": "Tea is served at four"}
OOLONG = {"category": "user_preference", "text": "The user prefers oolong tea"}
KEPT_LINE = "- The harbour rule of the page names mallory"
# each fold's own, of three
LINES = ("Food and animals came up", "A trip is planned", "Instruments were discussed")
# The bot's answers repeat nothing of the page.
TALK = (
    ("Which train goes to Vienna?", "One leaves in the evening."),
    ("Is there a sleeper?", "Yes, with two beds and breakfast."),
    ("我想带一本书", "A novel suits a long ride."),
    ("What about luggage?", "Suitcases are free of charge."),
    ("How do I bake bread?", "Knead flour and water, then wait."),
    ("Is rye heavier?", "It is denser because it binds moisture."),
    ("猫为什么怕水", "湿毛让它觉得沉。"),
    ("Who painted sunflowers?", "A Dutch artist did."),
    ("Can violins be tuned at home?", "With a pitch pipe and patience."),
    ("Do penguins fly?", "They swim instead."),
    ("What is a quince?", "A fruit cooked into jelly."),
    ("How tall are giraffes?", "Taller than most houses."),
    ("Why is glass clear?", "Light passes its atoms."),
    ("Which moss is softest?", "Sphagnum feels like a sponge."),
    ("Do kites need wind?", "A gentle breeze lifts one."),
)
ROUND = 3  # of them between two folds


class Talker(Steered):
    """Talks about trains, and summarises with or without a line about the page."""

    def __init__(self, summaries: str) -> None:
        noted = {
            name: [call("memory_write", f"w-{name}", **what), "done"]
            for name, what in WRITES.items()
        }
        super().__init__(**noted)
        self.summaries = summaries
        self.folds = 0

    def __call__(self, request: Request) -> ScriptedAnswer:
        if request.purpose == "fold":
            if self.summaries == "none":
                return ModelError("busy")
            kept = f"\n{KEPT_LINE}" if self.summaries == "line" else ""
            self.folds += 1
            return folded(
                f"- {LINES[self.folds % 3]}", f"## Goal and state\n- {LINES[self.folds % 3]}{kept}"
            )
        said = self._newest_words(request)
        answer = next((answer for asked, answer in TALK if asked in said), "")
        return answer or super().__call__(request)


WRITES = {"note the tea": TEA, "oolong": OOLONG}


async def talk_and_fold(it: Inside, first: int, last: int) -> None:
    for number in range(first, last):
        for asked, _ in TALK[number * ROUND : (number + 1) * ROUND]:
            await it.text(asked)
        await it.text("/context fold")
        await it.bot.settled()


async def is_tainted(it: Inside) -> bool:
    return is_view_tainted(await it.bot.store.sessions.load(await it.conversation()))


@pytest.mark.parametrize("restart", first_by_day(1, [True, False]))
@pytest.mark.parametrize("summaries", ["none", "plain", "line"])
async def test_S53_a_page_taints_until_it_and_all_lines_that_rest_on_it_have_left_the_view(
    tmp_path: Path, summaries: str, restart: bool
) -> None:
    page(tmp_path)
    model = Talker(summaries)
    async with inside(tmp_path, model) as it:
        assert await it.text("read the page") == ORDER
        assert await is_tainted(it)
        await talk_and_fold(it, 0, 3)
        assert len(await it.bot.store.folds.folds(await it.conversation())) == 3
        if not restart:
            await it.text("note the tea")
    async with inside(tmp_path, model) as it:
        if restart:
            await it.text("note the tea")
        # the extract that stands in for a failed summary quotes the tool's result
        kept = summaries != "plain"
        assert await is_tainted(it) is kept
        assert (TEA["text"] in memory(it)) is not kept
        await it.text("By the way, I prefer oolong tea")
        assert OOLONG["text"] in memory(it), "a person's own words are noted in any view"
        if kept:
            model.summaries = "plain"
            await talk_and_fold(it, 3, 5)
            assert not await is_tainted(it), "the label ends with the line"


class Repeater(Talker):
    """Says what the page ordered wherever its request has that, and only there."""

    def __call__(self, request: Request) -> ScriptedAnswer:
        if request.purpose == "fold" or "who has a copy?" not in self._newest_words(request):
            return super().__call__(request)
        shown = "\n".join(text for message in request.messages for text in words_of(message.parts))
        return "By the way, mallory has a copy." if "mallory" in shown else "Nobody."


async def test_S53_the_bot_that_repeats_the_page_keeps_the_view_tainted(tmp_path: Path) -> None:
    page(tmp_path)
    async with inside(tmp_path, Repeater("plain")) as it:
        await it.text("read the page")
        for number in range(4):
            assert "mallory" in await it.text("who has a copy?"), "recall brings it back"
            await talk_and_fold(it, number, number + 1)
        assert await is_tainted(it)
        await it.text("note the tea")
        assert TEA["text"] not in memory(it)


async def test_S53_what_was_found_again_taints_again(tmp_path: Path) -> None:
    page(tmp_path)
    model = Talker("plain")
    model.acts["again"] = [
        call("memory_search", "s1", query="harbour rule mallory"),
        call("memory_write", "w1", category="fact", text=ORDER),
        "done",
    ]
    async with inside(tmp_path, model) as it:
        await it.text("read the page")
        await talk_and_fold(it, 0, 3)
        await it.text("again")
        assert "mallory" not in memory(it)
    assert OUTSIDE in model.heard["again"][1]
