"""Who may do what where: one function, named actions, and no for everything it does not know. Pure."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

Role = Literal["owner", "admin", "user", "guest", "stranger"]
RANK: dict[str, int] = {"stranger": 0, "guest": 1, "user": 2, "admin": 3, "owner": 4}
LOCAL = frozenset({"terminal", "web"})
"""Channels whose every user is the owner: they are reached from this machine with its token only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """Who acts. id: the platform's immutable id; the model acts as the person whose turn it is (by_model).

    account: our own id on that platform. admin_here: the owner made this admin one of the very group they write in.
    bound: the only space in which they may act, None for no such bound; of a sender whom the platform does not prove.
    """

    channel: str
    id: str
    role: Role
    by_model: bool = False
    account: str = ""
    admin_here: bool = False
    bound: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """Where it happens. kind: dm, group, terminal, console or job. space: whose memory is meant, "" the owner's."""

    kind: Literal["dm", "group", "terminal", "console", "job"]
    space: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """allowed, or the code of the refusal (for counters and the audit, never for the sender).

    ask: not allowed by itself, but the person may approve this one act; see bot.agent.approvals.
    """

    allowed: bool
    code: str = ""
    ask: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rule:
    """least: lowest role; places: where, () for anywhere; own_space: only in the actor's own or the turn's space.

    model: whether a model may do it for the person, "ask": once they have approved the very act.
    root: lowest role where that space is the owner's: an account that has joined it shares its memory, no more.
    """

    least: Role
    places: tuple[str, ...] = ()
    own_space: bool = True
    model: bool | Literal["ask"] = False
    root: Role = "guest"


_HERE = ("terminal", "console")
_PRIVATE = ("dm", "terminal", "console")
ACTIONS: dict[str, _Rule] = {
    "chat": _Rule(least="guest"),
    "help": _Rule(least="guest"),
    "whoami": _Rule(least="guest"),
    "status": _Rule(least="guest"),
    "turn.stop": _Rule(least="guest"),
    "turn.retry": _Rule(least="user"),
    "context.read": _Rule(least="user"),
    "context.change": _Rule(least="user", places=_PRIVATE),
    "context.change.group": _Rule(least="admin", places=("group",)),
    "model.choose": _Rule(least="admin", places=_PRIVATE),
    "config.read": _Rule(least="admin", places=_PRIVATE),
    "config.write.context": _Rule(least="admin", places=_PRIVATE),
    "config.write": _Rule(least="owner", places=_HERE),
    "usage.own": _Rule(least="user"),
    "trace": _Rule(least="user"),
    "export": _Rule(least="user", places=_PRIVATE),
    "files.read": _Rule(least="user", model=True),
    "files.write": _Rule(least="user", model=True, root="owner"),
    "persona.write": _Rule(least="owner", places=_PRIVATE, model="ask"),
    "memory.read": _Rule(least="user", model=True),
    "memory.read.other": _Rule(least="owner", places=("console",), own_space=False),
    "chat.read.other": _Rule(least="owner", places=("console",), own_space=False),
    "memory.write": _Rule(least="user", places=_PRIVATE, model=True),
    "memory.write.group": _Rule(least="owner", places=("group",)),
    "memory.forget": _Rule(least="user", places=_PRIVATE),
    "memory.forget.group": _Rule(least="owner", places=("group",)),
    "memory.link": _Rule(least="user", places=_PRIVATE),
    "memory.index": _Rule(least="owner", places=_HERE),
    "clock.read": _Rule(least="guest", model=True),
    "console.read": _Rule(least="owner", places=("console",)),
    "metrics.read": _Rule(least="owner", places=("console",)),
    "console.write": _Rule(least="owner", places=("console",)),
    "pair.status": _Rule(least="user", places=_PRIVATE),
    "access.read": _Rule(least="owner", places=_HERE),
    "access.write": _Rule(least="owner", places=_HERE),
    "approval.decide": _Rule(least="user", places=_PRIVATE),
    "approval.decide.group": _Rule(least="owner", places=("group",)),
    "session.expire": _Rule(least="owner", places=("job",)),
    "memory.dream": _Rule(least="owner", places=("job",)),
}


def authorize(actor: Actor, action: str, resource: str, where: Where) -> Decision:
    """The one question before every command, tool, route and job.

    resource: the space or object meant, "" when the action itself says it. Unknown actions are refused.
    """
    rule = ACTIONS.get(action)
    if rule is None:
        return Decision(allowed=False, code="unknown_action")
    if RANK[capped(actor, where)] < RANK[rule.least]:
        return Decision(allowed=False, code="role")
    if rule.places and where.kind not in rule.places:
        return Decision(allowed=False, code="place")
    if actor.by_model and not rule.model:
        return Decision(allowed=False, code="model")
    if actor.bound is not None and where.space != actor.bound:
        return Decision(allowed=False, code="unproven")
    if rule.own_space and resource and resource != where.space:
        return Decision(allowed=False, code="space")
    if not where.space and RANK[actor.role] < RANK[rule.root]:
        return Decision(allowed=False, code="root")
    if actor.by_model and rule.model == "ask":
        return Decision(allowed=False, code="ask", ask=True)
    return Decision(allowed=True)


def capped(actor: Actor, where: Where) -> Role:
    """In a group nobody is more than a user, but for the owner and who was made an admin of that very group."""
    if where.kind == "group" and actor.role == "admin" and not actor.admin_here:
        return "user"
    return actor.role


def folded(channel: str, id: str) -> str:
    """A person's id as that platform compares ids: WeCom takes `Alice` and `alice` for one."""
    return id.lower() if channel == "wecom" else id


def role_of(
    lists: Mapping[str, Sequence[str]], channel: str, sender: str, chat: str, kind: str, *, allowed: bool = False
) -> Role:
    """The role of a sender by the channel's `owners` and `allow` lists; an empty list means nobody.

    In an allowed group everybody is at least a guest; a group that is not allowed has strangers only, but for
    the owner. allowed: the group was allowed elsewhere.
    """
    if channel in LOCAL:
        return "owner"
    if sender in lists.get("owners", ()):
        return "owner"
    allow = lists.get("allow", ())
    if kind == "group":
        if not allowed and chat not in allow:
            return "stranger"
        return "user" if sender in allow else "guest"
    return "user" if sender in allow else "stranger"


def space_of(role: Role, channel: str, account: str, sender: str, chat: str, kind: str) -> str:
    """Whose memory a conversation uses: "" the owner's in private, a name of its own for each other person or group."""
    if kind == "dm" and role == "owner":
        return ""
    name = f"{channel}-group-{chat}" if kind == "group" else f"{channel}-{sender}"
    plain = re.sub(r"[^A-Za-z0-9_-]", "_", name)
    like_a_group = kind != "group" and sender.startswith("group-")
    if plain == name and len(name) <= 80 and not like_a_group:
        return name
    return f"{plain[:60]}-{hashlib.sha256(f'{account}:{name}'.encode()).hexdigest()[:12]}"
