"""`mnema mcp`: the servers of tools, and the review that turns their tools on."""

from typing import Annotated

import typer

from bot.cli.common import JsonOption

app = typer.Typer(
    help="List tool servers (MCP), and review which of their tools the model may use.",
    no_args_is_help=True,
)
NameArgument = Annotated[
    str, typer.Argument(metavar="NAME", help="The server's name in config.json.")
]
ToolsOption = list[str] | None


@app.command("list")
def list_servers(ctx: typer.Context, as_json: JsonOption = False) -> int:
    """List the servers of config.json and their tools."""
    from bot.cli.connections import mcp_review

    return mcp_review.list_servers(ctx.obj, as_json=as_json)


@app.command("review")
def review(
    ctx: typer.Context,
    name: NameArgument,
    run: Annotated[ToolsOption, typer.Option("--run", help="Let the model run this tool.")] = None,
    ask: Annotated[
        ToolsOption, typer.Option("--ask", help="Let the model run this tool after an approval.")
    ] = None,
    off: Annotated[ToolsOption, typer.Option("--off", help="Turn this tool off.")] = None,
    pure: Annotated[
        ToolsOption,
        typer.Option(
            "--pure", help="This tool only reads: it may run in parallel, and again after a fault."
        ),
    ] = None,
) -> int:
    """Start a server, show its tools as they are now, and choose which the model may use.

    Without --run, --ask and --off you are asked about each tool that is new or has changed.
    """
    from bot.cli.connections import mcp_review

    return mcp_review.review(ctx.obj, name, run=run, ask=ask, off=off, pure=pure)


@app.command("login")
def login(ctx: typer.Context, name: NameArgument) -> int:
    """Log in to a server with `auth` oauth: you consent in a browser, and the login is stored for
    this bot.
    """
    from bot.cli.connections import mcp_login

    return mcp_login.login(ctx.obj, name)
