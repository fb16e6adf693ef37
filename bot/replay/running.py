"""One whole replay: the conversation is found and read, each policy is run, and the results are written down."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo
from pathlib import Path
from typing import Any

from bot.agent.fit import limits_of
from bot.config import Config, ConfigFile
from bot.counting import counter as load
from bot.errors import BudgetTooSmall
from bot.home import Home
from bot.models.prices import MODELS, facts
from bot.models.registry import PROVIDERS
from bot.replay.cost import bill
from bot.replay.figures import Result, as_json, figures, table
from bot.replay.plot import Line, draw
from bot.replay.probes import score, with_probes
from bot.replay.reading import read_file
from bot.replay.recording import Recording, Unreadable, counted
from bot.replay.simulate import Setting, simulate
from bot.replay.stored import stored
from bot.sessions_cli import chosen, with_store
from bot.zone import zone_of
from memory.context.counter import Counter
from memory.context.plan import Limits, smallest_budget
from memory.context.policy import policy_of
from memory.context.view import fixed_tokens
from memory.store.doors import Store

MOST_NAME = 60
DIGEST_NOTE = (
    "No model was asked: every summary is the extractive digest, and old results are shortened by rule. "
    "Folds prepared in the background are billed as calls of the fast model all the same."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What was asked for. session: a name, id or file; policies: names. budget, turns: 0 for the configured ones;
    model, fast_model: "" for those too. late: see Setting; probes: at most so many; newest: since the newest clear.
    """

    session: str
    policies: tuple[str, ...]
    budget: int = 0
    turns: int = 0
    late: int = 0
    model: str = ""
    fast_model: str = ""
    probes: int = 50
    newest: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What came out of it. model, fast_model: whose prices were taken; fixed: tokens of system parts and tools."""

    recording: Recording
    results: tuple[Result, ...]
    limits: Limits
    model: str
    fast_model: str
    late: int
    fixed: int

    def text(self) -> str:
        """For people: a head, the table, and what is to be known about it."""
        recording = self.recording
        tokens = sum(message.tokens for message in recording.messages)
        models = f"Prices of {self.model}, summaries by {self.fast_model}."
        head = (
            f"{recording.name}: {len(recording.turns):,} turns, {len(recording.messages):,} messages, "
            f"{tokens:,} tokens; system and tools {self.fixed:,}; {len(recording.probes)} probes.\n"
            f"Limits: {self.limits.budget:,} tokens, {self.limits.max_turns:,} turns. {models}"
        )
        return "\n".join([head, "", table(self.results), "", *(f"- {note}" for note in self.notes())])

    def notes(self) -> list[str]:
        """Sentences on how the figures are to be read."""
        notes = [DIGEST_NOTE, *(f"{note[:1].upper()}{note[1:]}." for note in self.recording.notes)]
        if not self.recording.timed:
            notes.append("The messages have no times of their own, so the cache is taken as never running out.")
        unpriced = [name for name in dict.fromkeys((self.model, self.fast_model)) if facts(name) is None]
        return notes + [f"There is no price for {name}; --model names another." for name in unpriced]

    def facts(self) -> dict[str, Any]:
        """For programs: everything, each request and each fold."""
        return {
            **as_json(self.recording, self.results),
            "limits": {"tokens": self.limits.budget, "turns": self.limits.max_turns, "window": self.limits.window},
            "model": self.model,
            "fast_model": self.fast_model,
            "late": self.late,
            "fixed_tokens": self.fixed,
            "notes": self.notes(),
        }

    def picture(self) -> str:
        """Tokens of each request as SVG text."""
        lines = [
            Line(
                name=result.name,
                tokens=tuple(request.tokens.total for request in result.outcome.requests),
                folds=tuple(fold.request for fold in result.outcome.folds),
                note=f"ø {figures(result)['tokens_mean'] / 1_000:.1f}k",
            )
            for result in self.results
        ]
        requests = max((len(line.tokens) for line in lines), default=0)
        subtitle = f"{len(self.recording.turns):,} turns, {requests:,} requests; beside each name, its mean"
        return draw(f"Tokens per request: {self.recording.name[:MOST_NAME]}", subtitle, lines, self.limits.budget)


def run(home: Home, wanted: Wanted) -> Report:
    """Run a conversation through the policies.

    Raises:
        Unreadable: there is no such conversation, or none in that file.
        BudgetTooSmall: not even what stands before the conversation fits.
        ConfigError: config.json is wrong.
    """
    config = ConfigFile(home.config).check()
    counter, zone = load(), zone_of(config)
    recording = with_probes(counted(_read(home, wanted, config), counter), wanted.probes)
    model, fast_model = models_of(config, wanted.model, wanted.fast_model)
    limits = limits_of(config, model, 1.0)
    limits = replace(limits, max_tokens=wanted.budget or limits.max_tokens, max_turns=wanted.turns or limits.max_turns)
    fixed = fixed_tokens(recording.system, recording.tools, "", counter)
    if limits.budget < (least := smallest_budget(fixed)):
        raise BudgetTooSmall(least)
    return Report(
        recording=recording,
        results=_results(recording, _settings(config, wanted, limits, (counter, zone)), (model, fast_model)),
        limits=limits,
        model=model,
        fast_model=fast_model,
        late=wanted.late,
        fixed=fixed,
    )


def models_of(config: Config, model: str, fast_model: str) -> tuple[str, str]:
    """Whose prices count: those asked for, else the configured ones, else the provider's current middle and small."""
    llm = config.llm
    provider = PROVIDERS[llm.provider if llm.provider != "offline" else "anthropic"]
    if not model:
        return llm.model or provider.model, fast_model or llm.fast_model or provider.fast_model
    kin = [each for each in PROVIDERS.values() if each.model.split("-")[0] == model.split("-")[0]]
    return model, fast_model or (kin[0] if kin else provider).fast_model


def known_models() -> str:
    """The models there are prices for, as a list to read."""
    return ", ".join(MODELS)


def _settings(
    config: Config, wanted: Wanted, limits: Limits, tools: tuple[Counter, tzinfo]
) -> list[tuple[str, Setting]]:
    counter, zone = tools
    return [
        (
            name,
            Setting(
                policy=policy_of(name, config.policies), limits=limits, counter=counter, late=wanted.late, zone=zone
            ),
        )
        for name in wanted.policies
    ]


def _results(
    recording: Recording, settings: Sequence[tuple[str, Setting]], models: tuple[str, str]
) -> tuple[Result, ...]:
    results = []
    for name, setting in settings:
        outcome = simulate(recording, setting)
        scores = score(outcome, recording, setting.zone)
        results.append(Result(name=name, outcome=outcome, bill=bill(outcome, *models), scores=scores))
    return tuple(results)


def _read(home: Home, wanted: Wanted, config: Config) -> Recording:
    """A file where there is one of that name, else a conversation of the record."""
    path = Path(wanted.session)
    if path.is_file():
        return read_file(path)
    if not home.db.exists():
        raise Unreadable(f"There is no file {wanted.session}, and no database in {home.data} to look for it in.")

    row = chosen(home, wanted.session, "replayed")

    async def found(store: Store) -> Recording:
        return await stored(store, row, home, config, newest=wanted.newest)

    return with_store(home, found)
