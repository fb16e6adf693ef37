"""Keeps the beginning and the end of a command's output, as text that is safe to show. Pure."""

import re
import unicodedata

from bot.telemetry.log import redact

HEAD_BYTES, TAIL_BYTES = 50_000, 150_000
_ESCAPES = re.compile(
    (
        r"\x1b(?:\[[0-?]*[ "
        r"-/]*[@-~]|\][^\x07\x1b]{0,10000}(?:\x07|\x1b\\)?|[PX^_][^\x1b]{0,10000}\x1b\\|.)"
    ),
    re.DOTALL,
)


class OutputBuffer:
    """The first 50 kB and the last 150 kB of what was added."""

    def __init__(self) -> None:
        self._head = bytearray()
        self._tail = bytearray()
        #: Bytes added in all.
        self.size = 0

    def add(self, data: bytes) -> None:
        """Add output."""
        self.size += len(data)
        free = HEAD_BYTES - len(self._head)
        self._head += data[:free]
        self._tail += data[free:] if free > 0 else data
        if len(self._tail) > 2 * TAIL_BYTES:
            del self._tail[:-TAIL_BYTES]

    def text(self) -> str:
        """Return it without control codes and secrets, and with a line where something was left
        out.
        """
        tail = bytes(self._tail[-TAIL_BYTES:])
        left_out = self.size - len(self._head) - len(tail)
        if not left_out:
            return clean_output(bytes(self._head) + tail)
        return (
            f"{clean_output(bytes(self._head))}\n[… {left_out:,} bytes left out …]\n"
            f"{clean_output(tail)}"
        )


def clean_output(data: bytes) -> str:
    """Decode output; remove control codes, characters that cannot be seen, and secrets."""
    text = _ESCAPES.sub(
        "", data.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    )
    return redact(
        "".join(
            sign
            for sign in text
            if sign in "\n\t" or not unicodedata.category(sign).startswith("C")
        )
    )
