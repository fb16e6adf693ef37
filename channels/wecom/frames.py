"""Frames of WeCom's socket, and what an error code in one of them means. Pure but for the ids."""

import json
import secrets
import time
from collections.abc import Mapping
from typing import Any

from channels.errors import Ambiguous, ChannelError, Rejected, Retryable

LIMITED_SECONDS = 60.0
"""How long a chat is left alone that got too much; the rates are per minute, and no answer names the time."""
LONGEST_TEXT = 200
_BUSY = (-1, 846601, 846602)


class StreamOver(Rejected):
    """This callback can no longer be answered, or this stream no longer changed; a message of its own can be sent."""


class NotSubscribed(Retryable):
    """The server does not hold this connection for subscribed."""


def request_id(command: str) -> str:
    """A new one, as other clients make them."""
    return f"{command}_{time.time_ns() // 1_000_000}_{secrets.token_hex(4)}"


def written(command: str, request: str, body: Mapping[str, Any] | None = None) -> str:
    """A frame as text."""
    frame: dict[str, Any] = {"cmd": command, "headers": {"req_id": request}}
    if body is not None:
        frame["body"] = body
    return json.dumps(frame, ensure_ascii=False)


def read(text: str | bytes) -> dict[str, Any]:
    """A frame that came.

    Raises:
        ValueError: it is none.
    """
    try:
        frame = json.loads(text)
    except RecursionError as err:
        raise ValueError("a frame nested too deeply") from err
    if not isinstance(frame, dict) or not isinstance(frame.get("headers"), dict):
        raise ValueError("a frame without headers")
    return frame


def trouble(answer: Mapping[str, Any], limited: float = LIMITED_SECONDS) -> ChannelError | None:
    """What an answer frame reports, None when it is good.

    Args:
        limited: seconds to wait when it was too much at once.
    """
    code = answer.get("errcode")
    if code == 0:
        return None
    if not isinstance(code, int):
        return Ambiguous("an answer without a code")
    text = f"WeCom answers {code}: {str(answer.get('errmsg', ''))[:LONGEST_TEXT]}"
    if code in (846605, 846608):
        return StreamOver(text)
    if code == 846609:
        return NotSubscribed(text, whole_channel=True)
    if code == 45009:
        return Retryable(text, retry_after=limited)
    if code in _BUSY:
        return Retryable(text)
    return Rejected(text, gone=code == 93006)
