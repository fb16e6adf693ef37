"""What PostgreSQL's errors are called in this house."""

import psycopg
from psycopg import errors
from psycopg_pool import PoolTimeout

from memory.store.errors import StoreBusy, StoreCorrupt, StoreError, StoreFull, WrongState

IN_THE_WAY = (
    errors.SerializationFailure,
    errors.DeadlockDetected,
    errors.UniqueViolation,
    errors.ForeignKeyViolation,
)
"""Somebody else's transaction came between: what was read is not so any more. The unit is run again, and sees it."""
LOST = (psycopg.OperationalError, PoolTimeout)
"""The server is not to be had, or was lost on the way."""
_ENDED = ("57P01", "57P02", "57P03")
_KINDS: tuple[tuple[tuple[type[BaseException], ...], type[StoreError]], ...] = (
    ((errors.DiskFull, errors.OutOfMemory), StoreFull),
    ((errors.DataCorrupted, errors.IndexCorrupted), StoreCorrupt),
    ((errors.SerializationFailure, errors.DeadlockDetected), StoreBusy),
    ((errors.IntegrityError, errors.RaiseException), WrongState),
    ((psycopg.OperationalError, PoolTimeout), StoreBusy),
)


def gone(err: BaseException) -> bool:
    """Whether a connection was lost that had been there; one that could not be had in time was none."""
    if not isinstance(err, psycopg.OperationalError) or isinstance(err, PoolTimeout):
        return False
    return err.sqlstate is None or err.sqlstate.startswith("08") or err.sqlstate in _ENDED


def named(err: BaseException) -> StoreError:
    """The store's own error for one of the driver's."""
    kind = next((kind for kinds, kind in _KINDS if isinstance(err, kinds)), StoreError)
    text = str(err).strip().splitlines()[0] if str(err).strip() else type(err).__name__
    if kind is StoreBusy and isinstance(err, PoolTimeout):
        text = "the database server does not answer"
    return kind(text)
