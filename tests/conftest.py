"""Settings of all tests: the same examples every day, short tracebacks, no garbage collection
during collection.
"""

import gc
import os
from pathlib import Path

import pytest
import structlog
from hypothesis import HealthCheck, settings

from tests.by_night import is_left_out
from tests.quick import is_quick

gc.disable()
WALKS = Path(__file__).parent / "walk"  # whole bots as processes
settings.register_profile(
    "same examples",
    derandomize=True,
    deadline=None,
    max_examples=100 if "MNEMA_NIGHT" in os.environ else 15,
    suppress_health_check=[HealthCheck.too_slow],
)
if "MNEMA_EXAMPLES" not in os.environ:  # the nightly run tries new ones
    settings.load_profile("same examples")
structlog.configure(
    processors=[
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="%H:%M:%S", utc=False),
        structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback),
    ]
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--quick` runs what needs neither processes nor emulators (make quick)."""
    parser.addoption(
        "--quick", action="store_true", help="only tests that start no process and no emulator"
    )


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave a module out before it is imported; None lets other rules decide.

    A module that is named is always run.
    """
    if is_left_out(collection_path):
        return True
    if (
        config.getoption("--quick")
        and collection_path.suffix == ".py"
        and not is_quick(collection_path)
    ):
        return True
    return None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what waits longest: at the end, a few tests with processes would keep the other
    workers idle.

    xdist gives each worker one run of the list; so each run begins with its share of these modules.
    """
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    if workers == 1:
        return
    slow = [item for item in items if item.path.is_relative_to(WALKS)]
    other = [item for item in items if not item.path.is_relative_to(WALKS)]
    modules = sorted({item.path for item in slow})
    each = -(-len(other) // workers)
    items[:] = [
        item
        for worker in range(workers)
        for item in (
            *(item for item in slow if modules.index(item.path) % workers == worker),
            *other[worker * each : (worker + 1) * each],
        )
    ]


def pytest_collection_finish() -> None:
    """Imported modules stay: no later collection has to walk through them."""
    gc.freeze()
    gc.enable()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note each failed test for scripts/test.sh; with xdist only the process that collects the
    reports does.
    """
    path = os.environ.get("MNEMA_FAILED_TESTS")
    if path and report.failed and "PYTEST_XDIST_WORKER" not in os.environ:
        with open(path, "a", encoding="utf-8") as file:
            file.write(f"{report.nodeid}\n")
