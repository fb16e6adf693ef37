"""Usage and cost: everyone sees their own, the owner all of it, by model and by person."""

from pathlib import Path
from typing import Any

from bot.console.services import BotConsole
from bot.models.base import Answer, Request, TokensUsed
from bot.models.providers.offline import ScriptedAnswer
from memory.conversation import Text
from tests.bot.access.test_over_budget import MODEL, bot, says

CACHED = TokensUsed(input=100_000, output=10_000, cache_read=40_000, cache_write=20_000)
COST = (40_000 * 2 + 10_000 * 10 + 40_000 * 2 * 0.05 + 20_000 * 2 * 1.25) / 1_000_000


def script(request: Request) -> ScriptedAnswer:
    model = "my-own" if "own model" in str(request.messages[-1]) else MODEL
    return [Answer(parts=(Text(text="ok"),), stop="end", usage=CACHED, model=model)]


async def test_each_person_sees_what_they_used_and_what_it_cost(tmp_path: Path) -> None:
    async with bot(tmp_path, script) as it:
        await says(it, "2")
        await says(it, "3", "my own model")
        told = await says(it, "2", "/usage")
        line = (
            f"{MODEL} · answers: 1 call, 100,000 → 10,000 tokens, 40,000 from cache, 20,000 to "
            f"cache, US$ {COST:.2f}"
        )
        assert told.splitlines() == [
            *("**today**", line, "**this month**", line, "**30 days**", line),
            f"left today: 2,930,000 tokens, US$ {2 - COST:.2f}",
        ]
        await says(it, "3")
        assert (await says(it, "3", "/usage")).splitlines()[1:4] == [
            line,
            (
                "my-own · answers: 1 call, 100,000 → 10,000 tokens, 40,000 from cache, "
                "20,000 to cache, price unknown"
            ),
            f"= 140,000 uncached tokens, US$ {COST:.2f} (without my-own, whose price is unknown)",
        ]


async def test_S12_in_a_group_everybody_sees_their_own_and_the_owner_too(tmp_path: Path) -> None:
    async with bot(tmp_path, script) as it:
        group = {"chat": "-100", "kind": "group", "addressed": True}
        await says(it, "2")
        await says(it, "1")
        await says(it, "1")
        assert "2 calls" in await says(it, "1", "/usage", **group)
        assert "1 call," in await says(it, "2", "/usage", **group)
        assert "nothing used" in await says(it, "3", "/usage")


async def test_the_owner_sees_everybody_by_model_and_by_person(tmp_path: Path) -> None:
    async with bot(tmp_path, script) as it:
        await says(it, "2")
        await says(it, "2")
        await says(it, "3")
        await says(it, "1", "你好")
        told = (await says(it, "1", "/usage")).splitlines()
        assert told[1].startswith(f"{MODEL} · 对话: 4 次，400,000 → 40,000 tokens")
        assert told[2:5] == [
            f"· telegram 2: 140,000 个未缓存 token，US$ {2 * COST:.2f}",
            f"· 你: 70,000 个未缓存 token，US$ {COST:.2f}",
            f"· telegram 3: 70,000 个未缓存 token，US$ {COST:.2f}",
        ]
        facts: Any = await BotConsole(it.bot).usage()
        [row] = facts["today"]
        assert (row["calls"], row["cost"], facts["unit"]) == (4, round(4 * COST, 6), "USD")
        assert [person["who"] for person in facts["month_people"]] == [
            "telegram:bot:2",
            "owner",
            "telegram:bot:3",
        ]
