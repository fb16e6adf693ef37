"""The model of the conversations: what it answers to the few things that are said in them."""

import math
import re
from typing import Any

from tests.emulators.model_replies import Call, Reply, is_fold, last_words, plain
from tests.walk.speech import shown

FACT = "berth 47"
CODE = (
    "def tide(hour: int) -> float:",
    "    # a rough guess",
    "    if hour < 6:",
    "        return 0.5",
    "    return 1.5",
)
ROWS = (("Port", "Depth"), ("Akaroa", "4.5 m"), ("Bluff", "6.2 m"), ("Chaltén", "3.1 m"))
HALF = "Let me count the buoys: one, two, three, four, five, six, seven and"
_RECALLED = re.compile(r"\[Recalled (\w+):.*?\[End of recalled \1\]", re.DOTALL)


def answer(body: dict[str, Any]) -> Reply:
    """By the newest words of a person, and by what the tools said to it."""
    if is_fold(body):
        kept = "- The person greeted and asked about tides, a picture and a file."
        return Reply(text=f"<log>\n{kept}\n</log>\n<summary>\n{kept}\n</summary>")
    words = _RECALLED.sub("", last_words(body))
    if "notes" in words:
        return _file(body)
    if found := re.search(r"Send back (\d+\.\d+)", words):
        return (
            Reply(text="There it goes.") if _results(body) else _call("send_file", handle=found[1])
        )
    if "picture" in words or pictures(body, newest=True):
        return Reply(
            text="I see a red square." if pictures(body, newest=True) else "I see no picture."
        )
    if "berth" in words and "?" in words:
        return Reply(text=f"At {FACT}, you said." if FACT in shown(body) else "You never told me.")
    if found := re.search(r"(\d+) steps", words):
        return Reply(text=manual(int(found[1])), delta=400)
    found = re.search(r"«([^»]+)»", words)
    return Reply(text=f"Aye, “{found[1]}”." if found else "Aye.")


def manual(steps: int) -> str:
    """Markdown with a heading, a code block in its middle, numbered steps, and a table at its
    end.
    """
    half = math.ceil(steps / 2)
    code = "\n".join(("```python", *CODE, "```"))
    table = "\n".join([_row(ROWS[0]), "| --- | --- |", *map(_row, ROWS[1:])])
    told = [step(number, steps) for number in range(1, steps + 1)]
    blocks = [
        "# How to berth",
        *told[:half],
        "The **guess**:",
        code,
        *told[half:],
        "## Ports",
        table,
        "Fair winds!",
    ]
    return "\n\n".join(blocks)


def step(number: int, steps: int) -> str:
    """One paragraph."""
    return (
        f"Step {number} of {steps}: slacken the line by {number} turns, look astern, and wait for "
        "the swell."
    )


def pictures(body: dict[str, Any], newest: bool = False) -> int:
    """How many pictures a request shows, of either wire. newest: in the newest message of a
    person.
    """
    rows = [row for row in body["messages"] if row["role"] == "user"]
    contents = [row["content"] for row in (rows[-1:] if newest else rows)]
    blocks = [block for content in contents if isinstance(content, list) for block in content]
    return sum(block.get("type") in ("image", "image_url") for block in blocks)


def _row(cells: tuple[str, str]) -> str:
    return f"| {cells[0]} | {cells[1]} |"


def _results(body: dict[str, Any]) -> list[str]:
    """What the tools said since a person wrote last, in order."""
    found: list[str] = []
    for row in reversed(body["messages"]):
        if row["role"] == "user":
            break
        if row["role"] == "tool":
            found.insert(0, plain(row["content"]))
    return found


def _file(body: dict[str, Any]) -> Reply:
    """Write a file, send it, and tell what came of that."""
    results = _results(body)
    if not results:
        return _call(
            "write_file", path="outbox/notes.md", content="# Notes\n\nHigh water at noon.\n"
        )
    if len(results) == 1:
        return _call("send_file", path="outbox/notes.md", caption="Your notes")
    return Reply(text=f"The tool says: {results[-1]}")


def _call(name: str, **arguments: str) -> Reply:
    return Reply(calls=(Call(id=f"call_{name}", name=name, input=arguments),))
