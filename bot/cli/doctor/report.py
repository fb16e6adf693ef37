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
from bot.access.audit import Heads
from bot.cli.client import ask_running
from bot.cli.doctor.channels import check_channels
from bot.cli.doctor.check import Check
from bot.cli.doctor.public_address import check_public
from bot.config.file import ConfigFile
from bot.config.home import Home
from bot.config.private_files import find_linked, find_open
from bot.config.schema import Config
from bot.errors import ConfigError, MnemaError
from bot.models.service import Account, effective_provider
from bot.runtime.store_access import opened, scaled
from bot.telemetry.faults import reason
from bot.texts import LONG_SOUL
from memory.context.system_prompt import SOUL
from memory.context.tokens import WEIGHTED, load_counter
from memory.longterm.memories import MOST_TAKEN, beyond
from memory.longterm.memory_file import MOST_BYTES, PATH, Unreadable, read
from memory.recall.check import Looked, look
from memory.store.audit import AuditFault
from memory.store.engine.database_file import REMEDY
from memory.store.errors import SchemaNewer, SchemaOlder, StoreCorrupt, StoreError
from memory.store.rows import LedgerFault
from memory.workspace.files import TooBig, Workspace
from memory.workspace.safe_path import PathRefused


def check_private(home: Home) -> Check:
    """The doctor's line about who else may read the home."""
    name = "privacy"
    found = [*find_open(home), *find_linked(home)]
    if not found:
        return Check(name=name, ok=True, message="No other account can read what is kept here.")
    first, more = found[0], len(found) - 1
    others = f", and {more:,} more" if more else ""
    message = f"Other accounts may open {first.path} (mode {first.mode:04o}){others}."
    hint = f"Run: {first.remedy}" + ("; the next start of mnema closes the rest." if more else "")
    return Check(name=name, ok=False, message=message, hint=hint)


LEAST_FREE = 200_000_000
BUILT = datetime.fromisoformat("2026-11-01T00:00:00+00:00")
"""No clock that is right shows an earlier time."""
RANKS = Path(memory.__file__).parent / "data" / "o200k_base.tiktoken"


async def report(home: Home) -> list[Check]:
    """All checks in the order in which they matter; nothing on disk is changed."""
    file = ConfigFile(home.config)
    checks = [
        _configuration(home, file),
        *await _database(home, file.current.database_url),
        await asyncio.to_thread(_index, home, file.current.database_url),
        _disk(home),
    ]
    config = file.current
    checks += [
        *await _models(config),
        *await _embedding(config),
        *await check_channels(home, file),
        *await check_public(home, config),
        _counter(),
        _clock(config),
    ]
    return [
        *checks,
        _web_token(home),
        await asyncio.to_thread(check_private, home),
        _instance(home),
        *await _troubles(home),
        await asyncio.to_thread(_soul, home, config.agent_max_context_tokens),
        await asyncio.to_thread(_memory, home),
    ]


def _configuration(home: Home, file: ConfigFile) -> Check:
    name = "configuration"
    try:
        file.check()
    except ConfigError as err:
        hint = "Mend it, then look again with mnema config check."
        return Check(name=name, ok=False, message=str(err), hint=hint)
    if not home.config.exists():
        hint = f"mnema --home {home.root} init makes one."
        return Check(name=name, ok=True, message="There is no config.json; all defaults hold.", hint=hint)
    return Check(name=name, ok=True, message=f"{home.config} is right.")


async def _database(home: Home, url: str) -> list[Check]:
    """Whether it opens, and, where it does, whether every message is accounted for."""
    name = "database"
    if not url and (moved := await _moved(home)):
        what, _, hint = moved.rpartition(": ")
        return [Check(name=name, ok=False, message=f"{what}.", hint=f"{hint[:1].upper()}{hint[1:]}.")]
    if not url and not home.db.exists():
        return [Check(name=name, ok=True, message="There is none yet; the first start makes it.")]
    try:
        async with opened(home) as record:
            faults = await record.store.folds.check_ledger()
            act = await record.store.audit.fault(Heads(home.data).known())
    except SchemaNewer as err:
        return [Check(name=name, ok=False, message=str(err), hint="Start it with the newer version of mnema.")]
    except SchemaOlder as err:
        hint = "mnema migrate brings it up; a kill on the way leaves it as it was."
        return [Check(name=name, ok=False, message=str(err), hint=hint)]
    except StoreCorrupt as err:
        hint = "The next start puts the damaged file aside and goes back to the newest snapshot."
        return [Check(name=name, ok=False, message=str(err), hint=hint)]
    except StoreError as err:
        return [Check(name=name, ok=False, message=str(err))]
    return [Check(name=name, ok=True, message="It opens."), _ledger(faults), _audit(act)]


async def _moved(home: Home) -> str:
    """What the running bot says of its database file, "" where all is well or nobody runs."""
    try:
        told = (await ask_running(home, "GET", "/api/status"))["database"] if home.address() else "ok"
    except MnemaError:  # told with the channels
        told = "ok"
    if told == "ok" and home.running() and not home.db.exists():
        told = f"{home.db} was removed while mnema uses it: {REMEDY}"
    return "" if told == "ok" else str(told)


def _audit(fault: AuditFault | None) -> Check:
    name = "audit"
    if fault is None:
        return Check(name=name, ok=True, message="Every act stands as it was written.")
    hint = "Somebody has changed the record of what was done; mnema audit list shows what is left of it."
    return Check(name=name, ok=False, message=f"Act {fault.seq} is not as it was written: {fault.what}.", hint=hint)


def _ledger(faults: list[LedgerFault]) -> Check:
    name = "ledger"
    if not faults:
        message = "Every message is in view, folded or cleared, exactly one of them."
        return Check(name=name, ok=True, message=message)
    first = faults[0]
    where = f"{first.what} ({first.conversation}, {first.subject})"
    message = f"It has {_counted(len(faults), 'fault')}; the first: {where}."
    hint = "No message is lost by it; keep a copy of data/ and report it with this sentence."
    return Check(name=name, ok=False, message=message, hint=hint)


def _index(home: Home, url: str) -> Check:
    """Whether what recall finds by is sound, and agrees with the files it was made from."""
    name = "index"
    if not url and os.path.lexists(home.index) and not _is_usable(home.index):
        message = f"{home.index} is no folder that this user may write in, so that nothing can be searched."
        hint = f"Remove {home.index}, or mend its permissions; the index is made anew by itself."
        return Check(name=name, ok=False, message=message, hint=hint)
    try:
        found = _looked(home, url)
    except (StoreError, ConfigError) as err:
        return Check(name=name, ok=False, message=str(err))
    if not found:
        return Check(name=name, ok=True, message="There is none yet; the first search makes it.")
    wrong = [one for one in found if one.fault]
    if wrong:
        of, space = (wrong[0].space or "the owner"), (f" --space {wrong[0].space}" if wrong[0].space else "")
        hint = f"Nothing is lost: mnema memory index{space} makes it anew from the files and the record."
        return Check(name=name, ok=False, message=f"That of {of} is at fault: {wrong[0].fault}.", hint=hint)
    rows, behind = sum(one.rows for one in found), sum(one.behind for one in found)
    message = f"It is sound: {_counted(rows, 'row')} for {_counted(len(found), 'space')}."
    hint = f"Files changed since: {behind}; the next search reads them." if behind else ""
    return Check(name=name, ok=True, message=message, hint=hint)


def _is_usable(folder: Path) -> bool:
    return folder.is_dir() and os.access(folder, os.R_OK | os.W_OK | os.X_OK)


def _looked(home: Home, url: str) -> list[Looked]:
    """All indexes, wherever they are kept. url: of the record's database, "" for files."""
    workspace = Workspace(home.workspace)
    if not url:
        return look(home.index, workspace)
    indexes = scaled("memory.recall.postgres_spaces").PostgresShared(url)
    try:
        found: list[Looked] = indexes.look(workspace)
        return found
    finally:
        indexes.close()


def _disk(home: Home) -> Check:
    folder = next(path for path in (home.data, home.root, *home.root.parents) if path.exists())
    free = shutil.disk_usage(folder).free
    if not os.access(folder, os.W_OK):
        return Check(name="disk", ok=False, message=f"{folder} cannot be written by this user.")
    message = f"{free / 1e9:.1f} GB are free on the disk of {folder}."
    hint = "" if free >= LEAST_FREE else "Make room: without it no message can be kept."
    return Check(name="disk", ok=free >= LEAST_FREE, message=message, hint=hint)


async def _embedding(config: Config) -> list[Check]:
    """Whether vectors can be had, where they are wanted."""
    if config.memory.embedding is None:
        return []
    from bot.models.embedding import check_embedding

    found = await check_embedding(config.memory.embedding)
    hint = "" if found.ok else "Recall goes on by words alone; memory.embedding null says that this is meant."
    return [Check(name="embedding", ok=found.ok, message=found.message, hint=hint)]


async def _models(config: Config) -> list[Check]:
    """Each model of the chain, asked for a word."""
    llm = config.llm
    account = Account(provider=llm.provider, api_key=llm.api_key, base_url=llm.base_url, proxy=llm.proxy)
    if effective_provider(account) == "offline":
        hint = "" if llm.provider == "offline" else "Set llm.api_key, or the environment variable it reads."
        return [Check(name="model", ok=True, message="The offline model answers: there is no key.", hint=hint)]
    from bot.runtime.startup import probe_models

    found = await probe_models(config)
    names = ["model", *(f"llm.fallback[{at}]" for at in range(len(llm.fallback)))]
    return [Check(name=name, ok=ok, message=message) for name, (ok, message) in zip(names, found, strict=True)]


def _counter() -> Check:
    if RANKS.exists() and importlib.util.find_spec("tiktoken"):
        return Check(name="counter", ok=True, message="Tokens are counted with the o200k ranks.")
    hint = f"Reinstall mnema: {RANKS.name} or tiktoken is missing."
    return Check(name="counter", ok=True, message="Tokens are estimated by weight, less exactly.", hint=hint)


def _clock(config: Config) -> Check:
    now = datetime.now(ZoneInfo(config.timezone)) if config.timezone else datetime.now().astimezone()
    message = f"It is {now:%Y-%m-%d %H:%M} in {config.timezone or now.tzname()}."
    hint = "" if now >= BUILT else "The clock is wrong; set it, or days in the log will be."
    return Check(name="clock", ok=now >= BUILT, message=message, hint=hint)


def _web_token(home: Home) -> Check:
    name = "web token"
    try:
        mode = stat.S_IMODE(home.web_token.stat().st_mode)
    except FileNotFoundError:
        return Check(name=name, ok=True, message="There is none yet; mnema run makes it.")
    if mode & 0o077:
        message = f"Other users may read it (mode {mode:04o})."
        return Check(name=name, ok=False, message=message, hint=f"Run: chmod 600 {home.web_token}")
    return Check(name=name, ok=True, message="Only its owner may read it.")


def _instance(home: Home) -> Check:
    holder = home.running()
    message = f"mnema runs here as process {holder}." if holder else "No instance runs on this home."
    return Check(name="instance", ok=True, message=message)


async def _troubles(home: Home) -> list[Check]:
    """What the running bot says went wrong on this machine; files that anybody can look at have lines of their own."""
    if not home.address():
        return []
    try:
        known = (await ask_running(home, "GET", "/api/status")).get("troubles", {})
    except MnemaError:
        return []  # the channels' line says so
    hint = "Look into data/log/mnema.log."
    message = "The running bot fails at {}: {}."
    return [Check(name="machine", ok=False, message=message.format(*known), hint=hint) for known in known.items()]


def _soul(home: Home, budget: int) -> Check:
    try:
        text = Workspace(home.workspace).space("").read(SOUL).text
    except FileNotFoundError:
        return Check(name=SOUL, ok=True, message="There is none yet; the first start writes it.")
    except (PathRefused, TooBig, OSError) as err:
        return _unreadable(home, SOUL, err)
    try:
        tokens = load_counter().text(text)
    except OSError:
        tokens = WEIGHTED.text(text)
    hint = "" if tokens <= LONG_SOUL else f"Over {LONG_SOUL} tokens: every request pays for them; shorten it."
    return Check(name=SOUL, ok=tokens < budget // 2, message=f"It has {tokens} of {budget} tokens.", hint=hint)


def _unreadable(home: Home, name: str, err: Exception) -> Check:
    hint = f"Put a plain file that the bot's account may read at {home.workspace / name}; its last good text holds."
    return Check(name=name, ok=False, message=f"It cannot be read: {reason(err)[1]}.", hint=hint)


def _memory(home: Home) -> Check:
    """Whether the owner's memory is small enough to be followed line by line."""
    try:
        held = read(Workspace(home.workspace).space(""))
    except (Unreadable, OSError) as err:
        hint = f"Put a plain text of at most {MOST_BYTES:,} bytes there; nothing is written into it until then."
        return Check(name=PATH, ok=False, message=str(err), hint=hint)
    left = beyond(held.text)
    if left:
        hint = "Move old lines to another file; a search finds them there, too."
        message = f"It has more than {MOST_TAKEN:,} memories: the last {left:,} are not followed as memories."
        return Check(name=PATH, ok=False, message=message, hint=hint)
    return Check(name=PATH, ok=True, message=f"It has {_counted(len(held.text.encode()), 'byte')}.")


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
