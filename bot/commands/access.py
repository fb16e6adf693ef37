"""The commands /pair, /approve and /deny (access), /link and /unlink (accounts that share a
memory).
"""

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from bot.access.pairing import PairingRefused, parse_typed_code
from bot.agent.approvals import is_denial_press, is_lasting_press
from bot.commands.base import Command, CommandContext, is_allowed
from bot.commands.forget import decide_forgetting, no_request_text
from bot.messages import load_body
from bot.tools.exec.rules import format_rule, is_in_force, to_rule
from memory.ids import CODE_VALIDITY, code_sha256, format_code, new_code
from memory.store.automation.approval_rules import ApprovalRuleRow
from memory.store.longterm.rows import AccountIdentity, LinkCodeRow, LinkRow
from memory.store.rows import Party

WRITE_ACTION = "access.write"  # granting access: the owner only, in the terminal and on the page
CONFIRM_WORDS, REFUSE_WORDS = ("confirm", "确认"), ("refuse", "拒绝")
MAX_NAME_CHARS = 40
LINK_ACTION = "memory.link"
_ALWAYS_PATTERN = re.compile(r"(\S.{0,99}?)\s+(?:always|总是)(?:\s+([0-9]{1,3}))?", re.IGNORECASE)


async def _pair(context: CommandContext) -> str:
    code = parse_typed_code(context.arguments)
    if code and context.scope.kind != "group" and await _claim_ownership(context, code):
        return context.text(
            "这个账号现在是所有者。/help 查看命令。",
            "This account is an owner now. /help lists the commands.",
        )
    if context.actor.role != "owner":
        return context.text(
            "你已经可以和我聊天了，不需要配对。",
            "You may talk to me already; there is nothing to pair.",
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
    """Decide the sender's tool call or /forget; in the terminal and on the page, an access request
    too.
    """
    services = context.services
    key, always = _split_always(context.arguments.strip())
    if not key:
        return context.text(
            "请写上代码，例如 /approve ABCD-EFGH。", "Give the code, such as /approve ABCD-EFGH."
        )
    if context.scope.kind != "group" and (
        outcome := await services.approvals.decide(
            context.actor, context.scope, key, approve=approve, always=always
        )
    ):
        return context.text(*outcome)
    if reply := await decide_forgetting(context, approve=approve):
        return reply
    code = parse_typed_code(key)
    if code and context.actor.role == "owner" and not is_allowed(context, WRITE_ACTION):
        return context.text(
            "这里没有等你决定的操作。放人进来请在终端（mnema pair approve 代码）或网页里做。",
            (
                "Nothing waits here for that code. People are let in from the terminal (mnema pair "
                "approve CODE) or page."
            ),
        )
    if not code or not is_allowed(context, WRITE_ACTION):
        return no_request_text(context)
    decide = services.pairing.approve if approve else services.pairing.deny
    try:
        return context.text(*await decide(code, context.scope.kind))
    except PairingRefused as err:
        return context.text(err.zh, err.en)


def _split_always(typed: str) -> tuple[str, int | None]:
    """Split a code or a button's data from "always" and the number of words; None for "once"."""
    if is_lasting_press(typed):
        return typed, 0
    found = _ALWAYS_PATTERN.fullmatch(typed)
    return (found[1], int(found[2] or 0)) if found else (typed, None)


async def _approvals(context: CommandContext) -> str:
    """List what waits for a decision and which commands run without one; or revoke a rule."""
    access, space = context.services.store.access, context.conversation.place.space
    word, _, number = context.arguments.strip().partition(" ")
    if word:
        if word.lower() != "revoke" or not re.fullmatch(r"[0-9]{1,6}", number.strip()):
            return context.text(
                "用法：/approvals、/approvals revoke 2", "Usage: /approvals, /approvals revoke 2"
            )
        if not await access.revoke_rule(space, int(number), context.actor.id):
            return context.text(f"没有规则 {number}。", f"There is no rule {number}.")
        return context.text(f"规则 {number} 已撤销。", f"Rule {number} is revoked.")
    now = context.services.now()
    waiting = [
        context.text(
            f"- `{row.tool}`，还有 {_minutes_left(row.expires, now)} 分钟",
            f"- `{row.tool}`, {_minutes_left(row.expires, now)} minutes left",
        )
        for row in await access.open_approvals(space, context.store.now())
        if (row.party.channel, row.party.id) == (context.actor.channel, context.actor.id)
    ]
    rules = [
        await _format_rule_line(context, row)
        for row in await access.rules(space, context.store.now())
    ]
    parts = []
    if waiting:
        parts.append("\n".join([context.text("**等你批准**", "**Waiting for you**"), *waiting]))
    if rules:
        head = context.text(
            "**不再询问**（/approvals revoke 序号 撤销）",
            "**Not asked again** (/approvals revoke N revokes one)",
        )
        parts.append("\n".join([head, *rules]))
    return "\n\n".join(parts) or context.text(
        "没有等你批准的，也没有不再询问的命令。",
        "Nothing waits for you, and no command runs without a question.",
    )


async def _format_rule_line(context: CommandContext, row: ApprovalRuleRow) -> str:
    """Format a rule, and that it does not count while its maker may not run commands."""
    line = f"{row.number}. {format_rule(to_rule(row), context.lang)}" + context.text(
        f"，到 {row.expires:%Y-%m-%d}", f", until {row.expires:%Y-%m-%d}"
    )
    if await is_in_force(row, context.services.roles):
        return line
    return line + context.text(
        "——不生效：定下它的人现在不能执行命令",
        " — not in effect: the person who made it may not run commands now",
    )


def _minutes_left(expires: datetime, now: datetime) -> int:
    return max(1, round((expires - now) / timedelta(minutes=1)))


async def _link(context: CommandContext) -> str:
    word = context.arguments.strip().lower()
    if word in CONFIRM_WORDS:
        return await _confirm(context)
    if word in REFUSE_WORDS:
        return await _refuse(context)
    if word:
        return await _enter_code(context)
    linked = await _format_linked(context)
    request = await context.store.links.pending(_own_identity(context), context.services.now())
    return "\n\n".join(
        [*linked, _format_pending(context, request) if request else await _create_code(context)]
    )


async def _format_linked(context: CommandContext) -> list[str]:
    own, home = context.conversation.own_space, context.conversation.place.space
    if own != home:
        return [
            context.text(
                f"这个账号已并入 {_format_space_owner(context, home)} 的记忆；/unlink 取消。",
                (
                    f"This account has joined the memory of {_format_space_owner(context, home)}; "
                    "/unlink takes it out."
                ),
            )
        ]
    links = await context.store.links.links(home)
    rows = [
        f"{number}. {_format_account(link)} · {link.at:%Y-%m-%d}"
        for number, link in enumerate(links, start=1)
    ]
    head = context.text(
        "**已并入这里的记忆**（/unlink 序号 取消）",
        "**Joined to this memory** (/unlink N takes one out)",
    )
    return ["\n".join([head, *rows])] if rows else []


async def _create_code(context: CommandContext) -> str:
    code = new_code()
    until = context.services.now() + CODE_VALIDITY
    await context.store.links.make_code(
        code_sha256(code), _own_identity(context), context.conversation.id, until
    )
    shown = f"`/link {format_code(code)}`"
    return context.text(
        f"要让你的另一个账号共用这里的记忆，10 分钟内在那个账号与我的私聊里发送 {shown}，"
        "两边都确认后生效。只共用记忆，权限不变。不要把代码给别人。",
        f"To let another account of yours share this memory, send {shown} in its private chat with "
        "me within 10 minutes; both chats then confirm. It shares memory only, no rights. Give the "
        "code to nobody.",
    )


def _format_pending(context: CommandContext, request: LinkCodeRow) -> str:
    """Format the state of a pending request for this side of it."""
    if request.typist == _own_identity(context):
        if request.state == "typed":
            return _format_code_owner(context, request)
        return context.text(
            "等待另一边的聊天用 /link confirm 确认；/link refuse 取消。",
            "The other chat has to give /link confirm now; /link refuse calls it off.",
        )
    if request.state == "agreed":
        return context.text(*_format_link_request(request))
    return context.text(
        f"{_format_requester(request)} 输入了你的代码，它自己还没有确认；/link refuse 拒绝。",
        (
            f"{_format_requester(request)} typed your code and has not confirmed yet; /link refuse "
            "turns it down."
        ),
    )


async def _enter_code(context: CommandContext) -> str:
    links, me, now = context.store.links, _own_identity(context), context.services.now()
    if obstacle := await _link_obstacle(context):
        return obstacle
    name = load_body(context.row.body).name
    if request := await links.type_code(
        code_sha256(context.arguments), me, name, context.conversation.id, now
    ):
        return _format_code_owner(context, request)
    if until := await links.locked(me, now):
        return _locked_text(context, until - now)
    return context.text(
        (
            "这个代码在这里无效：不对、已过期、已用过，或者正是这个账号生成的。"
            "请在另一个账号的私聊里输入新的代码。"
        ),
        "That code is not good here: it is wrong, expired, used, or this account's own. Type a "
        "fresh one in the other account's private chat.",
    )


async def _link_obstacle(context: CommandContext) -> str:
    """Return why this account cannot join another memory now; "" if it can."""
    links, me, now = context.store.links, _own_identity(context), context.services.now()
    if until := await links.locked(me, now):
        return _locked_text(context, until - now)
    if await links.linked_space(me.space) != me.space:
        return context.text(
            "这个账号已经并入了一份记忆。先用 /unlink 取消。",
            "This account has joined a memory already. /unlink it first.",
        )
    if not me.space or len(await links.members(me.space)) > 1:
        return context.text(
            "这里的记忆不能并入别处。请在这里用 /link 生成代码，到另一个账号里输入。",
            (
                "This memory joins no other. Make the code here with /link, and type it in the "
                "other account's chat."
            ),
        )
    return ""


async def _confirm(context: CommandContext) -> str:
    links, services = context.store.links, context.services
    request = await links.pending(_own_identity(context), services.now())
    if request is None:
        return _no_link_text(context)
    if request.typist == _own_identity(context):
        if request.state == "typed" and await links.agree(request.id):
            await services.tell(request.conversation, *_format_link_request(request))
        return context.text(
            "好的。现在到生成代码的聊天里发送 /link confirm。",
            "Good. Now send /link confirm in the chat that made the code.",
        )
    if request.state != "agreed":
        return _format_pending(context, request)
    joined = await links.settle(request.id, join=True)
    if joined is None:
        await services.tell(request.typed_conversation, *_LINK_CHANGED_TEXT)
        return context.text(*_LINK_CHANGED_TEXT)
    await services.tell(
        request.typed_conversation,
        f"已关联：这个账号从现在起使用 {_format_account(request.maker)} 的记忆。/unlink 取消。",
        (
            "Linked: from now on this account uses the memory of "
            f"{_format_account(request.maker)}. /unlink takes it out."
        ),
    )
    return context.text(
        f"已关联：{_format_account(joined)} 现在共用这里的记忆。/link 查看，/unlink 取消。",
        (
            f"Linked: {_format_account(joined)} shares this memory now. /link shows it, /unlink "
            "takes it out."
        ),
    )


_LINK_CHANGED_TEXT = (
    "没有关联：其间有了别的关联。用 /link 重新开始。",
    "Not linked: something else was linked meanwhile. Send /link again.",
)


async def _refuse(context: CommandContext) -> str:
    links, me = context.store.links, _own_identity(context)
    request = await links.pending(me, context.services.now())
    if request is None:
        return _no_link_text(context)
    await links.settle(request.id, join=False)
    other = request.conversation if request.typist == me else request.typed_conversation
    await context.services.tell(other, "另一边拒绝了关联。", "The other side turned the link down.")
    return context.text("已拒绝，什么都没有关联。", "Turned down; nothing is linked.")


async def _unlink(context: CommandContext) -> str:
    own, home = context.conversation.own_space, context.conversation.place.space
    links = await context.store.links.links(home)
    if own != home:
        leaving = next((link for link in links if link.own_space == own), None)
        return await _remove_account(context, leaving) if leaving else _not_linked_text(context)
    if not links:
        return _not_linked_text(context)
    number = int(context.arguments) if re.fullmatch(r"[0-9]{1,3}", context.arguments.strip()) else 0
    if 1 <= number <= len(links):
        return await _remove_account(context, links[number - 1])
    return "\n".join(await _format_linked(context))


async def _remove_account(context: CommandContext, link: LinkRow) -> str:
    if not await context.store.links.unlink(link.own_space):
        return _not_linked_text(context)
    is_own = link.own_space == context.conversation.own_space
    zh, en = (
        f"已取消关联：{_format_account(link)} 又用回自己的记忆；其间记下的留在原处。",
        f"Unlinked: {_format_account(link)} has its own memory again; "
        "what was noted meanwhile stays where it was noted.",
    )
    await context.services.tell(link.home_chat if is_own else link.chat, zh, en)
    return context.text(zh, en)


def _format_code_owner(context: CommandContext, request: LinkCodeRow) -> str:
    """Tell the account that typed a code whose it is, before it confirms."""
    maker = _format_account(request.maker)
    return context.text(
        f"这个代码是 {maker} 生成的。确认后，这里说过和记下的都会与它共用，两边都能看到。"
        "那也是你的账号吗？是就发送 /link confirm，不是就 /link refuse。",
        f"{maker} made this code. Once confirmed, what is said and noted here is shared with it, "
        "and either sees both. Is that account yours too? If so, send /link confirm; if not, /link "
        "refuse.",
    )


def _format_link_request(request: LinkCodeRow) -> tuple[str, str]:
    """Ask the account that made the code to confirm, in Chinese and in English."""
    return (
        f"{_format_requester(request)} 想共用这里的记忆。那是你自己的账号吗？"
        "是就发送 /link confirm，不是就 /link refuse。",
        f"{_format_requester(request)} asks to share this memory. Is that account your own? "
        "If so, send /link confirm; if not, /link refuse.",
    )


def _format_requester(request: LinkCodeRow) -> str:
    """Format channel and immutable id, then the name they claim, quoted."""
    name = " ".join(request.typed_name.replace("`", "").split())[:MAX_NAME_CHARS]
    return (
        f"{_format_account(request.typist)}{f' “`{name}`”' if name else ''}"
        if request.typist
        else ""
    )


def _format_account(one: AccountIdentity | LinkRow) -> str:
    return f"{one.channel} `{one.sender_id.replace('`', '')}`"


def _format_space_owner(context: CommandContext, space: str) -> str:
    return f"`{space}`" if space else context.text("所有者", "the owner")


def _no_link_text(context: CommandContext) -> str:
    return context.text("没有等待确认的关联。", "No link waits for a word here.")


def _not_linked_text(context: CommandContext) -> str:
    return context.text("没有关联。", "Nothing is linked here.")


def _locked_text(context: CommandContext, remaining: timedelta) -> str:
    minutes = round(remaining / timedelta(minutes=1))
    return context.text(
        f"错误的代码太多了。请 {minutes} 分钟后再试。",
        f"Too many wrong codes. Try again in {minutes} minutes.",
    )


def _own_identity(context: CommandContext) -> AccountIdentity:
    place = context.conversation.place
    return AccountIdentity(
        channel=place.channel,
        account=place.account,
        sender_id=context.row.sender_id,
        space=context.conversation.own_space,
    )


ACCESS_COMMANDS = (
    Command(
        name="pair",
        usage="[CODE]",
        usage_zh="[代码]",
        action="pair.status",
        zh="查看谁在等待配对；或输入所有者代码",
        en="see who wants to be let in, or enter an owner code",
        run=_pair,
    ),
    Command(
        name="approve",
        usage="CODE [always [WORDS]]",
        usage_zh="代码 [总是 [词数]]",
        action="approval.decide",
        zh="同意等待确认的请求（在终端和网页里也批准配对）",
        en="approve a waiting request (on the terminal and the page also a pairing)",
        run=_approve,
    ),
    Command(
        name="deny",
        usage="CODE",
        usage_zh="代码",
        action="approval.decide",
        zh="拒绝等待确认的请求或配对",
        en="refuse a waiting request or a pairing",
        run=_deny,
    ),
    Command(
        name="approvals",
        usage="[revoke N]",
        usage_zh="[撤销 序号]",
        action="approval.decide",
        zh="查看等你批准的操作，和不再询问的命令",
        en="see what waits for your approval, and which commands need none",
        run=_approvals,
    ),
)
LINK_COMMANDS = (
    Command(
        name="link",
        usage="[CODE|confirm|refuse]",
        usage_zh="[代码|确认|拒绝]",
        action=LINK_ACTION,
        zh="让你的另一个账号共用记忆",
        en="share this memory with another of your accounts",
        run=_link,
    ),
    Command(
        name="unlink",
        usage="[N]",
        usage_zh="[序号]",
        action=LINK_ACTION,
        zh="取消账号关联",
        en="stop sharing memory with an account",
        run=_unlink,
    ),
)
