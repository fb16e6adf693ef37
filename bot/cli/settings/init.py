"""`mnema init`: makes a home and config.json, after questions about model and channels."""

import typer

from bot.cli.common import YesOption


def init(
    ctx: typer.Context,
    yes: YesOption = False,
) -> int:
    """Create the folder with its config.json and workspace; existing files stay."""
    from bot.cli.settings.first_settings import set_up_home

    set_up_home(ctx.obj, yes=yes)
    return 0
