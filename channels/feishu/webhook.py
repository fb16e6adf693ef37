"""Verifies webhook calls: signed, recent, encrypted with the app's key, and addressed to the
app.
"""

import base64
import binascii
import hashlib
import hmac
import json
import time
from typing import Any

from channels.base import WebhookRequest
from channels.feishu.settings import FeishuSettings
from channels.toolkit.untrusted import ReplayGuard, parse_strict_json

# Maximum distance between the signed time and the local clock. A push repeated hours later is
# signed again; if the platform turns out to repeat the old signature, use 8 h: repeated events are
# dropped by their inbox key anyway.
TIMESTAMP_WINDOW_SECONDS = 300
MAX_UNSIGNED_BYTES = 8_192
BLOCK_BYTES = 16  # of AES
_TIME, _NONCE, _SIGNATURE = "x-lark-request-timestamp", "x-lark-request-nonce", "x-lark-signature"

Json = dict[str, Any]


class VerificationFailed(Exception):
    """A check failed; the caller must not learn which."""


class FeishuWebhookVerifier:
    """Verifies the calls to one app."""

    def __init__(self, settings: FeishuSettings) -> None:
        """Raises ValueError: a key is missing."""
        for name in ("encrypt_key", "verification_token"):
            if not getattr(settings, name):
                raise ValueError(
                    f"mode webhook needs {name}: it is in the developer console under Events & "
                    "callbacks, Encryption strategy"
                )
        self._key = settings.encrypt_key.encode()
        self._token = settings.verification_token.encode()
        self._app_id = settings.app_id.encode()
        self._nonces = ReplayGuard()

    def open(self, request: WebhookRequest) -> Json:
        """Return the event, or the challenge, of a call. Raises VerificationFailed."""
        signed = self._verify_signature(request)
        if signed is None and len(request.body) > MAX_UNSIGNED_BYTES:
            raise VerificationFailed  # only the short challenge comes unsigned
        if signed is not None:
            self._check_fresh(*signed, request.body)
        event = self._decrypt(request.body)
        challenge = event.get("type") == "url_verification"
        if signed is None and not challenge:
            raise VerificationFailed
        # In the old format token and app_id are at other places; challenges have no app_id.
        header = _load_object(event.get("header", event))
        if not _is_equal(header.get("token"), self._token):
            raise VerificationFailed
        if not challenge and not _is_equal(
            header.get("app_id", _load_object(event.get("event")).get("app_id")), self._app_id
        ):
            raise VerificationFailed
        return event

    def _verify_signature(self, request: WebhookRequest) -> tuple[str, str] | None:
        """Return time and nonce of a call with a valid signature, None for a call without any."""
        if request.method != "POST":
            raise VerificationFailed
        found = [
            [value for name, value in request.headers if name == wanted]
            for wanted in (_TIME, _NONCE, _SIGNATURE)
        ]
        if not any(found):
            return None
        if any(len(values) != 1 for values in found):
            raise VerificationFailed
        (signed_at,), (nonce,), (signature,) = found
        text = (
            signed_at.encode("latin-1", "replace") + nonce.encode("latin-1", "replace") + self._key
        )
        if not _is_equal(signature, hashlib.sha256(text + request.body).hexdigest().encode()):
            raise VerificationFailed
        return signed_at, nonce

    def _check_fresh(self, signed_at: str, nonce: str, body: bytes) -> None:
        if (
            not signed_at.isascii()
            or not signed_at.isdigit()
            or abs(time.time() - int(signed_at[:15])) > TIMESTAMP_WINDOW_SECONDS
        ):
            raise VerificationFailed
        if not self._nonces.fits(nonce, body, time.monotonic()):
            raise VerificationFailed

    def _decrypt(self, body: bytes) -> Json:
        try:
            raw = base64.b64decode(parse_strict_json(body)["encrypt"], validate=True)
            event = parse_strict_json(decrypt(self._key, raw))
        except (KeyError, TypeError, ValueError, binascii.Error) as err:
            raise VerificationFailed from err
        return _load_object(event)


def decrypt(key: bytes, encrypted: bytes) -> bytes:
    """Decrypt AES-256-CBC by a hash of the app's key; the first block is the initialization vector.

    Raises ValueError.

    Source: the platform's page "Configure Encrypt Key".
    """
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes  # slow to import
    from cryptography.hazmat.primitives.padding import PKCS7

    vector, blocks = encrypted[:BLOCK_BYTES], encrypted[BLOCK_BYTES:]
    decryptor = Cipher(algorithms.AES(hashlib.sha256(key).digest()), modes.CBC(vector)).decryptor()
    unpadder = PKCS7(algorithms.AES.block_size).unpadder()
    return unpadder.update(decryptor.update(blocks) + decryptor.finalize()) + unpadder.finalize()


def read_challenge(event: Json) -> bytes | None:
    """Return the answer to the challenge that verifies the request URL, None for an event."""
    if event.get("type") != "url_verification":
        return None
    return json.dumps({"challenge": str(event.get("challenge", ""))}).encode()


def _load_object(value: Any) -> Json:
    if not isinstance(value, dict):
        raise VerificationFailed
    return value


def _is_equal(given: Any, expected: bytes) -> bool:
    return isinstance(given, str) and hmac.compare_digest(
        given.encode("utf-8", "surrogatepass"), expected
    )
