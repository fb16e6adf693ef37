"""What a call of Feishu's has to be before it is believed: signed, fresh, sealed with our key, meant for our app."""

import base64
import binascii
import hashlib
import hmac
import json
import time
from typing import Any

from channels.base import WebhookRequest
from channels.feishu.settings import FeishuSettings
from channels.feishu.websocket import import_lark
from channels.toolkit.untrusted import ReplayGuard, parse_strict_json

# How far the signed time may be from ours. A push that is repeated hours later is signed when it is sent; should the
# platform be seen to repeat the old signature instead, 8 h is right here, for the inbox key ends replays anyway.
TIMESTAMP_WINDOW_SECONDS = 300
MAX_UNSIGNED_BYTES = 8_192
_TIME, _NONCE, _SIGNATURE = "x-lark-request-timestamp", "x-lark-request-nonce", "x-lark-signature"

Json = dict[str, Any]


class VerificationFailed(Exception):
    """A check failed; which one is nobody's business outside."""


class FeishuWebhookVerifier:
    """Checks calls one by one.

    Raises:
        ValueError: a key is missing.
    """

    def __init__(self, settings: FeishuSettings) -> None:
        for name in ("encrypt_key", "verification_token"):
            if not getattr(settings, name):
                raise ValueError(
                    f"mode webhook needs {name}: it stands in the developer console under Events & callbacks, "
                    "Encryption strategy"
                )
        self._key = settings.encrypt_key.encode()
        self._token = settings.verification_token.encode()
        self._app_id = settings.app_id.encode()
        self._nonces = ReplayGuard()

    def open(self, request: WebhookRequest) -> Json:
        """The event, or the challenge, that a call brings.

        Raises:
            VerificationFailed: any check failed.
        """
        signed = self._signature(request)
        if signed is None and len(request.body) > MAX_UNSIGNED_BYTES:
            raise VerificationFailed  # nothing but the short question whether this address is ours comes unsigned
        if signed is not None:
            self._check_fresh(*signed, request.body)
        event = self._unsealed(request.body)
        challenge = event.get("type") == "url_verification"
        if signed is None and not challenge:
            raise VerificationFailed
        # Of the old form, token and app_id stand elsewhere; challenges have no app_id.
        header = _load_object(event.get("header", event))
        if not _is_equal(header.get("token"), self._token):
            raise VerificationFailed
        if not challenge and not _is_equal(
            header.get("app_id", _load_object(event.get("event")).get("app_id")), self._app_id
        ):
            raise VerificationFailed
        return event

    def _signature(self, request: WebhookRequest) -> tuple[str, str] | None:
        """Time and nonce of a call that is rightly signed; None of one that has no sign of a signature."""
        if request.method != "POST":
            raise VerificationFailed
        found = [[value for name, value in request.headers if name == wanted] for wanted in (_TIME, _NONCE, _SIGNATURE)]
        if not any(found):
            return None
        if any(len(values) != 1 for values in found):
            raise VerificationFailed
        (signed_at,), (nonce,), (signature,) = found
        text = signed_at.encode("latin-1", "replace") + nonce.encode("latin-1", "replace") + self._key
        wanted = hashlib.sha256(text + request.body).hexdigest()
        if not _is_equal(signature, wanted.encode()):
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

    def _unsealed(self, body: bytes) -> Json:
        try:
            sealed = parse_strict_json(body)["encrypt"]
            raw = base64.b64decode(sealed, validate=True)
            event = parse_strict_json(import_lark("core.utils.decryptor").AESCipher(self._key).decrypt(raw))
        except (KeyError, TypeError, ValueError, binascii.Error) as err:
            raise VerificationFailed from err
        return _load_object(event)


def read_challenge(event: Json) -> bytes | None:
    """The answer to the platform's question whether this address is ours; None for an event."""
    if event.get("type") != "url_verification":
        return None
    return json.dumps({"challenge": str(event.get("challenge", ""))}).encode()


def _load_object(value: Any) -> Json:
    if not isinstance(value, dict):
        raise VerificationFailed
    return value


def _is_equal(told: Any, ours: bytes) -> bool:
    return isinstance(told, str) and hmac.compare_digest(told.encode("utf-8", "surrogatepass"), ours)
