"""What the console takes of a process that nobody looks at."""

import json
import subprocess
import sys

from tests.by_night import by_night
from tests.walk.harness import ROOT

MAX_BYTES = 5_000_000
MAX_SHARE = 0.12  # of the time in which all else is imported
MEASURING = """
import gc, json, pathlib, resource, time
def resident():
    gc.collect()
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
def measured(load):
    size, began = resident(), time.process_time()
    load()
    return time.process_time() - began, resident() - size
def bot():
    import bot.cli.run, bot.runtime.bot, bot.models.providers.offline
    import channels.web.channel, channels.web.server, memory.store.open
def console():
    import bot.console.services
print(json.dumps([measured(bot), measured(console)]))
"""


@by_night
def test_the_console_takes_little_memory_and_a_small_share_of_the_start() -> None:
    told = subprocess.run(
        [sys.executable, "-c", MEASURING], cwd=ROOT, check=True, capture_output=True, text=True
    )
    (other, _), (console, size) = json.loads(told.stdout)
    assert size <= MAX_BYTES
    assert console / other <= MAX_SHARE
