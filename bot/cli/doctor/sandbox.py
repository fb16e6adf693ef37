"""`mnema exec`: tries the sandbox that commands of the model run in."""

import asyncio

import typer

from bot.cli.common import JsonOption, print_json, printable

app = typer.Typer(help="Check the sandbox in which the model's commands run.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Check the sandbox in which the model's commands run."""


@app.command()
def probe(as_json: JsonOption = False) -> int:
    """Try to break out of the sandbox, as at each start; exit 0 if it holds, else 1 with "
    "reasons."""
    from bot.tools.exec.probe import probe_sandbox  # --help imports nothing of it

    found = asyncio.run(probe_sandbox())
    if as_json:
        print_json({"level": found.level, "reason": str(found.reason or "")})
    elif found.reason:
        print(printable(f"level {found.level}: {found.reason}"))
    else:
        print(f"level {found.level}: the sandbox holds.")
    return 1 if found.reason else 0
