"""Encryption of backups: what was encrypted is read back whole or not at all."""

import io
from pathlib import Path

import pytest

from bot.console.operations.backup_encryption import (
    MAGIC,
    MIN_PASSPHRASE_CHARS,
    PIECE_BYTES,
    SALT_BYTES,
    TAG_BYTES,
    EncryptionError,
    check_passphrase,
    decrypt,
    encrypt,
    is_encrypted,
)
from tests.by_night import IS_NIGHT
from tests.cases import every_case

PASSPHRASE = "x" * MIN_PASSPHRASE_CHARS
PIECE = PIECE_BYTES + TAG_BYTES


def sealed(content: bytes) -> bytes:
    raw = io.BytesIO()
    with encrypt(raw, PASSPHRASE) as target:
        for start in range(0, len(content), 700_001):
            target.write(content[start : start + 700_001])
    return raw.getvalue()


def opened(data: bytes, passphrase: str = PASSPHRASE) -> bytes:
    with decrypt(io.BytesIO(data), passphrase) as source:
        return source.read()


# Each passphrase takes a sixth of a second of CPU, on purpose.
SIZES = [PIECE_BYTES, PIECE_BYTES + 1, *([0, 1, 2 * PIECE_BYTES] if IS_NIGHT else [])]


@every_case("size", SIZES)
def test_what_was_sealed_is_read_back(size: int) -> None:
    content = bytes(range(256)) * (size // 256) + b"x" * (size % 256)
    assert opened(sealed(content)) == content


def test_each_file_has_a_key_of_its_own_and_shows_nothing() -> None:
    first, second = sealed(b"tea " * 100), sealed(b"tea " * 100)
    assert first != second
    assert first.startswith(MAGIC)
    assert b"tea" not in first


def test_another_passphrase_and_every_change_is_refused() -> None:
    whole = sealed(b"a" * (2 * PIECE_BYTES + 5))
    head = len(MAGIC) + SALT_BYTES
    pieces = [whole[at : at + PIECE] for at in range(head, len(whole), PIECE)]
    reordered = whole[:head] + pieces[1] + pieces[0] + pieces[2]
    ended_early = whole[:head] + pieces[0] + pieces[1]
    flipped = whole[: head + 7] + bytes([whole[head + 7] ^ 1]) + whole[head + 8 :]
    by_night = [whole[:head] + pieces[0] + pieces[2], whole[:-1]] if IS_NIGHT else []
    for altered in (reordered, ended_early, flipped, *by_night):
        with pytest.raises(EncryptionError, match="damaged"):
            opened(altered)
    for passphrase, text in (
        ("", "passphrase is needed"),
        (PASSPHRASE + "x", "passphrase is another one"),
    ):
        with pytest.raises(EncryptionError, match=text):
            opened(whole, passphrase)


def test_a_plain_file_is_read_as_it_is_and_told_apart(tmp_path: Path) -> None:
    plain, encrypted = tmp_path / "plain", tmp_path / "sealed"
    plain.write_bytes(b"\x1f\x8b rest")
    encrypted.write_bytes(MAGIC)
    assert opened(plain.read_bytes()) == b"\x1f\x8b rest"
    assert [is_encrypted(plain), is_encrypted(encrypted)] == [False, True]


def test_a_passphrase_has_a_least_length() -> None:
    assert check_passphrase(PASSPHRASE) == PASSPHRASE
    with pytest.raises(EncryptionError):
        check_passphrase(PASSPHRASE[1:])
