"""Records what each request to the model showed; the rows are stored with the step or the end of
its turn.
"""

import hashlib
import json
import time
import zlib
from array import array
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain
from operator import attrgetter

from bot.agent.context.fitter import FittedView
from bot.config.schema import Config
from bot.models.base import Answer, Request
from memory.context.tokens import TokenCounter
from memory.context.view import count_text
from memory.conversation import (
    Image,
    Part,
    Session,
    ShownMessage,
    Text,
    ToolCall,
    ToolSpec,
    Turn,
    dump_parts,
)
from memory.store.errors import StoreError
from memory.store.longterm.views import (
    NewView,
    RecalledPlace,
    ViewBatch,
    ViewEntry,
    ViewEntryKind,
    ViewText,
    ViewTextForm,
    text_scope,
)
from memory.store.rows import TurnRow

MAX_PENDING_TURNS = 1_000  # whose calls wait for a commit; more than run at once
MAX_KNOWN_TEXTS = 5_000
DAY_SECONDS = 86_400.0

OnAnswer = Callable[[Answer], None]
OnRequest = Callable[[Request], OnAnswer]  # called before each request of a step


class ViewRecorder:
    """Collects the manifests of a turn's calls until its next commit."""

    def __init__(self, config: Callable[[], Config], now: Callable[[], float]) -> None:
        """now: unix seconds by the store's clock."""
        self._config = config
        self._now = now
        self._pending: OrderedDict[str, _PendingTurn] = OrderedDict()
        #: Texts of spaces that are stored, with the day on which their use was noted.
        self._known: OrderedDict[tuple[str, str, str, int], None] = OrderedDict()

    def recorder(self, turn: TurnRow, fitted: FittedView, counter: TokenCounter) -> OnRequest:
        """Return what to call before each request of this view."""
        if not self._config().console.views_days:
            return lambda request: lambda answer: None

        def begin(request: Request) -> OnAnswer:
            calls = self._pending_turn(turn.id).calls
            view, texts = build_view(
                turn, fitted, request, counter, self._now(), self._config().timezone
            )
            place, began = len(calls), time.perf_counter()
            calls.append((view, texts))

            def end(answer: Answer) -> None:
                calls[place] = (_with_answer(view, answer, time.perf_counter() - began), texts)

            return end

        return begin

    def note_recalled(self, turn_id: str, places: tuple[RecalledPlace, ...]) -> None:
        """Note where the passages are that were recalled for a turn."""
        self._pending_turn(turn_id).recalled = places

    @contextmanager
    def storing(self, turn_id: str) -> Iterator[ViewBatch]:
        """Give what to store for a turn with the commit in the body.

        Only what the store refuses waits for the next commit: a write goes on though its caller is
        cancelled.
        """
        waiting, day = self._pending.pop(turn_id, _PendingTurn()), int(self._now() // DAY_SECONDS)
        texts = {_key(text, day): text for _, needed in waiting.calls for text in needed}
        new = tuple(text for key, text in texts.items() if key not in self._known)
        try:
            yield ViewBatch(
                views=tuple(view for view, _ in waiting.calls), texts=new, recalled=waiting.recalled
            )
        except StoreError:
            self._pending[turn_id] = waiting
            raise
        # A conversation's own texts carry the time of their turn, so that no later turn shows one
        # again.
        self._known.update(dict.fromkeys(_key(text, day) for text in new if not text.conversation))
        while len(self._known) > MAX_KNOWN_TEXTS:
            self._known.popitem(last=False)

    def _pending_turn(self, turn_id: str) -> "_PendingTurn":
        found = self._pending.setdefault(turn_id, _PendingTurn())
        while len(self._pending) > MAX_PENDING_TURNS:
            self._pending.popitem(last=False)
        return found


@dataclass(slots=True, kw_only=True)
class _PendingTurn:
    """What of a turn waits for its next commit."""

    calls: list[tuple[NewView, tuple[ViewText, ...]]] = field(default_factory=list)
    recalled: tuple[RecalledPlace, ...] = ()


def _key(text: ViewText, day: int) -> tuple[str, str, str, int]:
    return (text.conversation, text.space, text.sha256, day)


def _with_answer(view: NewView, answer: Answer, seconds: float) -> NewView:
    used = answer.usage
    return replace(
        view,
        answered=answer.requested or view.model,
        input=used.input,
        output=used.output,
        cache_read=used.cache_read,
        cache_write=used.cache_write,
        ms=round(seconds * 1_000),
    )


def build_view(
    turn: TurnRow, fitted: FittedView, request: Request, counter: TokenCounter, at: float, zone: str
) -> tuple[NewView, tuple[ViewText, ...]]:
    """Build the manifest of a request, and the texts that it refers to. Pure."""
    session, shown = fitted.session, fitted.view.shown
    same = _count_same(shown, request.messages)
    added = request.messages[same:]
    contents = [
        *_fixed_contents(fitted, counter),
        *_session_contents(session, fitted, counter),
        *_added_contents(added, counter),
    ]
    entries = tuple(entry for entry, _ in contents)
    texts = tuple(
        ViewText(
            **text_scope(entry, session.conversation, session.space),
            sha256=entry.version,
            form=_form(entry),
            text=text.replace("\0", "\N{REPLACEMENT CHARACTER}"),  # PostgreSQL stores no NUL
        )
        for entry, text in contents
        if text is not None
    )
    view = NewView(
        turn_id=turn.id,
        turn=turn.number,
        epoch=session.epoch,
        space=session.space,
        fold_head=session.fold_head if session.summary else "",
        from_seq=session.turns[0].first_seq,
        to_seq=session.turns[-1].last_seq,
        generation=session.prefix_generation,
        zone=zone,
        model=request.model,
        policy=fitted.fit_limits.policy.name,
        budget=fitted.fit_limits.limits.budget,
        max_tokens=request.max_tokens,
        same=-1 if same == len(shown) and not added else same,
        closed=not request.may_call,
        entries=entries,
        tokens=fitted.view.tokens.total
        + sum(entry.tokens for entry in entries if entry.kind == "added"),
        checksum=checksum(request.messages),
        at=at,
    )
    return view, texts


def _count_same(shown: Sequence[ShownMessage], sent: Sequence[ShownMessage]) -> int:
    """Count the messages that a request has from its view; a continued step adds others, or
    replaces the last.
    """
    if sent is shown:
        return len(shown)
    same = 0
    while same < min(len(shown), len(sent)) and shown[same] is sent[same]:
        same += 1
    return same


def _fixed_contents(
    fitted: FittedView, counter: TokenCounter
) -> Iterator[tuple[ViewEntry, str | None]]:
    for part in fitted.fit_limits.parts:
        if part.text:
            tokens = count_text(counter, part.text)
            yield (
                ViewEntry(
                    kind="system", source=part.name, version=_hash_fixed(part.text), tokens=tokens
                ),
                part.text,
            )
    if fitted.view.tools:
        text = dump_tools(fitted.view.tools)
        tokens = fitted.view.tokens.tools
        yield (
            ViewEntry(kind="tools", source="tools", version=_hash_fixed(text), tokens=tokens),
            text,
        )


def _session_contents(
    session: Session, fitted: FittedView, counter: TokenCounter
) -> Iterator[tuple[ViewEntry, str | None]]:
    tokens, generation = fitted.view.tokens, str(session.prefix_generation)
    if summary := session.summary:
        yield (
            ViewEntry(
                kind="summary",
                source=summary.fold_id,
                version="",
                tokens=tokens.summary,
                tainted=summary.tainted,
            ),
            None,
        )
    extra = sum(count_text(counter, text) for text in (fitted.suffix, fitted.note))
    running = [turn for turn in session.turns if turn.number == session.running]
    history = [turn for turn in session.turns if turn.number != session.running]
    parts: tuple[tuple[ViewEntryKind, list[Turn], int], ...] = (
        ("history", history, tokens.history),
        ("running", running, tokens.running - extra),
    )
    for kind, turns, count in parts:
        if turns:
            tainted = any(map(_TAINTED, chain.from_iterable(map(_MESSAGES, turns))))
            source = f"{turns[0].first_seq}–{turns[-1].last_seq}"
            yield (
                ViewEntry(
                    kind=kind, source=source, version=generation, tokens=count, tainted=tainted
                ),
                None,
            )
    own: tuple[tuple[ViewEntryKind, str, bool], ...] = (
        ("suffix", fitted.suffix, fitted.tainted),
        ("note", fitted.note, False),
    )
    for kind, text, tainted in own:
        if text:
            version, count = _hash_text(text), count_text(counter, text)
            yield (
                ViewEntry(
                    kind=kind, source="", version=version, tokens=count, tainted=tainted, own=True
                ),
                text,
            )


def _added_contents(
    added: Sequence[ShownMessage], counter: TokenCounter
) -> Iterator[tuple[ViewEntry, str | None]]:
    if added:
        text = dump_messages(added)
        tokens = sum(counter.message(message.parts) for message in added)
        yield (
            ViewEntry(kind="added", source="", version=_hash_text(text), tokens=tokens, own=True),
            text,
        )


def _form(entry: ViewEntry) -> ViewTextForm:
    if entry.kind == "tools":
        return "tools"
    return "parts" if entry.kind == "added" else "plain"


def _hash_text(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


# of parts that are the same in most requests, and long
_hash_fixed = lru_cache(maxsize=64)(_hash_text)


@lru_cache(maxsize=16)
def dump_tools(tools: tuple[ToolSpec, ...]) -> str:
    """Return descriptions of tools as JSON."""
    fields = ("name", "description", "schema", "effect", "action")
    return json.dumps(
        [{name: getattr(tool, name) for name in fields} for tool in tools], ensure_ascii=False
    )


def load_tools(text: str) -> tuple[ToolSpec, ...]:
    """The inverse of `dump_tools`, for what a model is shown of them."""
    return tuple(ToolSpec(**fields) for fields in json.loads(text))


def dump_messages(messages: Sequence[ShownMessage]) -> str:
    """Return messages as JSON."""
    return json.dumps(
        [[message.role, dump_parts(message.parts)] for message in messages], ensure_ascii=False
    )


def checksum(messages: Sequence[ShownMessage]) -> str:
    """Return a CRC-32 over the lengths of all texts of messages.

    A request is rebuilt of rows and texts that only forgetting changes, which marks it. So what is
    left to notice is another way of writing them, by a later version: a note, a heading, a shorter
    form. Reading all bytes of a long view with each call would take longer than all else that is
    recorded of it.
    """
    lengths = array(
        "L",
        [
            len(part.text if type(part) is Text else _TEXT_OF.get(type(part), _TEXT)(part))
            for one in messages
            for part in one.parts
        ],
    )
    return f"{zlib.crc32(lengths):08x}"


_TEXT, _TAINTED, _MESSAGES = attrgetter("text"), attrgetter("tainted"), attrgetter("messages")
_TEXT_OF: dict[type[Part], Callable[[Part], str]] = {
    ToolCall: attrgetter("input"),
    Image: attrgetter("sha256"),
}
