"""Errors of the store. All are StoreError: nothing of the transaction is stored."""


class StoreError(Exception):
    """The store could not be read or written; nothing of the transaction is stored."""


class StoreFull(StoreError):
    """The disk of the database is full."""


class StoreBusy(StoreError):
    """Another process holds the write lock or has taken the database over, or the server does not
    answer.
    """


class StoreCorrupt(StoreError):
    """The database file is damaged."""


class StoreMoved(StoreError):
    """The database file was removed or replaced while it is in use; the text says what to do."""


class IndexUnusable(StoreError):
    """The recall index cannot be opened, created or removed; the store itself works, and nothing is
    lost.
    """


class SchemaNewer(StoreError):
    """A newer version has written the database; this one does not open it."""


class TablesNewer(SchemaNewer):
    """The tables are of a newer version."""

    def __init__(self, found: str, own: str) -> None:
        super().__init__(
            f"the database has the tables of {found}, which is newer than this program's {own}"
        )
        #: The revision of its tables, and that of this program's.
        self.found = found
        self.own = own


class SchemaTooOld(StoreError):
    """The database has the tables of a version that this one cannot upgrade; the text says how
    to.
    """

    def __init__(self, found: str, commit: str) -> None:
        super().__init__(
            f"the database has the tables of {found}, which this version cannot upgrade; go "
            f"through commit {commit} first: its mnema migrate upgrades a database, its mnema "
            "restore a backup"
        )
        #: The revision of its tables, and the last commit that can upgrade it.
        self.found = found
        self.commit = commit


class MessageEdited(StoreError):
    """The sender has edited a message since its row was read."""


class SchemaOlder(StoreError):
    """The database has the tables of an older version; `mnema migrate` upgrades them."""


class WrongState(StoreError):
    """The row's state does not allow this step, or another process works on the row."""


class StaleEpoch(StoreError):
    """The conversation was cleared since this work began; its result is dropped."""
