"""What all tests have in common: the same examples every day, short words on errors, and no search for rubbish while
they are collected."""

import gc
import os

import structlog
from hypothesis import HealthCheck, settings

gc.disable()
settings.register_profile(
    "same examples",
    derandomize=True,
    deadline=None,
    max_examples=100 if "MNEMA_NIGHT" in os.environ else 40,
    suppress_health_check=[HealthCheck.too_slow],
)
if "MNEMA_EXAMPLES" not in os.environ:  # the nightly run looks for new ones
    settings.load_profile("same examples")
structlog.configure(
    processors=[
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="%H:%M:%S", utc=False),
        structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback),
    ]
)


def pytest_collection_finish() -> None:
    """Modules are there for good: no later collection of garbage has to walk through them."""
    gc.freeze()
    gc.enable()
