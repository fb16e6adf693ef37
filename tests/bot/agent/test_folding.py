"""Folds in a whole bot: prepared while nobody waits, never in the way of an answer, void once the
view moved on.
"""

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from bot.agent.context.actions import end_idle_conversations
from bot.agent.folding import FoldManager, plan_oldest_turns
from bot.models.base import Request
from memory.context.tokens import WEIGHTED
from memory.context.view import fixed_tokens
from memory.conversation import Text
from memory.folding.runner import FoldRunner
from memory.store.conversations.folds.steps import Folds
from memory.store.conversations.sessions import Sessions
from memory.store.rows import FoldPlan, FoldRow
from memory.store.store import Store
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
    return await it.bot.store.folds.folds(await it.conversation(chat))


async def plan_of(it: Inside, turns: int) -> FoldPlan:
    session = await it.bot.store.sessions.load(await it.conversation())
    return plan_oldest_turns(session, "test", "turns", turns)


async def test_after_twenty_turns_the_next_request_carries_a_summary_of_the_oldest_half(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path, script) as it:
        await talk(it, 0, 20)
        await it.bot.settled()
        (fold,) = await folds(it)
        assert (fold.from_turn, fold.to_turn, fold.method) == (1, 10, "model")
        await talk(it, 20, 25)
        first = it.model.requests[-1].messages[0]
        assert isinstance(first.parts[0], Text)
        assert first.parts[0].text.startswith("[Summary of 10 earlier turns.")
        assert first.parts[0].text.endswith("[End of summary]")
        assert SUMMARY in first.parts[0].text
        assert first.parts[2] == Text(text="fact 10")
        assert "fact 0" not in words(it.model.requests[-1])
        assert f"fold {fold.id}" in (tmp_path / "workspace" / fold.log_ref).read_text()
        assert not await it.bot.store.folds.check_ledger()


async def test_a_second_fold_builds_on_the_first_ones_summary(tmp_path: Path) -> None:
    async with inside(tmp_path, script, {"agent_max_context_turns": 6}) as it:
        for number in range(10):
            await talk(it, number, number + 1)
            await it.bot.settled()  # on a slow machine, the second fold would be due after the talk
        first, second = await folds(it)
        assert second.prev_fold == first.id
        assert second.from_turn == first.to_turn + 1
        asked = [request for request in it.model.requests if is_fold(request)][-1]
        assert SUMMARY in words(asked)[0]


async def test_a_summariser_that_hangs_holds_up_no_answer(tmp_path: Path) -> None:
    async with inside(tmp_path, [], {"agent_max_context_turns": 6}) as it:
        model = Held(script, is_fold)
        it.bot.models.use(model)
        await talk(it, 0, 12)
        assert model.begun.is_set()
        assert "fact 0" in words(model.turns[-1]), "the old view, while everything still fits"
        model.go_on.set()
        await it.bot.settled()
        await talk(it, 12, 13)
        assert words(model.turns[-1])[0].startswith("[Summary of")


async def test_with_no_room_left_the_digest_stands_in_for_a_summary_that_does_not_come(
    tmp_path: Path,
) -> None:
    budget = {"agent_max_context_tokens": 6_000, "agent_max_context_turns": 10}
    async with inside(tmp_path, [], budget) as it:
        model = Held(script, is_fold)
        it.bot.models.use(model)
        for number in range(14):
            await it.text(f"fact {number}: " + "many words about it " * 60)
        assert model.begun.is_set()
        done = await folds(it)
        assert done
        assert {fold.method for fold in done} == {"extract"}
        counter = await it.bot.fitter.counter()
        for request in model.turns:
            said = sum(counter.message(message.parts) for message in request.messages)
            assert fixed_tokens(request.system, request.tools, "", counter) + said <= 6_000
        assert not await it.bot.store.folds.check_ledger()
        model.go_on.set()


async def test_with_notices_on_a_fold_is_told_when_it_begins_and_when_it_is_done(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path, script, {"agent_max_context_turns": 6, "notify_folds": True}) as it:
        await talk(it, 0, 6)
        await it.channel.until(lambda: sum(part.kind == "notice" for part in it.channel.sent) == 2)
        begun, done = [part.text for part in it.channel.sent if part.kind == "notice"]
        assert begun.startswith("Folding the oldest 3 turns: ")
        assert done.startswith("Folded turns 1–3 into memory/")
        assert "→" in done
        states = [event.facts["state"] for event in it.channel.shown if event.name == "fold"]
        assert states == ["planned", "summarised", "logged", "folded"]


async def test_without_them_a_fold_says_nothing(tmp_path: Path) -> None:
    async with inside(tmp_path, script, {"agent_max_context_turns": 6}) as it:
        await talk(it, 0, 6)
        await it.bot.settled()
        assert not [part for part in it.channel.sent if part.kind == "notice"]


async def test_a_clear_makes_a_fold_under_way_stale_also_after_a_restart(tmp_path: Path) -> None:
    async with inside(tmp_path, [], {"agent_max_context_turns": 6}) as it:
        model = Held(script, is_fold)
        it.bot.models.use(model)
        await talk(it, 0, 7)
        await model.begun.wait()
        await it.text("/context clear")
        model.go_on.set()
        await it.bot.settled()
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
        assert not await it.bot.store.folds.check_ledger()


def nth_fold(*held: int) -> Callable[[Request], bool]:
    """Picks the folds with these numbers, in the order in which the model is asked for them."""
    numbers = count(1)
    return lambda request: is_fold(request) and next(numbers) in held


async def ended(it: Inside, states: list[str]) -> None:
    """Wait until folds have been seen in these last states, in any order."""

    def seen() -> bool:
        last = ("folded", "stale")
        return (
            sorted(
                str(one.facts["state"])
                for one in it.channel.shown
                if one.facts.get("state") in last
            )
            == states
        )

    async with asyncio.timeout(8):
        await it.channel.until(seen)


async def written(it: Inside, text: str) -> None:
    await it.text(text)


async def idle(it: Inside, text: str) -> None:
    later = datetime.now(UTC) + timedelta(days=40)
    assert (
        await end_idle_conversations(it.bot.store, it.bot.folding, it.bot.config(), later, "house")
        == 1
    )


@pytest.mark.parametrize(
    ("act", "text", "held", "last"),
    [
        (written, "/context clear", 1, ["stale"]),
        (written, "/new", 1, ["folded", "stale"]),
        (written, "/context undo", 2, ["folded", "stale"]),
        (idle, "", 1, ["folded", "stale"]),
    ],
)
async def test_a_fold_that_has_become_stale_waits_for_no_model_and_the_next_one_begins(
    tmp_path: Path, act: Any, text: str, held: int, last: list[str]
) -> None:
    async with inside(tmp_path, [], {"agent_max_context_turns": 6}) as it:
        model = Held(script, nth_fold(held))
        it.bot.models.use(model)
        await talk(it, 0, 6)
        if held == 2:
            await it.bot.settled()
            await talk(it, 6, 9)
        async with asyncio.timeout(8):
            await model.begun.wait()
        await act(it, text)
        await ended(it, last)
        assert not model.go_on.is_set()
        await talk(it, 20, 22)
        async with asyncio.timeout(8):
            assert "Folded turn" in await it.text("/context fold")
        assert not await it.bot.store.folds.check_ledger()


class Slow:
    """A store's folds, where a plan is in the record for a while before who wants it hears so."""

    def __init__(self, folds: Folds) -> None:
        self._folds = folds
        self.planned = asyncio.Event()
        self.go_on = asyncio.Event()

    async def plan(self, plan: FoldPlan, zone: tzinfo) -> FoldRow | None:
        row = await self._folds.plan(plan, zone)
        self.planned.set()
        await self.go_on.wait()
        return row

    def __getattr__(self, name: str) -> Any:
        return getattr(self._folds, name)


def slow_folding(it: Inside, slow: Any, answer: asyncio.Event) -> FoldManager:
    async def complete(system: str, prompt: str, most: int, conversation: str) -> str:
        await answer.wait()
        return folded(LOG, SUMMARY)

    folder = FoldRunner(
        folds=slow,
        sessions=it.bot.store.sessions,
        workspace=it.bot.workspace,
        complete=complete,
        counter=lambda: WEIGHTED,
        zone=UTC,
    )
    return FoldManager(folder, slow)


@pytest.mark.parametrize("how", ["start", "run", "fold_now"])
async def test_who_wants_a_fold_may_be_stopped_and_it_is_carried_out_all_the_same(
    tmp_path: Path, how: str
) -> None:
    async with inside(tmp_path, script) as it:
        await talk(it, 0, 4)
        slow, answer = Slow(it.bot.store.folds), asyncio.Event()
        answer.set()
        folding = slow_folding(it, slow, answer)
        asking = asyncio.create_task(getattr(folding, how)(await plan_of(it, 2)))
        await slow.planned.wait()
        asking.cancel()
        await asyncio.wait({asking})
        assert asking.cancelled()
        slow.go_on.set()
        async with asyncio.timeout(8):
            await folding.settled()
        (fold,) = await folds(it)
        assert (fold.state, fold.to_turn) == ("folded", 2)


async def test_a_fold_that_is_being_begun_when_the_view_moves_waits_for_no_model_either(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path, script) as it:
        await talk(it, 0, 4)
        slow = Slow(it.bot.store.folds)
        folding = slow_folding(it, slow, asyncio.Event())
        plan = await plan_of(it, 2)
        asking = asyncio.create_task(folding.start(plan))
        await slow.planned.wait()
        await it.bot.store.sessions.clear(plan.conversation)
        letting = asyncio.create_task(folding.detach(plan.conversation))
        await asyncio.sleep(0)
        slow.go_on.set()
        async with asyncio.timeout(8):
            await asyncio.gather(asking, letting)
            await folding.settled()
        assert not await it.bot.store.folds.open_folds()


async def test_closing_waits_for_no_fold_that_is_being_begun(tmp_path: Path) -> None:
    async with inside(tmp_path, script) as it:
        await talk(it, 0, 4)
        slow = Slow(it.bot.store.folds)
        folding = slow_folding(it, slow, asyncio.Event())
        asking = asyncio.create_task(folding.start(await plan_of(it, 2)))
        await slow.planned.wait()
        async with asyncio.timeout(8):
            await folding.close()
            await asyncio.wait({asking})
        assert len(await it.bot.store.folds.open_folds()) == 1, (
            "the next start goes on from its row"
        )


class Withheld:
    """A store whose sessions are handed to nobody from when `hold` is called."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._holding = False
        self.asked = asyncio.Event()
        self.go_on = asyncio.Event()
        self.sessions: Any = _Sessions(self, store.sessions)

    def hold(self) -> None:
        self._holding = True

    async def held(self) -> None:
        if self._holding:
            self.asked.set()
            await self.go_on.wait()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


class _Sessions:
    def __init__(self, store: Withheld, sessions: Sessions) -> None:
        self._store, self._sessions = store, sessions

    async def load(self, conversation: str) -> Any:
        await self._store.held()
        return await self._sessions.load(conversation)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sessions, name)


async def test_what_is_prepared_after_a_turn_is_not_left_behind_when_the_bot_closes(
    tmp_path: Path,
) -> None:
    stores: list[Withheld] = []

    def around(store: Store) -> Any:
        stores.append(Withheld(store))
        return stores[-1]

    def tell(request: Request) -> str:
        stores[-1].hold()  # the next one to load this session is who prepares the next turn
        return "yes"

    with capture_logs() as told:
        async with inside(tmp_path, tell, {"context_policy": "rolling"}, around=around) as it:
            await it.text("hello")
            await stores[-1].asked.wait()
        assert not [
            task for task in asyncio.all_tasks() if "Turns._prepare" in repr(task.get_coro())
        ]
        stores[-1].go_on.set()
        await asyncio.sleep(0)
    assert not [one for one in told if one["log_level"] == "error"]


async def test_a_hastened_fold_ends_the_one_under_way_with_the_digest(tmp_path: Path) -> None:
    async with inside(tmp_path, []) as it:
        model = Held(script, is_fold)
        it.bot.models.use(model)
        await talk(it, 0, 4)
        plan = await plan_of(it, 2)
        assert await it.bot.folding.run(plan, timeout=0.05) is None
        assert it.bot.folding.is_folding(plan.conversation)
        row = await it.bot.folding.fold_now(plan)
        assert row is not None
        assert (row.state, row.method, row.to_turn) == ("folded", "extract", 2)
        assert not it.bot.folding.is_folding(plan.conversation)
        assert await it.bot.folding.fold_now(plan) is None, "that view is gone"


async def test_what_the_model_sends_after_a_hastened_fold_replaces_the_digest(
    tmp_path: Path,
) -> None:
    """In the view from the next request on, in the file, and in no request twice."""
    async with inside(tmp_path, []) as it:
        model = Held(script, is_fold)
        it.bot.models.use(model)
        await talk(it, 0, 4)
        plan = await plan_of(it, 2)
        await it.bot.folding.start(plan)
        await model.begun.wait()
        row = await it.bot.folding.fold_now(plan)
        assert row is not None
        assert "digest]" in row.summary
        await talk(it, 4, 5)
        assert "digest]" in words(model.turns[-1])[0]
        assert "User: fact 0" in (tmp_path / "workspace" / row.log_ref).read_text()
        before = (await it.bot.store.sessions.load(plan.conversation)).prefix_generation
        model.go_on.set()
        await it.bot.settled()
        (done,) = await folds(it)
        assert (done.id, done.method, done.summary) == (row.id, "model", SUMMARY)
        assert (await it.bot.store.sessions.load(plan.conversation)).prefix_generation == before + 1
        await talk(it, 5, 6)
        assert SUMMARY in words(model.turns[-1])[0]
        log = (tmp_path / "workspace" / row.log_ref).read_text()
        assert LOG in log
        assert "User: fact 0" not in log
        assert len([request for request in model.requests if is_fold(request)]) == 1
        facts = await it.bot.report.facts(plan.conversation)
        assert [fold["method"] for fold in facts["folds"]] == ["model"]
        assert not await it.bot.store.folds.check_ledger()


async def test_texts_that_come_after_the_next_fold_has_begun_are_dropped(tmp_path: Path) -> None:
    async with inside(tmp_path, []) as it:
        model = Held(script, nth_fold(1))
        it.bot.models.use(model)
        await talk(it, 0, 6)
        first = await it.bot.folding.fold_now(await plan_of(it, 2))
        await model.begun.wait()
        second = await it.bot.folding.run(await plan_of(it, 2))
        assert first is not None
        assert second is not None
        assert (second.state, second.method, second.prev_fold) == ("folded", "model", first.id)
        model.go_on.set()
        await it.bot.settled()
        rows = await folds(it)
        assert [(row.method, row.awaiting) for row in rows] == [("extract", ""), ("model", "")]
        asked = [request for request in model.requests if is_fold(request)]
        assert "fact 0" in words(asked[-1])[0], "it summarises the originals"
        assert not await it.bot.store.folds.check_ledger()


@pytest.mark.parametrize("act", ["/context clear", "/new", "/context undo"])
async def test_texts_that_come_after_the_view_has_moved_change_nothing(
    tmp_path: Path, act: str
) -> None:
    async with inside(tmp_path, []) as it:
        model = Held(script, nth_fold(1))
        it.bot.models.use(model)
        await talk(it, 0, 4)
        row = await it.bot.folding.fold_now(await plan_of(it, 2))
        assert row is not None
        await model.begun.wait()
        await it.text(act)
        model.go_on.set()
        await it.bot.settled()
        assert (await it.bot.store.folds.fold(row.id)).summary == row.summary  # type: ignore[union-attr]
        assert (
            LOG
            not in (tmp_path / "workspace" / row.log_ref)
            .read_text()
            .split(row.id)[1]
            .split("## ")[0]
        )
        assert not await it.bot.store.folds.check_ledger()


async def test_a_restart_asks_again_for_texts_that_had_not_come(tmp_path: Path) -> None:
    async with inside(tmp_path, []) as it:
        it.bot.models.use(Held(script, is_fold))
        await talk(it, 0, 4)
        row = await it.bot.folding.fold_now(await plan_of(it, 2))
        assert row is not None
        assert row.method == "extract"
    async with inside(tmp_path, script) as it:
        await it.bot.settled()
        (done,) = await folds(it)
        assert (done.id, done.method, done.summary) == (row.id, "model", SUMMARY)
        log = (tmp_path / "workspace" / row.log_ref).read_text()
        assert (log.count(LOG), log.count("<!-- fold")) == (1, 1)


async def test_the_policy_turns_gets_the_models_summary_of_what_it_cuts(tmp_path: Path) -> None:
    """It cuts at the next request, which waits for no model: its folds ended with the digest, each
    time.
    """
    settings = {"context_policy": "turns", "agent_max_context_turns": 4}
    async with inside(tmp_path, script, settings) as it:
        for number in range(12):
            await talk(it, number, number + 1)
            await it.bot.settled()
        done = await folds(it)
        assert len(done) >= 3
        assert {fold.method for fold in done} == {"model"}
        assert SUMMARY in words(it.model.requests[-1])[0]
        assert not await it.bot.store.folds.check_ledger()


async def test_folds_wanted_by_two_at_once_are_one_fold(tmp_path: Path) -> None:
    async with inside(tmp_path, script) as it:
        await talk(it, 0, 4)
        plan = await plan_of(it, 2)
        folding = it.bot.folding
        _, row, _ = await asyncio.gather(
            folding.start(plan), folding.fold_now(plan), folding.start(plan)
        )
        await it.bot.settled()
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
        assert not await it.bot.store.folds.check_ledger()


async def test_a_conversation_idle_for_long_ends_and_is_in_the_log(tmp_path: Path) -> None:
    past = time.time() - 40 * 86_400
    async with inside(tmp_path, script, clock=lambda: past) as it:
        await talk(it, 0, 2)
    async with inside(tmp_path, script) as it:
        await it.text("I am here", chat="busy")
        ended = await end_idle_conversations(
            it.bot.store, it.bot.folding, it.bot.config(), datetime.now(UTC), "house"
        )
        assert ended == 1
        await it.bot.settled()
        facts = await it.bot.report.facts(await it.conversation())
        assert (facts["turns"], facts["epoch"]) == (0, 2)
        assert (await it.bot.report.facts(await it.conversation("busy")))["turns"] == 1
        log = "".join(path.read_text() for path in (tmp_path / "workspace" / "memory").glob("*.md"))
        assert "fact 0" in log
        later = datetime.now(UTC) + timedelta(days=1)
        assert (
            await end_idle_conversations(
                it.bot.store, it.bot.folding, it.bot.config(), later, "house"
            )
            == 0
        )
        assert not await it.bot.store.folds.check_ledger()


async def test_a_lean_restart_keeps_the_newest_turns_and_folds_the_others(tmp_path: Path) -> None:
    async with inside(tmp_path, script) as it:
        await talk(it, 0, 8)
    async with inside(tmp_path, script, {"session_restore": "lean"}) as it:
        await it.bot.settled()
        (fold,) = await folds(it)
        assert (fold.from_turn, fold.to_turn) == (1, 5)
        await it.text("and now")
        said = words(it.model.requests[-1])
        assert said[0].startswith("[Summary of 5 earlier turns.")
        assert said[1:7] == ["fact 5", "re: fact 5", "fact 6", "re: fact 6", "fact 7", "re: fact 7"]
    async with inside(tmp_path, script, {"session_restore": "full"}) as it:
        await it.bot.settled()
        assert len(await folds(it)) == 1


@pytest.mark.parametrize(
    ("text", "told"), [("are you there?", "I was away for 3 h"), ("在吗？", "我离开了 3 小时")]
)
async def test_who_waited_for_long_is_told_once_and_then_answered(
    tmp_path: Path, text: str, told: str
) -> None:
    past = time.time() - 3 * 3_600 - 60
    async with inside(tmp_path, [], clock=lambda: past) as it:
        model = Held(script, lambda request: True)
        it.bot.models.use(model)
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
        await it.bot.settled()
        assert not it.channel.sent
