"""S60: every channel has secrets, all platforms echo what they receive in errors, and no secret is
found anywhere.
"""

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from websockets.asyncio.server import ServerConnection, serve

from bot.config.home import HomeFolder
from memory.store.open import open_store
from tests.walk.harness import Bot, mnema, until

TELEGRAM_TOKEN = "700001:AAtelegram-Token_of-the-test+123456"
SECRETS = {
    "telegram token": TELEGRAM_TOKEN,
    "webhook secret": "Webhook-Secret-of-thirty-two-signs-and-more",
    "feishu secret": "feishu/App+Secret=&%41 of the test",
    "feishu key": "feishu-Encrypt-Key?of=the&test",
    "feishu word": "feishu-Verification-Word",
    "proxy password": "Proxy-Password-of-the-test",
    "wechat login": "ilink-bot-Token-of-the-login",
    "mp secret": "mp-App-Secret-of-the-test",
    "mp token": "mpTokenOfTheTest",
    "mp key": "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG",
    "wecom secret": "wecom-Secret/of+the=test",
    "model key": "model-key-of-the-test-which-is-secret",
}
CHANNELS = ("telegram", "feishu", "wechat", "wechat_mp", "wecom")


class Echo:
    """A hostile platform: it answers everything with an error that contains the whole request."""

    def __init__(self) -> None:
        self.heard: list[bytes] = []
        self.port = self.socket_port = 0

    async def http(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            head = await reader.readuntil(b"\r\n\r\n")
            lengths = [
                line.split(b":")[1]
                for line in head.lower().split(b"\r\n")
                if line.startswith(b"content-length")
            ]
            told = head + await reader.readexactly(int(lengths[0]) if lengths else 0)
            self.heard.append(told)
            writer.write(self._answer(told))
            await writer.drain()
        writer.close()

    async def socket(self, connection: ServerConnection) -> None:
        async for frame in connection:
            text = str(frame)
            self.heard.append(text.encode())
            request = json.loads(text)["headers"]["req_id"]
            await connection.send(
                json.dumps({"headers": {"req_id": request}, "errcode": 40014, "errmsg": text})
            )

    def _answer(self, told: bytes) -> bytes:
        words = told.decode("latin-1")
        kind = len(self.heard) % 4
        codes = {"ok": False, "error_code": 400, "code": 99, "errcode": 99, "ret": 99}
        said = json.dumps(
            {**codes, **dict.fromkeys(("description", "msg", "errmsg"), words)}
        ).encode()
        where = words.split(" ")[1]
        status, extra, body = (
            (b"200 OK", b"", said),
            (b"400 Bad Request", b"", said),
            (b"502 Bad Gateway", b"", f"<html>{words}</html>".encode()),
            (b"302 Found", b"Location: %s\r\n" % where.encode("latin-1"), words.encode()),
        )[kind]
        head = b"HTTP/1.1 %s\r\n%sContent-Type: application/json\r\n" % (status, extra)
        return head + b"Connection: close\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)


@asynccontextmanager
async def echoing() -> AsyncIterator[Echo]:
    echo = Echo()
    server = await asyncio.start_server(echo.http, "127.0.0.1")
    echo.port = server.sockets[0].getsockname()[1]
    async with serve(echo.socket, "127.0.0.1", 0) as sockets:
        echo.socket_port = next(iter(sockets.sockets)).getsockname()[1]
        yield echo
        server.close()


def planted(echo: Echo) -> dict[str, Any]:
    """A config.json with all secrets, at log level debug."""
    url = f"http://127.0.0.1:{echo.port}"
    return {
        "language": "en",
        "log": {"level": "debug"},
        "memory": {"extract": False},
        "llm": {
            "provider": "openai",
            "api_key": SECRETS["model key"],
            "base_url": f"{url}/v1",
            "model": "m",
        },
        "channels": {
            "web": {"port": 0},
            "telegram": {
                "token": TELEGRAM_TOKEN,
                "base_url": url,
                "webhook_secret": SECRETS["webhook secret"],
            },
            "feishu": {
                "app_id": "cli_a",
                "app_secret": SECRETS["feishu secret"],
                "encrypt_key": SECRETS["feishu key"],
                "verification_token": SECRETS["feishu word"],
                "domain": "http://platform.example",
                "proxy": f"http://somebody:{SECRETS['proxy password']}@127.0.0.1:{echo.port}",
            },
            "wechat": {"enabled": True, "base_url": url, "cdn_url": url},
            "wechat_mp": {
                "app_id": "wx1",
                "app_secret": SECRETS["mp secret"],
                "token": SECRETS["mp token"],
                "encoding_aes_key": SECRETS["mp key"],
                "base_url": url,
            },
            "wecom": {
                "bot_id": "aib",
                "secret": SECRETS["wecom secret"],
                "ws_url": f"ws://127.0.0.1:{echo.socket_port}",
            },
        },
    }


def forms(secret: str) -> Iterator[str]:
    """Return the value as it is, in a URL, in JSON, and the fixed part of its base64 at each
    alignment.
    """
    yield secret
    yield quote(secret, safe="")
    yield quote(secret)
    yield json.dumps(secret)[1:-1]
    for before in range(3):
        whole = base64.b64encode(b"?" * before + secret.encode()).decode().rstrip("=")
        sure = whole[4 if before else 0 : -2]
        yield sure
        yield sure.replace("+", "-").replace("/", "_")


def found(where: str, text: str) -> list[str]:
    """List the secrets in a text, with their form."""
    return [
        f"{name} in {where}: …{text[max(0, at - 80) : at + 20]!r}"
        for name, secret in SECRETS.items()
        for form in sorted({*forms(secret)})
        if (at := text.find(form)) >= 0
    ]


def test_what_is_searched_for_would_be_found() -> None:
    for secret in SECRETS.values():
        for before in (b"", b"a", b"ab", b"abc"):
            assert found("", base64.b64encode(before + secret.encode() + b"z").decode())
        assert found("", quote(f"key={secret}", safe=""))


async def _printed(home: Path, *words: str) -> str:
    """What a command prints on both streams."""
    _, out, err = await mnema(home, *words)
    return out + err


async def _logged_in(folder: Path, echo: Echo) -> None:
    """The store of an earlier run, in which a person scanned the code."""
    home = HomeFolder(root=folder)
    home.ensure()
    store = await open_store(home.db)
    login = {
        "token": SECRETS["wechat login"],
        "bot": "b@im.bot",
        "base": f"http://127.0.0.1:{echo.port}",
    }
    await store.notes.put("wechat", {"login": json.dumps(login)})
    await store.close()


@pytest.fixture
async def told(tmp_path: Path) -> dict[str, str]:
    """Return everything that a bot with hostile platforms wrote anywhere."""
    async with echoing() as echo:
        await _logged_in(tmp_path, echo)
        bot = Bot(tmp_path, planted(echo))
        said: dict[str, str] = {}
        try:
            await bot.start(fp="llm.before@2:raise")
            await until(lambda: _troubled(bot), "every channel has met its platform", seconds=60)
            for text in (
                "hello",
                "hello again",
                "/status",
                "/config get channels",
                "/config get llm",
                "/why",
                "/context",
            ):
                await bot.web.post("c1", text)
            await until(lambda: _answered(bot, 7), "everything is answered", seconds=60)
            for path in (
                "status",
                "config",
                "usage",
                "access",
                "channels/wechat/prompt",
                "conversations/c1/context",
            ):
                said[f"GET {path}"] = (await bot.web.ask("GET", f"/api/v1/{path}")).text
            said["/metrics"] = (await bot.web.ask("GET", "/metrics")).text
            said["transcript"] = json.dumps(await bot.web.lines("c1"), ensure_ascii=False)
            said["doctor beside it"] = await _printed(tmp_path, "doctor")
            said["channels"] = await _printed(tmp_path, "channels")
        finally:
            await bot.term()
        said["doctor alone"] = await _printed(tmp_path, "--debug", "doctor")
        said["config"] = await _printed(tmp_path, "config", "get")
        heard = b"\n".join(echo.heard).decode("latin-1")
        said |= {str(path): path.read_text() for path in (tmp_path / "data" / "log").iterdir()}
        said["stderr"] = (tmp_path / "stderr.log").read_text()
        assert (
            len(
                [
                    one
                    for one in found("", heard)
                    if "login" in one or "token" in one or "secret" in one
                ]
            )
            >= 5
        )
        return said


async def _troubled(bot: Bot) -> bool:
    channels = (await bot.web.get("/api/status"))["channels"]
    return all(channels[name]["why"] or name == "wechat_mp" for name in CHANNELS)


async def _answered(bot: Bot, count: int) -> bool:
    return len([line for line in await bot.web.lines("c1") if line["role"] != "user"]) >= count


async def test_S60_no_secret_is_in_what_is_logged_shown_or_told(told: dict[str, str]) -> None:
    hits = [hit for where, text in told.items() for hit in found(where, text)]
    assert hits == [], "\n".join(hits)
    log = "".join(text for where, text in told.items() if where.endswith(".log"))
    assert '"level":"debug"' in log or '"level":"info"' in log
    assert "Traceback" in log
    assert all(name in told["doctor alone"] for name in CHANNELS)
