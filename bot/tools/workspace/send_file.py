"""The tool that sends a file into the current chat."""

import asyncio
import mimetypes
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import Field

from bot.errors import ToolFailed
from bot.gateway.attachments import detect_kind, sanitize_file_name
from bot.messages import PartExtras, dump_extras
from bot.tools.base import LazyToolSpec, ToolArguments, ToolContext
from bot.tools.recall import find_original
from bot.tools.workspace.changes import run_in_tool_thread
from channels.base import Channel
from channels.message import Capabilities
from channels.toolkit.text import replace_unstorable, split_text, text_length
from memory.conversation import Document, Image
from memory.store.rows import NewOutboxRow
from memory.store.store import Store
from memory.workspace.blobs import Blobs
from memory.workspace.files import Workspace

OUTBOX_FOLDER = "outbox/"
NEVER_EXPIRES = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _FileToSend:
    name: str
    media_type: str
    data: bytes
    picture: bool


class SendFileArguments(ToolArguments):
    """Arguments of `send_file`: a path or a handle."""

    path: str = Field("", description=f"Such as {OUTBOX_FOLDER}report.md")
    handle: str = Field("", description='Such as "41.0"')
    caption: str = ""


class SendFileTool:
    """Queues a file in the outbox. Idempotent: the row uses the key of the call."""

    arguments = SendFileArguments
    spec = LazyToolSpec(
        arguments,
        name="send_file",
        description=(
            "Send a file into this chat: by `path` one that write_file made under "
            f"{OUTBOX_FOLDER}, or by `handle` one that came with an earlier message."
        ),
        effect="idempotent",
        action="files.read",
        outside=False,
    )

    def __init__(
        self, store: Store, workspace: Workspace, blobs: Blobs, channels: Mapping[str, Channel]
    ) -> None:
        self._store = store
        self._workspace = workspace
        self._blobs = blobs
        self._channels = channels

    async def run(self, arguments: SendFileArguments, context: ToolContext) -> str:
        path, handle = arguments.path.strip(), arguments.handle.strip()
        if bool(path) == bool(handle):
            raise ToolFailed("Give either a path or a handle.")
        capabilities = await self._capabilities(context)
        file = (
            await self._read_workspace(path, context)
            if path
            else await self._read_attachment(handle, context)
        )
        if path:
            await context.reserve_storage(len(file.data))
        extras = await self._store_file(file, capabilities)
        caption = replace_unstorable(arguments.caption.strip())
        limit, unit = capabilities.caption, capabilities.unit
        if text_length(caption, unit) > limit:
            caption = split_text(caption, limit, unit)[0] if limit else ""
        out = NewOutboxRow(
            kind="media",
            text=caption,
            part_no=0,
            parts=1,
            key_valid=capabilities.key_valid if capabilities.keyed else NEVER_EXPIRES,
            payload=dump_extras(extras),
        )
        await self._store.delivery.notify(context.conversation, f"file:{context.idem_key}", [out])
        return (
            f"{extras.name} ({len(file.data)} bytes) is queued for this chat; whether it arrived "
            "is not known yet."
        )

    async def _capabilities(self, context: ToolContext) -> Capabilities:
        row = await self._store.sessions.conversation(context.conversation)
        channel = self._channels.get(row.place.channel) if row else None
        if channel is None or not (
            channel.capabilities.file_bytes or channel.capabilities.picture_bytes
        ):
            raise ToolFailed(
                "This chat cannot carry files; tell the person where the file stands in the "
                "workspace."
            )
        return channel.capabilities

    async def _read_workspace(self, path: str, context: ToolContext) -> _FileToSend:
        if not path.startswith(OUTBOX_FOLDER):
            raise ToolFailed(
                f"Only what stands under {OUTBOX_FOLDER} is sent; write it there first."
            )
        files = self._workspace.space(context.space)
        data = await run_in_tool_thread(lambda: files.read_bytes(path))
        return _FileToSend(
            name=sanitize_file_name(path),
            media_type=mimetypes.guess_type(path)[0] or "application/octet-stream",
            data=data,
            picture=detect_kind(data) == "picture",
        )

    async def _read_attachment(self, handle: str, context: ToolContext) -> _FileToSend:
        part = await find_original(self._store.sessions, context, handle)
        if not isinstance(part, Image | Document):
            raise ToolFailed(f"There is no picture or file at {handle}.")
        data = await asyncio.to_thread(self._blobs.get, part.sha256)
        suffix = mimetypes.guess_extension(part.media_type) or ""
        name = part.name if isinstance(part, Document) else f"picture{suffix}"
        return _FileToSend(
            name=sanitize_file_name(name),
            media_type=part.media_type,
            data=data,
            picture=isinstance(part, Image),
        )

    async def _store_file(self, file: _FileToSend, capabilities: Capabilities) -> PartExtras:
        """Store the file as the channel supports it: a picture over the picture limit is sent as a
        file.
        """
        size, file_bytes, picture_bytes = (
            len(file.data),
            capabilities.file_bytes,
            capabilities.picture_bytes,
        )
        if not size:
            raise ToolFailed(f"{file.name} is empty.")
        picture = file.picture and size <= picture_bytes
        if not picture and size > file_bytes:
            limit = max(file_bytes, picture_bytes if file.picture else 0)
            if not limit:
                raise ToolFailed("This chat carries pictures only, and this is none.")
            raise ToolFailed(
                f"{file.name} has {size} bytes; this chat carries files of at most {limit}."
            )
        sha256 = await asyncio.to_thread(self._blobs.put, file.data)
        return PartExtras(
            sha256=sha256, name=file.name, media_type=file.media_type, picture=picture
        )
