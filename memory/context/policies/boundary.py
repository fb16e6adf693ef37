"""Chooses where to cut a conversation: scores the places between turns near a target."""

import json
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from itertools import accumulate

from memory.context.policies.topics import topic_changes
from memory.conversation import Document, Message, Part, Text, ToolCall, ToolResult, Turn

# Scores of a cut. Source: the boundary seed.
BASE_SCORE, TOPIC_CHANGE_SCORE, AT_BREAK_SCORE, NEAR_ERROR_SCORE = 100, 25, 20, -30
AFTER_RESULT_SCORE, AFTER_REPLY_SCORE, IN_TOOLS_SCORE = 50, 30, -100
MIN_KEEP, MAX_KEEP = 0.3, 0.7  # bounds of the share of the tokens that is kept
LONG_GAP = timedelta(minutes=5)
ERROR_DISTANCE = 2  # messages on either side of a cut that are searched for errors
OPENING_CHARS = 40  # first characters of a text in which a phrase announces a new topic
MAX_JUDGED_CHARS = 4_000  # characters of a tool's text that are examined for code
FENCE = "```"

_TOPIC_MARKER = re.compile(
    r"新的?(?:问题|话题|任务)|换一?个?(?:话题|问题)|另外|另一个"
    r"(?:问题|话题)|不同的?话题|下一个(?:问题|话题)|题外话|顺便"
    r"[问说]|让我们切换|(?:现在|接下来)让?我们|^对了[，,]|\b(?:new|another|different|next) "
    r"(?:question|topic|subject|task|thing)\b|\bby the way\b|\bbtw\b|\b(?:change|switch)(?: "
    r"of)?(?: the)? (?:topic|subject)s?\b|\bon another note\b|\bunrelated\b|\bsomething "
    r"else\b|\bnow let['’]?s\b|\blet['’]?s (?:move on|switch)\b",
    re.IGNORECASE,
)
_ERROR_HINTS = ("error", "fail", "exception", "traceback", "错误", "失败", "报错")
_ERROR_WORD = re.compile(
    r"(?:(?<![A-Za-z])(?i:errors?|fail(?:ed|s|ing|ures?)?|exceptions?|traceback)|(?<=[a-z])(?:Error|Exception)s?)"
    r"(?![A-Za-z])|错误|失败|报错"
)
_NEGATION = re.compile(
    (
        r"(?:(?<![a-z\d])(?:no|without|without "
        r"any|zero|0)\s|[没未无](?:有|出现)?(?:任何)?|(?<!\d)0\s?个)$"
    ),
    re.IGNORECASE,
)
_CODE_SIGNS = "{}()[];=<>"
_MANY_SIGNS, _SOME_SIGNS, _INDENTED = 0.05, 0.02, 1 / 3  # shares of the characters, of the lines


@dataclass(frozen=True, slots=True, kw_only=True)
class CutCandidate:
    """A place between two turns where the conversation may be cut."""

    #: Number of turns before it.
    turns: int
    #: Sum of its terms.
    score: int
    #: (name, points): base, tool_result, reply, tool_sequence, break, error, topic.
    terms: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CutChoice:
    """A chosen cut and the candidates for it."""

    #: Number of oldest turns to fold.
    turns: int
    #: The allowed cut nearest to the requested place.
    target: int
    #: Requested share of tokens to keep, 0 to 1.
    keep: float
    #: Rules that changed the configured share (see adaptive_keep).
    adapted: tuple[str, ...]
    #: All cuts that were compared.
    candidates: tuple[CutCandidate, ...]


def choose_cut(
    turns: Sequence[Turn],
    costs: Sequence[int],
    finished: int,
    keep: float,
    reach: int = 5,
    newest: int = 5,
    reach_turns: int = 2,
) -> CutChoice | None:
    """Choose the best cut near the message up to which the tokens to fold reach.

    With long turns few or no turns end within `reach`, so the ends of the next `reach_turns` turns
    on either side are compared too, as far as they keep a share within MIN_KEEP to MAX_KEEP.

    Args:
        costs: tokens of each turn as shown.
        finished: number of turns that may be folded.
        keep: share of the tokens to keep, 0 to 1.
        reach: messages on either side of the target.
        newest: number of newest messages that are always kept.
        reach_turns: turns on either side of the allowed cut nearest to the target.

    Returns:
        The best-scored cut within reach, of equal ones the nearest to the target; the nearest
        allowed cut where none is within reach; None where none is allowed.
    """
    starts = list(accumulate((len(turn.messages) for turn in turns), initial=0))
    allowed = [cut for cut in _possible_cuts(turns, finished) if starts[cut] <= starts[-1] - newest]
    if not allowed:
        return None
    goal = _target_turns(turns, costs, (1 - keep) * sum(costs))
    nearest = min(allowed, key=lambda cut: abs(starts[cut] - goal))
    kept, bounds = (
        list(accumulate(reversed(costs), initial=0))[::-1],
        (min(MIN_KEEP, keep), max(MAX_KEEP, keep)),
    )

    def is_near(cut: int) -> bool:
        if cut == nearest or abs(starts[cut] - goal) <= reach:
            return True
        return (
            abs(cut - nearest) <= reach_turns
            and bounds[0] * kept[0] <= kept[cut] <= bounds[1] * kept[0]
        )

    candidates = _score_cuts(turns, [cut for cut in allowed if is_near(cut)])
    best = max(candidates, key=lambda item: (item.score, -abs(starts[item.turns] - goal)))
    return CutChoice(turns=best.turns, target=nearest, keep=keep, adapted=(), candidates=candidates)


def choose_cut_near(
    turns: Sequence[Turn],
    costs: Sequence[int],
    finished: int,
    target: int,
    reach: int,
    max_kept: int,
) -> CutChoice:
    """The best cut within `reach` turns of the target that leaves at most `max_kept` tokens.

    If there is none, the smallest later cut that does; otherwise all finished turns are folded.
    """
    kept = list(accumulate(reversed(costs), initial=0))[::-1]
    target = max(0, min(target, finished))
    small = [cut for cut in _possible_cuts(turns, finished) if kept[cut] <= max_kept]
    near = [cut for cut in small if abs(cut - target) <= reach]
    candidates = _score_cuts(turns, near or [cut for cut in small if cut >= target][:1])
    best = max(candidates, key=lambda item: (item.score, -abs(item.turns - target)), default=None)
    return CutChoice(
        turns=best.turns if best else finished,
        target=target,
        keep=kept[target] / kept[0] if kept[0] else 0.0,
        adapted=(),
        candidates=candidates,
    )


def score_cut(turns: Sequence[Turn], cut: int) -> CutCandidate:
    """Score the cut before the turn at `cut`, for 0 < cut < len(turns)."""
    return _score_cuts(turns, [cut])[0]


def adaptive_keep(turns: Sequence[Turn], keep: float = 0.5) -> tuple[float, tuple[str, ...]]:
    """Adapt the share of the tokens to keep to the content; returns it and the rules that applied.

    Shares are of the characters of all texts, tool inputs, tool results and what was read out of
    files. Code is what stands in fences, and tool inputs and results (and files) that look like it;
    chat is what people and the model said outside of fences. In this order: code over a half keeps
    0.2 more, up to 0.7 ("code"); chat over 70 % keeps 0.2 less, down to 0.3 ("chat"); errors in
    over a tenth of the messages keep 0.1 more, up to 0.6 ("errors"). No bound moves the share
    against its rule.

    Source: the boundary seed.
    """
    messages = [message for turn in turns for message in turn.messages]
    code, chat, size = _content_shares(messages)
    wrong = sum(map(_is_error, messages))
    rules = (
        ("code", code > 0.5 * size, max(keep, min(MAX_KEEP, keep + 0.2))),
        ("chat", chat > 0.7 * size, min(keep, max(MIN_KEEP, keep - 0.2))),
    )
    adapted = [(name, moved) for name, holds, moved in rules if holds and moved != keep]
    share = adapted[-1][1] if adapted else keep
    if wrong > 0.1 * len(messages) and share < 0.6:
        adapted.append(("errors", min(0.6, share + 0.1)))
    return (round(adapted[-1][1], 6) if adapted else keep), tuple(name for name, _ in adapted)


def dump_choice(choice: CutChoice) -> str:
    """Serialise a choice as JSON, for the fold's row and for people."""
    return json.dumps(asdict(choice), sort_keys=True, separators=(",", ":"))


def load_choice(text: str) -> CutChoice | None:
    """The inverse of `dump_choice`; None for any other text."""
    try:
        values = json.loads(text)
        return CutChoice(
            turns=int(values["turns"]),
            target=int(values["target"]),
            keep=float(values["keep"]),
            adapted=tuple(map(str, values["adapted"])),
            candidates=tuple(
                CutCandidate(
                    turns=int(item["turns"]),
                    score=int(item["score"]),
                    terms=tuple((str(name), int(value)) for name, value in item["terms"]),
                )
                for item in values["candidates"]
            ),
        )
    except (ValueError, KeyError, TypeError):
        return None


def _possible_cuts(turns: Sequence[Turn], finished: int) -> range:
    """Every cut with a finished turn before it and a turn after it."""
    return range(1, min(finished, len(turns) - 1) + 1)


def _target_turns(turns: Sequence[Turn], costs: Sequence[int], tokens: float) -> int:
    """Number of oldest messages with that many tokens; a turn's cost is divided like its messages'
    counts.
    """
    passed, used = 0, 0.0
    for turn, cost in zip(turns, costs, strict=True):
        if used + cost < tokens:
            passed, used = passed + len(turn.messages), used + cost
            continue
        total = turn.tokens
        for message in turn.messages:
            if used >= tokens:
                return passed
            used += cost * message.tokens / total if total else cost / len(turn.messages)
            passed += 1
        return passed
    return passed


def _score_cuts(turns: Sequence[Turn], cuts: Collection[int]) -> tuple[CutCandidate, ...]:
    topics = topic_changes(turns, cuts)
    return tuple(_make_candidate(turns, cut, cut in topics) for cut in cuts)


def _make_candidate(turns: Sequence[Turn], cut: int, topic: bool) -> CutCandidate:
    before, after = _neighbours(turns, cut)
    terms = (
        ("base", BASE_SCORE),
        ("tool_result", AFTER_RESULT_SCORE * _has_part(before[-1], ToolResult)),
        ("reply", AFTER_REPLY_SCORE * _is_reply(before[-1])),
        (
            "tool_sequence",
            IN_TOOLS_SCORE * (_has_part(before[-1], ToolCall) or _has_part(after[0], ToolResult)),
        ),
        ("break", AT_BREAK_SCORE * _is_break(before[-1], after[0])),
        ("error", NEAR_ERROR_SCORE * any(map(_is_error, (*before, *after)))),
        ("topic", TOPIC_CHANGE_SCORE * topic),
    )
    score = sum(points for _, points in terms)
    return CutCandidate(
        turns=cut, score=score, terms=tuple((name, points) for name, points in terms if points)
    )


def _neighbours(turns: Sequence[Turn], cut: int) -> tuple[list[Message], list[Message]]:
    """The nearest messages on both sides of a cut, in order."""
    before = [
        message for turn in turns[max(0, cut - ERROR_DISTANCE) : cut] for message in turn.messages
    ]
    after = [message for turn in turns[cut : cut + ERROR_DISTANCE] for message in turn.messages]
    return before[-ERROR_DISTANCE:], after[:ERROR_DISTANCE]


def _has_part(message: Message, kind: type[Part]) -> bool:
    return any(isinstance(part, kind) for part in message.parts)


def _is_reply(message: Message) -> bool:
    return message.role == "assistant" and not _has_part(message, ToolCall)


def _is_break(before: Message, after: Message) -> bool:
    """Whether the person repeats a question without an answer, returns after a gap, or announces a
    new topic.
    """
    twice = (
        before.role == after.role == "user"
        and not _has_part(before, ToolResult)
        and not _has_part(after, ToolResult)
    )
    said = next(
        (part.text for part in after.parts if isinstance(part, Text) and after.role == "user"), ""
    )
    return (
        twice
        or after.at - before.at > LONG_GAP
        or bool(_TOPIC_MARKER.search(said.lstrip()[:OPENING_CHARS]))
    )


def _is_error(message: Message) -> bool:
    """Whether a message reports an error: a failed result, a result that starts or ends with one,
    or a text.
    """
    for part in message.parts:
        match part:
            case ToolResult():
                if part.is_error or _reports_error(_first_and_last_line(part.text)):
                    return True
            case Text():
                if _reports_error(part.text):
                    return True
    return False


def _reports_error(text: str) -> bool:
    low = text.lower()
    if len(low) != len(text):
        text = low  # a few letters become two
    return any(_is_error_at(text, at) for word in _ERROR_HINTS for at in _find_all(low, word))


def _is_error_at(text: str, at: int) -> bool:
    """Whether the text mentions an error without negating it."""
    return bool(_ERROR_WORD.match(text, at)) and not _NEGATION.search(text[max(0, at - 14) : at])


def _find_all(text: str, word: str) -> Iterator[int]:
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + len(word))


def _first_and_last_line(text: str) -> str:
    """First and last line, where a tool reports its outcome; the lines between are data."""
    text = text.strip()
    return f"{text[:200].partition(chr(10))[0]}\n{text[-200:].rpartition(chr(10))[2]}"


def _content_shares(messages: Sequence[Message]) -> tuple[int, int, int]:
    """Count the characters of code, of chat and of everything."""
    code = chat = size = 0
    for part in (part for message in messages for part in message.parts):
        if isinstance(part, Text):
            fenced = sum(map(len, part.text.split(FENCE)[1::2])) if FENCE in part.text else 0
            code, chat, size = code + fenced, chat + len(part.text) - fenced, size + len(part.text)
        else:
            text = _tool_text(part)
            code, size = code + len(text) * _looks_like_code(text), size + len(text)
    return code, chat, size


def _tool_text(part: Part) -> str:
    match part:
        case ToolResult() | Document():
            return part.text
        case ToolCall():
            return "\n".join(_argument_strings(part.input))
    return ""


def _argument_strings(text: str) -> Iterator[str]:
    """The strings in a call's arguments; the text itself if it is not a JSON object."""
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        given = None
    if isinstance(given, dict):
        yield from (value for value in given.values() if isinstance(value, str))
    else:
        yield text


def _looks_like_code(text: str) -> bool:
    """Whether a text has many symbols that are rare in prose, or some of them and indented
    lines.
    """
    head = text[:MAX_JUDGED_CHARS]
    signs = sum(map(head.count, _CODE_SIGNS))
    if signs > _MANY_SIGNS * len(head):
        return True
    lines = [line for line in head.splitlines() if line.strip()]
    inset = sum(line[0] in " \t" for line in lines)
    return signs > _SOME_SIGNS * len(head) and inset > _INDENTED * len(lines)
