"""A home on disk with a store, files, blobs and an index, for tests of /forget."""

import hashlib
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory.conversation import Part, Text
from memory.forgetting.forget import ForgetRequester, ForgetService
from memory.recall.index import RecallDependencies
from memory.recall.keepers.files import FileIndexes
from memory.recall.search import Recall
from memory.store.open import open_store
from memory.store.rows import NewInboxRow, NewMessage, NewOutboxRow, Place, TurnRow
from memory.store.store import Store
from memory.workspace.blobs import Blobs
from memory.workspace.files import Workspace

NOW = datetime(2026, 11, 20, 8, 0, tzinfo=UTC)


@dataclass(kw_only=True)
class SeededHome:
    """A home."""

    root: Path
    store: Store
    recall: Recall
    forgetter: ForgetService
    blobs: Blobs
    #: Conversations whose view changed.
    detached: list[str] = field(default_factory=list)

    @property
    def workspace(self) -> Path:
        return self.root / "workspace"

    async def hear(
        self, text: str, chat: str = "c1", space: str = "", kind: str = "message"
    ) -> tuple[str, str]:
        """Store an inbox row; returns its id and its conversation's."""
        held = await self.store.sessions.find("terminal", "local", chat)
        key = f"{chat}-{held.next_turn if held else 0}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"  # noqa: E501
        arrival = NewInboxRow(
            place=place(chat, space),
            key=key,
            kind=kind,
            sender_id="u1",
            body=json.dumps({"text": text}),
        )
        (stored,) = await self.store.delivery.accept([arrival])
        return stored.id, stored.conversation

    async def begin(
        self, text: str, chat: str = "c1", space: str = "", more: Sequence[Part] = ()
    ) -> TurnRow:
        row, _ = await self.hear(text, chat, space)
        return await self.store.delivery.claim(row, draft("user", Text(text=text), *more), "owner")

    async def talk(self, *exchanges: tuple[str, str], chat: str = "c1", space: str = "") -> str:
        """Store finished turns; returns the conversation's id."""
        home = ""
        for asked, answered in exchanges:
            turn = await self.begin(asked, chat, space)
            home = turn.conversation
            await self.finish(turn, answered)
        return home

    async def finish(self, turn: TurnRow, answered: str, *, remember: bool = True) -> None:
        final = draft("assistant", Text(text=answered), origin="model")
        out = [NewOutboxRow(kind="final", text=answered, part_no=0, parts=1)]
        assert await self.store.delivery.finish(turn, "done", final, out, remember=remember)

    async def ask(
        self, query: str, chat: str = "c1", space: str = ""
    ) -> tuple[ForgetRequester, str]:
        """Store the command and its reply; returns the requester and the code."""
        row, conversation = await self.hear(f"/forget {query}", chat, space, "command")
        asker = ForgetRequester(
            space=space, conversation=conversation, who="terminal:local:u1", row=row
        )
        items = await self.forgetter.find(space, query)
        code = await self.forgetter.ask(asker, query, items)
        shown = "\n".join(
            f"{number}. {' '.join(item.words)}" for number, item in enumerate(items, 1)
        )
        out = [NewOutboxRow(kind="notice", text=f"{shown}\n{code}", part_no=0, parts=1)]
        await self.store.delivery.settle(row, out)
        return asker, code

    def holds(self, words: str) -> list[str]:
        """List the files below the home whose bytes contain the words in UTF-8."""
        files = [path for path in sorted(self.root.rglob("*")) if path.is_file()]
        return [
            str(path.relative_to(self.root))
            for path in files
            if words.encode() in path.read_bytes()
        ]


def place(chat: str = "c1", space: str = "") -> Place:
    return Place(
        channel="terminal", account="local", chat_id=chat, thread_id="", kind="dm", space=space
    )


def draft(role: str, *parts: Part, origin: str = "person") -> NewMessage:
    return NewMessage(role=role, parts=parts, tokens=20, counter="test", origin=origin)  # type: ignore[arg-type]


async def bot(root: Path) -> SeededHome:
    """Open a home as a process does."""
    store = await open_store(root / "data" / "mnema.db", clock=NOW.timestamp)
    workspace, blobs = Workspace(root / "workspace"), Blobs(root / "data" / "blobs")
    indexes = FileIndexes(root / "data" / "index")
    recall = Recall(RecallDependencies(store=store, workspace=workspace, indexes=indexes, zone=UTC))
    detached: list[str] = []

    async def note(conversation: str) -> None:
        detached.append(conversation)

    forgetter = ForgetService(
        store=store,
        workspace=workspace,
        recall=recall,
        blobs=blobs,
        data=root / "data",
        now=lambda: NOW,
        detach=note,
    )
    return SeededHome(
        root=root, store=store, recall=recall, forgetter=forgetter, blobs=blobs, detached=detached
    )


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[SeededHome]:
    held = await bot(tmp_path)
    yield held
    await held.recall.close()
    await held.store.close()
