"""Models in order: the next one is asked when one is of no use, and one that failed is left out for a while."""

import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace

import structlog

from bot.errors import ModelError, NoSuchModel, Overflow, RateLimited, Stalled, Transient, Unusable
from bot.models.base import Answer, ModelClient, ModelEvent, Request, Restarted
from bot.models.catalog import model_facts
from bot.models.health import HEALTHY, ModelHealth, after_failure, after_success, while_probing
from bot.models.providers.transport import Timeouts, closing_source, iterate_with_timeouts

log = structlog.get_logger(__name__)
STEP_SECONDS = 900.0  # seconds for all models of one call together: as long as a whole turn may take
# Seconds for the first word of a model that is tried out: somebody waits, and another model would answer.
PROBE_SECONDS = 30.0
WINDOW_SHARE = 0.98  # of a smaller window, what a request counted by our counter may fill
# Kind of the Overflow that no provider has said: the model that would be asked now has a smaller window.
SMALLER_WINDOW = "smaller_window"
# Failures that may be over at the next call; a model with one of them is asked rather than nobody.
TRANSIENT_ERRORS = (Transient, RateLimited, Stalled)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainModel:
    """One model of the chain."""

    model: ModelClient
    #: The model id it is asked for, "" for the one the request names.
    ask_for: str = ""
    #: The same without retries, to try it out; None for `model` itself.
    once: ModelClient | None = None
    #: In tokens, 0 where requests are fitted to it anyway.
    window: int = 0


class FallbackModel:
    """A Model that asks its links in order, and leaves out those that failed until it is time to try them again.

    Each model is asked at most as often as its link retries, once where it is tried out, and all of them within
    DEADLINE. Where nothing else is left, one that rests is asked all the same.

    on_unusable: told once of each link that will not answer until something is done about it, with its name and model
    id. clock: seconds that never go back.
    """

    def __init__(
        self,
        links: Sequence[ChainModel],
        *,
        on_unusable: Callable[[str, Unusable], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = links[0].model.name
        self._links, self._on_unusable, self._clock = tuple(links), on_unusable, clock
        self._known: dict[tuple[int, str], ModelHealth] = {}
        self._windows = {at: link.window for at, link in enumerate(links)}

    def reset(self) -> None:
        """Forget how all of them fared: the configuration has changed."""
        self._known.clear()

    @property
    def unusable(self) -> tuple[Unusable, ...]:
        """Why links will not answer until something is done about it; empty when nothing is to be done."""
        found = (condition.error for condition in self._known.values())
        return tuple(error for error in found if isinstance(error, Unusable))

    def condition(self, at: int, asked: str) -> ModelHealth:
        """How that link's model of that id fares; what its whole account suffers from comes first."""
        whole = self._known.get((at, ""), HEALTHY)
        own = self._known.get((at, asked), HEALTHY)
        return own if whole.well else whole

    async def stream(self, request: Request) -> AsyncIterator[ModelEvent]:
        """See Model.stream.

        Errors that are the request's own (too long, a bad picture, a bad form) are raised at once: another model
        would not mend them, the caller can. Else the last link's error is raised.
        """
        walk = _ChainRun(last=Transient("there is no model to ask"), end=self._clock() + STEP_SECONDS)
        for step in self._steps(request, walk):
            if walk.end <= self._clock():
                break
            async with closing_source(self._ask(step, walk)) as events:
                async for event in events:
                    yield event
            if walk.done:
                return
        raise walk.last

    def _steps(self, request: Request, walk: "_ChainRun") -> "Sequence[_ChainStep]":
        """Whom to ask, in order: those that are up or due for a trial, then those that rest but may be up again."""
        asked, resting = [], []
        for at, link in enumerate(self._links):
            step = _ChainStep(at=at, request=_model_id(link, request))
            condition = self.condition(at, step.request.model)
            if not condition.left_out(self._clock()):
                asked.append(replace(step, probe=not condition.well))
            elif condition.error is not None:
                walk.last = condition.error
                resting += [step] if isinstance(condition.error, TRANSIENT_ERRORS) and not condition.probing else []
        return [*asked, *(replace(step, probe=bool(asked)) for step in resting)]

    async def _ask(self, step: "_ChainStep", walk: "_ChainRun") -> AsyncIterator[ModelEvent]:
        """One link's turn; why it gave no answer is noted in the walk."""
        if walk.shown:
            walk.shown = False
            yield Restarted(why=str(walk.last))
        self._check_window(step)
        key = (step.at, step.request.model)
        if step.probe:
            self._try_out(key, begun=True)
        try:
            async with closing_source(self._stream(step, walk)) as events:
                async for event in events:
                    yield self._heard(event, key, walk)
            walk.done = True
        except (*TRANSIENT_ERRORS, Unusable) as err:
            walk.last = err
            self._fell(key, err)
        except ModelError as err:
            self._rose(key)  # it was heard, and refuses this request alone
            if isinstance(err, Overflow):
                self._learn(step, err)
            raise
        finally:
            if step.probe and self.condition(*key).probing:
                self._try_out(key, begun=False)

    def _heard(self, event: ModelEvent, key: tuple[int, str], walk: "_ChainRun") -> ModelEvent:
        if not isinstance(event, Answer):
            walk.shown = True
            return event
        self._rose(key)  # before it is handed on: who has it may ask for nothing more
        return replace(event, asked=event.asked or key[1])

    def _stream(self, step: "_ChainStep", walk: "_ChainRun") -> AsyncIterator[ModelEvent]:
        link, left = self._links[step.at], walk.end - self._clock()
        model = link.once if step.probe and link.once is not None else link.model
        first = min(left, PROBE_SECONDS) if step.probe else left
        return iterate_with_timeouts(model.stream(step.request), Timeouts(first=first, gap=left, step=left))

    def _check_window(self, step: "_ChainStep") -> None:
        """A spare model with a smaller window is not sent what it must refuse: the caller fits the view to it."""
        window = self._windows[step.at]
        most = int(window * WINDOW_SHARE) - step.request.max_tokens
        if window and step.request.size > most:
            raise Overflow(
                f"{step.request.model} has a window of {window:,} tokens",
                kind=SMALLER_WINDOW,
                actual=step.request.size,
                limit=max(most, 1),
                model=step.request.model,
            )

    def _learn(self, step: "_ChainStep", error: Overflow) -> None:
        error.model = error.model or step.request.model
        known = self._windows[step.at]
        if self._links[step.at].ask_for and error.limit and (not known or error.limit < known):
            self._windows[step.at] = error.limit

    def _fell(self, key: tuple[int, str], error: ModelError) -> None:
        """A model that is not there, or busy, says nothing of the others of its account; a refused key does."""
        account = isinstance(error, Unusable) and not isinstance(error, NoSuchModel)
        place = (key[0], "") if account else self._place(key)
        before = self._known.get(place, HEALTHY)
        self._known[place] = after_failure(before, error, self._clock())
        name = f"{self._links[key[0]].model.name} {key[1]}"
        if not isinstance(error, Unusable):
            log.warning("model rests", model=name, error=type(error).__name__, failures=before.failures + 1)
        elif not isinstance(before.error, Unusable):
            self._on_unusable(name, error)

    def _rose(self, key: tuple[int, str]) -> None:
        """What answers shows that its account is well too."""
        self._known.pop((key[0], ""), None)
        self._known[key] = after_success(self._known.get(key, HEALTHY), self._clock())

    def _try_out(self, key: tuple[int, str], *, begun: bool) -> None:
        self._known[self._place(key)] = while_probing(self.condition(*key), probing=begun)

    def _place(self, key: tuple[int, str]) -> tuple[int, str]:
        """Where the condition stands that holds for this model: its account's while that one suffers, else its own."""
        return key if self._known.get((key[0], ""), HEALTHY).well else (key[0], "")

    async def close(self) -> None:
        """Close every link."""
        for link in self._links:
            await link.model.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class _ChainStep:
    """One link to be asked, with the request as it is asked."""

    at: int
    request: Request
    #: It failed before and is tried out.
    probe: bool = False


@dataclass(slots=True, kw_only=True)
class _ChainRun:
    """How far one call has come along the chain."""

    #: The newest error.
    last: ModelError
    #: By the clock, when no further model is asked.
    end: float
    #: Something of a failed try was.
    shown: bool = False
    done: bool = False


def _model_id(link: ChainModel, request: Request) -> Request:
    """The request as this link is asked: by its own model id, and for no longer an answer than that model gives."""
    if not link.ask_for:
        return request
    known = model_facts(link.ask_for)
    most = min(request.max_tokens, known.max_output) if known else request.max_tokens
    return replace(request, model=link.ask_for, max_tokens=most)
