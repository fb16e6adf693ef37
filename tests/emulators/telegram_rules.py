"""How the Telegram emulator judges requests: aiogram's models, the server's limits, and the
server's words.

aiogram takes seconds of CPU to import, so the emulator imports it where it needs a model: the first
world that is made.
"""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from tests.emulators.telegram_html import ParseError, parse_html, tidy, units
from tests.emulators.telegram_markdown import parse_markdown

if TYPE_CHECKING:
    from aiogram import types

MOST_CODE_POINTS = 4096
MOST_BYTES = 32_768
PREFIXES = {
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    409: "Conflict",
}


class ApiError(Exception):
    """An answer that is not ok."""

    def __init__(self, code: int, why: str, **parameters: int) -> None:
        prefix = PREFIXES.get(code, "")
        super().__init__(f"{prefix}: {why}" if prefix else why)
        self.code = code
        self.parameters = parameters


@cache
def models() -> dict[str, type[BaseModel]]:
    """The model of each method, by its name in lower case."""
    from aiogram import methods

    return {
        model.__api_method__.lower(): model
        for model in vars(methods).values()
        if isinstance(model, type)
        and issubclass(model, methods.TelegramMethod)
        and model is not methods.TelegramMethod
    }


def validated(method: str, raw: dict[str, Any]) -> Any:
    """The request as aiogram's model of it.

    Raises ApiError for what is missing, of a wrong type, or unknown.
    """
    from aiogram import methods, types

    model = models().get(method.lower())
    if model is None:
        raise ApiError(404, "method not found")
    parts = {
        name
        for name in raw
        if isinstance(raw[name], types.InputFile) and name not in model.model_fields
    }
    unknown = set(raw) - set(model.model_fields) - parts
    if unknown:
        raise ApiError(400, f"unknown parameters {sorted(unknown)}")
    if model is methods.SendMessage:
        raw = {"text": ""} | raw  # the server takes an absent text for an empty one
    try:
        known = {name: value for name, value in raw.items() if name not in parts}
        judged = model.model_validate(
            {name: _decoded(model, name, value) for name, value in known.items()}
        )
    except ValidationError as err:
        first = err.errors()[0]
        raise ApiError(400, f"parameter {first['loc']}: {first['msg']}") from err
    return _attached(judged, {name: raw[name] for name in parts})


def _attached(judged: Any, parts: dict[str, Any]) -> Any:
    """With the uploads in the places that name them."""
    for one in getattr(judged, "media", None) or ():
        name = one.media.removeprefix("attach://") if isinstance(one.media, str) else ""
        if name in parts:
            object.__setattr__(one, "media", parts[name])
    for field in ("photo", "document"):
        value = getattr(judged, field, None)
        if isinstance(value, str) and value.removeprefix("attach://") in parts:
            object.__setattr__(judged, field, parts[value.removeprefix("attach://")])
    return judged


def _decoded(model: type[BaseModel], name: str, value: Any) -> Any:
    """Forms carry everything as text; what is no text by its type is JSON there."""
    kind = str(model.model_fields[name].annotation)
    if not isinstance(value, str) or kind.startswith(("<class 'str'", "str")):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


def flooded(seconds: int, parameters: bool = True) -> ApiError:
    why = f"Too Many Requests: retry after {seconds}"
    return ApiError(429, why, retry_after=seconds) if parameters else ApiError(429, why)


def readable(
    text: str, mode: Any, given: list[types.MessageEntity] | None, most: int = MOST_CODE_POINTS
) -> tuple[str, list[dict[str, Any]]]:
    """Text and entities as they will be seen, within the limits. Raises ApiError."""
    if not text:
        raise ApiError(400, "message text is empty")
    if len(text.encode("utf-8", "surrogatepass")) > MOST_BYTES:
        raise ApiError(400, "text is too long")
    mode = mode.lower() if isinstance(mode, str) else ""
    if mode not in ("", "html", "markdownv2"):
        raise ApiError(400, "unsupported parse_mode")
    entities = [dump(entity) for entity in given or ()]
    try:
        if mode:
            text, entities = (parse_html if mode == "html" else parse_markdown)(text)
    except ParseError as err:
        raise ApiError(400, f"can't parse entities: {err}") from err
    if any(entity["offset"] + entity["length"] > units(text) for entity in entities):
        raise ApiError(400, "entity beyond the end of the text")
    text, entities = tidy(text, entities)
    if not text:
        raise ApiError(400, "text must be non-empty")
    if len(text) > most:
        raise ApiError(
            400,
            "message is too long" if most == MOST_CODE_POINTS else "message caption is too long",
        )
    return text, entities


def dump(value: BaseModel) -> Any:
    return value.model_dump(mode="json", by_alias=True, exclude_none=True)
