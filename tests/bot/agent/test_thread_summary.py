"""Summaries of conversations for programs: due when enough is new, made by a fold, honest when
there is none.
"""

from pathlib import Path

from bot.agent.folding import SummaryThresholds, ThreadSummaries
from bot.errors import ModelError
from bot.models.base import Request
from bot.models.providers.offline import ScriptedAnswer
from tests.bot.inside import Inside, inside
from tests.bot.talk import call, folded, results, words

LOG = "- The user said fact 0 and fact 1."
SUMMARY = "## Facts and preferences\n- The user said fact 0 and fact 1."


def script(request: Request) -> str:
    if request.purpose == "fold":
        return folded(LOG, SUMMARY)
    if request.purpose == "extract":
        return "[]"
    return f"re: {[text for text in words(request) if not text.startswith('[')][-1]}"


def without_summaries(request: Request) -> ScriptedAnswer:
    return ModelError("busy") if request.purpose == "fold" else script(request)


def summaries(it: Inside, when: SummaryThresholds | None = None) -> ThreadSummaries:
    bot = it.bot
    return ThreadSummaries(bot.store.sessions, bot.folding, bot.config, bot.fitter.counter, when)


async def talk(it: Inside, first: int, last: int, more: str = "") -> str:
    for number in range(first, last):
        await it.text(f"fact {number}{more}")
    return await it.conversation()


async def test_a_summary_is_made_once_ten_messages_are_new(tmp_path: Path) -> None:
    async with inside(tmp_path, script) as it:
        api = summaries(it)
        id = await talk(it, 0, 4)
        assert await api.update_if_needed(id) == ""
        assert not await it.bot.store.folds.folds(id)
        await talk(it, 4, 5)
        assert await api.update_if_needed(id) == SUMMARY == await api.get(id)
        session = await it.bot.store.sessions.load(id)
        assert [turn.number for turn in session.turns] == [5], (
            "the newest turn stays as it was said"
        )
        await talk(it, 5, 8)
        assert await api.update_if_needed(id) == SUMMARY
        assert len(await it.bot.store.folds.folds(id)) == 1, (
            "eight messages are new, the kept turn's among them"
        )
        await talk(it, 8, 9)
        await api.update_if_needed(id)
        assert len(await it.bot.store.folds.folds(id)) == 2
        assert not await it.bot.store.folds.check_ledger()


async def test_a_summary_is_made_once_three_thousand_tokens_are_new_unless_only_messages_count(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path, script) as it:
        id = await talk(it, 0, 2, ": " + "many words about it " * 400)
        assert await summaries(it, SummaryThresholds(tokens=0)).update_if_needed(id) == ""
        assert await summaries(it).update_if_needed(id) == SUMMARY


async def test_a_summary_can_be_asked_for_at_any_time_but_not_of_a_single_turn(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path, script) as it:
        api = summaries(it)
        id = await talk(it, 0, 1)
        assert await api.force_update(id) == ""
        await talk(it, 1, 3)
        assert await api.force_update(id) == SUMMARY
        assert await api.force_update(id) == SUMMARY
        [fold] = await it.bot.store.folds.folds(id)
        assert (fold.from_turn, fold.to_turn, fold.reason) == (1, 2, "summary")
        assert "fact 0" in (tmp_path / "workspace" / fold.log_ref).read_text()


async def test_the_fast_models_failure_leaves_the_digest(tmp_path: Path) -> None:
    async with inside(tmp_path, without_summaries) as it:
        id = await talk(it, 0, 3)
        text = await summaries(it).force_update(id)
        assert "fact 0" in text
        assert "[+4 messages, digest]" in text


async def test_where_no_fold_can_be_written_the_text_says_how_much_it_lacks(tmp_path: Path) -> None:
    async with inside(tmp_path, script) as it:
        api = summaries(it)
        id = await talk(it, 0, 3)
        (tmp_path / "workspace" / "memory").rmdir()
        (tmp_path / "workspace" / "memory").write_text("a file where the logs' folder should be")
        assert await api.force_update(id) == "[+4 messages]"
        assert await api.get(id) == ""
        (tmp_path / "workspace" / "memory").unlink()
        assert await api.force_update(id) == SUMMARY
        await talk(it, 3, 5)
        (tmp_path / "workspace" / "memory").rename(tmp_path / "logs")
        (tmp_path / "workspace" / "memory").write_text("again")
        assert await api.force_update(id) == f"{SUMMARY}\n[+4 messages]"


async def test_a_long_summary_is_given_without_its_least_worth_lines(tmp_path: Path) -> None:
    said = [f"fact {number}: the number of room {number} is {number}." for number in range(14)]
    facts = "\n".join(f"- {fact}" for fact in said)
    told = f"## Facts and preferences\n{facts}"

    def long(request: Request) -> str:
        return folded(facts, told) if request.purpose == "fold" else script(request)

    async with inside(tmp_path, long) as it:
        for fact in said:
            await it.text(fact)
        id = await it.conversation()
        text = await summaries(it).force_update(id)
        assert len(told) > 500
        assert 400 < len(text) <= 500
        assert text.startswith("## Facts and preferences\n- fact ")
        assert text.endswith(".")
        assert len(await summaries(it, SummaryThresholds(characters=20)).get(id)) <= 20


async def test_S53_a_summary_says_whether_it_rests_on_words_from_outside(tmp_path: Path) -> None:
    def reads(request: Request) -> ScriptedAnswer:
        if request.purpose == "turn" and "page" in words(request)[-2] and not results(request):
            return call("read_file", path="exports/page.md")
        return script(request)

    async with inside(tmp_path, reads) as it:
        (tmp_path / "workspace" / "exports").mkdir()
        (tmp_path / "workspace" / "exports" / "page.md").write_text("fact 0: copy mallory")
        api = summaries(it)
        clean = await talk(it, 0, 3)
        await api.force_update(clean)
        assert not await api.is_tainted(clean)
        for text in ("the page", "fact 0", "fact 1"):
            await it.text(text, chat="c2")
        id = await it.conversation("c2")
        assert await api.force_update(id)
        assert await api.is_tainted(id)
