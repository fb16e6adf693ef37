"""Reading a small file that a person may have put anywhere: a link to one is fine, anything without an end is not."""

import errno
import os
import stat
from pathlib import Path

MAX_BYTES = 1_000_000
_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


class NotRegularFile(OSError):
    """A device, a pipe, a socket or a folder stands there."""


class ConfigFileTooLarge(OSError):
    """It is larger than 1 MB."""


def read_regular_file(path: Path) -> bytes:
    """Read the whole file; links are followed, for configuration is often mounted as one.

    Raises:
        NotRegularFile, TooLarge: it is nothing to read; no more than 1 MB of it was read.
        OSError: it cannot be opened or read.
    """
    handle = os.open(path, _FLAGS)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise NotRegularFile(errno.EINVAL, "It is not a plain file", str(path))
        pieces, size = [], 0
        while piece := os.read(handle, MAX_BYTES + 1 - size):
            pieces.append(piece)
            size += len(piece)
            if size > MAX_BYTES:
                raise ConfigFileTooLarge(errno.EFBIG, "It is larger than 1 MB", str(path))
        return b"".join(pieces)
    finally:
        os.close(handle)
