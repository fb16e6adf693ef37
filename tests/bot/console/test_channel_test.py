"""The live test of Telegram's settings against an emulated Bot API: each fault is named with its
remedy.
"""

import json
import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from bot.config.file import ConfigFile
from bot.console.administration.channel_test import ChannelTestRoutes
from tests.by_night import by_night
from tests.channels.web.server import ScriptedBot, running
from tests.emulators.feishu import APP_ID, SECRET, FeishuEmulator
from tests.emulators.kit import Fault
from tests.emulators.telegram import TOKEN, TelegramEmulator

OWNER = "5005"
WHOLE = ["settings", "address", "tls", "credentials", "rights", "webhook", "message"]


@dataclass
class Bench:
    telegram: TelegramEmulator
    client: httpx.AsyncClient
    config: Path
    file: ConfigFile

    async def steps(
        self, lang: str = "en", name: str = "telegram", **settings: Any
    ) -> dict[str, dict[str, str]]:
        """Every finding by step."""
        given = {"token": TOKEN, "base_url": self.telegram.url, "owners": [OWNER], **settings}
        return await self.try_settings(name, given, lang)

    async def try_settings(
        self, name: str, given: dict[str, Any], lang: str = "en"
    ) -> dict[str, dict[str, str]]:
        answer = await self.client.post(
            f"/api/v1/channels/{name}/test",
            json={"part": {"channels": {name: given}}},
            headers={"accept-language": lang},
        )
        assert answer.status_code == 200, answer.text
        return {line["step"]: line for line in map(json.loads, answer.text.splitlines())}

    async def try_until(self, step: str, name: str, given: dict[str, Any]) -> dict[str, str]:
        """The finding of this step, after which the person leaves the page."""
        body = {"part": {"channels": {name: given}}}
        path = f"/api/v1/channels/{name}/test"
        async with self.client.stream("POST", path, json=body) as answer:
            async for line in answer.aiter_lines():
                finding: dict[str, str] = json.loads(line)
                if finding["step"] == step:
                    return finding
        raise AssertionError(f"{step} was not tried")


@pytest.fixture
def seconds() -> float:
    """How long a step may take."""
    return 20.0


@pytest.fixture
async def bench(tmp_path: Path, seconds: float) -> AsyncIterator[Bench]:
    file = ConfigFile(tmp_path / "config.json", {})
    file.create()
    file.load()
    async with (
        TelegramEmulator() as telegram,
        running(ScriptedBot(), ChannelTestRoutes(file, seconds=seconds).calls()) as site,
        site.client() as client,
    ):
        yield Bench(telegram, client, file.path, file)


async def test_right_settings_pass_every_step_and_the_owner_gets_a_message(bench: Bench) -> None:
    before = bench.config.read_bytes()
    bench.telegram.chat(int(OWNER))
    found = await bench.steps()
    assert {step: line["state"] for step, line in found.items()} == dict.fromkeys(WHOLE, "ok") | {
        "tls": "skipped"
    }
    assert "@lab_bot" in found["credentials"]["text"]
    assert [
        (message.chat, "test message" in message.text) for message in bench.telegram.sent()
    ] == [(5005, True)]
    assert bench.config.read_bytes() == before
    assert (await bench.steps(owners=[]))["message"]["state"] == "skipped"


async def test_a_saved_secret_is_not_sent_to_an_address_that_is_not_saved(bench: Bench) -> None:
    saved = {"channels": {"telegram": {"token": TOKEN, "owners": [OWNER]}}}
    bench.config.write_text(json.dumps(saved))
    bench.file.load()
    found = await bench.try_settings("telegram", {"base_url": bench.telegram.url})
    assert {step: line["state"] for step, line in found.items()} == {"settings": "failed"}
    assert "channels.telegram.token" in found["settings"]["text"]
    assert not bench.telegram.calls
    assert (await bench.steps())["credentials"]["state"] == "ok", (
        "a secret that is entered may go where it is entered for"
    )


async def test_a_wrong_token_ends_it_and_is_not_shown(bench: Bench) -> None:
    found = await bench.steps(token="100:not-the-secret-of-the-lab")
    assert list(found) == WHOLE[:4]
    assert found["credentials"]["state"] == "failed"
    assert "@BotFather" in found["credentials"]["hint"]
    assert "not-the-secret" not in json.dumps(found)
    assert (await bench.steps(token=""))["settings"][
        "text"
    ] == "Still empty: channels.telegram.token."
    assert "令牌" in (await bench.steps("zh-CN", token="100:other"))["credentials"]["text"]


async def test_a_blocked_network_is_told(bench: Bench) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        closed = f"http://127.0.0.1:{taken.getsockname()[1]}"
        found = await bench.steps(base_url=closed)
        assert (list(found), found["address"]["state"]) == (["settings", "address"], "failed")
        assert "set proxy" in found["address"]["hint"]
        through = await bench.steps(proxy=closed)
        assert "Start the proxy" in through["address"]["hint"]


@pytest.mark.parametrize("seconds", [0.5])
async def test_a_silent_platform_is_told(bench: Bench) -> None:
    bench.telegram.faults.append(Fault(action="delay", seconds=5.0, method="getMe"))
    assert "No answer" in (await bench.steps())["credentials"]["text"]


async def test_a_webhook_of_another_program_is_in_the_way_of_polling(bench: Bench) -> None:
    bench.telegram.methods.webhook = "https://other.example.org/hook"
    found = await bench.steps()
    assert found["webhook"]["state"] == "failed"
    assert "other.example.org" in found["webhook"]["text"]
    secret = "s" * 32
    own = await bench.steps(
        mode="webhook", webhook_secret=secret, webhook_url=f"{bench.telegram.url}/nothing"
    )
    assert own["reach"]["state"] == "ok"
    short = await bench.steps(mode="webhook", webhook_secret="short")
    assert "webhook_secret has 5 characters" in short["settings"]["text"]


async def test_an_owner_who_never_pressed_start_is_told_how(bench: Bench) -> None:
    found = await bench.steps(owners=["999"])
    assert found["message"]["state"] == "failed"
    assert "press Start" in found["message"]["hint"]


async def test_only_channels_can_be_tested(bench: Bench) -> None:
    assert (
        await bench.client.post("/api/v1/channels/web/test", json={"part": {}})
    ).status_code == 404
    assert (
        await bench.client.post("/api/v1/channels/telegram/test", json={"part": {"llm": {}}})
    ).status_code == 400
    assert (await bench.steps(name="wecom", owners=[], token=None))["settings"]["state"] == "failed"


async def test_feishu_is_tried_in_the_same_steps(bench: Bench) -> None:
    async with FeishuEmulator() as feishu:
        given = {"app_id": APP_ID, "app_secret": SECRET, "domain": feishu.url}
        found = await bench.try_settings("feishu", given)
        assert [
            found[step]["state"] for step in ("credentials", "rights", "webhook", "message")
        ] == [
            "ok",
            "ok",
            "ok",
            "skipped",
        ]
        owned = await bench.try_settings("feishu", {**given, "owners": ["ou_owner"]})
        assert owned["message"]["state"] == "ok"
        feishu.fault("refuse", path="/open-apis/im/v1/messages", code=230013, http=400)
        refused = await bench.try_settings("feishu", {**given, "owners": ["ou_owner"]})
        assert "open_id" in refused["message"]["hint"]


async def test_settings_that_feishu_refuses_come_with_their_remedy(bench: Bench) -> None:
    async with FeishuEmulator() as feishu:
        wrong = {"app_id": APP_ID, "app_secret": "not-the-secret", "domain": feishu.url}
        found = await bench.try_until("credentials", "feishu", wrong)
    assert found["state"] == "failed"
    assert "App Secret" in found["hint"]


@by_night  # importing the SDK takes six seconds of CPU
async def test_feishus_own_sdk_is_asked_where_feishu_refuses_the_settings(bench: Bench) -> None:
    async with FeishuEmulator() as feishu:
        wrong = {"app_id": APP_ID, "app_secret": "not-the-secret", "domain": feishu.url}
        found = await bench.try_settings("feishu", wrong)
    # skipped where it takes too long to start
    assert found["sdk"]["state"] in ("failed", "skipped")
