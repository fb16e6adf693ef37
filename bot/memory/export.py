"""Exports a conversation as JSON lines, and a person's data as a ZIP file."""

import asyncio
import json
import zipfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import IO, Any

from memory.context.taint import outcome_tool
from memory.conversation import Document, Image, Message, dump_parts
from memory.store.conversations.messages import Writer
from memory.store.conversations.titles import shown_title
from memory.store.people.rows import Person
from memory.store.rows import ConversationRow
from memory.store.store import Store
from memory.workspace.blobs import Blobs
from memory.workspace.files import Workspace
from memory.workspace.safe_path import FileTooBig, PathRefused

PAGE_ROWS = 100  # of up to 200,000 characters each
MAX_OCCURRENCES = 10_000  # of one job
EXPORTS_FOLDER = "exports/"
UNIX_EPOCH = datetime.fromtimestamp(0, UTC)


def conversation_to_json(row: ConversationRow) -> dict[str, Any]:
    """Describe a conversation: the first line of its export."""
    place = row.place
    return {
        "id": row.id,
        "title": shown_title(row),
        "chat_name": row.chat_name,
        "channel": place.channel,
        "account": place.account,
        "chat_id": place.chat_id,
        "thread_id": place.thread_id,
        "kind": place.kind,
        "space": place.space,
        "turns": row.turns,
        "updated_at": row.updated.isoformat(),
    }


def message_to_json(message: Message, writer: Writer | None = None) -> dict[str, Any]:
    """Convert a message to one line of an export; `tainted` is present only if true, see Message,
    and `sender` where a person wrote it.

    An outcome of a call names its tool and has the role "notice", as in a transcript.
    """
    tool = outcome_tool(message)
    return {
        "id": message.id,
        "seq": message.seq,
        "turn": message.turn,
        "role": "notice" if tool else message.role,
        **({"tool": tool} if tool else {}),
        "at": message.at.isoformat(),
        **({"sender": {"name": writer.name, "id": writer.id}} if writer else {}),
        "origin": message.origin,
        **({"tainted": True} if message.tainted else {}),
        "parts": json.loads(dump_parts(message.parts)),
    }


async def load_lines(store: Store, conversation: str) -> AsyncIterator[dict[str, Any]]:
    """Yield all messages of a conversation as lines of an export, cleared and folded ones
    included.
    """
    async for page, writers in _message_pages(store, conversation):
        for message in page:
            yield message_to_json(message, writers.get(message.id))


async def _message_pages(
    store: Store, conversation: str
) -> AsyncIterator[tuple[Sequence[Message], Mapping[str, Writer]]]:
    seq, sessions = 1, store.sessions
    while page := await sessions.messages(conversation, from_seq=seq, limit=PAGE_ROWS):
        yield page, await sessions.writers(conversation, seq, page[-1].seq)
        seq = page[-1].seq + 1


@dataclass(slots=True, kw_only=True)
class BundleSummary:
    """Counts of what a bundle holds."""

    conversations: int = 0
    messages: int = 0
    files: int = 0
    memories: int = 0
    attachments: int = 0
    jobs: int = 0
    #: Former contents of files.
    versions: int = 0
    #: Names of files that could not be included.
    left_out: list[str] = field(default_factory=list)


async def _do_nothing() -> None:
    pass


class PersonBundle:
    """One ZIP file with all data of a person; at most one file or page of messages is in memory."""

    def __init__(
        self,
        store: Store,
        workspace: Workspace,
        blobs: Blobs,
        target: IO[bytes],
        *,
        max_attachment_bytes: int = 0,
        written: Callable[[], Awaitable[None]] = _do_nothing,
    ) -> None:
        """
        Args:
            target: need not be seekable.
            max_attachment_bytes: of all attachments; 0 for no limit.
            written: awaited after each piece that was written to the target.
        """
        self._store, self._workspace, self._blobs = store, workspace, blobs
        self._zip = zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED)
        self._max_attachment_bytes = max_attachment_bytes
        self._written = written
        self._names: set[str] = set()
        self._people: dict[str, str] = {}
        self._done = BundleSummary()

    async def fill(self, person: Person, now: datetime) -> BundleSummary:
        """Write everything and close the ZIP, not the target.

        Raises:
            StoreError, OSError: the file is incomplete.
        """
        blobs = await self._conversations(person)
        await self._files(person)
        await self._memories(person)
        await self._jobs(person)
        await self._versions(person)
        await self._attachments(blobs)
        whole = {
            "made_at": now.isoformat(),
            "spaces": person.spaces,
            "accounts": person.accounts,
            "names": {name: self._people.get(name, "") for name in person.accounts},
            **asdict(self._done),
        }
        await self._json("manifest.json", whole)
        await asyncio.to_thread(self._zip.close)
        await self._written()
        return self._done

    async def _conversations(self, person: Person) -> dict[str, str]:
        """Write the conversations; return the names of their attachments by hash."""
        names: dict[str, str] = {}
        usage: dict[str, list[dict[str, Any]]] = {}
        for id in await self._store.people.conversations(person):
            row = await self._store.sessions.conversation(id)
            if row is None:
                continue
            with self._zip.open(f"conversations/{id}.jsonl", "w", force_zip64=True) as entry:
                await self._lines(entry, [{"session": conversation_to_json(row)}])
                async for page, writers in _message_pages(self._store, id):
                    lines = [message_to_json(one, writers.get(one.id)) for one in page]
                    await self._lines(entry, lines)
                    channel = row.place.channel
                    self._people |= {f"{channel}:{one.id}": one.name for one in writers.values()}
                    names |= _attachment_names(page)
                    self._done.messages += len(page)
            await self._written()
            usage[id] = [
                asdict(spent) for spent in await self._store.sessions.usage(UNIX_EPOCH, id)
            ]
            self._done.conversations += 1
        await self._json("usage.json", usage)
        return names

    async def _files(self, person: Person) -> None:
        for space in person.spaces:
            files = await asyncio.to_thread(self._workspace.space, space)
            for entry in await asyncio.to_thread(files.list):
                if entry.is_dir or entry.path.startswith(EXPORTS_FOLDER):
                    continue
                name = f"files/{space or 'owner'}/{entry.path}"
                try:
                    await self._put(name, await asyncio.to_thread(files.read_bytes, entry.path))
                    self._done.files += 1
                except (FileTooBig, PathRefused, FileNotFoundError):
                    self._done.left_out.append(name)

    async def _memories(self, person: Person) -> None:
        rows = [
            row
            for space in person.spaces
            for row in await self._store.memories.rows(space, state="")
        ]
        await self._json("memories.json", [asdict(row) for row in rows])
        self._done.memories = len(rows)

    async def _jobs(self, person: Person) -> None:
        rows = [row for space in person.spaces for row in await self._store.jobs.of_space(space)]
        found = []
        for row in rows:
            ended = await self._store.jobs.occurrences(row.id, MAX_OCCURRENCES)
            found.append({**asdict(row), "occurrences": [asdict(one) for one in ended]})
        await self._json("jobs.json", found)
        self._done.jobs = len(found)

    async def _versions(self, person: Person) -> None:
        """Write the former contents of files, by hash, and which file each is of."""
        found = []
        for space in person.spaces:
            for row in await self._store.file_versions.load_all(space):
                found.append({**asdict(row), "space": space})
                name = f"versions/{row.sha256}"
                if not row.sha256 or name in self._names:
                    continue
                try:
                    await self._put(name, await asyncio.to_thread(self._blobs.get, row.sha256))
                except OSError:
                    self._done.left_out.append(name)
        await self._json("versions.json", found)
        self._done.versions = len(found)

    async def _attachments(self, names: dict[str, str]) -> None:
        left = self._max_attachment_bytes
        for sha256 in sorted(names):
            name = f"attachments/{sha256}"
            try:
                data = await asyncio.to_thread(self._blobs.get, sha256)
            except OSError:
                self._done.left_out.append(name)
                continue
            if self._max_attachment_bytes and len(data) > left:
                self._done.left_out.append(name)
                continue
            left -= len(data)
            await self._put(name, data)
            self._done.attachments += 1
        await self._json("attachments.json", names)

    async def _json(self, name: str, value: object) -> None:
        await self._put(
            name,
            json.dumps(value, ensure_ascii=False, indent=1, default=str).encode("utf-8", "replace"),
        )

    async def _lines(self, entry: IO[bytes], values: Iterable[object]) -> None:
        text = "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values)
        await asyncio.to_thread(entry.write, text.encode("utf-8", "replace"))
        await self._written()

    async def _put(self, name: str, data: bytes) -> None:
        await asyncio.to_thread(self._zip.writestr, name, data)
        self._names.add(name)
        await self._written()


def _attachment_names(messages: Iterable[Message]) -> dict[str, str]:
    return {
        part.sha256: part.name if isinstance(part, Document) else "picture"
        for message in messages
        for part in message.parts
        if isinstance(part, Image | Document)
    }
