"""Which blobs some row refers to."""

from collections.abc import Sequence

from memory.store.store import Store

PAGE_ROWS = 2_000
MESSAGE_TABLES = ("message", "inbox", "outbox")
BLOB_TABLES = (*MESSAGE_TABLES, "file_version")  # tables whose rows refer to blobs


async def referenced_blobs(store: Store, tables: Sequence[str] = BLOB_TABLES) -> set[str]:
    """All blobs that some row of these tables refers to; read in pages to keep transactions
    short.
    """
    found: set[str] = set()
    for source in tables:
        after = ""
        while True:
            names, after = await store.people.load_named_blobs(source, after, PAGE_ROWS)
            found |= names
            if not after:
                break
    return found
