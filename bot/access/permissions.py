"""Who may do what where: one function, named actions, and no for everything it does not know. Pure."""

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
    """Who acts."""

    channel: str
    #: The platform's immutable id; the model acts as the person whose turn it is (by_model).
    id: str
    role: Role
    by_model: bool = False
    #: Our own id on that platform.
    account: str = ""
    #: The owner made this admin one of the very group they write in.
    admin_here: bool = False
    #: The only space in which they may act, None for no such bound; of a sender whom the platform does not prove.
    bound: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessScope:
    """Where it happens."""

    #: Dm, group, terminal, console or job.
    kind: Literal["dm", "group", "terminal", "console", "job"]
    #: Whose memory is meant, "" the owner's.
    space: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessDecision:
    """allowed, or the code of the refusal (for counters and the audit, never for the sender)."""

    allowed: bool
    code: str = ""
    #: Not allowed by itself, but the person may approve this one act; see bot.agent.approvals.
    ask: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _ActionRule:
    """least: lowest role; places: where, () for anywhere; own_space: only in the actor's own or the turn's space.

    model: whether a model may do it for the person, "ask": once they have approved the very act.
    root: lowest role where that space is the owner's: an account that has joined it shares its memory, no more.
    """

    least: Role
    places: tuple[str, ...] = ()
    own_space: bool = True
    model: bool | Literal["ask"] = False
    root: Role = "guest"


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
    "memory.read": _ActionRule(least="user", model=True),
    "memory.read.other": _ActionRule(least="owner", places=("console",), own_space=False),
    "chat.read.other": _ActionRule(least="owner", places=("console",), own_space=False),
    "memory.write": _ActionRule(least="user", places=_PRIVATE_KINDS, model=True),
    "memory.write.group": _ActionRule(least="owner", places=("group",)),
    "memory.forget": _ActionRule(least="user", places=_PRIVATE_KINDS),
    "memory.forget.group": _ActionRule(least="owner", places=("group",)),
    "memory.link": _ActionRule(least="user", places=_PRIVATE_KINDS),
    "memory.index": _ActionRule(least="owner", places=_LOCAL_KINDS),
    "clock.read": _ActionRule(least="guest", model=True),
    "console.read": _ActionRule(least="owner", places=("console",)),
    "metrics.read": _ActionRule(least="owner", places=("console",)),
    "console.write": _ActionRule(least="owner", places=("console",)),
    "pair.status": _ActionRule(least="user", places=_PRIVATE_KINDS),
    "access.read": _ActionRule(least="owner", places=_LOCAL_KINDS),
    "access.write": _ActionRule(least="owner", places=_LOCAL_KINDS),
    "approval.decide": _ActionRule(least="user", places=_PRIVATE_KINDS),
    "approval.decide.group": _ActionRule(least="owner", places=("group",)),
    "session.expire": _ActionRule(least="owner", places=("job",)),
    "memory.dream": _ActionRule(least="owner", places=("job",)),
}


def authorize(actor: Actor, action: str, resource: str, where: AccessScope) -> AccessDecision:
    """The one question before every command, tool, route and job.

    resource: the space or object meant, "" when the action itself says it. Unknown actions are refused.
    """
    rule = ACTIONS.get(action)
    if rule is None:
        return AccessDecision(allowed=False, code="unknown_action")
    if ROLE_RANK[cap_role(actor, where)] < ROLE_RANK[rule.least]:
        return AccessDecision(allowed=False, code="role")
    if rule.places and where.kind not in rule.places:
        return AccessDecision(allowed=False, code="place")
    if actor.by_model and not rule.model:
        return AccessDecision(allowed=False, code="model")
    if actor.bound is not None and where.space != actor.bound:
        return AccessDecision(allowed=False, code="unproven")
    if rule.own_space and resource and resource != where.space:
        return AccessDecision(allowed=False, code="space")
    if not where.space and ROLE_RANK[actor.role] < ROLE_RANK[rule.root]:
        return AccessDecision(allowed=False, code="root")
    if actor.by_model and rule.model == "ask":
        return AccessDecision(allowed=False, code="ask", ask=True)
    return AccessDecision(allowed=True)


def cap_role(actor: Actor, where: AccessScope) -> Role:
    """In a group nobody is more than a user, but for the owner and who was made an admin of that very group."""
    if where.kind == "group" and actor.role == "admin" and not actor.admin_here:
        return "user"
    return actor.role


def canonical_id(channel: str, id: str) -> str:
    """A person's id as that platform compares ids: WeCom takes `Alice` and `alice` for one."""
    return id.lower() if channel == "wecom" else id


def listed_role(
    lists: Mapping[str, Sequence[str]], channel: str, sender: str, chat: str, kind: str, *, allowed: bool = False
) -> Role:
    """The role of a sender by the channel's `owners` and `allow` lists; an empty list means nobody.

    In an allowed group everybody is at least a guest; a group that is not allowed has strangers only, but for
    the owner. allowed: the group was allowed elsewhere.
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


def conversation_space(role: Role, channel: str, account: str, sender: str, chat: str, kind: str) -> str:
    """Whose memory a conversation uses: "" the owner's in private, a name of its own for each other person or group."""
    if kind == "dm" and role == "owner":
        return ""
    name = f"{channel}-group-{chat}" if kind == "group" else f"{channel}-{sender}"
    plain = re.sub(r"[^A-Za-z0-9_-]", "_", name)
    like_a_group = kind != "group" and sender.startswith("group-")
    if plain == name and len(name) <= 80 and not like_a_group:
        return name
    return f"{plain[:60]}-{hashlib.sha256(f'{account}:{name}'.encode()).hexdigest()[:12]}"
