"""The tables about long-term memory: what is known of each line, what changed, and the work that waits."""

from sqlalchemy import Column, Index, PrimaryKeyConstraint, Table, Text, UniqueConstraint

from memory.store.schema.columns import flag, id_column, integer, is_one_of, metadata, moment, partial_index, text

# One row per line of a MEMORY.md, and per line that once stood there; the words themselves stand in the file.
memory = Table(
    "memory",
    metadata,
    id_column(),
    text("space"),
    text("norm"),
    text("category"),
    text("text"),
    integer("importance", 5),
    text("state"),
    text("origin"),
    text("conversation"),
    text("message_id"),
    text("channel"),
    text("quote"),
    moment("said"),
    moment("created"),
    moment("updated"),
    moment("used"),
    integer("uses"),
    text("superseded_by"),
    moment("valid_until"),
)
Index("memory_space", memory.c.space, memory.c.state)
Index("memory_line", memory.c.space, memory.c.norm, memory.c.state)
partial_index("memory_norm", memory.c.space, memory.c.norm, where=is_one_of(memory.c.state, "live"), unique=True)

# Every write of ours to a memory file. added, removed: JSON lists of lines; before: the file's text, for a dream.
memory_change = Table(
    "memory_change",
    metadata,
    id_column(),
    text("space"),
    text("path"),
    text("kind"),
    text("before_sha256"),
    text("after_sha256"),
    text("added"),
    text("removed"),
    text("before"),
    text("about"),
    flag("undone"),
    moment("at"),
)
Index("memory_change_space", memory_change.c.space, memory_change.c.at)

# Turns whose lasting facts are still to be noted, or were. found: JSON of what the model said and we believed.
extraction = Table(
    "extraction",
    metadata,
    Column("turn_id", Text, primary_key=True, nullable=False),
    text("space"),
    text("conversation"),
    integer("turn"),
    text("state"),
    integer("attempts"),
    text("found"),
    text("reason"),
    moment("at"),
)
partial_index("extraction_open", extraction.c.space, where=is_one_of(extraction.c.state, "queued", "found"))

# One row per space and night that its memory was put in order. plan: JSON; diary: the file's path in the space.
dream = Table(
    "dream",
    metadata,
    id_column(),
    text("space"),
    text("day"),
    text("state"),
    text("plan"),
    text("diary"),
    text("reason"),
    moment("at"),
    UniqueConstraint("space", "day", name="dream_day"),
)

# What a person asked to have forgotten. targets: JSON, emptied when it is done; receipt: JSON of places and counts.
forgetting = Table(
    "forgetting",
    metadata,
    id_column(),
    text("space"),
    text("conversation"),
    text("asked_by"),
    text("state"),
    text("code_sha256"),
    text("targets"),
    text("receipt"),
    moment("expires"),
    moment("at"),
)
partial_index(
    "forgetting_open", forgetting.c.space, where=is_one_of(forgetting.c.state, "asked", "confirmed", "removed")
)

# Whose memory an account has joined: from then on `space` is where its own space's reads and writes go.
account_link = Table(
    "account_link",
    metadata,
    text("own_space"),
    text("space"),
    text("channel"),
    text("account"),
    text("sender_id"),
    moment("at"),
    PrimaryKeyConstraint("own_space"),
)
Index("account_link_space", account_link.c.space)

# Codes for joining two accounts: made in one chat, typed in the other, confirmed in the first.
link_code = Table(
    "link_code",
    metadata,
    id_column(),
    text("code_sha256"),
    text("state"),
    text("channel"),
    text("account"),
    text("sender_id"),
    text("space"),
    text("conversation"),
    text("typed_channel"),
    text("typed_account"),
    text("typed_sender_id"),
    text("typed_name"),
    text("typed_space"),
    text("typed_conversation"),
    moment("expires"),
    moment("at"),
)
Index("link_code_sha256", link_code.c.code_sha256)

# Files and folders of a space that were given their names in a tainted turn; path: below the space's folder.
file_label = Table(
    "file_label", metadata, text("space"), text("path"), moment("at"), PrimaryKeyConstraint("space", "path")
)


# The tables about who may talk: what was granted, who asks for it, and acts that wait for a person's yes.

# Roles of people, and groups that are allowed. account "": whichever of ours; group_id: the one group it is for.
access_grant = Table(
    "access_grant",
    metadata,
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

# People and groups that ask to be let in; subject "owner": a code that makes whoever types it an owner.
access_request = Table(
    "access_request",
    metadata,
    id_column(),
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
Index("access_request_at", access_request.c.channel, access_request.c.account, access_request.c.at)
Index("access_request_code", access_request.c.code_sha256)

# Single acts of a model that wait for the person whose turn it was.
approval = Table(
    "approval",
    metadata,
    id_column(),
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
Index("approval_person", approval.c.channel, approval.c.subject_id)
