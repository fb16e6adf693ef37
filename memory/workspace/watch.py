"""Notices that people change memory files with an editor of their own."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from pathlib import Path

import structlog
from watchfiles import Change, awatch

from memory.workspace.files import SPACES_FOLDER, Workspace

DEBOUNCE_MS = 400  # milliseconds: an editor's save is several events
log = structlog.get_logger(__name__)


async def watch_spaces(workspace: Workspace, changed: Callable[[frozenset[str]], Awaitable[None]]) -> None:
    """Tell which spaces' Markdown files were written, by us too, until cancelled; nothing goes on then.

    Where the system has no watch to give, this says so in the log and ends: files are looked at before a search anyway.

    Args:
        changed: awaited with the spaces; what happens meanwhile is told by the next call.
    """
    workspace.space("")
    root = workspace.root.resolve()
    async for paths in _watch_changes(root):
        await changed(changed_spaces(root, paths))


async def _watch_changes(root: Path) -> AsyncIterator[list[Path]]:
    try:
        async for found in awatch(root, watch_filter=_is_markdown, debounce=DEBOUNCE_MS, ignore_permission_denied=True):
            yield [Path(path) for _, path in found]
    except OSError as err:
        log.warning("the workspace cannot be watched", error=str(err))


def changed_spaces(root: Path, paths: Iterable[Path]) -> frozenset[str]:
    """Whose files these are, "" the owner's; what lies in nobody's folder is left out."""
    inside = (path.relative_to(root).parts for path in paths)
    return frozenset(
        "" if parts[0] != SPACES_FOLDER else parts[1] for parts in inside if parts[0] != SPACES_FOLDER or len(parts) > 2
    )


def _is_markdown(_: Change, path: str) -> bool:
    return path.endswith(".md")
