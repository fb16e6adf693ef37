"""Forgets what a person asks: finds it, asks once more, and carries it out, whatever dies in between."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Protocol

import structlog

from memory.conversation import Document, Message, Text, Thinking, ToolCall, ToolResult
from memory.failpoints import afp
from memory.forgetting.files import SpaceMemory, TypedLines
from memory.ids import GOOD_FOR, code_sha256, fresh, new_id
from memory.longterm.similarity import wording
from memory.recall.documents import Passage, Wanted
from memory.store.errors import StoreBusy, StoreError
from memory.store.longterm.rows import (
    Erased,
    FilePlace,
    ForgettingRow,
    Item,
    Receipt,
    SaidRow,
    Targets,
    dump_receipt,
    dump_targets,
    load_receipt,
    load_targets,
    said_places,
    with_files,
)
from memory.store.store import Store
from memory.text.mentions import let_go, spans
from memory.text.redaction import redacted, sentences_that
from memory.workspace.blobs import Blobs
from memory.workspace.files import TooBig, Workspace
from memory.workspace.safe_path import PathRefused

log = structlog.get_logger(__name__)
MOST_RECALLED = 2_000
PAGE = 1_000
MOST_PASSES = 3


class Recall(Protocol):
    """What forgetting needs of recall."""

    async def search(self, wanted: Wanted) -> list[Passage]: ...

    async def forget(self, space: str) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What a Forgetter stands on.

    data: the folder of the database and its copies. let_go: told each conversation whose view has changed. now: aware,
    in the zone whose days the person goes by. quiet: while it is entered, no turn runs in the space. storing: held
    while the record is redacted, and by others from a look at the record to the end of what they write.
    """

    store: Store
    workspace: Workspace
    recall: Recall
    blobs: Blobs
    data: Path
    now: Callable[[], datetime]
    let_go: Callable[[str], Awaitable[None]]
    quiet: Callable[[str], AbstractAsyncContextManager[None]] = lambda space: nullcontext()
    storing: asyncio.Lock = field(default_factory=asyncio.Lock)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """Who asks, where. who: the channel and the person's id there; row: the inbox row of the request."""

    space: str
    conversation: str
    who: str
    row: str


class Forgetter:
    """One for a house. What is confirmed is carried out one after the other."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._forgettings = ground.store.forgettings
        self._turn = asyncio.Lock()

    async def find(self, space: str, query: str) -> tuple[Item, ...]:
        """Every place of a space, and of those linked to it, that mentions the query: files first, then what was said.

        What was said is looked through for the query's very words, and beside that recall gives what says it otherwise.
        """
        files = await self._spaces(space)
        written = await asyncio.to_thread(lambda: [item for memory in files for item in memory.found(query)])
        wanted = Wanted(space=space, query=query, now=self._ground.now(), limit=MOST_RECALLED)
        recalled = {passage.message_id for passage in await self._ground.recall.search(wanted)} - {""}
        said = [item async for item in self._said(space, query, recalled)]
        return (*written, *said)

    async def ask(self, asker: Asker, query: str, items: Sequence[Item]) -> str:
        """Keep the request until it is confirmed; returns the code to confirm it with, which is not kept."""
        code = fresh()
        now = self._ground.now()
        row = ForgettingRow(
            id=new_id(now.timestamp()),
            space=asker.space,
            conversation=asker.conversation,
            asked_by=asker.who,
            state="asked",
            code_sha256=code_sha256(code),
            targets=dump_targets(Targets(query=query, row=asker.row, items=tuple(items))),
            receipt="",
            expires=now + GOOD_FOR,
            at=now,
        )
        await self._forgettings.ask(row)
        return code

    async def asked(self, asker: Asker, code: str = "") -> ForgettingRow | None:
        """What this person asked here and has not confirmed yet; code: only what that code was given for."""
        row = await self._forgettings.asked(asker.conversation, self._ground.now())
        return row if row is not None and _is(row, asker, code) else None

    async def told(self, asker: Asker, code: str = "") -> Receipt | None:
        """The receipt of what was confirmed here with that code, carried out to its end first.

        Without a code: of what was asked within the last ten minutes.
        """
        for row in await self._forgettings.open_ones():
            if _is(row, asker, code):
                async with self._ground.quiet(row.space):
                    return await self._carry(row.id)
        last = await self._forgettings.last(asker.space)
        if last is None or not _is(last, asker, code) or not (code or last.expires > self._ground.now()):
            return None
        return load_receipt(last.receipt)

    async def drop(self, row: ForgettingRow) -> None:
        """The person thought better of it."""
        await self._forgettings.move(row.id, "dropped")

    async def confirm(self, row: ForgettingRow, chosen: Sequence[int] | None = None) -> Receipt:
        """Forget it: the record in one transaction, then everything else; returns what was done.

        Args:
            chosen: places in the request's items, None for all that mentions it.

        Raises:
            WrongState: it is not waiting for its confirmation any more.
            StoreBusy: all is done but for the last bytes in the database's files, which somebody reads just now.
            OSError: a file could not be changed; it is tried again at the next start, or when this is asked again.
        """
        targets = replace(load_targets(row.targets), chosen=None if chosen is None else tuple(chosen))
        files = await self._spaces(row.space)
        seen = await asyncio.to_thread(lambda: [place for memory in files for place in memory.places(targets)])

        def written(erased: Erased) -> tuple[str, str]:
            receipt = with_files(self._receipt(erased), seen)
            return dump_targets(replace(targets, blobs=erased.blobs)), dump_receipt(receipt)

        async with self._ground.quiet(row.space):
            async with self._turn, self._ground.storing:
                erased = await self._forgettings.confirm(row, targets, written)
                await self._let_go(erased)
            return await self._carry(row.id)

    async def resume(self) -> None:
        """At start: go on with what an earlier process was asked to forget, and drop what nobody confirmed."""
        await self._forgettings.expire(self._ground.now())
        for row in await self._forgettings.open_ones():
            try:
                async with self._ground.quiet(row.space):
                    await self._carry(row.id)
            except (StoreError, OSError, PathRefused, TooBig) as err:  # the others go on, and so does the start
                log.warning("a forgetting goes on at the next start", why=type(err).__name__)

    async def _carry(self, id: str) -> Receipt:
        """From confirmed or removed to done; each step may be taken twice."""
        async with self._turn:
            row = await self._forgettings.row(id)
            if row.state == "confirmed":
                row = await self._remove(row)
            if row.state == "removed":
                row = await self._finish(row)
        return load_receipt(row.receipt)

    async def _remove(self, row: ForgettingRow) -> ForgettingRow:
        """Out of the files and attachments."""
        targets = load_targets(row.targets)
        changed = await self._forget_files(row.space, targets)
        for name in targets.blobs:
            await asyncio.to_thread(self._ground.blobs.remove, name)
        await afp("forget.files_done")
        receipt = replace(with_files(load_receipt(row.receipt), changed), attachments=len(targets.blobs))
        await self._forgettings.move(row.id, "removed", receipt=dump_receipt(receipt))
        return await self._forgettings.row(row.id)

    async def _finish(self, row: ForgettingRow) -> ForgettingRow:
        """What was written meanwhile, the index, and last the request's own words and what is left of the bytes."""
        if row.targets:
            targets = load_targets(row.targets)
            receipt = with_files(load_receipt(row.receipt), await self._again(row.space, targets))
            await self._ground.recall.forget(row.space)
            files = await self._spaces(row.space)
            kept = await asyncio.to_thread(lambda: [path for one in files for path in one.mentioned(targets)])
            backups = await asyncio.to_thread(copies, self._ground.data)
            done = tuple(place for place in receipt.files if place.path not in kept)
            named = tuple(redacted(path, targets.needle(), near=False) for path in kept)
            receipt = replace(receipt, files=done, index=True, kept=named, backups=backups)
            await self._forgettings.empty(row.id, dump_receipt(receipt))
        if not await self._forgettings.compact():
            raise StoreBusy("the database is being read; what was forgotten may still be in its log")
        let_go()
        wording.cache_clear()
        await self._forgettings.move(row.id, "done")
        await afp("forget.done")
        return await self._forgettings.row(row.id)

    async def _again(self, space: str, targets: Targets) -> list[FilePlace]:
        """Once more through record and files, until neither has anything that was written meanwhile."""
        changed: list[FilePlace] = []
        for _ in range(MOST_PASSES):
            erased = await self._forgettings.erase(space, targets)
            await self._let_go(erased)
            places = await self._forget_files(space, targets)
            changed += places
            if not places and not erased.said and not erased.conversations and not erased.records:
                break
        return changed

    async def _forget_files(self, space: str, targets: Targets) -> list[FilePlace]:
        files = await self._spaces(space)
        return await asyncio.to_thread(lambda: [place for memory in files for place in memory.forget(targets)])

    async def _let_go(self, erased: Erased) -> None:
        for conversation in erased.conversations:
            await self._ground.let_go(conversation)

    async def _spaces(self, space: str) -> list[SpaceMemory | TypedLines]:
        """The files of a space and of those linked to it; the terminal is the owner's."""
        members = await self._ground.store.links.members(space)
        typed = [TypedLines(self._ground.data)] if "" in members else []
        held = await asyncio.to_thread(
            lambda: [SpaceMemory(member, self._ground.workspace.space(member)) for member in members]
        )
        return [*held, *typed]

    async def _said(self, space: str, query: str, recalled: set[str]) -> AsyncIterator[Item]:
        after = ""
        while page := await self._forgettings.said(space, after, PAGE):
            after = page[-1].message.id
            for item in await asyncio.to_thread(self._mentioning, page, query, recalled):
                yield item

    def _mentioning(self, page: Sequence[SaidRow], query: str, recalled: set[str]) -> list[Item]:
        return [item for row in page if (item := self._item(row, query, near=row.message.id in recalled)) is not None]

    def _item(self, row: SaidRow, query: str, *, near: bool) -> Item | None:
        texts = [text for text in words_of(row.message) if near or spans(text, query)]
        words = tuple(sentence for text in texts for sentence in sentences_that(text, query))
        if not words:
            return None
        return Item(
            kind="said",
            space=row.space,
            words=tuple(dict.fromkeys(words)),
            date=self._day(row.message.at),
            channel=row.channel,
            message_id=row.message.id,
            mine=row.message.role == "user" and row.message.origin == "person",
        )

    def _receipt(self, erased: Erased) -> Receipt:
        said = said_places((self._day(one.at), one.channel) for one in erased.said)
        return Receipt(said=said, summaries=erased.summaries, records=erased.records)

    def _day(self, at: datetime) -> str:
        return f"{at.astimezone(self._ground.now().tzinfo):%Y-%m-%d}"


def words_of(message: Message) -> Iterator[str]:
    """All texts of a message that a person or a model may have put it in."""
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


def copies(data: Path) -> tuple[str, ...]:
    """Copies of the database beside it, as paths below the folder's parent: snapshots, older versions, damaged ones.

    What a restore has put aside is a copy too, its workspace and all.
    """
    found = [*data.glob("snapshots/*.db"), *data.glob("*.db.before-*"), *data.glob("*.db.corrupt.*")]
    found += data.parent.glob("*.before-restore.*")
    return tuple(str(path.relative_to(data.parent)) for path in sorted(found))


def _is(row: ForgettingRow, asker: Asker, code: str) -> bool:
    same = (row.conversation, row.asked_by) == (asker.conversation, asker.who)
    return same and (not code or row.code_sha256 == code_sha256(code))
