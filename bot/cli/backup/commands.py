"""`mnema backup` and `mnema restore`, as people call them."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from bot.config.home import HomeFolder

TargetFileArgument = Annotated[Path, typer.Argument(help="The file to make.")]
SourceFileArgument = Annotated[Path, typer.Argument(help="A file that mnema backup made.")]


def backup(
    ctx: typer.Context,
    file: TargetFileArgument,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
) -> int:
    """Write record, workspace, attachments and settings to one file; a running bot is not disturbed."""
    from bot.cli.backup.create import create_backup

    home: HomeFolder = ctx.obj.home
    manifest = create_backup(home, file.expanduser().absolute(), force=force)
    size = file.expanduser().stat().st_size
    print(f"{file}: {size:,} bytes, {len(manifest.members):,} files, made {manifest.made:%Y-%m-%d %H:%M:%S} UTC.")
    if manifest.left_out:
        print(f"Secrets are not in it: {', '.join(manifest.left_out)}.")
    return 0


def restore(
    ctx: typer.Context,
    file: SourceFileArgument,
    verify: Annotated[bool, typer.Option("--verify", help="Only check the file and say what is in it.")] = False,
) -> int:
    """Put a backup in the place of what the home holds; the old state is kept beside it."""
    from bot.cli.backup import restore as restoring

    path = file.expanduser().absolute()
    if verify:
        _print_backup(file, restoring.verify_backup(path))
        return 0
    home: HomeFolder = ctx.obj.home
    done = restoring.restore_backup(home, path)
    _print_backup(file, done.looked)
    print(f"{home.root} holds it now{', its record in the database of database_url' if done.shared else ''}.")
    for kept in done.kept:
        print(f"The old state is kept: {kept}")
    if done.missing:
        print(f"Not in the backup, to be set anew: {', '.join(done.missing)}.")
    if done.withheld:
        print(f"Taken away since the backup was made, and not given back: {', '.join(done.withheld)}.")
    _print_warnings(done)
    return 0


def _print_backup(file: Path, looked: Any) -> None:
    manifest, contents = looked.manifest, looked.contents
    print(f"{file} is right: made {manifest.made:%Y-%m-%d %H:%M:%S} UTC by mnema {manifest.version}.")
    print(
        f"conversations {contents.conversations:,}, messages {contents.messages:,}, files of the workspace "
        f"{looked.files:,}, attachments {looked.attachments:,}, {looked.size:,} bytes, tables {manifest.schema}"
    )
    if contents.waiting:
        print(f"Not answered yet when it was made: {contents.waiting:,}.")
    if not contents.audit:
        print("mnema: a row of its audit was altered.", file=sys.stderr)


def _print_warnings(done: Any) -> None:
    if done.unsure:
        print(
            "mnema: the record that stood here cannot be read, so roles that were taken away since the backup may be "
            "back; mnema pair list shows them.",
            file=sys.stderr,
        )
    if done.forgotten:
        print(
            f"mnema: {done.forgotten:,} times somebody had something forgotten since the backup was made; what it had "
            "of that is back, and can be forgotten again.",
            file=sys.stderr,
        )
