"""Rebuilds past requests from their manifests, and compares two of them."""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal
from zoneinfo import ZoneInfo

from bot.agent.context.recorder import checksum, load_tools
from bot.config.schema import MACHINE_ZONE
from bot.memory.view_segments import (
    MAX_SEGMENT_CHARS,
    fixed_segments,
    make_segment,
    session_segments,
    to_piece,
)
from bot.models.base import Request
from memory.context.tokens import TokenCounter
from memory.context.view import ContextView, assemble_view
from memory.conversation import Session, ShownMessage, Turn, load_parts
from memory.store.longterm.views import PastView, ViewEntryKind, ViewRow
from memory.store.rows import from_unix

LOST_TEXT = "[no longer kept]"  # stands for a text that is not stored any more
# entries whose text is shown as it is, and those that hold JSON
_SHOWN_KINDS, _JSON_KINDS = ("system", "suffix", "note"), ("tools", "added")


@dataclass(frozen=True, slots=True, kw_only=True)
class RebuiltView:
    """A past request, as it can be rebuilt now."""

    row: ViewRow
    #: What was shown of the conversation.
    session: Session
    request: Request
    view: ContextView
    #: Texts of the entries that have one of their own, by kind and source; `system` in order.
    texts: dict[tuple[ViewEntryKind, str], str]
    #: Messages of a step that was continued.
    added: tuple[ShownMessage, ...]
    #: It is what was sent, byte for byte.
    exact: bool


def rebuild_view(past: PastView, counter: TokenCounter) -> RebuiltView:
    """Rebuild a request from its manifest. Pure."""
    row, session = past.row, _rebuild_session(past)
    texts = _shown_texts(past)
    tools_text = _text_of_kind(past, "tools") or "[]"
    view = assemble_view(
        session,
        tuple(texts[entry.kind, entry.source] for entry in row.entries if entry.kind == "system"),
        load_tools(tools_text),
        counter,
        texts.get(("suffix", ""), ""),
        texts.get(("note", ""), ""),
    )
    added = tuple(
        ShownMessage(role=role, parts=load_parts(parts))
        for role, parts in json.loads(_text_of_kind(past, "added") or "[]")
    )
    messages = (*view.shown[: row.same if row.same >= 0 else None], *added)
    request = Request(
        model=row.model,
        system=view.system,
        messages=messages,
        tools=view.tools,
        max_tokens=row.max_tokens,
        stable=view.stable,
        conversation=row.conversation,
        space=row.space,
        size=row.tokens,
        may_call=not row.closed,
    )
    named = {entry.version for entry in row.entries if entry.kind in (*_SHOWN_KINDS, *_JSON_KINDS)}
    exact = named == past.texts.keys() and checksum(messages) == row.checksum and not row.forgotten
    return RebuiltView(
        row=row, session=session, request=request, view=view, texts=texts, added=added, exact=exact
    )


def _shown_texts(past: PastView) -> dict[tuple[ViewEntryKind, str], str]:
    """Return the texts that a view shows as they are; `LOST_TEXT` for one that is deleted."""
    texts: dict[tuple[ViewEntryKind, str], str] = {}
    for entry in past.row.entries:
        if entry.kind in _SHOWN_KINDS:
            stored = past.texts.get(entry.version)
            texts[entry.kind, entry.source] = stored.text if stored else LOST_TEXT
    return texts


def _text_of_kind(past: PastView, kind: str) -> str:
    found = (past.texts.get(entry.version) for entry in past.row.entries if entry.kind == kind)
    return next((text.text for text in found if text), "")


def _rebuild_session(past: PastView) -> Session:
    row = past.row
    turns = tuple(
        Turn(number=number, messages=tuple(group))
        for number, group in groupby(past.messages, key=lambda one: one.turn)
    )
    return Session(
        conversation=row.conversation,
        space=row.space,
        epoch=row.epoch,
        next_seq=row.to_seq + 1,
        next_turn=row.turn + 1,
        view_from=row.from_seq,
        fold_head=row.fold_head,
        summary=past.summary,
        turns=turns,
        reductions=past.reductions,
        running=row.turn,
        model=row.model,
        prefix_generation=row.generation,
        zone=ZoneInfo(row.zone) if row.zone else MACHINE_ZONE,
    )


# What the console shows of them.


def view_to_json(row: ViewRow, before: ViewRow | None = None) -> dict[str, Any]:
    """Return the figures of a call. before: the call before it, to say what of its prefix was not
    repeated.
    """
    parts = dict.fromkeys(("system", "tools", "summary", "history", "running"), 0)
    for entry in row.entries:
        parts[entry.kind if entry.kind in parts else "running"] += entry.tokens
    return {
        "number": row.number,
        "turn": row.turn,
        "at": from_unix(row.at).isoformat(),
        "model": row.model,
        "answered": row.answered,
        "policy": row.policy,
        "budget": row.budget,
        "tokens": row.tokens,
        "parts": parts,
        "input": row.input,
        "output": row.output,
        "cache_read": row.cache_read,
        "cache_write": row.cache_write,
        "ms": row.ms,
        "forgotten": row.forgotten,
        "tainted": any(entry.tainted for entry in row.entries),
        "broke": find_break(before, row) if before else "",
    }


def find_break(before: ViewRow, row: ViewRow) -> str:
    """Say why a call did not repeat the prefix of the one before it; "" if it did. Pure.

    Returns:
        model, tools, clear, fold, reduction, or the name of the part of the system prompt that is
        not the same.
    """
    if before.model != row.model:
        return "model"
    former, newer = (
        {entry.source: entry.version for entry in one.entries if entry.kind in ("tools", "system")}
        for one in (before, row)
    )
    if before.epoch != row.epoch:
        return "clear"
    if before.fold_head != row.fold_head:
        return "fold"
    for name in (*newer, *former):
        if former.get(name) != newer.get(name):
            return name
    return "reduction" if before.generation != row.generation else ""


def rebuilt_to_json(view: RebuiltView, counter: TokenCounter) -> dict[str, Any]:
    """Return a past request with its texts, in the order in which the model read them. Pure."""
    return {**view_to_json(view.row), "exact": view.exact, "items": _segments(view, counter)}


def _segments(
    view: RebuiltView, counter: TokenCounter, most: int = MAX_SEGMENT_CHARS
) -> list[dict[str, Any]]:
    parts = [
        (entry.source, view.texts[entry.kind, entry.source])
        for entry in view.row.entries
        if entry.kind == "system"
    ]
    suffix, note = view.texts.get(("suffix", ""), ""), view.texts.get(("note", ""), "")
    segments = [
        *fixed_segments(parts, view.view.tools, counter, most),
        *session_segments(view.session, counter, suffix, note, most),
    ]
    if view.added:
        pieces = [
            {"role": message.role, **to_piece(part)}
            for message in view.added
            for part in message.parts
        ]
        tokens = sum(counter.message(message.parts) for message in view.added)
        segments.append(make_segment("running", "added", tokens, pieces, most))
    return segments


@dataclass(frozen=True, slots=True, kw_only=True)
class _Unit:
    """One part of a request, as two are compared."""

    kind: str
    name: str
    turn: int | None
    tokens: int
    text: str
    #: Role, kind and length of each of its pieces.
    form: tuple[tuple[str, str, int], ...]
    #: The next call may repeat it from the provider's cache.
    lasts: bool

    @property
    def key(self) -> tuple[str, str, int | None]:
        return ("turn" if self.turn else self.kind, self.name, self.turn)

    @property
    def content(self) -> tuple[object, ...]:
        """What is the same in two requests if it is sent in the same bytes."""
        return (self.key, self.text, self.form)


DiffState = Literal["kept", "added", "left_out", "changed"]


def diff_views(before: RebuiltView, after: RebuiltView, counter: TokenCounter) -> dict[str, Any]:
    """Compare two requests of a conversation: what stayed, came, went and changed, and what broke
    the prefix.

    Pure.
    """
    same_turn = before.row.turn == after.row.turn
    old, new = (
        _units(before, counter, lasts_running=same_turn),
        _units(after, counter, lasts_running=same_turn),
    )
    items = _compare(old, new)
    return {
        "before": view_to_json(before.row),
        "after": view_to_json(after.row),
        "items": items,
        "broke": _broken_prefix(before.row, after.row, old, new),
    }


def _units(view: RebuiltView, counter: TokenCounter, *, lasts_running: bool) -> list[_Unit]:
    """The parts of a request in the order in which a provider's cache reads them: tools first."""
    units = [
        _Unit(
            kind=one["kind"],
            name=one["name"],
            turn=one.get("turn"),
            tokens=one["tokens"],
            text="".join(piece["text"] for piece in one["pieces"]),
            form=tuple(
                (piece.get("role", ""), piece["kind"], len(piece["text"]))
                for piece in one["pieces"]
            ),
            lasts=one["kind"] != "running" or (lasts_running and one["name"] != "added"),
        )
        for one in _segments(view, counter, sys.maxsize)
    ]
    return sorted(units, key=lambda one: one.kind != "tools")


def _compare(old: Sequence[_Unit], new: Sequence[_Unit]) -> list[dict[str, Any]]:
    """List the parts of both, in the newer one's order; what was left out stands where it was."""
    former, newer = {one.key: one for one in old}, {one.key for one in new}
    gone: dict[tuple[str, str, int | None] | None, list[_Unit]] = {}
    waiting: list[_Unit] = []
    for one in old:
        if one.key in newer:
            gone[one.key], waiting = waiting, []
        else:
            waiting.append(one)
    items = []
    for one in new:
        items += [_item(left, "left_out", left.tokens, 0) for left in gone.get(one.key, ())]
        known = former.get(one.key)
        state: DiffState = (
            "added" if known is None else "kept" if known.content == one.content else "changed"
        )
        items.append(_item(one, state, known.tokens if known else 0, one.tokens))
    return [*items, *(_item(left, "left_out", left.tokens, 0) for left in waiting)]


def _item(unit: _Unit, state: DiffState, before: int, after: int) -> dict[str, Any]:
    named = {"kind": unit.kind, "name": unit.name, "turn": unit.turn}
    return {**named, "state": state, "tokens_before": before, "tokens_after": after}


def _broken_prefix(
    before: ViewRow, after: ViewRow, old: Sequence[_Unit], new: Sequence[_Unit]
) -> dict[str, Any] | None:
    """Find where the newer request stops repeating the older one's prefix; None if it repeats it
    whole.
    """
    prefix = [unit for unit in old if unit.lasts]
    is_same_model = before.model == after.model
    place = _first_difference(prefix, new) if is_same_model else 0
    if place is None:
        return None
    broken = prefix[place]
    known = {unit.content for unit in prefix}
    tokens = sum(unit.tokens for unit in new[place:] if unit.content in known)
    byte = sum(len(unit.text.encode("utf-8", "replace")) for unit in prefix[:place])
    if is_same_model and place < len(new) and new[place].key == broken.key:
        byte += _common_bytes(broken.text, new[place].text)
    named = {"kind": broken.kind, "name": broken.name, "turn": broken.turn}
    return {**named, "why": find_break(before, after) or "other", "byte": byte, "tokens": tokens}


def _first_difference(prefix: Sequence[_Unit], new: Sequence[_Unit]) -> int | None:
    """Return the place of the first unit that the newer request lacks or has in another form."""
    for place, unit in enumerate(prefix):
        if place >= len(new) or unit.content != new[place].content:
            return place
    return None


def _common_bytes(one: str, other: str) -> int:
    left, right = one.encode("utf-8", "replace"), other.encode("utf-8", "replace")
    return next(
        (at for at, (a, b) in enumerate(zip(left, right, strict=False)) if a != b),
        min(len(left), len(right)),
    )
