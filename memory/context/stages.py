"""The stages that policies are made of: each takes a situation and returns one that is nearer to fitting."""

from collections.abc import Callable, Iterator

from memory.context import reduction
from memory.context.counter import Counter
from memory.context.situation import Situation
from memory.conversation import Document, Image, Message, Reduction, Text, Thinking, ToolCall, ToolResult, Turn

LEAST_RESTORED, RESTORED_SHARE = 3, 6  # turns that a lean restart keeps at least, and as a share of the most turns
LEVELS = (*(32_768 >> step for step in range(10)), 0)  # characters a pinned part may keep, tried in turn


def snip(now: Situation) -> Situation:
    """Finished turns' long tool results keep their head and tail."""
    return now.shorten(_snipped(now, now.turns[: now.finished]))


def fold_when_many(now: Situation) -> Situation:
    """More turns than allowed: the oldest half is folded, the running or coming turn being counted."""
    turns = len(now.turns) + now.coming
    return now.fold(turns // 2, "turns") if turns > now.max_turns else now


def fold_when_long(now: Situation) -> Situation:
    """Too many tokens: the oldest half of what is kept is folded."""
    return now if now.fits else now.fold(now.cut + max(1, now.kept // 2), "tokens")


def fold_when_long_and_many(now: Situation) -> Situation:
    """Too many tokens in five turns or more: the oldest half of what is kept is folded."""
    return now if now.kept < now.numbers.text_only_below else fold_when_long(now)


def text_only_when_few(now: Situation) -> Situation:
    """Too many tokens in fewer than five turns: all but the running one keep the question and the answer."""
    return now if now.fits or now.kept >= now.numbers.text_only_below else text_only(now)


def text_only_oldest_first(now: Situation) -> Situation:
    """Turn by turn from the oldest, until it fits, only the question and the answer are kept."""
    for turn in now.turns[now.cut : now.finished]:
        if now.fits:
            break
        now = now.shorten(_text_only(now, turn))
    return now


def fold_but_newest(now: Situation) -> Situation:
    """All but the newest turns are folded: a sixth of those allowed stay, at least three."""
    return now.fold(len(now.turns) - max(3, now.max_turns // 6), "lean restart")


def text_only(now: Situation) -> Situation:
    """Every finished turn that is kept shows the question and the answer only."""
    return now.shorten(item for turn in now.turns[now.cut : now.finished] for item in _text_only(now, turn))


def lean(now: Situation) -> Situation:
    """After a restart that is to be lean: the newest turns stay, as question and answer; the rest is folded."""
    keep = max(LEAST_RESTORED, now.max_turns // RESTORED_SHARE)
    now = now.fold(now.finished - keep, "restart") if now.finished > keep else now
    return now.shorten(item for turn in now.turns[now.cut : now.finished] for item in _text_only(now, turn))


def drop_oldest(now: Situation) -> Situation:
    """Turn by turn from the oldest, until it fits, turns are folded; the running one stays."""
    while not now.fits and now.cut < now.finished:
        now = now.fold(now.cut + 1, "tokens")
    return now


def overflow(now: Situation) -> Situation:
    """The provider refused: five turns stay, with results and user texts cut; refused again: the running one only."""
    if not now.refused:
        return now
    keep = now.numbers.overflow_turns if now.refused == 1 else 1
    now = now.fold(len(now.turns) - keep, "overflow")
    limit = now.numbers.overflow_chars // now.refused
    return now.shorten(
        item for turn in now.turns[now.cut :] for item in _pinned(now, turn, limit, _is_result_or_user_text)
    )


def pin(now: Situation) -> Situation:
    """The running turn's long parts keep head, tail and handle: as much of them as fits, no call without its result."""
    if now.fits or not now.turns:
        return now
    turn = now.turns[-1]
    for limit in LEVELS:
        now = now.shorten(_pinned(now, turn, limit, _is_running_part))
        if now.fits:
            return now
    return now.shorten(_old_thoughts(turn, now.counter))


def _snipped(now: Situation, turns: tuple[Turn, ...]) -> Iterator[Reduction]:
    limit = now.numbers.snip_chars
    for turn in turns:
        for message in turn.messages:
            if message.role != "user":
                continue
            for number, part in enumerate(message.parts):
                if isinstance(part, ToolResult) and len(part.text) > limit and not _shortened(now, message, number):
                    size = len(part.text)
                    head, tail = int(size * now.numbers.snip_head), int(size * now.numbers.snip_tail)
                    text = reduction.snip(part.text, head, tail, reduction.handle(message, number))
                    yield reduction.make(message, number, "snip", text, now.counter)


def _shortened(now: Situation, message: Message, part: int) -> bool:
    return part in now.reductions.get(message.id, {})


def _text_only(now: Situation, turn: Turn) -> Iterator[Reduction]:
    """The first user text and the last reply stay; a note stands for the tool chain between them."""
    replies = [m for m in turn.messages if m.role == "assistant" and any(isinstance(p, Text) for p in m.parts)]
    kept = {turn.messages[0].id, *(reply.id for reply in replies[-1:])}
    note = f"[tool calls left out; recall(turn={turn.number}) shows them]"
    for message in turn.messages:
        for number, part in enumerate(message.parts):
            if isinstance(part, Text) and message.id in kept:
                continue
            text = ""
            if isinstance(part, ToolResult):
                text, note = note, ""
            elif isinstance(part, Image | Document) and message.id in kept:
                text = f"[{_kind(part)} left out; {reduction.handle(message, number)} shows it]"
            yield reduction.make(message, number, "text_only", text, now.counter)


def _kind(part: Image | Document) -> str:
    return "picture" if isinstance(part, Image) else f"file {part.name}"


def _is_result_or_user_text(part: object, message: Message) -> bool:
    return isinstance(part, ToolResult) or (isinstance(part, Text) and message.role == "user")


def _is_running_part(part: object, message: Message) -> bool:
    return isinstance(part, Text | ToolResult | ToolCall | Document | Image)


def _pinned(now: Situation, turn: Turn, limit: int, may: Callable[[object, Message], bool]) -> Iterator[Reduction]:
    """Stand-ins of about `limit` characters for the longer parts of a turn that `may` be shortened."""
    for message in turn.messages:
        for number, part in enumerate(message.parts):
            shown = now.reductions.get(message.id, {}).get(number)
            size = len(shown.text) if shown else _size(part, now.counter)
            if not may(part, message) or size <= limit or (shown and shown.form == "text_only"):
                continue
            text = _head_and_tail(part, limit // 2, reduction.handle(message, number))
            if len(text) < size:
                yield reduction.make(message, number, "pinned", text, now.counter)


def _size(part: object, counter: Counter) -> int:
    match part:
        case Text() | ToolResult():
            return len(part.text)
        case ToolCall():
            return len(part.input)
        case Document() | Image():
            return 4 * counter.parts((part,))
    return 0


def _head_and_tail(part: object, half: int, where: str) -> str:
    match part:
        case ToolCall():
            return reduction.snip_input(part, half, half, where)
        case Document() | Image():
            return f"[{_kind(part)} left out; {where} shows it]"
        case Text() | ToolResult():
            return reduction.snip(part.text, half, half, where)
    return ""


def _old_thoughts(turn: Turn, counter: Counter) -> Iterator[Reduction]:
    """Thoughts before the newest reply of the loop; providers ask only for that one's."""
    replies = [message for message in turn.messages if message.role == "assistant"]
    for message in replies[:-1]:
        for number, part in enumerate(message.parts):
            if isinstance(part, Thinking):
                yield reduction.make(message, number, "pinned", "", counter)
