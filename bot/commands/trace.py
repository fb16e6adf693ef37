"""The command that tells what became of a message: /trace."""

from bot.commands.base import Asked, Command
from bot.trace_words import lines

LAST = ("", "last", "上一条")


async def _trace(asked: Asked) -> str:
    """Of this conversation, in a group of the person's own messages; anything else is as if there were none."""
    wanted = asked.rest.strip().lower()
    found = await asked.desk.store.sessions.trace(
        asked.conversation.id,
        of="" if wanted in LAST else wanted,
        sender=asked.row.sender_id if asked.where.kind == "group" else "",
        below=asked.row.line,
    )
    if found is not None:
        return "\n".join(lines(found, asked.lang, asked.desk.now().tzinfo))
    if wanted in LAST:
        return asked.either("这里还没有你的消息。", "There is no message of yours here yet.")
    return asked.either(
        f"这里没有编号为 {wanted[:60]} 的消息。", f"There is no message of yours here with the id {wanted[:60]}."
    )


TRACE = Command(
    name="trace",
    usage="[last | ID]",
    usage_zh="[上一条 | 编号]",
    action="trace",
    zh="查看一条消息的处理经过",
    en="what became of your last message, step by step",
    run=_trace,
)
