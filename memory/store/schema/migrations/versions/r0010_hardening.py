"""What rests on words from outside is labelled (messages, lines of folds, names of files and folders); how often the
process died while a message was the only one it worked on; lines of memory by their key.
"""

import json
from collections import defaultdict
from collections.abc import Iterator

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
_CALLS = sa.text("""
SELECT tool_call.id, tool_call.name, tool_call.input, tool_call.state, tool_call.turn_id, conversation.space,
    account_link.space AS joined
FROM tool_call
JOIN turn ON turn.id = tool_call.turn_id
JOIN conversation ON conversation.id = turn.conversation
LEFT JOIN account_link ON account_link.own_space = conversation.space
WHERE tool_call.id > :after AND tool_call.name IN ('write_file', 'edit_file')
ORDER BY tool_call.id LIMIT :most
""")
_CLEAN = """
SELECT turn_id FROM message
WHERE origin IN ('model', 'tool')
    AND turn_id IN (SELECT turn_id FROM tool_call WHERE name IN ('write_file', 'edit_file'))
GROUP BY turn_id HAVING MAX(tainted) = 0
"""
"""A turn whose messages are no more is not among them: it is taken for one that saw words from outside."""
_LABEL = sa.text("INSERT INTO file_label (space, path, at) VALUES (:space, :path, :at)")
_CALLS_AT_ONCE = 50  # each may hold a whole file
_OURS = frozenset(("MEMORY.md", "SOUL.md", "memory"))
"""Names that the program gives; a label would taint every list of files."""


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
    _label_files()


def _label_files() -> None:
    """Label the names that files and folders were given in turns that saw words from outside.

    Names are those that a call of write_file for a new file gave, or may have given: it may have failed half-way. What
    a clean turn had named before, or had found there, is not labelled. Which of the names there were before is not
    known otherwise; where it is not, they are labelled.
    """
    bind = op.get_bind()
    named: defaultdict[str, set[str]] = defaultdict(set)
    clean = {row[0] for row in bind.execute(sa.text(_CLEAN))}
    for call in _calls(bind):
        tainted = call["turn_id"] not in clean
        path, replaced = _named(call["input"])
        spaces = {call["space"], call["joined"] or call["space"]}  # it may have joined that memory before or after
        for space, name in ((space, name) for space in sorted(spaces) for name in _prefixes(path)):
            if name in named[space]:
                continue
            gives = call["name"] == "write_file" and not replaced
            if tainted and gives and call["state"] not in ("planned", "denied") and name not in _OURS:
                bind.execute(_LABEL, {"space": space, "path": name, "at": 0.0})
                named[space].add(name)
            elif not tainted and call["state"] == "done":
                named[space].add(name)


def _calls(bind: sa.Connection) -> Iterator[sa.RowMapping]:
    """All calls that name files, oldest first."""
    after = ""
    while page := bind.execute(_CALLS, {"after": after, "most": _CALLS_AT_ONCE}).mappings().all():
        after = page[-1]["id"]
        yield from page


def _named(text: str) -> tuple[str, bool]:
    """The path in a call's arguments, "" for none, and whether it was to replace a file that was there."""
    try:
        arguments = json.loads(text)
    except (ValueError, RecursionError):
        return "", False
    if not isinstance(arguments, dict):
        return "", False
    path = arguments.get("path")
    sound = isinstance(path, str) and "\0" not in path and not any("\ud800" <= sign <= "\udfff" for sign in path)
    return str(path) if sound else "", bool(arguments.get("version"))


def _prefixes(path: str) -> list[str]:
    """A path and the folders it lies in."""
    parts = path.split("/") if path else []
    return ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]
