"""Turns of a coding session in a short notation: user text, tool calls, reply."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchmarks.cases import code, outputs
from benchmarks.cases.desk import bash, edit, fetch, read, search
from benchmarks.cases.script import Call, Script


@dataclass(frozen=True, slots=True, kw_only=True)
class Beat:
    """One turn."""

    #: The user's text.
    said: str
    reply: str
    #: Large results of the first, parallel step, each "PATH CHARACTERS"; a URL is fetched, a file
    #: is read.
    big: Sequence[str] = ()
    #: The following steps: "read PATH CHARACTERS", "search WORD HITS", "rows TABLE ROWS", "edit
    #: PATH LINE", "write PATH CHARACTERS", "test WORDS", "fail WORDS" (fails, then passes), "bash
    #: COMMAND".
    steps: Sequence[str] = ()
    #: A line that is inserted into the first large or read result.
    fact: str = ""
    #: Its position there, as a share.
    where: float = 0.5
    #: Old and new text of the first edit.
    change: tuple[str, str] = ("", "")
    #: Output of a failing command.
    fault: str = "the command failed with code 1"
    #: Questions and answers about this turn.
    asked: Sequence[tuple[str, str]] = ()
    #: Turns until they are asked; see Script.ask.
    later: int = 0
    #: Minutes before the turn.
    away: float = 0.0
    #: Characters of filler text in the reply.
    told: int = 0


def play(script: Script, beats: Iterable[Beat], big: float = 1.0, small: float = 1.0) -> None:
    """Append the beats as turns. big, small: factors on the sizes of the large results and of those
    of `steps`.
    """
    rng = random.Random(script.seed + 1)
    for beat in beats:
        script.rest(beat.away)
        facts = [beat.fact] if beat.fact else []
        at_once = tuple(_large(rng, line, beat.where, facts, big) for line in beat.big)
        then = [call for step in beat.steps for call in _calls(rng, step, beat, facts, small)]
        reply = "\n\n".join(filter(None, (beat.reply, _explained(rng, int(beat.told * small)))))
        script.turn(beat.said, *([at_once] if at_once else []), *then, reply=reply)
        for question, answer in beat.asked:
            script.ask(question, answer, later=beat.later)


def _explained(rng: random.Random, chars: int) -> str:
    """Return a list of about so many characters."""
    points: list[str] = []
    while sum(map(len, points)) < chars:
        points.append(
            f"- `{rng.choice(code.THINGS)}`: {outputs.prose(rng)} {rng.choice(code.WHYS)}"
        )
    return "\n".join(points)


def _large(
    rng: random.Random, path_and_size: str, where: float, facts: list[str], factor: float
) -> Call:
    path, size = path_and_size.split()
    chars, fact = int(int(size) * factor), facts.pop() if facts else ""
    if path.startswith("https"):
        return fetch(rng, path, path.rsplit("/", 1)[-1], chars, fact=fact, where=where)
    return read(rng, path, chars, fact=fact, where=where)


def _calls(
    rng: random.Random, step: str, beat: Beat, facts: list[str], factor: float
) -> list[Call]:
    kind, *words = step.split()
    match kind:
        case "read":
            return [_large(rng, " ".join(words), beat.where, facts, factor)]
        case "search":
            return [
                search(
                    rng, words[0], int(int(words[1]) * factor), fact=facts.pop() if facts else ""
                )
            ]
        case "rows":
            count = int(int(words[1]) * factor)
            query = f'psql shop -c "select * from {words[0]}s order by 1 limit {count}"'
            return [
                bash(query, outputs.rows(rng, words[0], count, fact=facts.pop() if facts else ""))
            ]
        case "edit":
            old = beat.change[0] or code.javascript(rng, rng.choice(code.THINGS), 300)
            new = beat.change[1] or f"{old}\n// {rng.choice(code.WHYS)}"
            return [edit(words[0], old, new, int(words[1]))]
        case "write":
            text = code.javascript(rng, words[0].split("/")[1], int(words[1]), typed=True)
            return [
                Call(
                    tool="Write",
                    input={"file_path": words[0], "content": text},
                    result=f"Wrote {words[0]}.",
                )
            ]
        case "test" | "fail":
            return _tested(rng, words, beat.fault if kind == "fail" else "")
    text = outputs.log(rng, words[0], int(1_800 * factor))
    return [bash(" ".join(words), code.inject(text, facts.pop(), beat.where) if facts else text)]


def _tested(rng: random.Random, words: Sequence[str], fault: str) -> list[Call]:
    command = f"npm test -- {words[0]}"
    names = [
        f"{words[0]}/{rng.choice(code.THINGS)}.{word}"
        for word in (*words, *rng.sample(code.DEEDS, 4))
    ]
    passed = bash(command, outputs.suite(rng, names, ()))
    if not fault:
        return [passed]
    failing = [f"src/{names[0]}.test.js\n  ● {rng.choice(code.WHYS)}\n    {fault}"]
    return [bash(command, outputs.suite(rng, names[1:], failing), error=True), passed]
