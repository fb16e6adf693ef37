"""The command that writes a conversation, or all that is kept of a person, into the workspace: /export."""

import asyncio
import io
import json
from collections.abc import AsyncIterator, Callable, Iterator

from bot.commands.base import Asked, Command
from bot.memory.export import Bundle, Sources, messages_of, recorded
from memory.store.people.rows import Person
from memory.workspace.files import Conflict, SpaceFiles

MOST_CHARACTERS = 5_000_000
"""Of one file; a longer conversation becomes several."""
MOST_ATTACHED = 18_000_000
"""Bytes of attachments in a file of everything: the workspace takes 25 MiB."""
EVERYTHING = ("all", "全部")


async def _export(asked: Asked) -> str:
    if asked.rest.strip().lower() in EVERYTHING:
        return await _everything(asked)
    place, now = asked.conversation.place, asked.desk.now()
    files = await asyncio.to_thread(asked.desk.workspace.space, place.space)
    names, written, count = _names(f"{now:%Y-%m-%d-%H%M%S}", "jsonl"), [], 0
    async for lines in _pieces(asked):
        text = "\n".join(lines) + "\n"
        written.append(await asyncio.to_thread(_write, names, lambda name: files.write(name, text, None)))  # noqa: B023
        count += len(lines)
    if not count:
        return asked.either("还没有可以导出的消息。", "There is nothing to export yet.")
    await asked.desk.store.note("export", asked.conversation.id, f"{count} messages", asked.who)
    listed = asked.either("、", ", ").join(written)
    return asked.either(
        f"已导出 {count} 条消息到工作区的 {listed}。", f"Exported to the workspace ({count} messages): {listed}."
    )


async def _everything(asked: Asked) -> str:
    """All that is kept of this person: private conversations, files, memories, usage, attachments."""
    desk, space = asked.desk, asked.conversation.place.space
    person = Person(spaces=await desk.store.links.members(space), accounts=(asked.who,))
    files: SpaceFiles = await asyncio.to_thread(desk.workspace.space, space)
    target = io.BytesIO()
    bundle = Bundle(Sources(store=desk.store, workspace=desk.workspace, blobs=desk.blobs), target, most=MOST_ATTACHED)
    done = await bundle.fill(person, desk.now())
    names = _names(f"{desk.now():%Y-%m-%d-%H%M%S}", "zip")
    path = await asyncio.to_thread(_write, names, lambda name: files.write_bytes(name, target.getvalue(), None))
    await desk.store.note("export", space, f"everything, {done.messages} messages", asked.who)
    counts = (done.conversations, done.messages, done.files, done.memories, done.attachments)
    left = len(done.left_out)
    zh = "{} 个会话、{} 条消息、{} 个文件、{} 条记忆、{} 个附件".format(*counts)
    en = "conversations {}, messages {}, files {}, memories {}, attachments {}".format(*counts)
    return asked.either(
        f"已把你的全部资料导出到工作区的 {path}：{zh}。" + (f"放不下的附件或文件：{left}。" if left else ""),
        f"Everything that is kept of you is in the workspace's {path}: {en}."
        + (f" Attachments or files that did not fit: {left}." if left else ""),
    )


async def _pieces(asked: Asked) -> AsyncIterator[list[str]]:
    """The lines of one file after the other, cleared and folded messages included."""
    lines, size = list[str](), 0
    async for message in messages_of(asked.desk.store, asked.conversation.id):
        lines.append(json.dumps(recorded(message), ensure_ascii=False))
        size += len(lines[-1])
        if size > MOST_CHARACTERS:
            yield lines
            lines, size = [], 0
    if lines:
        yield lines


def _names(stem: str, kind: str) -> Iterator[str]:
    yield f"exports/{stem}.{kind}"
    for number in range(2, 10_000):
        yield f"exports/{stem}-{number}.{kind}"


def _write(names: Iterator[str], write: Callable[[str], object]) -> str:
    """Into the first file that is not there yet; returns its path."""
    for name in names:
        try:
            write(name)
        except Conflict:
            continue
        return name
    raise OSError("too many exports of one second")


EXPORT = Command(
    name="export",
    usage="[all]",
    usage_zh="[全部]",
    action="export",
    zh="导出本会话；写“全部”则导出你的全部资料",
    en="export this conversation, or all that is kept of you",
    run=_export,
)
