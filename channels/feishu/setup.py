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
            text=(f"飞书不接受：{format_reason(err)}。", f"Refused: {format_reason(err)}."),
            hint=(
                "到开发者后台的“凭证与基础信息”重新复制 App ID 和 App Secret，并确认应用已启用。",
                (
                    "Copy App ID and App Secret again from the developer console, and see that the "
                    "app is enabled."
                ),
            ),
        )
        yield await check_with_sdk(settings)
        return
    except ChannelError as err:
        yield platform_unreachable(("飞书", "Feishu"), "domain", err)
        return
    known = ("凭据有效。", "The credentials are right.")
    yield SetupFinding(step="credentials", state="ok", text=known)
    if not isinstance(bot, dict) or not bot.get("open_id"):
        yield SetupFinding(
            step="rights",
            state="failed",
            text=("应用没有“机器人”能力。", "The app does not have the ability “Bot”."),
            hint=(
                "在开发者后台添加“机器人”能力并发布版本。",
                "Add it in the console, and publish a version.",
            ),
        )
        return
    name = str(bot.get("app_name") or "bot")
    yield SetupFinding(
        step="rights", state="ok", text=(f"机器人是 {name}。", f"The bot is {name}.")
    )
    yield await _check_receiving(client, settings)
    yield await _send_test(client, owner)


async def _check_receiving(client: FeishuClient, settings: FeishuSettings) -> SetupFinding:
    if settings.mode == "webhook":
        return SetupFinding(
            step="webhook",
            state="skipped",
            text=("消息由飞书推送。", "Messages are pushed by Feishu."),
            hint=(
                "在“事件与回调”里填 https://你的域名/hooks/feishu；飞书保存时会当场验证。",
                (
                    "Enter https://YOUR-HOST/hooks/feishu under events and callbacks; Feishu "
                    "checks it as you save."
                ),
            ),
        )
    choose = (
        "在“事件与回调”里选择“使用长连接接收事件”，订阅“接收消息”，再发布版本。",
        (
            "Choose the long connection under events, subscribe to “message received”, and publish "
            "a version."
        ),
    )
    try:
        reply = await client.endpoint()
    except ChannelError as err:
        text = (
            f"长连接申请不到：{format_reason(err)}。",
            f"The long connection is not granted: {format_reason(err)}.",
        )
        return SetupFinding(step="webhook", state="failed", text=text, hint=choose)
    if reply["code"]:
        why = f"{str(reply.get('msg', ''))[:200]} ({reply['code']})"
        text = (f"长连接申请不到：{why}。", f"The long connection is not granted: {why}.")
        return SetupFinding(step="webhook", state="failed", text=text, hint=choose)
    text = ("长连接可用，不需要 webhook。", "The long connection works; no webhook is needed.")
    return SetupFinding(step="webhook", state="ok", text=text)


async def _send_test(client: FeishuClient, owner: str) -> SetupFinding:
    if not owner:
        return no_owner(
            (
                "保存之后在飞书里给机器人发一条消息，再到“联系人”里批准收到的配对码。",
                (
                    "After saving write to the bot in Feishu, then approve the code that it "
                    "answers with under People."
                ),
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
            (
                "owners 里要填这个应用看到的 open_id（ou_…），并且对方在应用的可用范围内。",
                (
                    "owners takes the open_id (ou_…) that this app sees, of somebody within the "
                    "app's availability."
                ),
            ),
        )
    return message_sent(owner)


def _missing_right(err: ChannelError) -> SetupFinding:
    return SetupFinding(
        step="rights",
        state="failed",
        text=(
            f"应用缺少权限：{format_reason(err)}。",
            f"A right is missing: {format_reason(err)}.",
        ),
        hint=(
            "在“权限管理”里开通并发布版本。",
            "Grant it in the developer console, and publish a version.",
        ),
    )
