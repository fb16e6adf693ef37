"""A backend of transcripts for tests that write to no other channel."""

from collections.abc import Callable
from typing import Any

from bot.console.page_messages import PageMessages
from bot.console.transcripts import TranscriptBackend


def backend(
    store: Any, stop: Callable[[str], Any], allow: Callable[[str], bool]
) -> TranscriptBackend:
    """A backend with no running channel beside the page."""
    roles: Any = None
    writing = PageMessages(delivery=store.delivery, roles=roles, channels={}, states=dict)
    return TranscriptBackend(store, stop, allow, writing)
