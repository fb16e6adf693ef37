"""Opens and reads files below a folder without ever leaving it."""

import errno
import os
import stat
import unicodedata
from collections.abc import Sequence
from contextlib import suppress

MAX_BYTES = 25 * 2**20  # of one file that is read or written as a whole
MAX_NAME_BYTES = 120  # bytes of one name in a path
TEMPORARY = ".mnema-tmp"  # ends the names of unfinished writes
_COMMON_FLAGS = os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
# a link, a socket or device, a long name
_REFUSED_ERRORS = {errno.ELOOP, errno.ENXIO, errno.ENAMETOOLONG}
FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY


class PathRefused(ValueError):
    """The path may leave its folder, or is not a regular file of an allowed owner."""


class FileTooBig(ValueError):
    """The file exceeds the size limit for one text."""


def split_path(path: str) -> tuple[str, ...]:
    """Split a relative path into its names, () for "".

    Raises:
        PathRefused: absolute, or a name is one of `.`, `..`, too long, ends in a dot or space, is
            of an unfinished write, or holds a control, bidirectional or unpaired surrogate
            character.
    """
    found = tuple(path.split("/")) if path else ()
    for name in found:
        if (
            name in ("", ".", "..")
            or name[-1] in ". "
            or "\\" in name
            or _byte_length(name) > MAX_NAME_BYTES
        ):
            raise PathRefused(f"not a path inside this folder: {path!r}")
        if name.casefold().endswith(TEMPORARY):
            raise PathRefused(f"the name of an unfinished write: {path!r}")
        if any(_is_hidden(sign) for sign in name):
            raise PathRefused(f"the path holds an invisible character: {path!r}")
    return found


def open_below(folder: int, parts: Sequence[str], flags: int) -> int:
    """Open what is at `parts` below the open `folder` without following links; returns a
    descriptor.

    Each name is opened relative to the descriptor of the name before it, so swapping a folder for a
    link in between leads to an error and never outside (S33).

    Raises:
        PathRefused: the path has a link or a device.
        FileNotFoundError, NotADirectoryError: there is no such file.
    """
    current = os.open(".", FOLDER_FLAGS | _COMMON_FLAGS, dir_fd=folder)
    for number, name in enumerate(parts, start=1):
        name_flags = flags if number == len(parts) else FOLDER_FLAGS
        try:
            below = os.open(name, name_flags | _COMMON_FLAGS | os.O_NOFOLLOW, dir_fd=current)
        except OSError as err:
            if err.errno in _REFUSED_ERRORS or (
                isinstance(err, NotADirectoryError) and _is_link(name, current)
            ):
                raise PathRefused(
                    f"not a regular file inside this folder: {'/'.join(parts)!r}"
                ) from err
            raise
        finally:
            os.close(current)
        current = below
    return current


def make_folders(folder: int, parts: Sequence[str]) -> int:
    """Like `open_below` for a folder, creating missing ones with mode 0700; each new one is
    fsynced.
    """
    current = os.open(".", FOLDER_FLAGS | _COMMON_FLAGS, dir_fd=folder)
    for name in parts:
        try:
            with suppress(FileExistsError):
                os.mkdir(name, 0o700, dir_fd=current)
                os.fsync(current)
            below = open_below(current, [name], FOLDER_FLAGS)
        finally:
            os.close(current)
        current = below
    return current


def check_regular_file(fd: int, us: frozenset[int], *, single: bool = False) -> os.stat_result:
    """Return the status of an open file after checking that it is regular and owned by one of `us`.

    Args:
        single: it must not have a second hard link.

    Raises:
        PathRefused: a check failed.
    """
    status = os.fstat(fd)
    # A file that was replaced after it was opened has no link left; its content is still good.
    if (
        not stat.S_ISREG(status.st_mode)
        or status.st_uid not in us
        or (single and status.st_nlink > 1)
    ):
        raise PathRefused("not a regular file of an allowed owner")
    return status


def allowed_owners(folder: int) -> frozenset[int]:
    """User ids that may own a file here: this process's and the folder owner's (root in a
    container, for example).
    """
    return frozenset({os.geteuid(), os.fstat(folder).st_uid})


def read_limited(fd: int, path: str) -> bytes:
    """Read an open file to its end.

    Args:
        path: for the error.

    Raises:
        FileTooBig: it has more than MAX_BYTES.
    """
    pieces: list[bytes] = []
    size = 0
    while piece := os.read(fd, 1 << 20):
        size += len(piece)
        if size > MAX_BYTES:
            raise FileTooBig(f"{path} is larger than {MAX_BYTES} bytes")
        pieces.append(piece)
    return b"".join(pieces)


def _byte_length(name: str) -> int:
    return len(name.encode("utf-8", "surrogatepass"))


def _is_hidden(sign: str) -> bool:
    # U+200D joins emoji and is harmless in a name.
    return sign != "\u200d" and unicodedata.category(sign) in ("Cc", "Cf", "Cs", "Zl", "Zp")


def _is_link(name: str, folder: int) -> bool:
    # Opening a link with O_DIRECTORY and O_NOFOLLOW fails with ENOTDIR instead of ELOOP.
    return stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
