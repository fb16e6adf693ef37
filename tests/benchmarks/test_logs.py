"""The logs of all recordings: a quarter at the most is of tools, and no fact that was stated is
lost.
"""

import re
from collections.abc import Iterator

import pytest

from benchmarks import context
from benchmarks.cases import CASES
from bot.cli.replay.simulate import ReplaySetting, SimulatedFold, simulate_recording
from memory.context.policies.planner import ContextLimits
from memory.context.policies.policies import POLICIES, build_policy
from memory.context.summary.grounding import GroundingSource, has_facts
from memory.context.summary.validation import FoldSource, SummaryLimit
from memory.context.tokens import load_o200k_counter
from memory.conversation import Text, ToolResult
from memory.text.language import split_line
from tests.by_night import by_night

# Literals, so that the product is not compared with itself.
SHARE = 0.25
MESSAGE = re.compile(r"- \d\d:\d\d (?:User|Bot): ")
CALL = re.compile(
    r'- .* recall\(handle="[\d.]+"\)|- (?:tools: |工具：).*|- (?:Edit|Write|Bash|write_file) \S.*'
)
# characters of a message from which on it is a paste, which the log names with its handle
PASTED = 2_000
FENCED = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)


def digest(source: FoldSource, limit: SummaryLimit) -> tuple[str, str]:
    return "", ""


def story(source: FoldSource, limit: SummaryLimit) -> tuple[str, str]:
    """What a model might write: a line for each turn, in the first words of the question and of the
    answer.
    """
    turns: dict[int, list[str]] = {}
    for message in source.turns:
        texts = [part.text for part in message.parts if isinstance(part, Text)]
        turns.setdefault(message.turn, []).extend(texts)
    lines = [
        f"- {_words(texts[0], 14)}: {_words(texts[-1], 9)}." for texts in turns.values() if texts
    ]
    return "\n".join(lines), "## Goal and state\n" + "\n".join(lines[:8])


def _words(text: str, count: int) -> str:
    plain = re.sub(r"[^a-z\u4e00-\u9fff ,，-]+", " ", text.lower())
    return " ".join(plain.split()[:count])[:90]


def folds(name: str, policy: str, *, with_model: bool) -> tuple[SimulatedFold, ...]:
    limits = ContextLimits(max_tokens=context.BUDGET, max_turns=20, window=200_000, reserve=4_096)
    setting = ReplaySetting(
        policy=build_policy(policy, {}),
        limits=limits,
        counter=load_o200k_counter(),
        summarise=story if with_model else digest,
    )
    return simulate_recording(context.recorded(name), setting).folds


def facts(fold: SimulatedFold) -> Iterator[str]:
    """The sentences with facts of people and the bot; fenced code and long pastes are left out."""
    for message in fold.messages:
        for part in message.parts:
            text = (
                FENCED.sub("", part.text)
                if isinstance(part, Text) and len(part.text) < PASTED
                else ""
            )
            for line in text.splitlines():
                yield from (sentence for sentence in split_line(line)[1] if has_facts(sentence))


def results(fold: SimulatedFold) -> Iterator[str]:
    for message in fold.messages:
        yield from (part.text for part in message.parts if isinstance(part, ToolResult))


# By day one recording of each kind, people's under the policy that folds most often.
BY_DAY = [(name, "rolling") for name in CASES if name in ("assistant_week", "topics_zh")]
BY_DAY += [("debugging", "balanced"), ("light", "budget")]
RUNS = [
    pytest.param(name, policy, marks=() if (name, policy) in BY_DAY else by_night)
    for name in CASES
    for policy in POLICIES
]


@pytest.mark.parametrize(
    "with_model", [False, pytest.param(True, marks=by_night)], ids=["digest", "story"]
)
@pytest.mark.parametrize(("name", "policy"), RUNS)
def test_a_log_is_for_people_and_has_every_fact_that_was_stated(
    name: str, policy: str, with_model: bool
) -> None:
    for fold in folds(name, policy, with_model=with_model):
        lines = fold.log.splitlines()
        of_tools = [line for line in lines if not MESSAGE.match(line) and CALL.fullmatch(line)]
        assert sum(len(line) + 1 for line in of_tools) <= SHARE * (len(fold.log) + 1), fold.log
        assert max(map(len, of_tools), default=0) <= 200
        assert len(set(of_tools)) == len(of_tools)
        known = GroundingSource(f"{fold.log}\n{fold.summary}")
        assert [
            sentence for sentence in facts(fold) if not known.holds(sentence, names=False)
        ] == []
        reported = "\n".join(line for line in lines if MESSAGE.match(line))
        assert not [text for text in results(fold) if len(text) > 60 and text[:60] in reported]
