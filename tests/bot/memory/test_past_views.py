"""What each request showed is rebuilt from its manifest, byte for byte, whatever happened to the conversation since."""

from pathlib import Path

from bot.memory.past_views import RebuiltView, rebuild_view
from bot.models.base import Request
from bot.models.providers.anthropic import encode_anthropic_request
from tests.bot.inside import Inside, inside
from tests.bot.models.asking import blobs
from tests.bot.talk import call, folded

TIGHT = {"agent_max_context_turns": 4, "agent_max_context_tokens": 9_000, "memory": {"extract": False}}
SUMMARY = folded("- They tell codes of lockers.", "## Goal and state\n- They tell codes of lockers.")


def body_of(request: Request) -> bytes:
    """What is sent to the provider."""
    return encode_anthropic_request(request, blobs).content


async def rebuilt(it: Inside) -> list[RebuiltView]:
    """Every past view of the chat, oldest first."""
    conversation = await it.conversation()
    counter = await it.house.fitter.counter()
    found = []
    for row in reversed(await it.house.store.views.page(conversation, limit=500)):
        past = await it.house.store.views.past_view(conversation, row.number)
        assert past is not None
        found.append(rebuild_view(past, counter))
    return found


def answering(request: Request) -> object:
    if request.purpose != "turn":
        return SUMMARY
    if request.stable < len(request.messages) - 1:
        return "I have read it."
    asked = [part.text for part in request.messages[-1].parts if hasattr(part, "text")]
    if any(text.startswith("read ") for text in asked):
        return call("read_file", id=f"r{len(request.messages)}{request.size}", path="notes/n.md")
    return f"noted {request.size}"


async def test_each_past_request_is_rebuilt_byte_for_byte(tmp_path: Path) -> None:
    async with inside(tmp_path, answering, TIGHT) as it:  # type: ignore[arg-type]
        notes = tmp_path / "workspace" / "notes"
        notes.mkdir()
        (notes / "n.md").write_text("The tide table. " * 300)
        for number in range(12):
            await it.say("read notes/n.md" if number % 3 == 2 else f"第{number}号柜子的密码是 {40_000 + number}。" * 9)
            await it.house.turns.settled()
            if number == 4:
                (tmp_path / "workspace" / "SOUL.md").write_text("You are a lighthouse keeper.\n")
            if number == 6:
                await it.say("/remember the boat is called Ada")
            if number == 8:
                await it.say("/context clear")
            if number == 9:
                await it.say("/context fold")
        sent = [request for request in it.model.requests if request.purpose == "turn"]
        views = await rebuilt(it)
        folds = await it.house.store.folds.folds(await it.conversation(), 1, with_texts=False)
    assert len(sent) == len(views) > 14
    assert len(folds) >= 2
    for request, view in zip(sent, views, strict=True):
        assert body_of(view.request) == body_of(request)
        assert view.exact
