"""Erases what a request to forget names, in every row of a space and the spaces linked to it."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import bindparam, delete, or_, select, update

from memory.context.summary.extractive import extractive_summary
from memory.context.taint import is_tainted
from memory.context.tokens import WEIGHTED
from memory.conversation import Document, Part, Text, dump_parts, load_parts
from memory.failpoints import hit_async
from memory.ids import new_id
from memory.redaction import (
    has_only_marks,
    mark_for_language,
    redact_json,
    redact_parts,
    redact_text,
)
from memory.store.conversations.folds.rows import OPEN
from memory.store.conversations.folds.steps import end_awaiting, mark_open_stale
from memory.store.conversations.prompt_state import delete_snapshot, load_snapshot, raise_generation
from memory.store.conversations.sessions import load_messages
from memory.store.conversations.titles import forget_title
from memory.store.engine.database import Row, Tx, insert_into
from memory.store.linked_spaces import belongs_to_space, load_member_spaces
from memory.store.longterm.rows import EraseReport, ForgetTargets, MessageMention
from memory.store.longterm.text_columns import (
    CONVERSATION_COLUMNS,
    INBOX_BODY,
    OUTBOX_TEXT,
    SCOPE,
    SPACE_COLUMNS,
    TextColumn,
)
from memory.store.longterm.views import mark_forgotten_views, redact_view_texts
from memory.store.rows import from_unix
from memory.store.schema.memory_tables import dream, extraction, forgetting, memory
from memory.store.schema.tables import (
    conversation,
    fold,
    inbox,
    literal_text,
    message,
    reduction,
    removal,
    turn,
)
from memory.text.mentions import MentionMatcher, may_contain
from memory.workspace.files import MEMORY_FILE, SPACES_FOLDER

_SELECT_CONVERSATIONS = select(
    conversation.c.id, conversation.c.channel, conversation.c.space
).where(belongs_to_space(conversation.c.space))
_SELECT_MESSAGES = (
    select(message.c.id, message.c.seq, message.c.turn_id, message.c.parts, message.c.at)
    .where(message.c.conversation == bindparam("conversation"))
    .order_by(message.c.seq)
)
_FORBID_DELETES = delete(removal).where(removal.c.conversation == bindparam("conversation"))
_SET_PARTS = (
    update(message)
    .where(message.c.id == bindparam("id"))
    .values(parts=bindparam("new_parts"), has_text=bindparam("new_has_text"))
)
_DELETE_REDUCTIONS = delete(reduction).where(reduction.c.message_id == bindparam("message_id"))
_SELECT_INBOX_ID = select(turn.c.inbox_id).where(turn.c.id == bindparam("id"))
_SELECT_BODY = select(inbox.c.body).where(inbox.c.id == bindparam("id"))
_SELECT_NAMING_BLOB = select(message.c.id).where(message.c.parts.like(bindparam("pattern")))
_SELECT_WAITING_WITH_BLOB = select(inbox.c.id).where(
    inbox.c.state == literal_text("new"), inbox.c.body.like(bindparam("pattern"))
)
# The search index has no tool calls and results, and they repeat lines of memory: each sentence is
# compared.
_TOOL_PART = re.compile(r'"kind": ?"Tool(?:Call|Result)"')
MIN_SUMMARY_TOKENS = 200  # least limit of the digest that replaces a summary
_SELECT_FOLDS = (
    select(fold)
    .where(fold.c.conversation == bindparam("conversation"))
    .order_by(fold.c.at, fold.c.from_seq)
)
_REDACTED_FOLD_COLUMNS = ("log_text", "summary", "summary_tokens", "why", "summary_tainted")
_UPDATE_FOLD = (
    update(fold)
    .where(fold.c.id == bindparam("id"))
    .values({name: bindparam(f"new_{name}") for name in _REDACTED_FOLD_COLUMNS})
)
_MARK_STALE = update(fold).where(fold.c.id == bindparam("id")).values(state=literal_text("stale"))
_REPLANNED_FOLD = {
    "state": "planned",
    "log_text": "",
    "summary": "",
    "summary_tokens": 0,
    "source_sha256": "",
    "log_ref": "",
}
# Commands whose inbox rows and replies may repeat lines of memory.
_MEMORY_COMMAND = re.compile(r"\s*[/／](?P<name>forget|remember|memory)\b", re.IGNORECASE)
_MEMORY_NOTICE = "memory"  # prefix of the source of a notice that lists extracted facts
_SELECT_FOUND = select(extraction.c.turn_id, extraction.c.state, extraction.c.found).where(
    extraction.c.conversation == SCOPE
)
_CLEAR_FOUND = (
    update(extraction)
    .where(extraction.c.turn_id == bindparam("turn_id"))
    .values(found=literal_text(""), state=bindparam("new_state"), reason=literal_text("forgotten"))
)
_SELECT_PLANS = select(dream.c.id, dream.c.state, dream.c.plan).where(
    dream.c.space == SCOPE,
    or_(dream.c.plan != literal_text(""), dream.c.state == literal_text("planned")),
)
_SET_PLAN = (
    update(dream)
    .where(dream.c.id == bindparam("id"))
    .values(plan=bindparam("new_plan"), state=bindparam("new_state"))
)
_SELECT_LINES = select(memory.c.id, memory.c.text, memory.c.quote).where(memory.c.space == SCOPE)
_FORGET_LINE = (
    update(memory)
    .where(memory.c.id == bindparam("id"))
    .values(
        state=literal_text("forgotten"),
        text=bindparam("new_text"),
        norm=bindparam("new_norm"),
        quote=literal_text(""),
    )
)
_SET_QUOTE = (
    update(memory).where(memory.c.id == bindparam("id")).values(quote=bindparam("new_quote"))
)
IS_UNCONFIRMED = forgetting.c.state == literal_text("asked")
# A request loses its words when it is dropped.
DROP_UNCONFIRMED = (
    update(forgetting)
    .where(IS_UNCONFIRMED)
    .values(state=literal_text("dropped"), targets=literal_text(""))
)
_SELECT_REQUESTS = select(forgetting.c.id, forgetting.c.targets).where(
    forgetting.c.space == SCOPE, IS_UNCONFIRMED
)
_DROP_REQUEST = DROP_UNCONFIRMED.where(forgetting.c.id == bindparam("id"))


@dataclass(frozen=True, slots=True, kw_only=True)
class _RedactedRows:
    """The redacted messages: their turns and inbox rows, which other rows refer to."""

    turns: frozenset[str]
    inbox: frozenset[str]
    #: Inbox row of the request itself.
    request: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _RedactedSummary:
    """A fold's summary after redaction."""

    text: str = ""
    tokens: int = 0
    #: A line of it may rest on words from outside.
    tainted: bool = False


async def erase(tx: Tx, space: str, targets: ForgetTargets) -> EraseReport:
    """Redact every row of a space and the spaces linked to it; run again for what was written in
    the meantime.
    """
    rows = (await tx.execute(_SELECT_CONVERSATIONS, space=space)).all()
    erasers = [_ConversationEraser(tx=tx, row=row, targets=targets) for row in rows]
    for eraser in erasers:
        await eraser.erase()
    records, texts = 0, set[str]()
    for member in await load_member_spaces(tx, space):
        line_matcher = targets.matcher(
            f"{SPACES_FOLDER}/{member}/{MEMORY_FILE}" if member else MEMORY_FILE
        )
        records += await _redact_space(tx, member, targets.matcher(), line_matcher)
        texts |= await redact_view_texts(tx, targets.matcher(), space=member)
    for one in erasers:
        texts |= await redact_view_texts(tx, targets.matcher(), conversation=one.row["id"])
    views = sum(
        [
            await mark_forgotten_views(tx, one.row["id"], one.changed.values(), one.folds, texts)
            for one in erasers
        ]
    )
    unused = await _find_unused_blobs(tx, erasers)
    await hit_async("forget.in_txn")
    return EraseReport(
        said=tuple(mention for eraser in erasers for mention in eraser.mentions),
        conversations=tuple(eraser.row["id"] for eraser in erasers if eraser.has_changed),
        blobs=tuple(unused),
        summaries=sum(eraser.summaries for eraser in erasers),
        records=records,
        views=views,
    )


async def _find_unused_blobs(tx: Tx, erasers: Sequence["_ConversationEraser"]) -> list[str]:
    """Return the blobs of redacted documents to which no other message refers."""
    changed = {id for eraser in erasers for id in eraser.changed}
    blobs = sorted({name for eraser in erasers for name in eraser.blobs})
    return [name for name in blobs if not await _is_used_elsewhere(tx, name, changed)]


async def _is_used_elsewhere(tx: Tx, blob: str, changed: set[str]) -> bool:
    """Whether an unchanged message, or an inbox row that waits for a turn, refers to the blob."""
    users = {
        row["id"] for row in (await tx.execute(_SELECT_NAMING_BLOB, pattern=f"%{blob}%")).all()
    }
    return (
        bool(users - changed)
        or (await tx.execute(_SELECT_WAITING_WITH_BLOB, pattern=f"%{blob}%")).first() is not None
    )


@dataclass(slots=True, kw_only=True)
class _ConversationEraser:
    """Redacts the rows of one conversation."""

    tx: Tx
    row: Row
    targets: ForgetTargets
    #: Seqs of the redacted messages by id.
    changed: dict[str, int] = field(default_factory=dict)
    #: Ids of their turns.
    turns: set[str] = field(default_factory=set)
    mentions: list[MessageMention] = field(default_factory=list)
    #: Blobs that redacted documents came from.
    blobs: set[str] = field(default_factory=set)
    #: Ids of the changed folds.
    folds: set[str] = field(default_factory=set)
    #: Number of changed folds that had ended.
    summaries: int = 0
    #: The view or a fold changed.
    has_changed: bool = False

    async def erase(self) -> None:
        id, matcher = self.row["id"], self.targets.matcher()
        await self._redact_messages(matcher)
        redacted = _RedactedRows(
            turns=frozenset(self.turns),
            inbox=await self._load_inbox_ids(),
            request=self.targets.row,
        )
        await _redact_conversation(self.tx, id, matcher, redacted)
        await _clear_found(self.tx, id, matcher, redacted)
        folds = await self._redact_folds(matcher)
        snapshot = await self._drop_snapshot(matcher)
        self.has_changed = bool(self.changed or folds or snapshot)
        if self.has_changed:
            await raise_generation(self.tx, id, "forget")

    async def _redact_messages(self, matcher: MentionMatcher) -> None:
        chosen = {item.message_id for item in self.targets.chosen_items}
        spared = {item.message_id for item in self.targets.other_items} - {""}
        literal, broad = MentionMatcher(query=self.targets.query), replace(matcher, only=False)
        for row in (await self.tx.execute(_SELECT_MESSAGES, conversation=self.row["id"])).all():
            near = row["id"] in chosen or (
                not matcher.only and _TOOL_PART.search(row["parts"]) is not None
            )
            if row["id"] in spared or not (
                near or (not matcher.only and may_contain(row["parts"], literal.query))
            ):
                continue
            before = load_parts(row["parts"])
            after = redact_parts(before, broad if near else literal, near=near)
            if after != before:
                await self._update_message(row, before, after)
        await self.tx.execute(_FORBID_DELETES, conversation=self.row["id"])

    async def _update_message(
        self, row: Row, before: Sequence[Part], after: tuple[Part, ...]
    ) -> None:
        if not self.changed:
            await self.tx.execute(insert_into(removal), conversation=self.row["id"])
        self.changed[row["id"]] = row["seq"]
        self.turns.add(row["turn_id"])
        self.mentions.append(MessageMention(channel=self.row["channel"], at=from_unix(row["at"])))
        has_text = any(
            isinstance(part, Text | Document) and not has_only_marks(part.text) for part in after
        )
        await self.tx.execute(
            _SET_PARTS, id=row["id"], new_parts=dump_parts(after), new_has_text=has_text
        )
        await self.tx.execute(_DELETE_REDUCTIONS, message_id=row["id"])
        documents = {
            old.sha256
            for old, new in zip(before, after, strict=True)
            if old != new and isinstance(old, Document)
        }
        if documents:
            self.blobs |= documents | await self._load_attachments(row["id"])

    async def _load_attachments(self, id: str) -> set[str]:
        """Load the blobs of the original attachments from the message's inbox row."""
        row = (await self.tx.execute(_SELECT_BODY, id=id)).first()
        files = json.loads(row["body"]).get("files", ()) if row and row["body"] else ()
        return {str(file[0]) for file in files if file[0]}

    async def _load_inbox_ids(self) -> frozenset[str]:
        rows = [(await self.tx.execute(_SELECT_INBOX_ID, id=id)).first() for id in self.turns]
        return frozenset(row["inbox_id"] for row in rows if row) | self.changed.keys()

    async def _redact_folds(self, matcher: MentionMatcher) -> bool:
        """Redact the folds, oldest first, as each summary includes the one before; returns whether
        any changed.
        """
        has_changed = False
        await end_awaiting(self.tx, self.row["id"])  # a model is reading what is forgotten
        summaries: dict[str, _RedactedSummary] = {}
        for row in (await self.tx.execute(_SELECT_FOLDS, conversation=self.row["id"])).all():
            new: dict[str, Any] = {
                name: redact_text(row[name], matcher) for name in ("log_text", "summary")
            }
            new["why"] = redact_json(row["why"], matcher)
            overlaps = any(row["from_seq"] <= seq <= row["to_seq"] for seq in self.changed.values())
            if row["state"] in OPEN and (overlaps or any(new[name] != row[name] for name in new)):
                await self._restart_fold(row)
                new |= {"log_text": "", "summary": ""}
            summary = await self._summary_of(
                row, new["summary"], summaries.get(row["prev_fold"], _RedactedSummary())
            )
            summaries[row["id"]] = summary
            new["summary"] = summary.text
            if any(new[name] != row[name] for name in new):
                new |= {"summary_tokens": summary.tokens, "summary_tainted": int(summary.tainted)}
                await self.tx.execute(
                    _UPDATE_FOLD,
                    id=row["id"],
                    **{f"new_{name}": value for name, value in new.items()},
                )
                self.folds.add(row["id"])
                self.summaries += row["state"] not in OPEN
                has_changed = True
        return has_changed

    async def _summary_of(
        self, row: Row, redacted: str, before: _RedactedSummary
    ) -> _RedactedSummary:
        """The redacted summary, or a digest of the redacted messages if only marks are left of
        it.
        """
        if redacted == row["summary"] or not redacted or not has_only_marks(redacted):
            return _RedactedSummary(
                text=redacted, tokens=row["summary_tokens"], tainted=bool(row["summary_tainted"])
            )
        messages = await load_messages(self.tx, self.row["id"], row["from_seq"], row["to_seq"])
        text = extractive_summary(
            messages, before.text, WEIGHTED, max(MIN_SUMMARY_TOKENS, row["summary_tokens"])
        )
        return _RedactedSummary(
            text=text, tokens=WEIGHTED.text(text), tainted=before.tainted or is_tainted(messages)
        )

    async def _restart_fold(self, row: Row) -> None:
        """Mark an open fold stale, as it has read what is forgotten; one that only writes the log
        is planned again.
        """
        if not row["log_only"]:
            await mark_open_stale(self.tx, self.row["id"])
            return
        await self.tx.execute(_MARK_STALE, id=row["id"])
        await self.tx.execute(
            insert_into(fold),
            **{**row, **_REPLANNED_FOLD, "id": new_id(self.tx.now), "log_only": True},
        )

    async def _drop_snapshot(self, matcher: MentionMatcher) -> bool:
        """Delete the prompt snapshot if it mentions it, so that the next turn reads the files
        again.
        """
        snapshot = await load_snapshot(self.tx, self.row["id"])
        if snapshot is None or all(
            redact_text(part.text, matcher) == part.text for part in snapshot.parts
        ):
            return False
        await delete_snapshot(self.tx, self.row["id"])
        return True


async def _redact_conversation(
    tx: Tx, id: str, matcher: MentionMatcher, redacted: _RedactedRows
) -> None:
    """Redact all columns of a conversation except messages, folds, and inbox rows that wait for a
    turn.
    """
    for column in CONVERSATION_COLUMNS:
        await _redact_column(tx, column, id, matcher)
    requests, commands = await _redact_inbox(tx, id, matcher, redacted)
    await forget_title(tx, id, redacted.inbox)
    near = redacted.inbox | commands | {_MEMORY_NOTICE}
    for row in (await tx.execute(OUTBOX_TEXT.select, scope=id)).all():
        source = row["source"].partition(":")[0]
        text = redact_text(row["text"], matcher, near=source in near)
        await _set_text(
            tx, OUTBOX_TEXT, row, mark_for_language(row["text"]) if source in requests else text
        )


async def _redact_inbox(
    tx: Tx, id: str, matcher: MentionMatcher, redacted: _RedactedRows
) -> tuple[set[str], set[str]]:
    """Redact inbox bodies; returns the /forget rows whose replies showed it, and all rows with
    memory commands.
    """
    requests, commands = set(), set()
    for row in (await tx.execute(INBOX_BODY.select, scope=id)).all():
        command = None
        if row["kind"] == "command":
            command = _MEMORY_COMMAND.match(str(json.loads(row["text"]).get("text", "")))
        near = command is not None or row["id"] in redacted.inbox
        body = redact_json(row["text"], matcher, near=near)
        if command:
            commands.add(row["id"])
            if command["name"].lower() == "forget" and (
                row["id"] == redacted.request or body != row["text"]
            ):
                requests.add(row["id"])
        await _set_text(tx, INBOX_BODY, row, body)
    return requests, commands


async def _clear_found(tx: Tx, id: str, matcher: MentionMatcher, redacted: _RedactedRows) -> None:
    """Clear what was extracted from redacted turns of a conversation, and skip those still
    queued.
    """
    for row in (await tx.execute(_SELECT_FOUND, scope=id)).all():
        mentions = (
            row["turn_id"] in redacted.turns or redact_json(row["found"], matcher) != row["found"]
        )
        is_open = row["state"] in ("queued", "found")
        if mentions and (is_open or row["found"]):
            await tx.execute(
                _CLEAR_FOUND,
                turn_id=row["turn_id"],
                new_state="skipped" if is_open else row["state"],
            )


async def _redact_space(
    tx: Tx, space: str, matcher: MentionMatcher, line_matcher: MentionMatcher
) -> int:
    """Redact the rows about a space's memory; returns the number of emptied memory rows.

    Args:
        line_matcher: for the lines of MEMORY.md.
    """
    for column in SPACE_COLUMNS:
        await _redact_column(tx, column, space, matcher)
    for row in (await tx.execute(_SELECT_PLANS, scope=space)).all():
        plan = redact_json(row["plan"], matcher)
        # the worker may have read what is forgotten, and be about to write it
        if row["state"] == "planned":
            await tx.execute(_SET_PLAN, id=row["id"], new_plan=plan, new_state="refused")
        elif plan != row["plan"]:
            await tx.execute(_SET_PLAN, id=row["id"], new_plan=plan, new_state=row["state"])
    for row in (await tx.execute(_SELECT_REQUESTS, scope=space)).all():
        if redact_json(row["targets"], matcher) != row["targets"]:
            await tx.execute(_DROP_REQUEST, id=row["id"])
    return sum(
        [
            await _redact_line(tx, row, line_matcher)
            for row in (await tx.execute(_SELECT_LINES, scope=space)).all()
        ]
    )


async def _redact_line(tx: Tx, row: Row, matcher: MentionMatcher) -> bool:
    """Empty a memory row that mentions it, else redact its quote; returns whether it was
    emptied.
    """
    if matcher.within(row["text"]):
        await tx.execute(
            _FORGET_LINE,
            id=row["id"],
            new_text=mark_for_language(row["text"]),
            new_norm=f"forgotten {row['id']}",
        )
        return True
    quote = redact_text(row["quote"], matcher)
    if quote != row["quote"]:
        await tx.execute(_SET_QUOTE, id=row["id"], new_quote=quote)
    return False


async def _redact_column(tx: Tx, column: TextColumn, scope: str, matcher: MentionMatcher) -> None:
    for row in (await tx.execute(column.select, scope=scope)).all():
        await _set_text(tx, column, row, column.redact(row["text"], matcher))


async def _set_text(tx: Tx, column: TextColumn, row: Row, text: str) -> None:
    if text != row["text"]:
        keys = {name: value for name, value in {**row}.items() if name.startswith("key_")}
        await tx.execute(column.update, new_text=text, **keys)
