"""A session told as beats: what is said, which tools are used on what, and what is answered."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchmarks.cases import code, outputs
from benchmarks.cases.desk import bash, edit, fetch, read, search
from benchmarks.cases.script import Call, Script


@dataclass(frozen=True, slots=True, kw_only=True)
class Beat:
    """One turn.

    big: large results that are asked for at once, before anything else, as "PATH CHARACTERS" each; a path that is an
    address is fetched, one with an ending is read. steps: what follows, one after the other: "read PATH CHARACTERS",
    "search WORD HITS", "rows TABLE ROWS", "edit PATH LINE", "write PATH CHARACTERS", "test WORDS", "fail WORDS" (fails,
    then passes), "bash COMMAND".
    fact: a line that stands in the first large or read result, at the share `where` of it. change: what the first edit
    takes out and puts in. fault: what a failing command says. asked: questions and answers about this turn; later: so
    many turns on, 0 as Script.ask has it. away: minutes before it. told: characters by which the reply goes on.
    """

    said: str
    reply: str
    big: Sequence[str] = ()
    steps: Sequence[str] = ()
    fact: str = ""
    where: float = 0.5
    change: tuple[str, str] = ("", "")
    fault: str = "the command failed with code 1"
    asked: Sequence[tuple[str, str]] = ()
    later: int = 0
    away: float = 0.0
    told: int = 0


def play(script: Script, beats: Iterable[Beat], big: float = 1.0, small: float = 1.0) -> None:
    """Append the beats as turns. big, small: factors on the sizes of the large results and of what `steps` return."""
    rng = random.Random(script.seed + 1)
    for beat in beats:
        script.rest(beat.away)
        facts = [beat.fact] if beat.fact else []
        at_once = tuple(_large(rng, *line.split(), beat.where, facts, big) for line in beat.big)
        then = [call for step in beat.steps for call in _calls(rng, step, beat, facts, small)]
        reply = "\n\n".join(filter(None, (beat.reply, _explained(rng, int(beat.told * small)))))
        script.turn(beat.said, *([at_once] if at_once else []), *then, reply=reply)
        for question, answer in beat.asked:
            script.ask(question, answer, later=beat.later)


def _explained(rng: random.Random, chars: int) -> str:
    """Points that a reply makes, about so many characters of them."""
    points: list[str] = []
    while sum(map(len, points)) < chars:
        points.append(f"- `{rng.choice(code.THINGS)}`: {outputs.prose(rng)} {rng.choice(code.WHYS)}")
    return "\n".join(points)


def _large(rng: random.Random, path: str, size: str, where: float, facts: list[str], factor: float) -> Call:
    chars, fact = int(int(size) * factor), facts.pop() if facts else ""
    if path.startswith("https"):
        return fetch(rng, path, path.rsplit("/", 1)[-1], chars, fact=fact, where=where)
    return read(rng, path, chars, fact=fact, where=where)


def _calls(rng: random.Random, step: str, beat: Beat, facts: list[str], factor: float) -> list[Call]:
    kind, *words = step.split()
    match kind:
        case "read":
            return [_large(rng, words[0], words[1], beat.where, facts, factor)]
        case "search":
            return [search(rng, words[0], int(int(words[1]) * factor), fact=facts.pop() if facts else "")]
        case "rows":
            count = int(int(words[1]) * factor)
            query = f'psql shop -c "select * from {words[0]}s order by 1 limit {count}"'
            return [bash(query, outputs.rows(rng, words[0], count, fact=facts.pop() if facts else ""))]
        case "edit":
            old = beat.change[0] or code.javascript(rng, rng.choice(code.THINGS), 300)
            new = beat.change[1] or f"{old}\n// {rng.choice(code.WHYS)}"
            return [edit(words[0], old, new, int(words[1]))]
        case "write":
            text = code.javascript(rng, words[0].split("/")[1], int(words[1]), typed=True)
            return [Call(tool="Write", input={"file_path": words[0], "content": text}, result=f"Wrote {words[0]}.")]
        case "test" | "fail":
            return _tested(rng, words, beat.fault if kind == "fail" else "")
    text = outputs.log(rng, words[0], int(1_800 * factor))
    return [bash(" ".join(words), code.inject(text, facts.pop(), beat.where) if facts else text)]


def _tested(rng: random.Random, words: Sequence[str], fault: str) -> list[Call]:
    command = f"npm test -- {words[0]}"
    names = [f"{words[0]}/{rng.choice(code.THINGS)}.{word}" for word in (*words, *rng.sample(code.DEEDS, 4))]
    passed = bash(command, outputs.suite(rng, names, ()))
    if not fault:
        return [passed]
    failing = [f"src/{names[0]}.test.js\n  ● {rng.choice(code.WHYS)}\n    {fault}"]
    return [bash(command, outputs.suite(rng, names[1:], failing), error=True), passed]
