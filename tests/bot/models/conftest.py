"""One emulator, and the wires to it with short patience."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack

import pytest

from bot.models.providers.anthropic import AnthropicModel
from bot.models.providers.openai import OpenAIModel
from bot.models.providers.transport import Timeouts
from tests.bot.models.asking import blobs
from tests.emulators.model import ModelEmulator


@pytest.fixture
async def emulator() -> AsyncIterator[ModelEmulator]:
    async with ModelEmulator() as running:
        yield running


@pytest.fixture
async def anthropic(emulator: ModelEmulator) -> AsyncIterator[AnthropicModel]:
    model = AnthropicModel(api_key="sk-test", base_url=emulator.url, blobs=blobs)
    yield model
    await model.close()


@pytest.fixture
async def openai(emulator: ModelEmulator) -> AsyncIterator[OpenAIModel]:
    model = OpenAIModel(api_key="sk-test", base_url=f"{emulator.url}/v1", blobs=blobs)
    yield model
    await model.close()


@pytest.fixture(params=["anthropic", "openai"])
def wire(request: pytest.FixtureRequest) -> AnthropicModel | OpenAIModel:
    """Either wire: a test that takes it holds for both."""
    model: AnthropicModel | OpenAIModel = request.getfixturevalue(request.param)
    return model


@pytest.fixture
async def hasty(
    emulator: ModelEmulator, wire: AnthropicModel | OpenAIModel
) -> AsyncIterator[Callable[[Timeouts], AnthropicModel | OpenAIModel]]:
    """The same wire with less patience, as much as it is called with."""
    make: Callable[..., AnthropicModel | OpenAIModel] = type(wire)
    root = emulator.url + ("/v1" if isinstance(wire, OpenAIModel) else "")
    async with AsyncExitStack() as made:

        def built(limits: Timeouts) -> AnthropicModel | OpenAIModel:
            model = make(api_key="sk-test", base_url=root, blobs=blobs, limits=limits)
            made.push_async_callback(model.close)
            return model

        yield built
