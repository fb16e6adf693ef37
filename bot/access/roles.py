"""Roles of senders: the higher of what config.json lists and what was granted."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from bot.access.permissions import (
    LOCAL_CHANNELS,
    ROLE_RANK,
    Actor,
    Role,
    canonical_id,
    conversation_space,
    listed_role,
)
from bot.config.schema import Config
from memory.store.people.access import AccessRecords
from memory.store.people.rows import GrantRow, GrantsKey


class RoleResolver:
    """Resolves the role of a sender at each message and act, without a cache: a change counts at
    once.
    """

    def __init__(self, config: Callable[[], Config], access: AccessRecords) -> None:
        self._config = config
        self._access = access

    async def actor(
        self, channel: str, account: str, sender: str, chat: str, kind: str, *, proven: bool = True
    ) -> Actor:
        """Return the actor who writes in a chat, with their canonical id.

        Args:
            kind: dm or group.
            proven: whether the platform authenticates the sender; one who is not authenticated is
                at most a guest, with a memory of their own whatever the account is linked to.
        """
        asked = grants_key(channel, account, sender, chat, kind)
        known = await self._access.grants(asked) if asked else ()
        return self.actor_of(known, channel, account, sender, chat, kind, proven=proven)

    def actor_of(
        self,
        known: Sequence[GrantRow],
        channel: str,
        account: str,
        sender: str,
        chat: str,
        kind: str,
        *,
        proven: bool = True,
    ) -> Actor:
        """Return the actor of what `grants_key` names; see `actor`."""
        if channel in LOCAL_CHANNELS:
            return Actor(channel=channel, account=account, id=sender, role="owner")
        person, group = canonical_id(channel, sender), chat if kind == "group" else ""
        own = [row for row in known if row.party.subject == "user" and row.group in ("", group)]
        allowed = any(row.party.subject == "group" for row in known)
        lists = {
            name: [*ids, *(canonical_id(channel, id) for id in ids)]
            for name, ids in self.lists(channel).items()
        }
        listed = listed_role(lists, channel, person, chat, kind, allowed=allowed)
        role = _highest_role(listed, own, group)
        here = role == "admin" and any(row.role == "admin" and row.group for row in own)
        found = Actor(channel=channel, account=account, id=person, role=role, admin_here=here)
        return found if proven else _unproven_actor(found, chat, kind)

    async def group_allowed(self, channel: str, account: str, chat_id: str) -> bool:
        """Tell whether the bot may answer in a group."""
        if chat_id in self.lists(channel)["allow"]:
            return True
        known = await self._access.grants(
            GrantsKey(channel=channel, account=account, person="", group=chat_id)
        )
        return any(row.party.subject == "group" for row in known)

    def lists(self, channel: str) -> dict[str, Sequence[str]]:
        """Return the `owners` and `allow` lists of a channel as configured; empty if it has
        none.
        """
        section = getattr(self._config().channels, channel, None)
        return {name: getattr(section, name, ()) for name in ("owners", "allow")}


def grants_key(channel: str, account: str, sender: str, chat: str, kind: str) -> GrantsKey | None:
    """Return the grants that decide about a sender; None on this machine's own channels, where all
    are owners.
    """
    if channel in LOCAL_CHANNELS:
        return None
    group = chat if kind == "group" else ""
    return GrantsKey(
        channel=channel, account=account, person=canonical_id(channel, sender), group=group
    )


def _unproven_actor(actor: Actor, chat: str, kind: str) -> Actor:
    role: Role = "guest" if ROLE_RANK[actor.role] > ROLE_RANK["guest"] else actor.role
    bound = conversation_space(role, actor.channel, actor.account, actor.id, chat, kind)
    return replace(actor, role=role, admin_here=False, bound=bound)


def _highest_role(listed: Role, own: Sequence[GrantRow], group: str) -> Role:
    """Return the highest of the listed and the granted roles.

    In a group pairing gives no role. If the group is not allowed, only owners have one; if it is, a
    blocked person is still a stranger.
    """
    roles: set[Role] = {listed}
    if listed == "guest" and any(row.role == "blocked" for row in own):
        roles = {"stranger"}
    for row in own:
        if row.role == "owner" or (row.role == "user" and not group):
            roles.add(row.role)
        if row.role == "admin" and (not group or listed != "stranger"):
            roles.add("admin")
    return max(roles, key=lambda role: ROLE_RANK[role])
