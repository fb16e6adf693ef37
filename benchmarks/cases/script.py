"""Writes a recording turn by turn on a simulated clock, with probe questions."""

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

BEGIN = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
THINKING, ANSWERING, WORKING = (15.0, 70.0), (4.0, 14.0), (0.5, 4.0)  # seconds: person, model, tool
LATER = (0, 6, 0, 14)  # turns until a question without a turn is asked, in rotation; 0 is the end


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One tool call and its result. say: the model's text before it, "" for none."""

    tool: str
    input: Mapping[str, Any]
    result: str
    error: bool = False
    say: str = ""


@dataclass(slots=True, kw_only=True)
class Probe:
    """A question about turn `fact_turn`; after: the turn after which it is asked, 0 for the last
    one.
    """

    question: str
    answer: str
    fact_turn: int
    after: int = 0


@dataclass(slots=True, kw_only=True)
class Script:
    """Messages in Anthropic's form with times; the same seed gives the same text."""

    name: str
    seed: int
    system: str
    tools: Sequence[Mapping[str, Any]] = ()
    messages: list[dict[str, Any]] = field(default_factory=list)
    probes: list[Probe] = field(default_factory=list)
    turns: int = 0
    seconds: float = 0.0
    rng: random.Random = field(init=False)
    calls: int = 0

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)

    def turn(self, text: str, *steps: Call | Sequence[Call], reply: str) -> int:
        """Append a turn: the user's text, tool calls (a sequence is one parallel step), the final
        reply.

        Returns:
            Its number, from 1.
        """
        self.turns += 1
        self._add("user", text, THINKING)
        for step in steps:
            self._work(step if isinstance(step, Sequence) else (step,))
        self._add("assistant", reply, ANSWERING)
        return self.turns

    def ask(self, question: str, answer: str, *, later: int = 0) -> None:
        """Add a probe about the newest turn, asked so many turns later; 0: as LATER says."""
        later = later or LATER[len(self.probes) % len(LATER)]
        after = self.turns + later if later else 0
        self.probes.append(
            Probe(question=question, answer=answer, fact_turn=self.turns, after=after)
        )

    def rest(self, minutes: float) -> None:
        """Advance the clock."""
        self.seconds += 60 * minutes

    def written(self, minutes: float = 0) -> dict[str, Any]:
        """Return the recording. minutes: its total duration, 0 for the simulated times."""
        scale = 60 * minutes / self.seconds if minutes else 1.0
        messages = [
            {
                **message,
                "at": (BEGIN + timedelta(seconds=round(message["at"] * scale, 3))).isoformat(),
            }
            for message in self.messages
        ]
        probes = [
            {
                "after": min(probe.after or self.turns, self.turns),
                "question": probe.question,
                "answer": probe.answer,
                "fact_turn": probe.fact_turn,
            }
            for probe in self.probes
        ]
        return {
            "name": self.name,
            "system": self.system,
            "tools": list(self.tools),
            "messages": messages,
            "probes": probes,
        }

    def _work(self, calls: Sequence[Call]) -> None:
        ids = [f"toolu_{self.calls + number:04d}" for number in range(1, len(calls) + 1)]
        self.calls += len(calls)
        words = [{"type": "text", "text": call.say} for call in calls if call.say]
        uses = [
            {"type": "tool_use", "id": id, "name": call.tool, "input": dict(call.input)}
            for id, call in zip(ids, calls, strict=True)
        ]
        self._add("assistant", [*words, *uses], ANSWERING)
        results = [
            {
                "type": "tool_result",
                "tool_use_id": id,
                "content": call.result,
                "is_error": call.error,
            }
            for id, call in zip(ids, calls, strict=True)
        ]
        self._add("user", results, WORKING)

    def _add(self, role: str, content: Any, pace: tuple[float, float]) -> None:
        self.seconds += self.rng.uniform(*pace)
        self.messages.append({"role": role, "content": content, "at": self.seconds})


def tool(name: str, description: str, **properties: str) -> dict[str, Any]:
    """Return a tool's specification; properties: descriptions of its arguments, all required
    strings.
    """
    schema = {
        "type": "object",
        "properties": {
            key: {"type": "string", "description": words} for key, words in properties.items()
        },
        "required": list(properties),
    }
    return {"name": name, "description": description, "input_schema": schema}


def dump(case: Mapping[str, Any]) -> str:
    """Format the recording as JSON."""
    return json.dumps(case, ensure_ascii=False)
