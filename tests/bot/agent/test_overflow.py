"""A provider whose window is smaller, or whose count is larger, than we believe: what is shown
shrinks, nothing goes.

Under every policy, with the vendors' wording that names numbers and with the one that names none.
"""

import random
from pathlib import Path
from typing import Any

import pytest

from memory.context.policies.policies import POLICIES
from memory.conversation import Message, Session
from tests.bot.inside import Inside
from tests.bot.wired import wired
from tests.by_night import by_night, first_by_day
from tests.emulators.model import ModelEmulator, Seen
from tests.emulators.model_counts import Count, named
from tests.emulators.model_replies import Call, Reply, echo, is_fold, last_words, refuse
from tests.emulators.model_rules import seen_by_model

MOST_TRIES = 3  # the first request of a step and two more
WINDOW, HUGE_WINDOW = 16_000, 15_000
WORDS = (
    "the",
    "old",
    "harbour",
    "crane",
    "moved",
    "forty",
    "boxes",
    "中间",
    "还有",
    "三百",
    "公斤",
    "茶叶",
    "unseen",
)
COUNTS = named("pieces:50000")
LONGER = {
    True: "prompt is too long: 250000 tokens > 200000 maximum",
    False: "Input is too long for requested model.",
}

BY_DAY = {("balanced", True), ("turns", False)}
# Each wording of a refusal with one of the policies by day, with all by night.
policies_and_wordings = pytest.mark.parametrize(
    ("policy", "told"),
    [
        pytest.param(
            policy, told, id=f"{name}-{policy}", marks=() if (policy, told) in BY_DAY else by_night
        )
        for policy in sorted(POLICIES)
        for told, name in ((True, "numbers"), (False, "no numbers"))
    ],
)
# What is recalled would make some requests longer, by how quickly it is found.
QUIET: Any = {"memory": {"extract": False, "recall_limit": 0}}


def times(factor: float) -> Count:
    """A tokenizer that makes so many more tokens of everything."""
    return lambda value: round(COUNTS(value) * factor)


def essay(seed: int, size: int) -> str:
    """So many words, never the same."""
    drawn = random.Random(seed)
    return " ".join(f"{drawn.choice(WORDS)}{drawn.randrange(10)}" for _ in range(size))


def replying(body: dict[str, Any]) -> Reply:
    """Read the file a person names, once; else say their words again, cut."""
    words = last_words(body).rpartition("[End of summary]")[2].strip().partition("\n")[0]
    newest = body["messages"][-1]
    answered = newest["role"] == "tool" or "tool_result" in str(newest["content"])
    if not is_fold(body) and "please read" in words and not answered:
        return Reply(calls=(Call(name="read_file", input={"path": "notes.md"}),))
    return echo(body) if is_fold(body) else Reply(text=f"so: {words[:300]}", delta=100)


async def history(it: Inside, turns: int) -> dict[str, Message]:
    """So many turns, every fourth with a tool; what the record then holds."""
    for number in range(turns):
        asked = "please read the notes" if number % 4 == 2 else essay(number, 60)
        await it.text(f"{number}: {asked}")
    return await stored(it)


async def stored(it: Inside) -> dict[str, Message]:
    """All messages of the conversation, folded ones too."""
    return {
        message.id: message
        for message in await it.bot.store.sessions.messages(await it.conversation())
    }


async def session(it: Inside) -> Session:
    return await it.bot.store.sessions.load(await it.conversation())


def tries(emulator: ModelEmulator, since: int) -> list[Seen]:
    """The requests of turns since then, answered and refused; work beside the turns offers no
    tools.
    """
    return [seen for seen in emulator.requests[since:] if seen.body.get("tools")]


async def nothing_lost(it: Inside, before: dict[str, Message]) -> dict[str, Message]:
    """What the record holds, which is also what it held before."""
    after = await stored(it)
    assert {id: after.get(id) for id in before} == before
    assert not await it.bot.store.folds.check_ledger()
    return after


def emulate(told: bool, window: int = WINDOW) -> ModelEmulator:
    emulator = ModelEmulator(responder=replying, window=window)
    emulator.counts, emulator.told = COUNTS, told
    return emulator


def notes(folder: Path) -> None:
    (folder / "workspace").mkdir()
    (folder / "workspace" / "notes.md").write_text(essay(99, 250))


@policies_and_wordings
async def test_a_provider_that_suddenly_counts_half_as_much_again_is_answered_within_two_more_tries(
    tmp_path: Path, policy: str, told: bool
) -> None:
    notes(tmp_path)
    async with (
        emulate(told) as emulator,
        wired(
            tmp_path, emulator, **QUIET, llm={"context_window": WINDOW}, context_policy=policy
        ) as it,
    ):
        await history(it, 8)
        # a fold beside the turns makes the next request shorter than the newest one
        await it.bot.settled()
        await it.text("ready?")
        before = await stored(it)
        words = f"and now?\n{essay(500, 900)}"
        newest = tries(emulator, 0)[-1]
        size = COUNTS(seen_by_model(newest.body)) + COUNTS(words)
        emulator.counts, emulator.window = times(1.5), int(size * 1.3) + 1_024
        since = len(emulator.requests)
        assert await it.text(words) == "so: and now?"
        asked = tries(emulator, since)
        assert asked[0].refused, "the first request was too long"
        assert 2 <= len(asked) <= MOST_TRIES
        await nothing_lost(it, before)
        since = len(emulator.requests)
        assert await it.text("and then?") == "so: and then?"
        assert len(tries(emulator, since)) <= 2, "what was learnt is not forgotten at once"
        await nothing_lost(it, before)


@policies_and_wordings
async def test_a_window_smaller_than_we_know_never_keeps_an_answer_back(
    tmp_path: Path, policy: str, told: bool
) -> None:
    notes(tmp_path)
    async with (
        emulate(told, window=8_000) as emulator,
        wired(tmp_path, emulator, **QUIET, context_policy=policy) as it,
    ):
        seen: dict[str, Message] = {}
        for number in range(16):
            since, asked = len(emulator.requests), f"{number}: {essay(number, 110)}"
            assert (await it.text(asked)).startswith(f"so: {asked[:200]}")
            assert len(tries(emulator, since)) <= MOST_TRIES
            seen = await nothing_lost(it, seen)
        if policy != "rolling":
            assert any(item.refused for item in emulator.requests), "the window was met"
        assert len(seen) == 32


@policies_and_wordings
async def test_where_nothing_helps_the_person_is_told_in_one_sentence_and_may_go_on(
    tmp_path: Path, policy: str, told: bool
) -> None:
    notes(tmp_path)
    settings = {**QUIET, "language": "en", "context_policy": policy}
    async with emulate(told) as emulator, wired(tmp_path, emulator, **settings) as it:
        before = await history(it, 6)
        since = len(emulator.requests)
        emulator.script([refuse(400, message=LONGER[told]) for _ in range(MOST_TRIES)])
        (answer,) = await it.say("what about this one?")
        assert "window" in answer.text
        assert len(answer.text.split()) < 40
        assert len(tries(emulator, since)) == MOST_TRIES
        await nothing_lost(it, before)
        assert len(await stored(it)) == len(before) + 2, (
            "the question is kept, with a line that it got no answer"
        )
        since = len(emulator.requests)
        assert await it.text("shorter?") == "so: shorter?"
        assert len(tries(emulator, since)) == 1
        await nothing_lost(it, before)


@pytest.mark.parametrize(
    ("provider", "told"),
    first_by_day(
        2, [("openai", False), ("anthropic", True), ("openai", True), ("anthropic", False)]
    ),
)
async def test_one_huge_message_is_shown_in_part_and_kept_whole(
    tmp_path: Path, provider: str, told: bool
) -> None:
    async with (
        emulate(told, HUGE_WINDOW) as emulator,
        wired(tmp_path, emulator, provider, **QUIET) as it,
    ):
        before = await history(it, 2)
        huge = essay(7, 20_000)
        assert (await it.text(f"look: {huge}")).startswith("so: look:")
        assert 2 <= len(tries(emulator, 0)) - 2 <= MOST_TRIES
        assert all(
            COUNTS(seen_by_model(seen.body)) <= HUGE_WINDOW
            for seen in emulator.requests
            if not seen.refused
        )
        kept = (await session(it)).turns[-1].messages[0]
        assert huge in str(kept.parts)
        await nothing_lost(it, before)
