"""What everything is counted with."""

import structlog

from memory.context.counter import WEIGHTED, Counter, load_counter

log = structlog.get_logger(__name__)


def counter() -> Counter:
    """The best counter there is: tiktoken's, or the weighted one where its ranks are missing."""
    try:
        return load_counter()
    except OSError as err:
        log.warning("token ranks missing, counting by weight", error=str(err))
        return WEIGHTED
