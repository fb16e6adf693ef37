"""Access control: one pure function decides on named actions and denies those it does not know."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

Role = Literal["owner", "admin", "user", "guest", "stranger"]
ROLE_RANK: dict[str, int] = {"stranger": 0, "guest": 1, "user": 2, "admin": 3, "owner": 4}
# Channels whose every user is the owner: they are reached from this machine with its token only.
LOCAL_CHANNELS = frozenset({"terminal", "web"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """The person who acts."""

    channel: str
    #: The platform's immutable id.
    id: str
    role: Role
    #: The model acts for the person whose turn it is.
    by_model: bool = False
    #: The bot's own id on that platform.
    account: str = ""
    #: The person is an admin of the group they write in, not only elsewhere.
    admin_here: bool = False
    #: The only space in which a sender may act whom the platform does not authenticate; None: any.
    bound: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessScope:
    """Where an action happens."""

    kind: Literal["dm", "group", "terminal", "console", "job"]
    #: Space of the conversation; "" the owner's.
    space: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessDecision:
    """Allowed or not."""

    allowed: bool
    #: Code of the refusal, for counters and the audit; never shown to the sender.
    code: str = ""
    #: Denied, but the person may approve this one act; see bot.agent.approvals.
    ask: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _ActionRule:
    """What an action requires."""

    #: Lowest role.
    least: Role
    #: Kinds of scope where it is allowed; () for all.
    places: tuple[str, ...] = ()
    #: Only on resources of the scope's own space.
    own_space: bool = True
    #: Whether the model may do it for the person; "ask": once they have approved the very act.
    model: bool | Literal["ask"] = False
    #: Lowest role in the owner's space: an account linked to the owner's shares its memory, and no
    #: more.
    root: Role = "guest"

    def allows_kind(self, kind: str) -> bool:
        return not self.places or kind in self.places

    def allows_resource(self, resource: str, space: str) -> bool:
        """Tell whether the action is allowed on a resource in a space.

        Args:
            resource: as in `authorize`; "" is the space itself, which is always allowed.
        """
        return not self.own_space or resource in ("", space)


_LOCAL_KINDS = ("terminal", "console")
_PRIVATE_KINDS = ("dm", "terminal", "console")
ACTIONS: dict[str, _ActionRule] = {
    "chat": _ActionRule(least="guest"),
    "help": _ActionRule(least="guest"),
    "whoami": _ActionRule(least="guest"),
    "status": _ActionRule(least="guest"),
    "turn.stop": _ActionRule(least="guest"),
    "turn.retry": _ActionRule(least="user"),
    "context.read": _ActionRule(least="user"),
    "context.change": _ActionRule(least="user", places=_PRIVATE_KINDS),
    "context.change.group": _ActionRule(least="admin", places=("group",)),
    "model.choose": _ActionRule(least="admin", places=_PRIVATE_KINDS),
    "config.read": _ActionRule(least="admin", places=_PRIVATE_KINDS),
    "config.write.context": _ActionRule(least="admin", places=_PRIVATE_KINDS),
    "config.write": _ActionRule(least="owner", places=_LOCAL_KINDS),
    "usage.own": _ActionRule(least="user"),
    "trace": _ActionRule(least="user"),
    "export": _ActionRule(least="user", places=_PRIVATE_KINDS),
    "files.read": _ActionRule(least="user", model=True),
    "files.write": _ActionRule(least="user", model=True, root="owner"),
    "persona.write": _ActionRule(least="owner", places=_PRIVATE_KINDS, model="ask"),
    "exec": _ActionRule(least="owner", places=_PRIVATE_KINDS, model="ask", root="owner"),
    "exec.status": _ActionRule(least="owner", places=_PRIVATE_KINDS, model=True, root="owner"),
    "web.fetch": _ActionRule(least="user", model=True),
    "web.search": _ActionRule(least="user", model=True),
    "web.fetch.guest": _ActionRule(least="guest", model=True),
    "web.search.guest": _ActionRule(least="guest", model=True),
    "skill.read": _ActionRule(least="user", model=True),
    "tools.find": _ActionRule(least="user", model=True),
    "tools.read": _ActionRule(least="user"),
    "plugin.call": _ActionRule(least="user", model=True, root="owner"),
    "plugin.call.ask": _ActionRule(least="user", model="ask", root="owner"),
    "mcp.call": _ActionRule(least="user", model=True, root="owner"),
    "mcp.call.ask": _ActionRule(least="user", model="ask", root="owner"),
    "mcp.status": _ActionRule(least="owner", places=_PRIVATE_KINDS),
    "delegate": _ActionRule(least="user", model=True),
    "task.own": _ActionRule(least="user", model=True),
    "heartbeat": _ActionRule(least="owner", places=_PRIVATE_KINDS, root="owner"),
    "extension.write": _ActionRule(least="owner", places=_LOCAL_KINDS),
    "memory.read": _ActionRule(least="user", model=True),
    "memory.read.other": _ActionRule(least="owner", places=("console",), own_space=False),
    "chat.read.other": _ActionRule(least="owner", places=("console",), own_space=False),
    "memory.write": _ActionRule(least="user", places=_PRIVATE_KINDS, model=True),
    "memory.write.group": _ActionRule(least="owner", places=("group",)),
    "memory.forget": _ActionRule(least="user", places=_PRIVATE_KINDS),
    "memory.forget.group": _ActionRule(least="owner", places=("group",)),
    "memory.link": _ActionRule(least="user", places=_PRIVATE_KINDS),
    "memory.index": _ActionRule(least="owner", places=_LOCAL_KINDS),
    "console.read": _ActionRule(least="owner", places=("console",)),
    "metrics.read": _ActionRule(least="owner", places=("console",)),
    "console.write": _ActionRule(least="owner", places=("console",)),
    "backup": _ActionRule(least="owner", places=_LOCAL_KINDS),
    "restore": _ActionRule(least="owner", places=_LOCAL_KINDS),
    "pair.status": _ActionRule(least="user", places=_PRIVATE_KINDS),
    "access.read": _ActionRule(least="owner", places=_LOCAL_KINDS),
    "access.write": _ActionRule(least="owner", places=_LOCAL_KINDS),
    "person.delete": _ActionRule(least="owner", places=_LOCAL_KINDS),
    "approval.decide": _ActionRule(least="user", places=_PRIVATE_KINDS),
    "approval.decide.group": _ActionRule(least="owner", places=("group",)),
    "session.expire": _ActionRule(least="owner", places=("job",)),
    "memory.dream": _ActionRule(least="owner", places=("job",)),
}


def authorize(actor: Actor, action: str, resource: str, where: AccessScope) -> AccessDecision:
    """Decide whether an actor may do an action; asked before every command, tool, route and job.

    resource: the space or object meant; "" if the action implies it. Unknown actions are denied.
    """
    rule = ACTIONS.get(action)
    if rule is None:
        return AccessDecision(allowed=False, code="unknown_action")
    if ROLE_RANK[cap_role(actor, where)] < ROLE_RANK[rule.least]:
        return AccessDecision(allowed=False, code="role")
    if not rule.allows_kind(where.kind):
        return AccessDecision(allowed=False, code="place")
    if actor.by_model and not rule.model:
        return AccessDecision(allowed=False, code="model")
    if actor.bound not in (None, where.space):
        return AccessDecision(allowed=False, code="unproven")
    if not rule.allows_resource(resource, where.space):
        return AccessDecision(allowed=False, code="space")
    if not where.space and ROLE_RANK[actor.role] < ROLE_RANK[rule.root]:
        return AccessDecision(allowed=False, code="root")
    if actor.by_model and rule.model == "ask":
        return AccessDecision(allowed=False, code="ask", ask=True)
    return AccessDecision(allowed=True)


# The page and its API: their user is always the owner.
CONSOLE_OWNER = Actor(channel="web", id="owner", role="owner")
CONSOLE_SCOPE = AccessScope(kind="console", space="")


def is_console_allowed(action: str) -> bool:
    """Tell whether the console may do an action."""
    return authorize(CONSOLE_OWNER, action, "", CONSOLE_SCOPE).allowed


def access_scope(channel: str, kind: str, space: str) -> AccessScope:
    """Return a conversation's place as access rules see it."""
    if channel == "terminal":
        return AccessScope(kind="terminal", space=space)
    if channel == "web":
        return AccessScope(kind="console", space=space)
    return AccessScope(kind="group" if kind == "group" else "dm", space=space)


def cap_role(actor: Actor, where: AccessScope) -> Role:
    """Return the role that counts in a scope: in a group, an admin of another group is a user."""
    if where.kind == "group" and actor.role == "admin" and not actor.admin_here:
        return "user"
    return actor.role


def canonical_id(channel: str, id: str) -> str:
    """Return an id in the form that the platform compares: to WeCom, `Alice` and `alice` are the
    same.
    """
    return id.lower() if channel == "wecom" else id


def listed_role(
    lists: Mapping[str, Sequence[str]],
    channel: str,
    sender: str,
    chat: str,
    kind: str,
    *,
    allowed: bool = False,
) -> Role:
    """Return a sender's role by the channel's `owners` and `allow` lists.

    In an allowed group everyone is at least a guest; in another one everyone except the owner is a
    stranger.

    Args:
        allowed: the group was allowed by pairing.
    """
    if channel in LOCAL_CHANNELS:
        return "owner"
    if sender in lists.get("owners", ()):
        return "owner"
    allow = lists.get("allow", ())
    if kind == "group":
        if not allowed and chat not in allow:
            return "stranger"
        return "user" if sender in allow else "guest"
    return "user" if sender in allow else "stranger"


def conversation_space(
    role: Role, channel: str, account: str, sender: str, chat: str, kind: str
) -> str:
    """Return the space of a conversation: "" for the owner in private, else one per person or
    group.
    """
    if kind == "dm" and role == "owner":
        return ""
    name = f"{channel}-group-{chat}" if kind == "group" else f"{channel}-{sender}"
    plain = re.sub(r"[^A-Za-z0-9_-]", "_", name)
    like_a_group = kind != "group" and sender.startswith("group-")
    if plain == name and len(name) <= 80 and not like_a_group:
        return name
    return f"{plain[:60]}-{hashlib.sha256(f'{account}:{name}'.encode()).hexdigest()[:12]}"
