"""An official account in plain mode: messages can be forged on the way, so everyone is a guest."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from bot.access.permissions import AccessScope, Actor, authorize
from bot.cli.doctor.channels import check_channels
from bot.config.file import ConfigFile
from bot.config.home import HomeFolder
from channels.base import WebhookRequest
from channels.toolkit.untrusted import StoredReplayGuard
from channels.wechat_mp.channel import WechatMp
from channels.wechat_mp.pending_replies import ReplyTiming
from channels.wechat_mp.webhook import CallRejected, OfficialAccountWebhookVerifier
from tests.bot.inside import QUIET, Inside, inside
from tests.channels.web.server import ScriptedBot, running
from tests.contracts.channel_stage import Inbox, Pages, eventually, listening
from tests.emulators.mp import AES_KEY, APP_ID, PERSON, SECRET, TOKEN, MpEmulator
from tests.emulators.mp_push import Crypt, xml_of

NOW = 1_764_000_000.0
CRYPT = Crypt(TOKEN, APP_ID, AES_KEY)
SECTION = {"app_id": APP_ID, "app_secret": SECRET, "token": TOKEN}


@asynccontextmanager
async def at_home(folder: Path, mode: str) -> AsyncIterator[tuple[MpEmulator, Inside]]:
    """A bot whose owner writes to it by an official account."""
    callback = "/hooks/wechat_mp"
    async with (
        running(ScriptedBot()) as site,
        MpEmulator(f"{site.base}{callback}", mode=mode, seed=len(mode)) as emulator,
    ):
        section = {
            **SECTION,
            "base_url": emulator.url,
            "encoding_aes_key": AES_KEY if mode == "safe" else "",
        }
        settings = {
            **QUIET,
            "language": "en",
            "channels": {"wechat_mp": {**section, "owners": [PERSON]}},
        }
        channel = WechatMp(WechatMp.settings_type(**section), timeout=2.0)
        site.bot.hooks["wechat_mp"] = channel
        async with inside(folder, lambda asked: "yes", settings, channel=channel) as bot:  # type: ignore[arg-type]
            yield emulator, bot
        await channel.close()


async def says(emulator: MpEmulator, *texts: str) -> list[str]:
    """What the owner is answered to each."""
    for number, text in enumerate(texts, start=len(emulator.sent()) + 1):
        emulator.inject(text)
        await emulator.until(lambda due=number: len(emulator.sent()) >= due)  # type: ignore[misc]
    return emulator.sent()[-len(texts) :]


async def test_the_owner_is_the_owner_in_safe_mode_and_a_guest_in_plain_mode(
    tmp_path: Path,
) -> None:
    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace" / "MEMORY.md").write_text("- the canary sings at noon\n")
    async with at_home(tmp_path, "safe") as (emulator, it):
        whoami, read, answer = await says(emulator, "/whoami", "/memory show", "hello")
        assert "owner" in whoami
        assert "canary" in read
        assert answer == "yes"
        assert "canary" in str(it.model.requests[-1].system)
    async with at_home(tmp_path, "plain") as (emulator, it):
        whoami, read, code, answer = await says(
            emulator, "/whoami", "/memory show", "/config get llm", "hello"
        )
        assert "guest" in whoami
        assert "owner" not in whoami
        assert read == code == "That is not available to you here."
        assert answer == "yes"
        assert "canary" not in str(it.model.requests[-1].system)


@pytest.mark.parametrize("space", ["", "telegram-5005"])
def test_an_account_that_joined_another_memory_is_kept_out_of_it_in_plain_mode(space: str) -> None:
    own = f"wechat_mp-{PERSON}"
    sender = Actor(channel="wechat_mp", id=PERSON, role="guest", bound=own)
    assert authorize(sender, "chat", "", AccessScope(kind="dm", space=own)).allowed
    decision = authorize(sender, "chat", "", AccessScope(kind="dm", space=space))
    assert (decision.allowed, decision.code) == (False, "unproven")


@pytest.mark.parametrize("mode", ["plain", "safe"])
async def test_doctor_says_what_plain_mode_costs_and_how_to_leave_it(
    tmp_path: Path, mode: str
) -> None:
    home = HomeFolder(root=tmp_path)
    home.ensure()
    file = ConfigFile(home.config, {})
    for name, value in SECTION.items():
        file.set(f"channels.wechat_mp.{name}", value)
    if mode == "safe":
        file.set("channels.wechat_mp.encoding_aes_key", AES_KEY)
    found = await check_channels(home, file, create=lambda config, name: Silent())  # type: ignore[arg-type,return-value]
    told = [check for check in found if check.name == "channel wechat_mp safe mode"]
    assert [check.ok for check in told] == ([False] if mode == "plain" else [])
    if told:
        assert "every user is treated as a guest" in str(told[0].message)
        assert "channels.wechat_mp.encoding_aes_key" in str(told[0].hint)


class Silent:
    """A channel that cannot be tried."""


# --- nonces
# --------------------------------------------------------------------------------------------------


def call(text: str, nonce: str, at: float = NOW) -> WebhookRequest:
    """A call in plain mode: the signature says nothing of the body."""
    stamp = str(int(at))
    fields = {"ToUserName": "gh_1", "FromUserName": PERSON, "CreateTime": stamp, "MsgType": "text"}
    body = xml_of({**fields, "Content": text, "MsgId": "4711"})
    query = (("signature", CRYPT.proof(stamp, nonce)), ("timestamp", stamp), ("nonce", nonce))
    return WebhookRequest(method="POST", query=query, headers=(), body=body)


def born(pages: Pages) -> WechatMp:
    channel = WechatMp(
        WechatMp.settings_type(**SECTION),
        timing=ReplyTiming(hold=0.1, cut=0.2, slack=0.1),
        clock=lambda: NOW,
    )
    channel.bind(pages)
    return channel


@pytest.mark.parametrize("first", ["message", "event", "address"])
async def test_S17_a_nonce_with_another_body_is_refused_after_a_restart_too(first: str) -> None:
    pages = Pages()
    inbox = Inbox(notebook=pages)
    genuine = call("pay the rent", "n1")
    before = {
        "message": genuine,
        "event": replace(genuine, body=genuine.body.replace(b"text", b"event", 1)),
        "address": replace(
            genuine, method="GET", query=(*genuine.query, ("echostr", "e")), body=b""
        ),
    }[first]
    channel = born(pages)
    async with listening(channel, inbox):
        await eventually(lambda: channel._deliver is not None)
        assert (await channel.hook(before)).status in (200, 503)
    heard = len(inbox.heard)
    again = born(pages)
    async with listening(again, inbox):
        forged = call("send me the key", "n1")
        assert (await again.hook(forged)).status == 401, "before it has begun to listen, or after"
        assert (await again.hook(forged)).status == 401
        assert len(inbox.heard) == heard
        if first == "message":
            await again.hook(genuine)
            assert len(inbox.heard) == heard + 1, (
                "the platform's own repeat comes in, and is known by its key"
            )


def test_stored_nonces_last_ten_minutes_and_leave_nothing_behind() -> None:
    pages = Pages()

    def life(at: float) -> StoredReplayGuard:
        nonces = StoredReplayGuard("wx1.nonce.")
        nonces.load(pages.values, at)
        return nonces

    def keep(nonces: StoredReplayGuard) -> None:
        found = nonces.unstored()
        pages.keep(found)
        nonces.stored(found)

    one = life(0.0)
    assert one.fits("a", b"x", 0.0)
    assert one.fits("b", b"x", 300.0)
    keep(one)
    assert one.unstored() == {}
    two = life(599.0)
    assert not two.fits("a", b"y", 599.0)
    three = life(601.0)
    assert three.fits("a", b"y", 601.0)
    assert not three.fits("b", b"y", 601.0)
    keep(three)
    four = life(2_000.0)
    assert four.fits("c", b"y", 2_000.0)
    keep(four)
    assert len(pages.values) == 1


def test_nonces_of_an_earlier_process_count_against_calls_before_they_were_loaded() -> None:
    one = StoredReplayGuard("p.")
    one.fits("a", b"genuine", 0.0)
    two = StoredReplayGuard("p.")
    assert two.fits("a", b"forged", 1.0)
    two.load(one.unstored(), 1.0)
    assert not two.fits("a", b"forged", 1.0)
    assert two.fits("a", b"genuine", 1.0)


def test_a_nonce_whose_page_could_not_be_written_is_written_with_the_next_call() -> None:
    guard = OfficialAccountWebhookVerifier(token=TOKEN, app_id=APP_ID, aes_key="")
    guard.verify_message(call("one", "n1"), NOW)
    guard.verify_message(call("two", "n2"), NOW)
    assert len(guard.nonces.unstored()) == 2
    with pytest.raises(CallRejected, match="a nonce was used twice"):
        guard.verify_message(call("three", "n1"), NOW)
