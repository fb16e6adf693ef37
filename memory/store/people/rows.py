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
    """One person or group as a platform knows them. account: our own id there, "" for whichever it is."""

    channel: str
    account: str
    subject: Subject
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantRow:
    """What a party was given. role: "group" for a group that is allowed, "blocked" for a person who was denied.

    group: the one group that the role is for, "" for all places. name: what they called themselves, no identity.
    by: who gave it. at: UTC.
    """

    party: Party
    role: GrantedRole
    group: str
    name: str
    by: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessRequest:
    """A stranger's message, or one from a group that is not allowed. lang: zh or en, what they wrote in.

    conversation: where it was written. name: what the person (in a group, whoever wrote) calls themselves.
    """

    party: Party
    name: str
    conversation: str
    lang: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """Something to be told with a change. source: its own name for ever, known again it is not told twice."""

    conversation: str
    source: str
    out: tuple[NewOutboxRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessRequestRow:
    """Who asks to be let in. conversation: where they are told; expires, at: UTC; a group's does not expire."""

    id: str
    party: Party
    name: str
    conversation: str
    lang: str
    state: RequestState
    expires: datetime
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenTurn:
    """A turn that is at work. actor: id of the person it is for; chat: the platform's id of the chat."""

    conversation: str
    actor: str
    chat: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RevokeResult:
    """What was taken away. turns: all that are at work on that channel; approvals: how many ended."""

    grants: tuple[GrantRow, ...]
    turns: tuple[OpenTurn, ...]
    approvals: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NewApproval:
    """An act that waits for its person's yes. call: names the tool call for ever; arguments: JSON text, shown to them.

    code_sha256: of the code to type; press_sha256: of what a pressed button brings back.
    """

    party: Party
    conversation: str
    space: str
    call: str
    action: str
    tool: str
    arguments: str
    code_sha256: str
    press_sha256: str
    expires: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRow:
    """An asking in the record. digest: SHA-256 of the arguments; expires, at: UTC."""

    id: str
    party: Party
    conversation: str
    space: str
    call: str
    action: str
    tool: str
    arguments: str
    digest: str
    state: ApprovalState
    expires: datetime
    at: datetime


# People as the record knows them, and their removal, as values.


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonRow:
    """One space's private talk: a person as far as one account of theirs goes.

    accounts: "channel:sender id" of everybody who wrote there; conversations: ids; messages: stored ones.
    """

    space: str
    accounts: tuple[str, ...]
    conversations: tuple[str, ...]
    messages: int
    updated: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Who is meant: the spaces of all their linked accounts, the home first, and the accounts themselves."""

    spaces: tuple[str, ...]
    accounts: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonRemovalRow:
    """A person who is being removed. blobs: files that their rows named; counts: what is gone so far, by kind."""

    id: str
    person: Person
    blobs: tuple[str, ...]
    counts: Mapping[str, int] = field(default_factory=dict)
