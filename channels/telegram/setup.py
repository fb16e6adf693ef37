"""Tests a bot's settings step by step: token, rights, webhook, and a message to its owner."""

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from channels.base import SetupFinding
from channels.errors import ChannelError, LoggedOut, Rejected
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
            text=(
                f"Telegram 不接受这个令牌：{format_reason(err)}。",
                f"The token is refused: {format_reason(err)}.",
            ),
            hint=(
                "在 Telegram 里打开 @BotFather，发送 /token，把整串令牌（数字:字母）重新复制过来。",
                (
                    "Open @BotFather in Telegram, send /token, and copy the whole token "
                    "(digits:letters) again."
                ),
            ),
        )
        return
    except ChannelError as err:
        yield platform_unreachable((" Telegram ", "Telegram"), "base_url", err)
        return
    name = f"@{me.get('username', '')}"
    yield SetupFinding(
        step="credentials",
        state="ok",
        text=(f"机器人是 {name}（{me['id']}）。", f"The bot is {name} ({me['id']})."),
    )
    yield _check_rights(me)
    yield _check_webhook(info, settings)
    yield await _send_test(call, owner, name)


def _check_rights(me: Mapping[str, Any]) -> SetupFinding:
    if not me.get("can_join_groups", True):
        return SetupFinding(
            step="rights",
            state="ok",
            text=("只能私聊，不能加进群。", "It works in private chats; it cannot join groups."),
            hint=(
                "要用于群聊：向 @BotFather 发送 /setjoingroups。",
                "For groups: send /setjoingroups to @BotFather.",
            ),
        )
    if me.get("can_read_all_group_messages"):
        return SetupFinding(
            step="rights",
            state="ok",
            text=("在群里能看到所有消息。", "In groups it sees all messages."),
        )
    return SetupFinding(
        step="rights",
        state="ok",
        text=(
            "在群里只看到发给它的消息（隐私模式）。",
            "In groups it sees what is addressed to it (privacy mode).",
        ),
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
        text=(
            f"这个机器人的消息正发往 {host}。",
            f"The messages of this bot go to {host}: a webhook is set.",
        ),
        hint=(
            (
                "另一个程序在用这个机器人：停掉它并删除它的 webhook，或者向 @BotFather "
                "申请一个新机器人。"
            ),
            (
                "Another program uses this bot: stop it and delete its webhook, or get a bot of "
                "its own from @BotFather."
            ),
        ),
    )


def _check_webhook(info: Mapping[str, Any], settings: TelegramSettings) -> SetupFinding:
    url, own = str(info.get("url") or ""), settings.webhook_url
    if settings.mode == "webhook" and not own:
        return SetupFinding(
            step="webhook",
            state="skipped",
            text=(
                "webhook_url 为空：由你自己注册。",
                "webhook_url is empty: you register the webhook yourself.",
            ),
        )
    if url and url != own:
        return _report_foreign_webhook(url)
    if settings.mode == "polling":
        return SetupFinding(
            step="webhook",
            state="ok",
            text=("用轮询接收，不需要 webhook。", "Messages are polled; no webhook is needed."),
        )
    error = _recent_error(info)
    if url and error:
        return SetupFinding(
            step="webhook",
            state="failed",
            text=(
                f"Telegram 推送失败：{error[:200]}。",
                f"Telegram cannot deliver to it: {error[:200]}.",
            ),
            hint=(
                (
                    "让代理把 /hooks/telegram 原样转给本机网页的端口，端口用 443、80、88 或 8443，"
                    "证书要完整。"
                ),
                "Let the proxy pass /hooks/telegram to the page's port, on port 443, 80, 88 or "
                "8443, with its whole certificate chain.",
            ),
        )
    done = ("webhook 已注册，没有出错。", "The webhook is registered, without errors.")
    return SetupFinding(
        step="webhook",
        state="ok",
        text=done if url else ("启动时会注册 webhook。", "The webhook is registered at the start."),
    )


async def _send_test(call: Call, owner: str, name: str) -> SetupFinding:
    if not owner:
        return no_owner(
            (
                f"保存之后给 {name} 发一条消息，再到“联系人”里批准收到的配对码。",
                (
                    f"After saving write to {name}, then approve the code that it answers with "
                    "under People."
                ),
            )
        )
    try:
        await call("send_message", {"chat_id": owner, "text": TEST_TEXT})
    except Rejected as err:
        return SetupFinding(
            step="message",
            state="failed",
            text=(
                f"发给 {owner} 的消息被拒绝：{format_reason(err)}。",
                f"The message to {owner} was refused: {format_reason(err)}.",
            ),
            hint=(
                f"在 Telegram 里打开 {name}，按“开始”，再测试一次；id 是数字，不是用户名。",
                (
                    f"Open {name} in Telegram, press Start, and test again; an id is a number, not "
                    "a username."
                ),
            ),
        )
    except ChannelError as err:
        return message_not_sent(owner, err, ("稍等再试。", "Try again in a moment."))
    return message_sent(owner)
