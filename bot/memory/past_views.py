"""Rebuilds past requests from their manifests, and compares two of them."""

import json
from dataclasses import dataclass
from itertools import groupby
from zoneinfo import ZoneInfo

from bot.config.schema import MACHINE_ZONE
from bot.memory.view_recorder import checksum, load_tools
from bot.models.base import Request
from memory.context.tokens import TokenCounter
from memory.context.view import ContextView, assemble_view
from memory.conversation import Session, ShownMessage, Turn, load_parts
from memory.store.longterm.views import PastView, ViewEntryKind, ViewRow

LOST_TEXT = "[no longer kept]"  # stands for a text that is not stored any more


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
    texts: dict[tuple[ViewEntryKind, str], str] = {
        (entry.kind, entry.source): past.texts[entry.version].text if entry.version in past.texts else LOST_TEXT
        for entry in row.entries
        if entry.kind in ("system", "suffix", "note")
    }
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
    named = {entry.version for entry in row.entries if entry.kind in ("system", "tools", "suffix", "note", "added")}
    exact = named == past.texts.keys() and checksum(messages) == row.checksum and not row.forgotten
    return RebuiltView(row=row, session=session, request=request, view=view, texts=texts, added=added, exact=exact)


def _text_of_kind(past: PastView, kind: str) -> str:
    found = (past.texts.get(entry.version) for entry in past.row.entries if entry.kind == kind)
    return next((text.text for text in found if text), "")


def _rebuild_session(past: PastView) -> Session:
    row = past.row
    turns = tuple(
        Turn(number=number, messages=tuple(group)) for number, group in groupby(past.messages, key=lambda one: one.turn)
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
