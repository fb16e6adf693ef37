"""Each Model passes the suite."""

import json

import pytest

from bot.errors import BadRequest, KeyRefused, ModelError, NoSuchModel, RateLimited, Transient
from bot.models.base import Answer, Model, Request, TextDelta, TokensUsed, ToolStarted
from bot.models.fallback import Chain, Link
from bot.models.providers.anthropic import Anthropic
from bot.models.providers.messages import Heard, settled
from bot.models.providers.openai import OpenAI
from bot.models.providers.testing import Line, Scripted
from bot.models.retry import Patient, Retries
from memory.conversation import Text, ToolCall
from tests.contracts.model_suite import ModelSuite, Telling
from tests.emulators.model import ModelEmulator
from tests.emulators.model_messages import pieces
from tests.emulators.model_replies import Reply, Told

ERRORS: dict[int, type[ModelError]] = {400: BadRequest, 401: KeyRefused, 404: NoSuchModel}


class TestAnthropic(ModelSuite):
    @pytest.fixture
    def telling(self, emulator: ModelEmulator, anthropic: Anthropic) -> Telling:
        return lambda *told: _told(emulator, anthropic, told)


class TestOpenAI(ModelSuite):
    @pytest.fixture
    def telling(self, emulator: ModelEmulator, openai: OpenAI) -> Telling:
        return lambda *told: _told(emulator, openai, told)


class TestPatientChain(ModelSuite):
    """Retry and chain around a wire are Models too; with one call each, they change nothing."""

    @pytest.fixture
    def telling(self, emulator: ModelEmulator, anthropic: Anthropic) -> Telling:
        chain = Chain([Link(model=Patient(anthropic, retries=Retries(calls=1)))], on_unusable=lambda *_: chain.reset())
        return lambda *told: _told(emulator, chain, told)


class TestScripted(ModelSuite):
    @pytest.fixture
    def telling(self) -> Telling:
        return _scripted


def _told(emulator: ModelEmulator, model: Model, told: tuple[Told, ...]) -> Model:
    emulator.script(told)
    return model


def _scripted(*told: Told) -> Scripted:
    """A script of the same replies; ids are made sound as a wire would."""
    replies = iter([Reply.of(item) for item in told])

    def tell(request: Request) -> Line:
        reply = next(replies)
        if reply.status != 200:
            if reply.status == 429:
                return RateLimited(reply.message)
            return ERRORS.get(reply.status, Transient)(reply.message, status=reply.status)
        return [*(TextDelta(text=piece) for piece in pieces(reply.text, reply.delta)), *_rest(reply, request)]

    return Scripted(tell)


def _rest(reply: Reply, request: Request) -> list[ToolStarted | Answer]:
    made = [
        ToolCall(id=call.id or "", name=call.name, input=json.dumps(call.input, ensure_ascii=False))
        for call in reply.calls
    ]
    heard = Heard(
        parts=(Text(text=reply.text), *made), stop="end", raw_stop="", usage=TokensUsed(), model=request.model
    )
    return [*(ToolStarted(name=call.name) for call in made), settled(heard, request)]
