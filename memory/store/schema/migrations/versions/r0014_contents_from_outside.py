"""Labels of files tell what came from outside: the name with the content, or the content only."""

import json
import re
from collections.abc import Iterator

import sqlalchemy as sa
from alembic import op

revision = "r0014"
down_revision = "r0013"

_CALLS = sa.text("""
SELECT tool_call.id, tool_call.name, tool_call.input, conversation.space, account_link.space AS
joined
FROM tool_call
JOIN turn ON turn.id = tool_call.turn_id
JOIN conversation ON conversation.id = turn.conversation
LEFT JOIN account_link ON account_link.own_space = conversation.space
WHERE tool_call.id > :after AND tool_call.name IN ('write_file', 'edit_file', 'patch_files',
'restore_file')
    AND tool_call.state NOT IN ('planned', 'denied')
    AND (
        NOT EXISTS (SELECT 1 FROM message WHERE message.turn_id = tool_call.turn_id)
        OR EXISTS (SELECT 1 FROM message WHERE message.turn_id = tool_call.turn_id AND
        message.tainted > 0)
    )
ORDER BY tool_call.id LIMIT :most
""")
"""A turn whose messages are no more is taken for one that saw words from outside."""
_CALLS_AT_ONCE = 50  # each may hold a whole file
_KNOWN = sa.text("SELECT 1 FROM file_label WHERE space = :space AND path = :path")
_LABEL = sa.text(
    "INSERT INTO file_label (space, path, at, content_only) VALUES (:space, :path, 0, 1)"
)
_PATCHED = re.compile(r"^\+\+\+ (?:b/)?([^\t\r\n]+)", re.MULTILINE)
_COMMANDS_FOLDER = "UPDATE file_label SET path = 'files/' WHERE space = '' AND path = 'files'"
"""Until now the folder that commands write to was labelled by its own name, which is ours."""


def upgrade() -> None:
    """What a turn with words from outside wrote to a file that was there before is labelled too.

    Until now reading any file counted as seeing words from outside, so only new names were
    labelled.
    """
    op.add_column(
        "file_label", sa.Column("content_only", sa.Integer(), nullable=False, server_default="0")
    )
    op.execute(_COMMANDS_FOLDER)
    bind = op.get_bind()
    for call in _calls(bind):
        # it may have joined that memory before or after
        spaces = {call["space"], call["joined"] or call["space"]}
        for space in sorted(spaces):
            for path in _written(call["name"], call["input"]):
                label = {"space": space, "path": path}
                if bind.execute(_KNOWN, label).first() is None:
                    bind.execute(_LABEL, label)


def _calls(bind: sa.Connection) -> Iterator[sa.RowMapping]:
    """All such calls, oldest first."""
    after = ""
    while page := bind.execute(_CALLS, {"after": after, "most": _CALLS_AT_ONCE}).mappings().all():
        after = page[-1]["id"]
        yield from page


def _written(tool: str, text: str) -> list[str]:
    """The paths that the arguments of a call name."""
    try:
        arguments = json.loads(text)
    except (ValueError, RecursionError):
        return []
    if not isinstance(arguments, dict):
        return []
    if tool == "patch_files":
        return [path for path in _PATCHED.findall(str(arguments.get("patch"))) if _is_sound(path)]
    path = arguments.get("path")
    return [path] if isinstance(path, str) and _is_sound(path) else []


def _is_sound(path: str) -> bool:
    return (
        bool(path) and "\0" not in path and not any("\ud800" <= sign <= "\udfff" for sign in path)
    )
