"""Encryption of a backup with a passphrase: AES-256-GCM in pieces, so that neither side holds all
of it in memory.

An encrypted file is MAGIC, a salt, and pieces: each is the encryption of PIECE_BYTES, the last of
fewer. The nonce is the number of the piece, and whether it is the last one: pieces cannot be moved,
left out or cut off unnoticed. Every file has a key of its own, for its salt is random.
"""

import hashlib
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, cast

from bot.errors import MnemaError

MAGIC = b"mnema-sealed-1\n"
SALT_BYTES = 16
PIECE_BYTES = 2**20
TAG_BYTES = 16  # that AES-GCM adds to a piece
MIN_PASSPHRASE_CHARS = 12
# 0.3 s and 32 MiB for one try
SCRYPT: dict[str, int] = {"n": 2**15, "r": 8, "p": 3, "maxmem": 64 * 2**20}


class EncryptionError(MnemaError):
    """A passphrase is missing, wrong or too short."""


def check_passphrase(passphrase: str) -> str:
    """Return a passphrase for a new backup.

    Raises:
        EncryptionError: it is too short.
    """
    if len(passphrase) < MIN_PASSPHRASE_CHARS:
        raise EncryptionError(
            f"A passphrase needs {MIN_PASSPHRASE_CHARS} characters or more; several words are best."
        )
    return passphrase


def is_encrypted(file: "os.PathLike[str]") -> bool:
    """Tell whether a file is an encrypted backup."""
    with open(file, "rb") as raw:
        return raw.read(len(MAGIC)) == MAGIC


@contextmanager
def encrypt(raw: IO[bytes], passphrase: str) -> Iterator[IO[bytes]]:
    """Encrypt what is written into the yielded file; without a passphrase, write it as it is."""
    if not passphrase:
        yield raw
        return
    salt = os.urandom(SALT_BYTES)
    raw.write(MAGIC + salt)
    writer = _EncryptedWriter(raw, _cipher(passphrase, salt))
    yield cast(IO[bytes], writer)
    writer.finish()


@contextmanager
def decrypt(raw: IO[bytes], passphrase: str) -> Iterator[IO[bytes]]:
    """Decrypt what is read from the yielded file; a plain one is read as it is.

    Raises:
        EncryptionError: there is no passphrase, or it is not the one of this file.
    """
    if raw.read(len(MAGIC)) != MAGIC:
        raw.seek(0)
        yield raw
        return
    if not passphrase:
        raise EncryptionError("This backup is encrypted; its passphrase is needed.")
    salt = raw.read(SALT_BYTES)
    yield cast(IO[bytes], io.BufferedReader(_EncryptedReader(raw, _cipher(passphrase, salt))))


def _cipher(passphrase: str, salt: bytes) -> Any:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # slow to import

    return AESGCM(hashlib.scrypt(passphrase.encode(), salt=salt, dklen=32, **SCRYPT))


def _nonce(number: int, *, last: bool) -> bytes:
    return number.to_bytes(11, "big") + bytes([last])


class _EncryptedWriter:
    """Encrypts pieces as they fill up."""

    def __init__(self, raw: IO[bytes], cipher: Any) -> None:
        self._raw, self._cipher = raw, cipher
        self._piece = bytearray()
        self._number = 0

    def write(self, data: bytes) -> int:
        self._piece += data
        while len(self._piece) > PIECE_BYTES:  # the last piece may be full, too
            self._put(bytes(self._piece[:PIECE_BYTES]), last=False)
            del self._piece[:PIECE_BYTES]
        return len(data)

    def flush(self) -> None:
        """Do nothing: a piece is written when it is full."""

    def finish(self) -> None:
        self._put(bytes(self._piece), last=True)

    def _put(self, piece: bytes, *, last: bool) -> None:
        self._raw.write(self._cipher.encrypt(_nonce(self._number, last=last), piece, MAGIC))
        self._number += 1


class _EncryptedReader(io.RawIOBase):
    """Decrypts piece by piece."""

    def __init__(self, raw: IO[bytes], cipher: Any) -> None:
        self._raw, self._cipher = raw, cipher
        self._number = 0
        self._next = raw.read(PIECE_BYTES + TAG_BYTES)
        self._open = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._open and self._next:
            self._open = self._decrypt()
        count = min(len(buffer), len(self._open))
        buffer[:count] = self._open[:count]
        self._open = self._open[count:]
        return count

    def _decrypt(self) -> bytes:
        from cryptography.exceptions import InvalidTag

        piece, self._next = self._next, self._raw.read(PIECE_BYTES + TAG_BYTES)
        try:
            opened = self._cipher.decrypt(_nonce(self._number, last=not self._next), piece, MAGIC)
        except InvalidTag as err:
            what = (
                "its passphrase is another one, or it is damaged"
                if not self._number
                else "it is damaged"
            )
            raise EncryptionError(f"The backup cannot be decrypted: {what}.") from err
        self._number += 1
        return bytes(opened)
