"""What became of a message: told from the rows that its work left, to whom it belongs."""

from pathlib import Path

from bot.models.base import Request
from channels.testing import ScriptedChannel as Channel
from tests.bot.inside import TERMINAL, inside
from tests.bot.talk import Held, call, results, words


def script(request: Request) -> object:
    if "clock" in " ".join(words(request)) and not results(request):
        return (call("clock"),)
    return f"re: {[text for text in words(request) if not text.startswith('[')][-1]}"


async def test_the_last_message_is_told_from_received_to_sent(tmp_path: Path) -> None:
    async with inside(tmp_path, script) as it:  # type: ignore[arg-type]
        await it.say("what says the clock?")
        await it.bot.settled()
        told = (await it.text("/trace")).splitlines()
        kinds = [line.split(" ", 3)[3] for line in told[1:]]
        assert kinds[0] == "received (terminal)"
        assert kinds[1] == "started"
        assert [kind.split(":")[0] for kind in kinds[2:]] == [
            "model scripted",
            "tool clock",
            "model scripted",
            "ended",
            "answer 1/1",
        ]
        assert "accepted by the platform" in kinds[-1]
        assert told[0].endswith("· done")
        trace = told[0].split()[1]
        assert await it.text(f"/trace {trace}") == "\n".join(told)
        await it.text("你好")
        await it.bot.settled()
        assert "回复 1/1：已送达平台" in await it.text("/trace last")


async def test_S12_anothers_message_in_a_group_is_as_unknown_as_a_missing_one(
    tmp_path: Path,
) -> None:
    settings = {"channels": {"telegram": {"token": "", "enabled": False, "allow": ["7", "8", "g"]}}}
    channel = Channel(name="telegram", account="bot", capabilities=TERMINAL)
    async with inside(tmp_path, script, settings, channel) as it:  # type: ignore[arg-type]
        room = {"chat": "g", "kind": "group"}
        await it.say("mine is a secret plan", sender="7", **room)
        [line, *_] = (await it.text("/trace", sender="7", **room)).splitlines()
        trace = line.split()[1]
        missing = "0" * 26
        told = await it.text(f"/trace {trace}", sender="8", **room)
        assert told == (await it.text(f"/trace {missing}", sender="8", **room)).replace(
            missing, trace
        )
        assert trace in (await it.text(f"/trace {trace}", sender="7", **room))
        elsewhere = await it.text(f"/trace {trace}", sender="7", chat="7")
        assert elsewhere == told


async def test_what_is_under_way_is_told_as_such_and_so_is_a_failed_part(tmp_path: Path) -> None:
    channel = Channel(name="terminal", account="local", capabilities=TERMINAL)
    held = Held(lambda request: "done", lambda request: request.purpose == "turn")
    async with inside(tmp_path, script, channel=channel) as it:  # type: ignore[arg-type]
        it.bot.models.use(held)
        message = channel.hear("slow", key="k1")
        await held.begun.wait()
        told = await it.text("/trace")
        assert told.splitlines()[0].endswith("· at work")
        assert told.splitlines()[-1].endswith("started")
        held.go_on.set()
        await it.answer(message.key)
        await it.bot.settled()
        store = it.bot.store
        row = await store.sessions.find("terminal", "local", "c1")
        assert row is not None
        found = await store.sessions.trace(row.id)
        assert found is not None
        assert [event.kind for event in found.events] == [
            "received",
            "claimed",
            "model",
            "ended",
            "part",
        ]
        parts = [line for line in await store.sessions.lines(row.id) if line.role == "assistant"]
        assert await store.sessions.trace(row.id, of=parts[0].id) == found
        assert await store.sessions.trace(row.id, of=found.message) == found
        assert await store.sessions.trace(row.id, of="nothing") is None
