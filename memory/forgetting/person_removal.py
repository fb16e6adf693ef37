"""Removes all data of a person; the removal is stored first, so that it resumes after a crash."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path

import structlog

from memory.failpoints import hit_async
from memory.forgetting.blob_references import referenced_blobs
from memory.forgetting.forget import database_copies
from memory.store.errors import StoreError
from memory.store.people.rows import Person, PersonRemovalRow
from memory.store.store import Store
from memory.workspace.blobs import Blobs
from memory.workspace.files import SPACES_FOLDER
from memory.workspace.safe_path import FOLDER_FLAGS, PathRefused, open_below, split_path

log = structlog.get_logger(__name__)
MAX_DEPTH = 64  # nested folders


def remove_space(root: Path, space: str) -> int:
    """Delete the folder of a space without following links; returns the number of deleted files.

    Blocks.

    Raises:
        PathRefused: the owner's space, not a name of a space, or nested too deep.
        OSError: something in it could not be deleted.
    """
    if len(split_path(space)) != 1:
        raise PathRefused(f"not the name of a space: {space!r}")
    try:
        top = os.open(root, FOLDER_FLAGS | os.O_CLOEXEC)
        try:
            spaces = open_below(top, (SPACES_FOLDER,), FOLDER_FLAGS)
        finally:
            os.close(top)
        try:
            return _remove_folder(spaces, space, 0)
        finally:
            os.close(spaces)
    except FileNotFoundError:
        return 0


def _remove_folder(parent: int, name: str, depth: int) -> int:
    if depth > MAX_DEPTH:
        raise PathRefused(f"folders are nested more than {MAX_DEPTH} deep")
    folder = open_below(parent, (name,), FOLDER_FLAGS)
    try:
        removed = 0
        for item in list(os.scandir(folder)):
            if item.is_dir(follow_symlinks=False):
                removed += _remove_folder(folder, item.name, depth + 1)
            else:
                os.unlink(item.name, dir_fd=folder)
                removed += 1
        os.fsync(folder)
    finally:
        os.close(folder)
    os.rmdir(name, dir_fd=parent)
    os.fsync(parent)
    return removed


class PersonNotFound(LookupError):
    """There is no such person, or it is the owner, whose data is not removed this way."""

    def __init__(self, name: str, *, is_owner: bool = False) -> None:
        super().__init__(name)
        self.name = name
        self.is_owner = is_owner


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovalReport:
    """What was removed, and what remains."""

    conversations: int = 0
    #: Other rows.
    rows: int = 0
    #: Files of their memory.
    files: int = 0
    #: Attachments that no other row refers to.
    attachments: int = 0
    #: Remaining messages in groups.
    group_messages: int = 0
    #: Remaining rows of the audit chain.
    acts: int = 0
    #: Copies of the database, as paths below the home.
    backups: tuple[str, ...] = ()
    #: The database's log has no deleted bytes any more; False while it is being read.
    is_compacted: bool = True


async def find_person(store: Store, name: str) -> Person:
    """Find a person by space or by account ("channel:sender id"), with all linked accounts.

    Raises:
        PersonNotFound: there is no such person.
    """
    rows = await store.people.load_people()
    space = next((row.space for row in rows if name in (row.space or "owner", *row.accounts)), None)
    if space is None:
        return await _find_without_conversation(store, name)
    home = await store.links.linked_space(space)
    members = await store.links.members(home)
    accounts = {account for row in rows if row.space in members for account in row.accounts}
    return Person(spaces=members, accounts=tuple(sorted(accounts)))


async def find_removable_person(store: Store, name: str) -> Person:
    """Like `find_person`, for a person who may be removed.

    Raises:
        PersonNotFound: there is no such person, or it is the owner.
    """
    person = await find_person(store, name)
    owners = {
        account
        for row in await store.people.load_people()
        if not row.space
        for account in row.accounts
    }
    if "" in person.spaces or owners & set(person.accounts):
        raise PersonNotFound(name, is_owner=True)
    return person


async def _find_without_conversation(store: Store, name: str) -> Person:
    """Find a person without conversations: partly removed, or with a role but no messages yet."""
    for removal in await store.people.load_removals():
        if name in (*removal.person.spaces, *removal.person.accounts):
            return removal.person
    channel, _, id = name.partition(":")
    for row in await store.access.load_all_grants():
        if (
            id
            and row.party.subject == "user"
            and (row.party.channel, row.party.id) == (channel, id)
        ):
            return Person(spaces=(), accounts=(name,))
    raise PersonNotFound(name)


class PersonRemoval:
    """Removes people from a home. The calling process must hold the home's lock."""

    def __init__(
        self,
        *,
        store: Store,
        root: Path,
        blobs: Blobs,
        data: Path,
        forget_index: Callable[[str], Awaitable[None]],
    ) -> None:
        """
        Args:
            root: the workspace.
            data: the folder of the database and its copies.
            forget_index: deletes a space's search index.
        """
        self._store = store
        self._people = store.people
        self._root = root
        self._blobs = blobs
        self._data = data
        self._forget_index = forget_index

    async def remove(self, person: Person, by: str) -> RemovalReport:
        """Remove a person's data, or finish an interrupted removal.

        Raises:
            OSError, StoreError: the removal resumes at the next call or start.
        """
        group_messages = sum(
            [await self._people.count_in_groups(account) for account in person.accounts]
        )
        counts = await self._run_steps(await self._people.begin_removal(person), by)
        is_compacted = await self._people.compact()
        await hit_async("forget.done")
        backups = await self.copies()
        acts = await self._people.count_acts_naming(person)
        return RemovalReport(
            group_messages=group_messages,
            acts=acts,
            backups=backups,
            is_compacted=is_compacted,
            **counts,
        )

    async def copies(self) -> tuple[str, ...]:
        """Return the copies of the database, as paths below the home."""
        return await asyncio.to_thread(database_copies, self._data)

    async def resume(self) -> None:
        """At start: finish the removals of a former process."""
        for removal in await self._people.load_removals():
            try:
                await self._run_steps(removal, "house")
                await self._people.compact()
            except (StoreError, OSError, PathRefused) as err:
                log.warning(
                    "the removal of a person continues at the next start", why=type(err).__name__
                )

    async def _run_steps(self, removal: PersonRemovalRow, by: str) -> dict[str, int]:
        """Remove conversations, other rows, files, index and attachments; each step is
        idempotent.
        """
        person = removal.person
        for conversation in await self._people.conversations(person):
            await self._store.sessions.delete(conversation)
            removal = await self._count(removal, conversations=1)
        removal = await self._count(removal, rows=await self._people.delete_rows(removal))
        for space in person.spaces:
            await self._people.set_counts(removal)  # files have no fence: the store's decides
            removal = await self._count(
                removal, files=await asyncio.to_thread(remove_space, self._root, space)
            )
            await self._forget_index(space)
        await hit_async("forget.files_done")
        for name in set(removal.blobs) - await referenced_blobs(self._store):
            await self._people.set_counts(removal)  # as above
            removal = await self._count(
                removal, attachments=await asyncio.to_thread(self._blobs.remove, name)
            )
        await self._people.finish_removal(removal, by)
        return dict(removal.counts)

    async def _count(self, removal: PersonRemovalRow, **more: int) -> PersonRemovalRow:
        counts = dict(removal.counts)
        for name, number in more.items():
            counts[name] = counts.get(name, 0) + number
        removal = replace(removal, counts=counts)
        if any(more.values()):
            await self._people.set_counts(removal)
        return removal
