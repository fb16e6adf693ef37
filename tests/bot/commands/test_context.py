"""What people see of the context: /context in all its parts, /policy, and how a fold is told while
it goes on.
"""

import asyncio
import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.agent.context.report import (
    format_context_report,
    format_cut,
    format_cut_place,
    format_operator_report,
    format_triggers,
    load_cut_facts,
)
from bot.agent.folding import plan_oldest_turns
from bot.commands.settings import POLICY_TEXTS
from bot.messages import is_mutating
from bot.models.base import Request
from channels.phrases import Phrase
from channels.testing import ScriptedChannel as Channel
from memory.context.policies.boundary import CutCandidate, CutChoice, dump_choice
from memory.context.policies.policies import POLICIES
from memory.conversation import Text, ToolCall
from tests.bot.inside import Inside, inside
from tests.bot.talk import Held, call, folded, words

PRIVATE = {"channels": {"telegram": {"owners": ["boss"], "allow": ["ann", "team"]}}}


def script(request: Request) -> str:
    if request.purpose == "fold":
        return folded(
            "- The user said fact 0.", "## Facts and preferences\n- The user said fact 0."
        )
    return f"re: {[said for said in words(request) if not said.startswith('[')][-1]}"


async def facts_of(it: Inside, chat: str = "c1") -> dict[str, object]:
    return await it.bot.report.facts(await it.conversation(chat))


async def talk(it: Inside, turns: int, chat: str = "c1") -> None:
    for number in range(turns):
        await it.text(f"fact {number}", chat=chat)


async def test_every_system_part_is_named_and_they_add_up(tmp_path: Path) -> None:
    async with inside(tmp_path, script) as it:
        (tmp_path / "workspace" / "MEMORY.md").write_text(
            "# Memory\n\n## Tea\n\n- Ann drinks green tea\n"
        )
        await talk(it, 3)
        facts = await facts_of(it)
        parts = facts["system_parts"]
        assert isinstance(parts, list)
        assert [part["name"] for part in parts][:4] == [
            "SOUL.md",
            "rules",
            "awareness",
            "MEMORY.md",
        ]
        assert sum(part["tokens"] for part in parts) == facts["parts"]["system"]  # type: ignore[index]
        told = await it.text("/context")
        for part in parts:
            assert f" {part['tokens']:,}" in told
        assert f"MEMORY.md {parts[3]['tokens']:,}" in told


async def test_what_is_left_out_of_memory_is_told_by_name(tmp_path: Path) -> None:
    async with inside(tmp_path, script) as it:
        old = "\n\n".join(
            f"Ann has told of trip number {number} to the sea at some length."
            for number in range(900)
        )
        (tmp_path / "workspace" / "MEMORY.md").write_text(f"# Memory\n\n## Trips\n\n{old}\n")
        await talk(it, 1)
        facts = await facts_of(it)
        (cut,) = [part for part in facts["system_parts"] if part["left_out"]]  # type: ignore[attr-defined]
        assert cut["name"] == "MEMORY.md"
        assert any("Trips" in left for left in cut["left_out"])
        assert "left out of MEMORY.md: " in await it.text("/context")
        await it.text("用中文说")
        assert re.search(r"⚠ MEMORY\.md 省略了：## Trips：\d+ 段", await it.text("/context"))


async def test_a_fold_is_told_with_its_range_savings_file_and_reason(tmp_path: Path) -> None:
    async with inside(tmp_path, script, {"agent_max_context_turns": 6}) as it:
        await talk(it, 6)
        await it.bot.settled()
        facts = await facts_of(it)
        (fold,) = facts["folds"]  # type: ignore[misc]
        assert (fold["state"], fold["policy"], fold["reason"]) == ("folded", "balanced", "turns")
        assert fold["why"]["turns"] == fold["to_turn"]
        assert facts["live_turns"] == [fold["to_turn"] + 1, 6]
        assert facts["folding"] is None
        told = await it.text("/context")
        assert f"turns 1–{fold['to_turn']} · " in told
        assert fold["file"] in told
        assert "the turn limit was reached" in told


async def test_a_fold_under_way_is_among_the_facts_and_its_steps_are_shown(tmp_path: Path) -> None:
    async with inside(tmp_path, []) as it:
        model = Held(script, lambda request: request.purpose == "fold")
        it.bot.models.use(model)
        await talk(it, 4)
        asked = it.channel.hear("/context fold")
        await model.begun.wait()
        facts = await facts_of(it)
        assert facts["folding"]["state"] == "planned"  # type: ignore[index]
        assert (facts["folding"]["from_turn"], facts["folding"]["to_turn"]) == (1, 2)  # type: ignore[index]
        model.go_on.set()
        (answer,) = await it.answer(asked.key)
        assert "Folded turns 1–2 into memory/" in answer.text
        await it.channel.until(lambda: states(it)[-1:] == ["folded"])
        assert states(it) == ["planned", "summarised", "logged", "folded"]
        assert (await facts_of(it))["folding"] is None


def states(it: Inside) -> list[object]:
    return [event.facts["state"] for event in it.channel.shown if event.name == "fold"]


async def test_notices_of_a_fold_have_tokens_before_and_after_and_the_ratio(tmp_path: Path) -> None:
    async with inside(tmp_path, script, {"agent_max_context_turns": 6, "notify_folds": True}) as it:
        await talk(it, 6)
        await it.channel.until(lambda: sum(part.kind == "notice" for part in it.channel.sent) == 2)
        begun, done = [part.text for part in it.channel.sent if part.kind == "notice"]
        (fold,) = (await facts_of(it))["folds"]  # type: ignore[misc]
        before, after = fold["tokens_before"], fold["tokens_after"]
        assert begun == f"Folding the oldest {fold['to_turn']} turns: {before:,} tokens now…"
        assert f"{before:,} → {after:,} tokens ({round(100 * after / before)}%)." in done


@pytest.mark.parametrize(("name", "about"), POLICY_TEXTS.items())
async def test_a_policy_is_chosen_for_one_conversation_from_its_next_message_on(
    tmp_path: Path, name: str, about: Phrase
) -> None:
    async with inside(tmp_path, script) as it:
        await it.text("hello", chat="other")
        assert f"uses {name}: {about}" in await it.text(f"/policy {name.upper()}")
        await it.text("hello")
        facts, others = await facts_of(it), await facts_of(it, "other")
        assert (facts["policy"], facts["policy_own"]) == (name, True)
        assert (others["policy"], others["policy_own"]) == ("balanced", False)
        shown = await it.text("/policy")
        assert (
            f"**Policy** {name} (chosen for this conversation; the configured one is balanced)"
            in shown
        )
        assert [line for line in shown.splitlines() if "●" in line] == [f"- **{name}** ● — {about}"]
        assert "follows the configured policy: balanced" in await it.text("/policy default")
        assert (await facts_of(it))["policy_own"] is False


async def test_all_policies_are_explained_in_both_languages(tmp_path: Path) -> None:
    assert set(POLICY_TEXTS) == set(POLICIES)
    async with inside(tmp_path, script) as it:
        await it.text("用中文")
        shown = (await it.text("/policy")).splitlines()
        assert [line for line in shown if line.startswith("- ")] == [
            f"- {'**balanced** ●' if name == 'balanced' else name} — {about.text('zh')}"
            for name, about in POLICY_TEXTS.items()
        ]
        assert "没有 rollin 这个策略。你是不是想用 rolling？" in await it.text("/policy rollin")
        assert "本对话跟随设置" in await it.text("/policy 默认")


async def test_a_chosen_policy_decides_when_folds_are_made(tmp_path: Path) -> None:
    async with inside(tmp_path, script) as it:
        await it.text("/policy rolling", chat="rolls")
        for chat in ("rolls", "waits"):
            await talk(it, 6, chat)
        await it.bot.settled()
        rolls, waits = await facts_of(it, "rolls"), await facts_of(it, "waits")
        assert {fold["policy"] for fold in rolls["folds"]} == {"rolling"}  # type: ignore[attr-defined]
        assert waits["folds"] == []


async def test_a_number_of_a_policy_holds_from_the_next_message_of_every_session(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path, script, {"context_policy": "rolling"}) as it:
        await talk(it, 3)
        assert "saved" in await it.text("/config policies.rolling.every_messages 4")
        for chat in ("c1", "c2"):
            await talk(it, 3, chat)
            await it.bot.settled()
            assert (await facts_of(it, chat))["folds"]


async def test_the_next_fold_is_where_the_policy_says_it_is(tmp_path: Path) -> None:
    async with inside(tmp_path, script) as it:
        await talk(it, 2)
        assert "next fold at 37,500 tokens or after 20 turns" in await it.text("/context")
        await it.text("/policy rolling")
        shown = await it.text("/context")
        assert "after 10 new messages (now 4)" in shown
        await it.text("你好")
        assert "下次整理：满 10 条新消息（现 6）" in await it.text("/context")


def test_marks_are_told_in_both_languages() -> None:
    marks = [{"unit": "tokens", "now": 5, "at": 37_500}, {"unit": "messages", "now": 3, "at": 501}]
    assert format_triggers(marks, "en") == "at 37,500 tokens or at 501 messages"
    assert format_triggers(marks, "zh") == "到 37,500 个 token，或到 501 条消息"


CHOICE = CutChoice(
    turns=4,
    target=5,
    keep=0.7,
    adapted=("code",),
    candidates=(
        CutCandidate(turns=4, score=155, terms=(("base", 100), ("reply", 30), ("topic", 25))),
        CutCandidate(turns=5, score=100, terms=(("base", 100), ("reply", 30), ("error", -30))),
    ),
)


def test_why_a_cut_is_where_it_is_is_told_from_the_folds_row() -> None:
    why = load_cut_facts(dump_choice(CHOICE))
    assert why is not None
    assert (why["turns"], why["score"], why["candidates"]) == (4, 155, 2)
    assert format_cut_place(why, "en") == "after an answer, at a change of topic"
    assert format_cut_place(why, "zh") == "回答之后、话题转换处"
    assert format_cut_place({"terms": [["break", 20]]}, "en") == "at a natural break"
    assert format_cut(why, 4, "en") == (
        "Cut before turn 5, the best of 2 places (155 points: base +100, after an answer "
        "+30, change of topic +25); mostly code, so the aim was to keep 70%."
    )
    assert (
        "在第 5 轮之前分开：2 处里得分最高（155 分：基础 +100，回答之后 +30，话题转换 +25）"
        in format_cut(why, 4, "zh")
    )
    assert load_cut_facts("") is None
    assert load_cut_facts('{"of": "another kind"}') is None


def test_where_only_one_place_was_possible_no_score_is_told() -> None:
    why = load_cut_facts(dump_choice(replace(CHOICE, candidates=CHOICE.candidates[:1])))
    assert why is not None
    assert (
        format_cut(why, 4, "en")
        == "Cut before turn 5, the only possible place; mostly code, so the aim was to keep 70%."
    )
    assert (
        format_cut(why, 4, "zh")
        == "在第 5 轮之前分开：这是唯一能分开的地方；多为代码，目标保留 70%。"
    )
    assert format_cut_place(why, "en") == "at the only possible place"
    assert format_cut_place(why, "zh") == "唯一能分开的地方"


async def test_a_budget_that_is_too_small_is_told_in_the_persons_language(tmp_path: Path) -> None:
    async with inside(tmp_path, script) as it:
        (tmp_path / "workspace" / "SOUL.md").write_text("You are patient. " * 1_500)
        await it.text("你好")
        it.bot.file.set("agent_max_context_tokens", "4000")
        assert "上下文预算太小" in await it.text("/context")


def test_a_report_of_a_long_history_fits_a_phone() -> None:
    fold = {
        "from_turn": 1,
        "to_turn": 12,
        "tokens_before": 21_800,
        "tokens_after": 900,
        "method": "extract",
        "at": datetime(2026, 11, 20, 9, 12, tzinfo=UTC).isoformat(),
        "file": "memory/2026-11-20.md",
        "reason": "tokens",
        "why": None,
        "id": "01m85ey9dx49ea28kx93k0qtnv",
        "policy": "balanced",
    }
    facts = {
        "epoch": 3,
        "policy": "balanced",
        "tokens": 31_000,
        "max_tokens": 50_000,
        "turns": 9,
        "max_turns": 20,
        "next_fold": [
            {"unit": "tokens", "now": 1, "at": 37_500},
            {"unit": "turns", "now": 9, "at": 20},
        ],
        "budget": 43_000,
        "window": 200_000,
        "window_source": "default",
        "reserve": 4_096,
        "shortage": None,
        "parts": {"system": 3_100, "tools": 2_050, "summary": 900, "history": 24_950, "running": 0},
        "system_parts": [
            {"name": name, "tokens": 620, "left_out": []}
            for name in ("SOUL.md", "rules", "awareness", "MEMORY.md", "log")
        ],
        "summary_turns": 12,
        "messages": 31,
        "roles": {"user": 8, "assistant": 23},
        "characters": 51_200,
        "counter": {"name": "o200k", "factor": 1.02, "last_error_percent": 1.4},
        "cache_share": 0.83,
        "soul_tokens": 620,
        "folds": [fold] * 5,
        "folding": None,
        "model": "some-model-2026-11",
        "policy_own": False,
        "prefix_generation": 7,
        "live_turns": [13, 21],
    }
    for lang in ("zh", "en"):
        shown = format_context_report(facts, lang, UTC)
        assert max(len(line.replace("*", "")) for line in shown.splitlines()) <= 60
        assert "43,000" in shown
        assert "−96%" in shown
        assert "11-20 09:12 · memory/2026-11-20.md" in shown
        assert shown.count("11-20 09:12") == 3, "the newest ones"
        every = format_operator_report(facts, lang, UTC)
        assert max(len(line.replace("*", "")) for line in every.splitlines()) <= 60
        assert every.count("11-20 09:12") == every.count(fold["id"]) == 5
    assert "(of 12 turns)" in shown
    assert "- turns 1–12 · 21,800" in shown
    shown = format_context_report(
        {**facts, "summary_turns": 1, "folds": [{**fold, "to_turn": 1}]}, "en", UTC
    )
    assert "summary 900 (of 1 turn)" in shown
    assert "- turn 1 · 21,800" in shown


async def test_what_only_an_operator_understands_is_told_by_context_all(tmp_path: Path) -> None:
    operator = {
        "en": (
            "counter tiktoken × 1.00",
            "last error ",
            " from cache",
            "prefix generation ",
            "epoch 1",
            "model scripted",
        ),
        "zh": (
            "计数 tiktoken × 1.00",
            "上次误差 ",
            "缓存命中 ",
            "前缀第 ",
            "第 1 期",
            "模型 scripted",
        ),
    }
    person = {
        "en": ("messages 4 (user 2 · assistant 2), ", "system "),
        "zh": ("消息 4（用户 2 · 助手 2），", "系统 "),
    }
    async with inside(tmp_path, script) as it:
        await talk(it, 4)
        await it.text("/context fold")
        (fold,) = (await facts_of(it))["folds"]  # type: ignore[misc]
        for lang, command in (("en", "/context all"), ("zh", "/上下文 全部")):
            await it.text(f"/config language {lang}")
            plain, every = await it.text("/context"), await it.text(command)
            assert [word for word in (*operator[lang], fold["id"]) if word in plain] == []
            assert [
                word for word in (*operator[lang], fold["id"], *person[lang]) if word not in every
            ] == []
            assert [word for word in person[lang] if word not in plain] == []
            assert command in plain
        assert len(it.model.requests) == 5, "reading asks no model"
        shown = await it.text(
            next(line for line in plain.splitlines() if "/memory show" in line).rpartition("：")[2]
        )
        assert "fact 0" in shown


def test_reading_is_not_an_act() -> None:
    reads = ("context", "context all", "context diff", "config", "config language", "policy")
    acts = ("context clear", "config language zh", "policy turns", "context fold")
    assert [
        line for line in reads if is_mutating(*(line.partition(" ")[0], line.partition(" ")[2]))
    ] == []
    assert [line for line in acts if not is_mutating(*line.split(maxsplit=1))] == []


async def test_context_reads_beside_a_running_turn(tmp_path: Path) -> None:
    async with inside(tmp_path, []) as it:
        model = Held(script, lambda request: "wait" in words(request))
        it.bot.models.use(model)
        waiting = it.channel.hear("wait")
        await model.begun.wait()
        async with asyncio.timeout(2):
            facts = await facts_of(it)
        assert facts["parts"]["running"] > 0  # type: ignore[index]
        assert (facts["turns"], facts["live_turns"]) == (0, [])
        model.go_on.set()
        assert (await it.answer(waiting.key))[0].text == "re: wait"
        assert isinstance(model.turns[-1].messages[0].parts[0], Text)


SUMMARY = "## Facts and preferences\n- The user's locker is 4711."


def facts_script(request: Request) -> str:
    if request.purpose == "fold":
        return folded("- The user's locker is 4711. The gate opens at 06:30.", SUMMARY)
    return "Noted."


async def test_diff_tells_what_the_newest_fold_kept_and_what_it_left(tmp_path: Path) -> None:
    async with inside(tmp_path, facts_script) as it:
        for said in ("My locker is 4711.", "The gate opens at 06:30.", "Nice weather", "Bye"):
            await it.text(said)
        await it.text("/context fold")
        (fold,) = (await facts_of(it))["folds"]  # type: ignore[misc]
        shown = await it.text("/context diff")
        kept, left = shown.split("**In the summary**")[1].split("**In the archive only**")
        assert "My locker is 4711." in kept
        assert "My locker is 4711." not in left
        assert "The gate opens at 06:30." in left
        assert "turn 2" in left
        assert "**The newest fold** · turns 1–2" in shown
        assert f"{fold['tokens_before']:,} → {fold['tokens_after']:,} tokens" in shown
        assert "\n\nWhy: requested with /context fold." in shown
        await it.text("用中文")
        told = await it.text("/context diff")
        assert "**最近一次整理** · 第 1–2 轮" in told
        assert "**留在摘要里** 1\n- 第 1 轮" in told
        assert "为什么：由 /上下文 整理 触发。" in told


def busy_script(request: Request) -> str | ToolCall:
    """Writes a file, or edits one that is not there, when the newest words ask for it."""
    if request.purpose == "fold":
        return folded("- The person wanted notes.", "- The person wanted notes.")
    number, newest = f"t{len(request.messages)}", request.messages[-1].parts[0]
    if newest == Text(text="write"):
        return call("write_file", number, path="notes/roses.md", content="water")
    if newest == Text(text="edit"):
        return call("edit_file", number, path="no/such.md", old="a", new="b")
    return "Done."


async def test_diff_counts_what_the_fold_covers(tmp_path: Path) -> None:
    async with inside(tmp_path, busy_script) as it:
        for said in ("write", "edit", "rest", "rest"):
            await it.text(said)
        conversation = await it.conversation()
        await it.bot.folding.run(
            plan_oldest_turns(await it.bot.store.sessions.load(conversation), "test", "balanced", 3)
        )
        covered = (await it.text("/context diff")).split("**What it covers**\n")[1].split("\n\n")[0]
        assert covered.splitlines() == [
            "- messages: 3 from people, 3 from me",
            "- tools: edit_file ×1, write_file ×1",
            "- files: `notes/roses.md`, `no/such.md`",
            "- failed calls: edit_file ×1",
        ]
        await it.text("用中文")
        told = (await it.text("/context diff")).split("**包含**\n")[1].split("\n\n")[0]
        assert told.splitlines() == [
            "- 消息：用户 3 条，我 3 条",
            "- 工具：edit_file ×1、write_file ×1",
            "- 文件：`notes/roses.md`、`no/such.md`",
            "- 失败的调用：edit_file ×1",
        ]


async def test_diff_shows_twenty_items_and_counts_the_rest(tmp_path: Path) -> None:
    async with inside(tmp_path, facts_script) as it:
        for number in range(4):
            await it.text(
                " ".join(
                    f"Room {number}{room} costs {room * 7 + 100} euros." for room in range(1, 16)
                )
            )
        await it.text("/context fold")
        lines = (await it.text("/context diff")).splitlines()
        items = [line for line in lines if line.startswith("- turn ")]
        assert len(items) == 20
        (rest,) = [line for line in lines if line.startswith("- … and ")]
        assert int(rest.split()[3]) == 30 - 20


async def test_a_folds_cut_is_explained_by_diff(tmp_path: Path) -> None:
    async with inside(tmp_path, script, {"agent_max_context_turns": 6}) as it:
        await talk(it, 6)
        await it.bot.settled()
        shown = await it.text("/context diff")
        (fold,) = (await facts_of(it))["folds"]  # type: ignore[misc]
        assert (
            f"Why: the turn limit was reached. Cut before turn {fold['to_turn'] + 1}, the best of "
            in shown
        )


async def test_diff_is_not_an_act_and_asks_no_model(tmp_path: Path) -> None:
    async with inside(tmp_path, script, PRIVATE, Channel(name="telegram", account="bot")) as it:
        await it.text("hello", chat="team", sender="ann", kind="group")
        asked = len(it.model.requests)
        shown = await it.text("/context diff", chat="team", sender="ann", kind="group")
        assert shown == "Nothing is folded in this conversation yet."
        assert len(it.model.requests) == asked


@pytest.mark.parametrize(("sender", "may"), [("boss", True), ("ann", False)])
async def test_only_who_may_set_context_keys_chooses_a_policy_and_all_users_may_look(
    tmp_path: Path, sender: str, may: bool
) -> None:
    async with inside(tmp_path, script, PRIVATE, Channel(name="telegram", account="bot")) as it:
        assert "**Policy** balanced" in await it.text("/policy", chat=sender, sender=sender)
        told = await it.text("/policy rolling", chat=sender, sender=sender)
        assert ("uses rolling" in told, "not available" in told) == (may, not may)
        row = await it.bot.store.sessions.conversation(await it.conversation(sender))
        assert row is not None
        assert row.policy == ("rolling" if may else "")
