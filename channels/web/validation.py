"""Queries and bodies of requests, validated by the model of their route; a wrong field is told in one sentence."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from starlette.requests import Request

from channels.web.requests import (
    SMALL_BODY,
    HttpRefusal,
    LargeBodies,
    Route,
    as_object,
    clean_text,
    parse_json,
    read_body,
)

Fields = TypeVar("Fields", bound=BaseModel)
MAX_PATH_CHARS = 60  # of a field's name in a refusal: a client may send any
# By pydantic's name of an error. Of a ValueError in a model its own sentence is told.
SENTENCES: Mapping[str, str] = {
    "missing": "{field} is missing",
    "string_too_short": "{field} is missing",
    "too_short": "{field} is empty",
    "string_type": "{field} must be a string",
    "int_type": "{field} must be a whole number",
    "int_parsing": "{field} must be a whole number",
    "int_from_float": "{field} must be a whole number",
    "bool_type": "{field} must be true or false",
    "bool_parsing": "{field} must be true or false",
    "float_type": "{field} must be a number",
    "float_parsing": "{field} must be a number",
    "finite_number": "{field} must be a number",
    "list_type": "{field} must be a list",
    "dict_type": "{field} must be an object",
    "model_type": "{field} must be an object",
    "string_too_long": "{field} may have {max_length} characters",
    "too_long": "{field} may have {max_length} entries",
    "greater_than_equal": "{field} must be {ge} or more",
    "less_than_equal": "{field} must be {le} or less",
    "literal_error": "{field} must be one of {choices}",
    "extra_forbidden": "{field} is not a field here",
    "value_error": "{error}",
}
OTHER_SENTENCE = "{field} is not as it must be: {message}"


@asynccontextmanager
async def read_fields(
    route: Route, request: Request, large_bodies: LargeBodies
) -> AsyncIterator[tuple[BaseModel, ...]]:
    """Read what the handler of a route takes beside the request; a large body counts as read when the block ends.

    Raises:
        HttpRefusal: 400 with the field that is wrong; as `read_body`, `parse_json` and `LargeBodies.read_json`.
    """
    if route.query:
        yield (parse_query(route.query, request),)
    elif route.body is None:
        yield ()
    elif route.large_field:
        async with large_bodies.read_json(request, member=route.large_field) as values:
            body = parse_body(route.body, values)
            values.clear()  # the texts of its files, which are decoded now
            yield (body,)
    else:
        yield (parse_body(route.body, await _read_values(route, request)),)


def parse_query(model: type[Fields], request: Request) -> Fields:
    """Parse a query string; what is given twice counts once, NUL is dropped, what is empty or unknown is left out.

    Raises:
        HttpRefusal: 400 with the parameter that is wrong.
    """
    cleaned = {name: clean_text(value) for name, value in request.query_params.items()}
    return _validate(model, {name: value for name, value in cleaned.items() if value}, strict=False)


def parse_body(model: type[Fields], values: Mapping[str, Any]) -> Fields:
    """Parse the fields of a JSON object: no value is taken for one of another type.

    Raises:
        HttpRefusal: 400 with the field that is wrong.
    """
    return _validate(model, values, strict=True)


async def _read_values(route: Route, request: Request) -> dict[str, Any]:
    raw = await read_body(request, limit=route.max_body)
    if route.text_field and not request.headers.get("content-type", "").startswith("application/json"):
        try:
            return {route.text_field: raw.decode("utf-8")}
        except UnicodeDecodeError as err:
            raise HttpRefusal(400, route.text_field, "the file must be UTF-8", field=route.text_field) from err
    return as_object(await asyncio.to_thread(parse_json, raw) if len(raw) > SMALL_BODY else parse_json(raw))


def _validate(model: type[Fields], values: Mapping[str, Any], *, strict: bool) -> Fields:
    try:
        return model.model_validate(values, strict=strict)
    except ValidationError as err:
        raise _refusal(err) from err


def _refusal(err: ValidationError) -> HttpRefusal:
    """Return the refusal that tells the first error."""
    first = err.errors(include_url=False, include_input=False)[0]
    kind, place = first["type"], [str(part) for part in first["loc"]] or ["body"]
    details = dict(first.get("ctx", {}))
    details["choices"] = str(details.get("expected", "")).replace(" or ", ", ").replace("'", "").removeprefix(", ")
    sentence = SENTENCES.get(kind, OTHER_SENTENCE).format(
        field=".".join(place)[:MAX_PATH_CHARS], message=first["msg"], **details
    )
    code = "unknown_field" if kind == "extra_forbidden" else place[0]
    return HttpRefusal(400, code, sentence, field=place[0][:MAX_PATH_CHARS])
