"""What makes each failpoint come about: the acts of a person or the platform that lead the program
there.
"""

import ast
import asyncio
import base64
import io
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import httpx

from tests.conventions.sources import Source, product
from tests.emulators.telegram import TelegramEmulator
from tests.memory.store.first_home import go_back
from tests.walk.day_acts import ended_days, pass_midnight
from tests.walk.harness import OWNER, Scene, until
from tests.walk.memory_acts import confide, dreamt, forget, forgotten, noted, recur
from tests.walk.oracle import Oracle
from tests.walk.record import unended
from tests.walk.speech import LONG_PARTS, asked, asked_at_length, asked_for


@dataclass(frozen=True, slots=True, kw_only=True)
class Kill:
    """One kill: where, at which visit, how, and by what act it is brought about. before: what leads
    up to that life.
    """

    name: str
    act: "Act"
    nth: int = 1
    action: str = "kill9"
    before: "Act" = field(default_factory=lambda: nothing)

    @property
    def order(self) -> str:
        """As the environment takes it."""
        return f"{self.name}@{self.nth}:{self.action}"


@dataclass(slots=True)
class Stage:
    """A scene over many lives: what was said on both channels, and what is still being said."""

    talk: Scene
    telegram: TelegramEmulator
    oracle: Oracle = field(default_factory=Oracle)
    saying: list[asyncio.Task[Any]] = field(default_factory=list)
    told: list[str] = field(default_factory=list)

    def say(self, conversation: str, text: str) -> None:
        """Write on the page; tried again until it is confirmed."""
        key = f"{len(self.saying)}"
        self.saying.append(
            asyncio.create_task(self.oracle.deliver(self.talk.web, conversation, key, text))
        )

    async def confirmed(self) -> None:
        """Wait until everything that was said is confirmed."""
        if self.saying:
            await asyncio.wait(self.saying)
        for said in self.saying:
            said.result()

    async def rest(self) -> None:
        """Wait until everything that was said is confirmed, answered and sent."""

        async def quiet() -> bool:
            return not unended(self.talk.bot.db) and not await self.oracle.open_ones(self.talk.web)

        await self.confirmed()
        try:
            await until(quiet, "every message has its answer", 60)
        except AssertionError as err:
            open_ones = [
                self.oracle.confirmed[id] for id in await self.oracle.open_ones(self.talk.web)
            ]
            raise AssertionError(f"{err}: {open_ones} {unended(self.talk.bot.db)}") from None

    async def quietly(self, work: Awaitable[Any]) -> None:
        """Something whose answer the kill may swallow."""
        try:
            await work
        except httpx.TransportError:
            return


Act = Callable[[Stage, str], Awaitable[None]]
ROSE = "rose "
ROSES = ROSE * 9  # in what `hasten` says, and nobody else


async def talk(stage: Stage, token: str) -> None:
    stage.say("talk", asked(token))


async def chat(stage: Stage, token: str) -> None:
    stage.telegram.inject(asked(token), user=int(OWNER))
    stage.told.append(f"«{token}»")


async def chat_at_length(stage: Stage, token: str) -> None:
    stage.telegram.inject(asked_at_length(token), user=int(OWNER))
    stage.told += [f"«{token}» {part}:" for part in range(LONG_PARTS)]


async def album(stage: Stage, token: str) -> None:
    """Three pictures as one, which are answered as one."""
    stage.telegram.people.album([_dot()] * 3, asked(token), user=int(OWNER))
    stage.told.append(f"«{token}»")


async def work(stage: Stage, token: str) -> None:
    stage.say(
        "work", asked_for(token, "write_file", path=f"notes/{token}.md", content=f"about {token}")
    )


async def fold(stage: Stage, token: str) -> None:
    """Enough turns, then a fold that somebody asks for."""
    await _turns(stage, "fold", token)
    stage.say("fold", "/context fold")


async def fold_twice(stage: Stage, token: str) -> None:
    """Two folds of one day, of which the second is appended to the log in place."""
    await fold(stage, f"{token}/first")
    await stage.rest()
    await fold(stage, f"{token}/second")


async def hasten(stage: Stage, token: str) -> None:
    """A second message that does not fit with the first: that is folded at once, and the model's
    texts come later.
    """
    await stage.quietly(
        stage.talk.web.ask("PATCH", "/api/config", json={"agent_max_context_tokens": 12_000})
    )
    for at, words in enumerate((4_000, 6_000)):
        stage.say(f"hasten-{token}", asked(f"{token}/{at}", ROSE * words))
        await stage.confirmed()


async def undo(stage: Stage, token: str) -> None:
    await fold(stage, token)
    await stage.confirmed()
    stage.say("fold", "/context undo")


async def clear(stage: Stage, token: str) -> None:
    """A clear drops answers that were not sent yet, so it waits for them."""
    await _turns(stage, "clear", token)
    await stage.rest()
    stage.say("clear", "/context clear")


async def configure(stage: Stage, token: str) -> None:
    steps = 10 + len(stage.saying) % 5
    stage.say("talk", asked(token))
    await stage.quietly(stage.talk.web.ask("PATCH", "/api/config", json={"agent_max_steps": steps}))


async def send_picture(stage: Stage, token: str) -> None:
    """The POST is not told; it is tried again with the same key when the program is back."""
    stage.say("talk", asked(token))
    file = {"name": "dot.png", "media_type": "image/png", "data": base64.b64encode(_dot()).decode()}
    body = {
        "conversation": "picture",
        "text": asked(f"{token}/picture"),
        "key": token,
        "attachments": [file],
    }
    await stage.quietly(stage.talk.web.ask("POST", "/api/messages", json=body))


async def nothing(stage: Stage, token: str) -> None:
    """The start alone leads there."""


async def clean_up(stage: Stage, token: str) -> None:
    """A whole life, so that no part that was sent in vain before is sent in vain again: a second
    time it is dropped.
    """
    await stage.talk.bot.start()
    await stage.rest()
    await stage.talk.bot.kill()


async def log_out(stage: Stage, token: str) -> None:
    """The platform knows the bot's token no more, for one poll."""
    for method in ("getUpdates", "getMe"):
        stage.telegram.fault("status", method=method, code=401, body=UNKNOWN_TOKEN, times=1)
    await chat(stage, token)


UNKNOWN_TOKEN = '{"ok": false, "error_code": 401, "description": "Unauthorized"}'


async def leave_work(stage: Stage, token: str) -> None:
    """A life that leaves something to every step of the recovery."""
    await stage.talk.bot.start("tool.mid_effect@1:kill9")
    stage.say("talk", asked(token))
    await work(stage, f"{token}/work")
    await stage.talk.bot.ended()


async def age(stage: Stage, token: str) -> None:
    """A life whose record is then taken back to the tables of the version before, with what they
    can hold.
    """
    await stage.talk.bot.start()
    await fold(stage, token)
    await stage.rest()
    await stage.talk.bot.kill()
    go_back(stage.talk.bot.db)


async def _turns(stage: Stage, conversation: str, token: str) -> None:
    for at in range(2):
        stage.say(conversation, asked(f"{token}/{at}"))
        await stage.confirmed()


def _dot() -> bytes:
    from PIL import Image

    held = io.BytesIO()
    Image.new("RGB", (2, 2)).save(held, "PNG")
    return held.getvalue()


# Kills that share one home, each of which also kills the recovery from the one before it.
GROUPS: dict[str, tuple[Kill, ...]] = {
    "hearing": (
        *(Kill(name=f"recv.{at}", act=talk) for at in ("parsed", "in_txn", "committed", "acked")),
        *(Kill(name=f"recv.{at}", act=chat) for at in ("parsed", "in_txn", "committed", "acked")),
        Kill(name="channel.down", act=log_out),
        *(Kill(name=f"claim.{at}", act=talk) for at in ("in_txn", "committed")),
        *(Kill(name=f"album.{at}", act=album) for at in ("armed", "fired")),
        Kill(name="blob.stored", act=send_picture),
    ),
    "thinking": (
        *(
            Kill(name=f"llm.{at}", act=talk)
            for at in ("before", "first_byte", "mid_stream", "ended")
        ),
        Kill(name="llm.before_commit", act=work),
        Kill(name="plan.committed", act=work),
        *(
            Kill(name=f"tool.{at}", act=work)
            for at in ("approved", "started", "mid_effect", "after_effect", "committed")
        ),
        *(Kill(name=f"finish.{at}", act=talk) for at in ("in_txn", "committed")),
    ),
    "speaking": (
        *(
            Kill(name=f"outbox.{at}", act=talk)
            for at in ("claimed", "mid_send", "after_send", "marked")
        ),
        *(
            Kill(name=f"outbox.{at}", act=chat, before=clean_up)
            for at in ("claimed", "mid_send", "after_send")
        ),
        Kill(name="outbox.marked", act=chat, before=clean_up),
        Kill(name="outbox.between_parts", act=chat_at_length, before=clean_up),
        Kill(name="outbox.after_send", act=chat_at_length, nth=2, before=clean_up),
    ),
    "folding": (
        *(
            Kill(name=f"fold.{at}", act=fold)
            for at in ("planned", "summarised", "checked", "log_written")
        ),
        *(Kill(name=f"fold.{at}", act=fold) for at in ("log_synced", "in_txn", "folded")),
        Kill(name="fold.undone", act=undo),
        *(Kill(name=f"clear.{at}", act=clear) for at in ("in_txn", "committed")),
        *(
            Kill(name=f"fold.{at}", act=hasten)
            for at in ("late_in_txn", "late_stored", "late_logged")
        ),
    ),
    "ending days": (
        Kill(name="day.planned", act=nothing, before=pass_midnight),
        *(
            Kill(name=f"fold.{at}", act=nothing, before=pass_midnight)
            for at in ("summarised", "checked", "log_written", "log_synced", "in_txn", "folded")
        ),
    ),
    "writing": (
        *(
            Kill(name=f"file.{at}", act=work)
            for at in ("tmp_written", "synced", "replaced", "dir_synced")
        ),
        Kill(name="file.tmp_written", act=work, action="torn"),
        *(
            Kill(name=f"file.{at}", act=configure)
            for at in ("tmp_written", "synced", "replaced", "dir_synced")
        ),
        Kill(name="file.tmp_written", act=configure, action="torn"),
    ),
    "appending": (
        *(Kill(name=f"append.{at}", act=fold_twice) for at in ("noted", "written", "synced")),
        Kill(name="append.written", act=fold_twice, action="torn"),
    ),
    "recovering": tuple(
        Kill(name=f"recover.{at}", act=nothing, before=leave_work)
        for at in ("r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r11", "r13")
    ),
    "noting": (
        *(
            Kill(name=f"extract.{at}", act=confide)
            for at in ("queued", "found", "upserted", "done")
        ),
        *(Kill(name=f"upsert.{at}", act=confide) for at in ("file_written", "in_txn", "committed")),
    ),
    "dreaming": (
        Kill(name="dream.planned", act=nothing, before=recur),
        *(
            Kill(name=f"dream.{at}", act=nothing)
            for at in ("file_written", "diary_written", "done")
        ),
    ),
    "forgetting": (
        Kill(name="forget.in_txn", act=forget),
        *(Kill(name=f"forget.{at}", act=nothing) for at in ("committed", "files_done", "done")),
    ),
    "migrating": tuple(
        Kill(name=f"mig.{at}", act=nothing, before=age) for at in ("backed_up", "step", "done")
    ),
}
# Steps of a start that looks after everything at once, because nobody else can.
_ALONE = {f"recover.{at}" for at in ("r1", "r2", "r3", "r5", "r11", "r13")}
# What of it comes about on PostgreSQL too, where a process looks after the dead whenever a lease is
# over.
SHARED = {
    group: tuple(kill for kill in kills if kill.name not in _ALONE)
    for group, kills in GROUPS.items()
    # several processes replace the log, so that each can lose its lock
    if group not in ("migrating", "appending")
}
# Failpoints of commands that hold a home by themselves; `test_backups.py` kills there.
COMMANDS = ("backup.snapshot", "restore.extracted", "restore.verified", "restore.swapped")
# Failpoints of the repair of a damaged database; `tests/memory/store/test_repair.py` kills there.
REPAIRS = ("repair.built", "repair.log_moved", "repair.moved")
# Failpoints of a record on its way into PostgreSQL; `test_moves.py` kills there.
MOVES = ("move.copied", "move.committed", "restore.loaded", "restore.recorded")
# Failpoints of processes that are not alone; `test_processes.py` and `test_shared_forget.py` kill
# there.
PROCESSES = ("lease.renewed", "lease.lost", "forget.quiet")
# Failpoints of calls that wait for a person; `tests/bot/tools/exec/test_exec_in_bot.py` kills
# there.
APPROVALS = ("approval.ran",)
# Failpoints of work beside conversations; `tests/walk/test_kill_subagents.py` kills there.
SUBAGENTS = ("work.started", "work.ended", "outcome.committed")
# Failpoints around a call of an MCP server; `tests/bot/tools/mcp/test_mcp_in_bot.py` kills there.
SERVERS = ("mcp.called", "mcp.answered")
# Failpoints of reminders; `tests/walk/test_kill_schedules.py` kills there.
SCHEDULES = ("sched.due", "sched.committed")
Check = Callable[[Stage], Awaitable[list[str]]]
# What is wrong with a home after all kills of a group, beside what every group is asked.
CHECKS: dict[str, Check] = {
    "noting": noted,
    "dreaming": dreamt,
    "forgetting": forgotten,
    "ending days": ended_days,
}


def names_hit() -> set[str]:
    """Every failpoint that the kill suite ends a process at."""
    return {
        *COMMANDS,
        *REPAIRS,
        *MOVES,
        *PROCESSES,
        *APPROVALS,
        *SUBAGENTS,
        *SERVERS,
        *SCHEDULES,
        *(kill.name for kills in GROUPS.values() for kill in kills),
    }


@cache
def names_in_code() -> frozenset[str]:
    """The names of all failpoints in the product, each of which must be written out."""
    return frozenset(name for source in product() for name in _names_in(source))


def _names_in(source: Source) -> Iterator[str]:
    # its names are given where `write` is called
    if source.name == "memory/store/engine/database.py":
        return
    for node in ast.walk(source.tree):
        for argument in _name_arguments(node):
            match argument:
                case ast.Constant(value=str(name)):
                    yield name
                case _:
                    raise AssertionError(
                        f"{source.name}:{node.lineno}: a failpoint's name must be written out"
                    )


def _name_arguments(node: ast.AST) -> list[ast.expr]:
    """What a call gives as the name of a failpoint."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="tx"), attr="hit")):
            return node.args
        case ast.Call(func=ast.Name(id="hit" | "hit_async" | "is_torn")):
            return node.args
        case ast.Call(func=ast.Name(id="write")):
            return [keyword.value for keyword in node.keywords if keyword.arg == "committed"]
    return []
