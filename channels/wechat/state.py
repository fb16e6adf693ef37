"""Stored state of a WeChat account: its login, its cursor, and how each person can be written
to.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

import structlog

from channels.base import Notebook
from channels.wechat.messages import USER, Json, sent_ms

log = structlog.get_logger(__name__)

# Both reported by users; the platform documents neither.
MESSAGES_PER_WINDOW = 10  # that a person can receive after each of their own
WINDOW_SECONDS = 24 * 3600.0  # after a person's last message, in which they can be written to
# By which the platform's clock may be ahead. A time further off would make every later message an
# old one.
MAX_CLOCK_AHEAD_SECONDS = 3600.0

# Names in the notebook.
_LOGIN, _CURSOR, _PEER, _CAPTION = "login", "cursor.", "peer.", "caption."


@dataclass(frozen=True, slots=True, kw_only=True)
class ILinkCredentials:
    """The result of a login. Stored as JSON by these field names."""

    #: Secret.
    token: str
    #: Id of the bot account.
    bot: str
    #: URL of its API.
    base: str
    #: Id of the person who scanned the QR code.
    person: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WechatPeer:
    """A person who has written. Stored as JSON by these field names."""

    #: Newest context token.
    token: str
    #: Of their newest message: ms of unix time, 0 for unknown.
    sent: int = 0
    #: Sequence number of their newest message, 0 for unknown.
    seq: int = 0
    #: When that was received or sent, whichever is earlier: unix seconds.
    got: float = 0.0
    #: Messages sent to them since then.
    used: int = 0


class AccountState:
    """The account's notebook, held in memory. Cursor and peers are those of the current bot id.

    Args:
        allowance: messages that a person can receive after each of their own.
    """

    def __init__(self, allowance: int = MESSAGES_PER_WINDOW) -> None:
        self.allowance = allowance
        self.login: ILinkCredentials | None = None
        #: Everyone who has written, by id.
        self.peers: dict[str, WechatPeer] = {}
        self._notebook: Notebook | None = None
        self._values: dict[str, str] | None = None
        self._opening = asyncio.Lock()

    def bind(self, notebook: Notebook) -> None:
        """Use this notebook from now on."""
        self._notebook = notebook

    async def open(self) -> None:
        """Read the notebook, the first time. Raises RuntimeError if there is none."""
        async with self._opening:
            if self._values is not None:
                return
            if self._notebook is None:
                raise RuntimeError(
                    "the WeChat channel has no notebook: bind comes before run and send"
                )
            self._values = values = await self._notebook.read()
            self._use_login(
                ILinkCredentials(**json.loads(values[_LOGIN])) if values.get(_LOGIN) else None
            )

    async def store_login(self, login: ILinkCredentials) -> None:
        """Store and use new credentials. Raises OSError when the store cannot be written."""
        await self._write({_LOGIN: json.dumps(asdict(login))})
        self._use_login(login)

    @property
    def cursor(self) -> str:
        """Position in the stream of messages, "" for its start."""
        return (self._values or {}).get(_CURSOR + self._bot, "")

    def remaining(self, person: str, now: float) -> int:
        """Return how many messages a person can receive before they write again. now: unix
        seconds.
        """
        peer = self.peers.get(person)
        if peer is None or not peer.token or now - peer.got >= WINDOW_SECONDS:
            return 0
        return max(0, self.allowance - peer.used)

    def update(self, messages: Sequence[Json], cursor: str, now: float) -> dict[str, str]:
        """Update peers by received messages; return the notebook values to store with them.

        Args:
            cursor: the one that came with the messages, "" if it has not changed.
            now: unix seconds.
        """
        changed = {person for message in messages if (person := self._update_peer(message, now))}
        values = {
            self._peer_name(person): json.dumps(asdict(self.peers[person])) for person in changed
        }
        return values | ({_CURSOR + self._bot: cursor} if cursor else {})

    def stored(self, values: Mapping[str, str]) -> None:
        """Use the values that `update` returned, once they are stored; the next poll starts at
        their cursor.
        """
        assert self._values is not None
        self._values.update(values)

    async def count_send(self, person: str, token: str, *, all_used: bool = False) -> None:
        """Count a message sent with this token. all_used: the platform accepts no more before they
        write.
        """
        peer = self.peers.get(person)
        if peer is not None and peer.token == token:
            await self._store_peer(
                person, replace(peer, used=self.allowance if all_used else peer.used + 1)
            )

    async def replace_token(self, person: str, old: str, token: str) -> None:
        """Store a context token that the platform returned in place of the old one."""
        peer = self.peers.get(person)
        if peer is not None and peer.token == old and token != old:
            await self._store_peer(person, replace(peer, token=token))

    def is_caption_sent(self, client_key: str) -> bool:
        """Whether the caption of this file has been sent."""
        return _CAPTION + client_key in (self._values or {})

    async def set_caption_sent(self, client_key: str, sent: bool) -> None:
        """Record that a file's caption was sent, or delete that record."""
        if sent or self.is_caption_sent(client_key):
            await self._write_best_effort({_CAPTION + client_key: "1" if sent else ""})

    @property
    def _bot(self) -> str:
        return self.login.bot if self.login else ""

    def _peer_name(self, person: str) -> str:
        return f"{_PEER}{self._bot}.{person}"

    def _use_login(self, login: ILinkCredentials | None) -> None:
        self.login = login
        start = self._peer_name("")
        self.peers = {
            name.removeprefix(start): WechatPeer(**json.loads(text))
            for name, text in (self._values or {}).items()
            if login and name.startswith(start)
        }

    def _update_peer(self, message: Json, now: float) -> str:
        """Update the sender if this is their newest message, and return their id; "" if nothing
        changed.
        """
        parsed = _parse_sender(message, now)
        if parsed is None:
            return ""
        person, token, sent, seq = parsed
        known = self.peers.get(person)
        if known is not None and (sent or seq):
            order, newest = (sent or known.sent, seq or known.seq), (known.sent, known.seq)
            if order <= newest:
                return person if order == newest else ""
        got = min(now, sent / 1000) if sent else now
        token = token or (known.token if known else "")
        self.peers[person] = WechatPeer(token=token, sent=sent, seq=seq, got=got)
        return person

    async def _store_peer(self, person: str, peer: WechatPeer) -> None:
        self.peers[person] = peer
        await self._write_best_effort({self._peer_name(person): json.dumps(asdict(peer))})

    async def _write_best_effort(self, values: Mapping[str, str]) -> None:
        """Write what the platform would report again; a failure must not fail the send that led to
        it.
        """
        try:
            await self._write(values)
        except OSError as err:
            log.warning("wechat pages not stored", count=len(values), error=type(err).__name__)

    async def _write(self, values: Mapping[str, str]) -> None:
        assert self._notebook is not None
        assert self._values is not None
        for name, text in values.items():
            if text:
                self._values[name] = text
            else:
                self._values.pop(name, None)
        await self._notebook.write(values)


def _parse_sender(message: Json, now: float) -> tuple[str, str, int, int] | None:
    """Return the sender's id and context token, when it was sent (ms) and its number; None if no
    person sent it.
    """
    try:
        if message.get("message_type", USER) != USER or message.get("group_id"):
            return None
        latest_ms = int((now + MAX_CLOCK_AHEAD_SECONDS) * 1000)
        person, token = str(message["from_user_id"]), str(message.get("context_token") or "")
        return person, token, min(sent_ms(message), latest_ms), int(message.get("seq") or 0)
    except (KeyError, TypeError, ValueError, AttributeError):
        return None
