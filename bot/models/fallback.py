"""Models in order: the next one is asked when one is of no use."""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace

from bot.errors import ModelError, NoSuchModel, RateLimited, Stalled, Transient, Unusable
from bot.models.base import Answer, Event, Model, Request, Restarted
from bot.models.patience import closing


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """One model of the chain. ask_for: the model id it is asked for, "" for the one the request names."""

    model: Model
    ask_for: str = ""


class Chain:
    """A Model that asks its links in order, and no more those that are unusable, until `reset`.

    on_unusable: told once of each, with the link's name and model id.
    """

    def __init__(self, links: Sequence[Link], *, on_unusable: Callable[[str, Unusable], None]) -> None:
        self.name = links[0].model.name
        self._links, self._on_unusable = tuple(links), on_unusable
        self._unusable: dict[tuple[int, str], Unusable] = {}

    def reset(self) -> None:
        """Forget what was unusable: the configuration has changed."""
        self._unusable.clear()

    @property
    def unusable(self) -> tuple[Unusable, ...]:
        """Why links are not asked now; empty when all are."""
        return tuple(self._unusable.values())

    async def stream(self, request: Request) -> AsyncIterator[Event]:
        """See Model.stream.

        Errors that are the request's own (too long, a bad picture, a bad form) are raised at once: another model
        would not mend them, the caller can. Else the last link's error is raised.
        """
        walk = _Walk(last=Transient("there is no model to ask"))
        for at, link in enumerate(self._links):
            async with closing(self._ask(at, replace(request, model=link.ask_for or request.model), walk)) as events:
                async for event in events:
                    yield event
            if walk.done:
                return
        raise walk.last

    async def _ask(self, at: int, request: Request, walk: "_Walk") -> AsyncIterator[Event]:
        """One link's turn; why it gave no answer is noted in the walk."""
        if known := self._known(at, request.model):
            walk.last = known
            return
        if walk.shown:
            walk.shown = False
            yield Restarted(why=str(walk.last))
        try:
            async with closing(self._links[at].model.stream(request)) as events:
                async for event in events:
                    walk.shown = walk.shown or not isinstance(event, Answer)
                    yield replace(event, asked=event.asked or request.model) if isinstance(event, Answer) else event
            walk.done = True
        except (Transient, RateLimited, Stalled) as err:
            walk.last = err
        except Unusable as err:
            walk.last = err
            self._remember(at, request.model, err)

    def _known(self, at: int, asked: str) -> Unusable | None:
        return self._unusable.get((at, "")) or self._unusable.get((at, asked))

    def _remember(self, at: int, asked: str, error: Unusable) -> None:
        """A model that is not there says nothing of the others of its account; a refused key does."""
        self._unusable[at, asked if isinstance(error, NoSuchModel) else ""] = error
        self._on_unusable(f"{self._links[at].model.name} {asked}", error)

    async def close(self) -> None:
        """Close every link."""
        for link in self._links:
            await link.model.close()


@dataclass(slots=True, kw_only=True)
class _Walk:
    """How far one call has come along the chain. last: the newest error; shown: something of a failed try was."""

    last: ModelError
    shown: bool = False
    done: bool = False
