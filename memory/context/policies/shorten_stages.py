"""The stages that shorten: parts of the view get a stand-in, and the turns stay where they are."""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from memory.context import reductions
from memory.context.policies import tool_lines
from memory.context.policies.state import Situation
from memory.context.policies.tool_lines import Place
from memory.context.reductions import cost_of
from memory.conversation import Document, Image, Message, Reduction, Text, Thinking, ToolCall, ToolResult, Turn

LONG, SHORT = (32_768, 16_384, 8_192, 4_096, 2_048, 1_024), (512, 256, 128, 64, 0)
"""Characters that a pinned part may keep, tried in turn."""
FINAL = ("one_line", "text_only")  # forms that nothing shorter takes the place of


def snip(now: Situation) -> Situation:
    """Finished turns' long tool results keep their head and tail."""
    return now.shorten(_snipped(now, now.turns[: now.finished]))


def snip_all(now: Situation) -> Situation:
    """Long tool results keep their head and tail from the start, the running turn's too."""
    return now.shorten(_snipped(now, now.turns))


def trim_tool_io(now: Situation) -> Situation:
    """Finished turns keep the head and tail of what tools were asked and answered."""
    return now.shorten(_trimmed(now, now.turns[: now.finished]))


def trim_old_tool_io(now: Situation) -> Situation:
    """The same but for the newest results of all, which are likely to be talked about; much at once, or nothing."""
    spared = now.numbers.spared_results
    newest = list(tool_lines.places(now.turns))[-spared:] if spared else []
    end = newest[0].message.seq - 1 if newest else 1 << 60
    turns, least = now.turns[: now.finished], now.numbers.batch * now.room
    if sum(size - most for _, _, _, size, most in _long_tool_io(now, turns, end)) < least:
        return now  # no text has more tokens than characters worth a fold
    after = now.shorten(_trimmed(now, turns, end))
    return after if now.whole - after.whole >= max(1, least) else now


def one_line_oldest_half(now: Situation) -> Situation:
    """From `line_at` of the room on, tool results in the older half of the messages become one line, all at once."""
    least = now.numbers.batch * now.room
    if now.whole < now.numbers.line_at * now.room:
        return now
    found = older_results(now)
    if sum(tool_lines.length(place, now.reductions.get(place.message.id)) for place in found) < least:
        return now
    after = now.shorten(tool_lines.make(place, now.lines, now.counter) for place in found)
    return after if now.whole - after.whole >= max(1, least) else now


def one_line_all(now: Situation) -> Situation:
    """What does not fit has every tool result but the newest as one line; failed ones only where that is not enough."""
    if now.fits:
        return now
    found = [
        place
        for place in _open_results(now, now.turns)
        if tool_lines.worth(place, now.reductions.get(place.message.id))
    ]
    for failed in (False, True):
        if not now.fits:
            some = [place for place in found if place.result.is_error is failed]
            now = now.shorten(tool_lines.make(place, now.lines, now.counter) for place in some)
    return now


def older_results(now: Situation) -> list[Place]:
    """Tool results that `one_line_oldest_half` takes: of finished turns, long, none of the newest, none that failed."""
    half = sum(len(turn.messages) for turn in now.turns) // 2
    first = now.turns[0].first_seq if now.turns else 0
    return [
        place
        for place in _open_results(now, now.turns[: now.finished])
        if place.message.seq < first + half
        and not place.result.is_error
        and tool_lines.worth(place, now.reductions.get(place.message.id))
    ]


def text_only(now: Situation) -> Situation:
    """Every finished turn that is kept shows the question and the answer only."""
    return now.shorten(item for turn in now.turns[now.cut : now.finished] for item in _texts(now, turn))


def text_only_when_few(now: Situation) -> Situation:
    """Too many tokens in fewer than five turns: all but the running one keep the question and the answer."""
    return now if now.fits or now.kept >= now.numbers.text_only_below else text_only(now)


def text_only_oldest_first(now: Situation) -> Situation:
    """Turn by turn from the oldest, until it fits, only the question and the answer are kept."""
    over = now.tokens - now.budget
    made: list[Reduction] = []
    for place in range(now.cut, now.finished):
        if over <= 0:
            break
        short = list(_texts(now, now.turns[place]))
        made += short
        over -= now.costs[place] - _cost(now, now.turns[place], short)
    return now.shorten(made) if made else now


def pin(now: Situation) -> Situation:
    """The running turn is made to fit: as much as fits of its long parts, each call with its result.

    Old thoughts go first; then tools' results keep head, tail and handle, then the person's words too, by halves. What
    is still too long loses its newest thoughts, then its older steps, which one note stands for.
    """
    if now.fits or not now.turns:
        return now
    turn = now.turns[-1]
    now = now.shorten(_thoughts(turn, now, newest=False))
    now = _pin_by_halves(now, turn, ((_is_tool_part, LONG), (_is_running_part, LONG), (_is_tool_part, SHORT)))
    for yielding in (_newest_thoughts, _older_steps):
        if not now.fits:
            now = now.shorten(yielding(turn, now))
    return _pin_by_halves(now, turn, ((_is_running_part, SHORT),))


def _pin_by_halves(
    now: Situation, turn: Turn, tries: tuple[tuple[Callable[[object, Message], bool], tuple[int, ...]], ...]
) -> Situation:
    for may, levels in tries:
        for limit in levels:
            if now.fits:
                return now
            now = now.shorten(pinned(now, turn, limit, may))
    return now


def pinned(now: Situation, turn: Turn, limit: int, may: Callable[[object, Message], bool]) -> Iterator[Reduction]:
    """Stand-ins of about `limit` characters for the longer parts of a turn that `may` be shortened."""
    for message in turn.messages:
        for number, part in enumerate(message.parts):
            shown = now.reductions.get(message.id, {}).get(number)
            size = len(shown.text) if shown else _size(now, part)
            if not may(part, message) or size <= limit or (shown and shown.form == "text_only"):
                continue
            text = _head_and_tail(part, limit // 2, reductions.handle(message, number))
            if len(text) < size:
                yield reductions.make(message, number, f"pinned {limit}", text, now.counter)


def is_result_or_user_text(part: object, message: Message) -> bool:
    """What a provider's refusal cuts in the turns that stay."""
    return isinstance(part, ToolResult) or (isinstance(part, Text) and message.role == "user")


def _open_results(now: Situation, turns: tuple[Turn, ...]) -> list[Place]:
    """Tool results of these turns, oldest first, but for the newest of all."""
    found = list(tool_lines.places(now.turns))
    spared = {id(place.result) for place in found[len(found) - now.numbers.spared_results :]}
    last = turns[-1].last_seq if turns else 0
    return [place for place in found if id(place.result) not in spared and place.message.seq <= last]


def _snipped(now: Situation, turns: tuple[Turn, ...]) -> Iterator[Reduction]:
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
                    text = reductions.snip(part.text, side, side, reductions.handle(message, number))
                    if len(text) < len(part.text):
                        yield reductions.make(message, number, "snip", text, now.counter)


def _trimmed(now: Situation, turns: tuple[Turn, ...], end: int = 1 << 60) -> Iterator[Reduction]:
    for message, number, part, size, most in _long_tool_io(now, turns, end):
        text = _head_and_tail(part, most // 2, reductions.handle(message, number))
        if len(text) < size:
            yield reductions.make(message, number, "trim", text, now.counter)


def _long_tool_io(
    now: Situation, turns: tuple[Turn, ...], end: int
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
                if not isinstance(part, ToolCall | ToolResult) or (shown and shown.form in (*FINAL, "trim")):
                    continue
                most = now.numbers.input_chars if isinstance(part, ToolCall) else now.numbers.result_chars
                size = len(shown.text) if shown else _size(now, part)
                if size > most:
                    yield message, number, part, size, most


def _texts(now: Situation, turn: Turn) -> Iterator[Reduction]:
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
                text = f"[{_kind(part)} left out; {reductions.handle(message, number)} shows it]"
            yield reductions.make(message, number, "text_only", text, now.counter)


def _cost(now: Situation, turn: Turn, made: Iterable[Reduction]) -> int:
    """What a finished turn costs with these stand-ins."""
    ids = {message.id for message in turn.messages}
    held = (item for id in ids for item in now.reductions.get(id, {}).values())
    return cost_of(turn, reductions.index(chain(held, made)), now.counter, running=False)


def _kind(part: Image | Document) -> str:
    return "picture" if isinstance(part, Image) else f"file {part.name}"


def _is_tool_part(part: object, message: Message) -> bool:
    return isinstance(part, ToolResult | ToolCall | Document | Image)


def _is_running_part(part: object, message: Message) -> bool:
    return isinstance(part, Text | ToolResult | ToolCall | Document | Image)


def _size(now: Situation, part: object) -> int:
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
            return f"[{_kind(part)} left out; {where} shows it]"
        case Text() | ToolResult():
            return reductions.snip(part.text, half, half, where)
    return ""


def _newest_thoughts(turn: Turn, now: Situation) -> Iterator[Reduction]:
    return _thoughts(turn, now, newest=True)


def _thoughts(turn: Turn, now: Situation, *, newest: bool) -> Iterator[Reduction]:
    """Thoughts before the newest reply of the loop, which is all that providers ask for; newest: that one's."""
    replies = [message for message in turn.messages if message.role == "assistant"]
    for message in replies[-1:] if newest else replies[:-1]:
        for number, part in enumerate(message.parts):
            if isinstance(part, Thinking):
                yield reductions.make(message, number, "pinned 0", "", now.counter)


def _older_steps(turn: Turn, now: Situation) -> Iterator[Reduction]:
    """All between the person's message and the newest step, calls with their results; a note stands for it."""
    replies = [place for place, message in enumerate(turn.messages) if message.role == "assistant"]
    note = f"[earlier steps left out; recall(turn={turn.number}) shows them]"
    for message in turn.messages[1 : replies[-1] if replies else 1]:
        for number, part in enumerate(message.parts):
            text = ""
            if isinstance(part, ToolResult):
                text, note = note, ""
            yield reductions.make(message, number, "text_only", text, now.counter)
