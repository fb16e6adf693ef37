"""What a replay comes to: figures per policy, as a table for people and as JSON for programs. Pure."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean, quantiles
from typing import Any

from bot.replay.cost import Bill, cached_tokens
from bot.replay.probes import Score
from bot.replay.recording import Recording
from bot.replay.simulate import Folded, Outcome, Request

NONE = "–"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One policy's outcome, what it would have cost, and how the probes fared."""

    name: str
    outcome: Outcome
    bill: Bill
    scores: tuple[Score, ...]


def figures(result: Result) -> dict[str, Any]:
    """The figures by name; tokens are those of our counter, plan_ms milliseconds, shares per cent, null for none."""
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
        "visible_percent": _share([score.visible for score in scores]),
        "retrievable_percent": _share([score.found for score in scores]),
        "either_percent": _share([score.either for score in scores]),
        "over_budget": outcome.over,
        "invalid": outcome.invalid,
    }


def table(results: Sequence[Result]) -> str:
    """A column for each policy, a line for each figure."""
    held = [figures(result) for result in results]
    rows = [["", *(result.name for result in results)]]
    rows += [[title, *map(written, held)] for title, written in _LINES]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        )
        for row in rows
    )


def as_json(recording: Recording, results: Sequence[Result]) -> dict[str, Any]:
    """Everything: the recording in numbers, the probes, and for each policy figures, requests, folds and answers."""
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
        "policies": [_policy(result) for result in results],
    }


def _policy(result: Result) -> dict[str, Any]:
    outcome = result.outcome
    cached = cached_tokens(outcome.requests)
    return {
        "name": result.name,
        **figures(result),
        "series": [_request(one, held) for one, held in zip(outcome.requests, cached, strict=True)],
        "fold_list": [_fold(fold) for fold in outcome.folds],
        "answers": [{"visible": score.visible, "retrievable": score.found} for score in result.scores],
    }


def _request(request: Request, cached: int) -> dict[str, Any]:
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


def _fold(fold: Folded) -> dict[str, Any]:
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


def _share(held: Sequence[bool]) -> float | None:
    return round(100 * sum(held) / len(held), 1) if held else None


def _whole(name: str) -> Callable[[dict[str, Any]], str]:
    return lambda held: f"{held[name]:,}"


def _percent(name: str) -> Callable[[dict[str, Any]], str]:
    return lambda held: NONE if held[name] is None else f"{held[name]:.0f} %"


def _dollars(name: str) -> Callable[[dict[str, Any]], str]:
    return lambda held: NONE if held[name] is None else f"{held[name]:.4f}"


_LINES: tuple[tuple[str, Callable[[dict[str, Any]], str]], ...] = (
    ("requests", _whole("requests")),
    ("tokens a request, mean", _whole("tokens_mean")),
    ("tokens a request, most", _whole("tokens_max")),
    ("folds (at once)", lambda held: f"{held['folds']:,} ({held['folds_at_once']:,})"),
    ("parts shortened", _whole("reductions")),
    ("prefix breaks", _whole("prefix_breaks")),
    ("model calls, folds' too", _whole("model_calls")),
    ("input from the cache", _percent("cached_percent")),
    ("cost, US$", _dollars("cost")),
    ("of it folds, US$", _dollars("fold_cost")),
    ("planning ms, p50 / p95", lambda held: f"{held['plan_ms_p50']:.2f} / {held['plan_ms_p95']:.2f}"),
    ("probes visible", _percent("visible_percent")),
    ("probes retrievable", _percent("retrievable_percent")),
    ("probes either", _percent("either_percent")),
    ("over the budget", _whole("over_budget")),
    ("invalid requests", _whole("invalid")),
)
