"""Logins of browsers, and the file that keeps them over a restart."""

import hashlib
import json
import os
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import structlog

log = structlog.get_logger(__name__)
SESSION_IDLE_SECONDS = 30 * 86_400.0  # from the last request; each one begins the time again
MAX_SESSIONS = 100
# between two writes for requests alone; a login or a logout is written at once
SAVE_SECONDS = 600.0
SESSION_STREAMS = 64  # open event streams of one browser session
MAX_FILE_BYTES = 1_000_000
LOGIN_CODE_SECONDS = 600.0
MAX_AGENT_CHARS = 1_000  # of a User-Agent that is looked at
# What a User-Agent is called, the more special first: most name several browsers and systems.
_BROWSERS = (
    ("MicroMessenger/", "WeChat"),
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("CriOS/", "Chrome"),
    ("Safari/", "Safari"),
)
_SYSTEMS = (
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows", "Windows"),
    ("Macintosh", "macOS"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
)
MAX_LOGIN_CODES = 20  # that are open at once; a further one takes the place of the oldest


def hash_secret(secret: str) -> bytes:
    """Hash a secret: only hashes are held in memory and compared."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


def session_id(key: bytes) -> str:
    """Name a session where people and logs see it. key: hash of its cookie, which this hides."""
    return hash_secret(f"id:{key.hex()}").hex()[:16]


def describe_browser(user_agent: str) -> str:
    """Name browser and system in a few words; "" for what is no known browser."""
    agent = user_agent[:MAX_AGENT_CHARS]
    names = (_find_name(agent, _BROWSERS), _find_name(agent, _SYSTEMS))
    return " · ".join(filter(None, names))


def _find_name(agent: str, names: Sequence[tuple[str, str]]) -> str:
    return next((name for sign, name in names if sign in agent), "")


@dataclass(slots=True)
class StreamSlots:
    """Counts the open event streams of one session or of the token; at most `most`."""

    most: int
    count: int = 0


@dataclass(slots=True, kw_only=True)
class BrowserSession:
    """One login of a browser."""

    #: Last request, unix seconds.
    seen: float
    #: When the token or passkey was given, by the guard's clock; None for a login of an earlier
    #: process.
    signed_in_at: float | None = None
    #: Id of the passkey it was opened with, "" for the token.
    passkey: str = ""
    #: When it began, unix seconds; 0 for one of an older version.
    began: float = 0.0
    #: Browser and system in a few words; "" if they are not known.
    browser: str = ""
    streams: StreamSlots = field(default_factory=lambda: StreamSlots(SESSION_STREAMS))

    def is_idle(self, now: float) -> bool:
        """Tell whether it has ended because nothing came for too long. now: unix seconds."""
        return now - self.seen > SESSION_IDLE_SECONDS


class SessionFile:
    """Keeps the sessions of one server in a file that only this account can read.

    It holds no cookie, only their hashes, and a hash of the token: with another token no session is
    valid.
    """

    def __init__(self, path: Path | None) -> None:
        """path: None to keep them in memory only."""
        self._path = path

    def load(self, token_hash: bytes, now: float) -> dict[bytes, BrowserSession]:
        """Return the sessions by the hash of their cookie; none where the file is missing, damaged
        or of another token.

        Args:
            now: unix seconds.
        """
        try:
            if self._path is None or self._path.stat().st_size > MAX_FILE_BYTES:
                return {}
            record = json.loads(self._path.read_bytes())
            if record["token"] != token_hash.hex():
                return {}
            sessions = {
                bytes.fromhex(key): _to_session(entry) for key, entry in record["sessions"].items()
            }
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as err:
            log.warning(
                "logins of browsers not read: all have to sign in again", error=type(err).__name__
            )
            return {}
        return {key: session for key, session in sessions.items() if not session.is_idle(now)}

    def save(self, token_hash: bytes, sessions: Mapping[bytes, BrowserSession]) -> None:
        """Replace the file.

        An error is logged: a restart would end the newest logins, and nothing else.
        """
        if self._path is None:
            return
        entries = {
            key.hex(): {
                "seen": one.seen,
                "passkey": one.passkey,
                "began": one.began,
                "browser": one.browser,
            }
            for key, one in sessions.items()
        }
        draft = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        try:
            opened = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
            with os.fdopen(opened, "w", encoding="utf-8") as file:
                json.dump({"token": token_hash.hex(), "sessions": entries}, file)
            draft.replace(self._path)
        except OSError as err:
            log.warning("logins of browsers not written", error=type(err).__name__)


def _to_session(entry: Mapping[str, Any]) -> BrowserSession:
    return BrowserSession(
        seen=float(entry["seen"]),
        passkey=str(entry["passkey"]),
        began=float(entry.get("began", 0)),
        browser=str(entry.get("browser", "")),
    )


def login_link(url: str, code: str) -> str:
    """Return the link that signs a browser in; after the # it is sent to no server and stands in no
    log.
    """
    return f"{url}/login#code={code}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _OpenCode:
    """A code that was not used yet."""

    #: Until when it is valid, by the clock of `LoginCodes`.
    ends: float
    on_use: Callable[[], None] | None


class LoginCodes:
    """Codes of links that sign one browser in: each is valid for ten minutes and once.

    Only hashes are held, and only in memory: a restart ends all codes.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._open: dict[bytes, _OpenCode] = {}

    def create(self, on_use: Callable[[], None] | None = None) -> str:
        """Create a code of 192 random bits. on_use: called once the code is used up."""
        code = secrets.token_urlsafe(24)
        while len(self._open) >= MAX_LOGIN_CODES:
            del self._open[next(iter(self._open))]
        self._open[hash_secret(code)] = _OpenCode(
            ends=self._clock() + LOGIN_CODE_SECONDS, on_use=on_use
        )
        return code

    def redeem(self, code: str) -> bool:
        """Use up a code; return whether it was valid."""
        known = self._open.pop(hash_secret(code), None)
        if known is None:
            return False
        if known.on_use is not None:
            known.on_use()
        return known.ends > self._clock()

    def clear(self) -> None:
        """End all codes."""
        self._open.clear()
