"""Falls back to the next model of a chain, and skips failed ones for a while."""

import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace

import structlog

from bot.errors import ModelError, NoSuchModel, Overflow, RateLimited, Stalled, Transient, Unusable
from bot.models.base import Answer, ModelClient, ModelEvent, Request, Restarted
from bot.models.catalog import model_facts
from bot.models.health import HEALTHY, ModelHealth, after_failure, after_success
from bot.models.providers.transport import ClosingStream, TimedStream, Timeouts

log = structlog.get_logger(__name__)
STEP_SECONDS = 900.0  # for all models of one call together: as long as a whole turn may take
PROBE_SECONDS = 30.0  # for the first event of a model that is tried again: a person waits, another model may answer
WINDOW_SHARE = 0.98  # of a smaller window that a request may fill by our counter
SMALLER_WINDOW = "smaller_window"  # kind of the Overflow raised before a model with a smaller window is called
# Failures that may be over at the next call: with no healthy model left, models with one of these are called again.
TRANSIENT_ERRORS = (Transient, RateLimited, Stalled)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainModel:
    """One model of the chain."""

    model: ModelClient
    #: The model id that it is called with; "": the one of the request.
    model_id: str = ""
    #: The same client without retries, to try it again after a failure; None for `model` itself.
    probe: ModelClient | None = None
    #: In tokens; 0 if requests already fit it.
    window: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _ChainStep:
    """One call to make."""

    #: Of the model in the chain.
    index: int
    request: Request
    #: The model failed before and is tried again.
    probe: bool = False

    @property
    def key(self) -> tuple[int, str]:
        return self.index, self.request.model


class FallbackModel:
    """A model client that calls the models of a chain in order and skips failed ones for a while.

    With no other model left, a model that is cooling down is called all the same.

    Args:
        on_unusable: called once for each model that will not answer before its configuration changes, with its
            provider and model id.
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
        # By index and model id; the id "" stands for all models of the account.
        self._health: dict[tuple[int, str], ModelHealth] = {}
        self._windows = [entry.window for entry in chain]

    def reset(self) -> None:
        """Mark all models as healthy."""
        self._health.clear()

    @property
    def unusable(self) -> tuple[Unusable, ...]:
        """Errors that last until the configuration changes."""
        errors = (health.error for health in self._health.values())
        return tuple(error for error in errors if isinstance(error, Unusable))

    def health(self, index: int, model_id: str) -> ModelHealth:
        """Return the health of a model; a failure of its whole account comes first."""
        return self._health.get(self._health_key((index, model_id)), HEALTHY)

    async def stream(self, request: Request) -> AsyncIterator[ModelEvent]:
        """Call one model after the other until one answers.

        Raises:
            ModelError: errors of the request itself (too long, a bad picture) at once, as the caller can repair them;
                else the last model's error.
        """
        end, shown = self._clock() + STEP_SECONDS, False
        steps, error = self._plan(request)
        for step in steps:
            if end <= self._clock():
                break
            if shown:
                shown = False
                yield Restarted(why=str(error))
            try:
                async with ClosingStream(self._call(step, end - self._clock())) as events:
                    async for event in events:
                        shown = shown or not isinstance(event, Answer)
                        yield event
                return
            except (*TRANSIENT_ERRORS, Unusable) as err:
                error = err
        raise error

    def _plan(self, request: Request) -> tuple[list[_ChainStep], ModelError]:
        """Return the calls to make, in order, and the error to raise if there are none.

        Models that are healthy or due come first, then those that cool down but may have recovered.
        """
        steps, resting, now = list[_ChainStep](), list[_ChainStep](), self._clock()
        error: ModelError = Transient("there is no model to ask")
        for index, entry in enumerate(self._chain):
            adapted = _adapt_request(entry, request)
            health = self.health(index, adapted.model)
            if not health.is_skipped(now):
                steps.append(_ChainStep(index=index, request=adapted, probe=not health.is_healthy))
            elif health.error is not None:
                error = health.error
                if isinstance(error, TRANSIENT_ERRORS) and not health.probing:
                    resting.append(_ChainStep(index=index, request=adapted))
        return [*steps, *(replace(step, probe=bool(steps)) for step in resting)], error

    async def _call(self, step: _ChainStep, seconds: float) -> AsyncIterator[ModelEvent]:
        """Call one model and record its health."""
        self._check_window(step)
        entry = self._chain[step.index]
        model = entry.probe if step.probe and entry.probe is not None else entry.model
        limits = Timeouts(first=min(seconds, PROBE_SECONDS) if step.probe else seconds, gap=seconds, step=seconds)
        if step.probe:
            self._set_probing(step, probing=True)
        try:
            async with TimedStream(model.stream(step.request), limits) as events:
                async for event in events:
                    if isinstance(event, Answer):
                        self._record_success(step)  # before the yield: the consumer may close this stream there
                        event = replace(event, requested=event.requested or step.request.model)
                    yield event
        except (*TRANSIENT_ERRORS, Unusable) as err:
            self._record_failure(step, err)
            raise
        except ModelError as err:
            self._record_success(step)  # the model works, and refuses only this request
            if isinstance(err, Overflow):
                self._learn_window(step, err)
            raise
        finally:
            if step.probe and self.health(*step.key).probing:
                self._set_probing(step, probing=False)

    def _check_window(self, step: _ChainStep) -> None:
        """Raise Overflow instead of sending a request that a smaller window must refuse."""
        window = self._windows[step.index]
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
        window = self._windows[step.index]
        if self._chain[step.index].model_id and error.limit and (not window or error.limit < window):
            self._windows[step.index] = error.limit

    def _record_failure(self, step: _ChainStep, error: ModelError) -> None:
        """Record a failure: of the whole account if the account is at fault, else of this model."""
        account = isinstance(error, Unusable) and not isinstance(error, NoSuchModel)
        key = (step.index, "") if account else self._health_key(step.key)
        before = self._health.get(key, HEALTHY)
        self._health[key] = after_failure(before, error, self._clock())
        name = f"{self._chain[step.index].model.name} {step.request.model}"
        if not isinstance(error, Unusable):
            log.warning("model rests", model=name, error=type(error).__name__, failures=before.failures + 1)
        elif not isinstance(before.error, Unusable):
            self._on_unusable(name, error)

    def _record_success(self, step: _ChainStep) -> None:
        """Record that the model works, and so its account."""
        self._health.pop((step.index, ""), None)
        self._health[step.key] = after_success(self._health.get(step.key, HEALTHY), self._clock())

    def _set_probing(self, step: _ChainStep, *, probing: bool) -> None:
        self._health[self._health_key(step.key)] = replace(self.health(*step.key), probing=probing)

    def _health_key(self, key: tuple[int, str]) -> tuple[int, str]:
        """Return the key of the account while that has failed, else the model's own."""
        account = (key[0], "")
        return key if self._health.get(account, HEALTHY).is_healthy else account

    async def close(self) -> None:
        for entry in self._chain:
            await entry.model.close()


def _adapt_request(entry: ChainModel, request: Request) -> Request:
    """Set the model id of the request, and limit the answer to what that model can give."""
    if not entry.model_id:
        return request
    facts = model_facts(entry.model_id)
    max_tokens = min(request.max_tokens, facts.max_output) if facts else request.max_tokens
    return replace(request, model=entry.model_id, max_tokens=max_tokens)
