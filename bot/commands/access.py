"""The commands /pair, /approve and /deny: access requests, and a person's decision on one tool call."""

from collections.abc import Mapping
from typing import Any

from bot.access.pairing import PairingRefused, parse_typed_code
from bot.agent.approvals import is_denial_press
from bot.commands.base import Command, CommandContext, is_allowed
from bot.commands.forget import decide_forgetting, no_request_text
from bot.messages import load_body
from memory.store.people.rows import Party

WRITE_ACTION = "access.write"  # granting access: the owner only, in the terminal and on the page


async def _pair(context: CommandContext) -> str:
    code = parse_typed_code(context.arguments)
    if code and context.scope.kind != "group" and await _claim_ownership(context, code):
        return context.text(
            "这个账号现在是所有者。/help 查看命令。", "This account is an owner now. /help lists the commands."
        )
    if context.actor.role != "owner":
        return context.text(
            "你已经可以和我聊天了，不需要配对。", "You may talk to me already; there is nothing to pair."
        )
    if not is_allowed(context, WRITE_ACTION):
        count = await context.services.pairing.waiting()
        return context.text(
            f"有 {count} 人在等待。请在终端或网页里批准，这里不行。",
            f"People waiting: {count}. They are let in from the terminal or the page, not here.",
        )
    return await _list_requests(context)


async def _claim_ownership(context: CommandContext, code: str) -> bool:
    actor = context.actor
    if actor.bound is not None:  # the channel does not prove who typed it
        return False
    person = Party(channel=actor.channel, account=actor.account, subject="user", id=actor.id)
    return await context.services.pairing.claim(person, load_body(context.row.body).name, code)


async def _list_requests(context: CommandContext) -> str:
    facts = await context.services.pairing.facts()
    rows = [f"- {_format_request(row)}" for row in facts["waiting"]]
    if not rows:
        return context.text("没有人在等待。", "Nobody is waiting.")
    head = context.text(
        "**等待中**（请对方把代码告诉你，再发 /approve 代码 或 /deny 代码）",
        "**Waiting** (have them tell you their code, then /approve CODE or /deny CODE)",
    )
    return "\n".join([head, *rows])


def _format_request(row: Mapping[str, Any]) -> str:
    """Format channel and immutable id, then the name they claim, quoted."""
    name = f" “`{row['name']}`”" if row["name"] else ""
    return f"{row['channel']} {row['kind']} `{row['id'].replace('`', '')}`{name}"


async def _approve(context: CommandContext) -> str:
    return await _decide(context, approve=not is_denial_press(context.arguments))


async def _deny(context: CommandContext) -> str:
    return await _decide(context, approve=False)


async def _decide(context: CommandContext, *, approve: bool) -> str:
    """Decide the sender's own tool call or /forget; in the terminal and on the page also an access request."""
    key, services = context.arguments.strip(), context.services
    if not key:
        return context.text("请写上代码，例如 /approve ABCD-EFGH。", "Give the code, such as /approve ABCD-EFGH.")
    if context.scope.kind != "group" and (
        outcome := await services.approvals.decide(context.actor, context.scope, key, approve=approve)
    ):
        return context.text(*outcome)
    if reply := await decide_forgetting(context, approve=approve):
        return reply
    code = parse_typed_code(key)
    if code and context.actor.role == "owner" and not is_allowed(context, WRITE_ACTION):
        return context.text(
            "这里没有等你决定的操作。放人进来请在终端（mnema pair approve 代码）或网页里做。",
            "Nothing waits here for that code. People are let in from the terminal (mnema pair approve CODE) or page.",
        )
    if not code or not is_allowed(context, WRITE_ACTION):
        return no_request_text(context)
    decide = services.pairing.approve if approve else services.pairing.deny
    try:
        return context.text(*await decide(code, context.scope.kind))
    except PairingRefused as err:
        return context.text(err.zh, err.en)


ACCESS_COMMANDS = (
    Command(
        name="pair",
        usage="[CODE]",
        usage_zh="[代码]",
        action="pair.status",
        zh="谁在等待配对；或输入所有者代码",
        en="who waits to be let in; or type an owner code",
        run=_pair,
    ),
    Command(
        name="approve",
        usage="CODE",
        usage_zh="代码",
        action="approval.decide",
        zh="同意等待确认的请求（在终端和网页里也批准配对）",
        en="agree to what waits (in the terminal and the page also to somebody's pairing)",
        run=_approve,
    ),
    Command(
        name="deny",
        usage="CODE",
        usage_zh="代码",
        action="approval.decide",
        zh="拒绝等待确认的请求或配对",
        en="refuse what waits, or somebody's pairing",
        run=_deny,
    ),
)
