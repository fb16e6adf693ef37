"""/forget: finds mentions, asks for confirmation, and erases them; an interrupted request resumes
at the start.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

import structlog

from memory.context.evidence import clear_words
from memory.conversation import Document, Message, Text, Thinking, ToolCall, ToolResult
from memory.failpoints import hit_async
from memory.forgetting.files import SpaceMemoryFiles, TerminalHistory
from memory.forgetting.versions import find_in_versions, find_versions_to_forget, forget_versions
from memory.ids import CODE_VALIDITY, code_sha256, new_code, new_id
from memory.longterm.similarity import clear_keys, word_overlap
from memory.recall.documents import SearchRequest
from memory.recall.search import Recall
from memory.redaction import mentioning_sentences, redact_text
from memory.store.errors import StoreBusy, StoreError
from memory.store.longterm.rows import (
    ChangedFile,
    EraseReport,
    ForgetReceipt,
    ForgetTargets,
    ForgettingRow,
    LocatedMessage,
    MemoryRow,
    Mention,
    add_files,
    count_messages,
    dump_receipt,
    dump_targets,
    load_receipt,
    load_targets,
)
from memory.store.store import Store
from memory.text.language import split_line
from memory.text.mentions import clear_caches, find_spans, is_mentioned
from memory.text.wording import clear_wordings
from memory.workspace.blobs import Blobs
from memory.workspace.files import MEMORY_FILE, SPACES_FOLDER, Workspace
from memory.workspace.safe_path import FileTooBig, PathRefused

log = structlog.get_logger(__name__)
MAX_RECALLED = 2_000  # passages that the search index contributes
PAGE_ROWS = 1_000  # messages read at a time
MAX_SOURCE_SENTENCES = 3  # of a quote, for each of which all messages are searched
MAX_PASSES = 3  # over store and files, to catch concurrent writes


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetRequester:
    """The person who asks, and the conversation."""

    space: str
    conversation: str
    #: Channel and the person's id on it.
    who: str
    #: The inbox row of the request.
    row: str


class ForgetService:
    """Runs the forget requests of a bot; confirmed requests run one after another."""

    def __init__(
        self,
        *,
        store: Store,
        workspace: Workspace,
        recall: Recall,
        blobs: Blobs,
        data: Path,
        now: Callable[[], datetime],
        detach: Callable[[str], Awaitable[None]],
        quiet: Callable[[str], AbstractAsyncContextManager[None]] = lambda space: nullcontext(),
        storing: asyncio.Lock | None = None,
    ) -> None:
        """
        Args:
            data: the folder of the database and its copies.
            now: aware, in the person's time zone.
            detach: called with each conversation whose view has changed.
            quiet: no turn runs in the space while this is entered.
            storing: shared with the fact extraction, which holds it from reading messages to
                storing their facts.
        """
        self._store = store
        self._links = store.links
        self._forgettings = store.forgettings
        self._workspace = workspace
        self._recall = recall
        self._blobs = blobs
        self._data = data
        self._now = now
        self._detach = detach
        self._quiet = quiet
        self._storing = storing or asyncio.Lock()
        self._lock = asyncio.Lock()

    async def find(self, space: str, query: str) -> tuple[Mention, ...]:
        """Find all mentions in a space and the spaces linked to it: files first, then messages.

        Messages are searched literally; the search index adds those that say it in other words.
        """
        files = await self._files_of(space)
        in_files = await asyncio.to_thread(
            lambda: [mention for one in files for mention in one.find(query)]
        )
        for member in await self._links.members(space):
            in_files += await find_in_versions(
                self._store, self._blobs, member, query, self._now().tzinfo
            )
        request = SearchRequest(space=space, query=query, now=self._now(), limit=MAX_RECALLED)
        recalled = {passage.message_id for passage in await self._recall.search(request)} - {""}
        in_messages: list[Mention] = []
        after = ""
        while page := await self._forgettings.messages(space, after, PAGE_ROWS):
            after = page[-1].message.id
            found = await asyncio.to_thread(
                lambda rows: [
                    self._find_in_message(row, query, near=row.message.id in recalled)
                    for row in rows
                ],
                page,
            )
            in_messages += [mention for mention in found if mention is not None]
        return (*in_files, *in_messages)

    async def find_fact(self, row: MemoryRow, formers: Sequence[MemoryRow]) -> tuple[Mention, ...]:
        """Find all that says a fact: its mentions, its former wordings, and those of the sentences
        that it rests on.
        """
        found: dict[tuple[str, int, str, str], Mention] = {}
        for query in (row.text, *source_sentences(row)):
            for item in await self.find(row.space, query):
                key = (
                    item.path,
                    item.line,
                    item.message_id,
                    item.date if item.kind == "version" else "",
                )
                known = found.get(key)
                words = tuple(dict.fromkeys((*(known.words if known else ()), *item.words)))
                found[key] = replace(item, words=words)
        path = f"{SPACES_FOLDER}/{row.space}/{MEMORY_FILE}" if row.space else MEMORY_FILE
        former = [one for one in (row, *formers) if one.text and one.state != "live"]
        return (
            *(
                Mention(kind="memory", space=row.space, words=(one.text,), path=path)
                for one in former
            ),
            *found.values(),
        )

    async def ask(self, asker: ForgetRequester, query: str, items: Sequence[Mention]) -> str:
        """Store a request; returns its confirmation code, of which only the hash is stored."""
        code = new_code()
        now = self._now()
        row = ForgettingRow(
            id=new_id(now.timestamp()),
            space=asker.space,
            conversation=asker.conversation,
            asked_by=asker.who,
            state="asked",
            code_sha256=code_sha256(code),
            targets=dump_targets(ForgetTargets(query=query, row=asker.row, items=tuple(items))),
            receipt="",
            expires=now + CODE_VALIDITY,
            at=now,
        )
        await self._forgettings.add(row)
        return code

    async def find_request(self, asker: ForgetRequester, code: str = "") -> ForgettingRow | None:
        """Find this person's unconfirmed request in this conversation. code: only the request of
        that code.
        """
        row = await self._forgettings.find_unconfirmed(asker.conversation, self._now())
        return row if row is not None and _is_request_of(row, asker, code) else None

    async def find_receipt(self, asker: ForgetRequester, code: str = "") -> ForgetReceipt | None:
        """Find the receipt of the request confirmed with that code; an unfinished one is completed
        first.

        Without a code: of the last request, if it is at most ten minutes old.
        """
        for row in await self._forgettings.load_open():
            if _is_request_of(row, asker, code):
                async with self._quiet(row.space):
                    return await self._run_steps(row.id)
        last = await self._forgettings.last(asker.space)
        if (
            last is None
            or not _is_request_of(last, asker, code)
            or not (code or last.expires > self._now())
        ):
            return None
        return load_receipt(last.receipt)

    async def drop(self, row: ForgettingRow) -> None:
        """Cancel a request."""
        await self._forgettings.move(row.id, "dropped")

    async def confirm(
        self, row: ForgettingRow, chosen: Sequence[int] | None = None
    ) -> ForgetReceipt:
        """Carry out a request: the store in one transaction, then everything else; returns the
        receipt.

        Args:
            chosen: indexes of the request's items, None for all mentions.

        Raises:
            WrongState: the request is no longer waiting for its confirmation.
            StoreBusy: a reader keeps the last bytes in the database's files; everything else is
                done.
            OSError: a file could not be changed; retried at the next start or call.
        """
        targets = replace(
            load_targets(row.targets), chosen=None if chosen is None else tuple(chosen)
        )
        files = await self._files_of(row.space)
        found = await asyncio.to_thread(
            lambda: [file for memory in files for file in memory.find_changes(targets)]
        )
        versions = 0  # counted now: a crash after they are dropped would leave none to count
        for member in await self._links.members(row.space):
            versions += len(
                await find_versions_to_forget(self._store, self._blobs, member, targets)
            )

        def describe(erased: EraseReport) -> tuple[str, str]:
            said = count_messages((self._day(one.at), one.channel) for one in erased.said)
            receipt = ForgetReceipt(
                said=said, summaries=erased.summaries, records=erased.records, views=erased.views
            )
            receipt = add_files(replace(receipt, versions=versions), found)
            return dump_targets(replace(targets, blobs=erased.blobs)), dump_receipt(receipt)

        async with self._quiet(row.space):
            async with self._lock, self._storing:
                erased = await self._forgettings.confirm(row, targets, describe)
                await self._detach_conversations(erased)
            return await self._run_steps(row.id)

    async def resume(self) -> None:
        """At start: finish confirmed requests of a former process and drop expired ones."""
        await self._forgettings.expire(self._now())
        for row in await self._forgettings.load_open():
            try:
                async with self._quiet(row.space):
                    await self._run_steps(row.id)
            # the other requests and the start go on
            except (StoreError, OSError, PathRefused, FileTooBig) as err:
                log.warning("a forget request continues at the next start", why=type(err).__name__)

    async def _run_steps(self, id: str) -> ForgetReceipt:
        """Run the steps from "confirmed" or "removed" to "done"; each is idempotent."""
        async with self._lock:
            row = await self._forgettings.row(id)
            if row.state == "confirmed":
                row = await self._remove(row)
            if row.state == "removed":
                row = await self._finish(row)
        return load_receipt(row.receipt)

    async def _remove(self, row: ForgettingRow) -> ForgettingRow:
        """confirmed → removed: erase it from files and attachments."""
        targets = load_targets(row.targets)
        changed = await self._forget_files(row.space, targets)
        for name in targets.blobs:
            await asyncio.to_thread(self._blobs.remove, name)
        await hit_async("forget.files_done")
        receipt = replace(
            add_files(load_receipt(row.receipt), changed), attachments=len(targets.blobs)
        )
        await self._forgettings.move(row.id, "removed", receipt=dump_receipt(receipt))
        return await self._forgettings.row(row.id)

    async def _finish(self, row: ForgettingRow) -> ForgettingRow:
        """removed → done: erase concurrent writes, the index, the request's own words, and freed
        bytes.
        """
        if row.targets:
            targets = load_targets(row.targets)
            receipt = add_files(
                load_receipt(row.receipt), await self._erase_again(row.space, targets)
            )
            await self._recall.forget_words(row.space)
            files = await self._files_of(row.space)
            kept = await asyncio.to_thread(
                lambda: [path for one in files for path in one.find_left(targets)]
            )
            backups = await asyncio.to_thread(database_copies, self._data)
            done = tuple(file for file in receipt.files if file.path not in kept)
            paths = tuple(redact_text(path, targets.matcher(), near=False) for path in kept)
            receipt = replace(receipt, files=done, index=True, kept=paths, backups=backups)
            await self._forgettings.clear_targets(row.id, dump_receipt(receipt))
        if not await self._forgettings.compact():
            raise StoreBusy("the database is being read; forgotten data may still be in its log")
        clear_caches()
        clear_wordings()
        clear_keys()
        clear_words()
        await self._forgettings.move(row.id, "done")
        await hit_async("forget.done")
        return await self._forgettings.row(row.id)

    async def _erase_again(self, space: str, targets: ForgetTargets) -> list[ChangedFile]:
        """Erase again from store and files until no concurrent write is left."""
        changed: list[ChangedFile] = []
        for _ in range(MAX_PASSES):
            erased = await self._forgettings.erase(space, targets)
            await self._detach_conversations(erased)
            files = await self._forget_files(space, targets)
            changed += files
            if not files and not erased.said and not erased.conversations and not erased.records:
                break
        return changed

    async def _forget_files(self, space: str, targets: ForgetTargets) -> list[ChangedFile]:
        files = await self._files_of(space)
        changed = await asyncio.to_thread(
            lambda: [changed for one in files for changed in one.forget(targets)]
        )
        for member in await self._links.members(space):
            await forget_versions(self._store, self._blobs, member, targets)
        return changed

    async def _detach_conversations(self, erased: EraseReport) -> None:
        for conversation in erased.conversations:
            await self._detach(conversation)

    async def _files_of(self, space: str) -> list[SpaceMemoryFiles | TerminalHistory]:
        """The files of a space and the spaces linked to it; the terminal history belongs to the
        owner.
        """
        members = await self._links.members(space)
        history = [TerminalHistory(self._data)] if "" in members else []
        spaces = await asyncio.to_thread(
            lambda: [SpaceMemoryFiles(member, self._workspace.space(member)) for member in members]
        )
        return [*spaces, *history]

    def _find_in_message(self, row: LocatedMessage, query: str, *, near: bool) -> Mention | None:
        texts = [text for text in message_texts(row.message) if near or find_spans(text, query)]
        sentences = tuple(
            sentence for text in texts for sentence in mentioning_sentences(text, query)
        )
        if not sentences:
            return None
        return Mention(
            kind="said",
            space=row.space,
            words=tuple(dict.fromkeys(sentences)),
            date=self._day(row.message.at),
            channel=row.channel,
            message_id=row.message.id,
            mine=row.message.role == "user" and row.message.origin == "person",
        )

    def _day(self, at: datetime) -> str:
        return f"{at.astimezone(self._now().tzinfo):%Y-%m-%d}"


def message_texts(message: Message) -> Iterator[str]:
    """All texts of a message, from a person or a model."""
    for part in message.parts:
        match part:
            case Text():
                yield part.by
                yield part.text
            case ToolResult():
                yield part.text
            case Document():
                yield part.name
                yield part.text
            case ToolCall():
                yield part.input
            case Thinking() if not part.redacted:
                yield part.text


def source_sentences(row: MemoryRow) -> tuple[str, ...]:
    """The sentences of a memory's quote that it rests on, at most MAX_SOURCE_SENTENCES."""
    _, sentences = split_line(" ".join(row.source.quote.split()))
    near = [one.strip() for one in sentences if is_mentioned(one, row.text)]
    if not near and sentences:
        near = [max(sentences, key=lambda one: word_overlap(one, row.text)).strip()]
    return tuple(one for one in near if one and one != row.text)[:MAX_SOURCE_SENTENCES]


def database_copies(data: Path) -> tuple[str, ...]:
    """Copies of the database, as paths below the folder's parent: snapshots, older versions,
    damaged ones.

    Homes that a restore moved aside, and backups that were made in the page, count too.
    """
    found = [
        *data.glob("snapshots/*.db"),
        *data.glob("*.db.before-*"),
        *data.glob("*.db.corrupt.*"),
    ]
    found += data.parent.glob("*.before-restore.*")
    found += data.parent.glob("backups/*.backup")
    return tuple(str(path.relative_to(data.parent)) for path in sorted(found))


def _is_request_of(row: ForgettingRow, asker: ForgetRequester, code: str) -> bool:
    same = (row.conversation, row.asked_by) == (asker.conversation, asker.who)
    return same and (not code or row.code_sha256 == code_sha256(code))
