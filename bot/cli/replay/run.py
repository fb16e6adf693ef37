"""Replays a recorded conversation through context policies and compares the results."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bot.agent.context.calibration import load_best_counter
from bot.agent.context.fitter import find_shortage, request_limits
from bot.cli.common import find_session_to_read
from bot.cli.replay.plot import PlotLine, draw_plot
from bot.cli.replay.probes import score_probes, with_probes
from bot.cli.replay.recording import (
    Recording,
    UnreadableRecording,
    count_recording,
    load_stored_recording,
    read_recording,
)
from bot.cli.replay.report import (
    PolicyResult,
    calculate_bill,
    format_table,
    report_to_json,
    result_figures,
)
from bot.cli.replay.simulate import ReplaySetting, simulate_recording
from bot.config.file import ConfigFile
from bot.config.home import HomeFolder
from bot.config.schema import Config, time_zone
from bot.errors import BudgetTooSmall
from bot.models.catalog import context_window, model_facts
from bot.models.providers.accounts import PROVIDERS
from bot.runtime.store_access import run_with_store
from memory.context.policies.planner import ContextLimits
from memory.context.policies.policies import build_policy
from memory.context.view import fixed_tokens
from memory.store.store import Store

MAX_NAME_CHARS = 60
EXTRACTIVE_NOTE = (
    "No model was asked: every summary is the extractive digest, and old results are shortened by "
    "rule. Folds prepared in the background are billed as calls of the fast model all the same."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayOptions:
    """Options of `mnema replay`."""

    #: A name, id or file.
    session: str
    policies: tuple[str, ...]
    #: Maximum tokens of a request; 0 for the configured number.
    budget: int = 0
    #: Maximum turns; 0 for the configured number.
    turns: int = 0
    #: See ReplaySetting.
    late: int = 0
    #: "" for the configured one.
    model: str = ""
    #: "" for the configured one.
    fast_model: str = ""
    #: Maximum of probe questions.
    probes: int = 50
    #: Only what came after the newest clear.
    newest: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayReport:
    """The results of a replay."""

    recording: Recording
    results: tuple[PolicyResult, ...]
    limits: ContextLimits
    #: The models whose prices were used.
    model: str
    fast_model: str
    late: int
    #: Tokens of system parts and tools.
    fixed: int

    def text(self) -> str:
        """Format for people: header, table and notes."""
        recording = self.recording
        tokens = sum(message.tokens for message in recording.messages)
        models = f"Prices of {self.model}, summaries by {self.fast_model}."
        head = (
            f"{recording.name}: {len(recording.turns):,} turns, {len(recording.messages):,} "
            f"messages, {tokens:,} tokens; system and tools {self.fixed:,}; "
            f"{len(recording.probes)} probes.\nLimits: {self.limits.budget:,} tokens, "
            f"{self.limits.max_turns:,} turns. {models}"
        )
        return "\n".join(
            [head, "", format_table(self.results), "", *(f"- {note}" for note in self.notes())]
        )

    def notes(self) -> list[str]:
        """List what is needed to read the figures correctly."""
        notes = [
            EXTRACTIVE_NOTE,
            *(f"{note[:1].upper()}{note[1:]}." for note in self.recording.notes),
        ]
        if not self.recording.timed:
            notes.append(
                "The messages have no times of their own, so the cache is assumed never to expire."
            )
        unpriced = [
            name
            for name in dict.fromkeys((self.model, self.fast_model))
            if model_facts(name) is None
        ]
        return notes + [
            f"There is no price for {name}; choose another with --model." for name in unpriced
        ]

    def facts(self) -> dict[str, Any]:
        """Convert to JSON, with each request and each fold."""
        return {
            **report_to_json(self.recording, self.results),
            "limits": {
                "tokens": self.limits.budget,
                "turns": self.limits.max_turns,
                "window": self.limits.window,
            },
            "model": self.model,
            "fast_model": self.fast_model,
            "late": self.late,
            "fixed_tokens": self.fixed,
            "notes": self.notes(),
        }

    def picture(self) -> str:
        """Draw the tokens of each request as SVG."""
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
        subtitle = (
            f"{len(self.recording.turns):,} turns, {requests:,} requests; beside each name, its "
            "mean"
        )
        return draw_plot(
            f"Tokens per request: {self.recording.name[:MAX_NAME_CHARS]}",
            subtitle,
            lines,
            self.limits.budget,
        )


def run_replay(home: HomeFolder, options: ReplayOptions) -> ReplayReport:
    """Run a conversation through the policies.

    Raises:
        UnreadableRecording: there is no such conversation, or none in that file.
        BudgetTooSmall: system parts and tools alone do not fit.
        ConfigError: config.json is invalid.
    """
    config = ConfigFile(home.config).check()
    counter, zone = load_best_counter(), time_zone(config)
    recording = with_probes(
        count_recording(_load_recording(home, options, config), counter), options.probes
    )
    model, fast_model = resolve_models(config, options.model, options.fast_model)
    limits = request_limits(config, config.llm.context_window or context_window(model), 1.0)
    limits = replace(
        limits,
        max_tokens=options.budget or limits.max_tokens,
        max_turns=options.turns or limits.max_turns,
    )
    fixed = fixed_tokens(recording.system, recording.tools, "", counter)
    if shortage := find_shortage(limits, fixed, recording.tools, "", counter):
        raise BudgetTooSmall(shortage)
    results = []
    for name in options.policies:
        policy = build_policy(name, config.policies, limits.most)
        setting = ReplaySetting(
            policy=policy, limits=limits, counter=counter, late=options.late, zone=zone
        )
        outcome = simulate_recording(recording, setting)
        scores, bill = (
            score_probes(outcome, recording, zone),
            calculate_bill(outcome, model, fast_model),
        )
        results.append(PolicyResult(name=name, outcome=outcome, bill=bill, scores=scores))
    return ReplayReport(
        recording=recording,
        results=tuple(results),
        limits=limits,
        model=model,
        fast_model=fast_model,
        late=options.late,
        fixed=fixed,
    )


def resolve_models(config: Config, model: str, fast_model: str) -> tuple[str, str]:
    """Return the models to price: the given ones, else the configured, else the provider's
    defaults.
    """
    llm = config.llm
    provider = PROVIDERS[llm.provider if llm.provider != "offline" else "anthropic"]
    if not model:
        return llm.model or provider.model, fast_model or llm.fast_model or provider.fast_model
    family = model.split("-")[0]
    provider = next(
        (each for each in PROVIDERS.values() if each.model.split("-")[0] == family), provider
    )
    return model, fast_model or provider.fast_model


def _load_recording(home: HomeFolder, options: ReplayOptions, config: Config) -> Recording:
    """Load the file of that name if there is one, else a stored conversation."""
    path = Path(options.session)
    if path.is_file():
        return read_recording(path)
    if not home.db.exists():
        raise UnreadableRecording(
            f"There is no file {options.session}, and no database in {home.data} to look in."
        )
    row = find_session_to_read(home, options.session, "replayed")

    async def load(store: Store) -> Recording:
        return await load_stored_recording(store, row, home, config, newest=options.newest)

    return run_with_store(home, load)
