"""The program's own log: JSON lines in a file that does not grow forever, free of secrets and of people's words."""

import base64
import errno
import fcntl
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

# The file of a log: whole lines, a new file when it is full, and several processes may write to it.

_FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW


class LogFile:
    """A stream of lines for a logging handler: `mnema.log`, and as `mnema.log.1` and so on what was full before.

    Nobody waits for anybody: a line is one write at the end of the file, and only the changing of the files is done
    by one process at a time; one that is held up or frozen meanwhile keeps no other from writing.
    """

    def __init__(self, path: Path, max_bytes: int, keep: int) -> None:
        self._path, self._max_bytes, self._keep = path, max_bytes, keep
        self._handle = -1

    def write(self, line: str) -> None:
        """Put one line, with its end, behind all others.

        Raises:
            OSError: it, or the end of it, could not be written; the next one begins on a line of its own.
        """
        rest = memoryview(line.encode("utf-8", "replace"))
        self._ready(len(rest))
        try:
            while rest:
                rest = rest[os.write(self._handle, rest) :]
        except OSError:
            self.close()
            raise

    def flush(self) -> None:
        """Nothing is held back."""

    def close(self) -> None:
        """Let go of the file; the next line opens it again."""
        if self._handle >= 0:
            handle, self._handle = self._handle, -1
            with suppress(OSError):
                os.close(handle)

    def _ready(self, more: int) -> None:
        """The file that goes by the name now is open, and has room or could not be given any."""
        self._follow()
        size = os.fstat(self._handle).st_size
        if size and size + more > self._max_bytes:
            with suppress(OSError):  # then this one grows on, and the next line tries again
                self._turn_over(more)
            self._follow()

    def _follow(self) -> None:
        """Another process may have begun a new file, or a person may have taken this one away."""
        try:
            there = os.stat(self._path, follow_symlinks=False)
        except FileNotFoundError:
            there = None
        if self._handle >= 0:
            ours = os.fstat(self._handle)
            if there and (there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino):
                return
            self.close()
        self._open()

    def _open(self) -> None:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._handle = os.open(self._path, _FLAGS, 0o600)
        held = os.fstat(self._handle)
        if stat.S_IMODE(held.st_mode) & 0o077 and held.st_uid == os.geteuid():
            os.fchmod(self._handle, 0o600)
        if held.st_size and os.pread(self._handle, 1, held.st_size - 1) != b"\n":
            os.write(self._handle, b"\n")  # whoever wrote last was cut short

    def _turn_over(self, more: int) -> None:
        """Each file takes the next number, unless another process does that now or has just done it."""
        folder = os.open(self._path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.stat(self._path).st_size + more > self._max_bytes:
                self._shift()
        finally:
            os.close(folder)

    def _shift(self) -> None:
        for old in self._numbered():
            old.unlink()
        for number in range(self._keep, 1, -1):
            with suppress(FileNotFoundError):
                os.replace(self._name(number - 1), self._name(number))
        os.replace(self._path, self._name(1))

    def _name(self, number: int) -> Path:
        return self._path.with_name(f"{self._path.name}.{number}")

    def _numbered(self) -> list[Path]:
        """Files with numbers that are not kept any more."""
        found = self._path.parent.glob(f"{self._path.name}.*")
        return [path for path in found if path.suffix[1:].isdigit() and int(path.suffix[1:]) > self._keep]


HIDDEN_MARK = "[secret]"
MAX_CAUSES = 20  # of one error that are looked at
MIN_SECRET_CHARS = 6  # characters; a shorter value is not searched for, it would blot out ordinary words
# Loggers that follow the level asked for; everybody else speaks from WARNING on.
OWN_LOGGERS = ("bot", "channels", "memory", "mnema")

SECRET_PATTERNS = re.compile(
    r"""
      (?<!\d)\d{6,12}:[A-Za-z0-9_-]{30,}                                   # a Telegram bot's token, also inside a URL
    | \bsk-[A-Za-z0-9_-]{16,}                                         # a model provider's key
    | (?<=Bearer[ ])[^\s"'\\,]{6,}
    | (?<=://)[^\s/"'\\@:]*:[^\s/"'\\@]+(?=@)                         # name and password in an address
    | (?<=[?&])(?:access_token|ticket|token|secret|app_secret|key|api_key|signature|sign)=[^\s&"'\\]+
    """,
    re.VERBOSE | re.IGNORECASE,
)
_CONTROL_SIGNS = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSettings:
    """level: least weight written to the file. max_bytes: when a new file is begun; keep: full files kept."""

    level: str = "info"
    max_bytes: int = 10_000_000
    keep: int = 5


class LogRedactor:
    """Takes known secrets and what looks like one out of a line."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._known: re.Pattern[str] | None = None
        self.learn(secrets)

    def learn(self, secrets: Iterable[str]) -> None:
        """These are the secrets from now on."""
        forms = {form for secret in secrets if len(secret) >= MIN_SECRET_CHARS for form in _secret_forms(secret)}
        longest_first = sorted(forms, key=len, reverse=True)
        self._known = re.compile("|".join(map(re.escape, longest_first))) if forms else None

    def __call__(self, line: str) -> str:
        """The line without them."""
        if self._known:
            line = self._known.sub(HIDDEN_MARK, line)
        return SECRET_PATTERNS.sub(HIDDEN_MARK, line)


def _secret_forms(secret: str) -> Iterator[str]:
    """A secret as it is, as a URL has it, as JSON has it, and as base64 has it at any place of a longer text."""
    yield secret
    yield quote(secret, safe="", errors="replace")
    yield quote_plus(secret, errors="replace")
    yield json.dumps(secret)[1:-1]
    yield json.dumps(secret, ensure_ascii=False)[1:-1]
    data = secret.encode("utf-8", "surrogatepass")
    for shift in range(3):
        inner = base64.b64encode(b"\0" * shift + data).decode()
        sure = inner[(0, 2, 3)[shift] : len(inner) - (0, 3, 2)[(len(data) + shift) % 3]]
        yield sure
        yield sure.translate(str.maketrans("+/", "-_"))


_process = LogRedactor()


def redact(text: str) -> str:
    """The text without the secrets that this process's log leaves out: for words of others that people are shown."""
    return _process(text)


def escape_control_signs(text: str) -> str:
    """The text with control and direction signs written as escapes, so that no line can pose as another."""
    return _CONTROL_SIGNS.sub(lambda sign: f"\\u{ord(sign[0]):04x}", text)


def describe_text(text: str) -> dict[str, Any]:
    """What a log may hold of a message: its length and the first 12 signs of its SHA-256."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return {"chars": len(text), "sha256": digest[:12]}


@contextmanager
def bind_trace(trace: str, **more: str | int) -> Iterator[None]:
    """Every line logged inside carries this trace id; tasks begun inside inherit it."""
    with structlog.contextvars.bound_contextvars(trace=trace, **more):
        yield


def get_logger(name: str) -> FilteringBoundLogger:
    """A logger; call it with an event name and facts, never with message text."""
    return cast(FilteringBoundLogger, structlog.get_logger(name))


def start_logging(
    path: Path, settings: LogSettings | None = None, secrets: Iterable[str] = (), *, warn: bool = True
) -> LogRedactor:
    """Send all logging of the process to the file, and warnings in human form to stderr when `warn`.

    Returns the redactor, which is to `learn` when the secrets change. Nothing that goes wrong with a log is
    raised into the program.
    """
    settings = settings or LogSettings()
    global _process
    redactor = _process = LogRedactor(secrets)
    handlers: list[logging.Handler] = [_file_handler(path, settings, redactor)]
    if warn:
        handlers.append(_stderr_handler(redactor))
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


def _file_handler(path: Path, settings: LogSettings, redactor: LogRedactor) -> logging.Handler:
    handler = _QuietFile(LogFile(path, settings.max_bytes, settings.keep))
    handler.setFormatter(_formatter(_json_renderer(redactor)))
    return handler


def _stderr_handler(redactor: LogRedactor) -> logging.Handler:
    handler = _QuietStream(sys.stderr)
    handler.setLevel(logging.WARNING)
    handler.setFormatter(_formatter(_human_renderer(redactor)))
    return handler


def _formatter(render: Processor) -> logging.Formatter:
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=_shared_processors(),
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            _without_trace_at_the_limit,
            structlog.processors.format_exc_info,
            render,
        ],
    )


def _without_trace_at_the_limit(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Where descriptors have run out, what failed may be anything, an import too: the cause is told in one sentence."""
    given = event.get("exc_info")
    err = given[1] if isinstance(given, tuple) else given
    if err is True:
        err = sys.exc_info()[1]
    if isinstance(err, BaseException) and (found := _limit_met(err)) is not None:
        del event["exc_info"]
        event["why"] = f"{found}; raise the limit of open files"
    return event


def _limit_met(err: BaseException) -> OSError | None:
    """The error that tells that no descriptors are left, where it is what this one comes from."""
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
        facts = [f"{name}={value}" for name, value in event.items() if name not in ("timestamp", "logger")]
        return escape_control_signs(redactor(" ".join([f"{level}:", str(what), *facts, *trace])))

    return render


class _QuietHandler(logging.Handler):
    """A handler whose failures stay with it: the first one of a row is told on stderr, the rest are silent."""

    failed = False

    def handleError(self, record: logging.LogRecord) -> None:
        if not self.failed:
            self.failed = True
            why = sys.exc_info()[1]
            os.write(2, f"warning: the log cannot be written: {type(why).__name__}\n".encode())


class _QuietStream(_QuietHandler, logging.StreamHandler):  # type: ignore[type-arg]
    pass


class _QuietFile(_QuietStream):
    def close(self) -> None:
        self.stream.close()
        super().close()
