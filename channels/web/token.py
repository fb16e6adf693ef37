"""The web token's file: made at the first start, readable by its owner alone."""

import contextlib
import os
import secrets
import stat
from pathlib import Path

from channels.web.errors import CannotServe

SHORTEST = 22  # signs of base64url that carry 128 bits


def load_token(path: Path) -> tuple[str, bool]:
    """The token, and whether it was made just now.

    Raises:
        CannotServe: others may read the file, it is a link, not ours, too short, or cannot be read or written.
    """
    try:
        with contextlib.suppress(FileNotFoundError):
            return _read(path), False
        with contextlib.suppress(FileExistsError):
            return _make(path), True
        return _read(path), False  # another process was first
    except OSError as err:
        raise CannotServe(f"the web token {path} cannot be used: {err.strerror or err}") from err


def _make(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    token = secrets.token_urlsafe(32)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    opened = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    try:
        with os.fdopen(opened, "w") as file:
            file.write(token + "\n")
            file.flush()
            os.fsync(file.fileno())
        os.link(draft, path)  # whole or not at all, and never over another's
    finally:
        draft.unlink(missing_ok=True)
    return token


def _read(path: Path) -> str:
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)) as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
            raise CannotServe(f"the web token {path} is not a file of this account; delete it, a new one is made")
        if found.st_mode & 0o077:
            mode = stat.S_IMODE(found.st_mode)
            raise CannotServe(f"the web token {path} has mode {mode:04o}; others can read it: run chmod 600 on it")
        token = file.read(4096).strip()
    if len(token) < SHORTEST or not token.isascii():
        raise CannotServe(f"the web token {path} is empty or too short; delete it, a new one is made")
    return token
