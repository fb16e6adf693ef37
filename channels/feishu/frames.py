"""Frames of the long connection, in lark-oapi's own classes, which are brought in without the SDK around them."""

import importlib
import importlib.util
import sys
import threading
import types
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

CONTROL = 0  # a frame's method; what is not control is data
MOST_PIECES = 64
MOST_BYTES = 16 * 2**20
PIECES_SECONDS = 10.0
"""For so long the first pieces of a payload wait for the others."""
_PACKAGES = ("lark_oapi", "lark_oapi.core", "lark_oapi.core.utils", "lark_oapi.ws")
_importing = threading.Lock()


def lark(name: str) -> Any:
    """One module of lark-oapi.

    The package's own `import` runs the whole of its API: 10,000 modules, seconds, 170 MB. While ours goes on, its
    packages are stood in for by empty ones; a part that cannot be had so is imported the long way.

    Raises:
        ImportError: it is not installed.
    """
    with _importing:
        if f"lark_oapi.{name}" in sys.modules:
            return sys.modules[f"lark_oapi.{name}"]
        try:
            with _empty_packages():
                return importlib.import_module(f"lark_oapi.{name}")
        except (ImportError, AttributeError):
            return importlib.import_module(f"lark_oapi.{name}")


@contextmanager
def _empty_packages() -> Iterator[None]:
    missing = [name for name in _PACKAGES if name not in sys.modules]
    try:
        for name in missing:
            spec = importlib.util.find_spec(name)
            if spec is None or spec.submodule_search_locations is None:
                raise ImportError(f"{name} is missing", name="lark-oapi")
            empty = types.ModuleType(name)
            empty.__path__ = list(spec.submodule_search_locations)
            empty.__spec__ = spec
            sys.modules[name] = empty
        yield
    finally:
        for name in missing:
            sys.modules.pop(name, None)


@cache
def _kinds() -> tuple[Any, type[Exception]]:
    """The class of a frame, and the error of bytes that are none."""
    return lark("ws.pb.pbbp2_pb2").Frame, lark("ws.pb.google.protobuf.message").DecodeError


def read_frame(raw: bytes) -> Any:
    """A frame of its bytes.

    Raises:
        ValueError: they are none.
    """
    kind, broken = _kinds()
    frame = kind()
    try:
        frame.ParseFromString(raw)
    except (broken, IndexError, TypeError, UnicodeDecodeError) as err:
        raise ValueError("not a frame") from err
    if not frame.IsInitialized():
        raise ValueError("a frame without its numbers")
    return frame


def ping(service: int) -> bytes:
    """What is sent again and again to learn whether the other side lives."""
    frame = _kinds()[0]()
    frame.SeqID, frame.LogID, frame.service, frame.method = 0, 0, service, CONTROL
    header = frame.headers.add()
    header.key, header.value = "type", "ping"
    return bytes(frame.SerializeToString())


def ack(frame: Any, milliseconds: int) -> bytes:
    """The same frame back, as one that was dealt with in so long."""
    header = frame.headers.add()
    header.key, header.value = "biz_rt", str(milliseconds)
    frame.payload = b'{"code":200}'
    return bytes(frame.SerializeToString())


def headers(frame: Any) -> dict[str, str]:
    """A frame's headers by name."""
    return {header.key: header.value for header in frame.headers}


class Pieces:
    """Payloads that come in several frames, joined; an incomplete one is dropped after ten seconds."""

    def __init__(self) -> None:
        self._waiting: dict[str, tuple[float, dict[int, bytes]]] = {}

    def add(self, frame: Any, now: float) -> bytes | None:
        """The whole payload that this frame completes, None while others are missing.

        Args:
            now: monotonic seconds.

        Raises:
            ValueError: its numbers make no sense.
        """
        told = headers(frame)
        count, place = int(told.get("sum") or 1), int(told.get("seq") or 0)
        if count <= 1:
            return bytes(frame.payload)
        if not 0 <= place < count <= MOST_PIECES or not told.get("message_id"):
            raise ValueError(f"piece {place} of {count}")
        self._waiting = {id: kept for id, kept in self._waiting.items() if now - kept[0] < PIECES_SECONDS}
        _, pieces = self._waiting.setdefault(told["message_id"], (now, {}))
        pieces[place] = bytes(frame.payload)
        if sum(len(piece) for _, kept in self._waiting.values() for piece in kept.values()) > MOST_BYTES:
            self._waiting.clear()
            raise ValueError(f"pieces of more than {MOST_BYTES} bytes")
        if len(pieces) < count:
            return None
        del self._waiting[told["message_id"]]
        return b"".join(pieces[number] for number in range(count))
