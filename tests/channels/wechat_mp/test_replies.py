"""How answers of an official account go out: in an open request, by the API, or with the person's
next message.
"""

import asyncio
from collections.abc import AsyncIterator

import pytest

from channels.errors import AttachmentTooBig, AwaitsUser, Rejected, Retryable
from channels.message import Address, LiveEvent, OutboundFile
from channels.wechat_mp.pending_replies import ReplyTiming
from tests.channels.wechat_mp.stage import MpStage, mp_stage
from tests.contracts.channel_receiving import PNG
from tests.contracts.channel_stage import eventually
from tests.emulators.mp import APP_ID, PERSON

SENT = "message/custom/send"


@pytest.fixture
async def plain() -> AsyncIterator[MpStage]:
    """An account without the customer-service API."""
    async with mp_stage(verified=False) as stage:
        yield stage


@pytest.fixture
async def verified() -> AsyncIterator[MpStage]:
    async with mp_stage() as stage:
        yield stage


def test_the_pace_is_the_platforms() -> None:
    assert (ReplyTiming().hold, ReplyTiming().cut) == (4.5, 5.0)


@pytest.mark.parametrize("mode", ["plain", "compatible", "secure"])
async def test_an_answer_in_time_goes_out_in_the_request_it_answers(mode: str) -> None:
    async with mp_stage(verified=False, mode=mode) as stage:
        push = stage.emulator.inject("你好 ]]> & <b>")
        key = await stage.heard(1)
        await stage.send("**你好** ]]> <![CDATA[ & <b>", key)
        await stage.emulator.until(lambda: push.state == "confirmed")
    assert stage.inbox.texts == ["你好 ]]> & <b>"]
    assert stage.emulator.sent() == ["你好 ]]> <![CDATA[ & <b>"]
    assert (stage.by(), [one.outcome for one in push.tries]) == (["passive"], ["answered"])
    assert stage.emulator.wire_log() == []


async def test_an_answer_that_takes_longer_goes_out_in_the_second_or_third_try(
    plain: MpStage,
) -> None:
    plain.work()
    push = plain.emulator.inject("think")
    key = await plain.heard(2)
    await plain.send("thought", key)
    await plain.emulator.until(lambda: push.state == "confirmed")
    await plain.sees("thought")
    assert [one.outcome for one in push.tries][:2] in (["none", "answered"], ["none", "none"])
    assert (plain.inbox.texts, plain.emulator.world.notices(PERSON)) == (["think"], [])


async def test_an_answer_between_two_tries_waits_for_the_next(plain: MpStage) -> None:
    plain.work()
    push = plain.emulator.inject("think")
    key = await plain.heard(1)
    pending = plain.channel._pending._all[key]
    await eventually(lambda: not pending.open and not pending.storing)
    await plain.send("thought", key)
    await plain.sees("thought")
    assert len(push.tries) > 1


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("why?", "I am still thinking. Send me anything"),
        ("为什么？", "我还在想。过一会儿发任意一条消息"),
    ],
)
async def test_the_third_try_says_how_to_fetch_the_answer_and_the_next_message_fetches_it(
    plain: MpStage, question: str, sentence: str
) -> None:
    plain.work()
    push = plain.emulator.inject(question)
    key = await plain.heard(1)
    await plain.emulator.until(lambda: push.state == "confirmed")
    assert [one.outcome for one in push.tries] == ["none", "none", "answered"]
    with pytest.raises(AwaitsUser):
        await plain.send("because", key)
    fetching = plain.emulator.inject("and?")
    await plain.heard(4)
    await plain.send("because", key)
    await plain.emulator.until(lambda: fetching.state == "confirmed")
    with pytest.raises(AwaitsUser):
        await plain.send("and so on", fetching.key)
    first, second = plain.emulator.sent()
    assert first.startswith(sentence)
    assert second == "because"
    assert plain.inbox.texts == [question, "and?"]
    assert plain.emulator.world.notices(PERSON) == []


async def test_one_request_takes_one_answer_and_the_parts_that_follow_wait(plain: MpStage) -> None:
    plain.emulator.inject("tell me a lot")
    key = await plain.heard(1)
    await plain.send("one", key, 0, parts=2)
    with pytest.raises(AwaitsUser):
        await plain.send("two", key, 1, parts=2)
    plain.emulator.inject("go on")
    await plain.heard(2)
    await plain.send("two", key, 1, parts=2)
    await plain.sees("one\n(not all yet: send anything for more)", "two")


async def test_an_answer_takes_its_own_request_before_another_of_the_same_person(
    plain: MpStage,
) -> None:
    first, second = plain.emulator.inject("first"), plain.emulator.inject("second")
    await plain.heard(2)
    await plain.send("to the second", second.key)
    await plain.emulator.until(lambda: second.state == "confirmed")
    assert first.state == "sending"
    await plain.send("to the first", first.key)
    await plain.sees("to the second", "to the first")
    await plain.emulator.until(lambda: first.state == second.state == "confirmed")


async def test_a_reply_to_one_person_reaches_no_other(plain: MpStage) -> None:
    push = plain.emulator.inject("hello", "oUser2")
    await plain.heard(1)
    await eventually(lambda: plain.channel._pending._all[push.key].open)
    with pytest.raises(AwaitsUser):
        await plain.send("for oUser1 alone")
    assert plain.emulator.sent("oUser2") == []


async def test_a_try_whose_answer_was_lost_gets_it_again_and_the_person_once(
    plain: MpStage,
) -> None:
    push = plain.emulator.inject("once")
    key = await plain.heard(1)
    await plain.send("only once", key)
    again = plain.emulator.repeat(push)
    await plain.emulator.until(lambda: again.state == "confirmed")
    assert [one.outcome for one in again.tries] == ["answered"]
    await plain.sees("only once")


async def test_what_could_not_be_stored_is_never_answered(plain: MpStage) -> None:
    plain.inbox._failures = [OSError("disk full")] * 1000
    plain.work()
    push = plain.emulator.inject("lost?")
    with pytest.raises(AwaitsUser):
        await asyncio.wait_for(plain.send("an older answer"), 30)
    await plain.emulator.until(lambda: push.state == "failed")
    assert plain.emulator.sent() == []


async def test_after_a_restart_that_sees_a_later_attempt_first_the_last_one_is_answered(
    plain: MpStage,
) -> None:
    push = plain.emulator.inject("survive")
    await plain.heard(1)
    plain.work()
    async with plain.living():
        plain.work()
        await plain.emulator.until(lambda: push.state == "confirmed")
    assert plain.emulator.sent()[0].startswith("I am still thinking")
    assert plain.emulator.world.notices(PERSON) == []


async def test_a_person_whose_message_is_not_processed_gets_no_notice(plain: MpStage) -> None:
    plain.work()
    push = plain.emulator.inject("who are you?", "oStranger")
    await plain.emulator.until(lambda: push.state == "confirmed")
    assert [one.outcome for one in push.tries] == ["empty"]
    assert plain.emulator.sent("oStranger") == []


async def test_a_bot_that_ends_lets_go_of_its_requests_at_once(plain: MpStage) -> None:
    plain.emulator.pusher.scale = 1000
    async with plain.living(ReplyTiming(hold=3000, cut=3000, slack=3000)):
        push = plain.emulator.inject("hold on")
        await plain.heard(1)
    await plain.emulator.until(lambda: bool(push.tries[0].outcome))
    assert push.tries[0].status == 503
    with pytest.raises(AwaitsUser):
        await plain.send("later", push.key)


# -- the customer-service API ---------------------------------------------------------------------


async def test_with_the_api_a_slow_answer_needs_no_second_try(verified: MpStage) -> None:
    await _know(verified)
    push = verified.emulator.inject("think")
    await verified.emulator.until(lambda: push.state == "confirmed")
    await verified.send("thought **well**", push.key)
    assert [one.outcome for one in push.tries] == ["empty"]
    assert verified.emulator.sent()[-1] == "thought well"
    assert verified.by()[-1] == "service"


async def test_that_the_api_is_not_granted_is_learnt_once_and_remembered(plain: MpStage) -> None:
    for number in range(3):
        with pytest.raises(AwaitsUser):
            await plain.send("hello", "", number)
    async with plain.living():
        await eventually(lambda: plain.channel.connection_status().quota)
        with pytest.raises(AwaitsUser):
            await plain.send("hello")
        assert "one answer to each message" in plain.channel.connection_status().quota
    assert len(plain.emulator.wire_log(SENT)) == 1
    assert float(plain.pages.values[f"{APP_ID}.service"]) > 86_000


async def test_a_granted_api_is_known_after_a_restart(verified: MpStage) -> None:
    await _know(verified)
    async with verified.living():
        push = verified.emulator.inject("hello")
        await verified.emulator.until(lambda: push.state == "confirmed")
    assert [one.outcome for one in push.tries] == ["empty"]


async def test_the_sixth_message_waits_for_the_person_and_the_fifth_says_so(
    verified: MpStage,
) -> None:
    await _know(verified)
    push = verified.emulator.inject("a long story")
    await verified.emulator.until(lambda: push.state == "confirmed")
    for number in range(5):
        await verified.send(f"part {number}", push.key, number, parts=7)
    with pytest.raises(AwaitsUser):
        await verified.send("part 5", push.key, 5, parts=7)
    assert verified.emulator.sent()[-2:] == [
        "part 3",
        "part 4\n(not all yet: send anything for more)",
    ]
    assert "used up for 1" in verified.channel.connection_status().quota
    verified.emulator.inject("more")
    await verified.heard(2)
    await verified.send("part 5", push.key, 5, parts=7)
    await verified.emulator.until(lambda: verified.emulator.sent()[-1] == "part 5")


async def test_after_48_hours_the_person_has_to_write_first(verified: MpStage) -> None:
    await _know(verified)
    verified.emulator.world.advance(49 * 3600)
    with pytest.raises(AwaitsUser):
        await verified.send("good morning")


async def test_a_token_that_ended_is_fetched_once_by_all_who_need_it(verified: MpStage) -> None:
    verified.emulator.world.allowed = 100
    await _know(verified)
    verified.emulator.api.stable.revoke()
    await asyncio.gather(*(verified.send(f"line {number}", "", number) for number in range(20)))
    assert len(verified.emulator.sent()) == 21
    assert len(verified.emulator.wire_log("stable_token")) == 2


async def test_a_token_that_the_platform_itself_refuses_is_thrown_away(verified: MpStage) -> None:
    await _know(verified)
    tokens = verified.emulator.api.stable
    tokens.dead.add(tokens.newest)
    await verified.send("still here")
    assert verified.emulator.sent()[-1] == "still here"


@pytest.mark.parametrize("wrong", ["whitelist", "secret"])
async def test_wrong_credentials_are_reported_and_passive_replies_go_on(
    plain: MpStage, wrong: str
) -> None:
    if wrong == "whitelist":
        plain.emulator.world.whitelisted = False
    else:
        plain.emulator.api.secret = "another"
    with pytest.raises(AwaitsUser):
        await plain.send("hello")
    assert (
        "IP whitelist" if wrong == "whitelist" else "app_secret"
    ) in plain.channel.connection_status().trouble
    push = plain.emulator.inject("hi")
    await plain.heard(1)
    await plain.send("hello", push.key)
    await plain.sees("hello")


@pytest.mark.parametrize(
    ("code", "error", "after"),
    [
        (-1, Retryable, None),
        (45011, Retryable, 60.0),
        (45009, Retryable, 1800.0),
        (45002, Rejected, None),
        (40003, Rejected, None),
        (47001, Rejected, None),
        (45015, AwaitsUser, None),
        (45047, AwaitsUser, None),
        (48001, AwaitsUser, None),
    ],
)
async def test_each_documented_error(
    verified: MpStage, code: int, error: type[Exception], after: float | None
) -> None:
    verified.emulator.fault(
        "status", method=SENT, code=200, body=f'{{"errcode":{code},"errmsg":"no"}}'
    )
    with pytest.raises(error) as refused:
        await verified.send("hello")
    assert type(refused.value) in (error, *error.__subclasses__())
    assert getattr(refused.value, "retry_after", None) == after
    assert getattr(refused.value, "gone", False) is (code == 40003)


async def test_typing_is_shown_and_tells_that_the_api_is_there(verified: MpStage) -> None:
    address = Address(channel="wechat_mp", account=APP_ID, chat_id=PERSON)
    verified.emulator.world.person(PERSON)
    verified.channel.show(LiveEvent(address=address, name="started"))
    await verified.emulator.until(lambda: verified.emulator.world.typed == [(PERSON, "Typing")])
    await eventually(lambda: "5 messages" in verified.channel.connection_status().quota)


# -- files ----------------------------------------------------------------------------------------


async def test_a_picture_goes_out_in_the_open_request_too(verified: MpStage) -> None:
    push = verified.emulator.inject("show me")
    await verified.heard(1)
    file = OutboundFile(name="../x.png", media_type="image/png", data=PNG, picture=True)
    await verified.send("", push.key, file=file)
    await verified.emulator.until(lambda: verified.emulator.world.pictures(PERSON) == [PNG])
    assert verified.by() == ["passive"]


async def test_words_beside_a_picture_are_said_once_though_the_picture_needs_two_attempts(
    verified: MpStage,
) -> None:
    await _know(verified)
    file = OutboundFile(name="x.png", media_type="image/png", data=PNG, picture=True)
    verified.emulator.fault(
        "status", method=SENT, nth=2, code=200, body='{"errcode":-1,"errmsg":"busy"}'
    )
    with pytest.raises(Retryable):
        await verified.send("look", file=file)
    await verified.send("look", file=file)
    assert verified.emulator.sent()[1:] == ["look"]
    assert verified.emulator.world.pictures(PERSON) == [PNG]


async def test_what_an_account_cannot_send_is_refused_with_the_reason(plain: MpStage) -> None:
    with pytest.raises(Rejected, match="carries pictures"):
        await plain.send(
            "", file=OutboundFile(name="a.pdf", media_type="application/pdf", data=b"%PDF")
        )
    with pytest.raises(Rejected, match="verified accounts"):
        await plain.send(
            "", file=OutboundFile(name="a.png", media_type="image/png", data=PNG, picture=True)
        )


async def test_files_of_people_are_fetched_by_the_api(verified: MpStage) -> None:
    emulator = verified.emulator
    for kind, media_type in (
        ("image", "image/png"),
        ("voice", "audio/amr"),
        ("video", "video/mp4"),
    ):
        emulator.inject_file(kind, PNG + kind.encode(), media_type)
    await verified.heard(3)
    found = {}
    for message in verified.inbox.stored:
        (file,) = message.attachments
        fetched = await verified.channel.fetch(file.ref, 1000)
        found[file.media_type.partition("/")[0]] = fetched.data
        with pytest.raises(AttachmentTooBig):
            await verified.channel.fetch(file.ref, 10)
    assert found == {"image": PNG + b"image", "audio": PNG + b"voice", "video": PNG + b"video"}
    emulator.world.advance(4 * 86_400)
    with pytest.raises(Rejected, match="40007"):
        await verified.channel.fetch(file.ref, 1000)


async def test_without_the_api_pictures_come_from_their_public_address_and_voices_do_not(
    plain: MpStage,
) -> None:
    plain.emulator.inject_file("image", PNG, "image/png")
    plain.emulator.inject_file("voice", b"#!AMR", "audio/amr")
    await plain.heard(2)
    files = [message.attachments[0] for message in plain.inbox.stored]
    picture, voice = sorted(files, key=lambda file: file.media_type, reverse=True)
    assert (await plain.channel.fetch(picture.ref, 1000)).data == PNG
    with pytest.raises(Rejected, match="verified account"):
        await plain.channel.fetch(voice.ref, 1000)


async def _know(stage: MpStage) -> None:
    """The API has been used before, and the person has written."""
    stage.emulator.world.person(PERSON).written = [
        stage.emulator.world.now() + 48 * 3600,
        stage.emulator.world.allowed,
    ]
    await stage.send("welcome", "", 99)
    stage.channel._service.reset_count(PERSON)
    stage.emulator.world.person(PERSON).written[1] = stage.emulator.world.allowed
