"""Assembles the view of one request: system parts, summary, history with its reductions, and the
running turn.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from memory.context.message_rules import find_faults, repair_messages
from memory.context.reductions import Reductions, apply_reductions, index_reductions, turn_tokens
from memory.context.time_marks import time_mark_tokens, time_marks
from memory.context.tokens import TokenCounter
from memory.conversation import Session, ShownMessage, Summary, Text, ToolSpec, Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewTokens:
    """Tokens of a view by part; the suffix belongs to `running`."""

    system: int
    tools: int
    summary: int
    history: int
    running: int

    @property
    def total(self) -> int:
        return self.system + self.tools + self.summary + self.history + self.running


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextView:
    """The content of a request, without the model's name."""

    system: tuple[str, ...]
    tools: tuple[ToolSpec, ...]
    #: A message sequence that any provider accepts.
    shown: tuple[ShownMessage, ...]
    #: Number of messages in `shown` before the running turn; the next call repeats them byte for
    #: byte.
    stable: int
    tokens: ViewTokens
    #: The stored messages had to be repaired to be valid.
    repaired: bool = False


def _add_request_texts(running: list[ShownMessage], tail: str, last: str) -> None:
    """Add the texts of one request alone: after the turn's first message, and at the very end."""
    if tail:
        running[0] = replace(running[0], parts=(*running[0].parts, Text(text=tail)))
    if last:
        running[-1] = replace(running[-1], parts=(*running[-1].parts, Text(text=last)))


def assemble_view(
    session: Session,
    system: tuple[str, ...],
    tools: tuple[ToolSpec, ...],
    counter: TokenCounter,
    tail: str = "",
    last: str = "",
) -> ContextView:
    """Assemble the view of a session.

    Args:
        tail: content that changes from call to call (clock, recalled passages). It becomes the last
            text of the running turn's first user message, so never part of the prefix; without a
            running turn it is not shown.
        last: text at the very end, after the running turn's newest results.
    """
    reductions = index_reductions(session.reductions)
    history = [turn for turn in session.turns if turn.number != session.running]
    running = [turn for turn in session.turns if turn.number == session.running]
    times = time_marks(session)
    before = list(_shown_messages(history, reductions, times, running=False))
    current = list(_shown_messages(running, reductions, times, running=True))
    if current:
        _add_request_texts(current, tail, last)
    if session.summary:
        _prepend_text(before or current, Text(text=summary_text(session.summary)))
    shown, stable, repaired = _repair_if_needed(before, current)
    return ContextView(
        system=system,
        tools=tools,
        shown=shown,
        stable=stable,
        repaired=repaired,
        tokens=ViewTokens(
            system=sum(count_text(counter, part) for part in system),
            tools=_count_tools_cached(counter, tools),
            summary=summary_tokens(session.summary, counter),
            history=sum(turn_tokens(turn, reductions, counter, running=False) for turn in history)
            + time_mark_tokens(times.values(), counter),
            running=sum(turn_tokens(turn, reductions, counter, running=True) for turn in running)
            + (count_text(counter, tail) + count_text(counter, last) if current else 0),
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnView:
    """One turn as a request shows it."""

    number: int
    #: It has no reply yet.
    running: bool
    #: Some of it may rest on words from outside.
    tainted: bool
    #: Without the marks of time, which are counted with the history as a whole.
    tokens: int
    shown: tuple[ShownMessage, ...]


def turn_views(session: Session, counter: TokenCounter) -> tuple[TurnView, ...]:
    """Return the turns of a session, each as `assemble_view` shows it before any repair, oldest
    first.
    """
    reductions, times = index_reductions(session.reductions), time_marks(session)
    views = []
    for turn in session.turns:
        running = turn.number == session.running
        views.append(
            TurnView(
                number=turn.number,
                running=running,
                tainted=any(message.tainted for message in turn.messages),
                tokens=turn_tokens(turn, reductions, counter, running=running),
                shown=tuple(_shown_messages((turn,), reductions, times, running=running)),
            )
        )
    return tuple(views)


def summary_text(summary: Summary) -> str:
    """The summary as the model reads it, with its frame."""
    turns = "1 earlier turn" if summary.turns == 1 else f"{summary.turns} earlier turns"
    return (
        f"[Summary of {turns}. {_turn_numbers(summary)}Newer messages win.]\n{summary.text}\n[End "
        "of summary]"
    )


def _turn_numbers(summary: Summary) -> str:
    """The folded turns' numbers: an unbroken run, which need not begin at 1 after a clear."""
    last = summary.last_turn
    first = max(1, last - summary.turns + 1)
    if not last:
        return ""
    numbers = f"Turn {last}" if first == last else f"Turns {first}–{last}"
    return f"{numbers}; recall(turn=N) shows one in full. "


def fixed_tokens(
    system: Iterable[str], tools: tuple[ToolSpec, ...], tail: str, counter: TokenCounter
) -> int:
    """Tokens of every request of a conversation without its turns and summary."""
    return (
        sum(count_text(counter, part) for part in system)
        + _count_tools_cached(counter, tools)
        + count_text(counter, tail)
    )


def summary_tokens(summary: Summary | None, counter: TokenCounter) -> int:
    """Tokens of the summary in a view, including its frame."""
    return count_text(counter, summary_text(summary)) if summary else 0


def _shown_messages(
    turns: Iterable[Turn], reductions: Reductions, times: Mapping[str, str], *, running: bool
) -> Iterable[ShownMessage]:
    for turn in turns:
        for message in turn.messages:
            if parts := apply_reductions(message, reductions, running=running):
                if message.id in times:
                    parts = (Text(text=times[message.id]), *parts)
                yield ShownMessage(role=message.role, parts=parts)


def _prepend_text(messages: list[ShownMessage], text: Text) -> None:
    """Prepend to the first message if it is the user's, else insert a user message before it."""
    if messages and messages[0].role == "user":
        messages[0] = replace(messages[0], parts=(text, *messages[0].parts))
    else:
        messages.insert(0, ShownMessage(role="user", parts=(text,)))


def _repair_if_needed(
    before: Sequence[ShownMessage], current: Sequence[ShownMessage]
) -> tuple[tuple[ShownMessage, ...], int, bool]:
    messages = (*before, *current)
    if not find_faults(messages):
        return messages, len(before), False
    shown, prefix = repair_messages(messages), repair_messages(before)
    stable = 0
    while stable < min(len(shown), len(prefix)) and shown[stable] == prefix[stable]:
        stable += 1
    return shown, stable, True


@lru_cache(maxsize=512)
def count_text(counter: TokenCounter, text: str) -> int:
    """Count a text that repeats only once: a system part, a summary, the suffix of a plan and its
    view.
    """
    return counter.text(text) if text else 0


@lru_cache(maxsize=16)
def _count_tools_cached(counter: TokenCounter, tools: tuple[ToolSpec, ...]) -> int:
    return counter.tools(tools)
