"""`mnema replay`: its options; the replay itself is loaded when it runs."""

import json
from pathlib import Path
from typing import Annotated

import typer

from bot.cli.options import JsonOption

MAX_PROBES = 50


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
    probes: Annotated[int, typer.Option("--probes", min=0, help="Most questions to put; 0: none.")] = MAX_PROBES,
    since_clear: Annotated[bool, typer.Option("--since-clear", help="Only what came after the newest clear.")] = False,
    plot: Annotated[Path | None, typer.Option("--plot", help="Draw tokens per request into this SVG file.")] = None,
    as_json: JsonOption = False,
) -> int:
    """Run a conversation through context policies, offline, and compare tokens, folds, cost and what is kept."""
    from bot.cli.replay.run import ReplayOptions, run_replay

    if plot is not None and plot.suffix.lower() != ".svg":
        raise typer.BadParameter(f"--plot is {plot.name!r}; the drawing is SVG, so its name must end in .svg.")
    options = ReplayOptions(
        session=session,
        policies=_parse_policies(policy),
        budget=budget,
        turns=turns,
        late=late,
        model=_check_priced(model, "--model"),
        fast_model=_check_priced(fast_model, "--fast-model"),
        probes=probes,
        newest=since_clear,
    )
    report = run_replay(ctx.obj.home, options)
    if plot is not None:
        plot.write_text(report.picture(), encoding="utf-8")
    print(json.dumps(report.facts(), ensure_ascii=False, indent=2) if as_json else report.text())
    return 0


def _parse_policies(names: str) -> tuple[str, ...]:
    """The policies of a list with commas, each once; all of them for an empty one."""
    from memory.context.policies.policies import POLICIES

    wanted = tuple(dict.fromkeys(name.strip() for name in names.split(",") if name.strip()))
    if unknown := [name for name in wanted if name not in POLICIES]:
        raise typer.BadParameter(f"--policy names {unknown[0]!r}; it may name: {', '.join(POLICIES)}.")
    return wanted or tuple(POLICIES)


def _check_priced(model: str, option: str) -> str:
    from bot.cli.replay.run import format_known_models
    from bot.models.catalog import model_facts

    if model and model_facts(model) is None:
        raise typer.BadParameter(f"{option} is {model!r}; there are prices for: {format_known_models()}.")
    return model
