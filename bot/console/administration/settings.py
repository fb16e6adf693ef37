"""Routes of config.json: its keys and values, checks of a change, its text, and the versions
before.
"""

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import Response

from bot.config.file import ConfigFile
from bot.config.json_source import JsonSyntaxError, parse_config_json
from bot.config.keys import (
    KEYS,
    LIST_ITEM,
    REFERENCE_PATTERN,
    ConfigKey,
    changes_access,
    describe_schema,
    mask_settings,
)
from bot.config.messages import ConfigRejected
from bot.config.schema import Config
from bot.config.versions import ConfigVersion
from bot.console.administration import models
from bot.console.openapi import config_key_to_json
from bot.console.transcripts import CONSOLE_ACTOR
from bot.errors import ConfigError
from channels.phrases import Phrase, untranslated
from channels.web.auth import require_fresh_login
from channels.web.requests import (
    HttpRefusal,
    Route,
    compressed_json,
    is_versioned,
    json_response,
    request_language,
)
from memory.store.rows import to_iso
from memory.store.store import Store

Answer = TypeVar("Answer")
READ, WRITE = "config.read", "config.write"
# of a request with a whole text, in which each character may be an escape
MAX_SOURCE_BYTES = 4 * 2**20


class SettingsRoutes:
    """Handlers of the settings."""

    def __init__(self, file: ConfigFile, store: Store, environ: Mapping[str, str]) -> None:
        self._file = file
        self._store = store
        self._environ = environ
        self._changing = asyncio.Lock()

    def calls(self) -> tuple[Route, ...]:
        """Return the routes, with the action each one needs."""
        path = "/api/v1/config"
        return (
            Route(method="GET", path=path, action=READ, handler=self.settings, is_promised=True),
            Route(
                method="PATCH",
                path=path,
                action=WRITE,
                handler=self.change,
                is_promised=True,
                body=models.SettingsPartBody,
            ),
            Route(
                method="GET",
                path=f"{path}/keys",
                action=READ,
                handler=self.keys,
                reply=models.SettingsKeysBody,
            ),
            Route(method="GET", path=f"{path}/schema", action=READ, handler=self.schema),
            Route(
                method="GET",
                path=f"{path}/state",
                action=READ,
                handler=self.state,
                reply=models.SettingsStateBody,
            ),
            Route(
                method="POST",
                path=f"{path}/check",
                action=WRITE,
                handler=self.check,
                body=models.SettingsCheckBody,
                max_body=MAX_SOURCE_BYTES,
                reply=models.SettingsCheckedBody,
            ),
            *self._file_calls(path),
        )

    def _file_calls(self, path: str) -> tuple[Route, ...]:
        """Return the routes of config.json as it is written, and of its earlier versions."""
        return (
            Route(
                method="GET",
                path=f"{path}/source",
                action=READ,
                handler=self.source,
                reply=models.SettingsSourceBody,
            ),
            Route(
                method="PUT",
                path=f"{path}/source",
                action=WRITE,
                handler=self.replace,
                body=models.SettingsSourceBody,
                max_body=MAX_SOURCE_BYTES,
            ),
            Route(
                method="GET",
                path=f"{path}/versions",
                action=READ,
                handler=self.versions,
                reply=models.SettingsVersionsBody,
            ),
            Route(
                method="POST",
                path=f"{path}/versions/{{id}}/restore",
                action=WRITE,
                handler=self.restore,
            ),
        )

    async def settings(self, _: Request) -> Response:
        """Return every setting; secrets are masked."""
        await asyncio.to_thread(self._file.refresh)
        return self._response()

    async def keys(self, request: Request) -> Response:
        """Return what each key means and takes: what a form is made from."""
        items = [config_key_to_json(key) for key in KEYS.values() if LIST_ITEM not in key.path]
        return compressed_json(request, {"items": items})

    async def schema(self, _: Request) -> Response:
        """Return the JSON Schema of config.json."""
        return json_response(describe_schema())

    async def state(self, request: Request) -> Response:
        """Return the version of the file, what is wrong with it, and where each value comes
        from.
        """
        await asyncio.to_thread(self._file.refresh)
        origins = [
            self._origin(key)
            for key in KEYS.values()
            if LIST_ITEM not in key.path and key.form != "section"
        ]
        trouble = self._file.trouble
        return json_response(
            {
                "tag": await asyncio.to_thread(self._file.tag),
                "trouble": _problem_json("", trouble, request_language(request))
                if trouble
                else None,
                "items": [origin for origin in origins if origin["source"] != "default"],
            }
        )

    def _origin(self, key: ConfigKey) -> dict[str, Any]:
        written = self._file.written(key)
        names = REFERENCE_PATTERN.findall(written) if isinstance(written, str) else []
        source = "default" if written is None else "variable" if names else "file"
        return {
            "key": key.name,
            "source": source,
            "variables": names,
            "unset": [name for name in names if name not in self._environ],
        }

    async def check(self, request: Request, body: models.SettingsCheckBody) -> Response:
        """Tell what is wrong with a change, or with a whole text; nothing is written."""
        lang = request_language(request)
        try:
            if body.text is not None:
                await asyncio.to_thread(self._file.check_source, body.text)
                return json_response({"items": []})
            if body.part is None:
                raise HttpRefusal(
                    400,
                    "part",
                    Phrase("part must be a part of config.json, or text the whole of it"),
                )
            wrong = await asyncio.to_thread(self._file.check_part, body.part)
        except ConfigRejected as err:
            return json_response({"items": [_problem_json("", err, lang)]})
        return json_response(
            {"items": [_problem_json(key, err, lang) for key, err in wrong.items()]}
        )

    async def change(self, request: Request, body: models.SettingsPartBody) -> Response:
        """Apply a part of config.json."""
        return await self.apply_part(request, body.root, needs_tag=is_versioned(request))

    async def apply_part(
        self, request: Request, part: Mapping[str, Any], *, needs_tag: bool
    ) -> Response:
        """Apply a part of config.json, after a fresh login if it changes a secret, and return all
        settings.

        Args:
            needs_tag: the request must name the version that it changes.
        """
        shown = self._file.masked()
        if changes_access(shown, _merge(shown, part)):
            require_fresh_login(request.state.visitor)
        await self._apply(request, lambda: self._file.patch(part), needs_tag=needs_tag)
        await self._note(", ".join(part), "set")
        return self._response()

    async def preview_part(self, request: Request, part: Mapping[str, Any]) -> Config:
        """Return the settings as they would be with a part; nothing is written.

        Raises:
            HttpRefusal: 400 with what is wrong.
        """
        try:
            return await asyncio.to_thread(self._file.preview, part)
        except ConfigRejected as err:
            raise HttpRefusal(400, "config", err.phrase) from err

    async def source(self, _: Request) -> Response:
        """Return the text of config.json, with masked secrets."""
        try:
            text = await asyncio.to_thread(self._file.source)
        except (ConfigRejected, JsonSyntaxError) as err:
            raise HttpRefusal(
                409, "config", Phrase("fix the file on the disk first: {err}", err=err)
            ) from err
        return json_response({"text": text}, headers={"etag": self._file.tag()})

    async def replace(self, request: Request, body: models.SettingsSourceBody) -> Response:
        """Replace the text of config.json; secrets that are still masked stay as they are."""
        if changes_access(await asyncio.to_thread(self._shown), _parse(body.text)):
            require_fresh_login(request.state.visitor)
        await self._apply(request, lambda: self._file.replace_source(body.text))
        await self._note("config.json", "set")
        return self._response()

    def _shown(self) -> dict[str, Any]:
        try:
            return _parse(self._file.source())
        except (ConfigRejected, JsonSyntaxError):
            return {}

    async def versions(self, _: Request) -> Response:
        """Return the newest versions of config.json, newest first, each with what it changed;
        secrets are masked.
        """
        found = await asyncio.to_thread(self._file.versions)
        return json_response({"items": list(_versions_json(found))})

    async def restore(self, request: Request) -> Response:
        """Put a version of config.json back, byte for byte."""
        id = str(request.path_params["id"])
        versions = await asyncio.to_thread(self._file.versions)
        chosen = next((version for version in versions if version.id == id), None)
        if chosen and changes_access(_parse(versions[0].text), _parse(chosen.text)):
            require_fresh_login(request.state.visitor)
        try:
            await self._apply(request, lambda: self._file.restore(id))
        except KeyError as err:
            raise HttpRefusal(
                404, "not_found", Phrase("this version does not exist, or no longer does")
            ) from err
        await self._note(id, "restored")
        return self._response()

    async def _apply(
        self, request: Request, act: Callable[[], Answer], *, needs_tag: bool = True
    ) -> Answer:
        """Change the file if it is the one that was read; one request at a time, so that none
        changes it in between.

        Raises:
            HttpRefusal: 428, 412, or 400 with what is wrong.
        """
        expected = request.headers.get("if-match")
        if expected is None and needs_tag:
            raise HttpRefusal(
                428,
                "if_match",
                Phrase("send If-Match with the ETag that the settings were read with"),
            )
        async with self._changing:
            if expected is not None and expected != await asyncio.to_thread(self._file.tag):
                raise HttpRefusal(
                    412, "changed", Phrase("the settings were changed meanwhile; read them again")
                )
            try:
                return await asyncio.to_thread(act)
            except ConfigRejected as err:
                raise HttpRefusal(400, "config", err.phrase) from err
            except ConfigError as err:
                raise HttpRefusal(400, "config", untranslated(err)) from err

    async def _note(self, subject: str, outcome: str) -> None:
        await self._store.note("config", subject, outcome, CONSOLE_ACTOR, args=self._file.masked())

    def _response(self) -> Response:
        return json_response(self._file.masked(), headers={"etag": self._file.tag()})


def _problem_json(key: str, err: ConfigRejected, lang: str) -> dict[str, Any]:
    location = err.location
    return {
        "key": key,
        "message": err.say(lang),
        "line": location.line if location else 0,
        "column": location.column if location else 0,
    }


def _versions_json(versions: list[ConfigVersion]) -> Iterator[dict[str, Any]]:
    """Yield each version with what it changed in the one before it."""
    known = [(version, _parse(version.text)) for version in versions]
    for (version, settings), (_, before) in zip(known, [*known[1:], (None, None)], strict=True):
        at = to_iso(version.at)
        changes = [] if before is None else list(_differences(before, settings))
        yield {"id": version.id, "at": at, "first": before is None, "changes": changes}


def _merge(settings: Mapping[str, Any], part: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings with a part of them replaced."""
    merged = dict(settings)
    for name, value in part.items():
        known = merged.get(name)
        merged[name] = (
            _merge(known, value) if isinstance(known, dict) and isinstance(value, dict) else value
        )
    return merged


def _parse(text: str) -> dict[str, Any]:
    try:
        parsed: dict[str, Any] = parse_config_json(text).value
        return parsed
    except JsonSyntaxError:
        return {}


def _differences(before: Any, after: Any, path: tuple[str, ...] = ()) -> Iterator[dict[str, Any]]:
    """Yield each key whose value differs, with both as text; secrets are masked, and compared as
    they are.
    """
    if before == after:
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for name in dict.fromkeys([*before, *after]):
            yield from _differences(before.get(name), after.get(name), (*path, name))
        return
    shown = [mask_settings(value, path) for value in (before, after)]
    texts = ["" if value is None else json.dumps(value, ensure_ascii=False) for value in shown]
    yield {"key": ".".join(path), "before": texts[0], "after": texts[1]}
