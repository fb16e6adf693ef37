"""What the counter learns from providers who count otherwise: how near it comes, and what it does
not believe.
"""

import asyncio
import random
import re
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from statistics import mean
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.agent.context.calibration import TokenCalibration
from bot.errors import KeyRefused
from bot.models.base import Answer, Request, TokensUsed
from bot.models.fallback import ChainModel, FallbackModel
from bot.models.providers.offline import ScriptedModel
from memory.context.tokens import MAX_FACTOR, MAX_RATIO, MIN_FACTOR, calibrate_factor, is_believable
from memory.conversation import Text
from memory.store.conversations.sessions import Sessions
from memory.store.errors import StoreFull
from memory.store.open import open_store
from memory.store.store import Store
from tests.bot.inside import Inside, inside
from tests.bot.talk import words
from tests.bot.wired import wired
from tests.by_night import by_night
from tests.emulators.model import ModelEmulator
from tests.emulators.model_counts import named
from tests.emulators.model_replies import Call, Reply, fold_text, is_fold, last_words
from tests.emulators.model_rules import seen_by_model

ROOT = Path(__file__).resolve().parents[3]
KINDS = ("zh", "en", "code", "mixed")
# After so many replies the error is taken, up to so many, and it may be so many per cent in the
# mean.
WARM, REPLIES, TARGET = 10, 30, 3.0

counts = st.integers(1, 2_000_000)
ratios = st.floats(0.55, 1.9)


# --- the formula
# ------------------------------------------------------------------------------------------------


@given(
    factor=st.floats(MIN_FACTOR, MAX_FACTOR),
    estimated=st.integers(-5, 10**9),
    actual=st.integers(-5, 10**9),
)
def test_a_factor_stays_within_its_bounds_whatever_is_reported(
    factor: float, estimated: int, actual: int
) -> None:
    assert MIN_FACTOR <= calibrate_factor(factor, estimated, actual)[0] <= MAX_FACTOR


@given(factor=st.floats(MIN_FACTOR, MAX_FACTOR), estimated=counts, actual=counts)
def test_the_error_is_that_of_the_estimate_made_before_in_per_cent_of_what_was_used(
    factor: float, estimated: int, actual: int
) -> None:
    error = calibrate_factor(factor, estimated, actual)[1]
    assert factor * estimated == pytest.approx(actual * (1 + error / 100))


@given(
    ratio=ratios,
    start=st.floats(MIN_FACTOR, MAX_FACTOR),
    sizes=st.lists(st.integers(2_000, 50_000), min_size=11, max_size=11),
)
def test_within_ten_replies_it_comes_to_the_providers_ratio(
    ratio: float, start: float, sizes: list[int]
) -> None:
    factor, error = start, 0.0
    for size in sizes:
        factor, error = calibrate_factor(factor, size, round(size * ratio))
    assert abs(error) <= TARGET


@given(factor=st.floats(MIN_FACTOR, MAX_FACTOR), ratio=ratios, weight=st.floats(0.05, 1.0))
def test_one_reply_moves_it_towards_the_ratio_and_never_past_it(
    factor: float, ratio: float, weight: float
) -> None:
    moved, _ = calibrate_factor(factor, 10_000, round(10_000 * ratio), weight)
    low, high = sorted((factor, round(10_000 * ratio) / 10_000))
    assert low - 1e-9 <= moved <= high + 1e-9


@given(estimated=st.integers(-5, 10**7), actual=st.integers(-5, 10**7))
def test_a_report_is_believed_only_of_a_size_that_this_request_can_have(
    estimated: int, actual: int
) -> None:
    possible = min(estimated, actual) > 0 and 1 / MAX_RATIO <= actual / estimated <= MAX_RATIO
    assert is_believable(estimated, actual) == possible


# --- what is kept
# -----------------------------------------------------------------------------------------------


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = await open_store(tmp_path / "m.db")
    yield opened
    await opened.close()


async def taught(
    calibration: TokenCalibration, model: str, ratio: float, conversation: str = "", times: int = 12
) -> None:
    for _ in range(times):
        await calibration.learn(model, 10_000, round(10_000 * ratio), conversation)


async def test_what_a_reply_teaches_counts_at_once_and_is_stored_with_what_others_teach(
    store: Store,
) -> None:
    calibration = TokenCalibration(store.sessions)
    await taught(calibration, "glm-5", 1.4, "c1")
    before = asyncio.all_tasks()
    calibration.note("glm-5", 10_000, 14_010, "c1")
    assert asyncio.all_tasks() == before
    assert (await calibration.factor("glm-5", "c1"))[2] == pytest.approx(-0.07, abs=0.02)
    calibration.note("glm-5", 10_000, 20_000, "c1")
    assert asyncio.all_tasks() == before
    learned = await calibration.factor("glm-5", "c1")
    assert learned[0] > 1.6
    assert await TokenCalibration(store.sessions).factor("glm-5", "c1") != learned
    await calibration.settled()
    assert await TokenCalibration(store.sessions).factor("glm-5", "c1") == learned


async def test_each_model_has_its_factor_and_a_date_makes_no_other_model(store: Store) -> None:
    calibration = TokenCalibration(store.sessions)
    await taught(calibration, "glm-5-20260801", 1.4)
    await taught(calibration, "gpt-6-luna", 0.8)
    assert (await calibration.factor("glm-5"))[0] == pytest.approx(1.4, abs=0.01)
    assert await calibration.factor("glm-5@20260801") == await calibration.factor(
        "glm-5-2026-08-01"
    )
    assert (await calibration.factor("gpt-6-luna"))[0] == pytest.approx(0.8, abs=0.01)
    assert await calibration.factor("glm-5-5") == (1.0, 0, 0.0)


async def test_a_conversation_begins_with_its_models_factor_and_goes_on_with_its_own(
    store: Store,
) -> None:
    calibration = TokenCalibration(store.sessions)
    await taught(calibration, "m", 1.1)
    assert await calibration.factor("m", "chinese") == await calibration.factor("m")
    for _ in range(12):
        await calibration.learn("m", 10_000, 15_000, "chinese")
        await calibration.learn("m", 10_000, 11_000, "english")
    assert (await calibration.factor("m", "chinese"))[0] == pytest.approx(1.5, abs=0.01)
    assert (await calibration.factor("m", "english"))[0] == pytest.approx(1.1, abs=0.01)
    assert 1.1 < (await calibration.factor("m"))[0] < 1.5
    assert (await calibration.factor("another", "chinese"))[0] == 1.0


@pytest.mark.parametrize("actual", [0, 1, 2_499, 40_001, 90_000_000])
async def test_a_report_that_cannot_be_true_teaches_nothing(store: Store, actual: int) -> None:
    calibration = TokenCalibration(store.sessions)
    await taught(calibration, "m", 1.2, "c")
    before = [await calibration.factor("m"), await calibration.factor("m", "c")]
    await calibration.learn("m", 10_000, actual, "c")
    assert [await calibration.factor("m"), await calibration.factor("m", "c")] == before


@pytest.mark.parametrize(
    "ratios", [[1.3] * 3, [1.3] * 40, [1.2, 1.206, 1.199, 1.21] * 8, [1.0, 1.9] * 8]
)
async def test_another_process_reads_the_very_factors_this_one_plans_with(
    store: Store, ratios: list[float]
) -> None:
    calibration = TokenCalibration(store.sessions)
    for ratio in ratios:
        await taught(calibration, "m", ratio, "c", times=1)
        after = TokenCalibration(store.sessions)
        for conversation in ("", "c"):
            assert (await after.factor("m", conversation))[0] == (
                await calibration.factor("m", conversation)
            )[0]


class FullDisk:
    """The record of a disk that takes no more while `full`."""

    def __init__(self, store: Store) -> None:
        self.full = False
        self.factor = store.sessions.factor
        self._set = store.sessions.set_factors

    async def set_factors(self, learned: Mapping[str, Any]) -> None:
        if self.full:
            raise StoreFull("no space left")
        await self._set(learned)


async def test_what_could_not_be_written_is_not_planned_with(store: Store) -> None:
    disk = FullDisk(store)
    calibration = TokenCalibration(cast(Sessions, disk))
    await taught(calibration, "m", 1.3, "c")
    before = [(await calibration.factor("m", conversation))[0] for conversation in ("", "c")]
    disk.full = True
    with pytest.raises(StoreFull):
        await calibration.learn("m", 10_000, 18_000, "c")
    assert [
        (await calibration.factor("m", conversation))[0] for conversation in ("", "c")
    ] == before


# --- who answered
# -----------------------------------------------------------------------------------------------


async def factors(it: Inside, *models: str) -> list[int]:
    """How many replies each model's factor was learnt from."""
    return [(await it.bot.fitter.calibration.factor(model))[1] for model in models]


def used_by(model: str) -> Callable[[Request], list[Answer]]:
    """Answers that name this model, from a provider that counts 1.5 tokens a character."""

    def script(request: Request) -> list[Answer]:
        used = TokensUsed(
            input=round(1.5 * sum(map(len, (*request.system, *words(request))))), output=1
        )
        return [Answer(parts=(Text(text="ok"),), stop="end", usage=used, model=model)]

    return script


async def test_an_answer_corrects_the_model_that_was_asked_whatever_it_calls_itself(
    tmp_path: Path,
) -> None:
    names = ["scripted", "scripted-2026-08-01", "what-the-gateway-calls-it", ""]
    async with inside(tmp_path, []) as it:
        for number, named_as in enumerate(names, 1):
            it.bot.models.use(ScriptedModel(used_by(named_as)))
            await it.text("hello")
            assert await factors(it, "scripted") == [number], named_as


async def test_a_spare_models_answer_does_not_correct_the_first_one(tmp_path: Path) -> None:
    async with inside(tmp_path, []) as it:
        first = ScriptedModel(lambda request: KeyRefused("no"))
        links = [
            ChainModel(model=first),
            ChainModel(model=ScriptedModel(used_by("spare-20260801")), model_id="spare"),
        ]
        it.bot.models.use(FallbackModel(links, on_unusable=lambda name, error: None))
        for _ in range(3):
            await it.text("hello")
        assert await factors(it, it.bot.models.name, "spare") == [0, 3]


# --- whole chats over both wires
# --------------------------------------------------------------------------------


@cache
def source(kind: str) -> str:
    """Long real text of one kind: this project's own."""
    files = {
        "zh": ["docs/operate.zh-CN.md", "docs/memory.zh-CN.md", "docs/commands.zh-CN.md"],
        "en": [*map(str, sorted((ROOT / "docs" / "decisions").glob("0*.md"))), "docs/commands.md"],
        "code": ["bot/agent/turn.py", "bot/runtime/bot.py"],
    }
    text = "\n".join((ROOT / name).read_text() for name in files[kind])
    return re.sub(r"https?://\S+|[«»\[\]]", "", text) if kind != "code" else text


def passage(kind: str, seed: object, size: int) -> str:
    """A piece of that text, the same for the same seed."""
    drawn = random.Random(f"{kind} {seed}")
    kind = drawn.choice(("zh", "en", "code")) if kind == "mixed" else kind
    at = drawn.randrange(len(source(kind)) - size)
    return source(kind)[at : at + size]


def replying(body: dict[str, Any]) -> Reply:
    """Now and then look into a file first; then answer at some length in the language of the
    chat.
    """
    if is_fold(body):
        return Reply(text=fold_text(body))
    found = re.search(r"^«(\w+) (\d+)»", last_words(body), re.MULTILINE)
    if not found:
        return Reply(text="What do you mean?")
    kind, number = found[1], int(found[2])
    newest = body["messages"][-1]
    answered = newest["role"] == "tool" or "tool_result" in str(newest["content"])
    if number % 4 == 3 and not answered:
        return Reply(
            calls=(
                Call(
                    name="read_file", input={"path": f"{kind}{number % 3}.md"}, id=f"{kind}{number}"
                ),
            )
        )
    return Reply(
        text=passage(kind, f"reply {number}", random.Random(number).randrange(100, 1_600)),
        delta=2_000,
    )


async def one_more(it: Inside, kind: str, number: int) -> None:
    said = passage(kind, f"question {number}", random.Random(-number).randrange(20, 400))
    await it.text(f"«{kind} {number}» {said}", chat=kind)


async def errors_of(it: Inside, kinds: Iterable[str]) -> dict[str, list[float]]:
    """How far the estimate of each reply's request was off, per cent; the chats by turns."""
    off: dict[str, list[float]] = {kind: [] for kind in kinds}
    for number in range(REPLIES):
        for kind, errors in off.items():
            await one_more(it, kind, number)
            counter = (await it.bot.report.facts(await it.conversation(kind)))["counter"]
            errors.append(counter["last_error_percent"])
    return off


def files(folder: Path) -> None:
    """What the chats' tools read: short files and long ones."""
    (folder / "workspace").mkdir()
    for kind in KINDS:
        for number, size in enumerate((700, 2_500, 8_000)):
            (folder / "workspace" / f"{kind}{number}.md").write_text(
                passage(kind, f"file {number}", size)
            )


def emulate(counts: str) -> ModelEmulator:
    emulator = ModelEmulator(responder=replying)
    emulator.counts = named(counts)
    return emulator


@pytest.mark.parametrize(
    ("counts", "provider"),
    [
        pytest.param("pieces:50000", "anthropic", marks=by_night),
        pytest.param("characters:0.31:0.02", "openai", marks=by_night),
    ],
)
async def test_after_ten_replies_every_chat_is_estimated_within_three_per_cent(
    tmp_path: Path, counts: str, provider: str
) -> None:
    files(tmp_path)
    async with (
        emulate(counts) as emulator,
        wired(tmp_path, emulator, provider, agent_max_context_turns=14) as it,
    ):
        off = await errors_of(it, KINDS)
        assert all(len(set(errors)) > WARM for errors in off.values()), (
            "each reply has an error of its own"
        )
        means = {kind: mean(map(abs, errors[WARM:])) for kind, errors in off.items()}
        assert all(error <= TARGET for error in means.values()), means
        for kind in KINDS:
            assert await it.bot.store.folds.folds(await it.conversation(kind)), (
                "the view has been folded on the way"
            )


async def test_a_view_is_cut_by_the_factor_of_its_own_conversation_after_a_restart_too(
    tmp_path: Path,
) -> None:
    budget = {"agent_max_context_tokens": 10_000, "agent_max_context_turns": 200}
    files(tmp_path)
    async with emulate("pieces:9000") as emulator:
        async with wired(tmp_path, emulator, **budget) as it:
            for number in range(11):
                for kind in ("zh", "en"):
                    await one_more(it, kind, number)
            known = await learnt(it)
        assert known["zh"] > known["en"] * (1 + 2 * TARGET / 100), (
            "a mean would miss both by more than allowed"
        )
        since = len(emulator.requests)
        async with wired(tmp_path, emulator, **budget) as it:
            assert await learnt(it) == known
            for number in range(11, 14):
                for kind in ("zh", "en"):
                    await one_more(it, kind, number)
        sizes = [
            emulator.counts(seen_by_model(s.body))
            for s in emulator.requests[since:]
            if not is_fold(s.body)
        ]
        assert max(sizes) <= 10_000 * (1 + TARGET / 100)
        assert max(sizes) > 10_000 * 0.5, "the budget is used"


async def learnt(it: Inside) -> dict[str, float]:
    """The factor that each chat's requests are planned with."""
    facts = [await it.bot.report.facts(await it.conversation(kind)) for kind in ("zh", "en")]
    return {kind: fact["counter"]["factor"] for kind, fact in zip(("zh", "en"), facts, strict=True)}
