"""What a service manager hears of the bot, over a real socket."""

import socket
from pathlib import Path

import pytest

from bot.runtime.process.supervisor import notify_supervisor
from tests.emulators.model import ModelEmulator
from tests.walk.harness import scene
from tests.walk.speech import answer


@pytest.mark.parametrize("kind", ["a path", "a name"])
def test_a_state_arrives_as_one_datagram(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(path if kind == "a path" else f"\0{path}")
        listening.settimeout(5)
        monkeypatch.setenv("NOTIFY_SOCKET", path if kind == "a path" else f"@{path}")
        notify_supervisor("READY=1")
        assert listening.recv(100) == b"READY=1"


def test_without_a_manager_or_with_a_deaf_one_nothing_happens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NOTIFY_SOCKET", raising=False)
    notify_supervisor("READY=1")
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "nobody"))
    notify_supervisor("READY=1")


async def test_a_bot_says_when_it_is_ready_and_when_it_ends(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(str(tmp_path / "notify"))
        listening.settimeout(5)
        async with scene(tmp_path / "bot", ModelEmulator(responder=answer)) as talk:
            talk.bot.extra["NOTIFY_SOCKET"] = str(tmp_path / "notify")
            await talk.bot.start()
            assert listening.recv(100) == b"READY=1"
            assert (await talk.web.ask("GET", "/readyz")).status_code == 200
            assert await talk.bot.term() == 0
            assert listening.recv(100) == b"STOPPING=1"
