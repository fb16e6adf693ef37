"""Options and helpers that several commands share."""

import asyncio
import json
import sys
import traceback
from collections.abc import Awaitable, Callable, Sequence
from contextlib import nullcontext, suppress
from typing import Annotated, Any, TypeVar

import typer

from bot.config.home import HomeFolder, close_folders
from bot.errors import ConfigError, MnemaError
from bot.runtime.store_access import (
    OpenedStore,
    find_session,
    lock_home_for_command,
    note_beside,
    open_store_for_command,
    run_with_store,
    store_exists,
)
from bot.texts import show_before_messages
from channels.phrases import Phrase
from memory.store.errors import StoreError

EXIT_DONE, EXIT_FAILED, EXIT_CONFIG, EXIT_INTERRUPTED = 0, 1, 3, 130
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
YesOption = Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")]
COMMAND_LINE_ACTOR = "command line"  # in the audit and in access rows
Answer = TypeVar("Answer")


class ReadingNotAudited(MnemaError):
    """The audit row could not be stored, so the chat must not be read."""


def print_json(value: object) -> None:
    """Print a value as indented JSON."""
    print(json.dumps(value, ensure_ascii=False, indent=2))


def printable(text: str) -> str:
    """Replace characters that could control the terminal by "?"."""
    return "".join(sign if sign.isprintable() else "?" for sign in text)


def run_offline(
    home: HomeFolder,
    work: Callable[[OpenedStore], Awaitable[Answer]],
    *,
    lock: bool,
    writable: bool = False,
) -> Answer:
    """Run `work` on the store of a home without a running bot; a missing store is created.

    Args:
        lock: keep other processes out meanwhile.

    Raises:
        HomeLocked: another process has the home.
    """
    new = not store_exists(home)
    if new:
        make_home(home)

    async def open_and_run() -> Answer:
        async with open_store_for_command(home, writable=new or writable) as opened:
            return await work(opened)

    with lock_home_for_command(home) if new or lock else nullcontext():
        return asyncio.run(open_and_run())


def find_session_to_read(home: HomeFolder, session: str, result: str) -> Any:
    """Find a conversation, and store an audit row if it is another person's.

    Args:
        result: what is done with it, such as "shown".

    Raises:
        UnknownSession: there is none, or more than one.
        ReadingNotAudited: the row could not be stored.
    """
    row = run_with_store(home, lambda store: find_session(store, session))
    note_reading(home, [row], result)
    return row


def note_reading(home: HomeFolder, rows: Sequence[Any], result: str) -> None:
    """Store an audit row for each conversation of another person, before it is read.

    Args:
        rows: conversation rows.
        result: what is done with them, such as "shown".

    Raises:
        ReadingNotAudited: a row could not be stored.
    """
    from bot.console.page_messages import conversation_owner
    from bot.console.transcripts import READ_OTHER_ACTION
    from memory.store.audit import Act

    acts = [
        Act(action=READ_OTHER_ACTION, subject=row.id, result=result, actor=COMMAND_LINE_ACTOR)
        for row in rows
        if conversation_owner(row) == "other"
    ]
    if not acts:
        return
    try:
        asyncio.run(note_beside(home, acts))
    except (StoreError, OSError) as err:
        raise ReadingNotAudited(
            f"This is another person's chat, and the audit log could not be written ({err}), so "
            "nothing is shown."
        ) from err


def confirm(question: str, *, yes: bool) -> None:
    """Ask for confirmation.

    Raises:
        MnemaError: there is no terminal.
        typer.Abort: the answer was no.
    """
    if yes:
        return
    if not sys.stdin.isatty():
        why = show_before_messages(
            Phrase("There is no terminal to ask for confirmation; pass --yes.")
        )
        raise MnemaError(f"{question} {why}")
    typer.confirm(question, abort=True, err=True)


def make_home(home: HomeFolder) -> None:
    """Create the folders and live files that are missing; SOUL.md in the language that config.json
    may name.
    """
    from bot.config.file import ConfigFile

    file = ConfigFile(home.config)
    with suppress(ConfigError):  # what needs the configuration reports it
        file.load()
    home.ensure(file.current.language)


def create_home(home: HomeFolder) -> HomeFolder:
    """Create the folders, live files and config.json that are missing."""
    from bot.config.file import ConfigFile

    make_home(home)
    close_folders(home)
    if ConfigFile(home.config).create():
        print(f"mnema: created {home.config} from the defaults.", file=sys.stderr)
    return home


def report_error(err: Exception, *, debug: bool) -> int:
    """Print what a command ended with on stderr; returns its exit code."""
    if debug:
        traceback.print_exception(err)
    print(f"mnema: {format_error(err)}", file=sys.stderr)
    return EXIT_CONFIG if isinstance(err, ConfigError) else EXIT_FAILED


def format_error(err: Exception) -> str:
    """Return one sentence for what a command or a restore ended with."""
    if isinstance(err, OSError) and err.strerror:
        return f"{err.filename}: {err.strerror}." if err.filename else f"{err.strerror}."
    if isinstance(err, MnemaError | StoreError | OSError) and str(err):
        return str(err)
    return f"unexpected error ({type(err).__name__}: {err}); --debug shows where."
