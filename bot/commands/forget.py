"""The command that forgets: it shows what mentions something and asks; /approve and /deny answer it as well."""

import re
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from itertools import groupby

from bot.commands.base import Command, CommandContext, is_allowed
from memory.forgetting.forget import ForgetRequester
from memory.store.longterm.rows import ForgetReceipt, Mention, load_targets, snippet
from memory.workspace.files import FileTooBig
from memory.workspace.safe_path import PathRefused

AnswerForgetting = Callable[[CommandContext], Awaitable[str]]
FORGET_ACTION = "memory.forget"
MAX_QUERY_CHARS = 500  # characters of what is to be looked for
# Places; more nobody reads on a phone. The rest is counted.
MAX_LISTED = 20
_CODE = r"(?P<code>[A-Za-z0-9]{4}-?[A-Za-z0-9]{4})"
_NUMBERS = r"(?P<numbers>\d{1,3}(?:[\s,，、]+\d{1,3})*)"
_YES = re.compile(rf"(?:yes|确认)(?:\s+{_CODE})?(?:\s+{_NUMBERS})?", re.IGNORECASE)
_NO = re.compile(rf"(?:no|取消)(?:\s+{_CODE})?", re.IGNORECASE)
_ANSWER = re.compile(rf"{_CODE}(?:\s+{_NUMBERS})?", re.IGNORECASE)
_KINDS = {"memory": ("长期记忆", "Memory"), "log": ("日志", "Logs"), "said": ("消息", "Messages")}


def _refuse_unsafe_files(act: AnswerForgetting) -> AnswerForgetting:
    async def acted(asked: CommandContext) -> str:
        try:
            return await act(asked)
        except (PathRefused, FileTooBig):
            return asked.either(
                "没有做完：记忆的文件夹里有链接之类的东西，不是普通的文件夹和文件。确认过的会在下次启动时继续。",
                "Not carried through: among the folders of memory is a link, or something else that is no plain folder "
                "or file. What was confirmed goes on at the next start.",
            )

    return acted


async def _forget(asked: CommandContext) -> str:
    wanted = asked.rest.strip()
    if yes := _YES.fullmatch(wanted):
        return await _confirm(asked, yes["code"] or "", yes["numbers"] or "")
    if no := _NO.fullmatch(wanted):
        return await _cancel(asked, no["code"] or "")
    if not wanted:
        return asked.either(
            "/forget 后面写要忘掉的内容，例如 /forget 我的旧地址。我先列出提到它的地方，你确认后才删除。",
            "Say what to forget, as in /forget my old address. I list what mentions it first, and ask.",
        )
    if len(wanted) > MAX_QUERY_CHARS:
        return asked.either(
            f"太长了（{len(wanted)} 字），最多 {MAX_QUERY_CHARS} 字。写其中最特别的几个词就够了。",
            f"That is too long ({len(wanted)} characters; {MAX_QUERY_CHARS} is the most). "
            "Its most telling words are enough.",
        )
    return await _list_matches(asked, wanted)


async def _list_matches(asked: CommandContext, query: str) -> str:
    forgetter = asked.desk.forgetter
    items = await forgetter.find(asked.conversation.place.space, query)
    if not items:
        return asked.either("没有找到提到它的地方。", "Nothing here mentions that.")
    code = await forgetter.ask(_requester(asked), query, items)
    return "\n\n".join(
        [
            _format_head(asked, items),
            *_format_matches(asked, items, query),
            _format_confirmation(asked, f"{code[:4]}-{code[4:]}"),
        ]
    )


def _format_head(asked: CommandContext, items: Sequence[Mention]) -> str:
    counts = {kind: sum(item.kind == kind for item in items) for kind in _KINDS}
    zh = "，".join(f"{_KINDS[kind][0]} {count}" for kind, count in counts.items() if count)
    en = ", ".join(f"{_KINDS[kind][1].lower()} {count}" for kind, count in counts.items() if count)
    return asked.either(
        f"**{len(items)} 处提到它**：{zh}",
        f"**{_format_count(len(items), 'place')} mention{'s' * (len(items) == 1)} it**: {en}",
    )


def _format_matches(asked: CommandContext, items: Sequence[Mention], query: str) -> list[str]:
    numbered = list(enumerate(items, 1))
    groups = [
        "\n".join(
            [
                f"**{asked.either(*_KINDS[kind])}**",
                *(_format_match(asked, number, item, query) for number, item in held),
            ]
        )
        for kind, held in groupby(numbered[:MAX_LISTED], key=lambda pair: pair[1].kind)
    ]
    rest = len(items) - MAX_LISTED
    more = asked.either(f"……还有 {rest} 处，会一并忘掉。", f"… and {rest} more, which go too.")
    return [*groups, more] if rest > 0 else groups


def _format_match(asked: CommandContext, number: int, item: Mention, query: str) -> str:
    if item.path:
        place = f"{item.path}:{item.line}"
    else:
        who = asked.either("你", "you") if item.mine else asked.either("我", "me")
        place = f"{item.date} · {item.channel} · {who}"
    return f"{number}. {place}\n   {snippet(item.words, query)}"


def _format_confirmation(asked: CommandContext, code: str) -> str:
    return asked.either(
        f"`/forget yes {code}` 全部忘掉，`/forget yes {code} 1,3` 只忘掉这几处，`/forget no` 保留。10 分钟内有效。\n"
        "忘掉以后无法恢复：文件、消息、摘要、附件和索引里提到它的句子都会删除。",
        f"`/forget yes {code}` forgets all of it, `/forget yes {code} 1,3` only those, `/forget no` leaves it. "
        "Good for 10 minutes.\nIt cannot be taken back: sentences that mention it leave files, messages, summaries, "
        "attachments and the index.",
    )


async def _confirm(asked: CommandContext, code: str, numbers: str) -> str:
    forgetter, asker = asked.desk.forgetter, _requester(asked)
    row = await forgetter.asked(asker, code)
    if row is None:
        receipt = await forgetter.told(asker, code)
        return _format_receipt(asked, receipt) if receipt is not None else no_request_text(asked)
    chosen = sorted({int(number) - 1 for number in re.findall(r"\d+", numbers)})
    most = len(load_targets(row.targets).items)
    if chosen and not 0 <= chosen[0] <= chosen[-1] < most:
        return asked.either(f"序号只有 1 到 {most}，什么都没有忘掉。", f"There are 1 to {most}; nothing was forgotten.")
    return _format_receipt(asked, await forgetter.confirm(row, chosen or None))


async def _cancel(asked: CommandContext, code: str) -> str:
    row = await asked.desk.forgetter.asked(_requester(asked), code)
    if row is None:
        return no_request_text(asked)
    await asked.desk.forgetter.drop(row)
    return asked.either("好的，都保留。", "Good, all of it stays.")


async def approve_forgetting(asked: CommandContext) -> str | None:
    """A yes to what /forget has listed; None where nothing of this person's goes by that code."""
    answer = _ANSWER.fullmatch(asked.rest.strip())
    if answer is None or not await _find_own_request(asked, answer["code"]):
        return None
    return await _refuse_unsafe_files(partial(_confirm, code=answer["code"], numbers=answer["numbers"] or ""))(asked)


async def deny_forgetting(asked: CommandContext) -> str | None:
    """A no to what /forget has listed; None as above."""
    answer = re.fullmatch(_CODE, asked.rest.strip())
    return await _cancel(asked, answer["code"]) if answer and await _find_own_request(asked, answer["code"]) else None


async def _find_own_request(asked: CommandContext, code: str) -> bool:
    if not is_allowed(asked, FORGET_ACTION):
        return False
    forgetter, asker = asked.desk.forgetter, _requester(asked)
    return await forgetter.asked(asker, code) is not None or await forgetter.told(asker, code) is not None


def no_request_text(asked: CommandContext) -> str:
    """No request waits under that code here."""
    return asked.either(
        "这里没有等待确认的请求：代码不对，或者已经过期。", "Nothing waits here under that code, or it has expired."
    )


def _format_receipt(asked: CommandContext, receipt: ForgetReceipt) -> str:
    """The receipt in words: every place with its count, then what still holds it."""
    places = asked.either("；", "; ").join(_format_places(asked, receipt))
    pieces = [asked.either(f"**已忘掉。** {places}。", f"**Forgotten.** {places}.")]
    if receipt.backups:
        pieces.append(
            asked.either(
                "这些备份里可能还有，需要的话请手动删除文件：",
                "These copies may still hold it; delete the files to be rid of it:",
            )
            + "".join(f"\n- `{path}`" for path in receipt.backups)
        )
    if receipt.kept:
        pieces.append(
            asked.either(
                "工作区里这些文件也提到它，我没有动：",
                "These files of the workspace mention it too; I left them alone:",
            )
            + "".join(f"\n- `{path}`" for path in receipt.kept)
        )
    return "\n\n".join(pieces)


def _format_places(asked: CommandContext, receipt: ForgetReceipt) -> list[str]:
    comma = asked.either("、", ", ")
    told = [f"{place.path}:{comma.join(map(str, place.lines))}" for place in receipt.files]
    for place in receipt.said:
        en = f"{_format_count(place.count, 'message')} of {place.date} ({place.channel})"
        told.append(asked.either(f"{place.date} 的 {place.count} 条消息（{place.channel}）", en))
    counts = (
        (receipt.summaries, "{} 份摘要", "summary"),
        (receipt.records, "{} 条记忆的记录", "memory record"),
        (receipt.attachments, "{} 个附件", "attachment"),
    )
    told += [asked.either(zh.format(count), _format_count(count, en)) for count, zh, en in counts if count]
    return [*told, asked.either("索引", "index")] if receipt.index else told


def _format_count(count: int, one: str) -> str:
    many = f"{one[:-1]}ies" if one.endswith("y") else f"{one}s"
    return f"{count} {one if count == 1 else many}"


def _requester(asked: CommandContext) -> ForgetRequester:
    place = asked.conversation.place
    return ForgetRequester(
        space=place.space,
        conversation=asked.conversation.id,
        who=f"{place.channel}:{place.account}:{asked.row.sender_id}",
        row=asked.row.id,
    )


FORGET_COMMANDS = (
    Command(
        name="forget",
        usage="TEXT|yes [CODE] [1,3]|no",
        usage_zh="内容|确认 [代码] [1,3]|取消",
        action=FORGET_ACTION,
        zh="忘掉某件事：先列出，确认后删除",
        en="forget something: shown first, gone once confirmed",
        run=_refuse_unsafe_files(_forget),
    ),
)
