"""Files of people's come whole and deciphered, ours go in pieces; what is too large, gone or forged
is refused.
"""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from channels.errors import Ambiguous, AttachmentTooBig, Rejected, Retryable
from channels.message import OutboundFile
from channels.wecom.media import fetch_attachment, file_name, media_kind, upload_media
from tests.cases import every_case
from tests.emulators.wecom import WecomEmulator

# Literals, so that the product is not compared with itself.
FILE_BYTES = 20_971_520
PIECE = 524_288

PNG = OutboundFile(name="a.png", media_type="image/png", data=b"png", picture=True)


@pytest.fixture
async def emulator() -> AsyncIterator[WecomEmulator]:
    async with WecomEmulator() as emulator:
        yield emulator


def ref(emulator: WecomEmulator, data: bytes, name: str = "", pad: int = 0) -> str:
    return json.dumps(emulator.world.hosted(data, name, pad))


@pytest.mark.parametrize("pad", [1, 15, 16, 17, 32])
async def test_a_file_is_deciphered_whatever_its_padding(emulator: WecomEmulator, pad: int) -> None:
    fetched = await fetch_attachment(
        ref(emulator, b"some bytes", "潮汐.pdf", pad), 1000, emulator.ws_url
    )
    assert fetched.data.rstrip(b"\0") == b"some bytes"
    assert len(fetched.data) % 32 == -pad % 32
    assert fetched.name == "潮汐.pdf"


async def test_no_more_is_read_than_was_asked_for(emulator: WecomEmulator) -> None:
    place = ref(emulator, bytes(5000))
    assert len((await fetch_attachment(place, 5000, emulator.ws_url)).data) == 5000
    for most in (4999, 1000, 0):
        with pytest.raises(AttachmentTooBig):
            await fetch_attachment(place, most, emulator.ws_url)


async def test_after_five_minutes_a_file_is_gone(emulator: WecomEmulator) -> None:
    place = ref(emulator, b"x")
    emulator.world.advance(301)
    with pytest.raises(Rejected, match="five minutes"):
        await fetch_attachment(place, 10, emulator.ws_url)


async def test_a_server_that_is_away_may_be_asked_again(emulator: WecomEmulator) -> None:
    place = ref(emulator, b"x")
    await emulator.stop()
    with pytest.raises(Retryable):
        await fetch_attachment(place, 10, emulator.ws_url)


async def test_a_file_of_another_key_is_refused(emulator: WecomEmulator) -> None:
    one, two = (emulator.world.hosted(bytes([sign]) * 40) for sign in b"ab")
    with pytest.raises(Rejected):
        await fetch_attachment(
            json.dumps({"url": one["url"], "aeskey": two["aeskey"]}), 100, emulator.ws_url
        )


@every_case(
    "text",
    ["", "[]", "{}", '{"url": 1, "aeskey": 2}', '{"url": "https://x.invalid/", "aeskey": "YQ"}'],
)
async def test_what_names_no_file_is_refused(text: str) -> None:
    with pytest.raises(Rejected):
        await fetch_attachment(text, 100)


async def test_where_the_socket_is_secret_files_are_too(emulator: WecomEmulator) -> None:
    with pytest.raises(Rejected, match="https"):
        await fetch_attachment(ref(emulator, b"x"), 100)


@every_case(
    ("header", "name"),
    [
        ("", ""),
        ('attachment; filename="a b.pdf"', "a b.pdf"),
        ("attachment; filename*=UTF-8''%E6%BD%AE.pdf", "潮.pdf"),
        ("attachment; filename=%E6%BD%AE.pdf", "潮.pdf"),
        ('attachment; filename="../../etc/passwd"', "passwd"),
        ("attachment; filename*=UTF-8''..%2F..%5Cboot.ini", "boot.ini"),
        ("attachment\r\nfilename=x", ""),
    ],
)
def test_a_files_name_is_no_path(header: str, name: str) -> None:
    assert file_name(header) == name


def test_pictures_are_shown_while_they_are_small_and_of_a_kind_that_can_be() -> None:
    assert media_kind(PNG) == "image"
    assert media_kind(OutboundFile(name="a", media_type="image/png", data=b"")) == "file"
    assert (
        media_kind(OutboundFile(name="a", media_type="image/svg+xml", data=b"", picture=True))
        == "file"
    )
    assert (
        media_kind(
            OutboundFile(name="a", media_type="image/png", data=bytes(11 * 2**20), picture=True)
        )
        == "file"
    )
    with pytest.raises(AttachmentTooBig):
        media_kind(OutboundFile(name="a", media_type="image/png", data=bytes(FILE_BYTES + 1)))


class Platform:
    """The emulator's uploads without a socket; an answer may be put in their place."""

    def __init__(self, emulator: WecomEmulator, instead: Any = None, at: str = "") -> None:
        self.world, self.instead, self.at = emulator.world, instead, at
        self.pieces = 0

    async def __call__(self, command: str, body: dict[str, Any]) -> Any:
        act = command.removeprefix("aibot_upload_media_")
        if act == self.at:
            if isinstance(self.instead, Exception):
                raise self.instead
            return self.instead
        self.pieces += act == "chunk"
        return getattr(self.world, f"upload_{act}")(body)


@pytest.mark.parametrize(("size", "pieces"), [(1, 1), (PIECE, 1), (PIECE + 1, 2), (3 * PIECE, 3)])
async def test_a_file_goes_in_pieces_and_arrives_whole(
    emulator: WecomEmulator, size: int, pieces: int
) -> None:
    platform = Platform(emulator)
    data = bytes(number % 251 for number in range(size))
    body = await upload_media(OutboundFile(name="d.bin", media_type="x/y", data=data), platform)
    assert platform.pieces == pieces
    assert emulator.world.media[body["file"]["media_id"]] == ("file", "d.bin", data)


@pytest.mark.parametrize(
    ("at", "instead"),
    [
        ("init", Ambiguous("lost")),
        ("chunk", Ambiguous("lost")),
        ("finish", Ambiguous("lost")),
        ("init", {}),
        ("finish", None),
    ],
)
async def test_an_upload_that_breaks_off_has_sent_nothing(
    emulator: WecomEmulator, at: str, instead: Any
) -> None:
    with pytest.raises(Retryable):
        await upload_media(PNG, Platform(emulator, instead, at))
