"""The commands /link and /unlink: one person's accounts on several platforms share one memory, and no rights."""

import re
from datetime import timedelta

from bot.commands.base import Command, CommandContext
from bot.messages import load_body
from memory.ids import CODE_VALIDITY, code_sha256, new_code
from memory.store.longterm.rows import AccountIdentity, LinkCodeRow, LinkRow

CONFIRM_WORDS, REFUSE_WORDS = ("confirm", "确认"), ("refuse", "拒绝")
MAX_NAME_CHARS = 40
LINK_ACTION = "memory.link"


async def _link(asked: CommandContext) -> str:
    word = asked.rest.strip().lower()
    if word in CONFIRM_WORDS:
        return await _confirm(asked)
    if word in REFUSE_WORDS:
        return await _refuse(asked)
    return await _enter_code(asked) if word else await _show_links(asked)


async def _show_links(asked: CommandContext) -> str:
    """What is linked, and either what waits for a word or a fresh code."""
    linked = await _format_linked(asked)
    held = await asked.desk.store.links.pending(_own_identity(asked), asked.desk.now())
    return "\n\n".join([*linked, _format_pending(asked, held) if held else await _create_code(asked)])


async def _format_linked(asked: CommandContext) -> list[str]:
    own, home = asked.conversation.own_space, asked.conversation.place.space
    if own != home:
        return [
            asked.either(
                f"这个账号已并入 {_format_space_owner(asked, home)} 的记忆；/unlink 取消。",
                f"This account has joined the memory of {_format_space_owner(asked, home)}; /unlink takes it out.",
            )
        ]
    links = await asked.desk.store.links.links(home)
    rows = [f"{number}. {_format_account(link)} · {link.at:%Y-%m-%d}" for number, link in enumerate(links, start=1)]
    head = asked.either(
        "**已并入这里的记忆**（/unlink 序号 取消）", "**Joined to this memory** (/unlink N takes one out)"
    )
    return ["\n".join([head, *rows])] if rows else []


async def _create_code(asked: CommandContext) -> str:
    code = new_code()
    until = asked.desk.now() + CODE_VALIDITY
    await asked.desk.store.links.make_code(code_sha256(code), _own_identity(asked), asked.conversation.id, until)
    shown = f"`/link {code[:4]}-{code[4:]}`"
    return asked.either(
        f"要让你的另一个账号共用这里的记忆，10 分钟内在那个账号与我的私聊里发送 {shown}，两边都确认后生效。"
        "只共用记忆，权限不变。不要把代码给别人。",
        f"To let another account of yours share this memory, send {shown} in its private chat with me within "
        "10 minutes; both chats then confirm. It shares memory only, no rights. Give the code to nobody.",
    )


def _format_pending(asked: CommandContext, held: LinkCodeRow) -> str:
    """Where a code that was typed stands, as this side of it sees it."""
    if held.typist == _own_identity(asked):
        if held.state == "typed":
            return _format_code_owner(asked, held)
        return asked.either(
            "等待另一边的聊天用 /link confirm 确认；/link refuse 取消。",
            "The other chat has to give /link confirm now; /link refuse calls it off.",
        )
    asks = _format_link_request(held)[asked.lang == "en"]
    if held.state == "agreed":
        return asks
    return asked.either(
        f"{_format_requester(held)} 输入了你的代码，它自己还没有确认；/link refuse 拒绝。",
        f"{_format_requester(held)} typed your code and has not confirmed yet; /link refuse turns it down.",
    )


async def _enter_code(asked: CommandContext) -> str:
    links, me, now = asked.desk.store.links, _own_identity(asked), asked.desk.now()
    if hindrance := await _link_obstacle(asked):
        return hindrance
    code = re.sub(r"[\s-]", "", asked.rest).upper()
    name = load_body(asked.row.body).name
    if held := await links.type_code(code_sha256(code), me, name, asked.conversation.id, now):
        return _format_code_owner(asked, held)
    if until := await links.locked(me, now):
        return _locked_text(asked, round((until - now) / timedelta(minutes=1)))
    return asked.either(
        "这个代码在这里无效：不对、已过期、已用过，或者正是这个账号生成的。请在另一个账号的私聊里输入新的代码。",
        "That code is not good here: it is wrong, expired, used, or this account's own. Type a fresh one in the other "
        "account's private chat.",
    )


async def _link_obstacle(asked: CommandContext) -> str:
    """Why this account cannot join another's memory as things are, "" where it can."""
    links, me, now = asked.desk.store.links, _own_identity(asked), asked.desk.now()
    if until := await links.locked(me, now):
        return _locked_text(asked, round((until - now) / timedelta(minutes=1)))
    if await links.home(me.space) != me.space:
        return asked.either(
            "这个账号已经并入了一份记忆。先用 /unlink 取消。",
            "This account has joined a memory already. /unlink it first.",
        )
    if not me.space or len(await links.members(me.space)) > 1:
        return asked.either(
            "这里的记忆不能并入别处。请在这里用 /link 生成代码，到另一个账号里输入。",
            "This memory joins no other. Make the code here with /link, and type it in the other account's chat.",
        )
    return ""


async def _confirm(asked: CommandContext) -> str:
    links, desk = asked.desk.store.links, asked.desk
    held = await links.pending(_own_identity(asked), desk.now())
    if held is None:
        return _no_request_text(asked)
    if held.typist == _own_identity(asked):
        if held.state == "typed" and await links.agree(held.id):
            await desk.tell(held.conversation, *_format_link_request(held))
        return asked.either(
            "好的。现在到生成代码的聊天里发送 /link confirm。",
            "Good. Now send /link confirm in the chat that made the code.",
        )
    if held.state != "agreed":
        return _format_pending(asked, held)
    joined = await links.settle(held.id, join=True)
    if joined is None:
        await desk.tell(held.typed_conversation, *_LINK_CHANGED_TEXT)
        return asked.either(*_LINK_CHANGED_TEXT)
    await desk.tell(
        held.typed_conversation,
        f"已关联：这个账号从现在起使用 {_format_account(held.maker)} 的记忆。/unlink 取消。",
        f"Linked: from now on this account uses the memory of {_format_account(held.maker)}. /unlink takes it out.",
    )
    return asked.either(
        f"已关联：{_format_account(joined)} 现在共用这里的记忆。/link 查看，/unlink 取消。",
        f"Linked: {_format_account(joined)} shares this memory now. /link shows it, /unlink takes it out.",
    )


_LINK_CHANGED_TEXT = (
    "没有关联：其间有了别的关联。用 /link 重新开始。",
    "Not linked: something else was linked meanwhile. /link begins anew.",
)


async def _refuse(asked: CommandContext) -> str:
    links, me = asked.desk.store.links, _own_identity(asked)
    held = await links.pending(me, asked.desk.now())
    if held is None:
        return _no_request_text(asked)
    await links.settle(held.id, join=False)
    other = held.conversation if held.typist == me else held.typed_conversation
    await asked.desk.tell(other, "另一边拒绝了关联。", "The other side turned the link down.")
    return asked.either("已拒绝，什么都没有关联。", "Turned down; nothing is linked.")


async def _unlink(asked: CommandContext) -> str:
    own, home = asked.conversation.own_space, asked.conversation.place.space
    links = await asked.desk.store.links.links(home)
    if own != home:
        leaving = next((link for link in links if link.own_space == own), None)
        return await _remove_account(asked, leaving) if leaving else _not_linked_text(asked)
    if not links:
        return _not_linked_text(asked)
    number = int(asked.rest) if re.fullmatch(r"[0-9]{1,3}", asked.rest.strip()) else 0
    if 1 <= number <= len(links):
        return await _remove_account(asked, links[number - 1])
    return "\n".join(await _format_linked(asked))


async def _remove_account(asked: CommandContext, link: LinkRow) -> str:
    if not await asked.desk.store.links.unlink(link.own_space):
        return _not_linked_text(asked)
    by_itself = link.own_space == asked.conversation.own_space
    zh, en = (
        f"已取消关联：{_format_account(link)} 又用回自己的记忆；其间记下的留在原处。",
        f"Unlinked: {_format_account(link)} has its own memory again; "
        "what was noted meanwhile stays where it was noted.",
    )
    await asked.desk.tell(link.home_chat if by_itself else link.chat, zh, en)
    return asked.either(zh, en)


def _format_code_owner(asked: CommandContext, held: LinkCodeRow) -> str:
    """What the typist has to know before the second word."""
    maker = _format_account(held.maker)
    return asked.either(
        f"这个代码是 {maker} 生成的。确认后，这里说过和记下的都会与它共用，两边都能看到。"
        "那也是你的账号吗？是就发送 /link confirm，不是就 /link refuse。",
        f"{maker} made this code. Once confirmed, what is said and noted here is shared with it, and either sees "
        "both. Is that account yours too? If so, send /link confirm; if not, /link refuse.",
    )


def _format_link_request(held: LinkCodeRow) -> tuple[str, str]:
    """What the maker is asked once the typist has agreed."""
    return (
        f"{_format_requester(held)} 想共用这里的记忆。那是你自己的账号吗？"
        "是就发送 /link confirm，不是就 /link refuse。",
        f"{_format_requester(held)} asks to share this memory. Is that account your own? "
        "If so, send /link confirm; if not, "
        "/link refuse.",
    )


def _format_requester(held: LinkCodeRow) -> str:
    """Channel, immutable id, and the name they claim, as a quotation."""
    name = " ".join(held.typed_name.replace("`", "").split())[:MAX_NAME_CHARS]
    return f"{_format_account(held.typist)}{f' “`{name}`”' if name else ''}" if held.typist else ""


def _format_account(one: AccountIdentity | LinkRow) -> str:
    return f"{one.channel} `{one.sender_id.replace('`', '')}`"


def _format_space_owner(asked: CommandContext, space: str) -> str:
    return f"`{space}`" if space else asked.either("所有者", "the owner")


def _no_request_text(asked: CommandContext) -> str:
    return asked.either("没有等待确认的关联。", "No link waits for a word here.")


def _not_linked_text(asked: CommandContext) -> str:
    return asked.either("没有关联。", "Nothing is linked here.")


def _locked_text(asked: CommandContext, minutes: int) -> str:
    return asked.either(
        f"错误的代码太多了。请 {minutes} 分钟后再试。", f"Too many wrong codes. Try again in {minutes} minutes."
    )


def _own_identity(asked: CommandContext) -> AccountIdentity:
    place = asked.conversation.place
    return AccountIdentity(
        channel=place.channel, account=place.account, sender_id=asked.row.sender_id, space=asked.conversation.own_space
    )


LINK_COMMANDS = (
    Command(
        name="link",
        usage="[CODE|confirm|refuse]",
        usage_zh="[代码|确认|拒绝]",
        action=LINK_ACTION,
        zh="让你的另一个账号共用记忆",
        en="let another account of yours share this memory",
        run=_link,
    ),
    Command(
        name="unlink",
        usage="[N]",
        usage_zh="[序号]",
        action=LINK_ACTION,
        zh="取消账号关联",
        en="take an account out again",
        run=_unlink,
    ),
)
