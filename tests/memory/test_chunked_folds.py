"""A range too large for one prompt goes to the model in chunks; whatever becomes of one of them,
nothing is lost.
"""

import asyncio
import re
from datetime import UTC

import pytest

from memory.context.tokens import WEIGHTED
from memory.folding.runner import FoldRunner
from memory.store.open import open_store
from memory.workspace.files import Workspace
from tests.memory.talking import fold_plan, talk

ROOM = 260
COLOURS = ("red", "blue", "green", "grey", "brown", "white", "black", "pink")
TURNS = [
    (
        f"The crate {at} holds {at * 37 + 1000} nails. Its lid is {colour}. "
        + "It is made of old wood. " * 9,
        f"noted {at}",
    )
    for at, colour in enumerate(COLOURS, 1)
]
SUMMARY = "## Facts and preferences\n- The crates are made of old wood."


class Clerk:
    """A model that condenses parts and merges them truthfully, but for what `spoil` makes of a
    part.

    spoil: by the crate a part holds, an answer of its own: text, an error, or an event to wait for
    for ever.
    """

    def __init__(self, spoil=None, merge=None):
        self.spoil, self.merge = spoil or {}, merge
        self.parts, self.merges = [], []
        self.at_once = self.most_at_once = 0
        self.several = asyncio.Event()

    async def __call__(self, system, prompt, most, conversation):
        if "merge the earlier summary with those" in system:
            self.merges.append(prompt)
            return await self._given({"summary": SUMMARY} if self.merge is None else self.merge)
        self.parts.append(prompt)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        if len(self.parts) > 1:
            self.several.set()
        await self.several.wait()
        for _ in range(30):  # whoever else may begin has begun
            await asyncio.sleep(0)
        self.at_once -= 1
        crates = re.findall(r"User: The crate (\d) holds (\d+)", prompt)
        spoilt = [self.spoil[crate] for crate, _ in crates if crate in self.spoil]
        said = " ".join(f"Crate {crate} holds {nails} nails." for crate, nails in crates)
        return await self._given(
            spoilt[0] if spoilt else {"log": f"- {said}", "summary": f"- {said}"}
        )

    async def _given(self, answer):
        answer = answer() if callable(answer) else answer
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, asyncio.Event):
            await answer.wait()
        if isinstance(answer, str):
            return answer
        return "\n".join(f"<{name}>\n{text}\n</{name}>" for name, text in answer.items())


class Desk:
    """A store, a workspace, and one conversation."""

    def __init__(self, store, root):
        self.store, self.workspace, self.told = store, Workspace(root), []

    def folder(self, clerk, **more):
        return FoldRunner(
            folds=self.store.folds,
            sessions=self.store.sessions,
            workspace=self.workspace,
            complete=clerk,
            counter=lambda: WEIGHTED,
            zone=UTC,
            notify=lambda row, what: self.told.append(what),
            **{"prompt_tokens": lambda: ROOM, **more},
        )

    async def fold(self, clerk, first=1, last=8, turns=TURNS, **more):
        conversation = await talk(self.store, turns)
        folder = self.folder(clerk, **more)
        return await folder.run_fold(
            await folder.start(await fold_plan(self.store, conversation, first, last))
        )

    def log(self, row):
        return self.workspace.space("").read(row.log_ref).text


@pytest.fixture
async def desk(tmp_path):
    store = await open_store(tmp_path / "m.db")
    yield Desk(store, tmp_path / "ws")
    await store.close()


async def test_each_turn_is_in_one_chunk_and_the_merge_has_every_chunks_summary(desk):
    clerk = Clerk()
    row = await desk.fold(clerk)
    assert (row.method, row.summary) == ("model", SUMMARY)
    assert len(clerk.parts) > 2
    for at in range(1, 9):
        assert sum(f"The crate {at} holds" in part for part in clerk.parts) == 1
        assert f"Crate {at} holds {at * 37 + 1000} nails." in clerk.merges[0]
    assert all(WEIGHTED.text(part) <= ROOM + 20 for part in clerk.parts)
    assert not any("snipped" in part for part in clerk.parts)
    assert len(clerk.merges) == 1


async def test_the_diary_has_the_chunks_in_order(desk):
    log = desk.log(await desk.fold(Clerk()))
    at = [log.index(f"Crate {crate} holds") for crate in range(1, 9)]
    assert at == sorted(at)


async def test_chunks_are_asked_beside_each_other_but_not_all_at_once(desk):
    clerk = Clerk()  # a part is answered only when another has been asked
    await desk.fold(clerk, turns=TURNS * 3, last=24)
    assert 2 <= clerk.most_at_once <= 4


@pytest.mark.parametrize(
    "answer",
    ["", "no tags", "<log>x", {"log": "", "summary": ""}, RuntimeError("away")],
    ids=["empty", "words", "broken", "blank", "error"],
)
async def test_a_chunk_that_fails_is_logged_in_its_own_words(desk, answer):
    clerk = Clerk({"3": answer})
    row = await desk.fold(clerk)
    log = desk.log(row)
    assert row.method == "model"
    assert "Crate 1 holds 1037 nails." in log
    assert "User: The crate 3 holds 1111 nails. Its lid is green." in log
    assert "Its lid is red." not in log
    assert row.summary == SUMMARY


async def test_a_chunk_with_one_text_keeps_that(desk):
    clerk = Clerk(
        {
            "3": {"log": "- The third crate was old."},
            "5": {"summary": "- Crate 5 holds 1185 nails."},
        }
    )
    log = desk.log(await desk.fold(clerk))
    assert "- The third crate was old.\n" in log
    assert "Its lid is green." not in log
    assert "User: The crate 5 holds 1185 nails. Its lid is brown." in log


async def test_a_merge_that_is_no_good_is_asked_for_once_more_and_the_chunks_are_not(desk):
    clerk = Clerk()
    left = [{"summary": "It cost 99 euros. And 98."}, {"summary": SUMMARY}]
    clerk.merge = lambda: left.pop(0)
    row = await desk.fold(clerk)
    assert (row.method, row.summary) == ("model", SUMMARY)
    assert len(clerk.merges) == 2
    assert "It cost 99 euros." in clerk.merges[1]
    assert len(clerk.parts) == len(set(clerk.parts))


async def test_a_chunk_that_falls_silent_costs_only_itself(desk):
    clerk = Clerk({"3": RuntimeError("silent")})
    row = await desk.fold(clerk)
    assert row.method == "model"
    assert "User: The crate 3 holds 1111 nails." in desk.log(row)
    # the merge of so small a room holds no more
    assert "The crate 4 holds 1148 nails." in clerk.merges[0]


@pytest.mark.parametrize(
    "merge",
    ["", "no", "<log>- x</log>", RuntimeError("away"), {"summary": "It cost 99 euros. And 98."}],
)
async def test_without_a_merge_the_digest_stands_in(desk, merge):
    row = await desk.fold(Clerk(merge=merge))
    assert row.method == "extract"
    assert "[+16 messages, digest]" in row.summary
    assert "digest" in desk.told
    for at in range(1, 9):  # what the chunks' logs say stays
        assert f"Crate {at} holds {at * 37 + 1000} nails." in desk.log(row)


async def test_when_every_chunk_fails_no_merge_is_asked(desk):
    clerk = Clerk({str(at): RuntimeError("away") for at in range(1, 9)})
    row = await desk.fold(clerk)
    assert row.method == "extract"
    assert clerk.merges == []


async def test_what_a_chunk_or_the_merge_invents_is_taken_out(desk):
    false = {
        "log": "- Crate 3 holds 1111 nails.\n- It costs 777 euros.",
        "summary": "- It costs 777 euros.",
    }
    clerk = Clerk(
        {"3": false},
        {
            "summary": (
                f"{SUMMARY}\n- Crate 3 holds 1111 nails.\n- Wood.\n- Old.\n- It costs 777 euros."
            )
        },
    )
    row = await desk.fold(clerk)
    assert row.method == "model"
    assert "777 euros" not in row.summary + desk.log(row)
    assert "1111" in row.summary


async def test_a_fold_into_the_log_alone_is_not_merged(desk):
    conversation = await talk(desk.store, TURNS)
    await desk.store.sessions.clear(
        conversation, await fold_plan(desk.store, conversation, 1, 8, log_only=True)
    )
    (row,) = await desk.store.folds.open_folds()
    clerk = Clerk()
    done = await desk.folder(clerk).run_fold(row)
    assert (done.state, done.method, done.summary) == ("folded", "model", "")
    assert clerk.merges == []
    assert "Crate 8 holds 1296 nails." in desk.log(done)


async def test_after_a_digest_the_originals_go_into_the_merge_but_not_into_the_diary_again(desk):
    conversation = await talk(desk.store, TURNS)
    folder = desk.folder(Clerk())
    first = await folder.start(await fold_plan(desk.store, conversation, 1, 6))
    await folder.run_fold(first, extract=True)
    clerk = Clerk()
    folder = desk.folder(clerk)
    row = await folder.run_fold(await folder.start(await fold_plan(desk.store, conversation, 7, 8)))
    assert "Crate 1 holds 1037 nails." in clerk.merges[0]
    assert "digest]" not in clerk.merges[0]
    entry = desk.log(row).split(row.id)[1]
    assert "Crate 7 holds 1259 nails." in entry
    assert "1037" not in entry


async def test_a_part_too_large_for_any_prompt_keeps_head_and_tail_and_its_handle(desk):
    giant = "Begin. " + "filler words without end. " * 400 + "The last word is 4711."
    clerk = Clerk()
    clerk.several.set()
    await desk.fold(clerk, turns=[(giant, "ok"), *TURNS[:2]], last=3)
    (part,) = [part for part in clerk.parts if "Begin." in part]
    assert "The last word is 4711." in part
    assert 'recall(handle="1.0") shows them' in part
    assert all(WEIGHTED.text(part) <= ROOM + 20 for part in clerk.parts)
