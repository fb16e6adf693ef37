"""All checks of `mnema doctor`, and those of this home and machine."""

import asyncio
import importlib.util
import os
import shutil
import stat
import time
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import memory
from bot.access.audit import AuditCheckpoints
from bot.cli.doctor.channels import DoctorCheck, check_channels, check_public, failed, passed
from bot.cli.doctor.models import (
    check_background,
    check_embedding_model,
    check_model_health,
    check_models,
)
from bot.cli.doctor.system import check_system
from bot.cli.doctor.texts import ShownCheck, show_checks
from bot.cli.doctor.tools import McpServerSummary, check_tools, load_mcp_servers
from bot.cli.doctor.window import check_window
from bot.config.file import ConfigFile
from bot.config.home import HomeFolder, find_linked, find_open
from bot.config.messages import ConfigRejected
from bot.config.schema import Config, time_zone
from bot.errors import ConfigError, MnemaError
from bot.runtime.store_access import call_running_bot, import_scale_module, open_store_for_command
from bot.telemetry.database_repair import describe_repair, load_repair
from bot.telemetry.faults import DATABASE_SUBJECT, fault_reason
from bot.texts import LONG_SOUL_TOKENS
from channels.phrases import NO_PHRASE, AnyPhrase, Phrase, untranslated
from memory.context.system_prompt import SOUL
from memory.context.tokens import HALF_OF_RANKS, WEIGHTED, load_o200k_counter
from memory.longterm.memories import MAX_RECORDED, count_unrecorded
from memory.longterm.memory_file import MAX_BYTES, MEMORY_PATH, MemoryFileUnreadable, read_memory
from memory.recall.index import IndexCheck
from memory.recall.keepers.files import FileIndexes
from memory.store.audit import AuditFault
from memory.store.automation.jobs import JobTotals
from memory.store.conversations.folds.ledger import LedgerFault
from memory.store.engine.sqlite_connection import REMEDY
from memory.store.errors import (
    SchemaNewer,
    SchemaOlder,
    SchemaTooOld,
    StoreCorrupt,
    StoreError,
    TablesNewer,
)
from memory.store.maintenance.snapshots import find_damage
from memory.workspace.files import Workspace
from memory.workspace.safe_path import FileTooBig, PathRefused

MIN_FREE_BYTES = 200_000_000
OVERDUE_SECONDS = 120.0  # after which a running bot should have fired a job
_DAMAGED_HINT = Phrase(
    "Stop mnema and start it again: what can be read is kept, and a snapshot replaces the rest."
)
# a correct clock shows a later time
BUILD_TIME = datetime.fromisoformat("2026-11-01T00:00:00+00:00")
TOKEN_RANKS_FILE = Path(memory.__file__).parent / "data" / "o200k_base.tiktoken"


def check_private(home: HomeFolder) -> DoctorCheck:
    """Check that no other account can read the home."""
    name = "privacy"
    entries = [*find_open(home), *find_linked(home)]
    if not entries:
        return passed(name, Phrase("No other account can read the files here."))
    first, more = entries[0], len(entries) - 1
    mode = f"{first.mode:04o}"
    if not more:
        message = Phrase(
            "Other accounts can open {path} (mode {mode}).", path=first.path, mode=mode
        )
        return failed(name, message, Phrase("Run: {remedy}", remedy=first.remedy))
    return failed(
        name,
        Phrase(
            "Other accounts can open {path} (mode {mode}), and {more:,} more.",
            path=first.path,
            mode=mode,
            more=more,
        ),
        Phrase("Run: {remedy}; the next start of mnema restricts the rest.", remedy=first.remedy),
    )


async def run_checks(home: HomeFolder, lang: str = "en") -> list[ShownCheck]:
    """Run all checks, the most important first; changes nothing on disk. lang: "zh" or "en"."""
    file = ConfigFile(home.config)
    checks = [
        check_system(),
        _check_config(home, file),
        *await _check_database(home, file.current),
        await asyncio.to_thread(_check_index, home, file.current.database_url),
        _check_disk(home),
    ]
    config = file.current
    checks += [
        *await check_models(file),
        *await check_window(home, file),
        *await check_model_health(home),
        *await check_background(home),
        *await check_embedding_model(config),
        *await check_channels(home, file),
        *await check_public(home, config),
        *await check_tools(config, await _load_mcp_servers(home, config), home),
        _check_counter(),
        _check_clock(config),
    ]
    checks += [
        _check_web_token(home),
        await asyncio.to_thread(check_private, home),
        _check_instance(home),
        *await _check_troubles(home),
        await asyncio.to_thread(_check_soul, home, config.agent_max_context_tokens),
        await asyncio.to_thread(_check_memory, home),
    ]
    return show_checks(checks, lang)


def _check_config(home: HomeFolder, file: ConfigFile) -> DoctorCheck:
    name = "configuration"
    try:
        file.check()
    except ConfigError as err:
        hint = Phrase("Fix it, then check again with mnema config check.")
        return failed(name, _config_fault(err), hint)
    if not home.config.exists():
        hint = Phrase("mnema --home {root} init creates one.", root=home.root)
        return passed(
            name, Phrase("There is no config.json; all settings have their defaults."), hint
        )
    return passed(name, Phrase("{config} is valid.", config=home.config))


def _config_fault(err: ConfigError) -> AnyPhrase:
    return err.phrase if isinstance(err, ConfigRejected) else untranslated(err)


async def _check_database(home: HomeFolder, config: Config) -> list[DoctorCheck]:
    """Check that the database opens, its ledger and its audit."""
    name, url = "database", config.database_url
    if not url and (check := await _check_database_file(home)):
        return [check]
    try:
        async with open_store_for_command(home) as opened:
            repair = None if url else await load_repair(opened.store, home.data)
            faults = await opened.store.folds.check_ledger()
            act = await opened.store.audit.fault(AuditCheckpoints(home.data).known())
            jobs = await opened.store.jobs.totals(time.time() - OVERDUE_SECONDS)
    except SchemaNewer as err:
        return [failed(name, _schema_fault(err), hint=Phrase("Start the newer version of mnema."))]
    except SchemaOlder as err:
        hint = Phrase(
            "mnema migrate upgrades the database; if it is killed midway, nothing has changed."
        )
        return [failed(name, untranslated(err), hint)]
    except StoreCorrupt as err:
        return [failed(name, untranslated(err), _DAMAGED_HINT)]
    except SchemaTooOld as err:
        return [failed(name, _schema_fault(err))]
    except StoreError as err:
        return [failed(name, untranslated(err))]
    checks = [
        passed(
            name,
            Phrase("The database opens.")
            if url
            else Phrase("The database opens, and SQLite finds no damage."),
        )
    ]
    if repair is not None:
        checks.append(failed("repair", describe_repair(repair, time_zone(config))))
    return [*checks, _check_ledger(faults), _check_audit(act), _check_jobs(jobs, home)]


def _schema_fault(err: SchemaNewer | SchemaTooOld) -> Phrase:
    if isinstance(err, TablesNewer):
        return Phrase(
            "the database has the tables of {found}, which is newer than this program's {own}",
            found=err.found,
            own=err.own,
        )
    if isinstance(err, SchemaNewer):
        return untranslated(err)
    return Phrase(
        "the database has the tables of {found}, which this version cannot upgrade; go through "
        "commit {commit} first: its mnema migrate upgrades a database, its mnema restore a backup",
        found=err.found,
        commit=err.commit,
    )


async def _check_database_file(home: HomeFolder) -> DoctorCheck | None:
    """Say why the file of SQLite is not to be opened: in use, missing or damaged; None if it is."""
    if problem := await _running_database_problem(home):
        what, _, hint = problem.rpartition(": ")
        return failed(
            "database",
            untranslated(f"{what}."),
            hint=untranslated(f"{hint[:1].upper()}{hint[1:]}."),
        )
    if not home.db.exists():
        return passed("database", Phrase("There is none yet; the first start creates it."))
    if damage := await asyncio.to_thread(find_damage, home.db):
        message = Phrase("SQLite reports damage: {damage}.", damage=damage.rstrip("."))
        return failed("database", message, _DAMAGED_HINT)
    return None


def _check_jobs(totals: JobTotals, home: HomeFolder) -> DoctorCheck:
    """Say how many reminders and tasks there are; overdue ones are a fault of a bot that runs."""
    name = "reminders"
    if not totals.open:
        return passed(name, Phrase("There are none."))
    counts = {"open": totals.open, "paused": totals.paused, "overdue": totals.overdue}
    if totals.overdue and home.running():
        hint = Phrase(
            "The bot is running but does not send them; its log says why. A restart sends them "
            "late."
        )
        message = Phrase(
            "{open:,} reminders and tasks, {paused:,} of them paused; {overdue:,} are overdue.",
        )
        return failed(name, message.fill(**counts), hint)
    if totals.overdue:
        message = Phrase(
            "{open:,} reminders and tasks, {paused:,} of them paused; {overdue:,} came due while "
            "no bot was running.",
        )
    else:
        message = Phrase("{open:,} reminders and tasks, {paused:,} of them paused.")
    return passed(name, message.fill(**counts))


async def _running_database_problem(home: HomeFolder) -> str:
    """Return what the running bot reports of its database file, "" for nothing."""
    state = "ok"
    if home.address():
        with suppress(MnemaError):  # the check of the channels reports it
            state = str((await call_running_bot(home, "GET", "/api/status"))["database"])
    if state == "ok" and home.running() and not home.db.exists():
        state = f"{home.db} was removed while mnema uses it: {REMEDY}"
    return "" if state == "ok" else state


async def _load_mcp_servers(home: HomeFolder, config: Config) -> dict[str, McpServerSummary]:
    """Load what is stored of the servers of tools; nothing if the store cannot be read, which its
    own check reports.
    """
    if not config.mcp or not (config.database_url or home.db.exists()):
        return {}
    try:
        async with open_store_for_command(home) as opened:
            return await load_mcp_servers(opened.store)
    except (StoreError, MnemaError):
        return {}


def _check_audit(fault: AuditFault | None) -> DoctorCheck:
    name = "audit"
    if fault is None:
        return passed(name, Phrase("Every entry is as it was written."))
    hint = Phrase("The audit log was altered; mnema audit list shows what is left of it.")
    return failed(
        name,
        Phrase("Entry {seq} is not as it was written: {what}.", seq=fault.seq, what=fault.what),
        hint=hint,
    )


def _check_ledger(faults: list[LedgerFault]) -> DoctorCheck:
    name = "ledger"
    if not faults:
        message = Phrase("Every message is in exactly one class: in view, folded or cleared.")
        return passed(name, message)
    first = faults[0]
    where = f"{first.what} ({first.conversation}, {first.subject})"
    if len(faults) == 1:
        message = Phrase("There is 1 fault: {where}.", where=where)
    else:
        message = Phrase(
            "There are {count:,} faults; the first: {where}.", count=len(faults), where=where
        )
    hint = Phrase("No message is lost. Keep a copy of data/ and report this sentence.")
    return failed(name, message, hint)


def _is_unusable_folder(path: Path) -> bool:
    """Tell whether something is there that is no folder, or that this user may not change."""
    is_usable = path.is_dir() and os.access(path, os.R_OK | os.W_OK | os.X_OK)
    return os.path.lexists(path) and not is_usable


def _check_index(home: HomeFolder, url: str) -> DoctorCheck:
    """Check that the recall index is sound and agrees with its sources."""
    name = "index"
    if not url and _is_unusable_folder(home.index):
        message = Phrase(
            "{index} is not a folder that this user can write to, so nothing can be searched.",
            index=home.index,
        )
        hint = Phrase(
            "Remove {index}, or fix its permissions; the index is rebuilt automatically.",
            index=home.index,
        )
        return failed(name, message, hint)
    try:
        found = _open_index(home, url)
    except (StoreError, ConfigError) as err:
        return failed(name, untranslated(err))
    if not found:
        return passed(name, Phrase("There is none yet; the first search creates it."))
    faulty = next((index for index in found if index.fault), None)
    if faulty:
        option = f" --space {faulty.space}" if faulty.space else ""
        hint = Phrase(
            "Nothing is lost: mnema memory index{option} rebuilds it from the files and the "
            "database.",
            option=option,
        )
        message = Phrase(
            "The index of {space} has a fault: {fault}.",
            space=faulty.space or "the owner",
            fault=faulty.fault,
        )
        return failed(name, message, hint)
    rows, behind = sum(index.rows for index in found), sum(index.behind for index in found)
    message = Phrase(
        "The index is intact: {rows} for {spaces}.",
        rows=Phrase("1 row", "{count:,} rows", count=rows),
        spaces=Phrase("1 space", "{count:,} spaces", count=len(found)),
    )
    hint = (
        Phrase("Files changed since: {behind}; the next search reads them.", behind=behind)
        if behind
        else NO_PHRASE
    )
    return passed(name, message, hint)


def _open_index(home: HomeFolder, url: str) -> list[IndexCheck]:
    """Check all indexes. url: of the PostgreSQL store, "" for SQLite."""
    workspace = Workspace(home.workspace)
    if not url:
        return FileIndexes(home.index).check_indexes(workspace)
    indexes = import_scale_module("memory.store.postgres.index_keeper").PostgresSharedIndexes(url)
    try:
        found: list[IndexCheck] = indexes.check_indexes(workspace)
        return found
    finally:
        indexes.close()


def _check_disk(home: HomeFolder) -> DoctorCheck:
    folder = next(path for path in (home.data, home.root, *home.root.parents) if path.exists())
    free = shutil.disk_usage(folder).free
    if not os.access(folder, os.W_OK):
        return failed("disk", Phrase("This user cannot write to {folder}.", folder=folder))
    message = Phrase(
        "{free:.1f} GB are free on the disk that holds {folder}.",
        free=free / 1000000000.0,
        folder=folder,
    )
    hint = (
        NO_PHRASE
        if free >= MIN_FREE_BYTES
        else Phrase("Free some disk space; otherwise no message can be stored.")
    )
    return DoctorCheck(name="disk", ok=free >= MIN_FREE_BYTES, message=message, hint=hint)


def _check_counter() -> DoctorCheck:
    if TOKEN_RANKS_FILE.exists() and importlib.util.find_spec("tiktoken"):
        return passed("counter", Phrase("Tokens are counted with the o200k vocabulary."))
    hint = Phrase("Reinstall mnema: {name} or tiktoken is missing.", name=TOKEN_RANKS_FILE.name)
    return passed("counter", Phrase("Tokens are estimated, which is less exact."), hint)


def _check_clock(config: Config) -> DoctorCheck:
    now = (
        datetime.now(ZoneInfo(config.timezone)) if config.timezone else datetime.now().astimezone()
    )
    message = Phrase(
        "It is {now:%Y-%m-%d %H:%M} in {timezone}.",
        now=now,
        timezone=config.timezone or now.tzname(),
    )
    hint = (
        NO_PHRASE
        if now >= BUILD_TIME
        else Phrase("The clock is wrong; correct it, or the daily log gets wrong dates.")
    )
    return DoctorCheck(name="clock", ok=now >= BUILD_TIME, message=message, hint=hint)


def _check_web_token(home: HomeFolder) -> DoctorCheck:
    name = "web token"
    try:
        mode = stat.S_IMODE(home.web_token.stat().st_mode)
    except FileNotFoundError:
        return passed(name, Phrase("There is none yet; mnema run creates it."))
    if mode & 0o077:
        message = Phrase("Other users can read it (mode {mode:04o}).", mode=mode)
        return failed(
            name, message, hint=Phrase("Run: chmod 600 {web_token}", web_token=home.web_token)
        )
    return passed(name, Phrase("Only its owner can read it."))


def _check_instance(home: HomeFolder) -> DoctorCheck:
    holder = home.running()
    message = (
        Phrase("mnema runs here as process {holder}.", holder=holder)
        if holder
        else Phrase("mnema is not running on this home.")
    )
    return passed("instance", message)


async def _check_troubles(home: HomeFolder) -> list[DoctorCheck]:
    """Return the troubles that the running bot reports."""
    if not home.address():
        return []
    try:
        known = (await call_running_bot(home, "GET", "/api/status")).get("troubles", {})
    except MnemaError:
        return []  # the check of the channels reports it
    hint = Phrase("See data/log/mnema.log.")
    return [
        failed(
            "machine",
            Phrase("The running bot has errors in {what}: {why}.", what=what, why=why),
            hint,
        )
        for what, why in known.items()
        if what != DATABASE_SUBJECT  # its own check tells it
    ]


def _check_soul(home: HomeFolder, budget: int) -> DoctorCheck:
    try:
        text = Workspace(home.workspace).space("").read(SOUL).text
    except FileNotFoundError:
        return passed(SOUL, Phrase("There is none yet; the first start creates it."))
    except (PathRefused, FileTooBig, OSError) as err:
        return _unreadable_check(home, SOUL, err)
    try:
        tokens = load_o200k_counter(HALF_OF_RANKS).text(text)  # as the bot counts
    except OSError:
        tokens = WEIGHTED.text(text)
    hint = (
        NO_PHRASE
        if tokens <= LONG_SOUL_TOKENS
        else Phrase(
            "It is longer than {long_soul_tokens} tokens, and every request pays for them; "
            "shorten it.",
            long_soul_tokens=LONG_SOUL_TOKENS,
        )
    )
    return DoctorCheck(
        name=SOUL,
        ok=tokens < budget // 2,
        message=Phrase("It takes up {tokens} of {budget} tokens.", tokens=tokens, budget=budget),
        hint=hint,
    )


def _unreadable_check(home: HomeFolder, name: str, err: Exception) -> DoctorCheck:
    hint = Phrase(
        "Put a plain file that the bot's account can read at {workspace}; until then the text "
        "read last stays in use.",
        workspace=home.workspace / name,
    )
    return failed(
        name, Phrase("It cannot be read: {fault_reason}.", fault_reason=fault_reason(err)), hint
    )


def _check_memory(home: HomeFolder) -> DoctorCheck:
    """Check that MEMORY.md is readable and small enough to be tracked line by line."""
    try:
        file = read_memory(Workspace(home.workspace).space(""))
    except (MemoryFileUnreadable, OSError) as err:
        hint = Phrase(
            "Replace it with plain text of at most {max_bytes:,} bytes; until then nothing is "
            "written to it.",
            max_bytes=MAX_BYTES,
        )
        return failed(MEMORY_PATH, untranslated(err), hint)
    left = count_unrecorded(file.text)
    if left:
        hint = Phrase("Move old lines to another file; searches find them there too.")
        message = Phrase(
            "It holds more than {max_recorded:,} memories; the last {left:,} are not tracked.",
            max_recorded=MAX_RECORDED,
            left=left,
        )
        return failed(MEMORY_PATH, message, hint)
    return passed(
        MEMORY_PATH,
        Phrase("It is 1 byte long.", "It is {count:,} bytes long.", count=len(file.text.encode())),
    )
