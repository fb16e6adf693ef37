"""Feishu over real sockets: each failure is mapped to its error, and replies go to the right
message.
"""

import asyncio
import logging
import socket
from collections.abc import AsyncIterator
from typing import Any

import pytest

from channels.errors import (
    Ambiguous,
    AttachmentTooBig,
    BadFormat,
    ChannelError,
    LoggedOut,
    Rejected,
    Retryable,
)
from channels.feishu.channel import Feishu
from channels.feishu.client import PermissionMissing, error_for_code
from channels.feishu.settings import FeishuSettings
from channels.message import Address, OutboundFile, OutboundMessage
from tests.channels.feishu.stage import SEND, FeishuStage
from tests.contracts.channel_stage import Inbox, Pages, listening
from tests.emulators.feishu import APP_ID, SECRET, FeishuEmulator

DM, GROUP = "oc_p2p_ou_u1", "oc_group"


@pytest.fixture
async def emulator() -> AsyncIterator[FeishuEmulator]:
    async with FeishuEmulator() as served:
        yield served


@pytest.fixture
async def feishu(emulator: FeishuEmulator) -> AsyncIterator[Feishu]:
    made = FeishuStage(emulator).channel
    made.bind(Pages())
    yield made
    await made.close()


def part(text: str = "hi", chat: str = DM, thread: str = "", **fields: Any) -> OutboundMessage:
    address = Address(channel="feishu", account=APP_ID, chat_id=chat, thread_id=thread)
    told = {"id": "o1", "client_key": "k1", **fields}
    return OutboundMessage(address=address, text=text, **told)


async def refusal(feishu: Feishu, message: OutboundMessage) -> ChannelError:
    with pytest.raises(ChannelError) as refused:
        await feishu.send(message)
    assert SECRET not in str(refused.value)
    return refused.value


@pytest.mark.parametrize(
    ("code", "error"),
    [
        (99991543, LoggedOut),
        (99991662, LoggedOut),
        (99991673, LoggedOut),
        (99991672, PermissionMissing),
        (99991676, PermissionMissing),
        (99991679, PermissionMissing),
        (230027, PermissionMissing),
        (99991400, Retryable),
        (230020, Retryable),
        (11232, Retryable),
        (99992402, BadFormat),
        (230001, BadFormat),
        (230025, BadFormat),
        (230099, BadFormat),
        (230002, Rejected),
        (230013, Rejected),
        (234002, Rejected),
        (14005, Rejected),
        (777, Rejected),
    ],
)
async def test_each_code_has_its_meaning(
    emulator: FeishuEmulator, feishu: Feishu, code: int, error: type[ChannelError]
) -> None:
    emulator.fault("refuse", path=SEND, code=code, text="why not", times=1)
    refused = await refusal(feishu, part())
    assert type(refused) is error or (error is Rejected and isinstance(refused, Rejected))
    assert f"({code})" in str(refused)
    assert "why not" in str(refused)
    assert getattr(refused, "gone", False) == (code in (230002, 230013))
    assert getattr(refused, "whole_channel", False) == (code == 11232)
    assert emulator.sent() == []


def test_what_a_code_means_beside_a_bad_status() -> None:
    assert isinstance(error_for_code(4711, "x", status=500), Ambiguous)
    assert isinstance(error_for_code(4711, "x", status=429), Retryable)
    for reset, seconds in (
        ("7", 7.0),
        ("", 1.0),
        ("soon", 1.0),
        ("-3", 1.0),
        ("nan", 1.0),
        ("1e99", 1.0),
    ):
        early = error_for_code(99991400, "x", reset=reset)
        assert isinstance(early, Retryable)
        assert early.retry_after == seconds


@pytest.mark.parametrize("http", [429, 400])
async def test_too_many_calls_are_known_under_either_status(
    emulator: FeishuEmulator, feishu: Feishu, http: int
) -> None:
    emulator.fault("too_many", path=SEND, seconds=9, http=http, times=1)
    early = await refusal(feishu, part())
    assert isinstance(early, Retryable)
    assert (early.retry_after, early.whole_channel) == (9, False)


@pytest.mark.parametrize(
    ("http", "body"),
    [(200, "{}"), (200, "[]"), (200, '{"code":"0"}'), (500, '{"code":0}'), (200, "")],
)
async def test_sent_is_never_said_of_an_odd_answer(
    emulator: FeishuEmulator, feishu: Feishu, http: int, body: str
) -> None:
    emulator.fault("status", path=SEND, http=http, body=body, times=1)
    assert isinstance(await refusal(feishu, part()), Ambiguous)


async def test_an_answer_without_an_id_is_none(emulator: FeishuEmulator, feishu: Feishu) -> None:
    emulator.fault("status", path=SEND, http=200, body='{"code":0,"data":{}}', times=1)
    assert isinstance(await refusal(feishu, part()), Ambiguous)


async def test_a_server_that_is_not_there_has_surely_got_nothing() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        settings = FeishuSettings(
            app_id="a", app_secret="b", domain=f"http://127.0.0.1:{unused.getsockname()[1]}"
        )
        feishu = Feishu(settings)
        refused = await refusal(feishu, part())
        assert isinstance(refused, Retryable)
        assert refused.whole_channel
        await feishu.close()


async def test_without_a_token_nothing_was_sent(emulator: FeishuEmulator, feishu: Feishu) -> None:
    for action in ("html_502", "accept_then_drop"):
        emulator.fault(action, path="tenant_access_token", times=1)  # type: ignore[arg-type]
        assert isinstance(await refusal(feishu, part()), Retryable)
    await feishu.send(part())


async def test_many_sends_fetch_one_token(emulator: FeishuEmulator, feishu: Feishu) -> None:
    emulator.fault("delay", path="tenant_access_token", seconds=0.05, times=1)
    await asyncio.gather(*(feishu.send(part(client_key=f"k{number}")) for number in range(20)))
    assert len(emulator.wire_log("tenant_access_token")) == 1
    emulator.world.expire_tokens()
    await asyncio.gather(*(feishu.send(part(client_key=f"l{number}")) for number in range(20)))
    assert len(emulator.wire_log("tenant_access_token")) == 2
    assert len(emulator.sent()) == 40


async def test_a_token_that_never_holds_needs_the_owner(
    emulator: FeishuEmulator, feishu: Feishu
) -> None:
    emulator.fault("refuse", path=SEND, code=99991663)
    assert isinstance(await refusal(feishu, part()), LoggedOut)
    assert len(emulator.wire_log(SEND[:15])) == 2


async def test_an_answer_in_a_group_replies_and_further_parts_do_not(
    emulator: FeishuEmulator, feishu: Feishu
) -> None:
    inbox = Inbox()
    async with listening(feishu, inbox):
        asked = emulator.inject("x", chat=GROUP)["message_id"]
        await inbox.until(1)
    for number in range(2):
        await feishu.send(
            part("a", GROUP, reply_to_key=asked, part_no=number, client_key=f"k{number}")
        )
    assert [one.reply_to for one in emulator.sent(GROUP)] == [asked, ""]


async def test_between_two_people_nothing_is_a_reply(
    emulator: FeishuEmulator, feishu: Feishu
) -> None:
    inbox = Inbox()
    async with listening(feishu, inbox):
        asked = emulator.inject("x")["message_id"]
        await inbox.until(1)
    await feishu.send(part(reply_to_key=asked))
    assert [one.reply_to for one in emulator.sent()] == [""]


async def test_in_a_topic_every_part_and_every_notice_stays_in_it(
    emulator: FeishuEmulator, feishu: Feishu
) -> None:
    inbox = Inbox()
    emulator.world.chat(GROUP, mode="topic")
    async with listening(feishu, inbox):
        asked = emulator.inject("x", chat=GROUP)["message_id"]
        (heard,) = await inbox.until(1)
        thread = heard.address.thread_id
        feishu.bind(Pages(**inbox.pages))
    for number, key in enumerate((asked, asked, "")):
        await feishu.send(
            part("a", GROUP, thread, reply_to_key=key, part_no=number, client_key=f"k{number}")
        )
    assert [(one.thread, one.reply_to) for one in emulator.sent()] == [(thread, asked)] * 3
    assert {call.body["reply_in_thread"] for call in emulator.wire_log("/reply")} == {True}


@pytest.mark.parametrize("state", ["recalled", "deleted"])
async def test_an_answer_to_what_was_taken_back_arrives_all_the_same(
    emulator: FeishuEmulator, feishu: Feishu, state: Any
) -> None:
    asked = emulator.inject("x", chat=GROUP)["message_id"]
    emulator.world.recall(asked, state)
    await feishu.send(part("still", GROUP, reply_to_key=asked))
    assert [(one.text, one.reply_to) for one in emulator.sent()] == [("still", "")]


async def test_a_file_and_its_words_are_sent_once_though_the_answer_is_lost(
    emulator: FeishuEmulator, feishu: Feishu
) -> None:
    file = OutboundFile(name="notes.txt", media_type="text/plain", data=b"12")
    message = part("as you asked", file=file, kind="media")
    for nth in (1, 2):
        emulator.fault("accept_then_drop", path=SEND, nth=nth, times=1)
        assert isinstance(await refusal(feishu, message), Ambiguous)
    await feishu.send(message)
    assert [(one.kind, one.text) for one in emulator.sent()] == [
        ("file", ""),
        ("interactive", "as you asked"),
    ]
    emulator.fault("accept_then_drop", path="/im/v1/files", times=1)
    assert isinstance(await refusal(feishu, message), Retryable)
    emulator.world.scopes_missing.add("im:resource")
    with pytest.raises(Rejected, match="im:resource"):
        await feishu.send(message)


async def test_fetching_stops_at_the_most_and_asks_for_a_fresh_token(
    emulator: FeishuEmulator, feishu: Feishu
) -> None:
    emulator.world.files["file_k"] = ("résumé 表.pdf", b"x" * 5000)
    id = emulator.inject(kind="file", content={"file_key": "file_k", "file_name": "a"})[
        "message_id"
    ]
    ref = f"{id}/file/file_k"
    await feishu.send(part())
    emulator.world.expire_tokens()
    fetched = await feishu.fetch(ref, 5000)
    assert (fetched.data, fetched.name) == (b"x" * 5000, "résumé 表.pdf")
    with pytest.raises(AttachmentTooBig):
        await feishu.fetch(ref, 4999)
    with pytest.raises(Rejected, match="234002"):
        await feishu.fetch(ref.replace("file_k", "file_z"), 10)
    with pytest.raises(Rejected, match="not a file of Feishu"):
        await feishu.fetch("../../etc/passwd", 10)
    for action in ("html_502", "close_before_reply"):
        emulator.fault(action, path="/resources/", times=1)  # type: ignore[arg-type]
        with pytest.raises(Ambiguous):
            await feishu.fetch(ref, 5000)


async def test_who_speaks_in_a_group_has_a_name_once_it_is_known(
    emulator: FeishuEmulator, feishu: Feishu
) -> None:
    inbox = Inbox()
    emulator.world.names |= {f"ou_{number:04}": f"person {number}" for number in range(150)}
    async with listening(feishu, inbox):
        emulator.inject("first", chat=GROUP, user="ou_u2")
        await emulator.until(lambda: len(emulator.wire_log("/members")) == 2)
        async with asyncio.timeout(10):
            while not inbox.stored or not inbox.stored[-1].sender.name:
                emulator.inject("and more", chat=GROUP, user="ou_u2")
                await inbox.until(len(inbox.stored) + 1)
        count = len(inbox.stored)
        emulator.inject("last", chat=GROUP, user="ou_who_joined_later")
        await inbox.until(count + 1)
    assert [message.sender.name for message in inbox.stored[-2:]] == ["王芳", ""]
    assert len(emulator.wire_log("/members")) == 2


async def test_a_group_has_the_title_that_an_event_told_also_after_a_restart(
    emulator: FeishuEmulator, feishu: Feishu
) -> None:
    inbox = Inbox()
    async with listening(feishu, inbox):
        emulator.inject("before", chat=GROUP)
        await inbox.until(1)
        emulator.world.added(GROUP)
        await inbox.until(2)
        emulator.inject("after", chat=GROUP)
        await inbox.until(3)
        renamed = {"chat_id": GROUP, "after_change": {"name": "Tea"}}
        emulator.world.tell("im.chat.updated_v1", renamed)
        emulator.inject("renamed", chat=GROUP)
        await inbox.until(4)
    again = FeishuStage(emulator).channel
    again.bind(Pages(**inbox.pages))
    async with listening(again, inbox):
        emulator.inject("after a restart", chat=GROUP)
        await inbox.until(5)
    await again.close()
    titles = [message.chat_title for message in inbox.stored]
    assert titles == ["", "Lab", "Lab", "Tea", "Tea"]


async def test_in_a_group_a_quotation_bears_the_id_of_who_wrote_it(
    emulator: FeishuEmulator, feishu: Feishu
) -> None:
    inbox = Inbox()
    async with listening(feishu, inbox):
        theirs = emulator.inject("I pay", chat=GROUP, user="ou_u2")["message_id"]
        await inbox.until(1)
        emulator.inject("really?", chat=GROUP, parent=theirs)
        await inbox.until(2)
        emulator.world.recall(theirs)
        await inbox.until(3)
        emulator.inject("and now?", chat=GROUP, parent=theirs)
        await inbox.until(4)
        private = emulator.inject("alone")["message_id"]
        await inbox.until(5)
        emulator.inject("hm", parent=private)
        await inbox.until(6)
    quotes = [message.quote for message in inbox.stored]
    assert quotes[0] is None
    assert quotes[1] is not None
    assert (quotes[1].text, quotes[1].author_id, quotes[1].ours) == ("I pay", "ou_u2", False)
    assert quotes[2:] == [None, None, None, None]


async def test_without_the_permission_people_have_no_names_and_nothing_else_is_lost(
    emulator: FeishuEmulator, feishu: Feishu
) -> None:
    inbox = Inbox()
    emulator.world.scopes_missing.add("im:chat.members")
    async with listening(feishu, inbox):
        emulator.inject("first", chat=GROUP)
        await emulator.until(lambda: bool(emulator.wire_log("/members")))
        emulator.inject("second", chat="oc_another")
        await inbox.until(2)
        emulator.inject("third", chat="oc_another")
        await inbox.until(3)
    assert len(emulator.wire_log("/members")) <= 2


async def test_doctor_learns_who_we_are(emulator: FeishuEmulator, feishu: Feishu) -> None:
    assert await feishu.probe() == f"Lab bot ({APP_ID}, ou_bot_of_the_lab)"
    emulator.fault("status", path="/bot/v3/info", http=200, body='{"code":0,"bot":null}')
    with pytest.raises(ChannelError, match="bot ability"):
        await feishu.probe()


async def test_no_secret_is_logged(
    emulator: FeishuEmulator,
    feishu: Feishu,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    caplog.set_level(logging.DEBUG)
    inbox = Inbox()
    async with listening(feishu, inbox):
        emulator.inject("my words are mine")
        await inbox.until(1)
        emulator.gateway.drop_all()
        await emulator.until(lambda: emulator.gateway.opened == 2)
    emulator.fault("refuse", path=SEND, code=230001, times=1)
    await refusal(feishu, part("and these"))
    written = caplog.text + "".join(capfd.readouterr())
    for secret in (SECRET, "ticket=", emulator.world.token()[0], "words are mine", "and these"):
        assert secret not in written
