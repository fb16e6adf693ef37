"""Settings of all tests: the same examples every day, short tracebacks, no garbage collection
during collection.
"""

import gc
import logging
import os
from collections.abc import Iterator
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

import pytest
import structlog
from hypothesis import HealthCheck, settings

from tests.by_night import is_left_out
from tests.forks import Forks, can_fork
from tests.quick import is_quick

gc.disable()
settings.register_profile(
    "same examples",
    derandomize=True,
    deadline=None,
    max_examples=100 if "MNEMA_NIGHT" in os.environ else 15,
    suppress_health_check=[HealthCheck.too_slow],
)
if "MNEMA_EXAMPLES" not in os.environ:  # the nightly run tries new ones
    settings.load_profile("same examples")


@pytest.fixture
def tmp_path(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A new folder, which is removed after the test.

    That of pytest looks at the folders of all tests before to number it, and stays.
    """
    folder = Path(mkdtemp(dir=tmp_path_factory.getbasetemp()))
    yield folder
    rmtree(folder, ignore_errors=True)


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--quick` runs what needs no process, no emulator and no whole bot (make quick); `--forks`
    runs several at once.
    """
    parser.addoption(
        "--quick",
        action="store_true",
        help="only tests that start no process, no emulator and no whole bot",
    )
    parser.addoption("--forks", type=int, default=1, help="run tests in so many processes at once")


def pytest_configure(config: pytest.Config) -> None:
    """More processes than one where they are asked for."""
    count = config.getoption("--forks")
    if count > 1 and can_fork():
        config.pluginmanager.register(Forks(count))


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


def pytest_collection_finish() -> None:
    """Imported modules stay: no later collection has to walk through them."""
    gc.freeze()
    gc.enable()


def pytest_runtest_setup() -> None:
    """Log to the terminal, whatever a command that an earlier test ran has set.

    By default structlog renders tracebacks with all local variables, for seconds each.
    """
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="%H:%M:%S", utc=False),
            structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.NOTSET),
        logger_factory=structlog.PrintLoggerFactory(),
    )


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note each failed test for scripts/test.sh."""
    path = os.environ.get("MNEMA_FAILED_TESTS")
    if path and report.failed:
        with open(path, "a", encoding="utf-8") as file:
            file.write(f"{report.nodeid}\n")
