"""What Feishu's error codes mean for a message. Pure."""

from channels.errors import Ambiguous, BadFormat, ChannelError, LoggedOut, Rejected, Retryable

STALE_TOKEN = frozenset({99991661, 99991663, 99991671, 99991677})
"""The tenant token is missing, invalid, malformed or expired: a new one, and the same call once more."""
BUSY = frozenset({99991400, 230020})
"""Too often, for this API or this chat."""
BUSY_TENANT = 11232
NO_APP = frozenset({99991543, 99991662, 99991673, 10003, 10014})
NO_SCOPE = frozenset({99991672, 99991676, 99991679, 230027})
NO_CHAT = frozenset({230002, 230013})
NOT_A_CARD = frozenset({230001, 230025, 230099, 99992402, 11310, 200610, 200621, 300305})
"""The content itself was refused; as plain text it would go."""
NOTHING_TO_ANSWER = frozenset({230011, 231003})
"""The message replied to was recalled or deleted."""
SEQUENCE = 300317
"""A card was told an operation number that it had passed."""
STREAM_CLOSED = frozenset({300309, 200850})
"""A card's streaming has ended by itself."""
SHORTEST_WAIT = 1.0
LONGEST_TEXT = 300


class Refused(Rejected):
    """Refused with a code of which nothing more is known here."""

    def __init__(self, why: str, *, code: int) -> None:
        super().__init__(why)
        self.code = code


class NoScope(LoggedOut):
    """The app has not been given a permission; the text names it."""


def meaning(code: int, text: str, *, status: int = 200, reset: str = "") -> ChannelError:
    """The error that an answer's code stands for.

    Args:
        code: never 0. text: its `msg`. status: the HTTP status. reset: seconds, as the rate limit's header says them.
    """
    said = f"{text[:LONGEST_TEXT]} ({code})"
    if code in BUSY or code == BUSY_TENANT or status == 429:
        return Retryable(said, retry_after=seconds(reset) or SHORTEST_WAIT, whole_channel=code == BUSY_TENANT)
    if code in STALE_TOKEN:
        return LoggedOut(f"Feishu refuses the app's token: {said}")
    if code in NO_APP:
        return LoggedOut(f"Feishu refuses the app; check app_id, app_secret and that the app is enabled: {said}")
    if code in NO_SCOPE:
        return NoScope(f"the app lacks a permission; grant it in the developer console and publish a version: {said}")
    if code in NO_CHAT:
        return Rejected(said, gone=True)
    if code in NOT_A_CARD:
        return BadFormat(said)
    if status >= 500:
        return Ambiguous(f"HTTP {status}: {said}")
    return Refused(said, code=code)


def seconds(text: str) -> float | None:
    """A header's number of seconds, None for none or nonsense."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 < value < 86_400 else None
