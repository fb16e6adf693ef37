"""Findings of a settings test that every platform may have. Texts are (Chinese, English)."""

from channels.base import SetupFinding
from channels.errors import ChannelError

TEST_TEXT = "mnema: ✓ 这是测试消息 · this is a test message"


def format_reason(err: ChannelError) -> str:
    """Return why a platform failed, as a part of a sentence."""
    return str(err).rstrip(".")


def platform_unreachable(
    name: tuple[str, str], address_key: str, err: ChannelError
) -> SetupFinding:
    """The platform did not answer."""
    why = format_reason(err)
    return SetupFinding(
        step="credentials",
        state="failed",
        text=(f"没能问到{name[0]}：{why}。", f"{name[1]} could not be asked: {why}."),
        hint=(
            f"稍等再试；检查 {address_key} 和 proxy。",
            f"Try again in a moment; look at {address_key} and proxy.",
        ),
    )


def no_owner(hint: tuple[str, str]) -> SetupFinding:
    """There is nobody whom a test message could be sent to."""
    text = ("还没有所有者，所以没有发测试消息。", "There is no owner yet, so no message was sent.")
    return SetupFinding(step="message", state="skipped", text=text, hint=hint)


def message_sent(owner: str) -> SetupFinding:
    """The owner got the test message."""
    text = (f"给 {owner} 发了一条测试消息。", f"A test message was sent to {owner}.")
    return SetupFinding(step="message", state="ok", text=text)


def message_not_sent(owner: str, err: ChannelError, hint: tuple[str, str]) -> SetupFinding:
    """The test message did not reach the owner."""
    why = format_reason(err)
    text = (f"发给 {owner} 的消息没有送到：{why}。", f"The message to {owner} was not sent: {why}.")
    return SetupFinding(step="message", state="failed", text=text, hint=hint)
