"""Copies what a damaged database still holds into the one that takes its place, whole conversations
or none of one.
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Table

from memory.conversation import load_parts
from memory.store.audit import append_act, find_fault
from memory.store.conversations.folds.ledger import check_ledger
from memory.store.conversations.lifecycle import delete_conversation, shown_text_of
from memory.store.conversations.messages import close_calls
from memory.store.conversations.prompt_state import delete_snapshot
from memory.store.engine.database import Tx
from memory.store.engine.sqlite_connection import drive
from memory.store.errors import WrongState
from memory.store.linked_spaces import load_member_spaces
from memory.store.maintenance.copy import TABLES, RowValues, column_names
from memory.store.maintenance.damaged import DatabaseRows, KnownKey, Rows, UnreadableRows
from memory.store.maintenance.replaced_rights import (
    ACTOR,
    LOSS_ACTIONS,
    ReplacedRights,
    withhold_rights,
)
from memory.store.people.access import load_all_grants
from memory.store.rows import TurnRow, columns_of
from memory.store.schema.memory_tables import access_grant, account_link, forgetting
from memory.store.schema.tables import (
    audit,
    audit_head,
    clearing,
    conversation,
    coverage,
    fold,
    inbox,
    message,
    outbox,
    prefix_text,
    reduction,
    removal,
    snapshot,
    snapshot_part,
    tool_call,
    turn,
)

# What a conversation is made of: taken over as a whole, in this order, or not at all.
_RECORD = (conversation, turn, message, tool_call, fold, coverage, reduction, clearing)
_OF_CONVERSATION = {
    conversation.name: "WHERE id = ?",
    tool_call.name: "WHERE turn_id IN (SELECT id FROM turn WHERE conversation = ?)",
    coverage.name: "WHERE message_id IN (SELECT id FROM message WHERE conversation = ?)",
}
_PREFIXES = (snapshot, snapshot_part, prefix_text)  # the next request makes them again
_OTHERS = tuple(
    table
    for table in TABLES
    if table not in (*_RECORD, *_PREFIXES, inbox, outbox, audit, audit_head, removal)
)
_FORGOTTEN_STATES = ("confirmed", "removed", "done")
_IS_WHOLE = """
SELECT count(*) = 0 OR (max(seq) - min(seq) + 1 = count(*) AND max(seq) + 1 = (SELECT next_seq FROM
conversation
    WHERE id = :id)) AND count(*) = count((SELECT id FROM turn WHERE id = message.turn_id))
FROM message WHERE conversation = :id
"""
_RAISE_LINES = """
UPDATE conversation SET next_line = max(next_line,
    1 + coalesce((SELECT max(line) FROM inbox WHERE conversation = :id), 0),
    1 + coalesce((SELECT max(line) FROM outbox WHERE conversation = :id), 0))
WHERE id = :id
"""
# A message whose turn has ended is processed, whatever was last read of its row.
_END_INBOX = """
UPDATE inbox SET state = 'done' WHERE conversation = :id AND state IN ('new', 'running') AND EXISTS
(
    SELECT 1 FROM turn WHERE turn.inbox_id = inbox.id AND turn.state NOT IN ('running', 'waiting'))
"""
_SELECT_ANSWERED_TURNS = """
SELECT {columns} FROM turn WHERE conversation = :id AND state IN ('running', 'waiting') AND EXISTS (
    SELECT 1 FROM inbox WHERE inbox.id = turn.inbox_id AND inbox.state NOT IN ('new', 'running'))
"""
# Of a received message, whose own row has its id.
_SELECT_OF_TURN = """
SELECT turn.id, turn.trace_id, message.at, message.parts FROM message JOIN turn ON turn.id =
message.turn_id
WHERE message.id = ?
"""
_END_TURN = "UPDATE turn SET state = 'interrupted', ended = :now WHERE id = :id"
_MAX_LEASE = """
SELECT max(lease_epoch) FROM (
    SELECT lease_epoch FROM instance UNION ALL SELECT lease_epoch FROM turn UNION ALL SELECT
    lease_epoch FROM inbox
    UNION ALL SELECT lease_epoch FROM outbox UNION ALL SELECT lease_epoch FROM fold)
"""


@dataclass(slots=True, kw_only=True)
class SalvageReport:
    """What was taken over from a damaged database."""

    #: Ids of conversations with something newer.
    newer: set[str] = field(default_factory=set)
    #: Number of copied messages.
    messages: int = 0
    #: Number of received messages of which only the key could be read.
    keys_only: int = 0
    #: Conversations that could not be taken over, as channel:chat.
    left: list[str] = field(default_factory=list)
    #: Tables that could not be read.
    unread: list[str] = field(default_factory=list)
    #: What was revoked or forgotten since is known.
    rights_known: bool = True


class _Inconsistent(Exception):
    """The rows of a conversation do not fit together."""


class Salvage:
    """One transaction on the new database that takes over what the damaged one holds.

    All methods block.
    """

    def __init__(self, damaged: DatabaseRows, connection: sqlite3.Connection, tx: Tx) -> None:
        """Bind to both. connection, tx: of the new database, in a transaction."""
        self._damaged, self._connection, self._tx = damaged, connection, tx
        self._here = DatabaseRows(connection)
        self._acts, self._has_all_acts = damaged.load_acts()
        self._keys: dict[str, list[KnownKey]] | None = None
        self._forgotten: set[str] = set()
        self.report = SalvageReport()

    def run(self) -> SalvageReport:
        """Take everything over."""
        self._forgotten = self._load_forgotten_spaces()
        self._take_audit()
        for id in self._list_conversations():
            self._take_conversation(id)
        for table in _OTHERS:
            self._take_table(table)
        self._withhold_rights()
        self._raise_lease()
        return self.report

    # Conversations

    def _list_conversations(self) -> list[str]:
        """List all conversations, and delete those that were deleted since."""
        here = self._here.load_ids(conversation)
        try:
            there = self._damaged.load_ids(conversation)
        except UnreadableRows:
            return sorted(here)
        for id in sorted(here - there):
            if self._here.load(conversation, "WHERE id = ?", id):  # not gone with another one
                drive(delete_conversation(self._tx, id, ACTOR))
        return sorted(there)

    def _take_conversation(self, id: str) -> None:
        try:
            with self._undone_on_error():
                copied = self._take_record(id)
            is_taken = True
        except (UnreadableRows, _Inconsistent, sqlite3.IntegrityError, WrongState):
            copied, is_taken = 0, False
            self._keep_former(id)
        self.report.messages += copied
        with suppress(sqlite3.IntegrityError), self._undone_on_error():
            arrived = self._take_inbox(id, is_taken=is_taken)
            sent = self._take_outbox(id, is_taken=is_taken)
            self._settle(id)
            if copied or arrived or sent:
                self.report.newer.add(id)
        if copied or not is_taken:
            result = f"{copied} messages copied" if is_taken else "left in the damaged file"
            drive(append_act(self._tx, "repair", id, result, ACTOR))

    def _take_record(self, id: str) -> int:
        """Make the conversation what it is in the damaged file; return the number of added
        messages.
        """
        there = {table.name: self._load_of(self._damaged, table, id) for table in _RECORD}
        here = {table.name: self._load_of(self._here, table, id) for table in _RECORD}
        if not there[conversation.name]:
            raise UnreadableRows(conversation.name)
        if there == here:
            return 0
        self._connection.execute("INSERT INTO removal (conversation) VALUES (?)", (id,))
        for table in reversed(_RECORD):
            self._delete(table, here[table.name].keys() - there[table.name].keys())
        for table in _RECORD:
            self._put(table, there[table.name], here[table.name])
        self._connection.execute("DELETE FROM removal WHERE conversation = ?", (id,))
        drive(delete_snapshot(self._tx, id))
        whole = self._connection.execute(_IS_WHOLE, {"id": id}).fetchone()[0]
        if not whole or drive(check_ledger(self._tx, id)):
            raise _Inconsistent(id)
        return len(there[message.name].keys() - here[message.name].keys())

    def _keep_former(self, id: str) -> None:
        """Leave the conversation as it was, and without its text where something was forgotten in
        its space since.
        """
        self.report.newer.add(id)
        former = self._load_of(self._here, conversation, id)
        known = former
        with suppress(UnreadableRows):
            known = self._load_of(self._damaged, conversation, id) or former
        for row in known.values():
            values = _to_dict(conversation, row)
            self.report.left.append(f"{values['channel']}:{values['chat_id']}")
            if former and values["space"] in self._forgotten:
                drive(delete_conversation(self._tx, id, ACTOR))
                former = {}
            if not former:
                self._put(conversation, {(id,): _without_record(row)}, {})

    def _take_inbox(self, id: str, *, is_taken: bool) -> int:
        """Take over what was received; return the number of added rows."""
        here = self._load_of(self._here, inbox, id)
        if not self._load_of(self._here, conversation, id):
            return 0
        try:
            there = self._load_of(self._damaged, inbox, id)
            if is_taken:
                self._delete(inbox, here.keys() - there.keys())
        except UnreadableRows:
            unknown = [known for known in self._known_keys(id) if (known.id,) not in here]
            there = {(known.id,): self._from_key(known) for known in unknown}
        if not is_taken:
            turns = self._load_of(self._here, turn, id)
            there = {key: _without_turn(row, turns) for key, row in there.items()}
        self._put(inbox, there, here)
        return len(there.keys() - here.keys())

    def _take_outbox(self, id: str, *, is_taken: bool) -> int:
        """Take over what was to be sent, if it can be read; return the number of added rows."""
        here = self._load_of(self._here, outbox, id)
        if not self._load_of(self._here, conversation, id):
            return 0
        try:
            there = self._load_of(self._damaged, outbox, id)
        except UnreadableRows:
            if outbox.name not in self.report.unread:
                self.report.unread.append(outbox.name)
            return 0
        if is_taken:
            self._delete(outbox, here.keys() - there.keys())
        self._put(outbox, there, here)
        return len(there.keys() - here.keys())

    def _settle(self, id: str) -> None:
        """End what has ended by one of its rows; number the next line behind the last."""
        self._connection.execute(_RAISE_LINES, {"id": id})
        self._connection.execute(_END_INBOX, {"id": id})
        columns = ", ".join(column.name for column in columns_of(TurnRow, turn))
        query = _SELECT_ANSWERED_TURNS.format(columns=columns)
        names = TurnRow.__dataclass_fields__
        for row in self._connection.execute(query, {"id": id}).fetchall():
            answered = TurnRow(**dict(zip(names, row, strict=True)))
            drive(close_calls(self._tx, answered))
            self._connection.execute(_END_TURN, {"id": answered.id, "now": self._tx.now})

    def _from_key(self, known: KnownKey) -> RowValues:
        """Make the row of a received message of which only its key is known: it is not processed
        again.

        Its text is that of the turn's message, if it had one here.
        """
        defaults: dict[str, Any] = {column.name: column.default for column in inbox.columns}
        empty = {
            name: default.arg if default is not None else "" for name, default in defaults.items()
        }
        values = (
            empty
            | {name: getattr(known, name) for name in KnownKey.__dataclass_fields__}
            | {"kind": "message"}
        )
        answered = self._connection.execute(_SELECT_OF_TURN, (known.id,)).fetchone()
        if answered is None:
            self.report.keys_only += 1
            return tuple((values | {"state": "ignored", "reason": "damaged"}).values())
        turn_id, trace_id, at, parts = answered
        body = json.dumps({"text": shown_text_of(load_parts(parts))}, ensure_ascii=False)
        found = {
            "state": "done",
            "turn_id": turn_id,
            "trace_id": trace_id,
            "received": at,
            "body": body,
        }
        return tuple((values | found).values())

    def _known_keys(self, id: str) -> list[KnownKey]:
        if self._keys is None:
            self._keys = {}
            for known in self._damaged.load_known_keys():
                self._keys.setdefault(known.conversation, []).append(known)
        return self._keys.get(id, [])

    # Everything else

    def _take_table(self, table: Table) -> None:
        """Make a table what it is in the damaged file, if all of it can be read."""
        here = self._here.load(table)
        try:
            there = self._damaged.load(table)
            with self._undone_on_error():
                self._delete(table, here.keys() - there.keys())
                self._put(table, self._with_conversation(table, there), here)
        except (UnreadableRows, sqlite3.IntegrityError):
            self.report.unread.append(table.name)
            if "space" in table.c:
                for space in self._forgotten:
                    self._connection.execute(f"DELETE FROM {table.name} WHERE space = ?", (space,))  # noqa: S608

    def _with_conversation(self, table: Table, rows: Rows) -> Rows:
        """Leave out the rows of conversations that are not here."""
        if not table.foreign_keys:
            return rows
        known, place = self._here.load_ids(conversation), list(table.c.keys()).index("conversation")
        return {key: row for key, row in rows.items() if row[place] in known}

    def _take_audit(self) -> None:
        """Take over the audit chain if it is unbroken."""
        here = {table.name: self._here.load(table) for table in (audit, audit_head)}
        try:
            with self._undone_on_error():
                for table in (audit, audit_head):
                    there = self._damaged.load(table)
                    self._delete(table, here[table.name].keys() - there.keys())
                    self._put(table, there, here[table.name])
                if drive(find_fault(self._tx)) is not None:
                    raise _Inconsistent(audit.name)
        except (UnreadableRows, _Inconsistent, sqlite3.IntegrityError):
            self.report.unread.append(audit.name)

    def _load_forgotten_spaces(self) -> set[str]:
        """Return the spaces in which something was forgotten since, by the requests or else by the
        acts.
        """
        known = {key for key, row in self._here.load(forgetting).items() if _is_forgotten(row)}
        spaces = {act["subject"] for act in self._acts if act["action"] == "forget"}
        try:
            requests = self._damaged.load(forgetting)
            spaces = {
                row[1] for key, row in requests.items() if _is_forgotten(row) and key not in known
            }
        except UnreadableRows:
            self.report.rights_known &= self._has_all_acts
        return {
            member for space in spaces for member in drive(load_member_spaces(self._tx, str(space)))
        }

    def _withhold_rights(self) -> None:
        """Take away what was revoked since, where the rights themselves could not be read."""
        has_grants = access_grant.name not in self.report.unread
        has_links = account_link.name not in self.report.unread
        links = [_to_dict(account_link, row) for row in self._here.load(account_link).values()]
        before = ReplacedRights(
            lived=True,
            grants=tuple(drive(load_all_grants(self._tx))) if has_grants else (),
            losses=tuple(act for act in self._acts if act["action"] in LOSS_ACTIONS),
            links=frozenset((link["own_space"], link["space"]) for link in links)
            if has_links
            else frozenset(),
            notes=(),
            forgotten=0,
        )
        drive(withhold_rights(self._tx, before))
        if not (has_grants and has_links):
            self.report.rights_known &= self._has_all_acts

    def _raise_lease(self) -> None:
        """Make the next lease newer than all that rows carry: no row may seem to be held by the
        next process.
        """
        (here,) = self._connection.execute(_MAX_LEASE).fetchone()
        newest = max(here or 0, self._damaged.load_lease())
        self._connection.execute("UPDATE instance SET lease_epoch = ?", (newest,))

    # Rows

    def _load_of(self, rows: DatabaseRows, table: Table, id: str) -> Rows:
        return rows.load(table, _OF_CONVERSATION.get(table.name, "WHERE conversation = ?"), id)

    def _delete(self, table: Table, keys: Iterable[Any]) -> None:
        matches = " AND ".join(f'"{column.name}" = ?' for column in table.primary_key)
        self._connection.executemany(f"DELETE FROM {table.name} WHERE {matches}", sorted(keys))  # noqa: S608

    def _put(self, table: Table, there: Rows, here: Rows) -> None:
        """Insert or update the rows that differ."""
        marks = ", ".join("?" for _ in table.columns)
        keys = ", ".join(f'"{column.name}"' for column in table.primary_key)
        changes = ", ".join(
            f'"{column.name}" = excluded."{column.name}"' for column in table.columns
        )
        statement = (
            f"INSERT INTO {table.name} ({column_names(table)}) VALUES ({marks}) "  # noqa: S608  our own names
            f"ON CONFLICT ({keys}) DO UPDATE SET {changes}"
        )
        changed = [row for key, row in sorted(there.items()) if here.get(key) != row]
        self._connection.executemany(statement, changed)

    @contextmanager
    def _undone_on_error(self) -> Iterator[None]:
        self._connection.execute("SAVEPOINT salvage")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK TO salvage")
            raise
        finally:
            self._connection.execute("RELEASE salvage")


def _is_forgotten(row: RowValues) -> bool:
    return _to_dict(forgetting, row)["state"] in _FORGOTTEN_STATES


def _to_dict(table: Table, row: RowValues) -> dict[str, Any]:
    return dict(zip((column.name for column in table.columns), row, strict=True))


def _without_record(row: RowValues) -> RowValues:
    """Return the row of a conversation of which nothing was said yet."""
    values = _to_dict(conversation, row)
    fresh = {
        "next_seq": 1,
        "next_turn": 1,
        "view_from": 1,
        "cleared_before": 0,
        "fold_head": "",
        "title": "",
    }
    return tuple((values | fresh).values())


def _without_turn(row: RowValues, turns: Rows) -> RowValues:
    """Return a received message without a turn that is not here; one that was running is new
    again.
    """
    values = _to_dict(inbox, row)
    if (values["turn_id"],) not in turns:
        values["turn_id"] = ""
        values["state"] = "new" if values["state"] == "running" else values["state"]
    return tuple(values.values())
