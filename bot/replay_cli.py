"""`mnema replay`: runs a recorded conversation through context policies and compares what each would have shown."""

import json
from pathlib import Path
from typing import Annotated

import typer

MOST_PROBES = 50


def replay(
    ctx: typer.Context,
    session: Annotated[
        str, typer.Argument(metavar="SESSION|FILE", help="A conversation's name or id, or a file with one.")
    ],
    policy: Annotated[str, typer.Option("--policy", help="Which policies, with commas [default: all].")] = "",
    budget: Annotated[int, typer.Option("--budget", min=0, help="agent_max_context_tokens [default: as set].")] = 0,
    turns: Annotated[int, typer.Option("--turns", min=0, help="agent_max_context_turns [default: as set].")] = 0,
    late: Annotated[int, typer.Option("--late", min=0, help="Requests that a fold in the background is late.")] = 0,
    model: Annotated[str, typer.Option("--model", help="Whose prices and window [default: as set].")] = "",
    fast_model: Annotated[str, typer.Option("--fast-model", help="Whose prices for summaries.")] = "",
    probes: Annotated[int, typer.Option("--probes", min=0, help="Most questions to put; 0: none.")] = MOST_PROBES,
    since_clear: Annotated[bool, typer.Option("--since-clear", help="Only what came after the newest clear.")] = False,
    plot: Annotated[Path | None, typer.Option("--plot", help="Draw tokens per request into this SVG file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Everything as JSON.")] = False,
) -> int:
    """Run a conversation through context policies, offline, and compare tokens, folds, cost and what is kept."""
    from bot.replay.running import Wanted, run

    if plot is not None and plot.suffix.lower() != ".svg":
        raise typer.BadParameter(f"--plot is {plot.name!r}; the drawing is SVG, so its name must end in .svg.")
    wanted = Wanted(
        session=session,
        policies=_policies(policy),
        budget=budget,
        turns=turns,
        late=late,
        model=_priced(model, "--model"),
        fast_model=_priced(fast_model, "--fast-model"),
        probes=probes,
        newest=since_clear,
    )
    report = run(ctx.obj.home, wanted)
    if plot is not None:
        plot.write_text(report.picture(), encoding="utf-8")
    print(json.dumps(report.facts(), ensure_ascii=False, indent=2) if as_json else report.text())
    return 0


def _policies(names: str) -> tuple[str, ...]:
    """The policies of a list with commas, each once; all of them for an empty one."""
    from memory.context.policy import POLICIES

    wanted = tuple(dict.fromkeys(name.strip() for name in names.split(",") if name.strip()))
    if unknown := [name for name in wanted if name not in POLICIES]:
        raise typer.BadParameter(f"--policy names {unknown[0]!r}; it may name: {', '.join(POLICIES)}.")
    return wanted or tuple(POLICIES)


def _priced(model: str, option: str) -> str:
    from bot.models.prices import facts
    from bot.replay.running import known_models

    if model and facts(model) is None:
        raise typer.BadParameter(f"{option} is {model!r}; there are prices for: {known_models()}.")
    return model
