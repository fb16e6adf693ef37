"""What the web channel says no to: one request, or starting at all."""

from collections.abc import Mapping

from channels.errors import ChannelError


class Refused(ChannelError):
    """One request is answered with `status` and the JSON error {code, message}; headers: added to the answer."""

    def __init__(self, status: int, code: str, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.headers = dict(headers or {})


class CannotServe(ChannelError):
    """The port or the token file is not usable; the text is one sentence for the operator."""
