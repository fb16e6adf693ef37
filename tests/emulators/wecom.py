"""A strict WeCom smart-bot server on loopback: an object, or a process by
`python -m tests.emulators.wecom --port 0`.

The socket is at /ws, people's files are at /media/, and the test's side is at /_ctl/.
"""

import argparse
import asyncio
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import quote

from aiohttp import WSMsgType, web

from tests.emulators.kit import FaultRule, HttpEmulator, obey, serve_until_killed
from tests.emulators.wecom_world import INVALID, Refused, World

BOT, SECRET = "aib-lab", "secret-of-the-lab"
WRONG_SECRET = 853000  # no page names the code; clients only look whether it is 0
NOT_SUBSCRIBED = 846609
Action = Literal[
    "errcode",
    "drop",
    "accept_then_drop",
    "delay",
    "close",
    "accept_then_close",
    "garbage",
    "no_code",
    "cut",
]
# These let the command have its effect; the others come in its place, a delay before it.
AFTER = ("accept_then_drop", "accept_then_close", "cut")


@dataclass(slots=True, kw_only=True)
class Fault(FaultRule):
    """A fault of the commands that begin with `cmd`."""

    action: Action
    cmd: str = ""
    times: int = 1
    code: int = 0

    def strikes(self, cmd: str) -> bool:
        """Whether this command is hit; counts it."""
        return cmd.startswith(self.cmd) and self.due()


class WecomEmulator(HttpEmulator[World, dict[str, Any]]):
    """Serves at `ws_url` inside `async with`; what people do and see is in `world`.

    half_open: reads and writes nothing any more, on connections that stay. refusing: answers new
    ones with a 503; refused: how many.
    """

    def __init__(
        self, *, bot_id: str = BOT, secret: str = SECRET, seed: int = 0, port: int = 0
    ) -> None:
        super().__init__(World(bot_id=bot_id, seed=seed), port)
        self.secret = secret
        self.half_open = False
        self.refusing = False
        self.refused = 0
        self.subscribed: web.WebSocketResponse | None = None
        self.connections: set[web.WebSocketResponse] = set()
        self._given: set[int] = set()

    @property
    def ws_url(self) -> str:
        return f"ws://127.0.0.1:{self.port}/ws"

    def routes(self) -> Sequence[web.AbstractRouteDef]:
        return (
            web.get("/ws", self._socket),
            web.get("/media/{number}", self._media),
            web.route("*", "/_ctl/{name}", self._control),
        )

    async def start(self) -> None:
        await super().start()
        self.world.base_url = self.url

    async def stop(self) -> None:
        self.cut()
        await super().stop()

    def cut(self) -> None:
        """Break every connection."""
        self.subscribed = None
        for socket in list(self.connections):
            _break(socket)

    def fault(self, action: Action, **rule: Any) -> Fault:
        """Let something go wrong from now on; see Fault."""
        self.faults.append(Fault(action=action, **rule))
        return self.faults[-1]

    def wire_log(self, cmd: str = "") -> list[dict[str, Any]]:
        """Frames of the bot in order, of one command if named."""
        return [frame for frame in self.calls if not cmd or frame.get("cmd") == cmd]

    # -- the bot's side ---------------------------------------------------------------------------

    async def _socket(self, request: web.Request) -> web.StreamResponse:
        if self.refusing:
            self.refused += 1
            return web.Response(status=503, text="<html>503</html>", content_type="text/html")
        socket = web.WebSocketResponse(autoping=True, max_msg_size=16 * 2**20)
        await socket.prepare(request)
        self.connections.add(socket)
        pushing = asyncio.create_task(self._push(socket))
        try:
            async for message in socket:
                while self.half_open:
                    await self.world.change(3600)
                if message.type is WSMsgType.TEXT:
                    await self._take(socket, message.data)
        finally:
            pushing.cancel()
            self.connections.discard(socket)
            if self.subscribed is socket:
                self.subscribed = None
            self.world.notify()
        return socket

    async def _push(self, socket: web.WebSocketResponse) -> None:
        """Bring what is due to whoever has subscribed."""
        while True:
            while self.subscribed is socket and self.world.pending and not self.half_open:
                frame = self.world.pending.pop(0)
                self.world.given.append(frame)
                with suppress(ConnectionError):
                    await socket.send_str(json.dumps(frame))
                self.world.notify()
            with suppress(TimeoutError):
                await self.world.change(3600)

    async def _take(self, socket: web.WebSocketResponse, text: str) -> None:
        try:
            frame = json.loads(text)
            cmd, req_id = str(frame["cmd"]), str(frame["headers"]["req_id"])
        except (ValueError, KeyError, TypeError):
            await socket.close(code=1003)
            return
        self.calls.append(frame)
        struck = [fault for fault in self.faults if fault.strikes(cmd)]
        for fault in struck:
            if fault.action not in AFTER and await self._instead(fault, socket, req_id):
                self.world.notify()
                return
        answer = {
            "headers": {"req_id": req_id},
            **await self._answer(socket, cmd, req_id, frame.get("body", {})),
        }
        self.world.notify()
        for fault in struck:
            if fault.action in AFTER:
                await _spoil(fault, socket, json.dumps(answer))
                return
        with suppress(ConnectionError):
            await socket.send_str(json.dumps(answer))
        if answer["errcode"] == WRONG_SECRET:
            await socket.close()
        self.world.notify()

    async def _answer(
        self, socket: web.WebSocketResponse, cmd: str, req_id: str, body: Any
    ) -> dict[str, Any]:
        try:
            told = await self._done(socket, cmd, req_id, body)
        except Refused as err:
            return {"errcode": err.code, "errmsg": str(err)}
        except (KeyError, TypeError, ValueError, AttributeError) as err:
            return {"errcode": INVALID, "errmsg": f"invalid argument: {type(err).__name__}"}
        return {"errcode": 0, "errmsg": "ok"} | ({"body": told} if told is not None else {})

    async def _done(
        self, socket: web.WebSocketResponse, cmd: str, req_id: str, body: Any
    ) -> dict[str, Any] | None:
        if cmd == "ping":
            return None
        if cmd == "aibot_subscribe":
            await self._subscribe(socket, body)
            return None
        if self.subscribed is not socket:
            raise Refused(NOT_SUBSCRIBED, "not subscribed")
        uploads = {
            "aibot_upload_media_init": self.world.upload_init,
            "aibot_upload_media_chunk": self.world.upload_chunk,
            "aibot_upload_media_finish": self.world.upload_finish,
        }
        if cmd in uploads:
            return uploads[cmd](body)
        if cmd == "aibot_respond_msg":
            self.world.respond(req_id, body)
        elif cmd == "aibot_send_msg":
            self.world.proactive(body)
        else:
            raise Refused(INVALID, "invalid cmd")
        return None

    async def _subscribe(self, socket: web.WebSocketResponse, body: dict[str, Any]) -> None:
        if (body["bot_id"], body["secret"]) != (self.world.bot_id, self.secret):
            raise Refused(WRONG_SECRET, "invalid bot_id or secret")
        old, self.subscribed = self.subscribed, socket
        self.world.connected()
        if old is not None and old is not socket:
            event = {"msgtype": "event", "event": {"eventtype": "disconnected_event"}}
            frame = {
                "cmd": "aibot_event_callback",
                "headers": {"req_id": "rq-evicted"},
                "body": event,
            }
            with suppress(ConnectionError):
                await old.send_str(json.dumps(frame))
            await old.close()

    async def _instead(self, fault: Fault, socket: web.WebSocketResponse, req_id: str) -> bool:
        """Whether that was all; the command itself is still due after a delay."""
        told = {"errcode": fault.code, "errmsg": "fault of the lab"}
        match fault.action:
            case "delay":
                await asyncio.sleep(fault.seconds)
                return False
            case "errcode":
                await socket.send_str(json.dumps({"headers": {"req_id": req_id}, **told}))
                if fault.code == NOT_SUBSCRIBED:
                    self.subscribed = None
            case "no_code":
                await socket.send_str(json.dumps({"headers": {"req_id": req_id}}))
            case "garbage":
                await socket.send_str("<html><body>502 Bad Gateway</body></html>")
            case "close":
                _break(socket)
        return True

    async def _media(self, request: web.Request) -> web.Response:
        found = self.world.hosted_now(request.match_info["number"])
        if found is None:
            return web.Response(
                status=403, text="<Error>expired</Error>", content_type="application/xml"
            )
        headers = (
            {"content-disposition": f"attachment; filename*=UTF-8''{quote(found[1], safe='')}"}
            if found[1]
            else {}
        )
        return web.Response(body=found[0], headers=headers, content_type="application/octet-stream")

    # -- the test's side --------------------------------------------------------------------------

    async def _control(self, request: web.Request) -> web.Response:
        acts: dict[str, Callable[..., Any]] = {
            "inject": self.world.inject,
            "event": self.world.event,
            "press": self.world.press,
            "repeat": self.world.repeat,
            "advance": self.world.advance,
            "fault": self.fault,
            "cut": self.cut,
            "sent": self.world.sent,
            "live": self.world.live,
            "acks": lambda: self.world.given,
            "wire_log": self.wire_log,
        }
        return await obey(
            request, acts, lambda value: len(value) if isinstance(value, bytes) else value
        )


async def _spoil(fault: Fault, socket: web.WebSocketResponse, answer: str) -> None:
    """The effect has happened; the answer does not come, or not whole."""
    if fault.action == "cut":
        await socket.send_str(answer[: len(answer) // 2])
    elif fault.action == "accept_then_close":
        _break(socket)


def _break(socket: web.WebSocketResponse) -> None:
    transport = socket._req.transport if socket._req is not None else None
    if transport is not None:
        transport.abort()


def main() -> None:
    """Serve until killed; the first line printed is the socket's URL."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--bot-id", default=BOT)
    parser.add_argument("--secret", default=SECRET)
    parser.add_argument("--redeliver", action="store_true")
    options = parser.parse_args()
    emulator = WecomEmulator(bot_id=options.bot_id, secret=options.secret, port=options.port)
    emulator.world.redeliver = options.redeliver
    serve_until_killed(emulator, lambda: emulator.ws_url)


if __name__ == "__main__":
    main()
