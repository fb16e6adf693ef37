"""Folds in a whole house: prepared while nobody waits, never in the way of an answer, void once the view moved on."""

import asyncio
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.agent.fit import whole_range
from bot.models.base import Request
from bot.scheduler import Scheduler, end_idle
from memory.context.view import fixed_tokens
from memory.conversation import Text
from memory.store.records import FoldPlan, FoldRow
from tests.bot.inside import Inside, inside
from tests.bot.talk import Held, folded, words

LOG = "- The user said fact 0 and fact 1."
SUMMARY = "## Facts and preferences\n- The user said fact 0 and fact 1."


def script(request: Request) -> str:
    """Answers with the newest words; summaries say two things that are true."""
    if request.purpose == "fold":
        return folded(LOG, SUMMARY)
    return f"re: {[text for text in words(request) if not text.startswith('[')][-1]}"


def is_fold(request: Request) -> bool:
    return request.purpose == "fold"


async def talk(it: Inside, first: int, last: int, chat: str = "c1") -> None:
    for number in range(first, last):
        await it.text(f"fact {number}", chat=chat)


async def folds(it: Inside, chat: str = "c1") -> list[FoldRow]:
    return await it.house.store.folds.folds(await it.conversation(chat))


async def plan_of(it: Inside, turns: int) -> FoldPlan:
    session = await it.house.store.sessions.load(await it.conversation())
    return whole_range(session, "test", "turns", turns)


async def test_after_twenty_turns_the_next_request_carries_a_summary_of_the_oldest_half(tmp_path: Path) -> None:
    async with inside(tmp_path, script) as it:
        await talk(it, 0, 20)
        await it.house.settled()
        (fold,) = await folds(it)
        assert (fold.from_turn, fold.to_turn, fold.method) == (1, 10, "model")
        await talk(it, 20, 25)
        first = it.model.requests[-1].messages[0]
        assert isinstance(first.parts[0], Text)
        assert first.parts[0].text.startswith("[Summary of 10 earlier turns.")
        assert first.parts[0].text.endswith("[End of summary]")
        assert SUMMARY in first.parts[0].text
        assert first.parts[1] == Text(text="fact 10")
        assert "fact 0" not in words(it.model.requests[-1])
        assert f"fold {fold.id}" in (tmp_path / "workspace" / fold.log_ref).read_text()
        assert not await it.house.store.folds.check_ledger()


async def test_a_second_fold_builds_on_the_first_ones_summary(tmp_path: Path) -> None:
    async with inside(tmp_path, script, {"agent_max_context_turns": 6}) as it:
        await talk(it, 0, 10)
        await it.house.settled()
        first, second = await folds(it)
        assert second.prev_fold == first.id
        assert second.from_turn == first.to_turn + 1
        asked = [request for request in it.model.requests if is_fold(request)][-1]
        assert SUMMARY in words(asked)[0]


async def test_a_summariser_that_hangs_holds_up_no_answer(tmp_path: Path) -> None:
    async with inside(tmp_path, [], {"agent_max_context_turns": 6}) as it:
        model = Held(script, is_fold)
        it.house.brain.use(model)
        await talk(it, 0, 12)
        assert model.begun.is_set()
        assert "fact 0" in words(model.turns[-1]), "the old view, while everything still fits"
        model.go_on.set()
        await it.house.settled()
        await talk(it, 12, 13)
        assert words(model.turns[-1])[0].startswith("[Summary of")


async def test_with_no_room_left_the_digest_stands_in_for_a_summary_that_does_not_come(tmp_path: Path) -> None:
    budget = {"agent_max_context_tokens": 6_000, "agent_max_context_turns": 10}
    async with inside(tmp_path, [], budget) as it:
        model = Held(script, is_fold)
        it.house.brain.use(model)
        for number in range(14):
            await it.text(f"fact {number}: " + "many words about it " * 60)
        assert model.begun.is_set()
        done = await folds(it)
        assert done
        assert {fold.method for fold in done} == {"extract"}
        counter = await it.house.fitter.counter()
        for request in model.turns:
            said = sum(counter.message(message.role, message.parts) for message in request.messages)
            assert fixed_tokens(request.system, request.tools, "", counter) + said <= 6_000
        assert not await it.house.store.folds.check_ledger()
        model.go_on.set()


async def test_with_notices_on_a_fold_is_told_when_it_begins_and_when_it_is_done(tmp_path: Path) -> None:
    async with inside(tmp_path, script, {"agent_max_context_turns": 6, "notify_folds": True}) as it:
        await talk(it, 0, 6)
        await it.channel.until(lambda: sum(part.kind == "notice" for part in it.channel.sent) == 2)
        begun, done = [part.text for part in it.channel.sent if part.kind == "notice"]
        assert begun.startswith("Folding the oldest turns (3): ")
        assert done.startswith("Folded turns 1–3 into memory/")
        assert "→" in done
        states = [event.facts["state"] for event in it.channel.shown if event.name == "fold"]
        assert states == ["planned", "summarised", "logged", "folded"]


async def test_without_them_a_fold_says_nothing(tmp_path: Path) -> None:
    async with inside(tmp_path, script, {"agent_max_context_turns": 6}) as it:
        await talk(it, 0, 6)
        await it.house.settled()
        assert not [part for part in it.channel.sent if part.kind == "notice"]


async def test_a_clear_makes_a_fold_under_way_stale_also_after_a_restart(tmp_path: Path) -> None:
    async with inside(tmp_path, [], {"agent_max_context_turns": 6}) as it:
        model = Held(script, is_fold)
        it.house.brain.use(model)
        await talk(it, 0, 7)
        await model.begun.wait()
        await it.text("/context clear")
        model.go_on.set()
        await it.house.settled()
        assert not await folds(it)
        await it.text("hello")
        assert not any("fact" in text for text in words(model.turns[-1]))
    async with inside(tmp_path, script) as it:
        await it.text("hello again")
        assert words(it.model.requests[-1])[:3] == ["hello", "re: hello", "hello again"]
        await it.text("/context undo")
        await it.text("and now")
        said = words([request for request in it.model.requests if not is_fold(request)][-1])
        assert said[:2] == ["fact 0", "re: fact 0"]
        assert said.index("fact 6") < said.index("hello again")
        assert not await it.house.store.folds.check_ledger()


async def test_a_hastened_fold_ends_the_one_under_way_with_the_digest(tmp_path: Path) -> None:
    async with inside(tmp_path, []) as it:
        model = Held(script, is_fold)
        it.house.brain.use(model)
        await talk(it, 0, 4)
        plan = await plan_of(it, 2)
        assert await it.house.folding.run(plan, patience=0.05) is None
        assert it.house.folding.busy(plan.conversation)
        row = await it.house.folding.hasten(plan)
        assert row is not None
        assert (row.state, row.method, row.to_turn) == ("folded", "extract", 2)
        assert not it.house.folding.busy(plan.conversation)
        assert await it.house.folding.hasten(plan) is None, "that view is gone"


async def test_folds_wanted_by_two_at_once_are_one_fold(tmp_path: Path) -> None:
    async with inside(tmp_path, script) as it:
        await talk(it, 0, 4)
        plan = await plan_of(it, 2)
        folding = it.house.folding
        _, row, _ = await asyncio.gather(folding.begin(plan), folding.hasten(plan), folding.begin(plan))
        await it.house.settled()
        assert row is not None
        assert row.state == "folded"
        assert [fold.id for fold in await folds(it)] == [row.id]
        log = (tmp_path / "workspace" / row.log_ref).read_text()
        assert log.count("<!-- fold") == 1


async def test_a_fold_that_failed_is_taken_up_by_the_next_one(tmp_path: Path) -> None:
    async with inside(tmp_path, script) as it:
        await talk(it, 0, 4)
        memory = tmp_path / "workspace" / "memory"
        if memory.exists():
            memory.rmdir()
        memory.write_text("in the way")
        assert "did not work" in await it.text("/context fold")
        assert await it.text("fact 4") == "re: fact 4"
        memory.unlink()
        assert "Folded turns 1–2" in await it.text("/context fold")
        assert len(await folds(it)) == 1
        assert not await it.house.store.folds.check_ledger()


async def test_a_conversation_idle_for_long_ends_and_is_in_the_log(tmp_path: Path) -> None:
    past = time.time() - 40 * 86_400
    async with inside(tmp_path, script, clock=lambda: past) as it:
        await talk(it, 0, 2)
    async with inside(tmp_path, script) as it:
        await it.text("I am here", chat="busy")
        ended = await end_idle(it.house.store, it.house.folding, it.house.config(), datetime.now(UTC))
        assert ended == 1
        await it.house.settled()
        facts = await it.house.report.facts(await it.conversation())
        assert (facts["turns"], facts["epoch"]) == (0, 2)
        assert (await it.house.report.facts(await it.conversation("busy")))["turns"] == 1
        log = "".join(path.read_text() for path in (tmp_path / "workspace" / "memory").glob("*.md"))
        assert "fact 0" in log
        later = datetime.now(UTC) + timedelta(days=1)
        assert await end_idle(it.house.store, it.house.folding, it.house.config(), later) == 0
        assert not await it.house.store.folds.check_ledger()


async def test_a_lean_restart_keeps_the_newest_turns_and_folds_the_others(tmp_path: Path) -> None:
    async with inside(tmp_path, script) as it:
        await talk(it, 0, 8)
    async with inside(tmp_path, script, {"session_restore": "lean"}) as it:
        await it.house.settled()
        (fold,) = await folds(it)
        assert (fold.from_turn, fold.to_turn) == (1, 5)
        await it.text("and now")
        said = words(it.model.requests[-1])
        assert said[0].startswith("[Summary of 5 earlier turns.")
        assert said[1:7] == ["fact 5", "re: fact 5", "fact 6", "re: fact 6", "fact 7", "re: fact 7"]
    async with inside(tmp_path, script, {"session_restore": "full"}) as it:
        await it.house.settled()
        assert len(await folds(it)) == 1


@pytest.mark.parametrize(("text", "told"), [("are you there?", "I was away for 3 h"), ("在吗？", "我离开了 3 小时")])
async def test_who_waited_for_long_is_told_once_and_then_answered(tmp_path: Path, text: str, told: str) -> None:
    past = time.time() - 3 * 3_600 - 60
    async with inside(tmp_path, [], clock=lambda: past) as it:
        model = Held(script, lambda request: True)
        it.house.brain.use(model)
        it.channel.hear("first", key="one")
        it.channel.hear(text, key="two")
        await it.channel.until(lambda: "two" in it.channel.confirmed)
        await model.begun.wait()
    async with inside(tmp_path, script) as it:
        await it.channel.until(lambda: len(it.channel.sent) == 3)
        notice, *answers = it.channel.sent
        assert told in notice.text
        assert [part.text for part in answers] == ["re: first", f"re: {text}"]
    async with inside(tmp_path, script) as it:
        await it.house.settled()
        assert not it.channel.sent


async def test_a_scheduler_stopped_before_it_began_never_begins() -> None:
    async def never() -> None:
        raise AssertionError("the night came")

    scheduler = Scheduler(UTC, never)
    starting = asyncio.create_task(scheduler.start())
    await asyncio.sleep(0)
    scheduler.stop()
    await starting
    scheduler.stop()
