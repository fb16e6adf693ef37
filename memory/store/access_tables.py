"""The tables about who may talk: what was granted, who asks for it, and acts that wait for a person's yes."""

from sqlalchemy import Index, PrimaryKeyConstraint, Table, UniqueConstraint

from memory.store.columns import moment, own_id, record, text

access_grant = Table(
    "access_grant",
    record,
    text("channel"),
    text("account"),
    text("subject"),
    text("subject_id"),
    text("group_id"),
    text("role"),
    text("name"),
    text("granted_by"),
    moment("at"),
    PrimaryKeyConstraint("channel", "subject", "subject_id", "account", "group_id"),
)
"""Roles of people, and groups that are allowed. account "": whichever of ours; group_id: the one group it is for."""

access_request = Table(
    "access_request",
    record,
    own_id(),
    text("channel"),
    text("account"),
    text("subject"),
    text("subject_id"),
    text("name"),
    text("conversation"),
    text("lang"),
    text("code_sha256"),
    text("state"),
    moment("expires"),
    moment("at"),
)
"""People and groups that ask to be let in; subject "owner": a code that makes whoever types it an owner."""
Index("access_request_at", access_request.c.channel, access_request.c.account, access_request.c.at)
Index("access_request_code", access_request.c.code_sha256)

approval = Table(
    "approval",
    record,
    own_id(),
    text("channel"),
    text("account"),
    text("subject_id"),
    text("conversation"),
    text("space"),
    text("call"),
    text("action"),
    text("tool"),
    text("arguments"),
    text("digest"),
    text("code_sha256"),
    text("press_sha256"),
    text("state"),
    moment("expires"),
    moment("at"),
    UniqueConstraint("call", name="approval_call"),
)
"""Single acts of a model that wait for the person whose turn it was."""
Index("approval_person", approval.c.channel, approval.c.subject_id)
