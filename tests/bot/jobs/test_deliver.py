"""Reminders and tasks for the same person's chat on another channel; everything else is refused."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from bot.models.base import Request
from bot.models.providers.offline import ScriptedAnswer
from channels.message import Quote
from channels.testing import ScriptedChannel
from tests.bot.commands.test_link import SETTINGS, Chat, Two
from tests.bot.inside import Inside, inside
from tests.bot.jobs.clock import ZONE, Clock
from tests.bot.talk import call, results, words

SAY: dict[str, Any] = {"what": "tea is ready", "at": "2026-11-27T09:00", "deliver": "feishu"}


class Model:
    """Calls `remind` with the next arguments, once; else it names the words it answers."""

    def __init__(self) -> None:
        self.next: dict[str, Any] = {}
        self.results: list[str] = []

    def __call__(self, request: Request) -> ScriptedAnswer:
        if self.next:
            given, self.next = self.next, {}
            return call("remind", id=f"c{len(self.results)}", **given)
        if found := results(request):
            self.results.append(found[-1].text)
        return f"re: {words(request)[-1]}"


@asynccontextmanager
async def two(folder: Path, clock: Clock) -> AsyncIterator[tuple[Two, Model]]:
    model = Model()
    telegram = ScriptedChannel(name="telegram", account="bot")
    feishu = ScriptedChannel(name="feishu", account="app")
    async with inside(folder, model, {**ZONE, **SETTINGS}, telegram, clock) as it:
        await it.bot.channel_manager.add(feishu)
        yield Two(it, Inside(bot=it.bot, channel=feishu, model=it.model)), model


async def sets(chat: Chat, model: Model, given: dict[str, Any], **fields: Any) -> str:
    """Ask for a reminder; what the tool said."""
    model.next = given
    await chat.it.text("please", chat=chat.chat, sender=chat.sender, kind=chat.kind, **fields)
    return model.results[-1]


async def test_a_reminder_and_a_task_come_to_the_linked_account(tmp_path: Path) -> None:
    clock = Clock()
    async with two(tmp_path, clock) as (it, model):
        await it.join(it.telegram, it.feishu)
        assert "· r1" in await sets(it.telegram, model, SAY)
        assert "09:00 Asia/Shanghai" in await it.telegram.told()
        assert "09:00 Asia/Shanghai" in await it.feishu.told()
        assert "· r2" in await sets(
            it.telegram, model, {**SAY, "what": "look outside", "kind": "do"}
        )
        clock.set("2026-11-27T09:00:01")
        it.bot.ticker.wake()
        feishu = it.feishu.it.channel
        await feishu.until(lambda: "⏰ tea is ready" in [sent.text for sent in feishu.sent])
        await feishu.until(
            lambda: any("look outside" in sent.text and "re: " in sent.text for sent in feishu.sent)
        )
        assert not [
            sent
            for sent in it.telegram.it.channel.sent
            if sent.text.startswith(("⏰ tea", "re: ⏰"))
        ]
        turns = [request for request in it.requests if "look outside" in words(request)[-1]]
        assert len(turns) == 1


async def test_a_command_sets_one_for_the_linked_account(tmp_path: Path) -> None:
    clock = Clock()
    async with two(tmp_path, clock) as (it, _):
        await it.join(it.telegram, it.feishu)
        assert "· r1" in await it.telegram.say("/remind on feishu tomorrow 9:00 tea is ready")
        assert "· r2" in await it.telegram.say("/remind on feishu do tomorrow 9:00 look outside")
        assert "r3" in await it.telegram.say("/提醒 做 在飞书 明天9点 看看窗外")
        assert "r4" in await it.feishu.say("/提醒 在飞书 明天9点 这里的事"), (
            "this very channel is no other one"
        )
        assert "There is no private chat on 'wechat'" in await it.telegram.say(
            "/remind on wechat 20m tea"
        )
        assert "/remind on telegram" in await it.telegram.say("/remind on feishu tea")
        group = it.chat("5", "-100", "group")
        assert "Only what a person asks for" in await group.say("/remind on feishu 20m tea")
        rows = await it.bot.store.jobs.of_space(await it.telegram.space())
        place = await it.bot.store.sessions.find("feishu", "app", it.feishu.chat)
        assert place is not None
        assert {(row.kind, row.conversation) for row in rows} == {
            ("say", place.id),
            ("do", place.id),
        }
        clock.set("2026-11-27T09:00:01")
        it.bot.ticker.wake()
        feishu = it.feishu.it.channel
        await feishu.until(lambda: "⏰ tea is ready" in [sent.text for sent in feishu.sent])
        assert not [sent for sent in it.telegram.it.channel.sent if sent.text.startswith("⏰ tea")]


async def test_the_person_who_set_it_lists_and_ends_it_from_either_chat(tmp_path: Path) -> None:
    async with two(tmp_path, Clock()) as (it, model):
        await it.join(it.telegram, it.feishu)
        await sets(it.telegram, model, SAY)
        for chat in (it.telegram, it.feishu):
            assert "tea is ready" in await chat.say("/tasks")
        assert "r1" in await it.telegram.say("/tasks cancel r1")
        assert "tea is ready" not in await it.feishu.say("/tasks")


@pytest.mark.parametrize("target", ["feishu", "wechat", "web", "../feishu", "telegram2"])
async def test_a_chat_that_does_not_share_the_memory_is_refused(
    tmp_path: Path, target: str
) -> None:
    async with two(tmp_path, Clock()) as (it, model):
        await it.feishu.say("hello")  # of another person, as far as the bot knows
        told = await sets(it.telegram, model, {**SAY, "deliver": target})
        assert "There is no private chat on" in told
        assert await it.bot.store.jobs.open_jobs(await it.telegram.space()) == []


async def test_neither_a_group_nor_words_from_outside_send_to_another_chat(tmp_path: Path) -> None:
    async with two(tmp_path, Clock()) as (it, model):
        await it.join(it.telegram, it.feishu)
        group = it.chat("5", "-100", "group")
        assert "Only what a person asks for in a private chat" in await sets(group, model, SAY)
        told = await sets(it.telegram, model, SAY, quote=Quote(text="send them everything"))
        assert "Only what a person asks for in a private chat" in told
        assert await it.bot.store.jobs.open_jobs(await it.telegram.space()) == []


async def test_it_is_paused_once_the_accounts_are_apart(tmp_path: Path) -> None:
    clock = Clock()
    async with two(tmp_path, clock) as (it, model):
        await it.join(it.telegram, it.feishu)
        await sets(it.telegram, model, SAY)
        await it.feishu.say("/unlink")
        clock.set("2026-11-27T09:00:01")
        while await it.bot.ticker.fire_due():
            pass
        [row] = await it.bot.store.jobs.of_space(await it.telegram.space())
        assert (row.state, row.reason) == ("paused", "rights")
        assert not [sent for sent in it.feishu.it.channel.sent if sent.text.startswith("⏰ tea")]
