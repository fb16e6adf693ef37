"""Opens files below a folder without ever leaving it: with openat2, or name by name on older kernels."""

import ctypes
import errno
import os
import stat
import unicodedata
from collections.abc import Sequence
from pathlib import PurePosixPath

MAX_NAME_BYTES = 120  # bytes of one name in a path
_OPENAT2 = 437
_RESOLVE_FLAGS = 0x08 | 0x04 | 0x02  # RESOLVE_BENEATH, RESOLVE_NO_SYMLINKS, RESOLVE_NO_MAGICLINKS
_COMMON_FLAGS = os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
_OUTSIDE_ERRORS = {errno.ELOOP, errno.EXDEV, errno.ENXIO, errno.ENAMETOOLONG}
_MAX_TRIES = 100
FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY


class PathRefused(ValueError):
    """The path may leave its folder, or is not a regular file of an allowed owner."""


class _OpenHow(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


def split_path(path: str) -> tuple[str, ...]:
    """Split a relative path into its names, () for "".

    Raises:
        PathRefused: absolute, or a name is one of `.`, `..`, too long, ends in a dot or space, or holds a
            control, bidirectional or unpaired surrogate character.
    """
    found = tuple(path.split("/")) if path else ()
    for name in found:
        if name in ("", ".", "..") or name[-1] in ". " or "\\" in name or len(_encode_name(name)) > MAX_NAME_BYTES:
            raise PathRefused(f"not a path inside this folder: {path!r}")
        if any(_is_hidden(sign) for sign in name):
            raise PathRefused(f"the path holds an invisible character: {path!r}")
    return found


def open_below(folder: int, parts: Sequence[str], flags: int) -> int:
    """Open what is at `parts` below the open `folder` without following links; returns a descriptor.

    Raises:
        PathRefused: the path has a link or a device, or leads outside.
        FileNotFoundError, NotADirectoryError: there is no such file.
    """
    try:
        return (open_with_openat2 if _HAS_OPENAT2 else open_by_names)(folder, parts, flags)
    except OSError as err:
        if err.errno in _OUTSIDE_ERRORS:
            raise PathRefused(f"not a plain file inside this folder: {'/'.join(parts)!r}") from err
        raise


def make_folders(folder: int, parts: Sequence[str]) -> int:
    """Like `open_below` for a folder, creating missing ones with mode 0700; each new one is fsynced."""
    current = os.open(".", FOLDER_FLAGS | _COMMON_FLAGS, dir_fd=folder)
    for name in parts:
        try:
            _make_folder(name, current)
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
    if not stat.S_ISREG(status.st_mode) or status.st_uid not in us or (single and status.st_nlink > 1):
        raise PathRefused("not a plain file of ours")
    return status


def display_path(parts: Sequence[str]) -> str:
    """Join the parts with slashes."""
    return str(PurePosixPath(*parts)) if parts else ""


def _encode_name(name: str) -> bytes:
    return name.encode("utf-8", "surrogatepass")


def _is_hidden(sign: str) -> bool:
    if sign == "\u200d":  # joins emoji; harmless in a name
        return False
    return unicodedata.category(sign) in ("Cc", "Cf", "Cs", "Zl", "Zp")


def _make_folder(name: str, folder: int) -> None:
    try:
        os.mkdir(name, 0o700, dir_fd=folder)
    except FileExistsError:
        return
    os.fsync(folder)


def open_with_openat2(folder: int, parts: Sequence[str], flags: int) -> int:
    """`open_below` with openat2; errors are the kernel's."""
    how = _OpenHow(flags=flags | _COMMON_FLAGS, mode=0, resolve=_RESOLVE_FLAGS)
    path = "/".join(parts).encode() or b"."
    for _ in range(_MAX_TRIES):
        fd: int = _libc.syscall(_OPENAT2, folder, path, ctypes.byref(how), ctypes.sizeof(how))
        if fd >= 0:
            return fd
        code = ctypes.get_errno()
        # EAGAIN: a concurrent rename; the kernel cannot prove that the path stays inside.
        if code not in (errno.EAGAIN, errno.EINTR):
            raise OSError(code, os.strerror(code), "/".join(parts))
    raise PathRefused(f"the folder keeps changing: {'/'.join(parts)!r}")


def open_by_names(folder: int, parts: Sequence[str], flags: int) -> int:
    """`open_below` for kernels without openat2: folder by folder; ELOOP at a link."""
    current = os.open(".", FOLDER_FLAGS | _COMMON_FLAGS, dir_fd=folder)
    for number, name in enumerate(parts, start=1):
        wanted = flags if number == len(parts) else FOLDER_FLAGS
        try:
            below = os.open(name, wanted | _COMMON_FLAGS | os.O_NOFOLLOW, dir_fd=current)
        except NotADirectoryError as err:
            raise _link_error(err, name, current) from err
        finally:
            os.close(current)
        current = below
    return current


def _link_error(err: OSError, name: str, folder: int) -> OSError:
    # O_DIRECTORY with O_NOFOLLOW says "not a directory" of a link.
    if stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
        return OSError(errno.ELOOP, os.strerror(errno.ELOOP), name)
    return err


def _has_openat2() -> bool:
    if not os.uname().sysname.startswith("Linux"):
        return False
    how = _OpenHow(flags=os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY, mode=0, resolve=_RESOLVE_FLAGS)
    here = os.open("/", FOLDER_FLAGS | _COMMON_FLAGS)
    try:
        fd = _libc.syscall(_OPENAT2, here, b".", ctypes.byref(how), ctypes.sizeof(how))
    finally:
        os.close(here)
    if fd >= 0:
        os.close(fd)
    return bool(fd >= 0)


_libc = ctypes.CDLL(None, use_errno=True)
_HAS_OPENAT2 = _has_openat2()
