"""Labels what was made of tainted words: the lines of a fold's texts, and what the bot writes."""

import hashlib
import json
import re
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import chain, compress
from threading import Lock

from memory.context.evidence import CleanWords, TaintedWords
from memory.context.summary.critical_calls import call_outcomes, outcome_subject
from memory.context.summary.extractive import EXTRACT_HEADINGS
from memory.context.summary.grounding import split_sentences
from memory.context.summary.transcript import is_tool_utterance, list_utterances
from memory.context.summary.validation import FoldSource
from memory.context.taint import (
    CLEAN_FOLD,
    NOT_NOTED,
    NOTE_TOOL,
    FoldLabel,
    ReplyLabel,
    is_tainted,
    is_view_tainted,
    judge_parts,
    line_key,
    normalize_words,
)
from memory.conversation import (
    Document,
    Image,
    Message,
    Part,
    Session,
    Summary,
    Text,
    ToolCall,
    ToolResult,
)
from memory.text.bullets import heading_day
from memory.text.language import HEADINGS, split_line
from memory.workspace import daily_log

MAX_KNOWN_SECTIONS = 4_096  # of logs, some 150 bytes each
_FIXED_HEADINGS = frozenset(
    map(
        normalize_words,
        (
            *(head for heads in HEADINGS.values() for head in heads.values()),
            *chain(*EXTRACT_HEADINGS.values()),
        ),
    )
)
_NOTE_LINE = re.compile(rf"({NOTE_TOOL}\b.*) (recall\(handle=\"\d+\.\d+\"\))")
_ARROW = re.compile(r"→|\bfailed:|失败：")
# The last line of an extractive summary.
_DIGEST_MARK = re.compile(
    r"\[\+\d+ messages, digest\] recall\(turn=\d+\)(?: … recall\(turn=\d+\))?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldLabels:
    """The taint columns of a fold's row."""

    tainted: bool
    clean_lines: str
    summary_tainted: bool


def label_texts(log: str, summary: str, source: FoldSource) -> FoldLabels:
    """Label the lines of a fold's texts.

    A line is clean if each of its sentences is one that the person wrote, that the bot said in a
    clean turn or that a clean line of the earlier summary has, word for word or restated. Where
    only lines of the earlier summary are tainted, and the turns at most by what was seen beside
    them, a line is also clean if it has none of their words.
    """
    tainted_parts = {
        (message.id, part) for message, part, tainted in judge_parts(source.messages) if tainted
    }
    if not tainted_parts and not any(map(source.label.covers, summary_lines_of(source.before))):
        return FoldLabels(tainted=False, clean_lines="", summary_tainted=False)
    log_lines = [row.text for row in daily_log.iter_rows(log)]
    summary_lines = list(summary_lines_of(summary))
    clean_lines = set(
        filter(_LineJudge(source, tainted_parts), dict.fromkeys((*log_lines, *summary_lines)))
    )
    summary_tainted = not clean_lines.issuperset(summary_lines)
    return FoldLabels(
        tainted=summary_tainted or not clean_lines.issuperset(log_lines),
        clean_lines=json.dumps(sorted(set(map(line_key, clean_lines)))),
        summary_tainted=summary_tainted,
    )


class _LineJudge:
    """Judges the lines of one fold by its source."""

    def __init__(self, source: FoldSource, tainted_parts: Set[tuple[str, int]]) -> None:
        """tainted_parts: message id and position."""
        earlier, is_tainted = list(summary_lines_of(source.before)), source.label.covers
        lines = [line for line in earlier if not is_tainted(line)]
        said = [
            one
            for one in list_utterances(source.messages)
            if (one.message.id, one.part) not in tainted_parts
        ]
        own, bot = list[str](), list[str]()
        for utterance in said:
            if not is_tool_utterance(utterance):
                (own if utterance.message.role == "user" else bot).append(utterance.text)
        self._verbatim = set(map(normalize_words, lines))
        for utterance in said:
            self._verbatim |= {
                normalize_words(utterance.text),
                *map(normalize_words, split_sentences(utterance)),
            }
        self._notes = dict(_accepted_notes(source.messages))
        self._words = CleanWords(own, bot, lines)
        self._language_of = "\n".join(own)
        self._carried: TaintedWords | None = None
        seen_only = {message.id for message in source.messages if message.seen_only}
        if all(message in seen_only for message, _ in tainted_parts):
            self._carried = TaintedWords(list(filter(is_tainted, earlier)), [*own, *bot, *lines])

    def __call__(self, line: str) -> bool:
        """Whether a line, without list mark, time and speaker, is clean."""
        if normalize_words(line) in self._verbatim or self._is_note(line):
            return True
        if self._carried is not None and not self._carried.are_in(
            line, any_word=True, language_of=self._language_of
        ):
            return True
        return all(map(self._is_clean_sentence, split_line(line)[1]))

    def _is_clean_sentence(self, sentence: str) -> bool:
        plain = normalize_words(sentence)
        return not plain or plain in self._verbatim or self._words.bear_out(sentence)

    def _is_note(self, line: str) -> bool:
        """Whether a line is about a call of memory_write, of which nothing can be from outside."""
        if not (found := _NOTE_LINE.fullmatch(line.strip())):
            return False
        said = self._notes.get(found[2], "")
        pieces = (normalize_words(piece) for piece in _ARROW.split(found[1].replace("…", "")))
        return bool(said) and all(piece in said for piece in pieces)


def _accepted_notes(messages: Sequence[Message]) -> Iterator[tuple[str, str]]:
    """Handle and words of each call of memory_write and its result.

    What it accepts in a tainted turn is the person's. Of what it refuses, only its own answer is a
    note's words.
    """
    for outcome in call_outcomes(messages):
        if outcome.call.name != NOTE_TOOL or outcome.result is None:
            continue
        if not outcome.failed:
            words = f"{outcome_subject(outcome.call)} {outcome.result.text}"
            yield outcome.handle, normalize_words(f"{NOTE_TOOL} {words}")
        elif outcome.result.text.startswith(NOT_NOTED):
            yield outcome.handle, normalize_words(f"{NOTE_TOOL} {outcome.result.text}")


def label_reply(
    session: Session, parts: Sequence[Part], recalled: Sequence[str] = ()
) -> ReplyLabel:
    """Label what the bot has just written in view of this session.

    Tainted like its turn, it is `seen_only` if it repeats nothing of what taints the view.

    Args:
        recalled: tainted passages in the request.
    """
    if not recalled and not is_view_tainted(session):
        return ReplyLabel()
    messages = [message for turn in session.turns for message in turn.messages]
    view = _texts_in_view(messages, session.summary, recalled)
    if view is None:
        return ReplyLabel(tainted=True)
    words = TaintedWords(view.tainted, view.clean, view.data)
    # A page may be told in another language, but what is left of one once it is gone is in the
    # conversation's.
    is_page_in_view = bool(recalled) or is_tainted(
        replace(message, tainted=False) for message in messages
    )
    is_repeated = False
    for part in parts:
        if isinstance(part, Text | ToolCall):
            text, language = (
                (part.text, view.typed) if isinstance(part, Text) else (part.input, part.input)
            )
            is_repeated |= words.are_in(text, language_of="" if is_page_in_view else language)
    return ReplyLabel(tainted=True, seen_only=not is_repeated)


@dataclass(slots=True, kw_only=True)
class _ViewTexts:
    """The texts that a model sees, by whether they are tainted."""

    tainted: list[str]
    clean: list[str] = field(default_factory=list)
    #: Tainted arguments of calls, which are in no language.
    data: list[str] = field(default_factory=list)
    #: What the person typed last; "" for nothing that is clean.
    typed: str = ""

    def add(self, text: str, *, is_tainted: bool) -> None:
        (self.tainted if is_tainted else self.clean).append(text)


def _texts_in_view(
    messages: Sequence[Message], summary: Summary | None, recalled: Sequence[str]
) -> _ViewTexts | None:
    """Return the texts in view; None beside a picture from outside, whose words are not known."""
    view = _ViewTexts(tainted=list(recalled))
    for message, place, is_outside in judge_parts(messages):
        match message.parts[place]:
            case Image() if is_outside:
                return None
            case ToolCall(input=text) if is_outside and not message.seen_only:
                view.data.append(text)
            case Text(text=text) | ToolResult(text=text) | Document(text=text) if (
                not message.seen_only
            ):
                view.add(text, is_tainted=is_outside)
                if message.origin == "person" and not is_outside:
                    view.typed = text
    if summary is not None:
        label = FoldLabel.of(summary.tainted, summary.clean_lines)
        for line in summary_lines_of(summary.text):
            view.add(line, is_tainted=label.covers(line))
    return view


class KnownCleanLines:
    """Which lines of tainted sections of logs are clean: at a fold, the log has one new section.

    Used by any thread.
    """

    def __init__(self, max_sections: int = MAX_KNOWN_SECTIONS) -> None:
        #: Lines that were judged.
        self.judged = 0
        self._max_sections = max_sections
        self._lock = Lock()
        # one per line, by hash of section and label
        self._flags: OrderedDict[bytes, bytes] = OrderedDict()

    def select(self, lines: Sequence[str], label: FoldLabel) -> Iterator[str]:
        """Select the lines of a section that are clean, among them its heading, the first one."""
        text = "\n".join((*lines, *sorted(label.clean)))
        key = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        with self._lock:
            flags = self._flags.pop(key, b"") or bytes(
                [True, *(self._is_clean(line, label) for line in lines[1:])]
            )
            self._flags[key] = flags
            if len(self._flags) > self._max_sections:
                self._flags.popitem(last=False)
        return compress(lines, flags)

    def _is_clean(self, line: str, label: FoldLabel) -> bool:
        self.judged += 1
        if not line.strip() or heading_day(line):
            return True
        return not label.covers(next((row.text for row in daily_log.iter_rows(line)), line))


def remove_tainted_lines(
    log: str, labels: Mapping[str, FoldLabel], known: KnownCleanLines | None = None
) -> str:
    """Remove the tainted lines from a daily log's text.

    Args:
        labels: by fold id, for every fold with a section in the text.
        known: sections whose lines need not be judged; those that are judged are added.
    """
    known = known or KnownCleanLines()
    shown: list[str] = []
    for label, lines in _split_sections(log, labels):
        shown += known.select(lines, label) if label.tainted else lines
    return "\n".join(shown)


def _split_sections(
    log: str, labels: Mapping[str, FoldLabel]
) -> Iterator[tuple[FoldLabel, list[str]]]:
    label, lines = CLEAN_FOLD, list[str]()
    for line in daily_log.iter_lines(log.removeprefix("\ufeff")):
        fold = daily_log.section_fold(line) if "#" in line else None
        if fold is not None:
            yield label, lines
            label, lines = labels[fold] if fold else CLEAN_FOLD, []
        lines.append(line)
    yield label, lines


def summary_lines_of(summary: str) -> Iterator[str]:
    """The lines of a summary that have content, without list marks, fixed headings and the digest
    mark.
    """
    for line in summary.splitlines():
        text = line.strip()
        if text.startswith("#"):
            text = text.lstrip("# ")
            ours = normalize_words(text) in _FIXED_HEADINGS
        else:
            ours = _DIGEST_MARK.fullmatch(text) is not None
        if normalize_words(text) and not ours:
            yield next((row.text for row in daily_log.iter_rows(text)), text)
