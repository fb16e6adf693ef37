"""I44: forgotten words are in no byte of the home, do not come back, and are not repeated in the
receipt.
"""

import hashlib
import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from memory import failpoints
from memory.conversation import (
    Document,
    Reduction,
    SystemPart,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from memory.forgetting.forget import ForgetRequester
from memory.recall.documents import SearchRequest
from memory.store.errors import WrongState
from memory.store.longterm.rows import (
    ForgetReceipt,
    MemorySource,
    MessageCount,
    NewMemory,
    NewMemoryChange,
    load_targets,
)
from memory.store.longterm.views import ViewBatch
from memory.store.rows import FoldPlan, FoldRow, NewOutboxRow, PlannedCall, PromptSnapshot, Usage
from memory.store.schema.create import HEAD
from tests.contracts.store_views_suite import SOUL, shown, suffix
from tests.contracts.store_words import digested
from tests.memory.forgetting.conftest import NOW, SeededHome, bot, draft

ENGLISH = "zanzibar4711"
CHINESE = "紫蝴蝶咖啡馆"
WORDS = {
    ENGLISH: {
        "told": f"The code of my safe is {ENGLISH.upper()}. I like green tea.",
        "answered": f"I keep it: {ENGLISH}. Green tea it is.",
        "line": f"The safe opens with {ENGLISH}",
        "other": "Likes green tea",
        "stays": "I like green tea.",
    },
    CHINESE: {
        "told": f"我每周五去{CHINESE}。我喜欢绿茶。",
        "answered": f"记住了，{CHINESE}。绿茶也记住了。",
        "line": f"周五常去{CHINESE}",
        "other": "喜欢绿茶",
        "stays": "我喜欢绿茶。",
    },
}


async def tell(home: SeededHome, canary: str) -> str:
    """Store the canary everywhere that words are stored; returns the conversation."""
    words = WORDS[canary]
    memory = home.workspace / "MEMORY.md"
    memory.parent.mkdir(parents=True, exist_ok=True)
    memory.write_text(f"# Memory\n\n## Facts\n\n- {words['line']}\n- {words['other']}\n")
    (home.workspace / "memory" / "dreams").mkdir(parents=True)
    (home.workspace / "memory" / "dreams" / "2026-11-19.md").write_text(
        f"# Dream\n\n- moved: {words['line']}\n"
    )
    conversation = await home.talk((words["told"], words["answered"]), ("And tomorrow?", "Sunny."))
    await _called(home, canary)
    await _attached(home, canary)
    await home.talk(("Something else.", "Indeed."), ("And again.", "Yes."))
    first = await _folded(home, conversation, words, 2)
    await _folded(home, conversation, words, 2, first)
    await _known(home, conversation, words)
    await home.recall.search(SearchRequest(space="", query=canary, now=NOW))
    return conversation


async def _called(home: SeededHome, canary: str) -> None:
    turn = await home.begin("Look it up.")
    call = ToolCall(id="t1", name="look", input=json.dumps({"q": canary}))
    step = draft(
        "assistant",
        Thinking(text=f"It is {canary}.", signature="s", model="m"),
        call,
        origin="model",
    )
    planned = [PlannedCall(call_id="t1", name="look", input=call.input, effect="pure")]
    own = suffix(turn.conversation, f"[Recalled: {canary}]")
    views = ViewBatch(views=(shown(turn, (1, 3), own, NOW.timestamp()),), texts=(SOUL, own))
    calls = await home.store.sessions.add_step(
        turn, step, planned, Usage(model="m", input=1, output=1), views
    )
    await home.store.sessions.start_calls(calls)
    result = ToolResult(call_id="t1", text=json.dumps({"found": [canary]}))
    told = await home.store.sessions.end_calls(
        turn, [(calls[0], "done")], draft("user", result, origin="tool")
    )
    await home.store.sessions.reduce(
        turn.conversation,
        [Reduction(message_id=told.id, part=0, form="snip", text=f"… {canary} …", tokens=3)],
        "test",
    )
    await home.finish(turn, "Done.")


async def _attached(home: SeededHome, canary: str) -> None:
    data = f"A page about {canary}.".encode()
    paper = Document(
        sha256=home.blobs.put(data),
        media_type="text/plain",
        name="page.txt",
        size=len(data),
        text=data.decode(),
    )
    turn = await home.begin("Read this.", more=(paper,))
    await home.finish(turn, "I read it.", remember=True)


async def _folded(
    home: SeededHome,
    conversation: str,
    words: dict[str, str],
    turns: int,
    before: FoldRow | None = None,
) -> FoldRow:
    session = await home.store.sessions.load(conversation)
    first, last = session.turns[0], session.turns[turns - 1]
    plan = FoldPlan(
        conversation=conversation,
        epoch=session.epoch,
        prev_fold=session.fold_head,
        from_seq=first.first_seq,
        to_seq=last.last_seq,
        from_turn=first.number,
        to_turn=last.number,
        policy="balanced",
        reason="test",
        tokens_before=100,
    )
    row = await home.store.folds.plan(plan)
    assert row
    log = f"- 08:00 User: {words['told']}"
    summary = (
        f"## Facts and preferences\n- {words['line']}\n- {words['other']}"
        if before
        else f"- {words['line']}"
    )
    row = await home.store.folds.advance(
        row, "summarised", log_text=log, summary=summary, summary_tokens=40
    )
    assert row
    row = await home.store.folds.advance(row, "checked", method="model")
    assert row
    path = home.workspace / "memory" / "2026-11-20.md"
    held = path.read_text() if path.exists() else "# 2026-11-20\n"
    path.write_text(
        f"{held}\n## 08:00 · terminal · turns {first.number}–{last.number} <!-- fold {row.id} "
        f"-->\n\n{log}\n"
    )
    row = await home.store.folds.advance(row, "logged", log_ref="memory/2026-11-20.md")
    assert row
    done = await home.store.folds.commit(row, 50)
    assert done
    return done


async def _known(home: SeededHome, conversation: str, words: dict[str, str]) -> None:
    source = MemorySource(
        conversation=conversation, channel="terminal", quote=words["told"], said=NOW
    )
    line = NewMemory(
        norm=words["line"],
        category="fact",
        text=words["line"],
        importance=7,
        origin="extraction",
        source=source,
    )
    tea = NewMemory(
        norm=words["other"],
        category="fact",
        text=words["other"],
        importance=7,
        origin="person",
        source=source,
    )
    change = NewMemoryChange(
        path="MEMORY.md",
        kind="extract",
        before_sha256="a",
        after_sha256="b",
        added=(words["line"], words["other"]),
        before=f"- {words['line']}\n",
    )
    await home.store.memories.put("", change, [line, tea])
    parts = (
        SystemPart(name="MEMORY.md", text=f"- {words['line']}"),
        SystemPart(name="rules", text="Be kind."),
    )
    row = await home.store.sessions.conversation(conversation)
    assert row
    shown = PromptSnapshot(
        source="s", epoch=row.epoch, fold_head=row.fold_head, reductions=0, parts=parts
    )
    await home.store.sessions.set_snapshot(conversation, shown, "test")
    _insert(
        home,
        "dream",
        id="d1",
        space="",
        day="2026-11-19",
        state="done",
        plan=json.dumps([words["line"]]),
        diary="",
        reason="",
        at=1.0,
    )


def _insert(home: SeededHome, table: str, **values: object) -> None:
    names = ", ".join(values)
    with closing(sqlite3.connect(home.root / "data" / "mnema.db", isolation_level=None)) as outside:
        outside.execute(
            f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' * len(values))})",
            list(values.values()),
        )


async def forget(
    home: SeededHome, canary: str, chosen: list[int] | None = None
) -> tuple[ForgetRequester, str, ForgetReceipt]:
    asker, code = await home.ask(canary)
    row = await home.forgetter.find_request(asker, code)
    assert row
    return asker, code, await home.forgetter.confirm(row, chosen)


def gone(home: SeededHome, canary: str) -> None:
    """Check that only the copies named in the receipt contain it, in any spelling."""
    for form in {canary, canary.upper(), json.dumps(canary)[1:-1]}:
        assert [path for path in home.holds(form) if ".before-" not in path] == []


@pytest.mark.parametrize("canary", WORDS)
async def test_I44_it_is_in_no_byte_of_the_home_any_more(home: SeededHome, canary: str) -> None:
    conversation = await tell(home, canary)
    await home.talk((f"What of {canary}?", "Nothing."), chat="c2")
    copy = home.root / "data" / f"mnema.db.before-{HEAD}-from-r0002"
    copy.write_bytes(f"an older {canary}".encode())
    kept = await _hashes(home, conversation, canary)
    assert len(home.holds(canary)) >= 6
    _, _, receipt = await forget(home, canary)
    gone(home, canary)
    await home.recall.rebuild("")
    gone(home, canary)
    found = await home.recall.search(SearchRequest(space="", query=canary, now=NOW))
    assert [passage for passage in found if canary in passage.text.casefold()] == []
    assert await home.store.folds.check_ledger() == []
    assert await _hashes(home, conversation, canary) == kept
    assert (
        WORDS[canary]["stays"]
        in (await home.store.sessions.messages(conversation))[0].parts[0].text
    )  # type: ignore[union-attr]
    assert (
        home.workspace / "MEMORY.md"
    ).read_text() == f"# Memory\n\n## Facts\n\n- {WORDS[canary]['other']}\n"
    assert receipt.backups == (f"data/mnema.db.before-{HEAD}-from-r0002",)
    assert {place.path: place.lines for place in receipt.files} == {
        "MEMORY.md": (5,), "memory/2026-11-20.md": (5, 9), "memory/dreams/2026-11-19.md": (3,),
    }  # fmt: skip
    assert receipt.said == (MessageCount(date="2026-11-20", channel="terminal", count=6),)
    assert (receipt.summaries, receipt.records, receipt.attachments, receipt.index) == (
        2,
        1,
        1,
        True,
    )
    assert receipt.views == 1
    past = await home.store.views.past_view(conversation, 1)
    assert past is not None
    assert past.row.forgotten
    assert canary not in repr(past)
    assert canary not in str(receipt)


async def _hashes(home: SeededHome, conversation: str, canary: str) -> list[str]:
    """Hash the messages that do not mention it."""
    told = (
        canary,
        canary.upper(),
        json.dumps(canary)[1:-1].replace("\\", "\\\\"),
        "[forgotten]",
        "［已忘记］",
    )
    held = [repr(message) for message in await home.store.sessions.messages(conversation)]
    return [
        hashlib.sha256(text.encode()).hexdigest()
        for text in held
        if not any(word in text for word in told)
    ]


async def test_what_another_person_said_and_wrote_is_not_touched(home: SeededHome) -> None:
    await tell(home, ENGLISH)
    theirs = await home.talk((f"My {ENGLISH}.", "Yes."), chat="c9", space="other")
    folder = home.workspace / "spaces" / "other"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "MEMORY.md").write_text(f"- {ENGLISH}\n")
    before = await home.store.sessions.messages(theirs)
    await forget(home, ENGLISH)
    assert await home.store.sessions.messages(theirs) == before
    assert (folder / "MEMORY.md").read_text() == f"- {ENGLISH}\n"


async def test_the_view_stays_valid_and_a_summary_that_is_empty_becomes_a_digest(
    home: SeededHome,
) -> None:
    conversation = await tell(home, ENGLISH)
    generation = (await home.store.sessions.load(conversation)).prefix_generation
    await forget(home, ENGLISH)
    folds = await home.store.folds.folds(conversation)
    assert "digest]" in folds[0].summary
    assert folds[1].summary == "## Facts and preferences\n- [forgotten]\n- Likes green tea"
    session = await home.store.sessions.load(conversation)
    assert session.prefix_generation > generation
    assert await home.store.sessions.snapshot(conversation) is None
    messages = await home.store.sessions.messages(conversation)
    assert all(message.parts for message in messages)
    texts = [part.text for message in messages for part in message.parts if isinstance(part, Text)]
    assert all(text.strip() for text in texts)
    calls = [
        part.id for message in messages for part in message.parts if isinstance(part, ToolCall)
    ]
    results = [
        part.call_id
        for message in messages
        for part in message.parts
        if isinstance(part, ToolResult)
    ]
    assert calls == results == ["t1"]


@pytest.mark.parametrize("outside", [True, False])
async def test_a_digest_in_a_summarys_place_is_labelled_by_what_it_quotes(
    home: SeededHome, outside: bool
) -> None:
    turn = await home.begin(f"I know {ENGLISH}.")
    answer = draft(
        "assistant",
        Text(text="The page says to copy mallory@x.example on answers."),
        origin="model",
    )
    out = [
        NewOutboxRow(
            kind="final",
            text="The page says to copy mallory@x.example on answers.",
            part_no=0,
            parts=1,
        )
    ]
    assert await home.store.delivery.finish(turn, "done", replace(answer, tainted=outside), out)
    conversation = await home.talk(("I live in Leeds.", "Good."))
    (home.workspace / "memory").mkdir(parents=True)
    words = {"told": f"I know {ENGLISH}.", "line": f"Knows {ENGLISH}", "other": f"Met {ENGLISH}"}
    first = await _folded(home, conversation, words, 1)
    await _folded(home, conversation, words, 1, first)
    await forget(home, ENGLISH)
    folds = await home.store.folds.folds(conversation)
    assert ["mallory" in fold.summary for fold in folds] == [True, True]
    assert [fold.summary_tainted for fold in folds] == [outside, outside]


async def test_S58_neither_extraction_nor_a_fold_under_way_nor_the_log_brings_it_back(
    home: SeededHome,
) -> None:
    conversation = await tell(home, ENGLISH)
    turn = await home.begin(f"Mind {ENGLISH}.")
    await home.finish(turn, "Yes.", remember=True)
    session = await home.store.sessions.load(conversation)
    last = session.turns[-1]
    plan = FoldPlan(
        conversation=conversation,
        epoch=session.epoch,
        prev_fold=session.fold_head,
        from_seq=session.turns[0].first_seq,
        to_seq=last.last_seq,
        from_turn=session.turns[0].number,
        to_turn=last.number,
        policy="balanced",
        reason="test",
        tokens_before=9,
    )
    row = await home.store.folds.plan(plan)
    assert row
    row = await home.store.folds.advance(row, "summarised", log_text=ENGLISH, summary=ENGLISH)
    assert row
    await forget(home, ENGLISH)
    assert await home.store.folds.advance(row, "checked", log_text=ENGLISH, summary=ENGLISH) is None
    assert await home.store.folds.open_folds() == []
    assert await home.store.folds.check_ledger() == []
    while rows := await home.store.extractions.next(""):
        assert rows[0].turn_id != turn.id
        await home.store.extractions.move(rows[0].turn_id, "skipped")
    assert home.detached[0] == conversation
    gone(home, ENGLISH)


async def test_S58_the_texts_that_a_model_is_writing_for_a_fold_do_not_bring_it_back(
    home: SeededHome,
) -> None:
    conversation = await home.talk((f"About {ENGLISH}.", "Yes."), ("More.", "Yes."))
    row = await digested(home.store, conversation, 1)
    await forget(home, ENGLISH)
    assert (
        await home.store.folds.replace_texts(row, method="model", summary=ENGLISH, log_text=ENGLISH)
        is None
    )
    assert (await home.store.folds.fold(row.id)).awaiting == ""  # type: ignore[union-attr]
    gone(home, ENGLISH)


async def test_a_fold_at_its_last_step_moves_no_head_once_it_is_stale(home: SeededHome) -> None:
    conversation = await home.talk((f"About {ENGLISH}.", "Yes."), ("More.", "Yes."))
    session = await home.store.sessions.load(conversation)
    plan = FoldPlan(
        conversation=conversation,
        epoch=1,
        prev_fold="",
        from_seq=1,
        to_seq=2,
        from_turn=1,
        to_turn=1,
        policy="balanced",
        reason="test",
        tokens_before=9,
    )
    row = await home.store.folds.plan(plan)
    assert row
    for state, changes in (
        ("summarised", {"log_text": ENGLISH}),
        ("checked", {}),
        ("logged", {"log_ref": "memory/x.md"}),
    ):
        row = await home.store.folds.advance(row, state, **changes)  # type: ignore[arg-type]
        assert row
    await forget(home, ENGLISH)
    assert await home.store.folds.commit(row, 1) is None
    assert (await home.store.sessions.load(conversation)).fold_head == session.fold_head == ""
    assert await home.store.folds.check_ledger() == []


async def test_a_log_that_a_clear_left_is_begun_anew_without_it(home: SeededHome) -> None:
    conversation = await home.talk((f"About {ENGLISH}. And tea.", "Yes."))
    plan = FoldPlan(
        conversation=conversation,
        epoch=1,
        prev_fold="",
        from_seq=1,
        to_seq=2,
        from_turn=1,
        to_turn=1,
        policy="balanced",
        reason="/new",
        tokens_before=9,
        log_only=True,
    )
    await home.store.sessions.clear(conversation, plan)
    (row,) = await home.store.folds.open_folds()
    row = await home.store.folds.advance(row, "summarised", log_text=ENGLISH) or row
    await forget(home, ENGLISH)
    assert await home.store.folds.advance(row, "checked", log_text=ENGLISH) is None
    (again,) = await home.store.folds.open_folds()
    assert (again.state, again.log_text, again.from_seq, again.to_seq, again.log_only) == (
        "planned",
        "",
        1,
        2,
        True,
    )
    assert again.id != row.id


async def test_only_the_chosen_places_are_forgotten(home: SeededHome) -> None:
    conversation = await tell(home, ENGLISH)
    asker, code = await home.ask(ENGLISH)
    row = await home.forgetter.find_request(asker, code)
    assert row
    items = load_targets(row.targets).items
    assert [item.kind for item in items[:3]] == ["memory", "log", "log"]
    before = await home.store.sessions.messages(conversation)
    receipt = await home.forgetter.confirm(row, [0])
    assert await home.store.sessions.messages(conversation) == before
    assert ENGLISH not in (home.workspace / "MEMORY.md").read_text()
    assert ENGLISH.upper() in (home.workspace / "memory" / "2026-11-20.md").read_text()
    assert receipt.said == ()
    assert receipt.records == 1


async def test_a_file_that_another_message_shows_too_stays(home: SeededHome) -> None:
    data = f"A page about {ENGLISH}.".encode()
    paper = Document(
        sha256=home.blobs.put(data), media_type="text/plain", name="p", size=1, text=data.decode()
    )
    for chat, space in (("c1", ""), ("c9", "other")):
        await home.finish(await home.begin("Read.", chat, space, (paper,)), "Yes.", remember=False)
    _, _, receipt = await forget(home, ENGLISH)
    assert receipt.attachments == 0
    assert home.blobs.get(paper.sha256) == data


async def test_what_is_linked_to_the_space_is_found_and_forgotten_too(home: SeededHome) -> None:
    joined = await home.talk((f"Here I said {ENGLISH}.", "Yes."), chat="c2", space="telegram-7")
    folder = home.workspace / "spaces" / "telegram-7"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "MEMORY.md").write_text(f"- {ENGLISH}\n- tea\n")
    await _link(home)
    await home.talk(("Hello.", "Yes."))
    _, _, receipt = await forget(home, ENGLISH)
    assert {place.path for place in receipt.files} == {"spaces/telegram-7/MEMORY.md"}
    assert (folder / "MEMORY.md").read_text() == "- tea\n"
    assert (await home.store.sessions.messages(joined))[0].parts == (Text(text="[forgotten]"),)
    gone(home, ENGLISH)


async def _link(home: SeededHome) -> None:
    with closing(sqlite3.connect(home.root / "data" / "mnema.db", isolation_level=None)) as outside:
        names = [row[1] for row in outside.execute("PRAGMA table_info(account_link)")]
        given = {
            "own_space": "telegram-7",
            "channel": "telegram",
            "account": "a",
            "sender_id": "7",
            "at": 1.0,
        }
        values = [given.get(name, "") for name in names]
        outside.execute(f"INSERT INTO account_link VALUES ({', '.join('?' * len(names))})", values)


async def test_other_files_that_mention_it_are_named_and_left(home: SeededHome) -> None:
    conversation = await home.talk((f"About {ENGLISH}.", "Yes."))
    assert conversation
    home.workspace.mkdir(exist_ok=True)
    (home.workspace / "notes.txt").write_text(f"mine: {ENGLISH}")
    _, _, receipt = await forget(home, ENGLISH)
    assert receipt.kept == ("notes.txt",)
    assert (home.workspace / "notes.txt").read_text() == f"mine: {ENGLISH}"


async def test_what_is_said_in_other_words_leaves_every_copy_of_those_words_too(
    home: SeededHome,
) -> None:
    told = "We have been living near Wannsee in Berlin."
    conversation = await home.talk(
        (f"{told} I like tea.", "Noted."), ("Berlin has a zoo.", "It has two.")
    )
    items = await home.forgetter.find("", "that we live in Berlin near Wannsee")
    assert [item.words for item in items] == [(told,)]
    _, _, receipt = await forget(home, "that we live in Berlin near Wannsee")
    assert receipt.said[0].count == 1
    assert home.holds("Wannsee") == []
    messages = await home.store.sessions.messages(conversation)
    assert [
        part.text for message in messages for part in message.parts if isinstance(part, Text)
    ] == [
        "[forgotten] I like tea.",
        "Noted.",
        "Berlin has a zoo.",
        "It has two.",
    ]


async def test_a_stand_in_that_was_cut_in_the_middle_of_a_word_goes_with_its_message(
    home: SeededHome,
) -> None:
    conversation = await home.talk((f"My safe has {ENGLISH}.", "Yes."))
    first = (await home.store.sessions.messages(conversation))[0]
    cut = Reduction(
        message_id=first.id, part=0, form="snip", text=f"My safe has {ENGLISH[:6]} …", tokens=3
    )
    await home.store.sessions.reduce(conversation, [cut], "test")
    await forget(home, ENGLISH)
    assert (await home.store.sessions.load(conversation)).reductions == ()


async def test_a_memory_file_that_may_not_be_written_is_named_and_stops_nothing(
    home: SeededHome,
) -> None:
    await home.talk((f"About {ENGLISH}.", "Yes."))
    home.workspace.mkdir(exist_ok=True)
    (home.workspace / "MEMORY.md").write_text(f"- {ENGLISH}\n")
    (home.root / "twin").hardlink_to(home.workspace / "MEMORY.md")
    _, _, receipt = await forget(home, ENGLISH)
    assert (receipt.files, receipt.kept) == ((), ("MEMORY.md",))
    assert home.holds(ENGLISH) == ["twin", "workspace/MEMORY.md"]


@pytest.mark.parametrize(
    "place", ["forget.in_txn", "forget.committed", "forget.files_done", "forget.done"]
)
async def test_killed_anywhere_it_goes_on_at_the_next_start(
    tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = await bot(tmp_path)
    await tell(home, ENGLISH)
    asker, code = await home.ask(ENGLISH)
    row = await home.forgetter.find_request(asker, code)
    assert row
    failpoints.arm({"MNEMA_TEST": "1", "MNEMA_FP": f"{place}:raise"})
    try:
        with pytest.raises(failpoints.FailpointError):
            await home.forgetter.confirm(row)
    finally:
        failpoints.arm({})
    await home.recall.close()
    again = await bot(tmp_path)
    try:
        await again.forgetter.resume()
        if place == "forget.in_txn":
            held = await again.forgetter.find_request(asker, code)
            assert held
            await again.forgetter.confirm(held)
        receipt = await again.forgetter.find_receipt(asker, code)
        assert receipt is not None
        assert "MEMORY.md" in {one.path for one in receipt.files}
        assert receipt.said == (MessageCount(date="2026-11-20", channel="terminal", count=5),)
        gone(again, ENGLISH)
        assert await again.store.folds.check_ledger() == []
        done = await again.store.forgettings.last("")
        assert done is not None
        assert done.targets == ""
    finally:
        await again.recall.close()
        await again.store.close()
        await home.store.close()
    gone(again, ENGLISH)


async def test_a_code_is_good_once_for_its_person_in_its_conversation(home: SeededHome) -> None:
    await home.talk((f"About {ENGLISH}.", "Yes."))
    asker, code = await home.ask(ENGLISH)
    strangers = [
        ForgetRequester(space="", conversation=asker.conversation, who="terminal:local:u2", row=""),
        ForgetRequester(space="", conversation="elsewhere", who=asker.who, row=""),
    ]
    for stranger in strangers:
        assert await home.forgetter.find_request(stranger, code) is None
        assert await home.forgetter.find_receipt(stranger, code) is None
    assert await home.forgetter.find_request(asker, "AAAAAAAA") is None
    row = await home.forgetter.find_request(asker, f"{code[:4]}-{code[4:]}".lower())
    assert row
    assert code not in str(row)
    await home.forgetter.confirm(row)
    assert await home.forgetter.find_request(asker, code) is None
    with pytest.raises(WrongState):
        await home.forgetter.confirm(row)
    assert await home.forgetter.find_receipt(asker, code) is not None


async def test_a_request_that_is_dropped_or_runs_out_keeps_no_words(home: SeededHome) -> None:
    asker, _ = await home.ask(ENGLISH)
    first = await home.forgetter.find_request(asker)
    assert first
    second, _ = await home.ask("tea")
    assert (await home.store.forgettings.row(first.id)).state == "dropped"
    row = await home.forgetter.find_request(second)
    assert row
    await home.store.forgettings.expire(NOW + timedelta(minutes=11))
    for id in (first.id, row.id):
        held = await home.store.forgettings.row(id)
        assert (held.state, held.targets) == ("dropped", "")


async def test_nothing_of_a_large_record_is_left_in_free_pages(home: SeededHome) -> None:
    """Store many rows, so that pages are split, merged and freed while words are removed."""
    for number in range(60):
        filler = f"{number} " + "Lots of other things were said. " * (number % 7 * 20)
        await home.talk(
            (f"{filler} {ENGLISH} is number {number}. {filler}", f"{ENGLISH}! {filler}")
        )
    await home.recall.search(SearchRequest(space="", query=ENGLISH, now=NOW))
    _, _, receipt = await forget(home, ENGLISH)
    assert receipt.said[0].count == 120
    gone(home, ENGLISH)
