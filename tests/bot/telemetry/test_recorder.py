"""Labels of the metrics, as listed in docs/metrics.md: dashboards and alerts use them."""

from bot.telemetry.recorder import send_error_code
from channels.errors import (
    Ambiguous,
    AttachmentTooBig,
    AwaitsUser,
    BadFormat,
    ChannelError,
    ChatMoved,
    LoggedOut,
    Rejected,
    Retryable,
)
from tests.cases import every_case


@every_case(
    ("error", "code"),
    [
        (Retryable("x"), "retryable"),
        (Retryable("x", retry_after=3.0), "rate_limited"),
        (AwaitsUser("x"), "waits"),
        (BadFormat("x"), "bad_format"),
        (ChatMoved("x", chat_id="2"), "moved"),
        (Rejected("x"), "rejected"),
        (AttachmentTooBig("x"), "rejected"),
        (LoggedOut("x"), "logged_out"),
        (Ambiguous("x"), "ambiguous"),
        (ChannelError("x"), "refused"),
        (ValueError("x"), "broken"),
    ],
)
def test_a_failed_send_has_its_documented_code(error: Exception, code: str) -> None:
    assert send_error_code(error) == code
