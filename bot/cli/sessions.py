"""`mnema sessions` and `mnema replay`: list, show, export, import, delete and replay
conversations.
"""

import asyncio
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from bot.cli.common import JsonOption, YesOption, find_session_to_read, make_home, print_json
from bot.config.home import HomeFolder
from bot.runtime.store_access import (
    ALL_SESSIONS,
    UnknownSession,
    find_session,
    lock_home,
    lock_home_for_command,
    run_with_store,
)

app = typer.Typer(help="List, show, export, import and delete conversations.", no_args_is_help=True)
SessionOrFileArgument = Annotated[
    str,
    typer.Argument(metavar="SESSION|FILE", help="A conversation's name or id, or a file with one."),
]
SessionArgument = Annotated[
    str, typer.Argument(help="Id (or its beginning) or name of the conversation.")
]
MAX_PROBES = 50
PROGRESS_TURNS = 1_000  # of an import between two lines about its folds


@app.command("list")
def listing(
    ctx: typer.Context,
    limit: Annotated[int, typer.Option("--limit", min=1, max=ALL_SESSIONS)] = 50,
    as_json: JsonOption = False,
) -> int:
    """List conversations, newest first; those of other people by their ids, without a title."""

    from bot.console.page_messages import conversation_owner
    from bot.memory.export import conversation_to_json
    from memory.store.conversations.titles import shown_title

    async def load(store: Any) -> Any:
        return await store.sessions.conversations(limit=limit)

    conversations: list[Any] = run_with_store(ctx.obj, load, none=[])
    # A title is a person's first words, and another person's words are read only with an audit row.
    rows = [
        replace(row, title="") if conversation_owner(row) == "other" else row
        for row in conversations
    ]
    if as_json:
        print_json([conversation_to_json(row) for row in rows])
        return 0
    for row in rows:
        print(
            f"{row.id}  {row.updated:%Y-%m-%d %H:%M}  {row.place.channel}:{row.place.chat_id}  "
            f"{shown_title(row)}"
        )
    if not rows:
        print("There are no conversations yet.")
    return 0


@app.command("show")
def show(
    ctx: typer.Context,
    session: SessionArgument,
    limit: Annotated[
        int, typer.Option("--limit", min=1, max=ALL_SESSIONS, help="How many of the newest lines.")
    ] = 50,
) -> int:
    """Print a conversation as people saw it."""

    row = find_session_to_read(ctx.obj, session, "shown")

    async def print_lines(store: Any) -> None:
        for line in await store.sessions.lines(row.id, limit=limit):
            print(f"[{line.at:%Y-%m-%d %H:%M}] {line.tool or line.role}: {line.text}")

    run_with_store(ctx.obj, print_lines)
    return 0


@app.command("trace")
def trace(
    ctx: typer.Context,
    session: SessionArgument,
    message: Annotated[
        str, typer.Argument(help="A trace id or a message's id [default: the newest].")
    ] = "",
    as_json: JsonOption = False,
) -> int:
    """Show how a message was processed, step by step."""
    from bot.commands.trace import format_trace, trace_to_json

    row = find_session_to_read(ctx.obj, session, "traced")

    async def load(store: Any) -> Any:
        return await store.sessions.trace(row.id, of=message)

    found = run_with_store(ctx.obj, load)
    if found is None:
        raise UnknownSession("There is no such message in that conversation.")
    if as_json:
        print_json(trace_to_json(found, None))
    else:
        print("\n".join(format_trace(found, "en", None)))
    return 0


@app.command("export")
def export(
    ctx: typer.Context,
    session: SessionArgument,
    out: Annotated[
        Path | None, typer.Option("--out", help="File to write [default: stdout].")
    ] = None,
) -> int:
    """Write a conversation as JSON Lines: first its facts, then every message with its parts."""

    from bot.memory.export import conversation_to_json, load_lines

    row = find_session_to_read(ctx.obj, session, "exported")

    async def write(store: Any) -> None:
        target = out.open("x", encoding="utf-8") if out else sys.stdout
        try:
            print(
                json.dumps({"session": conversation_to_json(row)}, ensure_ascii=False), file=target
            )
            async for line in load_lines(store, row.id):
                print(json.dumps(line, ensure_ascii=False), file=target)
        finally:
            if out:
                target.close()

    run_with_store(ctx.obj, write)
    return 0


@app.command("import")
def import_session(
    ctx: typer.Context,
    file: Annotated[
        Path, typer.Argument(help="An export, or a message list in Anthropic's or OpenAI's format.")
    ],
    conversation: Annotated[
        str,
        typer.Option("--conversation", help="Name of the conversation here [default: the file's]."),
    ] = "",
) -> int:
    """Import a conversation from a file as a new conversation of the terminal."""
    from bot.cli.replay.importing import (
        NAME_PATTERN,
        import_losses,
        import_recording,
        read_import,
        session_name_from_file,
    )

    name = conversation or session_name_from_file(file)
    if not NAME_PATTERN.fullmatch(name):
        raise typer.BadParameter(
            f"--conversation is {name!r}; it takes up to 128 letters, digits and . _ : -"
        )
    home: HomeFolder = ctx.obj
    recording = read_import(file)
    make_home(home)
    with lock_home_for_command(home):
        asyncio.run(import_recording(home, recording, name, _print_progress))
    for note in (*recording.notes, *import_losses(home, recording)):
        print(f"mnema: {note}.", file=sys.stderr)
    count = len(recording.messages)
    print(
        f"Imported {len(recording.turns)} turns ({count} messages); mnema chat --conversation "
        f"{name} continues it."
    )
    return 0


def _print_progress(folded: int, of: int) -> None:
    if folded % PROGRESS_TURNS == 0:
        print(f"mnema: {folded:,} of {of:,} older turns are in the daily logs.", file=sys.stderr)


@app.command("delete")
def delete(
    ctx: typer.Context,
    session: SessionArgument,
    yes: YesOption = False,
) -> int:
    """Delete a conversation with all its messages; the daily log keeps its entries."""
    from bot.console.page_messages import conversation_owner
    from memory.store.conversations.titles import shown_title

    home: HomeFolder = ctx.obj
    row = run_with_store(home, lambda store: find_session(store, session))
    title = (
        "another person's" if conversation_owner(row) == "other" else shown_title(row) or "no title"
    )
    if not yes and not typer.confirm(f"Delete {row.id} ({title}) permanently?", err=True):
        return 1

    async def remove(store: Any) -> None:
        await store.sessions.delete(row.id)

    with lock_home(home):
        run_with_store(home, remove, alone=True)
    print(f"{row.id} is deleted.")
    return 0


def replay(
    ctx: typer.Context,
    session: SessionOrFileArgument,
    policy: Annotated[
        str, typer.Option("--policy", help="Policies, separated by commas [default: all].")
    ] = "",
    budget: Annotated[
        int, typer.Option("--budget", min=0, help="agent_max_context_tokens [default: as set].")
    ] = 0,
    turns: Annotated[
        int, typer.Option("--turns", min=0, help="agent_max_context_turns [default: as set].")
    ] = 0,
    late: Annotated[
        int,
        typer.Option("--late", min=0, help="How many requests late a background fold is ready."),
    ] = 0,
    model: Annotated[
        str, typer.Option("--model", help="Model whose prices and window apply [default: as set].")
    ] = "",
    fast_model: Annotated[
        str, typer.Option("--fast-model", help="Model whose prices apply to summaries.")
    ] = "",
    probes: Annotated[
        int, typer.Option("--probes", min=0, help="Maximum number of probe questions; 0: none.")
    ] = MAX_PROBES,
    since_clear: Annotated[
        bool, typer.Option("--since-clear", help="Only what came after the newest clear.")
    ] = False,
    plot: Annotated[
        Path | None, typer.Option("--plot", help="Draw tokens per request into this SVG file.")
    ] = None,
    as_json: JsonOption = False,
) -> int:
    """Run a conversation through context policies, offline, and compare tokens, folds, cost and
    recall.
    """
    from bot.cli.replay.run import ReplayOptions, run_replay

    if plot is not None:
        _check_drawing_name(plot)
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
    report = run_replay(ctx.obj, options)
    if plot is not None:
        plot.write_text(report.picture(), encoding="utf-8")
    if as_json:
        print_json(report.facts())
    else:
        print(report.text())
    return 0


def _parse_policies(names: str) -> tuple[str, ...]:
    """Parse a list with commas; all policies for an empty one."""
    from memory.context.policies.policies import POLICIES

    policies = tuple(dict.fromkeys(name.strip() for name in names.split(",") if name.strip()))
    if unknown := [name for name in policies if name not in POLICIES]:
        raise typer.BadParameter(
            f"--policy names {unknown[0]!r}; it may name: {', '.join(POLICIES)}."
        )
    return policies or tuple(POLICIES)


def _check_drawing_name(path: Path) -> None:
    if path.suffix.lower() != ".svg":
        raise typer.BadParameter(
            f"--plot is {path.name!r}; the drawing is SVG, so its name must end in .svg."
        )


def _check_priced(model: str, option: str) -> str:
    from bot.models.catalog import MODELS, model_facts

    if model and model_facts(model) is None:
        raise typer.BadParameter(
            f"{option} is {model!r}; there are prices for: {', '.join(MODELS)}."
        )
    return model
