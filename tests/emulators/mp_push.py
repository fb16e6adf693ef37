"""How the platform brings a message to an account: signed, perhaps encrypted, three tries of five
seconds each.
"""

import asyncio
import base64
import hashlib
import os
from collections.abc import Mapping
from typing import Literal
from urllib.parse import urlencode
from xml.etree import ElementTree

import aiohttp
from cryptography.hazmat.primitives import padding
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from tests.emulators.mp_world import FAILURE, Line, Push, Try, World

Mode = Literal["plain", "compatible", "secure"]
TRIES = 3
CUT_SECONDS = 5.0
LONGEST_TEXT = 2048


class Wrong(Exception):
    """An answer that the platform does not understand."""


class Crypt:
    """The platform's side of signatures and encryption."""

    def __init__(self, token: str, app_id: str, aes_key: str) -> None:
        self.token = token
        self.app_id = app_id
        self._key = base64.b64decode(aes_key + "=") if aes_key else bytes(32)

    def proof(self, *parts: str) -> str:
        return hashlib.sha1("".join(sorted((self.token, *parts))).encode()).hexdigest()

    def seal(self, xml: bytes, app_id: str = "") -> str:
        padder = padding.PKCS7(256).padder()
        whole = (
            os.urandom(16) + len(xml).to_bytes(4, "big") + xml + (app_id or self.app_id).encode()
        )
        machine = Cipher(algorithms.AES(self._key), modes.CBC(self._key[:16])).encryptor()
        return base64.b64encode(
            machine.update(padder.update(whole) + padder.finalize()) + machine.finalize()
        ).decode()

    def open(self, sealed: str) -> bytes:
        machine = Cipher(algorithms.AES(self._key), modes.CBC(self._key[:16])).decryptor()
        unpadder = padding.PKCS7(256).unpadder()
        try:
            padded = machine.update(base64.b64decode(sealed, validate=True)) + machine.finalize()
            whole = unpadder.update(padded) + unpadder.finalize()
        except ValueError as err:
            raise Wrong("the answer cannot be deciphered") from err
        end = 20 + int.from_bytes(whole[16:20], "big")
        if whole[end:].decode("utf-8", "replace") != self.app_id:
            raise Wrong("the answer is not of this account")
        return whole[20:end]


def xml_of(fields: Mapping[str, str]) -> bytes:
    """As the platform writes it: numbers bare, texts as character data, with whatever signs they
    hold.
    """
    bare = {"CreateTime", "MsgId", "Location_X", "Location_Y", "Scale"}
    parts = [
        f"<{name}>{text}</{name}>"
        if name in bare
        else f"<{name}><![CDATA[{text.replace(']]>', ']]]]><![CDATA[>')}]]></{name}>"
        for name, text in fields.items()
    ]
    return f"<xml>{''.join(parts)}</xml>".encode("utf-8", "surrogatepass")


class Pusher:
    """Brings pushes to `callback`.

    scale: shortens the five seconds. pause: seconds between two tries, none by default.
    retries_errors: a status other than 200 counts as no answer (the platform says nothing of them);
    otherwise it is a wrong answer.
    """

    def __init__(self, world: World, crypt: Crypt, callback: str, mode: Mode) -> None:
        self.world = world
        self.crypt = crypt
        self.callback = callback
        self.mode = mode
        self.scale = 1.0
        self.pause = 0.0
        self.retries_errors = True
        self.twice = 0.0
        """The probability that a message is brought two times at once."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._session: aiohttp.ClientSession | None = None

    def bring(self, push: Push) -> None:
        """Begin the tries of a push; returns at once."""
        self._spawn(push)
        if self.world.random.random() < self.twice:
            self._spawn(push)

    async def close(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._session is not None:
            await self._session.close()

    def address_check(self, echo: str = "5838479217439827487") -> str:
        """The query of a GET that checks the address."""
        return urlencode({**self.signed(), "echostr": echo})

    def signed(self, at: float | None = None) -> dict[str, str]:
        """signature, timestamp and nonce of a call. at: unix seconds."""
        stamp = str(int(self.world.now() if at is None else at))
        nonce = str(self.world.random.randrange(10**9, 10**10))
        return {"signature": self.crypt.proof(stamp, nonce), "timestamp": stamp, "nonce": nonce}

    def request(self, fields: Mapping[str, str]) -> tuple[dict[str, str], bytes]:
        """Query and body of one try."""
        query = {**self.signed(), "openid": fields["FromUserName"]}
        plain = xml_of(fields)
        if self.mode == "plain":
            return query, plain
        sealed = self.crypt.seal(plain)
        query |= {
            "encrypt_type": "aes",
            "msg_signature": self.crypt.proof(query["timestamp"], query["nonce"], sealed),
        }
        beside = fields if self.mode == "compatible" else {"ToUserName": fields["ToUserName"]}
        return query, xml_of({**beside, "Encrypt": sealed})

    def _spawn(self, push: Push) -> None:
        task = asyncio.create_task(self._tries(push))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _tries(self, push: Push) -> None:
        for number in range(TRIES):
            one = Try()
            push.tries.append(one)
            one.outcome = await self._one(push, one)
            self.world.notify()
            if one.outcome in ("answered", "empty"):
                push.state = "confirmed"
            if one.outcome == "wrong" or (one.outcome == "none" and number == TRIES - 1):
                self._fail(push)
            if one.outcome != "none":
                break
            await asyncio.sleep(self.pause)
        self.world.notify()

    def _fail(self, push: Push) -> None:
        if push.state == "sending":
            push.state = "failed"
            if push.fields["MsgType"] != "event":
                self.world.show(push.person, Line(who="platform", text=FAILURE))

    async def _one(self, push: Push, one: Try) -> str:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(force_close=True, limit=0)
            )
        query, body = self.request(push.fields)
        limit = aiohttp.ClientTimeout(total=CUT_SECONDS * self.scale)
        headers = {"content-type": "text/xml", "user-agent": "Mozilla/4.0"}
        try:
            async with self._session.post(
                self.callback, params=query, data=body, timeout=limit, headers=headers
            ) as answer:
                one.status, content = answer.status, await answer.read()
        except (TimeoutError, aiohttp.ClientError):
            return "none"
        if one.status != 200:
            return "none" if self.retries_errors else "wrong"
        return self._taken(push, content)

    def _taken(self, push: Push, content: bytes) -> str:
        if content.strip() in (b"", b"success"):
            return "empty"
        try:
            line = self._line(push, content)
        except (Wrong, ElementTree.ParseError, KeyError, UnicodeDecodeError):
            return "wrong"
        if push.key not in self.world.answered:
            self.world.answered.add(push.key)
            self.world.show(push.person, line)
        return "answered"

    def _line(self, push: Push, content: bytes) -> Line:
        if self.mode != "plain":
            content = self._opened(content)
        fields = {child.tag: child.text or "" for child in ElementTree.fromstring(content)}
        if (fields["ToUserName"], fields["FromUserName"]) != (
            push.person,
            push.fields["ToUserName"],
        ):
            raise Wrong("sender and receiver are not swapped")
        if (
            not fields["CreateTime"].isdigit()
            or abs(int(fields["CreateTime"]) - self.world.now()) > 300
        ):
            raise Wrong("no time")
        if fields["MsgType"] == "image":
            media_id = ElementTree.fromstring(content).findtext("Image/MediaId", "")
            if media_id not in self.world.files:
                raise Wrong("no such picture")
            return Line(who="account", text="", by="passive", kind="image", media_id=media_id)
        text = fields["Content"]
        if fields["MsgType"] != "text" or not text or len(text.encode()) > LONGEST_TEXT:
            raise Wrong("no text that may be")
        return Line(who="account", text=text, by="passive")

    def _opened(self, content: bytes) -> bytes:
        fields = {child.tag: child.text or "" for child in ElementTree.fromstring(content)}
        sealed = fields["Encrypt"]
        if fields["MsgSignature"] != self.crypt.proof(fields["TimeStamp"], fields["Nonce"], sealed):
            raise Wrong("the answer's signature does not fit")
        return self.crypt.open(sealed)
