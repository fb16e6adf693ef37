"""A real bot as a child process: started, killed, started again on the same folder, with its model
beside it.
"""

import asyncio
import json
import os
import re
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from tests.emulators.model import ModelEmulator
from tests.emulators.telegram import TOKEN
from tests.walk.nest import hatch
from tests.walk.oracle import unfounded_notices
from tests.walk.record import Db
from tests.walk.web import Web

ROOT = Path(__file__).resolve().parents[2]
LONG = 30.0  # seconds after which a wait for another process is given up
PAUSE = 0.02
OWNER, FRIEND, COUSIN = "5005", "5006", "5007"
LEASE_LOST = 75  # exit code of a process that could not renew its lease in time


async def until(holds: Callable[[], Awaitable[Any] | Any], what: str, seconds: float = LONG) -> Any:
    """Ask again and again until the answer is true; returns it."""
    try:
        async with asyncio.timeout(seconds):
            while True:
                found = holds()
                if isinstance(found, Awaitable):
                    found = await found
                if found:
                    return found
                await asyncio.sleep(PAUSE)
    except TimeoutError:
        raise AssertionError(f"not within {seconds} s: {what}") from None


def settings(
    model_url: str,
    telegram_url: str = "",
    provider: str = "anthropic",
    allow: Sequence[str] = (FRIEND, COUSIN),
    **others: Any,
) -> dict[str, Any]:
    """A config.json that knows the emulators and nothing else of the world.

    allow: ids of people in Telegram who may write.
    others: more keys; unless they say otherwise no facts are noted, so that the model is asked for
    answers alone, and nobody writes too often, as the people of a walk do on a quick machine.
    provider: lives that last for seconds and number in hundreds take "openai", whose wire is
    imported sooner.
    """
    channels: dict[str, Any] = {"web": {"port": 0}}
    if telegram_url:
        channels["telegram"] = {
            "token": TOKEN,
            "base_url": telegram_url,
            "owners": [OWNER],
            "allow": [*allow],
        }
    base_url = f"{model_url}/v1" if provider == "openai" else model_url
    llm = {
        "provider": provider,
        "api_key": "test-key-of-nobody",
        "base_url": base_url,
        "max_output_tokens": 1024,
    }
    quiet = {"memory": {"extract": False}, "budgets": {"user": {"messages_per_minute": 0}}}
    return {
        "language": "en",
        "timezone": "UTC",
        **quiet,
        **others,
        "llm": llm,
        "channels": channels,
    }


class Process(Protocol):
    """What is started, however it was."""

    @property
    def pid(self) -> int: ...

    @property
    def returncode(self) -> int | None: ...

    def send_signal(self, number: int) -> None: ...

    async def wait(self) -> int: ...


class Bot:
    """One home and the process that lives in it, if one does.

    lives: how often it was started; words: its command; record: address of its database, "" for
    SQLite's file.
    """

    def __init__(self, home: Path, config: dict[str, Any], *words: str) -> None:
        self.home = home
        self.words = words or ("run",)
        self.record = str(config.get("database_url", "")).replace("+psycopg", "", 1)
        self.web = Web()
        self.lives = 0
        self.extra: dict[str, str] = {}
        self._process: Process | None = None
        self._reading: asyncio.Task[None] | None = None
        self._ready: asyncio.Future[str] | None = None
        home.mkdir(parents=True, exist_ok=True)
        if not self.config.exists():
            self.config.write_text(json.dumps(config, indent=2))
            self.config.chmod(0o600)

    @property
    def config(self) -> Path:
        return self.home / "config.json"

    @property
    def db(self) -> Db:
        return self.record or self.home / "data" / "mnema.db"

    @property
    def workspace(self) -> Path:
        return self.home / "workspace"

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.returncode is None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    async def spawn(self, fp: str = "") -> None:
        """Start the process and do not wait for it."""
        assert not self.alive
        self.lives += 1
        known = {**environment(self.home), "MNEMA_TEST": "1", "MNEMA_FP": fp, **self.extra}
        reading, writing = os.pipe()
        said = await _reader(reading)
        with os.fdopen(writing, "wb") as out, (self.home / "stderr.log").open("ab") as errors:
            self._process = await self.born(known, out, errors)
        self._ready = asyncio.get_running_loop().create_future()
        self._reading = asyncio.create_task(self._read(said, self._ready))

    async def born(self, known: dict[str, str], out: BinaryIO, errors: BinaryIO) -> Process:
        """The process itself, with this environment."""
        return await hatch(["--home", str(self.home), *self.words], known, out, errors)

    async def start(self, fp: str = "") -> None:
        """Start the process and wait until it says that it is ready."""
        await self.spawn(fp)
        await self.until_ready()

    async def until_ready(self) -> None:
        """Wait for the ready line.

        Raises:
            Died: the process ended before it.
        """
        assert self._ready is not None
        line = await asyncio.wait_for(asyncio.shield(self._ready), LONG)
        if line.startswith("ready without a page"):
            return
        found = re.search(r"http://[^\s]+", line)
        if not found:
            raise Died(f"{line!r}; it said: {self.complaints()}")
        token = (self.home / "data" / "web_token").read_text().strip()
        await self.web.open(found[0].rstrip("/"), token)

    async def kill(self) -> None:
        """SIGKILL, now."""
        await self._signal(signal.SIGKILL)

    async def term(self) -> int:
        """SIGTERM; returns the exit code."""
        return await self._signal(signal.SIGTERM)

    def send_signal(self, number: int) -> None:
        """A signal after which the process goes on (SIGSTOP, SIGCONT), or not."""
        assert self._process is not None
        self._process.send_signal(number)

    async def ended(self, seconds: float = LONG) -> int:
        """Wait for the end of the process; returns its exit code, negative for a signal's
        number.
        """
        assert self._process is not None
        assert self._reading is not None
        code = await asyncio.wait_for(self._process.wait(), seconds)
        await self._reading
        await self.web.close()
        return code

    async def restart(self, fp: str = "") -> None:
        """Kill and start again."""
        await self.kill()
        await self.start(fp)

    async def revive(self) -> bool:
        """Start a process again that lost its lease, as on a busy machine, and ended itself; return
        whether one had.
        """
        if self.alive:
            return False
        assert await self.ended() == LEASE_LOST, self.complaints()
        await self.start()
        return True

    def complaints(self) -> str:
        """The end of what it said on stderr."""
        return (self.home / "stderr.log").read_text(errors="replace")[-2000:]

    async def _signal(self, number: int) -> int:
        if self.alive:
            self.send_signal(number)
        return await self.ended()

    async def _read(self, said: asyncio.StreamReader, ready: asyncio.Future[str]) -> None:
        async for line in said:
            if line.startswith(b"ready") and not ready.done():
                ready.set_result(line.decode())
        if not ready.done():
            ready.set_result("")


class ColdBot(Bot):
    """The same, started from nothing as a person would, and not forked: its memory is its own
    alone.
    """

    async def born(self, known: dict[str, str], out: BinaryIO, errors: BinaryIO) -> Process:
        words = command("--home", str(self.home), *self.words)
        return await asyncio.create_subprocess_exec(
            *words, cwd=ROOT, env=known, stdin=asyncio.subprocess.DEVNULL, stdout=out, stderr=errors
        )


async def _reader(pipe: int) -> asyncio.StreamReader:
    """What will be written to this pipe, until its writers are gone."""
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(pipe, "rb")
    )
    return reader


class Died(AssertionError):
    """The process ended before it was ready."""


def command(*words: str) -> list[str]:
    """The program as a command line."""
    return [sys.executable, "-m", "bot", *words]


def environment(home: Path) -> dict[str, str]:
    """What a child may know of this machine."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
    return {**kept, "HOME": str(home), "PYTHONUNBUFFERED": "1"}


async def mnema(home: Path, *words: str, fp: str = "", **more: str) -> tuple[int, str, str]:
    """Run one command in a process of its own that has the program imported: (exit code, stdout,
    stderr).

    more: variables of its environment.
    """
    known = {**environment(home), "MNEMA_TEST": "1", "MNEMA_FP": fp, **more}
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        process = await hatch(["--home", str(home), *words], known, out, errors)
        code = await asyncio.wait_for(process.wait(), LONG)
        said = []
        for file in (out, errors):
            file.seek(0)
            said.append(file.read().decode())
    return code, said[0], said[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A bot and the model it talks to."""

    bot: Bot
    model: ModelEmulator

    @property
    def web(self) -> Web:
        return self.bot.web

    async def say(self, conversation: str, text: str) -> str:
        """Write as a person would and wait for the answer."""
        id = await self.web.post(conversation, text)
        return (await self.web.answer(conversation, id))["text"]


@asynccontextmanager
async def scene(
    home: Path, model: ModelEmulator | None = None, telegram_url: str = "", **others: Any
) -> AsyncIterator[Scene]:
    """A bot that is not yet started; at the end it is judged by its notices of the model, and
    killed.
    """
    async with model or ModelEmulator() as emulator:
        bot = Bot(home, settings(emulator.url, telegram_url, **others))
        try:
            yield Scene(bot=bot, model=emulator)
            assert unfounded_notices(bot.db, emulator) == []
        finally:
            if bot.alive:
                await bot.kill()
