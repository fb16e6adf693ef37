"""The walk of messages through a whole bot: answered once, in order, with tools, stopped, and told
when it fails.
"""

import asyncio
import json
from pathlib import Path

import pytest

from bot.errors import KeyRefused, ModelError, Overflow, Transient
from bot.messages import MessageBody, dump_body
from bot.models.base import Answer, Request, TextDelta, TokensUsed
from bot.models.providers.offline import ScriptedAnswer
from memory.conversation import Text, ToolCall
from memory.store.open import open_store
from memory.store.rows import NewInboxRow, Place
from tests.bot.inside import inside
from tests.bot.talk import results, words


def call(name: str, id: str = "t1", **arguments: object) -> ToolCall:
    return ToolCall(id=id, name=name, input=json.dumps(arguments))


async def test_a_message_is_answered_and_both_are_remembered(tmp_path: Path) -> None:
    async with inside(tmp_path, ["first", "second"]) as it:
        assert await it.text("one") == "first"
        assert await it.text("two") == "second"
        said = words(it.model.requests[1])
        assert said[:3] == ["one", "first", "two"]


async def test_a_repeated_update_is_answered_once(tmp_path: Path) -> None:
    async with inside(tmp_path, lambda _: "ok") as it:
        message = it.channel.hear("hello", key="k")
        it.channel.redeliver(message)
        await it.answer("k")
        it.channel.redeliver(message)
        await it.channel.until(lambda: it.channel.confirmed.count("k") >= 2)
        await it.bot.settled()
        assert len(it.channel.sent) == 1


async def test_the_same_words_twice_are_two_messages_and_two_answers(tmp_path: Path) -> None:
    async with inside(tmp_path, lambda _: "ok") as it:
        it.channel.hear("again")
        it.channel.hear("again")
        await it.channel.until(lambda: len(it.channel.sent) == 2)
        assert {sent.reply_to_key for sent in it.channel.sent} == {"1", "2"}


async def test_tools_run_and_their_results_come_back_to_the_model(tmp_path: Path) -> None:
    script: list[ScriptedAnswer] = [
        [call("write_file", "a", path="notes.txt", content="三十七"), Text(text="Writing.")],
        [call("read_file", "b", path="notes.txt"), call("list_files", "c")],
        "done",
    ]
    async with inside(tmp_path, script) as it:
        assert await it.text("note it") == "done"
        assert "三十七" in (tmp_path / "workspace" / "notes.txt").read_text()
        read, listed = results(it.model.requests[2])[-2:]
        assert "三十七" in read.text
        assert "notes.txt" in listed.text
        names = [event.name for event in it.channel.shown]
        assert names.index("tool_started") < names.index("tool_ended")


async def test_an_unknown_tool_and_bad_arguments_are_told_to_the_model(tmp_path: Path) -> None:
    script: list[ScriptedAnswer] = [
        call("fly", "a"),
        ToolCall(id="b", name="read_file", input="{not json"),
        call("read_file", "c", pth="x"),
        "sorry",
    ]
    async with inside(tmp_path, script) as it:
        assert await it.text("go") == "sorry"
        told = results(it.model.requests[-1])
        assert [result.is_error for result in told] == [True, True, True]
        assert "no tool" in told[0].text
        assert "not JSON" in told[1].text
        assert "path" in told[2].text


async def test_the_same_call_five_times_stops_the_loop(tmp_path: Path) -> None:
    async with inside(
        tmp_path, lambda request: call("list_files", f"t{len(results(request))}")
    ) as it:
        answer = await it.text("what time is it?")
        assert "five times" in answer
        assert len(it.model.requests) == 5


async def test_when_all_steps_are_used_it_says_so_and_sums_up(tmp_path: Path) -> None:
    def script(request: Request) -> ScriptedAnswer:
        if any("Call no more tools" in text for text in words(request)):
            return "so far: nothing"
        return call("list_files", f"t{len(results(request))}", path=f"d{len(results(request))}")

    async with inside(tmp_path, script, {"agent_max_steps": 3}) as it:
        answer = await it.text("dig")
        assert "so far: nothing" in answer
        assert "3 steps" in answer
        assert len(it.model.requests) == 4


async def test_stop_ends_a_silent_model_at_once_and_the_next_message_is_answered(
    tmp_path: Path,
) -> None:
    hang = asyncio.Event()

    class Hanging:
        name = "hanging"

        async def stream(self, request: Request):  # type: ignore[no-untyped-def]
            if "wait" in words(request)[-2:]:
                yield TextDelta(text="thinking")
                await hang.wait()
            yield Answer(parts=(Text(text="here"),), stop="end", usage=TokensUsed(), model="m")

        async def close(self) -> None: ...

    async with inside(tmp_path, []) as it:
        it.bot.models.use(Hanging())
        waiting = it.channel.hear("wait")
        await it.channel.until(lambda: any(event.name == "delta" for event in it.channel.shown))
        async with asyncio.timeout(2):
            assert "Stopping" in await it.text("/stop")
            stopped = await it.answer(waiting.key)
        assert stopped[0].text == "Stopped."
        assert await it.text("and now?") == "here"


async def test_a_message_that_comes_while_one_runs_is_answered_after_it(tmp_path: Path) -> None:
    first_began, go_on = asyncio.Event(), asyncio.Event()

    class Slow:
        name = "slow"

        async def stream(self, request: Request):  # type: ignore[no-untyped-def]
            if "one" in words(request)[-2:]:
                first_began.set()
                await go_on.wait()
            text = f"answer to {[text for text in words(request) if text in ('one', 'two')][-1]}"
            yield Answer(parts=(Text(text=text),), stop="end", usage=TokensUsed(), model="m")

        async def close(self) -> None: ...

    async with inside(tmp_path, []) as it:
        it.bot.models.use(Slow())
        it.channel.hear("one")
        await first_began.wait()
        it.channel.hear("two")
        go_on.set()
        await it.channel.until(lambda: len(it.channel.sent) == 2)
        assert [sent.text for sent in it.channel.sent] == ["answer to one", "answer to two"]


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (KeyRefused("401", status=401), "key"),
        (Transient("529", status=529), "overloaded"),
        (ModelError("418", status=418), "refused"),
        (Overflow("too long"), "window"),
    ],
)
async def test_a_failing_model_is_told_and_nothing_is_forgotten(
    tmp_path: Path, error: ModelError, told: str
) -> None:
    failing = True

    def script(request: Request) -> ScriptedAnswer:
        return error if failing else "back"

    async with inside(tmp_path, script) as it:
        answer = await it.text("remember the number 4711")
        assert told in answer
        failing = False
        it.bot.models.use(it.model)  # as a changed configuration does
        assert await it.text("/retry") == "back"
        assert await it.text("are you there?") == "back"
        assert any("4711" in text for text in words(it.model.requests[-1]))


async def test_a_refusal_is_told_and_later_shown_as_one_line(tmp_path: Path) -> None:
    refusal = Answer(parts=(), stop="refusal", usage=TokensUsed(), model="m", detail="")
    async with inside(tmp_path, [[refusal], "ok"]) as it:
        assert "declined" in await it.text("something awful")
        await it.text("hello")
        assert not any("awful" in text for text in words(it.model.requests[-1]))
        stored = await it.bot.store.sessions.messages(await it.conversation())
        assert any("awful" in part.text for part in stored[0].parts if isinstance(part, Text))


async def test_an_answer_cut_for_its_length_is_continued_and_joined(tmp_path: Path) -> None:
    cut = Answer(parts=(Text(text="one two"),), stop="length", usage=TokensUsed(), model="m")
    async with inside(tmp_path, [[cut], Text(text=" three")]) as it:
        assert await it.text("count") == "one two three"


async def test_an_empty_answer_is_asked_for_once_more(tmp_path: Path) -> None:
    empty = Answer(parts=(), stop="end", usage=TokensUsed(), model="m")
    async with inside(tmp_path, [[empty], "now then", [empty], [empty]]) as it:
        assert await it.text("hello") == "now then"
        assert await it.text("hello") == "(no answer)"


async def test_a_restart_is_invisible(tmp_path: Path) -> None:
    async with inside(tmp_path, lambda _: "ok") as it:
        for number in range(3):
            await it.text(f"fact {number}")
    async with inside(tmp_path, lambda _: "ok") as it:
        await it.say("fact 3", key="after the restart")
        said = words(it.model.requests[0])
        assert said[:6] == ["fact 0", "ok", "fact 1", "ok", "fact 2", "ok"]


async def test_a_command_that_was_interrupted_is_told_and_not_done_twice(tmp_path: Path) -> None:
    async with inside(tmp_path, lambda _: "ok") as it:
        for number in range(4):
            await it.text(f"fact {number}")
        await it.text("/context clear")
        conversation = await it.conversation()
    store = await open_store(tmp_path / "data" / "mnema.db")
    place = Place(
        channel="terminal", account="local", chat_id="c1", thread_id="", kind="dm", space=""
    )
    body = dump_body(MessageBody(text="/context clear"))
    row = NewInboxRow(place=place, key="again", kind="command", sender_id="owner", body=body)
    [stored] = await store.delivery.accept([row])
    assert await store.delivery.mark_begun(stored.id)  # and there the process dies
    before = await store.sessions.load(conversation)
    await store.close()
    async with inside(tmp_path, lambda _: "ok") as it:
        [told] = await it.answer("again")
        assert "interrupted during /context clear" in told.text
        assert (await it.bot.store.sessions.load(conversation)).epoch == before.epoch


async def test_a_message_that_a_process_died_of_is_done_once_as_the_command_that_an_edit_made_of_it(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path, lambda _: "ok") as it:
        await it.text("fact")
        conversation = await it.conversation()
        epoch = (await it.bot.store.sessions.load(conversation)).epoch
    store = await open_store(tmp_path / "data" / "mnema.db")
    place = Place(
        channel="terminal", account="local", chat_id="c1", thread_id="", kind="dm", space=""
    )
    plain, command = (dump_body(MessageBody(text=text)) for text in ("hello", "/context clear"))
    row = NewInboxRow(place=place, key="again", kind="message", sender_id="owner", body=plain)
    [stored] = await store.delivery.accept([row])
    await store.delivery.mark_opened(stored.id)  # and there the process dies
    edit = NewInboxRow(
        place=place, key="e", kind="edit", sender_id="owner", body=command, target="again"
    )
    other = await open_store(tmp_path / "data" / "mnema.db")
    await other.delivery.recover()
    await other.delivery.accept([edit])
    await other.close()
    await store.close()
    async with inside(tmp_path, lambda _: "ok") as it:
        [told] = await it.answer("again")
        assert "interrupted" not in told.text
        assert (await it.bot.store.sessions.load(conversation)).epoch == epoch + 1
    async with inside(tmp_path, lambda _: "ok") as it:
        assert await it.text("fact") == "ok"
        assert (await it.bot.store.sessions.load(conversation)).epoch == epoch + 1
