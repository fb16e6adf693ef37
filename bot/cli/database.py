"""`mnema audit`: the chain of acts, listed and checked."""

import asyncio
import json
import os
import re
from typing import Annotated, Any
from urllib.parse import urlsplit

import typer

from bot.cli.options import JsonOption
from bot.config.home import HomeFolder
from bot.errors import MnemaError
from bot.runtime.store_access import ALL_SESSIONS, import_scale_module, lock_home, run_with_store

app = typer.Typer(help="List what was done and decided; check that nobody has changed that.", no_args_is_help=True)


@app.command("list")
def listing(
    ctx: typer.Context,
    limit: Annotated[int, typer.Option("--limit", min=1, max=ALL_SESSIONS, help="The newest this many.")] = 50,
    as_json: JsonOption = False,
) -> int:
    """List acts, oldest first."""

    async def rows(store: Any) -> Any:
        return await store.audit.acts(limit)

    nothing: list[Any] = []
    found = run_with_store(ctx.obj.home, rows, none=nothing)
    if as_json:
        names = ("seq", "actor", "action", "subject", "args_digest", "decision", "result", "hash")
        told = [{"at": row.at.isoformat(), **{name: getattr(row, name) for name in names}} for row in found]
        print(json.dumps(told, ensure_ascii=False, indent=2))
        return 0
    for row in found:
        facts = [row.action, _printable(row.subject), row.result, f"by {_printable(row.actor)}" if row.actor else ""]
        digest = f"  {row.args_digest[:12]}" if row.args_digest else ""
        print(f"{row.seq:>6}  {row.at:%Y-%m-%d %H:%M:%S}  {'  '.join(filter(None, facts))}{digest}")
    if not found:
        print("Nothing was done yet.")
    return 0


@app.command("verify")
def verify(
    ctx: typer.Context,
    head: Annotated[str, typer.Option("--head", help="SEQ:HASH as an earlier verify printed it.")] = "",
) -> int:
    """Check every act: its words, its place, and that none is missing."""
    from bot.access.audit import AuditCheckpoints

    noted = AuditCheckpoints(ctx.obj.home.data).known()
    known = [*noted, *_parse_head(head)]

    async def look(store: Any) -> Any:
        return await store.audit.fault(known), await store.audit.head()

    fault, end = run_with_store(ctx.obj.home, look)
    if fault is not None:
        raise MnemaError(f"Act {fault.seq} is not as it was written: {fault.what}.")
    count = "1 act stands" if end.seq == 1 else f"{end.seq:,} acts stand"
    print(f"{count} as written; ends noted outside the record that agree: {len(known)}.")
    if end.seq:
        print(f"The chain ends at {end.seq}:{end.hash}")
        print("Keep that line elsewhere: mnema audit verify --head checks it, whatever happens to this machine.")
    return 0


def _parse_head(given: str) -> list[Any]:
    from memory.store.audit import AuditHead

    if not given:
        return []
    seq, _, hash = given.partition(":")
    if not (seq.isascii() and seq.isdigit() and len(seq) < 16 and len(hash) == 64):
        raise typer.BadParameter(f"--head is {given!r}; it must be SEQ:HASH as mnema audit verify prints it.")
    return [AuditHead(seq=int(seq), hash=hash)]


def _printable(text: str) -> str:
    return "".join(sign if sign.isprintable() else "?" for sign in text)


# `mnema migrate`: this version's tables; and the store's move between SQLite and PostgreSQL, with its proof.

SQLITE = "sqlite"
REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")  # as in config.json: the value of an environment variable
SourceOption = Annotated[str, typer.Option("--from", help="Where the record is: sqlite, or postgresql://…")]
TargetOption = Annotated[str, typer.Option("--to", help="Where it is to be: postgresql://…, or sqlite.")]


def migrate(
    ctx: typer.Context,
    source: SourceOption = "",
    target: TargetOption = "",
    enter: Annotated[bool, typer.Option("--set", help="Enter the new place in config.json, as database_url.")] = False,
    as_json: JsonOption = False,
) -> int:
    """Bring the store to this version's tables; with --from and --to, copy it to the other database and prove it."""
    home: HomeFolder = ctx.obj.home
    if not source and not target:
        return _upgrade_in_place(home)
    if SQLITE not in (source, target) or not source or not target or source == target:
        raise typer.BadParameter("--from and --to go together: one of them is sqlite, the other postgresql://…")
    typed = target if source == SQLITE else source
    url = REFERENCE.sub(lambda name: os.environ.get(name[1], ""), typed)  # keeps passwords out of the list of processes
    if not url.startswith(("postgresql://", "postgresql+psycopg://")):
        raise typer.BadParameter("the address must begin with postgresql:// or postgresql+psycopg://")
    home.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    with lock_home(home):
        moved = asyncio.run(_open_source(home, url) if source == SQLITE else _open_target(home, url))
        if as_json:
            print(json.dumps(_move_to_json(moved), indent=2))
        else:
            _print_move(moved)
        if not moved.equal:
            raise MnemaError("The two sides differ, so nothing was moved; the rows above say where.")
        _finish_move(home, typed if target != SQLITE else "", enter=enter, quiet=as_json)
    return 0


async def _open_source(home: HomeFolder, url: str) -> Any:
    if not home.db.exists():
        raise MnemaError(f"There is no database in {home.data}; there is nothing to move.")
    from memory.store.maintenance.snapshots import is_sound

    if not is_sound(home.db):
        raise MnemaError(f"{home.db} is damaged; start mnema once, which puts the newest snapshot in its place.")
    return await import_scale_module("memory.store.maintenance.postgres_move").move_in(home.db, url)


async def _open_target(home: HomeFolder, url: str) -> Any:
    _check_left_home(home)
    half = home.db.with_name(f".{home.db.name}.half")
    half.unlink(missing_ok=True)
    moved = await import_scale_module("memory.store.maintenance.postgres_move").move_out(url, half)
    if moved.equal:
        half.rename(home.db)
    half.unlink(missing_ok=True)
    return moved


def _check_left_home(home: HomeFolder) -> None:
    """A file of another record is not to be replaced, nor a log of one to be taken for the new record's."""
    for end in ("", "-wal"):
        left = home.db.with_name(home.db.name + end)
        if left.exists() and (not end or left.stat().st_size):
            raise MnemaError(
                f"{left} is there already; move it elsewhere first, with all that is named {home.db.name}…."
            )
        left.unlink(missing_ok=True)
    home.db.with_name(f"{home.db.name}-shm").unlink(missing_ok=True)


def _move_to_json(moved: Any) -> dict[str, Any]:
    rows = [
        {
            "table": one.source.table,
            "equal": one.equal,
            "from": {"rows": one.source.rows, "sha256": one.source.sha256},
            "to": {"rows": one.target.rows, "sha256": one.target.sha256},
        }
        for one in moved.tables
    ]
    whole = {"rows": moved.whole.rows, "sha256": moved.whole.sha256}
    return {"equal": moved.equal, "moved_before": moved.before, "whole": whole, "tables": rows}


def _print_move(moved: Any) -> None:
    if moved.before:
        print("It was moved by an earlier run, and nobody has opened it there since:")
    print(f"{'table':16} {'rows from':>12} {'rows to':>12}  sha256 from       sha256 to")
    for one in moved.tables:
        verdict = "equal" if one.equal else "DIFFERS"
        hashes = f"{one.source.sha256[:16]}  {one.target.sha256[:16]}"
        print(f"{one.source.table:16} {one.source.rows:>12,} {one.target.rows:>12,}  {hashes}  {verdict}")
    if moved.equal:
        print(f"{moved.whole.rows:,} rows, sha256 {moved.whole.sha256}: mnema audit list has the same there.")


def _finish_move(home: HomeFolder, url: str, *, enter: bool, quiet: bool) -> None:
    """What the person has to know and do next; config.json is changed only where that was asked for."""
    from bot.config.file import ConfigFile

    address = url.replace("postgresql://", "postgresql+psycopg://", 1)
    if enter:
        ConfigFile(home.config).set("database_url", json.dumps(address))
    if quiet:
        return
    if url:
        print(f"{home.db} is as it was, and is kept; delete it when you need it no more.")
    else:
        print("The database is as it was, and is kept; drop it when you need it no more.")
    print(
        "config.json says so now: database_url."
        if enter
        else f"Next: mnema --home {home.root} config set database_url '{_mask_url(address)}'"
    )


def _mask_url(address: str) -> str:
    """The address as it may be shown: a password is left to the person who knows it."""
    password = urlsplit(address).password
    return address.replace(f":{password}@", ":PASSWORD@", 1) if password else address


def _upgrade_in_place(home: HomeFolder) -> int:
    from bot.runtime.store_access import postgres_url

    url = postgres_url(home)
    if not url and not home.db.exists():
        print(f"There is no database in {home.data} yet; nothing to do.")
        return 0
    home.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    with lock_home(home):
        if url:
            return _print_upgrade(asyncio.run(import_scale_module("memory.store.schema.postgres").upgrade_tables(url)))
        asyncio.run(_open_database(home))
    print(f"{home.db} has this version's schema.")
    return 0


async def _open_database(home: HomeFolder) -> None:
    from memory.store.open import open_store

    store = await open_store(home.db)
    await store.close()


def _print_upgrade(found: str | None) -> int:
    from memory.store.schema.tables import REVISIONS

    if found is None:
        print("The database of database_url has no tables yet; the first mnema run makes them.")
    elif found == REVISIONS[-1]:
        print("The database of database_url has this version's schema.")
    else:
        print(f"The database of database_url had the schema of {found} and has this version's, {REVISIONS[-1]}, now.")
    return 0
