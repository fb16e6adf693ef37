"""Maps the error answers of providers to our errors: by typed code, status and text. Pure."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bot.errors import (
    BadImage,
    BadRequest,
    KeyRefused,
    ModelError,
    NoSuchModel,
    Overflow,
    QuotaSpent,
    RateLimited,
    TooLarge,
    Transient,
)
from bot.telemetry.log import redact

# Kind of the BadRequest for thinking that does not belong to the conversation: retry without it.
BAD_THINKING = "bad_thinking"

# Vendors' types and codes; the numbers are GLM's. For other codes the status decides.
_CODES: dict[type[ModelError], tuple[str, ...]] = {
    QuotaSpent: (
        *(
            "enforced_spend_limit_reached",
            "contract_spend_limit_reached",
            "linked_organization_spend_limit_reached",
        ),
        *("insufficient_quota", "exceeded_current_quota_error", "Arrearage"),
        *("1113", "1304", "1308", "1309", "1310", "1311", "1312", "1313"),
    ),
    KeyRefused: (
        *(
            "authentication_error",
            "billing_error",
            "permission_error",
            "organization_on_hold",
            "invalid_api_key",
        ),
        *(
            "invalid_authentication_error",
            "incorrect_api_key_error",
            "1000",
            "1001",
            "1002",
            "1003",
            "1004",
        ),
    ),
    NoSuchModel: ("not_found_error", "model_not_found", "1211"),
    RateLimited: (
        *(
            "rate_limit_error",
            "ramp_limit_exceeded",
            "rate_limit_exceeded",
            "rate_limit_reached_error",
        ),
        *("1302", "1303"),
    ),
    Transient: (
        *("overloaded_error", "api_error", "timeout_error", "conflict_error", "server_error"),
        *(
            "engine_overloaded_error",
            "network_error",
            "insufficient_system_resource",
            "1234",
            "1305",
        ),
    ),
    Overflow: (
        *("context_length_exceeded", "model_context_window_exceeded", "1261"),
        "exceed_context_size_error",  # llama.cpp, with n_prompt_tokens and n_ctx
    ),
    TooLarge: ("request_too_large", "request_body_too_large_after_decoding"),
}
_ERROR_BY_CODE = {code: error for error, codes in _CODES.items() for code in codes}
_ERROR_BY_STATUS: dict[int, type[ModelError]] = {
    401: KeyRefused,
    402: KeyRefused,
    403: KeyRefused,
    404: NoSuchModel,
    408: Transient,
    409: Transient,
    413: TooLarge,
    425: Transient,
    429: RateLimited,
}

_TOO_LONG = re.compile(
    r"context length|context limit|context window|context size|too long|token limit|maximum number "
    r"of tokens|maximum model length|input length|reduce the length|超长",
    re.IGNORECASE,
)
NO_REASON = "no reason given"  # of an error that the server does not explain
MAX_WORDS_CHARS = 300  # of a server's words that the owner reads
MAX_ERROR_CHARS = 4_000  # of an error that are searched: some proxies answer with an HTML page
_RATE = re.compile(r"per minute|\btpm\b|rate limit", re.IGNORECASE)
_IMAGE = re.compile(
    (
        r"\bimage\b(?:(?!\bimage\b).)*(exceed|could not|not match|invalid|unsupported)|not process "
        r"image"
    ),
    re.IGNORECASE,
)
_THINKING = re.compile(
    r"\A(?:(?>.*?signature).*\bthinking\b|(?>.*?\bthinking\b).*(?:cannot be modified|signature))",
    re.DOTALL,
)
# What vLLM repeats of a request: "[{'type': …, 'loc': …, 'msg': …, 'input': WHAT WAS SENT}]".
_REPEATED = re.compile(r"'input': .*?(?=\}, \{'type'|\}\]|\Z)", re.DOTALL)
_IMAGE_PLACE = re.compile(r"messages\.(\d+)\.content\.(\d+)")
_TOKEN_COUNTS = (
    # vLLM: "length is 4096 tokens and your request has 3220 input tokens"; before those that take
    # "requested" alone
    re.compile(
        (
            r"\A(?>.*?length is (?P<limit>\d++)).*?(?:has|contains(?: at least)?) (?P<actual>\d++) "
            r"input tokens"
        ),
        re.DOTALL,
    ),
    re.compile(r"(?<!\d)(?P<actual>\d++) tokens > (?P<limit>\d+)"),
    re.compile(r"(?<!\d)(?P<actual>\d++) \+ \d++ > (?P<limit>\d+)"),
    re.compile(
        (
            r"\A(?>.*?length is (?P<limit>\d++) tokens).*?requested \d++ tokens \((?P<actual>\d+) "
            r"in the messages"
        ),
        re.DOTALL,
    ),
    re.compile(
        r"\A(?>.*?length is (?P<limit>\d++) tokens).*?(?:requested|resulted in) (?P<actual>\d+)",
        re.DOTALL,
    ),
    re.compile(r"limit: (?P<limit>\d+) \(requested: (?P<actual>\d+)\)"),
    re.compile(
        r"\A(?>.*?token count \((?P<actual>\d++)\)).*?allowed \((?P<limit>\d+)\)", re.DOTALL
    ),
    re.compile(r"should be \[1, (?P<limit>\d+)\]"),
    re.compile(
        r"\A(?>.*?passed (?P<actual>\d++) input tokens).*?length is only (?P<limit>\d+)", re.DOTALL
    ),
    re.compile(
        r"\(length (?P<actual>\d++)\) is longer than the maximum model length of (?P<limit>\d+)"
    ),
    # llama.cpp without its typed fields, and LM Studio
    re.compile(
        r"request \((?P<actual>\d++) tokens\) exceeds the available context size \((?P<limit>\d+)"
    ),
    re.compile(
        r"\A(?>.*?keep the first (?P<actual>\d++) tokens).*?context length of only (?P<limit>\d+)",
        re.DOTALL,
    ),
    re.compile(r"n_keep: (?P<actual>\d++) ?>= n_ctx: (?P<limit>\d+)"),
    # SGLang
    re.compile(
        r"\((?P<actual>\d++) tokens\) is longer than the model's context length \((?P<limit>\d+)"
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderFailure:
    """One error answer."""

    #: HTTP status; 200 for an error inside a stream.
    status: int
    #: Type and codes, the most specific last.
    kinds: tuple[str, ...] = ()
    #: Name of the field of the request that is refused; "" if not given.
    param: str = ""
    text: str = ""
    #: Seconds; None if not given.
    retry_after: float | None = None
    #: The request filled most of the model's window.
    nearly_full: bool = False
    #: Tokens sent and allowed, where the server names them in fields of their own; else 0.
    actual: int = 0
    limit: int = 0


def read_failure(
    status: int, body: object, headers: Mapping[str, str] | None = None
) -> ProviderFailure:
    """Parse an error answer. body: parsed JSON, or text (HTML from a proxy, or nothing)."""
    parsed = _parse_body(body)
    error = parsed.get("error") or parsed
    if not isinstance(error, dict):
        error = {"message": str(error)}
    details = error.get("details")
    found = [
        error.get("type"),
        error.get("code"),
        details.get("error_code") if isinstance(details, dict) else None,
    ]
    return ProviderFailure(
        status=status,
        kinds=tuple(str(kind) for kind in found if kind not in (None, "", "error")),
        param=str(error.get("param") or ""),
        text=_server_words(error.get("message") or error.get("detail"))[:MAX_ERROR_CHARS],
        retry_after=_retry_after_seconds(headers or {}),
        actual=_token_field(error.get("n_prompt_tokens")),
        limit=_token_field(error.get("n_ctx")),
    )


def _server_words(value: object) -> str:
    """Return what a server says of an error, without what it repeats of the request.

    Source: FastAPI (vLLM, Mistral) lists the faults of a body with the values it found there.
    """
    if isinstance(value, dict):
        return _server_words(value.get("message") or value.get("detail"))
    if isinstance(value, list):
        faults = [fault for fault in value if isinstance(fault, dict)]
        places = ((fault, fault.get("loc")) for fault in faults)
        named = (
            (fault, ".".join(map(str, loc)) if isinstance(loc, list) else "")
            for fault, loc in places
        )
        return "; ".join(f"{place}: {fault.get('msg', '')}" for fault, place in named)
    return _REPEATED.sub("'input': …", str(value or ""))


def _error_by_code(failure: ProviderFailure) -> type[ModelError] | None:
    """Map the most specific code that is known.

    Source: Ollama calls every refusal an `api_error`. What is refused with one of these statuses is
    no outage.
    """
    error = next(
        (_ERROR_BY_CODE[kind] for kind in reversed(failure.kinds) if kind in _ERROR_BY_CODE), None
    )
    return None if error is Transient and failure.status in (400, 404, 405, 422) else error


def _token_field(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def to_error(failure: ProviderFailure) -> ModelError:
    """Map a failure to our error by typed code, else status; by text only for length, images,
    thinking.
    """
    by_code = _error_by_code(failure)
    why, status, kind = (
        _failure_reason(failure),
        failure.status,
        failure.kinds[-1] if failure.kinds else "",
    )
    if by_code in (None, TooLarge, Overflow) and (
        error_from_text := _error_from_text(failure, why, kind)
    ):
        return error_from_text
    error = by_code or _error_from_status(failure)
    if error is RateLimited or error is Transient:
        return error(why, retry_after=failure.retry_after, status=status, kind=kind)
    if error is Overflow:
        actual, limit = _token_counts(failure)
        return Overflow(why, status=status, kind=kind, actual=actual, limit=limit)
    return error(why, status=status, kind=kind)


def _error_from_status(failure: ProviderFailure) -> type[ModelError]:
    """Map the status.

    Errors inside a stream have 200; unless they blame the request, they may pass.
    """
    if failure.status == 200:
        return BadRequest if "invalid_request_error" in failure.kinds else Transient
    return _ERROR_BY_STATUS.get(failure.status) or (
        BadRequest if 300 <= failure.status < 500 else Transient
    )


def _error_from_text(failure: ProviderFailure, why: str, kind: str) -> ModelError | None:
    """Map what only the text says: a bad picture, foreign thinking, or too many tokens."""
    text, status = failure.text, failure.status
    if status in (400, 422) and _IMAGE.search(text):
        message, part = _parse_image_place(text)
        return BadImage(why, status=status, kind=kind, message=message, part=part)
    if status == 400 and _THINKING.search(text):
        return BadRequest(why, status=status, kind=BAD_THINKING)
    long = status in (400, 413, 422, 500) and _TOO_LONG.search(text) and not _RATE.search(text)
    silent = status in (400, 413) and not text and not failure.kinds and failure.nearly_full
    if not (long or silent):
        return None
    actual, limit = _token_counts(failure)
    return Overflow(why, status=status, kind=kind, actual=actual, limit=limit)


def _failure_reason(failure: ProviderFailure) -> str:
    said = failure.text.strip() or NO_REASON
    label = " ".join((f"HTTP {failure.status}", *failure.kinds))
    return f"{label}: {said[:500]}"


def server_words(error: ModelError) -> str:
    """Return what the server said of a failed call, shortened and without secrets; "" if it is not
    a server's error.
    """
    text = str(error)
    words = text.partition(": ")[2] if text.startswith("HTTP ") else ""
    return "" if words == NO_REASON else shorten_words(words)


def shorten_words(text: str) -> str:
    """Return a server's words as the owner reads them: on one line, shortened, without secrets."""
    return redact(" ".join(text.split()))[:MAX_WORDS_CHARS]


def _parse_body(body: object) -> dict[str, Any]:
    if isinstance(body, bytes):
        body = body.decode("utf-8", "replace")
    if isinstance(body, str):
        try:
            body = json.loads(body)
        except (ValueError, RecursionError):
            return {}
    if isinstance(body, list) and body:
        body = body[0]
    return body if isinstance(body, dict) else {}


def _retry_after_seconds(headers: Mapping[str, str]) -> float | None:
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            wait = float(headers[name]) / unit
        except (KeyError, ValueError):
            continue
        if 0 <= wait < float("inf"):
            return wait
    return None


def _token_counts(failure: ProviderFailure) -> tuple[int, int]:
    """Return the tokens sent and allowed that a failure names; 0 for what it does not name."""
    return (failure.actual, failure.limit) if failure.limit else _parse_token_counts(failure.text)


def _parse_token_counts(text: str) -> tuple[int, int]:
    for pattern in _TOKEN_COUNTS:
        if found := pattern.search(text):
            named = found.groupdict()
            return int(named.get("actual") or 0), int(named["limit"])
    return 0, 0


def _parse_image_place(text: str) -> tuple[int, int]:
    found = _IMAGE_PLACE.search(text)
    return (int(found[1]), int(found[2])) if found else (-1, -1)
