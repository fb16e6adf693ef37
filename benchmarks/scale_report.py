"""What is printed of a load: ours beside bare Procrastinate. Pure."""

from collections.abc import Sequence
from itertools import groupby

from benchmarks.scale_shape import Found, share


def report(found: Sequence[Found]) -> str:
    """Everything, ours beside bare for each number of workers."""
    shape = found[0].shape
    lines = [
        f"{shape.conversations} conversations of {shape.turns} turns, a model of {shape.seconds:g} s, "
        f"{shape.places} places a worker; paced: {shape.paced} messages at {shape.rate:g} a second",
    ]
    for workers, pair in groupby(found, key=lambda one: one.workers):
        bare, ours = sorted(pair, key=lambda one: one.engine)
        lines += ["", f"{workers} worker{'s' if workers > 1 else ''}", *_rows(bare, ours)]
    ours = next(one for one in found if one.engine == "ours")
    lines += ["", "bytes of each table for one message, indexes included:", *_bytes(ours)]
    return "\n".join(lines)


def _rows(bare: Found, ours: Found) -> list[str]:
    paced = bare.shape.paced_names()
    rows = [f"  {'':<44} {'ours':>9} {'bare':>9} {'more':>9}"]
    for what, part in (("accepted", 0.5), ("accepted", 0.95), ("before", 0.5), ("after", 0.5)):
        rows.append(_row(f"{_WHAT[what]}, p{part * 100:.0f}", *(_ms(one, what, part) for one in (ours, bare)), "ms"))
    for part, asked in ((0.5, "ms  ≤ 15 asked"), (0.95, "ms")):
        added = [1000 * share(one.course.added(paced), part) for one in (ours, bare)]
        rows.append(_row(f"added to a message, p{part * 100:.0f}", *added, asked))
    ratio = ours.rate / bare.rate
    rows.append(_row("all at once", ours.rate, bare.rate, f"messages/s; ×{ratio:.2f} of bare, ≥ 0.80 asked"))
    for who in ours.cpu:
        spent = [1000 * one.cpu[who] / one.shape.messages for one in (ours, bare)]
        rows.append(_row(f"processor for a message, {who}", *spent, "ms"))
    rows.append(_row("transactions for a message", ours.transactions, bare.transactions, ""))
    rows.append(_row("transactions while nothing is said", ours.idle, bare.idle, "/s"))
    rows.append(_row("a worker's memory, idle", ours.rss["idle"], bare.rss["idle"], "MB"))
    rows.append(_row("a worker's memory, most", ours.rss["crowd"], bare.rss["crowd"], "MB"))
    each = ours.most_open / ours.workers
    held = 1000 * (ours.rss["crowd"] - ours.rss["idle"]) / each if each else float("nan")
    rows.append(f"  {'for an open turn':<44} {held:>9.1f} {'':>9} {'':>9} kB ({ours.most_open} open at once in all)")
    rows.append(_row("faults (lost, repeated, out of order)", len(ours.faults), len(bare.faults), ""))
    return [*rows, *(f"    {fault}" for fault in (*ours.faults, *bare.faults)[:5])]


_WHAT = {
    "accepted": "sent to stored",
    "before": "sent to the model's being asked",
    "after": "the model's end to the answer's being marked",
}


def _ms(found: Found, what: str, part: float) -> float:
    values: list[float] = getattr(found.course, what)(found.shape.paced_names())
    return 1000 * share(values, part)


def _row(what: str, ours: float, bare: float, unit: str) -> str:
    return f"  {what:<44} {ours:>9.1f} {bare:>9.1f} {ours - bare:>+9.1f} {unit}".rstrip()


def _bytes(ours: Found) -> list[str]:
    kept = {name: size for name, size in ours.bytes.items() if size >= 1}
    rows = [f"  {name:<32} {size:>8.0f}" for name, size in sorted(kept.items(), key=lambda item: -item[1])]
    return [*rows, f"  {'in all':<32} {sum(ours.bytes.values()):>8.0f}"]
