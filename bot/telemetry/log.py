"""The program's log: JSON lines in rotated files, without secrets and without text that people
wrote.
"""

import base64
import errno
import hashlib
import json
import logging
import os
import re
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, MutableMapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote, quote_plus

import structlog
from structlog.typing import FilteringBoundLogger, Processor

_FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW


class LogFile:
    """A rotated log file that several processes may write: `mnema.log`, then `mnema.log.1` and so
    on.

    The handlers of `logging` lose lines when two processes rotate. Here a line is one append, only
    one process at a time renames files, and no process waits for that lock: a suspended process
    blocks no other.
    """

    def __init__(self, path: Path, max_bytes: int, keep: int) -> None:
        self._path, self._max_bytes, self._keep = path, max_bytes, keep
        self._handle = -1

    def write(self, line: str) -> None:
        """Append one line, which ends in a newline.

        Raises:
            OSError: not all of it was written; the next line begins on a line of its own.
        """
        rest = memoryview(line.encode("utf-8", "replace"))
        self._prepare(len(rest))
        try:
            while rest:
                rest = rest[os.write(self._handle, rest) :]
        except OSError:
            self.close()
            raise

    def flush(self) -> None:
        """Do nothing: nothing is buffered."""

    def close(self) -> None:
        """Close the file; the next line opens it again."""
        if self._handle >= 0:
            handle, self._handle = self._handle, -1
            with suppress(OSError):
                os.close(handle)

    def _prepare(self, size: int) -> None:
        """Open the current file, and rotate if `size` bytes more would exceed its limit."""
        self._reopen_if_moved()
        current = os.fstat(self._handle).st_size
        if current and current + size > self._max_bytes:
            with suppress(OSError):  # then this file grows, and the next line tries again
                self._rotate(size)
            self._reopen_if_moved()

    def _reopen_if_moved(self) -> None:
        """Open the file at the path: another process may have rotated it, or a person may have
        moved it.
        """
        if self._handle >= 0:
            with suppress(FileNotFoundError):
                if os.path.samestat(
                    os.stat(self._path, follow_symlinks=False), os.fstat(self._handle)
                ):
                    return
            self.close()
        self._open()

    def _open(self) -> None:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._handle = os.open(self._path, _FLAGS, 0o600)
        status = os.fstat(self._handle)
        if stat.S_IMODE(status.st_mode) & 0o077 and status.st_uid == os.geteuid():
            os.fchmod(self._handle, 0o600)
        if status.st_size and os.pread(self._handle, 1, status.st_size - 1) != b"\n":
            os.write(self._handle, b"\n")  # the last write was cut short, by a crash or a full disk

    def _rotate(self, size: int) -> None:
        """Rename each file to the next number, unless another process is doing that or has just
        done it.
        """
        import fcntl  # not on every system

        folder = os.open(self._path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.stat(self._path).st_size + size <= self._max_bytes:
                return
            for old in self._path.parent.glob(f"{self._path.name}.*"):
                if old.suffix[1:].isdigit() and int(old.suffix[1:]) > self._keep:
                    old.unlink()
            for number in range(self._keep, 1, -1):
                with suppress(FileNotFoundError):
                    os.replace(self._numbered(number - 1), self._numbered(number))
            os.replace(self._path, self._numbered(1))
        finally:
            os.close(folder)

    def _numbered(self, number: int) -> Path:
        return self._path.with_name(f"{self._path.name}.{number}")


HIDDEN_MARK = "[secret]"
MAX_CAUSES = 20  # of one error that are searched
MIN_SECRET_CHARS = 6  # a shorter secret is not searched for: it would hide ordinary words
# Loggers with the configured level; all others log from WARNING on.
OWN_LOGGERS = ("bot", "channels", "memory", "mnema")

SECRET_PATTERNS = re.compile(
    r"""
      (?<!\d)\d{6,12}:[A-Za-z0-9_-]{30,}                                   # a Telegram bot's token, also inside a URL
    | \bsk-[A-Za-z0-9_-]{16,}                                         # a model provider's key
    | (?<=Bearer[ ])[^\s"'\\,]{6,}
    | (?<=://)[^\s/"'\\@:]*:[^\s/"'\\@]+(?=@)                         # name and password in an address
    | (?<=[?&])(?:access_token|ticket|token|secret|app_secret|key|api_key|signature|sign)=[^\s&"'\\]+
    """,  # noqa: E501
    re.VERBOSE | re.IGNORECASE,
)
_CONTROL_SIGNS = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSettings:
    """Settings of the log file."""

    #: Lowest level that is written.
    level: str = "info"
    #: Size at which the file is rotated.
    max_bytes: int = 10_000_000
    #: Number of rotated files.
    keep: int = 5


class LogRedactor:
    """Removes known secrets, and text that looks like a secret, from a line."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._forms: set[str] = set()
        self._known: re.Pattern[str] | None = None
        self.learn(secrets)

    def learn(self, secrets: Iterable[str]) -> None:
        """Add secrets; earlier ones stay known, for a platform may still accept them."""
        self._forms |= {
            form
            for secret in secrets
            if len(secret) >= MIN_SECRET_CHARS
            for form in _secret_forms(secret)
        }
        longest_first = sorted(self._forms, key=len, reverse=True)
        self._known = re.compile("|".join(map(re.escape, longest_first))) if longest_first else None

    def __call__(self, line: str) -> str:
        """Return the line with every secret replaced by HIDDEN_MARK."""
        if self._known:
            line = self._known.sub(HIDDEN_MARK, line)
        return SECRET_PATTERNS.sub(HIDDEN_MARK, line)


def _secret_forms(secret: str) -> Iterator[str]:
    """Yield a secret as it is, and as in a URL, in JSON, and in longer base64 text at each
    alignment.
    """
    yield secret
    yield quote(secret, safe="", errors="replace")
    yield quote_plus(secret, errors="replace")
    yield json.dumps(secret)[1:-1]
    yield json.dumps(secret, ensure_ascii=False)[1:-1]
    data = secret.encode("utf-8", "surrogatepass")
    for shift in range(3):
        encoded = base64.b64encode(b"\0" * shift + data).decode()
        # Signs at both ends also depend on the neighbouring bytes.
        fixed = encoded[(0, 2, 3)[shift] : len(encoded) - (0, 3, 2)[(len(data) + shift) % 3]]
        yield fixed
        yield fixed.translate(str.maketrans("+/", "-_"))


_process = LogRedactor()


def redact(text: str) -> str:
    """Remove the secrets that this process's log hides; for foreign text that is shown to
    people.
    """
    return _process(text)


def escape_control_signs(text: str) -> str:
    """Escape control and direction characters, so that no line can imitate another."""
    return _CONTROL_SIGNS.sub(lambda sign: f"\\u{ord(sign[0]):04x}", text)


def describe_text(text: str) -> dict[str, Any]:
    """Return what a log may hold of a message: its length and the first 12 digits of its
    SHA-256.
    """
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return {"chars": len(text), "sha256": digest[:12]}


@contextmanager
def bind_trace(trace: str, **more: str | int) -> Iterator[None]:
    """Add this trace id to every line logged inside; tasks started inside inherit it."""
    with structlog.contextvars.bound_contextvars(trace=trace, **more):
        yield


def get_logger(name: str) -> FilteringBoundLogger:
    """Return a logger; call it with an event name and facts, never with message text."""
    return cast(FilteringBoundLogger, structlog.get_logger(name))


def start_logging(
    path: Path,
    settings: LogSettings | None = None,
    secrets: Iterable[str] = (),
    *,
    warn: bool = True,
) -> LogRedactor:
    """Send all logging of the process to the file, and warnings as plain text to stderr if `warn`.

    An error of the log itself is never raised into the program.

    Returns:
        The redactor; call its `learn` when the secrets change.
    """
    settings = settings or LogSettings()
    global _process
    redactor = _process = LogRedactor(secrets)
    file_handler = _QuietFile(LogFile(path, settings.max_bytes, settings.keep))
    file_handler.setFormatter(_formatter(_json_renderer(redactor)))
    handlers: list[logging.Handler] = [file_handler]
    if warn:
        stderr_handler = _QuietHandler(sys.stderr)
        stderr_handler.setLevel(logging.WARNING)
        stderr_handler.setFormatter(_formatter(_human_renderer(redactor)))
        handlers.append(stderr_handler)
    root = logging.getLogger()
    for handler in root.handlers[:]:
        root.removeHandler(handler)
        handler.close()
    root.setLevel(logging.WARNING)
    for handler in handlers:
        root.addHandler(handler)
    for name in OWN_LOGGERS:
        logging.getLogger(name).setLevel(settings.level.upper())
    logging.captureWarnings(True)
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *_shared_processors(),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        wrapper_class=structlog.stdlib.BoundLogger,
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )
    return redactor


def _shared_processors() -> list[Processor]:
    return [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]


def _formatter(render: Processor) -> logging.Formatter:
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=_shared_processors(),
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            _replace_traceback_at_file_limit,
            structlog.processors.format_exc_info,
            render,
        ],
    )


def _replace_traceback_at_file_limit(
    _: Any, __: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """Replace the traceback by one sentence if no descriptors are left: then even an import
    fails.
    """
    given = event.get("exc_info")
    err = given[1] if isinstance(given, tuple) else given
    if err is True:
        err = sys.exc_info()[1]
    if isinstance(err, BaseException) and (limit := _find_file_limit_error(err)) is not None:
        del event["exc_info"]
        event["why"] = f"{limit}; raise the limit of open files"
    return event


def _find_file_limit_error(err: BaseException) -> OSError | None:
    """Return the cause that says that no descriptors are left, if there is one."""
    found: BaseException | None = err
    for _ in range(MAX_CAUSES):
        if isinstance(found, OSError) and found.errno in (errno.EMFILE, errno.ENFILE):
            return found
        found = (found.__cause__ or found.__context__) if found else None
    return None


Render = Callable[[Any, str, MutableMapping[str, Any]], str]


def _json_renderer(redactor: LogRedactor) -> Render:
    def render(_: Any, __: str, event: MutableMapping[str, Any]) -> str:
        line = json.dumps(dict(event), ensure_ascii=False, default=str, separators=(",", ":"))
        return escape_control_signs(redactor(line.encode("utf-8", "replace").decode()))

    return render


def _human_renderer(redactor: LogRedactor) -> Render:
    def render(_: Any, __: str, event: MutableMapping[str, Any]) -> str:
        level, what = event.pop("level", "warning"), event.pop("event", "")
        trace = str(event.pop("exception", "")).strip().splitlines()[-1:]
        facts = [
            f"{name}={value}"
            for name, value in event.items()
            if name not in ("timestamp", "logger")
        ]
        return escape_control_signs(redactor(" ".join([f"{level}:", str(what), *facts, *trace])))

    return render


class _QuietHandler(logging.StreamHandler):  # type: ignore[type-arg]
    """A handler that never raises: it reports its first failure on stderr and ignores the
    others.
    """

    failed = False

    def handleError(self, record: logging.LogRecord) -> None:
        if not self.failed:
            self.failed = True
            why = sys.exc_info()[1]
            os.write(2, f"warning: the log cannot be written: {type(why).__name__}\n".encode())


class _QuietFile(_QuietHandler):
    def close(self) -> None:
        self.stream.close()
        super().close()
