"""The calls of Feishu's API that the emulator knows, each as strict as the platform."""

import inspect
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.emulators.feishu_cards import Refusal, check_card, operate, settle, stream
from tests.emulators.feishu_world import BOT, Card, Chat, Message, World

UUID_SECONDS = 3600.0
MOST_TEXT, MOST_POST = 150_000, 30_000
FILE_TYPES = {
    "opus": "audio",
    "mp4": "media",
    "pdf": "file",
    "doc": "file",
    "xls": "file",
    "ppt": "file",
}
FILE_TYPES["stream"] = "file"
CONTENT = {
    "text": "text",
    "image": "image_key",
    "file": "file_key",
    "audio": "file_key",
    "media": "file_key",
}
RECEIVERS = ("chat_id", "open_id", "user_id", "union_id", "email")
EMOJI = {"Typing", "OK", "THUMBSUP", "OnIt"}
Required = dict[str, type]


@dataclass(slots=True, kw_only=True)
class Request:
    """One call. form: the parts of a multipart body, files as (name, bytes). size: bytes of the
    body.
    """

    verb: str
    path: str
    query: dict[str, str] = field(default_factory=dict)
    body: dict[str, Any] = field(default_factory=dict)
    form: dict[str, Any] = field(default_factory=dict)
    size: int = 0
    token: str = ""


@dataclass(slots=True, kw_only=True)
class Raw:
    """An answer that is a file."""

    data: bytes
    name: str


class Api:
    """Calls by verb and path, below /open-apis."""

    def __init__(self, world: World) -> None:
        self.world = world
        table: list[tuple[str, str, Callable[..., Any], Required, str]] = [
            ("GET", r"/bot/v3/info", self._info, {}, ""),
            ("POST", r"/im/v1/messages", self._create, _SEND | {"receive_id": str}, "im:message"),
            ("POST", r"/im/v1/messages/([^/]+)/reply", self._reply, _SEND, "im:message"),
            ("GET", r"/im/v1/messages/([^/]+)", self._get, {}, "im:message"),
            ("DELETE", r"/im/v1/messages/([^/]+)", self._delete, {}, "im:message"),
            (
                "POST",
                r"/im/v1/messages/([^/]+)/reactions",
                self._react,
                {"reaction_type": dict},
                "im:reactions",
            ),
            (
                "DELETE",
                r"/im/v1/messages/([^/]+)/reactions/([^/]+)",
                self._unreact,
                {},
                "im:reactions",
            ),
            (
                "GET",
                r"/im/v1/messages/([^/]+)/resources/([^/]+)",
                self._resource,
                {},
                "im:resource",
            ),
            ("GET", r"/im/v1/chats/([^/]+)/members", self._members, {}, "im:chat.members"),
            ("POST", r"/im/v1/images", self._image, {}, "im:resource"),
            ("POST", r"/im/v1/files", self._file, {}, "im:resource"),
            (
                "POST",
                r"/cardkit/v1/cards",
                self._card,
                {"type": str, "data": str},
                "cardkit:card:write",
            ),
            (
                "PUT",
                r"/cardkit/v1/cards/([^/]+)",
                self._replace,
                _NUMBERED | {"card": dict},
                "cardkit:card:write",
            ),
            (
                "PUT",
                r"/cardkit/v1/cards/([^/]+)/elements/([^/]+)/content",
                self._stream,
                _NUMBERED | {"content": str},
                "cardkit:card:write",
            ),
            (
                "PATCH",
                r"/cardkit/v1/cards/([^/]+)/settings",
                self._settings,
                _NUMBERED | {"settings": str},
                "cardkit:card:write",
            ),
        ]
        self._table = [(verb, re.compile(path), *rest) for verb, path, *rest in table]

    def call(self, request: Request) -> dict[str, Any] | Raw:
        """The answer's body without its code. Raises Refusal."""
        if request.path == "/auth/v3/tenant_access_token/internal":
            return self._token(request)
        self._check_token(request.token)
        for verb, path, handler, required, scope in self._table:
            found = path.fullmatch(request.path)
            if verb == request.verb and found:
                if scope in self.world.scopes_missing:
                    raise Refusal(
                        99991672,
                        f"Access denied. One of the following scopes is required: [{scope}]",
                    )
                _check(request.body, required)
                parameters = len(inspect.signature(handler).parameters)
                return handler(
                    *found.groups(), *([request] if parameters > len(found.groups()) else [])
                )
        raise Refusal(99991401, "no such api", 404)

    # -- who we are -------------------------------------------------------------------------------

    def _token(self, request: Request) -> dict[str, Any]:
        if (request.body.get("app_id"), request.body.get("app_secret")) != (
            self.world.app_id,
            self.world.secret,
        ):
            raise Refusal(10014, "app secret invalid", 200)
        token, seconds = self.world.token()
        return {"tenant_access_token": token, "expire": seconds}

    def _check_token(self, token: str) -> None:
        if not token:
            raise Refusal(99991661, "Missing access token for authorization", 400)
        if not token.startswith("t-"):
            raise Refusal(99991671, "token must start with 't-'", 400)
        life = [until for known, until in self.world.tokens if known == token]
        if not life:
            raise Refusal(99991663, "Invalid access token for authorization", 400)
        if life[0] <= self.world.now():
            raise Refusal(99991677, "Authentication token expired", 400)

    def _info(self) -> dict[str, Any]:
        return {"bot": {"activate_status": 2, "app_name": "Lab bot", "open_id": BOT}}

    # -- messages ---------------------------------------------------------------------------------

    def _create(self, request: Request) -> dict[str, Any]:
        kind = request.query.get("receive_id_type")
        if kind not in RECEIVERS:
            raise Refusal(99992402, "field validation failed: receive_id_type")
        target = request.body["receive_id"]
        chat = self.world.chat(target if kind == "chat_id" else f"oc_p2p_{target}")
        thread = self.world.id("omt") if chat.mode == "topic" else ""
        return self._send(
            request,
            chat,
            Message(id="", chat=chat.id, sender="", msg_type="", content={}, thread=thread),
        )

    def _reply(self, id: str, request: Request) -> dict[str, Any]:
        parent = self._message(id)
        chat = self.world.chat(parent.chat)
        thread = parent.thread
        if not thread and request.body.get("reply_in_thread"):
            thread = parent.thread = self.world.id("omt")
        message = Message(id="", chat=chat.id, sender="", msg_type="", content={}, thread=thread)
        message.parent, message.root = parent.id, parent.root or parent.id
        return self._send(request, chat, message)

    def _send(self, request: Request, chat: Chat, message: Message) -> dict[str, Any]:
        uuid = request.body.get("uuid", "")
        if not isinstance(uuid, str) or len(uuid) > 50:
            raise Refusal(99992402, "field validation failed: uuid")
        known, at = self.world.uuids.get(uuid, ("", 0.0)) if uuid else ("", 0.0)
        if known and self.world.now() - at < UUID_SECONDS:
            return {"data": self._shown(self.world.messages[known])}
        self._check_chat(chat)
        message.msg_type = request.body["msg_type"]
        message.content = self._content(request)
        message.id = self.world.id("om")
        self.world.say(message)
        if uuid:
            self.world.uuids[uuid] = (message.id, self.world.now())
        return {"data": self._shown(message)}

    def _check_chat(self, chat: Chat) -> None:
        if chat.state == "out":
            raise Refusal(230002, "Bot/User can NOT be out of the chat.")
        if chat.state == "unavailable":
            raise Refusal(230013, "Bot has NO availability to this user.")
        left = chat.flooded_until - self.world.now()
        if left > 0:
            headers = {"x-ogw-ratelimit-limit": "5", "x-ogw-ratelimit-reset": str(int(left) + 1)}
            raise Refusal(230020, "This operation triggers the frequency limit.", 400, headers)

    def _content(self, request: Request) -> dict[str, Any]:
        kind, text = request.body["msg_type"], request.body["content"]
        if kind not in (*CONTENT, "post", "interactive"):
            raise Refusal(230001, "invalid msg_type")
        if request.size > (MOST_TEXT if kind == "text" else MOST_POST):
            raise Refusal(230025, "The length of the message content reaches its limit.")
        try:
            content: dict[str, Any] = json.loads(text)
        except ValueError as err:
            raise Refusal(230001, "content is not a string in json format") from err
        if kind == "interactive":
            return self._card_content(text, content)
        if kind in CONTENT:
            value = content.get(CONTENT[kind])
            if not isinstance(value, str) or not value.strip():
                raise Refusal(230001, f"invalid content of {kind}")
            if kind != "text" and value not in self.world.files:
                raise Refusal(230001, "invalid key")
        return content

    def _card_content(self, text: str, content: dict[str, Any]) -> dict[str, Any]:
        if content.get("type") != "card":
            return check_card(text, self.world)
        if content.get("data", {}).get("card_id") not in self.world.cards:
            raise Refusal(
                230099,
                "Failed to create card content, ext=ErrCode: 11310; ErrMsg: cardid is invalid",
            )
        return content

    def _message(self, id: str) -> Message:
        message = self.world.messages.get(id)
        if message is None or message.gone == "deleted":
            raise Refusal(231003, "The message is deleted or does not exist.")
        if message.gone:
            raise Refusal(230011, "The message was recalled.")
        return message

    def _shown(self, message: Message) -> dict[str, Any]:
        shown = {
            "message_id": message.id,
            "chat_id": message.chat,
            "create_time": self.world.milliseconds(),
        }
        shown |= {"msg_type": message.msg_type, "body": {"content": json.dumps(message.content)}}
        return shown | ({"thread_id": message.thread} if message.thread else {})

    def _get(self, id: str) -> dict[str, Any]:
        return {"data": {"items": [self._shown(self._message(id))]}}

    def _delete(self, id: str) -> dict[str, Any]:
        message = self._message(id)
        if message.sender:
            raise Refusal(230026, "No permission to recall this message.")
        message.gone = "recalled"
        self.world.notify()
        return {"data": {}}

    def _react(self, id: str, request: Request) -> dict[str, Any]:
        message, emoji = self._message(id), request.body["reaction_type"].get("emoji_type")
        if emoji not in EMOJI:
            raise Refusal(231001, "reaction type is invalid.")
        reaction = self.world.id("r")
        message.reactions[reaction] = emoji
        self.world.notify()
        return {"data": {"reaction_id": reaction}}

    def _unreact(self, id: str, reaction: str) -> dict[str, Any]:
        if self._message(id).reactions.pop(reaction, None) is None:
            raise Refusal(231002, "The operator can't delete the reaction.")
        self.world.notify()
        return {"data": {}}

    def _members(self, id: str, request: Request) -> dict[str, Any]:
        if request.query.get("member_id_type") != "open_id":
            raise Refusal(99992402, "field validation failed: member_id_type")
        self._check_chat(self.world.chat(id))
        first, people = int(request.query.get("page_token") or 0), sorted(self.world.names.items())
        last = first + min(100, int(request.query.get("page_size") or 20))
        items = [
            {"member_id_type": "open_id", "member_id": one, "name": name}
            for one, name in people[first:last]
        ]
        return {"data": {"items": items, "page_token": str(last), "has_more": last < len(people)}}

    # -- files ------------------------------------------------------------------------------------

    def _resource(self, id: str, key: str, request: Request) -> Raw:
        message, kind = self._message(id), request.query.get("type")
        if kind not in ("image", "file"):
            raise Refusal(99992402, "field validation failed: type")
        if key not in message.keys or key not in self.world.files:
            raise Refusal(
                234002, "Unauthorized. You do not have permission to access this resource"
            )
        name, data = self.world.files[key]
        return Raw(data=data, name=name)

    def _image(self, request: Request) -> dict[str, Any]:
        _, data = request.form.get("image") or ("", b"")
        if request.form.get("image_type") != "message" or not data:
            raise Refusal(234001, "Invalid request param.")
        if len(data) > 10 * 2**20:
            raise Refusal(234006, "The file size exceed the max value.")
        return {"data": {"image_key": self._keep("img", "", data)}}

    def _file(self, request: Request) -> dict[str, Any]:
        _, data = request.form.get("file") or ("", b"")
        name = request.form.get("file_name")
        if request.form.get("file_type") not in FILE_TYPES or not name or not data:
            raise Refusal(234001, "Invalid request param.")
        if len(data) > 30 * 2**20:
            raise Refusal(234006, "The file size exceed the max value.")
        return {"data": {"file_key": self._keep("file", name, data)}}

    def _keep(self, start: str, name: str, data: bytes) -> str:
        key = self.world.id(start)
        self.world.files[key] = (name, data)
        return key

    # -- cards ------------------------------------------------------------------------------------

    def _card(self, request: Request) -> dict[str, Any]:
        if request.body["type"] != "card_json":
            raise Refusal(99992402, "field validation failed: type")
        card = check_card(request.body["data"], self.world)
        entity = Card(id=self.world.id("75"), card=card, streaming_since=self.world.now())
        self.world.cards[entity.id] = entity
        return {"data": {"card_id": entity.id}}

    def _entity(self, id: str, request: Request) -> Card:
        card = self.world.cards.get(id)
        if card is None:
            raise Refusal(300312, "card not found")
        operate(self.world, card, request.body)
        self.world.notify()
        return card

    def _replace(self, id: str, request: Request) -> dict[str, Any]:
        told = request.body["card"]
        if told.get("type") != "card_json":
            raise Refusal(99992402, "field validation failed: card.type")
        parsed = check_card(told.get("data"), self.world)
        self._entity(id, request).card = parsed
        return {"data": {}}

    def _stream(self, id: str, element: str, request: Request) -> dict[str, Any]:
        stream(self.world, self._entity(id, request), element, request.body["content"])
        return {"data": {}}

    def _settings(self, id: str, request: Request) -> dict[str, Any]:
        settle(self.world, self._entity(id, request), request.body["settings"])
        return {"data": {}}


_SEND: Required = {"msg_type": str, "content": str}
_NUMBERED: Required = {"sequence": int}


def _check(body: dict[str, Any], required: Required) -> None:
    """Raises Refusal: a field is missing or has the wrong type."""
    for name, kind in required.items():
        if not isinstance(body.get(name), kind) or isinstance(body.get(name), bool):
            raise Refusal(
                99992402, f"field validation failed: {name} is required and a {kind.__name__}"
            )
