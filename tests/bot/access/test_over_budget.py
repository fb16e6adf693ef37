"""S65: a person over a budget gets one notice, the model is not called, and no other person is
affected.
"""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bot.models.base import Answer, Request, TokensUsed
from bot.models.providers.offline import ScriptedAnswer
from channels.testing import ScriptedChannel as Channel
from memory.conversation import Text
from tests.bot.inside import Inside, inside
from tests.bot.talk import Held, call, folded, results

MODEL = "claude-sonnet-5-5"


class Clock:
    """Unix seconds that pass when a test says so: at first a quarter past three in the afternoon,
    UTC.
    """

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 22, 15, 15, tzinfo=UTC).timestamp()

    def __call__(self) -> float:
        return self.now


def spends(tokens: int, model: str = MODEL) -> Any:
    def script(request: Request) -> ScriptedAnswer:
        return [
            Answer(
                parts=(Text(text="ok"),), stop="end", usage=TokensUsed(input=tokens), model=model
            )
        ]

    return script


@asynccontextmanager
async def bot(
    folder: Path,
    script: Any = None,
    clock: Clock | None = None,
    total: dict[str, Any] | None = None,
    settings: dict[str, Any] | None = None,
    **user: Any,
) -> AsyncIterator[Inside]:
    """A bot that the owner (1), two users (2, 3) and a group (-100) write to."""
    whole = {
        "timezone": "UTC",
        "channels": {"telegram": {"owners": ["1"], "allow": ["2", "3", "-100"]}},
        "budgets": {"user": user, "total": total or {}},
        **(settings or {}),
    }
    channel = Channel(name="telegram")
    made = clock or Clock()
    async with inside(folder, script or (lambda _: "ok"), whole, channel, clock=made) as it:
        yield it


async def says(it: Inside, person: str, text: str = "hello", chat: str = "", **fields: Any) -> str:
    return await it.text(text, chat=chat or person, sender=person, **fields)


async def ended(it: Inside, key: str) -> tuple[str, str]:
    """State and reason of a message that may have no answer."""
    await it.channel.until(lambda: key in it.channel.confirmed)
    await it.bot.settled()
    with closing(sqlite3.connect(it.bot.home.db)) as record:
        [found] = record.execute("SELECT state, reason FROM inbox WHERE key = ?", (key,)).fetchall()
    return found[0], found[1]


async def test_S65_a_flood_gets_one_sentence_and_everybody_else_their_answers(
    tmp_path: Path,
) -> None:
    async with bot(tmp_path, messages_per_minute=30) as it:
        flood = [
            it.channel.hear("x" * 1_000, chat="2", sender="2", key=f"flood{n}") for n in range(60)
        ]
        others = [it.channel.hear("hi", chat="3", sender="3", key=f"other{n}") for n in range(5)]
        await it.channel.until(lambda: len(it.channel.confirmed) == 65)
        await it.bot.settled()
        assert [part.text for message in others for part in it.parts(message.key)] == ["ok"] * 5
        told = [part.text for message in flood for part in it.parts(message.key)]
        assert told[:30] == ["ok"] * 30
        assert told[30:] == ["The limit is 30 messages a minute. Try again in 1 min."]
        assert len([asked for asked in it.model.requests if asked.purpose == "turn"]) == 35
        assert await it.bot.store.delivery.waiting() == []
        assert (await ended(it, "flood30"))[0] == "done"
        assert await ended(it, "flood59") == ("ignored", "over budget")


async def test_after_the_minute_there_is_an_answer_again(tmp_path: Path) -> None:
    clock = Clock()
    async with bot(tmp_path, clock=clock, messages_per_minute=2) as it:
        for wait in (0, 20, 20):
            clock.now += wait
            last = await says(it, "2")
        assert last == "The limit is 2 messages a minute. Try again in 20 s."
        clock.now += 21
        assert await says(it, "2") == "ok"
        assert await says(it, "2", "你好") == "每分钟最多 2 条消息，请 19 秒后再发。"


async def test_a_day_ends_at_midnight_where_the_owner_is_and_a_restart_forgets_nothing(
    tmp_path: Path,
) -> None:
    clock = Clock()
    async with bot(tmp_path, clock=clock, messages_per_day=2) as it:
        assert [await says(it, "2") for _ in range(2)] == ["ok", "ok"]
    async with bot(tmp_path, clock=clock, messages_per_day=2) as it:
        assert (
            await says(it, "2")
            == "Today's 2 messages are used up. The limit resets at 00:00, in 8 h 45 min."
        )
        it.channel.hear("more", chat="2", sender="2", key="more")
        assert await ended(it, "more") == ("ignored", "over budget")
        assert await says(it, "3") == "ok"
        clock.now += 8.75 * 3_600
        assert await says(it, "2") == "ok"


async def test_guests_have_a_day_of_their_own_and_strangers_none(tmp_path: Path) -> None:
    async with bot(tmp_path, guest_messages_per_day=1) as it:
        group = {"chat": "-100", "kind": "group", "addressed": True}
        assert await says(it, "8", **group) == "ok"
        assert (await says(it, "8", **group)).startswith("Today's 1 messages are used up")
        assert await says(it, "9", **group) == "ok"
        it.channel.hear("let me in", chat="66", sender="66", key="stranger")
        await it.bot.settled()
        assert len(it.model.requests) == 2


async def test_the_owner_has_no_limit_and_counts_to_nobodys(tmp_path: Path) -> None:
    nothing = {"messages_per_day": 1, "money_per_day": 0.0001}
    async with bot(
        tmp_path, spends(9_000), total=nothing, messages_per_minute=1, tokens_per_day=1
    ) as it:
        assert [await says(it, "1") for _ in range(3)] == ["ok"] * 3
        assert await says(it, "2") == "ok"
        assert (await says(it, "3")).startswith("Today's 1 messages for everyone")
        assert await says(it, "1") == "ok"


async def test_tokens_are_those_that_no_cache_gave_and_the_day_is_everywhere_the_same_persons(
    tmp_path: Path,
) -> None:
    async with bot(tmp_path, spends(600), tokens_per_day=1_000) as it:
        assert await says(it, "2") == "ok"
        assert await says(it, "2", chat="-100", kind="group", addressed=True) == "ok"
        assert (await says(it, "2")).startswith("Today's 1,000 tokens are used up")
        assert await says(it, "3") == "ok"


@pytest.mark.parametrize(("model", "refused"), [(MODEL, True), ("an-unknown-model", False)])
async def test_money_holds_where_the_price_is_known(
    tmp_path: Path, model: str, refused: bool
) -> None:
    async with bot(tmp_path, spends(100_000, model), money_per_day=0.3) as it:
        assert [await says(it, "2") for _ in range(2)] == ["ok", "ok"]
        third = await says(it, "2")
        assert third == (
            "Today's limit of US$ 0.30 is used up. It resets at 00:00, in 8 h 45 min."
            if refused
            else "ok"
        )


async def test_the_owner_is_told_once_a_day_when_everybodys_money_is_nearly_used_up(
    tmp_path: Path,
) -> None:
    clock = Clock()
    async with bot(tmp_path, spends(50_000), clock=clock, total={"money_per_day": 0.5}) as it:
        await says(it, "1")
        for _ in range(5):
            assert (await says(it, "2")) == "ok"
        assert (await says(it, "3")).startswith("Today's limit of US$ 0.50 for everyone is used up")
        await it.bot.settled()
        told = [
            sent.text
            for sent in it.channel.sent
            if sent.address.chat_id == "1" and "today" in sent.text.lower()
        ]
        assert told == [
            (
                "Everyone together has used US$ 0.40 of US$ 0.50 today. Once that is used up, "
                "everyone but you waits until tomorrow."
            ),
            (
                "Today's shared limit of US$ 0.50 is used up (US$ 0.50). Everyone but you "
                "waits until tomorrow."
            ),
        ]


async def test_the_owner_is_warned_of_what_they_use_themselves(tmp_path: Path) -> None:
    async with bot(tmp_path, spends(100_000), money_per_day=0.3) as it:
        for _ in range(3):
            assert await says(it, "1") == "ok"
        await it.bot.settled()
        told = [sent.text for sent in it.channel.sent if "You have used" in sent.text]
        assert told == [
            "You have used US$ 0.40 today. You have no limit; everyone else's is US$ 0.30."
        ] or (
            told
            == [("You have used US$ 0.60 today. You have no limit; everyone else's is US$ 0.30.")]
        )


async def test_two_turns_of_one_person_do_not_both_pass_on_the_last_tokens(tmp_path: Path) -> None:
    """The second one counts the first at the most that its call may come to."""
    held = Held(lambda _: "slow", lambda request: True)
    async with bot(tmp_path, tokens_per_day=54_000) as it:
        it.bot.models.use(held)
        group = {"chat": "-100", "kind": "group", "addressed": True}
        first = it.channel.hear("one", chat="2", sender="2", key="one")
        await held.begun.wait()
        assert (await says(it, "2", "again", **group)).startswith(
            "Today's 54,000 tokens are used up"
        )
        third = it.channel.hear("hi", chat="3", sender="3", key="three")
        held.go_on.set()
        assert [(await it.answer(one.key))[0].text for one in (first, third)] == ["slow", "slow"]


@pytest.mark.parametrize(
    ("cost", "after"), [(100, "ok"), (10_000_000, "Today's 12,000 tokens are used up")]
)
async def test_a_fold_that_a_turn_waits_for_counts_before_its_model_is_called(
    tmp_path: Path, cost: int, after: str
) -> None:
    """The turn waits for the digest alone; the summary counts as one call's most until its cost is
    stored.
    """

    def is_fold(request: Request) -> bool:
        return request.purpose == "fold"

    def tell(request: Request) -> str:
        return folded("- talk", "## Facts and preferences\n- talk") if is_fold(request) else "ok"

    # 0 teaches nothing about the size of requests
    held = Held(tell, is_fold, lambda request: cost * is_fold(request))
    memory = {"extract": False, "recall_limit": 0}
    small = {
        "agent_max_context_tokens": 8_000,
        "policies": {"balanced": {"fold_at": 1.0}},
        "memory": memory,
    }
    async with bot(tmp_path, settings=small, tokens_per_day=12_000) as it:
        it.bot.models.use(held)
        for number in range(4):
            assert await says(it, "2", f"{number} " + "many words about it " * 60) == "ok"
        assert len(held.turns) == len(held.requests)
        await it.bot.settled()
        told = await says(it, "2", "more " * 5_400)
        assert told.startswith("Today's 12,000 tokens are used up")
        assert len(held.turns) == 4
        await held.begun.wait()
        held.go_on.set()
        await it.bot.settled()
        assert (await says(it, "2")).startswith(after)


async def test_a_turn_ends_when_the_tokens_do(tmp_path: Path) -> None:
    def script(request: Request) -> ScriptedAnswer:
        usage = TokensUsed(input=700)
        return [
            Answer(
                parts=(call("clock", id=f"t{len(results(request))}"),),
                stop="tools",
                usage=usage,
                model=MODEL,
            )
        ]

    async with bot(tmp_path, script, tokens_per_day=1_000) as it:
        assert (await says(it, "2", "work")).startswith("Today's 1,000 tokens are used up")
        assert len(it.model.requests) == 2


async def test_S65_a_thousand_tool_calls_are_cut_at_the_days(tmp_path: Path) -> None:
    many = tuple(call("read_file", id=f"t{n}", path=f"{n}.md") for n in range(1_000))

    def script(request: Request) -> ScriptedAnswer:
        found = results(request)
        if not found:
            return [Answer(parts=many, stop="tools", usage=TokensUsed(), model=MODEL)]
        return f"{sum(not one.text.startswith('[not done') for one in found)} of {len(found)}"

    async with bot(tmp_path, script, tool_calls_per_day=20) as it:
        assert await says(it, "2", "work") == "20 of 1000"
        assert await says(it, "3", "work") == "20 of 1000"
