"""The official account's API as the emulator answers it: tokens, customer-service messages,
files.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from tests.emulators.mp_world import Line, Refusal, World

LIVES = 7200.0
BEFORE_END = 300.0
FORCED_A_DAY = 20
FORCED_APART = 30.0
LONGEST_TEXT = 2048
PICTURE = 10 * 1024 * 1024
MAGIC = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF8", b"BM")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


class Tokens:
    """Tokens of one of the two endpoints: the newest, and those that still hold for a while."""

    def __init__(self, world: World, name: str) -> None:
        self._world = world
        self._name = name
        self.newest = ""
        self.ends: dict[str, float] = {}
        self.dead: set[str] = set()
        """Refused, though the endpoint goes on giving them."""
        self.issued = 0

    def new(self, overlap: float) -> None:
        """Another token; the former holds for `overlap` seconds more."""
        if self.newest:
            self.ends[self.newest] = min(self.ends[self.newest], self._world.now() + overlap)
        self.issued += 1
        self.newest = f"{self._name}{self.issued}_{self._world.random.getrandbits(600):0150x}"
        self.ends[self.newest] = self._world.now() + LIVES

    def left(self) -> float:
        return self.ends.get(self.newest, 0.0) - self._world.now()

    def revoke(self) -> None:
        """None of them holds any longer, whatever was said of their end; another is given when
        asked for.
        """
        self.ends.clear()
        self.newest = ""


class MpApi:
    """Methods by their path below /cgi-bin/. Answers are JSON objects, or bytes with a media
    type.
    """

    def __init__(self, world: World, app_id: str, secret: str) -> None:
        self.world = world
        self.app_id = app_id
        self.secret = secret
        self.root = ""
        self.stable = Tokens(world, "s")
        self.classic = Tokens(world, "c")
        self._forced: list[float] = []
        self.methods: dict[str, Callable[..., Any]] = {
            "stable_token": self.stable_token,
            "token": self.token,
            "message/custom/send": self.send,
            "message/custom/typing": self.typing,
            "media/upload": self.upload,
            "media/get": self.get,
            "clear_quota": lambda query, raw: {"errcode": 0, "errmsg": "ok"},
        }

    def call(
        self, path: str, query: Mapping[str, str], raw: bytes, upload: tuple[str, bytes] | None
    ) -> Any:
        """One call. Raises Refusal."""
        method = self.methods.get(path)
        if method is None:
            raise Refusal(40066, "invalid url")
        if path not in ("stable_token", "token"):
            self._known(query.get("access_token", ""))
            if not self.world.verified:
                raise Refusal(48001, "api unauthorized")
        return method(query, upload) if path == "media/upload" else method(query, raw)

    def _known(self, token: str) -> None:
        if not token:
            raise Refusal(41001, "access_token missing")
        for tokens in (self.stable, self.classic):
            if token in tokens.dead:
                break
            if tokens.ends.get(token, 0.0) > self.world.now():
                return
            if token in tokens.ends:
                raise Refusal(42001, "access_token expired")
        raise Refusal(40001, "invalid credential, access_token is invalid or not latest")

    def _credentials(self, app_id: object, secret: object) -> None:
        if app_id != self.app_id:
            raise Refusal(40013, "invalid appid")
        if secret != self.secret:
            raise Refusal(40125, "invalid appsecret")
        if not self.world.whitelisted:
            raise Refusal(40164, "invalid ip 127.0.0.1, not in whitelist")

    def stable_token(self, query: Mapping[str, str], raw: bytes) -> dict[str, Any]:
        given = _json(raw)
        if given.get("grant_type") != "client_credential":
            raise Refusal(40002, "invalid grant_type")
        self._credentials(given.get("appid"), given.get("secret"))
        now = self.world.now()
        if given.get("force_refresh") is True:
            recent = [at for at in self._forced if now - at < 86_400]
            if len(recent) >= FORCED_A_DAY or (recent and now - recent[-1] < FORCED_APART):
                raise Refusal(45011, "api minute-quota reach limit, must slower, retry next minute")
            self._forced = [*recent, now]
            self.stable.new(0.0)
        elif self.stable.left() < BEFORE_END:
            self.stable.new(BEFORE_END)
        return {"access_token": self.stable.newest, "expires_in": int(self.stable.left())}

    def token(self, query: Mapping[str, str], raw: bytes) -> dict[str, Any]:
        if query.get("grant_type") != "client_credential":
            raise Refusal(40002, "invalid grant_type")
        self._credentials(query.get("appid"), query.get("secret"))
        self.classic.new(BEFORE_END)
        return {"access_token": self.classic.newest, "expires_in": int(LIVES)}

    def send(self, query: Mapping[str, str], raw: bytes) -> dict[str, Any]:
        given = _json(_literal(raw))
        person, kind = given.get("touser"), given.get("msgtype")
        if not isinstance(person, str) or person not in self.world.people:
            raise Refusal(40003, "invalid openid")
        content = given.get(kind) if isinstance(kind, str) else None
        if not isinstance(content, dict):
            raise Refusal(40008, "invalid message type")
        line = self._line(str(kind), content)
        self.world.spend(person)
        self.world.show(person, line)
        return {"errcode": 0, "errmsg": "ok"}

    def _line(self, kind: str, content: dict[str, Any]) -> Line:
        if kind == "image":
            self.world.file(str(content.get("media_id")))
            return Line(
                who="account", text="", by="service", kind="image", media_id=content["media_id"]
            )
        if kind != "text":
            raise Refusal(40008, "invalid message type")
        text = content.get("content")
        if not isinstance(text, str) or not text:
            raise Refusal(44004, "empty content")
        if len(text.encode()) > LONGEST_TEXT:
            raise Refusal(45002, "content size out of limit")
        return Line(who="account", text=text, by="service")

    def typing(self, query: Mapping[str, str], raw: bytes) -> dict[str, Any]:
        given = _json(raw)
        if given.get("command") not in ("Typing", "CancelTyping"):
            raise Refusal(45072, "invalid command")
        if given.get("touser") not in self.world.people:
            raise Refusal(40003, "invalid openid")
        self.world.typed.append((given["touser"], given["command"]))
        self.world.notify()
        return {"errcode": 0, "errmsg": "ok"}

    def upload(self, query: Mapping[str, str], file: tuple[str, bytes] | None) -> dict[str, Any]:
        if query.get("type") != "image":
            raise Refusal(40004, "invalid media type")
        if file is None or not file[0] or not file[1]:
            raise Refusal(41005, "media data missing")
        name, data = file
        if len(data) > PICTURE:
            raise Refusal(40009, "invalid image size")
        if not data.startswith(MAGIC) or "." not in name:
            raise Refusal(40113, "unsupported file type")
        media_id = self.world.keep(data, "image/png")
        return {"type": "image", "media_id": media_id, "created_at": int(self.world.now())}

    def get(self, query: Mapping[str, str], raw: bytes) -> Any:
        file = self.world.file(query.get("media_id", ""))
        if file.kind == "video":
            return {"video_url": f"{self.root}/vod/{query['media_id']}"}
        return file.data, file.media_type


def _json(raw: bytes) -> dict[str, Any]:
    try:
        found = json.loads(raw)
    except ValueError as err:
        raise Refusal(47001, "data format error") from err
    if not isinstance(found, dict):
        raise Refusal(47001, "data format error")
    return found


def _literal(raw: bytes) -> bytes:
    r"""\u escapes are not read by the platform: people see them as they stand."""
    text = raw.decode("utf-8", "replace")
    return _ESCAPE.sub(lambda found: r"\\u" if found[1] == "u" else found[0], text).encode()
