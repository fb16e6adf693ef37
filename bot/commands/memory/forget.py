"""The command /forget: lists what mentions something, and deletes it once the person confirms."""

import re
from collections.abc import Sequence
from itertools import groupby

from bot.commands.base import Command, CommandContext, is_allowed
from channels.phrases import Phrase, join_phrases
from memory.forgetting.forget import ForgetRequester
from memory.ids import format_code
from memory.store.longterm.rows import ForgetReceipt, Mention, load_targets, snippet
from memory.workspace.safe_path import FileTooBig, PathRefused

FORGET_ACTION = "memory.forget"
MAX_QUERY_CHARS = 500
MAX_LISTED = 20  # places listed, to fit a phone; the rest is counted
_CODE = r"(?P<code>[A-Za-z0-9]{4}-?[A-Za-z0-9]{4})"
_NUMBERS = r"(?P<numbers>\d{1,3}(?:[\s,，、]+\d{1,3})*)"
_YES = re.compile(rf"(?:yes|确认)(?:\s+{_CODE})?(?:\s+{_NUMBERS})?", re.IGNORECASE)
_NO = re.compile(rf"(?:no|取消)(?:\s+{_CODE})?", re.IGNORECASE)
_ANSWER = re.compile(rf"{_CODE}(?:\s+{_NUMBERS})?", re.IGNORECASE)
_KINDS = {
    "memory": Phrase("Memory"),
    "log": Phrase("Logs"),
    "version": Phrase("Former versions of files"),
    "said": Phrase("Messages"),
}
_KINDS_IN_A_LIST = {
    "memory": Phrase("memory"),
    "log": Phrase("logs"),
    "version": Phrase("former versions of files"),
    "said": Phrase("messages"),
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
            Phrase(
                "Not finished: the memory folders contain a link or something else that is not a "
                "plain folder or file. What you confirmed continues at the next start."
            ),
        )


async def _list_matches(context: CommandContext, query: str) -> str:
    if not query:
        return context.text(
            Phrase(
                "Say what to forget, as in /forget my old address. I first list what mentions "
                "it, then ask."
            ),
        )
    if len(query) > MAX_QUERY_CHARS:
        return context.text(
            Phrase(
                "That is too long ({count} characters; the limit is {max_query_chars}). Its most "
                "distinctive words are enough.",
                count=len(query),
                max_query_chars=MAX_QUERY_CHARS,
            ),
        )
    forgetter = context.services.forgetter
    items = await forgetter.find(context.conversation.place.space, query)
    if not items:
        return context.text(Phrase("Nothing here mentions that."))
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
    kinds = [
        Phrase("{kind} {count}", kind=_KINDS_IN_A_LIST[kind], count=count)
        for kind, count in counts.items()
        if count
    ]
    return context.text(
        Phrase(
            "**1 place mentions it**: {kinds}",
            "**{count} places mention it**: {kinds}",
            count=len(items),
            kinds=join_phrases(kinds, Phrase(", ", context="clauses")),
        )
    )


def _format_matches(context: CommandContext, items: Sequence[Mention], query: str) -> list[str]:
    numbered = list(enumerate(items, 1))
    groups = [
        "\n".join(
            [
                f"**{context.text(_KINDS[kind])}**",
                *(_format_match(context, number, item, query) for number, item in group),
            ]
        )
        for kind, group in groupby(numbered[:MAX_LISTED], key=lambda pair: pair[1].kind)
    ]
    rest = len(items) - MAX_LISTED
    more = context.text(Phrase("… and {rest} more, which are forgotten too.", rest=rest))
    return [*groups, more] if rest > 0 else groups


def _format_match(context: CommandContext, number: int, item: Mention, query: str) -> str:
    if item.path:
        place = f"{item.path}:{item.line}" if item.line else item.path
    else:
        who = context.text(Phrase("you")) if item.mine else context.text(Phrase("me"))
        place = f"{item.date} · {item.channel} · {who}"
    return f"{number}. {place}\n   {snippet(item.words, query)}"


def _format_confirmation(context: CommandContext, code: str) -> str:
    return context.text(
        Phrase(
            "`/forget yes {code}` forgets all of it, `/forget yes {code} 1,3` only those, "
            "`/forget no` keeps it. Valid for 10 minutes.\nThis cannot be undone: sentences that "
            "mention it are removed from files, messages, summaries, attachments and the index.",
            code=code,
        ),
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
            Phrase("The numbers are 1 to {most}; nothing was forgotten.", most=most),
        )
    return _format_receipt(context, await forgetter.confirm(row, chosen or None))


async def _cancel(context: CommandContext, code: str) -> str:
    row = await context.services.forgetter.find_request(_requester(context), code)
    if row is None:
        return no_request_text(context)
    await context.services.forgetter.drop(row)
    return context.text(Phrase("All right, all of it stays."))


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
        Phrase("No request with that code is waiting here, or it has expired."),
    )


def _format_receipt(context: CommandContext, receipt: ForgetReceipt) -> str:
    """Format what was deleted where, then the files that may still contain it."""
    places = context.text(Phrase("; ")).join(_format_places(context, receipt))
    pieces = [context.text(Phrase("**Forgotten.** {places}.", places=places))]
    remaining = (
        (
            receipt.backups,
            Phrase("These copies may still contain it; delete the files to remove it:"),
        ),
        (
            receipt.kept,
            Phrase("These files in the workspace mention it too; they were left alone:"),
        ),
    )
    for paths, head in remaining:
        if paths:
            pieces.append(context.text(head) + "".join(f"\n- `{path}`" for path in paths))
    return "\n\n".join(pieces)


def _format_places(context: CommandContext, receipt: ForgetReceipt) -> list[str]:
    comma = context.text(Phrase(", "))
    places = [f"{place.path}:{comma.join(map(str, place.lines))}" for place in receipt.files]
    for place in receipt.said:
        said = Phrase(
            "1 message of {date} ({channel})",
            "{count} messages of {date} ({channel})",
            count=place.count,
            date=place.date,
            channel=place.channel,
        )
        places.append(context.text(said))
    counts = (
        (receipt.summaries, Phrase("1 summary", "{count} summaries")),
        (receipt.records, Phrase("1 memory record", "{count} memory records")),
        (receipt.views, Phrase("1 past request", "{count} past requests")),
        (receipt.versions, Phrase("1 former file version", "{count} former file versions")),
        (receipt.attachments, Phrase("1 attachment", "{count} attachments")),
    )
    places += [context.text(names.fill(count=count)) for count, names in counts if count]
    return [*places, context.text(Phrase("index"))] if receipt.index else places


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
        usage=Phrase("TEXT|yes [CODE] [1,3]|no"),
        action=FORGET_ACTION,
        about=Phrase("forget something: lists it first, deletes it once you confirm"),
        run=_forget,
    ),
)
