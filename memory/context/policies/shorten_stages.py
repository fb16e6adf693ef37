"""Stages that shorten: they replace parts of the view by reductions and fold nothing."""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from memory.context import reductions
from memory.context.policies import tool_lines
from memory.context.policies.state import FINAL_FORMS, ContextState
from memory.context.policies.tool_lines import ToolResultRef
from memory.context.reductions import turn_tokens
from memory.conversation import (
    Document,
    Image,
    Message,
    Reduction,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Turn,
)

# Characters left of a part of the running turn, tried in turn.
LONG_LIMITS, SHORT_LIMITS = (32_768, 16_384, 8_192, 4_096, 2_048, 1_024), (512, 256, 128, 64, 0)


def snip_finished(state: ContextState) -> ContextState:
    """Snip long tool results of finished turns to head and tail."""
    return state.shorten(_snip_results(state, state.turns[: state.finished]))


def snip_all(state: ContextState) -> ContextState:
    """Snip all long tool results to head and tail, including those of the running turn."""
    return state.shorten(_snip_results(state, state.turns))


def trim_tool_io(state: ContextState) -> ContextState:
    """Trim long tool inputs and results of finished turns to head and tail."""
    return state.shorten(_trim_long_tool_io(state, state.turns[: state.finished]))


def trim_old_tool_io(state: ContextState) -> ContextState:
    """Like `trim_tool_io`, sparing the newest results; only if it saves at least one `batch`."""
    spared = state.settings.spared_results
    newest = list(tool_lines.find_tool_results(state.turns))[-spared:] if spared else []
    end = newest[0].message.seq - 1 if newest else 1 << 60
    turns, least = state.turns[: state.finished], state.settings.batch * state.available
    if sum(size - most for _, _, _, size, most in _long_tool_io(state, turns, end)) < least:
        return state  # a text has at most as many tokens as characters, so this cannot save enough
    return _if_it_saves(state, _trim_long_tool_io(state, turns, end), least)


def one_line_oldest_half(state: ContextState) -> ContextState:
    """From `line_at` of the available tokens on, replace the older half's tool results by one line
    each, at once.
    """
    least = state.settings.batch * state.available
    if state.whole < state.settings.line_at * state.available:
        return state
    found = older_results(state)
    if (
        sum(tool_lines.shown_length(ref, state.reductions.get(ref.message.id)) for ref in found)
        < least
    ):
        return state
    return _if_it_saves(state, _make_lines(state, found), least)


def one_line_all(state: ContextState) -> ContextState:
    """If the view does not fit, replace all but the newest tool results by lines, failed ones
    last.
    """
    if state.fits:
        return state
    found = _long_results(state, state.turns)
    for failed in (False, True):
        if not state.fits:
            state = state.shorten(
                _make_lines(state, [ref for ref in found if ref.result.is_error is failed])
            )
    return state


def older_results(state: ContextState) -> list[ToolResultRef]:
    """Tool results for `one_line_oldest_half`: long, of finished turns, not failed, not among the
    newest.
    """
    half = sum(len(turn.messages) for turn in state.turns) // 2
    end = (state.turns[0].first_seq if state.turns else 0) + half
    found = _long_results(state, state.turns[: state.finished])
    return [ref for ref in found if ref.message.seq < end and not ref.result.is_error]


def text_only(state: ContextState) -> ContextState:
    """Reduce every kept finished turn to question and answer."""
    return state.shorten(
        item
        for turn in state.turns[state.cut : state.finished]
        for item in _keep_texts_only(state, turn)
    )


def text_only_when_few(state: ContextState) -> ContextState:
    """If too few turns are left to fold, reduce all finished ones to question and answer."""
    return state if state.fits or state.kept >= state.settings.text_only_below else text_only(state)


def text_only_oldest_first(state: ContextState) -> ContextState:
    """Reduce turns to question and answer, oldest first, until the view fits."""
    over = state.tokens - state.budget
    made: list[Reduction] = []
    for place in range(state.cut, state.finished):
        if over <= 0:
            break
        short = list(_keep_texts_only(state, state.turns[place]))
        made += short
        over -= state.costs[place] - _turn_cost(state, state.turns[place], short)
    return state.shorten(made) if made else state


def fit_running_turn(state: ContextState) -> ContextState:
    """Make the running turn fit, keeping each call with its result.

    First old reasoning is dropped; then tool results, then the person's words are cut to head, tail
    and handle, with limits that halve. If that is not enough, the newest reasoning and then older
    steps are replaced by one note.
    """
    if state.fits or not state.turns:
        return state
    turn = state.turns[-1]
    state = state.shorten(_drop_thoughts(turn, state, newest=False))
    state = _fit_turn_by_halves(
        state,
        turn,
        (
            (_is_tool_part, LONG_LIMITS),
            (_is_running_part, LONG_LIMITS),
            (_is_tool_part, SHORT_LIMITS),
        ),
    )
    for yielding in (_drop_newest_thoughts, _drop_older_steps):
        if not state.fits:
            state = state.shorten(yielding(turn, state))
    return _fit_turn_by_halves(state, turn, ((_is_running_part, SHORT_LIMITS),))


def _fit_turn_by_halves(
    state: ContextState,
    turn: Turn,
    tries: tuple[tuple[Callable[[object, Message], bool], tuple[int, ...]], ...],
) -> ContextState:
    for may_cut, limits in tries:
        for limit in limits:
            if state.fits:
                return state
            state = state.shorten(shorten_turn(state, turn, limit, may_cut))
    return state


def shorten_turn(
    state: ContextState, turn: Turn, limit: int, may_cut: Callable[[object, Message], bool]
) -> Iterator[Reduction]:
    """Reductions to about `limit` characters for the longer parts of a turn that `may_cut`
    accepts.
    """
    for message in turn.messages:
        for number, part in enumerate(message.parts):
            shown = state.reductions.get(message.id, {}).get(number)
            size = len(shown.text) if shown else _part_size(state, part)
            if not may_cut(part, message) or size <= limit or (shown and shown.form == "text_only"):
                continue
            text = _head_and_tail(part, limit // 2, reductions.part_handle(message, number))
            if len(text) < size:
                yield reductions.make_reduction(
                    message, number, f"pinned {limit}", text, state.counter
                )


def is_result_or_user_text(part: object, message: Message) -> bool:
    """Whether `shrink_after_overflow` may cut the part."""
    return isinstance(part, ToolResult) or (isinstance(part, Text) and message.role == "user")


def _if_it_saves(state: ContextState, made: Iterable[Reduction], least: float) -> ContextState:
    """Shorten only if that saves at least so many tokens: each change of the view breaks the
    provider's cache.
    """
    after = state.shorten(made)
    return after if state.whole - after.whole >= max(1, least) else state


def _make_lines(state: ContextState, found: Iterable[ToolResultRef]) -> Iterator[Reduction]:
    return (tool_lines.make_line(ref, state.lines, state.counter) for ref in found)


def _long_results(state: ContextState, turns: tuple[Turn, ...]) -> list[ToolResultRef]:
    """Tool results of these turns that a line would shorten, oldest first, except the newest of all
    turns.
    """
    found = list(tool_lines.find_tool_results(state.turns))
    spared = {id(ref.result) for ref in found[len(found) - state.settings.spared_results :]}
    last = turns[-1].last_seq if turns else 0
    return [
        ref
        for ref in found
        if id(ref.result) not in spared
        and ref.message.seq <= last
        and tool_lines.is_worth_line(ref, state.reductions.get(ref.message.id))
    ]


def _snip_results(state: ContextState, turns: tuple[Turn, ...]) -> Iterator[Reduction]:
    settings = state.settings
    for turn in turns:
        for message in turn.messages:
            if message.role != "user":
                continue
            mine = state.reductions.get(message.id, {})
            for number, part in enumerate(message.parts):
                if (
                    isinstance(part, ToolResult)
                    and len(part.text) > settings.snip_chars
                    and number not in mine
                ):
                    most = int(settings.snip_chars * settings.snip_most)
                    side = min(int(len(part.text) * settings.snip_share), most)
                    text = reductions.snip_text(
                        part.text, side, side, reductions.part_handle(message, number)
                    )
                    if len(text) < len(part.text):
                        yield reductions.make_reduction(
                            message, number, "snip", text, state.counter
                        )


def _trim_long_tool_io(
    state: ContextState, turns: tuple[Turn, ...], end: int = 1 << 60
) -> Iterator[Reduction]:
    for message, number, part, size, most in _long_tool_io(state, turns, end):
        text = _head_and_tail(part, most // 2, reductions.part_handle(message, number))
        if len(text) < size:
            yield reductions.make_reduction(message, number, "trim", text, state.counter)


def _long_tool_io(
    state: ContextState, turns: tuple[Turn, ...], end: int
) -> Iterator[tuple[Message, int, ToolCall | ToolResult, int, int]]:
    """Tool inputs and results over their limit before seq `end`: (message, index, part, characters,
    limit).
    """
    for turn in turns:
        for message in turn.messages:
            if message.seq >= end:
                return
            mine = state.reductions.get(message.id, {})
            for number, part in enumerate(message.parts):
                shown = mine.get(number)
                if not isinstance(part, ToolCall | ToolResult) or (
                    shown and shown.form in (*FINAL_FORMS, "trim")
                ):
                    continue
                most = (
                    state.settings.input_chars
                    if isinstance(part, ToolCall)
                    else state.settings.result_chars
                )
                size = len(shown.text) if shown else _part_size(state, part)
                if size > most:
                    yield message, number, part, size, most


def _last_reply(turn: Turn) -> Message | None:
    """The last message of a turn in which the model says something."""
    for message in reversed(turn.messages):
        if message.role == "assistant" and any(isinstance(part, Text) for part in message.parts):
            return message
    return None


def _keep_texts_only(state: ContextState, turn: Turn) -> Iterator[Reduction]:
    """Keep the first user text and the last reply; one note replaces the tool calls between
    them.
    """
    kept = {turn.messages[0].id}
    if reply := _last_reply(turn):
        kept.add(reply.id)
    note = f"[tool calls left out; recall(turn={turn.number}) shows them]"
    for message in turn.messages:
        for number, part in enumerate(message.parts):
            shown = state.reductions.get(message.id, {}).get(number)
            if (isinstance(part, Text) and message.id in kept) or (shown and not shown.text):
                continue
            text = ""
            if isinstance(part, ToolResult):
                text, note = note, ""
            elif isinstance(part, Image | Document) and message.id in kept:
                text = (
                    f"[{_part_kind(part)} left out; {reductions.part_handle(message, number)} "
                    "shows it]"
                )
            yield reductions.make_reduction(message, number, "text_only", text, state.counter)


def _turn_cost(state: ContextState, turn: Turn, made: Iterable[Reduction]) -> int:
    """Tokens of a finished turn with these reductions."""
    ids = {message.id for message in turn.messages}
    existing = (item for id in ids for item in state.reductions.get(id, {}).values())
    return turn_tokens(
        turn, reductions.index_reductions(chain(existing, made)), state.counter, running=False
    )


def _part_kind(part: Image | Document) -> str:
    return "picture" if isinstance(part, Image) else f"file {part.name}"


def _is_tool_part(part: object, message: Message) -> bool:
    return isinstance(part, ToolResult | ToolCall | Document | Image)


def _is_running_part(part: object, message: Message) -> bool:
    return isinstance(part, Text | ToolResult | ToolCall | Document | Image)


def _part_size(state: ContextState, part: object) -> int:
    match part:
        case Text() | ToolResult():
            return len(part.text)
        case ToolCall():
            return len(part.input)
        case Document() | Image():
            return 4 * state.counter.parts((part,))
    return 0


def _head_and_tail(part: object, half: int, where: str) -> str:
    match part:
        case ToolCall():
            return reductions.snip_input(part, half, half, where)
        case Document() | Image():
            return f"[{_part_kind(part)} left out; {where} shows it]"
        case Text() | ToolResult():
            return reductions.snip_text(part.text, half, half, where)
    return ""


def _drop_newest_thoughts(turn: Turn, state: ContextState) -> Iterator[Reduction]:
    return _drop_thoughts(turn, state, newest=True)


def _drop_thoughts(turn: Turn, state: ContextState, *, newest: bool) -> Iterator[Reduction]:
    """Drop the reasoning before the newest step, which providers do not need; with `newest`, that
    of the newest.
    """
    replies = [message for message in turn.messages if message.role == "assistant"]
    for message in replies[-1:] if newest else replies[:-1]:
        for number, part in enumerate(message.parts):
            if isinstance(part, Thinking):
                yield reductions.make_reduction(message, number, "pinned 0", "", state.counter)


def _drop_older_steps(turn: Turn, state: ContextState) -> Iterator[Reduction]:
    """Replace the steps between the user's message and the newest one by a note."""
    replies = [place for place, message in enumerate(turn.messages) if message.role == "assistant"]
    note = f"[earlier steps left out; recall(turn={turn.number}) shows them]"
    for message in turn.messages[1 : replies[-1] if replies else 1]:
        for number, part in enumerate(message.parts):
            text = ""
            if isinstance(part, ToolResult):
                text, note = note, ""
            yield reductions.make_reduction(message, number, "text_only", text, state.counter)
