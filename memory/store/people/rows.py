"""Rows of access rights, people and their removal. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from memory.store.rows import Party

GrantedRole = Literal["blocked", "user", "admin", "owner", "group"]
RequestState = Literal["pending", "approved", "denied", "cleared"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantsKey:
    """The grants of a person and of a group with one account of the bot; those for every account
    are among them.
    """

    channel: str
    account: str
    person: str
    #: "" for none.
    group: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantRow:
    """A role that a person or group has."""

    party: Party
    #: "group": an allowed group; "blocked": a person whose request was denied.
    role: GrantedRole
    #: The group in which the role applies, "" for everywhere.
    group: str
    #: Display name when it was granted, not an identity.
    name: str
    #: Actor that granted it, as in the audit chain.
    by: str
    #: UTC.
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessRequest:
    """A request for access: a message of a stranger, or from a group that is not allowed."""

    party: Party
    #: Display name of the sender.
    name: str
    #: Where the message was written and the decision is sent.
    conversation: str
    #: "zh" or "en": the language of the message.
    lang: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessRequestRow(AccessRequest):
    """A stored request for access."""

    id: str
    state: RequestState
    #: UTC; meaningless for a group, whose request does not expire.
    expires: datetime
    #: UTC.
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenTurn:
    """A running or waiting turn."""

    conversation: str
    #: Id of the person it is for.
    actor: str
    #: The platform's id of the chat.
    chat: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerChat:
    """A private chat that uses the owner's space by itself."""

    conversation: str
    #: Id of the person who writes there; "" if nobody has yet.
    person: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RevokeResult:
    """The outcome of a revocation."""

    grants: tuple[GrantRow, ...]
    #: All open turns of the channel.
    turns: tuple[OpenTurn, ...]
    #: Number of ended approvals.
    approvals: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonRow:
    """A space with private conversations; a person with linked accounts has several."""

    space: str
    #: "channel:sender id" of all senders.
    accounts: tuple[str, ...]
    #: Ids of the conversations.
    conversations: tuple[str, ...]
    #: Number of stored messages.
    messages: int
    updated: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """A person's linked accounts and their spaces, the shared one first."""

    spaces: tuple[str, ...]
    accounts: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonRemovalRow:
    """A removal in progress."""

    id: str
    person: Person
    #: Blobs that the person's rows referred to.
    blobs: tuple[str, ...]
    #: Number of deleted items by kind, so far.
    counts: Mapping[str, int] = field(default_factory=dict)
