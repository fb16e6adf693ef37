"""Web Push: a message that only one browser can read (RFC 8291), and our name at its push service
(VAPID, RFC 8292).
"""

import base64
import json
import os
import struct
from dataclasses import dataclass
from typing import Any

KEY_BYTES = 32
POINT_BYTES = 65  # of a public key, uncompressed
AUTH_BYTES = 16
SALT_BYTES = 16
RECORD_BYTES = 4_096
MAX_PAYLOAD_BYTES = 3_000
VAPID_SECONDS = 12 * 3_600


def encode_base64url(data: bytes) -> str:
    """Return base64url without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decode_base64url(text: str) -> bytes:
    """Return the bytes of base64url with or without padding.

    Raises:
        ValueError: it is none.
    """
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)


def new_key() -> bytes:
    """Return a new private key: the number of the curve P-256."""
    from cryptography.hazmat.primitives.asymmetric import ec  # slow to import

    number = ec.generate_private_key(ec.SECP256R1()).private_numbers().private_value
    return number.to_bytes(KEY_BYTES, "big")


def _load_key(key: bytes) -> Any:
    from cryptography.hazmat.primitives.asymmetric import ec

    return ec.derive_private_key(int.from_bytes(key, "big"), ec.SECP256R1())


def public_point(key: bytes) -> bytes:
    """Return the public key of a private one, as browsers take it."""
    numbers = _load_key(key).public_key().public_numbers()
    x, y = int(numbers.x), int(numbers.y)
    return b"\x04" + x.to_bytes(KEY_BYTES, "big") + y.to_bytes(KEY_BYTES, "big")


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserKeys:
    """What a browser gave to encrypt for it."""

    #: Point of the curve P-256.
    point: bytes
    #: The secret that both know.
    auth: bytes


def parse_keys(p256dh: str, auth: str) -> BrowserKeys:
    """Parse the keys of a subscription.

    Raises:
        ValueError: they are no keys.
    """
    from cryptography.hazmat.primitives.asymmetric import ec

    keys = BrowserKeys(point=decode_base64url(p256dh), auth=decode_base64url(auth))
    if len(keys.point) != POINT_BYTES or len(keys.auth) != AUTH_BYTES:
        raise ValueError("the keys of a subscription have 65 and 16 bytes")
    ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), keys.point)
    return keys


def encrypt(payload: bytes, keys: BrowserKeys, *, own: bytes = b"", salt: bytes = b"") -> bytes:
    """Return the body of a push message, of the content encoding aes128gcm.

    Args:
        own: private key of this one message; a new one by default.
        salt: a new one by default.

    Raises:
        ValueError: the payload is too long.
    """
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    if len(payload) > MAX_PAYLOAD_BYTES:
        raise ValueError(f"a push message has at most {MAX_PAYLOAD_BYTES} bytes")
    own, salt = own or new_key(), salt or os.urandom(SALT_BYTES)
    own_point = public_point(own)
    theirs = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), keys.point)
    shared = _load_key(own).exchange(ec.ECDH(), theirs)
    secret = _derive(shared, keys.auth, b"WebPush: info\0" + keys.point + own_point, 32)
    key = _derive(secret, salt, b"Content-Encoding: aes128gcm\0", 16)
    nonce = _derive(secret, salt, b"Content-Encoding: nonce\0", 12)
    # 2 marks the last record
    record = AESGCM(key).encrypt(nonce, payload + b"\x02", None)
    return salt + struct.pack(">IB", RECORD_BYTES, POINT_BYTES) + own_point + record


def _derive(secret: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    return HKDF(algorithm=hashes.SHA256(), length=length, salt=salt, info=info).derive(secret)


def vapid_header(key: bytes, origin: str, subject: str, now: float) -> str:
    """Return the Authorization header for a push service.

    Args:
        origin: of the service, such as https://push.example.
        subject: an https address at which its operator finds us.
        now: unix seconds.
    """
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec, utils

    claims = {"aud": origin, "exp": int(now) + VAPID_SECONDS, "sub": subject}
    signed = ".".join(
        encode_base64url(json.dumps(part, separators=(",", ":")).encode())
        for part in ({"typ": "JWT", "alg": "ES256"}, claims)
    )
    der = _load_key(key).sign(signed.encode(), ec.ECDSA(hashes.SHA256()))
    r, s = utils.decode_dss_signature(der)
    signature = encode_base64url(r.to_bytes(KEY_BYTES, "big") + s.to_bytes(KEY_BYTES, "big"))
    return f"vapid t={signed}.{signature}, k={encode_base64url(public_point(key))}"
