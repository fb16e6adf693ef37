"""The frames of Feishu's long connection in bytes, written from the table of their fields and not
with the SDK.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


class Malformed(ValueError):
    """These bytes are no frame."""


@dataclass(slots=True, kw_only=True)
class Frame:
    """One frame; method 0 is control, 1 is data."""

    seq_id: int = 0
    log_id: int = 0
    service: int = 0
    method: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    payload: bytes = b""

    def encode(self) -> bytes:
        numbers = enumerate((self.seq_id, self.log_id, self.service, self.method), 1)
        whole = b"".join(
            _varint(number << 3 | VARINT) + _varint(value) for number, value in numbers
        )
        for key, value in self.headers.items():
            whole += _field(5, _field(1, key.encode()) + _field(2, value.encode()))
        return whole + (_field(8, self.payload) if self.payload else b"")


def decode(raw: bytes) -> Frame:
    """Raises Malformed: a required field is missing, or has the wrong type, or the bytes end too
    early.
    """
    frame, seen = Frame(), set()
    for number, value in _fields(raw):
        seen.add(number)
        if number in (1, 2, 3, 4):
            if not isinstance(value, int):
                raise Malformed(f"field {number} is no number")
            setattr(frame, ("seq_id", "log_id", "service", "method")[number - 1], value)
        elif number == 5:
            pair = dict(_fields(_bytes(value)))
            frame.headers[_bytes(pair[1]).decode()] = _bytes(pair[2]).decode()
        elif number == 8:
            frame.payload = _bytes(value)
    if not {1, 2, 3, 4} <= seen:
        raise Malformed("a required field is missing")
    return frame


def _fields(raw: bytes) -> Iterator[tuple[int, int | bytes]]:
    place = 0
    while place < len(raw):
        tag, place = _read_varint(raw, place)
        kind = tag & 7
        if kind == VARINT:
            number, place = _read_varint(raw, place)
            yield tag >> 3, number
            continue
        length = {FIXED64: 8, FIXED32: 4}.get(kind)
        if length is None:
            if kind != BYTES:
                raise Malformed(f"wire type {kind}")
            length, place = _read_varint(raw, place)
        if place + length > len(raw):
            raise Malformed("cut off")
        yield tag >> 3, raw[place : place + length]
        place += length


def _read_varint(raw: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while place < len(raw):
        byte = raw[place]
        place += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, place
        shift += 7
    raise Malformed("cut off")


def _varint(value: int) -> bytes:
    encoded = bytearray()
    while value > 127:
        encoded.append(value & 127 | 128)
        value >>= 7
    return bytes([*encoded, value])


def _field(number: int, value: bytes) -> bytes:
    return _varint(number << 3 | BYTES) + _varint(len(value)) + value


def _bytes(value: int | bytes) -> bytes:
    if isinstance(value, int):
        raise Malformed("a number where bytes belong")
    return value
