"""What is typed on the page in a chat of another platform is answered there: on each platform, over
a kill, and not where its window is closed.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.by_night import by_night
from tests.emulators.model import ModelEmulator
from tests.emulators.telegram import TelegramEmulator
from tests.walk.channel_worlds import WORLDS, World, configured, remember
from tests.walk.harness import OWNER, Bot, Scene, scene, until
from tests.walk.record import query, unended
from tests.walk.speech import answer, asked

REPLY = "Asked on the page: «two» what do you make of it?"


async def post(talk: Scene, conversation: str) -> int:
    """Send the message as the page does: under the same key until it is taken."""
    return (await talk.web.send(conversation, asked("two"), "k1")).status_code


@asynccontextmanager
async def chat_with(home: Path, world: World) -> AsyncIterator[tuple[Bot, str]]:
    """A bot that has answered the owner on a platform; the name of that conversation."""
    async with ModelEmulator(responder=answer) as model, world:
        bot = Bot(home, configured(world, model))
        await remember(bot, world)
        try:
            await bot.start()
            world.say(world.people[0], asked("one"))
            await until(lambda: len(world.seen(world.people[0])) == 1, "the first answer is there")
            [(conversation,)] = query(bot.db, "SELECT id FROM conversation")
            yield bot, conversation
        finally:
            if bot.alive:
                await bot.kill()


async def refusal(bot: Bot, conversation: str) -> Any:
    return (await bot.web.get(f"/api/v1/conversations/{conversation}"))["no_reply"]


@pytest.mark.parametrize("platform", ["feishu", "wechat", "wecom", "wechat_mp"])
async def test_each_platform_shows_the_reply_with_what_was_asked(
    tmp_path: Path, platform: str
) -> None:
    world = WORLDS[platform]()
    async with chat_with(tmp_path, world) as (bot, conversation):
        assert await refusal(bot, conversation) is None
        await bot.web.post(conversation, asked("two"))
        owner = world.people[0]
        await until(lambda: len(world.seen(owner)) == 2, "the reply is there")
        reply = world.seen(owner)[1]
        assert REPLY in reply.replace("*", "").replace("\\", "")
        assert "re «two»" in reply


async def test_wechat_is_written_to_until_its_window_is_closed_and_again_after_it(
    tmp_path: Path,
) -> None:
    world = WORLDS["wechat"]()
    owner = world.people[0]
    async with chat_with(tmp_path, world) as (bot, conversation):
        sent = 1
        while await refusal(bot, conversation) is None:
            await bot.web.post(conversation, asked(f"no{sent}"))
            sent += 1
            await until(lambda: len(world.seen(owner)) == sent, "the reply is there")  # noqa: B023
            await until(lambda: not unended(bot.db), "its end is stored")
        assert "until you write to the bot there" in (await refusal(bot, conversation))["en"]
        assert (await bot.web.send(conversation, "more", "k")).status_code == 403
        world.say(owner, asked("again"))
        await until(lambda: len(world.seen(owner)) == sent + 1, "the window is open")
        assert await refusal(bot, conversation) is None


@pytest.mark.kill
@pytest.mark.parametrize(
    "point",
    [
        "claim.committed",
        "finish.committed",
        pytest.param("recv.committed", marks=by_night),
        pytest.param("outbox.claimed", marks=by_night),
    ],
)
async def test_a_message_of_the_page_outlives_the_process_and_is_answered_on_telegram(
    tmp_path: Path, point: str
) -> None:
    async with (
        TelegramEmulator() as telegram,
        scene(tmp_path, ModelEmulator(responder=answer), telegram.url) as talk,
    ):
        await talk.bot.start()
        telegram.inject(asked("one"), user=int(OWNER))
        await until(lambda: len(telegram.sent(int(OWNER))) == 1, "the first answer is there")
        await until(lambda: not unended(talk.bot.db), "its end is stored")
        [(conversation,)] = query(talk.bot.db, "SELECT id FROM conversation")
        await talk.bot.restart(f"{point}:kill9")
        with suppress(httpx.HTTPError):
            await post(talk, conversation)
        await talk.bot.ended()
        await talk.bot.start()
        assert await post(talk, conversation) == 200
        await until(lambda: len(telegram.sent(int(OWNER))) == 2, "the reply is on Telegram")
        await until(lambda: not unended(talk.bot.db), "its end is stored, too")
        first, second = (seen.text for seen in telegram.sent(int(OWNER)))
        assert first == "re «one»"
        assert REPLY in second
        assert second.endswith("re «two»")
        lines = await talk.web.lines(conversation)
        assert [line.get("written_on", "") for line in lines] == ["", "", "page", ""]
        assert query(talk.bot.db, "SELECT count(*) FROM conversation") == [(1,)]
