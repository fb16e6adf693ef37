"""Tests a bot's settings step by step: token, rights, webhook, and a message to its owner."""

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from channels.base import SetupFinding
from channels.errors import ChannelError, LoggedOut, Rejected
from channels.phrases import Phrase
from channels.telegram.receiver import RECENT_SECONDS
from channels.telegram.settings import TelegramSettings
from channels.toolkit.setup_findings import (
    TEST_TEXT,
    format_reason,
    message_not_sent,
    message_sent,
    no_owner,
    platform_unreachable,
)

Call = Callable[[str, dict[str, Any]], Awaitable[Any]]


async def check_setup(
    call: Call, settings: TelegramSettings, owner: str
) -> AsyncIterator[SetupFinding]:
    """Yield what each step finds; ends at a token that does not work."""
    try:
        me = await call("get_me", {})
        info = await call("get_webhook_info", {})
    except LoggedOut as err:
        yield SetupFinding(
            step="credentials",
            state="failed",
            text=Phrase("The token is refused: {reason}.", reason=format_reason(err)),
            hint=Phrase(
                "Open @BotFather in Telegram, send /token, and copy the whole token "
                "(digits:letters) again."
            ),
        )
        return
    except ChannelError as err:
        yield platform_unreachable(Phrase("Telegram", context="in a sentence"), "base_url", err)
        return
    name = f"@{me.get('username', '')}"
    yield SetupFinding(
        step="credentials",
        state="ok",
        text=Phrase("The bot is {name} ({me}).", name=name, me=me["id"]),
    )
    yield _check_rights(me)
    yield _check_webhook(info, settings)
    yield await _send_test(call, owner, name)


def _check_rights(me: Mapping[str, Any]) -> SetupFinding:
    if not me.get("can_join_groups", True):
        return SetupFinding(
            step="rights",
            state="ok",
            text=Phrase("It works in private chats; it cannot join groups."),
            hint=Phrase("For groups: send /setjoingroups to @BotFather."),
        )
    if me.get("can_read_all_group_messages"):
        return SetupFinding(
            step="rights",
            state="ok",
            text=Phrase("In groups it sees all messages."),
        )
    return SetupFinding(
        step="rights",
        state="ok",
        text=Phrase("In groups it sees what is addressed to it (privacy mode)."),
    )


def _recent_error(info: Mapping[str, Any]) -> str:
    """Return why the platform could not deliver a short time ago; "" if it could."""
    failed_at = float(info.get("last_error_date") or 0)
    return (
        str(info.get("last_error_message") or "")
        if time.time() - failed_at < RECENT_SECONDS
        else ""
    )


def _report_foreign_webhook(url: str) -> SetupFinding:
    """Say that Telegram sends the messages of this bot to another program."""
    host = urlsplit(url).hostname or url
    return SetupFinding(
        step="webhook",
        state="failed",
        text=Phrase("The messages of this bot go to {host}: a webhook is set.", host=host),
        hint=Phrase(
            "Another program uses this bot: stop it and delete its webhook, or get a bot of its "
            "own from @BotFather."
        ),
    )


def _check_webhook(info: Mapping[str, Any], settings: TelegramSettings) -> SetupFinding:
    url, own = str(info.get("url") or ""), settings.webhook_url
    if settings.mode == "webhook" and not own:
        return SetupFinding(
            step="webhook",
            state="skipped",
            text=Phrase("webhook_url is empty: you register the webhook yourself."),
        )
    if url and url != own:
        return _report_foreign_webhook(url)
    if settings.mode == "polling":
        return SetupFinding(
            step="webhook",
            state="ok",
            text=Phrase("Messages are polled; no webhook is needed."),
        )
    error = _recent_error(info)
    if url and error:
        return SetupFinding(
            step="webhook",
            state="failed",
            text=Phrase("Telegram cannot deliver to it: {error}.", error=error[:200]),
            hint=Phrase(
                "Have the proxy pass /hooks/telegram to the page's port unchanged, on port 443, "
                "80, 88 or 8443, with its full certificate chain."
            ),
        )
    done = Phrase("The webhook is registered, without errors.")
    return SetupFinding(
        step="webhook",
        state="ok",
        text=done if url else Phrase("The webhook is registered at the start."),
    )


async def _send_test(call: Call, owner: str, name: str) -> SetupFinding:
    if not owner:
        return no_owner(
            Phrase(
                "After saving, write to {name}, then approve the code it answers with under "
                "People.",
                name=name,
            )
        )
    try:
        await call("send_message", {"chat_id": owner, "text": TEST_TEXT})
    except Rejected as err:
        return SetupFinding(
            step="message",
            state="failed",
            text=Phrase(
                "The message to {owner} was refused: {reason}.",
                owner=owner,
                reason=format_reason(err),
            ),
            hint=Phrase(
                "Open {name} in Telegram, press Start, and test again; an id is a number, not a "
                "username.",
                name=name,
            ),
        )
    except ChannelError as err:
        return message_not_sent(owner, err, Phrase("Try again in a moment."))
    return message_sent(owner)
