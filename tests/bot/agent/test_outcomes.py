"""The outcome of a call is the program's message under the tool's name; it stands for nothing that
a person wrote.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from bot.memory.export import load_lines
from bot.messages import MessageBody, dump_body, load_body
from memory.context.taint import OUTCOME_LABEL
from memory.conversation import Text
from memory.store.conversations.inbox import accept
from memory.store.engine.database import Tx
from memory.store.rows import NewInboxRow
from tests.bot.inside import Inside, inside
from tests.bot.talk import words


async def told(it: Inside, body: Mapping[str, Any] | str, key: str = "approval:1") -> None:
    """Give the bot an outcome as its message arrives, and wait for the model's answer."""
    row = await it.bot.store.sessions.conversation(await it.conversation())
    assert row is not None
    text = body if isinstance(body, str) else json.dumps(body)
    arrival = NewInboxRow(
        place=row.place, key=key, kind="message", sender_id="u1", body=text, by_program=True
    )

    async def store(tx: Tx) -> None:
        await accept(tx, [arrival])

    answers = len(it.channel.sent)
    await it.bot.store.database.write(store)
    await it.channel.until(lambda: len(it.channel.sent) > answers)
    await it.bot.settled()


OUTCOME = dump_body(
    MessageBody(text="", outcome="approved by the person: done\nthe tide is low", tool="exec")
)
# As ed4b8f97 stored it.
FORMER = {"text": "", "outcome": "exec, approved by the person: done\nthe tide is low",
          "shown": "exec, approved by the person: done"}  # fmt: skip


@pytest.mark.parametrize("body", [OUTCOME, FORMER], ids=["stored now", "stored before"])
async def test_it_is_a_notice_of_its_tool_in_the_list_and_in_an_export(
    tmp_path: Path, body: Any
) -> None:
    async with inside(tmp_path, ["hello", "low tide, I see"]) as it:
        await it.text("hi there")
        await told(it, body)
        conversation = await it.conversation()
        lines = await it.bot.store.sessions.lines(conversation)
        assert [(line.role, line.tool, line.text) for line in lines] == [
            ("user", "", "hi there"),
            ("assistant", "", "hello"),
            ("notice", "exec", "approved by the person: done"),
            ("assistant", "", "low tide, I see"),
        ]
        assert lines[3].reply_to == lines[2].id
        exported = [line async for line in load_lines(it.bot.store, conversation)]
        assert [(line["role"], line["origin"], line.get("tool")) for line in exported] == [
            ("user", "person", None),
            ("assistant", "model", None),
            ("notice", "tool", "exec"),
            ("assistant", "model", None),
        ]
        [shown] = [text for text in words(it.model.requests[-1]) if "the tide is low" in text]
        assert shown == "approved by the person: done\nthe tide is low"
        [part] = it.model.requests[-1].messages[-1].parts[:1]
        assert isinstance(part, Text)
        assert part.shown.startswith(f"[{OUTCOME_LABEL}] exec: approved by the person: done")


async def test_retry_answers_the_person_s_newest_words_again(tmp_path: Path) -> None:
    async with inside(tmp_path, ["hello", "low tide, I see", "hello again"]) as it:
        await it.text("hi there")
        await told(it, OUTCOME)
        assert await it.text("/retry") == "hello again"
        assert words(it.model.requests[-1])[-2:][0] == "hi there"


def test_a_body_of_before_names_its_tool_when_it_is_read() -> None:
    for outcome, tool, text in [
        (
            "exec, approved by the person: not done\nno",
            "exec",
            "approved by the person: not done\nno",
        ),
        ("s__say, approved by the person: done\nhi", "s__say", "approved by the person: done\nhi"),
        ("Ended: w1 done\n\n[w1] ls\n[exit code 0, 0.1 s]\nhi", "exec", None),
        ("Ended: w1 lost\n\n[w1] ls\nThe program ended while it ran; nobody knows", "exec", None),
        ("Ended: w1 done, w2 done\n\n[w1] look\nIt is there.", "delegate", None),
    ]:
        body = load_body(json.dumps({"text": "", "outcome": outcome}))
        assert (body.tool, body.outcome) == (tool, text or outcome)
        assert load_body(dump_body(body)) == body
