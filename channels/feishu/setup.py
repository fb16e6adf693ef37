"""Tests an app's settings step by step: credentials, rights, how messages come in, and a message to
its owner.
"""

import json
from collections.abc import AsyncIterator

from channels.base import SetupFinding
from channels.errors import ChannelError, LoggedOut
from channels.feishu.client import FeishuClient, PermissionMissing
from channels.feishu.sdk_check import check_with_sdk
from channels.feishu.settings import FeishuSettings
from channels.phrases import Phrase
from channels.toolkit.setup_findings import (
    TEST_TEXT,
    format_reason,
    message_not_sent,
    message_sent,
    no_owner,
    platform_unreachable,
)


async def check_setup(
    client: FeishuClient, settings: FeishuSettings, owner: str
) -> AsyncIterator[SetupFinding]:
    """Yield what each step finds; ends at credentials or an ability that do not work."""
    try:
        bot = (await client.call("GET", "/bot/v3/info")).get("bot")
    except PermissionMissing as err:
        yield _missing_right(err)
        return
    except LoggedOut as err:
        yield SetupFinding(
            step="credentials",
            state="failed",
            text=Phrase("Refused: {reason}.", reason=format_reason(err)),
            hint=Phrase(
                "Copy App ID and App Secret again from the developer console, and make sure the "
                "app is enabled."
            ),
        )
        yield await check_with_sdk(settings)
        return
    except ChannelError as err:
        yield platform_unreachable(Phrase("Feishu"), "domain", err)
        return
    known = Phrase("The credentials are valid.")
    yield SetupFinding(step="credentials", state="ok", text=known)
    if not isinstance(bot, dict) or not bot.get("open_id"):
        yield SetupFinding(
            step="rights",
            state="failed",
            text=Phrase("The app does not have the ability “Bot”."),
            hint=Phrase("Add it in the console, and publish a version."),
        )
        return
    name = str(bot.get("app_name") or "bot")
    yield SetupFinding(step="rights", state="ok", text=Phrase("The bot is {name}.", name=name))
    yield await _check_receiving(client, settings)
    yield await _send_test(client, owner)


async def _check_receiving(client: FeishuClient, settings: FeishuSettings) -> SetupFinding:
    if settings.mode == "webhook":
        return SetupFinding(
            step="webhook",
            state="skipped",
            text=Phrase("Messages are pushed by Feishu."),
            hint=Phrase(
                "Enter https://YOUR-HOST/hooks/feishu under events and callbacks; Feishu checks "
                "it as you save."
            ),
        )
    choose = Phrase(
        "Choose the long connection under events, subscribe to “message received”, and publish a "
        "version."
    )
    try:
        reply = await client.endpoint()
    except ChannelError as err:
        text = Phrase("The long connection is not granted: {reason}.", reason=format_reason(err))
        return SetupFinding(step="webhook", state="failed", text=text, hint=choose)
    if reply["code"]:
        why = f"{str(reply.get('msg', ''))[:200]} ({reply['code']})"
        text = Phrase("The long connection is not granted: {why}.", why=why)
        return SetupFinding(step="webhook", state="failed", text=text, hint=choose)
    text = Phrase("The long connection works; no webhook is needed.")
    return SetupFinding(step="webhook", state="ok", text=text)


async def _send_test(client: FeishuClient, owner: str) -> SetupFinding:
    if not owner:
        return no_owner(
            Phrase(
                "After saving, write to the bot in Feishu, then approve the code it answers with "
                "under People."
            )
        )
    body = {
        "receive_id": owner,
        "msg_type": "text",
        "content": json.dumps({"text": TEST_TEXT}, ensure_ascii=False),
    }
    try:
        await client.call("POST", "/im/v1/messages", body, params={"receive_id_type": "open_id"})
    except PermissionMissing as err:
        return _missing_right(err)
    except ChannelError as err:
        return message_not_sent(
            owner,
            err,
            Phrase(
                "owners needs the open_id (ou_…) that this app sees, of someone within the app's "
                "availability."
            ),
        )
    return message_sent(owner)


def _missing_right(err: ChannelError) -> SetupFinding:
    return SetupFinding(
        step="rights",
        state="failed",
        text=Phrase("A right is missing: {reason}.", reason=format_reason(err)),
        hint=Phrase("Grant it in the developer console, and publish a version."),
    )
