"""Extraction of facts in the background: which turns, in which order, and never delaying a
reply.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bot.access.permissions import AccessScope, Actor, Role
from bot.agent.turn_context import EventSink, TurnContext, TurnResult, TurnSuffix
from bot.agent.turn_results import is_worth_extracting
from bot.config.schema import Config
from bot.dispatch import create_local_dispatcher
from bot.errors import Transient
from bot.memory.service import (
    MAX_PARALLEL_SPACES,
    extraction_settings,
    fast_model_completion,
    resume_extractions,
)
from bot.messages import to_address
from bot.models.base import Request
from bot.models.providers.offline import ScriptedModel
from bot.models.service import ModelService
from memory.conversation import Text
from memory.longterm.extraction import ExtractionRules
from memory.longterm.extraction_worker import NoModel
from memory.store.open import open_store
from memory.store.rows import ConversationRow, TurnRow
from tests.memory.longterm.noting import PREFERS_TEA, TEA, Desk, noted, place

LONG = "An answer that is quite long enough to be read for what it tells about the question."
ANSWERED = TurnResult(state="done", parts=(Text(text=LONG),), reply=LONG)
ON = Config()
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    held = Desk(tmp_path, await open_store(tmp_path / "mnema.db"))
    yield held
    await held.store.close()


async def test_fifty_turns_at_once_are_read_one_after_the_other_in_their_order(desk: Desk) -> None:
    running, most = 0, 0

    async def tell(prompt: str) -> str:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        return "[]"

    desk.tell = tell
    dispatcher = create_local_dispatcher("facts", desk.work.step, MAX_PARALLEL_SPACES)
    for number in range(50):
        await desk.say(f"My favourite number of today is {number}.")
        dispatcher.wake("")
    await dispatcher.settled()
    asked = [number for _, prompt in desk.asked for number in re.findall(r"today is (\d+)", prompt)]
    assert asked == [str(number) for number in range(50)]
    assert len(desk.asked) == 7
    assert most == 1
    assert await desk.store.extractions.counts() == {"done": 50}


async def test_spaces_are_read_beside_each_other_a_few_at_a_time(desk: Desk) -> None:
    waiting: list[str] = []
    full, go_on = asyncio.Event(), asyncio.Event()

    async def tell(prompt: str) -> str:
        waiting.append(prompt)
        if len(waiting) == MAX_PARALLEL_SPACES:
            full.set()
        await go_on.wait()
        return "[]"

    desk.tell = tell
    dispatcher = create_local_dispatcher("facts", desk.work.step, MAX_PARALLEL_SPACES)
    for number in range(MAX_PARALLEL_SPACES + 2):
        await desk.say(TEA, at=place(f"c{number}", f"telegram-{number}"))
        dispatcher.wake(f"telegram-{number}")
    await full.wait()
    for _ in range(20):
        await asyncio.sleep(0)
    assert len(waiting) == MAX_PARALLEL_SPACES
    go_on.set()
    await dispatcher.settled()
    assert len(waiting) == MAX_PARALLEL_SPACES + 2


async def test_what_is_under_way_when_the_process_ends_goes_on_at_the_next_start(
    desk: Desk,
) -> None:
    begun = asyncio.Event()

    async def hang(prompt: str) -> str:
        begun.set()
        await asyncio.Event().wait()
        return ""

    desk.tell = hang
    dispatcher = create_local_dispatcher("facts", desk.work.step, MAX_PARALLEL_SPACES)
    await desk.say(TEA)
    dispatcher.wake("")
    await begun.wait()
    await dispatcher.close(0)
    await desk.restart()
    desk.tell = noted(PREFERS_TEA)
    dispatcher = create_local_dispatcher("facts", desk.work.step, MAX_PARALLEL_SPACES)
    await resume_extractions(dispatcher, desk.store.extractions)
    await dispatcher.settled()
    assert await desk.lines() == ["The user prefers tea over coffee"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """A turn as it ends, and whether it is to be read for facts."""

    turn: TurnRow
    conversation: ConversationRow

    def remembered(
        self,
        *,
        kind: str = "dm",
        role: Role = "user",
        words: str = TEA,
        ended: TurnResult = ANSWERED,
        config: Config = ON,
    ) -> bool:
        at = replace(self.conversation.place, kind="group" if kind == "group" else "dm")
        job = TurnContext(
            conversation=replace(self.conversation, place=at),
            turn=self.turn,
            actor=Actor(channel="telegram", id="7", role=role),
            scope=AccessScope(kind=kind, space=at.space),  # type: ignore[arg-type]
            lang="en",
            suffix=TurnSuffix(clock=""),
            model="m",
            policy="balanced",
            max_steps=1,
            event_sink=EventSink(show=lambda event: None, address=to_address(at), message_id=""),
            words=words,
        )
        return is_worth_extracting(job, ended, config)


@pytest.fixture
async def asked(desk: Desk) -> Asking:
    turn = await desk.say(TEA, at=place("c1", "telegram-7"))
    conversation = await desk.store.sessions.conversation(turn.conversation)
    assert conversation is not None
    return Asking(turn=turn, conversation=conversation)


def test_turns_of_people_who_may_write_memory_are_remembered_in_private_only(asked: Asking) -> None:
    for kind in ("dm", "terminal", "console"):
        assert asked.remembered(kind=kind)
    assert not asked.remembered(kind="group")
    assert not asked.remembered(kind="group", role="owner")
    assert not asked.remembered(kind="job")
    for role in ("guest", "stranger"):
        assert not asked.remembered(role=role)  # type: ignore[arg-type]


def test_only_answered_turns_are_remembered(asked: Asking) -> None:
    for state in ("failed", "cancelled", "interrupted"):
        assert not asked.remembered(ended=replace(ANSWERED, state=state))  # type: ignore[arg-type]
    assert not asked.remembered(ended=replace(ANSWERED, declined=True))


def test_short_turns_and_those_without_words_are_not_remembered(asked: Asking) -> None:
    assert not asked.remembered(words="hi", ended=replace(ANSWERED, reply="Hello!"))
    assert asked.remembered(words="hi")
    assert not asked.remembered(words="")


def test_nothing_is_remembered_where_extraction_is_off(asked: Asking) -> None:
    assert not asked.remembered(config=Config.model_validate({"memory": {"extract": False}}))


def test_the_rules_are_those_configured() -> None:
    config = Config.model_validate(
        {"memory": {"categories": ["skill"], "min_importance": 7, "extract": False}}
    )
    settings = extraction_settings(config)
    assert (settings.extract, settings.rules) == (
        False,
        ExtractionRules(categories=("skill",), min_importance=7),
    )


def brain(script: Any) -> ModelService:
    async def nothing(question: str, conversation: str, space: str) -> list[Any]:
        return []

    made = ModelService(lambda sha256: b"", nothing, lambda name, error: None)
    if script is not None:
        made.use(ScriptedModel(script))
    else:
        made.configure(Config())
    return made


async def test_the_fast_model_is_asked_and_its_use_is_noted_as_extraction(desk: Desk) -> None:
    seen: list[Request] = []

    def tell(request: Request) -> str:
        seen.append(request)
        return json.dumps([PREFERS_TEA])

    turn = await desk.say(TEA)
    complete = fast_model_completion(brain(tell), desk.store.sessions)
    assert json.loads(await complete("system", "prompt", 100, turn.conversation)) == [PREFERS_TEA]
    assert (seen[0].purpose, seen[0].max_tokens, seen[0].tools) == ("extract", 100, ())
    [used] = await desk.store.sessions.usage(LONG_AGO, turn.conversation)
    assert used.purpose == "extract"


async def test_without_a_key_there_is_no_model_and_no_cost(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    turn = await desk.say(TEA)
    with pytest.raises(NoModel):
        await fast_model_completion(brain(None), desk.store.sessions)(
            "system", "prompt", 100, turn.conversation
        )
    assert await desk.store.sessions.usage(LONG_AGO) == []


async def test_a_models_failure_stays_one(desk: Desk) -> None:
    turn = await desk.say(TEA)
    with pytest.raises(Transient):
        await fast_model_completion(brain([Transient("busy")]), desk.store.sessions)(
            "system", "prompt", 100, turn.conversation
        )
