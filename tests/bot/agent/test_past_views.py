"""What each request showed is rebuilt from its manifest, byte for byte, whatever happened to the
conversation since.
"""

from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest

from bot.agent.context.past_views import LOST_TEXT, RebuiltView, diff_views, rebuild_view
from bot.models.base import Request
from bot.models.providers.anthropic import AnthropicModel, encode_anthropic_request
from memory.conversation import Text
from tests.bot.inside import Inside, inside
from tests.bot.models.asking import asking, blobs
from tests.bot.talk import folded
from tests.emulators.model import ModelEmulator
from tests.emulators.model_replies import Call, Reply, Told, is_fold

TIGHT = {
    "agent_max_context_turns": 4,
    "agent_max_context_tokens": 9_000,
    "memory": {"extract": False},
}
COMMANDS_AFTER = {
    6: ("/remember the boat is called Ada",),
    8: ("/context clear",),
    9: ("/context fold",),
}
SUMMARY = folded(
    "- They tell codes of lockers.", "## Goal and state\n- They tell codes of lockers."
)


def body_of(request: Request) -> bytes:
    """What is sent to the provider."""
    return encode_anthropic_request(request, blobs).content


async def rebuilt(it: Inside) -> list[RebuiltView]:
    """Every past view of the chat, oldest first."""
    conversation = await it.conversation()
    counter = await it.bot.fitter.counter()
    found = []
    for row in reversed(await it.bot.store.views.page(conversation, limit=500)):
        past = await it.bot.store.views.past_view(conversation, row.number)
        assert past is not None
        found.append(rebuild_view(past, counter))
    return found


def answering(body: dict[str, Any]) -> Told:
    """Reads the notes where it is asked to, and repeats the rest."""
    content = body["messages"][-1]["content"]
    said = [part.get("text", "") for part in content] if isinstance(content, list) else [content]
    if is_fold(body):
        return SUMMARY
    if any(text.startswith("read ") for text in said):
        return Reply(calls=(Call(name="read_file", input={"path": "notes/n.md"}),))
    return "Noted."


async def test_each_past_request_is_what_the_model_was_sent_byte_for_byte(tmp_path: Path) -> None:
    async with ModelEmulator(responder=answering) as emulator, inside(tmp_path, [], TIGHT) as it:
        model = AnthropicModel(api_key="sk-test", base_url=emulator.url, blobs=blobs)
        async for _ in model.stream(asking("Are you there?")):  # loads the SDK, which is slow
            pass
        emulator.reset()
        it.bot.models.use(model)
        notes = tmp_path / "workspace" / "notes"
        notes.mkdir()
        (notes / "n.md").write_text("The tide table. " * 300)
        for number in range(12):
            await it.say(
                "read notes/n.md"
                if number % 3 == 2
                else f"第{number}号柜子的密码是 {40_000 + number}。" * 9
            )
            await it.bot.turns.settled()
            if number == 4:
                (tmp_path / "workspace" / "SOUL.md").write_text("You are a lighthouse keeper.\n")
            for command in COMMANDS_AFTER.get(number, ()):
                await it.say(command)
        views = await rebuilt(it)
        folds = await it.bot.store.folds.folds(await it.conversation(), 1, with_texts=False)
        await model.close()
        sent = [
            seen for seen in emulator.requests if seen.wire == "messages" and not is_fold(seen.body)
        ]
    assert len(sent) == len(views) > 14
    assert len(folds) >= 2
    for seen, view in zip(sent, views, strict=True):
        assert body_of(view.request) == seen.raw
        assert view.exact
        assert view.row.cache_read == seen.read


async def test_a_view_is_not_called_exact_once_its_messages_are_written_in_another_way(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path, ["Yes."], TIGHT) as it:
        await it.say("Hello.")
        past = await it.bot.store.views.past_view(await it.conversation(), 1)
        assert past is not None
        counter = await it.bot.fitter.counter()
        other = replace(
            past, messages=(replace(past.messages[0], parts=(Text(text="Hello, you."),)),)
        )
        assert rebuild_view(past, counter).exact
        assert not rebuild_view(other, counter).exact
        lost = rebuild_view(replace(past, texts={}), counter)
        assert not lost.exact
        assert LOST_TEXT in lost.request.system


@pytest.mark.parametrize(("days", "kept"), [(30, 1), (0, 0)])
async def test_nothing_is_recorded_where_it_is_off(tmp_path: Path, days: int, kept: int) -> None:
    async with inside(tmp_path, ["Yes."], {**TIGHT, "console": {"views_days": days}}) as it:
        await it.say("Hello.")
        assert len(await it.bot.store.views.page(await it.conversation())) == kept


async def test_a_difference_names_what_came_and_went_and_where_the_prefix_broke(
    tmp_path: Path,
) -> None:
    async with inside(
        tmp_path, lambda asked: "Yes." if asked.purpose == "turn" else SUMMARY, TIGHT
    ) as it:
        for number in range(2):
            await it.say(f"Hello {number}.")
        (tmp_path / "workspace" / "SOUL.md").write_text("You are a lighthouse keeper.\n")
        await it.say("And now?")
        first, second, third = await rebuilt(it)
        counter = await it.bot.fitter.counter()
    same = diff_views(first, second, counter)
    assert same["broke"] is None
    assert [(one["turn"], one["state"]) for one in same["items"] if one["turn"]] == [
        (1, "changed"),
        (2, "added"),
    ]
    other = diff_views(second, third, counter)
    assert (other["broke"]["kind"], other["broke"]["name"], other["broke"]["why"]) == (
        "system",
        "SOUL.md",
        "SOUL.md",
    )
    tools = sum(len(f"{tool.description}\n\n{tool.schema}".encode()) for tool in second.view.tools)
    alike = takewhile(
        lambda pair: pair[0] == pair[1],
        zip(second.view.system[0], third.view.system[0], strict=False),
    )
    shared = len("".join(one for one, _ in alike).encode())
    assert other["broke"]["byte"] == tools + shared
    assert other["broke"]["tokens"] > 50
    back = diff_views(third, first, counter)
    assert {(one["turn"], one["state"]) for one in back["items"] if one["turn"]} == {
        (1, "changed"), (2, "left_out"), (3, "left_out"),
    }  # fmt: skip
