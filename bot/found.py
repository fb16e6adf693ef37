"""How something found is told: as JSON to a program, in lines to a person in a terminal."""

from collections.abc import Mapping
from typing import Any

from memory.recall.passages import Passage


def told(passage: Passage) -> dict[str, Any]:
    """As JSON: text, kind, score, source; of a file path, line, lines; of something said turn, conversation; date."""
    if passage.path:
        where: dict[str, Any] = {
            "path": passage.path,
            "line": passage.line,
            "lines": [passage.line, max(passage.line, passage.last)],
        }
    else:
        where = {"turn": passage.turn, "conversation": passage.conversation}
    date = {"date": passage.date} if passage.date else {}
    return {
        "text": passage.text,
        "kind": passage.kind,
        **where,
        **date,
        "score": passage.score,
        "source": source(passage),
    }


def source(passage: Passage) -> str:
    """Where it stands: memory/2026-11-20.md:7–8, or turn 12."""
    if not passage.path:
        return f"turn {passage.turn}"
    lines = f"{passage.line}–{passage.last}" if passage.last > passage.line else f"{passage.line}"
    return f"{passage.path}:{lines}"


def printed(number: int, result: Mapping[str, Any]) -> str:
    """One result, as `told` has it, for a terminal: what was found, and below it where."""
    from channels.terminal_view import visible

    first, *more = visible(str(result["text"])).splitlines() or [""]
    head = f"{number}. "
    talk = result.get("conversation")
    where = f"{result['source']} of {talk}" if talk else str(result["source"])
    below = [*more, f"— {visible(where)}"]
    return "\n".join([head + first, *(" " * len(head) + line for line in below)])
