"""Ends what people have under way once they may no longer do it: their role was lowered, or they
were removed.
"""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import structlog

from bot.access.permissions import AccessScope, access_scope, authorize, conversation_space
from bot.access.roles import RoleResolver
from memory.store.automation.background_tasks import TaskKind, TaskRow
from memory.store.people.rows import OwnerChat
from memory.store.rows import ConversationRow, Party
from memory.store.store import Store

log = structlog.get_logger(__name__)
_TASK_ACTIONS: dict[TaskKind, str] = {"agent": "delegate", "exec": "exec"}


@dataclass(frozen=True, slots=True, kw_only=True)
class LostRights:
    """Judges chats, turns, work in the background and open questions by the roles that their people
    have now.
    """

    store: Store
    roles: RoleResolver
    #: Stops the running turn of a conversation and what it has started.
    stop: Callable[[str], Awaitable[object]]
    #: Ends work in the background; nobody is told of it.
    end_task: Callable[[TaskRow], Awaitable[object]]

    async def end(self) -> None:
        """End whatever its person may not do any more; called at a start and when roles may have
        changed.

        What cannot be ended is logged, and the rest is.
        """
        for chat in await self.store.access.owner_chats():
            with _logged("chat", chat.conversation):
                await self._move_chat(chat)
        for turn in await self.store.access.open_turns():
            with _logged("turn", turn.conversation):
                if not await self._may(turn.actor, "chat", turn.conversation):
                    await self.stop(turn.conversation)
        for task in await self.store.tasks.running():
            with _logged("task", task.name):
                await self._end_task(task)
        for approval in await self.store.access.undecided_approvals():
            with _logged("approval", approval.id):
                if not await self._may(approval.party.id, approval.action, approval.conversation):
                    await self.store.access.move(approval.id, approval.state, "ended", by="roles")

    async def _end_task(self, task: TaskRow) -> None:
        if await self._may(task.person, _TASK_ACTIONS[task.kind], task.conversation):
            return
        log.warning(
            "work is ended: its person has lost the right", task=task.name, person=task.person
        )
        await self.end_task(task)

    async def _move_chat(self, chat: OwnerChat) -> None:
        """Give the chat of a former owner the memory of its own person.

        A chat gets its space with each message. Reminders, outcomes and notices come to it unasked,
        and would still find the owner's.
        """
        row = await self.store.sessions.conversation(chat.conversation)
        if row is None or not chat.person:
            return
        space = await self._space_of(row, chat.person)
        if space and await self.store.access.move_to_space(row.id, space):
            log.warning("a chat is no longer the owner's", conversation=row.id, person=chat.person)
            await self.stop(row.id)

    async def _space_of(self, row: ConversationRow, person: str) -> str:
        place = row.place
        actor = await self.roles.actor(
            place.channel, place.account, person, place.chat_id, place.kind
        )
        return conversation_space(
            actor.role, place.channel, place.account, actor.id, place.chat_id, place.kind
        )

    async def _may(self, person: str, action: str, conversation: str) -> bool:
        """Tell whether a person may do an action in a conversation by the role that they have
        now.
        """
        row = await self.store.sessions.conversation(conversation)
        if row is None:
            return False
        place = row.place
        actor = await self.roles.actor(
            place.channel, place.account, person, place.chat_id, place.kind
        )
        return authorize(
            actor, action, "", access_scope(place.channel, place.kind, place.space)
        ).allowed


@contextmanager
def _logged(kind: str, id: str) -> Iterator[None]:
    """Log an error in the body: it ends neither the sweep nor the reload of the configuration that
    began it.
    """
    try:
        yield
    except Exception as err:
        log.error("rights could not be judged", kind=kind, id=id, exc_info=err)


async def may_still(roles: RoleResolver, party: Party, action: str) -> bool:
    """Tell whether a person may do an action in the owner's space by the role that they have now.

    What somebody has set up for good, such as a rule of approval, counts only while this holds.
    """
    actor = await roles.actor(party.channel, party.account, party.id, party.id, "dm")
    return authorize(actor, action, "", AccessScope(kind="dm", space="")).allowed
