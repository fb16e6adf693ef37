"""How WeChat and WeCom sign and encrypt: SHA-1 over sorted texts, AES-256-CBC with blocks of 32. Pure, but for chance.

Source: the platforms' pages on message encryption; test bytes in tests/channels/toolkit/test_wechat_crypto.py.
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
    """What came was not encrypted with this key, for this receiver; which of the two is not told."""

    def __init__(self) -> None:
        super().__init__("this cannot be deciphered")


def sign_parts(parts: Iterable[str]) -> str:
    """40 lower-case hex signs over the parts, in whatever order they are given."""
    joined = "".join(sorted(parts)).encode("utf-8", "surrogatepass")
    return hashlib.sha1(joined, usedforsecurity=False).hexdigest()


def is_signature_of(given: str, parts: Iterable[str]) -> bool:
    """Whether `given` is their signature; takes as long for any wrong one."""
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), sign_parts(parts).encode())


def pad(data: bytes, block: int = BLOCK_BYTES) -> bytes:
    """PKCS #7 up to a multiple of `block`: 1 to `block` bytes more."""
    missing = block - len(data) % block
    return data + bytes([missing]) * missing


def unpad(data: bytes, block: int = BLOCK_BYTES) -> bytes:
    """The data without its padding.

    Raises:
        DecryptionFailed: it is not padded so.
    """
    count = data[-1] if data else 0
    if not 1 <= count <= min(block, len(data)) or data[-count:] != bytes([count]) * count:
        raise DecryptionFailed
    return data[:-count]


def decode_key(signs: str) -> bytes:
    """The 32 bytes that an EncodingAESKey of 43 signs stands for.

    Raises:
        ValueError: it is not such a key.
    """
    try:
        key = base64.b64decode(signs + "=", validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if len(signs) != KEY_CHARS or len(key) != BLOCK_BYTES:
        raise ValueError(f"an EncodingAESKey has {KEY_CHARS} letters and digits, this one has {len(signs)} signs")
    return key


def decrypt_bytes(key: bytes, data: bytes) -> bytes:
    """AES-256-CBC with the key's first half as the first vector, and the padding taken off; files come so too.

    Args:
        key: 32 bytes.

    Raises:
        DecryptionFailed: the length or the padding does not fit.
    """
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    if not data or len(data) % _AES_BLOCK:
        raise DecryptionFailed
    machine = Cipher(algorithms.AES(key), modes.CBC(key[:_AES_BLOCK])).decryptor()
    return unpad(machine.update(data) + machine.finalize())


def encrypt_bytes(key: bytes, data: bytes) -> bytes:
    """What decrypt_bytes takes back."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    machine = Cipher(algorithms.AES(key), modes.CBC(key[:_AES_BLOCK])).encryptor()
    return machine.update(pad(data)) + machine.finalize()


class WechatEnvelope:
    """Messages between one receiver (an AppID, a CorpID) and the platform. signs: the EncodingAESKey.

    Raises:
        ValueError: it is no such key.
    """

    def __init__(self, signs: str, receiver: str) -> None:
        self._key = decode_key(signs)
        self._receiver = receiver.encode()

    def open(self, sealed: str) -> bytes:
        """The text inside: 16 bytes of chance, its length, itself, the receiver.

        Raises:
            DecryptionFailed: it is not ours, whatever is wrong with it.
        """
        try:
            data = base64.b64decode(sealed, validate=True)
        except (binascii.Error, ValueError) as err:
            raise DecryptionFailed from err
        whole = decrypt_bytes(self._key, data)
        if len(whole) < _HEADER_BYTES:
            raise DecryptionFailed
        end = _HEADER_BYTES + int.from_bytes(whole[_RANDOM_BYTES:_HEADER_BYTES], "big")
        if end > len(whole) or not hmac.compare_digest(whole[end:], self._receiver):
            raise DecryptionFailed
        return whole[_HEADER_BYTES:end]

    def seal(self, text: bytes, chance: bytes = b"") -> str:
        """What `open` takes back. chance: 16 bytes, new ones by default."""
        chance = chance or secrets.token_bytes(_RANDOM_BYTES)
        whole = chance + len(text).to_bytes(_LENGTH_BYTES, "big") + text + self._receiver
        return base64.b64encode(encrypt_bytes(self._key, whole)).decode()
