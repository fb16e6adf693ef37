"""The command that writes a conversation into the workspace: /export."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator

from bot.commands.base import Asked, Command
from memory.conversation import Message, dump_parts
from memory.workspace import Conflict, SpaceFiles

PAGE = 500
MOST_CHARACTERS = 5_000_000
"""Of one file; a longer conversation becomes several."""


async def _export(asked: Asked) -> str:
    place, now = asked.conversation.place, asked.desk.now()
    files = await asyncio.to_thread(asked.desk.workspace.space, place.space)
    names, written, count = _names(f"{now:%Y-%m-%d-%H%M%S}"), [], 0
    async for lines in _pieces(asked):
        written.append(await asyncio.to_thread(_write, files, names, "\n".join(lines) + "\n"))
        count += len(lines)
    if not count:
        return asked.either("还没有可以导出的消息。", "There is nothing to export yet.")
    listed = asked.either("、", ", ").join(written)
    return asked.either(
        f"已导出 {count} 条消息到工作区的 {listed}。", f"Exported to the workspace ({count} messages): {listed}."
    )


async def _pieces(asked: Asked) -> AsyncIterator[list[str]]:
    """The lines of one file after the other, cleared and folded messages included."""
    sessions, seq, lines, size = asked.desk.store.sessions, 1, list[str](), 0
    while page := await sessions.messages(asked.conversation.id, from_seq=seq, limit=PAGE):
        seq = page[-1].seq + 1
        for message in page:
            lines.append(_line(message))
            size += len(lines[-1])
            if size > MOST_CHARACTERS:
                yield lines
                lines, size = [], 0
    if lines:
        yield lines


def _line(message: Message) -> str:
    record = {
        "id": message.id,
        "seq": message.seq,
        "turn": message.turn,
        "role": message.role,
        "at": message.at.isoformat(),
        "origin": message.origin,
        "parts": json.loads(dump_parts(message.parts)),
    }
    return json.dumps(record, ensure_ascii=False)


def _names(stem: str) -> Iterator[str]:
    yield f"exports/{stem}.jsonl"
    for number in range(2, 10_000):
        yield f"exports/{stem}-{number}.jsonl"


def _write(files: SpaceFiles, names: Iterator[str], text: str) -> str:
    """Into the first file that is not there yet; returns its path."""
    for name in names:
        try:
            files.write(name, text, None)
        except Conflict:
            continue
        return name
    raise OSError("too many exports of one second")


EXPORT = Command(
    name="export", usage="", action="export", zh="导出本会话到工作区", en="export this conversation", run=_export
)
