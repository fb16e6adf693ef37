"""Drops the kept versions of files that mention what is forgotten."""

import asyncio
from collections.abc import Iterator, Sequence
from datetime import datetime, tzinfo

from memory.forgetting.blob_references import MESSAGE_TABLES, referenced_blobs
from memory.forgetting.files import mentions_target
from memory.redaction import mentioning_sentences
from memory.store.automation.file_versions import FileVersionRow
from memory.store.longterm.rows import ForgetTargets, Mention
from memory.store.store import Store
from memory.workspace.blobs import Blobs
from memory.workspace.files import SPACES_FOLDER


async def forget_versions(store: Store, blobs: Blobs, space: str, targets: ForgetTargets) -> int:
    """Drop every version of a space's files, memory or not, that mentions it; returns how many.

    Idempotent.

    The bytes go before the rows that name them, so that a crash in between leaves nothing unnamed.

    Raises:
        OSError: a version could not be deleted.
    """
    dropped = await find_versions_to_forget(store, blobs, space, targets)
    if not dropped:
        return 0
    await _remove_blobs(store, blobs, dropped)
    await store.file_versions.delete([row.id for row in dropped])
    return len(dropped)


async def find_versions_to_forget(
    store: Store, blobs: Blobs, space: str, targets: ForgetTargets
) -> list[FileVersionRow]:
    """Find every version of a space's files that mentions what is forgotten."""
    prefix = f"{SPACES_FOLDER}/{space}/" if space else ""
    rows = [row for row in await store.file_versions.load_all(space) if row.sha256]
    return await asyncio.to_thread(
        lambda: [row for row in rows if _mentions(blobs, row, prefix, targets)]
    )


async def find_in_versions(
    store: Store, blobs: Blobs, space: str, query: str, zone: tzinfo | None
) -> list[Mention]:
    """Find the versions of a space's files that mention the query."""
    rows = [row for row in await store.file_versions.load_all(space) if row.sha256]
    prefix = f"{SPACES_FOLDER}/{space}/" if space else ""

    def find() -> Iterator[Mention]:
        for row in rows:
            if words := mentioning_sentences(_text(blobs, row) or "", query):
                day = f"{datetime.fromtimestamp(row.at, zone):%Y-%m-%d}"
                yield Mention(
                    kind="version", space=space, words=words, path=f"{prefix}{row.path}", date=day
                )

    return await asyncio.to_thread(lambda: list(find()))


async def _remove_blobs(store: Store, blobs: Blobs, dropped: Sequence[FileVersionRow]) -> None:
    """Delete the contents that nothing else refers to."""
    used = await referenced_blobs(store, MESSAGE_TABLES)
    ids = {row.id for row in dropped}
    for name in {row.sha256 for row in dropped} - used:
        if ids.issuperset(await store.file_versions.load_ids_of(name)):
            await asyncio.to_thread(blobs.remove, name)


def _mentions(blobs: Blobs, row: FileVersionRow, prefix: str, targets: ForgetTargets) -> bool:
    text = _text(blobs, row)
    return text is None or mentions_target(row.path, text, targets.matcher(prefix + row.path))


def _text(blobs: Blobs, row: FileVersionRow) -> str | None:
    """The text of a version; None for one removed before a crash, or damaged: nobody can say what
    it holds.
    """
    try:
        return blobs.get(row.sha256).decode("utf-8", "replace")
    except OSError:
        return None
