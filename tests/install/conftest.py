"""The wheel and the source archive of this tree, and an environment with the wheel, each made once
for a process.
"""

from pathlib import Path

import pytest

from tests.install.environments import Built, build, install_beside_locked


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return build(tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="session")
def environment(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an environment that holds the wheel alone, and finds the locked packages."""
    folder = tmp_path_factory.mktemp("installed") / "environment"
    install_beside_locked(built.wheel, folder)
    return folder
