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
from bot.cli.doctor.system import check_system
from bot.cli.doctor.texts import to_language
from bot.cli.doctor.tools import McpServerSummary, check_tools, load_mcp_servers
from bot.cli.doctor.window import check_window
from bot.config.file import ConfigFile
from bot.config.home import HomeFolder, find_linked, find_open
from bot.config.keys import KEYS, REFERENCE_PATTERN
from bot.config.loader import KEY_VARIABLES
from bot.config.messages import ConfigRejected
from bot.config.schema import Config, time_zone
from bot.errors import ConfigError, MnemaError
from bot.memory.outcome_texts import format_outcomes
from bot.models.providers.accounts import configured_models, default_names, effective_provider
from bot.models.setup.checks import STATE_MARKS, ModelReport, check_model
from bot.runtime.store_access import (
    call_running_bot,
    import_scale_module,
    open_store_for_command,
    store_exists,
)
from bot.telemetry.database_repair import describe_repair, load_repair
from bot.telemetry.faults import DATABASE_SUBJECT, fault_reason
from bot.texts import LONG_SOUL_TOKENS
from channels.phrases import NO_PHRASE, Phrase
from memory.context.system_prompt import SOUL
from memory.context.tokens import HALF_OF_RANKS, WEIGHTED, load_o200k_counter
from memory.longterm.memories import MAX_RECORDED, count_unrecorded
from memory.longterm.memory_file import MAX_BYTES, MEMORY_PATH, MemoryFileUnreadable, read_memory
from memory.recall.index import IndexCheck
from memory.recall.keepers.files import FileIndexes
from memory.store.audit import AuditFault
from memory.store.automation.jobs import JobTotals
from memory.store.conversations.ledger import LedgerFault
from memory.store.engine.sqlite_connection import REMEDY
from memory.store.errors import SchemaNewer, SchemaOlder, StoreCorrupt, StoreError
from memory.store.maintenance.snapshots import find_damage
from memory.workspace.files import FileTooBig, Workspace
from memory.workspace.safe_path import PathRefused

MIN_FREE_BYTES = 200_000_000
MAX_FAILED_SHARE = 0.5  # of summaries and facts; with more, something is wrong
OVERDUE_SECONDS = 120.0  # after which a running bot should have fired a job
_DAMAGED_HINT = (
    "Stop mnema and start it again: what can be read is kept, and a snapshot takes the "
    "place of the rest."
)
# a correct clock shows a later time
BUILD_TIME = datetime.fromisoformat("2026-11-01T00:00:00+00:00")
TOKEN_RANKS_FILE = Path(memory.__file__).parent / "data" / "o200k_base.tiktoken"


def check_private(home: HomeFolder) -> DoctorCheck:
    """Check that no other account can read the home."""
    name = "privacy"
    entries = [*find_open(home), *find_linked(home)]
    if not entries:
        return passed(name, "No other account can read the files here.")
    first, more = entries[0], len(entries) - 1
    others = f", and {more:,} more" if more else ""
    message = f"Other accounts may open {first.path} (mode {first.mode:04o}){others}."
    hint = f"Run: {first.remedy}" + ("; the next start of mnema closes the rest." if more else "")
    return failed(name, message, hint)


async def run_checks(home: HomeFolder, lang: str = "en") -> list[DoctorCheck]:
    """Run all checks, the most important first; changes nothing on disk. lang: "zh" or "en"."""
    file = ConfigFile(home.config)
    checks = [
        check_system(),
        _check_config(home, file, lang),
        *await _check_database(home, file.current, lang),
        await asyncio.to_thread(_check_index, home, file.current.database_url),
        _check_disk(home),
    ]
    config = file.current
    checks += [
        *await _check_models(file, lang),
        *await check_window(home, file, lang),
        *await _check_model_health(home),
        *await _check_background(home, lang),
        *await _check_embedding(config),
        *await check_channels(home, file, lang=lang),
        *await check_public(home, config),
        *await check_tools(config, await _load_mcp_servers(home, config), home, lang),
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
    return [to_language(check, lang) for check in checks]


def _check_config(home: HomeFolder, file: ConfigFile, lang: str) -> DoctorCheck:
    name = "configuration"
    try:
        file.check()
    except ConfigError as err:
        hint = "Fix it, then check again with mnema config check."
        return failed(name, err.say(lang) if isinstance(err, ConfigRejected) else str(err), hint)
    if not home.config.exists():
        hint = f"mnema --home {home.root} init creates one."
        return passed(name, "There is no config.json; all settings have their defaults.", hint)
    return passed(name, f"{home.config} is valid.")


async def _check_database(home: HomeFolder, config: Config, lang: str) -> list[DoctorCheck]:
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
        return [failed(name, str(err), hint="Start it with the newer version of mnema.")]
    except SchemaOlder as err:
        hint = "mnema migrate upgrades it; a kill meanwhile leaves it unchanged."
        return [failed(name, str(err), hint)]
    except StoreCorrupt as err:
        return [failed(name, str(err), _DAMAGED_HINT)]
    except StoreError as err:
        return [failed(name, str(err))]
    checks = [passed(name, "It opens." if url else "It opens, and SQLite finds no damage.")]
    if repair is not None:
        checks.append(failed("repair", describe_repair(repair, time_zone(config)).text(lang)))
    return [*checks, _check_ledger(faults), _check_audit(act), _check_jobs(jobs, home)]


async def _check_database_file(home: HomeFolder) -> DoctorCheck | None:
    """Say why the file of SQLite is not to be opened: in use, missing or damaged; None if it is."""
    if problem := await _running_database_problem(home):
        what, _, hint = problem.rpartition(": ")
        return failed("database", f"{what}.", hint=f"{hint[:1].upper()}{hint[1:]}.")
    if not home.db.exists():
        return passed("database", "There is none yet; the first start creates it.")
    if damage := await asyncio.to_thread(find_damage, home.db):
        message = f"SQLite finds it damaged: {damage.rstrip('.')}."
        return failed("database", message, _DAMAGED_HINT)
    return None


def _check_jobs(totals: JobTotals, home: HomeFolder) -> DoctorCheck:
    """Say how many reminders and tasks there are; overdue ones are a fault of a bot that runs."""
    name = "reminders"
    if not totals.open:
        return passed(name, "There are none.")
    message = f"{totals.open:,} reminders and tasks, {totals.paused:,} of them paused."
    if totals.overdue and home.running():
        hint = "The bot runs but does not fire them; its log says why. A restart sends them late."
        return failed(name, f"{message} {totals.overdue:,} are overdue.", hint)
    return passed(
        name,
        message + (f" {totals.overdue:,} came due while no bot ran." if totals.overdue else ""),
    )


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
        return passed(name, "Every act stands as it was written.")
    hint = "The audit was altered; mnema audit list shows what is left of it."
    return failed(name, f"Act {fault.seq} is not as it was written: {fault.what}.", hint=hint)


def _check_ledger(faults: list[LedgerFault]) -> DoctorCheck:
    name = "ledger"
    if not faults:
        message = "Every message is in exactly one class: in view, folded or cleared."
        return passed(name, message)
    first = faults[0]
    where = f"{first.what} ({first.conversation}, {first.subject})"
    message = f"It has {_format_count(len(faults), 'fault')}; the first: {where}."
    hint = "No message is lost; keep a copy of data/ and report it with this sentence."
    return failed(name, message, hint)


def _is_unusable_folder(path: Path) -> bool:
    """Tell whether something is there that is no folder, or that this user may not change."""
    is_usable = path.is_dir() and os.access(path, os.R_OK | os.W_OK | os.X_OK)
    return os.path.lexists(path) and not is_usable


def _check_index(home: HomeFolder, url: str) -> DoctorCheck:
    """Check that the recall index is sound and agrees with its sources."""
    name = "index"
    if not url and _is_unusable_folder(home.index):
        message = (
            f"{home.index} is no folder that this user may write to, so that nothing can be "
            "searched."
        )
        hint = f"Remove {home.index}, or fix its permissions; the index is rebuilt automatically."
        return failed(name, message, hint)
    try:
        found = _open_index(home, url)
    except (StoreError, ConfigError) as err:
        return failed(name, str(err))
    if not found:
        return passed(name, "There is none yet; the first search creates it.")
    faulty = next((index for index in found if index.fault), None)
    if faulty:
        option = f" --space {faulty.space}" if faulty.space else ""
        hint = (
            f"Nothing is lost: mnema memory index{option} rebuilds it from the files and the "
            "database."
        )
        message = f"The index of {faulty.space or 'the owner'} has a fault: {faulty.fault}."
        return failed(name, message, hint)
    rows, behind = sum(index.rows for index in found), sum(index.behind for index in found)
    message = f"It is sound: {_format_count(rows, 'row')} for {_format_count(len(found), 'space')}."
    hint = f"Files changed since: {behind}; the next search reads them." if behind else ""
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
        return failed("disk", f"{folder} cannot be written by this user.")
    message = f"{free / 1e9:.1f} GB are free on the disk of {folder}."
    hint = "" if free >= MIN_FREE_BYTES else "Free some space: without it no message can be stored."
    return DoctorCheck(name="disk", ok=free >= MIN_FREE_BYTES, message=message, hint=hint)


async def _check_embedding(config: Config) -> list[DoctorCheck]:
    """Check the embedding model, if there is one."""
    if config.memory.embedding is None:
        return []
    from bot.models.embedding import check_embedding

    found = await check_embedding(config.memory.embedding)
    hint = (
        ""
        if found.ok
        else "Recall works by words alone; set memory.embedding to null if that is intended."
    )
    return [DoctorCheck(name="embedding", ok=found.ok, message=found.message, hint=hint)]


def _check_offline(file: ConfigFile) -> DoctorCheck:
    """Say why the offline model answers; a variable that the settings name and nobody has set is a
    mistake.
    """
    written = file.written(KEYS["llm", "api_key"])
    # the example names a provider's
    is_own = isinstance(written, str) and written not in KEY_VARIABLES.values()
    names = REFERENCE_PATTERN.findall(written) if is_own else []
    if missing := [name for name in names if name not in os.environ]:
        message = (
            f"The offline model answers: llm.api_key reads the environment variable {missing[0]}, "
            "which is not set."
        )
        return failed(
            "model", message, "Set it where mnema is started, or write the key into config.json."
        )
    hint = (
        ""
        if file.current.llm.provider == "offline"
        else "Set llm.api_key, or the environment variable it reads."
    )
    return passed("model", "The offline model answers: there is no key.", hint)


async def _check_models(file: ConfigFile, lang: str) -> list[DoctorCheck]:
    """Test each model of the chain as the set-up does."""
    llm = file.current.llm
    accounts = configured_models(llm)
    provider = effective_provider(accounts[0])
    if provider == "offline":
        return [_check_offline(file)]
    models = [default_names(llm, provider)[0], *(account.model for account in accounts[1:])]
    reports = await asyncio.gather(*map(check_model, accounts, models))
    names = ["model", *(f"llm.fallback[{at}]" for at in range(len(llm.fallback)))]
    return [
        _describe_model(name, f"{account.provider} {model}", account.base_url, report, lang)
        for name, account, model, report in zip(names, accounts, models, reports, strict=True)
    ]


def _describe_model(
    name: str, model: str, base_url: str, report: ModelReport, lang: str
) -> DoctorCheck:
    """Say what a model takes, or why it is of no use."""
    if not report.is_usable:
        return failed(name, _describe_failure(model, base_url, report, lang))
    words = report.server_words
    tools, sight, streaming = (
        STATE_MARKS[report.state(id)] for id in ("tools", "sight", "streaming")
    )
    thinking = STATE_MARKS[report.state("thinking")]
    if report.thinks_in_tags:
        thinking += " <think>"
    message = (
        f"{model} answers: tools {tools}, sight {sight}, streaming {streaming}, thinking "
        f"{thinking}."
    )
    if report.state("tools") != "no":
        return passed(name, message)
    hint = (
        f"Its server refuses tools ({words}): choose a model that supports them, or enable them on "
        "the server."
    )
    return passed(name, message, hint)


def _describe_failure(model: str, base_url: str, report: ModelReport, lang: str) -> str:
    """Say why a model is of no use: its key is refused, or it does not answer."""
    check = next(check for check in report.checks if check.state == "failed")
    where = Phrase(" at {url}", url=base_url) if base_url else NO_PHRASE
    what = NO_PHRASE if check.id == "key" else Phrase(" does not answer")
    words = f" ({report.server_words})" if report.server_words else ""
    return Phrase(
        "{model}{where}{what}: {why}{words}",
        model=model,
        where=where,
        what=what,
        why=check.text,
        words=words,
    ).text(lang)


async def _check_model_health(home: HomeFolder) -> list[DoctorCheck]:
    """Return what the running bot thinks of its models: its key and its connections may be other
    ones.
    """
    if not home.address():
        return []
    try:
        states = (await call_running_bot(home, "GET", "/api/status"))["models"]
    except MnemaError:
        return []  # the check of the channels reports it
    name, hint = (
        "model health",
        "The next message tries it again; Try now on the page's Health does so at once.",
    )
    down = [state for state in states if not state["up"]]
    if not down:
        return [passed(name, "The running bot has no trouble with its models.")]
    return [
        failed(name, f"The running bot gets no answer from {state['name']}: {state['why']}.", hint)
        for state in down
    ]


async def _check_background(home: HomeFolder, lang: str) -> list[DoctorCheck]:
    """Say how many of the newest summaries are extracts, how often facts failed, and the newest
    errors of models.
    """
    checks: list[DoctorCheck] = []
    with suppress(StoreError, MnemaError):  # the check of the database reports it
        if store_exists(home):
            async with open_store_for_command(home) as opened:
                outcomes = await opened.store.outcomes.newest()
            digests, failed_turns = sum(outcomes.digests.values()), sum(outcomes.failed.values())
            is_ok = (
                digests <= outcomes.folds * MAX_FAILED_SHARE
                and failed_turns <= outcomes.extractions * MAX_FAILED_SHARE
            )
            if lines := format_outcomes(outcomes, lang):
                message = (Phrase("; ").text(lang)).join(lines)
                checks.append(
                    DoctorCheck(
                        name="summaries and facts", ok=is_ok, message=end_sentence(message, lang)
                    )
                )
    with suppress(MnemaError):  # the check of the channels reports it
        if home.address():
            known = (await call_running_bot(home, "GET", "/api/v1/health/background"))["models"]
            words = [f"{model['name']}: {model['error']}" for model in known if model["error"]]
            checks += [passed("newest error", end_sentence(one, lang)) for one in words]
    return checks


def end_sentence(text: str, lang: str) -> str:
    """Put a full stop at the end of a sentence that has none."""
    return (
        text if text.endswith((".", "。", "!", "?")) else f"{text}{'。' if lang == 'zh' else '.'}"
    )


def _check_counter() -> DoctorCheck:
    if TOKEN_RANKS_FILE.exists() and importlib.util.find_spec("tiktoken"):
        return passed("counter", "Tokens are counted with the o200k ranks.")
    hint = f"Reinstall mnema: {TOKEN_RANKS_FILE.name} or tiktoken is missing."
    return passed("counter", "Tokens are estimated by weight, less exactly.", hint)


def _check_clock(config: Config) -> DoctorCheck:
    now = (
        datetime.now(ZoneInfo(config.timezone)) if config.timezone else datetime.now().astimezone()
    )
    message = f"It is {now:%Y-%m-%d %H:%M} in {config.timezone or now.tzname()}."
    hint = (
        "" if now >= BUILD_TIME else "The clock is wrong; set it, or the daily log gets wrong days."
    )
    return DoctorCheck(name="clock", ok=now >= BUILD_TIME, message=message, hint=hint)


def _check_web_token(home: HomeFolder) -> DoctorCheck:
    name = "web token"
    try:
        mode = stat.S_IMODE(home.web_token.stat().st_mode)
    except FileNotFoundError:
        return passed(name, "There is none yet; mnema run creates it.")
    if mode & 0o077:
        message = f"Other users may read it (mode {mode:04o})."
        return failed(name, message, hint=f"Run: chmod 600 {home.web_token}")
    return passed(name, "Only its owner may read it.")


def _check_instance(home: HomeFolder) -> DoctorCheck:
    holder = home.running()
    message = (
        f"mnema runs here as process {holder}." if holder else "No instance runs on this home."
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
    hint = "Look into data/log/mnema.log."
    return [
        failed("machine", f"The running bot fails at {what}: {why}.", hint)
        for what, why in known.items()
        if what != DATABASE_SUBJECT  # its own check tells it
    ]


def _check_soul(home: HomeFolder, budget: int) -> DoctorCheck:
    try:
        text = Workspace(home.workspace).space("").read(SOUL).text
    except FileNotFoundError:
        return passed(SOUL, "There is none yet; the first start creates it.")
    except (PathRefused, FileTooBig, OSError) as err:
        return _unreadable_check(home, SOUL, err)
    try:
        tokens = load_o200k_counter(HALF_OF_RANKS).text(text)  # as the bot counts
    except OSError:
        tokens = WEIGHTED.text(text)
    hint = (
        ""
        if tokens <= LONG_SOUL_TOKENS
        else f"Over {LONG_SOUL_TOKENS} tokens: every request pays for them; shorten it."
    )
    return DoctorCheck(
        name=SOUL,
        ok=tokens < budget // 2,
        message=f"It has {tokens} of {budget} tokens.",
        hint=hint,
    )


def _unreadable_check(home: HomeFolder, name: str, err: Exception) -> DoctorCheck:
    hint = (
        f"Put a plain file that the bot's account may read at {home.workspace / name}; its last "
        "text stays in use."
    )
    return failed(name, f"It cannot be read: {fault_reason(err)}.", hint)


def _check_memory(home: HomeFolder) -> DoctorCheck:
    """Check that MEMORY.md is readable and small enough to be tracked line by line."""
    try:
        file = read_memory(Workspace(home.workspace).space(""))
    except (MemoryFileUnreadable, OSError) as err:
        hint = (
            f"Replace it by plain text of at most {MAX_BYTES:,} bytes; nothing is written to it "
            "until then."
        )
        return failed(MEMORY_PATH, str(err), hint)
    left = count_unrecorded(file.text)
    if left:
        hint = "Move old lines to another file; a search finds them there too."
        message = (
            f"It has more than {MAX_RECORDED:,} memories: the last {left:,} are not tracked as "
            "memories."
        )
        return failed(MEMORY_PATH, message, hint)
    return passed(MEMORY_PATH, f"It has {_format_count(len(file.text.encode()), 'byte')}.")


def _format_count(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
