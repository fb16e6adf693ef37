"""Which packages a real `mnema run` has imported: when it is ready, and after its first reply and
its scheduler.
"""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import BinaryIO

import pytest

from tests.emulators.model import ModelEmulator
from tests.walk.harness import ROOT, Bot, Process, settings, until

# Prints nothing of its own: what is in sys.modules goes to files, at "ready" and at the end.
REPORTING = """
import atexit, gc, json, pathlib, sys
class Stdout:
    def write(self, text):
        if text.startswith("ready"):
            report("ready")
        return sys.__stdout__.write(text)
    def flush(self):
        sys.__stdout__.flush()
def report(when):
    pathlib.Path(sys.argv[1], when).write_text(json.dumps(sorted(sys.modules)))
    pathlib.Path(sys.argv[1], f"{when}.gc").write_text(json.dumps([gc.isenabled(), \
gc.get_freeze_count()]))
class Scheduling:
    def find_spec(self, name, path=None, target=None):
        if name == "apscheduler.triggers.date":
            pathlib.Path(sys.argv[1], "scheduling").touch()
sys.meta_path.insert(0, Scheduling())
sys.stdout = Stdout()
atexit.register(report, "end")
from bot.cli.main import main
sys.exit(main(sys.argv[2:]))
"""
# The terminal's, migrations, PostgreSQL, the SDKs of channels that are off, and pure-Python
# stemmers for 38 languages.
NEVER = (
    *("prompt_toolkit", "alembic", "snowballstemmer", "psycopg", "procrastinate"),
    *(
        "lark_oapi",
        "telegram",
        "websockets",
        "sqlalchemy.dialects.postgresql",
        "bot.cli.chat",
        "bot.cli.people",
    ),
    *("bot.cli.doctor", "bot.cli.replay", "pypdf", "PIL", "cryptography"),
    # the package of the SDK, which imports all its types
    *("anthropic", "anthropic.types.message", "anthropic.resources"),
    # the clients of channels that are off, which their live test in the page needs
    *(
        "channels.telegram.client",
        "channels.feishu.client",
        "channels.wechat.client",
        "channels.wechat_mp.client",
    ),
    *("channels.wecom.connection", "markdown_it"),
    # tracing is off; the SDK of Anthropic imports the API of OpenTelemetry with the first reply
    "opentelemetry.sdk",
    # a client of the SDK that is not used, which imports aiohttp where it is installed
    "aiohttp",
    # what parses the XML of channels that are off
    "pyexpat",
)
# The console, which is loaded by the first request for it, with its models; and the commands, by
# the first one.
CONSOLE = (
    "bot.console.routes",
    "bot.console.services",
    "bot.console.models",
    "bot.console.openapi",
    "bot.console.operations",
)
COMMANDS = ("bot.commands",)
AT_ONCE = ("sqlalchemy", "structlog", "uvicorn.server", "bot.runtime.turn_wiring")
FOR_REPLIES = ("anthropic._client", "httpx2", "idna", "tiktoken", "Stemmer")


class Reporting(Bot):
    """A cold-started bot that reports its modules."""

    async def born(self, known: dict[str, str], out: BinaryIO, errors: BinaryIO) -> Process:
        command = [
            sys.executable,
            "-c",
            REPORTING,
            str(self.home),
            "--home",
            str(self.home),
            *self.words,
        ]
        return await asyncio.create_subprocess_exec(
            *command, env=known, stdout=out, stderr=errors, cwd=ROOT
        )

    def modules(self, when: str, *packages: str) -> list[str]:
        """Return which of these packages were imported by then."""
        loaded = set(json.loads((self.home / when).read_text()))
        return [package for package in packages if package in loaded]

    def collecting(self, when: str) -> tuple[bool, int]:
        """Return whether the garbage collector was on, and how many objects it never looks at."""
        is_on, frozen = json.loads((self.home / f"{when}.gc").read_text())
        return is_on, frozen


@pytest.mark.kill
async def test_a_running_bot_has_imported_only_what_it_uses(tmp_path: Path) -> None:
    async with ModelEmulator() as model:
        bot = Reporting(tmp_path, settings(model.url))
        await bot.start()
        try:
            assert (
                bot.modules("ready", *NEVER, *CONSOLE, *COMMANDS, *FOR_REPLIES, "opentelemetry")
                == []
            )
            assert bot.modules("ready", *AT_ONCE) == [*AT_ONCE]
            await bot.web.answer("c1", await bot.web.post("c1", "hello"))
            await until((bot.home / "scheduling").exists, "the scheduler, which is loaded last")
        finally:
            assert await bot.term() == os.EX_OK
        assert bot.collecting("ready") == (False, 0)
        is_collecting, frozen = bot.collecting("end")
        assert is_collecting
        assert frozen > 100_000
        assert bot.modules("end", *NEVER, *CONSOLE, *COMMANDS) == []
        assert bot.modules("end", *FOR_REPLIES) == [*FOR_REPLIES]
