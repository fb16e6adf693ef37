"""T14: what a person wants forgotten leaves the record in one transaction, and a mark stands where it stood."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sqlalchemy import bindparam, delete, insert, select, update

from memory.context.counter import WEIGHTED
from memory.context.digest import digest
from memory.context.taint import tainted
from memory.conversation import Document, Part, Text, dump_parts, load_parts
from memory.failpoint import afp
from memory.forgetting.erased import Erased, SaidThere
from memory.forgetting.mentions import Needle, may_hold
from memory.forgetting.redaction import only_marks, redacted, redacted_json, redacted_parts
from memory.forgetting.targets import Targets
from memory.store.columns import word
from memory.store.engine import Row, Tx
from memory.store.folding import OPEN, stale_open
from memory.store.homes import belongs, members_of
from memory.store.ids import new_id
from memory.store.prefix import raise_generation
from memory.store.redacting import Told, drop_found, redact_conversation, redact_space
from memory.store.rows import moment
from memory.store.system import forget as forget_snapshot
from memory.store.system import read_snapshot
from memory.store.tables import conversation, fold, inbox, message, reduction, removal, turn
from memory.store.views import messages
from memory.workspace import SPACES

LONG_TERM = "MEMORY.md"
_TOOLS = re.compile(r'"kind": ?"Tool(?:Call|Result)"')
"""Messages that no search finds, and that repeat memory's lines: they are looked through sentence by sentence."""
LEAST_SUMMARY = 200
"""Tokens that a digest in a summary's place may have at least."""
_TALKS = select(conversation.c.id, conversation.c.channel, conversation.c.space).where(belongs(conversation.c.space))
_SAID = (
    select(message.c.id, message.c.seq, message.c.turn_id, message.c.parts, message.c.at)
    .where(message.c.conversation == bindparam("row"))
    .order_by(message.c.seq)
)
_OPEN_DOOR = insert(removal)
_CLOSE_DOOR = delete(removal).where(removal.c.conversation == bindparam("row"))
_SET_PARTS = (
    update(message)
    .where(message.c.id == bindparam("row"))
    .values(parts=bindparam("fresh"), has_text=bindparam("words"))
)
_UNREDUCE = delete(reduction).where(reduction.c.message_id == bindparam("row"))
_INBOX_OF = select(turn.c.inbox_id).where(turn.c.id == bindparam("row"))
_BODY = select(inbox.c.body).where(inbox.c.id == bindparam("row"))
_NAMES_BLOB = select(message.c.id).where(message.c.parts.like(bindparam("name")))
_WAITS_WITH = select(inbox.c.id).where(inbox.c.state == word("new"), inbox.c.body.like(bindparam("name")))
_FOLDS = select(fold).where(fold.c.conversation == bindparam("row")).order_by(fold.c.at, fold.c.from_seq)
_SET_FOLD = (
    update(fold)
    .where(fold.c.id == bindparam("row"))
    .values(
        log_text=bindparam("log"),
        summary=bindparam("gist"),
        summary_tokens=bindparam("gist_tokens"),
        why=bindparam("reasons"),
        summary_tainted=bindparam("outside"),
    )
)
_STALE = update(fold).where(fold.c.id == bindparam("row")).values(state=word("stale"))
_ADD_FOLD = insert(fold)
_ANEW = {"state": "planned", "log_text": "", "summary": "", "summary_tokens": 0, "source_sha256": "", "log_ref": ""}


@dataclass(slots=True, kw_only=True)
class _Tally:
    """An `Erased` while it is made. messages: ids of those that were changed."""

    messages: set[str] = field(default_factory=set)
    said: list[SaidThere] = field(default_factory=list)
    conversations: list[str] = field(default_factory=list)
    blobs: set[str] = field(default_factory=set)
    summaries: int = 0
    records: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Gist:
    """A fold's summary as it is now. tainted: a line of it may rest on words from outside."""

    text: str = ""
    tokens: int = 0
    tainted: bool = False


async def erase(tx: Tx, space: str, targets: Targets) -> Erased:
    """Redact everything of a space and its members in the record; a second time finds nothing more to do."""
    tally = _Tally()
    for talk in await tx.all(_TALKS, space=space):
        await _Talk(tx=tx, row=talk, targets=targets, tally=tally).erase()
    for member in await members_of(tx, space):
        lines = targets.needle(f"{SPACES}/{member}/{LONG_TERM}" if member else LONG_TERM)
        tally.records += await redact_space(tx, member, targets.needle(), lines)
    blobs = [name for name in sorted(tally.blobs) if not await _shown_elsewhere(tx, name, tally.messages)]
    await afp("forget.in_txn")
    return Erased(
        said=tuple(tally.said),
        conversations=tuple(tally.conversations),
        blobs=tuple(blobs),
        summaries=tally.summaries,
        records=tally.records,
    )


async def _shown_elsewhere(tx: Tx, name: str, changed: set[str]) -> bool:
    """Whether a message that stays as it is, or one that nobody has answered yet, shows the same file."""
    shown = {row["id"] for row in await tx.all(_NAMES_BLOB, name=f"%{name}%")}
    return bool(shown - changed) or await tx.one(_WAITS_WITH, name=f"%{name}%") is not None


@dataclass(slots=True, kw_only=True)
class _Talk:
    """One conversation of the space. changed: its redacted messages by id, with their seqs."""

    tx: Tx
    row: Row
    targets: Targets
    tally: _Tally
    changed: dict[str, int] = field(default_factory=dict)
    turns: set[str] = field(default_factory=set)

    async def erase(self) -> None:
        id, needle = self.row["id"], self.targets.needle()
        await self._messages()
        told = Told(turns=frozenset(self.turns), inbox=await self._heard(), asked=self.targets.row)
        await redact_conversation(self.tx, id, needle, told)
        await drop_found(self.tx, id, needle, told)
        folds = await self._folds(needle)
        shown = await self._snapshot(needle)
        if self.changed or folds or shown:
            await raise_generation(self.tx, id, "forget")
            self.tally.conversations.append(id)

    async def _messages(self) -> None:
        chosen = {item.message_id for item in self.targets.taken}
        left = {item.message_id for item in self.targets.left} - {""}
        needle, literal = self.targets.needle(), Needle(query=self.targets.query)
        for row in await self.tx.all(_SAID, row=self.row["id"]):
            mine = row["id"] in chosen or (not needle.only and _TOOLS.search(row["parts"]) is not None)
            if row["id"] in left or not (mine or (not needle.only and may_hold(row["parts"], literal.query))):
                continue
            before = load_parts(row["parts"])
            after = redacted_parts(before, replace(needle, only=False) if mine else literal, near=mine)
            if after != before:
                await self._change(row, before, after)
        await self.tx.run(_CLOSE_DOOR, row=self.row["id"])

    async def _change(self, row: Row, before: Sequence[Part], after: tuple[Part, ...]) -> None:
        if not self.changed:
            await self.tx.run(_OPEN_DOOR, conversation=self.row["id"])
        self.changed[row["id"]] = row["seq"]
        self.tally.messages.add(row["id"])
        self.turns.add(row["turn_id"])
        self.tally.said.append(SaidThere(channel=self.row["channel"], at=moment(row["at"])))
        words = any(isinstance(part, Text | Document) and not only_marks(part.text) for part in after)
        await self.tx.run(_SET_PARTS, row=row["id"], fresh=dump_parts(after), words=words)
        await self.tx.run(_UNREDUCE, row=row["id"])
        changed = {
            old.sha256 for old, new in zip(before, after, strict=True) if old != new and isinstance(old, Document)
        }
        if changed:
            self.tally.blobs |= changed | await self._raw_files(row["id"])

    async def _raw_files(self, id: str) -> set[str]:
        """The attachments as they came, named by the inbox row that the message was made of."""
        row = await self.tx.one(_BODY, row=id)
        files = json.loads(row["body"]).get("files", ()) if row and row["body"] else ()
        return {str(file[0]) for file in files if file[0]}

    async def _heard(self) -> frozenset[str]:
        rows = [await self.tx.one(_INBOX_OF, row=id) for id in self.turns]
        return frozenset(row["inbox_id"] for row in rows if row) | self.changed.keys()

    async def _folds(self, needle: Needle) -> bool:
        """Every fold, oldest first, since a later one's summary takes up the earlier's; whether any was changed."""
        touched = False
        summaries: dict[str, _Gist] = {}
        for row in await self.tx.all(_FOLDS, row=self.row["id"]):
            fresh = {name: redacted(row[name], needle) for name in ("log_text", "summary")}
            fresh["why"] = redacted_json(row["why"], needle)
            overlaps = any(row["from_seq"] <= seq <= row["to_seq"] for seq in self.changed.values())
            if row["state"] in OPEN and (overlaps or any(fresh[name] != row[name] for name in fresh)):
                await self._anew(row)
                fresh |= {"log_text": "", "summary": ""}
            gist = await self._gist(row, fresh["summary"], summaries.get(row["prev_fold"], _Gist()))
            summaries[row["id"]] = gist
            if (gist.text, fresh["log_text"], fresh["why"]) != (row["summary"], row["log_text"], row["why"]):
                written = {"log": fresh["log_text"], "reasons": fresh["why"], "outside": int(gist.tainted)}
                await self.tx.run(_SET_FOLD, row=row["id"], gist=gist.text, gist_tokens=gist.tokens, **written)
                self.tally.summaries += row["state"] not in OPEN
                touched = True
        return touched

    async def _gist(self, row: Row, fresh: str, before: _Gist) -> _Gist:
        """The redacted summary; where nothing of it is left, the digest of what is left to digest."""
        if fresh == row["summary"] or not fresh or not only_marks(fresh):
            return _Gist(text=fresh, tokens=row["summary_tokens"], tainted=bool(row["summary_tainted"]))
        held = await messages(self.tx, self.row["id"], row["from_seq"], row["to_seq"])
        text = digest(held, before.text, WEIGHTED, max(LEAST_SUMMARY, row["summary_tokens"]))
        return _Gist(text=text, tokens=WEIGHTED.text(text), tainted=before.tainted or tainted(held))

    async def _anew(self, row: Row) -> None:
        """A fold under way has read what is forgotten: it goes stale; a log that a clear left to it is begun anew."""
        if not row["log_only"]:
            await stale_open(self.tx, self.row["id"])
            return
        await self.tx.run(_STALE, row=row["id"])
        await self.tx.run(_ADD_FOLD, **{**row, **_ANEW, "id": new_id(self.tx.now), "log_only": True})

    async def _snapshot(self, needle: Needle) -> bool:
        """What the prefix shows of files is taken anew where it mentions it."""
        held = await read_snapshot(self.tx, self.row["id"])
        if held is None or all(redacted(part.text, needle) == part.text for part in held.parts):
            return False
        await forget_snapshot(self.tx, self.row["id"])
        return True
