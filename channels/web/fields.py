"""Types of fields that queries and bodies of requests have in common."""

import base64
import binascii
import re
from datetime import date
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, StringConstraints, ValidationInfo

from channels.web.requests import NAME, clean_text

MAX_WORD_CHARS = 200  # of a name, an id, or words that are searched for
MAX_KEY_CHARS = 200
CURSOR_REFUSED = "cursor is not one that this list gave as next"

#: A name, an id or words to search for, without blanks around.
Word = Annotated[str, StringConstraints(strip_whitespace=True, max_length=MAX_WORD_CHARS)]
#: The same, and it must be given.
RequiredWord = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_WORD_CHARS)]


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
        raise ValueError("conversation must be 1 to 128 of the characters A-Z a-z 0-9 . _ : -")
    return name


def check_client_key(key: str) -> str:
    """Return the key that a client gives a message.

    Raises:
        ValueError: it is empty, too long, or no plain text.
    """
    if not 1 <= len(key) <= MAX_KEY_CHARS:
        raise ValueError(f"key must be a string of 1 to {MAX_KEY_CHARS} characters, or left out")
    if clean_text(key) != key:
        raise ValueError("key must be plain text without NUL")
    return key


def _check_day(text: str, field: ValidationInfo) -> str:
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError as err:
        raise ValueError(f"{field.field_name} must be a day such as 2026-11-20") from err


#: A day such as 2026-11-20.
Day = Annotated[str, AfterValidator(_check_day)]


def matches(pattern: str, sentence: str) -> AfterValidator:
    """Accept a text that the pattern matches as a whole, and refuse another with a sentence."""
    compiled = re.compile(pattern, re.ASCII)

    def check(text: str) -> str:
        if not compiled.fullmatch(text):
            raise ValueError(sentence)
        return text

    return AfterValidator(check)


#: The `next` of a page whose entries have an id: the last one's.
IdCursor = Annotated[str, matches("[0-9a-z]{26}|", CURSOR_REFUSED)]
#: The same of a page of numbered entries.
NumberCursor = Annotated[str, matches("[0-9]{0,9}", CURSOR_REFUSED)]


def _decode_base64(given: Any) -> bytes:
    try:
        return base64.b64decode(given, validate=True)
    except (binascii.Error, TypeError, ValueError) as err:
        raise ValueError("data must be base64") from err


#: A file, or a piece of one: base64 in JSON.
Base64Data = Annotated[bytes, BeforeValidator(_decode_base64, json_schema_input_type=str)]
