"""A whole bot on an official account, at the platform's timing: long replies, and messages sent
meanwhile.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from bot.models.base import Request
from channels.wechat_mp.channel import WechatMp
from tests.bot.inside import QUIET, Inside, inside
from tests.bot.talk import words
from tests.channels.web.server import ScriptedBot, running
from tests.emulators.mp import AES_KEY, APP_ID, PERSON, SECRET, TOKEN, MpEmulator


def answer(request: Request) -> str:
    """The last words of the person, or a long story."""
    last = [text for text in words(request) if not text.startswith("[")][-1]
    return (
        "\n\n".join(f"{number}. " + "long " * 300 for number in range(3))
        if last == "a story"
        else f"re: {last}"
    )


@asynccontextmanager
async def at_home(folder: Path, *, verified: bool) -> AsyncIterator[tuple[MpEmulator, Inside]]:
    async with (
        running(ScriptedBot()) as site,
        MpEmulator(f"{site.base}/hooks/wechat_mp", verified=verified) as it,
    ):
        section = {
            "app_id": APP_ID,
            "app_secret": SECRET,
            "token": TOKEN,
            "encoding_aes_key": AES_KEY,
            "base_url": it.url,
        }
        settings = {
            **QUIET,
            "language": "en",
            "channels": {"wechat_mp": {**section, "owners": [PERSON]}},
        }
        channel = WechatMp(WechatMp.settings_type(**section), timeout=2.0)
        site.bot.hooks["wechat_mp"] = channel
        async with inside(folder, answer, settings, channel=channel) as bot:  # type: ignore[arg-type]
            yield it, bot
        await channel.close()


async def test_a_conversation_without_the_api_goes_on_message_by_message(tmp_path: Path) -> None:
    async with at_home(tmp_path, verified=False) as (emulator, _):
        for number in range(3):
            emulator.inject(f"number {number}")
            await emulator.until(lambda due=number + 1: len(emulator.sent()) == due)  # type: ignore[misc]
    assert emulator.sent() == [f"re: number {number}" for number in range(3)]
    assert emulator.world.notices(PERSON) == []


async def test_the_parts_of_a_long_answer_come_with_the_next_messages_and_those_are_answered_too(
    tmp_path: Path,
) -> None:
    async with at_home(tmp_path, verified=False) as (emulator, _):
        for number, text in enumerate(("a story", "go on", "and then", "thanks")):
            emulator.inject(text)
            await emulator.until(lambda due=number + 1: len(emulator.sent()) == due)  # type: ignore[misc]
    first, second, third, fourth = emulator.sent()
    assert [part.partition(".")[0] for part in (first, second, third)] == ["0", "1", "2"]
    assert first.endswith("(not all yet: send anything for more)")
    assert fourth == "re: go on"
    assert emulator.world.notices(PERSON) == []


async def test_with_the_api_all_parts_come_by_themselves(tmp_path: Path) -> None:
    async with at_home(tmp_path, verified=True) as (emulator, bot):
        emulator.inject("a story")
        await emulator.until(lambda: len(emulator.sent()) == 3)
        await bot.bot.outbox_dispatcher.settled()
    lines = [line for line in emulator.world.person(PERSON).lines if line.who == "account"]
    assert [line.by for line in lines[1:]] == ["service", "service"]
    assert emulator.world.notices(PERSON) == []


async def test_a_stranger_learns_nothing_from_the_third_try(tmp_path: Path) -> None:
    async with at_home(tmp_path, verified=False) as (emulator, _):
        push = emulator.inject("who are you?", "oStranger")
        await emulator.until(lambda: push.state == "confirmed")
    assert not [text for text in emulator.sent("oStranger") if "thinking" in text]
    assert emulator.world.notices("oStranger") == []
    assert len(push.tries) == 1
