"""SIGKILL while tools, commands, reminders, sub-agents and first folds are under way: nothing twice
or lost.
"""

import asyncio
import json
import os
import random
import re
import time
from collections import Counter
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.bot.tools.exec.sandboxed import level
from tests.bot.tools.mcp.servers import Orders, list_and_choose
from tests.by_night import by_night
from tests.emulators.mcp_server import tool
from tests.emulators.model import ModelEmulator
from tests.emulators.telegram import TelegramEmulator
from tests.walk.harness import Scene, scene, until
from tests.walk.newcomers import Newcomers
from tests.walk.record import Db, ledger_faults, opened, query, unended
from tests.walk.speech import asked_for, hesitant, tokens_in

pytestmark = [pytest.mark.kill, by_night]
KILLS = int(os.environ.get("MNEMA_KILLS", "20"))
SEED = int(os.environ.get("MNEMA_SEED", "0")) or time.time_ns() % 1_000_000
LONGEST_LIFE = 1.5  # seconds after the process is ready
NEWCOMER = 0.3  # how often somebody writes for the first time in a life
LONGEST_STAND = 90.0  # seconds; a call that delegates waits for half of it
TEXT = {"type": "string"}
KINDS = (
    "call",
    "note",
    "remind",
    "delegate",
    *(("exec", "background") if level().level == "A" else ()),
)
RAN = "commands.log"
# What a command of the owner would leave in the memory of everybody, if it could.
CANARY = (
    "for name in RULES.md MEMORY.md memory/canary.md spaces/canary.md; do echo canary > /w/$name; "
    "done"
)
CALLS = "SELECT tool_call.state FROM tool_call WHERE name = ? AND input LIKE ?"
REMINDED = (
    "SELECT text, state, source FROM outbox WHERE source LIKE 'job:%' AND source NOT LIKE '%:made'"
)
EXEC_STATES = "SELECT state FROM approval WHERE tool = 'exec'"
# Also of messages whose confirmation a kill cut off.
NOTES = """SELECT tool_call.input, approval.state FROM approval
    JOIN tool_call ON tool_call.idem_key = approval.call WHERE approval.tool = 'files__note'"""
DONE_COMMANDS = """SELECT tool_call.input FROM approval
    JOIN tool_call ON tool_call.idem_key = approval.call
    WHERE approval.tool = 'exec' AND approval.state = 'done'"""
QUESTIONS = "SELECT text FROM outbox WHERE source LIKE 'approval:%' ORDER BY id"
# By sub-agents: a model that is told of an outcome reads the words of the task, and this one does
# it once more.
WRITTEN = """SELECT input FROM tool_call
    JOIN turn ON turn.id = turn_id JOIN conversation ON conversation.id = turn.conversation
    WHERE name = 'write_file' AND tool_call.state = 'done' AND thread_id LIKE ?"""
INTERRUPTED = """SELECT id FROM approval WHERE state = 'running'
    AND NOT EXISTS (SELECT 1 FROM inbox WHERE inbox.key = 'approval:' || approval.id)"""
CODE = re.compile(r"`/approve ([2-9A-HJ-NP-Z]{4}-[2-9A-HJ-NP-Z]{4})`")
OPEN_JOBS = "SELECT number FROM job WHERE state != 'done'"
OCCURRENCES = "SELECT job, due, COUNT(*) FROM occurrence GROUP BY job, due"


class Errands:
    """What a person asks for, and what must have come of it."""

    def __init__(self, talk: Scene, orders: Orders) -> None:
        self.talk, self.orders = talk, orders
        #: Tokens of what was confirmed, by kind.
        self.confirmed: dict[str, list[str]] = {kind: [] for kind in KINDS}
        self._count = 0
        self._approved: set[str] = set()

    async def ask(self, random_: random.Random) -> None:
        """Ask for one thing; what is not confirmed counts as not asked for."""
        self._count += 1
        kind = random_.choice(KINDS)
        token = f"{kind[0]}{self._count}"
        if kind == "call":
            text = asked_for(token, "files__echo", words=f"<{token}>")
        elif kind == "note":
            text = asked_for(token, "files__note", words=f"<{token}>")
        elif kind == "remind":
            text = f"/remind 1m «{token}»"
        elif kind in ("exec", "background"):
            script = f"echo '<{token}>' >> {RAN}; {CANARY}; sleep 1"
            text = asked_for(token, "exec", script=script, background=kind == "background")
        else:
            goals = [
                asked_for(f"{token}{at}", "write_file", path=f"out/{token}{at}.md", content="x")
                for at in "ab"
            ]
            text = asked_for(
                token, "delegate", tasks=[{"goal": goal, "tools": ["write_file"]} for goal in goals]
            )
        try:
            await self.talk.web.post(f"chat{self._count % 3}", text)
        except (httpx.HTTPError, AssertionError):
            return
        self.confirmed[kind].append(token)

    async def approve(self) -> None:
        """Approve the oldest question that was not answered yet, twice; that it arrived is not
        certain.
        """
        asked = [
            code for (text,) in query(self.talk.bot.db, QUESTIONS) for code in CODE.findall(text)
        ]
        if code := next((code for code in asked if code not in self._approved), ""):
            self._approved.add(code)
            posts = (self.talk.web.post(f"chat{number}", f"/approve {code}") for number in range(2))
            await asyncio.gather(*posts, return_exceptions=True)

    def unreported(self, db: Db) -> list[tuple[Any, ...]]:
        """Approved calls that a kill interrupted, of which the model was not told."""
        return query(db, INTERRUPTED)

    def ran(self) -> Counter[str]:
        """How often each command ran."""
        log = self.talk.bot.workspace / "files" / RAN
        return Counter(re.findall(r"<(\w+)>", log.read_text())) if log.exists() else Counter()

    def _command_faults(self, db: Db) -> list[str]:
        """A command ran at most once, and left nothing outside its own folders."""
        ran = self.ran()
        print(
            "commands",
            dict(Counter(state for (state,) in query(db, EXEC_STATES))),
            f"ran {len(ran)}",
        )
        found = [f"ran {count} times: {token}" for token, count in ran.items() if count > 1]
        done = [row for row in query(db, DONE_COMMANDS) if not json.loads(row[0]).get("background")]
        texts = [json.loads(arguments)["script"] for (arguments,) in done]
        found += [
            f"done and did not run: {text}"
            for text in texts
            if not set(re.findall(r"<(\w+)>", text)) & set(ran)
        ]
        workspace = self.talk.bot.workspace
        guarded = [
            workspace / "RULES.md",
            workspace / "MEMORY.md",
            *workspace.glob("memory/*"),
            *workspace.glob("spaces/*"),
        ]
        found += [
            f"written by a command: {path}"
            for path in guarded
            # a log may quote the command
            if path.is_file() and "canary" in path.read_text().splitlines()
        ]
        return found

    def _approval_faults(self, db: Db, effects: Counter[str]) -> list[str]:
        approvals = [
            (json.loads(arguments)["words"].strip("<>"), state)
            for arguments, state in query(db, NOTES)
        ]
        made = sum(effects[token] for token, _ in approvals)
        print("approvals", dict(Counter(state for _, state in approvals)), f"notes {made}")
        found = [
            f"approved, done and not made: {token}"
            for token, state in approvals
            if state == "done" and not effects[token]
        ]
        found += [
            f"made and {state}: {token}"
            for token, state in approvals
            if effects[token] and state not in ("done", "running", "failed")
        ]
        return [*found, *(f"nobody was told of {row}" for row in self.unreported(db))]

    def faults(self, db: Db) -> list[str]:
        """Every breach of the promise, at rest."""
        lines = self.orders.log.read_text().splitlines() if self.orders.log.exists() else []
        effects = Counter(json.loads(line.partition(" ")[2])["words"].strip("<>") for line in lines)
        found = [f"done {count} times: {token}" for token, count in effects.items() if count > 1]
        found += self._approval_faults(db, effects)
        found += self._command_faults(db)
        for token in self.confirmed["call"]:
            states = [state for (state,) in query(db, CALLS, "files__echo", f"%<{token}>%")]
            # A message that was interrupted three times is given up, which its chat is told.
            if effects[token] == 0 and "unknown" not in states and not self._is_given_up(db, token):
                found.append(f"lost: {token}, {states}")
            if effects[token] == 1 and not set(states) & {"done", "unknown"}:
                found.append(f"done and not known: {token}, {states}")
        told = Counter(token for text, _, _ in query(db, REMINDED) for token in tokens_in(text))
        made = [token for (body,) in query(db, "SELECT body FROM job") for token in tokens_in(body)]
        found += [f"reminded {told[token]} times: {token}" for token in made if told[token] != 1]
        # A command that a kill interrupted is not run again, which its chat is told.
        said = {
            token for (text,) in query(db, "SELECT text FROM outbox") for token in tokens_in(text)
        }
        found += [f"lost: {token}" for token in self.confirmed["remind"] if token not in said]
        found += [
            f"fired {count} times: {job} {at}"
            for job, at, count in query(db, OCCURRENCES)
            if count != 1
        ]
        written = Counter(query(db, WRITTEN, "agent:%"))
        found += [
            f"written {count} times: {input}" for input, count in written.items() if count > 1
        ]
        open_tasks = query(db, "SELECT number, state FROM background_task WHERE state = 'running'")
        return [*found, *(f"a task never ended: {row}" for row in open_tasks)]

    def _is_given_up(self, db: Db, token: str) -> bool:
        return bool(
            query(db, "SELECT 1 FROM inbox WHERE state = 'dead' AND body LIKE ?", f"%«{token}»%")
        )


async def until_at_rest(talk: Scene) -> None:
    """Wait until all is answered, however much has gathered, as long as something moves.

    A process that could not renew its lease in time ends itself, as on a busy machine, and is
    started again.
    """
    rows, since = unended(talk.bot.db), time.monotonic()
    while rows:
        await asyncio.sleep(0.2)
        if await talk.bot.revive():
            print("the process lost its lease, and is started again")
            since = time.monotonic()
        if (now := unended(talk.bot.db)) != rows:
            rows, since = now, time.monotonic()
        assert time.monotonic() - since < LONGEST_STAND, (
            f"nothing moves any more: {rows[:20]}; {talk.bot.complaints()}"
        )


async def approve_under_kills(
    talk: Scene, errands: Errands, newcomers: Newcomers, random_: random.Random, kills: int
) -> None:
    """Approve what was asked while others come, each time with a kill soon after; it runs at the
    end.
    """
    for _ in range(kills):
        newcomers.arrive()
        approving = asyncio.create_task(errands.approve())
        await asyncio.sleep(random_.uniform(0, LONGEST_LIFE))
        await talk.bot.kill()
        await approving
        await talk.bot.start()


async def walk(home: Path, kills: int, **others: Any) -> None:
    print(f"seed {SEED}, {kills} kills (MNEMA_SEED, MNEMA_KILLS)")
    random_ = random.Random(SEED)
    orders = Orders(home / "server", [tool(name, words=TEXT) for name in ("echo", "note")])
    more = {
        "mcp": {"files": orders.settings},
        "delegate": {"enabled": True},
        "tools": {"exec": {"enabled": level().level == "A", "seconds": 20}},
        "agent_max_context_turns": 3,
        "provider": "openai",
        "allow": Newcomers.ids(),
        **others,
    }
    model = ModelEmulator(responder=hesitant(random.Random(SEED), 0.3))
    async with (
        TelegramEmulator() as telegram,
        scene(home / "bot", model, telegram.url, **more) as talk,
    ):
        await talk.bot.start()
        await talk.bot.term()
        store = await opened(talk.bot.db)
        try:
            await list_and_choose(store, "files", orders.settings, {"echo": "run", "note": "ask"})
        finally:
            await store.close()
        errands, newcomers = Errands(talk, orders), Newcomers(telegram, talk)
        for _ in range(kills):
            await talk.bot.spawn()
            if random_.random() < 0.8:
                await talk.bot.until_ready()
                if random_.random() < NEWCOMER:
                    newcomers.arrive()
                asking = [
                    asyncio.create_task(errands.ask(random_)) for _ in range(random_.randint(1, 3))
                ]
                await asyncio.sleep(random_.uniform(0.05, LONGEST_LIFE))
            else:
                asking = []
                await asyncio.sleep(random_.uniform(0, 0.5))
            await talk.bot.kill()
            await asyncio.gather(*asking)
        await talk.bot.start()
        waiting = len(unended(talk.bot.db))
        await until_at_rest(talk)  # then every reminder is made, and every question asked
        await approve_under_kills(talk, errands, newcomers, random_, kills // 3)
        await until_at_rest(talk)
        await until(lambda: not query(talk.bot.db, OPEN_JOBS), "every reminder is told", 150)
        await until(
            lambda: not errands.unreported(talk.bot.db), "interrupted calls are told of", 90
        )
        await until_at_rest(talk)
        await until(lambda: not newcomers.unanswered(), "everybody who came is answered", 90)
        await until_at_rest(talk)
        print(
            {kind: len(tokens) for kind, tokens in errands.confirmed.items()},
            f"effects: {len(orders.calls())}",
        )
        print(f"{waiting} rows waited after the last kill")
        print(f"{newcomers.folds()} folds of people who came during the runs")
        if faults := [*errands.faults(talk.bot.db), *newcomers.faults()]:
            for sql in (
                "SELECT number, body, state, reason FROM job",
                "SELECT job, due, state, reason FROM occurrence",
            ):
                print(query(talk.bot.db, sql))
            print(
                query(
                    talk.bot.db, "SELECT source, text, state FROM outbox WHERE source LIKE 'job:%'"
                )
            )
        assert faults == []
        assert await ledger_faults(talk.bot.db) == []
        assert errands.confirmed["call"], "nothing was tried"
        assert await talk.bot.term() == 0


async def test_tools_reminders_and_subagents_survive_kills(tmp_path: Path) -> None:
    await walk(tmp_path, KILLS)


@pytest.mark.postgres
async def test_the_same_on_postgresql(tmp_path: Path, db: str) -> None:
    await walk(tmp_path, KILLS, database_url=db.replace("postgresql", "postgresql+psycopg", 1))
