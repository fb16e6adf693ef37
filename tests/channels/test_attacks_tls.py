"""S68: nothing is sent to a platform whose certificate is for another host, self-signed or
expired.
"""

import base64
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from channels.errors import ChannelError
from channels.feishu.channel import Feishu
from channels.feishu.settings import FeishuSettings
from channels.message import Address, OutboundMessage
from channels.telegram.channel import Telegram
from channels.telegram.settings import TelegramSettings
from channels.toolkit.http import create_tls_context
from channels.wechat.channel import Wechat
from channels.wechat.client import PollTiming
from channels.wechat.settings import WechatSettings
from channels.wechat.state import ILinkCredentials
from channels.wechat_mp.channel import WechatMp
from channels.wechat_mp.settings import WechatMpSettings as MpSettings
from channels.wecom.channel import Wecom
from channels.wecom.connection import WecomTiming
from channels.wecom.settings import WecomSettings
from tests.channels.attacked import BAD, Authority, Impostor, Kind, impostor
from tests.contracts.channel_stage import Inbox, Pages, eventually, receive_with_restarts

SECRET = "S3cret-Of-The-Platform-0123456789"
TOKEN = f"700001:{SECRET}"
WORDS = "words-for-one-person-alone"
PERSON = "1001"
AES = base64.b64encode(b"k" * 32).decode()
QUICK = WecomTiming(connect=3.0, first_pause=0.02, max_pause=0.05, reply=2.0)
Made = Callable[[str], Any]


def login(root: str) -> Pages:
    known = ILinkCredentials(token=SECRET, bot="bot@im.bot", base=root, person=PERSON)
    return Pages(
        login=json.dumps(
            {name: getattr(known, name) for name in ("token", "bot", "base", "person")}
        )
    )


def wechat(root: str) -> Wechat:
    channel = Wechat(
        WechatSettings(base_url=root, cdn_url=root),
        timing=PollTiming(poll=1.0, grace=1.0, pauses=(0.02, 0.02, 0.05)),
    )
    channel.bind(login(root))
    return channel


def wechat_mp(root: str) -> WechatMp:
    channel = WechatMp(MpSettings(app_id="wx1", app_secret=SECRET, token=SECRET, base_url=root))
    channel.bind(Pages(**{"wx1.service": "granted"}))
    return channel


def wecom(root: str) -> Wecom:
    settings = WecomSettings(bot_id="aib", secret=SECRET, ws_url=root.replace("https", "wss"))
    channel = Wecom(settings, timing=QUICK)
    channel.bind(Pages())
    return channel


MADE: dict[str, Made] = {
    "telegram": lambda root: Telegram(TelegramSettings(token=TOKEN, base_url=root), poll_seconds=1),
    "feishu": lambda root: Feishu(
        FeishuSettings(app_id="cli_a", app_secret=SECRET, domain=root), answer_seconds=3.0
    ),
    "wechat": wechat,
    "wechat_mp": wechat_mp,
    "wecom": wecom,
}
FEISHU: dict[str, Any] = {
    "/tenant_access_token/internal": {"code": 0, "tenant_access_token": "t-1", "expire": 7200},
    "/bot/v3/info": {"code": 0, "bot": {"open_id": "ou_bot", "app_name": "bot"}},
}
HEARS = [name for name in MADE if name != "wechat_mp"]  # those that hear by calling the platform


@pytest.fixture
def authority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Authority]:
    made = Authority(tmp_path)
    made.trusted(monkeypatch)
    create_tls_context.cache_clear()
    yield made
    create_tls_context.cache_clear()


def message(channel: Any) -> OutboundMessage:
    address = Address(channel=channel.name, account=channel.account, chat_id=PERSON)
    return OutboundMessage(id="o1", address=address, client_key="k1", text=WORDS)


def nothing_said(server: Impostor) -> None:
    """Check that the server received a handshake and nothing else."""
    assert server.opened
    assert server.said_to(*BAD) == b""
    assert server.plain() == b""
    raw = b"".join(map(bytes, server.raw))
    for secret in (SECRET, WORDS, base64.b64encode(SECRET.encode()).decode()[:-4]):
        assert secret.encode() not in raw


@pytest.mark.parametrize("name", [*MADE])
async def test_S68_with_the_platforms_own_certificate_it_is_spoken_to(
    name: str, authority: Authority
) -> None:
    async with impostor(authority, "good") as server:
        channel = MADE[name](f"https://127.0.0.1:{server.port}")
        with suppress(ChannelError):
            await channel.probe()
        await channel.close()
        assert server.said_to("good")


@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize("name", [*MADE])
async def test_S68_with_another_certificate_nothing_is_asked_and_nothing_is_sent(
    name: str, kind: Kind, authority: Authority
) -> None:
    async with impostor(authority, kind) as server:
        channel = MADE[name](f"https://127.0.0.1:{server.port}")
        try:
            with pytest.raises(ChannelError):
                await channel.probe()
            with pytest.raises(ChannelError):
                await channel.send(message(channel))
        finally:
            await channel.close()
        nothing_said(server)


@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize("name", HEARS)
async def test_S68_who_hears_tries_again_with_the_check_and_says_what_is_wrong(
    name: str, kind: Kind, authority: Authority
) -> None:
    async with impostor(authority, kind) as server:
        channel = MADE[name](f"https://127.0.0.1:{server.port}")
        inbox = Inbox()
        try:
            async with receive_with_restarts(channel, inbox) as errors:
                await eventually(lambda: len(server.opened) >= 3)
                await eventually(lambda: channel.connection_status().trouble or errors)
        finally:
            await channel.close()
        nothing_said(server)
        assert inbox.tried == 0


@pytest.mark.parametrize("kind", BAD)
async def test_S68_the_socket_that_feishu_names_is_checked_like_its_api(
    kind: Kind, authority: Authority
) -> None:
    async with impostor(authority, "good", kind) as server:
        where = f"wss://127.0.0.1:{server.port}/ws?service_id=1&device_id=d&ticket={SECRET}"
        place = {"code": 0, "data": {"URL": where, "ClientConfig": {"ReconnectNonce": 0}}}
        server.answers = {**FEISHU, "/callback/ws/endpoint": place}
        channel = MADE["feishu"](f"https://127.0.0.1:{server.port}")
        try:
            async with receive_with_restarts(channel, Inbox()):
                await eventually(
                    lambda: kind in server.opened and channel.connection_status().trouble
                )
        finally:
            await channel.close()
        assert b"/callback/ws/endpoint" in server.said_to("good")
        nothing_said(server)


# What is fetched, by channel, from a place at that address.
FILES: dict[str, Callable[[str], str]] = {
    "telegram": lambda root: "file-1",
    "feishu": lambda root: "om_1/file/file_1",
    "wechat": lambda root: json.dumps(
        {"url": f"{root}/download?encrypted_query_param={SECRET}", "hex": "0" * 32}
    ),
    "wechat_mp": lambda root: json.dumps({"id": "", "url": f"{root}/picture?{SECRET}"}),
    "wecom": lambda root: json.dumps({"url": f"{root}/file?{SECRET}", "aeskey": AES}),
}


@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize("name", [*FILES])
async def test_S68_no_file_is_fetched_from_there(
    name: str, kind: Kind, authority: Authority
) -> None:
    told = {
        "/getFile": {"ok": True, "result": {"file_id": "file-1", "file_path": "documents/1.pdf"}}
    }
    first: tuple[Kind, ...] = ("good",) if name == "telegram" else ()
    async with impostor(authority, *first, kind, answers=told) as server:
        root = f"https://127.0.0.1:{server.port}"
        channel = MADE[name](root)
        try:
            with pytest.raises(ChannelError):
                await channel.fetch(FILES[name](root), 1_000)
        finally:
            await channel.close()
        assert kind in server.opened
        nothing_said(server)
