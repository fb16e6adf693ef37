"""Tasks for sub-agents as the model gives them: side by side, with fewer rights, and one outcome of
each call.
"""

import asyncio
import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bot.agent.subagents.tool import DelegateTool
from bot.config.home import HomeFolder
from bot.models.base import Answer, Request, TokensUsed
from bot.models.providers.offline import ScriptedAnswer
from channels.message import Capabilities
from channels.testing import ScriptedChannel
from memory.conversation import ToolCall, ToolResult
from tests.bot.inside import Inside, inside
from tests.bot.talk import call, folded, results, words
from tests.bot.tools.mcp.servers import Orders, review
from tests.emulators.mcp_server import tool
from tests.emulators.model_tools import find_fault
from tests.walk.harness import until

ON: dict[str, Any] = {"delegate": {"enabled": True}}
TASK = "[Task] "


def delegated(*goals: str, tools: tuple[str, ...] = (), **more: object) -> Any:
    return call(
        "delegate", id="d1", tasks=[{"goal": goal, "tools": list(tools), **more} for goal in goals]
    )


def task_of(request: Request) -> str:
    """The goal of a sub-agent's request; "" for a person's turn."""
    first = words(request)[0]
    return first.removeprefix(TASK).partition("\n")[0] if first.startswith(TASK) else ""


def answering(
    parent: Callable[[Request], ScriptedAnswer], child: Callable[[str, Request], ScriptedAnswer]
) -> Callable[[Request], ScriptedAnswer]:
    return lambda request: child(goal, request) if (goal := task_of(request)) else parent(request)


def once(*answers: ScriptedAnswer) -> Callable[[Request], ScriptedAnswer]:
    left = iter(answers)
    return lambda _: next(left)


def children(it: Inside) -> list[Request]:
    return [request for request in it.model.requests if task_of(request)]


def newest(it: Inside) -> ToolResult:
    [*_, last] = [
        request for request in it.model.requests if not task_of(request) and results(request)
    ]
    return results(last)[-1]


async def test_three_tasks_are_worked_on_side_by_side_and_their_outcomes_are_the_result(
    tmp_path: Path,
) -> None:
    begun: set[str] = set()

    def child(goal: str, _: Request) -> str:
        begun.add(goal)
        return f"answer to {goal}"

    async with inside(
        tmp_path, answering(once(delegated("one", "two", "three"), "all done"), child), ON
    ) as it:
        assert await it.text("please") == "all done"
        assert begun == {"one", "two", "three"}
        shown = newest(it)
        for number, goal in enumerate(("one", "two", "three"), start=1):
            assert f"[w{number} done." in shown.text
            assert f"answer to {goal}" in shown.text
        assert not shown.outside
        await it.bot.settled()
        assert len(it.channel.sent) == 1, (
            "nothing of a sub-agent is sent, and no second turn begins"
        )


async def test_a_suspect_that_has_to_run_alone_does_not_keep_tasks_from_whoever_waits_for_them(
    tmp_path: Path,
) -> None:
    suspect: list[asyncio.Task[bool]] = []

    def parent(request: Request) -> ScriptedAnswer:
        if results(request):
            return "all done"
        suspect.append(
            asyncio.create_task(it.bot.turns._isolation.enter("another conversation", 2))
        )
        return delegated("one", "two")

    async with inside(tmp_path, answering(parent, lambda goal, _: f"answer to {goal}"), ON) as it:
        # which is less than the suspect waits for others, and the call for its tasks
        async with asyncio.timeout(20):
            assert await it.text("please") == "all done"
        assert "answer to two" in newest(it).text
        assert await suspect[0], "then it is alone"


async def test_a_task_has_its_own_context_and_no_tools_unless_they_are_listed(
    tmp_path: Path,
) -> None:
    async with inside(
        tmp_path,
        answering(once(delegated("one"), "ok"), lambda goal, _: "fine"),
        {**ON, "language": "en"},
    ) as it:
        (it.bot.workspace.root / "MEMORY.md").write_text("# Memory\n\n- my cat is called Mo\n")
        await it.text("a secret of the parent")
        [request] = children(it)
        assert request.tools == ()
        assert "secret" not in str(request)
        assert "Mo" not in str(request.system)


@pytest.mark.parametrize(
    "tools",
    [
        ("exec",),
        ("delegate",),
        ("memory_write",),
        ("remind",),
        ("send_file",),
        ("memory_search",),
        ("nothing",),
    ],
)
async def test_what_a_task_may_never_have_is_not_given(
    tmp_path: Path, tools: tuple[str, ...]
) -> None:
    async with inside(
        tmp_path, answering(once(delegated("one", tools=tools), "ok"), lambda goal, _: "fine"), ON
    ) as it:
        await it.text("please")
        assert "cannot have" in newest(it).text
        assert not children(it)


async def test_a_child_gets_only_its_list_and_asks_nobody(tmp_path: Path) -> None:
    calls = [
        call("exec", id="c1", argv=["true"]),
        call("memory_write", id="c2", text="x"),
        call("delegate", id="c3", tasks=[{"goal": "more"}]),
        call("write_file", id="c4", path="SOUL.md", content="evil"),
        call("write_file", id="c5", path="notes/a.md", content="fine"),
    ]

    def child(goal: str, request: Request) -> ScriptedAnswer:
        return "I wrote `notes/a.md` and `notes/b.md`." if results(request) else calls

    parent = once(delegated("one", tools=("write_file",)), "ok")
    async with inside(tmp_path, answering(parent, child), ON) as it:
        await it.text("please")
        seen = {one.call_id: one for one in results(children(it)[-1])}
        assert "There is no tool" in seen["c1"].text
        for id in ("c2", "c3"):
            assert "none of the tools of this task" in seen[id].text
        assert "not allowed here" in seen["c4"].text
        assert not seen["c5"].is_error
        root = it.bot.workspace.root
        assert (root / "notes" / "a.md").read_text() == "fine"
        assert "evil" not in (root / "SOUL.md").read_text()
        assert "[file notes/a.md: sha256 " in newest(it).text
        await it.bot.settled()
        assert len(it.channel.sent) == 1


async def test_facts_that_the_child_did_not_see_are_cut_and_marked_and_files_are_looked_for(
    tmp_path: Path,
) -> None:
    def child(goal: str, request: Request) -> ScriptedAnswer:
        if not results(request):
            return call("read_file", id="c1", path="a.md")
        return "The gate code is 4711. The price is 999 EUR. See also b.md."

    async with inside(
        tmp_path, answering(once(delegated("look", tools=("read_file",)), "ok"), child), ON
    ) as it:
        (it.bot.workspace.root / "a.md").write_text("The gate code is 4711, see b.md")
        await it.text("please")
        shown = newest(it)
        assert "4711" in shown.text
        assert "999" not in shown.text
        assert "[left out: 1 " in shown.text
        assert "[file b.md: there is none]" in shown.text
        assert not shown.outside, "it read a file of the person's own"


async def test_originals_are_shown_by_handle_in_that_conversation_only(tmp_path: Path) -> None:
    parent = once(
        delegated("one"),
        call("recall", id="r1", handle="w1"),
        "ok",
        call("recall", id="r2", handle="w1"),
        "ok",
    )
    async with inside(tmp_path, answering(parent, lambda goal, _: "the whole answer"), ON) as it:
        await it.text("please")
        assert "the whole answer" in newest(it).text
        assert "[Task] one" in newest(it).text
        await it.text("please", chat="c2")
        assert newest(it).is_error


async def test_nothing_of_it_is_in_lists_search_or_away_notices(tmp_path: Path) -> None:
    async with inside(
        tmp_path, answering(once(delegated("zebra"), "ok"), lambda goal, _: "zebra seen"), ON
    ) as it:
        await it.text("please")
        await it.bot.settled()
        store = it.bot.store
        assert [row.place.is_hidden for row in await store.sessions.conversations()] == [False]
        assert len(await store.sessions.next_seqs("")) == 1
        found = await it.text("/memory search zebra", chat="c2")
        assert "[Task]" not in found


async def test_what_is_forgotten_is_gone_from_tasks_and_their_conversations(tmp_path: Path) -> None:
    parent = once(delegated("look for zanzibar7"), "ok")
    async with inside(
        tmp_path, answering(parent, lambda goal, _: "zanzibar7 it is"), {**ON, "language": "en"}
    ) as it:
        await it.text("please")
        await it.bot.settled()
        [task] = [await it.bot.store.tasks.find("", 1)]
        assert task
        code = re.search(r"[2-9A-HJ-NP-Z]{4}-[2-9A-HJ-NP-Z]{4}", await it.text("/forget zanzibar7"))
        assert code
        assert "Forgotten" in await it.text(f"/approve {code[0]}")
        found = await it.bot.store.tasks.find("", 1)
        assert found
        assert "zanzibar7" not in found.goal + found.outcome + found.request
        assert "zanzibar7" not in str(await it.bot.store.sessions.messages(task.child))


async def test_a_goal_that_looks_like_a_command_is_none(tmp_path: Path) -> None:
    async with inside(
        tmp_path, answering(once(delegated("/new"), "ok"), lambda goal, _: "fine"), ON
    ) as it:
        await it.text("please")
        assert task_of(children(it)[0]) == "/new"


async def test_an_answer_that_fits_no_schema_is_corrected_once_then_marked(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    answers: dict[str, list[str]] = {
        "one": ["no json", '{"n": 1}'],
        "two": ["no json", '{"n": "x"}'],
    }
    parent = once(delegated("one", "two", answer_schema=schema), "ok")
    async with inside(tmp_path, answering(parent, lambda goal, _: answers[goal].pop(0)), ON) as it:
        await it.text("please")
        first, second = newest(it).text.split("[w2")
        assert json.loads(first.split("\n", 1)[1]) == {"n": 1}
        assert "does not fit the schema" in second
        assert answers == {"one": [], "two": []}
        child = await it.bot.store.tasks.find("", 1)
        assert child
        paid = await it.bot.store.sessions.usage(datetime(2000, 1, 1, tzinfo=UTC), child.child)
        assert sum(row.output for row in paid) == 2, (
            "a token of each answer: what was corrected counts, too"
        )


async def test_stop_ends_every_child_at_once(tmp_path: Path) -> None:
    gate, begun = asyncio.Event(), asyncio.Semaphore(0)

    class Waiting:
        name = "waiting"

        def __init__(self, script: Callable[[Request], ScriptedAnswer]) -> None:
            self._script = script

    async with inside(
        tmp_path, answering(once(delegated("a", "b", "c"), "ok"), lambda goal, _: "x"), ON
    ) as it:
        stream = it.model.stream

        async def held(request: Request) -> Any:
            if task_of(request):
                begun.release()
                await gate.wait()
            async for event in stream(request):
                yield event

        it.model.stream = held  # type: ignore[method-assign]
        message = it.channel.hear("please", chat="c1", key="k")
        for _ in range(3):
            await begun.acquire()
        conversation = await it.conversation()
        assert len(await it.bot.store.tasks.open_tasks(conversation)) == 3
        async with asyncio.timeout(2):
            assert "nothing" not in (await it.text("/stop")).lower()
            await it.answer(message.key)
            await it.bot.settled()
        rows = await it.bot.store.tasks.open_tasks_of_space("")
        assert rows == []
        assert not gate.is_set()


async def test_a_fourth_task_at_once_is_refused(tmp_path: Path) -> None:
    async with inside(
        tmp_path,
        answering(once(delegated("a", "b"), "ok"), lambda goal, _: "x"),
        {"delegate": {"enabled": True, "at_once": 1}},
    ) as it:
        await it.text("please")
        assert "Too many tasks" in newest(it).text
        assert not children(it)


def test_every_provider_takes_its_schema() -> None:
    shown = json.loads(DelegateTool.spec.schema)
    assert find_fault("delegate", shown) == ""
    assert shown["properties"]["tasks"]["items"]["required"] == ["goal"]


async def test_it_is_off_by_default(tmp_path: Path) -> None:
    async with inside(tmp_path, ["hi"]) as it:
        await it.text("hello")
        assert "delegate" not in {spec.name for spec in it.model.requests[-1].tools}


async def test_what_runs_on_ends_in_one_message_that_the_model_answers(tmp_path: Path) -> None:
    settings = {"delegate": {"enabled": True, "wait_seconds": 0}}
    parent = once(delegated("one", "two"), "they run on", "they are done")
    async with inside(
        tmp_path, answering(parent, lambda goal, _: f"answer to {goal}"), settings
    ) as it:
        assert await it.text("please") == "they run on"
        assert "runs on" in newest(it).text
        await it.channel.until(lambda: it.channel.sent[-1].text == "they are done")
        await it.bot.settled()
        [*_, last] = [request for request in it.model.requests if not task_of(request)]
        [told] = [text for text in words(last) if "Ended: w1 done, w2 done" in text]
        assert "answer to one" in told
        assert "answer to two" in told
        assert len(it.channel.sent) == 2


async def test_after_a_clear_nobody_is_told_of_what_ran_on(tmp_path: Path) -> None:
    settings = {"delegate": {"enabled": True, "wait_seconds": 0}}
    gate = asyncio.Event()
    told = once(delegated("one"), "it runs on")

    def parent(request: Request) -> ScriptedAnswer:
        return told(request) if request.purpose == "turn" else folded("- asked", "asked")

    async with inside(tmp_path, answering(parent, lambda goal, _: "late"), settings) as it:
        hold(it, gate)
        await it.text("please")
        await it.text("/context clear")
        await until(lambda: none_open(it), "the clear ended it")
        await it.bot.settled()
        assert [request for request in it.model.requests if request.purpose == "turn"][2:] == []
        assert "late" not in str([sent.text for sent in it.channel.sent])


async def test_a_task_from_a_turn_with_words_from_outside_is_one_from_outside(
    tmp_path: Path,
) -> None:
    parent = once(call("read_file", id="r1", path="exports/a.md"), delegated("look at it"), "ok")
    async with inside(tmp_path, answering_tainted(parent), ON) as it:
        (it.bot.workspace.root / "exports").mkdir()
        (it.bot.workspace.root / "exports" / "a.md").write_text("do something")
        await it.text("please")
        assert newest(it).outside
        [request] = [one for one in it.model.requests if "Do the task above" in str(one.messages)]
        assert "look at it" in str(request.messages)


def answering_tainted(
    parent: Callable[[Request], ScriptedAnswer],
) -> Callable[[Request], ScriptedAnswer]:
    return lambda request: (
        "looked" if "Do the task above" in str(request.messages) else parent(request)
    )


async def none_open(it: Inside) -> bool:
    return not await it.bot.store.tasks.open_tasks_of_space("")


def hold(it: Inside, gate: asyncio.Event) -> None:
    """Let requests of sub-agents wait."""
    stream = it.model.stream

    async def held(request: Request) -> Any:
        if task_of(request):
            await gate.wait()
        async for event in stream(request):
            yield event

    it.model.stream = held  # type: ignore[method-assign]


async def test_a_child_has_ten_steps_and_its_tokens(tmp_path: Path) -> None:
    def child(goal: str, request: Request) -> ScriptedAnswer:
        if not request.may_call:
            return "that is all"
        return call(
            "read_file",
            id=f"c{len(results(request))}",
            path="a.md",
            offset=len(results(request)) + 1,
        )

    parent = once(delegated("steps", tools=("read_file",)), "ok")
    async with inside(tmp_path, answering(parent, child), ON) as it:
        (it.bot.workspace.root / "a.md").write_text("word\n" * 50)
        await it.text("please")
        assert len(children(it)) == 11, "ten steps, and the answer"
        assert "that is all" in newest(it).text


async def test_the_time_of_a_task_ends_it(tmp_path: Path) -> None:
    """Its minutes are over when it begins, as after a time in which the program was off: it gets
    one second more.
    """
    now = [1_800_000_000.0]
    told = once(delegated("slow"), "it runs on", "it is over")

    def parent(request: Request) -> ScriptedAnswer:
        now[0] += 9 * 60 if results(request) else 0.0  # it waits for the one place
        return told(request)

    settings = {"delegate": {"enabled": True, "wait_seconds": 0, "minutes": 9}, "concurrency": 1}
    async with inside(
        tmp_path, answering(parent, lambda goal, _: "late"), settings, clock=lambda: now[0]
    ) as it:
        hold(it, asyncio.Event())
        assert await it.text("please") == "it runs on"
        await it.channel.until(lambda: it.channel.sent[-1].text == "it is over")
        assert any(
            "w1 failed" in text or "w1 cancelled" in text for text in words(it.model.requests[-1])
        )


async def test_tokens_end_it_earlier(tmp_path: Path) -> None:
    def child(goal: str, request: Request) -> ScriptedAnswer:
        if not request.may_call:
            return "that is all"
        step = call(
            "read_file",
            id=f"c{len(results(request))}",
            path="a.md",
            offset=len(results(request)) + 1,
        )
        return Answer(
            parts=(step,), stop="tools", usage=TokensUsed(input=1_500, output=60), model="scripted"
        )

    parent = once(delegated("tokens", tools=("read_file",)), "ok")
    settings = {"delegate": {"enabled": True, "tokens": 2_000}}
    async with inside(tmp_path, answering(parent, child), settings) as it:
        (it.bot.workspace.root / "a.md").write_text("word\n" * 50)
        await it.text("please")
        assert len(children(it)) == 3, "1,560 tokens are below 80 %, 1,620 are not"
        assert "that is all" in newest(it).text


TELEGRAM = {"telegram": {"owners": ["1"], "allow": ["7", "g1"]}}


async def test_the_end_of_a_persons_budget_ends_the_children_too(tmp_path: Path) -> None:
    channel = ScriptedChannel(name="telegram", account="b", capabilities=Capabilities())
    settings = {**ON, "channels": TELEGRAM, "budgets": {"user": {"tokens_per_day": 300}}}

    def parent(request: Request) -> ScriptedAnswer:
        step = delegated("a", "b", "c")
        return Answer(
            parts=(step,), stop="tools", usage=TokensUsed(input=400, output=60), model="scripted"
        )

    async with inside(tmp_path, answering(parent, lambda goal, _: "fine"), settings, channel) as it:
        told = await it.text("please", chat="7", sender="7")
        async with asyncio.timeout(30):  # nothing is left of it to wait for
            await it.bot.settled()
        assert not children(it)
        assert "token" in told.lower()
        rows = [await it.bot.store.tasks.find("telegram-7", number) for number in (1, 2, 3)]
        assert [row.state for row in rows if row] == ["failed"] * 3


async def test_in_a_group_a_child_is_no_member_and_sees_its_task_as_from_outside(
    tmp_path: Path,
) -> None:
    channel = ScriptedChannel(name="telegram", account="b", capabilities=Capabilities(groups=True))
    settings = {**ON, "channels": TELEGRAM}
    parent = once(delegated("look", tools=("read_file",)), "ok")
    async with inside(tmp_path, answering_tainted(parent), settings, channel) as it:
        await it.text("please", chat="g1", sender="7", kind="group", addressed=True)
        await it.bot.settled()
        [child] = [
            request for request in it.model.requests if "Do the task above" in str(request.messages)
        ]
        assert [spec.name for spec in child.tools] == ["read_file"]
        assert len(channel.sent) == 1
        assert "looked" in str(it.model.requests[-1].messages)


async def test_a_tool_that_is_too_many_for_the_prompt_can_be_given_by_name(tmp_path: Path) -> None:
    HomeFolder(root=tmp_path).ensure()
    text = {"type": "string"}
    orders = Orders(
        tmp_path,
        [tool("echo", "Repeats words.", words=text), *(tool(f"more{n}") for n in range(26))],
    )
    await review(
        tmp_path,
        "files",
        orders.settings,
        {"echo": "run", **{f"more{n}": "run" for n in range(26)}},
    )

    def child(goal: str, request: Request) -> ScriptedAnswer:
        if results(request):
            return "it said hi"
        return [call("files__echo", id="c1", words="hi"), use_tool("files__more1", id="c2")]

    parent = once(delegated("echo", tools=("files__echo",)), "ok")
    async with inside(
        tmp_path, answering(parent, child), {**ON, "mcp": {"files": orders.settings}}
    ) as it:
        await it.text("please")
        assert "files__echo" not in [spec.name for spec in it.model.requests[0].tools]
        assert [spec.name for spec in children(it)[0].tools] == ["files__echo"]
        echoed, other = results(children(it)[-1])
        assert "hi" in echoed.text
        assert "none of the tools of this task" in other.text
        assert orders.calls() == ["echo"]
        assert newest(it).outside


def use_tool(name: str, id: str) -> ToolCall:
    return ToolCall(id=id, name="use_tool", input=json.dumps({"name": name, "arguments": {}}))
