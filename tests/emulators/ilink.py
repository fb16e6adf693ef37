"""A strict iLink server on loopback: an object, or a process by
`python -m tests.emulators.ilink --port 0`.

Three ports: the API, the host that some accounts live at, and the files' server. The first line
printed is `base_url cdn_url`. What an owner's phone and other people do is driven by `/_ctl/<act>`
of the first port, with arguments as a JSON object or a query: `scan`, `confirm`, `expire`, `bound`,
`digits`, `say`, `attach_text`, `repeat`, `expire_session`, `advance`, `knob`, `fault`,
`clear_faults`, `sent`, `typing`, `acks`, `code`, `wire_log`, `wait`.
"""

import argparse
import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from tests.emulators.ilink_methods import Methods, Refusal, check_headers
from tests.emulators.ilink_world import World
from tests.emulators.kit import (
    Action,
    Fault,
    HttpEmulator,
    close_listeners,
    cut_connections,
    listen,
    obey,
    port_of,
    serve_until_killed,
)

OF_THE_WORLD = (
    "scan",
    "confirm",
    "expire",
    "bound",
    "code",
    "say",
    "repeat",
    "expire_session",
    "advance",
    "sent",
    "acks",
)


@dataclass(slots=True, kw_only=True)
class Call:
    """One request as it came. answer: its body as sent, None where it was none of ours; refused:
    why, if it was.
    """

    method: str
    verb: str
    headers: dict[str, str]
    query: dict[str, str]
    body: Any = None
    host: int = 0
    status: int = 0
    answer: Any = None
    refused: str = ""


class IlinkEmulator(HttpEmulator[World, Call]):
    """Serves at `url` inside `async with`; what people do and see is in `world`."""

    def __init__(self, *, seed: int = 0, port: int = 0) -> None:
        super().__init__(World(seed), port)
        self.knobs = self.world.knobs
        self.methods = Methods(self.world)
        self.ports = [port, 0, 0]
        self._runners: list[web.AppRunner] = []
        self._uins: set[str] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.ports[0]}"

    @property
    def second_url(self) -> str:
        return f"http://127.0.0.1:{self.ports[1]}"

    @property
    def cdn_url(self) -> str:
        return f"http://127.0.0.1:{self.ports[2]}/c2c"

    def routes(self) -> Sequence[web.AbstractRouteDef]:
        return (
            web.route("*", "/_ctl/{name}", self._control),
            web.route("*", "/ilink/bot/{method:.+}", self._first),
        )

    async def start(self) -> None:
        """Listen; on the same ports again after a stop."""
        control = web.route("*", "/_ctl/{name}", self._control)
        sites = (
            self.routes(),
            (control, web.route("*", "/ilink/bot/{method:.+}", self._second)),
            (web.route("*", "/c2c/{method}", self._cdn),),
        )
        for index, routes in enumerate(sites):
            runner = await listen(self.ports[index], *routes)
            self.ports[index] = port_of(runner)
            self._runners.append(runner)
        self.world.cdn_url = self.cdn_url

    async def stop(self) -> None:
        """Close the ports and all connections; the world stays."""
        self.hang_up()
        for runner in self._runners:
            await runner.cleanup()
        self._runners.clear()

    def hang_up(self) -> None:
        """Close them at once, without waiting for anything; `stop` comes before another `start`."""
        for runner in self._runners:
            close_listeners(runner)
            cut_connections(runner)

    def fault(self, action: Action, **rule: Any) -> Fault:
        """Let something go wrong from now on; see kit.Fault. method: path after /ilink/bot/, or of
        a file.

        `answers` in place of `body`: the JSON that is answered with status 200.
        """
        if "answers" in rule:
            rule |= {"body": json.dumps(rule.pop("answers")), "code": 200}
        self.faults.append(Fault(action=action, **rule))
        return self.faults[-1]

    def wire_log(self, method: str = "") -> list[Call]:
        """Requests in order, of one method if named."""
        return [call for call in self.calls if not method or call.method == method]

    def refusals(self) -> list[str]:
        """Why we refused what was not meant to be refused: wrong forms, not limits and sessions."""
        return [f"{call.method}: {call.refused}" for call in self.calls if call.refused]

    # -- the bot's side ---------------------------------------------------------------------------

    async def _first(self, request: web.Request) -> web.StreamResponse:
        return await self._api(request, 0)

    async def _second(self, request: web.Request) -> web.StreamResponse:
        return await self._api(request, 1)

    async def _api(self, request: web.Request, host: int) -> web.StreamResponse:
        call = await self._note(request, host)
        message = call.body.get("msg") if isinstance(call.body, dict) else None
        chat = str(message.get("to_user_id", "")) if isinstance(message, dict) else ""
        return await self._through_faults(request, call, chat, self._answer)

    async def _cdn(self, request: web.Request) -> web.StreamResponse:
        call = await self._note(request, 2)
        return await self._through_faults(request, call, "", self._file)

    async def _note(self, request: web.Request, host: int) -> Call:
        body: Any = await request.read()
        if host < 2 and body:
            try:
                body = json.loads(body)
            except ValueError:
                body = None
        call = Call(
            method=request.match_info["method"],
            verb=request.method,
            headers=dict(request.headers),
            query=dict(request.query),
            body=body,
            host=host,
        )
        self.calls.append(call)
        self.world.notify()
        return call

    async def _through_faults(
        self, request: web.Request, call: Call, chat: str, answering: Callable[..., Any]
    ) -> web.StreamResponse:
        struck = [fault for fault in self.faults if fault.strikes(call.method, chat)]
        answer, call.status = await self.through_faults(
            request, struck, lambda: answering(request, call)
        )
        return answer

    async def _answer(self, request: web.Request, call: Call) -> web.Response:
        try:
            check_headers(request.headers, request.method == "POST")
            uin = request.headers.get("X-WECHAT-UIN", "")
            if uin and uin in self._uins:
                raise Refusal(-3, "X-WECHAT-UIN was used before")
            self._uins.add(uin)
            call.answer = await self._do(request, call)
        except Refusal as err:
            where = self.knobs.expired_in if err.code == -14 else "ret"
            call.answer = {where: err.code, "errmsg": str(err)}
            call.refused = str(err) if err.code == -3 or str(err) == "no app" else ""
        return web.json_response(call.answer)

    async def _do(self, request: web.Request, call: Call) -> Any:
        if call.method == "get_qrcode_status" and request.method == "GET":
            typed = [call.query.get("verify_code", "")]
            return await self._held(
                lambda: self._status(call, typed.pop() if typed else ""), lambda: {"status": "wait"}
            )
        if call.method == "get_bot_qrcode" and request.query.get("bot_type") != "3":
            raise Refusal(-3, "bot_type")
        if call.method == "get_bot_qrcode" and request.method == "GET":
            return self.methods.new_code([])
        kind, _, token = request.headers.get("Authorization", "").partition(" ")
        try:
            bot = self.methods.check(call.method, call.body, token if kind == "Bearer" else "")
        except KeyError as err:
            raise web.HTTPNotFound from err
        if call.method != "getupdates":
            return self.methods.call(call.method, call.body, bot)
        return await self._poll(call, token)

    async def _poll(self, call: Call, token: str) -> Any:
        cursor = call.body["get_updates_buf"]

        def updates() -> Any:
            bot = self.methods.check("getupdates", call.body, token)
            return self.methods.updates(bot, cursor)

        def nothing() -> Any:
            return self.methods.poll_answer(self.world.tokens.get(token, ""), cursor, [])

        return await self._held(updates, nothing)

    def _status(self, call: Call, digits: str) -> Any:
        hosts = (
            self.second_url if self.knobs.redirect else self.url,
            self.second_url.partition("//")[2],
        )
        return self.methods.status(call.query.get("qrcode", ""), digits, call.host == 1, hosts)

    async def _held(self, ask: Callable[[], Any], nothing: Callable[[], Any]) -> Any:
        """The first answer there is, or `nothing` after the hold."""
        loop = asyncio.get_running_loop()
        end = loop.time() + (0 if self.knobs.hasty else self.knobs.hold)
        while (answer := ask()) is None:
            left = end - loop.time()
            if left <= 0:
                return nothing()
            await self.world.change(left)
        return answer

    async def _file(self, request: web.Request, call: Call) -> web.Response:
        if call.method == "upload" and request.method in ("POST", "PUT"):
            return self._take_file(call)
        data = self.world.files.get(call.query.get("encrypted_query_param", ""))
        if call.method != "download" or data is None:
            return web.Response(status=404, headers={"x-error-message": "no such file"})
        return web.Response(body=data, content_type="application/octet-stream")

    def _take_file(self, call: Call) -> web.Response:
        whole = bytes.fromhex(call.query.get("whole", "")).decode()
        param = whole or call.query.get("encrypted_query_param", "")
        asked = self.world.places.get(param)
        right = asked is not None and (bool(whole) or call.query.get("filekey") == asked["filekey"])
        if not right or len(call.body) != (asked or {}).get("filesize"):
            return web.Response(
                status=400, headers={"x-error-message": "no such place, or not its size"}
            )
        name = self.world.token("param+/=")
        self.world.files[name] = call.body
        return web.Response(headers={"x-encrypted-param": name})

    # -- the test's side --------------------------------------------------------------------------

    async def _control(self, request: web.Request) -> web.Response:
        acts: dict[str, Callable[..., Any]] = {
            name: getattr(self.world, name) for name in OF_THE_WORLD
        }
        acts |= {
            "typing": lambda: self.world.typing,
            "digits": lambda: self.knobs.digits,
            "attach_text": lambda text, **rest: self.world.attach(text.encode(), **rest),
            "knob": lambda **rest: [
                setattr(self.knobs, name, value) for name, value in rest.items()
            ],
            "fault": self.fault,
            "clear_faults": self.clear_faults,
            "wire_log": self.wire_log,
            "wait": self._wait,
        }
        return await obey(
            request, acts, lambda value: value.hex() if isinstance(value, bytes) else value
        )

    async def _wait(
        self, sent: int = 0, acks: int = 0, codes: int = 0, timeout: float = 10
    ) -> bool:
        """Until so many messages are seen, or confirmed, or QR codes made; False after `timeout`
        seconds.
        """
        world = self.world
        return await self.wait(
            lambda: (
                len(world.visible) >= sent and world.acks() >= acks and len(world.codes) >= codes
            ),
            timeout,
        )


def main() -> None:
    """Serve until killed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--cdn-port", type=int, default=0)
    parser.add_argument("--digits", default="", help="what the phone asks for after a scan")
    options = parser.parse_args()
    emulator = IlinkEmulator(port=options.port)
    emulator.ports[2] = options.cdn_port
    emulator.knobs.digits = options.digits
    serve_until_killed(emulator, lambda: emulator.url, lambda: emulator.cdn_url)


if __name__ == "__main__":
    main()
