"""Commands by their Chinese names, and names that nobody knows: in any script they are answered,
never sent.
"""

from pathlib import Path

from bot.commands.router import COMMANDS, nearest_commands
from bot.console.routes import list_page_commands
from bot.messages import Admission, ends_turn, is_language_evidence, parse_command, to_inbox_row
from bot.models.base import Request
from tests.bot.inside import inside
from tests.bot.talk import words
from tests.bot.test_messages import message
from tests.cases import every_case

CHINESE = {
    "help": "帮助",
    "status": "状态",
    "whoami": "我是谁",
    "stop": "停止",
    "retry": "重试",
    "usage": "用量",
    "context": "上下文",
    "new": "新对话",
    "memory": "记忆",
    "remember": "记住",
    "policy": "策略",
    "config": "配置",
    "model": "模型",
    "export": "导出",
    "link": "关联",
    "unlink": "取消关联",
    "forget": "忘记",
    "pair": "配对",
    "approve": "批准",
    "deny": "拒绝",
    "approvals": "审批",
    "trace": "追踪",
    "remind": "提醒",
    "tasks": "任务",
    "heartbeat": "心跳",
    "skills": "技能",
    "skill": "用技能",
    "mcp": "外接工具",
    "tools": "工具",
}


def test_every_command_has_a_chinese_name_of_its_own() -> None:
    assert {name: command.name_zh for name, command in COMMANDS.items()} == CHINESE
    for command, zh in CHINESE.items():
        assert parse_command(f"/{zh}") == parse_command(f"／{zh} ") == (command, "")
        usage = COMMANDS[command].usage
        assert bool(usage.text("en")) == bool(usage.text("zh"))


@every_case(
    ("typed", "meant"),
    [
        ("/上下文 清空", ("context", "clear")),
        ("／上下文　折叠", ("context", "fold")),
        ("/上下文 整理", ("context", "fold")),
        ("/上下文 撤销", ("context", "undo")),
        ("/context 对比", ("context", "diff")),
        ("/记忆 搜索 绿茶 和 咖啡", ("memory", "search 绿茶 和 咖啡")),
        ("/记忆　查看　MEMORY.md", ("memory", "show MEMORY.md")),
        ("/记忆 为什么 3", ("memory", "why 3")),
        ("/memory 撤销", ("memory", "undo")),
        ("/模型 默认", ("model", "default")),
        ("/帮助@mnema_bot", ("help", "")),
        ("/记住 清空 回收站", ("remember", "清空 回收站")),
        ("/忘记 搜索 历史", ("forget", "搜索 历史")),
        ("／ＨＥＬＰ", ("help", "")),
        ("/新会话", ("new", "")),
        ("/设置 language zh", ("config", "language zh")),
        ("/Помощь сейчас", ("помощь", "сейчас")),
        ("/सहायता", ("सहायता", "")),
        ("/می‌خواهم", ("می‌خواهم", "")),
        ("/etc/passwd 是什么", None),
        ("/上/下", None),
        ("/ 5", None),
        ("/5", None),
        ("//", None),
        ("/", None),
        ("/你好，请问", None),
        ("/👍", None),
    ],
)
def test_names_in_any_script_are_commands_and_paths_are_not(
    typed: str, meant: tuple[str, str] | None
) -> None:
    assert parse_command(typed) == meant


def test_chinese_commands_overtake_the_queue_and_end_turns_as_the_english_ones_do() -> None:
    assert to_inbox_row(message("/停止"), (), Admission(space=""), 0.0).urgent
    assert to_inbox_row(message("／状态"), (), Admission(space=""), 0.0).kind == "command"
    assert ends_turn("/新对话")
    assert ends_turn("/上下文 清空")
    assert not ends_turn("/上下文 整理")


@every_case(
    ("typed", "meant"),
    [
        ("帮忙", "帮助"),
        ("上下问", "上下文"),
        ("新会", "新对话"),
        ("清空", "上下文 清空"),
        ("折叠", "上下文 整理"),
        ("clear", "context clear"),
        ("记住我对花生过敏", "记住"),
        ("statsu", "status"),
    ],
)
def test_the_nearest_name_is_found_in_both_languages(typed: str, meant: str) -> None:
    assert nearest_commands(typed, COMMANDS)[0] == meant


def test_what_is_near_to_nothing_has_no_nearest_name() -> None:
    assert nearest_commands("zzzz", COMMANDS) == nearest_commands("天气预报", COMMANDS) == []


def test_only_english_names_tell_nothing_of_the_writers_language() -> None:
    assert not is_language_evidence("/status")
    assert not is_language_evidence(" /remember 我喜欢茶")
    assert is_language_evidence("/状态")
    assert is_language_evidence("你好")


def echo(request: Request) -> str:
    return f"re: {[text for text in words(request) if not text.startswith('[')][-1]}"


async def test_chinese_commands_do_what_the_english_ones_do(tmp_path: Path) -> None:
    async with inside(tmp_path, echo) as it:
        shown = await it.text("/帮助")
        assert "/上下文 [全部|清空|整理|撤销|对比]（/context） — 查看模型读到的内容" in shown
        assert all(f"/{zh}" in shown for zh in CHINESE.values())
        await it.text("今天喝绿茶")
        await it.text("明天喝咖啡")
        assert "上下文" in await it.text("/上下文")
        assert "已整理" in await it.text("/上下文 折叠")
        assert "又回到上下文" in await it.text("/上下文 撤销")
        assert "已清空上下文" in await it.text("/上下文 清空")
        assert "记住了" in await it.text("/记住 我对花生过敏")
        assert "我对花生过敏" in await it.text("/记忆 搜索 花生")
        assert "花生" in await it.text("/记忆 查看")
        assert "角色 owner" in await it.text("/我是谁")
        assert not [
            text for request in it.model.requests for text in words(request) if text.startswith("/")
        ]


async def test_an_unknown_name_of_any_script_is_answered_with_the_nearest_and_never_sent(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path, echo) as it:
        assert await it.text("/帮忙 我") == "没有 /帮忙 这个命令。你是不是想用：/帮助？"
        assert await it.text("／天气预报") == "没有 /天气预报 这个命令。用 /帮助 查看全部命令。"
        assert "/记住" in await it.text("/记住我对花生过敏")
        assert "there is no command /помощь" in (await it.text("/Помощь")).lower()
        assert len(await it.text(f"/{'a' * 50_000}")) < 200
        assert not it.model.requests
        assert await it.text("/etc/passwd 是什么") == "re: /etc/passwd 是什么"


async def test_after_a_chinese_command_an_english_one_is_answered_in_chinese(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path, echo) as it:
        await it.text("/帮助")
        assert "角色 owner" in await it.text("/whoami")


def test_the_page_offers_chinese_names_to_who_reads_chinese() -> None:
    assert [one["name"] for one in list_page_commands("en")] == list(CHINESE)
    assert [one["name"] for one in list_page_commands("zh")] == [*CHINESE.values(), *CHINESE]
    assert list_page_commands("zh")[6]["usage"] == "[全部|清空|整理|撤销|对比]"
