"""The columns that hold people's words, with how each is redacted when something is forgotten."""

from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import (
    BindParameter,
    Column,
    ColumnElement,
    Select,
    Table,
    Update,
    bindparam,
    select,
    update,
)

from memory.redaction import redact_json, redact_list, redact_memory, redact_text
from memory.store.schema.memory_tables import (
    approval,
    approval_rule,
    background_task,
    dream,
    job,
    link_code,
    memory_change,
)
from memory.store.schema.tables import (
    conversation,
    inbox,
    literal_text,
    outbox,
    reduction,
    tool_call,
    turn,
)
from memory.text.mentions import MentionMatcher

SCOPE: BindParameter[str] = bindparam("scope")  # a conversation or a space
Redact = Callable[[str, MentionMatcher], str]


@dataclass(frozen=True, slots=True)
class TextColumn:
    """A column with people's words: its query within a scope, its update, and its redaction."""

    select: Select[tuple[str, ...]]
    update: Update
    redact: Redact


def text_column(
    column: Column[str], scope: ColumnElement[bool], redact: Redact, *more: Column[str]
) -> TextColumn:
    """Describe a column for redaction.

    Args:
        scope: which rows belong to `SCOPE`.
        more: further columns that the query returns.

    Raises:
        TypeError: the column is in no table.
    """
    table = column.table
    if not isinstance(table, Table):
        raise TypeError(f"{column} is in no table")
    keys = list(table.primary_key.columns)
    labels = [key.label(f"key_{number}") for number, key in enumerate(keys)]
    is_row = [key == bindparam(f"key_{number}") for number, key in enumerate(keys)]
    return TextColumn(
        select=select(*labels, column.label("text"), *more).where(
            scope, column != literal_text("")
        ),
        update=update(table).where(*is_row).values({column.name: bindparam("new_text")}),
        redact=redact,
    )


CONVERSATION_COLUMNS = (
    text_column(conversation.c.title, conversation.c.id == SCOPE, redact_text),
    text_column(conversation.c.own_title, conversation.c.id == SCOPE, redact_text),
    text_column(conversation.c.chat_name, conversation.c.id == SCOPE, redact_text),
    text_column(reduction.c.text, reduction.c.conversation == SCOPE, redact_text),
    text_column(outbox.c.error, outbox.c.conversation == SCOPE, redact_text),
    text_column(approval.c.arguments, approval.c.conversation == SCOPE, redact_json),
    text_column(
        tool_call.c.input,
        tool_call.c.turn_id.in_(select(turn.c.id).where(turn.c.conversation == SCOPE)),
        redact_json,
    ),
)
SPACE_COLUMNS = (
    text_column(memory_change.c.added, memory_change.c.space == SCOPE, redact_list),
    text_column(memory_change.c.removed, memory_change.c.space == SCOPE, redact_list),
    text_column(memory_change.c.before, memory_change.c.space == SCOPE, redact_memory),
    text_column(dream.c.reason, dream.c.space == SCOPE, redact_text),
    text_column(background_task.c.goal, background_task.c.space == SCOPE, redact_text),
    text_column(background_task.c.request, background_task.c.space == SCOPE, redact_json),
    text_column(background_task.c.outcome, background_task.c.space == SCOPE, redact_text),
    text_column(approval_rule.c.command, approval_rule.c.space == SCOPE, redact_json),
    text_column(job.c.body, job.c.space == SCOPE, redact_text),
    text_column(link_code.c.typed_name, link_code.c.typed_space == SCOPE, redact_text),
)
INBOX_BODY = text_column(
    inbox.c.body,
    (inbox.c.conversation == SCOPE) & (inbox.c.state != literal_text("new")),
    redact_json,
    inbox.c.id,
    inbox.c.kind,
)
OUTBOX_TEXT = text_column(
    outbox.c.text, outbox.c.conversation == SCOPE, redact_text, outbox.c.source
)
