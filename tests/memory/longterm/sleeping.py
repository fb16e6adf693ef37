"""A memory, its logs and its dreams, with a clock that the test sets, over a real store and real
files.
"""

import json
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

from memory.context.tokens import WEIGHTED
from memory.folding.runner import FoldRunner
from memory.longterm.dream_worker import DreamSettings, DreamWorker
from memory.longterm.memories import Memories
from memory.store.open import open_store
from memory.workspace.files import Workspace
from tests.memory.talking import PLACE, fold_plan, talk

FIRST = datetime(2026, 11, 1, 10, tzinfo=UTC)
CATEGORIES = ("user_preference", "project_context", "skill", "fact")


async def nobody(system, prompt, most, conversation):
    raise RuntimeError("there is no model")


class Sleeper:
    """A home. now: advanced by the test. complete: the model that rewords new lines."""

    def __init__(self, root, now=FIRST, zone=UTC, complete=nobody):
        self.root, self.now, self.zone, self.complete = root, now, zone, complete
        self.workspace = Workspace(root / "ws")
        self.similarity = 0.85

    async def open(self):
        self.store = await open_store(self.root / "m.db", clock=lambda: self.now.timestamp())
        self.held = {}
        self.dreamer = self.dream_worker()

    def dream_worker(self):
        return DreamWorker(
            store=self.store,
            workspace=self.workspace,
            memories=self.memories,
            spaces=self.spaces,
            settings=lambda: DreamSettings(similarity=self.similarity, categories=CATEGORIES),
            now=lambda: self.now.astimezone(self.zone),
            complete=self.complete,
        )

    async def restart(self):
        await self.store.close()
        await self.open()

    async def spaces(self):
        folder = self.workspace.root / "spaces"
        found = [path.name for path in folder.iterdir()] if folder.exists() else []
        return sorted({"", *await self.store.dreams.spaces(), *found})

    def memories(self, space):
        if space not in self.held:
            self.held[space] = Memories(
                space,
                records=self.store.memories,
                workspace=self.workspace,
                similarity=lambda: self.similarity,
            )
        return self.held[space]

    def write(self, text, space="", path="MEMORY.md"):
        target = self.workspace.space(space).root / path
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        target.write_bytes(text.encode())

    def read(self, space="", path="MEMORY.md"):
        return (self.workspace.space(space).root / path).read_bytes().decode()

    def diary(self, day, space=""):
        path = self.workspace.space(space).root / f"memory/dreams/{day}.md"
        return path.read_text() if path.exists() else ""

    async def talk(self, *exchanges, space="", kind="dm", chat="c1"):
        """Store a conversation of the current day and fold it with the digest; returns the fold."""
        place = replace(PLACE, space=space, kind=kind, chat_id=chat)
        conversation = await talk(self.store, [(f"{words}", "noted") for words in exchanges], place)
        return await self.fold(conversation)

    async def fold(self, conversation, complete=None):
        """Fold a whole conversation, by the digest or by a model."""
        folder = self.folder(complete)
        turns = (await self.store.sessions.load(conversation)).turns
        row = await folder.start(
            await fold_plan(self.store, conversation, turns[0].number, turns[-1].number)
        )
        return await folder.run_fold(row, extract=complete is None)

    def folder(self, complete=None):
        """Make a FoldRunner with or without a model."""
        return FoldRunner(
            folds=self.store.folds,
            sessions=self.store.sessions,
            workspace=self.workspace,
            complete=complete or nobody,
            counter=lambda: WEIGHTED,
            zone=self.zone,
        )

    async def night(self, days=1):
        """Run the night that many days later, at 03:30; returns its rows."""
        self.now = (self.now + timedelta(days=days)).replace(hour=3, minute=30)
        rows = await self.dreamer.night(self.now.astimezone(self.zone).date())
        self.now += timedelta(hours=6)
        return rows

    async def lines(self, space=""):
        return {row.text for row in await self.store.memories.rows(space)}


@asynccontextmanager
async def sleeper(root, **how):
    it = Sleeper(root, **how)
    await it.open()
    try:
        yield it
    finally:
        await it.store.close()


class Wording:
    """A model that gives one answer per group and records its prompts."""

    def __init__(self, *answers):
        self.answers = answers
        self.asked = []

    async def __call__(self, system, prompt, most, conversation):
        self.asked.append((system, prompt, conversation))
        records = [{"n": number, **answer} for number, answer in enumerate(self.answers, 1)]
        return json.dumps(records, ensure_ascii=False)


def day(number):
    """Return the date of the n-th day of a test, from 0."""
    return date(2026, 11, 1) + timedelta(days=number)
