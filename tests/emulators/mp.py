"""A strict official account on loopback: an object, or a process by
`python -m tests.emulators.mp --callback URL`.

As a process it prints its API's address, then takes orders under /_ctl/:
`curl 'URL/_ctl/inject?text=hi'`, `curl 'URL/_ctl/transcript'`. The bot's `channels.wechat_mp` is to
have the printed address as its base_url, and the app_id, app_secret, token and encoding_aes_key
that stand below; the callback is the bot's `/hooks/wechat_mp`.
"""

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from tests.emulators.kit import HttpEmulator, obey, serve_until_killed
from tests.emulators.mp_api import MpApi
from tests.emulators.mp_push import Crypt, Mode, Pusher
from tests.emulators.mp_world import Push, Refusal, World

APP_ID = "wx0000000000000001"
SECRET = "0123456789abcdef0123456789abcdef"
TOKEN = "demotoken"
AES_KEY = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"
PERSON = "oUser1"


@dataclass(slots=True, kw_only=True)
class Call:
    """One request as it came, and the status it was answered with (0: it was not)."""

    method: str
    query: dict[str, str]
    body: bytes
    status: int = 0


class MpEmulator(HttpEmulator[World, Call]):
    """Serves the API at `url` inside `async with`, and brings what people do to `callback`; see
    World and Pusher.

    In faults, method is the path below /cgi-bin/ and chat the openid.
    """

    def __init__(
        self, callback: str = "", *, mode: Mode = "secure", port: int = 0, **world: Any
    ) -> None:
        super().__init__(World(**world), port)
        self.crypt = Crypt(TOKEN, APP_ID, AES_KEY)
        self.pusher = Pusher(self.world, self.crypt, callback, mode)
        self.api = MpApi(self.world, APP_ID, SECRET)
        self.acks = self.world.acks

    async def __aexit__(self, *_: object) -> None:
        await self.pusher.close()
        await self.stop()

    def routes(self) -> Sequence[web.AbstractRouteDef]:
        return (
            web.route("*", "/_ctl/{name}", self._control),
            web.route("*", "/cgi-bin/{method:.+}", self._bot),
            web.get("/{place:pic|vod}/{id}", self._file),
        )

    async def start(self) -> None:
        await super().start()
        self.api.root = self.url

    def wire_log(self, method: str = "") -> list[Call]:
        """Requests in order, of one method if named."""
        return [call for call in self.calls if not method or call.method == method]

    # -- what people do ---------------------------------------------------------------------------

    def inject(self, text: str, person: str = PERSON) -> Push:
        """A person writes."""
        return self.brought(self.world.written(person, "text", text, {"Content": text}))

    def inject_file(
        self, kind: str, data: bytes, media_type: str, person: str = PERSON, **fields: str
    ) -> Push:
        """A person sends an image, a voice or a video."""
        media_id = self.world.keep(data, media_type, kind)
        more = {"PicUrl": f"{self.url}/pic/{media_id}"} if kind == "image" else {}
        more |= {"voice": {"Format": "amr"}, "video": {"ThumbMediaId": "thumb"}}.get(kind, {})
        return self.brought(
            self.world.written(person, kind, "", {**more, "MediaId": media_id, **fields})
        )

    def inject_kind(self, kind: str, person: str = PERSON, **fields: str) -> Push:
        """A person sends something of another kind, as a location."""
        return self.brought(self.world.written(person, kind, "", fields))

    def event(self, name: str, person: str = PERSON, **fields: str) -> Push:
        """A person follows, leaves, clicks."""
        return self.brought(self.world.event(person, name, **fields))

    def brought(self, push: Push) -> Push:
        self.pusher.bring(push)
        return push

    def repeat(self, push: Push) -> Push:
        """The platform brings a message once more."""
        again = Push(person=push.person, key=push.key, fields=push.fields)
        self.world.pushes.append(again)
        return self.brought(again)

    def sent(self, person: str = PERSON) -> list[str]:
        """What the person sees of the account, in order."""
        return self.world.sent(person)

    # -- the bot's side ---------------------------------------------------------------------------

    async def _bot(self, request: web.Request) -> web.StreamResponse:
        method, query = request.match_info["method"], dict(request.query)
        upload = await _upload(request) if method == "media/upload" else None
        call = Call(method=method, query=query, body=b"" if upload else await request.read())
        self.calls.append(call)
        chat = _chat(call.body)
        struck = [fault for fault in self.faults if fault.strikes(method, chat)]

        async def respond() -> web.Response:
            return self._answer(call, upload)

        answer, call.status = await self.through_faults(request, struck, respond)
        return answer

    def _answer(self, call: Call, upload: tuple[str, bytes] | None) -> web.Response:
        try:
            result = self.api.call(call.method, call.query, call.body, upload)
        except Refusal as err:
            rid = f"rid: 68{self.world.random.getrandbits(40):010x}"
            return _json({"errcode": err.code, "errmsg": f"{err} {rid}"})
        if isinstance(result, tuple):
            data, media_type = result
            return web.Response(body=data, content_type=media_type)
        return _json(result)

    async def _file(self, request: web.Request) -> web.Response:
        file = self.world.files.get(request.match_info["id"])
        if file is None:
            return web.Response(status=404)
        return web.Response(body=file.data, content_type=file.media_type)

    # -- the test's side --------------------------------------------------------------------------

    async def _control(self, request: web.Request) -> web.Response:
        acts: dict[str, Callable[..., Any]] = {
            "inject": self.inject,
            "event": self.event,
            "advance": self.world.advance,
            "fault": self.fault,
            "clear_faults": self.clear_faults,
            "sent": self.sent,
            "transcript": lambda person=PERSON: self.world.transcript(person),
            "acks": self.acks,
            "wire_log": lambda: [f"{call.method} {call.status}" for call in self.calls],
        }
        return await obey(request, acts)


async def _upload(request: web.Request) -> tuple[str, bytes] | None:
    if not request.content_type.startswith("multipart/"):
        return None
    field = (await request.post()).get("media")
    return (field.filename, field.file.read()) if isinstance(field, web.FileField) else None


def _chat(body: bytes) -> str:
    try:
        found = json.loads(body)
    except ValueError:
        return ""
    return str(found.get("touser", "")) if isinstance(found, dict) else ""


def _json(body: dict[str, Any]) -> web.Response:
    return web.json_response(body, dumps=lambda value: json.dumps(value, ensure_ascii=False))


def main() -> None:
    """Serve until killed; the first line printed is the API's address."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument(
        "--callback", required=True, help="where messages are brought, the bot's /hooks/wechat_mp"
    )
    parser.add_argument("--mode", choices=("plain", "compatible", "secure"), default="secure")
    parser.add_argument(
        "--unverified", action="store_true", help="an account without the customer-service API"
    )
    parser.add_argument(
        "--scale", type=float, default=1.0, help="of the five seconds that a try may take"
    )
    parser.add_argument("--pause", type=float, default=0.0, help="seconds between two tries")
    options = parser.parse_args()
    emulator = MpEmulator(
        options.callback, mode=options.mode, port=options.port, verified=not options.unverified
    )
    emulator.pusher.scale, emulator.pusher.pause = options.scale, options.pause
    serve_until_killed(emulator, lambda: emulator.url)


if __name__ == "__main__":
    main()
