"""Source files as a team might have written them: JavaScript, TypeScript and Python out of a small
grammar.
"""

import random
from collections.abc import Callable, Iterable, Iterator


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


THINGS = _words(
    "invoice order payment session token tenant webhook cart customer ledger refund shipment "
    "schedule report voucher discount address receipt batch queue cursor lock snapshot profile "
    "role permission audit event job retry currency "
    "tariff quota region carrier parcel catalog product variant stock supplier contract mandate "
    "statement balance"
)
DEEDS = _words(
    "load parse validate merge resolve refresh publish archive collect normalise expire reserve "
    "release settle compare "
    "encode decode schedule cancel restore reconcile summarise describe fetch apply assign count "
    "group import export"
)
TRAITS = _words(
    "id createdAt updatedAt status amount currency owner reason attempts version checksum label "
    "locale priority source "
    "target expiresAt note externalId total kind parentId revision tags position weight channel"
)
STATES = _words("pending active settled failed expired archived draft queued running cancelled")
WHYS = (
    "The caller holds the lock already, so this must not wait for it.",
    "Older records have no value here; they count as the default.",
    "Called from the nightly job and from the admin page alike.",
    "The order matters: the ledger is written before anybody is told.",
    "Kept apart from the loader so that it can be tested without a database.",
    "A second call with the same arguments changes nothing.",
    "The upstream service answers 409 for a duplicate, which is not a fault.",
    "Times are in UTC; the page converts them.",
    "The list is small enough to be kept in memory.",
    "Partial results are thrown away, never returned.",
    "Numbers are minor units, so no rounding happens here.",
    "The cache is filled on the first miss and emptied by a deployment.",
)


def camel(*words: str) -> str:
    """loadOrder."""
    return words[0] + "".join(word[:1].upper() + word[1:] for word in words[1:])


def pascal(*words: str) -> str:
    """OrderLoader."""
    return "".join(word[:1].upper() + word[1:] for word in words)


def javascript(rng: random.Random, thing: str, chars: int, *, typed: bool = False) -> str:
    """A module about a thing, about so many characters long; typed: TypeScript."""
    return _written(
        chars,
        _ts_head(rng, thing, typed),
        lambda: _ts_block(rng, thing, typed),
        _ts_tail(rng, thing),
    )


def python(rng: random.Random, thing: str, chars: int) -> str:
    """A Python module about a thing, about so many characters long."""
    return _written(
        chars, _py_head(rng, thing), lambda: _py_block(rng, thing), f'__all__ = ["{pascal(thing)}"]'
    )


def inject(text: str, line: str, where: float) -> str:
    """The text with a line of its own put in at that share of its lines (0 to 1), indented as the
    one before it.
    """
    lines = text.split("\n")
    at = min(len(lines) - 1, max(1, int(len(lines) * where)))
    before = lines[at - 1]
    space = before[: len(before) - len(before.lstrip())]
    return "\n".join([*lines[:at], space + line, *lines[at:]])


def numbered(text: str, first: int = 1) -> str:
    """As a reader of files shows it: each line after its number."""
    return "\n".join(f"{number:>5}\t{line}" for number, line in enumerate(text.split("\n"), first))


def _written(chars: int, head: str, block: Callable[[], str], tail: str) -> str:
    blocks, size = [head], len(head) + len(tail)
    while size < chars:
        blocks.append(block())
        size += len(blocks[-1]) + 2
    return "\n\n".join([*blocks, tail])


def _ts_head(rng: random.Random, thing: str, typed: bool) -> str:
    others = rng.sample(THINGS, 4)
    lines = [
        f"import {{ {camel(rng.choice(DEEDS), o)}, {pascal(o)}Store }} from '../{o}/{o}.store';"
        for o in others
    ]
    lines.append(
        f"import {{ createLogger }} from '../../lib/logger';\n\nconst log = "
        f"createLogger('{thing}');"
    )
    if typed:
        lines.append(
            f"\nexport type {pascal(thing)}State = "
            f"{' | '.join(repr(s) for s in rng.sample(STATES, 4))};"
        )
    return "\n".join(lines)


def _ts_tail(rng: random.Random, thing: str) -> str:
    names = ", ".join(camel(rng.choice(DEEDS), thing, other) for other in rng.sample(THINGS, 3))
    return f"export default {{ {names} }};"


def _ts_block(rng: random.Random, thing: str, typed: bool) -> str:
    kinds: tuple[Callable[[random.Random, str, bool], str], ...] = (
        _ts_function,
        _ts_function,
        _ts_table,
        _ts_class,
    )
    if typed:
        kinds = (*kinds, _ts_interface)
    return rng.choice(kinds)(rng, thing, typed)


def _ts_interface(rng: random.Random, thing: str, typed: bool) -> str:
    types = (
        "string",
        "number",
        "Date",
        "boolean",
        "string | null",
        f"{pascal(rng.choice(THINGS))}[]",
    )
    lines = [
        f"  {trait}{rng.choice(('', '?'))}: {rng.choice(types)};" for trait in rng.sample(TRAITS, 6)
    ]
    return f"export interface {pascal(thing, rng.choice(THINGS))} {{\n" + "\n".join(lines) + "\n}"


def _ts_table(rng: random.Random, thing: str, typed: bool) -> str:
    rows = [f"  {trait}: {rng.choice((rng.randint(2, 9000), repr(rng.choice(STATES))))}," for trait in rng.sample(TRAITS, 7)]  # fmt: skip  # noqa: E501, RUF100
    name = f"{thing}_{rng.choice(DEEDS)}_{rng.choice(('defaults', 'limits', 'labels'))}".upper()
    return f"const {name} = {{\n" + "\n".join(rows) + "\n};"


def _ts_class(rng: random.Random, thing: str, typed: bool) -> str:
    name = pascal(thing, rng.choice(THINGS), rng.choice(("store", "client", "worker", "policy")))
    body = "\n\n".join(
        _indented(_ts_function(rng, thing, typed, method=True)) for _ in range(rng.randint(2, 3))
    )
    return f"export class {name} {{\n{body}\n}}"


def _ts_function(rng: random.Random, thing: str, typed: bool, method: bool = False) -> str:
    other, trait = rng.choice(THINGS), rng.choice(TRAITS)
    name = camel(rng.choice(DEEDS), other, rng.choice(("", thing)))
    arguments = (
        f"{other}: {pascal(other)}, limit = {rng.randint(5, 500)}"
        if typed
        else f"{other}, options = {{}}"
    )
    result = f": Promise<{pascal(other)}[]>" if typed else ""
    lines = [f"// {rng.choice(WHYS)}"] if rng.random() < 0.7 else []
    lines.append(
        f"{'async ' if method else 'export async function '}{name}({arguments}){result} {{"
    )
    lines += _indented("\n".join(_ts_statements(rng, other, trait))).split("\n")
    lines += [f"  return {rng.choice(('rows', 'found', 'result'))};", "}"]
    return "\n".join(lines)


def _ts_statements(rng: random.Random, other: str, trait: str) -> Iterator[str]:
    state, number = rng.choice(STATES), rng.randint(2, 5000)
    deed, second = rng.choice(DEEDS), rng.choice(THINGS)
    shapes: Iterable[str] = (
        f"if (!{other}.{trait}) {{\n  throw new {pascal(other)}Error('{other} has no {trait}');\n}}",  # noqa: E501
        (
            f"const {second}s = await this.{second}Store.{deed}({{ {trait}: {other}.{trait}, "
            f"limit: {number} }});"
        ),
        f"for (const entry of {second}s) {{\n  if (entry.status === '{state}') continue;\n"
        f"  await {camel(deed, second)}(entry, {{ attempts: {rng.randint(1, 8)} }});\n}}",
        f"log.info('{deed} {other}', {{ {trait}: {other}.{trait}, count: {second}s.length }});",
        (
            f"const rows = {second}s.filter((row) => row.{trait} > {number}).map((row) => "
            f"row.{rng.choice(TRAITS)});"
        ),
        f"const found = new Map({second}s.map((row) => [row.{trait}, row]));",
        f"try {{\n  await {camel(deed, other)}({other});\n}} catch (error) {{\n"
        f"  log.warn('could not {deed} {other}', error);\n  {other}.status = '{state}';\n}}",
        f"const result = Object.freeze({{ ...{other}, {trait}: {number}, status: '{state}' }});",
    )
    yield from rng.sample(tuple(shapes), rng.randint(3, 5))


def _py_head(rng: random.Random, thing: str) -> str:
    others = rng.sample(THINGS, 4)
    lines = [
        (
            f'"""What the shop knows about a {thing}: {rng.choice(DEEDS)} it, {rng.choice(DEEDS)} '
            'it."""\n'
        )
    ]
    lines += [
        f"from shop.{other} import {pascal(other)}Store, {rng.choice(DEEDS)}_{other}"
        for other in others
    ]
    lines.append(f'\nlog = get_logger("{thing}")')
    return "\n".join(lines)


def _py_block(rng: random.Random, thing: str) -> str:
    return rng.choice((_py_function, _py_function, _py_class))(rng, thing)


def _py_class(rng: random.Random, thing: str) -> str:
    fields = "\n".join(
        f"    {trait}: {rng.choice(('str', 'int', 'bool', 'str | None'))}"
        for trait in rng.sample(TRAITS, 5)
    )
    body = "\n\n".join(_indented(_py_function(rng, thing, method=True), 4) for _ in range(2))
    return f"@dataclass\nclass {pascal(thing, rng.choice(THINGS))}:\n{fields}\n\n{body}"


def _py_function(rng: random.Random, thing: str, method: bool = False) -> str:
    other, trait, second = rng.choice(THINGS), rng.choice(TRAITS), rng.choice(THINGS)
    deed, state, number = rng.choice(DEEDS), rng.choice(STATES), rng.randint(2, 5000)
    shapes = (
        f"if not {other}.{trait}:\n    raise {pascal(other)}Error('{other} without {trait}')",
        f"{second}s = await {other}.{deed}({trait}={other}.{trait}, limit={number})",
        f"for entry in {second}s:\n    if entry.status == '{state}':\n        continue\n"
        f"    await {rng.choice(DEEDS)}_{second}(entry, attempts={rng.randint(1, 8)})",
        f"log.info('{deed} {other}', {trait}={other}.{trait}, count=len({second}s))",
        f"rows = [row.{rng.choice(TRAITS)} for row in {second}s if row.{trait} > {number}]",
        f"{other} = replace({other}, {trait}={number}, status='{state}')",
    )
    body = "\n".join(rng.sample(shapes, rng.randint(3, 5)))
    head = f"async def {deed}_{other}_{rng.choice((thing, second))}({'self, ' if method else ''}{other}: {pascal(other)}) -> list[str]:"  # fmt: skip  # noqa: E501, RUF100
    return f'{head}\n    """{rng.choice(WHYS)}"""\n{_indented(body, 4)}\n    return rows'


def _indented(text: str, by: int = 2) -> str:
    return "\n".join(" " * by + line if line else line for line in text.split("\n"))
