"""A strict Feishu on loopback: an object, or a process by
`python -m tests.emulators.feishu --port 0`.

API below /open-apis, long connections by /callback/ws/endpoint, what a test does under /_ctl/: POST
a JSON object of arguments to /_ctl/inject, /_ctl/fault and so on (see `_acts`); GET /_ctl/sent
shows what people see.
"""

import argparse
import asyncio
import contextlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self
from urllib.parse import quote

from aiohttp import web

from tests.emulators.feishu_api import Api, Raw, Request
from tests.emulators.feishu_cards import Refusal
from tests.emulators.feishu_faults import Action, Fault
from tests.emulators.feishu_gateway import Gateway, Hook
from tests.emulators.feishu_world import World
from tests.emulators.kit import (
    HttpEmulator,
    answer_instead,
    drop,
    gateway_page,
    obey,
    serve_until_killed,
)

APP_ID = "cli_a1b2c3d4e5f60718"
SECRET = "secret-of-the-lab"
ENDPOINT = "/callback/ws/endpoint"


@dataclass(slots=True, kw_only=True)
class Call:
    """One request as it came, and the status and code it was answered with (0: it was not)."""

    verb: str
    path: str
    body: Any
    status: int = 0
    code: int = -1
    headers: dict[str, str] = field(default_factory=dict)


class FeishuEmulator(HttpEmulator[World, Call]):
    """Serves at `url` inside `async with`; what people do and see is in `world`, the pushing in
    `gateway`.
    """

    def __init__(
        self, *, app_id: str = APP_ID, secret: str = SECRET, seed: int = 0, port: int = 0
    ) -> None:
        super().__init__(World(app_id=app_id, secret=secret, seed=seed), port)
        self.api = Api(self.world)
        self.gateway = Gateway(self.world)
        self.away: Literal["", "silent", "refused", "errors"] = ""
        self._back = asyncio.Event()
        self.inject, self.sent, self.acks = self.world.inject, self.world.sent, self.world.acks

    async def __aenter__(self) -> Self:
        await self.start()
        await self.gateway.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.gateway.stop()
        await self.stop()

    def routes(self) -> Sequence[web.AbstractRouteDef]:
        return (
            web.route("*", "/_ctl/{name}", self._control),
            web.route("GET", "/ws/v2", self._socket),
            web.route("*", "/{path:.*}", self._serve),
        )

    async def stop(self) -> None:
        self.gateway.drop_all()
        await super().stop()

    async def cut(self, how: Literal["silent", "refused", "errors"]) -> None:
        """From now on nothing goes through: calls hang, no connection is taken, or all is answered
        by a gateway.
        """
        self.away, self._back = how, asyncio.Event()
        if how == "silent":
            self.gateway.freeze()
        elif how == "refused":
            await self.stop()
        else:
            self.gateway.drop_all()

    async def mend(self) -> None:
        """As before; connections that hung are gone."""
        was, self.away = self.away, ""
        self._back.set()
        self.gateway.drop_all()
        if was == "refused":
            await self.start()
        self.world.hurry()

    def fault(self, action: Action, **rule: Any) -> Fault:
        """Let something go wrong from now on; see feishu_faults.Fault."""
        self.faults.append(Fault(action=action, **rule))
        return self.faults[-1]

    def call_out(self, url: str, encrypt_key: str) -> Hook:
        """From now on events go to this address instead of long connections."""
        self.gateway.hook = Hook(url=url, encrypt_key=encrypt_key)
        self.world.notify()
        return self.gateway.hook

    def wire_log(self, path: str = "", verb: str = "") -> list[Call]:
        """Requests in order; of those with this in their path, and of this verb, if named."""
        return [call for call in self.calls if path in call.path and verb in ("", call.verb)]

    # -- the app's side ---------------------------------------------------------------------------

    async def _socket(self, request: web.Request) -> web.StreamResponse:
        if self.away:
            return await self._absent(request)
        return await self.gateway.connect(request)

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        if self.away:
            return await self._absent(request)
        asked = await _read(request)
        call = Call(verb=asked.verb, path=request.path, body=asked.body or asked.form)
        call.headers = {
            name.lower(): value
            for name, value in request.headers.items()
            if name != "Authorization"
        }
        self.calls.append(call)
        self.world.notify()
        struck = [
            fault for fault in self.faults if fault.strikes(asked.verb, request.path, asked.body)
        ]

        async def respond() -> web.Response:
            return self._answer(asked, request, call)

        answer, call.status = await self.through_faults(request, struck, respond, self._instead)
        return answer

    def _answer(self, asked: Request, request: web.Request, call: Call) -> web.Response:
        if request.path == ENDPOINT:
            told = self.gateway.endpoint(asked.body, request.host)
            call.code = told["code"]
            return _json(told, 200)
        if not request.path.startswith("/open-apis"):
            return web.Response(status=404, text="404 page not found")
        try:
            result = self.api.call(asked)
        except Refusal as err:
            call.code = err.code
            return _json({"code": err.code, "msg": str(err)}, err.status, err.headers)
        call.code = 0
        if isinstance(result, Raw):
            name = {
                "Content-Disposition": f"attachment; filename*=UTF-8''{quote(result.name, safe='')}"
            }
            return web.Response(
                body=result.data, headers={**name, "Content-Type": "application/octet-stream"}
            )
        return _json({"code": 0, "msg": "success", **result}, 200)

    async def _absent(self, request: web.Request) -> web.Response:
        if self.away == "silent":
            await self._back.wait()
            drop(request)
        return gateway_page()

    async def _instead(self, fault: Fault, request: web.Request) -> web.Response | None:
        match fault.action:
            case "status":
                return web.Response(status=fault.http, text=fault.body)
            case "refuse":
                return _json(
                    {"code": fault.code, "msg": fault.text or "as the test asked"}, fault.http
                )
            case "too_many":
                headers = {
                    "x-ogw-ratelimit-limit": "5",
                    "x-ogw-ratelimit-reset": f"{fault.seconds:g}",
                }
                return _json(
                    {"code": 99991400, "msg": "request trigger frequency limit"},
                    fault.http,
                    headers,
                )
        return await answer_instead(fault, request)

    # -- the test's side --------------------------------------------------------------------------

    def _acts(self) -> dict[str, Callable[..., Any]]:
        return {
            "inject": self.world.inject,
            "recall": self.world.recall,
            "press": self.world.press,
            "added": self.world.added,
            "tell": self.world.tell,
            "repeat": self.world.repeat,
            "advance": self.world.advance,
            "hurry": self.world.hurry,
            "chat": self.world.chat,
            "expire_tokens": self.world.expire_tokens,
            "fault": self.fault,
            "clear_faults": self.clear_faults,
            "call_out": self.call_out,
            "sent": self.world.sent,
            "acks": self.world.acks,
            "wire_log": self.wire_log,
            "connections": lambda: len(self.gateway.connections),
            "faults_of_client": lambda: self.world.faults_of_client,
            "wait": self._wait,
        }

    async def _control(self, request: web.Request) -> web.Response:
        return await obey(request, self._acts())

    async def _wait(self, sent: int = 0, acks: int = 0, timeout: float = 10) -> bool:
        """Until so many messages are seen and events acknowledged; False after `timeout`
        seconds.
        """
        return await self.wait(
            lambda: len(self.sent()) >= sent and len(self.acks()) >= acks, timeout
        )


async def _read(request: web.Request) -> Request:
    path = request.path.removeprefix("/open-apis")
    asked = Request(verb=request.method, path=path, query=dict(request.query))
    asked.token = request.headers.get("Authorization", "").removeprefix("Bearer ")
    if request.content_type.startswith("multipart/"):
        for name, value in (await request.post()).items():
            asked.form[name] = (
                (value.filename, value.file.read()) if isinstance(value, web.FileField) else value
            )
        return asked
    raw = await request.read()
    asked.size = len(raw)
    with contextlib.suppress(ValueError):
        parsed = json.loads(raw or b"{}")
        asked.body = parsed if isinstance(parsed, dict) else {}
    return asked


def _json(body: dict[str, Any], status: int, headers: dict[str, str] | None = None) -> web.Response:
    return web.json_response(body, status=status, headers={"X-Tt-Logid": "log", **(headers or {})})


def main() -> None:
    """Serve until killed; the first line printed is the URL."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--app-id", default=APP_ID)
    parser.add_argument("--secret", default=SECRET)
    options = parser.parse_args()
    emulator = FeishuEmulator(app_id=options.app_id, secret=options.secret, port=options.port)
    serve_until_killed(emulator, lambda: emulator.url)


if __name__ == "__main__":
    main()
