"""Watches memory files for changes made outside the bot."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from pathlib import Path

import structlog
from watchfiles import Change, awatch

from memory.workspace.files import SPACES_FOLDER, Workspace

DEBOUNCE_MS = 400  # milliseconds: an editor's save is several events
log = structlog.get_logger(__name__)


async def watch_spaces(
    workspace: Workspace, changed: Callable[[frozenset[str]], Awaitable[None]]
) -> None:
    """Report the spaces whose Markdown files were written (by the bot too), until cancelled.

    If the system grants no watch, this logs a warning and returns: files are compared before each
    search anyway.

    Args:
        changed: awaited with the spaces; changes during the call are reported by the next one.
    """
    workspace.space("")
    root = workspace.root.resolve()
    async for paths in _watch_changes(root):
        await changed(changed_spaces(root, paths))


async def _watch_changes(root: Path) -> AsyncIterator[list[Path]]:
    try:
        async for found in awatch(
            root, watch_filter=_is_markdown, debounce=DEBOUNCE_MS, ignore_permission_denied=True
        ):
            yield [Path(path) for _, path in found]
    except OSError as err:
        log.warning("the workspace cannot be watched", error=str(err))


def changed_spaces(root: Path, paths: Iterable[Path]) -> frozenset[str]:
    """Map paths to their spaces ("" is the owner's); paths directly below `spaces` belong to
    none.
    """
    inside = (path.relative_to(root).parts for path in paths)
    return frozenset(
        "" if parts[0] != SPACES_FOLDER else parts[1]
        for parts in inside
        if parts[0] != SPACES_FOLDER or len(parts) > 2
    )


def _is_markdown(_: Change, path: str) -> bool:
    return path.endswith(".md")
