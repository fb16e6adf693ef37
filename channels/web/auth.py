"""Authentication before every route: Host, Origin, session cookie or token, CSRF, login
throttling.
"""

import contextlib
import hmac
import math
import os
import secrets
import stat
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import structlog

from channels.phrases import Phrase
from channels.web.backend import PasskeySite
from channels.web.requests import CannotServe, Headers, HttpRefusal, header_values
from channels.web.sessions import (
    MAX_SESSIONS,
    SAVE_SECONDS,
    SESSION_IDLE_SECONDS,
    BrowserSession,
    LoginCodes,
    SessionFile,
    StreamSlots,
    describe_browser,
    hash_secret,
    session_id,
)
from channels.web.settings import IpNetwork
from channels.web.throttle import WRONG_TOKEN, LoginThrottle, client_address, parse_address

# Pure rules over a request's headers.


def is_framed_twice(headers: Headers, http_version: str) -> bool:
    """Whether two parsers could disagree on where the body ends: the basis of request smuggling."""
    lengths, codings = (
        header_values(headers, b"content-length"),
        header_values(headers, b"transfer-encoding"),
    )
    return (
        len(lengths) > 1 or len(codings) > 1 or bool(codings and (lengths or http_version == "1.0"))
    )


def allowed_hosts(port: int) -> frozenset[bytes]:
    """Return the accepted Host headers, all of loopback: the defence against DNS rebinding."""
    names = [f"{name}:{port}".encode() for name in ("127.0.0.1", "localhost", "[::1]")]
    return frozenset(names + ([b"127.0.0.1", b"localhost", b"[::1]"] if port == 80 else []))


def is_allowed_host(headers: Headers, allowed: frozenset[bytes]) -> bool:
    """Whether there is exactly one Host, and it is allowed."""
    hosts = header_values(headers, b"host")
    return len(hosts) == 1 and hosts[0].lower() in allowed


def is_same_origin(headers: Headers, public: bytes = b"") -> bool:
    """Whether there is exactly one Origin, and it matches Host: with https for `public`, else with
    http.
    """
    hosts = [host.lower() for host in header_values(headers, b"host")]
    return header_values(headers, b"origin") == [
        (b"https://" if host == public else b"http://") + host for host in hosts
    ]


def is_cross_site(headers: Headers) -> bool:
    """Whether a browser says that another site, or another origin of this one, has sent the
    request.
    """
    return any(site != b"same-origin" for site in header_values(headers, b"sec-fetch-site"))


def bearer_token(headers: Headers) -> str | None:
    """Return the bearer token; "" for any other or a repeated Authorization header, None for
    none.
    """
    given = header_values(headers, b"authorization")
    if not given:
        return None
    scheme, _, token = given[0].decode("latin-1").partition(" ")
    return token.strip() if len(given) == 1 and scheme.lower() == "bearer" else ""


def cookie_value(headers: Headers, name: str) -> str:
    """Return the value of one cookie; "" if it is missing or sent twice."""
    pairs = b";".join(header_values(headers, b"cookie")).decode("latin-1").split(";")
    values = [
        value for key, _, value in (pair.strip().partition("=") for pair in pairs) if key == name
    ]
    return values[0] if len(values) == 1 else ""


log = structlog.get_logger(__name__)


# Sessions.

TOKEN_STREAMS = 512  # open event streams with the token
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Visitor:
    """An authenticated client."""

    #: Whether the session or token is still valid.
    alive: Callable[[], bool]
    #: "" for a token without cookie.
    csrf: str = ""
    #: Identifies the session in all its requests; not a secret.
    id: str = "token"
    #: Since the token was last given; 0 for a bearer token, which is given each time.
    signed_in_seconds: float = 0.0
    #: Set-Cookie header by which the browser keeps the session for its full time again; "" without
    #: a session.
    renewed_cookie: str = ""
    streams: StreamSlots = field(default_factory=lambda: StreamSlots(TOKEN_STREAMS))


WRONG_CODE = Phrase(
    "this link was already used or is older than ten minutes: mnema login prints a new one"
)
FRESH_SECONDS = 600.0  # after a login, for what needs a fresh one


def require_fresh_login(visitor: Visitor) -> None:
    """Let only somebody pass who has just shown the token.

    Raises:
        HttpRefusal: 403; the page asks for the token then.
    """
    if visitor.signed_in_seconds > FRESH_SECONDS:
        raise HttpRefusal(
            403, "login_again", Phrase("this needs a fresh login: enter the token again")
        )


def derive_csrf(session_cookie: str) -> str:
    """Return the token that a session sends with every change: who does not know the cookie cannot
    make it.
    """
    return hash_secret(f"csrf:{session_cookie}").hex()


class RequestGuard:
    """Authenticates requests. Sessions survive a restart; another token ends them.

    The right token and a valid cookie are never delayed. The token has at least 128 random bits;
    the delay of wrong ones only limits the load.

    Args:
        public: host of a proxy with TLS, accepted besides loopback.
        proxies: their X-Forwarded-For separates clients when wrong tokens are counted; it is used
            for nothing else.
        sessions_path: the file that keeps the sessions; None for none.
        clock: monotonic, seconds.
        wall_clock: unix seconds.
    """

    def __init__(
        self,
        *,
        token: str,
        port: int,
        public: str = "",
        proxies: Sequence[IpNetwork] = (),
        sessions_path: Path | None = None,
        clock: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        self._token = hash_secret(token)
        self._public = public.encode()
        self._hosts = allowed_hosts(port) | ({self._public} if public else frozenset())
        self._proxies = proxies
        self._clock = clock
        self._wall_clock = wall_clock
        self._session_file = SessionFile(sessions_path)
        self._sessions = self._session_file.load(self._token, wall_clock())
        self._saved_at = wall_clock()
        self._streams = StreamSlots(TOKEN_STREAMS)
        self._throttle = LoginThrottle(clock)
        self._codes = LoginCodes(clock)
        # browsers share cookies between ports, so each home needs its own name
        self.cookie = f"mnema_{port}"
        #: Called when sessions end.
        self.changed: Callable[[], None] = lambda: None
        #: Called at a wrong token.
        self.denied: Callable[[], None] = lambda: None

    def host_fits(self, headers: Headers) -> bool:
        return is_allowed_host(headers, self._hosts)

    def foreign_host(self) -> Phrase:
        """Return the error text for a request with another Host."""
        if self._public:
            return Phrase(
                "this server answers only under its own addresses: loopback and {public}",
                public=self._public.decode(),
            )
        return Phrase(
            "this server answers on loopback only; behind a proxy with TLS set "
            "channels.web.public_url to its address"
        )

    def cookie_name(self, headers: Headers) -> str:
        """Return the cookie's name under this request's Host; under the public one it is valid with
        TLS only.
        """
        return f"__Host-{self.cookie}" if self._came_by_proxy(headers) else self.cookie

    def set_cookie(self, headers: Headers, session_cookie: str, seconds: float) -> str:
        """Return the Set-Cookie header for this value and lifetime."""
        secure = "; Secure" if self._came_by_proxy(headers) else ""
        name = self.cookie_name(headers)
        return (
            f"{name}={session_cookie}; HttpOnly; SameSite=Strict; Path=/; "
            f"Max-Age={int(seconds)}{secure}"
        )

    def _came_by_proxy(self, headers: Headers) -> bool:
        return bool(self._public) and [
            host.lower() for host in header_values(headers, b"host")
        ] == [self._public]

    def rotate(self, token: str) -> None:
        """Replace the token; every session and stream ends."""
        self._token = hash_secret(token)
        self._streams = StreamSlots(TOKEN_STREAMS)
        self._sessions.clear()
        self._codes.clear()
        self._save()
        self.changed()

    async def visitor(self, method: str, headers: Headers, peer: str = "") -> Visitor:
        """Authenticate a request. peer: the address of the connection.

        Raises:
            HttpRefusal: 401 for no or a wrong token or cookie; 403 for a change requested by
                another site.
        """
        session_cookie = cookie_value(headers, self.cookie_name(headers))
        session = self._session(session_cookie)
        token = bearer_token(headers)
        if token is not None and not self._fits(token):
            await self._refuse(headers, peer)
        if token is None and session is None:
            raise HttpRefusal(
                401, "unauthorized", Phrase("sign in, or send the token as Authorization: Bearer …")
            )
        if session is not None:
            self._check_origin(method, headers, session_cookie)
        csrf = derive_csrf(session_cookie) if session else ""
        if token is None and session is not None:
            signed_in_at = session.signed_in_at
            return Visitor(
                alive=lambda: self._session(session_cookie, touch=False) is not None,
                csrf=csrf,
                id=session_id(hash_secret(session_cookie)),
                signed_in_seconds=math.inf
                if signed_in_at is None
                else self._clock() - signed_in_at,
                renewed_cookie=self.set_cookie(headers, session_cookie, SESSION_IDLE_SECONDS),
                streams=session.streams,
            )
        key = self._token
        return Visitor(
            alive=lambda: hmac.compare_digest(key, self._token), csrf=csrf, streams=self._streams
        )

    async def login(self, token: str, headers: Headers, peer: str = "") -> str:
        """Create a session for the right token; return the cookie's value.

        Raises:
            HttpRefusal: 403 from another origin; 401 for a wrong token, with a delay; 429 if too
                many are waiting.
        """
        self._check_login(headers)
        if not self._fits(token):
            await self._refuse(headers, peer)
        return self._begin_session(headers, peer)

    def create_login_code(self, on_use: Callable[[], None] | None = None) -> str:
        """Create a code that signs one browser in, once and within ten minutes.

        Args:
            on_use: called once the code is used up.
        """
        return self._codes.create(on_use)

    async def login_by_code(self, code: str, headers: Headers, peer: str = "") -> str:
        """Create a session for a code of `create_login_code`, and use the code up.

        Raises:
            HttpRefusal: as `login`; from another origin the code stays valid.
        """
        self._check_login(headers)
        if not self._codes.redeem(code):
            await self._refuse(headers, peer, WRONG_CODE)
        return self._begin_session(headers, peer)

    async def login_by_passkey(self, passkey: str, headers: Headers, peer: str = "") -> str:
        """Create a session for a passkey that was verified. passkey: its id, "" for one that is not
        valid.

        Raises:
            HttpRefusal: as `login`.
        """
        self._check_login(headers)
        if not passkey:
            await self._refuse(headers, peer, Phrase("the passkey is not valid here"))
        return self._begin_session(headers, peer, passkey)

    def passkey_site(self, headers: Headers) -> PasskeySite | None:
        """Return where a passkey of this request's Host is valid; None for an IP address, which has
        none.
        """
        [host] = [given.decode("latin-1").lower() for given in header_values(headers, b"host")]
        name = host.rpartition(":")[0] or host
        if parse_address(name) or name.startswith("["):
            return None
        return PasskeySite(
            host=name, origin=f"{'https' if self._came_by_proxy(headers) else 'http'}://{host}"
        )

    def end_passkey(self, passkey: str) -> None:
        """End the sessions that were opened with a passkey."""
        self._end({key for key, one in self._sessions.items() if one.passkey == passkey})

    def sessions(self) -> Mapping[str, BrowserSession]:
        """Return the logins of browsers by their ids, which are no secrets."""
        now = self._wall_clock()
        alive = ((key, one) for key, one in self._sessions.items() if not one.is_idle(now))
        return {session_id(key): session for key, session in alive}

    def end_session(self, id: str) -> None:
        """End a login of a browser and its streams."""
        self._end({key for key in self._sessions if session_id(key) == id})

    def _end(self, keys: set[bytes]) -> None:
        self._sessions = {key: one for key, one in self._sessions.items() if key not in keys}
        self._save()
        self.changed()

    def _check_login(self, headers: Headers) -> None:
        foreign = header_values(headers, b"origin") and not is_same_origin(headers, self._public)
        if foreign or is_cross_site(headers):
            raise HttpRefusal(403, "origin", Phrase("this request came from another site"))

    def _begin_session(self, headers: Headers, peer: str, passkey: str = "") -> str:
        self._throttle.reset_failures(client_address(peer, headers, self._proxies))
        session_cookie, now = secrets.token_urlsafe(32), self._wall_clock()
        agent = b" ".join(header_values(headers, b"user-agent")).decode("latin-1")
        session = BrowserSession(
            seen=now,
            signed_in_at=self._clock(),
            passkey=passkey,
            began=now,
            browser=describe_browser(agent),
        )
        # a browser that signs in again has one login, not two
        self._sessions.pop(hash_secret(cookie_value(headers, self.cookie_name(headers))), None)
        self._sessions[hash_secret(session_cookie)] = session
        while len(self._sessions) > MAX_SESSIONS:
            del self._sessions[min(self._sessions, key=lambda key: self._sessions[key].seen)]
        self._save()
        return session_cookie

    def logout(self, headers: Headers) -> None:
        """End the cookie's session and its streams."""
        self._end({hash_secret(cookie_value(headers, self.cookie_name(headers)))})

    def _fits(self, token: str) -> bool:
        return hmac.compare_digest(hash_secret(token), self._token)

    def _session(self, session_cookie: str, *, touch: bool = True) -> BrowserSession | None:
        session = self._sessions.get(hash_secret(session_cookie)) if session_cookie else None
        now = self._wall_clock()
        if session is None or session.is_idle(now):
            self._sessions.pop(hash_secret(session_cookie), None)
            return None
        if touch:
            session.seen = now
            if now - self._saved_at > SAVE_SECONDS:
                self._save()
        return session

    def _save(self) -> None:
        self._saved_at = self._wall_clock()
        self._session_file.save(self._token, self._sessions)

    def _check_origin(self, method: str, headers: Headers, session_cookie: str) -> None:
        if method in SAFE_METHODS:
            return
        if not is_same_origin(headers, self._public) or is_cross_site(headers):
            raise HttpRefusal(403, "origin", Phrase("this request came from another site"))
        if header_values(headers, b"content-type") != [b"application/json"]:
            raise HttpRefusal(403, "content_type", Phrase("send Content-Type: application/json"))
        given = header_values(headers, b"x-csrf-token")
        if len(given) != 1 or not hmac.compare_digest(
            hash_secret(given[0].decode("latin-1")), hash_secret(derive_csrf(session_cookie))
        ):
            raise HttpRefusal(403, "csrf", Phrase("the page is from an older login; reload it"))

    async def _refuse(self, headers: Headers, peer: str, why: Phrase = WRONG_TOKEN) -> None:
        self.denied()
        await self._throttle.refuse(client_address(peer, headers, self._proxies), why)


# The token's file: created at the first start, readable by its owner only.

MIN_TOKEN_CHARS = 22  # of base64url, for 128 bits


def load_token(path: Path) -> tuple[str, bool]:
    """Read the token, or create it; return it and whether it is new.

    Raises:
        CannotServe: the file is readable by others, a link, of another owner, too short, or cannot
            be read or written.
    """
    try:
        with contextlib.suppress(FileNotFoundError):
            return _read_token(path), False
        with contextlib.suppress(FileExistsError):
            return _create_token(path), True
        return _read_token(path), False  # another process was first
    except OSError as err:
        raise CannotServe(f"the web token {path} cannot be used: {err.strerror or err}") from err


def _create_token(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    token = secrets.token_urlsafe(32)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    opened = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    try:
        with os.fdopen(opened, "w") as file:
            file.write(token + "\n")
            file.flush()
            os.fsync(file.fileno())
        os.link(draft, path)  # atomic, and never overwrites the token of another process
    finally:
        draft.unlink(missing_ok=True)
    return token


def _read_token(path: Path) -> str:
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)) as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
            raise CannotServe(
                f"the web token {path} is not a file of this account; delete it, a new one is made"
            )
        if found.st_mode & 0o077:
            mode = stat.S_IMODE(found.st_mode)
            raise CannotServe(
                f"the web token {path} has mode {mode:04o}; others can read it: run chmod 600 on it"
            )
        token = file.read(4096).strip()
    if len(token) < MIN_TOKEN_CHARS or not token.isascii():
        raise CannotServe(
            f"the web token {path} is empty or too short; delete it, a new one is made"
        )
    return token
