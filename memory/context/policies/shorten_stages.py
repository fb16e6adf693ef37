"""The stages that shorten: parts of the view get a stand-in, and the turns stay where they are."""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from memory.context import reductions
from memory.context.policies import tool_lines
from memory.context.policies.state import ContextState
from memory.context.policies.tool_lines import ToolResultRef
from memory.context.reductions import turn_tokens
from memory.conversation import Document, Image, Message, Reduction, Text, Thinking, ToolCall, ToolResult, Turn

# Characters that a pinned part may keep, tried in turn.
LONG_LIMITS, SHORT_LIMITS = (32_768, 16_384, 8_192, 4_096, 2_048, 1_024), (512, 256, 128, 64, 0)
FINAL_FORMS = ("one_line", "text_only")  # forms that nothing shorter takes the place of


def snip_finished(now: ContextState) -> ContextState:
    """Finished turns' long tool results keep their head and tail."""
    return now.shorten(_snip_results(now, now.turns[: now.finished]))


def snip_all(now: ContextState) -> ContextState:
    """Long tool results keep their head and tail from the start, the running turn's too."""
    return now.shorten(_snip_results(now, now.turns))


def trim_tool_io(now: ContextState) -> ContextState:
    """Finished turns keep the head and tail of what tools were asked and answered."""
    return now.shorten(_trim_long_tool_io(now, now.turns[: now.finished]))


def trim_old_tool_io(now: ContextState) -> ContextState:
    """The same but for the newest results of all, which are likely to be talked about; much at once, or nothing."""
    spared = now.numbers.spared_results
    newest = list(tool_lines.find_tool_results(now.turns))[-spared:] if spared else []
    end = newest[0].message.seq - 1 if newest else 1 << 60
    turns, least = now.turns[: now.finished], now.numbers.batch * now.room
    if sum(size - most for _, _, _, size, most in _long_tool_io(now, turns, end)) < least:
        return now  # no text has more tokens than characters worth a fold
    after = now.shorten(_trim_long_tool_io(now, turns, end))
    return after if now.whole - after.whole >= max(1, least) else now


def one_line_oldest_half(now: ContextState) -> ContextState:
    """From `line_at` of the room on, tool results in the older half of the messages become one line, all at once."""
    least = now.numbers.batch * now.room
    if now.whole < now.numbers.line_at * now.room:
        return now
    found = older_results(now)
    if sum(tool_lines.shown_length(place, now.reductions.get(place.message.id)) for place in found) < least:
        return now
    after = now.shorten(tool_lines.make_line(place, now.lines, now.counter) for place in found)
    return after if now.whole - after.whole >= max(1, least) else now


def one_line_all(now: ContextState) -> ContextState:
    """What does not fit has every tool result but the newest as one line; failed ones only where that is not enough."""
    if now.fits:
        return now
    found = [
        place
        for place in _unlined_results(now, now.turns)
        if tool_lines.is_worth_line(place, now.reductions.get(place.message.id))
    ]
    for failed in (False, True):
        if not now.fits:
            some = [place for place in found if place.result.is_error is failed]
            now = now.shorten(tool_lines.make_line(place, now.lines, now.counter) for place in some)
    return now


def older_results(now: ContextState) -> list[ToolResultRef]:
    """Tool results that `one_line_oldest_half` takes: of finished turns, long, none of the newest, none that failed."""
    half = sum(len(turn.messages) for turn in now.turns) // 2
    first = now.turns[0].first_seq if now.turns else 0
    return [
        place
        for place in _unlined_results(now, now.turns[: now.finished])
        if place.message.seq < first + half
        and not place.result.is_error
        and tool_lines.is_worth_line(place, now.reductions.get(place.message.id))
    ]


def text_only(now: ContextState) -> ContextState:
    """Every finished turn that is kept shows the question and the answer only."""
    return now.shorten(item for turn in now.turns[now.cut : now.finished] for item in _keep_texts_only(now, turn))


def text_only_when_few(now: ContextState) -> ContextState:
    """Too many tokens in fewer than five turns: all but the running one keep the question and the answer."""
    return now if now.fits or now.kept >= now.numbers.text_only_below else text_only(now)


def text_only_oldest_first(now: ContextState) -> ContextState:
    """Turn by turn from the oldest, until it fits, only the question and the answer are kept."""
    over = now.tokens - now.budget
    made: list[Reduction] = []
    for place in range(now.cut, now.finished):
        if over <= 0:
            break
        short = list(_keep_texts_only(now, now.turns[place]))
        made += short
        over -= now.costs[place] - _turn_cost(now, now.turns[place], short)
    return now.shorten(made) if made else now


def fit_running_turn(now: ContextState) -> ContextState:
    """The running turn is made to fit: as much as fits of its long parts, each call with its result.

    Old thoughts go first; then tools' results keep head, tail and handle, then the person's words too, by halves. What
    is still too long loses its newest thoughts, then its older steps, which one note stands for.
    """
    if now.fits or not now.turns:
        return now
    turn = now.turns[-1]
    now = now.shorten(_drop_thoughts(turn, now, newest=False))
    now = _fit_turn_by_halves(
        now, turn, ((_is_tool_part, LONG_LIMITS), (_is_running_part, LONG_LIMITS), (_is_tool_part, SHORT_LIMITS))
    )
    for yielding in (_drop_newest_thoughts, _drop_older_steps):
        if not now.fits:
            now = now.shorten(yielding(turn, now))
    return _fit_turn_by_halves(now, turn, ((_is_running_part, SHORT_LIMITS),))


def _fit_turn_by_halves(
    now: ContextState, turn: Turn, tries: tuple[tuple[Callable[[object, Message], bool], tuple[int, ...]], ...]
) -> ContextState:
    for may, levels in tries:
        for limit in levels:
            if now.fits:
                return now
            now = now.shorten(shorten_turn(now, turn, limit, may))
    return now


def shorten_turn(
    now: ContextState, turn: Turn, limit: int, may: Callable[[object, Message], bool]
) -> Iterator[Reduction]:
    """Stand-ins of about `limit` characters for the longer parts of a turn that `may` be shortened."""
    for message in turn.messages:
        for number, part in enumerate(message.parts):
            shown = now.reductions.get(message.id, {}).get(number)
            size = len(shown.text) if shown else _part_size(now, part)
            if not may(part, message) or size <= limit or (shown and shown.form == "text_only"):
                continue
            text = _head_and_tail(part, limit // 2, reductions.part_handle(message, number))
            if len(text) < size:
                yield reductions.make_reduction(message, number, f"pinned {limit}", text, now.counter)


def is_result_or_user_text(part: object, message: Message) -> bool:
    """What a provider's refusal cuts in the turns that stay."""
    return isinstance(part, ToolResult) or (isinstance(part, Text) and message.role == "user")


def _unlined_results(now: ContextState, turns: tuple[Turn, ...]) -> list[ToolResultRef]:
    """Tool results of these turns, oldest first, but for the newest of all."""
    found = list(tool_lines.find_tool_results(now.turns))
    spared = {id(place.result) for place in found[len(found) - now.numbers.spared_results :]}
    last = turns[-1].last_seq if turns else 0
    return [place for place in found if id(place.result) not in spared and place.message.seq <= last]


def _snip_results(now: ContextState, turns: tuple[Turn, ...]) -> Iterator[Reduction]:
    numbers = now.numbers
    for turn in turns:
        for message in turn.messages:
            if message.role != "user":
                continue
            mine = now.reductions.get(message.id, {})
            for number, part in enumerate(message.parts):
                if isinstance(part, ToolResult) and len(part.text) > numbers.snip_chars and number not in mine:
                    most = int(numbers.snip_chars * numbers.snip_most)
                    side = min(int(len(part.text) * numbers.snip_share), most)
                    text = reductions.snip_text(part.text, side, side, reductions.part_handle(message, number))
                    if len(text) < len(part.text):
                        yield reductions.make_reduction(message, number, "snip", text, now.counter)


def _trim_long_tool_io(now: ContextState, turns: tuple[Turn, ...], end: int = 1 << 60) -> Iterator[Reduction]:
    for message, number, part, size, most in _long_tool_io(now, turns, end):
        text = _head_and_tail(part, most // 2, reductions.part_handle(message, number))
        if len(text) < size:
            yield reductions.make_reduction(message, number, "trim", text, now.counter)


def _long_tool_io(
    now: ContextState, turns: tuple[Turn, ...], end: int
) -> Iterator[tuple[Message, int, ToolCall | ToolResult, int, int]]:
    """Tool traffic before the message with seq `end` that is longer than it may be: where, what, its characters, the
    most it may have."""
    for turn in turns:
        for message in turn.messages:
            if message.seq >= end:
                return
            mine = now.reductions.get(message.id, {})
            for number, part in enumerate(message.parts):
                shown = mine.get(number)
                if not isinstance(part, ToolCall | ToolResult) or (shown and shown.form in (*FINAL_FORMS, "trim")):
                    continue
                most = now.numbers.input_chars if isinstance(part, ToolCall) else now.numbers.result_chars
                size = len(shown.text) if shown else _part_size(now, part)
                if size > most:
                    yield message, number, part, size, most


def _keep_texts_only(now: ContextState, turn: Turn) -> Iterator[Reduction]:
    """The first user text and the last reply stay; a note stands for the tool chain between them."""
    replies = [m for m in turn.messages if m.role == "assistant" and any(isinstance(p, Text) for p in m.parts)]
    kept = {turn.messages[0].id, *(reply.id for reply in replies[-1:])}
    note = f"[tool calls left out; recall(turn={turn.number}) shows them]"
    for message in turn.messages:
        for number, part in enumerate(message.parts):
            shown = now.reductions.get(message.id, {}).get(number)
            if (isinstance(part, Text) and message.id in kept) or (shown and not shown.text):
                continue
            text = ""
            if isinstance(part, ToolResult):
                text, note = note, ""
            elif isinstance(part, Image | Document) and message.id in kept:
                text = f"[{_part_kind(part)} left out; {reductions.part_handle(message, number)} shows it]"
            yield reductions.make_reduction(message, number, "text_only", text, now.counter)


def _turn_cost(now: ContextState, turn: Turn, made: Iterable[Reduction]) -> int:
    """What a finished turn costs with these stand-ins."""
    ids = {message.id for message in turn.messages}
    held = (item for id in ids for item in now.reductions.get(id, {}).values())
    return turn_tokens(turn, reductions.index_reductions(chain(held, made)), now.counter, running=False)


def _part_kind(part: Image | Document) -> str:
    return "picture" if isinstance(part, Image) else f"file {part.name}"


def _is_tool_part(part: object, message: Message) -> bool:
    return isinstance(part, ToolResult | ToolCall | Document | Image)


def _is_running_part(part: object, message: Message) -> bool:
    return isinstance(part, Text | ToolResult | ToolCall | Document | Image)


def _part_size(now: ContextState, part: object) -> int:
    match part:
        case Text() | ToolResult():
            return len(part.text)
        case ToolCall():
            return len(part.input)
        case Document() | Image():
            return 4 * now.counter.parts((part,))
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


def _drop_newest_thoughts(turn: Turn, now: ContextState) -> Iterator[Reduction]:
    return _drop_thoughts(turn, now, newest=True)


def _drop_thoughts(turn: Turn, now: ContextState, *, newest: bool) -> Iterator[Reduction]:
    """Thoughts before the newest reply of the loop, which is all that providers ask for; newest: that one's."""
    replies = [message for message in turn.messages if message.role == "assistant"]
    for message in replies[-1:] if newest else replies[:-1]:
        for number, part in enumerate(message.parts):
            if isinstance(part, Thinking):
                yield reductions.make_reduction(message, number, "pinned 0", "", now.counter)


def _drop_older_steps(turn: Turn, now: ContextState) -> Iterator[Reduction]:
    """All between the person's message and the newest step, calls with their results; a note stands for it."""
    replies = [place for place, message in enumerate(turn.messages) if message.role == "assistant"]
    note = f"[earlier steps left out; recall(turn={turn.number}) shows them]"
    for message in turn.messages[1 : replies[-1] if replies else 1]:
        for number, part in enumerate(message.parts):
            text = ""
            if isinstance(part, ToolResult):
                text, note = note, ""
            yield reductions.make_reduction(message, number, "text_only", text, now.counter)
