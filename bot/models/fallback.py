"""Falls back to the next model of a chain; one that failed comes after the others for a while."""

import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import structlog

from bot.errors import Damaged, ModelError, Overflow, RateLimited, Stalled, Transient, Unusable
from bot.models.base import Answer, ModelClient, ModelEvent, Request, Restarted, RetryWait
from bot.models.catalog import model_facts
from bot.models.health import HEALTHY, ModelHealth, after_answer, after_event, after_failure
from bot.models.providers.transport import ClosingStream, TimedStream, Timeouts
from bot.models.windows import answer_reserve

log = structlog.get_logger(__name__)
STEP_SECONDS = 900.0  # for all models of one call together: as long as a whole turn may take
# for the first event of a model that is tried again while another one could answer
PROBE_SECONDS = 30.0
WINDOW_SHARE = 0.98  # of a smaller window that a request may fill by our counter
# kind of the Overflow raised before a model with a smaller window is called
SMALLER_WINDOW = "smaller_window"
# Failures of the model, not of the request: the next one is asked.
MODEL_FAILURES = (Transient, RateLimited, Stalled, Unusable)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainModel:
    """One model of the chain."""

    model: ModelClient
    #: The model id that it is called with; "": the one of the request.
    model_id: str = ""
    #: The same client without retries, to try it again after a failure; None for `model` itself.
    probe: ModelClient | None = None
    #: Returns its window in tokens; 0 if requests already fit it.
    window: Callable[[], int] = lambda: 0


# full: with retries; once: without; probe: without, and with little time for the first event, by
# one caller at a time.
Effort = Literal["full", "once", "probe"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _ChainStep:
    """One call to make."""

    #: Of the model in the chain.
    index: int
    request: Request
    #: Failures in a row when it was planned: those of calls at the same time count as one.
    failures: int
    effort: Effort = "full"

    @property
    def key(self) -> tuple[int, str]:
        return self.index, self.request.model


class FallbackModel:
    """A model client that calls the models of a chain in order.

    A model that failed rests for a while: models that are usable come before it. Nothing is left
    out, so that a request fails only after calls of its own.

    Args:
        on_unusable: called when a model begins to refuse, with its provider and model id.
        clock: monotonic seconds.
    """

    def __init__(
        self,
        chain: Sequence[ChainModel],
        *,
        on_unusable: Callable[[str, Unusable], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = chain[0].model.name
        self._chain, self._on_unusable, self._clock = tuple(chain), on_unusable, clock
        # By index and model id.
        self._health: dict[tuple[int, str], ModelHealth] = {}
        # Named by refusals; 0 for none.
        self._named_windows = [0 for _ in chain]

    def end_rests(self) -> None:
        """Let the next call try failed models again in the order of the chain."""
        self._health = {key: replace(health, until=0.0) for key, health in self._health.items()}

    def health(self, index: int, model_id: str) -> ModelHealth:
        """Return the health of a model."""
        return self._health.get((index, model_id), HEALTHY)

    async def stream(self, request: Request) -> AsyncIterator[ModelEvent]:
        """Call one model after the other until one answers.

        Raises:
            ModelError: errors of the request itself (too long, a bad picture) at once, as the
                caller can repair them; else the last model's error.
        """
        end, shown = self._clock() + STEP_SECONDS, False
        error: ModelError | None = None
        for step in self._plan(request):
            if end <= self._clock():
                break
            if shown:
                shown = False
                yield Restarted(why=str(error))
            try:
                async with ClosingStream(self._call(step, end - self._clock())) as events:
                    async for event in events:
                        shown = shown or not isinstance(event, (Answer, RetryWait))
                        yield event
                return
            except MODEL_FAILURES as err:
                error = err
        raise error or Transient("there is no model to ask")

    async def probe(self, index: int, request: Request) -> list[ModelEvent]:
        """Call one model once, record its health, and return its events.

        Raises:
            ModelError: it did not answer.
        """
        step = replace(self._step(index, request), effort="once")
        async with ClosingStream(self._call(step, STEP_SECONDS)) as events:
            return [event async for event in events]

    def _plan(self, request: Request) -> list[_ChainStep]:
        """Return the calls to make: usable models in the chain's order, then those that rest, the
        first due first.
        """
        now, usable, resting = self._clock(), list[_ChainStep](), list[_ChainStep]()
        for index in range(len(self._chain)):
            step = self._step(index, self._adapt_request(index, request))
            (usable if self.health(*step.key).is_usable(now) else resting).append(step)
        resting.sort(key=lambda step: self.health(*step.key).until)
        if not usable:
            return resting
        for at, step in enumerate(usable[:-1]):
            if not self.health(*step.key).is_healthy:
                usable[at] = replace(step, effort="probe")
        return [*usable, *(replace(step, effort="once") for step in resting)]

    def _step(self, index: int, request: Request) -> _ChainStep:
        return _ChainStep(
            index=index, request=request, failures=self.health(index, request.model).failures
        )

    async def _call(self, step: _ChainStep, seconds: float) -> AsyncIterator[ModelEvent]:
        """Call one model and record its health."""
        self._check_window(step)
        entry = self._chain[step.index]
        model = entry.model if step.effort == "full" or entry.probe is None else entry.probe
        limits = Timeouts(first=seconds, gap=seconds, step=seconds)
        if step.effort == "probe":
            limits = replace(limits, first=min(seconds, PROBE_SECONDS))
            # Other callers meanwhile take the model behind it.
            until = self._clock() + PROBE_SECONDS
            self._health[step.key] = replace(self.health(*step.key), until=until)
        begun = False
        try:
            async with TimedStream(model.stream(step.request), limits) as events:
                async for event in events:
                    # Recorded before the yield: the consumer may close this stream there.
                    if isinstance(event, Answer):
                        self._record_answer(step)
                        event = replace(event, requested=event.requested or step.request.model)
                    elif not begun and not isinstance(event, RetryWait):
                        begun = True
                        self._health[step.key] = after_event(self.health(*step.key), self._clock())
                    yield event
        except MODEL_FAILURES as err:
            self._record_failure(step, err)
            raise
        except ModelError as err:
            self._record_answer(step)  # the model works, and refuses only this request
            if isinstance(err, Overflow):
                self._learn_window(step, err)
            raise

    def _check_window(self, step: _ChainStep) -> None:
        """Raise Overflow instead of sending a request that a smaller window must refuse."""
        window = self._window(step.index)
        limit = int(window * WINDOW_SHARE) - step.request.max_tokens
        if window and step.request.size > limit:
            raise Overflow(
                f"{step.request.model} has a window of {window:,} tokens",
                kind=SMALLER_WINDOW,
                actual=step.request.size,
                limit=max(limit, 1),
                model=step.request.model,
            )

    def _learn_window(self, step: _ChainStep, error: Overflow) -> None:
        error.model = error.model or step.request.model
        window = self._window(step.index)
        if (
            self._chain[step.index].model_id
            and error.limit
            and (not window or error.limit < window)
        ):
            self._named_windows[step.index] = error.limit

    def _window(self, index: int) -> int:
        """Return the window of a model, 0 if requests already fit it."""
        windows = (self._named_windows[index], self._chain[index].window())
        return min((window for window in windows if window), default=0)

    def _adapt_request(self, index: int, request: Request) -> Request:
        """Set the model id of the request, and limit the answer to what that model can give."""
        model_id, window = self._chain[index].model_id, self._window(index)
        if not model_id:
            return request
        facts = model_facts(model_id)
        max_tokens = min(request.max_tokens, facts.max_output) if facts else request.max_tokens
        if window:
            max_tokens = answer_reserve(window, max_tokens)
        return replace(request, model=model_id, max_tokens=max_tokens)

    def _record_failure(self, step: _ChainStep, error: ModelError) -> None:
        """Record a failure of the model.

        A damaged answer may lie in what its conversation asks for: it counts once another
        conversation has one too.
        """
        health, conversation = self.health(*step.key), step.request.conversation
        if isinstance(error, Damaged) and health.damaged_in in (None, conversation):
            self._health[step.key] = replace(health, damaged_in=conversation)
            return
        failed = after_failure(replace(health, failures=step.failures), error, self._clock())
        if failed.failures < health.failures:
            return
        self._health[step.key] = failed
        name = f"{self._chain[step.index].model.name} {step.request.model}"
        if not isinstance(error, Unusable):
            log.warning(
                "model rests", model=name, error=type(error).__name__, failures=failed.failures
            )
        elif not isinstance(health.error, Unusable):
            self._on_unusable(name, error)

    def _record_answer(self, step: _ChainStep) -> None:
        self._health[step.key] = after_answer(self.health(*step.key), self._clock())

    async def close(self) -> None:
        for entry in self._chain:
            await entry.model.close()
