"""The world behind the iLink emulator: QR codes, people and their phones, what waits for the bot,
what people see.
"""

import base64
import hashlib
from dataclasses import dataclass, field
from typing import Any, Literal

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from tests.emulators.kit import PlatformWorld

Json = dict[str, Any]
State = Literal[
    "wait",
    "scaned",
    "need_verifycode",
    "verify_code_blocked",
    "expired",
    "binded_redirect",
    "confirmed",
]
PERSON = "abc1@im.wechat"
KINDS = {
    "image": (2, "image_item"),
    "voice": (3, "voice_item"),
    "file": (4, "file_item"),
    "video": (5, "video_item"),
}


@dataclass(slots=True, kw_only=True)
class Knobs:
    """What the platform's pages leave open, or what a test wants of it. Times in seconds.

    hold: how long a poll is held; longpoll_ms: said in its answer, 0 nothing. digits: asked for
    after a scan, "" none; tries: wrong ones until the code is blocked. code_life: of a QR code.
    redirect: an account that lives at the second port. absent_ret: success of a poll without codes.
    empty_cursor: polls answer no new cursor. success: body of a send that was taken. expired_in:
    where -14 stands. quota, window: sends after each message of a person; burst, block: sends in a
    second, and how long none is taken after more (0: no such limit). check_token: only a person's
    newest token holds. dedup: a second message with a known client_id is swallowed. full_urls:
    files are named by whole addresses. fresh_token: getconfig gives a new token. evict: a login
    ends the one before it. hasty: an empty poll is answered at once.
    """

    hold: float = 35.0
    longpoll_ms: int = 0
    digits: str = ""
    tries: int = 3
    code_life: float = 300.0
    redirect: bool = False
    absent_ret: bool = False
    empty_cursor: bool = False
    success: Literal["{}", "ret"] = "{}"
    expired_in: Literal["ret", "errcode"] = "ret"
    bot_id: str = "bot9@im.bot"
    quota: int = 10
    window: float = 86_400.0
    burst: int = 3
    block: float = 15.0
    text_limit: int = 4000
    check_token: bool = True
    dedup: bool = False
    full_urls: bool = False
    fresh_token: bool = False
    evict: bool = True
    hasty: bool = False


@dataclass(slots=True, kw_only=True)
class Code:
    """A QR code. told: the state that the bot was told last; wrong: digits that were not these;
    moved: at port two.
    """

    id: str
    born: float
    state: State = "wait"
    told: str = ""
    wrong: int = 0
    moved: bool = False
    token: str = ""


@dataclass(slots=True, kw_only=True)
class Person:
    """Somebody who can write. token: newest context token; used: the bot's sends since they wrote
    at `wrote`.
    """

    id: str
    token: str = ""
    wrote: float = 0.0
    used: int = 0
    sends: list[float] = field(default_factory=list)
    blocked_until: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One message on a person's phone. data: of a file, opened; kind: text, image, file, video,
    voice.
    """

    person: str
    kind: str
    text: str
    client_id: str
    at: float
    name: str = ""
    data: bytes = b""


class World(PlatformWorld):
    """State only; the server works on it."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__(seed)
        self.knobs = Knobs()
        self.codes: list[Code] = []
        self.tokens: dict[str, str] = {}
        self.people: dict[str, Person] = {}
        self.streams: dict[str, list[Json]] = {}
        self.acked: dict[str, int] = {}
        self.visible: list[Seen] = []
        self.typing: list[tuple[str, int]] = []
        self.tickets: dict[str, str] = {}
        self.files: dict[str, bytes] = {}
        self.places: dict[str, Json] = {}
        self.notified: list[str] = []
        self.cdn_url = ""
        self._seq = 811

    def token(self, kind: str) -> str:
        return f"{kind}-{self.random.getrandbits(64):016x}"

    # -- the owner's phone ------------------------------------------------------------------------

    def code(self) -> Code:
        """The newest QR code."""
        return self.codes[-1]

    def scan(self) -> None:
        """The owner holds the phone before the newest code."""
        code = self.code()
        code.moved = self.knobs.redirect
        code.state = "need_verifycode" if self.knobs.digits else "scaned"
        self.notify()

    def confirm(self) -> None:
        """The owner taps "confirm"."""
        self.code().state = "confirmed"
        self.notify()

    def expire(self) -> None:
        """The newest code has grown too old."""
        self.code().state = "expired"
        self.notify()

    def bound(self) -> None:
        """The owner scans for a bot that is bound here already."""
        self.code().state = "binded_redirect"
        self.notify()

    def grant(self) -> Json:
        """A login without a phone: what a confirmed code would have said, without its base."""
        if self.knobs.evict:
            self.tokens = {
                token: bot for token, bot in self.tokens.items() if bot != self.knobs.bot_id
            }
        token = self.token("tok")
        self.tokens[token] = self.knobs.bot_id
        return {"bot_token": token, "ilink_bot_id": self.knobs.bot_id, "ilink_user_id": PERSON}

    def expire_session(self) -> None:
        """Every login is over."""
        self.tokens.clear()
        self.notify()

    # -- people -----------------------------------------------------------------------------------

    def person(self, id: str = PERSON) -> Person:
        return self.people.setdefault(id, Person(id=id))

    def say(self, text: str, person: str = PERSON, **fields: Any) -> Json:
        """Somebody writes. fields: of the message, beside or in place of the usual; None takes one
        away.
        """
        return self.post(person, [{"type": 1, "text_item": {"text": text}}], **fields)

    def post(self, person: str, items: list[Json], **fields: Any) -> Json:
        """Somebody sends these items; a new context token comes with them."""
        one = self.person(person)
        one.token, one.wrote, one.used = self.token("ctx"), self.now(), 0
        self._seq += 1
        usual: Json = {
            "seq": self._seq,
            "message_id": 7_400_000_000_000_000_000 + self._seq,
            "client_id": self.token("c"),
            "from_user_id": person,
            "to_user_id": self.knobs.bot_id,
            "create_time_ms": int(self.now() * 1000),
            "session_id": "s1",
            "message_type": 1,
            "message_state": 2,
            "context_token": one.token,
            "item_list": items,
        }
        message = {name: value for name, value in (usual | fields).items() if value is not None}
        self.stream().append(message)
        self.notify()
        return message

    def attach(
        self,
        data: bytes,
        kind: str = "file",
        key: str = "hextext",
        person: str = PERSON,
        **held: Any,
    ) -> Json:
        """Somebody sends a file. key: how it comes: hex, raw, hextext, none. held: further fields
        of the item.
        """
        secret = self.random.randbytes(16)
        param = self.token("param")
        self.files[param] = data if key == "none" else crypt(data, secret)
        media: Json = {"encrypt_query_param": param, "encrypt_type": 1}
        if self.knobs.full_urls:
            media = {"full_url": f"{self.cdn_url}/download?encrypted_query_param={param}"}
        if key in ("raw", "hextext"):
            media["aes_key"] = base64.b64encode(
                secret if key == "raw" else secret.hex().encode()
            ).decode()
        number, holder = KINDS[kind]
        item: Json = {"media": media} | ({"aeskey": secret.hex()} if key == "hex" else {})
        if kind == "file":
            item |= {
                "file_name": "notes.txt",
                "len": str(len(data)),
                "md5": hashlib.md5(data).hexdigest(),
            }
        return self.post(person, [{"type": number, holder: item | held}])

    def repeat(self, message: Json | None = None) -> None:
        """A message, the newest if none is named, comes once more."""
        self.stream().append(message or self.stream()[-1])
        self.notify()

    def stream(self) -> list[Json]:
        return self.streams.setdefault(self.knobs.bot_id, [])

    def sent(self, person: str = PERSON) -> list[Seen]:
        """What a person sees of us, in order."""
        return [seen for seen in self.visible if seen.person == person]

    def acks(self) -> int:
        """How many messages of the stream the bot's cursor has passed."""
        return self.acked.get(self.knobs.bot_id, 0)


def crypt(data: bytes, key: bytes) -> bytes:
    pad = 16 - len(data) % 16
    sealing = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
    return sealing.update(data + bytes([pad]) * pad) + sealing.finalize()


def decrypt(data: bytes, key: bytes) -> bytes:
    opening = Cipher(algorithms.AES(key), modes.ECB()).decryptor()
    plain = opening.update(data) + opening.finalize()
    return plain[: -plain[-1]]
