"""The table of failures, over both wires and a real socket: what the wire did, what we make of
it.
"""

import asyncio
from collections.abc import Callable

import pytest

from bot.errors import (
    BadRequest,
    Damaged,
    KeyRefused,
    ModelError,
    NoSuchModel,
    Overflow,
    QuotaSpent,
    RateLimited,
    Stalled,
    TooLarge,
    Transient,
)
from bot.models.providers.anthropic import AnthropicModel
from bot.models.providers.failures import (
    BAD_THINKING,
    ProviderFailure,
    read_failure,
    server_words,
    to_error,
)
from bot.models.providers.openai import OpenAIModel
from bot.models.providers.transport import Timeouts
from memory.conversation import Text, Thinking
from tests.bot.models.asking import (
    MODEL,
    answer_of,
    asking,
    blobs,
    hear,
    said,
    streamed,
    tool,
    words,
)
from tests.cases import every_case
from tests.emulators.model import ModelEmulator
from tests.emulators.model_replies import TORN, Call, Reply, html, refuse

Wire = AnthropicModel | OpenAIModel
Hasty = Callable[[Timeouts], Wire]

REFUSALS: list[tuple[Reply, type[ModelError]]] = [
    (refuse(307, error="moved"), BadRequest),
    (refuse(400), BadRequest),
    (refuse(401), KeyRefused),
    (refuse(402), KeyRefused),
    (refuse(403), KeyRefused),
    (refuse(404), NoSuchModel),
    (refuse(409), Transient),
    (refuse(413), TooLarge),
    (html(413), TooLarge),
    (refuse(418, error="teapot_error"), BadRequest),
    (refuse(429), RateLimited),
    (refuse(429, code="enforced_spend_limit_reached"), QuotaSpent),
    (refuse(429, code="insufficient_quota"), QuotaSpent),
    (refuse(500), Transient),
    (html(502), Transient),
    (refuse(503), Transient),
    (refuse(504), Transient),
    (refuse(529), Transient),
    (Reply(then="reset"), Transient),
    (html(200), Damaged),
]
BROKEN: list[tuple[Reply, type[ModelError]]] = [
    (Reply(text="half an answer", delta=2, then="error", after=5), Transient),
    (Reply(text="half", delta=1, then="error", after=4, error="rate_limit_error"), RateLimited),
    (Reply(text="half", delta=1, then="error", after=4, error="invalid_request_error"), BadRequest),
    (Reply(text="half an answer", delta=2, then="cut", after=4), Damaged),
    (Reply(text="half an answer", delta=2, then="drop", after=4), Transient),
    (Reply(text="half an answer", delta=2, then="garbage", after=4), Damaged),
    (
        Reply(calls=(Call(name="read", input={"path": "a-long-name.md"}),), then="cut", after=4),
        Damaged,
    ),
    (Reply(then="cut", after=0), Damaged),
]


@pytest.mark.parametrize(("reply", "kind"), REFUSALS + BROKEN)
async def test_each_failure_is_named_for_what_to_do(
    wire: Wire, emulator: ModelEmulator, reply: Reply, kind: type[ModelError]
) -> None:
    emulator.script([reply])
    with pytest.raises(ModelError) as caught:
        await answer_of(wire, asking("hi", tools=(tool(),)))
    assert type(caught.value) is kind
    assert len(emulator.requests) == 1, "a wire asks once; only one layer repeats"


async def test_what_is_no_utf8_is_replaced(wire: Wire, emulator: ModelEmulator) -> None:
    emulator.script([Reply(text=f"one {TORN}two {TORN}", torn=True)])
    events, answer = await hear(wire, asking("hi"))
    assert words(answer) == streamed(events) == "one \ufffdtwo \ufffd"


async def test_a_refusal_that_is_no_utf8_says_what_it_is(
    wire: Wire, emulator: ModelEmulator
) -> None:
    body = f'{{"error": {{"type": "x", "message": "the context length {TORN} is exceeded"}}}}'
    emulator.script([Reply(status=400, body=body, torn=True)])
    with pytest.raises(Overflow):
        await answer_of(wire, asking("hi"))


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("3", 3.0), ("0.5", 0.5), ("7200", 7200.0), ("soon", None), (None, None)],
)
@pytest.mark.parametrize("status", [429, 529])
async def test_the_wait_a_server_asks_for_is_passed_on(
    wire: Wire, emulator: ModelEmulator, status: int, header: str | None, seconds: float | None
) -> None:
    emulator.script([refuse(status, retry_after=header)])
    with pytest.raises((RateLimited, Transient)) as caught:
        await answer_of(wire, asking("hi"))
    assert getattr(caught.value, "retry_after", "none") == seconds


# One limit each, so that a busy machine meets no other.
SHORT = {"first_byte": Timeouts(first=0.15), "gap": Timeouts(gap=0.15), "step": Timeouts(step=0.6)}


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (Reply(then="stall"), "first_byte"),
        (Reply(text="some words", delta=2, then="stall", after=3), "gap"),
        (Reply(text="drop by drop", drip=0.05), "first_byte"),
        (Reply(text="word " * 60, delta=5, pace=0.05), "step"),
    ],
)
async def test_silence_ends_the_call(
    hasty: Hasty, emulator: ModelEmulator, reply: Reply, kind: str
) -> None:
    emulator.script([reply])
    with pytest.raises(Stalled) as caught:
        await answer_of(hasty(SHORT[kind]), asking("hi"))
    assert caught.value.kind == kind


async def test_a_cancelled_call_closes_its_connection(wire: Wire, emulator: ModelEmulator) -> None:
    emulator.script([Reply(text="some words", then="stall", after=3)])
    stream = wire.stream(asking("hi"))
    await anext(stream)
    await stream.aclose()  # type: ignore[attr-defined]
    await emulator.hung_up.wait()


@pytest.mark.parametrize(
    "reply",
    [Reply(then="stall", after=99, text="whole"), Reply(then="drop", after=99, text="whole")],
)
async def test_what_befalls_the_connection_after_the_end_is_no_loss(
    hasty: Hasty, emulator: ModelEmulator, reply: Reply
) -> None:
    emulator.script([reply])
    assert words(await answer_of(hasty(SHORT["gap"]), asking("hi"))) == "whole"


@pytest.mark.parametrize(
    "reply",
    [
        Reply(text="你好 世界", crlf=True),
        Reply(text="你好 世界", split=1),
        Reply(text="你好 世界", split=7, crlf=True),
        Reply(text="你好 世界", pings=True),
        Reply(text="你好 世界", unknown=True),
        Reply(text="你好\u2028世界".replace("\u2028", " "), delta=1),
    ],
)
async def test_framing_changes_nothing(wire: Wire, emulator: ModelEmulator, reply: Reply) -> None:
    emulator.script([reply])
    assert words(await answer_of(wire, asking("hi"))) == "你好 世界"


async def test_line_separators_inside_words_survive(wire: Wire, emulator: ModelEmulator) -> None:
    text = "a\u2028b\u2029c\x85d\re\nf"
    emulator.script([text])
    assert words(await answer_of(wire, asking("hi"))) == text


async def test_stopping_the_task_stops_the_call(wire: Wire, emulator: ModelEmulator) -> None:
    emulator.script([Reply(then="stall")])
    task = asyncio.create_task(answer_of(wire, asking("hi")))
    await emulator.arrived.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 1)
    await emulator.hung_up.wait()


async def test_letters_sent_in_halves_become_whole(wire: Wire, emulator: ModelEmulator) -> None:
    emulator.script([Reply(text="ok \ud83d\ude00 \ud83d", delta=1, escaped=True)])
    events, answer = await hear(wire, asking("hi"))
    assert words(answer) == "ok 😀 \ufffd"
    streamed(events).encode()


async def test_what_nobody_knows_is_left_out_and_counted(
    anthropic: AnthropicModel, emulator: ModelEmulator
) -> None:
    emulator.script([Reply(text="ok", unknown=True, stop="tea_time")])
    answer = await answer_of(anthropic, asking("hi"))
    assert answer.parts == (Text(text="ok"),)
    assert (answer.stop, answer.raw_stop) == ("unknown", "tea_time")
    assert set(anthropic.unknown) == {
        "event from_the_future",
        "block hologram",
        "delta hologram_delta",
        "stop tea_time",
    }


@pytest.mark.parametrize(
    ("word", "stop"),
    [
        ("end_turn", "end"),
        ("stop_sequence", "end"),
        ("max_tokens", "length"),
        ("pause_turn", "pause"),
        ("refusal", "refusal"),
        ("model_context_window_exceeded", "overflow"),
    ],
)
async def test_each_reason_to_stop(
    anthropic: AnthropicModel, emulator: ModelEmulator, word: str, stop: str
) -> None:
    emulator.script([Reply(text="so far", stop=word)])
    answer = await answer_of(anthropic, asking("hi"))
    assert (answer.stop, answer.raw_stop) == (stop, word)


async def test_a_refusal_says_why_when_it_is_told(
    anthropic: AnthropicModel, emulator: ModelEmulator
) -> None:
    details = {"type": "refusal", "category": "bio", "explanation": "no"}
    emulator.script([Reply(stop="refusal", stop_details=details), Reply(stop="refusal")])
    assert (await answer_of(anthropic, asking("hi"))).detail == "bio: no"
    assert (await answer_of(anthropic, asking("hi"))).detail == ""


async def test_a_cut_call_is_left_out(wire: Wire, emulator: ModelEmulator) -> None:
    stop = "length" if isinstance(wire, OpenAIModel) else "max_tokens"
    cut = (Call(name="read"), Call(name="read", input='{"path": "a'))
    emulator.script([Reply(text="I", calls=cut, stop=stop)])
    answer = await answer_of(wire, asking("hi", tools=(tool(),)))
    assert answer.cut_call
    assert answer.stop == "length"
    assert len(answer.parts) == 2


async def test_arguments_that_are_no_json_survive_as_text(
    wire: Wire, emulator: ModelEmulator
) -> None:
    emulator.script([Reply(calls=(Call(name="read", input='{"path": oops'),))])
    answer = await answer_of(wire, asking("hi", tools=(tool(),)))
    assert getattr(answer.parts[0], "input", None) == '{"path": oops'
    assert answer.stop == "tools"


@pytest.mark.parametrize("max_tokens", [64, 5_000])
async def test_too_long_a_request_overflows_and_says_by_how_much(
    wire: Wire, emulator: ModelEmulator, max_tokens: int
) -> None:
    emulator.window = 1000
    with pytest.raises(Overflow) as caught:
        await answer_of(
            wire, asking("words " * (1000 if max_tokens == 64 else 10), max_tokens=max_tokens)
        )
    assert caught.value.limit == 1000
    assert caught.value.actual > 0


async def test_thinking_of_another_conversation_is_named(
    anthropic: AnthropicModel, emulator: ModelEmulator
) -> None:
    emulator.script([Reply(thinking="aha", calls=(Call(name="read"),))])
    answer = await answer_of(anthropic, asking("one", tools=(tool(),)))
    edited = asking("another", said("assistant", *answer.parts[:1]), "and", tools=(tool(),))
    with pytest.raises(BadRequest) as caught:
        await answer_of(anthropic, edited)
    assert caught.value.kind == BAD_THINKING


async def test_thoughts_are_streamed_and_signed(
    anthropic: AnthropicModel, emulator: ModelEmulator
) -> None:
    emulator.script([Reply(thinking="step by step", text="42")])
    _, answer = await hear(anthropic, asking("hi"))
    thought = answer.parts[0]
    assert isinstance(thought, Thinking)
    assert (thought.text, thought.model) == ("step by step", MODEL)
    assert thought.signature


@pytest.mark.parametrize("key", ["", "sk-\nx", "sk-密钥"])
async def test_a_key_no_header_can_carry_is_refused_before_any_call(
    emulator: ModelEmulator, key: str
) -> None:
    model = AnthropicModel(api_key=key, base_url=emulator.url, blobs=blobs)
    with pytest.raises(KeyRefused):
        await answer_of(model, asking("hi"))
    assert not emulator.requests


async def test_nobody_listening_is_a_passing_fault(emulator: ModelEmulator, wire: Wire) -> None:
    await emulator.stop()
    with pytest.raises(Transient):
        await answer_of(wire, asking("hi"))


OVERFLOWS = [
    (400, "prompt is too long: 208310 tokens > 200000 maximum", 208310, 200000),
    (
        400,
        "input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, …",
        178959,
        200000,
    ),
    (
        400,
        "This model's maximum context length is 8192 tokens. However, you requested 8213 tokens (…)",  # noqa: E501
        8213,
        8192,
    ),
    (
        400,
        "This model's maximum context length is 8192 tokens. However, you requested 8213 tokens "
        "(7189 in the messages, 1024 in the completion). Please reduce the length of the messages "
        "or completion.",
        7189,
        8192,
    ),
    (
        400,
        (
            "This model's maximum context length is 8192 tokens. However, your messages resulted "
            "in 9001 tokens."
        ),
        9001,
        8192,
    ),
    (
        400,
        "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 204800]",
        0,
        204800,
    ),
    (400, "Prompt 超长", 0, 0),
    (400, "Your request exceeded model token limit: 262144 (requested: 269030)", 269030, 262144),
    (
        400,
        "The input token count (9) exceeds the maximum number of tokens allowed (8).",
        9,
        8,
    ),
    (500, "exceeds the available context size", 0, 0),
    (413, "Input is too long for requested model", 0, 0),
]


@every_case(("status", "text", "actual", "limit"), OVERFLOWS)
def test_every_vendors_words_for_too_long_are_known(
    status: int, text: str, actual: int, limit: int
) -> None:
    error = to_error(
        read_failure(status, {"error": {"message": text, "type": "invalid_request_error"}})
    )
    assert isinstance(error, Overflow)
    assert (error.actual, error.limit) == (actual, limit)


@every_case(
    ("failure", "kind"),
    [
        (ProviderFailure(status=400, text="too long: 30000 tokens per minute"), BadRequest),
        (
            ProviderFailure(
                status=400,
                text="Invalid max_tokens value, the valid range of max_tokens is [1, 8192]",
            ),
            BadRequest,
        ),
        (ProviderFailure(status=400, kinds=("1261",)), Overflow),
        (ProviderFailure(status=400, nearly_full=True), Overflow),
        (ProviderFailure(status=413, nearly_full=True), Overflow),
        (ProviderFailure(status=400), BadRequest),
        (ProviderFailure(status=429, kinds=("1113",)), QuotaSpent),
        (ProviderFailure(status=429, kinds=("1302",)), RateLimited),
        (ProviderFailure(status=429, kinds=("engine_overloaded_error",)), Transient),
        (ProviderFailure(status=400, kinds=("Arrearage",)), QuotaSpent),
        (ProviderFailure(status=400, kinds=("1211",)), NoSuchModel),
        (ProviderFailure(status=422, text="bad parameters"), BadRequest),
        (ProviderFailure(status=200, kinds=("server_error",)), Transient),
        (ProviderFailure(status=200, kinds=("whatever",)), Transient),
    ],
)
def test_codes_decide_before_the_status(failure: ProviderFailure, kind: type[ModelError]) -> None:
    assert type(to_error(failure)) is kind


@every_case(
    "body", [None, "", b"\xff", [], [{"error": "no"}], {"error": None}, {"error": 3}, "<html>", 7]
)
def test_any_body_can_be_read(body: object) -> None:
    assert isinstance(to_error(read_failure(500, body)), Transient)


def test_a_server_that_gives_no_reason_has_no_words() -> None:
    assert server_words(to_error(read_failure(500, "<html>"))) == ""
    assert server_words(to_error(read_failure(500, {"error": "out of memory"}))) == "out of memory"
