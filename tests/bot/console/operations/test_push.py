"""Notifications by Web Push: what a browser is sent, whom it is sent to, and which addresses are
never dialled.
"""

import asyncio
import base64
import json
import stat
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from bot.config.schema import Config
from bot.console.operations.push import MAX_SUBSCRIPTIONS, PushNotifier, PushSubscription
from bot.console.operations.push_encryption import (
    BrowserKeys,
    decode_base64url,
    encode_base64url,
    encrypt,
    new_key,
    parse_keys,
    public_point,
    vapid_header,
)
from bot.tools.web.client import GuardedClient
from tests.browser.real import QUIET, real_bot
from tests.channels.web.server import TOKEN

PUBLIC = "https://bot.example"
ON = {**QUIET, "channels": {"web": {"push": True, "public_url": PUBLIC}}}
NOW = 1_800_000_000.0
# RFC 8291, appendix A.
EXAMPLE = {
    "text": b"When I grow up, I want to be a watermelon",
    "own": "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw",
    "point": (
        "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
    ),
    "auth": "BTBZMqHH6r4Tts7J_aSIgg",
    "salt": "DGv6ra1nlYgDCS1FRnbzlw",
    "body": (
        "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmY"
        "WAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexS"
        "gSxsj_Qulcy4a-fN"
    ),
}


class Browser:
    """Reads what it is sent, as RFC 8291 says."""

    def __init__(self) -> None:
        self.key, self.auth = new_key(), b"a" * 16
        self.point = public_point(self.key)

    def row(self, endpoint: str, login: str = "one") -> PushSubscription:
        return PushSubscription(
            endpoint=endpoint,
            p256dh=encode_base64url(self.point),
            auth=encode_base64url(self.auth),
            language="en",
            login=login,
        )

    def read(self, body: bytes) -> dict[str, Any]:
        salt, theirs, record = body[:16], body[21:86], body[86:]
        private = ec.derive_private_key(int.from_bytes(self.key, "big"), ec.SECP256R1())
        point = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), theirs)
        secret = private.exchange(ec.ECDH(), point)

        def derive(secret: bytes, salt: bytes, info: bytes, length: int) -> bytes:
            return HKDF(algorithm=hashes.SHA256(), length=length, salt=salt, info=info).derive(
                secret
            )

        ikm = derive(secret, self.auth, b"WebPush: info\0" + self.point + theirs, 32)
        key = derive(ikm, salt, b"Content-Encoding: aes128gcm\0", 16)
        nonce = derive(ikm, salt, b"Content-Encoding: nonce\0", 12)
        text = AESGCM(key).decrypt(nonce, record, None)
        assert text.endswith(b"\x02")
        found: dict[str, Any] = json.loads(text[:-1])
        return found


@dataclass
class Service:
    """A push service on this machine."""

    url: str = ""
    status: int = 201
    seen: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    asked: asyncio.Event = field(default_factory=asyncio.Event)

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        lines = head.split("\r\n")[1:-2]
        headers = {name.lower(): value for name, value in (one.split(": ", 1) for one in lines)}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        self.seen.append((headers, body))
        self.asked.set()
        writer.write(f"HTTP/1.1 {self.status} x\r\ncontent-length: 0\r\n\r\n".encode())
        await writer.drain()
        writer.close()


@asynccontextmanager
async def service() -> AsyncIterator[Service]:
    made = Service()
    server = await asyncio.start_server(made.answer, "127.0.0.1", 0)
    made.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server:
        yield made


def notifier(
    data: Path,
    allowed: str = "",
    *,
    config: dict[str, Any] = ON,
    logins: tuple[str, ...] = ("one",),
    read: tuple[str, ...] = (),
    spawned: list[Coroutine[Any, Any, object]] | None = None,
) -> PushNotifier:
    settings = Config.model_validate(config)
    return PushNotifier(
        data=data,
        config=lambda: settings,
        client=GuardedClient(allowed=lambda: [allowed.removeprefix("http://")]),
        logins=lambda: logins,
        is_read=lambda conversation: conversation in read,
        spawn=(spawned if spawned is not None else []).append,
        now=lambda: NOW,
    )


def test_the_example_of_the_standard_is_encrypted_byte_for_byte() -> None:
    keys = BrowserKeys(
        point=decode_base64url(str(EXAMPLE["point"])), auth=decode_base64url(str(EXAMPLE["auth"]))
    )
    body = encrypt(
        bytes(EXAMPLE["text"]),  # type: ignore[arg-type]
        keys,
        own=decode_base64url(str(EXAMPLE["own"])),
        salt=decode_base64url(str(EXAMPLE["salt"])),
    )
    assert encode_base64url(body) == EXAMPLE["body"]


def test_a_payload_has_a_bound() -> None:
    browser = Browser()
    keys = parse_keys(encode_base64url(browser.point), encode_base64url(browser.auth))
    encrypt(b"x" * 3_000, keys)
    with pytest.raises(ValueError, match="3000 bytes"):
        encrypt(b"x" * 3_001, keys)


@pytest.mark.parametrize(
    ("point", "auth"),
    [
        ("", ""),
        ("AAAA", "YWFhYWFhYWFhYWFhYWFhYQ"),
        ("A" * 87, "YWFhYWFhYWFhYWFhYWFhYQ"),
        ("!", "!"),
    ],
)
def test_keys_that_are_none_are_refused(point: str, auth: str) -> None:
    with pytest.raises(ValueError):
        parse_keys(point, auth)


def test_our_name_at_a_push_service_is_signed() -> None:
    key = new_key()
    header = vapid_header(key, "https://push.example", PUBLIC, NOW)
    token, _, point = header.removeprefix("vapid t=").partition(", k=")
    assert decode_base64url(point) == public_point(key)
    signed, _, signature = token.rpartition(".")
    claims = json.loads(decode_base64url(signed.split(".")[1]))
    assert claims == {"aud": "https://push.example", "exp": int(NOW) + 43_200, "sub": PUBLIC}
    raw = decode_base64url(signature)
    der = utils.encode_dss_signature(
        int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big")
    )
    public = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), public_point(key))
    public.verify(der, signed.encode(), ec.ECDSA(hashes.SHA256()))


async def test_a_browser_is_told_that_something_is_there_and_nothing_of_it(tmp_path: Path) -> None:
    browser = Browser()
    async with service() as up:
        pushing = notifier(tmp_path, up.url)
        pushing.add(browser.row(f"{up.url}/send/1"))
        await pushing.send_all("chat-0123abcd")
        await pushing.send_all("talk-with-my-doctor")
    told = [browser.read(body) for _, body in up.seen]
    assert told == [
        {"text": "There is a new message.", "path": "/c/chat-0123abcd"},
        {"text": "There is a new message.", "path": "/c"},
    ]
    headers = up.seen[1][0]
    assert headers["content-encoding"] == "aes128gcm"
    assert headers["ttl"] == "86400"
    assert headers["authorization"].startswith("vapid t=")
    assert "doctor" not in json.dumps(headers)
    assert len(headers["topic"]) <= 32
    assert headers["topic"] != up.seen[0][0]["topic"]
    for name in ("push.json", "push_key"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600


async def test_who_is_gone_or_signed_out_is_forgotten(tmp_path: Path) -> None:
    async with service() as up:
        pushing = notifier(tmp_path, up.url)
        ended = pushing.add(Browser().row(f"{up.url}/ended", login="two"))
        gone = pushing.add(Browser().row(f"{up.url}/gone"))
        up.status = 410
        await pushing.send_all("c1")
        assert len(up.seen) == 1
        assert not pushing.has(ended)
        assert not pushing.has(gone)
        kept = pushing.add(Browser().row(f"{up.url}/busy"))
        up.status = 503
        await pushing.send_all("c1")
        assert pushing.has(kept)


async def test_an_address_inside_is_not_dialled(tmp_path: Path) -> None:
    async with service() as up:
        pushing = notifier(tmp_path, "elsewhere:1")
        pushing.add(Browser().row(f"{up.url}/send"))
        await pushing.send_all("c1")
        assert up.seen == []


@pytest.mark.parametrize(
    ("config", "read", "sent"),
    [
        (ON, (), 1),
        (ON, ("c1",), 0),
        (QUIET, (), 0),
        ({**QUIET, "channels": {"web": {"push": True}}}, (), 0),
    ],
)
async def test_nobody_is_told_who_looks_or_where_it_is_off(
    tmp_path: Path, config: dict[str, Any], read: tuple[str, ...], sent: int
) -> None:
    spawned: list[Coroutine[Any, Any, object]] = []
    pushing = notifier(tmp_path, config=config, read=read, spawned=spawned)
    pushing.add(Browser().row("https://push.example/1"))
    pushing.note_reply("c1")
    assert len(spawned) == sent
    for one in spawned:
        one.close()


def test_browsers_have_a_bound(tmp_path: Path) -> None:
    pushing, browser = notifier(tmp_path), Browser()
    for number in range(MAX_SUBSCRIPTIONS):
        pushing.add(browser.row(f"https://push.example/{number}"))
    pushing.add(browser.row("https://push.example/0"))  # the same again
    with pytest.raises(ValueError, match="20 browsers"):
        pushing.add(browser.row("https://push.example/more"))


def subscription(endpoint: str, **changes: str) -> dict[str, str]:
    browser = Browser()
    keys = {"p256dh": encode_base64url(browser.point), "auth": encode_base64url(browser.auth)}
    return {"endpoint": endpoint, **keys, "language": "zh", **changes}


async def test_a_signed_in_browser_subscribes_at_a_public_address_only(tmp_path: Path) -> None:
    async with (
        real_bot(tmp_path, ["ok"], settings=ON, public_url=PUBLIC) as real,
        real.site.nobody() as browser,
        real.site.client() as program,
    ):
        entered = await browser.post(
            "/login", json={"token": TOKEN}, headers={"origin": real.site.base}
        )
        headers = {
            "origin": real.site.base,
            "x-csrf-token": entered.json()["csrf"],
            "content-type": "application/json",
        }

        async def post(body: dict[str, str]) -> httpx.Response:
            return await browser.post("/api/v1/push", json=body, headers=headers)

        offered = (await browser.get("/api/v1/push")).json()
        assert offered["on"]
        assert len(base64.urlsafe_b64decode(offered["key"] + "=")) == 65
        for endpoint in (
            "http://1.1.1.1/x",
            "https://127.0.0.1/x",
            "https://10.0.0.1/x",
            "https://[::1]/x",
            "https://1.1.1.1:8443/x",
            "ftp://1.1.1.1/x",
            "no address",
        ):
            assert (await post(subscription(endpoint))).status_code == 400, endpoint
        assert (await post(subscription("https://1.1.1.1/x", auth="x"))).status_code == 400
        added = await post(subscription("https://1.1.1.1/x"))
        assert added.status_code == 201
        id = added.json()["id"]
        assert (await browser.get("/api/v1/push", params={"id": id})).json()["known"]
        by_program = await program.post("/api/v1/push", json=subscription("https://1.1.1.1/y"))
        assert by_program.status_code == 409
        for status in (200, 404):
            gone = await browser.delete(f"/api/v1/push/{id}", headers=headers)
            assert gone.status_code == status


async def test_it_is_off_unless_it_is_switched_on(tmp_path: Path) -> None:
    async with real_bot(tmp_path, ["ok"]) as real, real.site.client() as client:
        assert (await client.get("/api/v1/push")).json() == {"on": False, "key": "", "known": False}
        refused = await client.post("/api/v1/push", json=subscription("https://1.1.1.1/x"))
        assert refused.status_code == 409
    assert not (tmp_path / "data" / "push_key").exists()


async def test_a_reply_that_nobody_reads_tells_the_browser(tmp_path: Path) -> None:
    browser = Browser()
    async with service() as up:
        settings = {**ON, "tools": {"web": {"allow": [up.url.removeprefix("http://")]}}}
        async with (
            real_bot(tmp_path, ["Here it is."], settings=settings, public_url=PUBLIC) as real,
            real.site.nobody() as signed_in,
            real.site.client() as client,
        ):
            await signed_in.post(
                "/login", json={"token": TOKEN}, headers={"origin": real.site.base}
            )
            [login] = real.site.gate.sessions()
            row = browser.row(f"{up.url}/send", login)
            (tmp_path / "data" / "push.json").write_text(
                json.dumps({"a": {name: getattr(row, name) for name in row.__slots__}})
            )
            await client.post(
                "/api/v1/messages", json={"conversation": "chat-0123abcd", "text": "a secret"}
            )
            async with asyncio.timeout(30):
                await up.asked.wait()
    assert browser.read(up.seen[0][1])["path"] == "/c/chat-0123abcd"
