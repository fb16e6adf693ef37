"""Repositories: methods that each run one unit of work, bound from plain functions of a transaction."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar, overload

from memory.failpoints import hit_async
from memory.store.engine.database import Database, Tx

P = ParamSpec("P")
T = TypeVar("T")


class Repository:
    """Base of all repositories: one database, and methods made by `read` and `write`."""

    def __init__(self, database: Database) -> None:
        self._database = database


class _Bound(ABC, Generic[P, T]):
    """A function of a transaction as a method: same parameters without the transaction, same result."""

    def __init__(self, work: Callable[Concatenate[Tx, P], Coroutine[Any, Any, T]]) -> None:
        self._work = work
        self.__doc__ = work.__doc__

    @overload
    def __get__(self, instance: None, owner: type[Repository]) -> Self: ...

    @overload
    def __get__(self, instance: Repository, owner: type[Repository]) -> Callable[P, Coroutine[Any, Any, T]]: ...

    def __get__(
        self, instance: Repository | None, owner: type[Repository]
    ) -> Self | Callable[P, Coroutine[Any, Any, T]]:
        return self if instance is None else self._bind(instance._database)

    @abstractmethod
    def _bind(self, database: Database) -> Callable[P, Coroutine[Any, Any, T]]: ...


class read(_Bound[P, T]):
    """A method that runs its function on one snapshot of what is committed."""

    def _bind(self, database: Database) -> Callable[P, Coroutine[Any, Any, T]]:
        def call(*args: P.args, **kwargs: P.kwargs) -> Coroutine[Any, Any, T]:
            return database.read(self._work, *args, **kwargs)

        return call


class write(_Bound[P, T]):
    """A method that runs its function as one transaction and returns after the commit."""

    def __init__(self, work: Callable[Concatenate[Tx, P], Coroutine[Any, Any, T]], *, committed: str = "") -> None:
        """Bind `work`.

        Args:
            committed: name of the failpoint to pass after the commit, "" for none.
        """
        super().__init__(work)
        self._committed = committed

    def _bind(self, database: Database) -> Callable[P, Coroutine[Any, Any, T]]:
        async def call(*args: P.args, **kwargs: P.kwargs) -> T:
            result = await database.write(self._work, *args, **kwargs)
            if self._committed:
                await hit_async(self._committed)
            return result

        return call
