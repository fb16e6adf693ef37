"""Signatures and encryption of WeChat and WeCom: SHA-1 over sorted texts, AES-256-CBC padded to
blocks of 32.

Source: the platforms' pages on message encryption; test bytes in
tests/channels/toolkit/test_wechat_crypto.py.
"""

import base64
import binascii
import hashlib
import hmac
import secrets
from collections.abc import Iterable

BLOCK_BYTES = 32
KEY_CHARS = 43
_RANDOM_BYTES = 16
_LENGTH_BYTES = 4
_HEADER_BYTES = _RANDOM_BYTES + _LENGTH_BYTES
_AES_BLOCK = 16


class DecryptionFailed(ValueError):
    """The data was not encrypted with this key for this receiver; the text does not say which of
    the two.
    """

    def __init__(self) -> None:
        super().__init__("this cannot be deciphered")


def sign_parts(parts: Iterable[str]) -> str:
    """Sign the parts, in any order, with 40 lower-case hex characters."""
    joined = "".join(sorted(parts)).encode("utf-8", "surrogatepass")
    return hashlib.sha1(joined, usedforsecurity=False).hexdigest()


def is_signature_of(given: str, parts: Iterable[str]) -> bool:
    """Compare a signature in constant time."""
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), sign_parts(parts).encode())


def pad(data: bytes, block: int = BLOCK_BYTES) -> bytes:
    """Pad by PKCS #7 with 1 to `block` bytes."""
    missing = block - len(data) % block
    return data + bytes([missing]) * missing


def unpad(data: bytes, block: int = BLOCK_BYTES) -> bytes:
    """Remove the padding. Raises DecryptionFailed."""
    count = data[-1] if data else 0
    if not 1 <= count <= min(block, len(data)) or data[-count:] != bytes([count]) * count:
        raise DecryptionFailed
    return data[:-count]


def decode_key(encoded: str) -> bytes:
    """Decode an EncodingAESKey of 43 characters to 32 bytes. Raises ValueError."""
    try:
        key = base64.b64decode(encoded + "=", validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if len(encoded) != KEY_CHARS or len(key) != BLOCK_BYTES:
        raise ValueError(
            f"an EncodingAESKey has {KEY_CHARS} letters and digits, this one has {len(encoded)} "
            "characters"
        )
    return key


def decrypt_bytes(key: bytes, data: bytes) -> bytes:
    """Decrypt a message or file: AES-256-CBC, the first half of the 32-byte key is the IV.

    Raises DecryptionFailed.
    """
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    if not data or len(data) % _AES_BLOCK:
        raise DecryptionFailed
    cipher = Cipher(algorithms.AES(key), modes.CBC(key[:_AES_BLOCK])).decryptor()
    return unpad(cipher.update(data) + cipher.finalize())


def encrypt_bytes(key: bytes, data: bytes) -> bytes:
    """Encrypt for `decrypt_bytes`."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    cipher = Cipher(algorithms.AES(key), modes.CBC(key[:_AES_BLOCK])).encryptor()
    return cipher.update(pad(data)) + cipher.finalize()


class WechatEnvelope:
    """Encrypts messages between the platform and one receiver (an AppID or CorpID)."""

    def __init__(self, encoded_key: str, receiver: str) -> None:
        """Args: encoded_key: the EncodingAESKey. Raises ValueError: it is not one."""
        self._key = decode_key(encoded_key)
        self._receiver = receiver.encode()

    def open(self, sealed: str) -> bytes:
        """Decrypt a message: 16 random bytes, the length of the text, the text, the receiver.

        Raises:
            DecryptionFailed: for any reason.
        """
        try:
            data = base64.b64decode(sealed, validate=True)
        except (binascii.Error, ValueError) as err:
            raise DecryptionFailed from err
        plain = decrypt_bytes(self._key, data)
        if len(plain) < _HEADER_BYTES:
            raise DecryptionFailed
        end = _HEADER_BYTES + int.from_bytes(plain[_RANDOM_BYTES:_HEADER_BYTES], "big")
        if end > len(plain) or not hmac.compare_digest(plain[end:], self._receiver):
            raise DecryptionFailed
        return plain[_HEADER_BYTES:end]

    def seal(self, text: bytes, random: bytes = b"") -> str:
        """Encrypt for `open`. random: 16 bytes, new ones by default."""
        random = random or secrets.token_bytes(_RANDOM_BYTES)
        plain = random + len(text).to_bytes(_LENGTH_BYTES, "big") + text + self._receiver
        return base64.b64encode(encrypt_bytes(self._key, plain)).decode()
