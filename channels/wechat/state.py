"""What is kept of a WeChat account between two lives: its login, its place in the stream, and who may be written to."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

import structlog

from channels.base import Notebook
from channels.wechat.messages import USER, Json, sent_ms


@dataclass(frozen=True, slots=True, kw_only=True)
class ILinkCredentials:
    """What a login gives."""

    #: Secret.
    token: str
    #: Our account's id.
    bot: str
    #: Root of its API.
    base: str
    #: Who scanned.
    person: str = ""


log = structlog.get_logger(__name__)

# Messages a person can get after each one of theirs. Reported by users, promised by nobody.
MESSAGES_PER_WINDOW = 10
# Seconds after a person's last message in which they can be written to. Reported by users, promised by nobody.
WINDOW_SECONDS = 24 * 3600.0
# Seconds by which the platform's clock may be before ours; a wilder time would make every later message an old one.
MAX_CLOCK_AHEAD = 3600.0

_LOGIN, _CURSOR, _PEER, _CAPTION = "login", "cursor.", "peer.", "caption."


@dataclass(frozen=True, slots=True, kw_only=True)
class WechatPeer:
    """One person."""

    #: The newest context token.
    token: str
    #: Of their newest message, in ms of Unix time.
    sent: int = 0
    #: Of their newest message, in ms of Unix time.
    seq: int = 0
    #: When that reached us or was written, whichever is earlier, in unix seconds.
    got: float = 0.0
    #: Our sends since then.
    used: int = 0


class AccountState:
    """The notebook's pages in memory. Cursor and people belong to one bot id: another begins with none.

    allowance: messages that a person can get after each one of theirs.
    """

    def __init__(self, allowance: int = MESSAGES_PER_WINDOW) -> None:
        self.allowance = allowance
        self._notebook: Notebook | None = None
        self._pages: dict[str, str] | None = None
        self._opening = asyncio.Lock()
        self.login: ILinkCredentials | None = None
        self._peers: dict[str, WechatPeer] = {}

    def bind(self, notebook: Notebook) -> None:
        """Where the pages are kept."""
        self._notebook = notebook

    async def open(self) -> None:
        """Read everything, the first time. Raises RuntimeError: there is no notebook."""
        async with self._opening:
            if self._pages is not None:
                return
            if self._notebook is None:
                raise RuntimeError("the WeChat channel has no notebook: bind comes before run and send")
            self._pages = pages = await self._notebook.read()
            self._take(ILinkCredentials(**json.loads(pages[_LOGIN])) if pages.get(_LOGIN) else None)

    async def store_login(self, login: ILinkCredentials) -> None:
        """A login has brought these. Raises OSError when the store cannot be written."""
        await self._write({_LOGIN: json.dumps(asdict(login))})
        self._take(login)

    @property
    def cursor(self) -> str:
        """Where the stream of messages goes on, "" at its beginning."""
        return (self._pages or {}).get(_CURSOR + self._bot, "")

    def peer(self, person: str) -> WechatPeer | None:
        """What is known of a person, None for one who never wrote."""
        return self._peers.get(person)

    def left(self, person: str, now: float) -> int:
        """How many messages a person can still get before they write again. now: unix seconds."""
        peer = self._peers.get(person)
        if peer is None or not peer.token or now - peer.got >= WINDOW_SECONDS:
            return 0
        return max(0, self.allowance - peer.used)

    @property
    def peers(self) -> Mapping[str, WechatPeer]:
        """Everybody who wrote, by id."""
        return self._peers

    def heard(self, messages: Sequence[Json], cursor: str, now: float) -> dict[str, str]:
        """Pages to be kept with these messages, which came with this new cursor ("": the old one stays).

        People are known by their newest message from now on; a repeat of an older one changes nothing.
        """
        changed = {person for message in messages if (person := self._update_peer(message, now))}
        pages = {self._page(person): json.dumps(asdict(self._peers[person])) for person in changed}
        return pages | ({_CURSOR + self._bot: cursor} if cursor else {})

    def kept(self, pages: Mapping[str, str]) -> None:
        """These pages are in the store now."""
        assert self._pages is not None
        self._pages.update(pages)

    async def spend(self, person: str, token: str, all_of_it: bool = False) -> None:
        """A message went to them with this token; all_of_it: the platform takes no more before they write."""
        peer = self._peers.get(person)
        if peer is not None and peer.token == token:
            await self._change(person, replace(peer, used=self.allowance if all_of_it else peer.used + 1))

    async def renew(self, person: str, old: str, token: str) -> None:
        """The platform gave a new token in place of the old one."""
        peer = self._peers.get(person)
        if peer is not None and peer.token == old and token != old:
            await self._change(person, replace(peer, token=token))

    def captioned(self, client_key: str) -> bool:
        """Whether the words beside this file have gone out already."""
        return _CAPTION + client_key in (self._pages or {})

    async def caption(self, client_key: str, sent: bool) -> None:
        """They have (sent), or nobody needs to know any more."""
        if sent or self.captioned(client_key):
            await self._note({_CAPTION + client_key: "1" if sent else ""})

    @property
    def _bot(self) -> str:
        return self.login.bot if self.login else ""

    def _page(self, person: str) -> str:
        return f"{_PEER}{self._bot}.{person}"

    def _take(self, login: ILinkCredentials | None) -> None:
        self.login = login
        start = self._page("")
        found = {name: text for name, text in (self._pages or {}).items() if name.startswith(start)} if login else {}
        self._peers = {name.removeprefix(start): WechatPeer(**json.loads(text)) for name, text in found.items()}

    def _update_peer(self, message: Json, now: float) -> str:
        """The person who wrote it, if this is the newest of theirs."""
        try:
            person, token = str(message["from_user_id"]), str(message.get("context_token") or "")
            sent, seq = min(sent_ms(message), int((now + MAX_CLOCK_AHEAD) * 1000)), int(message.get("seq") or 0)
            from_person = message.get("message_type", USER) == USER and not message.get("group_id")
        except (KeyError, TypeError, ValueError, AttributeError):
            return ""
        known = self._peers.get(person)
        if not from_person:
            return ""
        if known is not None and (sent or seq):
            order, newest = (sent or known.sent, seq or known.seq), (known.sent, known.seq)
            if order <= newest:
                return person if order == newest else ""
        got = min(now, sent / 1000) if sent else now
        token = token or (known.token if known else "")
        self._peers[person] = WechatPeer(token=token, sent=sent, seq=seq, got=got)
        return person

    async def _change(self, person: str, peer: WechatPeer) -> None:
        self._peers[person] = peer
        await self._note({self._page(person): json.dumps(asdict(peer))})

    async def _note(self, pages: Mapping[str, str]) -> None:
        """Keep what the platform would tell us again: a failure to write it is no failure of the call behind it."""
        try:
            await self._write(pages)
        except OSError as err:
            log.warning("wechat pages not stored", count=len(pages), error=type(err).__name__)

    async def _write(self, pages: Mapping[str, str]) -> None:
        assert self._notebook is not None
        assert self._pages is not None
        self._pages.update({name: text for name, text in pages.items() if text})
        for name in [name for name, text in pages.items() if not text]:
            self._pages.pop(name, None)
        await self._notebook.write(pages)
