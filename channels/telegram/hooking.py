"""What is believed of a webhook's call: the secret in its header, and JSON of a sane form. Pure."""

import hmac
from typing import Any

from channels.base import HookRequest
from channels.strict_json import strict_json

HEADER = "x-telegram-bot-api-secret-token"


def update_of(request: HookRequest, secret: str) -> dict[str, Any] | None:
    """The update that the platform brought; None where any check fails, whichever it is."""
    if request.method != "POST" or not _knows(request, secret):
        return None
    try:
        update = strict_json(request.body)
    except ValueError:
        return None
    if not isinstance(update, dict) or not isinstance(update.get("update_id"), int):
        return None
    return update


def _knows(request: HookRequest, secret: str) -> bool:
    given = [value for name, value in request.headers if name == HEADER]
    same = hmac.compare_digest((given[0] if given else "").encode("utf-8", "surrogatepass"), secret.encode())
    return same and len(given) == 1
