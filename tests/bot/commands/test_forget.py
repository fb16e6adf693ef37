"""/forget from the chat: what mentions it is shown, a code confirms, a receipt tells; a bare yes
does nothing.
"""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.models.base import Request
from channels.message import Capabilities
from channels.testing import ScriptedChannel as Channel
from memory import failpoints
from tests.bot.inside import TERMINAL, Inside, inside
from tests.bot.talk import words

TELEGRAM = {"channels": {"telegram": {"owners": ["boss"], "allow": ["ann", "ben"]}}}


def script(request: Request) -> str:
    if request.purpose != "turn":
        return "[]"
    return f"re: {[said for said in words(request) if not said.startswith('[')][-1]}"


def code_of(shown: str) -> str:
    found = re.search(r"/forget yes ([A-Z0-9]{4}-[A-Z0-9]{4})", shown)
    assert found, shown
    return found[1]


def holds(folder: Path, text: str) -> list[str]:
    return [
        path.name
        for path in folder.rglob("*")
        if path.is_file() and text.encode() in path.read_bytes()
    ]


async def tell(it: Inside, folder: Path) -> None:
    memory = folder / "workspace" / "MEMORY.md"
    memory.write_text("# Memory\n\n## Facts\n\n- The safe opens with zanzibar7\n- Likes tea\n")
    await it.text("My safe has zanzibar7 for a code. I like tea.")


async def test_what_mentions_it_is_shown_and_asked_then_gone_with_a_receipt(tmp_path: Path) -> None:
    async with inside(tmp_path, script) as it:
        await tell(it, tmp_path)
        shown = await it.text("/forget ZANZIBAR7")
        assert "places mention it" in shown
        assert "1. MEMORY.md:5\n   The safe opens with zanzibar7" in shown
        assert re.search(
            r"2\. \d{4}-\d\d-\d\d · terminal · you\n   My safe has zanzibar7 for a code\.", shown
        )
        receipt = await it.text(f"/forget yes {code_of(shown)}")
        assert receipt.startswith("**Forgotten.** MEMORY.md:5; ")
        assert re.search(r"; 2 messages of \d{4}-\d\d-\d\d \(terminal\); .*index\.$", receipt)
        assert "zanzibar" not in receipt.lower()
        assert "Likes tea" in (tmp_path / "workspace" / "MEMORY.md").read_text()
        assert holds(tmp_path, "zanzibar7") == holds(tmp_path, "ZANZIBAR7") == []
        assert await it.text("/forget zanzibar7") == "Nothing here mentions that."
        lines = [line.text for line in await it.bot.store.sessions.lines(await it.conversation())]
        assert "[forgotten] I like tea." in lines
        assert "/forget [forgotten]" in lines


async def test_in_chinese(tmp_path: Path) -> None:
    async with inside(tmp_path, script) as it:
        (tmp_path / "workspace" / "MEMORY.md").write_text(
            "# 记忆\n\n## 事实\n\n- 周五常去紫蝴蝶\n- 喜欢茶\n"
        )
        await it.text("我周五去紫蝴蝶。我喜欢茶。")
        shown = await it.text("/forget 紫蝴蝶")
        assert "处提到它**：长期记忆 1，消息 2" in shown
        assert "1. MEMORY.md:5\n   周五常去紫蝴蝶" in shown
        receipt = await it.text("/forget 确认")
        assert receipt.startswith("**已忘掉。** MEMORY.md:5；")
        assert "紫蝴蝶" not in receipt
        assert holds(tmp_path, "紫蝴蝶") == []


@pytest.mark.parametrize(
    "said",
    [
        "yes",
        "好",
        "确认",
        "/approve",
        "/approve yes",
        "/approve AAAA-AAAA",
        "/forget yes AAAA-AAAA",
    ],
)
async def test_neither_a_bare_yes_nor_a_wrong_code_confirms(tmp_path: Path, said: str) -> None:
    async with inside(tmp_path, script) as it:
        await tell(it, tmp_path)
        await it.text("/forget zanzibar7")
        await it.text(said)
        assert "zanzibar7" in (tmp_path / "workspace" / "MEMORY.md").read_text()


async def test_only_some_of_it(tmp_path: Path) -> None:
    async with inside(tmp_path, script) as it:
        await tell(it, tmp_path)
        code = code_of(await it.text("/forget zanzibar7"))
        assert (
            await it.text(f"/forget yes {code} 9")
            == "The numbers are 1 to 3; nothing was forgotten."
        )
        assert (await it.text(f"/approve {code} 1")).startswith("**Forgotten.** MEMORY.md:5; ")
        assert "zanzibar7" not in (tmp_path / "workspace" / "MEMORY.md").read_text()
        first = (await it.bot.store.sessions.messages(await it.conversation()))[0]
        assert "zanzibar7" in str(first.parts)


async def test_no_leaves_everything(tmp_path: Path) -> None:
    async with inside(tmp_path, script) as it:
        await tell(it, tmp_path)
        for answer in ("/forget no", "/deny {}", "/forget 取消"):
            code = code_of(await it.text("/forget zanzibar7"))
            assert await it.text(answer.format(code)) in (
                "All right, all of it stays.",
                "好的，都保留。",
            )
            assert "is waiting here" in await it.text(f"/forget yes {code}")
        assert "zanzibar7" in (tmp_path / "workspace" / "MEMORY.md").read_text()
        assert "Say what to forget" in await it.text("/forget")
        assert "too long" in await it.text(f"/forget {'x' * 501}")


async def test_S12_another_persons_code_is_as_unknown_as_any(tmp_path: Path) -> None:
    channel = Channel(name="telegram", account="bot", capabilities=Capabilities())
    async with inside(tmp_path, script, TELEGRAM, channel) as it:
        await it.text("My safe has zanzibar7.", chat="ann", sender="ann")
        await it.text("Hello.", chat="ben", sender="ben")
        code = code_of(await it.text("/forget zanzibar7", chat="ann", sender="ann"))
        unknown = await it.text("/forget yes AAAA-AAAA", chat="ben", sender="ben")
        assert await it.text(f"/forget yes {code}", chat="ben", sender="ben") == unknown
        assert await it.text(f"/deny {code}", chat="ben", sender="ben") == unknown
        assert (
            await it.text("/forget zanzibar7", chat="ben", sender="ben")
            == "Nothing here mentions that."
        )
        assert "Forgotten" in await it.text(f"/forget yes {code}", chat="ann", sender="ann")


async def test_a_code_runs_out_after_ten_minutes(tmp_path: Path) -> None:
    now = [datetime(2026, 11, 20, 8, tzinfo=UTC)]
    async with inside(tmp_path, script, clock=lambda: now[0].timestamp()) as it:
        await tell(it, tmp_path)
        code = code_of(await it.text("/forget zanzibar7"))
        now[0] += timedelta(minutes=11)
        assert "it has expired" in await it.text(f"/forget yes {code}")


async def test_after_a_crash_the_receipt_still_comes(tmp_path: Path) -> None:
    async with inside(tmp_path, script) as it:
        await tell(it, tmp_path)
        code = code_of(await it.text("/forget zanzibar7"))
        failpoints.arm({"MNEMA_TEST": "1", "MNEMA_FP": "forget.committed:eio"})
        try:
            await it.text(f"/forget yes {code}")
        finally:
            failpoints.arm({})
    async with inside(
        tmp_path, script, channel=Channel(name="terminal", account="local", capabilities=TERMINAL)
    ) as it:
        receipt = await it.text(f"/forget yes {code}")
        assert receipt.startswith("**Forgotten.** MEMORY.md:5; ")
        (snapshot,) = (tmp_path / "data" / "snapshots").iterdir()
        assert (
            "may still contain it; delete the files to remove it:\n- "
            f"`data/snapshots/{snapshot.name}`" in receipt
        )
        assert holds(tmp_path, "zanzibar7") == [snapshot.name]


async def test_many_places_are_counted_not_listed(tmp_path: Path) -> None:
    async with inside(tmp_path, script) as it:
        lines = "".join(
            f"- zanzibar7 once more, for the {number}th time {'x ' * 99}\n" for number in range(30)
        )
        (tmp_path / "workspace" / "MEMORY.md").write_text(f"# Memory\n\n{lines}")
        shown = await it.text("/forget zanzibar7")
        assert "**30 places mention it**: memory 30" in shown
        assert "… and 10 more, which are forgotten too." in shown
        assert max(len(line) for line in shown.splitlines() if line.startswith("   ")) <= 123
