"""The commands /pair, /approve and /deny: who waits to be let in, and a person's yes or no to one single act."""

from collections.abc import Mapping
from typing import Any

from bot.access.pairing import PairingRefused, parse_typed_code
from bot.agent.approvals import is_denial_press
from bot.commands.base import Command, CommandContext, is_allowed
from bot.commands.forget import approve_forgetting, deny_forgetting, no_request_text
from bot.messages import load_body
from memory.store.people.rows import Party

WRITE_ACTION = "access.write"  # what must be allowed to let people in: the owner's, in the terminal and the page only


async def _pair(asked: CommandContext) -> str:
    code = parse_typed_code(asked.rest)
    if code and asked.where.kind != "group" and await _claim_ownership(asked, code):
        return asked.either(
            "这个账号现在是所有者。/help 查看命令。", "This account is an owner now. /help lists the commands."
        )
    if asked.actor.role != "owner":
        return asked.either(
            "你已经可以和我聊天了，不需要配对。", "You may talk to me already; there is nothing to pair."
        )
    if not is_allowed(asked, WRITE_ACTION):
        count = await asked.desk.pairing.waiting()
        return asked.either(
            f"有 {count} 人在等待。请在终端或网页里批准，这里不行。",
            f"People waiting: {count}. They are let in from the terminal or the page, not here.",
        )
    return await _list_requests(asked)


async def _claim_ownership(asked: CommandContext, code: str) -> bool:
    actor = asked.actor
    if actor.bound is not None:  # nobody proves who typed it
        return False
    person = Party(channel=actor.channel, account=actor.account, subject="user", id=actor.id)
    return await asked.desk.pairing.claim(person, load_body(asked.row.body).name, code)


async def _list_requests(asked: CommandContext) -> str:
    facts = await asked.desk.pairing.facts()
    rows = [f"- {_format_request(row)}" for row in facts["waiting"]]
    if not rows:
        return asked.either("没有人在等待。", "Nobody is waiting.")
    head = asked.either(
        "**等待中**（请对方把代码告诉你，再发 /approve 代码 或 /deny 代码）",
        "**Waiting** (have them tell you their code, then /approve CODE or /deny CODE)",
    )
    return "\n".join([head, *rows])


def _format_request(row: Mapping[str, Any]) -> str:
    """Channel and immutable id, then the name they claim, as a quotation."""
    name = f" “`{row['name']}`”" if row["name"] else ""
    return f"{row['channel']} {row['kind']} `{row['id'].replace('`', '')}`{name}"


async def _approve(asked: CommandContext) -> str:
    return await _decide(asked, approve=not is_denial_press(asked.rest))


async def _deny(asked: CommandContext) -> str:
    return await _decide(asked, approve=False)


async def _decide(asked: CommandContext, *, approve: bool) -> str:
    """An act or a forgetting that was asked of this very person; in the terminal and the page, a stranger's code."""
    key, desk = asked.rest.strip(), asked.desk
    if not key:
        return asked.either("请写上代码，例如 /approve ABCD-EFGH。", "Give the code, such as /approve ABCD-EFGH.")
    if asked.where.kind != "group" and (
        said := await desk.approvals.decide(asked.actor, asked.where, key, approve=approve)
    ):
        return asked.either(*said)
    if told := await (approve_forgetting if approve else deny_forgetting)(asked):
        return told
    code = parse_typed_code(key)
    if code and asked.actor.role == "owner" and not is_allowed(asked, WRITE_ACTION):
        return asked.either(
            "这里没有等你决定的操作。放人进来请在终端（mnema pair approve 代码）或网页里做。",
            "Nothing waits here for that code. People are let in from the terminal (mnema pair approve CODE) or page.",
        )
    if not code or not is_allowed(asked, WRITE_ACTION):
        return no_request_text(asked)
    decided = desk.pairing.approve if approve else desk.pairing.deny
    try:
        return asked.either(*await decided(code, asked.where.kind))
    except PairingRefused as err:
        return asked.either(err.zh, err.en)


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
