"""Who was given which role, who asks for one, and acts that wait for a person's yes, as frozen values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from memory.store.rows import NewOutboxRow

Subject = Literal["user", "group"]
GrantedRole = Literal["blocked", "user", "admin", "owner", "group"]
RequestState = Literal["pending", "approved", "denied", "cleared"]
ApprovalState = Literal["asked", "running", "done", "failed", "denied", "ended"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Party:
    """One person or group as a platform knows them."""

    channel: str
    #: Our own id there, "" for whichever it is.
    account: str
    subject: Subject
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantRow:
    """What a party was given."""

    party: Party
    #: "group" for a group that is allowed, "blocked" for a person who was denied.
    role: GrantedRole
    #: The one group that the role is for, "" for all places.
    group: str
    #: What they called themselves, no identity.
    name: str
    #: Who gave it.
    by: str
    #: UTC.
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessRequest:
    """A stranger's message, or one from a group that is not allowed."""

    party: Party
    #: What the person (in a group, whoever wrote) calls themselves.
    name: str
    #: Where it was written.
    conversation: str
    #: Zh or en, what they wrote in.
    lang: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """Something to be told with a change."""

    conversation: str
    #: Its own name forever, known again it is not told twice.
    source: str
    out: tuple[NewOutboxRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessRequestRow:
    """Who asks to be let in."""

    id: str
    party: Party
    name: str
    #: Where they are told.
    conversation: str
    lang: str
    state: RequestState
    #: UTC; a group's does not expire.
    expires: datetime
    #: UTC; a group's does not expire.
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenTurn:
    """A turn that is at work."""

    conversation: str
    #: Id of the person it is for.
    actor: str
    #: The platform's id of the chat.
    chat: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RevokeResult:
    """What was taken away."""

    grants: tuple[GrantRow, ...]
    #: All that are at work on that channel.
    turns: tuple[OpenTurn, ...]
    #: How many ended.
    approvals: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NewApproval:
    """An act that waits for its person's yes."""

    party: Party
    conversation: str
    space: str
    #: Names the tool call forever.
    call: str
    action: str
    tool: str
    #: JSON text, shown to them.
    arguments: str
    #: Of the code to type.
    code_sha256: str
    #: Of what a pressed button brings back.
    press_sha256: str
    expires: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRow:
    """An asking in the store."""

    id: str
    party: Party
    conversation: str
    space: str
    call: str
    action: str
    tool: str
    arguments: str
    #: SHA-256 of the arguments.
    digest: str
    state: ApprovalState
    #: UTC.
    expires: datetime
    #: UTC.
    at: datetime


# People as the store knows them, and their removal, as values.


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonRow:
    """One space's private talk: a person as far as one account of theirs goes."""

    space: str
    #: "channel:sender id" of everybody who wrote there.
    accounts: tuple[str, ...]
    #: Ids.
    conversations: tuple[str, ...]
    #: Stored ones.
    messages: int
    updated: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Who is meant: the spaces of all their linked accounts, the home first, and the accounts themselves."""

    spaces: tuple[str, ...]
    accounts: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonRemovalRow:
    """A person who is being removed."""

    id: str
    person: Person
    #: Files that their rows named.
    blobs: tuple[str, ...]
    #: What is gone so far, by kind.
    counts: Mapping[str, int] = field(default_factory=dict)
