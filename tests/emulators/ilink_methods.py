"""What each call of the iLink API does to the emulator's world, and the checks it goes through."""

import base64
import binascii
import re
from typing import Any

from tests.emulators.ilink_world import Code, Json, Person, Seen, World, decrypt

BAD_ARGUMENT, LIMITED, EXPIRED = -3, -2, -14
_FIELDS: dict[str, dict[str, type]] = {
    "get_bot_qrcode": {"local_token_list": list},
    "getupdates": {"get_updates_buf": str},
    "sendmessage": {"msg": dict},
    "getconfig": {"ilink_user_id": str, "context_token": str},
    "sendtyping": {"ilink_user_id": str, "typing_ticket": str, "status": int},
    "getuploadurl": {
        "filekey": str,
        "media_type": int,
        "to_user_id": str,
        "rawsize": int,
        "rawfilemd5": str,
        "filesize": int,
        "aeskey": str,
    },
    "msg/notifystart": {},
    "msg/notifystop": {},
}
_MESSAGE: dict[str, type] = {
    "from_user_id": str,
    "to_user_id": str,
    "client_id": str,
    "message_type": int,
    "message_state": int,
    "context_token": str,
    "item_list": list,
}


class Refusal(Exception):
    """An answer with a code that is not 0."""

    def __init__(self, code: int, words: str = "") -> None:
        super().__init__(words)
        self.code = code


def check_headers(headers: Any, post: bool) -> None:
    """Raise Refusal for a header that is missing or of the wrong form."""
    if headers.get("iLink-App-Id") != "bot" or not re.fullmatch(
        r"\d+", headers.get("iLink-App-ClientVersion", "")
    ):
        raise Refusal(EXPIRED, "no app")
    if not post:
        return
    if headers.get("Content-Type", "").partition(";")[0] != "application/json":
        raise Refusal(BAD_ARGUMENT, "Content-Type is not application/json")
    if headers.get("AuthorizationType") != "ilink_bot_token":
        raise Refusal(BAD_ARGUMENT, "AuthorizationType is not ilink_bot_token")
    try:
        number = base64.b64decode(headers.get("X-WECHAT-UIN", ""), validate=True).decode("ascii")
    except (binascii.Error, UnicodeDecodeError):
        number = ""
    if not number.isdigit() or str(int(number)) != number or int(number) >= 2**32:
        raise Refusal(BAD_ARGUMENT, "X-WECHAT-UIN is not base64 of a decimal uint32")


class Methods:
    """The calls, by their path after /ilink/bot/."""

    def __init__(self, world: World) -> None:
        self.world = world

    def check(self, path: str, body: Any, token: str) -> str:
        """The bot that calls, "" before login. Raises Refusal."""
        if not isinstance(body, dict):
            raise Refusal(BAD_ARGUMENT, "the body is no object")
        base = body.get("base_info")
        if not isinstance(base, dict) or not isinstance(base.get("channel_version"), str):
            raise Refusal(BAD_ARGUMENT, "base_info.channel_version")
        agent = base.get("bot_agent", "")
        if not isinstance(agent, str) or not agent.isascii() or len(agent) > 256:
            raise Refusal(BAD_ARGUMENT, "base_info.bot_agent")
        _typed(body, _FIELDS[path])
        if path == "get_bot_qrcode":
            return ""
        if token not in self.world.tokens:
            raise Refusal(EXPIRED, "session timeout")
        return self.world.tokens[token]

    def call(self, path: str, body: Json, bot: str) -> Json:
        """Do it; the answer. A poll is not done here."""
        match path:
            case "get_bot_qrcode":
                return self.new_code(body["local_token_list"])
            case "sendmessage":
                return self._send(body["msg"])
            case "getconfig":
                return self._config(body)
            case "sendtyping":
                return self._type(body)
            case "getuploadurl":
                return self._upload(body)
        self.world.notified.append(path.removeprefix("msg/"))
        return {"ret": 0, "errmsg": ""}

    # -- login ------------------------------------------------------------------------------------

    def new_code(self, tokens: list[str]) -> Json:
        if len(tokens) > 10 or not all(isinstance(token, str) and token for token in tokens):
            raise Refusal(BAD_ARGUMENT, "local_token_list")
        code = Code(id=f"qr-{len(self.world.codes) + 77}", born=self.world.now())
        self.world.codes.append(code)
        return {"qrcode": code.id, "qrcode_img_content": f"https://weixin.example/x/{code.id}"}

    def status(self, id: str, digits: str, second: bool, hosts: tuple[str, str]) -> Json | None:
        """What has become of a code; None: nothing new, the call is to be held. hosts: base, and
        the second port's.
        """
        code = next((code for code in self.world.codes if code.id == id), None)
        if code is None:
            raise Refusal(BAD_ARGUMENT, "qrcode")
        if self.world.now() - code.born > self.world.knobs.code_life and code.state != "confirmed":
            code.state = "expired"
        if code.moved and not second:
            return {"status": "scaned_but_redirect", "redirect_host": hosts[1]}
        if code.state == "need_verifycode" and digits:
            self._try(code, digits)
        elif code.state in ("wait", code.told):
            return None
        code.told = code.state
        if code.state == "confirmed":
            return {"status": "confirmed", "baseurl": hosts[0], **self.world.grant()}
        return {"status": code.state}

    def _try(self, code: Code, digits: str) -> None:
        if digits == self.world.knobs.digits:
            code.state = "scaned"
            return
        code.wrong += 1
        if code.wrong >= self.world.knobs.tries:
            code.state = "verify_code_blocked"

    # -- hearing ----------------------------------------------------------------------------------

    def updates(self, bot: str, cursor: str) -> Json | None:
        """What stands behind the cursor, which confirms what stands before it; None: nothing."""
        place = self._place(bot, cursor)
        stream = self.world.streams.setdefault(bot, [])
        self.world.acked[bot] = max(self.world.acked.get(bot, 0), place)
        messages = stream[place:]
        return self.poll_answer(bot, cursor, messages) if messages else None

    def poll_answer(self, bot: str, cursor: str, messages: list[Json]) -> Json:
        """The answer to a poll; without messages the old cursor comes back."""
        knobs = self.world.knobs
        after = self._place(bot, cursor) + len(messages)
        new = base64.b64encode(f"{bot}|{after}".encode()).decode() if messages else cursor
        answer: Json = {"get_updates_buf": "" if knobs.empty_cursor else new, "msgs": messages}
        if not knobs.absent_ret:
            answer |= {"ret": 0, "errcode": 0, "errmsg": ""}
        if knobs.longpoll_ms:
            answer["longpolling_timeout_ms"] = knobs.longpoll_ms
        return answer

    def _place(self, bot: str, cursor: str) -> int:
        if not cursor:
            return 0
        try:
            owner, _, place = base64.b64decode(cursor, validate=True).decode().rpartition("|")
        except (binascii.Error, UnicodeDecodeError) as err:
            raise Refusal(BAD_ARGUMENT, "get_updates_buf") from err
        if owner != bot or not place.isdigit():
            raise Refusal(BAD_ARGUMENT, "get_updates_buf of another bot")
        return int(place)

    # -- speaking ---------------------------------------------------------------------------------

    def _send(self, message: Json) -> Json:
        _typed(message, _MESSAGE)
        if (
            message["message_type"] != 2
            or message["message_state"] not in (1, 2)
            or not message["client_id"]
        ):
            raise Refusal(BAD_ARGUMENT, "msg")
        person = self.world.people.get(message["to_user_id"])
        if person is None:
            raise Refusal(BAD_ARGUMENT, "to_user_id")
        seen = self._seen(person, message)
        self._limits(person, message["context_token"])
        known = any(one.client_id == seen.client_id for one in self.world.visible)
        if not (known and self.world.knobs.dedup):
            self.world.visible.append(seen)
        return {} if self.world.knobs.success == "{}" else {"ret": 0}

    def _limits(self, person: Person, token: str) -> None:
        knobs, now = self.world.knobs, self.world.now()
        if now < person.blocked_until:
            raise Refusal(LIMITED, "rate limited")
        person.sends = [at for at in person.sends if now - at < 1]
        if knobs.burst and len(person.sends) >= knobs.burst:
            person.blocked_until = now + knobs.block
            raise Refusal(LIMITED, "rate limited")
        if now - person.wrote > knobs.window:
            raise Refusal(LIMITED, "prepare failed")
        if person.used >= knobs.quota or (knobs.check_token and token != person.token):
            raise Refusal(LIMITED)
        person.sends.append(now)
        person.used += 1

    def _seen(self, person: Person, message: Json) -> Seen:
        items = message["item_list"]
        if len(items) != 1 or not isinstance(items[0], dict):
            raise Refusal(BAD_ARGUMENT, "item_list takes one item")
        item = items[0]
        known: dict[str, Any] = {
            "person": person.id,
            "client_id": message["client_id"],
            "at": self.world.now(),
        }
        if item.get("type") == 1:
            text = (item.get("text_item") or {}).get("text")
            if not isinstance(text, str) or not text or len(text) > self.world.knobs.text_limit:
                raise Refusal(BAD_ARGUMENT, "text_item.text")
            return Seen(kind="text", text=text, **known)
        kind = {2: "image", 3: "voice", 4: "file", 5: "video"}.get(item.get("type", 0), "")
        held = item.get(f"{kind}_item")
        if not isinstance(held, dict):
            raise Refusal(BAD_ARGUMENT, "item")
        data = self._open(held.get("media"))
        if kind == "file" and (held.get("len") != str(len(data)) or not held.get("file_name")):
            raise Refusal(BAD_ARGUMENT, "file_item.len is the size as text, file_name is not empty")
        if kind == "image" and held.get("mid_size") != (len(data) // 16 + 1) * 16:
            raise Refusal(BAD_ARGUMENT, "image_item.mid_size is the size of the cipher")
        return Seen(kind=kind, text="", name=held.get("file_name", ""), data=data, **known)

    def _open(self, media: Any) -> bytes:
        """The bytes that a phone would get: by the name that the upload gave, with the key that
        stands beside it.
        """
        if not isinstance(media, dict) or media.get("encrypt_query_param") not in self.world.files:
            raise Refusal(BAD_ARGUMENT, "media.encrypt_query_param")
        try:
            text = base64.b64decode(str(media.get("aes_key")), validate=True).decode("ascii")
            key = bytes.fromhex(text)
        except (binascii.Error, ValueError) as err:
            raise Refusal(BAD_ARGUMENT, "media.aes_key is base64 of 32 hexadecimal signs") from err
        if len(key) != 16 or media.get("encrypt_type") != 1:
            raise Refusal(BAD_ARGUMENT, "media")
        return decrypt(self.world.files[media["encrypt_query_param"]], key)

    def _config(self, body: Json) -> Json:
        person = self.world.person(body["ilink_user_id"])
        ticket = self.world.tickets.setdefault(person.id, self.world.token("ticket"))
        answer: Json = {"ret": 0, "typing_ticket": ticket}
        if self.world.knobs.fresh_token:
            person.token = self.world.token("ctx")
            answer["context_token"] = person.token
        return answer

    def _type(self, body: Json) -> Json:
        if self.world.tickets.get(body["ilink_user_id"]) != body["typing_ticket"] or body[
            "status"
        ] not in (1, 2):
            raise Refusal(BAD_ARGUMENT, "typing_ticket")
        self.world.typing.append((body["ilink_user_id"], body["status"]))
        return {"ret": 0}

    def _upload(self, body: Json) -> Json:
        whole = (body["rawsize"] // 16 + 1) * 16
        hexes = [
            re.fullmatch(r"[0-9a-f]{32}", body[name])
            for name in ("filekey", "aeskey", "rawfilemd5")
        ]
        if not all(hexes) or body["filesize"] != whole or body["media_type"] not in (1, 2, 3, 4):
            raise Refusal(BAD_ARGUMENT, "filekey, aeskey, rawfilemd5, filesize or media_type")
        if body.get("no_need_thumb") is not True and not isinstance(body.get("thumb_rawsize"), int):
            raise Refusal(BAD_ARGUMENT, "no_need_thumb or a thumbnail")
        param = self.world.token("up+/=")
        self.world.places[param] = body
        if self.world.knobs.full_urls:
            return {"upload_full_url": f"{self.world.cdn_url}/upload?whole={param.encode().hex()}"}
        return {"upload_param": param}


def _typed(body: Json, fields: dict[str, type]) -> None:
    for name, kind in fields.items():
        value = body.get(name)
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise Refusal(BAD_ARGUMENT, f"{name} is no {kind.__name__}")
