"""The iLink emulator judged by a client that is not ours: weixin-ilink."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from weixin_ilink import api, auth
from weixin_ilink.client import ILinkClient

from tests.emulators.ilink import IlinkEmulator
from tests.emulators.ilink_world import PERSON


@pytest.fixture
async def emulator() -> AsyncIterator[IlinkEmulator]:
    async with IlinkEmulator() as served:
        served.knobs.hold, served.knobs.burst = 1.0, 0
        yield served
        assert served.refusals() == []


def client(emulator: IlinkEmulator) -> ILinkClient:
    granted = emulator.world.grant()
    return ILinkClient(emulator.url, granted["bot_token"], cdn_base_url=emulator.cdn_url)


async def test_its_login_goes_through(emulator: IlinkEmulator) -> None:
    shown: list[str] = []
    login = asyncio.create_task(
        asyncio.to_thread(auth.login_with_qr, shown.append, base_url=emulator.url)
    )
    await emulator.until(lambda: emulator.wire_log("get_qrcode_status"))
    emulator.world.scan()
    emulator.world.confirm()
    found = await asyncio.wait_for(login, 30)
    assert len(shown) == 1
    assert (found.account_id, found.base_url, found.user_id) == (
        "bot9@im.bot",
        emulator.url,
        PERSON,
    )


async def test_it_hears_text_and_files(emulator: IlinkEmulator) -> None:
    bot = client(emulator)
    emulator.world.say("你好")
    emulator.world.attach(b"body", "file")
    emulator.world.attach(b"pixels", "image", "raw")
    answer = await asyncio.to_thread(bot.poll)
    assert [ILinkClient.extract_text(message) for message in answer["msgs"]] == ["你好", "", ""]
    files = [message["item_list"][0] for message in answer["msgs"][1:]]
    assert [await asyncio.to_thread(bot.download_media_item, item) for item in files] == [
        b"body",
        b"pixels",
    ]
    assert (await asyncio.to_thread(bot.poll))["msgs"] == []
    assert emulator.world.acks() == 3


async def test_it_speaks_types_and_sends_files(emulator: IlinkEmulator, tmp_path: Path) -> None:
    bot = client(emulator)
    token = emulator.world.say("hi")["context_token"]
    path = tmp_path / "a.bin"
    path.write_bytes(b"\x00\x01" * 500)
    await asyncio.to_thread(bot.send_text, PERSON, "hello", token)
    await asyncio.to_thread(bot.send_typing, PERSON, token)
    await asyncio.to_thread(bot.send_file, PERSON, path, token, caption="as you asked")
    await asyncio.to_thread(bot.send_image, PERSON, path, token)
    seen = emulator.world.sent()
    assert [(one.kind, one.text, one.name) for one in seen] == [
        ("text", "hello", ""),
        ("text", "as you asked", ""),
        ("file", "", "a.bin"),
        ("image", "", ""),
    ]
    assert [one.data for one in seen[2:]] == [path.read_bytes()] * 2
    assert emulator.world.typing == [(PERSON, 1)]


async def test_it_is_told_of_limits_and_ends_in_the_body(emulator: IlinkEmulator) -> None:
    bot = client(emulator)
    emulator.knobs.quota = 1
    token = emulator.world.say("hi")["context_token"]
    message = bot._build_msg(PERSON, token, [{"type": 1, "text_item": {"text": "x"}}])
    answers = [await asyncio.to_thread(api.send_message, bot.opts, message) for _ in range(2)]
    assert answers == [{}, {"ret": -2, "errmsg": ""}]
    emulator.world.expire_session()
    assert (await asyncio.to_thread(bot.poll))["ret"] == -14
