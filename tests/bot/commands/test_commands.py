"""Every command, given in a whole bot: in Chinese and in English, at once or in line, and only to
who may give it.
"""

import asyncio
import json
from pathlib import Path

import pytest

from bot.models.base import Request
from channels.testing import ScriptedChannel as Channel
from tests.bot.inside import QUIET, Inside, inside
from tests.bot.talk import Held, call, words

COMMANDS = (
    "help",
    "status",
    "whoami",
    "stop",
    "retry",
    "usage",
    "context",
    "new",
    "config",
    "model",
    "policy",
    "export",
    "link",
    "unlink",
    "memory",
    "remember",
    "forget",
    "pair",
    "approve",
    "deny",
    "approvals",
    "trace",
    "remind",
    "tasks",
    "heartbeat",
    "skills",
    "skill",
    "mcp",
    "tools",
)


def echo(request: Request) -> str:
    return f"re: {[text for text in words(request) if not text.startswith('[')][-1]}"


async def daily_log(it: Inside) -> str:
    await it.bot.settled()
    return "".join(
        path.read_text() for path in sorted((it.bot.home.workspace / "memory").glob("*.md"))
    )


async def test_help_lists_every_command_in_the_language_of_the_conversation(tmp_path: Path) -> None:
    async with inside(tmp_path, echo) as it:
        english = await it.text("/help")
        assert {line.split()[0] for line in english.splitlines()} == {
            f"/{name}" for name in COMMANDS
        }
        await it.text("你好")
        chinese = await it.text("/help")
        assert "查看所有命令" in chinese
        assert english.count("\n") == chinese.count("\n")
        assert all("\u4e00" <= line.split("— ")[1][0] <= "\u9fff" for line in chinese.splitlines())


async def test_help_explains_one_command_however_it_is_spelled(tmp_path: Path) -> None:
    async with inside(tmp_path, echo) as it:
        for word in ("remind", "/remind", "提醒"):
            explained = await it.text(f"/help {word}")
            assert "/remind" in explained
            assert "/提醒" in explained
            assert len(explained.splitlines()) == 2
        assert "There is no command /rmind" in await it.text("/help rmind")


# A command, and a part of its answer in Chinese and in English.
ANSWERS = [
    ("/status", "已运行", "up "),
    ("/whoami", "角色 owner", "role owner"),
    ("/stop", "没有正在进行", "Nothing is running"),
    ("/retry", "没有可以重试", "no message to retry"),
    ("/usage", "今天", "today"),
    ("/context", "上下文", "Context"),
    ("/context sideways", "不认识", "not “sideways”"),
    ("/context fold", "太短", "too little"),
    ("/context undo", "没有可以撤销", "no fold or clear to undo"),
    ("/context clear", "已清空上下文", "The context is clear"),
    ("/new", "新的对话", "A new conversation"),
    ("/config agent_max_steps", "agent_max_steps = 15", "agent_max_steps = 15"),
    ("/config agent_max_step", "没有 agent_max_step 这个键", "agent_max_step is not a key"),
    ("/model", "本对话的模型", "The model here"),
    ("/policy", "**策略** balanced（来自设置）", "**Policy** balanced (as configured)"),
    ("/policy turnz", "你是不是想用 turns", "Did you mean turns"),
    (
        "/policy default",
        "跟随设置里的策略：balanced",
        "follows the configured policy: balanced",
    ),
    ("/context diff", "还没有整理过", "Nothing is folded"),
    ("/export", "没有可以导出", "nothing to export"),
    ("/start", "查看所有命令", "list all commands"),
    ("/contxt", "你是不是想用：/context", "Did you mean /context"),
    ("/zzzz", "没有 /zzzz 这个命令", "There is no command /zzzz"),
]


@pytest.mark.parametrize("lang", ["zh", "en"])
async def test_a_command_answers_in_the_language_that_is_set(tmp_path: Path, lang: str) -> None:
    async with inside(tmp_path, [], {"language": lang}) as it:
        for at, (command, zh, en) in enumerate(ANSWERS):
            assert (zh if lang == "zh" else en) in await it.text(command, chat=f"c{at}"), command
        assert not it.model.requests


async def test_an_unknown_command_never_reaches_the_model_but_a_path_does(tmp_path: Path) -> None:
    async with inside(tmp_path, echo) as it:
        assert "/status" in await it.text("/statsu now")
        assert not it.model.requests
        assert await it.text("/etc/hosts is what?") == "re: /etc/hosts is what?"


async def test_the_figures_of_context_add_up(tmp_path: Path) -> None:
    async with inside(tmp_path, echo) as it:
        for number in range(6):
            await it.text(f"question {number}")
        await it.text("/context fold")
        facts = await it.bot.report.facts(await it.conversation())
        assert facts["tokens"] == sum(facts["parts"].values())
        assert facts["turns"] == 3
        assert facts["messages"] == 6 == sum(facts["roles"].values())
        assert facts["parts"]["running"] == 0
        assert min(facts["parts"][name] for name in ("system", "tools", "summary", "history")) > 0
        (fold,) = facts["folds"]
        assert (fold["from_turn"], fold["to_turn"]) == (1, 3)
        assert (tmp_path / "workspace" / fold["file"]).is_file()
        assert facts["summary_turns"] == 3


async def test_context_fits_a_phone_and_its_bars_stand_under_each_other(tmp_path: Path) -> None:
    async with inside(tmp_path, echo) as it:
        for number in range(4):
            await it.text(f"第 {number} 个问题：今天讲什么？")
        await it.text("/context fold")
        shown = await it.text("/context")
        lines = shown.splitlines()
        bars = [line for line in lines if line.startswith("`")]
        assert len(bars) == 6
        assert {line.index("`", 1) for line in bars} == {11}
        assert max(len(line.replace("*", "")) for line in lines) <= 48
        assert "**整理** 1 次" in lines
        assert "第 1–2 轮" in shown
        assert f"{it.bot.now():%m-%d %H:}" in shown, "the hour is the person's"


async def test_a_fold_is_taken_back_by_undo_and_its_log_entry_says_so(tmp_path: Path) -> None:
    async with inside(tmp_path, echo) as it:
        for number in range(4):
            await it.text(f"fact {number}")
        assert "Folded turns 1–2" in await it.text("/context fold")
        await it.text("four")
        assert not any(text == "fact 0" for text in words(it.model.requests[-1]))
        assert "turns 1–2 are back" in await it.text("/context undo")
        await it.text("five")
        assert words(it.model.requests[-1])[:2] == ["fact 0", "re: fact 0"]
        assert " undone -->" in await daily_log(it)
        assert "no fold or clear to undo" in await it.text("/context undo")


async def test_a_clear_hides_what_came_before_and_undo_brings_it_back_with_what_came_since(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path, echo) as it:
        await it.text("the old secret")
        await it.text("/context clear")
        await it.text("since then")
        assert "the old secret" not in words(it.model.requests[-1])
        await it.text("/context undo")
        await it.text("now")
        said = words(it.model.requests[-1])
        assert said.index("the old secret") < said.index("since then") < said.index("now")


async def test_undo_takes_back_the_newest_act_first(tmp_path: Path) -> None:
    async with inside(tmp_path, echo) as it:
        for number in range(4):
            await it.text(f"fact {number}")
        await it.text("/context fold")
        await it.text("/context clear")
        assert "clear is undone" in await it.text("/context undo")
        assert "turns 1–2 are back" in await it.text("/context undo")
        assert not await it.bot.store.folds.check_ledger()


async def test_new_logs_what_was_there_and_starts_an_empty_epoch(tmp_path: Path) -> None:
    async with inside(tmp_path, echo) as it:
        await it.text("my locker is 4711")
        before = (await it.bot.report.facts(await it.conversation()))["epoch"]
        assert "(1 turn)" in await it.text("/new")
        facts = await it.bot.report.facts(await it.conversation())
        assert (facts["epoch"], facts["turns"]) == (before + 1, 0)
        assert "4711" in await daily_log(it)
        await it.text("what was it?")
        assert not any("4711" in text for text in words(it.model.requests[-1]))


async def test_two_new_ones_in_a_row_are_both_logged_though_the_summariser_hangs(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path, []) as it:
        model = Held(echo, lambda request: request.purpose == "fold")
        it.bot.models.use(model)
        for fact in ("locker 4711", "badge 0815"):
            await it.text(fact)
            await it.text("/new")
        model.go_on.set()
        log = await daily_log(it)
        assert "4711" in log
        assert "0815" in log


async def test_retry_answers_the_newest_question_again(tmp_path: Path) -> None:
    answers = iter(["first", "better", "best"])
    async with inside(tmp_path, lambda _: next(answers)) as it:
        assert await it.text("why?") == "first"
        assert await it.text("/retry") == "better"
        assert words(it.model.requests[-1]).count("why?") == 2
        assert await it.text("/retry") == "best"


async def test_usage_tells_what_this_model_was_given_and_gave(tmp_path: Path) -> None:
    async with inside(tmp_path, echo) as it:
        await it.text("hello")
        told = await it.text("/usage")
        assert "scripted · answers" in told
        assert told.count("tokens") == 3


async def test_status_counts_the_conversations_at_work_and_not_itself(tmp_path: Path) -> None:
    async with inside(tmp_path, []) as it:
        model = Held(echo, lambda request: "wait" in words(request))
        it.bot.models.use(model)
        assert "active conversations 0" in await it.text("/status", chat="other")
        it.channel.hear("wait")
        await model.begun.wait()
        assert "active conversations 1" in await it.text("/status", chat="other")
        assert "active conversations 1" in await it.text("/status")
        model.go_on.set()


async def test_exports_of_one_second_are_two_files_with_every_message(tmp_path: Path) -> None:
    async with inside(tmp_path, echo) as it:
        await it.text("你好")
        await it.text("/context clear")
        told = [await it.text("/export"), await it.text("/export")]
        files = sorted((tmp_path / "workspace" / "exports").glob("*.jsonl"))
        assert len(files) == 2
        assert all(any(path.name in text for text in told) for path in files)
        head, *record = [json.loads(line) for line in files[0].read_text().splitlines()]
        assert head["session"]["id"] == await it.conversation()
        assert [(row["role"], row["parts"][0]["text"]) for row in record] == [
            ("user", "你好"),
            ("assistant", "re: 你好"),
        ]


async def test_an_export_that_cannot_be_written_is_told_and_the_conversation_goes_on(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path, echo) as it:
        await it.text("hello")
        (tmp_path / "workspace" / "exports").write_text("a file stands where the folder should be")
        assert "did not work" in await it.text("/export")
        assert await it.text("still there?") == "re: still there?"


async def test_another_model_is_chosen_for_this_conversation_only(tmp_path: Path) -> None:
    async with inside(tmp_path, echo) as it:
        assert "other-1 answers" in await it.text("/model other-1")
        await it.text("hello")
        await it.text("hello", chat="c2")
        assert [request.model for request in it.model.requests] == ["other-1", "scripted"]
        assert "scripted answers" in await it.text("/model default")
        await it.text("hello")
        assert it.model.requests[-1].model == "scripted"


@pytest.mark.parametrize(
    ("wrong", "zh", "en"),
    [
        ("agent_max_context_turns many", "整数", "whole number"),
        ("agent_max_context_tokens -5", "之间", "from"),
        ("context_policy clever", "turns", "turns"),
    ],
)
async def test_a_wrong_value_is_refused_with_what_would_be_right(
    tmp_path: Path, wrong: str, zh: str, en: str
) -> None:
    async with inside(tmp_path, echo) as it:
        before = (tmp_path / "config.json").read_text()
        assert en in await it.text(f"/config {wrong}")
        await it.text("用中文")
        assert zh in await it.text(f"/config {wrong}")
        assert (tmp_path / "config.json").read_text() == before


async def test_a_setting_holds_from_the_next_message_of_every_session_and_in_the_file(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path, echo) as it:
        for chat in ("a", "b"):
            for number in range(5):
                await it.text(f"fact {number}", chat=chat)
        assert "saved" in await it.text("/config agent_max_context_turns 4", chat="a")
        assert json.loads((tmp_path / "config.json").read_text()) == {
            **QUIET,
            "agent_max_context_turns": 4,
        }
        for chat in ("a", "b"):
            await it.text("one more", chat=chat)
            await it.bot.settled()
            await it.text("and another", chat=chat)
            assert "fact 0" not in words(it.model.requests[-1])
            assert (await it.bot.report.facts(await it.conversation(chat)))["max_turns"] == 4


async def test_urgent_commands_overtake_a_running_turn(tmp_path: Path) -> None:
    async with inside(tmp_path, []) as it:
        model = Held(echo, lambda request: "wait" in words(request))
        it.bot.models.use(model)
        waiting = it.channel.hear("wait")
        await model.begun.wait()
        async with asyncio.timeout(2):
            for command in ("/help", "/status", "/whoami", "/usage"):
                assert await it.text(command)
        assert not it.parts(waiting.key)
        model.go_on.set()
        assert (await it.answer(waiting.key))[0].text == "re: wait"


@pytest.mark.parametrize("command", ["/context clear", "/CONTEXT  Clear", "/new"])
async def test_a_clear_during_a_turn_ends_it_first(tmp_path: Path, command: str) -> None:
    async with inside(tmp_path, []) as it:
        model = Held(echo, lambda request: "wait" in words(request))
        it.bot.models.use(model)
        waiting = it.channel.hear("wait")
        await model.begun.wait()
        async with asyncio.timeout(2):
            await it.text(command)
            assert (await it.answer(waiting.key))[0].text == "Stopped."
        await it.text("what now?")
        assert "wait" not in words(model.requests[-1])
        assert not await it.bot.store.folds.check_ledger()


TELEGRAM = {"channels": {"telegram": {"owners": ["boss"], "allow": ["ann", "team"]}}}


def telegram() -> Channel:
    return Channel(name="telegram", account="bot")


async def test_a_stranger_is_ignored_and_not_a_word_is_kept(tmp_path: Path) -> None:
    async with inside(tmp_path, echo, TELEGRAM, telegram()) as it:
        for text in ("let me in, xyzzy", "/help xyzzy", "/new"):
            it.channel.hear(text, chat="eve", sender="eve")
        await it.text("hello", chat="boss", sender="boss")
        await it.bot.settled()
        (code,) = [part.text for part in it.channel.sent if part.address.chat_id == "eve"]
        assert "scripted" not in code
        assert len(it.model.requests) == 1
        assert [row.place.chat_id for row in await it.bot.store.sessions.conversations()] == [
            "boss"
        ]
    assert b"xyzzy" not in b"".join(
        path.read_bytes() for path in (tmp_path / "data").rglob("*") if path.is_file()
    )


async def test_a_user_has_a_space_and_rights_of_their_own(tmp_path: Path) -> None:
    script = [call("write_file", path="mine.txt", content="ann was here"), "done"]
    async with inside(tmp_path, script, TELEGRAM, telegram()) as it:
        assert await it.text("note it", chat="ann", sender="ann") == "done"
        assert (
            tmp_path / "workspace" / "spaces" / "telegram-ann" / "mine.txt"
        ).read_text() == "ann was here"
        assert "role user" in await it.text("/whoami", chat="ann", sender="ann")
        shown = await it.text("/help", chat="ann", sender="ann")
        assert "/new" in shown
        assert "/config" not in shown
        for command in ("/config agent_max_steps 3", "/config", "/model other", "/policy turns"):
            assert "not available" in await it.text(command, chat="ann", sender="ann")
        assert it.bot.config().agent_max_steps == 15
        assert "terminal" not in await it.text("/status", chat="ann", sender="ann")


async def test_the_log_of_a_user_is_in_their_space_and_undo_marks_it_there(tmp_path: Path) -> None:
    async with inside(tmp_path, echo, TELEGRAM, telegram()) as it:
        for number in range(4):
            await it.text(f"fact {number}", chat="ann", sender="ann")
        assert "spaces/telegram-ann/memory/" in await it.text(
            "/context fold", chat="ann", sender="ann"
        )
        await it.text("/context undo", chat="ann", sender="ann")
        (log,) = (tmp_path / "workspace" / "spaces" / "telegram-ann" / "memory").glob("*.md")
        assert " undone -->" in log.read_text()
        assert not list((tmp_path / "workspace" / "memory").glob("*.md"))


async def test_the_owner_sets_context_keys_in_any_private_chat_and_others_only_at_home(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path, echo, TELEGRAM, telegram()) as it:
        assert "saved" in await it.text("/config agent_max_steps 3", chat="boss", sender="boss")
        assert "not available" in await it.text("/config concurrency 3", chat="boss", sender="boss")
        assert it.bot.config().agent_max_steps == 3


async def test_in_a_group_only_what_is_addressed_is_answered(tmp_path: Path) -> None:
    async with inside(tmp_path, echo, TELEGRAM, telegram()) as it:
        it.channel.hear(
            "among ourselves, xyzzy", chat="team", sender="bob", kind="group", addressed=False
        )
        assert await it.text("hello", chat="team", sender="bob", kind="group") == "re: hello"
        assert not any("xyzzy" in text for text in words(it.model.requests[-1]))
        row = await it.bot.store.sessions.conversation(await it.conversation("team"))
        assert row is not None
        assert row.place.space == "telegram-group-team"


@pytest.mark.parametrize(
    ("sender", "may", "may_not"),
    [
        ("bob", {"/help", "/whoami"}, {"/context", "/new"}),
        ("ann", {"/context", "/usage"}, {"/new", "/config"}),
    ],
)
async def test_in_a_group_guests_and_users_are_offered_only_what_they_may(
    tmp_path: Path, sender: str, may: set[str], may_not: set[str]
) -> None:
    async with inside(tmp_path, echo, TELEGRAM, telegram()) as it:

        async def say(text: str) -> str:
            return await it.text(text, chat="team", sender=sender, kind="group")

        await say("hello all")
        offered = {line.split()[0] for line in (await say("/help")).splitlines()}
        assert may <= offered
        assert not may_not & offered
        for command in ("/new", "/context clear", "/context undo"):
            assert "not available" in await say(command)
        assert (await it.bot.store.sessions.load(await it.conversation("team"))).epoch == 1


async def test_the_owner_may_clear_the_context_of_a_group(tmp_path: Path) -> None:
    async with inside(tmp_path, echo, TELEGRAM, telegram()) as it:
        await it.text("hello all", chat="team", sender="boss", kind="group")
        assert "/new" in await it.text("/help", chat="team", sender="boss", kind="group")
        assert "context is clear" in await it.text(
            "/context clear", chat="team", sender="boss", kind="group"
        )


async def test_whoever_was_taken_from_the_list_is_refused_though_their_message_waits(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path, [], TELEGRAM, telegram()) as it:
        model = Held(echo, lambda request: "wait" in words(request))
        it.bot.models.use(model)
        it.channel.hear("wait", chat="ann", sender="ann", key="first")
        await model.begun.wait()
        second = it.channel.hear("and this?", chat="ann", sender="ann", key="second")
        await it.channel.until(lambda: "second" in it.channel.confirmed)
        it.bot.file.set("channels.telegram.allow", '["team"]')
        model.go_on.set()
        assert "not available" in (await it.answer(second.key))[0].text
        assert len(model.requests) == 1
