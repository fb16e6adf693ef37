"""A strict Bot API server on loopback: an object, or a process by
`python -m tests.emulators.telegram --port 0`.

The process prints its URL first. The bot's side is there as Telegram has it: /bot<token>/<method>,
and /file/bot<token>/<path>. What people do, what goes wrong and what is seen is at /_ctl/<name>,
with arguments as query or JSON:

    inject text= user= chat= thread= reply_to= delay=
                            a person writes; with message_id= edit_date= it is an edit
    edit, forward, press, picture, file, album
                            what else they do (bytes as base64); see telegram_people
    member, migrate, chat   the bot joins or leaves, a group moves, a chat's state
    repeat, shuffle, restart_ids, advance
                            the platform repeats, reorders, renumbers; the clock jumps
    fault action= method= chat= times= …, clear_faults, flood, forget_files
                            what goes wrong; see kit.Fault
    sent, drafts, draft, actions, acks, pending, brought, wire_log
                            what is to be seen
    wait sent= acks= timeout=
                            until so many messages were sent and updates confirmed

Requests are judged by aiogram's models of the methods; limits, refusals and their words are the
server's. Webhooks go to https on the four ports, or to plain http on this machine.
"""

import argparse
from base64 import b64decode
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from tests.emulators.kit import (
    Fault,
    HttpEmulator,
    answer_instead,
    cut_connections,
    obey,
    serve_until_killed,
)
from tests.emulators.telegram_methods import Methods
from tests.emulators.telegram_people import People
from tests.emulators.telegram_rules import ApiError, flooded
from tests.emulators.telegram_world import World

TOKEN = "100:secret-of-the-lab"
USERNAME = "lab_bot"


@dataclass(slots=True, kw_only=True)
class Call:
    """One request as it came, and the status it was answered with (0: it was not)."""

    method: str
    parameters: dict[str, Any]
    status: int = 0


class TelegramEmulator(HttpEmulator[World, Call]):
    """Serves at `url` inside `async with`; what people do and see is in `world`."""

    def __init__(
        self,
        *,
        token: str = TOKEN,
        username: str = USERNAME,
        privacy: bool = True,
        seed: int = 0,
        port: int = 0,
    ) -> None:
        self.token = token
        self.bot_id = int(token.partition(":")[0])
        self.username = username
        super().__init__(
            World(bot_id=self.bot_id, username=username, privacy=privacy, seed=seed), port
        )
        self.methods = Methods(self.world)
        self.hooks = self.methods.hooks
        self.people = People(self.world)
        self.inject = self.world.inject
        self.sent = self.world.sent
        self.acks = self.world.acks
        self.chat = self.world.chat

    def routes(self) -> Sequence[web.AbstractRouteDef]:
        return (
            web.route("*", "/_ctl/{name}", self._control),
            web.route("*", "/bot{token}/{method}", self._bot),
            web.get("/file/bot{token}/{path:.+}", self._file),
        )

    async def stop(self) -> None:
        await self.hooks.stop()
        await super().stop()

    def cut(self) -> None:
        """Break every connection that is open now."""
        if self._runner is not None:
            cut_connections(self._runner)

    def wire_log(self, method: str = "") -> list[Call]:
        """Requests in order, of one method if named."""
        return [call for call in self.calls if not method or call.method.lower() == method.lower()]

    # -- the bot's side ---------------------------------------------------------------------------

    async def _bot(self, request: web.Request) -> web.StreamResponse:
        call = Call(method=request.match_info["method"], parameters=await _parameters(request))
        return await self._served(
            request, call, lambda: self._answer(request.match_info["token"], call)
        )

    async def _file(self, request: web.Request) -> web.StreamResponse:
        """A file's bytes by the link that getFile gave; in faults and in the log this is the method
        "download".
        """
        call = Call(method="download", parameters={"path": request.match_info["path"]})

        async def answer() -> web.Response:
            kept = self.methods.media.at(request.match_info["path"])
            if request.match_info["token"] != self.token or kept is None:
                return _refusal(404, "Not Found")
            return web.Response(body=kept.data, content_type="application/octet-stream")

        return await self._served(request, call, answer)

    async def _served(
        self, request: web.Request, call: Call, does: Callable[[], Awaitable[web.Response]]
    ) -> web.StreamResponse:
        """What is answered, as far as the faults let it be."""
        self.calls.append(call)
        self.world.notify()
        chat = str(call.parameters.get("chat_id", ""))
        struck = [fault for fault in self.faults if fault.strikes(call.method, chat)]
        answer, call.status = await self.through_faults(request, struck, does, self._instead)
        return answer

    async def _answer(self, token: str, call: Call) -> web.Response:
        if token != self.token:
            known = token.partition(":")[0].isdigit() and ":" in token
            return _refusal(401, "Unauthorized") if known else _refusal(404, "Not Found")
        try:
            result = await self.methods.call(call.method, call.parameters)
        except ApiError as err:
            return _refusal(err.code, str(err), err.parameters)
        return _json({"ok": True, "result": result}, 200)

    async def _instead(self, fault: Fault, request: web.Request) -> web.Response | None:
        if fault.action == "retry_after":
            err = flooded(int(fault.seconds), fault.parameters)
            return _refusal(err.code, str(err), err.parameters)
        return await answer_instead(fault, request)

    # -- the test's side --------------------------------------------------------------------------

    async def _control(self, request: web.Request) -> web.Response:
        acts: dict[str, Callable[..., Any]] = {
            "inject": self.world.inject,
            "repeat": self.world.repeat,
            "shuffle": self.world.shuffle,
            "restart_ids": self.world.restart_ids,
            "flood": self.world.flood,
            "advance": self.world.advance,
            "chat": self.world.chat,
            "edit": self.people.edit,
            "forward": self.people.forward,
            "press": self.people.press,
            "member": self.people.member,
            "migrate": self.people.migrate,
            "picture": lambda data, **fields: self.people.picture(b64decode(data), **fields),
            "file": lambda data, **fields: self.people.file(data=b64decode(data), **fields),
            "album": lambda pictures, **fields: self.people.album(
                list(map(b64decode, pictures)), **fields
            ),
            "forget_files": self.people.forget_files,
            "draft": self.world.draft,
            "brought": lambda: self.hooks.brought,
            "fault": self.fault,
            "clear_faults": self.clear_faults,
            "sent": self.world.sent,
            "acks": self.world.acks,
            "actions": lambda: self.world.shown_actions,
            "drafts": lambda: self.world.drafts,
            "pending": lambda: self.world.pending,
            "wire_log": self.wire_log,
            "wait": self._wait,
        }
        return await obey(request, acts, _plain)

    async def _wait(self, sent: int = 0, acks: int = 0, timeout: float = 10) -> bool:
        """Until so many messages are seen and updates confirmed; False after `timeout` seconds."""
        return await self.wait(
            lambda: len(self.sent()) >= sent and len(self.acks()) >= acks, timeout
        )


async def _parameters(request: web.Request) -> dict[str, Any]:
    given: dict[str, Any] = dict(request.query)
    if request.content_type == "application/json" and request.can_read_body:
        posted: dict[str, Any] = await request.json()
        return given | posted
    form = await request.post()
    return given | {name: _uploaded(value) for name, value in form.items()}


def _uploaded(value: Any) -> Any:
    from aiogram import types

    return (
        types.BufferedInputFile(value.file.read(), value.filename)
        if isinstance(value, web.FileField)
        else value
    )


def _json(body: dict[str, Any], status: int, headers: dict[str, str] | None = None) -> web.Response:
    return web.json_response(body, status=status, headers=headers)


def _refusal(code: int, why: str, parameters: dict[str, int] | None = None) -> web.Response:
    body: dict[str, Any] = {"ok": False, "error_code": code, "description": why}
    headers = {}
    if parameters:
        body["parameters"] = parameters
    if parameters and "retry_after" in parameters:
        headers["Retry-After"] = str(parameters["retry_after"])
    return _json(body, code, headers)


def _plain(value: Any) -> Any:
    from aiogram import types

    if isinstance(value, types.BufferedInputFile):
        return {"name": value.filename, "bytes": len(value.data)}
    return value


def main() -> None:
    """Serve until killed; the first line printed is the URL."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--token", default=TOKEN)
    parser.add_argument("--username", default=USERNAME)
    options = parser.parse_args()
    emulator = TelegramEmulator(token=options.token, username=options.username, port=options.port)
    serve_until_killed(emulator, lambda: emulator.url)


if __name__ == "__main__":
    main()
