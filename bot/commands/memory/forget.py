"""The command /forget: lists what mentions something, and deletes it once the person confirms."""

import re
from collections.abc import Sequence
from itertools import groupby

from bot.commands.base import Command, CommandContext, is_allowed
from memory.forgetting.forget import ForgetRequester
from memory.ids import format_code
from memory.store.longterm.rows import ForgetReceipt, Mention, load_targets, snippet
from memory.workspace.files import FileTooBig
from memory.workspace.safe_path import PathRefused

FORGET_ACTION = "memory.forget"
MAX_QUERY_CHARS = 500
MAX_LISTED = 20  # places listed, to fit a phone; the rest is counted
_CODE = r"(?P<code>[A-Za-z0-9]{4}-?[A-Za-z0-9]{4})"
_NUMBERS = r"(?P<numbers>\d{1,3}(?:[\s,，、]+\d{1,3})*)"
_YES = re.compile(rf"(?:yes|确认)(?:\s+{_CODE})?(?:\s+{_NUMBERS})?", re.IGNORECASE)
_NO = re.compile(rf"(?:no|取消)(?:\s+{_CODE})?", re.IGNORECASE)
_ANSWER = re.compile(rf"{_CODE}(?:\s+{_NUMBERS})?", re.IGNORECASE)
_KINDS = {
    "memory": ("长期记忆", "Memory"),
    "log": ("日志", "Logs"),
    "version": ("文件的旧版本", "Former versions of files"),
    "said": ("消息", "Messages"),
}


async def _forget(context: CommandContext) -> str:
    return await _answer(context, context.arguments.strip())


async def _answer(context: CommandContext, text: str) -> str:
    try:
        if yes := _YES.fullmatch(text):
            return await _confirm(context, yes["code"] or "", yes["numbers"] or "")
        if no := _NO.fullmatch(text):
            return await _cancel(context, no["code"] or "")
        return await _list_matches(context, text)
    except (PathRefused, FileTooBig):
        return context.text(
            (
                "没有做完：记忆的文件夹里有链接之类的东西，不是普通的文件夹和文件。"
                "确认过的会在下次启动时继续。"
            ),
            "Not carried through: among the folders of memory is a link, or something else that is "
            "no plain folder or file. What was confirmed goes on at the next start.",
        )


async def _list_matches(context: CommandContext, query: str) -> str:
    if not query:
        return context.text(
            (
                "/forget 后面写要忘掉的内容，例如 /forget 我的旧地址。我先列出提到它的地方，"
                "你确认后才删除。"
            ),
            (
                "Say what to forget, as in /forget my old address. I list what mentions it first, "
                "and ask."
            ),
        )
    if len(query) > MAX_QUERY_CHARS:
        return context.text(
            f"太长了（{len(query)} 字），最多 {MAX_QUERY_CHARS} 字。写其中最特别的几个词就够了。",
            f"That is too long ({len(query)} characters; {MAX_QUERY_CHARS} is the most). "
            "Its most telling words are enough.",
        )
    forgetter = context.services.forgetter
    items = await forgetter.find(context.conversation.place.space, query)
    if not items:
        return context.text("没有找到提到它的地方。", "Nothing here mentions that.")
    code = await forgetter.ask(_requester(context), query, items)
    return "\n\n".join(
        [
            _format_head(context, items),
            *_format_matches(context, items, query),
            _format_confirmation(context, format_code(code)),
        ]
    )


def _format_head(context: CommandContext, items: Sequence[Mention]) -> str:
    counts = {kind: sum(item.kind == kind for item in items) for kind in _KINDS}
    zh = "，".join(f"{_KINDS[kind][0]} {count}" for kind, count in counts.items() if count)
    en = ", ".join(f"{_KINDS[kind][1].lower()} {count}" for kind, count in counts.items() if count)
    places = "1 place mentions" if len(items) == 1 else f"{len(items)} places mention"
    return context.text(f"**{len(items)} 处提到它**：{zh}", f"**{places} it**: {en}")


def _format_matches(context: CommandContext, items: Sequence[Mention], query: str) -> list[str]:
    numbered = list(enumerate(items, 1))
    groups = [
        "\n".join(
            [
                f"**{context.text(*_KINDS[kind])}**",
                *(_format_match(context, number, item, query) for number, item in group),
            ]
        )
        for kind, group in groupby(numbered[:MAX_LISTED], key=lambda pair: pair[1].kind)
    ]
    rest = len(items) - MAX_LISTED
    more = context.text(f"……还有 {rest} 处，会一并忘掉。", f"… and {rest} more, which go too.")
    return [*groups, more] if rest > 0 else groups


def _format_match(context: CommandContext, number: int, item: Mention, query: str) -> str:
    if item.path:
        place = f"{item.path}:{item.line}" if item.line else item.path
    else:
        who = context.text("你", "you") if item.mine else context.text("我", "me")
        place = f"{item.date} · {item.channel} · {who}"
    return f"{number}. {place}\n   {snippet(item.words, query)}"


def _format_confirmation(context: CommandContext, code: str) -> str:
    return context.text(
        f"`/forget yes {code}` 全部忘掉，`/forget yes {code} 1,3` 只忘掉这几处，`/forget no` 保留。"
        "10 分钟内有效。\n忘掉以后无法恢复：文件、消息、摘要、附件和索引里提到它的句子都会删除。",
        f"`/forget yes {code}` forgets all of it, `/forget yes {code} 1,3` only those, `/forget "
        "no` leaves it. Good for 10 minutes.\nIt cannot be taken back: sentences that mention it "
        "leave files, messages, summaries, attachments and the index.",
    )


async def _confirm(context: CommandContext, code: str, numbers: str) -> str:
    forgetter, requester = context.services.forgetter, _requester(context)
    row = await forgetter.find_request(requester, code)
    if row is None:
        receipt = await forgetter.find_receipt(requester, code)
        return (
            _format_receipt(context, receipt) if receipt is not None else no_request_text(context)
        )
    chosen = sorted({int(number) - 1 for number in re.findall(r"\d+", numbers)})
    most = len(load_targets(row.targets).items)
    if chosen and not 0 <= chosen[0] <= chosen[-1] < most:
        return context.text(
            f"序号只有 1 到 {most}，什么都没有忘掉。",
            f"There are 1 to {most}; nothing was forgotten.",
        )
    return _format_receipt(context, await forgetter.confirm(row, chosen or None))


async def _cancel(context: CommandContext, code: str) -> str:
    row = await context.services.forgetter.find_request(_requester(context), code)
    if row is None:
        return no_request_text(context)
    await context.services.forgetter.drop(row)
    return context.text("好的，都保留。", "Good, all of it stays.")


async def decide_forgetting(context: CommandContext, *, approve: bool) -> str | None:
    """Confirm or cancel what /forget listed; None if the sender has no request with the code they
    typed.
    """
    answer = _ANSWER.fullmatch(context.arguments.strip())
    if (
        answer is None
        or (answer["numbers"] and not approve)
        or not is_allowed(context, FORGET_ACTION)
    ):
        return None
    forgetter, requester, code = context.services.forgetter, _requester(context), answer["code"]
    if (
        await forgetter.find_request(requester, code) is None
        and await forgetter.find_receipt(requester, code) is None
    ):
        return None
    return await _answer(context, f"{'yes' if approve else 'no'} {answer[0]}")


def no_request_text(context: CommandContext) -> str:
    """Say that no request with that code waits here."""
    return context.text(
        "这里没有等待确认的请求：代码不对，或者已经过期。",
        "Nothing waits here under that code, or it has expired.",
    )


def _format_receipt(context: CommandContext, receipt: ForgetReceipt) -> str:
    """Format what was deleted where, then the files that may still contain it."""
    places = context.text("；", "; ").join(_format_places(context, receipt))
    pieces = [context.text(f"**已忘掉。** {places}。", f"**Forgotten.** {places}.")]
    remaining = (
        (
            receipt.backups,
            "这些备份里可能还有，需要的话请手动删除文件：",
            "These copies may still hold it; delete the files to be rid of it:",
        ),
        (
            receipt.kept,
            "工作区里这些文件也提到它，我没有动：",
            "These files of the workspace mention it too; I left them alone:",
        ),
    )
    for paths, zh, en in remaining:
        if paths:
            pieces.append(context.text(zh, en) + "".join(f"\n- `{path}`" for path in paths))
    return "\n\n".join(pieces)


def _format_places(context: CommandContext, receipt: ForgetReceipt) -> list[str]:
    comma = context.text("、", ", ")
    places = [f"{place.path}:{comma.join(map(str, place.lines))}" for place in receipt.files]
    for place in receipt.said:
        en = f"{_format_count(place.count, 'message')} of {place.date} ({place.channel})"
        places.append(context.text(f"{place.date} 的 {place.count} 条消息（{place.channel}）", en))
    counts = (
        (receipt.summaries, "{} 份摘要", "summary"),
        (receipt.records, "{} 条记忆的记录", "memory record"),
        (receipt.views, "{} 次过去的请求", "past request"),
        (receipt.versions, "{} 个文件旧版本", "former file version"),
        (receipt.attachments, "{} 个附件", "attachment"),
    )
    places += [
        context.text(zh.format(count), _format_count(count, en))
        for count, zh, en in counts
        if count
    ]
    return [*places, context.text("索引", "index")] if receipt.index else places


def _format_count(count: int, one: str) -> str:
    many = f"{one[:-1]}ies" if one.endswith("y") else f"{one}s"
    return f"{count} {one if count == 1 else many}"


def _requester(context: CommandContext) -> ForgetRequester:
    place = context.conversation.place
    return ForgetRequester(
        space=place.space,
        conversation=context.conversation.id,
        who=f"{place.channel}:{place.account}:{context.row.sender_id}",
        row=context.row.id,
    )


FORGET_COMMANDS = (
    Command(
        name="forget",
        usage="TEXT|yes [CODE] [1,3]|no",
        usage_zh="内容|确认 [代码] [1,3]|取消",
        action=FORGET_ACTION,
        zh="忘掉某件事：先列出，确认后删除",
        en="forget something: lists it first, deletes it once you confirm",
        run=_forget,
    ),
)
