"""The command that writes a conversation, or all that is kept of a person, into the workspace: /export."""

import asyncio
import io
import json
from collections.abc import AsyncIterator, Callable, Iterator

from bot.commands.base import Command, CommandContext
from bot.memory.export import ExportSources, PersonBundle, load_messages, message_to_json
from memory.store.people.rows import Person
from memory.workspace.files import FileConflict, SpaceFiles

MAX_CHARS = 5_000_000  # of one file; a longer conversation becomes several
MAX_ATTACHMENT_BYTES = 18_000_000  # bytes of attachments in a file of everything: the workspace takes 25 MiB
ALL_WORDS = ("all", "全部")


async def _export(asked: CommandContext) -> str:
    if asked.rest.strip().lower() in ALL_WORDS:
        return await _export_everything(asked)
    place, now = asked.conversation.place, asked.desk.now()
    files = await asyncio.to_thread(asked.desk.workspace.space, place.space)
    names, written, count = _part_names(f"{now:%Y-%m-%d-%H%M%S}", "jsonl"), [], 0
    async for lines in _read_lines(asked):
        text = "\n".join(lines) + "\n"
        written.append(await asyncio.to_thread(_write_parts, names, lambda name: files.write(name, text, None)))  # noqa: B023
        count += len(lines)
    if not count:
        return asked.either("还没有可以导出的消息。", "There is nothing to export yet.")
    await asked.desk.store.note("export", asked.conversation.id, f"{count} messages", asked.who)
    listed = asked.either("、", ", ").join(written)
    return asked.either(
        f"已导出 {count} 条消息到工作区的 {listed}。", f"Exported to the workspace ({count} messages): {listed}."
    )


async def _export_everything(asked: CommandContext) -> str:
    """All that is kept of this person: private conversations, files, memories, usage, attachments."""
    desk, space = asked.desk, asked.conversation.place.space
    person = Person(spaces=await desk.store.links.members(space), accounts=(asked.who,))
    files: SpaceFiles = await asyncio.to_thread(desk.workspace.space, space)
    target = io.BytesIO()
    bundle = PersonBundle(
        ExportSources(store=desk.store, workspace=desk.workspace, blobs=desk.blobs), target, most=MAX_ATTACHMENT_BYTES
    )
    done = await bundle.fill(person, desk.now())
    names = _part_names(f"{desk.now():%Y-%m-%d-%H%M%S}", "zip")
    path = await asyncio.to_thread(_write_parts, names, lambda name: files.write_bytes(name, target.getvalue(), None))
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


async def _read_lines(asked: CommandContext) -> AsyncIterator[list[str]]:
    """The lines of one file after the other, cleared and folded messages included."""
    lines, size = list[str](), 0
    async for message in load_messages(asked.desk.store, asked.conversation.id):
        lines.append(json.dumps(message_to_json(message), ensure_ascii=False))
        size += len(lines[-1])
        if size > MAX_CHARS:
            yield lines
            lines, size = [], 0
    if lines:
        yield lines


def _part_names(stem: str, kind: str) -> Iterator[str]:
    yield f"exports/{stem}.{kind}"
    for number in range(2, 10_000):
        yield f"exports/{stem}-{number}.{kind}"


def _write_parts(names: Iterator[str], write: Callable[[str], object]) -> str:
    """Into the first file that is not there yet; returns its path."""
    for name in names:
        try:
            write(name)
        except FileConflict:
            continue
        return name
    raise OSError("too many exports of one second")


EXPORT_COMMAND = Command(
    name="export",
    usage="[all]",
    usage_zh="[全部]",
    action="export",
    zh="导出本会话；写“全部”则导出你的全部资料",
    en="export this conversation, or all that is kept of you",
    run=_export,
)
