"""What the model emulator is told to answer: replies and faults, as values that also travel as
JSON.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A tool call. input: an object, or the raw text to be written as it stands. id: None for a
    made one.
    """

    name: str
    input: Any = field(default_factory=dict)
    id: str | None = None

    @property
    def written(self) -> str:
        return (
            self.input
            if isinstance(self.input, str)
            else json.dumps(self.input, ensure_ascii=False)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One answer and how it goes wrong.

    stop: the wire's own word, "" for the fitting one. usage: overrides what is counted. delta:
    characters a piece. status, error, message, body, headers: refuse with this instead (body: sent
    as it is, such as HTML). wait: seconds before the first byte. then: what happens after `after`
    events ("" for nothing) - reset, cut, drop, stall, error (an event of type `error`), garbage.
    reset with after=0 comes before any byte. pace: seconds after each event; drip: after each byte.
    split: bytes a write, 0 for whole events. crlf, pings, unknown, escaped (JSON in ASCII), torn
    (each TORN is sent as half a character): framing. forms: ways of compatible servers (see
    model_chat).
    """

    text: str = ""
    calls: tuple[Call, ...] = ()
    thinking: str = ""
    redacted: str = ""
    stop: str = ""
    stop_details: Mapping[str, Any] | None = None
    usage: Mapping[str, Any] | None = None
    delta: int = 12
    status: int = 200
    error: str = ""
    code: str = ""
    message: str = "The emulator was told to refuse."
    body: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    wait: float = 0.0
    then: str = ""
    after: int = 0
    pace: float = 0.0
    drip: float = 0.0
    split: int = 0
    crlf: bool = False
    pings: bool = False
    unknown: bool = False
    escaped: bool = False
    torn: bool = False
    forms: frozenset[str] = frozenset()

    @classmethod
    def of(cls, told: "Told") -> "Reply":
        """From words, or from JSON as it comes over the control port."""
        if isinstance(told, Reply):
            return told
        if isinstance(told, str):
            return cls(text=told)
        known = {item.name for item in fields(cls)}
        values = {name: value for name, value in dict(told).items() if name in known}
        calls = values.pop("calls", ())
        made = tuple(call if isinstance(call, Call) else Call(**call) for call in calls)
        return cls(calls=made, forms=frozenset(values.pop("forms", ())), **values)


TORN, HALF_CHARACTER = "\N{SNOWMAN}", b"\xe4\xbd"
Told = Reply | str | Mapping[str, Any]
Responder = Callable[[dict[str, Any]], Told]

STATUS_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    409: "conflict_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}


def refuse(status: int, *, retry_after: str | None = None, **values: Any) -> Reply:
    """A refusal with that status; retry_after: the header as it is written."""
    headers = {} if retry_after is None else {"retry-after": retry_after}
    return Reply(
        status=status,
        error=values.pop("error", STATUS_TYPES.get(status, "api_error")),
        headers=headers,
        **values,
    )


def html(status: int) -> Reply:
    """What an edge before the API sends."""
    return Reply(
        status=status,
        body=(
            f"<html><head><title>{status}</title></head><body><h1>{status}</h1><hr>edge</body></html>"
        ),
        headers={"content-type": "text/html"},
    )


def echo(body: dict[str, Any]) -> Reply:
    """Say the person's last words again; answer a request to fold with the two texts it asks
    for.
    """
    if is_fold(body):
        return Reply(text=fold_text(body))
    return Reply(text=f"echo: {last_words(body)}")


def is_fold(body: dict[str, Any]) -> bool:
    """A request for a summary: no tools, and the system prompt says so."""
    return not body.get("tools") and "mnema-fold" in system_text(body)


def is_extract(body: dict[str, Any]) -> bool:
    """A request for the lasting facts of an exchange."""
    return not body.get("tools") and system_text(body).lstrip().startswith("mnema-extract")


def extract_text(body: dict[str, Any]) -> str:
    """What an honest reader would note: the person's own sentences about what they prefer."""
    said = "\n".join(_SAID_BY_USER.findall(last_words(body)))
    facts = [
        {
            "category": "user_preference",
            "content": words,
            "importance": 6,
            "source": words,
            "replaces": [],
        }
        for words in map(str.strip, _PREFERENCE.findall(said))
    ]
    return json.dumps(facts, ensure_ascii=False)


# of one turn or of several
_SAID_BY_USER = re.compile(r"<data name='user(?: \d+)?'>(.*?)</data>", re.DOTALL)
_PREFERENCE = re.compile(r"[^.。!！?？\n]*(?:I prefer|我喜欢)[^.。!！?？\n]*")


def fold_text(body: dict[str, Any]) -> str:
    """The digest an honest summariser would give: what the person said, cut at 200 characters a
    line.
    """
    lines = last_words(body).splitlines()
    said = [found[1] for line in lines if (found := _PERSON.match(line))]
    said = said or [line.lstrip("- ") for line in lines if line.startswith("- ")]
    kept = "\n".join(f"- {line[:200]}" for line in said)
    return f"<log>\n{kept}\n</log>\n<summary>\n{kept}\n</summary>"


_PERSON = re.compile(
    r"^[-*\s]*(?:\d\d:\d\d\s+)?(?:user|person|owner|用户|你)\s*[:：]\s*(.*)", re.IGNORECASE
)


def system_text(body: dict[str, Any]) -> str:
    """The system prompt of either wire."""
    rows = body.get("messages") or []
    said = [row.get("content") for row in rows if row.get("role") in ("system", "developer")]
    return "\n".join(plain(content) for content in (body.get("system"), *said))


def last_words(body: dict[str, Any]) -> str:
    """The text of the newest message of a person, of either wire."""
    for row in reversed(body.get("messages") or []):
        if row.get("role") == "user" and (text := plain(row.get("content"))):
            return text
    return ""


def plain(content: Any) -> str:
    """The words in a content field: a string, or blocks."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    return "\n".join(block["text"] for block in blocks if block.get("type") == "text")
