"""What answers messages is loaded by the first of them, once; at the start only where that would be noticed."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from memory.store.people.background_tasks import NewTask
from tests.bot.inside import inside

SERVER = {"command": ["/bin/false"]}


async def test_an_idle_bot_has_no_parts_of_turns_and_is_closed_without_them(tmp_path: Path) -> None:
    async with inside(tmp_path, []) as it:
        await it.bot.settled()
        assert not await it.bot.stop("nobody")
        assert not it.bot.is_space_in_use("")
        await it.bot.drop_view("nobody")
        await asyncio.to_thread(it.bot.check_files)
    assert not it.bot.has_turn_components


async def test_many_first_messages_load_them_once_and_are_all_answered(tmp_path: Path) -> None:
    people = 200
    async with inside(tmp_path, [f"answer {number}" for number in range(people)], {"concurrency": people}) as it:
        messages = [it.channel.hear(f"hello {number}", chat=f"c{number}", key=f"k{number}") for number in range(people)]
        loaded = await asyncio.gather(*(it.bot.load_turn_components() for _ in range(people)))
        answers = [await it.answer(message.key) for message in messages]
    assert {id(components) for components in loaded} == {id(it.bot.turn_components)}
    assert len({answer[0].text for answer in answers}) == people


async def test_an_embedding_that_is_configured_later_keeps_no_first_message_from_its_answer(tmp_path: Path) -> None:
    async with inside(tmp_path, ["here you are"]) as it:
        path = tmp_path / "config.json"
        config = json.loads(path.read_text())
        path.write_text(json.dumps({**config, "memory": {**config["memory"], "embedding": {"provider": "local"}}}))
        it.bot.file.load()
        assert it.bot.config().memory.embedding is not None
        async with asyncio.timeout(20):
            assert await it.text("hello") == "here you are"


@pytest.mark.parametrize(
    "settings", [{"tools": {"exec": {"enabled": True}}}, {"mcp": {"files": SERVER}}], ids=["exec", "mcp"]
)
async def test_tools_whose_faults_are_reported_at_the_start_are_loaded_then(
    tmp_path: Path, settings: dict[str, Any]
) -> None:
    async with inside(tmp_path, [], settings) as it:
        assert it.bot.has_turn_components


async def test_a_command_that_ran_at_the_end_of_the_last_process_is_told_of_at_the_start(tmp_path: Path) -> None:
    async with inside(tmp_path, ["hello"]) as it:
        await it.say("hi")
        row = await it.bot.store.sessions.conversation(await it.conversation())
        assert row is not None
        new = NewTask(
            kind="exec",
            space="",
            conversation=row.id,
            call="call",
            position=0,
            channel=row.place.channel,
            account=row.place.account,
            person=row.place.chat_id,
            goal="sleep 60",
            request="{}",
            epoch=row.epoch,
        )
        await it.bot.store.tasks.start([new], [""], 1)
        assert len(await it.bot.store.tasks.open_commands()) == 1
    async with inside(tmp_path, ["I see"]) as it:
        assert it.bot.has_turn_components
        assert await it.bot.store.tasks.open_commands() == []
