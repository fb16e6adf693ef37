"""The port and the token file: opened early, on loopback only, and refused in one sentence."""

import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from channels.web.auth import load_token
from channels.web.requests import CannotServe
from channels.web.server import bound_port, connection_limits, open_sockets
from tests.cases import every_case
from tests.channels.web.server import ScriptedBot, running


@every_case("host", ["0.0.0.0", "::", "192.168.1.5", "example.org", ""])
def test_S24_only_loopback_is_listened_on(host: str) -> None:
    with pytest.raises(CannotServe, match=r"127\.0\.0\.1, ::1 or localhost only"):
        open_sockets(host, 0)


def test_a_port_in_use_is_one_sentence() -> None:
    [first] = open_sockets("127.0.0.1", 0)
    with first, pytest.raises(CannotServe, match="is in use by another program"):
        open_sockets("127.0.0.1", bound_port([first]))


def test_the_port_takes_connections_before_anything_serves() -> None:
    sockets = open_sockets("localhost", 0)
    with socket.create_connection(("127.0.0.1", bound_port(sockets)), timeout=1):
        pass
    for opened in sockets:
        opened.close()


def test_opening_the_port_imports_no_server() -> None:
    code = (
        "import sys, channels.web.server as s; s.open_sockets('127.0.0.1', 0); print('uvicorn' in "
        "sys.modules)"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "False"


def test_the_token_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "data" / "web_token"
    token, made = load_token(path)
    assert made
    assert len(token) >= 43
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert load_token(path) == (token, False)
    assert [file.name for file in path.parent.iterdir()] == ["web_token"]


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o620])
def test_a_token_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "web_token"
    load_token(path)
    path.chmod(mode)
    with pytest.raises(CannotServe, match="chmod 600"):
        load_token(path)


def test_an_empty_short_or_linked_token_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "web_token"
    for text in ("", "short\n"):
        path.write_text(text)
        path.chmod(0o600)
        with pytest.raises(CannotServe, match="too short"):
            load_token(path)
    link = tmp_path / "link"
    link.symlink_to(path)
    with pytest.raises(CannotServe, match="cannot be used"):
        load_token(link)


async def test_answers_are_not_held_back_by_the_kernel() -> None:
    async with running(ScriptedBot()) as site, site.client() as client:
        await client.get("/api/v1/session")
        [connection] = site.server._server.server_state.connections
        wire = connection.transport.get_extra_info("socket")  # type: ignore[union-attr]
        assert wire.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


@every_case(
    ("descriptors", "connections", "together"),
    [
        (1 << 20, 1024, 64),
        (65_536, 1024, 64),
        (2048, 1024, 64),
        (1024, 640, 32),
        (256, 86, 8),
        (16, 8, 1),
    ],
)
def test_the_server_leaves_descriptors_for_everything_else(
    descriptors: int, connections: int, together: int
) -> None:
    assert connection_limits(descriptors) == (connections, together)
