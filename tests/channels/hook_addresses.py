"""Webhook channels behind the real web server, with genuine and forged calls to them."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Literal
from urllib.parse import urlencode

from channels.base import WebhookRequest
from channels.feishu.channel import Feishu
from channels.feishu.settings import FeishuSettings
from channels.telegram.channel import Telegram
from channels.telegram.settings import TelegramSettings
from channels.wechat_mp.channel import WechatMp
from channels.wechat_mp.pending_replies import ReplyTiming
from channels.wechat_mp.settings import WechatMpSettings as MpSettings
from tests.channels.web.server import Running, ScriptedBot, running
from tests.contracts.channel_stage import Inbox, Pages, eventually
from tests.emulators.feishu import APP_ID as FEISHU_APP
from tests.emulators.feishu import SECRET as FEISHU_SECRET
from tests.emulators.feishu import FeishuEmulator
from tests.emulators.feishu_webhook import call as feishu_call
from tests.emulators.mp import AES_KEY, APP_ID, PERSON, SECRET, TOKEN, MpEmulator
from tests.emulators.mp_push import Mode, xml_of
from tests.emulators.telegram import TOKEN as TELEGRAM_TOKEN
from tests.emulators.telegram import TelegramEmulator

TELEGRAM_SECRET = "Secret-of-more-than-32-signs_0123456789"
FEISHU_KEY, FEISHU_WORD = "encrypt-key-of-the-lab", "Verification-Word"
Pairs = list[tuple[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shot:
    """One HTTP call. proof: the name of the query parameter or header that holds its signature."""

    method: str = "POST"
    query: Pairs = field(default_factory=list)
    headers: Pairs = field(default_factory=list)
    body: bytes = b""
    proof: tuple[Literal["query", "headers"], str]

    @property
    def value(self) -> str:
        where, name = self.proof
        pairs = self.query if where == "query" else self.headers
        return next(value for key, value in pairs if key == name)

    def proved(self, *values: str) -> "Shot":
        """Return the call with these signatures instead: none, one or several."""
        where, name = self.proof
        given = self.query if where == "query" else self.headers
        pairs = [pair for pair in given if pair[0] != name] + [(name, value) for value in values]
        return replace(self, query=pairs) if where == "query" else replace(self, headers=pairs)

    def request(self) -> WebhookRequest:
        """Return the call as the channel receives it."""
        return WebhookRequest(
            method=self.method, query=(*self.query,), headers=(*self.headers,), body=self.body
        )


@dataclass(kw_only=True)
class Door:
    """One webhook channel. genuine: makes a genuine call with a text."""

    name: str
    site: Running
    channel: Any
    inbox: Inbox
    genuine: Callable[..., Shot]
    born: Callable[[], Any]
    hearing: asyncio.Task[None] | None = None

    async def begin(self) -> None:
        """Start a new channel and connect it to the server."""
        self.channel = channel = self.born()
        channel.bind(self.inbox.notebook)
        self.site.bot.hooks[self.name] = channel
        self.hearing = asyncio.create_task(channel.run(self.inbox))
        await eventually(lambda: channel._deliver is not None)

    async def end(self) -> None:
        """It ends."""
        if self.hearing is not None:
            self.hearing.cancel()
            await asyncio.gather(self.hearing, return_exceptions=True)
        await self.channel.close()

    async def restart(self) -> None:
        await self.end()
        await self.begin()

    async def shoot(self, shot: Shot) -> tuple[int, bytes]:
        """Make a call; return status and body of the response."""
        path = f"/hooks/{self.name}" + (
            f"?{urlencode(shot.query, errors='surrogatepass')}" if shot.query else ""
        )
        lines = [f"{shot.method} {path} HTTP/1.1", "Host: bot.example", "Connection: close"]
        lines += [f"{name}: {value}" for name, value in shot.headers] + [
            f"Content-Length: {len(shot.body)}"
        ]
        return await talk(self.site.port, ["\r\n".join(lines).encode() + b"\r\n\r\n" + shot.body])


async def talk(port: int, pieces: Iterable[bytes]) -> tuple[int, bytes]:
    """Write to the server until it closes; return status and body of its response."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        try:
            for piece in pieces:
                writer.write(piece)
                await writer.drain()
        except ConnectionError:
            pass
        answer = await asyncio.wait_for(reader.read(), 30)
    finally:
        writer.close()
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split(b" ", 2)[1]), body


def telegram_shot(text: str, number: int = 1, **fields: Any) -> Shot:
    chat = {"id": 5005, "type": "private", "first_name": "Ada"}
    sender = {"id": 5005, "is_bot": False, "first_name": "Ada"}
    message = {
        "message_id": number,
        "date": int(time.time()),
        "chat": chat,
        "from": sender,
        "text": text,
    }
    return Shot(
        headers=[
            ("x-telegram-bot-api-secret-token", TELEGRAM_SECRET),
            ("content-type", "application/json"),
        ],
        body=json.dumps({"update_id": number, "message": message, **fields}).encode(),
        proof=("headers", "x-telegram-bot-api-secret-token"),
    )


def feishu_event(text: str, number: int = 1, **fields: Any) -> dict[str, Any]:
    header = {
        "event_id": f"ev{number}",
        "event_type": "im.message.receive_v1",
        "create_time": str(int(time.time() * 1000)),
        "token": FEISHU_WORD,
        "app_id": FEISHU_APP,
        "tenant_key": "t",
        **fields,
    }
    message = {
        "message_id": f"om_{number}",
        "create_time": header["create_time"],
        "chat_id": "oc_p2p_ou_u1",
        "chat_type": "p2p",
        "message_type": "text",
        "content": json.dumps({"text": text}),
    }
    ids = {"open_id": "ou_u1", "union_id": "on_u1", "user_id": "u1"}
    sender = {"sender_id": ids, "sender_type": "user", "tenant_key": "t"}
    return {"schema": "2.0", "header": header, "event": {"sender": sender, "message": message}}


def feishu_shot(text: str, number: int = 1, **call: Any) -> Shot:
    return feishu_sealed(feishu_event(text, number), **call)


def feishu_sealed(event: dict[str, Any], key: str = FEISHU_KEY, **call: Any) -> Shot:
    headers, body = feishu_call(event, key, **call)
    return Shot(headers=headers, body=body, proof=("headers", "x-lark-signature"))


class MpShots:
    """Makes calls of the official account's platform with its emulator."""

    def __init__(self, emulator: MpEmulator) -> None:
        self.emulator = emulator

    def genuine(
        self, text: str, number: int = 1, *, at: float | None = None, nonce: str = "", **fields: str
    ) -> Shot:
        """at: unix seconds of the signature. nonce: as given."""
        world = self.emulator.world
        inside = {
            "ToUserName": world.original,
            "FromUserName": PERSON,
            "CreateTime": str(int(world.now())),
            "MsgType": "text",
            "Content": text,
            "MsgId": str(24_000_000_000_000_000 + number),
        }
        return self.sealed(xml_of(inside | fields), at=at, nonce=nonce)

    def sealed(
        self, xml: bytes, *, at: float | None = None, nonce: str = "", app_id: str = ""
    ) -> Shot:
        pusher, crypt = self.emulator.pusher, self.emulator.crypt
        if pusher.mode == "plain":
            return self.signed(xml, at=at, nonce=nonce)
        sealed = crypt.seal(xml, app_id)
        return self.signed(
            xml_of({"ToUserName": self.emulator.world.original, "Encrypt": sealed}),
            sealed,
            at,
            nonce,
        )

    def signed(
        self, body: bytes, sealed: str = "", at: float | None = None, nonce: str = ""
    ) -> Shot:
        """Make a call with valid signatures for any body."""
        crypt = self.emulator.crypt
        query = self.emulator.pusher.signed(at)
        if nonce:
            query |= {"nonce": nonce, "signature": crypt.proof(query["timestamp"], nonce)}
        pairs = [*query.items(), ("openid", PERSON)]
        if sealed:
            proof = crypt.proof(query["timestamp"], query["nonce"], sealed)
            pairs += [("encrypt_type", "aes"), ("msg_signature", proof)]
        return Shot(
            query=pairs, body=body, proof=("query", "msg_signature" if sealed else "signature")
        )


@asynccontextmanager
async def telegram_door() -> AsyncIterator[Door]:
    async with running(ScriptedBot()) as site, TelegramEmulator() as emulator:
        settings = TelegramSettings(
            token=TELEGRAM_TOKEN,
            base_url=emulator.url,
            mode="webhook",
            webhook_secret=TELEGRAM_SECRET,
            webhook_url=f"{site.base}/hooks/telegram",
        )
        async with _open(site, lambda: Telegram(settings, poll_seconds=2), telegram_shot) as door:
            yield door


@asynccontextmanager
async def feishu_door() -> AsyncIterator[Door]:
    async with running(ScriptedBot()) as site, FeishuEmulator() as emulator:
        settings = FeishuSettings(
            app_id=FEISHU_APP,
            app_secret=FEISHU_SECRET,
            domain=emulator.url,
            mode="webhook",
            encrypt_key=FEISHU_KEY,
            verification_token=FEISHU_WORD,
        )
        async with _open(site, lambda: Feishu(settings, answer_seconds=2), feishu_shot) as door:
            yield door


@asynccontextmanager
async def mp_door(mode: Mode = "secure") -> AsyncIterator[Door]:
    async with running(ScriptedBot()) as site, MpEmulator(mode=mode) as emulator:
        settings = MpSettings(
            app_id=APP_ID,
            app_secret=SECRET,
            token=TOKEN,
            encoding_aes_key="" if mode == "plain" else AES_KEY,
            base_url=emulator.url,
        )
        pages = Pages(**{f"{APP_ID}.service": "granted"})
        shots = MpShots(emulator)

        def born() -> WechatMp:
            return WechatMp(
                settings, timing=ReplyTiming(hold=0.0, cut=2.0, slack=0.0), clock=emulator.world.now
            )

        async with _open(site, born, shots.genuine, pages) as door:
            yield door


@asynccontextmanager
async def _open(
    site: Running, born: Callable[[], Any], genuine: Callable[..., Shot], pages: Pages | None = None
) -> AsyncIterator[Door]:
    inbox = Inbox(notebook=pages or Pages())
    first = born()
    door = Door(name=first.name, site=site, channel=first, inbox=inbox, genuine=genuine, born=born)
    try:
        await door.begin()
        yield door
    finally:
        await door.end()
