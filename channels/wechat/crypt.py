"""The cipher of WeChat's files, and the forms in which their keys come; pure."""

import base64
import binascii

KEY_BYTES = 16


def sealed_size(size: int) -> int:
    """How many bytes so many become: whole blocks, and at least one byte of padding."""
    return (size // KEY_BYTES + 1) * KEY_BYTES


def seal(data: bytes, key: bytes) -> bytes:
    """AES-128-ECB with PKCS#7. The platform sets the mode: each file has a key of its own."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    pad = KEY_BYTES - len(data) % KEY_BYTES
    sealing = Cipher(algorithms.AES(key), modes.ECB()).encryptor()  # noqa: S305
    return sealing.update(data + bytes([pad]) * pad) + sealing.finalize()


def unseal(data: bytes, key: bytes) -> bytes:
    """Back again. Raises ValueError: these bytes were not sealed with this key."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    if not data or len(data) % KEY_BYTES:
        raise ValueError(f"{len(data)} bytes are no whole number of blocks")
    opening = Cipher(algorithms.AES(key), modes.ECB()).decryptor()  # noqa: S305
    plain = opening.update(data) + opening.finalize()
    pad = plain[-1]
    if not 1 <= pad <= KEY_BYTES or plain[-pad:] != bytes([pad]) * pad:
        raise ValueError("its padding is wrong")
    return plain[:-pad]


def key_text(key: bytes) -> str:
    """The key as a message of ours names it: base64 of its hexadecimal text, not of its bytes."""
    return base64.b64encode(key.hex().encode()).decode()


def key_of(plain_hex: str, encoded: str) -> bytes:
    """A file's key, b"" where it has none and is not sealed.

    Args:
        plain_hex: image_item.aeskey, 32 hexadecimal signs; it goes first.
        encoded: media.aes_key, base64 of 16 bytes or of 32 hexadecimal signs.

    Raises:
        ValueError: neither form.
    """
    if plain_hex:
        return _sized(bytes.fromhex(plain_hex))
    if not encoded:
        return b""
    try:
        held = base64.b64decode(encoded + "=" * (-len(encoded) % 4), validate=True)
    except binascii.Error as err:
        raise ValueError("the key is no base64") from err
    return held if len(held) == KEY_BYTES else _sized(bytes.fromhex(held.decode("ascii")))


def _sized(key: bytes) -> bytes:
    if len(key) != KEY_BYTES:
        raise ValueError(f"the key has {len(key)} bytes instead of {KEY_BYTES}")
    return key
