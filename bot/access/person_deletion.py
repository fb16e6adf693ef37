"""Deletes a person's data while the bot runs: what they have going on ends first, and what is lost
is shown before.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass

import structlog

from bot.access.pairing import PairingRefused, PairingService
from bot.access.permissions import canonical_id
from bot.config.sections.channels import ChannelsConfig
from channels.phrases import Phrase
from memory.forgetting.person_removal import (
    PersonNotFound,
    PersonRemoval,
    RemovalReport,
    find_removable_person,
)
from memory.store.store import Store
from memory.workspace.files import SPACES_FOLDER, Workspace

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletionPreview:
    """What a deletion would delete, and what would stay."""

    #: "channel:id" of the linked accounts, which all go.
    accounts: tuple[str, ...]
    conversations: int
    messages: int
    files: int
    memories: int
    jobs: int
    #: Messages in groups, which stay.
    group_messages: int
    #: Rows of the audit chain, which stay.
    acts: int
    #: Copies of the database, as paths below the home, which stay.
    backups: tuple[str, ...]
    #: Keys of config.json that name an account, such as "channels.telegram.allow".
    listed: tuple[str, ...]


class PersonDeletion:
    """Deletes people from a running bot."""

    def __init__(
        self,
        *,
        store: Store,
        workspace: Workspace,
        pairing: PairingService,
        removal: PersonRemoval,
        storing: asyncio.Lock,
        quiet: Callable[[str], AbstractAsyncContextManager[None]],
        stop: Callable[[str], Awaitable[object]],
        drop: Callable[[str], Awaitable[None]],
    ) -> None:
        """
        Args:
            storing: held while facts are stored.
            quiet: no turn runs in the space while this is entered.
            stop: stops what runs in a conversation. drop: drops what is prepared for one.
        """
        self._store = store
        self._workspace = workspace
        self._pairing = pairing
        self._removal = removal
        self._storing = storing
        self._quiet = quiet
        self._stop = stop
        self._drop = drop
        self._one_at_a_time = asyncio.Lock()

    async def preview(self, name: str) -> DeletionPreview:
        """Count what the deletion of this person would delete, and what would stay.

        Raises:
            PersonNotFound: there is no such person, or it is the owner.
        """
        store = self._store
        person = await find_removable_person(store, name)
        rows = [row for row in await store.people.load_people() if row.space in person.spaces]
        return DeletionPreview(
            accounts=person.accounts,
            conversations=sum(len(row.conversations) for row in rows),
            messages=sum(row.messages for row in rows),
            files=sum(
                [await asyncio.to_thread(self._count_files, space) for space in person.spaces]
            ),
            memories=sum([len(await store.memories.rows(space)) for space in person.spaces]),
            jobs=sum([len(await store.jobs.of_space(space)) for space in person.spaces]),
            group_messages=sum(
                [await store.people.count_in_groups(account) for account in person.accounts]
            ),
            acts=await store.people.count_acts_naming(person),
            backups=await self._removal.copies(),
            listed=find_in_config(self._pairing.config().channels, person.accounts),
        )

    async def delete(self, name: str, by: str) -> RemovalReport:
        """Revoke a person's roles, end their turns, tasks and approvals, and delete their data.

        Raises:
            PersonNotFound: there is no such person, or it is the owner.
            OSError, StoreError: the deletion goes on at the next call or start.
        """
        async with self._one_at_a_time:
            person = await find_removable_person(self._store, name)
            for account in person.accounts:
                channel, _, id = account.partition(":")
                with suppress(PairingRefused):  # they had no role
                    await self._pairing.revoke(channel, id, by)
            conversations = await self._store.people.conversations(person)
            for conversation in conversations:
                await self._stop(conversation)
            *others, last = person.spaces or ("",)
            for space in others:
                # ends what runs; several processes can hold one space at a time
                async with self._quiet(space):
                    pass
            if not last:  # a person without a conversation
                return await self._removal.remove(person, by)
            async with self._quiet(last), self._storing:
                for conversation in conversations:
                    await self._drop(conversation)
                report = await self._removal.remove(person, by)
            log.info("person deleted", conversations=report.conversations, files=report.files)
            return report

    def _count_files(self, space: str) -> int:
        return (
            sum(not entry.is_dir for entry in self._workspace.space(space).list())
            if self._has_folder(space)
            else 0
        )

    def _has_folder(self, space: str) -> bool:
        return (self._workspace.root / SPACES_FOLDER / space).is_dir()


def find_in_config(channels: ChannelsConfig, accounts: Collection[str]) -> tuple[str, ...]:
    """Return the keys of config.json that name one of these accounts ("channel:id")."""
    found = set()
    for account in accounts:
        channel, _, id = account.partition(":")
        section = getattr(channels, channel, None)
        for name in ("owners", "allow"):
            if id in {canonical_id(channel, listed) for listed in getattr(section, name, ())}:
                found.add(f"channels.{channel}.{name}")
    return tuple(sorted(found))


def describe_not_found(err: PersonNotFound) -> Phrase:
    """Say why nothing is shown or removed."""
    if err.is_owner:
        return Phrase(
            "{name} is the owner, or an account linked to the owner. /unlink separates an "
            "account. To delete the owner's own data, use /forget or mnema sessions delete, or "
            "delete the whole home.",
            name=err.name,
        )
    return Phrase("There is no person {name}; mnema people list shows everyone.", name=err.name)
