"""Commands approved for good: they run without a question in clean turns of the same space, until
that is revoked.
"""

import asyncio
import json
from pathlib import Path
from typing import Any

from bot.models.providers.offline import Script
from channels.message import Capabilities
from channels.testing import ScriptedChannel
from memory.store.automation.approval_rules import MAX_RULES, NewApprovalRule
from memory.store.rows import Party
from tests.bot.inside import Inside
from tests.bot.talk import call, results
from tests.bot.tools.exec.sandboxed import needs_sandbox
from tests.bot.tools.exec.test_exec_in_bot import CODE, WAITING, approve, ask, code, files_of, owned

MAKE = ("sh", "-c", "echo made >> made.txt")


def made(it: Inside) -> int:
    path = files_of(it) / "made.txt"
    return len(path.read_text().splitlines()) if path.exists() else 0


def exec_call(*argv: str, **more: Any) -> Any:
    return call("exec", argv=list(argv), **more)


async def run_in(it: Inside, chat: str) -> str:
    """Have the model call once more in a chat of its own; the result that it sees."""
    await it.text("please", chat=chat)
    await it.bot.settled()
    return results(it.model.requests[-1])[-1].text


@needs_sandbox
async def test_always_makes_a_rule_that_a_clean_turn_follows_until_it_is_revoked(
    tmp_path: Path,
) -> None:
    script: Script = [exec_call(*MAKE), "asked", "seen", *[exec_call(*MAKE), "ok"] * 3]
    async with owned(tmp_path, script) as it:
        await ask(it)
        told = await approve(it, f"{code(it)} always")
        assert "Rule 1 saved" in told
        assert made(it) == 1
        assert "exit code 0" in await run_in(it, "c2")
        assert made(it) == 2
        shown = await it.text("/approvals", chat="c3")
        assert "1. " in shown
        assert "echo made" in shown
        assert WAITING in await run_in(it, "c2"), (
            "the output of the command is in view, so it is asked"
        )
        assert "echo made" not in await it.text("/approvals revoke 1", chat="c3")
        assert "no rule 1" in await it.text("/approvals revoke 1", chat="c3")
        assert WAITING in await run_in(it, "c4")
        assert made(it) == 2


def questions(it: Inside) -> int:
    """How many questions for an approval were asked."""
    return sum(bool(CODE.search(sent.text)) for sent in it.channel.sent)


@needs_sandbox
async def test_a_rule_for_a_command_that_reads_is_used_ten_times_in_four_chats_without_a_question(
    tmp_path: Path,
) -> None:
    """Its own output is in view from the second use in a chat on, and does not end the rule."""
    count, chats = exec_call("wc", "-l", "notes.txt"), ("c1", "c2", "c3", "c4")
    async with owned(tmp_path, [count, "asked", "seen", *[count, "ok"] * 14]) as it:
        (files_of(it) / "notes.txt").write_text("milk\nbread\neggs\n")
        await ask(it)
        assert "Rule 1 saved" in await approve(it, f"{code(it)} always")
        for use in range(10):
            printed = await run_in(it, chats[use % 4])
            assert "exit code 0" in printed, use
            assert "3 notes.txt" in printed, use
        assert questions(it) == 1, "the one that made the rule"
        await it.text("/approvals revoke 1", chat="c5")
        for chat in chats:
            assert WAITING in await run_in(it, chat), chat
        assert questions(it) == 5


@needs_sandbox
async def test_a_prefix_covers_what_begins_with_it_here_and_never_a_shell(tmp_path: Path) -> None:
    first = exec_call("cat", "a.txt")
    others = [
        exec_call("cat", "b.txt"),
        exec_call("env", "cat", "b.txt"),
        exec_call("cat", "b.txt\n"),
        exec_call("cat", "b.txt", cwd="files/sub"),
    ]
    script: Script = [first, "asked", "seen", *[step for one in others for step in (one, "ok")]]
    async with owned(tmp_path, script) as it:
        root = files_of(it)
        (root / "sub").mkdir()
        for name in ("a.txt", "b.txt"):
            (root / name).write_text(f"in {name}")
        await ask(it)
        assert "3 words" not in await approve(it, f"{code(it)} always 1")
        assert "in b.txt" in await run_in(it, "c2")
        for chat in ("c3", "c4", "c5"):
            assert WAITING in await run_in(it, chat), chat


@needs_sandbox
async def test_a_swapped_script_and_words_from_outside_are_asked_for_again(tmp_path: Path) -> None:
    run = exec_call("sh", "job.sh")
    async with owned(tmp_path, [run, "asked", "seen", run, "ok", run, "ok"]) as it:
        job = files_of(it) / "job.sh"
        job.write_text("echo made >> made.txt")
        await ask(it)
        refused = await approve(it, f"{code(it)} always 1")
        assert "word for word" in refused
        assert made(it) == 0
        await approve(it, f"{code(it)} 总是")
        assert made(it) == 1
        job.write_text("echo made >> made.txt; echo evil")
        assert WAITING in await run_in(it, "c2")
        job.write_text("echo made >> made.txt")
        await run_in(it, "c3")
        assert made(it) == 2


@needs_sandbox
async def test_what_was_asked_for_beside_words_from_outside_is_approved_once_only(
    tmp_path: Path,
) -> None:
    async with owned(
        tmp_path, [exec_call(*MAKE), "asked", "seen", exec_call(*MAKE), "asked", "seen"]
    ) as it:
        await ask(it)
        await approve(it)
        assert " always`" not in await ask(it, "again")
        assert "once only" in await approve(it, f"{code(it)} always")
        assert made(it) == 1
        await approve(it)
        assert made(it) == 2


@needs_sandbox
async def test_the_third_button_makes_a_rule_once(tmp_path: Path) -> None:
    settings = {"tools": {"exec": {"enabled": True}}, "channels": {"telegram": {"owners": ["7"]}}}
    channel = ScriptedChannel(name="telegram", account="b", capabilities=Capabilities(buttons=True))
    async with owned(
        tmp_path, [exec_call(*MAKE), "asked", "seen"], settings, channel=channel
    ) as it:
        await it.say("please", chat="7", sender="7")
        await it.bot.settled()
        [buttons] = [sent.buttons for sent in it.channel.sent if sent.buttons]
        assert [button.text for button in buttons] == ["Approve", "Deny", "Always"]
        press: dict[str, Any] = {
            "chat": "7",
            "sender": "7",
            "act": "press",
            "target": buttons[2].data,
        }
        twice = await asyncio.gather(it.text("", **press), it.text("", **press))
        await it.bot.settled()
        assert sum("Rule 1 saved" in told for told in twice) == 1
        assert made(it) == 1
        assert len(await it.bot.store.access.rules("", it.bot.store.now())) == 1


async def test_there_are_fifty_rules_at_most_and_equal_ones_are_one(tmp_path: Path) -> None:
    async with owned(tmp_path, ["hi"]) as it:
        access, now = it.bot.store.access, it.bot.store.now()
        party = Party(channel="terminal", account="local", subject="user", id="u")
        rules = [
            NewApprovalRule(
                space="", party=party, tool="exec", command=json.dumps([n]), cwd="/w", level="A"
            )
            for n in range(MAX_RULES + 1)
        ]
        assert MAX_RULES == 50
        for rule in rules[:MAX_RULES]:
            assert await access.add_rule(rule)
        assert await access.add_rule(rules[MAX_RULES]) is None
        again = await access.add_rule(rules[0])
        assert again
        assert again.number == 1
        assert len(await access.rules("", now)) == MAX_RULES
        assert await access.rules("other", now) == []
        assert await access.rules("", now + 30 * 86_400 + 60) == []
        await access.revoke("terminal", "u", "test")
        assert await access.rules("", now) == [], "they end with the rights of who made them"
