"""Calls as Feishu makes them to an app's address: sealed, signed, or wrong in a way that is asked
for.
"""

import base64
import hashlib
import json
import os
import time
from typing import Any, Literal

from cryptography.hazmat.primitives import padding
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

Wrong = Literal[
    "",
    "plain",
    "unsigned",
    "empty_signature",
    "double_signature",
    "non_ascii_signature",
    "upper_signature",
    "other_body",
    "reserialised",
    "stale",
    "future",
    "odd_time",
]


def seal(text: str, key: str, iv: bytes | None = None) -> str:
    """A text under the Encrypt Key, as the `encrypt` field carries it."""
    iv = iv or os.urandom(16)
    pad = padding.PKCS7(128).padder()
    padded = pad.update(text.encode()) + pad.finalize()
    cipher = Cipher(
        algorithms.AES(hashlib.sha256(key.encode()).digest()), modes.CBC(iv)
    ).encryptor()
    return base64.b64encode(iv + cipher.update(padded) + cipher.finalize()).decode()


def sign(timestamp: str, nonce: str, key: str, body: bytes) -> str:
    return hashlib.sha256(timestamp.encode() + nonce.encode() + key.encode() + body).hexdigest()


def call(
    event: dict[str, Any], key: str, *, wrong: Wrong = "", nonce: str = "", at: float = 0.0
) -> tuple[list[tuple[str, str]], bytes]:
    """Headers and body of one call; wrong: what is not as it should be. at: unix seconds of its
    signature, 0 now.
    """
    plain = json.dumps(event)
    body = (
        plain.encode() if wrong == "plain" else json.dumps({"encrypt": seal(plain, key)}).encode()
    )
    shift = {"stale": -360, "future": 360}.get(wrong, 0)
    timestamp = str(int((at or time.time()) + shift))
    if wrong == "odd_time":
        timestamp = "١٧٠٠٠٠٠٠٠٠".encode().decode("latin-1")
    nonce = nonce or os.urandom(8).hex()
    signature = sign(timestamp, nonce, key, body)
    named = [("x-lark-request-timestamp", timestamp), ("x-lark-request-nonce", nonce)]
    signed = {
        "unsigned": [],
        "plain": [("x-lark-signature", signature)],
        "empty_signature": [("x-lark-signature", "")],
        "double_signature": [("x-lark-signature", signature)] * 2,
        "non_ascii_signature": [("x-lark-signature", "é" * 64)],
        "upper_signature": [("x-lark-signature", signature.upper())],
        "other_body": [("x-lark-signature", sign(timestamp, nonce, key, body + b" "))],
    }.get(wrong, [("x-lark-signature", signature)])
    if wrong == "reserialised":
        body = json.dumps(json.loads(body), indent=1).encode()
    return [
        *([] if wrong == "unsigned" else named),
        *signed,
        ("content-type", "application/json"),
    ], body
