"""Two programs with one token: one receives; the other waits without polling, and takes over when
it is alone.
"""

import asyncio

import pytest

from channels.errors import ReceiverConflict
from channels.telegram.channel import Telegram
from channels.telegram.settings import TelegramSettings
from tests.contracts.channel_stage import Inbox, listening
from tests.emulators.telegram import TelegramEmulator


def polls(emulator: TelegramEmulator) -> int:
    return len(emulator.wire_log("getUpdates"))


async def test_I11_the_one_that_lost_its_poll_looks_on_without_polling_until_nobody_fetches() -> (
    None
):
    async with TelegramEmulator() as emulator:
        settings = TelegramSettings(token=emulator.token, base_url=emulator.url)
        one, two = (Telegram(settings, poll_seconds=3) for _ in range(2))
        mine, theirs = Inbox(), Inbox()
        async with listening(one, mine) as first:
            await emulator.until(lambda: polls(emulator) >= 1)
            async with listening(two, theirs):
                with pytest.raises(ReceiverConflict, match="another program polls"):
                    await asyncio.wait_for(first, 10)
                before = polls(emulator)
                with pytest.raises(ReceiverConflict, match="another program polls"):
                    await asyncio.wait_for(one.run(mine), 10)
                assert polls(emulator) == before
                emulator.inject("who hears me?")
                assert [message.text for message in await theirs.until(1)] == ["who hears me?"]
                await emulator.until(lambda: len(emulator.acks()) == 1)
        emulator.inject("and now?")
        async with listening(one, mine):
            assert [message.text for message in await mine.until(1)] == ["and now?"]
        await one.close()
        await two.close()
