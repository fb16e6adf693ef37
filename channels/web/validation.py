"""Queries and bodies of requests, validated by the model of their route, and the types of fields
for these models.
"""

import asyncio
import base64
import binascii
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import date
from typing import Annotated, Any, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    StringConstraints,
    ValidationError,
    ValidationInfo,
)
from starlette.requests import Request

from channels.errors import InvalidValue
from channels.phrases import Phrase
from channels.web.requests import (
    NAME,
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
SENTENCES: Mapping[str, Phrase] = {
    "missing": Phrase("{field} is missing"),
    "string_too_short": Phrase("{field} is missing"),
    "too_short": Phrase("{field} is empty"),
    "string_type": Phrase("{field} must be a string"),
    "string_unicode": Phrase("{field} must be plain text"),
    "int_type": Phrase("{field} must be a whole number"),
    "int_parsing": Phrase("{field} must be a whole number"),
    "int_from_float": Phrase("{field} must be a whole number"),
    "bool_type": Phrase("{field} must be true or false"),
    "bool_parsing": Phrase("{field} must be true or false"),
    "float_type": Phrase("{field} must be a number"),
    "float_parsing": Phrase("{field} must be a number"),
    "finite_number": Phrase("{field} must be a number"),
    "list_type": Phrase("{field} must be a list"),
    "dict_type": Phrase("{field} must be an object"),
    "model_type": Phrase("{field} must be an object"),
    "string_too_long": Phrase("{field} may have at most {max_length} characters"),
    "too_long": Phrase("{field} may have at most {max_length} entries"),
    "greater_than_equal": Phrase("{field} must be {ge} or more"),
    "less_than_equal": Phrase("{field} must be {le} or less"),
    "literal_error": Phrase("{field} must be one of {choices}"),
    "extra_forbidden": Phrase("{field} is not a field here"),
    "value_error": Phrase("{error}"),
}
OTHER_SENTENCE = Phrase("{field} is not valid: {message}")


@asynccontextmanager
async def read_fields(
    route: Route, request: Request, large_bodies: LargeBodies
) -> AsyncIterator[tuple[BaseModel, ...]]:
    """Read what the handler of a route takes beside the request; a large body counts as read when
    the block ends.

    Raises:
        HttpRefusal: 400 with the field that is wrong; as `read_body`, `parse_json` and
            `LargeBodies.read_json`.
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
    """Parse a query string; what is given twice counts once, NUL is dropped, what is empty or
    unknown is left out.

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
    if route.text_field and not request.headers.get("content-type", "").startswith(
        "application/json"
    ):
        try:
            return {route.text_field: raw.decode("utf-8")}
        except UnicodeDecodeError as err:
            raise HttpRefusal(
                400, route.text_field, Phrase("the file must be UTF-8"), field=route.text_field
            ) from err
    return as_object(
        await asyncio.to_thread(parse_json, raw) if len(raw) > SMALL_BODY else parse_json(raw)
    )


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
    details["choices"] = (
        str(details.get("expected", "")).replace(" or ", ", ").replace("'", "").removeprefix(", ")
    )
    error = details.get("error")
    if isinstance(error, InvalidValue):
        details["error"] = error.phrase
    sentence = SENTENCES.get(kind, OTHER_SENTENCE).fill(
        field=".".join(place)[:MAX_PATH_CHARS], message=first["msg"], **details
    )
    code = "unknown_field" if kind == "extra_forbidden" else place[0]
    return HttpRefusal(400, code, sentence, field=place[0][:MAX_PATH_CHARS])


# Types of fields that several requests have.

MAX_WORD_CHARS = 200  # of a name, an id, or words that are searched for
MAX_KEY_CHARS = 200
CURSOR_REFUSED = Phrase("cursor is not one that this list gave as next")


def _clean(given: Any) -> Any:
    return clean_text(given) if isinstance(given, str) else given


#: A text of which what cannot be stored is dropped, instead of being refused.
CleanText = Annotated[str, BeforeValidator(_clean)]
#: A name, an id or words to search for, without blanks around.
Word = Annotated[str, StringConstraints(strip_whitespace=True, max_length=MAX_WORD_CHARS)]
#: The same, and it must be given.
RequiredWord = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_WORD_CHARS)
]


def at_most(limit: int) -> BeforeValidator:
    """Make a larger number of a query this one: who asks for a longer page gets the longest."""

    def lower(given: Any) -> Any:
        is_number = isinstance(given, str) and given.isascii() and given.isdigit()
        is_larger = is_number and int(given[:9]) > limit  # its first digits tell
        return limit if is_larger else given

    return BeforeValidator(lower)


def check_conversation_name(name: str) -> str:
    """Return the name that a client gives a conversation.

    Raises:
        ValueError: it has other characters, or too many.
    """
    if not NAME.fullmatch(name):
        raise InvalidValue(
            Phrase("conversation must be 1 to 128 of the characters A-Z a-z 0-9 . _ : -")
        )
    return name


def check_client_key(key: str) -> str:
    """Return the key that a client gives a message.

    Raises:
        ValueError: it is empty, too long, or no plain text.
    """
    if not 1 <= len(key) <= MAX_KEY_CHARS:
        raise InvalidValue(
            Phrase(
                "key must be a string of 1 to {most} characters, or left out", most=MAX_KEY_CHARS
            )
        )
    if clean_text(key) != key:
        raise InvalidValue(Phrase("key must be plain text without NUL"))
    return key


def _check_day(text: str, field: ValidationInfo) -> str:
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError as err:
        raise InvalidValue(
            Phrase("{field} must be a day such as 2026-11-20", field=field.field_name)
        ) from err


#: A day such as 2026-11-20.
Day = Annotated[str, AfterValidator(_check_day)]


def matches(pattern: re.Pattern[str], sentence: Phrase) -> AfterValidator:
    """Accept a text that the pattern matches as a whole, and refuse another with a sentence."""

    def check(text: str) -> str:
        if not pattern.fullmatch(text):
            raise InvalidValue(sentence)
        return text

    return AfterValidator(check)


#: The `next` of a page whose entries have an id: the last one's.
IdCursor = Annotated[str, matches(re.compile("[0-9a-z]{26}|", re.ASCII), CURSOR_REFUSED)]
#: The same of a page of numbered entries.
NumberCursor = Annotated[str, matches(re.compile("[0-9]{0,9}", re.ASCII), CURSOR_REFUSED)]


def _decode_base64(given: Any) -> bytes:
    try:
        return base64.b64decode(given, validate=True)
    except (binascii.Error, TypeError, ValueError) as err:
        raise InvalidValue(Phrase("data must be base64")) from err


#: A file, or a piece of one: base64 in JSON.
Base64Data = Annotated[bytes, BeforeValidator(_decode_base64, json_schema_input_type=str)]
