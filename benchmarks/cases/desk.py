"""The tools of a programmer's assistant, their calls, and the instructions such an assistant is
given.
"""

import random

from benchmarks.cases import code, outputs
from benchmarks.cases.script import Call, tool

TOOLS = (
    tool(
        "Read",
        "Reads a file and returns its text with line numbers.",
        file_path="Path from the root.",
    ),
    tool(
        "Search",
        "Searches the files for a pattern; one hit a line.",
        pattern="A regular expression.",
        path="Where.",
    ),
    tool(
        "Edit",
        "Replaces a text in a file by another.",
        file_path="Path.",
        old_string="As it is.",
        new_string="New.",
    ),
    tool("Write", "Writes a whole file.", file_path="Path.", content="All of its text."),
    tool("Bash", "Runs a shell command and returns what it prints.", command="The command line."),
    tool("Fetch", "Fetches a page of documentation as text.", url="Its address."),
)
CHAT_TOOLS = (
    tool("search_web", "Searches the web.", query="Words."),
    tool("weather", "The weather of a city.", city="Its name.", day="A date."),
    tool("calendar_add", "Enters something into the calendar.", title="What.", start="When, ISO."),
)
CHAT_SYSTEM = (
    "You are a friendly companion who remembers what was told. Answer in the language of the "
    "person, briefly and plainly. Ask when something is not clear. Never invent facts about the "
    "person; what they told you counts.\n你是一个细心的朋友，记得对方说过的事。用对方的语言回答，"
    "简短、自然；不清楚就问，不要编造。"
)
_RULES = (
    "You are a careful programmer's assistant in a terminal. You read before you change, you "
    "change as little as will "
    "do, and you say what you did in a few sentences.",
    (
        "Search before you read; read whole files only when you need them whole. Never guess the "
        "contents of a file."
    ),
    "After each change run the tests that cover it. When a test fails, say why before you mend it.",
    (
        "Keep to the conventions of the code around you: names, layout, the way errors are raised "
        "and logged."
    ),
    (
        "Never print secrets. Never push, deploy or delete data without being asked to in so many "
        "words."
    ),
    (
        "When there are two ways, name both in a sentence each, say which one you take and why, "
        "and go on."
    ),
    "Commands that take long are announced. Output of commands is quoted only as far as it matters.",  # noqa: E501
    "Commit messages have a subject in the imperative and, where it helps, a body that says why.",
)


def system(rng: random.Random, chars: int, project: str) -> str:
    """Instructions of about so many characters: how to work, then what there is to know of the
    project's modules.
    """
    lines = [*_RULES, f"\n# The project\n\n{project}\n\n# Modules\n"]
    size = sum(map(len, lines))
    things = rng.sample(code.THINGS, len(code.THINGS))
    for thing in things:
        if size >= chars:
            break
        lines.append(
            f"- `src/{thing}/` — {outputs.prose(rng)} {rng.choice(code.WHYS)} Its tests run with "
            f"`npm test -- {thing}`; {rng.choice(code.THINGS)} and {rng.choice(code.THINGS)} "
            "depend on it."
        )
        size += len(lines[-1])
    return "\n".join(lines)


def read(
    rng: random.Random,
    path: str,
    chars: int,
    *,
    fact: str = "",
    where: float = 0.5,
    fixed: str = "",
    say: str = "",
) -> Call:
    """Reading a file that is written on the spot in the language its name ends in.

    fact: a line put in at that share of it; fixed: a text that stands in for a generated one.
    """
    thing = path.rsplit("/", 1)[-1].split(".")[0]
    match path.rsplit(".", 1)[-1]:
        case _ if fixed:
            text = fixed
        case "py":
            text = code.python(rng, thing, chars)
        case "md":
            text = outputs.page(rng, thing, chars)
        case "json":
            text = outputs.settings(rng, chars)
        case "log":
            text = outputs.log(rng, thing, chars)
        case ending:
            text = code.javascript(rng, thing, chars, typed=ending.startswith("ts"))
    text = code.inject(text, fact, where) if fact else text
    return Call(tool="Read", input={"file_path": path}, result=code.numbered(text), say=say)


def search(
    rng: random.Random, pattern: str, count: int, *, fact: str = "", path: str = "src"
) -> Call:
    """Searching for a word that occurs so often."""
    return Call(
        tool="Search",
        input={"pattern": pattern, "path": path},
        result=outputs.hits(rng, pattern, count, fact=fact),
    )


def edit(path: str, old: str, new: str, line: int) -> Call:
    """An edit that worked, at that line."""
    return Call(
        tool="Edit", input={"file_path": path, "old_string": old, "new_string": new},
        result=f"Edited {path} at line {line}: 1 replacement.",
    )  # fmt: skip


def bash(command: str, output: str, *, error: bool = False, say: str = "") -> Call:
    """A command and what it printed."""
    return Call(tool="Bash", input={"command": command}, result=output, error=error, say=say)


def fetch(
    rng: random.Random, url: str, title: str, chars: int, *, fact: str = "", where: float = 0.5
) -> Call:
    """A page of documentation."""
    return Call(
        tool="Fetch",
        input={"url": url},
        result=outputs.page(rng, title, chars, fact=fact, where=where),
    )
