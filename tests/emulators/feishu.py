"""A strict Feishu on loopback: an object, or a process by `python -m tests.emulators.feishu --port 0`.

API below /open-apis, long connections by /callback/ws/endpoint, what a test does under /_ctl/: POST a JSON object of
arguments to /_ctl/inject, /_ctl/fault and so on (see `_acts`); GET /_ctl/sent shows what people see.
"""

import argparse
import asyncio
import contextlib
import json
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, Self
from urllib.parse import quote

from aiohttp import web

from tests.emulators.feishu_api import Api, Raw, Request
from tests.emulators.feishu_cards import Refusal
from tests.emulators.feishu_faults import AFTER, Action, Fault
from tests.emulators.feishu_gateway import Gateway, Hook
from tests.emulators.feishu_world import World
from tests.emulators.serving import deafen, drop, gateway_page, listen, obey, port_of, spoiled

APP_ID = "cli_a1b2c3d4e5f60718"
SECRET = "secret-of-the-lab"
LOGGED = 20_000
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


class FeishuEmulator:
    """Serves at `url` inside `async with`; what people do and see is in `world`, the pushing in `gateway`."""

    def __init__(self, *, app_id: str = APP_ID, secret: str = SECRET, seed: int = 0, port: int = 0) -> None:
        self.world = World(app_id=app_id, secret=secret, seed=seed)
        self.api = Api(self.world)
        self.gateway = Gateway(self.world)
        self.faults: list[Fault] = []
        self.calls: deque[Call] = deque(maxlen=LOGGED)
        self.port = port
        self.away: Literal["", "silent", "refused", "errors"] = ""
        self._back = asyncio.Event()
        self._runner: web.AppRunner | None = None
        self.inject, self.sent, self.acks = self.world.inject, self.world.sent, self.world.acks

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def __aenter__(self) -> Self:
        await self.start()
        await self.gateway.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.gateway.stop()
        await self.stop()

    async def start(self) -> None:
        """Listen; on the same port again after a stop."""
        self._runner = await listen(
            self.port,
            web.route("*", "/_ctl/{name}", self._control),
            web.route("GET", "/ws/v2", self._socket),
            web.route("*", "/{path:.*}", self._serve),
        )
        self.port = port_of(self._runner)

    async def stop(self) -> None:
        """Close the port and all connections; the world stays."""
        self.gateway.drop_all()
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    def take_no_connection(self) -> None:
        """Nobody listens any more; what is connected stays so."""
        if self._runner is not None:
            deafen(self._runner)

    async def cut(self, how: Literal["silent", "refused", "errors"]) -> None:
        """From now on nothing goes through: calls hang, no connection is taken, or all is answered by a gateway."""
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

    def clear_faults(self) -> None:
        self.faults.clear()

    def call_out(self, url: str, encrypt_key: str) -> Hook:
        """From now on events go to this address instead of long connections."""
        self.gateway.hook = Hook(url=url, encrypt_key=encrypt_key)
        self.world.stir()
        return self.gateway.hook

    def wire_log(self, path: str = "", verb: str = "") -> list[Call]:
        """Requests in order; of those with this in their path, and of this verb, if named."""
        return [call for call in self.calls if path in call.path and verb in ("", call.verb)]

    async def until(self, holds: Callable[[], bool], seconds: float = 10.0) -> None:
        """Wait until something is true of this emulator. Raises TimeoutError."""
        async with asyncio.timeout(seconds):
            while not holds():
                await self.world.change(min(seconds, 0.5))

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
        call.headers = {name.lower(): value for name, value in request.headers.items() if name != "Authorization"}
        self.calls.append(call)
        self.world.stir()
        struck = [fault for fault in self.faults if fault.strikes(asked.verb, request.path, asked.body)]
        for fault in struck:
            if fault.action not in AFTER and (answer := await self._instead(fault, request)) is not None:
                call.status = answer.status
                return answer
        answer = self._answer(asked, request, call)
        for fault in struck:
            if fault.action in AFTER:
                return await spoiled(fault, request, answer)
        call.status = answer.status
        self.world.stir()
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
            name = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(result.name, safe='')}"}
            return web.Response(body=result.data, headers={**name, "Content-Type": "application/octet-stream"})
        return _json({"code": 0, "msg": "success", **result}, 200)

    async def _absent(self, request: web.Request) -> web.Response:
        if self.away == "silent":
            await self._back.wait()
            drop(request)
        return gateway_page()

    async def _instead(self, fault: Fault, request: web.Request) -> web.Response | None:
        match fault.action:
            case "delay":
                await asyncio.sleep(fault.seconds)
                return None
            case "status":
                return web.Response(status=fault.http, text=fault.body)
            case "html_502":
                return gateway_page()
            case "refuse":
                return _json({"code": fault.code, "msg": fault.text or "as the test asked"}, fault.http)
            case "too_many":
                headers = {"x-ogw-ratelimit-limit": "5", "x-ogw-ratelimit-reset": f"{fault.seconds:g}"}
                return _json({"code": 99991400, "msg": "request trigger frequency limit"}, fault.http, headers)
            case "half_open":
                await asyncio.Event().wait()
        drop(request)
        return web.Response()

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
        """Until so many messages are seen and events acknowledged; False after `timeout` seconds."""
        with contextlib.suppress(TimeoutError):
            await self.until(lambda: len(self.sent()) >= sent and len(self.acks()) >= acks, timeout)
            return True
        return False


async def _read(request: web.Request) -> Request:
    path = request.path.removeprefix("/open-apis")
    asked = Request(verb=request.method, path=path, query=dict(request.query))
    asked.token = request.headers.get("Authorization", "").removeprefix("Bearer ")
    if request.content_type.startswith("multipart/"):
        for name, value in (await request.post()).items():
            asked.form[name] = (value.filename, value.file.read()) if isinstance(value, web.FileField) else value
        return asked
    raw = await request.read()
    asked.size = len(raw)
    with contextlib.suppress(ValueError):
        parsed = json.loads(raw or b"{}")
        asked.body = parsed if isinstance(parsed, dict) else {}
    return asked


def _json(body: dict[str, Any], status: int, headers: dict[str, str] | None = None) -> web.Response:
    return web.json_response(body, status=status, headers={"X-Tt-Logid": "log", **(headers or {})})


async def _run(options: argparse.Namespace) -> None:
    async with FeishuEmulator(app_id=options.app_id, secret=options.secret, port=options.port) as emulator:
        print(emulator.url, flush=True)
        await asyncio.Event().wait()


def main() -> None:
    """Serve until killed; the first line printed is the URL."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--app-id", default=APP_ID)
    parser.add_argument("--secret", default=SECRET)
    asyncio.run(_run(parser.parse_args()))


if __name__ == "__main__":
    main()
