"""What can go wrong with the store.

StoreError
├── StoreFull      the disk takes no more
├── StoreBusy      another process holds the database
├── StoreCorrupt   the file is damaged
├── StoreMoved     the file is not at its path any more
├── IndexUnusable  recall's index cannot be opened or made; the store is well
├── SchemaNewer    written by a newer version of this program
├── SchemaOlder    has the tables of an older version
├── WrongState     a transition that is not drawn
└── Fenced         begun under an older epoch
"""


class StoreError(Exception):
    """The store could not be read or written; nothing of the transaction is in it."""


class StoreFull(StoreError):
    """No space is left on the disk that holds the database."""


class StoreBusy(StoreError):
    """Another process holds the database's write lock."""


class StoreCorrupt(StoreError):
    """The database file is damaged."""


class StoreMoved(StoreError):
    """The database file was removed or replaced while it is in use; the text says which and what to do."""


class IndexUnusable(StoreError):
    """The index that recall searches cannot be opened, made or removed; the store is well, and nothing is lost."""


class SchemaNewer(StoreError):
    """The database was written by a newer version; this one will not write to it."""


class MessageEdited(StoreError):
    """A row's words are others than those it was read with: its writer has edited it."""


class SchemaOlder(StoreError):
    """The database has an older version's tables; `mnema migrate` brings them up."""


class WrongState(StoreError):
    """The row is not in a state from which this step may be taken."""


class StaleEpoch(StoreError):
    """The conversation was cleared since this work began; its result is not wanted any more."""
