"""A fold that could not wait for the model is done with the digest; the model's texts come after
it, once, or not.
"""

import asyncio

import pytest

from memory import failpoints
from memory.context.tokens import WEIGHTED
from memory.context.view import assemble_view
from memory.failpoints import FailpointError
from memory.store.open import open_store
from tests.memory.talking import fold_plan, talk
from tests.memory.test_folding import EXCHANGES, GOOD, FoldBench, Teller, texts

NEVER = asyncio.Event


@pytest.fixture
async def bench(tmp_path):
    store = await open_store(tmp_path / "m.db")
    yield FoldBench(store, tmp_path / "ws", [])
    await store.close()


@pytest.fixture(autouse=True)
def no_failpoints():
    yield
    failpoints.arm({})


async def hurried(bench, last=3, answer=GOOD):
    """A fold that was finished at once."""
    conversation, finish_now = await talk(bench.store, EXCHANGES), asyncio.Event()
    finish_now.set()
    return conversation, await bench.fold(conversation, 1, last, answer, finish_now=finish_now)


async def stored(bench, row):
    return await bench.store.folds.fold(row.id)


async def test_the_models_texts_replace_the_digest_in_the_view_and_in_the_file(bench):
    conversation, row = await hurried(bench)
    assert (row.state, row.method, row.awaiting) == ("folded", "extract", "texts")
    before = await bench.store.sessions.load(conversation)
    assert "digest]" in before.summary.text
    digest = bench.log(row)
    await bench.folder().write_late_texts(row, NEVER())
    done, after = await stored(bench, row), await bench.store.sessions.load(conversation)
    assert (done.method, done.awaiting, after.summary.text) == ("model", "", GOOD["summary"])
    assert after.prefix_generation == before.prefix_generation + 1
    assert done.tokens_after - done.summary_tokens == row.tokens_after - row.summary_tokens
    assert bench.log(row) == digest.replace(row.log_text, done.log_text)
    assert GOOD["log"] in bench.log(row)
    assert EXCHANGES[0][1] not in bench.log(row)
    assert assemble_view(after, (), (), WEIGHTED).shown[0].parts[0].text.count("[Summary of") == 1
    assert await bench.store.folds.check_ledger() == []


async def test_the_next_fold_builds_on_texts_that_came_in_time(bench):
    conversation, row = await hurried(bench, 2, {**GOOD, "log": "- 护照号 E12345678"})
    first = {
        "log": "- 护照号 E12345678",
        "summary": "## 事实与偏好\n- 护照号 E12345678，预算 9800 元，6月3日飞巴黎。",
    }
    await bench.folder(first).write_late_texts(row, NEVER())
    teller = Teller(GOOD)
    await bench.fold(conversation, 3, 3, teller)
    prompt = teller.asked[0][1]
    assert first["summary"] in prompt
    assert "earlier turns" not in prompt


async def test_what_somebody_wrote_into_the_section_stays(bench):
    conversation, row = await hurried(bench)
    path = bench.workspace.space("").root / row.log_ref
    path.write_text(path.read_text() + "\nMy own note.\n")
    written = path.read_text()
    await bench.folder().write_late_texts(row, NEVER())
    assert path.read_text() == written
    done = await stored(bench, row)
    assert (done.method, done.awaiting) == ("model", "")
    assert (await bench.store.sessions.load(conversation)).summary.text == GOOD["summary"]


async def test_what_stands_around_the_section_stays(bench):
    _, row = await hurried(bench, 2)
    path = bench.workspace.space("").root / row.log_ref
    path.write_text(
        "My own first line.\n\n" + path.read_text() + "\n## My own section\n\nMy note.\n"
    )
    written = path.read_text()
    first = {"log": "- 用户要去旅行。", "summary": "- 用户要去旅行。"}
    await bench.folder(first).write_late_texts(row, NEVER())
    done = await stored(bench, row)
    assert path.read_text() == written.replace(row.log_text, done.log_text)
    assert "- 用户要去旅行。\n" in path.read_text()


@pytest.mark.parametrize(
    "answer", ["", "no", texts("- ok", "总价 111 元。订单 222。"), RuntimeError("away")]
)
async def test_without_a_usable_summary_the_digest_is_final(bench, answer):
    conversation, row = await hurried(bench)
    before, log = await bench.store.sessions.load(conversation), bench.log(row)
    await bench.folder(answer).write_late_texts(row, NEVER())
    assert await bench.store.sessions.load(conversation) == before
    assert bench.log(row) == log
    done = await stored(bench, row)
    assert (done.method, done.awaiting) == ("extract", "")
    assert done.rejected == {"": 1, "no": 1}.get(answer, 0 if isinstance(answer, Exception) else 2)


async def test_a_summary_without_a_log_replaces_the_summary_alone(bench):
    conversation, row = await hurried(bench)
    log = bench.log(row)
    left = [texts("", GOOD["summary"]), ""]
    await bench.folder(Teller(lambda system, prompt: left.pop(0))).write_late_texts(row, NEVER())
    assert (await bench.store.sessions.load(conversation)).summary.text == GOOD["summary"]
    assert bench.log(row) == log
    assert (await stored(bench, row)).awaiting == ""


async def test_a_model_that_is_given_up_changes_nothing(bench):
    conversation, row = await hurried(bench)
    before = await bench.store.sessions.load(conversation)
    give_up, teller = NEVER(), Teller(asyncio.Event())
    late = asyncio.create_task(bench.folder(teller).write_late_texts(row, give_up))
    await teller.called.wait()
    give_up.set()
    await late
    assert await bench.store.sessions.load(conversation) == before
    assert (await stored(bench, row)).awaiting == ""


async def test_what_a_model_is_writing_when_the_fold_is_hurried_is_not_asked_for_again(bench):
    conversation = await talk(bench.store, EXCHANGES)
    hurry, held = asyncio.Event(), asyncio.Event()

    class Slow(Teller):
        async def __call__(self, *asked):
            answer = await super().__call__(*asked)
            await held.wait()
            return answer

    teller = Slow(GOOD)
    folder = bench.folder(teller)
    row = await folder.start(await fold_plan(bench.store, conversation, 1, 3))
    running = asyncio.create_task(folder.run_fold(row, finish_now=hurry))
    await teller.called.wait()
    hurry.set()
    row = await running
    assert (row.method, row.awaiting) == ("extract", "texts")
    held.set()
    await folder.write_late_texts(row, NEVER())
    assert len(teller.asked) == 1
    assert (await bench.store.sessions.load(conversation)).summary.text == GOOD["summary"]


PLACES = ["fold.late_in_txn", "fold.late_stored", "fold.late_logged"]


@pytest.mark.parametrize("place", PLACES)
async def test_texts_broken_off_anywhere_go_on_and_are_there_once(bench, place):
    conversation, row = await hurried(bench)
    failpoints.arm({"MNEMA_TEST": "1", "MNEMA_FP": f"{place}:raise"})
    with pytest.raises(FailpointError):
        await bench.folder().write_late_texts(row, NEVER())
    failpoints.arm({})
    row = await stored(bench, row)
    assert row.awaiting == ("texts" if place == "fold.late_in_txn" else "log")
    await bench.folder().write_late_texts(row, NEVER())
    done = await stored(bench, row)
    assert (done.method, done.awaiting) == ("model", "")
    assert bench.log(row).count(f"<!-- fold {row.id} -->") == 1
    assert bench.log(row).count(GOOD["log"]) == 1
    assert "Bot: " not in bench.log(row)
    assert (await bench.store.sessions.load(conversation)).summary.text == GOOD["summary"]


@pytest.mark.parametrize("place", PLACES[1:])
async def test_texts_broken_off_and_then_given_up_leave_the_file_whole(bench, place):
    """The person edits the file, or clears the view, before the program is there again."""
    conversation, row = await hurried(bench)
    failpoints.arm({"MNEMA_TEST": "1", "MNEMA_FP": f"{place}:raise"})
    with pytest.raises(FailpointError):
        await bench.folder().write_late_texts(row, NEVER())
    failpoints.arm({})
    await bench.store.sessions.clear(conversation)
    await bench.folder().write_late_texts(await stored(bench, row), NEVER())
    assert bench.log(row).count(f"<!-- fold {row.id} -->") == 1
    assert (await stored(bench, row)).awaiting == ""
    assert (await bench.store.sessions.load(conversation)).summary is None
    assert await bench.store.folds.check_ledger() == []


async def test_a_file_that_cannot_be_written_is_written_the_next_time(bench):
    _, row = await hurried(bench)
    digest = bench.log(row)
    failpoints.arm({"MNEMA_TEST": "1", "MNEMA_FP": "file.tmp_written:enospc"})
    with pytest.raises(OSError, match="No space"):
        await bench.folder().write_late_texts(row, NEVER())
    failpoints.arm({})
    row = await stored(bench, row)
    assert (row.awaiting, bench.log(row)) == ("log", digest)
    await bench.folder().write_late_texts(row, NEVER())
    assert GOOD["log"] in bench.log(row)
