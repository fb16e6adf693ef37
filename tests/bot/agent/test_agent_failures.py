"""What the agent does when a model or a tool fails: how often it tries, what people are told, what
is kept.
"""

import asyncio
import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image as Picture

from bot.access.permissions import AccessScope, Actor
from bot.agent.tool_calls import ToolRunner
from bot.agent.turn_context import EventSink, TurnContext
from bot.errors import BadImage, ModelError, Overflow, ToolFailed, Transient
from bot.models.base import Request
from bot.models.providers.offline import ScriptedAnswer
from bot.tools.base import ToolArguments, ToolContext, Toolset
from channels.message import Address, Attachment
from memory import failpoints
from memory.conversation import Effect, Image, Text, ToolCall, ToolResult, ToolSpec
from memory.store.rows import CallRow, NewInboxRow, Place, PlannedCall, TurnRow, Usage
from tests.bot.inside import Inside, inside
from tests.bot.talk import Held, answer, call, results, words


@pytest.fixture
def hanging_tools() -> Iterator[None]:
    """Every tool hangs in the middle of its work."""
    failpoints.arm({"MNEMA_TEST": "1", "MNEMA_FP": "tool.mid_effect:hang"})
    yield
    failpoints.arm({})


def pictures(request: Request) -> int:
    return sum(isinstance(part, Image) for message in request.messages for part in message.parts)


def photo(colour: str = "red") -> Attachment:
    data = io.BytesIO()
    Picture.new("RGB", (8, 8), colour).save(data, "PNG")
    return Attachment(name=f"{colour}.png", media_type="image/png", data=data.getvalue())


async def test_a_request_called_too_long_is_shortened_and_sent_again(tmp_path: Path) -> None:
    refusals = iter([Overflow("too long", actual=300_000, limit=200_000)])

    def script(request: Request) -> ScriptedAnswer:
        return next(refusals, "fits now") if "and now?" in words(request) else "ok"

    async with inside(tmp_path, script) as it:
        for number in range(8):
            await it.text(f"fact {number}")
        assert await it.text("and now?") == "fits now"
        first, second = [request for request in it.model.requests if "and now?" in words(request)]
        assert len(second.messages) < len(first.messages)
        assert "and now?" in words(second)
        assert not await it.bot.store.folds.check_ledger()


async def test_a_request_called_too_long_three_times_is_told_and_nothing_is_deleted(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path, lambda _: Overflow("too long")) as it:
        told = await it.text("a question " * 50)
        assert "window" in told
        assert "/retry" in told
        assert len([request for request in it.model.requests if request.purpose == "turn"]) == 3
        asked, closing = await it.bot.store.sessions.messages(await it.conversation())
        assert asked.parts == (Text(text=("a question " * 50)),)
        assert closing.parts == (Text(text="[no answer]"),)


async def test_a_picture_that_is_refused_is_left_out_once_and_for_all(tmp_path: Path) -> None:
    def script(request: Request) -> ScriptedAnswer:
        return BadImage("bad picture") if pictures(request) else "without it then"

    async with inside(tmp_path, script) as it:
        assert await it.text("what is this?", attachments=(photo(),)) == "without it then"
        assert await it.text("and now?") == "without it then"
        assert [pictures(request) for request in it.model.requests] == [1, 0, 0]
        kept = (await it.bot.store.sessions.messages(await it.conversation()))[0]
        assert any(isinstance(part, Image) for part in kept.parts), "the record keeps it"


async def test_only_the_picture_that_the_provider_names_is_left_out(tmp_path: Path) -> None:
    def script(request: Request) -> ScriptedAnswer:
        shown = [
            (message, part)
            for message, sent in enumerate(request.messages)
            for part, found in enumerate(sent.parts)
            if isinstance(found, Image)
        ]
        return (
            BadImage("bad picture", message=shown[0][0], part=shown[0][1])
            if len(shown) > 1
            else "seen"
        )

    async with inside(tmp_path, script) as it:
        assert await it.text("this one", attachments=(photo("red"),)) == "seen"
        assert await it.text("and this?", attachments=(photo("blue"),)) == "seen"
        assert [pictures(request) for request in it.model.requests] == [1, 2, 1]
        _, last = it.model.requests[-2:]
        assert any(isinstance(part, Image) for part in last.messages[-1].parts), (
            "the other picture is still shown"
        )


async def test_a_picture_refused_twice_is_told(tmp_path: Path) -> None:
    async with inside(tmp_path, lambda _: BadImage("bad picture")) as it:
        assert "refused" in await it.text("what is this?", attachments=(photo(),))
        assert len(it.model.requests) == 2


async def test_a_tool_call_cut_for_its_length_is_asked_for_once_with_more_room(
    tmp_path: Path,
) -> None:
    script: list[ScriptedAnswer] = [
        answer(Text(text="I will write"), stop="length", cut_call=True),
        call("write_file", path="a.txt", content="whole"),
        "written",
    ]
    async with inside(tmp_path, script) as it:
        assert await it.text("write it") == "written"
        first, second, third = it.model.requests
        assert second.max_tokens == 2 * first.max_tokens
        assert third.max_tokens == first.max_tokens
        assert (tmp_path / "workspace" / "a.txt").read_text() == "whole"
        assert "I will write" not in words(third), "what was cut is not kept"


async def test_a_tool_call_cut_twice_is_not_run_and_the_answer_says_that_it_is_cut(
    tmp_path: Path,
) -> None:
    cut = answer(Text(text="I will write"), stop="length", cut_call=True)
    async with inside(tmp_path, [cut, cut]) as it:
        assert await it.text("write it") == "I will write\n\n(cut)"


async def test_an_answer_that_is_still_too_long_when_continued_is_marked(tmp_path: Path) -> None:
    script: list[ScriptedAnswer] = [
        answer(Text(text="one"), stop="length"),
        answer(Text(text=" two"), stop="length"),
    ]
    async with inside(tmp_path, script) as it:
        assert await it.text("count") == "one two\n\n(cut)"
        assert len(it.model.requests) == 2


async def test_a_paused_turn_goes_on_five_times_at_most(tmp_path: Path) -> None:
    async with inside(tmp_path, lambda request: answer(Text(text="."), stop="pause")) as it:
        assert await it.text("search") == "......"
        assert len(it.model.requests) == 6
        assert it.model.requests[-1].messages[-1].role == "assistant"


async def test_a_paused_turn_that_ends_is_one_answer(tmp_path: Path) -> None:
    async with inside(tmp_path, [answer(Text(text="looked up"), stop="pause"), " and found"]) as it:
        assert await it.text("search") == "looked up and found"


async def test_an_unknown_stop_reason_ends_the_turn_with_what_there_is(tmp_path: Path) -> None:
    async with inside(tmp_path, [answer(Text(text="so far"), stop="unknown")]) as it:
        assert await it.text("hello") == "so far"


async def test_three_steps_of_bad_calls_in_a_row_end_the_loop(tmp_path: Path) -> None:
    async with inside(tmp_path, lambda request: call("fly", f"t{len(results(request))}")) as it:
        await it.text("go")
        assert len(it.model.requests) == 4


@pytest.mark.parametrize(
    "error", [Transient("529", status=529), ModelError("418", status=418), Overflow("long")]
)
async def test_no_error_changes_what_was_stored(tmp_path: Path, error: ModelError) -> None:
    failing = False
    async with inside(tmp_path, lambda _: error if failing else "ok") as it:
        for number in range(3):
            await it.text(f"fact {number}")
        id = await it.conversation()
        before = await it.bot.store.sessions.messages(id)
        failing = True
        for _ in range(2):
            await it.text("again")
        after = await it.bot.store.sessions.messages(id)
        assert after[: len(before)] == before


async def test_stop_in_the_middle_of_a_tool_ends_it_and_the_result_says_so(
    tmp_path: Path, hanging_tools: None
) -> None:
    script: list[ScriptedAnswer] = [
        [call("list_files", "a"), call("write_file", "b", path="a.txt", content="x")],
        "after",
    ]
    async with inside(tmp_path, script) as it:
        waiting = it.channel.hear("what time is it?")
        await it.channel.until(lambda: any("step" in event.facts for event in it.channel.shown))
        async with asyncio.timeout(2):
            await it.text("/stop")
            assert (await it.answer(waiting.key))[0].text == "Stopped."
        failpoints.arm({})
        await it.text("go on")
        told = {result.call_id: result for result in results(it.model.requests[-1])}
        assert set(told) == {"a", "b"}
        assert all(result.is_error and "cancelled" in result.text for result in told.values())
        assert not (tmp_path / "workspace" / "a.txt").exists()


@pytest.mark.parametrize(
    ("effect", "ran", "said"),
    [("unsafe", False, "outcome unknown"), ("idempotent", True, ""), ("pure", True, "")],
)
async def test_a_call_that_a_crash_interrupted_runs_again_only_where_that_does_no_harm(
    tmp_path: Path, effect: Effect, ran: bool, said: str
) -> None:
    async with inside(tmp_path, []) as it:
        held = Held(lambda _: "never", lambda _: True)
        it.bot.models.use(held)
        it.channel.hear("write it", key="k")
        await held.begun.wait()  # what the turn does at its start is done
        turn = await open_turn(it)
        asked = call("write_file", "a", path="a.txt", content="x")
        (row,) = await planned(it, turn, asked, effect)
        await it.bot.store.sessions.start_calls([row])
    async with inside(tmp_path, ["I looked"]) as it:
        assert (await it.answer("k"))[0].text == "I looked"
        (result,) = results(it.model.requests[-1])
        assert said in result.text
        assert result.is_error is not ran
        assert (tmp_path / "workspace" / "a.txt").exists() is ran


@pytest.mark.parametrize(
    ("effect", "state"), [("pure", "failed"), ("idempotent", "unknown"), ("unsafe", "unknown")]
)
async def test_a_tool_that_takes_too_long_has_failed_or_nobody_knows(
    tmp_path: Path, effect: Effect, state: str
) -> None:
    row, result = await used(tmp_path, effect, TimeoutError())
    assert row.state == state
    assert "given up" in result.text
    assert result.is_error


@pytest.mark.parametrize(
    ("error", "said"),
    [(ToolFailed("no such page"), "no such page"), (ValueError("a bug"), "broke: ValueError")],
)
async def test_a_tool_that_fails_tells_the_model_why(
    tmp_path: Path, error: Exception, said: str
) -> None:
    row, result = await used(tmp_path, "pure", error)
    assert row.state == "failed"
    assert said in result.text


async def open_turn(it: Inside) -> TurnRow:
    """The turn that runs."""
    async with asyncio.timeout(5):
        while True:
            row = await it.bot.store.delivery.next_inbox_row(await it.conversation(), 0.0)
            if row is not None and row.turn_id:
                break
    turn = await it.bot.store.sessions.turn(row.turn_id)
    assert turn is not None
    return turn


async def planned(it: Inside, turn: TurnRow, asked: ToolCall, effect: Effect) -> list[CallRow]:
    """One call as the record has it before anything was done."""
    draft = await it.bot.message_counter.draft("assistant", (asked,), "model")
    plan = PlannedCall(call_id=asked.id, name=asked.name, input=asked.input, effect=effect)
    return await it.bot.store.sessions.add_step(
        turn, draft, [plan], Usage(model="m", input=1, output=1)
    )


class Failing:
    """A tool that ends with an error."""

    arguments = ToolArguments

    def __init__(self, effect: Effect, error: Exception) -> None:
        self.spec = ToolSpec(
            name="try", description="Try.", schema="{}", effect=effect, action="files.read"
        )
        self._error = error

    async def run(self, arguments: ToolArguments, context: ToolContext) -> str:
        raise self._error


async def used(folder: Path, effect: Effect, error: Exception) -> tuple[CallRow, ToolResult]:
    """What the record says of one call of a tool that fails so, and what its model is told."""
    async with inside(folder, []) as it:
        bot, place = (
            it.bot,
            Place(
                channel="terminal", account="local", chat_id="c", thread_id="", kind="dm", space=""
            ),
        )
        await bot.turn_dispatcher.close(0)  # or it may claim the message first
        (stored,) = await bot.store.delivery.accept(
            [
                NewInboxRow(
                    place=place, key="k", kind="message", sender_id="u", body='{"text": "go"}'
                )
            ]
        )
        turn = await bot.store.delivery.claim(
            stored.id, await bot.message_counter.draft("user", (), "person"), "u"
        )
        rows = await planned(it, turn, call("try", "a"), effect)
        toolset = Toolset([Failing(effect, error)])
        calls = ToolRunner(
            store=bot.store,
            toolset=lambda space: toolset,
            now=bot.now,
            message_counter=bot.message_counter,
            approvals=bot.approvals,
            roles=bot.roles,
            budget_guard=bot.budget_guard,
            telemetry=bot.telemetry,
            memory_texts=bot.prompt.memory_texts,
            guest_actions=tuple,
            find_refusal=bot.plugins.find_refusal,
        )
        conversation = await bot.store.sessions.conversation(stored.conversation)
        assert conversation is not None
        event_sink = EventSink(
            show=bot.gateway.show,
            address=Address(channel="terminal", account="local", chat_id="c"),
            message_id="",
        )
        await calls.run(
            TurnContext(
                conversation=conversation,
                turn=turn,
                actor=Actor(channel="x", id="u", role="owner"),
                scope=AccessScope(kind="dm", space=""),
                lang="en",
                suffix="",
                model="m",
                policy="turns",
                max_steps=15,
                event_sink=event_sink,
            ),
            rows,
            await bot.message_counter.draft("assistant", (), "model"),
        )
        (row,) = await bot.store.sessions.calls(turn.id)
        told = (await bot.store.sessions.messages(stored.conversation))[-1].parts[0]
        assert isinstance(told, ToolResult)
        return row, told
