"""The chain of acts as values."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """An act to be added. subject: the conversation or the space; result: what came of it, in a word or two."""

    action: str
    subject: str
    result: str
    actor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRow:
    """One act. subject: a conversation, a space or a party; args_digest: SHA-256 of what it was asked with, or ""."""

    seq: int
    at: datetime
    actor: str
    action: str
    subject: str
    args_digest: str
    decision: str
    result: str
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditHead:
    """Where the chain ended at some time: its newest row's number and hash; 0 and "" for an empty one."""

    seq: int
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFault:
    """The first row that is not as it was written, and what is wrong with it."""

    seq: int
    what: str
