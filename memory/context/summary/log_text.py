"""Writes a fold's section of the daily log: the story, what people and the bot said, one line per
critical call.
"""

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, tzinfo
from math import log

from memory.context.reductions import name_handles
from memory.context.summary.chatter import (
    find_chatter,
    has_facts_beside_code,
    is_empty_answer,
    is_pleasantry,
    is_request,
    only_states,
)
from memory.context.summary.critical_calls import CriticalCall, may_change, only_reads
from memory.context.summary.excerpts import Lang, LogExcerpt, excerpts, shorten_sentence
from memory.context.summary.extractive import utterances_language
from memory.context.summary.grounding import FactIndex, has_facts
from memory.context.summary.transcript import Utterance, is_tool_utterance, utterance_line
from memory.conversation import BOT_SPEAKER
from memory.text.bullets import format_day
from memory.text.language import CJK_CHARACTER
from memory.text.normalize import normalize_text
from memory.text.tokenizer import text_terms

CALLS_SHARE = 3  # lines about tools get at most a third of the other characters: a quarter of all
MAX_COUNT_LINE = 40  # characters of the line that counts the calls without a line
LONG_MESSAGE, MAX_OPENING = 400, 240  # characters; of a long message, its opening stays as it is
MAX_SENTENCE, SHORT_SENTENCE = 240, 80  # characters of a sentence in an opening, and after it
SHORT_ANSWER = 40  # characters; a shorter answer of the bot stands below its question
ITEM_MARK = "•"  # before each item of a list, whose items stand in one line
MAX_READ, MAX_TOOL_READ = 2_000, 500  # characters of a text that are compared with the story
COMMON_SHARE = 0.5  # of the texts; a word in more of them says nothing about the place of a line
SAME_MINUTE = 1_000.0  # weight of a time that a line of the story names
_AFTER_FULL_WIDTH = re.compile(r"(?<=[。！？；：」』》]) ")
_YEAR_OF_DATE = re.compile(r"(?<![\d-])(\d{4})-(?=\d\d?-\d\d?(?![\d-]))")
_TIMESTAMP = re.compile(r"(?<=\d)T(?=\d\d:\d\d)")  # the letter in 2026-12-02T19:00
_TIME = re.compile(r"- (\d\d:\d\d)\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class LogMaterial:
    """What the log of a fold is made of."""

    #: All utterances of its turns in order, those of tools too.
    said: Sequence[Utterance]
    #: Its critical calls, oldest first.
    calls: Sequence[CriticalCall]
    lang: Lang
    zone: tzinfo
    #: Day of the file that it goes into; None if that does not matter.
    day: date | None = None
    #: Name of the conversation in handles.
    key: str = ""
    #: What the earlier summary and the day's file say: a line beside the story says more than that.
    known: str = ""


def write_log(story: str, material: LogMaterial) -> str:
    """Write the log in order of time.

    Args:
        story: validated list items of a model. "" for none: then all that people and the bot said
            is listed. With a story only their sentences with facts that it lacks are, each after
            the last line of the story that is about nothing later.
    """
    story = name_handles(story, material.key)
    lines = [line for line in story.splitlines() if line.strip()]
    said, calls = _lines_beside(story, material)
    placed = [(at, 0, line) for at, line in zip(place_story(lines, material), lines, strict=True)]
    placed += [(at, 1, line) for at, line in said.items()]
    placed += [(at, 2, line) for at, line in calls]
    in_order = sorted(placed, key=lambda item: item[:2])
    return name_handles(
        "\n".join(_with_days(((at, line) for at, _, line in in_order), material)), material.key
    )


def _lines_beside(
    story: str, material: LogMaterial
) -> tuple[dict[int, str], list[tuple[int, str]]]:
    """By position, what was said beside the story, and the lines about calls.

    What a line about a call says is not said again, as long as calls keep to their share of the
    characters.
    """
    unlisted = [call for call in material.calls if not _needs_no_line(call, story)]
    if not story:
        said = dict(_said_lines(material))
        return said, _call_lines(unlisted, _size(said.values()) // CALLS_SHARE, material)
    said = _missing_lines(story, material)
    calls = _call_lines(unlisted, _size((story, *said.values())) // CALLS_SHARE, material)
    call_lines = [line for _, line in calls]
    known = _TIMESTAMP.sub(" ", "\n".join((story, *call_lines)))
    fewer = _missing_lines(known, material)
    if _size(call_lines) * CALLS_SHARE <= _size((story, *fewer.values())):
        return fewer, calls
    return said, calls


def _needs_no_line(call: CriticalCall, story: str) -> bool:
    """Whether a call needs no line: the story has its handle, or names what it has changed.

    That something could not be read is no event of a day.
    """
    if only_reads(call.tool) or call.logged[-1].rpartition("recall(")[2] in story:
        return True
    return not call.failed and bool(call.subject) and call.subject in story


def _size(texts: Iterable[str]) -> int:
    return sum(len(text) + 1 for text in texts)


def _with_days(placed: Iterable[tuple[int, str]], material: LogMaterial) -> Iterator[str]:
    """The lines, under headings of their days where those are not the day of the file.

    A fold may cover many days, and is made on the last one or later; its lines have the time alone.
    """
    day = material.day
    for at, line in placed:
        said_on = (
            material.said[max(0, at)].message.at.astimezone(material.zone).date() if day else None
        )
        if said_on and said_on != day:
            day = said_on
            yield format_day(day)
        yield line


def log_utterances(said: Sequence[Utterance], zone: tzinfo) -> str:
    """What people and the bot said, one line per message, for a range that no model has written
    about.
    """
    material = LogMaterial(said=said, calls=(), lang=utterances_language(said), zone=zone)
    return "\n".join(line for _, line in _said_lines(material))


def _said_lines(material: LogMaterial) -> Iterator[tuple[int, str]]:
    """Each message as a line: a short one whole, of a long one the beginning and what has facts not
    listed before.
    """
    known, chatter = FactIndex(), find_chatter(material.said)
    with_tools = _turns_with_tools(material.said)
    for at, utterance in enumerate(material.said):
        if is_tool_utterance(utterance) or at in chatter:
            continue
        found: Sequence[LogExcerpt] = excerpts(utterance, material.lang)
        # what the bot says after a tool tells what came of it
        if utterance.speaker == BOT_SPEAKER and utterance.message.turn not in with_tools:
            found = _without_empty(found, known, _words_of_person(at, material))
        if not found:
            continue
        line = _line_of(utterance, _abridge(found, known), material.zone)
        known.add(line)
        yield at, line


def _without_empty(
    found: Sequence[LogExcerpt], known: FactIndex, person: str
) -> Sequence[LogExcerpt]:
    """What the bot says without the sentences that add nothing; none if only politeness is left."""
    kept = [
        item for item in found if item.is_label or not is_empty_answer(item.text, person, known)
    ]
    if len(kept) < len(found) and all(is_pleasantry(item.text) for item in kept):
        return []
    return kept


def _abridge(found: Sequence[LogExcerpt], known: FactIndex) -> Iterator[LogExcerpt]:
    """The beginning, the data labels, and the sentences with facts that are not known; "…" for what
    is left out.
    """
    gap, new = False, FactIndex()
    for item, is_opening in _with_opening(found):
        lost = has_facts(item.text) and not known.has_all(item.text) and not new.has_all(item.text)
        if not (item.is_label or is_opening or lost):
            gap = True
            continue
        if gap:
            yield LogExcerpt(text="…")
        gap = False
        short = _shortened(item, is_opening=is_opening)
        new.add(short.text)
        yield short
    if gap:
        yield LogExcerpt(text="…")


def _missing_lines(story: str, material: LogMaterial) -> dict[int, str]:
    """By position, what each message said with facts that neither the story nor an earlier line
    has.
    """
    known = FactIndex()
    known.add(f"{story}\n{material.known}")
    with_tools = _turns_with_tools(material.said)
    lines: dict[int, str] = {}
    for at, utterance in enumerate(material.said):
        if is_tool_utterance(utterance):
            continue
        found: Sequence[LogExcerpt] = excerpts(utterance, material.lang)
        is_by_bot = utterance.speaker == BOT_SPEAKER
        if is_by_bot:
            rests_on_tools = utterance.message.turn in with_tools
            # a comment on what the person states: the statement is the fact
            if not rests_on_tools and only_states(_words_of_person(at, material)):
                continue
            found = _without_advice(found, rests_on_tools=rests_on_tools)
        lost = _lost_sentences(found, known, material)
        if not lost:
            continue
        if not is_by_bot and _is_short(found):
            lost = found
        question = _question_of(at, material) if _is_short_answer(utterance, lost) else None
        if question is not None and question not in lines:
            lines[question] = _opening_line(material.said[question], material)
        lines[at] = _line_of(utterance, lost, material.zone)
    return lines


def _lost_sentences(
    found: Sequence[LogExcerpt], known: FactIndex, material: LogMaterial
) -> Sequence[LogExcerpt]:
    """The data labels, and the sentences with facts that are not known; they are known then."""
    lost: list[LogExcerpt] = []
    for item, is_opening in _with_opening(found):
        if item.is_label or not _is_known(item.text, known, material):
            lost.append(_shortened(item, is_opening=is_opening))
            known.add(lost[-1].text)
    return lost


def _without_advice(found: Sequence[LogExcerpt], *, rests_on_tools: bool) -> list[LogExcerpt]:
    """What the bot says beside a story, without what it asks for; of what rests on no tool without
    code and long advice: the story tells what came of it.
    """
    kept = [item for item in found if item.is_label or not is_request(item.text)]
    if rests_on_tools:
        return kept
    if _is_long_answer(found):
        return []
    return [item for item in kept if not item.is_label and has_facts_beside_code(item.text)]


def _is_short(found: Sequence[LogExcerpt]) -> bool:
    """Whether a message is short enough to stand as it is."""
    return sum(len(item.text) + 1 for item in found) <= MAX_OPENING


def _is_long_answer(found: Sequence[LogExcerpt]) -> bool:
    """Whether an answer of the bot is long; Chinese needs half the characters."""
    return (
        sum(len(item.text) + len(CJK_CHARACTER.findall(item.text)) for item in found) > LONG_MESSAGE
    )


def _turns_with_tools(said: Iterable[Utterance]) -> frozenset[int]:
    return frozenset(one.message.turn for one in said if is_tool_utterance(one))


def _is_known(sentence: str, known: FactIndex, material: LogMaterial) -> bool:
    """Whether a sentence has no facts beside the known ones; a date in the year of the log is known
    without its year.
    """
    plain = normalize_text(sentence)
    if material.day is not None:
        year = str(material.day.year)
        plain = _YEAR_OF_DATE.sub(lambda found: "" if found[1] == year else found[0], plain)
    return not has_facts(plain) or known.has_all(plain)


def _is_short_answer(utterance: Utterance, lost: Sequence[LogExcerpt]) -> bool:
    """Whether it is an answer of the bot that says little without its question."""
    said = sum(len(item.text) + 1 for item in lost) - 1
    return utterance.speaker == BOT_SPEAKER and said < SHORT_ANSWER


def _question_of(at: int, material: LogMaterial) -> int | None:
    """The position of what a person said last before an answer, in the same turn."""
    turn = material.said[at].message.turn
    for before in range(at - 1, -1, -1):
        utterance = material.said[before]
        if utterance.message.turn != turn:
            break
        if not is_tool_utterance(utterance) and utterance.speaker != BOT_SPEAKER:
            return before
    return None


def _words_of_person(at: int, material: LogMaterial) -> str:
    """What people said before an answer, in the same turn."""
    turn, words = material.said[at].message.turn, list[str]()
    for before in range(at - 1, -1, -1):
        utterance = material.said[before]
        if utterance.message.turn != turn:
            break
        if not is_tool_utterance(utterance) and utterance.speaker != BOT_SPEAKER:
            words.append(utterance.text)
    return "\n".join(words)


def _opening_line(utterance: Utterance, material: LogMaterial) -> str:
    """The beginning of what somebody said, as a line."""
    found = [
        _shortened(item, is_opening=True)
        for item, is_opening in _with_opening(excerpts(utterance, material.lang))
        if is_opening
    ]
    return _line_of(utterance, found or [LogExcerpt(text="…")], material.zone)


def _with_opening(found: Sequence[LogExcerpt]) -> Iterator[tuple[LogExcerpt, bool]]:
    """Each excerpt of a message, and whether it is in its opening; all of a message that is not
    long is.
    """
    left = LONG_MESSAGE if sum(len(item.text) for item in found) <= LONG_MESSAGE else MAX_OPENING
    for item in found:
        left -= len(item.text)
        yield item, left >= 0


def _shortened(item: LogExcerpt, *, is_opening: bool) -> LogExcerpt:
    most = MAX_SENTENCE if is_opening else SHORT_SENTENCE
    return item if item.is_label else replace(item, text=shorten_sentence(item.text, most))


def _line_of(utterance: Utterance, found: Iterable[LogExcerpt], zone: tzinfo) -> str:
    texts = (f"{ITEM_MARK} {item.text}" if item.is_item else item.text for item in found)
    text = _AFTER_FULL_WIDTH.sub("", " ".join(texts))
    return utterance_line(replace(utterance, text=text), zone)


def _fit_lines(wanted: Sequence[CriticalCall], max_chars: int) -> tuple[dict[int, str], int]:
    """Lines of calls by their number, the first calls before longer lines, and the characters
    left.
    """
    lines: dict[int, str] = {}
    left = max_chars
    for level in range(3):
        for number, call in enumerate(wanted):
            cost = len(call.logged[level]) - len(lines.get(number, "")) + (number not in lines)
            if cost <= left and (level == 0 or number in lines):
                left -= cost
                lines[number] = call.logged[level]
    return lines, left


def _call_lines(
    calls: Sequence[CriticalCall], max_chars: int, material: LogMaterial
) -> list[tuple[int, str]]:
    """Lines about calls by position, within `max_chars` characters: changes before failures, the
    newest first.

    As many calls as possible get a line; then lines get their handle and outcome while they fit.
    The calls without a line that may have changed something are counted in one more, which may
    exceed the limit by a few characters.
    """
    position = {(item.message.seq, item.part): at for at, item in enumerate(material.said)}
    wanted = sorted(
        (call for call in calls if (call.seq, call.part) in position),
        key=lambda call: (call.failed, -call.seq, -call.part),
    )
    if sum(len(call.logged[0]) + 1 for call in wanted) > max_chars:
        max_chars -= MAX_COUNT_LINE
    lines, left = _fit_lines(wanted, max_chars)
    placed = [
        (position[wanted[number].seq, wanted[number].part], line) for number, line in lines.items()
    ]
    without = [call for number, call in enumerate(wanted) if number not in lines]
    if rest := [call for call in without if may_change(call.tool)]:
        last = max(position[call.seq, call.part] for call in rest)
        placed.append((last, _count_line(rest, material.lang, left + MAX_COUNT_LINE)))
    return placed


def _count_line(calls: Sequence[CriticalCall], lang: Lang, max_chars: int) -> str:
    """How many calls of which tools, within `max_chars` characters if that is possible."""
    tools = [
        f"{tool[:20]} ×{count}" if count > 1 else tool[:20]
        for tool, count in Counter(call.tool for call in calls).most_common()
    ]
    title = "工具：" if lang == "zh" else "tools: "
    line = f"- {title}{', '.join(tools)}"
    return line if len(line) < min(max_chars, MAX_COUNT_LINE) else f"- {title}{len(calls)}"


# The places of the story's lines


def place_story(lines: Sequence[str], material: LogMaterial) -> list[int]:
    """For each line of the story the position of the utterance that it is about; -1 before the
    first.

    Positions never decrease: of all such ways to place the lines, the one whose lines share most
    with their utterances, rare words counting more. A time at the beginning of a line outweighs
    words.
    """
    texts = [_compared_text(item) for item in material.said]
    where: dict[str, list[int]] = defaultdict(list)
    for at, text in enumerate(texts):
        for term in set(text_terms(text)):
            where[term].append(at)
    minutes: dict[str, list[int]] = defaultdict(list)
    for at, item in enumerate(material.said):
        minutes[f"{item.message.at.astimezone(material.zone):%H:%M}"].append(at)
    return _best_places([_line_scores(line, where, minutes, len(texts)) for line in lines])


def _compared_text(utterance: Utterance) -> str:
    return utterance.text[: MAX_TOOL_READ if is_tool_utterance(utterance) else MAX_READ]


def _line_scores(
    line: str, where: Mapping[str, Sequence[int]], minutes: Mapping[str, Sequence[int]], count: int
) -> dict[int, float]:
    """What a line shares with utterances, by their position."""
    scores: dict[int, float] = defaultdict(float)
    for term in set(text_terms(line)):
        found = where.get(term, ())
        if len(found) <= max(1, COMMON_SHARE * count):
            for at in found:
                scores[at] += log(1 + count / len(found))
    if time := _TIME.match(line):
        for at in minutes.get(time[1], ()):
            scores[at] += SAME_MINUTE
    return scores


def _best_places(scores: Sequence[Mapping[int, float]]) -> list[int]:
    """Positions that never decrease, with the greatest sum of scores; a line without a score
    follows its neighbour.
    """
    ends: list[int] = []  # positions, ascending, at which a better sum is reached
    sums: list[float] = []
    chains: list[tuple[int, int, object] | None] = []  # (line, position, what came before)
    for number, found in enumerate(scores):
        new: list[tuple[int, float, tuple[int, int, object]]] = []
        for at, score in found.items():
            before = bisect_right(ends, at) - 1
            total, chain = (sums[before], chains[before]) if before >= 0 else (0.0, None)
            new.append((at, total + score, (number, at, chain)))
        for at, total, chain in sorted(new):
            index = bisect_right(ends, at)
            if index and sums[index - 1] >= total:
                continue
            if index and ends[index - 1] == at:
                index -= 1
                del ends[index], sums[index], chains[index]
            stop = index
            while stop < len(ends) and sums[stop] <= total:
                stop += 1
            ends[index:stop], sums[index:stop], chains[index:stop] = [at], [total], [chain]
    return _unwind(chains[-1] if chains else None, len(scores))


def _unwind(chain: object, count: int) -> list[int]:
    places = [-1] * count
    while isinstance(chain, tuple):
        number, at, chain = chain
        places[number] = at
    for number in range(1, count):
        places[number] = max(places[number], places[number - 1])
    return places
