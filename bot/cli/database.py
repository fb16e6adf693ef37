"""`mnema backup`, `restore`, `migrate` and `audit`: the stored data as a whole."""

import asyncio
import json
import os
import re
import sys
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

import typer

from bot.cli.common import JsonOption, print_json, printable
from bot.config.home import HomeFolder, program_for
from bot.errors import MnemaError
from bot.runtime.store_access import (
    ALL_SESSIONS,
    import_scale_module,
    lock_home,
    postgres_url,
    run_with_store,
)
from memory.workspace.atomic_write import write_atomic

PROGRESS_SECONDS = 0.2  # between two lines of progress

app = typer.Typer(
    help="List the audit log, and check that it was not altered.", no_args_is_help=True
)


@app.command("list")
def listing(
    ctx: typer.Context,
    limit: Annotated[
        int,
        typer.Option("--limit", min=1, max=ALL_SESSIONS, help="How many of the newest entries."),
    ] = 50,
    as_json: JsonOption = False,
) -> int:
    """List audit rows, oldest first."""

    async def load(store: Any) -> Any:
        return await store.audit.acts(limit)

    rows: list[Any] = run_with_store(ctx.obj, load, none=[])
    if as_json:
        names = ("seq", "actor", "action", "subject", "args_digest", "decision", "result", "hash")
        print_json(
            [
                {"at": row.at.isoformat(), **{name: getattr(row, name) for name in names}}
                for row in rows
            ]
        )
        return 0
    for row in rows:
        facts = [
            row.action,
            printable(row.subject),
            row.result,
            f"by {printable(row.actor)}" if row.actor else "",
        ]
        digest = f"  {row.args_digest[:12]}" if row.args_digest else ""
        print(f"{row.seq:>6}  {row.at:%Y-%m-%d %H:%M:%S}  {'  '.join(filter(None, facts))}{digest}")
    if not rows:
        print("There are no audit rows yet.")
    return 0


@app.command("verify")
def verify(
    ctx: typer.Context,
    head: Annotated[
        str, typer.Option("--head", help="SEQ:HASH as an earlier verify printed it.")
    ] = "",
) -> int:
    """Check the content and the order of all audit rows, and that none is missing."""
    from bot.access.audit import AuditCheckpoints

    known = [*AuditCheckpoints(ctx.obj.data).known(), *_parse_head(head)]

    async def check(store: Any) -> Any:
        return await store.audit.fault(known), await store.audit.head()

    fault, end = run_with_store(ctx.obj, check)
    if fault is not None:
        raise MnemaError(f"Entry {fault.seq} is not as it was written: {fault.what}.")
    count = "1 act stands" if end.seq == 1 else f"{end.seq:,} acts stand"
    print(f"{count} as written; heads noted outside the database that agree: {len(known)}.")
    if end.seq:
        print(f"The chain ends at {end.seq}:{end.hash}")
        print(
            "Keep that line elsewhere: mnema audit verify --head checks it, whatever happens to "
            "this machine."
        )
    return 0


def _parse_head(given: str) -> list[Any]:
    from memory.store.audit import AuditHead

    if not given:
        return []
    seq, _, hash = given.partition(":")
    if not (seq.isascii() and seq.isdigit() and len(seq) < 16 and len(hash) == 64):
        raise typer.BadParameter(
            f"--head is {given!r}; it must be SEQ:HASH as mnema audit verify prints it."
        )
    return [AuditHead(seq=int(seq), hash=hash)]


# `mnema backup` and `mnema restore`.


def backup(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(help="The file to create.")],
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
    encrypt: Annotated[
        bool,
        typer.Option(
            "--encrypt",
            help="Encrypt it with a passphrase; it then includes the secrets of config.json.",
        ),
    ] = False,
    as_json: JsonOption = False,
) -> int:
    """Write database, workspace, attachments and settings to one file; a running bot is not
    disturbed.
    """
    from bot.cli.backup.create import create_backup
    from bot.console.operations.backup_encryption import check_passphrase

    file = file.expanduser()
    passphrase = check_passphrase(_read_passphrase(confirm=True)) if encrypt else ""
    progress = _ProgressLines() if as_json else lambda done, expected: None
    manifest = create_backup(
        ctx.obj, file.absolute(), force=force, passphrase=passphrase, progress=progress
    )
    size = file.stat().st_size
    if as_json:
        print_json(
            {"size": size, "files": len(manifest.members), "left_out": list(manifest.left_out)}
        )
        return 0
    print(
        f"{file}: {size:,} bytes, {len(manifest.members):,} files, made "
        f"{manifest.made:%Y-%m-%d %H:%M:%S} UTC."
    )
    if manifest.left_out:
        print(f"Secrets are not in it: {', '.join(manifest.left_out)}.")
    return 0


def _read_passphrase(*, confirm: bool = False) -> str:
    """Ask for a passphrase in a terminal; read a line elsewhere."""
    if sys.stdin.isatty():
        return str(typer.prompt("Passphrase", hide_input=True, confirmation_prompt=confirm))
    return sys.stdin.readline().rstrip("\r\n")


class _ProgressLines:
    """Prints how far a backup is, a JSON object a line, a few times a second."""

    def __init__(self) -> None:
        self._last = float("-inf")

    def __call__(self, done: int, expected: int) -> None:
        now = time.monotonic()
        if now - self._last >= PROGRESS_SECONDS:
            self._last = now
            print(json.dumps({"done": done, "expected": max(done, expected)}), flush=True)


def restore(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(help="A file that mnema backup made.")],
    verify: Annotated[
        bool, typer.Option("--verify", help="Only check the file and print what is in it.")
    ] = False,
    as_json: JsonOption = False,
) -> int:
    """Replace the content of the home by a backup; the old state is kept next to it."""
    from bot.cli.backup.restore import restore_backup, verify_backup
    from bot.console.operations.backup_encryption import is_encrypted

    path = file.expanduser().absolute()
    passphrase = _read_passphrase() if is_encrypted(path) else ""
    if verify:
        verified = verify_backup(path, passphrase)
        if as_json:
            print_json(_backup_to_json(verified))
        else:
            _print_backup(file, verified)
        return 0
    home: HomeFolder = ctx.obj
    done = restore_backup(home, path, passphrase)
    if as_json:
        print_json(_restore_to_json(done))
        return 0
    _print_backup(file, done.verified)
    print(
        f"{home.root} holds it "
        f"now{', its data in the database of database_url' if done.shared else ''}."
    )
    for old in done.kept:
        print(f"The old state is kept: {old}")
    if done.missing:
        print(f"Not in the backup, set them again: {', '.join(done.missing)}.")
    if done.withheld:
        print(f"Revoked since the backup was made, and not given back: {', '.join(done.withheld)}.")
    if done.unreadable:
        print(
            "mnema: the old database cannot be read, so roles that were revoked since the backup "
            "may be back; mnema pair list shows them.",
            file=sys.stderr,
        )
    if done.forgotten:
        print(
            f"mnema: {done.forgotten:,} requests to forget were made since the backup; what it had "
            "of that is back, and can be forgotten again.",
            file=sys.stderr,
        )
    return 0


def restore_for_page(home: HomeFolder, file: Path, passphrase: str) -> None:
    """Restore a backup while the page's server is down, and write down what came of it."""
    from bot.cli.backup.restore import restore_backup

    record_restore(
        home,
        file,
        {
            "ok": True,
            "error": "",
            **_restore_to_json(restore_backup(home, file, passphrase, by_page=True)),
        },
    )


def record_restore(home: HomeFolder, file: Path, outcome: Mapping[str, Any]) -> None:
    """Write down for the page what came of its restore."""
    entry = {"file": file.name, "at": datetime.now(UTC).isoformat(), **outcome}
    write_atomic(home.last_restore, json.dumps(entry).encode(), 0o600)


def _backup_to_json(verified: Any) -> dict[str, Any]:
    manifest, contents = verified.manifest, verified.contents
    return {
        "made": manifest.made.isoformat(),
        "version": manifest.version,
        "schema": manifest.schema,
        "conversations": contents.conversations,
        "messages": contents.messages,
        "waiting": contents.waiting,
        "audit_ok": contents.audit,
        "files": verified.files,
        "attachments": verified.attachments,
        "bytes": verified.size,
        "left_out": list(manifest.left_out),
    }


def _restore_to_json(done: Any) -> dict[str, Any]:
    return {
        "kept": [str(path) for path in done.kept],
        "missing": list(done.missing),
        "withheld": list(done.withheld),
        "unreadable": done.unreadable,
        "forgotten": done.forgotten,
    }


def _print_backup(file: Path, verified: Any) -> None:
    manifest, contents = verified.manifest, verified.contents
    print(
        f"{file} is valid: made {manifest.made:%Y-%m-%d %H:%M:%S} UTC by mnema {manifest.version}."
    )
    print(
        f"conversations {contents.conversations:,}, messages {contents.messages:,}, files of the "
        f"workspace {verified.files:,}, attachments {verified.attachments:,}, {verified.size:,} "
        f"bytes, tables {manifest.schema}"
    )
    if contents.waiting:
        print(f"Not answered yet when it was made: {contents.waiting:,}.")
    if not contents.audit:
        print("mnema: a row of its audit was altered.", file=sys.stderr)


# `mnema migrate`: upgrades the tables in place, or copies the store between SQLite and PostgreSQL
# and compares both.

SQLITE = "sqlite"
ENV_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")  # as in config.json
SourceOption = Annotated[
    str, typer.Option("--from", help="Where the data is: sqlite, or postgresql://…")
]
TargetOption = Annotated[
    str, typer.Option("--to", help="Where to copy it: postgresql://…, or sqlite.")
]


def migrate(
    ctx: typer.Context,
    source: SourceOption = "",
    target: TargetOption = "",
    set_url: Annotated[
        bool, typer.Option("--set", help="Write the new location to config.json, as database_url.")
    ] = False,
    as_json: JsonOption = False,
) -> int:
    """Upgrade the tables; with --from and --to, copy all data to the other database and compare
    it.
    """
    home: HomeFolder = ctx.obj
    if not source and not target:
        return _upgrade_in_place(home)
    if SQLITE not in (source, target) or not source or not target or source == target:
        raise typer.BadParameter(
            "--from and --to go together: one of them is sqlite, the other postgresql://…"
        )
    typed = target if source == SQLITE else source
    # A reference keeps the password out of the process list.
    url = ENV_REFERENCE.sub(lambda name: os.environ.get(name[1], ""), typed)
    if not url.startswith(("postgresql://", "postgresql+psycopg://")):
        raise typer.BadParameter(
            "the address must begin with postgresql:// or postgresql+psycopg://"
        )
    home.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    with lock_home(home):
        moved = asyncio.run(
            _move_to_postgres(home, url) if source == SQLITE else _move_to_sqlite(home, url)
        )
        if as_json:
            print_json(_move_to_json(moved))
        else:
            _print_move(moved)
        if not moved.equal:
            raise MnemaError(
                "The two sides differ, so nothing was moved; the rows above say where."
            )
        _finish_move(home, typed if target != SQLITE else "", set_url=set_url, quiet=as_json)
    return 0


async def _move_to_postgres(home: HomeFolder, url: str) -> Any:
    if not home.db.exists():
        raise MnemaError(f"There is no database in {home.data}; there is nothing to move.")
    from memory.store.maintenance.snapshots import is_sound

    if not is_sound(home.db):
        raise MnemaError(
            f"{home.db} is damaged; start mnema once, which puts the newest snapshot in its place."
        )
    return await import_scale_module("memory.store.postgres.move").move_in(home.db, url)


async def _move_to_sqlite(home: HomeFolder, url: str) -> Any:
    _refuse_existing_database(home)
    partial = home.db.with_name(f".{home.db.name}.half")
    partial.unlink(missing_ok=True)
    moved = await import_scale_module("memory.store.postgres.move").move_out(url, partial)
    if moved.equal:
        partial.rename(home.db)
    partial.unlink(missing_ok=True)
    return moved


def _refuse_existing_database(home: HomeFolder) -> None:
    """Refuse to replace a database, or to leave a write-ahead log that SQLite would apply to the
    new one.
    """
    for end in ("", "-wal"):
        old = home.db.with_name(home.db.name + end)
        if old.exists() and (not end or old.stat().st_size):
            raise MnemaError(
                f"{old} exists already; move it elsewhere first, with all that is named "
                f"{home.db.name}…."
            )
        old.unlink(missing_ok=True)
    home.db.with_name(f"{home.db.name}-shm").unlink(missing_ok=True)


def _move_to_json(moved: Any) -> dict[str, Any]:
    rows = [
        {
            "table": table.source.table,
            "equal": table.equal,
            "from": {"rows": table.source.rows, "sha256": table.source.sha256},
            "to": {"rows": table.target.rows, "sha256": table.target.sha256},
        }
        for table in moved.tables
    ]
    whole = {"rows": moved.whole.rows, "sha256": moved.whole.sha256}
    return {"equal": moved.equal, "moved_before": moved.before, "whole": whole, "tables": rows}


def _print_move(moved: Any) -> None:
    if moved.before:
        print("It was moved by an earlier run, and has not been opened there since:")
    print(f"{'table':16} {'rows from':>12} {'rows to':>12}  sha256 from       sha256 to")
    for table in moved.tables:
        verdict = "equal" if table.equal else "DIFFERS"
        hashes = f"{table.source.sha256[:16]}  {table.target.sha256[:16]}"
        print(
            f"{table.source.table:16} {table.source.rows:>12,} {table.target.rows:>12,}  {hashes}  "
            f"{verdict}"
        )
    if moved.equal:
        print(
            f"{moved.whole.rows:,} rows, sha256 {moved.whole.sha256}: mnema audit list has the "
            "same there."
        )


def _finish_move(home: HomeFolder, url: str, *, set_url: bool, quiet: bool) -> None:
    """Print what to do next; config.json is changed only on request."""
    from bot.config.file import ConfigFile

    address = url.replace("postgresql://", "postgresql+psycopg://", 1)
    if set_url:
        ConfigFile(home.config).set("database_url", json.dumps(address))
    if quiet:
        return
    old, removal = (str(home.db), "delete") if url else ("The database", "drop")
    print(f"{old} is kept unchanged; {removal} it when you no longer need it.")
    if set_url:
        print("database_url in config.json is set.")
    else:
        print(f"Next: {program_for(home)} config set database_url '{_mask_url(address)}'")


def _mask_url(address: str) -> str:
    password = urlsplit(address).password
    return address.replace(f":{password}@", ":PASSWORD@", 1) if password else address


def _upgrade_in_place(home: HomeFolder) -> int:
    url = postgres_url(home)
    if not url and not home.db.exists():
        print(f"There is no database in {home.data} yet; nothing to do.")
        return 0
    home.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    with lock_home(home):
        if url:
            _print_upgrade(
                asyncio.run(import_scale_module("memory.store.postgres.schema").upgrade_tables(url))
            )
        else:
            asyncio.run(_open_database(home))
            print(f"{home.db} has this version's schema.")
    return 0


async def _open_database(home: HomeFolder) -> None:
    from memory.store.open import open_store

    store = await open_store(home.db)
    await store.close()


def _print_upgrade(old_revision: str | None) -> None:
    from memory.store.schema.tables import REVISIONS

    if old_revision is None:
        print("The database of database_url has no tables yet; the first mnema run makes them.")
    elif old_revision == REVISIONS[-1]:
        print("The database of database_url has this version's schema.")
    else:
        print(
            f"The database of database_url was upgraded from schema {old_revision} to "
            f"{REVISIONS[-1]}."
        )
