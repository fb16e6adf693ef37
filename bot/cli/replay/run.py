"""Replays a recorded conversation through context policies and compares the results."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo
from pathlib import Path
from typing import Any

from bot.agent.context_fitter import request_limits
from bot.agent.token_calibration import load_best_counter as load
from bot.cli.replay.plot import PlotLine, draw_plot
from bot.cli.replay.probes import score_probes, with_probes
from bot.cli.replay.reader import load_stored_recording, read_recording
from bot.cli.replay.recording import Recording, UnreadableRecording, count_recording
from bot.cli.replay.report import PolicyResult, calculate_bill, format_table, report_to_json, result_figures
from bot.cli.replay.simulate import ReplaySetting, simulate_recording
from bot.cli.sessions.commands import chosen
from bot.config.file import ConfigFile
from bot.config.home import HomeFolder
from bot.config.schema import Config, time_zone
from bot.errors import BudgetTooSmall
from bot.models.catalog import MODELS, model_facts
from bot.models.service import PROVIDERS
from bot.runtime.store_access import run_with_store
from memory.context.policies.planner import ContextLimits, min_budget
from memory.context.policies.policies import build_policy
from memory.context.tokens import TokenCounter
from memory.context.view import fixed_tokens
from memory.store.store import Store

MAX_NAME_CHARS = 60
EXTRACTIVE_NOTE = (
    "No model was asked: every summary is the extractive digest, and old results are shortened by rule. "
    "Folds prepared in the background are billed as calls of the fast model all the same."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayOptions:
    """What was asked for."""

    #: A name, id or file.
    session: str
    #: Names.
    policies: tuple[str, ...]
    #: 0 for the configured ones.
    budget: int = 0
    #: 0 for the configured ones.
    turns: int = 0
    #: See Setting.
    late: int = 0
    #: "" for those too.
    model: str = ""
    #: "" for those too.
    fast_model: str = ""
    #: At most so many.
    probes: int = 50
    #: Since the newest clear.
    newest: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayReport:
    """What came out of it."""

    recording: Recording
    results: tuple[PolicyResult, ...]
    limits: ContextLimits
    #: Whose prices were taken.
    model: str
    #: Whose prices were taken.
    fast_model: str
    late: int
    #: Tokens of system parts and tools.
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
        return "\n".join([head, "", format_table(self.results), "", *(f"- {note}" for note in self.notes())])

    def notes(self) -> list[str]:
        """Sentences on how the figures are to be read."""
        notes = [EXTRACTIVE_NOTE, *(f"{note[:1].upper()}{note[1:]}." for note in self.recording.notes)]
        if not self.recording.timed:
            notes.append("The messages have no times of their own, so the cache is taken as never running out.")
        unpriced = [name for name in dict.fromkeys((self.model, self.fast_model)) if model_facts(name) is None]
        return notes + [f"There is no price for {name}; --model names another." for name in unpriced]

    def facts(self) -> dict[str, Any]:
        """For programs: everything, each request and each fold."""
        return {
            **report_to_json(self.recording, self.results),
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
            PlotLine(
                name=result.name,
                tokens=tuple(request.tokens.total for request in result.outcome.requests),
                folds=tuple(fold.request for fold in result.outcome.folds),
                note=f"ø {result_figures(result)['tokens_mean'] / 1_000:.1f}k",
            )
            for result in self.results
        ]
        requests = max((len(line.tokens) for line in lines), default=0)
        subtitle = f"{len(self.recording.turns):,} turns, {requests:,} requests; beside each name, its mean"
        return draw_plot(
            f"Tokens per request: {self.recording.name[:MAX_NAME_CHARS]}", subtitle, lines, self.limits.budget
        )


def run_replay(home: HomeFolder, wanted: ReplayOptions) -> ReplayReport:
    """Run a conversation through the policies.

    Raises:
        UnreadableRecording: there is no such conversation, or none in that file.
        BudgetTooSmall: not even what stands before the conversation fits.
        ConfigError: config.json is wrong.
    """
    config = ConfigFile(home.config).check()
    counter, zone = load(), time_zone(config)
    recording = with_probes(count_recording(_load_recording(home, wanted, config), counter), wanted.probes)
    model, fast_model = resolve_models(config, wanted.model, wanted.fast_model)
    limits = request_limits(config, model, 1.0)
    limits = replace(limits, max_tokens=wanted.budget or limits.max_tokens, max_turns=wanted.turns or limits.max_turns)
    fixed = fixed_tokens(recording.system, recording.tools, "", counter)
    if limits.budget < (least := min_budget(fixed)):
        raise BudgetTooSmall(least)
    return ReplayReport(
        recording=recording,
        results=_run_policies(recording, _build_settings(config, wanted, limits, (counter, zone)), (model, fast_model)),
        limits=limits,
        model=model,
        fast_model=fast_model,
        late=wanted.late,
        fixed=fixed,
    )


def resolve_models(config: Config, model: str, fast_model: str) -> tuple[str, str]:
    """Whose prices count: those asked for, else the configured ones, else the provider's current middle and small."""
    llm = config.llm
    provider = PROVIDERS[llm.provider if llm.provider != "offline" else "anthropic"]
    if not model:
        return llm.model or provider.model, fast_model or llm.fast_model or provider.fast_model
    kin = [each for each in PROVIDERS.values() if each.model.split("-")[0] == model.split("-")[0]]
    return model, fast_model or (kin[0] if kin else provider).fast_model


def format_known_models() -> str:
    """The models there are prices for, as a list to read."""
    return ", ".join(MODELS)


def _build_settings(
    config: Config, wanted: ReplayOptions, limits: ContextLimits, tools: tuple[TokenCounter, tzinfo]
) -> list[tuple[str, ReplaySetting]]:
    counter, zone = tools
    return [
        (
            name,
            ReplaySetting(
                policy=build_policy(name, config.policies), limits=limits, counter=counter, late=wanted.late, zone=zone
            ),
        )
        for name in wanted.policies
    ]


def _run_policies(
    recording: Recording, settings: Sequence[tuple[str, ReplaySetting]], models: tuple[str, str]
) -> tuple[PolicyResult, ...]:
    results = []
    for name, setting in settings:
        outcome = simulate_recording(recording, setting)
        scores = score_probes(outcome, recording, setting.zone)
        results.append(PolicyResult(name=name, outcome=outcome, bill=calculate_bill(outcome, *models), scores=scores))
    return tuple(results)


def _load_recording(home: HomeFolder, wanted: ReplayOptions, config: Config) -> Recording:
    """A file where there is one of that name, else a conversation of the store."""
    path = Path(wanted.session)
    if path.is_file():
        return read_recording(path)
    if not home.db.exists():
        raise UnreadableRecording(
            f"There is no file {wanted.session}, and no database in {home.data} to look for it in."
        )

    row = chosen(home, wanted.session, "replayed")

    async def found(store: Store) -> Recording:
        return await load_stored_recording(store, row, home, config, newest=wanted.newest)

    return run_with_store(home, found)
