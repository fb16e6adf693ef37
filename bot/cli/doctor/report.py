"""`mnema doctor`: what is wrong with this home and this machine, one plain sentence each."""

import asyncio
import importlib.util
import os
import shutil
import stat
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import memory
from bot.access.audit import AuditCheckpoints
from bot.cli.doctor.channels import check_channels
from bot.cli.doctor.check import DoctorCheck
from bot.cli.doctor.public_address import check_public
from bot.config.file import ConfigFile
from bot.config.home import HomeFolder, find_linked, find_open
from bot.config.schema import Config
from bot.errors import ConfigError, MnemaError
from bot.models.service import ProviderAccount, effective_provider
from bot.runtime.store_access import call_running_bot, import_scale_module, open_store_for_command
from bot.telemetry.faults import fault_reason
from bot.texts import LONG_SOUL_TOKENS
from memory.context.system_prompt import SOUL
from memory.context.tokens import WEIGHTED, load_o200k_counter
from memory.longterm.memories import MAX_RECORDED, count_unrecorded
from memory.longterm.memory_file import MAX_BYTES, MEMORY_PATH, MemoryFileUnreadable, read_memory
from memory.recall.sqlite_index import check_index_files
from memory.recall.sync import IndexCheck
from memory.store.audit import AuditFault
from memory.store.engine.sqlite import REMEDY
from memory.store.errors import SchemaNewer, SchemaOlder, StoreCorrupt, StoreError
from memory.store.rows import LedgerFault
from memory.workspace.files import FileTooBig, Workspace
from memory.workspace.safe_path import PathRefused


def check_private(home: HomeFolder) -> DoctorCheck:
    """The doctor's line about who else may read the home."""
    name = "privacy"
    found = [*find_open(home), *find_linked(home)]
    if not found:
        return DoctorCheck(name=name, ok=True, message="No other account can read what is kept here.")
    first, more = found[0], len(found) - 1
    others = f", and {more:,} more" if more else ""
    message = f"Other accounts may open {first.path} (mode {first.mode:04o}){others}."
    hint = f"Run: {first.remedy}" + ("; the next start of mnema closes the rest." if more else "")
    return DoctorCheck(name=name, ok=False, message=message, hint=hint)


MIN_FREE_BYTES = 200_000_000
BUILD_TIME = datetime.fromisoformat("2026-11-01T00:00:00+00:00")  # no clock that is right shows an earlier time
TOKEN_RANKS_FILE = Path(memory.__file__).parent / "data" / "o200k_base.tiktoken"


async def run_checks(home: HomeFolder) -> list[DoctorCheck]:
    """All checks in the order in which they matter; nothing on disk is changed."""
    file = ConfigFile(home.config)
    checks = [
        _check_config(home, file),
        *await _check_database(home, file.current.database_url),
        await asyncio.to_thread(_check_index, home, file.current.database_url),
        _check_disk(home),
    ]
    config = file.current
    checks += [
        *await _check_models(config),
        *await _check_embedding(config),
        *await check_channels(home, file),
        *await check_public(home, config),
        _check_counter(),
        _check_clock(config),
    ]
    return [
        *checks,
        _check_web_token(home),
        await asyncio.to_thread(check_private, home),
        _check_instance(home),
        *await _check_troubles(home),
        await asyncio.to_thread(_check_soul, home, config.agent_max_context_tokens),
        await asyncio.to_thread(_check_memory, home),
    ]


def _check_config(home: HomeFolder, file: ConfigFile) -> DoctorCheck:
    name = "configuration"
    try:
        file.check()
    except ConfigError as err:
        hint = "Mend it, then look again with mnema config check."
        return DoctorCheck(name=name, ok=False, message=str(err), hint=hint)
    if not home.config.exists():
        hint = f"mnema --home {home.root} init makes one."
        return DoctorCheck(name=name, ok=True, message="There is no config.json; all defaults hold.", hint=hint)
    return DoctorCheck(name=name, ok=True, message=f"{home.config} is right.")


async def _check_database(home: HomeFolder, url: str) -> list[DoctorCheck]:
    """Whether it opens, and, where it does, whether every message is accounted for."""
    name = "database"
    if not url and (moved := await _check_moved(home)):
        what, _, hint = moved.rpartition(": ")
        return [DoctorCheck(name=name, ok=False, message=f"{what}.", hint=f"{hint[:1].upper()}{hint[1:]}.")]
    if not url and not home.db.exists():
        return [DoctorCheck(name=name, ok=True, message="There is none yet; the first start makes it.")]
    try:
        async with open_store_for_command(home) as record:
            faults = await record.store.folds.check_ledger()
            act = await record.store.audit.fault(AuditCheckpoints(home.data).known())
    except SchemaNewer as err:
        return [DoctorCheck(name=name, ok=False, message=str(err), hint="Start it with the newer version of mnema.")]
    except SchemaOlder as err:
        hint = "mnema migrate brings it up; a kill on the way leaves it as it was."
        return [DoctorCheck(name=name, ok=False, message=str(err), hint=hint)]
    except StoreCorrupt as err:
        hint = "The next start puts the damaged file aside and goes back to the newest snapshot."
        return [DoctorCheck(name=name, ok=False, message=str(err), hint=hint)]
    except StoreError as err:
        return [DoctorCheck(name=name, ok=False, message=str(err))]
    return [DoctorCheck(name=name, ok=True, message="It opens."), _check_ledger(faults), _check_audit(act)]


async def _check_moved(home: HomeFolder) -> str:
    """What the running bot says of its database file, "" where all is well or nobody runs."""
    try:
        told = (await call_running_bot(home, "GET", "/api/status"))["database"] if home.address() else "ok"
    except MnemaError:  # told with the channels
        told = "ok"
    if told == "ok" and home.running() and not home.db.exists():
        told = f"{home.db} was removed while mnema uses it: {REMEDY}"
    return "" if told == "ok" else str(told)


def _check_audit(fault: AuditFault | None) -> DoctorCheck:
    name = "audit"
    if fault is None:
        return DoctorCheck(name=name, ok=True, message="Every act stands as it was written.")
    hint = "Somebody has changed the record of what was done; mnema audit list shows what is left of it."
    return DoctorCheck(
        name=name, ok=False, message=f"Act {fault.seq} is not as it was written: {fault.what}.", hint=hint
    )


def _check_ledger(faults: list[LedgerFault]) -> DoctorCheck:
    name = "ledger"
    if not faults:
        message = "Every message is in view, folded or cleared, exactly one of them."
        return DoctorCheck(name=name, ok=True, message=message)
    first = faults[0]
    where = f"{first.what} ({first.conversation}, {first.subject})"
    message = f"It has {_format_count(len(faults), 'fault')}; the first: {where}."
    hint = "No message is lost by it; keep a copy of data/ and report it with this sentence."
    return DoctorCheck(name=name, ok=False, message=message, hint=hint)


def _check_index(home: HomeFolder, url: str) -> DoctorCheck:
    """Whether what recall finds by is sound, and agrees with the files it was made from."""
    name = "index"
    if not url and os.path.lexists(home.index) and not _is_usable(home.index):
        message = f"{home.index} is no folder that this user may write in, so that nothing can be searched."
        hint = f"Remove {home.index}, or mend its permissions; the index is made anew by itself."
        return DoctorCheck(name=name, ok=False, message=message, hint=hint)
    try:
        found = _open_index(home, url)
    except (StoreError, ConfigError) as err:
        return DoctorCheck(name=name, ok=False, message=str(err))
    if not found:
        return DoctorCheck(name=name, ok=True, message="There is none yet; the first search makes it.")
    wrong = [one for one in found if one.fault]
    if wrong:
        of, space = (wrong[0].space or "the owner"), (f" --space {wrong[0].space}" if wrong[0].space else "")
        hint = f"Nothing is lost: mnema memory index{space} makes it anew from the files and the record."
        return DoctorCheck(name=name, ok=False, message=f"That of {of} is at fault: {wrong[0].fault}.", hint=hint)
    rows, behind = sum(one.rows for one in found), sum(one.behind for one in found)
    message = f"It is sound: {_format_count(rows, 'row')} for {_format_count(len(found), 'space')}."
    hint = f"Files changed since: {behind}; the next search reads them." if behind else ""
    return DoctorCheck(name=name, ok=True, message=message, hint=hint)


def _is_usable(folder: Path) -> bool:
    return folder.is_dir() and os.access(folder, os.R_OK | os.W_OK | os.X_OK)


def _open_index(home: HomeFolder, url: str) -> list[IndexCheck]:
    """All indexes, wherever they are kept. url: of the store's database, "" for files."""
    workspace = Workspace(home.workspace)
    if not url:
        return check_index_files(home.index, workspace)
    indexes = import_scale_module("memory.recall.postgres_spaces").PostgresSharedIndexes(url)
    try:
        found: list[IndexCheck] = indexes.check_indexes(workspace)
        return found
    finally:
        indexes.close()


def _check_disk(home: HomeFolder) -> DoctorCheck:
    folder = next(path for path in (home.data, home.root, *home.root.parents) if path.exists())
    free = shutil.disk_usage(folder).free
    if not os.access(folder, os.W_OK):
        return DoctorCheck(name="disk", ok=False, message=f"{folder} cannot be written by this user.")
    message = f"{free / 1e9:.1f} GB are free on the disk of {folder}."
    hint = "" if free >= MIN_FREE_BYTES else "Make room: without it no message can be kept."
    return DoctorCheck(name="disk", ok=free >= MIN_FREE_BYTES, message=message, hint=hint)


async def _check_embedding(config: Config) -> list[DoctorCheck]:
    """Whether vectors can be had, where they are wanted."""
    if config.memory.embedding is None:
        return []
    from bot.models.embedding import check_embedding

    found = await check_embedding(config.memory.embedding)
    hint = "" if found.ok else "Recall goes on by words alone; memory.embedding null says that this is meant."
    return [DoctorCheck(name="embedding", ok=found.ok, message=found.message, hint=hint)]


async def _check_models(config: Config) -> list[DoctorCheck]:
    """Each model of the chain, asked for a word."""
    llm = config.llm
    account = ProviderAccount(provider=llm.provider, api_key=llm.api_key, base_url=llm.base_url, proxy=llm.proxy)
    if effective_provider(account) == "offline":
        hint = "" if llm.provider == "offline" else "Set llm.api_key, or the environment variable it reads."
        return [DoctorCheck(name="model", ok=True, message="The offline model answers: there is no key.", hint=hint)]
    from bot.models.service import probe_model

    found = await probe_model(config)
    names = ["model", *(f"llm.fallback[{at}]" for at in range(len(llm.fallback)))]
    return [DoctorCheck(name=name, ok=ok, message=message) for name, (ok, message) in zip(names, found, strict=True)]


def _check_counter() -> DoctorCheck:
    if TOKEN_RANKS_FILE.exists() and importlib.util.find_spec("tiktoken"):
        return DoctorCheck(name="counter", ok=True, message="Tokens are counted with the o200k ranks.")
    hint = f"Reinstall mnema: {TOKEN_RANKS_FILE.name} or tiktoken is missing."
    return DoctorCheck(name="counter", ok=True, message="Tokens are estimated by weight, less exactly.", hint=hint)


def _check_clock(config: Config) -> DoctorCheck:
    now = datetime.now(ZoneInfo(config.timezone)) if config.timezone else datetime.now().astimezone()
    message = f"It is {now:%Y-%m-%d %H:%M} in {config.timezone or now.tzname()}."
    hint = "" if now >= BUILD_TIME else "The clock is wrong; set it, or days in the log will be."
    return DoctorCheck(name="clock", ok=now >= BUILD_TIME, message=message, hint=hint)


def _check_web_token(home: HomeFolder) -> DoctorCheck:
    name = "web token"
    try:
        mode = stat.S_IMODE(home.web_token.stat().st_mode)
    except FileNotFoundError:
        return DoctorCheck(name=name, ok=True, message="There is none yet; mnema run makes it.")
    if mode & 0o077:
        message = f"Other users may read it (mode {mode:04o})."
        return DoctorCheck(name=name, ok=False, message=message, hint=f"Run: chmod 600 {home.web_token}")
    return DoctorCheck(name=name, ok=True, message="Only its owner may read it.")


def _check_instance(home: HomeFolder) -> DoctorCheck:
    holder = home.running()
    message = f"mnema runs here as process {holder}." if holder else "No instance runs on this home."
    return DoctorCheck(name="instance", ok=True, message=message)


async def _check_troubles(home: HomeFolder) -> list[DoctorCheck]:
    """What the running bot says went wrong on this machine; files that anybody can look at have lines of their own."""
    if not home.address():
        return []
    try:
        known = (await call_running_bot(home, "GET", "/api/status")).get("troubles", {})
    except MnemaError:
        return []  # the channels' line says so
    hint = "Look into data/log/mnema.log."
    message = "The running bot fails at {}: {}."
    return [DoctorCheck(name="machine", ok=False, message=message.format(*known), hint=hint) for known in known.items()]


def _check_soul(home: HomeFolder, budget: int) -> DoctorCheck:
    try:
        text = Workspace(home.workspace).space("").read(SOUL).text
    except FileNotFoundError:
        return DoctorCheck(name=SOUL, ok=True, message="There is none yet; the first start writes it.")
    except (PathRefused, FileTooBig, OSError) as err:
        return _unreadable_check(home, SOUL, err)
    try:
        tokens = load_o200k_counter().text(text)
    except OSError:
        tokens = WEIGHTED.text(text)
    hint = (
        ""
        if tokens <= LONG_SOUL_TOKENS
        else f"Over {LONG_SOUL_TOKENS} tokens: every request pays for them; shorten it."
    )
    return DoctorCheck(name=SOUL, ok=tokens < budget // 2, message=f"It has {tokens} of {budget} tokens.", hint=hint)


def _unreadable_check(home: HomeFolder, name: str, err: Exception) -> DoctorCheck:
    hint = f"Put a plain file that the bot's account may read at {home.workspace / name}; its last good text holds."
    return DoctorCheck(name=name, ok=False, message=f"It cannot be read: {fault_reason(err)[1]}.", hint=hint)


def _check_memory(home: HomeFolder) -> DoctorCheck:
    """Whether the owner's memory is small enough to be followed line by line."""
    try:
        held = read_memory(Workspace(home.workspace).space(""))
    except (MemoryFileUnreadable, OSError) as err:
        hint = f"Put a plain text of at most {MAX_BYTES:,} bytes there; nothing is written into it until then."
        return DoctorCheck(name=MEMORY_PATH, ok=False, message=str(err), hint=hint)
    left = count_unrecorded(held.text)
    if left:
        hint = "Move old lines to another file; a search finds them there, too."
        message = f"It has more than {MAX_RECORDED:,} memories: the last {left:,} are not followed as memories."
        return DoctorCheck(name=MEMORY_PATH, ok=False, message=message, hint=hint)
    return DoctorCheck(name=MEMORY_PATH, ok=True, message=f"It has {_format_count(len(held.text.encode()), 'byte')}.")


def _format_count(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
