"""A model whose every request is told to the signals: how it ended, how long it took, what it used."""

import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field

from bot.errors import ModelError
from bot.models.base import Answer, ModelClient, ModelEvent, Request
from bot.models.providers.transport import closing_source
from bot.telemetry.recorder import Telemetry, current_trace, to_snake_case
from bot.telemetry.tracing import SpanFact

# Purposes whose requests belong to one message; memory's other work goes through queues of its own.
TRACED_PURPOSES = ("turn", "fold")


class InstrumentedModel:
    """A Model that asks another one and tells of it."""

    def __init__(self, model: ModelClient, telemetry: Telemetry) -> None:
        self.name = model.name
        self._model = model
        self._telemetry = telemetry

    async def stream(self, request: Request) -> AsyncIterator[ModelEvent]:
        """See Model.stream."""
        call = _ModelCall(request=request, trace=current_trace() if request.purpose in TRACED_PURPOSES else "")
        try:
            async with closing_source(self._model.stream(request)) as events:
                async for event in events:
                    self._heard(call, event)
                    yield event
        except ModelError as err:
            call.outcome = to_snake_case(type(err).__name__)
            raise
        finally:
            self._tell(call)

    def _heard(self, call: "_ModelCall", event: ModelEvent) -> None:
        if isinstance(event, Answer):  # told before it is passed on: whoever has it may let go of us
            call.outcome = "ok"
            self._tell(call, event)

    def _tell(self, call: "_ModelCall", answer: Answer | None = None) -> None:
        if not call.told:
            call.told = True
            facts = self._facts(call.request, answer)
            self._telemetry.asked(call.request.model, call.outcome, call.began, facts, call.trace)

    async def close(self) -> None:
        """Close the model."""
        await self._model.close()

    def _facts(self, request: Request, answer: Answer | None = None) -> Mapping[str, SpanFact]:
        """Source: OpenTelemetry's semantic conventions for generative AI, names of attributes only."""
        asked: dict[str, SpanFact] = {
            "gen_ai.provider.name": self.name,
            "gen_ai.request.max_tokens": request.max_tokens,
            "mnema.purpose": request.purpose,
        }
        if answer is None:
            return asked
        return {
            **asked,
            "gen_ai.response.model": answer.model,
            "gen_ai.response.finish_reasons": (answer.stop,),
            "gen_ai.usage.input_tokens": answer.usage.input,
            "gen_ai.usage.output_tokens": answer.usage.output,
            "gen_ai.usage.cache_read.input_tokens": answer.usage.cache_read,
            "gen_ai.usage.cache_creation.input_tokens": answer.usage.cache_write,
        }


@dataclass(slots=True, kw_only=True)
class _ModelCall:
    """One request on its way."""

    request: Request
    trace: str
    began: float = field(default_factory=time.perf_counter)
    outcome: str = "stopped"
    told: bool = False
