"""Results of a replay: cost with a prompt cache, and figures per policy as a table and as JSON.

Pure.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from statistics import fmean, quantiles
from typing import Any

from bot.cli.replay.probes import ProbeScore
from bot.cli.replay.recording import Recording
from bot.cli.replay.simulate import ReplayOutcome, ReplaySetting, SimulatedFold, SimulatedRequest
from bot.models.catalog import call_cost
from memory.context.summary import prompt
from memory.context.summary.extractive import detect_language

# lifetime of a cached prefix after its last use; the price table's entries are of 5 minutes
CACHE_SECONDS = 300.0
NO_VALUE = "–"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayBill:
    """Tokens and cost of the requests, and of the summaries that a model would have written."""

    #: Input tokens from the cache.
    cached: int
    #: The other input tokens.
    written: int
    #: Tokens of the recorded answers.
    output: int
    fold_calls: int
    fold_input: int
    fold_output: int
    #: US dollars, None for a model without prices.
    dollars: float | None
    fold_dollars: float | None

    @property
    def total(self) -> float | None:
        """US dollars of requests and summaries."""
        if self.dollars is None or self.fold_dollars is None:
            return None
        return self.dollars + self.fold_dollars

    @property
    def cache_share(self) -> float:
        """Share of the input that came from the cache."""
        return self.cached / max(1, self.cached + self.written)


def calculate_bill(outcome: ReplayOutcome, model: str, fast_model: str) -> ReplayBill:
    """Calculate the bill of the whole conversation."""
    cached = sum(count_cached_tokens(outcome.requests))
    whole = sum(request.tokens.total for request in outcome.requests)
    output = sum(request.output for request in outcome.requests)
    asked = [fold for fold in outcome.folds if not fold.at_once]
    counter = outcome.setting.counter
    fold_input = sum(_fold_input(fold, outcome.setting) for fold in asked)
    fold_output = sum(fold.after + counter.text(fold.log) for fold in asked)
    return ReplayBill(
        cached=cached,
        written=whole - cached,
        output=output,
        fold_calls=len(asked),
        fold_input=fold_input,
        fold_output=fold_output,
        dollars=call_cost(
            model, input=whole, output=output, cache_read=cached, cache_write=whole - cached
        ),
        fold_dollars=call_cost(fast_model, input=fold_input, output=fold_output),
    )


def count_cached_tokens(requests: Sequence[SimulatedRequest]) -> list[int]:
    """Return the cached tokens of each request: none if the previous request is older than
    CACHE_SECONDS.
    """
    cached = [0] if requests else []
    for before, now in pairwise(requests):
        cached.append(now.common if (now.at - before.at).total_seconds() <= CACHE_SECONDS else 0)
    return cached


def _fold_input(fold: SimulatedFold, setting: ReplaySetting) -> int:
    """What the one who summarises would have been sent: the bot's own prompt of it."""
    counter = setting.counter
    system = prompt.system_prompt(
        detect_language(fold.messages), setting.policy.settings.summary_tokens
    )
    asked = prompt.single_prompt(fold.replaced, (), fold.messages, counter, setting.zone)
    return counter.text(system) + counter.text(asked)


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyResult:
    """Outcome, cost and probe scores of one policy."""

    name: str
    outcome: ReplayOutcome
    bill: ReplayBill
    scores: tuple[ProbeScore, ...]


def result_figures(result: PolicyResult) -> dict[str, Any]:
    """Return the figures by name: tokens by our counter, shares in percent, None without a
    value.
    """
    outcome, bill, scores = result.outcome, result.bill, result.scores
    tokens = [request.tokens.total for request in outcome.requests]
    p50, p95 = _percentiles([seconds * 1_000 for seconds in outcome.planning])
    return {
        "requests": len(tokens),
        "tokens_mean": round(fmean(tokens)) if tokens else 0,
        "tokens_max": max(tokens, default=0),
        "folds": len(outcome.folds),
        "folds_at_once": sum(fold.at_once for fold in outcome.folds),
        "reductions": sum(request.reductions for request in outcome.requests),
        "prefix_breaks": sum(request.broke for request in outcome.requests),
        "model_calls": len(tokens) + bill.fold_calls,
        "fold_calls": bill.fold_calls,
        "cached_percent": round(bill.cache_share * 100, 1),
        "cost": bill.total,
        "fold_cost": bill.fold_dollars,
        "plan_ms_p50": round(p50, 3),
        "plan_ms_p95": round(p95, 3),
        "visible_percent": _true_percent([score.visible for score in scores]),
        "retrievable_percent": _true_percent([score.found for score in scores]),
        "either_percent": _true_percent([score.either for score in scores]),
        "over_budget": outcome.over,
        "invalid": outcome.invalid,
    }


def format_table(results: Sequence[PolicyResult]) -> str:
    """Format a table with a column for each policy and a line for each figure."""
    figures = [result_figures(result) for result in results]
    rows = [["", *(result.name for result in results)]]
    rows += [[title, *map(format_figure, figures)] for title, format_figure in _TABLE_LINES]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            [
                row[0].ljust(widths[0]),
                *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)),
            ]
        )
        for row in rows
    )


def report_to_json(recording: Recording, results: Sequence[PolicyResult]) -> dict[str, Any]:
    """Convert everything: recording, probes, and figures, requests, folds and scores of each
    policy.
    """
    messages = recording.messages
    return {
        "recording": {
            "name": recording.name,
            "turns": len(recording.turns),
            "messages": len(messages),
            "tokens": sum(message.tokens for message in messages),
            "own_times": recording.timed,
            "notes": list(recording.notes),
        },
        "probes": [asdict(probe) for probe in recording.probes],
        "policies": [_policy_to_json(result) for result in results],
    }


def _policy_to_json(result: PolicyResult) -> dict[str, Any]:
    outcome = result.outcome
    cached = count_cached_tokens(outcome.requests)
    return {
        "name": result.name,
        **result_figures(result),
        "series": [_request_to_json(*pair) for pair in zip(outcome.requests, cached, strict=True)],
        "fold_list": [_fold_to_json(fold) for fold in outcome.folds],
        "answers": [
            {"visible": score.visible, "retrievable": score.found} for score in result.scores
        ],
    }


def _request_to_json(request: SimulatedRequest, cached: int) -> dict[str, Any]:
    return {
        "turn": request.turn,
        "at": request.at.isoformat(),
        "tokens": request.tokens.total,
        "parts": asdict(request.tokens),
        "common": request.common,
        "cached": cached,
        "prefix_broke": request.broke,
        "output": request.output,
        "folds": request.folds,
        "reductions": request.reductions,
        "faults": list(request.faults),
    }


def _fold_to_json(fold: SimulatedFold) -> dict[str, Any]:
    return {
        "request": fold.request,
        "from_turn": fold.range.from_turn,
        "to_turn": fold.range.to_turn,
        "reason": fold.range.reason,
        "why": fold.range.why,
        "at_once": fold.at_once,
        "method": fold.method,
        "tokens_before": fold.before,
        "tokens_after": fold.after,
    }


def _percentiles(values: Sequence[float]) -> tuple[float, float]:
    if len(values) < 2:
        return (values[0], values[0]) if values else (0.0, 0.0)
    cuts = quantiles(values, n=20, method="inclusive")
    return cuts[9], cuts[18]


def _true_percent(values: Sequence[bool]) -> float | None:
    return round(100 * sum(values) / len(values), 1) if values else None


def _format_whole(name: str) -> Callable[[dict[str, Any]], str]:
    return lambda figures: f"{figures[name]:,}"


def _format_percent(name: str) -> Callable[[dict[str, Any]], str]:
    return lambda figures: NO_VALUE if figures[name] is None else f"{figures[name]:.0f} %"


def _format_dollars(name: str) -> Callable[[dict[str, Any]], str]:
    return lambda figures: NO_VALUE if figures[name] is None else f"{figures[name]:.4f}"


_TABLE_LINES: tuple[tuple[str, Callable[[dict[str, Any]], str]], ...] = (
    ("requests", _format_whole("requests")),
    ("tokens a request, mean", _format_whole("tokens_mean")),
    ("tokens a request, most", _format_whole("tokens_max")),
    ("folds (at once)", lambda figures: f"{figures['folds']:,} ({figures['folds_at_once']:,})"),
    ("parts shortened", _format_whole("reductions")),
    ("prefix breaks", _format_whole("prefix_breaks")),
    ("model calls, folds' too", _format_whole("model_calls")),
    ("input from the cache", _format_percent("cached_percent")),
    ("cost, US$", _format_dollars("cost")),
    ("of it folds, US$", _format_dollars("fold_cost")),
    (
        "planning ms, p50 / p95",
        lambda figures: f"{figures['plan_ms_p50']:.2f} / {figures['plan_ms_p95']:.2f}",
    ),
    ("probes visible", _format_percent("visible_percent")),
    ("probes retrievable", _format_percent("retrievable_percent")),
    ("probes either", _format_percent("either_percent")),
    ("over the budget", _format_whole("over_budget")),
    ("invalid requests", _format_whole("invalid")),
)
