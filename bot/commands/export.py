"""The command /export: writes a conversation, or everything stored about a person, into the
workspace.
"""

import asyncio
import io
import json
from collections.abc import AsyncIterator, Callable, Iterator

from bot.commands.base import Command, CommandContext
from bot.memory.export import PersonBundle, conversation_to_json, load_lines
from channels.phrases import NO_PHRASE, Phrase, join_sentences
from memory.store.people.rows import Person
from memory.workspace.atomic_write import FileConflict
from memory.workspace.files import SpaceFiles

MAX_CHARS = 5_000_000  # of one file; a longer conversation is split into several
MAX_ATTACHMENT_BYTES = 18_000_000  # in one archive: a workspace file has at most 25 MiB
ALL_WORDS = ("all", "全部")


async def _export(context: CommandContext) -> str:
    if context.arguments.strip().lower() in ALL_WORDS:
        return await _export_everything(context)
    place, now = context.conversation.place, context.services.now()
    files = await asyncio.to_thread(context.services.workspace.space, place.space)
    names, written, count = _part_names(f"{now:%Y-%m-%d-%H%M%S}", "jsonl"), [], 0
    head = [json.dumps({"session": conversation_to_json(context.conversation)}, ensure_ascii=False)]
    async for lines in _read_lines(context):
        text = "\n".join([*head, *lines]) + "\n"
        head = []
        written.append(
            await asyncio.to_thread(_write_parts, names, lambda name: files.write(name, text, None))  # noqa: B023
        )  # noqa: B023, RUF100
        count += len(lines)
    if not count:
        return context.text(Phrase("There is nothing to export yet."))
    await context.store.note("export", context.conversation.id, f"{count} messages", context.who)
    listed = context.text(Phrase(", ")).join(written)
    return context.text(
        Phrase(
            "Exported to the workspace ({count} messages): {listed}.", count=count, listed=listed
        ),
    )


async def _export_everything(context: CommandContext) -> str:
    """Write everything stored about the sender: conversations, files, memories, usage,
    attachments.
    """
    services, space = context.services, context.conversation.place.space
    person = Person(spaces=await context.store.links.members(space), accounts=(context.who,))
    files: SpaceFiles = await asyncio.to_thread(services.workspace.space, space)
    target = io.BytesIO()
    bundle = PersonBundle(
        context.store,
        services.workspace,
        services.blobs,
        target,
        max_attachment_bytes=MAX_ATTACHMENT_BYTES,
    )
    done = await bundle.fill(person, services.now())
    names = _part_names(f"{services.now():%Y-%m-%d-%H%M%S}", "zip")
    path = await asyncio.to_thread(
        _write_parts, names, lambda name: files.write_bytes(name, target.getvalue(), None)
    )
    await context.store.note("export", space, f"everything, {done.messages} messages", context.who)
    exported = Phrase(
        "Everything the bot stores about you is in {path} in the workspace: conversations "
        "{conversations}, messages {messages}, files {files}, memories {memories}, attachments "
        "{attachments}.",
        path=path,
        conversations=done.conversations,
        messages=done.messages,
        files=done.files,
        memories=done.memories,
        attachments=done.attachments,
    )
    left = Phrase(
        "Attachments or files left out because they did not fit: {count}.", count=len(done.left_out)
    )
    return context.text(join_sentences([exported, left if done.left_out else NO_PHRASE]))


async def _read_lines(context: CommandContext) -> AsyncIterator[list[str]]:
    """Yield the JSON lines of each file, cleared and folded messages included."""
    lines, size = list[str](), 0
    async for line in load_lines(context.store, context.conversation.id):
        lines.append(json.dumps(line, ensure_ascii=False))
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
    """Write the first file that does not exist yet; return its path."""
    for name in names:
        try:
            write(name)
        except FileConflict:
            continue
        return name
    raise OSError("too many exports of one second")


EXPORT_COMMAND = Command(
    name="export",
    usage=Phrase("[all]"),
    action="export",
    about=Phrase("export this conversation, or all your data"),
    run=_export,
)
