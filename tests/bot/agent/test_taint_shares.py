"""How many answers count as resting on words from outside, in a life with own notes, commands and
other talk.

`python -m tests.bot.agent.test_taint_shares` prints the figures of docs/figures.md: 90 turns about
notes, 300 others.
"""

import asyncio
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.models.base import Request
from bot.models.providers.offline import ScriptedAnswer
from memory.conversation import ToolResult
from tests.bot.inside import Inside
from tests.bot.talk import call, words
from tests.bot.tools.exec.sandboxed import needs_sandbox
from tests.bot.tools.exec.test_exec_in_bot import ON, WAITING, code, owned

PLANTS = (
    "roses",
    "tulips",
    "tomatoes",
    "basil",
    "beans",
    "carrots",
    "leeks",
    "mint",
    "peas",
    "kale",
)
ACTS = (
    *(
        "bring water to",
        "cut back",
        "feed",
        "move",
        "cover",
        "harvest",
        "sow",
        "weed around",
        "stake",
        "thin out",
    ),
    *("look for snails on", "photograph", "order seeds of"),
)
TOPICS = (
    "Which train goes to Bern after nine",
    "What is a short word for a wooden bridge",
    "Please suggest a dinner for four with {plant}",
    "How do I wash a wool coat",
    "When was the printing press invented",
    "What rhymes with silver, or with {plant}",
)
COMMAND = ("wc", "-l", "count.txt")
# No search is given up on a busy machine, and nothing else asks the model.
SETTINGS = {**ON, "memory": {"extract": False, "recall_timeout_ms": 10_000}}
RUN = "How many lines has the counting file by now? Run it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """Answers that are labelled, of all; and commands that were asked for again, of all."""

    of_notes: tuple[int, int]
    of_others: tuple[int, int]
    asked_again: tuple[int, int]


def model(request: Request) -> ScriptedAnswer:
    """Write, read and list notes as the person says; run the one command; else chat."""
    asked = next(
        (
            text
            for text in reversed(words(request))
            if text.startswith(("Note", "Read", "Which files", RUN))
        ),
        "",
    )
    running = request.messages[request.stable :]
    done = [part for message in running for part in message.parts if isinstance(part, ToolResult)]
    typed = "\n".join(text for message in running for text in _texts(message.parts))
    if not asked or asked not in typed or done:
        return "Here is what I think of it." if not done else f"That is: {done[-1].text[-60:]}"
    if asked.startswith(RUN):
        return call("exec", argv=list(COMMAND))
    if asked.startswith("Which files"):
        return call("list_files", path="notes")
    path = f"notes/{_number(asked)}.md"
    return (
        call("read_file", path=path)
        if asked.startswith("Read")
        else call("write_file", path=path, content=asked)
    )


def _texts(parts: Sequence[object]) -> list[str]:
    return [text for part in parts if isinstance(text := getattr(part, "text", None), str)]


def _number(text: str) -> str:
    found = re.search(r"\d+", text)
    assert found
    return found[0]


def about_notes(turns: int) -> list[str]:
    """What a person says who writes a note, reads it, and looks at the list."""
    said = []
    for number in range(turns // 3 + 1):
        plant, act = PLANTS[number % len(PLANTS)], ACTS[number % len(ACTS)]
        said += [
            f"Note {number}: {act} the {plant} on day {number}",
            f"Read note {number} to me",
            "Which files are there?",
        ]
    return said[:turns]


async def live(it: Inside, notes: int, others: int) -> Shares:
    """Run a command that is approved for good, then talk about notes, then of other things, then
    run it six times.
    """
    root = it.bot.workspace.root / "files"
    root.mkdir(exist_ok=True)
    (root / "count.txt").write_text("one\ntwo\n")
    await it.text(f"{RUN}.", chat="run")
    await it.bot.settled()
    await approve_in(it)
    for said in about_notes(notes):
        await it.text(said, chat="notes")
    for number in range(others):
        topic = TOPICS[number % len(TOPICS)].format(plant=PLANTS[number % len(PLANTS)])
        await it.text(f"{topic}, number {number}?", chat=f"other{number // 10}")
    asked = 0
    for number in range(6):
        await it.text(f"{RUN}, time {number}.", chat=f"again{number}")
        await it.bot.settled()
        results = [part for message in it.model.requests[-1].messages for part in message.parts]
        asked += any(isinstance(part, ToolResult) and WAITING in part.text for part in results)
    others_in = [f"other{number}" for number in range((others + 9) // 10)]
    return Shares(
        of_notes=await labelled(it, ["notes"]),
        of_others=await labelled(it, others_in),
        asked_again=(asked, 6),
    )


async def approve_in(it: Inside) -> None:
    await it.text(f"/approve {code(it)} always", chat="run")
    await it.bot.settled()


async def labelled(it: Inside, chats: Sequence[str]) -> tuple[int, int]:
    """The labelled answers of these chats, and all of them."""
    found, every = 0, 0
    for chat in chats:
        held = await it.bot.store.sessions.messages(await it.conversation(chat), 1, 10_000, 10_000)
        last = {message.turn: message for message in held if message.role == "assistant"}
        found += sum(message.tainted for message in last.values())
        every += len(last)
    return found, every


@needs_sandbox
async def test_own_notes_and_own_runs_mark_neither_their_chat_nor_others(tmp_path: Path) -> None:
    async with owned(tmp_path, model, SETTINGS) as it:
        shares = await live(it, notes=6, others=6)
    assert shares == Shares(of_notes=(0, 6), of_others=(0, 6), asked_again=(0, 6))


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with owned(Path(folder), model, SETTINGS) as it:
            print(await live(it, notes=90, others=300))


if __name__ == "__main__":
    asyncio.run(main())
