"""The six policies on the headline cases of the published designs: what each shows, forgets and
costs.

`python -m benchmarks context` prints it; with `--write` it updates docs/context.md, its translation
and the picture.
"""

import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC
from functools import cache
from pathlib import Path
from statistics import median
from types import MappingProxyType
from typing import Any

from benchmarks.cases import CASES
from benchmarks.cases.script import dump
from bot.agent.context.fitter import request_limits
from bot.cli.replay.plot import PlotLine, draw_plot
from bot.cli.replay.probes import score_probes
from bot.cli.replay.recording import Recording, count_recording, read_recording
from bot.cli.replay.report import PolicyResult, calculate_bill, format_table, result_figures
from bot.cli.replay.run import resolve_models
from bot.cli.replay.simulate import ReplayOutcome, ReplaySetting, simulate_recording
from bot.config.schema import Config
from bot.models.catalog import context_window
from memory.context.policies.boundary import load_choice
from memory.context.policies.policies import POLICIES, build_policy
from memory.context.tokens import load_o200k_counter
from memory.context.view import fixed_tokens
from memory.conversation import Text

BUDGET = 50_000
# Budgets that policies were designed for, if not the default one.
OWN = {"layers": 200_000, "boundary": 200_000, "budget": 40_000}
# Shares of the budget at which no layer ever starts.
NEVER: Mapping[str, float] = {"line_at": 9.0, "fold_at": 9.0, "drop_at": 9.0}
ROOMY = 400_000
# the three edits that the boundary design shows as kept
EDITS = ("auth.js", "middleware.js", "config.js")


@dataclass(frozen=True, slots=True, kw_only=True)
class Headline:
    """A figure of a published design, and ours."""

    name: str
    seed: str
    ours: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """All results of the benchmark; figures by case and policy (see report.result_figures)."""

    #: Tables and verdicts, as text.
    texts: tuple[str, ...]
    #: Each policy at the budget it was made for.
    own: Mapping[str, Mapping[str, Mapping[str, Any]]]
    #: All policies at the default budget.
    equal: Mapping[str, Mapping[str, Mapping[str, Any]]]
    headlines: tuple[Headline, ...]


def report() -> str:
    """Measure and return all tables, with verdicts on the default policy, an overview, and the
    published figures.
    """
    return format_report(measure_all())


def measure_all() -> Measured:
    """Run every case under every policy, on all cores."""
    with ProcessPoolExecutor() as pool:
        asked = [
            (name, own, pool.submit(measured, name, own)) for own in (True, False) for name in CASES
        ]
        rows = [
            row
            for found in [pool.submit(headline) for headline in HEADLINES]
            for row in found.result()
        ]
        found = [(name, own, *each.result()) for name, own, each in asked]
    return Measured(
        texts=tuple(text for _, _, text, _ in found),
        own={name: held for name, own, _, held in found if own},
        equal={name: held for name, own, _, held in found if not own},
        headlines=tuple(rows),
    )


def format_report(results: Measured) -> str:
    """Format all results as text."""
    told = [f"{row.name:<58} {row.seed:>14} {row.ours:>34}" for row in results.headlines]
    designs = "\n".join(
        [f"{'what the published designs say':<58} {'theirs':>14} {'here':>34}", *told]
    )
    return "\n\n".join(
        [*results.texts, format_overview(results.own), format_overview(results.equal), designs]
    )


def measured(name: str, own: bool) -> tuple[str, dict[str, dict[str, Any]]]:
    """Return one case as text, with table and verdict, and its figures. own: see `compared`."""
    recording, results = recorded(name), compared(name, own)
    how = "each policy at the budget it was made for" if own else f"all at {BUDGET:,} tokens"
    head = (
        f"{name} ({len(recording.turns)} turns, {whole(recording):,} tokens, "
        f"{len(recording.probes)} probes), {how}"
    )
    return f"{head}\n{format_table(results)}\n{verdict(results)}", {
        result.name: result_figures(result) for result in results
    }


def format_overview(held: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> str:
    """Format a Markdown table with visible probes, tokens a request and cost of each case under
    each policy.
    """
    lines = [f"| | {' | '.join(POLICIES)} |", f"| --- |{' ---: |' * len(POLICIES)}"]
    for name, policies in held.items():
        cells = [
            f"{each['visible_percent']:.0f} % · {each['tokens_mean'] / 1000:.1f}k · "
            f"${each['cost'] or 0:.2f}"
            for each in (policies[policy] for policy in POLICIES)
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def compared(name: str, own: bool) -> tuple[PolicyResult, ...]:
    """Run a case under each policy. own: at the policy's own budget instead of the default one."""
    return tuple(
        ran(recorded(name), policy, OWN.get(policy, BUDGET) if own else BUDGET)
        for policy in POLICIES
    )


def ran(recording: Recording, policy: str, budget: int) -> PolicyResult:
    """Run one case under one policy, with its cost and probe scores."""
    outcome = simulated(recording, policy, budget)
    scores = score_probes(outcome, recording, UTC)
    return PolicyResult(
        name=policy,
        outcome=outcome,
        bill=calculate_bill(outcome, *resolve_models(Config(), "", "")),
        scores=scores,
    )


def simulated(
    recording: Recording,
    policy: str,
    budget: int,
    numbers: Mapping[str, float] = MappingProxyType({}),
) -> ReplayOutcome:
    """Simulate one case under one policy. numbers: changes to the policy's numbers."""
    config = Config()
    limits = request_limits(config, context_window(resolve_models(config, "", "")[0]), 1.0)
    window = max(limits.window, budget + limits.reserve + limits.margin)
    limits = replace(limits, max_tokens=budget, window=window)
    chosen = build_policy(policy, {policy: numbers})
    return simulate_recording(
        recording, ReplaySetting(policy=chosen, limits=limits, counter=load_o200k_counter())
    )


@cache
def recorded(name: str) -> Recording:
    """Read a case like a person's own file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.json"
        path.write_text(dump(CASES[name]()), encoding="utf-8")
        return count_recording(read_recording(path), load_o200k_counter())


def verdict(results: Sequence[PolicyResult]) -> str:
    """Say whether `balanced` shows as many probes as the best other policy, for no more tokens than
    the median.
    """
    held = {result.name: result_figures(result) for result in results}
    mine = held.pop("balanced")
    best = max(held, key=lambda name: held[name]["visible_percent"])
    middle = median([mine["tokens_mean"], *(each["tokens_mean"] for each in held.values())])
    seen = mine["visible_percent"] >= held[best]["visible_percent"]
    cheap = mine["tokens_mean"] <= middle
    cheaper = [name for name, each in held.items() if _beats(each, mine)]
    return (
        f"balanced: {mine['visible_percent']:.0f} % visible "
        f"({'as the best' if seen else 'fewer than ' + best + ': '}{'' if seen else format(held[best]['visible_percent'], '.0f') + ' %'}), "  # noqa: E501
        f"{mine['tokens_mean']:,} tokens a request ({'not over' if cheap else 'over'} the median "
        f"{middle:,.0f}); better in both: {', '.join(cheaper) or 'none'}"
    )


def layer_by_layer() -> list[tuple[str, int, ReplayOutcome]]:
    """Run the long session under `layers`, one more layer each time; returns name, tokens of the
    last request, outcome.

    Before the fold layer the limit is out of reach, or the last resorts would replace it.
    """
    recording = recorded("long_session")
    window = int(POLICIES["layers"].settings.window)
    share = window / ROOMY
    steps: tuple[tuple[str, int, Mapping[str, float]], ...] = (
        ("snip", ROOMY, NEVER),
        (
            "one line",
            ROOMY,
            {**NEVER, "window": ROOMY, "line_at": POLICIES["layers"].settings.line_at * share},
        ),
        ("fold", window, {}),
    )
    found = []
    for name, budget, numbers in steps:
        outcome = simulated(recording, "layers", budget, numbers)
        found.append((name, outcome.requests[-1].tokens.total, outcome))
    return found


def draw_case(name: str) -> str:
    """Draw tokens per request of a case under every policy at its own budget, as SVG."""
    results = compared(name, own=True)
    lines = [
        PlotLine(
            name=result.name,
            tokens=tuple(request.tokens.total for request in result.outcome.requests),
            folds=tuple(fold.request for fold in result.outcome.folds),
            note=f"ø {result_figures(result)['tokens_mean'] / 1_000:.0f}k",
        )
        for result in results
    ]
    turns, requests = len(recorded(name).turns), max(len(line.tokens) for line in lines)
    budgets = ", ".join(f"{budget:,} for {policy}" for policy, budget in OWN.items())
    subtitle = (
        f"{turns} turns, {requests} requests; budgets: {budgets}, {BUDGET:,} for the others; ø: "
        "the mean"
    )
    return draw_plot(
        f"Tokens per request: {name.replace('_', ' ')}", subtitle, lines, max(OWN.values())
    )


def whole(recording: Recording) -> int:
    """Return the tokens of system, tools and all messages, unshortened."""
    fixed = fixed_tokens(recording.system, recording.tools, "", load_o200k_counter())
    return fixed + sum(message.tokens for message in recording.messages)


def passes(recording: Recording, tokens: int) -> int:
    """Return the turn in which the total first exceeds so many tokens, 0 for none."""
    total = fixed_tokens(recording.system, recording.tools, "", load_o200k_counter())
    for turn in recording.turns:
        total += turn.tokens
        if total > tokens:
            return turn.number
    return 0


def layers() -> list[Headline]:
    """Compare the long session, one layer more each time."""
    recording = recorded("long_session")
    raw = whole(recording)
    rows = [
        Headline(
            name="long session: tokens without compression", seed="287k", ours=f"{raw / 1000:.1f}k"
        ),
        Headline(
            name="  the turn that passes 200,000 tokens",
            seed="22",
            ours=str(passes(recording, 200_000)),
        ),
    ]
    before, said = raw, {"snip": "89k → 198k", "one line": "56k → 142k", "fold": "53k → 89k"}
    for name, tokens, outcome in layer_by_layer():
        ours = f"{(before - tokens) / 1000:.1f}k → {tokens / 1000:.1f}k"
        rows.append(
            Headline(name=f"  saved by {name}, and what is left", seed=said[name], ours=ours)
        )
        before, last = tokens, outcome
    dropped = sum(fold.at_once for fold in last.folds)
    rows.append(Headline(name="  hard truncations", seed="0", ours=str(dropped)))
    rows.append(
        Headline(
            name="  share of the window at the end", seed="44 %", ours=f"{before / 2000:.0f} %"
        )
    )
    rows.append(Headline(name="  requests over the limit", seed="0", ours=str(last.over)))
    return rows


def debugging() -> list[Headline]:
    """Compare the long search for a fault, halved at a boundary."""
    recording = recorded("debugging")
    rows = [
        Headline(name="debugging: tokens", seed="180k", ours=f"{whole(recording) / 1000:.1f}k"),
        Headline(name="  messages", seed="200+", ours=str(len(recording.messages))),
    ]
    for name, numbers in (
        ("at its own threshold", {}),
        ("told to wait for 178,000", {"fold_tokens": 178_000}),
    ):
        outcome = simulated(recording, "boundary", OWN["boundary"], numbers)
        left = outcome.asked[-1].view.tokens.total
        seen = _seen(outcome)
        kept = sum(any(path in line for line in seen.splitlines()) for path in EDITS)
        rows.append(
            Headline(
                name=f"  boundary {name}: tokens at the end", seed="90k", ours=f"{left / 1000:.1f}k"
            )
        )
        rows.append(
            Headline(name="    of the three edits, named in the view", seed="3", ours=str(kept))
        )
    return rows


def topics() -> list[Headline]:
    """Compare where three topics are cut."""
    rows = []
    for name in ("topics_en", "topics_zh"):
        outcome = simulated(recorded(name), "boundary", BUDGET)
        for fold in outcome.folds:
            choice = load_choice(fold.range.why)
            terms = (
                next(dict(item.terms) for item in choice.candidates if item.turns == choice.turns)
                if choice
                else {}
            )
            at = sum(
                len(turn.messages)
                for turn in recorded(name).turns
                if turn.number <= fold.range.to_turn
            )
            change = "a change of topic" if "topic" in terms else "no change of topic"
            rows.append(
                Headline(
                    name=f"{name}: boundary cuts before message",
                    seed="51 or 111",
                    ours=f"{at + 1}, {change}",
                )
            )
    return rows


def errors() -> list[Headline]:
    """Compare what is left of errors and their fixes."""
    outcome = simulated(recorded("errors"), "boundary", BUDGET)
    seen = _seen(outcome)
    folded = max((fold.range.to_turn for fold in outcome.folds), default=0)
    faults = ("left-shelf", "supplier.importer.js", "clock.js", "price.round.js", "carrier.js")
    kept = sum(fault in seen for fault in faults)
    return [
        Headline(name="errors: turns folded by boundary at 50,000", seed="", ours=str(folded)),
        Headline(
            name="  of its five remedies, named in the view afterwards", seed="5", ours=str(kept)
        ),
    ]


def weights() -> list[Headline]:
    """Compare how many turns fit into a fixed number of tokens."""
    rows = []
    for name, seed in (("heavy", "5"), ("light", "50")):
        recording = recorded(name)
        outcome = simulated(recording, "budget", OWN["budget"])
        kept = [
            outcome.requests[fold.request].turn - 1 - fold.range.to_turn
            for fold in outcome.folds
            if fold.request < len(outcome.requests)
        ]
        rows.append(
            Headline(
                name=f"{name}: turns that budget keeps",
                seed=seed,
                ours=", ".join(map(str, kept)) or "–",
            )
        )
    return rows


def _seen(outcome: ReplayOutcome) -> str:
    """Return the summary in the last probe's request."""
    last = outcome.asked[-1]
    return (
        next((part.text for part in last.view.shown[0].parts if isinstance(part, Text)), "")
        if last.folds
        else ""
    )


def _beats(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return bool(
        one["visible_percent"] > other["visible_percent"]
        and one["tokens_mean"] <= other["tokens_mean"]
    )


HEADLINES = (layers, debugging, topics, errors, weights)
