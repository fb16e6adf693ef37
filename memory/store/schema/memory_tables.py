"""The tables of long-term memory, account links, access and approvals, for both databases."""

from sqlalchemy import Column, Index, PrimaryKeyConstraint, Table, Text, UniqueConstraint

from memory.store.schema.tables import (
    conversation_column,
    flag,
    id_column,
    integer,
    is_one_of,
    literal_text,
    metadata,
    moment,
    partial_index,
    text,
)

# One row per line of a MEMORY.md, and per line that was deleted from it. The file is authoritative
# for the text.
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
    moment("since", added=True),  # when it got its wording, 0 for `created`
)
Index("memory_space", memory.c.space, memory.c.state)
Index("memory_line", memory.c.space, memory.c.norm, memory.c.state)
partial_index(
    "memory_norm",
    memory.c.space,
    memory.c.norm,
    where=is_one_of(memory.c.state, "live"),
    unique=True,
)

_RESTS_ON_MESSAGE = memory.c.message_id != literal_text("")
partial_index("memory_source", memory.c.message_id, where=_RESTS_ON_MESSAGE)
_IS_REPLACED = is_one_of(memory.c.state, "superseded")
partial_index("memory_successor", memory.c.superseded_by, where=_IS_REPLACED)

# One row per write to a memory file.
memory_change = Table(
    "memory_change",
    metadata,
    id_column(),
    text("space"),
    text("path"),
    text("kind"),
    text("before_sha256"),
    text("after_sha256"),
    text("added"),  # JSON list of lines
    text("removed"),  # JSON list of lines
    text("before"),  # the file's former text, of a dream only
    text("about"),
    flag("undone"),
    moment("at"),
)
Index("memory_change_space", memory_change.c.space, memory_change.c.at)

# Turns that facts were extracted from, or are queued for it.
extraction = Table(
    "extraction",
    metadata,
    Column("turn_id", Text, primary_key=True, nullable=False),
    text("space"),
    text("conversation"),
    integer("turn"),
    text("state"),
    integer("attempts"),
    text("found"),  # JSON of the model's facts that passed the checks
    text("reason"),
    moment("at"),
)
partial_index(
    "extraction_open", extraction.c.space, where=is_one_of(extraction.c.state, "queued", "found")
)

# One row per space and night in which its memory was consolidated.
dream = Table(
    "dream",
    metadata,
    id_column(),
    text("space"),
    text("day"),
    text("state"),
    text("plan"),  # JSON
    text("diary"),  # path of the dream log in the space's folder
    text("reason"),
    moment("at"),
    UniqueConstraint("space", "day", name="dream_day"),
)

# Requests to forget something.
forgetting = Table(
    "forgetting",
    metadata,
    id_column(),
    text("space"),
    text("conversation"),
    text("asked_by"),
    text("state"),
    text("code_sha256"),
    text("targets"),  # JSON, emptied at the end
    text("receipt"),  # JSON of places and counts
    moment("expires"),
    moment("at"),
)
partial_index(
    "forgetting_open",
    forgetting.c.space,
    where=is_one_of(forgetting.c.state, "asked", "confirmed", "removed"),
)

# Links of accounts: reads and writes of `own_space` go to `space`.
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

# Codes that link two accounts: created in one chat, typed in the other, confirmed in the first.
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

# Files and folders whose name or content came from outside, by their path below the space's folder.
file_label = Table(
    "file_label",
    metadata,
    text("space"),
    text("path"),
    moment("at"),
    integer("content_only", added=True),  # 1 where the name is not from outside
    PrimaryKeyConstraint("space", "path"),
)

# Roles of people, and allowed groups.
access_grant = Table(
    "access_grant",
    metadata,
    text("channel"),
    text("account"),  # "" for every account of the channel
    text("subject"),
    text("subject_id"),
    text("group_id"),  # the only group that it is valid in, "" for all
    text("role"),
    text("name"),
    text("granted_by"),
    moment("at"),
    PrimaryKeyConstraint("channel", "subject", "subject_id", "account", "group_id"),
)

# Requests of people and groups for access.
access_request = Table(
    "access_request",
    metadata,
    id_column(),
    text("channel"),
    text("account"),
    text("subject"),  # "owner" for a code that gives the owner's role to the person who types it
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

# Tool calls that wait for the approval of the turn's person.
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

# What people have approved for good: calls that a rule covers run without a question.
approval_rule = Table(
    "approval_rule",
    metadata,
    id_column(),
    text("space"),
    integer("number"),
    text("channel"),
    text("account"),
    text("person"),
    text("tool"),
    text("command"),  # JSON; what bot.tools.exec.rules writes
    text("cwd"),
    text("level"),  # of the sandbox
    moment("expires"),
    moment("at"),
    UniqueConstraint("space", "number", name="approval_rule_number"),
)

# Work beside a conversation: turns of sub-agents, and commands.
background_task = Table(
    "background_task",
    metadata,
    id_column(),
    text("space"),
    integer("number"),
    text("kind"),
    text("conversation"),
    text("call"),
    integer("position"),
    text("child"),  # the hidden conversation of an agent
    text("channel"),
    text("account"),
    text("person"),
    text("goal"),
    text("request"),  # JSON
    text("state"),
    flag("detached"),
    text("outcome"),
    flag("tainted"),
    integer("epoch"),
    moment("at"),
    moment("ended"),
    UniqueConstraint("space", "number", name="background_task_number"),
    UniqueConstraint("call", "position", name="background_task_call"),
)
Index("background_task_child", background_task.c.child)
partial_index(
    "background_task_open",
    background_task.c.conversation,
    where=is_one_of(background_task.c.state, "running"),
)

# What people want done later.
job = Table(
    "job",
    metadata,
    id_column(),
    text("space"),
    integer("number"),
    text("conversation"),
    text("channel"),
    text("account"),
    text("person"),
    text("kind"),
    text("body"),
    text("schedule"),
    moment("next_at"),
    integer("runs_left"),
    flag("tainted"),
    text("norm"),
    text("state"),
    text("reason"),
    moment("at"),
    integer("fails", added=True),
    integer("retries", added=True),
    text("extra", added=True),  # why next_at is no time of the schedule, "" if it is one
    moment("resumes_at", added=True),  # the time of the schedule that follows such a one
    UniqueConstraint("space", "number", name="job_number"),
)
partial_index("job_due", job.c.next_at, where=is_one_of(job.c.state, "on"))
Index("job_person", job.c.channel, job.c.person)

# How each due moment of a job ended.
occurrence = Table(
    "occurrence",
    metadata,
    id_column(),
    text("job"),
    moment("due"),
    text("state"),
    text("reason"),
    text("space"),
    moment("at"),
    text("inbox_row", added=True),  # of the message that it started
    UniqueConstraint("job", "due", name="occurrence_due"),
)
Index("occurrence_space", occurrence.c.space)
partial_index("occurrence_running", occurrence.c.job, where=is_one_of(occurrence.c.state, "run"))

# What a person has chosen for their jobs.
job_setting = Table(
    "job_setting",
    metadata,
    text("channel"),
    text("account"),
    text("person"),
    text("space"),
    text("zone"),
    text("quiet"),  # HH:MM-HH:MM, "off", "" for the configured hours
    PrimaryKeyConstraint("channel", "account", "person"),
)
Index("job_setting_space", job_setting.c.space)

# Beats of the heartbeat that asked the model, and when it was turned on, off or paused.
heartbeat = Table(
    "heartbeat",
    metadata,
    id_column(),
    text("space"),
    text("decision"),
    text("sha256"),  # of the inputs
    text("norm"),  # hash of the notice
    text("reason"),
    integer("tokens"),
    moment("at"),
)
Index("heartbeat_space", heartbeat.c.space, heartbeat.c.at)

# Former contents of files that a tool changed.
file_version = Table(
    "file_version",
    metadata,
    id_column(),
    text("space"),
    text("path"),
    text("sha256"),  # of the former content, a blob; "" if there was no file
    integer("size"),
    text("pending"),  # SHA-256 of what a patch is writing, "" once it has ended
    text("call"),
    moment("at"),
)
Index("file_version_path", file_version.c.space, file_version.c.path, file_version.c.at)
partial_index(
    "file_version_pending", file_version.c.at, where=file_version.c.pending != literal_text("")
)
# What is known of each server of tools.
mcp_server = Table(
    "mcp_server",
    metadata,
    id_column(),  # its name in config.json
    text("source_sha256"),  # of what was reviewed: its command or address
    text("era"),
    moment("listed"),
)

# The tools of each server as it last listed them, and what the owner has allowed.
mcp_tool = Table(
    "mcp_tool",
    metadata,
    text("server"),
    text("name"),
    text("description"),
    text("schema"),  # JSON text, as the server wrote it
    flag("read_only"),
    text("sha256"),
    flag("listed"),
    text("mode"),
    text("effect"),
    text("reviewed_sha256"),
    text("told_sha256"),
    integer("position"),
    PrimaryKeyConstraint("server", "name"),
)

# One row for each call of the model in a conversation: what the request showed, by reference.
view_manifest = Table(
    "view_manifest",
    metadata,
    conversation_column(),
    integer("number"),  # of the call in its conversation, from 1
    text("turn_id"),
    integer("turn"),
    integer("epoch"),
    text("space"),
    text("fold_head"),
    integer("from_seq"),
    integer("to_seq"),
    integer("generation"),
    text("zone"),
    text("model"),
    text("answered"),
    text("policy"),
    integer("budget"),
    integer("max_tokens"),
    integer("same", -1),
    flag("closed"),
    text("entries"),  # JSON
    integer("tokens"),
    text("checksum"),
    integer("input"),
    integer("output"),
    integer("cache_read"),
    integer("cache_write"),
    integer("ms"),
    flag("forgotten"),
    moment("at"),
    PrimaryKeyConstraint("conversation", "number"),
)
Index("view_manifest_at", view_manifest.c.at)

# Texts that manifests refer to, once each: of a conversation's suffixes, of a space's files, or
# (both "") of all.
view_text = Table(
    "view_text",
    metadata,
    text("conversation"),
    text("space"),
    text("sha256"),
    text("form"),
    text("text"),
    integer("day"),  # the last one on which a call used it, as days since 1970
    PrimaryKeyConstraint("conversation", "space", "sha256"),
)
Index("view_text_day", view_text.c.day)
