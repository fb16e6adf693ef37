"""Strict parsers for JSON and XML from untrusted callers, and replay protection for signed
calls.
"""

import hashlib
import json
import re
from collections import OrderedDict
from collections.abc import Mapping
from datetime import UTC, datetime
from itertools import islice
from typing import Any

MAX_JSON_DEPTH = 32
MAX_XML_DEPTH = 8
MAX_XML_ELEMENTS = 500
MAX_XML_BYTES = 1 << 20
_FORBIDDEN_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")

NONCE_SECONDS = 600.0  # how long a nonce is remembered
MAX_NONCES = 100_000
MAX_DROPS = 100  # deletions in one write to the notebook


def parse_strict_json(raw: bytes | bytearray) -> Any:
    """Parse UTF-8 JSON without repeated keys, NaN or deep nesting; Python itself refuses more than
    4,300 digits.

    Raises:
        ValueError: it is not such JSON; the text says why.
    """
    try:
        value = json.loads(
            raw.decode("utf-8"),
            object_pairs_hook=_unique_object,
            parse_constant=_reject_constant,
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


def parse_timestamp(seconds: float) -> datetime:
    """Return the moment of a unix time.

    Raises:
        ValueError: no calendar has such a date.
    """
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, OSError) as err:
        raise ValueError("a date out of range") from err


def _unique_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError("a key is repeated")
    return fields


def _reject_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number")


def _json_depth(value: Any) -> int:
    level, depth = [value], 0
    while level := [item for item in level if isinstance(item, dict | list)]:
        depth += 1
        level = [
            inner for item in level for inner in (item.values() if isinstance(item, dict) else item)
        ]
    return depth


class BadXml(ValueError):
    """The XML is not flat and small, or not well-formed."""


def parse_flat_xml(body: bytes) -> dict[str, str]:
    """Return the texts of the root's children by name; a child that has children of its own is "".

    The text is read as UTF-8 whatever its declaration says. Characters that XML does not allow
    become U+FFFD, so that one of them does not cost the whole message.

    Raises:
        BadXml: not well-formed, over 1 MiB, a DOCTYPE, a repeated child, too deep, or too many
            elements.
    """
    if len(body) > MAX_XML_BYTES:
        raise BadXml(f"more than {MAX_XML_BYTES} bytes")
    from xml.parsers import expat  # two of the channels need it

    reader = _XmlReader(expat.ParserCreate(encoding="utf-8"))
    try:
        reader.parser.Parse(_clean_xml(body), True)
    except expat.ExpatError as err:
        raise BadXml("not well-formed") from err
    return reader.texts


class _XmlReader:
    """Collects the texts of one document."""

    def __init__(self, parser: Any) -> None:
        self.texts: dict[str, str] = {}
        self.parser = parser
        self.parser.buffer_text = True
        self.parser.StartDoctypeDeclHandler = self._reject_doctype
        self.parser.StartElementHandler = self._open_element
        self.parser.EndElementHandler = self._close_element
        self.parser.CharacterDataHandler = self._add_text
        self._depth = 0
        self._count = 0
        self._pieces: list[str] = []
        self._nested = False

    def _reject_doctype(self, *_: object) -> None:
        raise BadXml("a DOCTYPE")

    def _open_element(self, name: str, _: dict[str, str]) -> None:
        self._depth += 1
        self._count += 1
        if self._depth > MAX_XML_DEPTH or self._count > MAX_XML_ELEMENTS:
            raise BadXml("too deep, or too many elements")
        if self._depth == 2 and name in self.texts:
            raise BadXml("an element that comes twice")
        self._nested = self._depth > 2
        self._pieces.clear()

    def _close_element(self, name: str) -> None:
        if self._depth == 2:
            self.texts[name] = "" if self._nested else "".join(self._pieces)
            self._nested = False
        self._depth -= 1

    def _add_text(self, piece: str) -> None:
        self._pieces.append(piece)


def _clean_xml(body: bytes) -> bytes:
    try:
        text = body.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        text = body.decode("utf-8", "replace")
    return _FORBIDDEN_IN_XML.sub("\ufffd", text).encode()


def to_cdata(text: str) -> str:
    """Quote a text as character data; no text can break out of it."""
    return (
        "<![CDATA["
        + _FORBIDDEN_IN_XML.sub("\ufffd", text).replace("]]>", "]]]]><![CDATA[>")
        + "]]>"
    )


class ReplayGuard:
    """Nonces of the last ten minutes, each with a digest of the content that came with it."""

    def __init__(self) -> None:
        self._seen: OrderedDict[str, tuple[float, str]] = OrderedDict()

    def fits(self, nonce: str, content: bytes, now: float) -> bool:
        """Remember a nonce; False if it came before with other content. now: seconds of a clock
        that runs forward.
        """
        while self._seen and (
            len(self._seen) >= MAX_NONCES
            or now - next(iter(self._seen.values()))[0] > NONCE_SECONDS
        ):
            self._drop(self._seen.popitem(last=False)[0])
        name, digest = _digest(nonce.encode("utf-8", "replace")), _digest(content)
        if name not in self._seen:
            self._add(name, now, digest)
        return self._seen[name][1] == digest

    def _add(self, name: str, at: float, digest: str) -> None:
        self._seen[name] = (at, digest)

    def _drop(self, name: str) -> None:
        """Called after a nonce is forgotten."""


class StoredReplayGuard(ReplayGuard):
    """A replay guard whose nonces survive a restart as entries of a notebook.

    Times are unix seconds.

    A nonce protects after a restart only once its entry was written: pass what `unstored` returns
    to `stored` then.
    """

    def __init__(self, prefix: str) -> None:
        super().__init__()
        self._prefix = prefix
        self._pending: dict[str, str] = {}

    def load(self, pages: Mapping[str, str], now: float) -> None:
        """Add the stored entries; they take precedence over nonces seen since the start."""
        recent = dict(self._seen)
        self._seen.clear()
        for name, (at, digest) in sorted(self._parse(pages).items(), key=lambda item: item[1]):
            if now - at > NONCE_SECONDS:
                self._drop(name)
            else:
                self._seen[name] = (at, digest)
        for name, seen in recent.items():
            self._seen.setdefault(name, seen)

    def unstored(self) -> dict[str, str]:
        """Return the entries to write next; "" deletes one, and each call returns only some
        deletions.
        """
        new = {name: value for name, value in self._pending.items() if value}
        return new | dict.fromkeys(
            islice((name for name, value in self._pending.items() if not value), MAX_DROPS), ""
        )

    def stored(self, pages: Mapping[str, str]) -> None:
        """Take note that these entries of `unstored` were written."""
        for name, value in pages.items():
            if self._pending.get(name) == value:
                del self._pending[name]

    def _parse(self, pages: Mapping[str, str]) -> dict[str, tuple[float, str]]:
        seen = {}
        for name, page in pages.items():
            at, _, digest = page.partition(" ")
            if name.startswith(self._prefix) and at.isdigit():
                seen[name.removeprefix(self._prefix)] = (float(at), digest)
        return seen

    def _add(self, name: str, at: float, digest: str) -> None:
        super()._add(name, at, digest)
        self._pending[self._prefix + name] = f"{int(at)} {digest}"

    def _drop(self, name: str) -> None:
        self._pending[self._prefix + name] = ""


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:32]
