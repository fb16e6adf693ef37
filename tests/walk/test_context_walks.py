"""Whole walks over the context: what leaves the view is in the log and the summary, and a clear is
a clear.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.by_night import by_night
from tests.emulators.model import ModelEmulator
from tests.emulators.model_replies import Reply, is_fold
from tests.emulators.model_rules import count, seen_by_model
from tests.walk.harness import Scene, scene, until
from tests.walk.record import ledger_faults, query
from tests.walk.speech import answer, asked, asked_for, shown

HEADING = re.compile(
    r"^## \d\d:\d\d(?:–\d\d:\d\d)? · web [^·]+ · turns (\d+)–(\d+) <!-- fold (\w+) -->$",
    re.MULTILINE,
)
SUMMARY = re.compile(r"\[Summary of (\d+) earlier turns?\. .*?\[End of summary\]", re.DOTALL)
FACTS = {f"t{at}": f"crate {at} weighs {at * 37 + 1000} kg" for at in range(1, 26)}


def turns_of(model: ModelEmulator) -> list[dict[str, Any]]:
    """The bodies of all requests that were not for a summary."""
    return [
        seen.body for seen in model.requests if seen.wire == "messages" and not is_fold(seen.body)
    ]


def log_of(talk: Scene) -> str:
    """All daily logs."""
    return "\n".join(path.read_text() for path in sorted(talk.bot.workspace.glob("memory/*.md")))


async def settled(talk: Scene) -> None:
    """No fold is under way."""
    under_way = "SELECT id FROM fold WHERE state NOT IN ('folded', 'stale', 'undone')"
    await until(lambda: not query(talk.bot.db, under_way), "folds are done")


async def test_of_twenty_five_facts_each_is_in_the_view_the_summary_or_the_log(
    tmp_path: Path,
) -> None:
    async with scene(tmp_path, ModelEmulator(responder=answer), agent_max_context_turns=20) as talk:
        await talk.bot.start()
        for token, fact in FACTS.items():
            assert await talk.say("long", asked(token, f"Note: {fact}.")) == f"re «{token}»"
        await settled(talk)
        await talk.say("long", asked("t26"))
        view, log = shown(turns_of(talk.model)[-1]), log_of(talk)
        heading, summary = HEADING.search(log), SUMMARY.search(view)
        context = await talk.web.context("long")
        assert heading
        assert heading[1] == "1"
        assert heading[3] in {fold["id"] for fold in context["folds"]}
        assert summary
        assert int(summary[1]) == int(heading[2]) == context["folds"][-1]["to_turn"]
        assert SUMMARY.search(str(turns_of(talk.model)[-1]["messages"][0]["content"]))
        assert [fact for fact in FACTS.values() if fact not in view + log] == []
        assert context["turns"] <= context["max_turns"]
        assert context["tokens"] <= context["max_tokens"]
        assert await ledger_faults(talk.bot.db) == []


@by_night
async def test_every_request_fits_the_budget_however_long_the_talk(tmp_path: Path) -> None:
    async with scene(
        tmp_path, ModelEmulator(responder=answer), agent_max_context_tokens=6000
    ) as talk:
        await talk.bot.start()
        for at in range(12):
            await talk.say(
                "long",
                asked(f"t{at}", f"{at} " + "some words about the weather of that day. " * 100),
            )
        for body in turns_of(talk.model):
            assert count(seen_by_model(body)) <= 6000 * 1.1
        assert await ledger_faults(talk.bot.db) == []


@by_night
async def test_after_a_clear_during_a_fold_and_a_restart_no_older_word_comes_back_until_it_is_undone(  # noqa: E501
    tmp_path: Path,
) -> None:
    model = ModelEmulator(responder=answer)
    async with scene(tmp_path, model, agent_max_context_turns=4) as talk:
        await talk.bot.start()
        model.script([], folds=[Reply(text="late", wait=1.5)])
        for at in range(4):
            await talk.say("talk", asked(f"old{at}", f"The password is swordfish{at}."))
        await until(
            lambda: any(is_fold(seen.body) for seen in model.requests), "the fold has begun"
        )
        assert "clear" in await talk.say("talk", "/context clear")
        before = len(model.requests)
        await talk.say("talk", asked("new1"))
        await settled(talk)
        await talk.say("talk", asked("new2"))
        await talk.bot.restart()
        await talk.say("talk", asked("new3"))
        assert [body for body in turns_of(model)[-3:] if "swordfish" in json.dumps(body)] == []
        assert [
            seen
            for seen in model.requests[before:]
            if b"swordfish" in seen.raw and is_fold(seen.body)
        ] == []
        await talk.say("talk", "/context undo")
        await talk.say("talk", asked("new4"))
        latest = shown(turns_of(model)[-1])
        assert [at for at in range(4) if f"swordfish{at}" not in latest + log_of(talk)] == []
        assert "swordfish3" in latest
        assert "«new1»" in latest
        assert await ledger_faults(talk.bot.db) == []


async def test_a_fold_is_undone_and_the_turns_are_back(tmp_path: Path) -> None:
    async with scene(tmp_path, ModelEmulator(responder=answer)) as talk:
        await talk.bot.start()
        for at in range(4):
            await talk.say("talk", asked(f"t{at}"))
        before = shown(turns_of(talk.model)[-1])
        await talk.say("talk", "/context fold")
        await talk.say("talk", asked("after"))
        assert SUMMARY.search(shown(turns_of(talk.model)[-1]))
        await talk.say("talk", "/context undo")
        await talk.say("talk", asked("undone"))
        latest = shown(turns_of(talk.model)[-1])
        assert not SUMMARY.search(latest)
        assert [line for line in before.splitlines() if "«" in line and line not in latest] == []


@pytest.mark.parametrize("summary", ["", "## Goal and state\n"], ids=["nothing", "a heading"])
async def test_a_summary_that_says_nothing_is_not_taken(summary: str, tmp_path: Path) -> None:
    model = ModelEmulator(responder=answer)
    async with scene(tmp_path, model) as talk:
        await talk.bot.start()
        for at in range(2):
            await talk.say("talk", asked(f"t{at}", f"Note: box {at} holds {at + 70} nails."))
        said = f"<log>\n- They talked of boxes.\n</log>\n<summary>\n{summary}\n</summary>"
        model.script([], folds=[said, said])  # it is asked for once more
        await talk.say("talk", "/context fold")
        await talk.say("talk", asked("after"))
        assert [fold["method"] for fold in (await talk.web.context("talk"))["folds"]] == ["extract"]
        assert "70 nails" in shown(turns_of(model)[-1])


async def test_new_begins_afresh_and_writes_what_was_there_into_the_log(tmp_path: Path) -> None:
    async with scene(tmp_path, ModelEmulator(responder=answer)) as talk:
        await talk.bot.start()
        await talk.say("talk", asked("old", "The lock opens with 4711."))
        await talk.say("talk", "/new")
        await talk.say("talk", asked("fresh"))
        await settled(talk)
        assert "4711" not in json.dumps(turns_of(talk.model)[-1]["messages"])
        assert "4711" in log_of(talk)
        assert await ledger_faults(talk.bot.db) == []


async def _walk(home: Path, model: ModelEmulator, *, restarts: bool) -> list[dict[str, Any]]:
    """A talk with tools and a fold, and a kill after most answers if asked for; returns its
    requests.
    """
    async with scene(home, model) as talk:
        await talk.bot.start()
        for at in range(7):
            tool = asked_for(f"t{at}", "write_file", path=f"notes/{at}.md", content=f"note {at}")
            await talk.say("talk", tool if at % 2 else asked(f"t{at}"))
            if at == 3:
                await talk.say("talk", "/context fold")
            if restarts and at in (1, 3, 4):
                await talk.bot.restart()
        return turns_of(talk.model)


@by_night
async def test_a_restart_is_invisible_to_the_model(tmp_path: Path) -> None:
    """Byte for byte, the running message's tail aside, for it says what time it is and what was
    recalled.
    """
    through = await _walk(tmp_path / "one", ModelEmulator(responder=answer), restarts=False)
    again = await _walk(tmp_path / "other", ModelEmulator(responder=answer), restarts=True)
    assert len(through) == len(again)
    for one, other in zip(through, again, strict=True):
        assert _prefix(one) == _prefix(other)


def _prefix(body: dict[str, Any]) -> bytes:
    """All of a request but what was recalled for its running message, and the clock."""
    text = re.sub(
        r"\[Recalled \w+: .*?\[End of recalled \w+\]\\n", "", json.dumps(body, ensure_ascii=False)
    )
    return re.sub(r"\[Now: [^\]]*\]", "[Now]", text).encode()
