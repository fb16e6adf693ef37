"""JSON as strangers may send it: no key twice, no NaN, no number without end, not deep. Pure."""

import json
import re
from typing import Any
from xml.parsers import expat

MAX_JSON_DEPTH = 32
MAX_NUMBER_DIGITS = 4_300  # digits; Python itself refuses to read more, but only since 3.11


def parse_strict_json(raw: bytes | bytearray) -> Any:
    """The value.

    Raises:
        ValueError: it is not JSON of that kind; says why.
    """
    try:
        value = json.loads(
            raw.decode("utf-8"),
            object_pairs_hook=_unique_object,
            parse_constant=_reject_constant,
            parse_int=_parse_integer,
        )
    except RecursionError as err:
        raise ValueError("it is nested too deep") from err
    if _json_depth(value) > MAX_JSON_DEPTH:
        raise ValueError(f"it is nested more than {MAX_JSON_DEPTH} levels deep")
    return value


def load_object(data: str | bytes) -> dict[str, Any] | None:
    """Parse a JSON object; None for anything else, however malformed."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _unique_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError("a key stands there twice")
    return fields


def _reject_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number")


def _parse_integer(digits: str) -> int:
    if len(digits) > MAX_NUMBER_DIGITS:
        raise ValueError("a number without end")
    return int(digits)


def _json_depth(value: Any) -> int:
    level, depth = [value], 0
    while level := [item for item in level if isinstance(item, dict | list)]:
        depth += 1
        level = [inner for item in level for inner in (item.values() if isinstance(item, dict) else item)]
    return depth


# XML as strangers may send it: flat, small, and without anything that could open a file, a door or a bomb. Pure.

MAX_XML_DEPTH = 8
MAX_XML_ELEMENTS = 500
MAX_XML_BYTES = 1 << 20
_FORBIDDEN_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


class BadXml(ValueError):
    """This is not the XML that was agreed on."""


def parse_flat_xml(body: bytes) -> dict[str, str]:
    """The texts of the root's children by name; a child that has children of its own is "".

    Signs that XML cannot carry become U+FFFD, so that an odd sign costs itself and not the message. The text is
    UTF-8, whatever its declaration says.

    Raises:
        BadXml: not well-formed, more than 1 MiB, a DOCTYPE, a child that comes twice, too deep, too many.
    """
    if len(body) > MAX_XML_BYTES:
        raise BadXml(f"more than {MAX_XML_BYTES} bytes")
    reading = _XmlReader()
    try:
        reading.parser.Parse(_decode_xml(body), True)
    except expat.ExpatError as err:
        raise BadXml("not well-formed") from err
    return reading.found


class _XmlReader:
    """One document on its way through the parser."""

    def __init__(self) -> None:
        self.found: dict[str, str] = {}
        self.parser = expat.ParserCreate(encoding="utf-8")
        self.parser.buffer_text = True
        self.parser.StartDoctypeDeclHandler = self._doctype
        self.parser.StartElementHandler = self._opened
        self.parser.EndElementHandler = self._closed
        self.parser.CharacterDataHandler = self._text
        self._depth = 0
        self._count = 0
        self._pieces: list[str] = []
        self._nested = False

    def _doctype(self, *_: object) -> None:
        raise BadXml("a DOCTYPE")

    def _opened(self, name: str, _: dict[str, str]) -> None:
        self._depth += 1
        self._count += 1
        if self._depth > MAX_XML_DEPTH or self._count > MAX_XML_ELEMENTS:
            raise BadXml("too deep, or too many elements")
        if self._depth == 2 and name in self.found:
            raise BadXml("an element that comes twice")
        self._nested = self._depth > 2
        self._pieces.clear()

    def _closed(self, name: str) -> None:
        if self._depth == 2:
            self.found[name] = "" if self._nested else "".join(self._pieces)
            self._nested = False
        self._depth -= 1

    def _text(self, piece: str) -> None:
        self._pieces.append(piece)


def _decode_xml(body: bytes) -> bytes:
    try:
        text = body.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        text = body.decode("utf-8", "replace")
    return _FORBIDDEN_IN_XML.sub("\ufffd", text).encode()


def to_cdata(text: str) -> str:
    """The text as character data that no text can break out of."""
    return "<![CDATA[" + _FORBIDDEN_IN_XML.sub("\ufffd", text).replace("]]>", "]]]]><![CDATA[>") + "]]>"
