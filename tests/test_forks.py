"""Tests that run in forks: each is run once and reported, whatever becomes of a fork."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.forks import can_fork

ROOT = Path(__file__).resolve().parents[1]
pytestmark = pytest.mark.skipif(not can_fork(), reason="this system cannot go on after a fork")

# Ctrl-C counts, also where this process was started with it ignored.
PYTEST = """
import signal, sys
import pytest
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.exit(pytest.main(sys.argv[1:]))
"""
PASSING = """
import os
from pathlib import Path
import pytest

@pytest.fixture(scope="module")
def prepared():
    with open({log!r}, "a") as file:
        file.write("prepared\\n")
    yield
    with open({log!r}, "a") as file:
        file.write("ended\\n")

@pytest.mark.parametrize("number", range(5))
def test_it(number, prepared, tmp_path):
    print("said in a test that passes")
    assert not list(tmp_path.iterdir())
    with open({log!r}, "a") as file:
        file.write(f"{{os.getpid()}} {{number}}\\n")
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text('[tool.pytest.ini_options]\naddopts = "-q -rs"\n')
    return tmp_path


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments), cwd=folder, env=environment(), capture_output=True, text=True
    )


def command(*arguments: str) -> list[str]:
    here = ("-p", "tests.conftest", "-p", "no:cacheprovider", "--forks", "3")
    return [sys.executable, "-c", PYTEST, *here, *arguments]


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_ADDOPTS": ""}


def test_each_test_is_run_once_and_a_modules_fixture_once(folder: Path) -> None:
    logs = [folder / f"log-{at}" for at in range(4)]
    for at, log in enumerate(logs):
        (folder / f"test_{at}.py").write_text(PASSING.format(log=str(log)))

    ran = run(folder)

    assert ran.returncode == 0
    assert "20 passed" in ran.stdout
    assert "said in a test" not in ran.stdout
    for log in logs:
        first, *runs, last = log.read_text().splitlines()
        assert (first, last) == ("prepared", "ended")
        assert [run.split()[1] for run in runs] == list("01234")
        assert len({run.split()[0] for run in runs}) == 1


def test_failures_skips_and_warnings_are_shown(folder: Path) -> None:
    failing = "def test_it():\n    print('said before')\n    assert 1 == 2\n"
    (folder / "test_a.py").write_text(failing)
    (folder / "test_b.py").write_text(
        "import pytest, warnings\n"
        "def test_skipped(): pytest.skip('for a reason')\n"
        "def test_warned(): warnings.warn('with a warning')\n"
        "@pytest.fixture\ndef broken(): raise OSError('while preparing')\n"
        "def test_error(broken): pass\n"
    )
    failed = folder / "failed"

    ran = subprocess.run(
        command(),
        cwd=folder,
        env={**environment(), "MNEMA_FAILED_TESTS": str(failed)},
        capture_output=True,
        text=True,
    )

    assert ran.returncode == 1
    for part in ("assert 1 == 2", "said before", "for a reason", "with a warning"):
        assert part in ran.stdout, part
    assert "while preparing" in ran.stdout
    assert sorted(failed.read_text().split()) == ["test_a.py::test_it", "test_b.py::test_error"]


def test_tests_of_a_fork_that_ended_have_failed_and_the_others_are_run(folder: Path) -> None:
    (folder / "test_a.py").write_text(
        "import os\ndef test_before(): pass\ndef test_end(): os._exit(7)\ndef test_after(): pass\n"
    )
    (folder / "test_b.py").write_text("def test_other(): pass\n")

    ran = run(folder)

    assert ran.returncode == 1
    assert "2 failed, 2 passed" in ran.stdout
    assert ran.stdout.count("the process that had to run this test ended") == 2
    assert "test_end" in ran.stdout
    assert "test_after" in ran.stdout


def test_x_ends_the_run_at_the_first_failure(folder: Path) -> None:
    (folder / "test_a.py").write_text("def test_it(): assert False\n")
    (folder / "test_b.py").write_text(
        "import time\nfrom pathlib import Path\ndef test_long():\n    time.sleep(600)\n"
    )

    ran = run(folder, "-x")

    assert ran.returncode == 1
    assert "stopping after 1 failures" in ran.stdout


def test_ctrl_c_ends_every_process(folder: Path) -> None:
    receiver, sender = os.pipe()
    begun = (
        "import os, time\n"
        "def test_it():\n"
        f"    os.write({sender}, f'{{os.getpid()}}\\n'.encode())\n"
        "    time.sleep(600)\n"
    )
    (folder / "test_a.py").write_text(begun)
    (folder / "test_b.py").write_text(begun)
    with subprocess.Popen(
        command(), cwd=folder, env=environment(), start_new_session=True, pass_fds=[sender]
    ) as running:
        os.close(sender)
        with open(receiver) as pids:  # it ends if the processes do
            pid = int(pids.readline())
        os.killpg(running.pid, signal.SIGINT)
        running.wait(timeout=30)

    assert running.returncode == pytest.ExitCode.INTERRUPTED
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
