"""Each Model passes the suite."""

import json

import pytest

from bot.errors import BadRequest, KeyRefused, ModelError, NoSuchModel, RateLimited, Transient
from bot.models.base import Answer, ModelClient, Request, TextDelta, TokensUsed, ToolStarted
from bot.models.fallback import ChainModel, FallbackModel
from bot.models.providers.anthropic import AnthropicModel
from bot.models.providers.messages import DecodedAnswer, normalize_answer
from bot.models.providers.offline import ScriptedAnswer, ScriptedModel
from bot.models.providers.openai import OpenAIModel
from bot.models.retry import RetryingModel, RetrySettings
from memory.conversation import Text, ToolCall
from tests.contracts.model_suite import ModelSuite, Telling
from tests.emulators.model import ModelEmulator
from tests.emulators.model_messages import pieces
from tests.emulators.model_replies import Reply, Told

ERRORS: dict[int, type[ModelError]] = {400: BadRequest, 401: KeyRefused, 404: NoSuchModel}


class TestAnthropic(ModelSuite):
    @pytest.fixture
    def telling(self, emulator: ModelEmulator, anthropic: AnthropicModel) -> Telling:
        return lambda *told: _told(emulator, anthropic, told)


class TestOpenAI(ModelSuite):
    @pytest.fixture
    def telling(self, emulator: ModelEmulator, openai: OpenAIModel) -> Telling:
        return lambda *told: _told(emulator, openai, told)


class TestPatientChain(ModelSuite):
    """Retry and chain around a wire are Models too; with one call each, they change nothing."""

    @pytest.fixture
    def telling(self, emulator: ModelEmulator, anthropic: AnthropicModel) -> Telling:
        chain = FallbackModel(
            [ChainModel(model=RetryingModel(anthropic, settings=RetrySettings(calls=1)))],
            on_unusable=lambda *_: None,
        )
        return lambda *told: _told(emulator, chain, told)


class TestScripted(ModelSuite):
    @pytest.fixture
    def telling(self) -> Telling:
        return _scripted


def _told(emulator: ModelEmulator, model: ModelClient, told: tuple[Told, ...]) -> ModelClient:
    emulator.script(told)
    return model


def _scripted(*told: Told) -> ScriptedModel:
    """A script of the same replies; ids are made sound as a wire would."""
    replies = iter([Reply.of(item) for item in told])

    def tell(request: Request) -> ScriptedAnswer:
        reply = next(replies)
        if reply.status != 200:
            if reply.status == 429:
                return RateLimited(reply.message)
            return ERRORS.get(reply.status, Transient)(reply.message, status=reply.status)
        return [
            *(TextDelta(text=piece) for piece in pieces(reply.text, reply.delta)),
            *_rest(reply, request),
        ]

    return ScriptedModel(tell)


def _rest(reply: Reply, request: Request) -> list[ToolStarted | Answer]:
    made = [
        ToolCall(id=call.id or "", name=call.name, input=json.dumps(call.input, ensure_ascii=False))
        for call in reply.calls
    ]
    heard = DecodedAnswer(
        parts=(Text(text=reply.text), *made),
        stop="end",
        raw_stop="",
        usage=TokensUsed(),
        model=request.model,
    )
    return [*(ToolStarted(name=call.name) for call in made), normalize_answer(heard, request)]
