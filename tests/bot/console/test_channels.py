"""The console's routes for channels: a QR code for the owner, digits for the channel, nothing
else.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from xml.etree import ElementTree

import httpx
import pytest

from bot.console.channels import ChannelRoutes
from channels.base import LoginPrompt
from channels.phrases import NO_PHRASE
from channels.testing import ScriptedChannel
from tests.bot.moody import DIGITS, QR, WAIT, Moody
from tests.channels.web.server import Running, ScriptedBot, running


@dataclass
class Console:
    site: Running
    wechat: Moody


@pytest.fixture
async def console() -> AsyncIterator[Console]:
    wechat = Moody("wechat")
    known = {"wechat": wechat, "telegram": ScriptedChannel(name="telegram")}
    async with running(ScriptedBot(), ChannelRoutes(known).calls()) as site:
        yield Console(site, wechat)


async def error(reply: httpx.Response) -> tuple[int, str]:
    return reply.status_code, reply.json()["error"]["code"]


async def test_the_code_is_drawn_and_no_cache_keeps_it(console: Console) -> None:
    console.wechat.asked = QR
    async with console.site.client() as client:
        drawn = await client.get("/api/v1/channels/wechat/qr.svg")
    assert (drawn.status_code, drawn.headers["content-type"]) == (200, "image/svg+xml")
    assert drawn.headers["cache-control"] == "no-store"
    assert "img-src 'self'" in drawn.headers["content-security-policy"]
    image = ElementTree.fromstring(drawn.text)
    assert image.attrib["width"] == image.attrib["height"]
    assert "s3cret" not in drawn.text


async def test_what_is_wanted_is_told_with_its_text(console: Console) -> None:
    async with console.site.client() as client:
        assert (await client.get("/api/v1/channels/wechat/prompt")).json() == {"prompt": None}
        console.wechat.asked = QR
        told = await client.get("/api/v1/channels/wechat/prompt")
    assert told.headers["cache-control"] == "no-store"
    assert told.json()["prompt"] == {
        "kind": "qr",
        "zh": QR.about.text("zh"),
        "en": QR.about.text("en"),
        "text": QR.text,
        "expires": QR.expires,
    }


async def test_digits_reach_the_channel_that_asks_for_them(console: Console) -> None:
    console.wechat.asked = DIGITS
    async with console.site.client() as client:
        assert (
            await client.post("/api/v1/channels/wechat/answer", json={"text": " 481516 "})
        ).status_code == 202
        assert console.wechat.answers == ["481516"]
        late = await client.post("/api/v1/channels/wechat/answer", json={"text": "481516"})
        assert await error(late) == (409, "not_asked")
    assert console.wechat.answers == ["481516"]


@pytest.mark.parametrize("text", ["", "12a", "１２３", "1" * 13, 12, None, "12\n34"])
async def test_only_digits_are_taken(console: Console, text: object) -> None:
    console.wechat.asked = DIGITS
    async with console.site.client() as client:
        assert await error(
            await client.post("/api/v1/channels/wechat/answer", json={"text": text})
        ) == (400, "text")
    assert console.wechat.answers == []


async def test_a_look_is_told_to_a_channel_that_waits_and_to_no_other(console: Console) -> None:
    async with console.site.client() as client:
        for asked, status in ((WAIT, 202), (DIGITS, 400), (QR, 409), (None, 409)):
            console.wechat.asked = asked
            assert (
                await client.post("/api/v1/channels/wechat/answer", json={"text": ""})
            ).status_code == status
    assert console.wechat.answers == [""]


@pytest.mark.parametrize("asked", [None, WAIT, DIGITS])
async def test_there_is_no_image_where_no_code_is_shown(
    console: Console, asked: LoginPrompt | None
) -> None:
    console.wechat.asked = asked
    async with console.site.client() as client:
        assert await error(await client.get("/api/v1/channels/wechat/qr.svg")) == (404, "no_code")


async def test_a_text_beyond_any_code_is_an_error_and_no_picture(console: Console) -> None:
    console.wechat.asked = LoginPrompt(kind="qr", about=NO_PHRASE, text="x" * 4_000)
    async with console.site.client() as client:
        assert await error(await client.get("/api/v1/channels/wechat/qr.svg")) == (
            500,
            "undrawable",
        )


async def test_others_than_those_that_a_person_logs_in_say_so(console: Console) -> None:
    async with console.site.client() as client:
        assert await error(await client.get("/api/v1/channels/telegram/prompt")) == (
            404,
            "no_login",
        )
        assert await error(await client.get("/api/v1/channels/nope/qr.svg")) == (404, "not_found")


async def test_nobody_else_sees_the_code_or_types_digits(console: Console) -> None:
    console.wechat.asked = QR
    calls = (("GET", "qr.svg"), ("GET", "prompt"), ("POST", "answer"))
    async with console.site.nobody() as nobody, console.site.client() as client:
        for method, what in calls:
            assert (
                await nobody.request(method, f"/api/v1/channels/wechat/{what}")
            ).status_code == 401
        console.site.bot.refused = frozenset({"console.write"})
        for method, what in calls:
            assert (
                await client.request(method, f"/api/v1/channels/wechat/{what}", json={})
            ).status_code == 403
    assert console.wechat.answers == []
