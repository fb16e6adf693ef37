"""`pytest --quick` leaves out what starts processes, browsers, databases, emulators or bots, also
through a helper, and what takes long.
"""

import pytest

from tests.cases import every_case
from tests.quick import SLOW, TESTS, is_quick


@every_case(
    "name",
    [
        "walk/test_kill_random.py",
        "browser/test_page.py",
        "memory/store/test_upgrading.py",  # imports the emulator of a model
        "memory/postgres/test_leases.py",  # a conftest beside it opens a database
        "channels/feishu/test_contract.py",  # its stage imports the emulator
        "bot/cli/test_main.py",  # starts processes itself
        "bot/commands/test_memory.py",  # opens a whole bot
        "benchmarks/test_logs.py",  # replays long recordings
        "memory/context/policies/test_policies.py",  # hundreds of turns
    ],
)
def test_what_starts_something_is_left_out(name: str) -> None:
    assert (TESTS / name).is_file()
    assert not is_quick(TESTS / name)


@pytest.mark.parametrize(
    "name",
    ["memory/text/test_bullets.py", "bot/gateway/test_downloads.py", "conventions/test_sizes.py"],
)
def test_what_runs_in_this_process_alone_is_run(name: str) -> None:
    assert (TESTS / name).is_file()
    assert is_quick(TESTS / name)


def test_what_is_listed_as_slow_is_there() -> None:
    files = [TESTS.parent / f"{module.replace('.', '/')}.py" for module in SLOW]
    assert [file for file in files if not file.is_file()] == []
