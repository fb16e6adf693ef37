"""A person who is no longer an owner does not continue with the owner's memory."""

from pathlib import Path

from bot.models.base import Request
from channels.testing import ScriptedChannel as Channel
from memory.conversation import Text
from tests.bot.inside import inside


def shown(request: Request) -> str:
    parts = (
        part for message in request.messages for part in message.parts if isinstance(part, Text)
    )
    return "\n".join([*request.system, *(part.text for part in parts)])


async def test_I40_who_is_taken_off_the_owners_has_a_memory_of_their_own(tmp_path: Path) -> None:
    def telegram() -> Channel:
        return Channel(name="telegram", account="bot")

    owner = {"channels": {"telegram": {"owners": ["7"]}}}
    async with inside(tmp_path, lambda _: "yes", owner, telegram()) as it:
        await it.text("/remember the safe opens with periwinkle", chat="7", sender="7")
        await it.text("hello", chat="7", sender="7")
        assert "periwinkle" in shown(it.model.requests[-1])
    user = {"channels": {"telegram": {"allow": ["7"]}}}
    async with inside(tmp_path, lambda _: "yes", user, telegram()) as it:
        answer = await it.text("/memory search periwinkle", chat="7", sender="7")
        assert "opens" not in answer
        await it.text("what opens the safe with periwinkle?", chat="7", sender="7")
        asked = shown(it.model.requests[-1])
        assert "the safe opens" not in asked
