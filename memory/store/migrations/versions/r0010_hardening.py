"""What rests on words from outside is labelled (messages, lines of folds, names of files and folders); how often the
process died while a message was the only one it worked on; lines of memory by their key.
"""

import sqlalchemy as sa
from alembic import op

revision = "r0010"
down_revision = "r0009"

_OWN_TOOLS = (
    "'now', 'recall', 'memory_search', 'memory_get', 'memory_write', "
    "'list_files', 'write_file', 'edit_file', 'send_file'"
)
_READ = f"""
    origin = 'tool' AND (
        NOT EXISTS (SELECT 1 FROM tool_call WHERE tool_call.turn_id = message.turn_id)
        OR EXISTS (
            SELECT 1 FROM tool_call WHERE tool_call.turn_id = message.turn_id AND tool_call.name NOT IN ({_OWN_TOOLS})
        )
    )
"""  # noqa: S608  words of ours
_FIRST = f"""
    SELECT conversation, epoch, MIN(seq) AS first FROM message
    WHERE parts LIKE '%{{"kind":"Image"%' OR parts LIKE '%{{"kind":"Document"%' OR parts LIKE '%"aside":"%'
        OR parts LIKE '%[this holds words from outside]%' OR ({_READ})
    GROUP BY conversation, epoch
"""  # noqa: S608
_AFTER_IT = f"""
UPDATE message SET tainted = 1 FROM ({_FIRST}) AS outside
WHERE message.conversation = outside.conversation AND message.seq >= outside.first
    AND message.origin IN ('model', 'tool')
    AND (
        message.epoch = outside.epoch
        OR EXISTS (SELECT 1 FROM clearing WHERE clearing.conversation = message.conversation AND clearing.undone)
    )
"""  # noqa: S608
_IN_GROUPS = """
UPDATE message SET tainted = 1 WHERE origin IN ('model', 'tool')
    AND EXISTS (SELECT 1 FROM conversation WHERE conversation.id = message.conversation AND kind <> 'dm')
"""
_FOLDS = """
UPDATE fold SET tainted = 1 WHERE tainted = 0 AND EXISTS (
    SELECT 1 FROM message WHERE message.conversation = fold.conversation
        AND message.seq >= fold.from_seq AND message.seq <= fold.to_seq AND message.tainted = 1
)
"""
_OPEN = """
INSERT INTO removal (conversation)
SELECT id FROM conversation WHERE id NOT IN (SELECT conversation FROM removal)
"""
"""Messages are changed only in conversations that are named there."""


def upgrade() -> None:
    """Older rows are labelled for what can have been in view: all that the bot said after the first words from outside.

    Which lines of an older fold rest on them is not known, so that where any does, each counts as one that does.
    """
    # without it each new line of memory read all lines of its space that are gone
    op.create_index("memory_line", "memory", ["space", "norm", "state"])
    op.add_column("inbox", sa.Column("deaths_alone", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("message", sa.Column("tainted", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("fold", sa.Column("clean_lines", sa.Text(), nullable=False, server_default=""))
    op.add_column("fold", sa.Column("summary_tainted", sa.Integer(), nullable=False, server_default="0"))
    op.create_table(
        "file_label",
        sa.Column("space", sa.Text(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("space", "path"),
    )
    op.execute(_OPEN)
    op.execute(_AFTER_IT)
    op.execute(_IN_GROUPS)
    op.execute("DELETE FROM removal WHERE conversation IN (SELECT id FROM conversation)")
    op.execute(_FOLDS)
    op.execute("UPDATE fold SET summary_tainted = tainted")
