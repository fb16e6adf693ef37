"""What tools print: logs, search hits, test runs, settings, rows of a table, pages of
documentation.
"""

import json
import random
from collections.abc import Sequence
from datetime import datetime, timedelta

from benchmarks.cases.code import DEEDS, STATES, THINGS, TRAITS, camel, inject, pascal
from benchmarks.cases.script import BEGIN

HOSTS = ("web-1", "web-2", "worker-3", "worker-4", "worker-7", "edge-1", "db-2")
LEVELS = ("INFO", "INFO", "INFO", "INFO", "DEBUG", "DEBUG", "WARN")
SENTENCES = (
    "A {thing} is created by the {other} service and may be changed until its {trait} is set.",
    "When two clients {deed} the same {thing}, the later one is told so and has to read again.",
    "The {trait} of a {thing} is opaque: keep it as it is, do not parse it.",
    "Lists come in pages; ask for the next one with the cursor of the last {thing}.",
    (
        "A request that takes longer than the limit goes on in the background, and its {other} can "
        "be asked for."
    ),
    "Every {thing} belongs to one {other}; moving it needs the permission to {deed} both.",
    "Deleted records stay readable for a while, with {trait} set and everything else empty.",
    "The signature covers the body as it was sent, so verify it before the body is parsed.",
    "Clients should wait longer after each failure and give up after a day.",
    "To {deed} a {thing} twice is safe as long as both requests carry the same key.",
    "If the {other} is {state}, the call is refused and names the {trait} that is in the way.",
    "Amounts are in minor units of the {thing}'s currency and never negative.",
)


def log(rng: random.Random, service: str, chars: int, *, fact: str = "", where: float = 0.5) -> str:
    """A service's log of about so many characters; fact: a line that is put in at that share of
    it.
    """
    now, lines, size = BEGIN - timedelta(hours=rng.randint(1, 40)), list[str](), 0
    while size < chars:
        now += timedelta(milliseconds=rng.randint(3, 4000))
        lines.append(_log_line(rng, service, now))
        size += len(lines[-1]) + 1
    return inject("\n".join(lines), fact, where) if fact else "\n".join(lines)


def hits(rng: random.Random, word: str, count: int, *, fact: str = "") -> str:
    """A search's hits, one a line: path, line number, the line; fact: one more of them."""
    found = []
    for _ in range(count):
        thing, other = rng.choice(THINGS), rng.choice(THINGS)
        line = rng.choice(
            (
                (
                    f"const {other} = await "
                    f"{camel(rng.choice(DEEDS), word)}({thing}.{rng.choice(TRAITS)});"
                ),
                f"export function {camel(rng.choice(DEEDS), word, other)}({thing}) {{",
                f"// {word} is {rng.choice(STATES)} once the {thing} has its {rng.choice(TRAITS)}",
                f"import {{ {pascal(word, other)} }} from '../{thing}';",
                f"expect({word}.{rng.choice(TRAITS)}).toBe('{rng.choice(STATES)}');",
            )
        )
        found.append(f"src/{thing}/{thing}.{rng.choice(DEEDS)}.js:{rng.randint(3, 640)}: {line}")
    if fact:
        found.insert(len(found) // 2, fact)
    return "\n".join([f"{len(found)} matches", *found])


def suite(rng: random.Random, names: Sequence[str], failing: Sequence[str]) -> str:
    """A run of test files; failing: what is said of the failures, one text each."""
    lines = [
        f"PASS src/{name}.test.js ({rng.randint(20, 900)} ms, {rng.randint(3, 21)} tests)"
        for name in names
    ]
    lines += [f"FAIL {text}" for text in failing]
    total = len(names) * 9 + len(failing)
    lines.append(f"\nTests: {len(failing)} failed, {total - len(failing)} passed, {total} total")
    return "\n".join(lines)


def rows(rng: random.Random, thing: str, count: int, *, fact: str = "") -> str:
    """An answer of a database, as aligned text; fact: a row of its own in the middle."""
    names = rng.sample(TRAITS, 4)
    lines = [f"{thing}_id | " + " | ".join(names)]
    for _ in range(count):
        cells = (
            rng.choice(STATES),
            str(rng.randint(10, 99_999)),
            f"{rng.choice(THINGS)}-{rng.randint(100, 999)}",
            (BEGIN - timedelta(minutes=rng.randint(1, 90_000))).strftime("%Y-%m-%d %H:%M"),
        )
        lines.append(f"{rng.randint(100_000, 999_999)} | " + " | ".join(rng.sample(cells, 4)))
    if fact:
        lines.insert(len(lines) // 2, fact)
    return "\n".join([*lines, f"({len(lines) - 1} rows)"])


def settings(rng: random.Random, chars: int, **fixed: object) -> str:
    """A settings file in JSON; fixed: keys with the values they must have."""
    made: dict[str, object] = {}
    size = 0
    while size < chars:
        section = {trait: rng.choice((rng.randint(1, 9000), rng.choice(STATES), rng.random() < 0.5)) for trait in rng.sample(TRAITS, 6)}  # fmt: skip  # noqa: E501, RUF100
        made[camel(rng.choice(THINGS), rng.choice(THINGS), rng.choice(DEEDS))] = section
        size += len(json.dumps(section, indent=2)) + 20
    keys = list(made)
    return json.dumps({**{k: made[k] for k in keys[: len(keys) // 2]}, **fixed, **made}, indent=2)


def page(rng: random.Random, title: str, chars: int, *, fact: str = "", where: float = 0.5) -> str:
    """A page of documentation with headings; fact: a sentence of its own at that share of it."""
    lines, size = [f"# {title}"], 0
    while size < chars:
        lines.append(f"## {rng.choice(DEEDS).capitalize()} a {rng.choice(THINGS)}")
        lines.append(" ".join(prose(rng) for _ in range(rng.randint(3, 6))))
        size += len(lines[-1]) + len(lines[-2])
    return inject("\n".join(lines), fact, where) if fact else "\n".join(lines)


def prose(rng: random.Random) -> str:
    """One sentence about how such a system behaves."""
    return rng.choice(SENTENCES).format(
        thing=rng.choice(THINGS),
        other=rng.choice(THINGS),
        trait=rng.choice(TRAITS),
        deed=rng.choice(DEEDS),
        state=rng.choice(STATES),
    )


def _log_line(rng: random.Random, service: str, now: datetime) -> str:
    thing, level = rng.choice(THINGS), rng.choice(LEVELS)
    words = rng.choice((
        f"{rng.choice(DEEDS)} {thing} {rng.randint(1000, 99_999)} took {rng.randint(2, 900)} ms",
        f"GET /api/{thing}s/{rng.randint(100, 9999)} 200 {rng.randint(3, 400)} ms",
        f"POST /api/{thing}s 201 {rng.randint(8, 700)} ms trace={rng.getrandbits(32):08x}",
        f"queue depth {rng.randint(0, 300)}, oldest {rng.randint(1, 90)} s",
        f"{thing} {rng.randint(1000, 99_999)} is {rng.choice(STATES)}",
        f"cache {rng.choice(('hit', 'miss'))} {thing}:{rng.getrandbits(24):06x}",
    ))  # fmt: skip
    return (
        f"{now:%Y-%m-%dT%H:%M:%S}.{now.microsecond // 1000:03d}Z {rng.choice(HOSTS)} {service} "
        f"{level} {words}"
    )
