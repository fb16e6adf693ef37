"""Findings of a settings test that every platform may have."""

from channels.base import SetupFinding
from channels.errors import ChannelError
from channels.phrases import AnyPhrase, Phrase

TEST_TEXT = "mnema: ✓ 这是测试消息 · this is a test message"


def format_reason(err: ChannelError) -> str:
    """Return why a platform failed, as a part of a sentence."""
    return str(err).rstrip(".")


def platform_unreachable(name: Phrase, address_key: str, err: ChannelError) -> SetupFinding:
    """The platform did not answer."""
    why = format_reason(err)
    return SetupFinding(
        step="credentials",
        state="failed",
        text=Phrase("{name} could not be queried: {why}.", name=name, why=why),
        hint=Phrase(
            "Try again in a moment; check {address_key} and proxy.", address_key=address_key
        ),
    )


def no_owner(hint: AnyPhrase) -> SetupFinding:
    """There is nobody whom a test message could be sent to."""
    text = Phrase("There is no owner yet, so no message was sent.")
    return SetupFinding(step="message", state="skipped", text=text, hint=hint)


def message_sent(owner: str) -> SetupFinding:
    """The owner got the test message."""
    text = Phrase("A test message was sent to {owner}.", owner=owner)
    return SetupFinding(step="message", state="ok", text=text)


def message_not_sent(owner: str, err: ChannelError, hint: AnyPhrase) -> SetupFinding:
    """The test message did not reach the owner."""
    why = format_reason(err)
    text = Phrase("The message to {owner} was not sent: {why}.", owner=owner, why=why)
    return SetupFinding(step="message", state="failed", text=text, hint=hint)
