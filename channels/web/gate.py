"""The gate before every route: who is asking, by cookie or token, and whether this request may change anything."""

import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from channels.web.errors import Refused
from channels.web.public import Network, PublicAddress, client_address
from channels.web.rules import (
    Headers,
    allowed_hosts,
    bearer,
    cookie,
    digest,
    every,
    host_fits,
    same,
    same_origin,
)
from channels.web.wrong_tokens import WrongTokens

IDLE = 12 * 3_600.0
LONGEST = 7 * 86_400.0
MOST_SESSIONS = 100
TOKEN_STREAMS = 512
SESSION_STREAMS = 64
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


@dataclass(slots=True)
class Streams:
    """The event streams that one login or one token has open, at most `most`."""

    most: int
    count: int = 0


@dataclass(slots=True, kw_only=True)
class Session:
    """One login of a browser. born, seen: seconds of the gate's clock."""

    csrf: str
    born: float
    seen: float
    streams: Streams = field(default_factory=lambda: Streams(SESSION_STREAMS))


@dataclass(frozen=True, slots=True, kw_only=True)
class Visitor:
    """Who asks: `alive` turns false when their login ends. csrf: "" for a token without cookie.

    id: of the login, the same for all its requests; no secret.
    """

    alive: Callable[[], bool]
    csrf: str = ""
    id: str = "token"
    streams: Streams = field(default_factory=lambda: Streams(TOKEN_STREAMS))


class Gate:
    """Token, sessions and wrong guesses of one server; all in memory, so a restart ends every session.

    A right token and a live cookie are never delayed: the token has at least 128 random bits, and the delay is there
    to keep guessing from costing anything, not to make it hard.

    Args:
        public: the address of a proxy with TLS in front, admitted beside loopback.
        proxies: whose X-Forwarded-For tells wrong tokens of one client from those of another; never trusted beyond.

    changed: called when sessions end; denied: at a wrong token.
    """

    def __init__(
        self,
        *,
        token: str,
        port: int,
        public: PublicAddress | None = None,
        proxies: Sequence[Network] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._token = digest(token)
        self._public = public.host if public else b""
        self._hosts = allowed_hosts(port) | ({self._public} if public else frozenset())
        self._proxies = proxies
        self._clock = clock
        self._sessions: dict[bytes, Session] = {}
        self._streams = Streams(TOKEN_STREAMS)
        self._wrong = WrongTokens(clock)
        self.cookie = f"mnema_{port}"  # cookies know no ports: two homes on one machine keep theirs apart
        self.changed: Callable[[], None] = lambda: None
        self.denied: Callable[[], None] = lambda: None

    def host_fits(self, headers: Headers) -> bool:
        return host_fits(headers, self._hosts)

    def foreign_host(self) -> str:
        """What somebody is told who came by another name."""
        if self._public:
            return f"this server answers under its own addresses only: loopback and {self._public.decode()}"
        return (
            "this server answers on loopback only; behind a proxy with TLS set channels.web.public_url to its address"
        )

    def cookie_name(self, headers: Headers) -> str:
        """The cookie's name under the Host of this request; under the public one browsers take it with TLS alone."""
        return f"__Host-{self.cookie}" if self._came_by_proxy(headers) else self.cookie

    def set_cookie(self, headers: Headers, crumb: str, seconds: float) -> str:
        """The Set-Cookie header that gives the browser this value for so long."""
        secure = "; Secure" if self._came_by_proxy(headers) else ""
        name = self.cookie_name(headers)
        return f"{name}={crumb}; HttpOnly; SameSite=Strict; Path=/; Max-Age={int(seconds)}{secure}"

    def _came_by_proxy(self, headers: Headers) -> bool:
        return bool(self._public) and [host.lower() for host in every(headers, b"host")] == [self._public]

    def rotate(self, token: str) -> None:
        """Another token from now on; every session and stream ends."""
        self._token = digest(token)
        self._streams = Streams(TOKEN_STREAMS)
        self._sessions.clear()
        self.changed()

    async def visitor(self, method: str, headers: Headers, peer: str = "") -> Visitor:
        """Who asks. peer: the address of the connection.

        Raises:
            Refused: 401 for no or a wrong token or cookie; 403 for a change asked for from elsewhere.
        """
        headers = list(headers)
        crumb = cookie(headers, self.cookie_name(headers))
        session = self._session(crumb)
        token = bearer(headers)
        if token is not None and not self._fits(token):
            await self._refuse(headers, peer)
        if token is None and session is None:
            raise Refused(401, "unauthorized", "sign in, or send the token as Authorization: Bearer …")
        if session is not None:
            self._check_origin(method, headers, session)
        csrf = session.csrf if session else ""
        if token is None and session is not None:
            alive, login = partial(self._is_alive, crumb), digest(crumb).hex()[:16]
            return Visitor(alive=alive, csrf=csrf, id=login, streams=session.streams)
        key = self._token
        return Visitor(alive=lambda: same(key, self._token), csrf=csrf, streams=self._streams)

    async def login(self, token: str, headers: Headers, peer: str = "") -> tuple[str, Session]:
        """A new session for the right token: the cookie's value, and the session.

        Raises:
            Refused: 403 from another origin, 401 for a wrong token (later and later), 429 when too many wait.
        """
        headers = list(headers)
        if every(headers, b"origin") and not same_origin(headers, self._public):
            raise Refused(403, "origin", "this request came from another site")
        if not self._fits(token):
            await self._refuse(headers, peer)
        self._wrong.forgive(client_address(peer, headers, self._proxies))
        now = self._clock()
        crumb = secrets.token_urlsafe(32)
        session = Session(csrf=secrets.token_urlsafe(32), born=now, seen=now)
        self._sessions[digest(crumb)] = session
        while len(self._sessions) > MOST_SESSIONS:
            del self._sessions[min(self._sessions, key=lambda key: self._sessions[key].seen)]
        return crumb, session

    def logout(self, headers: Headers) -> None:
        """End the cookie's session, and its streams."""
        headers = list(headers)
        self._sessions.pop(digest(cookie(headers, self.cookie_name(headers))), None)
        self.changed()

    def _fits(self, token: str) -> bool:
        return same(digest(token), self._token)

    def _is_alive(self, crumb: str) -> bool:
        return self._session(crumb, touch=False) is not None

    def _session(self, crumb: str, *, touch: bool = True) -> Session | None:
        session = self._sessions.get(digest(crumb)) if crumb else None
        now = self._clock()
        if session is None or now - session.born > LONGEST or now - session.seen > IDLE:
            self._sessions.pop(digest(crumb), None)
            return None
        if touch:
            session.seen = now
        return session

    def _check_origin(self, method: str, headers: Headers, session: Session) -> None:
        if method in SAFE:
            return
        headers = list(headers)
        if not same_origin(headers, self._public):
            raise Refused(403, "origin", "this request came from another site")
        if every(headers, b"content-type") != [b"application/json"]:
            raise Refused(403, "content_type", "send Content-Type: application/json")
        given = every(headers, b"x-csrf-token")
        if len(given) != 1 or not same(digest(given[0].decode("latin-1")), digest(session.csrf)):
            raise Refused(403, "csrf", "the page is from an older login; reload it")

    async def _refuse(self, headers: Headers, peer: str) -> None:
        self.denied()
        await self._wrong.refuse(client_address(peer, headers, self._proxies))
