"""The world behind the WeCom emulator: what people wrote to the bot, and what they see of its
answers.
"""

import base64
import hashlib
import math
from dataclasses import dataclass, field
from typing import Any

from channels.toolkit.wechat_crypto import encrypt_bytes
from tests.emulators.kit import PlatformWorld

TEXT_BYTES = 20_480
STREAM_IDLE = 360.0
STREAM_LIFE = 600.0
CALL_LIFE = 24 * 3600.0
URL_LIFE = 300.0
PIECE_BYTES = 512 * 1024
MOST_PIECES = 100
PER_MINUTE, PER_HOUR = 30, 1000
SIZES = {"image": 10 * 2**20, "video": 10 * 2**20, "voice": 2 * 2**20, "file": 20 * 2**20}
CARDS = (
    "text_notice",
    "news_notice",
    "button_interaction",
    "vote_interaction",
    "multiple_interaction",
)
INVALID, BAD_CALL, STREAM_OVER, BAD_CHAT, TOO_MUCH = 40058, 846605, 846608, 93006, 45009


class Refused(Exception):
    """An answer with an error code."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


@dataclass(slots=True, kw_only=True)
class Seen:
    """One message of the bot as people see it now. kind: markdown, stream, template_card, image,
    file, …
    """

    chat: str
    kind: str
    text: str = ""
    finished: bool = True
    stream: str = ""
    begun: float = 0.0
    updated: float = 0.0
    packets: int = 1
    file: tuple[str, bytes] | None = None
    card: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class Upload:
    """A file on its way to the platform."""

    kind: str
    name: str
    size: int
    pieces: int
    md5: str
    held: dict[int, bytes] = field(default_factory=dict)


class World(PlatformWorld):
    """State only. keeps: what comes while no bot is connected waits for it; replace_finished: so
    may ended streams.

    redeliver: messages that were given and got no answer come again to the next connection. Both
    are the lab's guess. rates: 30 messages a minute and 1000 an hour in one chat are the most.
    Times are seconds of a clock that `advance` moves.
    """

    def __init__(self, *, bot_id: str, name: str = "Bot", seed: int = 0) -> None:
        super().__init__(seed)
        self.bot_id = bot_id
        self.name = name
        self.keeps = True
        self.redeliver = False
        self.replace_finished = True
        self.rates = True
        self.pending: list[dict[str, Any]] = []
        self.given: list[dict[str, Any]] = []
        self.calls: dict[str, tuple[dict[str, Any], float]] = {}
        self.chats: set[str] = set()
        self.gone: set[str] = set()
        self.flooded: dict[str, float] = {}
        self.seen: list[Seen] = []
        self.files: dict[str, tuple[bytes, str, float]] = {}
        self.uploads: dict[str, Upload] = {}
        self.media: dict[str, tuple[str, str, bytes]] = {}
        self.base_url = ""
        self._count = 0

    # -- people -----------------------------------------------------------------------------------

    def inject(
        self, text: str = "hello", *, user: str = "ada", group: str = "", **more: Any
    ) -> dict[str, Any]:
        """Somebody writes: to the bot alone, or at it in a group. more: fields of the body in place
        of the usual.
        """
        if group and "msgtype" not in more:
            text = f"@{self.name} {text}"
        body = self._body(user, group) | {"msgtype": "text", "text": {"content": text}, **more}
        return self.push("aibot_msg_callback", body)

    def voice(self, text: str, **who: str) -> dict[str, Any]:
        return self.inject(msgtype="voice", voice={"content": text}, **who)

    def picture(self, data: bytes, **who: str) -> dict[str, Any]:
        return self.inject(msgtype="image", image=self.hosted(data, "image.jpg"), **who)

    def file(
        self, data: bytes, name: str = "paper.pdf", kind: str = "file", **who: str
    ) -> dict[str, Any]:
        return self.inject(**{"msgtype": kind, kind: self.hosted(data, name)}, **who)

    def mixed(self, *parts: str | bytes, **who: str) -> dict[str, Any]:
        items = [
            {"msgtype": "text", "text": {"content": part}}
            if isinstance(part, str)
            else {"msgtype": "image", "image": self.hosted(part, "image.jpg")}
            for part in parts
        ]
        return self.inject(msgtype="mixed", mixed={"msg_item": items}, **who)

    def event(
        self, eventtype: str, *, user: str = "ada", group: str = "", **fields: Any
    ) -> dict[str, Any]:
        """Something happens that is no message."""
        event = {"eventtype": eventtype, eventtype: fields} if fields else {"eventtype": eventtype}
        return self.push(
            "aibot_event_callback", self._body(user, group) | {"msgtype": "event", "event": event}
        )

    def press(self, key: str, *, user: str = "ada", group: str = "") -> dict[str, Any]:
        """A button of the newest card that has it."""
        cards = [
            one.card
            for one in self.seen
            if key in [button["key"] for button in one.card.get("button_list", ())]
        ]
        task = cards[-1]["task_id"] if cards else "task"
        card = {"card_type": "button_interaction", "event_key": key, "task_id": task}
        return self.event("template_card_event", user=user, group=group, **card)

    def repeat(self, frame: dict[str, Any]) -> None:
        """The platform brings it once more, under a new request id."""
        self.push(frame["cmd"], frame["body"])

    def push(self, cmd: str, body: dict[str, Any]) -> dict[str, Any]:
        """A callback is due."""
        frame = {"cmd": cmd, "headers": {"req_id": f"rq-{self._number()}"}, "body": body}
        self.calls[frame["headers"]["req_id"]] = (frame, self.now())
        self.chats.add(_chat(body))
        self.pending.append(frame)
        self.notify()
        return frame

    def hosted(self, data: bytes, name: str = "", pad: int = 0) -> dict[str, str]:
        """A file of a person's, as its callback names it. pad: so many bytes of padding, 0 for
        whatever comes of it.
        """
        key = self.random.randbytes(32)
        if pad:
            data = data + bytes((32 - pad - len(data)) % 32)
        number = self._number()
        self.files[number] = (encrypt_bytes(key, data), name, self.now())
        return {
            "url": f"{self.base_url}/media/{number}",
            "aeskey": base64.b64encode(key).decode().rstrip("="),
        }

    def hosted_now(self, number: str) -> tuple[bytes, str] | None:
        """What an address gives: the enciphered bytes and the name; None when its time is over."""
        data, name, at = self.files.get(number, (b"", "", -math.inf))
        return (data, name) if self.now() - at < URL_LIFE else None

    def connected(self) -> None:
        """A bot has subscribed."""
        if not self.keeps:
            self.pending.clear()
        if self.redeliver:
            answered = {one.stream.partition(" ")[0] for one in self.seen}
            again = [frame for frame in self.given if frame["headers"]["req_id"] not in answered]
            self.given = [frame for frame in self.given if frame not in again]
            self.pending = [
                frame for frame in again if frame["cmd"] == "aibot_msg_callback"
            ] + self.pending

    def _body(self, user: str, group: str) -> dict[str, Any]:
        where = {"chatid": group, "chattype": "group"} if group else {"chattype": "single"}
        told = {
            "msgid": f"m-{self._number()}",
            "aibotid": self.bot_id,
            **where,
            "from": {"userid": user},
        }
        return {
            **told,
            "create_time": int(self.now()),
            "response_url": "https://example.invalid/response",
        }

    def _number(self) -> str:
        self._count += 1
        return f"{self._count}-{self.random.randrange(16**8):08x}"

    # -- the bot ----------------------------------------------------------------------------------

    def respond(self, req_id: str, body: dict[str, Any]) -> None:
        """An answer to a callback. Raises Refused."""
        frame, at = self.calls.get(req_id, ({}, -math.inf))
        if self.now() - at > CALL_LIFE or frame["cmd"] != "aibot_msg_callback":
            raise Refused(BAD_CALL, "invalid req_id")
        chat = _chat(frame["body"])
        if body.get("msgtype") == "stream":
            self._stream(chat, req_id, body["stream"])
        else:
            self.show(chat, body)

    def proactive(self, body: dict[str, Any]) -> None:
        """A message that answers nothing. Raises Refused."""
        chat = body.get("chatid")
        if not isinstance(chat, str) or chat not in self.chats:
            raise Refused(BAD_CHAT, "invalid chatid")
        if body.get("msgtype") in ("stream", "text", "stream_with_template_card"):
            raise Refused(INVALID, "this msgtype cannot be sent proactively")
        self.show(chat, body)

    def show(self, chat: str, body: dict[str, Any]) -> None:
        """A message that is whole at once. Raises Refused."""
        kind = body.get("msgtype")
        if kind == "markdown":
            self._add(Seen(chat=chat, kind="markdown", text=_text(body["markdown"].get("content"))))
        elif kind == "template_card":
            self._add(Seen(chat=chat, kind="template_card", card=_card(body["template_card"])))
        elif kind in SIZES:
            media_kind, name, data = self.media.get(body[kind].get("media_id"), ("", "", b""))
            if media_kind != kind:
                raise Refused(INVALID, "invalid media_id")
            self._add(Seen(chat=chat, kind=kind, file=(name, data)))
        else:
            raise Refused(INVALID, "invalid msgtype")

    def _stream(self, chat: str, req_id: str, stream: dict[str, Any]) -> None:
        id, finish, text = (
            stream.get("id"),
            stream.get("finish"),
            _text(stream.get("content"), empty=True),
        )
        if not isinstance(id, str) or not id or not isinstance(finish, bool):
            raise Refused(INVALID, "invalid stream")
        name, now = f"{req_id} {id}", self.now()
        known = next((one for one in self.seen if one.stream == name), None)
        if known is None:
            self._add(
                Seen(
                    chat=chat,
                    kind="stream",
                    text=text,
                    finished=finish,
                    stream=name,
                    begun=now,
                    updated=now,
                )
            )
            return
        if now - known.updated > STREAM_IDLE or now - known.begun > STREAM_LIFE:
            raise Refused(STREAM_OVER, "stream message update expired")
        if known.finished and not self.replace_finished:
            raise Refused(STREAM_OVER, "stream message is finished")
        self._limits(chat, new=False)
        known.text, known.finished, known.updated = text, finish or known.finished, now
        known.packets += 1

    def _add(self, one: Seen) -> None:
        self._limits(one.chat, new=True)
        one.begun = one.begun or self.now()
        self.seen.append(one)

    def _limits(self, chat: str, *, new: bool) -> None:
        now = self.now()
        if chat in self.gone:
            raise Refused(BAD_CHAT, "invalid chatid")
        minute, hour = (
            sum(one.chat == chat and now - one.begun < span for one in self.seen)
            for span in (60, 3600)
        )
        over = self.rates and new and (minute >= PER_MINUTE or hour >= PER_HOUR)
        if over or self.flooded.get(chat, 0.0) > now:
            raise Refused(TOO_MUCH, "api freq out of limit")

    def sent(self, chat: str = "ada") -> list[Seen]:
        """What is seen in a chat and will not change."""
        return [one for one in self.seen if one.chat == chat and one.finished]

    def live(self, chat: str = "ada") -> list[Seen]:
        """What is still being written there."""
        return [one for one in self.seen if one.chat == chat and not one.finished]

    # -- uploads ----------------------------------------------------------------------------------

    def upload_init(self, body: dict[str, Any]) -> dict[str, Any]:
        kind, size, pieces = body.get("type"), body.get("total_size"), body.get("total_chunks")
        if kind not in SIZES or not isinstance(size, int) or not 0 < size <= SIZES[kind]:
            raise Refused(INVALID, "invalid type or size")
        if not isinstance(pieces, int) or not 0 < pieces <= MOST_PIECES or not body.get("filename"):
            raise Refused(INVALID, "invalid total_chunks or filename")
        id = f"up-{self._number()}"
        self.uploads[id] = Upload(
            kind=kind, name=body["filename"], size=size, pieces=pieces, md5=body["md5"]
        )
        return {"upload_id": id}

    def upload_chunk(self, body: dict[str, Any]) -> dict[str, Any]:
        upload, number = self.uploads.get(body.get("upload_id", "")), body.get("chunk_index")
        data = base64.b64decode(body.get("base64_data", ""), validate=True)
        if upload is None or not isinstance(number, int) or not 0 <= number < upload.pieces:
            raise Refused(INVALID, "invalid upload_id or chunk_index")
        if not 0 < len(data) <= PIECE_BYTES:
            raise Refused(INVALID, "a chunk has at most 512 KB")
        upload.held[number] = data
        return {}

    def upload_finish(self, body: dict[str, Any]) -> dict[str, Any]:
        upload = self.uploads.pop(body.get("upload_id", ""), None)
        if upload is None or len(upload.held) < upload.pieces:
            raise Refused(INVALID, "a chunk is missing")
        data = b"".join(upload.held[number] for number in range(upload.pieces))
        if (
            len(data) != upload.size
            or hashlib.md5(data, usedforsecurity=False).hexdigest() != upload.md5
        ):
            raise Refused(INVALID, "size or md5 is wrong")
        id = f"media-{self._number()}"
        self.media[id] = (upload.kind, upload.name, data)
        return {"type": upload.kind, "media_id": id, "created_at": str(int(self.now()))}


def _chat(body: dict[str, Any]) -> str:
    chat: str = body["chatid"] if body["chattype"] == "group" else body["from"]["userid"]
    return chat


def _text(content: object, *, empty: bool = False) -> str:
    if not isinstance(content, str) or (not content and not empty):
        raise Refused(INVALID, "content is missing")
    if len(content.encode()) > TEXT_BYTES:
        raise Refused(INVALID, f"content has more than {TEXT_BYTES} bytes")
    return content


def _card(card: dict[str, Any]) -> dict[str, Any]:
    if card.get("card_type") not in CARDS:
        raise Refused(INVALID, "invalid card_type")
    if card["card_type"] == "button_interaction":
        buttons = card.get("button_list", ())
        if not 0 < len(buttons) <= 6 or not all(
            button.get("text") and button.get("key") for button in buttons
        ):
            raise Refused(INVALID, "invalid button_list")
        if (
            not card.get("task_id")
            or len(card["task_id"]) > 128
            or not card.get("main_title", {}).get("title")
        ):
            raise Refused(INVALID, "invalid task_id or main_title")
    return card
