"""A bot that nobody has written to yet: it is idle and closed, its first messages are many, its
tools change.
"""

import asyncio
import json
from pathlib import Path

from memory.store.automation.background_tasks import NewTask
from tests.bot.inside import inside


async def test_an_idle_bot_has_nothing_to_stop_and_is_closed(tmp_path: Path) -> None:
    async with inside(tmp_path, []) as it:
        await it.bot.settled()
        assert not await it.bot.stop("nobody")
        assert not it.bot.is_space_in_use("")
        await it.bot.drop_view("nobody")
        await asyncio.to_thread(it.bot.check_files)


async def test_many_first_messages_are_all_answered(tmp_path: Path) -> None:
    people = 50
    async with inside(
        tmp_path, [f"answer {number}" for number in range(people)], {"concurrency": people}
    ) as it:
        messages = [
            it.channel.hear(f"hello {number}", chat=f"c{number}", key=f"k{number}")
            for number in range(people)
        ]
        answers = [await it.answer(message.key) for message in messages]
    assert len({answer[0].text for answer in answers}) == people


async def test_an_embedding_that_is_configured_later_keeps_no_first_message_from_its_answer(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path, ["here you are"]) as it:
        path = tmp_path / "config.json"
        config = json.loads(path.read_text())
        path.write_text(
            json.dumps(
                {**config, "memory": {**config["memory"], "embedding": {"provider": "local"}}}
            )
        )
        it.bot.file.load()
        assert it.bot.config().memory.embedding is not None
        async with asyncio.timeout(20):
            assert await it.text("hello") == "here you are"


async def test_a_command_that_ran_at_the_end_of_the_last_process_is_told_of_at_the_start(
    tmp_path: Path,
) -> None:
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
        assert await it.bot.store.tasks.open_commands() == []
