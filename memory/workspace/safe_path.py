"""Opening files below a folder without ever leaving it: in one step where the kernel can, name by name where not."""

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
    """A path that is never followed: not plainly below its folder, or not a plain file of ours."""


class _OpenHow(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


def split_path(path: str) -> tuple[str, ...]:
    """The names a relative path is made of, () for "".

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
    """A descriptor of what lies at `parts` below the open `folder`; no link on the way is followed.

    Raises:
        PathRefused: a link, a device or something outside lies on the way.
        FileNotFoundError, NotADirectoryError: nothing is there.
    """
    try:
        return (open_with_openat2 if _HAS_OPENAT2 else open_by_names)(folder, parts, flags)
    except OSError as err:
        if err.errno in _OUTSIDE_ERRORS:
            raise PathRefused(f"not a plain file inside this folder: {'/'.join(parts)!r}") from err
        raise


def make_folders(folder: int, parts: Sequence[str]) -> int:
    """Like `open_below` for a folder, making those that are missing (0700); each new one is on the disk."""
    here = os.open(".", FOLDER_FLAGS | _COMMON_FLAGS, dir_fd=folder)
    for name in parts:
        try:
            _make_folder(name, here)
            below = open_below(here, [name], FOLDER_FLAGS)
        finally:
            os.close(here)
        here = below
    return here


def check_regular_file(fd: int, us: frozenset[int], *, single: bool = False) -> os.stat_result:
    """The status of an open file that is regular and belongs to one of `us`; `single`: it has no second name.

    Raises:
        PathRefused: it is anything else.
    """
    status = os.fstat(fd)
    # A file that was replaced after it was opened has no name at all, and is as good as it was.
    if not stat.S_ISREG(status.st_mode) or status.st_uid not in us or (single and status.st_nlink > 1):
        raise PathRefused("not a plain file of ours")
    return status


def display_path(parts: Sequence[str]) -> str:
    """The parts as one path."""
    return str(PurePosixPath(*parts)) if parts else ""


def _encode_name(name: str) -> bytes:
    return name.encode("utf-8", "surrogatepass")


def _is_hidden(sign: str) -> bool:
    if sign == "\u200d":  # joins emoji; it cannot turn a name around
        return False
    return unicodedata.category(sign) in ("Cc", "Cf", "Cs", "Zl", "Zp")


def _make_folder(name: str, folder: int) -> None:
    try:
        os.mkdir(name, 0o700, dir_fd=folder)
    except FileExistsError:
        return
    os.fsync(folder)


def open_with_openat2(folder: int, parts: Sequence[str], flags: int) -> int:
    """`open_below` by openat2; its errors are the kernel's."""
    how = _OpenHow(flags=flags | _COMMON_FLAGS, mode=0, resolve=_RESOLVE_FLAGS)
    path = "/".join(parts).encode() or b"."
    for _ in range(_MAX_TRIES):
        fd: int = _libc.syscall(_OPENAT2, folder, path, ctypes.byref(how), ctypes.sizeof(how))
        if fd >= 0:
            return fd
        code = ctypes.get_errno()
        # EAGAIN: a rename went on elsewhere while the kernel made sure that the path stays inside.
        if code not in (errno.EAGAIN, errno.EINTR):
            raise OSError(code, os.strerror(code), "/".join(parts))
    raise PathRefused(f"the folder does not hold still: {'/'.join(parts)!r}")


def open_by_names(folder: int, parts: Sequence[str], flags: int) -> int:
    """`open_below` for kernels without openat2: one folder after the other; ELOOP at a link."""
    here = os.open(".", FOLDER_FLAGS | _COMMON_FLAGS, dir_fd=folder)
    for number, name in enumerate(parts, start=1):
        wanted = flags if number == len(parts) else FOLDER_FLAGS
        try:
            below = os.open(name, wanted | _COMMON_FLAGS | os.O_NOFOLLOW, dir_fd=here)
        except NotADirectoryError as err:
            raise _link_error(err, name, here) from err
        finally:
            os.close(here)
        here = below
    return here


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
