"""A bot with a second model: what each failure of the first one does, over real sockets, and what
people see.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from bot.console.site import HealthProbes
from bot.errors import KeyRefused, Transient
from bot.gateway.notifications import ModelNotifications
from bot.models.base import Request
from bot.models.fallback import ChainModel, FallbackModel
from bot.models.health import ModelStatus
from bot.models.providers.offline import ScriptedModel
from channels.phrases import AnyPhrase
from tests.bot.inside import Inside, inside
from tests.bot.wired import MODEL, wired
from tests.emulators.model import ModelEmulator
from tests.emulators.model_replies import Reply, refuse

SPARE = "claude-haiku-5-5"
QUOTA = refuse(
    429,
    error="rate_limit_error",
    code="insufficient_quota",
    message="You exceeded your current quota.",
)
BUSY = refuse(529, retry_after="0")
NOTE = f"\n\n({MODEL} is not available right now; {SPARE} answered instead)"


@asynccontextmanager
async def pair(folder: Path, *, window: int = 200_000, **settings: Any) -> AsyncIterator["Pair"]:
    async with (
        ModelEmulator(responder=lambda body: "first") as first,
        ModelEmulator(window=window) as second,
    ):
        second.responder = lambda body: "second"
        spare = {"provider": "anthropic", "api_key": "k", "base_url": second.url, "model": SPARE}
        llm = {"fallback": [spare], **settings.pop("llm", {})}
        async with wired(folder, first, llm=llm, **settings) as it:
            yield Pair(it, first, second)


class Pair:
    """The bot and both servers."""

    def __init__(self, it: Inside, first: ModelEmulator, second: ModelEmulator) -> None:
        self.it, self.first, self.second = it, first, second

    @property
    def asked(self) -> list[int]:
        return [len(self.first.requests), len(self.second.requests)]

    @property
    def states(self) -> list[tuple[str, str]]:
        return [(state.name, state.phase) for state in self.it.bot.models.states()]


@pytest.mark.parametrize("status", [401, 402, 403, 404])
async def test_a_model_that_refuses_comes_last_and_is_asked_first_again_after_a_retry(
    tmp_path: Path, status: int
) -> None:
    async with pair(tmp_path) as both:
        both.first.script([refuse(status)])
        assert [await both.it.text("hi") for _ in range(2)] == ["second" + NOTE] * 2
        assert both.asked == [1, 2]
        assert both.states[0] == (f"openai {MODEL}", "refused")
        ready = await HealthProbes(both.it.bot).ready()
        assert not ready.ok
        assert list(ready.reasons["models_left_out"]) == [f"openai {MODEL}"]
        assert str(status) in ready.reasons["model"]
        assert await both.it.text("/retry") == "first"
        assert (await HealthProbes(both.it.bot).ready()).ok


@pytest.mark.parametrize(("reply", "calls", "phase"), [(QUOTA, 1, "refused"), (BUSY, 5, "resting")])
async def test_what_failed_comes_last_for_a_while(
    tmp_path: Path, reply: Reply, calls: int, phase: str
) -> None:
    async with pair(tmp_path) as both:
        both.first.script([reply] * calls)
        assert await both.it.text("hi") == "second" + NOTE
        assert await both.it.text("hi again") == "second" + NOTE
        assert both.asked == [calls, 2]
        assert both.states[0] == (f"openai {MODEL}", phase)
        status = await both.it.text("/status")
        words = "refused for" if phase == "refused" else "not answering for"
        assert f"○ openai {MODEL} — {words}" in status
        assert "other models come first for " in status
        assert f"● anthropic {SPARE} — answering for" in status


async def test_what_a_failed_model_showed_is_taken_back_and_the_usage_names_who_answered(
    tmp_path: Path,
) -> None:
    async with pair(tmp_path) as both:
        both.first.script(
            [Reply(text="half of it is shown", then="error", after=3, error="authentication_error")]
        )
        assert await both.it.text("hi") == "second" + NOTE
        shown = [event for event in both.it.channel.shown if event.name == "delta"]
        replaced = [event.text for event in shown if event.facts.get("whole")]
        assert replaced, "what stood there is replaced by the first words of the other model"
        assert all("half" not in text for text in replaced)
        told = await both.it.text("/usage")
        assert SPARE in told
        assert MODEL not in told


async def test_an_answer_says_nothing_of_a_spare_model_where_that_is_not_wanted(
    tmp_path: Path,
) -> None:
    async with pair(tmp_path, llm={"tell_spare": False}) as both:
        both.first.script([refuse(401)])
        assert await both.it.text("hi") == "second"


async def test_a_spare_model_that_finds_a_request_too_long_gets_a_view_that_fits_it(
    tmp_path: Path,
) -> None:
    async with pair(tmp_path, window=16_000, llm={"max_output_tokens": 256}) as both:
        for number in range(4):
            await both.it.text(f"{number} " + "some words to remember " * 1_100)
        both.first.keys = set()
        assert (await both.it.text("and now?")).startswith("second")
        # not a fold in the background
        turns = [seen for seen in both.second.requests if seen.body.get("tools")]
        assert turns[-1].refused == ""


async def test_a_spare_model_that_is_known_to_be_smaller_is_fitted_without_a_call(
    tmp_path: Path,
) -> None:
    def small(request: Request) -> str:
        assert request.size <= 8_000 * 0.98 - request.max_tokens
        return "it fits"

    async with inside(tmp_path, lambda _: "fine") as it:
        for number in range(4):
            await it.text(f"{number} " + "some words to remember " * 700)
        spare = ScriptedModel(small)
        links = [
            ChainModel(model=ScriptedModel(lambda _: KeyRefused("no"))),
            ChainModel(model=spare, model_id="spare", window=lambda: 8_000),
        ]
        it.bot.models.use(FallbackModel(links, on_unusable=lambda name, error: None))
        assert (await it.text("and now?")).startswith("it fits")
        assert [request.purpose for request in spare.requests].count("turn") == 1
        assert it.bot.models.window("spare").source == "default"


def state(phase: str, **fields: Any) -> ModelStatus:
    return ModelStatus(**{"name": "openai m", "use": "chosen", "phase": phase, **fields})


async def test_the_owner_is_told_once_of_a_refused_key_whatever_models_it_opens(
    tmp_path: Path,
) -> None:
    async with pair(tmp_path, llm={"fast_model": "claude-haiku-4-5"}) as both:
        both.first.script([refuse(401, message="bad key")])
        await both.it.text("hi")
        for _ in range(3):
            await both.it.bot.model_notifications.look()
        await both.it.bot.outbox_dispatcher.settled()
        told = [
            sent.text for sent in both.it.channel.sent if "cannot be used: its key" in sent.text
        ]
        assert len(told) == 1
        assert f"Until then anthropic {SPARE} answers" in told[0]
        both.first.script([refuse(401, message="bad key")] * 2)
        await both.it.bot.models.try_now()
        assert [state.use for state in both.it.bot.models.states()] == ["chosen", "spare"]
        await both.it.bot.models.try_now()
        assert [state.phase for state in both.it.bot.models.states()] == ["up"] * 3


async def test_a_model_that_only_a_person_chose_and_nobody_has_is_no_trouble_of_the_bot(
    tmp_path: Path,
) -> None:
    async with pair(tmp_path) as both:
        await both.it.text("/model tpyo")
        both.first.script([refuse(404)])
        assert (await both.it.text("hi")).startswith("second")
        assert both.it.bot.models.trouble == ""
        assert (await HealthProbes(both.it.bot).ready()).ok


async def test_a_passing_failure_is_told_when_it_has_not_passed_and_a_flapping_model_once() -> None:
    heard: list[str] = []
    seen: list[ModelStatus] = []

    async def tell(channel: str, notice: AnyPhrase) -> None:
        heard.append(str(notice))

    news = ModelNotifications(lambda: seen, tell)
    busy = Transient("busy")
    for now in (
        state("resting", failures=1, error=busy),
        state("resting", failures=2, error=busy, why="busy"),
        state("up", seconds=5),
        state("resting", failures=3, error=busy),
        state("up", seconds=59),
    ):
        seen[:] = [now]
        await news.look()
    assert heard == ["Model openai m does not answer (busy). The next message tries again."]
    seen[:] = [state("up", seconds=60)]
    await news.look()
    await news.look()
    assert heard[1:] == ["Model openai m answers again."]
