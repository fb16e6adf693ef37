"""Stores what each request to a model showed: a manifest that refers to rows, and the texts that no
other row has.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import bindparam, delete, func, or_, select, true, tuple_, update

from memory.conversation import Message, Reduction, Summary, dump_parts, load_parts
from memory.redaction import redact_parts, redact_text
from memory.store.engine.database import (
    InsertIfAbsent,
    Repository,
    Row,
    Tx,
    insert_into,
    read,
    write,
)
from memory.store.rows import TurnRow, column_values, columns_of, from_row, to_message
from memory.store.schema.memory_tables import view_manifest, view_text
from memory.store.schema.tables import MAX_INTEGER, fold, literal_text, message, reduction, turn
from memory.text.mentions import MentionMatcher

ViewEntryKind = Literal[
    "system", "tools", "summary", "history", "running", "suffix", "note", "added"
]
# plain: words; parts: messages as JSON; tools: descriptions of tools as JSON, in which no person's
# words are.
ViewTextForm = Literal["plain", "parts", "tools"]
_DAY_SECONDS = 86_400.0
# texts that are read together; a server ends a transaction that is idle for seconds
REDACTED_AT_ONCE = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewText:
    """A text of a request that no other row has."""

    #: Of whose requests it is a part; "" for those of the whole space.
    conversation: str
    #: The space whose words it has; "" for the owner's, and for the bot's own texts.
    space: str
    sha256: str
    form: ViewTextForm
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewEntry:
    """One part of a request, in the order in which the model reads them."""

    kind: ViewEntryKind
    #: Name of the file or part, id of the fold, or "from–to", the seqs of the messages.
    source: str
    #: SHA-256 of its ViewText, or the generation of the reductions that shorten its messages.
    version: str
    tokens: int
    tainted: bool = False
    #: It is a text of its conversation alone.
    own: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NewView:
    """What one call of the model showed."""

    turn_id: str
    #: Number of the turn.
    turn: int
    epoch: int
    space: str
    fold_head: str
    #: Seq of the first and of the last message in it.
    from_seq: int
    to_seq: int
    #: Reductions of a later generation did not exist yet.
    generation: int
    #: Name of the zone of its times; "" for the machine's.
    zone: str
    model: str
    policy: str
    #: Tokens that the request might have, by our count.
    budget: int
    max_tokens: int
    #: So many messages of the view are followed by those in the entry `added`; -1 for all, with
    #: none added.
    same: int
    #: No more tools might be called.
    closed: bool
    entries: tuple[ViewEntry, ...]
    #: Of the whole request, by our count.
    tokens: int
    #: CRC-32 over the lengths of the texts of its messages.
    checksum: str
    at: float
    #: Id of the model that answered, which another one may have stood in for; "" if none did.
    answered: str = ""
    #: Tokens as the provider counted them; 0 without an answer.
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    #: Milliseconds until the answer was complete.
    ms: int = 0


MAX_RECALLED = 20  # places of one turn


@dataclass(frozen=True, slots=True, kw_only=True)
class RecalledPlace:
    """Where a passage is that a turn was given of memory: lines of a file, or a turn of a
    conversation.
    """

    path: str = ""
    line: int = 0
    last: int = 0
    conversation: str = ""
    turn: int = 0


def dump_recalled(places: Sequence[RecalledPlace]) -> str:
    """Serialise places; no text is stored, so nothing of it has to be forgotten."""
    fields = RecalledPlace.__dataclass_fields__
    return json.dumps(
        [[getattr(place, name) for name in fields] for place in places[:MAX_RECALLED]]
    )


def load_recalled(text: str) -> tuple[RecalledPlace, ...]:
    """Parse what `dump_recalled` wrote; "" means none."""
    fields = RecalledPlace.__dataclass_fields__
    return tuple(
        RecalledPlace(**dict(zip(fields, values, strict=True)))
        for values in json.loads(text or "[]")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewBatch:
    """What the calls of a turn showed, to store with its next step or its end."""

    views: tuple[NewView, ...] = ()
    #: Where the passages are that were recalled for the turn.
    recalled: tuple[RecalledPlace, ...] = ()
    #: Those of their texts that may not be stored yet.
    texts: tuple[ViewText, ...] = ()


NO_VIEWS = ViewBatch()


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewRow(NewView):
    """A stored manifest."""

    conversation: str
    #: Of the call in its conversation, from 1.
    number: int
    #: Something that it showed was forgotten since.
    forgotten: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PastView:
    """A manifest with everything that it refers to."""

    row: ViewRow
    messages: tuple[Message, ...]
    reductions: tuple[Reduction, ...]
    summary: Summary | None
    #: By SHA-256; a text that is no longer stored is missing.
    texts: dict[str, ViewText]


VIEW_TABLES = (view_manifest, view_text)
_INSERT_TEXT = InsertIfAbsent(view_text)
_OF_CONVERSATION = view_manifest.c.conversation == bindparam("conversation")
_IS_TEXT = (
    (view_text.c.conversation == bindparam("conversation"))
    & (view_text.c.space == bindparam("space"))
    & (view_text.c.sha256 == bindparam("sha256"))
)
_USE_TEXT = (
    update(view_text)
    .where(_IS_TEXT, view_text.c.day < bindparam("new_day"))
    .values(day=bindparam("new_day"))
)
_SET_RECALLED = (
    update(turn).where(turn.c.id == bindparam("id")).values(recalled=bindparam("new_recalled"))
)
_NEWEST = select(func.coalesce(func.max(view_manifest.c.number), 0).label("count")).where(
    _OF_CONVERSATION
)
_SELECT = select(*columns_of(ViewRow, view_manifest))
_SELECT_ONE = _SELECT.where(_OF_CONVERSATION, view_manifest.c.number == bindparam("number"))
_SELECT_PAGE = (
    _SELECT.where(_OF_CONVERSATION, view_manifest.c.number < bindparam("before"))
    .order_by(view_manifest.c.number.desc())
    .limit(bindparam("limit"))
)
_SELECT_MESSAGES = (
    select(*columns_of(Message, message))
    .where(
        message.c.conversation == bindparam("conversation"),
        message.c.seq >= bindparam("from_seq"),
        message.c.seq <= bindparam("to_seq"),
    )
    .order_by(message.c.seq)
)
# In the order of prompt_state.load_live_reductions: the later of two for one part wins.
_SELECT_REDUCTIONS = (
    select(*columns_of(Reduction, reduction))
    .join(message, message.c.id == reduction.c.message_id)
    .where(
        message.c.conversation == bindparam("conversation"),
        message.c.seq >= bindparam("from_seq"),
        message.c.seq <= bindparam("to_seq"),
        reduction.c.prefix_generation <= bindparam("generation"),
    )
    .order_by(reduction.c.prefix_generation, message.c.seq, reduction.c.part, reduction.c.form)
)
_SELECT_FOLD = select(fold).where(fold.c.id == bindparam("id"))
_SELECT_TEXT = select(*columns_of(ViewText, view_text)).where(_IS_TEXT)


async def newest_view(tx: Tx, conversation: str) -> int:
    """Return the number of a conversation's newest manifest, 0 for none."""
    return (await tx.execute(_NEWEST, conversation=conversation)).count()


async def add_views(tx: Tx, turn_row: TurnRow, batch: ViewBatch, newest: int | None = None) -> None:
    """Store manifests with their texts, as a part of a step or of a turn's end.

    Args:
        newest: the result of `newest_view` where the caller has it already.
    """
    if batch.recalled:
        await tx.execute(_SET_RECALLED, id=turn_row.id, new_recalled=dump_recalled(batch.recalled))
    if not batch.views:
        return
    conversation = turn_row.conversation
    day = int(tx.now // _DAY_SECONDS)
    for text in batch.texts:  # in this order nobody has to know whether it is there
        await tx.execute(
            _USE_TEXT,
            conversation=text.conversation,
            space=text.space,
            sha256=text.sha256,
            new_day=day,
        )
        await tx.execute(_INSERT_TEXT, **column_values(text, view_text), day=day)
    number = await newest_view(tx, conversation) if newest is None else newest
    for view in batch.views:
        number += 1
        columns = column_values(view, view_manifest) | {"entries": dump_entries(view.entries)}
        await tx.execute(
            insert_into(view_manifest),
            **columns,
            conversation=conversation,
            number=number,
            forgotten=False,
        )


def dump_entries(entries: Sequence[ViewEntry]) -> str:
    """Serialise entries as JSON: a list each, as short as can be."""
    rows = [
        [one.kind, one.source, one.version, one.tokens, int(one.tainted), int(one.own)]
        for one in entries
    ]
    return json.dumps(rows, ensure_ascii=False, separators=(",", ":"))


def load_entries(text: str) -> tuple[ViewEntry, ...]:
    """The inverse of `dump_entries`."""
    return tuple(
        ViewEntry(
            kind=kind,
            source=source,
            version=version,
            tokens=tokens,
            tainted=bool(tainted),
            own=bool(own),
        )
        for kind, source, version, tokens, tainted, own in json.loads(text)
    )


def _to_row(row: Row) -> ViewRow:
    return from_row(ViewRow, row, entries=load_entries(row["entries"]))


async def _load_page(tx: Tx, conversation: str, before: int = 0, limit: int = 50) -> list[ViewRow]:
    """Load manifests, newest first; before: only those with a smaller number, 0 for all."""
    rows = (
        await tx.execute(
            _SELECT_PAGE, conversation=conversation, before=before or MAX_INTEGER, limit=limit
        )
    ).all()
    return [_to_row(row) for row in rows]


async def _load_past_view(tx: Tx, conversation: str, number: int) -> PastView | None:
    """Load a manifest with everything that it refers to, None if there is none of that number."""
    found = (await tx.execute(_SELECT_ONE, conversation=conversation, number=number)).first()
    if found is None:
        return None
    row = _to_row(found)
    seqs = {"conversation": conversation, "from_seq": row.from_seq, "to_seq": row.to_seq}
    reductions = (
        (await tx.execute(_SELECT_REDUCTIONS, **seqs, generation=row.generation)).all()
        if row.generation
        else []
    )
    folded = (await tx.execute(_SELECT_FOLD, id=row.fold_head)).first() if row.fold_head else None
    texts = {}
    for entry in row.entries:
        if entry.kind in ("summary", "history", "running"):
            continue
        scope = text_scope(entry, conversation, row.space)
        if (
            text := (await tx.execute(_SELECT_TEXT, **scope, sha256=entry.version)).first()
        ) is not None:
            texts[entry.version] = ViewText(**text)
    return PastView(
        row=row,
        messages=tuple(
            to_message(one) for one in (await tx.execute(_SELECT_MESSAGES, **seqs)).all()
        ),
        reductions=tuple(Reduction(**one) for one in reductions),
        summary=_to_summary(folded) if folded else None,
        texts=texts,
    )


# the bot's own texts, the same in every space
SHARED_SOURCES = ("SOUL.md", "rules", "awareness", "tools")


def text_scope(entry: ViewEntry, conversation: str, space: str) -> dict[str, str]:
    """Return whose text an entry of a conversation's manifest is: `conversation` and `space` of its
    ViewText.
    """
    if entry.own:
        return {"conversation": conversation, "space": space}
    return {"conversation": "", "space": "" if entry.source in SHARED_SOURCES else space}


def _to_summary(row: Row) -> Summary:
    return Summary(
        fold_id=row["id"],
        turns=row["turns_covered"],
        text=row["summary"],
        tokens=row["summary_tokens"],
        seen=row["seen_seq"],
        tainted=bool(row["summary_tainted"]),
        clean_lines=row["clean_lines"],
        last_turn=row["to_turn"],
    )


# Removal: by age, and of what is forgotten.

_OLDEST = (
    select(view_manifest.c.conversation, view_manifest.c.number)
    .where(view_manifest.c.at < bindparam("before"))
    .order_by(view_manifest.c.at)
    .limit(bindparam("limit"))
)
_DELETE_ONE = delete(view_manifest).where(
    _OF_CONVERSATION, view_manifest.c.number == bindparam("number")
)
_SELECT_OLD_TEXTS = (
    select(view_text.c.conversation, view_text.c.space, view_text.c.sha256)
    .where(view_text.c.day < bindparam("before"))
    .order_by(view_text.c.day)
    .limit(bindparam("limit"))
)
_DELETE_TEXT = delete(view_text).where(_IS_TEXT)
_PLACE = (view_text.c.space, view_text.c.sha256)
# Texts of a conversation, of whatever space it was when they were stored; for "" those of a whole
# space.
_SELECT_TEXTS_TO_REDACT = (
    select(*columns_of(ViewText, view_text))
    .where(
        view_text.c.conversation == bindparam("conversation"),
        or_(bindparam("conversation") != literal_text(""), view_text.c.space == bindparam("space")),
        view_text.c.form != literal_text("tools"),
        tuple_(*_PLACE) > tuple_(bindparam("after_space"), bindparam("after")),
    )
    .order_by(*_PLACE)
    .limit(REDACTED_AT_ONCE)
)
_SET_TEXT = update(view_text).where(_IS_TEXT).values(text=bindparam("new_text"))
_SELECT_UNMARKED = select(
    view_manifest.c.number,
    view_manifest.c.from_seq,
    view_manifest.c.to_seq,
    view_manifest.c.fold_head,
    view_manifest.c.entries,
).where(_OF_CONVERSATION, view_manifest.c.forgotten.is_(False))
_MARK_FORGOTTEN = (
    update(view_manifest)
    .where(_OF_CONVERSATION, view_manifest.c.number == bindparam("number"))
    .values(forgotten=true())
)


async def _delete_old(tx: Tx, before: float, limit: int) -> int:
    """Delete manifests of calls before that moment (unix seconds), and texts unused since; return
    how many rows.
    """
    rows = (await tx.execute(_OLDEST, before=before, limit=limit)).all()
    for row in rows:
        await tx.execute(_DELETE_ONE, **row)
    if len(rows) == limit:
        return limit
    texts = (
        await tx.execute(_SELECT_OLD_TEXTS, before=int(before // _DAY_SECONDS), limit=limit)
    ).all()
    for text in texts:
        await tx.execute(_DELETE_TEXT, **text)
    return len(rows) + len(texts)


async def redact_view_texts(
    tx: Tx, matcher: MentionMatcher, *, conversation: str = "", space: str = ""
) -> set[str]:
    """Redact the texts of a conversation, or those of a whole space, that mention what is
    forgotten.

    Returns:
        The names of those that were changed; they stay.
    """
    changed, after = set[str](), ("", "")
    asked = {"conversation": conversation, "space": space}
    while rows := (
        await tx.execute(_SELECT_TEXTS_TO_REDACT, **asked, after_space=after[0], after=after[1])
    ).all():
        for row in rows:
            redact = _redact_messages if row["form"] == "parts" else redact_text
            text = redact(row["text"], matcher)
            if text != row["text"]:
                key = {name: row[name] for name in ("conversation", "space", "sha256")}
                await tx.execute(_SET_TEXT, **key, new_text=text)
                changed.add(row["sha256"])
        after = row["space"], row["sha256"]
    return changed


def _redact_messages(text: str, matcher: MentionMatcher) -> str:
    """Redact messages that were stored as (role, parts as JSON)."""
    messages = [
        [role, dump_parts(redact_parts(load_parts(parts), matcher))]
        for role, parts in json.loads(text)
    ]
    return json.dumps(messages, ensure_ascii=False)


async def mark_forgotten_views(
    tx: Tx, conversation: str, seqs: Iterable[int], folds: Iterable[str], texts: Iterable[str]
) -> int:
    """Mark the manifests that refer to redacted messages, folds or texts; return how many are so
    for the first time.
    """
    seqs, folds, texts = sorted(seqs), set(folds), tuple(texts)
    if not (seqs or folds or texts):
        return 0
    marked = 0
    for row in (await tx.execute(_SELECT_UNMARKED, conversation=conversation)).all():
        showed = (
            any(row["from_seq"] <= seq <= row["to_seq"] for seq in seqs)
            or row["fold_head"] in folds
        )
        if showed or any(text in row["entries"] for text in texts):
            marked += (
                await tx.execute(_MARK_FORGOTTEN, conversation=conversation, number=row["number"])
            ).rowcount
    return marked


class Views(Repository):
    """What past requests showed. They are added by Sessions.add_step and at the end of a turn."""

    page = read(_load_page)
    past_view = read(_load_past_view)
    delete_old = write(_delete_old)
