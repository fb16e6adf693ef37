"""A memory's whole life: told in January, found in November, and forgotten for good. S58."""

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.models.base import Request
from bot.models.providers.offline import ScriptedAnswer
from channels.testing import ScriptedChannel as Channel
from memory.recall.documents import SearchRequest
from tests.bot.agent.test_recall_in_prompt import recalled
from tests.bot.inside import TERMINAL, Inside, inside
from tests.bot.talk import call, folded, results, words
from tests.by_night import first_by_day

SETTINGS = {"timezone": "UTC", "memory": {"extract": True, "recall_timeout_ms": 10_000}}
SMALL = ("好的", "ok", "继续")
LOOK = "look it up"


@dataclass(frozen=True, kw_only=True)
class Fact:
    """What is told. word: what nobody could guess, and no other text has; finds: how a reader comes
    by it.

    content: what a model makes of it; about: words of it that are not the word; unknown: what a
    model says that does not know; small: talk about nothing; alike: pairs of lines that say the
    same.
    """

    told: str
    asked: str
    word: str
    finds: str
    content: str
    about: str
    unknown: str
    small: str
    alike: tuple[tuple[str, str], tuple[str, str]]


ZH = Fact(
    told="我养了一只黑猫，名字叫墨墨，很黏人",
    asked="我的黑猫叫什么名字？",
    word="墨墨",
    finds="名字叫(..)",
    content="用户养了一只黑猫，名字叫{}",
    about="黑猫",
    unknown="我不知道。",
    small="今天又下雨了，路上有点堵",
    alike=(("喜欢喝绿茶", "喜欢喝绿茶。"), ("周末常去爬山", "周末常去爬山！")),
)
EN = Fact(
    told="The locker of my climbing gym opens with 4013771953, in case I forget",
    asked="What opens the locker of my climbing gym?",
    word="4013771953",
    finds=r"opens with (\d+)",
    content="The locker of the user's climbing gym opens with {}",
    about="locker",
    unknown="I do not know.",
    small="It rained again today and the roads were full",
    alike=(
        ("Likes green tea", "likes green tea."),
        ("Often hikes at weekends", "often hikes at weekends!"),
    ),
)


@dataclass
class Life:
    """One home through the months. now: the time everywhere in it. it: the bot as it runs now."""

    folder: Path
    fact: Fact
    now: datetime = datetime(2026, 1, 5, 9, tzinfo=UTC)
    channel: Channel = field(
        default_factory=lambda: Channel(name="terminal", account="local", capabilities=TERMINAL)
    )

    @asynccontextmanager
    async def awake(self) -> AsyncIterator[Inside]:
        """From one start of the program to its end."""
        it = inside(
            self.folder, self.model, SETTINGS, self.channel, clock=lambda: self.now.timestamp()
        )
        async with it as self.it:
            yield self.it

    def model(self, request: Request) -> ScriptedAnswer:
        """It knows nothing of its own: what it is asked is in what recall brings, or it does not
        know.
        """
        if request.purpose == "fold":
            told = self.fact.told in words(request)[-1]
            return folded(f"- User: {self.fact.told}" if told else "- Small talk.", "Small talk.")
        if request.purpose == "extract":
            said = words(request)[-1].partition("</data>")[0]
            return json.dumps(
                [self._noted(found[1], said) for found in re.finditer(self.fact.finds, said)]
            )
        if request.purpose != "turn":
            return "[]"
        found = re.search(self.fact.finds, "\n".join(recalled(request)))
        return found[1] if found and self.fact.asked in words(request)[-2] else self.fact.unknown

    def _noted(self, word: str, said: str) -> dict[str, object]:
        source = said[: said.index(word) + len(word)].rpartition("\n")[2]
        return {
            "category": "fact",
            "content": self.fact.content.format(word),
            "importance": 8,
            "source": source,
        }

    async def say(self, text: str) -> str:
        answer = await self.it.text(text)
        await self.it.bot.settled()
        return answer

    def request(self) -> Request:
        """What the model was asked last to answer."""
        return next(one for one in reversed(self.it.model.requests) if one.purpose == "turn")

    async def month(self, month: int) -> None:
        """Talk about nothing, and a fold."""
        self.now = self.now.replace(month=month)
        for _ in range(2):
            await self.say(self.fact.small)
        await self.say("/context fold")

    async def night(self, *written: str) -> None:
        """The night to the next day. written: lines that the person puts into MEMORY.md before
        it.
        """
        self.now += timedelta(days=1)
        with self.memory.open("a", encoding="utf-8") as file:
            file.write("".join(f"- {line}\n" for line in written))
        await self.it.bot.memory_service.dreamer.night(self.now.date())

    async def forget(self) -> str:
        """From the preview to the receipt; the copies that it names are deleted, as it says."""
        code = re.search(r"[A-Z0-9]{4}-[A-Z0-9]{4}", await self.say(f"/forget {self.fact.word}"))
        assert code is not None
        receipt = await self.say(f"/forget yes {code[0]}")
        for copy in (self.folder / "data" / "snapshots").glob("*"):
            assert f"data/snapshots/{copy.name}" in receipt
            copy.unlink()
        return receipt

    @property
    def memory(self) -> Path:
        return self.folder / "workspace" / "MEMORY.md"

    def traces(self) -> list[str]:
        """The files of the home that have the word in any of the ways that it is written."""
        word = self.fact.word
        forms = {word.encode(), word.encode("utf-16-le"), json.dumps(word)[1:-1].encode()}
        files = [path for path in self.folder.rglob("*") if path.is_file()]
        return [path.name for path in files if any(form in path.read_bytes() for form in forms)]

    async def assert_gone(self) -> None:
        """In no file, row or index, in nothing that is found, and in no request."""
        begun = len(self.it.model.requests)
        assert self.traces() == []
        assert await self.say(self.fact.asked) == self.fact.unknown
        assert all(
            self.fact.word not in repr(request) for request in self.it.model.requests[begun:]
        )
        for query in (self.fact.word, self.fact.told, self.fact.about):
            found = await self.it.bot.recall.search(
                SearchRequest(space="", query=query, now=self.now, limit=200)
            )
            assert self.fact.word not in repr(found)
        assert self.traces() == []


@pytest.mark.parametrize("fact", first_by_day(1, [ZH, EN]), ids=["zh", "en"])
async def test_S58_told_in_january_answered_in_november_and_then_forgotten(
    tmp_path: Path, fact: Fact
) -> None:
    life = Life(tmp_path, fact)
    async with life.awake():
        await life.say(fact.told)
        await life.month(1)
        await life.night(*fact.alike[0])
        for month in range(2, 7):
            await life.month(month)
        assert "rolling" in await life.say("/policy rolling")
    async with life.awake() as it:
        await life.night(*fact.alike[1])
        for month in range(7, 12):
            await life.month(month)
        folds = await it.bot.store.folds.folds(await it.conversation())
        assert sum(fold.state == "folded" for fold in folds) >= 10
        memory = life.memory.read_text("utf-8").casefold()
        assert [memory.count(one.casefold()) for one, _ in fact.alike] == [1, 1], (
            "two nights have merged two pairs"
        )

        assert await life.say(fact.asked) == fact.word
        assert [
            line
            for line in recalled(life.request())
            if fact.told in line and line.startswith("- [2026-01-05")
        ]
        shown = await life.say("/memory show")
        [number] = re.findall(rf"^ *(\d+)  .*{fact.word}", shown, re.MULTILINE)
        why = await life.say(f"/memory why {number}")
        assert f"2026-01-05 09:00 · terminal\n> {fact.told}" in why

        for _ in range(3):
            life.now += timedelta(days=1)
            await life.say(fact.told)
            await life.month(11)
        assert len(life.traces()) >= 3, "the record, the index and the files have it"
        receipt = await life.forget()
        assert "MEMORY.md:" in receipt
        assert all(f"memory/2026-{day}.md:" in receipt for day in ("01-05", "11-08", "11-09")), (
            receipt
        )
        await life.assert_gone()
        await life.night()
        await life.assert_gone()
        await it.bot.recall.rebuild("")
        await life.assert_gone()
    life.now += timedelta(days=1)
    async with life.awake():
        await life.assert_gone()
        await life.night()
        await life.assert_gone()


@pytest.mark.parametrize("fact", first_by_day(1, [ZH, EN]), ids=["zh", "en"])
async def test_after_months_of_talk_small_words_still_bring_nothing_back(
    tmp_path: Path, fact: Fact
) -> None:
    life = Life(tmp_path, fact)
    async with life.awake():
        await life.say(fact.told)
        for month in range(1, 4):
            for small in SMALL:
                await life.say(small)
            await life.month(month)
        for small in SMALL:
            await life.say(small)
            assert "[Recalled " not in words(life.request())[-1]
        assert await life.say(fact.asked) == fact.word


@pytest.mark.parametrize("fact", first_by_day(1, [EN, ZH]), ids=["en", "zh"])
async def test_I18_what_was_cleared_long_ago_comes_back_only_for_who_looks_for_it(
    tmp_path: Path, fact: Fact
) -> None:
    class Looking(Life):
        def model(self, request: Request) -> ScriptedAnswer:
            if request.purpose == "turn" and words(request)[-2] == LOOK and not results(request):
                return call("memory_search", query=fact.about)
            return super().model(request) if request.purpose != "extract" else "[]"

    life = Looking(tmp_path, fact)
    async with life.awake():
        await life.say(fact.told)
        await life.month(1)
        await life.say("/context clear")
        for month in range(2, 5):
            await life.month(month)
    async with life.awake():
        assert await life.say(fact.asked) == fact.unknown
        assert fact.word not in repr(life.request())
        await life.say(LOOK)
        assert fact.word in "".join(result.text for result in results(life.request()))
        assert fact.told in await life.say(f"/memory search {fact.about}")
        assert await life.say(fact.asked) == fact.unknown
