"""`mnema audit`: the chain of acts, listed and checked."""

import json
from typing import Annotated, Any

import typer

from bot.errors import MnemaError
from bot.sessions_cli import EVERY, with_store

app = typer.Typer(help="List what was done and decided; check that nobody has changed that.", no_args_is_help=True)
AsJson = Annotated[bool, typer.Option("--json", help="As JSON.")]


@app.command("list")
def listing(
    ctx: typer.Context,
    limit: Annotated[int, typer.Option("--limit", min=1, max=EVERY, help="The newest this many.")] = 50,
    as_json: AsJson = False,
) -> int:
    """List acts, oldest first."""

    async def rows(store: Any) -> Any:
        return await store.audit.acts(limit)

    nothing: list[Any] = []
    found = with_store(ctx.obj.home, rows, none=nothing)
    if as_json:
        names = ("seq", "actor", "action", "subject", "args_digest", "decision", "result", "hash")
        told = [{"at": row.at.isoformat(), **{name: getattr(row, name) for name in names}} for row in found]
        print(json.dumps(told, ensure_ascii=False, indent=2))
        return 0
    for row in found:
        facts = [row.action, _plain(row.subject), row.result, f"by {_plain(row.actor)}" if row.actor else ""]
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
    from bot.audit_heads import Heads

    noted = Heads(ctx.obj.home.data).known()
    known = [*noted, *_head(head)]

    async def look(store: Any) -> Any:
        return await store.audit.fault(known), await store.audit.head()

    fault, end = with_store(ctx.obj.home, look)
    if fault is not None:
        raise MnemaError(f"Act {fault.seq} is not as it was written: {fault.what}.")
    count = "1 act stands" if end.seq == 1 else f"{end.seq:,} acts stand"
    print(f"{count} as written; ends noted outside the record that agree: {len(known)}.")
    if end.seq:
        print(f"The chain ends at {end.seq}:{end.hash}")
        print("Keep that line elsewhere: mnema audit verify --head checks it, whatever happens to this machine.")
    return 0


def _head(given: str) -> list[Any]:
    from memory.store.audit_records import AuditHead

    if not given:
        return []
    seq, _, hash = given.partition(":")
    if not (seq.isascii() and seq.isdigit() and len(seq) < 16 and len(hash) == 64):
        raise typer.BadParameter(f"--head is {given!r}; it must be SEQ:HASH as mnema audit verify prints it.")
    return [AuditHead(seq=int(seq), hash=hash)]


def _plain(text: str) -> str:
    return "".join(sign if sign.isprintable() else "?" for sign in text)
