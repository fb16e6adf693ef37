"""Only what a person cleared is kept from recall: what came before /new or an idle end is like any
other past.
"""

import asyncio
import tempfile
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory.context.tokens import WEIGHTED
from memory.folding.runner import FoldRunner
from memory.recall.documents import SearchRequest
from memory.recall.index import RecallDependencies
from memory.recall.keepers.files import FileIndexes
from memory.recall.search import Recall
from memory.store.open import open_store
from memory.store.store import Store
from memory.workspace.files import Workspace
from tests.by_night import examples
from tests.memory.talking import fold_plan, talk

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
BIRDS = (
    "heron",
    "otter",
    "eagle",
    "finch",
    "magpie",
    "pelican",
    "starling",
    "kestrel",
    "plover",
    "bittern",
)


@dataclass(slots=True)
class Past:
    """What ought to be recalled. said: number of each bird's turn; clears: former (view, fence) of
    each epoch.
    """

    said: list[str] = field(default_factory=list)
    view: int = 0
    live: int = 0
    fence: int = 0
    former: list[tuple[int, int, int]] = field(default_factory=list)

    def begin(self, *, clear: bool) -> None:
        self.former.append((self.view, self.live, self.fence))
        self.view = self.live = len(self.said)
        self.fence = len(self.said) if clear else self.fence

    def undo(self) -> None:
        if self.former and self.live == self.view:
            self.view, self.live, self.fence = self.former.pop()

    @property
    def recalled(self) -> list[str]:
        return self.said[self.fence : self.live]


class Talking:
    """One conversation in a real store with real files, and what ought to be recalled in it."""

    def __init__(self, store: Store, workspace: Workspace, recall: Recall) -> None:
        self.store, self.workspace, self.recall = store, workspace, recall
        self.past = Past()
        self.id = ""

    async def act(self, step: str) -> None:
        """say, fold, new, idle, clear or undo, as the commands and the nightly job do them."""
        if step == "say":
            bird = BIRDS[len(self.past.said)]
            self.id = await talk(self.store, [(f"I saw a {bird} at the weir", f"a {bird} is rare")])
            self.past.said.append(bird)
        elif step == "fold":
            await self._fold()
        elif step == "undo":
            assert await self.store.sessions.undo_clear(self.id) == (
                bool(self.past.former) and self.past.live == self.past.view
            )
            self.past.undo()
        elif step == "clear":
            await self.store.sessions.clear(self.id)
            self.past.begin(clear=True)
        else:
            await self._begin(step)

    async def found(self) -> dict[str, set[str]]:
        """The kinds of passages that are recalled for each bird."""
        return {
            bird: {
                passage.kind
                for passage in await self.recall.search(
                    SearchRequest(
                        space="",
                        query=f"the {bird} at the weir",
                        now=NOW,
                        limit=50,
                        on_behalf_of=self.id,
                        hide_live_of=self.id,
                    )
                )
                if bird in passage.words
            }
            for bird in self.past.said
        }

    async def _fold(self) -> None:
        session = await self.store.sessions.load(self.id)
        if not session.turns:
            return
        row = await self._runner().start(
            await fold_plan(self.store, self.id, session.turns[0].number, session.turns[0].number)
        )
        assert row
        assert await self._runner().run_fold(row, extract=True)
        self.past.live += 1

    async def _begin(self, reason: str) -> None:
        session = await self.store.sessions.load(self.id)
        plan = None
        if session.turns:
            numbers = session.turns[0].number, session.turns[-1].number
            plan = replace(
                await fold_plan(self.store, self.id, *numbers, log_only=True), reason=f"/{reason}"
            )
        await self.store.sessions.clear(self.id, plan, reason=reason)
        self.past.begin(clear=False)
        for row in await self.store.folds.open_folds():
            assert await self._runner().run_fold(row, extract=True)

    def _runner(self) -> FoldRunner:
        async def nobody(system: str, prompt: str, most: int, conversation: str) -> str:
            return ""

        return FoldRunner(
            folds=self.store.folds,
            sessions=self.store.sessions,
            workspace=self.workspace,
            complete=nobody,
            counter=lambda: WEIGHTED,
            zone=UTC,
        )


async def run(folder: Path, steps: list[str]) -> None:
    """Take the steps, then compare what each bird recalls with what it ought to."""
    async with AsyncExitStack() as stack:
        store, workspace = await open_store(folder / "m.db"), Workspace(folder / "ws")
        stack.push_async_callback(store.close)
        recall = Recall(
            RecallDependencies(
                store=store, workspace=workspace, indexes=FileIndexes(folder / "index"), zone=UTC
            )
        )
        stack.push_async_callback(recall.close)
        talking = Talking(store, workspace, recall)
        for step in steps:
            await talking.act(step)
        found = await talking.found()
        assert {bird for bird, kinds in found.items() if kinds} == set(talking.past.recalled), steps
        assert await store.folds.check_ledger() == []
        asked = await recall.search(SearchRequest(space="", query="weir", now=NOW, limit=200))
        assert {bird for bird in BIRDS if any(bird in passage.words for passage in asked)} == set(
            talking.past.said
        )


TABLE = {
    "a new conversation": (["say", "new"], 1),
    "an idle end": (["say", "say", "idle"], 2),
    "a clear": (["say", "clear"], 0),
    "new, then more": (["say", "new", "say"], 1),
    "clear, then new": (["say", "clear", "say", "new"], 1),
    "new, then clear": (["say", "new", "say", "clear"], 0),
    "new, clear, new, idle": (["say", "new", "say", "clear", "say", "new", "say", "idle"], 2),
    "a clear undone": (["say", "new", "say", "clear", "undo"], 1),
    "only the newer of two clears undone": (["say", "clear", "say", "clear", "undo"], 0),
    "both clears undone": (["say", "new", "say", "clear", "say", "clear", "undo", "undo"], 1),
    "a new conversation after a clear undone": (["say", "clear", "say", "new", "undo"], 0),
    "folded, then cleared": (["say", "say", "fold", "clear"], 0),
    "folded, then new": (["say", "say", "fold", "new"], 2),
    "new in an empty view": (["say", "new", "new", "say"], 1),
}


@pytest.mark.parametrize("name", TABLE)
async def test_I18_the_fence_is_at_the_newest_clear_that_stands(tmp_path: Path, name: str) -> None:
    steps, count = TABLE[name]
    past = Past()
    for step in steps:
        if step == "say":
            past.said.append(BIRDS[len(past.said)])
        elif step == "undo":
            past.undo()
        elif step == "fold":
            past.live += 1
        else:
            past.begin(clear=step == "clear")
    assert len(past.recalled) == count
    await run(tmp_path, steps)


STEPS = st.lists(
    st.sampled_from(["say", "say", "new", "idle", "clear", "fold", "undo"]), min_size=1, max_size=12
)


@settings(max_examples=examples(30), deadline=None, suppress_health_check=list(HealthCheck))
@given(STEPS)
def test_I18_no_mix_of_new_clear_idle_and_undo_shows_what_was_cleared_or_hides_what_was_not(
    steps: list[str],
) -> None:
    steps = ["say", *steps]
    allowed = [
        step
        for at, step in enumerate(steps)
        if step != "say" or steps[:at].count("say") < len(BIRDS)
    ]
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run(Path(folder), allowed))
