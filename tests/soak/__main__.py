"""A bot that runs for an hour while people chat, a share of all calls goes wrong, and its figures
have to stay flat.

`python -m tests.soak --minutes 60 --faults 0.01 --samples soak.csv --plot docs/soak.svg` runs one
and judges it: nothing lost, nothing doubled without a mark, everything in order, nothing that
grows. The exit code is 1 otherwise. `python -m tests.soak --from soak.csv --plot docs/soak.svg`
judges and draws what was measured before.
"""

import argparse
import asyncio
import contextlib
import csv
import platform
import random
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.emulators.model import ModelEmulator
from tests.emulators.telegram import TelegramEmulator
from tests.soak.faults import Moody, disturb, struck
from tests.soak.figures import COLUMNS, FIGURES, Sample, course, not_flat, table
from tests.soak.people import Person, Reader, Texter, Words, answers, waits
from tests.soak.plot import draw
from tests.soak.watching import look
from tests.walk.chats import Chatter
from tests.walk.harness import COUSIN, FRIEND, OWNER, ColdBot, settings, until
from tests.walk.oracle import Oracle, faults_of, unfounded_notices
from tests.walk.record import ledger_faults, query, unended

EVERY = 5.0
TRIM = 50  # seconds between two samples; requests that the model remembers
PACE = (1.0, 4.0)
READERS, LENGTH = 3, 60
# Seconds between two messages of one person; people at the page, and messages in one conversation
# there.
TEXTERS = (OWNER, FRIEND, COUSIN)
REST = 900.0
LONGEST_FAULT = 300
LONGEST_ANSWER = 1.0
UNLIMITED = {
    "user": {
        "messages_per_minute": 10_000,
        "messages_per_day": 1_000_000,
        "tokens_per_day": 10**11,
        "money_per_day": 1e6,
    },
    "total": {"messages_per_day": 10_000_000, "money_per_day": 1e7},
}


@dataclass(slots=True, kw_only=True)
class Soak:
    """One run: the bot, the two servers it talks to, the people, and what is known of them."""

    bot: ColdBot
    model: ModelEmulator
    moody: Moody
    telegram: TelegramEmulator
    oracle: Oracle
    people: Sequence[Person]
    samples: list[Sample] = field(default_factory=list)
    requests: int = 0

    async def watch(self, file: Path, seconds: float) -> None:
        """A sample every few seconds, written down at once, until the time is over or the bot has
        ended.
        """
        began = time.monotonic()
        with file.open("w", newline="") as out:
            rows = csv.DictWriter(out, COLUMNS, extrasaction="ignore")
            rows.writeheader()
            while (now := time.monotonic() - began) < seconds and self.bot.alive:
                sample = await look(
                    self.bot.pid, self.bot.home, self.bot.web, now, answers(self.people)
                )
                taken = waits(self.people)
                sample["wait"] = 1_000 * statistics.median(taken) if taken else 0.0
                if "tasks" in sample:
                    self.samples.append(sample)
                    rows.writerow({name: f"{sample[name]:.3f}" for name in COLUMNS})
                    out.flush()
                self._trim()
                await asyncio.sleep(max(0.0, EVERY - (time.monotonic() - began - now)))

    def _trim(self) -> None:
        """The model's own memory of what it was asked."""
        self.requests += max(0, len(self.model.requests) - TRIM)
        del self.model.requests[:-TRIM]
        self.model.cache.kept.clear()

    async def rest(self) -> None:
        """Everything that was said is answered and sent."""

        def chats() -> list[str]:
            return [
                token
                for one in self.people
                if isinstance(one, Texter)
                for token in one.chatter.open_ones
            ]

        async def quiet() -> bool:
            return not (
                unended(self.bot.db) or chats() or await self.oracle.open_ones(self.bot.web)
            )

        await until(quiet, "every message has its answer", REST)

    async def faults(self) -> list[str]:
        """Every breach of the promises."""
        found = [*await ledger_faults(self.bot.db), *unfounded_notices(self.bot.db, self.model)]
        for conversation, keys in self.oracle.sent.items():
            found += [
                fault[:LONGEST_FAULT]
                for fault in await self._page_faults(conversation, list(keys.values()))
            ]
        found += [
            fault
            for one in self.people
            if isinstance(one, Texter)
            for fault in one.chatter.faults()
        ]
        return found

    async def _page_faults(self, conversation: str, said: list[str]) -> list[str]:
        """Commands that only read overtake: the order is that of what was said to the model."""
        lines = await self.bot.web.lines(conversation)
        commands = {
            line["id"] for line in lines if line["role"] == "user" and line["text"].startswith("/")
        }
        talk = [line for line in lines if not {line["id"], line.get("reply_to")} & commands]
        asides = [line for line in lines if {line["id"], line.get("reply_to")} & commands]
        found = faults_of(talk, Counter(text for text in said if not text.startswith("/")))
        aside = faults_of(asides, Counter(text for text in said if text.startswith("/")))
        return [*found, *(fault for fault in aside if not fault.startswith("answers out of order"))]

    def told(self) -> list[str]:
        """What happened, in words."""
        counted = {
            name: query(self.bot.db, f"SELECT COUNT(*) FROM {what}")[0][0]
            for name, what in (
                ("messages", "inbox"),
                ("turns", "turn"),
                ("folds", "fold WHERE state = 'folded'"),
                ("clears", "clearing"),
                ("conversations", "conversation"),
                ("parts sent", "outbox WHERE state = 'sent'"),
                ("parts marked as perhaps repeated", "outbox WHERE repeats = 1"),
                ("memories noted", "memory"),
                (
                    "notices of the model's failure",
                    "outbox WHERE text LIKE 'The model did not answer: %'",
                ),
            )
        }
        return [
            ", ".join(f"{count:,} {name}" for name, count in counted.items()),
            f"{self.requests + len(self.model.requests):,} requests to the model, of which failed: "
            f"{sum(self.moody.struck.values())} ({_listed(self.moody.struck)})",
            (
                f"calls to Telegram that failed: {sum(struck(self.telegram).values())} "
                f"({_listed(struck(self.telegram))})"
            ),
        ]


def _listed(counts: "dict[str, int]") -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items()) if count)


async def soaked(asked: argparse.Namespace, home: Path) -> tuple[list[Sample], list[str]]:
    """One whole run: its samples, and what was wrong."""
    moody = Moody(asked.faults, asked.seed, LONGEST_ANSWER / asked.hurry)
    async with (
        ModelEmulator(responder=moody) as model,
        TelegramEmulator(seed=asked.seed) as telegram,
    ):
        disturb(telegram, asked.faults, asked.seed)
        config = settings(
            model.url,
            telegram.url,
            agent_max_context_turns=12,
            context_policy="balanced",
            memory={"extract": True},
            budgets=UNLIMITED,
        )
        bot, oracle = ColdBot(home, config), Oracle()
        people = _people(bot, telegram, oracle, asked)
        soak = Soak(
            bot=bot, model=model, moody=moody, telegram=telegram, oracle=oracle, people=people
        )
        await bot.start()
        talking = [asyncio.create_task(one.run()) for one in people]
        try:
            return soak.samples, await _run(soak, talking, asked)
        finally:
            for task in talking:
                task.cancel()
            await asyncio.gather(*talking, return_exceptions=True)
            if bot.alive:
                await bot.kill()


async def _run(
    soak: Soak, talking: Sequence["asyncio.Task[None]"], asked: argparse.Namespace
) -> list[str]:
    watching = asyncio.create_task(soak.watch(asked.samples, asked.minutes * 60))
    await asyncio.wait([watching, *talking], return_when=asyncio.FIRST_COMPLETED)
    for one in soak.people:
        one.enough.set()
    stopped = [
        f"somebody could write no more: {task.exception()!r}" for task in talking if task.done()
    ]
    if stopped:
        watching.cancel()
        return stopped
    await watching
    if not soak.bot.alive:
        return [f"the bot ended: {soak.bot.complaints()}"]
    await asyncio.gather(*talking)
    try:
        await soak.rest()
    except AssertionError as err:
        return [f"{err}; {unended(soak.bot.db)[:5]}; {await soak.faults()}"]
    found = await soak.faults()
    print("\n".join(soak.told()))
    code = await soak.bot.term()
    return [*found, *([f"it ended with {code}"] if code else [])]


def _people(
    bot: ColdBot, telegram: TelegramEmulator, oracle: Oracle, asked: argparse.Namespace
) -> list[Person]:
    seed, pace = asked.seed, (PACE[0] / asked.hurry, PACE[1] / asked.hurry)
    readers: list[Person] = [
        Reader(
            words=Words(
                name=f"page{number}", chance=random.Random(f"{seed} page {number}"), pace=pace
            ),
            oracle=oracle,
            web=bot.web,
            length=LENGTH,
        )
        for number in range(READERS)
    ]
    for user in TEXTERS:
        words = Words(
            name=f"t{user}", chance=random.Random(f"{seed} {user}"), pace=pace, at_length=False
        )
        chatter = Chatter(telegram, int(user), random.Random(f"{seed} chat {user}"), bot.db)
        readers.append(Texter(words=words, chatter=chatter, telegram=telegram))
    return readers


def read(file: Path) -> list[Sample]:
    """The samples of an earlier run."""
    with file.open(newline="") as rows:
        return [{name: float(row[name]) for name in COLUMNS} for row in csv.DictReader(rows)]


def judged(samples: Sequence[Sample], plot: Path | None) -> list[str]:
    """Print the table and draw the plot; returns what grows, and what nobody can be sure of."""
    if len(samples) < 12:
        return [f"{len(samples)} samples are too few to say anything"]
    minutes = samples[-1]["seconds"] / 60
    print("\n".join([*table(samples), "", *course(samples)]))
    if plot:
        title = f"mnema, {minutes:.0f} minutes of chat"
        told = (
            f"{len(samples)} samples; {samples[-1]['answers']:,.0f} answers; dashed: the trend of "
            "the second half"
        )
        plot.write_text(draw(title, told, FIGURES, samples))
    return [f"not flat: {name} {word}" for name, word in not_flat(samples).items()]


def main(words: Sequence[str]) -> int:
    """Run or read, judge, draw; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.soak", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument(
        "--faults", type=float, default=0.01, help="share of calls that go wrong, on both wires"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--hurry",
        type=float,
        default=1.0,
        help="how many times as fast everybody writes and answers",
    )
    parser.add_argument(
        "--samples", type=Path, default=Path("soak.csv"), help="where the figures are written"
    )
    parser.add_argument("--plot", type=Path, help="where the picture is drawn (SVG)")
    parser.add_argument(
        "--from", dest="read", type=Path, help="samples of an earlier run, in place of a new one"
    )
    asked = parser.parse_args(words)
    wrong: list[str] = []
    if asked.read:
        samples = read(asked.read)
    else:
        print(
            f"seed {asked.seed}, {asked.minutes:g} minutes, faults {asked.faults:.1%}, "
            f"{platform.python_version()}"
        )
        with (
            tempfile.TemporaryDirectory(prefix="soak") as place,
            contextlib.suppress(KeyboardInterrupt),
        ):
            samples, wrong = asyncio.run(soaked(asked, Path(place) / "home"))
    wrong += judged(samples, asked.plot)
    print(
        "\n".join(f"WRONG {fault}" for fault in wrong)
        or "nothing lost, nothing doubled, in order, and flat"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
