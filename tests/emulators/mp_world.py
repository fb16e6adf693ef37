"""What the official account's emulator knows: people and what they see, messages on their way,
allowances, files.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

from tests.emulators.kit import PlatformWorld

FAILURE = "该公众号暂时无法提供服务，请稍后再试"
HOURS_48 = 48 * 3600.0
MINUTE = 60.0
MEDIA_LIVES = 3 * 86_400.0
BY_EVENT = {"subscribe": 3, "SCAN": 3, "CLICK": 3}

State = Literal["sending", "confirmed", "failed"]


@dataclass(slots=True, kw_only=True)
class Line:
    """Something in a chat. who: person, account, or platform (a notice of its own). by: passive or
    service.
    """

    who: str
    text: str
    by: str = ""
    kind: str = "text"
    media_id: str = ""


@dataclass(slots=True, kw_only=True)
class Try:
    """One attempt at bringing a message: how it ended ("" while it goes on), and the status it was
    answered with.
    """

    outcome: str = ""
    status: int = 0


@dataclass(slots=True, kw_only=True)
class Push:
    """One message or event of a person. key: MsgId, or what stands for it with events."""

    person: str
    key: str
    fields: dict[str, str]
    state: State = "sending"
    tries: list[Try] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class Person:
    """allowances: until when, how many more. here: they follow the account."""

    openid: str
    here: bool = True
    written: list[float] = field(default_factory=lambda: [0.0, 0])
    events: list[list[float]] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class File:
    """A temporary file on the platform."""

    data: bytes
    media_type: str
    ends: float
    kind: str = "image"


class Refusal(Exception):
    """An error as the platform names it."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


class World(PlatformWorld):
    """allowed: customer-service messages after each of a person's; verified: the account has that
    API.

    whitelisted: our address is on the account's list.
    """

    def __init__(
        self, *, original: str = "gh_lab", allowed: int = 5, verified: bool = True, seed: int = 0
    ) -> None:
        super().__init__(seed)
        self.original = original
        self.allowed = allowed
        self.verified = verified
        self.whitelisted = True
        self.people: dict[str, Person] = {}
        self.pushes: list[Push] = []
        self.files: dict[str, File] = {}
        self.typed: list[tuple[str, str]] = []
        self.answered: set[str] = set()
        self._number = 24_000_000_000_000_000 + self.random.randrange(10**9)

    def person(self, openid: str) -> Person:
        return self.people.setdefault(openid, Person(openid=openid))

    # -- what people do ---------------------------------------------------------------------------

    def written(self, openid: str, kind: str, shown: str, fields: dict[str, str]) -> Push:
        """A person sends something; it is on its way from now on."""
        person = self.person(openid)
        self._number += self.random.randrange(1, 1000)
        person.written = [self.now() + HOURS_48, self.allowed]
        person.lines.append(Line(who="person", text=shown, kind=kind))
        return self._push(
            openid, str(self._number), {"MsgType": kind, **fields, "MsgId": str(self._number)}
        )

    def event(self, openid: str, name: str, **fields: str) -> Push:
        """Something a person does that is no message."""
        person = self.person(openid)
        if name in ("subscribe", "unsubscribe"):
            person.here = name == "subscribe"
        if name in BY_EVENT:
            person.events.append([self.now() + MINUTE, BY_EVENT[name]])
        key = f"{openid}.{int(self.now())}.{name}.{fields.get('EventKey', '')}"
        return self._push(openid, key, {"MsgType": "event", "Event": name, **fields})

    def _push(self, openid: str, key: str, fields: dict[str, str]) -> Push:
        head = {
            "ToUserName": self.original,
            "FromUserName": openid,
            "CreateTime": str(int(self.now())),
        }
        push = Push(person=openid, key=key, fields=head | fields)
        self.pushes.append(push)
        self.notify()
        return push

    # -- what comes of it -------------------------------------------------------------------------

    def show(self, openid: str, line: Line) -> None:
        self.person(openid).lines.append(line)
        self.notify()

    def spend(self, openid: str) -> None:
        """Use up one of what the account may send unasked. Raises Refusal."""
        person = self.people.get(openid)
        if person is None:
            raise Refusal(40003, "invalid openid")
        windows = [window for window in (person.written, *person.events) if window[0] > self.now()]
        if not person.here or not windows:
            raise Refusal(45015, "response out of time limit or subscription is canceled")
        free = [window for window in windows if window[1] > 0]
        if not free:
            raise Refusal(45047, "out of response count limit")
        free[0][1] -= 1

    def keep(self, data: bytes, media_type: str, kind: str = "image") -> str:
        """A file on the platform, for three days; its media_id."""
        media_id = f"m{self.random.getrandbits(120):030x}"
        self.files[media_id] = File(
            data=data, media_type=media_type, ends=self.now() + MEDIA_LIVES, kind=kind
        )
        return media_id

    def file(self, media_id: str) -> File:
        """Raises Refusal."""
        found = self.files.get(media_id)
        if found is None or found.ends <= self.now():
            raise Refusal(40007, "invalid media_id")
        return found

    # -- what a test looks at ---------------------------------------------------------------------

    def sent(self, openid: str) -> list[str]:
        """What the person sees of the account, in order."""
        return [
            line.text
            for line in self.person(openid).lines
            if line.who == "account" and line.kind == "text"
        ]

    def notices(self, openid: str) -> list[str]:
        """What the platform itself told the person."""
        return [line.text for line in self.person(openid).lines if line.who == "platform"]

    def pictures(self, openid: str) -> list[bytes]:
        """The pictures the person was sent."""
        lines = [
            line
            for line in self.person(openid).lines
            if line.who == "account" and line.kind == "image"
        ]
        return [self.files[line.media_id].data for line in lines]

    def acks(self) -> list[str]:
        """Keys of what the account confirmed, repeats included."""
        return [push.key for push in self.pushes if push.state == "confirmed"]

    def transcript(self, openid: str) -> list[dict[str, Any]]:
        """The whole chat."""
        return [
            {"who": line.who, "text": line.text, "by": line.by}
            for line in self.person(openid).lines
        ]
