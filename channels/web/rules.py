"""Who may ask what, as pure rules over a request's headers: host, origin, cookie, token, delay."""

import hashlib
import hmac
from collections.abc import Iterable

FREE_TRIES = 5
LONGEST_DELAY = 2.0
SECURITY_HEADERS = {
    "content-security-policy": (
        "default-src 'self'; img-src 'self' data:; object-src 'none'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
Headers = Iterable[tuple[bytes, bytes]]


def is_framed_twice(headers: Headers, http_version: str) -> bool:
    """Whether two readers could disagree on where the body ends: a proxy in front may take the rest for a request."""
    headers = list(headers)
    lengths, codings = every(headers, b"content-length"), every(headers, b"transfer-encoding")
    return len(lengths) > 1 or len(codings) > 1 or bool(codings and (lengths or http_version == "1.0"))


def every(headers: Headers, name: bytes) -> list[bytes]:
    """All values of one header, in order. Names are lower-case in ASGI."""
    return [value for key, value in headers if key == name]


def allowed_hosts(port: int) -> frozenset[bytes]:
    """The only Host headers answered: loopback by each of its names. Source: DNS rebinding's one defence."""
    names = [f"{name}:{port}".encode() for name in ("127.0.0.1", "localhost", "[::1]")]
    return frozenset(names + ([b"127.0.0.1", b"localhost", b"[::1]"] if port == 80 else []))


def host_fits(headers: Headers, allowed: frozenset[bytes]) -> bool:
    """Exactly one Host, and one of ours."""
    hosts = every(headers, b"host")
    return len(hosts) == 1 and hosts[0].lower() in allowed


def same_origin(headers: Headers, public: bytes = b"") -> bool:
    """Exactly one Origin, equal to the (already checked) Host; https for the public one, http for loopback."""
    headers = list(headers)
    hosts = [host.lower() for host in every(headers, b"host")]
    return every(headers, b"origin") == [(b"https://" if host == public else b"http://") + host for host in hosts]


def bearer(headers: Headers) -> str | None:
    """The token of the only Authorization header; "" for one that is not a Bearer token, None for no header."""
    given = every(headers, b"authorization")
    if not given:
        return None
    scheme, _, token = given[0].decode("latin-1").partition(" ")
    return token.strip() if len(given) == 1 and scheme.lower() == "bearer" else ""


def cookie(headers: Headers, name: str) -> str:
    """The value of one cookie; "" when it is absent or stands there twice."""
    crumbs = b";".join(every(headers, b"cookie")).decode("latin-1").split(";")
    values = [value for key, _, value in (crumb.strip().partition("=") for crumb in crumbs) if key == name]
    return values[0] if len(values) == 1 else ""


def digest(secret: str) -> bytes:
    """What of a secret is kept in memory and compared."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


def same(one: bytes, other: bytes) -> bool:
    """Equality in constant time."""
    return hmac.compare_digest(one, other)


def delay(failures: int) -> float:
    """Seconds before the answer to the nth wrong token in a row: none for five, then doubling from .1 to 2."""
    return 0.0 if failures <= FREE_TRIES else min(0.1 * 2.0 ** min(failures - FREE_TRIES - 1, 10), LONGEST_DELAY)
